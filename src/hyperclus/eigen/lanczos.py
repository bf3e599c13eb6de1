"""Thick-restart Lanczos on the matrix-free operator (Wu and Simon, 2000).

Why not ARPACK: it tells nothing of the residual reached when it gives up, looks for convergence
only at restarts, and ties the vectors to NumPy.
"""

import numpy as np

from hyperclus.errors import ConvergenceError
from hyperclus.laplacian import Operator
from hyperclus.types import Floats

MAX_PRODUCTS = 5000
EXTRA_BASIS = 30  # basis vectors beyond those wanted
CHECK_EVERY = 4  # steps between looks at the Ritz residuals
PROBE = 1e-4  # residual to which the search for missed eigenvalues goes
ROWS = 1 << 16  # rows of the basis that a restart rotates at a time


def lanczos_vectors(
    operator: Operator,
    known: Floats,
    count: int,
    tolerance: float,
    rng: np.random.Generator,
    max_products: int = MAX_PRODUCTS,
    spare: int = 0,
) -> tuple[Floats, int]:
    """`count` eigenvectors beyond the known ones, and the number of products spent.

    Up to `spare` more columns follow: Ritz vectors as the search for the others left them.

    A Krylov space grown from one vector holds one vector of each eigenspace, so a repeated
    eigenvalue may be found once only. So when several are wanted, what was found is deflated and
    the smallest eigenvalue left is computed from a new random vector; if it is below the largest
    found, it was missed, takes that one's place, and the search goes on.

    Residuals are held below tolerance max(1, |lambda| / 2): absolute for L_sym, relative for an
    operator with larger eigenvalues.

    Raises
    ------
    ConvergenceError
        With the residual reached.
    """
    if count > 1:
        tolerance /= 2  # what is deflated is not exact, and what is then found is no closer
    vectors, values, steps = _solve(operator, known, count, tolerance, rng, max_products, spare)
    vectors, spared = vectors[:, :count], vectors[:, count:]
    while 1 < count < operator.size - known.shape[1]:
        found = np.hstack([known, vectors])
        _, left, more = _solve(operator, found, 1, max(tolerance, PROBE), rng, max_products)
        steps += more
        if left[0] >= values[-1] - _allowed(values[-1], tolerance):
            break
        missed, left, more = _solve(operator, found, 1, tolerance, rng, max_products)
        steps += more
        order = np.argsort([*values, left[0]], kind="stable")[:count]
        values = np.append(values, left)[order]
        vectors = np.hstack([vectors, missed])[:, order]
    return np.hstack([vectors, spared]), steps


def _solve(
    operator: Operator,
    known: Floats,
    count: int,
    tolerance: float,
    rng: np.random.Generator,
    max_products: int,
    spare: int = 0,
) -> tuple[Floats, Floats, int]:
    """Smallest eigenvectors orthogonal to the known ones, their eigenvalues, and the products spent.

    The spare Ritz vectors follow the eigenvectors.

    Keeps L V = V T + beta v e' with V orthonormal and T = V'LV. The Ritz pair (theta, V s) of an
    eigenpair (theta, s) of T has the residual beta |s_last|.
    """
    whole = operator.size - known.shape[1]
    capacity = min(count + EXTRA_BASIS, whole)
    basis = np.empty((operator.size, capacity + 1), order="F")
    basis[:, 0] = _orthonormal(rng.standard_normal(operator.size), known, basis[:, :0], rng)[0]
    projected = np.zeros((capacity, capacity))
    kept = steps = 0
    while steps < max_products:
        for column in range(kept, capacity):
            filled = column + 1
            image = operator.apply(basis[:, column])
            basis[:, filled], overlaps, beta = _orthonormal(image, known, basis[:, :filled], rng)
            projected[:filled, column] = projected[column, :filled] = overlaps
            steps += 1
            if filled < count or (steps % CHECK_EVERY and filled < capacity):
                continue
            values, rotation = np.linalg.eigh(projected[:filled, :filled])
            residuals = beta * np.abs(rotation[-1])
            if (residuals <= _allowed(values, tolerance))[:count].all() or filled == whole:
                return basis[:, :filled] @ rotation[:, : count + spare], values[:count], steps
        kept = count + (capacity - count) // 2
        for row in range(0, operator.size, ROWS):
            rows = slice(row, row + ROWS)
            basis[rows, :kept] = basis[rows, :capacity] @ rotation[:, :kept]
        basis[:, kept] = basis[:, capacity]
        projected[:] = 0.0
        projected[range(kept), range(kept)] = values[:kept]
    worst = float(residuals[:count].max())
    raise ConvergenceError(
        f"the eigenvectors reached residual {worst:.1e} after {steps} products, not {tolerance:.1e}; "
        "raise the tolerance",
        worst,
    )


def _allowed(values: Floats, tolerance: float) -> Floats:
    return tolerance * np.maximum(1.0, np.abs(values) / 2)


def _orthonormal(
    vector: Floats, known: Floats, basis: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, float]:
    """The part of a vector orthogonal to both sets, at length 1; its overlaps with the basis; its length.

    Two rounds of Gram-Schmidt. Where nothing is left the space is invariant: the length is 0 and a
    random direction takes the vector's place, so that the search goes on in what is not yet seen.
    """
    overlaps = np.zeros(basis.shape[1])
    for _ in range(2):
        vector = vector - known @ (known.T @ vector)
        inside = basis.T @ vector
        vector -= basis @ inside
        overlaps += inside
    length = float(np.linalg.norm(vector))
    if length > 1e-12 or known.shape[1] + basis.shape[1] >= len(vector):
        return vector / (length or 1.0), overlaps, length
    fresh, _, _ = _orthonormal(rng.standard_normal(len(vector)), known, basis, rng)
    return fresh, overlaps, 0.0
