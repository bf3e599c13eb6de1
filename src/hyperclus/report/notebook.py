"""Small HTML tables for notebook cells."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from hyperclus.report.format import safe_lines


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


def _row(tag: str, cells: Iterable[Any]) -> str:
    styled = (
        f'<{tag} style="text-align: {"right" if column else "left"}">{_text(cell)}</{tag}>'
        for column, cell in enumerate(cells)
    )
    return f"<tr>{''.join(styled)}</tr>"


def _text(text: Any) -> str:
    """Escape a text and isolate its writing direction."""
    return f"<bdi>{escape(safe_lines(text))}</bdi>"
