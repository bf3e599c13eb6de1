"""Small components are kept together; everything else is searched as if they were not there."""

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.clustering.objectives import INFORMATION, flows_between, information_of
from hyperclus.clustering.small_components import add_small_components, small_components
from support.engine_contracts import planted


def with_pairs(count, k=3):
    """Blocks of 60 vertices, and pairs of vertices that are joined to nothing else."""
    h = planted(60 * k, 100 * k, k, seed=k)
    edges = {
        name: dict(zip(h.vertex_ids[row].tolist(), weights.tolist(), strict=True))
        for name, row, weights in rows(h)
    }
    return hc.Hypergraph.from_edges({**edges, **{f"pair {i}": [f"a{i}", f"b{i}"] for i in range(count)}})


def rows(h):
    for name, first, last in zip(h.edge_ids.tolist(), h.gamma.indptr[:-1], h.gamma.indptr[1:], strict=True):
        yield f"edge {name}", h.gamma.indices[first:last], h.gamma.data[first:last]


def small_vertices(h):
    return np.array([isinstance(vertex, str) for vertex in h.vertex_ids.tolist()])


@pytest.mark.parametrize("engine_alpha", [0.0, 1.0])
def test_pairs_share_a_cluster_and_change_no_other(engine_alpha):
    h = with_pairs(12)
    small = small_vertices(h)
    part = hc.cluster(h, 3, alpha=engine_alpha, chance=False)
    assert len(set(part.labels[small].tolist())) == 1
    alone = hc.cluster(h.restrict(~small), 3, alpha=engine_alpha, chance=False)
    assert hc.agreement(alone.labels, part.labels[~small]).nmi == pytest.approx(1)
    assert "small ones, with 24 vertices, are all in cluster" in str(part)


def test_they_join_the_cluster_that_loses_least():
    h = with_pairs(12)
    small = small_vertices(h)
    walk = hc.RandomWalk(h.restrict(~small))
    labels = np.arange(walk.hypergraph.n_vertices) // 60
    whole = hc.RandomWalk(h)
    volume = float(whole.stationary[~small].sum())
    found = add_small_components(walk, labels, 3, INFORMATION, small, volume)
    np.testing.assert_array_equal(found[~small], labels)

    def information(cluster):
        return information_of(whole, np.where(small, cluster, found), 3)

    assert information_of(whole, found, 3) == pytest.approx(max(map(information, range(3))))
    assert flows_between(whole, found, 3).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("h", "k"),
    [
        (planted(60, 90, 2), 2),  # connected
        (hc.Hypergraph.from_edges([[3 * i, 3 * i + 1] for i in range(50)]), 2),  # nothing but small ones
        (hc.Hypergraph.from_edges([[v, v + 1] for v in range(80)] + [["a", "b"]]), 2),  # two components
        (hc.Hypergraph.from_edges([[v, v + 1] for v in range(80)] + [["a", "b"], ["c", "d"]]), 1),
    ],
)
def test_there_may_be_none(h, k):
    assert small_components(hc.RandomWalk(h), k) is None


def test_the_lowest_ncut_takes_components_as_they_are():
    part = hc.cluster(with_pairs(12), 3, objective="ncut", chance=False)
    assert part.ncut == pytest.approx(0, abs=1e-12)


def test_given_labels_are_refined_as_they_are():
    h = with_pairs(4)
    labels = np.arange(h.n_vertices) % 3
    part = hc.refine(h, labels, chance=False)
    assert part.information >= hc.evaluate(h, labels, chance=False).information
