"""The sequential information bottleneck of Slonim, Friedman and Tishby (SIGIR 2002), for comparison.

Every vertex x has the same weight 1/n and the distribution p(y | x) of its incidences on the hyperedges y.
From random clusters T, one vertex at a time is taken out and put where I(T; Y) is largest, until a pass moves
few vertices. The best of several starts counts.
"""

import numpy as np
from scipy import sparse

try:
    from numba import njit
except ImportError:  # plain Python is fast enough for the tests

    def njit(function):  # type: ignore[no-untyped-def]
        """Leave a function as it is."""
        return function


STARTS = 5
PASSES = 30
FEW = 1e-3  # share of the vertices that a last pass moves at most


def labels(incidences: sparse.csr_array, k: int, seed: int, starts: int = STARTS) -> np.ndarray:
    """Clusters with the largest I(T; Y) among those that the starts lead to."""
    rng = np.random.default_rng(seed)
    n, n_edges = incidences.shape
    shares = incidences.data / np.repeat(incidences.sum(axis=1) * n, np.diff(incidences.indptr))
    best, most = np.zeros(n, dtype=np.int64), -np.inf
    for _ in range(starts):
        found = rng.permutation(np.arange(n) % k)
        joint = np.zeros((n_edges, k))
        np.add.at(joint, (incidences.indices, np.repeat(found, np.diff(incidences.indptr))), shares)
        for _ in range(PASSES):
            moved = _pass(incidences.indptr, incidences.indices, shares, found, joint, rng.permutation(n))
            if moved <= FEW * n:
                break
        reached = information(joint)
        if reached > most:
            best, most = found, reached
    return best


def information(joint: np.ndarray) -> float:
    """I(T; Y) in nats of the joint distribution (hyperedges by clusters)."""

    def entropy(shares: np.ndarray) -> float:
        positive = shares[shares > 0]
        return float(-(positive * np.log(positive)).sum())

    return entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint.ravel())


@njit
def _xlogx(x: float) -> float:
    return x * np.log(x) if x > 0 else 0.0


@njit
def _pass(indptr, indices, shares, found, joint, order):  # type: ignore[no-untyped-def]
    """Move each vertex, in this order, where the information is largest; return how many moved."""
    n, k = len(found), joint.shape[1]
    volumes, sizes = joint.sum(axis=0), np.zeros(k, dtype=np.int64)
    terms = np.empty_like(joint)  # x log x of the joint distribution, half of the logarithms
    for row in range(len(joint)):
        for cluster in range(k):
            terms[row, cluster] = _xlogx(joint[row, cluster])
    for label in found:
        sizes[label] += 1
    gains, moved = np.empty(k), 0
    for vertex in order:
        old = found[vertex]
        if sizes[old] == 1:
            continue
        entries = range(indptr[vertex], indptr[vertex + 1])
        volumes[old] -= 1.0 / n
        for cluster in range(k):
            gains[cluster] = _xlogx(volumes[cluster]) - _xlogx(volumes[cluster] + 1.0 / n)
        for entry in entries:
            row, share = indices[entry], shares[entry]
            joint[row, old] = max(joint[row, old] - share, 0.0)
            terms[row, old] = _xlogx(joint[row, old])
            for cluster in range(k):
                gains[cluster] += _xlogx(joint[row, cluster] + share) - terms[row, cluster]
        new = int(np.argmax(gains))
        volumes[new] += 1.0 / n
        for entry in entries:
            joint[indices[entry], new] += shares[entry]
            terms[indices[entry], new] = _xlogx(joint[indices[entry], new])
        sizes[old] -= 1
        sizes[new] += 1
        found[vertex] = new
        moved += new != old
    return moved
