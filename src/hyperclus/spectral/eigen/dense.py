"""Eigenvectors of L_sym as a dense array: exact, for small n."""

import numpy as np

from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.typing import Floats


def dense_vectors(laplacian: NormalizedLaplacian, known: Floats, count: int) -> Floats:
    """`count` eigenvectors beyond the known zero ones, by LAPACK, in O(n^3).

    The known vectors are moved to eigenvalue 3, above all others, which are in [0, 2].
    """
    from scipy.linalg import eigh

    matrix = laplacian.dense() + 3.0 * (known @ known.T)
    _, vectors = eigh(matrix, subset_by_index=[0, count - 1])
    return np.asarray(vectors)
