"""One cycle of GMRES: the least residual that a Krylov space holds."""

import numpy as np
import pytest

from hyperclus.engines.arrays import NUMPY
from hyperclus.spectral.gmres import gmres_cycle


@pytest.mark.parametrize("seed", range(5))
def test_the_residual_is_the_least_in_the_krylov_space(seed):
    rng = np.random.default_rng(seed)
    matrix, wanted = np.eye(30) + 0.1 * rng.standard_normal((30, 30)), rng.standard_normal(30)
    residuals = []
    found, products = gmres_cycle(NUMPY, lambda x: x - matrix @ x, wanted, 0.0, 6, residuals.append)
    assert products == len(residuals) == 6
    space = np.column_stack([np.linalg.matrix_power(matrix, power) @ wanted for power in range(6)])
    best, *_ = np.linalg.lstsq(matrix @ space, wanted)
    least = np.linalg.norm(wanted - matrix @ space @ best)
    assert np.linalg.norm(wanted - matrix @ found) == pytest.approx(least, rel=1e-8)
    assert residuals[-1] == pytest.approx(least, rel=1e-8)
    assert (np.diff(residuals) <= 0).all()


def test_it_ends_at_the_goal():
    rng = np.random.default_rng(0)
    matrix, wanted = np.eye(200) + 0.02 * rng.standard_normal((200, 200)), rng.standard_normal(200)
    found, products = gmres_cycle(NUMPY, lambda x: x - matrix @ x, wanted, 1e-6, 100, lambda _: None)
    assert products < 30
    assert np.linalg.norm(wanted - matrix @ found) <= 1.01e-6


def test_a_space_that_is_used_up_ends_it():
    """With three different eigenvalues the solution is in a space of three dimensions."""
    values = np.repeat([1.0, 2.0, 5.0], 10)
    wanted = np.random.default_rng(0).standard_normal(30)
    found, products = gmres_cycle(NUMPY, lambda x: x - values * x, wanted, 0.0, 20, lambda _: None)
    assert products <= 4
    np.testing.assert_allclose(found, wanted / values, rtol=1e-12)


def test_orthogonality_survives_a_vector_that_loses_its_digits():
    values = 1.0 + 1e-7 * np.arange(50)  # every image is almost the vector itself
    wanted = np.ones(50)
    found, _ = gmres_cycle(NUMPY, lambda x: x - values * x, wanted, 1e-13, 8, lambda _: None)
    assert np.linalg.norm(wanted - values * found) < 1e-12
