"""Who is in a group and why: typical, uncertain and unusual members, hyperedges, columns, attributes.

A group that exists in several levels is described once, by its node in the tree. Its figures that depend on
the other groups, such as how sure its members are, come from the level nearest to the given partition.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hyperclus.clustering.attribute_profile import top_attributes
from hyperclus.clustering.description import TopAttributes, first, members_of
from hyperclus.clustering.membership import REASONS, Confidence
from hyperclus.clustering.profile import Profile
from hyperclus.report.html.levels import Group, Level, Levels
from hyperclus.typing import Integers

LISTED = 6  # uncertain and unusual members of a group
LARGEST = 40  # groups of a level that are described
DESCRIBED = 72  # groups that are described, of all levels together
LISTED_COLUMNS = 12
LISTED_ATTRIBUTES = 8
LISTED_VALUES = 2  # of a column
CERTAIN = 0.9  # members with at least this confidence are not listed as uncertain

TYPICAL = 0.5  # confidence of a typical vertex, at least
DISTINCT, APART = 1.5, 0.05  # lift, or excess of coverage, of hyperedges that are listed

SURENESS = (  # the lowest confidence of each phrase
    (0.95, "very sure"),
    (0.8, "sure"),
    (0.6, "fairly sure"),
    (0.4, "unsure"),
    (0.0, "very unsure"),
)

_PLAIN = {
    "in no hyperedge": "It has no {edges}, so it is in no group.",
    "few shared hyperedges": "It shares almost no {edges} with others, so little is known about it.",
    "tiny cluster": "Its group is so small that it is more an exception than a group.",
    "fits no cluster": "Its {edges} fit this group no better than a random choice would.",
}


@dataclass(frozen=True, slots=True)
class Uncertain:
    """A member that is not clearly in its group, and the group that is the next best for it."""

    vertex: Any
    position: int  # in the vertex ids
    confidence: float
    next: Group | None


@dataclass(frozen=True, slots=True)
class Unusual:
    """A member that is an outlier, and the reason in plain words."""

    vertex: Any
    position: int
    reason: str


@dataclass(frozen=True, slots=True)
class Distinctive:
    """A hyperedge that is distinctive for a group; coverages are shares of the vertices."""

    edge: Any
    position: int  # in the hypergraph of the walk
    coverage: float  # of the group
    coverage_rest: float | None  # of all others, None if there are none
    share: float
    lift: float


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table in a group and in the others: the most frequent values, or the mean of bins."""

    name: Any
    importance: float
    mean: float | None
    mean_rest: float | None
    median: Any
    values: tuple[tuple[Any, float, float | None], ...]  # value, share of the group, share of the others


@dataclass(frozen=True, slots=True)
class Members:
    """The description of one group; `k` is the number of groups among which its members were compared."""

    k: int
    typical: tuple[tuple[Any, int], ...]  # vertex, position
    uncertain: tuple[Uncertain, ...]
    least: float | None  # the lowest confidence
    unusual: tuple[Unusual, ...]
    n_unusual: int
    edges: tuple[Distinctive, ...]
    columns: tuple[Column, ...]
    n_columns: int
    attributes: tuple[tuple[Any, float, float, float], ...] = ()  # attribute, mean, mean of all, score


