"""An upper bound on the information of the walk of every partition into k clusters.

With F_ij the flow from cluster i to cluster j, v_i the volumes, p_i = F_ii / v_i, t = sum of the p_i - 1, N =
sum of the F_ij^2 / (v_i v_j) - 1 and f(p) = p^2 (1 - exp(-b / p)), Jensen's inequality gives for all b >= 0

    I = sum of F_ij ln(F_ij / (v_i v_j)) <= b + ln(1 + N - sum of f(p_i)) <= b + ln(1 + N - k f((1 + t) / k)):

the ratios on the diagonal are multiplied by exp(-b / p_i), which the sum of F_ii b / p_i = b pays for, and f
is convex. Eigenvalues bound N for every t. The section on the information in docs/understand/certificate.md
has the proof in full.
"""

from dataclasses import dataclass, replace

import numpy as np

from hyperclus._runtime.arrays import along
from hyperclus._runtime.random import random_generator
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.eigen.floor import floor_beyond
from hyperclus.spectral.eigen.null_space import zero_vectors
from hyperclus.spectral.eigen.result import ROUNDING
from hyperclus.spectral.laplacian import NormalizedLaplacian, WalkOperator
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Seed

DENSE_UP_TO = 300  # vertices for which all eigenvalues are computed
QUICK_UP_TO = 30_000  # incidences for which the products take no time
PIECES = 64  # of the range of t, at least; N(t) is replaced by its chord on each
GRID = 17  # values of b that are tried at a time, for each piece
ZOOMS = 4  # times that the range of b is narrowed to the neighbours of the best
LEAST_B = 1e-6  # tried beside 0
SMALLEST_NORM = 1e-12  # of an operator; one that is smaller counts as large
SMALLEST = 1e-300  # instead of a share of 0, by which b is divided
HALVINGS = 45  # of the interval that holds the largest value of a concave function


def information_upper_bound(
    walk: RandomWalk,
    pairs: Eigenpairs,
    k: int,
    *,
    lowest_ncut: float = 0.0,
    products: int = 120,
    seed: Seed = 0,
) -> float:
    """No partition into k clusters has more information than this.

    Where phi has a closed form, Pi^1/2 P Pi^-1/2 is symmetric and positive semidefinite with the eigenvalues
    1 - lambda_i, and the bound takes milliseconds; elsewhere its skew part and its smallest eigenvalue have
    to be bounded. Like the bound on the NCut it is proven up to rounding and the failure probability of
    Lanczos' method.

    Parameters
    ----------
    lowest_ncut : float
        A proven lower bound of the NCut. One above that of the eigenvalues can make this bound tighter; for
        two clusters it always does.
    products : int
        Products with each of the two operators; with more, the bound is a little tighter.
    """
    if k == 1:
        return 0.0
    most = np.clip(1.0 - pairs.lower[1:k], 0.0, 1.0)
    least = skew = 0.0
    if not walk.reversible:
        least = _below_zero(SymmetricPart(walk), products, seed)
        if k > 2:  # the non-zero values of a skew matrix come in pairs
            skew = _below_zero(SkewPart(walk), products, seed) * (k - 1 - (k - 1) % 2)
    if k == 2:
        found = two_clusters_bound(min(1.0 - lowest_ncut, float(most[0])), least)
    else:
        found = spectral_bound(most, k - 1.0 - lowest_ncut, least, skew)
    return min(found + k * ROUNDING, float(np.log(k)))


def bound_takes_no_time(walk: RandomWalk) -> bool:
    """Whether `information_upper_bound` takes at most about a tenth of a second."""
    return walk.reversible or (walk.backend.on_host and walk.hypergraph.gamma.nnz <= QUICK_UP_TO)


def two_clusters_bound(most: float, least: float) -> float:
    """The largest information of two clusters with F_12 = v_1 v_2 (1 - rho) and -least <= rho <= most.

    NCut = 1 - rho. With phi(x) = ((1 + x) ln(1 + x) + (1 - x) ln(1 - x)) / 2 it is phi(rho) for rho >= 0, at
    v_1 = v_2, and 2 phi(x) / (1 + x) for rho = -x, at v_1 = x v_2; both increase with |rho|.
    """
    most, least = (min(max(share, 0.0), 1.0) for share in (most, least))
    return max(_symmetric(most), 2 * _symmetric(least) / (1 + least))


def _symmetric(x: float) -> float:
    return float((1 + x) * np.log1p(x) + ((1 - x) * np.log1p(-x) if x < 1 else 0.0)) / 2


def spectral_bound(most: Floats, trace: float = np.inf, least: float = 0.0, skew: float = 0.0) -> float:
    """The bound by the eigenvalues of F_ij / sqrt(v_i v_j), without the 1 of sqrt(v).

    Those of its symmetric part are -least <= t_i <= most[i] with most in descending order; t, their sum, is
    at most `trace`; and the squares of the skew part add up to at most `skew`.
    """
    k = len(most) + 1
    trace = max(min(trace, float(most.sum())), -least * len(most))
    t, squares = _largest_squares(most, trace, least)
    t, squares = np.append(t, t[-1]), np.append(squares, squares[-1]) + skew
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(t[1:] > t[:-1], np.diff(squares) / np.diff(t), 0.0)
    low, high = ((1 + end) / k for end in (t[:-1], t[1:]))
    level = 1 + squares[:-1] - slope * (1 + t[:-1])  # 1 + N(t) <= level + slope (1 + t) on the piece
    return float(_over_b(k, level, slope, low, high).max())


