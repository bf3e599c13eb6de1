"""A floor under the eigenvalues that a solver did not return."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint
from hyperclus._runtime.content_digest import content_digest
from hyperclus.spectral.eigen.orthogonal import orthonormal_block, orthonormal_vector
from hyperclus.spectral.laplacian import Operator
from hyperclus.typing import Floats

FAILURE = 1e-6  # probability that a floor is too high
CHECK_EVERY = 2  # steps between two tests of the floor
BREAKDOWN = 1e-12  # norm treated as zero
BISECTIONS = 60


class Floor(NamedTuple):
    """The smallest eigenvalue beyond some vectors is at least `value`, and at most `ritz`."""

    value: float
    ritz: float
    steps: int


def floor_beyond(
    operator: Operator,
    vectors: Floats,
    goal: float,
    hopeless: float,
    rng: np.random.Generator,
    max_products: int,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    report: Callable[[int], None] = lambda _: None,
    in_blocks: bool = False,
) -> Floor:
    """A lower bound of the smallest eigenvalue on the orthogonal complement of some orthonormal vectors.

    Let u be a unit eigenvector of that eigenvalue lambda, and v_0 a random unit vector in the complement,
    which has d dimensions. Lanczos' vectors are v_j = p_j(L) v_0 for polynomials p_j, so
    <u, v_j> = p_j(lambda) <u, v_0>, which is at most 1. But |<u, v_0>| is at least
    tau = FAILURE sqrt(pi / 2d) with probability 1 - FAILURE. So lambda is not where |p_j| > 1 / tau for some
    j. Below the smallest Ritz value all |p_j| fall monotonically, and the bound is where the largest of them
    reaches 1 / tau.

    No vectors but the last two are stored: where they are no longer orthogonal to earlier ones, the products
    above still do not exceed 1. Rounding changes <u, v_j> by 1e-16 in a step, far below tau.

    The iteration ends when the floor reaches the goal, when the smallest Ritz value, which is an upper bound
    of lambda, is below `hopeless`, or after `max_products`.
    """
    if (done := checkpoint.result()) is not None:
        return Floor(**done)
    rng = np.random.default_rng(int.from_bytes(content_digest(rng)))  # leaves the given one as it was
    dimensions = operator.size - vectors.shape[1]
    needed = -float(np.log(FAILURE * np.sqrt(np.pi / 2 / dimensions)))
    if (state := checkpoint.state()) is not None:
        before, now, diagonal, beyond = state["before"], state["now"], state["diagonal"], state["beyond"]
    else:
        before = now = orthonormal_vector(operator, rng, operator.normal(rng), vectors, vectors[:, :1])[0]
        diagonal, beyond = [], []
    while len(diagonal) < min(max_products, dimensions):
        if checkpoint.due:
            checkpoint.keep(before=before, now=now, diagonal=diagonal, beyond=beyond)
        image, basis = operator.apply(now), np.column_stack([before, now][not diagonal :])
        if in_blocks:  # fetches once
            block, overlaps, factor = orthonormal_block(
                operator.backend, np.column_stack([image]), vectors, basis
            )
            following, along, length = block[:, 0], overlaps[-1, 0], abs(float(factor[0, 0]))
        else:
            following, overlaps, length = orthonormal_vector(operator, rng, image, vectors, basis)
            along = overlaps[-1]
        diagonal.append(float(along))
        beyond.append(max(length, BREAKDOWN))
        report(len(diagonal))
        if length == 0.0:
            break
        before, now = now, following
        if len(diagonal) % CHECK_EVERY == 0 and (
            _growth(diagonal, beyond, goal) > needed or _smallest_ritz(diagonal, beyond) < hopeless
        ):
            break
    ritz = _smallest_ritz(diagonal, beyond)
    found = Floor(_floor(diagonal, beyond, ritz, needed), ritz, len(diagonal))
    checkpoint.finish(**found._asdict())
    return found


def _smallest_ritz(diagonal: list[float], beyond: list[float]) -> float:
    from scipy.linalg import eigvalsh_tridiagonal

    return float(eigvalsh_tridiagonal(diagonal, beyond[:-1], select="i", select_range=(0, 0))[0])


def _growth(diagonal: list[float], beyond: list[float], value: float) -> float:
    """The largest log |p_j(value)| of the polynomials of the iteration, by their recurrence."""
    before, now, scale, largest, coupling = 0.0, 1.0, 0.0, 0.0, 0.0
    for alpha, beta in zip(diagonal, beyond, strict=True):
        before, now = now, ((value - alpha) * now - coupling * before) / beta
        coupling = beta
        if (size := max(abs(now), abs(before))) > 1e100:
            before, now, scale = before / size, now / size, scale + float(np.log(size))
        if now != 0:
            largest = max(largest, scale + float(np.log(abs(now))))
    return largest


def _floor(diagonal: list[float], beyond: list[float], ritz: float, needed: float) -> float:
    """The largest value found by bisection below which all polynomials together reach the growth needed."""
    step = 4 * (max(map(abs, diagonal)) + max(beyond))
    low, high = ritz - step, ritz
    if _growth(diagonal, beyond, low) <= needed:
        return -np.inf
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _growth(diagonal, beyond, middle) > needed else (low, middle)
    return low
