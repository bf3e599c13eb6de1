"""Constraints: agreement with classes if 5 % of them are known, and random constraints kept or refused.

`python benchmarks/constraints.py ../shared/real` prints two tables in Markdown. The folder is that of
`real.py`. The vertices whose class is given do not count in the agreement. Random constraints are on small
hypergraphs: those of a random partition, which must be kept, and others that enumeration of all partitions
proves impossible, which must be refused with an `InputError`.
"""

import argparse
import csv
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import hyperclus as hc

SETS = ("cora-cc", "citeseer", "octis-m10")
SHARE, SEEDS = 0.05, 5
Wishes = tuple[hc.Hypergraph, int, dict[str, Any], float]


def known_classes(folder: Path) -> None:
    """Print the NMI on the other vertices, without and with 5 % of the classes."""
    print("| set | vertices | k | NMI without | NMI with 5 % fixed | least, most | accuracy |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in SETS:
        h = hc.read(folder / name / "incidences.csv.gz", vertex="vertex", edge="edge", weight="weight")
        h = h.restrict(h.covered)
        with open(folder / name / "labels.csv", encoding="utf-8", newline="") as file:
            label = {row["vertex"]: row["label"] for row in csv.DictReader(file)}
        classes = np.array([label[vertex] for vertex in h.vertex_ids.tolist()])
        k, without, found, right = len(set(classes)), [], [], []
        free = hc.cluster(h, k, chance=False)
        for seed in range(SEEDS):
            known = np.random.default_rng(seed).choice(len(classes), int(SHARE * len(classes)), replace=False)
            fixed = {h.vertex_ids[v]: str(classes[v]) for v in known.tolist()}
            part = hc.cluster(h, k, constraints=hc.Constraints(fixed=fixed), chance=False)
            rest = np.delete(np.arange(len(classes)), known)
            without.append(hc.agreement(classes[rest], free.labels[rest]).nmi)
            found.append(hc.agreement(classes[rest], part.labels[rest]).nmi)
            right.append(np.mean(np.array(part.named_labels)[rest] == classes[rest]))
        spread = f"{min(found):.3f}, {max(found):.3f}"
        row = f"{np.mean(without):.3f} | {np.mean(found):.3f} | {spread} | {np.mean(right):.3f}"
        print(f"| {name} | {h.n_vertices:,} | {k} | {row} |", flush=True)


def random_hypergraph(rng: np.random.Generator, n: int) -> hc.Hypergraph:
    """Draw a connected hypergraph on 0 .. n - 1, half of them with random weights."""
    edges = [rng.choice(n, size=rng.integers(2, 5), replace=False).tolist() for _ in range(2 * n)]
    edges += [[v, (v + 1) % n] for v in range(n)]
    top = 4 if rng.random() < 0.5 else 1
    h = hc.Hypergraph.from_edges([{v: float(rng.integers(1, top + 1)) for v in edge} for edge in edges])
    return h.restrict(np.argsort(h.vertex_ids))


def possible(rng: np.random.Generator) -> Wishes:
    """Constraints that a random partition keeps."""
    n, k = int(rng.integers(8, 40)), int(rng.integers(2, 5))
    h = random_hypergraph(rng, n)
    classes = np.append(np.arange(k), rng.integers(k, size=n - k))
    volumes = np.bincount(classes, weights=hc.RandomWalk(h).stationary)
    pairs = [rng.choice(n, size=2, replace=False).tolist() for _ in range(n)]
    given = {
        "fixed": {int(v): f"c{classes[v]}" for v in rng.choice(n, size=rng.integers(n // 4), replace=False)},
        "must_link": [pair for pair in pairs if len(set(classes[pair])) == 1][: rng.integers(5)],
        "cannot_link": [pair for pair in pairs if len(set(classes[pair])) == 2][: rng.integers(n)],
        "max_share": float(volumes.max()) if rng.random() < 0.4 else None,
    }
    return h, k, given, min(float(volumes.min()), 1 / k) if rng.random() < 0.3 else 0.0


def any_constraints(rng: np.random.Generator) -> Wishes:
    """Constraints that often contradict each other, on few vertices."""
    n, k = int(rng.integers(4, 9)), int(rng.integers(2, 4))

    def pick(size: int) -> list[int]:
        return [int(v) for v in rng.choice(n, size=size, replace=False)]

    given = {
        "fixed": {v: f"c{rng.integers(k)}" for v in pick(int(rng.integers(3)))},
        "must_link": [pick(int(rng.integers(2, 4))) for _ in range(rng.integers(3))],
        "cannot_link": [pick(2) for _ in range(rng.integers(7))],
        "max_share": float(rng.uniform(1 / k, 1 / k + 0.15)) if rng.random() < 0.5 else None,
    }
    return random_hypergraph(rng, n), k, given, float(rng.uniform(0.5 / k, 1 / k)) * (rng.random() < 0.3)


def kept(rows: Any, numbers: dict[str, int], wishes: Wishes) -> Any:
    """Mark the rows of labels that keep constraints; `numbers` are those of the fixed clusters."""
    h, k, given, least = wishes
    sets = rows[:, None] == np.arange(k)[:, None]
    volumes = sets @ hc.RandomWalk(h).stationary
    fine = sets.any(axis=2).all(axis=1) & (volumes >= least * (1 - 1e-8)).all(axis=1)
    fine &= (volumes <= (given["max_share"] or 1.0) * (1 + 1e-8)).all(axis=1)
    for vertex, cluster in given["fixed"].items():
        fine &= rows[:, vertex] == numbers[cluster]
    for group in given["must_link"]:
        fine &= (rows[:, group] == rows[:, group[:1]]).all(axis=1)
    for one, other in given["cannot_link"]:
        fine &= rows[:, one] != rows[:, other]
    return fine


def answer(wishes: Wishes, objective: Any) -> str:
    """What `cluster` does with constraints."""
    h, k, given, least = wishes
    try:
        part = hc.cluster(h, k, objective=objective, min_share=least, constraints=given, chance=False)
    except hc.InputError:
        return "refused"
    numbers = {str(name): number for number, name in enumerate(part.cluster_names)}
    return "kept" if kept(part.labels[None], numbers, wishes).all() else "broken"


def random_sets(count: int) -> None:
    """Print how often constraints were kept or refused."""
    print("\n| constraints | kept | broken | refused |\n| --- | ---: | ---: | ---: |")
    found = [answer(possible(np.random.default_rng(s)), ("information", "ncut")[s % 2]) for s in range(count)]
    answers = ("kept", "broken", "refused")
    print(f"| {count:,} possible | {' | '.join(str(found.count(one)) for one in answers)} |", flush=True)
    found, seed = [], 0
    while len(found) < count:
        rng, seed = np.random.default_rng(10_000 + seed), seed + 1
        wishes = any_constraints(rng)
        k, n = wishes[1], wishes[0].n_vertices
        rows = np.array(list(product(range(k), repeat=n)))
        if any(wishes[2].values()) and not kept(rows, {f"c{c}": c for c in range(k)}, wishes).any():
            found.append(answer(wishes, "information"))
    print(f"| {count:,} impossible | {' | '.join(str(found.count(one)) for one in answers)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1000, help="random sets of constraints of each kind")
    chosen = parser.parse_args()
    known_classes(chosen.folder)
    random_sets(chosen.count)
