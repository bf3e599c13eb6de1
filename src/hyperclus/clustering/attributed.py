"""Hypergraphs whose vertices have attributes: a walk over hyperedges and over similar vertices."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from hyperclus._runtime.progress import report_progress
from hyperclus.clustering._run import Run
from hyperclus.clustering.mixing import FIRST_K, Found, Share, checked_beta, chosen_share
from hyperclus.clustering.objectives import INFORMATION
from hyperclus.clustering.search_problem import SearchProblem, effort_of
from hyperclus.engines import InMemory, Precision
from hyperclus.errors import Argument, InputError, check_integer
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.neighbors import NEIGHBORS, Rows, mixed, neighborhoods
from hyperclus.io.anything import as_hypergraph
from hyperclus.io.attributes import Attributes, aligned
from hyperclus.typing import HypergraphLike, Seed


@dataclass(frozen=True, slots=True)
class Given:
    """Settings of a call that also hold for the search on each side."""

    alpha: float
    seed: Seed
    engine: InMemory
    precision: Precision


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """What is clustered: a hypergraph, alpha, the attributes of its vertices, and settings to record.

    Where attributes alone are used, alpha is 1.
    """

    hypergraph: HypergraphLike
    alpha: float
    attributes: Attributes | None = None
    settings: dict[str, Any] = field(default_factory=dict)


def with_attributes(
    hypergraph: HypergraphLike | None, attributes: Any, beta: float, *, n_neighbors: int = NEIGHBORS
) -> Hypergraph:
    """Return a hypergraph whose walk takes a share beta of its steps to vertices with similar attributes.

    It has the hyperedges, and for each vertex a hyperedge ("similar to", vertex) of its nearest neighbours,
    see `neighborhoods`. All functions for hypergraphs accept it. At 0 it is the hypergraph itself; at 1, or
    if that is None, it has neighbourhoods only, which are meant for alpha = 1.

    Parameters
    ----------
    hypergraph : Hypergraph or None
        Or whatever `as_hypergraph` accepts.
    attributes, beta
        As in `cluster`.
    n_neighbors : int
        How many neighbours each vertex has at least.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b"], ["c", "d"]])
    >>> with_attributes(h, [[1.0], [1.1], [7.0], [7.2]], 0.5, n_neighbors=1)
    Hypergraph(4 vertices, 6 hyperedges, 12 incidences)
    """
    check_integer("n_neighbors", n_neighbors)
    share = checked_beta(beta)
    if share is None:
        raise InputError(Argument("beta"), " must be a number here; hc.cluster chooses it")
    h, found, ids = aligned(None if hypergraph is None else as_hypergraph(hypergraph), attributes)
    if h is not None and share == 0:
        return h
    similar = neighborhoods(Rows(found.values, found.present, found.metric), ids, n_neighbors)
    return similar if h is None else mixed(h, similar, share)


def join_attributes(
    hypergraph: HypergraphLike | None,
    attributes: Any,
    beta: float | Literal["auto"],
    k: int | Literal["auto"],
    given: Given,
) -> Joined:
    """Join a hypergraph and the attributes of its vertices, with a given or a chosen beta."""
    share = checked_beta(beta)
    h, found, ids = aligned(None if hypergraph is None else as_hypergraph(hypergraph), attributes)
    if h is not None and h.mixture is not None:
        raise InputError("the hypergraph has attributes already; give them once")
    chosen = Share(1.0, "there is no hypergraph") if h is None else None
    if share is not None and h is not None:
        chosen = Share(share, "given")
    if h is not None and chosen is not None and chosen.beta == 0:
        return Joined(h, given.alpha, found, _recorded(chosen))
    report_progress("neighbours", 0, "vertices", 0.0)
    similar = neighborhoods(Rows(found.values, found.present, found.metric), ids)
    if h is None:
        return Joined(similar, 1.0, found, _recorded(Share(1.0, "there is no hypergraph")))
    chosen = chosen or _chosen(h, similar, k, given)
    alpha = 1.0 if chosen.beta == 1 else given.alpha
    if chosen.beta == 1:
        similar = similar.with_nouns(vertex=h.nouns.vertex, edge=h.nouns.edge)
    return Joined(mixed(h, similar, chosen.beta), alpha, found, _recorded(chosen))


def _recorded(share: Share) -> dict[str, Any]:
    """What the settings of a partition say about beta."""
    return {"beta": share.beta, "beta_reason": share.reason}


def _chosen(h: Hypergraph, similar: Hypergraph, k: int | Literal["auto"], given: Given) -> Share:
    """Choose beta by clusters of each side alone."""
    count = FIRST_K if k == "auto" else k
    seed = int(given.seed) if isinstance(given.seed, int | np.integer) else 0

    def search(side: Hypergraph, alpha: float) -> Found:
        run = Run(side, given.engine, False, alpha=alpha, precision=given.precision, seed=seed)
        clusters, how = min(count, run.whole.n_vertices), effort_of("fast")
        walk = run.walk(run.whole, clusters)
        pairs = run.eigenpairs(walk, clusters, how.extra)
        found = run.search(SearchProblem(walk, pairs, clusters, 0.0, INFORMATION), how, seed)
        (inside,) = walk.backend.fetch(found)
        labels = np.full(side.n_vertices, -1, dtype=np.int64)
        labels[run.active] = np.unique(inside, return_inverse=True)[1]
        return Found(walk.on_host(), labels)

    return chosen_share(h, similar, given.alpha, search, seed)
