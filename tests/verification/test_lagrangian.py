"""The matrices of the checker beside definitions by loops, exact eigenvalues, and every partition."""

import flint
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperclus.verification import exact, rounded, small_side
from hyperclus.verification.items import Items, TypeTerms, correction, trivial_part
from hyperclus.verification.leaves import covers_everything
from hyperclus.verification.walk import Walk
from support import oracles
from support.certificates import leaf, random_leaf
from support.strategies import alphas, hypergraphs, random_hypergraph

examples = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 2**32 - 1)


def parts_of(h, alpha, one):
    walk = Walk.of(h, alpha)
    phi = oracles.stationary(h, alpha)
    items = Items.of(walk, [flint.arb(float(mass)) for mass in phi], one.groups)
    return phi, items, TypeTerms.of(one, items.root)


def g_matrix(items, one, terms):
    """G in doubles."""
    rows = exact.lagrangian(items, one, terms)
    matrix = np.array([[float(entry.mid()) for entry in row] for row in rows])
    return matrix + one.shift * np.eye(len(matrix)) - one.vectors @ one.vectors.T


def all_partitions(n):
    for k in range(1, n + 1):
        for parts in oracles.set_partitions(n, k):
            yield np.array([next(c for c, part in enumerate(parts) if v in part) for v in range(n)])


def projector(mass, labels):
    """Z of a partition."""
    same = labels[:, None] == labels
    volumes = np.bincount(labels, weights=mass)[labels]
    return same * np.sqrt(np.outer(mass, mass)) / volumes[:, None]


@examples
@given(hypergraphs(min_n=3, max_n=6), alphas, seeds)
def test_no_partition_has_a_larger_value_than_its_ncut(h, alpha, seed):
    one = random_leaf(h.n_vertices, np.random.default_rng(seed))
    phi, items, terms = parts_of(h, alpha, one)
    phi = phi / phi.sum()
    p, matrix = oracles.transition(h, alpha), g_matrix(items, one, terms)
    for labels in all_partitions(h.n_vertices):
        ncut = oracles.ncut(p, phi, [set(np.flatnonzero(labels == c)) for c in range(labels.max() + 1)])
        assert np.vdot(matrix, projector(phi, labels)) <= ncut + 1e-9
    root = np.sqrt(phi)
    assert float(trivial_part(one, items.root, terms).mid()) == pytest.approx(root @ matrix @ root, abs=1e-9)
    assert float(correction(one.vectors).mid()) == pytest.approx(np.square(one.vectors).sum())


@examples
@given(hypergraphs(min_n=4, max_n=6), seeds)
def test_the_same_with_a_group_and_a_pair_that_is_apart(h, seed):
    n, rng = h.n_vertices, np.random.default_rng(seed)
    one = random_leaf(n - 1, rng)
    parts = {name: getattr(one, name) for name in one.arrays if name not in ("path", "groups")}
    parts |= {"apart": np.array([[0, 1]]), "apart_values": rng.normal(size=1)}
    groups = np.r_[0, 0, 1 : n - 1]
    one = leaf(n - 1, **parts | {"groups": groups, "shift": one.shift})
    phi, items, terms = parts_of(h, 0.0, one)
    phi = phi / phi.sum()
    p, matrix = oracles.transition(h), g_matrix(items, one, terms)
    for labels in all_partitions(n):
        if labels[0] != labels[1] or labels[1] == labels[2]:
            continue
        ncut = oracles.ncut(p, phi, [set(np.flatnonzero(labels == c)) for c in range(labels.max() + 1)])
        z = projector(np.bincount(groups, weights=phi), labels[1:])
        assert np.vdot(matrix, z) <= ncut + 1e-9


