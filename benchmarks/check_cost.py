"""What the check for missed eigenvalues costs, as a share of the time of `cluster`.

`python benchmarks/check_cost.py 1e5 1e6 1e7` clusters planted hypergraphs with as many incidences. For two
clusters the check is a few more steps of the search, and its time is that of `cluster` with and without it;
otherwise the check is a function of its own, and is timed.
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
    print("incidences   k   CPU seconds   check   share   products   without the check")
    for count in parser.parse_args().incidences:
        for k in (2, 5, 10):
            table, weights, _ = families.sparse(int(count), k)
            h = families.build(table, weights)
            runs = [(timed(h, k, checked=True), timed(h, k, checked=False)) for _ in range(5)]
            (whole, check, steps), (without, _, fewer) = (min(column) for column in zip(*runs, strict=True))
            check = check or whole - without
            line = f"{count:>10.0e}  {k:>2}   {whole:>11.3f}   {check:>5.3f}   {check / whole:>5.1%}"
            print(f"{line}   {steps:>8}   {fewer:>17}", flush=True)


def timed(h: hc.Hypergraph, k: int, checked: bool) -> tuple[float, float, int]:
    """CPU seconds of a clustering and of `floor_beyond`, and products."""
    spent = [0.0]

    def check(*args: object) -> Floor:
        started = time.process_time()
        floor = floor_beyond(*args) if checked else Floor(1.0, 1.0, 0)
        spent.append(time.process_time() - started)
        return floor

    lanczos.excludes, lanczos.floor_beyond = excludes if checked else lambda *_: True, check
    started = time.process_time()
    part = hc.cluster(h, k, objective="ncut", engine="cpu", chance=False)
    return time.process_time() - started, sum(spent), part.eigenpairs.steps


if __name__ == "__main__":
    main()
