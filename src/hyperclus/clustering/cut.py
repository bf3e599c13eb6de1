"""Volume, boundary, NCut, conductance and the sweep, all in O(m) and without P.

Everything follows from two sums per hyperedge and cluster S,

    a_e(S) = sum_{u in S} phi(u) A(u, e),    b_e(S) = sum_{v in S} B(e, v),

because internal(S) = sum_e a_e(S) b_e(S) is the flow inside S. Then
|boundary S| = vol(S) - internal(S) and NCut(S_1, ..., S_k) = k - sum_i internal(S_i) / vol(S_i).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.native import Kernel
from hyperclus._runtime.threads import in_order
from hyperclus.clustering.incidence_blocks import EDGE_LISTS, edge_lists, edge_parts
from hyperclus.engines.base import set_flow
from hyperclus.spectral.walk import RandomWalk, vertex_vector
from hyperclus.typing import Booleans, Floats, Integers

_sweep_gains = Kernel(
    "sweep_gains", *EDGE_LISTS, "indices", "floats", "floats", "floats", "int", "int", "floats"
)


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Volumes and boundaries of the clusters of one partition."""

    volumes: Floats  # vol(S) = sum of phi over S, Definition 14
    boundaries: Floats  # |boundary S| = the stationary flow out of S, Definition 13

    @property
    def ncut(self) -> float:
        """NCut(S_1, ..., S_k) = sum_i |boundary S_i| / vol(S_i), Definition 17."""
        return float((self.boundaries / self.volumes).sum())

    @property
    def conductances(self) -> Floats:
        """Phi(S) = |boundary S| / min(vol S, 1 - vol S), Definition 19; 0 for S = V."""
        before, after = np.cumsum(self.volumes), np.cumsum(self.volumes[::-1])[::-1]
        rest = np.append(0.0, before[:-1]) + np.append(after[1:], 0.0)  # 1 - volume would lose digits
        smaller = np.minimum(self.volumes, rest)
        return np.asarray(self.boundaries / np.where(smaller > 0, smaller, 1.0))


def cut(walk: RandomWalk, labels: Integers, k: int) -> Cut:
    """The cut of a partition with labels 0 .. k - 1, none of them empty.

    >>> from hyperclus import Hypergraph
    >>> walk = RandomWalk(Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]]))
    >>> round(cut(walk, np.array([0, 0, 1, 1]), 2).ncut, 6)
    0.333333
    """
    labels = vertex_vector(walk, labels)
    return Cut(*walk.backend.fetch(*flows(walk, labels, k)))


def flows(walk: RandomWalk, labels: Integers, k: int, once: bool = False) -> tuple[Floats, Floats]:
    """vol(S) and |boundary S| of every cluster, to be fetched from the walk's backend.

    With `once`, the boundary of two clusters, which is the same up to rounding, is computed once.
    """
    factors, phi = walk.factors, walk.stationary
    return factors.products.flows(labels, k, phi, factors.relative_degrees, factors.shares, once)


def flow(walk: RandomWalk, inside: Booleans) -> tuple[float, float]:
    """vol(S) and |boundary S| of one set of vertices, given as a mask."""
    factors = walk.factors
    return set_flow(factors.products, inside, walk.stationary, factors.relative_degrees, factors.shares)


def edge_shares(walk: RandomWalk, labels: Integers, k: int) -> Floats:
    """The share of each cluster in each hyperedge, (a_e(S) / psi(e) + b_e(S)) / 2; rows sum to 1.

    One half is where the walkers in the hyperedge come from, the other where they go.

    >>> from hyperclus import Hypergraph
    >>> walk = RandomWalk(Hypergraph.from_edges([["a", "b"], ["b", "c", "d"]]))
    >>> edge_shares(walk, np.array([0, 0, 1, 1]), 2).round(3).tolist()
    [[1.0, 0.0], [0.333, 0.667]]
    """
    members = (vertex_vector(walk, labels)[:, None] == np.arange(k)).astype(np.float64)
    psi = walk.edge_stationary[:, None]
    arriving = walk.factors.step_to_edges(members * walk.stationary[:, None])
    return np.asarray(0.5 * (arriving / np.where(psi > 0, psi, 1.0) + walk.factors.edge_means(members)))


def edge_information(shares: Floats, flows: Floats, volumes: Any) -> Floats:
    """psi(e) share log(share / vol S) of hyperedges, for one cluster or for all (columns).

    The sum over all is the mutual information of hyperedges and clusters.
    """
    found: Floats = shares * np.log(np.where(shares > 0, shares / volumes, 1.0))
    return found * (flows[:, None] if found.ndim == 2 else flows)


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """All n - 1 two-way cuts along an order of the vertices; cut i has the prefix S = order[: i + 1]."""

    order: Integers
    volumes: Floats  # vol(S)
    rests: Floats  # vol(V - S)
    boundaries: Floats  # |boundary S|, accurate to about 1e-16 sqrt(n), and never smaller than that

    @property
    def ncuts(self) -> Floats:
        """NCut of every prefix."""
        return self.boundaries / self.volumes + self.boundaries / self.rests

    @property
    def conductances(self) -> Floats:
        """Conductance of every prefix."""
        return self.boundaries / np.minimum(self.volumes, self.rests)

    def prefix(self, position: int) -> Booleans:
        """The mask of order[: position + 1]."""
        inside = np.zeros(len(self.order), dtype=bool)
        inside[self.order[: position + 1]] = True
        return inside


def sweep(walk: RandomWalk, scores: Floats) -> Sweep:
    """Sweep the vertices by ascending score (ties by position), in O(m) after the sorts.

    When v joins a prefix S, each of its hyperedges adds
    a_e(v) b_e(S) + a_e(S) b_e(v) + a_e(v) b_e(v) to the internal flow.
    """
    order = np.argsort(vertex_vector(walk, scores), kind="stable")
    del scores  # what a large walk no longer needs
    gained = _gained(walk, order)
    ranked = walk.stationary[order]
    volumes = np.cumsum(ranked)[:-1]
    rests = np.cumsum(ranked[::-1])[-2::-1]
    noise = np.finfo(float).eps * np.sqrt(len(order))
    return Sweep(order, volumes, rests, np.maximum(volumes - np.cumsum(gained)[:-1], noise))


def _gained(walk: RandomWalk, order: Integers) -> Floats:
    """What each vertex adds to the internal flow of the prefix before it."""
    gamma, factors = walk.hypergraph.gamma, walk.factors
    rank = np.empty(len(order), dtype=gamma.indices.dtype)
    rank[order] = np.arange(len(order))
    ranked_rate = (walk.stationary / factors.degrees)[order]
    omega = np.asarray(walk.hypergraph.edge_weights)
    given = *edge_lists(walk), rank, ranked_rate, omega, factors.edge_degrees

    def gains(part: slice) -> Floats:
        found = np.zeros(len(order))
        _sweep_gains(*given, part.start, part.stop, found)
        return found

    gained = np.zeros(len(order))
    for some in in_order(gains, edge_parts(gamma.indptr)):
        gained += some
    return gained
