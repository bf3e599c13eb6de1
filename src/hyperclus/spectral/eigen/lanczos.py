"""Thick-restart Lanczos on the matrix-free operator (Wu and Simon, 2000).

Why not ARPACK: it tells nothing of the residual reached when it gives up, looks for convergence
only at restarts, and ties the vectors to NumPy.
"""

import numpy as np

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint
from hyperclus._runtime.progress import ResidualProgress
from hyperclus.engines.base import ArrayBackend
from hyperclus.errors import ConvergenceError
from hyperclus.spectral.laplacian import Operator
from hyperclus.typing import Floats

MAX_PRODUCTS = 5000
EXTRA_BASIS = 30  # basis vectors beyond those wanted
EXTRA_BLOCKS = 10  # and blocks of them, where they are wider: with more, few products are saved
CHECK_EVERY = 2  # steps between looks at the Ritz residuals
PROBE = 1e-4  # residual to which the search for missed eigenvalues goes
NOTHING = {4: 1e-5, 8: 1e-12}  # bytes of a number: a length that is nothing but rounding
TINY = np.finfo(np.float64).tiny
SOUND = 1e-3  # of the squares of a block: where all that is left is more, it is left with enough digits
NEARLY = 0.5  # the smallest singular value of columns that are all but orthonormal


def lanczos_vectors(
    operator: Operator,
    known: Floats,
    count: int,
    tolerance: float,
    rng: np.random.Generator,
    max_products: int = MAX_PRODUCTS,
    spare: int = 0,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    width: int | None = None,
) -> tuple[Floats, int]:
    """`count` eigenvectors beyond the known ones, and the number of products spent.

    Up to `spare` more columns follow: Ritz vectors as the search for the others left them. Each product is
    with one vector, or with a block of `width` vectors: the wider it is, the fewer they are.

    A Krylov space grown from `width` vectors holds so many vectors of each eigenspace, so an eigenvalue
    repeated more often may be found too few times. So when more are wanted, what was found is deflated and
    the smallest eigenvalue left is computed from new random vectors; if it is below the largest
    found, it was missed, takes that one's place, and the search goes on.

    Residuals are held below tolerance max(1, |lambda| / 2): absolute for L_sym, relative for an
    operator with larger eigenvalues.

    Raises
    ------
    ConvergenceError
        With the residual reached.
    """
    at_once = width or 1
    if count > at_once:
        tolerance /= 2  # what is deflated is not exact, and what is then found is no closer
    descent = ResidualProgress("eigenvectors", tolerance, high=0.8 if count > at_once else 1.0)
    vectors, values, steps = _solve(
        operator, known, count, descent, rng, max_products, checkpoint.part("first"), width, spare
    )
    vectors, spared = vectors[:, :count], vectors[:, count:]
    rounds = 0
    while at_once < count < operator.size - known.shape[1]:
        found, rounds = np.hstack([known, vectors]), rounds + 1
        descent, part = descent.then(max(tolerance, PROBE)), checkpoint.part("probe", rounds)
        _, left, more = _solve(operator, found, 1, descent, rng, max_products, part, width)
        steps += more
        if left[0] >= values[-1] - _allowed(values[-1], tolerance):
            break
        descent, part = descent.then(tolerance), checkpoint.part("missed", rounds)
        missed, left, more = _solve(operator, found, 1, descent, rng, max_products, part, width)
        steps += more
        order = np.argsort([*values, left[0]], kind="stable")[:count]
        values = np.append(values, left)[order]
        vectors = np.hstack([vectors, missed])[:, order.tolist()]
    return np.hstack([vectors, spared]), steps


def _solve(
    operator: Operator,
    known: Floats,
    count: int,
    descent: ResidualProgress,
    rng: np.random.Generator,
    max_products: int,
    checkpoint: Checkpoint,
    blocks: int | None,
    spare: int = 0,
) -> tuple[Floats, Floats, int]:
    """Smallest eigenvectors orthogonal to the known ones, their eigenvalues, and the products spent.

    The spare Ritz vectors follow the eigenvectors. The goal of the descent is the tolerance.

    Keeps L V = V T + Q R E' with [V Q] orthonormal and T = V'LV, where E' takes the last block of rows. The
    Ritz pair (theta, V s) of an eigenpair (theta, s) of T has the residual |R E's|. The columns of V and Q
    so far and T are all that the next step depends on.
    """
    if (done := checkpoint.result()) is not None:
        descent.done = done["steps"]
        return done["vectors"], done["values"], done["steps"]
    whole, backend, width = operator.size - known.shape[1], operator.backend, blocks or 1
    capacity, retained = _sizes(count, blocks, whole)
    start = operator.normal(rng) if (at := checkpoint.state()) is None else at["basis 0"]
    basis = backend.empty_columns(start, capacity + width)
    if at is None:
        block = start if blocks is None else _random(operator, min(width, whole), rng, start)
        basis[:, _block(0, blocks, whole)] = _next(operator, block, known, basis[:, :0], rng, blocks, whole)[
            0
        ]
        projected, first, since, steps = np.zeros((capacity, capacity)), 0, 0, 0
    else:
        projected, first, since, steps = (at[name] for name in ("projected", "first", "since", "steps"))
        descent.first, descent.lowest = at["residuals"]
        for column in range(min(first + width, whole)):
            basis[:, column] = at.pop(f"basis {column}")  # one after the other, to free it
    while True:
        for column in range(first, capacity, width):
            filled = min(column + width, whole)
            if checkpoint.due:
                columns = {f"basis {number}": basis[:, number] for number in range(filled)}
                seen = descent.first, descent.lowest
                now = {"projected": projected, "first": column, "since": since, "steps": steps}
                checkpoint.keep(**now, residuals=seen, **columns)
            image = operator.apply(basis[:, _block(column, blocks, whole)])
            recent = 0 if column == since else column - width
            found, overlaps, beyond = _next(
                operator, image, known, basis[:, :filled], rng, blocks, whole - filled, recent
            )
            basis[:, _block(filled, blocks, whole)] = found
            projected[:filled, column:filled], projected[column:filled, :filled] = overlaps, overlaps.T
            steps += 1
            if filled < count or (blocks is None and steps % CHECK_EVERY and filled < capacity):
                descent.report(steps)
                continue
            values, rotation = np.linalg.eigh(projected[:filled, :filled])
            residuals = np.linalg.norm(beyond @ rotation[column:], axis=0)
            descent.report(steps, float((residuals / _allowed(values, 1.0))[:count].max()))
            if (residuals <= _allowed(values, descent.goal))[:count].all() or filled == whole:
                vectors = basis[:, :filled] @ backend.put(rotation[:, : count + spare], basis.dtype)
                checkpoint.finish(vectors=vectors, values=values[:count], steps=steps)
                return vectors, values[:count], steps
        if steps >= max_products:
            break
        first = since = retained
        _rotate(backend, basis, rotation[:, :first])
        basis[:, first : first + width] = basis[:, capacity : capacity + width]
        projected[:] = 0.0
        projected[range(first), range(first)] = values[:first]
    worst = float(residuals[:count].max())
    raise ConvergenceError(
        f"the eigenvectors reached residual {worst:.1e} after {steps} products, not {descent.goal:.1e}; "
        "raise the tolerance",
        worst,
    )


