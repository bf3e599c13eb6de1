"""A hypergraph from a table that comes in batches, in little more memory than the hypergraph itself takes.

First the hyperedges are read: a code for each row, and how many members each hyperedge has. Then vertices
and weights go straight to their places in the incidence matrix. Every column is read once, and beside the
matrix (12 bytes per incidence) only the codes of the hyperedges (4 bytes), the ids and one batch are held.
"""

import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from hyperclus.errors import InputError
from hyperclus.hypergraph import Hypergraph
from hyperclus.ids import encode, id_array, index_type, positions, read_only, shown, take
from hyperclus.incidence import canonical
from hyperclus.optional import library
from hyperclus.progress import tell
from hyperclus.types import AbsencePolicy, Codes, DuplicatePolicy, Floats, Ids, Incidence, Integers

SPAN = 1 << 22  # integers within it, or within four times a batch, are looked up in a table
PASS = 0.45  # of the time that reading takes
WHOLE = r"\A(0|-?[1-9][0-9]{0,18})\z"  # text that comes back when it is read as an integer and shown again


class Source(Protocol):
    """A table in batches that can be gone through more than once."""

    text: bool  # whether it knows nothing but text, so that numbers have to be told from it
    unit: str  # what its size and its place are counted in
    size: int
    place: int  # how far a pass over the batches has come
    decimal: str  # of the weights in text, a point or a comma

    def batches(self, columns: list[str]) -> Generator[list[Any], None, None]:
        """Some of its columns, batch by batch, as PyArrow arrays of equal length."""

    def fault(self, message: str, row: int | None = None) -> InputError:
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
        codes = _joined([numbering.codes(column, row) for row, (column,) in rows])
    edges = numbering.ids()
    if not len(codes):
        raise source.fault("the table has no rows; a hypergraph needs at least one vertex in one hyperedge")
    if known_edges is not None:
        with _told(source):
            codes, edges = take(positions(edges, known_edges, "edge"), codes), known_edges

    numbering = Numbering(source, vertex, guess)
    kind = index_type(max(len(codes), len(edges), 0 if known_vertices is None else len(known_vertices)))
    (gamma, indices, indptr), omega = _filled(source, weight, edge_weight, codes, edges, numbering, kind)
    del codes
    vertices = numbering.ids()
    with _told(source):
        if known_vertices is not None:
            place = positions(vertices, known_vertices, "vertex").astype(kind)
            indices, vertices = take(place, indices), known_vertices
        matrix: Incidence = sp.csr_array((gamma, indices, indptr), shape=(len(edges), len(vertices)))
        del numbering, gamma, indices, indptr
        matrix = canonical(matrix, edges, vertices, duplicates)
        hypergraph = Hypergraph._finish(matrix, edges, vertices, omega, isolated, empty_edges)
    tell("reading", source.size, source.unit, 1.0, f"{hypergraph.n_incidences:,} incidences")
    return hypergraph


