"""Lanczos on the inverse of L_sym, for hypergraphs that are long and thin.

On a path or a grid many eigenvalues are close to 0 and plain Lanczos converges slowly. There the sparse
factors of L_sym + tau I have little fill-in, and in its inverse the wanted eigenvalues are far apart.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint
from hyperclus.engines.base import ArrayBackend
from hyperclus.spectral.eigen.lanczos import Lanczos, lanczos_vectors
from hyperclus.spectral.laplacian import NormalizedLaplacian
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


def shift_invert_vectors(
    laplacian: NormalizedLaplacian,
    known: Floats,
    count: int,
    tolerance: float,
    rng: np.random.Generator,
    options: Lanczos = Lanczos(),  # noqa: B008  frozen
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> tuple[Floats, int]:
    """`count` eigenvectors beyond the known ones, then spare ones; and the number of solves.

    A residual r for the eigenvalue mu of the inverse is at most 2 r / mu for that of L_sym.
    """
    return lanczos_vectors(_Inverse(laplacian), known, count, tolerance / 4, rng, options, checkpoint)


@dataclass(slots=True)
class _Inverse:
    """- (L_sym + tau I)^-1, whose smallest eigenvectors are those of L_sym.

    With C = [U V] as in the small-side reduction, L_sym + tau I = (1 + tau) I - C J C' / 2 is the
    Schur complement of the sparse matrix [[(1 + tau) I, C], [C', 2 J]], so P is not formed here either.
    """

    laplacian: NormalizedLaplacian
    _factors: Any = None

    def __post_init__(self) -> None:
        from scipy.sparse.linalg import splu

        walk = self.laplacian.walk
        n, n_edges = self.size, walk.hypergraph.n_edges
        inverse_root = sp.diags_array(1.0 / np.sqrt(walk.stationary))
        arrival = sp.diags_array(np.sqrt(walk.stationary) / walk.factors.degrees)
        u = (
            arrival
            @ walk.factors.lists.source_weights_by_vertex
            @ sp.diags_array(walk.hypergraph.edge_weights)
        )
        v = (
            inverse_root
            @ walk.factors.lists.gamma_by_vertex
            @ sp.diags_array(1.0 / walk.factors.edge_degrees)
        )
        twice = 2.0 * sp.eye_array(n_edges)
        whole = (1.0 + SHIFT) * sp.eye_array(n)
        rows: Any = [[whole, u, v], [u.T, None, twice], [v.T, twice, None]]
        self._factors = splu(sp.csc_array(sp.block_array(rows)))

    @property
    def size(self) -> int:
        """The number of vertices."""
        return self.laplacian.size

    @property
    def backend(self) -> ArrayBackend:
        """Where the vectors live."""
        return self.laplacian.backend

    def apply(self, block: Floats) -> Floats:
        """Minus the solution of (L_sym + tau I) y = x, refined once with the residual."""
        solution = self._solve(block)
        rest = block - self.laplacian.apply(solution) - SHIFT * solution
        return -(solution + self._solve(rest))

    def normal(self, rng: np.random.Generator) -> Floats:
        """Normal numbers."""
        return self.laplacian.normal(rng)

    def _solve(self, vector: Floats) -> Floats:
        padded = np.concatenate([vector, np.zeros(2 * self.laplacian.walk.hypergraph.n_edges)])
        return np.asarray(self._factors.solve(padded)[: self.size])
