"""Chunk-wise kernels of lazy expressions: functions of the arrays of some rows."""

from typing import Any

import numpy as np

from hyperclus.engines.base import nearest_centre

BINS = 4096  # of a histogram
ODD = 0x9E3779B97F4A7C15  # of SplitMix64: its multiples are far apart, modulo 2^64


def mixed(values: Any, seed: int = 0) -> Any:
    """Hash integers to bits that look random (the last step of SplitMix64 by Steele et al.)."""
    values = values + np.uint64(seed * ODD % 2**64)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def normal(seed: int, each: int, first: int, last: int) -> Any:
    """Normal numbers of some rows, from one generator for every `each` rows."""
    groups = range(first // each, -(-last // each))
    drawn = [np.random.default_rng((seed, group)).standard_normal(each) for group in groups]
    return np.concatenate(drawn)[first - groups[0] * each :][: last - first]


def first_only(first: int, last: int) -> Any:
    """1 for the first vertex, 0 for the others."""
    return (np.arange(first, last) == 0).astype(np.float64)


def random_half(seed: int, first: int, last: int) -> Any:
    """A mask with about half of the rows."""
    return mixed(np.arange(first, last, dtype=np.uint64), seed) >> np.uint64(63) == 0


def sampled(factor: float, seed: int, rows: Any, masses: Any, *columns: Any) -> Any:
    """Rows sampled in proportion to their mass, each preceded by its weight."""
    probabilities = np.minimum(factor * masses, 1.0)
    numbers = mixed(rows.astype(np.uint64), seed)
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


def product(small: Any, *vectors: Any) -> Any:
    """Combinations of the vectors, one at a time: stacking them would copy them."""
    from scipy.linalg.blas import daxpy

    rows = np.zeros((len(small), len(vectors[0])))
    for factors, vector in zip(small.T, vectors, strict=True):
        for row, factor in zip(rows, factors, strict=True):
            daxpy(vector, row, a=factor)
    return rows


def gram(count: int, shape: tuple[int, ...], *vectors: Any) -> Any:
    """The inner products of the first `count` vectors with the others."""
    found = [[np.dot(one, other) for other in vectors[count:]] for one in vectors[:count]]
    return np.array(found, dtype=np.float64).reshape(shape)


def first_rows(count: int, labels: Any, rows: Any) -> Any:
    """The first row of each label; infinite if there is none."""
    first = np.full(count, np.inf)
    first[labels[::-1]] = rows[::-1]
    return first


def largest(values: Any) -> Any:
    return values.max(initial=-np.inf) if values.dtype.kind == "f" else values.max()


def smallest(values: Any) -> Any:
    return values.min(initial=np.inf) if values.dtype.kind == "f" else values.min()


def extremes(values: Any) -> Any:
    """The largest value, and the largest of the other sign."""
    return np.array([values.max(initial=-np.inf), -values.min(initial=np.inf)])
