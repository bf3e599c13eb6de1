"""Tables in files with one row per vertex: CSV, TSV and Parquet."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack, get_args

import numpy as np

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.optional import arrow
from hyperclus._runtime.progress import report_progress
from hyperclus.errors import Argument, InputError, check_choice, prefixed
from hyperclus.hypergraph.binning import DEFAULT_BINS, FEW, Bins, BinsByColumn, as_bins
from hyperclus.hypergraph.features import check_order, feature_names
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import shown
from hyperclus.io.shared import naming
from hyperclus.io.tables import open_table
from hyperclus.io.tables.encode import read_ids
from hyperclus.io.tables.remarks import Remark, remark_on
from hyperclus.io.tables.schema import FEW_ROWS, Column, check_present, read_columns
from hyperclus.io.tables.table import TITLE_HINT, DecimalSign, IdConversion, NumberFormat, Table
from hyperclus.typing import AbsencePolicy, Ids, MissingPolicy

RepeatPolicy = Literal["error", "number"]

SNIFFED_ROWS = 20  # compared with the name of their column
_IDS = 0  # key of the vertex ids among columns, whose names are text


class WideKeywords(TypedDict, total=False):
    """The keyword arguments of `read_rows`, which are the fields of `WideOptions`."""

    vertex: str | None
    features: Sequence[str] | None
    exclude: Sequence[str]
    bins: BinsByColumn
    order: Mapping[str, Sequence[Any]] | None
    missing: MissingPolicy
    constant: AbsencePolicy
    isolated: AbsencePolicy
    decimal: DecimalSign | None
    thousands: DecimalSign | None
    ids: IdConversion
    repeated: RepeatPolicy


@dataclass(frozen=True, slots=True, eq=False)
class WideOptions:
    """How a table with one row per vertex becomes a hypergraph; see `read_rows`."""

    vertex: str | None = None
    features: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    bins: BinsByColumn = DEFAULT_BINS
    order: Mapping[str, Sequence[Any]] | None = None
    missing: MissingPolicy = "error"
    constant: AbsencePolicy = "drop"
    isolated: AbsencePolicy = "error"
    decimal: DecimalSign | None = None
    thousands: DecimalSign | None = None
    ids: IdConversion = "guess"
    repeated: RepeatPolicy = "error"

    def __post_init__(self) -> None:
        policies = {"missing": MissingPolicy, "constant": AbsencePolicy, "isolated": AbsencePolicy}
        for name, choices in {**policies, "ids": IdConversion, "repeated": RepeatPolicy}.items():
            check_choice(name, getattr(self, name), get_args(choices))
        NumberFormat.of(self.decimal, self.thousands)
        check_order(self.order)


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """What becomes of a column, and what is unusual about it."""

    column: str
    becomes: str
    distinct: int | None  # a count; None for a column that is not used
    missing: int | None
    remark: str


@dataclass(frozen=True, slots=True, eq=False)
class TableSchema:
    """The columns of a table with one row per vertex, and what becomes of them."""

    source: Table
    vertex: str | None  # the column of vertex ids
    columns: list[Column]  # that are used
    bins: Mapping[str, Bins]  # of the columns that get bins
    options: WideOptions

    @property
    def n_rows(self) -> int:
        """Number of vertices."""
        return len(self.columns[0].values)

    def column_infos(self) -> Iterator[ColumnInfo]:
        """Describe every column of the file."""
        used = {column.name: column for column in self.columns}
        for name in self.source.names:
            if (column := used.get(name)) is None:
                yield ColumnInfo(name, "vertex ids" if name == self.vertex else "left out", None, None, "")
            else:
                unusual = self._remark_on(column)
                remarks = [] if unusual is None else [unusual.short]
                remarks += [] if column.distinct > 1 else ["one value" if column.distinct else "no values"]
                remarks += ["decimal comma"] if column.decimal_comma else []
                becomes = self._becomes(column)
                yield ColumnInfo(name, becomes, column.distinct, column.missing, ", ".join(remarks))

    def _becomes(self, column: Column) -> str:
        if column.distinct < 2 and not column.missing and self.options.constant == "drop":
            return "left out"
        if column.name in self.bins:
            return f"{self.bins[column.name].count} bins"
        return "numbers as they are" if column.numbers else "categories"

    def edge_counts(self, hypergraph: Hypergraph) -> dict[str, int]:
        """Count the hyperedges of each column; a column that is left out has none."""
        counts = Counter(name for name, _ in hypergraph.edge_ids.tolist())
        return {column.name: counts[column.name] for column in self.columns}

    def remarks(self) -> Iterator[InputError]:
        """Yield what is unusual, one sentence each, with its parts as in errors."""
        if self.source.text and _has_no_header(self.source.names):
            yield InputError(
                "the first line seems to have no column names but numbers; add a line with names"
            )
        elif self.source.text and (name := self._data_as_name()) is not None:
            looks = f"the name {shown(name)} looks like a value of the table, so the first line may be data"
            yield InputError(f"{looks}; if so, add a line with column names")
        if self.source.text and len(self.source.names) == 1 and (sign := self._separator()) is not None:
            yield InputError(f"there is one column name, but {shown(sign)} in every row; {TITLE_HINT}")
        for column in self.columns:
            if (unusual := self._remark_on(column)) is not None:
                yield unusual.sentence

    def _remark_on(self, column: Column) -> Remark | None:
        stated = self.options.decimal is not None or self.options.thousands is not None
        return remark_on(column, self.n_rows, self.vertex, stated)

    def check_header(self) -> None:
        """Raise an `InputError` if the first line may be data: a column holds its own name as a value."""
        pa, pc = arrow(), arrow("pyarrow.compute")
        counted = len(self.columns) > FEW and _ascending(self.source.names)  # as pandas and R name columns
        for column in self.columns if self.source.text and not counted else ():
            try:
                if column.numbers:  # saves calls of PyArrow, for tables with many columns
                    float(column.name)
                row = pc.index(column.values, pa.scalar(column.name).cast(column.values.type)).as_py()
            except (ValueError, pa.ArrowInvalid):  # the name is not a number, and the values are
                continue
            if row >= 0:
                problem = f"column {shown(column.name)} holds its own name, so the first line may be data"
                remedy = "; add a line with the column names, or use "
                rows = Argument("format", "rows")
                raise self.source.fault(InputError(problem, remedy, rows, " if there is one"), row)

    def _data_as_name(self) -> str | None:
        """Find a name that differs from the values of its column in digits only, or is in another column."""
        pc = arrow("pyarrow.compute")
        texts = [column for column in self.columns if not column.numbers]
        for column in texts:
            if (pattern := _pattern(column.name)) != column.name:
                values = filter(None, column.values[:SNIFFED_ROWS].to_pylist())
                if {_pattern(str(value)) for value in values} == {pattern}:
                    return column.name
        for column in texts if len(self.columns) <= FEW else ():
            for other in texts:
                if other is not column and pc.index(other.values, column.name).as_py() >= 0:
                    return column.name
        return None

    def _separator(self) -> str | None:
        """Find a delimiter that occurs equally often in the first rows of a single column."""
        values = list(map(str, self.columns[0].values[:SNIFFED_ROWS].to_pylist()))
        counts = {sign: {value.count(sign) for value in values} for sign in ";|\t"}
        return next((sign for sign, found in counts.items() if len(found) == 1 and found != {0}), None)

    def _order(self) -> dict[str, list[Any]]:
        """The order of values, as numbers in columns of numbers if it is given as text."""
        found = {}
        for name, levels in (self.options.order or {}).items():
            column = next(column for column in self.columns if column.name == name)
            known = {str(one): one for one in column.values.unique().to_pylist()} if column.numbers else {}
            found[name] = [known.get(one, one) if isinstance(one, str) else one for one in levels]
        return found

    def hypergraph(self) -> Hypergraph:
        """Build the hypergraph; an `InputError` names the line if that is impossible."""
        source, options = self.source, self.options
        if options.missing == "error":
            category, drop = Argument("missing", "category"), Argument("missing", "drop")
            ways = "fill it, or use ", category, " (missing is a value of its own) or ", drop
            remedy = InputError(*ways, f"; {hint}" if (hint := source.title_hint()) else "")
            for column in self.columns:
                check_present(source, column, "value", remedy)
        for column in self.columns:
            if column.name in self.bins and (row := column.first_infinite()) >= 0:
                problem = "the number is infinite or too large for bins; correct it or leave the row out"
                raise source.fault(f"column {shown(column.name)}: {problem}", row)
        short = source.text and self.n_rows <= FEW_ROWS  # then lists are faster than PyArrow's arrays
        table: dict[Any, Any] = {
            column.name: column.values.to_pylist() if short else column.values for column in self.columns
        }
        if self.vertex is not None:
            table[_IDS] = unique_ids(source, self.vertex, options.ids == "guess", options.repeated)
        with naming(source.path):
            hypergraph = Hypergraph.from_table(
                table,
                features=[column.name for column in self.columns],
                vertex=None if self.vertex is None else _IDS,
                bins={column.name: self.bins.get(column.name) for column in self.columns},
                order=self._order(),
                missing=options.missing,
                constant=options.constant,
                isolated=options.isolated,
            )
        source.check_unchanged()
        report_progress("reading", source.size, source.unit, 1.0, f"{hypergraph.n_incidences:,} incidences")
        return hypergraph


def read_rows(
    path: StrPath, *, delimiter: str | None = None, sheet: str | None = None, **options: Unpack[WideKeywords]
) -> Hypergraph:
    r"""Read a file with one row per vertex, as `Hypergraph.from_table` reads a table in memory.

    Text has no types, so they are inferred: a column holds numbers if every field is a number (3, -0.5, 1e6;
    007 is text), empty, or one of NA, N/A, NaN, null, None and ?, which are missing values there and ordinary
    values in other columns. A column stays text if it has a number beyond the range of floats (1e999), or an
    integer from 2^53 on, unless all are 64-bit integers.

    Parameters
    ----------
    path : file name
        .csv, .tsv or .jsonl (also compressed), .json (a list of objects), .parquet or .xlsx; with any other
        name, the content decides. The first line of text names the columns.
    vertex : column name, optional
        The column of vertex ids. By default a first column without a name, which is how pandas and R write
        row names; otherwise the rows are numbered 0, 1, ...
    bins, order, features, exclude, missing, constant, isolated
        As in `Hypergraph.from_table`.
    decimal, thousands : {".", ","}, optional
        Signs in numbers in text. By default the decimal sign is a point; or a comma in columns where every
        field is a number then, if the delimiter is not a comma. Without either argument, numbers such as
        1,396 that may have thousands or decimals are an error, and so are those such as 950 and 1.396 if the
        delimiter is not a comma.
    delimiter, sheet, ids
        As in `read_long`.
    repeated : {"error", "number"}
        Whether repeated vertex ids are an error or get a number, as in "frog (2)".

    Raises
    ------
    InputError
        Naming the file, the line (in Parquet the row, from 0) and the remedy: for everything that `read_long`
        refuses in a file and `Hypergraph.from_table` in a table.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "animals.csv")
    >>> _ = path.write_text("name,legs,class\nfrog,4,a\nhen,2,b\nowl,2,b\n")
    >>> h = read_rows(path, vertex="name", exclude=["class"])
    >>> h.vertex_ids.tolist(), h.edge_ids.tolist()
    (['frog', 'hen', 'owl'], [('legs', 4), ('legs', 2)])
    """
    table = open_table(path, delimiter=delimiter, sheet=sheet)
    return infer_schema(table, WideOptions(**options)).hypergraph()


def infer_schema(source: Table, options: WideOptions) -> TableSchema:
    """Read the columns that are used, and decide what becomes of them."""
    vertex = row_names(source) if options.vertex is None else source.column(options.vertex)
    if (hint := source.delimiter_hint()) is not None:
        raise fault(source.path, prefixed(f"the table has one column, {shown(source.names[0])}; ", hint))
    names = feature_names(source.names, options.features, options.exclude, vertex, source.column)
    for name in names:
        if name == "":
            problem = f"column {source.names.index('') + 1} has no name; name or exclude it"
            raise fault(source.path, f"{problem}; {TITLE_HINT}")
        source.column(name)
    if not names:
        raise fault(source.path, "no column is left to use; a table needs one besides the vertex ids")
    columns = read_columns(source, names, options.decimal, options.thousands)
    return TableSchema(source, vertex, columns, _bins(source, columns, options), options)


def row_names(source: Table) -> str | None:
    """Return the first column if it has no name, as pandas and R write row names; otherwise None."""
    return "" if source.names[:1] == [""] and len(source.names) > 1 else None


def unique_ids(source: Table, vertex: str, guess: bool, repeated: RepeatPolicy = "error") -> Ids:
    """Read the vertex ids, one per row; a repeated one is an `InputError` with its line, or gets a number."""
    codes, ids = read_ids(source, vertex, guess)
    if len(ids) == len(codes):
        return ids
    if repeated == "number":
        return object_array(_numbered(list(map(str, ids[codes].tolist()))))
    first = np.full(len(ids), -1)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    again = int(np.argmax(first[codes] != np.arange(len(codes))))
    message = f"column {shown(vertex)}: the vertex id {shown(ids[codes[again]])} was given to an earlier row"
    remedy = " to add a number to repeated ids, or name no column of ids to have the rows numbered"
    parts = (f"{message}; make the ids unique, use ", Argument("repeated", "number"), remedy)
    raise source.fault(InputError(*parts), again)


def _numbered(names: list[str]) -> list[str]:
    """Add a number to repeated names: "frog (2)", or a higher one if that is taken."""
    used, count, found = set(names), Counter[str](), []
    for name in names:
        new = name
        while count[name] and new in used:
            count[name] += 1
            new = f"{name} ({count[name]})"
        count[name] = count[name] or 1
        used.add(new)
        found.append(new)
    return found


def _bins(source: Table, columns: list[Column], options: WideOptions) -> dict[str, Bins]:
    """Decide which columns get bins, and which bins."""
    rules, order = as_bins(options.bins), options.order or {}
    for argument, names in (("bins", rules.named), ("order", order)):
        for name in names:
            if name not in {column.name for column in columns}:
                message = f"{argument} names {shown(name)}, which is not among the columns used"
                hint = "" if name in source.names else source.similar_column(name)
                raise fault(source.path, f"{message}; {hint}" if hint else message)
    chosen = {}
    for column in columns:
        rule = rules.named.get(column.name)
        if rule is not None and not column.numbers and column.name not in order:
            row = column.first_not_number()
            why = "is not a number" if column.too_large is None else "is too large a number"
            what = f"column {shown(column.name)} cannot have bins: {shown(column.values[row].as_py())} {why}"
            remedy = InputError(f"{what}; correct it, or leave the column out of ", Argument("bins"))
            raise source.fault(remedy, row)
        if column.numbers and column.name not in order:
            rule = rules.rule(column.name, column.distinct)
        if rule is not None:
            chosen[column.name] = rule
    return chosen


def _has_no_header(names: Sequence[str]) -> bool:
    """Whether a first line looks like data: most names are numbers, and do not ascend as years do."""
    numbers = [name for name in names if name.isascii() and name.replace(".", "", 1).isdecimal()]
    return 2 * len(numbers) > len(names) and not _ascending(numbers)


def _pattern(text: str) -> str:
    """Return a text with each number replaced by a sign that no text has."""
    return re.sub("[0-9]+", "\0", text)


def _ascending(names: Sequence[str]) -> bool:
    """Whether all names are numbers in ascending order."""
    numbers = [float(name) for name in names if name.isascii() and name.replace(".", "", 1).isdecimal()]
    return len(numbers) == len(names) and numbers == sorted(numbers)
