"""Clusters of vertices from their vectors."""

import warnings
from typing import Any

import numpy as np

from hyperclus._runtime.optional import library
from hyperclus.typing import Floats, Integers

STARTS = 10  # of which the best is kept


def k_means(vectors: Floats, k: int, rng: np.random.Generator) -> Integers:
    """Labels 0 .. k - 1 by scikit-learn's KMeans; fewer where fewer than k vectors differ.

    On one thread, so that sums come out the same on every machine.
    """
    from threadpoolctl import threadpool_limits

    k_means_class = clustering_for("k_means").KMeans
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.filterwarnings("ignore", message="Number of distinct clusters")
        found = k_means_class(k, n_init=STARTS, random_state=int(rng.integers(1 << 31))).fit_predict(vectors)
    return np.asarray(found, dtype=np.int64)


def clustering_for(method: str) -> Any:
    """scikit-learn's clustering, or an error that says which method needs it; asked before long work."""
    return library("sklearn.cluster", "scikit-learn", method, "embeddings")
