"""Tables in files with a row per vertex: CSV and TSV, gzipped or not, and Parquet."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, get_args

import numpy as np

from hyperclus.binning import Bins, BinsByColumn, as_bins
from hyperclus.errors import InputError, check_choice
from hyperclus.hypergraph import Hypergraph
from hyperclus.ids import listed, shown
from hyperclus.io.columns import (
    Column,
    TableFile,
    known_column,
    missing_value,
    read_columns,
    read_ids,
    table_file,
)
from hyperclus.io.files import Place, fault
from hyperclus.io.long_table import IdPolicy
from hyperclus.progress import tell
from hyperclus.types import AbsencePolicy, Ids, MissingPolicy

FEW = 10  # different numbers that a column may have to be taken as it is
USUAL = Bins("width", 5)

_IDS = 0  # the key of the vertex ids among columns, whose names are text


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A table as it was taken.

    Attributes
    ----------
    n_rows : int
    edges : mapping from the name of a column to its number of hyperedges
        A column with one value has none.
    numbers, binned : tuples of column names
        Of the columns of numbers: those taken as they are, and those with bins.
    remarks : tuple of str
        What looks odd, a sentence each.
    """

    hypergraph: Hypergraph
    n_rows: int
    edges: Mapping[str, int]
    numbers: tuple[str, ...]
    binned: tuple[str, ...]
    remarks: tuple[str, ...]


def read_rows(
    path: Place,
    *,
    vertex: str | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    bins: BinsByColumn | Literal[False] = USUAL,
    missing: MissingPolicy = "error",
    constant: AbsencePolicy = "drop",
    isolated: AbsencePolicy = "error",
    delimiter: str | None = None,
    ids: IdPolicy = "guess",
) -> Hypergraph:
    r"""From a file with a row per vertex, as `Hypergraph.from_table` makes it from a table in memory.

    Text has no numbers, so they are told: a column holds numbers when every field is one (3, -0.5, 1e6; 007
    is a name), is empty, or is NA, N/A, NaN, null, None or ?, which count as missing there and as
    values in other columns.

    Parameters
    ----------
    path : file name
        .csv, .tsv (also gzipped) or .parquet, else what the content tells. The first line of text names the
        columns.
    vertex : column name, optional
        The column of vertex ids. By default a first column without a name, which is how pandas and R write
        row names; else rows are numbered 0, 1, ...
    features, exclude : column names, optional
        As in `Hypergraph.from_table`: the columns to use, or those not to use.
    bins : int, rule, Bins, mapping of column name to these, or False
        For columns with more than 10 different numbers, so that near numbers share a hyperedge: 5 (the
        default) means five of equal width, see `Bins`. A mapping is for the columns it names, however few
        numbers they have, and the others have five. False: every number is a hyperedge.
    missing, constant, isolated
        As in `Hypergraph.from_table`.
    delimiter : one character, optional
        Of text; a comma for CSV, a tab for TSV.
    ids : {"guess", "text"}
        Whether vertex ids that look like integers become integers, as in `read_long`.

    Raises
    ------
    InputError
        Naming the file, the line (in Parquet the row, from 0) and the remedy: for all that `read_long`
        refuses in a file, and all that `Hypergraph.from_table` refuses in a table.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "animals.csv")
    >>> _ = path.write_text("name,legs,class\nfrog,4,a\nhen,2,b\nowl,2,b\n")
    >>> h = read_rows(path, vertex="name", exclude=["class"])
    >>> h.vertex_ids.tolist(), h.edge_ids.tolist()
    (['frog', 'hen', 'owl'], [('legs', 4), ('legs', 2)])
    """
    return rows(
        path,
        vertex=vertex,
        features=features,
        exclude=exclude,
        bins=bins,
        missing=missing,
        constant=constant,
        isolated=isolated,
        delimiter=delimiter,
        ids=ids,
    ).hypergraph


