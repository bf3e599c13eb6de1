"""The command `local`, which grows a cluster from a few vertices."""

from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import hyperclus
from hyperclus._runtime.files import fault
from hyperclus._runtime.source import reading
from hyperclus.cli.app import Messages, command
from hyperclus.cli.ids import texts
from hyperclus.cli.inputs import LabelledSource
from hyperclus.cli.options import alpha_option, cluster_option
from hyperclus.cli.output import TableOutput
from hyperclus.cli.progress import progress
from hyperclus.cli.terminal import MAX_NAME, facts, indented, more, show, table, title
from hyperclus.clustering.local import quick_walk
from hyperclus.clustering.local_result import LocalCluster
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import count, first_few, shown
from hyperclus.report.format import short_id
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Integers

MAX_MEMBERS = 20  # on the terminal
MAX_EDGES = 5
MAX_DIPS = 5
MAX_COMPARED = 100_000  # vertices among which a similar name is looked for
COLUMNS = ("vertex", "score", "staying")
FIGURES = (
    "conductance",
    "volume",
    "ncut",
    "limit",
    "overlap",
    "doubt",
    "restart",
    "accuracy",
    "visits",
    "touched",
)


@dataclass(frozen=True, slots=True)
class Growth:
    """Where the cluster starts, and how far it may grow."""

    start: list[str] | None = cluster_option(
        "A vertex of the cluster; repeatable.", "VERTEX", "--around", "--seed"
    )
    seeds: Path | None = cluster_option("A text file with such vertices, one per line.", "FILE")
    max_size: int | None = cluster_option("Largest number of vertices.", "NUMBER", min=1)
    max_volume: float = cluster_option("Largest share of the volume.", "NUMBER", default=0.75)
    restart: float | None = cluster_option(
        "Probability that the walk returns to the seeds in a step: 0.25 stays close, 0.02 goes far (chosen "
        "by default).",
        "NUMBER",
    )
    keep_seeds: bool = cluster_option("Whether the seeds are always members.", default=True)
    quick: bool = cluster_option(
        "Estimate the stationary distribution, for large data.", "", "--quick", default=False
    )
    alpha: float = alpha_option()


@command(
    "hyperclus local papers.csv --vertex author --edge paper --around ann",
    "hyperclus local table.csv --id name --around v1 --around v4 --max-size 6",
    "hyperclus local table.csv --id name --seeds names.txt --label class --csv",
)
def local(*, source: LabelledSource, growth: Growth, output: TableOutput, messages: Messages) -> None:
    """Find the cluster around a few vertices.

    The members are sorted, those closest to the seeds first. The score of a
    vertex is how many times more often a walk from the seeds visits it than a
    walk from anywhere; staying is the share of the steps from the vertex that
    end in the cluster. Read "in doubt" before you use the result.
    """
    output.check(source.path, source.classes, growth.seeds)
    names = seed_names(growth)
    resolved = source.resolve()
    with messages.from_library(), progress(messages):
        h = resolved.read(messages)
        output.check_ids(messages, h.vertex_ids)
        classes = resolved.classes(h)
        found, inside = grow(h, names, growth)
    rows = member_rows(found)
    inside_classes = None if classes is None else [classes[i] for i in inside]
    output.deliver(COLUMNS, rows, lambda: _record(found, rows), lambda: _show(found, h, inside_classes))
    messages.finished({}, output.targets.values())


def grow(h: Hypergraph, names: list[str], growth: Growth) -> tuple[LocalCluster, Integers]:
    """Find the cluster around the named vertices; returns also the positions of its members in `h`."""
    seeds = _seeds(names, h)
    covered = np.flatnonzero(h.covered)
    inner = h if len(covered) == h.n_vertices else h.restrict(covered)
    walk = (quick_walk if growth.quick else RandomWalk)(inner, alpha=growth.alpha)
    limits = {name: getattr(growth, name) for name in ("max_size", "max_volume", "restart", "keep_seeds")}
    found = hyperclus.local_cluster(walk, seeds, **limits)
    return found, covered[found.positions]


def member_rows(found: LocalCluster) -> list[tuple[Any, ...]]:
    """Each member with its score and how often steps from it stay; the values of COLUMNS."""
    columns = (found.members.tolist(), found.scores.tolist(), found.staying.tolist())
    return list(zip(*columns, strict=True))


