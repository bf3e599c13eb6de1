"""The text form of comparisons and stabilities, shared by `repr`, notebooks and the command line."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from hyperclus.clustering.comparison import Comparison
from hyperclus.clustering.stability import Stability
from hyperclus.hypergraph.messages import count, first_few
from hyperclus.report.format import short_id
from hyperclus.report.notebook import html_table
from hyperclus.typing import Ids

KINDS = {"vertices": "resampled vertices", "hyperedges": "resampled hyperedges", "seeds": "other seeds"}
ALWAYS = 0.9  # of the runs
MAX_ROWS = 20  # clusters, and sentences about them
MAX_TARGETS = 3  # other clusters in a row
MAX_NAMED = 5  # vertices that are named
NAME_LENGTH = 24  # of a cluster or a vertex


@dataclass(frozen=True, slots=True)
class TableText:
    """A title, figures by name, a table whose last column is text, and notes."""

    title: str
    figures: dict[str, str]
    columns: Sequence[str]
    rows: list[list[str]]
    notes: list[str]

    def __str__(self) -> str:
        lines = [self.title, *(f"  {name:<11}  {value}" for name, value in self.figures.items())]
        table = [list(self.columns), *self.rows]
        widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
        for *cells, text in table:
            padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=False)]
            lines.append("  ".join(["", *padded, text]).rstrip())
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def to_html(self) -> str:
        """The same for notebooks."""
        figures = [f"{name}: {value}" for name, value in self.figures.items()]
        return html_table(self.title, self.columns, self.rows, [*self.notes, *figures], text=True)


def comparison_text(found: Comparison) -> TableText:
    """Describe a comparison."""
    total, moved = int(np.count_nonzero(found.common)), found.moved
    figures = {"unchanged": f"{total - len(moved):,} of {_vertices(total)} ({100 * found.unchanged:.1f} %)"}
    sets = {"moved": moved, "only in a": found.only_in_a, "only in b": found.only_in_b}
    figures |= {name: f"{_vertices(len(ids))}: {_few(ids)}" for name, ids in sets.items() if len(ids)}
    figures["agreement"] = f"NMI {found.nmi:.4f}, ARI {found.ari:.4f}"
    rows = [_row(found, cluster) for cluster in range(min(len(found.a_names), MAX_ROWS))]
    title = f"Comparison of {count(len(found.a_names), 'cluster')} (a) and {len(found.b_names):,} (b)"
    notes = [*omitted(len(found.a_names)), *_events(found)[:MAX_ROWS]]
    return TableText(title, figures, ("a", "size", "b", "kept", "moved to"), rows, notes)


def omitted(n_clusters: int) -> list[str]:
    """A line that says how many clusters have no row, if some have none."""
    return [f"... and {n_clusters - MAX_ROWS:,} more"] * (n_clusters > MAX_ROWS)


def cluster_name(name: Any) -> str:
    """The name of a cluster, short and on one line."""
    return short_id(name, NAME_LENGTH)


def _row(found: Comparison, cluster: int) -> list[str]:
    """A cluster of a, the one of b that it is matched with, and where its other vertices are."""
    others, match = found.counts[cluster].copy(), int(found.matches[cluster])
    kept = 0
    if match >= 0:
        kept, others[match] = int(others[match]), 0
    targets = np.argsort(-others, kind="stable")[: np.count_nonzero(others)].tolist()
    moved = first_few(
        targets, MAX_TARGETS, lambda target: f"{others[target]:,} to {cluster_name(found.b_names[target])}"
    )
    matched = cluster_name(found.b_names[match]) if match >= 0 else "-"
    return [cluster_name(found.a_names[cluster]), f"{found.a_sizes[cluster]:,}", matched, f"{kept:,}", moved]


def _events(found: Comparison) -> list[str]:
    """The clusters that split, merged, disappeared or appeared, a sentence each."""
    split = [f"{cluster_name(one)} of a splits into {_and(many)} of b" for one, many in found.splits.items()]
    merged = [f"{_and(many)} of a merge into {cluster_name(one)} of b" for one, many in found.mergers.items()]
    ends = {"a disappear": found.disappeared, "b appear": found.appeared}
    gone = [f"{_and(names)} of {verb}{'s' * (len(names) == 1)}" for verb, names in ends.items() if names]
    return [*split, *merged, *gone]


def _vertices(number: int) -> str:
    return count(number, "vertex", "vertices")


def _few(ids: Ids) -> str:
    return first_few(ids.tolist(), MAX_NAMED, cluster_name)


def _and(names: list[Any]) -> str:
    """List names in a sentence."""
    more = len(names) - MAX_NAMED
    texts = [*map(cluster_name, names[:MAX_NAMED]), *([f"{more:,} more"] if more > 0 else [])]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def stability_text(found: Stability) -> TableText:
    """Describe a stability."""
    runs = count(len(found.jaccard), "run")
    title = f"Stability over {runs} with {KINDS[found.over]}"
    kept = found.vertices[found.present > 0] >= ALWAYS
    counted = found.nouns.count_vertices(len(kept))
    figures = {
        found.nouns.vertices: f"{kept.sum():,} of {counted} keep their cluster in 9 of 10 runs",
        "ARI": f"{found.ari:.4f} between two runs, on average",
    }
    cells = zip(found.names, found.sizes, found.clusters, found.verdicts, strict=True)
    rows = [
        [cluster_name(name), f"{size:,}", f"{value:.3f}", verdict]
        for name, size, value, verdict in islice(cells, MAX_ROWS)
    ]
    columns = "cluster", "size", "stability", "verdict"
    return TableText(title, figures, columns, rows, omitted(len(found.names)))
