"""Small HTML tables, for the cells of a notebook. All text in them is escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from hyperclus.hypergraph.ids import caption

LONGEST = 60  # characters of an id that are shown


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]], notes: Iterable[str]) -> str:
    """A title, a table whose first column is at the left and whose others are at the right, and notes.

    >>> html_table("two", ["name", "size"], [["<a>", 1]], []).count("&lt;a&gt;")
    1
    """
    right, left = ' style="text-align: right"', ' style="text-align: left"'
    cells = [_row("th", head, left, right), *(_row("td", row, left, right) for row in rows)]
    return "".join(
        [
            f"<div><p><strong>{_text(title)}</strong></p>",
            f"<table><thead>{cells[0]}</thead><tbody>{''.join(cells[1:])}</tbody></table>",
            *(f"<p>{_text(note)}</p>" for note in notes),
            "</div>",
        ]
    )


def short(value: Any) -> str:
    """An id as people read it, cut where it is long.

    >>> short(("word", "x" * 100))[-3:]
    'xx…'
    """
    text = caption(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _row(tag: str, cells: Sequence[Any], first: str, other: str) -> str:
    styles = [first] + [other] * (len(cells) - 1)
    inside = (f"<{tag}{style}>{_text(cell)}</{tag}>" for style, cell in zip(styles, cells, strict=True))
    return f"<tr>{''.join(inside)}</tr>"


def _text(value: Any) -> str:
    """Escaped, and apart from the direction of writing around it; half characters are replaced."""
    return f"<bdi>{escape(str(value).encode('utf-8', 'replace').decode())}</bdi>"
