"""Steps shared by all clustering methods: walk, eigenpairs, search, and the result put together."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any, Literal

import numpy as np

from hyperclus._runtime.checkpoint import check_seed, open_checkpoint
from hyperclus._runtime.progress import WorkProgress, report_progress
from hyperclus._runtime.random import random_generator
from hyperclus.clustering import batch_search
from hyperclus.clustering.cut import cut
from hyperclus.clustering.initialization import initial_partitions
from hyperclus.clustering.partition import Partition
from hyperclus.clustering.vertex_search import EFFORTS, lowest
from hyperclus.engines import Engine, Precision, check_engine, chosen, device_products
from hyperclus.errors import Argument, ConvergenceError, InputError, check_choice, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.eigen import Eigenpairs, smallest_eigenpairs
from hyperclus.spectral.eigen.null_space import zero_vectors
from hyperclus.spectral.eigen.result import with_residuals
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.sdp_bound import TightBound, tight_bound
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Integers, Seed

Bound = Literal["eigenvalues", "tight"]
EffortName = Literal["fast", "default", "thorough"]

SINGLE = 2e-5  # residual that single precision can reach
FIRST_SEARCH = 0.03  # progress of a thorough search when the default search before it ends
MIN_SHARE_OF_TWO = 0.01  # default min_share for two clusters of a connected hypergraph

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Run:
    """Input, settings, random generator and timings of one call.

    Vertices in no hyperedge are set aside: `active` marks the others, `whole` is the hypergraph on them.
    """

    hypergraph: Hypergraph
    alpha: float
    bound: Bound
    tolerance: float
    seed: Seed
    engine: Engine = "cpu"
    precision: Precision = "float64"
    active: Booleans = field(init=False)
    whole: Hypergraph = field(init=False)
    rng: np.random.Generator = field(init=False)
    timings: dict[str, float] = field(default_factory=dict)
    fallbacks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_hypergraph(self.hypergraph)
        check_choice("bound", self.bound, ("eigenvalues", "tight"))
        check_seed(self.seed)
        check_engine(self.engine, self.precision)
        self.rng = random_generator(self.seed)
        self.active = self.hypergraph.covered
        self.whole = self.hypergraph if self.active.all() else self.hypergraph.restrict(self.active)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that every call has."""
        return {"alpha": self.alpha, "bound": self.bound, "tolerance": self.tolerance, "seed": self.seed}

    def check_k(self, k: int) -> int:
        """Check the number of clusters."""
        check_integer("k", k)
        if k > self.whole.n_vertices:
            raise InputError(
                f"{k} clusters need at least {k} vertices in hyperedges; there are {self.whole.n_vertices}"
            )
        return int(k)

    def walk(self, hypergraph: Hypergraph, k: int) -> RandomWalk:
        """Steps 1 to 3 of Algorithm 1: the random walk and its stationary distribution, on the engine."""
        engine, products = chosen(self.engine, hypergraph, k), None
        if engine != "cpu":
            with self.timed("copy"):
                products = device_products(engine, self.precision, hypergraph, self.alpha, k)
        with self.timed("stationary distribution"):
            return RandomWalk(hypergraph, alpha=self.alpha, products=products)

    def eigenpairs(self, walk: RandomWalk, k: int, extra: int = 0) -> Eigenpairs:
        """Steps 4 and 5 of Algorithm 1: the max(k, 2) smallest eigenpairs of L_sym.

        The solver also returns up to `extra` further vectors that it has on the way.
        """
        with self.timed("eigenvectors"):
            wanted = min(max(k, 2), walk.hypergraph.n_vertices)
            solve = self._single_precision if self.precision == "float32" else self._double_precision
            pairs = solve(walk, wanted, extra)
        _log.info(
            "%r: stationary distribution by %s, eigenvectors by %s",
            walk.hypergraph,
            walk.distribution.method,
            pairs.method,
        )
        return pairs

    def _double_precision(
        self, walk: RandomWalk, k: int, extra: int, tolerance: float | None = None
    ) -> Eigenpairs:
        return smallest_eigenpairs(
            NormalizedLaplacian(walk), k, tolerance=tolerance or self.tolerance, seed=self.rng, spare=extra
        )

    def _single_precision(self, walk: RandomWalk, k: int, extra: int) -> Eigenpairs:
        """Compute the eigenpairs in single precision, and their residuals in double."""
        single, distribution = np.float32, walk.distribution
        there = replace(
            distribution,
            vertices=distribution.vertices.astype(single),
            edges=distribution.edges.astype(single),
        )
        operator = NormalizedLaplacian(RandomWalk.with_distribution(walk.factors.astype(single), there))
        tolerance = max(self.tolerance, SINGLE)
        try:
            rough = smallest_eigenpairs(operator, k, tolerance=tolerance, seed=self.rng, spare=extra)
        except ConvergenceError as error:
            self.fall_back(f"eigenvectors in float64, because in float32 {error}")
            return self._double_precision(walk, k, extra, tolerance)
        known = zero_vectors(walk.backend, walk.stationary, distribution.components, k)
        others = rough.vectors[:, known.shape[1] :].astype(np.float64)
        spared = rough.spare.astype(np.float64)
        return with_residuals(NormalizedLaplacian(walk), known, others, spared, rough.steps, rough.method)

    def fall_back(self, what: str) -> None:
        """Record that something else was done than the settings say."""
        _log.warning("%s", what)
        self.fallbacks.append(what)

    def partition(
        self, walk: RandomWalk, pairs: Eigenpairs, labels: Integers, settings: dict[str, Any]
    ) -> Partition:
        """Number the clusters by size (ties by first vertex), score them, put back isolated vertices."""
        (labels,) = walk.backend.fetch(labels)
        count = int(labels.max()) + 1
        first = np.empty(count, dtype=np.int64)
        first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)
        rank = np.empty(count, dtype=np.int64)
        rank[np.lexsort((first, -np.bincount(labels)))] = np.arange(count)
        with self.timed("scoring"):
            scored = cut(walk, rank[labels], count)
        if ncut_lower_bound(pairs, count) > scored.ncut * (1 + 1e-9) + 1e-12:
            _log.warning("a small eigenvalue was missed, so the eigenvalues prove nothing here")
            pairs = replace(pairs, residuals=np.maximum(pairs.residuals, pairs.values))
        tight = None
        if self.bound == "tight":
            with self.timed("bound"):
                tight = _tight_bound(walk, count, scored.ncut)
        used = {"engine": walk.backend.name, "precision": self.precision}
        notes = {"fallbacks": tuple(self.fallbacks)} if self.fallbacks else {}
        walk, pairs = walk.on_host(), pairs.on_host(walk.backend)
        everywhere = np.full(self.hypergraph.n_vertices, -1, dtype=np.int64)
        everywhere[self.active] = rank[labels]
        return Partition(
            everywhere,
            self.hypergraph.vertex_ids,
            scored,
            pairs,
            walk,
            tight,
            {"k": count, **settings, **self.settings, **used, **notes},
            self.timings,
        )

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the seconds spent inside to a stage's account."""
        start = time.perf_counter()
        yield
        self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - start


