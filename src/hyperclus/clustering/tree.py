"""A tree of clusters: mergers of least loss of the objective, down to one cluster.

F, the flows between the leaves, is all that the mergers need. A merger of clusters a and b into c loses

    information:  I before - I after, in nats, which is never negative;
    NCut:         F_aa / v_a + F_bb / v_b - F_cc / v_c, by which k - NCut falls: the sum over the clusters of
                  the share of steps that stay inside.

The second is at least 0 where x'Fx is positive semidefinite, as in reversible walks: x'Fx / t is then convex
and homogeneous in (x, t), so it is subadditive. Elsewhere it may be negative. The height of a merger is the
largest total that was lost up to it, so that heights never fall; if no loss is negative, it is that total.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from hyperclus._runtime.arrays import freeze
from hyperclus.clustering._run import Settings, default_min_share
from hyperclus.clustering.cluster import chosen_objective, cluster
from hyperclus.clustering.frames import frame_of, pandas_for
from hyperclus.clustering.nested import (
    groups_of,
    levels_below,
    mergers_by_level,
    nested_search,
)
from hyperclus.clustering.objectives import NCUT, OBJECTIVES, ObjectiveName, flows_between, objective_of
from hyperclus.clustering.partition import Partition
from hyperclus.clustering.regroup import merged_names, regrouped
from hyperclus.clustering.search_problem import Effort, EffortName
from hyperclus.clustering.vertex_search import Clusters
from hyperclus.errors import InputError, check_integer
from hyperclus.hypergraph.ids import as_list
from hyperclus.io.anything import as_hypergraph
from hyperclus.typing import Floats, HypergraphLike, Integers

MAX_LEAVES = 50  # by default
SEARCHED, IMPROVED = 3.0, 1.25  # ratios of numbers of clusters: those searched for, and improved together
REFINED_UP_TO = 50_000_000  # incidences times clusters: beyond, the tree is that of the leaves alone
NOT_REFINED = "only the leaves were searched for, because of the size; clusters above them are mergers"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """Nested clusters: the clusters of a partition are the leaves, and each merger joins two nodes.

    Nodes are numbered as in SciPy: leaves 0 .. L - 1 as in the partition, then the mergers in their order.

    Attributes
    ----------
    leaves : Partition
        The finest level.
    objective : {"ncut", "information"}
        What the mergers lose least of.
    mergers : array of shape (L - 1, 2)
        The two nodes that each merger joins, the larger one first.
    losses : array of shape (L - 1,)
        What each merger loses of the objective: nats of information, or of k - NCut.
    """

    leaves: Partition
    objective: str
    mergers: Integers
    losses: Floats

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def k(self) -> int:
        """The number of leaves, the largest k that the tree can be cut at."""
        return self.leaves.k

    @property
    def heights(self) -> Floats:
        """The height of each merger: the largest total that was lost up to it; never falls."""
        return np.maximum.accumulate(np.maximum(np.cumsum(self.losses), 0.0))

    @property
    def figures(self) -> Floats:
        """The objective with 1, 2, ..., L clusters: information in nats, or NCut."""
        lost = np.append(0.0, np.cumsum(self.losses))[::-1]
        if self.objective == "information":
            return np.asarray(np.maximum(self.losses.sum() - lost, 0.0))  # one cluster has no information
        return np.maximum(self.leaves.ncut + lost - np.arange(self.k)[::-1], 0.0)

    @property
    def sizes(self) -> Integers:
        """The number of vertices of each node, leaves first."""
        return np.asarray(self._totals(self.leaves.sizes))

    @property
    def volumes(self) -> Floats:
        """The volume of each node, leaves first."""
        return np.asarray(self._totals(self.leaves.cut.volumes))

    @property
    def leaf_counts(self) -> Integers:
        """The number of leaves below each node, 1 for a leaf itself."""
        return np.asarray(self._totals(np.ones(self.k, dtype=np.int64)))

    def _totals(self, values: Any) -> Any:
        totals = np.concatenate([values, np.zeros(len(self.mergers), dtype=values.dtype)])
        for node, (left, right) in enumerate(self.mergers, self.k):
            totals[node] = totals[left] + totals[right]
        return totals

    def nodes(self, k: int) -> Integers:
        """The nodes that are the k clusters of a level, in the order of their labels in `cut(k)`."""
        check_integer("k", k)
        if k > self.k:
            raise InputError(f"the tree has {self.k} leaves, so it cannot be cut into {k} clusters")
        formed = self.k + np.arange(self.k - k)
        nodes = np.setdiff1d(np.append(np.arange(self.k), formed), self.mergers[: self.k - k])
        first = np.unique(self.leaves.walk_labels, return_index=True)[1]
        firsts = np.append(first, np.zeros(len(self.mergers), dtype=np.int64))
        for node, (left, right) in enumerate(self.mergers, self.k):
            firsts[node] = min(firsts[left], firsts[right])
        return np.asarray(nodes[np.lexsort((firsts[nodes], -self.sizes[nodes]))])

    def _leaf_labels(self, k: int) -> Integers:
        """The label in `cut(k)` of each leaf."""
        label = np.zeros(self.k + len(self.mergers), dtype=np.int64)
        label[self.nodes(k)] = np.arange(k)
        for node in range(2 * self.k - k - 1, self.k - 1, -1):
            pair = self.mergers[node - self.k]
            label[pair] = label[node]
        return label[: self.k]

    def cut(self, k: int) -> Integers:
        """Labels 0 .. k - 1 of all vertices, cluster 0 the largest; -1 for a vertex in no hyperedge.

        A cluster of `cut(k)` is a union of clusters of `cut(k + 1)`.
        """
        labels = self.leaves.labels
        return np.where(labels >= 0, self._leaf_labels(k)[labels], -1)

    def partition(self, k: int) -> Partition:
        """The clusters of `cut(k)` with their figures and the proven bound for k clusters."""
        into, labels = self._leaf_labels(k), self.leaves.walk_labels
        names = None if self.leaves.names is None else merged_names(self.leaves, into)
        return regrouped(self.leaves, into[labels], k, names, {"method": f"cut of a tree of {self.k} leaves"})

    def refined(self, k: int) -> Partition:
        """The clusters of `partition(k)` after moves of single vertices while the objective improves.

        It is never worse than the cut, but its clusters are not nested in those of other k.
        """
        part, what = self.partition(k), OBJECTIVES[self.objective]
        start = part.walk_labels
        least = default_min_share(part.walk, k, start) if what is NCUT else 0.0
        clusters = Clusters.of(part.walk, start, k, least, what)
        clusters.descend()
        method = {"method": f"refined cut of a tree of {self.k} leaves"}
        return regrouped(part, clusters.state.labels, k, part.names, method)

    def with_names(self, names: Mapping[int, Any] | Iterable[Any]) -> "Tree":
        """Return the same tree with names for the leaves, as `Partition.with_names`."""
        return replace(self, leaves=self.leaves.with_names(names))

    def to_frame(self) -> Any:
        """A pandas data frame of the mergers, from the leaves to the root.

        The columns are `node`, the number of the merger; `left` and `right`, what it joins; `k`, the number
        of clusters after it; `loss` and `height`; `information` or `ncut` with k clusters; and `size` and
        `volume` of the node.
        """
        after = np.arange(self.k - 1, 0, -1)
        columns = {
            "node": self.k + np.arange(self.k - 1),
            "left": self.mergers[:, 0],
            "right": self.mergers[:, 1],
            "k": after,
            "loss": self.losses,
            "height": self.heights,
            self.objective: self.figures[after - 1],
            "size": self.sizes[self.k :],
            "volume": self.volumes[self.k :],
        }
        return pandas_for("to_frame").DataFrame(columns)

    def labels_frame(self, ks: Iterable[int] | None = None) -> Any:
        """A pandas data frame of the vertices and nested labels: columns k2, k3, ..., or those of `ks`."""
        wanted = range(2, self.k + 1) if ks is None else as_list(ks, "ks")
        columns = {f"k{k}": self.cut(k) for k in wanted}
        noun = self.leaves.nouns.vertex
        return frame_of("labels_frame", self.leaves.vertex_ids, noun, "vertex", columns)

    def to_linkage(self) -> Floats:
        """The linkage matrix of SciPy: two nodes, height and number of leaves of each merger.

        `scipy.cluster.hierarchy.dendrogram(tree.to_linkage(), labels=tree.leaves.cluster_names)` draws it.
        """
        pairs = np.sort(self.mergers, axis=1)
        return np.column_stack([pairs, self.heights, self.leaf_counts[self.k :]]).astype(np.float64)

    def to_newick(self) -> str:
        """The tree in Newick format; the lengths of branches are differences of heights.

        >>> from hyperclus import Hypergraph, evaluate
        >>> h = Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]])
        >>> evaluate(h, ["it's", "it's", "two", "two"]).tree("ncut").to_newick()
        "('it''s':0.666667,two:0.666667);"
        """
        heights = np.append(np.zeros(self.k), self.heights)
        texts = [_newick_name(str(name)) for name in self.leaves.cluster_names]
        for node, pair in enumerate(self.mergers, self.k):
            children = (f"{texts[child]}:{heights[node] - heights[child]:.6g}" for child in pair)
            texts.append(f"({','.join(children)})")
        return texts[-1] + ";"

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw a dendrogram with Matplotlib; options go to `scipy.cluster.hierarchy.dendrogram`."""
        from hyperclus.report.plots import plot_tree

        return plot_tree(self, ax, options)

    def __repr__(self) -> str:
        from hyperclus.report.tree_text import tree_text

        return tree_text(self)

    def _repr_html_(self) -> str:
        from hyperclus.report.tree_text import tree_html

        return tree_html(self)


