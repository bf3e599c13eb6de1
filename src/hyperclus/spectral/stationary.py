"""The stationary distribution of the walk, also where the walk mixes slowly.

Power iteration needs about 1/gap steps, and clustered data have a small gap. There are four methods; the
middle two work on the smaller of the two sides (vertices or hyperedges):

* *closed form*: d(v) at alpha = 1; d(v) gamma(v) / gamma(v)^alpha when gamma does not depend on the
  edge. With sums of gamma over v's hyperedges it is the start of every other method.
* *elimination*: the GTH algorithm (Grassmann, Taksar, Heyman, 1985) on the dense chain. It
  subtracts nothing, so each probability is accurate to its own size. For small chains.
* *krylov*: GMRES on (I - P^T) x = 0 in the variables x / sqrt(current distribution), in which a
  reversible walk is symmetric; restarted with the better distribution each time.
* *factorisation*: sparse LU of the system phi = B^T psi, psi = A^T phi, for hypergraphs that are long
  and thin, where GMRES converges slowly and the factors stay sparse.

Components keep the mass they start with, their share of the total degree.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.checkpoint import Checkpoint
from hyperclus._runtime.progress import ResidualProgress, report_progress
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.engines.base import ArrayBackend
from hyperclus.errors import ConvergenceError, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import named
from hyperclus.spectral.aggregation import block_chain, has_weak_joints, weakly_joined_blocks
from hyperclus.spectral.components import Components, components
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.spectral.gmres import gmres_cycle
from hyperclus.typing import Floats

ELIMINATION_UP_TO = 150  # states up to which elimination of a given chain takes milliseconds
FACTORISATION_UP_TO = 3_000_000  # incidences up to which a factorisation is tried when GMRES has failed
RESTART = 30
MAX_CYCLES = 60
_log = logging.getLogger(__name__)

ACCEPTED = 1e-11  # a solve that stalls above this residual has failed
UNCORRECTED = (
    "some vertices are joined so weakly to the others that the mass of their parts may be off; no worker has "
    "the memory to correct it"
)


@dataclass(frozen=True, slots=True, eq=False)
class StationaryDistribution:
    """phi = phi P and psi = phi A, each summing to 1.

    Attributes
    ----------
    vertices, edges : arrays
        phi and psi.
    residual : float
        ||phi P - phi||_1, computed at the end.
    steps : int
        Products with P; 0 for the closed form.
    method : str
        "closed form", "elimination", "krylov" or "factorisation".
    components : Components
        Each component's mass is its share of the total degree.
    masses_corrected : bool
        False where weakly joined parts may have wrong masses, because no worker has the memory to
        correct them.
    """

    vertices: Floats
    edges: Floats
    residual: float
    steps: int
    method: str
    components: Components
    masses_corrected: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """One side of the walk: the distribution one step later, and the component of each state."""

    backend: ArrayBackend
    step: Callable[[Floats], Floats]
    component: Any
    shares: Floats

    def normalised(self, distribution: Floats) -> Floats:
        """Each component scaled to its share; states in no component (empty hyperedges) stay 0."""
        if len(self.shares) == 1:
            total: float = distribution.sum()
            return self.backend.persist(distribution / total)
        masses = np.bincount(np.maximum(self.component, 0), weights=distribution, minlength=len(self.shares))
        return self.backend.persist(distribution * self.backend.take(self.shares / masses, self.component))


def stationary_distribution(factors: TransitionFactors, tolerance: float = 1e-14) -> StationaryDistribution:
    """Solve phi = phi P.

    Parameters
    ----------
    tolerance : float
        Aim for sqrt(sum_v (phi P - phi)(v)^2 / phi(v)), which bounds ||phi P - phi||_1. The solve
        ends there, or where rounding stops it, if that is below 1e-11.

    Raises
    ------
    ConvergenceError
        With the residual reached.
    InputError
        When some vertex's probability is too small for double precision.
    """
    found = components(factors)
    checkpoint = factors.backend.open_checkpoint(
        "stationary distribution", factors.hypergraph, factors.alpha, tolerance
    )
    done = checkpoint.result()
    if done is None:
        solve = _solve_on_host if factors.backend.on_host else _solve_by_products
        solved = solve(factors, tolerance, found, checkpoint)
        names = ("vertices", "residual", "steps", "method", "masses_corrected")
        checkpoint.finish(**{name: getattr(solved, name) for name in names})
    else:
        solved = StationaryDistribution(
            **done, edges=factors.step_to_edges(done["vertices"]), components=found
        )
    report_progress("stationary distribution", solved.steps, "products", 1.0, solved.method)
    return solved


def _solve_on_host(
    factors: TransitionFactors, tolerance: float, found: Components, checkpoint: Checkpoint
) -> StationaryDistribution:
    """Solve by the method that suits the hypergraph."""
    chain = _vertex_chain(factors, found)
    start, exact = _closed_form(factors)
    start = chain.normalised(start)
    if exact:
        return _checked(factors, start, 0, "closed form", found)
    smaller, on_edges = _smaller_chain(factors, found, chain)
    if np.count_nonzero(smaller.component >= 0) <= ELIMINATION_UP_TO and _cheap_chain(factors, on_edges):
        distribution = _eliminate(factors.edge_chain() if on_edges else factors.vertex_chain(), smaller)
        return _checked(
            factors,
            factors.step_to_vertices(distribution) if on_edges else distribution,
            0,
            "elimination",
            found,
        )
    start = factors.step_to_edges(start) if on_edges else start
    progress = ResidualProgress("stationary distribution", tolerance, high=0.9)
    distribution, steps, residual = _krylov(smaller, start, progress, checkpoint.part("first"))
    distribution = factors.step_to_vertices(distribution) if on_edges else distribution
    method = "krylov"
    accepted = max(ACCEPTED, tolerance)
    if residual > accepted and factors.hypergraph.n_incidences <= FACTORISATION_UP_TO:
        distribution, residual, method = _factorise(factors, chain, distribution), 0.0, "factorisation"
    if residual <= accepted:
        distribution, more = _with_block_masses(
            factors, chain, distribution, progress.then(tolerance), checkpoint.part("blocks")
        )
        return _checked(factors, distribution, steps + more, method, found, accepted)
    raise ConvergenceError(_stalled(residual, steps), residual)


def _solve_by_products(
    factors: TransitionFactors, tolerance: float, found: Components, checkpoint: Checkpoint
) -> StationaryDistribution:
    """Solve with products alone; where that is not enough, on the host with all incidences."""
    chain = _vertex_chain(factors, found)
    start, exact = _closed_form(factors)
    distribution, steps, residual = chain.normalised(start), 0, 0.0
    if exact:
        return _checked(factors, distribution, 0, "closed form", found)
    smaller, on_edges = _smaller_chain(factors, found, chain)
    progress = ResidualProgress("stationary distribution", tolerance)
    distribution = factors.step_to_edges(distribution) if on_edges else distribution
    distribution, steps, residual = _krylov(smaller, distribution, progress, checkpoint)
    distribution = factors.step_to_vertices(distribution) if on_edges else distribution
    accepted = max(ACCEPTED, tolerance)
    weak = residual <= accepted and has_weak_joints(factors, distribution)
    if residual > accepted or weak:
        by_host = factors.backend.run_on_one(_distribution_of, factors.hypergraph, factors.alpha, tolerance)
        if by_host is not None:
            edges = factors.step_to_edges(by_host["vertices"])
            return StationaryDistribution(**by_host, edges=edges, components=found)
        if residual > accepted:
            raise ConvergenceError(_stalled(residual, steps), residual)
        _log.warning(UNCORRECTED)
    solved = _checked(factors, distribution, steps, "krylov", found, accepted)
    return replace(solved, masses_corrected=not weak)


def _distribution_of(
    hypergraph: Hypergraph, alpha: float, tolerance: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The stationary distribution of a hypergraph in host memory: facts and vertex arrays."""
    solved = stationary_distribution(TransitionFactors(hypergraph, alpha=alpha), tolerance)
    facts = {name: getattr(solved, name) for name in ("residual", "steps", "method", "masses_corrected")}
    return facts, {"vertices": solved.vertices}


