"""Rings of vertices that are joined in a circle by weak hyperedges."""

import numpy as np
import scipy.sparse as sp

import hyperclus as hc


def chain_of_rings(rings, size, weight):
    """Rings of `size` vertices with hyperedges {i, i + 1, i + 3}, each joined to the next by a weak pair."""
    members, edge_weights = [], []
    for ring in range(rings):
        first = ring * size
        for i in range(size):
            members.append([first + i, first + (i + 1) % size, first + (i + 3) % size])
            edge_weights.append(1.0)
        members.append([first, (ring + 1) % rings * size + size // 2])
        edge_weights.append(weight)
    edges = np.repeat(np.arange(len(members)), [len(one) for one in members])
    vertices = np.concatenate(members)
    incidence = sp.csr_array((np.ones(len(edges)), (vertices, edges)), shape=(rings * size, len(members)))
    return hc.Hypergraph.from_incidence(incidence, edge_weights=np.array(edge_weights))


def equal_arcs(rings, size, k):
    """Labels of k arcs of as many rings each as possible."""
    return np.repeat(np.arange(rings), size) * k // rings
