"""How the results of the paper's competitors depend on settings that the paper does not state.

`python benchmarks/competitors.py` prints the tables of docs/research/competitors.md in Markdown, in about
fifteen minutes.
"""

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

import hyperclus as hc
from hyperclus.research.baselines import diffeq_best, diffeq_local, hyperedge2vec, node2vec
from hyperclus.research.paper.tables import published

STARTS = 40
TIED = ("sequential", "all")


def main() -> None:
    """Print all tables."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    print("### DiffEq from single vertices\n")
    show(["", "vertices", "lowest", "quarter", "median", "three quarters", "highest", "published"])
    for name in ("car", "rice", "mushroom", "digit-24", "covertype"):
        show([name, *single_starts(name)])
    print("\n### DiffEq from more vertices\n")
    show(["", "n_seeds", "conductance, sequential", "all", "NCut, sequential", "all", "s, sequential", "all"])
    for name, counts in (
        ("car", (1, 10, 50, None)),
        ("rice", (1, 10, 50, 500)),
        ("digit-24", (10, 50, None)),
    ):
        for count in counts:
            show([name, "all" if count is None else str(count), *more_starts(name, count)])
    print("\n### node2vec: NCut against the threshold\n")
    factors = (0, 0.5, 1, 2, 3, 5, 7, 10)
    show(["", "seeds", *(f"{factor:g}/n" for factor in factors), "published"])
    for name, seeds in (("car", 10), ("zoo", 10), ("digit-24", 1), ("letter", 1), ("rice", 1)):
        data = hc.research.datasets.load(name)
        settings = [{"threshold": factor / data.hypergraph.n_vertices} for factor in factors]
        show([name, str(seeds), *against(data, node2vec, settings, seeds), figure(name, "node2vec")])
    print("\n### hyperedge2vec: NCut against the epochs\n")
    epochs = (20, 50, 100, 200, 500, 1000)
    show(["", "seeds", *map(str, epochs), "published"])
    for name, seeds in (("car", 10), ("zoo", 10), ("digit-24", 3), ("letter", 5)):
        data = hc.research.datasets.load(name)
        found = against(data, hyperedge2vec, [{"epochs": count} for count in epochs], seeds)
        show([name, str(seeds), *found, figure(name, "hyperedge2vec")])


def single_starts(name: str) -> list[str]:
    """Return quartiles of the NCut of the clusters that DiffEq finds from single vertices."""
    h = hc.research.datasets.load(name).hypergraph
    starts = np.random.default_rng(0).permutation(h.n_vertices)[:STARTS]
    ncuts = []
    for vertex in h.vertex_ids[starts]:
        found = diffeq_local(h, vertex, ties="sequential")
        ncuts.append(hc.evaluate(h, np.isin(np.arange(h.n_vertices), found.positions)).ncut)
    quartiles = np.quantile(ncuts, [0, 0.25, 0.5, 0.75, 1])
    return [str(len(ncuts)), *(f"{value:.4f}" for value in quartiles), figure(name, "DiffEq")]


def more_starts(name: str, count: int | None) -> list[str]:
    """Return conductance, NCut and seconds of the best cluster from `count` vertices, by both tie rules."""
    h = hc.research.datasets.load(name).hypergraph
    rows = []
    for ties in TIED:
        diffeq_best(h, n_seeds=1, ties=ties)  # compiles
        start = time.perf_counter()
        found = diffeq_best(h, n_seeds=count, ties=ties)
        seconds = time.perf_counter() - start
        ncut = hc.evaluate(h, np.isin(np.arange(h.n_vertices), found.positions)).ncut
        rows.append((f"{found.conductance:.5f}", f"{ncut:.4f}", f"{seconds:.2f}"))
    return [column for pair in zip(*rows, strict=True) for column in pair]


def against(
    data: hc.research.datasets.Dataset,
    method: Callable[..., hc.Partition],
    settings: Sequence[dict[str, float]],
    seeds: int,
) -> list[str]:
    """Return the mean NCut of a method for each setting."""
    means = []
    for setting in settings:
        ncuts = [method(data.hypergraph, data.k, seed=seed, **setting).ncut for seed in range(seeds)]
        means.append(f"{np.mean(ncuts):.4f}")
    return means


def figure(name: str, method: str) -> str:
    """Return the NCut that the paper states."""
    return f"{published()['ncut_edvw'][method][name]:.4f}"


def show(cells: Sequence[str]) -> None:
    """Print a row of a Markdown table, and the rule after its header."""
    print("| " + " | ".join(cells) + " |", flush=True)
    if not cells[0]:
        print("|" + " --- |" + " ---: |" * (len(cells) - 1))


if __name__ == "__main__":
    main()
