"""Lower the NCut of a partition: single moves until none helps, then kicks out of the local optimum."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hyperclus import moves
from hyperclus.compiled import kernels
from hyperclus.moves import Flow, State
from hyperclus.threads import in_parallel, single_blas_thread
from hyperclus.types import Floats, Integers
from hyperclus.walk import RandomWalk

ENOUGH = 1e-13  # a move must lower the NCut by more than rounding may
PARALLEL_FROM = 10_000_000  # incidences times clusters from which a second thread pays
CLOSE = 0.1  # of the vertices looked at: how many are near enough to a move to be tried again at once
DRAWN = 6  # kicks, of which the best is made
CHEAP = 2.0  # mean rank by cost of the merger that a kick makes
CALL = 10_000  # incidences that could be looked at in the time that one call takes
FEW = 20  # products that a dense eigen-solve counts for
MOST = 1e8  # incidences that kicks may look at, where the looks are many
LOCAL_UP_TO = 0.25  # of the incidences: where moves touch less, only their surroundings are looked at


Rank: TypeAlias = tuple[int, float, float]
Move: TypeAlias = tuple[Integers, Integers]  # vertices, and the cluster that each goes to


@dataclass(frozen=True, slots=True)
class Effort:
    """How far to search. Work is counted in looks at the incidences, so it is the same on every machine.

    Attributes
    ----------
    extra : int
        Eigenvectors beyond the k that the bound needs.
    guesses : int
        First guesses, each improved by one round.
    finalists : int
        The best of them, improved until no move helps, then by kicks.
    looks : float
        How often kicks may look at all incidences, for each product that the eigenvectors took.
    """

    extra: int
    guesses: int
    finalists: int
    looks: float


EFFORTS = {
    "fast": Effort(extra=0, guesses=3, finalists=1, looks=0.0),
    "default": Effort(extra=2, guesses=6, finalists=2, looks=0.4),
    "thorough": Effort(extra=6, guesses=32, finalists=8, looks=50.0),
}


@single_blas_thread
def lowest(
    walk: RandomWalk,
    guesses: Iterable[Integers],
    k: int,
    effort: Effort,
    products: int,
    bound: float,
    least: float,
    rng: np.random.Generator,
) -> Integers:
    """Labels 0 .. k - 1 of the lowest NCut found, from first guesses at them.

    Parameters
    ----------
    products : int
        What the eigenvectors took.
    bound : float
        No NCut is lower; the search ends there.
    least : float
        The volume below which no cluster should be.
    """
    flow = flow_of(walk)
    looks = effort.looks * min(max(products, FEW) * len(flow.edges), MOST) / effort.finalists

    def ranked(
        labelled: Iterable[Integers], stage: Callable[[Clusters], None]
    ) -> list[tuple[Rank, Integers]]:
        """What a stage makes of each labelling, best first; the sums of only one are held at a time."""
        results = []
        for labels in labelled:
            clusters = Clusters.of(walk, labels, k, least, flow)
            stage(clusters)
            results.append((clusters.rank, clusters.state.labels))
        return sorted(results, key=itemgetter(0))

    def settle(clusters: Clusters) -> None:
        clusters.descend()
        kick(clusters, int(looks), bound, rng)

    guessed = ranked(islice(guesses, max(effort.guesses, k if effort.looks else 0)), Clusters.keep)
    tried = ranked([labels for _, labels in guessed[: 2 * effort.finalists]], Clusters.round)
    ends = ranked([labels for _, labels in tried[: effort.finalists]], settle)
    end = ranked([ends[0][1]], Clusters.keep)  # counted anew: many moves lose digits
    return min(guessed[0], end[0], key=itemgetter(0))[1]


def kick(clusters: "Clusters", looks: int, bound: float, rng: np.random.Generator) -> None:
    """Make a large move that may raise the NCut, let single moves settle, keep what is lower; again.

    A large move forces the members of a hyperedge into one cluster. With three clusters or more every
    other one merges two clusters, and members of a hyperedge found a new one. The best of a few, drawn
    at random, is made. Ends after looking at so many incidences, or when the NCut meets its bound.
    """
    stop = clusters.visited + looks
    founding = clusters.k > 2
    while clusters.visited + DRAWN * CALL <= stop and clusters.ncut > bound + ENOUGH:
        before = clusters.rank
        clusters.keep()
        drawn = [clusters.founding(rng) if founding else clusters.joining(rng) for _ in range(DRAWN)]
        ranked = [(clusters.rank_after(move), move) for move in drawn if clusters.empties_none(move)]
        if ranked:
            _, (vertices, targets) = min(ranked, key=itemgetter(0))
            clusters.assign(vertices, targets)
            clusters.descend(vertices)
        if not clusters.rank < before:
            clusters.undo()
        clusters.visited += CALL
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
        The volume below which no move takes a cluster.
    visited : int
        Incidences looked at so far: the work done, on any machine.
    """

    walk: RandomWalk
    least: float
    flow: Flow
    state: State
    visited: int = 0
    _log: list[tuple[Integers, Integers]] = field(default_factory=list)

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
    def rank(self) -> Rank:
        """What is to be small: the number of clusters below the least volume, the NCut, the imbalance."""
        volumes = self.state.volumes
        small = np.count_nonzero(volumes < self.least * (1 - 1e-12))
        return int(small), round(self.ncut, 12), -float(volumes.min())

    def round(self) -> None:
        """Look at every vertex once and make the moves that help."""
        self._improve(np.arange(len(self.state.labels)))

    def descend(self, around: Integers | None = None) -> None:
        """Move single vertices, those that gain most first, until no move helps.

        With `around`, only the vertices that share a hyperedge with one of these may move.
        """
        vertices = np.arange(len(self.state.labels)) if around is None else self._surroundings(around)
        while self._improve(vertices):
            pass

    def joining(self, rng: np.random.Generator) -> Move:
        """The move of a hyperedge's members to one cluster, both drawn at random."""
        members = self._drawn_edge(rng)
        target = int(rng.integers(self.k))
        leaving = members[self.state.labels[members] != target]
        return leaving, np.full(len(leaving), target)

    def founding(self, rng: np.random.Generator) -> Move:
        """The move that merges two clusters and lets members of a hyperedge found a new one.

        The cheaper a merger the likelier it is drawn; the members of one cluster found the new one.
        """
        first, second = np.triu_indices(self.k, 1)
        ranked = np.argsort(self._merger_costs()[first, second], kind="stable")
        drawn = ranked[min(int(rng.exponential(CHEAP)), len(ranked) - 1)]
        labels = np.where(self.state.labels == second[drawn], first[drawn], self.state.labels)
        members = self._drawn_edge(rng)
        held = np.bincount(labels[members], minlength=self.k)
        parent = np.searchsorted(np.cumsum(held), rng.random() * len(members), side="right")
        labels[members[labels[members] == parent]] = second[drawn]
        moved = np.flatnonzero(labels != self.state.labels)
        return moved, labels[moved]

    def empties_none(self, move: Move) -> bool:
        """Whether a move changes something and leaves a vertex in every cluster."""
        vertices, targets = move
        leaving = np.bincount(self.state.labels[vertices], minlength=self.k)
        joining = np.bincount(targets, minlength=self.k)
        return len(vertices) > 0 and bool((self.state.sizes - leaving + joining > 0).all())

    def rank_after(self, move: Move) -> Rank:
        """The rank that a move would lead to; it is not made."""
        vertices, targets = move
        self.assign(vertices, targets)
        rank = self.rank
        self.undo()
        return rank

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

    def undo(self) -> None:
        """Take back all moves since the last `keep`."""
        for vertices, before in reversed(self._log):
            self._kernels.assign(self.flow, self.state, vertices, before)
        self._log.clear()

    def _tally(self) -> None:
        """Fill the sums, which are zero."""
        indptr = self.flow.edge_indptr
        halves = _halves(indptr[-1] * self.k, len(indptr) - 1, int(np.searchsorted(indptr, indptr[-1] // 2)))
        in_parallel([partial(self._kernels.tally, self.flow, self.state, *half) for half in halves])

    def _drawn_edge(self, rng: np.random.Generator) -> Integers:
        """The members of a hyperedge drawn at random."""
        gamma = self.walk.hypergraph.gamma
        edge = rng.integers(gamma.shape[0])
        return gamma.indices[gamma.indptr[edge] : gamma.indptr[edge + 1]].astype(np.int64)

    def _merger_costs(self) -> Floats:
        """By how much merging each pair of clusters raises the sum of the terms of the NCut that are left."""
        insides, volumes = self.state.insides, self.state.volumes
        between = self.state.sums[:, 0].T @ (self.flow.share[:, None] * self.state.sums[:, 1])
        merged = (insides[:, None] + insides + between + between.T) / (volumes[:, None] + volumes)
        return np.asarray((insides / volumes)[:, None] + insides / volumes - merged)

    def _improve(self, vertices: Integers) -> bool:
        """One look at all these vertices, then rounds over those that were closest to a move."""
        found = self._gains(vertices)
        count = int(np.count_nonzero(found > ENOUGH))
        if not count:
            return False
        count = min(max(count, int(CLOSE * len(vertices))), len(vertices) - 1)
        near = np.argpartition(-found, count)[:count]
        vertices, found = vertices[near], found[near]
        while self._move(vertices, found):
            found = self._gains(vertices)
        return True

    def _move(self, vertices: Integers, found: Floats) -> bool:
        """Make the moves that help, those that gain most first; whether there were any."""
        promising = np.flatnonzero(found > ENOUGH)
        order = vertices[promising[np.argsort(-found[promising], kind="stable")]]
        before = self.state.labels[order]
        self._visit(order)
        self._kernels.improve(self.flow, self.state, order, self.least, ENOUGH)
        moved = self.state.labels[order] != before
        self._log.append((order[moved], before[moved]))
        return bool(moved.any())

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
        gamma, n = self.walk.hypergraph.gamma, len(self.state.labels)
        edges = np.unique(self.walk.factors.gamma_by_vertex[vertices].indices)
        if (gamma.indptr[edges + 1] - gamma.indptr[edges]).sum() > LOCAL_UP_TO * gamma.nnz:
            return np.arange(n)
        return np.unique(gamma[edges].indices).astype(np.int64)

    def _visit(self, vertices: Integers) -> int:
        visited = int((self.flow.indptr[vertices + 1] - self.flow.indptr[vertices]).sum())
        self.visited += visited + CALL
        return visited

    @property
    def _kernels(self) -> Any:
        return kernels(moves, self.visited * self.k)


def flow_of(walk: RandomWalk) -> Flow:
    """The walk as the kernels read it; it shares the arrays of the walk."""
    factors, by_vertex, by_edge = walk.factors, walk.factors.gamma_by_vertex, walk.hypergraph.gamma
    arrays = (
        by_vertex.indptr,
        by_vertex.indices,
        by_vertex.data,
        factors.picks_by_vertex.data,
        by_edge.indptr,
        by_edge.indices,
        by_edge.data,
        factors.picks.data,
        walk.stationary,
        walk.stationary / factors.degrees,
        walk.hypergraph.edge_weights / factors.edge_degrees,
    )
    return Flow(*(_read_only(array) for array in arrays))


def _halves(work: int, whole: int, middle: int) -> list[tuple[int, int]]:
    """A range in two, one for each thread, where the work pays for a second thread."""
    return [(0, middle), (middle, whole)] if work >= PARALLEL_FROM else [(0, whole)]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to; Numba compiles once more where some arrays can and some cannot."""
    view = array.view()
    view.flags.writeable = False
    return view
