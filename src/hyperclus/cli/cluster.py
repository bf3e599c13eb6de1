"""The commands that find, choose, judge and show clusters."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import hyperclus
from hyperclus._runtime.files import printable
from hyperclus.cli import classes as known
from hyperclus.cli.app import Voice, app, command_line, examples, grouped, say_if_stopped
from hyperclus.cli.cluster_files import Workplace, cluster_files
from hyperclus.cli.inputs import DIGITS, PANEL, ResolvedInput, Source
from hyperclus.cli.output import Outputs, facts, print_csv, print_json
from hyperclus.cli.progress import progress
from hyperclus.cli.text import Page, show_partition, show_suggestion
from hyperclus.clustering.n_clusters import Suggestion
from hyperclus.clustering.partition import Partition
from hyperclus.engines import InMemory, Precision, check_engine, device_products
from hyperclus.errors import HyperclusError, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import shown
from hyperclus.report.views import agreement_with_classes

HOW = "How to cluster"
MOST = 10  # clusters that are considered
LONG = 10.0  # seconds after which a run would have been worth a checkpoint
NOT_REPEATED = ("out", "edges", "report", "as_json", "as_csv", "quiet", "verbose", "checkpoint")

Classes = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Known classes in a file of their own, with a column of vertices and one of classes.",
        rich_help_panel=PANEL,
    ),
]
Alpha = Annotated[
    float,
    typer.Option(
        min=0,
        metavar="NUMBER",
        help="0 is the paper's walk, 1 lets weights count both ways; anything from 0.",
        rich_help_panel=HOW,
    ),
]
Bound = Annotated[
    Literal["eigenvalues", "tight"],
    typer.Option(help="How the bound is proven; tight: up to 400 vertices.", rich_help_panel=HOW),
]
Tolerance = Annotated[
    float, typer.Option(metavar="NUMBER", help="Largest residual of an eigenvector.", rich_help_panel=HOW)
]
Seed = Annotated[
    int, typer.Option(min=0, metavar="NUMBER", help="Of all that is drawn at random.", rich_help_panel=HOW)
]
OnEngine = Annotated[
    Literal["auto", "cpu", "cuda", "dask"],
    typer.Option(
        help="Where to compute; auto: on an NVIDIA GPU where there is one and the data are large; dask: on "
        "workers that need not hold the data.",
        rich_help_panel=HOW,
    ),
]
Here = Annotated[
    InMemory,
    typer.Option(
        "--engine",
        help="Where to compute; auto: on an NVIDIA GPU where there is one and the data are large.",
        rich_help_panel=HOW,
    ),
]
InPrecision = Annotated[
    Precision,
    typer.Option(help="Of weights and eigenvectors; float32: on a GPU only.", rich_help_panel=HOW),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Keep the state there, to go on after a stop.", rich_help_panel=HOW),
]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to cluster."""

    method: Annotated[
        Literal["auto", "hyperclus-g"],
        typer.Option(help="The search, or the paper's algorithm.", rich_help_panel=HOW),
    ] = "auto"
    effort: Annotated[
        Literal["fast", "default", "thorough"] | None,
        typer.Option(help="How far to search.", rich_help_panel=HOW),
    ] = None
    min_share: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Least share of the volume for each cluster, from 0 to 1/k; by default 0.01 for two "
            "clusters, else none.",
            rich_help_panel=HOW,
        ),
    ] = None
    alpha: Alpha = 0.0
    bound: Bound = "eigenvalues"
    tolerance: Tolerance = 1e-8
    seed: Seed = 0
    engine: OnEngine = "auto"
    precision: InPrecision = "float64"


