"""What every eigen-solver returns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperclus.engines.base import empty_columns, fetch, is_scattered, on_host, persist
from hyperclus.spectral.laplacian import Operator
from hyperclus.typing import Floats


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
    count = vectors.shape[1]
    values, residuals = np.empty(count), np.empty(count)
    fixed = empty_columns(vectors[:, 0], count)
    step = count if is_scattered(vectors) else 1  # one at a time: a large block would not fit the cache
    for first in range(0, count, step):
        columns = range(first, min(first + step, count))
        signs = fetch([_sign(vectors[:, column]) for column in columns])
        for column, sign in zip(columns, signs, strict=True):
            fixed[:, column] = vectors[:, column] * float(sign)
        images = [persist(operator.apply(fixed[:, column])) for column in columns]
        quotients = fetch([fixed[:, column] @ image for column, image in zip(columns, images, strict=True)])
        for column, quotient in zip(columns, quotients, strict=True):
            values[column] = max(float(quotient), 0.0) if column >= zero.shape[1] else 0.0
        residuals[list(columns)] = fetch([
            np.linalg.norm(image - values[column] * fixed[:, column])
            for column, image in zip(columns, images, strict=True)
        ])  # fmt: skip
    order = np.argsort(values, kind="stable")
    return Eigenpairs(values[order], fixed[:, order.tolist()], residuals[order], steps, method, spare)


def _sign(vector: Floats) -> Any:
    """The sign of the entry of largest size; where two are as large, of the first one, or a positive one."""
    if is_scattered(vector):
        return vector.sign_of_largest()  # type: ignore[attr-defined]
    return np.sign(vector[int(np.argmax(np.abs(vector)))])
