"""The two ways to search for clusters of low NCut: vertex by vertex, and in batches."""

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, open_checkpoint
from hyperclus._runtime.progress import WorkProgress
from hyperclus.clustering import batch_search
from hyperclus.clustering.initialization import initial_partitions
from hyperclus.clustering.vertex_search import EFFORTS, lowest
from hyperclus.engines.base import is_scattered, on_host
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Integers

BRIEF = 0.03  # of a thorough search goes into a default one before it, about
HALF_AT_LEAST = 0.01  # of the volume: what each of two clusters of a connected hypergraph holds by default


def by_moves(
    walk: RandomWalk, pairs: Eigenpairs, k: int, effort: str, least: float, seed: int, start: Integers | None
) -> Integers:
    """The search that moves one vertex after the other, in the memory of the host."""
    walk, pairs, work = walk.on_host(), pairs.on_host(), WorkProgress("search", "incidences")
    bound = ncut_lower_bound(pairs, k)

    def searched(plan: str, found: list[Integers], share: float) -> Integers:
        rng = np.random.default_rng(seed)
        known = replace(pairs, spare=pairs.spare[:, : EFFORTS[plan].extra])
        first = initial_partitions(walk, known, k, least, rng) if start is None else [start]
        checkpoint = open_checkpoint(
            "search", *_solved(walk, pairs), pairs.steps, bound, k, plan, least, start, *found, rng=rng
        )
        return lowest(
            walk,
            chain(found, first),
            k,
            EFFORTS[plan],
            pairs.steps,
            bound,
            least,
            rng,
            checkpoint,
            work,
            share,
        )

    found = [searched("default", [], BRIEF)] if effort == "thorough" else []
    return searched(effort, found, 1.0)


def by_batches(
    walk: RandomWalk, pairs: Eigenpairs, k: int, effort: str, least: float, seed: int, start: Integers | None
) -> Integers:
    """The search that moves many vertices at once, where the walk lives."""
    rng, checkpoint = np.random.default_rng(seed), NO_CHECKPOINT
    if walk.factors.products.host or is_scattered(walk.stationary):
        checkpoint = open_checkpoint("search", *_solved(walk, pairs), k, effort, least, start, rng=rng)
    return batch_search.batch_search(walk, pairs, k, EFFORTS[effort], least, rng, start, checkpoint)


def usual_share(walk: RandomWalk, k: int, start: Integers | None) -> float:
    """Two clusters of a connected hypergraph hold HALF_AT_LEAST, unless they are given and do not."""
    if k != 2 or walk.n_components > 1:
        return 0.0
    fair = start is None or np.bincount(start, weights=on_host(walk.stationary)).min() >= HALF_AT_LEAST
    return HALF_AT_LEAST if fair else 0.0


def _solved(walk: RandomWalk, pairs: Eigenpairs) -> tuple[Any, ...]:
    """All that a search depends on, for the name of its checkpoint."""
    return walk.hypergraph, walk.alpha, walk.stationary, pairs.values, pairs.vectors, pairs.spare
