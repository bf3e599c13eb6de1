"""Profiles of the columns of a table in each cluster, for hypergraphs with hyperedges (column, value)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.arrays import freeze
from hyperclus.clustering.description import Printed
from hyperclus.clustering.frames import pandas_for
from hyperclus.errors import InputError, is_number
from hyperclus.hypergraph.binning import Binning
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import Nouns, no_column
from hyperclus.typing import Floats, Integers

PROFILE_COLUMNS = (
    *("column", "importance", "cluster", "value", "coverage", "coverage_all"),
    *("mean", "mean_all", "median"),
)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnProfile:
    """One column of a table, compared between clusters.

    Attributes
    ----------
    column : hashable
        The name of the column.
    values : tuple
        Its values, or the names of its bins, in the order of the hyperedges; None for a missing value.
    coverage : array of shape (k, n_values)
        The share of the vertices of each cluster with each value.
    coverage_all : array of shape (n_values,)
        The share of all vertices with each value.
    information : float
        The mutual information of the clusters and the values, in nats, less (k - 1) (n_values - 1) / (2 n),
        which is expected of a column that is independent of the clusters; at least 0.
    importance : float
        `information` over the sum for all columns; these sum to 1 unless all are 0.
    means, mean_all : array of shape (k,) and float, or None
        For columns of numbers, the mean of each cluster, NaN if all are missing, and of all vertices. A
        number in a bin counts as the middle of the bin; means of soft bins are exact.
    means_rest : array of shape (k,), or None
        The mean of all vertices that are not in each cluster, NaN if there are none.
    medians, median_all : tuple and value, or None
        For columns of numbers, the value or bin that has the median.
    """

    column: Any
    values: tuple[Any, ...]
    coverage: Floats
    coverage_all: Floats
    information: float
    importance: float
    means: Floats | None = None
    mean_all: float | None = None
    means_rest: Floats | None = None
    medians: tuple[Any, ...] | None = None
    median_all: Any = None

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profile(Printed):
    """The columns of a table in each cluster, the most important first; see `Partition.profile`.

    `profile["age"]` is the `ColumnProfile` of one column.
    """

    clusters: tuple[str | int, ...]
    sizes: Integers
    columns: tuple[ColumnProfile, ...]
    nouns: Nouns

    def __post_init__(self) -> None:
        freeze(self)

    def __getitem__(self, column: Any) -> ColumnProfile:
        for found in self.columns:
            if found.column == column:
                return found
        raise InputError(no_column(column, [found.column for found in self.columns]))

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each column and cluster.

        The columns are `column`, `importance` and `cluster`; `value`, the most frequent in the cluster, with
        `coverage` and `coverage_all`, its shares in the cluster and in all; and `mean`, `mean_all` and
        `median` of columns of numbers.
        """
        return pandas_for("to_frame").DataFrame(list(self.rows()), columns=list(PROFILE_COLUMNS))

    def rows(self) -> Iterator[list[Any]]:
        """The rows of `to_frame`, as lists."""
        for found in self.columns:
            for cluster, name in enumerate(self.clusters):
                top = int(found.coverage[cluster].argmax())
                row = [found.column, found.importance, name, found.values[top]]
                row += [found.coverage[cluster, top], found.coverage_all[top]]
                if found.means is None or found.medians is None:
                    row += [np.nan, np.nan, None]
                else:
                    row += [found.means[cluster], found.mean_all, found.medians[cluster]]
                yield row


def profile(hypergraph: Hypergraph, labels: Integers, names: Sequence[str | int]) -> Profile:
    """Compare the columns of a table between clusters; `labels` are 0 .. k - 1, none of them empty."""
    if table_columns(hypergraph) is None:
        pairs = "hypergraphs from tables, whose hyperedges are pairs (column, value)"
        raise InputError(f"profile() is for {pairs}; use describe() for others")
    positions: dict[Any, list[int]] = {}
    for position, (column, _) in enumerate(hypergraph.edge_ids.tolist()):
        positions.setdefault(column, []).append(position)
    sizes = np.bincount(labels, minlength=len(names))
    found = [_column(hypergraph, name, edges, labels, sizes) for name, edges in positions.items()]
    total = sum(column["information"] for column in found)
    for column in found:
        column["importance"] = column["information"] / total if total > 0 else 0.0
    profiles = sorted((ColumnProfile(**column) for column in found), key=lambda each: -each.importance)
    return Profile(tuple(names), sizes, tuple(profiles), hypergraph.nouns)


