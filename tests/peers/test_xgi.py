"""XGI holds everything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperclus import Hypergraph
from hyperclus.errors import LossWarning
from hyperclus.io.convert import from_xgi, to_xgi
from support.contracts import refused
from support.round_trips import hypergraphs, rounds, run_examples, same

xgi = pytest.importorskip("xgi", reason="XGI is not installed; see docs/how_to/other_libraries.md")


@given(hypergraphs())
@rounds
def test_round_trip(h):
    same(from_xgi(to_xgi(h)), h)


@given(st.dictionaries(st.integers(0, 5), st.sets(st.integers(0, 5), min_size=1), min_size=1))
@rounds
def test_hypergraphs_of_xgi(edges):
    other = xgi.Hypergraph(edges)
    h = from_xgi(other)
    assert (h.n_vertices, h.n_edges) == (other.num_nodes, other.num_edges)
    assert {e: set(h.vertex_ids[h.gamma[[i]].indices]) for i, e in enumerate(h.edge_ids)} == edges
    assert (h.gamma.data == 1).all()
    assert (h.edge_weights == 1).all()


def test_weights_are_edge_attributes():
    other = to_xgi(Hypergraph.from_edges({"e": {"a": 2, "b": 1}, "f": {"b": 0.5}}, edge_weights=[3, 4]))
    assert other.edges.attrs("weight").asdict() == {"e": 3, "f": 4}
    assert other.edges.attrs("gamma").asdict() == {"e": {"a": 2, "b": 1}, "f": {"b": 0.5}}


def test_new_edges_do_not_replace_ours():
    other = to_xgi(Hypergraph.from_edges({0: ["a", "b"], 3: ["b"]}))
    other.add_edge(["a"])
    other.add_edge(["b"])
    assert other.num_edges == 4


def test_other_attributes_are_named():
    other = xgi.Hypergraph({"e": [1, 2]})
    other.set_node_attributes({1: {"colour": "red"}})
    other.set_edge_attributes({"e": {"time": 3, "weight": 2}})
    with pytest.warns(LossWarning, match="node attributes 'colour', the edge attributes 'time'"):
        h = from_xgi(other)
    assert h.edge_weights.tolist() == [2]


def test_refusals():
    refused(lambda: from_xgi(xgi.DiHypergraph([({1}, {2})])), "undirected xgi.Hypergraph", "DiHypergraph")
    refused(lambda: from_xgi(xgi.SimplicialComplex([[1, 2]])), "not a SimplicialComplex")
    refused(lambda: from_xgi([[1, 2]]), "not a list")
    refused(lambda: to_xgi([[1, 2]]), "a Hypergraph is needed")
    refused(
        lambda: to_xgi(Hypergraph.from_edges({frozenset([1]): ["a"]})),
        "XGI does not accept the edge id frozenset({1})",
    )
    for gamma in ({1: 2.0}, {1: 1.0, 2: 1.0, 3: 1.0}, 5):
        other = xgi.Hypergraph({"e": [1, 2]})
        other.set_edge_attributes({"e": {"gamma": gamma}})
        refused(
            lambda o=other: from_xgi(o), "the attribute gamma of hyperedge 'e' must map exactly its members"
        )
    other = xgi.Hypergraph({"e": [1, 2]})
    other.set_edge_attributes({"e": {"weight": -1}})
    refused(lambda: from_xgi(other), "hyperedge 'e' has weight -1")
    other = xgi.Hypergraph({"e": [1, 2]})
    other.add_node("alone")
    refused(lambda: from_xgi(other, isolated="error"), "no hyperedge holds vertex 'alone'", "isolated='drop'")
    assert from_xgi(other).n_vertices == 3
    assert from_xgi(other, isolated="drop").n_vertices == 2


def test_examples():
    run_examples("xgi")
