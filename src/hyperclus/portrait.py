"""What the pictures and tables of a partition show, as plain arrays; `plots` and `report` draw it.

Large data are sampled or put into groups, so that a picture of a million vertices is no larger than one
of ten thousand; each view says of how many it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus.cut import sweep
from hyperclus.ids import vertex_codes
from hyperclus.laplacian import NormalizedLaplacian
from hyperclus.metrics import Agreement, agreement
from hyperclus.partition import Partition
from hyperclus.types import Floats, Integers

SHOWN = 4000  # vertices in a picture of the embedding
AT_LEAST = 40  # of each cluster, where it has as many
COORDINATES = 6  # of the embedding
POINTS = 500  # of a sweep profile
ROWS, COLUMNS = 100, 160  # of a picture of the incidences
TOP = 12  # hyperedges and vertices named for each cluster
FAR = 1.0  # widths of the middle 98 % of the vertices: those farther out are drawn at the edge


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
    far : int
        How many of those shown lie so far out that they were moved to the edge.
    """

    vertices: Integers
    places: Floats
    axes: tuple[str, ...]
    total: int
    far: int


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
    """

    cells: Floats
    edges: list[Integers]
    vertices: list[Integers]
    row_clusters: Integers
    column_clusters: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Telling:
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
class Central:
    """The vertices of one cluster that a walker visits most.

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


def spectrum(part: Partition) -> Spectrum:
    """The eigenvalues that are known, and upper bounds of the next few where there are guesses at them."""
    pairs = part.eigenpairs
    spare = pairs.spare - pairs.vectors @ (pairs.vectors.T @ pairs.spare)
    rough: Floats = np.empty(0)
    if spare.shape[1]:
        basis = np.linalg.qr(spare)[0]
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
    if not axes:  # a single vertex
        places, axes = np.zeros((len(chosen), 1)), ["no second eigenvector"]
    if len(axes) < 2:
        places = np.column_stack([places, np.log10(phi[chosen])])
        axes.append("log10 of phi, the share of a walker's time")
    low, high = np.quantile(places, [0.01, 0.99], axis=0)
    margin = FAR * np.maximum(high - low, 1e-12)
    near = np.clip(places, low - margin, high + margin)
    far = int(np.count_nonzero((near != places).any(axis=1)))
    return Embedding(inside[chosen], near, tuple(axes), len(inside), far)


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
    walk, labels = part.walk, part.labels[part.labels >= 0]
    gamma, shares = walk.hypergraph.gamma, part.edge_shares()
    used = np.flatnonzero(walk.hypergraph.edge_sizes)
    homes = shares.argmax(axis=1)
    edges = _groups(used[np.lexsort((-shares.max(axis=1)[used], homes[used]))], homes, rows)
    vertices = _groups(np.lexsort((-stays(part), labels)), labels, columns)
    row, column = _places(edges, len(homes)), _places(vertices, len(labels))
    sizes = np.diff(gamma.indptr)
    largest = np.ones(len(sizes))
    largest[used] = np.maximum.reduceat(gamma.data, gamma.indptr[used])
    cells = np.zeros(len(edges) * len(vertices))
    around = np.repeat(np.arange(len(sizes)), sizes)
    np.add.at(cells, row[around] * len(vertices) + column[gamma.indices], gamma.data / largest[around])
    pairs = np.outer([len(group) for group in edges], [len(group) for group in vertices])
    return Grid(
        cells.reshape(pairs.shape) / pairs,
        edges,
        vertices,
        np.array([homes[group[0]] for group in edges]),
        np.array([labels[group[0]] for group in vertices]),
    )


def telling(part: Partition, top: int = TOP) -> list[Telling]:
    """For each cluster S the hyperedges with the largest psi(e) share log(share / vol S), all above 0."""
    shares, flows, volumes = part.edge_shares(), part.walk.edge_stationary, part.cut.volumes
    found = []
    for cluster, volume in enumerate(volumes):
        share = shares[:, cluster]
        told = flows * share * np.log(np.maximum(share / volume, 1.0))
        best = np.argsort(-told, kind="stable")[:top]
        best = best[told[best] > 1e-15]
        found.append(Telling(best, share[best], share[best] / volume, flows[best]))
    return found


def central(part: Partition, top: int = TOP) -> list[Central]:
    """For each cluster the vertices with the largest phi; of equals, those that stay most."""
    inside, phi, staying = np.flatnonzero(part.labels >= 0), part.walk.stationary, stays(part)
    rank = -np.round(phi / phi.max(), 9)
    found = []
    for cluster in range(part.k):
        members = np.flatnonzero(part.labels[inside] == cluster)
        best = members[np.lexsort((-staying[members], rank[members]))[:top]]
        found.append(Central(inside[best], phi[best], staying[best]))
    return found


def stays(part: Partition) -> Floats:
    """For each vertex of the walk, the chance that the next step stays in its cluster."""
    labels = part.labels[part.labels >= 0]
    staying = np.empty(len(labels))
    for cluster in range(part.k):
        inside = labels == cluster
        staying[inside] = part.walk.forward(inside.astype(np.float64))[inside]
    return staying


def against(part: Partition, classes: Mapping[Any, Any] | Iterable[Any]) -> Agreement:
    """The agreement with known classes, in the order of the vertices or by id; label -1 does not count."""
    codes, names = vertex_codes(classes, part.vertex_ids, "class")
    inside = part.labels >= 0
    return agreement(names[codes[inside]], part.labels[inside])


def _sampled(labels: Integers, k: int, shown: int) -> Integers:
    """Positions, ascending: all, or of each cluster its share and at least a few, drawn at random."""
    if len(labels) <= shown:
        return np.arange(len(labels))
    rng = np.random.default_rng(0)
    kept = []
    for cluster in range(k):
        members = np.flatnonzero(labels == cluster)
        count = min(len(members), max(AT_LEAST, round(shown * len(members) / len(labels))))
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
    """The group of each position."""
    place = np.zeros(length, dtype=np.int64)
    for number, group in enumerate(groups):
        place[group] = number
    return place
