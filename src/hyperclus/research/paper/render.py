"""Filled tables as Markdown, JSON and cells of text."""

import datetime
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import msgspec

import hyperclus
from hyperclus.report.format import duration
from hyperclus.research.paper.tables import Table
from hyperclus.research.paper.verdicts import Cell

MARKS = {
    "equal": "=",
    "better": "+",
    "worse": "-",
    "not reproducible": "?",
    "best of all": "*",
    "not the best": "~",
    "measured": "",
    "not run": "",
}
VERDICTS = (
    "= equal within tolerance, + better, - worse, ? not reproducible; where the paper has no figure, "
    "* best of all methods, published or measured, ~ not the best (reasons below)"
)


def sides(cell: Cell, digits: int) -> tuple[str, str]:
    """The published and the measured figures as text; dots if there are none."""
    published, ours = (
        " ".join(f"{figure:,.{digits}f}" for figure in side) for side in (cell.published, cell.ours)
    )
    return published or "...", ours or "..."


def cell_text(cell: Cell, digits: int) -> str:
    """One cell, such as "0.6388 / 0.6388 ="."""
    if not cell.published and not cell.ours:
        return ""
    return f"{' / '.join(sides(cell, digits))} {MARKS[cell.verdict]}".rstrip()


def reasons(table: Table) -> list[str]:
    """One line per reason, with the cells that it explains."""
    where: dict[str, dict[str, list[str]]] = {}
    for row, cells in table.rows.items():
        for dataset, cell in cells.items():
            if cell.reason:
                where.setdefault(cell.reason, {}).setdefault(row, []).append(dataset)
    lines = []
    for reason, rows in where.items():
        cells_of = (f"{row} on {', '.join(names)}" for row, names in rows.items())
        lines.append(f"{'; '.join(cells_of)}: {reason}.")
    return lines


def counts(table: Table, columns: Iterable[str] = ()) -> str:
    """The number of cells with each verdict, in some columns or in all."""
    wanted = set(columns) or set(table.columns)
    verdicts = [cells[column].verdict for cells in table.rows.values() for column in wanted]
    return ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in MARKS if verdict in verdicts)


def as_markdown(tables: Iterable[Table], seconds: float) -> str:
    """All tables as Markdown; `seconds` is the time that the measurements took."""
    origin = (
        f"Measured by `hyperclus reproduce` {hyperclus.__version__} on {datetime.date.today():%Y-%m-%d}, "
        f"{platform.machine()}, {os.cpu_count()} cores, in {duration(seconds)}. The paper's seconds were "
        "measured on another machine and are given for context only; the ratio in the last row of that "
        "table compares two runs on this machine."
    )
    parts = ["# The paper, reproduced", origin, f"Each cell: published / measured, then {VERDICTS}."]
    for table in tables:
        lines = [["", *table.columns], ["---", *["---:"] * len(table.columns)]]
        for row, cells in table.rows.items():
            texts = [cell_text(cells[column], table.digits) for column in table.columns]
            lines += [[row, *texts]] if any(texts) else []
        grid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        notes = "\n".join(f"- {line}" for line in reasons(table))
        parts += filter(None, [f"## {table.title}", table.note, grid, f"{counts(table)}.", notes])
    return "\n\n".join(parts) + "\n"


def as_json(tables: Iterable[Table]) -> str:
    """All tables as a JSON object, by name."""
    everything: dict[str, Any] = {}
    for table in tables:
        rows = {
            row: {c: asdict(cells[c]) | {"difference": cells[c].difference} for c in table.columns}
            for row, cells in table.rows.items()
        }
        everything[table.name] = {"title": table.title, "note": table.note, "rows": rows}
    return msgspec.json.format(msgspec.json.encode(everything), indent=1).decode()
