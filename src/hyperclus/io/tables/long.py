"""Long tables in files, one row per incidence: CSV, TSV and Parquet."""

import re
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Literal, Unpack, get_args

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import index_type, take
from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.memory import return_free_memory
from hyperclus._runtime.optional import arrow
from hyperclus._runtime.progress import report_progress
from hyperclus.errors import Argument, InputError, check_choice, prefixed
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import id_array, positions
from hyperclus.hypergraph.incidence import Policies, PolicyOptions, canonical
from hyperclus.hypergraph.messages import Nouns, shown
from hyperclus.hypergraph.tables import default_column
from hyperclus.io.shared import naming
from hyperclus.io.tables import TableFormat, open_table
from hyperclus.io.tables.arrow_arrays import to_numbers
from hyperclus.io.tables.derived import CompleteTable, MissingWeights, SplitTable, check_missing
from hyperclus.io.tables.encode import IdEncoder, Runs
from hyperclus.io.tables.points import Points, refuse_ambiguous
from hyperclus.io.tables.table import (
    MISSING,
    PLAIN_RATIO,
    ROW,
    DecimalSign,
    Header,
    IdConversion,
    NumberFormat,
    Table,
    grouped,
    is_numeric,
)
from hyperclus.io.tables.unused import tell_unused
from hyperclus.typing import Codes, Floats, Ids, Incidence

