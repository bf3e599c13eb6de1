"""Kernels of DiffEq: steps of the diffusion for a block of columns, and the sweep of one column.

With y = x / d, a hyperedge e whose members have the maximum M (attained on the set Amax) and the minimum
mu (on Amin) moves mass from the top to the bottom:

    Lap(x)(v) = sum_e omega(e) (M - mu) ([v in Amax] / |Amax| - [v in Amin] / |Amin|).

The quantities of the current hyperedge are stored in one row, COLUMNS entries for each. The number of columns
is a constant, so that the compiler knows that they do not overlap and vectorizes over columns.
"""

from typing import NamedTuple

import numpy as np

from hyperclus._runtime.jit import inner_kernel, kernel
from hyperclus.typing import Codes, Floats, Integers

COLUMNS = 32  # of a block: fewer are not vectorized, with more y does not fit the cache
# offsets of the quantities of a hyperedge: M, mu, |Amax|, |Amin|, and the positions where these sets start
TOP, BOTTOM, N_TOP, N_BOTTOM, TOP_START, BOTTOM_START = range(0, 6 * COLUMNS, COLUMNS)
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
def diffuse_all(
    network: Network, source: Floats, alphas: Floats, steps: int, least: float, block: Floats
) -> None:
    """Make steps of the diffusion in place; every member within a relative TIE of an extreme attains it."""
    scores, change, extremes = np.empty(block.shape), np.empty(block.shape), np.empty((1, 4 * COLUMNS))
    for _ in range(steps):
        begin(network, block, scores, change)
        for edge in range(len(network.weights)):
            inside = network.members[network.edge_indptr[edge] : network.edge_indptr[edge + 1]]
            find_all(inside, scores, extremes)
            share(network.weights[edge], extremes)
            move_all(inside, scores, extremes, change)
        advance(change, alphas, source, least, block)


@kernel
def diffuse_sequential(
    network: Network, source: Floats, alphas: Floats, steps: int, least: float, block: Floats
) -> None:
    """Make steps of the diffusion in place, with ties as in the public program."""
    scores, change, extremes = np.empty(block.shape), np.empty(block.shape), np.empty((1, 6 * COLUMNS))
    for _ in range(steps):
        begin(network, block, scores, change)
        for edge in range(len(network.weights)):
            inside = network.members[network.edge_indptr[edge] : network.edge_indptr[edge + 1]]
            find_sequential(inside, scores, extremes)
            share(network.weights[edge], extremes)
            move_sequential(inside, scores, extremes, change)
        advance(change, alphas, source, least, block)


@inner_kernel
def begin(network: Network, block: Floats, scores: Floats, change: Floats) -> None:
    """Fill the scores, y = x / d, and set Lap(x) to 0."""
    for vertex in range(len(block)):
        degree = network.degrees[vertex]
        for column in range(COLUMNS):
            scores[vertex, column] = block[vertex, column] / degree
            change[vertex, column] = 0.0


@inner_kernel
def find_all(inside: Codes, scores: Floats, extremes: Floats) -> None:
    """Compute M, mu, |Amax| and |Amin| of a hyperedge: first the extremes, then who attains them."""
    for column in range(COLUMNS):
        extremes[0, TOP + column] = -np.inf
        extremes[0, BOTTOM + column] = np.inf
        extremes[0, N_TOP + column] = 0.0
        extremes[0, N_BOTTOM + column] = 0.0
    for vertex in inside:
        for column in range(COLUMNS):
            value = scores[vertex, column]
            top = extremes[0, TOP + column]
            bottom = extremes[0, BOTTOM + column]
            extremes[0, TOP + column] = value if value > top else top
            extremes[0, BOTTOM + column] = value if value < bottom else bottom
    for vertex in inside:
        for column in range(COLUMNS):
            value = scores[vertex, column]
            high = value >= extremes[0, TOP + column] - TIE * abs(extremes[0, TOP + column])
            low = value <= extremes[0, BOTTOM + column] + TIE * abs(extremes[0, BOTTOM + column])
            extremes[0, N_TOP + column] += 1.0 if high else 0.0
            extremes[0, N_BOTTOM + column] += 1.0 if low else 0.0


