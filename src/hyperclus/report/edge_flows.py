"""One pass over the incidences: stay probabilities, shares, and the top hyperedges of each cluster."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hyperclus.clustering.cut import edge_information
from hyperclus.clustering.partition import Partition
from hyperclus.typing import Codes, Floats, Integers

MIN_INFORMATION = 1e-15  # smaller values are rounding errors


@dataclass(frozen=True, slots=True, eq=False)
class TopHyperedges:
    """The most distinctive hyperedges of one cluster, best first."""

    edges: Integers  # positions in the hypergraph of the walk
    shares: Floats  # share of the cluster in the flow through the hyperedge
    lifts: Floats  # share / volume of the cluster; 2 is twice as much as by chance
    flows: Floats  # psi(e), the share of all steps that pass through the hyperedge


@dataclass(frozen=True, slots=True, eq=False)
class EdgeFlows:
    """Flows between the clusters and the hyperedges."""

    stay_probability: Floats  # of each vertex of the walk
    edge_clusters: Integers  # the cluster with the largest share in each hyperedge
    largest_shares: Floats  # that share
    top_hyperedges: list[TopHyperedges]  # of each cluster


def edge_flows(part: Partition, top: int, block_entries: int, block_cells: int) -> EdgeFlows:
    """Visit all incidences once, one block of hyperedges at a time; O(m).

    For hyperedge e and cluster S, a_e(S) is the flow from S into e and b_e(S) the probability that the walk
    goes from e to S. The share of S in e is (a_e(S) / psi(e) + b_e(S)) / 2, as in `Partition.edge_shares`.
    """
    walk, k, labels = part.walk, part.k, part.labels[part.labels >= 0]
    factors, gamma, omega = walk.factors, walk.hypergraph.gamma, walk.hypergraph.edge_weights
    rate, source_weights = walk.stationary / factors.degrees, factors.lists.source_weights.data
    staying, largest_shares = np.zeros(len(labels)), np.zeros(len(omega))
    edge_clusters = np.zeros(len(omega), dtype=np.int64)
    found = [TopHyperedges(np.empty(0, dtype=np.int64), *(np.empty(0),) * 3) for _ in range(k)]
    for rows, entries, sizes in row_blocks(gamma.indptr, block_entries, max(block_cells // k, 1)):
        vertices, weights, flows = gamma.indices[entries], omega[rows], walk.edge_stationary[rows]
        cells = np.repeat(np.arange(len(sizes)) * k, sizes) + labels[vertices]
        transition = gamma.data[entries] / np.repeat(factors.edge_degrees[rows], sizes)
        b = np.bincount(cells, transition, minlength=len(sizes) * k)
        a = np.bincount(cells, source_weights[entries] * rate[vertices], minlength=len(sizes) * k)
        stays = b[cells] * source_weights[entries] * np.repeat(weights, sizes)
        staying += np.bincount(vertices, stays, minlength=len(labels))
        coming = a.reshape(-1, k) * weights[:, None] / np.where(flows > 0, flows, 1.0)[:, None]
        shares = 0.5 * (coming + b.reshape(-1, k))
        edge_clusters[rows], largest_shares[rows] = shares.argmax(axis=1), shares.max(axis=1)
        _update_top(found, shares, flows, part.cut.volumes, rows.start, top)
    return EdgeFlows(np.minimum(staying / factors.degrees, 1.0), edge_clusters, largest_shares, found)


def row_blocks(indptr: Codes, max_entries: int, max_rows: int) -> Iterator[tuple[slice, slice, Codes]]:
    """Yield blocks of rows of a sparse matrix: the rows, their entries, and the number of entries per row.

    >>> [(rows.start, rows.stop) for rows, _, _ in row_blocks(np.array([0, 3, 4, 9, 10]), 4, 2)]
    [(0, 2), (2, 3), (3, 4)]
    """
    first = 0
    while first < len(indptr) - 1:
        last = int(np.searchsorted(indptr, indptr[first] + max_entries, side="right")) - 1
        last = min(max(last, first + 1), first + max_rows, len(indptr) - 1)
        entries = slice(int(indptr[first]), int(indptr[last]))
        yield slice(first, last), entries, np.diff(indptr[first : last + 1])
        first = last


def _update_top(
    found: list[TopHyperedges], shares: Floats, flows: Floats, volumes: Floats, first: int, top: int
) -> None:
    """Merge a block of hyperedges, numbered from `first`, into the best of each cluster."""
    scores, cut_off = edge_information(shares, flows, volumes), max(len(shares) - top, 0)
    least = np.maximum(np.partition(scores, cut_off, axis=0)[cut_off], MIN_INFORMATION)
    for cluster in np.flatnonzero(scores.max(axis=0) > MIN_INFORMATION):
        near, before = np.flatnonzero(scores[:, cluster] >= least[cluster]), found[cluster]
        edges = np.append(before.edges, near + first)
        share, flow = np.append(before.shares, shares[near, cluster]), np.append(before.flows, flows[near])
        best = np.argsort(-edge_information(share, flow, volumes[cluster]), kind="stable")[:top]
        found[cluster] = TopHyperedges(edges[best], share[best], share[best] / volumes[cluster], flow[best])
