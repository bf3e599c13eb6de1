"""Orthonormal vectors and blocks by Gram-Schmidt, wherever they live."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hyperclus.engines.base import ArrayBackend
from hyperclus.errors import ConvergenceError
from hyperclus.spectral.laplacian import Operator
from hyperclus.typing import Floats

BREAKDOWN = {4: 1e-5, 8: 1e-12}  # norm treated as zero, by itemsize
LIMIT = {4: 3e-5, 8: 3e-11}  # inner products of basis vectors at which all are computed, by itemsize
ROUNDING = 8  # times the machine precision: what a step may add to inner products
CANCELLED = 0.03  # length left of an image, relative to its overlaps, below which one pass is not enough
TINY = np.finfo(np.float64).tiny
SOUND = 1e-3  # skip re-orthogonalisation if at least this fraction of the squared norm is left
NEARLY = 0.5  # smallest singular value of columns that count as orthonormal


def orthonormal_vector(
    operator: Operator,
    rng: np.random.Generator,
    vector: Floats,
    known: Floats,
    basis: Floats,
    recent: int = 0,
    is_enough: Callable[[Floats, float], bool] = lambda overlaps, length: False,
) -> tuple[Floats, Floats, float]:
    """The part of a vector orthogonal to both sets, normalised; its overlaps with the basis; its length.

    Two passes of Gram-Schmidt, the first only with the columns from `recent` on, which are all that an image
    overlaps with much: reading the others costs as much as a product. The second is left out if `is_enough`
    says so of the overlaps and the length after the first. Overlaps with columns before `recent` are 0 up to
    rounding in the vectors, which is removed, so they are left out. Where nothing is left, the space is
    invariant: the length is 0 and a random direction replaces the vector.
    """
    overlaps = np.zeros(basis.shape[1])
    for first_pass, start in ((True, recent), (False, 0)):
        inside = basis[:, start:].T @ vector
        vector = vector - inside @ basis[:, start:].T
        overlaps[recent:] += operator.backend.fetch(inside)[0][recent - start :]
        if known.shape[1] == 1:  # a product with a single column would be slow
            vector -= known[:, 0] * (known[:, 0] @ vector)
        elif known.shape[1]:  # last, or what is left along them would grow as in powers of the operator
            vector -= known @ (known.T @ vector)
        length = float(np.linalg.norm(vector))
        if first_pass and is_enough(overlaps, length):
            break
    if length > BREAKDOWN[vector.dtype.itemsize] or known.shape[1] + basis.shape[1] >= len(vector):
        return vector / (length or 1.0), overlaps, length
    fresh, _, _ = orthonormal_vector(operator, rng, operator.normal(rng), known, basis)
    return fresh, overlaps, 0.0


@dataclass(slots=True, eq=False)
class Overlaps:
    """Estimates of the inner products of the latest two vectors of a Lanczos basis with all before.

    Images overlap with the latest two vectors only, but rounding grows from step to step, most along Ritz
    vectors that have converged. The recurrence of the basis gives the inner products of the next vector
    (Simon, 1984), at the cost of a product with the small matrix T. While all are below LIMIT, the pass over
    all vectors can wait: up to rounding T is that of the orthonormal basis that Gram-Schmidt makes of these.
    """

    before: Floats
    now: Floats
    again: bool = False  # the next vector needs all inner products, because those of the latest one grew

    @classmethod
    def none(cls, capacity: int) -> "Overlaps":
        """Before the first step."""
        return cls(np.zeros(capacity + 1), np.zeros(capacity + 1))

    def following(self, projected: Floats, overlaps: Floats, length: float, rounding: float) -> Floats:
        """The inner products of the next vector, given T, and the overlaps and length of its image.

        The basis ends with the vector of the image; T is given up to the one before.
        """
        last = len(overlaps) - 1
        coupling = overlaps[last - 1]
        grown = projected[:last, :last] @ self.now[:last] + overlaps[:last] - overlaps[last] * self.now[:last]
        grown -= coupling * self.before[:last]
        grown[last - 1] -= coupling  # the inner product of the vector before with itself
        found, length = np.zeros_like(self.now), max(length, TINY)
        found[:last] = (grown + np.copysign(rounding, grown)) / length
        found[last] = rounding / length
        return found

    def step(self, following: Floats, again: bool = False) -> None:
        """Go on to the next vector."""
        self.before, self.now, self.again = self.now, following, again


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
    wide, first = block.shape[1], known.shape[1]
    latest = basis[:, max(basis.shape[1] - wide, 0) :]
    count = first + basis.shape[1]
    recent = count - latest.shape[1]
    overlaps, factor, least = np.zeros((basis.shape[1], wide)), np.eye(wide), 10 * np.finfo(block.dtype).eps
    for turn in range(4):
        backend.persist(block)
        inner = [one.T @ other for other in (block, latest) for one in (known, basis)]
        fetched = [values.astype(np.float64, copy=False) for values in backend.fetch(block.T @ block, *inner)]
        gram, along, measured = fetched[0], np.vstack(fetched[1:3]), np.vstack(fetched[3:])
        if not (np.isfinite(gram).all() and np.isfinite(along).all() and np.isfinite(measured).all()):
            raise ConvergenceError("a product of the eigenvectors is not a number in this precision", np.inf)
        metric = np.eye(count)
        metric[:, recent:], metric[recent:] = measured, measured.T
        inside = np.linalg.solve(metric, along)
        overlaps += inside[first:] @ factor
        left = gram - along.T @ inside
        squares, turned = np.linalg.eigh((left + left.T) / 2)
        lengths = np.sqrt(np.maximum(squares, max(least * gram.max(), TINY)))
        factor = lengths[:, None] * (turned.T @ factor)
        outer, _, _ = np.linalg.svd(factor)
        factor = outer.T @ factor
        small = turned / lengths @ outer
        removed = -inside @ small
        terms = (block, small), (known, removed[:first]), (basis, removed[first:])
        block = sum(one @ backend.put(into, block.dtype) for one, into in terms if len(into))
        if squares[0] > SOUND * gram.max() or (turn and lengths[0] > NEARLY):
            break
    factor[np.linalg.norm(factor, axis=1) <= BREAKDOWN[block.dtype.itemsize]] = 0.0
    return block, overlaps, factor


def in_orthonormal(backend: ArrayBackend, basis: Floats, rotation: Floats) -> Floats:
    """Coefficients in a nearly orthonormal basis, given those in the one that Gram-Schmidt makes of it."""
    (gram,) = backend.fetch(basis.T @ basis)
    factor = np.linalg.cholesky(gram.astype(np.float64, copy=False), upper=True)
    return np.asarray(np.linalg.solve(factor, rotation), dtype=np.float64)


def nearest_orthonormal(backend: ArrayBackend, columns: Floats, known: Floats) -> Floats:
    """The orthonormal columns that are nearest to some nearly orthonormal ones, orthogonal to known ones."""
    columns = columns - known @ (known.T @ columns)
    (gram,) = backend.fetch(columns.T @ columns)
    values, vectors = np.linalg.eigh(gram)
    nearest: Floats = columns @ backend.put((vectors / np.sqrt(values)) @ vectors.T, columns.dtype)
    return nearest
