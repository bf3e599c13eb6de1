"""The options that say what to read, and the hypergraph that they give."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

import hyperclus
from hyperclus._runtime.files import fault, printable
from hyperclus.cli import classes as known
from hyperclus.cli.app import Voice
from hyperclus.errors import InputError
from hyperclus.hypergraph.binning import Bins, BinsOrRule, Rule
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.io.formats import FORMATS, guess, known_options, wide_table
from hyperclus.io.tables import TableFormat, sniff_table
from hyperclus.io.tables.csv import CsvTable
from hyperclus.io.tables.long import read_long
from hyperclus.io.tables.table import Table
from hyperclus.io.tables.wide import TableSchema, WideOptions, infer_schema, read_rows, row_names

PANEL = "What to read"
SHOWN = 3  # columns of a kind that are named
DIGITS = 9  # of a number of bins or clusters

From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="FORMAT", help=f"{', '.join(FORMATS)}; else guessed.", rich_help_panel=PANEL
    ),
]
Vertex = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="A row per incidence: its vertex.", rich_help_panel=PANEL),
]
Edge = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="A row per incidence: its hyperedge.", rich_help_panel=PANEL),
]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="A row per incidence: its weight.", rich_help_panel=PANEL),
]
EdgeWeight = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="A row per incidence: the weight of its hyperedge.", rich_help_panel=PANEL
    ),
]
Duplicates = Annotated[
    str | None,
    typer.Option(
        metavar="error|sum|max", help="An incidence given twice; error by default.", rich_help_panel=PANEL
    ),
]
More = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="NAME=VALUE",
        help="Any other option of a format: missing=category, decimal=',' ...; may be repeated.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True, slots=True)
class Source:
    """A file, and how to read it."""

    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to read.", show_default=False)]
    reads: From = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="SIGN", help="What parts the columns of text; else guessed.", rich_help_panel=PANEL
        ),
    ] = None
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="A row per vertex: its id; rows are numbered without.",
            rich_help_panel=PANEL,
        ),
    ] = None
    label: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Known classes, to compare with; never an input.",
            rich_help_panel=PANEL,
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A row per vertex: leave this column out; may be repeated.",
            rich_help_panel=PANEL,
        ),
    ] = None
    bins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BINS",
            help="A row per vertex: how columns with more than 10 numbers are binned: 5 (default), quantile, "
            "quantile:8, none; for one column age=8; may be repeated.",
            rich_help_panel=PANEL,
        ),
    ] = None
    vertex: Vertex = None
    edge: Edge = None
    weight: Weight = None
    edge_weight: EdgeWeight = None
    duplicates: Duplicates = None
    option: More = None

    @property
    def path(self) -> Path:
        """The file on this machine; `file` may also be an address."""
        return Path(self.file)

    @property
    def options(self) -> dict[str, Any]:
        """The options of a format that were given, by name."""
        given = {"vertex": self.vertex, "edge": self.edge, "weight": self.weight}
        more = {"edge_weight": self.edge_weight, "duplicates": self.duplicates, "delimiter": self.delimiter}
        return options(given | more, self.option)

    def taken(self) -> "ResolvedInput":
        """How the file is to be read; options that do not go with it are refused."""
        chosen = None if self.reads is None else FORMATS.get(self.reads)
        if chosen is None and self.reads is not None:
            raise InputError(f"there is no format {self.reads!r}; choose from {', '.join(FORMATS)}")
        chosen = chosen or guess(self.path)
        given = self.options
        table = None if self.reads is not None else wide_table(self.path, chosen, given)
        if chosen.name == "rows" or table is not None:
            return self._as_rows(given, table)
        if chosen.read is not read_long and self.label is not None:
            raise fault(
                self.path,
                f"--label names a column, and the format {chosen.name} has none; give the classes in a file "
                "of their own, with --classes",
            )
        for name, value in (("--id", self.id), ("--exclude", self.exclude), ("--bins", self.bins)):
            if value:
                raise fault(
                    self.path,
                    f"{name} is for tables with a row per vertex; this is {chosen.name} (or say --from rows)",
                )
        return ResolvedInput(self, chosen.name, given)

    def _as_rows(self, given: dict[str, Any], table: Table | None) -> "ResolvedInput":
        for name in ("vertex", "edge", "weight", "edge_weight", "duplicates"):
            if name in given:
                option = name.replace("_", "-")
                raise fault(
                    self.path,
                    f"--{option} is for a table with a row per incidence, which needs --vertex and --edge; a "
                    "row per vertex may have --id",
                )
        for name, option in (("features", "--exclude"), ("exclude", "--exclude"), ("bins", "--bins")):
            if name in given:
                raise fault(self.path, f"-o {name} is for Python; on the command line there is {option}")
        left_out = dict.fromkeys([*(self.exclude or ()), *filter(None, [self.label])])
        more: dict[str, Any] = {"vertex": self.id, "exclude": list(left_out)}
        if self.bins:
            more["bins"] = bins_of(self.bins)
        chosen = given | {name: value for name, value in more.items() if value is not None}
        return ResolvedInput(
            self, "rows", chosen, table or sniff_table(self.path, delimiter=given.get("delimiter"))
        )


@dataclass(frozen=True, slots=True)
class ResolvedInput:
    """A file with its format and options decided."""

    source: Source
    format: str
    options: dict[str, Any]
    table: Table | None = None  # with a row per vertex, opened

    def read(self, voice: Voice) -> Hypergraph:
        """The hypergraph; of a table with a row per vertex it is said how it was taken."""
        if self.format != "rows":
            known_options(FORMATS[self.format].read, self.options, FORMATS[self.format])
            return hyperclus.read(self.source.path, format=self.format, **self.options)
        return self.made(self.schema(), voice)

    def schema(self) -> TableSchema:
        """The columns of a table with a row per vertex."""
        assert self.table is not None
        known = known_options(read_rows, self.options, FORMATS["rows"])
        return infer_schema(
            self.table, WideOptions(**{name: known[name] for name in known if name != "delimiter"})
        )

    def made(self, table: TableSchema, voice: Voice) -> Hypergraph:
        """The hypergraph of a table with a row per vertex; it is said how it was taken."""
        hypergraph = table.hypergraph()
        parted = self._parted(table) if "delimiter" not in self.options else None
        voice.note(_how(table, hypergraph, parted, self.source.reads is None))
        for remark in table.remarks():
            voice.warn(f"{printable(self.source.path)}: {remark}")
        return hypergraph

    def _parted(self, table: TableSchema) -> str | None:
        """What parts the columns, in words, unless the name of the file says it."""
        usual = "\t" if self.source.path.name.lower().removesuffix(".gz").endswith(".tsv") else ","
        if not isinstance(table.source, CsvTable) or table.source.delimiter == usual:
            return None
        return {"\t": "tabs", ",": "commas"}.get(table.source.delimiter, repr(table.source.delimiter))

    def classes(self, hypergraph: Hypergraph, file: Path | None) -> list[Any] | None:
        """The class of each vertex, from the column of labels or a file of their own; None without any."""
        if file is not None:
            if self.source.label is not None:
                raise InputError("the classes come from --label or from --classes; choose one")
            return known.of_file(file, hypergraph.vertex_ids, "class", None)
        label = self.source.label
        if label is None:
            return None
        source = self.table
        if source is None:
            kind = cast(TableFormat, self.format)
            source = sniff_table(self.source.path, kind, self.options.get("delimiter"))
        guessed = self.options.get("ids", "guess") == "guess"
        if self.format == "rows":
            vertex = self.options.get("vertex", row_names(source))
            by_id = known.of_rows(source, label, vertex, guessed, self.options.get("repeated", "error"))
        else:
            by_id = known.of_incidences(source, label, self.options.get("vertex", "vertex"), guessed)
        return [by_id[vertex] for vertex in hypergraph.vertex_ids.tolist()]


def options(given: dict[str, str | None], more: list[str] | None) -> dict[str, Any]:
    """The options that were given, by name; true and false are truth values."""
    found: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    for text in more or ():
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise InputError(f"an option is NAME=VALUE, such as isolated=keep; got {text!r}")
        found[name.replace("-", "_")] = {"true": True, "false": False}.get(value.lower(), value)
    if found.get("delimiter") in ("\\t", "tab"):  # as it is typed in a shell
        found["delimiter"] = "\t"
    return found


def bins_of(texts: list[str]) -> BinsOrRule | dict[str, BinsOrRule] | bool:
    """What --bins means: 5, quantile, quantile:8, none, or one of these for a column, as age=8."""
    overall: list[str] = []
    columns: dict[str, BinsOrRule] = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not sign:
            overall.append(text)
        elif value == "none":
            raise InputError(f"--bins {text}: a column has bins or --exclude; none is for all columns")
        else:
            columns[name] = _bins(value, text)
    if len(overall) > 1 or (overall and columns):
        raise InputError("--bins is given once for all columns, or as COLUMN=BINS for some of them")
    if columns:
        return columns
    return False if overall == ["none"] else _bins(overall[0], overall[0])


def _bins(value: str, text: str) -> Bins:
    """A count, a rule, or both."""
    rule, sign, count = ("width", ":", value) if value.isdecimal() else value.partition(":")
    if sign and not (count.isdecimal() and len(count) <= DIGITS):
        raise InputError(f"--bins {text}: {count!r} is no number of bins; such as 8, quantile or quantile:8")
    try:
        return replace(Bins(cast(Rule, rule)), count=int(count)) if sign else Bins(cast(Rule, rule))
    except InputError as error:
        raise InputError(f"--bins {text}: {error}; such as 8, quantile or quantile:8") from None


def _how(table: TableSchema, hypergraph: Hypergraph, parted: str | None, guessed: bool) -> str:
    """One line on how a table was taken: "size, weight: 5 bins; legs: 6 values"."""
    counts = table.edge_counts(hypergraph)
    columns = f"{len(counts):,} column{'s' * (len(counts) != 1)}"
    sizes = f"{table.n_rows:,} rows, {columns}, {hypergraph.n_edges:,} hyperedges"
    groups: dict[str, list[str]] = {}
    for column in table.columns:
        name, count = column.name, counts[column.name]
        if not count:
            groups.setdefault("one value, left out", []).append(name)
        elif name in table.bins:
            groups.setdefault(f"{count} bins", []).append(name)
        elif column.numbers and count > 2:
            groups.setdefault(f"{count} values", []).append(name)
    if commas := [column.name for column in table.columns if column.decimal_comma]:
        groups["decimal commas"] = commas
    told = "; ".join([sizes, *(f"{_few(names)}: {what}" for what, names in groups.items())])
    hint = "; for a row per incidence give --vertex and --edge" if guessed else ""
    how = "read as a table with a row per vertex" + (f", parted by {parted}" if parted else "")
    return f"{printable(table.source.path)}: {how} ({told}){hint}"


def _few(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(printable, names[:SHOWN])) + more