def _stalled(residual: float, steps: int) -> str:
    return (
        f"the stationary distribution stalled at residual {residual:.1e} after {steps} steps, because the "
        "walk mixes too slowly; remove weights that are negligible next to the others"
    )


def _vertex_chain(factors: TransitionFactors, found: Components) -> _Chain:
    """The walk from vertex to vertex."""
    backend = factors.backend
    if found.count == 1:
        return _Chain(backend, factors.onward, found.of_vertex, np.ones(1))
    shares = found.masses(backend, factors.degrees)
    return _Chain(backend, factors.onward, backend.put(found.of_vertex), backend.put(shares / shares.sum()))


def _smaller_chain(factors: TransitionFactors, found: Components, chain: _Chain) -> tuple[_Chain, bool]:
    """The walk from hyperedge to hyperedge where these are fewer, and whether they are."""
    if factors.hypergraph.n_edges >= factors.hypergraph.n_vertices or found.of_edge is None:
        return chain, False
    of_edge = factors.backend.put(found.of_edge) if found.count > 1 else found.of_edge
    return _Chain(
        factors.backend,
        lambda distribution: factors.step_to_edges(factors.step_to_vertices(distribution)),
        of_edge,
        chain.shares,
    ), True


def _cheap_chain(factors: TransitionFactors, on_edges: bool) -> bool:
    """Whether forming the dense chain (4 ns per pair of incidences) beats GMRES (50 ns per incidence)."""
    h = factors.hypergraph
    sizes = np.bincount(h.gamma.indices) if on_edges else h.edge_sizes
    return 4e-9 * float((sizes.astype(np.float64) ** 2).sum()) <= 1e-3 + 5e-8 * h.n_incidences


