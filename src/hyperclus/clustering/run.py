"""What every way to cluster shares: the walk, the eigenpairs, the clock, and the answer put together."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from hyperclus._runtime.checkpoint import check_seed, open_checkpoint
from hyperclus._runtime.progress import report_progress
from hyperclus._runtime.random import random_generator
from hyperclus.clustering.cut import cut
from hyperclus.clustering.partition import Partition
from hyperclus.engines import Engine, Precision, check_engine, chosen, device_products
from hyperclus.engines.base import on_host
from hyperclus.errors import ConvergenceError, InputError, check_choice
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

SINGLE = 2e-5  # a residual that single precision reaches

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Run:
    """What one call carries from stage to stage: the input, the settings, the seed, the clock.

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

    def check_enough_vertices(self, k: int) -> None:
        """Refuse more clusters than vertices."""
        if k > self.whole.n_vertices:
            raise InputError(
                f"{k} clusters need at least {k} vertices in hyperedges; there are {self.whole.n_vertices}"
            )

    def solve(self, hypergraph: Hypergraph, k: int, spare: int = 0) -> tuple[RandomWalk, Eigenpairs]:
        """Steps 1 to 5 of Algorithm 1: the walk, its stationary law, the smallest eigenpairs of L_sym."""
        engine, elsewhere = chosen(self.engine, hypergraph, k), None
        if engine != "cpu":
            with self.timed("copy"):
                elsewhere = device_products(engine, self.precision, hypergraph, self.alpha, k)
        with self.timed("stationary law"):
            walk = RandomWalk(hypergraph, alpha=self.alpha, elsewhere=elsewhere)
        with self.timed("eigenvectors"):
            wanted = min(max(k, 2), hypergraph.n_vertices)
            if self.precision == "float32":
                pairs = _in_single(walk, wanted, self.tolerance, self.rng, spare)
            else:
                pairs = smallest_eigenpairs(
                    NormalizedLaplacian(walk), wanted, tolerance=self.tolerance, seed=self.rng, spare=spare
                )
        _log.info(
            "%r: stationary law by %s, eigenvectors by %s", hypergraph, walk.distribution.method, pairs.method
        )
        return walk, pairs

    def partition(
        self, walk: RandomWalk, pairs: Eigenpairs, labels: Integers, settings: dict[str, Any]
    ) -> Partition:
        """Number the clusters by size (ties by first vertex), score them, put back isolated vertices."""
        labels, count = on_host(labels), int(labels.max()) + 1
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
        used = {"engine": "cpu" if walk.factors.products.host else "cuda", "precision": self.precision}
        walk, pairs = walk.on_host(), pairs.on_host()
        everywhere = np.full(self.hypergraph.n_vertices, -1, dtype=np.int64)
        everywhere[self.active] = rank[labels]
        return Partition(
            everywhere,
            self.hypergraph.vertex_ids,
            scored,
            pairs,
            walk,
            tight,
            {"k": count, **settings, **self.settings, **used},
            self.timings,
        )

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the seconds spent inside to a stage's account."""
        start = time.perf_counter()
        yield
        self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - start


def _in_single(
    walk: RandomWalk, k: int, tolerance: float, rng: np.random.Generator, spare: int
) -> Eigenpairs:
    """The eigenpairs in single precision, and their residuals in double."""
    single, distribution = np.float32, walk.distribution
    there = replace(
        distribution, vertices=distribution.vertices.astype(single), edges=distribution.edges.astype(single)
    )
    operator = NormalizedLaplacian(RandomWalk.with_distribution(walk.factors.astype(single), there))
    try:
        rough = smallest_eigenpairs(operator, k, tolerance=max(tolerance, SINGLE), seed=rng, spare=spare)
    except ConvergenceError as error:
        _log.info("in single precision %s; found in double precision", error)
        return smallest_eigenpairs(
            NormalizedLaplacian(walk), k, tolerance=max(tolerance, SINGLE), seed=rng, spare=spare
        )
    known = zero_vectors(walk.stationary, distribution.components, k)
    others = rough.vectors[:, known.shape[1] :].astype(np.float64)
    spared = rough.spare.astype(np.float64)
    return with_residuals(NormalizedLaplacian(walk), known, others, spared, rough.steps, rough.method)


def _tight_bound(walk: RandomWalk, k: int, upper: float) -> TightBound:
    report_progress("bound", 0, "evaluations", 0.0)
    checkpoint = open_checkpoint("bound", walk.hypergraph, walk.alpha, walk.stationary, k, upper)
    tight = TightBound(
        **(checkpoint.result() or checkpoint.finish(**asdict(tight_bound(walk, k, upper=upper))))
    )
    report_progress("bound", tight.evaluations, "evaluations", 1.0, f"NCut at least {tight.value:.4f}")
    return tight
