"""The command `plan`: what a run on a Dask cluster needs."""

from dataclasses import asdict, dataclass
from pathlib import Path

from hyperclus._runtime.files import printable
from hyperclus.cli.app import command
from hyperclus.cli.cluster_files import memory_size
from hyperclus.cli.options import IncidenceColumns, Json, argument, option, work_option
from hyperclus.cli.output import print_json
from hyperclus.cli.terminal import facts, show, table, title
from hyperclus.clustering.cluster_files import work_folder
from hyperclus.engines.dask.plan import Need, Sizes, need
from hyperclus.engines.dask.source import TableOptions
from hyperclus.report.format import byte_size


@dataclass(frozen=True, slots=True)
class Run:
    """A run on Dask workers."""

    source: str = argument("Parquet with a row per incidence: file, folder, quoted pattern or URI.", "SOURCE")
    k: int = option("Number of clusters.", "NUMBER", "-k", "--clusters", default=2, min=1)
    workers: int | None = option("Number of workers (default: 1, 4, 16 and 64).", "NUMBER", min=1)
    memory: str = option("Memory of each worker, with one thread each.", "SIZE", default="16GB")
    work: Path | None = work_option(rich_help_panel=None)


@command(
    "hyperclus plan data/ -k 2",
    "hyperclus plan data/ -k 5 --workers 8 --memory 32GB",
    'hyperclus plan "data/*.parquet" --vertex vertex --edge edge --json',
)
def plan(*, run: Run, columns: IncidenceColumns, as_json: Json = False) -> None:
    """Estimate memory, disk space and traffic of `cluster --engine dask`.

    It reads only the footers of the files and starts no worker. All figures
    are upper bounds.
    """
    limit = memory_size(run.memory)
    options = TableOptions(**{name: value for name, value in asdict(columns).items() if value is not None})
    sizes = Sizes.of(run.source, work_folder(run.work), options)
    numbers = [run.workers] if run.workers else [1, 4, 16, 64]
    needs = [need(sizes, run.k, number, limit) for number in numbers]
    if as_json:
        print_json({"source": run.source, "k": run.k, **asdict(sizes), "needs": list(map(asdict, needs))})
        return
    bound = "" if sizes.prepared_partitions else "at most "
    figures = {"incidences": f"{sizes.n_incidences:,}", "vertices": f"{bound}{sizes.n_vertices:,}"}
    figures["hyperedges"] = f"{bound}{sizes.n_edges:,}"
    names = ["workers", "partitions", "memory", "minimum", "incidences", "sent per round", "disk", "enough"]
    show(title(f"Plan for {printable(run.source)}, k = {run.k}, workers with {byte_size(limit)} each"))
    show(facts(figures.items()), "", table(names, list(map(_row, needs))))


def _row(one: Need) -> list[str]:
    memory, minimum, sent, disk = map(byte_size, (one.memory, one.minimum, one.sent, one.disk))
    incidences, enough = "in memory" if one.in_memory else "on disk", "yes" if one.enough else "no"
    return [f"{one.workers:,}", f"{one.partitions:,}", memory, minimum, incidences, sent, disk, enough]
