"""The zero eigenpairs of L_sym, which are known and need no solver."""

import heapq
import math

import numpy as np

from hyperclus.engines.base import asarray_like, is_scattered, on_host, persist, take
from hyperclus.spectral.components import Components
from hyperclus.typing import Floats, Integers


def zero_vectors(phi: Floats, found: Components, count: int) -> Floats:
    """Up to `count` orthonormal vectors of the null space: min(count, found.count) columns.

    The first is sqrt(phi). Each further one contrasts two groups of components, found by halving
    the heaviest group so that both halves weigh about the same; its signs are that split. So the
    second eigenvector of a disconnected hypergraph separates its components evenly by volume.
    """
    columns = [np.sqrt(phi) / math.sqrt(float(phi.sum()))]
    masses = np.ones(1)
    if found.count > 1:
        masses = found.masses(phi if is_scattered(phi) else on_host(phi))
    groups = [(-float(masses.sum()), 0, np.argsort(-masses, kind="stable"))]
    while len(columns) < min(count, found.count):
        _, _, group = heapq.heappop(groups)
        halves = _halve(group, masses)
        columns.append(_contrast(phi, found.of_vertex, halves, masses))
        for half in halves:
            if len(half) > 1:
                heapq.heappush(groups, (-float(masses[half].sum()), int(half[0]), half))
    return persist(np.column_stack(columns))


def _halve(group: Integers, masses: Floats) -> tuple[Integers, Integers]:
    """Heaviest component first, each to the lighter half."""
    halves: tuple[list[int], list[int]] = ([], [])
    weights = [0.0, 0.0]
    for component in group.tolist():
        lighter = int(weights[1] < weights[0])
        halves[lighter].append(component)
        weights[lighter] += masses[component]
    return np.array(halves[0]), np.array(halves[1])


def _contrast(phi: Floats, component: Integers, halves: tuple[Integers, Integers], masses: Floats) -> Floats:
    """sqrt(phi) times a positive constant on one half and a negative one on the other."""
    first, second = masses[halves[0]].sum(), masses[halves[1]].sum()
    level = np.zeros(len(masses))
    level[halves[0]] = np.sqrt(second / (first * (first + second)))
    level[halves[1]] = -np.sqrt(first / (second * (first + second)))
    contrast: Floats = asarray_like(take(level, component), phi) * np.sqrt(phi)
    return contrast
