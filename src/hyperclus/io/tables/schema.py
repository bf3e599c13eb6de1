"""Tables with a row per vertex, looked at before they become hypergraphs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.progress import report_progress
from hyperclus.errors import Argument, InputError, check_choice, prefixed
from hyperclus.hypergraph.binning import Bins, BinsByColumn, as_bins
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import listed, object_array
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.columns import (
    Column,
    known_column,
    missing_value,
    read_columns,
    read_ids,
    table_file,
)
from hyperclus.io.tables.encode import arrow
from hyperclus.io.tables.files import Decimal, TableFile, TextTable, other_delimiter
from hyperclus.io.tables.long import IdPolicy
from hyperclus.typing import AbsencePolicy, Ids, MissingPolicy

FEW = 10  # different numbers that a column may have to be taken as it is
USUAL = Bins("width", 5)

RepeatPolicy = Literal["error", "number"]

_IDS = 0  # the key of the vertex ids among columns, whose names are text


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A table as it was taken.

    Attributes
    ----------
    n_rows : int
    edges : mapping from the name of a column to its number of hyperedges
        A column with one value has none.
    numbers, binned, commas : tuples of column names
        Of the columns of numbers: those taken as they are, those with bins, and among both those written
        with a decimal comma.
    remarks : tuple of str
        What looks odd, a sentence each.
    """

    hypergraph: Hypergraph
    n_rows: int
    edges: Mapping[str, int]
    numbers: tuple[str, ...]
    binned: tuple[str, ...]
    commas: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """A column in words: what it would become, and what is odd about it.

    `distinct` and `missing` are None for a column that is not used.
    """

    column: str
    becomes: str
    distinct: int | None
    missing: int | None
    remark: str


@dataclass(frozen=True, slots=True, eq=False)
class TableSchema:
    """The columns of a table with a row per vertex, and what is to be made of them.

    Attributes
    ----------
    vertex : str or None
        The column of vertex ids.
    columns : list of Column
        Those to use.
    rules : mapping of column name to Bins
        The columns that get bins.
    missing, constant, isolated, ids, repeated
        As in `read_rows`.
    """

    source: TableFile
    vertex: str | None
    columns: list[Column]
    rules: Mapping[str, Bins]
    missing: MissingPolicy
    constant: AbsencePolicy
    isolated: AbsencePolicy
    ids: IdPolicy
    repeated: RepeatPolicy

    @property
    def n_rows(self) -> int:
        """How many vertices there are."""
        return len(self.columns[0].values)

    def notes(self) -> Iterator[ColumnInfo]:
        """Every column of the file, in words."""
        used = {column.name: column for column in self.columns}
        for name in self.source.names:
            if name in used:
                column = used[name]
                remark = ", ".join(_words(column, self.n_rows))
                yield ColumnInfo(name, self._becomes(column), column.distinct, column.missing, remark)
            else:
                yield ColumnInfo(name, "vertex ids" if name == self.vertex else "left out", None, None, "")

    def _becomes(self, column: Column) -> str:
        if column.distinct < 2 and not column.missing and self.constant == "drop":
            return "left out"
        if column.name in self.rules:
            return f"{self.rules[column.name].count} bins"
        return "numbers as they are" if column.numbers else "categories"

    def rows(self) -> Rows:
        """The hypergraph, with how each column was taken; an `InputError` where none can be made."""
        source, names = self.source, [column.name for column in self.columns]
        if self.missing == "error":
            _refuse_missing(source, self.columns)
        _refuse_infinite(source, [column for column in self.columns if column.name in self.rules])
        table: dict[Any, Any] = {column.name: column.values for column in self.columns}
        if self.vertex is not None:
            table[_IDS] = unique_ids(source, self.vertex, self.ids == "guess", self.repeated)
        try:
            hypergraph = Hypergraph.from_table(
                table,
                features=names,
                vertex=None if self.vertex is None else _IDS,
                bins=dict(self.rules),
                missing=self.missing,
                constant=self.constant,
                isolated=self.isolated,
            )
        except InputError as error:
            raise source.fault(error) from None
        source.check_unchanged()
        report_progress("reading", source.size, source.unit, 1.0, f"{hypergraph.n_incidences:,} incidences")
        counts = Counter(name for name, _ in hypergraph.edge_ids.tolist())
        return Rows(
            hypergraph,
            self.n_rows,
            {name: counts[name] for name in names},
            tuple(column.name for column in self.columns if column.numbers and column.name not in self.rules),
            tuple(self.rules),
            tuple(column.name for column in self.columns if column.comma),
            tuple(self._remarks()),
        )

    def _remarks(self) -> Iterator[str]:
        """What is odd, a sentence each."""
        if isinstance(self.source, TextTable) and _unnamed(self.source.names):
            yield "the first line seems to have no column names but numbers; add a line with names"
        for column in self.columns:
            kind = _oddity(column, self.n_rows)
            if kind is not None:
                words = _ODD[kind][1].format(shown(column.odd), distinct=column.distinct, rows=self.n_rows)
                yield f"column {shown(column.name)} {words}"


