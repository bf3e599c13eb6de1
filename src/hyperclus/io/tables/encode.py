"""A hypergraph from a table that comes in batches, in little more memory than the hypergraph itself takes.

First the hyperedges are read: a code for each row, and how many members each hyperedge has. Then vertices
and weights go straight to their places in the incidence matrix. Every column is read once, and beside the
matrix (12 bytes per incidence) only the codes of the hyperedges, the ids and one batch are held. The codes
take 4 bytes per row, or 8 for each run of rows in the same hyperedge where that is less.
"""

import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import index_type, read_only, take
from hyperclus._runtime.optional import library
from hyperclus._runtime.progress import report_progress
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import id_array, positions
from hyperclus.hypergraph.incidence import canonical
from hyperclus.hypergraph.messages import shown
from hyperclus.typing import AbsencePolicy, Codes, DuplicatePolicy, Floats, Ids, Incidence, Integers

SPAN = 1 << 22  # integers within it, or within an eighth of the size, are looked up in a table
LOWEST = -(1 << 63)  # of the integers that are ids
RELEASE = 1 << 20  # rows of small batches after which PyArrow gives unused memory back, as that takes time
PASS = 0.45  # of the time that reading takes
WHOLE = r"\A(0|-?[1-9][0-9]{0,18})\z"  # text that comes back when it is read as an integer and shown again


class Source(Protocol):
    """A table in batches that can be gone through more than once."""

    text: bool  # whether it knows nothing but text, so that numbers have to be told from it
    unit: str  # what its size and its place are counted in
    size: int
    place: int  # how far a pass over the batches has come
    decimal: str  # of the weights in text, a point or a comma
    large: bool  # set during a pass: few batches, please, as each costs some work for every id known before

    def batches(self, columns: list[str]) -> Generator[list[Any], None, None]:
        """Some of its columns, batch by batch, as PyArrow arrays of equal length."""

    def fault(self, message: str | InputError, row: int | None = None) -> InputError:
        """An error that names the file and where in it this row (from 0) is."""


def arrow(module: str = "pyarrow") -> Any:
    """PyArrow or one of its modules."""
    return library(module, "PyArrow", "reading long tables and writing Parquet", "files")


def assemble(
    source: Source,
    vertex: str,
    edge: str,
    weight: str | None,
    edge_weight: str | None,
    *,
    guess: bool,
    vertex_ids: Iterable[Any] | None,
    edge_ids: Iterable[Any] | None,
    duplicates: DuplicatePolicy,
    isolated: AbsencePolicy,
    empty_edges: AbsencePolicy,
) -> Hypergraph:
    """The hypergraph of a long table; without a column of weights they are 1.

    `guess`: text is read as integers where every id of the column is one. The other arguments are those
    of `Hypergraph.from_long`.
    """
    known_edges = None if edge_ids is None else id_array(edge_ids, "edge")
    known_vertices = None if vertex_ids is None else id_array(vertex_ids, "vertex")
    numbering = Numbering(source, edge, guess)
    with _rows(source, [edge], 0) as rows:
        inside = Runs.joined([numbering.runs(column, row) for row, (column,) in rows])
    edges, n_rows = numbering.ids(), inside.n_rows
    if not n_rows:
        raise source.fault("the table has no rows; a hypergraph needs at least one vertex in one hyperedge")
    if known_edges is not None:
        with _told(source):
            place = positions(edges, known_edges, "edge")
        inside, edges = Runs(take(place, inside.codes), inside.heads, n_rows), known_edges

    numbering = Numbering(source, vertex, guess)
    kind = index_type(max(n_rows, len(edges), 0 if known_vertices is None else len(known_vertices)))
    (gamma, indices, indptr), omega = _filled(source, weight, edge_weight, inside, edges, numbering, kind)
    del inside
    vertices = numbering.ids()
    with _told(source):
        if known_vertices is not None:
            place = positions(vertices, known_vertices, "vertex").astype(kind)
            indices, vertices = take(place, indices), known_vertices
        matrix: Incidence = sp.csr_array((gamma, indices, indptr), shape=(len(edges), len(vertices)))
        del numbering, gamma, indices, indptr
        matrix = canonical(matrix, edges, vertices, duplicates)
        if known_vertices is None and matrix.nnz == n_rows:
            isolated = "keep"  # every row has made a member, so there are none
        hypergraph = Hypergraph.from_canonical(matrix, edges, vertices, omega, isolated, empty_edges)
    report_progress("reading", source.size, source.unit, 1.0, f"{hypergraph.n_incidences:,} incidences")
    return hypergraph


