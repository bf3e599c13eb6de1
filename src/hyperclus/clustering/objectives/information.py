"""Information of the walk: the nats that a walker's cluster tells about its next cluster.

    I = sum_ij F_ij ln(F_ij / (v_i v_j)) = sum_ij F_ij ln F_ij - 2 sum_i v_i ln v_i,

with F_ij the flow from cluster i to cluster j and v_i = vol(S_i), the sum of row i and of column i of F. It
is 0 without structure and at most ln k. For graphs it is known as autoinformation (Faccin, Schaub and
Delvenne, 2018). A small cluster adds little to it, so that it has no slivers where NCut does.

A move of v from cluster i to j changes rows and columns i and j of F, by the flows from v to each cluster,
into v from each, and own, from v to itself. A look at all moves costs O(deg v k + k^2).
"""

import sys

import numpy as np

from hyperclus._runtime.jit import inner_kernel, specialized
from hyperclus.clustering import vertex_kernels
from hyperclus.clustering.objectives.base import Objective
from hyperclus.clustering.vertex_kernels import NOISE, VOLUME_PENALTY, Flow, State, relabel
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers

NO_FLOW = 1e-18  # below it, a flow between a vertex and a cluster is rounding error


class Information(Objective):
    """The negative information; the state has F and F ln F."""

    name, label, sign = "information", "information", -1.0

    def flows(self, scale: Floats, sums: Floats) -> Floats:
        """F and F ln F."""
        between = sums[:, 1].T @ (scale[:, None] * sums[:, 0])
        return np.array([between, _xlogx(between)])

    def cost(self, volumes: Floats, flows: Floats) -> float:
        """The negative information."""
        return float(2 * _xlogx(volumes).sum() - flows[1].sum())

    def merger_costs(self, volumes: Floats, flows: Floats, between: Floats) -> Floats:
        """The information lost when two clusters are merged."""
        logs, of_volumes, everyone = _xlogx(between), _xlogx(volumes), np.arange(len(volumes))
        costs = np.zeros_like(between)
        for one in everyone:
            rows = logs[one] + logs - _xlogx(between[one] + between)
            columns = logs[:, one] + logs.T - _xlogx(between[:, one] + between.T)
            others = rows + columns  # of row i: merging it with this one, by the cluster at the other end
            others[:, one] = others[everyone, everyone] = 0.0
            inside = between[one, one] + between[one] + between[:, one] + np.diag(between)
            lost = logs[one, one] + logs[one] + logs[:, one] + np.diag(logs) - _xlogx(inside)
            together = of_volumes[one] + of_volumes - _xlogx(volumes[one] + volumes)
            costs[one] = others.sum(axis=1) + lost - 2 * together
        return costs

    def clear(self, flows: Floats, cluster: int) -> None:
        """Remove rounding errors from the flows of a cluster that is empty."""
        flows[:, cluster] = flows[:, :, cluster] = 0.0

    def bound(self, pairs: Eigenpairs, k: int) -> float:
        """The information is at most ln k."""
        return -float(np.log(k))


def information_of(walk: RandomWalk, labels: Integers, k: int) -> float:
    """The information of a partition with labels 0 .. k - 1, in nats."""
    members = (labels[:, None] == np.arange(k)).astype(np.float64)
    leaving = walk.factors.step_to_edges(members * walk.stationary[:, None])
    between = leaving.T @ walk.factors.edge_means(members)
    return float(_xlogx(between).sum() - 2 * _xlogx(walk.stationary @ members).sum())


def _xlogx(values: Floats) -> Floats:
    positive = values > 0
    return np.where(positive, values * np.log(np.where(positive, values, 1.0)), 0.0)


@inner_kernel
def xlogx(value: float) -> float:
    """Compute x ln x; 0 where rounding left a negative number."""
    return value * np.log(value) if value > 1e-300 else 0.0


@inner_kernel
def buffer(state: State) -> Floats:
    """Allocate memory for what `link` computes: the flows from a vertex, and those into it."""
    return np.empty((2, len(state.volumes)))


