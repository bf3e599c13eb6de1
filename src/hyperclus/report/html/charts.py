"""The four interactive charts: Vega-Lite specifications and their data.

A specification contains no data, and no text from the data but the word for vertices; the script of the page
turns the data into the named datasets and shows names as plain text. Colours are parameters (`ink`, `soft`,
`rule`, `page`, `none`, `palette`), so that switching between light and dark changes parameters only; `chosen`
is the cluster that the reader chose, or -1.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hyperclus.report.colours import SHAPES
from hyperclus.report.format import NOISE, short_id
from hyperclus.report.html.contents import Contents
from hyperclus.report.html.levels import Level
from hyperclus.report.views import IncidenceGrid
from hyperclus.typing import Codes

Spec = dict[str, Any]
Channel = Callable[[str | float], Spec]

NAMED_POINTS = 30  # with at most this many vertices, the embedding shows their names
NUMBERED_CLUSTERS = 30  # with at most this many clusters, the embedding shows their numbers instead
NAMED_ROWS, NAMED_COLUMNS = 48, 12  # with at most this many, the matrix shows the names
HALF_NAMED_ROWS = 100  # with at most this many rows, the matrix shows every second name
NAME_WIDTH = 150  # pixels
GROUP_NAMES = 3  # names in the tooltip of a row or column that stands for several

_PARAMETERS = {"ink": "", "soft": "", "rule": "", "page": "", "none": "", "palette": [], "chosen": -1}
_COLOUR = "(datum.c < 0 ? none : palette[datum.c % length(palette)])"
_SHAPE = f"{list(SHAPES)}[floor(datum.c / length(palette)) % {len(SHAPES)}]"
_AXIS = {"domain": False, "ticks": False, "grid": False, "labelPadding": 6, "labelOverlap": True}
_TITLES = {  # flat, at the end of the axis
    "left": {"titleAngle": 0, "titleAlign": "left", "titleX": -40, "titleY": -12},
    "bottom": {"titleAnchor": "end", "titleAlign": "right", "titlePadding": 6},
}


def charts(contents: Contents) -> dict[str, Spec]:
    """Return the specification (`spec`) and the data (`data`) of each chart."""
    found = {
        "embedding": _embedding(contents),
        "matrix": _matrix(contents),
        "spectrum": _spectrum(contents),
        "sweep": _sweep(contents),
    }
    return {name: {"spec": chart[0], "data": chart[1]} for name, chart in found.items() if chart}


def row_name_step(grid: IncidenceGrid) -> int:
    """Return 1 if each row of the matrix has its name beside it, 2 if every second has, 0 if none."""
    rows = len(grid.edges)
    if rows <= NAMED_ROWS:
        return 1
    return 2 if rows <= HALF_NAMED_ROWS and rows == sum(map(len, grid.edges)) else 0


def _spec(height: int, padding: tuple[int, int, int, int], layers: list[Spec], **parameters: Any) -> Spec:
    """Return a layered chart; the padding is left, top, right, bottom."""
    return {
        "autosize": "none",
        "width": 600,
        "height": height,
        "padding": dict(zip(("left", "top", "right", "bottom"), padding, strict=True)),
        "params": [{"name": name, "value": value} for name, value in (_PARAMETERS | parameters).items()],
        "layer": layers,
    }


def _layer(data: str | None, mark: str, encoding: Spec, **properties: Any) -> Spec:
    """Return a layer of one mark, drawn once if there are no data; text after "=" is an expression."""
    source: Spec = {"values": [{}]} if data is None else {"name": data}
    styled = {name: _evaluated(value) for name, value in properties.items()}
    return {
        "data": source,
        "mark": {"type": mark, "aria": False, "opacity": 1, **styled},
        "encoding": encoding,
    }


def _evaluated(value: Any) -> Any:
    return {"expr": value[1:]} if isinstance(value, str) and value.startswith("=") else value


def _axis(title: Any, side: str, **options: Any) -> Spec:
    """Return an axis without line and ticks, and with its title flat at the end."""
    colours = {name: {"expr": "soft"} for name in ("labelColor", "titleColor")} | {
        "gridColor": {"expr": "rule"}
    }
    return {"title": title, **_AXIS, **_TITLES[side], **colours, **options}


def _channel(source: str | float, axis: Spec | None, **scale: Any) -> Spec:
    """Return a quantitative position: a field of the data, or one value."""
    position = {"field" if isinstance(source, str) else "datum": source}
    return {
        **position,
        "type": "quantitative",
        "scale": {"zero": False, "nice": False, **scale},
        "axis": axis,
    }


def _value(pixels: Any) -> Spec:
    return {"value": _evaluated(pixels)}


def _faded(opacity: float) -> str:
    """Return the expression of the opacity of a mark: full unless another cluster is chosen."""
    return f"chosen < 0 || chosen == datum.c ? 1 : {opacity}"


def _embedding(contents: Contents) -> tuple[Spec, Spec]:
    view, part = contents.views.embedding, contents.part
    names, leaves = len(view.vertices) <= NAMED_POINTS, contents.levels.tree.leaves
    axes = [
        _axis({"signal": f"{x}Title"}, side, tickCount=5, grid=True)
        for x, side in (("x", "bottom"), ("y", "left"))
    ]
    place = {
        "x": _channel("x", axes[0], padding=40 if names else 60),
        "y": _channel("y", axes[1], padding=14),
    }
    layers = [
        _layer(
            "points",
            "point",
            place | {"order": {"condition": {"test": "chosen == datum.c", "value": 1}, "value": 0}},
            size=float(np.clip(24_000 / len(view.vertices), 14, 90)),
            shape=f"={_SHAPE}",
            fill=f"=datum.clipped ? page : {_COLOUR}",
            fillOpacity="=chosen < 0 ? 0.85 : chosen == datum.c ? 0.95 : 0.12",
            stroke=f"=datum.clipped ? {_COLOUR} : page",
            strokeWidth="=datum.clipped ? 1.2 : 0.6",
            strokeOpacity="=chosen < 0 || chosen == datum.c ? 1 : datum.clipped ? 0.15 : 0",
            tooltip="=datum",
            cursor="pointer",
        )
    ]
    if names or contents.levels.levels[0].k <= NUMBERED_CLUSTERS:
        label = {"text": "=datum.name", "dx": 7, "dy": -6, "align": "left", "baseline": "alphabetic"}
        label |= {"limit": 130, "fontSize": 13, "fontWeight": "normal" if names else "bold"}
        label |= {"opacity": f"={_faded(0.15)}"}
        halo = {"fill": None, "stroke": "=page", "strokeWidth": 3, "strokeJoin": "round"}
        layers += [_layer("names", "text", place, **label, **style) for style in (halo, {"fill": "=ink"})]
    data = {
        "axes": list(view.axes),
        "coordinates": [_rounded(values) for values in view.coordinates.T],
        "clipped": [np.flatnonzero(clipped).tolist() for clipped in view.clipped.T],
        "leaves": leaves.labels[view.vertices].tolist(),
        "names": [short_id(value) for value in part.vertex_ids[view.vertices].tolist()],
        "showNames": names,
        "showGroups": 0 if names else NUMBERED_CLUSTERS,
        **contents.class_data(view.vertices),
    }
    return _spec(420, (44, 26, 14, 40), layers, xAxis=0, yAxis=1, xTitle="", yTitle=""), data


def _matrix(contents: Contents) -> tuple[Spec, Spec]:
    grid, part = contents.levels.grid, contents.part
    (n_rows, n_columns), step, largest = grid.cells.shape, row_name_step(grid), float(grid.cells.max())
    named = n_columns <= NAMED_COLUMNS
    padding, words = 24 if named else 8, f"{contents.nouns.vertices}, by group"
    title = _axis(words, "bottom", labels=False, values=[], titlePadding=padding)
    x = partial(_channel, axis=title, domain=[0, n_columns], round=True)
    y = partial(_channel, axis=None, domain=[0, n_rows], round=True, reverse=True)
    layers = _matrix_layers(x, y, grid, gap=1 if step == 1 else 0)
    label: Spec = {"text": "=datum.name", "fontSize": 11, "fill": "=soft"}
    if step:
        label |= {"align": "right", "limit": NAME_WIDTH, "opacity": f"=showNames ? {_faded(0.3)} : 0"}
        layers.append(_layer("rows", "text", {"x": _value(-22), "y": y("middle")}, **label))
    if named:
        label |= {"align": "center", "limit": "=scale('x', 1) - 4", "opacity": f"={_faded(0.3)}"}
        layers.append(_layer("columns", "text", {"x": x("middle"), "y": _value("=height + 14")}, **label))
    height = {0: 440, 1: n_rows * round(float(np.clip(420 / n_rows, 15, 32))), 2: max(440, 8 * n_rows)}[step]
    rows = [_group(group, part.walk.hypergraph.edge_ids) for group in grid.edges]
    vertex_ids = part.vertex_ids[contents.views.clustered]
    data = {
        "cells": np.round(1000 * grid.cells / max(largest, 1e-300)).astype(int).tolist(),
        "largest": _rounded([largest])[0],
        "rows": rows,
        "columns": [_group(group, vertex_ids) for group in grid.vertices],
        "homes": [_homes(grid, level) for level in contents.levels.levels],
        "leaves": contents.levels.tree.leaves.walk_labels[[group[0] for group in grid.vertices]].tolist(),
        "nameWidth": min(NAME_WIDTH, 7 * max(len(row[1]) for row in rows)) if step else 0,
        "nameStep": step,
    }
    return _spec(height, (24, 40, 4, 46 if named else 30), layers, showNames=False), data


def _matrix_layers(x: Channel, y: Channel, grid: IncidenceGrid, gap: int) -> list[Spec]:
    """Return the cells, lines between the groups, and strips in their colours with their names.

    Vertices of the group of a hyperedge are in colour; all groups but the chosen one are faded.
    """
    strip = {"fill": f"={_COLOUR}", "fillOpacity": f"={_faded(0.2)}", "cursor": "pointer"}
    upright, level = (
        {"stroke": "=page", "strokeWidth": f"={side} / {len(np.unique(clusters))} > 12 ? 1.5 : 0"}
        for side, clusters in (("width", grid.column_clusters), ("height", grid.row_clusters))
    )
    near, far = _value(-16), _value(-10)
    across, down = {"x": x("a"), "x2": {"field": "b"}}, {"y": y("a"), "y2": {"field": "b"}}
    return [
        _layer(
            "cells",
            "rect",
            {"x": x("x"), "x2": {"field": "x2"}, "y": y("y"), "y2": {"field": "y2"}},
            y2Offset=-gap,
            fill=f"=datum.home == datum.c ? {_COLOUR} : ink",
            fillOpacity="=(0.12 + 0.88 * sqrt(datum.v)) * (datum.home == datum.c ? 0.95 : 0.42)"
            " * (chosen < 0 || chosen == datum.c ? 1 : chosen == datum.home ? 0.45 : 0.12)",
            tooltip="=datum",
            cursor="pointer",
        ),
        _layer("across", "rule", {"x": x("a"), "y": near, "y2": _value("height")}, **upright),
        _layer("down", "rule", {"y": y("a"), "x": near, "x2": _value("width")}, **level),
        _layer("across", "rect", {**across, "y": near, "y2": far}, **strip),
        _layer("down", "rect", {**down, "x": near, "x2": far}, **strip),
        _layer(
            "across",
            "text",
            {"x": x("middle"), "y": _value(-20)},
            text="=scale('x', datum.b) - scale('x', datum.a) > 16 ? datum.name : ''",
            limit="=scale('x', datum.b) - scale('x', datum.a)",
            baseline="alphabetic",
            fontSize=12,
            fontWeight="bold",
            fill="=ink",
            opacity=f"={_faded(0.2)}",
        ),
    ]


def _homes(grid: IncidenceGrid, level: Level) -> list[int]:
    """The group of each row of the matrix: that of most of its hyperedges, -1 if they have none."""
    homes = np.append(level.ids, -1)[level.views.edge_clusters]
    return [int(np.bincount(homes[rows] + 1).argmax()) - 1 for rows in grid.edges]


def _group(group: Codes, ids: Any) -> list[Any]:
    """Return the number of members of a row or column and the names of the first."""
    return [len(group), *(short_id(value, 48) for value in ids[group[:GROUP_NAMES]].tolist())]


def _spectrum(contents: Contents) -> tuple[Spec, Spec]:
    view, k = contents.views.spectrum, contents.part.k
    count, top = len(view.values), _rounded([view.values.max()])[0] or 1
    ticks = {"values": list(range(1, count + 1))} if count <= 12 else {"tickCount": 10}
    x = partial(_channel, axis=_axis("eigenvalue", "bottom", format=",d", **ticks), domain=[0.5, count + 0.5])
    y = _channel("v", _axis(None, "left", tickCount=4, grid=True), domain=[0, top], nice=True)
    tone = f"datum.i <= {k} ? ink : soft"
    common = {"stroke": f"={tone}", "tooltip": "=datum"}
    stem = {"strokeWidth": float(np.clip(60 / count, 0.8, 2.5)), "strokeOpacity": 0.45}
    dot: Spec = {"size": float(np.clip(900 / count, 20, 64)), "strokeWidth": 1.5}
    dot["fill"] = f"=datum.converged ? ({tone}) : page"
    layers = [
        _layer("values", "rule", {"x": x("i"), "y": y, "y2": {"datum": 0}}, **common, **stem),
        _layer("values", "point", {"x": x("i"), "y": y}, **common, **dot),
    ]
    if k < count:
        middle = _value(f"=clamp(scale('x', {k + 0.5}), 30, width - 30)")
        label = {"text": f"gap after {k}", "baseline": "alphabetic", "fontSize": 12, "fill": "=soft"}
        layers[:0] = [
            _layer(None, "rect", {"x": x(k), "x2": {"datum": k + 1}}, fill="=rule", fillOpacity=0.5),
            _layer(None, "text", {"x": middle, "y": _value(-8)}, **label),
        ]
    residuals = _rounded(view.residuals, 1)
    data = {"values": _rounded(view.values), "nConverged": view.n_converged, "residuals": residuals}
    return _spec(240, (44, 24, 14, 40), layers), data


def _sweep(contents: Contents) -> tuple[Spec, Spec] | None:
    view, part = contents.views.sweep_profile, contents.part
    if view is None:
        return None
    words = f"{contents.nouns.vertices} on the first side"
    x_axis = _axis(words, "bottom", format=",d", tickMinStep=1, tickCount=6)
    x = partial(_channel, axis=x_axis)
    y = partial(_channel, axis=_axis(None, "left", tickCount=4, grid=True), zero=True, nice=True)
    ncut, conductance = {"x": x("n"), "y": y("ncut")}, {"x": x("n"), "y": y("conductance")}
    highlight, interval = "=hovered == datum.n ? 0.08 : 0", {"x": x("from"), "x2": {"field": "to"}}
    layers = [
        _layer("cuts", "line", conductance, stroke="=soft", strokeDash=[4, 3], strokeWidth=1.3),
        _layer("cuts", "line", ncut, stroke="=ink", strokeWidth=1.8),
        _layer("best", "point", ncut, fill="=page", stroke="=ink", size=80, strokeWidth=2),
        _layer("cuts", "rect", interval, fill="=ink", fillOpacity=highlight, tooltip="=datum"),
    ]
    if part.k == 2:
        answer = y(_rounded([part.ncut])[0])
        layers.insert(0, _layer(None, "rule", {"y": answer}, stroke="=ink", strokeDash=[1, 3]))
    data = {
        "sizes": view.sizes.tolist(),
        "ncuts": _rounded(view.ncuts),
        "conductances": _rounded(view.conductances),
        "best": view.best,
        "total": view.total,
    }
    return _spec(240, (44, 24, 14, 40), layers, hovered=-1), data


def _rounded(values: Any, digits: int = 4) -> list[float]:
    """Round to a few significant digits; rounding errors become 0."""
    return [0.0 if abs(value) < NOISE else float(f"{value:.{digits}g}") for value in map(float, values)]
