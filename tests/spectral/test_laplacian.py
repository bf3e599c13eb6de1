"""L, L_sym and the Rayleigh quotient against their definitions and theorems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperclus import NormalizedLaplacian, RandomWalk
from hyperclus.spectral.laplacian import Laplacian, rayleigh_quotient
from support import oracles
from support.contracts import check_map, check_symmetric
from support.strategies import (
    alphas,
    disconnected,
    graphs,
    hypergraphs,
    with_relabelling,
    with_scaled_edges,
    with_subset,
    with_vector,
)

examples = settings(deadline=None, max_examples=80)
anything = st.one_of(hypergraphs(), disconnected())


@examples
@given(anything, alphas)
def test_laplacian_is_the_definition(h, alpha):
    expected = oracles.laplacian(oracles.transition(h, alpha), oracles.stationary(h, alpha))
    operator = Laplacian(RandomWalk(h, alpha=alpha))
    assert operator.size == h.n_vertices
    check_map(operator.apply, expected)
    check_symmetric(operator.apply, operator.size)
    np.testing.assert_allclose(operator.dense(), expected, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(operator.dense(), operator.dense().T)


@examples
@given(anything, alphas)
def test_normalized_laplacian_is_the_definition(h, alpha):
    expected = oracles.normalized_laplacian(oracles.transition(h, alpha), oracles.stationary(h, alpha))
    operator = NormalizedLaplacian(RandomWalk(h, alpha=alpha))
    assert operator.size == h.n_vertices
    check_map(operator.apply, expected)
    check_symmetric(operator.apply, operator.size)
    np.testing.assert_allclose(operator.dense(), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(operator.dense(), operator.dense().T)


@examples
@given(anything, alphas)
def test_spectrum_lies_between_zero_and_two(h, alpha):
    """Between zero and one for the two-sided walk: Pi P is then R' W D_E^-1 R up to its scale."""
    values = np.linalg.eigvalsh(NormalizedLaplacian(RandomWalk(h, alpha=alpha)).dense())
    assert values.min() >= -1e-12
    assert values.max() <= (1 if alpha == 1 else 2) + 1e-12
    assert np.count_nonzero(values < 1e-12) >= len(oracles.components(h))


@examples
@given(anything)
def test_two_sided_walk_is_two_steps_between_vertices_and_hyperedges(h):
    """On the bipartite graph with weights w(v, e) = omega(e) gamma_e(v), as in spectral co-clustering.

    So lambda = 1 - sigma^2 with the singular values sigma of w over the roots of its margins.
    """
    weights = h.gamma.toarray().T * h.edge_weights
    scaled = weights / np.sqrt(np.outer(weights.sum(axis=1), weights.sum(axis=0)))
    sigma = np.zeros(h.n_vertices)
    sigma[: min(scaled.shape)] = np.linalg.svd(scaled, compute_uv=False)
    values = np.linalg.eigvalsh(NormalizedLaplacian(RandomWalk(h, alpha=1)).dense())
    np.testing.assert_allclose(values, 1 - sigma**2, rtol=0, atol=1e-12)


@examples
@given(anything, alphas)
def test_square_root_of_the_law_is_in_the_null_space(h, alpha):
    walk = RandomWalk(h, alpha=alpha)
    assert np.abs(NormalizedLaplacian(walk).apply(np.sqrt(walk.stationary))).max() <= 1e-13
    assert np.abs(Laplacian(walk).apply(np.ones(h.n_vertices))).max() <= 1e-14
    for part in oracles.components(h):
        inside = np.isin(np.arange(h.n_vertices), part)
        assert np.abs(NormalizedLaplacian(walk).apply(np.sqrt(walk.stationary) * inside)).max() <= 1e-13


