"""phi = phi P: four methods, one distribution, also where blocks are nearly separate."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperclus import ConvergenceError, Hypergraph, RandomWalk
from hyperclus.spectral import stationary
from support import oracles
from support.strategies import (
    alphas,
    build,
    disconnected,
    edge_independent,
    hypergraphs,
    random_edges,
    random_hypergraph,
    with_edge_scales,
    with_long_indices,
    with_relabelling,
    with_scaled_edges,
)

examples = settings(deadline=None, max_examples=100)
forced = settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def krylov_only(monkeypatch):
    """Disable the direct methods."""
    monkeypatch.setattr(stationary, "ELIMINATION_UP_TO", 0)
    monkeypatch.setattr(stationary, "FACTORISATION_UP_TO", 0)


@pytest.fixture
def factorisation_only(monkeypatch):
    """Let GMRES give up at once."""
    monkeypatch.setattr(stationary, "ELIMINATION_UP_TO", 0)
    monkeypatch.setattr(stationary, "MAX_CYCLES", 0)


def relative_error(phi, expected):
    return float((np.abs(phi - expected) / expected).max())


# ---- the definition ---------------------------------------------------------------------------


@examples
@given(hypergraphs(), alphas)
def test_distribution_is_stationary_positive_and_sums_to_one(h, alpha):
    walk = RandomWalk(h, alpha=alpha)
    phi = walk.stationary
    p = oracles.transition(h, alpha)
    assert (phi > 0).all()
    assert phi.sum() == pytest.approx(1.0, rel=1e-14)
    residual = np.abs(phi @ p - phi).sum()
    assert residual <= 1e-14 * np.sqrt(h.n_vertices)
    assert walk.distribution.residual == pytest.approx(residual, abs=1e-15 * h.n_vertices)
    np.testing.assert_allclose(walk.edge_stationary, phi @ oracles.factor_matrices(h, alpha)[0], rtol=1e-13)


@examples
@given(st.one_of(hypergraphs(), disconnected()), alphas)
def test_distribution_is_the_exact_solution(h, alpha):
    """Each probability to its own size: elimination subtracts nothing."""
    assert relative_error(RandomWalk(h, alpha=alpha).stationary, oracles.stationary(h, alpha)) <= 1e-12


@examples
@given(disconnected(), alphas)
def test_components_get_their_share_of_the_degree(h, alpha):
    walk = RandomWalk(h, alpha=alpha)
    parts = oracles.components(h)
    total = sum(oracles.degree(h, v, alpha) for v in range(h.n_vertices))
    assert walk.n_components == walk.distribution.components.count == len(parts)
    for part in parts:
        share = float(sum((oracles.degree(h, v, alpha) for v in part), Fraction(0)) / total)
        assert walk.stationary[part].sum() == pytest.approx(share, rel=1e-13)


@examples
@given(edge_independent(), alphas)
def test_edge_independent_weights_have_a_closed_form(case, alpha):
    h, gamma = case
    walk = RandomWalk(h, alpha=alpha)
    expected = np.array([float(oracles.degree(h, v)) for v in range(h.n_vertices)]) * gamma
    np.testing.assert_allclose(walk.stationary, expected / expected.sum(), rtol=1e-13)
    assert (walk.distribution.method, walk.distribution.steps) == ("closed form", 0)


@examples
@given(st.one_of(hypergraphs(), disconnected()))
def test_two_sided_walk_has_a_closed_form(h):
    """phi(v) is proportional to the sum of omega(e) gamma_e(v) over v's hyperedges."""
    walk = RandomWalk(h, alpha=1)
    expected = np.array([float(oracles.degree(h, v, 1)) for v in range(h.n_vertices)])
    np.testing.assert_allclose(walk.stationary, expected / expected.sum(), rtol=1e-13)
    assert (walk.distribution.method, walk.distribution.steps) == ("closed form", 0)
    check_reversible(walk)


@examples
@given(edge_independent(), alphas)
def test_edge_independent_walk_is_reversible(case, alpha):
    check_reversible(RandomWalk(case[0], alpha=alpha))


def check_reversible(walk):
    flow = walk.stationary[:, None] * walk.dense()
    np.testing.assert_allclose(flow, flow.T, rtol=1e-12, atol=0)
    assert walk.reversible


def test_uneven_flows_are_not_reversible():
    """Three hyperedges that each favour the next vertex."""
    h = build([{0: 1.0, 1: 5.0}, {1: 1.0, 2: 5.0}, {2: 1.0, 0: 5.0}], [1.0] * 3, 3)
    for alpha in (0, 0.5, 2):
        walk = RandomWalk(h, alpha=alpha)
        flow = walk.stationary[:, None] * walk.dense()
        assert np.abs(flow - flow.T).max() > 1e-3
        assert not walk.reversible


