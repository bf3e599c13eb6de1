"""What the competitors share: their labels are scored on the EDVW walk, some by splitting again and again."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hyperclus.clustering._run import Run
from hyperclus.clustering.hyperclus_g import Reweigh, Strategy, bisect, reweighed
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Floats, Integers, Seed

TOLERANCE = 1e-8  # of the eigenvectors behind the lower bound

Label = Callable[[RandomWalk, np.random.Generator], Integers]
Split = Callable[[Hypergraph, np.random.Generator], Booleans | None]


def scored(hypergraph: Hypergraph, k: int, label: Label, settings: dict[str, Any], seed: Seed) -> Partition:
    """The labels of one method, with their NCut and its bound.

    `label` gets the walk on the vertices that are in some hyperedge and gives each of them one of k
    labels; `settings` has the name of the method and its arguments.
    """
    run = Run(hypergraph, 0.0, "eigenvalues", TOLERANCE, seed)
    k = run.check_k(k)
    walk = run.walk(run.whole, k)
    pairs = run.eigenpairs(walk, k)
    with run.timed(settings["method"]):
        used, labels = np.unique(label(walk, run.rng), return_inverse=True)
    if len(used) < k:
        raise InputError(f"{settings['method']} finds no more clusters; ask for at most k = {len(used)}")
    return run.partition(walk, pairs, labels, settings)


def by_splitting(split: Split, k: int, strategy: Strategy, reweigh: Reweigh | None) -> Label:
    """Labels by splitting the hypergraph, then one cluster after the other, until there are k.

    `split` gets a hypergraph and gives the mask of one side, or None where it cannot be split.
    """

    def label(walk: RandomWalk, rng: np.random.Generator) -> Integers:
        whole = walk.hypergraph

        def halve(vertices: Integers) -> Booleans | None:
            sub: Hypergraph | None = whole
            if len(vertices) < whole.n_vertices:
                sub = reweighed(whole.restrict(vertices), vertices, reweigh)
            return None if sub is None else split(sub, rng)

        return bisect(walk, k, strategy, halve)

    return label


def negative(vector: Floats | None) -> Booleans | None:
    """The mask of the negative entries; None where there are none, or no vector."""
    return None if vector is None or vector.min() >= 0 else np.asarray(vector < 0)