def _tight_bound(walk: RandomWalk, k: int, upper: float) -> TightBound:
    report_progress("bound", 0, "evaluations", 0.0)
    checkpoint = open_checkpoint("bound", walk.hypergraph, walk.alpha, walk.stationary, k, upper)
    tight = TightBound(
        **(checkpoint.result() or checkpoint.finish(**asdict(tight_bound(walk, k, upper=upper))))
    )
    report_progress("bound", tight.evaluations, "evaluations", 1.0, f"NCut at least {tight.value:.4f}")
    return tight


def check_min_share(min_share: float | None, k: int) -> None:
    """Check the share of the volume that each of k clusters should have."""
    if min_share is not None and not (is_number(min_share) and 0 <= min_share <= 1 / k):
        raise InputError(
            Argument("min_share"), f" must be between 0 and 1/k = {1 / k:.4g}; got {min_share!r}"
        )


def default_min_share(walk: RandomWalk, k: int, start: Integers | None) -> float:
    """MIN_SHARE_OF_TWO for two clusters of a connected hypergraph, unless a given one has less; else 0."""
    if k != 2 or walk.n_components > 1:
        return 0.0
    if start is None:
        return MIN_SHARE_OF_TWO
    (masses,) = walk.backend.fetch(walk.stationary)
    return MIN_SHARE_OF_TWO if np.bincount(start, weights=masses).min() >= MIN_SHARE_OF_TWO else 0.0


def search_by_vertex(
    walk: RandomWalk, pairs: Eigenpairs, k: int, effort: str, least: float, seed: int, start: Integers | None
) -> Integers:
    """Search vertex by vertex, in host memory."""
    walk, pairs, work = walk.on_host(), pairs.on_host(walk.backend), WorkProgress("search", "incidences")
    bound = ncut_lower_bound(pairs, k)

    def searched(plan: str, found: list[Integers], share: float) -> Integers:
        rng = np.random.default_rng(seed)
        known = replace(pairs, spare=pairs.spare[:, : EFFORTS[plan].extra])
        first = initial_partitions(walk, known, k, least, rng) if start is None else [start]
        checkpoint = open_checkpoint(
            "search", *_solved(walk, pairs), pairs.steps, bound, k, plan, least, start, *found, rng=rng
        )
        return lowest(
            walk,
            chain(found, first),
            k,
            EFFORTS[plan],
            pairs.steps,
            bound,
            least,
            rng,
            checkpoint,
            work,
            share,
        )

    found = [searched("default", [], FIRST_SEARCH)] if effort == "thorough" else []
    return searched(effort, found, 1.0)


def search_in_batches(
    walk: RandomWalk, pairs: Eigenpairs, k: int, effort: str, least: float, seed: int, start: Integers | None
) -> Integers:
    """Search by moving many vertices at once, where the vectors of the walk are."""
    rng = np.random.default_rng(seed)
    inputs = (*_solved(walk, pairs), k, effort, least, start)
    checkpoint = walk.backend.open_checkpoint("search", *inputs, rng=rng)
    return batch_search.batch_search(walk, pairs, k, EFFORTS[effort], least, rng, start, checkpoint)


def _solved(walk: RandomWalk, pairs: Eigenpairs) -> tuple[Any, ...]:
    """Everything that a search depends on, for the key of its checkpoint."""
    return walk.hypergraph, walk.alpha, walk.stationary, pairs.values, pairs.vectors, pairs.spare
