"""The command that runs the paper's experiments."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable

from hyperclus.cli.app import app, console, errors, escaped, examples, say_if_stopped
from hyperclus.cli.data import Folder
from hyperclus.errors import InputError
from hyperclus.report.format import duration
from hyperclus.research import datasets as data_sets
from hyperclus.research import paper
from hyperclus.research.paper import render
from hyperclus.research.paper.records import Record, Store, Unit, default_folder


@app.command(
    epilog=examples(
        "hyperclus reproduce ncut f1",
        "hyperclus reproduce --dataset car --dataset zoo --markdown > tables.md",
    )
)
def reproduce(
    tables: Annotated[
        list[str] | None,
        typer.Argument(metavar="TABLES", help=f"Any of {', '.join(paper.TABLES)}; all by default."),
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this data set; may be repeated.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this method, slow or not; may be repeated.")
    ] = None,
    slow: Annotated[
        bool,
        typer.Option(
            "--slow",
            metavar="",
            help="Also what takes an hour or more in all: DiffEq, node2vec, hyperedge2vec, ten seeds, a "
            "longer search, the algorithm as the paper writes it.",
        ),
    ] = False,
    folder: Folder = None,
    results: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where finished measurements are say_if_stopped.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", metavar="", help="Measure again what is kept; leave it out to go on.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", metavar="", help="Print Markdown.")] = False,
) -> None:
    """Run the paper's experiments and print its tables, published beside measured.

    Finished measurements are say_if_stopped: interrupt a run, give the same command, and
    it goes on where it was.
    """
    if as_json and as_markdown:
        raise InputError("choose one of --json and --markdown")
    plan = paper.plan(tables or (), dataset or (), method or (), slow=slow)
    store = Store(results or default_folder())
    loaded: dict[str, Any] = {}

    def load(name: str) -> Any:
        if name not in loaded:
            loaded[name] = data_sets.load(name, folder=folder, progress=errors.is_terminal)
        return loaded[name]

    with say_if_stopped(lambda: "what was finished is kept; give the same command to go on"):
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
    else:
        _show(filled)
        place = escaped(str(store.folder))
        console().print(
            f"The measurements took {duration(seconds)} and are kept in {place}.", soft_wrap=True
        )


def _measured(plan: paper.Plan, store: Store, load: Callable[[str], Any], fresh: bool) -> dict[Unit, Record]:
    """All records of a plan, with a bar on the terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    records: dict[Unit, Record] = {}
    if fresh:
        store.clear(plan.units)
    with Progress(*columns, console=errors, disable=not errors.is_terminal, transient=True) as progress:
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
    page = console()
    for table in tables:
        columns = [c for c in table.columns if any(cells[c].ours for cells in table.rows.values())]
        shown = [row for row, cells in table.rows.items() if any(cell.ours for cell in cells.values())]
        absent = [row for row in table.rows if row not in shown]
        page.print(f"[bold]{escaped(table.title)}.[/] {escaped(table.note)}")
        if shown:
            caption = render.counts(table, columns)
            grid = RichTable("", caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
            for row in shown:
                grid.add_column(row, min_width=max(map(len, row.split())))
            for column in columns:
                cells = [table.rows[row][column] for row in shown]
                grid.add_row(column, *(_two_lines(cell, table.digits) for cell in cells))
            page.print(grid)
        for line in render.reasons(table):
            page.print(f"  - {escaped(line)}")
        if absent and shown:
            page.print(f"  Not run here: {', '.join(absent)}.")
        page.print()
    page.print(f"Upper line: published. Lower line: measured; {render.VERDICTS}.")


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
    text = escaped(f"{below} {render.MARKS[cell.verdict]}".rstrip())
    colour = colours.get(cell.verdict)
    return f"[dim]{escaped(above)}[/]\n" + (f"[{colour}]{text}[/]" if colour else text)
