"""The bound on the information beside the information found: prints a table of docs/research/bounds.md.

    python benchmarks/information_bound.py ../shared/real cstr classic3 planted-4 --tight 60

The names are sets in the folder, with gamma = 1 and with their own gamma, and planted-K, which is K equal
groups among 1,000 vertices, gamma = 1. The column "singular values" has ln(s_1^2 + ... + s_k^2), to which
Jensen's inequality leads if all flows count alike. With --tight SECONDS the bound is also computed with a
tight bound on the NCut, if there are at most three clusters. CPU seconds are those of the bound alone.
"""

import argparse
import csv
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

import hyperclus as hc
from hyperclus.spectral.information_bound import information_upper_bound
from hyperclus.spectral.sdp_bound import tight_bound
from tight_bound import THREADS, planted

MAX_TIGHT = 3  # clusters up to which a tight bound on the NCut is tried


def hypergraphs(folder: Path, name: str) -> Iterator[tuple[str, hc.Hypergraph, int]]:
    """Yield what gamma is, the hypergraph and the number of clusters."""
    if name.startswith("planted-"):
        k = int(name.removeprefix("planted-"))
        h = planted(1000, k)
        yield "1", h.with_gamma(np.ones(h.gamma.nnz)), k
        return
    h = hc.read(folder / name / "incidences.csv.gz")
    with open(folder / name / "labels.csv", encoding="utf-8", newline="") as file:
        k = len({row["label"] for row in csv.DictReader(file)})
    yield "1", h.with_gamma(np.ones(h.gamma.nnz)), k
    if h.gamma.data.min() < h.gamma.data.max():
        yield "given", h, k


def by_singular_values(walk: hc.RandomWalk, k: int) -> float:
    """Return ln(s_1^2 + ... + s_k^2) with the singular values of Pi^1/2 P Pi^-1/2."""
    root, n = np.sqrt(walk.stationary), len(walk.stationary)

    def squared(vector: np.ndarray) -> np.ndarray:
        vector = vector.ravel()
        return walk.adjoint(root**2 * walk.forward(vector / root)) / root

    start = np.random.default_rng(0).standard_normal(n)
    values = eigsh(LinearOperator((n, n), squared), k, v0=start, return_eigenvectors=False)
    return float(np.log(values.sum()))


def row(name: str, gamma: str, h: hc.Hypergraph, k: int, seconds: float) -> str:
    """Return a line of the table."""
    part = hc.cluster(h, k, objective="information", chance=False, min_share=0.0)
    start = time.process_time()
    bound = information_upper_bound(part.walk, part.eigenpairs, k, lowest_ncut=part.lower_bound)
    spent, tight = time.process_time() - start, "-"
    if seconds and k <= MAX_TIGHT:
        lowest = tight_bound(part.walk, k, upper=part.ncut, labels=part.walk_labels, seconds=seconds).value
        closer = information_upper_bound(part.walk, part.eigenpairs, k, lowest_ncut=lowest)
        tight = with_ratio(closer, part.information)
    columns = name, gamma, f"{len(part.walk_labels):,}", str(k), f"{part.information:.4f}"
    bounds = (with_ratio(one, part.information) for one in (by_singular_values(part.walk, k), bound))
    return f"| {' | '.join((*columns, *bounds, tight, f'{spent:.2f}'))} |"


def with_ratio(bound: float, found: float) -> str:
    """Return a bound and how many times the information it is."""
    return f"{bound:.4f} ({bound / found:.2f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--tight", type=float, default=0.0, help="seconds for a tight bound on the NCut")
    given = parser.parse_args()
    columns = [
        "hypergraph",
        "gamma",
        "n",
        "k",
        "found",
        "singular values",
        "bound",
        "with a tight NCut",
        "CPU s",
    ]
    print(f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns), sep="\n")
    for name in given.names:
        for gamma, h, k in hypergraphs(given.folder, name):
            print(row(name, gamma, h, k, given.tight), flush=True)


if __name__ == "__main__":
    os.environ.update(dict.fromkeys(THREADS, "1"))
    main()
