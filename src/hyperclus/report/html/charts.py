"""The four pictures that Vega draws: their specifications and their data, names and numbers only.

A specification holds no data and no text from the data: names go to the page's script, which shows them as
plain text. The colours are signals (`ink`, `soft`, `rule`, `page`, `palette`), so that light and dark are
a change of signals; `chosen` is the cluster that the reader chose, or -1.
"""

from typing import Any

import numpy as np

from hyperclus.report.format import NOISE, short_id
from hyperclus.report.html.contents import Contents
from hyperclus.report.views import IncidenceGrid
from hyperclus.typing import Integers

Spec = dict[str, Any]

NAMED_POINTS = 30  # vertices that have their names beside them in the embedding
NUMBERED = 20  # clusters whose number is written into the embedding, where vertices have no names
NAMED_ROWS, NAMED_COLUMNS = 48, 12  # of the matrix that have their names beside them
HALF_NAMED_ROWS = 100  # of the matrix, where every second has
NAME_WIDTH = 150  # pixels
NAMES = 3  # hyperedges or vertices named for a row or column that stands for many

_COLOUR = "palette[datum.c % length(palette)]"
_MOVED = "(datum[replace(across, 'p', 'm')] || datum[replace(up, 'p', 'm')])"
_STYLES = ("ink", "soft", "rule", "page", "palette")


def charts(contents: Contents) -> dict[str, Spec]:
    """For each picture its specification (`spec`) and its tables (`data`)."""
    found = {
        "embedding": {"spec": _embedding_spec(contents), "data": _embedding_data(contents)},
        "matrix": {"spec": _matrix_spec(contents), "data": _matrix_data(contents)},
        "spectrum": {"spec": _spectrum_spec(contents), "data": _spectrum_data(contents)},
    }
    if contents.views.sweep_profile is not None:
        found["sweep"] = {"spec": _sweep_spec(contents), "data": _sweep_data(contents)}
    return found


def _spec(height: int, padding: tuple[int, int, int, int], parts: Spec) -> Spec:
    """What all pictures share; the padding is left, top, right, bottom."""
    sides = dict(zip(("left", "top", "right", "bottom"), padding, strict=True))
    styles: list[Spec] = [{"name": name, "value": [] if name == "palette" else ""} for name in _STYLES]
    signals = [*styles, {"name": "chosen", "value": -1}, *parts.pop("signals", [])]
    return {"autosize": "none", "width": 600, "height": height, "padding": sides, "signals": signals, **parts}


def _axis(scale: str, orient: str, title: Any, **more: Any) -> Spec:
    """Quiet: no line, no ticks, small labels; the title lies flat at the end of the axis."""
    flat = {
        "left": {"titleAngle": 0, "titleAlign": "left", "titleX": -40, "titleY": -12},
        "bottom": {"titleAnchor": "end", "titleAlign": "right", "titlePadding": 6},
    }[orient]
    colours = {
        f"{part}Color": {"signal": style}
        for part, style in (("label", "soft"), ("title", "soft"), ("grid", "rule"))
    }
    return {
        "scale": scale,
        "orient": orient,
        "title": title,
        "domain": False,
        "ticks": False,
        "labelPadding": 6,
        "labelOverlap": True,
        **flat,
        **colours,
        **more,
    }


def _linear(name: str, span: Any, domain: Any, **more: Any) -> Spec:
    return {"name": name, "type": "linear", "range": span, "domain": domain, "zero": False, **more}


def _signal(expression: str) -> Spec:
    return {"signal": expression}


def _mark(kind: str, data: str | None, update: Spec, **more: Any) -> Spec:
    mark: Spec = {"type": kind, "encode": {"update": update}, **more}
    return mark if data is None else {**mark, "from": {"data": data}}


# ---- embedding -----------------------------------------------------------------------------------


