"""From Parquet files to a hypergraph in partitions on disk, by the workers of a crew.

Everything is under folder/key, where the key is a hash of all that decides the outcome. What a task has
written stays, so an interrupted preparation goes on, and one that is done is found. Every file appears whole,
under a name that only its content could have, so two clients that do the same at once do no harm.
"""

import base64
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple, dataclass
from hashlib import sha256
from itertools import count
from math import ceil
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.optional import arrow
from hyperclus._runtime.progress import report_progress
from hyperclus.engines.dask import shuffle
from hyperclus.engines.dask.keys import Collision, common_type
from hyperclus.engines.dask.partition_file import new_folder, temporary
from hyperclus.engines.dask.prepared import MANIFEST, Prepared, partition_path
from hyperclus.engines.dask.shuffle import ROW_BYTES, Layout
from hyperclus.engines.dask.source import (
    Columns,
    Footer,
    OneFile,
    Piece,
    Source,
    SourceFile,
    check_unchanged,
    described,
    footers,
    is_uri,
    listed,
    pieces_of,
)
from hyperclus.engines.dask.workers import WorkerPool
from hyperclus.errors import InputError, check_choice, check_integer
from hyperclus.hypergraph.messages import shown
from hyperclus.typing import DuplicatePolicy

FORMAT = 3  # of what is on disk; another number makes other keys
ORDERED_UP_TO = 5_000_000  # rows of small data, of which it is kept in which order the hyperedges came
LEAST_ROWS, MOST_ROWS = 1 << 20, 1 << 22  # of a piece: small ones take little memory
PIECES = 4096  # from as many on, pieces become larger
PIECE_BYTES = 400  # of a worker's memory for each row of a piece, which takes half of it
MOST_INCIDENCES = 1 << 24  # of a partition
SHARE = 1 / 3  # of a worker's memory that a partition may take
FILES = 32  # whose footers one task reads
COLLISION = "collision"  # the mark of a seed that cannot be used
PARTS = ("work", "partitions", "vertices")
STAGES = {"pieces": 0.5, "partitions": 0.9, "vertices": 0.97, "numbers": 1.0}  # where in the time each ends


def prepare(
    source: Source,
    folder: StrPath,
    pool: WorkerPool,
    *,
    vertex: str = "vertex",
    edge: str = "edge",
    weight: str | Literal[False] | None = None,
    edge_weight: str | Literal[False] | None = None,
    duplicates: DuplicatePolicy = "error",
    partitions: int | None = None,
) -> Prepared:
    """A copy of Parquet files, a row per incidence, in partitions of whole hyperedges with integers for ids.

    Parameters
    ----------
    source : file name, folder, pattern or URI, or several of them
        Such as "s3://bucket/incidences/*.parquet".
    folder : folder name
        Where the copy is kept, which all workers must share. The same call again finds it there.
    crew : Crew
    vertex, edge, weight, edge_weight, duplicates
        As in `read_long`. Ids may also be times, bytes or decimal numbers.
    partitions : int, optional
        By default so many that each takes a third of a worker's memory at most.

    Raises
    ------
    InputError
        As `read_long`; also when a file is added, removed or changed before the end.
    ClusterError
        When the workers or the scheduler fail for good.
    """
    check_choice("duplicates", duplicates, get_args(DuplicatePolicy))
    if partitions is not None:
        check_integer("partitions", partitions)
    if not isinstance(folder, str | os.PathLike) or is_uri(os.fspath(folder)):
        raise InputError(f"folder must be the name of a folder that all workers share; got {shown(folder)}")
    files = listed(source)
    columns = (vertex, edge, weight, edge_weight)
    for seed in count():
        decisive = [FORMAT, [astuple(file)[1:] for file in files], columns, duplicates, partitions, seed]
        key = sha256(json.dumps(decisive, default=repr).encode()).hexdigest()[:20]
        target = Path(os.path.abspath(folder), key)
        if (target / COLLISION).exists():
            continue
        order = _Order(source, files, target, columns, duplicates, partitions, seed)
        try:
            return _found_or_made(order, pool)
        except Collision:
            (target / COLLISION).touch()
            for part in PARTS:
                shutil.rmtree(target / part, ignore_errors=True)
        except InputError:  # once the data are corrected, all of it is made anew
            shutil.rmtree(target, ignore_errors=True)
            raise
    raise AssertionError


