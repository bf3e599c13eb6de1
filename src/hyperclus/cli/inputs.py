"""Reading a hypergraph from any file, and what is known about its vertices."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from hyperclus._runtime.files import StrPath, check_path, fault, plain_name, printable
from hyperclus._runtime.source import input_file
from hyperclus.cli.app import READ_OPTIONS, Messages, shell_message
from hyperclus.cli.ids import FORMULA, first_repeated, texts
from hyperclus.cli.options import argument, input_option
from hyperclus.cli.parsing import format_options, parse_bins, parse_order, parse_split
from hyperclus.clustering.frames import LABEL_COLUMNS
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import caption, count, first_few, noun_of_ids, shown
from hyperclus.hypergraph.weighting import transform_weights
from hyperclus.io.formats import FORMATS, find_format, known_options, wide_table
from hyperclus.io.tables import TableFormat, open_table
from hyperclus.io.tables.csv import CsvTable
from hyperclus.io.tables.encode import read_ids
from hyperclus.io.tables.long import long_table, read_long
from hyperclus.io.tables.schema import check_present, read_columns
from hyperclus.io.tables.table import Table
from hyperclus.io.tables.text import read_text
from hyperclus.io.tables.wide import TableSchema, WideOptions, infer_schema, read_rows, row_names, unique_ids
from hyperclus.typing import Ids

_log = logging.getLogger(__name__)

LONG = ("vertex", "edge", "weight", "edge_weight", "duplicates", "split")  # options for a row per incidence

ROWS = ("exclude", "bins", "order")  # options for the features of a row per vertex


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file, and how to read it."""

    vertex: str | None = input_option("Vertices, in a table with a row per incidence.", "COLUMN")
    edge: str | None = input_option("Hyperedges, in a table with a row per incidence.", "COLUMN")
    weight: str | None = input_option("Weights of the vertices in the hyperedges.", "COLUMN")
    edge_weight: str | None = input_option("Weights of the hyperedges.", "COLUMN")
    duplicates: str | None = input_option(
        "What to do with repeated incidences (default: error).", "error|sum|max"
    )
    split: list[str] | None = input_option(
        "Split the cells of a column into vertices of a hyperedge, or with --vertex into hyperedges of a "
        "vertex, such as authors=';'.",
        "COLUMN=SIGN",
    )
    weight_transform: str | None = input_option(
        "Transform the weights of vertices: log1p, sqrt, clip:99% (at a quantile) or clip:100.", "TRANSFORM"
    )
    missing: str | None = input_option(
        "Missing values: error (default), drop; with a row per incidence a weight such as 1, with a row per "
        "vertex category.",
        "POLICY",
    )
    thousands: str | None = input_option("Separator of thousands in numbers in text.", ",|.")
    sheet: str | None = input_option("Sheet of an Excel workbook.", "NAME")
    file: str = argument("File to read; - for standard input.", "FILE")
    format: str | None = input_option(f"{', '.join(FORMATS)} (detected by default).", "FORMAT", "--from")
    encoding: str | None = input_option(
        "Encoding of text, such as cp1252 or utf-16 (default: UTF-8, or by its byte order mark).", "NAME"
    )
    delimiter: str | None = input_option("Field delimiter (detected by default).", "CHARACTER")
    id: str | None = input_option(
        "Vertex ids, in a table with a row per vertex (default: row numbers).", "COLUMN"
    )
    vertex_name: str | None = input_option(
        "What a vertex is called in results (default: the column of vertices).", "NOUN"
    )
    edge_name: str | None = input_option(
        "What a hyperedge is called in results (default: the column of hyperedges).", "NOUN"
    )
    label: str | None = input_option("Known classes, used for comparison only.", "COLUMN")
    text: str | None = input_option(
        "Documents, in a table with a row per vertex: their words are the hyperedges (needs scikit-learn).",
        "COLUMN",
    )
    exclude: list[str] | None = input_option(
        "Ignore a column of a table with a row per vertex; repeatable.", "COLUMN"
    )
    bins: list[str] | None = input_option(
        "Bins for columns with more than 10 numbers: 5 (default), quantile, quantile:8, none; for a single "
        "column age=8, or zip=none if its numbers are categories; repeatable.",
        "BINS",
    )
    order: list[str] | None = input_option(
        "The values of a column in their order, as q1='disagree,neutral,agree'; repeatable.", "COLUMN=VALUES"
    )
    option: list[str] | None = input_option(
        f"Another option of the format, such as isolated=drop: {', '.join(READ_OPTIONS)}; repeatable.",
        "NAME=VALUE",
        "--option",
        "-o",
    )

    @property
    def path(self) -> Path:
        """The path of the file; `file` may also be a URI."""
        check_path(self.file)
        return Path(self.file)

    @property
    def opened(self) -> StrPath:
        """What the readers read: the path with its encoding, or standard input."""
        return input_file(self.file, self.encoding)

    @property
    def options(self) -> dict[str, Any]:
        """The given options of the format, by name."""
        names = (*LONG, "missing", "thousands", "sheet", "delimiter")
        given = {name: getattr(self, name) for name in names if name != "split"}
        found = format_options(given, self.option)
        if "split" in found:
            raise InputError("there is no -o split on the command line; use --split")
        return found | ({"split": parse_split(self.split)} if self.split else {})

    def resolve(self) -> "ResolvedInput":
        """Decide on the format, and refuse options that do not apply to it."""
        path, given = self.opened, self.options
        if self.text is not None:
            return self._as_text(given, path)
        chosen = find_format(path, self.format)
        table = wide_table(path, chosen, given) if self.format is None else None
        if chosen.name == "rows" or table is not None:
            opened: dict[str, Any] = {name: given.get(name) for name in ("delimiter", "sheet")}
            return self._as_rows(given, table or open_table(path, **opened))
        if chosen.read is not read_long and self.label is not None:
            raise fault(
                path,
                f"--label names a column, and the format {chosen.name} has no columns; give the classes in a "
                "separate file, with --classes",
            )
        for name in ("id", *ROWS):
            if getattr(self, name):
                wrong = f"--{name} is for tables with a row per vertex; this is {chosen.name}"
                raise fault(path, f"{wrong} (or use --from rows)")
        return ResolvedInput(self, path, chosen.name, given)

    def _as_text(self, given: dict[str, Any], path: StrPath) -> "ResolvedInput":
        for name in ROWS:
            if getattr(self, name):
                raise fault(path, f"--{name} does not apply to --text, which uses one column; leave it out")
        if self.format not in (None, "text"):
            raise fault(path, f"--text is not for --from {self.format}; leave one of them out")
        opened: dict[str, Any] = {name: given.get(name) for name in ("delimiter", "sheet")}
        table = open_table(path, **opened)
        options = given | {"text": self.text} | ({} if self.id is None else {"vertex": self.id})
        known_options(read_text, options, FORMATS["text"])
        return ResolvedInput(self, path, "text", options, table)

    def _as_rows(self, given: dict[str, Any], table: Table) -> "ResolvedInput":
        for name in given:
            if name in LONG:
                raise fault(
                    table.path,
                    f"--{name.replace('_', '-')} is for a table with a row per incidence, which needs "
                    "--vertex and --edge; for a table with a row per vertex there is --id",
                )
            if name in ("features", "exclude", "bins", "order"):
                instead = f"--{name}" if name in ("bins", "order") else "--exclude"
                raise fault(table.path, f"there is no -o {name} on the command line; use {instead}")
        options = given | {
            "exclude": [
                *dict.fromkeys([*(self.exclude or ()), *([] if self.label is None else [self.label])])
            ]
        }
        if self.id is not None:
            options["vertex"] = self.id
        if self.bins:
            options["bins"] = parse_bins(self.bins)
        if self.order:
            options["order"] = parse_order(self.order)
        return ResolvedInput(self, table.path, "rows", options, table)


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
    path: StrPath
    format: str
    options: dict[str, Any]
    table: Table | None = None  # with a row per vertex

    def schema(self) -> TableSchema | None:
        """The columns of a table with a row per vertex, and how they are used; None for other files."""
        if self.table is None or self.format != "rows":
            return None
        with self._assuming_rows():
            options = dict(known_options(read_rows, self.options, FORMATS["rows"]))
            options.pop("delimiter", None)
            options.pop("sheet", None)
            schema = infer_schema(self.table, WideOptions(**options))
            if self.source.format is None:
                schema.check_header()
        return schema

    @contextmanager
    def _assuming_rows(self) -> Iterator[None]:
        """Add to errors that a row per vertex was assumed, if no option says so."""
        try:
            yield
        except InputError as error:
            if any(getattr(self.source, name) for name in ("format", "id", "label", *ROWS)):
                raise
            assumed = "a row per vertex was assumed; for a row per incidence use --vertex and --edge"
            raise InputError(*error.args, f" ({assumed})") from None

    def read(self, messages: Messages, schema: TableSchema | None = None) -> Hypergraph:
        """Read the hypergraph; for a table with a row per vertex, print how it was read."""
        hypergraph = self._read(messages, schema)
        source = self.source
        noun = source.vertex_name or (None if source.id is None else noun_of_ids(source.id))
        return hypergraph.with_nouns(vertex=noun, edge=source.edge_name)

    def _read(self, messages: Messages, schema: TableSchema | None) -> Hypergraph:
        chosen, schema = FORMATS[self.format], schema or self.schema()
        transform = self.source.weight_transform
        if schema is None:
            hypergraph = chosen.read(self.path, **known_options(chosen.read, self.options, chosen))
            return hypergraph if transform is None else transform_weights(hypergraph, transform)
        if transform is not None:
            raise fault(
                self.path, "--weight-transform is for weights, and a table with a row per vertex has none"
            )
        with self._assuming_rows():
            hypergraph = schema.hypergraph()
        path, separated = printable(self.path), self._unusual_delimiter()
        hint = "" if self.source.format else "; for a row per incidence give --vertex and --edge"
        details = _how_rows_were_read(schema, hypergraph)
        messages.note(f"{path}: read as a table with a row per vertex{separated} ({details}){hint}")
        for remark in schema.remarks():
            messages.warn(f"{path}: {shell_message(remark)}")
        return hypergraph

    def _unusual_delimiter(self) -> str:
        """The delimiter in words, if it was detected and the name of the file suggests another one."""
        usual = "\t" if plain_name(self.path).endswith(".tsv") else ","
        found = self.table.delimiter if isinstance(self.table, CsvTable) else usual
        if "delimiter" in self.options or found == usual:
            return ""
        names = {"\t": "tabs", ",": "commas"}
        return f", separated by {names.get(found, repr(found))}"

    def classes(self, hypergraph: Hypergraph) -> list[Any] | None:
        """Read the class of each vertex, from --label or --classes; None without these options."""
        label, options = self.source.label, self.options
        file = self.source.classes if isinstance(self.source, LabelledSource) else None
        if file is not None and label is not None:
            raise InputError("--label and --classes both name the classes; choose one")
        if file is not None:
            return read_labels(file, hypergraph.vertex_ids, "class")
        if label is None:
            return None
        guess_ids = options.get("ids", "guess") == "guess"
        if self.table is None:
            opened: dict[str, Any] = {name: options.get(name) for name in ("delimiter", "sheet")}
            table = open_table(self.path, cast(TableFormat, self.format), **opened)
            named = (options.get("vertex"), options.get("edge"), False, False)
            table, columns = long_table(table, named, options.get("split"), options.get("missing", "error"))
            known = _labels_by_vertex(table, columns.vertex, label, "class", guess_ids)
        else:
            table = self.table
            values, names = _column(table, label, "class"), options.get("vertex", row_names(table))
            ids: Any = range(len(values))
            if names is not None:
                ids = unique_ids(table, names, guess_ids, options.get("repeated", "error")).tolist()
            known = dict(zip(ids, values, strict=True))
        return [known[vertex] for vertex in hypergraph.vertex_ids.tolist()]


