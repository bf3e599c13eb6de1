"""k clusters from a way to split one cluster in two: the two strategies of the paper's appendix."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from hyperclus.clustering.cut import flow
from hyperclus.errors import InputError, check_choice
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Integers

Strategy = Literal["best", "largest"]
Halve = Callable[[Integers], Booleans | None]


def bisect(walk: RandomWalk, k: int, strategy: Strategy, halve: Halve) -> Integers:
    """Labels 0 .. k - 1 by splitting one cluster after the other.

    Parameters
    ----------
    walk : RandomWalk
        Scores the splits, by the NCut of the whole hypergraph.
    strategy : {"best", "largest"}
        Split the cluster that adds least to the NCut, or the one with most vertices.
    halve : callable
        From the positions of a cluster's vertices to the mask of those that go, or None where the
        cluster cannot be split. Called once per cluster at most.

    Raises
    ------
    InputError
        When no cluster can be split further.
    """
    check_choice("strategy", strategy, ("best", "largest"))
    labels = np.zeros(walk.hypergraph.n_vertices, dtype=np.int64)
    leaving: dict[int, Integers | None] = {}  # of each cluster, the vertices that a split takes away
    growth: dict[int, float] = {}  # of each cluster, what its split adds to the NCut
    for count in range(1, k):
        possible: list[int] = []
        for part in np.argsort(-np.bincount(labels), kind="stable").tolist():
            if part not in leaving:
                leaving[part] = _leaving(np.flatnonzero(labels == part), halve)
            if leaving[part] is not None:
                possible.append(part)
                if strategy == "largest":
                    break
        if not possible:
            raise InputError(f"no cluster can be split further; ask for at most k = {count} clusters")
        if len(possible) > 1:
            for part in possible:
                if part not in growth:
                    growth[part] = _growth(walk, labels == part, leaving[part])
        chosen = min(possible, key=lambda part: growth.get(part, 0.0))
        labels[leaving.pop(chosen)] = count
        growth.pop(chosen, None)
    return labels


def _leaving(vertices: Integers, halve: Halve) -> Integers | None:
    mask = halve(vertices) if len(vertices) > 1 else None
    return None if mask is None else vertices[mask]


def _growth(walk: RandomWalk, inside: Booleans, leaving: Integers | None) -> float:
    """NCut after the split less NCut before; the other clusters' terms stay as they are."""
    second = np.zeros_like(inside)
    second[leaving] = True
    terms = [flow(walk, side) for side in (second, inside & ~second, inside)]
    first, other, before = (boundary / volume for volume, boundary in terms)
    return first + other - before
