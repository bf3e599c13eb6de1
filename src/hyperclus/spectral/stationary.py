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
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.checkpoint import LARGEST, Checkpoint, is_array, is_count, is_figure
from hyperclus._runtime.progress import ResidualProgress, report_progress
from hyperclus._runtime.threads import single_blas_thread
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

CREDIBLE = 1e-6  # what a distribution from a checkpoint may change in a step
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
    """The walk from vertex to vertex or from hyperedge to hyperedge, and the component of each state."""

    factors: TransitionFactors
    on_edges: bool
    component: Any
    shares: Floats

    @classmethod
    def of(cls, factors: TransitionFactors, found: Components, on_edges: bool = False) -> "_Chain":
        component, backend = found.of_edge if on_edges else found.of_vertex, factors.backend
        if found.count == 1:
            return cls(factors, on_edges, component, np.ones(1))
        shares = found.masses(backend, factors.degrees)
        return cls(factors, on_edges, backend.put(component), backend.put(shares / shares.sum()))

    def step(self, distribution: Floats) -> Floats:
        """The distribution one step later."""
        if self.on_edges:
            return self.factors.step_to_edges(self.factors.step_to_vertices(distribution))
        return self.factors.onward(distribution)

    def on_vertices(self, distribution: Floats) -> Floats:
        """A distribution on the states as one on the vertices."""
        return self.factors.step_to_vertices(distribution) if self.on_edges else distribution

    def normalised(self, distribution: Floats) -> Floats:
        """Each component scaled to its share; states in no component (empty hyperedges) stay 0."""
        backend, shares = self.factors.backend, self.shares
        if len(shares) == 1:
            total: float = distribution.sum()
            return backend.persist(distribution / total)
        masses = np.bincount(np.maximum(self.component, 0), weights=distribution, minlength=len(shares))
        return backend.persist(distribution * backend.take(shares / masses, self.component))

    def suits_elimination(self) -> bool:
        """Whether forming a small dense chain (4 ns per pair of incidences) beats GMRES (50 ns for each)."""
        h = self.factors.hypergraph
        if (self.component >= 0).sum() > ELIMINATION_UP_TO:
            return False
        sizes = np.bincount(h.gamma.indices) if self.on_edges else h.edge_sizes
        return 4e-9 * float((sizes.astype(np.float64) ** 2).sum()) <= 1e-3 + 5e-8 * h.n_incidences


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
    done = checkpoint.result(partial(_fits, factors, max(CREDIBLE, 10 * tolerance)))
    if done is None:
        solved = _solve(factors, tolerance, found, checkpoint)
        checkpoint.finish(vertices=solved.vertices, **_facts(solved))
    else:
        solved = _restored(factors, found, done)
    report_progress("stationary distribution", solved.steps, "products", 1.0, solved.method)
    return solved


def _facts(solved: StationaryDistribution) -> dict[str, Any]:
    """What determines the result, with the distribution on the vertices."""
    return {name: getattr(solved, name) for name in ("residual", "steps", "method", "masses_corrected")}


def _fits(factors: TransitionFactors, tolerance: float, kept: dict[str, Any]) -> bool:
    """Whether stored values can be those of a stationary distribution: it sums to 1, and a step keeps it."""
    phi = kept["vertices"]
    if not is_array(phi, factors.hypergraph.n_vertices, low=0.0, high=1.0 + CREDIBLE):
        return False
    after = factors.step_to_vertices(factors.step_to_edges(phi))
    total, change = factors.backend.fetch(phi.sum(), np.abs(after - phi).sum())
    figures = is_figure(kept["residual"], 0.0, 1.0) and is_count(kept["steps"])
    words = isinstance(kept["method"], str) and isinstance(kept["masses_corrected"], bool)
    return len(kept) == 5 and figures and words and abs(total - 1) <= CREDIBLE and change <= tolerance


def _restored(factors: TransitionFactors, found: Components, kept: dict[str, Any]) -> StationaryDistribution:
    return StationaryDistribution(**kept, edges=factors.step_to_edges(kept["vertices"]), components=found)


