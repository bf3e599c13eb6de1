"""The consensus of ten seeds beside single runs, and what stability says, on real data with known groups.

`python benchmarks/consensus.py FOLDER` prints five tables in Markdown, in about 20 minutes. FOLDER has a
folder for each data set, with `incidences.csv.gz` (vertex, edge, weight) and `labels.csv` (vertex, label).
"""

import argparse
import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np

import hyperclus as hc
from chance import random_hypergraph, random_table
from suggested_k import blocks, table

CHOSEN_ON = ("octis-m10", "sc-pbmc68k-700", "sc-worm-neuron-2100", "cora-cc", "citeseer")
SETS = (*CHOSEN_ON, "cstr", "webace", "classic3", "octis-bbc-news", "contact-high-school-classes", "cora-ca")
DOUBTED = ("cstr", "octis-m10", "sc-pbmc68k-700", "cora-cc", "citeseer")
SEEDS = range(10)
RUNS = 20
FAMILIES: list[tuple[str, int, Callable[[int], hc.Hypergraph]]] = [
    ("noise: table of 300 rows, 12 columns", 3, lambda seed: random_table(300, 12, 5, seed)),
    ("noise: hypergraph of 60 to 400 vertices", 4, random_hypergraph),
    ("planted: table of 300 rows, 3 segments", 3, lambda seed: table(300, 3, 0.6, seed)),
    ("planted: hypergraph of 300 vertices, 4 blocks", 4, lambda seed: blocks(300, [1] * 4, 0.3, seed)),
]


def load(folder: Path) -> tuple[hc.Hypergraph, list[str]]:
    """Read a data set: the hypergraph, and the class of each vertex."""
    h = hc.read(folder / "incidences.csv.gz", vertex="vertex", edge="edge", weight="weight")
    with open(folder / "labels.csv", newline="") as file:
        classes = {row["vertex"]: row["label"] for row in csv.DictReader(file)}
    return h, [classes[str(vertex)] for vertex in h.vertex_ids.tolist()]


def head(*names: str) -> None:
    """Print the head of a table."""
    print("\n| " + " | ".join(names) + " |\n| --- |" + " ---: |" * (len(names) - 1), flush=True)


def combined(folder: Path, objective: str, effort: str) -> None:
    """Compare the consensus of ten seeds with the single runs, and with the best of them.

    A star marks the sets on which the objective for the hypergraph of the clusters was chosen.
    """
    figure = (lambda part: part.ncut) if objective == "ncut" else (lambda part: part.information)
    sign = 1 if objective == "ncut" else -1
    both = ("single", "best", "consensus", "refined")
    head(f"{objective}, {effort}", *(f"NMI {one}" for one in both), *(f"{objective} {one}" for one in both))
    for name in SETS:
        h, classes = load(folder / name)
        k = len(set(classes))
        how = {"objective": objective, "chance": False}
        runs = [hc.cluster(h, k, effort=effort, seed=seed, **how) for seed in SEEDS]
        best = min(runs, key=lambda part: sign * figure(part))
        found = hc.consensus(h, runs, chance=False)
        chosen = [best, found, hc.refine(h, found, **how)]
        nmi = [np.mean([part.agreement(classes).nmi for part in runs])]
        nmi += [part.agreement(classes).nmi for part in chosen]
        figures = [np.mean([figure(part) for part in runs]), *(figure(part) for part in chosen)]
        cells = [f"{value:.3f}" for value in nmi] + [f"{value:.4f}" for value in figures]
        mark = " *" if name in CHOSEN_ON else ""
        print(f"| {name}{mark} | {' | '.join(cells)} |", flush=True)


def doubted(folder: Path) -> None:
    """Print how many vertices have the majority class of their cluster, by fifths of stability."""
    fifths = ("least stable fifth", "second", "third", "fourth", "most stable fifth")
    head("over", "data", *fifths, "mean ARI of two runs")
    for over in ("vertices", "hyperedges"):
        for name in DOUBTED:
            h, classes = load(folder / name)
            part = hc.cluster(h, len(set(classes)), objective="information", chance=False)
            found = hc.stability(part, over, RUNS)
            codes = np.unique(classes, return_inverse=True)[1]
            majority = np.array([np.bincount(codes[part.labels == one]).argmax() for one in range(part.k)])
            right = majority[part.labels] == codes
            values, ties = np.unique(np.nan_to_num(found.vertices), return_inverse=True)
            shares = (np.bincount(ties, right) / np.bincount(ties))[ties]  # ties have their mean
            order = np.argsort(values[ties], kind="stable")
            cells = [f"{100 * shares[fifth].mean():.0f} %" for fifth in np.array_split(order, 5)]
            print(f"| {over} | {name} | {' | '.join(cells)} | {found.ari:.2f} |", flush=True)


def planted(objective: str) -> None:
    """Print the stability of the clusters of noise and of planted clusters."""
    head(
        f"data, {objective}", "over", "clusters", "lowest", "mean", "highest", "stable or better", "dissolve"
    )
    for name, k, make in FAMILIES:
        for over in ("vertices", "hyperedges"):
            parts = [
                hc.cluster(make(seed), k, objective=objective, effort="fast", chance=False)
                for seed in range(8000, 8010)
            ]
            found = [hc.stability(part, over, RUNS) for part in parts]
            values = np.concatenate([one.clusters for one in found])
            verdicts = [word for one in found for word in one.verdicts]
            stable, gone = sum("stable" in word for word in verdicts), verdicts.count("dissolves")
            figures = f"{values.min():.2f} | {values.mean():.2f} | {values.max():.2f}"
            print(f"| {name} | {over} | {len(values)} | {figures} | {stable} | {gone} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    combined(folder, "information", "default")
    combined(folder, "ncut", "default")
    doubted(folder)
    for objective in ("ncut", "information"):
        planted(objective)


if __name__ == "__main__":
    main()
