"""First guesses at k clusters from the eigenvectors, for the search to improve.

Row v of the embedding is (z_2(v), z_3(v), ...) / sqrt(phi(v)); on it the relaxed NCut is the phi-weighted
k-means cost. Vertices are taken in the order of their rows and not of the input, so a
permutation of the vertices permutes the guesses.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from hyperclus.clustering.vertex_search import Clusters
from hyperclus.engines.base import ArrayBackend, nearest_centre
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers

SAMPLE = 20_000  # vertices that k-means sees; the rest join the nearest centre
ROUNDS = 6  # of Lloyd's algorithm, and k more at most; single moves do the rest
DRAWN = 4  # candidates for each centre that k-means starts from
FAR = 1e6  # embedding rows are cut off here: only vertices with phi below 1e-12 get so far


def initial_partitions(
    walk: RandomWalk, pairs: Eigenpairs, k: int, least: float, rng: np.random.Generator
) -> Iterator[Callable[[], Integers]]:
    """Ways to get labels 0 .. k - 1, no end of them; each is to be called once at most, and in order.

    For k = 2 first the sweep cut of the second eigenvector and the sign cuts of all. Then k-means from
    new seeds each time, in turn on the first k - 1 coordinates, on these divided by sqrt(lambda)
    (distances are then commute times), and on all coordinates; where clusters must not be small, also
    on the quantiles of the coordinates.
    """
    if k == 1:
        yield lambda: np.zeros(walk.hypergraph.n_vertices, dtype=np.int64)
        return
    rows = embedding(walk, pairs)
    if k == 2:
        yield partial(_swept, walk, rows[:, 0], least)
        for column in rows.T:
            if column.min() < 0 < column.max():
                yield partial((column < 0).astype, np.int64)
    values = np.maximum(pairs.values[1:k], 1e-2 * pairs.values[-1] + 1e-300)
    first = rows[:, : k - 1]
    scaled = np.clip(first / np.sqrt(values), -FAR, FAR)
    spaces = [Space(walk.backend, points, walk.stationary) for points in (first, scaled, rows)]
    if least > 0:
        spaces.insert(0, Space(walk.backend, _quantiles(rows, walk.stationary), walk.stationary))
    while True:
        for space in spaces:
            yield partial(space.grouped, k, rng)


def embedding(walk: RandomWalk, pairs: Eigenpairs) -> Floats:
    """The rows of the eigenvectors beyond the first, and of the spare ones, over sqrt(phi)."""
    vectors = np.hstack([pairs.vectors[:, 1:], pairs.spare])
    return walk.backend.persist(np.clip(vectors / np.sqrt(walk.stationary)[:, None], -FAR, FAR))


def _quantiles(rows: Floats, masses: Floats) -> Floats:
    """Each coordinate as the mass of the vertices before: few far ones no longer make up the distances."""
    quantiles = np.empty_like(rows)
    for column, values in enumerate(rows.T):
        order = np.argsort(values, kind="stable")
        quantiles[order, column] = np.cumsum(masses[order]) - masses[order] / 2
    return quantiles


def _swept(walk: RandomWalk, scores: Floats, least: float) -> Integers:
    """The cut of lowest NCut along the scores whose sides both have the least volume, if one has."""
    order = np.argsort(scores, kind="stable")
    ncuts = Clusters.of(walk, np.zeros(len(scores), dtype=np.int64), 2).pass_over(order[:-1])
    volumes = np.cumsum(walk.stationary[order])[:-1]
    fair = np.minimum(volumes, 1.0 - volumes) >= least
    labels = np.zeros(len(order), dtype=np.int64)
    labels[order[: 1 + np.argmin(np.where(fair, ncuts, np.inf) if fair.any() else ncuts)]] = 1
    return labels


@dataclass(frozen=True, eq=False)
class Space:
    """Points with masses, and a sample of them, in the memory of the host, that k-means runs on."""

    backend: ArrayBackend
    points: Floats
    masses: Floats

    @cached_property
    def sample(self) -> tuple[Floats, Floats]:
        """About SAMPLE points by mass, and their weights."""
        return self.backend.sample_rows(self.points, self.masses, SAMPLE)

    def grouped(self, k: int, rng: np.random.Generator) -> Integers:
        """Labels by Lloyd's k-means from k-means++ seeds (Arthur and Vassilvitskii, 2007); none is empty."""
        labels: Integers = self.backend.nearest(self.points, self._centres(k, rng))
        return labels

    def best_of(self, starts: int, k: int, rng: np.random.Generator) -> Integers:
        """The same from several starts, of which the one counts that leaves least to the centres."""
        points, masses = self.sample
        tried = [self._centres(k, rng) for _ in range(starts)]
        costs = [float(masses @ _squared_distances(points, centres).min(axis=1)) for centres in tried]
        labels: Integers = self.backend.nearest(self.points, tried[int(np.argmin(costs))])
        return labels

    def _centres(self, k: int, rng: np.random.Generator) -> Floats:
        points, masses = self.sample
        centres = _seeds(points, masses, k, rng)
        clusters = np.arange(k)[:, None]
        labels = np.zeros(0, dtype=np.int64)
        for _ in range(ROUNDS + k):
            before, labels = labels, nearest_centre(points, centres)
            if np.array_equal(before, labels):
                break
            weights = (labels == clusters).astype(np.float64) * masses
            totals = weights.sum(axis=1, keepdims=True)
            np.divide(weights @ points, totals, out=centres, where=totals > 0)
        return centres


def _seeds(points: Floats, masses: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Points to start from: of a few drawn by mass times squared distance, the one that leaves least."""
    chances = masses
    distances = np.full((len(points), 1), np.inf)
    centres = np.empty((k, points.shape[1]))
    for count in range(k):
        running = np.cumsum(chances)
        drawn = np.searchsorted(running, rng.random(DRAWN if count else 1) * running[-1], side="right")
        candidates = points[np.minimum(drawn, len(points) - 1)]
        left = np.minimum(distances, _squared_distances(points, candidates))
        best = np.argmin(masses @ left)
        centres[count], distances = candidates[best], left[:, [best]]
        chances = masses * distances[:, 0]
    return centres


def _squared_distances(points: Floats, centres: Floats) -> Floats:
    lengths = np.square(points).sum(axis=1, keepdims=True) + np.square(centres).sum(axis=1)
    return np.asarray(np.maximum(lengths - 2 * points @ centres.T, 0.0))
