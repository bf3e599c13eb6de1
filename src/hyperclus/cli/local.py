"""The command that grows a cluster from a few vertices."""

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import hyperclus
from hyperclus._runtime.files import printable
from hyperclus.cli.app import Voice, app, examples, grouped, put, text_of
from hyperclus.cli.cluster import HOW, Alpha, Classes
from hyperclus.cli.inputs import Source
from hyperclus.cli.output import PANEL, Outputs, as_text, print_json, write_table
from hyperclus.cli.progress import progress
from hyperclus.cli.text import Page, cut_off
from hyperclus.clustering.local import LocalCluster, quick_walk
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import caption, shown
from hyperclus.spectral.walk import RandomWalk

LISTED = 20  # members on the terminal
COMPARED = 100_000  # names that an unknown one is compared with


@app.command(
    epilog=examples(
        "hyperclus local papers.csv --vertex author --edge paper --seed ann",
        "hyperclus local table.csv --id name --seed v1 --seed v4 --max-size 6",
        "hyperclus local table.csv --id name --seed v1 --label class --csv",
    )
)
@grouped
def local(
    *,
    source: Source,
    seed: Annotated[
        list[str],
        typer.Option(
            metavar="VERTEX", help="A vertex that belongs to it; may be repeated.", rich_help_panel=HOW
        ),
    ],
    classes: Classes = None,
    max_size: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=1, help="Vertices, at most.", rich_help_panel=HOW),
    ] = None,
    max_volume: Annotated[
        float,
        typer.Option(metavar="NUMBER", help="Share of the volume, at most.", rich_help_panel=HOW),
    ] = 0.5,
    restart: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="How often a walker goes back to the seeds: 0.25 stays near, 0.02 looks far; else chosen.",
            rich_help_panel=HOW,
        ),
    ] = None,
    keep_seeds: Annotated[
        bool, typer.Option(help="Whether the seeds are members in any case.", rich_help_panel=HOW)
    ] = True,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", metavar="", help="A rough stationary law, for large data.", rich_help_panel=HOW
        ),
    ] = False,
    alpha: Alpha = 0.0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The members, as .csv, .tsv, .parquet or .json.", rich_help_panel=PANEL
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Everything as JSON on stdout.", rich_help_panel=PANEL)
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", metavar="", help="vertex,score on stdout.", rich_help_panel=PANEL)
    ] = False,
    voice: Voice,
) -> None:
    """Find the cluster around a few vertices that belong together.

    The members come nearest first. The score says how many times more often a
    walker from the seeds is there than any walker.
    """
    outputs = Outputs(out=out, as_json=as_json, as_csv=as_csv)
    outputs.check(source.path, classes)
    taken = source.taken()
    with voice.listening(), progress(voice):
        h = taken.read(voice)
        outputs.check_ids(h.vertex_ids)
        known = taken.classes(h, classes)
        seeds = _named(seed, h)
        walk, inside = _walk(h, alpha, quick)
        found = hyperclus.local_cluster(
            walk, seeds, restart=restart, max_size=max_size, max_volume=max_volume, keep_seeds=keep_seeds
        )
    rows = list(zip(found.members.tolist(), found.scores.tolist(), strict=True))
    if out is not None:
        write_table(out, ("vertex", "score"), rows)
    if as_json:
        print_json(_facts(found))
    elif as_csv:
        put(as_text(("vertex", "score"), rows))
    else:
        _show(found, h, None if known is None else [known[place] for place in inside[found.positions]])
    if out is not None:
        voice.note(f"written to {printable(out)}")


def _walk(h: Hypergraph, alpha: float, quick: bool) -> tuple[RandomWalk, Any]:
    """The walk on the vertices in hyperedges, and their positions."""
    inside = np.flatnonzero(h.covered)
    whole = h if len(inside) == h.n_vertices else h.restrict(inside)
    walk = quick_walk(whole, alpha=alpha) if quick else RandomWalk(whole, alpha=alpha)
    return walk, inside


def _named(names: list[str], h: Hypergraph) -> list[Any]:
    """The ids of vertices as they are typed: 7 on the command line is 7 in the file."""
    places: dict[str, list[int]] = {}
    for place, vertex in enumerate(h.vertex_ids.tolist()):
        places.setdefault(caption(vertex), []).append(place)
    covered = h.covered
    for name in names:
        if name not in places:
            near = get_close_matches(name, places, 1) if h.n_vertices <= COMPARED else []
            hint = f"did you mean {shown(near[0])}?" if near else "correct it or leave it out"
            raise InputError(f"seed {shown(name)} is not among the {h.n_vertices:,} vertices; {hint}")
        if len(places[name]) > 1:
            raise InputError(f"seed {shown(name)} is the name of several vertices; rename them")
        if not covered[places[name][0]]:
            raise InputError(f"seed {shown(name)} is in no hyperedge; leave it out")
    return [h.vertex_ids[places[name][0]] for name in names]


def _facts(found: LocalCluster) -> dict[str, Any]:
    names = ("conductance", "volume", "restart", "accuracy", "visits", "touched", "seeds")
    members = zip(found.members.tolist(), found.scores.tolist(), strict=True)
    return {
        "size": len(found),
        **{name: getattr(found, name) for name in names},
        "members": [{"vertex": vertex, "score": score} for vertex, score in members],
    }


def _show(found: LocalCluster, h: Hypergraph, classes: list[Any] | None) -> None:
    """The figures, and the members nearest to the seeds."""
    page, size = Page.on_stdout(), len(found)
    page.line(f"A cluster of {size:,} {'vertex' if size == 1 else 'vertices'}, of {h.n_vertices:,}", "bold")
    seeds = ", ".join(cut_off(text_of(one)) for one in found.seeds[:LISTED].tolist())
    page.fact(
        "seeds", seeds + (f" and {len(found.seeds) - LISTED:,} more" if len(found.seeds) > LISTED else "")
    )
    page.fact("conductance", f"{found.conductance:.6g}")
    page.fact("volume", f"{found.volume:.4f}")
    page.fact("restart", f"{found.restart:.4g}")
    share = found.touched / h.n_incidences
    page.fact("looked at", f"{found.touched:,} incidences, {100 * share:.3g} % of all")
    if classes is not None:
        names, counts = np.unique([text_of(one) for one in classes], return_counts=True)
        order = np.argsort(-counts, kind="stable")[:LISTED]
        page.fact("classes", ", ".join(f"{counts[i]:,} {cut_off(names[i])}" for i in order))
    page.line()
    rows = [
        [cut_off(text_of(vertex)), f"{score:,.3g}"]
        for vertex, score in zip(found.members[:LISTED].tolist(), found.scores[:LISTED], strict=True)
    ]
    page.table(["member", "score"], rows)
    if size > LISTED:
        page.line(f"  ... and {size - LISTED:,} more; --csv has them all")