@inner_kernel
def find_sequential(inside: Codes, scores: Floats, extremes: Floats) -> None:
    """Compute M, mu, |Amax| and |Amin| of a hyperedge member by member, and where the sets start.

    A value more than TIE above the maximum so far starts a new set; one less than TIE below it joins the
    set and leaves the maximum unchanged. Likewise for the minimum.
    """
    for column in range(COLUMNS):
        extremes[0, TOP + column] = -np.inf
        extremes[0, BOTTOM + column] = np.inf
        for quantity in range(2, 6):
            extremes[0, quantity * COLUMNS + column] = 0.0
    for index in range(len(inside)):
        vertex, place = inside[index], float(index)
        for column in range(COLUMNS):
            value = scores[vertex, column]
            top = extremes[0, TOP + column]
            count = extremes[0, N_TOP + column]
            began = extremes[0, TOP_START + column]
            begins = value > top + TIE
            joined = count + 1.0 if value > top - TIE else count
            extremes[0, TOP + column] = value if begins else top
            extremes[0, N_TOP + column] = 1.0 if begins else joined
            extremes[0, TOP_START + column] = place if begins else began
        for column in range(COLUMNS):
            value = scores[vertex, column]
            bottom = extremes[0, BOTTOM + column]
            count = extremes[0, N_BOTTOM + column]
            began = extremes[0, BOTTOM_START + column]
            begins = value < bottom - TIE
            joined = count + 1.0 if value < bottom + TIE else count
            extremes[0, BOTTOM + column] = value if begins else bottom
            extremes[0, N_BOTTOM + column] = 1.0 if begins else joined
            extremes[0, BOTTOM_START + column] = place if begins else began


@inner_kernel
def share(weight: float, extremes: Floats) -> None:
    """Replace |Amax| and |Amin| by the mass that each member there gives and gets."""
    for column in range(COLUMNS):
        moved = weight * (extremes[0, TOP + column] - extremes[0, BOTTOM + column])
        extremes[0, N_TOP + column] = moved / extremes[0, N_TOP + column]
        extremes[0, N_BOTTOM + column] = moved / extremes[0, N_BOTTOM + column]


@inner_kernel
def move_all(inside: Codes, scores: Floats, extremes: Floats, change: Floats) -> None:
    """Add the mass that members of a hyperedge give and get to Lap(x), after `find_all` and `share`."""
    for vertex in inside:
        for column in range(COLUMNS):
            value = scores[vertex, column]
            gives = extremes[0, N_TOP + column]
            gets = extremes[0, N_BOTTOM + column]
            high = value >= extremes[0, TOP + column] - TIE * abs(extremes[0, TOP + column])
            low = value <= extremes[0, BOTTOM + column] + TIE * abs(extremes[0, BOTTOM + column])
            given = change[vertex, column] + (gives if high else 0.0)
            change[vertex, column] = given - (gets if low else 0.0)


@inner_kernel
def move_sequential(inside: Codes, scores: Floats, extremes: Floats, change: Floats) -> None:
    """The same as `move_all`, after `find_sequential` and `share`."""
    for index in range(len(inside)):
        vertex, place = inside[index], float(index)
        for column in range(COLUMNS):
            value = scores[vertex, column]
            gives = extremes[0, N_TOP + column]
            gets = extremes[0, N_BOTTOM + column]
            after_high = place - extremes[0, TOP_START + column]
            after_low = place - extremes[0, BOTTOM_START + column]
            high = (after_high == 0.0) | ((after_high > 0.0) & (value > extremes[0, TOP + column] - TIE))
            low = (after_low == 0.0) | ((after_low > 0.0) & (value < extremes[0, BOTTOM + column] + TIE))
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
