"""A scikit-network Dataset holds everything, and scikit-network accepts the matrix."""

import numpy as np
import pytest
from hypothesis import given

from hyperclus import Hypergraph
from hyperclus.io.convert import from_sknetwork, to_sknetwork
from support.contracts import refused
from support.round_trips import hypergraphs, rounds, run_examples, same

sknetwork = pytest.importorskip(
    "sknetwork", reason="scikit-network is not installed; see docs/how_to/other_libraries.md"
)


@given(hypergraphs())
@rounds
def test_round_trip(h):
    same(from_sknetwork(to_sknetwork(h)), h)


def test_bipartite_graphs_of_scikit_network():
    data = sknetwork.data.from_edge_list([("a", "e", 2), ("b", "e", 1), ("b", "f", 3)], bipartite=True)
    h = from_sknetwork(data)
    same(h, Hypergraph.from_edges({"e": {"a": 2, "b": 1}, "f": {"b": 3}}))


def test_scikit_network_accepts_a_copy_of_the_matrix():
    h = Hypergraph.from_edges([[0, 1, 2], [0, 1], [3, 4], [3, 4, 5], [2, 3]])
    data = to_sknetwork(h)
    labels = sknetwork.clustering.Louvain().fit_predict(data.biadjacency)
    assert labels[0] == labels[1] != labels[4] == labels[5]
    data.biadjacency.data[:] = 7
    data.names_row[:] = 7
    assert (h.gamma.data == 1).all()
    assert np.array_equal(h.vertex_ids, range(6))


def test_refusals():
    refused(
        lambda: from_sknetwork(sknetwork.data.house(metadata=True)),
        "expected a scikit-network Dataset with a biadjacency matrix",
    )
    refused(lambda: from_sknetwork(np.eye(2)), "Hypergraph.from_incidence")
    data = to_sknetwork(Hypergraph.from_edges([["a", "b"]]))
    data.names_row = ["a", "a"]
    refused(lambda: from_sknetwork(data), "vertex id 'a' appears more than once")


def test_examples():
    run_examples("sknetwork")
