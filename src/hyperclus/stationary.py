"""The stationary law of the walk, also where the walk mixes slowly.

Power iteration needs about 1/gap steps, and a small gap is what clustered data have. Four ways, the
middle two on the smaller of the two sides (vertices or hyperedges):

* *closed form*: d(v) at alpha = 1; d(v) gamma(v) / gamma(v)^alpha when gamma does not depend on the
  edge. With sums over v's hyperedges above and below it is the start of every other solve.
* *elimination*: the GTH algorithm (Grassmann, Taksar, Heyman, 1985) on the dense chain. It
  subtracts nothing, so each probability is accurate to its own size. For small chains.
* *krylov*: GMRES on (I - P^T) x = 0 in the variables x / sqrt(current law), where a reversible
  walk is symmetric; restarted with the better law each time.
* *factorisation*: sparse LU of the system phi = B^T psi, psi = A^T phi, for hypergraphs that are long
  and thin, where GMRES crawls and the factors stay sparse.

Components keep the mass they start with, their share of the total degree.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.aggregation import block_chain, has_weak_joints, weakly_joined_blocks
from hyperclus.arnoldi import gmres_cycle
from hyperclus.arrays import is_scattered, kept, looked_up, on_host, together
from hyperclus.checkpoint import NOWHERE, Slot, slot
from hyperclus.components import Components, components
from hyperclus.errors import ConvergenceError, InputError
from hyperclus.factors import Factors
from hyperclus.hypergraph import Hypergraph
from hyperclus.ids import named
from hyperclus.progress import Descent, tell
from hyperclus.threads import single_blas_thread
from hyperclus.types import Floats, Integers

ELIMINATION_UP_TO = 150  # states up to which elimination takes milliseconds, once the chain is there
FACTORISATION_UP_TO = 3_000_000  # incidences up to which a factorisation is tried when GMRES has failed
RESTART = 30
MAX_CYCLES = 60
_log = logging.getLogger(__name__)

ACCEPTED = 1e-11  # a solve that stalls above this residual has failed


@dataclass(frozen=True, slots=True, eq=False)
class StationaryLaw:
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
    """

    vertices: Floats
    edges: Floats
    residual: float
    steps: int
    method: str
    components: Components


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """One side of the walk: the law one step on, and the component of each state."""

    step: Callable[[Floats], Floats]
    component: Integers
    shares: Floats

    def normalised(self, law: Floats) -> Floats:
        """Each component scaled to its share; states in no component (empty hyperedges) stay 0."""
        if len(self.shares) == 1:
            total: float = law.sum()
            return kept(law / total)
        masses = np.bincount(np.maximum(self.component, 0), weights=law, minlength=len(self.shares))
        return kept(law * looked_up(self.shares / masses, self.component))


def stationary_law(factors: Factors, tolerance: float = 1e-14) -> StationaryLaw:
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
    if not (factors.passes.host or is_scattered(factors.degrees)):
        return _law_elsewhere(factors, tolerance, found, NOWHERE)
    place = slot("stationary law", factors.hypergraph, factors.alpha, tolerance)
    done = place.result()
    if done is None:
        solved = _solved if factors.passes.host else _law_elsewhere
        law = solved(factors, tolerance, found, place)
        names = ["vertices", "residual", "steps", "method"] + ["edges"] * factors.passes.host
        done = place.finish(**{name: getattr(law, name) for name in names})
    tell("stationary law", done["steps"], "products", 1.0, done["method"])
    if "edges" not in done:
        done["edges"] = factors.to_edges(done["vertices"])  # an expression
    return StationaryLaw(**done, components=found)


