"""G = L_sym plus multiples of inequalities between vertex types: as an operator, and what it proves.

With S(a, b) and D(a) as in `proof` and e(a) the unit vector of type a (see `relaxation`),
G = L_sym + sum of n(a, b) e(a) e(b)' + the diagonal matrix with d(a) at the vertices of type a.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.progress import unwatched
from hyperclus.errors import ConvergenceError
from hyperclus.spectral.eigen.floor import FAILURE
from hyperclus.spectral.eigen.lanczos import Lanczos, Vectors, lanczos_vectors, rough_vectors
from hyperclus.spectral.laplacian import NormalizedLaplacian, WalkOperator
from hyperclus.spectral.proof import Proof
from hyperclus.spectral.relaxation import Multipliers, triangle_rows, triple_scale
from hyperclus.spectral.type_space import TypeSpace
from hyperclus.typing import Floats

TOLERANCE = 1e-6  # residual of the eigenvectors of G
SPARE = 4  # further Ritz vectors, which the space of the relaxation gains
DENSE_UP_TO = 400  # vertices for which all eigenvalues of G are computed
FACTORED_UP_TO = 16_000  # vertices for which a factorisation of the n x n matrix proves the bound (2 GB)
BLOCK = 512  # rows of P in memory beside the n x n matrix
ATTEMPTS = 5  # shifts that are tried, each with a margin ten times as large


@dataclass(frozen=True, eq=False)
class Lagrangian(WalkOperator):
    """G between vectors orthogonal to q: x -> (I - q q') G (I - q q') x."""

    space: TypeSpace
    multipliers: Multipliers = field(repr=False)  # all >= 0

    @cached_property
    def between(self) -> tuple[Floats, Floats]:
        """The symmetric table n(a, b), with zeros on its diagonal, and d at each vertex."""
        table = self.multipliers.coefficients(self.space.type_root)
        diagonal = np.diag(table).copy()
        np.fill_diagonal(table, 0.0)
        return table, diagonal[self.space.types]

    def image(self, block: Floats) -> Floats:
        """G x for the columns of a block."""
        (table, diagonal), indicators = self.between, self.space.indicators
        image = NormalizedLaplacian(self.walk).apply(block)
        image += indicators @ (table @ (indicators.T @ block)) + diagonal[:, None] * block
        return image

    def apply(self, block: Floats) -> Floats:
        """The image of a vector or of a block of columns."""
        columns, q = block.reshape(len(block), -1), self.space.root
        inside = self.image(columns - np.outer(q, q @ columns))
        return np.asarray((inside - np.outer(q, q @ inside)).reshape(block.shape))

    @cached_property
    def along(self) -> float:
        """Q' G q."""
        q = self.space.root
        return float(q @ self.image(q[:, None])[:, 0])

    @property
    def allowance(self) -> float:
        """What rounding errors may change in an eigenvalue or in q' G q; see `Relaxation.bound`.

        The norm of S is at most the sum of those of I, of M, which are at most sqrt(n), and of all multiples.
        """
        n, used = len(self.space.types), self.multipliers
        rows = abs(triangle_rows(used.triples, self.space.type_root))
        size = Multipliers(-used.pairs, used.triples[:0], used.triangles[:0]).coefficients(
            self.space.type_root
        )
        added = np.asarray(rows.T @ used.triangles).reshape(size.shape)
        size += (added + added.T) / 2
        norm = 2 * np.sqrt(n) + np.linalg.norm(size) + np.linalg.norm(np.diag(size)[self.space.types])
        terms = 20 * (n + self.walk.hypergraph.n_edges) + len(used.triangles)
        return float(terms * np.finfo(float).eps * norm)

    def dense(self) -> Floats:
        """The n x n array of `apply`, lower triangle and upper one."""
        q, (table, diagonal) = self.space.root, self.between
        matrix = dense_laplacian(self)
        types, scale = self.space.types, self.space.root / self.space.type_root[self.space.types]
        for start in range(0, len(q), BLOCK):
            rows = slice(start, start + BLOCK)
            matrix[rows] += table[np.ix_(types[rows], types)] * np.outer(scale[rows], scale)
        matrix[np.diag_indices(len(q))] += diagonal
        image = self.image(q[:, None])[:, 0]
        image -= q * (q @ image) / 2
        for start in range(0, len(q), BLOCK):
            rows = slice(start, start + BLOCK)
            matrix[rows] -= np.outer(q[rows], image) + np.outer(image[rows], q)
        return matrix


class Evaluated(NamedTuple):
    """The bound that multipliers promise, if no eigenvalue was missed, and the eigenvectors behind it."""

    value: float
    found: Vectors


class Proven(NamedTuple):
    """A bound with its proof, and the probability that Lanczos' method missed an eigenvalue."""

    value: float
    proof: Proof
    failure: float


def evaluated(operator: Lagrangian, seed: int = 0) -> Evaluated:
    """Q' G q + the k - 1 smallest eigenvalues on the complement of q, as Lanczos' method finds them."""
    q, count, rng = operator.space.root[:, None], operator.space.k - 1, np.random.default_rng(seed)
    options = Lanczos(spare=SPARE, max_products=1500)
    with unwatched():
        try:
            found = lanczos_vectors(operator, q, count, TOLERANCE, rng, options)
        except ConvergenceError:
            found = rough_vectors(operator, q, count, TOLERANCE, rng)
    vectors = found.vectors[:, :count]
    return Evaluated(operator.along + float(np.vdot(vectors, operator.apply(vectors))), found)


