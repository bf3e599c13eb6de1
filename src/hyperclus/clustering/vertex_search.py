"""Vertex search: descend by single moves until none helps, then perturb and descend again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint, is_array, is_count
from hyperclus._runtime.progress import WorkProgress, listening
from hyperclus._runtime.threads import in_parallel, single_blas_thread
from hyperclus.clustering.feasible import nearest
from hyperclus.clustering.objectives import NCUT, Objective
from hyperclus.clustering.rules import TOLERANCE, Rules
from hyperclus.clustering.search_problem import (
    EFFORTS,
    MANY_CLUSTERS,
    MIN_GAIN,
    Effort,
    SearchProblem,
    is_labels,
    labels_fit,
    volume_penalty,
)
from hyperclus.clustering.vertex_kernels import (
    CHANGING,
    NOISE,
    Flow,
    State,
    VertexKernels,
    flow_of,
    lists_fit,
)
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Codes, Floats, Integers

NEAR = 0.1  # share of the evaluated vertices that are close enough to a move to be tried again at once
DRAWS = 6  # perturbations, of which the best is made
MERGER_RANK = 2.0  # mean rank by cost of the merger that a perturbation makes
CALL = 3_000  # incidences that could be visited in the time of one call
MIN_PRODUCTS = 20  # products that a dense eigen-solve counts for
MAX_VISITS = 1e8  # of incidences by perturbations
LOCAL_FROM = 20_000  # incidences; below, finding the neighborhood takes longer than evaluating all vertices
LOCAL_UP_TO = 0.25  # share of the incidences up to which moves are followed by a search of the neighborhood
PASSES = 50  # over the vertices near a move, until all are evaluated again

MIN_PROGRESS = 2e-4  # a round that gains less than this share of the cost ends a brief search

START, ROUND, DESCENT = 3, 4, 10  # estimated visits of all incidences by each
CHEAP_STARTS, MAX_MORE = 500_000, 4  # incidences times clusters with more starts, and how many times more
ALIKE, ENOUGH_ALIKE = 1e-3, 4  # relative difference of costs, and starts within it that are enough
FEW_LOCAL_OPTIMA = 10_000  # incidences times clusters below which more starts find nothing better
NO_VERTICES = np.empty(0, dtype=np.int64)
Start: TypeAlias = Integers | Callable[[], Integers]
Rank: TypeAlias = tuple[float, float]


@single_blas_thread
def vertex_search(
    problem: SearchProblem,
    starts: Iterable[Start],
    effort: Effort,
    rng: np.random.Generator,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    work: WorkProgress | None = None,
    share: float = 1.0,
) -> Integers:
    """Labels 0 .. k - 1 of the lowest cost found from initial partitions, in host memory.

    `work` is the progress of the stage, of which this search ends at `share`.
    """
    k, flow, rules = problem.k, flow_of(problem.walk), problem.rules
    if rules is not None:
        flow = rules.contracted(flow)
        starts = (partial(_keeping, rules, start) for start in starts)
    m = len(flow.edges)
    brief = problem.large and effort.first is None
    count, finalists = _counts(problem, effort, brief)
    budget = _budget(problem, effort, m, finalists, brief)
    total = m * (START * count + ROUND * 2 * finalists) + (m * DESCENT + budget) * finalists
    work = work or WorkProgress("search", "incidences")
    work.begin(total, share)
    n = len(flow.rate)
    if (done := checkpoint.result(partial(labels_fit, n, k, {"cost": 1}))) is not None:
        work.end(problem.objective.shown(done["cost"]))
        return _of_vertices(rules, done["labels"])

    def ranked(
        name: str, partitions: Iterable[Start], stage: Callable[[Clusters, Checkpoint], None], expected: float
    ) -> list[tuple[Rank, Integers]]:
        """The results of a stage, best first; only one state is in memory at a time."""
        results: list[tuple[Rank, Integers]] = []
        for number, start in enumerate(partitions):
            work.piece, part = expected, checkpoint.part(name, number)
            kept = part.result(partial(labels_fit, n, k, {"rank": 2}))
            if kept is None:
                labels = start() if callable(start) else start
                clusters = Clusters.of(
                    problem.walk, labels, k, problem.min_volume, problem.objective, flow, rules
                )
                clusters.work, clusters.parallel_from = work, effort.parallel_from
                clusters.min_progress = MIN_PROGRESS if brief else 0.0
                stage(clusters, part)
                kept = part.finish(rank=clusters.rank, labels=clusters.state.labels)
            results.append((tuple(kept["rank"]), kept["labels"]))
            work.finish(problem.objective.shown(min(rank for rank, _ in results)[0]))
            if name == "start" and problem.objective is not NCUT and _agree(results):
                break
        return sorted(results, key=itemgetter(0))

    first = ranked("start", islice(starts, count), lambda *_: None, START * m)
    best = [labels for _, labels in first[: 2 * finalists]]
    tried = ranked("round", best, lambda clusters, _: clusters.round(), ROUND * m)
    best = [labels for _, labels in tried[:finalists]]
    limits = int(budget), problem.bound, rng
    ends = ranked("end", best, lambda clusters, part: perturb(clusters, *limits, part), DESCENT * m + budget)
    end = ranked("count", [ends[0][1]], lambda *_: None, 0)  # recomputed: many moves lose digits
    (cost, _), labels = min(first[0], end[0], key=itemgetter(0))
    checkpoint.finish(labels=labels, cost=cost)
    work.end(problem.objective.shown(cost))
    return _of_vertices(rules, labels)


def _keeping(rules: Rules, start: Start) -> Integers:
    """Labels of the groups near those of a start."""
    return nearest(rules, rules.of_groups(start() if callable(start) else start))


def _of_vertices(rules: Rules | None, labels: Integers) -> Integers:
    """Labels of the vertices, given those of the groups."""
    return np.asarray(labels if rules is None else labels[rules.groups])


def _counts(problem: SearchProblem, effort: Effort, brief: bool) -> tuple[int, int]:
    """The number of initial partitions, and of those that are searched to the end."""
    k = problem.k
    if brief:
        return 2, 1
    if problem.objective is not NCUT:
        visits = problem.walk.hypergraph.n_incidences * k
        cheap = CHEAP_STARTS // visits if visits >= FEW_LOCAL_OPTIMA else 1
        more = min(cheap, MAX_MORE if k > 3 else 1) if cheap else min(2 * MANY_CLUSTERS / k, 1.0)
        starts, finalists = 2 * effort.starts * more, (3.0 if more >= 1 else 1.5 * more) * effort.finalists
        return max(int(starts), 2), max(int(finalists), 1)
    more = min(k - 2, MANY_CLUSTERS**2 // k) if effort.evaluations else 0
    starts = max(effort.starts, more)
    return starts, effort.finalists if k > 2 else (effort.finalists + 1) // 2


def _budget(problem: SearchProblem, effort: Effort, m: int, finalists: int, brief: bool) -> float:
    """The visits of incidences that the perturbations of each finalist may make."""
    visits = effort.evaluations * min(max(problem.pairs.steps, MIN_PRODUCTS) * m, MAX_VISITS)
    visits *= min(MANY_CLUSTERS / problem.k, 1.0) * (0.25 if brief else 1.0)
    return max(visits * min(1 / effort.finalists, 1.5 / finalists), effort.incidences)


def _agree(results: list[tuple[Rank, Integers]]) -> bool:
    """Whether ENOUGH_ALIKE partitions are about as good as the best one."""
    lowest = min(rank for rank, _ in results)[0]
    return sum(rank[0] - lowest <= ALIKE * abs(lowest) for rank, _ in results) >= ENOUGH_ALIKE


def _fits_state(clusters: "Clusters", kept: dict[str, Any]) -> bool:
    """Whether stored values can be the state of `perturb`, so that kernels stay within their arrays."""
    state, k = clusters.state, clusters.k
    sound = is_labels(kept["labels"], len(state.labels), k) and kept["labels"].dtype == np.int64
    for name in CHANGING[1:]:
        array = getattr(state, name)
        sound &= is_array(kept[name], *array.shape) and kept[name].dtype == array.dtype
    sound &= bool((kept["sizes"] == np.bincount(kept["labels"], minlength=k)).all())
    sound &= bool((kept["volumes"] > 0).all()) and isinstance(kept["merging"], bool)
    sound &= len(kept) == len(CHANGING) + 3 and lists_fit(state, kept)
    return sound and is_count(kept["visited"]) and is_count(kept["stop"])


def perturb(
    clusters: "Clusters",
    budget: int,
    bound: float,
    rng: np.random.Generator,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> None:
    """Descend; perturb, descend again, keep the result if it is better; repeat within the budget of visits.

    A perturbation moves the members of a hyperedge into one cluster. With three clusters or more, every
    second one merges two clusters, and members of a hyperedge form a new one. The best of a few random
    ones is made. Ends early if the cost meets its bound. Resumes from a state of the checkpoint.
    """
    flow = clusters.flow
    once = DRAWS * (CALL + 2 * len(flow.edges) ** 2 // (len(flow.scale) * len(flow.rate)))  # on average
    if (state := checkpoint.state(partial(_fits_state, clusters))) is None:
        clusters.descend()
    stop, merging = clusters.visited + budget, clusters.k > 2
    if state is not None:
        stop, merging = state.pop("stop"), state.pop("merging")
        clusters.visited = state.pop("visited")
        clusters.state = clusters.state.with_arrays(**state)
    while clusters.visited + once <= stop and clusters.plain_cost > bound + MIN_GAIN:
        before = clusters.rank
        clusters.keep()
        if checkpoint.due:
            now = {"stop": stop, "merging": merging, "visited": clusters.visited}
            checkpoint.keep(**now, **{name: getattr(clusters.state, name) for name in CHANGING})
        merged, freed = clusters.merge(rng) if merging else (NO_VERTICES, None)
        forced = clusters.force(freed, rng)
        if len(forced):
            clusters.descend(np.append(merged, forced))
        if not len(forced) or not clusters.kept or not clusters.rank < before:
            clusters.undo()
        merging = clusters.k > 2 and not merging
    clusters.keep()
    clusters.descend()


@dataclass(slots=True, eq=False)
class Clusters:
    """Clusters being changed, with sums that give the cost after any move in O(deg v k)."""

    objective: Objective
    min_volume: float  # of a cluster: no move leaves one below, and a smaller one is penalized
    flow: Flow
    state: State
    rules: Rules | None = None
    visited: int = 0  # visits of incidences so far: the work done, on any machine
    work: WorkProgress | None = None
    parallel_from: int = EFFORTS["default"].parallel_from
    min_progress: float = 0.0  # relative; a round that gains less ends a descent
    _log: list[tuple[Integers, Integers]] = field(default_factory=list)
    _kept: tuple[Floats, Floats] = field(init=False)
    _mergers: tuple[Floats, Floats] | None = None  # flows, and the costs of mergers with these

    @classmethod
    def of(
        cls,
        walk: RandomWalk,
        labels: Integers,
        k: int,
        min_volume: float = 0.0,
        objective: Objective = NCUT,
        flow: Flow | None = None,
        rules: Rules | None = None,
    ) -> "Clusters":
        """The clusters of labels 0 .. k - 1, none of them empty; with rules, of groups, given their flow."""
        flow = flow or flow_of(walk)
        most, still = np.inf, np.zeros(len(labels), dtype=bool)
        if rules is not None:
            most, still = rules.max_volume * (1 + TOLERANCE), rules.still
        state = State.of(flow, labels, k, most, still)
        state = state.with_arrays(flows=objective.flows(state.between(flow)))
        clusters = cls(objective, min_volume, flow, state, rules, len(flow.edges))
        clusters.keep()
        return clusters

    @property
    def k(self) -> int:
        """The number of clusters."""
        return len(self.state.volumes)

    @property
    def plain_cost(self) -> float:
        """The cost without penalties."""
        return self.objective.cost(self.state.volumes, self.state.flows)

    @property
    def cost(self) -> float:
        """The cost, with a penalty for each cluster below the smallest volume."""
        return self.plain_cost + volume_penalty(self.state.volumes, self.min_volume)

    @property
    def rank(self) -> Rank:
        """The cost, then the imbalance; both should be small."""
        return round(self.cost, 12), -float(self.state.volumes.min())

    @property
    def kept(self) -> bool:
        """Whether the clusters keep the rules."""
        return self.rules is None or self.rules.kept(self.state.labels)

    @property
    def between(self) -> Floats:
        """F_ij, the flow from cluster i to cluster j."""
        return self.state.between(self.flow)

    def round(self, passes: int = PASSES) -> None:
        """Evaluate every vertex once, then pass over those that gain, or nearly gain, by a move."""
        self._improve(self._free(), passes)
        self._exchange()

    def descend(self, around: Integers | None = None) -> None:
        """Move single vertices, those that gain most first, until no move helps.

        With `around`, only vertices that share a hyperedge with one of these may move.
        """
        self._descend(self._free() if around is None else self._neighborhood(around))

    def descend_within(self, groups: Integers) -> None:
        """Descend with moves between clusters of the same group only, given the group of each cluster."""
        most = self.state.most.copy()
        for group in np.flatnonzero(np.bincount(groups) > 1):
            inside = groups == group
            self.state.most[:] = np.where(inside, most, -np.inf)  # others are closed
            self._descend(np.flatnonzero(inside[self.state.labels]))
        self.state.most[:] = most

    def _descend(self, vertices: Integers) -> None:
        before = np.inf
        while self._improve(vertices) | self._exchange() and self.cost < before - max(
            MIN_GAIN, self.min_progress * abs(before)
        ):
            before = self.cost

    def merge(self, rng: np.random.Generator) -> tuple[Integers, int | None]:
        """Merge two clusters, cheap pairs more likely; the vertices that moved, and the empty one, if any."""
        cost = self._merger_costs()
        pairs = np.flatnonzero(self._mergeable())
        if not len(pairs):
            return NO_VERTICES, None
        ranked = pairs[np.argsort(cost.ravel()[pairs], kind="stable")]
        kept, freed = divmod(int(ranked[min(int(rng.exponential(MERGER_RANK)), len(ranked) - 1)]), self.k)
        vertices = np.flatnonzero(self.state.labels == freed)
        self.assign(vertices, np.full(len(vertices), kept))
        self.state.volumes[freed] = 0.0
        self.objective.clear(self.state.flows, freed)
        return vertices, freed

    def force(self, into: int | None, rng: np.random.Generator) -> Integers:
        """Move members of a hyperedge into one cluster: the random move with the lowest cost of a few.

        Into a given cluster move the members of one other cluster; otherwise all members move into a random
        cluster. Returns the vertices that moved: none if every move would leave a cluster empty.
        """
        edges = rng.integers(len(self.flow.scale), size=DRAWS)
        targets = rng.integers(self.k, size=DRAWS) if into is None else np.full(DRAWS, into)
        uniforms = np.full(DRAWS, -1.0) if into is None else rng.random(DRAWS)
        drawn = edges, targets, uniforms
        sources, costs = self._kernels.forced_costs(self.flow, self.state, drawn, self.min_volume)
        best = int(np.argmin(costs))
        first, last = self.flow.edge_indptr[edges[best] : edges[best] + 2]
        members = self.flow.members[first:last]
        homes = self.state.labels[members]
        moving = (homes != targets[best]) & ~self.state.still[members]
        if sources[best] >= 0:
            moving &= homes == sources[best]
        vertices = members[moving].astype(np.int64) if np.isfinite(costs[best]) else NO_VERTICES
        tried = int((self.flow.edge_indptr[edges + 1] - self.flow.edge_indptr[edges]).sum())
        self.visited += 2 * tried * len(self.flow.edges) // len(self.state.labels)
        self.assign(vertices, np.full(len(vertices), targets[best]))
        return vertices

    def assign(self, vertices: Integers, targets: Integers) -> None:
        """Move each vertex to its target, whatever the cost becomes."""
        self._log.append((vertices, self.state.labels[vertices]))
        self._visit(vertices)
        self._kernels.assign(self.flow, self.state, vertices, targets)

    def sweep(self, vertices: Integers) -> Floats:
        """Move vertices from the first of two clusters to the second one by one; the cost after each."""
        self._visit(vertices)
        return self._kernels.sweep(self.flow, self.state, vertices)

    def keep(self) -> None:
        """Make all moves so far final."""
        self._log.clear()
        self._kept = self.state.volumes.copy(), self.state.flows.copy()

    def undo(self) -> None:
        """Undo all moves since the last `keep`."""
        for vertices, before in reversed(self._log):
            self._kernels.assign(self.flow, self.state, vertices, before)
        self._log.clear()
        self.state.volumes[:], self.state.flows[:] = self._kept

    def _improve(self, vertices: Integers, passes: int = PASSES) -> bool:
        """Evaluate these vertices, make the moves of those nearest to one, and return whether any moved."""
        found = self._gains(vertices)
        promising = int(np.count_nonzero(found > MIN_GAIN))
        if not promising:
            return False
        near = vertices[_largest(found, max(promising, int(NEAR * len(vertices))))]
        before = self.state.labels[near]
        visited = self._visit(near)
        made = self._kernels.descend(self.flow, self.state, near, self.min_volume, MIN_GAIN, passes)
        self.visited += (made - 1) * visited
        moved = self.state.labels[near] != before
        self._log.append((near[moved], before[moved]))
        self._report()
        return bool(moved.any())  # moves there and back gain by rounding only, and would never end

    def _exchange(self) -> bool:
        """Move groups that must be apart from others, which move out of their way; whether any moved."""
        moved = False
        for group in () if self.rules is None else self.rules.partners:
            for target in range(self.k):
                moved |= self._exchanged(group, target)
        return moved

    def _exchanged(self, group: int, target: int) -> bool:
        """Move one group, and those that it must be apart from the other way, if that lowers the cost."""
        labels, home = self.state.labels, self.state.labels[group]
        chain = None if self.rules is None or home == target else self.rules.chain(labels, group, target)
        if chain is None:
            return False
        before, volumes, flows = self.cost, self.state.volumes.copy(), self.state.flows.copy()
        homes = labels[chain]
        self.assign(chain, np.where(homes == home, target, home))
        low, fits = max(NOISE, self.min_volume), self.state.volumes <= self.state.most
        allowed = self.state.sizes.all() and self.state.volumes.min() >= low and fits.all()
        if allowed and self.cost < before - MIN_GAIN:
            return True
        self._log.pop()
        self._kernels.assign(self.flow, self.state, chain, homes)
        self.state.volumes[:], self.state.flows[:] = volumes, flows
        return False

    def _free(self) -> Integers:
        """The vertices that single moves may move."""
        return np.flatnonzero(~self.state.still)

    def _merger_costs(self) -> Floats:
        """The costs of all mergers, computed again only if flows have changed: most perturbations fail."""
        if self._mergers is None or not np.array_equal(self._mergers[0], self.state.flows):
            costs = self.objective.merger_costs(self.state.volumes, self.state.flows, self.between)
            self._mergers = self.state.flows.copy(), costs
        return self._mergers[1]

    def _mergeable(self) -> Booleans:
        """Mark the pairs of clusters of which the second may be merged into the first."""
        clusters = np.arange(self.k)
        if self.rules is None:
            return np.asarray(clusters[:, None] < clusters)
        volumes, movable = self.state.volumes, np.ones(self.k, dtype=bool)
        movable[self.state.labels[self.state.still]] = False
        fits = volumes[:, None] + volumes <= self.state.most
        preferred = (clusters[:, None] < clusters) | ~movable[:, None]
        return np.asarray(fits & movable & preferred & (clusters[:, None] != clusters))

    def _gains(self, vertices: Integers) -> Floats:
        """The gain of the best move of each of these vertices, on two threads if that pays."""
        found, n = np.empty(len(vertices)), len(vertices)
        large = self._visit(vertices) * self.k >= self.parallel_from
        in_parallel([
            partial(self._kernels.gains, self.flow, self.state, vertices[a:b], self.min_volume, found[a:b])
            for a, b in pairwise((0, n // 2, n) if large else (0, n))
        ])  # fmt: skip
        return found

    def _neighborhood(self, vertices: Integers) -> Integers:
        """The vertices that share a hyperedge with one of these; all vertices if they are many."""
        flow = self.flow
        if len(flow.edges) < LOCAL_FROM:
            return self._free()
        edges = np.unique(flow.edges[_entries(flow.indptr, vertices)])
        sizes = flow.edge_indptr[edges + 1] - flow.edge_indptr[edges]
        if sizes.sum() > int(LOCAL_UP_TO * len(flow.edges)):
            return self._free()
        found = np.unique(flow.members[_entries(flow.edge_indptr, edges)]).astype(np.int64)
        return found[~self.state.still[found]]

    def _visit(self, vertices: Integers) -> int:
        visited = int((self.flow.indptr[vertices + 1] - self.flow.indptr[vertices]).sum())
        self.visited += visited + CALL
        return visited

    def _report(self) -> None:
        """Report the work, and the cost now or at the last `keep`, whichever is lower."""
        if self.work is not None and listening():
            best = min(self.objective.cost(*self._kept), self.plain_cost)
            self.work.report(self.visited, self.objective.shown(best))

    @property
    def _kernels(self) -> VertexKernels:
        return self.objective.kernels


def _entries(indptr: Codes, rows: Codes) -> Integers:
    """Positions of the entries of some rows."""
    sizes = indptr[rows + 1] - indptr[rows]
    ends = np.cumsum(sizes)
    return np.asarray(np.arange(int(sizes.sum())) + np.repeat(indptr[rows] - ends + sizes, sizes))


def _largest(values: Floats, count: int) -> Integers:
    """Positions of the largest values, in descending order, ties by position."""
    rest = max(len(values) - count, 0)
    chosen = np.flatnonzero(values >= np.partition(values, rest)[rest])
    return chosen[np.argsort(-values[chosen], kind="stable")[:count]]