def restricted(items, one, terms):
    """The smallest eigenvalue of G - s I + V V' on the complement of q."""
    matrix = g_matrix(items, one, terms) - one.shift * np.eye(items.size) + one.vectors @ one.vectors.T
    root = np.array([float(q.mid()) for q in items.root])
    basis = np.linalg.svd(root[None])[2][1:]
    return np.linalg.eigvalsh(basis @ matrix @ basis.T)[0]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("above", [1e-7, -1e-7])
def test_positive_where_the_smallest_eigenvalue_is(seed, above):
    """Shifted to just above or below 0: all methods say the same."""
    rng = np.random.default_rng(seed)
    h = random_hypergraph(30, 6, 8, seed)
    sparse = bool(seed % 2)
    one = random_leaf(30, rng, sparse=sparse)
    parts = {name: getattr(one, name) for name in one.arrays}
    parts["type_triple_values"] = one.type_triple_values / 10
    one = leaf(30, **parts)
    _, items, terms = parts_of(h, 0.5, one)
    lowest = restricted(items, one, terms)
    one = leaf(30, **parts, shift=lowest - above)
    assert exact.is_positive(items, one, terms) == (above > 0)
    found = rounded.smallest_eigenvalue(items, one, terms)
    assert -1e-9 < found <= 0 if above > 0 else found == -np.inf
    if not sparse:
        assert small_side.applies(one)
        found = small_side.smallest_eigenvalue(items, one, terms)
        assert found <= above
        if above > 0 and 1 - one.shift > 0.1:
            assert found > -1e-6


@pytest.mark.parametrize("seed", range(10))
def test_the_rounded_matrix_is_as_near_as_it_says(seed):
    rng = np.random.default_rng(seed)
    h, one = random_hypergraph(25, 20, 5, seed), random_leaf(25, rng)
    _, items, terms = parts_of(h, 0.0, one)
    found = rounded.rounded_lagrangian(items, one, terms)
    root = np.array([float(q.mid()) for q in items.root])
    basis = np.linalg.svd(root[None])[2][1:]
    rows = exact.lagrangian(items, one, terms)
    wanted = np.array([[float(entry.mid()) for entry in row] for row in rows])
    change = basis @ (found.matrix - wanted) @ basis.T
    assert np.linalg.norm(change, 2) <= found.error + 1e-14
    assert found.error < 1e-11


@pytest.mark.parametrize(
    ("paths", "covered"),
    [
        ([[]], True),
        ([], False),
        ([[(0, 1, 1)], [(0, 1, 0)]], True),
        ([[(0, 1, 1)], [(1, 0, 0)]], True),
        ([[(0, 1, 1)], [(0, 2, 0)]], False),
        ([[(0, 1, 1)], [(0, 1, 1)]], False),
        ([[(0, 1, 1)], [(0, 1, 0), (2, 3, 0)], [(0, 1, 0), (2, 3, 1)]], True),
        ([[(0, 1, 1)], [(0, 1, 0), (2, 3, 0)], [(0, 1, 0), (2, 4, 1)]], False),
        ([[(0, 1, 0)], [(0, 1, 1)], [(4, 5, 1)]], False),
        ([[], [(0, 1, 0)]], True),
    ],
)
def test_complete_trees(paths, covered):
    assert covers_everything([np.array(path, dtype=np.int64).reshape(-1, 3) for path in paths]) == covered


@pytest.mark.parametrize("entry", [1e-13, -1e-13, 0.0, -1.0])
def test_cholesky_in_balls_proves_only_what_is_positive(entry):
    rows = [[flint.arb(1)], [flint.arb(1), 1 + flint.arb(entry)]]
    assert exact.cholesky(rows) == (entry > 0)


def test_a_product_in_blocks_counts_its_roundings():
    columns = sp.random_array((50, 6), density=0.3, random_state=0, format="csr")
    expected = columns.toarray().T @ columns.toarray()
    for rows, roundings in ((7, 15), (25, 27), (50, 51), (1000, 51)):
        found, count = small_side.gram_in_blocks(columns, rows)
        assert found == pytest.approx(expected, abs=1e-14)
        assert count == roundings
