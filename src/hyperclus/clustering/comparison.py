"""Two partitions side by side: which clusters are the same, and which vertices changed theirs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from hyperclus._runtime.arrays import read_only
from hyperclus.clustering.frames import pandas_for
from hyperclus.clustering.metrics import Agreement, best_matching
from hyperclus.clustering.partition import Partition, StoredPartition
from hyperclus.errors import InputError
from hyperclus.hypergraph.ids import (
    as_integers_or_list,
    encode,
    id_array,
    is_default_index,
    object_array,
    vertex_codes,
)
from hyperclus.hypergraph.messages import first_few
from hyperclus.typing import Booleans, Floats, Ids, Integers

Clusters: TypeAlias = Partition | StoredPartition | Mapping[Any, Any] | Iterable[Any]

MAX_PAIRS = 50_000_000  # of clusters, which are matched in a dense table
HALF = 0.5  # of its vertices, that a cluster shares with the one it comes from or goes to


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """The clusters of two partitions, a and b, matched one to one, and the vertices that moved.

    The matching keeps as many vertices as possible in matched clusters.

    Attributes
    ----------
    vertex_ids : array
        All vertices that are in a cluster of a or of b: those of a in their order, then those of b only.
    a, b : arrays
        The number of the cluster of each vertex in each of the two; -1 if it is in none.
    a_names, b_names : tuples
        The names of the clusters, or their numbers.
    counts : array of shape (k of a, k of b)
        The number of vertices in both clusters.
    volumes : array of the same shape, or None
        Their share of a walker's time, in the walk of b, or of a if only that is a Partition; None if neither
        is.
    matches : array of shape (k of a,)
        The cluster of b that each cluster of a is matched with; -1 if none.
    """

    vertex_ids: Ids
    a: Integers
    b: Integers
    a_names: tuple[Any, ...]
    b_names: tuple[Any, ...]
    counts: Integers
    volumes: Floats | None
    matches: Integers

    @property
    def a_sizes(self) -> Integers:
        """The number of vertices in each cluster of a, also of those that are only in a."""
        return np.bincount(self.a[self.a >= 0], minlength=len(self.a_names))

    @property
    def common(self) -> Booleans:
        """Mask of the vertices that are in a cluster of a and in one of b."""
        return (self.a >= 0) & (self.b >= 0)

    @property
    def is_moved(self) -> Booleans:
        """Mask of the vertices whose cluster of b is not matched with their cluster of a."""
        return np.asarray(self.common & (self.matches[self.a] != self.b))

    @property
    def moved(self) -> Ids:
        """The ids of the vertices whose cluster of b is not matched with their cluster of a."""
        return np.asarray(self.vertex_ids[self.is_moved])

    @property
    def only_in_a(self) -> Ids:
        """The ids of the vertices that are in no cluster of b."""
        return np.asarray(self.vertex_ids[self.b < 0])

    @property
    def only_in_b(self) -> Ids:
        """The ids of the vertices that are in no cluster of a."""
        return np.asarray(self.vertex_ids[self.a < 0])

    @property
    def unchanged(self) -> float:
        """The share of the common vertices that did not move."""
        return 1.0 - float(np.count_nonzero(self.is_moved) / np.count_nonzero(self.common))

    @property
    def nmi(self) -> float:
        """Normalised mutual information of the two, on the common vertices; see `Agreement`."""
        return self._agreement.nmi

    @property
    def ari(self) -> float:
        """Adjusted Rand index of the two, on the common vertices; see `Agreement`."""
        return self._agreement.ari

    @property
    def splits(self) -> dict[Any, list[Any]]:
        """Clusters of a that two or more clusters of b have more than half of their vertices from."""
        return _several(_mostly(self.counts.T, self.b), self.b_names, self.a_names)

    @property
    def mergers(self) -> dict[Any, list[Any]]:
        """Clusters of b that two or more clusters of a have more than half of their vertices in."""
        return _several(_mostly(self.counts, self.a), self.a_names, self.b_names)

    @property
    def disappeared(self) -> list[Any]:
        """Clusters of a without more than half of themselves in a cluster of b, or of one of b in them."""
        lost = _mostly(self.counts, self.a) < 0
        lost[np.setdiff1d(_mostly(self.counts.T, self.b), -1)] = False
        return [name for name, gone in zip(self.a_names, lost, strict=True) if gone]

    @property
    def appeared(self) -> list[Any]:
        """Clusters of b without more than half of themselves in a cluster of a, or of one of a in them."""
        new = _mostly(self.counts.T, self.b) < 0
        new[np.setdiff1d(_mostly(self.counts, self.a), -1)] = False
        return [name for name, came in zip(self.b_names, new, strict=True) if came]

    def to_frame(self) -> Any:
        """A pandas data frame with a row per vertex.

        The columns are `vertex`; `a` and `b`, its cluster in each, None if it is in none; and `moved`,
        whether it is in both and these are not matched.

        >>> compare({"ann": 0, "bob": 0, "cy": 1}, {"ann": 1, "bob": 1, "cy": 1}).to_frame()["moved"].tolist()
        [False, False, True]
        """
        pandas = pandas_for("to_frame")

        def column(labels: Integers, names: tuple[Any, ...]) -> Any:
            values = object_array([*names, None])[labels].tolist()
            return pandas.Series(values, dtype=object if (labels < 0).any() else None)

        columns = {
            "vertex": pandas.Series(self.vertex_ids, dtype=self.vertex_ids.dtype),
            "a": column(self.a, self.a_names),
            "b": column(self.b, self.b_names),
            "moved": self.is_moved,
        }
        return pandas.DataFrame(columns)

    def flow_frame(self) -> Any:
        """A pandas data frame of the flow: a row per pair of clusters with common vertices.

        The columns are `a`, `b`, `vertices` (their number), `share` (of the cluster of a), `volume` (NaN if
        neither is a Partition) and `matched`.
        """
        rows, columns = np.nonzero(self.counts)
        vertices = self.counts[rows, columns]
        table = {
            "a": [self.a_names[row] for row in rows],
            "b": [self.b_names[column] for column in columns],
            "vertices": vertices,
            "share": vertices / self.a_sizes[rows],
            "volume": np.nan if self.volumes is None else self.volumes[rows, columns],
            "matched": self.matches[rows] == columns,
        }
        return pandas_for("flow_frame").DataFrame(table)

    def __repr__(self) -> str:
        from hyperclus.report.comparison import comparison_text

        return str(comparison_text(self))

    def _repr_html_(self) -> str:
        from hyperclus.report.comparison import comparison_text

        return comparison_text(self).to_html()

    @property
    def _agreement(self) -> Agreement:
        return Agreement(object_array(list(self.a_names)), object_array(list(self.b_names)), self.counts)


def compare(a: Clusters, b: Clusters) -> Comparison:
    """Match the clusters of two partitions, and find the vertices that moved.

    Clusters are matched one to one so that the sum of |A and B| over the matched pairs is largest (the
    Hungarian method). A vertex moved if its two clusters are not matched.

    Parameters
    ----------
    a, b : Partition, StoredPartition, or labels
        Labels are a mapping (or pandas Series) from vertex id, or a list: in the order of the vertices if
        the other is a Partition, and in the same order as the other if that is a list too. A vertex with the
        label -1 is in no cluster. Vertices are matched by id; those in one of the two only are listed.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If the two have no vertex in common, or a list cannot be matched with the vertices of the other.

    Notes
    -----
    A cluster of a splits if two or more clusters of b have more than half of their vertices from it, and a
    merger is the same with a and b exchanged, similar to MONIC (Spiliopoulou, Ntoutsi, Theodoridis and
    Schult, KDD 2006).

    Examples
    --------
    >>> compare(["x", "x", "x", "y", "y", "z"], [1, 1, 2, 2, 2, 2])
    Comparison of 3 clusters (a) and 2 (b)
      unchanged    4 of 6 vertices (66.7 %)
      moved        2 vertices: 2, 5
      agreement    NMI 0.3863, ARI 0.0367
      a  size  b  kept  moved to
      x     3  1     2  1 to 2
      y     2  2     2
      z     1  -     0  1 to 2
      y and z of a merge into 2 of b
    """
    first, second = _given(a, b, "a"), _given(b, a, "b")
    codes, ids = _joined(first.ids, second.ids)
    places = codes[: len(first.ids)], codes[len(first.ids) :]
    in_a, in_b = np.full(len(ids), -1, dtype=np.int64), np.full(len(ids), -1, dtype=np.int64)
    in_a[places[0]], in_b[places[1]] = first.codes, second.codes
    common = (in_a >= 0) & (in_b >= 0)
    if not common.any():
        raise InputError(_nothing_in_common(first.ids, second.ids))
    shape, volumes = (len(first.names), len(second.names)), None
    if shape[0] * shape[1] > MAX_PAIRS:
        raise InputError(f"{shape[0]:,} and {shape[1]:,} clusters are too many to be matched; merge some")
    for side, place in ((first, places[0]), (second, places[1])):
        if side.volumes is not None:
            everywhere = np.zeros(len(ids))
            everywhere[place] = side.volumes
            volumes = crosstab(in_a[common], in_b[common], shape, everywhere[common])
    counts = crosstab(in_a[common], in_b[common], shape)
    names, matches = (first.names, second.names), best_matching(counts)
    return Comparison(ids, read_only(in_a), read_only(in_b), *names, counts, volumes, matches)


def crosstab(a: Integers, b: Integers, shape: tuple[int, int], weights: Floats | None = None) -> Any:
    """Count the positions, or add up their weights, by their pairs of codes."""
    return np.bincount(a * shape[1] + b, weights, minlength=shape[0] * shape[1]).reshape(shape)


@dataclass(frozen=True, slots=True)
class _Given:
    """Clusters of vertices: ids of those that are in a cluster, codes, names, and volumes of the vertices."""

    ids: Ids
    codes: Integers
    names: tuple[Any, ...]
    volumes: Floats | None = None


def _given(clusters: Any, other: Any, what: str) -> _Given:
    """One of the two sides; `other` tells the vertices of a list."""
    if isinstance(clusters, Partition):
        inside = clusters.labels >= 0
        ids = clusters.vertex_ids[inside]
        return _Given(ids, clusters.labels[inside], tuple(clusters.cluster_names), clusters.walk.stationary)
    if isinstance(clusters, StoredPartition):
        table = clusters.to_arrow()
        ids, labels = table.column(0).to_pylist(), table.column("cluster").to_numpy()
        return _Given(id_array(ids, "vertex"), labels, tuple(clusters.cluster_names))
    values: Any
    if isinstance(clusters, Mapping):
        ids, values = id_array(list(clusters), "vertex"), list(clusters.values())
    elif _has_ids(clusters):
        ids, values = id_array(list(clusters.index), "vertex"), clusters.to_list()
    else:
        values = as_integers_or_list(clusters, f"the labels of {what}")
        if isinstance(other, Partition):
            ids = other.vertex_ids
        elif isinstance(other, StoredPartition | Mapping) or _has_ids(other):
            raise InputError(
                f"the labels of {what} are a list, which names no vertices; give a mapping from vertex id"
            )
        else:
            ids = np.arange(len(as_integers_or_list(other, f"the labels of {'b' if what == 'a' else 'a'}")))
    return _labelled(ids, *vertex_codes(values, ids, f"label of {what}"))


def _has_ids(labels: Any) -> bool:
    """Whether labels are a Series whose index names the vertices."""
    return hasattr(labels, "index") and hasattr(labels, "to_list") and not is_default_index(labels.index)


def _labelled(ids: Ids, codes: Any, values: Ids) -> _Given:
    """Number the labels: integers in their order, others by size; vertices with the label -1 are left out."""
    names = values.tolist()
    if values.dtype == object:
        order = np.argsort(-np.bincount(codes, minlength=len(names)), kind="stable")
    else:
        order = np.argsort(values, kind="stable")
    kept = [code for code in order.tolist() if not (type(names[code]) is int and names[code] == -1)]
    numbers = np.full(len(names), -1, dtype=np.int64)
    numbers[kept] = np.arange(len(kept))
    labels = numbers[codes]
    return _Given(ids[labels >= 0], labels[labels >= 0], tuple(names[code] for code in kept))


def _joined(a: Ids, b: Ids) -> tuple[Any, Ids]:
    """The distinct ids of both, those of a first, and the position of each id of a and b among them."""
    both: Any = np.concatenate([a, b]) if object not in (a.dtype, b.dtype) else [*a.tolist(), *b.tolist()]
    return encode(both, str)


def _nothing_in_common(a: Ids, b: Ids) -> str:
    if not (len(a) and len(b)):
        return f"{'b' if len(a) else 'a'} has no vertex in a cluster, so there is nothing to compare"
    problem = (
        f"a and b have no vertex in common; a has {first_few(a.tolist())}, b has {first_few(b.tolist())}"
    )
    if set(map(str, a.tolist())) & set(map(str, b.tolist())):
        return f"{problem}; make the ids of both text, or of both numbers"
    return f"{problem}; compare clusters of the same vertices"


def _mostly(counts: Integers, labels: Integers) -> Integers:
    """The column that has more than half of each row's vertices, or -1; `labels` has all of the vertices."""
    sizes = np.bincount(labels[labels >= 0], minlength=len(counts))
    largest = counts.argmax(axis=1)
    return np.where(counts.max(axis=1) > HALF * sizes, largest, -1)


def _several(
    targets: Integers, names: tuple[Any, ...], target_names: tuple[Any, ...]
) -> dict[Any, list[Any]]:
    """The names of the rows by the name of their target, for targets of two rows or more."""
    rows = {to: np.flatnonzero(targets == to).tolist() for to in np.setdiff1d(targets, -1).tolist()}
    return {target_names[to]: [names[row] for row in some] for to, some in rows.items() if len(some) > 1}
