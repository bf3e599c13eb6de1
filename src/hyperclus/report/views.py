"""What the pictures and tables of a partition show, as plain arrays; `plots` and `report` draw it.

Large data are sampled or put into groups, so that a picture of a million vertices is no larger than one
of ten thousand; each view says of how many it is.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus.clustering.cut import sweep
from hyperclus.clustering.metrics import Agreement, agreement
from hyperclus.clustering.partition import Partition
from hyperclus.engines.cpu import row_chunks
from hyperclus.hypergraph.ids import vertex_codes
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.typing import Booleans, Floats, Incidence, Integers

SHOWN = 4000  # vertices in a picture of the embedding
AT_LEAST = 40  # of each cluster, where it has as many and there are few clusters
COORDINATES = 6  # of the embedding
POINTS = 500  # of a sweep profile
ROWS, COLUMNS = 100, 160  # of a picture of the incidences
PICTURED = 200  # clusters in it: the largest
TOP = 12  # hyperedges and vertices named for each cluster
FAR = 0.4  # widths of the middle 98 % of the vertices: those farther out are drawn at the edge
LEVEL = 0.005  # of the mean: where no phi is farther from it, all vertices count as visited alike
SOUGHT = 20_000  # vertices that can be looked up, all of them; of more, those in the embedding
CELLS = 1 << 22  # hyperedges by clusters at a time, where temporary arrays would take much memory


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """Eigenvalues of L_sym, ascending.

    Attributes
    ----------
    values : array
    sure : int
        So many are known to `residuals`; the others are upper bounds, from guesses at their vectors.
    residuals : array of shape (sure,)
    """

    values: Floats
    sure: int
    residuals: Floats

    def gap_after(self, k: int) -> float | None:
        """lambda_{k+1} - lambda_k, at most; None where the next eigenvalue is not known."""
        return float(self.values[k] - self.values[k - 1]) if k < len(self.values) else None


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """Vertices as points: the entries of the eigenvectors over sqrt(phi).

    Attributes
    ----------
    vertices : array of shape (s,)
        Positions in `vertex_ids`, ascending.
    places : array of shape (s, d), d at least 2
    axes : tuple of str
        What each coordinate is.
    total : int
        How many vertices there are.
    moved : array of shape (s, d)
        Which coordinates lie so far out that they were moved to the edge.
    """

    vertices: Integers
    places: Floats
    axes: tuple[str, ...]
    total: int
    moved: Booleans

    @property
    def far(self) -> int:
        """How many of the vertices shown were moved to the edge."""
        return int(np.count_nonzero(self.moved.any(axis=1)))


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """NCut and conductance of the cuts along the second eigenvector; of many, the lowest in each stretch.

    Attributes
    ----------
    sizes : array
        Vertices on the first side of each cut.
    ncuts, conductances : arrays
    best : int
        Where the NCut is lowest: a position in these arrays.
    total : int
        How many vertices there are.
    """

    sizes: Integers
    ncuts: Floats
    conductances: Floats
    best: int
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The incidence matrix, hyperedges down and vertices across, both by cluster; many in groups.

    Attributes
    ----------
    cells : array of shape (rows, columns)
        gamma_e(v) over the largest gamma of e, 0 where v is not in e; of a group the mean.
    edges, vertices : lists of arrays
        Positions of the hyperedges of each row and of the vertices (of the walk) of each column.
    row_clusters, column_clusters : arrays
        The cluster of each row (the largest share of its hyperedges) and of each column.
    shown : int
        How many clusters are in it: all, or the largest.
    """

    cells: Floats
    edges: list[Integers]
    vertices: list[Integers]
    row_clusters: Integers
    column_clusters: Integers
    shown: int


@dataclass(frozen=True, slots=True, eq=False)
class TopHyperedges:
    """The hyperedges that say most about one cluster, the most telling first.

    Attributes
    ----------
    edges : array
        Positions in the hypergraph of the walk.
    shares : array
        The cluster's share in the walkers that pass through.
    lifts : array
        That share over the cluster's share of all walkers, its volume: 2 is twice as often.
    flows : array
        The share of all walkers that pass through, psi.
    """

    edges: Integers
    shares: Floats
    lifts: Floats
    flows: Floats


@dataclass(frozen=True, slots=True, eq=False)
class TopVertices:
    """The vertices of one cluster that a walker visits most; where it visits all alike, those that stay most.

    Attributes
    ----------
    vertices : array
        Positions in `vertex_ids`.
    phi : array
        The share of its time that a walker spends there.
    stays : array
        The chance that its next step stays in the cluster.
    """

    vertices: Integers
    phi: Floats
    stays: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """Vertices to be found by name.

    Attributes
    ----------
    vertices : array
        Positions in `vertex_ids`, ascending.
    stays : array
        The chance that the next step stays in the cluster; NaN for a vertex in no hyperedge.
    total : int
        How many vertices there are.
    """

    vertices: Integers
    stays: Floats
    total: int


