"""Reading a hypergraph from any file, and what is known about its vertices."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import hyperclus
from hyperclus._runtime.files import fault, printable
from hyperclus.cli.app import Messages
from hyperclus.cli.options import MAX_DIGITS, IncidenceColumns, argument, input_option
from hyperclus.errors import InputError, prefixed
from hyperclus.hypergraph.binning import Bins, BinsOrRule, Rule
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import caption, shown
from hyperclus.io.formats import FORMATS, guess, known_options, wide_table
from hyperclus.io.tables import TableFormat, sniff_table
from hyperclus.io.tables.csv import CsvTable
from hyperclus.io.tables.encode import read_ids
from hyperclus.io.tables.long import read_long
from hyperclus.io.tables.schema import check_present, read_columns
from hyperclus.io.tables.table import Table
from hyperclus.io.tables.wide import TableSchema, WideOptions, infer_schema, read_rows, row_names, unique_ids
from hyperclus.report.format import count
from hyperclus.typing import Codes, Ids

MAX_COLUMNS = 3  # of a kind that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(IncidenceColumns):
    """A file, and how to read it."""

    file: str = argument("File to read.", "FILE")
    format: str | None = input_option(f"{', '.join(FORMATS)} (detected by default).", "FORMAT", "--from")
    delimiter: str | None = input_option("Field delimiter (detected by default).", "CHARACTER")
    id: str | None = input_option(
        "Vertex ids, in a table with a row per vertex (default: row numbers).", "COLUMN"
    )
    label: str | None = input_option("Known classes, used for comparison only.", "COLUMN")
    exclude: list[str] | None = input_option(
        "Ignore a column of a table with a row per vertex; repeatable.", "COLUMN"
    )
    bins: list[str] | None = input_option(
        "Bins for columns with more than 10 numbers: 5 (default), quantile, quantile:8, none; for a single "
        "column age=8; repeatable.",
        "BINS",
    )
    option: list[str] | None = input_option(
        "Another option of the format, such as missing=category or decimal=','; repeatable.",
        "NAME=VALUE",
        "--option",
        "-o",
    )

    @property
    def path(self) -> Path:
        """The path of the file; `file` may also be a URI."""
        return Path(self.file)

    @property
    def options(self) -> dict[str, Any]:
        """The given options of the format, by name."""
        names = ("vertex", "edge", "weight", "edge_weight", "duplicates", "delimiter")
        return format_options({name: getattr(self, name) for name in names}, self.option)

    def resolve(self) -> "ResolvedInput":
        """Decide on the format, and refuse options that do not apply to it."""
        if self.format is not None and self.format not in FORMATS:
            raise InputError(f"there is no format {self.format!r}; choose from {', '.join(FORMATS)}")
        chosen = guess(self.path) if self.format is None else FORMATS[self.format]
        given = self.options
        table = wide_table(self.path, chosen, given) if self.format is None else None
        if chosen.name == "rows" or table is not None:
            return self._as_rows(given, table or sniff_table(self.path, delimiter=given.get("delimiter")))
        if chosen.read is not read_long and self.label is not None:
            raise fault(
                self.path,
                f"--label names a column, and the format {chosen.name} has no columns; give the classes in a "
                "separate file, with --classes",
            )
        for name, value in (("--id", self.id), ("--exclude", self.exclude), ("--bins", self.bins)):
            if value:
                raise fault(
                    self.path,
                    f"{name} is for tables with a row per vertex; this is {chosen.name} (or use --from rows)",
                )
        return ResolvedInput(self, chosen.name, given)

    def _as_rows(self, given: dict[str, Any], table: Table) -> "ResolvedInput":
        for name in ("vertex", "edge", "weight", "edge_weight", "duplicates"):
            if name in given:
                raise fault(
                    self.path,
                    f"--{name.replace('_', '-')} is for a table with a row per incidence, which needs "
                    "--vertex and --edge; for a table with a row per vertex there is --id",
                )
        for name, option in (("features", "--exclude"), ("exclude", "--exclude"), ("bins", "--bins")):
            if name in given:
                raise fault(self.path, f"there is no -o {name} on the command line; use {option}")
        ignored = dict.fromkeys([*(self.exclude or ()), *filter(None, [self.label])])
        more: dict[str, Any] = {"vertex": self.id, "exclude": list(ignored)}
        if self.bins:
            more["bins"] = parse_bins(self.bins)
        chosen = given | {name: value for name, value in more.items() if value is not None}
        return ResolvedInput(self, "rows", chosen, table)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSource(Source):
    """A file, how to read it, and known classes of its vertices."""

    classes: Path | None = input_option(
        "Known classes in a separate file, with a column of vertices and one of classes.", "FILE"
    )


@dataclass(frozen=True, slots=True)
class ResolvedInput:
    """A file with a known format and its options."""

    source: Source
    format: str
    options: dict[str, Any]
    table: Table | None = None  # with a row per vertex

    def read(self, messages: Messages) -> Hypergraph:
        """Read the hypergraph; for a table with a row per vertex, print how it was read."""
        if self.format != "rows":
            known_options(FORMATS[self.format].read, self.options, FORMATS[self.format])
            return hyperclus.read(self.source.path, format=self.format, **self.options)
        return self.read_rows(self.schema(), messages)

    def schema(self) -> TableSchema:
        """The columns of a table with a row per vertex, and how they are used."""
        assert self.table is not None
        known = known_options(read_rows, self.options, FORMATS["rows"])
        options = {name: value for name, value in known.items() if name != "delimiter"}
        return infer_schema(self.table, WideOptions(**options))

    def read_rows(self, schema: TableSchema, messages: Messages) -> Hypergraph:
        """Read a table with a row per vertex, and print how it was read."""
        hypergraph = schema.hypergraph()
        path, separated = printable(self.source.path), self._unusual_delimiter()
        hint = "" if self.source.format else "; for a row per incidence give --vertex and --edge"
        details = _how_rows_were_read(schema, hypergraph)
        messages.note(f"{path}: read as a table with a row per vertex{separated} ({details}){hint}")
        for remark in schema.remarks():
            messages.warn(f"{path}: {remark}")
        return hypergraph

    def _unusual_delimiter(self) -> str:
        """The delimiter in words, if it was detected and the name of the file suggests another one."""
        usual = "\t" if self.source.path.name.lower().removesuffix(".gz").endswith(".tsv") else ","
        if (
            "delimiter" in self.options
            or not isinstance(self.table, CsvTable)
            or self.table.delimiter == usual
        ):
            return ""
        names = {"\t": "tabs", ",": "commas"}
        return f", separated by {names.get(self.table.delimiter, repr(self.table.delimiter))}"

    def classes(self, hypergraph: Hypergraph) -> list[Any] | None:
        """Read the class of each vertex, from --label or --classes; None without these options."""
        label = self.source.label
        file = self.source.classes if isinstance(self.source, LabelledSource) else None
        if file is not None:
            if label is not None:
                raise InputError("--label and --classes both name the classes; choose one")
            return read_labels(file, hypergraph.vertex_ids, "class")
        if label is None:
            return None
        table = self.table or sniff_table(
            self.source.path, cast(TableFormat, self.format), self.options.get("delimiter")
        )
        guess_ids = self.options.get("ids", "guess") == "guess"
        values = _column(table, label, "class")
        if self.format == "rows":
            vertex = self.options.get("vertex", row_names(table))
            repeated = self.options.get("repeated", "error")
            ids = list(range(len(values)))
            if vertex is not None:
                ids = unique_ids(table, vertex, guess_ids, repeated).tolist()
        else:
            vertex = table.column(self.options.get("vertex", "vertex"))
            codes, names = read_ids(table, vertex, guess_ids)
            ids, values = names.tolist(), _one_per_vertex(table, label, codes, names, values)
        by_id = dict(zip(ids, values, strict=True))
        return [by_id[vertex] for vertex in hypergraph.vertex_ids.tolist()]


def read_labels(path: Path, vertices: Ids, what: str, columns: tuple[str, str] | None = None) -> list[Any]:
    """Read the class or cluster of each vertex from a separate file.

    Ids are compared as text: the integer 7 of a hypergraph is the 7 of a CSV file.

    Parameters
    ----------
    what : str
        "class" or "cluster", for messages.
    columns : pair of column names, optional
        Vertices and labels; by default the file must have two columns, the vertices first.
    """
    if path.suffix.lower() in (".json", ".xlsx", ".xls"):
        raise fault(
            path, f"this must be CSV, TSV or Parquet, with a column of vertices and one of {what} names"
        )
    table = sniff_table(path)
    if columns is None:
        if len(table.names) != 2:
            raise fault(
                path, f"this must have two columns, the vertex and its {what}; it has {len(table.names)}"
            )
        columns = (table.names[0], table.names[1])
    vertex, label = (table.column(name) for name in columns)
    codes, ids = read_ids(table, vertex, False)
    values = _one_per_vertex(table, label, codes, ids, _column(table, label, what))
    known = dict(zip(map(caption, ids.tolist()), values, strict=True))
    names = list(map(caption, vertices.tolist()))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise fault(path, f"two vertices have the same text, {shown(twice)}; rename one of them")
    for name in names:
        if name not in known:
            raise fault(path, f"vertex {shown(name)} has no {what}; give one for each vertex")
    if len(known) > len(names):
        other = next(iter(known.keys() - set(names)))
        raise fault(path, f"{shown(other)} is not a vertex of the hypergraph; remove the row")
    return [known[name] for name in names]


def _column(table: Table, label: str, what: str) -> list[Any]:
    """A column without missing values."""
    (column,) = read_columns(table, [table.column(label)])
    check_present(table, column, what, "fill it or leave the row out")
    return list(column.values.to_pylist())


def _one_per_vertex(table: Table, label: str, codes: Codes, ids: Ids, values: list[Any]) -> list[Any]:
    """The value of each vertex, which must be the same in all its rows."""
    found: dict[int, Any] = {}
    for row, (code, value) in enumerate(zip(codes.tolist(), values, strict=True)):
        before = found.setdefault(code, value)
        if before != value:
            raise table.fault(
                f"column {shown(label)}: vertex {shown(ids[code])} has {shown(value)}, but {shown(before)} "
                "in an earlier row; give each vertex one value",
                row,
            )
    return [found[code] for code in range(len(ids))]


def format_options(given: dict[str, str | None], more: list[str] | None) -> dict[str, Any]:
    """The given options by name, with those of -o or -w; true and false become truth values."""
    found: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    for text in more or ():
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise InputError(f"an option is NAME=VALUE, such as isolated=keep; got {text!r}")
        found[name.replace("-", "_")] = {"true": True, "false": False}.get(value.lower(), value)
    if found.get("delimiter") in ("\\t", "tab"):  # how it is typed in a shell
        found["delimiter"] = "\t"
    return found


def parse_bins(texts: list[str]) -> BinsOrRule | dict[str, BinsOrRule] | bool:
    """Parse the values of --bins: 5, quantile, quantile:8, none, or one of these for a column, as age=8."""
    overall: list[str] = []
    columns: dict[str, BinsOrRule] = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not sign:
            overall.append(text)
        elif value == "none":
            raise InputError(f"--bins {text}: none is for all columns; use --exclude to ignore one")
        else:
            columns[name] = _bins(value, text)
    if len(overall) > 1 or (overall and columns):
        raise InputError("--bins is given once for all columns, or as COLUMN=BINS for some of them")
    if columns:
        return columns
    return False if overall == ["none"] else _bins(overall[0], overall[0])


def _bins(value: str, text: str) -> Bins:
    """Parse a number of bins, a rule, or both."""
    rule, sign, size = ("width", ":", value) if value.isdecimal() else value.partition(":")
    if sign and not (size.isdecimal() and len(size) <= MAX_DIGITS):
        raise InputError(f"--bins {text}: {size!r} is not a number of bins; use 8, quantile or quantile:8")
    try:
        return replace(Bins(cast(Rule, rule)), count=int(size)) if sign else Bins(cast(Rule, rule))
    except InputError as error:
        raise prefixed(f"--bins {text}: ", error) from None


def _how_rows_were_read(schema: TableSchema, hypergraph: Hypergraph) -> str:
    """Sizes and columns, such as "101 rows, 16 columns, 36 hyperedges; size: 5 bins; legs: 6 values"."""
    counts = schema.edge_counts(hypergraph)
    sizes = [count(schema.n_rows, "row"), count(len(counts), "column")]
    sizes.append(count(hypergraph.n_edges, "hyperedge"))
    groups: dict[str, list[str]] = {}
    for column in schema.columns:
        name, n_edges = column.name, counts[column.name]
        if not n_edges:
            groups.setdefault("one value, left out", []).append(name)
        elif name in schema.bins:
            groups.setdefault(f"{n_edges} bins", []).append(name)
        elif column.numbers and n_edges > 2:
            groups.setdefault(f"{n_edges} values", []).append(name)
    if commas := [column.name for column in schema.columns if column.decimal_comma]:
        groups["decimal commas"] = commas
    return "; ".join([", ".join(sizes), *(f"{_first(names)}: {what}" for what, names in groups.items())])


def _first(names: list[str]) -> str:
    more = f" and {len(names) - MAX_COLUMNS} more" if len(names) > MAX_COLUMNS else ""
    return ", ".join(map(printable, names[:MAX_COLUMNS])) + more
