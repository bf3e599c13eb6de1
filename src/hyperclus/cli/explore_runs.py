"""The runs of the page of `explore`: the commands `read`, `cluster` and `local`, whose results are pages.

They parse their arguments as the commands of the same names do, so wrong values get the same sentences.
"""

from dataclasses import dataclass, field
from typing import Any

import typer

from hyperclus._runtime.files import printable
from hyperclus._runtime.progress import report_progress
from hyperclus.cli.app import Messages, command, command_line, sentence, shell_message
from hyperclus.cli.cluster import find_clusters, report_options
from hyperclus.cli.inputs import LabelledSource
from hyperclus.cli.local import COLUMNS, Growth, grow, member_rows, seed_names
from hyperclus.cli.options import Computation, Search
from hyperclus.cli.output import Rows, TableOutput, as_text, labelled
from hyperclus.clustering.frames import LABEL_COLUMNS
from hyperclus.errors import InputError
from hyperclus.explore.pages import local_page
from hyperclus.explore.worker import RefusedError, Result
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import count
from hyperclus.report.html.contents import Contents
from hyperclus.report.html.page import render

runs = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True, slots=True)
class Collected(Messages):
    """Messages for the page instead of stderr."""

    texts: list[str] = field(default_factory=list)

    def note(self, message: str) -> None:
        self.texts.append(message)

    def warn(self, message: str) -> None:
        self.texts.append(message)


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A file that was read."""

    source: LabelledSource
    hypergraph: Hypergraph
    classes: list[Any] | None
    columns: dict[str, str]  # what becomes of each column
    notes: list[str]


class Explorer:
    """Does the runs of a page; the file is read again only if the options of reading it change."""

    def __init__(self) -> None:
        self._data: Data | None = None

    def __call__(self, arguments: list[str]) -> Result:
        """Run a command; the first argument is its name."""
        try:
            result: Result = runs(arguments, standalone_mode=False, obj=self)
        except Exception as error:
            if (message := sentence(error)) is None:
                raise
            raise RefusedError(message) from None
        return result

    def data(self, source: LabelledSource) -> Data:
        """The data, as the options say."""
        if self._data is None or self._data.source != source:
            self._data = None  # the memory may be needed
            self._data = _read(source)
        return self._data


def _read(source: LabelledSource) -> Data:
    messages, resolved = Collected(), source.resolve()
    with messages.from_library():
        schema = resolved.schema()
        h = resolved.read(messages, schema)
        classes = resolved.classes(h)
    columns = {}
    for one in () if schema is None else schema.column_infos():
        becomes = "class" if one.column == source.label else one.becomes
        columns[one.column] = ", ".join(filter(None, [becomes, printable(one.remark)]))
    return Data(source, h, classes, columns, messages.texts)


@command(within=runs)
def read(*, context: typer.Context, source: LabelledSource) -> Result:
    """Read the file."""
    data = context.obj.data(source)
    h, nouns = data.hypergraph, data.hypergraph.nouns
    sizes = [nouns.count_vertices(h.n_vertices), count(h.n_edges, nouns.a_hyperedge, nouns.hyperedges)]
    heading = ", ".join([*sizes, count(h.n_incidences, "incidence")])
    return Result(heading, tuple(data.notes), data.columns)


@command(within=runs)
def cluster(
    *, context: typer.Context, source: LabelledSource, search: Search, computation: Computation
) -> Result:
    """Find clusters."""
    search.count()
    data: Data = context.obj.data(source)
    messages = Collected()
    with messages.from_library():
        part, suggestion = find_clusters(data.hypergraph, search, computation)
        report_progress("report", 0, "pages")
        options = report_options(source, data.classes, command_line(context, ()), suggestion)
        contents = Contents(part, **options)
        page = render(contents).encode()
    table = _table(messages, data.hypergraph, LABEL_COLUMNS, labelled(part))
    return Result(contents.title, (*data.notes, *messages.texts), data.columns, page, table)


@command(within=runs)
def local(*, context: typer.Context, source: LabelledSource, growth: Growth) -> Result:
    """Find the cluster around some vertices."""
    names = seed_names(growth)
    data: Data = context.obj.data(source)
    messages, h = Collected(), data.hypergraph
    with messages.from_library():
        found, positions = grow(h, names, growth)
    classes = None if data.classes is None else [data.classes[i] for i in positions]
    name = printable(source.path.name)
    page = local_page(found, h, classes, name, command_line(context, ())).encode()
    table = _table(messages, h, COLUMNS, member_rows(found))
    heading = f"{h.nouns.count_vertices(len(found))} around {count(len(found.seeds), 'seed')}"
    return Result(heading, (*data.notes, *messages.texts), data.columns, page, table)


def _table(messages: Messages, h: Hypergraph, names: tuple[str, ...], rows: Rows) -> bytes:
    """The table as CSV; nothing, and a note, if CSV cannot hold the ids."""
    try:
        TableOutput(as_csv=True).check_ids(messages, h.vertex_ids)
    except InputError as error:
        messages.warn(shell_message(error))
        return b""
    return as_text(names, rows).encode()
