"""The configuration model: random hypergraphs with the same degrees and hyperedge sizes.

Every vertex keeps its number of hyperedges, and every hyperedge its size, weight and gammas, but the members
are shuffled. If successive hyperedges share no vertex and together hold nearly all vertices, they are the
values of one feature of a table; their members are shuffled among them only, so that no vertex gets two
values of a feature.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Booleans, Integers

NEARLY_ALL = 0.9  # share of the vertices that have a value of a feature
ROUNDS = 60  # of swaps that remove repeated members
FEW = 1e-4  # share of repeated members that may be left


def shuffled(hypergraph: Hypergraph, rng: np.random.Generator) -> Hypergraph:
    """Return the hypergraph with shuffled members.

    A repeated member of a hyperedge is swapped with another vertex; the few for which none is found become
    one member.
    """
    gamma, n = hypergraph.gamma, hypergraph.n_vertices
    vertices = gamma.indices.astype(np.int64)
    rest = np.ones(len(vertices), dtype=bool)
    for first, last in _features(hypergraph):
        slots = slice(gamma.indptr[first], gamma.indptr[last])
        vertices[slots] = rng.permutation(vertices[slots])
        rest[slots] = False
    keys = np.repeat(np.arange(hypergraph.n_edges) * n, hypergraph.edge_sizes)
    vertices[rest] = _shuffled_members(keys[rest], vertices[rest], rng)
    members, slots_used = np.unique(keys + vertices, return_index=True)
    matrix = sp.csr_array((gamma.data[slots_used], (members // n, members % n)), shape=gamma.shape)
    return replace(hypergraph, gamma=matrix)


def _features(hypergraph: Hypergraph) -> list[tuple[int, int]]:
    """Return the ranges of hyperedges that share no vertex and together hold nearly all vertices."""
    gamma, sizes = hypergraph.gamma, hypergraph.edge_sizes
    by_vertex = np.argsort(gamma.indices, kind="stable")
    edges = np.repeat(np.arange(hypergraph.n_edges), sizes)
    before = np.full(len(edges), -1)  # the previous hyperedge of the same vertex
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


def _shuffled_members(keys: Integers, vertices: Integers, rng: np.random.Generator) -> Integers:
    """Shuffle the vertices, then swap until (nearly) no hyperedge has a repeated member."""
    vertices = rng.permutation(vertices)
    for _ in range(ROUNDS):
        members = keys + vertices
        order = np.argsort(members)
        ranked = members[order]
        doubles = order[1:][ranked[1:] == ranked[:-1]]
        if len(doubles) <= FEW * len(vertices):
            break
        others, where = np.unique(rng.integers(len(vertices), size=len(doubles)), return_index=True)
        doubles = doubles[where]
        distinct = ~np.isin(others, doubles)
        doubles, others = doubles[distinct], others[distinct]
        new = _absent(keys[doubles] + vertices[others], ranked)
        new &= _absent(keys[others] + vertices[doubles], ranked)
        doubles, others = doubles[new], others[new]
        vertices[doubles], vertices[others] = vertices[others], vertices[doubles]
    return vertices


def _absent(members: Integers, ranked: Integers) -> Booleans:
    places = np.minimum(np.searchsorted(ranked, members), len(ranked) - 1)
    return np.asarray(ranked[places] != members)
