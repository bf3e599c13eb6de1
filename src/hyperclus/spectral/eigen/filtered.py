"""A Chebyshev filter moves the smallest eigenvalues away from the others, and apart.

Where many eigenvectors are wanted, Lanczos' method takes half as many vectors on the filter as on the
operator. A step takes DEGREE products, but making a vector orthogonal to hundreds of others costs more.
"""

from dataclasses import dataclass

import numpy as np

from hyperclus.engines.base import ArrayBackend
from hyperclus.errors import ConvergenceError
from hyperclus.spectral.laplacian import Operator
from hyperclus.typing import Floats

DEGREE = 3  # odd, so that eigenvalues above `high` go to the other end
MARGIN, MORE = 1.1, 10  # of `count` eigenvalues, this times as many plus 10 are expected below `low`


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """T_3((2 L - high - low) / (high - low)), with T_3(x) = 4 x^3 - 3 x, of an operator L.

    Eigenvalues below `low` become smaller than -1, in the same order and at least 18 / (high - low) times as
    far apart. Those from `low` to `high` stay between -1 and 1, and higher ones become larger than 1.
    """

    operator: Operator
    low: float
    high: float

    @classmethod
    def of(cls, operator: Operator, count: int, projected: Floats, beyond: float) -> "Filter":
        """Separate `count` eigenvalues, given T of Lanczos' method from a random vector, and the norm beyond.

        The squared first entries of the eigenvectors of T are the shares of all eigenvalues that are near
        those of T (Lin, Saad and Yang, 2016). The number of the r smallest errs by about sqrt(2 r).
        """
        values, vectors = np.linalg.eigh(projected)
        shares = np.square(vectors[0])
        below = operator.size * (np.cumsum(shares) - shares / 2)
        low = float(np.interp(MARGIN * count + MORE, below, values))
        return cls(operator, low, float(values[-1] + beyond * abs(vectors[-1, -1])))

    @property
    def size(self) -> int:
        """The length of the vectors."""
        return self.operator.size

    @property
    def backend(self) -> ArrayBackend:
        """Where the vectors live."""
        return self.operator.backend

    def normal(self, rng: np.random.Generator) -> Floats:
        """A vector of random numbers."""
        return self.operator.normal(rng)

    def apply(self, block: Floats) -> Floats:
        """The image of a vector or a block of columns, by the recurrence of the polynomials."""
        before, now = block, self._scaled(block)
        for _ in range(DEGREE - 1):
            following = self._scaled(now)
            following *= 2.0
            following -= before
            before, now = now, following
        return now

    def _scaled(self, block: Floats) -> Floats:
        image = self.operator.apply(block)
        image -= (self.high + self.low) / 2 * block
        image *= 2.0 / (self.high - self.low)
        return image

    def eigenvalues(self, images: Floats) -> Floats:
        """The eigenvalues of L, below `low`, that have these images."""
        highest = float(images.max(initial=-np.inf))
        if highest >= -1.0:
            raise ConvergenceError("the filter does not separate as many eigenvalues as wanted", highest)
        scaled = -np.cosh(np.arccosh(-images) / DEGREE)
        return np.asarray((self.high + self.low + scaled * (self.high - self.low)) / 2)
