"""Blocks of incidences by vertex or by hyperedge: temporary arrays stay small, and threads share the work."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import BLOCK, blocks
from hyperclus._runtime.native import Kind
from hyperclus._runtime.threads import in_order
from hyperclus.engines.cpu_blocks import BlockProducts
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Codes, Floats, Incidence, Integers

PARTS = 4  # of the hyperedges, which threads share
EDGE_LISTS: tuple[Kind, ...] = ("indices", "indices", "floats", "floats", "bool")  # kinds of `edge_lists`


class VertexBlock(NamedTuple):
    """The incidences of some vertices, in the order of their hyperedges; gamma is empty if all are 1."""

    rows: slice  # the vertices
    edges: Codes
    vertices: Codes
    gamma: Floats
    sources: Floats | None = None  # the source weights, unless they are 1 or gamma

    def matrix(self, n_edges: int) -> Incidence:
        """Rows of gamma by vertex."""
        gamma = self.gamma if len(self.gamma) else np.ones(len(self.edges))
        places, shape = (
            (self.vertices - self.rows.start, self.edges),
            (self.rows.stop - self.rows.start, n_edges),
        )
        triples = sp.coo_array((gamma, places), shape=shape)
        triples.has_canonical_format = True  # there are no duplicates to sum
        return triples.tocsr()


def simple_sources(gamma: Floats, alpha: float) -> Floats:
    """Source weights of some incidences that are all 1 or gamma, at alpha 0 or 1."""
    return gamma if alpha == 1 else np.ones(len(gamma))


def sources_of(walk: RandomWalk, gamma: Incidence, rows: Integers, *, by_vertex: bool) -> Floats:
    """Source weights of the incidences of some vertices or hyperedges, whose rows of gamma are given."""
    lists = walk.factors.lists
    if lists.simple:
        return simple_sources(gamma.data, walk.alpha)
    return (lists.source_weights_by_vertex if by_vertex else lists.source_weights)[rows].data


def edge_lists(walk: RandomWalk) -> tuple[Codes, Codes, Floats, Floats, bool]:
    """The incidences by hyperedge as kernels read them.

    Pointers, members, gamma, the source weights, and whether these are not all 1.
    """
    gamma, lists = walk.hypergraph.gamma, walk.factors.lists
    weights = gamma.data if lists.simple else lists.source_weights.data
    return gamma.indptr, gamma.indices, gamma.data, weights, not lists.ones


def edge_parts(indptr: Codes, parts: int = PARTS, entries: int = BLOCK) -> Iterator[slice]:
    """Ranges of rows for threads, with about equally many entries; few rows are one part.

    Sums over the parts do not depend on the number of threads.
    """
    count = max(min(parts, int(indptr[-1]) // entries), 1)
    inner = np.searchsorted(indptr, np.linspace(0, indptr[-1], count + 1)[1:-1]).tolist()
    return (slice(*ends) for ends in pairwise([0, *inner, len(indptr) - 1]))


def row_blocks(
    indptr: Codes, max_entries: int, max_rows: int, part: slice | None = None
) -> Iterator[tuple[slice, slice, Codes]]:
    """Yield blocks of rows of a sparse matrix: the rows, their entries, and the number of entries per row.

    >>> [(rows.start, rows.stop) for rows, _, _ in row_blocks(np.array([0, 3, 4, 9, 10]), 4, 2)]
    [(0, 2), (2, 3), (3, 4)]
    """
    first, end = (0, len(indptr) - 1) if part is None else (part.start, part.stop)
    while first < end:
        last = int(np.searchsorted(indptr, indptr[first] + max_entries, side="right")) - 1
        last = min(max(last, first + 1), first + max_rows, end)
        entries = slice(int(indptr[first]), int(indptr[last]))
        yield slice(first, last), entries, np.diff(indptr[first : last + 1])
        first = last


def vertex_blocks(walk: RandomWalk, entries: int = BLOCK, most: int | None = None) -> Iterator[VertexBlock]:
    """Yield the incidences of blocks of vertices, at most this number of them.

    Products that hold the incidences in blocks of vertices need no copy of all incidences for that, unless
    their blocks have too many vertices; otherwise the blocks have about this number of entries.
    """
    products, n = walk.factors.products, walk.hypergraph.n_vertices
    most = n if most is None else most
    if not isinstance(products, BlockProducts) or n > most * (len(products.bounds) // products.n_parts):
        lists, by_vertex = walk.factors.lists, walk.factors.lists.gamma_by_vertex
        for rows, some, lengths in row_blocks(by_vertex.indptr, entries, most):
            vertices = np.repeat(np.arange(rows.start, rows.stop, dtype=by_vertex.indices.dtype), lengths)
            sources = None if lists.simple else lists.source_weights_by_vertex.data[some]
            yield VertexBlock(rows, by_vertex.indices[some], vertices, by_vertex.data[some], sources)
        return
    first = 0
    for start, stop in pairwise(products.bounds[:: products.n_parts].tolist()):
        if start < stop:
            last = int(products.vertices[start:stop].max()) + 1
            gamma = products.gamma[start:stop]
            yield VertexBlock(
                slice(first, last), products.edges[start:stop], products.vertices[start:stop], gamma
            )
            first = last


def lists_of(walk: RandomWalk, vertices: Integers) -> Incidence:
    """Rows of gamma by vertex, of few vertices, in one pass over all incidences."""
    gamma, n = walk.hypergraph.gamma, walk.hypergraph.n_vertices
    if 2 * len(vertices) > n:
        return walk.factors.lists.gamma_by_vertex[vertices]
    number = np.full(n, -1, dtype=gamma.indices.dtype)
    number[vertices] = np.arange(len(vertices))

    def chosen(entries: slice) -> tuple[Codes, Codes]:
        rows = number[gamma.indices[entries]]
        found = np.flatnonzero(rows >= 0)
        return rows[found], found + entries.start

    found = list(in_order(chosen, blocks(gamma.nnz)))
    rows, places = (np.concatenate(some) for some in zip(*found, strict=True))
    edges = (np.searchsorted(gamma.indptr, places, side="right") - 1).astype(rows.dtype)
    triples = sp.coo_array((gamma.data[places], (rows, edges)), shape=(len(vertices), gamma.shape[0]))
    triples.has_canonical_format = True  # there are no duplicates to sum
    return triples.tocsr()
