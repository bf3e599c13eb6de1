"""Connected components of a hypergraph, in O(m)."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hyperclus.factors import Factors
from hyperclus.types import Floats, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """The component of each vertex and of each hyperedge, numbered 0, 1, ...

    Empty hyperedges belong to no component and carry the number -1.
    """

    count: int
    of_vertex: Integers
    of_edge: Integers

    def masses(self, law: Floats) -> Floats:
        """The mass that a law on the vertices gives each component."""
        return np.bincount(self.of_vertex, weights=law, minlength=self.count).astype(np.float64)


def components(factors: Factors) -> Components:
    """Connected components of the bipartite graph of hyperedges and vertices.

    >>> from hyperclus import Hypergraph
    >>> components(Factors(Hypergraph.from_edges([["a", "b"], ["b", "c"], ["x", "y"]]))).count
    2
    """
    from scipy.sparse.csgraph import connected_components

    gamma = factors.hypergraph.gamma
    n_edges, n_vertices = gamma.shape
    if _reaches_all(factors):
        of_edge = np.where(np.diff(gamma.indptr) > 0, 0, -1)
        return Components(1, np.zeros(n_vertices, dtype=np.int64), of_edge)
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


def _reaches_all(factors: Factors) -> bool:
    """Whether a few steps from the first vertex reach every vertex, as in most connected hypergraphs.

    False decides nothing. It saves the copies of the incidences that a full search makes.
    """
    reached = np.zeros(factors.hypergraph.n_vertices, dtype=bool)
    reached[0] = True
    for _ in range(8):
        before = np.count_nonzero(reached)
        edges = factors.edge_means(reached.astype(np.float64)) > 0
        reached = factors.vertex_means(edges.astype(np.float64)) > 0
        if np.count_nonzero(reached) in (before, len(reached)):
            break
    return bool(reached.all())