def _largest_squares(most: Floats, highest: float, least: float) -> tuple[Floats, Floats]:
    """Values of t up to the highest, and N(t), the largest sum of the t_i^2; between two of them N is convex.

    The first values are as large as they may be, the last -least, and one is in between.
    """
    steps, shift = -(-PIECES // len(most)), least * len(most)
    ends = np.append(0.0, np.cumsum(most + least))  # of the sum of the t_i + least
    sums = (ends[:-1, None] + (most + least)[:, None] * np.arange(steps) / steps).ravel()
    sums = np.append(sums[sums < highest + shift], highest + shift)
    sums = np.unique(np.maximum(sums, shift - 1))  # no share of the flow inside a cluster is negative
    full = np.clip(np.searchsorted(ends, sums, side="right") - 1, 0, len(most) - 1)
    before = np.append(0.0, np.cumsum(np.square(most)))[full]
    rest = np.square(sums - ends[full] - least) + np.square(least) * (len(most) - 1 - full)
    return sums - shift, before + rest


def _over_b(k: int, level: Floats, slope: Floats, low: Floats, high: Floats) -> Floats:
    """Upper bounds of the information if 1 + N <= level + slope (1 + t), and low <= (1 + t) / k <= high.

    The arrays have an entry for each bound; each takes the best b found.
    """
    best = np.log(level + k * np.maximum(slope * low, slope * high))  # b = 0
    least, most = np.full(level.shape, LEAST_B), np.full(level.shape, 2.0 + float(np.log(k)))
    slope, ends = slope[:, None], (low[:, None], high[:, None])
    for _ in range(ZOOMS):
        b = np.geomspace(least, most, GRID, axis=1)
        values = b + np.log(level[:, None] + k * _largest_term(slope, b, *ends))
        places = values.argmin(axis=1)[:, None]
        best = np.minimum(best, np.take_along_axis(values, places, axis=1)[:, 0])
        least = np.take_along_axis(b, np.maximum(places - 1, 0), axis=1)[:, 0]
        most = np.take_along_axis(b, np.minimum(places + 1, GRID - 1), axis=1)[:, 0]
    return np.asarray(best)


def _largest_term(slope: Floats, b: Floats, low: Floats, high: Floats) -> Floats:
    """An upper bound of slope p - f(p) for low <= p <= high; the arrays are broadcast, b > 0, high > 0.

    The term is concave, because with s = b / p the second derivative of p^2 exp(-s) is exp(-s) (2 + 2 s +
    s^2) <= 2. So it is nowhere above its tangent at the p found, which is flat up to rounding, or at an end.
    """
    left, right, slope, b = np.broadcast_arrays(low, high, slope, b)
    for _ in range(HALVINGS):
        p = (left + right) / 2
        rising = _derivative(p, slope, b) > 0
        left, right = np.where(rising, p, left), np.where(rising, right, p)
    p = np.maximum((left + right) / 2, SMALLEST)
    change = _derivative(p, slope, b)
    return np.asarray(slope * p + p**2 * np.expm1(-b / p) + change * (np.where(change > 0, high, low) - p))


def _derivative(p: Floats, slope: Floats, b: Floats) -> Floats:
    """The derivative of slope p - p^2 (1 - exp(-b / p))."""
    return np.asarray(slope - 2 * p + (2 * p + b) * np.exp(-b / p))


@dataclass(frozen=True, eq=False)
class SymmetricPart(WalkOperator):
    """The scale times (A + A') / 2 - q q' with A = Pi^1/2 P Pi^-1/2 and q = sqrt(phi): 0 on q."""

    scale: float = 1.0

    def apply(self, block: Floats) -> Floats:
        """The image of a vector or of a block of columns."""
        root = along(np.sqrt(self.walk.stationary), block)
        known = root * ((root * block).sum(axis=0) / self.walk.stationary.sum())
        image: Floats = self.scale * (block - NormalizedLaplacian(self.walk).apply(block) - known)
        return image


@dataclass(frozen=True, eq=False)
class SkewPart(WalkOperator):
    """The scale times -K'K with K = (A - A') / 2: 0 on q."""

    scale: float = 1.0

    def apply(self, block: Floats) -> Floats:
        """The image of a vector or of a block of columns."""
        image: Floats = self.scale * self._half(self._half(block))  # K' = -K
        return image

    def _half(self, block: Floats) -> Floats:
        root = along(np.sqrt(self.walk.stationary), block)
        difference: Floats = root * self.walk.forward(block / root) - self.walk.adjoint(block * root) / root
        return difference / 2


def _below_zero(operator: SymmetricPart | SkewPart, products: int, seed: Seed) -> float:
    """How far below 0 the smallest eigenvalue of an operator (scale 1) is at most, proven as for the NCut."""
    if operator.size <= DENSE_UP_TO:
        values = np.linalg.eigvalsh(operator.apply(np.eye(operator.size)))
        return min(max(operator.size * ROUNDING - float(values[0]), 0.0), 1.0)
    walk, rng = operator.walk, random_generator(seed)
    known = zero_vectors(walk.backend, walk.stationary, walk.distribution.components, 1)
    vector = operator.normal(rng)
    norms = walk.backend.fetch(np.linalg.norm(operator.apply(vector)), np.linalg.norm(vector))
    scale = float(norms[1]) / max(float(norms[0]), SMALLEST_NORM)  # for Lanczos' tests of what is negligible
    floor = floor_beyond(replace(operator, scale=scale), known, 0.0, -np.inf, rng, products).value
    return min(max(ROUNDING - floor / scale, 0.0), 1.0)
