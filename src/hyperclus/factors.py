"""The two factors of the random walk, P = A B, applied without ever forming P."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.errors import InputError
from hyperclus.hypergraph import Hypergraph
from hyperclus.ids import named
from hyperclus.types import Floats, Incidence


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

    def edge_means(self, values: Floats) -> Floats:
        """B f: for each hyperedge the gamma-weighted mean of its members' values."""
        return _product(self.hypergraph.gamma, values) / _along(self.edge_degrees, values)

    def vertex_means(self, values: Floats) -> Floats:
        """A g: for each vertex the omega-weighted mean of its hyperedges' values."""
        weighted = values * _along(self.hypergraph.edge_weights, values)
        return _product(self.pattern.T, weighted) / _along(self.degrees, values)

    def to_edges(self, law: Floats) -> Floats:
        """A^T p: where a walker is after picking a hyperedge."""
        picked = _product(self.pattern, law / _along(self.degrees, law))
        return picked * _along(self.hypergraph.edge_weights, law)

    def to_vertices(self, law: Floats) -> Floats:
        """B^T q: where a walker is after picking a vertex of its hyperedge."""
        return _product(self.hypergraph.gamma.T, law / _along(self.edge_degrees, law))

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


def _product(matrix: Any, block: Floats) -> Floats:
    return np.asarray(matrix @ block)