def _solve(
    factors: TransitionFactors, tolerance: float, found: Components, checkpoint: Checkpoint
) -> StationaryDistribution:
    """Solve by the method that suits the hypergraph."""
    h, on_host, accepted = factors.hypergraph, factors.backend.on_host, max(ACCEPTED, tolerance)
    chain = smaller = _Chain.of(factors, found)
    start, exact = _closed_form(factors)
    start = chain.normalised(start)
    if exact:
        return _checked(chain, start, 0, "closed form", found)
    if h.n_edges < h.n_vertices and found.of_edge is not None:
        smaller = _Chain.of(factors, found, on_edges=True)
    if on_host and smaller.suits_elimination():
        dense = factors.edge_chain() if smaller.on_edges else factors.vertex_chain()
        return _checked(chain, smaller.on_vertices(_eliminate(dense, smaller)), 0, "elimination", found)
    progress = ResidualProgress("stationary distribution", tolerance, high=0.9 if on_host else 1.0)
    start = factors.step_to_edges(start) if smaller.on_edges else start
    distribution, steps, residual = _krylov(smaller, start, progress, checkpoint.part("first"))
    distribution, method, corrected = smaller.on_vertices(distribution), "krylov", True
    if on_host and residual > accepted and h.n_incidences <= FACTORISATION_UP_TO:
        distribution, residual, method = _factorise(chain, distribution), 0.0, "factorisation"
    if not on_host and (residual > accepted or has_weak_joints(factors, distribution)):
        by_host = factors.backend.run_on_one(_distribution_of, h, factors.alpha, tolerance)
        if by_host is not None:
            return _restored(factors, found, by_host)
        corrected = False
    if residual > accepted:
        raise ConvergenceError(
            f"the stationary distribution stalled at residual {residual:.1e} after {steps} steps, because "
            "the walk mixes too slowly; remove weights that are negligible next to the others",
            residual,
        )
    if on_host:
        goal, part = progress.then(tolerance), checkpoint.part("blocks")
        distribution, more = _with_block_masses(chain, distribution, goal, part)
        steps += more
    elif not corrected:
        _log.warning(UNCORRECTED)
    solved = _checked(chain, distribution, steps, method, found, accepted)
    return replace(solved, masses_corrected=corrected)


