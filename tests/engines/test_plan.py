"""What a run on many machines will need, by the footers of its files."""

import datetime
from dataclasses import replace

import pytest

from hyperclus.engines.dask import plan as planning
from hyperclus.engines.dask.plan import plan
from hyperclus.engines.dask.prepare import prepare
from hyperclus.errors import InputError
from support.dask_workers import pool  # noqa: F401  # a fixture

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("distributed")

ROWS = 3000


def rows(first=0, **more):
    """Incidences of 100 vertices in 60 hyperedges."""
    numbers = range(first, first + ROWS)
    return {
        "vertex": [i % 100 + 7 for i in numbers],
        "edge": [i * 7 % 60 for i in numbers],
        "weight": [float(i % 3 + 1) for i in numbers],
        **more,
    }


@pytest.fixture
def data(tmp_path):
    """Two files in a folder, all but the last 600 rows different."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(2):
        table = pa.table(rows(number * ROWS)).group_by(["vertex", "edge"]).aggregate([("weight", "max")])
        table = table.rename_columns(["vertex", "edge", "weight"]).slice(number * 100, 100)
        parquet.write_table(table, folder / f"{number}.parquet", row_group_size=30)
    return folder


def test_footers_say_it_all(data):
    found = plan(data, 2, memory="2GB")
    assert (found.n_files, found.n_rows) == (2, 200)
    assert found.n_bytes == sum(file.stat().st_size for file in data.iterdir())
    assert found.columns.wanted == ["vertex", "edge", "weight"]
    assert found.kinds == ("int64", "int64")
    assert (found.known, found.prepared) == ("statistics", None)
    assert found.n_vertices <= 100
    assert found.n_edges <= 60
    assert [need.workers for need in found.needs] == [1, 4, 16, 64]
    assert all(need.fits and need.held for need in found.needs)
    assert [need.partitions for need in found.needs] == [2, 8, 32, 128]
    assert found.least_workers == 1


def test_prepared_data_know_better(data, tmp_path, pool):  # noqa: F811
    prepared = prepare(data, tmp_path / "work", pool)
    found = plan(data, folder=tmp_path / "work", workers=2)
    assert (found.known, found.prepared) == ("prepared", prepared.folder)
    assert (found.n_vertices, found.n_edges) == (prepared.n_vertices, prepared.n_edges)
    assert found.needs[0].partitions == len(prepared.partitions)
    assert plan(data, folder=tmp_path / "work", duplicates="sum").prepared is None
    assert plan(data, folder=tmp_path / "elsewhere").prepared is None


@pytest.mark.parametrize(
    "ids", [[f"v{i}" for i in range(50)], [datetime.date(2020, 1, 1 + i % 28) for i in range(50)]]
)
def test_other_ids_are_as_many_as_rows(tmp_path, ids):
    parquet.write_table(pa.table({"vertex": ids, "edge": list(range(50))}), tmp_path / "t.parquet")
    found = plan(tmp_path / "t.parquet")
    assert found.kinds == ("string" if isinstance(ids[0], str) else "date32[day]", "int64")
    assert (found.known, found.n_vertices, found.n_edges) == ("rows", 50, 50)
    assert found.columns.weight is None


def test_no_statistics(tmp_path):
    parquet.write_table(pa.table(rows()), tmp_path / "t.parquet", write_statistics=False)
    found = plan(tmp_path / "t.parquet")
    assert (found.known, found.n_vertices) == ("rows", ROWS)


class TestRules:
    facts = planning._Facts(10**10, 32 * 10**10, 10**9, 10**9, None, True, 3, 4)

    def test_bytes_per_round(self):
        for workers in (1, 3, 64):
            need = planning.need(self.facts, workers, 64 * 10**9)
            assert need.moved == 16 * min(10**10, workers * 10**9)

    def test_more_workers_need_less_memory_each(self):
        needs = [planning.need(self.facts, workers, 16 * 10**9) for workers in (1, 4, 16, 64, 256)]
        least = [need.least for need in needs]
        assert least == sorted(least, reverse=True)
        assert [need.fits for need in needs] == sorted(need.fits for need in needs)
        assert not needs[0].fits
        assert needs[-1].fits
        assert not needs[0].held
        assert needs[-1].held

    def test_wider_blocks_take_more(self):
        wide = self.facts._replace(block=16)
        assert planning.need(wide, 64, 10**10).least > planning.need(self.facts, 64, 10**10).least

    def test_a_partition_fits_a_third_of_the_memory(self):
        need = planning.need(self.facts, 4, 10**9)
        assert need.partitions * 10**9 / 3 >= 10**10 * (planning.ROW_BYTES + 32)

    def test_fits(self):
        need = planning.need(self.facts, 64, 16 * 10**9)
        assert replace(need, expected=int(0.8 * need.memory)).fits
        assert not replace(need, expected=int(0.81 * need.memory)).fits

    def test_no_number_is_enough(self, data):
        assert plan(data, memory="100MB").least_workers is None


class TestBadInput:
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"memory": "many"}, "memory must be a size such as 16GB; got 'many'"),
            ({"memory": -1}, "memory must be a size"),
            ({"workers": 0}, "workers must be a whole number from 1"),
            ({"k": 0}, "k must be a whole number"),
            ({"vertex": "author"}, "author"),
        ],
    )
    def test_one_sentence(self, data, given, words):
        with pytest.raises(InputError, match=words):
            plan(data, **given)

    def test_no_files(self, tmp_path):
        with pytest.raises(InputError, match="there are no Parquet files"):
            plan(tmp_path)
        with pytest.raises(InputError, match="there is no such file"):
            plan(tmp_path / "no.parquet")

    def test_no_rows(self, tmp_path):
        empty = pa.table({"vertex": pa.array([], pa.int64()), "edge": pa.array([], pa.int64())})
        parquet.write_table(empty, tmp_path / "t.parquet")
        with pytest.raises(InputError, match="the table has no rows"):
            plan(tmp_path / "t.parquet")

    def test_files_that_differ(self, data):
        parquet.write_table(pa.table({"vertex": [1], "edge": [1]}), data / "9.parquet")
        with pytest.raises(InputError, match="some files have a column 'weight' and others not"):
            plan(data)
