"""Planted blocks: the search, k-means on the same embedding, and the paper's bisection.

`python benchmarks/planted.py` prints the tables of docs/understand/search.md in Markdown, in about five
minutes.
"""

import argparse

import numpy as np

import families
import hyperclus as hc


def built(n_incidences: int, blocks: int, noise: float, seed: int) -> tuple[hc.Hypergraph, np.ndarray]:
    """Return a hypergraph of the sparse family, and the planted block of each vertex."""
    table, omega, planted = families.sparse(n_incidences, blocks, noise, seed)
    h = families.build(table, omega)
    return h, planted[h.vertex_ids]


def k_means(part: hc.Partition) -> np.ndarray:
    """Return labels by phi-weighted k-means, ten starts, on the rows of the k - 1 eigenvectors."""
    from sklearn.cluster import KMeans

    phi = part.walk.stationary
    rows = part.eigenpairs.vectors[:, 1 : part.k] / np.sqrt(phi)[:, None]
    return KMeans(part.k, n_init=10, random_state=0).fit(rows, sample_weight=phi).labels_


def compared(n_incidences: int, blocks: int, noise: float, seeds: int) -> list[str]:
    """Return the mean NMI and NCut of each method over several hypergraphs."""
    rows = []
    for seed in range(seeds):
        h, truth = built(n_incidences, blocks, noise, seed)
        ours = hc.cluster(h, blocks, objective="ncut", seed=seed)
        paper = hc.hyperclus_g(h, blocks, seed=seed)
        grouped = hc.evaluate(h, k_means(ours), seed=seed)
        planted = hc.evaluate(h, truth, seed=seed)
        nmis = [hc.agreement(truth, part.labels).nmi for part in (paper, grouped, ours)]
        rows.append([*nmis, *(part.ncut for part in (paper, grouped, ours, planted)), ours.gap])
    nmi, ncut = (slice(0, 3), slice(3, 7))
    means = np.mean(rows, axis=0)
    return [
        *(f"{value:.3f}" for value in means[nmi]),
        *(f"{value:.3f}" for value in means[ncut]),
        f"{100 * means[7]:.1f} %",
    ]


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    methods = ("bisection", "k-means", "ours")
    columns = [
        *(f"NMI {name}" for name in methods),
        *(f"NCut {name}" for name in (*methods, "planted")),
        "gap",
    ]
    print("| blocks | noise | " + " | ".join(columns) + " |")
    print("| ---: | ---: |" + " ---: |" * 8)
    for blocks in (2, 5, 20):
        for noise in (0.2, 0.4, 0.5, 0.6):
            print(
                f"| {blocks} | {noise} | " + " | ".join(compared(120_000, blocks, noise, 3)) + " |",
                flush=True,
            )


if __name__ == "__main__":
    main()
