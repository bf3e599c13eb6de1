"""Vertex search: every maintained figure equals the definition, written with loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.clustering.objectives import INFORMATION, NCUT
from hyperclus.clustering.search_problem import EFFORTS
from hyperclus.clustering.vertex_search import Clusters, perturb
from support.oracles import information, min_ncut, ncut, stationary, transition
from support.strategies import alphas, disconnected, hypergraphs, random_hypergraph, with_partition

examples = settings(deadline=None, max_examples=40)

cases = with_partition(hypergraphs(min_n=4, max_n=9))


both = pytest.mark.parametrize("objective", [NCUT, INFORMATION], ids=lambda one: one.name)


class Defined:
    """The objectives by their definitions; `slack` allows for digits lost in clusters of tiny volume."""

    def __init__(self, h, alpha=0.0):
        self.p, self.phi = transition(h, alpha), stationary(h, alpha)
        self.slack = 1e-9 + 1e-14 / self.phi.min()

    def cost(self, objective, labels):
        parts = [set(np.flatnonzero(labels == cluster)) for cluster in range(max(labels) + 1)]
        return -information(self.p, self.phi, parts) if objective is INFORMATION else self.ncut(labels)

    def ncut(self, labels):
        parts = [set(np.flatnonzero(labels == cluster)) for cluster in range(max(labels) + 1)]
        return ncut(self.p, self.phi, parts)


def moved(labels, vertex, target):
    return np.where(np.arange(len(labels)) == vertex, target, labels)


def clusters_of(h, labels, alpha=0.0, objective=NCUT):
    return Clusters.of(hc.RandomWalk(h, alpha=alpha), labels, int(max(labels)) + 1, objective=objective)


@both
@examples
@given(case=cases, alpha=alphas)
def test_the_running_cost_is_the_cost_after_every_round(objective, case, alpha):
    h, labels = case
    defined = Defined(h, alpha)
    clusters = clusters_of(h, labels, alpha, objective)
    before = clusters.plain_cost
    assert before == pytest.approx(defined.cost(objective, labels), abs=1e-9)
    everywhere = np.arange(h.n_vertices)
    while clusters._improve(everywhere):
        assert clusters.plain_cost < before
        before = clusters.plain_cost
        assert before == pytest.approx(defined.cost(objective, clusters.state.labels), abs=defined.slack)
        assert np.bincount(clusters.state.labels).tolist() == clusters.state.sizes.tolist()


@both
@examples
@given(case=cases, alpha=alphas)
def test_the_gain_of_a_vertex_is_that_of_its_best_move(objective, case, alpha):
    h, labels = case
    k = int(max(labels)) + 1
    defined = Defined(h, alpha)
    found = np.empty(h.n_vertices)
    clusters = clusters_of(h, labels, alpha, objective)
    objective.kernels.gains(clusters.flow, clusters.state, np.arange(h.n_vertices), 0.0, found)
    for v in range(h.n_vertices):
        if k == 1 or np.count_nonzero(labels == labels[v]) == 1:
            assert found[v] < 0  # it cannot move
            continue
        costs = [defined.cost(objective, moved(labels, v, j)) for j in range(k) if j != labels[v]]
        assert found[v] == pytest.approx(defined.cost(objective, labels) - min(costs), abs=defined.slack)


@examples
@given(case=cases, alpha=alphas)
def test_the_cost_of_a_merger_is_that_of_the_merged_clusters(case, alpha):
    h, labels = case
    defined, k = Defined(h, alpha), int(max(labels)) + 1
    for objective in (NCUT, INFORMATION):
        clusters = clusters_of(h, labels, alpha, objective)
        costs = objective.merger_costs(clusters.state.volumes, clusters.state.flows, clusters.between)
        for i in range(k):
            for j in range(i + 1, k):
                together = np.unique(np.where(labels == j, i, labels), return_inverse=True)[1]
                rise = defined.cost(objective, together) - defined.cost(objective, labels)
                rise += objective is NCUT  # whose merged cluster counts as an empty one, with 1
                assert costs[i, j] == pytest.approx(rise, abs=defined.slack)
                assert costs[j, i] == pytest.approx(rise, abs=defined.slack)


@examples
@given(cases, alphas)
def test_refine_ends_where_no_single_move_helps(case, alpha):
    h, labels = case
    defined = Defined(h, alpha)
    part = hc.refine(
        h, labels, alpha=alpha, objective="ncut", min_share=0
    )  # or a move may be refused for its volume
    assert part.k == int(max(labels)) + 1
    assert part.sizes.min() >= 1
    assert part.ncut <= hc.evaluate(h, labels, alpha=alpha).ncut + 1e-12
    for v in range(h.n_vertices):
        if part.sizes[part.labels[v]] > 1:
            best = min(defined.ncut(moved(part.labels, v, j)) for j in range(part.k))
            assert best >= part.ncut - defined.slack


@both
@examples
@given(case=cases, seed=st.integers(0, 100))
def test_a_perturbation_keeps_what_is_lower_and_undoes_the_rest(objective, case, seed):
    h, labels = case
    defined = Defined(h)
    clusters = clusters_of(h, labels, objective=objective)
    before = clusters.plain_cost
    perturb(
        clusters,
        200_000,
        objective.bound(None, clusters.k) if objective is INFORMATION else 0.0,
        np.random.default_rng(seed),
    )
    assert clusters.plain_cost <= before + 1e-12
    exact = defined.cost(objective, clusters.state.labels)
    again = clusters_of(h, clusters.state.labels, objective=objective)
    assert again.plain_cost == pytest.approx(exact, abs=defined.slack)
    assert clusters.plain_cost == pytest.approx(
        exact, abs=100 * defined.slack
    )  # each of many moves loses digits
    assert clusters.state.sizes.min() >= 1


@examples
@given(cases)
def test_undo_takes_back_everything_since_keep(case):
    h, labels = case
    clusters = clusters_of(h, labels)
    before = {name: getattr(clusters.state, name).copy() for name in ("labels", "sizes", "volumes", "flows")}
    before["between"] = clusters.between
    clusters.descend()
    clusters.assign(np.arange(h.n_vertices), np.zeros(h.n_vertices, dtype=np.int64))
    clusters.undo()
    between = before.pop("between")
    np.testing.assert_allclose(clusters.between, between, atol=1e-9)
    for name, expected in before.items():
        np.testing.assert_allclose(getattr(clusters.state, name), expected, atol=1e-9)


@examples
@given(hypergraphs(min_n=3, max_n=8), st.integers(2, 3), alphas)
def test_the_search_lies_between_the_bound_and_the_paper_and_thorough_finds_the_optimum(h, k, alpha):
    optimum = min_ncut(transition(h, alpha), stationary(h, alpha), k)
    part = hc.cluster(h, k, alpha=alpha, objective="ncut", min_share=0.0, effort="thorough")
    assert part.lower_bound - 1e-12 <= optimum <= part.ncut + 1e-9
    assert part.ncut == pytest.approx(optimum, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("effort", ["fast", "default"])
def test_the_paper_is_never_better(seed, effort):
    h = random_hypergraph(40, 50, 5, seed)
    for k in (2, 3, 6):
        paper = hc.hyperclus_g(h, k)
        assert hc.cluster(h, k, objective="ncut", min_share=0.0, effort=effort).ncut <= paper.ncut + 1e-12


@examples
@given(disconnected(), st.integers(1, 4))
def test_components_are_separated(h, k):
    part = hc.cluster(h, min(k, h.n_vertices), objective="ncut")
    if part.k <= part.n_components:
        assert part.ncut == pytest.approx(0, abs=1e-12)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 5), st.sampled_from(["ncut", "information"]))
def test_permuting_the_vertices_permutes_the_result(seed, k, objective):
    h = random_hypergraph(60, 45, 6, seed)
    order = np.random.default_rng(seed).permutation(h.n_vertices)
    first, second = (hc.cluster(one, k, objective=objective) for one in (h, h.restrict(order)))
    assert second.ncut == pytest.approx(first.ncut, abs=1e-12)
    both = set(zip(first.labels[order].tolist(), second.labels.tolist(), strict=True))
    assert len(both) == k


@pytest.mark.parametrize("seed", range(6))
def test_a_thorough_search_is_never_worse_than_a_default_one(seed):
    h = random_hypergraph(150, 120, 5, seed)
    efforts = ("default", "thorough")
    default, thorough = (hc.cluster(h, 2, objective="ncut", effort=effort).ncut for effort in efforts)
    assert thorough <= default + 1e-12
    told = (hc.cluster(h, 3, objective="information", effort=effort).information for effort in efforts)
    default, thorough = told
    assert thorough >= default - 1e-12


def test_the_same_seed_gives_the_same_labels():
    h = random_hypergraph(300, 200, 6, 0)
    for effort in EFFORTS:
        first, again = (hc.cluster(h, 5, effort=effort, seed=7) for _ in range(2))
        np.testing.assert_array_equal(first.labels, again.labels)


def hypergraph_of_small_and_large_edges(seed):
    """Some hyperedges have fewer than half as many members as there will be clusters, others have more."""
    rng = np.random.default_rng(seed)
    sizes = [*rng.integers(2, 8, 120), *rng.integers(30, 80, 6)]
    members = [rng.choice(150, size, replace=False).tolist() for size in sizes]
    gamma = [
        dict(zip(some, np.exp(rng.standard_normal(len(some))).tolist(), strict=True)) for some in members
    ]
    covered = {vertex for some in members for vertex in some}
    rest = [{vertex: 1.0, 0: 2.0} for vertex in range(1, 150) if vertex not in covered]
    return hc.Hypergraph.from_edges([*gamma, *rest])


@pytest.mark.parametrize("objective", [NCUT, INFORMATION], ids=lambda one: one.name)
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("k", [2, 5, 24, 60])
class TestKernels:
    """Lists of few clusters and full rows of sums, and gains with and without logarithms."""

    def clusters(self, objective, alpha, k):
        h = hypergraph_of_small_and_large_edges(k)
        walk = hc.RandomWalk(h, alpha=alpha)
        labels = np.random.default_rng(k).permutation(np.arange(h.n_vertices) % k)
        return walk, Clusters.of(walk, labels, k, objective=objective)

    def cost(self, walk, labels, k, objective):
        """The cost by the definition, from P."""
        indicators = np.eye(k)[labels]
        return objective.cost_between(indicators.T @ (walk.stationary[:, None] * walk.dense()) @ indicators)

    def test_the_gain_of_the_best_move_is_that_of_the_definition(self, objective, alpha, k):
        walk, clusters = self.clusters(objective, alpha, k)
        labels, n = clusters.state.labels, walk.hypergraph.n_vertices
        found, targets = np.empty(n), np.empty(n, dtype=np.int64)
        objective.kernels.best_moves(clusters.flow, clusters.state, found, targets)
        before = self.cost(walk, labels, k, objective)
        assert clusters.plain_cost == pytest.approx(before, rel=1e-12)
        for vertex in range(0, n, 3):
            if targets[vertex] == labels[vertex]:
                continue
            after = labels.copy()
            after[vertex] = targets[vertex]
            gain = before - self.cost(walk, after, k, objective)
            assert found[vertex] == pytest.approx(gain, rel=1e-9, abs=1e-12)

    def test_sums_and_flows_follow_the_moves(self, objective, alpha, k):
        walk, clusters = self.clusters(objective, alpha, k)
        first = clusters.plain_cost
        clusters.descend()
        assert clusters.plain_cost <= first
        again = Clusters.of(walk, clusters.state.labels, k, objective=objective)
        np.testing.assert_allclose(clusters.state.flows, again.state.flows, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(clusters.between, again.between, rtol=1e-9, atol=1e-15)
        np.testing.assert_array_equal(clusters.state.used, again.state.used)
        assert clusters.plain_cost == pytest.approx(again.plain_cost, rel=1e-11)

    def test_forced_moves_are_undone(self, objective, alpha, k):
        _, clusters = self.clusters(objective, alpha, k)
        labels, flows = clusters.state.labels.copy(), clusters.state.flows.copy()
        clusters.force(None, np.random.default_rng(0))
        clusters.undo()
        np.testing.assert_array_equal(clusters.state.labels, labels)
        np.testing.assert_array_equal(clusters.state.flows, flows)


class TestMinShare:
    """A large ring of overlapping hyperedges with a small, well separated appendix."""

    RING = tuple([(10 * i + j) % 2000 for j in range(40)] for i in range(200))
    H = hc.Hypergraph.from_edges([*RING, [0, 3000], *([3000, 3001, 3002],) * 20])

    def test_no_cluster_is_left_below_it(self):
        assert hc.cluster(self.H, 3, objective="ncut").cut.volumes.min() < 0.02
        part = hc.cluster(self.H, 3, objective="ncut", min_share=0.2)
        assert part.cut.volumes.min() >= 0.2
        assert "min_share" not in repr(part)

    def test_two_clusters_of_a_connected_hypergraph_hold_one_percent_each(self):
        assert hc.cluster(self.H, objective="ncut").cut.volumes.min() >= 0.01
        sliver = hc.cluster(self.H, objective="ncut", min_share=0.0)
        assert sliver.members(1).tolist() == [3000, 3001, 3002]
        assert "1 cluster holds less than 2.50 % of the volume" in repr(sliver)

    @pytest.mark.parametrize("seed", range(5))
    def test_it_is_met_if_possible(self, seed):
        rng = np.random.default_rng(seed)
        matrix = (rng.random((100, 100)) < 0.06) | np.eye(100, dtype=bool)
        h = hc.Hypergraph.from_incidence(matrix.astype(float))
        for k in (3, 6):
            assert hc.cluster(h, k, min_share=0.8 / k).cut.volumes.min() >= 0.8 / k * (1 - 1e-9)

    def test_the_text_says_if_it_cannot_be_met(self):
        h = hc.Hypergraph.from_edges([{"a": 100, "b": 1, "c": 1}, {"a": 100, "d": 1, "c": 1}])
        part = hc.cluster(h, 2, min_share=0.3)
        assert "1 cluster holds less than the minimum of 0.3 (min_share); no partition" in repr(part)

    def test_refine_keeps_a_fair_start_fair_and_an_unfair_one_low(self):
        assert hc.refine(self.H, hc.cluster(self.H)).cut.volumes.min() >= 0.01
        sliver = hc.cluster(self.H, objective="ncut", min_share=0.0)
        assert hc.refine(self.H, sliver).ncut <= sliver.ncut

    def test_refine_does_not_empty_a_cluster_of_one(self):
        h = random_hypergraph(20, 15, 4, 0)
        labels = np.arange(20) % 2
        labels[7] = 2
        assert hc.refine(h, labels).sizes.min() >= 1


def test_beyond_the_second_eigenvector():
    """On a sparse planted hypergraph the second eigenvector is localised on a few vertices."""
    rng = np.random.default_rng(0)
    n, n_edges, noise = 16_000, 4_000, 0.3
    sizes = rng.integers(10, 21, n_edges)
    edge = np.repeat(np.arange(n_edges), sizes)
    stray = rng.random(len(edge)) < noise
    home = rng.integers(0, 2, n_edges)[edge]
    vertex = np.where(
        stray, rng.integers(0, n, len(edge)), home * n // 2 + rng.integers(0, n // 2, len(edge))
    )
    table = {"vertex": vertex, "edge": edge, "weight": rng.lognormal(size=len(edge))}
    h = hc.Hypergraph.from_long(table, vertex="vertex", edge="edge", weight="weight", duplicates="sum")
    truth = np.asarray(h.vertex_ids) >= n // 2
    paper, ours = hc.hyperclus_g(h), hc.cluster(h)
    assert hc.agreement(truth, paper.labels).nmi < 0.35
    assert hc.agreement(truth, ours.labels).nmi > 0.45
    assert ours.ncut < paper.ncut
