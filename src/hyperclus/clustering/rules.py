"""Constraints on the vertices of one walk: groups that move together, and where they may be."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.clustering.constraints import Constraints
from hyperclus.clustering.vertex_kernels import Flow
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.ids import positions
from hyperclus.hypergraph.messages import first_few, shown
from hyperclus.typing import Booleans, Floats, Ids, Integers

TOLERANCE = 1e-9  # of volumes


@dataclass(frozen=True, eq=False)
class Rules:
    """Constraints by position: of groups of vertices, in clusters 0 .. k - 1.

    Attributes
    ----------
    ids : array of shape (n,)
        The ids of the vertices, for messages.
    k : int
    clusters : list
        The labels of the clusters that were named; they have the first numbers.
    numbered : bool
        Whether initial labels have these numbers already.
    groups : array of shape (n,)
        The group of each vertex: linked vertices, and those fixed to the same cluster, share one.
    pinned : array of shape (n_groups,)
        The cluster of each group that is fixed; -1 for the others.
    apart : array of shape (n_pairs, 2)
        Groups that must be in different clusters.
    known : array of shape (n,)
        The cluster of fixed vertices and of seeds; -1 for the others.
    masses : array of shape (n_groups,)
        The volume of each group.
    min_volume, max_volume : float
        Limits of the volume of each cluster.
    example : array of shape (n_groups,)
        Labels that keep all of this.
    """

    ids: Ids
    k: int
    clusters: list[Hashable]
    numbered: bool
    groups: Integers
    pinned: Integers
    apart: Integers
    known: Integers
    masses: Floats
    min_volume: float = 0.0
    max_volume: float = np.inf
    example: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return len(self.pinned)

    @property
    def limited(self) -> bool:
        """Whether volumes are limited."""
        return self.min_volume > 0 or self.max_volume < 1

    @cached_property
    def partners(self) -> dict[int, list[int]]:
        """For each group that must be apart from others, these."""
        found: dict[int, list[int]] = {}
        for one, other in self.apart.tolist():
            found.setdefault(one, []).append(other)
            found.setdefault(other, []).append(one)
        return found

    @cached_property
    def still(self) -> Booleans:
        """Mark the groups that moves of any one vertex leave where they are."""
        still = self.pinned >= 0
        still[self.apart.ravel()] = True
        return still

    @property
    def key(self) -> tuple[Any, ...]:
        """Everything that the labels depend on."""
        return self.groups, self.pinned, self.apart, self.known, self.min_volume, self.max_volume

    def volumes(self, labels: Integers) -> Floats:
        """The volume of each cluster of labels of the groups."""
        return np.asarray(np.bincount(labels, weights=self.masses, minlength=self.k), dtype=np.float64)

    def room(self, volumes: Floats) -> bool:
        """Whether volumes are within their limits."""
        low, high = self.min_volume * (1 - TOLERANCE), self.max_volume * (1 + TOLERANCE)
        return bool(volumes.min() >= low and volumes.max() <= high)

    def kept(self, labels: Integers) -> bool:
        """Whether labels of the groups keep all constraints, and leave no cluster empty."""
        fixed = self.pinned >= 0
        apart = labels[self.apart[:, 0]] != labels[self.apart[:, 1]]
        filled = np.bincount(labels, minlength=self.k).all()
        pinned = np.array_equal(labels[fixed], self.pinned[fixed])
        return bool(pinned and apart.all() and filled and self.room(self.volumes(labels)))

    def chain(self, labels: Integers, group: int, target: int) -> Integers | None:
        """The groups that change places if one moves to a target: those there that must be apart, and so on.

        A Kempe chain of the graph of cannot-links. None if one of them is fixed.
        """
        home, found, left = labels[group], {group}, [group]
        while left:
            for other in self.partners.get(left.pop(), ()):
                if other not in found and labels[other] in (home, target):
                    found.add(other)
                    left.append(other)
        chain = np.array(sorted(found), dtype=np.int64)
        return None if (self.pinned[chain] >= 0).any() else chain

    def of_groups(self, labels: Integers) -> Integers:
        """The label of most of the volume of each group, with the fixed ones, given those of the vertices.

        Unless the labels have the numbers of the clusters, they get those that fit the known vertices best.
        """
        masses = self.masses[self.groups] / np.bincount(self.groups)[self.groups]
        if not self.numbered:
            from scipy.optimize import linear_sum_assignment

            inside, overlaps = self.known >= 0, np.zeros((self.k, self.k))
            np.add.at(overlaps, (labels[inside], self.known[inside]), masses[inside])
            labels = linear_sum_assignment(-overlaps)[1][labels]
        votes = sp.coo_array((masses, (self.groups, labels)), shape=(self.n_groups, self.k)).tocsr()
        return np.where(self.pinned >= 0, self.pinned, np.asarray(votes.argmax(axis=1)).ravel())

    def contracted(self, flow: Flow) -> Flow:
        """The flow of the groups as vertices: every partition of them has the same flows as before."""
        n_edges, index = len(flow.scale), flow.edges.dtype
        vertices = np.repeat(np.arange(len(self.groups)), np.diff(flow.indptr))
        pairs, found = np.unique(self.groups[vertices] * n_edges + flow.edges, return_inverse=True)
        gamma: Floats = np.bincount(found, weights=flow.gamma).astype(np.float64)
        picked: Floats = np.bincount(found, weights=flow.rate[vertices] * flow.source_weights).astype(
            np.float64
        )
        owners, edges = np.divmod(pairs, n_edges)
        by_edge = np.argsort(edges, kind="stable")
        return replace(
            flow,
            indptr=np.searchsorted(owners, np.arange(self.n_groups + 1)).astype(flow.indptr.dtype),
            edges=edges.astype(index),
            gamma=gamma,
            source_weights=picked,
            edge_indptr=np.searchsorted(edges[by_edge], np.arange(n_edges + 1)).astype(
                flow.edge_indptr.dtype
            ),
            members=owners[by_edge].astype(index),
            edge_gamma=gamma[by_edge],
            edge_source_weights=picked[by_edge],
            stationary=self.masses,
            rate=np.ones(self.n_groups),
            n_vertices=self.n_groups,
        )

    def join(self, vertices: Booleans) -> "Rules":
        """The same rules, without volumes, with these unconstrained vertices in one group."""
        merged = np.where(vertices, self.n_groups, self.groups)
        found, groups = np.unique(merged, return_inverse=True)
        number = np.full(self.n_groups + 1, -1)
        number[found] = np.arange(len(found))
        return replace(
            self, groups=groups, pinned=np.append(self.pinned, -1)[found], apart=number[self.apart]
        )

    @property
    def involved(self) -> Booleans:
        """Mark the vertices that are known, or linked to others."""
        constrained = self.still | (np.bincount(self.groups) > 1)
        return np.asarray(constrained[self.groups] | (self.known >= 0))

    def names_of(self, groups: Sequence[int]) -> str:
        """A vertex of each of some groups, for messages."""
        first = np.unique(self.groups, return_index=True)[1]
        return first_few([self.ids[first[group]] for group in groups])


def rules_of(
    constraints: Constraints,
    vertex_ids: Ids,
    active: Booleans,
    k: int,
    given: Sequence[Hashable] | None = None,
) -> Rules:
    """Check constraints on the active vertices, before their volumes are known.

    `given` are the labels of clusters that exist already; otherwise those of the constraints are numbered in
    order of appearance.
    """
    place = _Places(vertex_ids, active)
    clusters = list(dict.fromkeys([*constraints.fixed.values(), *constraints.seeds]))
    if given is not None:
        unknown = [cluster for cluster in clusters if cluster not in given]
        if unknown:
            raise InputError(f"there is no cluster {shown(unknown[0])} among those given, {first_few(given)}")
        clusters = list(given)
    if len(clusters) > k:
        named = f"fixed and seeds name {len(clusters)} clusters, {first_few(clusters)}"
        raise InputError(f"{named}; use at least ", Argument("k", len(clusters)))
    number = {cluster: index for index, cluster in enumerate(clusters)}
    fixed = np.full(int(np.count_nonzero(active)), -1, dtype=np.int64)
    fixed[place("fixed", constraints.fixed)] = [number[cluster] for cluster in constraints.fixed.values()]
    known = fixed.copy()
    for cluster, seeds in constraints.seeds.items():
        vertices = place("seeds", seeds)
        other = (known[vertices] >= 0) & (known[vertices] != number[cluster])
        if other.any():
            vertex = vertices[np.argmax(other)]
            both = f"{shown(cluster)} and {shown(clusters[known[vertex]])}"
            raise InputError(f"vertex {place.name(vertex)} is given for two clusters, {both}; keep one")
        known[vertices] = number[cluster]
    groups, pinned = _grouped(constraints, fixed, clusters, place)
    apart = _apart(constraints, groups, pinned, clusters, place)
    ids, numbered = place.ids, given is not None
    return Rules(ids, k, clusters, numbered, groups, pinned, apart, known, np.zeros(len(pinned)))


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Positions among the active vertices, and their ids for messages."""

    vertex_ids: Ids
    active: Booleans

    def __call__(self, name: str, vertices: Any) -> Integers:
        found = positions(list(vertices), self.vertex_ids, "vertex")
        absent = ~self.active[found]
        if absent.any():
            vertex = shown(self.vertex_ids[found[np.argmax(absent)]])
            raise InputError(
                f"vertex {vertex} in {name} is in no hyperedge, so it is in no cluster; leave it out"
            )
        return np.asarray((np.cumsum(self.active) - 1)[found])

    @property
    def ids(self) -> Ids:
        """The ids of the active vertices."""
        return self.vertex_ids[self.active]

    def name(self, vertex: int) -> str:
        """The id of an active vertex."""
        return shown(self.ids[vertex])

    def pair(self, one: int, other: int) -> str:
        """Two ids."""
        return f"{self.name(one)} and {self.name(other)}"


