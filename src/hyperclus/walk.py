"""The random walk on an EDVW hypergraph, with its stationary law."""

from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperclus.errors import InputError
from hyperclus.factors import Factors
from hyperclus.hypergraph import Hypergraph
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

    Attributes
    ----------
    factors : Factors
        A and B as products.
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
    factors: Factors = field(init=False, repr=False)
    law: StationaryLaw = field(init=False, repr=False)

    def __post_init__(self, tolerance: float) -> None:
        factors = Factors(self.hypergraph, alpha=self.alpha)
        object.__setattr__(self, "alpha", factors.alpha)
        object.__setattr__(self, "factors", factors)
        object.__setattr__(self, "law", stationary_law(factors, tolerance))

    @classmethod
    def with_law(cls, factors: Factors, law: StationaryLaw) -> "RandomWalk":
        """The walk whose law is known already, or roughly; nothing is solved."""
        walk = object.__new__(cls)
        for name, value in {
            "hypergraph": factors.hypergraph,
            "alpha": factors.alpha,
            "factors": factors,
            "law": law,
        }.items():
            object.__setattr__(walk, name, value)
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
    vector = np.asarray(values)
    if vector.shape != (walk.hypergraph.n_vertices,):
        n = walk.hypergraph.n_vertices
        raise InputError(f"{n} vertices need a value each; these values have shape {vector.shape}")
    return vector
