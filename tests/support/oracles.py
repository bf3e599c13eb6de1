"""Every definition of the paper with plain loops: slow, short, and independent of the library.

The walk has the parameter alpha, which is 0 in the paper: a vertex picks its hyperedges in proportion
to omega(e) gamma_e(v)^alpha.

Only `Hypergraph` is read, through `h.gamma` and `h.edge_weights`. A transition matrix P and a distribution
phi are lists or arrays; sets of vertices are Python sets. Arithmetic on P and phi is exact
(`fractions.Fraction`) up to the point where floats are handed out, so that an oracle has no
rounding errors of its own, however small phi becomes.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import sqrt

import numpy as np

from hyperclus import Hypergraph

# ---- Definitions 4 and 5: the hypergraph ---------------------------------------------------------


def members(h: Hypergraph) -> list[dict[int, Fraction]]:
    """For each hyperedge e the map v -> gamma_e(v)."""
    dense = h.gamma.toarray()
    return [
        {v: Fraction(dense[e, v]) for v in range(h.n_vertices) if dense[e, v] > 0} for e in range(h.n_edges)
    ]


def source_weights(h: Hypergraph, alpha: float = 0.0) -> list[dict[int, Fraction]]:
    """For each hyperedge e the map v -> omega(e) gamma_e(v)^alpha, each power rounded once."""
    return [
        {v: Fraction(h.edge_weights[e]) * Fraction(float(gamma) ** alpha) for v, gamma in inside.items()}
        for e, inside in enumerate(members(h))
    ]


def degree(h: Hypergraph, v: int, alpha: float = 0.0) -> Fraction:
    """d(v) = sum of omega(e) gamma_e(v)^alpha over the hyperedges that contain v."""
    return sum((picked[v] for picked in source_weights(h, alpha) if v in picked), Fraction(0))


def factor_matrices(h: Hypergraph, alpha: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A(v, e) = omega(e) gamma_e(v)^alpha / d(v) and B(e, v) = gamma_e(v) / delta(e)."""
    picked, degrees = source_weights(h, alpha), [degree(h, v, alpha) for v in range(h.n_vertices)]
    a = np.zeros((h.n_vertices, h.n_edges))
    b = np.zeros((h.n_edges, h.n_vertices))
    for e, inside in enumerate(members(h)):
        for v, gamma in inside.items():
            a[v, e] = picked[e][v] / degrees[v]
            b[e, v] = gamma / sum(inside.values())
    return a, b


# ---- Definition 6: the walk ----------------------------------------------------------------------


def exact_transition(h: Hypergraph, alpha: float = 0.0) -> list[list[Fraction]]:
    """P(u, v) = sum over e containing u of omega(e) gamma_e(u)^alpha / d(u) gamma_e(v) / delta(e)."""
    n, edges, picked = h.n_vertices, members(h), source_weights(h, alpha)
    matrix = [[Fraction(0)] * n for _ in range(n)]
    for u in range(n):
        d = degree(h, u, alpha)
        for e, inside in enumerate(edges):
            if u in inside:
                delta = sum(inside.values())
                for v, gamma in inside.items():
                    matrix[u][v] += picked[e][u] / d * gamma / delta
    return matrix


def transition(h: Hypergraph, alpha: float = 0.0) -> np.ndarray:
    """P in floats, each entry rounded once."""
    return np.array([[float(entry) for entry in row] for row in exact_transition(h, alpha)])


def components(h: Hypergraph) -> list[list[int]]:
    """Vertices joined by hyperpaths, by repeated merging."""
    found: list[set[int]] = [{v} for v in range(h.n_vertices)]
    for inside in members(h):
        touched = [part for part in found if part & inside.keys()]
        if touched:
            found = [part for part in found if part not in touched] + [set().union(*touched)]
    return sorted(sorted(part) for part in found)


def reachable(p: np.ndarray, start: int) -> set[int]:
    """The vertices that a walk from `start` can reach."""
    seen, waiting = {start}, [start]
    while waiting:
        u = waiting.pop()
        for v in range(len(p)):
            if p[u][v] > 0 and v not in seen:
                seen.add(v)
                waiting.append(v)
    return seen


# ---- Definition 7: the stationary distribution ------------------------------------------------------------