@app.command(
    epilog=examples(
        "hyperclus cluster table.csv -k 3",
        "hyperclus cluster table.csv -k 2 --id name --label class --report out.html",
        "hyperclus cluster table.csv -k auto --exclude name --out labels.csv",
        "hyperclus cluster papers.csv -k 2 --vertex author --edge paper --weight share",
        "hyperclus cluster papers.hif.json -k 2 --classes classes.csv --json",
    )
)
@grouped
def cluster(
    *,
    context: typer.Context,
    source: Source,
    classes: Classes = None,
    k: Annotated[
        str | None,
        typer.Option(
            "-k",
            "--clusters",
            metavar="NUMBER",
            help="How many clusters; auto: as many as are suggested.",
            show_default=False,
            rich_help_panel=HOW,
        ),
    ] = None,
    max_k: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", help="For -k auto: the largest to consider; 10.", min=2, rich_help_panel=HOW
        ),
    ] = None,
    settings: Settings,
    checkpoint: Checkpoint = None,
    workplace: Workplace,
    outputs: Outputs,
    voice: Voice,
) -> None:
    """Find clusters in a file, with a proven bound on how good they can be.

    FILE is a table with a row per vertex or a row per incidence (CSV, TSV,
    Parquet), or a hypergraph in HIF, hMETIS, Matrix Market or npz. For
    --engine dask it is Parquet with a row per incidence: a file, a folder, a
    pattern in quotes, or an address such as "s3://bucket/*.parquet". Results go
    to stdout, everything else to stderr.
    """
    count = _count(k)
    if settings.engine == "dask":
        check_engine("cpu", settings.precision)  # which has double precision only, as dask
        if count is None:
            raise InputError(
                "--engine dask needs a number for -k; suggest-k finds one for a sample of the data"
            )
        unused = {"classes": classes, "max_k": max_k, "checkpoint": checkpoint}
        how, command = asdict(settings), command_line(context, NOT_REPEATED)
        cluster_files(source, count, how, workplace, outputs, unused, voice, command)
        return
    workplace.check_unused(settings.engine)
    if count is not None and max_k is not None:
        raise InputError("--max-k is for -k auto; leave it out where the number is given")
    outputs.check(source.path, classes)
    _check_engine(settings.engine, settings.precision)
    taken = source.taken()
    with _running(voice, checkpoint):
        h, known_classes, seconds = _read(taken, classes, voice)
        outputs.check_ids(h.vertex_ids, h.edge_ids)
        suggestion = None
        if count is None:
            suggestion = hyperclus.suggest_k(h, max_k or MOST, alpha=settings.alpha, seed=settings.seed)
            if suggestion.k is None:
                raise HyperclusError(f"no number of clusters is suggested: {suggestion.reason}")
            count = suggestion.k
        part = _clustered(h, count, settings)
    _finish(
        part, suggestion, known_classes, outputs, voice, source, command_line(context, NOT_REPEATED), seconds
    )


@app.command(
    "suggest-k",
    epilog=examples(
        "hyperclus suggest-k table.csv --label class",
        "hyperclus suggest-k papers.csv --vertex author --edge paper --max-k 3 --json",
    ),
)
@grouped
def suggest_k(
    *,
    source: Source,
    max_k: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="The largest number to consider.", min=2, rich_help_panel=HOW),
    ] = MOST,
    shuffles: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="How many shuffled hypergraphs to compare with; 3 to 20 by size.",
            min=2,
            rich_help_panel=HOW,
        ),
    ] = None,
    alpha: Alpha = 0.0,
    seed: Seed = 0,
    checkpoint: Checkpoint = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
    voice: Voice,
) -> None:
    """How many clusters there are, with reasons; none, where there are none.

    The exit code is 0 whatever the answer is.
    """
    taken = source.taken()
    with _running(voice, checkpoint):
        h = taken.read(voice)
        found = hyperclus.suggest_k(h, max_k, alpha=alpha, shuffles=shuffles, seed=seed)
    if as_json:
        print_json(asdict(found))
    else:
        show_suggestion(Page.on_stdout(), found)


