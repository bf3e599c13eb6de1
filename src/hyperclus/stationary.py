"""The stationary law of the walk, also where the walk mixes slowly.

Power iteration needs about 1/gap steps, and a small gap is what clustered data have. Three ways,
each on the smaller of the two sides (vertices or hyperedges):

* *closed form*: d(v) gamma(v) is the law when gamma does not depend on the edge. It is the start
  of every solve, and where its residual is already nil the solve is over.
* *elimination*: the GTH algorithm (Grassmann, Taksar, Heyman, 1985) on the dense chain. It
  subtracts nothing, so each probability is accurate to its own size. For small chains.
* *krylov*: GMRES on (I - P^T) x = 0 in the variables x / sqrt(current law), where a reversible
  walk is symmetric; restarted with the better law each time.

Components keep the mass they start with, their share of the total degree.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus.components import Components, components
from hyperclus.errors import ConvergenceError, InputError
from hyperclus.factors import Factors
from hyperclus.types import Floats, Integers

ELIMINATION_FIRST = 150  # states up to which elimination beats GMRES (benchmarks/RESULTS.md)
ELIMINATION_LAST = 3000  # states up to which elimination is tried when GMRES has failed
RESTART = 30
MAX_CYCLES = 60
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
        "closed form", "elimination" or "krylov".
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
        masses = np.bincount(np.maximum(self.component, 0), weights=law, minlength=len(self.shares))
        return law * (self.shares / masses)[self.component]


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
    found = components(factors.hypergraph)
    shares = found.masses(factors.degrees) / factors.degrees.sum()
    chain = _Chain(lambda law: factors.to_vertices(factors.to_edges(law)), found.of_vertex, shares)
    start = chain.normalised(_edge_independent_law(factors))
    after = chain.step(start)
    if _chi(after - start, start) <= 10 * tolerance:
        return _checked(factors, start, 0, "closed form", found)
    on_edges = factors.hypergraph.n_edges < factors.hypergraph.n_vertices
    if on_edges:
        chain = _Chain(lambda law: factors.to_edges(factors.to_vertices(law)), found.of_edge, shares)
        start = factors.to_edges(start)
    small = np.count_nonzero(chain.component >= 0)
    if small <= ELIMINATION_FIRST:
        law, steps, method = _eliminate(factors, on_edges, chain), 0, "elimination"
    else:
        method = "krylov"
        law, steps, residual = _krylov(chain, start, tolerance)
        if residual > ACCEPTED:
            if small > ELIMINATION_LAST:
                raise ConvergenceError(
                    f"the stationary law stalled at residual {residual:.1e} after {steps} steps; the walk mixes "
                    "too slowly. Remove hyperedges or weights that are negligible next to the others",
                    residual,
                )
            law, method = _eliminate(factors, on_edges, chain), "elimination"
    return _checked(factors, factors.to_vertices(law) if on_edges else law, steps, method, found)


def _edge_independent_law(factors: Factors) -> Floats:
    """d(v) times the mean of v's gammas, the exact law when gamma does not depend on the edge."""
    gamma = factors.hypergraph.gamma
    memberships = np.bincount(gamma.indices, minlength=gamma.shape[1])
    law = factors.degrees * (gamma.T @ np.ones(gamma.shape[0])) / memberships
    return np.asarray(law / law.max())


def _chi(residual: Floats, law: Floats) -> float:
    """sqrt(sum residual^2 / law) over the states that carry mass."""
    return float(np.linalg.norm(residual / np.sqrt(np.where(law > 0, law, 1.0))))


def _krylov(chain: _Chain, law: Floats, tolerance: float) -> tuple[Floats, int, float]:
    """GMRES cycles until the chi residual is below the tolerance or no longer falls."""
    from scipy.sparse.linalg import LinearOperator, gmres

    steps, best, best_residual, stalled = 0, law, np.inf, 0
    for _ in range(MAX_CYCLES):
        change = law - chain.step(law)
        residual = _chi(change, law)
        stalled = stalled + 1 if residual > 0.5 * best_residual else 0
        if residual < best_residual:
            best, best_residual = law, residual
        if best_residual <= tolerance or stalled == 3:
            break
        scale = np.sqrt(np.where(law > 0, law, 1.0))

        def apply(x: Floats, scale: Floats = scale) -> Floats:
            return x - chain.step(x * scale) / scale

        taken: list[Any] = []
        operator = LinearOperator((len(law),) * 2, matvec=apply, dtype=np.float64)
        correction, _ = gmres(
            operator,
            change / scale,
            rtol=0.0,
            atol=tolerance / 2,
            restart=RESTART,
            maxiter=1,
            callback=taken.append,
            callback_type="pr_norm",
        )
        steps += len(taken) + 2
        corrected = law - scale * correction
        law = chain.normalised(chain.step(np.where(corrected > 0, corrected, 1e-3 * law)))
    return best, steps, best_residual


def _eliminate(factors: Factors, on_edges: bool, chain: _Chain) -> Floats:
    """GTH elimination on the dense chain, one component after the other."""
    identity = np.eye(factors.hypergraph.n_edges if on_edges else factors.hypergraph.n_vertices)
    transitions = (
        factors.edge_means(factors.vertex_means(identity))
        if on_edges
        else factors.vertex_means(factors.edge_means(identity))
    )
    law = np.zeros(len(identity))
    for component in range(len(chain.shares)):
        states = np.flatnonzero(chain.component == component)
        law[states] = _gth(transitions[np.ix_(states, states)])
    return chain.normalised(law)


def _gth(transitions: Floats) -> Floats:
    """The law of one irreducible dense chain, up to scale; overwrites its argument."""
    n = len(transitions)
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


def _checked(factors: Factors, law: Floats, steps: int, method: str, found: Components) -> StationaryLaw:
    if not (np.isfinite(law).all() and law.min() > np.finfo(float).tiny):
        worst = factors.hypergraph.vertex_ids[int(np.argmin(law))]
        raise InputError(
            f"the walk almost never visits vertex {worst!r} (probability below 1e-300): its weights are "
            "negligible in all its hyperedges; leave it out or raise its weights"
        )
    law = law / law.sum()
    edges = factors.to_edges(law)
    residual = float(np.abs(factors.to_vertices(edges) - law).sum())
    if residual > 10 * ACCEPTED:
        raise ConvergenceError(
            f"the stationary law has residual {residual:.1e}; it cannot be trusted", residual
        )
    return StationaryLaw(law, edges, residual, steps, method, found)
