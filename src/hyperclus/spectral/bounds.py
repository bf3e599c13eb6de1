"""What the eigenvalues prove about every partition, found or not."""

import numpy as np

from hyperclus.spectral.eigen import Eigenpairs


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
