"""Results on the terminal, laid out by rich."""

import os
import sys
from collections.abc import Iterable, Sequence, Sized

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hyperclus.cli.app import as_option, console
from hyperclus.clustering.description import TopHyperedges
from hyperclus.clustering.metrics import Agreement
from hyperclus.clustering.n_clusters import Suggestion
from hyperclus.clustering.partition import Partition, StoredPartition
from hyperclus.report import colours
from hyperclus.report.format import percent, short_id
from hyperclus.report.text import COLUMNS, partition_text

WIDE = 72  # terminals from this width on have room for a column of text
MAX_NAME = 40  # characters of an id
MAX_CLASSES = 30
MAX_GRID = 100  # characters of a row of the table of classes and clusters
TOP_HYPEREDGES = 3

Cell = str | Text


def show(*items: RenderableType) -> None:
    """Print to stdout, without blanks at the ends of lines; markup in text has no effect."""
    page = console()
    with page.capture() as captured:
        for item in items:
            page.print(Text(item) if isinstance(item, str) else item)
    sys.stdout.write("\n".join(line.rstrip() for line in captured.get().split("\n")))


def title(text: str) -> Text:
    """A heading."""
    return Text(text, "bold")


def indented(text: str) -> Padding:
    """A line, or several, below a heading."""
    return Padding(Text(text), (0, 0, 0, 2), expand=False)


def more(rows: Sized, most: int, hint: str = "") -> list[Padding]:
    """A line below a table that shows only the first rows."""
    return [indented(f"... and {len(rows) - most:,} more{hint}")] * (len(rows) > most)


def marked(cluster: int, name: str) -> Cell:
    """The name of a cluster after its mark, if the terminal has colours; otherwise the name alone."""
    page = console()
    if cluster < 0 or page.color_system is None or not page.encoding.startswith("utf"):
        return name
    light = os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")  # what some terminals tell
    colour = colours.colour(cluster, dark=not light)
    return Text.assemble((colours.SIGNS[colours.shape(cluster)], colour), " ", name)


def facts(values: Iterable[tuple[str, str]]) -> Table:
    """A line per name and value."""
    grid = Table.grid(padding=(0, 0, 0, 2), pad_edge=True)
    grid.add_column(style="bold", no_wrap=True, min_width=13)
    grid.add_column(overflow="fold")
    for name, value in values:
        grid.add_row(Text(name), Text(value))
    return grid


def table(
    names: Sequence[Cell], rows: Sequence[Sequence[Cell]], *, left: int = 0, text: bool = False
) -> RenderableType:
    """Right-aligned columns, after `left` left-aligned ones.

    With `text` the last column holds sentences; on a narrow terminal they are listed below the others.
    """
    if not text or console().width >= WIDE:
        return _grid(names, rows, left, text)
    sentences = [[row[0], row[-1]] for row in rows if row[-1]]
    figures = _grid(names[:-1], [row[:-1] for row in rows], left, False)
    below = Group("", _grid([names[0], names[-1]], sentences, left, True))
    return Group(figures, below) if sentences else figures


def _grid(names: Sequence[Cell], rows: Sequence[Sequence[Cell]], left: int, text: bool) -> Table:
    grid = Table(box=None, padding=(0, 0, 0, 2), header_style="bold")
    for number, name in enumerate(names):
        last = text and number == len(names) - 1
        grid.add_column(
            Text(name) if isinstance(name, str) else name,
            justify="left" if last or number < left else "right",
            no_wrap=not last,
        )
    for row in rows:
        grid.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    page = console()
    if not text and page.measure(grid).maximum > page.width:
        grid.padding = (0, 0, 0, 1)
    return grid


def show_partition(part: Partition, agreement: Agreement | None, suggestion: Suggestion | None) -> None:
    """Print figures, clusters, and how they agree with known classes."""
    figures = {}
    if part.settings["engine"] != "cpu":
        figures["engine"] = f"{part.settings['engine']}, {part.settings['precision']}"
    if suggestion is not None:
        figures["k"] = suggestion.reason
    if agreement is not None:
        figures["agreement"] = f"F1 {agreement.f1:.4f}, NMI {agreement.nmi:.4f}, ARI {agreement.ari:.4f}"
    show_figures(part, figures, part.describe(TOP_HYPEREDGES).edges)
    if agreement is not None:
        show("", *_classes(agreement, part.cluster_names))


def show_figures(
    part: Partition | StoredPartition, more: dict[str, str], top: Sequence[TopHyperedges] | None = None
) -> None:
    """Print the figures, with more of them, and the clusters, with their top hyperedges if known."""
    text = partition_text(part, as_option)
    figures = {
        "chance": text.chance,
        "information": text.information,
        "NCut": text.ncut,
        "proven": text.bound,
        "conductance": text.conductance,
        **more,
    }
    names: list[Cell] = [*COLUMNS]
    rows: list[list[Cell]] = [[marked(i, name), *cells] for i, (name, *cells) in enumerate(text.rows)]
    if top is not None:
        names.append(f"top {part.nouns.hyperedges} (% of the cluster)")
        for row, found in zip(rows, top, strict=False):
            shown = zip(found.ids, found.coverage, strict=True)
            row.append("; ".join(f"{short_id(edge, MAX_NAME)} ({percent(share)})" for edge, share in shown))
    show(title(text.title), facts((name, value) for name, value in figures.items() if value), "")
    show(table(names, rows, text=top is not None), *map(indented, text.footer))


def _classes(found: Agreement, cluster_names: Sequence[str | int]) -> list[RenderableType]:
    """How many vertices of each class each cluster has."""
    columns = found.clusters.argsort()
    counts = found.counts[:, columns]
    order = counts.argmax(axis=1).argsort(kind="stable")
    clusters = [str(found.clusters[column]) for column in columns]
    heads = [
        marked(cluster_names.index(found.clusters[column]), str(found.clusters[column])) for column in columns
    ]
    names = [short_id(found.classes[row], MAX_NAME) for row in order[:MAX_CLASSES]]
    cells = [[f"{count:,}" if count else "." for count in counts[row]] for row in order[:MAX_CLASSES]]
    rows = [[name, *row] for name, row in zip(names, cells, strict=True)]
    grid = _grid(["class in cluster", *heads], rows, 1, False)
    page = console()
    if page.measure(grid).maximum <= min(page.width, MAX_GRID):
        return [grid, *more(order, MAX_CLASSES)]
    listed = [
        ", ".join(f"{one} in {cluster}" for one, cluster in zip(row, clusters, strict=True) if one != ".")
        for row in cells
    ]
    heading = title("  class, and its vertices in each cluster")
    return [heading, facts(zip(names, listed, strict=True)), *more(order, MAX_CLASSES)]
