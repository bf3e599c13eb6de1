"""Components that are too small to be clusters: kept together, so that they do not blur the other clusters.

Nothing in the hyperedges says to which larger group a small component belongs. If each were placed where it
adds most to the information, they would fill up the smaller clusters at random. So the search leaves them
out, and they all join the one cluster that loses least by it.
"""

import numpy as np

from hyperclus.clustering.objectives import Objective, flows_between
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Integers

SMALL = 0.1  # of an equal share of the volume, 1/k, below which a component is small
MOST = 0.5  # of the volume, that the other components have at least


def small_components(walk: RandomWalk, k: int) -> Booleans | None:
    """Mark the vertices of small components; None if there are none, or if not much else is left.

    >>> from hyperclus import Hypergraph
    >>> large = [[v, v + 1, v + 2] for v in range(60)]
    >>> walk = RandomWalk(Hypergraph.from_edges([*large, ["a", "b"]]))
    >>> np.flatnonzero(small_components(walk, 2)).tolist()
    [62, 63]
    """
    if k < 2 or walk.n_components < 2:
        return None
    found = walk.distribution.components
    masses = found.masses(walk.backend, walk.stationary)
    small = masses < SMALL / k
    if not small.any() or masses[~small].sum() < MOST:
        return None
    marked = np.asarray(small[found.of_vertex])
    return marked if np.count_nonzero(~marked) >= k else None


def add_small_components(
    walk: RandomWalk, labels: Integers, k: int, objective: Objective, small: Booleans, volume: float
) -> Integers:
    """Labels of all vertices, given those of the walk on the others, which have this share of the volume."""
    between = np.zeros((k + 1, k + 1))
    between[:k, :k], between[k, k] = volume * flows_between(walk, labels, k), 1.0 - volume
    costs = objective.merger_costs(between.sum(axis=1), np.diag(between), between)
    (inside,) = walk.backend.fetch(labels)
    everywhere = np.full(len(small), int(np.argmin(costs[k, :k])), dtype=np.int64)
    everywhere[~small] = inside
    return everywhere
