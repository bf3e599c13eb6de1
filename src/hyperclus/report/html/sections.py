"""The sections of the page, in their order."""

import sys
from itertools import islice
from typing import Any

from hyperclus.report.format import NOISE, count, duration, short_id
from hyperclus.report.format import number as figure
from hyperclus.report.html import captions, svg, tables
from hyperclus.report.html.contents import LISTED, Contents
from hyperclus.report.html.markup import Html, element, joined, name
from hyperclus.report.html.recipe import python_lines

LONGEST_REMARK = 400  # characters
LEGEND = 60  # clusters in the bar at the top, the largest
MOST_COLUMNS = 60  # of the table, that are named


def sections(contents: Contents) -> list[Html]:
    """The sections in their order."""
    pictures = element("div", _embedding(contents), _matrix(contents), class_="pair")
    curves = element("div", _spectrum(contents), _sweep(contents), class_="pair")
    return [
        _answer(contents),
        _clusters(contents),
        _find(contents),
        pictures,
        _details(contents),
        curves,
        _classes(contents),
        _data(contents),
        _how(contents),
        _glossary(),
    ]


def toolbar(contents: Contents) -> Html:
    """Always in view: the clusters to choose from, and light or dark."""
    k = contents.part.k
    rest = element("span", f"{k - LEGEND:,} more in the table", class_="note") if k > LEGEND else ""
    chips = [tables.chooser(cluster) for cluster in range(min(k, LEGEND))]
    return element(
        "div",
        element("span", "Clusters", class_="bar-name"),
        element("div", *chips, rest, class_="chips", role="group", aria_label="Choose a cluster"),
        element("button", "More", type="button", id="more-chips", aria_expanded="false", hidden=True),
        element("button", "Show all", type="button", id="clear", hidden=True),
        element("button", "Dark", type="button", id="theme"),
        class_="toolbar",
    )


def _answer(contents: Contents) -> Html:
    part = contents.part
    lines = [joined("Clusters of a hypergraph")]
    if contents.source is not None:
        lines.append(name(contents.source, 120))
    lines.append(joined(contents.made))
    eyebrow = [element("span", line) for line in lines]
    parts = [
        element("p", *eyebrow, class_="eyebrow"),
        element("h1", element("bdi", short_id(contents.title, 200))),
        element("p", captions.answer(contents), class_="answer"),
    ]
    if part.k > 1 and part.ncut > NOISE:
        parts.append(
            element(
                "figure",
                svg.interval(part.ncut, min(part.lower_bound, part.ncut), part.k),
                element("figcaption", captions.interval(contents)),
                id="bounds",
            )
        )
    if contents.remarks:
        said = [element("li", short_id(remark, LONGEST_REMARK)) for remark in contents.remarks]
        parts.append(
            element("div", element("b", "Keep in mind"), element("ul", *said), class_="doubts", id="remarks")
        )
    return element("header", *parts, class_="top")


def _clusters(contents: Contents) -> Html:
    hidden = min(contents.part.k, LISTED) - tables.OPEN
    tools = _filter("clusters-filter", "Filter clusters") if hidden > 0 else ""
    more = element(
        "button", f"{hidden} more clusters", type="button", class_="more-rows", aria_expanded="false"
    )
    return element(
        "section",
        element("div", element("h2", "Clusters"), tools, class_="head"),
        tables.clusters(contents),
        more if hidden > 0 else "",
        element("p", captions.clusters(contents), class_="caption"),
        id="clusters",
        class_="folded",
    )


def _find(contents: Contents) -> Html:
    note = captions.find(contents)
    return element(
        "section",
        element("div", element("h2", "Find a vertex"), _filter("find", "Type a name"), class_="head"),
        element("p", note, class_="caption") if note else "",
        element("p", class_="note", id="found-said", role="status"),
        element("ul", id="found", aria_label="Vertices found"),
        id="find-section",
    )


def _embedding(contents: Contents) -> Html:
    axes = contents.views.embedding.axes
    tools: Any = ""
    if len(axes) > 2:
        tools = element(
            "div",
            element("span", "eigenvectors"),
            _axis_choice("across", "x", 0, axes),
            _axis_choice("up", "y", 1, axes),
            class_="tools",
        )
    return _figure("embedding", "Where the vertices lie", captions.embedding(contents), tools)


def _axis_choice(key: str, label: str, chosen: int, axes: tuple[str, ...]) -> Html:
    options = [
        element("option", axis.removeprefix("eigenvector "), value=position, selected=position == chosen)
        for position, axis in enumerate(axes)
    ]
    choice = element("select", *options, id=key, aria_label=f"Eigenvector for {label}")
    return element("label", f"{label} ", choice)


def _matrix(contents: Contents) -> Html:
    return _figure("matrix", "Who is in what", captions.matrix(contents))


def _details(contents: Contents) -> Html:
    tools = _filter("details-filter", "Filter hyperedges and vertices")
    return element(
        "section",
        element("div", element("h2", "What tells the clusters apart"), tools, class_="head"),
        element("p", captions.details(contents), class_="caption"),
        element("div", tables.details(contents), class_="cards"),
        element("p", "Nothing matches.", class_="note", id="no-match", hidden=True),
        id="details",
    )


