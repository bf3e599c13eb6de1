"""The walk and the clusters as the kernels of the vertex search read them, and these kernels."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hyperclus._runtime.native import Kernel, Kind, Record
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Codes, Floats, Integers

VOLUME_PENALTY = 2.0  # cost of a cluster without volume; its term of the NCut is at most 1
NOISE = 1e-12  # a volume below this may be rounding error
CHANGING = ("labels", "sizes", "volumes", "flows", "sums", "clusters", "counts", "used")  # by moves

_tally = Kernel("tally", "record", "record")
_flows_between = Kernel("flows_between", "record", "record", "floats")


@dataclass(frozen=True, eq=False)
class Flow(Record):
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
    n_vertices: int
    n_edges: int

    KINDS: ClassVar[tuple[Kind, ...]] = (
        *("indices", "indices", "floats", "floats") * 2,
        *("floats", "floats", "floats", "int", "int", "int"),
    )


def flow_of(walk: RandomWalk) -> Flow:
    """The walk as the kernels read it, without copies."""
    factors, lists = walk.factors, walk.factors.lists
    by_vertex, by_edge = lists.gamma_by_vertex, lists.gamma
    of_vertices = by_vertex.indptr, by_vertex.indices, by_vertex.data, lists.source_weights_by_vertex.data
    of_edges = by_edge.indptr, by_edge.indices, by_edge.data, lists.source_weights.data
    masses = walk.stationary, walk.stationary / factors.relative_degrees, factors.shares
    return Flow(*of_vertices, *of_edges, *masses, walk.reversible, *by_vertex.shape)


@dataclass(frozen=True, eq=False)
class State(Record):
    """The clusters, which the kernels change.

    `sums` add gamma, and rate * source_weights, over the members of a hyperedge in each cluster. Those of
    hyperedge e begin at 2 starts[e]. A hyperedge with many members has k sums of each; one with few has a
    list, whose places belong to the `clusters` of which it has `counts` members, as many as are `used`.
    `flows` are what the objective needs of the flows between clusters. No move raises a volume above `most`,
    and perturbations leave vertices where they are that are `still`.
    """

    labels: Integers
    sizes: Integers
    volumes: Floats
    flows: Floats
    sums: Floats
    starts: Integers
    clusters: Codes
    counts: Codes
    used: Codes
    most: Floats
    still: Booleans
    k: int

    KINDS: ClassVar[tuple[Kind, ...]] = (
        *("integers", "integers", "floats", "floats", "floats", "integers", "codes", "codes", "codes"),
        *("floats", "booleans", "int"),
    )

    @classmethod
    def of(cls, flow: Flow, labels: Integers, k: int, most: float, still: Booleans) -> "State":
        """The clusters of labels 0 .. k - 1, without flows."""
        members = np.diff(flow.edge_indptr).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(np.where(2 * members >= k, k, members))])
        count = int(starts[-1])
        state = cls(
            labels=labels.astype(np.int64),
            sizes=np.bincount(labels, minlength=k).astype(np.int64),
            volumes=np.bincount(labels, weights=flow.stationary, minlength=k).astype(np.float64),
            flows=np.empty(0),
            sums=np.zeros(2 * count),
            starts=starts,
            clusters=np.zeros(count, dtype=np.int32),
            counts=np.zeros(count, dtype=np.int32),
            used=np.zeros(flow.n_edges, dtype=np.int32),
            most=np.full(k, most),
            still=still,
            k=k,
        )
        _tally(flow, state)
        return state

    @classmethod
    def without_sums(cls, labels: Integers, volumes: Floats, flows: Floats) -> "State":
        """Clusters for `row_moves`, which needs no sums."""
        k, nothing = len(volumes), np.zeros(0, dtype=np.int32)
        sizes = np.bincount(labels, minlength=k).astype(np.int64)
        anywhere = np.full(k, np.inf), np.zeros(0, dtype=bool)
        lists = np.zeros(0), np.zeros(0, dtype=np.int64), nothing, nothing, nothing
        return cls(labels.astype(np.int64), sizes, volumes, flows, *lists, *anywhere, k)

    def between(self, flow: Flow) -> Floats:
        """F_ij, the flow from cluster i to cluster j."""
        found = np.zeros((self.k, self.k))
        _flows_between(flow, self, found)
        return found

    def with_arrays(self, **arrays: Any) -> "State":
        """The same with other arrays."""
        return replace(self, **arrays)


def lists_fit(state: State, kept: dict[str, Any]) -> bool:
    """Whether stored lists of clusters are within their hyperedges, so that kernels stay within their arrays.

    A list is short, and all members of a hyperedge are in it.
    """
    capacities = np.diff(state.starts)
    short = capacities < state.k
    used, clusters, counts = kept["used"], kept["clusters"], kept["counts"]
    if (used[~short] != 0).any() or (used < 0).any() or (used > capacities).any():
        return False
    rows = np.repeat(np.arange(len(capacities)), capacities)
    inside = np.arange(len(rows)) - state.starts[rows] < used[rows]
    sound = bool(((clusters[inside] >= 0) & (clusters[inside] < state.k) & (counts[inside] > 0)).all())
    members = np.bincount(rows[inside], weights=counts[inside], minlength=len(capacities))
    return sound and np.array_equal(members[short], capacities[short])


@dataclass(frozen=True)
class VertexKernels:
    """The kernels for one objective, by the prefix of their names."""

    prefix: str

    def gains(self, flow: Flow, state: State, vertices: Integers, min_volume: float, found: Floats) -> None:
        """Compute for each vertex how much its best move lowers the cost; negative if it raises it."""
        self._gains(flow, state, vertices, len(vertices), min_volume, found)

    def best_moves(self, flow: Flow, state: State, found: Floats, targets: Integers) -> None:
        """As `gains`, for all vertices and any volumes, with the cluster that each would join; or its own."""
        self._best_moves(flow, state, found, targets)

    def row_moves(
        self, state: State, out: Floats, back: Floats, own: Floats, masses: Floats
    ) -> tuple[Floats, Integers]:
        """As `best_moves`, given the flows of vertices to clusters and back, without those to themselves."""
        found, targets = np.empty(len(own)), np.empty(len(own), dtype=np.int64)
        self._row_moves(state, out, back, own, masses, len(own), found, targets)
        return found, targets

    def descend(
        self,
        flow: Flow,
        state: State,
        vertices: Integers,
        min_volume: float,
        min_gain: float,
        max_passes: int,
    ) -> int:
        """Make the best move of each vertex in turn, if it gains more than `min_gain`, until none does.

        Returns the number of passes over the vertices. It is limited because moves may cycle in clusters that
        are so small that rounding decides.
        """
        limits = min_volume, min_gain, max_passes
        return int(self._descend(flow, state, vertices, len(vertices), *limits))

    def assign(self, flow: Flow, state: State, vertices: Integers, targets: Integers) -> None:
        """Move each vertex to its target, whatever the cost becomes."""
        self._assign(flow, state, vertices, len(vertices), targets)

    def forced_costs(
        self, flow: Flow, state: State, drawn: tuple[Integers, Integers, Floats], min_volume: float
    ) -> tuple[Integers, Floats]:
        """The cost after moving members of a hyperedge into a cluster, for several; all are undone.

        Drawn are hyperedges, targets and uniform numbers. The members are those of one cluster, which is
        returned, drawn by the uniform number in proportion to their number; all if that is negative.
        """
        edges, targets, uniforms = drawn
        sources, costs = np.empty(len(edges), dtype=np.int64), np.empty(len(edges))
        self._forced_costs(flow, state, edges, targets, uniforms, len(edges), min_volume, sources, costs)
        return sources, costs

    def sweep(self, flow: Flow, state: State, vertices: Integers) -> Floats:
        """Move vertices from the first of two clusters to the second one by one; the cost after each."""
        costs = np.empty(len(vertices))
        self._sweep(flow, state, vertices, len(vertices), costs)
        return costs

    @cached_property
    def _gains(self) -> Kernel:
        return self._kernel("gains", "integers", "int", "float", "floats")

    @cached_property
    def _best_moves(self) -> Kernel:
        return self._kernel("best_moves", "floats", "integers")

    @cached_property
    def _row_moves(self) -> Kernel:
        kinds: tuple[Kind, ...] = ("record", *("floats",) * 4, "int", "floats", "integers")
        return Kernel(f"{self.prefix}_row_moves", *kinds)

    @cached_property
    def _descend(self) -> Kernel:
        return self._kernel("descend", "integers", "int", "float", "float", "int", returns="int")

    @cached_property
    def _assign(self) -> Kernel:
        return self._kernel("assign", "integers", "int", "integers")

    @cached_property
    def _forced_costs(self) -> Kernel:
        drawn: tuple[Kind, ...] = ("integers", "integers", "floats", "int", "float")
        return self._kernel("forced_costs", *drawn, "integers", "floats")

    @cached_property
    def _sweep(self) -> Kernel:
        return self._kernel("sweep", "integers", "int", "floats")

    def _kernel(self, name: str, *kinds: Kind, returns: Any = None) -> Kernel:
        return Kernel(f"{self.prefix}_{name}", "record", "record", *kinds, returns=returns)
