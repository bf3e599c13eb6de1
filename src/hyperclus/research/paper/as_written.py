"""HyperClus-G as the paper's Algorithm 1 is written, with dense matrices, to measure against.

R, W, P, L and L_sym are n x n or |E| x n arrays, the stationary distribution is computed by power iteration
and the eigenvectors by a full dense decomposition. `hyperclus.hyperclus_g` computes the same.
"""

import numpy as np

from hyperclus.clustering.cluster import evaluate
from hyperclus.clustering.hyperclus_g import Reweigh, Strategy, bisect
from hyperclus.clustering.partition import Partition
from hyperclus.errors import ConvergenceError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans

POWER_TOLERANCE = 1e-12
POWER_STEPS = 100_000


def cluster(hypergraph: Hypergraph, k: int, strategy: Strategy, reweigh: Reweigh | None) -> Partition:
    """Repeated bisection with the dense two-way algorithm."""
    labels = bisect(RandomWalk(hypergraph), k, strategy, second_side, reweigh)
    return evaluate(hypergraph, labels, chance=False)


def second_side(hypergraph: Hypergraph) -> Booleans:
    """Algorithm 1: the mask of the negative entries of the second eigenvector."""
    r = hypergraph.gamma.toarray()
    w = (r > 0).T * hypergraph.edge_weights
    p = (w / w.sum(axis=1, keepdims=True)) @ (r / r.sum(axis=1, keepdims=True))
    del w, r
    phi = np.full(len(p), 1 / len(p))
    for _ in range(POWER_STEPS):
        after = phi @ p
        change = float(np.abs(after - phi).sum())
        phi = after
        if change <= POWER_TOLERANCE:
            break
    else:
        raise ConvergenceError(f"power iteration reached {change:.1e} in {POWER_STEPS} steps", change)
    root = np.sqrt(phi)
    scaled = root[:, None] * p / root
    del p
    normalised = np.eye(len(phi)) - (scaled + scaled.T) / 2
    del scaled
    _, vectors = np.linalg.eigh(normalised)
    return np.asarray(vectors[:, 1] < 0)