@examples
@given(with_scaled_edges(hypergraphs()))
def test_scaling_the_gammas_of_an_edge_changes_nothing(case):
    h, scaled = case
    np.testing.assert_allclose(RandomWalk(scaled).stationary, RandomWalk(h).stationary, rtol=1e-12)


@examples
@given(with_relabelling(hypergraphs()), alphas)
def test_relabelling_only_relabels(case, alpha):
    h, other, origin = case
    found, expected = (RandomWalk(g, alpha=alpha).stationary for g in (other, h))
    np.testing.assert_allclose(found, expected[origin], rtol=1e-12)


# ---- the methods agree ------------------------------------------------------------------------


@forced
@given(h=st.one_of(hypergraphs(), disconnected()), alpha=alphas)
def test_krylov_finds_the_exact_solution(krylov_only, h, alpha):
    distribution = RandomWalk(h, alpha=alpha).distribution
    assert distribution.method in ("krylov", "closed form")
    assert distribution.residual <= 1e-13
    expected = oracles.stationary(h, alpha)
    np.testing.assert_allclose(distribution.vertices, expected, rtol=0, atol=1e-10)
    assert relative_error(distribution.vertices, expected) <= 1e-4


@forced
@given(h=st.one_of(hypergraphs(), disconnected()), alpha=alphas)
def test_factorisation_finds_the_exact_solution(factorisation_only, h, alpha):
    distribution = RandomWalk(h, alpha=alpha).distribution
    assert distribution.method in ("factorisation", "closed form")
    assert distribution.residual <= 1e-13
    expected = oracles.stationary(h, alpha)
    np.testing.assert_allclose(distribution.vertices, expected, rtol=0, atol=1e-10)
    assert relative_error(distribution.vertices, expected) <= 1e-4


@pytest.mark.parametrize("alpha", [0, 0.5, 2])
@pytest.mark.parametrize(("n", "n_edges"), [(140, 120), (120, 140)], ids=["on edges", "on vertices"])
def test_elimination_krylov_and_factorisation_agree(monkeypatch, n, n_edges, alpha):
    h = random_hypergraph(n, n_edges, 8, seed=4)
    eliminated = RandomWalk(h, alpha=alpha).distribution
    monkeypatch.setattr(stationary, "ELIMINATION_UP_TO", 0)
    iterated = RandomWalk(h, alpha=alpha).distribution
    monkeypatch.setattr(stationary, "MAX_CYCLES", 0)
    factorised = RandomWalk(h, alpha=alpha).distribution
    assert [distribution.method for distribution in (eliminated, iterated, factorised)] == [
        "elimination",
        "krylov",
        "factorisation",
    ]
    assert iterated.steps > 0
    expected = oracles.stationary_by_censoring(h, alpha=alpha)
    np.testing.assert_allclose(eliminated.vertices, expected, rtol=1e-13)
    np.testing.assert_allclose(iterated.vertices, expected, rtol=1e-10)
    np.testing.assert_allclose(factorised.vertices, expected, rtol=1e-10)


@pytest.mark.parametrize(("n", "n_edges"), [(60, 40), (40, 60)], ids=["on edges", "on vertices"])
def test_all_methods_agree_with_the_closed_form(monkeypatch, n, n_edges):
    """Edge-independent gamma times a factor per edge: the same distribution without a closed form."""
    rng = np.random.default_rng(5)
    plain = random_hypergraph(n, n_edges, 6, seed=5)
    gamma = 10.0 ** rng.uniform(-1, 1, n)
    independent = plain.with_gamma(gamma[plain.gamma.indices])
    hidden = with_edge_scales(independent, 10.0 ** rng.uniform(-1, 1, n_edges))
    distributions = [RandomWalk(independent).distribution, RandomWalk(hidden).distribution]
    monkeypatch.setattr(stationary, "ELIMINATION_UP_TO", 0)
    distributions.append(RandomWalk(hidden).distribution)
    monkeypatch.setattr(stationary, "MAX_CYCLES", 0)
    distributions.append(RandomWalk(hidden).distribution)
    assert [distribution.method for distribution in distributions] == [
        "closed form",
        "elimination",
        "krylov",
        "factorisation",
    ]
    for distribution in distributions[1:]:
        np.testing.assert_allclose(distribution.vertices, distributions[0].vertices, rtol=1e-10)


