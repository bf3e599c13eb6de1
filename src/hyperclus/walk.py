"""The random walk on an EDVW hypergraph, with its stationary law."""

from dataclasses import InitVar, dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hyperclus.arrays import on_host
from hyperclus.errors import InputError
from hyperclus.factors import Factors
from hyperclus.hypergraph import Hypergraph
from hyperclus.passes import Passes
from hyperclus.stationary import StationaryLaw, stationary_law
from hyperclus.types import Floats


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class RandomWalk:
    """P(u, v) = sum_e omega(e) gamma_e(u)^alpha / d(u) gamma_e(v) / delta(e), held as P = A B.

    From u pick a hyperedge in proportion to omega(e) gamma_e(u)^alpha, then one of its members in
    proportion to gamma. alpha = 0 is the walk of the paper, Definition 6; with alpha = 1 gamma counts
    both ways and the walk is reversible. P itself is never formed.

    Parameters
    ----------
    tolerance : float
        Of the stationary law; see `stationary_law`.
    alpha : float
        How much gamma counts when a vertex picks a hyperedge; 0 or more. What is proved of the walk
        holds for every alpha.

    elsewhere : Passes, optional
        Passes over the incidences where these, and all vectors, do not lie in the memory of the host.

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
    elsewhere: InitVar[Passes | None] = field(default=None, kw_only=True)
    law: StationaryLaw = field(init=False, repr=False)
    _factors: Factors | None = field(init=False, repr=False)

    def __post_init__(self, tolerance: float, elsewhere: Passes | None) -> None:
        factors = Factors(self.hypergraph, alpha=self.alpha, elsewhere=elsewhere)
        object.__setattr__(self, "alpha", factors.alpha)
        object.__setattr__(self, "_factors", factors)
        object.__setattr__(self, "law", stationary_law(factors, tolerance))

    @classmethod
    def with_law(cls, factors: Factors, law: StationaryLaw) -> "RandomWalk":
        """The walk whose law is known already, or roughly; nothing is solved."""
        walk = object.__new__(cls)
        walk.__setstate__((factors.hypergraph, factors.alpha, law))
        object.__setattr__(walk, "_factors", factors)
        return walk

    def __copy__(self) -> "RandomWalk":
        return self

    def __getstate__(self) -> tuple[Hypergraph, float, StationaryLaw]:
        return self.hypergraph, self.alpha, self.on_host().law

    def __setstate__(self, state: tuple[Hypergraph, float, StationaryLaw]) -> None:
        for name, value in zip(("hypergraph", "alpha", "law"), state, strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_factors", None)

    @property
    def factors(self) -> Factors:
        """A and B as products; made anew, in the memory of the host, where the walk came without."""
        if self._factors is None:
            object.__setattr__(self, "_factors", Factors(self.hypergraph, alpha=self.alpha))
        return cast(Factors, self._factors)

    def on_host(self) -> "RandomWalk":
        """The same walk with all vectors in the memory of the host."""
        if isinstance(self.law.vertices, np.ndarray):
            return self
        walk = object.__new__(RandomWalk)
        law = replace(self.law, vertices=on_host(self.law.vertices), edges=on_host(self.law.edges))
        walk.__setstate__((self.hypergraph, self.alpha, law))
        return walk

    @property
    def stationary(self) -> Floats:
        """The stationary law on the vertices, phi."""
        return self.law.vertices

    @property
    def edge_stationary(self) -> Floats:
        """The stationary law on the hyperedges, psi = phi A."""
        return self.law.edges

    @property
    def n_components(self) -> int:
        """The number of connected components; phi gives each its share of the total degree."""
        return self.law.components.count

    @property
    def reversible(self) -> bool:
        """Whether phi(u) P(u, v) = phi(v) P(v, u) is known to hold: it does where phi has a closed form."""
        return self.law.method == "closed form"

    def forward(self, values: Floats) -> Floats:
        """P f: the value expected one step on, for a vector or a block of columns."""
        return self.factors.vertex_means(self.factors.edge_means(values))

    def adjoint(self, law: Floats) -> Floats:
        """P^T p: the law of a walker one step on, for a vector or a block of columns."""
        return self.factors.to_vertices(self.factors.to_edges(law))

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
