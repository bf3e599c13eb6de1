"""The verdicts of `Partition.chance` on noise and on planted clusters, 100 each.

`python benchmarks/chance.py` prints a table in Markdown, in about ten minutes. "More" must be at most 5 of
100 on noise, and at least 95 of 100 on planted clusters.
"""

import argparse
from collections import Counter
from collections.abc import Callable

import numpy as np

import hyperclus as hc
from hyperclus.clustering.chance import LITTLE, MORE, NO_MORE
from hyperclus.clustering.objectives import ObjectiveName
from suggested_k import blocks, table

SEEDS = range(7000, 7100)
Make = Callable[[int], hc.Hypergraph]


def random_table(rows: int, columns: int, values: int, seed: int) -> hc.Hypergraph:
    """Draw every cell of a table at random."""
    return hc.Hypergraph.from_table(np.random.default_rng(seed).integers(0, values, (rows, columns)))


def random_hypergraph(seed: int) -> hc.Hypergraph:
    """Draw a hypergraph without blocks: 60 to 400 vertices, with hyperedges of 2 to 20 members."""
    rng = np.random.default_rng(seed)
    n, largest = int(rng.integers(60, 400)), int(rng.integers(3, 21))
    return blocks(n, [1], 1.0, seed, n_edges=int(n * rng.uniform(0.5, 3)), sizes=(2, largest))


FAMILIES: list[tuple[str, int, Make]] = [
    ("noise: table of 400 rows, 12 columns", 3, lambda s: random_table(400, 12, 5, s)),
    (
        "noise: table of 60 to 300 rows, 3 to 12 columns",
        4,
        lambda s: random_table(60 + s % 240, 3 + s % 10, 4, s),
    ),
    ("noise: hypergraph of 60 to 400 vertices", 4, random_hypergraph),
    ("planted: table of 300 rows, 3 segments", 3, lambda s: table(300, 3, 0.6, s)),
    ("planted: hypergraph of 300 vertices, 4 blocks", 4, lambda s: blocks(300, [1] * 4, 0.3, s)),
]


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    print("| data | objective | more | little more | no more | shuffles | median s |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    objectives: tuple[ObjectiveName, ...] = ("ncut", "information")
    for name, k, make in FAMILIES:
        for objective in objectives:
            found, seconds, shuffles = Counter[str | None](), [], []
            for seed in SEEDS:
                part = hc.cluster(make(seed), k, objective=objective, effort="fast", seed=seed)
                assert part.chance is not None
                found[part.chance.verdict] += 1
                seconds.append(part.timings["chance"])
                shuffles.append(len(part.chance.shuffled))
            counts = " | ".join(str(found[verdict]) for verdict in (MORE, LITTLE, NO_MORE))
            mean = f"{np.mean(shuffles):.1f} | {np.median(seconds):.2f}"
            print(f"| {name} | {objective} | {counts} | {mean} |", flush=True)


if __name__ == "__main__":
    main()
