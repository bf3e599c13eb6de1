"""The random walk on a hypergraph with edge-dependent vertex weights, and its stationary distribution."""

from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hyperclus.engines.base import ArrayBackend, FlowFactors, IncidenceProducts
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.io.anything import as_hypergraph
from hyperclus.spectral.factors import TransitionFactors, checked_alpha
from hyperclus.spectral.stationary import StationaryDistribution, stationary_distribution
from hyperclus.typing import Floats


@dataclass(frozen=True, eq=False)
class RandomWalk:
    """P(u, v) = sum_e omega(e) gamma_e(u)^alpha / d(u) gamma_e(v) / delta(e), held as P = A B.

    From u pick a hyperedge in proportion to omega(e) gamma_e(u)^alpha, then one of its members in
    proportion to gamma. alpha = 0 is the walk of the paper, Definition 6; with alpha = 1 gamma counts
    in both directions and the walk is reversible. P itself is never formed.

    Parameters
    ----------
    tolerance : float
        Of the stationary distribution; see `stationary_distribution`.
    alpha : float
        Weight of gamma when a vertex picks a hyperedge; 0 or more. What is proved of the walk holds for
        every alpha.
    products : IncidenceProducts, optional
        Products over the incidences by another engine, whose backend then holds all vectors.
    distribution : StationaryDistribution, optional
        phi, psi, how they were found and how accurate they are. By default they are computed.
    transitions : TransitionFactors, optional
        The factors, if they are known.

    Raises
    ------
    InputError
        When a vertex is in no hyperedge, or alpha is not a number from 0.
    ConvergenceError
        When the stationary distribution cannot be computed to full accuracy.

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
    distribution: StationaryDistribution = field(
        default=cast(StationaryDistribution, None), kw_only=True, repr=False
    )
    transitions: TransitionFactors | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self, tolerance: float, products: IncidenceProducts | None) -> None:
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))
        if self.distribution is None:
            if products is None:
                object.__setattr__(self, "hypergraph", as_hypergraph(self.hypergraph))
            given = cast(IncidenceProducts, products)
            factors = TransitionFactors(self.hypergraph, alpha=self.alpha, products=given)
            object.__setattr__(self, "transitions", factors)
            object.__setattr__(self, "distribution", stationary_distribution(factors, tolerance))

    @classmethod
    def with_distribution(
        cls, factors: TransitionFactors, distribution: StationaryDistribution
    ) -> "RandomWalk":
        """The walk whose stationary distribution is known, or approximated; nothing is solved."""
        return cls(factors.hypergraph, alpha=factors.alpha, distribution=distribution, transitions=factors)

    def __copy__(self) -> "RandomWalk":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _on_host, (self.hypergraph, self.alpha, self.on_host().distribution)

    @cached_property
    def factors(self) -> TransitionFactors:
        """A and B as products; a walk that was unpickled computes them when they are first needed."""
        return self.transitions or TransitionFactors(self.hypergraph, alpha=self.alpha)

    @cached_property
    def flow_factors(self) -> FlowFactors:
        """What the flows between vertices and clusters follow from."""
        factors = self.factors
        return FlowFactors(self.backend, self.stationary, factors.relative_degrees, factors.shares)

    @property
    def backend(self) -> ArrayBackend:
        """Where the vectors of the walk live."""
        return self.factors.backend

    def on_host(self) -> "RandomWalk":
        """The same walk with all vectors in host memory."""
        if self.transitions is None or self.backend.on_host:
            return self
        vertices, edges = self.backend.fetch(self.distribution.vertices, self.distribution.edges)
        distribution = replace(self.distribution, vertices=vertices, edges=edges)
        return _on_host(self.hypergraph, self.alpha, distribution)

    @property
    def stationary(self) -> Floats:
        """The stationary distribution on the vertices, phi."""
        return self.distribution.vertices

    @property
    def edge_stationary(self) -> Floats:
        """The stationary distribution on the hyperedges, psi = phi A."""
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
        """P f: the value expected one step later, for a vector or a block of columns."""
        return self.factors.vertex_means(self.factors.edge_means(values))

    def adjoint(self, distribution: Floats) -> Floats:
        """P^T p: the distribution of a walker one step later, for a vector or a block of columns."""
        return self.factors.step_to_vertices(self.factors.step_to_edges(distribution))

    def dense(self) -> Floats:
        """P as an array, n x n: for small hypergraphs and for tests."""
        return self.factors.vertex_chain()


def _on_host(hypergraph: Hypergraph, alpha: float, distribution: StationaryDistribution) -> RandomWalk:
    return RandomWalk(hypergraph, alpha=alpha, distribution=distribution)


def check_walk(walk: Any) -> None:
    """Raise an `InputError` unless this is a random walk."""
    if not isinstance(walk, RandomWalk):
        raise InputError(f"a RandomWalk is needed, not {type(walk).__name__}; RandomWalk(h) makes one of h")


def vertex_vector(walk: RandomWalk, values: Any) -> NDArray[Any]:
    """Values as an array with one entry per vertex of the walk, or an `InputError`."""
    check_walk(walk)
    vector = values if hasattr(values, "shape") else np.asarray(values)
    if vector.shape != (walk.hypergraph.n_vertices,):
        n = walk.hypergraph.n_vertices
        raise InputError(f"{n} vertices need a value each; these values have shape {vector.shape}")
    return cast(NDArray[Any], vector)
