"""Connected components of a hypergraph, in O(m)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus.engines.base import ArrayBackend
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """The component of each vertex and of each hyperedge, numbered 0, 1, ...

    Empty hyperedges belong to no component and carry the number -1. Where vectors live on many workers, the
    components of hyperedges are not known, nor those of vertices if there is one component.
    """

    count: int
    of_vertex: Any
    of_edge: Any

    def masses(self, backend: ArrayBackend, distribution: Floats) -> Floats:
        """The mass of each component under a distribution on the vertices, on the host."""
        codes = backend.put(self.of_vertex)
        (masses,) = backend.fetch(np.bincount(codes, weights=distribution, minlength=self.count))
        return np.asarray(masses, dtype=np.float64)


def components(factors: TransitionFactors) -> Components:
    """Connected components of the bipartite graph of hyperedges and vertices.

    >>> from hyperclus import Hypergraph
    >>> components(TransitionFactors(Hypergraph.from_edges([["a", "b"], ["b", "c"], ["x", "y"]]))).count
    2
    """
    return Components(*factors.backend.components(factors.products, factors.hypergraph))