def leaving(part: Partition) -> float:
    """The share of a walker's steps that leave their cluster: the sum of the boundaries."""
    return float(part.cut.boundaries.sum())


def spectrum(part: Partition) -> Spectrum:
    """The eigenvalues that are known, and upper bounds of the next few where there are guesses at them.

    On a space orthogonal to the eigenvectors known, the i-th smallest Ritz value is at least the i-th
    eigenvalue after them (Courant and Fischer).
    """
    pairs = part.eigenpairs
    rough: Floats = np.empty(0)
    if pairs.spare.shape[1]:
        spare = pairs.spare - pairs.vectors @ (pairs.vectors.T @ pairs.spare)
        basis, lengths, _ = np.linalg.svd(spare, full_matrices=False)
        basis = basis[:, lengths > 1e-6]  # what is shorter is rounding
        rough = np.asarray(np.linalg.eigvalsh(basis.T @ NormalizedLaplacian(part.walk).apply(basis)))
    values = np.append(pairs.values, np.maximum(rough, pairs.values[-1]))
    return Spectrum(values, len(pairs.values), pairs.residuals)


def embedding(part: Partition, shown: int = SHOWN) -> Embedding:
    """The vertices by their first coordinates; of many, some of each cluster."""
    pairs, phi = part.eigenpairs, part.walk.stationary
    inside = np.flatnonzero(part.labels >= 0)
    chosen = _sampled(part.labels[inside], part.k, shown)
    known = pairs.vectors.shape[1]
    vectors = np.hstack([pairs.vectors[chosen, 1:], pairs.spare[chosen]])[:, :COORDINATES]
    places = vectors / np.sqrt(phi[chosen])[:, None]
    axes = [f"eigenvector {2 + i}" + (" (rough)" if 1 + i >= known else "") for i in range(places.shape[1])]
    for values, name in ((np.log10(phi[chosen]), "log10 of phi"), (np.zeros(len(chosen)), "nothing")):
        if len(axes) < 2:
            places = np.column_stack([places, values])
            axes.append(name)
    low, high = np.quantile(places, [0.01, 0.99], axis=0)
    margin = FAR * np.maximum(high - low, 1e-12)
    near = np.clip(places, low - margin, high + margin)
    return Embedding(inside[chosen], near, tuple(axes), len(inside), near != places)


def profile(part: Partition, points: int = POINTS) -> Profile | None:
    """The cuts along the second eigenvector; None where there is only one vertex."""
    if part.eigenpairs.vectors.shape[1] < 2:
        return None
    swept = sweep(part.walk, part.eigenpairs.vectors[:, 1] / np.sqrt(part.walk.stationary))
    ncuts, conductances = swept.ncuts, swept.conductances
    starts = np.unique(np.linspace(0, len(ncuts), points, endpoint=False).astype(np.int64))
    stops = np.append(starts[1:], len(ncuts))
    lowest = [a + int(np.argmin(ncuts[a:b])) for a, b in zip(starts, stops, strict=True)]
    kept = np.unique([*lowest, 0, len(ncuts) - 1, int(np.argmin(conductances))])
    best = int(np.argmin(ncuts[kept]))
    return Profile(kept + 1, ncuts[kept], conductances[kept], best, len(ncuts) + 1)


def grid(part: Partition, rows: int = ROWS, columns: int = COLUMNS) -> Grid:
    """Members by cluster, those who stay most first; hyperedges by the cluster with the largest share."""
    gamma, labels = part.walk.hypergraph.gamma, part.labels[part.labels >= 0]
    homes, strongest = _homes(part)
    shown = min(part.k, PICTURED)
    used = np.flatnonzero((part.walk.hypergraph.edge_sizes > 0) & (homes < shown))
    edges = _groups(used[np.lexsort((-strongest[used], homes[used]))], homes, rows)
    order = np.lexsort((-stays(part), labels))
    vertices = _groups(order[labels[order] < shown], labels, columns)
    sizes = np.outer([len(group) for group in edges], [len(group) for group in vertices])
    return Grid(
        _summed(gamma, _places(edges, len(homes)), _places(vertices, len(labels)), sizes.shape) / sizes,
        edges,
        vertices,
        np.array([homes[group[0]] for group in edges], dtype=np.int64),
        np.array([labels[group[0]] for group in vertices], dtype=np.int64),
        shown,
    )


