"""The command line: each command reads its arguments, calls the library, and renders."""

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from rich.text import Text

import hyperclus
from hyperclus import datasets as data_sets
from hyperclus import paper
from hyperclus.errors import DownloadError, HyperclusError, InputError, LossWarning
from hyperclus.io.files import fault, printable
from hyperclus.io.formats import FORMATS, by_name, guess
from hyperclus.io.hif import read_hif_document, write_hif_document
from hyperclus.paper import render
from hyperclus.paper.records import Record, Store, Unit, default_folder
from hyperclus.summary import summary

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
_errors = Console(stderr=True)

Folder = Annotated[
    Path | None,
    typer.Option("--data", help="Folder with UCI's files; missing ones are fetched into it."),
]


def main() -> None:
    """Run the command line: exit code 0 done, 1 failed, 2 bad usage or input, 130 interrupted."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # clean up on the way out
    code = _run()
    with suppress(OSError):  # nobody may be listening
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # threads of other libraries may be at work, and must not keep the process waiting


def _run() -> int:
    try:
        code = int(app(standalone_mode=False) or 0)  # typer returns the code of an Exit, 130 for Ctrl-C
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except HyperclusError as error:
        _complain(error)
        return 2 if isinstance(error, InputError) else 1
    except BrokenPipeError:  # whoever read the output has gone
        return 1
    except MemoryError:
        _say("there is not enough memory for this", "red")
        return 1
    except Exception as error:
        if not hasattr(error, "exit_code"):
            raise
        error.show()  # type: ignore[attr-defined]  # click's own usage errors
        return int(error.exit_code)
    if code == 130:
        _errors.print("interrupted; what was finished is kept")
    return code


def _version(wanted: bool) -> None:
    if wanted:
        print(f"hyperclus {hyperclus.__version__}")  # noqa: T201
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Clusters in hypergraphs whose members weigh differently in each hyperedge."""


@app.command()
def datasets(
    names: Annotated[list[str] | None, typer.Argument(help="Data sets; all by default.")] = None,
    fetch: Annotated[bool, typer.Option(help="Download what is not there.")] = False,
    folder: Folder = None,
) -> None:
    """List the paper's nine data sets and check their files; --fetch downloads them from UCI.

    Example: hyperclus datasets --fetch car zoo
    """
    place = folder or data_sets.folder()
    table = RichTable("data set", "file", "state", caption=_escaped(f"in {place}; licence CC BY 4.0"))
    failed = False
    for name in names or list(data_sets.names()):
        if fetch:
            try:
                data_sets.fetch(name, folder=folder, progress=_errors.is_terminal)
            except DownloadError as error:  # the others may still come
                failed = True
                _complain(error)
        for file, state in data_sets.verify(name, folder=folder).items():
            table.add_row(name, file, state)
    Console().print(table)
    if failed:
        raise typer.Exit(1)


Source = Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.", show_default=False)]
Reading = Annotated[
    str | None, typer.Option("--from", help=f"Format of FILE: {', '.join(FORMATS)}; else guessed.")
]
More = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        help="Any other option of a format, as NAME=VALUE, such as isolated=keep, empty_edges=keep, "
        "edge_weight=COLUMN, delimiter=';', ids=text, transpose=true; may be repeated.",
    ),
]
Vertex = Annotated[str | None, typer.Option("--vertex", help="Column of the vertices in a long table.")]
Edge = Annotated[str | None, typer.Option("--edge", help="Column of the hyperedges.")]
Weight = Annotated[str | None, typer.Option("--weight", help="Column of the weights.")]
Duplicates = Annotated[
    str | None, typer.Option("--duplicates", help="An incidence given twice: error, sum or max.")
]


