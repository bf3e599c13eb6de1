"""DiffEq: local clusters from a diffusion that moves mass from the top to the bottom of each hyperedge.

Takai, Miyauchi, Ikeda, Yoshida: Hypergraph clustering based on PageRank, KDD 2020; in its details as
its public program behaves.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np

from hyperclus._runtime.random import random_generator
from hyperclus.clustering.hyperclus_g import Reweigh, Strategy
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError, check_choice, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import positions
from hyperclus.hypergraph.messages import named, shown
from hyperclus.research.baselines.diffeq_search import Ties, measured, network_of, restarts, search
from hyperclus.research.baselines.scoring import by_splitting, scored
from hyperclus.typing import Booleans, Ids, Integers, Seed

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DiffEqCluster:
    """A cluster grown from seeds, by `diffeq_local` or `diffeq_best`; empty where none was found.

    It need not contain its seeds: a vertex of high degree passes its mass on, and comes late in the sweep.

    Attributes
    ----------
    members : array
        The ids of its vertices, in the order of the sweep.
    positions : array
        The same vertices by position in the hypergraph.
    conductance : float
        cut(S) / min(vol S, vol rest), with vol by d(v) = sum of omega over v's hyperedges, and cut(S)
        the sum of omega over the hyperedges with members on both sides. NaN where there is no cluster.
    volume : float
        Its share of vol(V).
    restart : float
        The alpha that gave it, the probability of a restart.
    seeds : array
        The ids of the vertices it grew from.
    max_volume : float
        The share of vol(V) that it was allowed.
    """

    members: Ids
    positions: Integers
    conductance: float
    volume: float
    restart: float
    seeds: Ids
    max_volume: float

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        if not len(self):
            return f"DiffEqCluster({_nothing(self.max_volume)})"
        vertices = "1 vertex" if len(self) == 1 else f"{len(self):,} vertices"
        grown = named(self.seeds, np.arange(len(self.seeds)))
        return (
            f"DiffEqCluster({vertices} from {grown}, conductance {self.conductance:.6g}, "
            f"{100 * self.volume:.3g} % of the volume)"
        )


def diffeq(
    hypergraph: Hypergraph,
    k: int = 2,
    *,
    n_seeds: int | None = 50,
    max_volume: float = 0.1,
    ties: Ties = "all",
    strategy: Strategy = "best",
    reweigh: Reweigh | None = None,
    seed: Seed = 0,
) -> Partition:
    """DiffEq: the local cluster of lowest conductance against the rest; for k > 2 again inside a cluster.

    Every split is `diffeq_best` on the cluster that is split. gamma only enters the score. With the usual
    `max_volume` no split is more even than 1 to 9; ask for 0.5 to find clusters of equal size.

    Parameters
    ----------
    n_seeds, max_volume, ties
        As in `diffeq_best`, for every split.
    strategy, reweigh, seed
        As in `hyperclus.hyperclus_g`.

    Raises
    ------
    InputError
        When every sweep of the whole hypergraph begins with a vertex above `max_volume`, or clusters
        become so small that each of their vertices is above it.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> diffeq(h, max_volume=0.5).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    check_hypergraph(hypergraph)
    _check(n_seeds, max_volume, ties)
    n_active = np.count_nonzero(hypergraph.covered)

    def split(sub: Hypergraph, rng: np.random.Generator) -> Booleans | None:
        found = _best(sub, n_seeds, max_volume, ties, rng)
        if not len(found):
            if sub.n_vertices == n_active:
                raise InputError(_nothing(max_volume))
            return None
        inside = np.zeros(sub.n_vertices, dtype=bool)
        inside[found.positions] = True
        return inside

    settings = {
        "method": "diffeq",
        "n_seeds": n_seeds,
        "max_volume": max_volume,
        "ties": ties,
        "strategy": strategy,
    }
    return scored(hypergraph, k, by_splitting(split, k, strategy, reweigh), settings, seed)


