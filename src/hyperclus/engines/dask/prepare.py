"""Preparation: from Parquet files to a hypergraph in partitions on disk, computed by the workers.

Each task writes one file or folder atomically, and nothing if it exists already:

    scatter_piece       rows of the input -> a file with the rows sorted by partition
    build_partition     its rows in all pieces -> hyperedges with local vertex numbers, and the vertex keys
    number_bucket       its vertex keys in all partitions -> the ids of its vertices, and their positions
    number_vertices     positions in all buckets -> the global number of each vertex of a partition

A hash of its id assigns each hyperedge to a partition, and each vertex to a bucket. An interrupted
preparation resumes, a finished one is found again, and two clients may prepare the same data at once.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from hashlib import sha256
from itertools import count, pairwise
from math import ceil
from pathlib import Path
from typing import Any, get_args

import numpy as np

from hyperclus._runtime.arrays import take
from hyperclus._runtime.files import StrPath, atomic_path, fault
from hyperclus._runtime.optional import arrow
from hyperclus._runtime.progress import report_progress
from hyperclus.engines.dask import id_keys
from hyperclus.engines.dask.id_keys import Collision, HashedIds, as_objects, numbered, share_of
from hyperclus.engines.dask.prepared import MANIFEST, Prepared, bucket_path, partition_path
from hyperclus.engines.dask.source import (
    Footer,
    Piece,
    Source,
    SourceFile,
    TableOptions,
    check_footers,
    check_unchanged,
    column_names,
    describe,
    is_uri,
    list_files,
    read_batches,
    read_footers,
    split,
)
from hyperclus.engines.dask.workers import WorkerPool, WorkerState, memory_per_thread
from hyperclus.errors import ClusterError, InputError, check_choice, check_integer
from hyperclus.hypergraph.incidence import constant_within, from_coordinates
from hyperclus.hypergraph.messages import named, shown
from hyperclus.io.tables.long import LongColumns, checked_weights
from hyperclus.typing import DuplicatePolicy, Integers

FORMAT = 4  # of the files on disk; part of the folder's key
ROW_BYTES = 64  # peak memory per row of a partition, measured
PIECE_BYTES = 400  # worker memory reserved per row of a piece, of which half is used
MEMORY_SHARE = 1 / 3  # of a worker's memory that a partition may take
MAX_INCIDENCES = 1 << 24  # per partition
FOOTERS = 32  # read by one task
COLLISION = "collision"  # file that marks a seed as unusable
FOLDERS = ("partitions", "vertices", "work/pieces", "work/partitions", "work/buckets")
PROGRESS = {"pieces": 0.5, "partitions": 0.9, "vertices": 0.97, "numbers": 1.0}  # share done after each stage


@dataclass(frozen=True, slots=True)
class Tuning:
    """Sizes that decide how the work is split.

    Attributes
    ----------
    partitions : int, optional
        By default so many that each takes a third of a worker's memory at most.
    min_piece_rows, max_piece_rows : int
        Pieces have at least and at most this many rows, if the memory of the workers allows it.
    max_pieces : int
        From this many pieces on, pieces become larger.
    ordered_rows : int
        Up to this many rows, the order of the hyperedges is kept.
    """

    partitions: int | None = None
    min_piece_rows: int = 1 << 20
    max_piece_rows: int = 1 << 22
    max_pieces: int = 4096
    ordered_rows: int = 5_000_000

    def piece_rows(self, n_rows: int, memory: int) -> int:
        """Rows of a piece, at most; `memory` is that of a worker's thread, 0 if unlimited."""
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


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that the tasks of one preparation share."""

    folder: Path
    source: str
    columns: LongColumns
    types: tuple[Any, Any]  # Arrow types of the ids of vertices and hyperedges
    duplicates: DuplicatePolicy
    n_partitions: int  # there are as many buckets
    n_pieces: int
    seed: int
    ordered: bool

    def work(self, stage: str, number: int) -> Path:
        """Return a temporary file."""
        return self.folder / "work" / stage / f"{number:07}"

    def partitions_of(self, edge_keys: Integers) -> Any:
        """Return the partition of each hyperedge."""
        return share_of(edge_keys, self.n_partitions, 1)

    def buckets_of(self, vertex_keys: Integers) -> Any:
        """Return the bucket of each vertex."""
        return share_of(vertex_keys, self.n_partitions, 2)

    def vertex_ids(self, bucket: int, keys: Integers) -> Any:
        """Look up the ids of some vertices of a bucket."""
        return self._ids(self.types[0], ".vertices", bucket, keys)

    def edge_ids(self, partition: int, keys: Integers) -> Any:
        """Look up the ids of some hyperedges of a partition."""
        return self._ids(self.types[1], ".edges", partition, keys)

    def _ids(self, kind: Any, suffix: str, number: int, keys: Integers) -> Any:
        if id_keys.is_direct(kind):
            return id_keys.direct_ids(keys, kind)
        paths = [self.work("pieces", piece).with_suffix(suffix) for piece in range(self.n_pieces)]
        batches = [read_slice(path, number) for path in paths]
        hashed = [HashedIds(batch.column("key").to_numpy(), batch.column("id")) for batch in batches]
        return HashedIds.merged(hashed).ids_of(keys).cast(kind)


def prepare(
    source: Source,
    folder: StrPath,
    pool: WorkerPool,
    options: TableOptions = TableOptions(),  # noqa: B008
    tuning: Tuning = Tuning(),  # noqa: B008
) -> Prepared:
    """Copy Parquet files, one row per incidence, into partitions of hyperedges with integers for ids.

    Parameters
    ----------
    source : file name, folder, pattern or URI, or a list of them
        Such as "s3://bucket/incidences/*.parquet".
    folder : folder name
        Folder for the copy, shared by all workers. The same call again finds the copy there.

    Raises
    ------
    InputError
        For faulty data, and if a file is added, removed or changed during the preparation.
    ClusterError
        If the workers or the scheduler fail for good.
    """
    check_choice("duplicates", options.duplicates, get_args(DuplicatePolicy))
    if tuning.partitions is not None:
        check_integer("partitions", tuning.partitions)
    if not isinstance(folder, str | os.PathLike) or is_uri(os.fspath(folder)):
        raise InputError(f"folder must be the name of a folder that all workers share; got {shown(folder)}")
    files = list_files(source)
    while True:
        target, seed = prepared_folder(folder, files, options, tuning)
        try:
            with suppress(FileNotFoundError, NotADirectoryError):
                return Prepared.at(target)
            _make_folders(target)
            return _Preparation(source, files, options, tuning, target, seed, pool).run()
        except Collision:
            (target / COLLISION).touch()
            for part in ("partitions", "vertices", "work"):
                shutil.rmtree(target / part, ignore_errors=True)
        except InputError:  # nothing can be reused once the data are corrected
            shutil.rmtree(target, ignore_errors=True)
            raise


def prepared_folder(
    folder: StrPath,
    files: list[SourceFile],
    options: TableOptions,
    tuning: Tuning = Tuning(),  # noqa: B008
) -> tuple[Path, int]:
    """Return the folder of prepared data, and the seed of the hash: the first one without collisions.

    The folder's name is a hash of everything that decides its content.
    """
    for seed in count():
        content = [FORMAT, [astuple(file)[1:] for file in files], astuple(options), tuning.partitions, seed]
        key = sha256(json.dumps(content, default=repr).encode()).hexdigest()[:20]
        target = Path(os.path.abspath(folder), key)
        if not (target / COLLISION).exists():
            return target, seed
    raise AssertionError


def _make_folders(target: Path) -> None:
    try:
        for name in FOLDERS:
            (target / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder cannot be written: {error.strerror}; choose another one"
        raise fault(target.parent, message) from None


@dataclass(slots=True)
class _Preparation:
    """The client's part: plan the tasks, run them stage by stage, write the manifest."""

    source: Source
    files: list[SourceFile]
    options: TableOptions
    tuning: Tuning
    target: Path
    seed: int
    pool: WorkerPool

    def run(self) -> Prepared:
        """Run what is left to do."""
        try:
            job, pieces = self._plan()
            manifest = self._run_stages(job, pieces)
        except Exception as error:
            if (self.target / MANIFEST).exists():  # another client finished first and deleted its work
                return Prepared.at(self.target)
            if isinstance(error, InputError):  # a changed file may be the reason
                check_unchanged(self.files, list_files(self.source))
            raise
        check_unchanged(self.files, list_files(self.source))
        with atomic_path(self.target / MANIFEST) as path:
            path.write_text(json.dumps(manifest))
        shutil.rmtree(self.target / "work", ignore_errors=True)
        if not manifest["weighted"]:
            for path in (self.target / "partitions").glob("*/gamma.npy"):
                path.unlink(missing_ok=True)
        return Prepared.at(self.target)

    def _plan(self) -> tuple[Job, list[Piece]]:
        """Divide the work; a restart keeps the division, although it may have other workers."""
        footers = self._footers()
        columns = check_footers(self.files, footers, self.source)
        with naming(describe(self.source)):
            types = [
                id_keys.common_type([footer.types[place] for footer in footers], name)
                for place, name in enumerate((columns.vertex, columns.edge))
            ]
        n_rows = sum(sum(footer.rows) for footer in footers)
        path = self.target / "work" / "division.json"
        if not path.exists():
            workers, n_bytes = self.pool.workers(), sum(sum(footer.sizes) for footer in footers)
            piece_rows = self.tuning.piece_rows(n_rows, memory_per_thread(workers))
            with atomic_path(path) as part:
                division = [self.tuning.n_partitions(n_rows, n_bytes, workers), piece_rows]
                part.write_text(json.dumps(division))
        n_partitions, piece_rows = json.loads(path.read_text())
        pieces = [
            piece
            for file, footer in zip(self.files, footers, strict=True)
            for piece in split(file, footer, piece_rows, 8 * len(column_names(columns)) * piece_rows)
        ]
        ordered = n_rows <= self.tuning.ordered_rows
        job = Job(
            *(self.target, describe(self.source), columns, (types[0], types[1]), self.options.duplicates),
            *(n_partitions, len(pieces), self.seed, ordered),
        )
        return job, pieces

    def _footers(self) -> list[Footer]:
        """Read the footers of all files on the workers."""
        groups = [self.files[start : start + FOOTERS] for start in range(0, len(self.files), FOOTERS)]
        found = dict(self.pool.each(read_footers, [(group, self.options) for group in groups]))
        return [footer for number in range(len(groups)) for footer in found[number]]

    def _run_stages(self, job: Job, pieces: list[Piece]) -> dict[str, Any]:
        """Run all tasks; return the manifest."""
        total, columns = sum(piece.n_rows for piece in pieces), job.columns

        def run(stage: str, task: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
            results: list[Any] = [None] * len(arguments)
            end, start = PROGRESS[stage], max(s for s in (0.0, *PROGRESS.values()) if s < PROGRESS[stage])
            for finished, (place, result) in enumerate(self.pool.each(task, arguments), 1):
                results[place] = result
                share = start + (end - start) * finished / len(arguments)
                note = f"{stage} {finished:,} of {len(arguments):,}"
                report_progress("preparation", share * total, "rows", share, note)
            return results

        numbers = range(job.n_partitions)
        scattered = run("pieces", scatter_piece, [(job, *piece) for piece in enumerate(pieces)])
        weighted = job.duplicates == "sum" or not all(ones for ones, _ in scattered)
        n_rows = np.sum([counts for _, counts in scattered], axis=0).tolist()
        self._check_memory(n_rows)
        sizes = run("partitions", build_partition, [(job, p, n_rows[p], weighted) for p in numbers])
        n_vertices = run("vertices", number_bucket, [(job, q) for q in numbers])
        ends = np.append(0, np.cumsum(n_vertices))
        run("numbers", number_vertices, [(job, p, ends[:-1]) for p in numbers])
        return {
            "n_vertices": int(ends[-1]),
            "n_edges": sum(size[0] for size in sizes),
            "n_incidences": sum(size[2] for size in sizes),
            "weighted": not all(size[3] for size in sizes),
            "edge_weighted": columns.edge_weight is not None,
            "bucket_ends": ends.tolist(),
            "partitions": [size[:3] for size in sizes],
            "vertex": columns.vertex,
            "edge": columns.edge,
        }

    def _check_memory(self, n_rows: list[int]) -> None:
        """Raise a `ClusterError` if a partition does not fit a worker."""
        memory, largest = memory_per_thread(self.pool.workers()), max(n_rows)
        if memory and largest * ROW_BYTES > memory:
            raise ClusterError(
                f"partition {n_rows.index(largest)} has {largest:,} rows and needs about "
                f"{largest * ROW_BYTES / 1e9:.1f} GB, but a worker has {memory / 1e9:.1f} GB; give each "
                "worker more memory or, unless a single hyperedge is that large, start more workers and "
                "prepare the data in another folder"
            )


def scatter_piece(job: Job, number: int, piece: Piece) -> Any:
    """Write the rows of a piece by partition; return whether all weights are 1, and rows per partition."""
    path = job.work("pieces", number)
    if not path.exists():
        rows, ids = _read_rows(job, piece)
        ones = "weight" not in rows or bool((rows["weight"] == 1).all())
        if job.ordered:
            rows["position"] = np.arange(piece.n_rows) + (number << 32)
        for suffix, (hashed, shares_of) in ids.items():
            batch = arrow().record_batch({"key": hashed.keys, "id": hashed.ids})
            write_slices(path.with_suffix(suffix), batch, shares_of(hashed.keys), job.n_partitions)
        shares = job.partitions_of(rows["edge"])
        counts = np.bincount(shares, minlength=job.n_partitions).tolist()
        write_slices(path, arrow().record_batch(rows), shares, job.n_partitions, [ones, counts])
        arrow().default_memory_pool().release_unused()
    return read_facts(path)


def _read_rows(job: Job, piece: Piece) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the keys and weights of a piece; also the hashed ids by file suffix, with their shares."""
    columns, file = job.columns, piece.file
    roles = {"edge": columns.edge, "vertex": columns.vertex}
    kinds = {"edge": job.types[1], "vertex": job.types[0]}
    roles |= {name: column for name in ("weight", "edge_weight") if (column := getattr(columns, name))}
    rows: dict[str, Any] = {
        role: np.empty(piece.n_rows, dtype=np.int64 if role in kinds else np.float64) for role in roles
    }
    found: dict[str, list[HashedIds]] = {role: [] for role in kinds if not id_keys.is_direct(kinds[role])}
    done = 0
    for row, batch in read_batches(piece, columns):
        inside = slice(done, done + len(batch))
        for role, name in roles.items():
            column = batch.column(name)
            if role in kinds:
                rows[role][inside], hashed = _keys(file, name, column, row, kinds[role], job.seed)
                found.get(role, []).extend(hashed)
            else:
                rows[role][inside] = checked_weights(file, name, column, row)  # type: ignore[arg-type]
        if "edge_weight" in rows and not rows["edge_weight"][inside].all():
            first = int(np.argmin(rows["edge_weight"][inside]))
            edge = shown(batch.column(columns.edge)[first].as_py())
            message = f"the weight of hyperedge {edge} is 0; leave the hyperedge out instead"
            raise file.fault(f"column {shown(columns.edge_weight)}: {message}", row + first)
        done = inside.stop
    shares = {"edge": (".edges", job.partitions_of), "vertex": (".vertices", job.buckets_of)}
    return rows, {shares[role][0]: (HashedIds.merged(some), shares[role][1]) for role, some in found.items()}


def _keys(
    file: SourceFile, name: str, column: Any, row: int, kind: Any, seed: int
) -> tuple[Integers, list[HashedIds]]:
    """Return the keys of a batch of ids, and the distinct ids if they are hashed."""
    is_dictionary, direct = arrow().types.is_dictionary(column.type), id_keys.is_direct(kind)
    if is_dictionary and (column.dictionary.null_count or direct):
        column, is_dictionary = column.dictionary_decode(), False
    if column.null_count:
        first = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        message = f"column {shown(name)}: the value is missing; fill it or leave the row out"
        raise file.fault(message, row + first)
    if direct:
        try:
            return id_keys.direct_keys(column, kind), []
        except arrow().ArrowInvalid:
            message = f"column {shown(name)}: an id from here on is too large for 64 bits; use text"
            raise file.fault(message, row) from None
    encoded = column if is_dictionary else column.dictionary_encode()
    hashed = id_keys.hash_ids(encoded.dictionary, kind, seed)
    return hashed.keys[encoded.indices.to_numpy(zero_copy_only=False)], [hashed]


def build_partition(job: Job, number: int, n_rows: int, weighted: bool) -> Any:
    """Write a partition; return its hyperedges, vertices, incidences, and whether all gammas are 1.

    The keys of its vertices go to a temporary file, sorted by bucket.
    """
    path = job.work("partitions", number)
    if not path.exists():
        with naming(job.source):
            arrays, edge_ids, keys, buckets, covered = _assemble(job, number, n_rows, weighted)
        ones = not weighted or bool((arrays["gamma"] == 1).all())
        sizes = [len(edge_ids), int(covered.sum()), len(arrays["members"]), ones]
        with atomic_path(partition_path(job.folder, number), temporary_in=job.folder / "work") as folder:
            folder.mkdir()
            for name, array in arrays.items():
                np.save(folder / f"{name}.npy", array)
            _write_ids(folder / "edges.parquet", job.columns.edge, edge_ids)
        batch = arrow().record_batch({"key": keys, "covered": covered})
        write_slices(path, batch, buckets, job.n_partitions, sizes)
        arrow().default_memory_pool().release_unused()
    return read_facts(path)


def _assemble(
    job: Job, number: int, n_rows: int, weighted: bool
) -> tuple[dict[str, Any], Any, Any, Any, Any]:
    """Return the arrays of a partition, its edge ids, and the key, bucket and presence of each vertex."""
    rows = _gather(job, number, n_rows, weighted)
    edge_keys, edges = numbered(rows.pop("edge"))
    arrays: dict[str, Any] = {}
    if job.ordered:
        arrays["order"] = np.full(len(edge_keys), np.iinfo(np.int64).max)
        np.minimum.at(arrays["order"], edges, rows.pop("position"))
    edge_ids: Any = _LazyIds(edge_keys, lambda keys: job.edge_ids(number, keys))
    if "edge_weight" in rows:
        arrays["edge_weights"] = constant_within(rows.pop("edge_weight"), edges, edge_ids)
    keys, vertices = numbered(rows.pop("vertex"))
    order = np.argsort(job.buckets_of(keys), kind="stable")  # by bucket, then by key
    rank = np.empty(len(keys), dtype=np.int32)
    rank[order] = np.arange(len(keys), dtype=np.int32)
    keys, vertices = keys[order], take(rank, vertices)
    buckets = job.buckets_of(keys)
    vertex_ids: Any = _LazyIds(keys, lambda some: job.vertex_ids(int(job.buckets_of(some)[0]), some))
    gamma = rows.pop("weight", None)
    gamma = np.ones(n_rows) if gamma is None else gamma
    matrix = from_coordinates(edges, vertices, gamma, edge_ids, vertex_ids, job.duplicates)
    empty = np.diff(matrix.indptr) == 0
    if empty.any():
        raise InputError(
            f"no vertex is in hyperedge {named(edge_ids, empty)}; its weights are 0, correct them or leave "
            "its rows out"
        )
    covered = np.zeros(len(keys), dtype=bool)
    covered[matrix.indices] = True
    members = matrix.indices
    if not covered.all():
        members = take(np.cumsum(covered, dtype=np.int32) - 1, members)
    arrays["indptr"], arrays["members"] = matrix.indptr.astype(np.int64), members.astype(np.int32, copy=False)
    if weighted:
        arrays["gamma"] = matrix.data
    return arrays, job.edge_ids(number, edge_keys), keys, buckets, covered


def _gather(job: Job, number: int, n_rows: int, weighted: bool) -> dict[str, Any]:
    """Read the rows of a partition from all pieces, column by column."""
    columns: dict[str, Any] = {}
    start = 0
    for piece in range(job.n_pieces):
        batch = read_slice(job.work("pieces", piece), number)
        inside = slice(start, start + len(batch))
        for name in batch.schema.names:
            if name != "weight" or weighted:
                values = batch.column(name).to_numpy()
                columns.setdefault(name, np.empty(n_rows, dtype=values.dtype))[inside] = values
        start = inside.stop
    return columns


class _LazyIds:
    """Ids by position that are looked up only if an error message names them."""

    def __init__(self, keys: Integers, lookup: Callable[[Integers], Any]) -> None:
        self._keys, self._lookup = keys, lookup

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, np.ndarray):
            return as_objects(self._lookup(self._keys[place]))
        return as_objects(self._lookup(self._keys[[place]]))[0]


def number_bucket(job: Job, number: int) -> Any:
    """Write the ids of a bucket, and the positions of each partition's vertices in it; return its size."""
    path = job.work("buckets", number)
    if not path.exists():
        slices = [read_slice(job.work("partitions", p), number) for p in range(job.n_partitions)]
        keys = [batch.column("key").to_numpy() for batch in slices]
        covered = [batch.column("covered").to_numpy(zero_copy_only=False) for batch in slices]
        absent = np.concatenate([some[~inside] for some, inside in zip(keys, covered, strict=True)])
        keys = [some[inside] for some, inside in zip(keys, covered, strict=True)]
        del slices
        distinct, positions = numbered(np.concatenate(keys))
        missing = np.setdiff1d(absent, distinct)
        if len(missing):
            ids = as_objects(job.vertex_ids(number, missing))
            name = named(ids, np.ones(len(ids), dtype=bool))
            message = (
                f"no hyperedge holds vertex {name}; its weights are 0, correct them or leave its rows out"
            )
            raise fault(job.source, message)
        with atomic_path(bucket_path(job.folder, number), temporary_in=job.folder / "work") as part:
            _write_ids(part, job.columns.vertex, job.vertex_ids(number, distinct))
        owners = np.repeat(np.arange(job.n_partitions), [len(some) for some in keys])
        batch = arrow().record_batch({"position": positions})
        write_slices(path, batch, owners, job.n_partitions, len(distinct))
        arrow().default_memory_pool().release_unused()
    return read_facts(path)


def number_vertices(job: Job, number: int, starts: Integers) -> None:
    """Write the global numbers of the vertices of a partition; `starts` are the first ones of the buckets."""
    path = partition_path(job.folder, number) / "vertices.npy"
    if not path.exists():
        numbers = [
            read_slice(job.work("buckets", bucket), number).column("position").to_numpy() + start
            for bucket, start in enumerate(starts)
        ]
        with atomic_path(path, temporary_in=job.folder / "work") as part, part.open("wb") as file:
            np.save(file, np.concatenate(numbers).astype(np.int64, copy=False))


def write_slices(path: Path, batch: Any, shares: Any, count: int, facts: Any = None) -> None:
    """Write a record batch as an Arrow file with one slice for each share, and some facts as JSON."""
    order = np.argsort(shares, kind="stable")
    ends = np.append(0, np.cumsum(np.bincount(shares, minlength=count))).tolist()
    batch = batch.take(arrow().array(order))
    schema = batch.schema.with_metadata({"facts": json.dumps(facts)})
    with atomic_path(path) as part, arrow("pyarrow.ipc").new_file(str(part), schema) as writer:
        for start, stop in pairwise(ends):
            writer.write_batch(batch.slice(start, stop - start))


def read_slice(path: Path, number: int) -> Any:
    """Read one slice of a file that `write_slices` wrote."""
    with _open_slices(path) as reader:
        return reader.get_batch(number)


def read_facts(path: Path) -> Any:
    """Read the facts of a file that `write_slices` wrote."""
    with _open_slices(path) as reader:
        return json.loads(reader.schema.metadata[b"facts"])


@contextmanager
def _open_slices(path: Path) -> Iterator[Any]:
    try:
        with arrow().OSFile(str(path)) as file:
            yield arrow("pyarrow.ipc").open_file(file)
    except FileNotFoundError:
        raise ClusterError(
            f"{path}: a file that another worker wrote is missing; all workers must share the folder"
        ) from None


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Add the name of the input to errors that do not have it."""
    try:
        yield
    except InputError as error:
        raise fault(source, str(error)) from None


def _write_ids(path: Path, name: str, ids: Any) -> None:
    arrow("pyarrow.parquet").write_table(arrow().table({name: ids}), path)
