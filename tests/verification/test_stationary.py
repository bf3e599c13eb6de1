"""Enclosures of the stationary distribution, beside exact fractions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.verification.stationary import accuracy
from hyperclus.verification.walk import Walk
from support import oracles
from support.strategies import alphas, disconnected, edge_independent, hypergraphs, random_hypergraph

examples = settings(deadline=None, max_examples=30)
METHODS = {"elimination": (300, 0), "enclosure": (0, 300)}


def spread(exact, phi):
    """The exact H / L."""
    ratios = np.asarray(exact) / phi
    return ratios.max() / ratios.min()


def slowest(h, alpha, phi):
    """The longest mean time, backwards, to the likeliest vertex of a component."""
    p = np.asarray(oracles.transition(h, alpha), dtype=float)
    reached = np.linalg.matrix_power(np.eye(len(phi)) + p, len(phi)) > 0
    free = [v for v in range(len(phi)) if phi[v] < phi[reached[v]].max()]
    backwards = (phi[:, None] * p / phi).T[np.ix_(free, free)]
    return np.linalg.solve(np.eye(len(free)) - backwards, np.ones(len(free))).max(initial=1.0)


@pytest.mark.parametrize("method", list(METHODS))
@examples
@given(st.one_of(hypergraphs(), disconnected()), alphas, st.integers(0, 10**6))
def test_the_factor_is_at_least_the_exact_one(method, h, alpha, seed):
    phi = hc.RandomWalk(h, alpha=alpha).stationary
    exact = oracles.stationary(h, alpha)
    rough = phi * (1 + 1e-7 * np.random.default_rng(seed).normal(size=len(phi)))
    slow = 1e-13 * slowest(h, alpha, phi) if method == "enclosure" else 0.0  # errors grow with it
    for given_phi, most in ((phi, 1e-9), (rough, 1e-5)):
        found = accuracy(Walk.of(h, alpha), given_phi, *METHODS[method])
        assert found.source in (method, "closed form")
        assert spread(exact, given_phi) <= found.factor * (1 + 1e-12)
        assert found.factor < 1 + most + slow


@examples
@given(edge_independent(), alphas)
def test_a_closed_form_needs_no_elimination(h_and_gamma, alpha):
    h, _ = h_and_gamma
    phi = hc.RandomWalk(h, alpha=alpha).stationary
    found = accuracy(Walk.of(h, alpha), phi, 0, 0)
    assert found.source == "closed form"
    assert found.factor < 1 + 1e-12


def test_without_an_enclosure_the_residual_is_known():
    h = random_hypergraph(30, 20, 5, 1)
    phi = hc.RandomWalk(h).stationary
    found = accuracy(Walk.of(h, 0.0), phi, 0, 0)
    assert (found.source, found.factor) == ("given", 1.0)
    assert found.residual < 1e-14
    uniform = accuracy(Walk.of(h, 0.0), np.full(30, 1 / 30), 0, 0)
    p = oracles.transition(h)
    assert uniform.residual == pytest.approx(np.abs(p.sum(axis=0) / 30 - 1 / 30).sum())


@examples
@given(hypergraphs(max_n=8), alphas, st.integers(0, 10**6))
def test_the_ncut_is_in_its_ball(h, alpha, seed):
    labels = np.unique(np.random.default_rng(seed).integers(0, 4, h.n_vertices), return_inverse=True)[1]
    import flint

    phi, p = oracles.stationary(h, alpha), oracles.transition(h, alpha)
    found = Walk.of(h, alpha).ncut([flint.arb(float(one)) for one in phi], labels)
    wanted = oracles.ncut(p, phi, [set(np.flatnonzero(labels == c)) for c in range(labels.max() + 1)])
    assert float(found.mid()) == pytest.approx(wanted, rel=1e-9, abs=1e-13)
