"""Clusters of low NCut where there are very many vertices: all of them are looked at, and moved, at once.

Everything follows from products of the walk. With x_j = Pi^1/2 times the indicator of cluster j,

    linked_j = 2 Pi^1/2 M x_j,    internal(S_j) = x_j' M x_j,    vol(S_j) = x_j' x_j,    L_sym = I - M,

linked_j(v) being the flow between v and S_j in both directions. So what each single move would gain (see
`moves`) takes one product for each cluster but the last, wherever the vectors lie. The moves that gain are
made together; where they get in each other's way, fewer of them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint
from hyperclus._runtime.progress import WorkProgress
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.clustering.cut import flows
from hyperclus.clustering.initialization import Space, embedding
from hyperclus.clustering.vertex_kernels import NOISE, SHORT
from hyperclus.clustering.vertex_search import ENOUGH, Effort
from hyperclus.engines.base import ArrayBackend
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Floats, Integers

BATCHED_FROM = 3_000_000  # incidences from which moves are made in batches, without kicks;
TWO_FROM = 450_000  # for two clusters, which the kicks were not seen to improve at this size
SWEPT = (0.04, 0.15, 0.35, 0.65, 0.85, 0.96)  # of the mass: where an order is cut, beside its zero
CLOSER = 1  # rounds in which the best cut and its neighbours are halved
STARTS = 3  # of k-means on a sample, of which the one of lowest cost counts
ALIKE = 0.999  # of the vertices: guesses that agree on so many are one
ROUNDS = 50  # of moves, at most
SLOW = 1e-8  # in large hypergraphs, a round that lowers the NCut by less than this share is the last


def pays(n_incidences: int, k: int) -> bool:
    """Whether k clusters of a hypergraph of this size are searched in batches."""
    return k > 1 and n_incidences >= (min(TWO_FROM, BATCHED_FROM) if k == 2 else BATCHED_FROM)


@single_blas_thread
def batch_search(
    walk: RandomWalk,
    pairs: Eigenpairs,
    k: int,
    effort: Effort,
    least: float,
    rng: np.random.Generator,
    start: Integers | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Integers:
    """Labels 0 .. k - 1 of the lowest NCut found from first guesses, or from given labels.

    They lie where the vectors of the walk do. Parameters as in `search.lowest`.
    """
    if (done := checkpoint.result()) is not None:
        labels: Integers = done["labels"]
        return labels
    crowd = BatchState(walk, k, least, WorkProgress("search", "incidences"))
    given: list[Callable[[], Integers]] = [] if start is None else [partial(crowd.backend.put, start)]
    guesses = given or guessed(crowd, pairs, effort, rng)
    crowd.work.begin(crowd.once * (0.5 * (len(SWEPT) + 2 * CLOSER) + 6), 1.0)
    best = checkpoint.part("guesses").result()
    if best is None:
        found: list[tuple[float, Integers]] = []
        for guess in guesses:
            labels = guess()
            if k == 2 or not any(_alike(crowd.backend, labels, other, k) for _, other in found):
                found.append((crowd.cost(labels), labels))
        found.sort(key=itemgetter(0))
        first = [labels for _, labels in found[: max(effort.finalists // 2, 1)]]
        best = checkpoint.part("guesses").finish(
            **{f"labels {number}": one for number, one in enumerate(first)}
        )
    ends = [crowd.end(labels, checkpoint.part("end", number)) for number, labels in enumerate(best.values())]
    cost, labels = min(ends, key=itemgetter(0))
    crowd.work.end(f"NCut {cost:.4f}")
    checkpoint.finish(labels=labels)
    return labels


def guessed(
    crowd: "BatchState", pairs: Eigenpairs, effort: Effort, rng: np.random.Generator
) -> Iterator[Callable[[], Integers]]:
    """First guesses: for two clusters the best of some cuts along the second eigenvector; k-means."""
    masses = crowd.walk.stationary
    rows = embedding(crowd.walk, pairs)
    if crowd.k == 2:
        yield partial(swept, crowd, rows[:, 0])
    spaces = []
    if crowd.k > 2:
        first = rows[:, : crowd.k - 1]
        spaces.append(Space(crowd.backend, first, masses))
        values = np.maximum(pairs.values[1 : crowd.k], 1e-2 * pairs.values[-1] + 1e-300)
        spaces.append(Space(crowd.backend, first / crowd.backend.put(np.sqrt(values)), masses))
    if effort.extra:
        spaces.append(Space(crowd.backend, rows, masses))
    for space in spaces:
        for _ in range(max(effort.guesses // 8, 1)):
            yield partial(space.best_of, STARTS, crowd.k, rng)


def swept(crowd: "BatchState", scores: Floats) -> Integers:
    """Two clusters by a cut along the scores: coarse steps of mass first, then finer ones around the best."""
    masses = crowd.walk.stationary
    parted = crowd.backend.mass_splitter(scores, masses)
    costs: dict[float, float] = {}

    def look(wanted: list[float]) -> None:
        """Have the costs where these shares of the mass are on one side."""
        new = [share for share in wanted if share not in costs]
        costs.update(zip(new, crowd.costs(parted(new)), strict=True))

    negative = (float((masses * (scores <= 0)).sum()),)  # the cut by sign
    shares = sorted({min(max(share, crowd.least), 1.0 - crowd.least) for share in SWEPT + negative})
    for _ in range(CLOSER):
        look(shares)
        at = int(np.argmin([costs[share] for share in shares]))
        around = shares[max(at - 1, 0) : at + 2]
        halves = [(low + high) / 2 for low, high in pairwise(around)]
        shares = sorted({*around, *halves})
    look(shares)
    return next(parted([min(shares, key=costs.__getitem__)]))


def _alike(backend: ArrayBackend, labels: Integers, other: Integers, k: int) -> bool:
    """Whether two guesses are the same but for few vertices, which moves would make the same."""
    (counts,) = backend.fetch(np.bincount(labels * k + other, minlength=k * k))
    table = counts.reshape(k, k)
    return bool(
        table.max(axis=1).sum() >= ALIKE * len(labels) and table.max(axis=0).sum() >= ALIKE * len(labels)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """Clusters as they are: what every vertex has to do with each of them, and the NCut.

    Attributes
    ----------
    labels : array of shape (n,)
    linked : array of shape (n, k - 1)
        The flow between a vertex and each cluster but the last; all of them add up to 2 phi.
    sizes, volumes, insides : arrays of shape (k,)
        In the memory of the host.
    cost : float
        The NCut, and more where a cluster is too small, as in `search`; infinite where one is empty.
    """

    labels: Integers
    linked: Floats
    sizes: Integers
    volumes: Floats
    insides: Floats
    cost: float


@dataclass(frozen=True, eq=False)
class BatchState:
    """All vertices of a walk, to be put into k clusters of at least some volume."""

    walk: RandomWalk
    k: int
    least: float
    work: WorkProgress

    @cached_property
    def root(self) -> Floats:
        """The root of phi."""
        return self.backend.persist(np.sqrt(self.walk.stationary))

    @cached_property
    def laplacian(self) -> NormalizedLaplacian:
        """L_sym."""
        return NormalizedLaplacian(self.walk)

    @cached_property
    def own(self) -> Floats:
        """The flow of each vertex to itself."""
        return self.backend.persist(self.walk.stationary * self.walk.factors.return_probability)

    @property
    def large(self) -> bool:
        """Whether a round costs more than the last digits of the NCut are worth."""
        return self.walk.hypergraph.n_incidences >= BATCHED_FROM

    @property
    def once(self) -> float:
        """The incidences that one look passes over."""
        return 2.0 * self.walk.hypergraph.n_incidences * (self.k - 1)

    @property
    def backend(self) -> ArrayBackend:
        """Where the vectors live."""
        return self.walk.backend

    def cost(self, labels: Integers) -> float:
        """The cost of clusters that are not looked at further: half as many passes as a look takes."""
        return self.costs([labels])[0]

    def costs(self, guesses: Iterable[Integers]) -> list[float]:
        """The same of several; on many workers they take one round."""
        found = [figure for labels in guesses for figure in flows(self.walk, labels, self.k, once=True)]
        figures = self.backend.fetch(*found)
        costs = []
        for volumes, boundaries in zip(figures[::2], figures[1::2], strict=True):
            costs.append(self._cost(volumes > 0, volumes, volumes - boundaries))
            self.work.piece = self.once / 2
            self.work.finish(f"NCut {costs[-1]:.4f}")
        return costs

    def look(self, labels: Integers) -> Look:
        """Look at all vertices: k - 1 products."""
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
        self.work.piece = self.once
        self.work.finish(f"NCut {cost:.4f}")
        return Look(labels, linked, sizes, volumes, insides, cost)

    def end(self, labels: Integers, checkpoint: Checkpoint) -> tuple[float, Integers]:
        """Where moves lead from these labels, and the cost there."""
        done = checkpoint.result()
        if done is None:
            state = checkpoint.state()
            look = self.descend(self.look(labels if state is None else state["labels"]), checkpoint)
            done = checkpoint.finish(cost=look.cost, labels=look.labels)
        return done["cost"], done["labels"]

    def descend(self, look: Look, checkpoint: Checkpoint = NO_CHECKPOINT) -> Look:
        """Make the moves that gain, until there is none or little comes of it.

        All of them at first; if that does not lower the cost, those into one cluster, which help each other;
        then the better half of these, and so on down to a single one, which does.
        """
        for _ in range(ROUNDS):
            gains, targets = self.gains(look)
            moving = self.backend.persist(gains > ENOUGH)
            after = look
            for attempt in range(65):
                count = int(np.count_nonzero(moving))
                if not count:
                    return look
                after = self.look(self.backend.persist(np.where(moving, targets, look.labels)))
                if after.cost < look.cost or count == 1:
                    break
                if attempt == 0:
                    moving = self._into_one(moving, gains, targets)
                else:
                    moving = self.backend.best_half(moving, gains, count, attempt)
            if not after.cost < look.cost:
                return look
            before, look = look, after
            if checkpoint.due:
                checkpoint.keep(labels=look.labels)
            if self.large and before.cost - look.cost < SLOW * look.cost:
                return look
        return look

    def gains(self, look: Look) -> tuple[Floats, Integers]:
        """By how much the best move of each vertex lowers the cost, and where it goes."""
        backend = self.backend
        found, targets = backend.empty_columns(self.root, 1), backend.empty_columns(look.labels, 1)
        for rows in backend.row_slices(len(self.root)):
            found[rows, 0], targets[rows, 0] = self._best_moves(look, rows)
        return found[:, 0], targets[:, 0]

    def _into_one(self, moving: Booleans, gains: Floats, targets: Integers) -> Booleans:
        """The moves into the cluster that they gain most for."""
        weights = np.where(moving, gains, 0.0)
        (totals,) = self.backend.fetch(np.bincount(targets, weights=weights, minlength=self.k))
        return self.backend.persist(moving & (targets == int(np.argmax(totals))))

    def _best_moves(self, look: Look, rows: slice) -> tuple[Floats, Integers]:
        """As `moves.best_target`, for some vertices at a time."""
        home, mass, own = look.labels[rows], self.walk.stationary[rows], self.own[rows]
        best, target = np.full_like(mass, -np.inf), np.zeros_like(home)
        stay, rest = np.zeros_like(mass), 2.0 * mass
        for cluster, (volume, inside) in enumerate(zip(look.volumes, look.insides, strict=True)):
            linked = look.linked[rows, cluster] if cluster < self.k - 1 else rest
            rest = rest - linked
            gain = (inside + linked + own) / (volume + mass) - inside / volume
            if volume < self.least:
                gain += SHORT * np.minimum(mass, self.least - volume) / self.least
            left = volume - mass
            leaving = (inside - linked + own) / np.where(left > 0, left, 1.0) - inside / volume
            if look.sizes[cluster] < 2:
                left = left - np.inf
            at_home = home == cluster
            stay = np.where(at_home, np.where(left < max(self.least, NOISE), -np.inf, leaving), stay)
            better = (gain > best) & ~at_home
            best, target = np.where(better, gain, best), np.where(better, cluster, target)
        return best + stay, target

    def _cost(self, sizes: Integers | Booleans, volumes: Floats, insides: Floats) -> float:
        if not sizes.all() or volumes.min() < NOISE:
            return np.inf
        short = np.maximum(1.0 - volumes / self.least, 0.0) if self.least else np.zeros(1)
        return float(self.k - (insides / volumes).sum() + SHORT * short[short > 1e-12].sum())