def stationary(h: Hypergraph, alpha: float = 0.0) -> np.ndarray:
    """phi = phi P, per component by an exact direct solve, scaled by its share of the total degree d."""
    p = exact_transition(h, alpha)
    degrees = [degree(h, v, alpha) for v in range(h.n_vertices)]
    phi = np.zeros(h.n_vertices)
    for part in components(h):
        share = sum(degrees[v] for v in part) / sum(degrees)
        distribution = _solve_exactly([[p[u][v] for v in part] for u in part])
        for v, mass in zip(part, distribution, strict=True):
            phi[v] = float(share * mass)
    return phi


def _solve_exactly(p: list[list[Fraction]]) -> list[Fraction]:
    """phi (P - I) = 0 with sum(phi) = 1: Gaussian elimination on the transpose, last row all ones."""
    n = len(p)
    rows = [[p[u][v] - (u == v) for u in range(n)] + [Fraction(0)] for v in range(n - 1)]
    rows.append([Fraction(1)] * (n + 1))
    for column in range(n):
        pivot = next(r for r in range(column, n) if rows[r][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [entry / rows[column][column] for entry in rows[column]]
        for r in range(n):
            if r != column and rows[r][column] != 0:
                factor = rows[r][column]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[column], strict=True)]
    return [row[n] for row in rows]


def stationary_by_censoring(h: Hypergraph, precision: type = np.longdouble, alpha: float = 0.0) -> np.ndarray:
    """phi of a large connected hypergraph, each entry accurate to its own size.

    States are taken out of the chain one by one, the walk watched only while in the others,
    without a subtraction (Grassmann, Taksar and Heyman, 1985): an LU solve loses as many digits as
    the coupling of nearly separate blocks is small. On the smaller side: psi of the chain B A, then
    phi = psi B; or phi of the chain A B. About n units in the last place of the precision are lost;
    np.float64 is ten times as fast.
    """
    gamma = h.gamma.toarray().astype(precision)
    picked = (gamma > 0) * gamma**alpha * h.edge_weights.astype(precision)[:, None]
    a = (picked / picked.sum(axis=0)).T
    b = gamma / gamma.sum(axis=1)[:, None]
    on_edges = h.n_edges < h.n_vertices
    chain = b @ a if on_edges else a @ b
    for last in range(len(chain) - 1, 0, -1):
        chain[:last, last] /= chain[last, :last].sum()
        chain[:last, :last] += chain[:last, last][:, None] * chain[last, :last]
    distribution = np.ones(len(chain), dtype=precision)
    for state in range(1, len(chain)):
        distribution[state] = (distribution[:state] * chain[:state, state]).sum()
    phi = distribution @ b if on_edges else distribution
    return (phi / phi.sum()).astype(float)


# ---- Definitions 9, 15, 18: Laplacians and the Rayleigh quotient ---------------------------------


