"""Steps shared by the baselines: repeated splitting, k-means on vectors, and a score on the EDVW walk."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from hyperclus._runtime.optional import library
from hyperclus.clustering._run import Run, check_k
from hyperclus.clustering.hyperclus_g import Reweigh, Strategy, bisect
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Floats, Integers, Seed

K_MEANS_STARTS = 10

Label = Callable[[RandomWalk, np.random.Generator], Integers]
Split = Callable[[Hypergraph, np.random.Generator], Booleans | None]


def scored(hypergraph: Hypergraph, k: int, label: Label, settings: dict[str, Any], seed: Seed) -> Partition:
    """Run a method and score its labels: NCut and lower bound.

    `label` gets the walk on the vertices that are in some hyperedge and returns one of k labels for each;
    `settings` has the name of the method and its arguments.
    """
    run = Run(hypergraph, engine="cpu", chance=False, seed=seed)
    k = check_k(k, run.whole.n_vertices)
    walk = run.walk(run.whole, k)
    pairs = run.eigenpairs(walk, k)
    with run.timed(settings["method"]):
        used, labels = np.unique(label(walk, run.rng), return_inverse=True)
    if len(used) < k:
        raise InputError(f"{settings['method']} finds no more clusters; use at most k={len(used)}")
    return run.partition(walk, pairs, labels, k, settings)


def scored_splits(
    hypergraph: Hypergraph,
    k: int,
    split: Split,
    strategy: Strategy,
    reweigh: Reweigh | None,
    seed: Seed,
    settings: dict[str, Any],
) -> Partition:
    """Split the hypergraph and then its clusters until there are k, and score them.

    `split` gets a hypergraph and returns the mask of one side, or None if it cannot be split.
    """

    def label(walk: RandomWalk, rng: np.random.Generator) -> Integers:
        return bisect(walk, k, strategy, lambda sub: split(sub, rng), reweigh)

    return scored(hypergraph, k, label, {**settings, "strategy": strategy}, seed)


def scored_vectors(
    hypergraph: Hypergraph, k: int, vectors: Callable[..., Floats], settings: dict[str, Any], seed: Seed
) -> Partition:
    """Cluster the vectors of a method with k-means, and score the clusters."""

    def label(walk: RandomWalk, rng: np.random.Generator) -> Integers:
        return k_means(vectors(walk.hypergraph, seed=seed, **settings), k, rng)

    method = vectors.__name__.removesuffix("_vectors")
    return scored(hypergraph, k, label, {"method": method, **settings}, seed)


def negative(vector: Floats) -> Booleans | None:
    """The mask of the negative entries; None if there are none."""
    return None if vector.min() >= 0 else np.asarray(vector < 0)


def k_means(vectors: Floats, k: int, rng: np.random.Generator) -> Integers:
    """Labels 0 .. k - 1 from scikit-learn's KMeans; fewer if fewer than k vectors differ.

    It runs on one thread, so that sums are the same on every machine.
    """
    from threadpoolctl import threadpool_limits

    k_means_class = sklearn_cluster("k_means").KMeans
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.filterwarnings("ignore", message="Number of distinct clusters")
        model = k_means_class(k, n_init=K_MEANS_STARTS, random_state=int(rng.integers(1 << 31)))
        return np.asarray(model.fit_predict(vectors), dtype=np.int64)


def sklearn_cluster(method: str) -> Any:
    """Import sklearn.cluster for a method; call it before long work, so that its absence is found early."""
    return library("sklearn.cluster", "scikit-learn", method, "embeddings")
