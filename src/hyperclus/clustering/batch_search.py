"""Batch search: evaluate all vertices at once and apply many moves per iteration.

Everything follows from products of the walk. With x_j = Pi^1/2 times the indicator of cluster j,

    linked_j = 2 Pi^1/2 M x_j,    internal(S_j) = x_j' M x_j,    vol(S_j) = x_j' x_j,    L_sym = I - M,

where linked_j(v) is the flow between v and S_j in both directions. So the gain of every single move (see
`vertex_kernels`) takes one product for each cluster but the last, on any backend. The moves that gain are
made together; if that does not lower the NCut, fewer of them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Any, cast

import numpy as np

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint
from hyperclus._runtime.progress import WorkProgress
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.clustering.cut import flows
from hyperclus.clustering.initialization import WeightedKMeans, commute_scale, embedding
from hyperclus.clustering.objectives import NCUT
from hyperclus.clustering.search_problem import MIN_GAIN, Effort, SearchProblem, labels_fit, volume_penalty
from hyperclus.clustering.vertex_kernels import NOISE, VOLUME_PENALTY
from hyperclus.engines.base import ArrayBackend
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Floats, Integers

SWEEP_SHARES = (0.04, 0.15, 0.35, 0.65, 0.85, 0.96)  # of the mass, where an order is cut beside its zero
REFINEMENTS = 1  # rounds that halve the intervals around the best cut
K_MEANS_STARTS = 3  # on the same sample, of which the best counts
SIMILAR = 0.999  # partitions that agree on this share of the vertices count as one
MAX_ROUNDS = 50  # of moves


@single_blas_thread
def batch_search(
    problem: SearchProblem,
    effort: Effort,
    rng: np.random.Generator,
    start: Integers | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Integers:
    """Labels 0 .. k - 1 of the lowest NCut found, from initial partitions or from given labels.

    The labels are a vector of the walk's backend.
    """
    n, k = problem.walk.hypergraph.n_vertices, problem.k
    if (done := checkpoint.result(partial(labels_fit, n, k, {}))) is not None:
        return cast(Integers, done["labels"])
    k, search = problem.k, BatchSearch(problem.walk, problem.k, problem.min_volume, effort)
    starts: Iterable[Callable[[], Integers]] = [partial(search.backend.put, start)]
    if start is None:
        starts = _initial_partitions(search, problem, effort, rng)
    search.work.begin(search.visits * (0.5 * (len(SWEEP_SHARES) + 2 * REFINEMENTS) + 6), 1.0)
    best = checkpoint.part("starts").result(partial(labels_fit, n, k, {}))
    if best is None:
        found: list[tuple[float, Integers]] = []
        for partition in starts:
            labels = partition()
            if k == 2 or not any(_similar(search.backend, labels, other, k) for _, other in found):
                found.append((search.costs([labels])[0], labels))
        found.sort(key=itemgetter(0))
        first = [labels for _, labels in found[: max(effort.finalists // 2, 1)]]
        best = checkpoint.part("starts").finish(**{f"labels {i}": one for i, one in enumerate(first)})
    ends = [search.end(labels, checkpoint.part("end", number)) for number, labels in enumerate(best.values())]
    cost, labels = min(ends, key=itemgetter(0))
    search.work.end(f"NCut {cost:.4f}")
    checkpoint.finish(labels=labels)
    return labels


def _initial_partitions(
    search: "BatchSearch", problem: SearchProblem, effort: Effort, rng: np.random.Generator
) -> Iterator[Callable[[], Integers]]:
    """For two clusters the best of some cuts along the second eigenvector; k-means."""
    k, backend = problem.k, search.backend
    rows = embedding(problem.walk, problem.pairs)
    if k == 2:
        yield partial(_sweep_cut, search, rows[:, 0])
    spaces = []
    if k > 2:
        first = rows[:, : k - 1]
        spaces = [first, first / backend.put(commute_scale(problem.pairs, k))]
    if effort.extra:
        spaces.append(rows)
    for points in spaces:
        k_means = WeightedKMeans(backend, points, problem.walk.stationary, effort.sample)
        for _ in range(max(effort.starts // 8, 1)):
            yield partial(k_means.labels, k, rng, K_MEANS_STARTS)


def _sweep_cut(search: "BatchSearch", scores: Floats) -> Integers:
    """Cut the order of the scores in two, at coarse steps of mass, then at finer ones around the best."""
    masses, min_volume = search.walk.stationary, search.min_volume
    split = search.backend.mass_splitter(scores, masses)
    costs: dict[float, float] = {}

    def evaluate(wanted: list[float]) -> None:
        new = [share for share in wanted if share not in costs]
        costs.update(zip(new, search.costs(split(new)), strict=True))

    negative = (float((masses * (scores <= 0)).sum()),)  # the cut by sign
    shares = sorted({min(max(share, min_volume), 1.0 - min_volume) for share in SWEEP_SHARES + negative})
    for _ in range(REFINEMENTS):
        evaluate(shares)
        best = int(np.argmin([costs[share] for share in shares]))
        around = shares[max(best - 1, 0) : best + 2]
        halves = [(low + high) / 2 for low, high in pairwise(around)]
        shares = sorted({*around, *halves})
    evaluate(shares)
    return next(split([min(shares, key=costs.__getitem__)]))


def _similar(backend: ArrayBackend, labels: Integers, other: Integers, k: int) -> bool:
    """Whether two partitions agree but for few vertices, so that moves would make them equal."""
    (counts,) = backend.fetch(np.bincount(labels * k + other, minlength=k * k))
    table = counts.reshape(k, k)
    return bool(min(table.max(axis=1).sum(), table.max(axis=0).sum()) >= SIMILAR * len(labels))


@dataclass(frozen=True, slots=True, eq=False)
class BatchState:
    """Clusters, and the flow between each vertex and each cluster."""

    labels: Integers
    linked: Floats  # of each vertex and cluster but the last; over all clusters they sum to 2 phi
    sizes: Integers  # in host memory, as the next two
    volumes: Floats
    insides: Floats
    cost: float  # the NCut plus a penalty for small clusters; infinite if one is empty


@dataclass(eq=False)
class BatchSearch:
    """Moves of the vertices of a walk between k clusters."""

    walk: RandomWalk
    k: int
    min_volume: float
    effort: Effort
    work: WorkProgress = field(default_factory=lambda: WorkProgress("search", "incidences"))

    def __post_init__(self) -> None:
        phi, m = self.walk.stationary, self.walk.hypergraph.n_incidences
        self.backend, self.laplacian = self.walk.backend, NormalizedLaplacian(self.walk)
        self.root = self.backend.persist(np.sqrt(phi))
        self.own = self.backend.persist(phi * self.walk.factors.return_probability)  # flow to itself
        self.visits = 2.0 * m * (self.k - 1)  # of incidences by one evaluation
        self.large = m >= self.effort.batched_from[1]  # a round costs more than the last digits are worth

    def costs(self, partitions: Iterable[Integers]) -> list[float]:
        """The costs of partitions alone, which takes half as many products; on many workers one round."""
        found = [figure for labels in partitions for figure in flows(self.walk, labels, self.k, once=True)]
        figures = self.backend.fetch(*found)
        costs = []
        for volumes, boundaries in zip(figures[::2], figures[1::2], strict=True):
            costs.append(self._cost(volumes > 0, volumes, volumes - boundaries))
            self.work.piece = self.visits / 2
            self.work.finish(f"NCut {costs[-1]:.4f}")
        return costs

    def evaluate(self, labels: Integers) -> BatchState:
        """Compute the flow between all vertices and all clusters: k - 1 products."""
        masses = self.walk.stationary
        linked = self.backend.empty_columns(self.root, self.k - 1)
        figures: list[Any] = []
        rest = 2.0 * masses
        for cluster in range(self.k):
            inside = labels == cluster
            members = inside * self.root
            if cluster < self.k - 1:
                linked[:, cluster] = 2.0 * self.root * (members - self.laplacian.apply(members))
                rest -= linked[:, cluster]
            between = linked[:, cluster] if cluster < self.k - 1 else rest
            figures += [np.count_nonzero(inside), members @ members, inside.astype(self.root.dtype) @ between]
        counts, volumes, insides = np.array(self.backend.fetch(*figures), dtype=np.float64).reshape(-1, 3).T
        sizes, insides = counts.astype(np.int64), insides / 2
        cost = self._cost(sizes, volumes, insides)
        self.work.piece = self.visits
        self.work.finish(f"NCut {cost:.4f}")
        return BatchState(labels, linked, sizes, volumes, insides, cost)

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
            before, current = current, after
            if checkpoint.due:
                checkpoint.keep(labels=current.labels)
            if self.large and before.cost - current.cost < self.effort.min_progress * current.cost:
                return current
        return current

    def gains(self, current: BatchState) -> tuple[Floats, Integers]:
        """How much the best move of each vertex lowers the cost, and the cluster that it joins."""
        backend = self.backend
        found, targets = backend.empty_columns(self.root, 1), backend.empty_columns(current.labels, 1)
        for rows in backend.row_slices(len(self.root)):
            found[rows, 0], targets[rows, 0] = self._best_moves(current, rows)
        return found[:, 0], targets[:, 0]

    def _into_one(self, moving: Booleans, gains: Floats, targets: Integers) -> Booleans:
        """Select the moves into the cluster with the largest total gain."""
        weights = np.where(moving, gains, 0.0)
        (totals,) = self.backend.fetch(np.bincount(targets, weights=weights, minlength=self.k))
        return self.backend.persist(moving & (targets == int(np.argmax(totals))))

    def _best_moves(self, current: BatchState, rows: slice) -> tuple[Floats, Integers]:
        """As `vertex_kernels.best_target`, for a slice of the vertices."""
        home, mass, own = current.labels[rows], self.walk.stationary[rows], self.own[rows]
        best, target = np.full_like(mass, -np.inf), np.zeros_like(home)
        stay, rest = np.zeros_like(mass), 2.0 * mass
        for cluster, (volume, inside) in enumerate(zip(current.volumes, current.insides, strict=True)):
            linked = current.linked[rows, cluster] if cluster < self.k - 1 else rest
            rest = rest - linked
            gain = (inside + linked + own) / (volume + mass) - inside / volume
            if volume < self.min_volume:
                gain += VOLUME_PENALTY * np.minimum(mass, self.min_volume - volume) / self.min_volume
            left = volume - mass
            leaving = (inside - linked + own) / np.where(left > 0, left, 1.0) - inside / volume
            if current.sizes[cluster] < 2:
                left = left - np.inf
            at_home = home == cluster
            stay = np.where(at_home, np.where(left < max(self.min_volume, NOISE), -np.inf, leaving), stay)
            better = (gain > best) & ~at_home
            best, target = np.where(better, gain, best), np.where(better, cluster, target)
        return best + stay, target

    def _cost(self, sizes: Integers | Booleans, volumes: Floats, insides: Floats) -> float:
        if not sizes.all() or volumes.min() < NOISE:
            return np.inf
        return NCUT.cost(volumes, insides) + volume_penalty(volumes, self.min_volume)
