"""The rows of the paper's tables: each method as a function from a data set to a partition."""

from collections.abc import Callable
from dataclasses import dataclass

from hyperclus.clustering._run import Bound
from hyperclus.clustering.cluster import cluster, evaluate
from hyperclus.clustering.hyperclus_g import Reweigh, hyperclus_g
from hyperclus.clustering.partition import Partition
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.research import baselines
from hyperclus.research.datasets import Dataset
from hyperclus.research.paper import as_written
from hyperclus.spectral.sdp_bound import MAX_VERTICES

Run = Callable[[Dataset, Hypergraph, Reweigh, int], Partition]

OURS = "hyperclus (ours)"
THOROUGH = "hyperclus (ours, thorough)"
STARTS = 200  # of DiffEq, for each split
WHOLE = 200  # vertices up to which node2vec gets all of P


@dataclass(frozen=True, slots=True)
class Method:
    """One way to cluster a data set of the paper.

    Attributes
    ----------
    name : str
        As in the paper's tables.
    run : callable
        From the data set, its weighted hypergraph, the rule for sub-hypergraphs and a seed to a partition.
    slow : bool
        Takes many seconds or minutes on some data sets.
    random : bool
        Its figures in the tables are means over ten seeds.
    """

    name: str
    run: Run
    slow: bool = False
    random: bool = False


def _star(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    return baselines.star(hypergraph, data.k, strategy=data.strategy, reweigh=reweigh, seed=seed)


def _clique(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    return baselines.clique(hypergraph, data.k, strategy=data.strategy, reweigh=reweigh, seed=seed)


def _diffeq(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    """As the public program, from STARTS vertices; all of them take hours on the larger data sets."""
    return baselines.diffeq(
        hypergraph,
        data.k,
        n_seeds=STARTS,
        ties="sequential",
        strategy=data.strategy,
        reweigh=reweigh,
        seed=seed,
    )


def _node2vec(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    """The paper cuts P at a threshold where it is too large; car and zoo have it whole."""
    threshold = 0.0 if hypergraph.n_vertices <= WHOLE else None
    return baselines.node2vec(hypergraph, data.k, threshold=threshold, seed=seed)


def _hyperedge2vec(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    return baselines.hyperedge2vec(hypergraph, data.k, seed=seed)


def _classes(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    return evaluate(hypergraph, data.classes, seed=seed)


def _hyperclus_g(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    return hyperclus_g(hypergraph, data.k, strategy=data.strategy, reweigh=reweigh, seed=seed)


def _ours(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    return cluster(hypergraph, data.k, seed=seed)


def _thorough(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    """The longest search, and on car and zoo, which are small enough, the tighter bound."""
    bound: Bound = "tight" if hypergraph.n_vertices <= MAX_VERTICES else "eigenvalues"
    return cluster(hypergraph, data.k, effort="thorough", bound=bound, seed=seed)


def _as_written(data: Dataset, hypergraph: Hypergraph, reweigh: Reweigh, seed: int) -> Partition:
    return as_written.cluster(hypergraph, data.k, data.strategy, reweigh)


METHODS = {
    method.name: method
    for method in (
        Method("STAR++", _star),
        Method("CLIQUE++", _clique),
        Method("DiffEq", _diffeq, slow=True),
        Method("node2vec", _node2vec, slow=True, random=True),
        Method("hyperedge2vec", _hyperedge2vec, slow=True, random=True),
        Method("actual class", _classes),
        Method("HyperClus-G", _hyperclus_g),
        Method(OURS, _ours),
        Method(THOROUGH, _thorough, slow=True),
        Method("HyperClus-G as written", _as_written, slow=True),
    )
}
