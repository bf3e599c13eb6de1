"""What each eigen-solver is expected to cost; measured by benchmarks/eigen_cost.py."""

from dataclasses import dataclass

import numpy as np

from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.typing import Floats

SECONDS = {  # per unit of the work that `work` counts
    "lanczos": (6.0e-05, 1.9e-09, 2.7e-09),
    "dense": (5.5e-04, 4.4e-09, 7.7e-11),
    "small side": (1.9e-03, 9.3e-09, 6.0e-10),
}


@dataclass(frozen=True, slots=True)
class Sizes:
    """The figures that the costs depend on."""

    vertices: int
    edges: int
    incidences: int
    vertex_pairs: float  # sum of |e|^2, the products in a dense P
    edge_pairs: float  # sum over v of its number of hyperedges squared
    wanted: int


def sizes(laplacian: NormalizedLaplacian, wanted: int) -> Sizes:
    """The sizes of a problem with `wanted` eigenvectors beyond the known ones."""
    hypergraph = laplacian.walk.hypergraph
    edge_pairs = np.inf  # counted only where the method that they matter for is possible
    if fits_small_side(laplacian, wanted + 1):
        edge_pairs = float((np.bincount(hypergraph.gamma.indices).astype(np.float64) ** 2).sum())
    return Sizes(
        hypergraph.n_vertices,
        hypergraph.n_edges,
        hypergraph.n_incidences,
        float((hypergraph.edge_sizes.astype(np.float64) ** 2).sum()),
        edge_pairs,
        wanted,
    )


def work(s: Sizes) -> dict[str, Floats]:
    """Counts that, weighted by `SECONDS`, give each method's expected time."""
    steps = 12 + 6 * s.wanted
    return {
        "lanczos": np.array([steps, steps * s.incidences, steps * s.vertices * (s.wanted + 15)], dtype=float),
        "dense": np.array([1.0, s.vertex_pairs, float(s.vertices) ** 3]),
        "small side": np.array([1.0, s.edge_pairs + s.incidences * s.wanted, float(2 * s.edges) ** 3]),
    }


def fits_small_side(laplacian: NormalizedLaplacian, k: int) -> bool:
    """Whether n >= 2|E| + k, which the reduction needs."""
    return laplacian.size >= 2 * laplacian.walk.hypergraph.n_edges + k


def cheapest(laplacian: NormalizedLaplacian, k: int, wanted: int) -> str:
    """The method with the smallest expected time."""
    figures = work(sizes(laplacian, wanted))
    if not fits_small_side(laplacian, k):
        del figures["small side"]
    return min(figures, key=lambda method: float(figures[method] @ SECONDS[method]))
