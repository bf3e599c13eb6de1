"""The levels of a page: a partition, coarser ones that merge its clusters, and finer ones that split them.

A cluster keeps its number, and so its colour, in every level in which it exists. The larger part of a cluster
that is split keeps it as well, and a merger has the number of its largest part.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np

from hyperclus.clustering.cluster import cluster
from hyperclus.clustering.membership import Confidence, confidence
from hyperclus.clustering.nested import groups_of, nested_levels
from hyperclus.clustering.objectives import objective_of
from hyperclus.clustering.overlaps import overlap
from hyperclus.clustering.partition import Partition
from hyperclus.clustering.regroup import regrouped
from hyperclus.clustering.tree import Tree, tree_of
from hyperclus.errors import InputError, check_integer
from hyperclus.report.format import short_id
from hyperclus.report.views import IncidenceGrid, Views
from hyperclus.typing import Floats, Integers

MANY = 12  # clusters of the finest level that is searched for, if the partition has fewer
MOST = 100  # clusters of the finest level that can be asked for
FINER_UP_TO = 5_000_000  # incidences; with more, clusters are merged but not split
COARSER_UP_TO = 20_000_000  # incidences; with more, they are not merged either, unless levels are asked for
CERTAIN_UP_TO = 20_000_000  # incidences times clusters; with more, only the partition has confidences
GROUP_NAME_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Group:
    """One cluster of one level, in the words of the page."""

    id: int  # its number, and that of its colour, in all levels in which it exists
    label: int  # its number in the partition of the level
    node: int  # in the tree
    name: str
    size: int
    share: float  # of the vertices that are in a cluster
    volume: float
    conductance: float
    certainty: float | None  # mean confidence of its vertices


@dataclass(frozen=True, eq=False)
class Level:
    """One number of clusters; `of_leaf` has the id of the cluster that contains each leaf."""

    part: Partition
    nodes: Integers  # of the tree, by label
    ids: Integers  # by label
    names: tuple[str, ...]  # by label
    of_leaf: Integers
    overlaps: Callable[[], Floats] | None  # of the hypergraph; None if the data are too large

    @property
    def k(self) -> int:
        """The number of clusters."""
        return self.part.k

    @cached_property
    def views(self) -> Views:
        """What is shown of the partition."""
        return Views(self.part)

    @cached_property
    def confidence(self) -> Confidence | None:
        """How sure each label is; None if the data are too large."""
        if self.overlaps is None:
            return None
        part = self.part
        what = objective_of(part.objective)
        found = confidence(part.walk, part.labels, part.k, what, overlaps=self.overlaps())
        unused = np.broadcast_to(np.nan, len(part.labels))  # margins are not on the page
        return replace(found, margins=unused)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The clusters, by label: the largest first."""
        part, sizes, labels = self.part, self.part.sizes, self.part.walk_labels
        certainty: list[float] | None = None
        if self.confidence is not None:
            values = self.confidence.values[part.labels >= 0]
            certainty = (np.bincount(labels, values, minlength=part.k) / sizes).tolist()
        return tuple(
            Group(
                int(self.ids[label]),
                label,
                int(self.nodes[label]),
                self.names[label],
                int(sizes[label]),
                float(sizes[label] / sizes.sum()),
                float(part.cut.volumes[label]),
                float(part.cut.conductances[label]),
                None if certainty is None else certainty[label],
            )
            for label in range(part.k)
        )


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of a page, from few clusters to many; `main` is the position of the given partition."""

    tree: Tree
    levels: tuple[Level, ...]
    main: int

    @property
    def finest(self) -> Level:
        """The level with most clusters, whose clusters are the leaves of the tree."""
        return self.levels[-1]

    @cached_property
    def figures(self) -> Floats:
        """The objective with 1, 2, ... clusters."""
        return self.tree.figures

    @cached_property
    def leaf_order(self) -> Integers:
        """The position of each leaf when clusters of every level are adjacent."""
        tree, order = self.tree, []
        waiting = [2 * tree.k - 2]
        while waiting:
            node = waiting.pop()
            if node < tree.k:
                order.append(node)
            else:
                waiting.extend(tree.mergers[node - tree.k][::-1].tolist())
        return np.argsort(order)

    @cached_property
    def grid(self) -> IncidenceGrid:
        """The incidence matrix, in an order in which the groups of all levels are adjacent."""
        main, finest, order = self.levels[self.main], self.finest, self.leaf_order
        place = np.zeros(main.k + 1, dtype=np.int32)  # of the groups of the main level; -1 is the last
        place[main.part.walk_labels] = order[finest.part.walk_labels]
        order, place[-1] = np.append(order, -1).astype(np.int32), -1
        return main.views.ordered_grid(
            place[main.views.edge_clusters],
            order[finest.views.edge_clusters],
            order[finest.part.walk_labels],
        )


def check_levels(levels: int | None) -> None:
    """Refuse a number of groups that no page can show."""
    if levels is not None:
        check_integer("levels", levels)
        if levels > MOST:
            raise InputError(f"levels must be at most {MOST}, because readers cannot compare more groups")


def levels_of(part: Partition, most: int | None = None) -> Levels:
    """Return the levels of a partition; `most` is the largest number of clusters to search for.

    There is a level for each number of clusters from 2 to 12, and for some larger ones up to those of the
    partition. Unless `most` is given, large data have no levels with more clusters than the partition, and
    still larger ones only the partition.
    """
    n, m = len(part.walk_labels), part.walk.hypergraph.n_incidences
    wanted = (MANY if m <= FINER_UP_TO else 0) if most is None else most
    leaves = part if part.k >= min(wanted, n) else _finer(part, min(wanted, n))
    groups = groups_of(leaves.walk_labels, part.walk_labels)
    tree = tree_of(leaves, part.objective, [groups])
    ids = _ids(tree, groups, part.k)
    names = _names(tree, ids, groups, part)
    numbers = _numbers(part.k, tree.k) if m <= COARSER_UP_TO or most is not None else [part.k]
    found = list[Level]()
    overlaps: Callable[[], Floats] = partial(overlap, part.walk.hypergraph)
    if len(numbers) > 1:  # otherwise it is called once, and not kept
        overlaps = cache(overlaps)
    for k in numbers:
        nodes = tree.nodes(k)
        at = part
        if k == part.k:
            nodes = nodes[np.argsort(groups[[_leaf_below(tree, node) for node in nodes]])]
        else:
            at = tree.partition(k)
        labels = groups_of(leaves.walk_labels, at.walk_labels)
        sure = overlaps if k == part.k or m * k <= CERTAIN_UP_TO else None
        texts = tuple(names[node] for node in nodes.tolist())
        found.append(Level(at, nodes, ids[nodes], texts, ids[nodes][labels], sure))
    return Levels(tree, tuple(found), [level.k for level in found].index(part.k))


def _finer(part: Partition, k: int) -> Partition:
    """Split the clusters of a partition into k in all: a search for k clusters, made nested."""
    settings = {name: part.settings[name] for name in ("alpha", "seed") if name in part.settings}
    found = cluster(part.walk.hypergraph, k, objective=part.objective, chance=False, **settings)
    levels = [part.walk_labels, found.walk_labels]
    labels = nested_levels(part.walk, objective_of(part.objective), levels)[-1]
    return regrouped(replace(part, eigenpairs=found.eigenpairs), labels, k, None, {"method": "finer level"})


def _numbers(k: int, k_max: int) -> list[int]:
    """Numbers of clusters: all from 2 to 12, twice as many each beyond, and those of the partition.

    >>> _numbers(3, 5), _numbers(1, 3), _numbers(90, 90)
    ([2, 3, 4, 5], [1, 2, 3], [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 24, 48, 90])
    """
    found, step = set(range(2, min(MANY, k_max) + 1)) | {k, k_max}, 2 * MANY
    while step < k_max / 1.5:
        found.add(step)
        step *= 2
    return sorted(found)


def _ids(tree: Tree, groups: Integers, k: int) -> Integers:
    """The number of each node, given the cluster of the partition that contains each leaf."""
    ids = np.full(2 * tree.k - 1, -1)
    for node in tree.nodes(k).tolist():
        ids[node] = groups[_leaf_below(tree, node)]
    fresh = k
    for position in range(tree.k - k - 1, -1, -1):  # splits of the clusters of the partition
        larger, smaller = tree.mergers[position]
        ids[larger], ids[smaller] = ids[tree.k + position], fresh
        fresh += 1
    for position in range(tree.k - k, len(tree.mergers)):  # mergers of them
        ids[tree.k + position] = ids[tree.mergers[position][0]]
    return ids


def _names(tree: Tree, ids: Integers, groups: Integers, part: Partition) -> list[str]:
    """The name of each node: "Group 3", or that of the cluster that it is, contains or is a part of."""
    if part.names is None:
        return [f"Group {number}" for number in ids]
    nodes = tree.nodes(part.k).tolist()
    names = {node: part.names[groups[_leaf_below(tree, node)]] for node in nodes}
    for position in range(tree.k - part.k - 1, -1, -1):
        for piece, child in enumerate(tree.mergers[position].tolist(), 1):
            names[child] = f"{names[tree.k + position]} ({piece})"
    for position in range(tree.k - part.k, len(tree.mergers)):
        names[tree.k + position] = " + ".join(names[child] for child in tree.mergers[position].tolist())
    return [short_id(names[node], GROUP_NAME_LENGTH) for node in range(len(ids))]


def _leaf_below(tree: Tree, node: int) -> int:
    while node >= tree.k:
        node = int(tree.mergers[node - tree.k][0])
    return node