def _solved(factors: Factors, tolerance: float, found: Components, place: Slot) -> StationaryLaw:
    """The law by the way that suits it."""
    chain = _vertex_chain(factors, found)
    start, exact = _closed_form(factors)
    start = chain.normalised(start)
    if exact:
        return _checked(factors, start, 0, "closed form", found)
    smaller, on_edges = _smaller_chain(factors, found, chain)
    if np.count_nonzero(smaller.component >= 0) <= ELIMINATION_UP_TO and _cheap_chain(factors, on_edges):
        law = _eliminate(factors.edge_chain() if on_edges else factors.vertex_chain(), smaller)
        return _checked(factors, factors.to_vertices(law) if on_edges else law, 0, "elimination", found)
    start = factors.to_edges(start) if on_edges else start
    descent = Descent("stationary law", tolerance, high=0.9)
    law, steps, residual = _krylov(smaller, start, descent, place.part("first"))
    law = factors.to_vertices(law) if on_edges else law
    method = "krylov"
    accepted = max(ACCEPTED, tolerance)
    if residual > accepted and factors.hypergraph.n_incidences <= FACTORISATION_UP_TO:
        law, residual, method = _factorise(factors, chain, law), 0.0, "factorisation"
    if residual <= accepted:
        law, more = _with_block_masses(factors, chain, law, descent.then(tolerance), place.part("blocks"))
        return _checked(factors, law, steps + more, method, found, accepted)
    raise ConvergenceError(_stalled(residual, steps), residual)


def _law_elsewhere(factors: Factors, tolerance: float, found: Components, place: Slot) -> StationaryLaw:
    """The law where the vectors do not lie in the memory of the host: what GMRES cannot do is done there."""
    chain = _vertex_chain(factors, found)
    start, exact = _closed_form(factors)
    law, steps, residual = chain.normalised(start), 0, 0.0
    if not exact:
        smaller, on_edges = _smaller_chain(factors, found, chain)
        descent = Descent("stationary law", tolerance)
        law, steps, residual = _krylov(smaller, factors.to_edges(law) if on_edges else law, descent, place)
        law = factors.to_vertices(law) if on_edges else law
    if residual > max(ACCEPTED, tolerance) or (not exact and has_weak_joints(factors, law)):
        if is_scattered(law):
            return _law_of_one_worker(factors, law, steps, residual, tolerance, found)
        by_host = stationary_law(Factors(factors.hypergraph, alpha=factors.alpha), tolerance)
        there = factors.passes.put(by_host.vertices), factors.passes.put(by_host.edges)
        return replace(by_host, vertices=there[0], edges=there[1])
    method = "closed form" if exact else "krylov"
    checked = _checked(factors, law, steps, method, found, max(ACCEPTED, tolerance))
    tell("stationary law", steps, "products", 1.0, checked.method)
    return checked


def _law_of_one_worker(
    factors: Factors, law: Floats, steps: int, residual: float, tolerance: float, found: Components
) -> StationaryLaw:
    """The law where the vectors lie on many workers, and one of them has to do it with all incidences."""
    passes: Any = factors.passes
    if passes.fits_one():
        alone = passes.alone(_law_here, factors.alpha, tolerance)
        return StationaryLaw(**alone, edges=factors.to_edges(alone["vertices"]), components=found)
    if residual <= max(ACCEPTED, tolerance):
        _log.warning(
            "some vertices are joined so weakly to the others that the mass of their parts may be off; "
            "no worker has the memory to correct it"
        )
        return _checked(factors, law, steps, "krylov", found, max(ACCEPTED, tolerance))
    raise ConvergenceError(_stalled(residual, steps), residual)


