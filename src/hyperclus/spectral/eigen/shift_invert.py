"""Lanczos on the inverse of L_sym, for hypergraphs that are long and thin.

On a path or a grid many eigenvalues are close to 0 and plain Lanczos converges slowly. There the sparse
factors of L_sym + tau I have little fill-in, and in its inverse the wanted eigenvalues are far apart.
"""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.spectral.eigen.inertia import Augmented
from hyperclus.spectral.laplacian import NormalizedLaplacian, WalkOperator
from hyperclus.typing import Floats

SHIFT = 1e-9  # tau: makes the matrix non-singular
FACTORISATION_UP_TO = 3_000_000  # incidences up to which a factorisation is tried
POLISHING = 20  # rounds, at most, of widening the space of the vectors
OPERATIONS = 3e10  # limit for elimination within the band: half a minute at worst


def is_thin(laplacian: NormalizedLaplacian) -> bool:
    """Whether the factors stay sparse, by the bandwidth of the bipartite graph.

    It is that after reverse Cuthill-McKee ordering: elimination within a band takes about
    (n + |E|) bandwidth^2 operations.
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    pattern = laplacian.walk.hypergraph.gamma
    blocks: Any = [[None, pattern.T], [pattern, None]]
    graph = sp.csr_array(sp.block_array(blocks))
    position = np.empty(graph.shape[0], dtype=np.int64)
    position[reverse_cuthill_mckee(graph, symmetric_mode=True)] = np.arange(graph.shape[0])
    apart = np.abs(np.repeat(position, np.diff(graph.indptr)) - position[graph.indices])
    return bool(graph.shape[0] * float(apart.max()) ** 2 <= OPERATIONS)


def polished(
    laplacian: NormalizedLaplacian, known: Floats, vectors: Floats, wanted: int, tolerance: float
) -> Floats:
    """Ritz vectors of L_sym in the space of the given vectors, widened by the residuals of the wanted ones.

    Where L_sym has a very small eigenvalue, its inverse is large, and so are the rounding errors of the
    vectors that the inverse gives. All vectors are orthogonal to the known ones.
    """
    basis = _orthonormal(vectors, known)
    count = basis.shape[1]
    for _ in range(POLISHING):
        vectors, values = _ritz(laplacian, basis, count)
        errors = laplacian.apply(vectors[:, :wanted]) - vectors[:, :wanted] * values[:wanted]
        if np.linalg.norm(errors, axis=0).max() <= tolerance:
            break
        basis = _orthonormal(np.hstack([vectors, errors]), known)
    return vectors


def _orthonormal(vectors: Floats, known: Floats) -> Floats:
    room = len(vectors) - known.shape[1]
    outside = vectors - known @ (known.T @ vectors)
    basis = np.linalg.qr(outside)[0][:, :room]
    return np.linalg.qr(basis - known @ (known.T @ basis))[0]


def _ritz(laplacian: NormalizedLaplacian, basis: Floats, count: int) -> tuple[Floats, Floats]:
    values, rotation = np.linalg.eigh(basis.T @ laplacian.apply(basis))
    return basis @ rotation[:, :count], values[:count]


class Inverse(WalkOperator):
    """- (L_sym + tau I)^-1, whose smallest eigenvectors are those of L_sym.

    A residual r for the eigenvalue mu of the inverse is at most 2 r / mu for that of L_sym.
    """

    @cached_property
    def _factors(self) -> Any:
        from scipy.sparse.linalg import splu

        return splu(Augmented(self.walk).matrix(-SHIFT))

    @cached_property
    def _laplacian(self) -> NormalizedLaplacian:
        return NormalizedLaplacian(self.walk)

    def apply(self, block: Floats) -> Floats:
        """Minus the solution of (L_sym + tau I) y = x, refined once with the residual."""
        solution = self._solve(block)
        rest = block - self._laplacian.apply(solution) - SHIFT * solution
        return -(solution + self._solve(rest))

    def _solve(self, vector: Floats) -> Floats:
        padded = np.concatenate([vector, np.zeros(2 * self.walk.hypergraph.n_edges)])
        return np.asarray(self._factors.solve(padded)[: self.size])
