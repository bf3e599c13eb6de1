"""Bounds and clusters of chains of nearly separate rings, where eigenvalues lie very close together.

`python benchmarks/chain_of_rings.py` compares the NCut found with that of equal arcs, and both with the lower
bound, for 50 to 2,000 rings, joints of weight 1e-2 to 1e-9, and 2 to 20 clusters. It takes about 20 minutes;
`--quick` takes every other value.
"""

import argparse
import itertools
import sys
import time
from pathlib import Path

import hyperclus as hc

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.chains import chain_of_rings, equal_arcs

RINGS = (50, 100, 200, 500, 1000, 2000)
JOINTS = tuple(10.0**-decade for decade in range(2, 10))
CLUSTERS = (2, 3, 5, 10, 20)
SIZE = 8


def main() -> None:
    """Print a line per chain and joint: over all k, the worst ratio to the arcs and the number of bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="every other value")
    step = 2 if parser.parse_args().quick else 1
    false = runs = 0
    worst_of_all = 0.0
    print("rings    joint   worst NCut / arcs   bounds above 0   false bounds   seconds")
    for rings, joint in itertools.product(RINGS[::step], JOINTS[::step]):
        h, started = chain_of_rings(rings, SIZE, joint), time.perf_counter()
        ratios, positive, wrong = [], 0, 0
        for k in CLUSTERS[::step]:
            found, arcs = hc.cluster(h, k, objective="ncut"), hc.evaluate(h, equal_arcs(rings, SIZE, k))
            ratios.append(found.ncut / arcs.ncut)
            positive += found.lower_bound > 0
            lowest = min(found.ncut, arcs.ncut) * (1 + 1e-9)
            wrong += (found.lower_bound > lowest) + (arcs.lower_bound > lowest)
            runs += 2
        seconds = time.perf_counter() - started
        line = f"{rings:>5}   {joint:.0e}   {max(ratios):>17.4f}   {positive:>8} of {len(ratios)}"
        print(f"{line}   {wrong:>12}   {seconds:>7.1f}", flush=True)
        false += wrong
        worst_of_all = max(worst_of_all, max(ratios) if joint >= 0.99e-8 else 0.0)
    print(f"{false} false bounds in {runs} runs; worst ratio for joints of 1e-8 or more: {worst_of_all:.4f}")


if __name__ == "__main__":
    main()
