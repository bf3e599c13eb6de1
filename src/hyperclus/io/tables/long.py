"""Long tables in files, one row per incidence: CSV, TSV and Parquet."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Unpack, get_args

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import blocks, index_type, take
from hyperclus._runtime.files import StrPath, fault, printable, writing
from hyperclus._runtime.optional import arrow
from hyperclus._runtime.progress import report_progress
from hyperclus.errors import Argument, InputError, check_choice, prefixed
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import id_array, positions
from hyperclus.hypergraph.incidence import Policies, PolicyOptions, canonical
from hyperclus.hypergraph.messages import named, shown
from hyperclus.hypergraph.tables import default_column
from hyperclus.io.shared import naming, warn_losses
from hyperclus.io.tables import TableFormat, format_of, open_table
from hyperclus.io.tables.csv import write_csv
from hyperclus.io.tables.encode import INTEGER, IdEncoder, Runs
from hyperclus.io.tables.parquet import write_parquet
from hyperclus.io.tables.table import (
    DecimalSign,
    Header,
    IdConversion,
    IncidenceBlock,
    NumberFormat,
    Table,
    grouped,
    is_numeric,
)
from hyperclus.typing import Codes, Floats, Ids, Incidence

PASS_SHARE = 0.45  # share of the reading time that each of the two passes takes
_NAMED = Argument("vertex"), ", ", Argument("edge"), " and ", Argument("weight")
WHICH_COLUMNS = ("name the columns with ", *_NAMED)


@dataclass(frozen=True, slots=True)
class LongColumns:
    """The names of the columns that a long table uses; None for weights that are all 1."""

    vertex: str
    edge: str
    weight: str | None
    edge_weight: str | None

    @classmethod
    def of(cls, source: Header, vertex: Any, edge: Any, weight: Any, edge_weight: Any) -> "LongColumns":
        """Find the columns in a table, by the arguments of `read_long`."""
        column = partial(source.column, remedy=InputError(*WHICH_COLUMNS))
        gamma = default_column(weight, "weight", source.names, (vertex, edge))
        omega = default_column(edge_weight, "edge_weight", source.names, (vertex, edge, weight))
        optional = (None if name is None else column(name) for name in (gamma, omega))
        if vertex == edge:
            message = f"column {shown(vertex)} cannot hold both vertices and hyperedges; name two columns"
            raise fault(source.path, message)
        return cls(column(vertex), column(edge), *optional)


def read_long(
    path: StrPath,
    *,
    format: TableFormat | None = None,  # noqa: A002
    vertex: str = "vertex",
    edge: str = "edge",
    weight: str | Literal[False] | None = None,
    edge_weight: str | Literal[False] | None = None,
    delimiter: str | None = None,
    decimal: DecimalSign | None = None,
    thousands: DecimalSign | None = None,
    ids: IdConversion = "guess",
    vertex_ids: Iterable[Any] | None = None,
    edge_ids: Iterable[Any] | None = None,
    **policies: Unpack[PolicyOptions],
) -> Hypergraph:
    r"""Read a file with one row per incidence, as `Hypergraph.from_long` reads a table in memory.

    The file is read twice, in batches, and never held in memory. Parquet takes less than twice the memory of
    the hypergraph with its ids (10 million incidences; ids are text, or integers in a small range), about
    2.5 times if ids are integers in a large range; CSV takes about 5 times.

    Parameters
    ----------
    path : file name
        .csv, .tsv (also gzipped) or .parquet. Several Parquet files with the same columns make up one table:
        a folder, or a pattern such as "part-*.parquet", in the order of their names.
    format : {"csv", "tsv", "parquet"}, optional
        By default the ending of the name decides, or the content.
    delimiter : one character, optional
        Delimiter of text. By default a tab for TSV; for CSV it is detected among comma, semicolon, bar and
        tab.
    decimal, thousands : {".", ","}, optional
        Signs in weights in text: the decimal sign, by default a point, and the separator of thousands, by
        default none. A sign without a meaning is an error, as in 1.500 with `decimal=","`.
    ids : {"guess", "text"}
        Whether ids in text become integers if every id of the column looks like one: as Python writes it,
        within 64 bits (7 and -7, but not 007).
    vertex, edge, weight, edge_weight, vertex_ids, edge_ids, **policies
        As in `Hypergraph.from_long`.

    Raises
    ------
    InputError
        Naming the file, the line (in Parquet the row, from 0) and the remedy: for rows that are too long or
        too short, open quotes, text that is not UTF-8, missing ids, weights that are negative, missing
        or not finite, and everything that `Hypergraph.from_long` refuses.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "papers.csv")
    >>> _ = path.write_text("author,paper,share\nann,1,2\nbob,1,1\nbob,2,1\n")
    >>> h = read_long(path, vertex="author", edge="paper", weight="share")
    >>> h, h.edge_ids.tolist()
    (Hypergraph(2 vertices, 2 hyperedges, 3 incidences), [1, 2])
    """
    check_choice("ids", ids, get_args(IdConversion))
    chosen = Policies(**policies)
    source = open_table(path, format, delimiter, NumberFormat.of(decimal, thousands))
    columns = LongColumns.of(source, vertex, edge, weight, edge_weight)
    return read_incidences(source, columns, chosen, ids == "guess", vertex_ids, edge_ids)


def read_incidences(
    source: Table,
    columns: LongColumns,
    policies: Policies,
    guess: bool = True,
    vertex_ids: Iterable[Any] | None = None,
    edge_ids: Iterable[Any] | None = None,
) -> Hypergraph:
    """Build the hypergraph of a long table in little more memory than the hypergraph takes.

    The first pass reads the hyperedges: a code for each row, and the number of rows of each hyperedge. The
    second pass writes vertices and weights to their final positions in the incidence matrix. Apart from the
    matrix (12 bytes per incidence), only the codes (4 bytes per row, or 8 per run of rows in the same
    hyperedge if that is less), the ids and one batch are in memory.
    """
    known_edges = None if edge_ids is None else id_array(edge_ids, "edge")
    known_vertices = None if vertex_ids is None else id_array(vertex_ids, "vertex")
    encoder = IdEncoder(source, columns.edge, guess)
    batches = source.numbered_batches([columns.edge], (0.0, PASS_SHARE))
    runs = Runs.joined([encoder.runs(values, row) for row, (values,) in batches])
    edges, n_rows = encoder.ids(), runs.n_rows
    if known_edges is not None:
        with naming(source.path):
            codes = positions(edges, known_edges, "edge")
        runs, edges = Runs(take(codes, runs.codes), runs.starts, n_rows), known_edges

    encoder = IdEncoder(source, columns.vertex, guess)
    kind = index_type(max(n_rows, len(edges), 0 if known_vertices is None else len(known_vertices)))
    (gamma, indices, indptr), omega = _second_pass(source, columns, runs, edges, encoder, kind)
    del runs
    source.check_unchanged()
    vertices = encoder.ids()
    with naming(source.path):
        if known_vertices is not None:
            codes = positions(vertices, known_vertices, "vertex").astype(kind)
            indices, vertices = take(codes, indices), known_vertices
        matrix: Incidence = sp.csr_array((gamma, indices, indptr), shape=(len(edges), len(vertices)))
        del encoder, gamma, indices, indptr
        matrix = canonical(matrix, edges, vertices, policies.duplicates)
        if known_vertices is None and matrix.nnz == n_rows:
            policies = replace(policies, isolated="keep")  # every row made a member, so there are none
        hypergraph = Hypergraph.from_canonical(matrix, edges, vertices, omega, policies)
    report_progress("reading", source.size, source.unit, 1.0, f"{hypergraph.n_incidences:,} incidences")
    return hypergraph


def _second_pass(
    source: Table, columns: LongColumns, runs: Runs, edges: Ids, vertices: IdEncoder, kind: type[Any]
) -> tuple[tuple[Floats, Codes, Codes], Floats | None]:
    """Read vertices and weights: the CSR arrays of gamma, not yet sorted, and omega."""
    n_rows, weight, edge_weight = runs.n_rows, columns.weight, columns.edge_weight
    indptr = np.zeros(len(edges) + 1, dtype=kind)
    np.cumsum(runs.counts(len(edges)), out=indptr[1:])
    free = indptr[:-1].astype(np.int64)
    indices = np.empty(n_rows, dtype=kind)
    gamma = np.ones(n_rows) if weight is None else np.empty(n_rows)
    omega = None if edge_weight is None else np.full(len(edges), np.nan)
    read = 0
    wanted = [columns.vertex, *filter(None, [weight, edge_weight])]
    for row, (values, *numbers) in source.numbered_batches(wanted, (PASS_SHARE, PASS_SHARE)):
        read = row + len(values)
        if read > n_rows:
            break
        inside = runs.between(row, read)
        slots = inside.slots(free)
        indices[slots] = vertices.codes(values, row)
        if weight is not None:
            gamma[slots] = checked_weights(source, weight, numbers[0], row)
        if omega is not None and edge_weight is not None:
            weights = checked_weights(source, edge_weight, numbers[-1], row)
            _store_edge_weights(omega, weights, inside, edges, row, source, edge_weight)
    if read != n_rows:
        raise source.fault("the file changed while it was read; read it again")
    if omega is not None:
        omega[np.isnan(omega)] = 1.0  # hyperedges that only `edge_ids` names
    return (gamma, indices, indptr), omega


def checked_weights(source: Table, name: str, values: Any, row: int) -> Floats:
    """Convert a batch of weights; one that is negative, missing or not finite is an `InputError`."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    kind = values.type
    if not (source.text or is_numeric(kind) or pa.types.is_boolean(kind)):
        raise source.fault(f"column {shown(name)}: weights must be numbers, not {kind}; convert them", row)
    numbers = source.numbers.plain(values) if source.text else values
    try:
        weights = numbers.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        if not source.text and len(weights) and weights.min() >= 0 and weights.max() < np.inf:
            return np.asarray(weights, dtype=np.float64)
        good = (weights >= 0) & (weights < np.inf)
    except pa.ArrowInvalid:
        good = np.array([_is_weight(value) for value in numbers])
    if source.text and good.all() and not weights.all():  # 1e-400 is read as 0
        zeros = numbers.filter(pa.array(weights == 0))
        lost = pc.match_substring_regex(zeros, "^[^eE]*[1-9]").to_numpy(zero_copy_only=False)
        good[np.flatnonzero(weights == 0)[lost]] = False
    if not good.all():
        first = int(np.argmin(good))
        value = values[first].as_py()
        problem = "is missing" if value is None else f"{shown(value)} is not a finite number from 0"
        remedy = InputError("correct it or leave the row out", *_number_format(source, str(value)))
        raise source.fault(prefixed(f"column {shown(name)}: the weight {problem}; ", remedy), row + first)
    return np.asarray(weights, dtype=np.float64)


