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


OWN = ("hyperclus", "numba", "numpy", "scipy")

METHODS = (
    Method(
        "hyperclus",
        "hyperclus_default",
        None,
        OWN,
        "nothing",
        '`cluster(h, 2)` on `Hypergraph.from_long`, effort "default", with the compiled kernels loaded',
    ),
    Method("hyperclus, fast", "hyperclus_fast", None, OWN, "nothing", 'the same with `effort="fast"`'),
    Method(
        "hyperclus, kernels not loaded",
        "hyperclus_plain",
        None,
        OWN,
        "nothing",
        "the default, in a process that has not loaded the compiled kernels: small inputs run interpreted, "
        "larger ones load Numba within the time; run once",
    ),
    Method(
        "scikit-network",
        "scikit_network",
        "scikit-network",
        ("scikit-network", "scikit-learn", "numpy", "scipy"),
        "nothing",
        "`Spectral(2)` on the biadjacency matrix of omega gamma, then `KMeans` on the vertices",
    ),
    Method(
        "scikit-learn, clique expansion",
        "scikit_learn",
        "scikit-learn",
        ("scikit-learn", "numpy", "scipy"),
        "nothing",
        '`SpectralClustering(affinity="precomputed", eigen_solver="lobpcg", assign_labels="cluster_qr")` on '
        "the sum of omega gamma gamma' / sum of gamma; the default solver factorises, far slower on sparse",
        "the clique expansion",
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
