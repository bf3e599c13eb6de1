"""All partitions of very small hypergraphs, so that their optimum is never missed."""

from dataclasses import replace
from functools import cache

import numpy as np

from hyperclus.clustering.rules import Rules
from hyperclus.clustering.search_problem import MIN_GAIN, SearchProblem
from hyperclus.clustering.vertex_kernels import VOLUME_PENALTY
from hyperclus.typing import Floats, Integers

MAX_VERTICES = 9


def at_least_as_good(problem: SearchProblem, labels: Integers) -> Integers:
    """The given labels, unless enumeration of up to 9 vertices finds a lower cost."""
    walk, k = problem.walk, problem.k
    if walk.hypergraph.n_vertices > MAX_VERTICES or not walk.backend.on_host:
        return labels
    rows = _partitions(walk.hypergraph.n_vertices, k)
    if problem.rules is not None:
        rows = _keeping(problem.rules, rows)
    rows = np.vstack([rows, labels])
    costs = _penalized_costs(problem, rows)
    best = int(costs.argmin())
    return rows[best] if costs[best] < costs[-1] - max(MIN_GAIN, 1e-9 * abs(costs[-1])) else labels


def _keeping(rules: Rules, rows: Integers) -> Integers:
    """The rows that keep the rules, with the numbers that their clusters then have."""
    first = np.unique(rules.groups, return_index=True)[1]
    rows = rows[(rows == rows[:, first[rules.groups]]).all(axis=1)]
    fixed = replace(rules, numbered=False, known=rules.pinned[rules.groups])
    found = [labels for labels in map(fixed.of_groups, rows) if rules.kept(labels)]
    return np.array(found, dtype=np.int64).reshape(-1, rules.n_groups)[:, rules.groups]


def _penalized_costs(problem: SearchProblem, labels: Integers) -> Floats:
    """The cost of each row of labels, with the penalty of small clusters that the search has."""
    phi = problem.walk.stationary
    flow = phi[:, None] * problem.walk.dense()
    sets = (labels[:, None, :] == np.arange(problem.k)[:, None]).astype(np.float64)
    volumes = sets @ phi
    costs = problem.objective.costs_of(sets, flow)
    if problem.min_volume > 0:
        missing = np.maximum(1.0 - volumes / problem.min_volume, 0.0)
        costs = costs + VOLUME_PENALTY * np.where(missing > 1e-12, missing, 0.0).sum(axis=1)
    return costs


@cache
def _partitions(n: int, k: int) -> Integers:
    """The labels of all partitions of n vertices into k clusters, numbered by first vertex."""
    rows = [[0]]
    for left in range(n - 1, 0, -1):
        longer = ([*row, label] for row in rows for label in range(min(max(row) + 2, k)))
        rows = [row for row in longer if max(row) + left >= k]
    return np.array(rows, dtype=np.int64)
