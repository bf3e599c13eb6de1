"""HyperNetX: spec_clus, the one rival with a walk for edge-dependent vertex weights."""

import numpy as np
import pandas as pd
from hypernetx import Hypergraph
from hypernetx.algorithms import spec_clus
from problem import Problem


def labels(problem: Problem) -> np.ndarray:
    """Labels from its dictionary of clusters."""
    table = pd.DataFrame({"edges": problem.edge, "nodes": problem.vertex, "weight": problem.weight})
    h = Hypergraph(table, edge_col="edges", node_col="nodes", cell_weight_col="weight")
    found = np.empty(problem.n_vertices, dtype=np.int64)
    for label, members in spec_clus(h, 2, weights=True).items():
        found[np.asarray(members, dtype=np.int64)] = label
    return found
