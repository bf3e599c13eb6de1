"""`cluster_files` on Dask workers finds the same clusters as `cluster` in memory."""

import logging
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import hyperclus as hc
from hyperclus.clustering.cluster_files import warn_if_short
from hyperclus.clustering.cut import cut
from hyperclus.clustering.search_problem import EFFORTS
from hyperclus.engines.dask.prepared import MANIFEST, PartitionSize, Prepared
from hyperclus.engines.dask.workers import WorkerPool, WorkerState
from hyperclus.errors import LossWarning
from hyperclus.io.tables.long_writer import write_long
from support.contracts import refused
from support.dask_workers import pool  # noqa: F401
from support.engine_contracts import check_information
from support.paper_data import paper_hypergraph

NINE = ("mushroom", "rice", "car", "digit-24", "covertype", "zoo", "wine-567", "letter", "digit")


@pytest.fixture
def clustered_files(pool, tmp_path, monkeypatch):  # noqa: F811
    """Write a hypergraph to a file and cluster it on the workers."""
    monkeypatch.setenv("HYPERCLUS_WORK", str(tmp_path / "work"))
    written = {}

    def cluster_it(h, k, **settings):
        if isinstance(h, hc.Hypergraph) and h not in written:
            written[h] = tmp_path / f"data-{len(written)}.parquet"
            with warnings.catch_warnings(action="ignore", category=LossWarning):  # of the order of vertices
                write_long(h, written[h])
        source = written[h] if isinstance(h, hc.Hypergraph) else h
        return hc.cluster_files(source, k, **settings)

    with pool.client.as_current():
        yield cluster_it


def labels_of(h, there):
    """The labels in the order of the vertices of the hypergraph; every vertex has one."""
    table = there.to_arrow()
    assert table.num_rows == h.n_vertices == there.n_vertices
    found = dict(zip(table.column("vertex").to_pylist(), table.column("cluster").to_pylist(), strict=True))
    return np.array([found[vertex] for vertex in h.vertex_ids.tolist()])


def check_same(h, there, here):
    """Compare eigenvalues, NCut and bound, and the clusters except for ties."""
    labels = labels_of(h, there)
    assert there.k == here.k
    assert np.abs(there.eigenvalues - here.eigenvalues).max() <= 1e-6
    assert abs(there.lower_bound - here.lower_bound) <= 1e-6 * here.k
    assert there.n_components == here.walk.n_components
    np.testing.assert_array_equal(np.bincount(labels, minlength=there.k), there.sizes)
    assert (np.diff(there.sizes) <= 0).all()
    scored = cut(here.walk, labels, there.k)
    np.testing.assert_allclose(there.cut.volumes, scored.volumes, rtol=1e-8)
    np.testing.assert_allclose(there.cut.boundaries, scored.boundaries, rtol=1e-8, atol=1e-14)
    if here.settings["objective"] == "information":
        check_information(hc.evaluate(h, labels, chance=False), here)
        return
    assert abs(there.ncut - here.ncut) <= 1e-6, (there.ncut, here.ncut)
    assert hc.agreement(here.labels, labels).nmi > 1 - 1e-9 or abs(there.ncut - here.ncut) <= 1e-9


QUICK = ("car", "digit-24", "mushroom", "zoo")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NINE]
)
def test_the_nine_data_sets_match_memory(clustered_files, name):
    h, _, classes = paper_hypergraph(name)
    edges = np.array([f"{column} = {value}" for column, value in h.edge_ids.tolist()], dtype=object)
    h = hc.Hypergraph(h.gamma, h.edge_weights, h.vertex_ids, edges)
    effort = "thorough" if name == "car" else "default"  # equal eigenvalues, whose vectors rounding decides
    for k, objective in ((2, "ncut"), (5, "ncut"), (len(set(classes)), "information")):
        how = {"objective": objective, "effort": effort}
        check_same(h, clustered_files(h, k, **how), hc.cluster(h, k, **how))


