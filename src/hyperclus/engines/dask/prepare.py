"""Preparation: from Parquet files to a hypergraph in partitions on disk, computed by the workers.

This is the client's part; `prepare_tasks` has what the workers do. An interrupted preparation resumes, a
finished one is found again, and two clients may prepare the same data at once.
"""

import json
import logging
import os
import shutil
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple, dataclass
from hashlib import sha256
from itertools import count
from math import ceil
from pathlib import Path
from typing import Any, get_args

import numpy as np

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.progress import report_progress
from hyperclus.engines.dask import prepare_tasks as tasks
from hyperclus.engines.dask import source as sources
from hyperclus.engines.dask.id_keys import Collision, common_type
from hyperclus.engines.dask.prepare_tasks import Job
from hyperclus.engines.dask.prepared import MANIFEST, Prepared
from hyperclus.engines.dask.source import Piece, Source, SourceFile, TableOptions, list_files
from hyperclus.engines.dask.store import DamagedError, file_fault, read_checked, write_checked
from hyperclus.engines.dask.workers import WorkerPool, WorkerState, memory_per_thread
from hyperclus.errors import ClusterError, InputError, check_choice
from hyperclus.hypergraph.messages import shown
from hyperclus.io.shared import naming
from hyperclus.typing import DuplicatePolicy

