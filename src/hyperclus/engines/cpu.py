"""Incidence products in host memory: rows that gather their sums. `cpu_blocks` has those of large data."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar, Literal, cast

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import along
from hyperclus._runtime.native import Kernel, Kind
from hyperclus._runtime.threads import available_threads, in_parallel
from hyperclus.engines.arrays import NUMPY
from hyperclus.engines.base import (
    ArrayBackend,
    ByColumns,
    ClusterFlows,
    ColumnFlows,
    Directions,
    FlowFactors,
    IncidenceProducts,
    LocalProducts,
    Weights,
)
from hyperclus.engines.cpu_flows import RowFlows
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.mixture import source_weights
from hyperclus.typing import Codes, Floats, Incidence, Integers

CHUNK = 1 << 20  # incidences at a time where temporary arrays would take much memory
RUNS_FROM = 8
ROWS_FROM = 5  # clusters from which one pass with rows for all beats passes with a column for each
SHORT_FROM, SHORT_UP_TO = 300_000, 20_000_000  # incidences whose weights may be kept in single precision too
SAMPLE = 1_000  # of these weights, looked at first
FLOW_PARTS = 8  # into which flows between clusters are divided, whatever the number of threads
Side = Literal["edges", "vertices"]


@dataclass(frozen=True, slots=True)
class _Gathers:
    """The loops over rows, for weights of one precision."""

    rows: Kernel
    crossed: Kernel
    joined: Kernel

    @classmethod
    def of(cls, named: str, weights: Literal["floats", "singles"]) -> "_Gathers":
        """Those whose names end so."""
        start: tuple[Kind, ...] = "indices", "indices", weights
        pairs: tuple[Kind, ...] = *start, weights, "floats", "floats"
        return cls(
            Kernel(f"gather{named}", *start, "floats", "floats", "bool", "int", "int", "int"),
            Kernel(f"gather_crossed{named}", *pairs, "floats", "bool", "int", "int"),
            Kernel(f"gather_joined{named}", *pairs, "floats", "floats", "bool", "int", "int"),
        )


_DOUBLE, _SINGLE = _Gathers.of("", "floats"), _Gathers.of("_single", "singles")
_add_flows = Kernel(
    *("add_flows", "indices", "indices", "floats", "floats", "floats", "floats", "integers", "bool"),
    *("int", "int", "int", "floats"),
)
_least_share = Kernel(
    *(
        "least_share_of_rows",
        "indices",
        "indices",
        "floats",
        "floats",
        "floats",
        "floats",
        "floats",
        "floats",
    ),
    *("bool", "int", "int"),
    returns="float",
)
_spread = Kernel("spread", "floats", "floats", "floats", "floats", "int", "int", "int")


@dataclass(frozen=True, slots=True)
class Tuning:
    """Measured sizes that decide how products run; none of them changes a result beyond rounding."""

    threads: int = field(default_factory=available_threads)
    incidences_each: int = 500_000  # that pay for a thread
    blocked_from: int = 400_000  # incidences from which compiled loops over blocks of vertices pay
    gathered_up_to: int = 800_000  # vertices, or hyperedges, whose values fit the cache: rows gather them
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
    """gamma and the source weights by hyperedge and by vertex, each computed when it is first needed.

    The source weights are gamma^alpha, or given ones, per incidence, such as those of a mixture. Indices are
    shared; at alpha = 0 the powers are one array of ones and at alpha = 1 they are gamma.
    """

    gamma: Incidence
    alpha: float
    given: Floats | None = None

    @classmethod
    def of(cls, hypergraph: Hypergraph, alpha: float) -> "Lists":
        """The lists of a hypergraph, which may have a mixture."""
        plain = cls(hypergraph.gamma, alpha)
        mixture = getattr(hypergraph, "mixture", None)
        if mixture is None:
            return plain
        given = hypergraph.gamma, hypergraph.edge_weights, mixture, plain.source_weights.data
        return cls(hypergraph.gamma, alpha, source_weights(*given))

    @property
    def ones(self) -> bool:
        """Whether all source weights are 1, whatever gamma is."""
        return self.given is None and self.alpha == 0

    @property
    def simple(self) -> bool:
        """Whether all source weights are 1, or all are gamma."""
        return self.given is None and self.alpha in (0, 1)

    @cached_property
    def gamma_by_vertex(self) -> Incidence:
        """R transposed."""
        return self.gamma.T.tocsr()

    @cached_property
    def source_weights(self) -> Incidence:
        """The source weights by hyperedge."""
        if self.given is not None:
            return with_data(self.gamma, self.given)
        return self.gamma if self.equal else with_data(self.gamma, self._powers(self.gamma.data))

    @cached_property
    def source_weights_by_vertex(self) -> Incidence:
        """The source weights by vertex."""
        if self.given is not None:
            return self.source_weights.T.tocsr()
        gamma = self.gamma_by_vertex
        if self.equal:
            return gamma
        return with_data(gamma, self.source_weights.data if self.alpha == 0 else self._powers(gamma.data))

    @cached_property
    def equal(self) -> bool:
        """Whether the source weights are gamma."""
        return self.given is None and (self.alpha == 1 or bool((self.gamma.data == 1).all()))

    def _powers(self, gamma: Floats) -> Floats:
        if self.alpha == 0:
            return np.ones(len(gamma))
        check_powers(gamma, self.alpha)
        return gamma**self.alpha


class HostProducts(LocalProducts):
    """What all products in host memory share."""

    backend: ClassVar[ArrayBackend] = NUMPY
    lists: "Lists | None"  # the incidences by hyperedge, if they are in memory

    def between(self, labels: Any, count: int, given: FlowFactors) -> list[Any]:
        """One pass over the incidences by hyperedge, in parts, so that threads do not change the sum."""
        if self.lists is None:
            return ByColumns.between(cast(IncidenceProducts, self), labels, count, given)
        gamma, ones = self.lists.gamma, self.lists.ones
        powers = gamma if ones else self.lists.source_weights
        sides = checked(given.rates, gamma.shape[1]), checked(given.shares, gamma.shape[0])
        labels, parts = np.ascontiguousarray(labels, dtype=np.int64), Tuning(FLOW_PARTS).parts(gamma.indptr)
        found = np.zeros((len(parts), count, count))
        kernel = partial(_add_flows, *_arrays(gamma), powers.data, *sides, labels, ones, count)
        tasks = [partial(kernel, *rows, sums) for rows, sums in zip(parts, found, strict=True)]
        threads = min(available_threads(), len(tasks))
        in_parallel([partial(_run_all, tasks[number::threads]) for number in range(threads)])
        return list(found.sum(axis=0).T)

    def flows(
        self, labels: Any, count: int, phi: Floats, degrees: Floats, shares: Floats, once: bool = False
    ) -> tuple[Any, Any]:
        """From F; a boundary is a sum of positive flows, so that it loses no digits."""
        if self.lists is None:
            products = cast(IncidenceProducts, self)
            return LocalProducts.flows(products, labels, count, phi, degrees, shares, once)
        between = np.array(self.between(labels, count, FlowFactors(self.backend, phi, degrees, shares))).T
        between[range(count), range(count)] = 0.0
        return np.bincount(labels, weights=phi, minlength=count), between.sum(axis=1)

    def edge_pairs(self: IncidenceProducts, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        return self.to_edges(first, "gamma"), self.to_edges(second, "source_weights")

    def symmetrized(
        self: IncidenceProducts, block: Floats, left: Floats, right: Floats, middle: Floats
    ) -> Floats:
        """Four products."""
        left, right, middle = (along(values, block) for values in (left, right, middle))
        means, picked = self.edge_pairs(block * left, block * right)
        going = self.to_vertices(means * middle, "source_weights")
        return going * right + self.to_vertices(picked * middle, "gamma") * left


@dataclass(frozen=True, eq=False)
class SparseProducts(HostProducts):
    """Rows of hyperedges and of vertices that gather their sums; large ones on several threads."""

    lists: Lists
    tuning: Tuning = field(default_factory=Tuning)
    _spare: list[tuple[Floats, Floats]] = field(default_factory=list, init=False, repr=False)  # of products

    def to_edges(self, values: Floats, weights: Weights) -> Floats:
        return self._gathered("edges", weights, values)

    def to_vertices(self, values: Floats, weights: Weights) -> Floats:
        return self._gathered("vertices", weights, values)

    def symmetrized(self, block: Floats, left: Floats, right: Floats, middle: Floats) -> Floats:
        """Two passes with pairs; four with single values for a block, or if gamma^alpha is gamma."""
        lists = self.lists
        if lists.equal or block.ndim == 2:
            return HostProducts.symmetrized(self, block, left, right, middle)
        n_edges, n = lists.gamma.shape
        given = checked(block, n), checked(left, n), checked(right, n)
        values, crossed = self._spare.pop() if self._spare else (np.empty((n, 2)), np.empty((n_edges, 2)))
        image = np.empty(n)
        _spread(*given, values, 1, 0, n)
        (by_edge, loops), (by_vertex, _) = self._weighted("edges"), self._weighted("vertices")
        ones = lists.ones
        powers = (
            by_edge[2] if ones else lists.source_weights.data,
            by_vertex[2] if ones else lists.source_weights_by_vertex.data,
        )
        edges = *by_edge, powers[0], values, checked(middle, n_edges), crossed
        self._run("edges", loops.crossed, *edges, ones)
        vertices = *by_vertex, powers[1], crossed, *given[1:], image
        self._run("vertices", loops.joined, *vertices, ones)
        self._spare.append((values, crossed))
        return image

    def vertex_squares(self, values: Floats) -> Floats:
        """One product, unless the source weights are 1 with weights computed for it."""
        if self.lists.ones:
            return self._gathered("vertices", "gamma", values)
        gamma, source_weights = self.lists.gamma_by_vertex, self.lists.source_weights_by_vertex
        return np.asarray(with_data(gamma, gamma.data * source_weights.data) @ values)

    def linked(self, labels: Any, count: int, given: FlowFactors, directions: Directions) -> ClusterFlows:
        """One pass for all clusters, as they are needed; columns for few clusters."""
        if count < ROWS_FROM:
            return ColumnFlows(self, labels, count, given, directions)
        return RowFlows(self, labels, count, given, directions)

    def weights(self, by_vertex: bool) -> tuple[Incidence, Floats, bool]:
        """Gamma by one side, the source weights in the same order, and whether these are all 1."""
        lists = self.lists
        gamma = lists.gamma_by_vertex if by_vertex else lists.gamma
        if lists.ones:
            return gamma, gamma.data, True
        return gamma, (lists.source_weights_by_vertex if by_vertex else lists.source_weights).data, False

    def parts(self, by_vertex: bool) -> list[tuple[int, int]]:
        """The rows of each thread."""
        return self._parts["vertices" if by_vertex else "edges"]

    def least_share(self, out_edge: Floats, out_vertex: Floats, in_edge: Floats, in_vertex: Floats) -> float:
        gamma, ones = self.lists.gamma, self.lists.ones
        powers, (n_edges, n) = gamma if ones else self.lists.source_weights, gamma.shape
        sides = (
            checked(out_edge, n_edges),
            checked(out_vertex, n),
            checked(in_edge, n_edges),
            checked(in_vertex, n),
        )
        return float(min(self._run("edges", _least_share, *_arrays(gamma), powers.data, *sides, ones)))

    def constants(self) -> Floats | None:
        """Chunk by chunk, until one differs."""
        gamma = self.lists.gamma
        return constants_of(gamma.indices, gamma.data, gamma.shape[1])

    def _gathered(self, side: Side, weights: Weights, values: Floats) -> Floats:
        """The sums of a vector, or of the rows of a block."""
        if np.iscomplexobj(values):
            real, imaginary = (self._gathered(side, weights, part) for part in (values.real, values.imag))
            return real + 1j * imaginary
        lists = self.lists
        (indptr, indices, data), loops = self._weighted(side)
        weighted = weights == "gamma" or not lists.ones
        if weights == "source_weights" and not lists.simple:
            data = (lists.source_weights if side == "edges" else lists.source_weights_by_vertex).data
        size, wanted = lists.gamma.shape if side == "edges" else lists.gamma.shape[::-1]
        values = checked(values, wanted)
        out = np.empty((size, *values.shape[1:]))
        width = 1 if values.ndim == 1 else values.shape[1]
        self._run(side, loops.rows, indptr, indices, data, values, out, weighted, width)
        return out

    def _weighted(self, side: Side) -> tuple[tuple[Codes, Codes, Any], _Gathers]:
        """The arrays of gamma by a side, and the loops for them."""
        gamma = self.lists.gamma if side == "edges" else self.lists.gamma_by_vertex
        if self._short is None:
            return _arrays(gamma), _DOUBLE
        return (gamma.indptr, gamma.indices, self._short[side]), _SINGLE

    @cached_property
    def _short(self) -> dict[Side, Any] | None:
        """Gamma in single precision, if it is exact, such as counts: there is a third less to read.

        It is not made for data that fit the cache, or that take gigabytes.
        """
        gamma = self.lists.gamma
        if not (self.lists.simple and SHORT_FROM <= gamma.nnz <= SHORT_UP_TO):
            return None
        for data in (gamma.data[:SAMPLE], gamma.data):  # mostly a few decide
            with np.errstate(over="ignore"):
                short = data.astype(np.float32)
            if not np.array_equal(short, data):
                return None
        return {"edges": short, "vertices": self.lists.gamma_by_vertex.data.astype(np.float32)}

    def _run(self, side: Side, loop: Kernel, *given: Any) -> list[Any]:
        """Run a loop over the rows of a side, those of each thread; the results."""
        return in_parallel([partial(loop, *given, *rows) for rows in self._parts[side]])

    @cached_property
    def _parts(self) -> dict[Side, list[tuple[int, int]]]:
        """The rows of each thread."""
        by_edge, by_vertex = self.lists.gamma, self.lists.gamma_by_vertex
        return {"edges": self.tuning.parts(by_edge.indptr), "vertices": self.tuning.parts(by_vertex.indptr)}


def _run_all(tasks: Sequence[Callable[[], None]]) -> None:
    for task in tasks:
        task()


def _arrays(matrix: Incidence) -> tuple[Codes, Codes, Floats]:
    return matrix.indptr, matrix.indices, matrix.data


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


def constants_of(vertices: Codes, gamma: Floats, n_vertices: int) -> Floats | None:
    found, first = np.zeros(n_vertices), 0
    while first < len(gamma):  # a few incidences decide it most of the time
        last = min(2 * first + 1000, first + CHUNK)
        some, values, first = vertices[first:last], gamma[first:last], last
        new = found[some] == 0
        found[some[new]] = values[new]
        if not np.array_equal(found[some], values):
            return None
    return found


def checked(values: Floats, size: int) -> Floats:
    """A vector or block as the kernels need it, which check no bounds."""
    if values.ndim not in (1, 2) or len(values) != size:
        raise InputError(f"{size} values are needed here; these have shape {values.shape}")
    return np.ascontiguousarray(values, dtype=np.float64)
