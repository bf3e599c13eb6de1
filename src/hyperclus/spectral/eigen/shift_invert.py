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
