"""What one leaf of a proof speaks of: vertices or groups of them, their q, flows and combined multipliers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.typing import Floats, Integers
from hyperclus.verification.certificate import Leaf
from hyperclus.verification.walk import Ball, Balls, Walk, flint


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The vertices, or groups, g of a leaf, with q(g)^2 = sum of phi over g, of norm 1.

    M(g, h) is the symmetric part of sum_e out_e(g) back_e(h), with out_e(g) = sum over u in g of
    phi(u) A(u, e) / q(g), and back_e(h) = sum over v in h of B(e, v) / q(h); L_sym = I - M.

    Attributes
    ----------
    root : list of balls
        q.
    edges, members : lists
        The hyperedge and the item of each (contracted) incidence.
    out, back : lists of balls
        out_e(g) and back_e(g) of each.
    n_edges : int
    """

    root: Balls
    edges: list[int]
    members: list[int]
    out: Balls
    back: Balls
    n_edges: int

    @classmethod
    def of(cls, walk: Walk, phi: Balls, groups: Integers) -> "Items":
        """The items of a leaf; without groups each vertex is one."""
        arb = flint().arb
        group = groups.tolist() if len(groups) else list(range(walk.n))
        masses = [arb(0)] * (max(group) + 1)
        for g, mass in zip(group, phi, strict=True):
            masses[g] += mass
        total = sum(masses, arb(0))
        root = [(mass / total).sqrt() for mass in masses]
        sums: dict[tuple[int, int], tuple[Ball, Ball]] = {}
        zero = (arb(0), arb(0))
        for e, v, leave, arrive in zip(walk.edges, walk.vertices, walk.leave, walk.arrive, strict=True):
            key = (e, group[v])
            out, back = sums.get(key, zero)
            sums[key] = (out + phi[v] / total * leave, back + arrive)
        members = [g for _, g in sums]
        out = [one / root[g] for g, (one, _) in zip(members, sums.values(), strict=True)]
        back = [one / root[g] for g, (_, one) in zip(members, sums.values(), strict=True)]
        return cls(root, [e for e, _ in sums], members, out, back, walk.n_edges)

    @property
    def size(self) -> int:
        """The number of items."""
        return len(self.root)

    def dense(self) -> list[Balls]:
        """X = sum_e out_e back_e' as rows; M is its symmetric part."""
        matrix = flint().arb_mat
        left, right = matrix(self.size, self.n_edges), matrix(self.n_edges, self.size)
        for e, g, out, back in zip(self.edges, self.members, self.out, self.back, strict=True):
            left[g, e], right[e, g] = out, back
        rows: list[Balls] = (left * right).tolist()
        return rows

    def rounded(self) -> tuple[Any, Any]:
        """Return out and back as sparse arrays (items, hyperedges), each entry right to 2^-52 of itself."""
        places, shape = (self.members, self.edges), (self.size, self.n_edges)
        values = ([float(one.mid()) for one in part] for part in (self.out, self.back))
        out, back = (sp.csr_array((part, places), shape=shape) for part in values)
        return out, back


@dataclass(frozen=True, slots=True, eq=False)
class TypeTerms:
    """All multipliers of types as a coefficient of each S(a, b), symmetric, and one of each D(a).

    S(a, b) is the sum of q(u) q(v) Z(u, v) over u in a and v in b, D(a) that of Z(u, u) over u in a.
    """

    pairs: list[Balls]
    diagonal: Balls
    volumes: Balls

    @classmethod
    def of(cls, leaf: Leaf, root: Balls) -> "TypeTerms":
        """Add up type_values and type_triples, with the signs that they have in G."""
        arb = flint().arb
        r = int(leaf.types.max()) + 1 if len(leaf.types) else 0
        volumes, pairs = [arb(0)] * r, [[arb(0)] * r for _ in range(r)]
        diagonal = [arb(0)] * r
        for a, q in zip(leaf.types.tolist(), root, strict=False):
            volumes[a] += q * q

        def add(a: int, b: int, value: Ball) -> None:
            pairs[a][b] += value / 2
            pairs[b][a] += value / 2

        for a, b in np.argwhere(leaf.type_values).tolist():
            add(a, b, -arb(float(leaf.type_values[a, b])))
        for (a, b, c), number in zip(
            leaf.type_triples.tolist(), leaf.type_triple_values.tolist(), strict=True
        ):
            value = arb(number)
            add(a, b, value * volumes[c])
            add(a, c, value * volumes[b])
            add(b, c, -value * volumes[a])
            diagonal[a] -= value * volumes[b] * volumes[c]
        return cls(pairs, diagonal, volumes)


def triangle(root: Balls, u: int, v: int, w: int) -> tuple[tuple[int, int, Ball], ...]:
    """Places and coefficients of a triangle inequality, the largest of which has magnitude 1.

    q(u) q(w) Z(u, v) + q(u) q(v) Z(u, w) - q(v) q(w) Z(u, u) - q(u)^2 Z(v, w) <= 0.
    """
    q_u, q_v, q_w = root[u], root[v], root[w]
    entries = (q_u * q_w, q_u * q_v, q_v * q_w, q_u * q_u)
    scale = entries[0].max(entries[1]).max(entries[2]).max(entries[3])
    one, two, three, four = (entry / scale for entry in entries)
    return (u, v, one), (u, w, two), (u, u, -three), (v, w, -four)


def trivial_part(leaf: Leaf, root: Balls, terms: TypeTerms) -> Ball:
    """Return q' G q: L_sym and triangles give 0; pairs, apart and type_values are left."""
    arb = flint().arb
    total = arb(0)
    for rows, values in ((leaf.pairs, leaf.pair_values), (leaf.apart, leaf.apart_values)):
        for (u, v), value in zip(rows.tolist(), values.tolist(), strict=True):
            total -= arb(value) * root[u] * root[v]
    for a, b in np.argwhere(leaf.type_values).tolist():
        total -= arb(float(leaf.type_values[a, b])) * terms.volumes[a] * terms.volumes[b]
    return total


def correction(vectors: Floats) -> Ball:
    """Return trace(V V')."""
    arb = flint().arb
    total = arb(0)
    for one in vectors.ravel().tolist():
        value = arb(one)
        total += value * value
    return total
