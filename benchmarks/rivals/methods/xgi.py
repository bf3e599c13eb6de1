"""XGI: its spectral clustering as it comes."""

import numpy as np
import xgi
from problem import Problem
from xgi.communities import spectral_clustering


def labels(problem: Problem) -> np.ndarray:
    """Labels from its dictionary."""
    found = spectral_clustering(xgi.Hypergraph(problem.members()), 2, seed=0)
    return np.array([found[vertex] for vertex in range(problem.n_vertices)])
