"""What the check for missed eigenvalues costs, as a share of the time of `cluster`.

`python benchmarks/check_cost.py 1e5 1e6 1e7` clusters planted hypergraphs with as many incidences.
"""

import argparse
import time

import families
import hyperclus as hc
from hyperclus.spectral.eigen import lanczos


def main() -> None:
    """Print a line per size and number of clusters, the best of three runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("incidences", type=float, nargs="*", default=[1e5, 1e6])
    floor_beyond, spent = lanczos.floor_beyond, []

    def timed(*args: object) -> object:
        started = time.process_time()
        found = floor_beyond(*args)
        spent.append(time.process_time() - started)
        return found

    lanczos.floor_beyond = timed
    print("incidences   k   CPU seconds   check   share   products")
    for count in parser.parse_args().incidences:
        for k in (2, 5, 10):
            table, weights, _ = families.sparse(int(count), k)
            h = families.build(table, weights)
            runs = []
            for _ in range(3):
                spent.clear()
                started = time.process_time()
                part = hc.cluster(h, k, engine="cpu")
                runs.append((time.process_time() - started, sum(spent)))
            whole, check = min(runs)
            line = f"{count:>10.0e}  {k:>2}   {whole:>11.2f}   {check:>5.2f}   {check / whole:>5.1%}"
            print(f"{line}   {part.eigenpairs.steps:>8}", flush=True)


if __name__ == "__main__":
    main()
