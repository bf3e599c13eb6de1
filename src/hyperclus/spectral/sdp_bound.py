"""A lower bound on NCut far above that of the eigenvalues.

Any multipliers >= 0 of valid inequalities prove a bound; the search only makes them better.

With q = sqrt(phi), a partition into k clusters is the matrix with Z(u, v) = q(u) q(v) / vol(S) for u, v in
the same cluster S, and 0 for others. Then NCut = <L_sym, Z>, and Z is a projector of rank k with

    Z q = q,    Z(u, v) >= 0,    W(u, v) + W(u, w) <= W(u, u) + W(v, w),

where W(u, v) = Z(u, v) / (q(u) q(v)). The last, the triangle inequality, holds because each term on the left
is 0 or W(u, u), and if neither is 0, then u, v and w share a cluster. Let G be L_sym with non-negative
multiples of these inequalities added, so that <G, Z> <= <L_sym, Z> for every partition. As Z is q q' plus a
projector of rank k - 1 on the complement of q, Ky Fan's theorem gives

    NCut >= <G, Z> >= q' G q + the k - 1 smallest eigenvalues of G on the complement of q.

Without multipliers this is the sum of the eigenvalues of L_sym. The best multipliers solve the dual of the
semidefinite relaxation of Peng and Wei (SIAM J. Optimization, 2007) with triangle inequalities.

Up to 400 vertices each has its own multipliers. Beyond, vertices of the same type share them (`type_space`);
types are split until that no longer helps, and any set of types gives a valid bound.
"""

from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from hyperclus._runtime.checkpoint import is_array, is_count, is_figure, open_checkpoint
from hyperclus._runtime.progress import report_progress, unwatched
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.errors import Argument, InputError, check_integer, check_number
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.eigen import smallest_eigenpairs
from hyperclus.spectral.eigen.lanczos import rough_vectors
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.multiplier_search import ALONE_UP_TO, Search, proven_by
from hyperclus.spectral.proof import Case, Proof
from hyperclus.spectral.relaxation import Multipliers
from hyperclus.spectral.walk import RandomWalk, check_walk
from hyperclus.typing import Floats, Integers

MAX_VERTICES = 200_000  # 100,000 took 1.2 GB with 1,024 types; more was not measured
EIGENVECTORS = 30  # of L_sym, beside k, in the space of the first relaxation
MIN_PROBABILITY = 1e-100  # of a vertex; below, products of probabilities underflow
PATIENCE = 5  # rounds without progress after which the search ends

Ending: TypeAlias = Literal["closed", "settled", "rounds", "seconds", "cases", "eigenvalues"]


@dataclass(frozen=True, slots=True)
class TightBound:
    """No partition has an NCut below `value`; the rest says how that was found.

    Attributes
    ----------
    value : float
        The bound, rounding allowed for; never below the eigenvalues'.
    ended : {"closed", "settled", "rounds", "seconds", "cases", "eigenvalues"}
        The bound is within the tolerance of `upper`; it no longer improves; the rounds, the seconds or the
        cases are used up; or there was no search (see `tight_bound`).
    rounds, evaluations : int
        Rounds of the search, and eigen-decompositions in them.
    triangles : int
        Triangle inequalities that the proof uses.
    failure : float
        Probability that Lanczos' method, which proves the bound above 16,000 vertices, missed an eigenvalue.
    types : int
        Sets of vertices that share multipliers; n if each vertex has its own, 0 without a search.
    proof : Proof or None
        The multipliers, for a checker; None if the eigenvalues' bound is not exceeded, or by cases only.
    cases : tuple of Case
        The cases that prove the bound, if it was found by `branch_and_bound`.
    """

    value: float
    ended: Ending
    rounds: int = 0
    evaluations: int = 0
    triangles: int = 0
    types: int = 0
    failure: float = 0.0
    proof: Proof | None = field(default=None, compare=False, repr=False)
    cases: tuple[Case, ...] = field(default=(), compare=False, repr=False)