def _grouped(
    constraints: Constraints, fixed: Integers, clusters: list[Hashable], place: _Places
) -> tuple[Integers, Integers]:
    """The group of each vertex, and the cluster of each group or -1."""
    from scipy.sparse.csgraph import connected_components

    n = len(fixed)
    links = [pair for group in constraints.must_link for pair in pairwise(place("must_link", group))]
    ends = np.array(links, dtype=np.int64).reshape(-1, 2).T
    graph = sp.coo_array((np.ones(len(links)), (ends[0], ends[1])), shape=(n, n))
    number, linked = connected_components(graph, directed=False)
    vertices = np.flatnonzero(fixed >= 0)
    first = np.full(number, -1, dtype=np.int64)  # fixed vertex of each group
    first[linked[vertices[::-1]]] = vertices[::-1]
    wrong = vertices[fixed[vertices] != fixed[first[linked[vertices]]]]
    if len(wrong):
        one, other = first[linked[wrong[0]]], wrong[0]
        both = f"{shown(clusters[fixed[one]])} and {shown(clusters[fixed[other]])}"
        problem = f"vertices {place.pair(one, other)} are fixed to clusters {both}, but must_link joins them"
        raise InputError(f"{problem}; drop a link or free one of them")
    cluster = np.where(first >= 0, fixed[first], -1)
    k = len(clusters)
    found, groups = np.unique(
        np.where(cluster >= 0, cluster, k + np.arange(number))[linked], return_inverse=True
    )
    return groups, np.where(found < k, found, -1)


def _apart(
    constraints: Constraints, groups: Integers, pinned: Integers, clusters: list[Hashable], place: _Places
) -> Integers:
    """Pairs of groups that must be in different clusters."""
    found = set()
    for members in constraints.cannot_link:
        for one, other in combinations(place("cannot_link", members).tolist(), 2):
            pair = tuple(sorted((int(groups[one]), int(groups[other]))))
            found.add(pair)
            if pair[0] == pair[1]:
                cluster = pinned[pair[0]]
                how = (
                    "must_link joins them"
                    if cluster < 0
                    else f"fixed puts both in cluster {shown(clusters[cluster])}"
                )
                same = f"vertex {place.name(one)} cannot be apart from itself"
                problem = f"vertices {place.pair(one, other)} are in cannot_link, but {how}"
                raise InputError(same if one == other else problem, "; drop one of these constraints")
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
