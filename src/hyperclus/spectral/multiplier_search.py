"""The search for good multipliers: rounds of ascent, new triangles, smaller types."""

from dataclasses import dataclass, field, replace

import numpy as np

from hyperclus._runtime.threads import scipy_linalg
from hyperclus.engines.arrays import NUMPY
from hyperclus.engines.base import ArrayBackend
from hyperclus.spectral.eigen.lanczos import Vectors
from hyperclus.spectral.lagrangian import Lagrangian, evaluated, proven
from hyperclus.spectral.proof import Proof
from hyperclus.spectral.relaxation import Multipliers, Relaxation, ascend, refined, violated_triangles
from hyperclus.spectral.type_space import TypeSpace
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers

ALONE_UP_TO = 400  # vertices that have their own multipliers from the start
FIRST_TYPES = 128
SLOW = 5e-4  # relative progress in a round below which types are split
MAX_EXTRA = 160  # vectors beside those of the types
DIMENSIONS = 24  # of the relaxation's matrix, that place vertices for their types


@dataclass(slots=True, eq=False)
class Search:
    """The state of the search. `bounds` are the best after each round, and at first the eigenvalues'."""

    space: TypeSpace
    relaxation: Relaxation
    multipliers: Multipliers
    centre: Floats
    bounds: list[float]
    best: Multipliers = field(default_factory=lambda: Multipliers.none(0))
    best_types: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # empty: none is better
    evaluations: int = 0
    final: int = 0  # the round in which types were last split
    last: Vectors | None = field(default=None, repr=False)  # eigenvectors of G in the last round

    @classmethod
    def begin(
        cls,
        walk: RandomWalk,
        k: int,
        labels: Integers | None,
        vectors: Floats,
        bound: float,
        backend: ArrayBackend = NUMPY,
    ) -> "Search":
        """Start without multipliers. The vectors, orthogonal to q, place the vertices for their types.

        The backend holds the relaxation, if there are more than 400 vertices.
        """
        n = walk.hypergraph.n_vertices
        nothing = np.zeros((n, 0))
        if n <= ALONE_UP_TO:
            space = TypeSpace(walk, k, np.arange(n), nothing)
            relaxation = Relaxation.of(walk, k)
        else:
            together = np.zeros(n, dtype=np.int64) if labels is None else labels
            whole = TypeSpace(walk, k, together, nothing, backend)
            space, _ = whole.split(vectors / whole.root[:, None], FIRST_TYPES)
            space = space.enriched(vectors)
            relaxation = space.relaxation
        size = len(relaxation.laplacian)
        centre = relaxation.nearest(np.eye(size) if n <= ALONE_UP_TO else -relaxation.laplacian)
        return cls(space, relaxation, Multipliers.none(len(relaxation.root)), centre, [bound])

    @property
    def alone(self) -> bool:
        """Whether each vertex is a type."""
        return len(self.space.type_root) == len(self.space.types)

    @property
    def most_types(self) -> int:
        """How many types there are in the end."""
        n, limit = len(self.space.types), self.space.backend.dense_up_to
        return n if n <= limit else 1 << (limit.bit_length() - 1)

    def round(self) -> None:
        """Raise the bound of the relaxation, and compute what the multipliers found prove."""
        if len(self.bounds) > 1:
            self._prepare()
        self.multipliers, self.centre, spent = ascend(self.relaxation, self.multipliers, self.centre)
        self.evaluations += spent
        if self.alone:
            value, self.last = self.relaxation.bound(self.multipliers), None
        else:
            value, self.last = evaluated(Lagrangian(self.space.walk, self.space, self.multipliers))
        if value > self.bounds[-1]:
            self.best, self.best_types = self.multipliers, self.space.types
        self.bounds.append(max(self.bounds[-1], value))

    def _prepare(self) -> None:
        """Add violated triangles, and what the space lacks; or split types if there is little progress."""
        slow = self.bounds[-1] - self.bounds[-2] <= SLOW * self.bounds[-1]
        if slow and len(self.space.type_root) < self.most_types:
            self._split()
        elif self.last is not None and self.space.extra.shape[1] < MAX_EXTRA:
            self._move(self.space.enriched(self.last.vectors))
        seen = self.relaxation.between_types(self.centre)
        added = violated_triangles(seen, self.space.type_root, self.space.backend)
        self.multipliers = self.multipliers.joined(added)

    def _split(self) -> None:
        """Split types by where the relaxation's matrix places their vertices."""
        values, vectors = self.space.backend.fetch(*np.linalg.eigh(self.centre))
        largest = slice(-min(DIMENSIONS, len(values)), None)
        roots = vectors[:, largest] * np.sqrt(np.maximum(values[largest], 0.0))
        places = self.space.vectors(roots) / self.space.root[:, None]
        count = min(2 * len(self.space.type_root), self.most_types)
        if count == len(self.space.types):
            space = replace(self.space, types=np.arange(count), extra=np.zeros((count, 0)))
            parents = self.space.types
        else:
            space, parents = self.space.split(places, count)
        before = self.space.type_root
        self._move(space)
        self.multipliers = refined(self.multipliers, parents, before, space.type_root)
        self.final = len(self.bounds) - 1

    def _move(self, space: TypeSpace) -> None:
        """Continue in another space, which holds all or most of this one."""
        self.centre = space.carried(self.space, self.centre)
        self.space, self.relaxation = space, space.relaxation


def proven_by(
    walk: RandomWalk, k: int, types: Integers, multipliers: Multipliers
) -> tuple[float, float, Proof | None]:
    """The bound that multipliers >= 0 prove, its failure probability and its proof; -inf if none is found.

    If each vertex is a type, all eigenvalues are computed, and they prove slightly more than a shift does.
    """
    space = TypeSpace(walk, k, types, np.zeros((len(types), 0)))
    operator = Lagrangian(walk, space, multipliers.positive())
    alone = len(space.type_root) == len(types)
    found = proven(operator, _all_vectors(operator) if alone else evaluated(operator).found)
    proof = None if found is None else found.proof
    if alone:
        return Relaxation.of(walk, k).bound(multipliers), 0.0, proof
    return (-np.inf, 0.0, None) if found is None else (float(found.value), found.failure, proof)


def _all_vectors(operator: Lagrangian) -> Vectors:
    """The eigenvectors of the k - 1 smallest eigenvalues, from the n x n matrix."""
    eigh = scipy_linalg().eigh
    q, k = operator.space.root, operator.space.k
    matrix = operator.dense()
    far = 4 * float(np.abs(matrix).sum(axis=0).max())
    _, vectors = eigh(matrix + far * np.outer(q, q), subset_by_index=(0, k - 2))
    return Vectors(vectors, 0, np.inf)