@app.command(
    epilog=examples(
        "hyperclus cluster table.csv -k 3 --csv > labels.csv",
        "hyperclus report table.csv labels.csv out.html",
        "hyperclus report table.csv labels.csv out.html --label class --bound tight",
    )
)
@grouped
def report(
    *,
    context: typer.Context,
    source: Source,
    clusters: Annotated[
        Path,
        typer.Argument(
            metavar="CLUSTERS", help="A table with the columns vertex and cluster.", show_default=False
        ),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT.html", help="The report to write.", show_default=False)
    ],
    classes: Classes = None,
    alpha: Alpha = 0.0,
    bound: Bound = "eigenvalues",
    tolerance: Tolerance = 1e-8,
    seed: Seed = 0,
    engine: Here = "auto",
    precision: InPrecision = "float64",
    checkpoint: Checkpoint = None,
    voice: Voice,
) -> None:
    """Judge clusters from anywhere, with a proven bound, and write a report on them.

    CLUSTERS is CSV, TSV or Parquet, such as `hyperclus cluster --csv` prints.
    """
    outputs = Outputs(report=target)
    outputs.check(source.path, clusters, classes)
    _check_engine(engine, precision)
    taken = source.taken()
    with _running(voice, checkpoint):
        h, known_classes, seconds = _read(taken, classes, voice)
        labels = known.of_file(clusters, h.vertex_ids, "cluster", ("vertex", "cluster"))
        part = hyperclus.evaluate(
            h,
            labels,
            alpha=alpha,
            bound=bound,
            tolerance=tolerance,
            seed=seed,
            engine=engine,
            precision=precision,
        )
    _finish(part, None, known_classes, outputs, voice, source, command_line(context, NOT_REPEATED), seconds)


def _clustered(h: Hypergraph, k: int, settings: Settings) -> Partition:
    how = asdict(settings)
    method, search = how.pop("method"), {name: how.pop(name) for name in ("effort", "min_share")}
    if method == "auto":
        return hyperclus.cluster(h, k, **search, **how)
    for name, value in search.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            raise InputError(f"{option} is not for --method hyperclus-g, which does not search; leave it out")
    return hyperclus.hyperclus_g(h, k, **how)


def _finish(
    part: Partition,
    suggestion: Suggestion | None,
    classes: list[Any] | None,
    outputs: Outputs,
    voice: Voice,
    source: Source,
    command: str,
    seconds: float,
) -> None:
    """Write the files, then print the result."""
    name = printable(source.path.name)
    found = None if classes is None else agreement_with_classes(part, classes)
    with voice.listening():
        remarks = [] if suggestion is None else [suggestion.reason]
        written = outputs.write(part, classes, name, command, remarks)
    if outputs.as_json:
        print_json(facts(part, found, suggestion, seconds, name, command))
    elif outputs.as_csv:
        print_csv(part)
    else:
        show_partition(Page.on_stdout(), part, found, suggestion)
    for stage, time_taken in {"reading": seconds, **part.timings}.items():
        voice.detail(f"{stage}: {time_taken:.3f} s")
    for path in written:
        voice.note(f"written to {printable(path)}")


def _read(
    taken: ResolvedInput, classes: Path | None, voice: Voice
) -> tuple[Hypergraph, list[Any] | None, float]:
    """The hypergraph, the class of each vertex where they are known, and the seconds it took."""
    start = time.perf_counter()
    h = taken.read(voice)
    found = taken.classes(h, classes)
    return h, found, time.perf_counter() - start


@contextmanager
def _running(voice: Voice, checkpoint: Path | None) -> Iterator[None]:
    """A long run: shown by a bar, kept in checkpoints, with a word on what is left if it is stopped."""
    begun = time.monotonic()
    folder: AbstractContextManager[None] = nullcontext()
    if checkpoint is not None:
        folder = hyperclus.checkpoints(checkpoint)

    def words() -> str | None:
        if checkpoint is not None:
            return f"{printable(checkpoint)} keeps what was done; give the same command to go on"
        if time.monotonic() - begun < LONG:
            return None
        return "nothing is kept; with --checkpoint FOLDER the same command would go on where it was"

    with say_if_stopped(words), voice.listening(), progress(voice), folder:
        yield


def _check_engine(engine: str, precision: Precision) -> None:
    """Refuse before the work an engine that is not there: what is copied to it is as small as can be."""
    check_engine(engine, precision)
    if engine == "cuda":
        device_products(engine, precision, Hypergraph.from_edges([["a", "b"]]), 0.0, 2)


def _count(k: str | None) -> int | None:
    """How many clusters; None: as many as are suggested."""
    if k is None:
        raise InputError("say how many clusters: -k 3, or -k auto for as many as are suggested")
    if k == "auto":
        return None
    if not k.isdecimal() or len(k) > DIGITS or int(k) < 1:
        raise InputError(f"-k is a whole number from 1, or auto; got {shown(k)}")
    return int(k)
