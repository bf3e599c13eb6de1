"""Damage to the work folder of a Dask run is noticed: the data are prepared again, or one sentence says so.

The tasks run in this process, so that each kind of damage takes a fraction of a second.
"""

import logging
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyperclus as hc
from hyperclus._runtime.progress import watching
from hyperclus.clustering.search_problem import EFFORTS
from hyperclus.engines.dask.blocks import lay_out
from hyperclus.engines.dask.prepare import Tuning, prepare
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.engines.dask.source import TableOptions
from support.engine_contracts import planted
from support.in_process_workers import AlonePool

IN_BATCHES = replace(EFFORTS["fast"], batched_from=(0, 0))  # so that the blocks are used in every stage


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two clusters; ids are text, and all weights differ."""
    h = planted(40, 60, 2, noise=0.1, seed=1)
    edges = np.repeat(np.arange(h.n_edges), h.edge_sizes)
    table = {
        "vertex": [f"v{number}" for number in h.gamma.indices],
        "edge": edges,
        "weight": 1 + np.arange(len(edges)) / 100,
        "edge_weight": 1.0 + edges % 3,
    }
    path = tmp_path_factory.mktemp("data") / "data.parquet"
    pq.write_table(pa.table(table), path)
    return path


def clustered(data, work):
    part = hc.cluster_files(data, 2, effort=IN_BATCHES, scheduler=AlonePool(), folder=work)
    table = part.to_arrow().to_pydict()
    return part.ncut, part.lower_bound, dict(zip(table["vertex"], table["cluster"], strict=True))


@pytest.fixture(scope="module")
def calm(data, tmp_path_factory):
    """A finished run and its folder."""
    work = tmp_path_factory.mktemp("calm") / "work"
    return clustered(data, work), work


@pytest.fixture
def work(calm, tmp_path):
    return shutil.copytree(calm[1], tmp_path / "work")


def only(work, pattern):
    """The first file of this pattern that has some content."""
    return max(sorted(work.glob(pattern)), key=lambda path: path.stat().st_size)


def flip(content):
    middle = 2 * len(content) // 3
    return content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]


DAMAGE = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "a byte short": lambda content: content[:-1],
    "a byte more": lambda content: content + b"x",
    "overwritten": lambda content: b"x" * len(content),
    "a bit": flip,
    "missing": None,
    "a folder": None,
}
PREPARED = [
    "*/manifest.json",
    *(
        f"*/partitions/*/{name}.npy"
        for name in ("indptr", "members", "gamma", "vertices", "edge_weights", "order")
    ),
    "*/partitions/*/edges.parquet",
    "*/vertices/*.parquet",
]
BLOCKS = [
    "*/layouts/*/block-*/block.json",
    *(
        f"*/layouts/*/block-*/{name}.npy"
        for name in ("edges", "members", "gamma", "vertices", "omega", "bounds")
    ),
]


def damage(path, kind):
    content = path.read_bytes()
    path.unlink()
    if kind == "a folder":
        path.mkdir()
    elif kind != "missing":
        path.write_bytes(DAMAGE[kind](content))
    return path


def check_same(found, expected):
    assert found[:2] == pytest.approx(expected[:2], rel=1e-9)
    assert found[2] == expected[2]


def warnings_in(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("pattern", PREPARED)
def test_damaged_data_are_prepared_again(data, work, caplog, pattern, kind):
    whole = Prepared.at(only(work, "*/manifest.json").parent)
    files = whole.files()
    path = damage(only(work, pattern), kind)
    found = prepare(data, work, AlonePool())
    assert (found, found.files()) == (whole, files)
    assert warnings_in(caplog) == [f"{path}: the file is damaged or missing; the data are prepared again"]
    assert not list(work.glob("*/layouts"))  # another number of partitions would number the vertices again
    assert prepare(data, work, AlonePool()) == whole
    assert len(warnings_in(caplog)) == 1


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("pattern", BLOCKS)
def test_a_damaged_block_is_made_again(work, pattern, kind):
    path = only(work, pattern)
    content = path.read_bytes()
    damage(path, kind)
    lay_out(Prepared.at(only(work, "*/manifest.json").parent), AlonePool(), "run", 0.0)
    assert path.read_bytes() == content


def test_a_run_on_damaged_files_has_the_same_result(data, calm, work):
    damage(only(work, "*/layouts/*/block-*/members.npy"), "a bit")
    check_same(clustered(data, work), calm[0])
    damage(only(work, "*/partitions/*/gamma.npy"), "a bit")
    check_same(clustered(data, work), calm[0])


def test_labels_of_finished_runs_stay(data, calm, work):
    labels = next(work.glob("*/labels")) / "another-run"
    labels.mkdir()
    (labels / "part-00000.parquet").write_text("kept")
    damage(only(work, "*/manifest.json"), "half")
    check_same(clustered(data, work), calm[0])
    assert (labels / "part-00000.parquet").read_text() == "kept"


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_to_data_that_were_given_as_prepared_is_one_sentence(work, kind):
    prepared = Prepared.at(only(work, "*/manifest.json").parent)
    path = damage(only(work, "*/partitions/*/gamma.npy"), kind)
    with pytest.raises(hc.ClusterError) as error:
        hc.cluster_files(prepared, 2, scheduler=AlonePool())
    assert str(error.value) == f"{path}: the file is damaged or missing; prepare the data again"


class StoppedError(Exception):
    """Ends a preparation; its files stay."""


def stopped_at(note):
    def listen(step):
        if step.note.startswith(note):
            raise StoppedError

    return listen


SMALL = Tuning(partitions=3, min_piece_rows=50)


@pytest.mark.parametrize("kind", ["empty", "half", "a byte short", "overwritten"])
@pytest.mark.parametrize(
    ("note", "pattern"),
    [
        ("partitions 1", "*/*/division.json"),
        ("partitions 1", "*/*/pieces/*"),
        ("partitions 1", "*/*/vertex-ids/*"),
        ("numbers 1", "*/*/partitions/*"),
        ("numbers 1", "*/*/buckets/*"),
    ],
)
def test_an_interrupted_preparation_with_damaged_files_starts_over(
    data, tmp_path, caplog, note, pattern, kind
):
    whole = prepare(data, tmp_path / "whole", AlonePool(), TableOptions(), SMALL)
    with watching(stopped_at(note)), pytest.raises(StoppedError):
        prepare(data, tmp_path / "work", AlonePool(), TableOptions(), SMALL)
    path = damage(only(tmp_path / "work", pattern), kind)
    found = prepare(data, tmp_path / "work", AlonePool(), TableOptions(), SMALL)
    assert found.files() == whole.files()
    assert f"{path}: the file is damaged or missing; the data are prepared again" in caplog.text


def test_a_lost_division_starts_over(data, tmp_path, caplog):
    with watching(stopped_at("partitions 1")), pytest.raises(StoppedError):
        prepare(data, tmp_path, AlonePool(), TableOptions(), SMALL)
    damage(only(tmp_path, "*/*/division.json"), "missing")
    assert prepare(data, tmp_path, AlonePool(), TableOptions(), SMALL).n_edges == 60
    assert "division.json: the file is damaged or missing" in caplog.text


def test_a_manifest_that_another_client_writes_meanwhile_is_found(data, calm, work, monkeypatch):
    """Between the first look for it and the look for the pieces of an unfinished preparation."""
    manifest = only(work, "*/manifest.json")
    content, looked = manifest.read_bytes(), []
    manifest.unlink()

    def look(folder):
        looked.append(folder)
        if len(looked) == 1:
            try:
                return Prepared.at(folder)
            finally:
                manifest.write_bytes(content)
        return Prepared.at(folder)

    monkeypatch.setattr(
        "hyperclus.engines.dask.prepare.Prepared", type("Found", (), {"at": staticmethod(look)})
    )
    members = only(work, "*/partitions/*/members.npy").stat().st_mtime_ns
    check_same(clustered(data, work), calm[0])
    assert only(work, "*/partitions/*/members.npy").stat().st_mtime_ns == members
