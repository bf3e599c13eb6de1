"""`consensus`: equal partitions, majorities, numbers of clusters, and hostile input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.clustering.consensus import _combined
from support.contracts import refused
from support.strategies import hypergraphs, random_hypergraph, with_partition

H = hc.Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])


@settings(deadline=None, max_examples=30)
@given(with_partition(hypergraphs()), st.integers(1, 4))
def test_equal_partitions_are_their_own_consensus(case, copies):
    h, labels = case
    part = hc.evaluate(h, labels, chance=False)
    found = hc.consensus(h, [part] * copies, chance=False)
    assert np.array_equal(found.labels, part.labels)
    assert (found.ncut, found.lower_bound) == pytest.approx((part.ncut, part.lower_bound))
    renamed = [dict(zip(h.vertex_ids.tolist(), (7 - labels).tolist(), strict=True)), labels]
    assert hc.compare(hc.consensus(h, renamed, chance=False), part).unchanged == 1


def test_the_majority_decides():
    given = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], ["x", "x", "x", "y", "y", "y"]]
    found = hc.consensus(H, given)
    assert found.members(0).tolist() == ["a", "b", "c"]
    assert found.settings["method"] == "consensus"
    assert found.settings["n_partitions"] == 3
    assert found.names is None


def test_noisy_copies_of_planted_clusters_give_the_clusters():
    rng, truth = np.random.default_rng(0), np.arange(200) % 4
    h = random_hypergraph(200, 300, 4, seed=0)
    noisy = [
        np.where(rng.random(200) < 0.3, rng.integers(0, 4, 200), (truth + copy) % 4) for copy in range(15)
    ]
    found = hc.consensus(h, noisy, chance=False)
    single = np.mean([hc.agreement(truth, one).nmi for one in noisy])
    assert found.agreement(truth).nmi > 0.95 > single


def test_vertices_in_the_same_clusters_are_one_vertex():
    rows = np.array([[0, 0], [0, 1], [0, 0], [1, 1], [1, 1], [0, 1]])
    labels = _combined(rows, 2, 0)
    assert labels[0] == labels[2]
    assert labels[1] == labels[5]
    assert labels[3] == labels[4]


def test_different_numbers_of_clusters_need_k():
    given = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 2]]
    refused(lambda: hc.consensus(H, given), "2 to 3 clusters", "; choose a number with k")
    assert hc.consensus(H, given, 2).k == 2
    assert hc.consensus(H, given, 3).labels.tolist() == hc.evaluate(H, given[1]).labels.tolist()


def test_other_hypergraphs_with_the_same_vertices_are_matched_by_id():
    other = hc.Hypergraph.from_edges([["f", "e", "d"], ["c", "b", "a"], ["z", "a"]])
    part = hc.cluster(other, 2, objective="ncut")
    assert hc.consensus(H, [part]).members(0).tolist() == ["a", "b", "c"]


def test_isolated_vertices_stay_without_a_cluster():
    h = hc.Hypergraph.from_edges([["a", "b"], ["c", "d"]], vertex_ids=list("abcde"))
    parts = [hc.cluster(h, 2, seed=seed, objective="ncut") for seed in range(3)]
    assert hc.consensus(h, parts).labels.tolist() == [0, 0, 1, 1, -1]


def test_settings_are_those_of_evaluate():
    found = hc.consensus(H, [[0, 0, 0, 1, 1, 1]], alpha=1.0, chance=False)
    assert found.ncut == pytest.approx(hc.evaluate(H, [0, 0, 0, 1, 1, 1], alpha=1.0).ncut)
    with pytest.raises(TypeError, match="unexpected keyword argument 'effort'"):
        hc.consensus(H, [[0, 0, 0, 1, 1, 1]], effort="fast")


@pytest.mark.parametrize(
    ("given", "k", "words"),
    [
        ([], None, "no partitions are given"),
        (5, None, "partitions must be a list"),
        (hc.cluster(H, objective="ncut"), None, "put the partitions into a list"),
        ([[0, 1]], None, "6 vertices need a label in partition 1 each"),
        ([[0] * 6, {"a": 0}], None, "vertex 'b' has no label in partition 2"),
        ([hc.cluster(hc.Hypergraph.from_edges([["a", "x"], ["y", "b"]]))], None, "partition 1: vertex 'c'"),
        ([[0, 0, 0, 1, 1, 1]], 3, "tell only 2 groups of vertices apart"),
        ([[0, 0, 0, 1, 1, 1]], 7, "7 clusters need at least 7 vertices"),
        ([[0, 0, 0, 1, 1, 1]], "x", "k must be a whole number"),
    ],
)
def test_hostile_input(given, k, words):
    refused(lambda: hc.consensus(H, given, k), words)
