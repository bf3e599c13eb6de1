"""How much the hyperedges of a vertex overlap elsewhere, beyond what random hyperedges would.

Hyperedges that a vertex shares with a reason tend to share other vertices as well. This does not need
clusters, and it is the only trace of an outlier where vertices have few hyperedges.
"""

from functools import partial
from itertools import pairwise

import numpy as np

from hyperclus._runtime.native import Kernel
from hyperclus._runtime.threads import available_threads, in_order, in_parallel
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Codes, Floats, Integers

MOST = 8  # hyperedges of a vertex that are compared: the smallest, which say most
PRIOR = 0.3  # vertices added to the shared ones and to the expected ones
PARTS = 4  # of the hyperedges, which threads share
PART_FROM = 100_000  # pairs that pay for a thread
LISTS_FROM = 1_000_000  # incidences that pay for threads

_list_smallest = Kernel(
    *("list_smallest", *("indices",) * 3, "int", "int", "int", "int", "indices", "codes", "integers")
)
_fill_lists = Kernel("fill_lists", "indices", "codes", *("int",) * 4, "integers", "indices")
_add_lifts = Kernel(
    *("add_lifts", "integers", "indices", "indices", "int", "int", "int", "float", "int", "int", "floats")
)


def overlap(h: Hypergraph, most: int = MOST, parts: int = PARTS) -> Floats:
    """How far the overlap of the hyperedges of each vertex is above half of the usual one, (n,).

    Each vertex v lists its q smallest hyperedges, at most `most`. For two of these,

        lift(e, f) = ln((|e and f| - 1 + 0.3) / ((|e| - 1)(|f| - 1) / n + 0.3)),

    where sizes count the vertices that list the hyperedges, and v itself is left out. The result is
    q (mean lift - usual / 2), where usual is the mean of the lifts over all vertices, weighted by q. It is 0
    for a vertex with one hyperedge. Time and memory do not depend on the sizes of the hyperedges: at most
    most^2 / 2 pairs per vertex are counted, on up to `parts` threads.

    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e"]])
    >>> overlap(h).round(2).tolist()
    [1.27, 1.27, -1.66, -0.99, 0.0]
    """
    n, (listed, counts, ends, vertices) = h.n_vertices, _lists(h, most)
    pairs = int((counts.astype(np.int64) * (counts - 1)).sum()) // 2
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], max(min(pairs // PART_FROM, parts), 1) + 1))

    def lifts(part: tuple[int, int]) -> Floats:
        found = np.zeros(n)
        _add_lifts(ends, vertices, listed, n, most, h.n_edges, PRIOR, *part, found)
        return found

    sums = np.zeros(n)
    for some in in_order(lifts, pairwise([0, *cuts[1:-1].tolist(), h.n_edges])):
        sums += some
    several = np.where(counts > 1, counts, 0)
    totals = 2.0 * sums / np.maximum(counts - 1, 1)
    return np.asarray(totals - several * (totals.sum() / max(several.sum(), 1)) / 2)


def _lists(h: Hypergraph, most: int) -> tuple[Codes, Codes, Integers, Codes]:
    """The smallest hyperedges of each vertex by rank in size, their number, and the vertices of each rank."""
    gamma, n, sizes = h.gamma, h.n_vertices, h.edge_sizes
    order = np.argsort(sizes.astype(np.min_scalar_type(int(sizes.max(initial=0)))), kind="stable")
    order = order.astype(gamma.indices.dtype)
    listed, counts = np.full((n, most), -1, dtype=order.dtype), np.zeros(n, dtype=np.int32)

    def list_them(part: tuple[int, int]) -> Integers:
        found = np.zeros(h.n_edges, dtype=np.int64)
        _list_smallest(gamma.indptr, gamma.indices, order, h.n_edges, most, *part, listed, counts, found)
        return found

    threads = available_threads() if gamma.nnz >= LISTS_FROM else 1
    cuts = np.linspace(0, n, threads + 1).astype(np.int64).tolist()
    of_rank = sum(in_order(list_them, pairwise(cuts)), start=np.zeros(1, dtype=np.int64))
    ends = np.append(0, np.cumsum(of_rank))
    vertices, places = np.empty(ends[-1], dtype=order.dtype), ends[:-1].copy()
    halves = np.searchsorted(ends, np.linspace(0, ends[-1], threads + 1)[1:-1]).tolist()
    in_parallel([
        partial(_fill_lists, listed, counts, n, most, *part, places, vertices)
        for part in pairwise([0, *halves, h.n_edges])
    ])  # fmt: skip
    return listed, counts, ends, vertices