def survey(
    path: StrPath,
    *,
    vertex: str | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    bins: BinsByColumn | Literal[False] = USUAL,
    missing: MissingPolicy = "error",
    constant: AbsencePolicy = "drop",
    isolated: AbsencePolicy = "error",
    delimiter: str | None = None,
    decimal: Decimal | None = None,
    ids: IdPolicy = "guess",
    repeated: RepeatPolicy = "error",
) -> TableSchema:
    """Read the columns that `read_rows` uses, and decide what becomes of them."""
    check_choice("missing", missing, get_args(MissingPolicy))
    check_choice("constant", constant, get_args(AbsencePolicy))
    check_choice("isolated", isolated, get_args(AbsencePolicy))
    check_choice("ids", ids, get_args(IdPolicy))
    check_choice("repeated", repeated, get_args(RepeatPolicy))
    if decimal is not None:
        check_choice("decimal", decimal, get_args(Decimal))
    source = table_file(path, delimiter)
    vertex = row_names(source) if vertex is None else known_column(source, vertex)
    columns = read_columns(source, _features(source, vertex, features, exclude), decimal)
    if not len(columns[0].values):
        raise source.fault("the table has no rows under its header; it needs one for each vertex")
    rules = _rules(source, columns, bins)
    return TableSchema(source, vertex, columns, rules, missing, constant, isolated, ids, repeated)


def row_names(source: TableFile) -> str | None:
    """The first column, where it has no name, as pandas and R write row names; else None."""
    return "" if source.names[:1] == [""] and len(source.names) > 1 else None


def unique_ids(source: TableFile, vertex: str, guess: bool, repeated: RepeatPolicy = "error") -> Ids:
    """The vertex ids, one per row; one that comes back is an `InputError` with its line, or gets a number."""
    codes, ids = read_ids(source, vertex, guess)
    if len(ids) == len(codes):
        return ids
    if repeated == "number":
        return object_array(_numbered(list(map(str, ids[codes].tolist()))))
    first = np.full(len(ids), -1)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    again = int(np.argmax(first[codes] != np.arange(len(codes))))
    raise source.fault(
        InputError(
            f"column {shown(vertex)}: the vertex id {shown(ids[codes[again]])} was given to an earlier row; "
            "make the ids unique, use ",
            Argument("repeated", "number"),
            " to add a number to repeated ids, or name no column of ids to have the rows numbered",
        ),
        again,
    )


def _numbered(names: list[str]) -> list[str]:
    """Names with a number behind those that come back.

    >>> _numbered(["frog", "hen", "frog", "frog (2)"])
    ['frog', 'hen', 'frog (3)', 'frog (2)']
    """
    taken, count, found = set(names), Counter[str](), []
    for name in names:
        new = name
        while count[name] and new in taken:
            count[name] += 1
            new = f"{name} ({count[name]})"
        count[name] = count[name] or 1
        taken.add(new)
        found.append(new)
    return found


def _features(
    source: TableFile, vertex: str | None, features: Sequence[str] | None, exclude: Sequence[str]
) -> list[str]:
    """The columns to use, each there exactly once."""
    if source.unparted is not None:
        header = f"the table has one column, {shown(source.names[0])}"
        sign = source.unparted
        raise fault(source.path, prefixed(f"{header}; ", other_delimiter(sign)))
    left_out = [known_column(source, name) for name in listed(exclude, "exclude")]
    if features is not None and left_out:
        raise InputError("pass features or exclude, not both; features alone says which columns to use")
    names = source.names if features is None else listed(features, "features")
    names = [name for name in names if features is not None or (name != vertex and name not in left_out)]
    for name in names:
        if name == "":
            raise fault(source.path, f"column {source.names.index('') + 1} has no name; name or exclude it")
        known_column(source, name)
    if not names:
        raise fault(source.path, "no column is left to use; a table needs one beside the vertex ids")
    return names


