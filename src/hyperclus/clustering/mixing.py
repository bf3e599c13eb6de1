"""The share of steps over similar vertices, chosen without labels.

Clusters are found on each side alone, by hyperedges and by attributes. If those of one side say more about
the steps on the other side than permuted labels do, the sides have a structure in common, and are mixed. If
not, a mixture would blur the clusters of both, and one side is used alone: the hyperedges, unless these have
no more structure than shuffled ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hyperclus.clustering.objectives import information_of
from hyperclus.errors import Argument, InputError, is_number
from hyperclus.hypergraph.configuration_model import shuffled
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers

PERMUTATIONS = 8  # of labels, that say how much information chance gives
DEVIATIONS = 5.0  # of these, above which the sides know of each other,
LEAST = 0.05  # if it is also this share of what the side tells about itself
ABOVE_CHANCE = 1.15  # information of hyperedges relative to shuffled ones, from which they have clusters
BOTH = 0.65  # beta, if both sides are used; chosen on three citation networks, see docs/how_to/attributes.md
FIRST_K = 8  # clusters of each side, if their number is not known yet


class Found(NamedTuple):
    """Clusters of one side alone: the walk on its vertices, and the labels of all, -1 for the others."""

    walk: RandomWalk
    labels: Integers

    @property
    def k(self) -> int:
        """The number of clusters."""
        return int(self.labels.max()) + 1


Search = Callable[[Hypergraph, float], Found]  # of a hypergraph at alpha


@dataclass(frozen=True, slots=True)
class Share:
    """The share beta of steps over similar vertices, and why.

    `explained` are the parts of the information on each side that the clusters of the other side have, 0
    if they have no more than chance: of hyperedges by attributes, and of attributes by hyperedges.
    """

    beta: float
    reason: str
    explained: tuple[float, float] | None = None


def checked_beta(beta: object) -> float | None:
    """The number that beta is; None for "auto"; or an `InputError`."""
    if isinstance(beta, str) and beta == "auto":
        return None
    if not (is_number(beta) and 0 <= beta <= 1):  # type: ignore[operator]
        raise InputError(Argument("beta"), f' must be "auto" or a number from 0 to 1; got {beta!r}')
    return float(beta)  # type: ignore[arg-type]


def chosen_share(
    hypergraph: Hypergraph, similar: Hypergraph, alpha: float, search: Search, seed: int
) -> Share:
    """Choose beta for a hypergraph and the neighbourhoods of its vertices, given a search for clusters."""
    if not hypergraph.n_incidences:
        return Share(1.0, "there are no hyperedges")
    rng = np.random.default_rng(seed)
    by_edges, by_similar = search(hypergraph, alpha), search(similar, 1.0)
    if min(by_edges.k, by_similar.k) < 2 or not ((by_edges.labels >= 0) & (by_similar.labels >= 0)).any():
        return Share(0.5, "one side has too few vertices to judge the other by")
    told = _explained(by_edges, by_similar, rng), _explained(by_similar, by_edges, rng)
    if max(told) > 0:
        return Share(BOTH, "hyperedges and attributes have a structure in common", told)
    by_chance = search(shuffled(hypergraph, rng), alpha)
    figures = [information_of(one.walk, _inside(one), one.k) for one in (by_edges, by_chance)]
    if figures[0] > ABOVE_CHANCE * figures[1]:
        return Share(0.0, "the attributes say nothing about the hyperedges, so they are left out", told)
    return Share(1.0, "the hyperedges have no more structure than shuffled ones, so they are left out", told)


def _inside(found: Found) -> Integers:
    """The labels of the vertices of the walk."""
    return found.labels[found.labels >= 0]


def _explained(side: Found, other: Found, rng: np.random.Generator) -> float:
    """The share of the information on one side that the clusters of the other side have; 0 if by chance.

    Vertices that the other side does not have are drawn from its clusters at random, in all figures alike.
    """
    theirs = other.labels[side.labels >= 0].copy()
    absent = theirs < 0
    theirs[absent] = rng.choice(theirs[~absent], np.count_nonzero(absent)) if (~absent).any() else 0
    own = information_of(side.walk, _inside(side), side.k)
    found = _information(side.walk, theirs)
    chance: Floats = np.array([_information(side.walk, rng.permutation(theirs)) for _ in range(PERMUTATIONS)])
    excess = found - float(chance.mean())
    share = excess / max(own - float(chance.mean()), 1e-12)
    return float(np.clip(share, 0.0, 1.0)) if excess > DEVIATIONS * chance.std() and share > LEAST else 0.0


def _information(walk: RandomWalk, labels: Integers) -> float:
    """The information of labels, some of which may be missing."""
    used, numbered = np.unique(labels, return_inverse=True)
    return information_of(walk, numbered, len(used))
