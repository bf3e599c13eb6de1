"""Clusters of data that no one machine has to hold: Parquet files in, Parquet files of labels out.

The walk, its law, the eigenvectors, the search and the scores are those of `cluster`; they run on vectors
that lie in chunks on the workers of a Dask cluster (`engines.scattered`).
"""

import logging
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hyperclus._runtime.checkpoint import checkpoints
from hyperclus._runtime.files import StrPath, writing
from hyperclus._runtime.optional import arrow
from hyperclus.clustering import batch_search
from hyperclus.clustering._run import EffortName, check_min_share, default_min_share, search_in_batches
from hyperclus.clustering.cluster import cluster
from hyperclus.clustering.cut import cut
from hyperclus.clustering.partition import StoredPartition
from hyperclus.clustering.vertex_search import EFFORTS
from hyperclus.engines.dask.layout import Layout, laid_out
from hyperclus.engines.dask.prepare import prepare as prepare_on
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.engines.dask.runner import DaskRunner
from hyperclus.engines.dask.session import DaskProducts, DaskSession, Spent, StoredHypergraph, omega
from hyperclus.engines.dask.stages import site_at
from hyperclus.engines.dask.store import read_rows
from hyperclus.engines.dask.workers import WorkerPool
from hyperclus.errors import Argument, ClusterError, InputError, check_choice, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.eigen import Eigenpairs, smallest_eigenpairs
from hyperclus.spectral.factors import checked_alpha
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import DuplicatePolicy, Integers

WORK = "hyperclus-work"  # the folder for prepared data, where none is given

