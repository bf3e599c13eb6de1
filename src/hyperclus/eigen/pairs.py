"""What every eigen-solver returns."""

from dataclasses import dataclass

import numpy as np

from hyperclus.laplacian import Operator
from hyperclus.types import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Eigenpairs:
    """The k smallest eigenpairs of L_sym, ascending, the known zero ones included.

    Attributes
    ----------
    values : array of shape (k,)
    vectors : array of shape (n, k)
        Orthonormal columns; in each, the entry of largest magnitude is positive.
    residuals : array of shape (k,)
        ||L z - lambda z||: some eigenvalue lies this close to lambda.
    steps : int
        Products with the operator; 0 for the dense methods.
    method : str
        "dense", "small side", "lanczos" or "shift-invert"; "known" where only zero eigenvalues,
        which need no solver, were asked for.
    spare : array of shape (n, at most the number asked for)
        Rough guesses at the next eigenvectors, at no cost; nothing is known of their residuals.
    """

    values: Floats
    vectors: Floats
    residuals: Floats
    steps: int
    method: str
    spare: Floats


def with_residuals(
    operator: Operator, zero: Floats, others: Floats, spare: Floats, steps: int, method: str
) -> Eigenpairs:
    """The zero eigenpairs, then the others sorted by Rayleigh quotient; residuals are measured."""
    vectors = np.hstack([zero, others])
    values = np.empty(vectors.shape[1])
    residuals = np.empty(vectors.shape[1])
    fixed = np.empty(vectors.shape, order="F")
    for column in range(vectors.shape[1]):  # one at a time: a large block would not fit the cache
        vector = vectors[:, column] * np.sign(vectors[np.argmax(np.abs(vectors[:, column])), column])
        image = operator.apply(vector)
        values[column] = max(vector @ image, 0.0) if column >= zero.shape[1] else 0.0
        residuals[column] = np.linalg.norm(image - values[column] * vector)
        fixed[:, column] = vector
    order = np.argsort(values, kind="stable")
    return Eigenpairs(values[order], fixed[:, order], residuals[order], steps, method, spare)
