"""Vertex types: sets of vertices that share the multipliers of the semidefinite bound.

Multipliers that are the same for all vertices of a type cover all pairs of vertices with few numbers. Types
are found by splitting: each time the type with the largest spread in an embedding is cut at its mean along
its principal direction, so that smaller types are parts of larger ones and multipliers carry over.
"""

import heapq
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from hyperclus.engines.arrays import NUMPY
from hyperclus.engines.base import ArrayBackend
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.relaxation import Relaxation
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Floats, Incidence, Integers

INDEPENDENT = 1e-6  # least length of a unit vector's part outside a space at which it is added to it
BLOCK = 64  # vectors that are dense at the same time
POWER_STEPS = 20  # for the principal direction of a type


@dataclass(frozen=True, eq=False)
class TypeSpace:
    """The vectors e(a) of types and further ones B, orthonormal, on which the relaxation is solved."""

    walk: RandomWalk
    k: int
    types: Integers  # (n,), 0 .. r - 1
    extra: Floats  # B, (n, p)
    backend: ArrayBackend = NUMPY  # which holds the relaxation; all else is in host memory

    @cached_property
    def root(self) -> Floats:
        """Q, the root of phi with norm 1."""
        root = np.sqrt(self.walk.stationary)
        return np.asarray(root / np.linalg.norm(root))

    @cached_property
    def type_root(self) -> Floats:
        """The roots of the volumes of the types."""
        return np.asarray(np.sqrt(np.bincount(self.types, self.root**2)))

    @cached_property
    def indicators(self) -> Incidence:
        """The vectors e(a) as columns."""
        n, values = len(self.types), self.root / self.type_root[self.types]
        return sp.csr_array((values, (np.arange(n), self.types)), shape=(n, len(self.type_root)))

    @cached_property
    def relaxation(self) -> Relaxation:
        """The relaxation on these vectors."""
        operator, r, p = NormalizedLaplacian(self.walk), len(self.type_root), self.extra.shape[1]
        laplacian = np.empty((r + p, r + p))
        for start in range(0, r + p, BLOCK):
            columns = slice(start, min(start + BLOCK, r + p))
            laplacian[:, columns] = self.coefficients(operator.apply(self._columns(columns)))
        sums, grams = self._sums(), np.zeros((r, p, p))
        for column in range(p):
            grams[:, column] = np.asarray(sums @ (self.extra[:, [column]] * self.extra))
        terms = self.walk.hypergraph.n_vertices + self.walk.hypergraph.n_edges
        laplacian = (laplacian + laplacian.T) / 2
        return Relaxation.on(laplacian, self.type_root, grams.reshape(r, p * p), self.k, terms, self.backend)

    def _sums(self) -> Incidence:
        """The matrix that adds up rows of vertices by types."""
        n = len(self.types)
        return sp.csr_array((np.ones(n), (self.types, np.arange(n))), shape=(len(self.type_root), n))

    def vectors(self, coefficients: Floats) -> Floats:
        """Vectors of vertices from their coefficients on e(a) and B."""
        r = len(self.type_root)
        return np.asarray(self.indicators @ coefficients[:r] + self.extra @ coefficients[r:])

    def coefficients(self, vectors: Floats) -> Floats:
        """The products of e(a) and B with the columns of some vectors."""
        return np.vstack([np.asarray(self.indicators.T @ vectors), self.extra.T @ vectors])

    def carried(self, other: "TypeSpace", matrix: Floats) -> Floats:
        """The coefficients of a matrix on another space, projected onto this one; the backend holds both."""
        shared: Floats = (self.indicators.T @ other.indicators).toarray()
        of_types = np.vstack([shared, np.asarray(other.indicators.T @ self.extra).T])
        change = self.backend.put(np.hstack([of_types, self.coefficients(other.extra)]))
        carried: Floats = change @ matrix @ change.T
        return carried

    def _columns(self, numbers: slice) -> Floats:
        """Some of the vectors e(a) and B."""
        r = len(self.type_root)
        among_extra = self.extra[:, max(numbers.start - r, 0) : max(numbers.stop - r, 0)]
        of_types = self.indicators[:, min(numbers.start, r) : min(numbers.stop, r)].toarray()
        return np.hstack([of_types, among_extra])

    def enriched(self, vectors: Floats) -> "TypeSpace":
        """The same with the parts of some vectors outside the space added to it."""
        return replace(self, extra=np.hstack([self.extra, self._outside(vectors)]))

    def _outside(self, vectors: Floats) -> Floats:
        """Orthonormal vectors that span what some vectors have outside the space."""
        vectors = vectors / np.linalg.norm(vectors, axis=0)
        for _ in range(2):
            vectors = vectors - self.indicators @ (self.indicators.T @ vectors)
            vectors = vectors - self.extra @ (self.extra.T @ vectors)
        left, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
        return np.asarray(left[:, sizes > INDEPENDENT])

    def split(self, embedding: Floats, count: int) -> tuple["TypeSpace", Integers]:
        """Up to `count` types that are parts of these, and the type of which each was part."""
        types = split_types(self.types, embedding, self.root**2, count)
        parents = np.zeros(types.max() + 1, dtype=np.int64)
        parents[types] = self.types
        bare = replace(self, types=types, extra=np.zeros((len(types), 0)))
        return (bare.enriched(self.extra) if self.extra.shape[1] else bare), parents


def split_types(types: Integers, embedding: Floats, weights: Floats, count: int) -> Integers:
    """Split types at their means along principal directions until there are `count`, widest spread first.

    Types whose vertices have the same place in the embedding are not split.
    """
    members = [np.flatnonzero(types == number) for number in range(int(types.max()) + 1)]
    heap = [(-_spread(embedding[part], weights[part]), number) for number, part in enumerate(members)]
    heapq.heapify(heap)
    while heap and len(members) < count:
        spread, number = heapq.heappop(heap)
        if spread >= 0:
            break
        part = members[number]
        side = _side(embedding[part], weights[part])
        if side.all() or not side.any():
            continue
        members[number], fresh = part[side], part[~side]
        members.append(fresh)
        for place in (number, len(members) - 1):
            chosen = members[place]
            heapq.heappush(heap, (-_spread(embedding[chosen], weights[chosen]), place))
    refined = np.empty(len(types), dtype=np.int64)
    for number, part in enumerate(members):
        refined[part] = number
    return refined


def _spread(places: Floats, weights: Floats) -> float:
    """The weighted sum of squared distances from the mean; 0 for a single vertex."""
    if len(places) == 1:
        return 0.0
    mean = weights @ places / weights.sum()
    return float(weights @ ((places - mean) ** 2).sum(axis=1))


def _side(places: Floats, weights: Floats) -> Booleans:
    """Which vertices are beyond the mean along the principal direction."""
    centred = places - weights @ places / weights.sum()
    scatter = (centred * weights[:, None]).T @ centred
    direction = scatter[:, np.argmax(np.diag(scatter))]
    for _ in range(POWER_STEPS):
        direction = scatter @ (direction / max(float(np.linalg.norm(direction)), 1e-300))
    return np.asarray(centred @ direction > 0)
