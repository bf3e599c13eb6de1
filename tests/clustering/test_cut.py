"""Volume, boundary, NCut, conductance and the sweep against the double sums of the definitions."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus import NormalizedLaplacian, RandomWalk, cut, smallest_eigenpairs, sweep
from hyperclus.clustering.cut import edge_shares, flow
from hyperclus.engines import cpu
from support import oracles
from support.strategies import (
    alphas,
    build,
    disconnected,
    hypergraphs,
    random_hypergraph,
    with_long_indices,
    with_partition,
    with_relabelling,
    with_scaled_edges,
    with_subset,
    with_vector,
)

examples = settings(deadline=None, max_examples=80)
anything = st.one_of(hypergraphs(), disconnected())


def mask(h, inside):
    return np.isin(np.arange(h.n_vertices), list(inside))


def labels_of(h, inside):
    return np.where(mask(h, inside), 0, 1)


def same_partition(first, second):
    """Equal up to the numbers of the clusters."""
    return len({*zip(first, second, strict=True)}) == len({*first}) == len({*second})


# ---- one set ----------------------------------------------------------------------------------


@examples
@given(with_subset(anything), alphas)
def test_flow_in_equals_flow_out(case, alpha):
    """Theorem 12, and the library's boundary is that flow."""
    h, inside = case
    p, phi = oracles.transition(h, alpha), oracles.stationary(h, alpha)
    out = oracles.flow_out(p, phi, inside)
    assert oracles.flow_in(p, phi, inside) == pytest.approx(out, rel=1e-9, abs=1e-15)
    for side in (inside, set(range(h.n_vertices)) - inside):
        volume, boundary = flow(RandomWalk(h, alpha=alpha), mask(h, side))
        assert volume == pytest.approx(oracles.volume(phi, side), rel=1e-12)
        assert boundary == pytest.approx(out, rel=1e-9, abs=1e-15)
        assert 0 <= boundary <= volume * (1 + 1e-12)


@examples
@given(with_subset(anything), alphas)
def test_two_way_cut_is_the_definition(case, alpha):
    h, inside = case
    p, phi = oracles.transition(h, alpha), oracles.stationary(h, alpha)
    found = cut(RandomWalk(h, alpha=alpha), labels_of(h, inside), 2)
    assert found.ncut == pytest.approx(oracles.ncut_two_way(p, phi, inside), rel=1e-9, abs=1e-13)
    expected = oracles.conductance(p, phi, inside)
    np.testing.assert_allclose(found.conductances, expected, rtol=1e-9, atol=1e-13)


@examples
@given(with_subset(anything), alphas)
def test_conductance_lies_between_zero_and_one_and_below_ncut(case, alpha):
    """Theorem 20 and Corollary 21."""
    h, inside = case
    found = cut(RandomWalk(h, alpha=alpha), labels_of(h, inside), 2)
    assert found.conductances.min() >= 0
    assert found.conductances.max() <= 1 + 1e-12
    assert found.conductances.max() <= found.ncut * (1 + 1e-12)
    assert found.ncut <= 2 + 1e-12


def test_conductance_of_a_cut_next_to_nothing():
    """vol(S) is about 1e-12 or 1e-20: both sides must report the conductance of S, about 1."""
    for gamma in (1e-12, 1e-20):
        edges = [{0: gamma, 1: 1.0}, {1: 1.0, 2: 1.0}, {2: 1.0, 3: 2.0}]
        h = build(edges, [1.0] * 3, 4)
        p, phi = oracles.transition(h), oracles.stationary(h)
        found = cut(RandomWalk(h), np.array([0, 1, 1, 1]), 2)
        expected = oracles.conductance(p, phi, {0})
        np.testing.assert_allclose(found.conductances, expected, rtol=1e-9)
        assert found.ncut == pytest.approx(oracles.ncut_two_way(p, phi, {0}), rel=1e-9)


# ---- partitions -------------------------------------------------------------------------------


