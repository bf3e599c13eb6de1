"""Agreements and local clusters as tables for notebook cells."""

import numpy as np

from hyperclus.clustering.local_result import LocalCluster
from hyperclus.clustering.metrics import Agreement
from hyperclus.report.format import short_id
from hyperclus.report.notebook import html_table, limited

MAX_COLUMNS = 10  # clusters beside each other
MAX_EDGES = 5  # hyperedges that are named
NAME_LENGTH, ID_LENGTH = 24, 48  # of a cluster or a class, and of a vertex or a hyperedge


def agreement_table(found: Agreement) -> str:
    """Return how many vertices of each class each cluster has, as HTML: the largest classes and clusters."""
    sizes, scores = found.counts.sum(axis=1), found.f1_by_class
    columns = np.sort(np.argsort(-found.counts.sum(axis=0), kind="stable")[:MAX_COLUMNS])
    if all(isinstance(name, int) for name in found.clusters.tolist()):
        columns = columns[np.argsort(found.clusters[columns], kind="stable")]
    largest, notes = limited(np.argsort(-sizes, kind="stable").tolist(), "classes")
    shown = found.counts[largest][:, columns]
    rest = sizes[largest] - shown.sum(axis=1)
    others = len(found.clusters) - len(columns)
    head = ["class", "size", "F1", *(short_id(found.clusters[one], NAME_LENGTH) for one in columns)]
    rows = [
        [
            short_id(found.classes[one], NAME_LENGTH),
            f"{sizes[one]:,}",
            f"{scores[one]:.2f}",
            *map(_count, row),
        ]
        + [_count(rest[number])] * (others > 0)
        for number, (one, row) in enumerate(zip(largest, shown, strict=True))
    ]
    head += [f"{others:,} others"] * (others > 0)
    return html_table(repr(found), head, rows, notes)


def local_table(found: LocalCluster) -> str:
    """Return the members of a local cluster nearest to the seeds, and what holds it together, as HTML."""
    heading, *notes = found.sentences
    members = list(zip(found.members.tolist(), found.scores, found.staying, strict=True))
    first, more = limited(members, "members")
    rows = [[short_id(name, ID_LENGTH), f"{score:,.3g}", f"{stay:.2f}"] for name, score, stay in first]
    edges = [
        f"{short_id(edge, ID_LENGTH)} ({100 * part:.3g} %)"
        for edge, part in zip(found.edge_ids[:MAX_EDGES].tolist(), found.edge_parts, strict=False)
    ]
    held = [f"held together by: {', '.join(edges)}"] * bool(edges)
    return html_table(heading, ["member", "score", "staying"], rows, [*more, *held, *notes])


def _count(number: int) -> str:
    return f"{number:,}" if number else "."
