"""Flows between the vertices of a walk and all clusters in host memory, in one pass for all clusters."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from hyperclus._runtime.native import Kernel
from hyperclus._runtime.threads import in_parallel
from hyperclus.engines.arrays import NUMPY
from hyperclus.engines.base import Directions, FlowFactors
from hyperclus.typing import Floats, Incidence, Integers

_sum_clusters = Kernel(
    *("sum_clusters", "indices", "indices", "floats", "floats", "floats", "floats", "integers"),
    *("bool", "bool", "int", "int", "int", "floats"),
)
_gather_clusters = Kernel(
    *("gather_clusters", "indices", "indices", "floats", "floats", "floats", "floats"),
    *("bool", "bool", "int", "int", "int", "int", "floats", "floats"),
)


class Rows(Protocol):
    """Incidences by hyperedge and by vertex: gamma, and the source weights, which may be all 1."""

    def weights(self, by_vertex: bool) -> tuple[Incidence, Floats, bool]:
        """Gamma by one side, the source weights in the same order, and whether these are all 1."""

    def parts(self, by_vertex: bool) -> list[tuple[int, int]]:
        """The rows of each thread."""

    def between(self, labels: Any, count: int, given: FlowFactors) -> list[Any]:
        """The flows between clusters; see `IncidenceProducts`."""


@dataclass(frozen=True, eq=False)
class RowFlows:
    """`ClusterFlows` from a table with the sums of each hyperedge, of which each vertex adds rows.

    The flows of some vertices at a time are computed when they are needed.
    """

    rows: Rows
    labels: Integers
    count: int
    given: FlowFactors
    directions: Directions

    def between(self) -> list[Any]:
        """The columns of F, of F plus its transpose if the directions are summed."""
        columns = self.rows.between(self.labels, self.count, self.given)
        return list(np.array(columns) + np.array(columns).T) if self.directions == "sum" else columns

    def blocks(self) -> Iterator[tuple[slice, list[Floats]]]:
        """Slices of vertices, whose rows of flows stay in the cache."""
        gamma, picked, constant = self.rows.weights(by_vertex=True)
        both, width = self.directions != "out", self.count - 1
        given = gamma.indptr, gamma.indices, gamma.data, picked, self.given.rates, self._table(both)
        n_threads = len(self.rows.parts(by_vertex=True))
        for rows in NUMPY.row_slices(gamma.shape[0]):
            last = min(rows.stop, gamma.shape[0])
            found = [np.empty((last - rows.start, width)) for _ in range(1 + both)]
            kernel = partial(_gather_clusters, *given, constant, both, width, rows.start)
            ends = pairwise(np.linspace(rows.start, last, n_threads + 1).astype(int).tolist())
            in_parallel([partial(kernel, *some, found[0], found[-1]) for some in ends])
            yield slice(rows.start, last), [found[0] + found[1]] if self.directions == "sum" else found

    def _table(self, both: bool) -> Floats:
        """For each hyperedge the sums over its members in each cluster but the last."""
        gamma, picked, constant = self.rows.weights(by_vertex=False)
        width, labels = self.count - 1, np.ascontiguousarray(self.labels, dtype=np.int64)
        table = np.empty((gamma.shape[0], (1 + both) * width))
        given = gamma.indptr, gamma.indices, gamma.data, picked, self.given.rates, self.given.shares, labels
        kernel = partial(_sum_clusters, *given, constant, both, width)
        in_parallel([partial(kernel, *some, table) for some in self.rows.parts(by_vertex=False)])
        return table