def telling(part: Partition, top: int = TOP) -> list[TopHyperedges]:
    """For each cluster S the hyperedges with the largest psi(e) share log(share / vol S), all above 0."""
    flows, volumes = part.walk.edge_stationary, part.cut.volumes
    found = [TopHyperedges(np.empty(0, dtype=np.int64), *(np.empty(0),) * 3) for _ in volumes]
    for first, shares in _shares(part):
        told = _told(flows[first : first + len(shares)], shares, volumes)
        least = np.partition(told, max(len(told) - top, 0), axis=0)[max(len(told) - top, 0)]
        for cluster in np.flatnonzero(told.max(axis=0) > 1e-15):
            near = np.flatnonzero(told[:, cluster] >= max(least[cluster], 1e-15))
            edges = np.append(found[cluster].edges, near + first)
            share = np.append(found[cluster].shares, shares[near, cluster])
            best = np.argsort(-_told(flows[edges], share, volumes[cluster]), kind="stable")[:top]
            edges, share = edges[best], share[best]
            found[cluster] = TopHyperedges(edges, share, share / volumes[cluster], flows[edges])
    return found


def central(part: Partition, top: int = TOP) -> list[TopVertices]:
    """For each cluster the vertices with the largest phi; of equals, those that stay most.

    Where all are visited alike, the order is by staying alone.
    """
    inside, phi, staying = np.flatnonzero(part.labels >= 0), part.walk.stationary, stays(part)
    rank = np.zeros(len(phi)) if level(part) else -np.round(phi / phi.max(), 9)
    found = []
    for members in _members(part.labels[inside], part.k):
        best = members[np.lexsort((-staying[members], rank[members]))[:top]]
        found.append(TopVertices(inside[best], phi[best], staying[best]))
    return found


def stays(part: Partition) -> Floats:
    """For each vertex of the walk, the chance that the next step stays in its cluster."""
    factors, labels = part.walk.factors, part.labels[part.labels >= 0]
    indices, staying = part.walk.hypergraph.gamma.indices, np.zeros(len(labels))
    for rows, entries, spots in _blocks(part, labels):
        going = _going(part, rows, entries, spots)[spots] * factors.source_weights.data[entries]
        going *= np.repeat(part.walk.hypergraph.edge_weights[rows], _sizes(part, rows))
        staying += np.bincount(indices[entries], weights=going, minlength=len(labels))
    return np.minimum(staying / factors.degrees, 1.0)


def level(part: Partition) -> bool:
    """Whether a walker visits all vertices alike, as in a table without gaps and weights."""
    relative = part.walk.stationary * len(part.walk.stationary)
    return bool(np.abs(relative - 1.0).max() < LEVEL)


def lookup(part: Partition, shown: Embedding, most: int = SOUGHT) -> Lookup:
    """All vertices with how much they stay; of more than `most`, those in the embedding."""
    total = len(part.labels)
    staying = np.full(total, np.nan)
    staying[part.labels >= 0] = stays(part)
    vertices = np.arange(total) if total <= most else shown.vertices
    return Lookup(vertices, staying[vertices], total)


def columns(part: Partition) -> dict[Any, int] | None:
    """The columns of the table that the hyperedges (column, value) come from, with their numbers of values.

    None where they come from no table: where an id is no pair, or a vertex is in more than two hyperedges of
    one column (a row has one value, or lies in two bins that overlap).
    """
    hypergraph = part.walk.hypergraph
    ids = hypergraph.edge_ids.tolist()
    if not all(isinstance(edge, tuple) and len(edge) == 2 for edge in ids):
        return None
    counts = Counter(column for column, _ in ids)
    numbers = {column: number for number, column in enumerate(counts)}
    column = np.array([numbers[edge[0]] for edge in ids], dtype=np.int64)
    rows = np.repeat(column, hypergraph.edge_sizes) * hypergraph.n_vertices + hypergraph.gamma.indices
    return dict(counts) if np.unique(rows, return_counts=True)[1].max() <= 2 else None


def against(part: Partition, classes: Mapping[Any, Any] | Iterable[Any]) -> Agreement:
    """The agreement with known classes, in the order of the vertices or by id; label -1 does not count."""
    codes, names = vertex_codes(classes, part.vertex_ids, "class")
    inside = part.labels >= 0
    return agreement(names[codes[inside]], part.labels[inside])


