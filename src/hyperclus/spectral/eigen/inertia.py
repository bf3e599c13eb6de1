"""Counts of small eigenvalues of L_sym by a sparse factorisation, for hypergraphs that are long and thin."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats

MAX_COUNTS = 24  # factorisations spent on the eigenvalues of one problem


@dataclass(frozen=True, eq=False)
class Augmented:
    """L_sym - shift I as the Schur complement of a sparse matrix, so that P is not formed.

    M = (U V' + V U') / 2 with U = Pi^1/2 A and V = Pi^-1/2 B', whose columns a diagonal scaling makes equally
    long. So M = F F' - G G' with F = (U + V) / 2 and G = (U - V) / 2, and L_sym - s I = (1 - s) I - M is the
    Schur complement of the lower right blocks in K = [[(1 - s) I, F, G], [F', I, 0], [G', 0, -I]].
    """

    walk: RandomWalk

    @cached_property
    def halves(self) -> tuple[Any, Any]:
        """F and G."""
        factors, root = self.walk.factors, np.sqrt(self.walk.stationary)
        omega = sp.diags_array(self.walk.hypergraph.edge_weights)
        u = sp.diags_array(root / factors.degrees) @ factors.lists.source_weights_by_vertex @ omega
        inverse = sp.diags_array(1.0 / factors.edge_degrees)
        v = sp.diags_array(1.0 / root) @ factors.lists.gamma_by_vertex @ inverse
        scale = np.sqrt(sp.linalg.norm(v, axis=0) / sp.linalg.norm(u, axis=0))
        u, v = u @ sp.diags_array(scale / 2), v @ sp.diags_array(0.5 / scale)
        return u + v, u - v

    def matrix(self, shift: float) -> Any:
        """K as a sparse array."""
        first, second = self.halves
        n, n_edges = first.shape
        one, whole = sp.eye_array(n_edges), (1.0 - shift) * sp.eye_array(n)
        rows: Any = [[whole, first, second], [first.T, one, None], [second.T, None, -one]]
        return sp.csc_array(sp.block_array(rows))

    def count_below(self, shift: float) -> tuple[int, float]:
        """The number of eigenvalues of L_sym below the shift, and by how much the shift is uncertain.

        By Sylvester's law of inertia, K has as many negative eigenvalues as L_sym - s I and -I together, and
        as many as D has in K = L D L'. The computed factors are exact for a matrix that differs from K by E,
        and its Schur complement from that of K by at most |E| (1 + |F|^2 + |G|^2), up to terms of |E|^2.
        """
        from scipy.sparse.linalg import splu

        matrix, options = self.matrix(shift), {"Equil": False}
        try:
            factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError:  # a pivot is 0
            return 0, np.inf
        if not np.array_equal(factors.perm_r, factors.perm_c):  # a pivot was taken off the diagonal
            return 0, np.inf
        pivots = factors.U.diagonal()
        order = np.argsort(factors.perm_r)
        product = factors.L @ sp.diags_array(pivots) @ factors.L.T
        error = sp.linalg.norm(matrix[order][:, order] - product)
        eps = np.finfo(np.float64).eps * float(sp.linalg.norm(product))
        growth = 1.0 + sum(_squared_norm(half) for half in self.halves)
        n_edges = self.walk.hypergraph.n_edges
        return int((pivots < 0).sum()) - n_edges, 4 * growth * (float(error) + eps)


def counted_bounds(walk: RandomWalk, values: Floats, residuals: Floats) -> Floats:
    """Lower bounds of the smallest eigenvalues, by counting those below shifts just under approximations.

    Fewer than i eigenvalues below a shift say that the i-th is at least the shift.
    """
    augmented, bounds = Augmented(walk), np.zeros(len(values))
    shifts = values - np.minimum(residuals, 1e-3 * values)
    chosen = np.unique(np.linspace(0, len(values) - 1, min(len(values), MAX_COUNTS)).round().astype(int))
    for shift in shifts[chosen]:
        if shift <= 0:
            continue
        count, error = augmented.count_below(float(shift))
        bounds[count:] = np.maximum(bounds[count:], shift - error)
    return bounds


def _squared_norm(matrix: Any) -> float:
    """An upper bound of |X|^2: the product of the largest sums of a row and of a column."""
    sizes = abs(matrix)
    return float(sizes.sum(axis=0).max() * sizes.sum(axis=1).max()) if matrix.nnz else 0.0
