"""scikit-learn: spectral clustering of the clique expansion."""

import numpy as np
from problem import Problem
from scipy import sparse
from sklearn.cluster import SpectralClustering


def labels(problem: Problem) -> np.ndarray:
    """LOBPCG and cluster_qr, the fastest of its solvers and roundings here."""
    model = SpectralClustering(
        2, affinity="precomputed", eigen_solver="lobpcg", assign_labels="cluster_qr", random_state=0
    )
    return model.fit_predict(clique_expansion(problem))


def clique_expansion(problem: Problem) -> np.ndarray | sparse.csr_array:
    """A(u, v) = sum over e of omega(e) gamma_e(u) gamma_e(v) / sum of gamma_e; dense where pairs are many."""
    gamma = sparse.csr_array(
        (problem.weight, (problem.edge, problem.vertex)), shape=(problem.n_edges, problem.n_vertices)
    )
    half = sparse.diags_array(np.sqrt(problem.omega / gamma.sum(axis=1))) @ gamma
    sizes = np.bincount(problem.edge, minlength=problem.n_edges).astype(float)
    if sizes @ sizes > problem.n_vertices**2:
        dense = half.toarray()
        return dense.T @ dense
    affinity = (half.T @ half).tocsr()
    return sparse.csr_array(  # it accepts 32-bit indices only
        (affinity.data, affinity.indices.astype(np.int32), affinity.indptr.astype(np.int32)),
        shape=affinity.shape,
    )
