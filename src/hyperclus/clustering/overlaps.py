"""How much the hyperedges of a vertex overlap elsewhere, beyond what random hyperedges would.

Hyperedges that a vertex shares with a reason tend to share other vertices as well. This does not need
clusters, and it is the only trace of an outlier where vertices have few hyperedges.
"""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Floats, Integers

MOST = 8  # hyperedges of a vertex that are compared: the smallest, which say most
PRIOR = 0.3  # vertices added to the shared ones and to the expected ones
PAIRS = 1 << 23  # pairs that are sorted at a time


def overlap(h: Hypergraph, most: int = MOST, pairs: int = PAIRS) -> Floats:
    """How far the overlap of the hyperedges of each vertex is above half of the usual one, (n,).

    Each vertex v lists its q smallest hyperedges, at most `most`. For two of these,

        lift(e, f) = ln((|e and f| - 1 + 0.3) / ((|e| - 1)(|f| - 1) / n + 0.3)),

    where sizes count the vertices that list the hyperedges, and v itself is left out. The result is
    q (mean lift - usual / 2), where usual is the mean of the lifts over all vertices, weighted by q. It is 0
    for a vertex with one hyperedge. Time and memory do not depend on the sizes of the hyperedges: at most
    most^2 / 2 pairs per vertex are sorted, about `pairs` of these at a time.

    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e"]])
    >>> overlap(h).round(2).tolist()
    [1.27, 1.27, -1.66, -0.99, 0.0]
    """
    listed = _smallest(h, most)
    n, counts = h.n_vertices, (listed >= 0).sum(axis=0)
    sizes = np.bincount(listed[listed >= 0], minlength=h.n_edges)
    sums = np.zeros(n)
    for vertices, keys in _pairs(listed, h.n_edges, pairs):
        order = np.argsort(keys)
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        found, shared = keys[starts], np.diff(starts, append=len(keys))
        expected = (sizes[found // h.n_edges] - 1.0) * (sizes[found % h.n_edges] - 1.0) / n
        lifts = np.log((shared - 1 + PRIOR) / (expected + PRIOR))
        sums += np.bincount(vertices[order], weights=np.repeat(lifts, shared), minlength=n)
    several = np.where(counts > 1, counts, 0)
    totals = 2.0 * sums / np.maximum(counts - 1, 1)
    return np.asarray(totals - several * (totals.sum() / max(several.sum(), 1)) / 2)


def _smallest(h: Hypergraph, most: int) -> Integers:
    """The smallest hyperedges of each vertex, by rank in size, ascending, (most, n); -1 after the last."""
    ranks = np.empty(h.n_edges, dtype=h.gamma.indices.dtype)
    ranks[np.argsort(h.edge_sizes, kind="stable")] = np.arange(h.n_edges)
    edges = np.repeat(ranks, h.edge_sizes)
    shape = h.n_vertices, h.n_edges
    lists = sp.coo_array((np.ones(len(edges), dtype=np.int8), (h.gamma.indices, edges)), shape=shape).tocsr()
    lists.sort_indices()
    degrees = np.diff(lists.indptr)
    positions = np.arange(len(edges)) - np.repeat(lists.indptr[:-1], degrees)
    kept = positions < most
    listed = np.full((most, h.n_vertices), -1, dtype=np.int64)
    listed[positions[kept], np.repeat(np.arange(h.n_vertices), degrees)[kept]] = lists.indices[kept]
    return listed


def _pairs(listed: Integers, n_edges: int, pairs: int) -> Iterator[tuple[Integers, NDArray[np.int64]]]:
    """Vertices and their pairs of hyperedges as numbers; equal pairs come at the same time."""
    counts = (listed >= 0).sum(axis=0)
    parts = int((counts * (counts - 1) // 2).sum()) // pairs + 1
    part_of = listed % parts
    for part in range(parts):
        vertices, keys = [], []
        for earlier in range(len(listed) - 1):
            some = np.flatnonzero((part_of[earlier] == part) & (counts > earlier + 1))
            for later in range(earlier + 1, len(listed)):
                some = some[listed[later, some] >= 0]
                vertices.append(some)
                keys.append(listed[earlier, some] * n_edges + listed[later, some])
        yield np.concatenate(vertices), np.concatenate(keys)