def _embedding_spec(contents: Contents) -> Spec:
    room = 40 if _named(contents) else 14
    size = float(np.clip(24_000 / len(contents.views.embedding.vertices), 14, 90))
    place = {"x": {"scale": "x", "field": _signal("across")}, "y": {"scale": "y", "field": _signal("up")}}
    letters = {
        **place,
        "text": {"field": "name"},
        "dx": {"value": 7},
        "dy": {"value": -6},
        "limit": {"value": 130},
        "fontSize": {"value": 13},
        "fontWeight": {"value": "normal" if _named(contents) else "bold"},
        "opacity": _signal("chosen < 0 || chosen == datum.c ? 1 : 0.15"),
    }
    points = {
        **place,
        "size": {"value": size},
        "fill": _signal(f"{_MOVED} ? page : {_COLOUR}"),
        "fillOpacity": _signal("chosen < 0 ? 0.85 : chosen == datum.c ? 0.95 : 0.12"),
        "stroke": _signal(f"{_MOVED} ? {_COLOUR} : page"),
        "strokeWidth": _signal(f"{_MOVED} ? 1.2 : 0.6"),
        "strokeOpacity": _signal(f"chosen < 0 || chosen == datum.c ? 1 : {_MOVED} ? 0.15 : 0"),
        "zindex": _signal("chosen == datum.c ? 1 : 0"),
        "tooltip": _signal("datum"),
        "cursor": {"value": "pointer"},
    }
    halo = {"stroke": _signal("page"), "strokeWidth": {"value": 3}, "strokeJoin": {"value": "round"}}
    return _spec(
        420,
        (44, 26, 14, 40),
        {
            "signals": [{"name": "across", "value": "p0"}, {"name": "up", "value": "p1"}]
            + [{"name": name, "value": ""} for name in ("acrossTitle", "upTitle")],
            "data": [{"name": "points"}, {"name": "names"}],
            "scales": [
                _linear("x", "width", {"data": "points", "field": _signal("across")}, padding=room),
                _linear("y", "height", {"data": "points", "field": _signal("up")}, padding=14),
            ],
            "axes": [
                _axis("x", "bottom", _signal("acrossTitle"), tickCount=5, grid=True),
                _axis("y", "left", _signal("upTitle"), tickCount=5, grid=True),
            ],
            "marks": [
                _mark("symbol", "points", points),
                _mark("text", "names", letters | halo, interactive=False),
                _mark("text", "names", letters | {"fill": _signal("ink")}, interactive=False),
            ],
        },
    )


def _embedding_data(contents: Contents) -> Spec:
    view, part = contents.views.embedding, contents.part
    labels, ids = part.labels[view.vertices], part.vertex_ids[view.vertices]
    data: Spec = {
        "axes": list(view.axes),
        "places": [_column(values) for values in view.coordinates.T],
        "moved": [np.flatnonzero(moved).tolist() for moved in view.clipped.T],
        "c": labels.tolist(),
        "names": [short_id(value) for value in ids.tolist()],
        "middles": [],
    }
    data |= contents.class_data(view.vertices)
    data["named"] = _named(contents)
    if part.k <= NUMBERED and not data["named"]:
        data["middles"] = [_column(np.median(view.coordinates[labels == c], axis=0)) for c in range(part.k)]
    return data


def _named(contents: Contents) -> bool:
    return len(contents.views.embedding.vertices) <= NAMED_POINTS


# ---- matrix --------------------------------------------------------------------------------------


def _matrix_spec(contents: Contents) -> Spec:
    rows, columns = contents.views.incidence_grid.cells.shape
    few, below = row_name_step(contents.views.incidence_grid), 24 if columns <= NAMED_COLUMNS else 8
    across = {"x": {"scale": "x", "field": "a"}, "x2": {"scale": "x", "field": "b"}}
    down = {"y": {"scale": "y", "field": "a"}, "y2": {"scale": "y", "field": "b"}}
    faded = _signal("chosen < 0 || chosen == datum.c ? 1 : 0.2")
    cells = {
        "x": {"scale": "x", "field": "x"},
        "x2": _signal("scale('x', datum.x + 1)"),
        "y": {"scale": "y", "field": "y"},
        "y2": _signal(f"scale('y', datum.y + 1) - {1 if few == 1 else 0}"),
        "fill": _signal(f"datum.home == datum.c ? {_COLOUR} : ink"),
        "fillOpacity": _signal(
            "(0.12 + 0.88 * sqrt(datum.v)) * (datum.home == datum.c ? 0.95 : 0.42)"
            " * (chosen < 0 || chosen == datum.c ? 1 : chosen == datum.home ? 0.45 : 0.12)"
        ),
        "tooltip": _signal("datum"),
        "cursor": {"value": "pointer"},
    }
    strip = {"fill": _signal(_COLOUR), "opacity": faded, "cursor": {"value": "pointer"}}
    beside = {"y": {"value": -16}, "y2": {"value": -10}}
    number = {
        "x": _signal("(scale('x', datum.a) + scale('x', datum.b)) / 2"),
        "y": {"value": -20},
        "text": _signal("scale('x', datum.b) - scale('x', datum.a) > 16 ? '' + datum.c : ''"),
        "align": {"value": "center"},
        "fontSize": {"value": 12},
        "fontWeight": {"value": "bold"},
        "fill": _signal("ink"),
        "opacity": faded,
    }
    names = {
        "x": {"value": -22},
        "y": _signal("scale('y', datum.y + 0.5)"),
        "text": {"field": "name"},
        "align": {"value": "right"},
        "baseline": {"value": "middle"},
        "fontSize": {"value": 11},
        "limit": {"value": NAME_WIDTH},
        "fill": _signal("soft"),
        "opacity": _signal("!named ? 0 : chosen < 0 || chosen == datum.c ? 1 : 0.3"),
    }
    between = "{0} / length(data('{1}')) > 12 ? 1.5 : 0".format
    line = {"stroke": _signal("page")}
    upright = {**line, "strokeWidth": _signal(between("width", "across"))}
    level = {**line, "strokeWidth": _signal(between("height", "down"))}
    marks = [
        _mark("rect", "cells", cells),
        _mark("rule", "across", {"x": across["x"], "y": {"value": -16}, "y2": _signal("height"), **upright}),
        _mark("rule", "down", {"y": down["y"], "x": {"value": -16}, "x2": _signal("width"), **level}),
        _mark("rect", "across", {**across, **beside, **strip}),
        _mark("rect", "down", {**down, "x": {"value": -16}, "x2": {"value": -10}, **strip}),
        _mark("text", "across", number, interactive=False),
    ]
    if few:
        marks.append(_mark("text", "rows", names, interactive=False))
    if columns <= NAMED_COLUMNS:
        marks.append(_mark("text", "columns", _under(), interactive=False))
    return _spec(
        _matrix_height(contents.views.incidence_grid),
        (24, 40, 4, 46 if columns <= NAMED_COLUMNS else 30),
        {
            "signals": [{"name": "named", "value": False}],
            "data": [{"name": name} for name in ("cells", "across", "down", "rows", "columns")],
            "scales": [
                _linear("x", "width", [0, columns], round=True),
                _linear("y", [0, _signal("height")], [0, rows], round=True),
            ],
            "axes": [
                _axis("x", "bottom", "vertices, by cluster", labels=False, values=[], titlePadding=below)
            ],
            "marks": marks,
        },
    )


