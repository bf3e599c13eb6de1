"""The tasks of a preparation. Each writes one thing, whole or not at all, and nothing if it is there.

    scatter    a piece of the input -> a file with its rows by partition, and its ids by partition and bucket
    partition  its rows in all pieces -> sorted hyperedges with local numbers, and the keys of its vertices
    bucket     the keys in it of all partitions -> the ids in order, and the places of each partition's keys
    number     the places in all buckets -> the global number of each vertex of a partition

The file of a piece has P segments of rows, P of ids of hyperedges, Q of ids of vertices, and a last one that
says what is in it; segments of ids are empty where keys tell the ids.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperclus._runtime.arrays import take
from hyperclus._runtime.files import fault
from hyperclus._runtime.optional import arrow
from hyperclus.engines.dask import keys
from hyperclus.engines.dask.keys import Pairs
from hyperclus.engines.dask.partition_file import (
    new_folder,
    pair_segments,
    read_pairs,
    read_segment,
    segment_size,
    temporary,
    write_segments,
)
from hyperclus.engines.dask.prepared import bucket_path, partition_path
from hyperclus.engines.dask.source import Columns, OneFile, Piece, batches_of
from hyperclus.errors import ClusterError, InputError
from hyperclus.hypergraph.incidence import constant_within, from_coordinates
from hyperclus.hypergraph.messages import named, shown
from hyperclus.io.tables.long import checked_weights
from hyperclus.typing import Codes, DuplicatePolicy, Floats, Incidence, Integers

ROW_BYTES = 64  # of a worker's memory that a row of a partition takes at the peak, measured
EDGES, VERTICES = 1, 2  # what is mixed into a key to tell its partition, and its bucket


@dataclass(frozen=True, slots=True)
class Layout:
    """What every task has to know.

    Attributes
    ----------
    folder : Path
        Of this data.
    source : str
        The input, in messages.
    columns : Columns
    kinds : pair of Arrow types
        Of the ids of vertices and hyperedges.
    duplicates : {"error", "sum", "max"}
    n_partitions, n_buckets, n_pieces : int
    seed : int
        Of the hash of ids.
    ordered : bool
        Whether to keep in which order the hyperedges came.
    """

    folder: Path
    source: str
    columns: Columns
    kinds: tuple[Any, Any]
    duplicates: DuplicatePolicy
    n_partitions: int
    n_buckets: int
    n_pieces: int
    seed: int
    ordered: bool

    @property
    def work(self) -> Path:
        """The folder of what is deleted in the end."""
        return self.folder / "work"

    @property
    def width(self) -> int:
        """The number of columns of a row: keys of hyperedge and vertex, the weights there are, its place."""
        weights = (self.columns.weight is not None) + (self.columns.edge_weight is not None)
        return 2 + weights + self.ordered

    def piece(self, number: int) -> Path:
        """The file of a piece."""
        return self.work / "pieces" / f"{number:07}"

    def pieces(self) -> Iterator[Path]:
        """The files of all pieces."""
        return map(self.piece, range(self.n_pieces))

    def bucket(self, number: int) -> Path:
        """The file with the places of the keys of a bucket."""
        return self.work / "buckets" / f"{number:05}"

    def partition_of(self, edges: Integers) -> Codes:
        """The partition of each hyperedge, by its key."""
        return keys.share_of(edges, self.n_partitions, EDGES)

    def bucket_of(self, vertices: Integers) -> Codes:
        """The bucket of each vertex, by its key."""
        return keys.share_of(vertices, self.n_buckets, VERTICES)

    def vertex_ids(self, bucket: int, wanted: Integers) -> Any:
        """The ids of vertices of a bucket, in their own type."""
        first = 2 * self.n_partitions + bucket
        return self._ids(self.kinds[0], first, wanted)

    def edge_ids(self, partition: int, wanted: Integers) -> Any:
        """The ids of hyperedges of a partition, in their own type."""
        return self._ids(self.kinds[1], self.n_partitions + partition, wanted)

    def _ids(self, kind: Any, segment: int, wanted: Integers) -> Any:
        if keys.is_direct(kind):
            return keys.direct_ids(wanted, kind)
        pairs = Pairs.joined([read_pairs(path, segment) for path in self.pieces()])
        return keys.from_bytes(pairs.ids_of(wanted), kind)


def scatter(layout: Layout, number: int, piece: Piece) -> bool:
    """Write the file of a piece; returns whether all its weights are 1."""
    target = layout.piece(number)
    if not target.exists():
        _scatter(layout, number, target, piece)
        arrow().default_memory_pool().release_unused()
    last = 2 * layout.n_partitions + layout.n_buckets
    return bool(json.loads(read_segment(target, last)))


def _scatter(layout: Layout, number: int, target: Path, piece: Piece) -> None:
    rows, ids = _read(layout, piece)
    if layout.ordered:
        rows.append(np.arange(piece.n_rows) + (number << 32))
    n_partitions, n_buckets = layout.n_partitions, layout.n_buckets
    shares = np.empty(piece.n_rows, dtype=np.min_scalar_type(n_partitions - 1))
    for start in range(0, piece.n_rows, 1 << 16):
        block = slice(start, start + (1 << 16))
        shares[block] = layout.partition_of(rows[0][block])
    order = np.argsort(shares, kind="stable")
    ends = np.append(0, np.cumsum(np.bincount(shares, minlength=n_partitions))).tolist()
    table = np.empty((piece.n_rows, layout.width), dtype=np.int64)
    for place, column in enumerate(rows):
        table[:, place] = column.view(np.int64)[order]
    ones = layout.columns.weight is None or bool((rows[2] == 1).all())

    def segments() -> Iterator[list[Any]]:
        for start, stop in pairwise(ends):
            yield [table[start:stop].data]
        for pairs, share, count in (
            (ids[1], layout.partition_of(ids[1].keys), n_partitions),
            (ids[0], layout.bucket_of(ids[0].keys), n_buckets),
        ):
            yield from pair_segments(pairs, share, count)
        yield [json.dumps(ones).encode()]

    write_segments(target, segments(), 2 * n_partitions + n_buckets + 1)


def _read(layout: Layout, piece: Piece) -> tuple[list[Any], tuple[Pairs, Pairs]]:
    """Hyperedges and vertices of a piece as keys, and weights; and the ids that were hashed."""
    columns, table = layout.columns, OneFile(piece.name, [])
    names = [columns.edge, columns.vertex, *filter(None, (columns.weight, columns.edge_weight))]
    kinds = [layout.kinds[1], layout.kinds[0]]
    rows: list[Any] = [np.empty(piece.n_rows, dtype=np.int64) for _ in kinds]
    rows += [np.empty(piece.n_rows) for _ in names[2:]]
    found: list[list[Pairs]] = [[], []]
    done = 0
    for row, batch in batches_of(piece, list(dict.fromkeys(names))):
        inside = slice(done, done + len(batch))
        for place, name in enumerate(names):
            column = batch.column(name)
            if place < 2:
                rows[place][inside], pairs = _keys(layout, table, name, kinds[place], column, row)
                found[place] += pairs
            else:
                rows[place][inside] = checked_weights(table, name, column, row)
        if columns.edge_weight is not None and not rows[-1][inside].all():
            first = int(np.argmin(rows[-1][inside]))
            edge = shown(batch.column(columns.edge)[first].as_py())
            message = f"the weight of hyperedge {edge} is 0; leave the hyperedge out instead"
            raise table.fault(f"column {shown(columns.edge_weight)}: {message}", row + first)
        done = inside.stop
    if done != piece.n_rows:
        raise fault(piece.name, "the file changed while it was read; read it again")
    return rows, (Pairs.joined(found[1]), Pairs.joined(found[0]))


def _keys(
    layout: Layout, table: OneFile, name: str, kind: Any, column: Any, row: int
) -> tuple[Integers, list[Pairs]]:
    """The keys of a batch of ids, and the pairs of those that are hashed."""
    is_dictionary = arrow().types.is_dictionary(column.type)
    if is_dictionary and (column.dictionary.null_count or keys.is_direct(kind)):
        column, is_dictionary = column.dictionary_decode(), False
    keys.checked(column, table, name, row)
    if keys.is_direct(kind):
        try:
            return keys.direct_keys(column, kind), []
        except arrow().ArrowInvalid:
            raise keys.too_large(table, name, row) from None
    encoded = column if is_dictionary else column.dictionary_encode()
    pairs = keys.hashed(encoded.dictionary, kind, layout.seed)
    return pairs.keys[encoded.indices.to_numpy(zero_copy_only=False)], [pairs]


def partition(layout: Layout, number: int, weighted: bool, memory: int) -> tuple[int, int, int, bool]:
    """Write a partition; returns its hyperedges, vertices, incidences, and whether all gammas are 1.

    `weighted`: some gamma may not be 1. `memory`: the limit of a worker in bytes, 0 if it has none.
    """
    target = partition_path(layout.folder, number)
    if not target.exists():
        _partition(layout, number, weighted, memory, target)
        arrow().default_memory_pool().release_unused()
    n_edges, n_vertices, n_incidences, ones = json.loads((target / "sizes.json").read_text())
    return n_edges, n_vertices, n_incidences, ones


def _partition(layout: Layout, number: int, weighted: bool, memory: int, target: Path) -> None:
    with _told(layout):
        matrix, keys, edge_ids, omega, first = _assembled(layout, number, weighted, memory)
    members = matrix.indices
    covered = np.zeros(len(keys), dtype=bool)
    covered[members] = True
    if not covered.all():
        members = take(np.cumsum(covered, dtype=np.int32) - 1, members)
    present, absent = keys[covered], keys[~covered]
    arrays: dict[str, NDArray[Any] | None] = {
        "indptr": matrix.indptr.astype(np.int64),
        "members": members.astype(np.int32, copy=False),
        "gamma": matrix.data if weighted else None,
        "edge_weights": omega,
        "order": first,
        "keys": present,
        "bucket_ends": np.searchsorted(layout.bucket_of(present), np.arange(layout.n_buckets + 1)),
        "absent": absent if len(absent) else None,
    }
    ones = not weighted or bool((matrix.data == 1).all())
    with new_folder(layout.work / "part", target) as folder:
        for name, array in arrays.items():
            if array is not None:
                np.save(folder / f"{name}.npy", array)
        _write_ids(folder / "edges.parquet", layout.columns.edge, edge_ids)
        sizes = [len(edge_ids), len(present), len(members), ones]
        (folder / "sizes.json").write_text(json.dumps(sizes))


def _assembled(
    layout: Layout, number: int, weighted: bool, memory: int
) -> tuple[Incidence, Integers, Any, Floats | None, Integers | None]:
    """The incidence matrix of a partition, keys of its vertices, ids of its hyperedges, omega and order."""
    edge_keys, vertex_keys, gamma, omega, places = _gathered(layout, number, weighted, memory)
    edge_keys, edges = keys.numbered(edge_keys)
    first = None
    if places is not None:
        first = np.full(len(edge_keys), np.iinfo(np.int64).max)
        np.minimum.at(first, edges, places)
    edge_ids = layout.edge_ids(number, edge_keys)
    edge_names: Any = _EdgeNames(edge_ids)
    if omega is not None:
        omega = constant_within(omega, edges, edge_names)
    vertex_keys, vertices = _by_bucket(layout, *keys.numbered(vertex_keys))
    vertex_names: Any = _VertexNames(layout, vertex_keys)
    matrix = from_coordinates(edges, vertices, gamma, edge_names, vertex_names, layout.duplicates)
    empty = np.diff(matrix.indptr) == 0
    if empty.any():
        raise InputError(
            f"no member is in hyperedge {named(edge_names, empty)}; its weights are 0, correct them or leave "
            "its rows out"
        )
    return matrix, vertex_keys, edge_ids, omega, first


def _by_bucket(layout: Layout, keys: Integers, codes: Codes) -> tuple[Integers, Codes]:
    """Of ascending keys and places among them: the keys by bucket, ascending in each, and the new places."""
    order = np.argsort(layout.bucket_of(keys), kind="stable")
    rank = np.empty(len(keys), dtype=np.int32)
    rank[order] = np.arange(len(keys), dtype=np.int32)
    return keys[order], take(rank, codes)


def _gathered(
    layout: Layout, number: int, weighted: bool, memory: int
) -> tuple[Integers, Integers, Floats, Floats | None, Integers | None]:
    """The rows of a partition in all pieces: hyperedges and vertices, both as keys, gamma, omega, places."""
    width = layout.width
    sizes = [segment_size(path, number) // (8 * width) for path in layout.pieces()]
    total = sum(sizes)
    if memory and total * ROW_BYTES > memory:
        raise ClusterError(
            f"partition {number} has {total:,} rows and needs about {total * ROW_BYTES / 1e9:.1f} GB, but a "
            f"worker has {memory / 1e9:.1f} GB; give each worker more memory, or, unless a single hyperedge "
            "is so large, start more workers and prepare the data in another folder"
        )
    edges, vertices = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    gamma = np.ones(total)
    omega = None if layout.columns.edge_weight is None else np.empty(total)
    places = np.empty(total, dtype=np.int64) if layout.ordered else None
    start = 0
    for path, size in zip(layout.pieces(), sizes, strict=True):
        rows = np.frombuffer(read_segment(path, number), dtype=np.int64).reshape(size, width)
        inside = slice(start, start + size)
        edges[inside], vertices[inside] = rows[:, 0], rows[:, 1]
        if weighted and layout.columns.weight is not None:
            gamma[inside] = rows[:, 2].view(np.float64)
        if omega is not None:
            omega[inside] = rows[:, -1 - layout.ordered].view(np.float64)
        if places is not None:
            places[inside] = rows[:, -1]
        start += size
    return edges, vertices, gamma, omega, places


class _EdgeNames:
    """Ids of hyperedges as `incidence` wants them, which needs a few of them for messages."""

    def __init__(self, ids: Any) -> None:
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, np.ndarray):
            return keys.as_objects(self._ids.filter(arrow().array(place)))
        return self._ids[int(place)].as_py()


class _VertexNames:
    """Ids of vertices, looked up one by one, for messages."""

    def __init__(self, layout: Layout, keys: Integers) -> None:
        self._layout, self._keys = layout, keys

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, place: Any) -> Any:
        key = self._keys[place : place + 1]
        return self._layout.vertex_ids(int(self._layout.bucket_of(key)[0]), key)[0].as_py()


def bucket(layout: Layout, number: int) -> int:
    """Write the ids of a bucket, and where in it each partition's vertices are; returns how many it has."""
    target = layout.bucket(number)
    if not target.exists():
        _bucket(layout, number, target)
        arrow().default_memory_pool().release_unused()
    return int(json.loads(read_segment(target, layout.n_partitions)))


