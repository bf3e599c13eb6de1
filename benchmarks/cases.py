"""One measurement per process: `python benchmarks/cases.py NAME ARGUMENT` prints it as JSON."""

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import families
import hyperclus as hc
from hyperclus.paper import as_written

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def best(action: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Wall and CPU seconds of the fastest of several runs."""
    runs = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        action()
        runs.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(runs)


def paper_set(name: str, rival: bool) -> dict[str, float]:
    """A 2-way data set of the paper from its table to the labels, by us or by the dense algorithm."""
    from paper_data import table

    columns, classes = table(name)

    def build() -> hc.Hypergraph:
        return hc.class_counts(hc.Hypergraph.from_table(columns), classes)

    def ours() -> np.ndarray:
        return hc.cluster(build()).labels

    def dense() -> np.ndarray:
        return as_written.second_side(build())

    hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]))  # load what is loaded on first use
    kept: list[np.ndarray] = []
    wall, cpu = best(lambda: kept.append((dense if rival else ours)()), 1 if rival else 7)
    return {"wall": wall, "cpu": cpu, "ncut": hc.evaluate(build(), kept[-1]).ncut, **peak()}


def family(name: str, n_incidences: int) -> dict[str, float]:
    """A planted hypergraph from long arrays to the labels."""
    hc.cluster(
        hc.Hypergraph.from_edges(
            [[i, (i * 7 + 1) % 400, (i * 3) % 400] for i in range(400)], duplicates="max"
        )
    )
    table, omega, planted = getattr(families, name)(n_incidences)
    results: list[tuple[hc.Hypergraph, hc.Partition]] = []

    def run() -> None:
        results.clear()
        h = hc.Hypergraph.from_long(
            table, edge_ids=np.arange(len(omega)), edge_weights=omega, isolated="drop"
        )
        results.append((h, hc.cluster(h)))

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


def peak() -> dict[str, float]:
    """Peak memory of this process, everything included."""
    return {"peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


if __name__ == "__main__":
    case, argument = sys.argv[1:]
    if case in ("ours", "rival"):
        print(json.dumps(paper_set(argument, rival=case == "rival")))
    else:
        print(json.dumps(family(case, int(float(argument)))))
