"""Trees: how much worse a cut at k is than a direct search for k clusters, and what a tree costs.

`python benchmarks/tree.py REAL` prints a table in Markdown, where REAL is the folder of the real sets; it
takes about ten minutes. `python benchmarks/tree.py --size 1e6 --leaves 100` times the tree of a large
partition. `python benchmarks/tree.py --blocks 20` prints the least loss of any tree of equal blocks.
"""

import argparse
import time
from dataclasses import replace
from functools import cache
from itertools import combinations
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
    """Return a row: what a tree loses against direct searches, in %, and the worst of other ways."""
    start = time.perf_counter()
    direct = {k: hc.cluster(h, k, objective=objective, chance=False) for k in (*KS, LEAVES)}
    middle = time.perf_counter()
    found, merged = hc.tree(h, LEAVES, objective=objective), direct[LEAVES].tree()
    seconds = time.perf_counter() - middle, middle - start
    figures = {k: getattr(part, objective) for k, part in direct.items()}
    losses = tree_losses(found, figures)
    worst = [losses, tree_losses(merged, figures), refined_losses(found, figures)]
    tail = [f"{max(column.values()):.1f}" for column in worst] + [f"{taken:.0f}" for taken in seconds]
    return "| " + " | ".join([name, objective, *(f"{loss:.1f}" for loss in losses.values()), *tail]) + " |"


def tree_losses(found: hc.clustering.Tree, direct: dict[int, float]) -> dict[int, float]:
    """What cutting the tree at k loses of a direct search's objective, in per cent, by k."""
    return {k: _loss(found.objective, found.figures[k - 1], figure) for k, figure in direct.items()}


def refined_losses(found: hc.clustering.Tree, direct: dict[int, float]) -> dict[int, float]:
    """As `tree_losses`, for the cuts after moves at their k alone."""
    name = found.objective
    return {k: _loss(name, getattr(found.refined(k), name), figure) for k, figure in direct.items()}


def _loss(objective: str, figure: float, direct: float) -> float:
    return 100 * (-1 if objective == "information" else 1) * (figure / direct - 1)


def least_loss(blocks: int, mixed: float) -> tuple[float, dict[int, float]]:
    """The least worst loss of information of nested clusters of whole equal blocks, and that at each k.

    A step stays in its block with probability 1 - mixed, and otherwise ends anywhere. The information then
    depends on the numbers of blocks in the clusters alone, so that all chains of mergers are compared.
    """

    @cache
    def information(sizes: tuple[int, ...]) -> float:
        volumes = np.array(sizes) / blocks
        flows = (1 - mixed) * np.diag(volumes) + mixed * np.outer(volumes, volumes)
        logs = np.log(flows / np.outer(volumes, volumes), where=flows > 0, out=np.zeros_like(flows))
        return float((flows * logs).sum())

    levels = [{(1,) * blocks}]
    while len(levels) < blocks - 1:
        levels.append({after for sizes in levels[-1] for after in mergers(sizes)})
    best = {len(next(iter(level))): max(map(information, level)) for level in levels}
    chains: dict[tuple[int, ...], tuple[float, list[float]]] = {}
    for level in levels[::-1]:
        for sizes in level:
            loss = 100 * (1 - information(sizes) / best[len(sizes)])
            worst, rest = min(
                (chains[after] for after in mergers(sizes) if after in chains), default=(0.0, [])
            )
            chains[sizes] = max(loss, worst), [*rest, loss]
    worst, losses = chains[(1,) * blocks]
    return worst, dict(enumerate(losses, 2))


def mergers(sizes: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The sizes after each merger of two clusters."""
    places = combinations(range(len(sizes)), 2)
    return {
        tuple(sorted((*sizes[:i], *sizes[i + 1 : j], *sizes[j + 1 :], sizes[i] + sizes[j])))
        for i, j in places
    }


def table(real: Path) -> None:
    """Print the losses of all sets."""
    heads = [
        *map(str, (*KS, LEAVES)),
        "worst",
        "of mergers alone",
        "of refined cuts",
        "tree (s)",
        "all searches (s)",
    ]
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
    parser.add_argument("--blocks", type=int, help="equal blocks, of which any tree loses some information")
    parser.add_argument("--mixed", type=float, default=0.0, help="share of steps that end in any block")
    given = parser.parse_args()
    if given.size:
        cost(int(given.size), given.leaves, given.searched, given.objective)
    elif given.blocks:
        worst, losses = least_loss(given.blocks, given.mixed)
        print(f"{worst:.2f}", {k: round(loss, 2) for k, loss in losses.items()})
    elif given.real:
        table(given.real)
    else:
        parser.error("give the folder of the real sets, --size or --blocks")


if __name__ == "__main__":
    main()
