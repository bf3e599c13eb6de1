"""scikit-network: spectral embedding of the bipartite graph, then k-means."""

import numpy as np
from problem import Problem
from scipy import sparse
from sklearn.cluster import KMeans
from sknetwork.embedding import Spectral


def labels(problem: Problem) -> np.ndarray:
    """k-means on the rows; two components, since one fails on `binned` with n = 1,000."""
    embedding = Spectral(2).fit(sparse.csr_matrix(problem.incidences()), force_bipartite=True)
    return KMeans(2, random_state=0).fit_predict(embedding.embedding_row_)
