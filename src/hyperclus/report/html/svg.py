"""The two pictures that need no JavaScript: the NCut between its bounds, and where the time went."""

from hyperclus.report.format import NOISE, duration, four_digits, percent
from hyperclus.report.format import number as figure
from hyperclus.report.html.markup import Html, element, joined

_HATCH = element(
    "defs",
    element(
        "pattern",
        element("path", d="M-1,7 L7,-1 M5,7 L7,5 M-1,1 L1,-1", class_="hatch"),
        id="hatch",
        width=6,
        height=6,
        patternUnits="userSpaceOnUse",
    ),
)


def interval(ncut: float, bound: float, k: int) -> Html:
    """A scale from 0 to k - 1 with the NCut, the proven bound, and the range where the optimum lies."""
    top = max(k - 1.0, ncut)
    low, high = 100 * bound / top, 100 * ncut / top
    label = f"NCut {four_digits(ncut)} on a scale from 0 to {figure(top)}; lower bound {four_digits(bound)}"
    here, there = _anchor(high), _anchor(low)
    return element(
        "svg",
        _HATCH,
        _rect("track", 0, 100),
        _rect("impossible", 0, low, fill="url(#hatch)"),
        _rect("possible", low, high - low),
        _tick(low, 42, 77, "edge"),
        _tick(high, 34, 66, "answer"),
        element(
            "text",
            f"NCut {four_digits(ncut)}",
            x=_at(high),
            y=26,
            class_="strong",
            text_anchor=here,
        ),
        element("text", f"none below {four_digits(bound)}", x=_at(low), y=91, text_anchor=there),
        element("text", "0", x=0, y=74),
        element("text", figure(top), x="100%", y=74, text_anchor="end"),
        class_="interval",
        role="img",
        aria_label=label,
        width="100%",
        height=98,
    )


def times(timings: dict[str, float]) -> Html:
    """One bar for all stages and a list of them, the longest first."""
    whole = sum(timings.values())
    stages = sorted(timings.items(), key=lambda stage: -stage[1])
    start, bars = 0.0, []
    for number, (_, spent) in enumerate(stages):
        share = 100 * spent / whole if whole > NOISE else 0.0
        bars.append(
            element("rect", x=_at(start), width=_at(share), y=0, height=14, class_=f"stage s{min(number, 4)}")
        )
        start += share
    items = [
        element(
            "li",
            element("i", class_=f"stage s{min(number, 4)}"),
            f"{stage} ",
            element("b", duration(spent)),
            f" {percent(spent / whole)}" if whole > NOISE else "",
        )
        for number, (stage, spent) in enumerate(stages)
    ]
    picture = element(
        "svg", *bars, class_="times", role="img", aria_label="Time by stage", width="100%", height=14
    )
    return joined(picture, element("ul", *items, class_="legend"))


def bar(share: float, kind: str = "bar") -> Html:
    """A bar in a table, from 0 to 1."""
    return element(
        "svg",
        element("rect", width="100%", height=8, class_="track"),
        element("rect", width=_at(100 * min(max(share, 0.0), 1.0)), height=8, class_="value"),
        class_=kind,
        aria_hidden="true",
        width="100%",
        height=8,
    )


def _rect(kind: str, start: float, width: float, **more: str) -> Html:
    return element("rect", x=_at(start), width=_at(width), y=42, height=16, class_=kind, **more)


def _tick(place: float, top: int, bottom: int, kind: str) -> Html:
    return element("line", x1=_at(place), x2=_at(place), y1=top, y2=bottom, class_=kind)


def _anchor(place: float) -> str:
    return "start" if place < 28 else "end" if place > 72 else "middle"


def _at(share: float) -> str:
    return f"{max(share, 0.0):.3f}".rstrip("0").rstrip(".") + "%"
