"""Steps shared by all clustering methods and engines: walk, eigenpairs, search, and the result."""

import logging
import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import astuple, dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, TypeVar, cast, get_args

import numpy as np

from hyperclus._runtime.checkpoint import check_seed, open_checkpoint
from hyperclus._runtime.progress import WorkProgress, report_progress
from hyperclus._runtime.random import random_generator
from hyperclus.clustering.batch_search import batch_search
from hyperclus.clustering.chance import Chance
from hyperclus.clustering.contraction import SMALL, contracted, nearly_separate_groups
from hyperclus.clustering.cut import Cut, cut
from hyperclus.clustering.feasible import with_volumes
from hyperclus.clustering.initialization import initial_partitions
from hyperclus.clustering.known_start import enough_known, known_start
from hyperclus.clustering.objectives import NCUT, OBJECTIVES
from hyperclus.clustering.partition import Partition
from hyperclus.clustering.rules import Rules
from hyperclus.clustering.search_problem import Effort, SearchProblem
from hyperclus.clustering.shuffles import compared
from hyperclus.clustering.small_components import add_small_components, small_components
from hyperclus.clustering.vertex_search import vertex_search
from hyperclus.engines import (
    InMemory,
    Precision,
    check_engine,
    choose_engine,
    cuda_products,
    explained,
    room_for_vectors,
)
from hyperclus.engines.base import IncidenceProducts
from hyperclus.errors import (
    Argument,
    ConvergenceError,
    InputError,
    check_choice,
    check_integer,
    check_number,
    is_number,
)
from hyperclus.hypergraph.hypergraph import Hypergraph, check_incidences
from hyperclus.io.anything import as_hypergraph
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.eigen import Eigenpairs, smallest_eigenpairs
from hyperclus.spectral.eigen.floor import FAILURE, floor_beyond
from hyperclus.spectral.eigen.lanczos import MIN_CHECK, Vectors
from hyperclus.spectral.eigen.null_space import zero_vectors
from hyperclus.spectral.eigen.orthogonal import nearest_orthonormal
from hyperclus.spectral.eigen.result import lower_bounds, with_residuals
from hyperclus.spectral.factors import checked_alpha
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.stationary import UNCORRECTED
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, HypergraphLike, Integers, Seed

if TYPE_CHECKING:
    from hyperclus.spectral.sdp_bound import TightBound

Bound = Literal["eigenvalues", "tight", "optimal"]
Result = TypeVar("Result")

OF_STARTS = 1e-4  # residual of eigenvectors that only give initial partitions
SINGLE = 2e-5  # residual that single precision can reach
FIRST_SEARCH = 0.03  # progress of a thorough search when the search before it ends
MIN_SHARE_OF_TWO = 0.01  # default min_share for two clusters of a connected hypergraph

_log = logging.getLogger(__name__)


class Settings(TypedDict, total=False):
    """The keyword arguments that all functions for hypergraphs in memory have; see `cluster`."""

    alpha: float
    bound: Bound
    bound_seconds: float | None
    tolerance: float
    seed: Seed
    engine: InMemory
    precision: Precision
    chance: bool


