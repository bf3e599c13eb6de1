"""The loops of local clustering: mass pushed from vertex to hyperedge to vertex, a sweep, and moves.

The walk starts anew with probability a in each step: pr = a s + (1 - a) pr P. Pushed mass is split

    pr(s) = p + pr(r + q B),

p having arrived, r waiting at vertices and q at hyperedges; pr(.) is linear. A push at u moves a r(u) to
p(u) and the rest to u's hyperedges; a push at e moves q(e) to its members. When r <= eps phi and
q <= eps psi everywhere, 0 <= pr(s) - p <= 2 eps phi, because phi B A = phi (Andersen, Chung and Lang,
2006, for graphs).

Vertices and hyperedges are two sides of one graph, and a push is the same on both. What mass reaches is
numbered in that order, 0, 1, ..., and the rows of what is pushed are copied: the loops then stay in a small
piece of memory, however large the hypergraph. Mass at hyperedges is counted in q / omega.

Arrays are taken out of their tuples before a loop, because that counts references to them.
"""

from typing import NamedTuple

from hyperclus._runtime.jit import inner_kernel, kernel
from hyperclus.typing import Booleans, Codes, Floats, Integers

REACHED, STORED, QUEUED = 0, 1, 2  # places in Side.counts
ENOUGH = 1e-9  # share by which a move must lower the conductance, more than rounding may
TINY = 1e-300  # in place of a volume that rounding made 0
CLOSED = -1  # the first entry of a row that has not been copied


class BipartiteCSR(NamedTuple):
    """One side of the whole walk: row i goes to others[j] with weights[j] factors[i].

    For vertices weights are gamma^alpha, factors 1 / d, and law is phi; for hyperedges they are gamma,
    omega / delta, and psi / omega. `returns` are the other side's weights along the rows of this one.
    """

    indptr: Codes
    others: Codes
    weights: Floats
    factors: Floats
    returns: Floats
    distribution: Floats


class Side(NamedTuple):
    """What has been reached of one side, numbered in that order, and the mass there.

    Attributes
    ----------
    numbers : array over the whole side
        1 + the number of each that has been reached, 0 for all others.
    names, law : arrays over the reached
        Where each stands on the whole side, and its share of the law.
    arrived, waiting : arrays over the reached
        Its mass: p and r for vertices, nothing and q / omega for hyperedges.
    first, last : arrays over the reached
        Where its row has been copied to; first is CLOSED where it has not.
    others, onward, back : arrays over the copied entries
        The other end by number, and the weights from here to there and from there to here.
    queue, waits : arrays over the reached
        Who is to be pushed, in order; and whether each is among them.
    counts : array of 3
        How many are REACHED, how many entries STORED, how many QUEUED.
    """

    numbers: Codes
    names: Integers
    distribution: Floats
    arrived: Floats
    waiting: Floats
    first: Integers
    last: Integers
    others: Codes
    onward: Floats
    back: Floats
    queue: Integers
    waits: Booleans
    counts: Integers


@inner_kernel
def open_row(here: BipartiteCSR, there: BipartiteCSR, source: Side, target: Side, number: int) -> None:
    """Copy a row, so that it lies beside those that are used with it; its other ends are reached."""
    numbers, names, distribution, counts = target.numbers, target.names, target.distribution, target.counts
    arrived, waiting, first, waits = target.arrived, target.waiting, target.first, target.waits
    others, onward, back = source.others, source.onward, source.back
    ends, weights, returns = here.others, here.weights, here.returns
    factors, whole_law = there.factors, there.distribution
    name = source.names[number]
    factor = here.factors[name]
    entry = source.counts[STORED]
    source.first[number] = entry
    for position in range(here.indptr[name], here.indptr[name + 1]):
        other = ends[position]
        if numbers[other] == 0:
            new = counts[REACHED]
            counts[REACHED] = new + 1
            numbers[other] = new + 1
            names[new] = other
            distribution[new] = whole_law[other]
            arrived[new] = 0.0
            waiting[new] = 0.0
            first[new] = CLOSED
            waits[new] = False
        others[entry] = numbers[other] - 1
        onward[entry] = factor * weights[position]
        back[entry] = factors[other] * returns[position]
        entry += 1
    source.last[number] = entry
    source.counts[STORED] = entry


