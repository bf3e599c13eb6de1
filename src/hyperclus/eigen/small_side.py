"""The exact reduction to 2|E| x 2|E|, for few hyperedges, many vertices and many eigenvectors."""

import numpy as np
import scipy.sparse as sp

from hyperclus.laplacian import NormalizedLaplacian
from hyperclus.types import Floats, Incidence
from hyperclus.walk import RandomWalk


def small_side_vectors(laplacian: NormalizedLaplacian, known: Floats, count: int) -> Floats:
    """`count` eigenvectors beyond the known zero ones; needs n >= 2|E| + k.

    M = (U V' + V U') / 2 = C J C' / 2 with C = [U V], U = Pi^1/2 A, V = Pi^-1/2 B' and J swapping
    the halves. With G = C'C, the non-zero eigenvalues of M are those of G^1/2 J G^1/2 / 2, and an
    eigenvector w of the latter gives the eigenvector C J G^1/2 w of M. Orthogonal to the columns
    of C, M is 0 and L_sym has eigenvalue 1.
    """
    from scipy.linalg import eigh

    walk = laplacian.walk
    wanted = known.shape[1] + count
    gram_values, gram_vectors = eigh(_gram(walk))
    half = (gram_vectors * np.sqrt(np.maximum(gram_values, 0.0))) @ gram_vectors.T
    swapped = np.roll(half, walk.hypergraph.n_edges, axis=0)
    values, small = eigh(0.5 * half @ swapped)
    large = [position for position in np.argsort(-values)[:wanted] if values[position] > 1e-7]
    reached = _from_edges(walk, swapped @ small[:, large])

    outside = np.random.default_rng(0).standard_normal((laplacian.size, wanted - len(large)))
    kept = gram_values > 1e-12
    inverse = (gram_vectors[:, kept] / gram_values[kept]) @ gram_vectors[:, kept].T
    for _ in range(2):
        outside -= _from_edges(walk, inverse @ _to_edges(walk, outside))

    candidates = np.hstack([reached, outside])
    candidates /= np.linalg.norm(candidates, axis=0)
    for _ in range(2):
        candidates -= known @ (known.T @ candidates)
    left, _, _ = np.linalg.svd(candidates, full_matrices=False)
    basis = left[:, :count]  # the known directions have singular value 0 and come last
    _, rotation = np.linalg.eigh(basis.T @ laplacian.apply(basis))
    return np.asarray(basis @ rotation)


def _gram(walk: RandomWalk) -> Floats:
    """C'C by sparse products: [[U'U, U'V], [V'U, V'V]], where V'U = B A."""
    phi, factors = walk.stationary, walk.factors
    omega, gamma = walk.hypergraph.edge_weights, walk.hypergraph.gamma
    upper = _weighted_square(factors.pattern, phi / factors.degrees**2) * np.outer(omega, omega)
    lower = _weighted_square(gamma, 1.0 / phi) / np.outer(factors.edge_degrees, factors.edge_degrees)
    chain = factors.edge_chain()
    return np.block([[upper, chain.T], [chain, lower]])


def _weighted_square(matrix: Incidence, weights: Floats) -> Floats:
    """X diag(weights) X' as an array."""
    scaled = sp.csr_array(
        (matrix.data * weights[matrix.indices], matrix.indices, matrix.indptr), matrix.shape
    )
    return np.asarray((scaled @ matrix.T.tocsr()).toarray())


def _from_edges(walk: RandomWalk, block: Floats) -> Floats:
    """C y = U y_1 + V y_2."""
    root = np.sqrt(walk.stationary)[:, None]
    first, second = np.split(block, 2)
    return root * walk.factors.vertex_means(first) + walk.factors.to_vertices(second) / root


def _to_edges(walk: RandomWalk, block: Floats) -> Floats:
    """C' x, the two halves one below the other."""
    root = np.sqrt(walk.stationary)[:, None]
    return np.vstack([walk.factors.to_edges(root * block), walk.factors.edge_means(block / root)])
