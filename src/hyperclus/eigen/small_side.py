"""The exact reduction to 2|E| x 2|E|, for few hyperedges and many vertices."""

import numpy as np

from hyperclus.laplacian import NormalizedLaplacian
from hyperclus.types import Floats


def small_side_vectors(laplacian: NormalizedLaplacian, known: Floats, count: int) -> Floats:
    """`count` eigenvectors beyond the known zero ones; needs n >= 2|E| + k.

    M = (U V' + V U') / 2 = C J C' / 2 with C = [U V], U = Pi^1/2 A, V = Pi^-1/2 B' and J swapping
    the halves. With G = C'C, the non-zero eigenvalues of M are those of G^1/2 J G^1/2 / 2, and an
    eigenvector w of the latter gives the eigenvector C J G^1/2 w of M. Orthogonal to the columns
    of C, M is 0 and L_sym has eigenvalue 1.
    """
    from scipy.linalg import eigh

    walk = laplacian.walk
    n_edges = walk.hypergraph.n_edges
    root = np.sqrt(walk.stationary)[:, None]
    unit = np.eye(n_edges)
    sides = np.hstack([root * walk.factors.vertex_means(unit), walk.factors.to_vertices(unit) / root])
    gram_values, gram_vectors = eigh(sides.T @ sides)
    half = (gram_vectors * np.sqrt(np.maximum(gram_values, 0.0))) @ gram_vectors.T
    swapped = np.roll(half, n_edges, axis=0)
    values, small = eigh(0.5 * half @ swapped)
    wanted = [i for i in np.argsort(-values)[: known.shape[1] + count] if values[i] > 1e-7]
    reached = sides @ (swapped @ small[:, wanted])
    outside = np.random.default_rng(0).standard_normal((laplacian.size, known.shape[1] + count - len(wanted)))
    span = sides @ (gram_vectors[:, gram_values > 1e-12] / np.sqrt(gram_values[gram_values > 1e-12]))
    for _ in range(2):
        outside -= span @ (span.T @ outside)
    candidates = np.hstack([reached, outside])
    candidates /= np.linalg.norm(candidates, axis=0)
    candidates -= known @ (known.T @ candidates)
    left, _, _ = np.linalg.svd(candidates, full_matrices=False)
    basis = left[:, :count]  # the known directions are what is left with singular value 0
    _, rotation = np.linalg.eigh(basis.T @ laplacian.apply(basis))
    return np.asarray(basis @ rotation)
