"""Codes for the ids of a column that is read in batches: 0, 1, ... in order of first appearance."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.arrays import index_type, read_only
from hyperclus._runtime.optional import arrow
from hyperclus.errors import InputError, prefixed
from hyperclus.hypergraph.messages import shown
from hyperclus.io.shared import LOWEST_INTEGER, PLAIN_INTEGER
from hyperclus.io.tables.arrow_arrays import from_integers, to_numbers
from hyperclus.io.tables.table import Table
from hyperclus.io.tables.text_table import TextTable
from hyperclus.typing import Codes, Ids, Integers

FILL = InputError("fill it or leave the row out")
INTEGER = rf"\A({PLAIN_INTEGER})\z"  # for PyArrow; see `_integers`
ALL = slice(None)
WAIT = 2  # ids that wait for each known one


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The hyperedge of each row of a table, run-length encoded where that takes less memory."""

    codes: Codes  # the hyperedge of each run
    starts: Codes | None  # the first row of each run; None if every row is a run
    n_rows: int

    @classmethod
    def of(cls, codes: Codes) -> "Runs":
        """Encode the codes of all rows."""
        starts = _run_starts(codes)
        short = 2 * len(starts) <= len(codes)
        return cls(codes[starts], starts, len(codes)) if short else cls(codes, None, len(codes))

    @classmethod
    def joined(cls, pieces: list["Runs"]) -> "Runs":
        """Concatenate the rows of all pieces."""
        n_rows, n_runs = sum(piece.n_rows for piece in pieces), sum(len(piece.codes) for piece in pieces)
        short = 2 * n_runs <= n_rows
        codes = np.empty(n_runs if short else n_rows, dtype=np.int32)
        starts = np.empty(n_runs, dtype=index_type(n_rows)) if short else None
        row = run = 0
        for piece in pieces:
            if starts is None:
                codes[row : row + piece.n_rows] = piece.by_row()
            else:
                runs = slice(run, run + len(piece.codes))
                codes[runs] = piece.codes
                starts[runs] = np.arange(piece.n_rows) if piece.starts is None else piece.starts
                starts[runs] += row
            row, run = row + piece.n_rows, run + len(piece.codes)
        return cls(codes, starts, n_rows)

    def between(self, start: int, stop: int) -> "Runs":
        """Select the rows from `start` up to `stop`."""
        if self.starts is None or start == stop:
            return Runs(self.codes[start:stop], None, stop - start)
        kind = self.starts.dtype.type  # with another type, searchsorted would convert all starts
        first = int(np.searchsorted(self.starts, kind(start), side="right")) - 1
        last = int(np.searchsorted(self.starts, kind(stop), side="left"))
        starts = np.maximum(self.starts[first:last], start) - start
        return Runs(self.codes[first:last], starts, stop - start)

    def sizes(self) -> Integers:
        """Return the number of rows in each run."""
        if self.starts is None:
            return np.ones(self.n_rows, dtype=np.int64)
        return np.diff(self.starts, append=self.n_rows).astype(np.int64, copy=False)

    def counts(self, n_edges: int) -> Integers:
        """Return the number of rows of each hyperedge."""
        if self.starts is None:
            return np.bincount(self.codes, minlength=n_edges)
        counts = np.zeros(n_edges, dtype=np.int64)
        np.add.at(counts, self.codes, self.sizes())
        return counts

    def by_row(self) -> Codes:
        """Return the code of every row."""
        return self.codes if self.starts is None else np.repeat(self.codes, self.sizes())

    def slots(self, free: Integers) -> Integers | slice:
        """Assign each row the next free slot of its hyperedge in CSR order; `free` is updated."""
        codes, sizes = self.codes, self.sizes()
        if (codes[1:] > codes[:-1]).all():
            first = free[codes]
            free[codes] += sizes
        else:  # several runs may be of one hyperedge
            order = np.argsort(codes, kind="stable")
            ordered, lengths = codes[order], sizes[order]
            before, starts = np.cumsum(lengths) - lengths, _run_starts(ordered)
            edges, counts = ordered[starts], np.diff(starts, append=len(codes))
            first = np.empty(len(codes), dtype=np.int64)
            first[order] = before + np.repeat(free[edges] - before[starts], counts)
            free[edges] += np.add.reduceat(lengths, starts)
        if self.starts is None:
            return first
        offsets = first - self.starts
        if (offsets == offsets[0]).all():
            return slice(int(offsets[0]), int(offsets[0]) + self.n_rows)
        return np.arange(self.n_rows) + np.repeat(offsets, sizes)


