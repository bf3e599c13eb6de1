"""Incidence products of large hypergraphs in host memory: compiled loops over blocks of vertices."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from hyperclus._runtime.arrays import read_only
from hyperclus._runtime.native import Kernel, Kind
from hyperclus._runtime.threads import in_parallel
from hyperclus.engines.base import Weights
from hyperclus.engines.cpu import (
    RUNS_FROM,
    HostProducts,
    Lists,
    SparseProducts,
    Tuning,
    checked,
    constants_of,
)
from hyperclus.typing import Codes, Floats, Integers

SPAN = 12  # bits: a block consists of spans of 4096 vertices
RANGES: tuple[Kind, ...] = (
    "integers",
    "int",
    "int",
    "int",
)  # bounds, and which of the ranges: first, end, step
ALONG: tuple[Kind, ...] = ("indices", "indices", "floats", "floats", "floats")  # to, of, gamma, values, sums

_count_spans = Kernel("count_spans", "indices", "indices", "int", "int", "int", "integers")
_fill_blocks = Kernel(
    *("fill_blocks", "indices", "indices", "floats", "integers", "int", "int", "int", "integers"),
    *("indices", "indices", "floats", "bool"),
)
_sums = Kernel("sums", *ALONG, "bool", "bool", *RANGES)
_rows = Kernel("rows", *ALONG, "bool", "int", *RANGES)
_pairs = Kernel("pairs", *ALONG, "int", "bool", *RANGES)
_least_share = Kernel(
    *("least_share", "indices", "indices", "floats", "floats", "floats", "floats", "floats", "bool", "bool"),
    *RANGES,
    returns="float",
)
_spread = Kernel("spread", "floats", "floats", "floats", "floats", "int", "int", "int")
_cross = Kernel("cross", "floats", "floats", "int", "int", "int")
_join = Kernel("join", "floats", "floats", "floats", "floats", "int", "int", "int")


@dataclass(frozen=True, slots=True, eq=False)
class BlockProducts(HostProducts):
    """Compiled loops over blocks of vertices; for alpha 0 and 1.

    In a block the hyperedges ascend and the vertices fit the cache, so one copy of the incidences serves both
    directions and no transpose is needed. Sums over vertices run on threads with their own hyperedges, sums
    over hyperedges on threads with their own blocks: the result does not depend on the number of threads.
    """

    alpha: float
    edges: Codes
    vertices: Codes
    gamma: Floats  # empty if all are 1
    bounds: Integers  # where the incidences of each block begin, and within it those of each thread
    shape: tuple[int, int]
    n_parts: int
    runs_from: int = RUNS_FROM  # see `Tuning`
    lists: Lists | None = None

    @classmethod
    def of(cls, lists: Lists, tuning: Tuning | None = None) -> "BlockProducts":
        """Sort the incidences into blocks, in two passes over them."""
        tuning, gamma = tuning or Tuning(), lists.gamma
        parts = tuning.parts(gamma.indptr)
        spans = np.zeros((len(parts), (gamma.shape[1] >> SPAN) + 1), dtype=np.int64)
        csr = gamma.indptr, gamma.indices
        in_parallel([
            partial(_count_spans, *csr, *part, SPAN, own) for part, own in zip(parts, spans, strict=True)
        ])  # fmt: skip
        block_of, count = tuning.blocks_of_vertices(spans.sum(axis=0), gamma.shape[1])
        counts = np.zeros((count, len(parts)), dtype=np.int64)
        np.add.at(counts, block_of, spans.T)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        places = bounds[:-1].reshape(counts.shape).T.copy()
        weights = gamma.data[bool((gamma.data == 1).all()) * gamma.nnz :]
        filled = tuple(map(np.empty_like, (gamma.indices, gamma.indices, weights)))
        in_parallel([
            partial(_fill_blocks, *csr, gamma.data, block_of, *part, SPAN, own, *filled, len(weights) > 0)
            for part, own in zip(parts, places, strict=True)
        ])  # fmt: skip
        edges, vertices, weights = map(read_only, filled)
        facts = bounds, gamma.shape, len(parts), tuning.runs_from
        return cls(lists.alpha, edges, vertices, weights, *facts, lists)

    def to_edges(self, values: Floats, weights: Weights) -> Floats:
        return self._real(self._to_edges, self._gamma(weights), values)

    def to_vertices(self, values: Floats, weights: Weights) -> Floats:
        return self._real(self._to_vertices, self._gamma(weights), values)

    def edge_pairs(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        if self._equal or first.ndim == 2:
            return HostProducts.edge_pairs(self, first, second)  # super() does not work with slots
        values = np.empty((self.shape[1], 2))
        values[:, 0], values[:, 1] = (checked(some, self.shape[1]) for some in (first, second))
        found = self._edge_pairs(values, 1)
        return found[:, 0], found[:, 1]

    def symmetrized(self, block: Floats, left: Floats, right: Floats, middle: Floats) -> Floats:
        """Two passes with pairs; four with single values if gamma^alpha is gamma."""
        if self._equal:
            return HostProducts.symmetrized(self, block, left, right, middle)
        (n_edges, n), vectors = self.shape, checked(block, self.shape[1])
        left, right, middle = checked(left, n), checked(right, n), checked(middle, n_edges)
        width = 1 if block.ndim == 1 else block.shape[1]
        values = np.empty((n, 2 * width))
        self._along(_spread, n, vectors, left, right, values, width)
        of_edges = self._edge_pairs(values, width)
        self._along(_cross, n_edges, of_edges, middle, width)
        values[:] = 0.0
        self._run_on(
            self._blocks, _pairs, self.vertices, self.edges, self.gamma, of_edges, values, width, False
        )
        del of_edges  # before more memory is needed
        image = np.empty(vectors.shape)
        self._along(_join, n, values, left, right, image, width)
        return image

    def vertex_squares(self, values: Floats) -> Floats:
        """One pass; at alpha = 1 with squares computed for it."""
        squares = self.gamma if self.alpha == 0 else read_only(np.square(self.gamma))
        return self._to_vertices(squares, values)

    def least_share(self, out_edge: Floats, out_vertex: Floats, in_edge: Floats, in_vertex: Floats) -> float:
        n_edges, n = self.shape
        shares = (
            checked(out_edge, n_edges),
            checked(out_vertex, n),
            checked(in_edge, n_edges),
            checked(in_vertex, n),
        )
        given = self.edges, self.vertices, self.gamma, *shares, len(self.gamma) > 0, self.alpha == 1
        return float(min(self._run_on(self._blocks, _least_share, *given)))

    def constants(self) -> Floats | None:
        """Chunk by chunk, until one differs."""
        if not len(self.gamma):
            return np.ones(self.shape[1])
        return constants_of(self.vertices, self.gamma, self.shape[1])

    @property
    def _equal(self) -> bool:
        """Whether gamma^alpha is gamma."""
        return self.alpha == 1 or not len(self.gamma)

    def _gamma(self, weights: Weights) -> Floats:
        """The weights for the loops; empty if all are 1."""
        return self.gamma[:0] if weights == "source_weights" and self.alpha == 0 else self.gamma

    def _real(self, sums: Callable[..., Floats], gamma: Floats, values: Floats) -> Floats:
        """The sums of real values, or of both parts of complex ones."""
        if np.iscomplexobj(values):
            real, imaginary = (sums(gamma, part) for part in (values.real, values.imag))
            return real + 1j * imaginary
        return sums(gamma, values)

    def _to_edges(self, gamma: Floats, values: Floats) -> Floats:
        """Sums of a vector, or of the rows of a block; each thread has its own hyperedges."""
        return self._summed(self._edge_ranges, (self.edges, self.vertices), gamma, values, *self.shape)

    def _to_vertices(self, gamma: Floats, values: Floats) -> Floats:
        return self._summed(self._blocks, (self.vertices, self.edges), gamma, values, *self.shape[::-1])

    def _summed(
        self, ranges: list[Any], sides: tuple[Codes, Codes], gamma: Floats, values: Floats, to: int, of: int
    ) -> Floats:
        values = checked(values, of)
        out = np.zeros((to, *values.shape[1:]))
        in_runs = to == self.shape[0] and sides[0] is self.edges and self._has_runs
        if values.ndim == 1:
            self._run_on(ranges, _sums, *sides, gamma, values, out, len(gamma) > 0, in_runs)
        else:
            self._run_on(ranges, _rows, *sides, gamma, values, out, len(gamma) > 0, values.shape[1])
        return out

    def _edge_pairs(self, values: Floats, width: int) -> Floats:
        """Sums of pairs by hyperedge."""
        out = np.zeros((self.shape[0], 2 * width))
        given = self.edges, self.vertices, self.gamma, values, out, width, self._has_runs
        self._run_on(self._edge_ranges, _pairs, *given)
        return out

    @property
    def _has_runs(self) -> bool:
        """Whether a hyperedge has many incidences in a block."""
        n_blocks = (len(self.bounds) - 1) // self.n_parts
        return len(self.edges) >= self.runs_from * self.shape[0] * n_blocks

    @property
    def _edge_ranges(self) -> list[tuple[int, int, int]]:
        """The ranges of the hyperedges of each thread, in all blocks."""
        return [(part, len(self.bounds) - 1, self.n_parts) for part in range(self.n_parts)]

    @property
    def _blocks(self) -> list[tuple[int, int, int]]:
        """The ranges of the blocks of each thread."""
        count = (len(self.bounds) - 1) // self.n_parts
        cuts = np.linspace(0, count, self.n_parts + 1).round().astype(np.int64) * self.n_parts
        return [(int(first), int(last), 1) for first, last in pairwise(cuts)]

    def _along(self, loop: Kernel, size: int, *arrays: Any) -> None:
        """Run a loop over the entries of one side on all threads."""
        ends = np.linspace(0, size, self.n_parts + 1).astype(np.int64).tolist()
        in_parallel([partial(loop, *arrays, *part) for part in pairwise(ends)])

    def _run_on(self, ranges: list[tuple[int, int, int]], loop: Kernel, *given: Any) -> list[Any]:
        """Run a loop on ranges of incidences, start, stop and step of those of each thread; the results."""
        return list(chain(*in_parallel([partial(self._run, loop, given, some) for some in ranges])))

    def _run(self, loop: Kernel, given: tuple[Any, ...], ranges: tuple[int, int, int]) -> list[Any]:
        return [loop(*given, self.bounds, *ranges)]


def host_products(lists: Lists, tuning: Tuning | None = None) -> SparseProducts | BlockProducts:
    """The products that suit a hypergraph in host memory."""
    tuning, shape = tuning or Tuning(), lists.gamma.shape
    blocked = tuning.uses_blocks(lists.gamma.nnz, shape[1]) and max(shape) > tuning.gathered_up_to
    if blocked and lists.simple:
        return BlockProducts.of(lists, tuning)
    return SparseProducts(lists, tuning)
