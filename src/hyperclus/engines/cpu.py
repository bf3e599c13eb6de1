"""Sums over the members of each hyperedge and over the hyperedges of each vertex: all that a walk is made of.

A pass goes once over all incidences. Where the incidences lie, and how a pass runs, is all that one engine
does otherwise than another: here as SciPy's sparse products for hypergraphs of any size, and as compiled
loops over blocks of incidences for large ones.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import read_only
from hyperclus._runtime.jit import kernels
from hyperclus._runtime.threads import in_parallel
from hyperclus.engines import cpu_kernels
from hyperclus.engines.arrays import NUMPY
from hyperclus.engines.base import ArrayBackend, LocalProducts, Weights
from hyperclus.errors import InputError
from hyperclus.typing import Codes, Floats, Incidence, Integers

EACH = 500_000  # incidences that pay for a thread
THREADS = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
BLOCKED_FROM = 400_000  # incidences from which compiled loops over blocks pay
BLOCKS = 16
NARROW, WIDE = 4_000, 500_000  # vertices in a block: fewer gain nothing, more do not stay in the cache
CHUNK = 1 << 20  # incidences at a time where temporary arrays would take much memory
RUNS = 8  # incidences of a hyperedge in a block from which they are summed before they are stored


@dataclass(frozen=True, eq=False)
class Lists:
    """gamma and gamma^alpha by hyperedge and by vertex, each made when it is first asked for.

    Indices are shared; at alpha = 0 the powers are one array of ones and at alpha = 1 they are gamma.
    """

    gamma: Incidence
    alpha: float

    @cached_property
    def gamma_by_vertex(self) -> Incidence:
        """R transposed."""
        return self.gamma.T.tocsr()

    @cached_property
    def source_weights(self) -> Incidence:
        """gamma^alpha by hyperedge."""
        return self.gamma if self._as_gamma else with_data(self.gamma, self._powers(self.gamma.data))

    @cached_property
    def source_weights_by_vertex(self) -> Incidence:
        """gamma^alpha by vertex."""
        gamma = self.gamma_by_vertex
        if self._as_gamma:
            return gamma
        return with_data(gamma, self.source_weights.data if self.alpha == 0 else self._powers(gamma.data))

    @cached_property
    def _as_gamma(self) -> bool:
        return self.alpha == 1 or bool((self.gamma.data == 1).all())

    def _powers(self, gamma: Floats) -> Floats:
        if self.alpha == 0:
            return np.ones(len(gamma))
        check_powers(gamma, self.alpha)
        return gamma**self.alpha


class HostProducts(LocalProducts):
    """What all products in host memory share."""

    backend: ClassVar[ArrayBackend] = NUMPY


@dataclass(frozen=True, eq=False)
class SparseProducts(HostProducts):
    """Passes as SciPy's products, in which each result is gathered; large ones run on several threads."""

    lists: Lists

    def to_edges(self, values: Floats, weights: Weights) -> Floats:
        """One product."""
        return (self._by_gamma if weights == "gamma" else self._by_picks)(values)

    def to_vertices(self, values: Floats, weights: Weights) -> Floats:
        """One product."""
        return (self._gamma_by_vertex if weights == "gamma" else self._source_weights_by_vertex)(values)

    def edge_pairs(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """Two products."""
        return self._by_gamma(first), self._by_picks(second)

    def symmetrized(self, vector: Floats, left: Floats, right: Floats, middle: Floats) -> Floats:
        """Four products."""
        meant, picked = self.edge_pairs(vector * left, vector * right)
        going, coming = self._source_weights_by_vertex(meant * middle), self._gamma_by_vertex(picked * middle)
        return going * right + coming * left

    def vertex_squares(self, values: Floats) -> Floats:
        """One product with weights made for it."""
        gamma, source_weights = self.lists.gamma_by_vertex, self.lists.source_weights_by_vertex
        return product(with_data(gamma, gamma.data * source_weights.data), values)

    def least_share(self, out_edge: Floats, out_vertex: Floats, in_edge: Floats, in_vertex: Floats) -> float:
        """Chunk by chunk."""
        gamma, source_weights = self.lists.gamma, self.lists.source_weights
        least = np.inf
        for first, last in row_chunks(gamma.indptr):
            part = slice(gamma.indptr[first], gamma.indptr[last])
            members, sizes = gamma.indices[part], np.diff(gamma.indptr[first : last + 1])
            going = np.repeat(out_edge[first:last], sizes) * source_weights.data[part] * out_vertex[members]
            coming = np.repeat(in_edge[first:last], sizes) * gamma.data[part] * in_vertex[members]
            least = min(least, float(np.maximum(going, coming).min(initial=np.inf)))
        return least

    def constants(self) -> Floats | None:
        """Chunk by chunk, until one differs."""
        gamma = self.lists.gamma
        return _constants(gamma.indices, gamma.data, gamma.shape[1])

    @cached_property
    def _by_gamma(self) -> "_Gather":
        return _Gather(self.lists.gamma)

    @cached_property
    def _by_picks(self) -> "_Gather":
        return _Gather(self.lists.source_weights)

    @cached_property
    def _gamma_by_vertex(self) -> "_Gather":
        return _Gather(self.lists.gamma_by_vertex)

    @cached_property
    def _source_weights_by_vertex(self) -> "_Gather":
        return _Gather(self.lists.source_weights_by_vertex)


@dataclass(frozen=True, slots=True, eq=False)
class _Gather:
    """X f for one matrix X; large ones in blocks of rows, a thread each, that share X's memory."""

    matrix: Incidence
    blocks: list[Incidence] = field(init=False)

    def __post_init__(self) -> None:
        rows = pairwise(_cuts(self.matrix.indptr))
        object.__setattr__(self, "blocks", [_rows(self.matrix, *some) for some in rows])

    def __call__(self, block: Floats) -> Floats:
        if len(self.blocks) == 1:
            return product(self.blocks[0], block)
        return np.concatenate(in_parallel([partial(product, rows, block) for rows in self.blocks]))


@dataclass(frozen=True, slots=True, eq=False)
class BlockProducts(HostProducts):
    """Passes as compiled loops over blocks of vertices; for alpha 0 and 1.

    In a block the hyperedges ascend and the vertices stay within what the cache holds, so one copy of the
    incidences serves both directions, and no transpose is needed. Sums over vertices run on threads
    with hyperedges of their own, sums over hyperedges on threads with blocks of their own: the result does
    not depend on their number.
    """

    alpha: float
    edges: Codes
    vertices: Codes
    gamma: Floats  # none where all are 1
    bounds: Integers  # of the places of each block, and within it of each thread
    shape: tuple[int, int]
    n_parts: int

    @classmethod
    def of(cls, gamma: Incidence, alpha: float) -> "BlockProducts":
        """The incidences sorted into blocks, in two passes over them."""
        loops = kernels(cpu_kernels, gamma.nnz)
        parts = list(pairwise(_cuts(gamma.indptr)))
        spans = np.zeros((len(parts), (gamma.shape[1] >> cpu_kernels.SPAN) + 1), dtype=np.int64)
        in_parallel([
            partial(loops.count, gamma.indptr, gamma.indices, *part, spans[number])
            for number, part in enumerate(parts)
        ])  # fmt: skip
        block_of, count = blocks_of_vertices(spans.sum(axis=0), gamma.shape[1])
        counts = np.zeros((count, len(parts)), dtype=np.int64)
        np.add.at(counts, block_of, spans.T)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        places = bounds[:-1].reshape(counts.shape).T.copy()
        unweighted = bool((gamma.data == 1).all())
        kept = (
            np.empty_like(gamma.indices),
            np.empty_like(gamma.indices),
            np.empty_like(gamma.data[unweighted * gamma.nnz :]),
        )
        in_parallel([
            partial(
                loops.fill, gamma.indptr, gamma.indices, gamma.data, block_of, *part, places[number], *kept
            )
            for number, part in enumerate(parts)
        ])  # fmt: skip
        edges, vertices, weights = (read_only(array) for array in kept)
        return cls(alpha, edges, vertices, weights, bounds, gamma.shape, len(parts))

    def to_edges(self, values: Floats, weights: Weights) -> Floats:
        """One pass for each column."""
        return self._by_column(partial(self._to_edges, self._kind(weights)), values, self.shape[0])

    def to_vertices(self, values: Floats, weights: Weights) -> Floats:
        """One pass for each column."""
        return self._by_column(partial(self._to_vertices, self._kind(weights)), values, self.shape[1])

    def edge_pairs(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """One pass for both."""
        if self._alike:
            return self.to_edges(first, "gamma"), self.to_edges(second, "gamma")
        given = (_vector(values, self.shape[1]) for values in (first, second))
        return _parted(self._to_edges("pairs", _paired(*given)))

    def symmetrized(self, vector: Floats, left: Floats, right: Floats, middle: Floats) -> Floats:
        """Two passes of pairs; four of single values where picks are gamma."""
        if self._alike:
            meant, picked = self.edge_pairs(vector * left, vector * right)
            there = (self.to_vertices(values * middle, "gamma") for values in (meant, picked))
            return next(there) * right + next(there) * left
        vector, left, right = (_vector(array, self.shape[1]) for array in (vector, left, right))
        middle = _vector(middle, self.shape[0])
        values = np.empty(2 * self.shape[1])
        self._along("spread", self.shape[1], vector, left, right, values)
        of_edges = self._to_edges("pairs", read_only(values))
        del values
        self._along("cross", self.shape[0], of_edges, middle)
        image = np.empty(self.shape[1])
        self._along(
            "join", self.shape[1], self._to_vertices("pairs", read_only(of_edges)), left, right, image
        )
        return image

    def vertex_squares(self, values: Floats) -> Floats:
        """One pass; at alpha = 1 with squares made for it."""
        if self.alpha == 0 or not len(self.gamma):
            return self.to_vertices(values, "gamma")
        return self._to_vertices("weighed", read_only(values), read_only(np.square(self.gamma)))

    def least_share(self, out_edge: Floats, out_vertex: Floats, in_edge: Floats, in_vertex: Floats) -> float:
        """One pass, block by block, in each of which it is looked for on all threads."""
        given = tuple(map(read_only, (out_edge, out_vertex, in_edge, in_vertex)))
        loop = kernels(cpu_kernels, len(self.edges)).least_share
        gamma = self.gamma if len(self.gamma) else read_only(np.ones(len(self.edges)))
        return float(min(self._by_block(loop, self.edges, self.vertices, gamma, *given, self.alpha == 1)))

    def constants(self) -> Floats | None:
        """Chunk by chunk, until one differs."""
        if not len(self.gamma):
            return np.ones(self.shape[1])
        return _constants(self.vertices, self.gamma, self.shape[1])

    @property
    def _alike(self) -> bool:
        """Whether picks are gamma."""
        return self.alpha == 1 or not len(self.gamma)

    def _kind(self, weights: Weights) -> str:
        plain = not len(self.gamma) or (weights == "source_weights" and self.alpha == 0)
        return "plain" if plain else "weighed"

    def _by_column(self, sums_of: Callable[[Floats], Floats], values: Floats, size: int) -> Floats:
        """The sums of a vector, or of each column of a block."""
        if np.iscomplexobj(values):
            return self._by_column(sums_of, values.real, size) + 1j * self._by_column(
                sums_of, values.imag, size
            )
        if values.ndim == 1:
            return sums_of(_vector(values, sum(self.shape) - size))
        block = np.empty((size, values.shape[1]))
        for column in range(values.shape[1]):
            block[:, column] = sums_of(_vector(values[:, column], sum(self.shape) - size))
        return block

    def _along(self, kind: str, size: int, *arrays: Floats) -> None:
        """Run a loop over one side on all threads."""
        loop = getattr(kernels(cpu_kernels, len(self.edges)), kind)
        ends = np.linspace(0, size, self.n_parts + 1).astype(np.int64)
        in_parallel([partial(loop, *arrays, *part) for part in pairwise(ends)])

    def _to_edges(self, kind: str, values: Floats) -> Floats:
        n_edges, n_parts = self.shape[0], self.n_parts
        out = np.zeros(2 * n_edges if kind == "pairs" else n_edges)
        in_runs = len(self.edges) >= RUNS * n_edges * ((len(self.bounds) - 1) // n_parts)
        loop = getattr(kernels(cpu_kernels, len(self.edges)), kind + "_runs" * in_runs)

        def part(number: int) -> None:
            for first in range(number, len(self.bounds) - 1, n_parts):
                ends = self.bounds[first : first + 2]
                if ends[0] < ends[1]:
                    self._run(loop, self.edges, self.vertices, self.gamma, values, out, *ends)

        in_parallel([partial(part, number) for number in range(n_parts)])
        return out

    def _to_vertices(self, kind: str, values: Floats, gamma: Floats | None = None) -> Floats:
        out = np.zeros(2 * self.shape[1] if kind == "pairs" else self.shape[1])
        loop = getattr(kernels(cpu_kernels, len(self.edges)), kind)
        given = self.gamma if gamma is None else gamma
        self._by_block(loop, self.vertices, self.edges, given, values, out)
        return out

    def _by_block(self, loop: Any, *given: Any) -> list[Any]:
        """What a loop returns for each block; blocks of their own for each thread."""
        blocks = self.bounds[:: self.n_parts]
        cuts = np.linspace(0, len(blocks) - 1, self.n_parts + 1).round().astype(np.int64)

        def part(first: int, last: int) -> list[Any]:
            return [self._run(loop, *given, *ends) for ends in pairwise(blocks[first : last + 1])]

        return list(chain(*in_parallel([partial(part, *ends) for ends in pairwise(cuts)])))

    def _run(self, loop: Any, *given: Any) -> Any:
        """One loop over the incidences between the last two of what it is given."""
        return loop(*given)


def host_products(lists: Lists) -> "SparseProducts | BlockProducts":
    """The passes that suit a hypergraph in the memory of the host."""
    gamma = lists.gamma
    if lists.alpha in (0, 1) and gamma.nnz >= BLOCKED_FROM and gamma.shape[1] >= 2 * NARROW:
        return BlockProducts.of(gamma, lists.alpha)
    return SparseProducts(lists)


def row_chunks(indptr: Codes) -> list[tuple[int, int]]:
    """Ranges of rows with about CHUNK entries each (one row is never split)."""
    bounds = np.searchsorted(indptr, np.arange(CHUNK, indptr[-1], CHUNK))
    return list(pairwise(np.unique([0, *bounds.tolist(), len(indptr) - 1]).tolist()))


def product(matrix: Any, block: Floats) -> Floats:
    """A sparse product as an array."""
    return np.asarray(matrix @ block)


def with_data(matrix: Incidence, data: Floats) -> Incidence:
    """The same pattern with other entries."""
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _cuts(indptr: Codes) -> list[int]:
    """Rows at which to cut into a part for each thread that pays, with about as many entries in each."""
    parts = max(min(THREADS, int(indptr[-1]) // EACH), 1)
    inner = np.searchsorted(indptr, np.linspace(0, indptr[-1], parts + 1)[1:-1]).tolist()
    return [0, *inner, len(indptr) - 1]


def blocks_of_vertices(spans: Integers, n_vertices: int) -> tuple[Integers, int]:
    """The block of each span of vertices, with about as many incidences in each, and the number of blocks."""
    count = max(2, min(BLOCKS, n_vertices // NARROW), -(-n_vertices // WIDE))
    before = np.cumsum(spans) - spans
    block_of = before * count // max(int(spans.sum()), 1)
    return np.minimum(block_of, count - 1), count


def _constants(vertices: Codes, gamma: Floats, n_vertices: int) -> Floats | None:
    found, first = np.zeros(n_vertices), 0
    while first < len(gamma):  # a few tell most of the time
        last = min(2 * first + 1000, first + CHUNK)
        some, values, first = vertices[first:last], gamma[first:last], last
        new = found[some] == 0
        found[some[new]] = values[new]
        if not np.array_equal(found[some], values):
            return None
    return found


def check_powers(gamma: Floats, alpha: float) -> None:
    """Refuse an alpha at which a power of gamma is 0 or infinite."""
    limits = np.finfo(float)
    with np.errstate(over="ignore", under="ignore"):
        ends = np.array([gamma.min(initial=1.0), gamma.max(initial=1.0)]) ** alpha
    if not (ends.min() >= limits.tiny and ends.max() <= limits.max):
        raise InputError(
            f"gamma to the power alpha = {alpha:g} leaves the range of double precision; lower "
            "alpha, or divide gamma by its median first"
        )


def _vector(values: Floats, size: int) -> Floats:
    """The values as the compiled loops need them, which look at no bounds."""
    if values.shape != (size,):
        raise InputError(f"{size} values are needed here; these have shape {values.shape}")
    return read_only(np.ascontiguousarray(values, dtype=np.float64))


def _paired(first: Floats, second: Floats) -> Floats:
    pairs = np.empty(2 * len(first))
    pairs[::2], pairs[1::2] = first, second
    return read_only(pairs)


def _parted(pairs: Floats) -> tuple[Floats, Floats]:
    return pairs[::2], pairs[1::2]


def _rows(matrix: Incidence, first: int, last: int) -> Incidence:
    """Some rows of a matrix; set from outside because the constructor would copy views of less than half."""
    rows: Incidence = sp.csr_array((last - first, matrix.shape[1]), dtype=np.float64)
    entries = slice(matrix.indptr[first], matrix.indptr[last])
    rows.data, rows.indices = matrix.data[entries], matrix.indices[entries]
    rows.indptr = matrix.indptr[first : last + 1] - matrix.indptr[first]
    return rows
