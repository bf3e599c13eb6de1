"""Information of the walk: the nats that a walker's cluster tells about its next cluster.

    I = sum_ij F_ij ln(F_ij / (v_i v_j)) = sum_ij F_ij ln F_ij - 2 sum_i v_i ln v_i,

with F_ij the flow from cluster i to cluster j and v_i = vol(S_i), the sum of row i and of column i of F. It
is 0 without structure and at most ln k. For graphs it is known as autoinformation (Faccin, Schaub and
Delvenne, 2018). A small cluster adds little to it, so that it has no slivers where NCut does.

A move of v from cluster i to j changes rows and columns i and j of F, by the flows from v to each cluster,
into v from each, and own, from v to itself. A look at all moves costs O(deg v k + k^2).
"""

from dataclasses import dataclass

import numpy as np

from hyperclus._runtime.native import Kernel
from hyperclus.clustering.objectives.base import BatchFlows, BatchState, Objective, joined
from hyperclus.clustering.vertex_kernels import NOISE, VOLUME_PENALTY, VertexKernels
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers

NO_INVERSE = 1e300  # stands for 1 / F where F is below LEAST
LEAST = 1e-8  # flow between clusters whose logarithm stands for those of smaller ones in first-order gains

_merger_costs = Kernel("merger_costs", "floats", "int", "floats")
_merge_to = Kernel("merge_to", "floats", "int", "int", "integers")


class Information(Objective):
    """The negative information; the state has F, F ln F, ln F and 1 / F, the last two also transposed."""

    name, label, sign = "information", "information", -1.0

    def flows(self, between: Floats) -> Floats:
        """F, F ln F, ln F and its transpose, 1 / F and its transpose."""
        return _with_logs(between)

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
        costs = np.empty(between.shape)
        _merger_costs(np.ascontiguousarray(between), len(between), costs)
        return costs

    def merged_to(self, k: int, between: Floats, groups: Integers | None = None) -> Integers:
        """As in `Objective`, compiled unless there are groups."""
        if groups is not None:
            return super().merged_to(k, between, groups)
        into = np.empty(len(between), dtype=np.int64)
        _merge_to(between.copy(), len(between), k, into)
        return np.unique(into, return_inverse=True)[1]

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
        flows[2:4, cluster] = flows[2:4, :, cluster] = np.log(LEAST)
        flows[4:, cluster] = flows[4:, :, cluster] = NO_INVERSE

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
        self.directions = "out" if self.walk.reversible else "both"

    def flows(self, between: Floats) -> Floats:
        """The flows of a `State`."""
        return _with_logs(between)

    def gains(
        self, state: BatchState, rows: slice, linked: list[Floats], own: Floats, min_volume: float
    ) -> tuple[Floats, Integers]:
        """First-order gains, which are lower bounds, because x ln x is convex; those of volumes are exact.

        With out(c) and back(c) the flows from a vertex to cluster c and back, and L = ln F, the move
        from i to j gains sum_c out(c) (L_jc - L_ic) + back(c) (L_cj - L_ci), where the flow of the vertex to
        itself, which is in out(i) and in back(i), has to go from (i, i) to (j, j).
        """
        home, mass, take = state.labels[rows], self.walk.stationary[rows], self.walk.backend.take
        logs = state.flows[2]
        tables = [logs, logs.T] if len(linked) == 2 else [logs + logs.T]
        scores = [float(last) * mass for last in logs[:, -1] + logs[-1]]
        for table, block in zip(tables, linked, strict=True):
            differences = self.walk.backend.put((table[:, :-1] - table[:, -1:]).T.astype(mass.dtype))
            shares = block @ differences
            scores = [score + more for score, more in zip(scores, shares.T, strict=True)]
        best, target = np.full_like(mass, -np.inf), np.zeros_like(home)
        of_volumes = _xlogx(state.volumes).tolist()
        at_home, leaving = np.zeros_like(mass), take(state.volumes, home) - mass
        for cluster, (volume, score) in enumerate(zip(state.volumes.tolist(), scores, strict=True)):
            there = logs[cluster, cluster] - logs[cluster] - logs[:, cluster] + np.diag(logs)
            after = volume + mass
            gain = score + own * take(there, home) - 2.0 * (after * np.log(after) - of_volumes[cluster])
            if volume < min_volume:
                gain += VOLUME_PENALTY * np.minimum(mass, min_volume - volume) / min_volume
            inside = home == cluster
            at_home = np.where(inside, score, at_home)
            better = (gain > best) & ~inside
            best, target = np.where(better, gain, best), np.where(better, cluster, target)
        stay = -at_home - 2.0 * (_xlogx(np.maximum(leaving, 0.0)) - take(np.array(of_volumes), home))
        limit = np.where(state.sizes > 1, max(min_volume, NOISE), np.inf)
        return np.where(leaving >= take(limit, home), best + stay, -np.inf), target


def flows_between(walk: RandomWalk, labels: Integers, k: int) -> Floats:
    """F_ij, the flow from cluster i to cluster j, of labels 0 .. k - 1; fetched from the walk's backend."""
    columns = walk.factors.products.between(labels, k, walk.flow_factors)
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
    """F, F ln F, ln F and its transpose, 1 / F and its transpose."""
    logs = np.log(np.maximum(between, LEAST))
    inverses = np.where(between > LEAST, 1.0 / np.maximum(between, LEAST), NO_INVERSE)
    return np.array([between, _xlogx(between), logs, logs.T, inverses, inverses.T])


def _xlogx(values: Floats) -> Floats:
    positive = values > 0
    return np.where(positive, values * np.log(np.where(positive, values, 1.0)), 0.0)


INFORMATION = Information(VertexKernels("information"))
