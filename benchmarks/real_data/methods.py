"""The methods of the comparison: each takes the incidences (a row per vertex), k and a seed; it gives labels.

Each library is called as its documentation says, on the weights of the file, and is imported by the function
that needs it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

Labels = Callable[[sparse.csr_array, int, int], np.ndarray]
STEPS = 14  # runs, at most, to find the resolution that gives k clusters


@dataclass(frozen=True, slots=True)
class Method:
    """A row of the tables: its name, the function, how it is called, and where it is installed."""

    name: str
    labels: Labels
    how: str
    environment: str | None = None  # a file in rivals/requirements; None is the environment of hyperclus

    @property
    def own(self) -> bool:
        """Whether this is a search of hyperclus, which is compared with all others."""
        return self.name.startswith("hyperclus ")


def hyperclus_default(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """Nothing but k."""
    import hyperclus as hc

    return hc.cluster(incidences, k, seed=seed).labels


def hyperclus_ncut(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """The lowest NCut."""
    import hyperclus as hc

    return hc.cluster(incidences, k, objective="ncut", seed=seed).labels


def hyperclus_information(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """The most information of the walk."""
    import hyperclus as hc

    return hc.cluster(incidences, k, objective="information", seed=seed).labels


def hyperclus_members(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """The information of the walk on members alone, without their weights."""
    import hyperclus as hc

    h = hc.unit_weights(hc.as_hypergraph(incidences))
    return hc.cluster(h, k, objective="information", seed=seed).labels


def hyperclus_two_sided(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """The information of the walk that uses the weights in both directions."""
    import hyperclus as hc

    return hc.cluster(incidences, k, objective="information", alpha=1, seed=seed).labels


def hyperclus_g(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """The algorithm of the paper."""
    import hyperclus as hc

    return hc.hyperclus_g(incidences, k, seed=seed).labels


def bottleneck(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """The sequential information bottleneck."""
    from bottleneck import labels

    return labels(incidences, k, seed)


def lsa(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """Latent semantic analysis, then k-means."""
    from sklearn.cluster import KMeans

    rows = lsa_rows(incidences, seed)
    return KMeans(k, max_iter=100, n_init=10, random_state=seed).fit_predict(rows)


def lsa_faiss(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """Latent semantic analysis, then the k-means of FAISS, with as many starts and iterations."""
    import faiss

    rows = np.ascontiguousarray(lsa_rows(incidences, seed), dtype=np.float32)
    model = faiss.Kmeans(rows.shape[1], k, niter=100, nredo=10, seed=seed)
    model.train(rows)
    return model.index.search(rows, 1)[1].ravel()


def lsa_rows(incidences: sparse.csr_array, seed: int) -> np.ndarray:
    """The vertices in 100 dimensions: the truncated SVD of tf-idf, rows of length 1."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    components = min(100, *(side - 1 for side in incidences.shape))
    steps = (
        TfidfTransformer(sublinear_tf=True),
        TruncatedSVD(components, random_state=seed),
        Normalizer(copy=False),
    )
    return make_pipeline(*steps).fit_transform(sparse.csr_matrix(incidences))


