"""DiffEq: local clusters from a diffusion that moves mass from the top to the bottom of each hyperedge.

Takai, Miyauchi, Ikeda, Yoshida: Hypergraph clustering based on PageRank, KDD 2020. Details follow the
authors' public program.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.random import random_generator
from hyperclus.clustering.hyperclus_g import Reweigh, Strategy
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError, check_choice, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph, check_incidences
from hyperclus.hypergraph.ids import positions
from hyperclus.hypergraph.messages import named, shown
from hyperclus.research.baselines.diffeq_search import Ties, measured, network_of, restarts, search
from hyperclus.research.baselines.scoring import scored_splits
from hyperclus.typing import Booleans, Ids, Integers, Seed

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DiffEqCluster:
    """A cluster grown from seeds by `diffeq_local` or `diffeq_best`; empty if none was found.

    It may not contain its seeds: a vertex of high degree passes its mass on and comes late in the sweep. Its
    conductance is cut(S) / min(vol S, vol rest), with vol by d(v) = sum of omega over v's hyperedges, and
    cut(S) the sum of omega over the hyperedges with members on both sides.
    """

    members: Ids  # ids of its vertices, in the order of the sweep
    positions: Integers  # of the same vertices in the hypergraph
    conductance: float  # NaN if there is no cluster
    volume: float  # its share of vol(V)
    restart: float  # the probability of a restart, alpha, that gave this cluster
    seeds: Ids  # ids of the vertices from which it was grown
    max_volume: float  # the largest share allowed

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
    """DiffEq: split off the local cluster of lowest conductance; for k > 2, split clusters again.

    Every split is `diffeq_best` on the cluster to split. gamma is only used to score the result. With the
    default `max_volume` no split is more even than 1 to 9; use 0.5 to find clusters of equal size.

    Parameters
    ----------
    n_seeds, max_volume, ties
        As in `diffeq_best`, for every split.
    strategy, reweigh, seed
        As in `hyperclus.hyperclus_g`.

    Raises
    ------
    InputError
        If every sweep of the whole hypergraph starts with a vertex above `max_volume`, or clusters become
        so small that each of their vertices is above it.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> diffeq(h, max_volume=0.5).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    _check(hypergraph, n_seeds, max_volume, ties)
    n_active = np.count_nonzero(hypergraph.covered)

    def split(sub: Hypergraph, rng: np.random.Generator) -> Booleans | None:
        found = diffeq_best(sub, n_seeds=n_seeds, max_volume=max_volume, ties=ties, seed=rng)
        if not len(found) and sub.n_vertices == n_active:
            raise InputError(_nothing(max_volume))
        return np.isin(np.arange(sub.n_vertices), found.positions) if len(found) else None

    settings = {"method": "diffeq", "n_seeds": n_seeds, "max_volume": max_volume, "ties": ties}
    return scored_splits(hypergraph, k, split, strategy, reweigh, seed, settings)


def diffeq_local(
    hypergraph: Hypergraph, seeds: Any, *, max_volume: float = 0.1, ties: Ties = "all"
) -> DiffEqCluster:
    """Find the cluster of lowest conductance around some vertices; empty if all are above `max_volume`.

    Starting from s, uniform over the seeds, it makes 30 steps
    x <- x - ((1 - alpha) Lap(x) + alpha (x - s)) and sets entries below 1e-5 to 0 after each. With
    y = x / d, d(v) the sum of omega over v's hyperedges,

        Lap(x)(v) = sum_e omega(e) (M - mu) ([v in Amax] / |Amax| - [v in Amin] / |Amin|),

    where M and mu are the maximum and minimum of y in e, attained on Amax and Amin. A sweep by descending y
    follows (ties by position). The result is the best prefix over all alpha = 1.9^i / (n |E|) up to 1, where
    n and |E| count vertices in hyperedges and hyperedges with members.

    Parameters
    ----------
    seeds : one or more vertex ids
        A vertex given twice counts once; a tuple that is itself an id is one vertex.
    max_volume : float
        Largest share of the volume of a cluster, at most 1/2.
    ties : {"all", "sequential"}
        "all": every member within a relative 1e-8 of an extreme attains it. "sequential": as in the public
        program, members are compared one after the other with the extreme so far, within an absolute 1e-8,
        so that the result depends on the order of the vertices and the scale of omega; and the sweep
        continues through vertices that no mass has reached.

    Raises
    ------
    InputError
        For a seed that is unknown or in no hyperedge, and for other invalid arguments.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> diffeq_local(h, ["e"], max_volume=0.5)
    DiffEqCluster(3 vertices from 'e', conductance 0.166667, 50 % of the volume)
    """
    _check(hypergraph, None, max_volume, ties)
    chosen = _seed_positions(hypergraph, seeds)
    active = np.flatnonzero(hypergraph.covered)
    isolated = np.setdiff1d(chosen, active)
    if len(isolated):
        name, remedy = shown(hypergraph.vertex_ids[isolated[0]]), "drop it from the seeds"
        raise InputError(f"vertex {name} is in no hyperedge, so no cluster grows from it; {remedy}")
    return _grown(hypergraph, active, [np.searchsorted(active, chosen)], max_volume, ties)


