"""The two factors of the random walk, P = A B, applied without ever forming P."""

from dataclasses import InitVar, dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hyperclus.errors import InputError
from hyperclus.hypergraph import Hypergraph, check_hypergraph
from hyperclus.ids import named
from hyperclus.threads import in_parallel
from hyperclus.types import Floats, Incidence

PARALLEL_FROM = 300_000  # incidences from which threads pay
BLOCKS = 2  # threads per product
CHUNK = 1 << 20  # incidences at a time where temporary arrays would take much memory


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """A = D_V^-1 W (vertices to hyperedges) and B = D_E^-1 R (hyperedges to vertices).

    A(v, e) = omega(e) / d(v) and B(e, v) = gamma_e(v) / delta(e), Definition 5 of the paper; the
    rows of both sum to 1. A has the pattern of R and separable values, so what is stored is R and its
    pattern, both by hyperedge and by vertex (the pattern shares R's indices), and the degrees. Every
    method takes a vector or a block of columns and costs one pass over the incidences, in which each
    result is gathered: that runs on two threads, and scattering does not.

    Attributes
    ----------
    degrees, edge_degrees : arrays
        d(v), the sum of omega over v's hyperedges, and delta(e), the sum of gamma over e's members.
    gamma_by_vertex, pattern, pattern_by_vertex : csr_array
        R transposed; R with ones for gamma; that transposed.
    """

    hypergraph: Hypergraph
    degrees: Floats = field(init=False)
    edge_degrees: Floats = field(init=False)
    gamma_by_vertex: Incidence = field(init=False, repr=False)
    pattern: Incidence = field(init=False, repr=False)
    pattern_by_vertex: Incidence = field(init=False, repr=False)
    _edge_means: "_Gather" = field(init=False, repr=False)
    _vertex_means: "_Gather" = field(init=False, repr=False)
    _to_edges: "_Gather" = field(init=False, repr=False)
    _to_vertices: "_Gather" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_hypergraph(self.hypergraph)
        gamma, omega = self.hypergraph.gamma, self.hypergraph.edge_weights
        by_vertex = gamma.T.tocsr()
        ones = gamma.data if (gamma.data == 1).all() else np.ones(gamma.nnz)
        pattern_by_vertex = _with_data(by_vertex, ones)
        pattern = _with_data(gamma, ones)
        gathers = {
            "_edge_means": _Gather(gamma),
            "_vertex_means": _Gather(pattern_by_vertex),
            "_to_edges": _Gather(pattern),
            "_to_vertices": _Gather(by_vertex),
        }
        degrees = gathers["_vertex_means"](omega)
        edge_degrees = gathers["_edge_means"](np.ones(gamma.shape[1]))
        if not degrees.min() > 0:
            lonely = named(self.hypergraph.vertex_ids, degrees == 0)
            raise InputError(f"vertex {lonely} is in no hyperedge, so no walk starts there; leave it out")
        if not (np.isfinite(edge_degrees.max()) and np.isfinite(degrees.sum())):
            raise InputError("the weights add up to infinity; divide them by their maximum first")
        edge_degrees[edge_degrees == 0] = 1.0  # an empty hyperedge: its row of B stays zero
        computed = {
            "degrees": degrees,
            "edge_degrees": edge_degrees,
            "gamma_by_vertex": by_vertex,
            "pattern": pattern,
            "pattern_by_vertex": pattern_by_vertex,
            **gathers,
        }
        for name, value in computed.items():
            object.__setattr__(self, name, value)

    def edge_means(self, values: Floats) -> Floats:
        """B f: for each hyperedge the gamma-weighted mean of its members' values."""
        return self._edge_means(values) / _along(self.edge_degrees, values)

    def vertex_means(self, values: Floats) -> Floats:
        """A g: for each vertex the omega-weighted mean of its hyperedges' values."""
        weighted = values * _along(self.hypergraph.edge_weights, values)
        return self._vertex_means(weighted) / _along(self.degrees, values)

    def to_edges(self, law: Floats) -> Floats:
        """A^T p: where a walker is after picking a hyperedge."""
        picked = self._to_edges(law / _along(self.degrees, law))
        return picked * _along(self.hypergraph.edge_weights, law)

    def to_vertices(self, law: Floats) -> Floats:
        """B^T q: where a walker is after picking a vertex of its hyperedge."""
        return self._to_vertices(law / _along(self.edge_degrees, law))

    def vertex_chain(self) -> Floats:
        """P = A B as an n x n array; for small chains."""
        share = self.hypergraph.edge_weights / self.edge_degrees
        spread = self.pattern_by_vertex.data * share[self.pattern_by_vertex.indices]
        product = _with_data(self.pattern_by_vertex, spread) @ self.hypergraph.gamma
        return np.asarray(product.toarray() / self.degrees[:, None])

    def edge_chain(self) -> Floats:
        """B A as an |E| x |E| array, the walk seen from hyperedge to hyperedge; for small chains."""
        spread = self.hypergraph.gamma.data / self.degrees[self.hypergraph.gamma.indices]
        product = _with_data(self.hypergraph.gamma, spread) @ self.pattern_by_vertex
        return np.asarray(product.toarray() * self.hypergraph.edge_weights / self.edge_degrees[:, None])


def row_chunks(indptr: NDArray[Any]) -> list[tuple[int, int]]:
    """Ranges of rows with about CHUNK entries each (one row is never split)."""
    bounds = np.searchsorted(indptr, np.arange(CHUNK, indptr[-1], CHUNK))
    return list(pairwise(np.unique([0, *bounds.tolist(), len(indptr) - 1]).tolist()))


def _along(factors: Floats, block: Floats) -> Floats:
    """The factors in the shape that scales the rows of a vector or of a block."""
    return factors if block.ndim == 1 else factors[:, None]


def _with_data(matrix: Incidence, data: Floats) -> Incidence:
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Gather:
    """X f for one matrix X; large ones in blocks of rows, a thread each, that share X's memory."""

    matrix: InitVar[Incidence]
    blocks: list[Incidence] = field(init=False)

    def __post_init__(self, matrix: Incidence) -> None:
        count = BLOCKS if matrix.nnz >= PARALLEL_FROM else 1
        cuts = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, count + 1)[1:-1]).tolist()
        rows = pairwise([0, *cuts, matrix.shape[0]])
        object.__setattr__(self, "blocks", [_rows(matrix, first, last) for first, last in rows])

    def __call__(self, block: Floats) -> Floats:
        if len(self.blocks) == 1:
            return _product(self.blocks[0], block)
        return np.concatenate(in_parallel([partial(_product, rows, block) for rows in self.blocks]))


def _rows(matrix: Incidence, first: int, last: int) -> Incidence:
    """Some rows of a matrix; set from outside because the constructor would copy views of less than half."""
    rows: Incidence = sp.csr_array((last - first, matrix.shape[1]), dtype=np.float64)
    entries = slice(matrix.indptr[first], matrix.indptr[last])
    rows.data, rows.indices = matrix.data[entries], matrix.indices[entries]
    rows.indptr = matrix.indptr[first : last + 1] - matrix.indptr[first]
    return rows


def _product(matrix: Any, block: Floats) -> Floats:
    return np.asarray(matrix @ block)
