"""Clusters of attributed hypergraphs: both ends, the choice of beta, new vertices, descriptions."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hyperclus as hc
from hyperclus.errors import InputError
from hyperclus.hypergraph.neighbors import Rows, neighborhoods
from support.command_line import assert_refused, inside

N, K = 240, 3


def classes():
    return np.arange(N) % K


def edges_of(rng, noise, n_edges=180):
    """Hyperedges of four members, most of one class."""
    found = []
    for edge in range(n_edges):
        members = edge % K + K * rng.integers(0, N // K, 4)
        stray = rng.random(4) < noise
        members[stray] = rng.integers(0, N, stray.sum())
        found.append(np.unique(members).tolist())
    return hc.Hypergraph.from_edges(found, vertex_ids=range(N))


def features(rng, noise):
    centres = np.eye(K)[classes()] @ rng.normal(size=(K, 12))
    return centres + noise * rng.normal(size=(N, 12))


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def data(rng):
    return edges_of(rng, 0.45), features(rng, 1.8)


def nmi(part):
    inside = part.labels >= 0
    return hc.agreement(classes()[inside], part.labels[inside]).nmi


def same(one, other):
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.walk.stationary, other.walk.stationary)
    np.testing.assert_array_equal(one.eigenvalues, other.eigenvalues)
    assert (one.ncut, one.lower_bound, one.information) == (other.ncut, other.lower_bound, other.information)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_both_ends_are_one_side_alone(data, alpha):
    """To the last bit."""
    h, rows = data
    same(hc.cluster(h, K, attributes=rows, beta=0, alpha=alpha), hc.cluster(h, K, alpha=alpha))
    found, _ = hc.io.as_attributes(rows)
    graph = neighborhoods(Rows(found.values, found.present, found.metric), np.arange(N))
    end = hc.cluster(h, K, attributes=rows, beta=1, alpha=alpha)
    same(end, hc.cluster(graph, K, alpha=1))
    same(end, hc.cluster(None, K, attributes=rows))


def test_both_sides_beat_each(data):
    h, rows = data
    both = hc.cluster(h, K, attributes=rows)
    assert both.settings["beta"] == 0.65
    assert "65 % of the steps go to similar vertices; hyperedges and attributes have" in str(both)
    assert nmi(both) > max(nmi(hc.cluster(h, K)), nmi(hc.cluster(None, K, attributes=rows)))
    assert both.lower_bound <= both.ncut
    assert both.information <= both.information_bound
    assert both.chance.verdict is not None


def test_useless_attributes_are_left_out(rng):
    h = edges_of(rng, 0.2)
    part = hc.cluster(h, K, attributes=rng.normal(size=(N, 12)))
    assert part.settings["beta"] == 0
    same(part, hc.cluster(h, K))


def test_useless_hyperedges_are_left_out(rng):
    h, rows = edges_of(rng, 1.0), features(rng, 1.0)
    part = hc.cluster(h, K, attributes=rows)
    assert part.settings["beta"] == 1
    same(part, hc.cluster(None, K, attributes=rows))


def test_no_hyperedges_at_all(rng):
    h = hc.Hypergraph.from_incidence(sp.csr_array((N, 1)))
    rows = features(rng, 0.5)
    part = hc.cluster(h, K, attributes=rows)
    assert part.settings["beta"] == 1
    assert nmi(part) > 0.95


def test_vertices_with_one_side_only(rng):
    """A walker uses the side that there is, and a vertex without any has no cluster."""
    h, rows = edges_of(rng, 0.1, 400), features(rng, 0.5)
    rows[:20] = np.nan
    entries = h.restrict(np.arange(N) < N - 20).gamma.tocoo()
    columns = {"vertex": entries.coords[1], "edge": entries.coords[0]}
    h = hc.Hypergraph.from_long(columns, vertex_ids=range(N))
    part = hc.cluster(h, K, attributes=rows, beta=0.5)
    assert part.labels.min() == 0
    assert nmi(part) > 0.8
    steps = part.walk.dense()
    alone = hc.RandomWalk(h.restrict(h.covered)).dense()
    np.testing.assert_allclose(steps[:20][:, h.covered], alone[:20], atol=1e-14)  # by hyperedges alone
    graph = hc.RandomWalk(hc.clustering.with_attributes(None, rows[20:], 1), alpha=1).dense()
    np.testing.assert_allclose(steps[N - 20 :, 20:], graph[N - 40 :], atol=1e-14)  # by attributes alone
    rows[N - 1] = np.nan
    assert hc.cluster(h, K, attributes=rows, beta=0.5).labels[N - 1] == -1


def test_renumbered_vertices_get_the_same_clusters(data, rng):
    h, rows = data
    order = rng.permutation(N)
    one = hc.cluster(h, K, attributes=rows, chance=False)
    other = hc.cluster(h.restrict(order), K, attributes=rows[order], chance=False)
    assert hc.agreement(one.labels[order], other.labels).nmi > 0.9
    assert other.information == pytest.approx(one.information, rel=0.02)


def test_same_seed_same_result(data):
    h, rows = data
    same(hc.cluster(h, K, attributes=rows, seed=4), hc.cluster(h, K, attributes=rows, seed=4))


def test_all_functions_take_a_mixture(data):
    h, rows = data
    mixed = hc.clustering.with_attributes(h, rows, 0.5)
    part = hc.cluster(h, K, attributes=rows, beta=0.5, chance=False)
    same(part, hc.cluster(mixed, K, chance=False))
    assert hc.evaluate(mixed, part).ncut == pytest.approx(part.ncut)
    assert hc.refine(mixed, classes()).information >= hc.evaluate(mixed, classes()).information
    assert hc.hyperclus_g(mixed, K).k == K
    assert hc.suggest_k(mixed, 5).candidates
    assert part.merge([0, 1]).attributes is part.attributes
    with pytest.raises(InputError, match="already"):
        hc.cluster(mixed, K, attributes=rows)


def test_k_is_suggested_for_the_mixture(rng):
    part = hc.cluster(edges_of(rng, 0.1), "auto", attributes=features(rng, 0.5), chance=False)
    assert part.k == K


def test_new_vertices_by_each_side(rng):
    h, rows = edges_of(rng, 0.1), features(rng, 0.5)
    old = np.arange(N) < 200
    part = hc.cluster(h.restrict(old), K, attributes=rows[:200], beta=0.5, chance=False)
    name = {
        int(label): int(np.bincount(part.labels[classes()[:200] == label]).argmax()) for label in range(K)
    }
    expected = np.array([name[label] for label in classes()[200:]])
    by_attributes = part.predict(attributes=rows[200:])
    assert (by_attributes.labels == expected).mean() > 0.9
    known = set(part.walk.hypergraph.edge_ids.tolist())
    lists = {v: [e for e in h.edge_ids[h.gamma[:, [v]].toarray().ravel() > 0].tolist() if e in known]
             for v in range(200, N)}  # fmt: skip
    both = part.predict(lists, attributes=rows[200:])
    assert (both.labels == expected).mean() > 0.9
    by_edges = part.predict(lists)
    np.testing.assert_allclose(both.membership.sum(axis=1), 1.0)
    many = by_edges.labels >= 0
    mean = 0.5 * by_edges.membership[many] + 0.5 * by_attributes.membership[many]
    np.testing.assert_allclose(both.membership[many], mean, atol=1e-12)
    with pytest.raises(InputError, match="give a row for each"):
        part.predict(lists, attributes=rows[:3])


def test_prediction_without_attributes_says_so(data):
    h, rows = data
    with pytest.raises(InputError, match="without"):
        hc.cluster(h, K).predict(attributes=rows)
    with pytest.raises(InputError, match="beta is 0"):
        hc.cluster(h, K, attributes=rows, beta=0).predict(attributes=rows)


def test_models_keep_the_mixture(data, tmp_path):
    h, rows = data
    part = hc.cluster(h, K, attributes=rows, beta=0.5, chance=False)
    part.save(tmp_path / "model.hcm")
    loaded = hc.load(tmp_path / "model.hcm")
    assert loaded.mixture == part.walk.hypergraph.mixture
    rows = sp.csr_array(part.walk.hypergraph.gamma.T)
    for found, expected in zip(loaded.joined(rows), part.model().joined(rows), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_description_names_attributes_and_no_neighborhoods(rng):
    h = edges_of(rng, 0.1)
    kind = np.array(["red", "green", "blue"], dtype=object)[classes()]
    table = {"vertex": np.arange(N), "kind": kind, "size": rng.normal(size=N) + 3 * (classes() == 0)}
    part = hc.cluster(h, K, attributes=table, chance=False)
    described = part.describe(3)
    for cluster, (edges, told) in enumerate(zip(described.edges, described.attributes, strict=True)):
        assert not any(isinstance(edge, tuple) for edge in edges.ids)
        assert told.ids[0] == ("kind", kind[part.labels == cluster][0])
        inside = kind[part.labels == cluster] == told.ids[0][1]
        assert told.mean[0] == pytest.approx(inside.mean())
        assert told.mean_all[0] == pytest.approx(1 / 3)
        deviation = (1 / 3 * 2 / 3) ** 0.5
        assert told.score[0] == pytest.approx((inside.mean() - 1 / 3) / deviation)
        assert "top attributes" in repr(told)
        assert told.to_frame().shape == (3, 4)
    assert "kind = " in str(described)
    assert not hc.cluster(h, K).describe().attributes


@pytest.mark.parametrize("beta", [-0.1, 1.1, float("nan"), "half", None, True])
def test_bad_beta(data, beta):
    h, rows = data
    with pytest.raises(InputError, match="beta"):
        hc.cluster(h, K, attributes=rows, beta=beta)


def test_beta_must_be_known_for_a_mixture(data):
    with pytest.raises(InputError, match="must be a number here"):
        hc.clustering.with_attributes(*data, "auto")
    with pytest.raises(InputError, match="n_neighbors"):
        hc.clustering.with_attributes(*data, 0.5, n_neighbors=0)


def test_page_and_frames(data, tmp_path):
    h, rows = data
    part = hc.cluster(h, K, attributes=rows, beta=0.5)
    part.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert len(part.to_frame()) == N
    assert len(part.edges_frame()) == part.walk.hypergraph.n_edges
    assert "k=3" in repr(part) or part.k == 3


def test_command_line(data, tmp_path):
    h, rows = data
    hc.write(h, tmp_path / "h.npz")
    table = {"vertex": np.arange(N)} | {f"x{column}": rows[:, column] for column in range(rows.shape[1])}
    pd.DataFrame(table).to_csv(tmp_path / "a.csv", index=False)
    np.save(tmp_path / "a.npy", rows)
    expected = hc.cluster(h, K, attributes=rows, chance=False)
    for name in ("a.csv", "a.npy"):
        given = "--attributes", tmp_path / name, "--json", "--no-chance"
        done = inside("cluster", tmp_path / "h.npz", "-k", 3, *given)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert [row["cluster"] for row in found["labels"]] == expected.labels.tolist()
    refused = inside("cluster", tmp_path / "h.npz", "-k", 3, "--beta", "0.5")
    assert_refused(refused, "--beta is for --attributes")
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    for bad, words in (("bad.npz", "not a matrix"), ("absent.npy", "no such file")):
        refused = inside("cluster", tmp_path / "h.npz", "-k", 3, "--attributes", tmp_path / bad)
        assert_refused(refused, words)


def test_estimator(data):
    from hyperclus.sklearn import HypergraphClustering

    h, rows = data
    matrix = sp.csr_array(h.gamma.T)
    model = HypergraphClustering(n_clusters=K, random_state=0).fit(matrix, attributes=rows)
    part = hc.cluster(
        hc.Hypergraph.from_incidence(matrix, empty_edges="drop"), K, attributes=rows, chance=False
    )
    np.testing.assert_array_equal(model.labels_, part.labels)
    again = model.predict(matrix, attributes=rows)
    assert hc.agreement(again, model.labels_).nmi > 0.7
    assert model.predict(matrix).shape == (N,)
    ends = HypergraphClustering(n_clusters=K, beta=1.0, random_state=0).fit(matrix, attributes=rows)
    assert (ends.predict(matrix) == -1).all()
    with pytest.raises(InputError, match="make them equal"):
        model.predict(matrix, attributes=rows[:5])
