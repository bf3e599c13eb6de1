"""Measure the eigensolvers and fit the cost model that chooses between them.

`python benchmarks/eigen_cost.py` prints the constants of hyperclus/spectral/eigen/choose.py, and the time of
the methods that they choose relative to the best method in hindsight. It takes several minutes.
"""

import argparse
import itertools
import time

import numpy as np
from scipy.optimize import nnls

import hyperclus as hc
from hyperclus.spectral.eigen import choose as cost


def random_hypergraph(n: int, n_edges: int, degree: int, rng: np.random.Generator) -> hc.Hypergraph:
    """Put every vertex into `degree` random hyperedges, those of its own half twice as likely."""
    half = np.arange(n_edges) * 2 // n_edges
    rows = []
    for side in (0, 1):
        odds = np.where(half == side, 2.0, 1.0)
        keys = rng.random((n // 2, n_edges)) ** (1.0 / odds)
        rows.append(np.argsort(-keys, axis=1)[:, :degree])
    members = np.vstack(rows)
    table = {
        "vertex": np.repeat(np.arange(len(members)), degree),
        "edge": members.ravel(),
        "weight": rng.lognormal(size=members.size),
    }
    return hc.Hypergraph.from_long(table)


def seconds(laplacian: hc.NormalizedLaplacian, k: int, method: str) -> float:
    """Return the time of the fastest of three runs."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        hc.smallest_eigenpairs(laplacian, k, method=method)
        times.append(time.perf_counter() - start)
        if times[0] > 1:
            break
    return min(times)


def main() -> None:
    """Measure, fit, and print the constants."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    rng = np.random.default_rng(0)
    measured = []
    small = itertools.product(
        (60, 150, 300, 800, 3000, 20000), (8, 20, 60, 120, 300), (6, 20, 40), (2, 4, 10)
    )
    large = itertools.product((100000, 300000), (30, 110), (6, 14, 22), (2, 10))
    for n, n_edges, degree, k in itertools.chain(small, large):
        if degree > n_edges // 2:
            continue
        laplacian = hc.NormalizedLaplacian(hc.RandomWalk(random_hypergraph(n, n_edges, degree, rng)))
        work = cost.work(laplacian, k, k - 1)
        times = {"lanczos": seconds(laplacian, k, "lanczos")}
        if n <= 1000:
            times["dense"] = seconds(laplacian, k, "dense")
        if "small side" in work:
            times["small side"] = seconds(laplacian, k, "small side")
        measured.append((work, times))
    constants = {}
    for method in cost.SECONDS:
        rows = [(work[method], times[method]) for work, times in measured if method in times]
        relative = np.array([row / t for row, t in rows])
        weight = np.array([t for _, t in rows]) ** 0.25  # errors cost more where solves take longer
        constants[method], _ = nnls(weight[:, None] * relative, weight)
        spread = np.sort(relative @ constants[method])
        low, high = spread[len(spread) // 10], spread[-len(spread) // 10]
        print(f'    "{method}": ({", ".join(f"{c:.2e}" for c in constants[method])}),')
        print(f"      # predicted / measured, 10 % to 90 %: {low:.2f} to {high:.2f}")
    regret = []
    for work, times in measured:
        predicted = {method: work[method] @ constants[method] for method in times}
        regret.append(times[min(predicted, key=predicted.__getitem__)] / min(times.values()))
    print(f"{len(regret)} hypergraphs; time of the chosen method over that of the best in hindsight:")
    print(f"  by the model: mean {np.mean(regret):.2f}, worst {max(regret):.2f}")
    always = [times["lanczos"] / min(times.values()) for _, times in measured]
    print(f"  always lanczos: mean {np.mean(always):.2f}, worst {max(always):.2f}")


if __name__ == "__main__":
    main()