PASS_SHARE = 0.45  # share of the reading time that each of the two passes takes
_NAMED = Argument("vertex"), ", ", Argument("edge"), " and ", Argument("weight")
FILL_OR_DROP = InputError("fill it, or use ", Argument("missing", "drop"), " to leave such rows out")
OR_LINES = (", or use ", Argument("format", "lines"), " if each line is a hyperedge")
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
        unnamed = getattr(source, "text", False) and (vertex, edge) == ("vertex", "edge")
        unnamed = unnamed and not {"vertex", "edge"} & {*source.names}
        remedy = InputError(*WHICH_COLUMNS, *(OR_LINES if unnamed else ()))
        column = partial(source.column, remedy=remedy)
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
    vertex: str | None = None,
    edge: str | None = None,
    weight: str | Literal[False] | None = None,
    edge_weight: str | Literal[False] | None = None,
    split: Mapping[str, str] | None = None,
    missing: MissingWeights = "error",
    delimiter: str | None = None,
    decimal: DecimalSign | None = None,
    thousands: DecimalSign | None = None,
    sheet: str | None = None,
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
        .csv, .tsv or .jsonl (also compressed), .json (a list of objects), .parquet or .xlsx. Several Parquet
        files with the same columns make up one table: a folder, or a pattern such as "part-*.parquet", in
        the order of their names.
    format : {"csv", "tsv", "parquet", "records", "excel"}, optional
        By default the ending of the name decides, or the content. "records" is JSON.
    vertex, edge : column names, optional
        By default "vertex" and "edge"; in a table with lists, see `split`.
    split : mapping of one column name to a delimiter, optional
        Such as {"authors": ";"}: each cell of the column holds several ids. If `edge` names another column,
        these are the vertices of a hyperedge; if `vertex` does, the hyperedges of a vertex. With neither,
        each row is a hyperedge, numbered from 0. A column of lists (Parquet, JSON) is split without this
        argument if it is the only one or if `vertex` or `edge` names it.
    missing : {"error", "drop"} or number
        What to do with a missing id or weight. "drop" leaves the row out; a number is used for missing
        weights, and missing ids are still an error. A message in the log counts them.
    sheet : str, optional
        The sheet of an Excel workbook; needed if there are several.
    delimiter : one character, optional
        Delimiter of text. By default a tab for TSV; for CSV it is detected among comma, semicolon, bar and
        tab.
    decimal, thousands : {".", ","}, optional
        Signs in weights in text: the decimal sign, by default a point, and the separator of thousands, by
        default none. A sign without a meaning is an error, as in 1.500 with `decimal=","`. Without either
        argument, weights such as 950 and 1.500 are an error if the delimiter is not a comma.
    ids : {"guess", "text"}
        Whether ids in text become integers if every id of the column looks like one: as Python writes it,
        within 64 bits (7 and -7, but not 007).
    weight, edge_weight, vertex_ids, edge_ids, **policies
        As in `Hypergraph.from_long`. Without weights, a message in the log names columns that may hold them;
        `weight=False` turns it off.

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
    (Hypergraph(2 authors, 2 papers, 3 incidences), [1, 2])
    """
    check_choice("ids", ids, get_args(IdConversion))
    chosen = Policies(**policies)
    check_missing(missing)
    table = open_table(path, format, delimiter, NumberFormat.of(decimal, thousands), sheet=sheet)
    source, columns = long_table(table, (vertex, edge, weight, edge_weight), split, missing)
    hypergraph = read_incidences(source, columns, chosen, ids == "guess", vertex_ids, edge_ids)
    if weight is None and columns.weight is None:
        tell_unused(source, columns.vertex, columns.edge, (columns.edge_weight,))
    return hypergraph


def long_table(
    table: Table,
    names: tuple[Any, Any, Any, Any],
    split: Mapping[str, str] | None = None,
    missing: MissingWeights = "error",
) -> tuple[Table, LongColumns]:
    """Return a table with one row per incidence, and its columns.

    `names` are the columns of vertices, hyperedges, gamma and omega, as in `read_long`.
    """
    vertex, edge, weight, edge_weight = names
    if split is not None and not (
        isinstance(split, Mapping) and len(split) == 1 and all(map(_is_sign, split.values()))
    ):
        wanted = ' must name one column and its delimiter, as in {"authors": ";"}'
        raise InputError(Argument("split"), f"{wanted}; got {shown(split)}")
    column, sign = next(iter(split.items())) if split else (list_column(table, vertex, edge), None)
    if column is not None:
        table = SplitTable(table, column, sign, drop=missing == "drop")
        vertex, edge = _split_roles(table, vertex, edge)
    columns = LongColumns.of(
        table,
        "vertex" if vertex is None else vertex,
        "edge" if edge is None else edge,
        weight,
        edge_weight,
    )
    if missing != "error":
        weights = [name for name in (columns.weight, columns.edge_weight) if name is not None]
        table = CompleteTable(table, [columns.vertex, columns.edge], weights, missing)
    return table, columns


def _is_sign(value: Any) -> bool:
    return isinstance(value, str) and value != "" and not re.search("[\ud800-\udfff]", value)


def list_column(table: Table, vertex: Any = None, edge: Any = None) -> str | None:
    """Return the column of lists that is split without being asked: a named one, or the only one.

    Several columns of lists, none of them named, are an `InputError`.
    """
    lists = table.list_columns()
    named = [name for name in (vertex, edge, vertex or "vertex", edge or "edge") if name in lists]
    if named:
        return str(named[0])
    if not lists or (vertex and edge) or {"vertex", "edge"} <= {*table.names}:
        return None
    if len(lists) > 1:
        raise _choose_list(table, lists, vertex, edge)
    return lists[0]


def _choose_list(table: Table, lists: list[str], vertex: Any, edge: Any) -> InputError:
    """Say how to choose one of several columns of lists, and which column may name the rows."""
    for name in filter(None, (vertex, edge)):
        table.column(name)
    by_edge = vertex is not None or (edge is None and "vertex" in table.names)
    listed = " and ".join([", ".join(map(shown, lists[:-1])), shown(lists[-1])])
    parts: list[Any] = [f"columns {listed} hold lists; choose one with "]
    parts.append(Argument("edge" if by_edge else "vertex", lists[0]))
    others = [name for name in table.names if name not in lists]
    if not by_edge and edge is None and (key := _key_column(table, others)) is not None:
        parts += [" (and ", Argument("edge", key), " to name the rows)"]
    rows = (", or use ", Argument("format", "rows"), ", with ", Argument("exclude"), " for the lists,")
    return fault(table.path, InputError(*parts, *rows, " if each row is a vertex"))


def _key_column(table: Table, names: list[str]) -> str | None:
    """Return the first column that has text or integers, all different, in the first rows."""
    pa = arrow()
    for name in names:
        with closing(table.batches([name])) as batches:
            for (values,) in islice(batches, 1):
                kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
                is_id = (
                    pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
                )
                if is_id and not values.null_count and len(values.unique()) == len(values):
                    return name
    return None


def _split_roles(table: SplitTable, vertex: Any, edge: Any) -> tuple[Any, Any]:
    """Return the columns of vertices and hyperedges; one of them holds the lists."""
    lists = table.list_column
    if vertex is None and edge is None:
        vertex = "vertex" if "vertex" in table.names and lists != "vertex" else lists
    if vertex is None:
        vertex = ("vertex" if "vertex" in table.names else ROW) if edge == lists else lists
    if edge is None:
        edge = ("edge" if "edge" in table.names else ROW) if vertex == lists else lists
    if lists not in (vertex, edge):
        problem = f"the lists are in column {shown(lists)}, and two other columns are named by "
        ways = (Argument("vertex"), " and ", Argument("edge"), "; leave one of them out")
        raise fault(table.path, InputError(problem, *ways))
    return vertex, edge


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
    encoder = IdEncoder(source, columns.edge, guess, FILL_OR_DROP)
    batches = source.numbered_batches([columns.edge], (0.0, PASS_SHARE))
    pieces = [encoder.runs(values, row) for row, (values,) in batches]
    edges, runs = encoder.ids(), Runs.joined(pieces)  # in this order: `ids` completes the codes
    n_rows = runs.n_rows
    del pieces
    if known_edges is not None:
        with naming(source.path):
            codes = positions(edges, known_edges, "edge")
        runs, edges = Runs(take(codes, runs.codes), runs.starts, n_rows), known_edges

    encoder = IdEncoder(source, columns.vertex, guess, FILL_OR_DROP)
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
        arrow().default_memory_pool().release_unused()
        return_free_memory()
        nouns = Nouns.of_columns(columns.vertex, columns.edge)
        matrix = canonical(matrix, edges, vertices, policies.duplicates, nouns)
        if known_vertices is None and matrix.nnz == n_rows:
            policies = replace(policies, isolated="keep")  # every row made a member, so there are none
        hypergraph = Hypergraph.from_canonical(matrix, edges, vertices, omega, policies, nouns)
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
    read, points = 0, {name: Points() for name in (weight, edge_weight) if name is not None}
    wanted = [columns.vertex, *filter(None, [weight, edge_weight])]
    for row, (values, *numbers) in source.numbered_batches(wanted, (PASS_SHARE, PASS_SHARE)):
        read = row + len(values)
        if read > n_rows:
            break
        inside = runs.between(row, read)
        slots = inside.slots(free)
        vertices.store(values, row, indices, slots)
        if weight is not None:
            gamma[slots] = checked_weights(source, weight, numbers[0], row)
        if omega is not None and edge_weight is not None:
            weights = checked_weights(source, edge_weight, numbers[-1], row)
            _store_edge_weights(omega, weights, inside, edges, row, source, edge_weight)
        if source.text and source.delimiter != "," and not source.numbers.stated:
            for seen, texts in zip(points.values(), numbers, strict=False):
                seen.add(texts, row)
    if read != n_rows:
        raise source.fault("the file changed while it was read; read it again")
    refuse_ambiguous(source, points)
    if omega is not None:
        omega[np.isnan(omega)] = 1.0  # hyperedges that only `edge_ids` names
    return (gamma, indices, indptr), omega


def checked_weights(source: Table, name: str, values: Any, row: int) -> Floats:
    """Convert a batch of weights; one that is negative, missing or not finite is an `InputError`."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if pa.types.is_null(values.type):  # a column without any value
        values = values.cast(pa.float64())
    kind = values.type
    if not (source.text or is_numeric(kind) or pa.types.is_boolean(kind)):
        raise source.fault(f"column {shown(name)}: weights must be numbers, not {kind}; convert them", row)
    numbers = source.numbers.plain(values) if source.text else values
    try:
        floats = numbers if kind == pa.float64() else numbers.cast(pa.float64(), safe=False)
        weights = to_numbers(floats)
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
        signs = _number_format(source, str(value), values, values.filter(pa.array(good)))
        remedy = InputError("correct it or leave the row out", *signs)
        if value is None or (source.text and value in MISSING):
            drop, one = Argument("missing", "drop"), Argument("missing", 1)
            remedy = InputError("fill it, or use ", drop, " or ", one)
        problem = f"column {shown(name)}: the weight {_what_is_wrong(value, numbers[first])}; "
        raise source.fault(prefixed(problem, remedy), row + first)
    return np.asarray(weights, dtype=np.float64)


