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

from hyperclus.engines.dask.blocks import arrange
from hyperclus.engines.dask.prepared import PartitionSize, Prepared
from hyperclus.engines.dask.session import DaskProducts, DaskSession, StoredHypergraph, omega
from hyperclus.engines.dask.stages import RunFiles, piece, run_stage
from hyperclus.engines.dask.store import MEMORY, read_array, store, vector_path
from hyperclus.engines.dask.vectors import Columns
from hyperclus.engines.dask.workers import WHOLE_PARTS


def sent(value):
    """A copy, as it comes out of a wire."""
    return pickle.loads(pickle.dumps(value))


class StopError(Exception):
    """The client is gone."""


class Alone:
    """Runs every stage here, as `DaskRunner` has them run; `stop` is the round that it does not get to."""

    def __init__(self, stop=None):
        self.rounds, self.stop = 0, stop

    def round(self, site, stages, parts):
        self.rounds += 1
        if self.rounds == self.stop:
            raise StopError
        outcomes = []
        for stage in stages:
            apart = max(parts.values()) > WHOLE_PARTS
            outcomes = [
                sent(
                    run_stage(
                        site,
                        sent(stage),
                        part,
                        [piece(outcome, part) for outcome in outcomes] if apart else outcomes,
                    )
                )
                for part in range(parts[stage.side])
            ]
        return outcomes

    def alone(self, function, *args):
        return sent(function(*sent(args)))


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
    """A hypergraph that is scattered over chunks and bundles, and how its vectors go there and come back."""

    field: DaskSession
    far: StoredHypergraph
    products: DaskProducts
    edges: list[Any]  # the hyperedges of each bundle, as the hypergraph numbers them

    def put(self, values):
        """A vector of vertices, or a block of them."""
        values = np.asarray(values)
        if values.ndim == 2:
            return Columns([self.put(column) for column in values.T], self.field)
        name = f"put-{token_hex(6)}"
        for chunk, (first, last) in enumerate(pairwise([0, *self.field.site.ends])):
            self._store(name, str(chunk), values[first:last])
        return self.field.named(name, dtype=values.dtype)

    def put_edges(self, values):
        """A vector of hyperedges."""
        name, values = f"put-{token_hex(6)}", np.asarray(values)
        for number, own in enumerate(self.edges):
            self._store(name, f"e{number}", values[own])
        return self.field.named(name, "bundles", values.dtype)

    def _store(self, name, part, values):
        store(self.field.site.vectors, name, part, values.copy(), self.field.site.room)

    def get(self, vector):
        """The vector, or the block, on the host, from its files."""
        if isinstance(vector, Columns):
            self.field.ensure(*vector.vectors)
            return np.column_stack([self.get(column) for column in vector.vectors])
        self.field.ensure(vector)
        parts = [read_array(path) for path in self.field._files(vector.payload, vector.side)]
        if vector.side == "vertices":
            ends = [0, *self.field.site.ends]
            assert [len(part) for part in parts] == [last - first for first, last in pairwise(ends)]
            return np.concatenate(parts)
        whole = np.empty(self.far.n_edges, dtype=parts[0].dtype)
        for own, part in zip(self.edges, parts, strict=True):
            whole[own] = part
        return whole

    def stored(self):
        """The names of the vectors that lie in files."""
        return {path.name.partition(".")[0] for path in self.field.site.vectors.glob("*.npy")}

    def again(self, runner=None):
        """What another client sees, which is started after this one has gone; nothing is in memory."""
        MEMORY.drop({key[0] for key in list(MEMORY._held)})
        site = RunFiles(*(getattr(self.field.site, name) for name in RunFiles.__slots__))
        field = DaskSession.on(site, self.far.n_vertices, runner or Alone())
        return _there(field, self.far.prepared, self.edges)


def _there(field, prepared, edges):
    return There(field, StoredHypergraph(prepared, omega(field)), DaskProducts(field), edges)


@contextmanager
def scattered(h, chunks=3, bundles=2, partitions=5, alpha=0.0, memory=4e9, threads=1, runner=None):
    """The hypergraph, its hyperedges dealt at random, while the body runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = np.random.default_rng(0).integers(0, partitions, h.n_edges)
        prepared = prepared_from(h, folder, home)
        ends = np.linspace(0, h.n_vertices, min(chunks, h.n_vertices) + 1).astype(int)[1:].tolist()
        dealt = [list(range(number, len(prepared.partitions), bundles)) for number in range(bundles)]
        folders = [folder / f"bundle-{number}" for number in range(bundles)]
        shapes = [
            arrange(prepared, own, path, ends, threads) for own, path in zip(dealt, folders, strict=True)
        ]
        edges = [
            np.concatenate([np.empty(0, int), *(np.flatnonzero(home == one) for one in own)]) for own in dealt
        ]
        (folder / "vectors").mkdir()
        site = RunFiles(folder / "vectors", folders, ends, [shape.offsets for shape in shapes], alpha, memory)
        yield _there(DaskSession.on(site, h.n_vertices, runner or Alone()), prepared, edges)


def damage(there, vector, part=0, share=0.5):
    """Cut off the end of the file of one part of a stored vector, of which nothing stays in memory."""
    path = vector_path(there.field.site.vectors, vector.payload, str(part))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    MEMORY.drop({vector.payload})
