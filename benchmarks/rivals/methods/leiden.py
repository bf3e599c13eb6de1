"""igraph: Leiden on the bipartite graph of vertices and hyperedges."""

import numpy as np
from problem import Problem

from real_data.methods import leiden


def labels(problem: Problem) -> np.ndarray:
    """The resolution that gives two clusters of vertices is searched for."""
    return leiden(problem.incidences(), 2, 0)
