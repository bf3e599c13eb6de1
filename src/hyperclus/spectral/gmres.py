"""One cycle of GMRES (Saad and Schultz, 1986), wherever the vectors lie."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hyperclus.engines.base import ArrayBackend
from hyperclus.typing import Floats

AGAIN = 0.05  # of its square: a vector that loses more is made orthogonal a second time
NOTHING = 1e-14  # of its length: a vector of which no more is left lies in the space


def gmres_cycle(
    backend: ArrayBackend,
    apply: Callable[[Floats], Floats],
    wanted: Floats,
    goal: float,
    most: int,
    tell: Callable[[float], None],
    begun: dict[str, Any] | None = None,
    keep: Callable[[Callable[[], dict[str, Any]]], None] = lambda state: None,
) -> tuple[Floats, int]:
    """The x of least ||b - (I - S) x|| in a Krylov space that grows until this is below the goal.

    Also the products with S that were spent. The space is grown with S itself, of whose images more is new.
    `tell` is called with the norm of the residual after each product, `keep` before it with what gives the
    state, which another call takes up as `begun`.
    """
    basis = backend.empty_columns(wanted, most + 1)
    reduced, target, first = np.zeros((most + 1, most)), np.zeros(most + 1), 0
    if begun is None:
        target[0] = float(np.linalg.norm(wanted))
        basis[:, 0] = wanted / target[0]
    else:
        reduced, target[0], first = begun["reduced"], begun["length"], begun["first"]
        for column in range(first + 1):
            basis[:, column] = begun.pop(f"basis {column}")  # one after the other, to free it

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
        tell(residual)
        if residual <= goal or left <= NOTHING * before or filled == most:
            break
        basis[:, filled] = image / left
    return basis[:, :filled] @ backend.put(small, basis.dtype), filled


def orthogonal(backend: ArrayBackend, image: Floats, basis: Floats) -> tuple[Floats, Floats, float, float]:
    """The part of a vector orthogonal to a basis, its overlaps with that; its length, and that of the vector.

    What is left is as long as Pythagoras says, unless that is little: then it is made orthogonal once more.
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
