"""The rows of the paper's tables: each method as a function from a data set to a partition.

A new competitor is one more entry of `METHODS`; nothing else in this package changes.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hyperclus import baselines
from hyperclus.cluster import Reweigh, cluster, evaluate
from hyperclus.datasets import Dataset
from hyperclus.hypergraph import Hypergraph
from hyperclus.paper import as_written
from hyperclus.partition import Partition

Run = Callable[[Dataset, Hypergraph, Reweigh], Partition]


@dataclass(frozen=True, slots=True)
class Method:
    """One way to cluster a data set of the paper.

    Attributes
    ----------
    name : str
        As in the paper's tables.
    run : callable
        From the data set, its weighted hypergraph and the rule for sub-hypergraphs to a partition.
    slow : bool
        Takes minutes on some data sets.
    """

    name: str
    run: Run
    slow: bool = False


def _star(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh) -> Partition:
    return baselines.star(hypergraph, data.k, strategy=data.strategy, reweigh=reweigh)


def _clique(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh) -> Partition:
    return baselines.clique(hypergraph, data.k, strategy=data.strategy, reweigh=reweigh)


def _classes(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh) -> Partition:
    return evaluate(hypergraph, data.classes)


def _hyperclus_g(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh) -> Partition:
    return cluster(hypergraph, data.k, strategy=data.strategy, reweigh=reweigh)


def _as_written(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh) -> Partition:
    return as_written.cluster(hypergraph, data.k, data.strategy, reweigh)


METHODS = {
    method.name: method
    for method in (
        Method("STAR++", _star),
        Method("CLIQUE++", _clique),
        Method("actual class", _classes),
        Method("HyperClus-G", _hyperclus_g),
        Method("HyperClus-G as written", _as_written, slow=True),
    )
}