def test_krylov_on_several_components(krylov_only):
    """Blocks of different mixing and size, no coupling at all: each keeps its share."""
    rng = np.random.default_rng(6)
    edges = random_edges(rng, 200, 150, 5, 1.0)
    edges += [{v + 200: g for v, g in edge.items()} for edge in random_edges(rng, 80, 90, 3, 1.0)]
    used = sorted(set().union(*edges))
    place = {v: i for i, v in enumerate(used)}
    h = build([{place[v]: g for v, g in edge.items()} for edge in edges], [1.0] * len(edges), len(used))
    distribution = RandomWalk(h).distribution
    assert distribution.method == "krylov"
    assert distribution.components.count == len(oracles.components(h)) >= 2
    degrees = RandomWalk(h).factors.degrees
    for part in oracles.components(h):
        sub = h.restrict(np.array(part))
        expected = oracles.stationary_by_censoring(sub) * degrees[part].sum() / degrees.sum()
        np.testing.assert_allclose(distribution.vertices[part], expected, rtol=1e-9)


# ---- nearly separate blocks -------------------------------------------------------------------
# The residual of a distribution with wrong block masses is only as large as the coupling, so a small residual
# proves little here: the distribution itself is compared.


def two_blocks(n, n_edges, size, seed):
    """Two random blocks on 0 .. n-1 and n .. 2n-1 that do not touch."""
    rng = np.random.default_rng(seed)
    blocks = []
    for shift in (0, n):
        edges = random_edges(rng, n, n_edges, size, 1.0)
        for v in sorted(set(range(n)) - set().union(*edges)):
            edges[rng.integers(n_edges)][v] = 10.0 ** rng.uniform(-1, 1)
        blocks.append([{v + shift: g for v, g in edge.items()} for edge in edges])
    return blocks


def joined_by_incidence(n, n_edges, size, seed, gamma):
    """Vertex 0 of the first block gets into a hyperedge of the second."""
    first, second = two_blocks(n, n_edges, size, seed)
    second[0][0] = gamma
    return build(first + second, [1.0] * (2 * n_edges), 2 * n)


def joined_by_edge(n, n_edges, size, seed, omega, gamma=(1.0, 1.0)):
    """A hyperedge of one vertex of each block."""
    first, second = two_blocks(n, n_edges, size, seed)
    edges = [*first, *second, {0: gamma[0], n: gamma[1]}]
    return build(edges, [1.0] * (2 * n_edges) + [omega], 2 * n)


def check_nearly_separate(h: Hypergraph, method: str, relative: float, alpha: float = 0.0) -> None:
    walk = RandomWalk(h, alpha=alpha)
    distribution = walk.distribution
    precision = np.longdouble if method == "elimination" else np.float64
    expected = oracles.stationary_by_censoring(h, precision, alpha)
    error = relative_error(distribution.vertices, expected)
    assert distribution.method == method
    assert distribution.components.count == 1
    assert distribution.residual <= 1e-10
    assert walk.adjoint(expected) == pytest.approx(expected, abs=1e-16)
    np.testing.assert_allclose(
        distribution.vertices, expected, rtol=0, atol=1e-6, err_msg=f"the relative error is {error:.1e}"
    )
    assert error <= relative


@pytest.mark.parametrize("seed", [0, 1])
def test_dense_blocks_joined_by_one_incidence(seed):
    check_nearly_separate(joined_by_incidence(60, 40, 20, seed, 1e-8), "elimination", 1e-13)


