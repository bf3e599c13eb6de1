"""The gaps of the two lower bounds: prints the tables of docs/research/bounds.md in Markdown.

Without names it measures hypergraphs of up to 400 vertices. With names it measures these, each in a
process of its own with one thread, and verifies the certificates (needs python-flint):

    python benchmarks/tight_bound.py rice digit-24 classic3 planted-1e5 --seconds 150 --real ../shared/real

The names are

- the data sets of the paper, with its weights;
- the sets in the folder --real, with gamma = 1;
- planted-N: two groups among N vertices, searched until the gap is below 5e-7;
- planted-1e5: four groups among 100,000 vertices;
- covertype-1e5: 100,000 rows of covertype, drawn at random, with 5 % of the values changed.

CPU seconds are those of the tight bound alone. The memory is the peak before the certificate is verified.

With --parts 2 25 it prints instead the least gap that a sum over 2 and over 25 random parts of equal size can
have, whatever the bounds on the parts are.
"""

import argparse
import csv
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import hyperclus as hc
from hyperclus.clustering.cut import cut
from hyperclus.spectral.bounds import relative_gap
from hyperclus.spectral.sdp_bound import tight_bound

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
LARGE = 100_000


@dataclass(frozen=True)
class Problem:
    """A hypergraph, the number of clusters, and how they are searched for."""

    hypergraph: hc.Hypergraph
    k: int
    effort: str = "thorough"
    tolerance: float = 1e-4  # of the tight bound


