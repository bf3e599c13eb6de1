"""The quality of clusters, which all kinds of partitions have."""

from typing import TYPE_CHECKING

from hyperclus.clustering.cut import Cut
from hyperclus.spectral.bounds import cheeger_interval, ncut_lower_bound, relative_gap
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.typing import Floats

if TYPE_CHECKING:
    from hyperclus.spectral.sdp_bound import TightBound


class PartitionQuality:
    """The quality of clusters, and what is proven about it."""

    __slots__ = ()
    cut: Cut
    eigenpairs: Eigenpairs
    tight: "TightBound | None" = None

    @property
    def k(self) -> int:
        """The number of clusters."""
        return len(self.cut.volumes)

    @property
    def ncut(self) -> float:
        """The normalised cut: 0 for separate clusters, about k - 1 for random ones."""
        return self.cut.ncut

    @property
    def lower_bound(self) -> float:
        """A proven bound: no partition into k clusters has a smaller NCut."""
        return ncut_lower_bound(self.eigenpairs, self.k) if self.tight is None else self.tight.value

    @property
    def gap(self) -> float:
        """(ncut - lower_bound) / lower_bound: proven relative distance from the optimum, 0.03 is 3 %."""
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
