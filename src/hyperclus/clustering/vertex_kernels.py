"""Loops of the vertex search, for any objective.

The inner kernels that they call, here without a body, are those of the objective's module; see
`objectives` and `jit.specialized`.
"""

from typing import Any, NamedTuple

import numpy as np

from hyperclus._runtime.arrays import read_only
from hyperclus._runtime.jit import inner_kernel, kernel
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Codes, Floats, Integers

VOLUME_PENALTY = 2.0  # cost of a cluster without volume; its term of the NCut is at most 1
NOISE = 1e-12  # a volume below this may be rounding error


class Flow(NamedTuple):
    """The walk by vertex and by hyperedge; rate is phi / d, scale is omega / delta.

    In a reversible walk the flow from one vertex to another equals the flow back.
    """

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
    reversible: bool


def flow_of(walk: RandomWalk) -> Flow:
    """The walk as the kernels read it, without copies."""
    factors, lists = walk.factors, walk.factors.lists
    by_vertex, by_edge = lists.gamma_by_vertex, lists.gamma
    of_vertices = by_vertex.indptr, by_vertex.indices, by_vertex.data, lists.source_weights_by_vertex.data
    of_edges = by_edge.indptr, by_edge.indices, by_edge.data, lists.source_weights.data
    masses: Any = walk.stationary, walk.stationary / factors.relative_degrees, factors.shares
    return Flow._make((*map(read_only, (*of_vertices, *of_edges, *masses)), walk.reversible))


class State(NamedTuple):
    """The clusters, which the kernels change.

    sums[e, 0, j] and sums[e, 1, j] add gamma and rate * source_weights over the members of e in cluster j;
    flows are what the objective needs of the flows between clusters. No move raises a volume above `most`,
    and perturbations leave vertices where they are that are `still`.
    """

    labels: Integers
    sizes: Integers
    volumes: Floats
    flows: Floats
    sums: Floats
    most: Floats
    still: Booleans


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
def buffer(state: State) -> Floats:
    """Allocate memory for what `link` computes."""
    raise NotImplementedError


@inner_kernel
def link(flow: Flow, state: State, vertex: int, linked: Floats) -> float:
    """Compute `linked`, the flow between a vertex and each cluster; returns its flow to itself."""
    raise NotImplementedError


@inner_kernel
def best_target(
    state: State, home: int, mass: float, own: float, linked: Floats, min_volume: float
) -> tuple[float, int]:
    """The largest decrease of the cost when a vertex of this mass leaves home, and the cluster that it joins.

    A cluster is not left with less than `min_volume`, nor empty, nor with a volume of rounding errors only.
    None gets more than `state.most`; the decrease is -inf if no move is possible for that reason.
    """
    raise NotImplementedError


@inner_kernel
def move(flow: Flow, state: State, vertex: int, target: int, own: float, linked: Floats) -> None:
    """Move one vertex and update the flows, then the rest by `relabel`."""
    raise NotImplementedError


@inner_kernel
def plain_cost(state: State) -> float:
    """The cost without penalties."""
    raise NotImplementedError


@inner_kernel
def cost(state: State, min_volume: float) -> float:
    """The cost, with penalties; infinite if a cluster is empty, too large, or only rounding errors."""
    total = plain_cost(state)
    for cluster in range(len(state.volumes)):
        volume = state.volumes[cluster]
        if state.sizes[cluster] == 0 or volume < NOISE or volume > state.most[cluster]:
            return np.inf
        if volume < min_volume:
            total += VOLUME_PENALTY * (min_volume - volume) / min_volume
    return total


@inner_kernel
def relabel(flow: Flow, state: State, vertex: int, target: int) -> None:
    """Move one vertex and update everything but the flows."""
    home = state.labels[vertex]
    mass = flow.stationary[vertex]
    state.labels[vertex] = target
    state.sizes[home] -= 1
    state.sizes[target] += 1
    state.volumes[home] -= mass
    state.volumes[target] += mass
    for position in range(flow.indptr[vertex], flow.indptr[vertex + 1]):
        edge = flow.edges[position]
        picked = flow.rate[vertex] * flow.source_weights[position]
        state.sums[edge, 0, home] -= flow.gamma[position]
        state.sums[edge, 1, home] -= picked
        state.sums[edge, 0, target] += flow.gamma[position]
        state.sums[edge, 1, target] += picked


@kernel
def gains(flow: Flow, state: State, vertices: Integers, min_volume: float, found: Floats) -> None:
    """Compute for each vertex how much its best move lowers the cost; negative if it raises it."""
    linked = buffer(state)
    for index in range(len(vertices)):
        vertex = vertices[index]
        own = link(flow, state, vertex, linked)
        found[index], _ = best_target(
            state, state.labels[vertex], flow.stationary[vertex], own, linked, min_volume
        )


@kernel
def best_moves(flow: Flow, state: State, found: Floats, targets: Integers) -> None:
    """As `gains`, for all vertices and any volumes, with the cluster that each would join; or its own."""
    linked = buffer(state)
    for vertex in range(len(state.labels)):
        own = link(flow, state, vertex, linked)
        found[vertex], targets[vertex] = best_target(
            state, state.labels[vertex], flow.stationary[vertex], own, linked, 0.0
        )


@kernel
def descend(
    flow: Flow, state: State, vertices: Integers, min_volume: float, min_gain: float, max_passes: int
) -> int:
    """Make the best move of each vertex in turn, if it gains more than `min_gain`, until none does.

    Returns the number of passes over the vertices. It is limited because moves may cycle in clusters that are
    so small that rounding decides.
    """
    linked = buffer(state)
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


@kernel
def assign(flow: Flow, state: State, vertices: Codes, targets: Integers) -> None:
    """Move each vertex to its target, whatever the cost becomes."""
    linked = buffer(state)
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
    volumes, flows = state.volumes.copy(), state.flows.copy()
    for attempt in range(len(edges)):
        members = flow.members[flow.edge_indptr[edges[attempt]] : flow.edge_indptr[edges[attempt] + 1]]
        size, target, source = len(members), targets[attempt], -1
        before = state.labels[members]
        if size > 0 and uniforms[attempt] >= 0.0:
            source = np.sort(before)[min(int(uniforms[attempt] * size), size - 1)]
        after = before.copy()
        for index in range(size):
            if (source < 0 or source == before[index]) and not state.still[members[index]]:
                after[index] = target
        assign(flow, state, members, after)
        sources[attempt] = source
        costs[attempt] = cost(state, min_volume)
        assign(flow, state, members, before)
        state.volumes[:] = volumes
        state.flows[:] = flows


@kernel
def sweep(flow: Flow, state: State, vertices: Integers, costs: Floats) -> None:
    """Move vertices from the first of two clusters to the second one by one; the cost after each move."""
    linked = buffer(state)
    for index in range(len(vertices)):
        own = link(flow, state, vertices[index], linked)
        move(flow, state, vertices[index], 1, own, linked)
        costs[index] = cost(state, 0.0)
