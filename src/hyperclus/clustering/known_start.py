"""A start from what is known: each vertex joins the cluster whose known vertices the walk visits most."""

import numpy as np

from hyperclus.clustering.rules import Rules
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Integers

STEPS = 20
CONTINUE = 0.9  # probability of each further step
ENOUGH = 5  # known vertices for each cluster, from which they alone decide where the search starts


def enough_known(rules: Rules) -> bool:
    """Whether there are known vertices of each cluster, and on average ENOUGH."""
    counts = np.bincount(rules.known[rules.known >= 0], minlength=rules.k)
    return bool(counts.all() and counts.sum() >= ENOUGH * rules.k)


def known_start(rules: Rules, walk: RandomWalk, labels: Integers | None = None) -> Integers:
    """Labels of the vertices from the known ones, and from other labels where a cluster has none.

    With Y_c the indicator of the known vertices of cluster c, and a = CONTINUE, vertex v joins the cluster
    with the largest

        |Y_c| sum_t a^t (P^t Y_c)(v) / sum_t a^t phi' P^t Y_c,

    which is how often a walk from v visits them, relative to chance, times their number. A vertex that
    reaches none keeps its other label, or joins the largest cluster.
    """
    known = rules.known if labels is None else _completed(rules, labels)
    visits = (known[:, None] == np.arange(rules.k)).astype(np.float64)
    counts, step = visits.sum(axis=0), visits
    for _ in range(STEPS):
        step = CONTINUE * walk.forward(step)
        visits = visits + step
    masses = walk.stationary @ visits
    scores = visits * (counts / np.where(masses > 0, masses, 1.0))
    otherwise = np.full(len(known), int(np.argmax(counts))) if labels is None else labels
    found = np.where(scores.max(axis=1) > 0, scores.argmax(axis=1), otherwise)
    return np.where(rules.known >= 0, rules.known, found)


def _completed(rules: Rules, labels: Integers) -> Integers:
    """The known clusters; of clusters without known vertices, those that have their labels."""
    counts = np.bincount(rules.known[rules.known >= 0], minlength=rules.k)
    return np.where((rules.known < 0) & (counts[labels] == 0), labels, rules.known)
