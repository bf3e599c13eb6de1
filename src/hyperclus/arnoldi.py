"""One cycle of GMRES (Saad and Schultz, 1986), wherever the vectors lie."""

from collections.abc import Callable

import numpy as np

from hyperclus.arrays import empty_columns, like, on_host
from hyperclus.types import Floats

AGAIN = 0.5  # of its length: a vector that loses more is made orthogonal a second time
NOTHING = 1e-14  # of its length: a vector of which no more is left lies in the space


def gmres_cycle(
    apply: Callable[[Floats], Floats], wanted: Floats, goal: float, most: int, tell: Callable[[float], None]
) -> tuple[Floats, int]:
    """The x of least ||b - A x|| in a Krylov space that grows until this is below the goal; products spent.

    `tell` is called with the norm of the residual after each product.
    """
    basis = empty_columns(wanted, most + 1)
    reduced = np.zeros((most + 1, most))
    length = float(np.linalg.norm(wanted))
    basis[:, 0] = wanted / length
    target = np.zeros(most + 1)
    target[0] = length
    for column in range(most):
        filled = column + 1
        image = apply(basis[:, column])
        before = float(np.linalg.norm(image))
        for _ in range(2):
            overlaps = basis[:, :filled].T @ image
            image = image - overlaps @ basis[:, :filled].T
            reduced[:filled, column] += on_host(overlaps)
            left = float(np.linalg.norm(image))
            if left > AGAIN * before:
                break
        reduced[filled, column] = left
        small, *_ = np.linalg.lstsq(reduced[: filled + 1, :filled], target[: filled + 1])
        residual = float(np.linalg.norm(target[: filled + 1] - reduced[: filled + 1, :filled] @ small))
        tell(residual)
        if residual <= goal or left <= NOTHING * before or filled == most:
            break
        basis[:, filled] = image / left
    return basis[:, :filled] @ like(small, basis), filled
