"""The tables: clusters, what tells each apart, agreement with classes, the data in figures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperclus.report.format import count, percent, percent_cell, short_id
from hyperclus.report.format import number as figure
from hyperclus.report.html.contents import DETAILED, LISTED, Contents
from hyperclus.report.html.markup import Html, element, joined, name
from hyperclus.report.html.svg import bar
from hyperclus.typing import Floats

FIRST = 6  # rows of a list that are open from the start
OPEN = 12  # rows of the table of clusters that are open from the start
MOST_CLASSES = 40  # rows and columns of the table of classes
SHADES = 10

Column = tuple[str, bool]  # title, and whether it holds numbers


def table(columns: Sequence[Column], rows: Sequence[Html], label: str, kind: str) -> Html:
    """A table whose headers sort it, in a box that scrolls when the page is narrow."""
    heads = [
        element(
            "th",
            element("button", title, type="button", class_="sort") if title else "",
            scope="col",
            class_="number" if numeric else None if title else "bars",
            aria_sort="none" if title else None,
        )
        for title, numeric in columns
    ]
    inside = joined(element("thead", element("tr", *heads)), element("tbody", *rows))
    whole = element("table", element("caption", label, class_="unseen"), inside, class_=kind)
    return element("div", whole, class_="scroll", role="group", aria_label=label)


def number(text: str, value: float) -> Html:
    """A cell that sorts by the value."""
    return element("td", text, class_="number", data_value=f"{value:.6g}" if math.isfinite(value) else "")


def badge(cluster: int) -> Html:
    """The colour and the number of a cluster."""
    return element("span", element("i", aria_hidden="true"), str(cluster), class_=f"badge c{colour(cluster)}")


def colour(cluster: int) -> int:
    """Which of the ten colours."""
    return cluster % 10


def chooser(cluster: int, *more: Html) -> Html:
    """A button that chooses a cluster in all views."""
    return element(
        "button",
        badge(cluster),
        *more,
        type="button",
        class_=f"chooser c{colour(cluster)}",
        data_choose=cluster,
        aria_pressed="false",
        aria_label=f"Cluster {cluster}",
    )


# ---- clusters ------------------------------------------------------------------------------------


def clusters(contents: Contents) -> Html:
    """One row per cluster: size, volume, conductance, and three telling hyperedges."""
    part = contents.part
    columns = [("Cluster", True), ("Vertices", True), ("Share %", True), ("Volume %", True), ("", False)]
    columns += [("Conductance", True), ("Most telling hyperedges", False)]
    rows = [_cluster_row(contents, cluster) for cluster in range(min(part.k, LISTED))]
    return table(columns, rows, "Clusters", "clusters")


def _cluster_row(contents: Contents, cluster: int) -> Html:
    part = contents.part
    size, volume = int(contents.sizes[cluster]), float(part.cut.volumes[cluster])
    conductance = float(part.cut.conductances[cluster])
    ids = part.walk.hypergraph.edge_ids[contents.views.top_hyperedges[cluster].edges[:3]].tolist()
    names = [element("span", name(value, 40), class_="tag") for value in ids]
    share = size / int(contents.sizes.sum())
    return element(
        "tr",
        element("td", chooser(cluster), class_="number", data_value=cluster),
        number(f"{size:,}", size),
        number(percent_cell(share), share),
        number(percent_cell(volume), volume),
        element("td", bar(volume / float(part.cut.volumes.max())), class_="bars"),
        number(f"{conductance:.3f}", conductance),
        element("td", *(names or [element("span", "none", class_="note")]), class_="tags"),
        class_=f"c{colour(cluster)}" + (" more" if cluster >= OPEN else ""),
        data_choose=cluster,
        data_cluster=cluster,
    )


# ---- details of each cluster ---------------------------------------------------------------------


def details(contents: Contents) -> Html:
    """For each cluster a card with its telling hyperedges and its central vertices."""
    some = [told for told in contents.views.top_hyperedges[:DETAILED] if len(told.edges)]
    scale = _Scale(
        max((float(told.lifts.max()) for told in some), default=2.0),
        max((float(told.flows.max()) for told in some), default=1.0),
    )
    return joined(*(_card(contents, c, scale) for c in range(min(contents.part.k, DETAILED))))


@dataclass(frozen=True, slots=True)
class _Scale:
    """The largest lift and the largest flow: what the bars and the decimals of all cards go by."""

    lift: float
    flow: float

    def bar(self, lift: float) -> Html:
        return bar(math.log(max(lift, 1.0)) / math.log(max(self.lift, 1.001)))

    def percent(self, flow: float) -> str:
        places = min(max(1, 1 - math.floor(math.log10(100 * self.flow))), 9)
        return f"{100 * flow:.{places}f}" if 200 * flow >= 0.1**places else f"< {0.1**places:.{places}f}"


def _card(contents: Contents, cluster: int, scale: _Scale) -> Html:
    part = contents.part
    size, volume = int(contents.sizes[cluster]), float(part.cut.volumes[cluster])
    figures = f"{count(size, 'vertex', 'vertices')}, {percent(volume)} of the volume"
    hidden = (
        max(
            len(contents.views.top_hyperedges[cluster].edges),
            len(contents.views.top_vertices[cluster].vertices),
        )
        - FIRST
    )
    more = element("button", f"{hidden} more", type="button", class_="more-rows", aria_expanded="false")
    return element(
        "article",
        element(
            "header",
            element("h3", chooser(cluster, element("span", f"Cluster {cluster}", class_="card-name"))),
            element("p", figures),
        ),
        element("div", _telling(contents, cluster, scale), _central(contents, cluster), class_="lists"),
        more if hidden > 0 else "",
        class_=f"card folded c{colour(cluster)}",
        data_cluster=cluster,
        aria_label=f"Cluster {cluster}",
    )


def _telling(contents: Contents, cluster: int, scale: _Scale) -> Html:
    told, ids = contents.views.top_hyperedges[cluster], contents.part.walk.hypergraph.edge_ids
    if not len(told.edges):
        return element("p", "No hyperedge tells this cluster apart from the others.", class_="note")
    columns = [("Telling hyperedge", False), ("Lift", True), ("", False), ("Share %", True), ("Flow %", True)]
    rows = [
        _row(
            position,
            element("td", name(ids[edge]), class_="name"),
            number(_times(lift), lift),
            element("td", scale.bar(lift), class_="bars"),
            number(percent_cell(share), share),
            number(scale.percent(flow), flow),
        )
        for position, (edge, lift, share, flow) in enumerate(
            zip(told.edges.tolist(), *_lists(told.lifts, told.shares, told.flows), strict=True)
        )
    ]
    return table(columns, rows, f"Telling hyperedges of cluster {cluster}", "list")


def _times(lift: float) -> str:
    return f"{lift:,.{2 if lift < 100 else 0}f}\u00d7"


def _central(contents: Contents, cluster: int) -> Html:
    central, ids = contents.views.top_vertices[cluster], contents.part.vertex_ids
    n = contents.part.walk.hypergraph.n_vertices
    columns = [("Central vertex", False), ("phi / mean", True), ("Stays %", True)]
    if contents.views.is_uniform:
        del columns[1]
    rows = [
        _row(
            position,
            element("td", name(ids[vertex]), class_="name"),
            "" if contents.views.is_uniform else number(f"{phi * n:.2f}", phi),
            number(percent_cell(stays), stays),
        )
        for position, (vertex, phi, stays) in enumerate(
            zip(central.vertices.tolist(), *_lists(central.phi, central.stay_probability), strict=True)
        )
    ]
    return table(columns, rows, f"Central vertices of cluster {cluster}", "list")


def _row(position: int, *cells: str) -> Html:
    return element("tr", *cells, class_="more" if position >= FIRST else None)


def _lists(*arrays: Floats) -> list[list[float]]:
    return [array.tolist() for array in arrays]


# ---- classes -------------------------------------------------------------------------------------


def confusion(contents: Contents) -> Html:
    """Classes down, clusters across, shaded by the share of the class; with the F1 of each class."""
    if contents.classes is None:
        return Html()
    found = contents.classes.agreement
    columns = np.argsort(np.asarray(found.clusters, dtype=np.int64))[:MOST_CLASSES]
    sizes, counts = found.counts.sum(axis=1), found.counts[:, columns]
    largest = np.lexsort((np.arange(len(sizes)), -sizes))[:MOST_CLASSES]
    by_cluster = largest[np.lexsort((-counts[largest].max(axis=1), counts[largest].argmax(axis=1)))]
    heads = [
        element("th", chooser(int(found.clusters[column])), scope="col", class_="number")
        for column in columns
    ]
    rows = [
        element(
            "tr",
            element("th", name(found.classes[row], 32), scope="row"),
            element("td", f"{sizes[row]:,}", class_="number quiet"),
            element("td", f"{found.f1[row]:.3f}", class_="number quiet f1"),
            *(
                _counted(int(found.counts[row, column]), int(sizes[row]), int(found.clusters[column]))
                for column in columns
            ),
        )
        for row in by_cluster.tolist()
    ]
    head = element(
        "tr",
        element("th", "Class", scope="col"),
        element("th", "Vertices", scope="col", class_="number"),
        element("th", "F1", scope="col", class_="number f1"),
        *heads,
    )
    label = "Vertices of each class in each cluster"
    whole = element(
        "table",
        element("caption", label, class_="unseen"),
        element("thead", head),
        element("tbody", *rows),
        class_="confusion",
    )
    return element("div", whole, class_="scroll", role="group", aria_label=label)


def _counted(vertices: int, size: int, cluster: int) -> Html:
    shade = math.ceil(SHADES * vertices / size)
    return element(
        "td", f"{vertices:,}" if vertices else "·", class_=f"number h{shade}", data_cluster=cluster
    )


# ---- data and settings ---------------------------------------------------------------------------


def distributions(contents: Contents) -> Html:
    """Minimum, quartiles and maximum of sizes, degrees and weights."""
    data = contents.data
    rows = [
        element(
            "tr",
            element("th", title, scope="row"),
            *(element("td", figure(value), class_="number") for value in five),
        )
        for title, five in (
            ("Members of a hyperedge", data.edge_sizes),
            ("Hyperedges of a vertex", data.degrees),
            ("Weight of a member (gamma)", data.gamma),
            ("Weight of a hyperedge (omega)", data.omega),
        )
    ]
    titles = ("", "Least", "Quarter", "Median", "3 quarters", "Most")
    heads = [
        element("th", title, scope="col", class_="number") if title else element("td") for title in titles
    ]
    label = "Sizes and weights"
    whole = element(
        "table",
        element("caption", label, class_="unseen"),
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_="plain",
    )
    return element("div", whole, class_="scroll", role="group", aria_label=label)


def pairs(entries: Sequence[tuple[str, object]]) -> Html:
    """Terms and values, two in a row."""
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", term),
                element("dd", value if isinstance(value, Html) else short_id(value)),
            )
            for term, value in entries
        ),
        class_="pairs",
    )
