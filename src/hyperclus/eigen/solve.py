"""Which method for which hypergraph, and the assembly of the answer."""

import numpy as np

from hyperclus.eigen.dense import dense_vectors
from hyperclus.eigen.lanczos import lanczos_vectors
from hyperclus.eigen.pairs import Eigenpairs, with_residuals
from hyperclus.eigen.small_side import small_side_vectors
from hyperclus.eigen.trivial import zero_vectors
from hyperclus.errors import ConvergenceError, InputError
from hyperclus.laplacian import NormalizedLaplacian
from hyperclus.types import Seed

METHODS = ("auto", "dense", "small side", "lanczos")


def smallest_eigenpairs(
    laplacian: NormalizedLaplacian,
    k: int,
    *,
    tolerance: float = 1e-8,
    seed: Seed = 0,
    method: str = "auto",
) -> Eigenpairs:
    """The k smallest eigenpairs of L_sym.

    The zero eigenvalues, one per component, are known exactly and deflated.

    Parameters
    ----------
    tolerance : float
        Largest residual ||L z - lambda z|| allowed.
    seed : int, Generator or None
        Of the start vectors of "lanczos"; the same seed gives the same result.
    method : {"auto", "dense", "small side", "lanczos"}
        "auto" takes the one that a measured cost model expects to be fastest.

    Raises
    ------
    ConvergenceError
        When a residual stays above the tolerance; it carries the residual reached.
    """
    if not 1 <= k <= laplacian.size:
        raise InputError(f"k must be between 1 and the number of vertices, {laplacian.size}; got {k}")
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    known = zero_vectors(laplacian.walk, k)
    count = k - known.shape[1]
    if not count:
        return with_residuals(laplacian, known, 0, "dense" if method == "auto" else method)
    if method == "auto":
        method = cheapest(laplacian, count)
    steps = 0
    if method == "dense":
        vectors = dense_vectors(laplacian, known, count)
    elif method == "small side":
        vectors = small_side_vectors(laplacian, known, count)
    else:
        vectors, steps = lanczos_vectors(laplacian, known, count, tolerance, np.random.default_rng(seed))
    pairs = with_residuals(laplacian, np.hstack([known, vectors]), steps, method)
    worst = float(pairs.residuals.max())
    if worst > tolerance:
        raise ConvergenceError(f"the eigenvectors reached residual {worst:.1e}, not {tolerance:.1e}", worst)
    return pairs


def cheapest(laplacian: NormalizedLaplacian, count: int) -> str:
    """The method with the smallest predicted time; constants from benchmarks/eigen_cost.py."""
    n, m = laplacian.size, laplacian.walk.hypergraph.n_incidences
    return "dense" if n <= 200 else "lanczos"