@examples
@given(with_vector(anything), alphas)
def test_rayleigh_quotient_is_the_double_sum(case, alpha):
    """Theorem 16: R(x) = 2 x'Lx / x'Pi x."""
    h, x = case
    p, phi = oracles.transition(h, alpha), oracles.stationary(h, alpha)
    expected = oracles.rayleigh(p, phi, x)
    matrix = oracles.laplacian(p, phi)
    assert 2 * x @ matrix @ x / (x**2 @ phi) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert rayleigh_quotient(RandomWalk(h, alpha=alpha), x) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert -1e-12 <= expected <= 4 + 1e-12


@examples
@given(with_subset(anything), alphas)
def test_ncut_is_half_the_rayleigh_quotient_of_the_indicator(case, alpha):
    """Theorem 1."""
    h, inside = case
    p, phi = oracles.transition(h, alpha), oracles.stationary(h, alpha)
    x = oracles.indicator(phi, inside)
    expected = oracles.ncut_two_way(p, phi, inside)
    assert oracles.rayleigh(p, phi, x) / 2 == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert rayleigh_quotient(RandomWalk(h, alpha=alpha), x) / 2 == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )
    assert abs(x @ phi) <= 1e-9 * np.sqrt(x**2 @ phi)
    assert x**2 @ phi == pytest.approx(1.0)


@examples
@given(graphs())
def test_graph_laplacian_is_the_case_of_pairs(h):
    """The lemma on graphs, for hyperedges {u, v}.

    The lemma's walk P_G = D^-1 A never stays; a hyperedge {u, v} offers u as well as v, so that
    P = (I + D^-1 A) / 2 is the lazy walk. phi = d / sum(d) is the same for both, and
    L = Pi - Pi P = (D - A) / (2 sum(d)) is half the lemma's (D - A) / sum(d): same eigenvectors,
    eigenvalues scaled by 1 / (2 sum(d)); and L_sym = (I - D^-1/2 A D^-1/2) / 2.
    """
    n = h.n_vertices
    adjacency = np.zeros((n, n))
    for e, inside in enumerate(oracles.members(h)):
        u, v = inside
        adjacency[u, v] = adjacency[v, u] = adjacency[u, v] + h.edge_weights[e]
    degrees = adjacency.sum(axis=1)
    combinatorial = np.diag(degrees) - adjacency
    walk = RandomWalk(h)
    np.testing.assert_allclose(walk.stationary, degrees / degrees.sum(), rtol=1e-13)
    np.testing.assert_allclose(walk.dense(), (np.eye(n) + adjacency / degrees[:, None]) / 2, atol=1e-14)

    found = Laplacian(walk).dense()
    np.testing.assert_allclose(2 * degrees.sum() * found, combinatorial, rtol=0, atol=1e-12 * degrees.max())
    values, vectors = np.linalg.eigh(combinatorial)
    np.testing.assert_allclose(
        Laplacian(walk).apply(vectors), vectors * values / (2 * degrees.sum()), rtol=0, atol=1e-13
    )
    symmetric = np.eye(n) - adjacency / np.sqrt(np.outer(degrees, degrees))
    np.testing.assert_allclose(NormalizedLaplacian(walk).dense(), symmetric / 2, rtol=0, atol=1e-13)

    plain = 2 * walk.dense() - np.eye(n)  # the lemma as the paper has it
    np.testing.assert_allclose(
        oracles.laplacian(plain, walk.stationary), combinatorial / degrees.sum(), rtol=0, atol=1e-13
    )


@examples
@given(with_scaled_edges(hypergraphs()))
def test_scaling_the_gammas_of_an_edge_changes_nothing(case):
    first, second = (NormalizedLaplacian(RandomWalk(h)).dense() for h in case)
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-12)


@examples
@given(with_relabelling(anything), alphas)
def test_relabelling_only_relabels(case, alpha):
    h, other, origin = case
    for kind in (Laplacian, NormalizedLaplacian):
        found, expected = (kind(RandomWalk(g, alpha=alpha)).dense() for g in (other, h))
        np.testing.assert_allclose(found, expected[np.ix_(origin, origin)], rtol=0, atol=1e-12)