def _closed_form(factors: TransitionFactors) -> tuple[Floats, bool]:
    """d(v) gamma(v) / gamma(v)^alpha, and whether it is exact up to its scale."""
    if factors.alpha == 1:
        return factors.degrees, True
    strength = factors.products.constants()
    exact = strength is not None
    if strength is not None:
        picked = strength**factors.alpha
    else:
        ones = np.ones_like(factors.edge_weights)
        strength, picked = (factors.products.to_vertices(ones, kind) for kind in ("gamma", "source_weights"))
    return factors.degrees / picked * (strength / strength.max()), exact


def _chi(residual: Floats, distribution: Floats) -> float:
    """sqrt(sum residual^2 / distribution) over the states that carry mass."""
    return float(np.linalg.norm(residual / np.sqrt(np.where(distribution > 0, distribution, 1.0))))


@dataclass(eq=False)
class _Cycles:
    """State between two cycles of GMRES: the distribution, the best one and its residual, and counts."""

    distribution: Floats
    best: Floats
    residual: float = np.inf
    stalled: int = 0
    steps: int = 0
    count: int = 0
    first_residual: float = np.inf


@single_blas_thread
def _krylov(
    chain: _Chain, start: Floats, progress: ResidualProgress, checkpoint: Checkpoint
) -> tuple[Floats, int, float]:
    """GMRES cycles until the chi residual is below the goal or no longer falls."""
    done = checkpoint.result()
    state = done or checkpoint.state() or {"distribution": start, "best": start}
    at = _Cycles(**{name: state.pop(name) for name in list(state) if name in _Cycles.__annotations__})
    begun = state if "reduced" in state else None
    progress.first, progress.lowest, progress.done = at.first_residual, at.residual, at.steps
    while done is None and at.count < MAX_CYCLES:
        before = dict(vars(at))

        def keep(state: Callable[[], dict[str, Any]], before: dict[str, Any] = before) -> None:
            if checkpoint.due:
                checkpoint.keep(**before, **state())

        distribution, at.count = at.distribution, at.count + 1
        at.steps += begun["first"] if begun else 0
        change = chain.backend.persist(distribution - chain.step(distribution))
        residual = _chi(change, distribution)
        progress.report(at.steps, residual)
        at.first_residual = progress.first
        at.stalled = at.stalled + 1 if residual > 0.5 * at.residual else 0
        if residual < at.residual:
            at.best, at.residual = distribution, residual
        if at.residual <= progress.goal or at.stalled == 3:
            break
        scale = chain.backend.persist(np.sqrt(np.where(distribution > 0, distribution, 1.0)))

        def apply(x: Floats, scale: Floats = scale) -> Floats:
            return chain.step(x * scale) / scale

        def count(residual: float) -> None:
            at.steps += 1
            progress.report(at.steps, residual)

        correction, _ = gmres_cycle(
            chain.backend, apply, change / scale, progress.goal / 2, RESTART, count, begun=begun, keep=keep
        )
        begun = None
        at.steps += 2
        progress.done = at.steps
        corrected = distribution - scale * correction
        at.distribution = chain.normalised(
            chain.step(np.where(corrected > 0, corrected, 1e-3 * distribution))
        )
    checkpoint.finish(**vars(at))
    return at.best, at.steps, at.residual


def _eliminate(transitions: Floats, chain: _Chain) -> Floats:
    """GTH elimination on the dense chain, one component after the other."""
    distribution = np.zeros(len(transitions))
    for component in range(len(chain.shares)):
        states = np.flatnonzero(chain.component == component)
        distribution[states] = _gth(transitions[np.ix_(states, states)])
    return chain.normalised(distribution)


