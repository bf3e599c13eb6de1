"""What a run on a cluster will need, before it: from the footers of the Parquet files alone.

Data that are prepared already say how many vertices there are; footers only bound it.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from hashlib import sha256
from itertools import count
from math import ceil
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hyperclus._runtime.files import StrPath
from hyperclus._runtime.optional import arrow
from hyperclus.engines.dask.prepare import (
    COLLISION,
    FORMAT,
    LEAST_ROWS,
    MOST_ROWS,
    PIECE_BYTES,
    PIECES,
    _check_alike,
    _partitions,
)
from hyperclus.engines.dask.prepared import MANIFEST, Prepared
from hyperclus.engines.dask.schedule import width
from hyperclus.engines.dask.shuffle import ROW_BYTES
from hyperclus.engines.dask.source import (
    Columns,
    OneFile,
    Source,
    SourceFile,
    described,
    footers,
    listed,
    opened,
)
from hyperclus.engines.dask.stages import BUNDLE_SHARE, VECTOR_SHARE
from hyperclus.engines.dask.workers import WorkerState, dask
from hyperclus.errors import Argument, InputError, check_integer
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.parquet import open_parquet
from hyperclus.typing import DuplicatePolicy

WORKERS = (1, 4, 16, 64)  # that are shown where no number is given
MOST_WORKERS = 1 << 14  # that are looked at
FREE = 0.8  # of its memory that a worker may use before Dask pauses it
PREPARING, COMPUTING = 0.1e9, 0.25e9  # bytes of a worker's process with what it has loaded, measured
BLOCKS, OTHERS = 12, 10  # stored vectors: blocks of the basis, and single ones
ROUNDS = {"stationary distribution": (20, 40), "eigenvectors": (15, 30), "search": (10, 25)}  # per incidence


@dataclass(frozen=True, slots=True)
class Need:
    """What a number of workers will need.

    Attributes
    ----------
    workers, memory : int
        How many, and the bytes that each has.
    partitions : int
        That the preparation makes.
    touched : int
        Vertices that the hyperedges of one worker touch, at most.
    expected : int
        Bytes of memory that a worker will take at the peak, at most.
    least : int
        Bytes of memory that a worker must have, at least.
    held : bool
        Whether its incidences stay in its memory; otherwise it reads them from the disk in every round.
    moved : int
        Bytes that all workers exchange in a round for one vector, at most.
    """

    workers: int
    memory: int
    partitions: int
    touched: int
    expected: int
    least: int
    held: bool
    moved: int

    @property
    def fits(self) -> bool:
        """Whether the memory is enough."""
        return self.expected <= FREE * self.memory


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run needs.

    Attributes
    ----------
    source : str
    n_files, n_bytes, n_rows : int
        Files, their bytes, and their rows, which are the incidences.
    columns : Columns
        The names of those that are used.
    kinds : pair of str
        The types of the ids of vertices and hyperedges.
    n_vertices, n_edges : int
        Their numbers, or bounds for them.
    known : {"prepared", "statistics", "rows"}
        Where these come from: prepared data, which know; the least and largest ids that the footers
        have; or the number of rows.
    prepared : Path or None
        Of data that are prepared already.
    k : int
    block : int
        Vectors that a round of the eigenvectors exchanges.
    disk : dict
        Bytes in the work folder, by what they are for.
    needs : tuple of Need
        By the number of workers.
    least_workers : int or None
        The smallest number of workers with enough memory.
    """

    source: str
    n_files: int
    n_bytes: int
    n_rows: int
    columns: Columns
    kinds: tuple[str, str]
    n_vertices: int
    n_edges: int
    known: Literal["prepared", "statistics", "rows"]
    prepared: Path | None
    k: int
    block: int
    disk: dict[str, int]
    needs: tuple[Need, ...]
    least_workers: int | None


class _Facts(NamedTuple):
    """What the rules for memory, disk and traffic depend on."""

    n_rows: int
    unpacked: int  # bytes of the columns in the files
    n_vertices: int
    n_edges: int
    n_partitions: int | None  # where data are prepared
    weighted: bool
    width: int  # columns of numbers that the preparation sorts
    block: int