def planted(n_incidences, blocks, noise=0.2):
    """n hyperedges of 10 to 20 members with a home block each, lognormal gamma, and shuffled vertices."""
    rng = np.random.default_rng(0)
    n = n_incidences // 15 // blocks * blocks
    edges = np.repeat(np.arange(n), rng.integers(10, 21, n))
    members = rng.integers(0, blocks, n)[edges] * (n // blocks) + rng.integers(0, n // blocks, len(edges))
    stray = rng.random(len(edges)) < noise
    members[stray] = rng.integers(0, n, stray.sum())
    keys = np.unique(edges * n + rng.permutation(n)[members])
    gamma = sp.csr_array((rng.lognormal(size=len(keys)), (keys % n, keys // n)), shape=(n, n))
    return hc.Hypergraph.from_incidence(gamma, edge_weights=rng.uniform(0.5, 2.0, n), isolated="drop")


@pytest.mark.parametrize(("k", "in_batches"), [(2, True), (5, False), (5, True)])
def test_planted_blocks_match_memory(clustered_files, k, in_batches):
    effort = replace(EFFORTS["default"], batched_from=(0, 0) if in_batches else (10**9, 10**9))
    h = planted(500_000, k)
    there, here = clustered_files(h, k, effort=effort), hc.cluster(h, k, effort=effort, engine="cpu")
    check_same(h, there, here)
    assert there.rounds["stationary distribution"]["products"] <= 40
    assert there.eigenpairs.steps <= 30
    assert (there.rounds["search"]["rounds"] > 0) == in_batches


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 5])
def test_large_planted_blocks_match_memory(clustered_files, k):
    h = planted(10_000_000, k)
    check_same(h, clustered_files(h, k), hc.cluster(h, k, engine="cpu"))


def test_traffic_to_the_client_does_not_grow_with_the_vertices(clustered_files, monkeypatch):
    sizes, run = [], WorkerPool.round

    def weighed(self, *args):
        outcomes = run(self, *args)
        sizes.append(len(pickle.dumps(outcomes)))
        return outcomes

    monkeypatch.setattr(WorkerPool, "round", weighed)
    effort = replace(EFFORTS["default"], batched_from=(0, 0), sample=500)  # of any number of vertices
    largest = []
    for n_incidences in (150_000, 600_000):
        sizes.clear()
        there = clustered_files(planted(n_incidences, 2), 2, effort=effort)
        assert len(sizes) >= sum(stage["rounds"] for stage in there.rounds.values()) > 20
        largest.append(max(sizes))
    assert largest[1] < 1.05 * largest[0]


# ---- ids, files, settings ------------------------------------------------------------------------


def incidences(seed=0):
    """Two blocks joined by one hyperedge, as rows of a table."""
    rng = np.random.default_rng(seed)
    rows = {
        (f"v {v:03} 😀", f"e{edge}") for edge in range(80) for v in rng.integers(0, 60, 5) + 60 * (edge % 2)
    }
    rows |= {("v 000 😀", "e80"), ("v 060 😀", "e80")}
    return [dict(zip(("vertex", "edge"), row, strict=True)) for row in sorted(rows)]


def test_text_ids_and_no_weights_in_several_files(clustered_files, tmp_path):
    rows, folder = incidences(), tmp_path / "files"
    folder.mkdir()
    for number in range(3):
        pq.write_table(pa.Table.from_pylist(rows[number::3]), folder / f"part-{number}.parquet")
    h, there = hc.Hypergraph.from_edges(edges_of(rows)), clustered_files(folder, 2)
    check_same(h, there, hc.cluster(h, 2, engine="cpu"))
    for source in (str(folder), f"{folder}/part-*.parquet", sorted(folder.iterdir())):
        assert clustered_files(source, 2).ncut == there.ncut
    assert {path.suffix for path in there.folder.iterdir()} == {".parquet"}
    assert there.to_arrow().schema.names == ["vertex", "cluster"]
    assert there.to_arrow().schema.field("cluster").type == pa.int8()
    assert "into 2 clusters" in there._repr_html_()
    assert str(there.folder) in repr(there)


def edges_of(rows):
    edges = {}
    for row in rows:
        edges.setdefault(row["edge"], []).append(row["vertex"])
    return edges


def test_prepared_data_is_reused(clustered_files, tmp_path, monkeypatch):
    source = tmp_path / "data.parquet"
    pq.write_table(pa.Table.from_pylist(incidences()), source)
    prepared = hc.prepare(source)
    assert (tmp_path / "work" / prepared.key / MANIFEST).is_file()
    written = {path: path.stat().st_mtime_ns for path in prepared.folder.rglob("*") if path.is_file()}
    first, second, third = (
        clustered_files(prepared, 2),
        clustered_files(source, 2),
        clustered_files(source, 3, seed=1),
    )
    assert first.folder == second.folder != third.folder
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert len(list((tmp_path / "work").glob("*/" + MANIFEST))) == 1
    np.testing.assert_allclose(first.eigenvalues, second.eigenvalues, rtol=1e-9, atol=1e-15)
    assert first.to_arrow() == second.to_arrow()
    assert not list(prepared.folder.rglob("vectors"))  # the files of a run are deleted with it


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_separate_parts_and_single_clusters(clustered_files, k):
    edges = {f"e{edge}": [3 * (edge % 3) + v for v in range(3)] for edge in range(9)}
    h = hc.Hypergraph.from_edges(edges)
    there, here = clustered_files(h, k), hc.cluster(h, k, engine="cpu")
    check_same(h, there, here)
    assert there.n_components == 3
    assert there.ncut == pytest.approx(0.0, abs=1e-12) or k == 4


@pytest.mark.parametrize("in_batches", [False, True])
def test_equal_clusters_are_numbered_by_their_first_vertex_as_in_memory(clustered_files, in_batches):
    edges = {f"e{edge}": [3 * edge + v for v in range(3)] for edge in range(4)}
    effort = replace(EFFORTS["default"], batched_from=(0, 0) if in_batches else (10**9, 10**9))
    there = clustered_files(hc.Hypergraph.from_edges(edges), 4, effort=effort)
    assert there.sizes.tolist() == [3, 3, 3, 3]
    table = there.to_arrow().to_pydict()
    order = {vertex: row for row, vertex in enumerate(table["vertex"])}
    here = hc.Hypergraph.from_edges(edges, vertex_ids=sorted(order, key=order.get))
    assert hc.evaluate(here, table["cluster"]).labels.tolist() == table["cluster"]


def test_invalid_settings_are_rejected(clustered_files, tmp_path):
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    source = tmp_path / "data.parquet"
    write_long(h, source)
    refused(lambda: hc.cluster_files(h, 2), "Parquet")
    refused(lambda: clustered_files(source, 2, effort="long"), "effort")
    refused(lambda: clustered_files(source, 2, seed=None), "seed")
    refused(lambda: clustered_files(source, 2, seed=np.random.default_rng(0)), "seed")
    refused(lambda: clustered_files(source, 2, min_share=0.7), "min_share")
    refused(lambda: clustered_files(source, 2, alpha=-1), "alpha")
    refused(lambda: clustered_files(source, 2, alpha="much"), "alpha")
    refused(lambda: clustered_files(source, 2, tolerance=0), "tolerance")
    refused(lambda: clustered_files(source, 2, tolerance="small"), "tolerance")
    refused(lambda: clustered_files(source, 0), "k")
    refused(
        lambda: clustered_files(source, 4), "4 clusters need at least 4 vertices in hyperedges; there are 3"
    )
    refused(lambda: clustered_files(tmp_path / "nothing.parquet", 2), "nothing.parquet")
    refused(lambda: hc.cluster(source, 2), "Hypergraph")


def test_a_run_warns_if_memory_may_be_short(tmp_path, caplog):
    def prepared(n):
        sizes = (n, n, 10 * n, True, False, (0, n), (PartitionSize(n, n, 10 * n),) * 64)
        return Prepared(tmp_path, "key", *sizes, "vertex", "edge")

    with caplog.at_level(logging.WARNING):
        warn_if_short(prepared(100), 2, [WorkerState("", 2 * 10**9, 1)])
        warn_if_short(prepared(100), 2, [WorkerState("", 0, 1)])
        warn_if_short(prepared(10**9), 2, [])
        assert not caplog.records
        warn_if_short(prepared(100), 2, [WorkerState("", 10**8, 1), WorkerState("", 10**9, 1)])
        assert "a worker may need 0.4 GB of memory and has 0.1 GB" in caplog.text
        for workers, k in ((1, 2), (64, 2), (64, 9)):
            warn_if_short(prepared(10**9), k, [WorkerState("", 10**9, 1)] * workers)
    one, many, wide = (float(record.args[0]) for record in caplog.records[1:])
    assert many < one
    assert many < wide
