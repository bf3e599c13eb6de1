"""Vertices with attributes: agreement with classes, the choice of beta, one useless side, and size.

`python benchmarks/attributes.py ../shared/real` prints the tables of docs/how_to/attributes.md in Markdown,
with one thread. The folder has a folder per set, with incidences.csv.gz, labels.csv (vertex, label) and
features.npz, a matrix whose rows are in the order of labels.csv. The number of clusters is given, the classes
are not; all vertices count, those in no hyperedge too. Each set runs in a process of its own, and its peak of
memory is that of `beta="auto"`, with the interpreter and the data.

`python benchmarks/attributes.py --size 1e5` measures a planted hypergraph of that many vertices in 10 blocks,
with 100 attributes and half as many hyperedges of 3 to 7 members, of which 3 in 10 are random.
"""

import argparse
import csv
import multiprocessing
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

import hyperclus as hc

SETS = ("cora-ca", "cora-cc", "citeseer")
GRID = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
SEEDS = 5
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
BLOCKS, N_ATTRIBUTES, STRAY, SPREAD = 10, 100, 0.3, 0.6
Case = tuple[hc.Hypergraph, Any, np.ndarray]


def load(folder: Path) -> Case:
    """The hypergraph of a set with all vertices, their attributes and their classes."""
    with open(folder / "labels.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    classes = np.unique([row["label"] for row in rows], return_inverse=True)[1]
    part = hc.read(folder / "incidences.csv.gz", vertex="vertex", edge="edge")
    position = {row["vertex"]: number for number, row in enumerate(rows)}
    places = np.array([position[str(vertex)] for vertex in part.vertex_ids.tolist()])
    return (
        built(part.gamma, places[part.gamma.indices], len(rows)),
        sp.load_npz(folder / "features.npz"),
        classes,
    )


def built(gamma: Any, vertices: np.ndarray, n: int) -> hc.Hypergraph:
    """A hypergraph of n vertices whose hyperedges have the sizes of the rows of gamma, and these members."""
    edges = np.repeat(np.arange(gamma.shape[0]), np.diff(gamma.indptr))
    return hc.Hypergraph.from_long({"vertex": vertices, "edge": edges}, vertex_ids=range(n))


def peak() -> float:
    """Peak resident memory of this process in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


def runs(case: Case, beta: Any) -> np.ndarray:
    """NMI, accuracy of the best matching, ARI, CPU seconds and the beta used, a row per seed."""
    h, attributes, classes = case
    k, rows = len(set(classes.tolist())), []
    for seed in range(SEEDS):
        began = time.process_time()
        part = hc.cluster(h, k, attributes=attributes, beta=beta, seed=seed, chance=False)
        took, found = time.process_time() - began, hc.agreement(classes, part.labels)
        matched = found.counts[linear_sum_assignment(-found.counts)].sum() / len(classes)
        rows.append((found.nmi, matched, found.ari, took, part.settings["beta"]))
    return np.array(rows)


def one_set(folder: Path) -> tuple[str, str, list[str]]:
    """A line of each table for one set."""
    case, name = load(folder), folder.name
    h, attributes, classes = case
    hc.cluster(h, 2, attributes=attributes, chance=False)  # loads what is loaded on first use
    found = runs(case, "auto")
    highest = peak()
    means, spreads = found.mean(axis=0), found.std(axis=0)
    figures = [f"{mean:.3f} ({spread:.3f})" for mean, spread in zip(means[:3], spreads, strict=False)]
    sizes = f"{h.n_vertices:,} | {h.n_edges:,} | {attributes.shape[1]:,} | {len(set(classes.tolist()))}"
    betas = ", ".join(f"{beta:g}" for beta in sorted(set(found[:, 4])))
    auto = f"| {name} | {sizes} | {betas} | {' | '.join(figures)} | {means[3]:.2f} | {highest:.0f} |"
    scores = [runs(case, beta)[:, :2].mean(axis=0) for beta in GRID]
    grid = f"| {name} | {' | '.join(f'{nmi:.3f}, {right:.3f}' for nmi, right in scores)} |"
    return auto, grid, [useless(name, case, what) for what in ("normal", "sparse", "hyperedges")]


def useless(name: str, case: Case, what: str) -> str:
    """The choice of beta if one side is random, and how often the clusters are those of the other side."""
    h, attributes, classes = case
    k, n = len(set(classes.tolist())), h.n_vertices
    betas: Counter[float] = Counter()
    same = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        if what == "hyperedges":
            sizes = h.edge_sizes.tolist()
            members = np.concatenate([rng.choice(n, size=size, replace=False) for size in sizes])
            given, useful = (built(h.gamma, members, n), attributes), 1.0
        elif what == "normal":
            given, useful = (h, rng.normal(size=(n, N_ATTRIBUTES))), 0.0
        else:
            given, useful = (h, sp.random_array(attributes.shape, density=0.01, rng=rng, format="csr")), 0.0
        part, alone = (
            hc.cluster(given[0], k, attributes=given[1], beta=beta, seed=seed, chance=False)
            for beta in ("auto", useful)
        )
        betas[part.settings["beta"]] += 1
        same += bool(np.array_equal(part.labels, alone.labels))
    chosen = ", ".join(f"{beta:g} ({count})" for beta, count in sorted(betas.items()))
    words = "hyperedges of the same sizes" if what == "hyperedges" else f"attributes, {what}"
    return f"| {name} | {words} | {chosen} | {same} of {SEEDS} |"


def real(folder: Path, names: list[str]) -> None:
    """Print the three tables."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    lines = []
    for name in names:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            lines.append(pool.apply(one_set, (folder / name,)))
    head = "set | vertices | hyperedges | attributes | k | beta | NMI | accuracy | ARI | CPU (s) | peak (MB)"
    table(head, [auto for auto, _, _ in lines])
    table(
        "NMI, accuracy by beta | " + " | ".join(f"{beta:g}" for beta in GRID), [grid for _, grid, _ in lines]
    )
    table(
        "set | random | beta (runs) | clusters of the other side",
        [row for _, _, rows in lines for row in rows],
    )


def table(head: str, rows: list[str]) -> None:
    """Print a table in Markdown."""
    print(f"| {head} |\n|{' --- |' * len(head.split(' | '))}", *rows, "", sep="\n", flush=True)


def planted(n: int) -> Case:
    """A planted hypergraph; the attributes are normal around the centre of the block."""
    rng = np.random.default_rng(0)
    blocks = rng.integers(BLOCKS, size=n)
    centres = rng.normal(size=(BLOCKS, N_ATTRIBUTES))
    attributes = centres[blocks] * SPREAD + rng.normal(size=(n, N_ATTRIBUTES))
    order = np.argsort(blocks, kind="stable")
    starts = np.searchsorted(blocks[order], np.arange(BLOCKS + 1))
    homes, sizes = rng.integers(BLOCKS, size=n // 2), rng.integers(3, 8, size=n // 2)
    edges, home = np.repeat(np.arange(n // 2), sizes), np.repeat(homes, sizes)
    inside = starts[home] + (rng.random(len(home)) * (starts[home + 1] - starts[home])).astype(int)
    stray = rng.random(len(home)) < STRAY
    members = np.where(stray, rng.integers(n, size=len(home)), order[inside])
    rows = {"vertex": members, "edge": edges}
    return hc.Hypergraph.from_long(rows, vertex_ids=range(n), duplicates="max"), attributes, blocks


def size(n: int) -> None:
    """Print time and memory of one planted hypergraph."""
    h, attributes, blocks = planted(n)
    data, wall, cpu = peak(), time.perf_counter(), time.process_time()
    part = hc.cluster(h, BLOCKS, attributes=attributes, chance=False)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    nmi, beta = hc.agreement(blocks, part.labels).nmi, part.settings["beta"]
    figures = f"{wall:.0f} | {cpu:.0f} | {peak():.0f} | {data:.0f} | {beta:g} | {nmi:.3f}"
    head = "vertices | incidences | wall (s) | CPU (s) | peak (MB) | peak of the data (MB) | beta | NMI"
    table(head, [f"| {n:,} | {h.n_incidences:,} | {figures} |"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--size", type=float, help="vertices of a planted hypergraph, instead of the sets")
    chosen = parser.parse_args()
    if (chosen.folder is None) == (chosen.size is None):
        parser.error("give either the folder of the sets or --size")
    if chosen.size is not None:
        size(int(chosen.size))
    else:
        real(chosen.folder, chosen.sets)