def _spectrum(contents: Contents) -> Html:
    return _figure("spectrum", "Eigenvalues", captions.spectrum(contents))


def _sweep(contents: Contents) -> Html:
    if contents.views.sweep_profile is None:
        return Html()
    return _figure("sweep", "All cuts along the second eigenvector", captions.sweep(contents))


def _classes(contents: Contents) -> Html:
    if contents.classes is None:
        return Html()
    found = contents.classes.agreement
    figures = (
        ("NMI", f"{found.nmi:.3f}", "1 is the same partition, 0 unrelated"),
        ("ARI", f"{found.ari:.3f}", "1 is the same partition, 0 chance"),
        ("Purity", f"{found.purity:.3f}", "share in the main class of its cluster"),
        ("Weighted F1", f"{found.weighted_f1:.3f}", "mean over the classes"),
    )
    tiles = [
        element("div", element("dt", term), element("dd", value), element("dd", note, class_="note"))
        for term, value, note in figures
    ]
    return element(
        "section",
        element("h2", "Agreement with known classes"),
        element("dl", *tiles, class_="tiles"),
        tables.confusion(contents),
        element("p", captions.classes(contents, tables.MOST_CLASSES), class_="caption"),
        id="classes",
    )


def _data(contents: Contents) -> Html:
    data, part = contents.data, contents.part
    alone = int((part.labels < 0).sum())
    entries: list[tuple[str, object]] = (
        [] if contents.source is None else [("Source", name(contents.source, 120))]
    )
    entries += [
        ("Vertices", f"{data.n_vertices:,}"),
        ("Hyperedges", f"{data.n_edges:,}"),
        ("Incidences", f"{data.n_incidences:,}"),
        ("Connected components", f"{data.n_components:,}"),
    ]
    if data.n_components > 1:
        entries.append(("Largest component", count(data.largest_component, "vertex", "vertices")))
    if alone:
        entries.append(("In no hyperedge, in no cluster", count(alone, "vertex", "vertices")))
    remarks = [element("li", short_id(remark, 300)) for remark in data.remarks]
    return element(
        "section",
        element("h2", "What was clustered"),
        *_table(contents),
        tables.pairs(entries),
        tables.distributions(contents),
        element("h3", "Worth knowing") if remarks else "",
        element("ul", *remarks, class_="remarks") if remarks else "",
        id="data-section",
    )


def _table(contents: Contents) -> list[Html]:
    """How to read the hyperedges of a table, and its columns."""
    columns = contents.views.table_columns
    if columns is None:
        return []
    named = [
        element("span", name(column, 40), f" ({values:,})", class_="tag")
        for column, values in islice(columns.items(), MOST_COLUMNS)
    ]
    rest = len(columns) - len(named)
    return [
        element("p", captions.table(contents), class_="caption"),
        element("p", *named, f"and {rest:,} more" if rest else "", class_="columns"),
    ]


def _how(contents: Contents) -> Html:
    part = contents.part
    settings = [(key.replace("_", " "), _setting(value)) for key, value in part.settings.items()]
    return element(
        "section",
        element("h2", "How it was found"),
        tables.pairs(
            [
                *settings,
                ("eigenvectors by", part.eigenpairs.method),
                ("stationary law by", part.walk.distribution.method),
            ]
        ),
        *(_times(contents) if part.timings else []),
        *_again(contents),
        element("p", f"Written by hyperclus {_version()} on {contents.made}.", class_="caption"),
        id="how",
    )


def _times(contents: Contents) -> list[Html]:
    timings = dict(contents.part.timings)
    return [
        element("h3", f"Clustering took {duration(sum(timings.values()))}"),
        svg.times(timings),
        element("p", captions.TIMES, class_="caption"),
    ]


def _again(contents: Contents) -> list[Html]:
    lines = contents.command if contents.command is not None else python_lines(contents.part)
    if lines is None:
        return []
    return [
        element("h3", "The same again"),
        element(
            "div",
            element("pre", element("code", lines), tabindex=0),
            element("button", "Copy", type="button", class_="copy"),
            class_="code",
        ),
    ]


def _setting(value: Any) -> str:
    return figure(value) if isinstance(value, float) else short_id(value)


def _glossary() -> Html:
    entries = [
        element("div", element("dt", term), element("dd", meaning)) for term, meaning in captions.GLOSSARY
    ]
    return element("section", element("h2", "Words"), element("dl", *entries, class_="glossary"), id="words")


def _figure(key: str, title: str, caption: str, tools: Any = "") -> Html:
    return element(
        "figure",
        element("div", element("h2", title), tools, class_="head"),
        element("div", class_="chart", data_chart=key, role="img", aria_labelledby=f"{key}-caption"),
        element("noscript", element("p", "This picture needs JavaScript; the tables do not.", class_="note")),
        element("figcaption", caption, id=f"{key}-caption"),
        id=key,
    )


def _filter(key: str, label: str) -> Html:
    return element(
        "input",
        type="search",
        id=key,
        placeholder=label,
        aria_label=label,
        autocomplete="off",
        spellcheck="false",
    )


def _version() -> str:
    version: str = sys.modules["hyperclus"].__version__  # which cannot be imported from below
    return version
