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

import numpy as np

from hyperclus._runtime.jit import inner_kernel, specialized
from hyperclus.clustering import vertex_kernels
from hyperclus.clustering.objectives.base import Objective
from hyperclus.clustering.vertex_kernels import NOISE, VOLUME_PENALTY, Flow, State, relabel
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.typing import Floats


class NCut(Objective):
    """The share of steps that leave a cluster, summed over the clusters; the state has the flows inside."""

    name, label, sign = "ncut", "NCut", 1.0

    def flows(self, scale: Floats, sums: Floats) -> Floats:
        """F_jj, the flow inside each cluster."""
        return np.asarray(np.einsum("e,ej,ej->j", scale, sums[:, 0], sums[:, 1]))

    def cost(self, volumes: Floats, flows: Floats) -> float:
        """The NCut."""
        return float(len(volumes) - (flows / volumes).sum())

    def merger_costs(self, volumes: Floats, flows: Floats, between: Floats) -> Floats:
        """By how much the NCut rises when two clusters are merged."""
        shares, inside = flows / volumes, flows[:, None] + flows + between.T + between
        return np.asarray(shares[:, None] + shares - inside / (volumes[:, None] + volumes))

    def clear(self, flows: Floats, cluster: int) -> None:
        """Remove rounding errors from the flow inside a cluster that is empty."""
        flows[cluster] = 0.0

    def bound(self, pairs: Eigenpairs, k: int) -> float:
        """The bound that the eigenvalues prove."""
        return ncut_lower_bound(pairs, k)


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
        if cluster != home:
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
