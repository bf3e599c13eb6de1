"""The command `local`, which grows a cluster from a few vertices."""

from dataclasses import MISSING, dataclass
from difflib import get_close_matches
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

import hyperclus
from hyperclus.cli.app import Messages, command
from hyperclus.cli.ids import texts
from hyperclus.cli.inputs import LabelledSource
from hyperclus.cli.options import alpha_option, cluster_option
from hyperclus.cli.output import TableOutput, print_csv, print_json, write_table
from hyperclus.cli.progress import progress
from hyperclus.cli.terminal import MAX_NAME, facts, more, show, table, title
from hyperclus.clustering.local import LocalCluster, quick_walk
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import count, first_few, shown
from hyperclus.report.format import short_id
from hyperclus.spectral.walk import RandomWalk

MAX_MEMBERS = 20  # on the terminal
MAX_COMPARED = 100_000  # vertices among which a similar name is looked for
FIGURES = ("conductance", "volume", "restart", "accuracy", "visits", "touched", "seeds")


@dataclass(frozen=True, slots=True)
class Growth:
    """Where the cluster starts, and how far it may grow."""

    seed: list[str] = cluster_option("A vertex of the cluster; repeatable.", "VERTEX", default=MISSING)
    max_size: int | None = cluster_option("Largest number of vertices.", "NUMBER", least=1)
    max_volume: float = cluster_option("Largest share of the volume.", "NUMBER", default=0.5)
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
    "hyperclus local papers.csv --vertex author --edge paper --seed ann",
    "hyperclus local table.csv --id name --seed v1 --seed v4 --max-size 6",
    "hyperclus local table.csv --id name --seed v1 --label class --csv",
)
def local(*, source: LabelledSource, growth: Growth, output: TableOutput, messages: Messages) -> None:
    """Find the cluster around a few vertices.

    The members are sorted, those closest to the seeds first. The score of a
    vertex is how many times more often a walk from the seeds visits it than a
    walk from anywhere.
    """
    output.check(source.path, source.classes)
    resolved = source.resolve()
    with messages.from_library(), progress(messages):
        h = resolved.read(messages)
        output.check_ids(messages, h.vertex_ids)
        classes = resolved.classes(h)
        seeds = _seeds(growth.seed, h)
        covered = np.flatnonzero(h.covered)
        inner = h if len(covered) == h.n_vertices else h.restrict(covered)
        walk = (quick_walk if growth.quick else RandomWalk)(inner, alpha=growth.alpha)
        names = ("max_size", "max_volume", "restart", "keep_seeds")
        found = hyperclus.local_cluster(walk, seeds, **{name: getattr(growth, name) for name in names})
    rows = list(zip(found.members.tolist(), found.scores.tolist(), strict=True))
    if output.out is not None:
        write_table(output.out, ("vertex", "score"), rows, output.raw)
    if output.as_json:
        members = [{"vertex": vertex, "score": score} for vertex, score in rows]
        figures = {name: getattr(found, name) for name in FIGURES}
        print_json({"size": len(found), **figures, "members": members})
    elif output.as_csv:
        print_csv(("vertex", "score"), rows, output.raw)
    else:
        _show(found, h, None if classes is None else [classes[i] for i in covered[found.positions]])
    messages.finished({}, output.targets.values())


def _seeds(names: list[str], h: Hypergraph) -> list[Any]:
    """The ids of vertices that are given as text: 7 may be the integer 7 of the file."""
    captions = texts(h.vertex_ids)
    positions, seeds = dict(zip(captions, range(h.n_vertices), strict=True)), []
    for name in names:
        if name not in positions:
            near = get_close_matches(name, positions, 1) if h.n_vertices <= MAX_COMPARED else []
            hint = f"did you mean {shown(near[0])}?" if near else "correct it or leave it out"
            raise InputError(f"seed {shown(name)} is not among the {h.n_vertices:,} vertices; {hint}")
        if captions.count(name) > 1:
            raise InputError(f"seed {shown(name)} is the name of several vertices; rename them")
        if not h.covered[positions[name]]:
            raise InputError(f"seed {shown(name)} is in no hyperedge; leave it out")
        seeds.append(h.vertex_ids[positions[name]])
    return seeds


def _show(found: LocalCluster, h: Hypergraph, classes: list[Any] | None) -> None:
    """Print the figures, and the members closest to the seeds."""
    figures = {
        "seeds": first_few(found.seeds.tolist(), MAX_MEMBERS, partial(short_id, longest=MAX_NAME)),
        "conductance": f"{found.conductance:.6g}",
        "volume": f"{found.volume:.4f}",
        "restart": f"{found.restart:.4g}",
        "visited": f"{found.touched:,} incidences, {100 * found.touched / h.n_incidences:.3g} % of all",
    }
    if classes is not None:
        names, counts = np.unique([short_id(one, MAX_NAME) for one in classes], return_counts=True)
        largest = np.argsort(-counts, kind="stable")[:MAX_MEMBERS]
        figures["classes"] = ", ".join(f"{counts[i]:,} of {names[i]}" for i in largest)
    best = islice(zip(found.members.tolist(), found.scores, strict=True), MAX_MEMBERS)
    rows = [[short_id(vertex, MAX_NAME), f"{score:,.3g}"] for vertex, score in best]
    heading = title(f"Cluster of {count(len(found), 'vertex', 'vertices')} out of {h.n_vertices:,}")
    show(heading, facts(figures.items()), "", table(["member", "score"], rows, left=1))
    show(*more(found.members, MAX_MEMBERS, "; --csv prints all"))
