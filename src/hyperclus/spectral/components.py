"""Connected components of a hypergraph, in O(m)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.engines.base import is_scattered, on_host
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
    from scipy.sparse.csgraph import connected_components

    if is_scattered(factors.degrees):
        products: Any = factors.products
        return Components(*products.components(factors))
    gamma = factors.hypergraph.gamma
    n_edges, n_vertices = gamma.shape
    if _reaches_all(factors):
        filled = np.diff(gamma.indptr) > 0
        of_edge = np.broadcast_to(np.int64(0), n_edges) if filled.all() else np.where(filled, 0, -1)
        return Components(1, np.broadcast_to(np.int64(0), n_vertices), of_edge)
    total = n_edges + n_vertices
    index_type = np.int64 if max(total, gamma.nnz) > np.iinfo(np.int32).max else gamma.indices.dtype
    indptr = np.concatenate([gamma.indptr, np.full(n_vertices, gamma.nnz)]).astype(index_type)
    indices = gamma.indices + np.asarray(n_edges, dtype=index_type)
    graph = sp.csr_array((gamma.data, indices, indptr), shape=(total, total))
    _, labels = connected_components(graph, directed=True, connection="weak")
    inhabited = np.zeros(total, dtype=bool)
    inhabited[labels[n_edges:]] = True
    renumbered = np.where(inhabited, np.cumsum(inhabited) - 1, -1)[labels]
    return Components(int(np.count_nonzero(inhabited)), renumbered[n_edges:], renumbered[:n_edges])


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
