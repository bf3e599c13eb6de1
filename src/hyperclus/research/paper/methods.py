"""Rows of the paper's tables: each method as a function from a data set to a partition."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hyperclus.clustering._run import Bound
from hyperclus.clustering.cluster import cluster, evaluate
from hyperclus.clustering.hyperclus_g import Reweigh, hyperclus_g
from hyperclus.clustering.partition import Partition
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.research import baselines
from hyperclus.research.datasets import Dataset
from hyperclus.research.paper import as_written
from hyperclus.spectral.multiplier_search import ALONE_UP_TO

Run = Callable[[Dataset, Hypergraph, Reweigh, int], Partition]

OURS = "hyperclus (ours)"
THOROUGH = "hyperclus (ours, thorough)"
DIFFEQ_STARTS = 200  # for each split
WHOLE_WALK_UP_TO = 200  # vertices: node2vec then gets all of P


@dataclass(frozen=True, slots=True)
class Method:
    """A method in the paper's tables."""

    name: str  # as in the paper's tables
    run: Run  # from data set, weighted hypergraph, rule for sub-hypergraphs and seed
    slow: bool = False  # takes many seconds or minutes on some data sets
    random: bool = False  # its figures in the tables are means over ten seeds


def _splitting(method: Callable[..., Partition], **options: Any) -> Run:
    """A method that splits repeatedly, with the paper's strategy and rule for sub-hypergraphs."""

    def run(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
        return method(hypergraph, data.k, strategy=data.strategy, reweigh=reweigh, seed=seed, **options)

    return run


def _node2vec(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    """The paper cuts P at a threshold if it is too large; car and zoo use all of P."""
    threshold = 0.0 if hypergraph.n_vertices <= WHOLE_WALK_UP_TO else None
    return baselines.node2vec(hypergraph, data.k, threshold=threshold, seed=seed)


def _thorough(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    """The longest search; on car and zoo, which are small enough, also the tight bound."""
    bound: Bound = "tight" if hypergraph.n_vertices <= ALONE_UP_TO else "eigenvalues"
    return cluster(
        hypergraph, data.k, objective="ncut", effort="thorough", bound=bound, seed=seed, chance=False
    )


METHODS = {
    method.name: method
    for method in (
        Method("STAR++", _splitting(baselines.star)),
        Method("CLIQUE++", _splitting(baselines.clique)),
        Method(  # like the public program, but not from all vertices, which takes hours
            "DiffEq", _splitting(baselines.diffeq, n_seeds=DIFFEQ_STARTS, ties="sequential"), slow=True
        ),
        Method("node2vec", _node2vec, slow=True, random=True),
        Method(
            "hyperedge2vec",
            lambda data, h, reweigh, seed: baselines.hyperedge2vec(h, data.k, seed=seed),
            slow=True,
            random=True,
        ),
        Method(
            "actual class", lambda data, h, reweigh, seed: evaluate(h, data.classes, seed=seed, chance=False)
        ),
        Method("HyperClus-G", _splitting(hyperclus_g, chance=False)),
        Method(
            OURS, lambda data, h, reweigh, seed: cluster(h, data.k, objective="ncut", seed=seed, chance=False)
        ),
        Method(THOROUGH, _thorough, slow=True),
        Method(
            "HyperClus-G as written",
            lambda data, h, reweigh, seed: as_written.cluster(h, data.k, data.strategy, reweigh),
            slow=True,
        ),
    )
}
