"""A hypergraph in partitions on disk, as `prepare` writes it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import index_type
from hyperclus._runtime.optional import arrow
from hyperclus.engines.dask.id_keys import as_objects
from hyperclus.engines.dask.store import read_checked
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Ids, Incidence

MANIFEST = "manifest.json"


class PartitionSize(NamedTuple):
    """Size of a partition; a vertex may be in several partitions."""

    n_edges: int
    n_vertices: int
    n_incidences: int


class DataFolder:
    """A folder with partitions of hyperedges, and buckets of vertices."""

    __slots__ = ()
    folder: Path

    def partition_path(self, number: int) -> Path:
        return self.folder / "partitions" / f"{number:05}"

    def bucket_path(self, number: int) -> Path:
        return self.folder / "vertices" / f"{number:05}.parquet"


@dataclass(frozen=True, slots=True)
class Prepared(DataFolder):
    """A hypergraph on disk: hyperedges in partitions, and vertices numbered in buckets.

    A partition is a folder of NumPy arrays: indptr (int64), members (int32, local vertex numbers, ascending
    in each hyperedge), vertices (int64, the global number of each local one, ascending), gamma if `weighted`,
    edge_weights if `edge_weighted`, and for small data order (int64, the original order of the hyperedges).
    Its file edges.parquet has the ids of the hyperedges. A partition may be empty. A bucket is a Parquet file
    with the ids of the vertices from `bucket_ends[q]` to `bucket_ends[q + 1]`, in that order.
    """

    folder: Path  # its name is `key`
    key: str  # a hash of everything that decides the content
    n_vertices: int
    n_edges: int
    n_incidences: int
    weighted: bool  # whether some gamma is not 1
    edge_weighted: bool  # whether the input has hyperedge weights
    bucket_ends: tuple[int, ...]  # from 0 to `n_vertices`
    partitions: tuple[PartitionSize, ...]
    vertex: str  # names of the columns of ids, in the input and here
    edge: str

    @classmethod
    def at(cls, folder: Path) -> "Prepared":
        """Read the manifest in a folder; raises FileNotFoundError if there is none."""
        found = read_checked(folder / MANIFEST)
        del found["files"]
        found["bucket_ends"] = tuple(found["bucket_ends"])
        found["partitions"] = tuple(PartitionSize(*sizes) for sizes in found["partitions"])
        return cls(folder=folder, key=folder.name, **found)

    def files(self) -> dict[str, list[int]]:
        """Read the size and the checksum of each file from the manifest."""
        found: dict[str, list[int]] = read_checked(self.folder / MANIFEST)["files"]
        return found

    def hypergraph(self) -> Hypergraph:
        """Load all partitions; vertices are in the order of their numbers.

        Hyperedges of small data are in their original order, because the search depends on it.
        """
        vertices = _ids([self.bucket_path(number) for number in range(len(self.bucket_ends) - 1)])
        paths = [self.partition_path(number) for number in range(len(self.partitions))]
        edges = _ids([path / "edges.parquet" for path in paths])

        def joined(name: str) -> Any:
            return np.concatenate([np.load(path / f"{name}.npy") for path in paths])

        kind = index_type(max(self.n_incidences, self.n_edges, self.n_vertices))
        indices = [
            np.load(path / "vertices.npy")[np.load(path / "members.npy")].astype(kind) for path in paths
        ]
        sizes = np.concatenate([np.diff(np.load(path / "indptr.npy")) for path in paths])
        indptr = np.append(0, np.cumsum(sizes)).astype(kind)
        gamma = joined("gamma") if self.weighted else np.ones(self.n_incidences)
        omega = joined("edge_weights") if self.edge_weighted else np.ones(self.n_edges)
        parts = (gamma, np.concatenate(indices), indptr)
        matrix: Incidence = sp.csr_array(parts, shape=(self.n_edges, self.n_vertices))
        if all((path / "order.npy").exists() for path in paths):
            order = np.argsort(joined("order"))
            matrix, omega, edges = matrix[order], omega[order], edges[order]
        return Hypergraph.from_checked_parts(matrix, omega, vertices, edges)


def _ids(paths: list[Path]) -> Ids:
    parquet = arrow("pyarrow.parquet")
    columns = [parquet.ParquetFile(path).read(use_threads=False).column(0) for path in paths]
    return as_objects(arrow().chunked_array([chunk for column in columns for chunk in column.chunks]))
