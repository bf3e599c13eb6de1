"""Estimates of what a run on a Dask cluster needs."""

import datetime
import logging
from dataclasses import replace

import pytest

from hyperclus.engines.dask.plan import FREE, ROW_BYTES, Sizes, need, warn_if_short
from hyperclus.engines.dask.prepare import prepare
from hyperclus.engines.dask.source import TableOptions
from hyperclus.engines.dask.workers import WorkerState
from hyperclus.errors import InputError
from support.dask_workers import pool  # noqa: F401  # a fixture

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("distributed")


def rows(n_rows=200):
    """Distinct incidences of 100 vertices and at most 60 hyperedges."""
    numbers = range(n_rows)
    return {
        "vertex": [i % 100 + 7 for i in numbers],
        "edge": [i * 7 % 60 for i in numbers],
        "weight": [float(i % 3 + 1) for i in numbers],
    }


@pytest.fixture
def data(tmp_path):
    """Two files of several row groups in a folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    table = pa.table(rows())
    for number in range(2):
        parquet.write_table(table.slice(number * 100, 100), folder / f"{number}.parquet", row_group_size=30)
    return folder


def sizes(source, folder="nowhere", **options):
    return Sizes.of(source, folder, TableOptions(**options))


def test_footers_bound_the_numbers_of_ids(data):
    found = sizes(data)
    assert (found.n_incidences, found.n_vertices, found.weighted) == (200, 100, True)
    assert found.n_edges == max(rows()["edge"]) + 1 <= 60
    assert found.prepared_partitions is None
    assert not sizes(data, weight=False).weighted
    for workers, partitions in ((1, 2), (4, 8), (16, 32)):
        needed = need(found, 2, workers, 2 * 10**9)
        assert needed.partitions == partitions
        assert needed.enough
        assert needed.in_memory


def test_prepared_data_know_their_sizes(data, tmp_path, pool):  # noqa: F811
    prepared = prepare(data, tmp_path / "work", pool)
    found = sizes(data, tmp_path / "work")
    assert (found.n_vertices, found.n_edges) == (prepared.n_vertices, prepared.n_edges)
    assert found.prepared_partitions == len(prepared.partitions)
    assert need(found, 2, 2, 10**9).partitions == len(prepared.partitions)
    assert sizes(data, tmp_path / "work", duplicates="sum").prepared_partitions is None
    assert sizes(data, tmp_path / "elsewhere").prepared_partitions is None


def test_a_run_warns_if_memory_may_be_short(data, tmp_path, pool, caplog):  # noqa: F811
    prepared = prepare(data, tmp_path / "work", pool)
    with caplog.at_level(logging.WARNING):
        warn_if_short(prepared, 2, [WorkerState("", 2 * 10**9, 1)])
        warn_if_short(prepared, 2, [WorkerState("", 0, 1)])
        assert not caplog.records
        warn_if_short(prepared, 2, [WorkerState("", 10**8, 1)])
    assert "a worker may need 0.4 GB of memory and has 0.1 GB" in caplog.text


@pytest.mark.parametrize(
    "ids", [[f"v{i}" for i in range(50)], [datetime.date(2020, 1, 1 + i % 28) for i in range(50)]]
)
def test_other_ids_are_bounded_by_the_number_of_rows(tmp_path, ids):
    parquet.write_table(pa.table({"vertex": ids, "edge": list(range(50))}), tmp_path / "t.parquet")
    found = sizes(tmp_path / "t.parquet")
    assert (found.n_vertices, found.n_edges, found.weighted) == (50, 50, False)


def test_files_without_statistics(tmp_path):
    parquet.write_table(pa.table(rows()), tmp_path / "t.parquet", write_statistics=False)
    assert sizes(tmp_path / "t.parquet").n_vertices == 200


class TestNeed:
    large = Sizes(10**10, 32 * 10**10, 10**9, 10**9, True, None)

    def test_bytes_sent_per_round(self):
        for workers in (1, 3, 64):
            for k, vectors in ((2, 1), (5, 4)):
                needed = need(self.large, k, workers, 64 * 10**9)
                assert needed.sent == 16 * vectors * min(10**10, workers * 10**9)

    def test_more_workers_need_less_memory_each(self):
        needs = [need(self.large, 5, workers, 16 * 10**9) for workers in (1, 4, 16, 64, 256)]
        minimum = [one.minimum for one in needs]
        assert minimum == sorted(minimum, reverse=True)
        assert [one.enough for one in needs] == sorted(one.enough for one in needs)
        assert not needs[0].enough
        assert needs[-1].enough
        assert not needs[0].in_memory
        assert needs[-1].in_memory

    def test_wider_blocks_need_more(self):
        assert need(self.large, 9, 64, 10**10).minimum > need(self.large, 2, 64, 10**10).minimum

    def test_a_partition_takes_a_third_of_the_memory_at_most(self):
        assert need(self.large, 2, 4, 10**9).partitions * 10**9 / 3 >= 10**10 * (ROW_BYTES + 32)

    def test_enough_leaves_a_reserve(self):
        small = replace(self.large, n_incidences=10**6, n_bytes=32 * 10**6, n_vertices=10**5, n_edges=10**5)
        needed = need(small, 2, 4, 10**9)
        assert needed.enough == (needed.memory <= FREE * 10**9)
        assert not need(small, 2, 4, 10**8).enough


class TestBadInput:
    def test_no_files(self, tmp_path):
        with pytest.raises(InputError, match="there are no Parquet files"):
            sizes(tmp_path)
        with pytest.raises(InputError, match="there is no such file"):
            sizes(tmp_path / "no.parquet")

    def test_no_column(self, data):
        with pytest.raises(InputError, match="no column 'author'"):
            sizes(data, vertex="author")

    def test_no_rows(self, tmp_path):
        empty = pa.table({"vertex": pa.array([], pa.int64()), "edge": pa.array([], pa.int64())})
        parquet.write_table(empty, tmp_path / "t.parquet")
        with pytest.raises(InputError, match="the table has no rows"):
            sizes(tmp_path / "t.parquet")

    def test_files_that_differ(self, data):
        parquet.write_table(pa.table({"vertex": [1], "edge": [1]}), data / "9.parquet")
        with pytest.raises(InputError, match="some files have a column 'weight' and others do not"):
            sizes(data)