FORMAT = 6  # of the files on disk; part of the folder's key
ROW_BYTES = 64  # peak memory per row of a partition, measured
PIECE_BYTES = 400  # worker memory reserved per row of a piece, of which half is used
MEMORY_SHARE = 1 / 3  # of a worker's memory that a partition may take
MAX_INCIDENCES = 1 << 24  # per partition
FOOTERS = 32  # read by one task
COLLISION = "collision"  # file that marks a seed as unusable
WORK = ("pieces", "partitions", "buckets", *tasks.SIDES)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tuning:
    """How the work is divided: pieces of the input, from a number of rows to another, and partitions.

    From `max_pieces` on pieces become larger. Up to `ordered_rows` rows, hyperedges keep their order.
    """

    partitions: int | None = None
    min_piece_rows: int = 1 << 20
    max_piece_rows: int = 1 << 22
    max_pieces: int = 4096
    ordered_rows: int = 5_000_000

    def piece_rows(self, n_rows: int, memory: int) -> int:
        """Return the maximum number of rows of a piece; `memory` per thread is 0 if unlimited."""
        limit = min(max(self.min_piece_rows, n_rows // self.max_pieces), self.max_piece_rows)
        return min(limit, max(memory // PIECE_BYTES, 1000)) if memory else limit

    def n_partitions(self, n_rows: int, n_bytes: int, workers: list[WorkerState]) -> int:
        """Return a number of partitions that fit the memory and keep all workers busy."""
        if self.partitions is not None:
            return self.partitions
        memory, threads = memory_per_thread(workers), sum(worker.n_threads for worker in workers)
        by_memory = (n_rows * ROW_BYTES + n_bytes) / (MEMORY_SHARE * memory) if memory else 1
        least = max(2 * threads, ceil(n_rows / MAX_INCIDENCES), ceil(by_memory), 1)
        return -(-least // max(len(workers), 1)) * max(len(workers), 1)


def prepare(
    source: Source,
    folder: StrPath,
    pool: WorkerPool,
    options: TableOptions = TableOptions(),  # noqa: B008
    tuning: Tuning = Tuning(),  # noqa: B008
) -> Prepared:
    """Copy Parquet files, one row per incidence, into partitions of hyperedges with integers for ids.

    See `hyperclus.prepare`.
    """
    check_choice("duplicates", options.duplicates, get_args(DuplicatePolicy))
    if not isinstance(folder, str | os.PathLike) or sources.is_uri(os.fspath(folder)):
        raise InputError(f"folder must be the name of a folder that all workers share; got {shown(folder)}")
    files = list_files(source)
    for seed in count():  # of the hashes of ids; the folder is named by all that decides its content
        content = [FORMAT, [astuple(file)[1:] for file in files], astuple(options), tuning.partitions, seed]
        key = sha256(json.dumps(content, default=str).encode()).hexdigest()[:20]
        target = Path(os.path.abspath(folder), key)
        if (target / COLLISION).exists():
            continue
        preparation = _Preparation(source, files, options, tuning, target, seed, pool)
        try:
            try:
                return preparation.found() or preparation.run()
            except DamagedError as error:
                _log.warning("%s: the file is damaged or missing; the data are prepared again", error.path)
                discard(target)
                return preparation.run()
        except Collision:
            discard(target)
            (target / COLLISION).touch()
        except OSError as error:
            raise file_fault(error) from None
        except InputError:  # nothing can be reused once the data are corrected
            shutil.rmtree(target, ignore_errors=True)
            raise
    raise AssertionError


def check_prepared(prepared: Prepared, pool: WorkerPool) -> Prepared:
    """Raise a `DamagedError` unless all files of prepared data are as they were written.

    The sizes are checked here and the contents by the workers, a task for each partition.
    """
    shares: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for name, expected in prepared.files().items():
        path = prepared.folder / name
        if not path.is_file() or path.stat().st_size != expected[0]:
            raise DamagedError(path)
        shares[name.split("/")[1].partition(".")[0]][name] = expected
    for _ in pool.each(tasks.check_files, [(prepared.folder, share) for share in shares.values()]):
        pass
    return prepared


def discard(folder: Path) -> None:
    """Delete prepared data and what was computed from them, but for the labels of finished runs."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name != MANIFEST):  # the manifest first
        if path.is_dir() and path.name != "labels":
            shutil.rmtree(path)
        elif path.name != "labels":
            path.unlink(missing_ok=True)


@dataclass(slots=True)
class _Preparation:
    """Plans the tasks, runs them stage by stage, and writes the manifest."""

    source: Source
    files: list[SourceFile]
    options: TableOptions
    tuning: Tuning
    target: Path
    seed: int
    pool: WorkerPool

    def found(self) -> Prepared | None:
        """The data that an earlier call has prepared; None if there are none.

        `work` is there before `partitions`, and until the manifest is; without both, a manifest was lost.
        """
        lost = False
        for _ in range(2):  # another client may have written the manifest after the first look
            with suppress(FileNotFoundError, NotADirectoryError):
                return check_prepared(Prepared.at(self.target), self.pool)
            lost = (self.target / "partitions").exists() and not (self.target / "work").exists()
        if lost:
            raise DamagedError(self.target / MANIFEST)
        return None

    def run(self) -> Prepared:
        try:
            for name in (*(f"work/{name}" for name in WORK), "partitions", "vertices"):
                (self.target / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"the folder cannot be written: {error.strerror}; choose another one"
            raise fault(self.target.parent, message) from None
        try:
            manifest = self._run_stages(*self._plan())
        except Exception as error:
            if (self.target / MANIFEST).exists():  # another client finished first and deleted its work
                return Prepared.at(self.target)
            if isinstance(error, InputError):  # a changed file may be the reason
                sources.check_unchanged(self.files, list_files(self.source))
            raise
        sources.check_unchanged(self.files, list_files(self.source))
        write_checked(self.target / MANIFEST, manifest)
        shutil.rmtree(self.target / "work", ignore_errors=True)
        if not manifest["weighted"]:
            for path in (self.target / "partitions").glob("*/gamma.npy"):
                path.unlink(missing_ok=True)
        return Prepared.at(self.target)

    def _plan(self) -> tuple[Job, list[Piece]]:
        """Divide the work; a restart keeps the division, although it may have other workers."""
        groups = [self.files[start : start + FOOTERS] for start in range(0, len(self.files), FOOTERS)]
        read = dict(self.pool.each(sources.read_footers, [(group, self.options) for group in groups]))
        footers = [footer for number in range(len(groups)) for footer in read[number]]
        columns = sources.check_footers(self.files, footers, self.source)
        name = sources.describe(self.source)
        with naming(name):
            vertex_type = common_type([footer.types[0] for footer in footers], columns.vertex)
            edge_type = common_type([footer.types[1] for footer in footers], columns.edge)
        n_rows = sum(sum(footer.rows) for footer in footers)
        path = self.target / "work" / "division.json"
        if not path.exists():
            if any((path.parent / "pieces").iterdir()) and not path.exists():
                raise DamagedError(path)
            workers, n_bytes = self.pool.workers(), sum(sum(footer.sizes) for footer in footers)
            rows = self.tuning.piece_rows(n_rows, memory_per_thread(workers))
            write_checked(path, [self.tuning.n_partitions(n_rows, n_bytes, workers), rows])
        n_partitions, rows = read_checked(path)
        pieces = [
            piece
            for file, footer in zip(self.files, footers, strict=True)
            for piece in sources.split(file, footer, rows, 8 * len(sources.column_names(columns)) * rows)
        ]
        what = self.target, name, columns, (vertex_type, edge_type), self.options.duplicates
        how = n_partitions, len(pieces), self.seed, n_rows <= self.tuning.ordered_rows
        return Job(*what, *how), pieces

    def _run_stages(self, job: Job, pieces: list[Piece]) -> dict[str, Any]:
        """Run all tasks; return the manifest."""
        n_rows = sum(piece.n_rows for piece in pieces)

        def run(stage: str, start: float, end: float, task: Callable[..., Any], arguments: Any) -> list[Any]:
            results: list[Any] = [None] * len(arguments)
            for finished, (place, result) in enumerate(self.pool.each(task, arguments), 1):
                results[place] = result
                share = start + (end - start) * finished / len(arguments)
                note = f"{stage} {finished:,} of {len(arguments):,}"
                report_progress("preparation", share * n_rows, "rows", share, note)
            return results

        numbers = range(job.n_partitions)
        found = run("pieces", 0.0, 0.5, tasks.scatter_piece, [(job, *piece) for piece in enumerate(pieces)])
        weighted = job.duplicates == "sum" or not all(ones for ones, _ in found)
        rows = np.sum([counts for _, counts in found], axis=0).tolist()
        memory, largest = memory_per_thread(self.pool.workers()), max(rows)
        if memory and largest * ROW_BYTES > memory:
            raise ClusterError(
                f"partition {rows.index(largest)} has {largest:,} rows and needs about "
                f"{largest * ROW_BYTES / 1e9:.1f} GB, but a worker has {memory / 1e9:.1f} GB; give each "
                "worker more memory or, unless a single hyperedge is that large, start more workers and "
                "prepare the data in another folder"
            )
        partitions = [(job, p, rows[p], weighted) for p in numbers]
        sizes = run("partitions", 0.5, 0.9, tasks.build_partition, partitions)
        n_vertices = run("vertices", 0.9, 0.97, tasks.number_bucket, [(job, q) for q in numbers])
        ends = np.append(0, np.cumsum(n_vertices))
        files = run("numbers", 0.97, 1.0, tasks.number_vertices, [(job, p, ends[:-1]) for p in numbers])
        weighted = not all(size[3] for size in sizes)
        return {
            "n_vertices": int(ends[-1]),
            "n_edges": sum(size[0] for size in sizes),
            "n_incidences": sum(size[2] for size in sizes),
            "weighted": weighted,
            "edge_weighted": job.columns.edge_weight is not None,
            "bucket_ends": ends.tolist(),
            "partitions": [size[:3] for size in sizes],
            "vertex": job.columns.vertex,
            "edge": job.columns.edge,
            "files": {
                name: facts
                for some in files
                for name, facts in some.items()
                if weighted or not name.endswith("/gamma.npy")
            },
        }
