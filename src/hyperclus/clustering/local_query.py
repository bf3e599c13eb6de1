"""The search of one local query: which restarts and accuracies are tried, and when it ends."""

from dataclasses import dataclass

import numpy as np

from hyperclus.clustering.push import Region
from hyperclus.clustering.sweep import Candidate, Limits, chosen, dips, lowest, n_allowed, sweep
from hyperclus.errors import Argument, InputError
from hyperclus.typing import Integers

FIRST_ACCURACY = 0.1  # of the first round, divided by the volume of the seeds
REFINEMENT = 2.0  # factor between the accuracies of two rounds
LAST_ACCURACY = 0.2  # below, nothing local is left to find: far from the seeds pr / phi is about 1
COARSE, FINE = 0.2, 0.02  # relative decrease of the NCut that makes another round worthwhile
RESTART_PER_CONDUCTANCE = 0.5  # the chosen restart, within the range
RESTART_RANGE = (0.02, 0.25)
MIN_RESTART = 1e-4  # below, pushing does not end in reasonable time
MAX_FILL = 0.6  # a cluster with a larger share of the vertices reached may have members beyond
MIN_REACHED = 700  # vertices before a search ends; the first rounds of a single seed show nothing
OTHERS = 5  # members from which a second search starts


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """The region around the seeds, and the limits of the cluster."""

    region: Region
    limits: Limits

    def check(self) -> None:
        """Raise an `InputError` if the limits rule out every cluster."""
        seeds, stationary, limits = self.region.seeds, self.region.context.stationary, self.limits
        volume, limit = float(stationary[seeds].sum()), Argument("max_volume", limits.max_volume)
        if len(seeds) == len(stationary):
            raise InputError("all vertices are seeds, so there is nothing to separate; name fewer")
        if limits.fixed > limits.max_size:
            limit = Argument("max_size", limits.max_size)
            raise InputError(f"{len(seeds)} seeds do not fit into ", limit, "; raise it or name fewer")
        if limits.fixed and volume > limits.caps[0]:
            held = f"the seeds hold {100 * volume:.3g} % of the volume, more than "
            raise InputError(held, limit, "; raise it or name fewer")

    def dips(self, restart: float | None, accuracy: float | None) -> list[Candidate]:
        """The clusters to choose from, for the given restart, or for one that is chosen twice."""
        seeds = np.arange(len(self.region.seeds))
        if restart is not None:
            found = self.grown(seeds, float(restart), accuracy, FINE)
        else:
            _, conductances = self.region.profile(seeds)
            found = self.grown(seeds, _suitable(conductances[-1]), accuracy, COARSE)
            if found:
                found += self.grown(seeds, _suitable(chosen(found).conductance), accuracy, FINE)
        if not found:
            limit = Argument("max_volume", self.limits.max_volume)
            raise InputError("the vertex nearest to the seeds holds more than ", limit, "; raise it")
        return found

    def grown(self, start: Integers, restart: float, accuracy: float | None, worth: float) -> list[Candidate]:
        """Push and sweep, with finer and finer accuracy, while that lowers the NCut enough.

        Returns no candidates if the first vertex exceeds the limits.
        """
        region, limits = self.region, self.limits
        region.start(start)
        eps = float(accuracy or FIRST_ACCURACY / region.vertices.distribution[start].sum())
        best: Candidate | None = None
        while True:
            region.push(restart, eps)
            last = sweep(region, limits.fixed, restart, eps)
            if not n_allowed(last, limits):
                return []
            one = lowest(region, last, limits)
            better = best is None or one.ncut < best.ncut * (1.0 - worth)
            if best is None or one.ncut <= best.ncut:
                best = one
            reached = len(last.order)
            narrow = reached < MIN_REACHED or len(one.inside) > MAX_FILL * reached
            eps /= REFINEMENT
            if accuracy is not None or eps < LAST_ACCURACY or not (better or narrow):
                sweeps = [best.sweep] if best.sweep is last else [best.sweep, last]
                return [dip for each in sweeps for dip in dips(region, each, limits)]

    def overlap(self, one: Candidate) -> float:
        """The F1 of a cluster and the one that is found from a few of its members other than the seeds."""
        others = one.numbers[one.numbers >= len(self.region.seeds)]
        if not len(others):
            return 1.0
        places = np.linspace(0, len(others) - 1, min(OTHERS, len(others))).astype(np.int64)
        found = self.grown(np.sort(others[places]), one.sweep.restart, one.sweep.accuracy, FINE)
        if not found:
            return 0.0
        again = chosen(found)
        both = len(np.intersect1d(again.numbers, one.numbers))
        return 2.0 * both / (len(again.inside) + len(one.inside))

    def limit(self, one: Candidate) -> str | None:
        """The argument that kept a cluster from growing, if one did."""
        region, limits = self.region, self.limits
        most = len(region.context.stationary) - 1
        full = len(one.inside) >= limits.max_size < most
        if not full and one.volume + region.largest_mass <= limits.max_volume:
            return None
        outside = np.setdiff1d(np.arange(len(one.sweep.order)), one.inside, assume_unique=True)
        order = one.sweep.order[np.concatenate([one.inside, outside])]
        freely = region.descend(order, len(one.inside), limits.fixed, (1.0, most))
        if not one.limited and len(freely) <= len(one.inside):
            return None
        return "max_size" if full else "max_volume"


def _suitable(conductance: float) -> float:
    """The restart for a cluster of this conductance."""
    return float(np.clip(RESTART_PER_CONDUCTANCE * conductance, *RESTART_RANGE))
