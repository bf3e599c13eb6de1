"""The commands `cluster`, `suggest-k` and `report`."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import typer

import hyperclus
from hyperclus._runtime.files import printable
from hyperclus.cli.app import Messages, command, command_line, say, say_if_stopped
from hyperclus.cli.attributes import as_beta, read_attributes
from hyperclus.cli.cluster_files import Workers, cluster_files
from hyperclus.cli.constraints import read_constraints
from hyperclus.cli.inputs import LabelledSource, ResolvedInput, Source, read_labels
from hyperclus.cli.options import GPU, Computation, Json, Search, Walk, argument, cluster_option
from hyperclus.cli.output import LABELS, Outputs, as_record, labelled, print_csv, print_json
from hyperclus.cli.progress import progress
from hyperclus.cli.terminal import TOP_HYPEREDGES, indented, show, show_partition, table, title
from hyperclus.clustering.chance import NO_MORE
from hyperclus.clustering.frames import LABEL_COLUMNS
from hyperclus.clustering.n_clusters import COLUMNS, MAX_K, Suggestion
from hyperclus.clustering.partition import Partition
from hyperclus.engines import InMemory, check_engine, cuda_products
from hyperclus.errors import HyperclusError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import caption
from hyperclus.report.text import meaningless

NOT_REPEATED = (
    "out",
    "edges",
    "report",
    "model",
    "certificate",
    "as_json",
    "as_csv",
    "raw",
    "quiet",
    "verbose",
    "checkpoint",
)


@command(
    "hyperclus cluster table.csv -k 3",
    "hyperclus cluster table.csv -k 2 --id name --label class --report out.html",
    "hyperclus cluster table.csv -k auto --exclude name --out labels.csv",
    "hyperclus cluster papers.csv -k 2 --vertex author --edge paper --weight share",
    "hyperclus cluster papers.hif.json -k 2 --classes classes.csv --json",
)
def cluster(
    *,
    context: typer.Context,
    source: LabelledSource,
    search: Search,
    computation: Computation,
    workers: Workers,
    outputs: Outputs,
    messages: Messages,
) -> None:
    """Find clusters, with a proven lower bound on the NCut of any clusters.

    FILE is a table with a row per vertex or a row per incidence (CSV, TSV,
    Parquet, JSON, Excel), text with a hyperedge per line (--from lines), JSON, or
    a hypergraph in HIF, hMETIS, Matrix Market or npz; - is standard input. With
    --engine dask it is Parquet with a row per incidence: a file, a folder, a quoted
    pattern, or a URI such as "s3://bucket/*.parquet". Results go to stdout,
    everything else to stderr.
    """
    k, command = search.count(), command_line(context, NOT_REPEATED)
    if workers.engine == "dask":
        cluster_files(source, k, search, computation, workers, outputs, messages, command)
        return
    workers.check_unused()
    outputs.check(source.path, source.classes, search.fixed, search.links, search.attributes)
    _check_engine(workers.engine, computation.precision)
    resolved = source.resolve()
    with resumable(messages, computation.checkpoint):
        h, classes, seconds = _read(resolved, messages)
        outputs.check_ids(messages, h.vertex_ids, h.edge_ids)
        part, suggestion = find_clusters(h, search, computation, workers.engine)
    _finish(part, Known(classes, seconds), source, outputs, messages, command, suggestion)


def find_clusters(
    h: Hypergraph, search: Search, computation: Computation, engine: InMemory = "auto"
) -> tuple[Partition, Suggestion | None]:
    """Find clusters, and for -k auto a number of them, as the options say."""
    settings: dict[str, Any] = {**computation.settings(), "engine": engine}
    k, suggestion = search.count(), None
    if search.attributes is not None:
        h, found = read_attributes(search.attributes, h)
        settings |= {"attributes": found, "beta": as_beta("auto" if search.beta is None else search.beta)}
    if k is None and search.attributes is not None:
        settings |= {"objective": search.objective, "effort": search.effort, "min_share": search.min_share}
        return hyperclus.cluster(h, "auto", **settings, constraints=read_constraints(search, h)), None
    if k is None:
        suggestion = hyperclus.suggest_k(h, search.max_k, alpha=computation.alpha, seed=computation.seed)
        k = suggestion.k
        if k is None:
            raise HyperclusError(f"no number of clusters can be suggested: {suggestion.reason}")
    if search.method == "hyperclus-g":
        return hyperclus.hyperclus_g(h, k, **settings), suggestion
    settings |= {"objective": search.objective, "effort": search.effort}
    settings |= {"min_share": search.min_share, "constraints": read_constraints(search, h)}
    return hyperclus.cluster(h, k, **settings), suggestion


def report_options(
    source: Source, classes: list[Any] | None, command: str, suggestion: Suggestion | None
) -> dict[str, Any]:
    """The arguments of `Partition.to_html` for clusters that a command found."""
    remarks = [] if suggestion is None else [suggestion.reason]
    name = printable(source.path.name)
    return {"source": name, "classes": classes, "command": command, "remarks": remarks}


@dataclass(frozen=True, slots=True)
class Candidates:
    """Which numbers of clusters to consider, and how."""

    max_k: int | None = cluster_option(f"Largest number to consider (default: {MAX_K}).", "NUMBER", least=2)
    shuffles: int | None = cluster_option(
        "Number of shuffled hypergraphs to compare with, up to 1000 (default: 3 to 20, by size).",
        "NUMBER",
        least=2,
    )


@command(
    "hyperclus suggest-k table.csv --label class",
    "hyperclus suggest-k papers.csv --vertex author --edge paper --max-k 3 --json",
)
def suggest_k(
    *, source: Source, candidates: Candidates, walk: Walk, as_json: Json = False, messages: Messages
) -> None:
    """Suggest a number of clusters, with reasons, or none if there is no structure.

    The exit code is 0 in both cases.
    """
    resolved = source.resolve()
    with resumable(messages, walk.checkpoint):
        h = resolved.read(messages)
        found = hyperclus.suggest_k(h, **asdict(candidates), alpha=walk.alpha, seed=walk.seed)
    if as_json:
        print_json(asdict(found))
        return
    show(title(f"Suggestion: {found.answer}"), indented(found.reason))
    if found.candidates:
        show("", table(COLUMNS, found.rows, text=True))


@dataclass(frozen=True, slots=True)
class GivenClusters:
    """Clusters to evaluate, and the report on them."""

    clusters: Path = argument("Table with the columns vertex and cluster.", "CLUSTERS")
    target: Path = argument("Report to write.", "OUT.html")
    other: Path | None = cluster_option("Another such table, to compare with side by side.", "FILE")
    levels: int | None = cluster_option(
        "Largest number of groups that the report can show (default: 12, for large data those found).",
        "NUMBER",
        least=2,
    )
    engine: InMemory = cluster_option(f"Where to compute; {GPU}.", default="auto")


@command(
    "hyperclus cluster table.csv -k 3 --csv > labels.csv",
    "hyperclus report table.csv labels.csv out.html",
    "hyperclus report table.csv labels.csv out.html --other labels2.csv",
    "hyperclus report table.csv labels.csv out.html --label class --bound tight",
)
def report(
    *,
    context: typer.Context,
    source: LabelledSource,
    given: GivenClusters,
    computation: Computation,
    messages: Messages,
) -> None:
    """Evaluate given clusters, with a proven lower bound, and write a report.

    CLUSTERS is CSV, TSV or Parquet, such as the output of `hyperclus cluster
    --csv`.
    """
    outputs = Outputs(report=given.target, levels=given.levels)
    outputs.check(source.path, given.clusters, source.classes, given.other)
    _check_engine(given.engine, computation.precision)
    resolved = source.resolve()
    with resumable(messages, computation.checkpoint):
        h, classes, seconds = _read(resolved, messages)
        labels = read_labels(given.clusters, h.vertex_ids, "cluster", LABELS)
        other = None if given.other is None else read_labels(given.other, h.vertex_ids, "cluster", LABELS)
        part = hyperclus.evaluate(h, labels, engine=given.engine, **computation.settings())
    known = Known(classes, seconds, other)
    _finish(part, known, source, outputs, messages, command_line(context, NOT_REPEATED))


class Known(NamedTuple):
    """What is known beside the clusters: classes, the seconds of reading, and other clusters."""

    classes: list[Any] | None
    seconds: float
    other: list[Any] | None = None


def _finish(
    part: Partition,
    known: Known,
    source: Source,
    outputs: Outputs,
    messages: Messages,
    command: str,
    suggestion: Suggestion | None = None,
) -> None:
    """Write the files, then print the result."""
    options = report_options(source, known.classes, command, suggestion)
    agreement = None if known.classes is None else part.agreement(known.classes)
    timings = {"reading": known.seconds, **part.timings}
    with messages.from_library():
        written = outputs.write(part, other=known.other, **options)
    if outputs.as_json:
        record = as_record(part, options["source"], command) | {"timings": timings}
        described = part.describe(TOP_HYPEREDGES).edges
        for row, found in zip(record["clusters"], described, strict=True):
            row["top_hyperedges"] = list(map(caption, found.ids))
            row["top_coverage"], row["top_coverage_all"] = found.coverage, found.coverage_all
        if suggestion is not None:
            record["suggestion"] = asdict(suggestion)
        if agreement is not None:
            names = ("nmi", "ari", "purity", "classes", "clusters", "counts")
            figures = {name: getattr(agreement, name) for name in names}
            record["agreement"] = {"f1": agreement.f1, **figures}
        record["labels"] = [dict(zip(LABEL_COLUMNS, row, strict=True)) for row in labelled(part)]
        print_json(record)
    elif outputs.as_csv:
        print_csv(LABEL_COLUMNS, labelled(part), outputs.raw)
    else:
        show_partition(part, agreement, suggestion)
    if outputs.as_json or outputs.as_csv:  # even with --quiet, because the figures may look perfect
        if (nothing := meaningless(part)) is not None:
            say(nothing, "yellow")
        elif part.chance is not None and part.chance.verdict == NO_MORE:
            say(f"these clusters are {part.chance}", "yellow")
    messages.finished(timings, written)


def _read(resolved: ResolvedInput, messages: Messages) -> tuple[Hypergraph, list[Any] | None, float]:
    """Read the hypergraph and the class of each vertex, if known; returns also the seconds it took."""
    start = time.perf_counter()
    h = resolved.read(messages)
    return h, resolved.classes(h), time.perf_counter() - start


@contextmanager
def resumable(messages: Messages, checkpoint: str | None, long_run: float = 10.0) -> Iterator[None]:
    """Run the body with a progress bar and checkpoints.

    If it is stopped, print how to resume, or after `long_run` seconds that checkpoints would have helped.
    """
    start = time.monotonic()

    def hint() -> str | None:
        if checkpoint is not None:
            return f"{printable(checkpoint)} keeps the checkpoints; repeat the command to resume"
        short = time.monotonic() - start < long_run
        return None if short else "no checkpoint was written; use --checkpoint FOLDER to make runs resumable"

    folder = nullcontext() if checkpoint is None else hyperclus.checkpoints(checkpoint)
    with say_if_stopped(hint), messages.from_library(), progress(messages), folder:
        yield


def _check_engine(engine: str, precision: str) -> None:
    """Refuse an engine that this machine does not have, before the file is read."""
    check_engine(engine, precision)
    if engine == "cuda":  # try it with a tiny hypergraph
        cuda_products(Hypergraph.from_edges([["a", "b"]]), 0.0, precision, 2)
