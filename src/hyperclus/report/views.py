"""What reports and plots show of a partition, as plain arrays.

Large data are sampled or aggregated, so that the views of a million vertices are no larger than those of ten
thousand; each view has the number of vertices it stands for.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from hyperclus._runtime.arrays import index_type
from hyperclus._runtime.native import Kernel
from hyperclus._runtime.threads import in_order, in_parallel
from hyperclus.clustering.cut import sweep
from hyperclus.clustering.description import (
    Description,
    TopHyperedges,
    TopVertices,
    describe,
    is_uniform,
    members_of,
)
from hyperclus.clustering.edge_flows import EdgeFlows, edge_flows
from hyperclus.clustering.incidence_blocks import edge_parts
from hyperclus.clustering.partition import Partition
from hyperclus.clustering.profile import table_columns
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.typing import Booleans, Codes, Floats, Integers

COORDINATES = 6  # of the embedding
MIN_PER_CLUSTER = 40  # vertices of each cluster in a sample, if there are as many and few clusters
OUTLIER_MARGIN = 0.4  # of the width of the middle 98 % of the vertices; points beyond are clipped

_cell_sums = Kernel(
    *("cell_sums", "indices", "indices", "floats", "codes", "codes", "int", "int", "int", "floats")
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper limits of what the views show."""

    embedding_vertices: int = 4000  # about: some of each cluster are always sampled
    sweep_points: int = 500
    grid_rows: int = 100
    grid_columns: int = 160
    grid_clusters: int = 200
    top: int = 12  # hyperedges and vertices listed for each cluster
    lookup_vertices: int = 20_000  # with more vertices, only those of the embedding can be looked up
    block_entries: int = 1 << 20  # incidences processed at a time
    block_cells: int = 1 << 22  # cells of an array (hyperedges, clusters) processed at a time
    rounded_from: int = 1_000_000  # shares to sort, from which they are rounded


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """Eigenvalues of L_sym, ascending; those after the first `n_converged` are upper bounds."""

    values: Floats
    n_converged: int
    residuals: Floats

    def gap_after(self, k: int) -> float | None:
        """Upper bound of lambda_{k+1} - lambda_k; None if lambda_{k+1} is unknown."""
        return float(self.values[k] - self.values[k - 1]) if k < len(self.values) else None


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """Vertices as points: the entries of the eigenvectors divided by sqrt(phi); outliers are clipped."""

    vertices: Integers  # positions in `vertex_ids`, ascending
    coordinates: Floats  # (n_vertices, n_axes), at least two axes
    axes: tuple[str, ...]
    total: int  # number of vertices from which these were sampled
    clipped: Booleans  # which coordinates were clipped

    @property
    def n_clipped(self) -> int:
        return int(np.count_nonzero(self.clipped.any(axis=1)))


@dataclass(frozen=True, slots=True, eq=False)
class SweepProfile:
    """NCut and conductance of the cuts along the second eigenvector, thinned out to the lowest ones."""

    sizes: Integers  # number of vertices on the first side of each cut
    ncuts: Floats
    conductances: Floats
    best: int  # position of the lowest NCut in these arrays
    total: int  # number of vertices


@dataclass(frozen=True, slots=True, eq=False)
class IncidenceGrid:
    """The incidence matrix with hyperedges as rows and vertices as columns, sorted by cluster and aggregated.

    A cell is the mean of gamma_e(v) / max gamma_e, 0 for non-members, over its hyperedges and vertices. The
    cluster of a row is that of its hyperedges in `Partition.edges_frame`; rows with none, -1, are the last.
    """

    cells: Floats
    edges: list[Codes]  # positions of the hyperedges of each row
    vertices: list[Codes]  # positions in the walk of the vertices of each column
    row_clusters: Integers
    column_clusters: Integers
    n_clusters: int  # the largest ones


