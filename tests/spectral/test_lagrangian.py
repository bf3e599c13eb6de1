"""Multipliers on vertex types: what they add to L_sym, and what that proves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus import NormalizedLaplacian, RandomWalk
from hyperclus.engines.arrays import NumpyBackend
from hyperclus.spectral import lagrangian as module
from hyperclus.spectral.lagrangian import Lagrangian, dense_laplacian, evaluated, proven
from hyperclus.spectral.multiplier_search import FIRST_TYPES, Search, proven_by
from hyperclus.spectral.relaxation import Multipliers, ascend, refined
from hyperclus.spectral.sdp_bound import tight_bound
from hyperclus.spectral.type_space import TypeSpace, split_types
from support import oracles
from support.proofs import lagrangian, proven_value
from support.strategies import hypergraphs, random_hypergraph

few = settings(deadline=None, max_examples=30)
small = hypergraphs(min_n=5, max_n=8)


def optimum(walk, k):
    return oracles.min_ncut(walk.dense(), walk.stationary, k)


def random_types(n, r, seed):
    """Types 0 .. r - 1, none empty."""
    rng = np.random.default_rng(seed)
    return rng.permutation(np.concatenate([np.arange(r), rng.integers(r, size=n - r)]))


def random_multipliers(r, seed, scale=0.3):
    rng = np.random.default_rng(seed)
    triples = np.array([rng.permutation(r)[:3] for _ in range(6)])
    return Multipliers(scale * rng.random(r * (r - 1) // 2), triples, scale * rng.random(6))


def space_of(walk, k, r, seed):
    n = walk.hypergraph.n_vertices
    return TypeSpace(walk, k, random_types(n, r, seed), np.zeros((n, 0)))


@few
@given(small, st.sampled_from([2, 3]), st.integers(3, 5), st.integers(0, 9))
def test_any_multipliers_on_types_prove_a_bound(h, k, r, seed):
    walk = RandomWalk(h)
    operator = Lagrangian(walk, space_of(walk, k, r, seed), random_multipliers(r, seed))
    found = proven(operator, evaluated(operator).found)
    assert found.value <= optimum(walk, k)
    assert found.failure == 0
    assert found.value <= proven_value(found.proof, walk) <= found.value + 1e-5


@few
@given(small, st.integers(3, 5), st.integers(0, 9))
def test_the_operator_is_what_the_proof_says(h, r, seed):
    walk = RandomWalk(h)
    operator = Lagrangian(walk, space_of(walk, 2, r, seed), random_multipliers(r, seed))
    proof = proven(operator, evaluated(operator).found).proof
    matrix, q = lagrangian(proof, walk)
    outside = np.eye(len(q)) - np.outer(q, q)
    assert operator.image(np.eye(len(q))) == pytest.approx(matrix, abs=1e-12)
    assert operator.along == pytest.approx(q @ matrix @ q)
    assert operator.dense() == pytest.approx(outside @ matrix @ outside, abs=1e-12)
    assert operator.apply(np.eye(len(q))) == pytest.approx(operator.dense(), abs=1e-12)


def test_the_laplacian_in_blocks(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 7)
    walk = RandomWalk(random_hypergraph(30, 20, 4, seed=1), alpha=0.5)
    operator = NormalizedLaplacian(walk)
    assert dense_laplacian(operator) == pytest.approx(operator.dense(), abs=1e-14)


def test_large_matrices_are_not_factored(monkeypatch):
    walk = RandomWalk(random_hypergraph(60, 50, 4, seed=3))
    operator = Lagrangian(walk, space_of(walk, 3, 8, 0), random_multipliers(8, 0, 1e-3))
    promised, found = evaluated(operator)
    factored = proven(operator, found)
    monkeypatch.setattr(module, "FACTORED_UP_TO", 10)
    floored = proven(operator, found)
    assert floored.failure == 1e-6
    assert factored.value - 0.05 <= floored.value <= promised
    assert promised - 1e-4 <= factored.value <= promised


def test_a_wrong_shift_is_not_proven():
    walk = RandomWalk(random_hypergraph(30, 20, 4, seed=1))
    operator = Lagrangian(walk, space_of(walk, 3, 5, 0), random_multipliers(5, 0))
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 2)))[0]
    found = proven(operator, evaluated(operator).found._replace(vectors=vectors))
    assert found is None or found.value <= evaluated(operator).value


@few
@given(st.integers(0, 20))
def test_smaller_types_inherit_what_was_added(seed):
    walk = RandomWalk(random_hypergraph(20, 15, 4, seed=seed))
    space = space_of(walk, 2, 5, seed)
    places = np.random.default_rng(seed).normal(size=(20, 3))
    finer, parents = space.split(places, 9)
    before = random_multipliers(5, seed)
    after = refined(before, parents, space.type_root, finer.type_root)
    assert len(finer.type_root) == 9
    assert (parents[finer.types] == space.types).all()
    identity = np.eye(20)
    images = [Lagrangian(walk, on, found).image(identity) for on, found in ((space, before), (finer, after))]
    assert images[0] == pytest.approx(images[1], abs=1e-12)


def test_types_are_split_where_vertices_differ():
    places = np.array([[0.0], [0.0], [1.0], [5.0], [5.1], [9.0]])
    types = split_types(np.zeros(6, dtype=np.int64), places, np.ones(6), 3)
    assert types[0] == types[1] == types[2]
    assert types[3] == types[4]
    assert len(np.unique(types)) == 3
    everything = split_types(np.zeros(6, dtype=np.int64), places, np.ones(6), 6)
    assert len(np.unique(everything)) == 5  # two are in the same place


@few
@given(st.integers(0, 20))
def test_the_relaxation_on_types_sees_sums_over_types(seed):
    walk = RandomWalk(random_hypergraph(20, 15, 4, seed=seed))
    rng = np.random.default_rng(seed)
    space = space_of(walk, 3, 6, seed).enriched(rng.normal(size=(20, 4)))
    relaxation = space.relaxation
    inner = relaxation.nearest(np.diag(rng.normal(size=10)))
    basis = space.vectors(np.eye(10))
    z = basis @ inner @ basis.T
    assert basis.T @ basis == pytest.approx(np.eye(10), abs=1e-10)
    assert z @ space.root == pytest.approx(space.root, abs=1e-10)
    assert np.trace(z) == pytest.approx(3)
    seen = relaxation.between_types(inner)
    for a in range(6):
        in_a = space.types == a
        assert seen[a, a] == pytest.approx(np.diag(z)[in_a].sum())
        for b in set(range(6)) - {a}:
            in_b = space.types == b
            total = space.root[in_a] @ z[np.ix_(in_a, in_b)] @ space.root[in_b]
            assert seen[a, b] * space.type_root[a] * space.type_root[b] == pytest.approx(total, abs=1e-12)
    assert np.vdot(relaxation.laplacian, inner) == pytest.approx(
        np.vdot(NormalizedLaplacian(walk).dense(), z)
    )


def planted(n, k):
    """Groups with 1.5 n hyperedges of six members, most of them from one group."""
    rng = np.random.default_rng(0)
    edges = []
    for _ in range(3 * n // 2):
        pull = np.where(np.arange(n) % k == rng.integers(k), 0.9, 0.1)
        edges.append(rng.choice(n, 6, replace=False, p=pull / pull.sum()).tolist())
    return RandomWalk(hc.Hypergraph.from_edges(edges, vertex_ids=range(n)))


def test_types_on_more_than_400_vertices():
    walk = planted(420, 2)
    labels = np.arange(420) % 2
    upper = hc.cut(walk, labels, 2).ncut
    before = tight_bound(walk, 2, max_rounds=0)
    tight = tight_bound(walk, 2, upper=upper, labels=labels, max_rounds=3)
    assert (before.types, tight.types, tight.rounds) == (0, 128, 3)
    assert before.value * 1.02 < tight.value <= upper
    assert proven_value(tight.proof, walk) >= tight.value - 1e-9
    assert tight.failure == 0


def test_no_time_leaves_the_eigenvalues():
    walk = planted(420, 2)
    tight = tight_bound(walk, 2, seconds=1e-9)
    assert (tight.ended, tight.rounds, tight.proof) == ("seconds", 0, None)


def test_labels_of_another_number_of_clusters_are_refused():
    walk = RandomWalk(random_hypergraph(30, 20, 4, seed=1))
    with pytest.raises(hc.InputError, match="labels must be the numbers from 0 to 2"):
        tight_bound(walk, 3, labels=np.zeros(30, dtype=np.int64))


def test_ascent_raises_the_bound_of_types():
    walk = RandomWalk(random_hypergraph(60, 50, 4, seed=3))
    space = space_of(walk, 2, 20, 0).enriched(np.random.default_rng(0).normal(size=(60, 40)))
    relaxation, nothing = space.relaxation, Multipliers.none(20)
    multipliers, _, _ = ascend(relaxation, nothing, relaxation.nearest(-relaxation.laplacian))
    values = [proven_by(walk, 2, space.types, found)[0] for found in (nothing, multipliers)]
    assert values[0] + 1e-3 < values[1]


def test_the_relaxation_on_types_and_vectors_in_blocks():
    """With more further vectors than a block has; and carried to other types."""
    h = random_hypergraph(160, 140, 4, seed=0)
    walk, rng = RandomWalk(h), np.random.default_rng(0)
    n = h.n_vertices
    space = space_of(walk, 2, 20, seed=0).enriched(rng.normal(size=(n, 120)))
    basis = space.vectors(np.eye(20 + space.extra.shape[1]))
    assert basis.T @ basis == pytest.approx(np.eye(basis.shape[1]), abs=1e-10)
    expected = basis.T @ NormalizedLaplacian(walk).dense() @ basis
    assert space.relaxation.laplacian == pytest.approx(expected, abs=1e-10)
    other = space_of(walk, 2, 35, seed=1).enriched(rng.normal(size=(n, 9)))
    there = other.vectors(np.eye(35 + other.extra.shape[1]))
    matrix = rng.normal(size=(there.shape[1],) * 2)
    carried = basis.T @ there @ matrix @ there.T @ basis
    assert space.carried(other, matrix) == pytest.approx(carried, abs=1e-9)


@pytest.mark.parametrize(("dense_up_to", "most_types"), [(300, 256), (256, 256), (419, 256), (420, 420)])
def test_the_engine_says_how_many_types_there_may_be(dense_up_to, most_types):
    backend = NumpyBackend()
    backend.dense_up_to = dense_up_to
    walk = RandomWalk(random_hypergraph(420, 400, 4, seed=0))
    vectors = np.random.default_rng(0).normal(size=(420, 5))
    search = Search.begin(walk, 2, None, vectors, 0.0, backend)
    assert len(search.space.type_root) == FIRST_TYPES
    assert search.most_types == most_types
