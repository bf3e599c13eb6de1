"""Incidence products in host memory: SciPy's for hypergraphs of any size, compiled loops for large ones."""

import os
from collections.abc import Callable, Iterator
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
from hyperclus.engines.base import ArrayBackend, IncidenceProducts, LocalProducts, Weights
from hyperclus.errors import InputError
from hyperclus.typing import Codes, Floats, Incidence, Integers

CHUNK = 1 << 20  # incidences at a time where temporary arrays would take much memory
RUNS_FROM = 8


def available_threads() -> int:
    """The number of processors that this process may use, at most 8."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(8, processors or 1)


@dataclass(frozen=True, slots=True)
class Tuning:
    """Measured sizes that decide how products run; none of them changes a result beyond rounding."""

    threads: int = field(default_factory=available_threads)
    incidences_each: int = 500_000  # that pay for a thread
    blocked_from: int = 400_000  # incidences from which compiled loops over blocks of vertices pay
    blocks: int = 16  # of vertices, unless they would be
    min_vertices: int = 4_000  # smaller than this, which gains nothing,
    max_vertices: int = 500_000  # or larger than this, which does not fit the cache
    runs_from: int = RUNS_FROM  # incidences of a hyperedge in a block from which they are summed first

    def uses_blocks(self, n_incidences: int, n_vertices: int) -> bool:
        """Whether a hypergraph of this size is sorted into blocks."""
        return n_incidences >= self.blocked_from and n_vertices >= 2 * self.min_vertices

    def parts(self, indptr: Codes) -> list[tuple[int, int]]:
        """Ranges of rows with about equally many entries, one for each thread that pays."""
        count = max(min(self.threads, int(indptr[-1]) // self.incidences_each), 1)
        inner = np.searchsorted(indptr, np.linspace(0, indptr[-1], count + 1)[1:-1]).tolist()
        return list(pairwise([0, *inner, len(indptr) - 1]))

    def blocks_of_vertices(self, spans: Integers, n_vertices: int) -> tuple[Integers, int]:
        """The block of each span of vertices, with about equally many incidences; the number of blocks."""
        count = max(2, min(self.blocks, n_vertices // self.min_vertices), -(-n_vertices // self.max_vertices))
        before = np.cumsum(spans) - spans
        block_of = before * count // max(int(spans.sum()), 1)
        return np.minimum(block_of, count - 1), count


@dataclass(frozen=True, eq=False)
class Lists:
    """gamma and gamma^alpha by hyperedge and by vertex, each computed when it is first needed.

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
        return self.gamma if self._equal else with_data(self.gamma, self._powers(self.gamma.data))

    @cached_property
    def source_weights_by_vertex(self) -> Incidence:
        """gamma^alpha by vertex."""
        gamma = self.gamma_by_vertex
        if self._equal:
            return gamma
        return with_data(gamma, self.source_weights.data if self.alpha == 0 else self._powers(gamma.data))

    @cached_property
    def _equal(self) -> bool:
        """Whether gamma^alpha is gamma."""
        return self.alpha == 1 or bool((self.gamma.data == 1).all())

    def _powers(self, gamma: Floats) -> Floats:
        if self.alpha == 0:
            return np.ones(len(gamma))
        check_powers(gamma, self.alpha)
        return gamma**self.alpha


