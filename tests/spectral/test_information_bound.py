"""No partition exceeds the bound on the information, nor does any matrix of flows with its eigenvalues."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus import RandomWalk
from hyperclus.clustering.exhaustive import _partitions
from hyperclus.clustering.objectives import information_of
from hyperclus.spectral import information_bound
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.information_bound import (
    SkewPart,
    SymmetricPart,
    _below_zero,
    _largest_squares,
    _largest_term,
    information_upper_bound,
    spectral_bound,
    two_clusters_bound,
)
from support.engine_contracts import planted
from support.strategies import alphas, build, connected_members, hypergraphs

examples = settings(deadline=None, max_examples=60)
seeds = st.integers(0, 10**6)


@st.composite
def wild(draw):
    """Connected, with weights over 16 orders of magnitude."""
    edges = draw(connected_members(4, 7, 5))
    exponents = st.integers(-8, 8).map(lambda exponent: 10.0**exponent)
    n = max(set().union(*edges)) + 1
    gamma = [{v: draw(exponents) for v in sorted(edge)} for edge in edges]
    return build(gamma, [draw(exponents) for _ in edges], n)


@examples
@given(st.one_of(hypergraphs(min_n=4, max_n=7), wild()), alphas, st.sampled_from([0, 300]))
def test_no_partition_exceeds_it(h, alpha, dense_up_to):
    walk = RandomWalk(h, alpha=alpha)
    for k in range(2, min(h.n_vertices, 5) + 1):
        pairs = hc.smallest_eigenpairs(hc.NormalizedLaplacian(walk), k)
        best = max(information_of(walk, labels, k) for labels in _partitions(h.n_vertices, k))
        lowest = ncut_lower_bound(pairs, k)
        with mock.patch.object(information_bound, "DENSE_UP_TO", dense_up_to):
            bound = information_upper_bound(walk, pairs, k, lowest_ncut=lowest)
            assert bound <= information_upper_bound(walk, pairs, k) + 1e-14
        assert best <= bound + 1e-10
        assert bound <= np.log(k)


def informed(flow):
    """The information, and F_ij / sqrt(v_i v_j)."""
    volumes = flow.sum(axis=1)
    ratios = flow / np.outer(volumes, volumes)
    terms = flow * np.log(np.where(flow > 0, ratios, 1.0))
    return terms.sum(), flow / np.sqrt(np.outer(volumes, volumes))


def reversible_flow(k, seed):
    """Symmetric, positive semidefinite, sum 1; sparse or dense, near the identity or not."""
    rng = np.random.default_rng(seed)
    shares = rng.random((k, int(rng.integers(1, 3 * k)))) ** rng.choice([1, 4, 20])
    shares *= rng.random(shares.shape) < rng.choice([0.3, 1.0])
    own = rng.choice([0.01, 0.3, 3.0]) * np.diag(rng.random(k) + 0.01)
    joint = np.hstack([shares, own])
    joint = joint[:, joint.sum(axis=0) > 0]
    flow = (joint * rng.random(joint.shape[1]) / joint.sum(axis=0)) @ joint.T
    return flow / flow.sum()


def coupling(k, seed):
    """Any flow whose rows and columns have the same sums: cycles of random length, and some that stay."""
    rng = np.random.default_rng(seed)
    flow = np.diag(rng.random(k) * rng.choice([0.0, 0.1, 1.0])) + 1e-3 * np.eye(k)
    for _ in range(int(rng.integers(1, 3 * k))):
        cycle = rng.permutation(k)[: int(rng.integers(2, k + 1))]
        flow[cycle, np.roll(cycle, 1)] += rng.random()
    return flow / flow.sum()


@settings(deadline=None, max_examples=400)
@given(st.integers(2, 9), seeds)
def test_no_positive_semidefinite_flow_with_such_eigenvalues_exceeds_it(k, seed):
    information, scaled = informed(reversible_flow(k, seed))
    most = np.clip(np.linalg.eigvalsh(scaled)[::-1][1:], 0.0, 1.0)
    bound = spectral_bound(most)
    assert information <= spectral_bound(most, np.trace(scaled) - 1 + 1e-12) + 1e-12 <= bound + 2e-12
    assert bound <= np.log1p(np.square(most).sum()) + 1e-12
    if k == 2:
        assert information <= two_clusters_bound(most[0], 0.0) + 1e-12


@settings(deadline=None, max_examples=400)
@given(st.integers(2, 9), seeds, st.floats(0.0, 0.2))
def test_no_flow_with_such_eigenvalues_exceeds_it(k, seed, slack):
    information, scaled = informed(coupling(k, seed))
    values = np.linalg.eigvalsh((scaled + scaled.T) / 2 - 2 * known(scaled))[::-1][: k - 1]
    most, least = np.clip(values + slack, 0.0, 1.0), max(-values[-1] + slack, 0.0)
    skew, trace = np.square((scaled - scaled.T) / 2).sum(), np.trace(scaled) - 1
    assert information <= spectral_bound(most, trace + 1e-12, least, skew) + 1e-12
    assert information <= spectral_bound(most, np.inf, least, skew) + 1e-12


def known(scaled):
    """The projector on the common eigenvector sqrt(v) of the eigenvalue 1."""
    _, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
    return np.outer(vectors[:, -1], vectors[:, -1])


@examples
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6), st.floats(0.0, 0.5), seeds)
def test_no_values_have_larger_squares(most, least, seed):
    """For random values between -least and most, and the same sum."""
    most, rng = np.sort(most)[::-1], np.random.default_rng(seed)
    for _ in range(20):
        drawn = rng.choice([0.0, 1.0, rng.random()], len(most))
        values = drawn * most - (1 - drawn) * least
        if values.sum() > -1:
            t, squares = _largest_squares(most, values.sum(), least)
            assert t[-1] == pytest.approx(values.sum(), abs=1e-12)
            assert np.square(values).sum() <= squares[-1] + 1e-9


@pytest.mark.parametrize("rho", [-1.0, -0.6, -0.01, 0.0, 1e-9, 0.2, 0.9, 1.0])
def test_two_clusters_have_at_most_theirs_and_some_reach_it(rho):
    """Over all volumes for which no flow is negative."""
    first = np.unique(np.append(np.linspace(0.001, 0.999, 999), max(-rho, 1e-9) / (1 + max(-rho, 1e-9))))
    rest = 1 - first
    flows = np.stack(
        [first**2 + rho * first * rest, (1 - rho) * first * rest, rest**2 + rho * first * rest], axis=1
    )
    flows = np.where(np.abs(flows) < 1e-15, 0.0, flows)
    keep = (flows >= 0).all(axis=1)
    found = [
        informed(np.array([[own, across], [across, other]]))[0] for own, across, other in flows[keep].tolist()
    ]
    bound = two_clusters_bound(max(rho, 0.0), max(-rho, 0.0))
    assert max(found) <= bound + 1e-14
    assert max(found) == pytest.approx(bound, rel=1e-5, abs=1e-14)


@examples
@given(st.floats(-0.5, 1.0), st.floats(1e-6, 5.0), st.floats(0.0, 0.9), st.floats(1e-3, 0.1))
def test_the_largest_term_is_that_of_all_shares(slope, b, low, width):
    p = np.linspace(max(low, 1e-9), low + width, 20_001)
    largest = (slope * p + p**2 * np.expm1(-b / p)).max()
    found = _largest_term(*(np.array([value]) for value in (slope, b, low, low + width)))[0]
    assert largest - 1e-14 <= found <= largest + 1e-8


@pytest.mark.parametrize("spread", [1.0, 1e-4])
@pytest.mark.parametrize("kind", [SymmetricPart, SkewPart])
def test_the_operators_and_their_smallest_eigenvalues_are_those_of_the_definition(monkeypatch, kind, spread):
    h = planted(250, 900, 4, seed=1)
    flat = h.with_gamma(h.gamma.data**spread)
    walk = RandomWalk(flat)
    assert not walk.reversible
    root = np.sqrt(walk.stationary)
    step, projector = root[:, None] * walk.dense() / root, np.outer(root, root)
    half = (step - step.T) / 2
    defined = (step + step.T) / 2 - projector if kind is SymmetricPart else -half.T @ half
    operator = kind(walk)
    block = np.random.default_rng(0).standard_normal((250, 3))
    np.testing.assert_allclose(operator.apply(block), defined @ block, atol=1e-12)
    np.testing.assert_allclose(operator.apply(block[:, 0]), defined @ block[:, 0], atol=1e-12)
    exact = -np.linalg.eigvalsh(defined)[0]
    assert _below_zero(operator, 200, 0) == pytest.approx(exact, abs=1e-11)
    monkeypatch.setattr(information_bound, "DENSE_UP_TO", 0)
    for products in (5, 50, 249):
        assert _below_zero(operator, products, 0) >= exact - 1e-12
    assert _below_zero(operator, 249, 0) <= 1.1 * exact + 1e-12


@pytest.mark.parametrize("k", [2, 4])
def test_lanczos_gives_nearly_the_bound_of_all_eigenvalues(monkeypatch, k):
    walk = RandomWalk(planted(250, 900, 4, seed=1))
    assert not walk.reversible
    pairs = hc.smallest_eigenpairs(hc.NormalizedLaplacian(walk), k)
    exact = information_upper_bound(walk, pairs, k)
    monkeypatch.setattr(information_bound, "DENSE_UP_TO", 0)
    bounds = [information_upper_bound(walk, pairs, k, products=products) for products in (10, 249)]
    assert exact - 1e-9 <= bounds[1] <= bounds[0]
    assert bounds[1] <= exact + 1e-3


@pytest.mark.parametrize("k", [2, 3, 6, 12])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
def test_it_is_close_for_equal_blocks(k, share):
    """A walker stays in its block with probability `share`, or else goes to any of the k."""
    exact = informed((share * np.eye(k) + (1 - share) / k) / k)[0]
    most = np.full(k - 1, share)
    bound = two_clusters_bound(share, 0.0) if k == 2 else spectral_bound(most)
    assert exact <= bound + 1e-12
    assert bound - exact <= 0.7 * (np.log1p(np.square(most).sum()) - exact) + 1e-9
    if k == 2:
        assert bound == pytest.approx(exact, abs=1e-15)
