"""Estimates of the memory, disk space and traffic of a run, from the footers of its Parquet files."""

import logging
from dataclasses import dataclass
from math import ceil
from typing import Any

from hyperclus._runtime.files import StrPath
from hyperclus.engines.dask.prepare import PIECE_BYTES, ROW_BYTES, Tuning, prepared_folder
from hyperclus.engines.dask.prepared import MANIFEST, Prepared
from hyperclus.engines.dask.schedule import BLOCK_SHARE, width
from hyperclus.engines.dask.source import Source, TableOptions, check_footers, list_files, read_footers
from hyperclus.engines.dask.store import VECTOR_SHARE
from hyperclus.engines.dask.workers import WorkerState

FREE = 0.8  # of its memory that a worker may use before Dask pauses it
PROCESS_BYTES = 0.25e9  # of a worker with its libraries, measured
STORED_BLOCKS, STORED_VECTORS = 12, 10  # kept during a run: blocks of the Krylov basis, and single vectors

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of the input; without prepared data, vertices and hyperedges are upper bounds."""

    n_incidences: int
    n_bytes: int  # uncompressed; 0 if the data are prepared
    n_vertices: int
    n_edges: int
    weighted: bool
    prepared_partitions: int | None  # None if the data are not prepared

    @classmethod
    def of(cls, source: Source, folder: StrPath, options: TableOptions) -> "Sizes":
        """Read the footers of the files; the ranges of integer ids bound the numbers of ids."""
        files = list_files(source)
        footers = read_footers(files, options)
        columns = check_footers(files, footers, source)
        target, _ = prepared_folder(folder, files, options)
        if (target / MANIFEST).exists():
            return cls.of_prepared(Prepared.at(target))
        n_rows = sum(sum(footer.rows) for footer in footers)
        bounds = [n_rows, n_rows]
        for side in range(2):
            ranges: list[Any] = [footer.ranges[side] for footer in footers if any(footer.rows)]
            if None not in ranges:
                span = max(high for _, high in ranges) - min(low for low, _ in ranges) + 1
                bounds[side] = min(span, n_rows)
        n_bytes = sum(sum(footer.sizes) for footer in footers)
        return cls(n_rows, n_bytes, bounds[0], bounds[1], columns.weight is not None, None)

    @classmethod
    def of_prepared(cls, prepared: Prepared) -> "Sizes":
        size = prepared.n_incidences, 0, prepared.n_vertices, prepared.n_edges
        return cls(*size, prepared.weighted, len(prepared.partitions))


@dataclass(frozen=True, slots=True)
class Need:
    """Upper bounds for a run, in bytes."""

    workers: int
    partitions: int
    memory: int  # peak of a worker
    minimum: int  # what a worker must have
    in_memory: bool  # whether incidences stay in memory; otherwise every round reads them from disk
    sent: int  # by all workers in a round
    disk: int
    enough: bool


def need(sizes: Sizes, k: int, workers: int, limit: int) -> Need:
    """Estimate what a run needs on some workers with a memory limit each.

    A worker keeps its incidences in memory if they take at most BLOCK_SHARE of the limit, and stored vectors
    up to VECTOR_SHARE. A round takes, per vector, four numbers per vertex that the worker's hyperedges touch
    (received, gathered, computed, sent), three per vertex of its own chunk, and one per hyperedge.
    """
    m, n, e, block = sizes.n_incidences, sizes.n_vertices, sizes.n_edges, width(k - 1, sizes.n_incidences)
    states = [WorkerState("", limit, 1)] * workers
    partitions = sizes.prepared_partitions or Tuning().n_partitions(m, sizes.n_bytes, states)
    parts, stored = min(workers, partitions), STORED_BLOCKS * block + STORED_VECTORS
    chunk, gamma = ceil(n / parts), 8 * sizes.weighted
    incidences = (8 + gamma) * ceil(m / parts)
    in_memory = incidences <= BLOCK_SHARE * limit
    a_round = PROCESS_BYTES + 8 * block * (4 * min(n, ceil(m / parts)) + 3 * chunk + ceil(e / parts))
    run = a_round + min(8 * chunk * stored, VECTOR_SHARE * limit) + incidences * in_memory
    piece = PIECE_BYTES / 2 * min(m, Tuning().piece_rows(m, limit))
    memory = int(max(run, PROCESS_BYTES + max(piece, (ROW_BYTES * m + sizes.n_bytes) / partitions)))
    minimum, sent = int(a_round / (FREE - VECTOR_SHARE)), 16 * block * min(m, parts * n)
    text = max(sizes.n_bytes - 24 * m, 0)  # of ids that are longer than their keys
    copies = (12 + 2 * gamma) * m + 8 * (min(m, partitions * n) + min(m, parts * n) + n + 4 * e) + text
    temporary = max((24 + gamma) * m + text, 8 * n * stored + 9 * n)  # pieces; later vectors and labels
    enough = memory <= FREE * limit
    return Need(workers, partitions, memory, minimum, in_memory, sent, copies + temporary, enough)


def warn_if_short(prepared: Prepared, k: int, workers: list[WorkerState]) -> None:
    """Log a warning if the workers may have too little memory for a run."""
    limit = min((worker.memory_limit for worker in workers if worker.memory_limit), default=0)
    minimum = need(Sizes.of_prepared(prepared), k, len(workers), limit).minimum if limit else 0
    if minimum > limit:
        message = "a worker may need %.1f GB of memory and has %.1f GB; if workers die, use larger ones"
        _log.warning(message, minimum / 1e9, limit / 1e9)