def diffeq_local(
    hypergraph: Hypergraph, seeds: Any, *, max_volume: float = 0.1, ties: Ties = "all"
) -> DiffEqCluster:
    """The cluster of lowest conductance around some vertices.

    From s, uniform over the seeds, 30 steps x <- x - ((1 - alpha) Lap(x) + alpha (x - s)), after each of
    which entries below 1e-5 become 0. With y = x / d, d(v) the sum of omega over v's hyperedges,

        Lap(x)(v) = sum_e omega(e) (M - mu) ([v in Amax] / |Amax| - [v in Amin] / |Amin|),

    M and mu being the maximum and minimum of y in e, attained on Amax and Amin. Then a sweep by
    descending y (ties by position). The best prefix for any alpha = 1.9^i / (n |E|) up to 1 is returned, n
    and |E| counting vertices in hyperedges and hyperedges with members.

    Parameters
    ----------
    seeds : one or more vertex ids
        A vertex given twice counts once; a tuple that is itself an id is one vertex.
    max_volume : float
        The sweep ends before the prefix that holds more than this share of the volume; 1/2 at most.
    ties : {"all", "sequential"}
        Which members attain an extreme: all that are within a share 1e-8 of it. Or as in the public
        program: member after member, each compared with the extreme so far, those within 1e-8, which
        depends on the order of the vertices and on the scale of omega; and its sweep goes on, in
        that order, through vertices that no mass has reached.

    Returns
    -------
    DiffEqCluster
        Empty when every sweep begins with a vertex above `max_volume`.

    Raises
    ------
    InputError
        For a seed that is unknown or in no hyperedge, and for other arguments that cannot be used.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> diffeq_local(h, ["e"], max_volume=0.5)
    DiffEqCluster(3 vertices from 'e', conductance 0.166667, 50 % of the volume)
    """
    check_hypergraph(hypergraph)
    _check(None, max_volume, ties)
    chosen = _seed_positions(hypergraph, seeds)
    active = np.flatnonzero(hypergraph.covered)
    places = np.searchsorted(active, chosen)
    alone = np.setdiff1d(chosen, active)
    if len(alone):
        lost = shown(hypergraph.vertex_ids[alone[0]])
        raise InputError(
            f"vertex {lost} is in no hyperedge, so nothing grows from it; leave it out of the seeds"
        )
    return _grown(hypergraph, active, [places], max_volume, ties)


def diffeq_best(
    hypergraph: Hypergraph,
    *,
    n_seeds: int | None = 50,
    max_volume: float = 0.1,
    ties: Ties = "all",
    seed: Seed = 0,
) -> DiffEqCluster:
    """The best of the clusters that `diffeq_local` finds from single vertices.

    Parameters
    ----------
    n_seeds : int or None
        From how many vertices, drawn without replacement; None for every vertex. With the same `seed`,
        more of them are the same ones and others.
    max_volume, ties
        As in `diffeq_local`.
    seed
        Draws the vertices.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> sorted(diffeq_best(h, max_volume=0.4).members.tolist())
    ['a', 'b']
    """
    check_hypergraph(hypergraph)
    _check(n_seeds, max_volume, ties)
    return _best(hypergraph, n_seeds, max_volume, ties, random_generator(seed))


def _best(
    hypergraph: Hypergraph, n_seeds: int | None, max_volume: float, ties: Ties, rng: np.random.Generator
) -> DiffEqCluster:
    active = np.flatnonzero(hypergraph.covered)
    drawn = np.arange(len(active))
    if n_seeds is not None and n_seeds < len(active):
        drawn = rng.permutation(drawn)[:n_seeds]
    return _grown(hypergraph, active, list(drawn.reshape(-1, 1)), max_volume, ties)


def _grown(
    hypergraph: Hypergraph, active: Integers, starts: Sequence[Integers], max_volume: float, ties: Ties
) -> DiffEqCluster:
    """The best cluster from several sets of seeds, given by their positions among the active vertices."""
    ids, network = hypergraph.vertex_ids, network_of(hypergraph, active)
    alphas = restarts(len(active), len(network.weights))
    _log.info("%r: %d seeds, %d alphas, %s ties", hypergraph, len(starts), len(alphas), ties)
    found = search(network, starts, alphas, max_volume, ties)
    if found is None:
        nobody = active[:0]
        seeds = active[starts[0]] if len(starts) == 1 else nobody
        return DiffEqCluster(ids[nobody], nobody, np.nan, 0.0, np.nan, ids[seeds], max_volume)
    start, alpha = divmod(found.column, len(alphas))
    inside = active[found.order]
    conductance, volume = measured(network, found.order)
    return DiffEqCluster(
        ids[inside], inside, conductance, volume, float(alphas[alpha]), ids[active[starts[start]]], max_volume
    )


def _check(n_seeds: Any, max_volume: Any, ties: Any) -> None:
    if n_seeds is not None:
        check_integer("n_seeds", n_seeds)
    if not (is_number(max_volume) and 0 < max_volume <= 0.5):
        raise InputError(
            f"max_volume must be a share of the volume, above 0 and up to 1/2; got {max_volume!r}"
        )
    check_choice("ties", ties, ("all", "sequential"))


def _seed_positions(hypergraph: Hypergraph, seeds: Any) -> Integers:
    """Where the seeds stand, in order and each once; a lone id counts as one seed."""
    ids = hypergraph.vertex_ids
    lone = isinstance(seeds, str | bytes | Number | np.generic) or not isinstance(seeds, Iterable)
    if lone or (isinstance(seeds, tuple) and seeds in ids.tolist()):
        seeds = [seeds]
    elif isinstance(seeds, np.ndarray) and not seeds.ndim:
        seeds = [seeds.item()]
    elif isinstance(seeds, set | frozenset):
        seeds = list(seeds)
    chosen = np.unique(positions(seeds, ids, "vertex")).astype(np.int64)
    if not len(chosen):
        raise InputError("seeds are empty; give the id of at least one vertex")
    return chosen


def _nothing(max_volume: float) -> str:
    remedy = "; raise max_volume, to 0.5 at most" if max_volume < 0.5 else ""
    return (
        "no cluster: the first vertex of every sweep holds more than "
        f"max_volume = {max_volume:g} of the volume{remedy}"
    )
