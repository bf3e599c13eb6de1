"""The loops of the local search: what a move of one vertex would gain, and making it.

For a vertex v and a cluster j let

    linked(j) = sum_e share(e) (a gamma_j(e) + gamma_e(v) picked_j(e)),    share = omega / delta,

with a = phi(v) gamma_e(v)^alpha / d(v), and gamma_j(e), picked_j(e) the sums of gamma and of a over the
members of e in cluster j. It is the flow between v and S_j in both directions, so that moving v from
cluster i to j changes

    internal(S_i) by -linked(i) + own,    internal(S_j) by linked(j) + own,

own being the flow from v to itself, and the volumes by phi(v). One move costs O(deg v k).
"""

from typing import NamedTuple

import numpy as np

from hyperclus._runtime.jit import inner_kernel, kernel
from hyperclus.typing import Codes, Floats, Integers

SHORT = 2.0  # what a cluster costs that has none of the volume it should have; its NCut costs 1 at most
NOISE = 1e-12  # a volume that sums and differences over all vertices cannot tell from 0


class Flow(NamedTuple):
    """The walk as the kernels read it: gamma and picks lie along the hyperedges of each vertex.

    They lie along the members of each hyperedge too. rate is phi / d, share is omega / delta.
    """

    indptr: Codes
    edges: Codes
    gamma: Floats
    source_weights: Floats
    edge_indptr: Codes
    members: Codes
    edge_gamma: Floats
    edge_picks: Floats
    stationary: Floats
    rate: Floats
    share: Floats


class State(NamedTuple):
    """The clusters as the kernels change them.

    sums[e, 0, j] and sums[e, 1, j] add gamma and rate * picks over the members of e in cluster j;
    insides are the flows that stay inside each cluster.
    """

    labels: Integers
    sizes: Integers
    volumes: Floats
    insides: Floats
    sums: Floats


@kernel
def tally(flow: Flow, state: State, first: int, last: int) -> None:
    """Fill the sums of some hyperedges, which are zero, from the labels."""
    for edge in range(first, last):
        for position in range(flow.edge_indptr[edge], flow.edge_indptr[edge + 1]):
            vertex = flow.members[position]
            cluster = state.labels[vertex]
            state.sums[edge, 0, cluster] += flow.edge_gamma[position]
            state.sums[edge, 1, cluster] += flow.rate[vertex] * flow.edge_picks[position]


@inner_kernel
def link(flow: Flow, state: State, vertex: int, linked: Floats) -> float:
    """Fill `linked`, the flow between a vertex and each cluster; returns the vertex's flow to itself."""
    edges, gamma, source_weights, share, sums = (
        flow.edges,
        flow.gamma,
        flow.source_weights,
        flow.share,
        state.sums,
    )
    first, last = flow.indptr[vertex], flow.indptr[vertex + 1]
    rate = flow.rate[vertex]
    own = 0.0
    if len(linked) == 2:  # both together are 2 phi(v)
        half = 0.0
        for position in range(first, last):
            edge = edges[position]
            inward = share[edge] * gamma[position]
            outward = share[edge] * (rate * source_weights[position])
            own += outward * gamma[position]
            half += outward * sums[edge, 0, 0] + inward * sums[edge, 1, 0]
        linked[0] = half
        linked[1] = 2.0 * flow.stationary[vertex] - half
        return own
    linked[:] = 0.0
    for position in range(first, last):
        edge = edges[position]
        inward = share[edge] * gamma[position]
        outward = share[edge] * (rate * source_weights[position])
        own += outward * gamma[position]
        for cluster in range(len(linked)):
            linked[cluster] += outward * sums[edge, 0, cluster] + inward * sums[edge, 1, cluster]
    return own


@inner_kernel
def best_target(
    state: State, home: int, mass: float, own: float, linked: Floats, least: float
) -> tuple[float, int]:
    """By how much the cost falls at most when a vertex of this mass leaves home, and for which cluster.

    The cost is the NCut plus SHORT for each cluster without volume, less for one that has some of the
    volume `least`. A cluster is not left with less than that, nor empty, nor with nothing but rounding
    errors.
    """
    volumes, insides = state.volumes, state.insides
    rest = volumes[home] - mass
    if state.sizes[home] < 2 or rest < max(least, NOISE):
        return -1.0, home
    best = -np.inf
    target = home
    for cluster in range(len(volumes)):
        if cluster != home:
            joined = (insides[cluster] + linked[cluster] + own) / (volumes[cluster] + mass)
            gain = joined - insides[cluster] / volumes[cluster]
            if volumes[cluster] < least:
                gain += SHORT * min(mass, least - volumes[cluster]) / least
            if gain > best:
                best = gain
                target = cluster
    return best + (insides[home] - linked[home] + own) / rest - insides[home] / volumes[home], target


@kernel
def gains(flow: Flow, state: State, vertices: Integers, least: float, found: Floats) -> None:
    """For each of the vertices, by how much its best move lowers the cost (negative: raises it)."""
    linked = np.empty(len(state.volumes))
    for index in range(len(vertices)):
        vertex = vertices[index]
        own = link(flow, state, vertex, linked)
        found[index], _ = best_target(
            state, state.labels[vertex], flow.stationary[vertex], own, linked, least
        )


