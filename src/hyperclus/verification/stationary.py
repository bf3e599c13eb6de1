"""How far given probabilities are from the stationary distribution of the walk, proven.

If phi'(v) / phi(v) is between L and H for all v, then for every partition the NCut by phi' is between L / H
and H / L times the NCut by phi: the share of a cluster's walkers that leave it is a mean of the shares of its
vertices, weighted by phi.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hyperclus.typing import Booleans, Floats, Integers
from hyperclus.verification.walk import Balls, Walk, flint, highest, lowest

Source: TypeAlias = Literal["closed form", "elimination", "enclosure", "given"]

ELIMINATION_UP_TO = 300  # states; takes 2 seconds
DENSE_UP_TO = 8000  # states of a dense system


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What is proven of phi.

    Attributes
    ----------
    source : {"closed form", "elimination", "enclosure", "given"}
        How the exact distribution was enclosed; "given": it was not, and claims are about phi as it is.
    factor : float
        At least H / L, for the exact distribution and phi; 1 if phi is taken as it is.
    residual : float
        At least the sum over v of |(phi P)(v) - phi(v)|, divided by the sum of phi.
    """

    source: Source
    factor: float
    residual: float


def accuracy(
    walk: Walk, phi: Floats, elimination_up_to: int = ELIMINATION_UP_TO, dense_up_to: int = DENSE_UP_TO
) -> Accuracy:
    """Compare phi with the stationary distribution, in which a component has its share of the total degree.

    A closed form is used where gamma does not depend on the hyperedge or alpha is 1; elimination in ball
    arithmetic (Grassmann, Taksar and Heyman) for up to 300 vertices or hyperedges; an enclosure by an
    M-matrix for up to 8000.
    """
    arb = flint().arb
    given = [arb(one) for one in phi.tolist()]
    change = sum((abs(new - old) for new, old in zip(walk.step(given), given, strict=True)), arb(0))
    residual = highest(change / sum(given, arb(0)))
    count, component = _components(walk)
    source, exact = _exact(walk, given, component, (elimination_up_to, dense_up_to))
    if exact is None:
        return Accuracy("given", 1.0, residual)
    ratios = [one / old for one, old in zip(exact, given, strict=True)]
    masses, shares = [arb(0)] * count, [arb(0)] * count
    for c, mass, degree in zip(component.tolist(), given, walk.degrees, strict=True):
        masses[c] += mass
        shares[c] += degree
    low, high = arb("inf"), arb(0)
    for c in range(count):
        inside = [ratios[v] for v in np.flatnonzero(component == c).tolist()]
        least, most = min(one.lower() for one in inside), max(one.upper() for one in inside)
        scale = shares[c] / masses[c]
        low = min(low, (scale * least / most).lower())
        high = max(high, (scale * most / least).upper())
    factor = highest(arb(high) / arb(low)) if low > 0 else np.inf
    return Accuracy(source, factor, residual)


def _components(walk: Walk) -> tuple[int, Integers]:
    """The number of connected components, and the component of each vertex."""
    n, size = walk.n, walk.n + walk.n_edges
    places = (np.array(walk.vertices), n + np.array(walk.edges))
    count, found = connected_components(sp.coo_array((np.ones(len(places[0])), places), shape=(size, size)))
    return int(count), found[:n].astype(np.int64)


def _exact(
    walk: Walk, given: Balls, component: Integers, limits: tuple[int, int]
) -> tuple[Source, Balls | None]:
    """Balls with the exact probability of each vertex, up to a factor for each component."""
    closed = _closed_form(walk)
    if closed is not None:
        return "closed form", closed
    if min(walk.n, walk.n_edges) <= limits[0]:
        return "elimination", _eliminated(walk, component)
    if min(walk.n, walk.n_edges) <= limits[1]:
        return "enclosure", _enclosed(walk, given, component)
    return "given", None


def _closed_form(walk: Walk) -> Balls | None:
    """d(v) if alpha = 1, and d(v) gamma(v)^(1 - alpha) where gamma does not depend on the hyperedge."""
    if walk.alpha == 1:
        return walk.degrees
    vertices = np.array(walk.vertices)
    least, most = np.full(walk.n, np.inf), np.zeros(walk.n)
    np.minimum.at(least, vertices, walk.gamma)
    np.maximum.at(most, vertices, walk.gamma)
    if not np.array_equal(least, most):
        return None
    arb = flint().arb
    power = 1 - arb(walk.alpha)
    return [degree * arb(one) ** power for degree, one in zip(walk.degrees, most.tolist(), strict=True)]


def _eliminated(walk: Walk, component: Integers) -> Balls:
    """Eliminate states of the walk on the smaller side; nothing is subtracted, so all balls stay small."""
    arb = flint().arb
    on_edges = walk.n_edges < walk.n
    chain, of_state = _chain(walk, on_edges), _of_states(walk, component, on_edges)
    found = [arb(0)] * len(chain)
    for c in range(int(component.max()) + 1):
        states = np.flatnonzero(of_state == c).tolist()
        masses = _gth([[chain[i].get(j, arb(0)) for j in states] for i in states])
        for state, mass in zip(states, masses, strict=True):
            found[state] = mass
    return walk.to_vertices(found) if on_edges else found


def _of_states(walk: Walk, component: Integers, on_edges: bool) -> Integers:
    """The component of each vertex, or of each hyperedge."""
    if not on_edges:
        return component
    found = np.zeros(walk.n_edges, dtype=np.int64)
    found[np.array(walk.edges)] = component[np.array(walk.vertices)]
    return found


