"""The same quick search in a hypergraph and in shuffles of it, to compare clusters with chance."""

import numpy as np

from hyperclus._runtime.checkpoint import without_checkpoints
from hyperclus._runtime.progress import report_progress, unwatched
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.clustering.chance import OBVIOUS, Chance, certainty, verdict_of
from hyperclus.clustering.initialization import WeightedKMeans, embedding
from hyperclus.clustering.objectives import Objective
from hyperclus.clustering.vertex_search import Clusters
from hyperclus.errors import ConvergenceError
from hyperclus.hypergraph.configuration_model import ConfigurationModel
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.eigen import Eigenpairs, smallest_eigenpairs
from hyperclus.spectral.eigen.choose import cheapest
from hyperclus.spectral.eigen.lanczos import Vectors, rough_vectors
from hyperclus.spectral.eigen.null_space import zero_vectors
from hyperclus.spectral.eigen.result import with_residuals
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Integers

MIN_VERTICES = 10  # fewer have too few shuffles
FEWEST, FIRST, MOST = 3, 4, 20  # shuffles; more than the first only if these do not decide
VISITS = 1_000_000  # incidences times clusters of all shuffles together, if that allows the fewest
SAMPLE = 50_000  # incidences above which a sample is compared
POINTS = 5_000  # of k-means
MAX_INCIDENCES = 1_000_000  # that are compared
NEIGHBORS = 120  # that a vertex has in a sample, on average: with fewer, clusters would fall apart
MEMBERS = 50  # of each cluster in a sample, on average
ROUGHLY = 1e-6  # tolerance of the stationary distributions, far below the differences between shuffles
TOLERANCE = 5e-2  # of eigenvectors that are starts only
EIGENVECTORS = 20  # at most
STARTS, ROUNDS = 2, 3  # of k-means, and of moves
FEW_CLUSTERS = 50  # from more, k-means starts once