def _number_format(source: Table, value: str) -> tuple[Any, ...]:
    """Say which arguments read a number with other signs; a comma among commas is no decimal sign."""
    numbers, ways = source.numbers, []
    sign = "," if numbers.decimal == "." else "."
    if not source.text or numbers.thousands is not None:
        return ()
    if re.match(grouped(sign, numbers.decimal).replace(r"\z", r"\Z"), value):
        ways += [", or use ", Argument("thousands", sign), f" if {shown(sign)} separates thousands"]
    if re.fullmatch(rf"[0-9]+[{sign}][0-9]+", value) and not (
        ways and getattr(source, "delimiter", "") == ","
    ):
        ways += [", or use ", Argument("decimal", sign), f" if {shown(sign)} is the decimal sign"]
    return tuple(ways)


def _is_weight(value: Any) -> bool:
    pa = arrow()
    with suppress(pa.ArrowInvalid):
        number = value.cast(pa.float64()).as_py()
        return number is not None and 0 <= number < np.inf
    return False


def _store_edge_weights(
    omega: Floats, weights: Floats, runs: Runs, edges: Ids, row: int, source: Table, name: str
) -> None:
    """Store the omegas of a batch, which must be positive, and equal in all rows of a hyperedge."""
    codes, of_runs = runs.codes, weights if runs.starts is None else weights[runs.starts]
    known = omega[codes]
    new = np.isnan(known)
    if new.any():
        omega[codes[new][::-1]] = of_runs[new][::-1]  # backwards, so that the first row stays
        known = omega[codes]
    if runs.starts is not None:
        known = np.repeat(known, runs.sizes())
    if not of_runs.all() or (known != weights).any():
        first = int(np.argmax((known != weights) | (weights == 0)))
        before, here, edge = known[first], weights[first], shown(edges[runs.by_row()[first]])
        problem = "is 0; leave the hyperedge out instead"
        if here != before:
            problem = f"is {here}, and {before} in an earlier row; make them equal"
        raise source.fault(f"column {shown(name)}: the weight of hyperedge {edge} {problem}", row + first)


