"""The answer: clusters, how good they are, what is proven about them, how they were found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from hyperclus.certificate import cheeger_interval, ncut_lower_bound, relative_gap
from hyperclus.cut import Cut, edge_shares
from hyperclus.eigen import Eigenpairs
from hyperclus.errors import InputError
from hyperclus.io.files import Place
from hyperclus.notebook import html_table
from hyperclus.optional import library
from hyperclus.tight_bound import TightBound
from hyperclus.types import Floats, Ids, Integers
from hyperclus.walk import RandomWalk

MOST_ROWS = 20  # clusters that are listed
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

    def to_html(
        self,
        path: Place,
        *,
        title: str | None = None,
        source: str | None = None,
        classes: Mapping[Any, Any] | Iterable[Any] | None = None,
        command: str | None = None,
    ) -> None:
        """Write a report, one HTML file that needs nothing else: figures, pictures, and what tells clusters.

        Parameters
        ----------
        path : file name
            Written whole or not at all.
        title, source : str, optional
            What the page is called, and what was clustered, such as the name of a file.
        classes : optional
            Known classes to compare with: one per vertex, or a mapping (or pandas Series) from vertex id.
        command : str, optional
            What gives the same result, such as a command line; Python lines by default.

        Raises
        ------
        InputError, MissingLibraryError
        """
        from hyperclus.report import write

        write(self, path, title=title, source=source, classes=classes, command=command)

    def plot_embedding(self, ax: Any = None, *, axes: tuple[int, int] = (2, 3), **options: Any) -> Any:
        """Draw the vertices by two eigenvectors over sqrt(phi), coloured by cluster, with Matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        axes : pair of int
            Which eigenvectors, from 2. Beyond k they are rough, if they are known at all.
        **options
            Passed on to `Axes.scatter`.

        Returns
        -------
        Axes
        """
        from hyperclus.plots import plot_embedding

        return plot_embedding(self, ax, axes, options)

    def plot_spectrum(self, ax: Any = None, **options: Any) -> Any:
        """Draw the eigenvalues of L_sym and the gap after the k-th; returns Axes.

        Options go to `Axes.plot`.
        """
        from hyperclus.plots import plot_spectrum

        return plot_spectrum(self, ax, options)

    def plot_sweep(self, ax: Any = None, **options: Any) -> Any:
        """Draw NCut and conductance of the cuts along the second eigenvector; returns Axes.

        The lowest NCut is marked, and for two clusters also theirs. Options go to `Axes.plot`.
        """
        from hyperclus.plots import plot_sweep

        return plot_sweep(self, ax, options)

    def plot_incidence(self, ax: Any = None, **options: Any) -> Any:
        """Draw the members of the hyperedges, both sides ordered by cluster; returns Axes.

        Many vertices or hyperedges are put into groups. Options go to `Axes.pcolormesh`.
        """
        from hyperclus.plots import plot_incidence

        return plot_incidence(self, ax, options)

    def __repr__(self) -> str:
        title, figures = self._answer()
        lines = [f"{name:<11}  {value}" for name, value in figures.items()]
        lines.append("cluster      size    volume  conductance")
        lines += [
            f"{cluster:>7}  {size:>8}  {volume:>8}  {conductance:>11}"
            for cluster, size, volume, conductance in self._rows()
        ]
        return "\n  ".join([title, *lines, *self._remarks()])

    def _repr_html_(self) -> str:
        """For notebooks."""
        title, figures = self._answer()
        notes = [f"{name} {value}" for name, value in figures.items()] + self._remarks()
        return html_table(title, ["cluster", "size", "volume", "conductance"], self._rows(), notes)

    def _answer(self) -> tuple[str, dict[str, str]]:
        """What it is, and its figures by name."""
        clustered = int(np.count_nonzero(self.labels >= 0))
        fewer = f"no {self.k} clusters have" if self.k > 1 else "one cluster cannot have"
        bound = f"{fewer} less than {self.lower_bound:.6g} (gap {_percent(self.gap)})"
        title = (
            f"Partition of {_counted(clustered, 'vertex', 'vertices')} into "
            f"{_counted(self.k, 'cluster', 'clusters')}"
        )
        return title, {"NCut": f"{self.ncut:.6g}; proven: {bound}", "conductance": f"{self.conductance:.6g}"}

    def _rows(self) -> list[list[str]]:
        """Cluster, size, volume and conductance of the first clusters."""
        figures = zip(self.sizes, self.cut.volumes, self.cut.conductances, strict=True)
        return [
            [str(cluster), f"{size:,}", f"{volume:.4f}", f"{conductance:.4f}"]
            for cluster, (size, volume, conductance) in enumerate(islice(figures, MOST_ROWS))
        ]

    def _remarks(self) -> list[str]:
        """What a user should know beyond the figures."""
        remarks = []
        if self.k > MOST_ROWS:
            remarks.append(f"... and {self.k - MOST_ROWS} more")
        asked = self.settings.get("min_share", 0.0)
        short = np.count_nonzero(self.cut.volumes < asked * (1 - 1e-9))
        tiny = np.count_nonzero(self.cut.volumes < TINY / self.k)
        if short:
            remarks.append(
                f"{_counted(short, 'cluster holds', 'clusters hold')} less than the min_share of "
                f"{asked:.4g}; no partition with larger ones was found"
            )
        elif tiny:
            remarks.append(
                f"{_counted(tiny, 'cluster holds', 'clusters hold')} less than "
                f"{_percent(TINY / self.k)} of the volume; for larger ones ask for a min_share"
            )
        unclustered = int(np.count_nonzero(self.labels < 0))
        if unclustered:
            remarks.append(f"in no hyperedge, with label -1: {_counted(unclustered, 'vertex', 'vertices')}")
        if self.n_components > 1:
            remarks.append(f"the hypergraph has {self.n_components:,} connected components")
        return remarks


def pandas_for(method: str) -> Any:
    """The module pandas, or an error that says which method needs it."""
    return library("pandas", "pandas", method, "pandas")


def _counted(count: int | np.intp, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _percent(gap: float) -> str:
    if np.isinf(gap):
        return "unbounded"
    return f"{100 * gap:,.0f} %" if gap >= 1 else f"{100 * gap:.2f} %"
