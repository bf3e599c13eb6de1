"""`suggest_k`: planted numbers are found, random hypergraphs get none, and shuffles preserve degrees."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.clustering.n_clusters import suggest_k
from hyperclus.hypergraph.configuration_model import shuffled
from support.contracts import refused
from support.strategies import alphas, disconnected, hypergraphs, random_hypergraph


def blocks(counts, noise, seed, edges_per_vertex=1.0, sister=0.0):
    """Hyperedges of 8 to 15 members of one block, with noise from all blocks or from a sister block."""
    rng = np.random.default_rng(seed)
    counts = np.array(counts)
    n, start = counts.sum(), np.cumsum(counts) - counts
    edges = []
    for home in rng.choice(len(counts), int(edges_per_vertex * n), p=counts / n):
        members = {}
        for _ in range(rng.integers(8, 16)):
            block = home ^ 1 if rng.random() < sister else home
            vertex = rng.integers(n) if rng.random() < noise else start[block] + rng.integers(counts[block])
            members[int(vertex)] = float(rng.lognormal(sigma=0.5))
        edges.append(members)
    return hc.Hypergraph.from_edges(edges, vertex_ids=range(n), isolated="drop")


def random_table(rows, seed):
    """12 features with 4 values each, all at random."""
    values = np.random.default_rng(seed).integers(0, 4, (rows, 12))
    return hc.Hypergraph.from_table(values)


def separate(count):
    """Components of 12 vertices, hyperedges of 4."""
    rng = np.random.default_rng(count)
    return hc.Hypergraph.from_edges(
        [rng.choice(12, 4, replace=False) + 12 * part for part in range(count) for _ in range(20)]
    )


def degrees(h):
    return np.bincount(h.gamma.indices, minlength=h.n_vertices)


class TestPlanted:
    @pytest.mark.parametrize("noise", [0.1, 0.35])
    @pytest.mark.parametrize("k", [2, 3, 5, 8])
    def test_equal_blocks_are_counted(self, k, noise):
        found = suggest_k(blocks([240 // k] * k, noise, seed=k))
        assert (found.k, found.confident, found.structure) == (k, True, True)

    def test_twenty_blocks(self):
        found = suggest_k(blocks([25] * 20, 0.2, seed=0), max_k=24, shuffles=5)
        assert (found.k, found.confident) == (20, True)

    def test_unequal_blocks(self):
        assert suggest_k(blocks([160, 80, 40, 30], 0.2, seed=1)).k == 4

    def test_nested_blocks_rank_both_numbers_first(self):
        found = suggest_k(blocks([75] * 4, 0.1, seed=2, sister=0.15))
        assert {one.k for one in found.candidates[:2]} == {2, 4}
        assert found.k in (2, 4)

    def test_more_blocks_than_max_k(self):
        found = suggest_k(blocks([25] * 12, 0.1, seed=3), max_k=6, shuffles=5)
        assert found.structure
        assert not found.confident
        assert "There may be more than 6: consider more clusters (max_k)." in found.reason

    def test_other_alpha(self):
        assert suggest_k(blocks([60] * 4, 0.2, seed=4), alpha=1.0).k == 4


class TestNoStructure:
    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize(
        "make",
        [
            lambda seed: blocks([300], 0, seed),
            lambda seed: blocks([400], 0, seed, edges_per_vertex=0.25),
            lambda seed: blocks([30], 0, seed),
            lambda seed: random_table(200, seed),
            lambda seed: random_hypergraph(100, 300, 2, seed),
        ],
        ids=["sparse", "sparser", "small", "table", "graph"],
    )
    def test_random_hypergraphs_get_no_confident_answer(self, make, seed):
        found = suggest_k(make(seed))
        assert not found.confident
        assert found.k is None or found.candidates[0].score < 0.5

    def test_the_text_says_so(self):
        found = suggest_k(blocks([300], 0, seed=0))
        assert found.k is None
        assert not found.structure
        assert "no clear structure" in repr(found)
        assert {one.k for one in found.candidates} == set(range(2, 11))

    def test_a_shuffled_planted_hypergraph_has_lost_its_blocks(self):
        h = blocks([60] * 4, 0.1, seed=5)
        assert suggest_k(h).k == 4
        assert not suggest_k(shuffled(h, np.random.default_rng(0))).confident

    def test_ncuts_and_those_of_shuffles_are_found_by_the_same_search(self):
        for one in suggest_k(blocks([300], 0, seed=0), 4).candidates:
            assert one.chance == pytest.approx(one.ncut, rel=0.03)

    def test_a_path_has_clusters_but_no_number_of_them(self):
        found = suggest_k(hc.Hypergraph.from_edges([[i, i + 1, i + 2] for i in range(200)]))
        assert found.structure
        assert not found.confident


class TestComponents:
    @pytest.mark.parametrize("count", [2, 4, 7])
    def test_separate_components_are_counted(self, count):
        found = suggest_k(separate(count))
        assert (found.k, found.confident) == (count, True)
        assert found.candidates[0].ncut == pytest.approx(0, abs=1e-12)
        assert f"{count} connected components" in found.reason

    def test_hyperedges_without_common_vertices(self):
        found = suggest_k(hc.Hypergraph.from_edges([["a", "b", "c"], ["d", "e", "f"], ["g", "h"]]))
        assert (found.k, found.confident) == (3, False)
        assert found.candidates[0].k == 3

    def test_two_equal_features(self):
        found = suggest_k(hc.Hypergraph.from_table({"legs": [2, 2, 4, 4] * 10, "wings": [1, 1, 0, 0] * 10}))
        assert (found.k, found.confident) == (2, True)

    def test_a_stray_pair_is_no_confident_answer(self):
        rng = np.random.default_rng(0)
        edges = [rng.choice(80, 6, replace=False).tolist() for _ in range(80)]
        found = suggest_k(hc.Hypergraph.from_edges([*edges, ["x", "y"]]))
        assert not found.confident
        assert "of the volume" in found.candidates[0].reason

    def test_isolated_vertices_change_nothing(self):
        h = blocks([40] * 3, 0.2, seed=6)
        edges = [
            dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
            for row in (h.gamma[[edge]] for edge in range(h.n_edges))
        ]
        wider = hc.Hypergraph.from_edges(edges, vertex_ids=range(h.n_vertices + 9), isolated="keep")
        assert suggest_k(wider, 5) == suggest_k(
            hc.Hypergraph.from_edges(edges, vertex_ids=range(h.n_vertices)), 5
        )


class TestResult:
    def test_same_seed_same_result(self):
        h = blocks([50] * 3, 0.4, seed=7)
        assert suggest_k(h, 5, seed=3) == suggest_k(h, 5, seed=3)
        assert suggest_k(h, 5, seed=np.random.default_rng(3)) == suggest_k(h, 5, seed=3)

    def test_order_of_vertices_and_hyperedges_does_not_matter(self):
        h = blocks([40] * 4, 0.2, seed=8)
        rng = np.random.default_rng(0)
        matrix = h.gamma.toarray()[np.ix_(rng.permutation(h.n_edges), rng.permutation(h.n_vertices))]
        found = suggest_k(hc.Hypergraph.from_incidence(matrix.T))
        assert (found.k, found.confident) == (4, True)

    def test_figures_agree_with_cluster(self):
        h = blocks([50] * 3, 0.2, seed=9)
        best = suggest_k(h, 5).candidates[0]
        part = hc.cluster(h, 3)
        assert best.ncut == pytest.approx(part.ncut, rel=1e-3)
        assert best.lower_bound == pytest.approx(part.lower_bound, rel=1e-3)
        assert best.lower_bound <= part.lower_bound * (1 + 1e-9)
        assert best.stability == pytest.approx(1)
        assert best.chance > 1.5 * best.lower_bound

    @given(hypergraphs(min_n=3) | disconnected(), alphas)
    @settings(max_examples=25, deadline=None)
    def test_any_hypergraph_gets_a_consistent_answer(self, h, alpha):
        most = min(4, h.n_vertices - 1)
        found = suggest_k(h, max(most, 2), alpha=alpha, shuffles=3)
        assert sorted(one.k for one in found.candidates) == list(range(2, most + 1))
        assert found.reason
        if found.confident:
            assert found.candidates[0].clear
        if found.k is not None:
            assert found.candidates[0].k == found.k
        for one in found.candidates:
            assert one.ncut >= one.lower_bound - 1e-9
            assert 0 <= one.score <= 1 + 1e-9
            assert 0 <= one.reach <= 1 + 1e-9
            assert one.reason

    def test_frame_and_text(self):
        found = suggest_k(separate(2), 3)
        frame = found.to_frame()
        assert frame["k"].tolist() == [2, 3]
        assert list(frame.columns) == [field.name for field in dataclasses.fields(found.candidates[0])]
        text = repr(found).splitlines()
        assert text[0] == "Suggestion: k = 2"
        assert text[2:4] == ["", "  k  score   NCut  at least  shuffled  eigengap  stability  reason"]
        assert len(text) == 6

    def test_frozen(self):
        with pytest.raises(dataclasses.FrozenInstanceError):
            suggest_k(separate(2), 3).k = 5


class TestInput:
    @pytest.mark.parametrize("max_k", [1, 0, -3, 2.5, "x", True])
    def test_max_k(self, max_k):
        with pytest.raises(hc.InputError, match="max_k must be a whole number from 2"):
            suggest_k(separate(2), max_k)

    def test_max_k_that_the_data_cannot_bear(self):
        h = hc.Hypergraph.from_edges([["a", "b", "c"], ["c", "d"]])
        with pytest.raises(hc.InputError, match="max_k must be below the number of vertices, 4; got 4"):
            suggest_k(h, 4)
        assert [one.k for one in suggest_k(h, 3).candidates] == [one.k for one in suggest_k(h).candidates]

    @pytest.mark.parametrize("shuffles", [1, 0, "x", 2.0, 1001, 10**9])
    def test_shuffles(self, shuffles):
        with pytest.raises(hc.InputError, match="shuffles must be"):
            suggest_k(separate(2), shuffles=shuffles)

    @pytest.mark.parametrize("setting", [{"alpha": -1}, {"seed": "x"}, {"tolerance": 0}])
    def test_settings(self, setting):
        with pytest.raises(hc.InputError):
            suggest_k(separate(2), **setting)

    def test_not_a_hypergraph(self):
        with pytest.raises(hc.InputError, match="a Hypergraph is needed"):
            suggest_k(5)

    @pytest.mark.parametrize("n", [1, 2])
    def test_too_few_vertices(self, n):
        found = suggest_k(hc.Hypergraph.from_edges([list(range(n))]))
        assert found.k is None
        assert "too few" in repr(found)
        assert found.to_frame().empty

    @pytest.mark.parametrize("n", [3, 40])
    def test_one_hyperedge(self, n):
        found = suggest_k(hc.Hypergraph.from_edges([list(range(n))]))
        assert found.k is None
        assert len(found.candidates) == min(10, n - 1) - 1


class TestShuffled:
    @given(hypergraphs() | disconnected(), st.integers(0, 99))
    @settings(deadline=None)
    def test_no_vertex_or_member_is_lost_or_added(self, h, seed):
        other = shuffled(h, np.random.default_rng(seed))
        assert (degrees(other) >= 1).all()
        assert (degrees(other) <= degrees(h)).all()
        assert (other.edge_sizes <= h.edge_sizes).all()
        assert (other.edge_weights == h.edge_weights).all()

    @pytest.mark.parametrize("seed", range(3))
    def test_degrees_and_sizes_and_gammas_are_kept(self, seed):
        h = blocks([40] * 3, 0.2, seed)
        other = shuffled(h, np.random.default_rng(seed))
        assert (degrees(other) == degrees(h)).all()
        assert (other.edge_sizes == h.edge_sizes).all()
        for edge in range(h.n_edges):
            assert np.sort(other.gamma[[edge]].data) == pytest.approx(np.sort(h.gamma[[edge]].data))
        assert (other.gamma != h.gamma).nnz > h.n_incidences

    def test_large_hyperedges(self):
        h = random_hypergraph(60, 40, 40, 0)
        assert shuffled(h, np.random.default_rng(0)).n_incidences > 0.995 * h.n_incidences

    def test_a_row_keeps_one_value_of_each_feature(self):
        h = random_table(100, 0)
        other = shuffled(h, np.random.default_rng(0))
        features = np.array([feature for feature, _ in h.edge_ids])
        assert (other.gamma != h.gamma).nnz > h.n_incidences
        for feature in range(12):
            assert (np.asarray(other.gamma[features == feature].sum(axis=0)) == 1).all()


@pytest.mark.parametrize("method", [hc.cluster, hc.hyperclus_g])
def test_k_auto_is_the_suggested_number(method):
    h = blocks((30, 30, 30), 0.05, 0)
    part, found = method(h, k="auto"), hc.suggest_k(h)
    assert part.k == found.k == 3
    assert part.settings["k"] == 3
    np.testing.assert_array_equal(part.labels, method(h, k=3).labels)
    assert f"k = 3 was suggested: {found.reason.rstrip('.')}" in repr(part)


def test_k_auto_without_structure_is_refused():
    refused(
        lambda: hc.cluster(random_table(60, 0), k="auto"),
        "no number of clusters can be suggested",
        "choose k",
    )
