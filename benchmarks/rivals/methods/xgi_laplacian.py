"""XGI's Laplacian and the eigenvectors that its spectral clustering takes, with scikit-learn's k-means."""

import numpy as np
import xgi
from problem import Problem
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans


def labels(problem: Problem) -> np.ndarray:
    """`weighted=True` would take omega, but not into the degrees, and gives negative eigenvalues."""
    laplacian, vertices = xgi.normalized_hypergraph_laplacian(xgi.Hypergraph(problem.members()), index=True)
    start = np.random.default_rng(0).random(laplacian.shape[0])
    _, vectors = eigsh(laplacian, k=2, which="SA", v0=start)
    found = np.empty(problem.n_vertices, dtype=np.int64)
    order = [vertices[row] for row in range(len(vertices))]
    found[order] = KMeans(2, random_state=0).fit_predict(vectors)
    return found
