"""The answer where there may be more vertices than one machine holds: figures here, labels in files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperclus.clustering.cut import Cut
from hyperclus.io.tables.encode import arrow
from hyperclus.spectral.bounds import PartitionQuality
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.typing import Integers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StoredPartition(PartitionQuality):
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

    def to_table(self) -> Any:
        """All labels as a table of PyArrow; for as many vertices as this machine has memory for."""
        return arrow("pyarrow.parquet").read_table(self.folder, use_threads=False)

    def __repr__(self) -> str:
        return (
            f"StoredPartition(k={self.k}, sizes={self.sizes.tolist()}, ncut={self.ncut:.6g}, "
            f"lower_bound={self.lower_bound:.6g}, folder={str(self.folder)!r})"
        )

    def _repr_html_(self) -> str:
        from hyperclus.report.notebook import html_table

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
