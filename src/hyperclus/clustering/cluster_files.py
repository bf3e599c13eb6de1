"""Out-of-core clustering on a Dask cluster: Parquet files in, Parquet files of labels out.

The steps are those of `cluster`, on vectors that are divided among the workers (`engines.dask`).
"""

import json
import logging
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from hyperclus._runtime.checkpoint import checkpoints
from hyperclus._runtime.files import StrPath, writing
from hyperclus._runtime.lock import lock_folder
from hyperclus._runtime.optional import arrow
from hyperclus.clustering._run import Steps, check_k, check_min_share, search_in_batches
from hyperclus.clustering.cluster import cluster, search
from hyperclus.clustering.objectives import ObjectiveName, objective_of
from hyperclus.clustering.partition import StoredPartition
from hyperclus.clustering.search_problem import Effort, EffortName, SearchProblem, effort_of
from hyperclus.engines.dask.backend import DaskProducts, StoredHypergraph
from hyperclus.engines.dask.blocks import lay_out
from hyperclus.engines.dask.prepare import check_prepared
from hyperclus.engines.dask.prepare import prepare as prepare_on
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.engines.dask.schedule import width
from hyperclus.engines.dask.session import DaskSession, Spent
from hyperclus.engines.dask.source import TableOptions
from hyperclus.engines.dask.store import VECTOR_SHARE, read_rows, read_run_files
from hyperclus.engines.dask.workers import WorkerPool, WorkerState
from hyperclus.errors import Argument, InputError, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.factors import checked_alpha
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import DuplicatePolicy, Integers

FREE = 0.8  # of its memory that a worker may use before Dask pauses it
PROCESS_BYTES = 0.25e9  # of a worker with its libraries, measured

_log = logging.getLogger(__name__)


def work_folder(given: StrPath | None) -> Path:
    """The folder for sorted data, checkpoints and labels."""
    return Path(given or os.environ.get("HYPERCLUS_WORK") or "hyperclus-work")


def prepare(
    source: StrPath | Sequence[StrPath],
    folder: StrPath | None = None,
    *,
    vertex: str = "vertex",
    edge: str = "edge",
    weight: str | Literal[False] | None = None,
    edge_weight: str | Literal[False] | None = None,
    duplicates: DuplicatePolicy = "error",
    scheduler: str | None = None,
) -> Prepared:
    """Sort Parquet files for `cluster_files`, which otherwise does it itself.

    Parameters
    ----------
    source : file names
        A Parquet file, a folder of them, a pattern such as "s3://bucket/part-*.parquet", or a list.
    folder : folder name, optional
        For the sorted copy and the files of a run: a folder that all workers and this process can access,
        with room for about 60 bytes per incidence. By default the environment variable HYPERCLUS_WORK, or
        `hyperclus-work`. The same call again reuses what is there, and resumes after an interruption.
    vertex, edge, weight, edge_weight, duplicates
        As in `read`.
    scheduler : address, optional
        Of a Dask scheduler. By default the current Dask client, or new workers on this machine.

    Raises
    ------
    InputError
        For faulty data, and if a file is added, removed or changed during the preparation.
    ClusterError
        If the workers or the scheduler fail for good.
    """
    with WorkerPool.connect(scheduler) as pool:
        options = TableOptions(vertex, edge, weight, edge_weight, duplicates)
        return prepare_on(source, work_folder(folder), pool, options)


