"""What every eigen-solver returns."""

from dataclasses import dataclass, replace

import numpy as np

from hyperclus.arrays import empty_columns, on_host
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

    def on_host(self) -> "Eigenpairs":
        """The same with all vectors in the memory of the host."""
        return replace(self, vectors=on_host(self.vectors), spare=on_host(self.spare))


def with_residuals(
    operator: Operator, zero: Floats, others: Floats, spare: Floats, steps: int, method: str
) -> Eigenpairs:
    """The zero eigenpairs, then the others sorted by Rayleigh quotient; residuals are measured."""
    vectors = np.hstack([zero, others])
    values = np.empty(vectors.shape[1])
    residuals = np.empty(vectors.shape[1])
    fixed = empty_columns(vectors[:, 0], vectors.shape[1])
    for column in range(vectors.shape[1]):  # one at a time: a large block would not fit the cache
        vector = vectors[:, column] * np.sign(vectors[int(np.argmax(np.abs(vectors[:, column]))), column])
        image = operator.apply(vector)
        value = max(float(vector @ image), 0.0) if column >= zero.shape[1] else 0.0
        values[column], residuals[column] = value, float(np.linalg.norm(image - value * vector))
        fixed[:, column] = vector
    order = np.argsort(values, kind="stable")
    return Eigenpairs(values[order], fixed[:, order.tolist()], residuals[order], steps, method, spare)
