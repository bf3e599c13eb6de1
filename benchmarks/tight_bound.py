"""The gaps of the two lower bounds: prints the tables of docs/research/bounds.md in Markdown.

Without names it measures hypergraphs of up to 400 vertices. With names it measures these, each in a
process of its own with one thread, and verifies the certificates (needs python-flint):

    python benchmarks/tight_bound.py rice digit-24 classic3 planted-1e5 --seconds 150 --real ../shared/real

The names are

- the data sets of the paper, with its weights;
- the sets in the folder --real, with gamma = 1, and the hypergraphs that --prepare FOLDER stored there;
- planted-N: two groups among N vertices, searched until the gap is below 5e-7;
- planted-1e5: four groups among 100,000 vertices;
- covertype-1e5: 100,000 rows of covertype, drawn at random, with 5 % of the values changed.

Seconds are those of the tight bound alone. The memory is the peak before the certificate is verified.

With --engine cuda a GPU is used. On a machine without the libraries that read data and verify certificates,
take hypergraphs from --prepare, store the certificates with --keep FOLDER, and verify them elsewhere:

    python benchmarks/tight_bound.py letter digit --prepare .cache/hypergraphs
    python benchmarks/tight_bound.py letter digit --real .cache/hypergraphs --engine cuda --keep .cache/found
    python benchmarks/tight_bound.py letter digit --real .cache/hypergraphs --verify .cache/found

With --parts 2 25 it prints instead the least gap that a sum over 2 and over 25 random parts of equal size can
have, whatever the bounds on the parts are.
"""

import argparse
import csv
import importlib.util
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "src"), str(Path(__file__).parents[1] / "tests")]
import numpy as np  # noqa: E402

import hyperclus as hc  # noqa: E402
import on_gpu  # noqa: E402, F401  replaces libraries that a bare machine does not have
from hyperclus.clustering.cut import cut  # noqa: E402
from hyperclus.engines.cuda import CudaProducts  # noqa: E402
from hyperclus.spectral.bounds import relative_gap  # noqa: E402
from hyperclus.spectral.sdp_bound import tight_bound  # noqa: E402

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
LARGE = 100_000


@dataclass(frozen=True)
class Problem:
    """A hypergraph and the number of clusters."""

    hypergraph: hc.Hypergraph
    k: int
    tolerance: float = 1e-4  # of the tight bound

    @property
    def effort(self) -> str:
        """The effort of the search for clusters."""
        return "thorough" if self.hypergraph.n_vertices < LARGE / 2 else "default"


@dataclass(frozen=True)
class Options:
    """How the bound is computed, and the folders for what is read and stored."""

    seconds: float
    engine: str
    real: Path | None
    keep: Path | None


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
    if real is not None and (prepared := list(real.glob(f"{name}.*.npz"))):
        return Problem(hc.read(prepared[0]), int(prepared[0].suffixes[-2][1:]))
    if name == "planted-1e5":
        return Problem(large_planted(LARGE, 4), 4)
    if name == "covertype-1e5":
        return Problem(resampled("covertype", LARGE), 2)
    if name.startswith("planted-"):
        return Problem(planted(int(name.removeprefix("planted-")), 2, 0.95), 2, tolerance=5e-7)
    if name in hc.research.datasets.names():
        data = hc.research.datasets.load(name)
        return Problem(data.hypergraph, data.k)
    if real is None or not (real / name).is_dir():
        raise ValueError(f"there is no hypergraph {name!r}; sets from files need --real FOLDER")
    return stored(real / name)


def measured(name: str, options: Options) -> str:
    """Return a line of the table above 400 vertices."""
    given = problem(name, options.real)
    h, k = given.hypergraph, given.k
    part = hc.cluster(h, k, objective="ncut", effort=given.effort, min_share=0.0, chance=False)
    walk = part.walk
    if options.engine == "cuda":
        walk = hc.RandomWalk(walk.hypergraph, products=CudaProducts.of(walk.hypergraph, 0.0))
        tight_bound(walk, k, max_rounds=1)  # CUDA and its libraries are loaded
    start, cpu_start = time.perf_counter(), time.process_time()
    asked = {"upper": part.ncut, "tolerance": given.tolerance, "seconds": options.seconds}
    tight = tight_bound(walk, k, labels=part.walk_labels, **asked)
    spent = f"{time.process_time() - cpu_start:.0f} | {time.perf_counter() - start:.0f}"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    gaps = f"{100 * part.gap:.2f} % | {100 * relative_gap(part.ncut, tight.value):.2g} %"
    shape = f"{name} | {h.n_vertices:,} | {k} | {part.ncut:.5f}"
    cost = f"{spent} | {memory:,.0f} | {tight.rounds} | {tight.types} | {tight.ended} | {tight.failure:.0e}"
    with tempfile.TemporaryDirectory() as folder:
        path = (options.keep or Path(folder)) / f"{name}.cert"
        replace(part, tight=tight).certificate(path)
        return f"| {shape} | {gaps} | {cost} | {verified(path, walk.hypergraph)} |"


