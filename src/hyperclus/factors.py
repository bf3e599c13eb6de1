"""The two factors of the random walk, P = A B, applied without ever forming P."""

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.errors import InputError
from hyperclus.hypergraph import Hypergraph
from hyperclus.ids import named
from hyperclus.threads import in_parallel
from hyperclus.types import Floats, Incidence

PARALLEL_FROM = 300_000  # incidences from which threads pay
BLOCKS = 2  # threads per product; a constant, so that the result does not depend on the machine


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """A = D_V^-1 W (vertices to hyperedges) and B = D_E^-1 R (hyperedges to vertices).

    A(v, e) = omega(e) / d(v) and B(e, v) = gamma_e(v) / delta(e), Definition 5 of the paper; the
    rows of both sum to 1. A has the pattern of R and separable values, so what is stored is R,
    its pattern (which shares R's indices) and the degrees. Every method takes a vector or a block
    of columns and costs one pass over the incidences.
    """

    hypergraph: Hypergraph
    degrees: Floats = field(init=False)
    edge_degrees: Floats = field(init=False)
    pattern: Incidence = field(init=False, repr=False)
    _gamma_blocks: list[Incidence] = field(init=False, repr=False)
    _pattern_blocks: list[Incidence] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        gamma, omega = self.hypergraph.gamma, self.hypergraph.edge_weights
        ones = gamma.data if (gamma.data == 1).all() else np.ones(gamma.nnz)
        pattern = sp.csr_array((ones, gamma.indices, gamma.indptr), shape=gamma.shape)
        degrees = _product(pattern.T, omega)
        edge_degrees = _product(gamma, np.ones(gamma.shape[1]))
        if not degrees.min() > 0:
            lonely = named(self.hypergraph.vertex_ids, degrees == 0)
            raise InputError(f"vertex {lonely} is in no hyperedge, so no walk starts there; leave it out")
        if not (np.isfinite(edge_degrees.max()) and np.isfinite(degrees.sum())):
            raise InputError("the weights add up to infinity; divide them by their maximum first")
        edge_degrees[edge_degrees == 0] = 1.0  # an empty hyperedge: its row of B stays zero
        object.__setattr__(self, "degrees", degrees)
        object.__setattr__(self, "edge_degrees", edge_degrees)
        object.__setattr__(self, "pattern", pattern)
        object.__setattr__(self, "_gamma_blocks", _row_blocks(gamma))
        object.__setattr__(self, "_pattern_blocks", _row_blocks(pattern))

    def edge_means(self, values: Floats) -> Floats:
        """B f: for each hyperedge the gamma-weighted mean of its members' values."""
        return _gather(self._gamma_blocks, values) / _along(self.edge_degrees, values)

    def vertex_means(self, values: Floats) -> Floats:
        """A g: for each vertex the omega-weighted mean of its hyperedges' values."""
        weighted = values * _along(self.hypergraph.edge_weights, values)
        return _scatter(self._pattern_blocks, weighted) / _along(self.degrees, values)

    def to_edges(self, law: Floats) -> Floats:
        """A^T p: where a walker is after picking a hyperedge."""
        picked = _gather(self._pattern_blocks, law / _along(self.degrees, law))
        return picked * _along(self.hypergraph.edge_weights, law)

    def to_vertices(self, law: Floats) -> Floats:
        """B^T q: where a walker is after picking a vertex of its hyperedge."""
        return _scatter(self._gamma_blocks, law / _along(self.edge_degrees, law))

    def vertex_chain(self) -> Floats:
        """P = A B as an n x n array; for small chains."""
        picking = _scaled_rows(self.pattern, self.hypergraph.edge_weights / self.edge_degrees)
        return np.asarray((picking.T @ self.hypergraph.gamma).toarray() / self.degrees[:, None])

    def edge_chain(self) -> Floats:
        """B A as an |E| x |E| array, the walk seen from hyperedge to hyperedge; for small chains."""
        leaving = _scaled_rows(self.pattern.T.tocsr(), 1.0 / self.degrees)
        chain = (self.hypergraph.gamma @ leaving).toarray() / self.edge_degrees[:, None]
        return np.asarray(chain * self.hypergraph.edge_weights)


def _along(factors: Floats, block: Floats) -> Floats:
    """The factors in the shape that scales the rows of a vector or of a block."""
    return factors if block.ndim == 1 else factors[:, None]


def _scaled_rows(matrix: Incidence, factors: Floats) -> Incidence:
    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _row_blocks(matrix: Incidence) -> list[Incidence]:
    """Blocks of rows with about equally many entries, which share the matrix's memory."""
    count = BLOCKS if matrix.nnz >= PARALLEL_FROM else 1
    cuts = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, count + 1)[1:-1])
    blocks = []
    for first, last in pairwise([0, *cuts.tolist(), matrix.shape[0]]):
        entries = slice(matrix.indptr[first], matrix.indptr[last])
        indptr = matrix.indptr[first : last + 1] - matrix.indptr[first]
        parts = (matrix.data[entries], matrix.indices[entries], indptr)
        blocks.append(sp.csr_array(parts, shape=(last - first, matrix.shape[1])))
    return blocks


def _gather(blocks: list[Incidence], values: Floats) -> Floats:
    """X f, the rows of each block on a thread of its own."""
    parts = in_parallel([partial(_product, block, values) for block in blocks])
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _scatter(blocks: list[Incidence], values: Floats) -> Floats:
    """X' g, the rows of each block on a thread of its own, their results added."""
    bounds = np.cumsum([0, *(block.shape[0] for block in blocks)])
    parts = in_parallel(
        [
            partial(_product, block.T, values[i:j])
            for block, (i, j) in zip(blocks, pairwise(bounds), strict=True)
        ]
    )
    for part in parts[1:]:
        parts[0] += part
    return parts[0]


def _product(matrix: Any, block: Floats) -> Floats:
    return np.asarray(matrix @ block)