@dataclass(frozen=True, eq=False)
class Views:
    """The views of one partition, each computed when it is first used.

    >>> from hyperclus import Hypergraph, cluster
    >>> views = Views(cluster(Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]])))
    >>> views.stay_probability.round(3).tolist()
    [1.0, 0.75, 0.75, 1.0]
    """

    partition: Partition
    limits: Limits = Limits()

    @property
    def clustered(self) -> Integers:
        """Positions in `vertex_ids` of the vertices of the walk: those in some hyperedge."""
        return np.flatnonzero(self.partition.labels >= 0)

    @cached_property
    def labels(self) -> Integers:
        return self.partition.walk_labels

    @property
    def leave_probability(self) -> float:
        """Stationary probability that a step leaves its cluster: the sum of the boundaries."""
        return float(self.partition.cut.boundaries.sum())

    @property
    def stay_probability(self) -> Floats:
        """For each vertex of the walk, the probability that the next step stays in its cluster."""
        return self._flows.stay_probability

    @property
    def top_hyperedges(self) -> tuple[TopHyperedges, ...]:
        """For each cluster S the hyperedges with the largest psi(e) share log(share / vol S) above 0."""
        return self._description.edges

    @cached_property
    def is_uniform(self) -> bool:
        """Whether all vertices have the same phi, as in a complete table without weights."""
        return is_uniform(self.partition.walk)

    @property
    def top_vertices(self) -> tuple[TopVertices, ...]:
        """For each cluster the vertices with the largest phi; ties are broken by stay probability."""
        return self._description.vertices

    @property
    def lookup(self) -> Integers:
        """Positions in `vertex_ids`, ascending, of the vertices that can be looked up by name."""
        total = len(self.partition.labels)
        return np.arange(total) if total <= self.limits.lookup_vertices else self.embedding.vertices

    @cached_property
    def spectrum(self) -> Spectrum:
        """The converged eigenvalues, and upper bounds of the next ones if approximate vectors are known.

        On a space orthogonal to the converged eigenvectors the i-th smallest Ritz value is at least the
        i-th of the remaining eigenvalues (Courant-Fischer).
        """
        pairs = self.partition.eigenpairs
        values = pairs.values
        if pairs.spare.shape[1]:
            spare = pairs.spare - pairs.vectors @ (pairs.vectors.T @ pairs.spare)
            basis, lengths, _ = np.linalg.svd(spare, full_matrices=False)
            del spare
            basis = basis[:, lengths > 1e-6]  # shorter ones are rounding errors
            laplacian = NormalizedLaplacian(self.partition.walk)
            images = [basis.T @ laplacian.apply(np.ascontiguousarray(vector)) for vector in basis.T]
            ritz = np.linalg.eigvalsh(np.array(images))
            values = np.append(values, np.maximum(ritz, values[-1]))
        return Spectrum(values, len(pairs.values), pairs.residuals)

    @cached_property
    def embedding(self) -> Embedding:
        """The spectral embedding of the vertices, or of a sample of each cluster."""
        pairs, phi = self.partition.eigenpairs, self.partition.walk.stationary
        chosen = _sample(self.labels, self.partition.k, self.limits.embedding_vertices)
        converged = pairs.vectors.shape[1] - 1
        vectors = np.hstack([pairs.vectors[chosen, 1:], pairs.spare[chosen]])[:, :COORDINATES]
        points = vectors / np.sqrt(phi[chosen])[:, None]
        axes = [f"eigenvector {2 + i}" + " (rough)" * (i >= converged) for i in range(points.shape[1])]
        for values, title in ((np.log10(phi[chosen]), "log10 of phi"), (np.zeros(len(chosen)), "constant")):
            if len(axes) < 2:
                points = np.column_stack([points, values])
                axes.append(title)
        low, high = np.quantile(points, [0.01, 0.99], axis=0)
        margin = OUTLIER_MARGIN * np.maximum(high - low, 1e-12)
        near = np.clip(points, low - margin, high + margin)
        return Embedding(self.clustered[chosen], near, tuple(axes), len(self.clustered), near != points)

    @cached_property
    def sweep_profile(self) -> SweepProfile | None:
        """The cuts along the second eigenvector; None if there is only one vertex."""
        pairs, walk = self.partition.eigenpairs, self.partition.walk
        if pairs.vectors.shape[1] < 2:
            return None
        swept = sweep(walk, pairs.vectors[:, 1] / np.sqrt(walk.stationary))
        ncuts, conductances = swept.ncuts, swept.conductances
        ends = np.linspace(0, len(ncuts), self.limits.sweep_points + 1).astype(np.int64)
        lowest = [a + int(np.argmin(ncuts[a:b])) for a, b in pairwise(np.unique(ends))]
        kept = np.unique([*lowest, 0, len(ncuts) - 1, int(np.argmin(conductances))])
        best = int(np.argmin(ncuts[kept]))
        return SweepProfile(kept + 1, ncuts[kept], conductances[kept], best, len(ncuts) + 1)

    @property
    def edge_clusters(self) -> Codes:
        """The cluster of each hyperedge, -1 if it says nothing about the clusters."""
        return self._flows.edge_clusters

    @cached_property
    def incidence_grid(self) -> IncidenceGrid:
        """Rows sorted by cluster and share, columns by cluster and stay probability."""
        return self.ordered_grid(self.edge_clusters, self.edge_clusters, self.labels)

    def ordered_grid(self, first: Codes, second: Codes, columns: Codes) -> IncidenceGrid:
        """The incidence matrix in a given order.

        Rows are sorted by two numbers of each hyperedge, -1 the last, and then by share; columns by a number
        of each vertex, and then by stay probability. Rows and columns stand for equal numbers only.
        """
        labels, homes, limits = self.labels, self.edge_clusters, self.limits
        n_clusters = min(self.partition.k, limits.grid_clusters)
        used = (self.partition.walk.hypergraph.edge_sizes > 0) & (homes < n_clusters)
        last = int(max(first.max(), second.max())) + 1
        place = np.where(first < 0, last, first).astype(index_type((last + 1) ** 2)) * (last + 1)
        place += np.where(second < 0, last, second)
        shares, staying, many = self._flows.shares, self.stay_probability, limits.rounded_from
        rows, order = in_parallel([
            partial(_ordered, used, place, shares, many), partial(_order, columns, staying, many)
        ])  # fmt: skip
        edges = _groups(rows, place, limits.grid_rows)
        vertices = _groups(order[labels[order] < n_clusters], columns, limits.grid_columns)
        means = self._cell_means(edges, vertices)
        of_row, of_column = (
            np.array([clusters[group[0]] for group in groups], dtype=np.int64)
            for groups, clusters in ((edges, homes), (vertices, labels))
        )
        return IncidenceGrid(means, edges, vertices, of_row, of_column, n_clusters)

    def _cell_means(self, edges: list[Codes], vertices: list[Codes]) -> Floats:
        """Average gamma_e(v) / max gamma_e over the hyperedges and vertices of each cell."""
        gamma = self.partition.walk.hypergraph.gamma
        row_of, column_of = (np.full(size, -1, dtype=np.int32) for size in gamma.shape)  # -1: in no group
        for groups, number_of in ((edges, row_of), (vertices, column_of)):
            for number, group in enumerate(groups):
                number_of[group] = number
        sizes = np.outer([len(group) for group in edges], [len(group) for group in vertices])
        lists = gamma.indptr, gamma.indices, gamma.data, row_of, column_of, len(vertices)

        def sums(part: slice) -> Floats:
            found = np.zeros(sizes.shape)
            _cell_sums(*lists, part.start, part.stop, found)
            return found

        return np.asarray(sum(in_order(sums, edge_parts(gamma.indptr))) / sizes)

    @cached_property
    def table_columns(self) -> dict[Any, int] | None:
        """Columns of the table that the hyperedges come from, with their numbers of values, or None."""
        return table_columns(self.partition.walk.hypergraph)

    @cached_property
    def _flows(self) -> EdgeFlows:
        part, limits = self.partition, self.limits
        return edge_flows(
            part.walk, self.labels, part.cut.volumes, limits.top, limits.block_entries, limits.block_cells
        )

    @cached_property
    def _description(self) -> Description:
        part = self.partition
        return describe(
            part.walk, part.labels, self._flows, part.cut.volumes, part.cluster_names, self.limits.top
        )


