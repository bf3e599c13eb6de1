"""Who is compared: one entry per row of the tables. Nothing here imports a rival."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Method:
    """A row of the tables: a module in methods/, where it runs, what it leaves out and what it forms."""

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
        '`cluster(h, 2)` on `Hypergraph.from_long`, effort "default", with the compiled loops loaded',
    ),
    Method("hyperclus, fast", "hyperclus_fast", None, OWN, "nothing", 'the same with `effort="fast"`'),
    Method(
        "hyperclus, loops not loaded",
        "hyperclus_plain",
        None,
        OWN,
        "nothing",
        "as by default, in a process that has not loaded the compiled loops: small inputs run interpreted, "
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
        "omega (it takes the spread of gamma in its place)",
        "`spec_clus(H, 2, weights=True)`, gamma as cell weights",
        "P and L",
    ),
    Method(
        "XGI",
        "xgi",
        "xgi",
        ("xgi", "numpy", "scipy"),
        "gamma and omega",
        "`spectral_clustering(H, 2)` as it comes; its k-means never sees that it has converged",
        "L",
    ),
    Method(
        "XGI's Laplacian, k-means",
        "xgi_laplacian",
        "xgi",
        ("xgi", "scikit-learn", "numpy", "scipy"),
        "gamma and omega",
        "the same Laplacian and eigenvectors, with scikit-learn's `KMeans` in place of its own",
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
