"""The configuration model: random hypergraphs with the same degrees and hyperedge sizes.

Every vertex keeps its number of hyperedges, and every hyperedge its size, weight and gammas, but the members
are shuffled. If successive hyperedges share no vertex and together hold nearly all vertices, they are the
values of one feature of a table; their members are shuffled among them only, so that no vertex gets two
values of a feature. In a mixture, the hyperedges and the neighbourhoods are shuffled apart.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.native import Kernel
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Booleans, Integers

NEARLY_ALL = 0.9  # share of the vertices that have a value of a feature
ROUNDS = 60  # of swaps that remove repeated members
FEW = 1e-4  # share of repeated members that may be left

_swap_repeated = Kernel(
    "swap_repeated", "integers", "integers", "integers", "int", "int", "int", "int", "int"
)


@dataclass(frozen=True, eq=False)
class ConfigurationModel:
    """The model of a hypergraph, from which any number of shuffled ones can be drawn."""

    hypergraph: Hypergraph

    @cached_property
    def features(self) -> list[tuple[int, int]]:
        """The ranges of hyperedges that are the values of one feature."""
        return _features(self.hypergraph)

    def draw(self, rng: np.random.Generator) -> Hypergraph:
        """The hypergraph with shuffled members.

        A repeated member of a hyperedge is swapped with another vertex; the few for which none is found
        become one member.
        """
        hypergraph = self.hypergraph
        gamma, n = hypergraph.gamma, hypergraph.n_vertices
        vertices = gamma.indices.astype(np.int64)
        free = np.ones(hypergraph.n_edges, dtype=bool)  # hyperedges that are not values of a feature
        for first, last in self.features:
            slots = slice(gamma.indptr[first], gamma.indptr[last])
            vertices[slots] = rng.permutation(vertices[slots])
            free[first:last] = False
        sizes = hypergraph.edge_sizes.astype(np.int64)
        edges = np.repeat(np.arange(hypergraph.n_edges), sizes)
        for group in _groups(hypergraph):
            chosen = free & group
            rest = chosen[edges]
            vertices[rest] = _shuffled_members(sizes[chosen], vertices[rest], n, rng)
        members, slots_used = np.unique(edges * n + vertices, return_index=True)
        matrix = sp.csr_array((gamma.data[slots_used], (members // n, members % n)), shape=gamma.shape)
        return replace(hypergraph, gamma=matrix)


def shuffled(hypergraph: Hypergraph, rng: np.random.Generator) -> Hypergraph:
    """One draw from the configuration model of a hypergraph."""
    return ConfigurationModel(hypergraph).draw(rng)


def _groups(hypergraph: Hypergraph) -> list[Booleans]:
    """Masks of the hyperedges that are shuffled together: all, or each group of a mixture."""
    if hypergraph.mixture is None:
        return [np.ones(hypergraph.n_edges, dtype=bool)]
    similar = hypergraph.mixture.neighborhoods(hypergraph.n_edges)
    return [~similar, similar]


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


def _shuffled_members(sizes: Integers, vertices: Integers, n: int, rng: np.random.Generator) -> Integers:
    """Shuffle the vertices, then swap until (nearly) no hyperedge of these sizes has a repeated member."""
    vertices = rng.permutation(vertices)
    indptr, edges = np.concatenate([[0], np.cumsum(sizes)]), np.repeat(np.arange(len(sizes)), sizes)
    limits = ROUNDS, int(FEW * len(vertices)), int(rng.integers(1 << 63))
    _swap_repeated(indptr, edges, vertices, len(sizes), n, *limits)
    return vertices
