"""Descriptions and profiles of clusters as tables, for terminals and for notebooks."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from hyperclus.clustering.description import Description, Printed, TopAttributes, TopHyperedges, TopVertices
from hyperclus.clustering.profile import ColumnProfile, Profile
from hyperclus.hypergraph.messages import count
from hyperclus.report.format import number, percent, safe_lines, short_id
from hyperclus.report.notebook import html_table

NAME_LENGTH = 40
MAX_CLUSTERS = 40  # that are described
MAX_COLUMNS = 30  # of a table that are shown
TOP_VALUES = 3  # of a column


@dataclass(frozen=True, slots=True)
class Section:
    """A title, and a table below it if there are rows; the first column, or all, are aligned to the left."""

    title: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = field(default_factory=list)
    notes: Sequence[str] = ()
    left: bool = False  # whether all columns are aligned to the left


def as_text(value: Printed) -> str:
    """Return the tables of a description as text, with titles above them and notes below.

    >>> from hyperclus import Hypergraph, cluster
    >>> part = cluster(Hypergraph.from_table({"legs": [2, 2, 2, 4, 4], "hair": list("nnnyn")}), chance=False)
    >>> print(as_text(part.top_edges(0)))
    top hyperedges of cluster 0
      hyperedge  of it  of all  share  lift
      legs = 2   100 %    60 %  100 %  1.67
      hair = n   100 %    80 %   75 %  1.25
    """
    title, sections = _sections(value)
    lines = [title]
    for section in sections:
        indent = "  " if section.title else ""
        lines += [f"  {section.title}"] * bool(section.title)
        table = [section.head, *section.rows] if section.rows else []
        widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
        for first, *others in table:
            side = "<" if section.left else ">"
            cells = [f"{cell:{side}{width}}" for cell, width in zip(others, widths[1:], strict=True)]
            lines.append(f"  {indent}" + "  ".join([f"{first:<{widths[0]}}", *cells]).rstrip())
        lines += [f"  {indent}{note}" for note in section.notes]
    return "\n".join(lines)


def as_html(value: Printed) -> str:
    """Return the tables of a description for a notebook cell."""
    title, sections = _sections(value)
    tables = [
        html_table(section.title or title, section.head, section.rows, section.notes, text=section.left)
        for section in sections
    ]
    heading = f"<p><strong>{escape(safe_lines(title))}</strong></p>" if sections[0].title else ""
    return f"<div>{heading}{''.join(tables)}</div>"


def _sections(value: Printed) -> tuple[str, list[Section]]:
    """The title and the tables of a value; a value with a single table has no titles of tables."""
    if isinstance(value, TopHyperedges):
        return f"top {value.nouns.hyperedges} of cluster {_name(value.cluster)}", [_edges(value)]
    if isinstance(value, TopVertices):
        return f"top {value.nouns.vertices} of cluster {_name(value.cluster)}", [_vertices(value)]
    if isinstance(value, TopAttributes):
        return f"top attributes of cluster {_name(value.cluster)}", [_attributes(value)]
    assert isinstance(value, Description | Profile)
    vertices = value.nouns.count_vertices(int(value.sizes.sum()))
    if isinstance(value, Description):
        title = f"Description of {vertices} in {count(len(value.clusters), 'cluster')}"
        found = list(_clusters(value))
        return title, _limited(found, MAX_CLUSTERS, "clusters")
    title = (
        f"Profile of {vertices} in {count(len(value.clusters), 'cluster')}, the most important column first"
    )
    found = [_column(each, value.clusters) for each in value.columns]
    return title, _limited(found, MAX_COLUMNS, "columns")


def _limited(sections: list[Section], most: int, what: str) -> list[Section]:
    left = len(sections) - most
    return [*sections[:most], *[Section(f"... and {left:,} more {what}")] * (left > 0)]


def _clusters(value: Description) -> Iterator[Section]:
    for i, name in enumerate(value.clusters):
        size, share = value.nouns.count_vertices(int(value.sizes[i])), percent(value.shares[i])
        table, names = _edges(value.edges[i]), [_name(vertex) for vertex in value.vertices[i].ids]
        notes = [*table.notes, *_told(value, i), f"top {value.nouns.vertices}: {', '.join(names)}"]
        yield Section(f"cluster {_name(name)}: {size}, {share} of all", table.head, table.rows, notes)


def _told(value: Description, cluster: int) -> list[str]:
    """The top attributes of a cluster in one line, if there are any."""
    if not value.attributes:
        return []
    top = value.attributes[cluster]
    some = [f"{_name(one)} ({score:+.2f})" for one, score in zip(top.ids, top.score, strict=True)]
    return [f"top attributes (mean, in deviations from that of all): {', '.join(some) or 'none'}"]


def _attributes(top: TopAttributes) -> Section:
    figures = zip(top.mean, top.mean_all, top.score, strict=True)
    rows = [
        [_name(one), number(mean), number(overall), f"{score:+.2f}"]
        for one, (mean, overall, score) in zip(top.ids, figures, strict=True)
    ]
    return Section("", ["attribute", "mean", "of all", "deviations"], rows)


def _edges(top: TopHyperedges) -> Section:
    figures = zip(top.coverage, top.coverage_all, top.share, top.lift, strict=True)
    rows = [
        [_name(edge), percent(inside), percent(everywhere), percent(share), f"{lift:.3g}"]
        for edge, (inside, everywhere, share, lift) in zip(top.ids, figures, strict=True)
    ]
    notes = [] if rows else [f"no {top.nouns.a_hyperedge} is distinctive for it"]
    return Section("", [top.nouns.a_hyperedge, "of it", "of all", "share", "lift"], rows, notes)


def _vertices(top: TopVertices) -> Section:
    figures = zip(top.phi * top.n_vertices, top.stay_probability, strict=True)
    rows = [
        [_name(vertex), f"{visits:.2f}", percent(stay)]
        for vertex, (visits, stay) in zip(top.ids, figures, strict=True)
    ]
    return Section("", [top.nouns.a_vertex, "phi / mean", "stay"], rows)


def _column(found: ColumnProfile, clusters: Sequence[str | int]) -> Section:
    """A line for all vertices and one for each cluster: the mean and median of numbers, or the top values."""
    title = f"{_name(found.column)} ({percent(found.importance)} of the information)"
    names = ["all", *map(_name, clusters[:MAX_CLUSTERS])]
    more = len(clusters) - MAX_CLUSTERS
    notes = [f"... and {more:,} more clusters"] * (more > 0)
    if found.means is not None and found.medians is not None:
        means, medians = [found.mean_all, *found.means], [found.median_all, *found.medians]
        averages = zip(names, means, medians, strict=False)
        rows = [[name, _mean(mean), "" if half is None else _name(half)] for name, mean, half in averages]
        return Section(title, ["cluster", "mean", "median"], rows, notes)
    rows = []
    for name, coverage in zip(names, [found.coverage_all, *found.coverage], strict=False):
        best = [each for each in np.argsort(-coverage, kind="stable")[:TOP_VALUES] if coverage[each] > 0]
        cells = [f"{_name(found.values[each])} {percent(coverage[each])}" for each in best]
        rows.append([name, ", ".join(cells)])
    return Section(title, ["cluster", "top values"], rows, notes, left=True)


def _mean(mean: float | None) -> str:
    return "" if mean is None or math.isnan(mean) else number(mean)


def _name(value: object) -> str:
    return "missing" if value is None else short_id(value, NAME_LENGTH)
