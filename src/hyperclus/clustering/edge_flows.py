"""One pass over the incidences: stay probabilities, and hyperedges that are distinctive for a cluster."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from hyperclus.clustering.cut import edge_information
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Codes, Floats, Integers

MIN_INFORMATION = 1e-15  # smaller values are rounding errors
ALPHA = 0.001  # probability that chance alone gives any hyperedge a cluster, of hyperedges with many members
MIN_EXCESS, MAX_EXCESS = 0.05, 0.6  # excess that is always, and never more than, needed; see `is_clear`


class Candidates(NamedTuple):
    """The hyperedges with the largest scores for one cluster, best first."""

    edges: Integers  # positions in the hypergraph of the walk
    shares: Floats
    flows: Floats
    counts: Floats  # members in the cluster


@dataclass(frozen=True, slots=True, eq=False)
class EdgeFlows:
    """Flows between the clusters and the hyperedges.

    The nearest cluster of a hyperedge is the one with the largest score psi(e) share log(share / vol S).
    """

    stay_probability: Floats  # of each vertex of the walk
    nearest: Integers  # the nearest cluster of each hyperedge
    clear: Booleans  # whether the nearest cluster has the hyperedge clearly more than others
    shares: Floats  # the share of the nearest cluster
    counts: Floats  # the members in the nearest cluster
    top: list[Candidates]  # of each cluster

    @property
    def edge_clusters(self) -> Integers:
        """The cluster of each hyperedge, -1 if it says nothing about the clusters."""
        return np.where(self.clear, self.nearest, -1)


def edge_flows(
    walk: RandomWalk,
    labels: Integers,
    volumes: Floats,
    top: int,
    block_entries: int = 1 << 20,
    block_cells: int = 1 << 22,
) -> EdgeFlows:
    """Visit all incidences once, one block of hyperedges at a time; O(m).

    For hyperedge e and cluster S, a_e(S) is the flow from S into e and b_e(S) the probability that the walk
    goes from e to S. The share of S in e is (a_e(S) / psi(e) + b_e(S)) / 2, as in `Partition.edge_shares`.
    """
    k, factors, gamma, omega = len(volumes), walk.factors, walk.hypergraph.gamma, walk.hypergraph.edge_weights
    phi, n_edges = walk.stationary, len(omega)
    rate, source_weights = phi / factors.degrees, factors.lists.source_weights.data
    staying, best_shares, counts = np.zeros(len(labels)), np.zeros(n_edges), np.zeros(n_edges)
    nearest, clear = np.zeros(n_edges, dtype=np.int64), np.zeros(n_edges, dtype=bool)
    sizes_of = np.bincount(labels, minlength=k)
    found = [Candidates(np.empty(0, dtype=np.int64), *(np.empty(0),) * 3) for _ in range(k)]
    for rows, entries, sizes in row_blocks(gamma.indptr, block_entries, max(block_cells // k, 1)):
        vertices, flows = gamma.indices[entries], walk.edge_stationary[rows]
        row = np.repeat(np.arange(len(sizes)), sizes)
        cells, n_cells = row * k + labels[vertices], len(sizes) * k
        picked = source_weights[entries] * omega[rows][row]
        onward = gamma.data[entries] / factors.edge_degrees[rows][row]
        staying += np.bincount(
            vertices, np.bincount(cells, onward, minlength=n_cells)[cells] * picked, minlength=len(labels)
        )
        weights = 0.5 * (picked * rate[vertices] / np.where(flows > 0, flows, 1.0)[row] + onward)
        shares: Floats = np.bincount(cells, weights, minlength=n_cells).reshape(-1, k).astype(np.float64)
        members = np.bincount(cells, minlength=n_cells).reshape(-1, k).astype(np.float64)
        deviation = np.bincount(row, weights * (weights - 2.0 * phi[vertices]), minlength=len(sizes))
        scores = edge_information(shares, flows, volumes)
        best, each = scores.argmax(axis=1), np.arange(len(sizes))
        nearest[rows], best_shares[rows], counts[rows] = best, shares[each, best], members[each, best]
        spread = np.sqrt(np.maximum(deviation + phi @ phi, 0.0))
        clear[rows] = is_clear(
            best_shares[rows], spread, volumes[best], sizes_of[best], len(labels), n_edges * k
        )
        _update_top(found, scores, (shares, flows, members), volumes, rows.start, top)
    return EdgeFlows(np.minimum(staying / factors.degrees, 1.0), nearest, clear, best_shares, counts, found)


def is_clear(
    shares: Floats, spread: Floats, volumes: Floats, sizes: Integers, n_vertices: int, n_tests: int
) -> Booleans:
    """Whether clusters have hyperedges clearly more than other clusters do.

    The excess of cluster S in hyperedge e is (share - vol S) / (1 - vol S): 0 by chance, 1 if e is inside S.
    It is clear if it is at least 0.05, and z standard deviations of permuted labels, where z corrects for
    `n_tests` comparisons (Bonferroni). But 0.6 is always enough, because the standard deviation of a
    hyperedge of few members is large whatever they are.
    """
    rest, z = 1.0 - volumes, -float(ndtri(ALPHA / max(n_tests, 1)))
    needed = np.clip(z * permuted_deviation(spread, sizes, n_vertices), MIN_EXCESS * rest, MAX_EXCESS * rest)
    return np.asarray(shares - volumes >= np.maximum(needed, 1e-9))


def permuted_deviation(spread: Floats, sizes: Integers, n_vertices: int) -> Floats:
    """Standard deviation of share - vol S if the labels of the vertices are permuted; its mean is 0.

    share - vol S is the sum of w(v) - phi(v) over S, where w(v) is the share of v alone in the hyperedge, so

        var(share - vol S) = s (1 - s) n / (n - 1) sum_v (w(v) - phi(v))^2,    s = |S| / n.

    `spread` is the square root of the last sum.
    """
    part = sizes / n_vertices
    return np.asarray(spread * np.sqrt(part * (1.0 - part) * n_vertices / max(n_vertices - 1, 1)))


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
    found: list[Candidates],
    scores: Floats,
    block: tuple[Floats, Floats, Floats],
    volumes: Floats,
    first: int,
    top: int,
) -> None:
    """Merge a block of hyperedges, numbered from `first`, into the best of each cluster."""
    shares, flows, counts = block
    cut_off = max(len(shares) - top, 0)
    least = np.maximum(np.partition(scores, cut_off, axis=0)[cut_off], MIN_INFORMATION)
    for cluster in np.flatnonzero(scores.max(axis=0) > MIN_INFORMATION):
        near = np.flatnonzero(scores[:, cluster] >= least[cluster])
        new = near + first, shares[near, cluster], flows[near], counts[near, cluster]
        merged = Candidates(*map(np.append, found[cluster], new))
        score = edge_information(merged.shares, merged.flows, volumes[cluster])
        best = np.argsort(-score, kind="stable")[:top]
        found[cluster] = Candidates(
            merged.edges[best], merged.shares[best], merged.flows[best], merged.counts[best]
        )
