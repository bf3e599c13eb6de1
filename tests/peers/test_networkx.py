"""A bipartite graph holds everything."""

import pytest
from hypothesis import given

from hyperclus import Hypergraph
from hyperclus.errors import LossWarning
from hyperclus.io.convert import from_networkx, to_networkx
from support.contracts import refused
from support.round_trips import hypergraphs, rounds, run_examples, same

nx = pytest.importorskip("networkx", reason="NetworkX is not installed; see docs/how_to/other_libraries.md")


@given(hypergraphs())
@rounds
def test_round_trip(h):
    graph = to_networkx(h)
    assert graph.number_of_nodes() == h.n_vertices + h.n_edges
    assert graph.number_of_edges() == h.n_incidences
    assert nx.is_bipartite(graph)
    same(from_networkx(graph), h)


def test_the_other_side():
    graph = nx.Graph()
    graph.add_nodes_from("ab", bipartite=1)
    graph.add_node("e", bipartite=0, weight=3)
    graph.add_weighted_edges_from([("a", "e", 2), ("e", "b", 1)])
    expected = Hypergraph.from_edges({"e": {"a": 2, "b": 1}}, edge_weights=[3])
    same(from_networkx(graph, vertices=1), expected)
    with pytest.warns(LossWarning, match="vertex attributes 'weight'"):
        dual = from_networkx(graph)
    assert (dual.vertex_ids.tolist(), dual.edge_ids.tolist()) == (["e"], ["a", "b"])


def test_nodes_without_tags_keep_their_names():
    graph = nx.Graph()
    graph.add_node(("vertex", 1), bipartite=0)
    graph.add_node("e", bipartite=1)
    graph.add_edge(("vertex", 1), "e")
    assert from_networkx(graph).vertex_ids.tolist() == [("vertex", 1)]


def test_parallel_edges():
    graph = nx.MultiGraph()
    graph.add_node("a", bipartite=0)
    graph.add_node("e", bipartite=1)
    graph.add_weighted_edges_from([("a", "e", 2), ("a", "e", 3)])
    refused(lambda: from_networkx(graph), "vertex 'a' in hyperedge 'e' appears more than once")
    assert from_networkx(graph, duplicates="sum").gamma.data.tolist() == [5]
    assert from_networkx(graph, duplicates="max").gamma.data.tolist() == [3]


def test_other_attributes_are_named():
    graph = to_networkx(Hypergraph.from_edges({"e": ["a", "b"]}))
    graph.nodes["vertex", "a"]["age"] = 7
    graph.nodes["edge", "e"]["year"] = 1999
    graph.edges[("vertex", "a"), ("edge", "e")]["role"] = "first"
    words = "vertex attributes 'age', the hyperedge attributes 'year', the edge attributes 'role'"
    with pytest.warns(LossWarning, match=words):
        from_networkx(graph)


def test_refusals():
    good = to_networkx(Hypergraph.from_edges({"e": ["a", "b"]}))
    refused(lambda: from_networkx(nx.DiGraph(good)), "undirected networkx.Graph", "not a DiGraph")
    refused(lambda: from_networkx(good, vertices=2), "vertices must be 0 or 1")
    good.add_edge(("vertex", "a"), ("vertex", "b"))
    refused(lambda: from_networkx(good), "joins nodes of one side", "('vertex', 'a')")
    bad = to_networkx(Hypergraph.from_edges({"e": ["a", "b"]}))
    bad.edges[("vertex", "a"), ("edge", "e")]["weight"] = -2
    refused(lambda: from_networkx(bad), "vertex 'a' in hyperedge 'e' has weight -2")
    bad.edges[("vertex", "a"), ("edge", "e")]["weight"] = "much"
    refused(lambda: from_networkx(bad), "weight 'much' is not a finite number")
    bad = to_networkx(Hypergraph.from_edges({"e": ["a", "b"]}))
    bad.add_node(("vertex", "c"), bipartite=0)
    refused(lambda: from_networkx(bad, isolated="error"), "no hyperedge holds vertex 'c'")
    bad.add_node("d")
    refused(lambda: from_networkx(bad), "node 'd' has no side", "bipartite to 0 for a vertex")


def test_edges_of_an_ordinary_graph_are_hyperedges_of_two_members():
    graph = nx.Graph([("a", "b", {"weight": 2.0}), ("b", "c"), ("c", "c")])
    graph.add_node("alone")
    expected = Hypergraph.from_edges(
        [["a", "b"], ["b", "c"], ["c"]], edge_weights=[2, 1, 1], vertex_ids=["a", "b", "c", "alone"]
    )
    same(from_networkx(graph), expected)
    same(from_networkx(nx.MultiGraph([(0, 1), (0, 1)])), Hypergraph.from_edges([[0, 1], [0, 1]]))
    with pytest.warns(LossWarning, match="the edge attributes 'since'"):
        from_networkx(nx.Graph([(0, 1, {"since": 3})]))
    graph.edges["b", "c"]["weight"] = -1
    refused(lambda: from_networkx(graph), "hyperedge 1 has weight -1")


def test_examples():
    run_examples("networkx")
