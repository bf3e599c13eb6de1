"""Information of the walk: the nats that a walker's cluster tells about its next cluster.

    I = sum_ij F_ij ln(F_ij / (v_i v_j)) = sum_ij F_ij ln F_ij - 2 sum_i v_i ln v_i,

with F_ij the flow from cluster i to cluster j and v_i = vol(S_i), the sum of row i and of column i of F. It
is 0 without structure and at most ln k. For graphs it is known as autoinformation (Faccin, Schaub and
Delvenne, 2018). A small cluster adds little to it, so that it has no slivers where NCut does.

A move of v from cluster i to j changes rows and columns i and j of F, by the flows from v to each cluster,
into v from each, and own, from v to itself. A look at all moves costs O(deg v k + k^2).
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.jit import inner_kernel, specialized
from hyperclus.clustering import vertex_kernels
from hyperclus.clustering.objectives.base import BatchFlows, BatchState, Objective, joined
from hyperclus.clustering.vertex_kernels import NOISE, VOLUME_PENALTY, Flow, State, relabel
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Floats, Integers

NO_FLOW = 1e-18  # below it, a flow between a vertex and a cluster is rounding error
LEAST = 1e-8  # flow between clusters whose logarithm stands for those of smaller ones in first-order gains
SHORTLIST = 3  # targets whose gain is computed exactly


class Information(Objective):
    """The negative information; the state has F, F ln F, ln F and its transpose (for first-order gains)."""

    name, label, sign = "information", "information", -1.0
    steps = 4.0

    def flows(self, scale: Floats, sums: Floats) -> Floats:
        """F, F ln F, ln F and its transpose."""
        return _with_logs(sums[:, 1].T @ (scale[:, None] * sums[:, 0]))

    def cost(self, volumes: Floats, flows: Floats) -> float:
        """The negative information."""
        return float(2 * _xlogx(volumes).sum() - flows[1].sum())

    def cost_between(self, between: Floats) -> float:
        """The negative information."""
        return float(2 * _xlogx(between.sum(axis=1)).sum() - _xlogx(between).sum())

    def scores(self, between: Floats, labels: Integers, out: Floats, back: Floats, own: Floats) -> Floats:
        """First-order scores.

        Unlike in `InformationFlows.gains`, those of volumes are of first order too: many vertices move at
        once, so that volumes change less than the moves of single vertices say.
        """
        logs, masses = np.log(np.maximum(between, LEAST)), out.sum(axis=1) + own
        volumes = np.log(np.maximum(between.sum(axis=1), NOISE))
        found = out @ logs.T + back @ logs + np.multiply.outer(own, np.diag(logs))
        return np.asarray(found - np.multiply.outer(2 * masses, volumes))

    def costs_of(self, sets: Floats, flow: Floats) -> Floats:
        """The negative information of many partitions."""
        between, volumes = sets @ flow @ sets.transpose(0, 2, 1), sets @ flow.sum(axis=1)
        return np.asarray(2 * _xlogx(volumes).sum(axis=1) - _xlogx(between).sum(axis=(1, 2)))

    def merger_costs(self, volumes: Floats, flows: Floats, between: Floats) -> Floats:
        """The information lost when two clusters are merged."""
        return np.array([_losses(between, volumes, one) for one in range(len(volumes))])

    def after_merger(self, costs: Floats, between: Floats, one: int, other: int) -> tuple[Floats, Floats]:
        """As in `Objective`; costs of mergers of other clusters change by their flows to these two only."""
        for flows in (between, between.T):
            costs = costs + _pair_losses(flows[:, one] + flows[:, other])
            costs -= _pair_losses(flows[:, one]) + _pair_losses(flows[:, other])
        costs = np.delete(np.delete(costs, other, axis=0), other, axis=1)
        between, place = joined(between, one, other), one - (other < one)
        costs[place] = costs[:, place] = _losses(between, between.sum(axis=1), place)
        return costs, between

    def gains_of_joining(self, out: Floats, back: Floats, between: Floats, n: int) -> Floats:
        """Compute sum_j out(j) ln F_cj + back(j) ln F_jc - 2 ln v_c for each cluster c.

        F_cj is at least v_c v_j / n, the flow by chance of one vertex of mean mass: between clusters without
        any flow, a single step does not make another label impossible.
        """
        volumes = between.sum(axis=1)
        logs = np.log(np.maximum(between, np.outer(volumes, volumes) / n))
        flows = out @ (logs + logs.T) if back is out else out @ logs.T + back @ logs
        return np.asarray(flows - 2 * np.log(volumes))

    def clear(self, flows: Floats, cluster: int) -> None:
        """Remove rounding errors from the flows of a cluster that is empty."""
        flows[:2, cluster] = flows[:2, :, cluster] = 0.0
        flows[2:, cluster] = flows[2:, :, cluster] = np.log(LEAST)

    def bound(self, pairs: Eigenpairs, k: int) -> float:
        """The information is at most ln k."""
        return -float(np.log(k))

    def in_batches(self, walk: RandomWalk, k: int) -> BatchFlows:
        """What the batch search needs."""
        return InformationFlows(walk, k)


@dataclass(eq=False)
class InformationFlows(BatchFlows):
    """The flows from each vertex to each cluster, and for walks that are not reversible those back."""

    walk: RandomWalk
    k: int

    def __post_init__(self) -> None:
        self.totals = [self.walk.stationary] * (1 if self.walk.reversible else 2)

    def columns(self, inside: Booleans) -> list[Floats]:
        """The flows to one cluster, and those from it."""
        phi = self.walk.stationary
        found = [phi * self.walk.forward(inside.astype(phi.dtype))]
        return found if self.walk.reversible else [*found, self.walk.adjoint(inside * phi)]

    def figure(self, labels: Integers, inside: Booleans, columns: list[Floats]) -> Any:
        """The flows from each cluster to this one."""
        return np.bincount(labels, weights=columns[0], minlength=self.k)

    def flows(self, figures: list[Any]) -> Floats:
        """The flows of a `State`."""
        return _with_logs(np.array(figures, dtype=np.float64).T)

    def summary(self, labels: Integers) -> tuple[Any, Any]:
        """Volumes and flows of a partition alone."""
        between = flows_between(self.walk, labels, self.k)
        return between.sum(axis=1), _with_logs(between)

    def gains(
        self, state: BatchState, rows: slice, own: Floats, min_volume: float
    ) -> tuple[Floats, Integers]:
        """First-order gains, which are lower bounds, because x ln x is convex; those of volumes are exact.

        With out(c) and back(c) the flows from a vertex to cluster c and back, and L = ln F, the move
        from i to j gains sum_c out(c) (L_jc - L_ic) + back(c) (L_cj - L_ci), where the flow of the vertex to
        itself, which is in out(i) and in back(i), has to go from (i, i) to (j, j).
        """
        home, mass, take = state.labels[rows], self.walk.stationary[rows], self.walk.backend.take
        logs = state.flows[2]
        tables = [logs, logs.T] if len(state.linked) == 2 else [logs + logs.T]
        scores = [float(last) * mass for last in logs[:, -1] + logs[-1]]
        for table, block in zip(tables, state.linked, strict=True):
            differences = self.walk.backend.put((table[:, :-1] - table[:, -1:]).T.astype(mass.dtype))
            shares = block[rows] @ differences
            scores = [score + more for score, more in zip(scores, shares.T, strict=True)]
        best, target = np.full_like(mass, -np.inf), np.zeros_like(home)
        stay = np.zeros_like(mass)
        for cluster, (volume, score) in enumerate(zip(state.volumes.tolist(), scores, strict=True)):
            before = xlogx(volume)
            there = logs[cluster, cluster] - logs[cluster] - logs[:, cluster] + np.diag(logs)
            gain = score + own * take(there, home) - 2.0 * (_xlogx(volume + mass) - before)
            if volume < min_volume:
                gain += VOLUME_PENALTY * np.minimum(mass, min_volume - volume) / min_volume
            left = volume - mass
            kept = state.sizes[cluster] > 1
            leaving = -score - 2.0 * (_xlogx(np.maximum(left, 0.0)) - before)
            at_home = home == cluster
            allowed = left >= max(min_volume, NOISE) if kept else left < -np.inf
            stay = np.where(at_home, np.where(allowed, leaving, -np.inf), stay)
            better = (gain > best) & ~at_home
            best, target = np.where(better, gain, best), np.where(better, cluster, target)
        return best + stay, target


def flows_between(walk: RandomWalk, labels: Integers, k: int) -> Floats:
    """F_ij, the flow from cluster i to cluster j, of labels 0 .. k - 1; fetched from the walk's backend."""
    phi = walk.stationary
    columns = [
        np.bincount(labels, weights=phi * walk.forward((labels == cluster).astype(phi.dtype)), minlength=k)
        for cluster in range(k)
    ]
    return np.array(walk.backend.fetch(*columns), dtype=np.float64).T


