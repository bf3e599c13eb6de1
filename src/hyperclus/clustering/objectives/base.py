"""What the searches need of an objective: a class, and inner kernels for single moves, in one file."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Objective(ABC):
    """A cost of partitions that the searches lower; F_ij is the flow from cluster i to cluster j.

    `kernels` are the loops of `vertex_kernels` with the inner kernels of the objective's module.
    """

    kernels: ModuleType
    name: ClassVar[str]
    label: ClassVar[str]  # as shown to people
    sign: ClassVar[float]  # -1 where people see the negative cost

    @abstractmethod
    def flows(self, scale: Floats, sums: Floats) -> Floats:
        """The flows of a `State`, from the sums over the members of each hyperedge in each cluster."""

    @abstractmethod
    def cost(self, volumes: Floats, flows: Floats) -> float:
        """The cost, given volumes and flows of a state."""

    @abstractmethod
    def merger_costs(self, volumes: Floats, flows: Floats, between: Floats) -> Floats:
        """By how much the cost rises when two clusters are merged, for all pairs, given F too; (k, k)."""

    @abstractmethod
    def clear(self, flows: Floats, cluster: int) -> None:
        """Remove rounding errors from the flows of a cluster that is empty."""

    @abstractmethod
    def bound(self, pairs: Eigenpairs, k: int) -> float:
        """A lower bound on the cost, which ends the search."""

    def shown(self, cost: float) -> str:
        """A cost as people see it."""
        return f"{self.label} {self.sign * cost:.4f}"
