"""Nested levels of clusters that are good at each number of clusters."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np

from hyperclus.clustering.objectives import Objective, flows_between
from hyperclus.clustering.vertex_search import Clusters
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers

ROUNDS = 60  # of moves in all levels
STARTS = 6  # that vertices are moved in: those of the lowest total loss
POWER = 3  # of the relative losses in their mean: the largest ones count most
NO_COST = 1e-6  # a smaller cost counts as this in relative losses
NO_LOSS = 1e-3  # a level never counts less than with this loss
MIN_PROGRESS = 1e-5  # of the total loss, in one round


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """The finest clusters, F between them, and the cluster at each level that each of them is in."""

    labels: Integers
    between: Floats
    levels: Sequence[Integers]  # from coarse to fine


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """The lowest cost known at each level, with any clusters: what nested clusters are compared with."""

    objective: Objective
    costs: Floats

    def losses(self, leaves: Leaves) -> Floats:
        """How much worse each level is, relative, and at least NO_LOSS."""
        found = [self.objective.cost_between(summed(leaves.between, level)) for level in leaves.levels]
        return np.maximum((found - self.costs) / self._scale, 0.0) + NO_LOSS

    def total(self, leaves: Leaves) -> float:
        """The mean of the losses, of order POWER, so that the worst levels count most."""
        return float(np.mean(self.losses(leaves) ** POWER) ** (1 / POWER))

    def weights(self, leaves: Leaves) -> Floats:
        """The weights of the costs of the levels whose sum changes as the total does, up to a factor."""
        return np.asarray(self.losses(leaves) ** (POWER - 1) / self._scale)

    @property
    def _scale(self) -> Floats:
        return np.maximum(np.abs(self.costs), NO_COST)


def levels_below(k_max: int, ratio: float) -> list[int]:
    """Ascending numbers of clusters from 2 or 3 to k_max, about `ratio` times more each.

    >>> levels_below(30, 3.0), levels_below(12, 3.0), levels_below(3, 3.0), levels_below(5, 1.5)
    ([3, 10, 30], [2, 4, 12], [2, 3], [2, 3, 5])
    """
    levels = [k_max]
    while levels[-1] > 2:
        smaller = round(levels[-1] / ratio)
        if smaller < 2 and levels[-1] == 3 < k_max:
            break
        levels.append(max(smaller, 2))
    return levels[::-1]


def nested_search(
    walk: RandomWalk, objective: Objective, searched: Sequence[Integers], ks: Sequence[int]
) -> list[Integers]:
    """Nested partitions into `ks` clusters near given ones, from coarse to fine.

    The given partitions are made nested, all of them, without the coarsest, and so on. Each level of each
    result is improved alone, which breaks the nesting. The best at each k are references, and coarsest
    levels of further starts. Of the starts with the lowest total loss against the references, vertices
    move between the finest clusters; the one that then has the lowest total loss is returned.
    """
    starts = [
        leaves_of(walk, objective, nested_levels(walk, objective, searched[first:]), ks)
        for first in range(len(searched))
    ]
    alone = [best_alone(walk, objective, starts, number) for number in range(len(ks))]
    for labels, _ in alone[:-1]:
        finer = [level for level in searched if level.max() > labels.max()]
        starts.append(leaves_of(walk, objective, nested_levels(walk, objective, [labels, *finer]), ks))
    references = References(objective, np.array([cost for _, cost in alone]))
    starts = sorted(starts, key=references.total)[:STARTS]
    best = min((improved_together(walk, references, start) for start in starts), key=references.total)
    return [level[best.labels] for level in best.levels]


def best_alone(
    walk: RandomWalk, objective: Objective, starts: Sequence[Leaves], number: int
) -> tuple[Integers, float]:
    """The best partition found from one level of any start by moves at this level alone, and its cost."""
    found = []
    for start in starts:
        level = start.levels[number]
        clusters = Clusters.of(walk, level[start.labels], int(level.max()) + 1, objective=objective)
        clusters.descend()
        found.append((clusters.state.labels, clusters.plain_cost))
    return min(found, key=itemgetter(1))


def nested_levels(walk: RandomWalk, objective: Objective, levels: Sequence[Integers]) -> list[Integers]:
    """Nested partitions near given ones, from coarse to fine; the coarsest one does not change.

    Clusters that cross a coarser one are cut there, pieces are merged by least cost within each coarser one,
    and vertices move between the clusters inside the same coarser one.
    """
    nested = [levels[0]]
    for fine in levels[1:]:
        coarse, k = nested[-1], int(fine.max()) + 1
        codes, pieces = np.unique(coarse * k + fine, return_inverse=True)
        between = flows_between(walk, pieces, len(codes))
        labels = objective.merged_to(k, between, codes // k)[pieces]
        clusters = Clusters.of(walk, labels, k, objective=objective)
        clusters.descend_within(groups_of(labels, coarse))
        nested.append(clusters.state.labels)
    return nested


def leaves_of(
    walk: RandomWalk, objective: Objective, nested: Sequence[Integers], ks: Sequence[int]
) -> Leaves:
    """The finest of nested levels, and levels of `ks` clusters by mergers of least cost inside the given."""
    labels, k = nested[-1], ks[-1]
    between = flows_between(walk, labels, k)
    groups = [groups_of(labels, coarse) for coarse in nested[-2::-1]]
    into = {k: np.arange(k)}
    for one, other, _ in mergers_by_level(objective, between, groups):
        now = into[min(into)].copy()
        now[now == other] = one
        now[now > other] -= 1
        into[min(into) - 1] = now
    return Leaves(labels, between, [into[count] for count in ks])


def improved_together(walk: RandomWalk, references: References, leaves: Leaves) -> Leaves:
    """Move vertices between the finest clusters while the total loss of all levels falls.

    Many vertices move at once, to the cluster of the best total score; if that does not help, those of the
    largest gains do.
    """
    k, total = len(leaves.between), references.total(leaves)
    for _ in range(ROUNDS):
        gains, targets = _best_moves(walk, references.objective, leaves, references.weights(leaves))
        moving = np.flatnonzero(gains > 0)
        moving = moving[np.argsort(-gains[moving], kind="stable")]
        before = total
        while len(moving) and not total < before:
            labels = leaves.labels.copy()
            labels[moving] = targets[moving]
            if np.bincount(labels, minlength=k).min() > 0:
                after = replace(leaves, labels=labels, between=flows_between(walk, labels, k))
                if (lower := references.total(after)) < before:
                    leaves, total = after, lower
            moving = moving[: len(moving) // 2]
        if total > before - MIN_PROGRESS:
            break
    return leaves


def _best_moves(
    walk: RandomWalk, objective: Objective, leaves: Leaves, weights: Floats
) -> tuple[Floats, Integers]:
    """The cluster with the best score over all levels of each vertex, and the gain of a move to it."""
    labels, k, phi = leaves.labels, len(leaves.between), walk.stationary
    everyone, own = np.arange(len(labels)), phi * walk.factors.return_probability
    members = np.zeros((len(labels), k))
    members[everyone, labels] = 1.0
    sides = [phi[:, None] * walk.forward(members), walk.adjoint(members * phi[:, None])]
    for side in sides:
        side[everyone, labels] -= own
    scores = np.zeros((len(labels), k))
    for level, weight in zip(leaves.levels, weights, strict=True):
        sums = np.eye(int(level.max()) + 1)[level]
        out, back = (side @ sums for side in sides)
        between = summed(leaves.between, level)
        scores += weight * objective.scores(between, level[labels], out, back, own)[:, level]
    targets = scores.argmax(axis=1)
    return scores[everyone, targets] - scores[everyone, labels], targets


def mergers_by_level(
    objective: Objective, between: Floats, levels: Iterable[Integers]
) -> Iterator[tuple[int, int, float]]:
    """Mergers of least cost inside the groups of each level in turn, from fine to coarse, then of all."""
    into = np.arange(len(between))
    for groups in (*levels, np.zeros(len(between), dtype=np.int64)):
        flows, now = summed(between, into), groups_of(into, groups)
        for one, other, loss in objective.mergers(flows, int(groups.max()) + 1, now):
            yield one, other, loss
            into[into == other] = one
            into[into > other] -= 1


def groups_of(fine: Integers, coarse: Integers) -> Integers:
    """The coarser cluster that contains each finer one, given two labels of everything."""
    groups = np.zeros(int(fine.max()) + 1, dtype=np.int64)
    groups[fine] = coarse
    return groups


def summed(between: Floats, into: Integers) -> Floats:
    """F after mergers, given the new number of each cluster."""
    members = np.eye(int(into.max()) + 1)[into]
    return np.asarray(members.T @ between @ members)
