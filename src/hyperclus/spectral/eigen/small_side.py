"""The exact reduction to 2|E| x 2|E|, for few hyperedges, many vertices and many eigenvectors."""

import numpy as np

from hyperclus.engines.cpu import with_data
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Incidence


def small_side_vectors(laplacian: NormalizedLaplacian, known: Floats, count: int) -> Floats:
    """`count` eigenvectors beyond the known zero ones; needs n >= 2|E| + k.

    M = (U V' + V U') / 2 = C J C' / 2 with C = [U V], U = Pi^1/2 A, V = Pi^-1/2 B' and J swapping
    the halves. With G = C'C, the non-zero eigenvalues of M are those of G^1/2 J G^1/2 / 2, and an
    eigenvector w of the latter gives the eigenvector C J G^1/2 w of M. Orthogonal to the columns
    of C, M is 0 and L_sym has eigenvalue 1. M stays the same when U S and V S^-1 take the places of U
    and V; a diagonal S gives their columns equal lengths, without which G loses digits.
    """
    walk = laplacian.walk
    wanted = known.shape[1] + count
    gram, scale = _balanced_gram(walk)
    gram_values, gram_vectors = np.linalg.eigh(gram)
    half = (gram_vectors * np.sqrt(np.maximum(gram_values, 0.0))) @ gram_vectors.T
    swapped = np.roll(half, walk.hypergraph.n_edges, axis=0)
    values, small = np.linalg.eigh(0.5 * half @ swapped)
    large = [position for position in np.argsort(-values)[:wanted] if values[position] > 1e-7]
    reached = _from_edges(walk, scale, swapped @ small[:, large])

    outside = np.random.default_rng(0).standard_normal((laplacian.size, wanted - len(large)))
    kept = gram_values > 1e-12
    inverse = (gram_vectors[:, kept] / gram_values[kept]) @ gram_vectors[:, kept].T
    for _ in range(2):
        outside -= _from_edges(walk, scale, inverse @ _to_edges(walk, scale, outside))

    candidates = np.hstack([reached, outside])
    candidates /= np.linalg.norm(candidates, axis=0)
    for _ in range(2):
        candidates -= known @ (known.T @ candidates)
    left, _, _ = np.linalg.svd(candidates, full_matrices=False)
    basis = left[:, :count]  # the known directions have singular value 0 and come last
    _, rotation = np.linalg.eigh(basis.T @ laplacian.apply(basis))
    return np.asarray(basis @ rotation)


def _balanced_gram(walk: RandomWalk) -> tuple[Floats, Floats]:
    """C'C = [[U'U, U'V], [V'U, V'V]] by sparse products, where V'U = B A, and the diagonal of S."""
    phi, factors = walk.stationary, walk.factors
    omega, gamma = walk.hypergraph.edge_weights, walk.hypergraph.gamma
    upper = _square(
        factors.lists.source_weights, phi / factors.degrees**2, factors.lists.source_weights_by_vertex
    )
    upper *= np.outer(omega, omega)
    lower = _square(gamma, 1.0 / phi, factors.lists.gamma_by_vertex) / np.outer(
        factors.edge_degrees, factors.edge_degrees
    )
    lengths = np.diag(lower) / np.where(np.diag(upper) > 0, np.diag(upper), 1.0)
    scale = np.where(lengths > 0, lengths, 1.0) ** 0.25
    chain = factors.edge_chain() * scale / scale[:, None]
    squares = np.outer(scale, scale)
    return np.block([[upper * squares, chain.T], [chain, lower / squares]]), scale


def _square(matrix: Incidence, weights: Floats, transposed: Incidence) -> Floats:
    """X diag(weights) X' as an array."""
    return np.asarray((with_data(matrix, matrix.data * weights[matrix.indices]) @ transposed).toarray())


def _from_edges(walk: RandomWalk, scale: Floats, block: Floats) -> Floats:
    """C y = U S y_1 + V S^-1 y_2."""
    root = np.sqrt(walk.stationary)[:, None]
    first, second = np.split(block, 2)
    forward = walk.factors.vertex_means(first * scale[:, None])
    return root * forward + walk.factors.step_to_vertices(second / scale[:, None]) / root


def _to_edges(walk: RandomWalk, scale: Floats, block: Floats) -> Floats:
    """C' x, the two halves one below the other."""
    root = np.sqrt(walk.stationary)[:, None]
    first = walk.factors.step_to_edges(root * block) * scale[:, None]
    return np.vstack([first, walk.factors.edge_means(block / root) / scale[:, None]])