@dataclass(slots=True, kw_only=True)
class Steps(Generic[Result]):
    """Settings, random generator, timings and fallbacks of one call, and the steps of the method.

    A subclass for an engine provides `whole`, the hypergraph without isolated vertices, its random `walk`,
    and the `partition` that is returned.
    """

    alpha: float = 0.0
    bound: Bound = "eigenvalues"
    bound_seconds: float | None = None
    tolerance: float = 1e-8
    seed: Seed = 0
    precision: Precision = "float64"
    whole: Hypergraph = field(init=False)
    rng: np.random.Generator = field(init=False)
    timings: dict[str, float] = field(default_factory=dict, init=False)
    fallbacks: list[str] = field(default_factory=list, init=False)

    @abstractmethod
    def walk(self, hypergraph: Hypergraph, k: int) -> RandomWalk:
        """Steps 1 to 3 of Algorithm 1: the random walk and its stationary distribution."""

    @abstractmethod
    def partition(
        self, walk: RandomWalk, pairs: Eigenpairs, labels: Integers, k: int, settings: dict[str, Any]
    ) -> Result:
        """Put the result together."""

    def eigenpairs(self, walk: RandomWalk, k: int, extra: int = 0) -> Eigenpairs:
        """Steps 4 and 5 of Algorithm 1: the max(k, 2) smallest eigenpairs of L_sym.

        The solver also returns up to `extra` further vectors that it has on the way.
        """
        with self.timed("eigenvectors"):
            wanted = min(max(k, 2), walk.hypergraph.n_vertices)
            if self.precision == "float32":
                pairs = self._single_precision(walk, wanted, extra)
            else:
                pairs = self._solve(walk, wanted, extra, self.tolerance)
        methods = walk.distribution.method, pairs.method
        _log.info("%r: stationary distribution by %s, eigenvectors by %s", walk.hypergraph, *methods)
        return pairs

    def _solve(self, walk: RandomWalk, k: int, extra: int, tolerance: float) -> Eigenpairs:
        operator = NormalizedLaplacian(walk)
        return smallest_eigenpairs(operator, k, tolerance=tolerance, seed=self.rng, spare=extra)

    def _single_precision(self, walk: RandomWalk, k: int, extra: int) -> Eigenpairs:
        """Compute the eigenpairs in single precision, and their residuals in double."""
        single: Any = np.float32
        distribution = walk.distribution
        vertices, edges = distribution.vertices.astype(single), distribution.edges.astype(single)
        rounded = replace(distribution, vertices=vertices, edges=edges)
        rounded_walk = RandomWalk.with_distribution(walk.factors.astype(single), rounded)
        tolerance = max(self.tolerance, SINGLE)
        try:
            rough = self._solve(rounded_walk, k, extra, tolerance)
        except ConvergenceError as error:
            self.fall_back(f"eigenvectors in float64, because in float32 {error}")
            return self._solve(walk, k, extra, tolerance)
        return self._in_double(walk, rough) or self._solve(walk, k, extra, tolerance)

    def _in_double(self, walk: RandomWalk, rough: Eigenpairs) -> Eigenpairs | None:
        """Residuals and bounds, in double precision, of eigenpairs in single; None if one was missed."""
        known = zero_vectors(walk.backend, walk.stationary, walk.distribution.components, len(rough.values))
        wanted = len(rough.values) - known.shape[1]
        laplacian, columns = NormalizedLaplacian(walk), rough.vectors[:, known.shape[1] :].astype(np.float64)
        columns = nearest_orthonormal(walk.backend, columns, known)
        if rough.spare.shape[1]:
            columns = np.hstack([columns, rough.spare.astype(np.float64)])
        rough_others = Vectors(columns, rough.steps, -np.inf)
        pairs = with_residuals(laplacian, known, rough_others, wanted, rough.method)
        if len(pairs.values) == laplacian.size or not wanted:
            return pairs
        highest, slack = float(pairs.values[-1]), float(pairs.residuals.max())
        products = max(MIN_CHECK, rough.steps // 2)
        check = floor_beyond(laplacian, pairs.vectors, highest, highest - slack, self.rng, products)
        if check.ritz < highest - slack:
            self.fall_back("eigenvectors in float64, because one was missed in float32")
            return None
        lower = lower_bounds(pairs.values, pairs.residuals, check.value)
        return replace(pairs, lower=lower, failure=FAILURE, steps=rough.steps + check.steps)

    def search(
        self, problem: SearchProblem, effort: Effort, seed: int, start: Integers | None = None
    ) -> Integers:
        """Labels of low cost, from the eigenvectors or from given labels."""
        if problem.rules is not None:
            return self._search_constrained(problem, problem.rules, effort, seed, start)
        if start is None and problem.objective is not NCUT:
            small = small_components(problem.walk, problem.k)
            if small is not None:
                return self._search_without(small, problem, effort, seed)
        on_host, found = problem.walk.backend.on_host, None
        nearly = problem.k > 1 and 0 < problem.pairs.values[-1] < SMALL
        in_batches = effort.in_batches(problem.walk.hypergraph.n_incidences, problem.k, on_host=on_host)
        if start is None and on_host and nearly and not (in_batches and problem.objective is not NCUT):
            found = search_contracted(problem, effort, seed)
        if in_batches:
            return search_in_batches(problem, effort, seed, found if start is None else start)
        return search_by_vertex(problem, effort, seed, start, [] if found is None else [found])

    def _search_constrained(
        self, problem: SearchProblem, rules: Rules, effort: Effort, seed: int, start: Integers | None
    ) -> Integers:
        """Search vertex by vertex, from known vertices, from the clusters of a free search, or both."""
        walk, others = problem.walk.on_host(), list[Integers]()
        if start is None and enough_known(rules):
            start = known_start(rules, walk)
        elif start is None:
            (free,) = problem.walk.backend.fetch(self.search(replace(problem, rules=None), effort, seed))
            others = [rules.of_groups(free)[rules.groups]]
            if (rules.known >= 0).any():
                others.append(known_start(rules, walk, others[0]))
        labels = search_by_vertex(problem, effort, seed, start, others)
        return cast(Integers, problem.walk.backend.put(labels))

    def _search_without(self, small: Booleans, problem: SearchProblem, effort: Effort, seed: int) -> Integers:
        """Search among the vertices that are in no small component, then add these to a cluster."""
        k, whole, objective = problem.k, problem.walk, problem.objective
        walk = self.walk(whole.hypergraph.restrict(~small), k)
        pairs = self._solve(walk, k, effort.extra, max(self.tolerance, OF_STARTS))
        (masses,) = whole.backend.fetch(whole.stationary)
        volume = float(masses[~small].sum())
        labels = self.search(
            SearchProblem(walk, pairs, k, problem.min_volume / volume, objective), effort, seed
        )
        everywhere = add_small_components(walk, labels, k, objective, small, volume)
        return cast(Integers, whole.backend.put(everywhere))

    def score(
        self, walk: RandomWalk, pairs: Eigenpairs, labels: Integers, k: int
    ) -> tuple[Integers, Integers, Cut, Eigenpairs]:
        """Number the clusters by size (ties by first vertex) and score them.

        Returns the old numbers and the sizes in the new order. An eigenvalue bound above the NCut is
        withdrawn, by residuals as large as the eigenvalues.
        """
        with self.timed("scoring"):
            backend = walk.backend
            counts, first = backend.fetch(np.bincount(labels, minlength=k), backend.first_rows(labels, k))
            sizes = np.asarray(counts, dtype=np.int64)
            order = np.lexsort((first, -sizes))
            scored = cut(walk, labels, k)
            scored = Cut(scored.volumes[order], scored.boundaries[order])
        if not np.isfinite(scored.ncut):
            raise InputError("the weights are too uneven for double precision; clip the smallest and largest")
        if ncut_lower_bound(pairs, k) > scored.ncut * (1 + 1e-9) + 1e-12:
            self.fall_back("no bound: a small eigenvalue was missed, so the eigenvalues prove nothing")
            pairs = replace(pairs, lower=np.zeros_like(pairs.lower))
        return order, sizes[order], scored, pairs

    def settings(self, walk: RandomWalk) -> dict[str, Any]:
        """The settings that every call has, the engine that was used, and the fallbacks that were taken."""
        given = {"alpha": self.alpha, "bound": self.bound, "tolerance": self.tolerance, "seed": self.seed}
        used = {"engine": walk.backend.name, "precision": self.precision}
        fallbacks = (*self.fallbacks, *([] if walk.distribution.masses_corrected else [UNCORRECTED]))
        return given | used | ({"fallbacks": fallbacks} if fallbacks else {})

    def fall_back(self, what: str) -> None:
        """Record that something else was done than the settings say."""
        _log.warning("%s", what)
        self.fallbacks.append(what)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the seconds spent inside to the time of a stage."""
        start = time.perf_counter()
        with explained(self.precision):
            yield
        self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - start


@dataclass(slots=True)
class Run(Steps[Partition]):
    """One call on a hypergraph in memory. `active` marks the vertices that are in some hyperedge."""

    hypergraph: Hypergraph
    engine: InMemory = "auto"
    chance: bool = True
    active: Booleans = field(init=False)
    names: Sequence[str | None] | None = field(default=None, init=False)  # of given clusters
    copied: IncidenceProducts | None = field(default=None, init=False)  # of `whole`, on a GPU

    def __post_init__(self) -> None:
        self.hypergraph = as_hypergraph(self.hypergraph)
        check_incidences(self.hypergraph)
        check_choice("bound", self.bound, get_args(Bound))
        if not isinstance(self.chance, bool):
            raise InputError(Argument("chance"), f" must be True or False; got {self.chance!r}")
        check_seed(self.seed)
        check_engine(self.engine, self.precision)
        self.rng = random_generator(self.seed)
        self.active = self._covered()
        self.whole = self.hypergraph if self.active.all() else self.hypergraph.restrict(self.active)
        if self.bound != "eigenvalues":
            from hyperclus.spectral.sdp_bound import check_size

            check_size(self.whole.n_vertices)
        if self.bound_seconds is not None:
            check_number("bound_seconds", self.bound_seconds, above=0)
            if self.bound == "eigenvalues":
                raise InputError(
                    *(Argument("bound_seconds"), " needs ", Argument("bound", "tight"), "; leave it out")
                )

    @classmethod
    def of(cls, function: str, hypergraph: HypergraphLike, settings: Settings) -> "Run":
        """Start a run from the keyword arguments of a public function."""
        unknown = sorted(settings.keys() - Settings.__annotations__.keys())
        if unknown:
            raise TypeError(f"{function}() got an unexpected keyword argument {unknown[0]!r}")
        return cls(hypergraph, **settings)

    def _covered(self) -> Booleans:
        """Mask of the vertices that are in some hyperedge; found on the GPU if the hypergraph goes there.

        If all are, as mostly, the walk needs no other copy.
        """
        if choose_engine(self.engine, self.hypergraph, 2) != "cuda":
            return self.hypergraph.covered
        checked_alpha(self.alpha)
        with self.timed("copy"):
            products = cuda_products(self.hypergraph, self.alpha, self.precision, 2)
            mask = products.covered()
        if mask is None:
            self.copied = products
            return np.broadcast_to(np.True_, self.hypergraph.n_vertices)
        return mask

    def walk(self, hypergraph: Hypergraph, k: int) -> RandomWalk:
        """Steps 1 to 3 of Algorithm 1: the random walk and its stationary distribution."""
        products, self.copied = self.copied, None
        if products is not None and hypergraph is self.whole:
            products = products if room_for_vectors(self.engine, hypergraph, self.precision, k) else None
        elif choose_engine(self.engine, hypergraph, k) == "cuda":
            with self.timed("copy"):
                products = cuda_products(hypergraph, self.alpha, self.precision, k)
        with self.timed("stationary distribution"):
            return RandomWalk(hypergraph, alpha=self.alpha, products=products)

    def partition(
        self, walk: RandomWalk, pairs: Eigenpairs, labels: Integers, k: int, settings: dict[str, Any]
    ) -> Partition:
        """Score the clusters; vertices in no hyperedge get the label -1."""
        order, _, scored, pairs = self.score(walk, pairs, labels, k)
        tight = None
        if self.bound != "eigenvalues":
            with self.timed("bound"):
                (found,) = walk.backend.fetch(labels)
                tight = self._tight_bound(walk, found, scored.ncut)
        with nullcontext() if walk.backend.on_host else self.timed("copy"):
            numbered = walk.backend.take(np.argsort(order), labels)
            labels, everywhere = walk.backend.fetch(labels, numbered)
            pairs, walk_here = pairs.on_host(walk.backend), walk.on_host()
        if len(everywhere) < self.hypergraph.n_vertices:
            inside, everywhere = everywhere, np.full(self.hypergraph.n_vertices, -1, dtype=np.int64)
            everywhere[self.active] = inside
        found = everywhere, self.hypergraph.vertex_ids, scored, pairs, walk_here
        names = None if self.names is None else names_in_order(self.names, order)
        chance = self._chance(found[-1], labels, k, settings) if self.chance else None
        settings = {"k": k, **settings, **self.settings(walk)}
        return Partition(*found, tight, settings, self.timings, names, chance)

    def _tight_bound(self, walk: RandomWalk, labels: Integers, upper: float) -> "TightBound":
        """The bound that was asked for."""
        report_progress("bound", 0, "evaluations", 0.0)
        k, seconds = int(labels.max()) + 1, self.bound_seconds
        if self.bound == "optimal":
            from hyperclus.spectral.branch_and_bound import optimal_bound

            tight = optimal_bound(walk, k, upper, labels, seconds)
        else:
            from hyperclus.spectral.sdp_bound import tight_bound

            tight = tight_bound(walk, k, upper=upper, labels=labels, seconds=seconds)
        report_progress("bound", tight.evaluations, "evaluations", 1.0, f"NCut at least {tight.value:.4f}")
        return tight

    def _chance(self, walk: RandomWalk, labels: Integers, k: int, settings: dict[str, Any]) -> Chance:
        """Compare the clusters with those of shuffled hypergraphs."""
        objective, min_volume = settings.get("objective", NCUT.name), settings.get("min_share", 0.0)
        seed = self.seed if isinstance(self.seed, int | np.integer) else self.rng.integers(1 << 63)
        # others were given, found by another method, or kept from the best by constraints
        searched = "objective" in settings and "constraints" not in settings
        with self.timed("chance"):
            return compared(walk, labels, k, OBJECTIVES[objective], min_volume, int(seed), searched)


def names_in_order(names: Sequence[str | None], order: Integers) -> tuple[str, ...]:
    """The names of clusters in a new order; those without get their new number."""
    numbers = [f"number {place}" if str(place) in names else str(place) for place in range(len(order))]
    return tuple(names[cluster] or number for cluster, number in zip(order, numbers, strict=True))


def check_k(k: int, n_vertices: int, min_share: float | None = None) -> int:
    """Check the number of clusters, and the share of the volume that each should have."""
    check_integer("k", k)
    if k > n_vertices:
        raise InputError(
            f"{k:,} clusters need at least {k:,} vertices in hyperedges; there are {n_vertices:,}"
        )
    check_min_share(min_share, k)
    return int(k)


def check_min_share(min_share: float | None, k: int) -> None:
    """Check the share of the volume that each of k clusters should have."""
    if min_share is not None and not (is_number(min_share) and 0 <= min_share <= 1 / k):
        raise InputError(
            Argument("min_share"), f" must be between 0 and 1/k = {1 / k:.4g}; got {min_share!r}"
        )


def default_min_share(walk: RandomWalk, k: int, start: Integers | None = None) -> float:
    """MIN_SHARE_OF_TWO for two clusters of a connected hypergraph, unless a given one has less; else 0."""
    if k != 2 or walk.n_components > 1:
        return 0.0
    if start is None:
        return MIN_SHARE_OF_TWO
    (masses,) = walk.backend.fetch(walk.stationary)
    return MIN_SHARE_OF_TWO if np.bincount(start, weights=masses).min() >= MIN_SHARE_OF_TWO else 0.0


def checked_rules(
    rules: Rules, walk: RandomWalk, min_share: float, max_share: float | None, together: bool
) -> Rules:
    """The rules with the volumes of a walk; an `InputError` if no clusters keep them.

    Small components without constrained vertices stay `together`, unless volumes are limited.
    """
    small = small_components(walk, rules.k) if together and not min_share and max_share is None else None
    if small is not None:
        components = walk.distribution.components
        constrained = np.zeros(components.count, dtype=bool)
        constrained[components.of_vertex[rules.involved]] = True
        small &= ~constrained[components.of_vertex]
        if np.count_nonzero(~small & ~rules.involved) >= rules.k and small.any():
            rules = rules.join(small)
    (phi,) = walk.backend.fetch(walk.stationary)
    return with_volumes(rules, phi, min_share, max_share)


def search_by_vertex(
    problem: SearchProblem,
    effort: Effort,
    seed: int,
    start: Integers | None = None,
    others: Sequence[Integers] = (),
) -> Integers:
    """Search vertex by vertex, in host memory; `others` are tried beside the starts from the eigenvectors."""
    problem, work = problem.on_host(), WorkProgress("search", "incidences")

    def search(effort: Effort, found: list[Integers], share: float) -> Integers:
        rng = np.random.default_rng(seed)
        spare = problem.pairs.spare[:, : effort.extra]
        known = replace(problem, pairs=replace(problem.pairs, spare=spare))
        first = initial_partitions(known, rng, effort.sample) if start is None else [start]
        checkpoint = open_checkpoint("search", *problem.key, astuple(effort), start, *found, rng=rng)
        return vertex_search(problem, chain(found, first), effort, rng, checkpoint, work, share)

    found = [*others] if effort.first is None else [search(effort.first, [*others], FIRST_SEARCH)]
    return search(effort, found, 1.0)


def search_contracted(problem: SearchProblem, effort: Effort, seed: int) -> Integers | None:
    """Search among the partitions of nearly separate groups, if there are such groups."""
    groups = nearly_separate_groups(problem.walk, problem.k)
    small_hypergraph = None if groups is None else contracted(problem.walk, groups)
    if groups is None or small_hypergraph is None:
        return None
    walk = RandomWalk(small_hypergraph)
    pairs = smallest_eigenpairs(NormalizedLaplacian(walk), problem.k, spare=effort.extra)
    small = SearchProblem(walk, pairs, problem.k, problem.min_volume)
    return np.asarray(search_by_vertex(small, effort, seed)[groups])


def search_in_batches(
    problem: SearchProblem, effort: Effort, seed: int, start: Integers | None = None
) -> Integers:
    """Search by moving many vertices at once, where the vectors of the walk are."""
    rng = np.random.default_rng(seed)
    key = *problem.key, astuple(effort), start
    checkpoint = problem.walk.backend.open_checkpoint("search", *key, rng=rng)
    return batch_search(problem, effort, rng, start, checkpoint)
