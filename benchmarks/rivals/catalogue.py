"""The methods of the comparison, one entry per table row. Nothing here imports another library."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Method:
    """A table row: a module in methods/, its environment, what it ignores and which matrices it forms."""

    name: str
    module: str
    environment: str | None  # a file in requirements/; None is hyperclus' own environment
    packages: tuple[str, ...]
    ignores: str
    how: str
    forms: str = "no"  # or the matrix between all vertices that it forms


OWN = ("hyperclus", "numpy", "scipy")
SKLEARN = ("scikit-learn", "numpy", "scipy")

METHODS = (
    Method(
        "hyperclus",
        "hyperclus_default",
        None,
        OWN,
        "nothing",
        '`cluster(h, 2)` on `Hypergraph.from_long`, effort "default"',
    ),
    Method("hyperclus, fast", "hyperclus_fast", None, OWN, "nothing", 'the same with `effort="fast"`'),
    Method(
        "scikit-network",
        "scikit_network",
        "scikit-network",
        ("scikit-network", *SKLEARN),
        "nothing",
        "`Spectral(2)` on the biadjacency matrix of omega gamma, then `KMeans` on the vertices",
    ),
    Method(
        "scikit-learn, clique expansion",
        "scikit_learn",
        "scikit-learn",
        SKLEARN,
        "nothing",
        '`SpectralClustering(affinity="precomputed", eigen_solver="lobpcg", assign_labels="cluster_qr")` on '
        "the sum of omega gamma gamma' / sum of gamma; the default solver factorises, far slower on sparse",
        "the clique expansion",
    ),
    Method(
        "SpectralCoclustering",
        "coclustering",
        "scikit-learn",
        SKLEARN,
        "nothing",
        "scikit-learn: `SpectralCoclustering(2)` on omega gamma",
    ),
    Method(
        "LSA + k-means",
        "lsa",
        "scikit-learn",
        SKLEARN,
        "nothing",
        "scikit-learn: `TfidfTransformer(sublinear_tf=True)` of omega gamma, `TruncatedSVD(100)`, "
        "`Normalizer`, then `KMeans(2, max_iter=100, n_init=10)`",
    ),
    Method(
        "LSA + FAISS",
        "lsa_faiss",
        "faiss",
        ("faiss-cpu", *SKLEARN),
        "nothing",
        "the same rows, then `faiss.Kmeans(niter=100, nredo=10)`, which trains on at most 256 rows a cluster",
    ),
    Method(
        "Leiden",
        "leiden",
        "igraph",
        ("igraph", "numpy", "scipy"),
        "nothing",
        'igraph: `community_leiden("modularity", weights, resolution)` on the bipartite graph; '
        "the resolution is bisected until two clusters contain vertices (up to 14 runs), and the nearest is "
        "taken",
    ),
    Method(
        "HyperNetX",
        "hypernetx",
        "hypernetx",
        ("hypernetx", "scikit-learn", "pandas", "numpy", "scipy"),
        "omega (it uses the spread of gamma instead)",
        "`spec_clus(H, 2, weights=True)`, gamma as cell weights",
        "P and L",
    ),
    Method(
        "XGI",
        "xgi",
        "xgi",
        ("xgi", "numpy", "scipy"),
        "gamma and omega",
        "`spectral_clustering(H, 2)` with defaults; its k-means never detects convergence",
        "L",
    ),
    Method(
        "XGI's Laplacian, k-means",
        "xgi_laplacian",
        "xgi",
        ("xgi", "scikit-learn", "numpy", "scipy"),
        "gamma and omega",
        "the same Laplacian and eigenvectors, with scikit-learn's `KMeans` instead of its own",
        "L",
    ),
    Method(
        "hypergraphx",
        "hypergraphx",
        "hypergraphx",
        ("hypergraphx", "scikit-learn", "numpy", "scipy"),
        "gamma and omega",
        "`HySC().fit(H, 2)`; dense matrices",
        "L",
    ),
    Method(
        "Mt-KaHyPar",
        "mtkahypar",
        "mtkahypar",
        ("mtkahypar", "numpy"),
        "gamma",
        "default preset, objective km1 (for two blocks the same as the cut), epsilon 0.03, "
        "round(1000 omega) as hyperedge weights; a partitioner with balanced blocks, not a method for NCut",
    ),
)

REFERENCE = METHODS[0].name
