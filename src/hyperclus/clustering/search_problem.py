"""What the vertex search and the batch search share: the problem and the effort."""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from hyperclus._runtime.checkpoint import is_array, is_figure
from hyperclus.clustering.objectives import NCUT, Objective
from hyperclus.clustering.rules import Rules
from hyperclus.clustering.vertex_kernels import VOLUME_PENALTY
from hyperclus.errors import Argument, InputError, check_integer
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats

EffortName: TypeAlias = Literal["fast", "default", "thorough"]
LARGE, LARGE_OF_NCUT = 5_000_000, 50_000_000  # incidences times clusters
FEW_CLUSTERS = 10  # the least number of clusters that is counted for it
MANY_CLUSTERS = 16  # more make starts and visits cost more, so there are fewer of them
MIN_GAIN = 1e-13  # a move must lower the cost by more than rounding may


@dataclass(frozen=True, slots=True, eq=False)
class SearchProblem:
    """Find k clusters of low cost, none of them smaller than `min_volume` if possible, that keep the rules.

    The eigenpairs give the initial partitions and a bound, at which the search ends; the products that they
    took are the unit of the effort.
    """

    walk: RandomWalk
    pairs: Eigenpairs
    k: int
    min_volume: float
    objective: Objective = NCUT
    rules: Rules | None = None

    @property
    def bound(self) -> float:
        """A lower bound on the cost."""
        return self.objective.bound(self.pairs, self.k)

    @property
    def large(self) -> bool:
        """Whether to start from fewer partitions, because a round of moves takes long."""
        size = self.walk.hypergraph.n_incidences * max(self.k, FEW_CLUSTERS)
        if self.objective is NCUT:  # whose moves cost less
            return size >= LARGE_OF_NCUT and self.k > MANY_CLUSTERS
        return size >= LARGE

    def on_host(self) -> "SearchProblem":
        """The same problem in host memory."""
        backend = self.walk.backend
        return replace(self, walk=self.walk.on_host(), pairs=self.pairs.on_host(backend))

    @property
    def key(self) -> tuple[Any, ...]:
        """Everything that the result depends on, for the key of a checkpoint."""
        walk, pairs = self.walk, self.pairs
        solved = pairs.values, pairs.vectors, pairs.spare, pairs.steps, self.bound
        given = walk.hypergraph, walk.alpha, walk.stationary
        rules = () if self.rules is None else self.rules.key
        return (*given, *solved, self.k, self.min_volume, self.objective.name, *rules)


def labels_fit(n: int, k: int, figures: dict[str, int], kept: dict[str, Any]) -> bool:
    """Whether values from a checkpoint can be labels 0 .. k - 1, all of which occur, and figures.

    `figures` says how many numbers each name has. Of labels that are a vector of a backend, only the shape
    is checked.
    """
    labels = [value for name, value in kept.items() if name not in figures]
    numbers = {name: np.atleast_1d(kept[name]).tolist() for name in figures}
    sound = all(len(numbers[name]) == count for name, count in figures.items())
    sound = sound and all(is_figure(number) for some in numbers.values() for number in some)
    return sound and bool(labels) and all(is_labels(value, n, k) for value in labels)


def is_labels(value: Any, n: int, k: int) -> bool:
    """Whether this is an array of labels 0 .. k - 1, all of which occur (rows of several), or a vector."""
    if isinstance(value, np.ndarray) and value.ndim == 2:
        return len(value) > 0 and all(is_labels(row, n, k) for row in value)
    if not is_array(value, n, low=0, high=k - 1) or value.dtype.kind != "i":
        return False
    return not isinstance(value, np.ndarray) or bool(np.bincount(value, minlength=k).min() > 0)


def volume_penalty(volumes: Floats, min_volume: float) -> float:
    """What is added to the cost for clusters below `min_volume`."""
    if min_volume == 0:
        return 0.0
    missing = np.maximum(1.0 - volumes / min_volume, 0.0)
    return VOLUME_PENALTY * float(missing[missing > 1e-12].sum())


@dataclass(frozen=True, slots=True)
class Effort:
    """Extent and tuning of a search. Work is counted in visits of incidences, not in seconds.

    Attributes
    ----------
    extra : int
        Eigenvectors beyond the k that the bound needs.
    starts : int
        Initial partitions; more of them for many clusters, if there are perturbations.
    finalists : int
        How many partitions are improved until no move helps, then by perturbations. They are the best after
        one round of moves, of twice as many of the best initial partitions. For two clusters half of it.
    evaluations : float
        How often perturbations may visit all incidences, per product that the eigenvectors took.
    incidences : float
        Visits that the perturbations of each finalist may make at least.
    first : Effort, optional
        A cheaper search whose result is one more start. Such a search visits single vertices on the CPU
        however large the hypergraph is, because batches are not perturbed.
    batched_from : pair of int
        Incidences from which vertices move in batches: for two clusters, which perturbations were not seen
        to improve at this size, and for more.
    min_progress : float
        In large hypergraphs, batches end when one lowers the NCut by less than this share.
    sample : int
        Vertices that k-means runs on; the others join the nearest centre.
    parallel_from : int
        Incidences times clusters from which a second thread pays off.
    """

    extra: int
    starts: int
    finalists: int
    evaluations: float
    incidences: float = 0.0
    first: "Effort | None" = None
    batched_from: tuple[int, int] = (450_000, 3_000_000)
    min_progress: float = 1e-8
    sample: int = 20_000
    parallel_from: int = 10_000_000

    def __post_init__(self) -> None:
        for name in ("starts", "finalists"):
            check_integer(name, getattr(self, name))

    def in_batches(self, n_incidences: int, k: int, *, on_host: bool) -> bool:
        """Whether to move vertices in batches."""
        if k == 1 or (self.first is not None and on_host):
            return False
        return n_incidences >= self.batched_from[0 if k == 2 else 1]


_DEFAULT = Effort(extra=2, starts=5, finalists=2, evaluations=0.3)
EFFORTS: dict[str, Effort] = {
    "fast": Effort(extra=0, starts=3, finalists=1, evaluations=0.0),
    "default": _DEFAULT,
    "thorough": Effort(extra=6, starts=32, finalists=8, evaluations=50.0, incidences=1e6, first=_DEFAULT),
}


def effort_of(effort: EffortName | Effort) -> Effort:
    """Look up an effort by its name."""
    if isinstance(effort, Effort):
        return effort
    if not (isinstance(effort, str) and effort in EFFORTS):
        raise InputError(
            Argument("effort"), f" must be 'fast', 'default', 'thorough' or an Effort, not {effort!r}"
        )
    return EFFORTS[effort]