@inner_kernel
def queue_again(side: Side, accuracy: float) -> None:
    """Queue those whose waiting mass was within an earlier accuracy and is not within this one."""
    waiting, distribution, waits, queue, counts = (
        side.waiting,
        side.distribution,
        side.waits,
        side.queue,
        side.counts,
    )
    for number in range(counts[REACHED]):
        if not waits[number] and waiting[number] > accuracy * distribution[number]:
            waits[number] = True
            queue[counts[QUEUED]] = number
            counts[QUEUED] += 1


@inner_kernel
def has_room(links: BipartiteCSR, source: Side, target: Side) -> bool:
    """Whether there is room for the rows that pushing all queued would copy."""
    entries = 0
    for turn in range(source.counts[QUEUED]):
        if source.first[source.queue[turn]] == CLOSED:
            name = source.names[source.queue[turn]]
            entries += links.indptr[name + 1] - links.indptr[name]
    most = min(target.counts[REACHED] + entries, len(target.numbers))
    return bool(source.counts[STORED] + entries <= len(source.others) and most <= len(target.names))


@inner_kernel
def push_queued(
    here: BipartiteCSR, there: BipartiteCSR, source: Side, target: Side, stays: float, accuracy: float
) -> int:
    """Push all queued: of the mass that waits a share stays, the rest goes on; the entries looked at."""
    first, last, amounts, arrived = source.first, source.last, source.waiting, source.arrived
    others, onward = source.others, source.onward
    waiting, distribution, waits = target.waiting, target.distribution, target.waits
    queue, counts = target.queue, target.counts
    looks = 0
    for turn in range(source.counts[QUEUED]):
        number = source.queue[turn]
        if first[number] == CLOSED:
            open_row(here, there, source, target, number)
        amount = amounts[number]
        source.waits[number] = False
        amounts[number] = 0.0
        arrived[number] += stays * amount
        moving = (1.0 - stays) * amount
        for entry in range(first[number], last[number]):
            other = others[entry]
            waiting[other] += moving * onward[entry]
            if not waits[other] and waiting[other] > accuracy * distribution[other]:
                waits[other] = True
                queue[counts[QUEUED]] = other
                counts[QUEUED] += 1
        looks += last[number] - first[number]
    source.counts[QUEUED] = 0
    return looks


@kernel
def start(
    links: BipartiteCSR, edge_links: BipartiteCSR, vertices: Side, edges: Side, seeds: Integers
) -> None:
    """Let the mass 1 wait at the seeds, in proportion to phi; their rows are copied, for a sweep."""
    volume = 0.0
    for vertex in seeds:
        volume += links.distribution[vertex]
    for number in range(len(seeds)):
        vertex = seeds[number]
        if vertices.numbers[vertex] == 0:
            vertices.counts[REACHED] += 1
            vertices.numbers[vertex] = number + 1
            vertices.names[number] = vertex
            vertices.distribution[number] = links.distribution[vertex]
            vertices.arrived[number] = 0.0
            vertices.waits[number] = False
            open_row(links, edge_links, vertices, edges, number)
        vertices.waiting[number] = vertices.distribution[number] / volume


@kernel
def push(
    links: BipartiteCSR,
    edge_links: BipartiteCSR,
    vertices: Side,
    edges: Side,
    restart: float,
    accuracy: float,
    most: int,
) -> int:
    """Push until no r is above eps phi and no q above eps psi; how often an incidence was looked at.

    Ends early, with some still queued, where room is short or after `most` looks; a later call goes on.
    """
    queue_again(vertices, accuracy)
    queue_again(edges, accuracy)
    looks = 0
    while looks < most and vertices.counts[QUEUED] + edges.counts[QUEUED] > 0:
        if not has_room(links, vertices, edges):
            break
        looks += push_queued(links, edge_links, vertices, edges, restart, accuracy)
        if not has_room(edge_links, edges, vertices):
            break
        looks += push_queued(edge_links, links, edges, vertices, 0.0, accuracy)
    return looks