def planted(n: int, k: int, share: float = 0.8) -> hc.Hypergraph:
    """Return k groups with 1.5 n hyperedges of six members, most of them from one group."""
    rng = np.random.default_rng(0)
    edges = []
    for _ in range(3 * n // 2):
        pull = np.where(np.arange(n) % k == rng.integers(k), share, (1 - share) / (k - 1))
        drawn = rng.choice(n, 6, replace=False, p=pull / pull.sum())
        edges.append({int(v): 10 ** rng.uniform(-0.5, 0.5) for v in drawn})
    return hc.Hypergraph.from_edges(edges)


def unstructured(n: int, k: int) -> hc.Hypergraph:
    """Return n hyperedges of six random members, without clusters."""
    rng = np.random.default_rng(k)
    drawn = [rng.choice(n, 6, replace=False) for _ in range(n)]
    return hc.Hypergraph.from_edges([{int(v): 10 ** rng.uniform(-1, 1) for v in edge} for edge in drawn])


def large_planted(n: int, k: int) -> hc.Hypergraph:
    """Return k groups with 1.5 n hyperedges of up to six members, 85 % of them from one group; gamma = 1."""
    rng = np.random.default_rng(0)
    n_edges = n // 2 * 3
    home = rng.integers(k, size=n_edges)[:, None]
    inside = rng.random((n_edges, 6)) < 0.85
    own, anywhere = rng.integers(n // k, size=(n_edges, 6)) * k + home, rng.integers(n, size=(n_edges, 6))
    return hc.Hypergraph.from_edges([list(set(row)) for row in np.where(inside, own, anywhere).tolist()])


def resampled(name: str, n: int) -> hc.Hypergraph:
    """Return n rows of a table of the paper, drawn again, with 5 % of the values from other rows."""
    rng = np.random.default_rng(0)
    data = hc.datasets.load(name)
    rows, columns = rng.integers(len(data.classes), size=n), {}
    for column, values in data.table.items():
        changed = rng.random(n) < 0.05
        columns[column] = np.asarray(values)[rows]
        columns[column][changed] = np.asarray(values)[rng.integers(len(values), size=changed.sum())]
    return hc.class_counts(hc.Hypergraph.from_table(columns, bins=None), data.classes[rows])


def stored(folder: Path) -> Problem:
    """Return a set with incidences.csv.gz and labels.csv; gamma = 1, and k is the number of labels."""
    h = hc.read(folder / "incidences.csv.gz")
    with open(folder / "labels.csv", encoding="utf-8", newline="") as file:
        k = len({row["label"] for row in csv.DictReader(file)})
    return Problem(h.with_gamma(np.ones(h.gamma.nnz)), k)


def problem(name: str, real: Path | None) -> Problem:
    """Return the problem with this name; see the top of this file."""
    if name == "planted-1e5":
        return Problem(large_planted(LARGE, 4), 4, "default")
    if name == "covertype-1e5":
        return Problem(resampled("covertype", LARGE), 2, "default")
    if name.startswith("planted-"):
        return Problem(planted(int(name.removeprefix("planted-")), 2, 0.95), 2, tolerance=5e-7)
    if name in hc.research.datasets.names():
        data = hc.research.datasets.load(name)
        return Problem(data.hypergraph, data.k)
    if real is None or not (real / name).is_dir():
        raise ValueError(f"there is no hypergraph {name!r}; sets from files need --real FOLDER")
    return stored(real / name)


def measured(name: str, seconds: float, real: Path | None) -> str:
    """Return a line of the table above 400 vertices."""
    given = problem(name, real)
    h, k = given.hypergraph, given.k
    part = hc.cluster(h, k, objective="ncut", effort=given.effort, min_share=0.0, chance=False)
    start = time.process_time()
    tight = tight_bound(
        part.walk, k, upper=part.ncut, labels=part.walk_labels, tolerance=given.tolerance, seconds=seconds
    )
    spent = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    gaps = f"{100 * part.gap:.2f} % | {100 * relative_gap(part.ncut, tight.value):.2g} %"
    shape = f"{name} | {h.n_vertices:,} | {k} | {part.ncut:.5f}"
    cost = f"{spent:.0f} | {memory:,.0f} | {tight.rounds} | {tight.ended} | {tight.failure:.0e}"
    return f"| {shape} | {gaps} | {cost} | {verified(replace(part, tight=tight))} |"


def verified(part: hc.Partition) -> str:
    """Return whether the checker proves the certificate, with its CPU seconds; stderr has the reasons."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "one.cert")
        part.certificate(path)
        start = time.process_time()
        verdict = hc.verify(path, part.walk.hypergraph)
        spent = time.process_time() - start
    if not verdict.verified:
        print("refused:", "; ".join(verdict.refusals), file=sys.stderr, flush=True)
    return f"yes, {spent:.1f} s" if verdict.verified else "no"


def parts_row(name: str, counts: list[int], real: Path | None) -> str:
    """Return the least gap of sums over parts: the clusters found, cut by the parts, are one choice in each.

    With T parts, sum_i M(V_i) >= k T - NCut of the k T clusters.
    """
    given = problem(name, real)
    part = hc.cluster(given.hypergraph, given.k, objective="ncut", min_share=0.0, chance=False)
    n, rng, cells = len(part.walk_labels), np.random.default_rng(0), []
    for count in counts:
        place = rng.permutation(n) * count // n
        pieces, labels = np.unique(part.walk_labels * count + place, return_inverse=True)
        most = given.k - len(pieces) + cut(part.walk, labels, len(pieces)).ncut
        gap = relative_gap(part.ncut, most)
        cells.append(f"{100 * gap:.2f} %" if most > 0 else "no bound")
    return f"| {name} | {n:,} | {given.k} | {part.ncut:.5f} | {100 * part.gap:.2f} % | {' | '.join(cells)} |"


def rows(names: list[str], seconds: float, real: Path | None) -> Iterator[str]:
    """Yield the lines of the table above 400 vertices, each from a new process with one thread."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for name in names:
            yield pool.apply(measured, (name, seconds, real))


def row(name: str, hypergraph: hc.Hypergraph, k: int) -> str:
    """Return a line of the table up to 400 vertices."""
    part = hc.cluster(hypergraph, k=k, objective="ncut", effort="thorough", min_share=0.0)
    start = time.perf_counter()
    tight = tight_bound(hc.RandomWalk(hypergraph), k, upper=part.ncut)
    seconds = time.perf_counter() - start
    gaps = f"{100 * part.gap:.1f} % | {100 * relative_gap(part.ncut, tight.value):.3f} %"
    shape = f"{hypergraph.n_vertices} | {k}"
    return f"| {name} | {shape} | {part.ncut:.5f} | {gaps} | {seconds:.1f} | {tight.rounds} | {tight.ended} |"


def small() -> Iterator[str]:
    """Yield the lines of the table up to 400 vertices."""
    for name in ("car", "zoo"):
        data = hc.research.datasets.load(name)
        yield row(name, data.hypergraph, data.k)
    for n, k in ((50, 2), (50, 4), (100, 2), (100, 4), (200, 2), (200, 4), (300, 3), (400, 3)):
        yield row("planted", planted(n, k), k)
        yield row("random", unstructured(n, k), k)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="hypergraphs with more than 400 vertices")
    parser.add_argument("--seconds", type=float, default=150.0, help="limit of the search, in wall time")
    parser.add_argument("--real", type=Path, help="folder with a folder per set of real data")
    parser.add_argument("--parts", type=int, nargs="+", default=[], help="numbers of parts; see above")
    given = parser.parse_args()
    columns, lines = ["hypergraph", "n", "k", "NCut found", "gap, eigenvalues"], small()
    if given.parts:
        columns += [f"gap, {count} parts" for count in given.parts]
        lines = (parts_row(name, given.parts, given.real) for name in given.names)
    elif given.names:
        columns += ["gap, tight", "CPU s", "MB", "rounds", "ended", "failure", "verified"]
        lines = rows(given.names, given.seconds, given.real)
    else:
        columns += ["gap, tight", "seconds", "rounds", "ended"]
    print(f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns), sep="\n")
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
