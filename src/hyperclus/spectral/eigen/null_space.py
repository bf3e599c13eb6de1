"""The zero eigenvectors of L_sym, which are known without a solver."""

import heapq
import math

import numpy as np

from hyperclus.engines.base import ArrayBackend
from hyperclus.spectral.components import Components
from hyperclus.typing import Floats, Integers


def zero_vectors(backend: ArrayBackend, phi: Floats, found: Components, count: int) -> Floats:
    """Up to `count` orthonormal vectors of the null space of L_sym, one for each component.

    The first is sqrt(phi). Each further one contrasts two groups of components by its signs; they are the
    halves, of about equal mass, of the heaviest group so far. So the second eigenvector of a disconnected
    hypergraph separates its components evenly by volume.
    """
    columns = [np.sqrt(phi) / math.sqrt(float(phi.sum()))]
    masses = found.masses(backend, phi) if found.count > 1 else np.ones(1)
    groups = [(-float(masses.sum()), 0, np.argsort(-masses, kind="stable"))]
    while len(columns) < min(count, found.count):
        _, _, group = heapq.heappop(groups)
        halves = _halve(group, masses)
        first, second = (masses[half].sum() for half in halves)
        level = np.zeros(found.count)
        level[halves[0]] = np.sqrt(second / (first * (first + second)))
        level[halves[1]] = -np.sqrt(first / (second * (first + second)))
        columns.append(backend.put(backend.take(level, found.of_vertex), phi.dtype) * np.sqrt(phi))
        for half in halves:
            if len(half) > 1:
                heapq.heappush(groups, (-float(masses[half].sum()), int(half[0]), half))
    return backend.persist(np.column_stack(columns))


def _halve(group: Integers, masses: Floats) -> tuple[Integers, Integers]:
    """Split a group in two, heaviest component first, each to the lighter half."""
    halves: tuple[list[int], list[int]] = ([], [])
    weights = [0.0, 0.0]
    for component in group.tolist():
        lighter = int(weights[1] < weights[0])
        halves[lighter].append(component)
        weights[lighter] += masses[component]
    return np.array(halves[0]), np.array(halves[1])