def _sizes(count: int, width: int | None, whole: int) -> tuple[int, int]:
    """The columns of a full basis, and those that a restart keeps: whole blocks, or all dimensions."""
    if width is None:
        capacity = min(count + EXTRA_BASIS, whole)
        return capacity, count + (capacity - count) // 2
    wanted = -(-count // width)
    capacity, retained = (wanted + EXTRA_BLOCKS) * width, (wanted + EXTRA_BLOCKS // 2) * width
    return (capacity, retained) if capacity + width <= whole else (whole, whole)


def _block(column: int, width: int | None, whole: int) -> int | slice:
    """The columns of the block that begins here; without blocks, the column."""
    return column if width is None else slice(column, min(column + width, whole))


def _rotate(backend: ArrayBackend, basis: Floats, rotation: Floats) -> None:
    """Replace the first columns V by V times the rotation, some rows at a time to save memory."""
    before, after = rotation.shape
    rotation = backend.put(rotation, basis.dtype)
    for rows in backend.row_slices(len(basis)):
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
        overlaps[start:] += operator.backend.fetch(inside)[0]
    length = float(np.linalg.norm(vector))
    if length > NOTHING[vector.dtype.itemsize] or known.shape[1] + basis.shape[1] >= len(vector):
        return vector / (length or 1.0), overlaps, length
    fresh, _, _ = _orthonormal(operator, operator.normal(rng), known, basis, rng)
    return fresh, overlaps, 0.0


def _next(
    operator: Operator,
    image: Floats,
    known: Floats,
    basis: Floats,
    rng: np.random.Generator,
    width: int | None,
    room: int,
    recent: int = 0,
) -> tuple[Floats, Floats, Floats]:
    """The next block of the basis, of at most `room` columns; the image's overlaps with the basis; R.

    Directions that the image has not got, since the space is invariant, are random ones.
    """
    if width is None:
        vector, along, length = _orthonormal(operator, image, known, basis, rng, recent)
        return vector, along[:, None], np.array([[length]])
    backend = operator.backend
    block, overlaps, beyond = orthonormal(backend, image, known, basis)
    wanted = min(width, room)
    rank = min(int(np.count_nonzero(beyond.any(axis=1))), wanted)
    block = block[:, :rank]
    if rank < wanted:
        fresh = _random(operator, wanted - rank, rng, operator.normal(rng))
        block = np.hstack([block, orthonormal(backend, fresh, np.hstack([known, block]), basis)[0]])
    return block, overlaps, beyond


def _random(operator: Operator, count: int, rng: np.random.Generator, column: Floats) -> Floats:
    """A block of random vectors, of which this is the first."""
    block: Floats = operator.backend.empty_columns(column, count)
    block[:, 0] = column
    for number in range(1, count):
        block[:, number] = operator.normal(rng)
    return block


def orthonormal(
    backend: ArrayBackend, block: Floats, known: Floats, basis: Floats
) -> tuple[Floats, Floats, Floats]:
    """Orthonormal columns Q, the block's overlaps with the basis, and R, both on the host.

    Block = known (...) + basis overlaps + Q R, with Q orthogonal to both sets. R = S V' of a singular value
    decomposition, the largest first: the last rows are 0, and the last columns of Q are not orthonormal,
    beyond the rank of what is left of the block.

    Gram-Schmidt with all inner products of a pass fetched at once; mostly one pass is enough, as what is left
    of the block has the Gram matrix that Pythagoras says, unless it is little. The columns are made
    orthonormal by their Gram matrix (Stathopoulos and Wu, 2002), as near as its condition lets them. The
    latest columns of the basis came about in the same way, and how far they are from orthonormal is measured
    too: that error would otherwise grow from block to block.
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
    factor[np.linalg.norm(factor, axis=1) <= NOTHING[block.dtype.itemsize]] = 0.0
    return block, overlaps, factor
