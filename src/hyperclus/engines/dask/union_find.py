"""Loops that find connected components: a forest of vertices, in which each one points to a smaller one."""

import numpy as np

from hyperclus._runtime.jit import kernel
from hyperclus.typing import Codes, Integers


@kernel
def unite(edges: Codes, members: Codes, vertices: Integers, first: Integers, parent: Integers) -> None:
    """Join the members of each hyperedge; `first` is a member of each that was seen, or -1."""
    for place in range(len(edges)):
        vertex, edge = vertices[members[place]], edges[place]
        if first[edge] < 0:
            first[edge] = vertex
        else:
            other = first[edge]
            while parent[vertex] != vertex:
                parent[vertex] = parent[parent[vertex]]
                vertex = parent[vertex]
            while parent[other] != other:
                parent[other] = parent[parent[other]]
                other = parent[other]
            parent[max(vertex, other)] = min(vertex, other)


@kernel
def roots(parent: Integers) -> None:
    """Let each vertex point to the root of its tree."""
    for vertex in range(np.int64(len(parent))):
        parent[vertex] = parent[parent[vertex]]
