"""Loops of the vertex search: the NCut gain of moving one vertex, and the move itself.

For a vertex v and a cluster j let

    linked(j) = sum_e scale(e) (a gamma_j(e) + gamma_e(v) a_j(e)),    scale = omega / delta,

with a = phi(v) gamma_e(v)^alpha / d(v), and gamma_j(e), a_j(e) the sums of gamma and of a over the members
of e in cluster j. It is the flow between v and S_j in both directions, so moving v from cluster i to j
changes

    internal(S_i) by -linked(i) + own,    internal(S_j) by linked(j) + own,

with own the flow from v to itself, and the volumes by phi(v). A move costs O(deg v k). The NCut is
computed in `best_target` and `cost` only.
"""

from typing import NamedTuple

import numpy as np

from hyperclus._runtime.jit import inner_kernel, kernel
from hyperclus.typing import Codes, Floats, Integers

VOLUME_PENALTY = 2.0  # cost of a cluster without volume; its term of the NCut is at most 1
NOISE = 1e-12  # a volume below this may be rounding error


class Flow(NamedTuple):
    """The walk by vertex and by hyperedge; rate is phi / d, scale is omega / delta."""

    indptr: Codes
    edges: Codes
    gamma: Floats
    source_weights: Floats
    edge_indptr: Codes
    members: Codes
    edge_gamma: Floats
    edge_source_weights: Floats
    stationary: Floats
    rate: Floats
    scale: Floats


class State(NamedTuple):
    """The clusters, which the kernels change.

    sums[e, 0, j] and sums[e, 1, j] add gamma and rate * source_weights over the members of e in cluster j;
    insides are the flows inside each cluster.
    """

    labels: Integers
    sizes: Integers
    volumes: Floats
    insides: Floats
    sums: Floats


@kernel
def tally(flow: Flow, state: State) -> None:
    """Compute the sums, which are zero before, from the labels."""
    for edge in range(len(flow.scale)):
        for position in range(flow.edge_indptr[edge], flow.edge_indptr[edge + 1]):
            vertex = flow.members[position]
            cluster = state.labels[vertex]
            state.sums[edge, 0, cluster] += flow.edge_gamma[position]
            state.sums[edge, 1, cluster] += flow.rate[vertex] * flow.edge_source_weights[position]


@inner_kernel
def link(flow: Flow, state: State, vertex: int, linked: Floats) -> float:
    """Compute `linked`, the flow between a vertex and each cluster; returns its flow to itself."""
    edges, gamma, source_weights = flow.edges, flow.gamma, flow.source_weights
    scale, sums = flow.scale, state.sums
    first, last = flow.indptr[vertex], flow.indptr[vertex + 1]
    rate = flow.rate[vertex]
    own = 0.0
    if len(linked) == 2:  # their sum is 2 phi(v)
        half = 0.0
        for position in range(first, last):
            edge = edges[position]
            inward = scale[edge] * gamma[position]
            outward = scale[edge] * (rate * source_weights[position])
            own += outward * gamma[position]
            half += outward * sums[edge, 0, 0] + inward * sums[edge, 1, 0]
        linked[0] = half
        linked[1] = 2.0 * flow.stationary[vertex] - half
        return own
    linked[:] = 0.0
    for position in range(first, last):
        edge = edges[position]
        inward = scale[edge] * gamma[position]
        outward = scale[edge] * (rate * source_weights[position])
        own += outward * gamma[position]
        for cluster in range(len(linked)):
            linked[cluster] += outward * sums[edge, 0, cluster] + inward * sums[edge, 1, cluster]
    return own


@inner_kernel
def best_target(
    state: State, home: int, mass: float, own: float, linked: Floats, min_volume: float
) -> tuple[float, int]:
    """The largest decrease of the cost when a vertex of this mass leaves home, and the cluster that it joins.

    The cost is the NCut plus a penalty for each cluster below `min_volume`. A cluster is not left with less
    than that, nor empty, nor with a volume of rounding errors only.
    """
    volumes, insides = state.volumes, state.insides
    rest = volumes[home] - mass
    if state.sizes[home] < 2 or rest < max(min_volume, NOISE):
        return -1.0, home
    best = -np.inf
    target = home
    for cluster in range(len(volumes)):
        if cluster != home:
            joined = (insides[cluster] + linked[cluster] + own) / (volumes[cluster] + mass)
            gain = joined - insides[cluster] / volumes[cluster]
            if volumes[cluster] < min_volume:
                gain += VOLUME_PENALTY * min(mass, min_volume - volumes[cluster]) / min_volume
            if gain > best:
                best = gain
                target = cluster
    return best + (insides[home] - linked[home] + own) / rest - insides[home] / volumes[home], target


