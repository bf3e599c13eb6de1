"""The part of a hypergraph that a walk from some seeds reaches: what a query of `local` works on.

A query costs time and memory in proportion to its region. Only the numbers of the reached are kept over all
vertices and hyperedges; they are handed from one query to the next.
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
from hyperclus.clustering.push_kernels import CLOSED, QUEUED, REACHED, STORED, TINY, BipartiteCSR, Side
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import as_integers_or_list
from hyperclus.hypergraph.messages import named, shown
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Codes, Floats, Ids, Integers

OFTEN = 20  # times that an incidence is looked at, about
ROOM = 1 << 18  # entries that a region has room for at first
MOST = 10_000_000  # looks until a loop lets go for a moment, in which it can be interrupted
PASSES = 10  # over the vertices that may move
ROUNDING = 1e-14  # of a volume: a flow below it is 0


@dataclass(eq=False)
class PushContext:
    """What every query on one walk needs, made once. It does not keep the walk alive.

    Attributes
    ----------
    ids : array
        Of all vertices of the hypergraph.
    inside : array or None
        The position in the hypergraph of each vertex of the walk; None where they are the same.
    links, edge_links : Links
        The walk as the loops read it.
    work : int
        Looks that queries have taken, beside those that the first is expected to take.
    spare : list
        Numbers for the vertices and for the hyperedges, all 0, which queries borrow.
    """

    ids: Ids
    inside: Integers | None
    links: BipartiteCSR
    edge_links: BipartiteCSR
    work: int
    spare: list[tuple[Codes, Codes]] = field(default_factory=list)

    @classmethod
    def of(cls, walk: RandomWalk, ids: Ids, inside: Integers | None = None) -> "PushContext":
        """The ground of a walk on the vertices `inside` a hypergraph with these ids."""
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
        return cls(ids, inside, *sides, OFTEN * h.n_incidences)

    @property
    def stationary(self) -> Floats:
        """The stationary law, phi."""
        return self.links.distribution

    @property
    def loops(self) -> Any:
        """Compiled where the hypergraph is not small, or after many queries."""
        return kernels(push_kernels, self.work)

    def places(self, seeds: Any) -> Integers:
        """The positions of seeds in the walk, in order and each once."""
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
            found = np.array([self._place(name) for name in names])
        if found.min() < 0:
            name = shown(wanted[int(np.argmin(found))])
            raise InputError(
                f"seed {name} is not among the {len(self.ids):,} vertices; correct it or leave it out"
            )
        return np.unique(self._within(found))

    @cached_property
    def _sorted(self) -> Integers:
        return np.argsort(self.ids, kind="stable")

    @cached_property
    def _by_id(self) -> dict[Any, int]:
        return {name: place for place, name in enumerate(self.ids.tolist())}

    def _place(self, name: Any) -> int:
        try:
            return self._by_id.get(name, -1)
        except TypeError:  # a list, say, which is no id
            return -1

    def _within(self, found: Integers) -> Integers:
        """Positions in the walk of vertices of the hypergraph."""
        if self.inside is None:
            return found
        within = np.minimum(np.searchsorted(self.inside, found), len(self.inside) - 1)
        alone = self.inside[within] != found
        if alone.any():
            raise InputError(f"seed {named(self.ids, found[alone])} is in no hyperedge; leave it out")
        return within

    def outside(self, places: Integers) -> Integers:
        """Positions in the hypergraph of vertices of the walk."""
        return places if self.inside is None else self.inside[places]

    @contextmanager
    def region(self, seeds: Integers) -> Iterator["Region"]:
        """A region in which only the seeds, and their hyperedges, are reached."""
        try:
            numbers = self.spare.pop()
        except IndexError:  # the first query, or others are at work in other threads
            kind = index_type(max(len(self.links.distribution), len(self.edge_links.distribution)))
            numbers = (
                np.zeros(len(self.links.distribution), kind),
                np.zeros(len(self.edge_links.distribution), kind),
            )
        degrees = self.links.indptr[seeds + 1] - self.links.indptr[seeds]
        room = max(ROOM, len(seeds), int(degrees.sum()))
        region = Region(self, seeds, _side(numbers[0], room), _side(numbers[1], room))
        yield region
        for side in (region.vertices, region.edges):
            side.numbers[side.names[: side.counts[REACHED]]] = 0
        self.spare.append(numbers)
        self.work += region.looks


@dataclass(eq=False)
class Region:
    """What has been reached from seeds, and the mass there; the seeds have the numbers 0, 1, ...

    Attributes
    ----------
    looks : int
        How often an incidence was looked at.
    """

    ground: PushContext
    seeds: Integers
    vertices: Side
    edges: Side
    looks: int = 0

    def start(self) -> None:
        """Let all mass wait at the seeds, in proportion to phi."""
        for side in (self.vertices, self.edges):
            for mass in (side.arrived, side.waiting):
                mass[: side.counts[REACHED]] = 0.0
        ground = self.ground
        ground.loops.start(ground.links, ground.edge_links, self.vertices, self.edges, self.seeds)

    def push(self, restart: float, accuracy: float) -> None:
        """Push until what waits is within the accuracy."""
        ground = self.ground
        while True:
            sides = ground.links, ground.edge_links, self.vertices, self.edges
            looks = ground.loops.push(*sides, restart, accuracy, MOST)
            self.looks += looks
            if not self.vertices.counts[QUEUED] + self.edges.counts[QUEUED]:
                return
            if looks < MOST:
                self.vertices, self.edges = _larger(self.vertices), _larger(self.edges)

    def scores(self) -> tuple[Integers, Floats]:
        """The seeds, and all vertices where mass has arrived, by number; and p / phi of each."""
        arrived = self.vertices.arrived[: self.vertices.counts[REACHED]]
        support = np.flatnonzero(arrived > 0)
        if arrived[: len(self.seeds)].min() == 0:
            support = np.union1d(np.arange(len(self.seeds)), support)
        return support, arrived[support] / self.vertices.distribution[support]

    def profile(self, order: Integers) -> tuple[Floats, Floats]:
        """Volume and conductance of every prefix of an order of numbers of vertices."""
        volumes, insides = np.empty(len(order)), np.empty(len(order))
        sums = np.zeros((2, self.edges.counts[REACHED]))
        self.looks += self.ground.loops.sweep_over(self.vertices, order, *sums, volumes, insides)
        leaving = volumes - insides
        leaving[leaving < ROUNDING * volumes] = 0.0
        return volumes, leaving / np.maximum(np.minimum(volumes, 1.0 - volumes), TINY)

    def settled(self, order: Integers, size: int, fixed: int, max_volume: float, max_size: int) -> Integers:
        """Places in the order of a cluster that begins as a prefix, after moves that lower its conductance.

        The first `fixed` stay.
        """
        inside = np.arange(len(order)) < size
        sums = np.zeros((2, self.edges.counts[REACHED]))
        caps = max_volume, max_size
        self.looks += self.ground.loops.settle(self.vertices, order, inside, fixed, caps, *sums, PASSES)
        return np.flatnonzero(inside)

    @property
    def touched(self) -> int:
        """How many incidences were looked at, once or more: those of all rows that were copied."""
        others = self.vertices.others[: self.vertices.counts[STORED]]
        return int(self.edges.counts[STORED] + np.count_nonzero(self.edges.first[others] == CLOSED))


_grounds: "WeakKeyDictionary[RandomWalk, PushContext]" = WeakKeyDictionary()


def push_context(walk: Hypergraph | RandomWalk) -> tuple[RandomWalk, PushContext]:
    """A walk and its ground, which is kept as long as the walk; a hypergraph's is on its covered vertices."""
    if isinstance(walk, RandomWalk):
        ground = _grounds.get(walk)
        if ground is None:
            ground = _grounds[walk] = PushContext.of(walk, walk.hypergraph.vertex_ids)
        return walk, ground
    check_hypergraph(walk)
    covered = walk.covered
    if covered.all():
        whole = RandomWalk(walk)
        return whole, PushContext.of(whole, walk.vertex_ids)
    part = RandomWalk(walk.restrict(covered))
    return part, PushContext.of(part, walk.vertex_ids, np.flatnonzero(covered))


def _side(numbers: Codes, room: int) -> Side:
    """Nothing reached, with room for so many entries."""
    reached = min(room, len(numbers))
    distribution, arrived, waiting = np.empty((3, reached))
    names, first, last, queue = np.empty((4, reached), dtype=np.int64)
    onward, back = np.empty((2, room))
    others, waits = np.empty(room, dtype=numbers.dtype), np.empty(reached, dtype=bool)
    counts = np.zeros(3, dtype=np.int64)
    return Side(
        numbers,
        names,
        distribution,
        arrived,
        waiting,
        first,
        last,
        others,
        onward,
        back,
        queue,
        waits,
        counts,
    )


def _larger(side: Side) -> Side:
    """The same with twice the room."""
    larger = _side(side.numbers, 2 * len(side.others))
    for name, array in side._asdict().items():
        if name != "numbers":
            getattr(larger, name)[: len(array)] = array
    return larger
