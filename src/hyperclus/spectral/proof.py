"""The numbers that prove a lower bound on NCut, as the solver writes them and a checker reads them.

Notation, as in `sdp_bound`: q = sqrt(phi) with norm 1, Z the matrix of a partition, W(u, v) =
Z(u, v) / (q(u) q(v)), which is 1 / vol(S) for u and v in the same cluster S and 0 otherwise. For types
a and b (sets of vertices), vol(a) is the sum of q(u)^2 over u in a,

    S(a, b) = sum of q(u) q(v) Z(u, v) over u in a and v in b,    D(a) = sum of Z(u, u) over u in a.

Every partition satisfies the four families of inequalities that `Proof` names: the first two by `sdp_bound`,
the other two are sums of them, weighted by phi. G is L_sym plus all
multiples, each with the sign that makes <G, Z> <= <L_sym, Z> = NCut; a coefficient of Z(u, v) is
split into halves at (u, v) and (v, u). With any s and any V such that

    G - s I + V V' is positive semidefinite on the complement of q

there follows NCut >= q' G q + (k - 1) s - trace(V V') for each partition into k clusters, because
Z - q q' is a projector of rank k - 1 on that complement, and <V V', Z> <= trace(V V').
"""

from dataclasses import dataclass, field

import numpy as np

from hyperclus.typing import Floats, Integers


def _no_pairs() -> Integers:
    return np.zeros((0, 2), dtype=np.int64)


def _no_triples() -> Integers:
    return np.zeros((0, 3), dtype=np.int64)


def _no_types() -> Integers:
    return np.zeros(0, dtype=np.int64)


def _no_values() -> Floats:
    return np.zeros(0)


def _no_table() -> Floats:
    return np.zeros((0, 0))


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """Multipliers, shift and correction: together they prove NCut >= q' G q + (k - 1) s - trace(V V').

    In a case of a branch and bound (see `Case`), `groups` contracts the vertices first: q(g) is the root of
    the sum of q(u)^2 over u in g, L_sym(g, h) that of q(u) L_sym(u, v) q(v) over u in g and v in h, divided
    by q(g) q(h), and all that follows speaks of groups where it says vertices.

    Attributes
    ----------
    k : int
        Number of clusters.
    shift : float
        s.
    vectors : array of shape (n, j)
        V.
    pairs, pair_values : arrays of shape (p, 2) and (p,)
        Rows u < v and values >= 0: value * Z(u, v) >= 0.
    triples, triple_values : arrays of shape (t, 3) and (t,)
        Rows u, v, w, all different, and values >= 0: value * [q(u) q(w) Z(u, v) + q(u) q(v) Z(u, w)
        - q(v) q(w) Z(u, u) - q(u)^2 Z(v, w)] / c <= 0, where c is the largest of the four coefficients in
        absolute value.
    types : array of shape (n,) or (0,)
        The type of each vertex, 0 .. r - 1; empty if there are none.
    type_values : array of shape (r, r)
        Symmetric, values >= 0: value(a, b) * S(a, b) >= 0 for each ordered pair (a, b).
    type_triples, type_triple_values : arrays of shape (t, 3) and (t,)
        Rows a, b, c of types, not necessarily different, and values >= 0:
        value * [vol(c) S(a, b) + vol(b) S(a, c) - vol(b) vol(c) D(a) - vol(a) S(b, c)] <= 0.
    groups : array of shape (n,) or (0,)
        The group of each vertex, 0 .. g - 1; empty if each vertex is its own.
    apart, apart_values : arrays of shape (a, 2) and (a,)
        Rows u < v that are in different clusters, and values of any sign: value * Z(u, v) = 0, subtracted
        from L_sym like the pairs.
    """

    k: int
    shift: float
    vectors: Floats
    pairs: Integers = field(default_factory=_no_pairs)
    pair_values: Floats = field(default_factory=_no_values)
    triples: Integers = field(default_factory=_no_triples)
    triple_values: Floats = field(default_factory=_no_values)
    types: Integers = field(default_factory=_no_types)
    type_values: Floats = field(default_factory=_no_table)
    type_triples: Integers = field(default_factory=_no_triples)
    type_triple_values: Floats = field(default_factory=_no_values)
    groups: Integers = field(default_factory=_no_types)
    apart: Integers = field(default_factory=_no_pairs)
    apart_values: Floats = field(default_factory=_no_values)


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One leaf of a branch and bound: what is assumed of some pairs, and the proof under that assumption.

    The leaves of a complete tree cover every partition: either there is one leaf with an empty path, or all
    paths begin with the same pair u, v, and the leaves that take it as together, and those that take it as
    apart, each form a complete tree after that row is removed. The bound is the smallest of all leaves. The
    `groups` of the proof are the connected components of the pairs taken as together, and `apart` may
    name only groups that a pair taken as apart joins.

    Attributes
    ----------
    path : array of shape (d, 3)
        Rows u, v, 1 if u and v share a cluster or 0 if not; vertices, not groups, from the root to the leaf.
    proof : Proof
        Its bound holds for every partition in which the path is true.
    """

    path: Integers
    proof: Proof
