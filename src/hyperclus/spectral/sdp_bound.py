"""A proven lower bound on NCut far above the eigenvalues', for small hypergraphs: the search for multipliers.

The proof is in `relaxation`, and holds for whatever multipliers the search ends with.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from hyperclus._runtime.progress import report_progress
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.errors import Argument, InputError, check_integer
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.eigen import smallest_eigenpairs
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.relaxation import Multipliers, Relaxation, triangle_rows, violated_triangles
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats

LARGEST = 400  # vertices: some minutes
RAREST = 1e-100  # stationary probability: further below, products of probabilities underflow
PROXIMITY = 0.03  # weight of the proximal term; .1 took up to twice as long
STEPS = 60  # of L-BFGS-B between two searches for violated triangles
PATIENCE = 5  # rounds without progress until the search is settled

Ending: TypeAlias = Literal["closed", "settled", "rounds", "eigenvalues"]


@dataclass(frozen=True, slots=True)
class TightBound:
    """No partition has an NCut below `value`; the rest says how that was found.

    Attributes
    ----------
    value : float
        The bound, rounding allowed for; never below the eigenvalues'.
    ended : {"closed", "settled", "rounds", "eigenvalues"}
        The bound is within the tolerance of `upper`; it hardly rises any more; the rounds are used up; or
        there was no search (see `tight_bound`).
    rounds, evaluations : int
        Rounds of the search, and eigen-decompositions in them.
    triangles : int
        Triangle inequalities that the proof uses.
    """

    value: float
    ended: Ending
    rounds: int = 0
    evaluations: int = 0
    triangles: int = 0


@single_blas_thread
def tight_bound(
    walk: RandomWalk, k: int, *, upper: float | None = None, tolerance: float = 1e-4, max_rounds: int = 40
) -> TightBound:
    """NCut >= value for every partition into k clusters; docs/certificate.md has the proof.

    There is no search where the eigenvalues give the optimum (k = 1, k = n, at least k components), nor
    where a stationary probability is below 1e-100. Nothing is random.

    Parameters
    ----------
    upper : float, optional
        The NCut of some partition: the search ends when the bound is within `tolerance` of it. It never
        enters the bound.
    tolerance : float
        The relative gap to `upper` that is small enough; a tenth of it in five rounds counts as progress.
    max_rounds : int
        Limit on the rounds, each of about 60 eigen-decompositions of an n x n matrix.

    Raises
    ------
    InputError
        When the hypergraph has more than 400 vertices, or k is not from 1 to n.

    Examples
    --------
    >>> from hyperclus import Hypergraph, cluster
    >>> ring = Hypergraph.from_edges([[i, (i + 1) % 8] for i in range(8)])
    >>> part = cluster(ring)
    >>> tight = tight_bound(RandomWalk(ring), 2, upper=part.ncut)
    >>> print(f"{part.lower_bound:.3f} {tight.value:.3f} {part.ncut:.3f} {tight.ended}")
    0.146 0.250 0.250 closed
    """
    n = walk.hypergraph.n_vertices
    _check(n, k)
    bound = ncut_lower_bound(smallest_eigenpairs(NormalizedLaplacian(walk), k), k)
    if k in (1, n) or walk.n_components >= k or walk.stationary.min() < RAREST:
        return TightBound(bound, "eigenvalues")
    goal = np.inf if upper is None else upper / (1 + tolerance)
    relaxation = Relaxation.of(walk, k)
    multipliers = Multipliers(np.zeros(n * (n - 1) // 2), np.zeros((0, 3), dtype=np.int64), np.zeros(0))
    centre = relaxation.nearest(np.eye(n))
    bounds, evaluations, triangles = [bound], 0, 0
    while not (ended := _ending(bounds, goal, tolerance, max_rounds)):
        multipliers, centre, spent = _ascend(relaxation, multipliers, centre)
        evaluations += spent
        bound = relaxation.bound(multipliers)
        if bound > bounds[-1]:
            triangles = len(multipliers.triples)
        bounds.append(max(bounds[-1], bound))
        report_progress("bound", evaluations, "evaluations", None, f"NCut at least {bounds[-1]:.4f}")
        multipliers = multipliers.joined(violated_triangles(centre, relaxation.root))
    return TightBound(bounds[-1], ended, len(bounds) - 1, evaluations, triangles)


def _ascend(relaxation: Relaxation, start: Multipliers, centre: Floats) -> tuple[Multipliers, Floats, int]:
    """A step of the proximal point method: better multipliers, the next centre and the evaluations spent.

    f = min over Z of <G, Z> + c/2 ||Z - centre||^2 is a smooth concave function of the multipliers, and its
    gradient is what the minimising Z violates (Malick, Povh, Rendl, Wiegele, SIAM J. Optimization, 2009).
    L-BFGS-B raises f. Triangles whose multiplier ends at 0 are dropped.
    """
    from scipy.optimize import Bounds, minimize

    n_pairs = len(start.pairs)
    rows = triangle_rows(start.triples, relaxation.root)

    def minimiser(stacked: Floats) -> tuple[Floats, Floats]:
        matrix = relaxation.lagrangian(stacked[:n_pairs], stacked[n_pairs:], rows)
        return matrix, relaxation.nearest(centre - matrix / PROXIMITY)

    def negated(stacked: Floats) -> tuple[float, Floats]:
        matrix, z = minimiser(stacked)
        value = np.vdot(matrix, z) + PROXIMITY / 2 * np.linalg.norm(z - centre) ** 2
        return -float(value), np.concatenate([z[relaxation.above], -(rows @ z.ravel())])

    first = np.concatenate([start.pairs, start.triangles])
    positive = Bounds(np.zeros(len(first)), np.full(len(first), np.inf))
    best = minimize(
        negated,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=positive,
        options={"maxiter": STEPS, "maxfun": 2 * STEPS, "ftol": 0.0, "gtol": 1e-7},
    )
    triangles = best.x[n_pairs:]
    used = triangles > 0
    found = Multipliers(best.x[:n_pairs], start.triples[used], triangles[used])
    return found, minimiser(best.x)[1], best.nfev + 1


def _ending(bounds: list[float], goal: float, tolerance: float, max_rounds: int) -> Ending | None:
    """Why the search ends, given the best bound after each round (before the first: the eigenvalues')."""
    if bounds[-1] >= goal:
        return "closed"
    if len(bounds) > PATIENCE and bounds[-1] - bounds[-1 - PATIENCE] <= tolerance / 10 * bounds[-1]:
        return "settled"
    return "rounds" if len(bounds) > max_rounds else None


def _check(n: int, k: int) -> None:
    check_integer("k", k)
    if k > n:
        raise InputError(f"{n} vertices cannot make {k} clusters; choose k from 1 to {n}")
    if n > LARGEST:
        raise InputError(
            f"the tight bound is for at most {LARGEST} vertices, and there are {n}; use ",
            Argument("bound", "eigenvalues"),
        )
