"""STAR++ and CLIQUE++ against their expanded graphs, built with loops; the star theorem."""

import numpy as np
import pytest
from hypothesis import given, settings

import hyperclus as hc
from hyperclus.research.baselines import clique, star
from hyperclus.research.baselines.expansions import CliqueLaplacian
from hyperclus.spectral.factors import TransitionFactors
from support import oracles
from support.contracts import check_map, check_symmetric
from support.paper_data import paper_hypergraph
from support.strategies import disconnected, hypergraphs

examples = settings(deadline=None, max_examples=100)
WEIGHTS = {"w": lambda omega, size: omega, "w/size": lambda omega, size: omega / size}


def star_graph(h, weight):
    """Adjacency of the star expansion: the vertices, then one vertex per hyperedge."""
    n = h.n_vertices
    adjacency = np.zeros((n + h.n_edges, n + h.n_edges))
    for e, inside in enumerate(oracles.members(h)):
        for v in inside:
            adjacency[v, n + e] = adjacency[n + e, v] = WEIGHTS[weight](h.edge_weights[e], len(inside))
    return adjacency


def clique_graph(h):
    """Adjacency of the clique expansion."""
    adjacency = np.zeros((h.n_vertices, h.n_vertices))
    for e, inside in enumerate(oracles.members(h)):
        for u in inside:
            for v in inside:
                if u != v:
                    adjacency[u, v] += h.edge_weights[e]
    return adjacency


def normalised(adjacency):
    root = np.sqrt(adjacency.sum(axis=1))
    return np.eye(len(root)) - adjacency / np.outer(root, root)


class TestStarTheorem:
    """The star expansion's spectrum is that of HyperClus-G with gamma = 1: docs/research/star.md."""

    @pytest.mark.parametrize("weight", WEIGHTS)
    @examples
    @given(h=hypergraphs())
    def test_eigenvalues(self, weight, h):
        """Each lambda of the walk gives the two star eigenvalues 1 -+ sqrt(1 - lambda)."""
        omega = WEIGHTS[weight](h.edge_weights, h.edge_sizes)
        walk = hc.RandomWalk(hc.unit_weights(h).with_edge_weights(omega))
        lambdas = np.linalg.eigvalsh(hc.NormalizedLaplacian(walk).dense())
        found = np.linalg.eigvalsh(normalised(star_graph(h, weight)))
        halves = np.sqrt(np.clip(1 - lambdas, 0, 1))
        smallest = np.sort(1 - halves)[: min(h.n_vertices, h.n_edges)]
        np.testing.assert_allclose(found[: len(smallest)], smallest, atol=2e-8)
        np.testing.assert_allclose(found[::-1][: len(smallest)], 2 - smallest, atol=2e-8)

    @pytest.mark.parametrize("weight", WEIGHTS)
    @examples
    @given(h=hypergraphs(min_n=3))
    def test_eigenvector(self, weight, h):
        """f = Pi^-1/2 z on the vertices and B f / (1 - lambda_star) on the hyperedges is the star's."""
        omega = WEIGHTS[weight](h.edge_weights, h.edge_sizes)
        walk = hc.RandomWalk(hc.unit_weights(h).with_edge_weights(omega))
        pairs = hc.smallest_eigenpairs(hc.NormalizedLaplacian(walk), 2)
        if pairs.values[1] > 1 - 1e-6:
            return  # lambda_star = 1: nothing comes back from the hyperedges
        shrink = np.sqrt(1 - pairs.values[1])
        f = pairs.vectors[:, 1] / np.sqrt(walk.stationary)
        whole = np.concatenate([f, walk.factors.edge_means(f) / shrink])
        adjacency = star_graph(h, weight)
        image = whole - (adjacency @ whole) / adjacency.sum(axis=1)
        np.testing.assert_allclose(image, (1 - shrink) * whole, atol=1e-7 * np.abs(whole).max())

    @examples
    @given(h=hypergraphs())
    def test_same_clusters_as_gamma_one(self, h):
        part = hc.hyperclus_g(hc.unit_weights(h))
        assert star(h).ncut == pytest.approx(hc.evaluate(h, part.labels).ncut, rel=1e-9)

    @examples
    @given(h=disconnected())
    def test_components_are_told_apart(self, h):
        assert star(h).ncut == pytest.approx(0, abs=1e-12)


class TestClique:
    @examples
    @given(h=hypergraphs())
    def test_operator_is_the_definition(self, h):
        single = h.edge_sizes < 2
        if single.all():
            return
        kept = hc.unit_weights(h.drop_edges(single))
        if np.bincount(kept.gamma.indices, minlength=h.n_vertices).min() == 0:
            return
        operator = CliqueLaplacian(TransitionFactors(kept))
        check_map(operator.apply, normalised(clique_graph(h)), tolerance=1e-10)
        check_symmetric(operator.apply, h.n_vertices, tolerance=1e-10)

    def test_second_eigenvector_decides(self):
        rng = np.random.default_rng(3)
        edges = [rng.choice(20, 5, replace=False) + 20 * (i % 2) for i in range(60)]
        edges += [[3, 25], [7, 31, 33]]
        h = hc.Hypergraph.from_edges([{int(v): float(rng.lognormal()) for v in e} for e in edges])
        adjacency = clique_graph(h)
        _, vectors = np.linalg.eigh(normalised(adjacency))
        second = vectors[:, 1] / np.sqrt(adjacency.sum(axis=1))
        assert clique(h).ncut == pytest.approx(hc.evaluate(h, second < 0).ncut, rel=1e-9)

    def test_single_members_link_nothing(self):
        h = hc.Hypergraph.from_edges([["a", "b"], ["c", "d"], ["b", "c"], ["a"], ["e"], ["e"]])
        part = clique(h)
        assert len(part.sizes) == 2
        with pytest.raises(hc.InputError, match="no cluster can be split further; use at most k=1"):
            clique(hc.Hypergraph.from_edges([["a"], ["b"]]))


@pytest.mark.parametrize("method", [star, clique])
class TestBoth:
    def test_k_way_finds_planted_blocks(self, method):
        rng = np.random.default_rng(0)
        edges = [rng.choice(25, 6, replace=False) + 25 * (i % 4) for i in range(240)]
        edges += [rng.choice(100, 4, replace=False) for _ in range(20)]
        h = hc.Hypergraph.from_edges([e.tolist() for e in edges])
        part = method(h, 4)
        agreement = hc.agreement(h.vertex_ids // 25, part.labels)
        assert agreement.nmi > 0.9

    def test_arguments(self, method):
        h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
        with pytest.raises(hc.InputError, match="4 clusters need at least 4 vertices"):
            method(h, 4)
        with pytest.raises(hc.InputError, match="strategy must be"):
            method(h, 2, strategy="worst")


PUBLISHED = {  # STAR++, CLIQUE++; None where the published figure cannot be reproduced
    "mushroom": (0.6484, None),
    "rice": (0.3479, 0.4041),
    "car": (0.8347, 0.8347),
    "digit-24": (0.6458, 0.6445),
    "covertype": (0.8912, 0.8887),
    "zoo": (5.1402, 5.1478),
    "wine-567": (1.5879, 1.6742),
    "letter": (2.1866, 2.2177),
    "digit": (8.4951, 8.4384),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_ncuts(name):
    h, reweigh, classes = paper_hypergraph(name)
    strategy = "largest" if name in ("digit", "wine-567") else "best"
    for method, published in zip((star, clique), PUBLISHED[name], strict=True):
        found = method(h, len(set(classes)), strategy=strategy, reweigh=reweigh).ncut
        if published is not None:
            assert found == pytest.approx(published, abs=1e-4)
