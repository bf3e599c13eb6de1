"""Products on a GPU for source weights that are no power of gamma, such as those of a mixture of walks."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hyperclus.engines.base import ArrayBackend, LocalProducts, Weights
from hyperclus.engines.cpu import Lists, incidence_shares, with_data
from hyperclus.engines.cuda import DEVICE, CudaProducts, bytes_needed, check_room
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Booleans, Floats


@dataclass(frozen=True, eq=False)
class CudaSourceProducts(LocalProducts):
    """Two sets of products with the same members: one has gamma as weights, the other the source weights.

    Clusters are taken one after the other, so that many clusters cost more than by `CudaProducts`.
    """

    takes_blocks: ClassVar[bool] = True

    device: Any
    precision: str
    lists: Lists
    gamma: CudaProducts
    sources: CudaProducts

    @classmethod
    def of(cls, h: Hypergraph, alpha: float, precision: str = "float64", k: int = 2) -> "CudaSourceProducts":
        """Copy a hypergraph with a mixture to the GPU."""
        check_room(2.0 * bytes_needed(h, precision, k), precision)
        return cls.on(DEVICE(), Lists.of(h, alpha), precision)

    @classmethod
    def on(cls, device: Any, lists: Lists, precision: str) -> "CudaSourceProducts":
        """Copy the lists to a given device, which may be a stand-in."""
        both = (CudaProducts.on(device, one, 1.0, precision) for one in (lists.gamma, lists.source_weights))
        return cls(device, precision, lists, *both)

    def covered(self) -> Booleans | None:
        return self.gamma.covered()

    def to_edges(self, values: Floats, weights: Weights) -> Floats:
        return self._with(weights).to_edges(values, "gamma")

    def to_vertices(self, values: Floats, weights: Weights) -> Floats:
        return self._with(weights).to_vertices(values, "gamma")

    def edge_pairs(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        return self.to_edges(first, "gamma"), self.to_edges(second, "source_weights")

    def symmetrized(self, vector: Floats, left: Floats, right: Floats, middle: Floats) -> Floats:
        """Four passes, for a vector or all columns of a block."""
        if vector.ndim == 2:
            left, right, middle = left[:, None], right[:, None], middle[:, None]
        means, picked = self.edge_pairs(vector * left, vector * right)
        going = self.to_vertices(means * middle, "source_weights") * right
        return going + self.to_vertices(picked * middle, "gamma") * left

    def vertex_squares(self, values: Floats) -> Floats:
        """One pass with weights copied for it."""
        squares = self.lists.gamma.data * self.lists.source_weights.data
        products = CudaProducts.on(self.device, with_data(self.lists.gamma, squares), 1.0, self.precision)
        return products.to_vertices(values, "gamma")

    def least_share(self, out_edge: Floats, out_vertex: Floats, in_edge: Floats, in_vertex: Floats) -> float:
        """In host memory."""
        given = self.backend.fetch(out_edge, out_vertex, in_edge, in_vertex)
        return float(min(part.min() for part in incidence_shares(self.lists, *map(np.asarray, given))))

    def constants(self) -> Floats | None:
        return self.gamma.constants()

    @cached_property
    def backend(self) -> ArrayBackend:
        return self.gamma.backend

    def _with(self, weights: Weights) -> CudaProducts:
        return self.gamma if weights == "gamma" else self.sources
