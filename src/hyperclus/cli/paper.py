"""The command `reproduce`, which runs the experiments of the paper."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from hyperclus.cli.app import UNLIMITED, command, console, errors, say_if_stopped
from hyperclus.cli.options import Json, option, switch
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.report.format import duration
from hyperclus.research import datasets as data_sets
from hyperclus.research import paper
from hyperclus.research.paper import render
from hyperclus.research.paper.records import Record, Store, Unit, default_folder

TABLES = typer.Argument(metavar="TABLES", help=f"Any of {', '.join(paper.TABLES)}; all by default.")
MARKDOWN = typer.Option("--markdown", metavar="", help="Print Markdown.")
COLOURS = {
    "equal": "green",
    "better": "bold green",
    "best of all": "bold green",
    "worse": "red",
    "not the best": "yellow",
    "not reproducible": "yellow",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """What to run."""

    tables: list[str] | None = field(default=None, metadata={"typer": TABLES})
    dataset: list[str] | None = option("Run only this data set; repeatable.", "NAME")
    method: list[str] | None = option("Run only this method, even a slow one; repeatable.", "NAME")
    slow: bool = switch(
        "--slow",
        "Also run what takes an hour or more in total: DiffEq, node2vec, hyperedge2vec, ten seeds, a longer "
        "search, and the algorithm exactly as the paper describes it.",
    )
    from_source: bool = switch("--from-source", "Use UCI's own files, downloaded if they are missing.")
    folder: Path | None = option("Folder for UCI's own files, which are then used.", "FOLDER", "--data")
    results: Path | None = option("Folder for finished measurements.", "FOLDER")
    fresh: bool = switch("--fresh", "Repeat finished measurements.")


@command(
    "hyperclus reproduce ncut f1",
    "hyperclus reproduce --dataset car --dataset zoo --markdown > tables.md",
)
def reproduce(
    *, selection: Selection, as_json: Json = False, as_markdown: Annotated[bool, MARKDOWN] = False
) -> None:
    """Run the experiments of the paper and print its tables, published next to measured.

    Finished measurements are kept: if a run is interrupted, the same command
    resumes it.
    """
    if as_json and as_markdown:
        raise InputError("choose --json or --markdown, not both")
    datasets = selection.dataset or ()
    plan = paper.plan(selection.tables or (), datasets, selection.method or (), slow=selection.slow)
    store = Store(selection.results or default_folder())
    load = cache(
        partial(
            data_sets.load,
            from_source=selection.from_source,
            folder=selection.folder,
            progress=errors.is_terminal,
        )
    )
    with say_if_stopped(lambda: "finished measurements are kept; repeat the command to resume"):
        records = _measure(plan, store, load, selection.fresh)
    loaded = map(load, datasets or paper.DATASETS) if "datasets" in plan.tables else ()
    sizes = {data.name: {**_sizes(data.hypergraph), "classes": data.k} for data in loaded}
    tables = [paper.build(name, records, sizes) for name in plan.tables]
    seconds = sum(record.seconds for record in records.values())
    if as_json:
        print(render.as_json(tables))  # noqa: T201
    elif as_markdown:
        print(render.as_markdown(tables, seconds))  # noqa: T201
    else:
        _show(tables)
        place = escape(str(store.folder))
        console().print(f"The measurements took {duration(seconds)} and are kept in {place}.", soft_wrap=True)


def _measure(plan: paper.Plan, store: Store, load: Callable[[str], Any], fresh: bool) -> dict[Unit, Record]:
    """Run a plan, with a progress bar on a terminal, and return all its records."""
    records: dict[Unit, Record] = {}
    if fresh:
        store.clear(plan.units)
    with Progress(console=errors, disable=not errors.is_terminal, transient=True) as progress:
        task = progress.add_task("measuring", total=len(plan.units))

        def begin(unit: Unit) -> None:
            how = unit.weights.upper() + (f", seed {unit.seed}" if unit.seed else "")
            progress.update(task, description=f"{unit.method} on {unit.dataset} ({how})")

        for unit, record, _ in paper.run(plan, store, load, begin):
            records[unit] = record
            progress.advance(task)
    return records


def _sizes(h: Hypergraph) -> dict[str, int]:
    return {"vertices": h.n_vertices, "hyperedges": h.n_edges, "incidences": h.n_incidences}


def _show(tables: list[paper.Table]) -> None:
    """Print the tables: for each data set a line with the published figures and one with the measured."""
    page = console()
    for table in tables:
        columns = [c for c in table.columns if any(cells[c].ours for cells in table.rows.values())]
        shown = [row for row, cells in table.rows.items() if any(cell.ours for cell in cells.values())]
        absent = [row for row in table.rows if row not in shown]
        page.print(f"[bold]{escape(table.title)}.[/] {escape(table.note)}")
        if shown:
            for grid in _grids(page, table, shown, columns):
                page.print(grid)
            page.print(f"  {render.counts(table, columns)}", style="italic dim")
        for line in render.reasons(table):
            page.print(f"  - {escape(line)}")
        if absent and shown:
            page.print(f"  Not run here: {', '.join(absent)}.")
        page.print()
    page.print(f"Upper line: published. Lower line: measured; {render.VERDICTS}.")


def _grids(page: Console, table: paper.Table, shown: list[str], columns: list[str]) -> list[Table]:
    """Lay out some rows of a table as columns; in two grids, or more, if one is too wide for the page."""
    grid = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    texts = {row: [_two_lines(table.rows[row][column], table.digits) for column in columns] for row in shown}
    for row, cells in texts.items():
        grid.add_column(row, min_width=max(page.measure(cell).maximum for cell in [*row.split(), *cells]))
    for column, *line in zip(columns, *texts.values(), strict=True):
        grid.add_row(column, *line)
    anywhere = page.options.update(max_width=UNLIMITED)  # otherwise nothing is too wide
    if len(shown) == 1 or page.measure(grid, options=anywhere).minimum <= page.width:
        return [grid]
    half = (len(shown) + 1) // 2
    return _grids(page, table, shown[:half], columns) + _grids(page, table, shown[half:], columns)


def _two_lines(cell: paper.Cell, digits: int) -> str:
    above, below = render.sides(cell, digits)
    text = escape(f"{below} {render.MARKS[cell.verdict]}".rstrip())
    colour = COLOURS.get(cell.verdict)
    return f"[dim]{escape(above)}[/]\n" + (f"[{colour}]{text}[/]" if colour else text)
