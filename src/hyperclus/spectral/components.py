"""Connected components of a hypergraph, in O(m)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus.engines.base import is_scattered, on_host
from hyperclus.hypergraph.incidence import connected_components
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.typing import Floats, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """The component of each vertex and of each hyperedge, numbered 0, 1, ...

    Empty hyperedges belong to no component and carry the number -1.
    """

    count: int
    of_vertex: Integers
    of_edge: Integers

    def masses(self, distribution: Floats) -> Floats:
        """The mass that a law on the vertices gives each component."""
        masses = on_host(np.bincount(self.of_vertex, weights=distribution, minlength=self.count))
        return masses.astype(np.float64)


def components(factors: TransitionFactors) -> Components:
    """Connected components of the bipartite graph of hyperedges and vertices.

    >>> from hyperclus import Hypergraph
    >>> components(TransitionFactors(Hypergraph.from_edges([["a", "b"], ["b", "c"], ["x", "y"]]))).count
    2
    """
    if is_scattered(factors.degrees):
        products: Any = factors.products
        return Components(*products.components(factors))
    gamma = factors.hypergraph.gamma
    n_edges, n_vertices = gamma.shape
    if _reaches_all(factors):
        filled = np.diff(gamma.indptr) > 0
        of_edge = np.broadcast_to(np.int64(0), n_edges) if filled.all() else np.where(filled, 0, -1)
        return Components(1, np.broadcast_to(np.int64(0), n_vertices), of_edge)
    return Components(*connected_components(gamma))


def _reaches_all(factors: TransitionFactors) -> bool:
    """Whether a few steps from the first vertex reach every vertex, as in most connected hypergraphs.

    False decides nothing. It saves the copies of the incidences that a full search makes.
    """
    reached = np.zeros_like(factors.degrees)
    reached[0] = 1.0
    count = 1
    for _ in range(8):
        edges = factors.products.to_edges(reached, "source_weights") > 0
        reached = (factors.products.to_vertices(edges.astype(np.float64), "source_weights") > 0).astype(
            np.float64
        )
        before, count = count, int(reached.sum())
        if count in (before, len(reached)):
            break
    return count == len(reached)
