"""Approximate PageRank by push, on the region of a hypergraph that the mass of some seeds reaches.

A query takes time and memory in proportion to its region: its arrays have room for the whole hypergraph, but
the system provides memory only where they are written to. They are reused by the next query.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Number
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hyperclus._runtime.arrays import read_only
from hyperclus.clustering import push_kernels
from hyperclus.clustering.push_kernels import NOT_COPIED, QUEUED, REACHED, STORED, TINY, Side
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import check_incidences
from hyperclus.hypergraph.ids import as_integers_or_list
from hyperclus.hypergraph.messages import named, shown
from hyperclus.io.anything import as_hypergraph
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, HypergraphLike, Ids, Integers

MAX_VISITS = 10_000_000  # by one call of a kernel, which cannot be interrupted
ROUNDING = 1e-14  # a flow below this share of a volume is 0


@dataclass(eq=False)
class PushContext:
    """Data that all queries on one walk share. It does not keep the walk alive."""

    ids: Ids  # of all vertices of the hypergraph
    edge_ids: Ids  # of the hyperedges of the walk
    edge_weights: Floats
    inside: Integers  # the position in the hypergraph of each vertex of the walk
    stationary: Floats
    links: tuple[Any, ...]  # the first fields of `Side`: the walk from vertices to hyperedges
    edge_links: tuple[Any, ...]  # and back
    spare: list[tuple[Side, Side]] = field(default_factory=list)  # empty; borrowed by queries
    max_visits: int = MAX_VISITS

    @classmethod
    def of(cls, walk: RandomWalk, ids: Ids, inside: Integers | None = None) -> "PushContext":
        """Build the context of a walk on the vertices `inside` a hypergraph with these ids, or on all."""
        h, factors = walk.hypergraph, walk.factors
        by_vertex, by_edge, omega = factors.lists.gamma_by_vertex, h.gamma, h.edge_weights
        links: Any = (by_vertex.indptr, by_vertex.indices, factors.lists.source_weights_by_vertex.data)
        links += (1.0 / factors.degrees, by_vertex.data, walk.stationary)
        edge_links: Any = (by_edge.indptr, by_edge.indices, by_edge.data)
        scale, distribution = omega / factors.edge_degrees, walk.edge_stationary / omega
        edge_links += (scale, factors.lists.source_weights.data, distribution)
        sides = tuple(map(read_only, links)), tuple(map(read_only, edge_links))
        inside = np.arange(len(ids)) if inside is None else inside
        return cls(ids, h.edge_ids, omega, inside, walk.stationary, *sides)

    def seed_positions(self, seeds: Any) -> Integers:
        """The positions of seeds in the walk, ascending and without repetition."""
        if isinstance(seeds, str | bytes | Number | np.generic):
            seeds = [seeds]
        names = as_integers_or_list(list(seeds) if isinstance(seeds, set | frozenset) else seeds, "seeds")
        if not len(names):
            raise InputError("no seeds are given; name at least one vertex")
        if self.ids.dtype != object and isinstance(names, np.ndarray):
            names = names.astype(np.int64, copy=False)
            found = self._order[np.searchsorted(self.ids, names, sorter=self._order) % len(self.ids)]
            found[self.ids[found] != names] = -1
        else:
            found = np.array([self._position(name) for name in names])
        if found.min() < 0:
            where = f"is not among the {len(self.ids):,} vertices; correct it or leave it out"
            raise InputError(f"seed {shown(names[int(np.argmin(found))])} {where}")
        within = np.minimum(np.searchsorted(self.inside, found), len(self.inside) - 1)
        isolated = self.inside[within] != found
        if isolated.any():
            raise InputError(f"seed {named(self.ids, found[isolated])} is in no hyperedge; leave it out")
        return np.unique(within)

    def _position(self, name: Any) -> int:
        try:
            return self._positions.get(name, -1)
        except TypeError:  # an unhashable value, such as a list
            return -1

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {name: position for position, name in enumerate(self.ids.tolist())}

    @cached_property
    def _order(self) -> Integers:
        return np.argsort(self.ids)  # a tenth of the memory of a dictionary, for ids that are integers

    @contextmanager
    def region(self, seeds: Integers) -> Iterator["Region"]:
        """A region in which only the seeds and their hyperedges are reached."""
        try:
            sides = self.spare.pop()
        except IndexError:  # the first query, or others are running in other threads
            sides = _nothing_reached(self.links), _nothing_reached(self.edge_links)
        push_kernels.reach_seeds(*sides, seeds, len(seeds))
        region = Region(self, seeds, *sides)
        yield region
        for side in sides:
            side.number[side.position[: side.counts[REACHED]]] = 0
            side.counts[:] = 0
        self.spare.append(sides)


@dataclass(eq=False)
class Region:
    """The nodes reached from the seeds, and the mass there; the seeds have the numbers 0, 1, ..."""

    context: PushContext
    seeds: Integers
    vertices: Side
    edges: Side
    visits: int = 0  # of incidences so far

    def start(self, nodes: Integers) -> None:
        """Put the mass 1 on some vertices, by their numbers, in proportion to phi."""
        for side in (self.vertices, self.edges):
            for mass in (side.estimate, side.residual):
                mass[: side.counts[REACHED]] = 0.0
        shares = self.vertices.distribution[nodes]
        self.vertices.residual[nodes] = shares / np.cumsum(shares)[-1]

    def push(self, restart: float, accuracy: float) -> None:
        """Push until all residuals are within the accuracy."""
        sides, settings = (self.vertices, self.edges), (restart, accuracy, self.context.max_visits)
        for side in sides:  # some residuals were within an earlier accuracy only
            reached = side.counts[REACHED]
            late = np.flatnonzero(side.residual[:reached] > accuracy * side.distribution[:reached])
            side.queue[: len(late)], side.queued[late], side.counts[QUEUED] = late, True, len(late)
        while any(side.counts[QUEUED] for side in sides):
            self.visits += push_kernels.push(*sides, *settings)

    def scores(self) -> tuple[Integers, Floats]:
        """The numbers of the seeds and of all vertices with an estimate, and p / phi of each."""
        estimate = self.vertices.estimate[: self.vertices.counts[REACHED]]
        chosen = estimate > 0
        chosen[: len(self.seeds)] = True
        support = np.flatnonzero(chosen)
        return support, estimate[support] / self.vertices.distribution[support]

    def profile(self, order: Integers) -> tuple[Floats, Floats]:
        """Volume and conductance of every prefix of an order of vertex numbers."""
        _, volumes, insides = self._swept(order)
        leaving = volumes - insides
        leaving[leaving < ROUNDING * volumes] = 0.0
        return volumes, leaving / np.maximum(np.minimum(volumes, 1.0 - volumes), TINY)

    def _swept(self, order: Integers) -> tuple[Floats, Floats, Floats]:
        """The sums over the hyperedges after the last prefix; volume and internal flow of every prefix."""
        volumes, insides = np.empty((2, len(order)))
        sums = np.zeros((2, self.edges.counts[REACHED]))
        push_kernels.sweep_over(self.vertices, order, len(order), *sums, volumes, insides)
        self.visits += self._entries(order)
        return sums, volumes, insides

    def _entries(self, order: Integers) -> int:
        return int((self.vertices.stop[order] - self.vertices.start[order]).sum())

    def descend(self, order: Integers, size: int, fixed: int, caps: tuple[float, int]) -> Integers:
        """Move single vertices from or to a prefix; see the kernel. Returns places in the order."""
        sums, volumes, insides = self._swept(order[:size])
        inside, totals = np.arange(len(order)) < size, (volumes[-1], insides[-1])
        limits = (size, fixed, *caps)
        passes = push_kernels.descend_set(self.vertices, order, len(order), inside, *limits, *sums, *totals)
        self.visits += passes * self._entries(order)
        return np.flatnonzero(inside)

    @property
    def largest_mass(self) -> float:
        """The largest phi of a vertex reached."""
        return float(self.vertices.distribution[: self.vertices.counts[REACHED]].max())

    def holding(self, members: Integers, order: Integers) -> tuple[Floats, Integers, Floats, Floats]:
        """What holds a set together, in steps of a walker with the stationary distribution.

        The share of the steps from each vertex of an order that end in the set; the hyperedges of the
        members, by position in the walk; the share of the steps through each that end in the set; and the
        share of all steps that start there and go through it.
        """
        (sent, got), _, _ = self._swept(members)
        lengths = self.vertices.stop[order] - self.vertices.start[order]
        ends = np.cumsum(lengths)
        entries = np.arange(ends[-1]) + np.repeat(self.vertices.start[order] - ends + lengths, lengths)
        steps = self.vertices.forward[entries] * got[self.vertices.neighbor[entries]]
        staying: Floats = np.add.reduceat(steps, ends - lengths)  # every vertex is in a hyperedge
        edges = np.flatnonzero(sent)
        positions = self.edges.position[edges]
        omega = self.context.edge_weights[positions]
        return staying, positions, got[edges] / omega, sent[edges] * omega

    @property
    def touched(self) -> int:
        """The number of incidences visited at least once: those of all copied rows."""
        neighbors = self.vertices.neighbor[: self.vertices.counts[STORED]]
        return int(self.edges.counts[STORED] + np.count_nonzero(self.edges.start[neighbors] == NOT_COPIED))


# The context of a walk is O(m) to build and a query is not, so later queries on the same walk reuse it.
# The keys are weak and walks are immutable: the memo changes no result and keeps no walk alive.
_contexts: "WeakKeyDictionary[RandomWalk, PushContext]" = WeakKeyDictionary()


def push_context(walk: HypergraphLike | RandomWalk) -> tuple[RandomWalk, PushContext]:
    """A walk and its context; the walk of a hypergraph is on the vertices in hyperedges."""
    if isinstance(walk, RandomWalk):
        context = _contexts.get(walk)
        if context is None:
            context = _contexts[walk] = PushContext.of(walk, walk.hypergraph.vertex_ids)
        return walk, context
    hypergraph = as_hypergraph(walk)
    check_incidences(hypergraph)
    covered = hypergraph.covered
    inner = RandomWalk(hypergraph if covered.all() else hypergraph.restrict(covered))
    return inner, PushContext.of(inner, hypergraph.vertex_ids, np.flatnonzero(covered))


def _nothing_reached(links: tuple[Any, ...]) -> Side:
    """A side with room for all its nodes and entries."""
    size, entries, kind = len(links[-1]), len(links[1]), links[1].dtype
    position, start, stop, queue = np.empty((4, size), dtype=np.int64)
    number, masses, queued = np.zeros(size, dtype=kind), np.empty((3, size)), np.empty(size, dtype=bool)
    neighbor, weights, counts = np.empty(entries, dtype=kind), np.empty((2, entries)), np.zeros(3, dtype=int)
    fields: Any = (number, position, *masses, start, stop, queue, queued, neighbor, *weights, counts)
    return Side(*links, *fields)
