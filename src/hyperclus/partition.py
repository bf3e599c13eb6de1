"""The answer: clusters, how good they are, what is proven about them, how they were found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyperclus.certificate import cheeger_interval, ncut_lower_bound, relative_gap
from hyperclus.cut import Cut
from hyperclus.eigen import Eigenpairs
from hyperclus.errors import InputError, MissingLibraryError
from hyperclus.types import Floats, Ids, Integers


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
    n_components : int
        Connected components of the hypergraph.
    settings, timings : mappings
        The arguments, and the seconds spent in each stage.
    """

    labels: Integers
    vertex_ids: Ids
    cut: Cut
    eigenpairs: Eigenpairs
    n_components: int
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
        return ncut_lower_bound(self.eigenpairs, self.k)

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
        try:
            import pandas as pd
        except ImportError:
            raise MissingLibraryError("to_frame needs pandas: pip install 'hyperclus[pandas]'") from None
        return pd.DataFrame({"vertex": self.vertex_ids, "cluster": self.labels})

    def __repr__(self) -> str:
        unclustered = int(np.count_nonzero(self.labels < 0))
        bound = f"no {self.k} clusters have less than {self.lower_bound:.6g} (gap {_percent(self.gap)})"
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
        if unclustered:
            lines.append(f"  in no hyperedge, with label -1: {_counted(unclustered, 'vertex', 'vertices')}")
        if self.n_components > 1:
            lines.append(f"  the hypergraph has {self.n_components:,} connected components")
        return "\n".join(lines)


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _percent(gap: float) -> str:
    if np.isinf(gap):
        return "unbounded"
    return f"{100 * gap:,.0f} %" if gap >= 1 else f"{100 * gap:.2f} %"
