"""HTML that is safe by construction: every text is escaped, unless it is markup already."""

import html
from typing import Any

from hyperclus.report.format import safe_lines, short_id


class Html(str):
    """Markup, which goes into the page as it is."""

    __slots__ = ()


def element(tag: str, /, *children: Any, **attributes: Any) -> Html:
    """<tag attributes>children</tag>; children are text unless they are `Html`.

    `class_` is class and `data_cluster` is data-cluster; True is an attribute without a value, None and
    False are left out.

    >>> print(element("td", "a < b", class_="number", data_row=3, hidden=True, title=None))
    <td class="number" data-row="3" hidden>a &lt; b</td>
    """
    opening = tag
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        opening += f" {name.strip('_').replace('_', '-')}"
        opening += "" if value is True else f'="{html.escape(safe_lines(value))}"'
    return Html(f"<{opening}>{joined(*children)}" + ("" if tag in ("input", "meta") else f"</{tag}>"))


def joined(*children: Any) -> Html:
    """Texts and markup in a row.

    >>> print(joined("1 < 2", Html("<br>")))
    1 &lt; 2<br>
    """
    return Html("".join(child if isinstance(child, Html) else _escaped(child) for child in children))


def name(value: Any, longest: int = 64) -> Html:
    """An id in a page, its direction kept to itself."""
    return element("bdi", short_id(value, longest))


def _escaped(text: Any) -> str:
    return html.escape(safe_lines(text))
