"""Loops of local clustering: push mass from vertex to hyperedge to vertex, sweep, move single vertices.

The walk restarts with probability a in each step: pr = a s + (1 - a) pr P. Pushing maintains

    pr(s) = p + pr(r + q B),

with the estimate p, and the residuals r at vertices and q at hyperedges; pr(.) is linear. A push at u moves
a r(u) to p(u) and the rest to u's hyperedges; a push at e moves q(e) to its members. When r <= eps phi and
q <= eps psi everywhere, 0 <= pr(s) - p <= 2 eps phi, because phi B A = phi (Andersen, Chung and Lang,
2006, for graphs).

Vertices and hyperedges are the two sides of a bipartite graph, and a push is the same on both. Nodes are
numbered 0, 1, ... in the order in which mass reaches them, and the rows of pushed nodes are copied, so that
the loops stay in a small piece of memory, however large the hypergraph. Mass at hyperedges is stored as
q / omega.

Arrays are taken out of their tuples before a loop, because each access counts references.
"""

from typing import NamedTuple

from hyperclus._runtime.jit import inner_kernel, kernel
from hyperclus.typing import Booleans, Codes, Floats, Integers

REACHED, STORED, QUEUED = 0, 1, 2  # indices into ReachedSet.counts
MIN_IMPROVEMENT = 1e-9  # relative decrease of the conductance that is more than rounding
TINY = 1e-300  # replaces a volume that rounding made 0
NOT_COPIED = -1  # in ReachedSet.start


class BipartiteCSR(NamedTuple):
    """One side of the whole walk: row i goes to indices[j] with weights[j] scale[i].

    For vertices, weights are gamma^alpha, scale is 1 / d, and distribution is phi; for hyperedges they are
    gamma, omega / delta, and psi / omega. `back_weights` are the weights of the other side.
    """

    indptr: Codes
    indices: Codes
    weights: Floats
    scale: Floats
    back_weights: Floats
    distribution: Floats


class ReachedSet(NamedTuple):
    """The nodes of one side that mass has reached, numbered in that order.

    Attributes
    ----------
    number : array over the whole side
        1 + the number of a reached node, 0 for all others.
    position, distribution : arrays over the reached nodes
        Position on the whole side, and stationary probability.
    estimate, residual : arrays over the reached nodes
        p and r for vertices; unused and q / omega for hyperedges.
    start, stop : arrays over the reached nodes
        Where the row of a node was copied to; start is NOT_COPIED if it was not.
    neighbor, forward, backward : arrays over the copied entries
        Number of the node at the other end, and the weights there and back.
    queue, queued : arrays over the reached nodes
        The nodes to push, in order, and whether a node is among them.
    counts : array of 3
        The numbers of nodes REACHED, entries STORED and nodes QUEUED.
    """

    number: Codes
    position: Integers
    distribution: Floats
    estimate: Floats
    residual: Floats
    start: Integers
    stop: Integers
    neighbor: Codes
    forward: Floats
    backward: Floats
    queue: Integers
    queued: Booleans
    counts: Integers


@inner_kernel
def copy_row(
    here: BipartiteCSR, there: BipartiteCSR, source: ReachedSet, target: ReachedSet, node: int
) -> None:
    """Copy the row of a node, next to the others that are used with it; its neighbors become reached."""
    number, position, counts = target.number, target.position, target.counts
    start, queued = target.start, target.queued
    distribution, estimate, residual = target.distribution, target.estimate, target.residual
    neighbor, forward, backward = source.neighbor, source.forward, source.backward
    indices, weights, back_weights = here.indices, here.weights, here.back_weights
    back_scale, whole_distribution = there.scale, there.distribution
    row = source.position[node]
    scale = here.scale[row]
    entry = source.counts[STORED]
    source.start[node] = entry
    for place in range(here.indptr[row], here.indptr[row + 1]):
        other = indices[place]
        if number[other] == 0:
            new = counts[REACHED]
            counts[REACHED] = new + 1
            number[other] = new + 1
            position[new] = other
            distribution[new] = whole_distribution[other]
            estimate[new] = 0.0
            residual[new] = 0.0
            start[new] = NOT_COPIED
            queued[new] = False
        neighbor[entry] = number[other] - 1
        forward[entry] = scale * weights[place]
        backward[entry] = back_scale[other] * back_weights[place]
        entry += 1
    source.stop[node] = entry
    source.counts[STORED] = entry


