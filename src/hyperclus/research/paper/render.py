"""Filled tables as text for a terminal, Markdown, HTML or JSON; nothing is computed here."""

import datetime
import html
import json
import os
import platform
from collections.abc import Iterable
from typing import Any

import hyperclus
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
LEGEND = f"published / measured, then {VERDICTS}"


def sides(cell: Cell, digits: int) -> tuple[str, str]:
    """The published and the measured figures as text, with dots where there is none."""
    published, ours = (
        " ".join(f"{figure:,.{digits}f}" for figure in side) for side in (cell.published, cell.ours)
    )
    return published or "...", ours or "..."


def filled_rows(table: Table) -> list[str]:
    """The rows with a figure in some cell, published or measured."""
    return [row for row, cells in table.rows.items() if any(c.published or c.ours for c in cells.values())]


def cell_text(cell: Cell, digits: int) -> str:
    """One cell: "0.6388 / 0.6388 =", with dots where a side has no figure."""
    if not cell.published and not cell.ours:
        return ""
    return f"{' / '.join(sides(cell, digits))} {MARKS[cell.verdict]}".rstrip()


def reasons(table: Table) -> list[str]:
    """One line per reason, with the cells it holds for."""
    where: dict[str, dict[str, list[str]]] = {}
    for row, cells in table.rows.items():
        for dataset, cell in cells.items():
            if cell.reason:
                where.setdefault(cell.reason, {}).setdefault(row, []).append(dataset)
    lines = []
    for why, rows in where.items():
        cells_of = (f"{row} on {', '.join(datasets)}" for row, datasets in rows.items())
        lines.append(f"{'; '.join(cells_of)}: {why}.")
    return lines


def counts(table: Table, columns: Iterable[str] = ()) -> str:
    """How many cells have which verdict, in some columns or in all."""
    wanted = set(columns) or set(table.columns)
    verdicts = [cells[column].verdict for cells in table.rows.values() for column in wanted]
    present = [f"{verdicts.count(verdict)} {verdict}" for verdict in MARKS if verdict in verdicts]
    return ", ".join(present)


def origin(seconds: float) -> str:
    """Who measured, when, on what, for how long; and what the paper's seconds are worth."""
    return (
        f"Measured by `hyperclus reproduce` {hyperclus.__version__} on {datetime.date.today():%Y-%m-%d}, "
        f"{platform.machine()}, {os.cpu_count()} cores, in {duration(seconds)}. The paper's seconds come "
        "from another machine and are context only; the ratio in the last row of that table is between two "
        "runs on this one."
    )


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(0.4), duration(59.7), duration(8000)
    ('0.4 s', '1 min 0 s', '2 h 13 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def as_markdown(tables: Iterable[Table], seconds: float) -> str:
    """All tables as one Markdown text; `seconds` is what the measurements took."""
    parts = []
    for table in tables:
        lines = [
            ["", *table.columns],
            ["---", *["---:"] * len(table.columns)],
            *[
                [row, *(cell_text(table.rows[row][column], table.digits) for column in table.columns)]
                for row in filled_rows(table)
            ],
        ]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        notes = "\n".join(f"- {line}" for line in reasons(table))
        parts.append(
            f"## {table.title}\n\n"
            + (f"{table.note}\n\n" if table.note else "")
            + f"{body}\n\n{counts(table)}.\n"
            + (f"\n{notes}\n" if notes else "")
        )
    return f"# The paper, reproduced\n\n{origin(seconds)}\n\nEach cell: {LEGEND}.\n\n" + "\n".join(parts)


def as_html(tables: Iterable[Table], seconds: float) -> str:
    """All tables as one page that needs nothing else; `seconds` is what the measurements took."""
    parts = []
    for table in tables:
        head = "".join(f"<th>{html.escape(column)}</th>" for column in ("", *table.columns))
        rows = "".join(
            f"<tr><th>{html.escape(row)}</th>"
            + "".join(_html_cell(table.rows[row][column], table.digits) for column in table.columns)
            + "</tr>"
            for row in filled_rows(table)
        )
        notes = "".join(f"<li>{html.escape(line)}</li>" for line in reasons(table))
        parts.append(
            f"<h2>{html.escape(table.title)}</h2><p>{html.escape(table.note)}</p>"
            f"<div class=scroll><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table></div><p>{html.escape(counts(table))}.</p><ul>{notes}</ul>"
        )
    return (
        _PAGE.replace("ORIGIN", html.escape(origin(seconds).replace("`", "")))
        .replace("VERDICTS", html.escape(VERDICTS))
        .replace("TABLES", "\n".join(parts))
    )


def _html_cell(cell: Cell, digits: int) -> str:
    if not cell.published and not cell.ours:
        return "<td></td>"
    published, ours = (html.escape(side) for side in sides(cell, digits))
    mark, why = MARKS[cell.verdict], html.escape(cell.reason)
    kind = cell.verdict.replace(" ", "-")
    return f'<td class="{kind}" title="{why}"><small>{published}</small><br>{ours} {mark}</td>'


def as_json(tables: Iterable[Table]) -> str:
    """All tables as a JSON object by name."""

    def plain(cell: Cell) -> dict[str, Any]:
        return {
            "published": list(cell.published),
            "ours": list(cell.ours),
            "difference": cell.difference,
            "verdict": cell.verdict,
            "reason": cell.reason,
        }

    everything = {
        table.name: {
            "title": table.title,
            "note": table.note,
            "rows": {row: {c: plain(cells[c]) for c in table.columns} for row, cells in table.rows.items()},
        }
        for table in tables
    }
    return json.dumps(everything, indent=1)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>hyperclus: the paper, reproduced</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9em; }
th, td { padding: 0.3em 0.6em; border-bottom: 1px solid #8884; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; }
small { opacity: 0.7; }
.equal { background: #2a92; } .better, .best-of-all { background: #2a94; } .worse { background: #d553; }
.not-reproducible, .not-the-best { background: #db42; }
</style></head><body>
<h1>The paper, reproduced</h1><p>ORIGIN</p>
<p>In each cell the small figure is the published one, the other measured here: VERDICTS.</p>
TABLES
</body></html>
"""