@dataclass(frozen=True, slots=True)
class _Order:
    """What is wanted."""

    source: Source
    files: list[SourceFile]
    target: Path
    columns: tuple[Any, Any, Any, Any]
    duplicates: DuplicatePolicy
    partitions: int | None
    seed: int


def _found_or_made(order: _Order, pool: WorkerPool) -> Prepared:
    target = order.target
    with suppress(FileNotFoundError, NotADirectoryError):
        return Prepared.at(target)
    try:
        for part in (*PARTS, "work/pieces", "work/buckets"):
            (target / part).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise fault(
            target.parent, f"the folder cannot be written: {error.strerror}; choose another"
        ) from None
    try:
        layout, pieces = _planned(order, pool)
        manifest = _Steps(pool, layout, pieces).taken()
    except Exception as error:
        if (target / MANIFEST).exists():  # another client was faster, and has cleaned up
            return Prepared.at(target)
        if isinstance(error, InputError):  # the reason may be a file that has changed
            _check_source(order)
        raise
    _check_source(order)
    unnamed = temporary(target / MANIFEST)
    unnamed.write_text(json.dumps(manifest))
    os.replace(unnamed, target / MANIFEST)
    _clean(layout, manifest["weighted"])
    return Prepared.at(target)


def _check_source(order: _Order) -> None:
    """Refuse files that are no longer those of the start; what was made of them is of no use then."""
    check_unchanged(order.files, listed(order.source))


def _planned(order: _Order, pool: WorkerPool) -> tuple[Layout, list[Piece]]:
    """What to do, as it was planned first: other workers may be there when it goes on."""
    folder = order.target / "work" / "plan"
    if not folder.exists():
        plan = _plan(order, pool)
        with new_folder(folder, folder) as part:
            (part / "plan.json").write_text(json.dumps(plan))
    plan = json.loads((folder / "plan.json").read_text())
    schema = arrow().ipc.read_schema(arrow().py_buffer(base64.b64decode(plan["kinds"])))
    layout = Layout(
        folder=order.target,
        source=described(order.source),
        columns=Columns(*plan["columns"]),
        kinds=(schema.field(0).type, schema.field(1).type),
        duplicates=order.duplicates,
        n_partitions=plan["partitions"],
        n_buckets=plan["partitions"],
        n_pieces=len(plan["pieces"]),
        seed=order.seed,
        ordered=plan["ordered"],
    )
    return layout, [Piece(*piece) for piece in plan["pieces"]]


def _plan(order: _Order, pool: WorkerPool) -> dict[str, Any]:
    """The columns, the types of ids, the number of partitions, and the pieces."""
    feet = _footers(order, pool)
    columns = feet[0].columns
    for file, footer in zip(order.files, feet, strict=True):
        _check_alike(file, footer.columns, columns)
    table = OneFile(described(order.source), [])
    kinds = [
        common_type([footer.kinds[place] for footer in feet], table, name)
        for place, name in enumerate((columns.vertex, columns.edge))
    ]
    n_rows = sum(sum(footer.rows) for footer in feet)
    if not n_rows:
        raise table.fault("the table has no rows; a hypergraph needs at least one vertex in one hyperedge")
    n_bytes = sum(sum(footer.sizes) for footer in feet)
    most = _most_rows(pool, n_rows)
    schema = arrow().schema([("vertex", kinds[0]), ("edge", kinds[1])])
    return {
        "columns": astuple(columns),
        "kinds": base64.b64encode(schema.serialize().to_pybytes()).decode(),
        "partitions": order.partitions or _partitions(pool, n_rows, n_bytes),
        "ordered": n_rows <= ORDERED_UP_TO,
        "pieces": [
            astuple(piece)
            for file, footer in zip(order.files, feet, strict=True)
            for piece in pieces_of(file, footer, most, 8 * len(columns.wanted) * most)
        ],
    }


