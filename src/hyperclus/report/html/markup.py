"""HTML that is safe by construction: every text is escaped, unless it is markup already."""

import html
from typing import Any

from hyperclus.hypergraph.ids import caption, shown

LONGEST = 64  # characters of a name
_TAIL = 16  # of them after the ellipsis

# What would change the direction of the text around it, end a line, or be no character at all.
_UNWANTED = [*range(32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_UNWANTED += [0x2028, 0x2029, 0xFEFF, *range(0xD800, 0xE000), *range(0xFFF9, 0xFFFC), 0xFFFE, 0xFFFF]
_PLAIN = dict.fromkeys(_UNWANTED, "\ufffd")
_LINES = {code: sign for code, sign in _PLAIN.items() if code not in (9, 10)}


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
        opening += "" if value is True else f'="{html.escape(str(value).translate(_LINES))}"'
    return Html(f"<{opening}>{joined(*children)}" + ("" if tag in ("input", "meta") else f"</{tag}>"))


def joined(*children: Any) -> Html:
    """Texts and markup in a row.

    >>> print(joined("1 < 2", Html("<br>")))
    1 &lt; 2<br>
    """
    return Html("".join(child if isinstance(child, Html) else _escaped(child) for child in children))


def readable(value: Any, longest: int = LONGEST) -> str:
    r"""An id, class or file name on one line: short, no control or direction marks, no broken characters.

    >>> readable("a\n\u202eb"), readable("x" * 200, 9)
    ('a��b', 'xxxxxx…xx')
    """
    try:
        text = caption(value)
    except ValueError:  # an integer of thousands of digits
        text = shown(value)
    if len(text) > longest:
        tail = min(_TAIL, longest // 4)
        text = f"{text[: longest - tail - 1]}…{text[len(text) - tail :]}"
    return text.translate(_PLAIN)


def name(value: Any, longest: int = LONGEST) -> Html:
    """An id in a page, its direction kept to itself."""
    return element("bdi", readable(value, longest))


def _escaped(text: Any) -> str:
    return html.escape(str(text).translate(_LINES))
