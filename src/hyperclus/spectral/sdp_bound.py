"""A lower bound on NCut for small hypergraphs, far above that of the eigenvalues.

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
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.progress import report_progress
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.errors import Argument, InputError, check_integer, check_number
from hyperclus.spectral.bounds import ncut_lower_bound
from hyperclus.spectral.eigen import smallest_eigenpairs
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk, check_walk
from hyperclus.typing import Floats, Incidence, Integers

MAX_VERTICES = 400  # takes some minutes
MIN_PROBABILITY = 1e-100  # of a vertex; below, products of probabilities underflow
PROXIMITY = 0.03  # weight of the proximal term; .1 took up to twice as long
STEPS = 60  # L-BFGS-B iterations between two searches for violated triangles
PATIENCE = 5  # rounds without progress after which the search ends
TRIANGLES_EACH = 10  # triangles that each vertex may have added at a time; 20 and more took longer
VIOLATION = 1e-5  # least violation of an inequality with largest coefficient 1 that is added

Ending: TypeAlias = Literal["closed", "settled", "rounds", "eigenvalues"]


@dataclass(frozen=True, slots=True)
class TightBound:
    """No partition has an NCut below `value`; the rest says how that was found.

    Attributes
    ----------
    value : float
        The bound, rounding allowed for; never below the eigenvalues'.
    ended : {"closed", "settled", "rounds", "eigenvalues"}
        The bound is within the tolerance of `upper`; it no longer improves; the rounds are used up; or
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
    check_walk(walk)
    n = walk.hypergraph.n_vertices
    check_integer("k", k)
    if k > n:
        raise InputError(f"{n} vertices cannot make {k} clusters; choose k from 1 to {n}")
    check_size(n)
    check_integer("max_rounds", max_rounds, least=0)
    check_number("tolerance", tolerance, above=0)
    if upper is not None:
        check_number("upper", upper)
    bound = ncut_lower_bound(smallest_eigenpairs(NormalizedLaplacian(walk), k), k)
    if k in (1, n) or walk.n_components >= k or walk.stationary.min() < MIN_PROBABILITY:
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


