"""The four interactive charts: Vega-Lite specifications and their data.

A specification contains no data and no text from the data; the script of the page turns the data into the
named datasets and shows names as plain text. Colours are parameters (`ink`, `soft`, `rule`, `page`,
`palette`), so that switching between light and dark changes parameters only; `chosen` is the cluster that
the reader chose, or -1.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hyperclus.report.format import NOISE, short_id
from hyperclus.report.html.contents import Contents
from hyperclus.report.views import IncidenceGrid
from hyperclus.typing import Integers

Spec = dict[str, Any]
Channel = Callable[[str | float], Spec]

NAMED_POINTS = 30  # with at most this many vertices, the embedding shows their names
NUMBERED_CLUSTERS = 20  # with at most this many clusters, the embedding shows their numbers instead
NAMED_ROWS, NAMED_COLUMNS = 48, 12  # with at most this many, the matrix shows the names
HALF_NAMED_ROWS = 100  # with at most this many rows, the matrix shows every second name
NAME_WIDTH = 150  # pixels
GROUP_NAMES = 3  # names in the tooltip of a row or column that stands for several

_PARAMETERS = {"ink": "", "soft": "", "rule": "", "page": "", "palette": [], "chosen": -1}
_COLOUR = "palette[datum.c % length(palette)]"


def charts(contents: Contents) -> dict[str, Spec]:
    """Return the specification (`spec`) and the data (`data`) of each chart."""
    found = {
        "embedding": {"spec": _embedding_spec(contents), "data": _embedding_data(contents)},
        "matrix": {"spec": _matrix_spec(contents), "data": _matrix_data(contents)},
        "spectrum": {"spec": _spectrum_spec(contents), "data": _spectrum_data(contents)},
    }
    if contents.views.sweep_profile is not None:
        found["sweep"] = {"spec": _sweep_spec(contents), "data": _sweep_data(contents)}
    return found


def row_name_step(grid: IncidenceGrid) -> int:
    """Return 1 if each row of the matrix has its name beside it, 2 if every second has, 0 if none."""
    rows = len(grid.edges)
    if rows <= NAMED_ROWS:
        return 1
    return 2 if rows <= HALF_NAMED_ROWS and rows == sum(map(len, grid.edges)) else 0


# ---- parts of specifications ----------------------------------------------------------------------


def _spec(
    height: int, padding: tuple[int, int, int, int], layers: list[Spec], parameters: Spec | None = None
) -> Spec:
    """Return a layered chart; the padding is left, top, right, bottom."""
    values = _PARAMETERS | (parameters or {})
    return {
        "autosize": "none",
        "width": 600,
        "height": height,
        "padding": dict(zip(("left", "top", "right", "bottom"), padding, strict=True)),
        "params": [{"name": name, "value": value} for name, value in values.items()],
        "layer": layers,
    }


def _layer(data: str | None, mark: str, encoding: Spec, **properties: Any) -> Spec:
    """Return a layer of one mark; without data it is drawn once."""
    source: Spec = {"values": [{}]} if data is None else {"name": data}
    return {"data": source, "mark": {"type": mark, "opacity": 1, **properties}, "encoding": encoding}


def _expr(expression: str) -> Spec:
    """Return a property that is evaluated for each datum."""
    return {"expr": expression}


def _axis(title: Any, side: str, **options: Any) -> Spec:
    """Return an axis without line and ticks, and with its title flat at the end."""
    flat = {
        "left": {"titleAngle": 0, "titleAlign": "left", "titleX": -40, "titleY": -12},
        "bottom": {"titleAnchor": "end", "titleAlign": "right", "titlePadding": 6},
    }[side]
    colours = {"labelColor": "soft", "titleColor": "soft", "gridColor": "rule"}
    return {
        "title": title,
        "domain": False,
        "ticks": False,
        "grid": False,
        "labelPadding": 6,
        "labelOverlap": True,
        **flat,
        **{name: _expr(colour) for name, colour in colours.items()},
        **options,
    }


def _channel(source: str | float, axis: Spec | None, **scale: Any) -> Spec:
    """Return a quantitative position: a field of the data, or one value."""
    position = {"field": source} if isinstance(source, str) else {"datum": source}
    return {
        **position,
        "type": "quantitative",
        "scale": {"zero": False, "nice": False, **scale},
        "axis": axis,
    }


def _value(pixels: Any) -> Spec:
    return {"value": pixels}


def _faded(opacity: float) -> str:
    """Return the expression of the opacity of a mark: full unless another cluster is chosen."""
    return f"chosen < 0 || chosen == datum.c ? 1 : {opacity}"


# ---- embedding ------------------------------------------------------------------------------------


def _embedding_spec(contents: Contents) -> Spec:
    names = _has_names(contents)
    place = {
        "x": _channel(
            "x", _axis({"signal": "xTitle"}, "bottom", tickCount=5, grid=True), padding=40 if names else 14
        ),
        "y": _channel("y", _axis({"signal": "yTitle"}, "left", tickCount=5, grid=True), padding=14),
    }
    on_top = {"order": {"condition": {"test": "chosen == datum.c", "value": 1}, "value": 0}}
    label = {
        "text": _expr("datum.name"),
        "dx": 7,
        "dy": -6,
        "align": "left",
        "baseline": "alphabetic",
        "limit": 130,
        "fontSize": 13,
        "fontWeight": "normal" if names else "bold",
        "opacity": _expr(_faded(0.15)),
    }
    points = _layer(
        "points",
        "point",
        place | on_top,
        size=float(np.clip(24_000 / len(contents.views.embedding.vertices), 14, 90)),
        fill=_expr(f"datum.clipped ? page : {_COLOUR}"),
        fillOpacity=_expr("chosen < 0 ? 0.85 : chosen == datum.c ? 0.95 : 0.12"),
        stroke=_expr(f"datum.clipped ? {_COLOUR} : page"),
        strokeWidth=_expr("datum.clipped ? 1.2 : 0.6"),
        strokeOpacity=_expr("chosen < 0 || chosen == datum.c ? 1 : datum.clipped ? 0.15 : 0"),
        tooltip=_expr("datum"),
        cursor="pointer",
    )
    layers = [points]
    if names or contents.part.k <= NUMBERED_CLUSTERS:
        halo = {"fill": None, "stroke": _expr("page"), "strokeWidth": 3, "strokeJoin": "round"}
        layers += [
            _layer("names", "text", place, **label, **style) for style in (halo, {"fill": _expr("ink")})
        ]
    return _spec(420, (44, 26, 14, 40), layers, {"xAxis": 0, "yAxis": 1, "xTitle": "", "yTitle": ""})


def _embedding_data(contents: Contents) -> Spec:
    view, part = contents.views.embedding, contents.part
    labels = part.labels[view.vertices]
    names, centres = _has_names(contents), []
    if part.k <= NUMBERED_CLUSTERS and not names:
        centres = [_rounded(np.median(view.coordinates[labels == c], axis=0)) for c in range(part.k)]
    return {
        "axes": list(view.axes),
        "coordinates": [_rounded(values) for values in view.coordinates.T],
        "clipped": [np.flatnonzero(clipped).tolist() for clipped in view.clipped.T],
        "clusters": labels.tolist(),
        "names": [short_id(value) for value in part.vertex_ids[view.vertices].tolist()],
        "showNames": names,
        "centres": centres,
        **contents.class_data(view.vertices),
    }


def _has_names(contents: Contents) -> bool:
    return len(contents.views.embedding.vertices) <= NAMED_POINTS


# ---- incidence matrix -----------------------------------------------------------------------------


def _matrix_spec(contents: Contents) -> Spec:
    grid = contents.views.incidence_grid
    rows, columns = grid.cells.shape
    step, names_below = row_name_step(grid), columns <= NAMED_COLUMNS
    title = _axis(
        "vertices, by cluster", "bottom", labels=False, values=[], titlePadding=24 if names_below else 8
    )
    x = partial(_channel, axis=title, domain=[0, columns], round=True)
    y = partial(_channel, axis=None, domain=[0, rows], round=True, reverse=True)
    layers = [_matrix_cells(x, y, gap=1 if step == 1 else 0), *_cluster_borders(x, y, grid)]
    label: Spec = {"text": _expr("datum.name"), "fontSize": 11, "fill": _expr("soft")}
    if step:
        place, shown = {"x": _value(-22), "y": y("middle")}, _expr(f"showNames ? {_faded(0.3)} : 0")
        label |= {"align": "right", "limit": NAME_WIDTH}
        layers.append(_layer("rows", "text", place, **label, opacity=shown))
    if names_below:
        place, limit = {"x": x("middle"), "y": _value(_expr("height + 14"))}, _expr("scale('x', 1) - 4")
        label |= {"align": "center", "limit": limit}
        layers.append(_layer("columns", "text", place, **label, opacity=_expr(_faded(0.3))))
    height = {0: 440, 1: rows * round(float(np.clip(420 / rows, 15, 32))), 2: max(440, 8 * rows)}[step]
    return _spec(height, (24, 40, 4, 46 if names_below else 30), layers, {"showNames": False})


def _matrix_cells(x: Channel, y: Channel, gap: int) -> Spec:
    """Colour the vertices of the main cluster of a hyperedge, and fade all clusters but the chosen one."""
    return _layer(
        "cells",
        "rect",
        {"x": x("x"), "x2": {"field": "x2"}, "y": y("y"), "y2": {"field": "y2"}},
        y2Offset=-gap,
        fill=_expr(f"datum.home == datum.c ? {_COLOUR} : ink"),
        fillOpacity=_expr(
            "(0.12 + 0.88 * sqrt(datum.v)) * (datum.home == datum.c ? 0.95 : 0.42)"
            " * (chosen < 0 || chosen == datum.c ? 1 : chosen == datum.home ? 0.45 : 0.12)"
        ),
        tooltip=_expr("datum"),
        cursor="pointer",
    )


def _cluster_borders(x: Channel, y: Channel, grid: IncidenceGrid) -> list[Spec]:
    """Draw lines between the clusters, and strips in their colours with their numbers."""
    strip = {"fill": _expr(_COLOUR), "fillOpacity": _expr(_faded(0.2)), "cursor": "pointer"}
    upright, level = (
        {"stroke": _expr("page"), "strokeWidth": _expr(f"{side} / {len(np.unique(clusters))} > 12 ? 1.5 : 0")}
        for side, clusters in (("width", grid.column_clusters), ("height", grid.row_clusters))
    )
    near, far = _value(-16), _value(-10)
    across, down = {"x": x("a"), "x2": {"field": "b"}}, {"y": y("a"), "y2": {"field": "b"}}
    return [
        _layer("across", "rule", {"x": x("a"), "y": near, "y2": _value("height")}, **upright),
        _layer("down", "rule", {"y": y("a"), "x": near, "x2": _value("width")}, **level),
        _layer("across", "rect", {**across, "y": near, "y2": far}, **strip),
        _layer("down", "rect", {**down, "x": near, "x2": far}, **strip),
        _layer(
            "across",
            "text",
            {"x": x("middle"), "y": _value(-20)},
            text=_expr("scale('x', datum.b) - scale('x', datum.a) > 16 ? '' + datum.c : ''"),
            baseline="alphabetic",
            fontSize=12,
            fontWeight="bold",
            fill=_expr("ink"),
            opacity=_expr(_faded(0.2)),
        ),
    ]


def _matrix_data(contents: Contents) -> Spec:
    grid, part = contents.views.incidence_grid, contents.part
    edge_ids, vertex_ids = part.walk.hypergraph.edge_ids, part.vertex_ids[contents.views.clustered]
    rows = [_group(group, edge_ids) for group in grid.edges]
    largest, step = float(grid.cells.max()), row_name_step(grid)
    return {
        "cells": np.round(1000 * grid.cells / max(largest, 1e-300)).astype(int).tolist(),
        "largest": _rounded([largest])[0],
        "rows": rows,
        "columns": [_group(group, vertex_ids) for group in grid.vertices],
        "rowClusters": grid.row_clusters.tolist(),
        "columnClusters": grid.column_clusters.tolist(),
        "nameWidth": min(NAME_WIDTH, 7 * max(len(row[1]) for row in rows)) if step else 0,
        "nameStep": step,
    }


def _group(group: Integers, ids: Any) -> list[Any]:
    """Return the number of members of a row or column and the names of the first."""
    return [len(group), *(short_id(value, 48) for value in ids[group[:GROUP_NAMES]].tolist())]


# ---- eigenvalues ----------------------------------------------------------------------------------


def _spectrum_spec(contents: Contents) -> Spec:
    values, k = contents.views.spectrum.values, contents.part.k
    ticks = {"values": list(range(1, len(values) + 1))} if len(values) <= 12 else {"tickCount": 10}
    x_axis = _axis("eigenvalue", "bottom", format=",d", **ticks)
    x = partial(_channel, axis=x_axis, domain=[0.5, len(values) + 0.5])
    top = _rounded([values.max()])[0] or 1
    y = _channel("v", _axis(None, "left", tickCount=4, grid=True), domain=[0, top], nice=True)
    tone = f"datum.i <= {k} ? ink : soft"
    common = {"stroke": _expr(tone), "tooltip": _expr("datum")}
    stem = {"strokeWidth": float(np.clip(60 / len(values), 0.8, 2.5)), "strokeOpacity": 0.45}
    dot: Spec = {"size": float(np.clip(900 / len(values), 20, 64)), "strokeWidth": 1.5}
    dot["fill"] = _expr(f"datum.converged ? ({tone}) : page")
    layers = [
        _layer("values", "rule", {"x": x("i"), "y": y, "y2": {"datum": 0}}, **common, **stem),
        _layer("values", "point", {"x": x("i"), "y": y}, **common, **dot),
    ]
    if k < len(values):
        middle = _value(_expr(f"clamp(scale('x', {k + 0.5}), 30, width - 30)"))
        label = {"text": f"gap after {k}", "baseline": "alphabetic", "fontSize": 12, "fill": _expr("soft")}
        layers[:0] = [
            _layer(None, "rect", {"x": x(k), "x2": {"datum": k + 1}}, fill=_expr("rule"), fillOpacity=0.5),
            _layer(None, "text", {"x": middle, "y": _value(-8)}, **label),
        ]
    return _spec(240, (44, 24, 14, 40), layers)


def _spectrum_data(contents: Contents) -> Spec:
    view = contents.views.spectrum
    return {
        "values": _rounded(view.values),
        "nConverged": view.n_converged,
        "residuals": _rounded(view.residuals, 1),
    }


# ---- sweep ----------------------------------------------------------------------------------------


def _sweep_spec(contents: Contents) -> Spec:
    x_axis = _axis("vertices on the first side", "bottom", format=",d", tickMinStep=1, tickCount=6)
    x = partial(_channel, axis=x_axis)
    y = partial(_channel, axis=_axis(None, "left", tickCount=4, grid=True), zero=True, nice=True)
    ncut, conductance = {"x": x("n"), "y": y("ncut")}, {"x": x("n"), "y": y("conductance")}
    ink, soft, page = map(_expr, ("ink", "soft", "page"))
    highlight = _expr("hovered == datum.n ? 0.08 : 0")
    interval = {"x": x("from"), "x2": {"field": "to"}}
    layers = [
        _layer("cuts", "line", conductance, stroke=soft, strokeDash=[4, 3], strokeWidth=1.3),
        _layer("cuts", "line", ncut, stroke=ink, strokeWidth=1.8),
        _layer("best", "point", ncut, fill=page, stroke=ink, size=80, strokeWidth=2),
        _layer("cuts", "rect", interval, fill=ink, fillOpacity=highlight, tooltip=_expr("datum")),
    ]
    if contents.part.k == 2:
        answer = y(_rounded([contents.part.ncut])[0])
        layers.insert(0, _layer(None, "rule", {"y": answer}, stroke=ink, strokeDash=[1, 3]))
    return _spec(240, (44, 24, 14, 40), layers, {"hovered": -1})


def _sweep_data(contents: Contents) -> Spec:
    view = contents.views.sweep_profile
    assert view is not None
    return {
        "sizes": view.sizes.tolist(),
        "ncuts": _rounded(view.ncuts),
        "conductances": _rounded(view.conductances),
        "best": view.best,
        "total": view.total,
    }


def _rounded(values: Any, digits: int = 4) -> list[float]:
    """Round to a few significant digits; rounding errors become 0."""
    return [0.0 if abs(value) < NOISE else float(f"{value:.{digits}g}") for value in map(float, values)]
