"""Lanczos on a Chebyshev filter: the same eigenpairs, and another method where it does not separate them."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus._runtime import checkpoint
from hyperclus.errors import ConvergenceError
from hyperclus.spectral.eigen.filtered import Filter
from support.operators import Diagonal, check_resumes
from support.strategies import copies_around_a_hub, random_hypergraph

lanczos = sys.modules["hyperclus.spectral.eigen.lanczos"]
choose = sys.modules["hyperclus.spectral.eigen.choose"]
examples = settings(deadline=None, max_examples=100)


def laplacian_of(h):
    return hc.NormalizedLaplacian(hc.RandomWalk(h))


def filtered_pairs(laplacian, k, seed=0):
    """As `smallest_eigenpairs` computes them with Lanczos on a filter."""
    problem = choose._Problem(
        laplacian,
        np.sqrt(laplacian.walk.stationary)[:, None],
        k - 1,
        1e-8,
        np.random.default_rng(seed),
        3,
        checkpoint.NO_CHECKPOINT,
    )
    return problem._pairs(problem._lanczos("hasty", choose.MAX_PRODUCTS, filtered=True), "lanczos")


@examples
@given(
    low=st.floats(0.01, 0.9),
    width=st.floats(0.1, 1.9),
    values=st.lists(st.floats(0.0, 2.0), min_size=2, max_size=20),
)
def test_the_filter_is_the_polynomial_and_its_inverse(low, width, values):
    high, values = low + width, np.sort(values)
    scaled = (2 * values - high - low) / (high - low)
    filtered = Filter(Diagonal(values), low, high)
    images = np.diag(filtered.apply(np.eye(len(values))))
    np.testing.assert_allclose(images, 4 * scaled**3 - 3 * scaled, rtol=1e-9, atol=1e-9)
    below, inside = scaled < -1 - 1e-6, np.abs(scaled) <= 1
    assert (np.abs(images[inside]) <= 1 + 1e-9).all()
    assert (images[below] < -1).all()
    np.testing.assert_allclose(filtered.eigenvalues(images[below]), values[below], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("n", "n_edges", "k"), [(600, 700, 40), (600, 700, 100), (900, 400, 60)])
def test_the_eigenpairs_are_those_of_a_dense_solver(n, n_edges, k):
    laplacian = laplacian_of(random_hypergraph(n, n_edges, 6, seed=7))
    pairs, expected = filtered_pairs(laplacian, k), np.linalg.eigvalsh(laplacian.dense())
    np.testing.assert_allclose(pairs.values, expected[:k], rtol=0, atol=1e-10)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), rtol=0, atol=1e-9)
    assert pairs.residuals.max() <= 1e-8
    assert (pairs.lower <= expected[:k] + 1e-12).all()
    assert pairs.spare.shape == (n, 3)


@pytest.mark.parametrize("seed", range(3))
def test_no_copy_of_a_repeated_eigenvalue_is_missed(monkeypatch, seed):
    """The second is 39-fold at least, so the number of eigenvalues below a value is badly estimated."""
    monkeypatch.setattr(choose, "cheapest", lambda *_: "lanczos")
    laplacian = laplacian_of(copies_around_a_hub(random_hypergraph(12, 14, 4, seed), 40, 1e-3))
    pairs = hc.smallest_eigenpairs(laplacian, 45, seed=seed)
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(laplacian.dense())[:45], rtol=0, atol=1e-8)
    assert pairs.residuals.max() <= 1e-8


@pytest.mark.parametrize("value", [0.5, 1.0])
def test_a_value_that_is_repeated_more_often_than_wanted(value):
    """The filter separates none of it from the rest; what was found is never wrong."""
    operator = Diagonal(np.sort([*np.linspace(0.1, value - 0.05, 20), *[value] * 400, *[1.5] * 80]))
    given = operator, np.empty((500, 0)), 60, 1e-8, np.random.default_rng(0)
    try:
        found = lanczos.lanczos_vectors(*given, lanczos.Lanczos(lazy=True, filtered=True))
    except ConvergenceError:
        return
    quotients = np.einsum("nk,nk->k", found.vectors, operator.apply(found.vectors))
    np.testing.assert_allclose(quotients, operator.values[:60], rtol=0, atol=1e-8)


def test_a_filter_that_separates_too_few_is_an_error_and_then_left_out(monkeypatch):
    """As if the estimate of the number of eigenvalues below had been wrong."""
    h = random_hypergraph(600, 700, 6, seed=7)
    expected = hc.smallest_eigenpairs(laplacian_of(h), 50, method="lanczos")
    tried, of = [], Filter.of.__func__

    def too_low(cls, operator, count, *given):
        tried.append(count)
        return Filter(operator, expected.values[20], of(cls, operator, count, *given).high)

    monkeypatch.setattr(Filter, "of", classmethod(too_low))
    monkeypatch.setattr(choose, "cheapest", lambda *_: "lanczos")
    monkeypatch.setattr(lanczos, "MAX_PRODUCTS", 2000)
    with pytest.raises(ConvergenceError):
        filtered_pairs(laplacian_of(h), 50)
    pairs = hc.smallest_eigenpairs(laplacian_of(h), 50)
    assert tried == [49, 49]
    np.testing.assert_allclose(pairs.values, expected.values, rtol=0, atol=1e-9)
    assert pairs.residuals.max() <= 1e-8


def test_interrupted_anywhere_and_resumed(tmp_path):
    operator, known = Diagonal(np.linspace(0, 1, 400) ** 0.5), np.empty((400, 0))

    def run(folder):
        with checkpoint.checkpoint_pace(checkpoint.Pace(0.0, 0.0, np.inf)), hc.checkpoints(folder):
            rng = np.random.default_rng(0)
            place = checkpoint.open_checkpoint("filtered", 40, rng=rng)
            options = lanczos.Lanczos(spare=1, lazy=True, filtered=True)
            return lanczos.lanczos_vectors(operator, known, 40, 1e-8, rng, options, place)

    first = lanczos.QUADRATURE
    check_resumes(run, operator, tmp_path, lambda steps: (1, first + 1, steps // 3, steps - 1), first + 3)
