"""A cluster of none: the stages of a round one after the other, here; and data prepared by hand."""

import pickle
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hyperclus.engines.cpu import Tuning
from hyperclus.engines.dask.backend import DaskProducts, StoredHypergraph
from hyperclus.engines.dask.blocks import arrange
from hyperclus.engines.dask.prepared import PartitionSize, Prepared
from hyperclus.engines.dask.schedule import result_for, run_stage
from hyperclus.engines.dask.session import DaskSession
from hyperclus.engines.dask.store import VECTORS, RunFiles, read_array, vector_path, write_part
from hyperclus.engines.dask.vectors import Columns
from hyperclus.engines.dask.workers import WHOLE_PARTS, WorkerPool, WorkerState, _catch_errors

ONE_THREAD = Tuning(threads=1)


def sent(value):
    """A copy, as it comes out of a wire."""
    return pickle.loads(pickle.dumps(value))


class StopError(Exception):
    """The client is gone."""


class Alone:
    """Runs every stage here, as `WorkerPool` has them run; `stop` is the round that it does not get to."""

    def __init__(self, stop=None):
        self.rounds, self.stop = 0, stop

    def round(self, path, stages, parts):
        self.rounds += 1
        if self.rounds == self.stop:
            raise StopError
        results = []
        for stage in stages:
            apart = max(parts.values()) > WHOLE_PARTS
            results = [
                sent(
                    run_stage(
                        path,
                        sent(stage),
                        part,
                        [result_for(result, part) for result in results] if apart else results,
                    )
                )
                for part in range(parts[stage.side])
            ]
        return results

    def alone(self, function, *args):
        return next(self.each(function, [args]))[1]

    def each(self, function, arguments):
        """Run each task here, and raise its error, as `WorkerPool.each` does."""
        for place, given in enumerate(arguments):
            result, error = sent(_catch_errors(function, sent(given)))
            if error is not None:
                raise error
            yield place, result


class AlonePool(Alone, WorkerPool):
    """The same as a `WorkerPool` with two workers, for `cluster_files`."""

    def workers(self):
        return [WorkerState(f"worker {number}", 10**9, 1) for number in range(2)]


def prepared_from(h, folder, home):
    """The hypergraph as the preparation would leave it; `home` is the partition of each hyperedge."""
    sizes = []
    for number in range(home.max(initial=0) + 1):
        path = folder / "partitions" / f"{number:05}"
        path.mkdir(parents=True)
        rows = h.gamma[np.flatnonzero(home == number)]
        vertices, members = np.unique(rows.indices, return_inverse=True)
        np.save(path / "indptr.npy", rows.indptr.astype(np.int64))
        np.save(path / "members.npy", members.astype(np.int32))
        np.save(path / "gamma.npy", rows.data)
        np.save(path / "edge_weights.npy", h.edge_weights[home == number])
        np.save(path / "vertices.npy", vertices.astype(np.int64))
        write_ids(path / "edges.parquet", "edge", np.flatnonzero(home == number))
        sizes.append(PartitionSize(rows.shape[0], len(vertices), rows.nnz))
    (folder / "vertices").mkdir()
    write_ids(folder / "vertices" / "00000.parquet", "vertex", np.arange(h.n_vertices))
    size = h.n_vertices, h.n_edges, h.n_incidences
    return Prepared(
        folder, "key", *size, True, True, (0, h.n_vertices), tuple(sizes), vertex="vertex", edge="edge"
    )


def write_ids(path, name, ids):
    pq.write_table(pa.table({name: ids}), path)


@dataclass
class There:
    """A hypergraph in blocks and chunks, and its vectors."""

    session: DaskSession
    stored: StoredHypergraph
    products: DaskProducts
    edges: list[Any]  # the hyperedges of each block, as the hypergraph numbers them

    def put(self, values):
        """A vector of vertices, or a block of them."""
        values = np.asarray(values)
        if values.ndim == 2:
            return Columns([self.put(column) for column in values.T], self.session)
        name = f"put-{token_hex(6)}"
        for chunk, (first, last) in enumerate(pairwise([0, *self.session.files.ends])):
            self._store(name, str(chunk), values[first:last])
        return self.session.stored(name, dtype=values.dtype)

    def put_edges(self, values):
        """A vector of hyperedges."""
        name, values = f"put-{token_hex(6)}", np.asarray(values)
        for number, own in enumerate(self.edges):
            self._store(name, f"e{number}", values[own])
        return self.session.stored(name, "edges", values.dtype)

    def _store(self, name, part, values):
        write_part(self.session.files, name, part, values.copy())

    def get(self, vector):
        """The vector, or the block, on the host, from its files."""
        if isinstance(vector, Columns):
            self.session.ensure_stored(*vector.vectors)
            return np.column_stack([self.get(column) for column in vector.vectors])
        self.session.ensure_stored(vector)
        parts = [read_array(path) for path in self.session.vector_files(vector.payload, vector.side)]
        if vector.side == "vertices":
            ends = [0, *self.session.files.ends]
            assert [len(part) for part in parts] == [last - first for first, last in pairwise(ends)]
            return np.concatenate(parts)
        whole = np.empty(self.stored.n_edges, dtype=parts[0].dtype)
        for own, part in zip(self.edges, parts, strict=True):
            whole[own] = part
        return whole

    def stored_names(self):
        """The names of the vectors that lie in files."""
        return {path.name.partition(".")[0] for path in self.session.files.vectors.glob("*.npy")}

    def again(self, pool=None):
        """What another client sees, which is started after this one has gone; nothing is in memory."""
        VECTORS.drop({key[0] for key in list(VECTORS._entries)})
        session = DaskSession(self.session.files, pool or Alone())
        return _there(session, self.stored.prepared, self.edges)


def _there(session, prepared, edges):
    products = DaskProducts(session)
    return There(session, StoredHypergraph(prepared, products.edge_weights()), products, edges)


@contextmanager
def scattered(h, chunks=3, blocks=2, partitions=5, alpha=0.0, memory=4e9, tuning=ONE_THREAD, pool=None):
    """The hypergraph, its hyperedges dealt at random, while the body runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = np.random.default_rng(0).integers(0, partitions, h.n_edges)
        prepared = prepared_from(h, folder, home)
        ends = np.linspace(0, h.n_vertices, min(chunks, h.n_vertices) + 1).astype(int)[1:].tolist()
        dealt = [list(range(number, len(prepared.partitions), blocks)) for number in range(blocks)]
        folders = [folder / f"block-{number}" for number in range(blocks)]
        offsets = [
            arrange(prepared, own, path, ends, tuning) for own, path in zip(dealt, folders, strict=True)
        ]
        edges = [
            np.concatenate([np.empty(0, int), *(np.flatnonzero(home == one) for one in own)]) for own in dealt
        ]
        (folder / "vectors").mkdir()
        files = RunFiles(folder / "vectors", folders, ends, offsets, alpha, memory)
        yield _there(DaskSession(files, pool or Alone()), prepared, edges)


def damage(there, vector, part=0, share=0.5):
    """Cut off the end of the file of one part of a stored vector, of which nothing stays in memory."""
    path = vector_path(there.session.files.vectors, vector.payload, str(part))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    VECTORS.drop({vector.payload})