def _ascend(
    relaxation: "Relaxation", start: "Multipliers", centre: Floats
) -> tuple["Multipliers", Floats, int]:
    """One step of the proximal point method: better multipliers, the next centre and the evaluations.

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
    limits: Any = {"maxiter": STEPS, "maxfun": 2 * STEPS, "ftol": 0.0, "gtol": 1e-7}
    best = minimize(negated, first, jac=True, method="L-BFGS-B", bounds=positive, options=limits)
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


def check_size(n_vertices: int) -> None:
    """Reject more vertices than the tight bound is for."""
    if n_vertices > MAX_VERTICES:
        raise InputError(
            f"the tight bound is for at most {MAX_VERTICES} vertices, and there are {n_vertices}; use ",
            Argument("bound", "eigenvalues"),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Multipliers:
    """How much of each inequality is added to L_sym."""

    pairs: Floats  # of Z(u, v) >= 0, in the order of `np.triu_indices(n, 1)`
    triples: Integers  # rows u, v, w, all different, of W(u, v) + W(u, w) <= W(u, u) + W(v, w)
    triangles: Floats  # of these, scaled as `triangle_rows` does

    def joined(self, triples: Integers) -> "Multipliers":
        """Add further triangles, with multiplier 0."""
        places = (len(self.pairs) + 1) ** np.arange(3)  # with a base above every vertex, codes are unique
        added = triples[~np.isin(triples @ places, self.triples @ places)]
        triangles = np.concatenate([self.triangles, np.zeros(len(added))])
        return Multipliers(self.pairs, np.concatenate([self.triples, added]), triangles)


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """Minimise <L_sym, Z> over {Z : Z q = q, 0 <= Z <= I, trace Z = k}, which holds every partition."""

    laplacian: Floats  # L_sym, (n, n)
    root: Floats  # q, of norm 1
    complement: Floats  # an orthonormal basis of the complement of q, (n, n - 1)
    above: tuple[Integers, Integers]  # the pairs u < v
    k: int
    additions: int  # n + |E|, the terms in the sums behind an entry of L_sym

    @classmethod
    def of(cls, walk: RandomWalk, k: int) -> "Relaxation":
        """The relaxation of the k-way NCut of a walk."""
        n, n_edges = walk.hypergraph.n_vertices, walk.hypergraph.n_edges
        root = np.sqrt(walk.stationary)
        root /= np.linalg.norm(root)
        mirror = root + np.eye(n)[0]
        reflection = np.eye(n) - np.outer(mirror, mirror) * (2 / (mirror @ mirror))  # column 0 is -q
        laplacian = NormalizedLaplacian(walk).dense()
        return cls(laplacian, root, reflection[:, 1:], np.triu_indices(n, 1), k, n + n_edges)

    def lagrangian(self, pairs: Floats, triangles: Floats, rows: Incidence) -> Floats:
        """G = L_sym - the sum of pairs times Z(u, v) + the sum of triangles times (left - right side)."""
        added: Floats = np.asarray(rows.T @ triangles).reshape(self.laplacian.shape)
        added[self.above] -= pairs
        return self.laplacian + (added + added.T) / 2

    def bound(self, multipliers: Multipliers) -> float:
        """The bound proven: q' G q + the k - 1 smallest eigenvalues on the complement, less rounding errors.

        S is the sum of the absolute values of all that is added up in G. Each entry of G is right to a small
        factor times (n + |E| + triangles) eps S, so <G, Z> is to that times ||S|| ||Z||, and
        ||Z|| = sqrt(k) (Frobenius norms). Each of the k values computed from G is right to a small
        factor times n eps ||S||. The small factor is taken as 20. Negative multipliers count as 0.
        """
        from scipy.linalg import eigvalsh

        pairs, triangles = np.maximum(multipliers.pairs, 0.0), np.maximum(multipliers.triangles, 0.0)
        rows = triangle_rows(multipliers.triples, self.root)
        matrix = self.lagrangian(pairs, triangles, rows)
        values = eigvalsh(self.complement.T @ matrix @ self.complement)
        size = self.lagrangian(-pairs, triangles, abs(rows)) + 2 * (np.eye(len(matrix)) - self.laplacian)
        terms = 20 * self.additions + len(triangles)
        allowance = self.k * terms * np.finfo(float).eps * np.linalg.norm(size)
        return float(self.root @ matrix @ self.root + values[: self.k - 1].sum() - allowance)

    def nearest(self, matrix: Floats) -> Floats:
        """The member of the set nearest to a symmetric matrix: eigenvalues shifted and clipped to [0, 1]."""
        from scipy.linalg import eigh

        inner = self.complement.T @ matrix @ self.complement
        values, vectors = eigh(inner, driver="evd", check_finite=False, overwrite_a=True)
        values = _clipped(values, self.k - 1)
        vectors = self.complement @ vectors[:, values > 0]
        return np.asarray(np.outer(self.root, self.root) + (vectors * values[values > 0]) @ vectors.T)


def triangle_rows(triples: Integers, root: Floats) -> Incidence:
    """Rows r with r . vec(Z) = left - right side of each triangle inequality; their largest entry is 1.

    Multiplied by q(u)^2 q(v) q(w), the inequality is
    q(u) q(w) Z(u, v) + q(u) q(v) Z(u, w) - q(v) q(w) Z(u, u) - q(u)^2 Z(v, w) <= 0.
    """
    n, (u, v, w) = len(root), triples.T
    q_u, q_v, q_w = root[u], root[v], root[w]
    entries = np.array([q_u * q_w, q_u * q_v, -q_v * q_w, -q_u * q_u])
    entries /= np.abs(entries).max(axis=0)
    columns = np.concatenate([u * n + v, u * n + w, u * n + u, v * n + w])
    rows = np.tile(np.arange(len(triples)), 4)
    return sp.csr_array((entries.ravel(), (rows, columns)), shape=(len(triples), n * n))


def violated_triangles(matrix: Floats, root: Floats) -> Integers:
    """For each vertex u the ten triples (u, v, w), v < w, whose triangle inequality Z violates most."""
    outer = np.outer(root, root)
    found = []
    for u, q_u in enumerate(root):
        left = q_u * np.outer(root, matrix[u])
        excess = left + left.T - matrix[u, u] * outer - q_u * q_u * matrix
        excess /= np.maximum(outer, q_u * np.maximum(np.maximum.outer(root, root), q_u))
        violated = np.flatnonzero(np.triu(excess > VIOLATION, 1))  # not v or w = u: the excess is 0 there
        worst = violated[np.argsort(-excess.ravel()[violated], kind="stable")[:TRIANGLES_EACH]]
        v, w = np.divmod(worst, len(root))
        found.append(np.column_stack([np.full(len(v), u), v, w]))
    return np.concatenate(found)


def _clipped(values: Floats, total: int) -> Floats:
    """clip(values - t, 0, 1) with the t that makes the sum `total`, by bisection."""
    low, high = values.min() - 1.0, values.max()
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(values - middle, 0.0, 1.0).sum() > total:
            low = middle
        else:
            high = middle
    return np.asarray(np.clip(values - low, 0.0, 1.0))