def read_labels(path: Path, vertices: Ids, what: str, columns: tuple[str, str] | None = None) -> list[Any]:
    """Read the class or cluster (`what`) of each vertex from a separate file.

    `columns` has the names of the columns of vertices and labels; by default the file must have two columns,
    the vertices first, or be a table of labels that `cluster` wrote. Ids are compared as text: the integer 7
    of a hypergraph is the 7 of a CSV file.
    """
    known, names = label_table(path, what, columns), texts(vertices)
    if (plain := without_quotes(known)).keys() == set(names):  # as `cluster` writes them
        known = plain
    if (twice := first_repeated(names)) is not None:
        raise fault(path, f"two vertices have the same text, {shown(twice)}; rename one of them")
    if absent := [name for name in names if name not in known]:
        has = count(len(absent), "vertex has", "vertices have")
        raise fault(path, f"{has} no {what}: {first_few(absent)}; give one for each vertex")
    if others := sorted(known.keys() - set(names)):
        rows = count(len(others), "row names", "rows name")
        problem = f"{rows} no vertex of the hypergraph: {first_few(others)}"
        if what != "class":  # clusters of other vertices are those of another hypergraph
            raise fault(path, f"{problem}; remove them")
        _log.warning("%s: %s; left out", printable(path), problem)
    return [known[name] for name in names]