@single_blas_thread
def tight_bound(
    walk: RandomWalk,
    k: int,
    *,
    upper: float | None = None,
    labels: Integers | None = None,
    tolerance: float = 1e-4,
    max_rounds: int = 40,
    seconds: float | None = None,
) -> TightBound:
    """NCut >= value for every partition into k clusters; docs/understand/certificate.md has the proof.

    With more than 400 vertices the search uses the engine of the walk; the proof is computed in host memory.
    There is no search where the eigenvalues give the optimum (k = 1, k = n, at least k components), nor
    where a stationary probability is below 1e-100. Nothing is random but the start of Lanczos' method, whose
    seed is fixed; without `seconds` the same hypergraph gives the same bound.

    Parameters
    ----------
    upper : float, optional
        The NCut of some partition: the search ends when the bound is within `tolerance` of it. It never
        enters the bound.
    labels : array of shape (n,), optional
        The labels of that partition, 0 .. k - 1: no type has vertices of two clusters. They do not enter the
        bound either.
    tolerance : float
        The relative gap to `upper` that is small enough; a tenth of it in five rounds counts as progress.
    max_rounds : int
        Limit on the rounds, each of about 60 eigen-decompositions.
    seconds : float, optional
        No round begins after this time; the proof of the best multipliers so far follows.

    Raises
    ------
    InputError
        When the hypergraph has more than 200,000 vertices, or k is not from 1 to n.

    Examples
    --------
    >>> from hyperclus import Hypergraph, cluster
    >>> ring = Hypergraph.from_edges([[i, (i + 1) % 8] for i in range(8)])
    >>> part = cluster(ring)
    >>> tight = tight_bound(RandomWalk(ring), 2, upper=part.ncut)
    >>> print(f"{part.lower_bound:.3f} {tight.value:.3f} {part.ncut:.3f} {tight.ended}")
    0.146 0.250 0.250 closed
    """
    check_walk(walk)
    backend, walk = walk.backend, walk.on_host()
    n = walk.hypergraph.n_vertices
    check_integer("k", k)
    if k > n:
        raise InputError(f"{n} vertices cannot make {k} clusters; choose k from 1 to {n}")
    check_size(n)
    check_integer("max_rounds", max_rounds, least=0)
    check_number("tolerance", tolerance, above=0)
    if upper is not None:
        check_number("upper", upper)
    if labels is not None and not (len(labels) == n and np.array_equal(np.unique(labels), np.arange(k))):
        raise InputError(f"labels must be the numbers from 0 to {k - 1}, one for each of the {n} vertices")
    if seconds is not None:
        check_number("seconds", seconds, above=0)
    end = np.inf if seconds is None else monotonic() + seconds
    bound = ncut_lower_bound(smallest_eigenpairs(NormalizedLaplacian(walk), k), k)
    if k in (1, n) or walk.n_components >= k or walk.stationary.min() < MIN_PROBABILITY:
        return TightBound(bound, "eigenvalues")
    inputs = walk.hypergraph, walk.alpha, walk.stationary, k, upper, labels, tolerance, max_rounds, seconds
    checkpoint = open_checkpoint("bound", *inputs, backend.name)
    kept = checkpoint.result(lambda kept: _fits(walk, k, bound, kept))
    if kept is None:
        goal = np.inf if upper is None else upper / (1 + tolerance)
        search = Search.begin(walk, k, labels, _placing_vectors(walk, k), bound, backend)
        while not (ended := _ending(search, goal, tolerance, max_rounds, end)):
            search.round()
            note = f"NCut at least {search.bounds[-1]:.4f}"
            report_progress("bound", search.evaluations, "evaluations", None, note)
        counts = {"rounds": len(search.bounds) - 1, "evaluations": search.evaluations}
        found = {"ended": ended, **counts, "types": search.best_types, **asdict(search.best)}
        result = _result(walk, k, bound, found)
        checkpoint.finish(**found, value=result.value)
        return result
    return _result(walk, k, bound, kept)


def _result(walk: RandomWalk, k: int, bound: float, found: dict[str, Any]) -> TightBound:
    """The bound with its proof from what a search found; the eigenvalues' if no multipliers are better."""
    counts = found["rounds"], found["evaluations"]
    if len(found["types"]) == 0:
        return TightBound(bound, found["ended"], *counts)
    multipliers = Multipliers(found["pairs"], found["triples"], found["triangles"])
    value, failure, proof = proven_by(walk, k, found["types"], multipliers)
    if value <= bound:
        return TightBound(bound, found["ended"], *counts)
    r = int(found["types"].max()) + 1
    return TightBound(value, found["ended"], *counts, len(multipliers.triples), r, failure, proof)


def _fits(walk: RandomWalk, k: int, bound: float, kept: dict[str, Any]) -> bool:
    """Whether stored values can be those of a search: the multipliers must prove the stored bound again."""
    types, triples = kept["types"], kept["triples"]
    n, r = walk.hypergraph.n_vertices, int(types.max()) + 1 if len(types) else 0
    sound = all(is_count(kept[name]) for name in ("rounds", "evaluations")) and len(kept) == 8
    sound &= kept["ended"] in get_args(Ending) and is_figure(kept["value"], bound)
    sound &= types.dtype == triples.dtype == np.int64 and len(types) in (0, n)
    sound &= np.array_equal(np.unique(types), np.arange(r)) and is_array(triples, None, 3, low=0, high=r - 1)
    sound &= is_array(kept["pairs"], r * (r - 1) // 2, low=0.0)
    sound &= is_array(kept["triangles"], len(triples), low=0.0)
    sound = sound and bool((np.diff(np.sort(triples, axis=1), axis=1) > 0).all())
    return sound and _result(walk, k, bound, kept).value == kept["value"]


def _placing_vectors(walk: RandomWalk, k: int) -> Floats:
    """Vectors of small eigenvalues of L_sym, roughly, orthogonal to q; none if no types are needed."""
    n = walk.hypergraph.n_vertices
    if n <= ALONE_UP_TO:
        return np.zeros((n, 0))
    root = np.sqrt(walk.stationary)[:, None]
    with unwatched():
        found = rough_vectors(
            NormalizedLaplacian(walk),
            root / np.linalg.norm(root),
            k + EIGENVECTORS,
            1e-3,
            np.random.default_rng(0),
        )
    return found.vectors


def _ending(search: Search, goal: float, tolerance: float, max_rounds: int, end: float) -> Ending | None:
    """Why the search ends. What counts as progress is what happened since types were last split."""
    bounds = search.bounds
    if bounds[-1] >= goal:
        return "closed"
    waited = len(bounds) > PATIENCE + search.final
    if waited and bounds[-1] - bounds[-1 - PATIENCE] <= tolerance / 10 * bounds[-1]:
        return "settled"
    if monotonic() > end:
        return "seconds"
    return "rounds" if len(bounds) > max_rounds else None


def check_size(n_vertices: int) -> None:
    """Reject more vertices than the tight bound is for."""
    if n_vertices > MAX_VERTICES:
        raise InputError(
            f"the tight bound is for at most {MAX_VERTICES} vertices, and there are {n_vertices}; use ",
            Argument("bound", "eigenvalues"),
        )