def _filled(
    source: Source,
    weight: str | None,
    edge_weight: str | None,
    inside: "Runs",
    edges: Ids,
    vertices: "Numbering",
    kind: type[np.signedinteger[Any]],
) -> tuple[tuple[Floats, Codes, Codes], Floats | None]:
    """The parts of gamma in CSR, not yet sorted, and omega; `inside` has the hyperedges of the rows."""
    n_rows = inside.n_rows
    indptr = np.zeros(len(edges) + 1, dtype=kind)
    np.cumsum(inside.counts(len(edges)), out=indptr[1:])
    free = indptr[:-1].astype(np.int64)
    indices = np.empty(n_rows, dtype=kind)
    gamma = np.ones(n_rows) if weight is None else np.empty(n_rows)
    omega = None if edge_weight is None else np.full(len(edges), np.nan)
    read = 0
    with _rows(source, [vertices.column, *filter(None, [weight, edge_weight])], 1) as rows:
        for row, (column, *numbers) in rows:
            read = row + len(column)
            if read > n_rows:
                break
            runs = inside.between(row, read)
            places = _places(runs, free)
            indices[places] = vertices.codes(column, row)
            if weight is not None:
                gamma[places] = _weights(source, weight, numbers[0], row)
            if omega is not None and edge_weight is not None:
                weights = _weights(source, edge_weight, numbers[-1], row)
                _note(source, edge_weight, omega, runs, weights, edges, row)
    if read != n_rows:
        raise source.fault("the file changed while it was read; read it again")
    if omega is not None:
        omega[np.isnan(omega)] = 1.0  # hyperedges that only `edge_ids` names
    return (gamma, indices, indptr), omega


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The hyperedges of rows that follow one another.

    Attributes
    ----------
    codes : (n_runs,) integers
        The hyperedge of each run.
    heads : (n_runs,) integers, or None
        The first row of each run, from 0; None where every row is a run of its own.
    n_rows : int
    """

    codes: Codes
    heads: Codes | None
    n_rows: int

    @classmethod
    def of(cls, codes: Codes) -> "Runs":
        """Of a code for each row, in the form that takes less memory."""
        heads = _heads(codes)
        short = 2 * len(heads) <= len(codes)
        return cls(codes[heads], heads, len(codes)) if short else cls(codes, None, len(codes))

    @classmethod
    def joined(cls, pieces: list["Runs"]) -> "Runs":
        """The rows of all pieces, in the form that takes less memory."""
        n_rows, n_runs = sum(piece.n_rows for piece in pieces), sum(len(piece.codes) for piece in pieces)
        short = 2 * n_runs <= n_rows
        codes = np.empty(n_runs if short else n_rows, dtype=np.int32)
        heads = np.empty(n_runs, dtype=index_type(n_rows)) if short else None
        row = run = 0
        for piece in pieces:
            if heads is None:
                codes[row : row + piece.n_rows] = piece.by_row()
            else:
                runs = slice(run, run + len(piece.codes))
                codes[runs] = piece.codes
                heads[runs] = np.arange(piece.n_rows) if piece.heads is None else piece.heads
                heads[runs] += row
            row, run = row + piece.n_rows, run + len(piece.codes)
        return cls(codes, heads, n_rows)

    def between(self, start: int, stop: int) -> "Runs":
        """Those of some rows, which are counted anew."""
        if self.heads is None or start == stop:
            return Runs(self.codes[start:stop], None, stop - start)
        kind = self.heads.dtype.type  # of another type, all heads would be converted
        first = int(np.searchsorted(self.heads, kind(start), side="right")) - 1
        last = int(np.searchsorted(self.heads, kind(stop), side="left"))
        heads = np.maximum(self.heads[first:last], start) - start
        return Runs(self.codes[first:last], heads, stop - start)

    def sizes(self) -> Integers:
        """The number of rows in each run."""
        if self.heads is None:
            return np.ones(self.n_rows, dtype=np.int64)
        return np.diff(self.heads, append=self.n_rows).astype(np.int64, copy=False)

    def counts(self, n_edges: int) -> Integers:
        """The number of rows of each hyperedge."""
        if self.heads is None:
            return np.bincount(self.codes, minlength=n_edges)
        counts = np.zeros(n_edges, dtype=np.int64)
        np.add.at(counts, self.codes, self.sizes())
        return counts

    def by_row(self) -> Codes:
        """The code of every row."""
        return self.codes if self.heads is None else np.repeat(self.codes, self.sizes())


class Numbering:
    """Gives the ids of a column codes in order of first appearance, batch by batch.

    Integers that lie close together are looked up in a table; other ids PyArrow hashes, the known ones
    anew with each batch, so batches should be few.
    """

    def __init__(self, source: Source, column: str, guess: bool) -> None:
        self.column = column
        self._source, self._guess = source, guess
        self._known: Any = None
        self._table: _Table | None = None

    def runs(self, column: Any, row: int) -> Runs:
        """The codes of a batch, as `codes` gives them; of equal neighbours only the first is numbered."""
        keys = column.indices if arrow().types.is_dictionary(column.type) else column
        if not column.null_count and arrow().types.is_integer(keys.type):
            heads = _heads(keys.to_numpy())
            if 2 * len(heads) <= len(column):
                return Runs(self.codes(column.take(arrow().array(heads)), row), heads, len(column))
        return Runs.of(self.codes(column, row))

    def codes(self, column: Any, row: int) -> Codes:
        """A code for each value of a batch that begins with this row; a missing value is an error."""
        if column.null_count:
            first = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise self._fault("the value is missing; fill it or leave the row out", row + first)
        if arrow().types.is_dictionary(column.type):
            return self._from_dictionary(column, row)
        values = self._typed(column, row)
        if self._known is None:
            self._known = values.slice(0, 0)
        if self._known.type != values.type:
            raise self._fault("ids are integers in some files and text in others; make them one", row)
        if not len(values):
            return np.empty(0, dtype=np.int32)
        if arrow().types.is_integer(values.type) and (self._table or not len(self._known)):
            self._table = self._table or _Table(values[0].as_py(), max(SPAN, self._source.size // 8))
            codes = self._table.codes(values.to_numpy())
            if codes is not None:
                return codes
            self._known, self._table = arrow().array(self._table.ids()), None
        self._source.large = True
        encoded = arrow().chunked_array([self._known, values]).dictionary_encode()
        encoded = encoded.chunk(encoded.num_chunks - 1)  # an empty one was left out
        self._known = encoded.dictionary
        return np.asarray(encoded.indices.to_numpy(), dtype=np.int32)

    def ids(self) -> Ids:
        """The ids in the order of their codes."""
        if self._table is not None:
            return read_only(self._table.ids())
        pa = arrow()
        known = pa.array([], pa.int64()) if self._known is None else self._known
        if self._guess and arrow("pyarrow.compute").match_substring_regex(known, WHOLE).false_count == 0:
            with suppress(pa.ArrowInvalid):  # beyond 64 bits they stay text
                known = known.cast(pa.int64())
        return read_only(known.to_numpy(zero_copy_only=False))

    def _from_dictionary(self, column: Any, row: int) -> Codes:
        """Of a batch with few different values: only these are numbered, as they appear."""
        used, first, inside = np.unique(column.indices.to_numpy(), return_index=True, return_inverse=True)
        order = np.argsort(first)
        codes = self.codes(column.dictionary.take(arrow().array(used[order])), row)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return codes[rank[inside]]

    def _typed(self, column: Any, row: int) -> Any:
        """The column as int64 or text; anything else is refused."""
        pa = arrow()
        if pa.types.is_integer(column.type):
            try:
                return column.cast(pa.int64())
            except pa.ArrowInvalid:
                raise self._fault("an id from here on is too large for 64 bits; use text", row) from None
        is_text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
        if any(check(column.type) for check in is_text):
            return column.cast(pa.large_string())
        raise self._fault(
            f"an id must be an integer or text, not {shown(str(column.type))}; convert the column", row
        )

    def _fault(self, message: str, row: int) -> InputError:
        return self._source.fault(f"column {shown(self.column)}: {message}", row)


class _Table:
    """Codes of integers by position, from the lowest of them on; -1 where there is none."""

    def __init__(self, some: int, limit: int) -> None:
        self._low, self._codes, self._count = some, np.full(1, -1, dtype=np.int32), 0
        self._limit, self._ids = limit, [np.empty(0, dtype=np.int64)]

    def codes(self, values: Integers) -> Codes | None:
        """The codes of a batch; None, and nothing is noted, where the table would become too long."""
        low, high = int(values.min()), int(values.max()) + 1
        if not self._reaches(low, high):
            return None
        places = values - self._low if self._low else values
        codes = self._codes.take(places, mode="clip")  # all lie within; only "raise" would check it
        if codes.min() < 0:
            new = np.flatnonzero(codes < 0)
            codes[new] = self._numbered(places[new])
        return codes

    def _reaches(self, low: int, high: int) -> bool:
        """Make the table long enough, with some room so that it seldom grows; False: it would be too long."""
        end = self._low + len(self._codes)
        below, above = min(low, self._low), max(high, end)
        room = min(len(self._codes) // 2, self._limit - (above - below))
        if room < 0:
            return False
        if (below, above) != (self._low, end):
            if below < self._low:
                below = max(below - room, LOWEST)
            else:
                above += room
            longer = np.full(above - below, -1, dtype=np.int32)
            longer[self._low - below :][: len(self._codes)] = self._codes
            self._low, self._codes = below, longer
        return True

    def _numbered(self, places: Integers) -> Codes:
        """The codes at places that have none yet, by first appearance."""
        order = np.arange(len(places), dtype=np.int32)
        self._codes[places[::-1]] = order[::-1]  # backwards: the first one wins
        fresh = places[self._codes[places] == order]
        self._codes[fresh] = np.arange(self._count, self._count + len(fresh))
        self._ids.append(fresh + self._low)
        self._count += len(fresh)
        return self._codes[places]

    def ids(self) -> Integers:
        """The integers in the order of their codes."""
        return np.concatenate(self._ids)


@contextmanager
def _told(source: Source) -> Iterator[None]:
    """Puts the name of the file into errors that do not know of it."""
    try:
        yield
    except InputError as error:
        raise source.fault(error) from None


def _heads(values: Integers | Codes) -> Codes:
    """Where a value is not the one before it."""
    changed = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return np.flatnonzero(changed).astype(np.int32)


@contextmanager
def _rows(source: Source, columns: list[str], before: int) -> Iterator[Iterator[tuple[int, list[Any]]]]:
    """Each batch with its first row; the file is closed at the end, whatever happens.

    Tells how far the reading is, with `before` of two passes done.
    """

    def numbered(batches: Iterator[list[Any]]) -> Generator[tuple[int, list[Any]], None, None]:
        row, released, pool = 0, 0, arrow().default_memory_pool()
        for batch in batches:
            yield row, batch
            row += len(batch[0])
            share = PASS * (before + min(source.place / max(source.size, 1), 1.0))
            report_progress("reading", share * source.size, source.unit, share, f"{row:,} rows")
            del batch
            if source.large or row >= released + RELEASE:
                pool.release_unused()
                released = row
        pool.release_unused()

    with closing(source.batches(columns)) as batches, closing(numbered(batches)) as rows:
        yield rows


def _places(runs: Runs, free: Integers) -> Integers | slice:
    """Where the rows of a batch go; `free`, the next place in each hyperedge, moves on."""
    codes, sizes = runs.codes, runs.sizes()
    if (codes[1:] > codes[:-1]).all():
        starts = free[codes]
        free[codes] += sizes
    else:
        starts = _starts(codes, sizes, free)
    if runs.heads is None:
        return starts
    offsets = starts - runs.heads
    if (offsets == offsets[0]).all():
        return slice(int(offsets[0]), int(offsets[0]) + runs.n_rows)
    return np.arange(runs.n_rows) + np.repeat(offsets, sizes)


def _starts(codes: Codes, sizes: Integers, free: Integers) -> Integers:
    """Where runs go of which some are in the same hyperedge; `free` moves on."""
    order = np.argsort(codes, kind="stable")
    ordered, lengths = codes[order], sizes[order]
    before = np.cumsum(lengths) - lengths
    first = _heads(ordered)
    edges = ordered[first]
    starts = np.empty(len(codes), dtype=np.int64)
    starts[order] = before + np.repeat(free[edges] - before[first], np.diff(first, append=len(codes)))
    free[edges] += np.add.reduceat(lengths, first)
    return starts


def _weights(source: Source, name: str, column: Any, row: int) -> Floats:
    """A batch of weights, none negative, missing or infinite."""
    pa = arrow()
    kind = column.type
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not (source.text or number or pa.types.is_boolean(kind)):
        raise source.fault(f"column {shown(name)}: weights must be numbers, not {kind}; convert them", row)
    given = column
    if source.decimal == ",":
        column = arrow("pyarrow.compute").replace_substring(column, ",", ".")
    try:
        weights = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        if not source.text and len(weights) and weights.min() >= 0 and weights.max() < np.inf:
            return np.asarray(weights, dtype=np.float64)
        good = (weights >= 0) & (weights < np.inf)
    except pa.ArrowInvalid:
        good = np.array([_is_number(value) for value in column])
    if source.text and good.all() and not weights.all():  # 1e-400 is read as 0
        zero = column.filter(pa.array(weights == 0))
        lost = (
            arrow("pyarrow.compute")
            .match_substring_regex(zero, "^[^eE]*[1-9]")
            .to_numpy(zero_copy_only=False)
        )
        good[np.flatnonzero(weights == 0)[lost]] = False
    if not good.all():
        first = int(np.argmin(good))
        value = given[first].as_py()
        fault = "is missing" if value is None else f"{shown(value)} is not a finite number from 0"
        remedy = "correct it or leave the row out"
        if source.decimal == "." and re.fullmatch("[0-9]+,[0-9]+", str(value)):
            remedy = "correct it, or say decimal=','"
        raise source.fault(f"column {shown(name)}: the weight {fault}; {remedy}", row + first)
    return np.asarray(weights, dtype=np.float64)


def _is_number(value: Any) -> bool:
    pa = arrow()
    try:
        number = value.cast(pa.float64()).as_py()
    except pa.ArrowInvalid:
        return False
    return number is not None and 0 <= number < np.inf


def _note(
    source: Source, name: str, omega: Floats, runs: Runs, weights: Floats, edges: Ids, row: int
) -> None:
    """Enter the omegas of a batch, which must be positive, and the same in all rows of a hyperedge."""
    codes, heads = runs.codes, weights if runs.heads is None else weights[runs.heads]
    known = omega[codes]
    new = np.isnan(known)
    if new.any():
        omega[codes[new][::-1]] = heads[new][::-1]  # backwards: the first row wins
        known = omega[codes]
    if runs.heads is not None:
        known = np.repeat(known, runs.sizes())
    if not heads.all() or (known != weights).any():
        first = int(np.argmax((known != weights) | (weights == 0)))
        before, here, edge = known[first], weights[first], shown(edges[runs.by_row()[first]])
        fault = (
            f"is {here}, and {before} in an earlier row; make them equal"
            if here != before
            else "is 0; leave the hyperedge out instead"
        )
        raise source.fault(f"column {shown(name)}: the weight of hyperedge {edge} {fault}", row + first)
