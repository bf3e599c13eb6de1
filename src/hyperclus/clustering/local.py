"""The cluster around a few seed vertices, at a cost that does not grow with the hypergraph.

A walker that starts at the seeds and restarts there with probability `restart` in each step is at v with
probability pr(v). A cluster holds it back, so pr / phi is high inside and falls off outside. The prefixes of
that order are compared by their NCut (see `sweep`), and single vertices join or leave while that lowers it.
pr is computed only where it matters (see `_native/push.h`).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hyperclus.clustering.local_query import MIN_RESTART, Query
from hyperclus.clustering.local_result import LocalCluster, described
from hyperclus.clustering.push import push_context
from hyperclus.clustering.sweep import Limits, chosen
from hyperclus.errors import Argument, InputError, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.spectral.stationary import estimated_distribution
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, HypergraphLike


def local_cluster(
    hypergraph: HypergraphLike | RandomWalk,
    seeds: Iterable[Any],
    *,
    restart: float | None = None,
    accuracy: float | None = None,
    max_volume: float = 0.75,
    max_size: int | None = None,
    keep_seeds: bool = True,
) -> LocalCluster:
    """Find a cluster of low conductance around some vertices.

    Parameters
    ----------
    hypergraph : Hypergraph or RandomWalk
        For several queries build the walk once, `hc.RandomWalk(h)`, or `hc.clustering.quick_walk(h)` if that
        takes too long: each query then takes time in proportion to the cluster.
    seeds : ids
        Ids of vertices that belong together, or the id of a single one.
    restart : float, optional
        The probability with which a walker returns to the seeds in each step: the smaller, the larger the
        region explored. By default chosen from the conductance of the seeds, then of the cluster found.
    accuracy : float, optional
        eps: p is within [pr - 2 eps phi, pr]. By default refined while that lowers the NCut.
    max_volume, max_size : optional
        The largest share of the volume, and number of vertices, of the cluster.
    keep_seeds : bool
        Whether the seeds are always members.

    Returns
    -------
    LocalCluster
        Read its `doubt`: why it may not be the cluster that you look for, or "".

    Raises
    ------
    InputError
        If seeds are unknown, in no hyperedge, none or all; or if the limits rule out every cluster.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> local_cluster(h, ["a"])
    LocalCluster: 3 vertices, conductance 0.08333, 50 % of the volume
    seeds: 'a'
    members: 'a', 'b', 'c'
    """
    _check_between("restart", restart, 1.0, MIN_RESTART)
    _check_between("accuracy", accuracy, np.inf)
    _check_between("max_volume", max_volume, 1.0)
    _, context = push_context(hypergraph)
    positions = context.seed_positions(seeds)
    largest = len(context.stationary) - 1
    if max_size is not None:
        check_integer("max_size", max_size)
        largest = min(int(max_size), largest)
    with context.region(positions) as region:
        query = Query(region, Limits(float(max_volume), largest, len(positions) if keep_seeds else 0))
        query.check()
        found = query.dips(restart, accuracy)
        one = chosen(found)
        return described(region, one, found, query.limit(one), query.overlap(one))


def pagerank(
    hypergraph: HypergraphLike | RandomWalk,
    seeds: Iterable[Any] | None = None,
    *,
    restart: float = 0.15,
    tolerance: float = 1e-10,
) -> Floats:
    """PageRank, pr = a s + (1 - a) pr P, of a walker that restarts with probability a in each step.

    Parameters
    ----------
    hypergraph : Hypergraph or RandomWalk
    seeds : ids, optional
        Where it restarts, in proportion to phi. By default uniformly at all vertices, which ranks the
        vertices of the whole hypergraph (Chitra and Raphael, 2019).
    restart : float
        a. Takes about ln(1 / tolerance) / a steps, each a pass over all incidences.
    tolerance : float
        Largest error in the 1-norm, apart from rounding.

    Returns
    -------
    array of shape (n_vertices,)

    Examples
    --------
    >>> h = Hypergraph.from_edges({"won by ann": {"ann": 9, "bob": 1}, "won by cy": {"bob": 1, "cy": 3}})
    >>> pagerank(h).round(3).tolist()
    [0.514, 0.185, 0.301]
    """
    _check_between("restart", restart, 1.0, optional=False)
    _check_between("tolerance", tolerance, 1.0, optional=False)
    walk, context = push_context(hypergraph)
    n = len(context.stationary)
    rank = start = np.full(n, 1.0 / n)
    if seeds is not None:
        chosen = context.seed_positions(seeds)
        rank = start = np.zeros(n)
        start[chosen] = context.stationary[chosen] / context.stationary[chosen].sum()
    for _ in range(1 + int(np.log(tolerance / 2) / np.log1p(-restart))):  # enough in any case
        before, rank = rank, restart * start + (1.0 - restart) * walk.adjoint(rank)
        if (1.0 - restart) / restart * np.abs(rank - before).sum() <= tolerance:
            break
    everywhere = np.zeros(len(context.ids))
    everywhere[context.inside] = rank / rank.sum()
    return everywhere


def quick_walk(hypergraph: Hypergraph, *, alpha: float = 0.0, steps: int = 4) -> RandomWalk:
    """The random walk with a rough stationary distribution: a few steps from an estimate, instead of a solve.

    Accurate enough for `local_cluster` (see its `distribution.residual`), but not for the bounds of
    `cluster`. Every vertex must be in a hyperedge.

    >>> walk = quick_walk(Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
    >>> walk.distribution.method
    'estimate'
    """
    check_integer("steps", steps)
    factors = TransitionFactors(hypergraph, alpha=alpha)
    return RandomWalk.with_distribution(factors, estimated_distribution(factors, steps))


def _check_between(argument: str, value: Any, most: float, least: float = 0.0, optional: bool = True) -> None:
    """Raise an `InputError` unless 0 < value, least <= value < most."""
    if not (value is None and optional) and not (is_number(value) and 0 < value < most and value >= least):
        start = f"from {least:g}" if least else "above 0"
        below = f" and below {most:g}" if most < np.inf else ""
        raise InputError(Argument(argument), f" must be a number {start}{below}; got {value!r}")
