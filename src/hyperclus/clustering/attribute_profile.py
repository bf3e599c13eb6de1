"""Which attributes tell a cluster: those whose mean inside differs most from the mean of all vertices."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from hyperclus.clustering.description import TopAttributes
from hyperclus.hypergraph.neighbors import is_sparse
from hyperclus.io.attributes import Attributes
from hyperclus.typing import Integers


def top_attributes(
    attributes: Attributes, labels: Integers, names: Sequence[str | int], n: int
) -> tuple[TopAttributes, ...]:
    """The `n` top attributes of each cluster; labels are -1 for vertices in no cluster."""
    inside = attributes.present & (labels >= 0)
    values, homes = attributes.values[np.flatnonzero(inside)], labels[inside]
    k, total = len(names), max(len(homes), 1)
    sizes = np.maximum(np.bincount(homes, minlength=k), 1)
    members = sp.csr_array((np.ones(len(homes)), (homes, np.arange(len(homes)))), shape=(k, len(homes)))
    sums = members @ values
    means = np.asarray(sums.toarray() if is_sparse(sums) else sums) / sizes[:, None]
    overall = np.asarray(values.sum(axis=0)).ravel() / total
    squares = np.asarray((values * values).sum(axis=0)).ravel() / total
    deviation = np.sqrt(np.maximum(squares - np.square(overall), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(deviation > 0, (means - overall) / deviation, 0.0)
    found = []
    for name, mean, score in zip(names, means, scores, strict=True):
        best = np.argsort(-np.abs(score), kind="stable")[:n]
        best = best[np.abs(score[best]) > 0]
        found.append(TopAttributes(name, attributes.names[best], mean[best], overall[best], score[best]))
    return tuple(found)
