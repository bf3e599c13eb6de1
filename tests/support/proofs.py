"""What a `Proof` proves, from its definition, by loops."""

import numpy as np

from hyperclus import NormalizedLaplacian


def contracted(walk, groups):
    """L_sym and q after the vertices of each group are contracted."""
    q = np.sqrt(walk.stationary)
    q /= np.linalg.norm(q)
    laplacian = NormalizedLaplacian(walk).dense()
    if len(groups) == 0:
        return laplacian.copy(), q
    count = groups.max() + 1
    root = np.sqrt([sum(q[groups == g] ** 2) for g in range(count)])
    small = np.zeros((count, count))
    for g in range(count):
        for h in range(count):
            inside = np.ix_(groups == g, groups == h)
            small[g, h] = q[groups == g] @ laplacian[inside] @ q[groups == h] / (root[g] * root[h])
    return small, root


def lagrangian(proof, walk):
    """G, and q."""
    g, q = contracted(walk, proof.groups)
    terms = [(u, v, -value) for (u, v), value in zip(proof.pairs, proof.pair_values, strict=True)]
    terms += [(u, v, -value) for (u, v), value in zip(proof.apart, proof.apart_values, strict=True)]
    for u, v, coefficient in [*terms, *of_triples(proof, q), *of_types(proof, q)]:
        g[u, v] += coefficient / 2
        g[v, u] += coefficient / 2
    return g, q


def of_triples(proof, q):
    """Entries u, v and coefficients of the triangles between vertices."""
    for (u, v, w), value in zip(proof.triples, proof.triple_values, strict=True):
        terms = [(u, v, q[u] * q[w]), (u, w, q[u] * q[v]), (u, u, -q[v] * q[w]), (v, w, -(q[u] ** 2))]
        largest = max(abs(term) for _, _, term in terms)
        yield from ((a, b, value * term / largest) for a, b, term in terms)


def of_types(proof, q):
    """Entries u, v and coefficients of the inequalities between types."""
    members = [np.flatnonzero(proof.types == a) for a in range(max(proof.types, default=-1) + 1)]
    volumes = [sum(q[part] ** 2) for part in members]

    def sums(a, b, value):
        return [(u, v, value * q[u] * q[v]) for u in members[a] for v in members[b]]

    for a in range(len(members)):
        for b in range(len(members)):
            yield from sums(a, b, -proof.type_values[a, b])
    for (a, b, c), value in zip(proof.type_triples, proof.type_triple_values, strict=True):
        yield from sums(a, b, value * volumes[c])
        yield from sums(a, c, value * volumes[b])
        yield from sums(b, c, -value * volumes[a])
        yield from ((u, u, -value * volumes[b] * volumes[c]) for u in members[a])


def proven_value(proof, walk):
    """The bound; the least eigenvalue that has to be at least 0 is checked, up to rounding."""
    signs = proof.pair_values, proof.triple_values, proof.type_values, proof.type_triple_values
    assert all((np.asarray(values) >= 0).all() for values in signs)
    g, q = lagrangian(proof, walk)
    outside = np.eye(len(q)) - np.outer(q, q)
    shifted = g - proof.shift * np.eye(len(q)) + proof.vectors @ proof.vectors.T
    assert np.linalg.eigvalsh(outside @ shifted @ outside + np.outer(q, q)).min() >= -1e-12
    return q @ g @ q + (proof.k - 1) * proof.shift - np.sum(proof.vectors**2)
