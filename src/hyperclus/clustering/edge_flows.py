"""One pass over the incidences: stay probabilities, and hyperedges that are distinctive for a cluster."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hyperclus._runtime.native import Kernel, Kind
from hyperclus._runtime.threads import in_order
from hyperclus.clustering.cut import edge_information
from hyperclus.clustering.incidence_blocks import EDGE_LISTS, edge_lists, edge_parts, row_blocks
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Codes, Floats, Integers

MIN_INFORMATION = 1e-15  # smaller values are rounding errors
ALPHA = 0.001  # probability that chance alone gives any hyperedge a cluster, of hyperedges with many members
MIN_EXCESS, MAX_EXCESS = 0.05, 0.6  # excess that is always, and never more than, needed; see `is_clear`

FLOATS: tuple[Kind, ...] = ("floats",) * 4
OF_MEMBERS: tuple[Kind, ...] = ("integers", "floats")  # labels, and values of the vertices
OF_ROWS: tuple[Kind, ...] = ("int", "int", "int")  # clusters, and the range of hyperedges

_edge_flows = Kernel("edge_flows", *EDGE_LISTS, *OF_MEMBERS, *FLOATS[:3], *OF_ROWS, *FLOATS)

_cluster_sums = Kernel("cluster_sums", *EDGE_LISTS, *OF_MEMBERS, *OF_ROWS, *FLOATS[:2])


class Candidates(NamedTuple):
    """The hyperedges with the largest scores for one cluster, best first."""

    edges: Integers  # positions in the hypergraph of the walk
    shares: Floats
    flows: Floats
    counts: Floats  # members in the cluster


NOTHING = Candidates(np.empty(0, dtype=np.int64), *(np.empty(0),) * 3)


@dataclass(frozen=True, slots=True, eq=False)
class EdgeFlows:
    """Flows between the clusters and the hyperedges.

    The nearest cluster of a hyperedge is the one with the largest score psi(e) share log(share / vol S).
    """

    stay_probability: Floats  # of each vertex of the walk
    nearest: Codes  # the nearest cluster of each hyperedge
    clear: Booleans  # whether the nearest cluster has the hyperedge clearly more than others
    shares: Floats  # the share of the nearest cluster
    counts: Codes  # the members in the nearest cluster
    top: list[Candidates]  # of each cluster

    @property
    def edge_clusters(self) -> Codes:
        """The cluster of each hyperedge, -1 if it says nothing about the clusters."""
        return np.where(self.clear, self.nearest, np.int32(-1))


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
    k, gamma, n_edges = len(volumes), walk.hypergraph.gamma, walk.hypergraph.n_edges
    mixture = walk.hypergraph.mixture
    n_named = n_edges if mixture is None else n_edges - mixture.n_neighborhoods
    omega, labels = np.asarray(walk.hypergraph.edge_weights), labels.astype(np.int64, copy=False)
    pairs = np.column_stack([walk.stationary / walk.factors.degrees, walk.stationary])
    of_edges = omega, walk.factors.edge_degrees, walk.edge_stationary
    given = *edge_lists(walk), labels, pairs, *of_edges, k
    found = EdgeFlows(
        np.zeros(len(labels)),
        np.zeros(n_edges, dtype=np.int32),
        np.zeros(n_edges, dtype=bool),
        np.zeros(n_edges),
        np.zeros(n_edges, dtype=np.int32),
        [NOTHING] * k,
    )
    sizes, squares = np.bincount(labels, minlength=k), walk.stationary @ walk.stationary

    def visit(part: slice) -> tuple[Floats, list[Candidates]]:
        staying, top_here = np.zeros(len(labels)), [NOTHING] * k
        for rows, _, _ in row_blocks(gamma.indptr, block_entries, max(block_cells // k, 1), part):
            shares, members = (np.empty((rows.stop - rows.start, k)) for _ in range(2))
            deviation, flows = np.empty(len(shares)), walk.edge_stationary[rows]
            _edge_flows(*given, rows.start, rows.stop, shares, members, deviation, staying)
            scores = edge_information(shares, flows, volumes)
            best, each = scores.argmax(axis=1), np.arange(len(shares))
            found.nearest[rows], found.shares[rows] = best, shares[each, best]
            found.counts[rows], spread = members[each, best], np.sqrt(np.maximum(deviation + squares, 0.0))
            found.clear[rows] = is_clear(
                found.shares[rows], spread, volumes[best], sizes[best], len(labels), n_edges * k
            )
            scores[max(n_named - rows.start, 0) :] = 0.0  # neighbourhoods have no meaning of their own
            _update_top(top_here, scores, (shares, flows, members), volumes, rows.start, top)
        return staying, top_here

    for staying, top_there in in_order(visit, edge_parts(gamma.indptr)):
        np.add(found.stay_probability, staying, out=found.stay_probability)
        found.top[:] = [
            _best(*each, top) for each in zip(found.top, top_there, volumes.tolist(), strict=True)
        ]
    np.divide(found.stay_probability, walk.factors.degrees, out=found.stay_probability)
    np.minimum(found.stay_probability, 1.0, out=found.stay_probability)
    return found


def cluster_sums(walk: RandomWalk, labels: Integers, k: int) -> tuple[Floats, Floats]:
    """Sums over the members of each hyperedge in each cluster, (n_edges, k): of gamma, and of flows.

    The flow of a member is phi gamma^alpha / d, where d is relative to the largest omega.
    """
    gamma, labels = walk.hypergraph.gamma, labels.astype(np.int64, copy=False)
    sums = np.zeros((gamma.shape[0], k)), np.zeros((gamma.shape[0], k))
    given = *edge_lists(walk), labels, walk.stationary / walk.factors.relative_degrees, k
    for _ in in_order(
        lambda part: _cluster_sums(*given, part.start, part.stop, *sums), edge_parts(gamma.indptr)
    ):
        pass
    return sums


def is_clear(
    shares: Floats, spread: Floats, volumes: Floats, sizes: Integers, n_vertices: int, n_tests: int
) -> Booleans:
    """Whether clusters have hyperedges clearly more than other clusters do.

    The excess of cluster S in hyperedge e is (share - vol S) / (1 - vol S): 0 by chance, 1 if e is inside S.
    It is clear if it is at least 0.05, and z standard deviations of permuted labels, where z corrects for
    `n_tests` comparisons (Bonferroni). But 0.6 is always enough, because the standard deviation of a
    hyperedge of few members is large whatever they are.
    """
    from scipy.special import ndtri

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
    for cluster in np.flatnonzero(scores.max(axis=0) > MIN_INFORMATION):
        known, column, volume = found[cluster], scores[:, cluster], volumes[cluster]
        least = MIN_INFORMATION
        if len(known.edges) == top:
            least = max(least, edge_information(known.shares, known.flows, volume)[-1])
        near = np.flatnonzero(column >= least)
        if len(near) > top:
            near = near[column[near] >= np.partition(column[near], -top)[-top]]
        new = Candidates(near + first, shares[near, cluster], flows[near], counts[near, cluster])
        found[cluster] = _best(known, new, volume, top)


def _best(one: Candidates, other: Candidates, volume: float, top: int) -> Candidates:
    """The best of two lists of candidates; the first one wins ties."""
    edges = np.append(one.edges, other.edges)
    shares, flows, counts = (np.concatenate(pair) for pair in zip(one[1:], other[1:], strict=True))
    best = np.argsort(-edge_information(shares, flows, volume), kind="stable")[:top]
    return Candidates(edges[best], shares[best], flows[best], counts[best])
