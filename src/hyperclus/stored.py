"""The answer where there may be more vertices than one machine holds: figures here, labels in files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperclus.certificate import cheeger_interval, ncut_lower_bound, relative_gap
from hyperclus.cut import Cut
from hyperclus.eigen import Eigenpairs
from hyperclus.io.streaming import arrow
from hyperclus.notebook import html_table
from hyperclus.types import Floats, Integers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StoredPartition:
    """Clusters found by the engine "dask": their figures, and a folder of Parquet files with the labels.

    Attributes
    ----------
    folder : Path
        Parquet files with a row for each vertex: its id, and `cluster`, 0 .. k - 1, cluster 0 the largest.
    n_vertices, n_edges, n_incidences : int
    cut : Cut
        Volume and boundary of each cluster.
    eigenpairs : Eigenpairs
        The values and residuals of the max(k, 2) smallest; the vectors stay on the workers.
    sizes : array of shape (k,)
        The number of vertices in each cluster.
    n_components : int
    settings, timings : mappings
        The arguments, and the seconds spent in each stage.
    rounds : mapping
        What the rounds over the workers took: their number by stage, seconds, and bytes sent.
    """

    folder: Path
    n_vertices: int
    n_edges: int
    n_incidences: int
    cut: Cut
    eigenpairs: Eigenpairs
    sizes: Integers
    n_components: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    rounds: Mapping[str, Any] = field(default_factory=dict)

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

    def to_table(self) -> Any:
        """All labels as a table of PyArrow; for as many vertices as this machine has memory for."""
        return arrow("pyarrow.parquet").read_table(self.folder, use_threads=False)

    def __repr__(self) -> str:
        return (
            f"StoredPartition(k={self.k}, sizes={self.sizes.tolist()}, ncut={self.ncut:.6g}, "
            f"lower_bound={self.lower_bound:.6g}, folder={str(self.folder)!r})"
        )

    def _repr_html_(self) -> str:
        title = f"{self.k} clusters of {self.n_vertices:,} vertices, NCut {self.ncut:.4f}"
        rows = [
            [str(cluster), f"{size:,}", f"{volume:.4f}", f"{out:.4f}"]
            for cluster, (size, volume, out) in enumerate(
                zip(self.sizes, self.cut.volumes, self.cut.conductances, strict=True)
            )
        ]
        return html_table(
            title,
            ["cluster", "vertices", "volume", "conductance"],
            rows,
            [f"No NCut is below {self.lower_bound:.4f}.", f"Labels: {self.folder}"],
        )
