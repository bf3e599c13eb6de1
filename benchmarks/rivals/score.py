"""Score labels: `python score.py PROBLEM LABELS ...` prints NMI, NCut and clusters of each file as JSON.

`planted` instead of a file scores the planted blocks. Runs in the environment of hyperclus; not timed.
"""

import json
import sys

import numpy as np
from problem import Problem

import hyperclus as hc
from hyperclus.clustering.metrics import agreement


def scores(problem_file: str, files: list[str]) -> list[dict[str, float | None]]:
    """Return NMI against the planted blocks, NCut as hyperclus defines it, and the number of clusters.

    The NCut of a single cluster is None.
    """
    problem = Problem.load(problem_file)
    h = hc.Hypergraph.from_long(
        {"vertex": problem.vertex, "edge": problem.edge, "weight": problem.weight},
        weight="weight",
        edge_ids=np.arange(problem.n_edges),
        edge_weights=problem.omega,
    )
    walk = hc.RandomWalk(h)
    results = []
    for file in files:
        labels = problem.planted if file == "planted" else np.load(file)
        clusters, codes = np.unique(labels, return_inverse=True)
        ncut = hc.cut(walk, codes[h.vertex_ids], len(clusters)).ncut if len(clusters) > 1 else None
        nmi = float(agreement(problem.planted, labels).nmi)
        results.append({"nmi": nmi, "ncut": ncut, "clusters": len(clusters)})
    return results


if __name__ == "__main__":
    print(json.dumps(scores(sys.argv[1], sys.argv[2:])))
