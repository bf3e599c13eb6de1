"""Positive semidefiniteness in ball arithmetic, for up to some hundred items."""

from hyperclus.verification.certificate import Leaf
from hyperclus.verification.items import Items, TypeTerms, triangle
from hyperclus.verification.walk import Balls, flint


def is_positive(items: Items, leaf: Leaf, terms: TypeTerms) -> bool:
    """Whether G - s I + V V' is proven positive definite on the complement of q.

    With C = G - s I + V V', the matrix C + q a' + a q' is C on that complement, whatever a is; with
    a = (1 + q'Cq) q / 2 - C q it is C restricted to the complement, and 1 on q. Cholesky's method proves it.
    """
    matrix = lagrangian(items, leaf, terms)
    root = items.root
    images = [sum((one * q for one, q in zip(row, root, strict=True)), flint().arb(0)) for row in matrix]
    along = sum((one * q for one, q in zip(images, root, strict=True)), flint().arb(0))
    added = [(1 + along) / 2 * q - one for q, one in zip(root, images, strict=True)]
    lower = [
        [matrix[i][j] + root[i] * added[j] + added[i] * root[j] for j in range(i + 1)]
        for i in range(items.size)
    ]
    return cholesky(lower)


def lagrangian(items: Items, leaf: Leaf, terms: TypeTerms) -> list[Balls]:
    """G - s I + V V' as rows of balls."""
    arb, size = flint().arb, items.size
    flows = items.dense()
    vectors = [[arb(one) for one in row] for row in leaf.vectors.tolist()]
    width = leaf.vectors.shape[1]
    outer = flint().arb_mat(size, width, [one for row in vectors for one in row])
    squared = (outer * outer.transpose()).tolist() if width else [[arb(0)] * size] * size
    rows = [[squared[i][j] - (flows[i][j] + flows[j][i]) / 2 for j in range(size)] for i in range(size)]
    for i in range(size):
        rows[i][i] += 1 - arb(leaf.shift)

    def add(i: int, j: int, value: object) -> None:
        rows[i][j] += value / 2  # type: ignore[operator]
        rows[j][i] += value / 2  # type: ignore[operator]

    for pairs, values in ((leaf.pairs, leaf.pair_values), (leaf.apart, leaf.apart_values)):
        for (u, v), value in zip(pairs.tolist(), values.tolist(), strict=True):
            add(u, v, -arb(value))
    for (u, v, w), value in zip(leaf.triples.tolist(), leaf.triple_values.tolist(), strict=True):
        for i, j, entry in triangle(items.root, u, v, w):
            add(i, j, entry * arb(value))
    types = leaf.types.tolist()
    for i, a in enumerate(types):
        rows[i][i] += terms.diagonal[a]
        for j, b in enumerate(types):
            rows[i][j] += terms.pairs[a][b] * items.root[i] * items.root[j]
    return rows


def cholesky(rows: list[Balls]) -> bool:
    """Whether Cholesky's method, in balls, ends with positive pivots, for rows of the lower triangle."""
    factor: list[Balls] = []
    for row in rows:
        found: Balls = []
        for other in factor:
            value = row[len(found)]
            for one, two in zip(found, other, strict=False):
                value -= one * two
            found.append(value / other[-1])
        pivot = row[-1]
        for one in found:
            pivot -= one * one
        if not pivot > 0:
            return False
        factor.append([*found, pivot.sqrt()])
    return True