def tree(
    hypergraph: HypergraphLike,
    k_max: int | None = None,
    *,
    objective: ObjectiveName | None = None,
    effort: EffortName | Effort | None = None,
    **settings: Unpack[Settings],
) -> Tree:
    """Find a tree of nested clusters that is good at every number of clusters up to `k_max`.

    Searches for k_max, k_max / 3, k_max / 9, ... and 2 clusters, makes these levels nested, and moves
    vertices between the leaves while the relative losses of many levels fall, the largest above all; see
    docs/how_to/tree.md. `Tree.refined` improves one cut further, outside the tree.
    `Partition.tree` merges the clusters of one partition, which is quicker, but loses more at small k.

    Parameters
    ----------
    hypergraph : Hypergraph
        Or whatever `as_hypergraph` accepts.
    k_max : int, optional
        The number of leaves. By default the square root of the number of vertices, from 2 to 50.
    objective, effort, **settings
        As in `cluster`, except that the tight bound is not available. The clusters are not compared with
        chance: `evaluate(h, tree.cut(k))` does so for one level.

    Returns
    -------
    Tree

    Examples
    --------
    >>> from hyperclus import Hypergraph
    >>> h = Hypergraph.from_edges([["a", "b"], ["a", "b", "c"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> found = tree(h, 3, objective="ncut")
    >>> found.cut(2).tolist()
    [0, 0, 0, 1, 1, 1]
    >>> bool(abs(found.partition(2).ncut - found.figures[1]) < 1e-12)
    True
    """
    if settings.get("bound") in ("tight", "optimal"):
        raise InputError(
            "a tree has no tight bound; evaluate(h, tree.cut(k), bound='tight') has it for one level"
        )
    h = as_hypergraph(hypergraph)
    if k_max is None:
        n = int(h.covered.sum())
        k_max = max(min(max(round(n**0.5), 2), MAX_LEAVES, n), 1)
    check_integer("k_max", k_max)
    objective = chosen_objective(objective)
    given: Any = {**settings, "objective": objective, "effort": effort, "chance": False}
    leaves = cluster(h, k_max, **given)
    levels = levels_below(k_max, SEARCHED)
    if len(levels) == 1:
        return tree_of(leaves)
    if leaves.walk.hypergraph.n_incidences * k_max > REFINED_UP_TO:
        fallbacks = *leaves.settings.get("fallbacks", ()), NOT_REFINED
        return tree_of(replace(leaves, settings={**leaves.settings, "fallbacks": fallbacks}))
    levels = sorted({2, *levels})
    parts = [*(cluster(h, k, **given) for k in levels[:-1]), leaves]
    ks, what = levels_below(k_max, IMPROVED), objective_of(objective)
    nested = nested_search(leaves.walk, what, [part.walk_labels for part in parts], ks)
    finest = regrouped(
        leaves, nested[-1], k_max, None, {"method": "leaves of a tree", "levels": tuple(levels)}
    )
    return tree_of(finest, objective, [groups_of(finest.walk_labels, labels) for labels in nested[-2::-1]])


def tree_of(
    leaves: Partition, objective: ObjectiveName | None = None, levels: Iterable[Integers] = ()
) -> Tree:
    """Merge the clusters of a partition; the groups of `levels`, from fine to coarse, become nodes."""
    k, what = leaves.k, objective_of(leaves.objective if objective is None else objective)
    between = flows_between(leaves.walk, leaves.walk_labels, k)
    nodes, sizes = list(range(k)), leaves.sizes.tolist()
    mergers: list[list[int]] = []
    losses: list[float] = []
    for one, other, loss in mergers_by_level(what, between, levels):
        pair = sorted((nodes[one], nodes.pop(other)), key=lambda node: (-sizes[node], node))
        nodes[one] = k + len(mergers)
        sizes.append(sizes[pair[0]] + sizes[pair[1]])
        mergers.append(pair)
        losses.append(loss)
    return Tree(leaves, what.name, np.array(mergers, dtype=np.int64).reshape(-1, 2), np.array(losses))


def _newick_name(name: str) -> str:
    """A name in quotes, unless it is plain."""
    return name if name.isascii() and name.isalnum() else "'" + name.replace("'", "''") + "'"
