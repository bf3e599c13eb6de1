"""STAR++: spectral clustering of the star expansion, a graph with a vertex for every hyperedge."""

from typing import Literal

import numpy as np

from hyperclus.clustering.hyperclus_g import Reweigh, Strategy
from hyperclus.clustering.partition import Partition
from hyperclus.errors import check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.weighting import ones
from hyperclus.research.baselines.scoring import by_splitting, negative, scored
from hyperclus.spectral.eigen import smallest_eigenpairs
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Seed


def star(
    hypergraph: Hypergraph,
    k: int = 2,
    *,
    weight: Literal["w", "w/size"] = "w",
    strategy: Strategy = "best",
    reweigh: Reweigh | None = None,
    seed: Seed = 0,
) -> Partition:
    """STAR++: the star expansion's second eigenvector on the vertices, cut by sign.

    The star graph links v to e with weight s(e). Eliminating the hyperedges from its eigenproblem
    leaves the walk with gamma = 1 and omega = s, so this *is* HyperClus-G with gamma = 1 (docs/star.md
    has the proof), and the star graph is never built. gamma only enters the score.

    Parameters
    ----------
    weight : {"w", "w/size"}
        s(e) = omega(e), which gives the paper's figures, or omega(e)/|e|, which its text says.
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
        if sub.n_vertices < 2:
            return None
        plain = ones(sub)
        if weight == "w/size":
            plain = plain.with_edge_weights(sub.edge_weights / np.maximum(sub.edge_sizes, 1))
        laplacian = NormalizedLaplacian(RandomWalk(plain))
        return negative(smallest_eigenpairs(laplacian, 2, seed=rng).vectors[:, 1])

    settings = {"method": "star", "weight": weight, "strategy": strategy}
    return scored(hypergraph, k, by_splitting(split, k, strategy, reweigh), settings, seed)