def _bucket(layout: Layout, number: int, target: Path) -> None:
    found, absent = [], []
    for partition in range(layout.n_partitions):
        path = partition_path(layout.folder, partition)
        start, stop = np.load(path / "bucket_ends.npy")[number : number + 2]
        found.append(np.load(path / "keys.npy", mmap_mode="r")[start:stop])
        if (path / "absent.npy").exists():
            gone = np.load(path / "absent.npy")
            absent.append(gone[layout.bucket_of(gone) == number])
    ends = np.append(0, np.cumsum([len(some) for some in found]))
    distinct, places = keys.numbered(np.concatenate(found))
    del found
    if absent:
        missing = np.setdiff1d(np.concatenate(absent), distinct)
        if len(missing):
            ids = keys.as_objects(layout.vertex_ids(number, missing))
            raise fault(
                layout.source,
                f"no hyperedge holds vertex {named(ids, np.ones(len(ids), dtype=bool))}; its weights are 0, "
                "correct them or leave its rows out",
            )
    part = temporary(target)
    _write_ids(part, layout.columns.vertex, layout.vertex_ids(number, distinct))
    os.replace(part, bucket_path(layout.folder, number))
    segments = [[places[start:stop].data] for start, stop in pairwise(ends)]
    write_segments(target, [*segments, [str(len(distinct)).encode()]], layout.n_partitions + 1)


def number(layout: Layout, partition: int, starts: Integers) -> None:
    """Write the global number of each vertex of a partition; `starts` is where the buckets begin."""
    target = partition_path(layout.folder, partition) / "vertices.npy"
    if target.exists():
        return
    numbers = [
        np.frombuffer(read_segment(layout.bucket(bucket), partition), dtype=np.int32) + start
        for bucket, start in enumerate(starts)
    ]
    part = temporary(layout.work / "part")
    with part.open("xb") as file:
        np.save(file, np.concatenate(numbers).astype(np.int64, copy=False))
    os.replace(part, target)


@contextmanager
def _told(layout: Layout) -> Iterator[None]:
    """Puts the name of the input into errors that do not know of it."""
    try:
        yield
    except InputError as error:
        message = str(error).replace("incidences in all)", "incidences beside it)")  # only some were seen
        raise fault(layout.source, message) from None


def _write_ids(path: Path, name: str, ids: Any) -> None:
    arrow("pyarrow.parquet").write_table(arrow().table({name: ids}), path)