def _gth(transitions: Floats) -> Floats:
    """The stationary distribution of one irreducible dense chain, up to scale; overwrites its argument."""
    n = len(transitions)
    with np.errstate(divide="ignore", invalid="ignore"):  # rates that underflow; found by the final check
        for last in range(n - 1, 0, -1):
            row = transitions[last, :last]
            transitions[:last, last] /= row.sum()
            transitions[:last, :last] += transitions[:last, last, None] * row
    distribution = np.ones(n)
    for state in range(1, n):
        distribution[state] = distribution[:state] @ transitions[:state, state]
        if distribution[state] > 1e150:
            distribution[: state + 1] /= distribution[state]
    return distribution


def _factorise(factors: TransitionFactors, chain: _Chain, distribution: Floats) -> Floats:
    """Sparse LU of [[I, -B^T], [-A^T, I]] (phi, psi) = 0, one vertex of each component held fixed.

    Elimination loses no digits if the vertex held fixed is visited often, so the likeliest one is
    taken, and again after the first solve.
    """
    from scipy.sparse.linalg import splu

    gamma, omega = factors.hypergraph.gamma, factors.hypergraph.edge_weights
    n_edges, n = gamma.shape
    picked = sp.diags_array(omega) @ factors.lists.source_weights @ sp.diags_array(1.0 / factors.degrees)
    moved = factors.lists.gamma_by_vertex @ sp.diags_array(1.0 / factors.edge_degrees)
    for _ in range(2):
        heaviest = np.lexsort((-distribution, chain.component))
        fixed = heaviest[np.unique(chain.component[heaviest], return_index=True)[1]]
        free = np.ones(n)
        free[fixed] = 0.0
        blocks: Any = [[sp.eye_array(n), -sp.diags_array(free) @ moved], [-picked, sp.eye_array(n_edges)]]
        solution = splu(sp.csc_array(sp.block_array(blocks))).solve(
            np.concatenate([1.0 - free, np.zeros(n_edges)])
        )
        distribution = chain.normalised(chain.step(np.maximum(solution[:n], np.finfo(float).tiny)))
    return distribution


def _with_block_masses(
    factors: TransitionFactors,
    chain: _Chain,
    distribution: Floats,
    progress: ResidualProgress,
    checkpoint: Checkpoint,
) -> tuple[Floats, int]:
    """Correct the masses of weakly joined blocks, then the distribution in them, then the masses again."""
    blocks = weakly_joined_blocks(factors, distribution)
    if blocks is None or blocks.max() + 1 == len(chain.shares):
        return distribution, 0
    component = np.zeros(blocks.max() + 1, dtype=np.int64)
    component[blocks] = chain.component
    coarse = _Chain(chain.backend, chain.step, component, chain.shares)
    steps = 0
    for last in (False, True):
        masses = _eliminate(block_chain(factors, distribution, blocks), coarse)
        distribution = distribution * (masses / np.bincount(blocks, weights=distribution))[blocks]
        if not last:
            distribution, steps, _ = _krylov(chain, distribution, progress, checkpoint)
    return distribution, steps


def _checked(
    factors: TransitionFactors,
    distribution: Floats,
    steps: int,
    method: str,
    found: Components,
    accepted: float = ACCEPTED,
) -> StationaryDistribution:
    finite, least, total = factors.backend.fetch(
        np.isfinite(distribution).all(), distribution.min(), distribution.sum()
    )
    if not (finite and least > np.finfo(float).tiny):
        worst = named(factors.hypergraph.vertex_ids, np.array([int(np.argmin(distribution))]))
        raise InputError(
            f"the walk almost never visits vertex {worst} (probability below 1e-300), too rarely for double "
            "precision; leave the vertex out or make its weights less uneven"
        )
    distribution = factors.backend.persist(distribution / float(total))
    edges = factors.step_to_edges(distribution)
    residual = float(np.abs(factors.step_to_vertices(edges) - distribution).sum())
    if residual > 10 * accepted:
        raise ConvergenceError(
            f"the stationary distribution has residual {residual:.1e}; it cannot be trusted", residual
        )
    return StationaryDistribution(distribution, edges, residual, steps, method, found)


def estimated_distribution(factors: TransitionFactors, steps: int) -> StationaryDistribution:
    """Approximate the stationary distribution by a few steps of the walk from the closed form."""
    found = components(factors)
    chain = _vertex_chain(factors, found)
    distribution = chain.normalised(_closed_form(factors)[0])
    for _ in range(steps):
        distribution = chain.normalised(chain.step(distribution))
    edges = factors.step_to_edges(distribution)
    residual = float(np.abs(factors.step_to_vertices(edges) - distribution).sum())
    return StationaryDistribution(distribution, edges, residual, steps, "estimate", found)
