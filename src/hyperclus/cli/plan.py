"""The command `plan`: what a run on a Dask cluster needs."""

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from hyperclus._runtime.files import printable
from hyperclus.cli.app import app, examples, grouped
from hyperclus.cli.cluster_files import work_folder
from hyperclus.cli.options import Duplicates, Edge, EdgeWeight, Vertex, Weight, Work
from hyperclus.cli.output import print_json
from hyperclus.cli.terminal import facts, show, table, title
from hyperclus.engines.dask.plan import Sizes, need
from hyperclus.engines.dask.source import TableOptions
from hyperclus.engines.dask.workers import dask
from hyperclus.errors import Argument, InputError
from hyperclus.report.format import byte_size as amount

Memory = Annotated[str, typer.Option(metavar="SIZE", help="Memory of each worker, one thread each.")]
Workers = Annotated[int | None, typer.Option(metavar="NUMBER", help="Number of workers.", min=1)]
Clusters = Annotated[int, typer.Option("-k", "--clusters", metavar="NUMBER", help="Clusters.", min=1)]


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of columns, and the policy for repeated incidences."""

    vertex: Vertex = None
    edge: Edge = None
    weight: Weight = None
    edge_weight: EdgeWeight = None
    duplicates: Duplicates = None


@app.command(
    epilog=examples(
        "hyperclus plan data/ -k 2",
        "hyperclus plan data/ -k 5 --workers 8 --memory 32GB",
        'hyperclus plan "data/*.parquet" --vertex vertex --edge edge --json',
    )
)
@grouped
def plan(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Parquet file, folder, pattern or URI.")],
    columns: Columns,
    k: Clusters = 2,
    workers: Workers = None,
    memory: Memory = "16GB",
    work: Work = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
) -> None:
    """Estimate memory, disk space and traffic of `cluster --engine dask`.

    It reads only the footers of the files and starts no worker. All figures
    are upper bounds.
    """
    try:
        limit = int(dask("dask.utils").parse_bytes(memory))
    except ValueError:
        limit = 0
    if limit <= 0:
        raise InputError(Argument("memory"), f" must be a size such as 16GB; got {memory!r}")
    options = TableOptions(**{name: value for name, value in asdict(columns).items() if value is not None})
    sizes = Sizes.of(source, work_folder(work), options)
    needs = [need(sizes, k, number, limit) for number in ([workers] if workers else (1, 4, 16, 64))]
    if as_json:
        print_json({"source": source, "k": k, **asdict(sizes), "needs": [asdict(one) for one in needs]})
        return
    bound = "" if sizes.prepared_partitions else "at most "
    figures = {"incidences": f"{sizes.n_incidences:,}", "vertices": f"{bound}{sizes.n_vertices:,}"}
    figures["hyperedges"] = f"{bound}{sizes.n_edges:,}"
    names = ["workers", "partitions", "memory", "minimum", "incidences", "sent per round", "disk", "enough"]
    rows = [
        [
            *(f"{one.workers:,}", f"{one.partitions:,}", amount(one.memory), amount(one.minimum)),
            *("in memory" if one.in_memory else "on disk", amount(one.sent), amount(one.disk)),
            "yes" if one.enough else "no",
        ]
        for one in needs
    ]
    show(title(f"Plan for {printable(source)}, k = {k}, workers with {amount(limit)} each"))
    show(facts(figures.items()), "", table(names, rows))