@inner_kernel
def link(flow: Flow, state: State, vertex: int, linked: Floats) -> float:
    """Compute `linked`, the flows from a vertex to each cluster, and back; returns its flow to itself.

    The flow to itself is not in them.
    """
    edges, gamma, source_weights = flow.edges, flow.gamma, flow.source_weights
    scale, sums, rate = flow.scale, state.sums, flow.rate[vertex]
    own = 0.0
    linked[:] = 0.0
    for position in range(flow.indptr[vertex], flow.indptr[vertex + 1]):
        edge = edges[position]
        inward = scale[edge] * gamma[position]
        outward = scale[edge] * (rate * source_weights[position])
        own += outward * gamma[position]
        for cluster in range(linked.shape[1]):
            linked[0, cluster] += outward * sums[edge, 0, cluster]
            linked[1, cluster] += inward * sums[edge, 1, cluster]
    home = state.labels[vertex]
    linked[0, home] -= own
    linked[1, home] -= own
    return own


@inner_kernel
def joining(
    state: State, home: int, target: int, mass: float, own: float, out: Floats, back: Floats
) -> float:
    """How much the information rises when a vertex that has left home joins the target."""
    between, logs, volume = state.flows[0], state.flows[1], state.volumes[target]
    gain: float = xlogx(between[target, target] + out[target] + back[target] + own) - logs[target, target]
    from_home, to_home = between[home, target] - out[target], between[target, home] - back[target]
    gain += xlogx(from_home + back[home]) - xlogx(from_home)
    gain += xlogx(to_home + out[home]) - xlogx(to_home)
    gain -= 2.0 * (xlogx(volume + mass) - xlogx(volume))
    for other in range(len(out)):
        if other != home and other != target:
            if out[other] > NO_FLOW:
                gain += xlogx(between[target, other] + out[other]) - logs[target, other]
            if back[other] > NO_FLOW:
                gain += xlogx(between[other, target] + back[other]) - logs[other, target]
    return gain


@inner_kernel
def best_target(
    state: State, home: int, mass: float, own: float, linked: Floats, min_volume: float
) -> tuple[float, int]:
    """The largest decrease of the cost when a vertex of this mass leaves home, and the cluster that it joins.

    The cost is the negative information plus a penalty for each cluster below `min_volume`. A cluster is not
    left with less than that, nor empty, nor with a volume of rounding errors only.
    """
    volumes, between, logs = state.volumes, state.flows[0], state.flows[1]
    out, back = linked[0], linked[1]
    rest = volumes[home] - mass
    if state.sizes[home] < 2 or rest < max(min_volume, NOISE):
        return -1.0, home
    leaving = xlogx(between[home, home] - out[home] - back[home] - own) - logs[home, home]
    leaving -= 2.0 * (xlogx(rest) - xlogx(volumes[home]))
    for other in range(len(volumes)):
        if other != home and out[other] + back[other] > NO_FLOW:
            leaving += xlogx(between[home, other] - out[other]) - logs[home, other]
            leaving += xlogx(between[other, home] - back[other]) - logs[other, home]
    best = -np.inf
    target = home
    for cluster in range(len(volumes)):
        if cluster != home:
            gain = joining(state, home, cluster, mass, own, out, back)
            if volumes[cluster] < min_volume:
                gain += VOLUME_PENALTY * min(mass, min_volume - volumes[cluster]) / min_volume
            if gain > best:
                best = gain
                target = cluster
    return best + leaving, target


@inner_kernel
def move(flow: Flow, state: State, vertex: int, target: int, own: float, linked: Floats) -> None:
    """Move one vertex and update the flows, then the rest by `relabel`."""
    home = state.labels[vertex]
    between, logs = state.flows[0], state.flows[1]
    for other in range(linked.shape[1]):
        if other != home:
            between[home, other] -= linked[0, other]
            between[other, home] -= linked[1, other]
        if other != target:
            between[target, other] += linked[0, other]
            between[other, target] += linked[1, other]
    between[home, home] -= linked[0, home] + linked[1, home] + own
    between[target, target] += linked[0, target] + linked[1, target] + own
    for other in range(linked.shape[1]):
        logs[home, other] = xlogx(between[home, other])
        logs[other, home] = xlogx(between[other, home])
        logs[target, other] = xlogx(between[target, other])
        logs[other, target] = xlogx(between[other, target])
    relabel(flow, state, vertex, target)


@inner_kernel
def plain_cost(state: State) -> float:
    """The negative information."""
    total = 0.0
    for cluster in range(len(state.volumes)):
        total += 2.0 * xlogx(state.volumes[cluster])
        for other in range(len(state.volumes)):
            total -= state.flows[1, cluster, other]
    return total


INFORMATION = Information(specialized(vertex_kernels, sys.modules[__name__]))
