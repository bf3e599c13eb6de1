"""From a few seeds to the cluster around them, at a cost that does not grow with the hypergraph.

A walker that starts at the seeds, and starts anew with probability `restart` in every step, is found at v
with probability pr(v). A cluster holds it back, so pr / phi is high inside and falls off outside. The
best prefix of that order is taken, then single vertices join or leave as long as that lowers the conductance.
What is computed of pr is what matters (see `pushes`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperclus.clustering.push import PushContext, Region, push_context
from hyperclus.errors import Argument, InputError, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import named
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.spectral.stationary import estimated_distribution
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Ids, Integers

FIRST = 0.1  # accuracy of the first round, over the height at which the seeds start
FINER = 2.0  # by which the accuracy falls from round to round
LAST = 0.2  # accuracy at which nothing local is left to find: far from the seeds pr / phi is about 1
ROUGHLY, FINELY = 0.2, 0.02  # share by which a round must lower the conductance to be worth another
RESTART = 1 / 2  # of the conductance: the restart that is chosen, but at least and at most
RESTARTS = (0.02, 0.25)
LOWEST = 1e-4  # restart below which mass is pushed round and round for ever
EDGE = 0.6  # of the vertices that mass arrived at: a larger cluster may have more members beyond
SLACK = 1 + 1e-12  # what rounding may add to a volume
LEAST = 700  # vertices that mass arrives at before a search ends; a single seed's first rounds show nothing


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LocalCluster:
    """A cluster grown from seeds.

    Attributes
    ----------
    members, positions : arrays
        Its vertices in the order of the sweep, nearest to the seeds first: their ids, and their positions
        in the hypergraph.
    scores : array
        pr / phi of each: how many times more often a walker from the seeds is there than any walker. An
        estimate: mass that has not arrived anywhere is taken to be spread like phi.
    conductance, volume : float
        Of the cluster; the volume is its share of a walker's time.
    seeds : array
        The ids it grew from.
    restart, accuracy : float
        Of the round that found it.
    volumes, conductances : arrays
        The sweep profile of that round: of every prefix of the order, beyond the cluster too. The best
        prefix is where the cluster began, before single vertices moved.
    looks, touched : int
        How often an incidence was looked at, and how many were: the work of the whole query.
    """

    members: Ids
    positions: Integers
    scores: Floats
    conductance: float
    volume: float
    seeds: Ids
    restart: float
    accuracy: float
    volumes: Floats
    conductances: Floats
    looks: int
    touched: int

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        vertices = "1 vertex" if len(self) == 1 else f"{len(self):,} vertices"
        grown = named(self.seeds, np.arange(len(self.seeds)))
        return (
            f"LocalCluster({vertices} from {grown}, conductance {self.conductance:.6g}, "
            f"{100 * self.volume:.3g} % of the volume, {self.touched:,} incidences touched)"
        )


def local_cluster(
    walk: Hypergraph | RandomWalk,
    seeds: Iterable[Any],
    *,
    restart: float | None = None,
    accuracy: float | None = None,
    max_volume: float = 0.5,
    max_size: int | None = None,
    keep_seeds: bool = True,
) -> LocalCluster:
    """The cluster of low conductance around some vertices.

    Parameters
    ----------
    walk : Hypergraph or RandomWalk
        A hypergraph's walk is made for this one query, with the exact stationary law, which looks at every
        incidence many times. For more queries make it once, `hc.RandomWalk(h)`, or `hc.quick_walk(h)` where
        that takes too long: each query then costs time in proportion to the cluster.
    seeds : ids
        Vertices that belong together, or the id of a single one.
    restart : float, optional
        The probability with which a walker goes back to the seeds in each step: the smaller, the farther it
        looks. By default chosen twice: from the conductance of the seeds, then from that of the
        cluster found. For the lazy walk of other programs with probability b, it is 2 b / (1 + b).
    accuracy : float, optional
        eps: p is within [pr - 2 eps phi, pr]. By default made finer, step by step, as long as that
        lowers the conductance.
    max_volume, max_size : optional
        The share of the volume, and the number of vertices, that the cluster may have at most.
    keep_seeds : bool
        Whether the seeds are members in any case.

    Raises
    ------
    InputError
        For seeds that are unknown, in no hyperedge, none or all of the vertices; and for caps that leave no
        cluster.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> sorted(local_cluster(h, ["a"]).members.tolist())
    ['a', 'b', 'c']
    """
    _check_between("restart", restart, 1.0, LOWEST)
    _check_between("accuracy", accuracy, np.inf)
    _check_between("max_volume", max_volume, 1.0)
    if max_size is not None:
        check_integer("max_size", max_size)
    _, ground = push_context(walk)
    query = _query(ground, ground.places(seeds), float(max_volume), max_size, keep_seeds)
    with ground.region(query.seeds) as region:
        found = query.answer(region, restart, accuracy)
        return replace(found, looks=region.looks, touched=region.touched)


def pagerank(
    walk: Hypergraph | RandomWalk,
    seeds: Iterable[Any] | None = None,
    *,
    restart: float = 0.15,
    tolerance: float = 1e-10,
) -> Floats:
    """PageRank, pr = a s + (1 - a) pr P: where a walker is who starts anew with probability a in each step.

    Parameters
    ----------
    walk : Hypergraph or RandomWalk
    seeds : ids, optional
        Where it starts, in proportion to phi; at any vertex alike by default, which ranks the vertices of the
        whole hypergraph (Chitra and Raphael, 2019).
    restart : float
        a. About ln(1 / tolerance) / a steps are taken, each a pass over all incidences.
    tolerance : float
        Largest ||pr - the true one||_1, rounding errors aside.

    Returns
    -------
    array of shape (n_vertices,)
        Sums to 1; 0 for vertices in no hyperedge.

    Examples
    --------
    >>> h = Hypergraph.from_edges({"won by ann": {"ann": 9, "bob": 1}, "won by cy": {"bob": 1, "cy": 3}})
    >>> pagerank(h).round(3).tolist()
    [0.514, 0.185, 0.301]
    """
    _check_between("restart", restart, 1.0, optional=False)
    _check_between("tolerance", tolerance, 1.0, optional=False)
    walk, ground = push_context(walk)
    n = len(ground.stationary)
    start = np.full(n, 1.0 / n)
    if seeds is not None:
        chosen = ground.places(seeds)
        start = np.zeros(n)
        start[chosen] = ground.stationary[chosen] / ground.stationary[chosen].sum()
    rank = start
    for _ in range(1 + int(np.log(tolerance / 2) / np.log1p(-restart))):  # after that it is near in any case
        before, rank = rank, restart * start + (1.0 - restart) * walk.adjoint(rank)
        if (1.0 - restart) / restart * np.abs(rank - before).sum() <= tolerance:
            break
    everywhere = np.zeros(len(ground.ids))
    everywhere[ground.outside(np.arange(n))] = rank / rank.sum()
    return everywhere


def quick_walk(hypergraph: Hypergraph, *, alpha: float = 0.0, steps: int = 4) -> RandomWalk:
    """The walk with a rough stationary law: a few steps from a first guess, in place of a solve.

    Good enough to weigh vertices in `local_cluster` (its `distribution.residual` says how good), but not for
    the bounds of `cluster`. Every vertex must be in a hyperedge.

    >>> walk = quick_walk(Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
    >>> walk.distribution.method
    'estimate'
    """
    check_integer("steps", steps)
    factors = TransitionFactors(hypergraph, alpha=alpha)
    return RandomWalk.with_distribution(factors, estimated_distribution(factors, steps))


@dataclass(frozen=True, slots=True, eq=False)
class _Query:
    """The ground, seeds by position in its walk, and what the cluster may be."""

    ground: PushContext
    seeds: Integers
    max_volume: float
    max_size: int
    keep_seeds: bool

    def answer(self, region: Region, restart: float | None, accuracy: float | None) -> LocalCluster:
        """With the restart given, or with one chosen twice."""
        if restart is not None:
            return self.grown(region, float(restart), accuracy, FINELY)
        region.start()
        _, conductances = region.profile(np.arange(len(self.seeds)))
        first = self.grown(region, _chosen(conductances[-1]), accuracy, ROUGHLY)
        second = self.grown(region, _chosen(first.conductance), accuracy, FINELY)
        return min(second, first, key=lambda one: one.conductance)

    def grown(self, region: Region, restart: float, accuracy: float | None, worth: float) -> LocalCluster:
        """Push and sweep, finer and finer, as long as that lowers the conductance by a share worth it."""
        region.start()
        eps = float(accuracy or FIRST / self.ground.stationary[self.seeds].sum())
        found: LocalCluster | None = None
        while True:
            region.push(restart, eps)
            one = self.best(region, restart, eps)
            better = found is None or one.conductance < found.conductance * (1.0 - worth)
            if found is None or one.conductance <= found.conductance:
                found = one
            arrived = len(one.volumes)
            narrow = arrived < LEAST or len(one) > EDGE * arrived
            eps /= FINER
            if accuracy is not None or eps < LAST or not (better or narrow):
                return found

    def best(self, region: Region, restart: float, eps: float) -> LocalCluster:
        """The prefix of lowest conductance that the caps allow, after single moves."""
        support, scores = region.scores()
        order = np.argsort(-scores, kind="stable")
        if self.keep_seeds:
            seeds_first = np.argsort(support[order] >= len(self.seeds), kind="stable")
            order = order[seeds_first]
        support, scores = support[order], scores[order]
        volumes, conductances = region.profile(support)
        allowed = (volumes <= self.max_volume) & (np.arange(1, len(order) + 1) <= self.max_size)
        fixed = len(self.seeds) if self.keep_seeds else 0
        allowed[: max(fixed - 1, 0)] = False
        if not allowed.any():
            raise InputError(
                "the vertex nearest to the seeds holds more than ",
                Argument("max_volume", self.max_volume),
                "; raise it",
            )
        size = 1 + int(np.argmin(np.where(allowed, conductances, np.inf)))
        inside = region.settled(support, size, fixed, self.max_volume, self.max_size)
        own_volumes, own_conductances = region.profile(support[inside])
        missing = 1.0 - scores @ self.ground.stationary[region.vertices.names[support]]
        places = self.ground.outside(region.vertices.names[support[inside]])
        return LocalCluster(
            members=self.ground.ids[places],
            positions=places,
            scores=scores[inside] + missing,
            conductance=float(own_conductances[-1]),
            volume=float(own_volumes[-1]),
            seeds=self.ground.ids[self.ground.outside(self.seeds)],
            restart=restart,
            accuracy=eps,
            volumes=volumes,
            conductances=conductances,
            looks=region.looks,
            touched=0,
        )


def _query(
    ground: PushContext, seeds: Integers, max_volume: float, max_size: int | None, keep_seeds: bool
) -> _Query:
    n = len(ground.stationary)
    if len(seeds) == n:
        raise InputError("all vertices are seeds, so there is no cluster to tell from the rest; name fewer")
    largest = n - 1 if max_size is None else min(int(max_size), n - 1)
    if keep_seeds and len(seeds) > largest:
        raise InputError(
            f"{len(seeds)} seeds do not fit into ",
            Argument("max_size", largest),
            "; raise it or name fewer seeds",
        )
    volume = float(ground.stationary[seeds].sum())
    if keep_seeds and volume > max_volume * SLACK:
        raise InputError(
            f"the seeds hold {100 * volume:.3g} % of the volume, more than ",
            Argument("max_volume", max_volume),
            "; raise it or name fewer seeds",
        )
    return _Query(ground, seeds, max_volume * SLACK, largest, keep_seeds)


def _check_between(argument: str, value: Any, most: float, least: float = 0.0, optional: bool = True) -> None:
    """Raise an `InputError` unless the value is a number above 0, from the least and below the most."""
    if not (value is None and optional) and not (is_number(value) and 0 < value < most and value >= least):
        start = f"from {least:g}" if least else "above 0"
        below = f" and below {most:g}" if most < np.inf else ""
        raise InputError(Argument(argument), f" must be a number {start}{below}; got {value!r}")


def _chosen(conductance: float) -> float:
    """The restart for a cluster of this conductance."""
    return float(np.clip(RESTART * conductance, *RESTARTS))
