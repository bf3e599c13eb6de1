"""Whatever means one hypergraph is converted; what may mean several is refused with their names."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import hyperclus as hc
from hyperclus.io.hif import read_hif_document, write_hif
from support.contracts import refused
from support.round_trips import same

EDGES = {"e": ["a", "b", "c"], "f": ["a", "b"], "g": ["c", "d"], "h": ["d", "e", "f"], "i": ["e", "f"]}
H = hc.Hypergraph.from_edges(EDGES)
X = H.gamma.T.toarray()
LONG = {
    "vertex": H.vertex_ids[H.gamma.indices].tolist(),
    "edge": np.repeat(H.edge_ids, H.edge_sizes).tolist(),
}
NAMED = pd.DataFrame(X, index=H.vertex_ids, columns=H.edge_ids)


@pytest.mark.parametrize(
    "make",
    [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.csr_matrix, np.bool_, np.int8],
)
def test_matrices_are_incidences(make):
    same(hc.as_hypergraph(make(X)), hc.Hypergraph.from_incidence(X))


@pytest.mark.parametrize("data", [H, EDGES, LONG, NAMED, NAMED.astype(bool), pd.DataFrame(LONG)])
def test_named_data(data):
    same(hc.as_hypergraph(data), H)


def test_frames_without_an_index():
    for frame in (pl.DataFrame(X), pa.table({str(i): column for i, column in enumerate(X.T)})):
        same(hc.as_hypergraph(frame), hc.Hypergraph.from_incidence(frame))
    same(hc.as_hypergraph(pl.DataFrame(LONG)), H)
    features = pd.DataFrame({"a": list("xxy"), "b": list("uvv"), "c": list("ppq")})
    same(hc.as_hypergraph(features), hc.Hypergraph.from_table(features))


def test_hyperedges():
    lists = list(EDGES.values())
    expected = hc.Hypergraph.from_edges(lists)
    for data in (lists, tuple(lists), iter(lists), map(tuple, lists), np.array(lists, dtype=object).tolist()):
        same(hc.as_hypergraph(data), expected)
    same(hc.as_hypergraph([[1, 2], [2, 3]]), hc.Hypergraph.from_edges([[1, 2], [2, 3]]))
    assert hc.as_hypergraph([]).n_vertices == 0
    twice = [["a", "a"], ["b"]]
    refused(lambda: hc.as_hypergraph(twice), "duplicates='sum'")
    assert hc.as_hypergraph(twice, duplicates="sum").gamma.data.tolist() == [2, 1]


def test_a_hif_document(tmp_path):
    write_hif(H, tmp_path / "h.json")
    same(hc.as_hypergraph(read_hif_document(tmp_path / "h.json")), H)


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (X @ X.T, ["a symmetric matrix", "from_incidence", "from_networkx"]),
        (sp.csr_array(X @ X.T), ["a symmetric matrix"]),
        (np.ones((3, 4)), ["column 0 has no zeros", "from_table(X, bins=5)", "alpha=1"]),
        (pd.DataFrame(np.ones((3, 4))), ["column 0 has no zeros"]),
        (pd.DataFrame({"height": [1.7, 1.8, 1.6], "children": [0, 1, 2]}), ["column 'height' has no zeros"]),
        (
            pd.DataFrame({"customer": ["a", "b"], "item": ["c", "d"]}),
            ["from_long(table, vertex='customer', edge='item')", "from_table"],
        ),
        (
            pd.DataFrame({"x": ["a", "b"], "y": [1, 2], "z": [1, 2]}),
            ["numbers (column 'y') and text (column 'x')", "from_table(table, bins=5)"],
        ),
        ([[1, 0, 0], [0, 1, 1]], ["rows of a matrix", "from_incidence", "from_edges"]),
        (X.tolist(), ["rows of a matrix"]),
        (np.array(["a", "b"]), ["shape (2,)"]),
        ("papers.csv", ["the name of a file", "hc.read"]),
        (3, ["a Hypergraph is needed, not 3"]),
        (None, ["a Hypergraph is needed, not None"]),
    ],
)
def test_what_may_mean_several_things_is_refused(data, parts):
    refused(lambda: hc.as_hypergraph(data), *parts)
    refused(lambda: hc.cluster(data), *parts)


@pytest.mark.parametrize(
    "call",
    [
        lambda data: hc.cluster(data).ncut,
        lambda data: hc.hyperclus_g(data).ncut,
        lambda data: hc.evaluate(data, [0, 0, 0, 1, 1, 1]).ncut,
        lambda data: hc.refine(data, [0, 0, 0, 1, 1, 1]).ncut,
        lambda data: hc.local_cluster(data, [0]).conductance,
        lambda data: hc.pagerank(data)[0],
        lambda data: hc.suggest_k(data, 3, shuffles=2).answer,
        lambda data: hc.RandomWalk(data).stationary[0],
    ],
)
def test_every_function_accepts_what_can_be_converted(call):
    assert call(X) == call(hc.Hypergraph.from_incidence(X))


def test_write_accepts_it_too(tmp_path):
    hc.write(EDGES, tmp_path / "h.npz")
    same(hc.read(tmp_path / "h.npz"), H)


def test_functions_that_do_not_convert_name_the_one_that_does():
    refused(lambda: hc.summary(X), "not a numpy.ndarray", "hc.as_hypergraph")


def test_the_remedy_for_duplicates_can_be_followed():
    twice = [["a", "b"], ["b", "a", "b"]]
    with pytest.raises(hc.InputError, match=r"to merge them, in hc.as_hypergraph\(data, ...\)"):
        hc.cluster(twice, 2)
    assert hc.as_hypergraph(twice, duplicates="max").n_incidences == 4
