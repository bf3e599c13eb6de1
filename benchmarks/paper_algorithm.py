"""HyperClus-G step by step as the paper's Algorithm 1 writes it, with dense matrices: the rival.

R, W, P, L and L_sym are n x n or |E| x n arrays, the stationary law comes from power iteration,
and the eigenvectors from a full dense decomposition. It uses NumPy as well as that allows.
"""

import numpy as np

import hyperclus as hc


def two_clusters(hypergraph: hc.Hypergraph, power_tolerance: float = 1e-12) -> np.ndarray:
    """Algorithm 1: labels 0 and 1 by the sign of the second eigenvector."""
    r = hypergraph.gamma.toarray()
    w = (r > 0).T * hypergraph.edge_weights
    p = (w / w.sum(axis=1, keepdims=True)) @ (r / r.sum(axis=1, keepdims=True))
    del w, r
    phi = np.full(len(p), 1 / len(p))
    while True:
        after = phi @ p
        change = np.abs(after - phi).sum()
        phi = after
        if change <= power_tolerance:
            break
    root = np.sqrt(phi)
    scaled = root[:, None] * p / root
    del p
    normalised = np.eye(len(phi)) - (scaled + scaled.T) / 2
    del scaled
    _, vectors = np.linalg.eigh(normalised)
    return (vectors[:, 1] < 0).astype(int)
