"""Lanczos with several vectors in each product: the same eigenpairs, and fewer products."""

import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus._runtime import checkpoint
from hyperclus.engines.arrays import NUMPY
from hyperclus.errors import ConvergenceError
from hyperclus.spectral.eigen.null_space import zero_vectors
from support.operators import check_resumes
from support.strategies import alphas, copies_around_a_hub, disconnected, hypergraphs, random_hypergraph

lanczos = sys.modules["hyperclus.spectral.eigen.lanczos"]
examples = settings(deadline=None, max_examples=60)
WIDTHS = (2, 3, 4, 8)


@dataclass
class Matrix:
    """A symmetric matrix as an operator of blocks, which counts its products."""

    values: np.ndarray
    products: int = 0
    backend = NUMPY

    @property
    def size(self):
        return len(self.values)

    def apply(self, block):
        self.products += 1
        return self.values @ block

    def normal(self, rng):
        return rng.normal(size=self.size).astype(self.values.dtype)


def with_values(values, seed=0, dtype=np.float64):
    """A matrix of these eigenvalues, and nothing that is known of it."""
    basis, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    matrix = (basis * np.asarray(values)) @ basis.T
    return Matrix(((matrix + matrix.T) / 2).astype(dtype)), np.empty((len(values), 0), dtype)


def laplacian_and_known(h, k, alpha=0.0):
    laplacian = hc.NormalizedLaplacian(hc.RandomWalk(h, alpha=alpha))
    walk = laplacian.walk
    return laplacian, zero_vectors(walk.backend, walk.stationary, walk.distribution.components, k)


def check(matrix, known, vectors, expected, tolerance=1e-8):
    """Orthonormal, also to the known ones; of these eigenvalues; with small residuals."""
    both = np.hstack([known, vectors])
    np.testing.assert_allclose(both.T @ both, np.eye(both.shape[1]), rtol=0, atol=1e-9)
    quotients = np.einsum("nk,nk->k", vectors, matrix @ vectors)
    np.testing.assert_allclose(quotients, expected, rtol=0, atol=10 * tolerance)
    assert worst_residual(matrix, vectors) <= tolerance


def worst_residual(matrix, vectors):
    images = matrix @ vectors
    quotients = np.einsum("nk,nk->k", vectors, images)
    return np.linalg.norm(images - vectors * quotients, axis=0).max()


def check_laplacian(h, k, width, alpha=0.0, tolerance=1e-8, seed=0):
    laplacian, known = laplacian_and_known(h, k, alpha)
    zeros = known.shape[1]
    if zeros == k:
        return 0
    rng, matrix = np.random.default_rng(seed), laplacian.dense()
    vectors, steps, _ = lanczos.lanczos_vectors(
        laplacian, known, k - zeros, tolerance, rng, lanczos.Lanczos(width=width)
    )
    assert vectors.shape == (h.n_vertices, k - zeros)
    check(matrix, known, vectors, np.linalg.eigvalsh(matrix)[zeros:k], tolerance)
    return steps


# ---- the eigenpairs of the definition -----------------------------------------------------------


@examples
@given(st.one_of(hypergraphs(), disconnected()), alphas, st.integers(2, 9), st.data())
def test_small_hypergraphs_have_the_eigenpairs_of_the_dense_matrix(h, alpha, width, data):
    """Also where the block has more columns than the space has dimensions."""
    check_laplacian(h, data.draw(st.integers(1, h.n_vertices)), width, alpha)


@pytest.mark.parametrize("tolerance", [1e-8, 1e-10])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("n", "n_edges", "k"), [(400, 500, 2), (400, 500, 7), (500, 200, 5)])
def test_restarts(monkeypatch, n, n_edges, k, width, tolerance):
    monkeypatch.setattr(lanczos, "EXTRA_BLOCKS", 5)
    steps = check_laplacian(random_hypergraph(n, n_edges, 6, seed=7), k, width, tolerance=tolerance)
    assert steps > 5 + k


@pytest.mark.parametrize("size", range(10, 19))
def test_spaces_about_as_large_as_the_basis(monkeypatch, size):
    """A full basis is 12 columns here, with one more block 16."""
    monkeypatch.setattr(lanczos, "EXTRA_BLOCKS", 2)
    values = np.linspace(0, 1, size)
    operator, known = with_values(values)
    vectors, *_ = lanczos.lanczos_vectors(
        operator, known, 3, 1e-12, np.random.default_rng(0), lanczos.Lanczos(width=4)
    )
    check(operator.values, known, vectors, values[:3], 1e-12)


@pytest.mark.parametrize("width", WIDTHS)
def test_components_whose_zeros_are_known(width):
    part = random_hypergraph(60, 50, 6, seed=3)
    edges = [
        {f"{copy} {v}": 1.0 for v in part.gamma.indices[start:stop].tolist()}
        for copy in range(3)
        for start, stop in zip(part.gamma.indptr[:-1], part.gamma.indptr[1:], strict=True)
    ]
    h = hc.Hypergraph.from_edges(edges)
    _, known = laplacian_and_known(h, 9)
    assert known.shape[1] >= 3
    for k in (known.shape[1] + 1, known.shape[1] + 4):
        check_laplacian(h, k, width)