def write_long(
    hypergraph: Hypergraph,
    path: StrPath,
    *,
    format: TableFormat | None = None,  # noqa: A002
    vertex: str = "vertex",
    edge: str = "edge",
    weight: str = "weight",
    edge_weight: str = "edge_weight",
) -> None:
    """Write one row per incidence; `read_long` returns the same ids and, to the last bit, the same weights.

    Hyperedges are written one after the other. The column of omega is only written if some omega is not 1.

    Parameters
    ----------
    path, format
        As in `read_long`, but for one file, and without a format the ending of the name must be known.
    vertex, edge, weight, edge_weight : column names

    Raises
    ------
    InputError
        For ids that `read_long` would change: a column holds integers or text, not both, nor anything else.
        In CSV and TSV, ids of text must not all look like integers ("1", "2"); Parquet keeps their type.

    Warns
    -----
    LossWarning
        Naming isolated vertices and empty hyperedges, which have no row; and if `read_long` would return
        the vertices in another order, that of first appearance. Its arguments `vertex_ids` and `edge_ids`
        restore all three.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "papers.csv")
    >>> write_long(Hypergraph.from_edges({"paper 1": {"ann": 2, "bob": 1}, "paper 2": ["bob"]}), path)
    >>> print(path.read_text())
    vertex,edge,weight
    ann,"paper 1",2.0
    bob,"paper 1",1.0
    bob,"paper 2",1.0
    <BLANKLINE>
    """
    check_hypergraph(hypergraph)
    names = [vertex, edge, weight, edge_weight]
    named = all(isinstance(name, str) and name and _is_utf8(name) for name in names)
    if not named or len(set(names)) < len(names):
        raise InputError(f"the column names must be different texts; got {shown(names)}")
    if (hypergraph.edge_weights == 1).all():
        names.pop()
    kind = format_of(path, format)
    if kind is None:
        endings = "the name must end with .csv, .tsv, .csv.gz, .tsv.gz or .parquet; or use "
        raise fault(path, InputError(endings, Argument("format")))
    ids = hypergraph.vertex_ids, hypergraph.edge_ids
    _check_ids(path, ids[0], "vertex", kind != "parquet")
    _check_ids(path, ids[1], "edge", kind != "parquet")
    _warn_of_loss(hypergraph, path)
    write_text = partial(write_csv, delimiter="\t" if kind == "tsv" else ",")
    write = write_parquet if kind == "parquet" else write_text
    with writing(path) as handle:
        write(handle, names, ids, _incidences(hypergraph, len(names) - 2))


