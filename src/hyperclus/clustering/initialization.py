"""Initial partitions from the eigenvectors: sweep cuts, sign cuts and weighted k-means.

Row v of the embedding is (z_2(v), z_3(v), ...) / sqrt(phi(v)); on it the relaxed NCut is the phi-weighted
k-means cost. Vertices are taken in the order of their rows, not of the input, so a permutation of the
vertices permutes the partitions.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from operator import itemgetter
from typing import cast

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import along
from hyperclus._runtime.native import Kernel
from hyperclus.clustering.objectives import NCUT
from hyperclus.clustering.search_problem import SearchProblem
from hyperclus.clustering.vertex_search import Clusters
from hyperclus.engines.base import ArrayBackend
from hyperclus.engines.cpu import with_data
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.eigen.lanczos import krylov_vectors
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers

LLOYD_ROUNDS = 6  # plus k, up to MAX_LLOYD_ROUNDS; moves of single vertices do the rest
MAX_LLOYD_ROUNDS = 20
CANDIDATES = 4  # drawn for each k-means++ centre
FACTORS_BEYOND_K = 10
K_MEANS_DIMENSIONS = 128  # at most, of the points from which mergers start; more cost time and gain nothing
FACTOR_TOLERANCE = 1e-3  # of the factors of hypergraphs that are not large
DENSE_FACTORS = 300  # vertices or hyperedges up to which all singular vectors are computed
ELSEWHERE = 1e-6
PASSES_BEFORE_MERGERS = 3
MAX_MERGERS = 50
MIN_POINTS, POINTS_EACH = 5_000, 100  # in a sample that finds centres for mergers: in all, for each centre
K_MEANS_EACH = 5  # runs of k-means, of which a start of a mixture is the best
MAX_COORDINATE = 1e6  # only vertices with phi below 1e-12 exceed it

_k_means = Kernel(
    *("k_means", "floats", "floats", "int", "int", "int", "floats", "int", "int", "floats"), returns="float"
)


def initial_partitions(
    problem: SearchProblem, rng: np.random.Generator, sample: int
) -> Iterator[Callable[[], Integers]]:
    """Functions that return labels 0 .. k - 1, endlessly; call each at most once, in order.

    For k = 2 the first are the sweep cut of the second eigenvector and the sign cuts of all. Then k-means
    from random centres, in turn on the first k - 1 coordinates, on these divided by sqrt(lambda) (distances
    are then commute times), and on all coordinates; if clusters must not be small, also on the quantiles of
    the coordinates. k-means runs on a `sample` of the vertices.

    For other objectives than NCut, they are mergers of more clusters than k (see `_merged`), in turn from the
    latent factors of the incidences and from the eigenvectors.
    """
    walk, k = problem.walk, problem.k
    if k == 1:
        yield lambda: np.zeros(walk.hypergraph.n_vertices, dtype=np.int64)
        return
    rows = embedding(walk, problem.pairs)
    if problem.objective is not NCUT:
        mixed = walk.hypergraph.mixture is not None
        yield from (_row_starts if mixed else _merger_starts)(problem, rng, sample)
    if k == 2:
        yield partial(_sweep_cut, walk, rows[:, 0], problem.min_volume)
        for column in rows.T:
            if column.min() < 0 < column.max():
                yield partial((column < 0).astype, np.int64)
    first = rows[:, : k - 1]
    scaled = np.clip(first / commute_scale(problem.pairs, k), -MAX_COORDINATE, MAX_COORDINATE)
    spaces = [first, scaled, rows]
    if problem.min_volume > 0:
        spaces.insert(0, _quantiles(rows, walk.stationary))
    k_means = [WeightedKMeans(walk.backend, points, walk.stationary, sample) for points in spaces]
    while True:
        for one in k_means:
            yield partial(one.labels, k, rng)


def _row_starts(
    problem: SearchProblem, rng: np.random.Generator, sample: int
) -> Iterator[Callable[[], Integers]]:
    """k-means on the rows of the first k eigenvectors, of unit length (Ng, Jordan and Weiss, 2001).

    Neighbourhoods of similar vertices make walks without nearly separate groups. There, these starts end
    with more information than mergers of many clusters.
    """
    rows, n = unit_rows(problem.pairs.vectors[:, : problem.k]), problem.walk.hypergraph.n_vertices
    k_means = WeightedKMeans(problem.walk.backend, rows, np.ones(n), sample)
    while True:
        yield partial(k_means.labels, problem.k, rng, K_MEANS_EACH)


def _merger_starts(
    problem: SearchProblem, rng: np.random.Generator, sample: int
) -> Iterator[Callable[[], Integers]]:
    count = min(problem.k + FACTORS_BEYOND_K, K_MEANS_DIMENSIONS)
    factors = unit_rows(_latent_factors(problem.walk, count, rng, problem.large))
    spectral = unit_rows(np.hstack([problem.pairs.vectors, problem.pairs.spare])[:, :K_MEANS_DIMENSIONS])
    while True:
        for points, more in ((factors, 3), (spectral, 3), (spectral, 5)):
            yield partial(_merged, problem, points, more, rng, sample)


def _merged(
    problem: SearchProblem, points: Floats, more: int, rng: np.random.Generator, sample: int
) -> Integers:
    """k-means with up to `more` times k centres, a round of moves, and mergers of least cost down to k."""
    walk, objective, n = problem.walk, problem.objective, problem.walk.hypergraph.n_vertices
    centres = min(more * problem.k, problem.k + MAX_MERGERS, n)
    sample = min(sample, max(MIN_POINTS, POINTS_EACH * centres))
    k_means = WeightedKMeans(walk.backend, points, np.ones(n), sample)
    labels = np.unique(k_means.labels(centres, rng), return_inverse=True)[1]
    clusters = Clusters.of(walk, labels, int(labels.max()) + 1, objective=objective)
    if not problem.large:
        clusters.round(PASSES_BEFORE_MERGERS)
    return np.asarray(objective.merged_to(problem.k, clusters.between)[clusters.state.labels])


@dataclass(frozen=True, eq=False)
class _LatentOperator:
    """-M M', with M the incidences of tf-idf: gamma with rare hyperedges weighted up, rows of unit length."""

    walk: RandomWalk
    rarity: Floats
    lengths: Floats

    @classmethod
    def of(cls, walk: RandomWalk) -> "_LatentOperator":
        hypergraph = walk.hypergraph
        rarity = np.log((1 + hypergraph.n_vertices) / (1 + hypergraph.edge_sizes)) + 1
        gamma = walk.factors.lists.gamma_by_vertex
        squares = with_data(gamma, np.square(gamma.data)) @ np.square(rarity)
        return cls(walk, rarity, np.sqrt(np.where(squares > 0, squares, 1.0)))

    @property
    def backend(self) -> ArrayBackend:
        """Where the vectors live."""
        return self.walk.backend

    @property
    def size(self) -> int:
        """The number of vertices."""
        return len(self.lengths)

    def apply(self, block: Floats) -> Floats:
        """The image of a vector or a block of columns."""
        return -self.to_vertices(self.to_edges(block))

    def to_edges(self, block: Floats) -> Floats:
        """M' times a vector or a block."""
        sums = self.walk.factors.products.to_edges(block / along(self.lengths, block), "gamma")
        return sums * along(self.rarity, block)

    def to_vertices(self, block: Floats) -> Floats:
        """M times a vector or a block."""
        sums = self.walk.factors.products.to_vertices(block * along(self.rarity, block), "gamma")
        return sums / along(self.lengths, block)

    def normal(self, rng: np.random.Generator) -> Floats:
        """A random combination of the hyperedges, which depends on the order of the vertices very little.

        Where hyperedges are repeated, their combinations are few; so there is a little of everything else.
        """
        combination = self.to_vertices(rng.standard_normal(len(self.rarity)))
        return np.asarray(combination + ELSEWHERE * rng.standard_normal(self.size))

    @property
    def matrix(self) -> sp.csr_array:
        """M."""
        gamma = self.walk.factors.lists.gamma_by_vertex
        return sp.csr_array(sp.diags_array(1 / self.lengths) @ gamma @ sp.diags_array(self.rarity))


