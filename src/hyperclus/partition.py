"""The answer: clusters, how good they are, what is proven about them, how they were found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyperclus.certificate import cheeger_interval, ncut_lower_bound, relative_gap
from hyperclus.cut import Cut, edge_shares
from hyperclus.eigen import Eigenpairs
from hyperclus.errors import InputError
from hyperclus.optional import library
from hyperclus.tight_bound import TightBound
from hyperclus.types import Floats, Ids, Integers
from hyperclus.walk import RandomWalk

TINY = 0.05  # of an equal share of the volume: clusters that small are pointed out


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Partition:
    """Clusters of the vertices of a hypergraph.

    Attributes
    ----------
    labels : array of shape (n_vertices,)
        0 .. k - 1, cluster 0 the largest; -1 for a vertex in no hyperedge.
    vertex_ids : array of shape (n_vertices,)
    cut : Cut
        Volume and boundary of each cluster.
    eigenpairs : Eigenpairs
        The max(k, 2) smallest of L_sym, for the vertices that are in some hyperedge.
    walk : RandomWalk
        The walk that was cut, on the vertices that are in some hyperedge.
    tight : TightBound or None
        The tighter bound, where it was asked for.
    settings, timings : mappings
        The arguments, and the seconds spent in each stage.
    """

    labels: Integers
    vertex_ids: Ids
    cut: Cut
    eigenpairs: Eigenpairs
    walk: RandomWalk
    tight: TightBound | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.labels.flags.writeable = False

    @property
    def k(self) -> int:
        """The number of clusters."""
        return len(self.cut.volumes)

    @property
    def ncut(self) -> float:
        """The normalised cut, to be small: 0 for separate clusters, k - 1 for none."""
        return self.cut.ncut

    @property
    def lower_bound(self) -> float:
        """A proven bound: no partition into k clusters has a smaller NCut."""
        return ncut_lower_bound(self.eigenpairs, self.k) if self.tight is None else self.tight.value

    @property
    def gap(self) -> float:
        """(ncut - lower_bound) / lower_bound: proven distance from the optimum, 0.03 is 3 %."""
        return relative_gap(self.ncut, self.lower_bound)

    @property
    def conductance(self) -> float:
        """The largest conductance among the clusters; for two clusters the conductance of the cut."""
        return float(self.cut.conductances.max())

    @property
    def cheeger(self) -> tuple[float, float]:
        """Proven interval for the smallest conductance of any two-way cut."""
        return cheeger_interval(self.eigenpairs)

    @property
    def eigenvalues(self) -> Floats:
        """The smallest eigenvalues of L_sym, ascending; the first is 0."""
        return self.eigenpairs.values

    @property
    def n_components(self) -> int:
        """The number of connected components of the hypergraph."""
        return self.walk.n_components

    @property
    def sizes(self) -> Integers:
        """The number of vertices in each cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.k)

    def members(self, cluster: int) -> Ids:
        """The ids of the vertices of one cluster, 0 .. k - 1; -1 for those in no hyperedge."""
        if (
            isinstance(cluster, bool)
            or not isinstance(cluster, int | np.integer)
            or not -1 <= cluster < self.k
        ):
            raise InputError(f"clusters are numbered 0 to {self.k - 1}; there is no cluster {cluster!r}")
        chosen: Ids = self.vertex_ids[self.labels == cluster]
        return chosen

    def to_frame(self) -> Any:
        """A pandas data frame with the columns `vertex` and `cluster`."""
        return pandas_for("to_frame").DataFrame({"vertex": self.vertex_ids, "cluster": self.labels})

    def edge_shares(self) -> Floats:
        """For each hyperedge the share of each cluster in the walkers that pass through it, (n_edges, k).

        Rows sum to 1: half is where the walkers come from, half is where they go.
        """
        return edge_shares(self.walk, self.labels[self.labels >= 0], self.k)

    def edges_frame(self) -> Any:
        """A pandas data frame of the hyperedges, which get clusters too.

        The columns are `edge`; `cluster`, the one with the largest share; `share`, that share; `flow`,
        the share of all walkers that pass through (psi); `telling`, this hyperedge's part of what
        all of them tell about the cluster of a walker (their mutual information; the parts sum to
        1, unless nothing is told); and `share_0`, `share_1`, ... for each cluster. Hyperedges without
        members are left out.

        >>> from hyperclus import Hypergraph, cluster
        >>> h = Hypergraph.from_edges({"left": ["a", "b", "c"], "mid": ["c", "d"], "right": ["d", "e", "f"]})
        >>> cluster(h).edges_frame().set_index("edge")["telling"].round(2).to_dict()
        {'left': 0.5, 'mid': 0.0, 'right': 0.5}
        """
        shares, flow, volumes = self.edge_shares(), self.walk.edge_stationary, self.cut.volumes
        logs = np.log(shares, where=shares > 0, out=np.zeros_like(shares)) - np.log(volumes)
        told = np.maximum(flow * (shares * logs).sum(axis=1), 0.0)
        telling = told / told.sum() if told.sum() > 1e-12 else np.zeros_like(told)
        columns = {
            "edge": self.walk.hypergraph.edge_ids,
            "cluster": shares.argmax(axis=1),
            "share": shares.max(axis=1),
            "flow": flow,
            "telling": telling,
            **{f"share_{cluster}": shares[:, cluster] for cluster in range(self.k)},
        }
        frame = pandas_for("edges_frame").DataFrame(columns)
        return frame[flow > 0].reset_index(drop=True)

    def __repr__(self) -> str:
        unclustered = int(np.count_nonzero(self.labels < 0))
        fewer = f"no {self.k} clusters have" if self.k > 1 else "one cluster cannot have"
        bound = f"{fewer} less than {self.lower_bound:.6g} (gap {_percent(self.gap)})"
        lines = [
            f"Partition of {_counted(len(self.labels) - unclustered, 'vertex', 'vertices')} into "
            f"{_counted(self.k, 'cluster', 'clusters')}",
            f"  NCut         {self.ncut:.6g}; proven: {bound}",
            f"  conductance  {self.conductance:.6g}",
            "  cluster      size    volume  conductance",
        ]
        rows = zip(self.sizes, self.cut.volumes, self.cut.conductances, strict=True)
        lines += [
            f"  {cluster:>7}  {size:>8,}  {volume:>8.4f}  {conductance:>11.4f}"
            for cluster, (size, volume, conductance) in enumerate(rows)
            if cluster < 20
        ]
        if self.k > 20:
            lines.append(f"  ... and {self.k - 20} more")
        asked = self.settings.get("min_share", 0.0)
        short = np.count_nonzero(self.cut.volumes < asked * (1 - 1e-9))
        tiny = np.count_nonzero(self.cut.volumes < TINY / self.k)
        if short:
            lines.append(
                f"  {_counted(short, 'cluster holds', 'clusters hold')} less than the min_share of "
                f"{asked:.4g}; no partition with larger ones was found"
            )
        elif tiny:
            lines.append(
                f"  {_counted(tiny, 'cluster holds', 'clusters hold')} less than "
                f"{_percent(TINY / self.k)} of the volume; for larger ones ask for a min_share"
            )
        if unclustered:
            lines.append(f"  in no hyperedge, with label -1: {_counted(unclustered, 'vertex', 'vertices')}")
        if self.n_components > 1:
            lines.append(f"  the hypergraph has {self.n_components:,} connected components")
        return "\n".join(lines)


def pandas_for(method: str) -> Any:
    """The module pandas, or an error that says which method needs it."""
    return library("pandas", "pandas", method, "pandas")


def _counted(count: int | np.intp, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _percent(gap: float) -> str:
    if np.isinf(gap):
        return "unbounded"
    return f"{100 * gap:,.0f} %" if gap >= 1 else f"{100 * gap:.2f} %"