def laplacian(p: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """L = Pi - (Pi P + P' Pi) / 2."""
    n = len(phi)
    matrix = np.zeros((n, n))
    for u in range(n):
        for v in range(n):
            matrix[u, v] = (phi[u] if u == v else 0.0) - (phi[u] * p[u][v] + phi[v] * p[v][u]) / 2
    return matrix


def normalized_laplacian(p: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """L_sym = I - (Pi^1/2 P Pi^-1/2 + Pi^-1/2 P' Pi^1/2) / 2."""
    n = len(phi)
    matrix = np.zeros((n, n))
    for u in range(n):
        for v in range(n):
            there = sqrt(phi[u]) * p[u][v] / sqrt(phi[v])
            back = sqrt(phi[v]) * p[v][u] / sqrt(phi[u])
            matrix[u, v] = (u == v) - (there + back) / 2
    return matrix


def rayleigh(p: np.ndarray, phi: np.ndarray, x: np.ndarray) -> float:
    """R(x) = sum_uv |x(u) - x(v)|^2 phi(u) P(u, v) / sum_u x(u)^2 phi(u)."""
    above = sum((x[u] - x[v]) ** 2 * phi[u] * p[u][v] for u in range(len(phi)) for v in range(len(phi)))
    return above / sum(x[u] ** 2 * phi[u] for u in range(len(phi)))


# ---- Definitions 13, 14, 17, 19: volume, boundary, NCut, conductance -----------------------------


def volume(phi: np.ndarray, inside: set[int]) -> float:
    """vol(S) = sum of phi over S."""
    return sum(float(phi[u]) for u in inside)


def flow_out(p: np.ndarray, phi: np.ndarray, inside: set[int]) -> float:
    """|boundary S| = sum over u in S, v not in S of phi(u) P(u, v)."""
    return sum(phi[u] * p[u][v] for u in inside for v in range(len(phi)) if v not in inside)


def flow_in(p: np.ndarray, phi: np.ndarray, inside: set[int]) -> float:
    """The same boundary from the other side: u not in S, v in S."""
    return sum(phi[u] * p[u][v] for u in range(len(phi)) if u not in inside for v in inside)


def ncut_two_way(p: np.ndarray, phi: np.ndarray, inside: set[int]) -> float:
    """NCut(S, S') = (1/vol(S) + 1/vol(S')) |boundary S|."""
    rest = set(range(len(phi))) - inside
    return (1 / volume(phi, inside) + 1 / volume(phi, rest)) * flow_out(p, phi, inside)


def information(p, phi, parts):
    """I = sum_ij F_ij ln(F_ij / (v_i v_j)), by loops over all pairs of vertices."""
    total = 0.0
    volumes = [sum(phi[v] for v in part) for part in parts]
    for one, volume in zip(parts, volumes, strict=True):
        for other, there in zip(parts, volumes, strict=True):
            flow = sum(phi[u] * p[u, v] for u in one for v in other)
            if flow > 0:
                total += flow * np.log(flow / (volume * there))
    return total


def ncut(p: np.ndarray, phi: np.ndarray, parts: list[set[int]]) -> float:
    """NCut(S_1, ..., S_k) = sum_i |boundary S_i| / vol(S_i)."""
    return sum(flow_out(p, phi, part) / volume(phi, part) for part in parts)


def conductance(p: np.ndarray, phi: np.ndarray, inside: set[int]) -> float:
    """Phi(S) = |boundary S| / min(vol(S), vol(S'))."""
    rest = set(range(len(phi))) - inside
    return flow_out(p, phi, inside) / min(volume(phi, inside), volume(phi, rest))


def indicator(phi: np.ndarray, inside: set[int]) -> np.ndarray:
    """The x of Theorem 1: sqrt(vol(S')/vol(S)) on S, -sqrt(vol(S)/vol(S')) elsewhere."""
    here, there = volume(phi, inside), volume(phi, set(range(len(phi))) - inside)
    return np.array([sqrt(there / here) if u in inside else -sqrt(here / there) for u in range(len(phi))])


# ---- enumeration -----------------------------------------------------------------------------------


def prefixes(order: list[int]) -> list[set[int]]:
    """The n - 1 cuts of a sweep: the first vertex, the first two, ..."""
    return [set(order[: i + 1]) for i in range(len(order) - 1)]


def all_cuts(n: int) -> Iterator[set[int]]:
    """Every split of 0 .. n-1 in two non-empty sides, once: the side with vertex 0."""
    for size in range(n - 1):
        for others in combinations(range(1, n), size):
            yield {0, *others}


def set_partitions(n: int, k: int) -> Iterator[list[set[int]]]:
    """Every partition of 0 .. n-1 into k non-empty parts, once."""

    def place(v: int, parts: list[list[int]]) -> Iterator[list[set[int]]]:
        if v == n:
            if len(parts) == k:
                yield [set(part) for part in parts]
            return
        for part in parts:
            part.append(v)
            yield from place(v + 1, parts)
            part.pop()
        if len(parts) < k:
            yield from place(v + 1, [*parts, [v]])

    return place(0, [])


def min_conductance(p: np.ndarray, phi: np.ndarray) -> float:
    """Phi(H): the smallest conductance of all cuts."""
    return min(conductance(p, phi, inside) for inside in all_cuts(len(phi)))


def min_ncut(p: np.ndarray, phi: np.ndarray, k: int = 2) -> float:
    """The smallest NCut of all partitions into k parts."""

    @cache
    def term(part: frozenset[int]) -> float:
        return flow_out(p, phi, set(part)) / volume(phi, set(part))

    return min(sum(term(frozenset(part)) for part in parts) for parts in set_partitions(len(phi), k))