def _check_ids(path: StrPath, ids: Ids, what: str, text: bool) -> None:
    """Raise an `InputError` for ids that `read_long` would not return."""
    if ids.dtype != object:
        return
    values = ids.tolist()
    other = next((value for value in values if not isinstance(value, str)), None)
    if other is not None:
        mixed = isinstance(other, int) and not isinstance(other, bool)
        why = "not text as others are; use HIF" if mixed else "neither text nor an integer; rename it"
        raise fault(path, f"{what} id {shown(other)} is {why}, a column of a long table cannot hold it")
    broken = next((value for value in values if not _is_utf8(value)), None)
    if broken is not None:
        problem = "contains half of a surrogate pair and cannot be written; rename it"
        raise fault(path, f"{what} id {shown(broken)} {problem}")
    integer = re.compile(INTEGER.replace(r"\z", r"\Z"))
    if text and values and all(integer.match(value) and -(2**63) <= int(value) < 2**63 for value in values):
        problem = f"{what} id {shown(values[0])} is text, but it and all others would be read as integers"
        raise fault(path, f"{problem}; write .parquet, which keeps the type")


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)


def _warn_of_loss(hypergraph: Hypergraph, path: StrPath) -> None:
    covered, empty = hypergraph.covered, hypergraph.edge_sizes == 0
    isolated, unused = named(hypergraph.vertex_ids, ~covered), named(hypergraph.edge_ids, empty)
    lost = [f"vertex {isolated}, which no hyperedge holds"] if isolated else []
    lost += [f"hyperedge {unused}, which has no members"] if unused else []
    # The order is kept if every vertex, at its first appearance, is larger than all before it.
    highest, in_order = -1, 0
    for block in blocks(hypergraph.n_incidences):
        running = np.maximum.accumulate(hypergraph.gamma.indices[block])
        in_order += int(np.count_nonzero(np.diff(np.maximum(running, highest), prepend=highest)))
        highest = max(highest, int(running[-1]))
    if in_order < covered.sum():
        lost.append("the order of the vertices")
    remedy = "write .npz or .json to keep everything"
    warn_losses(f"{printable(path)}: a long table", lost, remedy, stacklevel=4)


def _incidences(hypergraph: Hypergraph, n_weights: int) -> Iterator[IncidenceBlock]:
    """Yield blocks of incidences: vertices, hyperedges, and gamma or gamma and omega."""
    gamma = hypergraph.gamma
    for block in blocks(hypergraph.n_incidences):
        rows = np.arange(block.start, block.stop)
        edges = np.searchsorted(gamma.indptr, rows, side="right") - 1
        yield gamma.indices[block], edges, [gamma.data[block], hypergraph.edge_weights[edges]][:n_weights]
