"""The command that says what a run on many machines will need."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from hyperclus._runtime.files import printable
from hyperclus.cli.app import app, examples
from hyperclus.cli.cluster_files import work_folder
from hyperclus.cli.options import Duplicates, Edge, EdgeWeight, Vertex, Weight, Work
from hyperclus.cli.output import print_json
from hyperclus.cli.terminal import facts, indented, show, table, title
from hyperclus.engines.dask import plan as planning
from hyperclus.engines.dask.plan import COMPUTING, FREE, ROUNDS, Plan
from hyperclus.engines.dask.stages import BUNDLE_SHARE, VECTOR_SHARE
from hyperclus.report.format import byte_size as amount

SOURCES = {
    "prepared": "as the prepared data say",
    "statistics": "by the least and the largest id in the footers",
    "rows": "as many as rows, for the footers do not tell",
}


@app.command(
    epilog=examples(
        "hyperclus plan data/ -k 2",
        "hyperclus plan data/ -k 5 --workers 8 --memory 32GB",
        'hyperclus plan "data/*.parquet" --vertex vertex --edge edge --json',
    )
)
def plan(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Parquet with a row per incidence: a file, a folder, a pattern in quotes, an address.",
            show_default=False,
        ),
    ],
    k: Annotated[
        int, typer.Option("-k", "--clusters", metavar="NUMBER", help="How many clusters.", min=1)
    ] = 2,
    workers: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="How many workers; 1, 4, 16 and 64.", min=1)
    ] = None,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Of each worker, with one thread each.")
    ] = "16GB",
    vertex: Vertex = None,
    edge: Edge = None,
    weight: Weight = None,
    edge_weight: EdgeWeight = None,
    duplicates: Duplicates = None,
    work: Work = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
) -> None:
    """What `cluster --engine dask` will need: memory, disk, rounds, bytes to move.

    Only the footers of the files are read, and no worker is started. The exit
    code is 0 whatever the answer is.
    """
    given = {
        "vertex": vertex,
        "edge": edge,
        "weight": weight,
        "edge_weight": edge_weight,
        "duplicates": duplicates,
    }
    columns: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    found = planning.plan(source, k, workers=workers, memory=memory, folder=work_folder(work), **columns)
    if as_json:
        print_json(_facts(found))
    else:
        _show(found)


def _facts(found: Plan) -> dict[str, Any]:
    """Everything about a plan, for JSON."""
    told = asdict(found)
    for one, need in zip(told["needs"], found.needs, strict=True):
        one["fits"] = need.fits
    return told | {"rounds": {stage: list(some) for stage, some in ROUNDS.items()}}


def _show(found: Plan) -> None:
    """The data, what stays on disk, and what each number of workers needs."""
    columns, most = found.columns, "" if found.known == "prepared" else "at most "
    show(title(f"Plan for {printable(found.source)}, k = {found.k}"))
    show(facts([("files", f"{found.n_files:,}, {amount(found.n_bytes)}")]))
    show(facts([("incidences", f"{found.n_rows:,}, a row each")]))
    named = [f"{columns.vertex} ({found.kinds[0]})", f"{columns.edge} ({found.kinds[1]})"]
    more = [name for name in (columns.weight, columns.edge_weight) if name is not None]
    show(facts([("columns", ", ".join(map(printable, [*named, *more])))]))
    show(facts([("vertices", f"{most}{found.n_vertices:,}, {SOURCES[found.known]}")]))
    show(facts([("hyperedges", f"{most}{found.n_edges:,}")]))
    show(facts([("prepared", "not yet" if found.prepared is None else printable(found.prepared))]))
    show(facts([("disk", ", ".join(f"{amount(size)} {what}" for what, size in found.disk.items()))]))
    show(facts([("rounds", ", ".join(f"{low} to {high} {stage}" for stage, (low, high) in ROUNDS.items()))]))
    limit = amount(found.needs[0].memory)
    if found.least_workers is None:
        show(facts([("workers", f"no number of workers with {limit} each is enough; give them more memory")]))
    else:
        show(facts([("workers", f"{found.least_workers:,} or more, with {limit} each")]))
    show("")
    names = ["workers", "partitions", "memory", "at least", "incidences", "per vector", "per round", "enough"]
    rows = [
        [
            f"{need.workers:,}",
            f"{need.partitions:,}",
            amount(need.expected),
            amount(need.least),
            "in memory" if need.held else "on disk",
            amount(need.moved),
            amount(need.moved * found.block),
            "yes" if need.fits else "no",
        ]
        for need in found.needs
    ]
    show(table(names, rows))
    show("")
    for line in _formulas(found):
        show(indented(line))


def _formulas(found: Plan) -> list[str]:
    """Where the figures come from, in words."""
    bundle, vectors, free = (f"{100 * share:.0f} %" for share in (BUNDLE_SHARE, VECTOR_SHARE, FREE))
    return [
        "memory: what a worker takes at the peak, at most. Its incidences stay in memory if they take no "
        f"more than {bundle} of it, and are read from disk in every round otherwise; stored vectors take up "
        f"to {vectors}. To these come {COMPUTING / 1e9} GB for the process and, for each of the "
        f"{found.block} vectors of a round, 8 bytes for 4 times the vertices that its hyperedges touch, 3 "
        "times its share of all vertices, and once its hyperedges. The preparation takes less, "
        "or makes more partitions.",
        f"at least: the memory that it must have, with the incidences on disk; it may use {free} of it.",
        "per vector: bytes that all workers exchange in a round for one vector: 8 for each vertex that a "
        "worker's hyperedges touch, both ways, which is no more than 16 min(incidences, workers x vertices).",
        f"per round: the same for the {found.block} vectors of a round of the eigenvectors; one of the "
        "stationary law has 1 vector.",
    ]
