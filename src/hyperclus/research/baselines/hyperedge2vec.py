"""hyperedge2vec (event2vec): embed vertices as mean codes of their hyperedges, then k-means."""

from dataclasses import asdict
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.random import random_generator
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.clustering.partition import Partition
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.research.baselines.autoencoder import AutoEncoderOptions, encode, train
from hyperclus.research.baselines.scoring import scored_vectors, sklearn_cluster
from hyperclus.typing import Floats, Seed


def hyperedge2vec(hypergraph: Hypergraph, k: int = 2, *, seed: Seed = 0, **options: Any) -> Partition:
    """event2vec (Fu, Yuan, Duan, Yao, ICONIP 2019): a vector per vertex, then k-means on the vectors.

    An auto-encoder maps the 0/1 rows X of the hyperedges' members to codes: code = sigmoid(X W + b) and
    Xhat = sigmoid(code U^T + c). Adam minimises
    ||(X - Xhat) * (1 + (positive_weight - 1) X)||_F^2 + 1/2 ||W, b, U, c||^2 on batches of hyperedges. The
    vector of a vertex is the mean code of its hyperedges. omega and gamma are only used to score the result.
    Empty hyperedges are ignored.

    Parameters
    ----------
    seed : int, Generator or None
        Seed of the initial weights, the batches and k-means. The same integer gives the vectors of
        `hyperedge2vec_vectors`.
    **options
        See `hyperclus.research.baselines.AutoEncoderOptions`.

    Raises
    ------
    InputError
        For invalid arguments, and if fewer than k vectors differ.
    MissingLibraryError
        Without scikit-learn: `pip install 'hyperclus[embeddings]'`.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> sorted(hyperedge2vec(h).sizes.tolist())
    [3, 3]
    """
    sklearn_cluster("hyperedge2vec")
    settings = asdict(AutoEncoderOptions(**options))
    return scored_vectors(hypergraph, k, "hyperedge2vec", hyperedge2vec_vectors, settings, seed)


@single_blas_thread
def hyperedge2vec_vectors(hypergraph: Hypergraph, *, seed: Seed = 0, **options: Any) -> Floats:
    """The vectors that `hyperedge2vec` clusters, of shape (n_vertices, dimension), with the same arguments.

    The row of a vertex in no hyperedge is NaN.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    >>> hyperedge2vec_vectors(h, dimension=4, epochs=10).shape
    (3, 4)
    """
    check_hypergraph(hypergraph)
    chosen = AutoEncoderOptions(**options)
    rng = random_generator(seed)
    gamma, covered = hypergraph.gamma, hypergraph.covered
    ones = np.ones(gamma.nnz, dtype=np.float32)
    rows = sp.csr_array((ones, gamma.indices, gamma.indptr), shape=gamma.shape)
    rows = rows[hypergraph.edge_sizes > 0][:, covered]
    codes = encode(train(rows, chosen, rng), rows)
    vectors = np.full((hypergraph.n_vertices, chosen.dimension), np.nan)
    vectors[covered] = (rows.T @ codes) / rows.sum(axis=0)[:, None]
    return vectors