def proven(operator: Lagrangian, found: Vectors) -> Proven | None:
    """The bound that approximate eigenvectors of G prove, slightly below the promised one; None if none.

    With Ritz pairs (lambda_i, x_i), s is the largest value less a margin, V has the columns
    sqrt(s + margin - lambda_i) x_i, and what is to be proven is that A = G - s I + V V' has no negative
    eigenvalue on the complement of q. If the Cholesky factorisation of A - c I succeeds with
    c = (n + 2) eps trace(A), it has none (Rump, BIT, 2006).
    Larger matrices are not factored; there `floor_beyond` bounds the eigenvalues.
    """
    vectors = found.vectors[:, : operator.space.k - 1]
    vectors, _ = np.linalg.qr(vectors - np.outer(operator.space.root, operator.space.root @ vectors))
    small, rotation = np.linalg.eigh(vectors.T @ operator.apply(vectors))
    vectors = vectors @ rotation
    residuals = np.linalg.norm(operator.apply(vectors) - vectors * small, axis=0)
    error, largest = operator.allowance, float(small[-1])
    if operator.size > FACTORED_UP_TO:
        margin = 2 / np.sqrt(3) * float(np.linalg.norm(residuals)) + max(largest - found.floor, 0.0)
        return _at(operator, (small, vectors), margin, error, FAILURE) if np.isfinite(margin) else None
    margin = 2 * float(residuals.max()) + 4 * (error + operator.size**2 * np.finfo(float).eps)
    for _ in range(ATTEMPTS):
        candidate = _at(operator, (small, vectors), margin, error, 0.0)
        if _definite(operator, candidate.proof, error):
            return candidate
        margin *= 10
    return None


def _at(
    operator: Lagrangian, ritz: tuple[Floats, Floats], margin: float, error: float, failure: float
) -> Proven:
    """The bound with s below the largest Ritz value by a margin, and V V' longer than needed by the same."""
    k, (values, vectors) = operator.space.k, ritz
    shift = float(values[-1]) - margin
    correction = vectors[:, :-1] * np.sqrt(values[-1] - values[:-1])
    value = operator.along + (k - 1) * shift - float((correction**2).sum()) - k * error
    return Proven(value, _proof(operator, shift, correction), failure)


def _proof(operator: Lagrangian, shift: float, correction: Floats) -> Proof:
    """The proof as a checker reads it: by vertices if each is a type of its own, else by types."""
    space, used = operator.space, operator.multipliers
    above = np.triu_indices(len(space.type_root), 1)
    if len(space.type_root) == len(space.types):
        vertices, kept = np.argsort(space.types), used.pairs > 0  # the vertex of each type
        ends = np.sort(vertices[np.column_stack(above)[kept]], axis=1)
        at_vertices = ends, used.pairs[kept], vertices[used.triples], used.triangles
        return Proof(space.k, shift, correction, *at_vertices)
    table = np.zeros((len(space.type_root),) * 2)
    table[above] = used.pairs
    table = (table + table.T) / (2 * np.outer(space.type_root, space.type_root))
    values = used.triangles / triple_scale(used.triples, space.type_root)
    return Proof(
        space.k,
        shift,
        correction,
        types=space.types,
        type_values=table,
        type_triples=used.triples,
        type_triple_values=values,
    )


def _definite(operator: Lagrangian, proof: Proof, error: float) -> bool:
    """Whether a factorisation proves that G - s I + V V' is semidefinite on the complement of q."""
    from scipy.linalg.lapack import dpotrf

    matrix, q = operator.dense(), operator.space.root
    n = len(q)
    matrix[np.diag_indices(n)] -= proof.shift
    for start in range(0, n, BLOCK):
        rows = slice(start, start + BLOCK)
        matrix[rows] += proof.vectors[rows] @ proof.vectors.T + np.outer(q[rows] * (1 + proof.shift), q)
    margin = error + (n + 2) * np.finfo(float).eps * float(np.abs(np.diag(matrix)).sum())
    matrix[np.diag_indices(n)] -= margin
    _, failed = dpotrf(matrix.T, lower=1, overwrite_a=1, clean=0)
    return bool(failed == 0)


def dense_laplacian(operator: WalkOperator) -> Floats:
    """L_sym as an n x n array, with little memory beside it."""
    walk = operator.walk
    factors, root = walk.factors, np.sqrt(walk.stationary)
    spread = sp.diags_array(walk.hypergraph.edge_weights / factors.edge_degrees) @ walk.hypergraph.gamma
    lists = factors.lists.source_weights_by_vertex
    n = operator.size
    matrix = np.empty((n, n))
    for start in range(0, n, BLOCK):
        rows = slice(start, start + BLOCK)
        block = (lists[rows] @ spread).toarray()
        matrix[rows] = block * (root[rows] / factors.degrees[rows])[:, None] * (-0.5 / root)
    for start in range(0, n, BLOCK):  # add the transpose, block by block
        rows = slice(start, start + BLOCK)
        matrix[rows, start:] += matrix[start:, rows].T
        matrix[start:, rows] = matrix[rows, start:].T
    matrix[np.diag_indices(n)] += 1.0
    return matrix
