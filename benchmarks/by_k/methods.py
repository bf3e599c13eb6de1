"""The methods whose time is compared: those of real_data, and a few that are there for their speed."""

import numpy as np
from scipy import sparse

from real_data.methods import METHODS as REAL
from real_data.methods import Method, bipartite_communities, lsa_faiss


def hyperclus_fast(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """The least effort."""
    import hyperclus as hc

    return hc.cluster(incidences, k, effort="fast", seed=seed).labels


def leiden_once(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """Leiden at resolution 1, whatever number of clusters it finds."""
    return bipartite_communities(incidences, seed)(1.0)


def sknetwork_one_start(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """Spectral embedding of the bipartite graph, then k-means with the one start that is its default."""
    from sklearn.cluster import KMeans
    from sknetwork.embedding import Spectral

    np.random.seed(seed)  # noqa: NPY002 - the global state is where its solver draws the first vector
    model = Spectral(k).fit(sparse.csr_matrix(incidences), force_bipartite=True)
    return KMeans(k, random_state=seed).fit_predict(model.embedding_row_)


_real = {method.name: method for method in REAL}
OWN = "hyperclus default"
METHODS = (
    _real[OWN],
    Method("hyperclus fast", hyperclus_fast, '`cluster(X, k, effort="fast")`'),
    _real["SpectralCoclustering"],
    _real["LSA + k-means"],
    Method(
        "LSA + FAISS",
        lsa_faiss,
        "the same rows, then `faiss.Kmeans(niter=100, nredo=10)`, which trains on at most 256 k rows",
        "faiss",
    ),
    _real["Leiden"],
    Method(
        "Leiden, one run",
        leiden_once,
        "the same at resolution 1, whatever number of clusters it finds",
        "igraph",
    ),
    Method(
        "scikit-network Spectral",
        sknetwork_one_start,
        "`Spectral(k)` on the biadjacency matrix, then scikit-learn's `KMeans(k)`, which has one start",
        "scikit-network",
    ),
)