class Descriptions:
    """The groups of all levels that are described, each once."""

    def __init__(self, levels: Levels, words: str = "hyperedges") -> None:
        self.levels, self.main, self.words = levels, levels.levels[levels.main], words
        self._found: dict[int, Members] = {}
        self._sources = self._assigned()

    def _assigned(self) -> dict[int, tuple[Level, Group]]:
        """The level that describes each node: the one nearest to the given partition.

        If there are too many groups, those of the given partition and of levels with few groups are chosen.
        """
        order = [self.main, *(level for level in self.levels.levels if level is not self.main)]
        nodes = dict.fromkeys(group.node for level in order for group in level.groups[:LARGEST])
        chosen = list(nodes)[:DESCRIBED]
        found: dict[int, tuple[Level, Group]] = {}
        for level in sorted(order, key=lambda level: -abs(level.k - self.main.k)):
            found |= {group.node: (level, group) for group in level.groups}
        return {node: found[node] for node in chosen}

    def get(self, group: Group) -> Members | None:
        """Describe a group; None if there are too many groups."""
        if group.node not in self._sources:
            return None
        if group.node not in self._found:
            level, same = self._sources[group.node]
            self._found[group.node] = self._source(level).members(same)
        return self._found[group.node]

    def is_in_place(self, level: Level, group: Group) -> bool:
        """Whether the group is described in its place in this level, not in a template beside it."""
        return level is self.main and group.node in self._sources

    @property
    def elsewhere(self) -> Iterator[tuple[Level, Group]]:
        """The groups that are described but are not in the given partition, each with its level."""
        here = {group.node for group in self.main.groups}
        return (found for node, found in self._sources.items() if node not in here)

    @cached_property
    def listed(self) -> tuple[Integers, Integers]:
        """Positions of all vertices and of all hyperedges that are listed, ascending."""
        every = [found for _, group in self._sources.values() if (found := self.get(group)) is not None]
        vertices = [position for found in every for position in _positions(found)]
        edges = [edge.position for found in every for edge in found.edges]
        return tuple(np.unique(np.array(some, dtype=np.int64)) for some in (vertices, edges))  # type: ignore[return-value]

    def _source(self, level: Level) -> "_Source":
        if level.k not in self._by_level:
            self._by_level[level.k] = _Source(level, level is self.main, self.words)
        return self._by_level[level.k]

    @cached_property
    def _by_level(self) -> dict[int, "_Source"]:
        return {}


def sureness(confidence: float) -> str:
    """Say a confidence in words.

    >>> sureness(0.97), sureness(0.5)
    ('very sure', 'unsure')
    """
    return next(words for least, words in SURENESS if confidence >= least)


def plain_reason(reason: str, edges: str) -> str:
    """Say in plain words why a vertex is an outlier; `edges` are hyperedges in the words of the data."""
    return _PLAIN.get(reason, reason).format(edges=edges)


def reasons(edges: str) -> list[str]:
    """All reasons in plain words, in the order of `REASONS`; the first is for no outlier."""
    return ["" if reason is None else plain_reason(reason, edges) for reason in REASONS]


def rest_coverage(coverage: float, coverage_all: float, size: int, n: int) -> float | None:
    """The share of the vertices outside a cluster that are members of a hyperedge; None if there are none.

    >>> rest_coverage(0.5, 0.5, 4, 10)
    0.5
    >>> rest_coverage(1.0, 0.4, 10, 10) is None
    True
    """
    return None if n <= size else min(max((coverage_all * n - coverage * size) / (n - size), 0.0), 1.0)