def seed_names(growth: Growth) -> list[str]:
    """The vertices that --around and the file name."""
    names = list(growth.start or [])
    if growth.seeds is not None:
        with reading(growth.seeds) as file:
            lines = file.read().decode("utf-8-sig").splitlines()
        listed = [line.strip() for line in lines if line.strip()]
        if not listed:
            raise fault(growth.seeds, "this file names no vertex; write one per line")
        names += listed
    if not names:
        raise InputError("no vertices are given; name at least one with --around VERTEX or --seeds FILE")
    return names


def _record(found: LocalCluster, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """The answer as JSON."""
    edges = zip(found.edge_ids.tolist(), found.edge_shares.tolist(), found.edge_parts.tolist(), strict=True)
    return {
        "size": len(found),
        **{name: getattr(found, name) for name in FIGURES},
        "seeds": found.seeds,
        "dips": [
            {"size": len(dip), "conductance": dip.conductance, "volume": dip.volume, "ncut": dip.ncut}
            for dip in found.dips
        ],
        "members": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
        "edges": [{"edge": edge, "share": share, "part": part} for edge, share, part in edges],
    }


def _seeds(names: list[str], h: Hypergraph) -> list[Any]:
    """The ids of vertices that are given as text: 7 may be the integer 7 of the file."""
    captions = texts(h.vertex_ids)
    positions, seeds = dict(zip(captions, range(h.n_vertices), strict=True)), []
    for name in names:
        if name not in positions:
            near = _similar(name, captions) if h.n_vertices <= MAX_COMPARED else None
            hint = "correct it or leave it out" if near is None else f"did you mean {shown(near)}?"
            raise InputError(f"seed {shown(name)} is not among the {h.n_vertices:,} vertices; {hint}")
        if captions.count(name) > 1:
            raise InputError(f"seed {shown(name)} is the name of several vertices; rename them")
        if not h.covered[positions[name]]:
            raise InputError(f"seed {shown(name)} is in no hyperedge; leave it out")
        seeds.append(h.vertex_ids[positions[name]])
    return seeds


def _similar(name: str, captions: list[str]) -> str | None:
    """The most similar name, whatever its case."""
    folded = {caption.casefold(): caption for caption in captions}
    near = get_close_matches(name.casefold(), folded, 1)
    return folded[near[0]] if near else None


def _show(found: LocalCluster, h: Hypergraph, classes: list[Any] | None) -> None:
    """Print the figures, and the members closest to the seeds."""
    figures = {
        "seeds": first_few(found.seeds.tolist(), MAX_MEMBERS, partial(short_id, longest=MAX_NAME)),
        "conductance": f"{found.conductance:.6g}",
        "volume": f"{found.volume:.4f}",
        "restart": f"{found.restart:.4g}",
        "other dips": first_few(
            found.other_dips, MAX_DIPS, lambda dip: f"{len(dip):,} at {dip.conductance:.4g}"
        ),
        "visited": f"{found.touched:,} incidences, {100 * found.touched / h.n_incidences:.3g} % of all",
    }
    if classes is not None:
        names, counts = np.unique([short_id(one, MAX_NAME) for one in classes], return_counts=True)
        largest = np.argsort(-counts, kind="stable")[:MAX_MEMBERS]
        figures["classes"] = ", ".join(f"{counts[i]:,} of {names[i]}" for i in largest)
    best = islice(zip(found.members.tolist(), found.scores, found.staying, strict=True), MAX_MEMBERS)
    rows = [[short_id(name, MAX_NAME), f"{score:,.3g}", f"{stay:.2f}"] for name, score, stay in best]
    edges = zip(found.edge_ids.tolist(), found.edge_shares, found.edge_parts, strict=True)
    held = [
        [short_id(edge, MAX_NAME), f"{100 * share:.3g} %", f"{100 * part:.3g} %"]
        for edge, share, part in islice(edges, MAX_EDGES)
    ]
    heading = title(f"Cluster of {count(len(found), 'vertex', 'vertices')} out of {h.n_vertices:,}")
    show(heading, facts(item for item in figures.items() if item[1]))
    if found.doubt:
        show(indented(f"in doubt: {found.doubt}"))
    show("", table(["member", "score", "staying"], rows, left=1))
    show(*more(found.members, MAX_MEMBERS, "; --csv prints all"))
    show("", table(["held together by", "inside", "part"], held, left=1))
