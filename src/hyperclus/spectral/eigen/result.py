"""The result of the eigen-solvers."""

from dataclasses import dataclass, replace

import numpy as np

from hyperclus.engines.base import ArrayBackend
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
        ||L z - lambda z||: some eigenvalue is within this distance of lambda.
    steps : int
        Products with the operator; 0 for the dense methods.
    method : str
        "dense", "small side", "lanczos" or "shift-invert"; "known" where only zero eigenvalues,
        which need no solver, were asked for.
    spare : array of shape (n, at most the number asked for)
        Rough approximations of the next eigenvectors, at no cost; their residuals are not computed.
    """

    values: Floats
    vectors: Floats
    residuals: Floats
    steps: int
    method: str
    spare: Floats

    def on_host(self, backend: ArrayBackend) -> "Eigenpairs":
        """The same with all vectors fetched to the host."""
        vectors, spare = backend.fetch(self.vectors, self.spare)
        return replace(self, vectors=vectors, spare=spare)


def with_residuals(
    operator: Operator, zero: Floats, others: Floats, spare: Floats, steps: int, method: str
) -> Eigenpairs:
    """Compute values and residuals of the zero eigenvectors and the others, and sort them."""
    vectors, backend = np.hstack([zero, others]), operator.backend
    count = vectors.shape[1]
    values, residuals = np.empty(count), np.empty(count)
    fixed = backend.empty_columns(vectors[:, 0], count)
    for columns in backend.column_batches(count):
        signs = backend.fetch(*(backend.sign_of_largest(vectors[:, column]) for column in columns))
        for column, sign in zip(columns, signs, strict=True):
            fixed[:, column] = vectors[:, column] * float(sign)
        images = [backend.persist(operator.apply(fixed[:, column])) for column in columns]
        pairs = list(zip(columns, images, strict=True))
        quotients = backend.fetch(*(fixed[:, column] @ image for column, image in pairs))
        for column, quotient in zip(columns, quotients, strict=True):
            values[column] = max(float(quotient), 0.0) if column >= zero.shape[1] else 0.0
        residuals[list(columns)] = backend.fetch(
            *(np.linalg.norm(image - values[column] * fixed[:, column]) for column, image in pairs)
        )
    order = np.argsort(values, kind="stable")
    return Eigenpairs(values[order], fixed[:, order.tolist()], residuals[order], steps, method, spare)
