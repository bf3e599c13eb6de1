"""What the searches need of an objective; the kernels for single moves are in `_native`."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperclus.clustering.vertex_kernels import VertexKernels
from hyperclus.engines.base import ClusterFlows, Directions
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers


@dataclass(frozen=True, slots=True, eq=False)
class BatchState:
    """Clusters, and the flows between each vertex and each cluster."""

    labels: Integers
    linked: ClusterFlows
    sizes: Integers  # in host memory, as the next two
    volumes: Floats
    flows: Floats  # as in `Objective.cost`
    cost: float  # with a penalty for small clusters; infinite if one is empty


class BatchFlows(ABC):
    """What the batch search needs of an objective: how flows between vertices and clusters become gains.

    `directions` says which flows it needs; vectors live where those of the walk live.
    """

    walk: RandomWalk
    directions: Directions

    @abstractmethod
    def flows(self, between: Floats) -> Floats:
        """The flows of a `State`, given what `ClusterFlows.between` gives as a matrix."""

    @abstractmethod
    def gains(
        self, state: BatchState, rows: slice, linked: list[Floats], own: Floats, min_volume: float
    ) -> tuple[Floats, Integers]:
        """How much the best move of each vertex of a slice lowers the cost, and the cluster that it joins.

        `linked` are the flows between these vertices and all clusters but the last, `own` is the flow of each
        to itself. The gain may be a lower bound. As in `best_target`, no cluster is left with less than
        `min_volume`.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Objective(ABC):
    """A cost of partitions that the searches lower; F_ij is the flow from cluster i to cluster j.

    `kernels` are the loops of the vertex search, compiled for it.
    """

    kernels: VertexKernels
    name: ClassVar[str]
    label: ClassVar[str]  # as shown to people
    sign: ClassVar[float]  # -1 where people see the negative cost

    @abstractmethod
    def flows(self, between: Floats) -> Floats:
        """The flows of a `State`, given F."""

    @abstractmethod
    def cost(self, volumes: Floats, flows: Floats) -> float:
        """The cost, given volumes and flows of a state."""

    @abstractmethod
    def cost_between(self, between: Floats) -> float:
        """The cost, given F."""

    @abstractmethod
    def scores(self, between: Floats, labels: Integers, out: Floats, back: Floats, own: Floats) -> Floats:
        """How much the cost falls when each vertex joins each cluster, up to a constant per vertex; (n, k).

        `out` and `back` are the flows from each vertex to each cluster and back, without the one to itself,
        `own`. They may be of first order.
        """

    @abstractmethod
    def costs_of(self, sets: Floats, flow: Floats) -> Floats:
        """The costs of many partitions of few vertices, given indicators (count, k, n) and phi(u) P(u, v)."""

    @abstractmethod
    def merger_costs(self, volumes: Floats, flows: Floats, between: Floats) -> Floats:
        """By how much the cost rises when two clusters are merged, for all pairs, given F too; (k, k)."""

    def after_merger(self, costs: Floats, between: Floats, one: int, other: int) -> tuple[Floats, Floats]:
        """The costs of mergers and F after `other` has joined `one`, without its rows and columns."""
        between = joined(between, one, other)
        return self.merger_costs(between.sum(axis=1), np.diag(between), between), between

    def mergers(
        self, between: Floats, k: int = 1, groups: Integers | None = None
    ) -> Iterator[tuple[int, int, float]]:
        """Mergers of least cost down to k clusters, given F: `other` joins `one`, and the cost rises by that.

        After each, clusters beyond `other` have a number less by one. If there are groups, only clusters of
        the same group are merged.
        """
        groups = np.zeros(len(between), dtype=np.int64) if groups is None else groups
        costs = self.merger_costs(between.sum(axis=1), np.diag(between), between)
        while (count := len(between)) > k:
            barred = np.tri(count, dtype=bool) | (groups[:, None] != groups)
            one, other = divmod(int(np.argmin(np.where(barred, np.inf, costs))), count)
            yield one, other, float(costs[one, other])
            costs, between = self.after_merger(costs, between, one, other)
            groups = np.delete(groups, other)

    def merged_to(self, k: int, between: Floats, groups: Integers | None = None) -> Integers:
        """The cluster 0 .. k - 1 that each of more clusters becomes by mergers of least cost, given F."""
        into = np.arange(len(between))
        for one, other, _ in self.mergers(between, k, groups):
            into[into == other] = one
            into[into > other] -= 1
        return into

    @abstractmethod
    def gains_of_joining(self, out: Floats, back: Floats, between: Floats, n: int) -> Floats:
        """The decrease of the cost when vertices from outside join each cluster, to first order, per mass.

        `out` and `back` are the shares of each vertex's steps to and from the clusters, a row each; F and the
        number n of vertices inside are given.
        """

    @abstractmethod
    def clear(self, flows: Floats, cluster: int) -> None:
        """Remove rounding errors from the flows of a cluster that is empty."""

    @abstractmethod
    def bound(self, pairs: Eigenpairs, k: int) -> float:
        """A lower bound on the cost, which ends the search."""

    @abstractmethod
    def in_batches(self, walk: RandomWalk, k: int) -> BatchFlows:
        """What the batch search needs."""

    def shown(self, cost: float) -> str:
        """A cost as people see it."""
        return f"{self.label} {round(self.sign * cost, 4) + 0.0:.4f}"  # never -0.0000


def joined(between: Floats, one: int, other: int) -> Floats:
    """F after `other` has joined `one`, without its row and column."""
    after = between.copy()
    after[one] += after[other]
    after[:, one] += after[:, other]
    return np.delete(np.delete(after, other, axis=0), other, axis=1)
