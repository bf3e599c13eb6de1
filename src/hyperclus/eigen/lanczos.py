"""Thick-restart Lanczos on the matrix-free operator (Wu and Simon, 2000).

Why not ARPACK: it tells nothing of the residual reached when it gives up, looks for convergence
only at restarts, and ties the vectors to NumPy.
"""

import numpy as np

from hyperclus.arrays import empty_columns, like, on_host
from hyperclus.checkpoint import NOWHERE, Slot
from hyperclus.errors import ConvergenceError
from hyperclus.laplacian import Operator
from hyperclus.progress import Descent
from hyperclus.types import Floats

MAX_PRODUCTS = 5000
EXTRA_BASIS = 30  # basis vectors beyond those wanted
CHECK_EVERY = 2  # steps between looks at the Ritz residuals
PROBE = 1e-4  # residual to which the search for missed eigenvalues goes
NOTHING = {4: 1e-5, 8: 1e-12}  # bytes of a number: a length that is nothing but rounding
ROWS = 1 << 16  # rows of the basis that a restart rotates at a time


def lanczos_vectors(
    operator: Operator,
    known: Floats,
    count: int,
    tolerance: float,
    rng: np.random.Generator,
    max_products: int = MAX_PRODUCTS,
    spare: int = 0,
    place: Slot = NOWHERE,
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
    descent = Descent("eigenvectors", tolerance, high=1.0 if count == 1 else 0.8)
    vectors, values, steps = _solve(
        operator, known, count, descent, rng, max_products, place.part("first"), spare
    )
    vectors, spared = vectors[:, :count], vectors[:, count:]
    rounds = 0
    while 1 < count < operator.size - known.shape[1]:
        found, rounds = np.hstack([known, vectors]), rounds + 1
        descent = descent.then(max(tolerance, PROBE))
        _, left, more = _solve(operator, found, 1, descent, rng, max_products, place.part("probe", rounds))
        steps += more
        if left[0] >= values[-1] - _allowed(values[-1], tolerance):
            break
        descent, part = descent.then(tolerance), place.part("missed", rounds)
        missed, left, more = _solve(operator, found, 1, descent, rng, max_products, part)
        steps += more
        order = np.argsort([*values, left[0]], kind="stable")[:count]
        values = np.append(values, left)[order]
        vectors = np.hstack([vectors, missed])[:, order.tolist()]
    return np.hstack([vectors, spared]), steps


def _solve(
    operator: Operator,
    known: Floats,
    count: int,
    descent: Descent,
    rng: np.random.Generator,
    max_products: int,
    place: Slot,
    spare: int = 0,
) -> tuple[Floats, Floats, int]:
    """Smallest eigenvectors orthogonal to the known ones, their eigenvalues, and the products spent.

    The spare Ritz vectors follow the eigenvectors. The goal of the descent is the tolerance.

    Keeps L V = V T + beta v e' with V orthonormal and T = V'LV. The Ritz pair (theta, V s) of an
    eigenpair (theta, s) of T has the residual beta |s_last|. The columns of V so far and T are all that the
    next step depends on.
    """
    if (done := place.result()) is not None:
        descent.done = done["steps"]
        return done["vectors"], done["values"], done["steps"]
    whole = operator.size - known.shape[1]
    capacity = min(count + EXTRA_BASIS, whole)
    start = operator.normal(rng) if (at := place.state()) is None else at["basis 0"]
    basis = empty_columns(start, capacity + 1)
    if at is None:
        basis[:, 0] = _orthonormal(operator, start, known, basis[:, :0], rng)[0]
        projected, first, since, steps = np.zeros((capacity, capacity)), 0, 0, 0
    else:
        projected, first, since, steps = (at[name] for name in ("projected", "first", "since", "steps"))
        descent.first, descent.lowest = at["residuals"]
        for column in range(first + 1):
            basis[:, column] = at.pop(f"basis {column}")  # one after the other, to free it
    while True:
        for column in range(first, capacity):
            if place.due:
                columns = {f"basis {number}": basis[:, number] for number in range(column + 1)}
                seen = descent.first, descent.lowest
                now = {"projected": projected, "first": column, "since": since, "steps": steps}
                place.keep(**now, residuals=seen, **columns)
            filled = column + 1
            image = operator.apply(basis[:, column])
            recent = 0 if column == since else column - 1
            basis[:, filled], overlaps, beta = _orthonormal(
                operator, image, known, basis[:, :filled], rng, recent
            )
            projected[:filled, column] = projected[column, :filled] = overlaps
            steps += 1
            if filled < count or (steps % CHECK_EVERY and filled < capacity):
                descent.tell(steps)
                continue
            values, rotation = np.linalg.eigh(projected[:filled, :filled])
            residuals = beta * np.abs(rotation[-1])
            descent.tell(steps, float((residuals / _allowed(values, 1.0))[:count].max()))
            if (residuals <= _allowed(values, descent.goal))[:count].all() or filled == whole:
                vectors = basis[:, :filled] @ like(rotation[:, : count + spare], basis)
                place.finish(vectors=vectors, values=values[:count], steps=steps)
                return vectors, values[:count], steps
        if steps >= max_products:
            break
        first = since = count + (capacity - count) // 2
        _rotate(basis, rotation[:, :first])
        basis[:, first] = basis[:, capacity]
        projected[:] = 0.0
        projected[range(first), range(first)] = values[:first]
    worst = float(residuals[:count].max())
    raise ConvergenceError(
        f"the eigenvectors reached residual {worst:.1e} after {steps} products, not {descent.goal:.1e}; "
        "raise the tolerance",
        worst,
    )


def _rotate(basis: Floats, rotation: Floats) -> None:
    """The first columns become V times the rotation, some rows at a time."""
    before, after = rotation.shape
    rotation = like(rotation, basis)
    for row in range(0, len(basis), ROWS):
        rows = slice(row, row + ROWS)
        basis[rows, :after] = basis[rows, :before] @ rotation


def _without(known: Floats, vector: Floats) -> Floats:
    """The part of a vector orthogonal to the known ones; a product with a single column would be slow."""
    if known.shape[1] == 1:
        return vector - known[:, 0] * (known[:, 0] @ vector)
    return vector - known @ (known.T @ vector)


def _allowed(values: Floats, tolerance: float) -> Floats:
    return tolerance * np.maximum(1.0, np.abs(values) / 2)


def _orthonormal(
    operator: Operator,
    vector: Floats,
    known: Floats,
    basis: Floats,
    rng: np.random.Generator,
    recent: int = 0,
) -> tuple[Floats, Floats, float]:
    """The part of a vector orthogonal to both sets, at length 1; its overlaps with the basis; its length.

    Two rounds of Gram-Schmidt, the first with the columns from `recent` on, which are all that an image has
    much of: to read the others costs as much as a product. Where nothing is left the space is invariant:
    the length is 0 and a random direction takes the vector's place, so that the search goes on in what is
    not yet seen.
    """
    overlaps = np.zeros(basis.shape[1])
    for start in (recent, 0):
        vector = _without(known, vector)
        inside = basis[:, start:].T @ vector
        vector -= inside @ basis[:, start:].T
        overlaps[start:] += on_host(inside)
    length = float(np.linalg.norm(vector))
    if length > NOTHING[vector.dtype.itemsize] or known.shape[1] + basis.shape[1] >= len(vector):
        return vector / (length or 1.0), overlaps, length
    fresh, _, _ = _orthonormal(operator, operator.normal(rng), known, basis, rng)
    return fresh, overlaps, 0.0
