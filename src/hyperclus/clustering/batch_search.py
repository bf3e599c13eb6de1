"""Batch search: evaluate all vertices at once and apply many moves per iteration.

The flows between all vertices and a cluster are products of the walk (see the `BatchFlows` of the objective).
So the gain of every single move takes a few products for each cluster but the last, on any backend. The
moves that gain are made together; if that does not lower the cost, fewer of them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import pairwise
from operator import itemgetter
from typing import Any, cast

import numpy as np

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint
from hyperclus._runtime.progress import WorkProgress
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.clustering.initialization import (
    MAX_MERGERS,
    WeightedKMeans,
    commute_scale,
    embedding,
)
from hyperclus.clustering.objectives import NCUT, flows_between
from hyperclus.clustering.objectives.base import BatchState
from hyperclus.clustering.search_problem import MIN_GAIN, Effort, SearchProblem, labels_fit, volume_penalty
from hyperclus.clustering.vertex_kernels import NOISE
from hyperclus.engines.base import ArrayBackend
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.typing import Booleans, Floats, Integers

SWEEP_SHARES = (0.04, 0.15, 0.35, 0.65, 0.85, 0.96)  # of the mass, where an order is cut beside its zero
REFINEMENTS = 1  # rounds that halve the intervals around the best cut
K_MEANS_STARTS = 3  # on the same sample, of which the best counts
SIMILAR = 0.999  # partitions that agree on this share of the vertices count as one
MAX_ROUNDS = 50  # of moves
MORE = 3  # times k centres before mergers


@single_blas_thread
def batch_search(
    problem: SearchProblem,
    effort: Effort,
    rng: np.random.Generator,
    start: Integers | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Integers:
    """Labels 0 .. k - 1 of the lowest cost found, from initial partitions or from given labels.

    The labels are a vector of the walk's backend.
    """
    n, k = problem.walk.hypergraph.n_vertices, problem.k
    if (done := checkpoint.result(partial(labels_fit, n, k, {}))) is not None:
        return cast(Integers, done["labels"])
    k, search = problem.k, BatchSearch(problem, effort)
    starts: Iterable[Callable[[], tuple[float, Integers]]]
    if start is not None:
        starts = [partial(search.with_cost, search.backend.put(start))]
    else:
        starts = _initial_partitions(search, problem, effort, rng)
    search.work.begin(search.visits * (0.5 * (1 + REFINEMENTS) + 6), 1.0)
    best = checkpoint.part("starts").result(partial(labels_fit, n, k, {}))
    if best is None:
        found: list[tuple[float, Integers]] = []
        for partition in starts:
            cost, labels = partition()
            if k == 2 or not any(_similar(search.backend, labels, other, k) for _, other in found):
                found.append((cost, labels))
        del partition  # with what its points take
        found.sort(key=itemgetter(0))
        first = [labels for _, labels in found[: max(effort.finalists // 2, 1)]]
        best = checkpoint.part("starts").finish(**{f"labels {i}": one for i, one in enumerate(first)})
    ends = [search.end(labels, checkpoint.part("end", number)) for number, labels in enumerate(best.values())]
    cost, labels = min(ends, key=itemgetter(0))
    search.work.end(problem.objective.shown(cost))
    checkpoint.finish(labels=labels)
    return labels


def _initial_partitions(
    search: "BatchSearch", problem: SearchProblem, effort: Effort, rng: np.random.Generator
) -> Iterator[Callable[[], tuple[float, Integers]]]:
    """Functions that return a cost and labels.

    For two clusters the best of some cuts along the second eigenvector; k-means, and for other objectives
    than NCut mergers of more clusters than k instead.
    """
    k, backend = problem.k, search.backend
    if k == 2 or problem.objective is NCUT:
        rows = embedding(problem.walk, problem.pairs)
    if k == 2:
        yield partial(_sweep_cut, search, rows[:, 0])
    if problem.objective is not NCUT:
        points = _unit_rows(backend, problem.pairs)
        ones = np.ones_like(problem.walk.stationary)
        k_means = WeightedKMeans(backend, points, ones, effort.sample)
        for _ in range(max(effort.starts // 2, 1)):
            yield partial(_merged, search, k_means, rng)
        return
    spaces = []
    if k > 2:
        first = rows[:, : k - 1]
        spaces = [first, first / backend.put(commute_scale(problem.pairs, k))]
    if effort.extra:
        spaces.append(rows)
    for points in spaces:
        k_means = WeightedKMeans(backend, points, problem.walk.stationary, effort.sample)
        for _ in range(max(effort.starts // 8, 1)):
            yield partial(_k_means_labels, search, k_means, rng)


def _unit_rows(backend: ArrayBackend, pairs: Eigenpairs) -> Floats:
    """The rows of all eigenvectors divided by their lengths; one copy of them is all the memory it takes."""
    columns = [*pairs.vectors.T, *pairs.spare.T]
    lengths = np.sqrt(sum(np.square(column) for column in columns))
    lengths = backend.persist(np.where(lengths > 0, lengths, 1.0))
    points = backend.empty_columns(pairs.vectors[:, 0], len(columns))
    for number, column in enumerate(columns):
        points[:, number] = column / lengths
    return backend.persist(points)


def _k_means_labels(
    search: "BatchSearch", k_means: WeightedKMeans, rng: np.random.Generator
) -> tuple[float, Integers]:
    return search.with_cost(k_means.labels(search.k, rng, K_MEANS_STARTS))


def _merged(
    search: "BatchSearch", k_means: WeightedKMeans, rng: np.random.Generator
) -> tuple[float, Integers]:
    """k-means with MORE times k centres, and mergers of least cost down to k."""
    count = min(MORE * search.k, search.k + MAX_MERGERS, search.walk.hypergraph.n_vertices)
    labels = search.backend.persist(k_means.labels(count, rng))
    between = flows_between(search.walk, labels, count)
    into = search.objective.merged_to(search.k, between)
    members = np.arange(search.k)[:, None] == into
    cost = search.cost_between(members @ between @ members.T)
    search.finish_pass(cost)
    return cost, search.backend.persist(search.backend.take(search.backend.put(into), labels))


def _sweep_cut(search: "BatchSearch", scores: Floats) -> tuple[float, Integers]:
    """Cut the order of the scores in two, at coarse steps of mass, then at finer ones around the best.

    All cuts of a round divide the vertices into parts, whose flows give the flows across each cut: one pass.
    """
    masses, min_volume = search.walk.stationary, search.min_volume
    split = search.backend.mass_splitter(scores, masses)
    costs: dict[float, float] = {}

    def evaluate(wanted: list[float]) -> None:
        new = [share for share in wanted if share not in costs]
        if new:
            parts = search.backend.persist(reduce(np.add, split(new)))
            between = flows_between(search.walk, parts, len(new) + 1)
            for number, share in enumerate(new):
                sides = np.arange(2)[:, None] == (np.arange(len(new) + 1) > number)
                costs[share] = search.cost_between(sides @ between @ sides.T)
            search.finish_pass(min(costs.values()))

    negative = (float((masses * (scores <= 0)).sum()),)  # the cut by sign
    shares = sorted({min(max(share, min_volume), 1.0 - min_volume) for share in SWEEP_SHARES + negative})
    for _ in range(REFINEMENTS):
        evaluate(shares)
        best = int(np.argmin([costs[share] for share in shares]))
        around = shares[max(best - 1, 0) : best + 2]
        halves = [(low + high) / 2 for low, high in pairwise(around)]
        shares = sorted({*around, *halves})
    evaluate(shares)
    best_share = min(shares, key=costs.__getitem__)
    return costs[best_share], next(split([best_share]))


def _similar(backend: ArrayBackend, labels: Integers, other: Integers, k: int) -> bool:
    """Whether two partitions agree but for few vertices, so that moves would make them equal."""
    (counts,) = backend.fetch(np.bincount(labels * k + other, minlength=k * k))
    table = counts.reshape(k, k)
    return bool(min(table.max(axis=1).sum(), table.max(axis=0).sum()) >= SIMILAR * len(labels))


@dataclass(eq=False)
class BatchSearch:
    """Moves of the vertices of a walk between k clusters."""

    problem: SearchProblem
    effort: Effort
    work: WorkProgress = field(default_factory=lambda: WorkProgress("search", "incidences"))

    def __post_init__(self) -> None:
        problem, self.k, self.objective = self.problem, self.problem.k, self.problem.objective
        self.walk, self.min_volume = problem.walk, problem.min_volume
        phi, m = self.walk.stationary, self.walk.hypergraph.n_incidences
        self.backend, self.flows = self.walk.backend, self.objective.in_batches(self.walk, self.k)
        self.own = self.backend.persist(phi * self.walk.factors.return_probability)  # flow to itself
        self.visits = 2.0 * m * (self.k - 1)  # of incidences by one evaluation
        self.large = m >= self.effort.batched_from[1]  # a round costs more than the last digits are worth

    def with_cost(self, labels: Integers) -> tuple[float, Integers]:
        """The cost of a partition and its labels."""
        cost = self.cost_between(flows_between(self.walk, labels, self.k))
        self.finish_pass(cost)
        return cost, labels

    def cost_between(self, between: Floats) -> float:
        """The cost of a partition, given F."""
        volumes = between.sum(axis=1)
        flows = self.flows.flows(between + between.T if self.flows.directions == "sum" else between)
        return self._cost(volumes > 0, volumes, flows)

    def finish_pass(self, cost: float) -> None:
        """Report a pass over the incidences that found this cost."""
        self.work.piece = self.visits / 2
        self.work.finish(self.objective.shown(cost))

    def evaluate(self, labels: Integers) -> BatchState:
        """Compute the flows between all clusters; those of vertices are computed when they are needed."""
        masses, walk = self.walk.stationary, self.walk
        linked = walk.factors.products.linked(labels, self.k, walk.flow_factors, self.flows.directions)
        figures: list[Any] = linked.between()
        for cluster in range(self.k):
            inside = labels == cluster
            figures += [np.count_nonzero(inside), (inside * masses).sum()]
        fetched = self.backend.fetch(*figures)
        between, others = np.array(fetched[: self.k], dtype=np.float64).T, fetched[self.k :]
        sizes, volumes = np.array(others[::2], dtype=np.int64), np.array(others[1::2], dtype=np.float64)
        flows = self.flows.flows(between)
        cost = self._cost(sizes, volumes, flows)
        self.work.piece = self.visits
        self.work.finish(self.objective.shown(cost))
        return BatchState(labels, linked, sizes, volumes, flows, cost)

    def end(self, labels: Integers, checkpoint: Checkpoint) -> tuple[float, Integers]:
        """Descend from these labels; the cost and the labels at the end."""
        fits = partial(labels_fit, len(labels), self.k)
        done = checkpoint.result(partial(fits, {"cost": 1}))
        if done is None:
            state = checkpoint.state(partial(fits, {}))
            current = self.evaluate(labels if state is None else state["labels"])
            current = self.descend(current, checkpoint)
            done = checkpoint.finish(cost=current.cost, labels=current.labels)
        return done["cost"], done["labels"]

    def descend(self, current: BatchState, checkpoint: Checkpoint = NO_CHECKPOINT) -> BatchState:
        """Make the moves that gain, until there are none or the progress is small.

        First all of them; if that does not lower the cost, those into one cluster, which support each other;
        then the better half of these, and so on down to a single one, which always does.
        """
        for _ in range(MAX_ROUNDS):
            gains, targets = self.gains(current)
            moving = self.backend.persist(gains > MIN_GAIN)
            after = current
            for attempt in range(65):
                count = int(np.count_nonzero(moving))
                if not count:
                    return current
                after = self.evaluate(self.backend.persist(np.where(moving, targets, current.labels)))
                if after.cost < current.cost or count == 1:
                    break
                if attempt == 0:
                    moving = self._into_one(moving, gains, targets)
                else:
                    moving = self.backend.best_half(moving, gains, count, attempt)
            if not after.cost < current.cost:
                return current
            before, current = current.cost, after
            if checkpoint.due:
                checkpoint.keep(labels=current.labels)
            if self.large and before - current.cost < self.effort.min_progress * abs(current.cost):
                return current
        return current

    def gains(self, current: BatchState) -> tuple[Floats, Integers]:
        """How much the best move of each vertex lowers the cost, and the cluster that it joins."""
        backend = self.backend
        found, targets = backend.empty_columns(self.own, 1), backend.empty_columns(current.labels, 1)
        for rows, linked in current.linked.blocks():
            best = self.flows.gains(current, rows, linked, self.own[rows], self.min_volume)
            found[rows, 0], targets[rows, 0] = best
        return found[:, 0], targets[:, 0]

    def _into_one(self, moving: Booleans, gains: Floats, targets: Integers) -> Booleans:
        """Select the moves into the cluster with the largest total gain."""
        weights = np.where(moving, gains, 0.0)
        (totals,) = self.backend.fetch(np.bincount(targets, weights=weights, minlength=self.k))
        return self.backend.persist(moving & (targets == int(np.argmax(totals))))

    def _cost(self, sizes: Integers | Booleans, volumes: Floats, flows: Floats) -> float:
        if not sizes.all() or volumes.min() < NOISE:
            return np.inf
        return self.objective.cost(volumes, flows) + volume_penalty(volumes, self.min_volume)
