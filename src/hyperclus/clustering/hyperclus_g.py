"""HyperClus-G, the algorithm of the paper: Li, Fu, Liu and He (TMLR 2025)."""

from collections.abc import Callable
from typing import Literal, Unpack

import numpy as np

from hyperclus._runtime.progress import topic
from hyperclus.clustering._run import Run, Settings, check_k
from hyperclus.clustering.cut import flow, sweep
from hyperclus.clustering.n_clusters import chosen_k
from hyperclus.clustering.partition import Partition
from hyperclus.errors import Argument, InputError, check_callable, check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, HypergraphLike, Integers

Rounding = Literal["sign", "sweep"]
Strategy = Literal["best", "largest"]
Reweigh = Callable[[Hypergraph, Integers], Hypergraph | None]
Split = Callable[[Hypergraph], Booleans | None]


def hyperclus_g(
    hypergraph: HypergraphLike,
    k: int | Literal["auto"] = 2,
    *,
    rounding: Rounding = "sign",
    strategy: Strategy = "best",
    reweigh: Reweigh | None = None,
    **settings: Unpack[Settings],
) -> Partition:
    """Split the vertices into k clusters by Algorithm 1 of the paper, and for k > 2 by repeated bisection.

    The second eigenvector of L_sym splits the vertices in two. For more clusters, the sub-hypergraph of a
    cluster is split in the same way, as in the appendix of the paper. `cluster` finds a lower NCut.

    Parameters
    ----------
    hypergraph, k
        As in `cluster`.
    rounding : {"sign", "sweep"}
        Cut an eigenvector z by the sign of its entries, or along z / sqrt(phi) where the NCut is smallest.
        Without a negative entry, "sign" falls back to "sweep", which `settings["fallbacks"]` then says.
    strategy : {"best", "largest"}
        Split next the cluster whose split leaves the smallest NCut, or the one with most vertices. The
        paper's appendix has both.
    reweigh : callable, optional
        `reweigh(sub, vertices)` gets the sub-hypergraph of a cluster (restricted, gamma unchanged) and the
        positions of its vertices, and returns the hypergraph to split instead, on the same vertices, or None
        if the cluster must not be split.
    **settings
        alpha, bound, bound_seconds, tolerance, seed, engine, precision: as in `cluster`.

    Returns
    -------
    Partition

    Raises
    ------
    InputError, ConvergenceError

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> part = hyperclus_g(h, k=2)
    >>> sorted(part.members(part.labels[0]).tolist())
    ['a', 'b', 'c']
    """
    check_choice("rounding", rounding, ("sign", "sweep"))
    check_choice("strategy", strategy, ("best", "largest"))
    if reweigh is not None:
        check_callable("reweigh", reweigh)
    run = Run.of("hyperclus_g", hypergraph, settings)
    k, suggestion = chosen_k(run.hypergraph, k, run.alpha, run.seed)
    k = check_k(k, run.whole.n_vertices)
    walk = run.walk(run.whole, k)
    pairs = run.eigenpairs(walk, k)

    def split(sub: Hypergraph) -> Booleans:
        if sub is run.whole:
            return _rounded(run, walk, pairs, rounding)
        with topic(f"a cluster of {sub.n_vertices:,}"):
            sub_walk = run.walk(sub, 2)
            return _rounded(run, sub_walk, run.eigenpairs(sub_walk, 2), rounding)

    labels = bisect(walk, k, strategy, split, reweigh)
    own = {"method": "hyperclus_g", "rounding": rounding, "strategy": strategy, **suggestion}
    return run.partition(walk, pairs, labels, k, own)


def _rounded(run: Run, walk: RandomWalk, pairs: Eigenpairs, rounding: Rounding) -> Booleans:
    """Step 6 of Algorithm 1: cut the second eigenvector in two; the mask of one side."""
    with run.timed("rounding"):
        (second,) = walk.backend.fetch(pairs.vectors[:, 1])
        if rounding == "sign" and second.min() < 0:
            return np.asarray(second < 0)
        if rounding == "sign":
            run.fall_back(
                f"sweep instead of sign for a cluster of {len(second):,}: no entry of the second eigenvector "
                "is negative"
            )
        walk = walk.on_host()
        profile = sweep(walk, second / np.sqrt(walk.stationary))
        return profile.prefix(int(np.argmin(profile.ncuts)))


def bisect(
    walk: RandomWalk, k: int, strategy: Strategy, split: Split, reweigh: Reweigh | None = None
) -> Integers:
    """Split one cluster after the other until there are k; returns labels 0 .. k - 1.

    `split` gets the sub-hypergraph of a cluster, each at most once, and returns the mask of the vertices that
    leave it, or None if it cannot be split. The NCut of the walk scores the splits; strategy and reweigh are
    those of `hyperclus_g`.
    """
    check_choice("strategy", strategy, ("best", "largest"))
    labels = np.zeros(walk.hypergraph.n_vertices, dtype=np.int64)
    leaving: dict[int, Integers | None] = {}  # of each cluster, the vertices that a split takes away
    growth: dict[int, float] = {}  # of each cluster, what its split adds to the NCut
    for count in range(1, k):
        possible: list[int] = []
        for part in np.argsort(-np.bincount(labels), kind="stable").tolist():
            if part not in leaving:
                leaving[part] = _leaving(walk.hypergraph, np.flatnonzero(labels == part), split, reweigh)
            if leaving[part] is not None:
                possible.append(part)
                if strategy == "largest":
                    break
        if not possible:
            raise InputError("no cluster can be split further; use at most ", Argument("k", count))
        if len(possible) > 1:
            for part in possible:
                if part not in growth:
                    growth[part] = _growth(walk, labels == part, leaving[part])
        chosen = min(possible, key=lambda part: growth.get(part, 0.0))
        labels[leaving.pop(chosen)] = count
        growth.pop(chosen, None)
    return labels


def _leaving(whole: Hypergraph, vertices: Integers, split: Split, reweigh: Reweigh | None) -> Integers | None:
    """The vertices of a cluster that a split separates; None if it cannot be split."""
    sub: Hypergraph | None = whole
    if len(vertices) < 2:
        return None
    if len(vertices) < whole.n_vertices:
        sub = whole.restrict(vertices)
        if reweigh is not None and (sub := reweigh(sub, vertices)) is not None:
            check_hypergraph(sub)
            if sub.n_vertices != len(vertices):
                raise InputError(
                    f"reweigh returned {sub.n_vertices} vertices for a cluster of {len(vertices)}; keep all"
                )
    mask = None if sub is None else split(sub)
    return None if mask is None else vertices[mask]


def _growth(walk: RandomWalk, inside: Booleans, leaving: Integers | None) -> float:
    """NCut after the split less NCut before; the other clusters' terms stay as they are."""
    second = np.zeros_like(inside)
    second[leaving] = True
    terms = [flow(walk, side) for side in (second, inside & ~second, inside)]
    first, other, before = (boundary / volume for volume, boundary in terms)
    return first + other - before
