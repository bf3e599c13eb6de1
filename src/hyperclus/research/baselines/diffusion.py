"""Kernels of DiffEq: steps of the diffusion for a block of columns, and the sweep of one column.

With y = x / d, a hyperedge e whose members have the maximum M (attained on the set Amax) and the minimum
mu (on Amin) moves mass from the top to the bottom:

    Lap(x)(v) = sum_e omega(e) (M - mu) ([v in Amax] / |Amax| - [v in Amin] / |Amin|).

The minimum is handled as the maximum of -y. The quantities of the current hyperedge are stored in one row,
COLUMNS entries for each. The number of columns is a constant, so that the compiler knows that they do not
overlap and vectorizes over columns.
"""

from typing import NamedTuple

import numpy as np

from hyperclus._runtime.jit import inner_kernel, kernel
from hyperclus.typing import Codes, Floats, Integers

COLUMNS = 32  # of a block: fewer are not vectorized, with more y does not fit the cache
# offsets of the quantities of a hyperedge: M, |Amax| and the position where Amax starts; then those of -y
TOP, BOTTOM = 0, 3 * COLUMNS
COUNT, START = COLUMNS, 2 * COLUMNS
TIE = 1e-8  # closer values of y are tied: a relative difference, in the public program an absolute one
NOISE = 1e-12  # smaller differences of conductances may be rounding errors


class Network(NamedTuple):
    """The hypergraph by hyperedge and by vertex; weights are omega, degrees d.

    Every vertex is in a hyperedge and every hyperedge has a member.
    """

    edge_indptr: Codes
    members: Codes
    indptr: Codes
    edges: Codes
    weights: Floats
    degrees: Floats


@kernel
def diffuse(
    network: Network,
    source: Floats,
    alphas: Floats,
    steps: int,
    least: float,
    sequential: bool,
    block: Floats,
) -> None:
    """Make steps of the diffusion in place; `sequential` breaks ties as the public program does."""
    scores, change, extremes = np.empty(block.shape), np.empty(block.shape), np.empty((1, 6 * COLUMNS))
    for _ in range(steps):
        for vertex in range(len(block)):
            degree = network.degrees[vertex]
            for column in range(COLUMNS):
                scores[vertex, column] = block[vertex, column] / degree
                change[vertex, column] = 0.0
        for edge in range(len(network.weights)):
            inside = network.members[network.edge_indptr[edge] : network.edge_indptr[edge + 1]]
            for column in range(COLUMNS):
                extremes[0, TOP + column] = extremes[0, BOTTOM + column] = -np.inf
                extremes[0, TOP + COUNT + column] = extremes[0, TOP + START + column] = 0.0
                extremes[0, BOTTOM + COUNT + column] = extremes[0, BOTTOM + START + column] = 0.0
            if sequential:
                find_sequential(inside, scores, extremes)
            else:
                find_all(inside, scores, extremes)
            move(network.weights[edge], inside, scores, sequential, extremes, change)
        advance(change, alphas, source, least, block)


@inner_kernel
def find_all(inside: Codes, scores: Floats, extremes: Floats) -> None:
    """Compute the extremes of a hyperedge, and how many members attain them."""
    for vertex in inside:
        for column in range(COLUMNS):
            value = scores[vertex, column]
            top = extremes[0, TOP + column]
            bottom = extremes[0, BOTTOM + column]
            extremes[0, TOP + column] = value if value > top else top
            extremes[0, BOTTOM + column] = -value if -value > bottom else bottom
    for vertex in inside:
        for column in range(COLUMNS):
            value = scores[vertex, column]
            high = attains(value, extremes[0, TOP + column], 0.0, False)
            low = attains(-value, extremes[0, BOTTOM + column], 0.0, False)
            extremes[0, TOP + COUNT + column] += 1.0 if high else 0.0
            extremes[0, BOTTOM + COUNT + column] += 1.0 if low else 0.0


@inner_kernel
def find_sequential(inside: Codes, scores: Floats, extremes: Floats) -> None:
    """Compute the extremes of a hyperedge member by member, how many attain them, and where these start."""
    for index in range(len(inside)):
        include(scores[inside[index]], float(index), 1.0, TOP, extremes)
        include(scores[inside[index]], float(index), -1.0, BOTTOM, extremes)


