"""No bound is called proven that is false: missed eigenvalues are excluded, counted or admitted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigvalsh_tridiagonal

import hyperclus as hc
from hyperclus import NormalizedLaplacian, RandomWalk
from hyperclus.spectral.eigen import lanczos
from hyperclus.spectral.eigen.floor import Stretch, excludes, floor_beyond
from hyperclus.spectral.eigen.inertia import Augmented, counted_bounds
from hyperclus.spectral.eigen.result import lower_bounds
from support.chains import chain_of_rings, equal_arcs
from support.engine_contracts import planted
from support.strategies import alphas, hypergraphs, random_hypergraph


def eigenvalues(h, alpha=0.0):
    return np.linalg.eigvalsh(NormalizedLaplacian(RandomWalk(h, alpha=alpha)).dense())


@settings(max_examples=40)
@given(h=hypergraphs(), alpha=alphas, shift=st.floats(1e-3, 1.5))
def test_counts_are_those_of_a_dense_solver(h, alpha, shift):
    count, error = Augmented(RandomWalk(h, alpha=alpha)).count_below(shift)
    values = eigenvalues(h, alpha)
    assert np.isinf(error) or (values < shift - error - 1e-12).sum() <= count <= (values < shift + 1e-9).sum()


@pytest.mark.parametrize("joint", [1e-2, 1e-5, 1e-8])
def test_counted_bounds_hold_and_are_sharp(joint):
    h = chain_of_rings(20, 8, joint)
    values = eigenvalues(h)[:6]
    bounds = counted_bounds(RandomWalk(h), values, np.full(6, 1e-12))
    assert (bounds <= values + 1e-15).all()
    np.testing.assert_allclose(bounds, values, rtol=1e-3, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_the_floor_is_below_the_smallest_eigenvalue_left(seed):
    h = random_hypergraph(120, 150, 4, seed=seed)
    laplacian = NormalizedLaplacian(RandomWalk(h))
    values, vectors = np.linalg.eigh(laplacian.dense())
    for found in (1, 3):
        rng = np.random.default_rng(seed)
        floor = floor_beyond(laplacian, vectors[:, :found], np.inf, -np.inf, rng, 40)
        assert floor.value <= values[found] + 1e-12 <= floor.ritz + 2e-12
        assert floor.value > 0.5 * values[found]


def test_the_floor_falls_to_an_eigenvalue_that_was_missed():
    h = random_hypergraph(120, 150, 4, seed=0)
    laplacian = NormalizedLaplacian(RandomWalk(h))
    values, vectors = np.linalg.eigh(laplacian.dense())
    found = np.delete(np.arange(4), 2)
    floor = floor_beyond(laplacian, vectors[:, found], values[3], -np.inf, np.random.default_rng(0), 100)
    assert floor.value <= values[2] + 1e-12
    bounds = lower_bounds(values[found], np.zeros(3), floor.value)
    assert (bounds <= values[:3] + 1e-12).all()


@pytest.mark.parametrize("seed", range(10))
def test_the_search_for_one_eigenvalue_proves_it(monkeypatch, seed):
    monkeypatch.setattr(lanczos, "ALONE_FROM", 0)
    monkeypatch.setattr(lanczos, "floor_beyond", None)  # it is not needed
    laplacian = NormalizedLaplacian(RandomWalk(planted(400, 2000, 2, seed=seed)))
    values = np.linalg.eigvalsh(laplacian.dense())
    pairs = hc.smallest_eigenpairs(laplacian, 2, method="lanczos", seed=seed)
    assert 0.99998 * values[1] <= pairs.lower[1] <= values[1] + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_a_search_that_has_seen_little_of_the_smallest_proves_nothing_above_it(seed):
    matrix = NormalizedLaplacian(RandomWalk(random_hypergraph(300, 400, 4, seed=seed))).dense()
    diagonal, norms = lanczos_coefficients(matrix, seed, 60, hidden=0)
    smallest = [eigvalsh_tridiagonal(diagonal[:j], norms[: j - 1])[0] for j in range(1, 61)]
    assert sum(ritz > 0.01 for ritz in smallest) > 10  # steps in which another eigenvalue seems the smallest
    for steps, ritz in enumerate(smallest, 1):
        goal = 0.9999 * ritz
        assert goal < 1e-9 or not excludes([Stretch(diagonal[:steps], norms[:steps])], goal, 300)


def lanczos_coefficients(matrix, seed, steps, hidden):
    """Diagonal and norms of Lanczos' iteration from a vector with little of an eigenvector."""
    start = np.random.default_rng(seed).standard_normal(len(matrix))
    vector = np.linalg.eigh(matrix)[1][:, hidden]
    start -= (1 - 1e-4) * vector * (vector @ start)
    basis, diagonal, norms = [start / np.linalg.norm(start)], [], []
    for _ in range(steps):
        image = matrix @ basis[-1]
        diagonal.append(float(basis[-1] @ image))
        for _ in range(2):
            image -= np.array(basis).T @ (np.array(basis) @ image)
        norms.append(float(np.linalg.norm(image)))
        basis.append(image / norms[-1])
    return diagonal, norms


@pytest.mark.parametrize("rings", [60, 400])
@pytest.mark.parametrize("joint", [1e-2, 1e-4, 1e-6, 1e-8, 1e-9])
@pytest.mark.parametrize("k", [3, 10])
def test_a_chain_of_rings_has_no_false_bound_and_its_arcs_are_found(rings, joint, k):
    h = chain_of_rings(rings, 8, joint)
    part, arcs = hc.cluster(h, k, effort="fast"), hc.evaluate(h, equal_arcs(rings, 8, k))
    assert max(part.lower_bound, arcs.lower_bound) <= min(part.ncut, arcs.ncut)
    assert part.ncut <= 1.05 * arcs.ncut


@pytest.mark.parametrize("tolerance", [0.1, 10.0])
def test_a_loose_tolerance_gives_a_loose_bound_not_a_false_one(tolerance):
    h = chain_of_rings(80, 8, 1e-3)
    part = hc.evaluate(h, equal_arcs(80, 8, 8), tolerance=tolerance)
    assert part.lower_bound <= part.ncut


def test_every_output_says_when_nothing_is_proven(tmp_path):
    h = chain_of_rings(400, 8, 1e-9)
    part = hc.cluster(h, 10, effort="fast")
    assert part.lower_bound == 0
    assert "proven: nothing, because the smallest eigenvalues are too close" in str(part)
    part.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The smallest eigenvalues are too close together to be counted." in page
    assert "proven to be at most" not in page


def test_suggest_k_claims_no_more():
    h = chain_of_rings(60, 12, 1e-3)
    candidates = hc.suggest_k(h, 4, shuffles=2).candidates
    for one in candidates:
        assert one.lower_bound <= hc.evaluate(h, equal_arcs(60, 12, one.k)).ncut


@pytest.mark.parametrize("k", [2, 5])
def test_the_failure_probability_is_said(k):
    sparse = random_hypergraph(1500, 4000, 5, seed=1)
    pairs = hc.smallest_eigenpairs(NormalizedLaplacian(RandomWalk(sparse)), k, method="lanczos")
    assert pairs.failure == 1e-6
    dense = hc.smallest_eigenpairs(NormalizedLaplacian(RandomWalk(sparse)), k, method="dense")
    assert dense.failure == 0
    assert (pairs.lower <= dense.values + 1e-12).all()