def _footers(order: _Order, pool: WorkerPool) -> list[Footer]:
    """Of all files, in their order, as workers read them."""
    groups = [order.files[start : start + FILES] for start in range(0, len(order.files), FILES)]
    found = dict(pool.each(footers, [(group, order.columns) for group in groups]))
    return [footer for number in range(len(groups)) for footer in found[number]]


def _check_alike(file: SourceFile, columns: Columns, first: Columns) -> None:
    for name, known in ((columns.weight, first.weight), (columns.edge_weight, first.edge_weight)):
        if name != known:
            column = shown(name or known)
            raise fault(file.name, f"some files have a column {column} and others not; make them alike")


def _most_rows(pool: WorkerPool, n_rows: int) -> int:
    """Of a piece."""
    most = min(max(LEAST_ROWS, n_rows // PIECES), MOST_ROWS)
    return min(most, max(pool.memory // PIECE_BYTES, 1000)) if pool.memory else most


def _partitions(pool: WorkerPool, n_rows: int, n_bytes: int) -> int:
    """So many that each fits, that no worker waits long for the last one, and that all get as many."""
    workers = pool.workers
    threads = max(sum(worker.n_threads for worker in workers), 1)
    row_bytes = ROW_BYTES + n_bytes / n_rows
    fitting = n_rows * row_bytes / (SHARE * pool.memory) if pool.memory else 1
    least = max(2 * threads, ceil(n_rows / MOST_INCIDENCES), ceil(fitting))
    return -(-least // max(len(workers), 1)) * max(len(workers), 1)


class _Steps:
    """The steps, one after the other, and how far they are."""

    def __init__(self, pool: WorkerPool, layout: Layout, pieces: list[Piece]) -> None:
        self._crew, self._layout, self._pieces = pool, layout, pieces
        self._total, self._low = sum(piece.n_rows for piece in pieces), 0.0

    def taken(self) -> dict[str, Any]:
        """Do what is left to do; returns the manifest."""
        layout, columns = self._layout, self._layout.columns
        numbers = range(layout.n_partitions)
        pieces = [(layout, number, piece) for number, piece in enumerate(self._pieces)]
        ones = self._all("pieces", shuffle.scatter, pieces)
        weighted = layout.duplicates == "sum" or not all(ones)
        memory = self._crew.memory
        sizes = self._all("partitions", shuffle.partition, [(layout, p, weighted, memory) for p in numbers])
        n_vertices = self._all("vertices", shuffle.bucket, [(layout, q) for q in range(layout.n_buckets)])
        ends = np.append(0, np.cumsum(n_vertices))
        self._all("numbers", shuffle.number, [(layout, p, ends[:-1]) for p in numbers])
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

    def _all(self, words: str, task: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        """The results of a task for all arguments."""
        results: list[Any] = [None] * len(arguments)
        low, self._low = self._low, STAGES[words]
        for finished, (place, result) in enumerate(self._crew.each(task, arguments), 1):
            results[place] = result
            share = low + (self._low - low) * finished / len(arguments)
            note = f"{words} {finished:,} of {len(arguments):,}"
            report_progress("preparation", share * self._total, "rows", share, note)
        return results


def _clean(layout: Layout, weighted: bool) -> None:
    """Delete what only the preparation needed."""
    shutil.rmtree(layout.work, ignore_errors=True)
    unneeded = ["keys.npy", "bucket_ends.npy", "absent.npy", "sizes.json"] + ["gamma.npy"] * (not weighted)
    for number in range(layout.n_partitions):
        for name in unneeded:
            with suppress(FileNotFoundError):
                (partition_path(layout.folder, number) / name).unlink()
