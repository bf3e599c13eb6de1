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

REACHED, STORED, QUEUED = 0, 1, 2  # indices into Side.counts
MIN_IMPROVEMENT = 1e-9  # relative decrease of the NCut that is more than rounding
PASSES = 10  # of `descend` over the vertices that may move
TINY = 1e-300  # replaces a volume that rounding made 0
NOT_COPIED = -1  # in Side.start


class Side(NamedTuple):
    """The vertices or the hyperedges: the whole walk, and the nodes that mass has reached."""

    # the whole walk: row i goes to indices[j] with weights[j] scale[i]
    indptr: Codes
    indices: Codes
    weights: Floats  # gamma^alpha for vertices, gamma for hyperedges
    scale: Floats  # 1 / d, omega / delta
    back_weights: Floats  # the weights of the other side
    whole_distribution: Floats  # phi, psi / omega
    number: Codes  # 1 + the number of a reached node, 0 for all others
    # for each reached node:
    position: Integers  # in the whole walk
    distribution: Floats
    estimate: Floats  # p for vertices, unused for hyperedges
    residual: Floats  # r for vertices, q / omega for hyperedges
    start: Integers  # where its row was copied to, or NOT_COPIED
    stop: Integers
    queue: Integers  # the nodes to push, in order
    queued: Booleans  # whether it is among them
    # for each copied entry:
    neighbor: Codes  # number of the node at the other end
    forward: Floats  # weight there
    backward: Floats  # weight back
    counts: Integers  # the numbers of nodes REACHED, entries STORED and nodes QUEUED


@inner_kernel
def copy_row(source: Side, target: Side, node: int) -> None:
    """Copy the row of a node, next to the others that are used with it; its neighbors become reached."""
    number, position, counts = target.number, target.position, target.counts
    distribution, estimate, residual = target.distribution, target.estimate, target.residual
    start, queued = target.start, target.queued
    back_scale, whole_distribution = target.scale, target.whole_distribution
    neighbor, forward, backward = source.neighbor, source.forward, source.backward
    indices, weights, back_weights = source.indices, source.weights, source.back_weights
    row = source.position[node]
    scale = source.scale[row]
    entry = source.counts[STORED]
    source.start[node] = entry
    for place in range(source.indptr[row], source.indptr[row + 1]):
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


@kernel
def reach_seeds(vertices: Side, edges: Side, seeds: Integers) -> None:
    """Number the seeds 0, 1, ..., and copy their rows, for a sweep."""
    vertices.counts[REACHED] = len(seeds)
    for node, vertex in enumerate(seeds):
        vertices.number[vertex] = node + 1
        vertices.position[node] = vertex
        vertices.distribution[node] = vertices.whole_distribution[vertex]
        vertices.queued[node] = False
        copy_row(vertices, edges, node)


@inner_kernel
def push_queued(source: Side, target: Side, restart: float, accuracy: float) -> int:
    """Push all queued nodes: a share of the residual joins the estimate, the rest moves; entries visited."""
    start, stop, amounts, estimate = source.start, source.stop, source.residual, source.estimate
    neighbor, forward = source.neighbor, source.forward
    residual, distribution, queued = target.residual, target.distribution, target.queued
    queue, counts = target.queue, target.counts
    visits = 0
    for turn in range(source.counts[QUEUED]):
        node = source.queue[turn]
        if start[node] == NOT_COPIED:
            copy_row(source, target, node)
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
def push(vertices: Side, edges: Side, restart: float, accuracy: float, max_visits: int) -> int:
    """Push until no node is queued, or after `max_visits`; the number of incidences visited."""
    visits = 0
    while visits < max_visits and vertices.counts[QUEUED] + edges.counts[QUEUED] > 0:
        visits += push_queued(vertices, edges, restart, accuracy)
        visits += push_queued(edges, vertices, 0.0, accuracy)
    return visits


@inner_kernel
def link(vertices: Side, node: int, sent: Floats, got: Floats) -> tuple[float, float]:
    """The flow between a vertex and a set in both directions, and the flow of the vertex to itself.

    For each hyperedge, `sent` is the flow from the set, `got` the share of its flow that goes to the set.
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
def join(vertices: Side, node: int, sign: float, sent: Floats, got: Floats) -> None:
    """Let a vertex join the set (sign = 1) or leave it (sign = -1)."""
    neighbor, forward, backward = vertices.neighbor, vertices.forward, vertices.backward
    mass = sign * vertices.distribution[node]
    for entry in range(vertices.start[node], vertices.stop[node]):
        sent[neighbor[entry]] += mass * forward[entry]
        got[neighbor[entry]] += sign * backward[entry]


@kernel
def sweep_over(
    vertices: Side, order: Integers, sent: Floats, got: Floats, volumes: Floats, insides: Floats
) -> None:
    """Fill in volume and internal flow of each prefix of an order, and add all to the sums."""
    volume = inside = 0.0
    for place, node in enumerate(order):
        linked, own = link(vertices, node, sent, got)
        join(vertices, node, 1.0, sent, got)
        volume += vertices.distribution[node]
        inside += linked + own
        volumes[place] = volume
        insides[place] = inside


@inner_kernel
def ncut_of(volume: float, inside: float) -> float:
    """The NCut of a set and the rest."""
    return (volume - inside) / max(volume * (1.0 - volume), TINY)


@kernel
def descend(
    vertices: Side,
    order: Integers,
    inside: Booleans,
    fixed: int,
    caps: tuple[float, int],
    sent: Floats,
    got: Floats,
    totals: tuple[float, float],
) -> int:
    """Let single vertices join or leave a set while that lowers its NCut; the number of passes.

    `inside` says which vertices of the order are in the set; the first `fixed` stay there. `caps` are its
    largest volume and size, `totals` its volume and internal flow, `sent` and `got` its sums.
    """
    volume, flow = totals
    size = inside.sum()
    for number in range(PASSES):
        moved = False
        lowest = ncut_of(volume, flow)
        for place, node in enumerate(order):
            linked, own = link(vertices, node, sent, got)
            sign = -1.0 if inside[place] else 1.0
            new_volume, new_size = volume + sign * vertices.distribution[node], size + int(sign)
            new_flow = flow + sign * linked + own
            if inside[place]:
                allowed = place >= fixed and new_size > 0
            else:
                allowed = new_volume <= caps[0] and new_size <= caps[1]
            ncut = ncut_of(new_volume, new_flow)
            if allowed and ncut < lowest * (1.0 - MIN_IMPROVEMENT):
                join(vertices, node, sign, sent, got)
                inside[place] = not inside[place]
                lowest, volume, flow, size = ncut, new_volume, new_flow, new_size
                moved = True
        if not moved:
            return number + 1
    return PASSES


@kernel
def dips(levels: Floats, rise: float) -> list[int]:
    """The places of the minima between which the levels rise and fall by a factor of at least `rise`.

    The ends may be minima too. Among equal levels the first counts.
    """
    places = [0]
    low = high = 0
    falling = True  # looking for the end of a fall, at `low`; otherwise of a rise, at `high`
    for place in range(1, len(levels)):
        level = levels[place]
        if falling:
            if level < levels[low]:
                low = places[-1] = place
            elif level > rise * levels[low]:
                high, falling = place, False
        elif level > levels[high]:
            high = place
        elif rise * level < levels[high]:
            low, falling = place, True
            places.append(place)
    return places