def information_of(walk: RandomWalk, labels: Integers, k: int) -> float:
    """The information of a partition with labels 0 .. k - 1, in nats."""
    return -INFORMATION.cost_between(flows_between(walk, labels, k))


def _losses(between: Floats, volumes: Floats, one: int) -> Floats:
    """The information lost when a cluster is merged with each other one."""
    logs, of_volumes, everyone = _xlogx(between), _xlogx(volumes), np.arange(len(volumes))
    rows = logs[one] + logs - _xlogx(between[one] + between)
    columns = logs[:, one] + logs.T - _xlogx(between[:, one] + between.T)
    others = rows + columns  # of row i: merging it with this one, by the cluster at the other end
    others[:, one] = others[everyone, everyone] = 0.0
    inside = between[one, one] + between[one] + between[:, one] + np.diag(between)
    lost = logs[one, one] + logs[one] + logs[:, one] + np.diag(logs) - _xlogx(inside)
    together = of_volumes[one] + of_volumes - _xlogx(volumes[one] + volumes)
    return np.asarray(others.sum(axis=1) + lost - 2 * together)


def _pair_losses(flows: Floats) -> Floats:
    """For all pairs of flows x ln x of both, less that of their sum; (k, k)."""
    logs = _xlogx(flows)
    return np.asarray(logs[:, None] + logs - _xlogx(flows[:, None] + flows))


