"""The tasks of a preparation, which run on the workers.

    scatter_piece      rows of the input -> the same rows, sorted by partition
    build_partition    its rows in all pieces -> hyperedges with local vertex numbers, and the vertex keys
    number_bucket      its vertex keys in all partitions -> the ids of its vertices, and their positions
    number_vertices    positions in all buckets -> the global number of each vertex of a partition

A hash of its id assigns each hyperedge to a partition, and each vertex to a bucket. Each task writes
atomically, and nothing if its output exists. Tasks pass on Arrow files with one slice for each receiver.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hyperclus._runtime.arrays import take
from hyperclus._runtime.files import atomic_path, fault
from hyperclus._runtime.optional import arrow
from hyperclus.engines.dask import id_keys
from hyperclus.engines.dask.id_keys import HashedIds, as_objects, family, numbered
from hyperclus.engines.dask.prepared import DataFolder
from hyperclus.engines.dask.source import Piece, SourceFile, read_batches
from hyperclus.engines.dask.store import DamagedError, checksum
from hyperclus.errors import ClusterError, InputError
from hyperclus.hypergraph.incidence import constant_within, from_coordinates
from hyperclus.hypergraph.messages import first_few, named, shown
from hyperclus.io.shared import naming
from hyperclus.io.tables.long import LongColumns, checked_weights
from hyperclus.typing import DuplicatePolicy, Integers

SIDES = ("vertex-ids", "edge-ids")  # folders of hashed ids, by side


@dataclass(frozen=True, slots=True)
class Job(DataFolder):
    """What all tasks of a preparation share."""

    folder: Path
    source: str
    columns: LongColumns
    types: tuple[Any, Any]  # Arrow types of the ids of vertices and hyperedges
    duplicates: DuplicatePolicy
    n_partitions: int  # there are as many buckets
    n_pieces: int
    seed: int
    ordered: bool  # whether to keep the order of the hyperedges

    def work(self, stage: str, number: int) -> Path:
        return self.folder / "work" / stage / f"{number:07}"

    def shares(self, side: int, keys: Integers) -> Any:
        """Return the bucket of each vertex (side 0), or the partition of each hyperedge (side 1)."""
        return id_keys.share_of(keys, self.n_partitions, 2 - side)

    def ids(self, side: int, number: int, keys: Integers) -> Any:
        """Look up the ids of some vertices of a bucket, or of some hyperedges of a partition."""
        kind = self.types[side]
        if family(kind) == "number":
            return id_keys.direct_ids(keys, kind)
        batches = [read_slice(self.work(SIDES[side], piece), number) for piece in range(self.n_pieces)]
        hashed = HashedIds.merged([HashedIds(batch["key"].to_numpy(), batch["id"]) for batch in batches])
        return hashed.ids.take(arrow().array(np.searchsorted(hashed.keys, keys))).cast(kind)


def scatter_piece(job: Job, number: int, piece: Piece) -> Any:
    """Write the rows of a piece by partition; return whether all weights are 1, and rows per partition."""
    path = job.work("pieces", number)
    if not path.exists():
        rows, found = _read_rows(job, piece)
        for side, hashed in enumerate(found):
            if hashed:
                ids = HashedIds.merged(hashed)
                columns = {"key": ids.keys, "id": ids.ids}
                target, shares = job.work(SIDES[side], number), job.shares(side, ids.keys)
                write_slices(target, columns, shares, job.n_partitions)
        if job.ordered:
            rows["position"] = np.arange(piece.n_rows) + (number << 32)
        ones = "weight" not in rows or bool((rows["weight"] == 1).all())
        shares = job.shares(1, rows["edge"])
        counts = np.bincount(shares, minlength=job.n_partitions).tolist()
        write_slices(path, rows, shares, job.n_partitions, [ones, counts])
    return read_facts(path)


def _read_rows(job: Job, piece: Piece) -> tuple[dict[str, Any], tuple[list[HashedIds], list[HashedIds]]]:
    """Read keys and weights of a piece, and the ids of vertices and hyperedges that are hashed."""
    columns, file = job.columns, piece.file
    weights = {
        role: name for role in ("weight", "edge_weight") if (name := getattr(columns, role)) is not None
    }
    rows: dict[str, Any] = {role: np.empty(piece.n_rows, dtype=np.int64) for role in ("vertex", "edge")}
    rows |= {role: np.empty(piece.n_rows) for role in weights}
    found: tuple[list[HashedIds], list[HashedIds]] = [], []
    for row, batch in read_batches(piece, columns):
        inside = slice(row - piece.first, row - piece.first + len(batch))
        for side, role in enumerate(("vertex", "edge")):
            name = getattr(columns, role)
            rows[role][inside], hashed = _keys(file, name, batch[name], row, job.types[side], job.seed)
            found[side].extend(hashed)
        for role, name in weights.items():
            rows[role][inside] = checked_weights(file, name, batch[name], row)  # type: ignore[arg-type]
        if columns.edge_weight is not None and not rows["edge_weight"][inside].all():
            first = int(np.argmin(rows["edge_weight"][inside]))
            edge = shown(batch[columns.edge][first].as_py())
            message = f"the weight of hyperedge {edge} is 0; leave the hyperedge out instead"
            raise file.fault(f"column {shown(columns.edge_weight)}: {message}", row + first)
    return rows, found


def _keys(
    file: SourceFile, name: str, column: Any, row: int, kind: Any, seed: int
) -> tuple[Integers, list[HashedIds]]:
    """Return the keys of a batch of ids, and the distinct ids if they are hashed."""
    is_dictionary, direct = arrow().types.is_dictionary(column.type), family(kind) == "number"
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
            arrays, edge_keys, keys, covered = _assemble(job, number, n_rows, weighted)
        ones = not weighted or bool((arrays["gamma"] == 1).all())
        with atomic_path(job.partition_path(number), temporary_in=job.folder / "work") as folder:
            folder.mkdir()
            for name, array in arrays.items():
                np.save(folder / f"{name}.npy", array)
            _write_ids(folder / "edges.parquet", job.columns.edge, job.ids(1, number, edge_keys))
        sizes = [len(edge_keys), int(covered.sum()), len(arrays["members"]), ones]
        columns = {"key": keys, "covered": covered}
        write_slices(path, columns, job.shares(0, keys), job.n_partitions, sizes)
    return read_facts(path)


def _assemble(job: Job, number: int, n_rows: int, weighted: bool) -> tuple[dict[str, Any], Any, Any, Any]:
    """Return arrays, edge keys and vertex keys of a partition, and which vertices have incidences."""
    rows, arrays = _gather(job, number, n_rows, weighted), dict[str, Any]()
    edge_keys, edges = numbered(rows.pop("edge"))
    edge_ids: Any = _LazyIds(edge_keys, lambda keys: job.ids(1, number, keys))
    if job.ordered:
        arrays["order"] = np.full(len(edge_keys), np.iinfo(np.int64).max)
        np.minimum.at(arrays["order"], edges, rows.pop("position"))
    if "edge_weight" in rows:
        arrays["edge_weights"] = constant_within(rows.pop("edge_weight"), edges, edge_ids)
    keys, vertices = numbered(rows.pop("vertex"))
    order = np.argsort(job.shares(0, keys), kind="stable")  # by bucket, then by key
    rank = np.empty(len(keys), dtype=np.int32)
    rank[order] = np.arange(len(keys), dtype=np.int32)
    keys, vertices = keys[order], take(rank, vertices)
    vertex_ids: Any = _LazyIds(keys, lambda some: job.ids(0, int(job.shares(0, some)[0]), some))
    gamma = rows.pop("weight") if "weight" in rows else np.ones(n_rows)
    matrix = from_coordinates(edges, vertices, gamma, edge_ids, vertex_ids, job.duplicates)
    empty = np.diff(matrix.indptr) == 0
    if empty.any():
        raise InputError(
            f"no vertex is in hyperedge {named(edge_ids, empty)}; its weights are 0, correct them or leave "
            "its rows out"
        )
    members, covered = matrix.indices, np.zeros(len(keys), dtype=bool)
    covered[members] = True
    if not covered.all():
        members = take(np.cumsum(covered, dtype=np.int32) - 1, members)
    arrays |= {"indptr": matrix.indptr.astype(np.int64), "members": members.astype(np.int32, copy=False)}
    if weighted:
        arrays["gamma"] = matrix.data
    return arrays, edge_keys, keys, covered


def _gather(job: Job, number: int, n_rows: int, weighted: bool) -> dict[str, Any]:
    """Read the rows of a partition from all pieces, column by column."""
    columns: dict[str, Any] = {}
    start = 0
    for piece in range(job.n_pieces):
        batch = read_slice(job.work("pieces", piece), number)
        for name in batch.schema.names:
            if name != "weight" or weighted:
                values = batch[name].to_numpy()
                column = columns.setdefault(name, np.empty(n_rows, dtype=values.dtype))
                column[start : start + len(batch)] = values
        start += len(batch)
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
        keys, absent = [], []
        for partition in range(job.n_partitions):
            batch = read_slice(job.work("partitions", partition), number)
            covered = batch["covered"].to_numpy(zero_copy_only=False)
            keys.append(batch["key"].to_numpy()[covered])
            absent.append(batch["key"].to_numpy()[~covered])
        distinct, positions = numbered(np.concatenate(keys))
        missing = np.setdiff1d(np.concatenate(absent), distinct)
        if len(missing):
            name = first_few(as_objects(job.ids(0, number, missing)))
            message = (
                f"no hyperedge holds vertex {name}; its weights are 0, correct them or leave its rows out"
            )
            raise fault(job.source, message)
        with atomic_path(job.bucket_path(number), temporary_in=job.folder / "work") as part:
            _write_ids(part, job.columns.vertex, job.ids(0, number, distinct))
        owners = np.repeat(np.arange(job.n_partitions), list(map(len, keys)))
        write_slices(path, {"position": positions}, owners, job.n_partitions, len(distinct))
    return read_facts(path)


def number_vertices(job: Job, number: int, starts: Integers) -> dict[str, list[int]]:
    """Write the global numbers of the vertices of a partition; `starts` are the first of each bucket.

    Returns the size and the checksum of each file of the partition, and of the bucket of the same number.
    """
    path = job.partition_path(number) / "vertices.npy"
    if not path.exists():
        numbers = [
            read_slice(job.work("buckets", bucket), number)["position"].to_numpy() + start
            for bucket, start in enumerate(starts)
        ]
        with atomic_path(path, temporary_in=job.folder / "work") as part, part.open("wb") as file:
            np.save(file, np.concatenate(numbers).astype(np.int64, copy=False))
    files = [*sorted(path.parent.iterdir()), job.bucket_path(number)]
    return {file.relative_to(job.folder).as_posix(): checksum(file) for file in files}


def check_files(folder: Path, files: dict[str, list[int]]) -> None:
    """Raise a `DamagedError` unless files have the sizes and checksums that they had."""
    for name, expected in files.items():
        if checksum(folder / name) != expected:
            raise DamagedError(folder / name)


def write_slices(path: Path, columns: dict[str, Any], shares: Any, count: int, facts: Any = None) -> None:
    """Write columns as an Arrow file with one slice of rows for each share, and some facts as JSON."""
    order = np.argsort(shares, kind="stable")
    ends = np.append(0, np.cumsum(np.bincount(shares, minlength=count))).tolist()
    batch = arrow().record_batch(columns).take(arrow().array(order))
    schema = batch.schema.with_metadata({"facts": json.dumps(facts)})
    with atomic_path(path) as part, arrow("pyarrow.ipc").new_file(str(part), schema) as writer:
        for start, stop in pairwise(ends):
            writer.write_batch(batch.slice(start, stop - start))
    del batch
    arrow().default_memory_pool().release_unused()


def read_slice(path: Path, number: int) -> Any:
    """Read one slice of a file that `write_slices` wrote."""
    try:
        return _open_slices(path).get_batch(number)
    except (arrow().ArrowException, IndexError):
        raise DamagedError(path) from None


def read_facts(path: Path) -> Any:
    """Read the facts of a file that `write_slices` wrote."""
    try:
        return json.loads(_open_slices(path).schema.metadata[b"facts"])
    except (TypeError, KeyError, ValueError):
        raise DamagedError(path) from None


def _open_slices(path: Path) -> Any:
    try:
        return arrow("pyarrow.ipc").open_file(arrow().OSFile(str(path)))
    except FileNotFoundError:
        raise ClusterError(
            f"{path}: a file that another worker wrote is missing; all workers must share the folder"
        ) from None
    except (arrow().ArrowException, OSError):  # PyArrow raises both for damaged data
        raise DamagedError(path) from None


def _write_ids(path: Path, name: str, ids: Any) -> None:
    arrow("pyarrow.parquet").write_table(arrow().table({name: ids}), path)