_log = logging.getLogger(__name__)


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
        Where the sorted copy goes, and what a run keeps: a place that every worker and this process see, with
        room for about 60 bytes per incidence. By default `hyperclus-work`, or what the environment variable
        HYPERCLUS_WORK says. The same call again finds what is there, and goes on where it was interrupted.
    vertex, edge, weight, edge_weight, duplicates
        As in `read`.
    scheduler : address, optional
        Of a Dask scheduler. Without it, the current client of Dask, or workers on this machine.

    Raises
    ------
    InputError, ClusterError
    """
    with WorkerPool.gathered(scheduler) as pool:
        given = {"vertex": vertex, "edge": edge, "weight": weight, "edge_weight": edge_weight}
        return _prepared(source, folder, pool, **given, duplicates=duplicates)


def cluster_files(
    source: StrPath | Sequence[StrPath] | Prepared,
    k: int = 2,
    *,
    effort: EffortName = "default",
    min_share: float | None = None,
    alpha: float = 0.0,
    tolerance: float = 1e-8,
    seed: int = 0,
    scheduler: str | None = None,
    folder: StrPath | None = None,
    columns: Mapping[str, Any] | None = None,
) -> StoredPartition:
    """Cluster Parquet files on the workers of a Dask cluster, none of which has to hold all data.

    The method is that of `cluster`, and so are the results, up to rounding. An interrupted call resumes when
    it is repeated.

    Parameters
    ----------
    source : file names or Prepared
        Parquet files with a row per incidence, as in `prepare`, or the result of `prepare`.
    k, effort, min_share, alpha, tolerance
        As in `cluster`.
    seed : int
        Random seed.
    scheduler : address, optional
        Of a Dask scheduler. By default the current Dask client, or new workers on this machine.
    folder : folder name, optional
        For sorted data, run files and labels, as in `prepare`.
    columns : mapping, optional
        Arguments of `prepare` about the columns: `vertex`, `edge`, `weight`, `edge_weight`, `duplicates`.

    Returns
    -------
    StoredPartition

    Raises
    ------
    InputError, ConvergenceError, ClusterError
    """
    check_integer("k", k)
    check_choice("effort", effort, tuple(EFFORTS))
    check_min_share(min_share, k)
    if isinstance(source, Hypergraph):
        raise InputError(
            "cluster_files reads Parquet files: give their names, or use hc.cluster for a Hypergraph"
        )
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool):
        raise InputError(f"seed must be a whole number, so that the run can be resumed; got {seed!r}")
    alpha = checked_alpha(alpha)
    if not (is_number(tolerance) and tolerance > 0):
        raise InputError(
            Argument("tolerance"), f" must be a positive number, such as 1e-8; got {tolerance!r}"
        )
    began = time.perf_counter()
    with WorkerPool.gathered(scheduler) as pool:
        prepared = (
            source if isinstance(source, Prepared) else _prepared(source, folder, pool, **columns or {})
        )
        if k > prepared.n_vertices:
            raise InputError(f"{k} clusters need at least {k} vertices; there are {prepared.n_vertices}")
        settings = {
            "k": int(k),
            "method": "cluster_files",
            "effort": effort,
            "min_share": min_share,
            "alpha": alpha,
            "bound": "eigenvalues",
            "tolerance": tolerance,
            "seed": int(seed),
            "engine": "dask",
        }
        run = _Run(prepared, pool, settings, {"preparation": time.perf_counter() - began})
        return run.clustered()


def _prepared(source: Any, folder: StrPath | None, pool: WorkerPool, **columns: Any) -> Prepared:
    work = Path(folder or os.environ.get("HYPERCLUS_WORK") or WORK).absolute()
    return prepare_on(source, work, pool, **columns)


@dataclass(slots=True, eq=False)
class _Run:
    """One run on prepared data: its folder, its settings, what each stage takes."""

    prepared: Prepared
    pool: WorkerPool
    settings: dict[str, Any]
    timings: dict[str, float]
    spent: dict[str, dict[str, float]] = field(default_factory=dict)

    def clustered(self) -> StoredPartition:
        """The steps of `cluster`, one after the other; interrupted, the same call goes on."""
        with self._timed("layout", None):
            layout = laid_out(self.prepared, self.pool)
        key = blake2b(repr(sorted(self.settings.items())).encode(), digest_size=8).hexdigest()
        folder = layout.folder / "runs" / key
        with _locked(folder):
            return self._clustered(layout, folder, key)

    def _clustered(self, layout: Layout, folder: Path, key: str) -> StoredPartition:
        vectors = folder / "vectors"
        vectors.mkdir(parents=True, exist_ok=True)
        site = layout.site(vectors, self.settings["alpha"])
        n = self.prepared.n_vertices
        there = DaskSession.on(site, n, DaskRunner(self.pool))
        with checkpoints(folder / "checkpoints", there):
            there.clean(folder / "checkpoints")
            walk, pairs, labels = self._found(there)
            with self._timed("scoring", there):
                k, sizes, rank = self.settings["k"], *_ranked(labels, self.settings["k"])
                scored = cut(walk, labels, k)
                scored = replace(scored, volumes=scored.volumes[rank], boundaries=scored.boundaries[rank])
            if ncut_lower_bound(pairs, k) > scored.ncut * (1 + 1e-9) + 1e-12:
                _log.warning("a small eigenvalue was missed, so the eigenvalues prove nothing here")
                pairs = replace(pairs, residuals=np.maximum(pairs.residuals, pairs.values))
            with self._timed("labels", there):
                output = self._written(there, labels, rank, key)
        components, none = walk.n_components, np.empty((0, 0))
        shutil.rmtree(folder, ignore_errors=True)
        return StoredPartition(
            output,
            *(n, self.prepared.n_edges, self.prepared.n_incidences),
            scored,
            replace(pairs, vectors=none, spare=none),
            sizes[rank],
            components,
            self.settings,
            self.timings,
            self.spent,
        )

    def _found(self, there: DaskSession) -> tuple[RandomWalk, Eigenpairs, Integers]:
        """The walk, the eigenpairs, and the labels of the lowest NCut found."""
        k, effort, given = self.settings["k"], self.settings["effort"], self.settings["min_share"]
        p = self.prepared
        rng = np.random.default_rng(self.settings["seed"])
        products = DaskProducts(there)
        far = StoredHypergraph(p, omega(there))
        with self._timed("stationary distribution", there):
            walk = RandomWalk(far, alpha=self.settings["alpha"], products=products)  # type: ignore[arg-type]
        seed = int(rng.integers(1 << 63))  # whatever the eigen-solver draws
        with self._timed("eigenvectors", there):
            pairs = smallest_eigenpairs(
                NormalizedLaplacian(walk),
                min(max(k, 2), p.n_vertices),
                tolerance=self.settings["tolerance"],
                seed=rng,
                spare=EFFORTS[effort].extra,
            )
        with self._timed("search", there):
            least = default_min_share(walk, k, None) if given is None else float(given)
            self.settings["min_share"] = least
            if k == 1:
                return walk, pairs, np.zeros_like(walk.stationary, dtype=np.int64)
            if not batch_search.pays(p.n_incidences, k):
                here = {name: self.settings[name] for name in ("k", "effort", "alpha", "tolerance", "seed")}
                found = walk.backend.run_on_one(_labels_here, far, {**here, "min_share": given})
                if found is not None:
                    return walk, pairs, found["labels"]
            return walk, pairs, search_in_batches(walk, pairs, k, effort, least, seed, None)

    def _written(self, there: DaskSession, labels: Any, rank: Integers, key: str) -> Path:
        """Files with the id and the cluster of each vertex, a task for each bucket of ids."""
        there.ensure(labels)
        output = self.prepared.folder / "labels" / key
        output.mkdir(parents=True, exist_ok=True)
        new = np.argsort(rank)
        tasks = [
            (self.prepared, there.place, labels.payload, new, number, output)
            for number, (first, last) in enumerate(pairwise(self.prepared.bucket_ends))
            if first < last
        ]
        for _ in self.pool.each(write_labels, tasks):
            pass
        return output

    @contextmanager
    def _timed(self, stage: str, there: DaskSession | None) -> Iterator[None]:
        """Add what is spent inside to a stage's account."""
        start, before = time.perf_counter(), Spent() if there is None else replace(there.spent)
        yield
        self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - start
        if there is not None:
            after = asdict(there.spent)
            self.spent[stage] = {name: after[name] - value for name, value in asdict(before).items()}


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Refuses a second run in a folder; the lock goes with the process, however that ends.

    It lies beside the folder, which is deleted at the end.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("a") as file:
        if find_spec("fcntl") is not None:
            fcntl = import_module("fcntl")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ClusterError(
                    "the same run is under way in another process; wait for it, or give another seed"
                ) from None
            except OSError:
                _log.info("the file system has no locks; see that nobody else makes the same run")
        yield


def _ranked(labels: Any, k: int) -> tuple[Integers, Integers]:
    """The sizes of the clusters, and the clusters by size."""
    sizes = np.bincount(labels, minlength=k).get().astype(np.int64)  # type: ignore[attr-defined]
    return sizes, np.argsort(-sizes, kind="stable")


def _labels_here(hypergraph: Hypergraph, settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The labels that the engine of one machine finds, for what is small."""
    return {}, {"labels": cluster(hypergraph, engine="cpu", **settings).labels}


def write_labels(
    prepared: Prepared, place: Path, name: str, new: Integers, bucket: int, output: Path
) -> None:
    """On a worker: the labels of a bucket of vertices, beside their ids."""
    pa, parquet = arrow(), arrow("pyarrow.parquet")
    first, last = prepared.bucket_ends[bucket : bucket + 2]
    table = parquet.read_table(prepared.bucket_path(bucket), use_threads=False)
    site = site_at(place)
    labels = new[read_rows(site.vectors, name, site.ends, first, last)]
    kind = pa.int8() if len(new) <= 128 else pa.int32()
    with writing(output / f"part-{bucket:05}.parquet") as file:
        parquet.write_table(table.append_column("cluster", pa.array(labels, kind)), file)
