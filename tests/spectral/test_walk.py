"""P = A B: the factors, the walk, and what does not change them."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperclus import NormalizedLaplacian, RandomWalk, cluster, unit_weights
from hyperclus.engines import cpu, cpu_blocks
from hyperclus.spectral.components import components
from hyperclus.spectral.factors import TransitionFactors
from support import oracles
from support.contracts import check_map, check_transposes, refused
from support.strategies import (
    alphas,
    build,
    disconnected,
    edge_independent,
    hypergraphs,
    random_hypergraph,
    with_edge_scales,
    with_long_indices,
    with_relabelling,
)

examples = settings(deadline=None, max_examples=100)
forced = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@examples
@given(hypergraphs(), alphas)
def test_factors_are_the_matrices_of_the_definition(h, alpha):
    a, b = oracles.factor_matrices(h, alpha)
    factors = TransitionFactors(h, alpha=alpha)
    np.testing.assert_allclose(
        factors.lists.source_weights.toarray(), (h.gamma.toarray() > 0) * h.gamma.toarray() ** alpha
    )
    np.testing.assert_array_equal(
        factors.lists.source_weights_by_vertex.toarray(), factors.lists.source_weights.toarray().T
    )
    np.testing.assert_allclose(
        factors.degrees, [float(oracles.degree(h, v, alpha)) for v in range(h.n_vertices)], rtol=1e-14
    )
    check_map(factors.vertex_means, a)
    check_map(factors.step_to_edges, a.T)
    check_map(factors.edge_means, b)
    check_map(factors.step_to_vertices, b.T)
    check_transposes(factors.vertex_means, factors.step_to_edges, a.shape)
    check_transposes(factors.edge_means, factors.step_to_vertices, b.shape)


@examples
@given(hypergraphs(), alphas)
def test_walk_is_the_double_loop_of_the_definition(h, alpha):
    p = oracles.transition(h, alpha)
    walk = RandomWalk(h, alpha=alpha)
    check_map(walk.forward, p)
    check_map(walk.adjoint, p.T)
    check_transposes(walk.forward, walk.adjoint, p.shape)
    np.testing.assert_allclose(walk.dense(), p, rtol=1e-13, atol=0)


@pytest.mark.parametrize("blocks", [2, 3])
@forced
@given(h=hypergraphs(), alpha=alphas)
def test_contract_holds_on_several_threads(blocks, h, alpha):
    """Products of many incidences are split into blocks of rows, some perhaps empty."""
    tuning = cpu.Tuning(threads=blocks, incidences_each=1)
    check_passes(h, alpha, cpu_blocks.host_products(cpu.Lists(h.gamma, alpha), tuning))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("runs", [0, 8])
@forced
@given(h=hypergraphs(), alpha=st.sampled_from([0, 1]))
def test_contract_holds_in_blocks(monkeypatch, threads, runs, h, alpha):
    """From BLOCKED_FROM incidences on; here a block may be a single vertex, and some are empty."""
    products = in_blocks(monkeypatch, h, alpha, threads, runs)
    assert isinstance(products, cpu_blocks.BlockProducts)
    check_passes(h, alpha, products)
    plain = unit_weights(h)
    products = in_blocks(monkeypatch, plain, alpha, threads, runs)
    assert not len(products.gamma)
    check_passes(plain, alpha, products)
    np.testing.assert_array_equal(products.constants(), np.ones(h.n_vertices))


@pytest.mark.parametrize("alpha", [0, 1])
def test_blocks_give_the_same_bits_on_any_number_of_threads(monkeypatch, alpha):
    h = random_hypergraph(3000, 2000, 12, seed=2, gamma=2.0)
    distribution, values = np.random.default_rng(0).random((2, 3000))
    found = []
    for threads in (1, 2, 5):
        products = in_blocks(monkeypatch, h, alpha, threads, runs=8, blocks=7)
        factors = TransitionFactors(h, alpha=alpha, products=products)
        found.append(
            (
                symmetrized(factors, np.sqrt(distribution), values),
                factors.step_to_edges(distribution),
                factors.return_probability,
            )
        )
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, same)


def test_blocks_check_their_arguments(monkeypatch):
    """The compiled loops would read beyond the end of a short vector."""
    h = random_hypergraph(60, 40, 8, seed=1, gamma=2.0)
    walk = RandomWalk(h, products=in_blocks(monkeypatch, h, 0.0, threads=2, runs=8))
    for size in (59, 61):
        for call in (walk.forward, walk.factors.edge_means):
            refused(lambda call=call, size=size: call(np.ones(size)), "60 values", f"({size},)")
    vector = np.arange(60) - 1j * np.arange(60)[::-1]
    expected = walk.dense() @ vector
    np.testing.assert_allclose(walk.forward(vector), expected, rtol=1e-12)
    np.testing.assert_allclose(walk.forward(np.arange(60)), expected.real, rtol=1e-12)


def test_laplacian_of_whole_numbers():
    walk = RandomWalk(random_hypergraph(20, 15, 4, seed=1, gamma=2.0))
    block = np.arange(40).reshape(20, 2)
    laplacian = NormalizedLaplacian(walk)
    np.testing.assert_allclose(laplacian.apply(block), laplacian.dense() @ block, atol=1e-12)


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("factor", [1e-140, 1e-100, 1e100, 1e140])
def test_weights_of_any_scale_give_the_same_answer(alpha, factor):
    h = random_hypergraph(40, 60, 4, seed=1, gamma=1.0)
    far = h.with_gamma(h.gamma.data * factor).with_edge_weights(h.edge_weights / factor)
    part, other = cluster(h, alpha=alpha), cluster(far, alpha=alpha)
    assert other.ncut == pytest.approx(part.ncut, rel=1e-9)
    np.testing.assert_array_equal(other.labels, part.labels)


def test_weights_too_far_apart_are_refused():
    h = random_hypergraph(20, 15, 4, seed=1, gamma=1.0)
    weights = np.ones(15)
    weights[0] = 1e300
    refused(lambda: RandomWalk(h.with_gamma(h.gamma.data * 1e30).with_edge_weights(weights)), "too far apart")


def test_copies_of_a_walk_carry_no_products():
    walk = RandomWalk(random_hypergraph(20, 15, 4, seed=1, gamma=2.0), alpha=1)
    assert copy.copy(walk) is walk
    for other in (copy.deepcopy(walk), pickle.loads(pickle.dumps(walk))):
        assert other.transitions is None
        np.testing.assert_array_equal(other.stationary, walk.stationary)
        np.testing.assert_array_equal(other.dense(), walk.dense())


def in_blocks(monkeypatch, h, alpha, threads, runs, blocks=16):
    """Products in blocks for a hypergraph of any size."""
    monkeypatch.setattr(cpu_blocks, "SPAN", 0)
    tuning = cpu.Tuning(
        threads, 1, blocked_from=0, gathered_up_to=0, blocks=blocks, min_vertices=1, runs_from=runs
    )
    return cpu_blocks.host_products(cpu.Lists(h.gamma, alpha), tuning)


def symmetrized(factors, root, vector):
    """Pi^1/2 P Pi^-1/2 x + Pi^-1/2 P^T Pi^1/2 x."""
    return factors.products.symmetrized(vector, 1 / root, root / factors.relative_degrees, factors.shares)


def check_passes(h, alpha, products=None):
    """All that is computed by products, against the matrices of the definition."""
    a, b = oracles.factor_matrices(h, alpha)
    factors = TransitionFactors(h, alpha=alpha, products=products)
    check_map(factors.vertex_means, a)
    check_map(factors.step_to_edges, a.T)
    check_map(factors.edge_means, b)
    check_map(factors.step_to_vertices, b.T)
    np.testing.assert_allclose(factors.return_probability, np.diag(a @ b), rtol=1e-13)
    rng = np.random.default_rng(0)
    root, vector = rng.random(h.n_vertices) + 0.1, rng.standard_normal(h.n_vertices)
    scaled = root[:, None] * (a @ b) / root
    expected = (scaled + scaled.T) @ vector
    np.testing.assert_allclose(
        symmetrized(factors, root, vector), expected, rtol=0, atol=1e-12 * np.abs(scaled).max()
    )


@pytest.mark.parametrize("alpha", [0, 0.7, 1])
def test_contract_holds_for_a_larger_walk(alpha):
    h = random_hypergraph(60, 40, 8, seed=1, gamma=2.0)
    a, b = oracles.factor_matrices(h, alpha)
    walk = RandomWalk(h, alpha=alpha)
    check_map(walk.forward, a @ b)
    check_map(walk.adjoint, (a @ b).T)
    check_transposes(walk.forward, walk.adjoint, (60, 60))


@examples
@given(st.one_of(hypergraphs(), disconnected()), alphas)
def test_rows_sum_to_one_and_nothing_is_negative(h, alpha):
    walk = RandomWalk(h, alpha=alpha)
    np.testing.assert_allclose(walk.forward(np.ones(h.n_vertices)), 1.0, rtol=1e-14)
    np.testing.assert_allclose(walk.dense().sum(axis=1), 1.0, rtol=1e-14)
    assert (walk.dense() >= 0).all()
    distribution = np.random.default_rng(0).dirichlet(np.ones(h.n_vertices))
    assert walk.adjoint(distribution).sum() == pytest.approx(1.0, rel=1e-14)


@examples
@given(hypergraphs(), alphas)
def test_connected_walk_is_irreducible(h, alpha):
    p = RandomWalk(h, alpha=alpha).dense()
    everything = set(range(h.n_vertices))
    assert all(oracles.reachable(p, u) == everything for u in range(h.n_vertices))


@examples
@given(disconnected(), alphas)
def test_walk_stays_in_its_component(h, alpha):
    walk = RandomWalk(h, alpha=alpha)
    p, found = walk.dense(), components(walk.factors)
    parts = oracles.components(h)
    assert found.count == len(parts) == walk.n_components
    for part in parts:
        assert oracles.reachable(p, part[0]) == set(part)
        assert len(set(found.of_vertex[part].tolist())) == 1
    for e, inside in enumerate(oracles.members(h)):
        assert {found.of_edge[e]} == set(found.of_vertex[list(inside)].tolist())


def test_components_of_a_long_path_and_of_two():
    """Far more steps from end to end than any shortcut may assume."""
    pairs = [{v: 1.0, v + 1: 1.0} for v in range(200)]
    whole = build(pairs, [1.0] * 200, 201)
    assert components(TransitionFactors(whole)).count == 1
    halves = build(pairs[:100] + pairs[101:], [1.0] * 199, 201)
    found = components(TransitionFactors(halves))
    assert found.count == 2
    assert set(found.of_vertex[:101].tolist()).isdisjoint(found.of_vertex[101:].tolist())


@examples
@given(hypergraphs(), alphas, st.data())
def test_scaling_the_gammas_of_an_edge_is_a_change_of_its_omega(h, alpha, data):
    """By s^alpha; at alpha = 0 that is no change. Powers of four even leave every bit in place."""
    exponents = data.draw(st.lists(st.integers(-5, 5), min_size=h.n_edges, max_size=h.n_edges))
    for base, rtol in ((4.0, 0.0), (3.0, 1e-13)):
        scales = base ** np.array(exponents)
        found = RandomWalk(with_edge_scales(h, scales), alpha=alpha)
        expected = RandomWalk(h.with_edge_weights(h.edge_weights * scales**alpha), alpha=alpha)
        np.testing.assert_allclose(found.dense(), expected.dense(), rtol=rtol, atol=0)


@examples
@given(hypergraphs(), alphas, st.floats(1e-3, 1e3))
def test_scaling_all_weights_changes_nothing(h, alpha, factor):
    expected = RandomWalk(h, alpha=alpha).dense()
    heavier = h.with_edge_weights(h.edge_weights * factor)
    stronger = h.with_gamma(h.gamma.data * factor)
    for scaled in (heavier, stronger):
        np.testing.assert_allclose(RandomWalk(scaled, alpha=alpha).dense(), expected, rtol=1e-13, atol=0)


@examples
@given(edge_independent(), alphas)
def test_alpha_changes_nothing_where_gamma_does_not_depend_on_the_edge(case, alpha):
    """gamma(u)^alpha then has the same effect on all hyperedges of u."""
    h, _ = case
    walk, expected = RandomWalk(h, alpha=alpha), RandomWalk(h)
    np.testing.assert_allclose(walk.dense(), expected.dense(), rtol=1e-13, atol=0)
    np.testing.assert_allclose(walk.stationary, expected.stationary, rtol=1e-13)


def test_powers_share_memory_where_they_can():
    h = random_hypergraph(20, 15, 5, seed=3)
    one_sided, two_sided = TransitionFactors(h), TransitionFactors(h, alpha=1)
    assert np.shares_memory(
        one_sided.lists.source_weights.data, one_sided.lists.source_weights_by_vertex.data
    )
    assert np.shares_memory(two_sided.lists.source_weights.data, h.gamma.data)
    assert np.shares_memory(
        two_sided.lists.source_weights_by_vertex.data, two_sided.lists.gamma_by_vertex.data
    )


@pytest.mark.parametrize(
    "alpha",
    [-1, -1e-300, np.nan, np.inf, -np.inf, "x", "1", None, True, [1], np.ones(1), 1j],
    ids=lambda alpha: str(alpha)[:9],
)
def test_unusable_alpha_is_refused(alpha):
    h = random_hypergraph(20, 15, 5, seed=3)
    refused(lambda: TransitionFactors(h, alpha=alpha), "alpha must be a number from 0")
    refused(lambda: RandomWalk(h, alpha=alpha), "alpha must be a number from 0")


@pytest.mark.parametrize(
    "alpha", [0, 1, np.int64(1), np.float32(0.5), np.float64(2), Fraction(1, 2)], ids=str
)
def test_any_kind_of_number_will_do(alpha):
    h = random_hypergraph(20, 15, 5, seed=3)
    walk = RandomWalk(h, alpha=alpha)
    assert type(walk.alpha) is type(walk.factors.alpha) is float
    np.testing.assert_array_equal(walk.dense(), RandomWalk(h, alpha=float(alpha)).dense())


@pytest.mark.parametrize("gamma", [1e-3, 1e3])
@pytest.mark.parametrize("alpha", [103.0, 1e5, 1e308])
def test_powers_beyond_double_precision_are_refused(alpha, gamma):
    h = build([{0: 1.0, 1: gamma}, {1: 1.0, 2: 2.0}], [1.0, 1.0], 3)
    refused(lambda: RandomWalk(h, alpha=alpha), "the power alpha", "double precision")


def test_products_beyond_double_precision_are_refused():
    for omega, gamma, part in ((1e-200, 1e-100, "too small"), (1e200, 1e100, "infinity")):
        h = build([{0: gamma, 1: gamma}, {1: gamma, 2: 2 * gamma}], [omega, omega], 3)
        refused(lambda h=h: RandomWalk(h, alpha=2), part, "divide them by their maximum")


def test_large_alpha_is_right_where_the_powers_fit():
    """gamma from 1e-100 to 1e100, alpha = 3: gamma^(1 - alpha) alone would leave the range."""
    gamma = [1e-100, 1.0, 1e100]
    h = build([{0: gamma[0], 1: gamma[1]}, {1: gamma[1], 2: gamma[2]}], [1.0, 1.0], 3)
    walk = RandomWalk(h, alpha=3)
    assert walk.distribution.method == "closed form"
    np.testing.assert_allclose(walk.stationary, RandomWalk(h).stationary, rtol=1e-13)


@examples
@given(with_relabelling(hypergraphs()), alphas)
def test_relabelling_only_relabels(case, alpha):
    h, other, origin = case
    p, found = RandomWalk(h, alpha=alpha).dense(), RandomWalk(other, alpha=alpha).dense()
    np.testing.assert_allclose(found, p[np.ix_(origin, origin)], rtol=1e-13, atol=0)


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
    found, expected = (RandomWalk(g).distribution.components for g in (with_long_indices(h), h))
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
        walk.distribution = None