@examples
@given(with_partition(anything), alphas)
def test_k_way_cut_is_the_definition(case, alpha):
    h, labels = case
    k = labels.max() + 1
    p, phi = oracles.transition(h, alpha), oracles.stationary(h, alpha)
    parts = [set(np.flatnonzero(labels == i).tolist()) for i in range(k)]
    found = cut(RandomWalk(h, alpha=alpha), labels, k)
    assert found.ncut == pytest.approx(oracles.ncut(p, phi, parts), rel=1e-9, abs=1e-13)
    np.testing.assert_allclose(found.volumes, [oracles.volume(phi, part) for part in parts], rtol=1e-12)
    np.testing.assert_allclose(
        found.boundaries, [oracles.flow_out(p, phi, part) for part in parts], rtol=1e-9, atol=1e-15
    )
    assert found.volumes.sum() == pytest.approx(1.0)
    assert 0 <= found.ncut <= k


@examples
@given(hypergraphs())
def test_one_cluster_of_everything_cuts_nothing(h):
    found = cut(RandomWalk(h), np.zeros(h.n_vertices, dtype=np.int64), 1)
    assert found.ncut == 0
    assert found.conductances.tolist() == [0]


@examples
@given(with_relabelling(anything), alphas, st.data())
def test_relabelling_only_relabels(case, alpha, data):
    h, other, origin = case
    raw = data.draw(st.lists(st.integers(0, 2), min_size=h.n_vertices, max_size=h.n_vertices))
    labels = np.unique(raw, return_inverse=True)[1]
    k = labels.max() + 1
    expected = cut(RandomWalk(h, alpha=alpha), labels, k)
    found = cut(RandomWalk(other, alpha=alpha), labels[origin], k)
    assert found.ncut == pytest.approx(expected.ncut, rel=1e-9, abs=1e-13)
    np.testing.assert_allclose(found.conductances, expected.conductances, rtol=1e-9, atol=1e-13)


@examples
@given(with_scaled_edges(hypergraphs(min_n=3)))
def test_scaling_the_gammas_of_an_edge_changes_neither_ncut_nor_clusters(case):
    """Where the second eigenvector is unique and its signs are clear, the labels are the same."""
    h, scaled = case
    pairs = smallest_eigenpairs(NormalizedLaplacian(RandomWalk(h)), 3)
    assume(pairs.values[2] - pairs.values[1] > 1e-4)
    assume(np.abs(pairs.vectors[:, 1]).min() > 1e-7)
    first, second = (hc.hyperclus_g(g) for g in (h, scaled))
    assert same_partition(first.labels, second.labels)
    assert second.ncut == pytest.approx(first.ncut, rel=1e-9, abs=1e-13)


# ---- the sweep --------------------------------------------------------------------------------


@examples
@given(with_vector(anything), alphas)
def test_sweep_is_every_prefix(case, alpha):
    """Boundaries are promised to about eps sqrt(n); a quotient by a small volume magnifies that."""
    h, scores = case
    p, phi = oracles.transition(h, alpha), oracles.stationary(h, alpha)
    found = sweep(RandomWalk(h, alpha=alpha), scores)
    assert found.order.tolist() == sorted(range(h.n_vertices), key=lambda v: (scores[v], v))
    noise = 4 * np.finfo(float).eps * np.sqrt(h.n_vertices)
    cuts = oracles.prefixes(found.order.tolist())
    assert len(found.volumes) == len(cuts) == h.n_vertices - 1
    for i, inside in enumerate(cuts):
        rest = set(range(h.n_vertices)) - inside
        smaller = min(oracles.volume(phi, inside), oracles.volume(phi, rest))
        assert set(np.flatnonzero(found.prefix(i)).tolist()) == inside
        assert found.volumes[i] == pytest.approx(oracles.volume(phi, inside), rel=1e-12)
        assert found.rests[i] == pytest.approx(oracles.volume(phi, rest), rel=1e-12)
        assert found.boundaries[i] == pytest.approx(oracles.flow_out(p, phi, inside), rel=1e-12, abs=noise)
        expected = oracles.conductance(p, phi, inside)
        assert found.conductances[i] == pytest.approx(expected, rel=1e-12, abs=noise / smaller)
        expected = oracles.ncut_two_way(p, phi, inside)
        assert found.ncuts[i] == pytest.approx(expected, rel=1e-12, abs=2 * noise / smaller)


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_sweep_in_chunks_is_the_sweep(monkeypatch, chunk, alpha):
    walk = RandomWalk(random_hypergraph(60, 45, 7, seed=2), alpha=alpha)
    scores = np.random.default_rng(0).standard_normal(60)
    whole = sweep(walk, scores)
    monkeypatch.setattr(cpu, "CHUNK", chunk)
    parts = sweep(walk, scores)
    np.testing.assert_array_equal(parts.order, whole.order)
    np.testing.assert_allclose(parts.boundaries, whole.boundaries, rtol=1e-11)
    np.testing.assert_allclose(parts.ncuts, whole.ncuts, rtol=1e-11)