def test_wider_blocks_need_fewer_products():
    h = random_hypergraph(600, 700, 6, seed=5)
    steps = [check_laplacian(h, 5, width) for width in (None, 1, 4, 8)]
    assert steps[0] == pytest.approx(steps[1], rel=0.2)
    assert steps[1] > steps[2] > steps[3]


@pytest.mark.parametrize("width", WIDTHS)
def test_products_are_counted_as_they_are_made(width):
    operator, known = with_values(np.linspace(0, 2, 300))
    _, steps, _ = lanczos.lanczos_vectors(
        operator, known, 4, 1e-8, np.random.default_rng(0), lanczos.Lanczos(width=width)
    )
    assert operator.products == steps


# ---- repeated eigenvalues -----------------------------------------------------------------------


@pytest.fixture
def solves(monkeypatch):
    """How many eigenvectors each search was for."""
    counts, search = [], lanczos._Space.search

    def spy(space, *given):
        counts.append(space.count)
        return search(space, *given)

    monkeypatch.setattr(lanczos._Space, "search", spy)
    return counts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("width", "times"), [(2, 2), (3, 3), (4, 3), (4, 4), (8, 8)])
def test_as_often_as_the_block_is_wide_without_a_probe(solves, width, times, seed):
    values = np.concatenate([np.full(times, 0.1), np.linspace(0.3, 1.2, 400 - times)])
    operator, known = with_values(values, seed)
    rng = np.random.default_rng(seed)
    vectors, *_ = lanczos.lanczos_vectors(operator, known, times, 1e-8, rng, lanczos.Lanczos(width=width))
    check(operator.values, known, vectors, values[:times])
    assert solves == [times]


@pytest.mark.parametrize("width", [2, 3, 4])
def test_more_often_than_the_block_is_wide(width):
    values = np.concatenate([np.full(6, 0.1), np.linspace(0.3, 1.2, 394)])
    operator, known = with_values(values)
    rng = np.random.default_rng(0)
    vectors, *_ = lanczos.lanczos_vectors(operator, known, 6, 1e-8, rng, lanczos.Lanczos(width=width))
    check(operator.values, known, vectors, values[:6])