@inner_kernel
def place(flow: Flow, state: State, vertex: int, target: int, own: float, linked: Floats) -> None:
    """Move one vertex, and everything that depends on it."""
    home = state.labels[vertex]
    mass = flow.stationary[vertex]
    state.labels[vertex] = target
    state.sizes[home] -= 1
    state.sizes[target] += 1
    state.volumes[home] -= mass
    state.volumes[target] += mass
    state.insides[home] -= linked[home] - own
    state.insides[target] += linked[target] + own
    for position in range(flow.indptr[vertex], flow.indptr[vertex + 1]):
        edge = flow.edges[position]
        picked = flow.rate[vertex] * flow.source_weights[position]
        state.sums[edge, 0, home] -= flow.gamma[position]
        state.sums[edge, 1, home] -= picked
        state.sums[edge, 0, target] += flow.gamma[position]
        state.sums[edge, 1, target] += picked


@kernel
def settle(flow: Flow, state: State, vertices: Integers, least: float, enough: float, most: int) -> int:
    """Make each vertex's best move in turn, where it gains more than `enough`, until none does.

    Returns the number of passes over the vertices, `most` at most: in clusters so small that rounding
    decides, moves may go round in circles.
    """
    linked = np.empty(len(state.volumes))
    passes = 0
    moving = True
    while moving and passes < most:
        moving = False
        passes += 1
        for vertex in vertices:
            own = link(flow, state, vertex, linked)
            home = state.labels[vertex]
            gain, target = best_target(state, home, flow.stationary[vertex], own, linked, least)
            if gain > enough:
                place(flow, state, vertex, target, own, linked)
                moving = True
    return passes


@inner_kernel
def drawn_source(flow: Flow, state: State, first: int, last: int, luck: float) -> int:
    """A cluster drawn by its number of members in a hyperedge, or -1 for all where luck is negative."""
    if luck < 0.0:
        return -1
    source = -1
    left = luck * (last - first)
    held = np.zeros(len(state.volumes))
    for position in range(first, last):
        held[state.labels[flow.members[position]]] += 1.0
    for cluster in range(len(held)):
        if left >= 0.0 and held[cluster] > 0.0:
            source = cluster
        left -= held[cluster]
    return source


@inner_kernel
def total(state: State, least: float) -> float:
    """The cost; infinite where a cluster is empty or its volume is nothing but rounding errors."""
    cost = 0.0
    for cluster in range(len(state.volumes)):
        volume = state.volumes[cluster]
        if state.sizes[cluster] == 0 or volume < NOISE:
            return np.inf
        cost += 1.0 - state.insides[cluster] / volume
        if volume < least:
            cost += SHORT * (least - volume) / least
    return cost


@kernel
def forced(
    flow: Flow,
    state: State,
    edges: Integers,
    targets: Integers,
    luck: Floats,
    least: float,
    sources: Integers,
    costs: Floats,
) -> None:
    """The cost after forcing members of a hyperedge into a cluster, for several; none is kept.

    The members are those of one cluster, `sources`, drawn with the help of `luck`; where luck is
    negative they are all.
    """
    linked = np.empty(len(state.volumes))
    volumes, insides = state.volumes.copy(), state.insides.copy()
    for attempt in range(len(edges)):
        first, last = flow.edge_indptr[edges[attempt]], flow.edge_indptr[edges[attempt] + 1]
        source = drawn_source(flow, state, first, last, luck[attempt])
        before = np.empty(last - first, dtype=np.int64)
        for position in range(first, last):
            vertex = flow.members[position]
            home = state.labels[vertex]
            before[position - first] = home
            if home != targets[attempt] and (source < 0 or source == home):
                own = link(flow, state, vertex, linked)
                place(flow, state, vertex, targets[attempt], own, linked)
        sources[attempt] = source
        costs[attempt] = total(state, least)
        for position in range(first, last):
            vertex = flow.members[position]
            if state.labels[vertex] != before[position - first]:
                own = link(flow, state, vertex, linked)
                place(flow, state, vertex, before[position - first], own, linked)
        state.volumes[:] = volumes
        state.insides[:] = insides


@kernel
def assign(flow: Flow, state: State, vertices: Integers, targets: Integers) -> None:
    """Move each vertex to its target, whatever that does to the NCut."""
    linked = np.empty(len(state.volumes))
    for index in range(len(vertices)):
        if state.labels[vertices[index]] != targets[index]:
            own = link(flow, state, vertices[index], linked)
            place(flow, state, vertices[index], targets[index], own, linked)


@kernel
def pass_over(flow: Flow, state: State, vertices: Integers, ncuts: Floats) -> None:
    """Of two clusters, move these vertices of the first to the second one by one; the NCut after each."""
    linked = np.empty(2)
    for index in range(len(vertices)):
        own = link(flow, state, vertices[index], linked)
        place(flow, state, vertices[index], 1, own, linked)
        ncuts[index] = total(state, 0.0)