def _blocks(part: Partition, labels: Integers) -> Iterator[tuple[slice, slice, Integers]]:
    """Some hyperedges at a time, their incidences, and for each of these its cell (hyperedge, cluster)."""
    gamma, most = part.walk.hypergraph.gamma, max(CELLS // part.k, 1)
    for begin, end in row_chunks(gamma.indptr):
        for first in range(begin, end, most):
            rows = slice(first, min(first + most, end))
            entries = slice(int(gamma.indptr[rows.start]), int(gamma.indptr[rows.stop]))
            around = np.repeat(np.arange(rows.stop - rows.start), _sizes(part, rows))
            yield rows, entries, around * part.k + labels[gamma.indices[entries]]


def _going(part: Partition, rows: slice, entries: slice, spots: Integers) -> Floats:
    """b_e(S), the chance that a walker in hyperedge e goes to cluster S, for some hyperedges, flat."""
    gamma, degrees = part.walk.hypergraph.gamma, part.walk.factors.edge_degrees[rows]
    weights = gamma.data[entries] / np.repeat(degrees, _sizes(part, rows))
    return np.bincount(spots, weights=weights, minlength=part.k * len(degrees)).astype(np.float64, copy=False)


def _shares(part: Partition) -> Iterator[tuple[int, Floats]]:
    """`part.edge_shares()` some hyperedges at a time: the first of them, and their rows."""
    walk, labels = part.walk, part.labels[part.labels >= 0]
    rate, gamma, source_weights = (
        walk.stationary / walk.factors.degrees,
        walk.hypergraph.gamma,
        walk.factors.source_weights,
    )
    for rows, entries, spots in _blocks(part, labels):
        going = _going(part, rows, entries, spots)
        weights = source_weights.data[entries] * rate[gamma.indices[entries]]
        picked = np.bincount(spots, weights=weights, minlength=len(going)).reshape(-1, part.k)
        coming = picked * walk.hypergraph.edge_weights[rows, None]
        flows = walk.edge_stationary[rows, None]
        yield rows.start, 0.5 * (coming / np.where(flows > 0, flows, 1.0) + going.reshape(-1, part.k))


def _told(flows: Floats, shares: Floats, volumes: Any) -> Floats:
    """psi(e) share log(share / vol S), where that is above 0."""
    told: Floats = shares * np.log(np.maximum(shares / volumes, 1.0))
    return told * (flows[:, None] if told.ndim == 2 else flows)


def _homes(part: Partition) -> tuple[Integers, Floats]:
    """For each hyperedge the cluster with the largest share, and that share."""
    homes = np.empty(part.walk.hypergraph.n_edges, dtype=np.int64)
    strongest = np.empty(len(homes))
    for first, shares in _shares(part):
        homes[first : first + len(shares)] = shares.argmax(axis=1)
        strongest[first : first + len(shares)] = shares.max(axis=1)
    return homes, strongest


def _summed(gamma: Incidence, row: Integers, column: Integers, shape: tuple[int, ...]) -> Floats:
    """The sums of gamma over the largest of its hyperedge in each cell; place -1 does not count."""
    sizes = np.diff(gamma.indptr)
    used = np.flatnonzero(sizes)
    largest = np.ones(len(sizes))
    largest[used] = np.maximum.reduceat(gamma.data, gamma.indptr[used])
    cells = np.zeros(shape[0] * shape[1])
    for first, last in row_chunks(gamma.indptr):
        entries = slice(int(gamma.indptr[first]), int(gamma.indptr[last]))
        down = np.repeat(row[first:last], sizes[first:last])
        across = column[gamma.indices[entries]]
        weights = gamma.data[entries] / np.repeat(largest[first:last], sizes[first:last])
        kept = (down >= 0) & (across >= 0)
        cells += np.bincount((down * shape[1] + across)[kept], weights[kept], minlength=len(cells))
    return cells.reshape(shape)


def _sizes(part: Partition, rows: slice) -> Integers:
    indptr = part.walk.hypergraph.gamma.indptr
    return np.diff(indptr[rows.start : rows.stop + 1]).astype(np.int64)


def _members(labels: Integers, k: int) -> list[Integers]:
    """Positions of the vertices of each cluster, ascending."""
    stops = np.cumsum(np.bincount(labels, minlength=k))
    return np.split(np.argsort(labels, kind="stable"), stops[:-1])


def _sampled(labels: Integers, k: int, shown: int) -> Integers:
    """Positions, ascending: all, or of each cluster its share and at least a few, drawn at random."""
    if len(labels) <= shown:
        return np.arange(len(labels))
    rng = np.random.default_rng(0)
    least = min(AT_LEAST, max(shown // k, 1))
    kept = []
    for members in _members(labels, k):
        count = min(len(members), max(least, round(shown * len(members) / len(labels))))
        kept.append(rng.choice(members, count, replace=False))
    return np.sort(np.concatenate(kept))


def _groups(order: Integers, clusters: Integers, limit: int) -> list[Integers]:
    """An order with the clusters one after the other, cut into about `limit` groups of one cluster each."""
    if len(order) <= limit:
        return [order[i : i + 1] for i in range(len(order))]
    groups: list[Integers] = []
    for members in np.split(order, np.flatnonzero(np.diff(clusters[order])) + 1):
        groups += np.array_split(members, max(1, round(limit * len(members) / len(order))))
    return groups


def _places(groups: list[Integers], length: int) -> Integers:
    """The group of each position, -1 where it is in none."""
    place = np.full(length, -1, dtype=np.int64)
    for number, group in enumerate(groups):
        place[group] = number
    return place