def _filled(
    source: Source,
    weight: str | None,
    edge_weight: str | None,
    codes: Codes,
    edges: Ids,
    vertices: "Numbering",
    kind: type[np.signedinteger[Any]],
) -> tuple[tuple[Floats, Codes, Codes], Floats | None]:
    """The parts of gamma in CSR, not yet sorted, and omega; `codes` are the hyperedges of the rows."""
    indptr = np.zeros(len(edges) + 1, dtype=kind)
    np.cumsum(np.bincount(codes, minlength=len(edges)), out=indptr[1:])
    free = indptr[:-1].astype(np.int64)
    indices = np.empty(len(codes), dtype=kind)
    gamma = np.ones(len(codes)) if weight is None else np.empty(len(codes))
    omega = None if edge_weight is None else np.full(len(edges), np.nan)
    read = 0
    with _rows(source, [vertices.column, *filter(None, [weight, edge_weight])], 1) as rows:
        for row, (column, *numbers) in rows:
            inside, read = codes[row : row + len(column)], row + len(column)
            if read > len(codes):
                break
            order, places = _places(inside, free)
            indices[places] = vertices.codes(column, row)[order]
            if weight is not None:
                gamma[places] = _weights(source, weight, numbers[0], row)[order]
            if omega is not None and edge_weight is not None:
                weights = _weights(source, edge_weight, numbers[-1], row)
                _note(source, edge_weight, omega, inside, weights, edges, row)
    if read != len(codes):
        raise source.fault("the file changed while it was read; read it again")
    if omega is not None:
        omega[np.isnan(omega)] = 1.0  # hyperedges that only `edge_ids` names
    return (gamma, indices, indptr), omega


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
            self._table = self._table or _Table(values[0].as_py())
            codes = self._table.codes(values.to_numpy())
            if codes is not None:
                return codes
            self._known, self._table = arrow().array(self._table.ids()), None
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

    def __init__(self, some: int) -> None:
        self._low, self._codes, self._count = some, np.full(1, -1, dtype=np.int32), 0

    def codes(self, values: Integers) -> Codes | None:
        """The codes of a batch; None, and nothing is noted, where the table would become too long."""
        low = min(self._low, int(values.min()))
        length = max(self._low + len(self._codes), int(values.max()) + 1) - low
        if length > max(SPAN, 4 * len(values)):
            return None
        if length > len(self._codes):
            longer = np.full(length, -1, dtype=np.int32)
            longer[self._low - low :][: len(self._codes)] = self._codes
            self._low, self._codes = low, longer
        places = values - low
        new = places[self._codes[places] < 0]
        if len(new):
            _, fresh = encode(new, str)
            self._codes[fresh] = np.arange(self._count, self._count + len(fresh))
            self._count += len(fresh)
        return self._codes[places]

    def ids(self) -> Integers:
        """The integers in the order of their codes."""
        ids = np.empty(self._count, dtype=np.int64)
        present = np.flatnonzero(self._codes >= 0)
        ids[self._codes[present]] = present + self._low
        return ids


@contextmanager
def _told(source: Source) -> Iterator[None]:
    """Puts the name of the file into errors that do not know of it."""
    try:
        yield
    except InputError as error:
        raise source.fault(str(error)) from None


def _joined(pieces: list[Codes]) -> Codes:
    return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int32)


@contextmanager
def _rows(source: Source, columns: list[str], before: int) -> Iterator[Iterator[tuple[int, list[Any]]]]:
    """Each batch with its first row; the file is closed at the end, whatever happens.

    Tells how far the reading is, with `before` of two passes done.
    """

    def numbered(batches: Iterator[list[Any]]) -> Generator[tuple[int, list[Any]], None, None]:
        row, pool = 0, arrow().default_memory_pool()
        for batch in batches:
            yield row, batch
            row += len(batch[0])
            share = PASS * (before + min(source.place / max(source.size, 1), 1.0))
            tell("reading", share * source.size, source.unit, share, f"{row:,} rows")
            del batch
            pool.release_unused()

    with closing(source.batches(columns)) as batches, closing(numbered(batches)) as rows:
        yield rows


def _places(codes: Codes, free: Integers) -> tuple[Integers, Integers]:
    """An order of the batch, and where its incidences go; `free`, the next place of each row, moves on."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    sizes = np.diff(first, append=len(ordered))
    rows = ordered[first]
    places = np.arange(len(ordered)) + np.repeat(free[rows] - first, sizes)
    free[rows] += sizes
    return order, places


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
    source: Source, name: str, omega: Floats, codes: Codes, weights: Floats, edges: Ids, row: int
) -> None:
    """Enter the omegas of a batch, which must be positive, and the same in all rows of a hyperedge."""
    new = np.isnan(omega[codes])
    omega[codes[new][::-1]] = weights[new][::-1]  # backwards: the first row wins
    bad = (omega[codes] != weights) | (weights == 0)
    if bad.any():
        first = int(np.argmax(bad))
        before, here, edge = omega[codes[first]], weights[first], shown(edges[codes[first]])
        fault = (
            f"is {here}, and {before} in an earlier row; make them equal"
            if here != before
            else "is 0; leave the hyperedge out instead"
        )
        raise source.fault(f"column {shown(name)}: the weight of hyperedge {edge} {fault}", row + first)
