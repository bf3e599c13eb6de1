"""NCut = k - sum_j internal(S_j) / vol(S_j): the gain of moving one vertex, and the move itself.

For a vertex v and a cluster j let

    linked(j) = sum_e scale(e) (a gamma_j(e) + gamma_e(v) a_j(e)),    scale = omega / delta,

with a = phi(v) gamma_e(v)^alpha / d(v), and gamma_j(e), a_j(e) the sums of gamma and of a over the members
of e in cluster j. It is the flow between v and S_j in both directions, so moving v from cluster i to j
changes

    internal(S_i) by -linked(i) + own,    internal(S_j) by linked(j) + own,

with own the flow from v to itself, and the volumes by phi(v). A move costs O(deg v k).
"""

from dataclasses import dataclass

import numpy as np

from hyperclus.clustering.objectives.base import BatchFlows, BatchState, Objective
from hyperclus.clustering.vertex_kernels import NOISE, VOLUME_PENALTY, VertexKernels
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers


class NCut(Objective):
    """The share of steps that leave a cluster, summed over the clusters; the state has the flows inside."""

    name, label, sign = "ncut", "NCut", 1.0

    def flows(self, between: Floats) -> Floats:
        """F_jj, the flow inside each cluster."""
        return np.diag(between).copy()

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
    """Flows between vertices and clusters, both directions together."""

    walk: RandomWalk
    k: int

    def __post_init__(self) -> None:
        self.directions = "sum"

    def flows(self, between: Floats) -> Floats:
        """The flow inside each cluster."""
        return np.diag(between) / 2

    def gains(
        self, state: BatchState, rows: slice, linked: list[Floats], own: Floats, min_volume: float
    ) -> tuple[Floats, Integers]:
        """The gains of `best_target`."""
        home, mass = state.labels[rows], self.walk.stationary[rows]
        best, target = np.full_like(mass, -np.inf), np.zeros_like(home)
        stay, rest = np.zeros_like(mass), 2.0 * mass
        for cluster, (volume, inside) in enumerate(zip(state.volumes, state.flows, strict=True)):
            flow = linked[0][:, cluster] if cluster < self.k - 1 else rest
            rest = rest - flow
            gain = (inside + flow + own) / (volume + mass) - inside / volume
            if volume < min_volume:
                gain += VOLUME_PENALTY * np.minimum(mass, min_volume - volume) / min_volume
            left = volume - mass
            leaving = (inside - flow + own) / np.where(left > 0, left, 1.0) - inside / volume
            if state.sizes[cluster] < 2:
                left = left - np.inf
            at_home = home == cluster
            stay = np.where(at_home, np.where(left < max(min_volume, NOISE), -np.inf, leaving), stay)
            better = (gain > best) & ~at_home
            best, target = np.where(better, gain, best), np.where(better, cluster, target)
        return best + stay, target


NCUT = NCut(VertexKernels("ncut"))
