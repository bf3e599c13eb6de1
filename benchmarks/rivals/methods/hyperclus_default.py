"""hyperclus with its defaults."""

import numpy as np
from problem import Problem

import hyperclus as hc


def labels(problem: Problem, effort: str = "default") -> np.ndarray:
    """Return labels of `cluster` in the order of the vertices."""
    h = hc.Hypergraph.from_long(
        {"vertex": problem.vertex, "edge": problem.edge, "weight": problem.weight},
        weight="weight",
        edge_ids=np.arange(problem.n_edges),
        edge_weights=problem.omega,
    )
    found = np.empty(problem.n_vertices, dtype=np.int64)
    found[h.vertex_ids] = hc.cluster(h, 2, effort=effort).labels
    return found
