"""Neighbourhoods of similar vertices: exact ones by loops, approximate ones by their recall."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperclus.errors import InputError, MissingLibraryError
from hyperclus.hypergraph import neighbors
from hyperclus.hypergraph.neighbors import Rows, nearest_known, neighborhoods


def by_loops(values, metric, count):
    """The symmetric similarities of nearest neighbours, with 1 on the diagonal."""
    n = len(values)
    near = {}
    for u in range(n):
        if metric == "cosine":
            figures = [values[u] @ x / np.linalg.norm(values[u]) / np.linalg.norm(x) for x in values]
            order = sorted((v for v in range(n) if v != u), key=lambda v: -figures[v])
        else:
            figures = [float(np.linalg.norm(values[u] - x)) for x in values]
            order = sorted((v for v in range(n) if v != u), key=lambda v: figures[v])
        near[u] = {v: figures[v] for v in order[:count]}
    farthest = {u: max(found.values()) for u, found in near.items()}
    expected = np.eye(n)
    for u, found in near.items():
        for v, figure in found.items():
            if metric == "euclidean":
                figure = np.exp(-(figure**2) / (farthest[u] * farthest[v]))
            expected[u, v] = max(expected[u, v], figure)
            expected[v, u] = max(expected[v, u], figure)
    return expected


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("sparse", [False, True])
def test_neighborhoods_equal_their_definition(metric, sparse):
    values = np.random.default_rng(0).random((25, 6))
    rows = Rows(sp.csr_array(values) if sparse else values, np.ones(25, dtype=bool), metric)
    found = neighborhoods(rows, np.arange(25), 4)
    np.testing.assert_allclose(found.gamma.toarray(), by_loops(values, metric, 4), rtol=1e-10)
    assert found.edge_ids[3] == ("similar to", 3)


def test_absent_rows_are_in_no_neighborhood():
    values, present = np.random.default_rng(0).random((12, 3)), np.ones(12, dtype=bool)
    present[[2, 7]] = False
    found = neighborhoods(Rows(values, present, "euclidean"), np.arange(12), 3)
    np.testing.assert_array_equal(found.covered, present)
    assert [edge for _, edge in found.edge_ids] == np.flatnonzero(present).tolist()
    inside = neighborhoods(Rows(values[present], np.ones(10, dtype=bool), "euclidean"), np.arange(10), 3)
    np.testing.assert_array_equal(found.gamma[:, present].toarray(), inside.gamma.toarray())


def test_equal_rows_have_similarity_one():
    found = neighborhoods(Rows(np.zeros((5, 2)), np.ones(5, dtype=bool), "euclidean"), np.arange(5), 2)
    np.testing.assert_array_equal(found.gamma.data, 1.0)


def test_blocks_do_not_change_neighbours(monkeypatch):
    rows = Rows(np.random.default_rng(0).random((40, 5)), np.ones(40, dtype=bool), "euclidean")
    whole = neighborhoods(rows, np.arange(40), 6)
    monkeypatch.setattr(neighbors, "CELLS", 100)
    np.testing.assert_allclose(neighborhoods(rows, np.arange(40), 6).gamma.toarray(), whole.gamma.toarray())


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("wide", [False, True])
def test_approximate_neighbours_are_nearly_the_exact_ones(monkeypatch, metric, wide):
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    values = rng.standard_normal((1500, 10)) @ rng.standard_normal((10, 200 if wide else 20))
    rows = Rows(sp.csr_array(values) if wide else values, np.ones(1500, dtype=bool), metric)
    exact = neighborhoods(rows, np.arange(1500), 10).gamma
    monkeypatch.setattr(neighbors, "EXACT_UP_TO", 100)
    found = [neighborhoods(rows, np.arange(1500), 10).gamma for _ in range(2)]
    np.testing.assert_array_equal(found[0].indices, found[1].indices)  # the same each time
    np.testing.assert_array_equal(found[0].data, found[1].data)
    common = (found[0] > 0).multiply(exact > 0).sum()
    assert common / exact.nnz > 0.9


def test_large_data_without_faiss(monkeypatch):
    monkeypatch.setattr(neighbors, "EXACT_UP_TO", 10)
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    rows = Rows(np.random.default_rng(0).random((20, 2)), np.ones(20, dtype=bool), "euclidean")
    with pytest.raises(MissingLibraryError, match=r"hyperclus\[attributes\]"):
        neighborhoods(rows, np.arange(20))


def test_nothing_similar():
    with pytest.raises(InputError, match="two or more"):
        neighborhoods(Rows(np.ones((3, 1)), np.array([True, False, False]), "euclidean"), np.arange(3))
    with pytest.raises(InputError, match="no two vertices"):
        neighborhoods(Rows(np.eye(4), np.ones(4, dtype=bool), "cosine"), np.arange(4))


def test_nearest_known_rows():
    known = Rows(np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([True, True, True, False]), "euclidean")
    new = Rows(np.array([[0.2], [0.0], [10.5]]), np.array([True, False, True]), "euclidean")
    found = nearest_known(new, known, 2).toarray()
    assert found[0, 0] > found[0, 1] > 0
    assert found[0, 2] == 0
    assert not found[1].any()
    assert found[2].argmax() == 2
    assert found[2, 3] == 0
