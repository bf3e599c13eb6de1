"""The result of the eigen-solvers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperclus._runtime.checkpoint import is_array, is_count, is_figure
from hyperclus.engines.base import ArrayBackend
from hyperclus.spectral.eigen.floor import FAILURE
from hyperclus.spectral.eigen.lanczos import Vectors
from hyperclus.spectral.laplacian import Operator
from hyperclus.typing import Floats

CREDIBLE = 1e-6  # how far values from a checkpoint may be from what they should be
ROUNDING = 1e-14  # what sums over the vertices may lose; residuals are measured with the same sums


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
    lower : array of shape (k,)
        Proven lower bounds: the i-th smallest eigenvalue of L_sym is at least lower[i].
    failure : float
        Probability, over the random vectors of the solver, that `lower` is wrong; 0 for methods that see
        the whole spectrum.
    spare : array of shape (n, at most the number asked for)
        Rough approximations of the next eigenvectors, at no cost; their residuals are not computed.
    """

    values: Floats
    vectors: Floats
    residuals: Floats
    steps: int
    method: str
    lower: Floats
    failure: float
    spare: Floats

    def first(self, k: int) -> "Eigenpairs":
        """The first k pairs."""
        values, vectors, residuals = self.values[:k], self.vectors[:, :k], self.residuals[:k]
        return replace(self, values=values, vectors=vectors, residuals=residuals, lower=self.lower[:k])

    def on_host(self, backend: ArrayBackend) -> "Eigenpairs":
        """The same with all vectors fetched to the host."""
        vectors, spare = backend.fetch(self.vectors, self.spare)
        return replace(self, vectors=vectors, spare=spare)


def with_residuals(operator: Operator, zero: Floats, others: Vectors, wanted: int, method: str) -> Eigenpairs:
    """Compute values and residuals of the zero eigenvectors and of the `wanted` others, and sort them."""
    backend, known = operator.backend, zero.shape[1]
    count = known + wanted
    values, residuals = np.empty(count), np.empty(count)
    fixed = backend.empty_columns(zero[:, 0] if known else others.vectors[:, 0], count)
    for columns in backend.column_batches(count):
        found = [
            zero[:, column] if column < known else others.vectors[:, column - known] for column in columns
        ]
        _fix_signs(backend, found, fixed, columns)
        images = backend.persist(operator.apply(fixed[:, columns.start : columns.stop]))
        pairs = list(zip(columns, (images[:, number] for number in range(len(columns))), strict=True))
        quotients = backend.fetch(*(fixed[:, column] @ image for column, image in pairs))
        for column, quotient in zip(columns, quotients, strict=True):
            values[column] = max(float(quotient), 0.0) if column >= known else 0.0
        residuals[list(columns)] = backend.fetch(
            *(np.linalg.norm(image - values[column] * fixed[:, column]) for column, image in pairs)
        )
    order = np.argsort(values, kind="stable")
    values, residuals = values[order], residuals[order]
    lower, failure = lower_bounds(values, residuals, others.floor), FAILURE * (others.floor < np.inf)
    spare = rough = others.vectors[:, wanted:]
    if rough.shape[1]:
        spare = backend.empty_columns(fixed[:, 0], rough.shape[1])
        _fix_signs(backend, list(rough.T), spare, range(rough.shape[1]))
    facts = others.steps, method, lower, float(failure)
    if (order != np.arange(count)).any():  # a copy takes as much memory as all eigenvectors
        fixed = fixed[:, order.tolist()]
    return Eigenpairs(values, fixed, residuals, *facts, spare)


def _fix_signs(backend: ArrayBackend, vectors: Sequence[Floats], fixed: Floats, columns: range) -> None:
    """Copy columns with the sign that makes the largest entry positive, so that all engines have the same."""
    signs = backend.fetch(*map(backend.sign_of_largest, vectors))
    for column, vector, sign in zip(columns, vectors, signs, strict=True):
        fixed[:, column] = vector * float(sign)


def stored_pairs_fit(operator: Operator, k: int, spare: int, kept: dict[str, Any]) -> bool:
    """Whether stored values can be the k smallest eigenpairs; in host memory, residuals are recomputed."""
    values, vectors, residuals = kept["values"], kept["vectors"], kept["residuals"]
    sound = is_array(values, k, low=0.0, high=2.0 + CREDIBLE) and is_array(residuals, k, low=0.0, high=4.0)
    sound &= is_array(kept["lower"], k, low=0.0) and bool((kept["lower"] <= values + CREDIBLE).all())
    sound &= is_array(vectors, operator.size, k) and is_array(kept["spare"], operator.size, None)
    sound &= kept["spare"].shape[1] <= spare and is_count(kept["steps"]) and isinstance(kept["method"], str)
    sound &= is_figure(kept["failure"], 0.0, 1.0) and set(kept) == set(Eigenpairs.__slots__)
    if sound and isinstance(vectors, np.ndarray):
        changes = np.linalg.norm(operator.apply(vectors) - vectors * values, axis=0)
        sound = bool((changes <= 2 * residuals + CREDIBLE).all())
        sound &= bool((np.abs(vectors.T @ vectors - np.eye(k)) <= CREDIBLE).all())
    return bool(sound)


def lower_bounds(values: Floats, residuals: Floats, floor: float) -> Floats:
    """Lower bounds of the smallest eigenvalues, given approximations and a floor under those beyond them.

    With the approximate vectors Q, their values T and R = L Q - Q T, there is a matrix L' that has the
    eigenvalues T on Q, is L on the complement of Q, and differs from L by at most 2 |R| / sqrt(3) in norm.
    So by Weyl's inequality the i-th eigenvalue of L is at least the i-th smallest of the values and the
    floor, minus that. An infinite floor says that all eigenvalues were computed, so that each
    residual bounds the error of its own value.
    """
    if floor == np.inf:
        bounds = values - residuals
    else:
        everything = np.sort(np.append(values, np.full(len(values), floor)))[: len(values)]
        bounds = everything - 2 / np.sqrt(3) * np.linalg.norm(residuals)
    return np.asarray(np.maximum(bounds - ROUNDING, 0.0))
