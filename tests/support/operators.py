"""Operators whose eigenvalues are known, and searches on them that are interrupted."""

import numpy as np
import pytest

import hyperclus as hc
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


class StopError(Exception):
    """Raised by a listener to interrupt a search."""


def check_resumes(run, operator, folder, stops, repeated):
    """A search that is interrupted after so many products and resumed has the same result, to the last bit.

    `run` searches with checkpoints in a folder, `stops` returns the products given those of a whole search,
    and `repeated` is how many products a resumed search may make again.
    """
    vectors, steps, floor = run(folder / "whole")
    for stop in stops(steps):
        before = operator.products

        def listener(step, last=before + stop):
            if operator.products >= last:
                raise StopError

        with pytest.raises(StopError), hc.watching(listener):
            run(folder / str(stop))
        again, more, same = run(folder / str(stop))
        np.testing.assert_array_equal(again, vectors)
        assert (more, same) == (steps, floor)
        assert operator.products - before <= steps + repeated
