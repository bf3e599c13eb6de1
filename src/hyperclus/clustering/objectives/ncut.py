"""NCut = k - sum_j internal(S_j) / vol(S_j): the gain of moving one vertex, and the move itself.

For a vertex v and a cluster j let

    linked(j) = sum_e scale(e) (a gamma_j(e) + gamma_e(v) a_j(e)),    scale = omega / delta,

with a = phi(v) gamma_e(v)^alpha / d(v), and gamma_j(e), a_j(e) the sums of gamma and of a over the members
of e in cluster j. It is the flow between v and S_j in both directions, so moving v from cluster i to j
changes

    internal(S_i) by -linked(i) + own,    internal(S_j) by linked(j) + own,

with own the flow from v to itself, and the volumes by phi(v). A move costs O(deg v k).
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.jit import inner_kernel, specialized
from hyperclus.clustering import vertex_kernels
from hyperclus.clustering.cut import flows
from hyperclus.clustering.objectives.base import BatchFlows, BatchState, Objective
from hyperclus.clustering.vertex_kernels import NOISE, VOLUME_PENALTY, Flow, State, relabel
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Floats, Integers


class NCut(Objective):
    """The share of steps that leave a cluster, summed over the clusters; the state has the flows inside."""

    name, label, sign = "ncut", "NCut", 1.0
    steps = 1.0

    def flows(self, scale: Floats, sums: Floats) -> Floats:
        """F_jj, the flow inside each cluster."""
        return np.asarray(np.einsum("e,ej,ej->j", scale, sums[:, 0], sums[:, 1]))

    def cost(self, volumes: Floats, flows: Floats) -> float:
        """The NCut."""
        return float(len(volumes) - (flows / volumes).sum())

    def cost_between(self, between: Floats) -> float:
        """The NCut."""
        return self.cost(between.sum(axis=1), np.diag(between))

    def scores(self, between: Floats, labels: Integers, out: Floats, back: Floats, own: Floats) -> Floats:
        """Exact scores: of joining a cluster, and of not leaving the present one."""
        volumes, inside, everyone = between.sum(axis=1), np.diag(between), np.arange(len(labels))
        linked, masses = out + back, out.sum(axis=1) + own
        scores = (inside + linked + own[:, None]) / np.add.outer(masses, volumes) - inside / volumes
        rest = np.maximum(volumes[labels] - masses, NOISE)
        left = (inside[labels] - linked[everyone, labels] - own) / rest
        scores[everyone, labels] = inside[labels] / volumes[labels] - left
        return np.asarray(scores)

    def costs_of(self, sets: Floats, flow: Floats) -> Floats:
        """The NCuts of many partitions."""
        leaving = ((sets @ flow) * (1.0 - sets)).sum(axis=2)
        return np.asarray((leaving / (sets @ flow.sum(axis=1))).sum(axis=1))

    def merger_costs(self, volumes: Floats, flows: Floats, between: Floats) -> Floats:
        """By how much the NCut rises when two clusters are merged."""
        shares, inside = flows / volumes, flows[:, None] + flows + between.T + between
        return np.asarray(shares[:, None] + shares - inside / (volumes[:, None] + volumes))

    def gains_of_joining(self, out: Floats, back: Floats, between: Floats, n: int) -> Floats:
        """Compute (out(c) + back(c) - F_cc / v_c) / v_c for each cluster c."""
        volumes = between.sum(axis=1)
        return np.asarray((out + back - np.diag(between) / volumes) / volumes)

    def clear(self, flows: Floats, cluster: int) -> None:
        """Remove rounding errors from the flow inside a cluster that is empty."""
        flows[cluster] = 0.0

    def bound(self, pairs: Eigenpairs, k: int) -> float:
        """The bound that the eigenvalues prove."""
        return ncut_lower_bound(pairs, k)

    def in_batches(self, walk: RandomWalk, k: int) -> BatchFlows:
        """What the batch search needs."""
        return NCutFlows(walk, k)


@dataclass(eq=False)
class NCutFlows(BatchFlows):
    """Flows between vertices and clusters, both directions together.

    With x_j = Pi^1/2 times the indicator of cluster j and L_sym = I - M they are linked_j = 2 Pi^1/2 M x_j;
    internal(S_j) = x_j' M x_j.
    """

    walk: RandomWalk
    k: int

    def __post_init__(self) -> None:
        self.laplacian, phi = NormalizedLaplacian(self.walk), self.walk.stationary
        self.root, self.totals = self.walk.backend.persist(np.sqrt(phi)), [2.0 * phi]

    def columns(self, inside: Booleans) -> list[Floats]:
        """`linked` of one cluster."""
        members: Floats = inside.astype(self.root.dtype) * self.root
        return [2.0 * self.root * (members - self.laplacian.apply(members))]

    def figure(self, labels: Integers, inside: Booleans, columns: list[Floats]) -> Any:
        """Twice the flow inside a cluster."""
        return inside.astype(self.root.dtype) @ columns[0]

    def flows(self, figures: list[Any]) -> Floats:
        """The flow inside each cluster."""
        return np.array(figures, dtype=np.float64) / 2

    def summary(self, labels: Integers) -> tuple[Any, Any]:
        """Volumes, and the flow inside each cluster, by half as many products."""
        volumes, boundaries = flows(self.walk, labels, self.k, once=True)
        return volumes, volumes - boundaries

    def gains(
        self, state: BatchState, rows: slice, own: Floats, min_volume: float
    ) -> tuple[Floats, Integers]:
        """The gains of `best_target`."""
        home, mass = state.labels[rows], self.walk.stationary[rows]
        best, target = np.full_like(mass, -np.inf), np.zeros_like(home)
        stay, rest = np.zeros_like(mass), 2.0 * mass
        for cluster, (volume, inside) in enumerate(zip(state.volumes, state.flows, strict=True)):
            linked = state.linked[0][rows, cluster] if cluster < self.k - 1 else rest
            rest = rest - linked
            gain = (inside + linked + own) / (volume + mass) - inside / volume
            if volume < min_volume:
                gain += VOLUME_PENALTY * np.minimum(mass, min_volume - volume) / min_volume
            left = volume - mass
            leaving = (inside - linked + own) / np.where(left > 0, left, 1.0) - inside / volume
            if state.sizes[cluster] < 2:
                left = left - np.inf
            at_home = home == cluster
            stay = np.where(at_home, np.where(left < max(min_volume, NOISE), -np.inf, leaving), stay)
            better = (gain > best) & ~at_home
            best, target = np.where(better, gain, best), np.where(better, cluster, target)
        return best + stay, target


@inner_kernel
def buffer(state: State) -> Floats:
    """Allocate memory for what `link` computes."""
    return np.empty(len(state.volumes))


@inner_kernel
def link(flow: Flow, state: State, vertex: int, linked: Floats) -> float:
    """Compute `linked`, the flow between a vertex and each cluster; returns its flow to itself."""
    edges, gamma, source_weights = flow.edges, flow.gamma, flow.source_weights
    scale, sums = flow.scale, state.sums
    first, last = flow.indptr[vertex], flow.indptr[vertex + 1]
    rate = flow.rate[vertex]
    own = 0.0
    if len(linked) == 2:  # their sum is 2 phi(v)
        half = 0.0
        for position in range(first, last):
            edge = edges[position]
            inward = scale[edge] * gamma[position]
            outward = scale[edge] * (rate * source_weights[position])
            own += outward * gamma[position]
            half += outward * sums[edge, 0, 0] + inward * sums[edge, 1, 0]
        linked[0] = half
        linked[1] = 2.0 * flow.stationary[vertex] - half
        return own
    linked[:] = 0.0
    for position in range(first, last):
        edge = edges[position]
        inward = scale[edge] * gamma[position]
        outward = scale[edge] * (rate * source_weights[position])
        own += outward * gamma[position]
        for cluster in range(len(linked)):
            linked[cluster] += outward * sums[edge, 0, cluster] + inward * sums[edge, 1, cluster]
    return own


@inner_kernel
def best_target(
    state: State, home: int, mass: float, own: float, linked: Floats, min_volume: float
) -> tuple[float, int]:
    """The largest decrease of the cost when a vertex of this mass leaves home, and the cluster that it joins.

    The cost is the NCut plus a penalty for each cluster below `min_volume`. A cluster is not left with less
    than that, nor empty, nor with a volume of rounding errors only.
    """
    volumes, flows = state.volumes, state.flows
    rest = volumes[home] - mass
    if state.sizes[home] < 2 or rest < max(min_volume, NOISE):
        return -1.0, home
    best = -np.inf
    target = home
    for cluster in range(len(volumes)):
        if cluster != home and volumes[cluster] + mass <= state.most[cluster]:
            joined = (flows[cluster] + linked[cluster] + own) / (volumes[cluster] + mass)
            gain = joined - flows[cluster] / volumes[cluster]
            if volumes[cluster] < min_volume:
                gain += VOLUME_PENALTY * min(mass, min_volume - volumes[cluster]) / min_volume
            if gain > best:
                best = gain
                target = cluster
    return best + (flows[home] - linked[home] + own) / rest - flows[home] / volumes[home], target


@inner_kernel
def move(flow: Flow, state: State, vertex: int, target: int, own: float, linked: Floats) -> None:
    """Move one vertex and update the flows, then the rest by `relabel`."""
    home = state.labels[vertex]
    state.flows[home] -= linked[home] - own
    state.flows[target] += linked[target] + own
    relabel(flow, state, vertex, target)


@inner_kernel
def plain_cost(state: State) -> float:
    """The NCut; empty clusters do not count."""
    total = 0.0
    for cluster in range(len(state.volumes)):
        if state.volumes[cluster] > 0.0:
            total += 1.0 - state.flows[cluster] / state.volumes[cluster]
    return total


NCUT = NCut(specialized(vertex_kernels, sys.modules[__name__]))
