"""Lower the NCut of a partition: single moves until none helps, then kicks out of the local optimum."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from hyperclus._runtime.arrays import read_only
from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint, Values
from hyperclus._runtime.jit import kernels
from hyperclus._runtime.progress import WorkProgress, listening
from hyperclus._runtime.threads import in_parallel, single_blas_thread
from hyperclus.clustering import vertex_kernels
from hyperclus.clustering.vertex_kernels import Flow, State
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Codes, Floats, Integers

ENOUGH = 1e-13  # a move must lower the NCut by more than rounding may
PARALLEL_FROM = 10_000_000  # incidences times clusters from which a second thread pays
CLOSE = 0.1  # of the vertices looked at: how many are near enough to a move to be tried again at once
DRAWN = 6  # kicks, of which the best is made
CHEAP = 2.0  # mean rank by cost of the merger that a kick makes
CALL = 3_000  # incidences that could be looked at in the time that one call takes
FEW = 20  # products that a dense eigen-solve counts for
MOST = 1e8  # incidences that kicks may look at, where the looks are many
LOCAL_FROM = 20_000  # incidences: in less, finding the surroundings takes longer than looking everywhere
LOCAL_UP_TO = 0.25  # of the incidences: where moves touch less, only their surroundings are looked at
PASSES = 50  # over the vertices close to a move, until all are looked at again

GUESS, ROUND, DESCENT = 3, 4, 10  # looks at all incidences that each of them takes, about
NONE = np.empty(0, dtype=np.int64)
Guess: TypeAlias = Integers | Callable[[], Integers]
Rank: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Effort:
    """How far to search. Work is counted in looks at the incidences, so it is the same on every machine.

    Attributes
    ----------
    extra : int
        Eigenvectors beyond the k that the bound needs.
    guesses : int
        First guesses; more of them for many clusters, where there are kicks.
    finalists : int
        How many are improved until no move helps, then by kicks: of the best guesses, twice as many,
        those that are best after one round. For two clusters half of it.
    looks : float
        How often kicks may look at all incidences, for each product that the eigenvectors took.
    incidences : float
        How many each finalist's kicks may look at, however few there are.
    """

    extra: int
    guesses: int
    finalists: int
    looks: float
    incidences: float = 0.0


EFFORTS = {
    "fast": Effort(extra=0, guesses=3, finalists=1, looks=0.0),
    "default": Effort(extra=2, guesses=5, finalists=2, looks=0.3),
    "thorough": Effort(extra=6, guesses=32, finalists=8, looks=50.0, incidences=1e6),
}


@single_blas_thread
def lowest(
    walk: RandomWalk,
    guesses: Iterable[Guess],
    k: int,
    effort: Effort,
    products: int,
    bound: float,
    least: float,
    rng: np.random.Generator,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    work: WorkProgress | None = None,
    share: float = 1.0,
) -> Integers:
    """Labels 0 .. k - 1 of the lowest NCut found, from first guesses at them.

    Parameters
    ----------
    guesses : labels, or functions that return some
    products : int
        What the eigenvectors took.
    bound : float
        No NCut is lower; the search ends there.
    least : float
        The volume below which no cluster should be.
    place : Slot
        Where to keep results and states.
    work : Work, optional
        Told of what is done; it ends at `share` of the stage.
    """
    flow = flow_of(walk)
    m = len(flow.edges)
    finalists = effort.finalists if k > 2 else (effort.finalists + 1) // 2
    looks = effort.looks * min(max(products, FEW) * m, MOST) / effort.finalists
    looks = max(looks, effort.incidences)
    count = max(effort.guesses, k - 2) if effort.looks else effort.guesses
    total = m * (GUESS * count + ROUND * 2 * finalists) + (m * DESCENT + looks) * finalists
    work = work or WorkProgress("search", "incidences")
    work.begin(total, share)
    if (done := checkpoint.result()) is not None:
        work.end(f"NCut {done['ncut']:.4f}")
        return np.asarray(done["labels"])

    def ranked(
        name: str, starts: Iterable[Guess], stage: Callable[[Clusters, Checkpoint], None], expected: float
    ) -> list[tuple[Rank, Integers]]:
        """What a stage makes of each start, best first; the sums of only one are held at a time."""
        results: list[tuple[Rank, Integers]] = []
        for number, start in enumerate(starts):
            work.piece, part = expected, checkpoint.part(name, number)
            kept = part.result()
            if kept is None:
                clusters = Clusters.of(walk, start() if callable(start) else start, k, least, flow)
                clusters.work = work
                stage(clusters, part)
                kept = part.finish(rank=clusters.rank, labels=clusters.state.labels)
            results.append((tuple(kept["rank"]), kept["labels"]))
            work.finish(f"NCut {min(rank for rank, _ in results)[0]:.4f}")
        return sorted(results, key=itemgetter(0))

    def settle(clusters: Clusters, part: Checkpoint) -> None:
        state = part.state()
        if state is None:
            clusters.descend()
        perturb(clusters, int(looks), bound, rng, part, state)

    guessed = ranked("guess", islice(guesses, count), lambda *_: None, GUESS * m)
    best = [labels for _, labels in guessed[: 2 * finalists]]
    tried = ranked("round", best, lambda clusters, _: clusters.round(), ROUND * m)
    best = [labels for _, labels in tried[:finalists]]
    ends = ranked("end", best, settle, DESCENT * m + looks)
    end = ranked("count", [ends[0][1]], lambda *_: None, 0)  # counted anew: many moves lose digits
    (ncut, _), labels = min(guessed[0], end[0], key=itemgetter(0))
    checkpoint.finish(labels=labels, ncut=ncut)
    work.end(f"NCut {ncut:.4f}")
    return labels


def perturb(
    clusters: "Clusters",
    looks: int,
    bound: float,
    rng: np.random.Generator,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    state: Values | None = None,
) -> None:
    """Make a large move that may raise the NCut, let single moves settle, keep what is lower; again.

    A large move forces the members of a hyperedge into one cluster. With three clusters or more every
    other one merges two clusters, and members of a hyperedge found a new one. The best of a few, drawn
    at random, is made. Ends after looking at so many incidences, or when the NCut meets its bound. Goes on
    from a state that it kept in its place.
    """
    flow = clusters.flow
    once = DRAWN * (CALL + 2 * len(flow.edges) ** 2 // (len(flow.share) * len(flow.rate)))  # on average
    stop, founding = clusters.visited + looks, clusters.k > 2
    if state is not None:
        stop, founding = state.pop("stop"), state.pop("founding")
        clusters.visited, clusters.state = state.pop("visited"), State(**state)
    while clusters.visited + once <= stop and clusters.ncut > bound + ENOUGH:
        before = clusters.rank
        clusters.keep()
        if checkpoint.due:
            now = {"stop": stop, "founding": founding, "visited": clusters.visited}
            checkpoint.keep(**now, **clusters.state._asdict())
        merged, freed = clusters.merge(rng) if founding else (NONE, None)
        forced = clusters.force(freed, rng)
        if len(forced):
            clusters.descend(np.append(merged, forced))
        if not len(forced) or not clusters.rank < before:
            clusters.undo()
        founding = clusters.k > 2 and not founding
    clusters.keep()
    clusters.descend()


@dataclass(slots=True, eq=False)
class Clusters:
    """Clusters under change, with the sums from which the NCut after any move follows in O(deg v k).

    Attributes
    ----------
    walk : RandomWalk
    least : float
        The volume that each cluster should have: no move takes one below, and to lack it costs.
    visited : int
        Incidences looked at so far: the work done, on any machine.
    work : Work, optional
        Told of it.
    """

    walk: RandomWalk
    least: float
    flow: Flow
    state: State
    visited: int = 0
    work: WorkProgress | None = None
    _log: list[tuple[Integers, Integers]] = field(default_factory=list)
    _kept: tuple[Floats, Floats] = field(init=False)

    @classmethod
    def of(
        cls, walk: RandomWalk, labels: Integers, k: int, least: float = 0.0, flow: Flow | None = None
    ) -> "Clusters":
        """The clusters of labels 0 .. k - 1, none of them empty; the flow of the walk may be given."""
        flow = flow or flow_of(walk)
        state = State(
            labels.astype(np.int64),
            np.bincount(labels, minlength=k).astype(np.int64),
            np.bincount(labels, weights=walk.stationary, minlength=k).astype(np.float64),
            np.empty(k),
            np.zeros((walk.hypergraph.n_edges, 2, k)),
        )
        clusters = cls(walk, least, flow, state, len(flow.edges))
        clusters._tally()
        np.einsum("e,ej,ej->j", flow.share, state.sums[:, 0], state.sums[:, 1], out=state.insides)
        clusters.keep()
        return clusters

    @property
    def k(self) -> int:
        """The number of clusters."""
        return len(self.state.volumes)

    @property
    def ncut(self) -> float:
        """The NCut, k - sum_j internal(S_j) / vol(S_j)."""
        return float(self.k - (self.state.insides / self.state.volumes).sum())

    @property
    def cost(self) -> float:
        """The NCut, and more for each cluster whose volume falls short of the least."""
        if self.least == 0:
            return self.ncut
        short = np.maximum(1.0 - self.state.volumes / self.least, 0.0)
        return self.ncut + vertex_kernels.SHORT * float(short[short > 1e-12].sum())

    @property
    def rank(self) -> Rank:
        """What is to be small: the cost, then the imbalance."""
        return round(self.cost, 12), -float(self.state.volumes.min())

    def round(self, passes: int = PASSES) -> None:
        """Look at every vertex once; then passes over those that a move helps or nearly so."""
        self._improve(np.arange(len(self.state.labels)), passes)

    def descend(self, around: Integers | None = None) -> None:
        """Move single vertices, those that gain most first, until no move helps.

        With `around`, only the vertices that share a hyperedge with one of these may move.
        """
        vertices = np.arange(len(self.state.labels)) if around is None else self._surroundings(around)
        before = np.inf
        while self._improve(vertices) and self.cost < before - ENOUGH:
            before = self.cost

    def merge(self, rng: np.random.Generator) -> tuple[Integers, int]:
        """Merge two clusters, the cheaper the likelier: the vertices that moved, the cluster now empty."""
        insides, volumes = self.state.insides, self.state.volumes
        between = self.state.sums[:, 0].T @ (self.flow.share[:, None] * self.state.sums[:, 1])
        inside = (insides[:, None] + insides + between + between.T) / (volumes[:, None] + volumes)
        cost = (insides / volumes)[:, None] + insides / volumes - inside
        pairs = np.flatnonzero(np.arange(self.k)[:, None] < np.arange(self.k))
        ranked = pairs[np.argsort(cost.ravel()[pairs], kind="stable")]
        kept, freed = divmod(int(ranked[min(int(rng.exponential(CHEAP)), len(ranked) - 1)]), self.k)
        vertices = np.flatnonzero(self.state.labels == freed)
        self.assign(vertices, np.full(len(vertices), kept))
        self.state.volumes[freed] = self.state.insides[freed] = 0.0
        return vertices, freed

    def force(self, into: int | None, rng: np.random.Generator) -> Integers:
        """Move members of a hyperedge into one cluster; of a few drawn, the move with the lowest NCut.

        Into a given cluster, those of one other cluster; otherwise into a cluster drawn, all. Returns the
        vertices that moved: none, if every move would leave a cluster empty.
        """
        edges = rng.integers(len(self.flow.share), size=DRAWN)
        targets = rng.integers(self.k, size=DRAWN) if into is None else np.full(DRAWN, into)
        luck = np.full(DRAWN, -1.0) if into is None else rng.random(DRAWN)
        sources, costs = np.empty(DRAWN, dtype=np.int64), np.empty(DRAWN)
        self._kernels.forced(self.flow, self.state, edges, targets, luck, self.least, sources, costs)
        best = int(np.argmin(costs))
        members = self.flow.members[
            self.flow.edge_indptr[edges[best]] : self.flow.edge_indptr[edges[best] + 1]
        ]
        homes = self.state.labels[members]
        moving = homes != targets[best]
        if sources[best] >= 0:
            moving &= homes == sources[best]
        vertices = members[moving].astype(np.int64) if np.isfinite(costs[best]) else NONE
        tried = int((self.flow.edge_indptr[edges + 1] - self.flow.edge_indptr[edges]).sum())
        self.visited += 2 * tried * len(self.flow.edges) // len(self.state.labels)
        self.assign(vertices, np.full(len(vertices), targets[best]))
        return vertices

    def assign(self, vertices: Integers, targets: Integers) -> None:
        """Move each vertex to its target, whatever that does to the NCut."""
        self._log.append((vertices, self.state.labels[vertices]))
        self._visit(vertices)
        self._kernels.assign(self.flow, self.state, vertices, targets)

    def pass_over(self, vertices: Integers) -> Floats:
        """Of two clusters, move vertices of the first to the second one by one; the NCut after each."""
        self._visit(vertices)
        ncuts = np.empty(len(vertices))
        self._kernels.pass_over(self.flow, self.state, vertices, ncuts)
        return ncuts

    def keep(self) -> None:
        """Make all moves so far final."""
        self._log.clear()
        self._kept = self.state.volumes.copy(), self.state.insides.copy()

    def undo(self) -> None:
        """Take back all moves since the last `keep`."""
        for vertices, before in reversed(self._log):
            self._kernels.assign(self.flow, self.state, vertices, before)
        self._log.clear()
        self.state.volumes[:], self.state.insides[:] = self._kept

    def _tally(self) -> None:
        """Fill the sums, which are zero."""
        indptr = self.flow.edge_indptr
        halves = _halves(indptr[-1] * self.k, len(indptr) - 1, int(np.searchsorted(indptr, indptr[-1] // 2)))
        in_parallel([partial(self._kernels.tally, self.flow, self.state, *half) for half in halves])

    def _improve(self, vertices: Integers, passes: int = PASSES) -> bool:
        """Look at all these vertices, then make the moves of those closest to one until none is left."""
        found = self._gains(vertices)
        promising = int(np.count_nonzero(found > ENOUGH))
        if not promising:
            return False
        near = vertices[_largest(found, max(promising, int(CLOSE * len(vertices))))]
        before = self.state.labels[near]
        visited = self._visit(near)
        made = self._kernels.settle(self.flow, self.state, near, self.least, ENOUGH, passes)
        self.visited += (made - 1) * visited
        moved = self.state.labels[near] != before
        self._log.append((near[moved], before[moved]))
        self._tell()
        return True

    def _gains(self, vertices: Integers) -> Floats:
        """What the best move of each of these vertices gains."""
        found = np.empty(len(vertices))
        halves = _halves(self._visit(vertices) * self.k, len(vertices), len(vertices) // 2)
        in_parallel([
            partial(self._kernels.gains, self.flow, self.state, vertices[a:b], self.least, found[a:b])
            for a, b in halves
        ])  # fmt: skip
        return found

    def _surroundings(self, vertices: Integers) -> Integers:
        """The vertices that share a hyperedge with one of these; all of them where that is simpler."""
        flow, n = self.flow, len(self.state.labels)
        if len(flow.edges) < LOCAL_FROM:
            return np.arange(n)
        edges = np.unique(flow.edges[_entries(flow.indptr, vertices)])
        entries = _entries(flow.edge_indptr, edges, int(LOCAL_UP_TO * len(flow.edges)))
        return np.arange(n) if entries is None else np.unique(flow.members[entries]).astype(np.int64)

    def _visit(self, vertices: Integers) -> int:
        visited = int((self.flow.indptr[vertices + 1] - self.flow.indptr[vertices]).sum())
        self.visited += visited + CALL
        return visited

    def _tell(self) -> None:
        """Tell of the work, and of the NCut now or at the last `keep`, whichever is lower."""
        if self.work is not None and listening():
            volumes, insides = self._kept
            kept = self.k - float((insides / volumes).sum())
            self.work.report(self.visited, f"NCut {min(kept, self.ncut):.4f}")

    @property
    def _kernels(self) -> Any:
        return kernels(vertex_kernels, self.visited * self.k)


def flow_of(walk: RandomWalk) -> Flow:
    """The walk as the kernels read it; it shares the arrays of the walk."""
    factors, by_vertex, by_edge = walk.factors, walk.factors.gamma_by_vertex, walk.hypergraph.gamma
    arrays = (
        by_vertex.indptr,
        by_vertex.indices,
        by_vertex.data,
        factors.source_weights_by_vertex.data,
        by_edge.indptr,
        by_edge.indices,
        by_edge.data,
        factors.source_weights.data,
        walk.stationary,
        walk.stationary / factors.relative_degrees,
        factors.shares,
    )
    return Flow(*(read_only(array) for array in arrays))


def _entries(indptr: Codes, rows: Codes, most: float = np.inf) -> Integers | None:
    """Where the entries of some rows are; None if there are more than `most`."""
    sizes = indptr[rows + 1] - indptr[rows]
    if sizes.sum() > most:
        return None
    ends = np.cumsum(sizes)
    entries: Integers = np.arange(int(sizes.sum())) + np.repeat(indptr[rows] - ends + sizes, sizes)
    return entries


def _largest(values: Floats, count: int) -> Integers:
    """Where the largest values are, in descending order, equal ones as they come."""
    if count >= len(values):
        return np.argsort(-values, kind="stable")
    bar = np.partition(values, len(values) - count)[len(values) - count]
    above = np.flatnonzero(values > bar)
    chosen = np.append(above, np.flatnonzero(values == bar)[: count - len(above)])
    chosen.sort()
    return chosen[np.argsort(-values[chosen], kind="stable")]


def _halves(work: int, whole: int, middle: int) -> list[tuple[int, int]]:
    """A range in two, one for each thread, where the work pays for a second thread."""
    return [(0, middle), (middle, whole)] if work >= PARALLEL_FROM else [(0, whole)]
