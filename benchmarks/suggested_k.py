"""The suggestions of `suggest_k` for hypergraphs with a known number of blocks, and without blocks.

`python benchmarks/suggested_k.py` prints the tables of docs/how_to/how_many_clusters.md in Markdown, in about
ten minutes.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

import hyperclus as hc
from hyperclus.clustering.n_clusters import Suggestion, suggest_k
from hyperclus.research import datasets

SEEDS = range(3000, 3020)
Make = Callable[[int], hc.Hypergraph]


def blocks(
    n: int,
    shares: Sequence[float],
    noise: float,
    seed: int,
    *,
    n_edges: int | None = None,
    sizes: tuple[int, int] = (10, 20),
    sister: float = 0.0,
) -> hc.Hypergraph:
    """Draw the members of each hyperedge from its home block or, with probability `noise`, from all vertices.

    With probability `sister` they are from the block paired with the home block. gamma is lognormal, omega
    uniform in [0.5, 2]. There are n hyperedges by default.
    """
    rng = np.random.default_rng(seed)
    n_edges = n_edges or n
    counts = np.maximum((np.array(shares) / np.sum(shares) * n).astype(int), 2)
    n, start = int(counts.sum()), np.cumsum(counts) - counts
    edge = np.repeat(np.arange(n_edges), rng.integers(sizes[0], sizes[1] + 1, n_edges))
    home = rng.choice(len(counts), n_edges, p=counts / n)[edge]
    home = np.where(rng.random(len(edge)) < sister, home ^ 1, home)
    vertex = start[home] + (rng.random(len(edge)) * counts[home]).astype(int)
    vertex = np.where(rng.random(len(edge)) < noise, rng.integers(0, n, len(edge)), vertex)
    keys = np.unique(edge * n + vertex)
    place = (rng.permutation(n)[keys % n], keys // n)
    matrix = sp.coo_array((rng.lognormal(size=len(keys)), place), shape=(n, n_edges))
    omega = rng.uniform(0.5, 2.0, n_edges)
    return hc.Hypergraph.from_incidence(matrix, edge_weights=omega, isolated="drop")


def table(n: int, k: int, lean: float, seed: int, leaning: int = 11) -> hc.Hypergraph:
    """Draw 22 features in 5 bins; `leaning` of them prefer a bin per block with probability `lean`."""
    rng = np.random.default_rng(seed)
    planted = rng.integers(0, k, n)
    values, favourite = rng.integers(0, 5, (22, n)), rng.integers(0, 5, (22, k))
    chance = np.where(np.arange(22) < leaning, lean, 0.0)[:, None]
    values = np.where(rng.random((22, n)) < chance, favourite[:, planted], values)
    edge = (values + 5 * np.arange(22)[:, None]).ravel()
    weights = rng.lognormal(size=22 * n)
    matrix = sp.coo_array((weights, (np.tile(np.arange(n), 22), edge)), shape=(n, 110))
    return hc.Hypergraph.from_incidence(matrix, empty_edges="drop")


def apart(count: int, seed: int, inner: int = 1) -> hc.Hypergraph:
    """Build separate components of 100 vertices, each with `inner` blocks."""
    parts = [blocks(100, [1] * inner, 0.1, 100 * seed + part, n_edges=80) for part in range(count)]
    matrix = sp.block_diag([part.gamma.T for part in parts], format="csr")
    return hc.Hypergraph.from_incidence(matrix)


PLANTED: list[tuple[str, tuple[int, ...], int, Make]] = [
    *(
        (
            f"{k} blocks, n = {n}, noise {noise}",
            (k,),
            10,
            lambda s, n=n, k=k, x=noise: blocks(n, [1] * k, x, s),
        )
        for n in (300, 1000)
        for k in (2, 3, 5, 8)
        for noise in (0.2, 0.4, 0.5)
    ),
    *(
        (
            f"20 blocks, n = 1000, noise {x}, max_k = 25",
            (20,),
            25,
            lambda s, x=x: blocks(1000, [1] * 20, x, s),
        )
        for x in (0.2, 0.4, 0.5)
    ),
    ("5 blocks of 50, 25, 12, 6, 6 %, noise 0.2", (5,), 10, lambda s: blocks(1000, [8, 4, 2, 1, 1], 0.2, s)),
    ("3 blocks of 73, 18, 9 %, noise 0.4", (3,), 10, lambda s: blocks(1000, [8, 2, 1], 0.4, s)),
    ("2 x 2 nested, strong", (4, 2), 10, lambda s: blocks(1000, [1] * 4, 0.2, s, sister=0.1)),
    ("2 x 2 nested, weak", (4, 2), 10, lambda s: blocks(1000, [1] * 4, 0.2, s, sister=0.15)),
    ("3 components", (3,), 10, lambda s: apart(3, s)),
    ("3 components of 2 blocks", (6, 3), 10, lambda s: apart(3, s, 2)),
    ("2 blocks, n/4 hyperedges, noise 0.1", (2,), 10, lambda s: blocks(1000, [1] * 2, 0.1, s, n_edges=250)),
    ("5 blocks, n/4 hyperedges, noise 0.1", (5,), 10, lambda s: blocks(1000, [1] * 5, 0.1, s, n_edges=250)),
    ("table, 2 blocks, half of the features lean", (2,), 10, lambda s: table(500, 2, 0.5, s)),
    ("table, 3 blocks, half of the features lean", (3,), 10, lambda s: table(500, 3, 0.5, s)),
    ("table, 5 blocks, half of the features lean", (5,), 10, lambda s: table(500, 5, 0.5, s)),
    ("table, 5 blocks, all features lean", (5,), 10, lambda s: table(500, 5, 0.6, s, leaning=22)),
]
WITHOUT: list[tuple[str, Make]] = [
    ("n = 1000, n hyperedges of 10 to 20", lambda s: blocks(1000, [1], 1.0, s)),
    ("n = 1000, n/4 hyperedges of 10 to 20", lambda s: blocks(1000, [1], 1.0, s, n_edges=250)),
    ("n = 100, n/4 hyperedges of 10 to 20", lambda s: blocks(100, [1], 1.0, s, n_edges=25)),
    ("n = 30, 30 hyperedges of 10 to 20", lambda s: blocks(30, [1], 1.0, s)),
    ("n = 30, 30 hyperedges of 2 to 5", lambda s: blocks(30, [1], 1.0, s, n_edges=30, sizes=(2, 5))),
    ("table of 500 rows", lambda s: table(500, 1, 0.0, s)),
    ("table of 60 rows", lambda s: table(60, 1, 0.0, s)),
    ("graph of 300 vertices, 900 edges", lambda s: blocks(300, [1], 1.0, s, n_edges=900, sizes=(2, 2))),
]


def answers(make: Make, max_k: int) -> list[Suggestion]:
    """Return a suggestion for each seed."""
    return [suggest_k(make(seed), max_k, seed=seed) for seed in SEEDS]


def others(found: list[Suggestion], right: tuple[int, ...]) -> str:
    """List the wrong suggestions and their counts."""
    wrong = Counter(one.k for one in found if one.k is not None and one.k not in right)
    return ", ".join(f"{k} ({count})" for k, count in sorted(wrong.items())) or "-"


def planted_table() -> None:
    """Print the confusion table of planted blocks."""
    print(
        "| planted | right, confident | right, in doubt | wrong, confident | wrong, in doubt | none | wrong |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for name, right, max_k, make in PLANTED:
        found = answers(make, max_k)
        kinds = Counter((one.k in right, one.confident) for one in found if one.k is not None)
        counts = [kinds[True, True], kinds[True, False], kinds[False, True], kinds[False, False]]
        cells = [*counts, sum(one.k is None for one in found), others(found, right)]
        print(f"| {name} | " + " | ".join(map(str, cells)) + " |", flush=True)


def random_table() -> None:
    """Print the suggestions for hypergraphs without structure."""
    print("| without blocks | no structure | a number, in doubt | a number, confident |")
    print("| --- | ---: | ---: | ---: |")
    for name, make in WITHOUT:
        found = answers(make, 10)
        none, sure = sum(one.k is None for one in found), sum(one.confident for one in found)
        print(f"| {name} | {none} | {len(found) - none - sure} | {sure} |", flush=True)


def data_table() -> None:
    """Print the suggestions for the paper's data sets, with gamma by class counts as in the paper."""
    print("| data set | classes | suggested | ranked next | seconds |")
    print("| --- | ---: | --- | --- | ---: |")
    for name in ("zoo", "car", "digit-24", "digit", "letter", "mushroom", "rice", "wine-567", "covertype"):
        data = datasets.load(name)
        start = time.perf_counter()
        found = suggest_k(data.hypergraph, 12)
        took = time.perf_counter() - start
        answer = "none" if found.k is None else f"{found.k}" + ("" if found.confident else ", in doubt")
        ranked = [str(one.k) for one in found.candidates if one.score > 0 and one.k != found.k]
        print(
            f"| {name} | {data.k} | {answer} | {', '.join(ranked[:3]) or '-'} | {took:.1f} |",
            flush=True,
        )


def main() -> None:
    """Print the three tables."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    for section in (planted_table, random_table, data_table):
        section()
        print()


if __name__ == "__main__":
    main()