def _chain(walk: Walk, on_edges: bool) -> list[dict[int, Any]]:
    """The rows of P = A B, or of B A."""
    first, second = (walk.edges, walk.vertices) if on_edges else (walk.vertices, walk.edges)
    into, out = (walk.arrive, walk.leave) if on_edges else (walk.leave, walk.arrive)
    onward: list[list[tuple[int, Any]]] = [[] for _ in range(walk.n if on_edges else walk.n_edges)]
    for state, middle, share in zip(first, second, out, strict=True):
        onward[middle].append((state, share))
    rows: list[dict[int, Any]] = [{} for _ in range(walk.n_edges if on_edges else walk.n)]
    for state, middle, share in zip(first, second, into, strict=True):
        row = rows[state]
        for other, more in onward[middle]:
            row[other] = row.get(other, 0) + share * more
    return rows


def _gth(chain: list[Balls]) -> Balls:
    """The stationary distribution of an irreducible chain, up to a factor; overwrites its argument."""
    arb = flint().arb
    for last in range(len(chain) - 1, 0, -1):
        row = chain[last]
        total = sum(row[:last], arb(0))
        for state in range(last):
            rate = chain[state][last] / total
            chain[state][last] = rate
            if rate != 0:
                other = chain[state]
                for target in range(last):
                    other[target] += rate * row[target]
    masses = [arb(1)]
    for state in range(1, len(chain)):
        masses.append(sum((mass * chain[i][state] for i, mass in enumerate(masses)), arb(0)))
    return masses


def _enclosed(walk: Walk, given: Balls, component: Integers) -> Balls | None:
    """Enclose the exact distribution by an M-matrix, on the smaller side; here for the vertices.

    Let x = exact / phi, with x = 1 at the likeliest vertex of each component, Q(u, v) = phi(u) P(u, v) /
    phi(v) and r(v) = (phi P)(v) / phi(v) - 1. Then z = x - 1 solves z(v) - sum_u z(u) Q(u, v) = r(v) at all
    other vertices v. If some y > 0 has t(v) = y(v) - sum_u y(u) Q(u, v) > 0 there, this is a system with an
    M-matrix, whose inverse is not negative. So any z' that leaves the residual r' has
    |z(v) - z'(v)| <= y(v) max |r' / t|. Floating-point solutions for t = 1 and for z' are used; any others
    would be as valid.
    """
    arb, on_edges = flint().arb, walk.n_edges < walk.n
    masses = [one.mid() for one in walk.to_edges(given)] if on_edges else given
    rough = np.array([float(one) for one in masses])
    of_state = _of_states(walk, component, on_edges)

    def weighted_step(values: Balls) -> Balls:
        moved = [mass * value for mass, value in zip(masses, values, strict=True)]
        moved = walk.to_edges(walk.to_vertices(moved)) if on_edges else walk.step(moved)
        return [new / old for new, old in zip(moved, masses, strict=True)]

    fixed = np.zeros(len(rough), dtype=bool)
    order = np.lexsort((-rough, of_state))
    fixed[order[np.unique(of_state[order], return_index=True)[1]]] = True
    free = np.flatnonzero(~fixed).tolist()
    changes = [one - 1 for one in weighted_step([arb(1)] * len(rough))]
    sides = [np.ones(len(free)), np.array([float(changes[state].mid()) for state in free])]
    solved = _solved(walk, on_edges, rough, fixed, sides)
    if solved is None or not (solved[0][free] > 0).all():
        return None
    y, z = ([arb(one) for one in part.tolist()] for part in solved)
    after_y, after_z = weighted_step(y), weighted_step(z)
    worst = arb(0)
    for state in free:
        slack = y[state] - after_y[state]
        if not slack > 0:
            return None
        worst = max(worst, (abs(changes[state] - (z[state] - after_z[state])) / slack).upper())
    ratios = [1 + change + arb(0, (worst * time).upper()) for change, time in zip(z, y, strict=True)]
    exact = [mass * ratio for mass, ratio in zip(masses, ratios, strict=True)]
    return walk.to_vertices(exact) if on_edges else exact


def _solved(
    walk: Walk, on_edges: bool, masses: Floats, fixed: Booleans, sides: list[Floats]
) -> list[Floats] | None:
    """Floating-point solutions x of x(v) - sum_u x(u) Q(u, v) = side(v), 0 at fixed states."""
    size = (walk.n, walk.n_edges)
    leave = [float(one.mid()) for one in walk.leave]
    arrive = [float(one.mid()) for one in walk.arrive]
    away = sp.csr_array((leave, (walk.vertices, walk.edges)), shape=size)
    back = sp.csr_array((arrive, (walk.edges, walk.vertices)), shape=size[::-1])
    chain = back @ away if on_edges else away @ back
    flows = (sp.diags_array(masses) @ chain @ sp.diags_array(1 / masses)).toarray()
    system = (np.eye(len(masses)) - flows.T)[np.ix_(~fixed, ~fixed)]
    found = np.zeros((len(masses), len(sides)))
    try:
        found[~fixed] = np.linalg.solve(system, np.column_stack(sides))
    except np.linalg.LinAlgError:
        return None
    return [*found.T] if np.isfinite(found).all() else None


def transferred(value: Any, factor: float, *, up: bool) -> float:
    """A bound of a positive figure for the exact distribution, given a ball of it for phi."""
    scaled = value * flint().arb(factor) if up else value / flint().arb(factor)
    return highest(scaled) if up else lowest(scaled)
