"""A walk that mixes two groups of hyperedges: a share of the steps of each vertex goes over each group."""

from dataclasses import dataclass

import numpy as np

from hyperclus._runtime.arrays import blocks
from hyperclus.errors import InputError, is_number
from hyperclus.typing import Booleans, Floats, Incidence, Integers


@dataclass(frozen=True, slots=True)
class Mixture:
    """The last hyperedges, neighbourhoods of similar vertices, get a share beta of the steps of each vertex.

    A(v, e) = (1 - beta) omega(e) gamma_e(v)^alpha / d_1(v) for the hyperedges before them, and
    A(v, e) = beta omega(e) gamma_e(v) / d_2(v) for the neighbourhoods, where gamma, a similarity, counts in
    both directions whatever alpha is. d_1 and d_2 make the shares sum to 1 - beta and beta. A vertex that has
    hyperedges of one group only takes all of its steps over that group.

    Attributes
    ----------
    n_neighborhoods : int
        How many of the hyperedges are neighbourhoods; there are others before them.
    beta : float
        Between 0 and 1, without the ends: those are walks over one group, and need no mixture.
    """

    n_neighborhoods: int
    beta: float

    def __post_init__(self) -> None:
        if not (is_number(self.n_neighborhoods) and self.n_neighborhoods == int(self.n_neighborhoods) > 0):
            raise InputError(
                f"n_neighborhoods must be a number of hyperedges, 1 or more; got {self.n_neighborhoods!r}"
            )
        if not (is_number(self.beta) and 0 < self.beta < 1):
            raise InputError(f"beta must be between 0 and 1, without the ends; got {self.beta!r}")

    def neighborhoods(self, n_edges: int) -> Booleans:
        """A mask of the hyperedges that are neighbourhoods."""
        return np.arange(n_edges) >= n_edges - self.n_neighborhoods

    def of_some(self, n_edges: int, kept: Integers) -> "Mixture | None":
        """The mixture if only some hyperedges are kept, in their order; None if one group is left."""
        count = int(np.count_nonzero(kept >= n_edges - self.n_neighborhoods))
        return Mixture(count, self.beta) if 0 < count < len(kept) else None


def source_weights(gamma: Incidence, omega: Floats, mixture: Mixture, powers: Floats) -> Floats:
    """Weights, per incidence, by which a vertex picks a hyperedge of a mixture; the powers are gamma^alpha.

    The degree of every vertex, the sum of omega times these, is 1.
    """
    n_edges, n = gamma.shape
    first = int(gamma.indptr[n_edges - mixture.n_neighborhoods])
    found, sums = np.concatenate([powers[:first], gamma.data[first:]]), np.zeros((2, n))
    for some in blocks(gamma.nnz):
        edges = np.searchsorted(gamma.indptr, np.arange(some.start, some.stop), side="right") - 1
        weights, split = found[some] * omega[edges], max(first - some.start, 0)
        for total, part in zip(sums, (slice(None, split), slice(split, None)), strict=True):
            total += np.bincount(gamma.indices[some][part], weights=weights[part], minlength=n)
    shares = np.array([1.0 - mixture.beta, mixture.beta])[:, None] * (sums > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scales = np.where(sums > 0, shares / shares.sum(axis=0) / sums, 0.0)
    for scale, part in zip(scales, (slice(None, first), slice(first, None)), strict=True):
        found[part] *= scale[gamma.indices[part]]
    return found
