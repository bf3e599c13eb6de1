"""Whether clusters are more than chance: their figure beside those of shuffled hypergraphs."""

from dataclasses import dataclass
from math import atan2, cos, pi, sin, sqrt
from typing import Literal, TypeAlias

import numpy as np

from hyperclus.hypergraph.messages import count
from hyperclus.typing import Floats

Verdict: TypeAlias = Literal["more than chance", "little more than chance", "no more than chance"]
MORE: Verdict = "more than chance"
LITTLE: Verdict = "little more than chance"
NO_MORE: Verdict = "no more than chance"
CERTAIN, LIKELY = 0.99, 0.95  # probability that one more shuffle is worse: of `MORE`, and of `LITTLE`
OBVIOUS = 0.9995  # the same, if the first few shuffles are to be enough
MARGIN = 0.5  # `MORE` is better than all shuffles by this times their range, as tails may be heavy
MIN_EFFECT = 0.01  # of `MORE`: share by which it is better than their mean
SAME = 1e-9  # relative difference that may be rounding error


@dataclass(frozen=True, slots=True)
class Chance:
    """A figure of clusters, and the same figure of clusters that the same search finds in shuffles.

    A shuffle is a random hypergraph with the same degrees and hyperedge sizes; of a table, each column is
    shuffled. Both get the same quick search, so the figure may be a little worse than that of the partition.

    Attributes
    ----------
    verdict : str or None
        "more than chance": at most one of 100 shuffles would have a figure as good, the figure is clearly
        better than those of all shuffles, and by at least 1 % than their mean. "little more than chance":
        that is in doubt. "no more than chance": more than one of 20 shuffles would have a figure as good.
        None if nothing was compared.
    measure : {"NCut", "information"}
        What was compared; NCut should be low, information high.
    value : float
        The figure of the hypergraph: by the quick search, or of the clusters, if that is worse. (In a
        sample, only of clusters that were not searched.)
    shuffled : tuple of float
        The figures of the shuffles.
    n_sampled : int or None
        The number of vertices of the random sample that was compared; None if it was all of them.
    of_clusters : bool
        Whether the value is that of the clusters.
    reason : str
        Why nothing was compared.
    """

    verdict: Verdict | None
    measure: str = ""
    value: float = float("nan")
    shuffled: tuple[float, ...] = ()
    n_sampled: int | None = None
    of_clusters: bool = False
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.verdict or 'not compared'}: {self.evidence}"

    @property
    def evidence(self) -> str:
        """The figures in words, or the reason why there are none."""
        if self.verdict is None:
            return self.reason
        low, high = _shown(min(self.shuffled)), _shown(max(self.shuffled))
        span = low if low == high else f"{low} to {high}"
        shuffles = count(len(self.shuffled), "shuffled hypergraph")
        sample = "" if self.n_sampled is None else f" in a sample of {self.n_sampled:,} vertices"
        figure = f"{self.measure} {_shown(self.value)}"
        if self.of_clusters:
            return f"the clusters have {figure}{sample}, and a quick search finds {span} in {shuffles}"
        return f"a quick search{sample} finds {figure}, and {span} in {shuffles}"


def certainty(costs: Floats, cost: float) -> float:
    """The probability that one more shuffle has a higher cost, if these costs are normally distributed.

    t = (mean - cost) / (s sqrt(1 + 1/r)) has Student's distribution with r - 1 degrees of freedom.
    """
    better, noise = float(costs.mean()) - cost, _rounding(costs, cost)
    if abs(better) <= noise:
        return 0.5
    spread = float(costs.std(ddof=1)) * np.sqrt(1 + 1 / len(costs))
    return student_below(better / max(spread, noise), len(costs) - 1)


def student_below(t: float, freedom: int) -> float:
    """The probability of a value below t in Student's distribution, as a finite sum.

    Abramowitz and Stegun, 26.7.3 and 26.7.4. To import `scipy.special` for `stdtr` would take a third as long
    as a small call.

    >>> round(student_below(2.015, 5), 4)
    0.95
    """
    angle = atan2(t, sqrt(freedom))
    square, odd = cos(angle) ** 2, freedom % 2
    term = total = cos(angle) if odd else 1.0
    for even in range(2 + odd, freedom, 2):
        term *= (even - 1) / even * square
        total += term
    if odd:
        return 0.5 + (angle + (sin(angle) * total if freedom > 1 else 0.0)) / pi
    return 0.5 + 0.5 * sin(angle) * total


def verdict_of(costs: Floats, cost: float) -> Verdict:
    """Compare a cost with those of shuffles."""
    sure, apart = certainty(costs, cost), costs.min() - cost >= MARGIN * np.ptp(costs)
    if sure >= CERTAIN and apart and effect(costs, cost) >= MIN_EFFECT:
        return MORE
    return LITTLE if sure >= LIKELY else NO_MORE


def effect(costs: Floats, cost: float) -> float:
    """The share by which a cost is better than the mean of those of shuffles."""
    mean = float(costs.mean())
    return (mean - cost) / max(abs(mean), abs(cost), _rounding(costs, cost))


def _rounding(costs: Floats, cost: float) -> float:
    return SAME * max(abs(float(costs.mean())), abs(cost), SAME)


def _shown(figure: float) -> str:
    return f"{figure if abs(figure) > SAME else 0.0:.4g}"