def row_name_step(grid: IncidenceGrid) -> int:
    """1 where each row has its name beside it, 2 where every second has, 0 where none."""
    rows = len(grid.edges)
    if rows <= NAMED_ROWS:
        return 1
    return 2 if rows <= HALF_NAMED_ROWS and rows == sum(map(len, grid.edges)) else 0


def _matrix_height(grid: IncidenceGrid) -> int:
    rows, every = len(grid.edges), row_name_step(grid)
    return {0: 440, 1: rows * round(float(np.clip(420 / rows, 15, 32))), 2: max(440, 8 * rows)}[every]


def _under() -> Spec:
    """The names of the columns, as wide as these."""
    return {
        "x": _signal("scale('x', datum.x + 0.5)"),
        "y": _signal("height + 14"),
        "text": {"field": "name"},
        "align": {"value": "center"},
        "fontSize": {"value": 11},
        "limit": _signal("scale('x', 1) - 4"),
        "fill": _signal("soft"),
        "opacity": _signal("chosen < 0 || chosen == datum.c ? 1 : 0.3"),
    }


def _matrix_data(contents: Contents) -> Spec:
    grid, part = contents.views.incidence_grid, contents.part
    vertex_ids = part.vertex_ids[part.labels >= 0]
    names = [short_id(part.walk.hypergraph.edge_ids[group[0]], 48) for group in grid.edges]
    return {
        "cells": np.round(1000 * grid.cells / max(float(grid.cells.max()), 1e-300)).astype(int).tolist(),
        "largest": rounded(float(grid.cells.max())),
        "rows": [_group(group, part.walk.hypergraph.edge_ids) for group in grid.edges],
        "columns": [_group(group, vertex_ids) for group in grid.vertices],
        "rowClusters": grid.row_clusters.tolist(),
        "columnClusters": grid.column_clusters.tolist(),
        "nameWidth": min(NAME_WIDTH, 7 * max(map(len, names))) if row_name_step(grid) else 0,
        "namedEvery": row_name_step(grid),
    }


def _group(group: Integers, ids: Any) -> list[Any]:
    """How many a row or column stands for, and the names of the first."""
    return [len(group), *(short_id(value, 48) for value in ids[group[:NAMES]].tolist())]


# ---- spectrum ------------------------------------------------------------------------------------


def _spectrum_spec(contents: Contents) -> Spec:
    values, k = contents.views.spectrum.values, contents.part.k
    ticks = {"values": list(range(1, len(values) + 1))} if len(values) <= 12 else {"tickCount": 10}
    middle = {"x": {"scale": "x", "field": "i"}, "tooltip": _signal("datum")}
    tone = _signal(f"datum.i <= {k} ? ink : soft")
    stems = {**middle, "y": {"scale": "y", "field": "v"}, "y2": {"scale": "y", "value": 0}, "stroke": tone}
    dots = {
        **middle,
        "y": {"scale": "y", "field": "v"},
        "size": {"value": float(np.clip(900 / len(values), 20, 64))},
        "fill": _signal(f"datum.sure ? (datum.i <= {k} ? ink : soft) : page"),
        "stroke": tone,
        "strokeWidth": {"value": 1.5},
    }
    width = {"strokeWidth": {"value": float(np.clip(60 / len(values), 0.8, 2.5))}}
    marks = [
        _mark("rule", "values", stems | width | {"strokeOpacity": {"value": 0.45}}),
        _mark("symbol", "values", dots),
    ]
    if k < len(values):
        marks = [*_gap(k), *marks]
    return _spec(
        240,
        (44, 24, 14, 40),
        {
            "data": [{"name": "values"}],
            "scales": [
                _linear("x", "width", [0.5, len(values) + 0.5]),
                _linear("y", "height", [0, rounded(float(values.max())) or 1], nice=True),
            ],
            "axes": [
                _axis("x", "bottom", "eigenvalue", format=",d", **ticks),
                _axis("y", "left", None, tickCount=4, grid=True),
            ],
            "marks": marks,
        },
    )