@inner_kernel
def queue_again(side: ReachedSet, accuracy: float) -> None:
    """Queue the nodes whose residual was within an earlier accuracy and is not within this one."""
    residual, distribution, queued = side.residual, side.distribution, side.queued
    queue, counts = side.queue, side.counts
    for node in range(counts[REACHED]):
        if not queued[node] and residual[node] > accuracy * distribution[node]:
            queued[node] = True
            queue[counts[QUEUED]] = node
            counts[QUEUED] += 1


@inner_kernel
def has_room(links: BipartiteCSR, source: ReachedSet, target: ReachedSet) -> bool:
    """Whether the rows of all queued nodes fit."""
    entries = 0
    for turn in range(source.counts[QUEUED]):
        if source.start[source.queue[turn]] == NOT_COPIED:
            row = source.position[source.queue[turn]]
            entries += links.indptr[row + 1] - links.indptr[row]
    reached = min(target.counts[REACHED] + entries, len(target.number))
    return bool(source.counts[STORED] + entries <= len(source.neighbor) and reached <= len(target.position))


@inner_kernel
def push_queued(
    here: BipartiteCSR,
    there: BipartiteCSR,
    source: ReachedSet,
    target: ReachedSet,
    restart: float,
    accuracy: float,
) -> int:
    """Push all queued nodes: a share of the residual joins the estimate, the rest moves; entries visited."""
    start, stop, amounts, estimate = source.start, source.stop, source.residual, source.estimate
    neighbor, forward = source.neighbor, source.forward
    residual, distribution, queued = target.residual, target.distribution, target.queued
    queue, counts = target.queue, target.counts
    visits = 0
    for turn in range(source.counts[QUEUED]):
        node = source.queue[turn]
        if start[node] == NOT_COPIED:
            copy_row(here, there, source, target, node)
        amount = amounts[node]
        source.queued[node] = False
        amounts[node] = 0.0
        estimate[node] += restart * amount
        moving = (1.0 - restart) * amount
        for entry in range(start[node], stop[node]):
            other = neighbor[entry]
            residual[other] += moving * forward[entry]
            if not queued[other] and residual[other] > accuracy * distribution[other]:
                queued[other] = True
                queue[counts[QUEUED]] = other
                counts[QUEUED] += 1
        visits += stop[node] - start[node]
    source.counts[QUEUED] = 0
    return visits


@kernel
def start_at(
    links: BipartiteCSR, edge_links: BipartiteCSR, vertices: ReachedSet, edges: ReachedSet, seeds: Integers
) -> None:
    """Put the mass 1 on the seeds, in proportion to phi; their rows are copied, for a sweep."""
    volume = 0.0
    for vertex in seeds:
        volume += links.distribution[vertex]
    for node in range(len(seeds)):
        vertex = seeds[node]
        if vertices.number[vertex] == 0:
            vertices.counts[REACHED] += 1
            vertices.number[vertex] = node + 1
            vertices.position[node] = vertex
            vertices.distribution[node] = links.distribution[vertex]
            vertices.estimate[node] = 0.0
            vertices.queued[node] = False
            copy_row(links, edge_links, vertices, edges, node)
        vertices.residual[node] = vertices.distribution[node] / volume


@kernel
def push(
    links: BipartiteCSR,
    edge_links: BipartiteCSR,
    vertices: ReachedSet,
    edges: ReachedSet,
    restart: float,
    accuracy: float,
    max_visits: int,
) -> int:
    """Push until no r is above eps phi and no q above eps psi; the number of incidences visited.

    Ends early, with nodes still queued, if room is short or after `max_visits`; a later call resumes.
    """
    queue_again(vertices, accuracy)
    queue_again(edges, accuracy)
    visits = 0
    while visits < max_visits and vertices.counts[QUEUED] + edges.counts[QUEUED] > 0:
        if not has_room(links, vertices, edges):
            break
        visits += push_queued(links, edge_links, vertices, edges, restart, accuracy)
        if not has_room(edge_links, edges, vertices):
            break
        visits += push_queued(edge_links, links, edges, vertices, 0.0, accuracy)
    return visits


