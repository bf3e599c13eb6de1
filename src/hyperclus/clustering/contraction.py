"""Contraction of nearly separate groups, where eigenvectors are too inaccurate to tell them apart.

Between groups joined by a share w of their flow, the eigenvalues are of the order of w and their
differences much smaller. Once they approach the accuracy of the eigenvectors, these mix at random. But then
the groups themselves are easily found, by leaving out weak incidences, and the flows between them are known
to full relative accuracy.
"""

import numpy as np
import scipy.sparse as sp

from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers

SMALL = 1e-2  # the k-th eigenvalue below which groups may be nearly separate
SHARES = tuple(10.0**-decade for decade in range(12, 0, -1))  # below which a share of the flow counts as weak
MAX_GROUPS = 3_000


def nearly_separate_groups(walk: RandomWalk, k: int) -> Integers | None:
    """At least k groups of vertices joined by as little flow as possible; None if there are none.

    An incidence is weak if a small share of the steps from and to its vertex use the hyperedge, and no other
    member goes often to the vertex by it. Groups are connected by other incidences.
    """
    from scipy.sparse.csgraph import connected_components

    strengths = _strengths(walk)
    edge_of = np.repeat(np.arange(walk.hypergraph.n_edges), walk.hypergraph.edge_sizes)
    shape = walk.hypergraph.n_vertices, walk.hypergraph.n_edges
    for share in SHARES:
        strong = strengths >= share
        links = walk.hypergraph.gamma.indices[strong], edge_of[strong] + shape[0]
        graph = sp.coo_array((np.ones(len(links[0]), dtype=bool), links), shape=(sum(shape), sum(shape)))
        _, found = connected_components(graph, directed=False)
        names, groups = np.unique(found[: shape[0]], return_inverse=True)
        if len(names) >= k:
            return groups if len(names) <= MAX_GROUPS else None
    return None


def contracted(walk: RandomWalk, groups: Integers) -> Hypergraph | None:
    """A hypergraph of the groups in which every partition of them has its NCut times one and the same factor.

    Its hyperedges are pairs of groups, weighted by the flow between them, and single groups, which make up
    for their volumes. The flows are multiplied so that the NCut becomes an ordinary number. None if there is
    no flow, or none in the range of double precision.
    """
    count = int(groups.max()) + 1
    membership = sp.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))))
    factors, phi = walk.factors, walk.stationary
    leaving = sp.diags_array(phi / factors.degrees) @ factors.lists.source_weights_by_vertex
    shares = sp.diags_array(walk.hypergraph.edge_weights / factors.edge_degrees)
    flow = (membership @ leaving) @ shares @ (walk.hypergraph.gamma @ membership.T)
    pairs = sp.triu(flow + flow.T, k=1).tocoo()
    volumes = np.bincount(groups, weights=phi)
    joined = np.bincount(pairs.row, pairs.data, count) + np.bincount(pairs.col, pairs.data, count)
    scale = float(np.min(volumes[joined > 0] / joined[joined > 0], initial=np.inf))
    if not np.isfinite(scale):
        return None
    inside = np.maximum(volumes - scale * joined, 0.0)
    single = np.flatnonzero(inside)
    weights = np.concatenate([scale * pairs.data, inside[single]])
    first = np.arange(pairs.nnz)
    edges = np.concatenate([first, first, pairs.nnz + np.arange(len(single))])
    members = np.concatenate([pairs.row, pairs.col, single])
    shape = count, len(weights)
    incidence = sp.csr_array((np.ones(len(edges)), (members, edges)), shape=shape)
    return Hypergraph.from_incidence(incidence, edge_weights=weights)


def _strengths(walk: RandomWalk) -> Floats:
    """For each incidence the largest share of the flow of a vertex that it carries."""
    hypergraph, factors, phi = walk.hypergraph, walk.factors, walk.stationary
    gamma, sizes = hypergraph.gamma, hypergraph.edge_sizes
    vertices = gamma.indices
    leaving = factors.lists.source_weights.data / factors.degrees[vertices]
    leaving *= np.repeat(hypergraph.edge_weights, sizes)
    arriving = gamma.data * np.repeat(1.0 / factors.edge_degrees, sizes)
    returning = arriving * np.repeat(walk.edge_stationary, sizes) / phi[vertices]
    own = np.maximum(leaving, returning)
    strongest = np.maximum.reduceat(own, gamma.indptr[:-1])
    return np.asarray(np.maximum(own, arriving * np.repeat(strongest, sizes)))
