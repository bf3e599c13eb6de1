"""The same hypergraph but for who is with whom: what chance alone makes of its degrees and sizes.

Every vertex keeps its number of hyperedges and every hyperedge its size, weight and gammas, but the
vertices are dealt anew (the configuration model). Where hyperedges that follow each other share
no vertex and together hold nearly all of them, they are the values of one feature of a table, and stay
so: their vertices are dealt among them alone, so that no vertex gets two values.
"""

import numpy as np
import scipy.sparse as sp

from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Booleans, Integers

NEARLY_ALL = 0.9  # of the vertices have a value of a feature
ROUNDS = 60  # of swaps that take a vertex out of a hyperedge it is in twice


def shuffled(hypergraph: Hypergraph, rng: np.random.Generator) -> Hypergraph:
    """The hypergraph with its vertices dealt anew.

    A vertex that comes into a hyperedge twice changes places with another one; the few for which no
    place is found are taken once.

    >>> h = Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"], ["a", "c"]])
    >>> shuffled(h, np.random.default_rng(0)).edge_sizes.tolist()
    [2, 2, 2, 2, 2]
    """
    gamma, n = hypergraph.gamma, hypergraph.n_vertices
    vertices = gamma.indices.astype(np.int64)
    rest = np.ones(len(vertices), dtype=bool)
    for first, last in _features(hypergraph):
        slots = slice(gamma.indptr[first], gamma.indptr[last])
        vertices[slots] = rng.permutation(vertices[slots])
        rest[slots] = False
    keys = np.repeat(np.arange(hypergraph.n_edges) * n, hypergraph.edge_sizes)
    vertices[rest] = _dealt(keys[rest], vertices[rest], rng)
    members, slots_taken = np.unique(keys + vertices, return_index=True)
    matrix = sp.csr_array((gamma.data[slots_taken], (members // n, members % n)), shape=gamma.shape)
    return Hypergraph(matrix, hypergraph.edge_weights, hypergraph.vertex_ids, hypergraph.edge_ids)


def _features(hypergraph: Hypergraph) -> list[tuple[int, int]]:
    """The ranges of hyperedges that share no vertex and together hold nearly all of them."""
    gamma, sizes = hypergraph.gamma, hypergraph.edge_sizes
    by_vertex = np.argsort(gamma.indices, kind="stable")
    edges = np.repeat(np.arange(hypergraph.n_edges), sizes)
    before = np.full(len(edges), -1)  # the hyperedge of the same vertex before this one
    again = gamma.indices[by_vertex[1:]] == gamma.indices[by_vertex[:-1]]
    before[by_vertex[1:][again]] = edges[by_vertex[:-1][again]]
    latest = np.full(hypergraph.n_edges, -1)
    np.maximum.at(latest, edges, before)
    starts = [0]
    for edge, clash in enumerate(latest.tolist()):
        if clash >= starts[-1]:
            starts.append(edge)
    held = np.add.reduceat(sizes, starts)
    ranges = zip(starts, [*starts[1:], hypergraph.n_edges], strict=True)
    return [
        (first, last)
        for (first, last), count in zip(ranges, held, strict=True)
        if count >= NEARLY_ALL * hypergraph.n_vertices
    ]


def _dealt(keys: Integers, vertices: Integers, rng: np.random.Generator) -> Integers:
    """The vertices in random order, then swapped until no hyperedge has one twice, or nearly so."""
    vertices = rng.permutation(vertices)
    for _ in range(ROUNDS):
        members = keys + vertices
        order = np.argsort(members)
        ranked = members[order]
        doubles = order[1:][ranked[1:] == ranked[:-1]]
        if not len(doubles):
            break
        others, where = np.unique(rng.integers(len(vertices), size=len(doubles)), return_index=True)
        doubles = doubles[where]
        apart = ~np.isin(others, doubles)
        doubles, others = doubles[apart], others[apart]
        new = _absent(keys[doubles] + vertices[others], ranked)
        new &= _absent(keys[others] + vertices[doubles], ranked)
        doubles, others = doubles[new], others[new]
        vertices[doubles], vertices[others] = vertices[others], vertices[doubles]
    return vertices


def _absent(members: Integers, ranked: Integers) -> Booleans:
    places = np.minimum(np.searchsorted(ranked, members), len(ranked) - 1)
    return np.asarray(ranked[places] != members)