def _gap(k: int) -> list[Spec]:
    band = {
        "x": {"scale": "x", "value": k},
        "x2": {"scale": "x", "value": k + 1},
        "y": {"value": 0},
        "y2": _signal("height"),
        "fill": _signal("rule"),
        "fillOpacity": {"value": 0.5},
    }
    note = {
        "x": _signal(f"clamp(scale('x', {k + 0.5}), 30, width - 30)"),
        "y": {"value": -8},
        "text": {"value": f"gap after {k}"},
        "align": {"value": "center"},
        "fontSize": {"value": 12},
        "fill": _signal("soft"),
    }
    return [_mark("rect", None, band, interactive=False), _mark("text", None, note, interactive=False)]


def _spectrum_data(contents: Contents) -> Spec:
    view = contents.views.spectrum
    return {"values": _column(view.values), "sure": view.n_converged, "residuals": _column(view.residuals, 1)}


# ---- sweep ---------------------------------------------------------------------------------------


def _sweep_spec(contents: Contents) -> Spec:
    along = {"x": {"scale": "x", "field": "n"}}
    line = {"interpolate": {"value": "linear"}, "strokeWidth": {"value": 1.8}}
    ncut = {**along, **line, "y": {"scale": "y", "field": "ncut"}, "stroke": _signal("ink")}
    conductance = {
        **along,
        **line,
        "y": {"scale": "y", "field": "conductance"},
        "stroke": _signal("soft"),
        "strokeDash": {"value": [4, 3]},
        "strokeWidth": {"value": 1.3},
    }
    hover = {
        "x": {"scale": "x", "field": "from"},
        "x2": {"scale": "x", "field": "to"},
        "y": {"value": 0},
        "y2": _signal("height"),
        "fill": _signal("ink"),
        "fillOpacity": {"value": 0},
        "tooltip": _signal("datum"),
    }
    best = {**along, "y": {"scale": "y", "field": "ncut"}, "fill": _signal("page"), "stroke": _signal("ink")}
    marks = [
        _mark("line", "cuts", conductance, interactive=False),
        _mark("line", "cuts", ncut, interactive=False),
        _mark("symbol", "best", best | {"size": {"value": 80}, "strokeWidth": {"value": 2}}),
        _mark("rect", "cuts", hover),
    ]
    marks[-1]["encode"]["hover"] = {"fillOpacity": {"value": 0.08}}
    if contents.part.k == 2:
        answer = {"y": {"scale": "y", "value": rounded(contents.part.ncut)}, "x": {"value": 0}}
        answer |= {"x2": _signal("width"), "stroke": _signal("ink"), "strokeDash": {"value": [1, 3]}}
        marks.insert(0, _mark("rule", None, answer, interactive=False))
    fields = {"data": "cuts", "fields": ["ncut", "conductance"]}
    return _spec(
        240,
        (44, 24, 14, 40),
        {
            "data": [{"name": "cuts"}, {"name": "best"}],
            "scales": [
                _linear("x", "width", {"data": "cuts", "fields": ["from", "to"]}),
                _linear("y", "height", fields, zero=True, nice=True),
            ],
            "axes": [
                _axis("x", "bottom", "vertices on the first side", format=",d", tickMinStep=1, tickCount=6),
                _axis("y", "left", None, tickCount=4, grid=True),
            ],
            "marks": marks,
        },
    )


def _sweep_data(contents: Contents) -> Spec:
    view = contents.views.sweep_profile
    if view is None:
        return {}
    return {
        "sizes": view.sizes.tolist(),
        "ncuts": _column(view.ncuts),
        "conductances": _column(view.conductances),
        "best": view.best,
        "total": view.total,
    }


def _column(values: Any, digits: int = 4) -> list[float]:
    return [rounded(value, digits) for value in np.asarray(values, dtype=float).tolist()]


def rounded(value: float, digits: int = 4) -> float:
    """Round for the data of the page; rounding errors become 0."""
    return 0.0 if abs(value) < NOISE else float(f"{value:.{digits}g}")
