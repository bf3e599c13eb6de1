"""Sweeps: the prefixes of an order of vertices, and the clusters to choose from, which are its dips.

The conductance of a set falls with its size even if the set is nothing special: a random half is left with
probability 1/2, a random twelfth with 11/12. So sweeps are compared by the NCut of a set and the rest,

    NCut(S) = flow out of S / (vol(S) (1 - vol(S))) = conductance / max(vol(S), 1 - vol(S)),

which is about 1 for a random set of any size. 1 - NCut(S) is the correlation of "the walker is in S" between
two successive steps. A union of clusters has about the same NCut as each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperclus.clustering import push_kernels
from hyperclus.clustering.push import Region
from hyperclus.typing import Floats, Integers

MIN_RISE = 1.05  # the factor by which the NCut rises on both sides of a dip
MAX_LOSS = 0.1  # of 1 - NCut, for a smaller cluster
MAX_NCUT = 2.0  # of any set; above it there is only rounding, for nearly all of the volume
SLACK = 1 + 1e-12  # allows for rounding in a volume


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """What a cluster may be: its largest volume and size, and how many seeds it must contain."""

    max_volume: float
    max_size: int
    fixed: int

    @property
    def caps(self) -> tuple[float, int]:
        """The largest volume, with room for rounding, and the largest size."""
        return self.max_volume * SLACK, self.max_size


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The vertices in the order of their scores, and volume and conductance of every prefix."""

    order: Integers  # numbers of vertices in the region
    scores: Floats
    volumes: Floats
    conductances: Floats
    restart: float
    accuracy: float

    @property
    def ncuts(self) -> Floats:
        """The NCut of every prefix and the rest."""
        return ncut(self.conductances, self.volumes)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A dip of a sweep after moves of single vertices."""

    sweep: Sweep
    inside: Integers  # places in the order of the sweep
    volume: float
    conductance: float
    rise: float  # how much the NCut of the sweep rises after the dip before it is lower
    limited: bool  # whether a limit, not a dip, ended the prefix

    @property
    def ncut(self) -> float:
        """The NCut of the cluster and the rest."""
        return float(ncut(self.conductance, self.volume))

    @property
    def numbers(self) -> Integers:
        """The numbers of its vertices in the region."""
        return self.sweep.order[self.inside]


def ncut(conductance: Floats | float, volume: Floats | float) -> Floats:
    """The NCut of a set and the rest, from its conductance and volume."""
    return np.minimum(conductance / np.maximum(volume, 1.0 - np.asarray(volume)), MAX_NCUT)


def sweep(region: Region, fixed: int, restart: float, accuracy: float) -> Sweep:
    """Sweep over all vertices with an estimate; the first `fixed` seeds come first."""
    support, scores = region.scores()
    order = np.argsort(-scores, kind="stable")
    order = order[np.argsort(support[order] >= fixed, kind="stable")]
    support, scores = support[order], scores[order]
    return Sweep(support, scores, *region.profile(support), restart, accuracy)


def n_allowed(one: Sweep, limits: Limits) -> int:
    """The size of the largest prefix within the limits."""
    return min(int(np.searchsorted(one.volumes, limits.caps[0], side="right")), limits.max_size)


def lowest(region: Region, one: Sweep, limits: Limits) -> Candidate:
    """The prefix of lowest NCut within the limits, after moves."""
    first = max(limits.fixed - 1, 0)
    place = first + int(np.argmin(one.ncuts[first : n_allowed(one, limits)]))
    return _moved(region, one, limits, place)


def dips(region: Region, one: Sweep, limits: Limits) -> list[Candidate]:
    """All dips of a sweep within the limits, after moves; the smallest first."""
    first, last = max(limits.fixed - 1, 0), n_allowed(one, limits)
    return [_moved(region, one, limits, first + place) for place in minima(one.ncuts[first:last])]


def minima(levels: Floats, rise: float = MIN_RISE) -> list[int]:
    """The places of the minima between which the levels rise and fall by a factor of at least `rise`.

    The ends may be minima too. Among equal levels the first counts.
    """
    places = np.empty(len(levels), dtype=np.int64)
    count = push_kernels.dips(levels, len(levels), rise, places)
    return list(places[:count].tolist())


def _moved(region: Region, one: Sweep, limits: Limits, place: int) -> Candidate:
    """The cluster at a place of the sweep, after moves of single vertices."""
    level, beyond = one.ncuts[place], one.ncuts[place + 1 :]
    lower = np.flatnonzero(beyond < level)
    rise = float(beyond[: lower[0] if len(lower) else None].max(initial=level) - level)
    limited = place == n_allowed(one, limits) - 1 and len(lower) > 0 and lower[0] == 0
    inside = region.descend(one.order, place + 1, limits.fixed, limits.caps)
    volumes, conductances = region.profile(one.order[inside])
    return Candidate(one, inside, float(volumes[-1]), float(conductances[-1]), rise, limited)


def chosen(found: Sequence[Candidate]) -> Candidate:
    """The smallest candidate that is hardly worse than the best; of equal ones that of the longest sweep.

    The NCut must rise after its dip by at least as much as it is above the lowest NCut. Otherwise the dip is
    only an irregularity on the way to a larger cluster.
    """
    best = min(one.ncut for one in found)
    worst = best + MAX_LOSS * abs(1.0 - best)
    good = [one for one in found if one.ncut <= worst and one.ncut - best <= one.rise]
    return min(good, key=lambda one: (len(one.inside), round(one.ncut, 12), -len(one.sweep.order)))
