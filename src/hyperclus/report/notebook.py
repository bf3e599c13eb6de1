"""Small HTML tables for notebook cells."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.report.format import safe_lines, short_id

FIRST = 5  # number of hyperedges that are listed, and of members of each


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]], notes: Iterable[str]) -> str:
    """Return a title, a table and notes as HTML; all text is escaped.

    The first column is aligned to the left, the others to the right.

    >>> html_table("two", ["name", "size"], [["<a>", 1]], []).count("&lt;a&gt;")
    1
    """
    body = "".join(_row("td", row) for row in rows)
    table = f"<table><thead>{_row('th', head)}</thead><tbody>{body}</tbody></table>"
    footer = "".join(f"<p>{_text(note)}</p>" for note in notes)
    return f"<div><p><strong>{_text(title)}</strong></p>{table}{footer}</div>"


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
    return html_table(repr(hypergraph), head, rows, [f"and {more:,} more {nouns.hyperedges}"] if more else [])


def _row(tag: str, cells: Iterable[Any]) -> str:
    styled = (
        f'<{tag} style="text-align: {"right" if column else "left"}">{_text(cell)}</{tag}>'
        for column, cell in enumerate(cells)
    )
    return f"<tr>{''.join(styled)}</tr>"


def _text(text: Any) -> str:
    """Escape a text and isolate its writing direction."""
    return f"<bdi>{escape(safe_lines(text))}</bdi>"
