"""hyperedge2vec (event2vec): vertices as means of codes of their hyperedges, then k-means."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.random import random_generator
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.research.baselines.autoencoder import encode, train
from hyperclus.research.baselines.k_means import clustering_for, k_means
from hyperclus.research.baselines.scoring import scored
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers, Seed


def hyperedge2vec(
    hypergraph: Hypergraph,
    k: int = 2,
    *,
    dimension: int = 64,
    epochs: int = 200,
    batch: int = 128,
    learning_rate: float = 0.01,
    positive_weight: float = 30.0,
    seed: Seed = 0,
) -> Partition:
    """event2vec (Fu, Yuan, Duan, Yao, ICONIP 2019): a vector per vertex, then k-means on the vectors.

    code = sigmoid(X W + b) and Xhat = sigmoid(code U^T + c), X being the 0/1 rows of the hyperedges'
    members. Adam minimises ||(X - Xhat) * (1 + (positive_weight - 1) X)||_F^2 + 1/2 ||W, b, U, c||^2 on
    batches of hyperedges. The vector of a vertex is the mean code of its hyperedges. omega and gamma only
    enter the score. Hyperedges without members play no part.

    Parameters
    ----------
    dimension : int
        Length of a code and of a vector.
    epochs, batch : int
        Each epoch draws floor(n_edges / batch) batches of so many different hyperedges, each batch from
        all of them; one batch of all if there are fewer.
    learning_rate : float
        Of Adam, at most 1.
    positive_weight : float
        By how much an error on a member is multiplied before it is squared, from 1 to 1000.
    seed : int, Generator or None
        Of the first weights, the batches and k-means. The vectors are those that
        `hyperedge2vec_vectors` has for the same number.

    Raises
    ------
    InputError
        For arguments that cannot be used, and when fewer than k vectors differ.
    MissingLibraryError
        Without scikit-learn: `pip install 'hyperclus[embeddings]'`.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> sorted(hyperedge2vec(h).sizes.tolist())
    [3, 3]
    """
    clustering_for("hyperedge2vec")
    settings = _checked(dimension, epochs, batch, learning_rate, positive_weight)

    def label(walk: RandomWalk, rng: np.random.Generator) -> Integers:
        return k_means(hyperedge2vec_vectors(walk.hypergraph, **settings, seed=seed), k, rng)

    return scored(hypergraph, k, label, {"method": "hyperedge2vec", **settings}, seed)


@single_blas_thread
def hyperedge2vec_vectors(
    hypergraph: Hypergraph,
    *,
    dimension: int = 64,
    epochs: int = 200,
    batch: int = 128,
    learning_rate: float = 0.01,
    positive_weight: float = 30.0,
    seed: Seed = 0,
) -> Floats:
    """The vectors that `hyperedge2vec` clusters, (n_vertices, dimension); arguments as there.

    The row of a vertex in no hyperedge is NaN.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    >>> hyperedge2vec_vectors(h, dimension=4, epochs=10).shape
    (3, 4)
    """
    check_hypergraph(hypergraph)
    settings = _checked(dimension, epochs, batch, learning_rate, positive_weight)
    rng = random_generator(seed)
    gamma, held = hypergraph.gamma, hypergraph.covered
    ones = np.ones(gamma.nnz, dtype=np.float32)
    rows = sp.csr_array((ones, gamma.indices, gamma.indptr), shape=gamma.shape)
    rows = rows[hypergraph.edge_sizes > 0][:, held]
    codes = encode(train(rows, rng=rng, **settings), rows)
    vectors = np.full((hypergraph.n_vertices, dimension), np.nan)
    vectors[held] = (rows.T @ codes) / rows.sum(axis=0)[:, None]
    return vectors


def _checked(
    dimension: int, epochs: int, batch: int, learning_rate: float, positive_weight: float
) -> dict[str, Any]:
    """The settings by name, each in its range."""
    counts = {"dimension": dimension, "epochs": epochs, "batch": batch}
    for name, count in counts.items():
        check_integer(name, count)
    if not is_number(learning_rate) or not 0 < learning_rate <= 1:
        raise InputError(f"learning_rate must be a number above 0 and at most 1; got {learning_rate!r}")
    if not is_number(positive_weight) or not 1 <= positive_weight <= 1000:
        raise InputError(f"positive_weight must be a number from 1 to 1000; got {positive_weight!r}")
    return {**counts, "learning_rate": learning_rate, "positive_weight": positive_weight}
