"""Measure one case in this process and print the figures as JSON; benchmarks/run.py runs them all.

`python benchmarks/cases.py CASE ARGUMENT`, where CASE is "ours", "rival" or "effort" with the name of a data
set, or "sparse", "binned", "refine sparse" or "refine binned" with a number of incidences.
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import families
import hyperclus as hc
from hyperclus.clustering.vertex_search import Clusters
from hyperclus.research.paper import as_written

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def best(action: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Return wall and CPU seconds of the fastest of several runs."""
    runs = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        action()
        runs.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(runs)


def load() -> None:
    """Load what is otherwise loaded on first use, such as the compiled kernels."""
    for k in (2, 3):
        edges = [[i, (i * 7 + 1) % 400, (i * 3) % 400] for i in range(400)]
        hc.cluster(hc.Hypergraph.from_edges(edges, duplicates="max"), k, objective="ncut")


def paper_set(name: str, rival: bool) -> dict[str, float]:
    """Measure from the table of a two-class data set to labels, by hyperclus or by the dense algorithm."""
    from support.paper_data import table

    columns, classes = table(name)

    def build() -> hc.Hypergraph:
        return hc.class_counts(hc.Hypergraph.from_table(columns, bins=None), classes)

    def ours() -> np.ndarray:
        return hc.hyperclus_g(build()).labels

    def dense() -> np.ndarray:
        return as_written.second_side(build())

    load()
    kept: list[np.ndarray] = []
    wall, cpu = best(lambda: kept.append((dense if rival else ours)()), 1 if rival else 7)
    return {"wall": wall, "cpu": cpu, "ncut": hc.evaluate(build(), kept[-1]).ncut, **peak()}


def family(name: str, n_incidences: int) -> dict[str, float]:
    """Measure from the arrays of a planted hypergraph to labels."""
    load()
    table, omega, planted = getattr(families, name)(n_incidences)
    results: list[tuple[hc.Hypergraph, hc.Partition]] = []

    def run() -> None:
        results.clear()
        h = families.build(table, omega)
        results.append((h, hc.cluster(h, objective="ncut")))

    wall, cpu = best(run, max(1, min(7, int(1e7 / n_incidences))))
    h, part = results[0]
    agreement = np.mean(part.labels == planted[h.vertex_ids])
    return {
        "incidences": h.n_incidences,
        "wall": wall,
        "cpu": cpu,
        "products": part.eigenpairs.steps,
        "agreement": max(agreement, 1 - agreement),
        **{f"{stage} (s)": seconds for stage, seconds in part.timings.items()},
        **peak(),
    }


def effort(name: str) -> dict[str, float]:
    """Measure each effort of the search on a data set of the paper, and its stages alone."""
    from support.paper_data import paper_hypergraph

    load()
    h, _, classes = paper_hypergraph(name)
    k = len(set(classes))
    walk = hc.RandomWalk(h)
    laplacian = hc.NormalizedLaplacian(walk)
    found: dict[str, hc.Partition] = {}

    def run(effort: str) -> None:
        found[effort] = hc.cluster(h, k, objective="ncut", effort=effort)

    repeats = {"fast": 7, "default": 7, "thorough": 1}
    walls = {effort: best(lambda effort=effort: run(effort), count)[0] for effort, count in repeats.items()}
    return {
        "wall": walls["default"],
        "distribution": best(lambda: hc.RandomWalk(h), 7)[0],
        "eigenvectors": best(lambda: hc.smallest_eigenpairs(laplacian, k), 7)[0],
        **walls,
        **{f"ncut {effort}": part.ncut for effort, part in found.items()},
        "gap": found["thorough"].gap,
    }


def refinement(name: str, n_incidences: int, k: int = 10) -> dict[str, float]:
    """Measure one pass of moves over all vertices, from planted blocks with 30 % random labels."""
    load()
    table, omega, planted = getattr(families, name)(n_incidences, blocks=k)
    h = families.build(table, omega)
    rng = np.random.default_rng(0)
    start = planted[h.vertex_ids].astype(np.int64)
    start = np.where(rng.random(len(start)) < 0.3, rng.integers(k, size=len(start)), start)
    del table, planted
    walk = hc.RandomWalk(h)
    laplacian, vector = hc.NormalizedLaplacian(walk), rng.standard_normal(h.n_vertices)
    products = best(lambda: [laplacian.apply(vector) for _ in range(10)], 3)[0]
    clusters = Clusters.of(walk, start, k)
    ncut = clusters.ncut
    wall, _ = best(clusters.round, 1)
    return {
        "wall": wall,
        "incidences": h.n_incidences,
        "products": products,
        "ncut before": ncut,
        "ncut after": clusters.ncut,
        "sums_bytes": clusters.state.sums.nbytes,
    }


def peak() -> dict[str, float]:
    """Return the peak memory of this process."""
    return {"peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def main() -> None:
    """Measure the case that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case")
    parser.add_argument("argument")
    given = parser.parse_args()
    case, argument = given.case, given.argument
    if case in ("ours", "rival"):
        figures = paper_set(argument, rival=case == "rival")
    elif case == "effort":
        figures = effort(argument)
    elif case.startswith("refine "):
        figures = refinement(case.removeprefix("refine "), int(float(argument)))
    else:
        figures = family(case, int(float(argument)))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
