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


@dataclass(frozen=True, slots=True, eq=False)
class RandomWalk:
    """P(u, v) = sum_e omega(e)/d(u) gamma_e(v)/delta(e), held as P = A B.

    Definition 6 of the paper: from u pick a hyperedge in proportion to its weight, then one of
    its members in proportion to gamma. P itself is never formed.

    Attributes
    ----------
    factors : Factors
        A and B as products.
    law : StationaryLaw
        phi, psi, how they were found and how accurate they are.

    Raises
    ------
    InputError
        When a vertex is in no hyperedge.
    ConvergenceError
        When the stationary law cannot be computed to full accuracy.

    Examples
    --------
    >>> walk = RandomWalk(Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
    >>> walk.stationary.tolist()
    [0.25, 0.5, 0.25]
    """

    hypergraph: Hypergraph
    tolerance: InitVar[float] = 1e-14
    factors: Factors = field(init=False, repr=False)
    law: StationaryLaw = field(init=False, repr=False)

    def __post_init__(self, tolerance: float) -> None:
        factors = Factors(self.hypergraph)
        object.__setattr__(self, "factors", factors)
        object.__setattr__(self, "law", stationary_law(factors, tolerance))

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
