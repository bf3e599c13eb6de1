"""The two factors of the random walk, P = A B, applied without ever forming P."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from hyperclus._runtime.arrays import along
from hyperclus.engines.base import ArrayBackend, IncidenceProducts
from hyperclus.engines.cpu import Lists, with_data
from hyperclus.engines.cpu_blocks import host_products
from hyperclus.errors import Argument, InputError, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph, check_incidences
from hyperclus.hypergraph.messages import named
from hyperclus.typing import Floats


@dataclass(frozen=True, eq=False)
class TransitionFactors:
    """A(v, e) = omega(e) gamma_e(v)^alpha / d(v) and B(e, v) = gamma_e(v) / delta(e).

    The rows of A (vertices to hyperedges) and of B (hyperedges to vertices) sum to 1. alpha = 0 is
    Definition 5 of the paper; with alpha = 1 gamma counts in both directions. Every method takes a vector or
    a block of columns and passes once over the incidences. Products by another engine may be given, whose
    backend then holds the vectors, of a given dtype.

    Raises
    ------
    InputError
        When a vertex is in no hyperedge, or weights or their powers leave the range of double precision.
    """

    hypergraph: Hypergraph
    alpha: float = field(default=0.0, kw_only=True)
    products: IncidenceProducts = field(default=cast(IncidenceProducts, None), kw_only=True, repr=False)
    dtype: Any = field(default=np.float64, kw_only=True, repr=False)
    degrees: Floats = field(init=False, repr=False)  # d(v), the sum of omega(e) gamma_e(v)^alpha
    edge_degrees: Floats = field(init=False, repr=False)  # delta(e), the sum of gamma
    edge_weights: Floats = field(init=False, repr=False)  # omega
    relative_degrees: Floats = field(init=False, repr=False)  # d(v) over the largest omega,
    shares: Floats = field(
        init=False, repr=False
    )  # omega(e) / delta(e) too: weights of any scale stay in range

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))
        if self.products is None:
            check_hypergraph(self.hypergraph)
            check_incidences(self.hypergraph)
            object.__setattr__(self, "products", host_products(self.lists))
        persist, fetch = self.backend.persist, self.backend.fetch
        omega = self.backend.put(self.hypergraph.edge_weights)
        degrees = persist(self.products.to_vertices(omega, "source_weights"))
        edge_degrees = persist(self.products.to_edges(np.ones_like(degrees), "gamma"))
        largest, most, total, least = map(
            float, fetch(omega.max(), edge_degrees.max(), degrees.sum(), degrees.min())
        )
        if not (np.isfinite(most) and np.isfinite(total)):
            raise InputError("the weights add up to infinity; divide them by their maximum first")
        if not least > 0:
            raise InputError(self._why_no_degree())
        edge_degrees = np.where(edge_degrees == 0, 1.0, edge_degrees)  # empty: its row of B stays zero
        with np.errstate(over="ignore", under="ignore"):
            shares, relative_degrees = persist(omega / largest / edge_degrees), persist(degrees / largest)
            least, most = map(float, fetch(shares.min(), shares.max()))
        if not (least > 0 and most < np.inf):
            raise InputError(
                "omega and gamma are too far apart for double precision; divide both by their median"
            )
        names = "degrees", "edge_degrees", "edge_weights", "relative_degrees", "shares"
        for name, value in zip(names, (degrees, edge_degrees, omega, relative_degrees, shares), strict=True):
            object.__setattr__(self, name, value.astype(self.dtype, copy=False))

    def _why_no_degree(self) -> str:
        """Why a vertex has degree 0."""
        isolated = ~getattr(self.hypergraph, "covered", np.ones(1, dtype=bool))
        if isolated.any():
            vertex = named(self.hypergraph.vertex_ids, isolated)
            return f"vertex {vertex} is in no hyperedge, so no walk starts there; leave it out"
        return "the weights are too small for double precision; divide them by their maximum first"

    @cached_property
    def lists(self) -> Lists:
        """Gamma and the source weights by hyperedge and by vertex, in host memory."""
        return Lists.of(self.hypergraph, self.alpha)

    @property
    def backend(self) -> ArrayBackend:
        """Where the vectors live."""
        return self.products.backend

    @cached_property
    def return_probability(self) -> Floats:
        """P(v, v): the probability of returning to v in one step."""
        return self.backend.persist(self.products.vertex_squares(self.shares) / self.relative_degrees)

    def astype(self, dtype: Any) -> "TransitionFactors":
        """The same with all vectors in another precision."""
        return replace(self, dtype=dtype)

    def edge_means(self, values: Floats) -> Floats:
        """B f: for each hyperedge the gamma-weighted mean of its members' values."""
        return self.products.to_edges(values, "gamma") / along(self.edge_degrees, values)

    def vertex_means(self, values: Floats) -> Floats:
        """A g: for each vertex the mean of its hyperedges' values, weighted by omega gamma^alpha."""
        weighted = values * along(self.edge_weights, values)
        return self.products.to_vertices(weighted, "source_weights") / along(self.degrees, values)

    def step_to_edges(self, distribution: Floats) -> Floats:
        """A^T p: where a walker is after picking a hyperedge."""
        picked = self.products.to_edges(distribution / along(self.degrees, distribution), "source_weights")
        return picked * along(self.edge_weights, distribution)

    def step_to_vertices(self, distribution: Floats) -> Floats:
        """B^T q: where a walker is after picking a vertex of its hyperedge."""
        return self.products.to_vertices(distribution / along(self.edge_degrees, distribution), "gamma")

    def onward(self, distribution: Floats) -> Floats:
        """P^T p for a vector: where a walker is one step later."""
        picked = self.products.to_edges(distribution / self.relative_degrees, "source_weights")
        return self.products.to_vertices(picked * self.shares, "gamma")

    def vertex_chain(self) -> Floats:
        """P = A B as an n x n array; for small chains."""
        share = self.hypergraph.edge_weights / self.edge_degrees
        spread = self.lists.source_weights_by_vertex.data * share[self.lists.source_weights_by_vertex.indices]
        product = with_data(self.lists.source_weights_by_vertex, spread) @ self.hypergraph.gamma
        return np.asarray(product.toarray() / self.degrees[:, None])

    def edge_chain(self) -> Floats:
        """B A as an |E| x |E| array, the walk seen from hyperedge to hyperedge; for small chains."""
        spread = self.hypergraph.gamma.data / self.degrees[self.hypergraph.gamma.indices]
        product = with_data(self.hypergraph.gamma, spread) @ self.lists.source_weights_by_vertex
        return np.asarray(product.toarray() * self.hypergraph.edge_weights / self.edge_degrees[:, None])


def checked_alpha(alpha: Any) -> float:
    """The number that alpha is, or an `InputError`."""
    if not (is_number(alpha) and 0 <= alpha < np.inf):
        raise InputError(Argument("alpha"), f" must be a number from 0, such as 0 or 1; got {alpha!r}")
    return float(alpha)
