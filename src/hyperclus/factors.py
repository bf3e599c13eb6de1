"""The two factors of the random walk, P = A B, applied without ever forming P."""

from dataclasses import InitVar, dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hyperclus.errors import InputError, is_number
from hyperclus.hypergraph import Hypergraph, check_hypergraph
from hyperclus.ids import named
from hyperclus.threads import in_parallel
from hyperclus.types import Floats, Incidence

PARALLEL_FROM = 300_000  # incidences from which threads pay
BLOCKS = 2  # threads per product
CHUNK = 1 << 20  # incidences at a time where temporary arrays would take much memory


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """A(v, e) = omega(e) gamma_e(v)^alpha / d(v) and B(e, v) = gamma_e(v) / delta(e).

    The rows of A (vertices to hyperedges) and of B (hyperedges to vertices) sum to 1. alpha = 0 is
    Definition 5 of the paper; with alpha = 1 gamma counts both ways. What is stored is R, the gammas,
    and their powers, both by hyperedge and by vertex, with shared indices; at alpha = 0 the powers are
    one array of ones and at alpha = 1 they are R itself. Every method takes a vector or a block of
    columns and costs one pass over the incidences, in which each result is gathered: that runs on two
    threads, and scattering does not.

    Parameters
    ----------
    alpha : float
        How much gamma counts when a vertex picks a hyperedge; 0 or more.

    Attributes
    ----------
    degrees, edge_degrees : arrays
        d(v), the sum of omega(e) gamma_e(v)^alpha over v's hyperedges, and delta(e), the sum of gamma
        over e's members.
    gamma_by_vertex, picks, picks_by_vertex : csr_array
        R transposed; R with gamma^alpha for gamma; that transposed.

    Raises
    ------
    InputError
        When a vertex is in no hyperedge, or weights or their powers leave the range of double precision.
    """

    hypergraph: Hypergraph
    alpha: float = field(default=0.0, kw_only=True)
    degrees: Floats = field(init=False)
    edge_degrees: Floats = field(init=False)
    gamma_by_vertex: Incidence = field(init=False, repr=False)
    picks: Incidence = field(init=False, repr=False)
    picks_by_vertex: Incidence = field(init=False, repr=False)
    _edge_means: "_Gather" = field(init=False, repr=False)
    _vertex_means: "_Gather" = field(init=False, repr=False)
    _to_edges: "_Gather" = field(init=False, repr=False)
    _to_vertices: "_Gather" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_hypergraph(self.hypergraph)
        alpha = _checked_alpha(self.alpha)
        gamma, omega = self.hypergraph.gamma, self.hypergraph.edge_weights
        by_vertex = gamma.T.tocsr()
        picks, picks_by_vertex = _powers(gamma, by_vertex, alpha)
        gathers = {
            "_edge_means": _Gather(gamma),
            "_vertex_means": _Gather(picks_by_vertex),
            "_to_edges": _Gather(picks),
            "_to_vertices": _Gather(by_vertex),
        }
        degrees = gathers["_vertex_means"](omega)
        edge_degrees = gathers["_edge_means"](np.ones(gamma.shape[1]))
        alone = np.diff(by_vertex.indptr) == 0
        if alone.any():
            lonely = named(self.hypergraph.vertex_ids, alone)
            raise InputError(f"vertex {lonely} is in no hyperedge, so no walk starts there; leave it out")
        if not (np.isfinite(edge_degrees.max()) and np.isfinite(degrees.sum())):
            raise InputError("the weights add up to infinity; divide them by their maximum first")
        if not degrees.min() > 0:
            raise InputError(
                "the weights are too small for double precision; divide them by their maximum first"
            )
        edge_degrees[edge_degrees == 0] = 1.0  # an empty hyperedge: its row of B stays zero
        computed = {
            "alpha": alpha,
            "degrees": degrees,
            "edge_degrees": edge_degrees,
            "gamma_by_vertex": by_vertex,
            "picks": picks,
            "picks_by_vertex": picks_by_vertex,
            **gathers,
        }
        for name, value in computed.items():
            object.__setattr__(self, name, value)

    def edge_means(self, values: Floats) -> Floats:
        """B f: for each hyperedge the gamma-weighted mean of its members' values."""
        return self._edge_means(values) / _along(self.edge_degrees, values)

    def vertex_means(self, values: Floats) -> Floats:
        """A g: for each vertex the mean of its hyperedges' values, weighted by omega gamma^alpha."""
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
        spread = self.picks_by_vertex.data * share[self.picks_by_vertex.indices]
        product = _with_data(self.picks_by_vertex, spread) @ self.hypergraph.gamma
        return np.asarray(product.toarray() / self.degrees[:, None])

    def edge_chain(self) -> Floats:
        """B A as an |E| x |E| array, the walk seen from hyperedge to hyperedge; for small chains."""
        spread = self.hypergraph.gamma.data / self.degrees[self.hypergraph.gamma.indices]
        product = _with_data(self.hypergraph.gamma, spread) @ self.picks_by_vertex
        return np.asarray(product.toarray() * self.hypergraph.edge_weights / self.edge_degrees[:, None])


def row_chunks(indptr: NDArray[Any]) -> list[tuple[int, int]]:
    """Ranges of rows with about CHUNK entries each (one row is never split)."""
    bounds = np.searchsorted(indptr, np.arange(CHUNK, indptr[-1], CHUNK))
    return list(pairwise(np.unique([0, *bounds.tolist(), len(indptr) - 1]).tolist()))


def _checked_alpha(alpha: Any) -> float:
    if not (is_number(alpha) and 0 <= alpha < np.inf):
        raise InputError(f"alpha must be a number from 0, such as 0 or 1; got {alpha!r}")
    return float(alpha)


def _powers(gamma: Incidence, by_vertex: Incidence, alpha: float) -> tuple[Incidence, Incidence]:
    """gamma^alpha by hyperedge and by vertex, in no memory of its own where gamma or ones can be shared."""
    if alpha == 1 or (gamma.data == 1).all():
        return gamma, by_vertex
    if alpha == 0:
        ones = np.ones(gamma.nnz)
        return _with_data(gamma, ones), _with_data(by_vertex, ones)
    with np.errstate(over="ignore", under="ignore"):
        powers = gamma.data**alpha
    limits = np.finfo(float)
    if not (powers.min(initial=1.0) >= limits.tiny and powers.max(initial=1.0) <= limits.max):
        raise InputError(
            f"gamma to the power alpha = {alpha:g} leaves the range of double precision; lower alpha, "
            "or divide gamma by its median first"
        )
    return _with_data(gamma, powers), _with_data(by_vertex, by_vertex.data**alpha)


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
