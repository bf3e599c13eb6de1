"""The two protocols of an engine: products over incidences, and the backend that holds its arrays.

An engine is a pair of them. Solvers use NumPy's functions, which work on the arrays of every engine, and the
methods below where arrays are created, moved or read. No solver asks which engine it runs on.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

from hyperclus._runtime.checkpoint import Checkpoint
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.typing import Booleans, Floats, Integers

Weights: TypeAlias = Literal["gamma", "source_weights"]
Directions: TypeAlias = Literal["out", "both", "sum"]
Array = TypeVar("Array")

REACH = 8  # steps from one vertex after which a full search for components takes over


class ArrayBackend(Protocol):
    """Where the vectors of a walk live: in host memory, on a GPU, or in chunks on many workers.

    On many workers vectors are lazy and each value that the host reads costs a round trip.
    """

    @property
    def name(self) -> str:
        """The engine: "cpu", "cuda" or "dask"."""

    @property
    def on_host(self) -> bool:
        """Whether arrays are NumPy arrays of this process, so that direct solvers can use them."""

    @property
    def dense_up_to(self) -> int:
        """Rows of a symmetric array whose eigenvectors take at most about half a second."""

    def put(self, values: Any, dtype: Any = None) -> Any:
        """Move a host array to the backend; with many workers, small arrays stay on the host."""

    def fetch(self, *values: Any) -> list[Any]:
        """Fetch scalars and small arrays to the host in one round trip."""

    def persist(self, vector: Array) -> Array:
        """Have a lazy vector stored when it is first computed; the vector itself elsewhere."""

    def empty_columns(self, like: Any, count: int) -> Any:
        """Allocate an uninitialised (n, count) block in Fortran order."""

    def take(self, table: Any, codes: Any) -> Any:
        """Return table[codes] for a small table."""

    def normal(self, size: int, rng: np.random.Generator) -> Any:
        """Draw a vector of independent standard normal numbers."""

    def row_slices(self, count: int) -> Iterable[slice]:
        """Split rows into slices that are worth computing together."""

    def column_batches(self, count: int) -> Iterable[range]:
        """Split columns into batches that are worth computing together."""

    def block_width(self, wanted: int, n_incidences: int) -> int | None:
        """Return how many vectors a product should take at once; None for one vector, not a block."""

    def sign_of_largest(self, vector: Any) -> Any:
        """Return the sign of the entry of largest magnitude, to be fetched."""

    def sample_rows(self, points: Any, masses: Any, count: int) -> tuple[Floats, Floats]:
        """Sample about `count` rows in proportion to their mass; rows and weights on the host."""

    def nearest(self, points: Any, centres: Floats) -> Any:
        """Label each row by its nearest centre; no label is left out unless rows are on many workers."""

    def mass_splitter(self, scores: Any, masses: Any) -> Callable[[Sequence[float]], Iterator[Any]]:
        """Return a function that splits rows by score: label 0 for each given share of a mass of 1."""

    def best_half(self, mask: Any, scores: Any, count: int, seed: int) -> Any:
        """Mark the half with the highest scores among the `count` marked rows, at least one."""

    def first_rows(self, labels: Any, count: int) -> Any:
        """Return the first row of each label 0 .. count - 1, to be fetched."""

    def components(self, products: "IncidenceProducts", hypergraph: Any) -> tuple[int, Any, Any]:
        """Return the number of connected components and the component of each vertex and hyperedge."""

    def run_on_one(self, function: Callable[..., Any], hypergraph: Any, *args: Any) -> dict[str, Any] | None:
        """Run function(hypergraph, *args) in host memory, here or on one worker; None if it does not fit.

        The function returns two dicts: facts, and arrays with a row for each vertex. The result holds both;
        the arrays are moved to the backend.
        """

    def open_checkpoint(self, stage: str, *inputs: Any, rng: np.random.Generator | None = None) -> Checkpoint:
        """Open the checkpoint of a stage, if its arrays can be stored."""


class IncidenceProducts(Protocol):
    """Weighted sums over incidences, for vectors and for the columns of blocks.

    The weights are gamma, or the source weights gamma^alpha. Each method passes once over the incidences.
    """

    takes_blocks: ClassVar[
        bool
    ]  # whether `symmetrized` takes blocks, because that is faster than column by column

    @property
    def backend(self) -> ArrayBackend:
        """Where the vectors live."""

    def to_edges(self, values: Floats, weights: Weights) -> Floats:
        """For each hyperedge the weighted sum of its members' values."""

    def to_vertices(self, values: Floats, weights: Weights) -> Floats:
        """For each vertex the weighted sum of its hyperedges' values."""

    def edge_pairs(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """`to_edges` of one vector with gamma and of another with the source weights."""

    def symmetrized(self, vector: Floats, left: Floats, right: Floats, middle: Floats) -> Floats:
        """Right A middle B left x + left B' middle A' right x, A of source weights and B of gamma."""

    def vertex_squares(self, values: Floats) -> Floats:
        """`to_vertices` with gamma times the source weights."""

    def least_share(self, out_edge: Floats, out_vertex: Floats, in_edge: Floats, in_vertex: Floats) -> float:
        """The least of max(out(e) out(v) gamma^alpha, in(e) in(v) gamma) over all incidences."""

    def constants(self) -> Floats | None:
        """Gamma of each vertex where it is the same in all of its hyperedges; None if it is not."""

    def between(self, labels: Any, count: int, given: "FlowFactors") -> list[Any]:
        """The columns of F, to be fetched: F_ij is the flow from cluster i to cluster j of 0 .. count - 1.

        It is the sum over the hyperedges of share(e) a_e(i) b_e(j), with a_e(i) the sum of rate gamma^alpha
        and b_e(j) that of gamma over the members in a cluster.
        """

    def linked(self, labels: Any, count: int, given: "FlowFactors", directions: Directions) -> "ClusterFlows":
        """Flows of each vertex to each cluster ("out"), both to and from it, or the sum of both."""

    def flows(
        self, labels: Any, count: int, phi: Floats, degrees: Floats, shares: Floats, once: bool = False
    ) -> tuple[Any, Any]:
        """Volume and boundary of each cluster, to be fetched; see `set_flow`.

        With `once`, the boundary of two clusters, which is the same up to rounding, is computed once.
        """


@dataclass(frozen=True, eq=False)
class FlowFactors:
    """What the flows of a walk between vertices follow from; each vector is computed once."""

    backend: ArrayBackend
    phi: Floats
    degrees: Floats
    shares: Floats  # omega / delta, of the hyperedges

    @cached_property
    def rates(self) -> Floats:
        """Phi over the degrees."""
        return self.backend.persist(self.phi / self.degrees)

    @cached_property
    def ones(self) -> Floats:
        """1 for each vertex."""
        return self.backend.persist(np.ones_like(self.phi))


class ClusterFlows(Protocol):
    """Flows between each vertex and each cluster of a partition, in some `Directions`."""

    def between(self) -> list[Any]:
        """The columns of F, to be fetched; of F plus its transpose if the directions are summed."""

    def blocks(self) -> Iterator[tuple[slice, list[Floats]]]:
        """Slices of vertices and their flows: for each direction columns for all clusters but the last."""


class ColumnFlows:
    """`ClusterFlows` by products for one cluster after the other; all flows are kept."""

    def __init__(
        self,
        products: IncidenceProducts,
        labels: Any,
        count: int,
        given: FlowFactors,
        directions: Directions,
    ) -> None:
        self._products, self._backend, self._given = products, products.backend, given
        self._labels, self._count, self._directions = labels, count, directions
        self._blocks: list[Any] = []

    def between(self) -> list[Any]:
        """Columns of F are sums of the flows over the clusters of the vertices."""
        phi = self._given.phi
        rest = [2.0 * phi] if self._directions == "sum" else [phi] * (2 if self._directions == "both" else 1)
        self._blocks = [self._backend.empty_columns(phi, self._count - 1) for _ in rest]
        found = []
        for cluster in range(self._count):
            columns = rest
            if cluster < self._count - 1:
                columns = self._columns(self._labels == cluster)
                for block, column in zip(self._blocks, columns, strict=True):
                    block[:, cluster] = column
                rest = [left - column for left, column in zip(rest, columns, strict=True)]
            found.append(np.bincount(self._labels, weights=columns[0], minlength=self._count))
        return found

    def blocks(self) -> Iterator[tuple[slice, list[Floats]]]:
        """Views of the columns."""
        if not self._blocks:
            self.between()
        for rows in self._backend.row_slices(len(self._given.phi)):
            yield rows, [block[rows] for block in self._blocks]

    def _columns(self, inside: Any) -> list[Floats]:
        """The flows between all vertices and one cluster."""
        products, given = self._products, self._given
        members = inside.astype(given.phi.dtype)
        if self._directions == "sum":
            return [products.symmetrized(members, given.ones, given.rates, given.shares)]
        found = [_flows_to(products, members, given)]
        if self._directions == "both":
            leaving = products.to_edges(members * given.rates, "source_weights")
            found.append(products.to_vertices(leaving * given.shares, "gamma"))
        return found


def _flows_to(products: IncidenceProducts, members: Floats, given: FlowFactors) -> Floats:
    """The flows from all vertices to a set, given as 1 for its members."""
    arriving = products.to_edges(members, "gamma") * given.shares
    return given.rates * products.to_vertices(arriving, "source_weights")


class ByColumns:
    """Products and flows of one column or cluster after the other, for engines without other ways."""

    takes_blocks: ClassVar[bool] = False

    def between(self: IncidenceProducts, labels: Any, count: int, given: FlowFactors) -> list[Any]:
        """Cluster by cluster."""
        columns = (
            _flows_to(self, (labels == cluster).astype(given.phi.dtype), given) for cluster in range(count)
        )
        return [np.bincount(labels, weights=column, minlength=count) for column in columns]

    def linked(
        self: IncidenceProducts, labels: Any, count: int, given: FlowFactors, directions: Directions
    ) -> ClusterFlows:
        """Cluster by cluster."""
        return ColumnFlows(self, labels, count, given, directions)


class LocalProducts(ByColumns):
    """What products over incidences in one memory share."""

    def flows(
        self: IncidenceProducts,
        labels: Integers,
        count: int,
        phi: Floats,
        degrees: Floats,
        shares: Floats,
        once: bool = False,
    ) -> tuple[Floats, Floats]:
        """Cluster by cluster."""
        if once and count == 2:
            volume, boundary = set_flow(self, labels == 0, phi, degrees, shares)
            return np.array([volume, float((phi * (labels == 1)).sum())]), np.array([boundary, boundary])
        found = [set_flow(self, labels == cluster, phi, degrees, shares) for cluster in range(count)]
        return np.array([volume for volume, _ in found]), np.array([boundary for _, boundary in found])


@single_blas_thread
def set_flow(
    products: IncidenceProducts, inside: Booleans, phi: Floats, degrees: Floats, shares: Floats
) -> tuple[float, float]:
    """vol(S) and |boundary S| = sum_e a_e(S) (1 - b_e(S)) of one set of vertices, given as a mask.

    With a_e(S) = sum_{u in S} phi(u) A(u, e) and b_e(S) = sum_{v in S} B(e, v); shares are omega / delta.
    """
    members = products.backend.put(inside).astype(phi.dtype)
    starting = members * phi
    leaving, picked = products.edge_pairs(1.0 - members, starting / degrees)
    return float(starting.sum()), float((shares * picked) @ leaving)


def reaches_all(products: IncidenceProducts, reached: Floats, n_vertices: int) -> bool:
    """Whether a few steps from the first vertex (`reached` is 1 there) reach every vertex.

    True of most connected hypergraphs, where it saves a full search for components. False decides nothing.
    """
    count = 1
    for _ in range(REACH):
        edges = products.to_edges(reached, "source_weights") > 0
        inside = products.to_vertices(edges.astype(np.float64), "source_weights") > 0
        reached = products.backend.persist(inside.astype(np.float64))
        before, count = count, int(reached.sum())
        if count in (before, n_vertices):
            break
    return count == n_vertices


def nearest_centre(points: Floats, centres: Floats) -> Integers:
    """For each point the number of the nearest centre."""
    distances = points @ (-2.0 * centres).T  # up to a constant for each point
    distances += np.square(centres).sum(axis=1)
    nearest: Integers = np.argmin(distances, axis=1)
    return nearest