def table_columns(hypergraph: Hypergraph) -> dict[Any, int] | None:
    """Columns of the table that the hyperedges (column, value) come from, with their numbers of values.

    None if they do not come from a table: if an id is not a pair, or if a vertex is in more than two
    hyperedges of one column (a row has one value, or is in two overlapping bins).
    """
    ids = hypergraph.edge_ids.tolist()
    if not all(isinstance(edge, tuple) and len(edge) == 2 for edge in ids):
        return None
    counts = Counter(column for column, _ in ids)
    numbers = {column: number for number, column in enumerate(counts)}
    column = np.array([numbers[edge[0]] for edge in ids], dtype=np.int64)
    rows = np.repeat(column, hypergraph.edge_sizes) * hypergraph.n_vertices + hypergraph.gamma.indices
    return dict(counts) if np.unique(rows, return_counts=True)[1].max() <= 2 else None


def _column(
    hypergraph: Hypergraph, name: Any, edges: list[int], labels: Integers, sizes: Integers
) -> dict[str, Any]:
    """Return the fields of the profile of one column, but its importance."""
    gamma, k, n = hypergraph.gamma[edges, :], len(sizes), len(labels)
    cells = np.repeat(np.arange(len(edges)) * k, np.diff(gamma.indptr)) + labels[gamma.indices]
    weights = gamma.data / np.bincount(gamma.indices, gamma.data, minlength=n)[gamma.indices]
    counts, weighted = (
        np.bincount(cells, each, minlength=len(edges) * k).reshape(-1, k).T.astype(np.float64)
        for each in (None, weights)
    )
    values = tuple(hypergraph.edge_ids[edge][1] for edge in edges)
    found = {
        "column": name,
        "values": values,
        "coverage": counts / sizes[:, None],
        "coverage_all": counts.sum(axis=0) / n,
        "information": _information(weighted, n),
    }
    numbers = numbers_of(values, (hypergraph.columns or {}).get(name))
    return found if numbers is None else found | _averages(values, numbers, weighted)


def numbers_of(values: Sequence[Any], binning: Binning | None) -> Floats | None:
    """Return the values of a column as numbers, bins by their middles; NaN for a missing value (None).

    None if they are not numbers.

    >>> numbers_of([1, 2.5, None], None).tolist(), numbers_of(["1", "2"], None)
    ([1.0, 2.5, nan], None)
    """
    middles = None if binning is None else binning.middles()
    if binning is not None and middles is not None:
        known = dict(zip(binning.names, middles.tolist(), strict=True))
        return np.array([known.get(value, np.nan) for value in values])
    present = [value for value in values if value is not None]
    if not (present and all(map(is_number, present))):
        return None
    return np.array([np.nan if value is None else float(value) for value in values])


def _information(counts: Floats, n: int) -> float:
    """Mutual information of the rows and columns of a table of counts, less what chance gives; at least 0."""
    total, rows, columns = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(rows, columns) / max(total, 1.0)
    logs = np.log(np.where(counts > 0, counts, 1.0) / np.where(counts > 0, expected, 1.0))
    by_chance = (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1) / 2
    return max(float((counts * logs).sum() - by_chance) / n, 0.0)


def _averages(values: tuple[Any, ...], numbers: Floats, weighted: Floats) -> dict[str, Any]:
    """Return means and medians of a column of numbers, which are NaN for missing values."""
    order = np.argsort(numbers)[: np.count_nonzero(~np.isnan(numbers))]
    table = np.vstack([weighted, weighted.sum(axis=0)])[:, order]
    totals, sums = table.sum(axis=1), table @ numbers[order]
    means, rest = _ratio(sums, totals), _ratio(sums[-1] - sums[:-1], np.round(totals[-1] - totals[:-1], 9))
    passed = np.cumsum(table, axis=1) >= 0.5 * totals[:, None] * (1 - 1e-12)
    medians = [
        values[order[place]] if total > 0 else None
        for place, total in zip(passed.argmax(axis=1), totals, strict=True)
    ]
    return {
        "means": means[:-1],
        "mean_all": float(means[-1]),
        "means_rest": rest,
        "medians": tuple(medians[:-1]),
        "median_all": medians[-1],
    }


def _ratio(sums: Floats, totals: Floats) -> Floats:
    """Sums over totals; NaN where the total is 0."""
    return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), np.nan)