@single_blas_thread
def compared(
    walk: RandomWalk, labels: Integers, k: int, objective: Objective, min_volume: float, seed: int
) -> Chance:
    """Compare clusters of a walk in host memory with those that a quick search finds in shuffles.

    Of a large hypergraph, a random sample of the vertices is compared.
    """
    rng, whole = np.random.default_rng(seed), walk.hypergraph
    counts = np.bincount(np.diff(whole.gamma.indptr))  # of hyperedges by size
    if (reason := _incomparable(whole, counts, k)) is not None:
        return Chance(None, reason=reason)
    share = _sampled_share(whole, counts, k, SAMPLE)
    if _incidences_left(counts, share) > MAX_INCIDENCES:
        return Chance(None, reason="many small hyperedges cannot be sampled, and take long to shuffle")
    part, vertices = _drawn(whole, share, rng)

    model = ConfigurationModel(part)

    def figure(hypergraph: Hypergraph, given: Integers | None = None) -> float:
        with unwatched(), without_checkpoints():
            found = walk if hypergraph is whole else RandomWalk(hypergraph, ROUGHLY, alpha=walk.alpha)
            return quick_cost(found, k, objective, min_volume, rng, given)

    most, figures = int(np.clip(VISITS // (part.n_incidences * k), FEWEST, MOST)), list[float]()
    try:
        value = figure(part, labels[vertices])
        for number in range(most):
            report_progress("chance", number, "shuffles", number / most)
            figures.append(figure(model.draw(rng)))
            if number + 1 == FIRST and not 0.5 < certainty(np.array(figures), value) < OBVIOUS:
                break
    except ConvergenceError as error:
        return Chance(None, reason=str(error))
    report_progress("chance", len(figures), "shuffles", 1.0)
    verdict = verdict_of(np.array(figures), value)
    shown = tuple(objective.sign * one for one in figures)
    n_sampled = None if part is whole else part.n_vertices
    return Chance(verdict, objective.label, objective.sign * value, shown, n_sampled)


def _incomparable(hypergraph: Hypergraph, counts: Integers, k: int) -> str | None:
    """Why clusters cannot be compared with those of shuffles; None if they can."""
    if k == 1:
        return "there is one cluster"
    if hypergraph.n_vertices < MIN_VERTICES:
        return f"there are fewer than {MIN_VERTICES} vertices"
    if hypergraph.n_incidences == hypergraph.n_vertices:  # each is in some hyperedge
        return "every vertex is in one hyperedge only, so all shuffles are alike"
    if not counts[2 : hypergraph.n_vertices].any():
        return "every hyperedge has one vertex or all, so all shuffles are alike"
    return None


def sampled(
    hypergraph: Hypergraph, k: int, rng: np.random.Generator, incidences: int = SAMPLE
) -> tuple[Hypergraph, Integers]:
    """A random sample of the vertices of a large hypergraph, or all vertices, and their positions.

    Of a sample, hyperedges with one member are left out, and so are vertices without other hyperedges.
    """
    counts = np.bincount(np.diff(hypergraph.gamma.indptr))
    return _drawn(hypergraph, _sampled_share(hypergraph, counts, k, incidences), rng)


def _sampled_share(hypergraph: Hypergraph, counts: Integers, k: int, incidences: int) -> float:
    """The share of the vertices that a sample has, given the number of hyperedges of each size."""
    n, sizes = hypergraph.n_vertices, np.arange(len(counts), dtype=np.float64)
    neighbors = float((counts * sizes * (sizes - 1)).sum()) / n
    shares = incidences / hypergraph.n_incidences, NEIGHBORS / max(neighbors, 1.0), MEMBERS * k / n
    return min(max(shares), 1.0)


def _incidences_left(counts: Integers, share: float) -> float:
    """The expected number of incidences of a sample, without hyperedges of one member if it is not all."""
    sizes = np.arange(len(counts), dtype=np.float64)
    alone = (1 - share) ** np.maximum(sizes - 1, 0) if share < 1 else 0.0
    return float((counts * sizes * share * (1 - alone)).sum())


def _drawn(hypergraph: Hypergraph, share: float, rng: np.random.Generator) -> tuple[Hypergraph, Integers]:
    """A random sample of this share of the vertices, and their positions; if it is 1, all of them."""
    n = hypergraph.n_vertices
    if share >= 1:
        return hypergraph, np.arange(n)
    drawn = np.sort(rng.choice(n, int(share * n), replace=False))
    part = hypergraph.restrict(drawn)
    part = part.drop_edges(part.edge_sizes < 2)
    return part.restrict(part.covered), drawn[part.covered]


def quick_cost(
    walk: RandomWalk,
    k: int,
    objective: Objective,
    min_volume: float,
    rng: np.random.Generator,
    given: Integers | None = None,
) -> float:
    """The cost of clusters found by a quick search, or of given ones, whichever is higher."""
    cost = searched_cost(walk, _rough_pairs(walk, min(k, EIGENVECTORS), rng), k, objective, min_volume, rng)
    if given is None or len(np.unique(given)) < k:
        return cost
    return max(cost, Clusters.of(walk, given, k, objective=objective).plain_cost)


def _rough_pairs(walk: RandomWalk, count: int, rng: np.random.Generator) -> Eigenpairs:
    """Eigenvectors for starts: exact where that takes no time, otherwise Ritz vectors after few products.

    Those of shuffles are close together, and would take ten times as many products to converge.
    """
    laplacian = NormalizedLaplacian(walk)
    if cheapest(laplacian, count, count) != "lanczos":
        return smallest_eigenpairs(laplacian, count, tolerance=TOLERANCE, seed=rng)
    known = zero_vectors(walk.backend, walk.stationary, walk.distribution.components, count)
    left = count - known.shape[1]
    found = Vectors(known[:, :0], 0, 0.0)
    if left:
        found = rough_vectors(laplacian, known, left, TOLERANCE, rng)
    return with_residuals(laplacian, known, found, left, "lanczos")


@single_blas_thread
def searched_cost(
    walk: RandomWalk,
    pairs: Eigenpairs,
    k: int,
    objective: Objective,
    min_volume: float,
    rng: np.random.Generator,
) -> float:
    """The cost of clusters found from eigenvectors by a few rounds of moves."""
    k_means = WeightedKMeans(walk.backend, embedding(walk, pairs), walk.stationary, POINTS)
    clusters = Clusters.of(
        walk, k_means.labels(k, rng, STARTS if k <= FEW_CLUSTERS else 1), k, min_volume, objective
    )
    for _ in range(ROUNDS):
        clusters.round(passes=1)
    return clusters.plain_cost