@inner_kernel
def include(values: Floats, place: float, sign: float, extreme: int, extremes: Floats) -> None:
    """Include one member in the maximum of sign y.

    A value more than TIE above the maximum so far starts a new set; one less than TIE below it joins the
    set and leaves the maximum unchanged.
    """
    for column in range(COLUMNS):
        value = sign * values[column]
        best = extremes[0, extreme + column]
        count = extremes[0, extreme + COUNT + column]
        began = extremes[0, extreme + START + column]
        begins = value > best + TIE
        joined = count + 1.0 if value > best - TIE else count
        extremes[0, extreme + column] = value if begins else best
        extremes[0, extreme + COUNT + column] = 1.0 if begins else joined
        extremes[0, extreme + START + column] = place if begins else began


@inner_kernel
def attains(value: float, best: float, after: float, sequential: bool) -> bool:
    """Whether a value attains the maximum; `after` is its distance from the start of the set."""
    if sequential:
        return (after == 0.0) | ((after > 0.0) & (value > best - TIE))
    return value >= best - TIE * abs(best)


@inner_kernel
def move(
    weight: float, inside: Codes, scores: Floats, sequential: bool, extremes: Floats, change: Floats
) -> None:
    """Add the mass that members of a hyperedge give and get to Lap(x)."""
    for column in range(COLUMNS):
        moved = weight * (extremes[0, TOP + column] + extremes[0, BOTTOM + column])
        extremes[0, TOP + COUNT + column] = moved / extremes[0, TOP + COUNT + column]
        extremes[0, BOTTOM + COUNT + column] = moved / extremes[0, BOTTOM + COUNT + column]
    for index in range(len(inside)):
        vertex, place = inside[index], float(index)
        for column in range(COLUMNS):
            value = scores[vertex, column]
            gives = extremes[0, TOP + COUNT + column]
            gets = extremes[0, BOTTOM + COUNT + column]
            after_high = place - extremes[0, TOP + START + column]
            after_low = place - extremes[0, BOTTOM + START + column]
            high = attains(value, extremes[0, TOP + column], after_high, sequential)
            low = attains(-value, extremes[0, BOTTOM + column], after_low, sequential)
            given = change[vertex, column] + (gives if high else 0.0)
            change[vertex, column] = given - (gets if low else 0.0)


@inner_kernel
def advance(change: Floats, alphas: Floats, source: Floats, least: float, block: Floats) -> None:
    """Replace x by x - ((1 - alpha) Lap(x) + alpha (x - s)); entries below `least` become 0."""
    for vertex in range(len(block)):
        for column in range(COLUMNS):
            value, alpha = block[vertex, column], alphas[column]
            moved = (1.0 - alpha) * change[vertex, column] + alpha * (value - source[vertex, column])
            after = value - moved
            block[vertex, column] = 0.0 if after < least else after


@kernel
def sweep(network: Network, order: Integers, most: float, total: float) -> tuple[float, int]:
    """The lowest conductance among the prefixes of an order with volume at most `most`, and the length.

    cut(S) is the sum of omega over the hyperedges with members inside and outside S; the conductance is
    cut(S) / min(vol S, total - vol S). The first of equal ones; infinity and 0 if every prefix is too large.
    """
    counts = np.zeros(len(network.weights), dtype=np.int64)
    cut = 0.0
    volume = 0.0
    best = np.inf
    length = 0
    for index in range(len(order)):
        vertex = order[index]
        volume += network.degrees[vertex]
        if volume > most:
            break
        for position in range(network.indptr[vertex], network.indptr[vertex + 1]):
            edge = network.edges[position]
            if counts[edge] == 0:
                cut += network.weights[edge]
            counts[edge] += 1
            if counts[edge] == network.edge_indptr[edge + 1] - network.edge_indptr[edge]:
                cut -= network.weights[edge]
        found = cut / min(volume, total - volume)
        if found < best - NOISE:
            best = found
            length = index + 1
    return best, length