@pytest.mark.parametrize("above", [1e-3, 1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("width", [None, 1, 2, 4])
def test_an_eightfold_eigenvalue_with_another_just_above(width, above):
    values = np.concatenate([np.full(8, 0.1), 0.1 + above * np.arange(1, 4), np.linspace(0.3, 1.2, 89)])
    operator, known = with_values(values)
    options = lanczos.Lanczos(width=width)
    vectors, *_ = lanczos.lanczos_vectors(operator, known, 8, 1e-8, np.random.default_rng(0), options)
    check(operator.values, known, vectors, values[:8])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("k", [2, 3, 4, 5, 9])
def test_copies_around_a_hub(k, width):
    check_laplacian(copies_around_a_hub(random_hypergraph(80, 8, 25, seed=10), 4, 0.5), k, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_few_different_eigenvalues_use_up_the_space(width):
    """Each product then gives nothing new, and random directions take its place."""
    values = np.repeat([0.0, 0.5, 1.0], [5, 20, 175])
    operator, known = with_values(values)
    vectors, *_ = lanczos.lanczos_vectors(
        operator, known, 12, 1e-8, np.random.default_rng(0), lanczos.Lanczos(width=width)
    )
    check(operator.values, known, vectors, values[:12])


# ---- residuals, seeds, precision ----------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-8])
@pytest.mark.parametrize("width", WIDTHS)
def test_reported_residuals_are_true(monkeypatch, width, tolerance):
    told = []

    def report(_, steps, residual=None):
        if residual is not None:
            told.append(residual)

    monkeypatch.setattr(lanczos.ResidualProgress, "report", report)
    laplacian, known = laplacian_and_known(random_hypergraph(400, 500, 6, seed=7), 3)
    rng = np.random.default_rng(0)
    vectors, *_ = lanczos.lanczos_vectors(laplacian, known, 2, tolerance, rng, lanczos.Lanczos(width=width))
    assert told[-1] <= tolerance
    assert worst_residual(laplacian.dense(), vectors) == pytest.approx(told[-1], rel=1e-4)


def test_no_convergence_raises_with_the_residual():
    operator, known = with_values(np.linspace(0, 1, 900) ** 4)
    with pytest.raises(hc.ConvergenceError) as caught:
        lanczos.lanczos_vectors(
            operator, known, 2, 1e-8, np.random.default_rng(0), lanczos.Lanczos(5, width=2)
        )
    assert 1e-8 < caught.value.residual < 1


def test_same_seed_same_result():
    operator, known = with_values(np.linspace(0, 2, 300))
    first, second = (
        lanczos.lanczos_vectors(operator, known, 3, 1e-8, np.random.default_rng(5), lanczos.Lanczos(width=4))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first[0], second[0])
    assert first[1] == second[1]


@pytest.mark.parametrize("width", [2, 4])
def test_single_precision_stays_single(width):
    values = np.concatenate([[0.1, 0.1, 0.2], np.linspace(0.5, 1.2, 297)])
    operator, known = with_values(values, dtype=np.float32)
    vectors, *_ = lanczos.lanczos_vectors(
        operator, known, 3, 1e-4, np.random.default_rng(0), lanczos.Lanczos(width=width)
    )
    assert vectors.dtype == np.float32
    quotients = np.einsum("nk,nk->k", vectors, operator.values @ vectors)
    np.testing.assert_allclose(quotients, values[:3], atol=1e-5)


def test_spare_vectors_follow():
    operator, known = with_values(np.linspace(0, 2, 100))
    vectors, *_ = lanczos.lanczos_vectors(
        operator, known, 3, 1e-8, np.random.default_rng(0), lanczos.Lanczos(spare=2, width=4)
    )
    assert vectors.shape == (100, 5)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-9)


@pytest.mark.parametrize("width", [2, 4])
def test_interrupted_anywhere_and_resumed(monkeypatch, tmp_path, width):
    monkeypatch.setattr(lanczos, "EXTRA_BLOCKS", 4)
    operator, known = with_values(np.linspace(0, 1, 200) ** 0.5)

    def run(folder):
        with checkpoint.checkpoint_pace(checkpoint.Pace(0.0, 0.0, np.inf)), hc.checkpoints(folder):
            rng = np.random.default_rng(0)
            place = checkpoint.open_checkpoint("blocks", width, rng=rng)
            return lanczos.lanczos_vectors(
                operator, known, 3, 1e-8, rng, lanczos.Lanczos(spare=1, width=width), place
            )

    check_resumes(run, operator, tmp_path, lambda steps: (1, steps // 3, steps - 1), 1)


# ---- one step -----------------------------------------------------------------------------------


def orthonormal_columns(rng, n, count):
    return np.asfortranarray(np.linalg.qr(rng.normal(size=(n, count)))[0])


@pytest.mark.parametrize("small", [1.0, 1e-5, 1e-9, 1e-11])
def test_orthonormal_columns_give_the_block_back(small):
    rng = np.random.default_rng(0)
    columns = orthonormal_columns(rng, 500, 14)
    known, basis, fresh = columns[:, :2], columns[:, 2:10], columns[:, 10:]
    block = basis[:, 6:] @ rng.normal(size=(2, 4)) + (fresh * [1.0, 0.5, small, small / 3]) @ rng.normal(
        size=(4, 4)
    )
    found, overlaps, beyond = lanczos.orthonormal_block(NUMPY, block + 3 * known[:, :1], known, basis)
    both = np.hstack([known, basis, found])
    np.testing.assert_allclose(both.T @ both, np.eye(14), rtol=0, atol=1e-13)
    np.testing.assert_allclose(basis @ overlaps + found @ beyond, block, rtol=0, atol=1e-13)
    lengths = np.linalg.norm(beyond, axis=1)
    assert (np.diff(lengths) <= 1e-12).all()


@pytest.mark.parametrize("what", [np.nan, np.inf])
def test_a_product_that_is_not_a_number_is_said_to_be_none(what):
    rng = np.random.default_rng(0)
    columns = orthonormal_columns(rng, 50, 8)
    block = rng.normal(size=(50, 2))
    block[3, 1] = what
    with pytest.raises(ConvergenceError, match="not a number in this precision"):
        lanczos.orthonormal_block(NUMPY, block, columns[:, :1], columns[:, 1:5])


@pytest.mark.parametrize("rank", [0, 1, 3])
@pytest.mark.parametrize("exactly", [True, False])
def test_lost_columns_come_last_and_are_replaced(rank, exactly):
    rng = np.random.default_rng(1)
    columns = orthonormal_columns(rng, 200, 8)
    known, basis, fresh = columns[:, :1], columns[:, 1:5], columns[:, 5:]
    block = fresh[:, :rank] @ rng.normal(size=(rank, 4)) + (
        0.0 if exactly else basis @ rng.normal(size=(4, 4))
    )
    operator = Matrix(np.eye(200))
    space = lanczos._Space(operator, rng, lanczos.Lanczos(width=4), known, 1)
    found, overlaps, beyond = space._next(block, basis, 0, 195)
    assert np.count_nonzero(beyond.any(axis=1)) == rank
    both = np.hstack([known, basis, found])
    np.testing.assert_allclose(both.T @ both, np.eye(9), rtol=0, atol=1e-13)
    np.testing.assert_allclose(basis @ overlaps + found @ beyond, block, rtol=0, atol=1e-12)