def _what_is_wrong(value: Any, plain: Any) -> str:
    """Say why a value is no weight; `plain` is the same with a decimal point."""
    pa = arrow()
    if value is None:
        return "is missing"
    try:
        number = plain.cast(pa.float64(), safe=False).as_py()
    except pa.ArrowInvalid:
        number = np.nan
    if np.isnan(number):
        return f"{shown(value)} is not a number"
    if number < 0:
        return f"{shown(value)} is negative, and weights must be 0 or more"
    return f"{shown(value)} is {'not finite' if number else 'too small for double precision'}"


def _number_format(source: Table, value: str, column: Any, good: Any) -> tuple[Any, ...]:
    """Say which arguments read a number with other signs; a comma among commas is no decimal sign.

    Nor is it one beside good numbers with a point, or beside many without any sign.
    """
    numbers, ways = source.numbers, []
    sign = "," if numbers.decimal == "." else "."
    if not source.text or numbers.thousands is not None:
        return ()
    if re.match(grouped(sign, numbers.decimal).replace(r"\z", r"\Z"), value):
        ways += [", or use ", Argument("thousands", sign), f" if {shown(sign)} separates thousands"]
    pc, sure = arrow("pyarrow.compute"), rf"\A[0-9]*[{numbers.decimal}]([0-9]{{0,2}}|[0-9]{{4,}})\z"
    n_alike = pc.sum(pc.match_substring_regex(column, rf"\A[0-9]+[{sign}][0-9]+\z")).as_py() or 0
    mistake = len(good) > PLAIN_RATIO * n_alike or pc.any(pc.match_substring_regex(good, sure)).as_py()
    if re.fullmatch(rf"[0-9]+[{sign}][0-9]+", value) and not (mistake or (ways and source.delimiter == ",")):
        ways += [", or use ", Argument("decimal", sign), f" if {shown(sign)} is the decimal sign"]
    if not ways and not numbers.stated and re.match(grouped(".", ",").replace(r"\z", r"\Z"), value):
        ways += [", or use ", Argument("thousands", "."), " if it has thousands"]  # such as 1.234,56
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
