"""Chunk-wise kernels of lazy expressions: functions of the arrays of some rows."""

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from hyperclus.engines.base import nearest_centre

BINS = 4096  # of a histogram
ODD = 0x9E3779B97F4A7C15  # of SplitMix64: its multiples are far apart, modulo 2^64


@cache
def blas(name: str) -> Any:
    """A BLAS routine, imported when it is first needed."""
    return getattr(import_module("scipy.linalg.blas"), name)


class RandomHalf:
    """A mask with about half of the rows."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, first: int, last: int) -> Any:
        """The mask of some rows."""
        rows = np.arange(first, last, dtype=np.uint64) + np.uint64(self.seed * ODD % 2**64)
        return mixed(rows) >> np.uint64(63) == 0


def mixed(values: Any) -> Any:
    """Hash integers to bits that look random (the last step of SplitMix64 by Steele et al.)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def sampled(factor: float, seed: int, rows: Any, masses: Any, *columns: Any) -> Any:
    """Rows sampled in proportion to their mass, each preceded by its weight."""
    probabilities = np.minimum(factor * masses, 1.0)
    numbers = mixed(rows.astype(np.uint64) + np.uint64(seed * ODD % 2**64))
    chosen = np.flatnonzero((numbers >> np.uint64(11)) * 2.0**-53 < probabilities)
    weights = masses[chosen] / probabilities[chosen]
    return np.column_stack([weights, *(column[chosen] for column in columns)])


def nearest(centres: Any, *columns: Any) -> Any:
    """For each row the number of the nearest centre."""
    return nearest_centre(np.column_stack(columns), centres)


def histograms(edges: Any, values: Any, masses: Any) -> Any:
    """For each pair of ends the mass in each of BINS bins between them."""
    counts = np.empty((len(edges), BINS))
    for row, (low, high) in enumerate(edges):
        if row and (edges[row] == edges[row - 1]).all():
            counts[row] = counts[row - 1]
            continue
        inside = (values >= low) & (values <= high)
        ends = np.linspace(low, high, BINS + 1)  # some are equal if they differ by less than rounding errors
        places = np.minimum(np.searchsorted(ends, values[inside], "right") - 1, BINS - 1)
        counts[row] = np.bincount(places, masses[inside], BINS)
    return counts


def float_mask(mask: Any) -> Any:
    """1 where it is true, else 0."""
    return np.asarray(mask, dtype=np.float64)


def least_among(mask: Any, values: Any) -> Any:
    """The smallest value where a mask is true."""
    return np.where(mask, values, np.inf).min(initial=np.inf)


def taken(table: Any, codes: Any) -> Any:
    """The entries of a table at these positions."""
    return table[codes]


def as_type(values: Any, kind: Any) -> Any:
    return np.asarray(values).astype(kind, copy=False)


def filled(values: Any, value: Any, kind: Any) -> Any:
    return np.full(len(values), value, dtype=kind)


def product(small: Any, *vectors: Any) -> Any:
    """Combinations of the vectors, one at a time: stacking them would copy them."""
    axpy = blas("daxpy")
    rows = np.zeros((len(small), len(vectors[0])))
    for factors, vector in zip(small.T, vectors, strict=True):
        for row, factor in zip(rows, factors, strict=True):
            axpy(vector, row, a=factor)
    return rows


def row(rows: Any, number: int) -> Any:
    """One of several combinations."""
    return rows[number]


def gram(count: int, shape: tuple[int, ...], *vectors: Any) -> Any:
    """The inner products of the first `count` vectors with the others."""
    found = [[np.dot(one, other) for other in vectors[count:]] for one in vectors[:count]]
    return np.array(found, dtype=np.float64).reshape(shape)


def counts(length: int, codes: Any, weights: Any = None) -> Any:
    """How often each code occurs, or its total weight."""
    return np.bincount(codes, weights, length).astype(np.float64)


def first_rows(count: int, labels: Any, rows: Any) -> Any:
    """The first row of each label; infinite if there is none."""
    first = np.full(count, np.inf)
    first[labels[::-1]] = rows[::-1]
    return first


def square(values: Any) -> Any:
    return values @ values


def root(total: Any) -> float:
    return float(np.sqrt(total))


def largest(values: Any) -> Any:
    return values.max(initial=-np.inf) if values.dtype.kind == "f" else values.max()


def smallest(values: Any) -> Any:
    return values.min(initial=np.inf) if values.dtype.kind == "f" else values.min()


def extremes(values: Any) -> Any:
    """The largest value, and the largest of the other sign."""
    return np.array([values.max(initial=-np.inf), -values.min(initial=np.inf)])


def sign_of(extremes: Any) -> float:
    """The sign of the larger one of two extremes."""
    return 1.0 if extremes[0] >= extremes[1] else -1.0


def all_true(values: Any) -> int:
    return int(np.all(values))


def any_true(values: Any) -> int:
    return int(np.any(values))
