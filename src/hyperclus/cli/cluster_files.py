"""`cluster` on the workers of a Dask cluster: Parquet files in, files of labels out, neither held here."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperclus._runtime.files import fault, printable
from hyperclus.cli.app import Voice, say_if_stopped
from hyperclus.cli.inputs import Source
from hyperclus.cli.output import Outputs, print_json, stored_facts, write_stored
from hyperclus.cli.progress import progress
from hyperclus.cli.text import Page, show_stored
from hyperclus.clustering import cluster_files as run_files
from hyperclus.clustering.partition import StoredPartition
from hyperclus.engines.dask.source import is_uri, listed
from hyperclus.engines.dask.workers import WorkerPool
from hyperclus.errors import InputError, check_choice
from hyperclus.io.tables.parquet import SUFFIXES

PANEL = "On many machines (--engine dask)"
LOOK = 1.0  # seconds between looks at the memory of the workers
COLUMNS = ("vertex", "edge", "weight", "edge_weight", "duplicates")  # the options that the engine knows
TABLES = (".csv", ".tsv", ".parquet")  # that can be written piece by piece

Work = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Where sorted data, state and labels are kept: a folder that all workers see; by default what "
        "HYPERCLUS_WORK says, or hyperclus-work.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True, slots=True)
class Workplace:
    """Who works, and where."""

    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Of a Dask scheduler, such as tcp://head:8786; without it, workers on this machine.",
            rich_help_panel=PANEL,
        ),
    ] = None
    work: Work = None

    def check_unused(self, engine: str) -> None:
        """Refuse options of this engine for another one."""
        for option, value in (("--scheduler", self.scheduler), ("--work", self.work)):
            if value is not None:
                raise InputError(
                    f"{option} is for --engine dask, and this is --engine {engine}; leave it out"
                )


def work_folder(given: Path | None) -> Path:
    """The folder that is meant, as `prepare` takes it."""
    return given or Path(os.environ.get("HYPERCLUS_WORK") or run_files.WORK)


def cluster_files(
    source: Source,
    k: int,
    settings: dict[str, Any],
    workplace: Workplace,
    outputs: Outputs,
    unused: dict[str, Any],
    voice: Voice,
    command: str,
) -> None:
    """Find clusters on the workers, write the labels, print the figures; `unused`: further options."""
    columns = _check(source, k, settings, outputs, unused)
    with _crew(workplace, voice) as (pool, memory):
        how = {name: settings[name] for name in ("min_share", "alpha", "tolerance", "seed")}
        effort: Any = settings["effort"] or "default"
        folder = work_folder(workplace.work)
        part = run_files.cluster_files(source.file, k, effort=effort, folder=folder, columns=columns, **how)
        where = pool.address if workplace.scheduler else "this machine"
        if outputs.out is not None:
            write_stored(outputs.out, part)
    _show(part, outputs, voice, source, f"dask, on {where}", memory, command)


def _show(
    part: StoredPartition,
    outputs: Outputs,
    voice: Voice,
    source: Source,
    engine: str,
    memory: "Memory",
    command: str,
) -> None:
    if outputs.as_json:
        print_json(stored_facts(part, printable(os.path.basename(source.file) or source.file), command))
    else:
        show_stored(Page.on_stdout(), part, engine, memory.words)
    for stage, seconds in part.timings.items():
        voice.detail(f"{stage}: {seconds:.3f} s")
    if outputs.out is not None:
        voice.note(f"written to {printable(outputs.out)}")


def _check(
    source: Source, k: int | None, settings: dict[str, Any], outputs: Outputs, unused: dict[str, Any]
) -> dict[str, Any]:
    """Refuse before the work what the engine does not have; returns the columns that were named."""
    if k is None:
        raise InputError(
            "--engine dask needs a number for -k; suggest-k can find one on a sample of the data"
        )
    given = {
        "--method": settings["method"] != "auto" and "it searches as --method auto does",
        "--bound": settings["bound"] != "eigenvalues" and "its bound is that of the eigenvalues",
        "--max-k": unused["max_k"] is not None and "it takes -k as it is",
        "--checkpoint": unused["checkpoint"] is not None
        and "it keeps its state in --work and goes on by itself",
        "--report": outputs.report is not None and "its vertices may be more than a page can show",
        "--edges": outputs.edges is not None and "it keeps no file of hyperedges",
        "--csv": outputs.as_csv and "--out FILE.csv has the labels",
        "--classes": unused["classes"] is not None and "labels stay in files; compare them there",
        "--label": source.label is not None and "labels stay in files; compare them there",
        "--id": source.id is not None and "it takes a row per incidence, with --vertex and --edge",
        "--exclude": bool(source.exclude) and "it takes a row per incidence, with --vertex and --edge",
        "--bins": bool(source.bins) and "it takes a row per incidence, with --vertex and --edge",
        "--delimiter": source.delimiter is not None and "it reads Parquet",
        "--from": source.reads not in (None, "parquet") and "it reads Parquet",
    }
    for option, why in given.items():
        if why:
            raise InputError(f"{option} is not for --engine dask: {why}; leave it out")
    options = source.options
    for name in options:
        if name not in COLUMNS:
            raise InputError(
                f"-o {name} is not for --engine dask, which takes every row as it is; leave it out"
            )
    if options.get("duplicates") is not None:
        check_choice("duplicates", options["duplicates"], ("error", "sum", "max"))
    _check_share(settings["min_share"], k)
    if not settings["tolerance"] > 0:
        raise InputError(f"--tolerance must be above 0; got {settings['tolerance']!r}")
    _check_files(source, outputs)
    return options


def _check_share(least: float | None, k: int) -> None:
    if least is not None and not 0 <= least <= 1 / k:
        raise InputError(f"--min-share must be between 0 and 1/k = {1 / k:.4g}; got {least!r}")


def _check_files(source: Source, outputs: Outputs) -> None:
    """Refuse files that are not there, or not Parquet, and a name for labels that tells no format."""
    outputs.check(None if is_uri(source.file) else source.path)
    if outputs.out is not None and not outputs.out.name.lower().removesuffix(".gz").endswith(TABLES):
        raise fault(outputs.out, "--engine dask writes labels as .csv, .tsv or .parquet; choose one of them")
    if os.path.isfile(source.file) and source.path.suffix not in SUFFIXES:
        raise fault(
            source.file,
            "--engine dask reads Parquet; hyperclus convert makes it of other formats, and the other engines "
            "read them as they are",
        )
    listed(source.file)


@contextmanager
def _crew(workplace: Workplace, voice: Voice) -> Iterator[tuple[WorkerPool, "Memory"]]:
    """The workers, whose clusters are looked for inside: shown by a bar, with a word if it is stopped."""
    place = printable(work_folder(workplace.work))

    def words() -> str:
        return f"{place} keeps what was done; the same command goes on where it was"

    with say_if_stopped(words), voice.listening(), ExitStack() as stack:
        with _ctrl_c_later():
            pool = stack.enter_context(WorkerPool.gathered(workplace.scheduler))
        stack.enter_context(pool.client.as_current())
        memory = Memory(pool.client)
        voice.note(_introduced(pool, workplace.scheduler is None))
        with suppress(KeyError):  # Dask's, where the scheduler has none
            if pool.dashboard:
                voice.note(f"dashboard: {pool.dashboard}")
        with progress(voice, "preparation", memory.look):
            yield pool, memory


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Hold Ctrl-C back while threads and processes start, which then never get it: this one ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _introduced(pool: WorkerPool, here: bool) -> str:
    """Who works."""
    workers = pool.workers
    least = min((worker.memory_limit for worker in workers), default=0)
    size = f" with {least / 1e9:.1f} GB each" if least else ""
    count = f"{len(workers)} worker{'s' * (len(workers) != 1)}" if workers else "no workers yet"
    if here:
        return f"{count} on this machine{size}; --scheduler ADDRESS has others"
    return f"{count} at {pool.address}{size}"


@dataclass(slots=True)
class Memory:
    """The memory of the fullest worker, looked at now and then."""

    client: Any
    now: int = 0
    most: int = 0
    limit: int = 0
    looked: float = -LOOK
    clock: Callable[[], float] = field(default=time.monotonic)

    def look(self) -> str:
        """What the fullest worker has now, in words; as of a moment ago."""
        if self.clock() - self.looked >= LOOK and self.client.status == "running":
            self.looked = self.clock()
            with suppress(Exception):  # no word of it ends a run
                self._ask()
        return f"a worker has {self.now / 1e9:.1f} GB" if self.now else ""

    def _ask(self) -> None:
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        self.now, self.limit = max(
            (int(one["metrics"].get("memory", 0)), int(one["memory_limit"] or 0)) for one in workers
        )
        self.most = max(self.most, self.now)

    @property
    def words(self) -> str:
        """The most that a worker was seen to have."""
        if not self.most:
            return ""
        limit = f" of {self.limit / 1e9:.1f}" if self.limit else ""
        return f"{self.most / 1e9:.2f}{limit} GB, seen in the fullest worker"
