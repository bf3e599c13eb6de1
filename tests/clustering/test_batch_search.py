"""Batch search: the gains and clusters of the vertex search, and a cost that never rises."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.clustering.batch_search import BatchSearch
from hyperclus.clustering.objectives import INFORMATION, NCUT
from hyperclus.clustering.objectives.information import LEAST
from hyperclus.clustering.search_problem import EFFORTS, MIN_GAIN, SearchProblem
from hyperclus.clustering.vertex_search import Clusters
from support.engine_contracts import planted
from support.strategies import disconnected, hypergraphs

some = settings(deadline=None, max_examples=60)
FAST, DEFAULT = (replace(EFFORTS[name], batched_from=(0, 0)) for name in ("fast", "default"))  # of any size


@st.composite
def searches(draw):
    """A walk with the smallest volume of a cluster, and labels of k clusters, none of them empty."""
    h = draw(st.one_of(hypergraphs(min_n=3), disconnected()))
    k = draw(st.integers(2, min(4, h.n_vertices)))
    rest = draw(st.lists(st.integers(0, k - 1), min_size=h.n_vertices - k, max_size=h.n_vertices - k))
    labels = np.array(draw(st.permutations([*range(k), *rest])))
    walk = hc.RandomWalk(h, alpha=draw(st.sampled_from([0.0, 0.5, 1.0])))
    min_volume = draw(st.sampled_from([0.0, 0.01, 0.5 / k]))
    return batches(walk, k, min_volume, draw(st.sampled_from([NCUT, INFORMATION]))), labels


def batches(walk, k, min_volume, objective=NCUT):
    pairs = hc.smallest_eigenpairs(hc.NormalizedLaplacian(walk), k)
    return BatchSearch(SearchProblem(walk, pairs, k, min_volume, objective), DEFAULT)


def clusters_of(search, labels):
    return Clusters.of(search.walk, labels, search.k, search.min_volume, search.objective)


@some
@given(searches())
def test_the_state_is_what_the_definitions_say(case):
    search, labels = case
    phi, p = search.walk.stationary, search.walk.dense()
    members = (labels[:, None] == np.arange(search.k)).astype(float)
    state = search.evaluate(labels)
    out, back = phi[:, None] * (p @ members), p.T @ (phi[:, None] * members)
    linked = [out + back] if search.objective is NCUT else [out, back]
    for rows, blocks in state.linked.blocks():
        for found, expected in zip(blocks, linked, strict=False):  # in a reversible walk, out is enough
            np.testing.assert_allclose(found, expected[rows, :-1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(state.volumes, phi @ members, rtol=1e-13)
    between = members.T @ out
    expected = np.diag(between) if search.objective is NCUT else between
    found = state.flows if search.objective is NCUT else state.flows[0]
    np.testing.assert_allclose(found, expected, atol=1e-14)
    np.testing.assert_allclose(search.own, phi * np.diag(p), rtol=1e-12)
    assert state.cost == pytest.approx(search.with_cost(labels)[0], abs=1e-11)
    assert state.cost == pytest.approx(clusters_of(search, labels).cost, abs=1e-11)


@some
@given(searches())
def test_gains_are_those_of_single_moves(case):
    search, labels = case
    clusters = clusters_of(search, labels)
    expected = clusters._gains(np.arange(len(labels)))
    gains, targets = search.gains(search.evaluate(labels))
    movable = expected > -0.9  # others would leave a cluster empty or too small
    if search.objective is NCUT:
        np.testing.assert_allclose(gains[movable], expected[movable], rtol=0, atol=1e-9)
    assert (gains[~movable] < MIN_GAIN).all()
    for vertex in np.flatnonzero(gains > 1e-9):
        moved = labels.copy()
        moved[vertex] = targets[vertex]
        gained = clusters.cost - clusters_of(search, moved).cost
        if search.objective is NCUT:
            assert gained == pytest.approx(gains[vertex], abs=1e-9)
        elif (search.evaluate(labels).flows[0] > LEAST).all():  # first-order gains are lower bounds
            assert gained >= gains[vertex] - 1e-9


@some
@given(searches())
def test_moves_never_raise_the_cost_and_empty_no_cluster(case):
    search, labels = case
    before = search.evaluate(labels)
    after = search.descend(before)
    assert after.cost <= before.cost
    assert len(np.unique(after.labels)) == search.k
    assert after.cost == pytest.approx(search.with_cost(after.labels)[0], abs=1e-11)


def test_moves_end_where_no_single_move_gains():
    h = planted(200, 300, 3)
    search = batches(hc.RandomWalk(h), 3, 0.0)
    end = search.descend(search.evaluate(np.random.default_rng(1).integers(0, 3, h.n_vertices)))
    assert search.gains(end)[0].max() <= MIN_GAIN


@pytest.mark.parametrize("objective", ["ncut", "information"])
@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("effort", ["fast", "default"])
def test_planted_clusters_are_those_of_the_vertex_search(k, effort, objective):
    h = planted(60 * k, 100 * k, k, noise=0.1, seed=k)
    one_by_one = hc.cluster(h, k, effort=effort, objective=objective)
    together = hc.cluster(h, k, effort=FAST if effort == "fast" else DEFAULT, objective=objective)
    assert together.ncut == pytest.approx(one_by_one.ncut, abs=1e-6)
    np.testing.assert_array_equal(together.labels, one_by_one.labels)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_clusters_hold_their_share(share):
    h = planted(120, 200, 2, noise=0.3)
    part = hc.cluster(h, 2, min_share=share, effort=DEFAULT)
    slack = h.n_vertices**-1 if share == 0.5 else 1e-12
    assert part.cut.volumes.min() >= share - slack


@settings(deadline=None, max_examples=40)
@given(h=st.one_of(hypergraphs(min_n=3), disconnected()), data=st.data())
def test_any_hypergraph_is_answered_and_refined(h, data):
    k = data.draw(st.integers(2, min(3, h.n_vertices)))
    part = hc.cluster(h, k, effort=DEFAULT)
    assert set(part.labels) == set(range(k))
    assert part.lower_bound <= part.ncut + 1e-9
    again = hc.refine(h, part.labels, min_share=0.0, effort=FAST)
    assert again.ncut <= part.ncut + 1e-9


def test_moves_that_undo_each_other_are_separated():
    """Both ends of a pair would swap forever; all gains are equal."""
    n = 400
    pairs = hc.Hypergraph.from_edges([[2 * edge, 2 * edge + 1] for edge in range(n // 2)])
    assert hc.refine(pairs, np.arange(n) % 2, effort=FAST, objective="ncut").ncut < 0.05
    two = hc.Hypergraph.from_edges([list(range(360)), list(range(360, n))])
    assert hc.cluster(two, 2, min_share=0.5, effort=DEFAULT).cut.volumes == pytest.approx(
        [0.5, 0.5], abs=0.01
    )


def test_refining_noise_finds_the_blocks():
    h = planted(300, 500, 3, noise=0.1)
    labels = hc.cluster(h, 3, effort=DEFAULT).labels.copy()
    rng = np.random.default_rng(0)
    wrong = rng.random(len(labels)) < 0.3
    labels[wrong] = rng.integers(0, 3, wrong.sum())
    lowest = hc.cluster(h, 3, effort=DEFAULT).ncut
    assert hc.refine(h, labels, effort=FAST).ncut == pytest.approx(lowest, abs=1e-4)


def test_permuting_the_vertices_permutes_the_result():
    h = planted(150, 250, 3, noise=0.1)
    shuffle = np.random.default_rng(0).permutation(h.n_vertices)
    part, other = (hc.cluster(one, 3, effort=DEFAULT) for one in (h, h.restrict(shuffle)))
    assert other.ncut == pytest.approx(part.ncut, abs=1e-9)
    assert hc.agreement(part.labels[shuffle], other.labels).ari == pytest.approx(1.0)
