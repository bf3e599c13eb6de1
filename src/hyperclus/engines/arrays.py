"""Array backends that hold whole vectors in one memory: NumPy, and any module with NumPy's functions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from hyperclus._runtime.checkpoint import Checkpoint, open_checkpoint
from hyperclus.engines.base import Array, IncidenceProducts, nearest_centre, reaches_all
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.incidence import connected_components
from hyperclus.typing import Floats, Integers


class NumpyBackend:
    """Vectors as NumPy arrays in host memory; a subclass holds those of another array module."""

    name = "cpu"
    on_host = True
    xp: Any = np
    rows_at_a_time = 1 << 16  # what the cache holds
    dense_up_to = 1_500
    points_at_a_time = 1 << 13  # the same of rows that are compared with many centres

    def put(self, values: Any, dtype: Any = None) -> Any:
        return values if dtype is None else np.asarray(values, dtype=dtype)

    def fetch(self, *values: Any) -> list[Any]:
        return list(values)

    def persist(self, vector: Array) -> Array:
        return vector

    def empty_columns(self, like: Any, count: int) -> Any:
        return self.xp.empty((len(like), count), dtype=like.dtype, order="F")

    def take(self, table: Any, codes: Any) -> Any:
        return self.put(table)[self.put(codes)]

    def normal(self, size: int, rng: np.random.Generator) -> Floats:
        return rng.standard_normal(size)

    def row_slices(self, count: int) -> Iterable[slice]:
        """As many rows as the memory next to the processor holds."""
        step = self.rows_at_a_time
        return (slice(first, first + step) for first in range(0, count, step))

    def column_batches(self, count: int) -> Iterable[range]:
        """One column at a time: a block of large columns would not fit the cache."""
        return (range(column, column + 1) for column in range(count))

    def block_width(self, wanted: int, n_incidences: int) -> int | None:
        """One vector: reading a value costs nothing."""
        return None

    def sign_of_largest(self, vector: Floats) -> Any:
        """Of two entries of equal magnitude, the first one."""
        return np.sign(vector[int(np.argmax(np.abs(vector)))])

    def sample_rows(self, points: Floats, masses: Floats, count: int) -> tuple[Floats, Floats]:
        """All rows in lexicographic order; of many rows those at equal steps of mass by the first column."""
        if len(masses) <= count:
            points, masses = self.fetch(points, masses)
            order = np.argsort(points[:, 0])
            if np.any(np.diff(points[order, 0]) == 0):  # the other columns decide, which is seldom
                order = np.lexsort(points.T[::-1])
            return points[order], masses[order]
        order = np.argsort(points[:, 0])
        steps = self.put((np.arange(count) + 0.5) / count, masses.dtype)
        chosen = np.searchsorted(np.cumsum(masses[order]), steps * masses.sum())
        (rows,) = self.fetch(points[order[np.minimum(chosen, len(order) - 1)]])
        return rows, np.ones(count)

    def nearest(self, points: Floats, centres: Floats) -> Integers:
        """Some rows at a time; an empty centre gets the farthest row of a centre that can spare one."""
        centres, labels = self.put(centres, points.dtype), np.empty_like(points[:, 0], dtype=np.int64)
        for first in range(0, len(labels), self.points_at_a_time):
            rows = slice(first, first + self.points_at_a_time)
            labels[rows] = nearest_centre(points[rows], centres)
        (sizes,) = self.fetch(np.bincount(labels, minlength=len(centres)))
        for empty in np.flatnonzero(sizes == 0).tolist():
            distances = np.square(points - centres[labels]).sum(axis=1)
            farthest = int(np.argmax(np.where(self.put(sizes)[labels] > 1, distances, -1.0)))
            sizes[int(labels[farthest])] -= 1
            labels[farthest], sizes[empty] = empty, 1
        return labels

    def mass_splitter(
        self, scores: Floats, masses: Floats
    ) -> Callable[[Sequence[float]], Iterator[Integers]]:
        """By sorting once; equal scores may get both labels."""
        order = np.argsort(scores)
        volumes = np.cumsum(masses[order])

        def split(shares: Sequence[float]) -> Iterator[Integers]:
            for share in shares:
                last = int(np.searchsorted(volumes, self.put(np.array([share]), volumes.dtype))[0])
                labels = np.ones_like(order)
                labels[order[: min(last + 1, len(order) - 1)]] = 0
                yield labels

        return split

    def best_half(self, mask: Any, scores: Floats, count: int, seed: int) -> Any:
        """By sorting; the first ones among equal scores."""
        rows = np.flatnonzero(mask)
        best = np.zeros_like(mask)
        best[rows[np.argsort(-scores[rows], kind="stable")[: max(count // 2, 1)]]] = True
        return best

    def first_rows(self, labels: Any, count: int) -> Any:
        """By writing the rows in descending order."""
        (labels,) = self.fetch(labels)
        first = np.full(count, len(labels))
        first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)
        return first

    def components(
        self, products: IncidenceProducts, hypergraph: Hypergraph
    ) -> tuple[int, Integers, Integers]:
        """Search the bipartite graph in host memory; empty hyperedges carry the number -1."""
        gamma = hypergraph.gamma
        n_edges, n_vertices = gamma.shape
        first = self.xp.zeros(n_vertices)
        first[0] = 1.0
        if reaches_all(products, first, n_vertices):
            filled = np.diff(gamma.indptr) > 0
            of_edge = np.broadcast_to(np.int64(0), n_edges) if filled.all() else np.where(filled, 0, -1)
            return 1, np.broadcast_to(np.int64(0), n_vertices), of_edge
        return connected_components(gamma)

    def run_on_one(self, function: Callable[..., Any], hypergraph: Hypergraph, *args: Any) -> dict[str, Any]:
        facts, arrays = function(hypergraph, *args)
        return {**facts, **{name: self.put(array) for name, array in arrays.items()}}

    def open_checkpoint(self, stage: str, *inputs: Any, rng: np.random.Generator | None = None) -> Checkpoint:
        """Arrays are stored as they are."""
        return open_checkpoint(stage, *inputs, rng=rng)


NUMPY = NumpyBackend()
