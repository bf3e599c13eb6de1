"""What STAR++ and CLIQUE++ share: repeated bisection by sign, scored on the hypergraph itself."""

from collections.abc import Callable

import numpy as np

from hyperclus.bisection import Strategy, bisect
from hyperclus.cluster import Reweigh, evaluate, reweighed
from hyperclus.errors import InputError, check_count
from hyperclus.hypergraph import Hypergraph, check_hypergraph
from hyperclus.partition import Partition
from hyperclus.types import Booleans, Floats, Integers, Seed, random_generator
from hyperclus.walk import RandomWalk

SecondVector = Callable[[Hypergraph, np.random.Generator], Floats | None]


def bisect_by_sign(
    hypergraph: Hypergraph,
    k: int,
    second_vector: SecondVector,
    strategy: Strategy,
    reweigh: Reweigh | None,
    seed: Seed,
) -> Partition:
    """Split by the sign of `second_vector`, non-negative against negative, until there are k clusters."""
    check_hypergraph(hypergraph)
    check_count(k)
    if k > hypergraph.n_vertices:
        raise InputError(f"{k} clusters need at least {k} vertices; there are {hypergraph.n_vertices}")
    rng = random_generator(seed)

    def halve(vertices: Integers) -> Booleans | None:
        sub: Hypergraph | None = hypergraph
        if len(vertices) < hypergraph.n_vertices:
            sub = reweighed(hypergraph.restrict(vertices), vertices, reweigh)
        vector = None if sub is None else second_vector(sub, rng)
        return None if vector is None or vector.min() >= 0 else np.asarray(vector < 0)

    return evaluate(hypergraph, bisect(RandomWalk(hypergraph), k, strategy, halve), seed=seed)
