"""How many hyperedges of noise get a cluster, and how many of signal the right one, on planted tables.

python benchmarks/describe.py
"""

import numpy as np

import hyperclus as hc

K, SIGNAL, NOISE = 4, 6, 7
SEEDS = range(100, 120)  # others than those on which the constants of the rule were chosen


def planted(n: int, strength: float, seed: int) -> tuple[dict[str, list[str]], np.ndarray]:
    """A table in which a value of a signal column is the group with this probability, else random."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(K, n, p=np.arange(K, 0, -1) / (K * (K + 1) / 2))
    columns = {}
    for i in range(SIGNAL):
        columns[f"signal {i}"] = np.where(rng.random(n) < strength, groups, rng.integers(0, K, n))
    for i in range(NOISE):
        columns[f"noise {i}"] = rng.choice(4, n, p=rng.dirichlet(np.full(4, 3.0)))
    return {name: [f"v{value}" for value in values] for name, values in columns.items()}, groups


def main() -> None:
    """Print a row for each size and strength."""
    for n, strength in ((300, 0.5), (300, 0.7), (3000, 0.4), (3000, 0.7), (20_000, 0.5)):
        noise, signal, importance = [], [], []
        for seed in SEEDS:
            table, groups = planted(n, strength, seed)
            part = hc.cluster(hc.Hypergraph.from_table(table), K, objective="information", chance=False)
            main_group = [np.bincount(groups[part.labels == c], minlength=K).argmax() for c in range(K)]
            for edge, cluster in part.edges_frame()[["edge", "cluster"]].itertuples(index=False):
                if edge[0].startswith("noise"):
                    noise.append(cluster >= 0)
                else:
                    signal.append(cluster >= 0 and edge[1] == f"v{main_group[cluster]}")
            columns = part.profile().columns
            importance.append(sum(each.importance for each in columns if each.column.startswith("noise")))
        wrong, right = f"{sum(noise)} of {len(noise)}", f"{sum(signal)} of {len(signal)}"
        print(f"| {n:,} | {strength:.0%} | {wrong} | {right} | {np.mean(importance):.1%} |")


if __name__ == "__main__":
    main()
