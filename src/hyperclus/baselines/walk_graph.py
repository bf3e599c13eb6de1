"""The walk as a directed graph of its likely steps, and many walkers on it at once."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.factors import Factors
from hyperclus.types import Floats, Incidence, Integers

ENTRIES = 4_000_000  # of P that are held at a time
WALKERS = 20_000  # that go at the same time


def likely_steps(factors: Factors, threshold: float) -> Incidence:
    """The entries of P above a threshold, and of each row the largest off the diagonal, as an n x n array.

    P is formed some rows at a time and cut at once. A vertex that is alone in its hyperedges stays where
    it is.
    """
    h, picks = factors.hypergraph, factors.picks_by_vertex
    lengths = np.diff(picks.indptr)
    data = picks.data * (h.edge_weights / factors.edge_degrees)[picks.indices]
    rows = sp.csr_array(
        (data / np.repeat(factors.degrees, lengths), picks.indices, picks.indptr), picks.shape
    )
    upper = np.minimum(np.asarray(rows.astype(bool) @ h.edge_sizes, dtype=np.float64), h.n_vertices)
    bounds = np.searchsorted(np.cumsum(upper), np.arange(ENTRIES, upper.sum(), ENTRIES))
    blocks = pairwise(np.unique([0, *bounds.tolist(), h.n_vertices]).tolist())
    kept = [_cut(rows[first:last] @ h.gamma, first, threshold) for first, last in blocks]
    steps: Incidence = sp.vstack(kept, format="csr")
    steps.sort_indices()
    return steps


def _cut(block: Any, first: int, threshold: float) -> Incidence:
    """Some rows of P, the first of them of vertex `first`, without the small entries."""
    lengths = np.diff(block.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    others = np.where(block.indices == rows + first, -1.0, block.data)
    largest = np.flatnonzero(others == np.maximum.reduceat(others, block.indptr[:-1])[rows])
    keep = block.data > threshold
    keep[largest[np.unique(rows[largest], return_index=True)[1]]] = True  # of equal ones the first
    kept: Incidence = sp.csr_array((block.data[keep], (rows[keep], block.indices[keep])), shape=block.shape)
    return kept


@dataclass(frozen=True, slots=True, eq=False)
class Walkers:
    """Walks on a weighted directed graph with node2vec's return and in-out parameters.

    From v, coming from t, the next vertex u is drawn with weight(v, u) / p if u = t, weight(v, u) if
    there is an edge from u to t, else weight(v, u) / q (Grover and Leskovec, KDD 2016). p = q = 1 is
    the plain walk.
    """

    steps: Incidence
    p: float = 1.0
    q: float = 1.0
    _reached: Floats = field(init=False, repr=False)
    _edges: Integers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n, lengths = self.steps.shape[0], np.diff(self.steps.indptr)
        object.__setattr__(self, "_reached", np.concatenate([[0.0], np.cumsum(self.steps.data)]))
        rows = np.repeat(np.arange(n, dtype=np.int64), 0 if self.p == self.q == 1 else lengths)
        object.__setattr__(self, "_edges", rows * n + self.steps.indices[: len(rows)])

    def walks(self, per_vertex: int, length: int, rng: np.random.Generator) -> Iterator[Integers]:
        """Blocks of walks, one in each row; every vertex starts `per_vertex` of them, in random order."""
        n = self.steps.shape[0]
        for _ in range(per_vertex):
            starts = rng.permutation(n)
            for first in range(0, n, WALKERS):
                yield self._walked(starts[first : first + WALKERS], length, rng)

    def _walked(self, starts: Integers, length: int, rng: np.random.Generator) -> Integers:
        path = np.empty((len(starts), length), dtype=np.int64)
        path[:, 0] = starts
        for step in range(1, length):
            if step == 1 or self.p == self.q == 1:
                path[:, step] = self._next(path[:, step - 1], rng)
            else:
                path[:, step] = self._next_but(path[:, step - 1], path[:, step - 2], rng)
        return path

    def _next(self, at: Integers, rng: np.random.Generator) -> Integers:
        """One step of each walker, by weight alone."""
        first, last = self.steps.indptr[at], self.steps.indptr[at + 1]
        low, high = self._reached[first], self._reached[last]
        drawn = low + rng.random(len(at)) * (high - low)
        place = np.searchsorted(self._reached, drawn, side="right") - 1
        return np.asarray(self.steps.indices[np.clip(place, first, last - 1)], dtype=np.int64)

    def _next_but(self, at: Integers, before: Integers, rng: np.random.Generator) -> Integers:
        """One step of each walker that remembers where it was: proposals by weight, accepted by p and q."""
        chosen = np.empty_like(at)
        waiting = np.arange(len(at))
        most = max(1 / self.p, 1.0, 1 / self.q)
        while len(waiting):
            proposed, origin = self._next(at[waiting], rng), before[waiting]
            bias = np.where(self._linked(proposed, origin), 1.0, 1 / self.q)
            bias[proposed == origin] = 1 / self.p
            taken = rng.random(len(waiting)) * most < bias
            chosen[waiting[taken]] = proposed[taken]
            waiting = waiting[~taken]
        return chosen

    def _linked(self, tails: Integers, heads: Integers) -> Any:
        wanted = tails * self.steps.shape[0] + heads
        place = np.minimum(np.searchsorted(self._edges, wanted), len(self._edges) - 1)
        return self._edges[place] == wanted
