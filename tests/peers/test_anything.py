"""`as_hypergraph` knows the objects of the other libraries."""

import pytest

import hyperclus as hc
from hyperclus.io import convert
from support.contracts import refused
from support.round_trips import same

H = hc.Hypergraph.from_edges(
    {"e": {"a": 2, "b": 1}, "f": ["b", "c"], "g": ["c", "d"]}, edge_weights=[1, 2, 3]
)


@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("hypernetx", "hypernetx"),
        ("xgi", "xgi"),
        ("hypergraphx", "hypergraphx"),
        ("networkx", "networkx"),
        ("sknetwork", "sknetwork"),
    ],
)
def test_objects_of_other_libraries(library, name):
    pytest.importorskip(library)
    other = getattr(convert, f"to_{name}")(H)
    same(hc.as_hypergraph(other), H)
    assert hc.cluster(other, 2).ncut == hc.cluster(H, 2).ncut


def test_an_ordinary_graph():
    networkx = pytest.importorskip("networkx")
    graph = networkx.barbell_graph(5, 0)
    assert sorted(hc.cluster(graph, 2).sizes.tolist()) == [5, 5]
    refused(lambda: hc.cluster(networkx.DiGraph(graph), 2), "undirected networkx.Graph")


def test_a_class_that_cannot_be_converted():
    xgi = pytest.importorskip("xgi")
    refused(lambda: hc.cluster(xgi.SimplicialComplex(), 2), "undirected xgi.Hypergraph", "SimplicialComplex")