def _ordered(used: Booleans, groups: Codes, values: Floats, many: int) -> Codes:
    """The positions of those that are used, in the order of `_order`."""
    positions = np.flatnonzero(used).astype(index_type(len(used)))
    return np.asarray(positions[_order(groups[positions], values[positions], many)])


def _order(groups: Codes, values: Floats, many: int) -> Codes:
    """Positions by group, then by descending share, then by position; groups are small numbers.

    Positions are of a small type, because they are kept until the page is written. From `many` shares on they
    are rounded to 1 / 65,535 for it: each cell that is shown stands for thousands of them, and small integers
    sort in linear time and take little memory.
    """
    if len(values) < many:
        order = np.argsort(-values, kind="stable")
    else:
        falling = np.subtract(1.0, values, dtype=np.float32)
        falling *= 65_535
        order = np.argsort(np.round(falling, out=falling).astype(np.uint16), kind="stable")
    small = groups.astype(np.min_scalar_type(int(groups.max(initial=0))))[order]
    order = order.astype(index_type(len(order)))
    return np.asarray(order[np.argsort(small, kind="stable")])


def _sample(labels: Integers, k: int, count: int) -> Integers:
    """Return all positions, or a random sample of about `count` with some of each cluster; ascending."""
    if len(labels) <= count:
        return np.arange(len(labels))
    rng, least = np.random.default_rng(0), min(MIN_PER_CLUSTER, max(count // k, 1))
    kept = []
    for members in members_of(labels, k):
        drawn = min(len(members), max(least, round(count * len(members) / len(labels))))
        kept.append(rng.choice(members, drawn, replace=False))
    return np.sort(np.concatenate(kept))


def _groups(order: Codes, clusters: Codes, limit: int) -> list[Codes]:
    """Cut an order that is sorted by cluster into about `limit` groups of one cluster each."""
    if len(order) <= limit:
        return [order[i : i + 1] for i in range(len(order))]
    groups: list[Codes] = []
    for members in np.split(order, np.flatnonzero(np.diff(clusters[order])) + 1):
        groups += np.array_split(members, max(1, round(limit * len(members) / len(order))))
    return groups
