"""The command `info`."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from hyperclus._runtime.files import printable
from hyperclus.cli.app import Messages, command, shell_message
from hyperclus.cli.inputs import Source
from hyperclus.cli.options import Json
from hyperclus.cli.output import print_json
from hyperclus.cli.progress import progress
from hyperclus.cli.terminal import MAX_NAME, more, show, table, title
from hyperclus.errors import InputError
from hyperclus.hypergraph.summary import Summary, summary
from hyperclus.io.formats import find_format
from hyperclus.io.tables import TITLES, TableFormat, format_of, open_table
from hyperclus.io.tables.long import read_long
from hyperclus.io.tables.problems import Problem, UsedColumns, find_problems, find_typed_problems
from hyperclus.io.tables.table import NumberFormat
from hyperclus.io.tables.wide import ColumnInfo, read_rows
from hyperclus.report.format import short_id

UNREADABLE = ("encoding", "quotes", "fields")  # problems for which a table may not be opened
MAX_COLUMNS = 60  # on the terminal


@dataclass(frozen=True, slots=True)
class Description:
    """What is known about a file."""

    columns: Sequence[ColumnInfo]  # of a table with a row per vertex
    summary: Summary | None  # None if there is no hypergraph
    fault: InputError | None  # why there is none
    problems: Sequence[Problem]  # of a text table


@command(
    "hyperclus info table.csv --label class",
    "hyperclus info papers.csv --vertex author --edge paper",
    "hyperclus info papers.hif.json --json",
)
def info(*, source: Source, as_json: Json = False, messages: Messages) -> None:
    """Describe a hypergraph: sizes, weights, components, and what looks odd.

    For a table with a row per vertex, also say how each column is used. If the
    file makes no hypergraph, all kinds of problems in its rows are counted, with
    what to do about each, the reason is printed, and the exit code is 0.
    """
    with messages.from_library(), progress(messages):
        found = _describe(source, messages)
    if as_json:
        _print_record(found)
        return
    if found.columns:
        _show_columns(found.columns)
    if found.summary is not None:
        sizes, *lines = repr(found.summary).split("\n")
        show(title(sizes), *map(printable, lines))
    for problem in found.problems:
        show(f"- {printable(shell_message(problem.message))}")
    if found.fault is not None:
        show(f"no hypergraph: {shell_message(found.fault)}")


def _describe(source: Source, messages: Messages) -> Description:
    columns: list[ColumnInfo] = []
    resolved, found, fault = None, None, None
    try:
        resolved = source.resolve()
        schema = resolved.schema()
        columns = [] if schema is None else list(schema.column_infos())
        columns = [replace(one, becomes="class") if one.column == source.label else one for one in columns]
        found = summary(resolved.read(messages, schema))
    except InputError as error:
        if not str(error).startswith(printable(source.opened)):  # an option is wrong, not the file
            raise
        fault = error
    problems: list[Problem] = []
    if fault is not None or source.duplicates is not None:  # otherwise nothing is wrong and no row repeats
        with suppress(InputError):
            problems = _problems(source, resolved is not None and resolved.format == "rows")
    if resolved is None and not any(one.kind in UNREADABLE for one in problems):
        problems = []  # an option does not apply to the file
    if fault is None:  # the others are remarks of the summary, or were asked for
        problems = [one for one in problems if one.kind == "copies"]
    if fault is not None and not columns and not problems:
        raise fault
    return Description(columns, found, fault, problems)


def _problems(source: Source, rows: bool) -> list[Problem]:
    """Look at all rows of a table, of which `rows` says that each is a vertex; other files have none."""
    path, options = source.opened, source.options
    chosen = find_format(path, source.format)
    if chosen.read not in (read_long, read_rows) or source.split:
        return []
    numbers = NumberFormat.of(options.get("decimal"), options.get("thousands"))
    if rows or source.id is not None or chosen.read is read_rows:
        columns = UsedColumns(source.id, numbers=numbers)
    else:
        vertex, edge, weight = (options.get(name, name) or None for name in ("vertex", "edge", "weight"))
        allowed = options.get("missing", "error") != "error"
        columns = UsedColumns(vertex, edge, weight, source.duplicates is None, allowed, numbers)
    kind = cast(TableFormat, chosen.name) if chosen.read is read_long else format_of(path)
    with suppress(InputError):  # of text, which is looked at line by line
        if not (opened := open_table(path, kind, sheet=source.sheet)).text:
            return find_typed_problems(opened, columns)
    if kind in TITLES:
        return []
    delimiter = options.get("delimiter", "\t" if chosen.name == "tsv" else None)
    return find_problems(path, columns, delimiter)[1]


def _print_record(found: Description) -> None:
    record: dict[str, Any] = {} if found.summary is None else asdict(found.summary)
    if found.columns:
        record["columns"] = list(map(asdict, found.columns))
    if found.columns or found.fault is not None:
        record["fault"] = None if found.fault is None else shell_message(found.fault)
    if found.problems:
        record["problems"] = [
            {**asdict(one), "message": shell_message(one.message)} for one in found.problems
        ]
    print_json(record)


def _show_columns(columns: Sequence[ColumnInfo]) -> None:
    rows = [
        [
            *(short_id(one.column, MAX_NAME), one.becomes),
            *("" if number is None else f"{number:,}" for number in (one.distinct, one.missing)),
            printable(one.remark),
        ]
        for one in columns[:MAX_COLUMNS]
    ]
    show(table(["column", "becomes", "values", "missing", "remark"], rows, left=2, text=True))
    show(*more(columns, MAX_COLUMNS, "; --json prints all"), "")
