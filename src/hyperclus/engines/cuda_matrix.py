"""A sparse matrix on a GPU: short rows in blocks of columns, long rows in pieces."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from hyperclus.engines.cuda_device import COLUMNS
from hyperclus.errors import InputError
from hyperclus.typing import Floats

SOME = 1 << 20  # entries that are looked at before all


@dataclass(frozen=True, slots=True, eq=False)
class Weigh:
    """The cluster of each column, a value of each column, and the power of the weights for the kernels."""

    labels: Any
    values: Any
    power: int
    alpha: Any  # in the precision of the vectors

    @property
    def dtype(self) -> Any:
        """The precision of the vectors."""
        return self.values.dtype

    @property
    def arguments(self) -> tuple[Any, ...]:
        """For the kernels."""
        return self.alpha, self.labels, self.values


@dataclass(frozen=True, eq=False)
class Matrix:
    """A sparse matrix on a device."""

    device: Any
    shape: tuple[int, int]
    pointers: Any  # (blocks, rows + 1): where each short row begins in each block
    starts: list[int]  # where the blocks begin among the entries of all blocks
    idx: Any
    weights: Any
    long: "LongRows | None"

    @classmethod
    def of(cls, device: Any, ptr: Any, idx: Any, weights: Any, columns: int) -> "Matrix":
        """From a CSR with ascending indices."""
        xp, rows = device.xp, len(ptr) - 1
        sizes = ptr[1:] - ptr[:-1]
        lengthy, layout = sizes > device.layout.long, device.layout
        short = max(int(len(idx) - sizes[lengthy].sum()), 1)
        count = int(min(-(-columns // layout.width), max(short / rows / layout.segment, 1)))
        count = max(count, -(-len(idx) // 2**30))  # positions in a block have 32 bits
        width = -(-columns // count)
        pointers, starts = device.block_pointers(ptr, idx, width, count)
        to_idx, to_weights = xp.empty(starts[-1], dtype=np.int32), xp.empty(starts[-1], dtype=weights.dtype)
        device.fill_blocks((ptr, idx, weights), width, pointers, starts, (to_idx, to_weights))
        long = LongRows.of(device, ptr, idx, weights, lengthy) if bool(lengthy.any()) else None
        return cls(device, (rows, columns), pointers, starts, to_idx, to_weights, long)

    @cached_property
    def blocks(self) -> list[tuple[Any, Any, Any]]:
        """Pointers, indices and weights of each block."""
        return [
            (self.pointers[number], self.idx[first:last], self.weights[first:last])
            for number, (first, last) in enumerate(pairwise(self.starts))
        ]

    def sums(self, values: Floats, power: int, alpha: float) -> Floats:
        """The weighted sum of each row, for a vector or the columns of a block."""
        if len(values) != self.shape[1]:
            raise InputError(f"{self.shape[1]} values are needed here; these have shape {values.shape}")
        if values.ndim == 2:
            table = self.device.xp.ascontiguousarray(values)
            return self.gathered(table, slice(0, self.shape[0]), power, alpha, values.dtype)
        return self._run(self.device.xp.ascontiguousarray(values), 1, power, alpha)

    def pairs(self, first: Floats, second: Floats, power: int, alpha: float) -> tuple[Floats, Floats]:
        """For each row the sum of one vector with the weights, and of another with their powers."""
        paired = self.device.xp.empty((len(first), 2), dtype=first.dtype)
        paired[:, 0], paired[:, 1] = first, second
        out = self._run(paired.ravel(), 2, power, alpha).reshape(-1, 2)
        return out[:, 0], out[:, 1]

    def least_share(
        self, out_row: Floats, out_column: Floats, in_row: Floats, in_column: Floats, power: int, alpha: float
    ) -> float:
        """The least over all entries of max(out weight^alpha, in weight)."""
        given = out_row, out_column, in_row, in_column
        least = self.device.xp.full(self.shape[0], np.inf)
        for block in self.blocks:
            self.device.least_share(block, power, alpha, given, least)
        found = float(least.min())
        return found if self.long is None else min(found, self.long.least_share(given, power, alpha))

    def constants(self) -> Floats | None:
        """The weight of each column where it is the same in all rows; None if it is not."""
        xp = self.device.xp
        found = xp.zeros(self.shape[1])
        entries = [(idx, weights) for _, idx, weights in self.blocks]
        entries += [] if self.long is None else [(self.long.idx, self.long.weights)]
        first = [(entries[0][0][:SOME], entries[0][1][:SOME])]  # these decide it most of the time
        for some in (first, entries):
            for idx, weights in some:
                found[idx] = weights
            if not all(bool((found[idx] == weights).all()) for idx, weights in some):
                return None
        return found

    def gathered(self, table: Any, rows: slice, power: int, alpha: float, dtype: Any) -> Any:
        """For some rows the weighted sums of the rows of a table; (rows, columns)."""
        xp, found = self.device.xp, []
        weigh = Weigh(None, xp.empty(0, dtype=dtype), power, np.dtype(dtype).type(alpha))
        for start in range(0, table.shape[1], COLUMNS):
            columns = slice(start, min(start + COLUMNS, table.shape[1]))
            out = xp.empty((rows.stop - rows.start, columns.stop - start), dtype=dtype)
            self.device.gather(self, rows, weigh, table, columns, out)
            long = None if self.long is None else self.long.within(rows)
            if long is not None:
                parts = xp.empty((len(long.bounds) - 1, columns.stop - start), dtype=dtype)
                self.device.gather_pieces(long, weigh, table, columns, parts)
                out[long.rows - rows.start] = long.joined(parts)
            found.append(out)
        return found[0] if len(found) == 1 else xp.hstack(found)

    def _run(self, values: Any, width: int, power: int, alpha: float) -> Any:
        out = self.device.xp.empty(self.shape[0] * width, dtype=values.dtype)
        for number, block in enumerate(self.blocks):
            self.device.sums(block, width, power, alpha, values, out, number == 0)
        if self.long is not None:
            self.long.add(values, out, width, power, alpha)
        return out


@dataclass(frozen=True, eq=False)
class LongRows:
    """Rows of many entries, each cut into pieces."""

    device: Any
    rows: Any  # their numbers
    row_of: Any  # of each entry
    idx: Any
    weights: Any
    bounds: Any  # of the pieces among the entries
    first_piece: Any  # of each row, and the total number

    @classmethod
    def of(cls, device: Any, ptr: Any, idx: Any, weights: Any, lengthy: Any) -> "LongRows":
        """The marked rows of a CSR."""
        xp = device.xp
        rows, row_of = xp.flatnonzero(lengthy), device.expanded(ptr, len(idx))
        kept = lengthy[row_of]
        taken = np.concatenate([[0], np.cumsum((ptr[rows + 1] - ptr[rows]).get())])
        piece = device.layout.piece
        counts = -(-np.diff(taken) // piece)
        first_piece = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(first_piece[-1]) - np.repeat(first_piece[:-1], counts)
        bounds = np.append(np.repeat(taken[:-1], counts) + piece * within, taken[-1])
        entries = (row_of[kept], idx[kept], weights[kept])
        return cls(device, rows, *entries, xp.asarray(bounds), xp.asarray(first_piece))

    def add(self, values: Any, out: Any, width: int, power: int, alpha: float) -> None:
        """Write the sums of these rows, which are 0 so far."""
        parts = self.device.xp.empty((len(self.bounds) - 1) * width, dtype=values.dtype)
        self.device.pieces(self, width, power, alpha, values, parts)
        self.device.join_pieces(self, width, parts, out)

    def joined(self, parts: Any) -> Any:
        """The sums of each row, given those of its pieces; (rows, columns)."""
        xp, width = self.device.xp, parts.shape[1]
        out = xp.empty((len(self.rows), width), dtype=parts.dtype)
        everyone = replace(self, rows=xp.asarray(np.arange(len(self.rows))))
        self.device.join_pieces(everyone, width, parts, out)
        return out

    def within(self, rows: slice) -> "LongRows | None":
        """The rows within a range; None if there are none."""
        numbers, pieces = self._on_host
        first, last = np.searchsorted(numbers, [rows.start, rows.stop]).tolist()
        if first == last:
            return None
        begin, end = int(pieces[first]), int(pieces[last])
        return replace(
            self,
            rows=self.rows[first:last],
            bounds=self.bounds[begin : end + 1],
            first_piece=self.first_piece[first : last + 1] - begin,
        )

    @cached_property
    def _on_host(self) -> tuple[Any, Any]:
        """The numbers of the rows, and their first pieces."""
        return self.rows.get(), self.first_piece.get()

    def least_share(self, given: tuple[Any, ...], power: int, alpha: float) -> float:
        out_row, out_column, in_row, in_column = given
        weights = self.weights.astype(np.float64)
        going = out_row[self.row_of] * out_column[self.idx] * (weights**alpha if power else 1.0)
        coming = in_row[self.row_of] * in_column[self.idx] * weights
        return float(np.maximum(going, coming).min())
