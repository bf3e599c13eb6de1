"""P = A B: the factors, the walk, and what does not change them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oracles
from contracts import check_map, check_transposes
from hyperclus import Hypergraph, RandomWalk
from hyperclus import factors as factors_module
from hyperclus.components import components
from hyperclus.factors import Factors
from strategies import (
    build,
    disconnected,
    hypergraphs,
    random_hypergraph,
    with_edge_scales,
    with_long_indices,
    with_relabelling,
)

examples = settings(deadline=None, max_examples=100)
forced = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@examples
@given(hypergraphs())
def test_factors_are_the_matrices_of_the_definition(h):
    a, b = oracles.factor_matrices(h)
    factors = Factors(h)
    check_map(factors.vertex_means, a)
    check_map(factors.to_edges, a.T)
    check_map(factors.edge_means, b)
    check_map(factors.to_vertices, b.T)
    check_transposes(factors.vertex_means, factors.to_edges, a.shape)
    check_transposes(factors.edge_means, factors.to_vertices, b.shape)


@examples
@given(hypergraphs())
def test_walk_is_the_double_loop_of_the_definition(h):
    p = oracles.transition(h)
    walk = RandomWalk(h)
    check_map(walk.forward, p)
    check_map(walk.adjoint, p.T)
    check_transposes(walk.forward, walk.adjoint, p.shape)
    np.testing.assert_allclose(walk.dense(), p, rtol=1e-13, atol=0)


@pytest.mark.parametrize("blocks", [2, 3])
@forced
@given(h=hypergraphs())
def test_contract_holds_on_several_threads(monkeypatch, blocks, h):
    """From PARALLEL_FROM incidences on, products are split into blocks of rows, some perhaps empty."""
    monkeypatch.setattr(factors_module, "PARALLEL_FROM", 0)
    monkeypatch.setattr(factors_module, "BLOCKS", blocks)
    a, b = oracles.factor_matrices(h)
    factors = Factors(h)
    check_map(factors.vertex_means, a)
    check_map(factors.to_edges, a.T)
    check_map(factors.edge_means, b)
    check_map(factors.to_vertices, b.T)


def test_contract_holds_for_a_larger_walk():
    h = random_hypergraph(60, 40, 8, seed=1, gamma=2.0)
    a, b = oracles.factor_matrices(h)
    walk = RandomWalk(h)
    check_map(walk.forward, a @ b)
    check_map(walk.adjoint, (a @ b).T)
    check_transposes(walk.forward, walk.adjoint, (60, 60))


@examples
@given(st.one_of(hypergraphs(), disconnected()))
def test_rows_sum_to_one_and_nothing_is_negative(h):
    walk = RandomWalk(h)
    np.testing.assert_allclose(walk.forward(np.ones(h.n_vertices)), 1.0, rtol=1e-14)
    np.testing.assert_allclose(walk.dense().sum(axis=1), 1.0, rtol=1e-14)
    assert (walk.dense() >= 0).all()
    law = np.random.default_rng(0).dirichlet(np.ones(h.n_vertices))
    assert walk.adjoint(law).sum() == pytest.approx(1.0, rel=1e-14)


@examples
@given(hypergraphs())
def test_connected_walk_is_irreducible(h):
    p = RandomWalk(h).dense()
    everything = set(range(h.n_vertices))
    assert all(oracles.reachable(p, u) == everything for u in range(h.n_vertices))


@examples
@given(disconnected())
def test_walk_stays_in_its_component(h):
    p = RandomWalk(h).dense()
    found = components(Factors(h))
    parts = oracles.components(h)
    assert found.count == len(parts) == RandomWalk(h).n_components
    for part in parts:
        assert oracles.reachable(p, part[0]) == set(part)
        assert len(set(found.of_vertex[part].tolist())) == 1
    for e, inside in enumerate(oracles.members(h)):
        assert {found.of_edge[e]} == set(found.of_vertex[list(inside)].tolist())


def test_components_of_a_long_path_and_of_two():
    """Far more steps from end to end than any shortcut may assume."""
    pairs = [{v: 1.0, v + 1: 1.0} for v in range(200)]
    whole = build(pairs, [1.0] * 200, 201)
    assert components(Factors(whole)).count == 1
    halves = build(pairs[:100] + pairs[101:], [1.0] * 199, 201)
    found = components(Factors(halves))
    assert found.count == 2
    assert set(found.of_vertex[:101].tolist()).isdisjoint(found.of_vertex[101:].tolist())


@examples
@given(hypergraphs(), st.data())
def test_scaling_the_gammas_of_an_edge_changes_nothing(h, data):
    """B(e, v) has gamma above and below. Powers of two even leave every bit in place."""
    exponents = data.draw(st.lists(st.integers(-9, 9), min_size=h.n_edges, max_size=h.n_edges))
    np.testing.assert_array_equal(
        RandomWalk(with_edge_scales(h, 2.0 ** np.array(exponents))).dense(), RandomWalk(h).dense()
    )
    np.testing.assert_allclose(
        RandomWalk(with_edge_scales(h, 3.0 ** np.array(exponents))).dense(),
        RandomWalk(h).dense(),
        rtol=1e-13,
        atol=0,
    )


@examples
@given(hypergraphs(), st.floats(1e-3, 1e3))
def test_scaling_all_edge_weights_changes_nothing(h, factor):
    scaled = Hypergraph(h.gamma, h.edge_weights * factor, h.vertex_ids, h.edge_ids)
    np.testing.assert_allclose(RandomWalk(scaled).dense(), RandomWalk(h).dense(), rtol=1e-13, atol=0)


@examples
@given(with_relabelling(hypergraphs()))
def test_relabelling_only_relabels(case):
    h, other, origin = case
    p = RandomWalk(h).dense()
    np.testing.assert_allclose(RandomWalk(other).dense(), p[np.ix_(origin, origin)], rtol=1e-13, atol=0)


def test_long_indices_give_the_same_walk():
    """SciPy indexes with 64 bits from 2^31 incidences on; this stands for such a hypergraph."""
    h = random_hypergraph(50, 30, 6, seed=2)
    long = with_long_indices(h)
    assert long.gamma.indices.dtype == long.gamma.indptr.dtype == np.int64
    walk, expected = RandomWalk(long), RandomWalk(h)
    np.testing.assert_array_equal(walk.dense(), expected.dense())
    np.testing.assert_array_equal(walk.stationary, expected.stationary)
    assert walk.n_components == expected.n_components


def test_long_indices_give_the_same_components():
    """Two long paths, which no shortcut finds to be connected: the full search runs on 64-bit indices."""
    pairs = [{v: 1.0, v + 1: 1.0} for v in range(100)]
    h = build(pairs[:50] + pairs[51:], [1.0] * 99, 101)
    found, expected = (RandomWalk(g).law.components for g in (with_long_indices(h), h))
    assert found.count == expected.count == 2
    np.testing.assert_array_equal(found.of_vertex, expected.of_vertex)
    np.testing.assert_array_equal(found.of_edge, expected.of_edge)


def test_using_a_walk_leaves_the_hypergraph_alone():
    h = random_hypergraph(20, 15, 5, seed=3)
    before = h.gamma.toarray(), h.edge_weights.copy()
    walk = RandomWalk(h)
    walk.forward(np.ones(20))
    walk.adjoint(np.ones((20, 2)))
    np.testing.assert_array_equal(h.gamma.toarray(), before[0])
    np.testing.assert_array_equal(h.edge_weights, before[1])
    with pytest.raises(AttributeError):
        walk.law = None
