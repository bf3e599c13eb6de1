"""Many moves at once: the same gains as one by one, never a higher NCut, and the same clusters."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus._runtime.progress import WorkProgress
from hyperclus.clustering import batch_search
from hyperclus.clustering.vertex_search import ENOUGH, Clusters
from support.engine_contracts import planted
from support.strategies import disconnected, hypergraphs

some = settings(deadline=None, max_examples=60)
forced = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def batched(monkeypatch):
    """Have hypergraphs of any size searched in batches."""
    monkeypatch.setattr(batch_search, "BATCHED_FROM", 0)


@st.composite
def crowds(draw):
    """A walk, labels of k clusters, none of them empty, and the least volume of one."""
    h = draw(st.one_of(hypergraphs(min_n=3), disconnected()))
    k = draw(st.integers(2, min(4, h.n_vertices)))
    rest = draw(st.lists(st.integers(0, k - 1), min_size=h.n_vertices - k, max_size=h.n_vertices - k))
    labels = np.array(draw(st.permutations([*range(k), *rest])))
    walk = hc.RandomWalk(h, alpha=draw(st.sampled_from([0.0, 0.5, 1.0])))
    least = draw(st.sampled_from([0.0, 0.01, 0.5 / k]))
    return batch_search.BatchState(walk, k, least, WorkProgress("search", "incidences")), labels


@some
@given(crowds())
def test_a_look_sees_what_the_definitions_say(case):
    crowd, labels = case
    phi, p = crowd.walk.stationary, crowd.walk.dense()
    members = (labels[:, None] == np.arange(crowd.k)).astype(float)
    look = crowd.look(labels)
    linked = phi[:, None] * (p @ members) + p.T @ (phi[:, None] * members)
    np.testing.assert_allclose(look.linked, linked[:, :-1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(look.volumes, phi @ members, rtol=1e-13)
    np.testing.assert_allclose(look.insides, np.diag(members.T @ (phi[:, None] * p) @ members), atol=1e-14)
    np.testing.assert_allclose(crowd.own, phi * np.diag(p), rtol=1e-12)
    assert look.cost == pytest.approx(crowd.cost(labels), abs=1e-11)
    assert look.cost == pytest.approx(Clusters.of(crowd.walk, labels, crowd.k, crowd.least).cost, abs=1e-11)


@some
@given(crowds())
def test_gains_are_those_of_single_moves(case):
    crowd, labels = case
    clusters = Clusters.of(crowd.walk, labels, crowd.k, crowd.least)
    expected = clusters._gains(np.arange(len(labels)))
    gains, targets = crowd.gains(crowd.look(labels))
    movable = expected > -0.9  # others would leave a cluster empty or too small
    np.testing.assert_allclose(gains[movable], expected[movable], rtol=0, atol=1e-9)
    assert (gains[~movable] < ENOUGH).all()
    for vertex in np.flatnonzero(gains > 1e-9):
        moved = labels.copy()
        moved[vertex] = targets[vertex]
        after = Clusters.of(crowd.walk, moved, crowd.k, crowd.least)
        assert clusters.cost - after.cost == pytest.approx(gains[vertex], abs=1e-9)


@some
@given(crowds())
def test_moves_never_raise_the_cost_and_empty_no_cluster(case):
    crowd, labels = case
    before = crowd.look(labels)
    after = crowd.descend(before)
    assert after.cost <= before.cost
    assert len(np.unique(after.labels)) == crowd.k
    assert after.cost == pytest.approx(crowd.cost(after.labels), abs=1e-11)


def test_moves_end_where_no_single_move_gains():
    h = planted(200, 300, 3)
    crowd = batch_search.BatchState(hc.RandomWalk(h), 3, 0.0, WorkProgress("search", "incidences"))
    end = crowd.descend(crowd.look(np.random.default_rng(1).integers(0, 3, h.n_vertices)))
    assert crowd.gains(end)[0].max() <= ENOUGH


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("effort", ["fast", "default"])
def test_planted_clusters_come_out_as_from_single_moves(monkeypatch, k, effort):
    h = planted(60 * k, 100 * k, k, noise=0.1, seed=k)
    one_by_one = hc.cluster(h, k, effort=effort)
    monkeypatch.setattr(batch_search, "BATCHED_FROM", 0)
    together = hc.cluster(h, k, effort=effort)
    assert together.ncut == pytest.approx(one_by_one.ncut, abs=1e-6)
    np.testing.assert_array_equal(together.labels, one_by_one.labels)


@pytest.mark.usefixtures("batched")
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_clusters_hold_their_share(share):
    h = planted(120, 200, 2, noise=0.3)
    part = hc.cluster(h, 2, min_share=share)
    slack = h.n_vertices**-1 if share == 0.5 else 1e-12
    assert part.cut.volumes.min() >= share - slack


@forced
@given(h=st.one_of(hypergraphs(min_n=3), disconnected()), data=st.data())
def test_any_hypergraph_is_answered_and_refined(monkeypatch, h, data):
    monkeypatch.setattr(batch_search, "BATCHED_FROM", 0)
    k = data.draw(st.integers(2, min(3, h.n_vertices)))
    part = hc.cluster(h, k)
    assert set(part.labels) == set(range(k))
    assert part.lower_bound <= part.ncut + 1e-9
    again = hc.refine(h, part.labels, min_share=0.0)
    assert again.ncut <= part.ncut + 1e-9


@pytest.mark.usefixtures("batched")
def test_moves_that_undo_each_other_are_parted():
    """Both ends of a pair would change places for ever; all gains are the same."""
    n = 400
    pairs = hc.Hypergraph.from_edges([[2 * edge, 2 * edge + 1] for edge in range(n // 2)])
    assert hc.refine(pairs, np.arange(n) % 2).ncut < 0.05
    two = hc.Hypergraph.from_edges([list(range(360)), list(range(360, n))])
    assert hc.cluster(two, 2, min_share=0.5).cut.volumes == pytest.approx([0.5, 0.5], abs=0.01)


@pytest.mark.usefixtures("batched")
def test_refining_noise_finds_the_blocks():
    h = planted(300, 500, 3, noise=0.1)
    labels = hc.cluster(h, 3).labels.copy()
    rng = np.random.default_rng(0)
    wrong = rng.random(len(labels)) < 0.3
    labels[wrong] = rng.integers(0, 3, wrong.sum())
    assert hc.refine(h, labels).ncut == pytest.approx(hc.cluster(h, 3).ncut, abs=1e-4)


@pytest.mark.usefixtures("batched")
def test_a_vertex_order_changes_nothing_but_the_order():
    h = planted(150, 250, 3, noise=0.1)
    shuffle = np.random.default_rng(0).permutation(h.n_vertices)
    part, other = hc.cluster(h, 3), hc.cluster(h.restrict(shuffle), 3)
    assert other.ncut == pytest.approx(part.ncut, abs=1e-9)
    assert hc.agreement(part.labels[shuffle], other.labels).ari == pytest.approx(1.0)
