"""The nine data sets of the paper with its weights, which count the classes.

>>> from hyperclus.research import datasets
>>> datasets.names()
('mushroom', 'rice', 'car', 'digit-24', 'covertype', 'zoo', 'wine-567', 'letter', 'digit')
"""

from dataclasses import dataclass

from hyperclus import datasets
from hyperclus.clustering.hyperclus_g import Strategy
from hyperclus.datasets.download import Folder
from hyperclus.datasets.registry import Source
from hyperclus.datasets.tables import RULES, Table
from hyperclus.errors import check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.weighting import class_counts
from hyperclus.typing import Ids, Integers

LARGEST = ("wine-567", "digit")  # split the largest cluster each time, as the paper's figures show

__all__ = ["Dataset", "load", "names"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset:
    """One of the paper's data sets.

    Its hypergraph has a hyperedge per (feature, value), with gamma_e(v) the number of members of e in v's
    class. It depends on the classes, see `class_counts`; that of `hc.datasets.load(name)` has gamma = 1.
    """

    name: str
    table: Table  # the columns, binned where the paper bins
    classes: Ids  # of each row
    hypergraph: Hypergraph
    k: int  # the number of classes, which is the number of clusters in the paper
    strategy: Strategy  # of `hyperclus_g` that reproduces the paper's figures for k > 2
    source: Source  # title, address, licence, citation and, if there is one, copyright notice

    def reweigh(self, sub: Hypergraph, vertices: Integers) -> Hypergraph | None:
        """Rebuild the hypergraph of a cluster as the paper does, for `hyperclus_g(reweigh=...)`.

        Hyperedges that contain the whole cluster are dropped, and classes are counted inside the cluster.
        None if all rows of the cluster are equal.
        """
        constant = sub.edge_sizes == sub.n_vertices
        if constant.all():
            return None
        return class_counts(sub.drop_edges(constant), self.classes[vertices])

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, k={self.k}, {self.hypergraph!r})"


def names() -> tuple[str, ...]:
    """The names of the data sets, in the paper's order."""
    return tuple(RULES)


def load(
    name: str, *, from_source: bool = False, folder: Folder | None = None, progress: bool = False
) -> Dataset:
    """Load a data set with the weights of the paper.

    `name` is one of `names()`; the other parameters and the errors are those of `hc.datasets.load`.

    >>> load("zoo").hypergraph.gamma[[0]].data[:4].tolist()
    [39.0, 39.0, 39.0, 39.0]
    """
    check_choice("name", name, names())
    data = datasets.load(name, from_source=from_source, folder=folder, progress=progress)
    hypergraph = class_counts(data.hypergraph, data.classes)
    strategy: Strategy = "largest" if name in LARGEST else "best"
    assert data.table is not None
    return Dataset(name, data.table, data.classes, hypergraph, data.k, strategy, data.source)
