"""The figures of the pictures against their definitions, written with loops."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

import hyperclus as hc
from hyperclus.report import views
from support.strategies import build, disconnected, hypergraphs, random_hypergraph, with_partition

labelled = with_partition(hypergraphs())
apart = with_partition(disconnected())


def evaluated(pair):
    return hc.evaluate(*pair)


@given(labelled)
def test_steps_that_stay_and_steps_that_leave(pair):
    part = evaluated(pair)
    chain, phi = part.walk.dense(), part.walk.stationary
    same = part.labels[:, None] == part.labels
    np.testing.assert_allclose(views.stays(part), (chain * same).sum(axis=1), atol=1e-12)
    assert views.leaving(part) == pytest.approx(phi @ (chain * ~same).sum(axis=1), abs=1e-12)


@given(labelled | apart)
def test_telling_hyperedges_are_those_with_the_largest_figure(pair):
    part = evaluated(pair)
    shares, flows, volumes = part.edge_shares(), part.walk.edge_stationary, part.cut.volumes
    for cluster, found in enumerate(views.telling(part, top=3)):
        told = {
            edge: flows[edge] * shares[edge, cluster] * np.log(shares[edge, cluster] / volumes[cluster])
            for edge in range(len(flows))
            if shares[edge, cluster] > volumes[cluster] * (1 + 1e-9)
        }
        expected = sorted(told.values(), reverse=True)[:3]
        np.testing.assert_allclose(
            [told.get(edge, 0.0) for edge in found.edges.tolist()], expected, atol=1e-12
        )
        np.testing.assert_allclose(found.shares, shares[found.edges, cluster], atol=1e-12)
        np.testing.assert_allclose(found.lifts, found.shares / volumes[cluster])
        np.testing.assert_allclose(found.flows, flows[found.edges])


def test_blocks_change_nothing(monkeypatch):
    part = hc.cluster(random_hypergraph(60, 80, 5, seed=1), k=4, alpha=0.5)
    whole = views.telling(part), views.stays(part), views.grid(part).cells
    monkeypatch.setattr(views, "CELLS", 12)
    monkeypatch.setattr("hyperclus.engines.cpu.CHUNK", 40)
    for once, again in zip(whole[0], views.telling(part), strict=True):
        assert once.edges.tolist() == again.edges.tolist()
        np.testing.assert_allclose(once.shares, again.shares)
    np.testing.assert_allclose(views.stays(part), whole[1])
    np.testing.assert_allclose(views.grid(part).cells, whole[2])


@given(labelled)
def test_central_vertices_are_the_most_visited_of_their_cluster(pair):
    part = evaluated(pair)
    phi = part.walk.stationary
    assume(not views.level(part))
    for cluster, found in enumerate(views.central(part, top=2)):
        members = np.flatnonzero(part.labels == cluster)
        assert set(found.vertices.tolist()) <= set(members.tolist())
        expected = np.sort(phi[members])[::-1][:2]
        np.testing.assert_allclose(found.phi, expected, atol=1e-9 * phi.max())
        np.testing.assert_allclose(found.stays, views.stays(part)[found.vertices])


def test_where_all_are_visited_alike_those_that_stay_most_are_central():
    rng = np.random.default_rng(0)
    table = {f"column {i}": rng.integers(0, 3, 40).tolist() for i in range(5)}
    part = hc.cluster(hc.Hypergraph.from_table(table), k=2)
    assert views.level(part)
    staying = views.stays(part)
    for cluster, found in enumerate(views.central(part, top=4)):
        expected = np.sort(staying[part.labels == cluster])[::-1][:4]
        np.testing.assert_allclose(found.stays, expected)
    assert not views.level(hc.cluster(random_hypergraph(60, 80, 5, seed=1), k=2))


def test_columns_of_a_table():
    table = {"hair": [0, 1, 1, 0], "legs": [2, 4, 6, 8]}
    part = hc.cluster(hc.Hypergraph.from_table(table), k=2)
    assert views.columns(part) == {"hair": 2, "legs": 4}
    pairs = {("a", "b"): ["a", "b"], ("a", "c"): ["a", "c"], ("a", "d"): ["a", "d"]}
    assert views.columns(hc.cluster(hc.Hypergraph.from_edges(pairs))) is None
    assert (
        views.columns(hc.cluster(hc.Hypergraph.from_edges({"x": ["a", "b"], ("y", 1): ["b", "c"]}))) is None
    )


def test_vertices_to_look_up():
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]], vertex_ids=list("abcx"), isolated="keep")
    part = hc.cluster(h, k=2)
    shown = views.embedding(part)
    whole = views.lookup(part, shown)
    assert whole.vertices.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(whole.stays, [*views.stays(part), np.nan])
    some = views.lookup(part, shown, most=3)
    assert (some.vertices.tolist(), some.total) == ([0, 1, 2], 4)


@settings(max_examples=40)
@given(labelled)
def test_cells_are_the_means_of_their_groups(pair):
    part = evaluated(pair)
    weights = part.walk.hypergraph.gamma.toarray()
    weights /= weights.max(axis=1, keepdims=True)
    homes = part.edge_shares().argmax(axis=1)
    for rows, columns in ((100, 100), (2, 3)):
        grid = views.grid(part, rows, columns)
        for i, edges in enumerate(grid.edges):
            assert (homes[edges] == grid.row_clusters[i]).all()
            for j, vertices in enumerate(grid.vertices):
                assert (part.labels[vertices] == grid.column_clusters[j]).all()
                assert grid.cells[i, j] == pytest.approx(weights[np.ix_(edges, vertices)].mean(), abs=1e-12)
        assert np.sort(np.concatenate(grid.edges)).tolist() == list(range(len(homes)))
        assert np.sort(np.concatenate(grid.vertices)).tolist() == list(range(len(part.labels)))
        assert (np.diff(grid.row_clusters) >= 0).all()
        assert (np.diff(grid.column_clusters) >= 0).all()


def test_a_grid_of_very_many_clusters_has_the_largest(monkeypatch):
    monkeypatch.setattr(views, "PICTURED", 3)
    h = random_hypergraph(40, 60, 3, seed=2)
    part = hc.evaluate(h, np.arange(40) % 8)
    grid = views.grid(part)
    assert grid.shown == 3
    assert set(grid.column_clusters.tolist()) == {0, 1, 2}
    assert set(grid.row_clusters.tolist()) <= {0, 1, 2}
    assert sum(map(len, grid.vertices)) == part.sizes[:3].sum()


@given(hypergraphs(min_n=3))
def test_the_profile_is_the_sweep(h):
    part = hc.cluster(h)
    view = views.profile(part)
    swept = hc.sweep(part.walk, part.eigenpairs.vectors[:, 1] / np.sqrt(part.walk.stationary))
    assert view.sizes.tolist() == list(range(1, h.n_vertices))
    np.testing.assert_allclose(view.ncuts, swept.ncuts)
    np.testing.assert_allclose(view.conductances, swept.conductances)
    assert view.ncuts[view.best] == swept.ncuts.min()


def test_a_long_profile_keeps_the_lowest_of_each_stretch():
    part = hc.cluster(random_hypergraph(301, 200, 6, seed=3))
    view = views.profile(part, points=20)
    swept = hc.sweep(part.walk, part.eigenpairs.vectors[:, 1] / np.sqrt(part.walk.stationary))
    assert len(view.sizes) <= 23
    assert view.total == 301
    np.testing.assert_allclose(view.ncuts, swept.ncuts[view.sizes - 1])
    assert view.ncuts[view.best] == swept.ncuts.min()
    assert view.conductances.min() == swept.conductances.min()
    assert set(swept.ncuts.reshape(20, 15).min(axis=1)) <= set(view.ncuts)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_eigenvalues_that_are_not_sure_are_upper_bounds(k):
    part = hc.cluster(random_hypergraph(200, 150, 5, seed=4), k=k, effort="thorough")
    view = views.spectrum(part)
    exact = np.linalg.eigvalsh(hc.NormalizedLaplacian(part.walk).dense())
    np.testing.assert_allclose(view.values[: view.sure], exact[: view.sure], atol=1e-7)
    assert len(view.values) > view.sure
    assert (view.values[view.sure :] >= exact[view.sure : len(view.values)] - 1e-9).all()
    assert (view.values[view.sure :] <= 2 + 1e-9).all()
    assert view.gap_after(k) == pytest.approx(view.values[k] - view.values[k - 1])
    assert view.gap_after(len(view.values)) is None


def test_without_guesses_the_spectrum_ends_where_it_is_known():
    part = hc.evaluate(build([{0: 1.0, 1: 2.0}, {1: 1.0, 2: 1.0}], [1.0, 1.0], 3), [0, 0, 1])
    view = views.spectrum(part)
    assert len(view.values) == view.sure == 2
    assert view.gap_after(2) is None


def test_the_embedding_of_many_vertices_keeps_small_clusters():
    h = random_hypergraph(3000, 2000, 6, seed=5)
    labels = np.zeros(3000, dtype=int)
    labels[:4], labels[4:70] = 2, 1
    part = hc.evaluate(h, labels)
    view = views.embedding(part, shown=600)
    counts = np.bincount(part.labels[view.vertices], minlength=3)
    assert counts[2] == 4
    assert counts[1] == 40
    assert 500 <= counts[0] <= 620
    assert view.total == 3000
    assert (np.diff(view.vertices) > 0).all()
    few = views.embedding(hc.evaluate(h, np.arange(3000) % 150), shown=600)
    assert len(few.vertices) <= 750
    assert np.unique(np.arange(3000)[few.vertices] % 150).size == 150


def test_the_embedding_is_that_of_the_eigenvectors_and_moves_only_what_is_far():
    part = hc.cluster(random_hypergraph(80, 60, 4, seed=6), k=3)
    view = views.embedding(part)
    places = part.eigenpairs.vectors[:, 1:3] / np.sqrt(part.walk.stationary)[:, None]
    same = (np.abs(view.places[:, :2] - places) < 1e-12).all(axis=1)
    assert np.count_nonzero(~same) <= view.far < 20
    assert view.axes[:2] == ("eigenvector 2", "eigenvector 3")
    assert all("rough" in axis for axis in view.axes[2:])


def test_small_things_have_two_coordinates_too():
    alone = hc.cluster(hc.Hypergraph.from_edges([["a"]]), k=1)
    assert views.embedding(alone).places.shape == (1, 2)
    assert views.profile(alone) is None
    pair = hc.evaluate(hc.Hypergraph.from_edges([["a", "b"]]), [0, 1])
    assert views.embedding(pair).places.shape == (2, 2)


def test_vertices_in_no_hyperedge_have_no_place():
    h = hc.Hypergraph.from_edges([["b", "c"], ["c", "d"]], vertex_ids=list("abcd"), isolated="keep")
    part = hc.cluster(h)
    view = views.embedding(part)
    assert part.vertex_ids[view.vertices].tolist() == ["b", "c", "d"]
    named = {part.vertex_ids[v] for found in views.central(part) for v in found.vertices}
    assert named == {"b", "c", "d"}
    found = views.against(part, {"a": "x", "b": "x", "c": "x", "d": "y"})
    assert found.counts.sum() == 3
