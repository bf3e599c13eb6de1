"""Small HTML tables for notebook cells."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, TypeVar

import numpy as np

from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.report.format import safe_lines, short_id

FIRST = 5  # number of hyperedges that are listed, and of members of each
MAX_ROWS = 20

Row = TypeVar("Row")


def html_table(
    title: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Any]],
    notes: Iterable[str],
    *,
    text: bool = False,
) -> str:
    """Return a title, a table and notes as HTML; all text is escaped.

    The first column is aligned to the left, the others to the right; with `text` the last column holds
    sentences, is aligned to the left and may be wrapped.

    >>> html_table("two", ["name", "size"], [["<a>", 1]], []).count("&lt;a&gt;")
    1
    """
    last = len(head) - 1 if text else -1
    body = "".join(_row("td", row, last) for row in rows)
    table = f"<table><thead>{_row('th', head, last)}</thead><tbody>{body}</tbody></table>"
    footer = "".join(f"<p>{_text(note)}</p>" for note in notes)
    return f"<div><p><strong>{_text(title)}</strong></p>{table}{footer}</div>"


def html_block(title: str, lines: str) -> str:
    """Return a title and lines of the same width of letters as HTML; all text is escaped."""
    block = f'<pre style="line-height: 1.2; overflow-x: auto">{escape(safe_lines(lines))}</pre>'
    return f"<div><p><strong>{_text(title)}</strong></p>{block}</div>"


def limited(rows: Sequence[Row], what: str) -> tuple[Sequence[Row], list[str]]:
    """Return the first rows, and a note that counts the others, if there are any.

    >>> limited(range(25), "rows")
    (range(0, 20), ['... and 5 more rows'])
    """
    more = len(rows) - MAX_ROWS
    return rows[:MAX_ROWS], [f"... and {more:,} more {what}"] * (more > 0)


def hypergraph_table(hypergraph: Hypergraph) -> str:
    """Return the sizes of a hypergraph and its first hyperedges, with their heaviest members, as HTML."""
    rows = []
    for edge in range(min(hypergraph.n_edges, FIRST)):
        row = hypergraph.gamma[[edge], :].tocoo()
        heaviest = np.argsort(-row.data, kind="stable")[:FIRST]
        names = [short_id(hypergraph.vertex_ids[vertex]) for vertex in row.col[heaviest]]
        names += ["…"] * (len(row.data) > FIRST)
        name, size = short_id(hypergraph.edge_ids[edge]), f"{len(row.data):,}"
        rows.append([name, size, f"{hypergraph.edge_weights[edge]:.4g}", ", ".join(names)])
    more = hypergraph.n_edges - len(rows)
    nouns = hypergraph.nouns
    head = [nouns.a_hyperedge, "members", "weight", "heaviest members"]
    notes = [f"and {more:,} more {nouns.hyperedges}"] if more else []
    return html_table(repr(hypergraph), head, rows, notes, text=True)


def _row(tag: str, cells: Iterable[Any], text_column: int) -> str:
    styled = (
        f'<{tag} style="{_style(column, text_column)}">{_text(cell)}</{tag}>'
        for column, cell in enumerate(cells)
    )
    return f"<tr>{''.join(styled)}</tr>"


def _style(column: int, text_column: int) -> str:
    if column == text_column:
        return "text-align: left"
    return f"text-align: {'right' if column else 'left'}; white-space: nowrap"


def _text(text: Any) -> str:
    """Escape a text and isolate its writing direction."""
    return f"<bdi>{escape(safe_lines(text))}</bdi>"