@kernel
def gains(flow: Flow, state: State, vertices: Integers, min_volume: float, found: Floats) -> None:
    """Compute for each vertex how much its best move lowers the cost; negative if it raises it."""
    linked = np.empty(len(state.volumes))
    for index in range(len(vertices)):
        vertex = vertices[index]
        own = link(flow, state, vertex, linked)
        found[index], _ = best_target(
            state, state.labels[vertex], flow.stationary[vertex], own, linked, min_volume
        )


@inner_kernel
def move(flow: Flow, state: State, vertex: int, target: int, own: float, linked: Floats) -> None:
    """Move one vertex and update the state."""
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
def descend(
    flow: Flow, state: State, vertices: Integers, min_volume: float, min_gain: float, max_passes: int
) -> int:
    """Make the best move of each vertex in turn, if it gains more than `min_gain`, until none does.

    Returns the number of passes over the vertices. It is limited because moves may cycle in clusters that are
    so small that rounding decides.
    """
    linked = np.empty(len(state.volumes))
    passes = 0
    moving = True
    while moving and passes < max_passes:
        moving = False
        passes += 1
        for vertex in vertices:
            own = link(flow, state, vertex, linked)
            home = state.labels[vertex]
            gain, target = best_target(state, home, flow.stationary[vertex], own, linked, min_volume)
            if gain > min_gain:
                move(flow, state, vertex, target, own, linked)
                moving = True
    return passes


@inner_kernel
def cost(state: State, min_volume: float) -> float:
    """The cost; infinite if a cluster is empty or its volume is only rounding errors."""
    total = 0.0
    for cluster in range(len(state.volumes)):
        volume = state.volumes[cluster]
        if state.sizes[cluster] == 0 or volume < NOISE:
            return np.inf
        total += 1.0 - state.insides[cluster] / volume
        if volume < min_volume:
            total += VOLUME_PENALTY * (min_volume - volume) / min_volume
    return total


@kernel
def assign(flow: Flow, state: State, vertices: Codes, targets: Integers) -> None:
    """Move each vertex to its target, whatever the NCut becomes."""
    linked = np.empty(len(state.volumes))
    for index in range(len(vertices)):
        if state.labels[vertices[index]] != targets[index]:
            own = link(flow, state, vertices[index], linked)
            move(flow, state, vertices[index], targets[index], own, linked)


@kernel
def forced_costs(
    flow: Flow,
    state: State,
    edges: Integers,
    targets: Integers,
    uniforms: Floats,
    min_volume: float,
    sources: Integers,
    costs: Floats,
) -> None:
    """Compute the cost after moving members of a hyperedge into a cluster, for several; all are undone.

    The members are those of one cluster, `sources`, drawn by `uniforms` in proportion to their number; all if
    that is negative.
    """
    volumes, insides = state.volumes.copy(), state.insides.copy()
    for attempt in range(len(edges)):
        members = flow.members[flow.edge_indptr[edges[attempt]] : flow.edge_indptr[edges[attempt] + 1]]
        size, target, source = len(members), targets[attempt], -1
        before = state.labels[members]
        if size > 0 and uniforms[attempt] >= 0.0:
            source = np.sort(before)[min(int(uniforms[attempt] * size), size - 1)]
        after = before.copy()
        for index in range(size):
            if source < 0 or source == before[index]:
                after[index] = target
        assign(flow, state, members, after)
        sources[attempt] = source
        costs[attempt] = cost(state, min_volume)
        assign(flow, state, members, before)
        state.volumes[:] = volumes
        state.insides[:] = insides


@kernel
def sweep(flow: Flow, state: State, vertices: Integers, ncuts: Floats) -> None:
    """Move vertices from the first of two clusters to the second one by one; the NCut after each move."""
    linked = np.empty(2)
    for index in range(len(vertices)):
        own = link(flow, state, vertices[index], linked)
        move(flow, state, vertices[index], 1, own, linked)
        ncuts[index] = cost(state, 0.0)