@inner_kernel
def link(vertices: Side, number: int, sent: Floats, got: Floats) -> tuple[float, float]:
    """The flow between a vertex and a set in both directions, and the vertex's flow to itself.

    Of each hyperedge, `sent` is the flow that the set sends there, `got` the share that the set gets of what
    goes out.
    """
    others, onward, back = vertices.others, vertices.onward, vertices.back
    mass = vertices.distribution[number]
    linked = own = 0.0
    for entry in range(vertices.first[number], vertices.last[number]):
        edge = others[entry]
        sends = mass * onward[entry]
        linked += sends * got[edge] + sent[edge] * back[entry]
        own += sends * back[entry]
    return linked, own


@inner_kernel
def join(vertices: Side, number: int, way: float, sent: Floats, got: Floats) -> None:
    """Let a vertex join the set, way = 1, or leave it, way = -1."""
    others, onward, back = vertices.others, vertices.onward, vertices.back
    mass = way * vertices.distribution[number]
    for entry in range(vertices.first[number], vertices.last[number]):
        sent[others[entry]] += mass * onward[entry]
        got[others[entry]] += way * back[entry]


@kernel
def sweep_over(
    vertices: Side, order: Integers, sent: Floats, got: Floats, volumes: Floats, insides: Floats
) -> int:
    """Volume and internal flow of each prefix of an order; how often an incidence was looked at.

    `sent` and `got` are 0 for every hyperedge reached, the sums of the empty prefix.
    """
    volume = inside = 0.0
    looks = 0
    for place in range(len(order)):
        number = order[place]
        linked, own = link(vertices, number, sent, got)
        join(vertices, number, 1.0, sent, got)
        volume += vertices.distribution[number]
        inside += linked + own
        volumes[place] = volume
        insides[place] = inside
        looks += vertices.last[number] - vertices.first[number]
    return looks


@inner_kernel
def conductance_of(volume: float, inside: float) -> float:
    """The flow out of a set over the smaller of the two volumes."""
    return (volume - inside) / max(min(volume, 1.0 - volume), TINY)


@inner_kernel
def may_move(way: float, place: int, fixed: int, size: int, volume: float, caps: tuple[float, int]) -> bool:
    """Whether the vertex at a place may leave, or join a set that would then have this size and volume."""
    if way < 0.0:
        return place >= fixed and size > 0
    return volume <= caps[0] and size <= caps[1]


@kernel
def settle(
    vertices: Side,
    order: Integers,
    inside: Booleans,
    fixed: int,
    caps: tuple[float, int],
    sent: Floats,
    got: Floats,
    passes: int,
) -> int:
    """Let single vertices join or leave a set as long as that lowers its conductance.

    Parameters
    ----------
    order, inside : arrays
        Those that may move, which is done in this order, and whether each is in the set.
    fixed : int
        How many of the first stay.
    caps : tuple
        The largest volume and size.
    sent, got : arrays
        0 for every hyperedge reached.
    passes : int
        Over the order, at most.

    Returns
    -------
    int
        How often an incidence was looked at.
    """
    volume = flow = 0.0
    size = looks = 0
    for place in range(len(order)):
        if inside[place]:
            linked, own = link(vertices, order[place], sent, got)
            join(vertices, order[place], 1.0, sent, got)
            volume += vertices.distribution[order[place]]
            flow += linked + own
            size += 1
            looks += vertices.last[order[place]] - vertices.first[order[place]]
    moving = True
    while moving and passes > 0:
        moving = False
        passes -= 1
        lowest = conductance_of(volume, flow)
        for place in range(len(order)):
            number = order[place]
            linked, own = link(vertices, number, sent, got)
            looks += vertices.last[number] - vertices.first[number]
            way = -1.0 if inside[place] else 1.0
            new_volume, new_size = volume + way * vertices.distribution[number], size + int(way)
            new_flow = flow + way * linked + own
            if may_move(way, place, fixed, new_size, new_volume, caps):
                conductance = conductance_of(new_volume, new_flow)
                if conductance < lowest * (1.0 - ENOUGH):
                    join(vertices, number, way, sent, got)
                    inside[place] = not inside[place]
                    lowest, volume, flow, size = conductance, new_volume, new_flow, new_size
                    moving = True
    return looks