def _latent_factors(walk: RandomWalk, count: int, rng: np.random.Generator, rough: bool) -> Floats:
    """Latent semantic analysis: the first singular vectors of tf-idf, times their singular values."""
    operator = _LatentOperator.of(walk)
    n, n_edges = operator.size, len(operator.rarity)
    if n_edges <= min(n, DENSE_FACTORS):
        matrix = operator.matrix
        return np.asarray(matrix @ np.linalg.eigh((matrix.T @ matrix).toarray())[1][:, ::-1][:, :count])
    if n <= DENSE_FACTORS:
        squares, vectors = np.linalg.eigh((operator.matrix @ operator.matrix.T).toarray())
        return np.asarray((vectors * np.sqrt(np.maximum(squares, 0.0)))[:, ::-1][:, :count])
    vectors = krylov_vectors(operator, count, FACTOR_TOLERANCE, rng, rough)
    return np.asarray(vectors * np.linalg.norm(operator.to_edges(vectors), axis=0))


def unit_rows(points: Floats) -> Floats:
    """The rows divided by their lengths."""
    lengths = np.sqrt(sum(np.square(column) for column in points.T))
    return points / np.where(lengths > 0, lengths, 1.0)[:, None]


def embedding(walk: RandomWalk, pairs: Eigenpairs) -> Floats:
    """The eigenvectors beyond the first, and the spare ones, over sqrt(phi)."""
    vectors = pairs.vectors[:, 1:]
    if pairs.spare.shape[1]:
        vectors = np.hstack([vectors, pairs.spare])
    rows = vectors / np.sqrt(walk.stationary)[:, None]
    return walk.backend.persist(np.clip(rows, -MAX_COORDINATE, MAX_COORDINATE))


