"""Other methods to compare with, each from a hypergraph to a `Partition` scored on its EDVW walk."""

from hyperclus.baselines.clique import clique
from hyperclus.baselines.star import star

__all__ = ["clique", "star"]
