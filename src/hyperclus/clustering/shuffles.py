"""The same quick search in a hypergraph and in shuffles of it, to compare clusters with chance."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hyperclus._runtime.checkpoint import without_checkpoints
from hyperclus._runtime.progress import report_progress, unwatched
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.clustering.chance import MORE, OBVIOUS, SAME, Chance, certainty, effect, verdict_of
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
from hyperclus.typing import Floats, Integers

MIN_VERTICES = 10  # fewer have too few shuffles
FIRST, FIRST_OF_LARGE = 4, 3  # shuffles that are enough if they decide
MOST, MOST_OF_LARGE = 20, 8  # shuffles otherwise, at most
LARGE_EFFECT = 0.1  # by which large data must be better than the first shuffles if these are to be enough
VISITS = 1_000_000  # incidences times clusters of all shuffles together, beyond which data are large
SAMPLE = 50_000  # incidences above which a sample is compared
POINTS = 5_000  # of k-means
MAX_INCIDENCES = 1_000_000  # that are compared
QUICK_FROM = 200_000  # incidences of a sample before which a smaller one is tried,
WORTHWHILE = 0.6  # if that has at most this share of its vertices
ROUGHLY = 1e-6  # tolerance of the stationary distributions, far below the differences between shuffles
TOLERANCE = 5e-2  # of eigenvectors that are starts only
EIGENVECTORS = 20  # at most
STARTS, ROUNDS = 2, 3  # of k-means, and of moves
FEW_CLUSTERS = 50  # from more, k-means starts once


class _Thoroughness(NamedTuple):
    """How a hypergraph that is too large to be compared as a whole is sampled."""

    neighbors: int  # that a vertex shares hyperedges with, on average: with fewer, clusters fall apart
    members: int  # of each cluster, on average
    shuffles: int  # at most
    extra: int  # eigenvectors beyond k, so that a few vertices that are almost separate hide no clusters


QUICK, THOROUGH = _Thoroughness(30, 20, FIRST, 2), _Thoroughness(120, 50, MOST, 0)


@single_blas_thread
def compared(
    walk: RandomWalk,
    labels: Integers,
    k: int,
    objective: Objective,
    min_volume: float,
    seed: int,
    searched: bool = False,
) -> Chance:
    """Compare clusters of a walk in host memory with those that a quick search finds in shuffles.

    `searched` says that they are the result of a longer search with the same objective.
    Of a large hypergraph, a random sample of the vertices is compared: a small one, and only if that shows no
    clear clusters a larger one.
    """
    whole = walk.hypergraph
    counts = np.bincount(np.diff(whole.gamma.indptr))  # of hyperedges by size
    if (reason := _incomparable(whole, counts, k)) is not None:
        return Chance(None, reason=reason)
    comparison = _Comparison(walk, labels, searched, k, objective, min_volume)
    small, share = (_sampled_share(whole, counts, k, SAMPLE, how) for how in (QUICK, THOROUGH))
    try:
        expected = _incidences_left(counts, share)
        worthwhile = small <= WORTHWHILE * share and expected >= QUICK_FROM
        if worthwhile and _incidences_left(counts, small) <= MAX_INCIDENCES:
            found = comparison.in_sample(small, QUICK, np.random.default_rng((seed, 1)))
            chance = found.chance(objective)
            if found.decided and chance.verdict == MORE:
                return chance
        if expected > MAX_INCIDENCES:
            return Chance(None, reason="many small hyperedges cannot be sampled, and take long to shuffle")
        return comparison.in_sample(share, THOROUGH, np.random.default_rng(seed)).chance(objective)
    except ConvergenceError as error:
        return Chance(None, reason=str(error))


@dataclass(frozen=True, slots=True, eq=False)
class _Costs:
    """A cost and those of shuffles."""

    value: float  # of a quick search, or of the clusters if that is higher
    of_clusters: bool  # whether it is that of the clusters
    shuffled: Floats
    n_sampled: int | None
    large: bool

    @property
    def decided(self) -> bool:
        """Whether these few shuffles are enough. The costs of three may be alike by chance."""
        if self.large and 0.0 < effect(self.shuffled, self.value) < LARGE_EFFECT:
            return False
        return not 0.5 < certainty(self.shuffled, self.value) < OBVIOUS

    def chance(self, objective: Objective) -> Chance:
        """The comparison in the figures of an objective."""
        verdict, sign = verdict_of(self.shuffled, self.value), objective.sign
        shown = tuple((sign * self.shuffled).tolist())
        value = sign * self.value
        return Chance(verdict, objective.label, value, shown, self.n_sampled, self.of_clusters)


@dataclass(frozen=True, eq=False)
class _Comparison:
    """Clusters, and the quick search whose figures are compared."""

    walk: RandomWalk
    labels: Integers
    searched: bool
    k: int
    objective: Objective
    min_volume: float

    def in_sample(self, share: float, how: _Thoroughness, rng: np.random.Generator) -> _Costs:
        """Compare a random sample of this share of the vertices with shuffles of it."""
        whole = self.walk.hypergraph
        part, vertices = _drawn(whole, share, rng)
        model = ConfigurationModel(part)
        allowed = VISITS // (part.n_incidences * self.k)
        first, most = (FIRST, allowed) if allowed >= FIRST else (FIRST_OF_LARGE, MOST_OF_LARGE)
        most = min(most, how.shuffles)
        n_sampled = None if part is whole else part.n_vertices
        walk = self.walk if part is whole else self._walk(part)
        found = self._searched(walk, how, rng)
        own = self._of_clusters(walk, self.labels[vertices])
        worse = own - found > SAME * abs(found)
        costs = _Costs(max(found, own), worse, np.empty(0), n_sampled, allowed < FIRST)
        for number in range(most):
            report_progress("chance", number, "shuffles", number / most)
            cost = self._searched(self._walk(model.draw(rng)), how, rng)
            costs = replace(costs, shuffled=np.append(costs.shuffled, cost))
            if number + 1 == first and costs.decided:
                break
        report_progress("chance", len(costs.shuffled), "shuffles", 1.0)
        return costs

    def _walk(self, hypergraph: Hypergraph) -> RandomWalk:
        with unwatched(), without_checkpoints():
            return RandomWalk(hypergraph, ROUGHLY, alpha=self.walk.alpha)

    def _searched(self, walk: RandomWalk, how: _Thoroughness, rng: np.random.Generator) -> float:
        """The cost of clusters found by a quick search."""
        with unwatched(), without_checkpoints():
            pairs = _rough_pairs(walk, min(self.k + how.extra, EIGENVECTORS), rng)
            return searched_cost(walk, pairs, self.k, self.objective, self.min_volume, rng)

    def _of_clusters(self, walk: RandomWalk, labels: Integers) -> float:
        """The cost of the clusters, or -inf if it says nothing.

        Clusters that were searched in all vertices are not the best of a sample, where the shuffles are
        searched; the quick search stands for them.
        """
        if len(np.unique(labels)) < self.k or (self.searched and walk is not self.walk):
            return -np.inf
        return Clusters.of(walk, labels, self.k, objective=self.objective).plain_cost


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
    return _drawn(hypergraph, _sampled_share(hypergraph, counts, k, incidences, THOROUGH), rng)


def _sampled_share(
    hypergraph: Hypergraph, counts: Integers, k: int, incidences: int, how: _Thoroughness
) -> float:
    """The share of the vertices that a sample has, given the number of hyperedges of each size."""
    n, sizes = hypergraph.n_vertices, np.arange(len(counts), dtype=np.float64)
    neighbors = float((counts * sizes * (sizes - 1)).sum()) / n
    shares = (
        incidences / hypergraph.n_incidences,
        how.neighbors / max(neighbors, 1.0),
        how.members * k / n,
    )
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
