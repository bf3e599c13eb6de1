"""The cluster around a few seed vertices, at a cost that does not grow with the hypergraph.

A walker that starts at the seeds and restarts there with probability `restart` in each step is at v with
probability pr(v). A cluster holds it back, so pr / phi is high inside and falls off outside. The best prefix
of that order is taken, then single vertices join or leave while that lowers the conductance. pr is computed
only where it matters (see `push_kernels`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperclus.clustering.push import Region, push_context
from hyperclus.errors import Argument, InputError, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import named
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.spectral.stationary import estimated_distribution
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Ids, Integers

FIRST_ACCURACY = 0.1  # of the first round, divided by the volume of the seeds
REFINEMENT = 2.0  # factor between the accuracies of two rounds
LAST_ACCURACY = 0.2  # below, nothing local is left to find: far from the seeds pr / phi is about 1
COARSE, FINE = 0.2, 0.02  # relative decrease of the conductance that makes another round worthwhile
RESTART_PER_CONDUCTANCE = 0.5  # the chosen restart, within the range
RESTART_RANGE = (0.02, 0.25)
MIN_RESTART = 1e-4  # below, pushing does not end in reasonable time
MAX_FILL = 0.6  # a cluster with a larger share of the vertices reached may have members beyond
MIN_REACHED = 700  # vertices before a search ends; the first rounds of a single seed show nothing
SLACK = 1 + 1e-12  # allows for rounding in a volume


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LocalCluster:
    """A cluster around seeds."""

    members: Ids  # ids of its vertices, nearest to the seeds first
    positions: Integers  # of these in the hypergraph
    scores: Floats  # pr / phi: how much more often a walker from the seeds is there than any walker
    conductance: float
    volume: float  # the share of a walker's time
    seeds: Ids
    restart: float  # of the round that found it
    accuracy: float
    volumes: Floats  # of every prefix of the order of that round, also beyond the cluster
    conductances: Floats
    visits: int = 0  # of incidences by the whole query
    touched: int = 0  # different incidences visited

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        size = f"{len(self):,} {'vertex' if len(self) == 1 else 'vertices'}"
        figures = f"conductance {self.conductance:.6g}, {100 * self.volume:.3g} % of the volume"
        seeds = named(self.seeds, np.arange(len(self.seeds)))
        return f"LocalCluster({size} from {seeds}, {figures}, {self.touched:,} incidences touched)"


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
    """Find a cluster of low conductance around some vertices.

    Parameters
    ----------
    walk : Hypergraph or RandomWalk
        For several queries build the walk once, `hc.RandomWalk(h)`, or `hc.clustering.quick_walk(h)` if that
        takes too long: each query then takes time in proportion to the cluster.
    seeds : ids
        Ids of vertices that belong together, or the id of a single one.
    restart : float, optional
        The probability with which a walker returns to the seeds in each step: the smaller, the larger the
        region explored. By default chosen from the conductance of the seeds, then of the cluster found.
    accuracy : float, optional
        eps: p is within [pr - 2 eps phi, pr]. By default refined while that lowers the conductance.
    max_volume, max_size : optional
        The largest share of the volume, and number of vertices, of the cluster.
    keep_seeds : bool
        Whether the seeds are always members.

    Raises
    ------
    InputError
        If seeds are unknown, in no hyperedge, none or all; or if the limits rule out every cluster.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> sorted(local_cluster(h, ["a"]).members.tolist())
    ['a', 'b', 'c']
    """
    _check_between("restart", restart, 1.0, MIN_RESTART)
    _check_between("accuracy", accuracy, np.inf)
    _check_between("max_volume", max_volume, 1.0)
    _, context = push_context(walk)
    positions = context.seed_positions(seeds)
    largest = len(context.stationary) - 1
    if max_size is not None:
        check_integer("max_size", max_size)
        largest = min(int(max_size), largest)
    with context.region(positions) as region:
        found = _Query(region, float(max_volume), largest, keep_seeds).answer(restart, accuracy)
        return replace(found, visits=region.visits, touched=region.touched)


def pagerank(
    walk: Hypergraph | RandomWalk,
    seeds: Iterable[Any] | None = None,
    *,
    restart: float = 0.15,
    tolerance: float = 1e-10,
) -> Floats:
    """PageRank, pr = a s + (1 - a) pr P, of a walker that restarts with probability a in each step.

    Parameters
    ----------
    walk : Hypergraph or RandomWalk
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
    walk, context = push_context(walk)
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


