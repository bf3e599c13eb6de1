"""How well clusters agree with known classes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus.errors import InputError
from hyperclus.hypergraph.ids import factorize, is_default_index
from hyperclus.typing import Floats, Ids, Integers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Agreement:
    """The contingency table `counts` of `classes` (rows) and `clusters` (columns), and figures from it."""

    classes: Ids
    clusters: Ids
    counts: Integers

    def __repr__(self) -> str:
        figures = f"NMI {self.nmi:.4f}, ARI {self.ari:.4f}, weighted F1 {self.f1:.4f}"
        sides = f"{len(self.classes):,} classes and {len(self.clusters):,} clusters"
        return f"Agreement of {sides}: {figures}, purity {self.purity:.4f}"

    def _repr_html_(self) -> str:
        from hyperclus.report.result_tables import agreement_table

        return agreement_table(self)

    @property
    def f1_by_class(self) -> Floats:
        """F1 of each class with the cluster that greedy matching gives it; 0 if it gets none.

        F1(S, V) = 2 |S and V| / (|S| + |V|). The pair with the largest F1 is matched first, then the
        largest among the rest, as in the appendix of the paper.
        """
        sizes = self.counts.sum(axis=1)[:, None] + self.counts.sum(axis=0)
        scores, matched = 2.0 * self.counts / sizes, np.zeros(len(self.classes))
        for row, column in greedy_matching(scores):
            matched[row] = scores[row, column]
        return matched

    @property
    def f1(self) -> float:
        """The mean of `f1_by_class`, each class weighted by its size."""
        return float(np.average(self.f1_by_class, weights=self.counts.sum(axis=1)))

    @property
    def purity(self) -> float:
        """The share of vertices that are in the majority class of their cluster."""
        return float(self.counts.max(axis=0).sum() / self.counts.sum())

    @property
    def nmi(self) -> float:
        """Mutual information over the arithmetic mean of the two entropies; 1 if both are trivial."""
        joint = self.counts / self.counts.sum()
        both = _entropy(joint.sum(axis=1)) + _entropy(joint.sum(axis=0))
        return 1.0 if both == 0 else max((both - _entropy(joint.ravel())) / (both / 2), 0.0)

    @property
    def ari(self) -> float:
        """Rand index, adjusted so that random labels score 0 on average (Hubert and Arabie, 1985)."""
        together = _pairs(self.counts.ravel())
        rows, columns = _pairs(self.counts.sum(axis=1)), _pairs(self.counts.sum(axis=0))
        expected = rows * columns / max(_pairs(self.counts.sum(keepdims=True)), 1.0)
        largest = (rows + columns) / 2
        return 1.0 if largest == expected else (together - expected) / (largest - expected)


def agreement(classes: Iterable[Any], clusters: Iterable[Any]) -> Agreement:
    """Compare clusters with classes, one of each per vertex and in the same order.

    `Partition.agreement` compares by vertex id. A pandas Series whose index says that the order matters is
    refused, unless both have the same index.

    >>> found = agreement(["x", "x", "y", "y"], [0, 0, 0, 1])
    >>> found.f1_by_class.round(3).tolist(), found.purity
    ([0.8, 0.667], 0.75)
    """
    _check_order(classes, clusters)
    class_codes, class_names = factorize(classes, "class")
    cluster_codes, cluster_names = factorize(clusters, "cluster")
    if len(class_codes) != len(cluster_codes):
        given = f"{len(class_codes)} classes and {len(cluster_codes)} clusters"
        raise InputError(f"{given}; give one each per vertex")
    if not len(class_codes):
        raise InputError("there are no classes to compare; give one per vertex")
    counts = np.zeros((len(class_names), len(cluster_names)), dtype=np.int64)
    np.add.at(counts, (class_codes, cluster_codes), 1)
    return Agreement(class_names, cluster_names, counts)


def _check_order(classes: Any, clusters: Any) -> None:
    """Refuse a mapping, and a Series with an index of its own, beside values without the same index."""
    if isinstance(classes, Mapping) or isinstance(clusters, Mapping):
        raise InputError("a mapping cannot be compared by position; use part.agreement(classes)")
    indexes = [values.index for values in (classes, clusters) if hasattr(values, "to_numpy")]
    if all(is_default_index(index) for index in indexes):
        return
    if len(indexes) == 1 or not np.array_equal(*indexes):
        raise InputError(
            "a Series with an index cannot be compared by position; use part.agreement(classes), which goes "
            "by vertex id, or pass its to_numpy()"
        )


def greedy_matching(scores: Floats) -> list[tuple[int, int]]:
    """Pairs (row, column) by descending score, each row and column once; ties by position.

    >>> greedy_matching(np.array([[0, 0.9], [0.8, 0.95]]))
    [(1, 1), (0, 0)]
    """
    pairs, left = [], scores.astype(np.float64)
    for _ in range(min(scores.shape)):
        row, column = map(int, np.unravel_index(left.argmax(), left.shape))
        pairs.append((row, column))
        left[row] = left[:, column] = -np.inf
    return pairs


def best_matching(counts: Integers) -> Integers:
    """The column matched with each row, or -1: the one-to-one matching of the largest total count.

    Solved by the Hungarian method (Kuhn, 1955). Among matchings of the same total, one of the largest sum of
    Jaccard indices; a pair without a common vertex is not matched.

    >>> best_matching(np.array([[5, 4], [9, 0], [1, 1]])).tolist()
    [1, 0, -1]
    """
    from scipy.optimize import linear_sum_assignment

    unions = counts.sum(axis=1)[:, None] + counts.sum(axis=0) - counts
    ties = counts / np.maximum(unions, 1) / (min(counts.shape) + 1)  # together less than one vertex
    rows, columns = linear_sum_assignment(counts + ties, maximize=True)
    matched = np.full(len(counts), -1, dtype=np.int64)
    matched[rows] = np.where(counts[rows, columns] > 0, columns, -1)
    return matched


def _entropy(distribution: Floats) -> float:
    positive = distribution[distribution > 0]
    return float(-(positive * np.log(positive)).sum())


def _pairs(sizes: Integers) -> float:
    whole = sizes.astype(np.float64)
    return float((whole * (whole - 1) / 2).sum())
