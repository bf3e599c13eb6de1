"""Operators whose eigenvalues are known."""

import numpy as np

from hyperclus.engines.arrays import NUMPY


class Diagonal:
    """A diagonal matrix as an operator, which counts its products."""

    backend = NUMPY

    def __init__(self, values):
        self.values, self.products = np.asarray(values, dtype=float), 0

    @property
    def size(self):
        return len(self.values)

    def apply(self, block):
        self.products += 1
        return (self.values * block.T).T

    def normal(self, rng):
        return rng.normal(size=self.size)
