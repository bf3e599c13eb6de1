"""The gaps of the two lower bounds: prints the table of docs/certificate.md in Markdown.

The data sets car and zoo are downloaded on first use; the other hypergraphs are random with a fixed seed.
"""

import argparse
import time

import numpy as np

import hyperclus as hc
from hyperclus.spectral.bounds import relative_gap
from hyperclus.spectral.sdp_bound import tight_bound


def planted(n: int, k: int) -> hc.Hypergraph:
    """Return k groups with 1.5 n hyperedges of six members, most of them from one group."""
    rng = np.random.default_rng(0)
    edges = []
    for _ in range(3 * n // 2):
        pull = np.where(np.arange(n) % k == rng.integers(k), 0.8, 0.2 / (k - 1))
        drawn = rng.choice(n, 6, replace=False, p=pull / pull.sum())
        edges.append({int(v): 10 ** rng.uniform(-0.5, 0.5) for v in drawn})
    return hc.Hypergraph.from_edges(edges)


def unstructured(n: int, k: int) -> hc.Hypergraph:
    """Return n hyperedges of six random members, without clusters."""
    rng = np.random.default_rng(k)
    drawn = [rng.choice(n, 6, replace=False) for _ in range(n)]
    return hc.Hypergraph.from_edges([{int(v): 10 ** rng.uniform(-1, 1) for v in edge} for edge in drawn])


def row(name: str, hypergraph: hc.Hypergraph, k: int) -> str:
    """Return a line of the table."""
    part = hc.cluster(hypergraph, k=k, objective="ncut", effort="thorough", min_share=0.0)
    start = time.perf_counter()
    tight = tight_bound(hc.RandomWalk(hypergraph), k, upper=part.ncut)
    seconds = time.perf_counter() - start
    gaps = f"{100 * part.gap:.1f} % | {100 * relative_gap(part.ncut, tight.value):.3f} %"
    shape = f"{hypergraph.n_vertices} | {k}"
    return f"| {name} | {shape} | {part.ncut:.5f} | {gaps} | {seconds:.1f} | {tight.rounds} | {tight.ended} |"


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    print("| hypergraph | n | k | NCut found | gap, eigenvalues | gap, tight | seconds | rounds | ended |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in ("car", "zoo"):
        data = hc.research.datasets.load(name)
        print(row(name, data.hypergraph, data.k), flush=True)
    for n, k in ((50, 2), (50, 4), (100, 2), (100, 4), (200, 2), (200, 4), (300, 3), (400, 3)):
        print(row("planted", planted(n, k), k), flush=True)
        print(row("random", unstructured(n, k), k), flush=True)


if __name__ == "__main__":
    main()