class _Source:
    """The figures of one level; certainty and profile only if they are quick, or it is the partition."""

    def __init__(self, level: Level, is_main: bool, words: str) -> None:
        self.level, self.part, self.is_main, self.words = level, level.part, is_main, words
        self.n = int(self.part.sizes.sum())

    def members(self, group: Group) -> Members:
        """Describe one group."""
        top, edges = self.level.views.top_vertices[group.label], self._edges(group)
        pairs = zip(top.ids.tolist(), top.positions.tolist(), strict=True)
        typical = tuple(pair for pair in pairs if self._is_sure(pair[1]))
        uncertain, least = self._uncertain(group)
        unusual, n_unusual = self._unusual(group)
        columns, n_columns = self._columns(group)
        people = typical, uncertain, least, unusual, n_unusual
        return Members(self.level.k, *people, edges, columns, n_columns, self._attributes(group))

    @cached_property
    def _confidence(self) -> Confidence | None:
        return self.level.confidence

    def _is_sure(self, position: int) -> bool:
        """Whether a vertex may be called typical."""
        return self._confidence is None or bool(self._confidence.values[position] >= TYPICAL)

    @cached_property
    def _members(self) -> list[Integers]:
        """The positions of the members of each group."""
        inside = np.flatnonzero(self.part.labels >= 0)
        return [inside[some] for some in members_of(self.part.walk_labels, self.part.k)]

    def _uncertain(self, group: Group) -> tuple[tuple[Uncertain, ...], float | None]:
        if self._confidence is None or self.part.k == 1:
            return (), None
        members = self._members[group.label]
        values, others = self._confidence.values[members], self._confidence.next_clusters[members]
        lowest = first(values, values, LISTED)
        ids, groups = self.part.vertex_ids, (*self.level.groups, None)  # -1 is no group
        found = [
            Uncertain(ids[members[i]], int(members[i]), float(values[i]), groups[others[i]])
            for i in lowest.tolist()
            if values[i] < CERTAIN
        ]
        return tuple(found), float(values[lowest[0]])

    def _unusual(self, group: Group) -> tuple[tuple[Unusual, ...], int]:
        if self._confidence is None:
            return (), 0
        members, sure = self._members[group.label], self._confidence
        flagged = np.array([reason is not None for reason in sure.outliers[members].tolist()], dtype=bool)
        outliers = members[flagged]
        best = outliers[np.argsort(sure.fits[outliers], kind="stable")[:LISTED]].tolist()
        ids = self.part.vertex_ids
        found = [Unusual(ids[i], i, plain_reason(sure.outliers[i], self.words)) for i in best]
        return tuple(found), len(outliers)

    def _edges(self, group: Group) -> tuple[Distinctive, ...]:
        top = self.level.views.top_hyperedges[group.label]
        rest = [
            rest_coverage(*each, group.size, self.n)
            for each in zip(top.coverage.tolist(), top.coverage_all.tolist(), strict=True)
        ]
        figures = top.coverage.tolist(), rest, top.share.tolist(), top.lift.tolist()
        rows = zip(top.ids.tolist(), top.positions.tolist(), *figures, strict=True)
        found = (Distinctive(*row) for row in rows)
        return tuple(
            each
            for each in found
            if each.lift >= DISTINCT or each.coverage - (each.coverage_rest or 0.0) >= APART
        )

    @cached_property
    def _top_attributes(self) -> tuple[TopAttributes, ...]:
        part = self.part
        if part.attributes is None:
            return ()
        return top_attributes(part.attributes, part.labels, part.cluster_names, LISTED_ATTRIBUTES)

    def _attributes(self, group: Group) -> tuple[tuple[Any, float, float, float], ...]:
        if not self._top_attributes:
            return ()
        top = self._top_attributes[group.label]
        figures = (some.tolist() for some in (top.mean, top.mean_all, top.score))
        return tuple(zip(top.ids.tolist(), *figures, strict=True))

    @cached_property
    def _profile(self) -> Profile | None:
        quick = self.is_main or self._confidence is not None
        return self.part.profile() if quick and self.level.views.table_columns else None

    def _columns(self, group: Group) -> tuple[tuple[Column, ...], int]:
        if self._profile is None:
            return (), 0
        found = []
        for each in self._profile.columns[:LISTED_COLUMNS]:
            coverage = each.coverage[group.label]
            best = [
                i for i in np.argsort(-coverage, kind="stable")[:LISTED_VALUES].tolist() if coverage[i] > 0
            ]
            values = tuple(
                (
                    each.values[i],
                    float(coverage[i]),
                    rest_coverage(float(coverage[i]), float(each.coverage_all[i]), group.size, self.n),
                )
                for i in best
            )
            binned = (self.part.walk.hypergraph.columns or {}).get(each.column) is not None
            means = (each.means, each.means_rest) if binned else (None, None)
            mean, rest = (_at(some, group.label) for some in means)
            median = each.medians[group.label] if binned and each.medians is not None else None
            found.append(Column(each.column, each.importance, mean, rest, median, values))
        return tuple(found), len(self._profile.columns)


def _at(values: Sequence[float] | Any, label: int) -> float | None:
    """A finite value of an array, or None."""
    return float(values[label]) if values is not None and np.isfinite(values[label]) else None


def _positions(found: Members) -> Iterator[int]:
    yield from (position for _, position in found.typical)
    yield from (each.position for each in found.uncertain)
    yield from (each.position for each in found.unusual)