def _law_here(
    hypergraph: Hypergraph, alpha: float, tolerance: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The law of a hypergraph that is in the memory of this process."""
    law = stationary_law(Factors(hypergraph, alpha=alpha), tolerance)
    facts = {name: getattr(law, name) for name in ("residual", "steps", "method")}
    return facts, {"vertices": law.vertices}


def _stalled(residual: float, steps: int) -> str:
    return (
        f"the stationary law stalled at residual {residual:.1e} after {steps} steps, because the walk mixes "
        "too slowly; remove weights that are negligible next to the others"
    )


def _vertex_chain(factors: Factors, found: Components) -> _Chain:
    """The walk from vertex to vertex."""
    shares = np.ones(1)
    if found.count > 1:
        degrees = factors.degrees
        shares = found.masses(degrees if is_scattered(degrees) else on_host(degrees))
    shares, component = shares / shares.sum(), found.of_vertex
    if found.count > 1:
        shares, component = factors.passes.put(shares), factors.passes.put(component)
    return _Chain(factors.onward, component, shares)


def _smaller_chain(factors: Factors, found: Components, chain: _Chain) -> tuple[_Chain, bool]:
    """The walk from hyperedge to hyperedge where these are fewer, and whether they are."""
    if factors.hypergraph.n_edges >= factors.hypergraph.n_vertices or is_scattered(factors.degrees):
        return chain, False
    of_edge = factors.passes.put(found.of_edge) if found.count > 1 else found.of_edge
    return _Chain(lambda law: factors.to_edges(factors.to_vertices(law)), of_edge, chain.shares), True


def _cheap_chain(factors: Factors, on_edges: bool) -> bool:
    """Whether forming the dense chain (4 ns per pair of incidences) beats GMRES (50 ns per incidence)."""
    h = factors.hypergraph
    sizes = np.bincount(h.gamma.indices) if on_edges else h.edge_sizes
    return 4e-9 * float((sizes.astype(np.float64) ** 2).sum()) <= 1e-3 + 5e-8 * h.n_incidences


def _closed_form(factors: Factors) -> tuple[Floats, bool]:
    """d(v) gamma(v) / gamma(v)^alpha, and whether it is the law up to its scale (else only near it)."""
    if factors.alpha == 1:
        return factors.degrees, True
    strength = factors.passes.constants()
    exact = strength is not None
    if strength is not None:
        picked = strength**factors.alpha
    else:
        ones = np.ones_like(factors.edge_weights)
        strength, picked = (factors.passes.vertex_sums(ones, kind) for kind in ("gamma", "picks"))
    return factors.degrees / picked * (strength / strength.max()), exact


def _chi(residual: Floats, law: Floats) -> float:
    """sqrt(sum residual^2 / law) over the states that carry mass."""
    return float(np.linalg.norm(residual / np.sqrt(np.where(law > 0, law, 1.0))))


@dataclass(eq=False)
class _Cycles:
    """GMRES between two cycles: the law, the best one and its residual, and the count of cycles."""

    law: Floats
    best: Floats
    residual: float = np.inf
    stalled: int = 0
    steps: int = 0
    count: int = 0
    first_residual: float = np.inf


@single_blas_thread
def _krylov(chain: _Chain, start: Floats, descent: Descent, place: Slot) -> tuple[Floats, int, float]:
    """GMRES cycles until the chi residual is below the goal or no longer falls."""
    done = place.result()
    state = done or place.state() or {"law": start, "best": start}
    at = _Cycles(**{name: state.pop(name) for name in list(state) if name in _Cycles.__annotations__})
    begun = state if "reduced" in state else None
    descent.first, descent.lowest, descent.done = at.first_residual, at.residual, at.steps
    while done is None and at.count < MAX_CYCLES:
        before = dict(vars(at))

        def keep(state: Callable[[], dict[str, Any]], before: dict[str, Any] = before) -> None:
            if place.due:
                place.keep(**before, **state())

        law, at.count = at.law, at.count + 1
        at.steps += begun["first"] if begun else 0
        change = kept(law - chain.step(law))
        residual = _chi(change, law)
        descent.tell(at.steps, residual)
        at.first_residual = descent.first
        at.stalled = at.stalled + 1 if residual > 0.5 * at.residual else 0
        if residual < at.residual:
            at.best, at.residual = law, residual
        if at.residual <= descent.goal or at.stalled == 3:
            break
        scale = kept(np.sqrt(np.where(law > 0, law, 1.0)))

        def apply(x: Floats, scale: Floats = scale) -> Floats:
            return chain.step(x * scale) / scale

        def count(residual: float) -> None:
            at.steps += 1
            descent.tell(at.steps, residual)

        correction, _ = gmres_cycle(
            apply, change / scale, descent.goal / 2, RESTART, count, begun=begun, keep=keep
        )
        begun = None
        at.steps += 2
        descent.done = at.steps
        corrected = law - scale * correction
        at.law = chain.normalised(chain.step(np.where(corrected > 0, corrected, 1e-3 * law)))
    place.finish(**vars(at))
    return at.best, at.steps, at.residual


def _eliminate(transitions: Floats, chain: _Chain) -> Floats:
    """GTH elimination on the dense chain, one component after the other."""
    law = np.zeros(len(transitions))
    for component in range(len(chain.shares)):
        states = np.flatnonzero(chain.component == component)
        law[states] = _gth(transitions[np.ix_(states, states)])
    return chain.normalised(law)


def _gth(transitions: Floats) -> Floats:
    """The law of one irreducible dense chain, up to scale; overwrites its argument."""
    n = len(transitions)
    with np.errstate(divide="ignore", invalid="ignore"):  # rates that underflow; found by the final check
        for last in range(n - 1, 0, -1):
            row = transitions[last, :last]
            transitions[:last, last] /= row.sum()
            transitions[:last, :last] += transitions[:last, last, None] * row
    law = np.ones(n)
    for state in range(1, n):
        law[state] = law[:state] @ transitions[:state, state]
        if law[state] > 1e150:
            law[: state + 1] /= law[state]
    return law


def _factorise(factors: Factors, chain: _Chain, law: Floats) -> Floats:
    """Sparse LU of [[I, -B^T], [-A^T, I]] (phi, psi) = 0, one vertex of each component held fixed.

    Elimination loses no digits if the vertex held fixed is visited often, so the likeliest one is
    taken, and again after the first solve.
    """
    from scipy.sparse.linalg import splu

    gamma, omega = factors.hypergraph.gamma, factors.hypergraph.edge_weights
    n_edges, n = gamma.shape
    picked = sp.diags_array(omega) @ factors.picks @ sp.diags_array(1.0 / factors.degrees)
    moved = factors.gamma_by_vertex @ sp.diags_array(1.0 / factors.edge_degrees)
    for _ in range(2):
        heaviest = np.lexsort((-law, chain.component))
        fixed = heaviest[np.unique(chain.component[heaviest], return_index=True)[1]]
        free = np.ones(n)
        free[fixed] = 0.0
        blocks: Any = [[sp.eye_array(n), -sp.diags_array(free) @ moved], [-picked, sp.eye_array(n_edges)]]
        solution = splu(sp.csc_array(sp.block_array(blocks))).solve(
            np.concatenate([1.0 - free, np.zeros(n_edges)])
        )
        law = chain.normalised(chain.step(np.maximum(solution[:n], np.finfo(float).tiny)))
    return law


def _with_block_masses(
    factors: Factors, chain: _Chain, law: Floats, descent: Descent, place: Slot
) -> tuple[Floats, int]:
    """Correct the masses of weakly joined blocks, then the law within them, then the masses again."""
    blocks = weakly_joined_blocks(factors, law)
    if blocks is None or blocks.max() + 1 == len(chain.shares):
        return law, 0
    component = np.zeros(blocks.max() + 1, dtype=np.int64)
    component[blocks] = chain.component
    coarse = _Chain(chain.step, component, chain.shares)
    steps = 0
    for last in (False, True):
        masses = _eliminate(block_chain(factors, law, blocks), coarse)
        law = law * (masses / np.bincount(blocks, weights=law))[blocks]
        if not last:
            law, steps, _ = _krylov(chain, law, descent, place)
    return law, steps


def _checked(
    factors: Factors,
    law: Floats,
    steps: int,
    method: str,
    found: Components,
    accepted: float = ACCEPTED,
) -> StationaryLaw:
    finite, least, total = together([np.isfinite(law).all(), law.min(), law.sum()])
    if not (finite and least > np.finfo(float).tiny):
        worst = named(factors.hypergraph.vertex_ids, np.array([int(np.argmin(law))]))
        raise InputError(
            f"the walk almost never visits vertex {worst} (probability below 1e-300), too rarely for double "
            "precision; leave the vertex out or make its weights less uneven"
        )
    law = kept(law / float(total))
    edges = factors.to_edges(law)
    residual = float(np.abs(factors.to_vertices(edges) - law).sum())
    if residual > 10 * accepted:
        raise ConvergenceError(
            f"the stationary law has residual {residual:.1e}; it cannot be trusted", residual
        )
    return StationaryLaw(law, edges, residual, steps, method, found)


def estimated_law(factors: Factors, steps: int) -> StationaryLaw:
    """The closed form and a few steps of the walk from there: a law that is near, not exact."""
    found = components(factors)
    chain = _vertex_chain(factors, found)
    law = chain.normalised(_closed_form(factors)[0])
    for _ in range(steps):
        law = chain.normalised(chain.step(law))
    edges = factors.to_edges(law)
    residual = float(np.abs(factors.to_vertices(edges) - law).sum())
    return StationaryLaw(law, edges, residual, steps, "estimate", found)
