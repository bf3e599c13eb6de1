"""The walk from its definition, in ball arithmetic: A, B, one step, and the NCut of labels."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from hyperclus._runtime.optional import library
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Floats, Integers

Ball: TypeAlias = Any  # flint.arb, a midpoint with a radius that contains the exact value
Balls: TypeAlias = list[Any]


def flint() -> Any:
    """Import python-flint."""
    return library("flint", "python-flint", "verifying a certificate", "verify")


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """P = A B: A(v, e) = omega(e) gamma_e(v)^alpha / d(v) and B(e, v) = gamma_e(v) / delta(e), as balls.

    Attributes
    ----------
    edges, vertices : lists of length m
        The hyperedge and the vertex of each incidence.
    leave, arrive : lists of balls of length m
        A and B of each incidence.
    degrees : list of balls of length n
        d(v), the sum of omega(e) gamma_e(v)^alpha.
    gamma : array of length m
    alpha : float
    n_edges : int
    """

    edges: list[int]
    vertices: list[int]
    leave: Balls
    arrive: Balls
    degrees: Balls
    gamma: Floats
    alpha: float
    n_edges: int

    @property
    def n(self) -> int:
        """The number of vertices."""
        return len(self.degrees)

    @classmethod
    def of(cls, hypergraph: Hypergraph, alpha: float) -> "Walk":
        """The walk of a hypergraph without isolated vertices."""
        arb = flint().arb
        matrix = hypergraph.gamma.tocoo()
        edges, vertices, gamma = matrix.row.tolist(), matrix.col.tolist(), matrix.data
        omega = [arb(one) for one in hypergraph.edge_weights.tolist()]
        exact = [arb(one) for one in gamma.tolist()]
        power = arb(alpha)
        weights = exact if alpha == 1 else [arb(1)] * len(exact) if alpha == 0 else [g**power for g in exact]
        picked = [omega[e] * weight for e, weight in zip(edges, weights, strict=True)]
        degrees = _sums(vertices, picked, hypergraph.n_vertices)
        sizes = _sums(edges, exact, hypergraph.n_edges)
        leave = [weight / degrees[v] for v, weight in zip(vertices, picked, strict=True)]
        arrive = [weight / sizes[e] for e, weight in zip(edges, exact, strict=True)]
        return cls(edges, vertices, leave, arrive, degrees, gamma, alpha, hypergraph.n_edges)

    def to_edges(self, distribution: Balls) -> Balls:
        """Return p A: where a walker is after it has picked a hyperedge."""
        parts = [distribution[v] * share for v, share in zip(self.vertices, self.leave, strict=True)]
        return _sums(self.edges, parts, self.n_edges)

    def to_vertices(self, distribution: Balls) -> Balls:
        """Return p B: where a walker is after it has picked a member of its hyperedge."""
        parts = [distribution[e] * share for e, share in zip(self.edges, self.arrive, strict=True)]
        return _sums(self.vertices, parts, self.n)

    def step(self, distribution: Balls) -> Balls:
        """Return p P: where a walker is one step later."""
        return self.to_vertices(self.to_edges(distribution))

    def ncut(self, phi: Balls, labels: Integers) -> Ball:
        """The sum over the clusters S of flow(S, not S) / vol(S), with additions of positive numbers only."""
        arb = flint().arb
        cluster = labels.tolist()
        volumes = _sums(cluster, phi, max(cluster) + 1)
        leaving: list[dict[int, Ball]] = [{} for _ in range(self.n_edges)]
        arriving: list[dict[int, Ball]] = [{} for _ in range(self.n_edges)]
        for e, v, out, back in zip(self.edges, self.vertices, self.leave, self.arrive, strict=True):
            c = cluster[v]
            leaving[e][c] = leaving[e].get(c, 0) + phi[v] * out
            arriving[e][c] = arriving[e].get(c, 0) + back
        total = arb(0)
        for here, there in zip(leaving, arriving, strict=True):
            if len(here) == 1:
                continue
            before, after = arb(0), [arb(0)]
            for share in reversed(there.values()):
                after.append(after[-1] + share)
            for place, (c, share) in enumerate(there.items()):
                total += here[c] / volumes[c] * (before + after[len(there) - 1 - place])
                before += share
        return total


def _sums(places: list[int], values: Balls, length: int) -> Balls:
    """The sum of the values at each place."""
    found = [flint().arb(0)] * length
    for place, value in zip(places, values, strict=True):
        found[place] += value
    return found


def highest(ball: Ball) -> float:
    """A double that is not below any number in a ball."""
    return float(np.nextafter(float(ball.upper()), np.inf))


def lowest(ball: Ball) -> float:
    """A double that is not above any number in a ball."""
    return float(np.nextafter(float(ball.lower()), -np.inf))