def verified(path: Path, h: hc.Hypergraph) -> str:
    """Return the gap that the checker proves, and its CPU seconds; stderr has the reasons if it does not."""
    if importlib.util.find_spec("flint") is None:
        return "not tried"
    start = time.process_time()
    verdict = hc.verify(path, h)
    spent = time.process_time() - start
    if not verdict.verified:
        print("refused:", "; ".join(verdict.refusals), file=sys.stderr, flush=True)
        return "no"
    return f"{100 * verdict.gap:.2g} %, {spent:.1f} s"


def verify_row(name: str, folder: Path, real: Path | None) -> str:
    """Return what the checker says of a certificate that was stored."""
    return f"| {name} | {verified(folder / f'{name}.cert', problem(name, real).hypergraph)} |"


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


def rows(names: list[str], options: Options) -> Iterator[str]:
    """Yield the lines of the table above 400 vertices, each from a new process with one thread."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    for name in names:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            try:
                yield pool.submit(measured, name, options).result()
            except BrokenProcessPool:
                yield f"| {name} | the process was killed |"


def prepare(names: list[str], folder: Path, real: Path | None) -> None:
    """Store hypergraphs for a machine that cannot read the data."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        given = problem(name, real)
        hc.io.write_npz(given.hypergraph, folder / f"{name}.{given.k}.npz", compressed=True)


def row(name: str, hypergraph: hc.Hypergraph, k: int) -> str:
    """Return a line of the table up to 400 vertices."""
    part = hc.cluster(hypergraph, k=k, objective="ncut", effort="thorough", min_share=0.0)
    start = time.process_time()
    tight = tight_bound(hc.RandomWalk(hypergraph), k, upper=part.ncut)
    seconds = time.process_time() - start
    gaps = f"{100 * part.gap:.1f} % | {100 * relative_gap(part.ncut, tight.value):.3f} %"
    shape = f"{hypergraph.n_vertices} | {k}"
    return f"| {name} | {shape} | {part.ncut:.5f} | {gaps} | {seconds:.1f} | {tight.rounds} | {tight.ended} |"


def small(real: Path | None) -> Iterator[str]:
    """Yield the lines of the table up to 400 vertices."""
    for name in ("car", "zoo"):
        given = problem(name, real)
        yield row(name, given.hypergraph, given.k)
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
    parser.add_argument("--engine", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--keep", type=Path, help="folder for the certificates")
    parser.add_argument("--prepare", type=Path, help="store the hypergraphs in this folder instead")
    parser.add_argument("--verify", type=Path, help="verify the certificates in this folder instead")
    parser.add_argument("--parts", type=int, nargs="+", default=[], help="numbers of parts; see above")
    given = parser.parse_args()
    if given.prepare:
        prepare(given.names, given.prepare, given.real)
        return
    columns, lines = ["hypergraph", "n", "k", "NCut found", "gap, eigenvalues"], small(given.real)
    if given.verify:
        columns = ["hypergraph", "gap verified"]
        lines = (verify_row(name, given.verify, given.real) for name in given.names)
    elif given.parts:
        columns += [f"gap, {count} parts" for count in given.parts]
        lines = (parts_row(name, given.parts, given.real) for name in given.names)
    elif given.names:
        columns += ["gap, tight", "CPU s", "s", "MB", "rounds", "types", "ended", "failure", "gap verified"]
        if given.keep:
            given.keep.mkdir(parents=True, exist_ok=True)
        lines = rows(given.names, Options(given.seconds, given.engine, given.real, given.keep))
    else:
        columns += ["gap, tight", "CPU s", "rounds", "ended"]
    print(f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns), sep="\n")
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
