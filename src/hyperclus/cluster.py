"""HyperClus-G: Algorithm 1 of the paper, and k clusters by repeated bisection."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from hyperclus.bisection import Strategy, bisect
from hyperclus.cut import cut, sweep
from hyperclus.eigen import Eigenpairs, smallest_eigenpairs
from hyperclus.errors import InputError, check_choice, check_count
from hyperclus.hypergraph import Hypergraph, check_hypergraph
from hyperclus.ids import vertex_codes
from hyperclus.laplacian import NormalizedLaplacian
from hyperclus.partition import Partition
from hyperclus.types import Booleans, Integers, Seed, random_generator
from hyperclus.walk import RandomWalk

Rounding = Literal["sign", "sweep"]
Reweigh = Callable[[Hypergraph, Integers], Hypergraph | None]

_log = logging.getLogger(__name__)


def cluster(
    hypergraph: Hypergraph,
    k: int = 2,
    *,
    rounding: Rounding = "sign",
    strategy: Strategy = "best",
    reweigh: Reweigh | None = None,
    tolerance: float = 1e-8,
    seed: Seed = 0,
) -> Partition:
    """Split the vertices into k clusters of low NCut.

    For k = 2 this is HyperClus-G: the second eigenvector of L_sym, cut by sign. For more, clusters
    are split in two until there are k, each by HyperClus-G on its own sub-hypergraph.

    Parameters
    ----------
    k : int
        The number of clusters.
    rounding : {"sign", "sweep"}
        How an eigenvector becomes two clusters: by the sign of its entries (the paper), or at the
        place along z / sqrt(phi) where the NCut is smallest (for two clusters never worse).
    strategy : {"best", "largest"}
        Which cluster to split next: the one whose split leaves the smallest NCut of the whole, or
        the one with most vertices. The paper's appendix has both.
    reweigh : callable, optional
        `reweigh(sub, vertices)` gets the sub-hypergraph of a cluster (restricted, gamma as it was)
        and the positions of its vertices, and returns the hypergraph to split in its place, on the
        same vertices, or None if the cluster is not to be split.
    tolerance : float
        Largest residual of an eigenvector.
    seed : int, Generator or None
        Of the eigen-solver's start vector.

    Returns
    -------
    Partition

    Raises
    ------
    InputError, ConvergenceError

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> part = cluster(h, k=2)
    >>> sorted(part.members(part.labels[0]).tolist())
    ['a', 'b', 'c']
    """
    check_count(k)
    check_choice("rounding", rounding, ("sign", "sweep"))
    check_choice("strategy", strategy, ("best", "largest"))
    run = _Run(hypergraph, tolerance, seed)
    if k > run.whole.n_vertices:
        raise InputError(
            f"{k} clusters need at least {k} vertices in hyperedges; there are {run.whole.n_vertices}"
        )
    walk, pairs = run.solve(run.whole, k)

    def halve(vertices: Integers) -> Booleans | None:
        if len(vertices) == run.whole.n_vertices:
            return run.halve(walk, pairs, rounding)
        sub = reweighed(run.whole.restrict(vertices), vertices, reweigh)
        return None if sub is None else run.halve(*run.solve(sub, 2), rounding)

    labels = bisect(walk, int(k), strategy, halve)
    settings = {"k": int(k), "rounding": rounding, "strategy": strategy, "tolerance": tolerance, "seed": seed}
    return run.partition(walk, pairs, labels, settings)


def evaluate(
    hypergraph: Hypergraph,
    labels: Mapping[Any, Any] | Iterable[Any],
    *,
    tolerance: float = 1e-8,
    seed: Seed = 0,
) -> Partition:
    """Score clusters from anywhere: their NCut, conductance, and the proven gap to the optimum.

    Parameters
    ----------
    labels : one hashable label per vertex
        In the order of the vertices, or a mapping (or pandas Series) from vertex id. Clusters are
        renumbered 0, 1, ... by size. Vertices in no hyperedge count in no cluster.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]])
    >>> round(evaluate(h, ["x", "x", "y", "y"]).ncut, 4)
    0.3333
    """
    run = _Run(hypergraph, tolerance, seed)
    codes, _ = vertex_codes(labels, hypergraph.vertex_ids, "label")
    found, inside = np.unique(codes[run.active], return_inverse=True)
    walk, pairs = run.solve(run.whole, len(found))
    return run.partition(walk, pairs, inside, {"k": len(found), "tolerance": tolerance, "seed": seed})


def reweighed(sub: Hypergraph, vertices: Integers, reweigh: Reweigh | None) -> Hypergraph | None:
    """The sub-hypergraph as the caller wants it weighed; None where the cluster is not to be split."""
    if reweigh is None:
        return sub
    weighed = reweigh(sub, vertices)
    if weighed is None:
        return None
    check_hypergraph(weighed)
    if weighed.n_vertices != len(vertices):
        raise InputError(
            f"reweigh returned {weighed.n_vertices} vertices for a cluster of {len(vertices)}; keep them all"
        )
    return weighed


@dataclass(slots=True)
class _Run:
    """What one call carries from stage to stage: the input, the seed, the clock."""

    hypergraph: Hypergraph
    tolerance: float
    seed: Seed
    active: Booleans = field(init=False)
    whole: Hypergraph = field(init=False)
    rng: np.random.Generator = field(init=False)
    timings: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_hypergraph(self.hypergraph)
        self.rng = random_generator(self.seed)
        self.active = np.zeros(self.hypergraph.n_vertices, dtype=bool)
        self.active[self.hypergraph.gamma.indices] = True
        self.whole = self.hypergraph if self.active.all() else self.hypergraph.restrict(self.active)

    def solve(self, hypergraph: Hypergraph, k: int) -> tuple[RandomWalk, Eigenpairs]:
        """Steps 1 to 5 of Algorithm 1: the walk, its stationary law, the smallest eigenpairs of L_sym."""
        with self.timed("stationary law"):
            walk = RandomWalk(hypergraph)
        with self.timed("eigenvectors"):
            wanted = min(max(k, 2), hypergraph.n_vertices)
            pairs = smallest_eigenpairs(
                NormalizedLaplacian(walk), wanted, tolerance=self.tolerance, seed=self.rng
            )
        _log.info("%r: stationary law by %s, eigenvectors by %s", hypergraph, walk.law.method, pairs.method)
        return walk, pairs

    def halve(self, walk: RandomWalk, pairs: Eigenpairs, rounding: Rounding) -> Booleans:
        """Step 6 of Algorithm 1: the second eigenvector cut in two; the mask of one side."""
        with self.timed("rounding"):
            second = pairs.vectors[:, 1]
            if rounding == "sign" and second.min() < 0:
                return np.asarray(second < 0)
            if rounding == "sign":
                _log.warning("the signs of the second eigenvector are lost in rounding; swept instead")
            profile = sweep(walk, second / np.sqrt(walk.stationary))
            return profile.prefix(int(np.argmin(profile.ncuts)))

    def partition(
        self, walk: RandomWalk, pairs: Eigenpairs, labels: Integers, settings: dict[str, Any]
    ) -> Partition:
        """Number the clusters by size (ties by first vertex), score them, put back isolated vertices."""
        count = int(labels.max()) + 1
        first = np.empty(count, dtype=np.int64)
        first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)
        rank = np.empty(count, dtype=np.int64)
        rank[np.lexsort((first, -np.bincount(labels)))] = np.arange(count)
        with self.timed("scoring"):
            scored = cut(walk, rank[labels], count)
        everywhere = np.full(self.hypergraph.n_vertices, -1, dtype=np.int64)
        everywhere[self.active] = rank[labels]
        return Partition(
            everywhere, self.hypergraph.vertex_ids, scored, pairs, walk.n_components, settings, self.timings
        )

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the seconds spent inside to a stage's account."""
        start = time.perf_counter()
        yield
        self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - start
