"""CLIQUE++: spectral clustering of the clique expansion, which links the members of a hyperedge."""

from dataclasses import dataclass, field

import numpy as np

from hyperclus.clustering.hyperclus_g import Reweigh, Strategy
from hyperclus.clustering.partition import Partition
from hyperclus.engines.base import ArrayBackend
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.weighting import ones
from hyperclus.research.baselines.scoring import by_splitting, negative, scored
from hyperclus.spectral.components import components
from hyperclus.spectral.eigen.lanczos import lanczos_vectors
from hyperclus.spectral.eigen.null_space import zero_vectors
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.typing import Booleans, Floats, Seed

TOLERANCE = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class CliqueLaplacian:
    """I - D^-1/2 Adj D^-1/2 with Adj = H W H' - diag(d) and D(u) = sum of omega(e) (|e| - 1).

    Adj(u, v) adds omega(e) over the hyperedges that hold both; it is applied in two passes over the
    incidences and never formed. Every hyperedge must have two members or more.
    """

    factors: TransitionFactors
    degrees: Floats = field(init=False)

    def __post_init__(self) -> None:
        h = self.factors.hypergraph
        degrees = np.asarray(self.factors.source_weights_by_vertex @ (h.edge_weights * (h.edge_sizes - 1)))
        object.__setattr__(self, "degrees", degrees)

    @property
    def size(self) -> int:
        """The number of vertices."""
        return self.factors.hypergraph.n_vertices

    @property
    def backend(self) -> ArrayBackend:
        """Where the vectors live."""
        return self.factors.backend

    def normal(self, rng: np.random.Generator) -> Floats:
        """Normal numbers."""
        return rng.standard_normal(self.size)

    def apply(self, block: Floats) -> Floats:
        """The image of a vector or of the columns of a block: two passes over the incidences."""
        root, own, omega = np.sqrt(self.degrees), self.factors.degrees, self.factors.hypergraph.edge_weights
        if block.ndim == 2:
            root, own, omega = root[:, None], own[:, None], omega[:, None]
        inner = block / root
        adjacent = (
            self.factors.source_weights_by_vertex @ (omega * (self.factors.source_weights @ inner))
            - own * inner
        )
        return np.asarray(block - adjacent / root)


def clique(
    hypergraph: Hypergraph,
    k: int = 2,
    *,
    strategy: Strategy = "best",
    reweigh: Reweigh | None = None,
    seed: Seed = 0,
) -> Partition:
    """CLIQUE++: the second eigenvector of the clique expansion's D^-1 (D - Adj), cut by sign.

    Hyperedges with a single member link nothing and are left out first; a vertex with no other
    hyperedge goes to the non-negative side. gamma only enters the score.

    Parameters
    ----------
    strategy, reweigh, seed
        As in `hyperclus.hyperclus_g`.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> clique(h).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    settings = {"method": "clique", "strategy": strategy}
    return scored(hypergraph, k, by_splitting(_split, k, strategy, reweigh), settings, seed)


def _split(hypergraph: Hypergraph, rng: np.random.Generator) -> Booleans | None:
    return negative(_second_vector(hypergraph, rng))


def _second_vector(hypergraph: Hypergraph, rng: np.random.Generator) -> Floats | None:
    lonely = hypergraph.edge_sizes < 2
    if lonely.all():
        return None
    linked = ones(hypergraph.drop_edges(lonely))
    active = linked.covered
    laplacian = CliqueLaplacian(TransitionFactors(linked.restrict(active)))
    masses = laplacian.degrees / laplacian.degrees.sum()
    known = zero_vectors(laplacian.backend, masses, components(laplacian.factors), 2)
    vector = np.zeros(hypergraph.n_vertices)
    if known.shape[1] == 2:
        vector[active] = known[:, 1]
    else:
        vector[active] = lanczos_vectors(laplacian, known, 1, TOLERANCE, rng)[0][:, 0]
    return vector if vector[np.argmax(np.abs(vector))] > 0 else -vector