class IdEncoder:
    """Encodes a column of ids, batch by batch; `guess` converts text to integers if every id is one.

    Integers within a small range are encoded with a lookup table, and text with a hash table. PyArrow hashes
    other integers, and each time the known ones again, so batches wait until they have `WAIT` times as many
    ids as are known, or `tuning.waiting` bytes.
    """

    def __init__(self, source: Table, column: str, guess: bool, remedy: InputError = FILL) -> None:
        self.column, self._remedy = column, remedy  # for a missing id
        self._source, self._guess = source, guess and source.text
        self._known: Any = None
        self._lookup: _LookupTable | None = None
        self._texts: TextTable | None = None
        self._waiting: list[tuple[Any, Codes, Any]] = []  # ids, and where their codes will be stored

    def runs(self, values: Any, row: int) -> Runs:
        """Encode a batch like `store`, but only the first of equal neighbours."""
        values = self._typed(values, row)
        keys = values.indices if arrow().types.is_dictionary(values.type) else values
        n_rows = len(values)
        starts = _run_starts(to_numbers(keys)) if arrow().types.is_integer(keys.type) else _text_starts(keys)
        short = 2 * len(starts) <= n_rows
        if short:
            values = values.take(from_integers(starts))
        codes = np.empty(len(values), dtype=np.int32)
        self.store(values, row, codes)
        return Runs(codes, starts if short else None, n_rows)

    def codes(self, values: Any, row: int) -> Codes:
        """Encode a batch that begins with this row; a missing value is an `InputError`."""
        codes = np.empty(len(values), dtype=np.int32)
        self.store(values, row, codes)
        self._finish()
        return codes

    def store(self, values: Any, row: int, target: Codes, slots: Integers | slice = ALL) -> None:
        """Store the codes of a batch in `target[slots]`, at the latest when `ids` is called."""
        values = self._typed(values, row)
        if arrow().types.is_dictionary(values.type):
            target[slots] = self._codes_of_dictionary(values, row)
            return
        if self._known is None:
            self._known = values.slice(0, 0)
        if self._known.type != values.type:
            raise self._fault("ids are integers in some files and text in others; use one type", row)
        if not len(values):
            return
        codes = self._codes_by_table(values)
        if codes is not None:
            target[slots] = codes
            return
        self._source.large_batches = True
        self._waiting.append((values, target, slots))
        arrays = [waiting for waiting, _, _ in self._waiting]
        enough = sum(map(len, arrays)) >= WAIT * len(self._known)
        if enough or sum(array.nbytes for array in arrays) >= self._source.tuning.waiting:
            self._finish()

    def _codes_by_table(self, values: Any) -> Codes | None:
        """The codes of text, or of integers within a small range; None for others."""
        if arrow().types.is_large_string(values.type):
            if self._texts is None:
                self._texts = TextTable()
                self._texts.codes(self._known)
            return self._texts.codes(values)
        codes = None
        if self._lookup or not len(self._known):
            if self._lookup is None:
                longest = max(self._source.tuning.span, self._source.size // 8)
                self._lookup = _LookupTable(values[0].as_py(), longest)
            codes = self._lookup.codes(to_numbers(values))
            if codes is None:
                self._known, self._lookup = from_integers(self._lookup.ids()), None
        return codes

    def _finish(self) -> None:
        """Encode the batches that wait."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            arrays = [self._known, *(values for values, _, _ in waiting)]
            encoded = arrow().chunked_array(arrays).dictionary_encode()
            chunks = encoded.chunks[-len(waiting) :]  # PyArrow leaves out an empty first chunk
            self._known = chunks[-1].dictionary
            for (_, target, slots), chunk in zip(waiting, chunks, strict=True):
                target[slots] = chunk.indices.to_numpy()

    def ids(self) -> Ids:
        """Return the ids in the order of their codes."""
        self._finish()
        if self._lookup is not None:
            return read_only(self._lookup.ids())
        if self._texts is not None:
            self._known, self._texts = self._texts.texts(), None
        if self._known is None:
            return np.empty(0, dtype=np.int64 if self._guess else object)
        return read_only(self._known.to_numpy(zero_copy_only=False))

    def _codes_of_dictionary(self, values: Any, row: int) -> Codes:
        """Encode only the distinct values of a dictionary array, in order of first appearance."""
        indices = to_numbers(values.indices)
        first = np.full(len(values.dictionary), len(indices))
        first[indices[::-1]] = np.arange(len(indices))[::-1]  # backwards, so that the first row stays
        used = np.flatnonzero(first < len(indices))
        used = used[np.argsort(first[used])]
        codes = np.empty(len(first), dtype=np.int32)
        codes[used] = self.codes(values.dictionary.take(from_integers(used)), row)
        return np.asarray(codes[indices])

    def _typed(self, values: Any, row: int) -> Any:
        """Convert to int64 or text, unless it is a dictionary; other types and nulls are an `InputError`."""
        pa, kind = arrow(), values.type
        if values.null_count:
            first = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
            raise self._fault(prefixed("the value is missing; ", self._remedy), row + first)
        if pa.types.is_dictionary(kind):
            return values
        if pa.types.is_null(kind):  # nothing is left of a column without any value
            return values.cast(pa.large_string())
        if pa.types.is_integer(kind):
            try:
                return values if kind == pa.int64() else values.cast(pa.int64())
            except pa.ArrowInvalid:
                raise self._fault("an id from here on is too large for 64 bits; use text", row) from None
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            if self._guess and (numbers := _integers(values)) is not None:
                return numbers
            text = values.cast(pa.large_string())
            if self._guess and self._known is not None:  # all ids before looked like integers
                self._known, self._lookup = pa.array(self.ids()).cast(text.type), None
            self._guess = False
            return text
        problem = f"an id must be an integer or text, not {shown(str(kind))}"
        raise self._fault(f"{problem}; convert the column", row)

    def _fault(self, message: str | InputError, row: int) -> InputError:
        return self._source.fault(prefixed(f"column {shown(self.column)}: ", message), row)


def read_ids(source: Table, name: str, guess: bool) -> tuple[Codes, Ids]:
    """Read a column of ids: the code of each row and the ids; a missing id is an `InputError`."""
    encoder = IdEncoder(source, name, guess)
    codes = [encoder.codes(values, row) for row, (values,) in source.numbered_batches([name])]
    return np.concatenate([np.empty(0, dtype=np.int32), *codes]), encoder.ids()


class _LookupTable:
    """Codes of integers, stored at position integer - lowest; -1 where there is none."""

    def __init__(self, some: int, longest: int) -> None:
        self._low, self._codes, self._count = some, np.full(1, -1, dtype=np.int32), 0
        self._longest, self._ids = longest, [np.empty(0, dtype=np.int64)]

    def codes(self, values: Integers) -> Codes | None:
        """Encode a batch; None, without any change, if the table would become too long."""
        if not self._extend(int(values.min()), int(values.max()) + 1):
            return None
        positions = values - self._low if self._low else values
        codes = self._codes.take(positions, mode="clip")  # none is outside; "clip" saves the check
        if codes.min() < 0:
            new = np.flatnonzero(codes < 0)
            codes[new] = self._add(positions[new])
        return codes

    def _extend(self, low: int, high: int) -> bool:
        """Cover a range, with spare room so that this is rare; False if the table would become too long."""
        end = self._low + len(self._codes)
        below, above = min(low, self._low), max(high, end)
        room = min(len(self._codes) // 2, self._longest - (above - below))
        if room < 0:
            return False
        if (below, above) != (self._low, end):
            if below < self._low:
                below = max(below - room, LOWEST_INTEGER)
            else:
                above += room
            longer = np.full(above - below, -1, dtype=np.int32)
            longer[self._low - below :][: len(self._codes)] = self._codes
            self._low, self._codes = below, longer
        return True

    def _add(self, positions: Integers) -> Codes:
        """Give codes to positions without one, in order of first appearance."""
        order = np.arange(len(positions), dtype=np.int32)
        self._codes[positions[::-1]] = order[::-1]  # backwards, so that the first one stays
        new = positions[self._codes[positions] == order]
        self._codes[new] = np.arange(self._count, self._count + len(new))
        self._ids.append(new + self._low)
        self._count += len(new)
        return self._codes[positions]

    def ids(self) -> Integers:
        """Return the integers in the order of their codes."""
        return np.concatenate(self._ids)


def _integers(text: Any) -> Any:
    """Convert text to int64; None unless all of it would be the same if it were converted back."""
    pa = arrow()
    _, offsets, data = text.buffers()
    width = np.int32 if pa.types.is_string(text.type) else np.int64
    if data is None or pa.types.is_string_view(text.type):
        return None
    ends = np.frombuffer(offsets, dtype=width)[text.offset : text.offset + len(text) + 1]
    signs, starts = np.frombuffer(data, dtype=np.uint8)[: ends[-1]], ends[:-1]
    inside = signs[ends[0] :]
    if not len(inside) or inside.min() < ord("-") or inside.max() > ord("9"):
        return None
    try:
        numbers = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    first, lengths = signs[starts], np.diff(ends)
    negative = starts[first == ord("-")]
    padded = ((first == ord("0")) & (lengths > 1)).any() or (signs[negative + 1] == ord("0")).any()
    return None if padded else numbers


def _run_starts(values: Integers | Codes) -> Codes:
    """Return the positions of integers that differ from the one before."""
    changed = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return np.flatnonzero(changed).astype(np.int32)


def _text_starts(values: Any) -> Codes:
    """Return the positions of texts of a PyArrow array that differ from the one before."""
    changed = np.ones(len(values), dtype=bool)
    differ = arrow("pyarrow.compute").not_equal(values[1:], values[:-1])
    changed[1:] = differ.to_numpy(zero_copy_only=False)
    return np.flatnonzero(changed).astype(np.int32)
