"""Positive semidefiniteness by one Cholesky factorisation in floating point, with proven errors.

Assumed of the machine: IEEE double precision with rounding to nearest, and products of matrices by sums of
products in any order, with or without fused operations (as in BLAS, without Strassen's method).
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperclus.typing import Floats
from hyperclus.verification.certificate import Leaf
from hyperclus.verification.items import Items, TypeTerms, triangle
from hyperclus.verification.walk import flint

UNIT = 2.0**-53
ROWS = 1024  # of the matrix that are computed at a time
RANGE = 1e-140  # smallest entry of a factor, so that no product underflows


class Rounded(NamedTuple):
    """A matrix of doubles that differs from the exact one by at most `error` in the spectral norm."""

    matrix: Floats
    error: float


def smallest_eigenvalue(items: Items, leaf: Leaf, terms: TypeTerms) -> float:
    """A proven lower bound of the eigenvalues of G - s I + V V' on the complement of q, or -inf."""
    found = rounded_lagrangian(items, leaf, terms)
    if found is None:
        return -np.inf
    lowest = proven_positive(found.matrix)
    return lowest - found.error * (1 + 1e-9)


def proven_positive(matrix: Floats) -> float:
    """A lower bound, just below 0, of the eigenvalues of a symmetric matrix, or -inf; overwrites the matrix.

    If Cholesky's method in floating point ends for a matrix of size n, all its eigenvalues are at least
    -g / (1 - g) times its trace, with g = (n + 1) u / (1 - (n + 1) u) and u = 2^-53, apart from underflow
    (S. M. Rump, BIT 46, 2006, 433-452). That is doubled here, because some libraries multiply by a rounded
    reciprocal where the theorem divides.
    """
    from scipy.linalg.lapack import dpotrf

    trace, n = float(np.abs(matrix.diagonal()).sum()), len(matrix)
    gamma = (n + 2) * UNIT / (1 - (n + 2) * UNIT)
    allowance = 2 * gamma / (1 - 2 * gamma) * trace + 1e-290
    if not np.isfinite(trace) or dpotrf(matrix.T, lower=1, overwrite_a=1, clean=0)[1] != 0:
        return -np.inf
    return -allowance * (1 + 1e-9)


def rounded_lagrangian(items: Items, leaf: Leaf, terms: TypeTerms) -> Rounded | None:
    """C + q a' + a q' for C = G - s I + V V' and some a, so that it is C on the complement of q.

    Each entry is a sum of at most ten terms, whose own errors are at most u times a small number times their
    magnitude. So the error of the matrix is at most u times the weighted sum of the Frobenius norms
    of the terms. None where numbers might underflow.
    """
    out, back = items.rounded()
    for part in (out, back):
        if not (part.data.min() > RANGE and part.data.max() < 1 / RANGE):
            return None
    root = np.array([float(one.mid()) for one in items.root])
    if not root.min() > RANGE:
        return None
    sparse, sparse_size, repeated = sparse_terms(items, leaf, terms)
    of_types = np.array([[float(one.mid()) for one in row] for row in terms.pairs])
    volumes = np.array([float(one.mid()) for one in terms.volumes])
    n = items.size
    matrix, squares = np.empty((n, n)), 0.0
    left, right = sp.csr_array(out.T), sp.csr_array(back.T)
    vectors = leaf.vectors
    for first in range(0, n, ROWS):
        rows = slice(first, min(first + ROWS, n))
        flows = ((out[rows] @ right) + (back[rows] @ left)).toarray() * 0.5
        squares += float(np.vdot(flows, flows))
        block = vectors[rows] @ vectors.T - flows
        if len(of_types):
            weights = of_types[np.ix_(leaf.types[rows], leaf.types)]
            block += weights * root[rows, None] * root
        block += sparse[rows].toarray()
        matrix[rows] = block
    matrix[np.diag_indices(n)] += 1.0 - leaf.shift
    image = matrix @ root
    added = (1 + root @ image) / 2 * root - image
    for first in range(0, n, ROWS):
        rows = slice(first, min(first + ROWS, n))
        matrix[rows] += root[rows, None] * added + added[rows, None] * root
    degree = int(np.bincount(items.members).max())
    types = float(np.sqrt(volumes @ (of_types**2) @ volumes)) if len(of_types) else 0.0
    sizes = (
        (degree + 20, float(np.sqrt(squares))),
        (repeated + 40, sparse_size),
        (40, types),
        (vectors.shape[1] + 20, float(np.linalg.norm(vectors)) ** 2),
        (40, 2 * float(np.linalg.norm(root) * np.linalg.norm(added))),
        (20, abs(1 - leaf.shift) * float(np.sqrt(n))),
    )
    error = 2 * UNIT * sum(weight * size for weight, size in sizes)
    return Rounded(matrix, error) if np.isfinite(error) else None


def sparse_terms(items: Items, leaf: Leaf, terms: TypeTerms) -> tuple[Any, float, int]:
    """Pairs, triangles and the diagonal of types as one symmetric sparse array.

    Also returns the Frobenius norm of the sum of the magnitudes, and how many terms an entry has at most.
    """
    n = items.size
    pairs, values = np.concatenate([leaf.pairs, leaf.apart]), [-leaf.pair_values, -leaf.apart_values]
    rows, columns, entries = [pairs[:, 0]], [pairs[:, 1]], [np.concatenate(values)]
    if len(leaf.triples):
        found = triangle_entries(items, leaf)
        rows.append(found[0])
        columns.append(found[1])
        entries.append(found[2])
    if len(leaf.types):
        diagonal = np.array([float(one.mid()) for one in terms.diagonal])
        rows.append(np.arange(n))
        columns.append(np.arange(n))
        entries.append(diagonal[leaf.types])
    places = (np.concatenate(rows), np.concatenate(columns))
    both = (np.concatenate([places[0], places[1]]), np.concatenate([places[1], places[0]]))
    data = np.tile(np.concatenate(entries), 2) / 2
    total = sp.csr_array(sp.coo_array((data, both), shape=(n, n)))
    sizes = sp.csr_array(sp.coo_array((np.abs(data), both), shape=(n, n)))
    counts = sp.csr_array(sp.coo_array((np.ones(len(data)), both), shape=(n, n)))
    repeated = int(counts.data.max()) if counts.nnz else 0
    return total, float(np.linalg.norm(sizes.data)), repeated


def triangle_entries(items: Items, leaf: Leaf) -> tuple[Any, Any, Floats]:
    """Places and values of all triangles; each value is right to a few units of itself."""
    arb = flint().arb
    rows, columns, values = [], [], []
    for (u, v, w), value in zip(leaf.triples.tolist(), leaf.triple_values.tolist(), strict=True):
        for i, j, entry in triangle(items.root, u, v, w):
            rows.append(i)
            columns.append(j)
            values.append(float((entry * arb(value)).mid()))
    return np.array(rows), np.array(columns), np.array(values)
