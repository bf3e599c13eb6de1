"""The graph of the likely steps of the walk, and many random walks on it at once."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.errors import InputError
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.typing import Codes, Floats, Incidence, Integers

MAX_STEPS = 200_000_000  # entries of the graph: about 5 GB
EQUAL = 1e-12  # entries of P whose relative difference is smaller are equal


def likely_steps(
    factors: TransitionFactors,
    threshold: float,
    rng: np.random.Generator,
    *,
    max_steps: int = MAX_STEPS,
    at_once: int = 4_000_000,
) -> Incidence:
    """The entries of P from a threshold on, and the largest entry off the diagonal of each row.

    P is formed and cut a few rows at a time, with about `at_once` entries. Of several largest entries one
    is drawn. A vertex that shares no hyperedge with another stays where it is.

    Raises
    ------
    InputError
        If more than `max_steps` entries would be kept.
    """
    h, source_weights = factors.hypergraph, factors.source_weights_by_vertex
    into = (
        source_weights.data
        * h.edge_weights[source_weights.indices]
        / np.repeat(factors.degrees, np.diff(source_weights.indptr))
    )
    first = sp.csr_array((into, source_weights.indices, source_weights.indptr), shape=source_weights.shape)
    out = h.gamma.data / np.repeat(factors.edge_degrees, h.edge_sizes)
    second = sp.csr_array((out, h.gamma.indices, h.gamma.indptr), shape=h.gamma.shape)
    upper = np.minimum(np.asarray(first.astype(bool) @ h.edge_sizes, dtype=np.float64), h.n_vertices)
    bounds = np.searchsorted(np.cumsum(upper), np.arange(at_once, upper.sum(), at_once))
    blocks, total = [], 0
    for start, end in pairwise(np.unique([0, *bounds.tolist(), h.n_vertices]).tolist()):
        blocks.append(_cut(first[start:end] @ second, start, threshold, rng))
        total += blocks[-1].nnz
        if total > max_steps:
            raise InputError(
                f"after {end:,} of {h.n_vertices:,} vertices, {total:,} steps have a probability of at least "
                f"{threshold:g}, too many for memory; raise the threshold"
            )
    steps: Incidence = sp.vstack(blocks, format="csr")
    return steps


def _cut(block: Any, first: int, threshold: float, rng: np.random.Generator) -> Incidence:
    """Some rows of P, starting with that of vertex `first`, without the small entries."""
    lengths = np.diff(block.indptr)
    rows = np.repeat(np.arange(len(lengths), dtype=block.indices.dtype), lengths)
    others = np.where(block.indices == rows + first, -1.0, block.data)
    keep = block.data >= threshold * (1 - EQUAL)
    largest = np.maximum.reduceat(others, block.indptr[:-1]) * (1 - EQUAL)
    largest[lengths == 1] = -1.0
    tied = np.flatnonzero(others >= largest[rows])
    tied = tied[np.lexsort((rng.random(len(tied)), rows[tied]))]
    keep[tied[np.unique(rows[tied], return_index=True)[1]]] = True
    kept: Incidence = sp.csr_array((block.data[keep], (rows[keep], block.indices[keep])), shape=block.shape)
    return kept


@dataclass(frozen=True, slots=True, eq=False)
class Walkers:
    """Walks on a weighted directed graph: from v to u with a probability proportional to the entry (v, u).

    A step is drawn by its position in the cumulative weight of the row. For a row with m entries, `_guide`
    has the entries that reach 0, 1/m, 2/m, ... of the weight; the right one is at most a few entries away.
    """

    steps: Incidence
    _reached: Floats = field(init=False, repr=False)
    _guide: Codes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        starts, lengths = self.steps.indptr[:-1], np.diff(self.steps.indptr)
        reached = np.concatenate([[0.0], np.cumsum(self.steps.data)])
        shares = (np.arange(self.steps.nnz) - np.repeat(starts, lengths)) / np.repeat(lengths, lengths)
        shares *= np.repeat(np.diff(reached[self.steps.indptr]), lengths)
        shares += np.repeat(reached[starts], lengths)
        guide = np.searchsorted(reached, shares, side="right") - 1
        object.__setattr__(self, "_reached", reached)
        object.__setattr__(self, "_guide", guide.astype(self.steps.indices.dtype))

    def walks(
        self, per_vertex: int, length: int, rng: np.random.Generator, at_once: int = 20_000
    ) -> Iterator[Integers]:
        """Blocks of up to `at_once` walks as rows; each vertex starts `per_vertex` walks, in random order."""
        n = self.steps.shape[0]
        for _ in range(per_vertex):
            starts = rng.permutation(n)
            for first in range(0, n, at_once):
                path = np.empty((length, len(starts[first : first + at_once])), dtype=np.int64)
                path[0] = starts[first : first + at_once]
                for step in range(1, length):
                    path[step] = self._next(path[step - 1], rng)
                yield path.T

    def _next(self, at: Integers, rng: np.random.Generator) -> Integers:
        """Draw the next vertex of each walk."""
        first, last = self.steps.indptr[at], self.steps.indptr[at + 1] - 1
        low, high = self._reached[first], self._reached[last + 1]
        share = rng.random(len(at))
        drawn = low + share * (high - low)
        near = first + (share * (last - first + 1)).astype(np.int64)
        place = np.clip(self._guide[np.minimum(near, last)], first, last)
        short = np.flatnonzero((place < last) & (self._reached[place + 1] <= drawn))
        while len(short):
            place[short] += 1
            short = short[(place[short] < last[short]) & (self._reached[place[short] + 1] <= drawn[short])]
        return np.asarray(self.steps.indices[place], dtype=np.int64)
