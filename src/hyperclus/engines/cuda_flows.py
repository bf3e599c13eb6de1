"""Flows between the vertices of a walk and all clusters on a GPU, in one pass for all clusters.

The sums over the members of each hyperedge in each cluster are a table with a row for each hyperedge. The
flows between clusters are a product of two such tables, computed for some hyperedges at a time. The flows
between vertices and clusters are sums of rows of the tables, which then are whole, or some columns at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus.engines.base import Directions, FlowFactors
from hyperclus.engines.cuda_matrix import LongRows, Matrix, Weigh
from hyperclus.typing import Floats, Integers

OF_FREE = 0.75  # of the free memory, that tables may take
ROWS = 1 << 21  # vertices whose flows are returned together


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Tables for the sums of the weights and of their powers, either may be None, from a cluster on."""

    tables: tuple[Any, Any]
    first: int
    scale: Any = None  # a factor of each row: of the weights, or of the powers if they are alone

    @property
    def columns(self) -> int:
        """The number of clusters."""
        table = self.tables[0] if self.tables[1] is None else self.tables[1]
        return int(table.shape[1])

    @property
    def arguments(self) -> tuple[Any, ...]:
        """For the kernels; a table that is left out is a null pointer."""
        tables = [np.intp(0) if table is None else table for table in self.tables]
        return np.int32(self.first), np.int32(self.columns), *tables


@dataclass(frozen=True, eq=False)
class CudaClusterFlows:
    """Flows between each vertex and each cluster 0 .. count - 1; see `ClusterFlows`."""

    by_edge: Matrix
    by_vertex: Matrix
    power: tuple[int, float]  # of the source weights
    labels: Integers
    count: int
    given: FlowFactors
    directions: Directions = "out"

    def between(self) -> list[Any]:
        """The columns of F, by products of the tables of some hyperedges at a time."""
        xp, dtype = self.by_edge.device.xp, self.given.phi.dtype
        weigh, total = self._weigh(), xp.zeros((self.count, self.count), dtype=np.float64)
        step = max(self.by_edge.device.layout.table // (self.count * dtype.itemsize), 1)
        for first in range(0, self.by_edge.shape[0], step):
            rows = slice(first, min(first + step, self.by_edge.shape[0]))
            tables = tuple(xp.zeros((rows.stop - first, self.count), dtype=dtype) for _ in range(2))
            self._add_short(rows, weigh, Target(tables, 0, self.given.shares[rows]))
            total += tables[1].T @ tables[0]
        if self.by_edge.long is not None:
            gammas, sources = self._long(self.by_edge.long, weigh, (True, True), 0, self.count, dtype)
            gammas *= self.given.shares[self.by_edge.long.rows][:, None]
            total += sources.T @ gammas
        if self.directions == "sum":
            total = total + total.T
        return list(total.T)

    def blocks(self) -> Iterator[tuple[slice, list[Floats]]]:
        """Slices of vertices and their flows; some columns at a time where memory is short."""
        width, n = self.count - 1, self.by_vertex.shape[0]
        dtype, columns, rows = self._plan()
        tables: list[Any] = []
        for first in range(0, n, rows):
            some = slice(first, min(first + rows, n))
            found: list[list[Any]] = [[] for _ in range(self._ways)]
            for start in range(0, width, columns):
                if columns < width or not tables:
                    tables.clear()
                    tables += self._tables(start, min(start + columns, width), dtype)
                for number, parts in enumerate(found):
                    parts.append(self._gathered(tables[number], some, number))
            blocks = [parts[0] if len(parts) == 1 else np.hstack(parts) for parts in found]
            del found, parts
            if self.directions == "sum":
                blocks = [blocks[0] + blocks[1]]
            for inner in range(first, some.stop, ROWS):
                part = slice(inner, min(inner + ROWS, some.stop))
                yield part, [block[part.start - first : part.stop - first] for block in blocks]

    @property
    def _ways(self) -> int:
        return 1 if self.directions == "out" else 2

    def _plan(self) -> tuple[Any, int, int]:
        """The precision and the columns of the tables, and how many vertices to treat together.

        Where memory is short, tables are in single precision: gains only propose moves. Where that is not
        enough, they have fewer columns, and are computed again for each group of vertices.
        """
        device, width, item = self.by_edge.device, self.count - 1, self.given.phi.dtype.itemsize
        device.free()
        each = 4 * item * self._ways * width * ROWS  # what the vertices of a slice take
        room = OF_FREE * device.bytes_free() - each
        column = self._ways * self.by_edge.shape[0]
        if column * width * item <= room:
            return self.given.phi.dtype, width, ROWS
        if column * width * 4 <= room:
            return np.dtype(np.float32), width, ROWS
        columns = int(max(room / 2 / (4 * column), 1))
        rows = int(room / 2 / (3 * item * self._ways * width)) // ROWS
        return np.dtype(np.float32), min(columns, width), ROWS * max(rows, 1)

    def _weigh(self) -> Weigh:
        power, alpha = self.power
        return Weigh(self.labels.astype(np.int32), self.given.rates, power, self.given.phi.dtype.type(alpha))

    def _tables(self, first: int, last: int, dtype: Any) -> list[Any]:
        """The scaled sums of gamma, and those of the source weights if flows back are needed."""
        found, rows, weigh = [], slice(0, self.by_edge.shape[0]), self._weigh()
        for kind in range(self._ways):
            table = self.by_edge.device.xp.zeros((rows.stop, last - first), dtype=dtype)
            wanted = (table, None) if kind == 0 else (None, table)
            self._add_short(rows, weigh, Target(wanted, first, self.given.shares))
            if self.by_edge.long is not None:
                chosen = kind == 0, kind == 1
                sums = self._long(self.by_edge.long, weigh, chosen, first, last - first, dtype)[kind]
                long = self.by_edge.long.rows
                table[long] = sums * self.given.shares[long].astype(dtype)[:, None]
            found.append(table)
        return found

    def _add_short(self, rows: slice, weigh: Weigh, to: Target) -> None:
        """Add the entries of short rows."""
        for pointers, idx, weights in self.by_edge.blocks:
            block = pointers[rows.start : rows.stop + 1], idx, weights
            self.by_edge.device.cluster_sums(block, weigh, to)

    def _long(
        self, long: LongRows, weigh: Weigh, wanted: tuple[bool, bool], first: int, columns: int, dtype: Any
    ) -> list[Any]:
        """The sums of long rows, not scaled."""
        device, pieces = self.by_edge.device, len(long.bounds) - 1
        parts = [device.xp.empty((pieces, columns), dtype=dtype) if one else None for one in wanted]
        device.cluster_pieces(long, weigh, Target((parts[0], parts[1]), first))
        return [None if part is None else long.joined(part) for part in parts]

    def _gathered(self, table: Any, rows: slice, kind: int) -> Floats:
        """Flows of some vertices to the clusters of a table, or from them."""
        power = self.power if kind == 0 else (1, 1.0)
        flows = self.by_vertex.gathered(table, rows, *power, self.given.phi.dtype)
        if kind == 0:
            flows *= self.given.rates[rows][:, None]
        return flows
