"""scikit-learn: Dhillon's spectral co-clustering of the incidence matrix."""

import numpy as np
from problem import Problem

from real_data.methods import coclustering


def labels(problem: Problem) -> np.ndarray:
    """Row labels of `SpectralCoclustering`."""
    return coclustering(problem.incidences(), 2, 0)