@app.command()
def info(
    path: Source,
    reads: Reading = None,
    vertex: Vertex = None,
    edge: Edge = None,
    weight: Weight = None,
    duplicates: Duplicates = None,
    option: More = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Sizes, distributions, components and weights of a hypergraph in a file, and what looks odd.

    Example: hyperclus info papers.csv --vertex author --edge paper
    """
    given = {"vertex": vertex, "edge": edge, "weight": weight, "duplicates": duplicates}
    with _losses_told():
        found = summary(hyperclus.read(path, format=reads, **_options(given, option)))
    print(json.dumps(asdict(found), indent=1) if as_json else found)  # noqa: T201


@app.command()
def convert(
    path: Source,
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    reads: Reading = None,
    writes: Annotated[str | None, typer.Option("--to", help="Format of OUT; else by its name.")] = None,
    vertex: Vertex = None,
    edge: Edge = None,
    weight: Weight = None,
    duplicates: Duplicates = None,
    option: More = None,
    write_option: Annotated[
        list[str] | None, typer.Option("--write-option", "-w", help="An option for writing, as NAME=VALUE.")
    ] = None,
) -> None:
    """Read a hypergraph in one format and write it in another; what OUT cannot hold is named.

    Formats: long tables (csv, tsv, parquet), hif, hmetis, mtx, npz; text may be gzipped (.gz).

    Examples: hyperclus convert papers.csv papers.hif.json --vertex author --edge paper
              hyperclus convert circuit.hgr circuit.npz -o isolated=keep
              hyperclus convert table.npz table.json -w ids=text
    """
    given = {"vertex": vertex, "edge": edge, "weight": weight, "duplicates": duplicates}
    if os.path.exists(target) and os.path.exists(path) and os.path.samefile(target, path):
        raise fault(target, "this is the file to read; choose another name to write")
    options = _options(given, option)
    with _losses_told():
        plain = not (options or write_option)
        if plain and _format(path, reads, True) == _format(target, writes, False) == "hif":
            write_hif_document(read_hif_document(path), target)
        else:
            hypergraph = hyperclus.read(path, format=reads, **options)
            hyperclus.write(hypergraph, target, format=writes, **_options({}, write_option))
    _say(f"written to {printable(target)}", "green")


def _format(path: Path, given: str | None, there: bool) -> str:
    if given is not None:
        return given
    found = guess(path) if there else by_name(path)
    return "" if found is None else found.name


def _options(given: dict[str, str | None], more: list[str] | None) -> dict[str, Any]:
    """The options that were given, by name; true and false are truth values."""
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    for text in more or ():
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise InputError(f"an option is NAME=VALUE, such as isolated=keep; got {text!r}")
        options[name.replace("-", "_")] = {"true": True, "false": False}.get(value.lower(), value)
    return options


@contextmanager
def _losses_told() -> Iterator[None]:
    """What a format cannot hold, on the error stream, a line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LossWarning)
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        _say(message, "yellow")


@app.command()
def reproduce(
    tables: Annotated[
        list[str] | None, typer.Argument(help=f"Any of {', '.join(paper.TABLES)}; all by default.")
    ] = None,
    dataset: Annotated[list[str] | None, typer.Option(help="Only this data set; may be repeated.")] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Only this method, slow or not; may be repeated.")
    ] = None,
    slow: Annotated[
        bool,
        typer.Option(
            help="Also what takes an hour or more in all: DiffEq, node2vec, hyperedge2vec, ten seeds, a "
            "longer search, the algorithm as the paper writes it."
        ),
    ] = False,
    folder: Folder = None,
    results: Annotated[Path | None, typer.Option(help="Where finished measurements are kept.")] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again what is kept; leave it out to go on.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_html: Annotated[bool, typer.Option("--html", help="Print a web page.")] = False,
) -> None:
    """Run the paper's experiments and print its tables, published beside measured.

    Finished measurements are kept: interrupt a run, give the same command, and it goes on where it was.

    Examples: hyperclus reproduce ncut f1
              hyperclus reproduce --dataset car --dataset zoo --markdown > tables.md
    """
    if as_json + as_markdown + as_html > 1:
        raise InputError("choose one of --json, --markdown and --html")
    plan = paper.plan(tables or (), dataset or (), method or (), slow=slow)
    store = Store(results or default_folder())
    loaded: dict[str, Any] = {}

    def load(name: str) -> Any:
        if name not in loaded:
            loaded[name] = data_sets.load(name, folder=folder, progress=_errors.is_terminal)
        return loaded[name]

    records = _measured(plan, store, load, fresh)
    sizes = {}
    if "datasets" in plan.tables:
        for name in dataset or paper.DATASETS:
            h = load(name).hypergraph
            sizes[name] = {"vertices": h.n_vertices, "hyperedges": h.n_edges, "incidences": h.n_incidences}
            sizes[name]["classes"] = load(name).k
    filled = [paper.build(name, records, sizes) for name in plan.tables]
    seconds = sum(record.seconds for record in records.values())
    if as_json:
        print(render.as_json(filled))  # noqa: T201
    elif as_markdown:
        print(render.as_markdown(filled, seconds))  # noqa: T201
    elif as_html:
        print(render.as_html(filled, seconds))  # noqa: T201
    else:
        _show(filled)
        place = _escaped(str(store.folder))
        Console().print(
            f"The measurements took {render.duration(seconds)} and are kept in {place}.", soft_wrap=True
        )


