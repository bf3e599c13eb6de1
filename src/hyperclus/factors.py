"""The two factors of the random walk, P = A B, applied without ever forming P."""

from dataclasses import dataclass, field
from typing import cast

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
    _pattern: Incidence = field(init=False, repr=False)

    def __post_init__(self) -> None:
        gamma, omega = self.hypergraph.gamma, self.hypergraph.edge_weights
        ones = gamma.data if (gamma.data == 1).all() else np.ones(gamma.nnz)
        pattern = sp.csr_array((ones, gamma.indices, gamma.indptr), shape=gamma.shape)
        degrees = pattern.T @ omega
        edge_degrees = gamma @ np.ones(gamma.shape[1])
        if not degrees.min() > 0:
            lonely = named(self.hypergraph.vertex_ids, degrees == 0)
            raise InputError(f"vertex {lonely} is in no hyperedge, so no walk starts there; leave it out")
        if not (np.isfinite(edge_degrees.max()) and np.isfinite(degrees.sum())):
            raise InputError("the weights add up to infinity; divide them by their maximum first")
        edge_degrees[edge_degrees == 0] = 1.0  # an empty hyperedge: its row of B stays zero
        object.__setattr__(self, "degrees", degrees)
        object.__setattr__(self, "edge_degrees", edge_degrees)
        object.__setattr__(self, "_pattern", cast("Incidence", pattern))

    def edge_means(self, values: Floats) -> Floats:
        """B f: for each hyperedge the gamma-weighted mean of its members' values."""
        return _divide(self.hypergraph.gamma @ values, self.edge_degrees)

    def vertex_means(self, values: Floats) -> Floats:
        """A g: for each vertex the omega-weighted mean of its hyperedges' values."""
        return _divide(self._pattern.T @ _scale(values, self.hypergraph.edge_weights), self.degrees)

    def to_edges(self, law: Floats) -> Floats:
        """A^T p: where a walker is after picking a hyperedge."""
        return _scale(self._pattern @ _divide(law, self.degrees), self.hypergraph.edge_weights)

    def to_vertices(self, law: Floats) -> Floats:
        """B^T q: where a walker is after picking a vertex of its hyperedge."""
        return cast("Floats", self.hypergraph.gamma.T @ _divide(law, self.edge_degrees))


def _scale(block: Floats, factors: Floats) -> Floats:
    return block * (factors if block.ndim == 1 else factors[:, None])


def _divide(block: Floats, factors: Floats) -> Floats:
    return block / (factors if block.ndim == 1 else factors[:, None])
