"""Branch and bound: the smallest NCut, where the semidefinite relaxation leaves a small gap.

Where the relaxation's matrix does not say whether two vertices share a cluster, both cases are solved: the
two are contracted into one group, or Z(u, v) = 0 is required, whose multiplier may have any sign. Every
partition belongs to one case, so the smallest bound of all cases holds for each partition.
"""

import heapq
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.progress import report_progress
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.errors import InputError, check_integer, check_number
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.multiplier_search import ALONE_UP_TO
from hyperclus.spectral.proof import Case, Proof
from hyperclus.spectral.relaxation import Multipliers, Relaxation, ascend, violated_triangles
from hyperclus.spectral.sdp_bound import TightBound, tight_bound
from hyperclus.spectral.walk import RandomWalk, check_walk
from hyperclus.typing import Floats, Integers

OPTIMAL = 1e-7  # relative gap at which a partition counts as optimal
MAX_ROUNDS = 25  # of ascent for a case
STALLED = 3  # rounds without progress after which a case is split


@dataclass(frozen=True, slots=True, eq=False)
class BranchedBound:
    """No partition has an NCut below `value`, by a distinction of cases.

    Attributes
    ----------
    value : float
        The smallest bound of all cases.
    closed : bool
        Whether it is within the tolerance of `upper`.
    cases : tuple of Case
        The cases, which cover all partitions, each with the proof of its bound.
    evaluations : int
        Eigen-decompositions in all.
    """

    value: float
    closed: bool
    cases: tuple[Case, ...]
    evaluations: int


@single_blas_thread
def branch_and_bound(
    walk: RandomWalk,
    k: int,
    upper: float,
    *,
    tolerance: float = OPTIMAL,
    max_cases: int = 200,
    seconds: float | None = None,
) -> BranchedBound:
    """NCut >= value for every partition into k clusters, by a distinction of cases.

    Parameters
    ----------
    upper : float
        The NCut of the best partition known: cases within `tolerance` of it are not split. It does not enter
        the bound.
    tolerance : float
        The relative gap at which a case is closed.
    max_cases : int
        Limit on the number of cases.
    seconds : float, optional
        No case is split after this time.

    Raises
    ------
    InputError
        When the hypergraph has more than 400 vertices, or k is not from 2 to n - 1.

    Examples
    --------
    >>> from hyperclus import Hypergraph
    >>> ring = Hypergraph.from_edges([[i, (i + 1) % 8] for i in range(8)])
    >>> found = branch_and_bound(RandomWalk(ring), 2, 0.25)
    >>> print(f"{found.value:.6f}", found.closed)
    0.250000 True
    """
    check_walk(walk)
    n = walk.hypergraph.n_vertices
    check_integer("k", k, least=2)
    if not k < n <= ALONE_UP_TO:
        raise InputError(
            f"branch and bound is for 2 to n - 1 clusters of n <= {ALONE_UP_TO} vertices; got {k} of {n}"
        )
    check_number("upper", upper)
    check_number("tolerance", tolerance, above=0)
    check_integer("max_cases", max_cases)
    if seconds is not None:
        check_number("seconds", seconds, above=0)
    end = np.inf if seconds is None else monotonic() + seconds
    root = np.sqrt(walk.stationary)
    root /= np.linalg.norm(root)
    whole = _Whole(NormalizedLaplacian(walk).dense(), root, k, 2 * n + walk.hypergraph.n_edges)
    goal = upper / (1 + tolerance)
    first = whole.solved(np.zeros((0, 3), dtype=np.int64), goal)
    heap, number, evaluations = [(first.bound, 0, first)], 1, first.evaluations
    while heap[0][0] < goal and len(heap) < max_cases and monotonic() <= end and heap[0][2].splits:
        _, _, case = heapq.heappop(heap)
        for together in (1, 0):
            path = np.vstack([case.path, [*case.pair, together]])
            part = whole.solved(path, goal)
            heapq.heappush(heap, (max(part.bound, case.bound), number, part))
            number, evaluations = number + 1, evaluations + part.evaluations
        report_progress("bound", evaluations, "evaluations", None, f"NCut at least {heap[0][0]:.6f}")
    value = min(part.bound for _, _, part in heap)
    cases = tuple(Case(part.path, part.proof) for _, _, part in sorted(heap, key=lambda entry: entry[1]))
    return BranchedBound(value, value >= goal, cases, evaluations)