@pytest.mark.parametrize("alpha", [0, 0.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_dense_blocks_joined_by_one_edge(seed, alpha):
    check_nearly_separate(joined_by_edge(60, 40, 20, seed, 1e-8), "elimination", 1e-13, alpha)


@pytest.mark.parametrize("omega", [1e-12, 1e-15])
def test_elimination_with_joints_of_any_weakness(omega):
    check_nearly_separate(joined_by_edge(60, 40, 20, 2, omega, (1.0, 50.0)), "elimination", 1e-13)


@pytest.mark.parametrize("omega", [1e-8, 1e-13, 1e-15])
def test_closed_form_is_not_used_for_uneven_joints(omega):
    """gamma = 1 in both triangles; only the joint depends on the edge, and it decides their masses.

    Flow through the joint {2: 1, 3: 5, 4: 5, 5: 5} balances when phi(2) 15/16 = 3 phi(3) 1/16: the
    second triangle weighs 5 times as much as the first, however weak the joint. The mean gammas give
    a distribution that is right within each triangle, so that its residual is as small as the joint is weak,
    and a mass that is wrong: 3 times.
    """
    triangles = [dict.fromkeys((0, 1, 2), 1.0), dict.fromkeys((3, 4, 5), 1.0)]
    h = build([*triangles, {2: 1.0, 3: 5.0, 4: 5.0, 5: 5.0}], [1.0, 1.0, omega], 6)
    expected = oracles.stationary(h)
    assert expected[3:].sum() / expected[:3].sum() == pytest.approx(5.0, rel=1e-6)
    assert relative_error(RandomWalk(h).stationary, expected) <= 1e-12


@pytest.mark.parametrize("seed", [0, 1])
def test_dense_blocks_by_krylov(krylov_only, seed):
    check_nearly_separate(joined_by_incidence(60, 40, 20, seed, 1e-8), "krylov", 1e-6)
    check_nearly_separate(joined_by_edge(60, 40, 20, seed, 1e-8), "krylov", 1e-10)


@pytest.mark.parametrize("seed", [0, 1])
def test_dense_blocks_by_factorisation(factorisation_only, seed):
    check_nearly_separate(joined_by_incidence(60, 40, 20, seed, 1e-8), "factorisation", 1e-6)
    check_nearly_separate(joined_by_edge(60, 40, 20, seed, 1e-8), "factorisation", 1e-10)


@pytest.mark.parametrize(("n", "n_edges"), [(600, 520), (520, 600)], ids=["on edges", "on vertices"])
@pytest.mark.parametrize("gamma", [(1.0, 1.0), (1.0, 50.0)], ids=["even joint", "uneven joint"])
@pytest.mark.parametrize(
    ("omega", "alpha"), [(1e-6, 0), (1e-8, 0), (1e-11, 0), (1e-15, 0), (1e-8, 0.5), (1e-12, 0.5)]
)
def test_large_blocks_joined_by_one_edge(n, n_edges, gamma, omega, alpha):
    """Without aggregation the relative error was 3e-5 at 1e-8 and 20 at 1e-12."""
    h = joined_by_edge(n, n_edges, 6, 3, omega, gamma)
    assert min(h.n_vertices, h.n_edges) > 1000
    check_nearly_separate(h, "krylov", 1e-10, alpha)


def test_many_blocks_in_a_row():
    """40 blocks, each joined to the next by a weak and uneven hyperedge."""
    rng = np.random.default_rng(5)
    edges, omega = [], []
    for block in range(40):
        for _ in range(25):
            edges.append(
                {int(v) + 20 * block: float(rng.lognormal()) for v in rng.choice(20, 6, replace=False)}
            )
            omega.append(1.0)
    for block in range(39):
        edges.append({20 * block: 1.0, 20 * block + 20: float(rng.uniform(0.5, 2))})
        omega.append(1e-9)
    h = Hypergraph.from_edges(edges, edge_weights=omega, vertex_ids=range(800))
    distribution = RandomWalk(h).distribution
    assert distribution.method in ("krylov", "factorisation")
    assert relative_error(distribution.vertices, oracles.stationary_by_censoring(h, np.float64)) <= 1e-9


def test_large_blocks_joined_by_one_incidence():
    check_nearly_separate(joined_by_incidence(600, 520, 6, 3, 1e-8), "krylov", 1e-6)


def test_long_indices_do_not_disturb_any_method(monkeypatch):
    h = random_hypergraph(120, 100, 6, seed=8)
    for name, value in (("RESTART", 30), ("ELIMINATION_UP_TO", 0), ("MAX_CYCLES", 0)):
        monkeypatch.setattr(stationary, name, value)  # elimination, then krylov, then factorisation
        found, expected = (RandomWalk(g).distribution for g in (with_long_indices(h), h))
        assert found.method == expected.method
        np.testing.assert_array_equal(found.vertices, expected.vertices)


def test_oracles_agree_on_nearly_separate_blocks():
    """Censoring in extended precision against exact fractions."""
    h = joined_by_edge(6, 4, 4, 0, 1e-8, (1.0, 50.0))
    np.testing.assert_allclose(oracles.stationary_by_censoring(h), oracles.stationary(h), rtol=1e-14)


# ---- failing ----------------------------------------------------------------------------------


def test_not_converging_raises_with_the_residual(krylov_only, monkeypatch):
    monkeypatch.setattr(stationary, "MAX_CYCLES", 1)
    with pytest.raises(ConvergenceError) as caught:
        RandomWalk(joined_by_edge(60, 40, 20, 0, 1e-2, (1.0, 50.0)))
    assert np.isfinite(caught.value.residual)
    assert caught.value.residual > stationary.ACCEPTED


def test_factorisation_replaces_slow_krylov():
    """A chain of triangles with random gamma: several hundred steps from end to end."""
    rng = np.random.default_rng(7)
    edges = [{v: rng.uniform(0.9, 1.1), v + 1: 1.0, v + 2: 1.0} for v in range(600)]
    h = build(edges, [1.0] * 600, 602)
    distribution = RandomWalk(h).distribution
    assert distribution.method == "factorisation"
    assert distribution.residual <= 1e-12
    assert relative_error(distribution.vertices, oracles.stationary_by_censoring(h, np.float64)) <= 1e-9
