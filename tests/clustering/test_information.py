"""The information of the walk as an objective: bounded, never lowered, and without slivers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus import RandomWalk
from hyperclus.clustering.exhaustive import _partitions
from hyperclus.clustering.objectives import INFORMATION, NCUT, Objective, information_of
from hyperclus.clustering.objectives.information import _with_logs
from hyperclus.errors import InputError
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.information_bound import information_upper_bound
from support.engine_contracts import planted
from support.oracles import information, stationary, transition
from support.strategies import alphas, hypergraphs, with_partition

examples = settings(deadline=None, max_examples=30)


def defined(h, labels, alpha):
    parts = [set(np.flatnonzero(labels == cluster)) for cluster in range(max(labels) + 1)]
    return information(transition(h, alpha), stationary(h, alpha), parts)


@examples
@given(with_partition(hypergraphs(min_n=4, max_n=9)), alphas)
def test_it_is_that_of_the_definition(case, alpha):
    h, labels = case
    part = hc.evaluate(h, labels, alpha=alpha)
    assert part.information == pytest.approx(defined(h, labels, alpha), abs=1e-9)
    assert part.information <= part.information_bound + 1e-9


@examples
@given(hypergraphs(min_n=3, max_n=7), alphas, st.integers(2, 4))
def test_no_partition_exceeds_the_bound_and_the_search_finds_the_best(h, alpha, k):
    walk = RandomWalk(h, alpha=alpha)
    k = min(k, h.n_vertices)
    best = max(information_of(walk, labels, k) for labels in _partitions(h.n_vertices, k))
    pairs = hc.smallest_eigenpairs(hc.NormalizedLaplacian(walk), k)
    bound = information_upper_bound(walk, pairs, k, lowest_ncut=ncut_lower_bound(pairs, k))
    assert best <= bound + 1e-9 <= np.log(k) + 2e-9
    part = hc.cluster(h, k, objective="information", effort="thorough", alpha=alpha)
    assert part.information_bound == pytest.approx(bound, abs=1e-12)
    assert part.information == pytest.approx(best, abs=1e-7)


@examples
@given(with_partition(hypergraphs(min_n=4, max_n=9)), alphas)
def test_refine_never_lowers_it(case, alpha):
    h, labels = case
    before = hc.evaluate(h, labels, alpha=alpha)
    after = hc.refine(h, labels, objective="information", alpha=alpha)
    assert after.information >= before.information - 1e-12
    assert after.sizes.min() >= 1


def test_it_prefers_blocks_to_slivers():
    blocks = planted(300, 1500, 3, noise=0.3, seed=2)
    slivers = [[f"s{i}", f"t{i}"] for i in range(2)] + [["s0", 0], ["s1", 150]]
    edges = [
        blocks.vertex_ids[members].tolist()
        for members in np.split(blocks.gamma.indices, blocks.gamma.indptr[1:-1])
    ]
    h = hc.Hypergraph.from_edges([*edges, *slivers])
    lowest, told = (hc.cluster(h, 3, objective=objective) for objective in ("ncut", "information"))
    assert lowest.sizes.min() <= 2
    assert told.sizes.min() > 50
    assert told.information > lowest.information
    assert lowest.ncut < told.ncut


def test_an_objective_that_is_none_is_refused():
    h = planted(60, 200, 2)
    with pytest.raises(InputError, match="objective must be"):
        hc.cluster(h, 2, objective="modularity")
    assert "information" in str(hc.cluster(h, 2, objective="information"))


@examples
@given(st.integers(3, 8), st.integers(0, 10_000), st.sampled_from([NCUT, INFORMATION]))
def test_costs_after_a_merger_are_those_of_the_merged_clusters(count, seed, objective):
    rng = np.random.default_rng(seed)
    between = rng.random((count, count)) * (rng.random((count, count)) < 0.7) + np.eye(count)
    between = (
        between + between.T + 0.1 * np.roll(np.eye(count), 1, axis=1)
    )  # rows and columns have equal sums
    between /= between.sum()
    costs = objective.merger_costs(between.sum(axis=1), np.diag(between), between)
    one, other = rng.choice(count, 2, replace=False)
    updated, after = objective.after_merger(costs, between, one, other)
    assert after.sum() == pytest.approx(1.0)
    lost = _cost(objective, after) - _cost(objective, between) + (objective is NCUT)  # one cluster fewer
    assert lost == pytest.approx(costs[one, other], abs=1e-12)
    again = objective.merger_costs(after.sum(axis=1), np.diag(after), after)
    off = ~np.eye(count - 1, dtype=bool)
    np.testing.assert_allclose(updated[off], again[off], atol=1e-12)
    assert set(objective.merged_to(2, between)) == {0, 1}


def _cost(objective, between):
    flows = np.diag(between) if objective is NCUT else _with_logs(between)
    return objective.cost(between.sum(axis=1), flows)


@pytest.mark.parametrize("seed", range(20))
def test_compiled_mergers_are_those_of_least_cost_one_by_one(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 25))
    flows = rng.random((count, count)) * (rng.random((count, count)) < rng.choice([0.2, 1.0]))
    flows += np.diag(rng.random(count) + 0.1)
    flows /= flows.sum()
    for k in (1, count // 2, count - 1):
        expected = Objective.merged_to(INFORMATION, k, flows)
        np.testing.assert_array_equal(INFORMATION.merged_to(k, flows), expected)
