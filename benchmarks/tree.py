"""Trees: how much worse a cut at k is than a direct search for k clusters, and what a tree costs.

`python benchmarks/tree.py REAL` prints a table in Markdown, where REAL is the folder of the real sets; it
takes about ten minutes. `python benchmarks/tree.py --size 1e6 --leaves 100` times the tree of a large
partition.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import families
import hyperclus as hc

REAL = ("classic3", "octis-bbc-news", "contact-high-school-classes", "sc-pbmc68k-700")
PLANTED = {
    "sparse, 5 blocks, noise 0.2": lambda: families.sparse(60_000, 5, 0.2),
    "sparse, 5 blocks, noise 0.4": lambda: families.sparse(60_000, 5, 0.4),
    "sparse, 20 blocks, noise 0.4": lambda: families.sparse(60_000, 20, 0.4),
    "binned, 3 blocks": lambda: families.binned(44_000, 3),
    "binned, 5 blocks": lambda: families.binned(44_000, 5),
    "binned, 10 blocks": lambda: families.binned(44_000, 10),
}
KS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25)
LEAVES = 30


def compared(name: str, h: hc.Hypergraph, objective: str) -> str:
    """Return a row: what a tree loses against direct searches, in %, and the worst of mergers alone."""
    start = time.perf_counter()
    direct = {k: hc.cluster(h, k, objective=objective, chance=False) for k in (*KS, LEAVES)}
    middle = time.perf_counter()
    found, merged = hc.tree(h, LEAVES, objective=objective), direct[LEAVES].tree()
    seconds = time.perf_counter() - middle, middle - start
    sign = -1 if objective == "information" else 1
    losses = {
        k: [100 * sign * (one.figures[k - 1] / getattr(part, objective) - 1) for one in (found, merged)]
        for k, part in direct.items()
    }
    worst = [max(loss[column] for loss in losses.values()) for column in (0, 1)]
    cells = [f"{losses[k][0]:.1f}" for k in (*KS, LEAVES)]
    tail = [f"{worst[0]:.1f}", f"{worst[1]:.1f}", f"{seconds[0]:.0f}", f"{seconds[1]:.0f}"]
    return "| " + " | ".join([name, objective, *cells, *tail]) + " |"


def table(real: Path) -> None:
    """Print the losses of all sets."""
    heads = [*map(str, (*KS, LEAVES)), "worst", "worst of mergers alone", "tree (s)", "all searches (s)"]
    print("| data | objective | " + " | ".join(heads) + " |")
    print("| --- | --- |" + " ---: |" * len(heads))
    sets = {name: lambda name=name: hc.read(real / name / "incidences.csv.gz") for name in REAL}
    sets |= {name: lambda make=make: families.build(*make()[:2]) for name, make in PLANTED.items()}
    for name, load in sets.items():
        h = load()
        for objective in ("information", "ncut"):
            print(compared(name, h, objective), flush=True)


def cost(n: int, leaves: int, searched: int, objective: str) -> None:
    """Print the seconds of a quick search for some clusters, and of the tree of all planted blocks."""
    table, omega, blocks = families.sparse(15 * n, leaves, 0.2)
    h = families.build(table, omega)
    start = time.perf_counter()
    part = hc.cluster(h, searched, objective=objective, effort="fast", chance=False)
    middle = time.perf_counter()
    labels = blocks[h.vertex_ids].astype(np.int64)
    replace(part, labels=labels, cut=hc.cut(part.walk, labels, leaves)).tree()
    end = time.perf_counter()
    seconds = f"cluster into {searched} {middle - start:.1f} s, tree of {leaves} leaves {end - middle:.1f} s"
    print(f"{h!r}, {objective}: {seconds}", flush=True)


def main() -> None:
    """Print the table, or the cost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("real", type=Path, nargs="?", help="folder of the real sets")
    parser.add_argument("--size", type=float, help="vertices of a planted hypergraph")
    parser.add_argument("--leaves", type=int, default=100)
    parser.add_argument("--searched", type=int, default=10, help="clusters that are searched for")
    parser.add_argument("--objective", default="ncut")
    given = parser.parse_args()
    if given.size:
        cost(int(given.size), given.leaves, given.searched, given.objective)
    elif given.real:
        table(given.real)
    else:
        parser.error("give the folder of the real sets, or --size")


if __name__ == "__main__":
    main()
