"""What the check for missed eigenvalues costs, as a share of the time of `cluster`.

`python benchmarks/check_cost.py 1e5 1e6 1e7` clusters planted hypergraphs with as many incidences, with and
without the check.
"""

import argparse
import time

import families
import hyperclus as hc
from hyperclus.spectral.eigen import lanczos
from hyperclus.spectral.eigen.floor import Floor, excludes, floor_beyond


def main() -> None:
    """Print a line per size and number of clusters, the best of five runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("incidences", type=float, nargs="*", default=[1e5, 1e6])
    print("incidences   k   CPU seconds   without   share   products   without")
    for count in parser.parse_args().incidences:
        for k in (2, 5, 10):
            table, weights, _ = families.sparse(int(count), k)
            h = families.build(table, weights)
            runs = [(timed(h, k, checked=True), timed(h, k, checked=False)) for _ in range(5)]
            (whole, steps), (without, fewer) = min(run[0] for run in runs), min(run[1] for run in runs)
            line = f"{count:>10.0e}  {k:>2}   {whole:>11.3f}   {without:>7.3f}   {1 - without / whole:>5.1%}"
            print(f"{line}   {steps:>8}   {fewer:>7}", flush=True)


def timed(h: hc.Hypergraph, k: int, checked: bool) -> tuple[float, int]:
    """CPU seconds and products of a clustering."""
    lanczos.excludes = excludes if checked else lambda *_: True
    lanczos.floor_beyond = floor_beyond if checked else lambda *_: Floor(1.0, 1.0, 0)
    started = time.process_time()
    part = hc.cluster(h, k, engine="cpu")
    return time.process_time() - started, part.eigenpairs.steps


if __name__ == "__main__":
    main()
