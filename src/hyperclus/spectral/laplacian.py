"""The Laplacians of the walk as operators, and the Rayleigh quotient."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from hyperclus._runtime.arrays import along
from hyperclus.engines.base import ArrayBackend
from hyperclus.spectral.walk import RandomWalk, check_walk, vertex_vector
from hyperclus.typing import Floats


class Operator(Protocol):
    """A symmetric linear map on vertex vectors, as eigen-solvers use it."""

    @property
    def size(self) -> int:
        """The length of the vectors."""

    @property
    def backend(self) -> ArrayBackend:
        """Where the vectors live."""

    def apply(self, block: Floats) -> Floats:
        """The image of a vector (n,) or of the columns of a block (n, k)."""

    def normal(self, rng: np.random.Generator) -> Floats:
        """A vector of random numbers."""


@dataclass(frozen=True, eq=False)
class WalkOperator:
    """What operators on the vectors of a walk share."""

    walk: RandomWalk

    def __post_init__(self) -> None:
        check_walk(self.walk)

    @property
    def size(self) -> int:
        """The number of vertices."""
        return self.walk.hypergraph.n_vertices

    @property
    def backend(self) -> ArrayBackend:
        """Where the vectors of the walk live."""
        return self.walk.backend

    def normal(self, rng: np.random.Generator) -> Floats:
        """A random vector in the precision of the walk."""
        vector: Floats = self.backend.normal(self.size, rng).astype(self.walk.stationary.dtype, copy=False)
        return vector


@dataclass(frozen=True, eq=False)
class NormalizedLaplacian(WalkOperator):
    """L_sym = I - M with M = (Pi^1/2 P Pi^-1/2 + Pi^-1/2 P^T Pi^1/2) / 2.

    Definition 18 of the paper: symmetric, eigenvalues in [0, 2], one zero per component.

    >>> from hyperclus import Hypergraph
    >>> walk = RandomWalk(Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
    >>> bool(abs(NormalizedLaplacian(walk).apply(walk.stationary**0.5)).max() < 1e-15)
    True
    """

    def apply(self, block: Floats) -> Floats:
        """L_sym x for a vector or a block of columns, by two passes over the incidences.

        A reversible walk, whose M is already symmetric, needs single values there, others pairs.
        """
        products = self.walk.factors.products
        if block.ndim == 2 and not products.takes_blocks:  # a large block would not fit the cache
            images: Floats = self.backend.empty_columns(self.walk.stationary, block.shape[1])
            for column in range(block.shape[1]):
                images[:, column] = self.apply(block[:, column])
            return images
        inverse, leaving = self._scales
        if self.walk.reversible:
            return block - along(leaving, block) * self.walk.forward(block * along(inverse, block))
        image = products.symmetrized(block, inverse, leaving, self.walk.factors.shares)
        image *= -0.5
        image += block
        return image

    @cached_property
    def _scales(self) -> tuple[Floats, Floats]:
        """The inverse of the root of phi; the root of a reversible walk, or else the root over d."""
        root = np.sqrt(self.walk.stationary)
        return 1.0 / root, root if self.walk.reversible else root / self.walk.factors.relative_degrees

    def dense(self) -> Floats:
        """The n x n array, exactly symmetric: for small hypergraphs and for tests."""
        root = np.sqrt(self.walk.stationary)
        scaled = root[:, None] * self.walk.dense() / root
        return np.eye(self.size) - 0.5 * (scaled + scaled.T)


@dataclass(frozen=True, eq=False)
class Laplacian(WalkOperator):
    """L = Pi - (Pi P + P^T Pi) / 2, Definition 9 of the paper."""

    def apply(self, block: Floats) -> Floats:
        """L x = Pi^1/2 L_sym Pi^1/2 x for a vector or a block of columns."""
        root = along(np.sqrt(self.walk.stationary), block)
        return root * NormalizedLaplacian(self.walk).apply(root * block)

    def dense(self) -> Floats:
        """The n x n array, exactly symmetric: for small hypergraphs and for tests."""
        flow = self.walk.stationary[:, None] * self.walk.dense()
        return np.diag(self.walk.stationary) - 0.5 * (flow + flow.T)


def rayleigh_quotient(walk: RandomWalk, values: Floats) -> float:
    """R(x) = sum_uv |x(u) - x(v)|^2 phi(u) P(u, v) / sum_u x(u)^2 phi(u) = 2 x'Lx / x'Pi x.

    Definition 15 and Theorem 16 of the paper.
    """
    values = vertex_vector(walk, values)
    energy = values @ Laplacian(walk).apply(values)
    return float(2 * energy / (values**2 @ walk.stationary))