class HostProducts(LocalProducts):
    """What all products in host memory share."""

    backend: ClassVar[ArrayBackend] = NUMPY

    def edge_pairs(self: IncidenceProducts, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        return self.to_edges(first, "gamma"), self.to_edges(second, "source_weights")

    def symmetrized(
        self: IncidenceProducts, vector: Floats, left: Floats, right: Floats, middle: Floats
    ) -> Floats:
        """Four products."""
        means, picked = self.edge_pairs(vector * left, vector * right)
        going = self.to_vertices(means * middle, "source_weights")
        return going * right + self.to_vertices(picked * middle, "gamma") * left


@dataclass(frozen=True, eq=False)
class SparseProducts(HostProducts):
    """SciPy's sparse products, which gather each result; large ones run on several threads."""

    lists: Lists
    tuning: Tuning = field(default_factory=Tuning)

    def to_edges(self, values: Floats, weights: Weights) -> Floats:
        return _gathered(self._by_edge[weights], values)

    def to_vertices(self, values: Floats, weights: Weights) -> Floats:
        return _gathered(self._by_vertex[weights], values)

    def vertex_squares(self, values: Floats) -> Floats:
        """One product with weights computed for it."""
        gamma, source_weights = self.lists.gamma_by_vertex, self.lists.source_weights_by_vertex
        return np.asarray(with_data(gamma, gamma.data * source_weights.data) @ values)

    def least_share(self, out_edge: Floats, out_vertex: Floats, in_edge: Floats, in_vertex: Floats) -> float:
        shares = incidence_shares(self.lists, out_edge, out_vertex, in_edge, in_vertex)
        return float(min((some.min(initial=np.inf) for some in shares), default=np.inf))

    def constants(self) -> Floats | None:
        """Chunk by chunk, until one differs."""
        gamma = self.lists.gamma
        return _constants(gamma.indices, gamma.data, gamma.shape[1])

    @cached_property
    def _by_edge(self) -> dict[Weights, list[Incidence]]:
        gamma, source_weights = self.lists.gamma, self.lists.source_weights
        return {"gamma": self._parts(gamma), "source_weights": self._parts(source_weights)}

    @cached_property
    def _by_vertex(self) -> dict[Weights, list[Incidence]]:
        gamma, source_weights = self.lists.gamma_by_vertex, self.lists.source_weights_by_vertex
        return {"gamma": self._parts(gamma), "source_weights": self._parts(source_weights)}

    def _parts(self, matrix: Incidence) -> list[Incidence]:
        """The rows of each thread as views; the constructor would copy views of less than half."""
        parts = []
        for first, last in self.tuning.parts(matrix.indptr):
            rows: Incidence = sp.csr_array((last - first, matrix.shape[1]), dtype=np.float64)
            entries = slice(matrix.indptr[first], matrix.indptr[last])
            rows.data, rows.indices = matrix.data[entries], matrix.indices[entries]
            rows.indptr = matrix.indptr[first : last + 1] - matrix.indptr[first]
            parts.append(rows)
        return parts


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

    @classmethod
    def of(cls, gamma: Incidence, alpha: float, tuning: Tuning | None = None) -> "BlockProducts":
        """Sort the incidences into blocks, in two passes over them."""
        tuning = tuning or Tuning()
        loops = kernels(cpu_kernels, gamma.nnz)
        parts = tuning.parts(gamma.indptr)
        spans = np.zeros((len(parts), (gamma.shape[1] >> cpu_kernels.SPAN) + 1), dtype=np.int64)
        csr = gamma.indptr, gamma.indices, gamma.data
        in_parallel(
            [partial(loops.count, *csr[:2], *part, own) for part, own in zip(parts, spans, strict=True)]
        )
        block_of, count = tuning.blocks_of_vertices(spans.sum(axis=0), gamma.shape[1])
        counts = np.zeros((count, len(parts)), dtype=np.int64)
        np.add.at(counts, block_of, spans.T)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        places = bounds[:-1].reshape(counts.shape).T.copy()
        weights = gamma.data[bool((gamma.data == 1).all()) * gamma.nnz :]
        filled = tuple(map(np.empty_like, (gamma.indices, gamma.indices, weights)))
        in_parallel([
            partial(loops.fill, csr, block_of, *part, own, filled)
            for part, own in zip(parts, places, strict=True)
        ])  # fmt: skip
        edges, vertices, weights = map(read_only, filled)
        return cls(alpha, edges, vertices, weights, bounds, gamma.shape, len(parts), tuning.runs_from)

    def to_edges(self, values: Floats, weights: Weights) -> Floats:
        return self._by_column(self._to_edges, self._gamma(weights), values, *self.shape)

    def to_vertices(self, values: Floats, weights: Weights) -> Floats:
        return self._by_column(self._to_vertices, self._gamma(weights), values, *self.shape[::-1])

    def edge_pairs(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        if self._equal:
            return HostProducts.edge_pairs(self, first, second)  # super() does not work with slots
        pairs = np.empty(2 * self.shape[1])
        pairs[::2], pairs[1::2] = (_vector(values, self.shape[1]) for values in (first, second))
        found = self._to_edges(self.gamma, read_only(pairs), 2)
        return found[::2], found[1::2]

    def symmetrized(self, vector: Floats, left: Floats, right: Floats, middle: Floats) -> Floats:
        """Two passes with pairs; four with single values if gamma^alpha is gamma."""
        if self._equal:
            return HostProducts.symmetrized(self, vector, left, right, middle)
        vector, left, right = (_vector(array, self.shape[1]) for array in (vector, left, right))
        middle, loops = _vector(middle, self.shape[0]), self._loops
        values = np.empty(2 * self.shape[1])
        self._along(loops.spread, self.shape[1], vector, left, right, values)
        of_edges = self._to_edges(self.gamma, read_only(values), 2)
        self._along(loops.cross, self.shape[0], of_edges, middle)
        values[:] = 0.0
        given = self.vertices, self.edges, self.gamma, read_only(of_edges), values, False
        self._run_on(self._blocks, loops.pairs, *given)
        image = np.empty(self.shape[1])
        self._along(loops.join, self.shape[1], values, left, right, image)
        return image

    def vertex_squares(self, values: Floats) -> Floats:
        """One pass; at alpha = 1 with squares computed for it."""
        squares = self.gamma if self.alpha == 0 else read_only(np.square(self.gamma))
        return self._to_vertices(squares, _vector(values, self.shape[0]))

    def least_share(self, out_edge: Floats, out_vertex: Floats, in_edge: Floats, in_vertex: Floats) -> float:
        out = read_only(out_edge), read_only(out_vertex)
        into = read_only(in_edge), read_only(in_vertex)
        gamma = self.gamma if len(self.gamma) else read_only(np.ones(len(self.edges)))
        given = (self.edges, self.vertices, gamma), out, into, self.alpha == 1
        return float(min(self._run_on(self._blocks, self._loops.least_share, *given), default=np.inf))

    def constants(self) -> Floats | None:
        """Chunk by chunk, until one differs."""
        if not len(self.gamma):
            return np.ones(self.shape[1])
        return _constants(self.vertices, self.gamma, self.shape[1])

    @property
    def _equal(self) -> bool:
        """Whether gamma^alpha is gamma."""
        return self.alpha == 1 or not len(self.gamma)

    @property
    def _loops(self) -> Any:
        return kernels(cpu_kernels, len(self.edges))

    def _gamma(self, weights: Weights) -> Floats:
        """The weights for the loops; empty if all are 1."""
        return self.gamma[:0] if weights == "source_weights" and self.alpha == 0 else self.gamma

    def _by_column(
        self, sums: Callable[..., Floats], gamma: Floats, values: Floats, to: int, of: int
    ) -> Floats:
        """The sums of a vector, or of each column of a block."""
        if np.iscomplexobj(values):
            real, imaginary = (
                self._by_column(sums, gamma, part, to, of) for part in (values.real, values.imag)
            )
            return real + 1j * imaginary
        if values.ndim == 1:
            return sums(gamma, _vector(values, of))
        block = np.empty((to, values.shape[1]))
        for column in range(values.shape[1]):
            block[:, column] = sums(gamma, _vector(values[:, column], of))
        return block

    def _to_edges(self, gamma: Floats, values: Floats, width: int = 1) -> Floats:
        """Sums of values, or of pairs of them; each thread has its own hyperedges."""
        ranges, loops, out = list(pairwise(self.bounds)), self._loops, np.zeros(width * self.shape[0])
        in_runs = len(self.edges) >= self.runs_from * self.shape[0] * (len(ranges) // self.n_parts)
        groups = [ranges[number :: self.n_parts] for number in range(self.n_parts)]
        loop = loops.sums if width == 1 else loops.pairs
        self._run_on(groups, loop, self.edges, self.vertices, gamma, values, out, in_runs)
        return out

    def _to_vertices(self, gamma: Floats, values: Floats) -> Floats:
        out = np.zeros(self.shape[1])
        self._run_on(self._blocks, self._loops.sums, self.vertices, self.edges, gamma, values, out, False)
        return out

    @property
    def _blocks(self) -> list[list[Any]]:
        """The ranges of the blocks of each thread."""
        ranges = list(pairwise(self.bounds[:: self.n_parts]))
        cuts = np.linspace(0, len(ranges), self.n_parts + 1).round().astype(np.int64)
        return [ranges[first:last] for first, last in pairwise(cuts)]

    def _along(self, loop: Any, size: int, *arrays: Floats) -> None:
        """Run a loop over the entries of one side on all threads."""
        ends = np.linspace(0, size, self.n_parts + 1).astype(np.int64)
        in_parallel([partial(loop, *arrays, *part) for part in pairwise(ends)])

    def _run_on(self, groups: list[list[Any]], loop: Any, *given: Any) -> list[Any]:
        """Run a loop on ranges of incidences, each group of them in a thread, and return the results."""

        def run(ranges: list[Any]) -> list[Any]:
            return [self._run(loop, *given, *ends) for ends in ranges if ends[0] < ends[1]]

        return list(chain(*in_parallel([partial(run, ranges) for ranges in groups])))

    def _run(self, loop: Any, *given: Any) -> Any:
        """Run a loop over the incidences between the last two arguments."""
        return loop(*given)


def host_products(lists: Lists, tuning: Tuning | None = None) -> "SparseProducts | BlockProducts":
    """The products that suit a hypergraph in host memory."""
    tuning = tuning or Tuning()
    if lists.alpha in (0, 1) and tuning.uses_blocks(lists.gamma.nnz, lists.gamma.shape[1]):
        return BlockProducts.of(lists.gamma, lists.alpha, tuning)
    return SparseProducts(lists, tuning)


def row_chunks(indptr: Codes) -> list[tuple[int, int]]:
    """Ranges of rows with about CHUNK entries each (one row is never split)."""
    bounds = np.searchsorted(indptr, np.arange(CHUNK, indptr[-1], CHUNK))
    return list(pairwise(np.unique([0, *bounds.tolist(), len(indptr) - 1]).tolist()))


def with_data(matrix: Incidence, data: Floats) -> Incidence:
    """The same pattern with other entries."""
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def check_powers(gamma: Floats, alpha: float) -> None:
    """Reject an alpha at which a power of gamma is 0 or infinite."""
    limits = np.finfo(float)
    with np.errstate(over="ignore", under="ignore"):
        ends = np.array([gamma.min(initial=1.0), gamma.max(initial=1.0)]) ** alpha
    if not (ends.min() >= limits.tiny and ends.max() <= limits.max):
        raise InputError(
            f"gamma to the power alpha = {alpha:g} leaves the range of double precision; lower "
            "alpha, or divide gamma by its median first"
        )


def incidence_shares(
    lists: Lists, out_edge: Floats, out_vertex: Floats, in_edge: Floats, in_vertex: Floats
) -> Iterator[Floats]:
    """max(out(e) out(v) gamma^alpha, in(e) in(v) gamma) of the incidences, chunk by chunk."""
    gamma, source_weights = lists.gamma, lists.source_weights.data
    for first, last in row_chunks(gamma.indptr):
        part = slice(gamma.indptr[first], gamma.indptr[last])
        members, sizes = gamma.indices[part], np.diff(gamma.indptr[first : last + 1])
        going = np.repeat(out_edge[first:last], sizes) * source_weights[part] * out_vertex[members]
        coming = np.repeat(in_edge[first:last], sizes) * gamma.data[part] * in_vertex[members]
        yield np.maximum(going, coming)


def _gathered(parts: list[Incidence], values: Floats) -> Floats:
    """X f, in a thread for each part of the rows of X."""
    if len(parts) == 1:
        return np.asarray(parts[0] @ values)
    return np.concatenate(in_parallel([partial(rows.__matmul__, values) for rows in parts]))


def _constants(vertices: Codes, gamma: Floats, n_vertices: int) -> Floats | None:
    found, first = np.zeros(n_vertices), 0
    while first < len(gamma):  # a few incidences decide it most of the time
        last = min(2 * first + 1000, first + CHUNK)
        some, values, first = vertices[first:last], gamma[first:last], last
        new = found[some] == 0
        found[some[new]] = values[new]
        if not np.array_equal(found[some], values):
            return None
    return found


def _vector(values: Floats, size: int) -> Floats:
    """The values as the compiled loops need them, which check no bounds."""
    if values.shape != (size,):
        raise InputError(f"{size} values are needed here; these have shape {values.shape}")
    return read_only(np.ascontiguousarray(values, dtype=np.float64))