def coclustering(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """Dhillon's co-clustering."""
    from sklearn.cluster import SpectralCoclustering

    return SpectralCoclustering(k, random_state=seed).fit(sparse.csr_matrix(incidences)).row_labels_


def leiden(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """Leiden on the bipartite graph, at the resolution that gives k clusters."""
    return nearest_to_k(bipartite_communities(incidences, seed), k)


def bipartite_communities(incidences: sparse.csr_array, seed: int) -> Callable[[float], np.ndarray]:
    """Leiden on the bipartite graph of vertices and hyperedges, as a function of the resolution."""
    import random

    import igraph

    n, m = incidences.shape
    entries = incidences.tocoo()
    pairs = np.column_stack([entries.row, n + entries.col])
    graph = igraph.Graph(n + m, pairs, edge_attrs={"weight": entries.data})
    igraph.set_random_number_generator(random.Random(seed))

    def at(resolution: float) -> np.ndarray:
        found = graph.community_leiden("modularity", weights="weight", resolution=resolution)
        return np.array(found.membership[:n])

    return at


def sknetwork_louvain(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """Louvain with Barber's modularity of the bipartite graph."""
    from sknetwork.clustering import Louvain

    biadjacency = sparse.csr_matrix(incidences)

    def at(resolution: float) -> np.ndarray:
        model = Louvain(resolution, shuffle_nodes=True, random_state=seed)
        return model.fit(biadjacency, force_bipartite=True).labels_row_

    return nearest_to_k(at, k)


def sknetwork_spectral(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """Spectral embedding of the bipartite graph, then k-means on the vertices."""
    from sklearn.cluster import KMeans
    from sknetwork.embedding import Spectral

    np.random.seed(seed)  # noqa: NPY002 - the global state is where its solver draws the first vector
    model = Spectral(k).fit(sparse.csr_matrix(incidences), force_bipartite=True)
    return KMeans(k, n_init=10, random_state=seed).fit_predict(model.embedding_row_)


def hypernetx_spectral(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """Spectral clustering of its walk for edge-dependent vertex weights; it has a fixed seed."""
    from hypernetx.algorithms import spec_clus

    clusters = spec_clus(hypernetx_hypergraph(incidences), k, weights=True)
    return _labels_of(clusters.values(), incidences.shape[0])


def hypernetx_kumar(incidences: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    """Hypergraph modularity, which chooses the number of clusters and does not take one."""
    import random

    import igraph
    from hypernetx.algorithms import kumar

    igraph.set_random_number_generator(random.Random(seed))
    return _labels_of(kumar(hypernetx_hypergraph(incidences)), incidences.shape[0])


def hypernetx_hypergraph(incidences: sparse.csr_array) -> object:
    """The incidences as a hypergraph of HyperNetX."""
    import pandas as pd
    from hypernetx import Hypergraph

    entries = incidences.tocoo()
    table = pd.DataFrame({"edges": entries.col, "nodes": entries.row, "weight": entries.data})
    return Hypergraph(table, edge_col="edges", node_col="nodes", cell_weight_col="weight")


def _labels_of(clusters: object, n: int) -> np.ndarray:
    """Labels from collections of vertices; a vertex in none of them is in a cluster of the rest."""
    found = np.full(n, -1)
    for label, members in enumerate(clusters):
        found[np.fromiter(members, dtype=np.int64)] = label
    return found


def nearest_to_k(at: Callable[[float], np.ndarray], k: int) -> np.ndarray:
    """Labels at the resolution that gives as nearly k clusters of vertices as bisection finds."""
    low, high, resolution = -np.inf, np.inf, 0.0  # as logarithms
    best, nearest = np.zeros(0), np.inf
    for _ in range(STEPS):
        labels = at(float(np.exp(resolution)))
        clusters = len(np.unique(labels))
        if abs(clusters - k) < nearest:
            best, nearest = labels, abs(clusters - k)
        if clusters == k:
            break
        low, high = (resolution, high) if clusters < k else (low, resolution)
        resolution = (low + high) / 2 if np.isfinite(low + high) else resolution + np.sign(k - clusters)
    return best


BISECTED = "the resolution is bisected until k clusters contain vertices (up to 14 runs)"
METHODS = (
    Method("hyperclus default", hyperclus_default, "`cluster(X, k)`"),
    Method("hyperclus ncut", hyperclus_ncut, '`cluster(X, k, objective="ncut")`'),
    Method("hyperclus information", hyperclus_information, '`cluster(X, k, objective="information")`'),
    Method("hyperclus members", hyperclus_members, "the same on `unit_weights(X)`"),
    Method("hyperclus two-sided", hyperclus_two_sided, "the same on X with `alpha=1`"),
    Method("HyperClus-G", hyperclus_g, "the algorithm of the paper, `hyperclus_g(X, k)`"),
    Method(
        "LSA + k-means",
        lsa,
        "scikit-learn: `TfidfTransformer(sublinear_tf=True)`, `TruncatedSVD(100)`, `Normalizer`, then "
        "`KMeans(k, max_iter=100, n_init=10)`",
        "scikit-learn",
    ),
    Method("SpectralCoclustering", coclustering, "scikit-learn: `SpectralCoclustering(k)`", "scikit-learn"),
    Method(
        "Leiden",
        leiden,
        f'igraph: `community_leiden("modularity", weights, resolution)` on the bipartite graph; {BISECTED}',
        "igraph",
    ),
    Method(
        "scikit-network Louvain",
        sknetwork_louvain,
        f"`Louvain(resolution, shuffle_nodes=True)` on the biadjacency matrix; {BISECTED}",
        "scikit-network",
    ),
    Method(
        "scikit-network Spectral",
        sknetwork_spectral,
        "`Spectral(k)` on the biadjacency matrix, then scikit-learn's `KMeans(k, n_init=10)` on the rows",
        "scikit-network",
    ),
    Method("HyperNetX spec_clus", hypernetx_spectral, "`spec_clus(H, k, weights=True)`", "hypernetx"),
    Method(
        "HyperNetX kumar",
        hypernetx_kumar,
        "`kumar(H)`, which takes no k and chooses the number of clusters",
        "hypernetx",
    ),
    Method(
        "information bottleneck",
        bottleneck,
        "sequential (Slonim, Friedman, Tishby 2002), in `benchmarks/real_data/bottleneck.py`, five starts",
        "numba",
    ),
)