def _measured(plan: paper.Plan, store: Store, load: Callable[[str], Any], fresh: bool) -> dict[Unit, Record]:
    """All records of a plan, with a bar on the terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    records: dict[Unit, Record] = {}
    if fresh:
        store.clear(plan.units)
    with Progress(*columns, console=_errors, disable=not _errors.is_terminal, transient=True) as progress:
        task = progress.add_task("measuring", total=len(plan.units))
        for unit, record, _ in paper.run(
            plan, store, load, lambda u: progress.update(task, description=_name(u))
        ):
            records[unit] = record
            progress.advance(task)
    return records


def _name(unit: Unit) -> str:
    seed = f", seed {unit.seed}" if unit.seed else ""
    return f"{unit.method} on {unit.dataset} ({unit.weights.upper()}{seed})"


def _show(tables: list[paper.Table]) -> None:
    """The tables on the terminal: per data set a line with the published figure and one with the measured."""
    console = Console()
    for table in tables:
        columns = [c for c in table.columns if any(cells[c].ours for cells in table.rows.values())]
        shown = [row for row, cells in table.rows.items() if any(cell.ours for cell in cells.values())]
        absent = [row for row in table.rows if row not in shown]
        console.print(f"[bold]{_escaped(table.title)}.[/] {_escaped(table.note)}")
        if shown:
            caption = render.counts(table, columns)
            grid = RichTable("", caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
            for row in shown:
                grid.add_column(row, min_width=max(map(len, row.split())))
            for column in columns:
                cells = [table.rows[row][column] for row in shown]
                grid.add_row(column, *(_two_lines(cell, table.digits) for cell in cells))
            console.print(grid)
        for line in render.reasons(table):
            console.print(f"  - {_escaped(line)}")
        if absent and shown:
            console.print(f"  Not run here: {', '.join(absent)}.")
        console.print()
    console.print(f"Upper line: published. Lower line: measured; {render.VERDICTS}.")


def _two_lines(cell: paper.Cell, digits: int) -> str:
    colours = {
        "equal": "green",
        "better": "bold green",
        "best of all": "bold green",
        "worse": "red",
        "not the best": "yellow",
        "not reproducible": "yellow",
    }
    above, below = render.sides(cell, digits)
    text = _escaped(f"{below} {render.MARKS[cell.verdict]}".rstrip())
    colour = colours.get(cell.verdict)
    return f"[dim]{_escaped(above)}[/]\n" + (f"[{colour}]{text}[/]" if colour else text)


def _complain(error: HyperclusError) -> None:
    _say(str(error), "red")


def _say(message: str, colour: str) -> None:
    """One line on the error stream, just as it is: no markup in it counts."""
    _errors.print(Text.assemble(("hyperclus:", colour), " ", message), soft_wrap=True)


def _escaped(text: str) -> str:
    return text.replace("[", r"\[")
