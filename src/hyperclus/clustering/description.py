"""What makes a cluster what it is: its top hyperedges and vertices, by one formula for all outputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.arrays import freeze
from hyperclus.clustering.cut import edge_information, edge_shares
from hyperclus.clustering.edge_flows import EdgeFlows, edge_flows
from hyperclus.clustering.frames import frame_of, pandas_for
from hyperclus.hypergraph.messages import Nouns
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Ids, Integers

UNIFORM_TOLERANCE = 0.005  # relative deviation of phi from its mean that counts as uniform


class Printed:
    """A value that prints as a table, in terminals and in notebooks."""

    __slots__ = ()

    def __repr__(self) -> str:
        from hyperclus.report.description import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from hyperclus.report.description import as_html

        return as_html(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TopHyperedges(Printed):
    """The most distinctive hyperedges of one cluster S: the largest psi(e) share log(share / vol S) above 0.

    Attributes
    ----------
    cluster : str or int
        The name or number of the cluster.
    ids : array
        The hyperedges, best first; `positions` in the hypergraph of the walk.
    share : array
        The share of the cluster in the flow through the hyperedge.
    lift : array
        share / vol S: 2 is twice as much as by chance.
    coverage, coverage_all : array
        The shares of the vertices of the cluster, and of all clusters, that are members.
    flow : array
        psi(e), the share of all steps that pass through the hyperedge.
    score : array
        psi(e) share log(share / vol S), in nats.
    """

    cluster: str | int
    ids: Ids
    positions: Integers
    share: Floats
    lift: Floats
    coverage: Floats
    coverage_all: Floats
    flow: Floats
    score: Floats
    nouns: Nouns

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.ids)

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each hyperedge, best first."""
        names = ("share", "lift", "coverage", "coverage_all", "flow", "score")
        columns = {name: getattr(self, name) for name in names}
        return frame_of("to_frame", self.ids, self.nouns.edge, "edge", columns)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TopVertices(Printed):
    """The most visited vertices of one cluster; if phi is uniform, those that are left least often.

    Attributes
    ----------
    cluster : str or int
        The name or number of the cluster.
    ids : array
        The vertices, best first; `positions` in `Partition.vertex_ids`.
    phi : array
        The stationary probability of each.
    stay_probability : array
        The probability that the next step from the vertex stays in the cluster.
    n_vertices : int
        The number of vertices in all clusters; phi times this is relative to the mean.
    """

    cluster: str | int
    ids: Ids
    positions: Integers
    phi: Floats
    stay_probability: Floats
    n_vertices: int
    nouns: Nouns

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.ids)

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each vertex, best first; `stay` is the stay probability."""
        columns = {"phi": self.phi, "stay": self.stay_probability}
        return frame_of("to_frame", self.ids, self.nouns.vertex, "vertex", columns)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TopAttributes(Printed):
    """The attributes with the largest |mean - mean_all| / deviation in one cluster.

    Attributes
    ----------
    cluster : str or int
        The name or number of the cluster.
    ids : array
        The attributes, best first: columns, or (column, value), or (column, word).
    mean, mean_all : array
        The mean among the vertices of the cluster, and among all, that have attributes. Those of a value are
        its shares; those of the numbers of a table are in standard deviations.
    score : array
        (mean - mean_all) / deviation, where that is the standard deviation of all; negative if it is lower.
    """

    cluster: str | int
    ids: Ids
    mean: Floats
    mean_all: Floats
    score: Floats

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.ids)

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each attribute, best first."""
        columns = {name: getattr(self, name) for name in ("mean", "mean_all", "score")}
        return frame_of("to_frame", self.ids, "attribute", "attribute", columns)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Description(Printed):
    """The clusters of a partition: their sizes, top hyperedges and top vertices; see `Partition.describe`.

    Attributes
    ----------
    clusters : tuple of str or int
        The names or numbers of the clusters.
    sizes, volumes : array of shape (k,)
    edges : tuple of TopHyperedges
    vertices : tuple of TopVertices
    attributes : tuple of TopAttributes
        Empty if the vertices have none.
    """

    clusters: tuple[str | int, ...]
    sizes: Integers
    volumes: Floats
    edges: tuple[TopHyperedges, ...]
    vertices: tuple[TopVertices, ...]
    nouns: Nouns
    attributes: tuple[TopAttributes, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def shares(self) -> Floats:
        """The share of each cluster in all vertices that are in a cluster."""
        return np.asarray(self.sizes / self.sizes.sum())

    def to_frame(self) -> Any:
        """A pandas data frame with the top hyperedges of all clusters; the column `cluster` comes first."""
        pandas = pandas_for("to_frame")
        frames = [found.to_frame() for found in self.edges]
        for found, frame in zip(self.edges, frames, strict=True):
            frame.insert(0, "cluster", [found.cluster] * len(found))
        some = [frame for frame in frames if len(frame)] or frames[:1]
        return pandas.concat(some, ignore_index=True)


def describe(
    walk: RandomWalk, labels: Integers, flows: EdgeFlows, volumes: Floats, names: Sequence[str | int], n: int
) -> Description:
    """Describe the clusters by the `n` top hyperedges, which `flows` has, and the `n` top vertices of each.

    `labels` has -1 for the vertices that are not in the walk.
    """
    sizes = np.bincount(labels[labels >= 0], minlength=len(volumes))
    nouns = walk.hypergraph.nouns
    return Description(
        tuple(names),
        sizes,
        volumes.copy(),
        _top_hyperedges(walk, flows, volumes, sizes, names),
        _top_vertices(walk, np.flatnonzero(labels >= 0), labels[labels >= 0], flows, names, n),
        nouns,
    )


def edge_columns(
    walk: RandomWalk, labels: Integers, volumes: Floats, names: Sequence[str | int]
) -> dict[str, Any]:
    """Return the columns of `Partition.edges_frame` but the first; no label is -1."""
    flows, psi = edge_flows(walk, labels, volumes, 1), walk.edge_stationary
    sizes, shares = np.bincount(labels, minlength=len(volumes)), edge_shares(walk, labels, len(volumes))
    information = np.maximum(edge_information(shares, psi, volumes).sum(axis=1), 0.0)
    total, listed = information.sum(), [*names, -1]
    return {
        "cluster": [listed[cluster] for cluster in flows.edge_clusters.tolist()],
        "share": flows.shares,
        "lift": flows.shares / volumes[flows.nearest],
        "coverage": flows.counts / sizes[flows.nearest],
        "coverage_all": walk.hypergraph.edge_sizes / len(labels),
        "flow": psi,
        "information": information / total if total > 1e-12 else np.zeros_like(psi),
        **{f"share_{name}": shares[:, cluster] for cluster, name in enumerate(names)},
    }


def is_uniform(walk: RandomWalk) -> bool:
    """Whether all vertices have the same phi, as in a complete table without weights."""
    relative = walk.stationary * len(walk.stationary)
    return bool(np.abs(relative - 1.0).max() < UNIFORM_TOLERANCE)


def members_of(labels: Integers, k: int) -> list[Integers]:
    """Return the positions of the vertices of each cluster, ascending.

    >>> [found.tolist() for found in members_of(np.array([1, 0, 1]), 2)]
    [[1], [0, 2]]
    """
    stops = np.cumsum(np.bincount(labels, minlength=k))
    return np.split(np.argsort(labels.astype(np.min_scalar_type(k)), kind="stable"), stops[:-1])


def _top_hyperedges(
    walk: RandomWalk, flows: EdgeFlows, volumes: Floats, sizes: Integers, names: Sequence[str | int]
) -> tuple[TopHyperedges, ...]:
    hypergraph, found = walk.hypergraph, []
    edge_sizes, total = hypergraph.edge_sizes, sizes.sum()
    for cluster, (top, volume) in enumerate(zip(flows.top, volumes, strict=True)):
        found.append(
            TopHyperedges(
                names[cluster],
                hypergraph.edge_ids[top.edges],
                top.edges,
                top.shares,
                top.shares / volume,
                top.counts / sizes[cluster],
                edge_sizes[top.edges] / total,
                top.flows,
                edge_information(top.shares, top.flows, volume),
                hypergraph.nouns,
            )
        )
    return tuple(found)


def _top_vertices(
    walk: RandomWalk,
    positions: Integers,
    labels: Integers,
    flows: EdgeFlows,
    names: Sequence[str | int],
    n: int,
) -> tuple[TopVertices, ...]:
    """Sort the vertices of each cluster by phi, and by stay probability if these are equal."""
    hypergraph, phi, staying = walk.hypergraph, walk.stationary, flows.stay_probability
    rank = np.zeros(len(phi)) if is_uniform(walk) else -np.round(phi / phi.max(), 9)
    found = []
    for name, members in zip(names, members_of(labels, len(names)), strict=True):
        best = members[first(rank[members], -staying[members], n)]
        ids = hypergraph.vertex_ids[best]
        found.append(
            TopVertices(name, ids, positions[best], phi[best], staying[best], len(phi), hypergraph.nouns)
        )
    return tuple(found)


def first(keys: Floats, ties: Floats, n: int) -> Integers:
    """Return the first `n` positions in the order of keys, then of `ties`, then of positions.

    >>> first(np.array([2.0, 1.0, 2.0, 2.0]), np.array([5.0, 0.0, 4.0, 4.0]), 2).tolist()
    [1, 2]
    """
    some = np.arange(len(keys))
    if len(keys) > n:  # sort few of many
        last = np.partition(keys, n - 1)[n - 1]
        settled, tied = np.flatnonzero(keys < last), np.flatnonzero(keys == last)
        left = n - len(settled)
        if len(tied) > left:
            tied = tied[ties[tied] <= np.partition(ties[tied], left - 1)[left - 1]]
        some = np.sort(np.append(settled, tied))
    return np.asarray(some[np.lexsort((ties[some], keys[some]))[:n]])
