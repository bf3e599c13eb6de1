"""`cluster --engine dask`: Parquet files in, files of labels out, neither of which has to fit into memory."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Literal

import hyperclus
from hyperclus._runtime.files import fault, printable
from hyperclus.cli.app import Messages, say_if_stopped
from hyperclus.cli.inputs import LONG, LabelledSource
from hyperclus.cli.options import GPU, Computation, Search, cluster_option, dask_option
from hyperclus.cli.output import QUOTED, Outputs, as_record, print_json, write_stored
from hyperclus.cli.progress import progress
from hyperclus.cli.terminal import show, show_figures, table
from hyperclus.clustering.cluster_files import work_folder
from hyperclus.clustering.partition import StoredPartition
from hyperclus.engines import check_engine
from hyperclus.engines.dask.source import is_uri, list_files
from hyperclus.engines.dask.workers import WorkerPool, dask
from hyperclus.errors import InputError, check_choice
from hyperclus.hypergraph.messages import count, shown
from hyperclus.io.tables.parquet import SUFFIXES
from hyperclus.report.format import byte_size

SIZE = re.compile(r" *[0-9.]+(e[0-9]+)? *[A-Za-z]+ *")  # a number without a unit is a likely slip
INTERVAL = 1.0  # seconds between queries of the workers' memory
TABLES = (".csv", ".tsv", ".parquet")  # formats that can be written some rows at a time


@dataclass(frozen=True, slots=True)
class Workers:
    """Where to compute."""

    engine: Literal["auto", "cpu", "cuda", "dask"] = cluster_option(
        f"Where to compute; {GPU}; dask: on Dask workers, none of which holds all data.", default="auto"
    )
    scheduler: str | None = dask_option(
        "Dask scheduler, such as tcp://head:8786 (default: start workers on this machine).", "ADDRESS"
    )
    workers: int | None = dask_option("Number of local workers (default: cores).", "NUMBER", least=1)
    memory: str | None = dask_option("Memory of each local worker, such as 4GB.", "SIZE")
    work: Path | None = dask_option(
        "Folder for sorted data, checkpoints and labels, which all workers can access (default: "
        "$HYPERCLUS_WORK, or hyperclus-work).",
        "FOLDER",
    )

    def check_unused(self) -> None:
        """Refuse options of this engine if another one is chosen."""
        for name in ("scheduler", "workers", "memory", "work"):
            if getattr(self, name) is not None:
                raise InputError(f"--{name} needs --engine dask, not --engine {self.engine}; leave it out")

    def check(self) -> None:
        """Refuse options that contradict each other, and a memory that is no size."""
        if self.scheduler is not None and (self.workers or self.memory):
            raise InputError("--workers and --memory are for local workers; leave them out with --scheduler")
        if self.memory is not None:
            size = 0
            if SIZE.fullmatch(self.memory):  # Dask takes no text for 1 byte, and "1 2" for 12
                with suppress(ValueError, OverflowError):
                    size = int(dask("dask.utils").parse_bytes(self.memory))
            if size <= 0:
                message = f"--memory must be a size with a unit, such as 16GB; got {shown(self.memory)}"
                raise InputError(message)


def cluster_files(
    source: LabelledSource,
    k: int | None,
    search: Search,
    computation: Computation,
    workers: Workers,
    outputs: Outputs,
    messages: Messages,
    command: str,
) -> None:
    """Find clusters on Dask workers, write the labels, print the figures."""
    if k is None:
        raise InputError("--engine dask needs a number for -k; suggest-k finds one for a sample of the data")
    workers.check()
    _check(source, search, computation, outputs)
    with _pool(workers, messages) as (pool, memory):
        part = hyperclus.cluster_files(
            source.file,
            k,
            objective=search.objective or "information",
            effort=search.effort or "default",
            min_share=search.min_share,
            folder=work_folder(workers.work),
            columns=source.options,
            **{name: getattr(computation, name) for name in ("alpha", "tolerance", "seed")},
        )
        where = pool.address if workers.scheduler else "this machine"
        if outputs.out is not None and write_stored(outputs.out, part, outputs.raw):
            messages.warn(f"{printable(outputs.out)}: {QUOTED}")
    if outputs.as_json:
        name = printable(os.path.basename(source.file) or source.file)
        print_json({**as_record(part, name, command), "rounds": part.rounds, "labels": str(part.folder)})
    else:
        _show(part, f"dask, on {where}", memory.summary)
    messages.finished(part.timings, outputs.targets.values())


def _show(part: StoredPartition, engine: str, memory: str) -> None:
    """Print figures, clusters, and the time and traffic of each stage."""
    eigenvalues = [f"{value:.6g}" for value in part.eigenvalues[:8]] + ["..."] * (len(part.eigenvalues) > 8)
    figures = {
        "eigenvalues": ", ".join(eigenvalues),
        "data": f"{count(part.n_edges, 'hyperedge')}, {count(part.n_incidences, 'incidence')}",
        "engine": engine,
        "memory": memory,
        "labels": printable(part.folder),
    }
    show_figures(part, figures)
    rows = [
        [stage, f"{seconds:.1f}", *_traffic(part.rounds.get(stage, {}))]
        for stage, seconds in {**part.timings, "total": sum(part.timings.values())}.items()
    ]
    show("", table(["stage", "seconds", "rounds", "bytes moved", "per round"], rows, left=1))


def _traffic(spent: dict[str, Any]) -> list[str]:
    """The number of rounds of a stage, and what they moved."""
    rounds, moved = spent.get("rounds", 0), spent.get("bytes", 0)
    return [f"{rounds:,}", byte_size(moved), byte_size(moved / rounds)] if rounds else [".", ".", "."]


def _check(source: LabelledSource, search: Search, computation: Computation, outputs: Outputs) -> None:
    """Refuse, before the work, what the engine cannot do."""
    given = {
        "--method": (search.method != "auto", "it runs the search of --method auto"),
        "--fixed": (search.fixed, "it keeps no constraints"),
        "--links": (search.links, "it keeps no constraints"),
        "--attributes": (search.attributes, "it uses hyperedges alone"),
        "--max-share": (search.max_share, "it keeps no constraints"),
        "--bound": (computation.bound != "eigenvalues", "its bound is that of the eigenvalues"),
        "--bound-seconds": (
            computation.bound_seconds is not None,
            "its bound is that of the eigenvalues",
        ),
        "--checkpoint": (computation.checkpoint, "it keeps checkpoints in --work and always resumes"),
        "--report": (outputs.report, "there may be too many vertices for a page"),
        "--edges": (outputs.edges, "it writes no file of hyperedges"),
        "--model": (outputs.model, "the walk stays on the workers"),
        "--certificate": (outputs.certificate, "the walk stays on the workers"),
        "--csv": (outputs.as_csv, "--out FILE.csv writes the labels"),
        "--classes": (source.classes, "labels stay in files; compare them there"),
        "--label": (source.label, "labels stay in files; compare them there"),
        "--vertex-name": (source.vertex_name, "the files have the columns vertex and cluster"),
        "--edge-name": (source.edge_name, "the files have the columns vertex and cluster"),
        "--delimiter": (source.delimiter, "it reads Parquet"),
        "--encoding": (source.encoding, "it reads Parquet"),
        "--thousands": (source.thousands, "it reads Parquet"),
        "--sheet": (source.sheet, "it reads Parquet"),
        "--missing": (source.missing, "it uses every row"),
        "--split": (source.split, "it reads one incidence per row"),
        "--weight-transform": (source.weight_transform, "it uses the weights of the files"),
        "--from": (source.format not in (None, "parquet"), "it reads Parquet"),
    }
    for name in ("id", "exclude", "bins", "order", "text"):
        given[f"--{name}"] = getattr(source, name), "it reads tables with a row per incidence"
    for option, (value, reason) in given.items():
        if value:
            raise InputError(f"{option} does not apply to --engine dask: {reason}; leave it out")
    for name in source.options:
        if name not in LONG:
            raise InputError(f"-o {name} does not apply to --engine dask, which uses every row; leave it out")
    check_engine("cpu", computation.precision)  # the workers compute on CPUs
    if source.duplicates is not None:
        check_choice("duplicates", source.duplicates, ("error", "sum", "max"))
    outputs.check(None if is_uri(source.file) else source.path)
    if outputs.out is not None and not outputs.out.name.lower().removesuffix(".gz").endswith(TABLES):
        raise fault(outputs.out, "--engine dask writes labels as .csv, .tsv or .parquet; choose one of them")
    if os.path.isfile(source.file) and not source.file.lower().endswith(SUFFIXES):
        raise fault(
            source.file,
            "--engine dask reads Parquet; convert the file with hyperclus convert, or use another engine",
        )
    list_files(source.file)


@contextmanager
def _pool(workers: Workers, messages: Messages) -> Iterator[tuple[WorkerPool, "Memory"]]:
    """Connect to the workers, or start some, and show the progress of the body."""

    def hint() -> str:
        return f"{printable(work_folder(workers.work))} keeps the checkpoints; repeat the command to resume"

    with say_if_stopped(hint), messages.from_library(), ExitStack() as stack:
        with _interrupts_delayed():
            pool = stack.enter_context(WorkerPool.connect(workers.scheduler, workers.workers, workers.memory))
        stack.enter_context(pool.client.as_current())
        memory = Memory(pool.client)
        messages.note(_description(pool, workers.scheduler is None))
        with suppress(KeyError):  # raised by Dask if the scheduler has no dashboard
            if workers.scheduler is not None and pool.client.dashboard_link:
                messages.note(f"dashboard: {pool.client.dashboard_link}")
        with progress(messages, memory.status):
            yield pool, memory


@contextmanager
def _interrupts_delayed() -> Iterator[None]:
    """Block Ctrl-C while threads and processes start; they inherit that, so only this process handles it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it later would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _description(pool: WorkerPool, local: bool) -> str:
    """How many workers there are, where, and their memory."""
    workers = pool.workers()
    limit = min((worker.memory_limit for worker in workers), default=0)
    size = f" with {limit / 1e9:.1f} GB each" if limit else ""
    number = count(len(workers), "worker") if workers else "no workers yet"
    where = "on this machine" if local else f"at {pool.address}"
    return f"{number} {where}{size}" + ("; use --scheduler ADDRESS for others" if local else "")


@dataclass(slots=True)
class Memory:
    """The memory of the worker that uses most."""

    client: Any
    used: int = 0
    peak: int = 0
    limit: int = 0
    queried: float = -INTERVAL
    clock: Callable[[], float] = field(default=time.monotonic)

    def status(self) -> str:
        """The memory in use, in words, as of the last query."""
        if self.clock() - self.queried >= INTERVAL and self.client.status == "running":
            self.queried = self.clock()
            with suppress(Exception):  # a missing figure must not end a run
                self.used, self.limit = max(
                    (int(one["metrics"].get("memory", 0)), int(one["memory_limit"] or 0))
                    for one in self.client.scheduler_info(n_workers=-1)["workers"].values()
                )
                self.peak = max(self.peak, self.used)
        return f"a worker uses {self.used / 1e9:.1f} GB" if self.used else ""

    @property
    def summary(self) -> str:
        """The largest memory seen in any worker, in words."""
        limit = f" of {self.limit / 1e9:.1f}" if self.limit else ""
        return f"{self.peak / 1e9:.2f}{limit} GB at most in one worker" if self.peak else ""
