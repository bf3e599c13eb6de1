"""Views of a partition, compared with their definitions written with loops."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

import hyperclus as hc
from hyperclus.report import views as views_module
from hyperclus.report.views import Limits, Views
from support.strategies import build, disconnected, hypergraphs, random_hypergraph, with_partition

labelled = with_partition(hypergraphs())
apart = with_partition(disconnected())


def evaluated(pair):
    return hc.evaluate(*pair)


@given(labelled)
def test_stay_and_leave_probabilities(pair):
    part = evaluated(pair)
    chain, phi = part.walk.dense(), part.walk.stationary
    same = part.labels[:, None] == part.labels
    np.testing.assert_allclose(Views(part).stay_probability, (chain * same).sum(axis=1), atol=1e-12)
    assert Views(part).leave_probability == pytest.approx(phi @ (chain * ~same).sum(axis=1), abs=1e-12)


@given(labelled | apart)
def test_top_hyperedges_have_the_largest_information(pair):
    part = evaluated(pair)
    shares, flows, volumes = part.edge_shares(), part.walk.edge_stationary, part.cut.volumes
    for cluster, found in enumerate(Views(part, Limits(top=3)).top_hyperedges):
        information = {
            edge: flows[edge] * shares[edge, cluster] * np.log(shares[edge, cluster] / volumes[cluster])
            for edge in range(len(flows))
            if shares[edge, cluster] > volumes[cluster] * (1 + 1e-9)
        }
        expected = sorted(information.values(), reverse=True)[:3]
        np.testing.assert_allclose(
            [information.get(edge, 0.0) for edge in found.positions.tolist()], expected, atol=1e-12
        )
        np.testing.assert_allclose(found.share, shares[found.positions, cluster], atol=1e-12)
        np.testing.assert_allclose(found.lift, found.share / volumes[cluster])
        np.testing.assert_allclose(found.flow, flows[found.positions])


def test_block_sizes_do_not_change_the_views():
    part = hc.cluster(random_hypergraph(60, 80, 5, seed=1), k=4, alpha=0.5)
    whole, blocks = Views(part), Views(part, Limits(block_entries=40, block_cells=12))
    for expected, found in zip(whole.top_hyperedges, blocks.top_hyperedges, strict=True):
        assert found.positions.tolist() == expected.positions.tolist()
        np.testing.assert_allclose(found.share, expected.share)
        np.testing.assert_allclose(found.flow, expected.flow)
    np.testing.assert_allclose(blocks.stay_probability, whole.stay_probability)
    np.testing.assert_allclose(blocks.incidence_grid.cells, whole.incidence_grid.cells)


def test_the_views_of_a_page_take_one_pass_over_the_incidences(monkeypatch):
    passes = []
    original = views_module.edge_flows
    monkeypatch.setattr(views_module, "edge_flows", lambda *given: passes.append(1) or original(*given))
    views = Views(hc.cluster(random_hypergraph(60, 80, 5, seed=1), k=4))
    for _ in range(2):
        assert len(views.top_hyperedges) == len(views.top_vertices) == 4
        assert len(views.stay_probability) == len(views.lookup) == 60
        assert views.incidence_grid.n_clusters == 4
    assert len(passes) == 1


@given(labelled)
def test_top_vertices_are_the_most_visited_of_their_cluster(pair):
    part = evaluated(pair)
    phi = part.walk.stationary
    assume(not Views(part).is_uniform)
    for cluster, found in enumerate(Views(part, Limits(top=2)).top_vertices):
        members = np.flatnonzero(part.labels == cluster)
        assert set(found.positions.tolist()) <= set(members.tolist())
        expected = np.sort(phi[members])[::-1][:2]
        np.testing.assert_allclose(found.phi, expected, atol=1e-9 * phi.max())
        np.testing.assert_allclose(found.stay_probability, Views(part).stay_probability[found.positions])


def test_if_phi_is_uniform_top_vertices_have_the_largest_stay_probability():
    rng = np.random.default_rng(0)
    table = {f"column {i}": rng.integers(0, 3, 40).tolist() for i in range(5)}
    part = hc.cluster(hc.Hypergraph.from_table(table), k=2)
    assert Views(part).is_uniform
    staying = Views(part).stay_probability
    for cluster, found in enumerate(Views(part, Limits(top=4)).top_vertices):
        expected = np.sort(staying[part.labels == cluster])[::-1][:4]
        np.testing.assert_allclose(found.stay_probability, expected)
    assert not Views(hc.cluster(random_hypergraph(60, 80, 5, seed=1), k=2)).is_uniform


def test_table_columns():
    table = {"hair": [0, 1, 1, 0], "legs": [2, 4, 6, 8]}
    part = hc.cluster(hc.Hypergraph.from_table(table), k=2)
    assert Views(part).table_columns == {"hair": 2, "legs": 4}
    pairs = {("a", "b"): ["a", "b"], ("a", "c"): ["a", "c"], ("a", "d"): ["a", "d"]}
    assert Views(hc.cluster(hc.Hypergraph.from_edges(pairs))).table_columns is None
    mixed = {"x": ["a", "b"], ("y", 1): ["b", "c"]}
    assert Views(hc.cluster(hc.Hypergraph.from_edges(mixed))).table_columns is None


def test_lookup():
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]], vertex_ids=list("abcx"), isolated="keep")
    part = hc.cluster(h, k=2)
    assert Views(part).lookup.tolist() == [0, 1, 2, 3]
    assert Views(part, Limits(lookup_vertices=3)).lookup.tolist() == [0, 1, 2]


@settings(max_examples=40)
@given(labelled)
def test_grid_cells_are_the_means_of_their_groups(pair):
    part = evaluated(pair)
    weights = part.walk.hypergraph.gamma.toarray()
    weights /= weights.max(axis=1, keepdims=True)
    homes = part.edges_frame()["cluster"].to_numpy()
    for rows, columns in ((100, 100), (2, 3)):
        grid = Views(part, Limits(grid_rows=rows, grid_columns=columns)).incidence_grid
        for i, edges in enumerate(grid.edges):
            assert (homes[edges] == grid.row_clusters[i]).all()
            for j, vertices in enumerate(grid.vertices):
                assert (part.labels[vertices] == grid.column_clusters[j]).all()
                assert grid.cells[i, j] == pytest.approx(weights[np.ix_(edges, vertices)].mean(), abs=1e-12)
        assert np.sort(np.concatenate(grid.edges)).tolist() == list(range(len(homes)))
        assert np.sort(np.concatenate(grid.vertices)).tolist() == list(range(len(part.labels)))
        last = np.where(grid.row_clusters < 0, part.k, grid.row_clusters)  # those of no cluster
        assert (np.diff(last) >= 0).all()
        assert (np.diff(grid.column_clusters) >= 0).all()


def test_the_grid_of_many_clusters_has_the_largest():
    h = random_hypergraph(40, 60, 3, seed=2)
    part = hc.evaluate(h, np.arange(40) % 8)
    grid = Views(part, Limits(grid_clusters=3)).incidence_grid
    assert grid.n_clusters == 3
    assert set(grid.column_clusters.tolist()) == {0, 1, 2}
    assert set(grid.row_clusters.tolist()) <= {-1, 0, 1, 2}
    assert sum(map(len, grid.vertices)) == part.sizes[:3].sum()


@given(hypergraphs(min_n=3))
def test_the_sweep_profile_is_the_sweep(h):
    part = hc.cluster(h)
    view = Views(part).sweep_profile
    swept = hc.sweep(part.walk, part.eigenpairs.vectors[:, 1] / np.sqrt(part.walk.stationary))
    assert view.sizes.tolist() == list(range(1, h.n_vertices))
    np.testing.assert_allclose(view.ncuts, swept.ncuts)
    np.testing.assert_allclose(view.conductances, swept.conductances)
    assert view.ncuts[view.best] == swept.ncuts.min()


def test_a_long_sweep_profile_keeps_the_lowest_cut_of_each_interval():
    part = hc.cluster(random_hypergraph(301, 200, 6, seed=3))
    view = Views(part, Limits(sweep_points=20)).sweep_profile
    swept = hc.sweep(part.walk, part.eigenpairs.vectors[:, 1] / np.sqrt(part.walk.stationary))
    assert len(view.sizes) <= 23
    assert view.total == 301
    np.testing.assert_allclose(view.ncuts, swept.ncuts[view.sizes - 1])
    assert view.ncuts[view.best] == swept.ncuts.min()
    assert view.conductances.min() == swept.conductances.min()
    assert set(swept.ncuts.reshape(20, 15).min(axis=1)) <= set(view.ncuts)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_eigenvalues_that_did_not_converge_are_upper_bounds(k):
    part = hc.cluster(random_hypergraph(200, 150, 5, seed=4), k=k, effort="thorough")
    view = Views(part).spectrum
    exact = np.linalg.eigvalsh(hc.NormalizedLaplacian(part.walk).dense())
    np.testing.assert_allclose(view.values[: view.n_converged], exact[: view.n_converged], atol=1e-7)
    assert len(view.values) > view.n_converged
    assert (view.values[view.n_converged :] >= exact[view.n_converged : len(view.values)] - 1e-9).all()
    assert (view.values[view.n_converged :] <= 2 + 1e-9).all()
    assert view.gap_after(k) == pytest.approx(view.values[k] - view.values[k - 1])
    assert view.gap_after(len(view.values)) is None


def test_without_approximate_vectors_the_spectrum_has_only_converged_values():
    part = hc.evaluate(build([{0: 1.0, 1: 2.0}, {1: 1.0, 2: 1.0}], [1.0, 1.0], 3), [0, 0, 1])
    view = Views(part).spectrum
    assert len(view.values) == view.n_converged == 2
    assert view.gap_after(2) is None


def test_the_sample_of_the_embedding_has_vertices_of_small_clusters():
    h = random_hypergraph(3000, 2000, 6, seed=5)
    labels = np.zeros(3000, dtype=int)
    labels[:4], labels[4:70] = 2, 1
    part = hc.evaluate(h, labels)
    view = Views(part, Limits(embedding_vertices=600)).embedding
    counts = np.bincount(part.labels[view.vertices], minlength=3)
    assert counts[2] == 4
    assert counts[1] == 40
    assert 500 <= counts[0] <= 620
    assert view.total == 3000
    assert (np.diff(view.vertices) > 0).all()
    few = Views(hc.evaluate(h, np.arange(3000) % 150), Limits(embedding_vertices=600)).embedding
    assert len(few.vertices) <= 750
    assert np.unique(np.arange(3000)[few.vertices] % 150).size == 150


def test_the_embedding_divides_eigenvectors_by_sqrt_phi_and_clips_only_outliers():
    part = hc.cluster(random_hypergraph(80, 60, 4, seed=6), k=3)
    view = Views(part).embedding
    points = part.eigenpairs.vectors[:, 1:3] / np.sqrt(part.walk.stationary)[:, None]
    same = (np.abs(view.coordinates[:, :2] - points) < 1e-12).all(axis=1)
    assert np.count_nonzero(~same) <= view.n_clipped < 20
    assert view.axes[:2] == ("eigenvector 2", "eigenvector 3")
    assert all("rough" in axis for axis in view.axes[2:])


def test_the_embedding_has_at_least_two_coordinates():
    alone = hc.cluster(hc.Hypergraph.from_edges([["a"]]), k=1)
    assert Views(alone).embedding.coordinates.shape == (1, 2)
    assert Views(alone).sweep_profile is None
    pair = hc.evaluate(hc.Hypergraph.from_edges([["a", "b"]]), [0, 1])
    assert Views(pair).embedding.coordinates.shape == (2, 2)


def test_vertices_in_no_hyperedge_are_left_out():
    h = hc.Hypergraph.from_edges([["b", "c"], ["c", "d"]], vertex_ids=list("abcd"), isolated="keep")
    part = hc.cluster(h)
    view = Views(part).embedding
    assert part.vertex_ids[view.vertices].tolist() == ["b", "c", "d"]
    named = {part.vertex_ids[v] for found in Views(part).top_vertices for v in found.positions}
    assert named == {"b", "c", "d"}
    found = part.agreement({"a": "x", "b": "x", "c": "x", "d": "y"})
    assert found.counts.sum() == 3


def test_many_shares_are_sorted_by_their_first_digits():
    rng = np.random.default_rng(0)
    groups, shares = rng.integers(0, 3, 500), rng.random(500).round(2)
    exact, rounded = (views_module._order(groups, shares, many) for many in (501, 500))
    assert exact.tolist() == rounded.tolist()
    assert exact.tolist() == sorted(range(500), key=lambda place: (groups[place], -shares[place], place))
    close = np.array([0.4, 0.4 + 1e-9, 1.0, 0.0, 1.0 + 1e-12])  # rounding error
    assert views_module._order(np.zeros(5, dtype=np.int64), close, 1).tolist() == [2, 4, 0, 1, 3]
