"""HyperNetX holds everything whose ids are text or integers, and has the same random walk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperclus import Hypergraph, NormalizedLaplacian, RandomWalk
from hyperclus.errors import LossWarning
from hyperclus.io.convert import from_hypernetx, to_hypernetx
from support.contracts import refused
from support.round_trips import hypergraphs, plain_ids, rounds, run_examples, same
from support.strategies import hypergraphs as walkable

hnx = pytest.importorskip(
    "hypernetx", reason="HyperNetX is not installed; see docs/how_to/other_libraries.md"
)


@given(hypergraphs(plain_ids, plain_ids))
@rounds
def test_round_trip(h):
    other = to_hypernetx(h)
    assert other.shape == (h.covered.sum(), (h.edge_sizes > 0).sum())
    same(from_hypernetx(other), h)


@given(walkable(min_n=3), st.data())
@settings(deadline=None, max_examples=30)
def test_the_random_walks_agree(h, data):
    """HyperNetX uses 1 + the standard deviation of gamma, over |e| (not |e| - 1) members, as omega.

    gamma is moderate here: ARPACK computes its stationary distribution, with errors of 1e-12 for
    walks that hardly leave some set.
    """
    h = h.with_gamma(data.draw(st.lists(st.floats(0.2, 5), min_size=h.n_incidences, max_size=h.n_incidences)))
    parts = np.split(h.gamma.data, h.gamma.indptr[1:-1])
    walk = RandomWalk(h.with_edge_weights([1 + np.std(part, ddof=0) for part in parts]))
    other = to_hypernetx(h)
    chain, index = hnx.algorithms.prob_trans(other, weights=True)
    assert list(index) == h.vertex_ids.tolist()
    np.testing.assert_allclose(chain.toarray(), walk.factors.vertex_chain(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(hnx.algorithms.get_pi(chain), walk.stationary, rtol=0, atol=1e-12)
    laplacian, index = hnx.algorithms.norm_lap(other, weights=True)
    assert list(index) == h.vertex_ids.tolist()
    np.testing.assert_allclose(laplacian.toarray(), NormalizedLaplacian(walk).dense(), rtol=0, atol=1e-12)


def test_hypernetx_uses_the_weights():
    h = Hypergraph.from_edges({"e": {"a": 2, "b": 1}, "f": {"b": 0.5}}, edge_weights=[3, 4])
    other = to_hypernetx(h)
    np.testing.assert_array_equal(other.incidence_matrix(weights=True).toarray(), h.gamma.toarray().T)
    assert [other.edges[edge].weight for edge in ("e", "f")] == [3, 4]


def test_hypergraphs_of_hypernetx():
    other = hnx.Hypergraph({"e": {"a": {"weight": 2}, "b": {}}, "f": {"b": {}}}, default_edge_weight=5)
    expected = Hypergraph.from_edges({"e": {"a": 2, "b": 1}, "f": ["b"]}, edge_weights=[5, 5])
    same(from_hypernetx(other), expected)
    other = hnx.Hypergraph({"e": ["a", "b"], "f": ["b"]}, properties={"e": {"weight": 3}, "a": {"weight": 9}})
    expected = Hypergraph.from_edges({"e": ["a", "b"], "f": ["b"]}, edge_weights=[3, 1])
    same(from_hypernetx(other), expected)


def test_restricted_hypergraphs_list_other_vertices():
    part = to_hypernetx(Hypergraph.from_edges({"e": ["a", "b"], "f": ["b", "c"]})).restrict_to_edges(["e"])
    assert from_hypernetx(part).vertex_ids.tolist() == ["a", "b", "c"]
    same(from_hypernetx(part, isolated="drop"), Hypergraph.from_edges({"e": ["a", "b"]}))


def test_other_properties_are_named():
    other = hnx.Hypergraph(
        {"e": {"a": {"role": 1}, "b": {}}},
        node_properties={"a": {"weight": 2, "age": 7}, "b": {}},
        edge_properties={"e": {"year": 1}},
    )
    words = "node weights, the node attributes 'age', the edge attributes 'year', the cell attributes 'role'"
    with pytest.warns(LossWarning, match=words):
        from_hypernetx(other)


def test_refusals():
    refused(lambda: from_hypernetx({"e": ["a"]}), "undirected hypernetx.Hypergraph", "not a dict")
    table = Hypergraph.from_table({"colour": ["red", "blue"]})
    refused(
        lambda: to_hypernetx(table), "edge id ('colour', 'red') is neither", "dataclasses.replace(h, edge_ids"
    )
    refused(lambda: to_hypernetx(Hypergraph.from_edges([[0.5]])), "vertex id 0.5 is neither")
    bad = hnx.Hypergraph({"e": {"a": {"weight": -2}}})
    refused(lambda: from_hypernetx(bad), "vertex 'a' in hyperedge 'e' has weight -2")


def test_examples():
    run_examples("hypernetx")
