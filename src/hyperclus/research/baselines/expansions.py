"""Spectral clustering of two graphs made from the hypergraph: the star and the clique expansion."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from hyperclus.clustering.hyperclus_g import Reweigh, Strategy
from hyperclus.clustering.partition import Partition
from hyperclus.engines.base import ArrayBackend
from hyperclus.errors import check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.weighting import unit_weights
from hyperclus.research.baselines.scoring import negative, scored_splits
from hyperclus.spectral.components import components
from hyperclus.spectral.eigen import smallest_eigenpairs
from hyperclus.spectral.eigen.lanczos import lanczos_vectors
from hyperclus.spectral.eigen.null_space import zero_vectors
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Floats, Seed

TOLERANCE = 1e-8


def star(
    hypergraph: Hypergraph,
    k: int = 2,
    *,
    weight: Literal["w", "w/size"] = "w",
    strategy: Strategy = "best",
    reweigh: Reweigh | None = None,
    seed: Seed = 0,
) -> Partition:
    """STAR++: split by the sign of the star expansion's second eigenvector on the vertices.

    The star expansion is a graph that links v to e with weight s(e). Eliminating the hyperedges from its
    eigenproblem leaves the walk with gamma = 1 and omega = s, so this *is* HyperClus-G with gamma = 1
    (proof in docs/research/star.md), and the graph is never built. gamma is only used to score the result.

    Parameters
    ----------
    weight : {"w", "w/size"}
        s(e) = omega(e), which reproduces the paper's figures, or omega(e)/|e|, as its text says.
    strategy, reweigh, seed
        As in `hyperclus.hyperclus_g`.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> star(h).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    check_choice("weight", weight, ("w", "w/size"))

    def split(sub: Hypergraph, rng: np.random.Generator) -> Booleans | None:
        plain = unit_weights(sub)
        if weight == "w/size":
            plain = plain.with_edge_weights(sub.edge_weights / np.maximum(sub.edge_sizes, 1))
        laplacian = NormalizedLaplacian(RandomWalk(plain))
        return negative(smallest_eigenpairs(laplacian, 2, seed=rng).vectors[:, 1])

    settings = {"method": "star", "weight": weight}
    return scored_splits(hypergraph, k, split, strategy, reweigh, seed, settings)


def clique(
    hypergraph: Hypergraph,
    k: int = 2,
    *,
    strategy: Strategy = "best",
    reweigh: Reweigh | None = None,
    seed: Seed = 0,
) -> Partition:
    """CLIQUE++: split by the sign of the second eigenvector of the clique expansion's D^-1 (D - Adj).

    The clique expansion links all members of a hyperedge. Hyperedges with a single member link nothing and
    are left out; a vertex with no other hyperedge goes to the non-negative side. gamma is only used to
    score the result. Arguments are those of `star`.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> clique(h).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def split(sub: Hypergraph, rng: np.random.Generator) -> Booleans | None:
        single = sub.edge_sizes < 2
        if single.all():
            return None
        linked = unit_weights(sub.drop_edges(single))
        active = linked.covered
        laplacian = CliqueLaplacian(TransitionFactors(linked.restrict(active)))
        masses = laplacian.degrees / laplacian.degrees.sum()
        known = zero_vectors(laplacian.backend, masses, components(laplacian.factors), 2)
        if known.shape[1] < 2:
            known = np.hstack([known, lanczos_vectors(laplacian, known, 1, TOLERANCE, rng)[0]])
        vector = np.zeros(sub.n_vertices)
        vector[active] = known[:, 1]
        return negative(vector if vector[np.argmax(np.abs(vector))] > 0 else -vector)

    return scored_splits(hypergraph, k, split, strategy, reweigh, seed, {"method": "clique"})


@dataclass(frozen=True, eq=False)
class CliqueLaplacian:
    """I - D^-1/2 Adj D^-1/2 with Adj = H W H' - diag(d) and D(u) = sum of omega(e) (|e| - 1).

    Adj(u, v) is the sum of omega(e) over the hyperedges that contain both. It is applied in two passes over
    the incidences and never formed. Every hyperedge must have at least two members.
    """

    factors: TransitionFactors

    @cached_property
    def degrees(self) -> Floats:
        """D."""
        h = self.factors.hypergraph
        return np.asarray(self.factors.lists.source_weights_by_vertex @ (h.edge_weights * (h.edge_sizes - 1)))

    @property
    def size(self) -> int:
        """The number of vertices."""
        return self.factors.hypergraph.n_vertices

    @property
    def backend(self) -> ArrayBackend:
        """The backend of the vectors."""
        return self.factors.backend

    def normal(self, rng: np.random.Generator) -> Floats:
        """Draw a vector of normal numbers."""
        return rng.standard_normal(self.size)

    def apply(self, block: Floats) -> Floats:
        """Apply the operator to a vector or to the columns of a block."""
        root, factors = np.sqrt(self.degrees), self.factors
        inner = (block.T / root).T
        at_edges = (factors.hypergraph.edge_weights * (factors.lists.source_weights @ inner).T).T
        adjacent = (factors.lists.source_weights_by_vertex @ at_edges).T - factors.degrees * inner.T
        return np.asarray(block - (adjacent / root).T)