@inner_kernel
def link(vertices: ReachedSet, node: int, sent: Floats, got: Floats) -> tuple[float, float]:
    """The flow between a vertex and a set in both directions, and the flow of the vertex to itself.

    For each hyperedge, `sent` is the flow into it from the set, `got` the share of its flow that goes to
    the set.
    """
    neighbor, forward, backward = vertices.neighbor, vertices.forward, vertices.backward
    mass = vertices.distribution[node]
    linked = own = 0.0
    for entry in range(vertices.start[node], vertices.stop[node]):
        edge = neighbor[entry]
        sends = mass * forward[entry]
        linked += sends * got[edge] + sent[edge] * backward[entry]
        own += sends * backward[entry]
    return linked, own


@inner_kernel
def join(vertices: ReachedSet, node: int, sign: float, sent: Floats, got: Floats) -> None:
    """Let a vertex join the set (sign = 1) or leave it (sign = -1)."""
    neighbor, forward, backward = vertices.neighbor, vertices.forward, vertices.backward
    mass = sign * vertices.distribution[node]
    for entry in range(vertices.start[node], vertices.stop[node]):
        sent[neighbor[entry]] += mass * forward[entry]
        got[neighbor[entry]] += sign * backward[entry]


@kernel
def sweep_over(
    vertices: ReachedSet, order: Integers, sent: Floats, got: Floats, volumes: Floats, insides: Floats
) -> int:
    """Fill in volume and internal flow of each prefix of an order; the number of incidences visited.

    `sent` and `got` are 0 for every reached hyperedge, the sums of the empty prefix.
    """
    volume = inside = 0.0
    visits = 0
    for place in range(len(order)):
        node = order[place]
        linked, own = link(vertices, node, sent, got)
        join(vertices, node, 1.0, sent, got)
        volume += vertices.distribution[node]
        inside += linked + own
        volumes[place] = volume
        insides[place] = inside
        visits += vertices.stop[node] - vertices.start[node]
    return visits


@inner_kernel
def conductance_of(volume: float, inside: float) -> float:
    """The flow out of a set over the smaller of the two volumes."""
    return (volume - inside) / max(min(volume, 1.0 - volume), TINY)


@inner_kernel
def may_move(sign: float, place: int, fixed: int, size: int, volume: float, caps: tuple[float, int]) -> bool:
    """Whether the vertex at a place may leave, or join a set that would then have this size and volume."""
    if sign < 0.0:
        return place >= fixed and size > 0
    return volume <= caps[0] and size <= caps[1]


@kernel
def descend(
    vertices: ReachedSet,
    order: Integers,
    inside: Booleans,
    fixed: int,
    caps: tuple[float, int],
    sent: Floats,
    got: Floats,
    passes: int,
) -> int:
    """Let single vertices join or leave a set while that lowers its conductance; incidences visited.

    Parameters
    ----------
    order, inside : arrays
        The vertices that may move, visited in this order, and whether each is in the set.
    fixed : int
        The first `fixed` vertices stay in the set.
    caps : tuple
        The largest volume and size.
    sent, got : arrays
        0 for every reached hyperedge.
    passes : int
        Largest number of passes over the order.
    """
    volume = flow = 0.0
    size = visits = 0
    for place in range(len(order)):
        if inside[place]:
            linked, own = link(vertices, order[place], sent, got)
            join(vertices, order[place], 1.0, sent, got)
            volume += vertices.distribution[order[place]]
            flow += linked + own
            size += 1
            visits += vertices.stop[order[place]] - vertices.start[order[place]]
    moving = True
    while moving and passes > 0:
        moving = False
        passes -= 1
        lowest = conductance_of(volume, flow)
        for place in range(len(order)):
            node = order[place]
            linked, own = link(vertices, node, sent, got)
            visits += vertices.stop[node] - vertices.start[node]
            sign = -1.0 if inside[place] else 1.0
            new_volume, new_size = volume + sign * vertices.distribution[node], size + int(sign)
            new_flow = flow + sign * linked + own
            if may_move(sign, place, fixed, new_size, new_volume, caps):
                conductance = conductance_of(new_volume, new_flow)
                if conductance < lowest * (1.0 - MIN_IMPROVEMENT):
                    join(vertices, node, sign, sent, got)
                    inside[place] = not inside[place]
                    lowest, volume, flow, size = conductance, new_volume, new_flow, new_size
                    moving = True
    return visits
