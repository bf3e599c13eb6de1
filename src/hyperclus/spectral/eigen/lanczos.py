"""Thick-restart Lanczos on the matrix-free operator (Wu and Simon, 2000).

Why not ARPACK: it does not report the residual reached when it gives up, checks convergence only at restarts,
and needs NumPy arrays.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint
from hyperclus._runtime.progress import ResidualProgress
from hyperclus.engines.base import ArrayBackend
from hyperclus.errors import ConvergenceError
from hyperclus.spectral.laplacian import Operator
from hyperclus.typing import Floats

MAX_PRODUCTS = 5000
EXTRA_BASIS = 30  # basis vectors beyond the wanted ones
EXTRA_BLOCKS = 10  # the same in blocks; with more, few products are saved
CHECK_EVERY = 2  # steps between two checks of the Ritz residuals
PROBE = 1e-4  # residual to which missed eigenvalues are searched first,
CLEARLY_ABOVE = 1e-3  # and the distance from the ones found above which that is accurate enough
BREAKDOWN = {4: 1e-5, 8: 1e-12}  # norm treated as zero, by itemsize
TINY = np.finfo(np.float64).tiny
SOUND = 1e-3  # skip re-orthogonalisation if at least this fraction of the squared norm is left
NEARLY = 0.5  # smallest singular value of columns that count as orthonormal


@dataclass(frozen=True, slots=True)
class Lanczos:
    """Options of `lanczos_vectors`."""

    max_products: int = MAX_PRODUCTS  # after which the search gives up, at the next restart
    spare: int = 0  # up to this many Ritz vectors are returned in addition, as the search left them
    width: int | None = None  # vectors in the block that a product takes; None for one vector

    def sizes(self, count: int, dimensions: int) -> tuple[int, int]:
        """The columns of a full basis and those that a restart retains; whole blocks, or all dimensions."""
        if self.width is None:
            capacity = min(count + EXTRA_BASIS, dimensions)
            return capacity, count + (capacity - count) // 2
        wanted = -(-count // self.width)
        capacity = (wanted + EXTRA_BLOCKS) * self.width
        retained = (wanted + EXTRA_BLOCKS // 2) * self.width
        return (capacity, retained) if capacity + self.width <= dimensions else (dimensions, dimensions)


class _Found(NamedTuple):
    """Eigenvectors and spare Ritz vectors; eigenvalues; products spent."""

    vectors: Floats
    values: Floats
    steps: int


def lanczos_vectors(
    operator: Operator,
    known: Floats,
    count: int,
    tolerance: float,
    rng: np.random.Generator,
    options: Lanczos = Lanczos(),  # noqa: B008  frozen
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> tuple[Floats, int]:
    """`count` eigenvectors beyond the known ones, then spare ones; and the number of products.

    A Krylov space grown from w vectors holds w vectors of each eigenspace, so it may miss copies of an
    eigenvalue that is repeated more often. So when more are wanted, the vectors found are deflated and the
    smallest eigenvalue left is computed from new random vectors, to the tolerance unless it is clearly above
    the others. If it is below the largest one found, it was missed and replaces that one, and the search
    continues.

    Residuals are held below tolerance max(1, |lambda| / 2): absolute for L_sym, relative for an
    operator with larger eigenvalues.

    Raises
    ------
    ConvergenceError
        With the residual reached.
    """
    at_once = options.width or 1
    if count > at_once:
        tolerance /= 2  # deflated vectors are not exact, and vectors found after them no closer
    progress = ResidualProgress("eigenvectors", tolerance, high=0.8 if count > at_once else 1.0)
    first = _Space(operator, rng, options, known, count).search(
        progress, checkpoint.part("first"), options.spare
    )
    vectors, values, steps = first.vectors[:, :count], first.values, first.steps
    rounds = 0
    while at_once < count < operator.size - known.shape[1]:
        rounds += 1
        beyond, largest = np.hstack([known, vectors]), values[-1] - _allowed(values[-1], tolerance)
        for name, goal, above in (
            ("probe", max(tolerance, PROBE), CLEARLY_ABOVE),
            ("missed", tolerance, 0.0),
        ):
            progress = progress.then(goal)
            space = _Space(operator, rng, options, beyond, 1)
            missed = space.search(progress, checkpoint.part(name, rounds))
            steps += missed.steps
            if missed.values[0] >= largest + _allowed(values[-1], above):
                return np.hstack([vectors, first.vectors[:, count:]]), steps
        order = np.argsort([*values, missed.values[0]], kind="stable")[:count]
        values = np.append(values, missed.values)[order]
        vectors = np.hstack([vectors, missed.vectors])[:, order.tolist()]
    return np.hstack([vectors, first.vectors[:, count:]]), steps


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

    backend: ArrayBackend = field(init=False)
    width: int = field(init=False)  # columns that a step adds
    dimensions: int = field(init=False)  # of the space orthogonal to the known vectors
    capacity: int = field(init=False)
    retained: int = field(init=False)

    def __post_init__(self) -> None:
        self.backend, self.width = self.operator.backend, self.options.width or 1
        self.dimensions = int(self.operator.size - self.known.shape[1])
        self.capacity, self.retained = self.options.sizes(self.count, self.dimensions)

    def search(self, progress: ResidualProgress, checkpoint: Checkpoint, spare: int = 0) -> _Found:
        """Find the eigenvectors; the goal of the progress is the tolerance."""
        if (done := checkpoint.result()) is not None:
            progress.done = done["steps"]
            return _Found(**done)
        if (state := checkpoint.state()) is not None:
            progress.first, progress.lowest = state.pop("residuals")
        self._begin(state)
        while True:
            for column in range(self.first, self.capacity, self.width):
                if checkpoint.due:
                    checkpoint.keep(**self._state(column), residuals=(progress.first, progress.lowest))
                filled, beyond = self._extend(column)
                skipped = self.options.width is None and self.steps % CHECK_EVERY and filled < self.capacity
                if filled < self.count or skipped:
                    progress.report(self.steps)
                    continue
                values, rotation = np.linalg.eigh(self.projected[:filled, :filled])
                residuals = np.linalg.norm(beyond @ rotation[column:], axis=0)
                progress.report(self.steps, float((residuals / _allowed(values, 1.0))[: self.count].max()))
                converged = (residuals <= _allowed(values, progress.goal))[: self.count].all()
                if converged or filled == self.dimensions:
                    small = self.backend.put(rotation[:, : self.count + spare], self.basis.dtype)
                    found = _Found(self.basis[:, :filled] @ small, values[: self.count], self.steps)
                    checkpoint.finish(**found._asdict())
                    return found
            if self.steps >= self.options.max_products:
                break
            self._restart(values, rotation)
        worst = float(residuals[: self.count].max())
        raise ConvergenceError(
            f"the eigenvectors reached residual {worst:.1e} after {self.steps} products, "
            f"not {progress.goal:.1e}; raise the tolerance",
            worst,
        )

    def _begin(self, state: dict[str, Any] | None) -> None:
        """Start from random vectors, or from the state of an interrupted search."""
        start = self._random(min(self.width, self.dimensions)) if state is None else state["basis 0"]
        self.basis = self.backend.empty_columns(start, self.capacity + self.width)
        if state is None:
            self.projected = np.zeros((self.capacity, self.capacity))
            self.basis[:, self._block(0)] = self._next(start, self.basis[:, :0], 0, self.dimensions)[0]
            return
        for name in ("projected", "first", "since", "steps"):
            setattr(self, name, state[name])
        for column in range(min(self.first + self.width, self.dimensions)):
            self.basis[:, column] = state.pop(f"basis {column}")  # one at a time frees memory

    def _state(self, column: int) -> dict[str, Any]:
        """What `_begin` needs before the step from a column."""
        filled = min(column + self.width, self.dimensions)
        columns = {f"basis {number}": self.basis[:, number] for number in range(filled)}
        now = {"projected": self.projected, "first": column, "since": self.since, "steps": self.steps}
        return {**now, **columns}

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

    def _restart(self, values: Floats, rotation: Floats) -> None:
        """Keep the retained Ritz vectors and the last block; rows are rotated in slices to save memory."""
        retained = self.first = self.since = self.retained
        rotation = self.backend.put(rotation[:, :retained], self.basis.dtype)
        for rows in self.backend.row_slices(len(self.basis)):
            self.basis[rows, :retained] = self.basis[rows, : len(rotation)] @ rotation
        last = self.basis[:, self.capacity : self.capacity + self.width]
        self.basis[:, retained : retained + self.width] = last
        self.projected[:] = 0.0
        self.projected[range(retained), range(retained)] = values[:retained]

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
            vector, along, length = self._orthonormal(image, basis, recent)
            return vector, along[:, None], np.array([[length]])
        block, overlaps, beyond = orthonormal_block(self.backend, image, self.known, basis)
        wanted = min(self.width, room)
        rank = min(int(np.count_nonzero(beyond.any(axis=1))), wanted)
        block = block[:, :rank]
        if rank < wanted:
            fresh, others = self._random(wanted - rank), np.hstack([self.known, block])
            block = np.hstack([block, orthonormal_block(self.backend, fresh, others, basis)[0]])
        return block, overlaps, beyond

    def _orthonormal(self, vector: Floats, basis: Floats, recent: int = 0) -> tuple[Floats, Floats, float]:
        """The part of a vector orthogonal to all, normalised; its overlaps with the basis; its length.

        Two passes of Gram-Schmidt, the first only with the columns from `recent` on, which are all that an
        image overlaps with much: reading the others costs as much as a product. Where nothing is left, the
        space is invariant: the length is 0 and a random direction replaces the vector.
        """
        known, overlaps = self.known, np.zeros(basis.shape[1])
        for start in (recent, 0):
            if known.shape[1] == 1:  # a product with a single column would be slow
                vector = vector - known[:, 0] * (known[:, 0] @ vector)
            else:
                vector = vector - known @ (known.T @ vector)
            inside = basis[:, start:].T @ vector
            vector -= inside @ basis[:, start:].T
            overlaps[start:] += self.backend.fetch(inside)[0]
        length = float(np.linalg.norm(vector))
        if length > BREAKDOWN[vector.dtype.itemsize] or known.shape[1] + basis.shape[1] >= len(vector):
            return vector / (length or 1.0), overlaps, length
        return self._orthonormal(self._random(1), basis)[0], overlaps, 0.0

    def _random(self, count: int) -> Floats:
        """A block of random vectors; without blocks, a vector."""
        if self.options.width is None:
            return self.operator.normal(self.rng)
        return np.column_stack([self.operator.normal(self.rng) for _ in range(count)])


def _allowed(values: Floats, tolerance: float) -> Floats:
    return tolerance * np.maximum(1.0, np.abs(values) / 2)


def orthonormal_block(
    backend: ArrayBackend, block: Floats, known: Floats, basis: Floats
) -> tuple[Floats, Floats, Floats]:
    """Orthonormal columns Q, the block's overlaps with the basis, and R, both on the host.

    Block = known (...) + basis overlaps + Q R, with Q orthogonal to both sets. R = S V' of a singular value
    decomposition, the largest value first: beyond the rank of the part of the block outside both sets, the
    rows of R are 0 and the columns of Q are not orthonormal.

    Gram-Schmidt that fetches all inner products of a pass at once. Mostly one pass is enough, as the part
    left has the Gram matrix that Pythagoras' theorem gives, unless that part is small. The columns are made
    orthonormal by their Gram matrix (Stathopoulos and Wu, 2002), as far as its condition permits. The latest
    columns of the basis were computed in the same way, so their deviation from orthonormality is measured
    too: otherwise it would grow from block to block.
    """
    wide, outside = block.shape[1], np.hstack([known, basis])
    latest = basis[:, max(basis.shape[1] - wide, 0) :]
    count, recent = outside.shape[1], outside.shape[1] - latest.shape[1]
    overlaps, factor, least = np.zeros((basis.shape[1], wide)), np.eye(wide), 10 * np.finfo(block.dtype).eps
    for turn in range(4):
        backend.persist(block)
        fetched = backend.fetch(outside.T @ block, block.T @ block, outside.T @ latest)
        along, gram, measured = (values.astype(np.float64, copy=False) for values in fetched)
        metric = np.eye(count)
        metric[:, recent:], metric[recent:] = measured, measured.T
        inside = np.linalg.solve(metric, along)
        overlaps += inside[known.shape[1] :] @ factor
        left = gram - along.T @ inside
        squares, turned = np.linalg.eigh((left + left.T) / 2)
        lengths = np.sqrt(np.maximum(squares, max(least * gram.max(), TINY)))
        factor = lengths[:, None] * (turned.T @ factor)
        outer, _, _ = np.linalg.svd(factor)
        factor = outer.T @ factor
        small = turned / lengths @ outer
        block = np.hstack([block, outside]) @ backend.put(np.vstack([small, -inside @ small]), block.dtype)
        if squares[0] > SOUND * gram.max() or (turn and lengths[0] > NEARLY):
            break
    factor[np.linalg.norm(factor, axis=1) <= BREAKDOWN[block.dtype.itemsize]] = 0.0
    return block, overlaps, factor