class _Imagined(NamedTuple):
    """A crew that is not there, for the rule that says how many partitions there are."""

    workers: list[WorkerState]
    memory: int


def plan(
    source: Source,
    k: int = 2,
    *,
    workers: int | None = None,
    memory: str | int = "16GB",
    folder: StrPath = "hyperclus-work",
    vertex: str = "vertex",
    edge: str = "edge",
    weight: str | Literal[False] | None = None,
    edge_weight: str | Literal[False] | None = None,
    duplicates: DuplicatePolicy = "error",
) -> Plan:
    """What `cluster` with the engine "dask" will need.

    Parameters
    ----------
    source, vertex, edge, weight, edge_weight, duplicates
        As in `prepare`.
    workers : int, optional
        How many; by default a few numbers are looked at.
    memory : str or int
        Of each worker, such as "16GB", or in bytes.
    folder : folder name
        Where prepared data are looked for.

    Raises
    ------
    InputError
    """
    check_integer("k", k)
    if workers is not None:
        check_integer("workers", workers)
    limit = _bytes(memory)
    files = listed(source)
    chosen = (vertex, edge, weight, edge_weight)
    feet = footers(files, chosen)
    columns = feet[0].columns
    for file, footer in zip(files, feet, strict=True):
        _check_alike(file, footer.columns, columns)
    n_rows = sum(sum(footer.rows) for footer in feet)
    if not n_rows:
        message = "the table has no rows; a hypergraph needs at least one vertex in one hyperedge"
        raise OneFile(described(source), []).fault(message)
    prepared = _prepared(files, chosen, duplicates, Path(os.path.abspath(folder)))
    known: Literal["prepared", "statistics", "rows"] = "prepared"
    if prepared is None:
        spans = _spans(files, (columns.vertex, columns.edge))
        known = "rows" if spans[0] is None else "statistics"
        n_vertices, n_edges = (min(n_rows, span or n_rows) for span in spans)
    else:
        n_vertices, n_edges = prepared.n_vertices, prepared.n_edges
    facts = _Facts(
        n_rows,
        sum(sum(footer.sizes) for footer in feet),
        n_vertices,
        n_edges,
        None if prepared is None else len(prepared.partitions),
        columns.weight is not None if prepared is None else prepared.weighted,
        2 + (columns.weight is not None) + (columns.edge_weight is not None),
        width(k - 1, n_rows),
    )
    needs = tuple(need(facts, one, limit) for one in (WORKERS if workers is None else (workers,)))
    least = next((one for one in _numbers() if need(facts, one, limit).fits), None)
    return Plan(
        source=described(source),
        n_files=len(files),
        n_bytes=sum(file.size for file in files),
        n_rows=n_rows,
        columns=columns,
        kinds=(_kind(feet[0].kinds[0]), _kind(feet[0].kinds[1])),
        n_vertices=n_vertices,
        n_edges=n_edges,
        known=known,
        prepared=None if prepared is None else prepared.folder,
        k=k,
        block=facts.block,
        disk=_disk(facts, needs[-1]),
        needs=needs,
        least_workers=least,
    )