def commute_scale(pairs: Eigenpairs, k: int) -> Floats:
    """sqrt(lambda_2), ..., sqrt(lambda_k), bounded away from 0."""
    return np.asarray(np.sqrt(np.maximum(pairs.values[1:k], 1e-2 * pairs.values[-1] + 1e-300)))


def _quantiles(rows: Floats, masses: Floats) -> Floats:
    """Replace each coordinate by the mass below it, so that a few outliers do not dominate distances."""
    quantiles = np.empty_like(rows)
    for column, values in enumerate(rows.T):
        order = np.argsort(values, kind="stable")
        quantiles[order, column] = np.cumsum(masses[order]) - masses[order] / 2
    return quantiles


def _sweep_cut(walk: RandomWalk, scores: Floats, min_volume: float) -> Integers:
    """The cut of lowest NCut along the scores with `min_volume` on both sides, if there is one."""
    order = np.argsort(scores, kind="stable")
    ncuts = Clusters.of(walk, np.zeros(len(scores), dtype=np.int64), 2).sweep(order[:-1])
    volumes = np.cumsum(walk.stationary[order])[:-1]
    fair = np.minimum(volumes, 1.0 - volumes) >= min_volume
    labels = np.zeros(len(order), dtype=np.int64)
    labels[order[: 1 + np.argmin(np.where(fair, ncuts, np.inf) if fair.any() else ncuts)]] = 1
    return labels


@dataclass(frozen=True, eq=False)
class WeightedKMeans:
    """k-means on points with masses: Lloyd's algorithm on a sample, in host memory."""

    backend: ArrayBackend
    points: Floats
    masses: Floats
    sample: int

    @cached_property
    def _sampled(self) -> tuple[Floats, Floats]:
        points, masses = self.backend.sample_rows(self.points, self.masses, self.sample)
        return np.ascontiguousarray(points, dtype=np.float64), np.ascontiguousarray(masses, dtype=np.float64)

    def labels(self, k: int, rng: np.random.Generator, starts: int = 1) -> Integers:
        """The nearest centre of each point; of several starts, the centres of lowest cost.

        Starts from k-means++ centres (Arthur and Vassilvitskii, 2007). No label is missing.
        """
        tried = [self._centres(k, rng) for _ in range(starts)]
        return cast(Integers, self.backend.nearest(self.points, min(tried, key=itemgetter(0))[1]))

    def _centres(self, k: int, rng: np.random.Generator) -> tuple[float, Floats]:
        """The cost, up to a constant, and the centres."""
        points, masses = self._sampled
        centres, uniforms = np.empty((k, points.shape[1])), rng.random((k, CANDIDATES))
        rounds = min(LLOYD_ROUNDS + k, MAX_LLOYD_ROUNDS)
        cost = _k_means(points, masses, *points.shape, k, uniforms, CANDIDATES, rounds, centres)
        return float(cost), centres
