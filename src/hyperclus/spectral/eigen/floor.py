"""A floor under the eigenvalues that a solver did not return."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hyperclus._runtime.checkpoint import LARGEST, NO_CHECKPOINT, Checkpoint, is_array, is_count, is_figure
from hyperclus._runtime.content_digest import content_digest
from hyperclus._runtime.threads import scipy_linalg
from hyperclus.spectral.laplacian import Operator
from hyperclus.typing import Floats

FAILURE = 1e-6  # probability that a floor is too high
LEAST_LEFT = 1e-10  # squared norm, relative to the image's, below which the space is invariant
BREAKDOWN = 1e-12  # the least norm of what is left then
OFTEN = 30  # steps up to which the floor is tested in each; later it is tested less often
BISECTIONS = 60
FEW = 100  # steps up to which a dense solver, which NumPy has, is about as fast as SciPy's tridiagonal one


class Stretch(NamedTuple):
    """Lanczos' coefficients between two restarts: the diagonal of T, and the norm beyond each column.

    The first columns of a stretch may be Ritz vectors that a restart `kept`; their norms join them with the
    column after the last of them.
    """

    diagonal: Sequence[float]
    beyond: Sequence[float]
    kept: int = 0


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
) -> Floor:
    """A lower bound of the smallest eigenvalue on the orthogonal complement of some orthonormal vectors.

    Let u be a unit eigenvector of that eigenvalue lambda, and v_0 a random unit vector in the complement,
    which has d dimensions. Lanczos' vectors are v_j = p_j(L) v_0 for polynomials p_j, so
    <u, v_j> = p_j(lambda) <u, v_0>, which is at most 1. But |<u, v_0>| is at least
    tau = FAILURE sqrt(pi / 2d) with probability 1 - FAILURE. So lambda is not where |p_j| > 1 / tau for some
    j. Below the smallest Ritz value all |p_j| fall monotonically, and the bound is where the largest of them
    reaches 1 / tau.

    No vectors but the last two are stored: where they are no longer orthogonal to earlier ones, the products
    above still do not exceed 1. Rounding changes <u, v_j> by 1e-16 in a step, far below tau. A step fetches
    once: the next vector is scaled by the norm that Pythagoras' theorem gives, and the scale is corrected by
    the norm measured in the step after.

    The iteration ends when the floor reaches the goal, when the smallest Ritz value, which is an upper bound
    of lambda, is below `hopeless`, or after `max_products`.
    """
    if (done := checkpoint.result(_fits_floor)) is not None:
        return Floor(**done)
    fits = partial(_fits_state, operator.size, vectors.shape[1])
    state = checkpoint.state(fits) or _start(operator, vectors, rng)
    before, now, at_before = state["before"], state["now"], state["at_before"]
    diagonal, beyond = state["diagonal"], state["beyond"]
    dimensions = operator.size - vectors.shape[1]
    while len(diagonal) < min(max_products, dimensions):
        if checkpoint.due:
            kept = {"before": before, "now": now, "at_before": at_before}
            checkpoint.keep(**kept, diagonal=diagonal, beyond=beyond)
        image = operator.backend.persist(operator.apply(now))
        small = now @ image, now @ now, image @ image, vectors.T @ now, vectors.T @ image
        along, size, square, at_now, at_image = operator.backend.fetch(*small)
        alpha, norm = float(along / size), float(np.sqrt(size))
        if diagonal:
            beyond[-1] *= norm
        coupling = beyond[-1] if diagonal else 0.0
        at_now, at_image, square = at_now / norm, at_image / norm, float(square / size)
        left = square - alpha**2 - coupling**2 - float(at_image @ at_image)
        inside = at_image - alpha * at_now - coupling * at_before
        now = now / norm
        following = image / norm - now * alpha - before * coupling
        following -= vectors @ operator.backend.put(inside, following.dtype)
        invariant = left <= LEAST_LEFT * max(square, 1.0)
        length = max(float(np.linalg.norm(following)), BREAKDOWN) if invariant else float(np.sqrt(left))
        before, now, at_before = now, operator.backend.persist(following / length), at_now
        diagonal.append(alpha)
        beyond.append(length)
        report(len(diagonal))
        if invariant:
            break
        if len(diagonal) % (1 + len(diagonal) // OFTEN) == 0 and (
            excludes([Stretch(diagonal, beyond)], goal, dimensions)
            or _smallest_ritz(diagonal, beyond) < hopeless
        ):
            break
    ritz = _smallest_ritz(diagonal, beyond)
    found = Floor(highest_floor([Stretch(diagonal, beyond)], ritz, dimensions), ritz, len(diagonal))
    checkpoint.finish(**found._asdict())
    return found


def _fits_floor(found: dict[str, Any]) -> bool:
    """Whether stored values can be those of a `Floor`."""
    return is_figure(found["value"]) and is_figure(found["ritz"]) and is_count(found["steps"])


def _fits_state(size: int, known: int, state: dict[str, Any]) -> bool:
    """Whether stored values can be the state of `floor_beyond`."""
    diagonal, beyond = state["diagonal"], state["beyond"]
    sound = is_array(state["before"], size) and is_array(state["now"], size)
    sound &= is_array(state["at_before"], known) and len(diagonal) == len(beyond) and len(state) == 5
    return sound and all(is_figure(one, -LARGEST, LARGEST) for one in (*diagonal, *beyond))


def _start(operator: Operator, vectors: Floats, rng: np.random.Generator) -> dict[str, Any]:
    """A random vector of about unit length in the complement of the vectors; `rng` is left as it was."""
    start = operator.normal(np.random.default_rng(int.from_bytes(content_digest(rng))))
    (along, size) = operator.backend.fetch(vectors.T @ start, start @ start)
    start = (start - vectors @ operator.backend.put(along, start.dtype)) / float(np.sqrt(size))
    at_before = np.zeros(vectors.shape[1])
    return {"before": start, "now": start, "at_before": at_before, "diagonal": [], "beyond": []}


def excludes(stretches: Sequence[Stretch], value: float, dimensions: int) -> bool:
    """Whether Lanczos' coefficients, from a random vector, exclude all eigenvalues up to a value.

    The value is below the smallest Ritz value, and `dimensions` are those of the space that the vector is
    from.
    """
    return _growth(stretches, value) > -float(np.log(FAILURE * np.sqrt(np.pi / 2 / dimensions)))


def highest_floor(stretches: Sequence[Stretch], ritz: float, dimensions: int) -> float:
    """The largest value up to which Lanczos' coefficients exclude all eigenvalues, as `excludes` says.

    It is below `ritz`, the smallest Ritz value; -inf if none is found.
    """
    step = 4 * max(max(map(abs, some.diagonal)) + max(some.beyond) for some in stretches)
    low, high = ritz - step, ritz
    if not excludes(stretches, low, dimensions):
        return -np.inf
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if excludes(stretches, middle, dimensions) else (low, middle)
    return low


def _smallest_ritz(diagonal: Sequence[float], beyond: Sequence[float]) -> float:
    if len(diagonal) <= FEW:
        return float(np.linalg.eigvalsh(np.diag(diagonal) + np.diag(beyond[:-1], -1))[0])
    of = scipy_linalg().eigvalsh_tridiagonal
    return float(of(diagonal, beyond[:-1], select="i", select_range=(0, 0))[0])


def _growth(stretches: Sequence[Stretch], value: float) -> float:
    """The largest log |p_j(value)| of the polynomials of the iteration, by their recurrence.

    A Ritz vector x that was kept has L x = theta x + sigma v with the column v after those kept, so that
    <u, x> = sigma <u, v> / (lambda - theta): the recurrence goes on from v, with what such columns add.
    """
    now, scale, largest = 1.0, 0.0, 0.0
    for diagonal, beyond, kept in stretches:
        if kept and value >= min(diagonal[:kept]):
            return -np.inf
        pull = sum(beyond[i] ** 2 / (value - diagonal[i]) for i in range(kept))
        before, coupling = 0.0, 0.0
        for alpha, beta in zip(diagonal[kept:], beyond[kept:], strict=True):
            before, now = now, ((value - alpha - pull) * now - coupling * before) / beta
            coupling, pull = beta, 0.0
            if (size := max(abs(now), abs(before))) > 1e100:
                before, now, scale = before / size, now / size, scale + float(np.log(size))
            if now != 0:
                largest = max(largest, scale + float(np.log(abs(now))))
    return largest