@dataclass(frozen=True, slots=True, eq=False)
class _Query:
    """The region around the seeds, and the limits of the cluster."""

    region: Region
    max_volume: float
    max_size: int
    keep_seeds: bool

    def __post_init__(self) -> None:
        seeds, stationary = self.region.seeds, self.region.context.stationary
        volume, limit = float(stationary[seeds].sum()), Argument("max_volume", self.max_volume)
        if len(seeds) == len(stationary):
            raise InputError("all vertices are seeds, so there is nothing to separate; name fewer")
        if self.keep_seeds and len(seeds) > self.max_size:
            limit = Argument("max_size", self.max_size)
            raise InputError(f"{len(seeds)} seeds do not fit into ", limit, "; raise it or name fewer")
        if self.keep_seeds and volume > self.max_volume * SLACK:
            held = f"the seeds hold {100 * volume:.3g} % of the volume, more than "
            raise InputError(held, limit, "; raise it or name fewer")

    def answer(self, restart: float | None, accuracy: float | None) -> LocalCluster:
        """The cluster for the given restart, or for one that is chosen twice."""
        if restart is not None:
            return self.grown(float(restart), accuracy, FINE)
        _, conductances = self.region.profile(np.arange(len(self.region.seeds)))
        first = self.grown(_chosen(conductances[-1]), accuracy, COARSE)
        second = self.grown(_chosen(first.conductance), accuracy, FINE)
        return min(second, first, key=lambda one: one.conductance)

    def grown(self, restart: float, accuracy: float | None, worth: float) -> LocalCluster:
        """Push and sweep, with finer and finer accuracy, while that lowers the conductance enough."""
        region = self.region
        region.start()
        eps = float(accuracy or FIRST_ACCURACY / region.context.stationary[region.seeds].sum())
        found: LocalCluster | None = None
        while True:
            region.push(restart, eps)
            one = self.best(restart, eps)
            better = found is None or one.conductance < found.conductance * (1.0 - worth)
            if found is None or one.conductance <= found.conductance:
                found = one
            reached = len(one.volumes)
            narrow = reached < MIN_REACHED or len(one) > MAX_FILL * reached
            eps /= REFINEMENT
            if accuracy is not None or eps < LAST_ACCURACY or not (better or narrow):
                return found

    def best(self, restart: float, eps: float) -> LocalCluster:
        """The prefix of lowest conductance within the limits, after moves of single vertices."""
        region, context = self.region, self.region.context
        support, scores = region.scores()
        order = np.argsort(-scores, kind="stable")
        fixed = len(region.seeds) if self.keep_seeds else 0
        order = order[np.argsort(support[order] >= fixed, kind="stable")]  # fixed seeds first
        support, scores = support[order], scores[order]
        volumes, conductances = region.profile(support)
        allowed = (volumes <= self.max_volume * SLACK) & (np.arange(1, len(order) + 1) <= self.max_size)
        allowed[: max(fixed - 1, 0)] = False
        if not allowed.any():
            limit = Argument("max_volume", self.max_volume)
            raise InputError("the vertex nearest to the seeds holds more than ", limit, "; raise it")
        size = 1 + int(np.argmin(np.where(allowed, conductances, np.inf)))
        inside = region.descend(support, size, fixed, (self.max_volume * SLACK, self.max_size))
        own_volumes, own_conductances = region.profile(support[inside])
        reached = region.vertices.position[support]
        missing = 1.0 - scores @ context.stationary[reached]
        positions = context.inside[reached[inside]]
        members = context.ids[positions], positions, scores[inside] + missing
        figures = float(own_conductances[-1]), float(own_volumes[-1])
        seeds = context.ids[context.inside[region.seeds]]
        return LocalCluster(*members, *figures, seeds, restart, eps, volumes, conductances)


def _check_between(argument: str, value: Any, most: float, least: float = 0.0, optional: bool = True) -> None:
    """Raise an `InputError` unless 0 < value, least <= value < most."""
    if not (value is None and optional) and not (is_number(value) and 0 < value < most and value >= least):
        start = f"from {least:g}" if least else "above 0"
        below = f" and below {most:g}" if most < np.inf else ""
        raise InputError(Argument(argument), f" must be a number {start}{below}; got {value!r}")


def _chosen(conductance: float) -> float:
    """The restart for a cluster of this conductance."""
    return float(np.clip(RESTART_PER_CONDUCTANCE * conductance, *RESTART_RANGE))