def need(facts: _Facts, workers: int, memory: int) -> Need:
    """What each of so many workers needs.

    A worker holds its incidences in memory if they take no more than BUNDLE_SHARE of it, and stored
    vectors up to VECTOR_SHARE. Beside these there are the process itself, and in a round, for each vector of
    a block, four times the vertices that its hyperedges touch (received, gathered, computed, sent), three
    times its share of all vertices, and once its hyperedges. The preparation takes turns with the rounds.
    """
    m, n, e, block = facts.n_rows, facts.n_vertices, facts.n_edges, facts.block
    pool: Any = _Imagined([WorkerState("", memory, 1)] * workers, memory)
    partitions = facts.n_partitions or _partitions(pool, m, facts.unpacked)
    bundles = min(workers, partitions)
    touched, chunk = min(n, ceil(m / bundles)), ceil(n / bundles)
    incidences = (8 + 8 * facts.weighted) * ceil(m / bundles)
    held = incidences <= BUNDLE_SHARE * memory
    vectors = min(8 * chunk * (BLOCKS * block + OTHERS), VECTOR_SHARE * memory)
    a_round = COMPUTING + 8 * block * (4 * touched + 3 * chunk + ceil(e / bundles))
    rows = min(m, max(LEAST_ROWS, m // PIECES), MOST_ROWS, max(memory // PIECE_BYTES, 1000))
    a_piece = PREPARING + PIECE_BYTES / 2 * rows
    a_partition = PREPARING + (ROW_BYTES + facts.unpacked / m) * m / partitions
    return Need(
        workers=workers,
        memory=memory,
        partitions=partitions,
        touched=touched,
        expected=int(max(a_round + vectors + incidences * held, a_piece, a_partition)),
        least=int(a_round / (FREE - VECTOR_SHARE)),
        held=held,
        moved=16 * min(m, bundles * n),
    )


def _disk(facts: _Facts, last: Need) -> dict[str, int]:
    """Bytes in the work folder: what is sorted and deleted again, what stays, and what a run has."""
    m, n, e = facts.n_rows, facts.n_vertices, facts.n_edges
    bundles = min(last.workers, last.partitions)
    numbers = 8 * facts.width * m
    ids = max(facts.unpacked - numbers, 0)  # of text, which is longer than its keys
    prepared = (4 + 8 * facts.weighted) * m + 8 * min(m, last.partitions * n) + 16 * e + 8 * (n + e) + ids
    arranged = (8 + 8 * facts.weighted) * m + 8 * min(m, bundles * n) + 8 * e
    return {
        "while sorting": numbers + ids,
        "sorted copy": prepared + arranged,
        "vectors of a run": 8 * n * (BLOCKS * facts.block + OTHERS),
        "labels": 9 * n,
    }


def _numbers() -> Iterator[int]:
    """Numbers of workers, all of the small ones and some of the large."""
    number = 1
    while number <= MOST_WORKERS:
        yield number
        number += max(1, number // 16)


def _kind(kind: Any) -> str:
    """The name of a type of ids, however they are packed."""
    return str(kind.value_type if arrow().types.is_dictionary(kind) else kind)


def _bytes(memory: str | int) -> int:
    try:
        size = int(dask("dask.utils").parse_bytes(memory))
    except ValueError:
        size = 0
    if size <= 0:
        raise InputError(Argument("memory"), f" must be a size such as 16GB; got {shown(memory)}")
    return size


def _prepared(
    files: list[SourceFile], chosen: tuple[Any, ...], duplicates: str, folder: Path
) -> Prepared | None:
    """What `prepare` has made of these files, if it has: see there for the key."""
    for seed in count():
        decisive = [FORMAT, [astuple(file)[1:] for file in files], chosen, duplicates, None, seed]
        target = folder / sha256(json.dumps(decisive, default=repr).encode()).hexdigest()[:20]
        if (target / COLLISION).exists():
            continue
        return Prepared.at(target) if (target / MANIFEST).exists() else None
    raise AssertionError


def _spans(files: list[SourceFile], names: tuple[str, str]) -> list[int | None]:
    """How many different ids there can be in columns of integers; None where footers do not tell."""
    lows: dict[str, list[Any]] = {name: [] for name in names}
    highs: dict[str, list[Any]] = {name: [] for name in names}
    for file in files:
        for name, low, high in _extremes(file, names):
            lows[name].append(low)
            highs[name].append(high)
    return [_span(lows[name], highs[name]) for name in names]


def _span(lows: Sequence[Any], highs: Sequence[Any]) -> int | None:
    if not lows or any(type(value) is not int for value in (*lows, *highs)):
        return None
    return max(highs) - min(lows) + 1


def _extremes(file: SourceFile, names: tuple[str, str]) -> Iterator[tuple[str, Any, Any]]:
    """The least and the largest value of columns in each row group, None where they are not known."""
    with opened(file.name, file.place) as handle:
        opening = open_parquet(file.name, handle)
        meta, schema = opening.metadata, opening.schema_arrow
    places = {meta.schema.column(number).path: number for number in range(meta.num_columns)}
    for name in names:
        whole = arrow().types.is_integer(schema.field(name).type)
        for number in range(meta.num_row_groups):
            group = meta.row_group(number)
            found = group.column(places[name]).statistics if whole else None
            if found is not None and not found.has_min_max:
                found = None
            if group.num_rows:
                yield name, found and found.min, found and found.max
