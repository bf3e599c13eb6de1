"""What the eigenvalues prove, against every cut and every partition of hypergraphs small enough to list."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus import NormalizedLaplacian, RandomWalk
from hyperclus.spectral.bounds import cheeger_interval, ncut_lower_bound, relative_gap
from hyperclus.spectral.eigen.result import lower_bounds
from support import oracles
from support.strategies import alphas, disconnected, graphs, hypergraphs, random_hypergraph, with_partition

examples = settings(deadline=None, max_examples=60)
few = settings(deadline=None, max_examples=30)
small = hypergraphs(max_n=10)
ROUNDING = 1e-9


def solved(h, k, alpha=0.0):
    walk = RandomWalk(h, alpha=alpha)
    return walk, hc.smallest_eigenpairs(NormalizedLaplacian(walk), k)


@examples
@given(st.one_of(small, graphs()), alphas)
def test_cheeger_inequality(h, alpha):
    """Theorem 3: lambda_2 / 2 <= Phi(H) <= sqrt(2 lambda_2)."""
    _, pairs = solved(h, 2, alpha)
    best = oracles.min_conductance(oracles.transition(h, alpha), oracles.stationary(h, alpha))
    assert pairs.values[1] / 2 <= best + ROUNDING
    assert best <= np.sqrt(2 * pairs.values[1]) + ROUNDING
    low, high = cheeger_interval(pairs)
    assert low - ROUNDING <= best <= high + ROUNDING
    assert 0 <= low <= high <= 1


@examples
@given(st.one_of(hypergraphs(), graphs()), alphas)
def test_the_best_sweep_cut_is_within_the_cheeger_bound(h, alpha):
    """The constructive half: some prefix of z / sqrt(phi) has conductance <= sqrt(2 lambda_2)."""
    walk, pairs = solved(h, 2, alpha)
    p, phi = oracles.transition(h, alpha), oracles.stationary(h, alpha)
    scores = pairs.vectors[:, 1] / np.sqrt(walk.stationary)
    order = sorted(range(h.n_vertices), key=lambda v: (scores[v], v))
    bound = np.sqrt(2 * pairs.values[1]) + ROUNDING
    assert min(oracles.conductance(p, phi, inside) for inside in oracles.prefixes(order)) <= bound
    assert hc.sweep(walk, scores).conductances.min() <= bound


@examples
@given(small, alphas)
def test_no_cut_beats_the_second_eigenvalue(h, alpha):
    _, pairs = solved(h, 2, alpha)
    best = oracles.min_ncut(oracles.transition(h, alpha), oracles.stationary(h, alpha))
    assert ncut_lower_bound(pairs, 2) <= best + ROUNDING
    assert pairs.values[1] <= best + ROUNDING


@few
@given(hypergraphs(min_n=4, max_n=10), st.sampled_from([3, 4]), alphas)
def test_no_partition_beats_the_sum_of_the_eigenvalues(h, k, alpha):
    _, pairs = solved(h, k, alpha)
    best = oracles.min_ncut(oracles.transition(h, alpha), oracles.stationary(h, alpha), k)
    assert ncut_lower_bound(pairs, k) <= best + ROUNDING
    assert pairs.values.sum() <= best + ROUNDING


@few
@given(hypergraphs(min_n=4, max_n=9), st.sampled_from([2, 3]), st.sampled_from(["sign", "sweep"]))
def test_the_optimum_lies_within_the_gap(h, k, rounding):
    part = hc.hyperclus_g(h, k=k, rounding=rounding)
    best = oracles.min_ncut(oracles.transition(h), oracles.stationary(h), k)
    assert part.k == k
    assert part.lower_bound - ROUNDING <= best <= part.ncut + ROUNDING
    assert part.ncut <= best * (1 + part.gap) + ROUNDING or np.isinf(part.gap)


@examples
@given(with_partition(st.one_of(hypergraphs(), disconnected())))
def test_any_partition_is_scored_above_its_bound(case):
    h, labels = case
    k = labels.max() + 1
    part = hc.evaluate(h, labels)
    parts = [set(np.flatnonzero(labels == i).tolist()) for i in range(k)]
    expected = oracles.ncut(oracles.transition(h), oracles.stationary(h), parts)
    assert part.k == k
    assert part.ncut == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert 0 <= part.lower_bound <= part.ncut
    assert part.lower_bound <= ncut_lower_bound(part.eigenpairs, k)
    assert part.gap >= 0


@examples
@given(disconnected())
def test_a_disconnected_hypergraph_has_bound_zero(h):
    _, pairs = solved(h, 2)
    assert ncut_lower_bound(pairs, 2) <= 1e-14
    low, high = cheeger_interval(pairs)
    assert (low, high) == pytest.approx((0, 0), abs=1e-6)


def test_bounds_for_larger_hypergraphs_hold_for_many_partitions():
    h = random_hypergraph(80, 50, 6, seed=0)
    walk, pairs = solved(h, 5)
    rng = np.random.default_rng(0)
    low, _ = cheeger_interval(pairs)
    for k in range(2, 6):
        for _ in range(30):
            labels = np.concatenate([np.arange(k), rng.integers(k, size=80 - k)])
            found = hc.cut(walk, rng.permutation(labels), k)
            assert found.ncut >= ncut_lower_bound(pairs, k)
            assert found.conductances.min() >= low


def test_residuals_are_subtracted():
    values, residuals = np.array([0.0, 0.2, 0.5]), np.array([1e-3, 0.05, 0.1])
    np.testing.assert_allclose(lower_bounds(values, residuals, np.inf), [0.0, 0.15, 0.4], atol=1e-12)
    norm = 2 / np.sqrt(3) * np.linalg.norm(residuals)
    np.testing.assert_allclose(lower_bounds(values, residuals, 0.9), [0.0, 0.2 - norm, 0.5 - norm])
    np.testing.assert_allclose(lower_bounds(values, residuals * 0, 0.1), [0.0, 0.1, 0.1], atol=1e-12)
    assert not lower_bounds(values, residuals, -np.inf).any()


@pytest.mark.parametrize(
    ("ncut", "bound", "gap"),
    [(0.3, 0.2, 0.5), (0.2, 0.2, 0.0), (0.1, 0.2, 0.0), (0.0, 0.0, 0.0), (0.1, 0.0, np.inf)],
)
def test_relative_gap(ncut, bound, gap):
    assert relative_gap(ncut, bound) == pytest.approx(gap)