@pytest.mark.parametrize("alpha", [0, 0.7, 1])
def test_sweep_agrees_with_the_cut_of_each_prefix(alpha):
    walk = RandomWalk(random_hypergraph(80, 60, 9, seed=3), alpha=alpha)
    found = sweep(walk, np.random.default_rng(0).standard_normal(80))
    for i in range(79):
        scored = cut(walk, np.where(found.prefix(i), 0, 1), 2)
        assert found.ncuts[i] == pytest.approx(scored.ncut, rel=1e-10)
        assert found.conductances[i] == pytest.approx(scored.conductances[0], rel=1e-10)


@examples
@given(hypergraphs())
def test_sweep_rounding_is_never_worse_than_sign_rounding(h):
    """The sign cut is one of the prefixes of z / sqrt(phi)."""
    assert (
        hc.hyperclus_g(h, k=2, rounding="sweep").ncut <= hc.hyperclus_g(h, k=2, rounding="sign").ncut + 1e-9
    )


# ---- components -------------------------------------------------------------------------------


@pytest.mark.parametrize("rounding", ["sign", "sweep"])
@settings(deadline=None, max_examples=150)
@given(h=disconnected())
def test_two_clusters_of_a_disconnected_hypergraph_cut_nothing(rounding, h):
    part = hc.hyperclus_g(h, k=2, rounding=rounding)
    parts = oracles.components(h)
    assert part.n_components == len(parts)
    assert part.k == 2
    assert set(part.labels.tolist()) == {0, 1}
    assert part.ncut == 0
    assert part.conductance == 0
    assert part.lower_bound == 0
    for inside in parts:
        assert len(set(part.labels[inside].tolist())) == 1


@examples
@given(disconnected())
def test_a_cluster_for_each_component_cuts_nothing(h):
    parts = oracles.components(h)
    part = hc.cluster(h, k=len(parts), objective="ncut")
    assert part.k == len(parts)
    assert part.ncut == 0
    expected = np.zeros(h.n_vertices, dtype=int)
    for number, inside in enumerate(parts):
        expected[inside] = number
    assert same_partition(part.labels, expected)


# ---- 64-bit indices ---------------------------------------------------------------------------


def test_long_indices_give_the_same_cuts_and_clusters():
    """SciPy indexes with 64 bits from 2^31 incidences on; this stands for such a hypergraph."""
    h = random_hypergraph(70, 50, 6, seed=4)
    long = with_long_indices(h)
    assert long.gamma.indices.dtype == np.int64
    scores = np.random.default_rng(0).standard_normal(70)
    np.testing.assert_array_equal(
        sweep(RandomWalk(long), scores).boundaries, sweep(RandomWalk(h), scores).boundaries
    )
    for rounding in ("sign", "sweep"):
        found, expected = (hc.hyperclus_g(g, k=4, rounding=rounding) for g in (long, h))
        np.testing.assert_array_equal(found.labels, expected.labels)
        assert found.ncut == expected.ncut


@examples
@given(with_partition(hypergraphs()), alphas)
def test_edge_shares_are_where_walkers_come_from_and_where_they_go(case, alpha):
    h, labels = case
    walk, k = RandomWalk(h, alpha=alpha), int(max(labels)) + 1
    a, b = oracles.factor_matrices(h, alpha)
    shares = edge_shares(walk, labels, k)
    for e in range(h.n_edges):
        through = sum(walk.stationary[v] * a[v][e] for v in range(h.n_vertices))
        for cluster in range(k):
            inside = [v for v in range(h.n_vertices) if labels[v] == cluster]
            coming = sum(walk.stationary[v] * a[v][e] for v in inside) / through
            going = sum(b[e][v] for v in inside)
            assert shares[e, cluster] == pytest.approx((coming + going) / 2, abs=1e-9)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(walk.edge_stationary @ shares, cut(walk, labels, k).volumes, atol=1e-9)
