"""Approximate PageRank by push, on the region of a hypergraph that the mass of some seeds reaches.

A query takes time and memory in proportion to its region. Only the numbers of the reached nodes are an array
over all vertices and hyperedges; they are reused by the next query.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Number
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hyperclus._runtime.arrays import index_type, read_only
from hyperclus._runtime.jit import kernels
from hyperclus.clustering import push_kernels
from hyperclus.clustering.push_kernels import (
    NOT_COPIED,
    QUEUED,
    REACHED,
    STORED,
    TINY,
    BipartiteCSR,
    ReachedSet,
)
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import as_integers_or_list
from hyperclus.hypergraph.messages import named, shown
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Codes, Floats, Ids, Integers

EXPECTED_VISITS = 20  # of each incidence by the first query
ROOM = 1 << 18  # entries that a region has room for at first
MAX_VISITS = 10_000_000  # by one call of a kernel, which cannot be interrupted
PASSES = 10  # over the vertices that may move
ROUNDING = 1e-14  # a flow below this share of a volume is 0


@dataclass(eq=False)
class PushContext:
    """Data that all queries on one walk share. It does not keep the walk alive.

    Attributes
    ----------
    ids : array
        Ids of all vertices of the hypergraph.
    inside : array or None
        The position in the hypergraph of each vertex of the walk; None if they are the same.
    links, edge_links : BipartiteCSR
        The walk from vertices to hyperedges and back.
    work : int
        Visits of incidences so far, plus those that the first query is expected to make.
    spare : list
        Arrays for `ReachedSet.number`, all 0, which queries borrow.
    room, max_visits : int
        Initial room of a region, and the largest number of visits in one kernel call.
    """

    ids: Ids
    inside: Integers | None
    links: BipartiteCSR
    edge_links: BipartiteCSR
    work: int
    spare: list[tuple[Codes, Codes]] = field(default_factory=list)
    room: int = ROOM
    max_visits: int = MAX_VISITS

    @classmethod
    def of(cls, walk: RandomWalk, ids: Ids, inside: Integers | None = None) -> "PushContext":
        """Build the context of a walk on the vertices `inside` a hypergraph with these ids."""
        h, factors = walk.hypergraph, walk.factors
        by_vertex, by_edge, omega = factors.gamma_by_vertex, h.gamma, h.edge_weights
        links: tuple[Any, ...] = (
            by_vertex.indptr,
            by_vertex.indices,
            factors.source_weights_by_vertex.data,
            1.0 / factors.degrees,
            by_vertex.data,
            walk.stationary,
        )
        edge_links: tuple[Any, ...] = (
            by_edge.indptr,
            by_edge.indices,
            by_edge.data,
            omega / factors.edge_degrees,
            factors.source_weights.data,
            walk.edge_stationary / omega,
        )
        sides = BipartiteCSR(*map(read_only, links)), BipartiteCSR(*map(read_only, edge_links))
        return cls(ids, inside, *sides, EXPECTED_VISITS * h.n_incidences)

    @property
    def stationary(self) -> Floats:
        """The stationary distribution phi."""
        return self.links.distribution

    @property
    def kernels(self) -> Any:
        """The kernels; compiled if the hypergraph is not small, or after many queries."""
        return kernels(push_kernels, self.work)

    def seed_positions(self, seeds: Any) -> Integers:
        """The positions of seeds in the walk, ascending and without repetition."""
        if isinstance(seeds, str | bytes | Number | np.generic):
            seeds = [seeds]
        wanted = as_integers_or_list(list(seeds) if isinstance(seeds, set | frozenset) else seeds, "seeds")
        if not len(wanted):
            raise InputError("no seeds are given; name at least one vertex")
        if self.ids.dtype != object and isinstance(wanted, np.ndarray):
            wanted = wanted.astype(np.int64, copy=False)
            near = np.searchsorted(self.ids, wanted, sorter=self._sorted)
            found = self._sorted[np.minimum(near, len(self.ids) - 1)]
            found[self.ids[found] != wanted] = -1
        else:
            names = wanted if isinstance(wanted, list) else wanted.tolist()
            found = np.array([self._position(name) for name in names])
        if found.min() < 0:
            name = shown(wanted[int(np.argmin(found))])
            raise InputError(
                f"seed {name} is not among the {len(self.ids):,} vertices; correct it or leave it out"
            )
        return np.unique(self._in_walk(found))

    @cached_property
    def _sorted(self) -> Integers:
        return np.argsort(self.ids, kind="stable")

    @cached_property
    def _by_id(self) -> dict[Any, int]:
        return {name: position for position, name in enumerate(self.ids.tolist())}

    def _position(self, name: Any) -> int:
        try:
            return self._by_id.get(name, -1)
        except TypeError:  # unhashable, such as a list: not an id
            return -1

    def _in_walk(self, found: Integers) -> Integers:
        """Positions in the walk of vertices of the hypergraph."""
        if self.inside is None:
            return found
        within = np.minimum(np.searchsorted(self.inside, found), len(self.inside) - 1)
        isolated = self.inside[within] != found
        if isolated.any():
            raise InputError(f"seed {named(self.ids, found[isolated])} is in no hyperedge; leave it out")
        return within

    def in_hypergraph(self, positions: Integers) -> Integers:
        """Positions in the hypergraph of vertices of the walk."""
        return positions if self.inside is None else self.inside[positions]

    @contextmanager
    def region(self, seeds: Integers) -> Iterator["Region"]:
        """A region in which only the seeds and their hyperedges are reached."""
        sizes = len(self.links.distribution), len(self.edge_links.distribution)
        try:
            numbers = self.spare.pop()
        except IndexError:  # the first query, or others are running in other threads
            kind = index_type(max(sizes))
            numbers = np.zeros(sizes[0], kind), np.zeros(sizes[1], kind)
        degrees = self.links.indptr[seeds + 1] - self.links.indptr[seeds]
        room = max(self.room, len(seeds), int(degrees.sum()))
        region = Region(self, seeds, _nothing_reached(numbers[0], room), _nothing_reached(numbers[1], room))
        yield region
        for side in (region.vertices, region.edges):
            side.number[side.position[: side.counts[REACHED]]] = 0
        self.spare.append(numbers)
        self.work += region.visits


@dataclass(eq=False)
class Region:
    """The nodes reached from the seeds, and the mass there; the seeds have the numbers 0, 1, ...

    Attributes
    ----------
    visits : int
        Visits of incidences so far.
    """

    context: PushContext
    seeds: Integers
    vertices: ReachedSet
    edges: ReachedSet
    visits: int = 0

    def start(self) -> None:
        """Put all mass on the seeds, in proportion to phi."""
        for side in (self.vertices, self.edges):
            for mass in (side.estimate, side.residual):
                mass[: side.counts[REACHED]] = 0.0
        links = self.context.links, self.context.edge_links
        self.context.kernels.start_at(*links, self.vertices, self.edges, self.seeds)

    def push(self, restart: float, accuracy: float) -> None:
        """Push until all residuals are within the accuracy."""
        context, limit = self.context, self.context.max_visits
        while True:
            sides = context.links, context.edge_links, self.vertices, self.edges
            visits = context.kernels.push(*sides, restart, accuracy, limit)
            self.visits += visits
            if not self.vertices.counts[QUEUED] + self.edges.counts[QUEUED]:
                return
            if visits < limit:
                self.vertices, self.edges = _with_twice_the_room(self.vertices, self.edges)

    def scores(self) -> tuple[Integers, Floats]:
        """The numbers of the seeds and of all vertices with an estimate, and p / phi of each."""
        estimate = self.vertices.estimate[: self.vertices.counts[REACHED]]
        support = np.flatnonzero(estimate > 0)
        if estimate[: len(self.seeds)].min() == 0:
            support = np.union1d(np.arange(len(self.seeds)), support)
        return support, estimate[support] / self.vertices.distribution[support]

    def profile(self, order: Integers) -> tuple[Floats, Floats]:
        """Volume and conductance of every prefix of an order of vertex numbers."""
        volumes, insides = np.empty(len(order)), np.empty(len(order))
        sums = np.zeros((2, self.edges.counts[REACHED]))
        self.visits += self.context.kernels.sweep_over(self.vertices, order, *sums, volumes, insides)
        leaving = volumes - insides
        leaving[leaving < ROUNDING * volumes] = 0.0
        return volumes, leaving / np.maximum(np.minimum(volumes, 1.0 - volumes), TINY)

    def descend(self, order: Integers, size: int, fixed: int, caps: tuple[float, int]) -> Integers:
        """Move single vertices while that lowers the conductance; the places of the cluster in the order.

        The cluster starts as the prefix of the given size, of which the first `fixed` stay. `caps` are its
        largest volume and size.
        """
        inside = np.arange(len(order)) < size
        sums = np.zeros((2, self.edges.counts[REACHED]))
        self.visits += self.context.kernels.descend(self.vertices, order, inside, fixed, caps, *sums, PASSES)
        return np.flatnonzero(inside)

    @property
    def touched(self) -> int:
        """The number of incidences visited at least once: those of all copied rows."""
        neighbors = self.vertices.neighbor[: self.vertices.counts[STORED]]
        return int(self.edges.counts[STORED] + np.count_nonzero(self.edges.start[neighbors] == NOT_COPIED))


# The context of a walk is O(m) to build and a query is not, so later queries on the same walk reuse it.
# The keys are weak and walks are immutable: the memo changes no result and keeps no walk alive.
_contexts: "WeakKeyDictionary[RandomWalk, PushContext]" = WeakKeyDictionary()


def push_context(walk: Hypergraph | RandomWalk) -> tuple[RandomWalk, PushContext]:
    """A walk and its context; the walk of a hypergraph is on the vertices in hyperedges."""
    if isinstance(walk, RandomWalk):
        context = _contexts.get(walk)
        if context is None:
            context = _contexts[walk] = PushContext.of(walk, walk.hypergraph.vertex_ids)
        return walk, context
    check_hypergraph(walk)
    covered = walk.covered
    if covered.all():
        whole = RandomWalk(walk)
        return whole, PushContext.of(whole, walk.vertex_ids)
    part = RandomWalk(walk.restrict(covered))
    return part, PushContext.of(part, walk.vertex_ids, np.flatnonzero(covered))


def _nothing_reached(number: Codes, room: int) -> ReachedSet:
    """An empty set with room for this number of entries."""
    reached = min(room, len(number))
    distribution, estimate, residual = np.empty((3, reached))
    position, start, stop, queue = np.empty((4, reached), dtype=np.int64)
    forward, backward = np.empty((2, room))
    return ReachedSet(
        number=number,
        position=position,
        distribution=distribution,
        estimate=estimate,
        residual=residual,
        start=start,
        stop=stop,
        neighbor=np.empty(room, dtype=number.dtype),
        forward=forward,
        backward=backward,
        queue=queue,
        queued=np.empty(reached, dtype=bool),
        counts=np.zeros(3, dtype=np.int64),
    )


def _with_twice_the_room(*sides: ReachedSet) -> Iterator[ReachedSet]:
    for side in sides:
        larger = _nothing_reached(side.number, 2 * len(side.neighbor))
        for name, array in side._asdict().items():
            if name != "number":
                getattr(larger, name)[: len(array)] = array
        yield larger