def _refuse_missing(source: TableFile, columns: list[Column]) -> None:
    category, drop = Argument("missing", "category"), Argument("missing", "drop")
    remedy = InputError("fill it, or use ", category, " (missing is a value of its own) or ", drop)
    for column in columns:
        error = missing_value(source, column, "the value is missing", remedy)
        if error is not None:
            raise error


def _refuse_infinite(source: TableFile, columns: list[Column]) -> None:
    pa, pc = arrow(), arrow("pyarrow.compute")
    for column in columns:
        row = -1
        if pa.types.is_floating(column.values.type):
            row = pc.index(pc.is_inf(column.values), True).as_py()
        if row >= 0:
            raise source.fault(
                f"column {shown(column.name)}: the number is infinite or too large for bins; correct it or "
                "leave the row out",
                row,
            )


def _rules(
    source: TableFile, columns: list[Column], bins: BinsByColumn | Literal[False] | None
) -> dict[str, Bins]:
    """The columns that get bins, and which."""
    if bins is None or bins is False:
        return {}
    rules = as_bins(bins)
    asked = rules if isinstance(rules, dict) else {}
    names = {column.name for column in columns}
    for name in asked:
        if name not in names:
            hint = source.near(name)
            message = f"bins are given for {shown(name)}, which is not among the columns used"
            raise fault(source.path, f"{message}; {hint}" if hint else message)
    chosen = {}
    for column in columns:
        rule = asked.get(column.name)
        if rule is not None and not column.numbers:
            row = column.first_other
            why = "is no number" if column.beyond is None else "is too large a number"
            raise source.fault(
                InputError(
                    f"column {shown(column.name)} cannot have bins: {shown(column.values[row].as_py())} "
                    f"{why}; correct it, or leave the column out of ",
                    Argument("bins"),
                ),
                row,
            )
        if rule is None and column.numbers and column.distinct > FEW:
            rule = rules if isinstance(rules, Bins) else USUAL
        if rule is not None:
            chosen[column.name] = rule
    return chosen


_ODD = {  # what may be odd about a column, in a few words and in a sentence
    "mixed": (
        "holds {} beside numbers",
        "holds {} beside numbers, so each of its {distinct:,} values is a hyperedge; correct it or leave "
        "the column out",
    ),
    "unique": (
        "every value different",
        "has {distinct:,} values in {rows:,} rows and joins nothing; leave it out, or take it for the "
        "vertex ids",
    ),
    "nearly unique": (
        "nearly every value different",
        "has {distinct:,} values in {rows:,} rows and joins next to nothing; leave it out",
    ),
    "counter": ("numbers the rows", "numbers the rows; leave it out, or take it for the vertex ids"),
}


def _oddity(column: Column, n_rows: int) -> str | None:
    """What is odd about a column, a key of `_ODD`."""
    if column.odd is not None and column.distinct > FEW:
        return "mixed"
    if n_rows > FEW and 2 * column.distinct > n_rows and not column.numbers:
        return "unique" if column.distinct == n_rows else "nearly unique"
    if n_rows > FEW and column.distinct == n_rows and _consecutive(column):
        return "counter"
    return None


def _words(column: Column, n_rows: int) -> Iterator[str]:
    """All that is to be said of a column, in a few words each."""
    kind = _oddity(column, n_rows)
    if kind is not None:
        yield _ODD[kind][0].format(shown(column.odd))
    if column.distinct < 2:
        yield "one value" if column.distinct else "no values"
    if column.comma:
        yield "decimal comma"


def _consecutive(column: Column) -> bool:
    """Whether different numbers are whole and without gaps."""
    if not str(column.values.type).startswith(("int", "uint")):
        return False
    values = column.values.to_numpy()
    return bool(len(values) == int(values.max()) - int(values.min()) + 1)


def _unnamed(names: Sequence[str]) -> bool:
    """Whether a first line looks like data: most names are numbers, and do not ascend as years do."""
    numbers = [float(name) for name in names if name.isascii() and name.replace(".", "", 1).isdecimal()]
    return 2 * len(numbers) > len(names) and numbers != sorted(numbers)