def _with_logs(between: Floats) -> Floats:
    """F, F ln F, ln F and its transpose."""
    logs = np.log(np.maximum(between, LEAST))
    return np.array([between, _xlogx(between), logs, logs.T])


def _xlogx(values: Floats) -> Floats:
    positive = values > 0
    return np.where(positive, values * np.log(np.where(positive, values, 1.0)), 0.0)


@inner_kernel
def xlogx(value: float) -> float:
    """Compute x ln x; 0 where rounding left a negative number."""
    return value * np.log(value) if value > 1e-300 else 0.0


@inner_kernel
def buffer(state: State) -> Floats:
    """Allocate memory: the flows from a vertex and those into it, from `link`, and scores of targets."""
    return np.empty((3, len(state.volumes)))


@inner_kernel
def link(flow: Flow, state: State, vertex: int, linked: Floats) -> float:
    """Compute `linked`, the flows from a vertex to each cluster, and back; returns its flow to itself.

    The flow to itself is not in them.
    """
    edges, gamma, source_weights = flow.edges, flow.gamma, flow.source_weights
    scale, sums, rate = flow.scale, state.sums, flow.rate[vertex]
    own = 0.0
    linked[:2] = 0.0
    for position in range(flow.indptr[vertex], flow.indptr[vertex + 1]):
        edge = edges[position]
        inward = scale[edge] * gamma[position]
        outward = scale[edge] * (rate * source_weights[position])
        own += outward * gamma[position]
        for cluster in range(linked.shape[1]):
            linked[0, cluster] += outward * sums[edge, 0, cluster]
        if not flow.reversible:
            for cluster in range(linked.shape[1]):
                linked[1, cluster] += inward * sums[edge, 1, cluster]
    if flow.reversible:
        linked[1] = linked[0]
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
def leaving(state: State, home: int, mass: float, own: float, out: Floats, back: Floats) -> float:
    """How much the information rises when a vertex leaves home."""
    between, logs, volume = state.flows[0], state.flows[1], state.volumes[home]
    gain: float = xlogx(between[home, home] - out[home] - back[home] - own) - logs[home, home]
    gain -= 2.0 * (xlogx(volume - mass) - xlogx(volume))
    for other in range(len(out)):
        if other != home and out[other] + back[other] > NO_FLOW:
            gain += xlogx(between[home, other] - out[other]) - logs[home, other]
            gain += xlogx(between[other, home] - back[other]) - logs[other, home]
    return gain


