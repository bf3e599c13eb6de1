"""Compiled loops behind the products of a large walk: sums along incidences that are sorted into blocks.

Three arrays hold the hyperedge, the vertex and the gamma of each incidence. Sums go `to` one side, `of`
values on the other. One of the two sides ascends, the other stays within a block that fits the cache, so
neither waits for memory. Pairs of values, for both halves of a symmetrized product, are stored next to each
other: the first is weighted by gamma, the second is not.
"""

import numpy as np

from hyperclus._runtime.jit import kernel
from hyperclus.typing import Codes, Floats, Integers

SPAN = 12  # bits: a block consists of spans of 4096 vertices


@kernel
def count(indptr: Codes, members: Codes, first: int, last: int, counts: Integers) -> None:
    """Add the incidences of some hyperedges to the counts of the spans of their vertices."""
    for position in range(np.uint64(indptr[first]), np.uint64(indptr[last])):
        counts[members[position] >> SPAN] += 1


@kernel
def fill(
    csr: tuple[Codes, Codes, Floats],
    block_of: Integers,
    first: int,
    last: int,
    places: Integers,
    filled: tuple[Codes, Codes, Floats],
) -> None:
    """Copy the incidences of some hyperedges to their blocks; `places` is the next position of each."""
    indptr, members, gamma = csr
    edges, vertices, weights = filled
    for edge in range(first, last):
        for position in range(np.uint64(indptr[edge]), np.uint64(indptr[edge + 1])):
            block = block_of[members[position] >> SPAN]
            place = places[block]
            edges[place] = edge
            vertices[place] = members[position]
            if len(weights):
                weights[place] = gamma[position]
            places[block] = place + 1


@kernel
def sums(
    to: Codes, of: Codes, gamma: Floats, values: Floats, out: Floats, in_runs: bool, first: int, last: int
) -> None:
    """out(to) += gamma values(of), of at least one incidence; if gamma is empty, all are 1.

    With `in_runs`, consecutive incidences with the same target are summed first.
    """
    weighted = len(gamma) > 0
    total, current = 0.0, np.uint64(to[first])
    for place in range(np.uint64(first), np.uint64(last)):
        target = np.uint64(to[place])
        if not in_runs or target != current:
            out[current] += total
            total, current = 0.0, target
        value = values[np.uint64(of[place])]
        total += gamma[place] * value if weighted else value
    out[current] += total


@kernel
def pairs(
    to: Codes, of: Codes, gamma: Floats, values: Floats, out: Floats, in_runs: bool, first: int, last: int
) -> None:
    """out(to) += (gamma values(of, 0), values(of, 1)) likewise; values and out are flat, two to a side."""
    one = np.uint64(1)
    left, right, current = 0.0, 0.0, np.uint64(to[first]) << one
    for place in range(np.uint64(first), np.uint64(last)):
        source, target = np.uint64(of[place]) << one, np.uint64(to[place]) << one
        if not in_runs or target != current:
            out[current] += left
            out[current + one] += right
            left, right, current = 0.0, 0.0, target
        left += gamma[place] * values[source]
        right += values[source + one]
    out[current] += left
    out[current + one] += right


@kernel
def spread(vector: Floats, left: Floats, right: Floats, values: Floats, first: int, last: int) -> None:
    """Pairs (x left, x right)."""
    for place in range(first, last):
        values[2 * place] = vector[place] * left[place]
        values[2 * place + 1] = vector[place] * right[place]


@kernel
def cross(values: Floats, factors: Floats, first: int, last: int) -> None:
    """Pairs (x, y) become (y f, x f)."""
    for place in range(first, last):
        left = values[2 * place]
        values[2 * place] = values[2 * place + 1] * factors[place]
        values[2 * place + 1] = left * factors[place]


@kernel
def join(values: Floats, left: Floats, right: Floats, out: Floats, first: int, last: int) -> None:
    """Pairs (x, y) become x left + y right."""
    for place in range(first, last):
        out[place] = values[2 * place] * left[place] + values[2 * place + 1] * right[place]


@kernel
def least_share(
    incidences: tuple[Codes, Codes, Floats],
    out: tuple[Floats, Floats],
    into: tuple[Floats, Floats],
    two_sided: bool,
    first: int,
    last: int,
) -> float:
    """The least of max(out(e) out(v) gamma^alpha, in(e) in(v) gamma); alpha is 1 if `two_sided`, else 0."""
    edges, vertices, gamma = incidences
    out_edge, out_vertex = out
    in_edge, in_vertex = into
    least = np.inf
    for place in range(np.uint64(first), np.uint64(last)):
        edge, vertex = np.uint64(edges[place]), np.uint64(vertices[place])
        going = out_edge[edge] * out_vertex[vertex]
        if two_sided:
            going *= gamma[place]
        least = min(least, max(going, in_edge[edge] * in_vertex[vertex] * gamma[place]))
    return least
