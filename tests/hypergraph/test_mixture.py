"""A mixture of two groups of hyperedges: its walk equals the definition, and parts of it stay mixtures."""

import pickle

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.errors import InputError
from hyperclus.hypergraph.configuration_model import shuffled
from hyperclus.hypergraph.mixture import Mixture
from hyperclus.spectral.factors import TransitionFactors
from support.engine_contracts import incidences, planted, with_neighborhoods


@pytest.fixture
def mixed():
    return with_neighborhoods(planted(30, 40, 2))


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_steps_are_shared_as_beta_says(mixed, alpha):
    """The transition matrix, by loops over incidences."""
    n, first = mixed.n_vertices, mixed.n_edges - mixed.mixture.n_neighborhoods
    delta = np.asarray(mixed.gamma.sum(axis=1)).ravel()
    expected, share = np.zeros((n, n)), np.zeros(n)
    everything = incidences(mixed, alpha)
    for e, u, _, source in everything:
        share[u] += mixed.edge_weights[e] * source * (e >= first)
        for other, v, gamma, _ in everything:
            if other == e:
                expected[u, v] += mixed.edge_weights[e] * source * gamma / delta[e]
    factors = TransitionFactors(mixed, alpha=alpha)
    np.testing.assert_allclose(factors.degrees, 1.0, rtol=1e-13)
    np.testing.assert_allclose(factors.vertex_chain(), expected, rtol=1e-12)
    both = np.asarray((mixed.gamma[first:] > 0).sum(axis=0)).ravel() > 0
    np.testing.assert_allclose(share[both], mixed.mixture.beta, rtol=1e-12)
    np.testing.assert_array_equal(share[~both], 0.0)
    walk = hc.RandomWalk(mixed, alpha=alpha)
    np.testing.assert_allclose(walk.stationary @ expected, walk.stationary, atol=1e-13)
    assert not walk.reversible


def test_bounds_hold(mixed):
    part = hc.cluster(mixed, 3, objective="ncut", chance=False)
    assert part.lower_bound <= part.ncut
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = hc.evaluate(mixed, rng.permutation(np.arange(mixed.n_vertices) % 3), chance=False)
        assert other.ncut >= part.lower_bound - 1e-12
        assert other.information <= part.information_bound + 1e-12


def test_flows_equal_their_definition(mixed):
    walk, labels = hc.RandomWalk(mixed), np.arange(mixed.n_vertices) % 3
    flow = walk.stationary[:, None] * walk.dense()
    between = np.array([[flow[labels == i][:, labels == j].sum() for j in range(3)] for i in range(3)])
    ncut = 3 - (np.diag(between) / between.sum(axis=1)).sum()
    part = hc.evaluate(mixed, labels, chance=False)
    assert part.ncut == pytest.approx(ncut, rel=1e-12)
    volumes = between.sum(axis=1)
    information = (between * np.log(between / np.outer(volumes, volumes))).sum()
    assert part.information == pytest.approx(information, rel=1e-11)
    members = (labels[:, None] == np.arange(3)).astype(float)
    shares = part.membership().toarray()[:, np.argsort([part.labels[i] for i in range(3)])]
    np.testing.assert_allclose(part.membership().toarray()[:, part.labels[:3]], walk.dense() @ members)
    assert shares.shape == members.shape
    assert np.isfinite(part.confidence().values).all()


def test_parts_stay_mixtures(mixed):
    kept = mixed.restrict(np.arange(20))
    assert kept.mixture.beta == mixed.mixture.beta
    similar = mixed.mixture.neighborhoods(mixed.n_edges)
    some = np.asarray((mixed.gamma[:, :20] > 0).sum(axis=1)).ravel() > 0
    assert kept.mixture.n_neighborhoods == np.count_nonzero(similar & some)
    assert mixed.drop_edges(similar).mixture is None
    assert mixed.drop_edges(~similar).mixture is None
    assert mixed.with_nouns(vertex="paper").mixture == mixed.mixture
    assert mixed.with_gamma(np.ones(mixed.n_incidences)).mixture == mixed.mixture


def test_copies_and_keys(mixed):
    again = pickle.loads(pickle.dumps(mixed))
    assert again.mixture == mixed.mixture
    assert again.content_key() == mixed.content_key()
    other = with_neighborhoods(planted(30, 40, 2), beta=0.5)
    assert other.content_key() != mixed.content_key()
    walk = pickle.loads(pickle.dumps(hc.RandomWalk(mixed)))
    np.testing.assert_array_equal(walk.dense(), hc.RandomWalk(mixed).dense())


def test_groups_are_shuffled_apart(mixed):
    again = shuffled(mixed, np.random.default_rng(0))
    assert again.mixture == mixed.mixture
    first = mixed.n_edges - mixed.mixture.n_neighborhoods
    for part in (slice(0, first), slice(first, None)):
        degrees = [np.bincount(h.gamma[part].indices, minlength=h.n_vertices) for h in (mixed, again)]
        assert np.abs(degrees[0] - degrees[1]).sum() <= 0.02 * degrees[0].sum()
    assert not np.array_equal(again.gamma.indices, mixed.gamma.indices)


@pytest.mark.parametrize("given", [(0, 0.5), (1.5, 0.5), ("2", 0.5), (2, 0), (2, 1), (2, float("nan"))])
def test_bad_mixtures_are_refused(given):
    with pytest.raises(InputError):
        Mixture(*given)


def test_all_hyperedges_cannot_be_neighborhoods(mixed):
    parts = mixed.gamma, mixed.edge_weights, mixed.vertex_ids, mixed.edge_ids
    with pytest.raises(InputError, match="cannot be neighbourhoods"):
        hc.Hypergraph(*parts, mixture=Mixture(mixed.n_edges, 0.5))
    with pytest.raises(InputError, match="must be a Mixture"):
        hc.Hypergraph(*parts, mixture=0.5)


def test_checkpoints_tell_betas_apart(tmp_path, mixed):
    other = with_neighborhoods(planted(30, 40, 2), beta=0.9)
    alone = [hc.cluster(h, 3, chance=False) for h in (mixed, other)]
    with hc.checkpoints(tmp_path):
        for _ in range(2):
            kept = [hc.cluster(h, 3, chance=False) for h in (mixed, other)]
            for found, expected in zip(kept, alone, strict=True):
                np.testing.assert_array_equal(found.labels, expected.labels)
                assert found.ncut == expected.ncut


def test_local_clusters_and_trees(mixed):
    local = hc.local_cluster(mixed, mixed.vertex_ids[:2])
    assert 0 <= local.conductance <= 1
    part = hc.cluster(mixed, 4, chance=False)
    assert len(part.tree().cut(2)) == mixed.n_vertices
    assert part.split(0).k == 5
    assert part.merge([0, 1]).k == 3
