"""One cycle of GMRES (Saad and Schultz, 1986) on the vectors of any backend."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hyperclus.engines.base import ArrayBackend
from hyperclus.typing import Floats

AGAIN = 0.05  # re-orthogonalise if less than this fraction of the squared norm is left
BREAKDOWN = 1e-14  # fraction of the norm treated as zero: the space is invariant


def gmres_cycle(
    backend: ArrayBackend,
    apply: Callable[[Floats], Floats],
    wanted: Floats,
    goal: float,
    most: int,
    report: Callable[[float], None],
    begun: dict[str, Any] | None = None,
    keep: Callable[[Callable[[], dict[str, Any]]], None] = lambda state: None,
) -> tuple[Floats, int]:
    """Minimise ||b - (I - S) x|| over a Krylov space that grows until the residual is below the goal.

    Returns x and the number of products with S. The space is grown with S itself, whose images contain more
    that is new. `report` is called with the norm of the residual after each product, `keep` before it with a
    function that returns the state; another call resumes from it if it is passed as `begun`.
    """
    basis = backend.empty_columns(wanted, most + 1)
    reduced, target, first = np.zeros((most + 1, most)), np.zeros(most + 1), 0
    if begun is None:
        target[0] = float(np.linalg.norm(wanted))
        basis[:, 0] = wanted / target[0]
    else:
        reduced, target[0], first = begun["reduced"], begun["length"], begun["first"]
        for column in range(first + 1):
            basis[:, column] = begun.pop(f"basis {column}")  # one at a time frees memory

    def state() -> dict[str, Any]:
        columns = {f"basis {number}": basis[:, number] for number in range(column + 1)}
        return {"reduced": reduced, "length": float(target[0]), "first": column, **columns}

    for column in range(first, most):
        keep(state)
        filled = column + 1
        image = backend.persist(apply(basis[:, column]))
        image, overlaps, left, before = orthogonal(backend, image, basis[:, :filled])
        reduced[:filled, column] = -overlaps
        reduced[column, column] += 1.0
        reduced[filled, column] = -left
        small, *_ = np.linalg.lstsq(reduced[: filled + 1, :filled], target[: filled + 1])
        residual = float(np.linalg.norm(target[: filled + 1] - reduced[: filled + 1, :filled] @ small))
        report(residual)
        if residual <= goal or left <= BREAKDOWN * before or filled == most:
            break
        basis[:, filled] = image / left
    return basis[:, :filled] @ backend.put(small, basis.dtype), filled


def orthogonal(backend: ArrayBackend, image: Floats, basis: Floats) -> tuple[Floats, Floats, float, float]:
    """The part of a vector orthogonal to a basis, the overlaps, the norm of that part and of the vector.

    Pythagoras' theorem gives the norm of the part left, unless it is small; then the pass is repeated.
    """
    overlaps, length = np.zeros(basis.shape[1]), 0.0
    for _ in range(2):
        inside, square = backend.fetch(basis.T @ image, image @ image)
        image = image - backend.put(inside, image.dtype) @ basis.T
        length, overlaps = length or float(square), overlaps + inside
        left = float(square) - float(inside @ inside)
        if left > AGAIN * float(square):
            return image, overlaps, np.sqrt(left), np.sqrt(length)
        backend.persist(image)
    return image, overlaps, float(np.linalg.norm(image)), np.sqrt(length)