def _distribution_of(
    hypergraph: Hypergraph, alpha: float, tolerance: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The stationary distribution of a hypergraph in host memory: facts and vertex arrays."""
    solved = stationary_distribution(TransitionFactors(hypergraph, alpha=alpha), tolerance)
    return _facts(solved), {"vertices": solved.vertices}


def _closed_form(factors: TransitionFactors) -> tuple[Floats, bool]:
    """d(v) gamma(v) / gamma(v)^alpha, and whether it is exact up to its scale."""
    mixed = getattr(factors.hypergraph, "mixture", None) is not None
    if factors.alpha == 1 and not mixed:
        return factors.degrees, True
    strength = None if mixed else factors.products.constants()
    exact = strength is not None
    if strength is not None:
        picked = strength**factors.alpha
    else:
        ones = np.ones_like(factors.edge_weights)
        strength, picked = (factors.products.to_vertices(ones, kind) for kind in ("gamma", "source_weights"))
    return factors.degrees / picked * (strength / strength.max()), exact


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


def _cycles_fit(size: int, state: dict[str, Any]) -> bool:
    """Whether stored values can be those of `_Cycles`, and of a cycle that was interrupted."""
    sound = all(is_array(state[name], size) for name in ("distribution", "best"))
    sound &= all(is_count(state[name]) for name in ("stalled", "steps", "count"))
    sound &= all(is_figure(state[name], 0.0) for name in ("residual", "first_residual"))
    if "reduced" not in state:
        return sound and len(state) == 7
    first, columns = state["first"], len(state) - 10
    sound &= is_array(state["reduced"], RESTART + 1, RESTART) and is_figure(state["length"], 0.0, LARGEST)
    basis = [state[f"basis {number}"] for number in range(columns)]
    return sound and first == columns - 1 and all(is_array(column, size) for column in basis)


@single_blas_thread
def _krylov(
    chain: _Chain, start: Floats, progress: ResidualProgress, checkpoint: Checkpoint
) -> tuple[Floats, int, float]:
    """GMRES cycles until the chi residual is below the goal or no longer falls."""
    backend, fits = chain.factors.backend, partial(_cycles_fit, len(start))
    done = checkpoint.result(fits)
    state = done or checkpoint.state(fits) or {"distribution": start, "best": start}
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
        scale = backend.persist(np.sqrt(np.where(distribution > 0, distribution, 1.0)))
        change = backend.persist((distribution - chain.step(distribution)) / scale)
        residual = float(np.linalg.norm(change))
        progress.report(at.steps, residual)
        at.first_residual = progress.first
        at.stalled = at.stalled + 1 if residual > 0.5 * at.residual else 0
        if residual < at.residual:
            at.best, at.residual = distribution, residual
        if at.residual <= progress.goal or at.stalled == 3:
            break

        def apply(x: Floats, scale: Floats = scale) -> Floats:
            return chain.step(x * scale) / scale

        def count(residual: float) -> None:
            at.steps += 1
            progress.report(at.steps, residual)

        correction, _ = gmres_cycle(
            backend, apply, change, progress.goal / 2, RESTART, count, begun=begun, keep=keep
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
    distribution = np.ones(n)
    with np.errstate(all="ignore"):  # rates that leave the range; found by the final check
        for last in range(n - 1, 0, -1):
            row = transitions[last, :last]
            transitions[:last, last] /= row.sum()
            transitions[:last, :last] += transitions[:last, last, None] * row
        for state in range(1, n):
            distribution[state] = distribution[:state] @ transitions[:state, state]
            if distribution[state] > 1e150:
                distribution[: state + 1] /= distribution[state]
    return distribution


def _factorise(chain: _Chain, distribution: Floats) -> Floats:
    """Sparse LU of [[I, -B^T], [-A^T, I]] (phi, psi) = 0, one vertex of each component held fixed.

    Elimination loses no digits if the vertex held fixed is visited often, so the likeliest one is
    taken, and again after the first solve.
    """
    from scipy.sparse.linalg import splu

    factors, omega = chain.factors, chain.factors.hypergraph.edge_weights
    n_edges, n = factors.hypergraph.gamma.shape
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
    chain: _Chain, distribution: Floats, progress: ResidualProgress, checkpoint: Checkpoint
) -> tuple[Floats, int]:
    """Correct the masses of weakly joined blocks, then the distribution in them, then the masses again."""
    factors = chain.factors
    blocks = weakly_joined_blocks(factors, distribution)
    if blocks is None or blocks.max() + 1 == len(chain.shares):
        return distribution, 0
    component = np.zeros(blocks.max() + 1, dtype=np.int64)
    component[blocks] = chain.component
    coarse, steps = replace(chain, component=component), 0
    for last in (False, True):
        masses = _eliminate(block_chain(factors, distribution, blocks), coarse)
        distribution = distribution * (masses / np.bincount(blocks, weights=distribution))[blocks]
        if not last:
            distribution, steps, _ = _krylov(chain, distribution, progress, checkpoint)
    return distribution, steps


def _checked(
    chain: _Chain,
    distribution: Floats,
    steps: int,
    method: str,
    found: Components,
    accepted: float = ACCEPTED,
) -> StationaryDistribution:
    factors = chain.factors
    with np.errstate(all="ignore"):
        rates = distribution / factors.relative_degrees
    finite, least, total, share, rate = factors.backend.fetch(
        np.isfinite(distribution).all(),
        distribution.min(),
        distribution.sum(),
        factors.shares.min(),
        rates.min(),
    )
    smallest = np.finfo(distribution.dtype).tiny
    if not (finite and least * min(share, 1.0) > smallest and rate > smallest):
        worst = named(factors.hypergraph.vertex_ids, np.array([int(np.argmin(distribution))]))
        raise InputError(
            f"the walk almost never visits vertex {worst}, too rarely for double precision beside weights of "
            "this size; leave the vertex out, make its weights less uneven, or divide all by their maximum"
        )
    if method != "closed form" and _some_step_underflows(factors):
        raise InputError(
            "the weights are so uneven that steps between some vertices have a probability below 1e-300, too "
            "little for double precision; clip the smallest and largest weights, or lower alpha"
        )
    solved = _measured(factors, factors.backend.persist(distribution / float(total)), steps, method, found)
    if solved.residual > 10 * accepted:
        wrong = f"the stationary distribution has residual {solved.residual:.1e}; it cannot be trusted"
        raise ConvergenceError(wrong, solved.residual)
    return solved


def _some_step_underflows(factors: TransitionFactors) -> bool:
    """Whether A(u, e) B(e, v) might underflow for some u, v and e; then parts of the walk could separate."""
    gamma = getattr(factors.hypergraph, "gamma", None)
    if gamma is None:
        return False
    if factors.backend.on_host:
        least = float(gamma.data.min())
    else:
        per_edge, per_vertex = factors.edge_weights, factors.degrees
        least = factors.products.least_share(
            *map(np.zeros_like, (per_edge, per_vertex)), *map(np.ones_like, (per_edge, per_vertex))
        )
    largest = factors.backend.fetch(factors.edge_degrees.max(), factors.degrees.max())
    arriving = np.log(least) - np.log(float(largest[0]))
    picked = factors.alpha * np.log(least)
    if factors.hypergraph.mixture is not None:
        picked = np.log(float(factors.lists.source_weights.data.min()))
    leaving = np.log(factors.hypergraph.edge_weights.min()) + picked
    return bool(arriving + leaving - np.log(float(largest[1])) < np.log(np.finfo(np.float64).tiny))


def _measured(
    factors: TransitionFactors, distribution: Floats, steps: int, method: str, found: Components
) -> StationaryDistribution:
    edges = factors.step_to_edges(distribution)
    residual = float(np.abs(factors.step_to_vertices(edges) - distribution).sum())
    return StationaryDistribution(distribution, edges, residual, steps, method, found)


def estimated_distribution(factors: TransitionFactors, steps: int) -> StationaryDistribution:
    """Approximate the stationary distribution by a few steps of the walk from the closed form."""
    found = components(factors)
    chain = _Chain.of(factors, found)
    distribution = chain.normalised(_closed_form(factors)[0])
    for _ in range(steps):
        distribution = chain.normalised(chain.step(distribution))
    return _measured(factors, distribution, steps, "estimate", found)
