"""The Dask engine: hyperedges in blocks and vectors in chunks on many workers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np

from hyperclus._runtime.checkpoint import Checkpoint, open_checkpoint
from hyperclus.engines.base import Array, ByColumns, IncidenceProducts, Weights, reaches_all
from hyperclus.engines.dask import chunk_kernels
from hyperclus.engines.dask.blocks import find_components
from hyperclus.engines.dask.chunk_kernels import BINS
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.engines.dask.schedule import width
from hyperclus.engines.dask.session import DaskSession
from hyperclus.engines.dask.store import read_run_files, store_rows
from hyperclus.engines.dask.vectors import Columns, Reduction, Vector, fetch, mapped, persist, reduced
from hyperclus.typing import Floats

ZOOMS = 2  # histograms, each of which refines one bin of the one before
NORMALS_EACH = 1 << 12  # vertices that share a random generator
BYTES_EACH = 150  # memory per incidence that the CPU engine takes, at most


@dataclass(frozen=True, eq=False)
class StoredHypergraph:
    """A hypergraph in prepared files, as far as solvers ask for it."""

    prepared: Prepared
    edge_weights: Any

    n_vertices = property(attrgetter("prepared.n_vertices"))
    n_edges = property(attrgetter("prepared.n_edges"))
    n_incidences = property(attrgetter("prepared.n_incidences"))

    def content_key(self) -> bytes:
        """Name the prepared data, which is a hash of the source."""
        return self.prepared.key.encode()

    def __repr__(self) -> str:
        return (
            f"StoredHypergraph({self.n_vertices:,} vertices, {self.n_edges:,} hyperedges, "
            f"{self.n_incidences:,} incidences)"
        )


@dataclass(frozen=True, eq=False)
class DaskBackend:
    """Vectors as expressions; each `fetch` is a round over the workers."""

    session: DaskSession
    name: str = "dask"
    on_host: bool = False
    dense_up_to: int = 1_500

    def put(self, values: Any, dtype: Any = None) -> Any:
        """Small arrays stay on the host and travel with the instructions."""
        return values

    def fetch(self, *values: Any) -> list[Any]:
        return fetch(values)

    def persist(self, vector: Array) -> Array:
        persist(vector)
        return vector

    def empty_columns(self, like: Any, count: int) -> Columns:
        return Columns([None] * count, self.session)

    def take(self, table: Any, codes: Vector) -> Vector:
        return mapped(np.take, np.asarray(table), codes)

    def normal(self, size: int, rng: np.random.Generator) -> Vector:
        """Random numbers that do not depend on how the vertices are divided."""
        return self.session.from_rows(partial(chunk_kernels.normal, int(rng.integers(1 << 63)), NORMALS_EACH))

    def row_slices(self, count: int) -> Iterable[slice]:
        """All rows: each worker splits its own."""
        return [slice(None)]

    def column_batches(self, count: int) -> Iterable[range]:
        """All columns share a round."""
        return [range(count)]

    def block_width(self, wanted: int, n_incidences: int) -> int | None:
        return width(wanted, n_incidences)

    def sign_of_largest(self, vector: Vector) -> Reduction:
        """Of two entries of equal magnitude, the positive one."""
        then = lambda both: 1.0 if both[0] >= both[1] else -1.0  # noqa: E731
        return reduced(chunk_kernels.extremes, vector, how="max", then=then)

    def sample_rows(
        self, points: Columns, masses: Vector, count: int, seed: int = 0
    ) -> tuple[Floats, Floats]:
        """Each row is drawn independently."""
        args = (count / float(masses.sum()), seed, self._rows(), masses, *points.vectors)
        drawn = reduced(chunk_kernels.sampled, *args, how="join").value()
        return drawn[:, 1:], drawn[:, 0]

    def nearest(self, points: Columns, centres: Floats) -> Vector:
        """Chunk by chunk; a centre may be left without rows."""
        given = np.asarray(centres), *points.vectors
        return self.persist(mapped(chunk_kernels.nearest, *given, dtype=np.int64))

    def mass_splitter(self, scores: Vector, masses: Vector) -> Callable[[Sequence[float]], Iterator[Vector]]:
        """By histograms, without sorting; equal scores get the same label."""
        found: dict[float, float] = {}
        known = range_and_mass(scores, masses)

        def split(shares: Sequence[float]) -> Iterator[Vector]:
            new = [share for share in shares if share not in found]
            if new:
                found.update(zip(new, mass_levels(scores, masses, new, known), strict=True))
            for share in shares:
                yield (scores > found[share]).astype(np.int64)

        return split

    def best_half(self, mask: Vector, scores: Vector, count: int, seed: int) -> Vector:
        """About half; among equal scores, a random half."""
        least = mapped(np.where, mask, scores, np.inf).min().value()
        median = mass_levels(mapped(np.where, mask, scores, least), mask.astype(np.float64), [0.5])[0]
        best = persist(mask & (mapped(np.where, mask, scores, -np.inf) > median))
        if 0 < int(np.count_nonzero(best)) < count:
            return best
        return persist(mask & self.session.from_rows(partial(chunk_kernels.random_half, seed), np.bool_))

    def first_rows(self, labels: Vector, count: int) -> Reduction:
        return reduced(chunk_kernels.first_rows, count, labels, self._rows(), how="min")

    def components(self, products: IncidenceProducts, hypergraph: Any) -> tuple[int, Any, Any]:
        """A search on one worker, which holds a number for each vertex; hyperedges are not numbered."""
        first: Any = self.session.from_rows(chunk_kernels.first_only)
        if reaches_all(products, first, self.session.n_vertices):
            return 1, None, None
        count, reference = self.session.pool.alone(find_components, self.session.path)
        return count, self.session.restore(reference), None

    def run_on_one(
        self, function: Callable[..., Any], hypergraph: StoredHypergraph, *args: Any
    ) -> dict[str, Any] | None:
        if BYTES_EACH * hypergraph.n_incidences > self.session.files.memory:
            return None
        given = (self.session.path, hypergraph.prepared, function, args)
        facts, vectors = self.session.pool.alone(_run_on_worker, *given)
        return facts | {name: self.session.restore(reference) for name, reference in vectors.items()}

    def open_checkpoint(self, stage: str, *inputs: Any, rng: np.random.Generator | None = None) -> Checkpoint:
        """Vectors stay in the files of the run; the checkpoint refers to them."""
        return open_checkpoint(stage, *inputs, rng=rng)

    def _rows(self) -> Vector:
        return self.session.from_rows(np.arange)


@dataclass(frozen=True, eq=False)
class DaskProducts(ByColumns):
    """Products over blocks of hyperedges on many workers; vectors are expressions."""

    session: DaskSession

    @cached_property
    def backend(self) -> DaskBackend:
        return DaskBackend(self.session)

    def edge_weights(self) -> Vector:
        return persist(self._local("omega"))

    def to_edges(self, values: Any, weights: Weights) -> Any:
        """Each block holds all members of its hyperedges."""
        if isinstance(values, Columns):
            return Columns([self.to_edges(vector, weights) for vector in values.vectors])
        return self._local("to_edges", gathered(values), weights)

    def to_vertices(self, values: Any, weights: Weights) -> Any:
        if isinstance(values, Columns):
            return Columns([self.to_vertices(vector, weights) for vector in values.vectors])
        return persist(scattered(self._local("to_vertices", values, weights)))

    def edge_pairs(self, first: Any, second: Any) -> tuple[Any, Any]:
        return self.to_edges(first, "gamma"), self.to_edges(second, "source_weights")

    def symmetrized(self, vector: Any, left: Any, right: Any, middle: Any) -> Any:
        """One value is sent to each block for each of its vertices, and one is returned."""
        self.session.ensure_stored(left, right)
        return scattered(self._local("symmetrized", gathered(vector), static(left), static(right), middle))

    def vertex_squares(self, values: Any) -> Any:
        return persist(scattered(self._local("vertex_squares", values)))

    def least_share(self, out_edge: Any, out_vertex: Any, in_edge: Any, in_vertex: Any) -> float:
        given = (out_edge, gathered(out_vertex), in_edge, gathered(in_vertex))
        return float(reduced("least_share", *given, how="min"))

    def constants(self) -> Any:
        """Checked in each block first, and only then across them."""
        if not Reduction(self.session, "edges", "has_constants", (), "min"):
            return None
        found = self._local("constants")
        largest = persist(scattered(found, "max"))
        smallest = -scattered(-found, "max")
        return largest if (largest == smallest).all() else None

    def flows(
        self, labels: Any, count: int, phi: Any, degrees: Any, shares: Any, once: bool = False
    ) -> tuple[Any, Any]:
        """One round, with `count` numbers from each block."""
        self.session.ensure_stored(phi, degrees)
        small = labels.astype(np.int8 if count <= 127 else np.int32)
        boundaries = reduced("boundaries", gathered(small), static(phi), static(degrees), shares, count)
        return np.bincount(labels, weights=phi, minlength=count), boundaries

    def _local(self, method: str, *args: Any) -> Vector:
        return Vector(self.session, "edges", "local", method, args)


def gathered(vector: Vector) -> Vector:
    """The values at the vertices of a block."""
    return Vector(vector.session, "edges", "gather", None, (vector,))


def static(vector: Vector) -> Vector:
    """The same for a stored vector; the block keeps them."""
    return Vector(vector.session, "edges", "static", None, (vector,))


def scattered(vector: Vector, how: str = "sum") -> Vector:
    """The contributions of all blocks to each vertex."""
    return Vector(vector.session, "vertices", "scatter", how, (vector,))


def range_and_mass(scores: Vector, masses: Vector) -> list[float]:
    """The smallest and the largest score, and the total mass."""
    return list(map(float, fetch([scores.min(), scores.max(), masses.sum()])))


def mass_levels(
    scores: Vector, masses: Vector, shares: Sequence[float], known: list[float] | None = None
) -> list[float]:
    """The scores up to which vertices have these shares of the mass; `known` is `range_and_mass`."""
    low, high, total = known or range_and_mass(scores, masses)
    wanted = np.asarray(shares) * total
    edges = np.tile([low, high], (len(wanted), 1)).astype(np.float64)
    below = np.zeros(len(wanted))
    for _ in range(ZOOMS):
        counts = reduced(chunk_kernels.histograms, edges, scores, masses).value()
        running = below[:, None] + np.cumsum(counts, axis=1)
        for row, level in enumerate(wanted):
            bin_ = min(int(np.searchsorted(running[row], level)), BINS - 1)
            ends = np.linspace(edges[row, 0], edges[row, 1], BINS + 1)
            below[row] = running[row, bin_ - 1] if bin_ else below[row]
            edges[row] = ends[bin_], ends[bin_ + 1]
    return [float(high) for _, high in edges]


def _run_on_worker(
    path: Any, prepared: Prepared, function: Any, args: tuple[Any, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a function of the whole hypergraph; the arrays that it returns are stored as vectors."""
    files = read_run_files(path)
    facts, arrays = function(prepared.hypergraph(), *args)
    return facts, {name: store_rows(files, values) for name, values in arrays.items()}
