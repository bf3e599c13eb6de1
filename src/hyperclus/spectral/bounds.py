"""What the eigenvalues prove about every partition, found or not."""

import numpy as np

from hyperclus._runtime.random import random_generator
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.eigen.lanczos import lanczos_vectors
from hyperclus.spectral.eigen.null_space import zero_vectors
from hyperclus.spectral.eigen.result import with_residuals
from hyperclus.spectral.laplacian import TwoStepLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Seed

DENSE_UP_TO = 300  # vertices for which all singular values are computed


def ncut_lower_bound(pairs: Eigenpairs, k: int) -> float:
    """No partition into k clusters has an NCut below lambda_1 + ... + lambda_k.

    The cluster indicators, scaled by 1/sqrt(vol), are k orthonormal vectors after Pi^1/2, and NCut
    is the trace of L_sym on them; Ky Fan's theorem bounds that trace. Each eigenvalue enters with its proven
    lower bound.
    """
    return float(pairs.lower[:k].sum())


def relative_gap(ncut: float, bound: float) -> float:
    """(NCut - bound) / bound: how far above the optimum the partition can be at most.

    0 when both are 0, infinite when only the bound is.
    """
    excess = max(ncut - bound, 0.0)
    if bound > 0:
        return excess / bound
    return 0.0 if excess == 0 else float("inf")


def cheeger_interval(pairs: Eigenpairs) -> tuple[float, float]:
    """lambda_2 / 2 <= Phi(H) <= sqrt(2 lambda_2), Theorem 3 of the paper, with the residual allowed for.

    Phi(H) is the smallest conductance of any two-way cut. A single vertex has none: (0, 1).
    """
    if len(pairs.values) < 2:
        return 0.0, 1.0
    value, residual = float(pairs.values[1]), float(pairs.residuals[1])
    return float(pairs.lower[1]) / 2, min(float(np.sqrt(2 * (value + residual))), 1.0)


def information_upper_bound(
    walk: RandomWalk, pairs: Eigenpairs, k: int, *, tolerance: float = 1e-3, seed: Seed = 0
) -> float:
    """No k clusters have an information above ln(s_1^2 + ... + s_k^2), nor above ln k.

    Here s_1 = 1, s_2, ... are the largest singular values of A = Pi^1/2 P Pi^-1/2. The scaled cluster
    indicators X are orthonormal, so sum_ij F_ij^2 / (v_i v_j) = ||X'AX||^2 is at most the sum of the s_i^2;
    Jensen's inequality gives the information. Where phi has a closed form, A is symmetric and positive
    semidefinite, so that s_i = 1 - lambda_i; elsewhere Lanczos finds 1 - s_i^2, the eigenvalues of I - A'A.
    Like a lower bound of the NCut it is proven up to rounding and `Eigenpairs.failure`.
    """
    if walk.reversible:
        return float(np.log(np.square(1.0 - np.clip(pairs.lower[:k], 0.0, 1.0)).sum()))
    operator, rng = TwoStepLaplacian(walk), random_generator(seed)
    known = zero_vectors(walk.backend, walk.stationary, walk.distribution.components, k)
    count = k - known.shape[1]
    if operator.size <= DENSE_UP_TO:
        lower = np.linalg.eigvalsh(operator.dense())[:k]
    elif count:
        found = lanczos_vectors(operator, known, count, tolerance, rng)
        lower = with_residuals(operator, known, found, count, "lanczos").lower
    else:
        lower = np.zeros(k)
    return float(np.log(k - np.clip(lower, 0.0, 1.0).sum()))
