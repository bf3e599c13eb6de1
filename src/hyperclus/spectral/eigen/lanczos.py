"""Thick-restart Lanczos on the matrix-free operator (Wu and Simon, 2000).

Why not ARPACK: it does not report the residual reached when it gives up, checks convergence only at restarts,
and needs NumPy arrays.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint, is_array, is_count, is_figure
from hyperclus._runtime.progress import ResidualProgress, unwatched
from hyperclus.engines.base import ArrayBackend
from hyperclus.errors import ConvergenceError
from hyperclus.spectral.eigen.filtered import DEGREE, Filter
from hyperclus.spectral.eigen.floor import Stretch, excludes, floor_beyond, highest_floor
from hyperclus.spectral.eigen.orthogonal import (
    BREAKDOWN,
    CANCELLED,
    LIMIT,
    ROUNDING,
    Overlaps,
    in_orthonormal,
    orthonormal_block,
    orthonormal_vector,
)
from hyperclus.spectral.laplacian import Operator
from hyperclus.typing import Floats

MAX_PRODUCTS = 5000
EXTRA_BASIS = 30  # basis vectors beyond the wanted ones; for many, half as many, because restarts cost time
EXTRA_BLOCKS = 10  # the same in blocks; with more, few products are saved
CHECK_EVERY = 2  # steps between two checks of the Ritz residuals, and
CHECKS_EACH = 8  # for more eigenvectors, one for this many of them
CLEARLY_ABOVE = 1e-3  # distance from the eigenvalues found at which a rough value beyond them is accepted
SLACK = 1e-5  # relative loss of a bound at which the search for a single eigenvalue has proven it by itself
ALONE_FROM = 30_000  # vertices; below, a second iteration costs little, and the bound loses nothing
ALONE_MORE = 50  # steps without a proof after it has converged; then a second iteration must prove it
LARGE = 3_000_000  # vertices above which a basis takes gigabytes; there, from a residual of
NEARLY = 1e-4  # this on, when little more than the proof is left, restarts keep the basis at
PROOF_BASIS = 18  # so many vectors
QUADRATURE = 40  # products that estimate how many eigenvalues are below each value, for a filter
MIN_CHECK = 40  # products for the check that no eigenvalue was missed; half those of the search if more


@dataclass(frozen=True, slots=True)
class Lanczos:
    """Options of `lanczos_vectors`."""

    max_products: int = MAX_PRODUCTS  # after which the search gives up, at the next restart
    spare: int = 0  # up to this many Ritz vectors are returned in addition, as the search left them
    width: int | None = None  # vectors in the block that a product takes; None for one vector
    rough: bool = False  # take what the first basis has, whatever its residuals
    lazy: bool = (
        False  # make vectors orthogonal only as far as needed; of operators that err by rounding alone
    )
    extra: int | None = None  # basis vectors beyond the wanted ones, without blocks; by default EXTRA_BASIS
    filtered: bool = False  # search on a `Filter` of the operator; without blocks

    def sizes(self, count: int, dimensions: int) -> tuple[int, int]:
        """The columns of a full basis and those that a restart retains; whole blocks, or all dimensions."""
        if self.width is None:
            capacity = min(count + (self.extra or max(EXTRA_BASIS, count // 2)), dimensions)
            return capacity, count + (capacity - count) // 2
        wanted = -(-count // self.width)
        capacity = (wanted + EXTRA_BLOCKS) * self.width
        retained = (wanted + EXTRA_BLOCKS // 2) * self.width
        return (capacity, retained) if capacity + self.width <= dimensions else (dimensions, dimensions)


class Vectors(NamedTuple):
    """Eigenvectors and spare ones, the products spent, and a floor under all eigenvalues beyond."""

    vectors: Floats
    steps: int
    floor: float


class _Found(NamedTuple):
    """Eigenvectors and spare Ritz vectors; eigenvalues; products spent; a floor under the eigenvalues."""

    vectors: Floats
    values: Floats
    steps: int
    floor: float = -np.inf


def lanczos_vectors(
    operator: Operator,
    known: Floats,
    count: int,
    tolerance: float,
    rng: np.random.Generator,
    options: Lanczos = Lanczos(),  # noqa: B008  frozen
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Vectors:
    """`count` eigenvectors beyond the known ones, then spare ones.

    A Krylov space grown from w vectors holds w vectors of each eigenspace, so it may miss copies of an
    eigenvalue that is repeated more often, and eigenvalues closer together than the tolerance. So the vectors
    found are deflated and `floor_beyond` looks for smaller eigenvalues from a new random vector. Unless it
    finds that the next one is clearly above, that one is computed; if it is below the largest found, by more
    than the tolerance, it replaces it, and the check is repeated. (In single precision that is left to the
    caller.) A single eigenvalue of a large operator needs no second vector: whatever its multiplicity, a few
    more steps of the same search exclude any below it.

    Residuals are held below tolerance max(1, |lambda| / 2): absolute for L_sym, relative for an
    operator with larger eigenvalues.

    Raises
    ------
    ConvergenceError
        With the residual reached.
    """
    if count > (options.width or 1):
        tolerance /= 2  # deflated vectors are not exact, and vectors found after them no closer
    progress = ResidualProgress("eigenvectors", tolerance, high=0.8)
    first = _search(operator, known, count, rng, options, progress, checkpoint.part("first"))
    vectors, values, steps = first.vectors[:, :count], first.values, first.steps
    everything = first.vectors  # copies take as much memory as all eigenvectors
    some_left = known.shape[1] + count < operator.size
    rounds, max_check, floor = 0, max(MIN_CHECK, steps // 2), first.floor if some_left else np.inf
    unproven = floor == -np.inf and vectors.dtype == np.float64
    while unproven:
        found, rounds = np.hstack([known, vectors]), rounds + 1
        accepted = float(values[-1] - _allowed(values[-1], tolerance))
        part, progress = checkpoint.part("check", rounds), progress.then(tolerance)
        given = found, float(values[-1]), accepted, rng, max_check
        check = floor_beyond(operator, *given, part, progress.report)
        steps, floor = steps + check.steps, check.value
        if check.value >= accepted or check.ritz >= accepted + _allowed(values[-1], CLEARLY_ABOVE):
            break
        progress = progress.then(tolerance)
        part = checkpoint.part("missed", rounds)
        single = replace(options, spare=0, filtered=False)
        missed = _search(operator, found, 1, rng, single, progress, part)
        steps += missed.steps
        if missed.values[0] >= accepted:
            break
        order = np.argsort([*values, missed.values[0]], kind="stable")[:count]
        values = np.append(values, missed.values)[order]
        vectors = np.hstack([vectors, missed.vectors])[:, order.tolist()]
        everything = np.hstack([vectors, first.vectors[:, count:]])
    return Vectors(everything, steps, float(floor))


def _search(
    operator: Operator,
    known: Floats,
    count: int,
    rng: np.random.Generator,
    options: Lanczos,
    progress: ResidualProgress,
    checkpoint: Checkpoint,
) -> _Found:
    """The vectors of one search, unchecked, and the eigenvalues of the operator, also if it was filtered."""
    if not options.filtered:
        return _Space(operator, rng, options, known, count).search(progress, checkpoint, options.spare)
    limits = checkpoint.part("filter")
    if (kept := limits.result(_fits_limits)) is None:
        space = _Space(operator, rng, Lanczos(lazy=True, extra=QUADRATURE), known, 0)
        filtered = Filter.of(operator, count, *space.fill())
        kept = limits.finish(low=filtered.low, high=filtered.high)
    filtered = Filter(operator, **kept)
    options = replace(options, max_products=options.max_products // DEGREE, filtered=False)
    found = _search(filtered, known, count, rng, options, progress, checkpoint)
    steps = DEGREE * found.steps + QUADRATURE
    return _Found(found.vectors, filtered.eigenvalues(found.values), steps)


def _fits_limits(kept: dict[str, Any]) -> bool:
    """Whether stored values can be the limits of a filter."""
    return (
        len(kept) == 2 and is_figure(kept["low"]) and is_figure(kept["high"]) and kept["low"] < kept["high"]
    )


def rough_vectors(
    operator: Operator, known: Floats, count: int, tolerance: float, rng: np.random.Generator
) -> Vectors:
    """Ritz vectors of `count` small eigenvalues beyond the known ones; few products, whatever they reach."""
    space = _Space(operator, rng, Lanczos(rough=True), known, count)
    with unwatched():
        found = space.search(ResidualProgress("eigenvectors", tolerance), NO_CHECKPOINT)
    return Vectors(found.vectors, found.steps, -np.inf)


def krylov_vectors(
    operator: Operator, count: int, tolerance: float, rng: np.random.Generator, rough: bool = False
) -> Floats:
    """Ritz vectors of the `count` smallest eigenvalues in the space of one random vector, unchecked.

    Of a repeated eigenvalue there is one vector, which mixes all of them. If they need not be closer than the
    first basis gives them, the tolerance does not matter; otherwise raises as `lanczos_vectors`.
    """
    nothing = operator.backend.empty_columns(operator.normal(rng), 0)
    options = Lanczos(rough=rough, extra=EXTRA_BASIS // 2 if rough else None)
    space = _Space(operator, rng, options, nothing, min(count, operator.size))
    with unwatched():
        return space.search(ResidualProgress("search", tolerance), NO_CHECKPOINT).vectors


@dataclass(slots=True, eq=False)
class _Space:
    """A Krylov space: L V = V T + Q R E', where [V Q] is orthonormal, T = V'LV, and E' takes the last block.

    It is orthogonal to the known vectors. The Ritz pair (theta, V s) of an eigenpair (theta, s) of T has the
    residual |R E's|. The columns of V and Q so far and T are all that the next step depends on.
    """

    operator: Operator
    rng: np.random.Generator
    options: Lanczos
    known: Floats
    count: int  # of eigenvectors that are searched
    basis: Any = None
    projected: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    first: int = 0  # column from which the basis grows
    since: int = 0  # first column after the last restart
    steps: int = 0
    converged: int = 0  # steps after which a single eigenvector had converged
    stretches: list[Stretch] = field(default_factory=list)  # between the restarts so far, if they can prove
    overlaps: Overlaps = field(init=False)  # estimated; without blocks

    backend: ArrayBackend = field(init=False)
    width: int = field(init=False)  # columns that a step adds
    dimensions: int = field(init=False)  # of the space orthogonal to the known vectors
    capacity: int = field(init=False)
    retained: int = field(init=False)

    def __post_init__(self) -> None:
        self.backend, self.width = self.operator.backend, self.options.width or 1
        self.dimensions = int(self.operator.size - self.known.shape[1])
        self.capacity, self.retained = self.options.sizes(self.count, self.dimensions)
        self.overlaps = Overlaps.none(self.capacity)

    def search(self, progress: ResidualProgress, checkpoint: Checkpoint, spare: int = 0) -> _Found:
        """Find the eigenvectors; the goal of the progress is the tolerance."""
        if (done := checkpoint.result(partial(self._fits_found, spare))) is not None:
            progress.done = done["steps"]
            return _Found(**done)
        if (state := checkpoint.state(self._fits_state)) is not None:
            progress.first, progress.lowest = state.pop("residuals")
        self._begin(state)
        while True:
            for column in range(self.first, self.capacity, self.width):
                if checkpoint.due:
                    checkpoint.keep(**self._state(column), residuals=(progress.first, progress.lowest))
                filled, beyond = self._extend(column)
                skipped = (
                    self.options.width is None and self.steps % self.check_every and filled < self.capacity
                )
                if filled < self.count or skipped:
                    progress.report(self.steps)
                    continue
                values, rotation = np.linalg.eigh(self.projected[:filled, :filled])
                residuals = np.linalg.norm(beyond @ rotation[column:], axis=0)
                progress.report(self.steps, float((residuals / _allowed(values, 1.0))[: self.count].max()))
                converged = (residuals <= _allowed(values, progress.goal))[: self.count].all()
                floor = self._floor(float(values[0]), filled, float(beyond[-1, -1])) if converged else -np.inf
                self.converged = self.converged or (self.steps if converged else 0)
                hard = self.steps >= self.converged + ALONE_MORE
                proven = floor > -np.inf or hard or not self.can_prove
                enough = filled == (self.capacity if self.options.rough else self.dimensions)
                if (converged and proven) or enough:
                    small = self._coefficients(rotation[:, : self.count + spare])
                    found = _Found(self.basis[:, :filled] @ small, values[: self.count], self.steps, floor)
                    checkpoint.finish(**found._asdict())
                    return found
                if filled >= self.ends_from and residuals[0] <= NEARLY:
                    break
            if self.steps >= self.options.max_products:
                break
            self._restart(filled, values, rotation, float(beyond[-1, -1]))
        worst = float(residuals[: self.count].max())
        raise ConvergenceError(
            f"the eigenvectors reached residual {worst:.1e} after {self.steps} products, "
            f"not {progress.goal:.1e}; raise the tolerance",
            worst,
        )

    def fill(self) -> tuple[Floats, float]:
        """T of a full basis, and the norm of what is beyond it."""
        self._begin(None)
        for column in range(0, self.capacity, self.width):
            _, beyond = self._extend(column)
        return self.projected, float(np.linalg.norm(beyond))

    @property
    def check_every(self) -> int:
        """Steps between two checks, each of which costs as much as the cube of the number of vectors."""
        return max(CHECK_EVERY, self.count // CHECKS_EACH)

    @property
    def can_prove(self) -> bool:
        """Whether the space is that of one random vector, a single eigenvalue is wanted, and n is large."""
        plain = self.options.width is None and self.basis.dtype == np.float64
        return plain and self.count == 1 and self.operator.size >= ALONE_FROM

    @property
    def ends_from(self) -> int:
        """The columns from which a search that has nearly converged restarts, instead of going on."""
        return PROOF_BASIS if self.can_prove and self.operator.size > LARGE else self.capacity

    def _floor(self, value: float, filled: int, length: float) -> float:
        """A floor just below the smallest eigenvalue if the steps so far prove it, else -inf."""
        if not self.can_prove:
            return -np.inf
        goal, stretches = value - SLACK * abs(value), [*self.stretches, self._stretch(filled, length)]
        if min(min(some.beyond[some.kept :]) for some in stretches) <= BREAKDOWN[8]:
            return -np.inf  # the space was invariant and another random vector joined
        proven = excludes(stretches, goal, self.dimensions)
        return highest_floor(stretches, value, self.dimensions) if proven else -np.inf

    def _stretch(self, filled: int, length: float) -> Stretch:
        """The coefficients since the latest restart, given the norm of what is beyond the last column."""
        along, kept = self.projected[:filled, :filled], self.since
        norms = np.concatenate([along[kept, :kept], np.diag(along, -1)[kept:], [length]])
        return Stretch(np.diag(along).tolist(), norms.tolist(), kept)

    def _fits_found(self, spare: int, found: dict[str, Any]) -> bool:
        """Whether stored values can be those of `_Found`."""
        sound = is_array(found["vectors"], self.operator.size, None) and is_array(found["values"], self.count)
        sound &= self.count <= found["vectors"].shape[1] <= self.count + spare
        return sound and is_count(found["steps"]) and is_figure(found["floor"]) and len(found) == 4

    def _fits_state(self, state: dict[str, Any]) -> bool:
        """Whether stored values can be those of `_state`, and the residuals."""
        sound = is_array(state["projected"], self.capacity, self.capacity)
        sound &= all(is_count(state[name]) for name in ("first", "since", "steps", "again"))
        sound &= state["first"] < self.capacity and state["since"] <= self.capacity
        sound &= len(state["residuals"]) == 2 and all(is_figure(one, 0.0) for one in state["residuals"])
        filled = min(state["first"] + self.width, self.dimensions)
        columns = [state[f"basis {number}"] for number in range(filled)]
        sound &= all(is_array(column, self.operator.size) for column in columns)
        sound &= is_array(state["overlaps"], 2, self.capacity + 1)
        sound &= is_count(state["converged"]) and is_array(state["stretches"], None, 2, self.capacity + 1)
        return bool(sound and len(state) == 9 + filled)

    def _begin(self, state: dict[str, Any] | None) -> None:
        """Start from random vectors, or from the state of an interrupted search."""
        start = self._random(min(self.width, self.dimensions)) if state is None else state["basis 0"]
        self.basis = self.backend.empty_columns(start, self.capacity + self.width)
        if state is None:
            self.projected = np.zeros((self.capacity, self.capacity))
            self.basis[:, self._block(0)] = self._next(start, self.basis[:, :0], 0, self.dimensions)[0]
            return
        for name in ("projected", "first", "since", "steps", "converged"):
            setattr(self, name, state[name])
        before, now = state["overlaps"]
        self.overlaps = Overlaps(before, now, bool(state["again"]))
        for (kept, *diagonal), (filled, *norms) in state["stretches"].tolist():
            self.stretches.append(Stretch(diagonal[: int(filled)], norms[: int(filled)], int(kept)))
        for column in range(min(self.first + self.width, self.dimensions)):
            self.basis[:, column] = state.pop(f"basis {column}")  # one at a time frees memory

    def _state(self, column: int) -> dict[str, Any]:
        """What `_begin` needs before the step from a column."""
        filled = min(column + self.width, self.dimensions)
        columns = {f"basis {number}": self.basis[:, number] for number in range(filled)}
        now = {"projected": self.projected, "first": column, "since": self.since, "steps": self.steps}
        now["overlaps"] = np.array([self.overlaps.before, self.overlaps.now])
        now["converged"], now["stretches"] = self.converged, self._packed()
        return {**now, "again": int(self.overlaps.again), **columns}

    def _packed(self) -> Floats:
        """The stretches as one array: the columns kept and the diagonal; the length and the norms."""
        packed = np.zeros((len(self.stretches), 2, self.capacity + 1))
        for rows, (diagonal, beyond, kept) in zip(packed, self.stretches, strict=True):
            rows[:, 0] = kept, len(diagonal)
            rows[:, 1 : len(diagonal) + 1] = diagonal, beyond
        return packed

    def _extend(self, column: int) -> tuple[int, Floats]:
        """Apply the operator to the block at a column and append the next block; columns filled, and R."""
        filled = min(column + self.width, self.dimensions)
        image = self.operator.apply(self.basis[:, self._block(column)])
        recent = 0 if column == self.since else column - self.width
        found, overlaps, beyond = self._next(image, self.basis[:, :filled], recent, self.dimensions - filled)
        self.basis[:, self._block(filled)] = found
        self.projected[:filled, column:filled] = overlaps
        self.projected[column:filled, :filled] = overlaps.T
        self.steps += 1
        return filled, beyond

    def _restart(self, filled: int, values: Floats, rotation: Floats, length: float) -> None:
        """Keep the retained Ritz vectors and the last block; rows are rotated in slices to save memory."""
        if self.can_prove:
            self.stretches.append(self._stretch(filled, length))
        retained = self.first = self.since = self.retained if filled == self.capacity else filled // 2
        rotation = self._coefficients(rotation[:, :retained])
        for rows in self.backend.row_slices(len(self.basis)):
            self.basis[rows, :retained] = self.basis[rows, : len(rotation)] @ rotation
        last = self.basis[:, filled : filled + self.width]
        self.basis[:, retained : retained + self.width] = last
        self.projected[:] = 0.0
        self.projected[range(retained), range(retained)] = values[:retained]

    def _coefficients(self, rotation: Floats) -> Any:
        """The columns of the basis that make up Ritz vectors, given those of an orthonormal basis."""
        if self.options.lazy and self.options.width is None:
            rotation = in_orthonormal(self.backend, self.basis[:, : len(rotation)], rotation)
        return self.backend.put(rotation, self.basis.dtype)

    def _block(self, column: int) -> int | slice:
        """The columns of the block that begins here; without blocks, the column."""
        if self.options.width is None:
            return column
        return slice(column, min(column + self.width, self.dimensions))

    def _next(self, image: Floats, basis: Floats, recent: int, room: int) -> tuple[Floats, Floats, Floats]:
        """The next block of the basis, of at most `room` columns; the image's overlaps with the basis; R.

        Random directions replace those that the image lacks because the space is invariant.
        """
        if self.options.width is None:
            given = self.operator, self.rng, image, self.known, basis, recent
            vector, along, length = orthonormal_vector(*given, self._is_orthogonal)
            return vector, along[:, None], np.array([[length]])
        block, overlaps, beyond = orthonormal_block(self.backend, image, self.known, basis)
        wanted = min(self.width, room)
        rank = min(int(np.count_nonzero(beyond.any(axis=1))), wanted)
        block = block[:, :rank]
        if rank < wanted:
            fresh, others = self._random(wanted - rank), np.hstack([self.known, block])
            block = np.hstack([block, orthonormal_block(self.backend, fresh, others, basis)[0]])
        return block, overlaps, beyond

    def _is_orthogonal(self, overlaps: Floats, length: float) -> bool:
        """Whether the next vector is orthogonal enough to all of the basis after the pass with the latest.

        It is not at the first step and after a restart, nor where the basis ends, so that a restart begins
        with vectors that are orthogonal up to rounding. The estimates go on to the next vector.
        """
        if not self.options.lazy:
            return False
        filled, item = len(overlaps), self.basis.dtype.itemsize
        rounding = ROUNDING * float(np.finfo(self.basis.dtype).eps)
        last, exact = filled - 1, np.full(self.capacity + 1, rounding)
        if not self.since < last < self.ends_from - 1 or self.overlaps.again:
            self.overlaps.step(exact)
            return False
        following = self.overlaps.following(self.projected, overlaps, length, rounding)
        enough = length > CANCELLED * float(np.linalg.norm(overlaps))
        enough = enough and float(np.abs(following[:filled]).max()) <= LIMIT[item]
        self.overlaps.step(following if enough else exact, again=not enough)
        return enough

    def _random(self, count: int) -> Floats:
        """A block of random vectors; without blocks, a vector."""
        if self.options.width is None:
            return self.operator.normal(self.rng)
        return np.column_stack([self.operator.normal(self.rng) for _ in range(count)])


def _allowed(values: Floats, tolerance: float) -> Floats:
    return tolerance * np.maximum(1.0, np.abs(values) / 2)