@inner_kernel
def score(state: State, mass: float, own: float, linked: Floats, min_volume: float) -> None:
    """Compute the first-order gain of joining each cluster, up to a constant; -inf if it gets too large."""
    volumes = state.volumes
    out, back, scores = linked[0], linked[1], linked[2]
    for cluster in range(len(volumes)):
        scores[cluster] = own * state.flows[2, cluster, cluster]
        scores[cluster] -= 2.0 * mass * np.log(max(volumes[cluster], NOISE))
        if volumes[cluster] < min_volume:
            scores[cluster] += VOLUME_PENALTY * min(mass, min_volume - volumes[cluster]) / min_volume
        if volumes[cluster] + mass > state.most[cluster]:
            scores[cluster] = -np.inf
    for other in range(len(volumes)):
        if out[other] + back[other] > NO_FLOW:
            for cluster in range(len(volumes)):
                first = out[other] * state.flows[3, other, cluster]
                scores[cluster] += first + back[other] * state.flows[2, other, cluster]


@inner_kernel
def best_target(
    state: State, home: int, mass: float, own: float, linked: Floats, min_volume: float
) -> tuple[float, int]:
    """The largest decrease of the cost when a vertex of this mass leaves home, and the cluster that it joins.

    The cost is the negative information plus a penalty for each cluster below `min_volume`. A cluster is not
    left with less than that, nor empty, nor with a volume of rounding errors only. The gain is exact; of more
    than SHORTLIST targets it is computed for those with the largest first-order gains.
    """
    volumes = state.volumes
    out, back, scores = linked[0], linked[1], linked[2]
    rest = volumes[home] - mass
    if state.sizes[home] < 2 or rest < max(min_volume, NOISE):
        return -1.0, home
    score(state, mass, own, linked, min_volume)
    scores[home] = -np.inf
    best = -np.inf
    target = home
    for _ in range(min(SHORTLIST, len(volumes) - 1)):
        cluster = int(np.argmax(scores))
        if scores[cluster] == -np.inf:
            break
        scores[cluster] = -np.inf
        gain = joining(state, home, cluster, mass, own, out, back)
        if volumes[cluster] < min_volume:
            gain += VOLUME_PENALTY * min(mass, min_volume - volumes[cluster]) / min_volume
        if gain > best:
            best = gain
            target = cluster
    return best + leaving(state, home, mass, own, out, back), target


@inner_kernel
def refresh(state: State, cluster: int) -> None:
    """Recompute the logarithms of the flows from and to a cluster."""
    for other in range(len(state.volumes)):
        for there in range(2):
            one, two = (cluster, other) if there else (other, cluster)
            value = state.flows[0, one, two]
            state.flows[1, one, two] = xlogx(value)
            state.flows[2, one, two] = state.flows[3, two, one] = np.log(max(value, LEAST))


@inner_kernel
def move(flow: Flow, state: State, vertex: int, target: int, own: float, linked: Floats) -> None:
    """Move one vertex and update the flows, then the rest by `relabel`."""
    home = state.labels[vertex]
    between = state.flows[0]
    for other in range(linked.shape[1]):
        if other != home:
            between[home, other] -= linked[0, other]
            between[other, home] -= linked[1, other]
        if other != target:
            between[target, other] += linked[0, other]
            between[other, target] += linked[1, other]
    between[home, home] -= linked[0, home] + linked[1, home] + own
    between[target, target] += linked[0, target] + linked[1, target] + own
    refresh(state, home)
    refresh(state, target)
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