def rows(
    path: Place,
    *,
    vertex: str | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    bins: BinsByColumn | Literal[False] = USUAL,
    missing: MissingPolicy = "error",
    constant: AbsencePolicy = "drop",
    isolated: AbsencePolicy = "error",
    delimiter: str | None = None,
    ids: IdPolicy = "guess",
) -> Rows:
    """What `read_rows` reads, with how each column was taken."""
    check_choice("missing", missing, get_args(MissingPolicy))
    check_choice("constant", constant, get_args(AbsencePolicy))
    check_choice("isolated", isolated, get_args(AbsencePolicy))
    check_choice("ids", ids, get_args(IdPolicy))
    source = table_file(path, delimiter)
    vertex = row_names(source) if vertex is None else known_column(source, vertex)
    names = _features(source, vertex, features, exclude)
    columns = read_columns(source, names)
    n_rows = len(columns[0].values)
    if not n_rows:
        raise source.fault("the table has no rows under its header; it needs one for each vertex")
    if missing == "error":
        _refuse_missing(source, columns)
    rules = _rules(source, columns, bins)
    table: dict[Any, Any] = {column.name: column.values for column in columns}
    if vertex is not None:
        table[_IDS] = unique_ids(source, vertex, ids == "guess")
    try:
        hypergraph = Hypergraph.from_table(
            table,
            features=names,
            vertex=None if vertex is None else _IDS,
            bins=rules,
            missing=missing,
            constant=constant,
            isolated=isolated,
        )
    except InputError as error:
        raise source.fault(str(error)) from None
    source.check_unchanged()
    tell("reading", source.size, source.unit, 1.0, f"{hypergraph.n_incidences:,} incidences")
    counts = Counter(name for name, _ in hypergraph.edge_ids.tolist())
    return Rows(
        hypergraph,
        n_rows,
        {name: counts[name] for name in names},
        tuple(column.name for column in columns if column.numbers and column.name not in rules),
        tuple(rules),
        tuple(filter(None, (_remark(column, n_rows) for column in columns))),
    )


def write_rows(hypergraph: Hypergraph, path: Place) -> NoReturn:
    """Refuse to write: a hypergraph need not be a table with one value per vertex and column."""
    raise fault(path, "a table with a row per vertex can be read, not written; choose another format")


def row_names(source: TableFile) -> str | None:
    """The first column, where it has no name, as pandas and R write row names; else None."""
    return "" if source.names[:1] == [""] and len(source.names) > 1 else None


def unique_ids(source: TableFile, vertex: str, guess: bool) -> Ids:
    """The vertex ids, one per row; an id that comes back is an `InputError` that names its line."""
    codes, ids = read_ids(source, vertex, guess)
    if len(ids) < len(codes):
        first = np.full(len(ids), -1)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        again = int(np.argmax(first[codes] != np.arange(len(codes))))
        raise source.fault(
            f"column {shown(vertex)}: the vertex id {shown(ids[codes[again]])} was given to an earlier row; "
            "make the ids unique, or leave them out to have the rows numbered",
            again,
        )
    return ids


def _features(
    source: TableFile, vertex: str | None, features: Sequence[str] | None, exclude: Sequence[str]
) -> list[str]:
    """The columns to use, each there exactly once."""
    sign = next((sign for sign in ";|\t," if len(source.names) == 1 and sign in source.names[0]), None)
    if sign is not None:
        header = f"the table has one column, {shown(source.names[0])}"
        raise fault(source.path, f"{header}; if {shown(sign)} parts the columns, say delimiter={sign!r}")
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
    remedy = "fill it, or say missing=category (a value of its own) or missing=drop"
    for column in columns:
        error = missing_value(source, column, "the value is missing", remedy)
        if error is not None:
            raise error


def _rules(
    source: TableFile, columns: list[Column], bins: BinsByColumn | Literal[False] | None
) -> dict[str, Bins]:
    """The columns that get bins, and which."""
    if bins is None or bins is False:
        return {}
    rules = as_bins(bins)
    if isinstance(rules, dict):
        names = {column.name for column in columns}
        for name in rules:
            if name not in names:
                raise fault(
                    source.path, f"bins are given for {shown(name)}, which is not among the columns used"
                )
    chosen = {}
    for column in columns:
        rule = rules.get(column.name) if isinstance(rules, dict) else None
        if rule is None and column.numbers and column.distinct > FEW:
            rule = rules if isinstance(rules, Bins) else USUAL
        if rule is not None:
            chosen[column.name] = rule
    return chosen


def _remark(column: Column, n_rows: int) -> str | None:
    """What is odd about a column, in a sentence."""
    name = shown(column.name)
    if column.odd is not None and column.distinct > FEW:
        return (
            f"column {name} holds {shown(column.odd)} beside numbers, so each of its {column.distinct:,} "
            "values is a hyperedge; correct it or leave the column out"
        )
    if n_rows > FEW and 2 * column.distinct > n_rows and not column.numbers:
        return (
            f"column {name} has {column.distinct:,} values in {n_rows:,} rows and joins next to nothing; "
            "leave it out, or take it for the vertex ids"
        )
    if n_rows > FEW and column.distinct == n_rows and _consecutive(column):
        return f"column {name} numbers the rows; leave it out, or take it for the vertex ids"
    return None


def _consecutive(column: Column) -> bool:
    """Whether different numbers are whole and without gaps."""
    if not str(column.values.type).startswith(("int", "uint")):
        return False
    values = column.values.to_numpy()
    return bool(len(values) == int(values.max()) - int(values.min()) + 1)