def label_table(path: Path, what: str, columns: tuple[str, str] | None = None) -> dict[str, Any]:
    """Read the class or cluster (`what`) by the id of the vertex, as text; see `read_labels`."""
    if path.suffix.lower() in (".json", ".xlsx", ".xls"):
        raise fault(
            path, f"this must be CSV, TSV or Parquet, with a column of vertices and one of {what} names"
        )
    table = open_table(path)
    if columns is None and tuple(table.names) == LABEL_COLUMNS:
        columns = LABEL_COLUMNS[0], LABEL_COLUMNS[1]
    if columns is None and len(table.names) != 2:
        raise fault(path, f"this must have two columns, the vertex and its {what}; it has {len(table.names)}")
    vertex, label = map(table.column, columns or table.names)
    labels = _labels_by_vertex(table, vertex, label, what, guess_ids=False)
    return {caption(one): value for one, value in labels.items()}


def without_quotes(known: dict[str, Any]) -> dict[str, Any]:
    """Remove the apostrophes that `cluster` writes before ids that a spreadsheet would run."""
    return {name[1:] if name[:1] == "'" and FORMULA.match(name) else name: known[name] for name in known}


def _labels_by_vertex(table: Table, vertex: str, label: str, what: str, guess_ids: bool) -> dict[Any, Any]:
    """The label of each vertex, which must be the same in all its rows."""
    codes, ids = read_ids(table, vertex, guess_ids)
    found: dict[Any, Any] = {}
    for row, (one, value) in enumerate(zip(ids[codes].tolist(), _column(table, label, what), strict=True)):
        before = found.setdefault(one, value)
        if before != value:
            raise table.fault(
                f"column {shown(label)}: vertex {shown(one)} has {shown(value)}, but {shown(before)} in an "
                "earlier row; give each vertex one value",
                row,
            )
    return found


def _column(table: Table, label: str, what: str) -> list[Any]:
    """A column without missing values."""
    (column,) = read_columns(table, [table.column(label)], ".")
    check_present(table, column, what, "fill it or leave the row out")
    return list(column.values.to_pylist())


def _how_rows_were_read(schema: TableSchema, hypergraph: Hypergraph) -> str:
    """Sizes and columns, such as "101 rows, 16 columns, 36 hyperedges; size: 5 bins; legs: 6 values"."""
    counts = schema.edge_counts(hypergraph)
    sizes = [count(schema.n_rows, "row"), count(len(counts), "column")]
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
    parts = [", ".join([*sizes, count(hypergraph.n_edges, "hyperedge")])]
    parts += [f"{first_few(names, show=printable)}: {what}" for what, names in groups.items()]
    return "; ".join(parts)