def cluster_files(
    source: StrPath | Sequence[StrPath] | Prepared,
    k: int = 2,
    *,
    objective: ObjectiveName = "information",
    effort: EffortName | Effort = "default",
    min_share: float | None = None,
    alpha: float = 0.0,
    tolerance: float = 1e-8,
    seed: int = 0,
    scheduler: str | None = None,
    folder: StrPath | None = None,
    columns: Mapping[str, Any] | None = None,
) -> StoredPartition:
    """Cluster Parquet files on the workers of a Dask cluster, none of which has to hold all data.

    The method is that of `cluster`, and so are the results, as with another `engine`. An interrupted call
    resumes when it is repeated.

    Parameters
    ----------
    source : file names or Prepared
        Parquet files with a row per incidence, as in `prepare`, or the result of `prepare`.
    k, objective, effort, min_share, alpha, tolerance
        As in `cluster`.
    seed : int
        Random seed.
    scheduler, folder
        As in `prepare`; labels are written to the folder, too.
    columns : mapping, optional
        Arguments of `prepare` about the columns: `vertex`, `edge`, `weight`, `edge_weight`, `duplicates`.

    Returns
    -------
    StoredPartition

    Raises
    ------
    InputError, ConvergenceError, ClusterError
    """
    if isinstance(source, Hypergraph):
        raise InputError(
            "cluster_files reads Parquet files: give their names, or use hc.cluster for a Hypergraph"
        )
    check_integer("k", k)
    check_min_share(min_share, k)
    objective_of(objective)
    effort_of(effort)
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool):
        raise InputError(
            Argument("seed"), f" must be a whole number, so that the run can be resumed; got {seed!r}"
        )
    if not (is_number(tolerance) and tolerance > 0):
        raise InputError(
            Argument("tolerance"), f" must be a positive number, such as 1e-8; got {tolerance!r}"
        )
    alpha, started = checked_alpha(alpha), time.perf_counter()
    with WorkerPool.connect(scheduler) as pool:
        if isinstance(source, Prepared):
            prepared = check_prepared(source, pool)
        else:
            prepared = prepare_on(source, work_folder(folder), pool, TableOptions(**columns or {}))
        check_k(k, prepared.n_vertices)
        warn_if_short(prepared, k, pool.workers())
        run = FilesRun(prepared, pool, alpha=alpha, tolerance=tolerance, seed=int(seed))
        run.timings["preparation"] = time.perf_counter() - started
        with run.session(int(k), objective, effort, min_share):
            return search(run, k, effort, min_share, {"method": "cluster_files", "objective": objective})


def warn_if_short(prepared: Prepared, k: int, workers: list[WorkerState]) -> None:
    """Log a warning if the workers may have too little memory for a run.

    A round takes, per vector, four numbers per vertex that the worker's hyperedges touch (received, gathered,
    computed, sent), three per vertex of its own chunk, and one per hyperedge.
    """
    limits = [worker.memory_limit for worker in workers if worker.memory_limit]
    parts, sizes = max(min(len(workers), len(prepared.partitions)), 1), prepared
    m, n, e = (ceil(size / parts) for size in (sizes.n_incidences, sizes.n_vertices, sizes.n_edges))
    numbers = width(k - 1, sizes.n_incidences) * (4 * min(sizes.n_vertices, m) + 3 * n + e)
    minimum = (PROCESS_BYTES + 8 * numbers) / (FREE - VECTOR_SHARE)
    if limits and minimum > min(limits):
        message = "a worker may need %.1f GB of memory and has %.1f GB; if workers die, use larger ones"
        _log.warning(message, minimum / 1e9, min(limits) / 1e9)


