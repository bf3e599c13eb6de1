"""The command `compare`, which matches the clusters of two files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hyperclus
from hyperclus.cli.app import Messages, command
from hyperclus.cli.inputs import label_table, without_quotes
from hyperclus.cli.options import argument, output_option
from hyperclus.cli.output import LABELS, TableOutput
from hyperclus.cli.terminal import facts, indented, show, table, title
from hyperclus.clustering.comparison import Comparison
from hyperclus.report.comparison import comparison_text

COLUMNS = ("vertex", "a", "b", "moved")
SETS = ("moved", "only_in_a", "only_in_b", "splits", "mergers", "disappeared", "appeared")  # in JSON


@dataclass(frozen=True, slots=True)
class TwoFiles:
    """The files to compare."""

    a: Path = argument("Table with the columns vertex and cluster.", "A")
    b: Path = argument("Another one.", "B")


@dataclass(frozen=True, slots=True)
class ComparedOutput(TableOutput):
    """Where the comparison goes."""

    out: Path | None = output_option(
        "Write both clusters of each vertex, and whether it moved (.csv, .tsv, .parquet or .json).", "FILE"
    )


@command(
    "hyperclus cluster table.csv -k 3 --out a.csv",
    "hyperclus cluster table.csv -k 4 --out b.csv",
    "hyperclus compare a.csv b.csv --out moved.csv",
)
def compare(*, files: TwoFiles, output: ComparedOutput, messages: Messages) -> None:
    """Match the clusters of two files, and list the vertices that moved.

    A and B are CSV, TSV or Parquet, such as `hyperclus cluster --out` writes.
    Clusters are matched so that as many vertices as possible stay. A vertex
    with the cluster -1 is in none.
    """
    output.check(files.a, files.b)
    found = hyperclus.compare(
        *(without_quotes(label_table(path, "cluster", LABELS)) for path in (files.a, files.b))
    )
    output.check_ids(messages, found.vertex_ids)
    rows = _rows(found)
    output.deliver(COLUMNS, rows, lambda: _record(found, rows), lambda: _show(found))
    messages.finished({}, output.targets.values())


def _rows(found: Comparison) -> list[tuple[Any, ...]]:
    """Each vertex with its two clusters, -1 for none, and 1 if it moved."""
    names = [*found.a_names, -1], [*found.b_names, -1]
    clusters = [
        [of[label] for label in side.tolist()] for of, side in zip(names, (found.a, found.b), strict=True)
    ]
    return list(zip(found.vertex_ids.tolist(), *clusters, found.is_moved.astype(int).tolist(), strict=True))


def _record(found: Comparison, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """The comparison as JSON."""
    matches = [
        {"a": name, "b": found.b_names[match]}
        for name, match in zip(found.a_names, found.matches.tolist(), strict=True)
        if match >= 0
    ]
    return {
        **{name: getattr(found, name) for name in ("unchanged", "nmi", "ari")},
        "matches": matches,
        **{name: getattr(found, name) for name in SETS},
        "a": found.a_names,
        "b": found.b_names,
        "counts": found.counts,
        "vertices": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
    }


def _show(found: Comparison) -> None:
    """Print the comparison."""
    text = comparison_text(found)
    show(title(text.title), facts(text.figures.items()), "")
    show(table(text.columns, text.rows, text=True), *map(indented, text.notes))
