"""Nested levels of clusters that are good at each number of clusters."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from hyperclus.clustering.objectives import Objective
from hyperclus.clustering.vertex_search import Clusters
from hyperclus.engines.cpu import row_chunks
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers

ROUNDS = 60  # of moves in all levels
NO_COST = 1e-6  # a smaller cost counts as this in relative costs
MIN_PROGRESS = 1e-6  # of the sum of the relative objectives, in one round


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

    The levels are made nested from all given partitions, without the coarsest, and so on. Of these, the
    levels of the lowest sum of relative costs are returned.
    """
    tried = [
        improved_together(walk, objective, nested_levels(walk, objective, searched[first:]), ks)
        for first in range(len(searched))
    ]
    flows = [
        [flows_between_many(walk, labels, int(labels.max()) + 1) for labels in levels] for levels in tried
    ]
    costs = np.array([[objective.cost_between(between) for between in levels] for levels in flows])
    return tried[int((costs / np.maximum(np.abs(costs).mean(axis=0), NO_COST)).sum(axis=1).argmin())]


def nested_levels(walk: RandomWalk, objective: Objective, levels: Sequence[Integers]) -> list[Integers]:
    """Nested partitions near given ones, from coarse to fine; the coarsest one does not change.

    Clusters that cross a coarser one are cut there, pieces are merged by least cost within each coarser one,
    and vertices move between the clusters inside the same coarser one.
    """
    nested = [levels[0]]
    for fine in levels[1:]:
        coarse, k = nested[-1], int(fine.max()) + 1
        codes, pieces = np.unique(coarse * k + fine, return_inverse=True)
        between = flows_between_many(walk, pieces, len(codes))
        labels = objective.merged_to(k, between, codes // k)[pieces]
        clusters = Clusters.of(walk, labels, k, objective=objective)
        clusters.descend_within(groups_of(labels, coarse))
        nested.append(clusters.state.labels)
    return nested


def improved_together(
    walk: RandomWalk, objective: Objective, nested: Sequence[Integers], ks: Sequence[int]
) -> list[Integers]:
    """Move vertices between the finest clusters while the sum of the relative costs of many levels falls.

    The levels have `ks` clusters: mergers of least cost inside the given levels. Many vertices move at once,
    to the cluster of the best total score; if that does not help, those of the largest gains do.
    """
    labels, k = nested[-1], ks[-1]
    between = flows_between_many(walk, labels, k)
    groups = [groups_of(labels, coarse) for coarse in nested[-2::-1]]
    into = {k: np.arange(k)}
    for one, other, _ in mergers_by_level(objective, between, groups):
        now = into[min(into)].copy()
        now[now == other] = one
        now[now > other] -= 1
        into[min(into) - 1] = now
    levels = [into[count] for count in ks]
    costs = [objective.cost_between(summed(between, level)) for level in levels]
    weights = [1.0 / max(abs(cost), NO_COST) for cost in costs]

    def total(between: Floats) -> float:
        found = [objective.cost_between(summed(between, level)) for level in levels]
        return float(np.dot(weights, found))

    cost = total(between)
    for _ in range(ROUNDS):
        gains, targets = _best_moves(walk, objective, labels, between, levels, weights)
        moving = np.flatnonzero(gains > 0)
        moving = moving[np.argsort(-gains[moving], kind="stable")]
        before = cost
        while len(moving) and not cost < before:
            after = labels.copy()
            after[moving] = targets[moving]
            if np.bincount(after, minlength=k).min() > 0:
                flows = flows_between_many(walk, after, k)
                if (lower := total(flows)) < before:
                    labels, between, cost = after, flows, lower
            moving = moving[: len(moving) // 2]
        if cost > before - MIN_PROGRESS:
            break
    return [level[labels] for level in levels]


def _best_moves(
    walk: RandomWalk,
    objective: Objective,
    labels: Integers,
    between: Floats,
    levels: Sequence[Integers],
    weights: Sequence[float],
) -> tuple[Floats, Integers]:
    """The cluster with the best score over all levels of each vertex, and the gain of a move to it."""
    k, everyone, phi = len(between), np.arange(len(labels)), walk.stationary
    own = phi * walk.factors.return_probability
    members = np.zeros((len(labels), k))
    members[everyone, labels] = 1.0
    sides = [phi[:, None] * walk.forward(members), walk.adjoint(members * phi[:, None])]
    for side in sides:
        side[everyone, labels] -= own
    scores = np.zeros((len(labels), k))
    for level, weight in zip(levels, weights, strict=True):
        sums = np.eye(int(level.max()) + 1)[level]
        out, back = (side @ sums for side in sides)
        scores += weight * objective.scores(summed(between, level), level[labels], out, back, own)[:, level]
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


def flows_between_many(walk: RandomWalk, labels: Integers, k: int) -> Floats:
    """F_ij, the flow from cluster i to cluster j, in one pass over the incidences, however large k is."""
    gamma, leaving = walk.hypergraph.gamma, walk.factors.lists.source_weights
    rate, shares = walk.stationary / walk.factors.relative_degrees, walk.factors.shares
    between = np.zeros((k, k))
    for first, last in row_chunks(gamma.indptr):
        start, stop = gamma.indptr[first], gamma.indptr[last]
        members, indptr = gamma.indices[start:stop], gamma.indptr[first : last + 1] - start
        flows = leaving.data[start:stop] * rate[members] * np.repeat(shares[first:last], np.diff(indptr))
        sides = [
            sp.csr_array((data, labels[members], indptr), shape=(last - first, k), copy=True)
            for data in (flows, gamma.data[start:stop])
        ]
        for side in sides:
            side.sum_duplicates()
        between += (sides[0].T @ sides[1]).toarray()
    return between