@dataclass(slots=True, eq=False)
class FilesRun(Steps[StoredPartition]):
    """One call on prepared files; inside `session` its vectors exist, and `spent` counts rounds by stage."""

    prepared: Prepared
    pool: WorkerPool
    spent: dict[str, dict[str, float]] = field(default_factory=dict)
    arguments: dict[str, Any] = field(init=False)
    key: str = field(init=False)
    vectors: DaskSession = field(init=False)
    total: Spent = field(default_factory=Spent)

    @contextmanager
    def session(
        self, k: int, objective: ObjectiveName, effort: EffortName | Effort, min_share: float | None
    ) -> Iterator[None]:
        """Open the files of the run, which an equal call resumes; they are deleted after it."""
        self.rng = np.random.default_rng(self.seed)
        self.arguments = {"k": k, "objective": objective, "effort": effort, "min_share": min_share}
        settings = k, objective, astuple(effort_of(effort)), min_share, self.alpha, self.tolerance, self.seed
        self.key = blake2b(json.dumps(settings, default=float).encode(), digest_size=8).hexdigest()
        with Steps.timed(self, "layout"):  # without rounds
            files = lay_out(self.prepared, self.pool, self.key, self.alpha)
        folder = files.vectors.parent
        with lock_folder(folder):
            files.vectors.mkdir(parents=True, exist_ok=True)
            self.vectors = DaskSession(files, self.pool)
            self.total = self.vectors.spent
            stored = StoredHypergraph(self.prepared, DaskProducts(self.vectors).edge_weights())
            self.whole = cast(Hypergraph, stored)  # has what the steps need
            with checkpoints(folder / "checkpoints", self.vectors):
                self.vectors.clean(folder / "checkpoints")
                yield
            shutil.rmtree(folder, ignore_errors=True)

    def walk(self, hypergraph: Hypergraph, k: int) -> RandomWalk:
        """Steps 1 to 3 of Algorithm 1, on the workers."""
        with self.timed("stationary distribution"):
            return RandomWalk(hypergraph, alpha=self.alpha, products=DaskProducts(self.vectors))

    def search(
        self, problem: SearchProblem, effort: Effort, seed: int, start: Integers | None = None
    ) -> Integers:
        """Search in batches; a small hypergraph is clustered by a worker that can hold it."""
        walk = problem.walk
        if problem.k == 1:
            return np.zeros_like(walk.stationary, dtype=np.int64)
        if not effort.in_batches(self.whole.n_incidences, problem.k, on_host=False):
            settings = {"alpha": self.alpha, "tolerance": self.tolerance, "seed": self.seed}
            found = walk.backend.run_on_one(_labels_on_one, self.whole, self.arguments | settings)
            if found is not None:
                return cast(Integers, found["labels"])
        return search_in_batches(problem, effort, seed, start)

    def partition(
        self, walk: RandomWalk, pairs: Eigenpairs, labels: Integers, k: int, settings: dict[str, Any]
    ) -> StoredPartition:
        """Score the clusters and write the labels."""
        order, sizes, scored, pairs = self.score(walk, pairs, labels, k)
        with self.timed("labels"):
            folder = self._write(labels, np.argsort(order))
        none = np.empty((0, 0))
        return StoredPartition(
            folder,
            *(self.whole.n_vertices, self.whole.n_edges, self.whole.n_incidences),
            scored,
            replace(pairs, vectors=none, spare=none),
            sizes,
            walk.n_components,
            {"k": k, **settings, **self.settings(walk)},
            self.timings,
            self.spent,
        )

    def _write(self, labels: Any, number: Integers) -> Path:
        """Write files with the id and the cluster of each vertex, a task for each bucket of ids."""
        self.vectors.ensure_stored(labels)
        folder = self.prepared.folder / "labels" / self.key
        folder.mkdir(parents=True, exist_ok=True)
        tasks = [
            (self.prepared, self.vectors.path, labels.payload, number, bucket, folder)
            for bucket, (first, last) in enumerate(pairwise(self.prepared.bucket_ends))
            if first < last
        ]
        for _ in self.pool.each(write_labels, tasks):
            pass
        return folder

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add seconds and rounds spent inside to those of a stage."""
        before = asdict(self.total)
        with Steps.timed(self, stage):  # super() does not work in a dataclass with slots
            yield
        self.spent[stage] = {name: value - before[name] for name, value in asdict(self.total).items()}


def _labels_on_one(hypergraph: Hypergraph, settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """On a worker: the labels of a small hypergraph."""
    return {}, {"labels": cluster(hypergraph, engine="cpu", **settings).labels}


def write_labels(
    prepared: Prepared, path: Path, name: str, number: Integers, bucket: int, folder: Path
) -> None:
    """On a worker: write the labels of a bucket of vertices, next to their ids."""
    pa, parquet = arrow(), arrow("pyarrow.parquet")
    first, last = prepared.bucket_ends[bucket : bucket + 2]
    table = parquet.read_table(prepared.bucket_path(bucket), use_threads=False)
    labels = number[read_rows(read_run_files(path), name, first, last)]
    kind = pa.int8() if len(number) <= 128 else pa.int32()
    with writing(folder / f"part-{bucket:05}.parquet") as file:
        parquet.write_table(table.append_column("cluster", pa.array(labels, kind)), file)
