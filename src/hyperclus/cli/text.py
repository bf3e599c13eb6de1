"""Results as text: as wide as the terminal, or as long as need be where there is none."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from hyperclus._runtime.files import printable
from hyperclus.cli.app import console, text_of
from hyperclus.cli.output import told_by
from hyperclus.clustering.metrics import Agreement
from hyperclus.clustering.n_clusters import Suggestion
from hyperclus.clustering.partition import Partition, StoredPartition
from hyperclus.hypergraph.summary import Summary
from hyperclus.io.tables.wide import ColumnInfo
from hyperclus.report.text import COLUMNS as CLUSTER_COLUMNS
from hyperclus.report.text import partition_text

BESIDE = 72  # columns from which a remark has its place beside a row, and not below it
LONGEST = 40  # letters of a name
CLASSES = 30  # that are listed
COLUMNS = 60  # likewise
GRID = 100  # columns that a table of classes and clusters may have at most
ENDLESS = 100_000
GLUE = "\u00a0"  # a space at which no line is broken


@dataclass(frozen=True, slots=True)
class Page:
    """Lines on stdout; on a terminal none is wider than the terminal."""

    console: Console
    width: int

    @classmethod
    def on_stdout(cls) -> "Page":
        """The page of this run."""
        stdout = console()
        return cls(stdout, stdout.width if stdout.is_terminal else ENDLESS)

    def line(self, text: str = "", style: str = "") -> None:
        """One line, broken at spaces if it must be, with its own indent and two more."""
        indent = text[: len(text) - len(text.lstrip())] + "  "
        for piece in self._broken(text, indent):
            self._print(piece, style)

    def fact(self, name: str, value: str, width: int = 11) -> None:
        """A name and what it is worth, with the value set off."""
        start = f"  {name:<{width}}  "
        for place, piece in enumerate(self._broken(value, "", len(start))):
            head = start if place == 0 else " " * len(start)
            self.console.print(Text.assemble((head, "bold"), piece.replace(GLUE, " ")), soft_wrap=True)

    def table(self, names: Sequence[str], rows: Iterable[Sequence[str]], remarks: Sequence[str] = ()) -> None:
        """Right-aligned columns; the last of the names may be for remarks, one per row."""
        listed = list(rows)
        columns = names[:-1] if remarks else names
        widths = [max(map(cell_len, column)) for column in zip(columns, *listed, strict=True)]
        gap = "  " if sum(widths) + 2 * len(widths) <= self.width else " "
        lines = [
            gap
            + gap.join(" " * (width - cell_len(cell)) + cell for cell, width in zip(row, widths, strict=True))
            for row in (columns, *listed)
        ]
        beside = bool(remarks) and self.width >= BESIDE
        self._print(lines[0] + (f"{gap}{names[-1]}" if beside else ""), "bold")
        for place, line in enumerate(lines[1:]):
            taken = len(line) + len(gap) if beside else 6
            pieces = self._broken(remarks[place], "", taken) if remarks else []
            self._print(line + gap + pieces.pop(0) if beside else line)
            for piece in pieces:
                self._print(" " * taken + piece, "" if beside else "dim")

    def _print(self, text: str, style: str = "") -> None:
        """Just this line: no markup in it counts."""
        self.console.print(Text(text.replace(GLUE, " ").rstrip(), style), soft_wrap=True)

    def _broken(self, text: str, indent: str, taken: int = 0) -> list[str]:
        """A text in pieces that fit."""
        room = max(self.width - taken, 10)
        if len(text) <= room:
            return [text]
        return textwrap.wrap(text, room, subsequent_indent=indent, break_on_hyphens=False) or [""]


def show_partition(
    page: Page, part: Partition, found: Agreement | None, suggestion: Suggestion | None
) -> None:
    """The figures, the clusters, and how they agree with known classes."""
    said = partition_text(part)
    page.line(said.title, "bold")
    for name, value in (("NCut", said.ncut), ("proven", said.bound), ("conductance", said.conductance)):
        page.fact(name, value)
    if part.settings["engine"] != "cpu":
        page.fact("engine", f"{part.settings['engine']}, {part.settings['precision']}")
    if suggestion is not None:
        page.fact("k", suggestion.reason)
    if found is not None:
        scores = f"F1 {found.weighted_f1:.4f}, NMI {found.nmi:.4f}, ARI {found.ari:.4f}"
        page.fact("agreement", scores)
    page.line()
    told = ["; ".join(cut_off(text_of(edge)).replace(" ", GLUE) for edge in edges) for edges in told_by(part)]
    page.table([*CLUSTER_COLUMNS, "told by"], said.rows, told[: len(said.rows)])
    for remark in said.footer:
        page.line(f"  {remark}")
    if found is not None:
        page.line()
        show_classes(page, found)


def show_stored(page: Page, part: StoredPartition, engine: str, memory: str) -> None:
    """The figures, the clusters, and what each stage took; the labels are in files."""
    said = partition_text(part)
    page.line(said.title, "bold")
    page.fact("NCut", said.ncut)
    page.fact("proven", said.bound)
    page.fact("conductance", said.conductance)
    page.fact("eigenvalues", few([f"{value:.6g}" for value in part.eigenvalues]))
    page.fact("data", f"{part.n_edges:,} hyperedges, {part.n_incidences:,} incidences")
    page.fact("engine", engine)
    if memory:
        page.fact("memory", memory)
    page.fact("labels", printable(part.folder))
    page.line()
    page.table(CLUSTER_COLUMNS, said.rows)
    for remark in said.footer:
        page.line(f"  {remark}")
    page.line()
    width = max(map(len, part.timings))
    rows = [
        [stage.ljust(width), f"{seconds:.1f}", *_rounds(part.rounds.get(stage, {}))]
        for stage, seconds in {**part.timings, "in all": sum(part.timings.values())}.items()
    ]
    page.table(["stage".ljust(width), "seconds", "rounds", "bytes moved", "per round"], rows)


def _rounds(spent: Any) -> list[str]:
    """How many rounds a stage took, and what they moved."""
    count, moved = spent.get("rounds", 0), spent.get("bytes", 0)
    return [f"{count:,}", amount(moved), amount(moved / count)] if count else [".", ".", "."]


def amount(size: float) -> str:
    """Bytes with three digits.

    >>> amount(812), amount(56_497_576), amount(2.3e12)
    ('812 B', '56.5 MB', '2.30 TB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= 0.9995 * unit:
            digits = 2 if size < 9.995 * unit else 1 if size < 99.95 * unit else 0
            return f"{size / unit:.{digits}f} {name}"
    return f"{size:.0f} B"


def few(texts: Sequence[str], most: int = 8) -> str:
    """Some of them, and how many more there are."""
    more = f", ... and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def show_classes(page: Page, found: Agreement) -> None:
    """How many vertices of each class are in each cluster."""
    columns = found.clusters.argsort()
    table = found.counts[:, columns]
    order = table.argmax(axis=1).argsort(kind="stable")
    heads = [str(found.clusters[column]) for column in columns]
    names = [cut_off(text_of(found.classes[row])) for row in order[:CLASSES]]
    counts = [[f"{count:,}" if count else "." for count in table[row]] for row in order[:CLASSES]]
    first = ["class in cluster", *names]
    first = [name + " " * (max(map(cell_len, first)) - cell_len(name)) for name in first]
    widths = [max(map(len, column)) for column in zip(heads, *counts, strict=True)]
    if cell_len(first[0]) + sum(widths) + 2 * len(widths) + 2 <= min(page.width, GRID):
        page.table([first[0], *heads], [[name, *row] for name, row in zip(first[1:], counts, strict=True)])
    else:
        page.line("  class, and its vertices in each cluster", "bold")
        for name, row in zip(names, counts, strict=True):
            places = [f"{count} in {head}" for count, head in zip(row, heads, strict=True) if count != "."]
            page.fact(name, ", ".join(place.replace(" ", GLUE) for place in places))
    if len(order) > CLASSES:
        page.line(f"  ... and {len(order) - CLASSES:,} more")


def show_summary(page: Page, found: Summary) -> None:
    """What a hypergraph looks like."""
    sizes, components, *_ = repr(found).split("\n")
    page.line(sizes, "bold")
    page.line(components)
    page.line()
    rows = {
        "members of a hyperedge": found.edge_sizes,
        "hyperedges of a vertex": found.degrees,
        "gamma, of a member": found.gamma,
        "omega, of a hyperedge": found.omega,
    }
    width = max(map(len, rows))
    cells = [[name.ljust(width), *(f"{value:.4g}" for value in five)] for name, five in rows.items()]
    page.table([" " * width, "min", "25 %", "50 %", "75 %", "max"], cells)
    for remark in found.remarks:
        page.line(f"- {printable(remark)}")


def show_columns(page: Page, notes: Sequence[ColumnInfo]) -> None:
    """What a table with a row per vertex has, and what would become of it."""
    shown = notes[:COLUMNS]
    cells = [
        [
            cut_off(printable(note.column)),
            note.becomes,
            *("" if count is None else f"{count:,}" for count in (note.distinct, note.missing)),
        ]
        for note in shown
    ]
    names = ["column", "becomes", "values", "missing", "remark"]
    wide = [max(cell_len(row[place]) for row in (names, *cells)) for place in range(2)]
    head, *rows = (
        [row[0] + " " * (wide[0] - cell_len(row[0])), row[1].ljust(wide[1]), *row[2:4]]
        for row in (names, *cells)
    )
    page.table([*head, names[4]], rows, [printable(note.remark) for note in shown])
    if len(notes) > COLUMNS:
        page.line(f"  ... and {len(notes) - COLUMNS:,} more; --json has them all")


def show_suggestion(page: Page, found: Suggestion) -> None:
    """How many clusters, and what speaks for each number."""
    title, reason, *_ = repr(found).split("\n")
    page.line(title, "bold")
    page.line(reason)
    if not found.candidates:
        return
    page.line()
    rows = [
        [
            str(one.k),
            f"{one.score:.2f}",
            f"{one.ncut:.4g}",
            f"{one.lower_bound:.4g}",
            f"{one.chance:.4g}",
            f"{one.eigengap:.4f}",
            f"{one.stability:.2f}",
        ]
        for one in found.candidates
    ]
    names = ["k", "score", "NCut", "at least", "chance", "gap", "stable", "why"]
    page.table(names, rows, [one.reason for one in found.candidates])


def cut_off(text: str) -> str:
    """A name, shortened if it is long.

    >>> cut_off("a" * 50)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'
    """
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