def optimal_bound(
    walk: RandomWalk, k: int, upper: float, labels: Integers, seconds: float | None = None
) -> TightBound:
    """The tight bound down to a relative gap of 1e-7 to `upper`, the NCut of the labels.

    If that leaves a gap and there are at most 400 vertices, cases are distinguished; `seconds` limits both.
    """
    start = monotonic()
    tight = tight_bound(walk, k, upper=upper, labels=labels, tolerance=OPTIMAL, seconds=seconds)
    left = None if seconds is None else seconds - (monotonic() - start)
    small = walk.hypergraph.n_vertices <= ALONE_UP_TO
    if tight.ended in ("closed", "eigenvalues") or not small or (left is not None and left <= 0):
        return tight
    found = branch_and_bound(walk.on_host(), k, upper, seconds=left)
    evaluations = tight.evaluations + found.evaluations
    if found.value <= tight.value:
        return replace(tight, ended="cases", evaluations=evaluations)
    return replace(
        tight,
        value=found.value,
        ended="closed" if found.closed else "cases",
        evaluations=evaluations,
        triangles=sum(len(case.proof.triples) for case in found.cases),
        proof=None,
        cases=found.cases,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """A case, the bound of its proof, and the pair of vertices by which it would be split."""

    path: Integers
    bound: float
    proof: Proof
    pair: tuple[int, int]
    splits: bool  # whether there is such a pair
    evaluations: int


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """The problem without any case."""

    laplacian: Floats
    root: Floats
    k: int
    terms: int

    def relaxation(self, path: Integers) -> tuple[Relaxation, Integers]:
        """The relaxation of a case and the group of each vertex."""
        n, linked = len(self.root), path[path[:, 2] == 1]
        graph = sp.coo_array((np.ones(len(linked)), (linked[:, 0], linked[:, 1])), shape=(n, n))
        count, found = sp.csgraph.connected_components(graph, directed=False)
        groups: Integers = np.asarray(found, dtype=np.int64)
        volumes = np.bincount(groups, self.root**2)
        merge = np.zeros((n, count))
        merge[np.arange(n), groups] = self.root / np.sqrt(volumes)[groups]
        small = merge.T @ self.laplacian @ merge
        root = np.sqrt(volumes)
        bare = Relaxation.on((small + small.T) / 2, root, np.zeros((count, 0)), self.k, self.terms)
        number = np.zeros((count, count), dtype=np.int64)
        number[bare.above] = np.arange(len(bare.above[0]))
        number += number.T
        apart = groups[path[path[:, 2] == 0, :2]].reshape(-1, 2)
        return replace(bare, free=np.unique(number[apart[:, 0], apart[:, 1]])), groups

    def solved(self, path: Integers, goal: float) -> _Solved:
        """The best bound of a case, up to the goal, and where it is undecided."""
        relaxation, groups = self.relaxation(path)
        size, evaluations = len(relaxation.root), 0
        multipliers, centre = Multipliers.none(size), relaxation.nearest(np.eye(size))
        best, bounds = multipliers, [relaxation.bound(multipliers)]
        while bounds[-1] < goal and len(bounds) <= MAX_ROUNDS:
            if len(bounds) > STALLED and bounds[-1] - bounds[-1 - STALLED] <= 1e-6 * (goal - bounds[-1]):
                break
            multipliers, centre, spent = ascend(relaxation, multipliers, centre)
            evaluations += spent
            bound = relaxation.bound(multipliers)
            best = multipliers if bound > bounds[-1] else best
            bounds.append(max(bounds[-1], bound))
            multipliers = multipliers.joined(violated_triangles(centre, relaxation.root))
        named = groups if len(path) else groups[:0]
        proof = replace(relaxation.proof(best), groups=named)
        pair, undecided = _undecided(centre, relaxation)
        ends = int(np.argmax(groups == pair[0])), int(np.argmax(groups == pair[1]))
        splits = undecided > 0 and size > self.k  # k groups are the clusters of the one partition left
        return _Solved(path, bounds[-1], proof, ends, splits, evaluations)


def _undecided(centre: Floats, relaxation: Relaxation) -> tuple[tuple[int, int], float]:
    """The two groups of which it is least clear whether they share a cluster, and how unclear it is.

    W(u, v) is W(u, u) if they do, and 0 otherwise; large groups count more.
    """
    root = relaxation.root
    weights = centre / np.outer(root, root)
    share = np.clip(weights / np.maximum(np.minimum.outer(np.diag(weights), np.diag(weights)), 1e-300), 0, 1)
    unclear = (np.minimum(share, 1 - share) * np.outer(root, root))[relaxation.above]
    if relaxation.free is not None:
        unclear[relaxation.free] = 0.0
    place = int(np.argmax(unclear))
    return (int(relaxation.above[0][place]), int(relaxation.above[1][place])), float(unclear[place])
