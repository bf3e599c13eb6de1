"""The random walk on an EDVW hypergraph, with its stationary law."""

from dataclasses import InitVar, dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hyperclus.engines.base import ArrayBackend, IncidenceProducts
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.spectral.stationary import StationaryDistribution, stationary_distribution
from hyperclus.typing import Floats


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class RandomWalk:
    """P(u, v) = sum_e omega(e) gamma_e(u)^alpha / d(u) gamma_e(v) / delta(e), held as P = A B.

    From u pick a hyperedge in proportion to omega(e) gamma_e(u)^alpha, then one of its members in
    proportion to gamma. alpha = 0 is the walk of the paper, Definition 6; with alpha = 1 gamma counts
    both ways and the walk is reversible. P itself is never formed.

    Parameters
    ----------
    tolerance : float
        Of the stationary law; see `stationary_distribution`.
    alpha : float
        How much gamma counts when a vertex picks a hyperedge; 0 or more. What is proved of the walk
        holds for every alpha.
    products : IncidenceProducts, optional
        Products over the incidences by another engine, whose backend then holds all vectors.

    Attributes
    ----------
    law : StationaryLaw
        phi, psi, how they were found and how accurate they are.

    Raises
    ------
    InputError
        When a vertex is in no hyperedge, or alpha is not a number from 0.
    ConvergenceError
        When the stationary law cannot be computed to full accuracy.

    Examples
    --------
    >>> walk = RandomWalk(Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
    >>> walk.stationary.tolist()
    [0.25, 0.5, 0.25]
    >>> two_sided = RandomWalk(Hypergraph.from_edges([{"a": 3, "b": 1}, {"b": 1, "c": 3}]), alpha=1)
    >>> two_sided.stationary.tolist()
    [0.375, 0.25, 0.375]
    """

    hypergraph: Hypergraph
    tolerance: InitVar[float] = 1e-14
    alpha: float = field(default=0.0, kw_only=True)
    products: InitVar[IncidenceProducts | None] = field(default=None, kw_only=True)
    distribution: StationaryDistribution = field(init=False, repr=False)
    _factors: TransitionFactors | None = field(init=False, repr=False)

    def __post_init__(self, tolerance: float, products: IncidenceProducts | None) -> None:
        factors = TransitionFactors(
            self.hypergraph, alpha=self.alpha, products=cast(IncidenceProducts, products)
        )
        object.__setattr__(self, "alpha", factors.alpha)
        object.__setattr__(self, "_factors", factors)
        object.__setattr__(self, "distribution", stationary_distribution(factors, tolerance))

    @classmethod
    def with_distribution(
        cls, factors: TransitionFactors, distribution: StationaryDistribution
    ) -> "RandomWalk":
        """The walk whose law is known already, or roughly; nothing is solved."""
        walk = object.__new__(cls)
        walk.__setstate__((factors.hypergraph, factors.alpha, distribution))
        object.__setattr__(walk, "_factors", factors)
        return walk

    def __copy__(self) -> "RandomWalk":
        return self

    def __getstate__(self) -> tuple[Hypergraph, float, StationaryDistribution]:
        return self.hypergraph, self.alpha, self.on_host().distribution

    def __setstate__(self, state: tuple[Hypergraph, float, StationaryDistribution]) -> None:
        for name, value in zip(("hypergraph", "alpha", "distribution"), state, strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_factors", None)

    @property
    def factors(self) -> TransitionFactors:
        """A and B as products; made anew, in the memory of the host, where the walk came without."""
        if self._factors is None:
            object.__setattr__(self, "_factors", TransitionFactors(self.hypergraph, alpha=self.alpha))
        return cast(TransitionFactors, self._factors)

    @property
    def backend(self) -> ArrayBackend:
        """Where the vectors of the walk live."""
        return self.factors.backend

    def on_host(self) -> "RandomWalk":
        """The same walk with all vectors in the memory of the host."""
        if self._factors is None or self.backend.on_host:
            return self
        walk = object.__new__(RandomWalk)
        vertices, edges = self.backend.fetch(self.distribution.vertices, self.distribution.edges)
        distribution = replace(self.distribution, vertices=vertices, edges=edges)
        walk.__setstate__((self.hypergraph, self.alpha, distribution))
        return walk

    @property
    def stationary(self) -> Floats:
        """The stationary law on the vertices, phi."""
        return self.distribution.vertices

    @property
    def edge_stationary(self) -> Floats:
        """The stationary law on the hyperedges, psi = phi A."""
        return self.distribution.edges

    @property
    def n_components(self) -> int:
        """The number of connected components; phi gives each its share of the total degree."""
        return self.distribution.components.count

    @property
    def reversible(self) -> bool:
        """Whether phi(u) P(u, v) = phi(v) P(v, u) is known to hold: it does where phi has a closed form."""
        return self.distribution.method == "closed form"

    def forward(self, values: Floats) -> Floats:
        """P f: the value expected one step on, for a vector or a block of columns."""
        return self.factors.vertex_means(self.factors.edge_means(values))

    def adjoint(self, distribution: Floats) -> Floats:
        """P^T p: the law of a walker one step on, for a vector or a block of columns."""
        return self.factors.step_to_vertices(self.factors.step_to_edges(distribution))

    def dense(self) -> Floats:
        """P as an array, n x n: for small hypergraphs and for tests."""
        return self.factors.vertex_chain()


def vertex_vector(walk: RandomWalk, values: Any) -> NDArray[Any]:
    """Values as an array with one entry per vertex of the walk, or an `InputError`."""
    vector = values if hasattr(values, "shape") else np.asarray(values)
    if vector.shape != (walk.hypergraph.n_vertices,):
        n = walk.hypergraph.n_vertices
        raise InputError(f"{n} vertices need a value each; these values have shape {vector.shape}")
    return cast(NDArray[Any], vector)
