"""The masses of weakly joined blocks, whose errors no residual shows.

Between blocks joined by a flow of 1e-10, mass can be wrong by a factor while ||phi P - phi|| is at
rounding level. Aggregation (Simon and Ando, 1961; Koury, McAllister and Stewart, 1984) corrects it: the
distribution within each block is accurate, so the chain of the blocks is, and elimination solves that one
without losing digits.
"""

import numpy as np
import scipy.sparse as sp

from hyperclus.engines.cpu import incidence_shares
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.typing import Floats, Integers

WEAK = 1e-4  # an incidence is weak if it carries less than this share of its vertex's flow, both ways
MOST_BLOCKS = 1000  # elimination takes about a second for this many


def weakly_joined_blocks(factors: TransitionFactors, distribution: Floats) -> Integers | None:
    """The block of each vertex after weak incidences are removed; None if none is weak."""
    if not has_weak_joints(factors, distribution):
        return None
    from scipy.sparse.csgraph import connected_components

    h = factors.hypergraph
    strong = np.concatenate(
        [some >= WEAK for some in incidence_shares(factors.lists, *_rates(factors, distribution))]
    )
    edges = np.repeat(np.arange(h.n_edges), h.edge_sizes)[strong]
    total = h.n_edges + h.n_vertices
    ones = np.ones(len(edges))
    members = h.gamma.indices[strong].astype(np.int64) + h.n_edges
    graph = sp.coo_array((ones, (edges, members)), shape=(total, total))
    _, labels = connected_components(graph.tocsr(), directed=False)
    _, blocks = np.unique(labels[h.n_edges :], return_inverse=True)
    return np.asarray(blocks) if blocks.max() < MOST_BLOCKS else None


def has_weak_joints(factors: TransitionFactors, distribution: Floats) -> bool:
    """Whether some incidence is weak."""
    return factors.products.least_share(*_rates(factors, distribution)) < WEAK


def block_chain(factors: TransitionFactors, distribution: Floats, blocks: Integers) -> Floats:
    """The probabilities of a step from block to block; only those off the diagonal are used."""
    count = int(blocks.max()) + 1
    h = factors.hypergraph
    membership = sp.csr_array(
        (np.ones(len(blocks)), (np.arange(len(blocks)), blocks)), shape=(len(blocks), count)
    )
    rate = sp.diags_array(distribution / factors.degrees)
    into = membership.T @ rate @ factors.lists.source_weights_by_vertex @ sp.diags_array(h.edge_weights)
    out_of = sp.diags_array(1.0 / factors.edge_degrees) @ h.gamma @ membership
    flows = np.asarray((into @ out_of).toarray())
    return flows / np.bincount(blocks, weights=distribution)[:, None]


def _rates(factors: TransitionFactors, distribution: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Factors that give the share of an incidence in the flow from its vertex, and in the flow to it."""
    arrival = factors.step_to_edges(distribution) / factors.edge_degrees
    return factors.edge_weights, 1.0 / factors.degrees, arrival, 1.0 / distribution