def diffeq_best(
    hypergraph: Hypergraph,
    *,
    n_seeds: int | None = 50,
    max_volume: float = 0.1,
    ties: Ties = "all",
    seed: Seed = 0,
) -> DiffEqCluster:
    """Find the best of the clusters that `diffeq_local` finds from single vertices.

    Parameters
    ----------
    n_seeds : int or None
        Number of start vertices, drawn without replacement; None for all. With the same `seed`, a larger
        number adds vertices to the same ones.
    max_volume, ties
        As in `diffeq_local`.
    seed
        Seed for drawing the vertices.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> sorted(diffeq_best(h, max_volume=0.4).members.tolist())
    ['a', 'b']
    """
    _check(hypergraph, n_seeds, max_volume, ties)
    active, rng = np.flatnonzero(hypergraph.covered), random_generator(seed)
    drawn = np.arange(len(active))
    if n_seeds is not None and n_seeds < len(active):
        drawn = rng.permutation(drawn)[:n_seeds]
    return _grown(hypergraph, active, list(drawn.reshape(-1, 1)), max_volume, ties)


def _grown(
    hypergraph: Hypergraph, active: Integers, starts: Sequence[Integers], max_volume: float, ties: Ties
) -> DiffEqCluster:
    """The best cluster from several sets of seeds, as positions among the active vertices."""
    ids, network = hypergraph.vertex_ids, network_of(hypergraph, active)
    alphas = restarts(len(active), len(network.weights))
    _log.info("%r: %d seeds, %d alphas, %s ties", hypergraph, len(starts), len(alphas), ties)
    found = search(network, starts, alphas, max_volume, ties)
    if not len(found.order):
        nothing, seeds = active[:0], active[starts[0] if len(starts) == 1 else slice(0)]
        return DiffEqCluster(ids[nothing], nothing, np.nan, 0.0, np.nan, ids[seeds], max_volume)
    start, alpha = divmod(found.column, len(alphas))
    inside = active[found.order]
    conductance, volume = measured(network, found.order)
    return DiffEqCluster(
        ids[inside], inside, conductance, volume, float(alphas[alpha]), ids[active[starts[start]]], max_volume
    )


def _check(hypergraph: Any, n_seeds: Any, max_volume: Any, ties: Any) -> None:
    check_hypergraph(hypergraph)
    check_incidences(hypergraph)
    if n_seeds is not None:
        check_integer("n_seeds", n_seeds)
    if not (is_number(max_volume) and 0 < max_volume <= 0.5):
        raise InputError(
            f"max_volume must be a share of the volume, above 0 and up to 1/2; got {max_volume!r}"
        )
    check_choice("ties", ties, ("all", "sequential"))


def _seed_positions(hypergraph: Hypergraph, seeds: Any) -> Integers:
    """The sorted positions of the seeds, without duplicates; a single id is one seed."""
    ids = hypergraph.vertex_ids
    if isinstance(seeds, np.ndarray) and not seeds.ndim:
        seeds = seeds.item()
    single = isinstance(seeds, str | bytes) or not isinstance(seeds, Iterable)
    if single or (isinstance(seeds, tuple) and seeds in ids.tolist()):
        seeds = [seeds]
    known = positions(list(seeds) if isinstance(seeds, set | frozenset) else seeds, ids, "vertex")
    if not len(known):
        raise InputError("there are no seeds; give the id of at least one vertex")
    return np.unique(known).astype(np.int64)


def _nothing(max_volume: float) -> str:
    remedy = "; raise max_volume, to 0.5 at most" if max_volume < 0.5 else ""
    return (
        "no cluster: the first vertex of every sweep holds more than "
        f"max_volume = {max_volume:g} of the volume{remedy}"
    )
