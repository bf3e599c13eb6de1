"""The command `explore`, which shows a page on this machine."""

import threading
import webbrowser
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import typer

from hyperclus._runtime.files import printable
from hyperclus.cli.app import Messages, command, put
from hyperclus.cli.explore_runs import Explorer
from hyperclus.cli.inputs import LabelledSource
from hyperclus.cli.options import output_option, output_switch
from hyperclus.errors import InputError
from hyperclus.explore.form import OF_INCIDENCES, OF_ROWS, OF_WEIGHTS, Form
from hyperclus.explore.server import HOST, Keys, Site, listen, serving
from hyperclus.explore.worker import Worker
from hyperclus.io.formats import FORMATS
from hyperclus.io.tables import open_table
from hyperclus.io.tables.long import read_long
from hyperclus.report.html.page import check_libraries

NOT_READING = ("file", "format", "port", "no_browser", "quiet", "verbose")


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Where the page is."""

    port: int | None = output_option("Port of the page (default: a free one).", "NUMBER", least=1)
    no_browser: bool = output_switch("--no-browser", "Do not open a browser.")


@command(
    "hyperclus explore table.csv",
    "hyperclus explore table.csv --id name --label class",
    "hyperclus explore papers.csv --vertex author --edge paper --no-browser",
)
def explore(*, context: typer.Context, source: LabelledSource, page: PageOptions, messages: Messages) -> None:
    """Choose columns, weights and numbers of clusters on a page, and look at each result.

    The page is on this machine only, and reads only FILE and the files that the
    options name. Its address, with a token, goes to stdout; Ctrl-C ends it. Save
    a result as a report or as CSV on the page; nothing else is written.
    """
    check_libraries()
    form, keys = _form(source, context), Keys()
    with closing(listen(page.port)) as listening, closing(Worker(Explorer)) as worker:
        address = f"http://{HOST}:{listening.getsockname()[1]}/?token="
        with serving(Site(form, printable(source.path.name), worker), keys, listening) as thread:
            put(f"{address}{keys.token}\n")
            messages.note("open this address in a browser on this machine; Ctrl-C ends the page")
            worker.run(form.first_arguments())
            if not page.no_browser:  # which may wait until its window is closed
                given = (address + keys.ticket(),)
                threading.Thread(target=webbrowser.open, args=given, daemon=True).start()
            while thread.is_alive():
                thread.join(1.0)  # without a limit, Ctrl-C would have to wait on some systems


def _form(source: LabelledSource, context: typer.Context) -> Form:
    """What can be chosen for the file, and the values that the command line gives."""
    if source.file == "-":
        raise InputError("explore reads the file again for other columns; save standard input to a file")
    resolved = source.resolve()
    columns: tuple[str, ...] = ()
    if resolved.table is not None and resolved.format == "rows":
        columns = tuple(resolved.table.names)
    elif FORMATS[resolved.format].read is read_long and not source.split:
        opened: dict[str, Any] = {name: resolved.options.get(name) for name in ("delimiter", "sheet")}
        named: Any = resolved.format
        columns = tuple(open_table(resolved.path, named, **opened).names)
    chosen = {*OF_WEIGHTS, *((*OF_ROWS, *OF_INCIDENCES, "exclude") if columns else ())}
    values: dict[str, list[str]] = {}
    fixed: list[str] = []
    for parameter in context.command.params:
        name, given = parameter.name or "", context.params.get(parameter.name or "")
        if not given or name in NOT_READING or not hasattr(source, name):
            continue
        some = [str(one) for one in (given if isinstance(given, list | tuple) else [given])]
        if name in chosen:
            values[name] = some
        else:
            flag = next(one for one in parameter.opts if one.startswith("--"))
            fixed += [f"{flag}={one}" for one in some]
    rows = resolved.format == "rows"
    return Form(source.file, columns, rows, source.format, values, tuple(fixed))
