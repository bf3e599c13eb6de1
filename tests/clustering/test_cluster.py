"""`cluster`, `hyperclus_g`, `refine` and `evaluate`: known answers, settings, results."""

import dataclasses
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.clustering import _run
from hyperclus.clustering._run import Run
from hyperclus.clustering.search_problem import EFFORTS
from hyperclus.engines import cuda
from support import stand_in_device
from support.contracts import refused
from support.hostile import limited


def pairs(vertices):
    return [list(pair) for pair in itertools.combinations(vertices, 2)]


def planted(blocks, per_block, edges_per_block, seed, strays=1):
    """Hyperedges of six members of one block and `strays` from anywhere, lognormal gamma."""
    rng = np.random.default_rng(seed)
    edges = []
    for block in range(blocks):
        for _ in range(edges_per_block):
            members = rng.choice(per_block, 6, replace=False) + block * per_block
            others = rng.integers(0, blocks * per_block, strays)
            edges.append({int(v): float(rng.lognormal(sigma=0.5)) for v in [*members, *others]})
    truth = np.repeat(np.arange(blocks), per_block)
    h = hc.Hypergraph.from_edges(edges, vertex_ids=range(blocks * per_block), isolated="drop")
    return h, truth[h.vertex_ids]


def same_partition(first, second):
    """Whether two labelings are equal up to the names of the labels."""
    both = set(zip(np.asarray(first).tolist(), np.asarray(second).tolist(), strict=True))
    return len(both) == len(set(first)) == len(set(second))


@pytest.fixture(params=["cluster", "hyperclus_g"])
def method(request):
    return getattr(hc, request.param)


class TestShapes:
    @pytest.mark.parametrize("rounding", ["sign", "sweep"])
    def test_dumbbell_is_cut_at_its_bar(self, rounding):
        h = hc.Hypergraph.from_edges([*pairs(range(50)), *pairs(range(50, 100)), [0, 50]])
        part = hc.hyperclus_g(h, rounding=rounding)
        assert same_partition(part.labels, np.repeat([0, 1], 50))
        assert part.ncut == pytest.approx(1 / 2451, rel=1e-12)

    def test_two_cliques_as_hyperedges_joined_by_a_third(self, method):
        h = hc.Hypergraph.from_edges([list(range(50)), list(range(50, 100)), [0, 50]])
        assert same_partition(method(h).labels, np.repeat([0, 1], 50))

    def test_star_gives_two_clusters_with_a_true_bound(self, method):
        part = method(hc.Hypergraph.from_edges([[0, leaf] for leaf in range(1, 30)]))
        assert part.lower_bound == pytest.approx(0.5)
        assert part.sizes.min() >= 1
        assert part.ncut >= 0.5

    @pytest.mark.parametrize("n", [30, 2000])
    def test_path_is_cut_in_the_middle(self, method, n):
        settings = (
            {"objective": "ncut"} if method is hc.cluster else {}
        )  # the information is nearly the same around it
        part = method(hc.Hypergraph.from_edges([[i, i + 1] for i in range(n - 1)]), **settings)
        assert same_partition(part.labels, np.repeat([0, 1], n // 2))
        assert part.eigenvalues[1] == pytest.approx((1 - np.cos(np.pi / (n - 1))) / 2, rel=1e-4)

    @pytest.mark.parametrize("n", [5, 3000])
    @pytest.mark.parametrize("k", [2, 4])
    def test_all_cuts_of_one_hyperedge_are_equally_good(self, method, n, k):
        part = method(hc.Hypergraph.from_edges([list(range(n))]), k)
        assert part.ncut == pytest.approx(k - 1)
        assert part.gap == pytest.approx(0, abs=1e-7)
        assert len(part.sizes) == k
        assert part.sizes.min() >= 1

    def test_two_vertices(self, method):
        part = method(hc.Hypergraph.from_edges([["a", "b"]]))
        assert sorted(part.labels.tolist()) == [0, 1]
        assert part.ncut == pytest.approx(1)

    def test_one_vertex(self, method):
        h = hc.Hypergraph.from_edges([["a"]])
        with pytest.raises(hc.InputError, match=r"2 clusters need at least 2 vertices"):
            method(h)
        part = method(h, 1)
        assert part.labels.tolist() == [0]
        assert part.ncut == 0
        assert part.cheeger == (0.0, 1.0)

    def test_triple_second_eigenvalue(self, method):
        h = hc.Hypergraph.from_edges([*(list(range(4 * i, 4 * i + 4)) for i in range(4)), [0, 4, 8, 12]])
        part = method(h, 4)
        np.testing.assert_allclose(part.eigenvalues, [0, 0.125, 0.125, 0.125], atol=1e-12)
        assert same_partition(part.labels, np.repeat(range(4), 4))
        for block in np.split(method(h).labels, 4):
            assert len(set(block)) == 1

    def test_long_band_with_uneven_weights(self, method):
        rng = np.random.default_rng(0)
        h = hc.Hypergraph.from_edges(
            [{(i + j) % 4000: 1 + rng.random() for j in range(5)} for i in range(4000)]
        )
        walk = hc.RandomWalk(h)
        assert walk.distribution.method == "factorisation"
        assert walk.distribution.residual < 1e-14
        part = method(h)
        assert part.eigenpairs.method == "shift-invert"
        ring = np.roll(part.labels, 1)
        assert np.count_nonzero(ring != part.labels) == 2  # two arcs
        assert part.ncut < 0.02


class TestDisconnected:
    EDGES = ([0, 1, 2], [2, 3], [10, 11], [20, 21, 22])

    def test_two_way_cut_between_components_is_free(self, method):
        part = method(hc.Hypergraph.from_edges(self.EDGES))
        assert part.n_components == 3
        assert part.ncut == 0
        assert part.gap == 0
        assert part.eigenvalues.tolist() == pytest.approx([0, 0], abs=1e-14)
        assert "3 connected components" in repr(part)

    def test_as_many_clusters_as_components(self, method):
        part = method(hc.Hypergraph.from_edges(self.EDGES), 3)
        assert same_partition(part.labels, [0, 0, 0, 0, 1, 1, 2, 2, 2])

    def test_more_clusters_than_components(self, method):
        part = method(hc.Hypergraph.from_edges(self.EDGES), 5)
        assert len(part.sizes) == 5
        assert part.lower_bound <= part.ncut + 1e-12

    def test_components_are_grouped_evenly(self, method):
        h = hc.Hypergraph.from_edges([[3 * i, 3 * i + 1, 3 * i + 2] for i in range(1000)])
        part = method(h)
        exact = part.settings.get("objective") != "information"  # it moves vertices, not whole components
        np.testing.assert_allclose(part.cut.volumes, 0.5, atol=0 if exact else 2e-3)
        assert part.n_components == 1000

    def test_isolated_vertices_get_no_cluster(self, method):
        matrix = np.array([[1, 0], [1, 0], [0, 0], [0, 1], [0, 1.0]])
        part = method(hc.Hypergraph.from_incidence(matrix, isolated="keep"))
        assert part.labels[2] == -1
        assert part.sizes.tolist() == [2, 2]
        assert "in no hyperedge, with label -1: 1 vertex" in repr(part)


class TestKWay:
    @pytest.mark.parametrize("strategy", ["best", "largest"])
    @pytest.mark.parametrize("rounding", ["sign", "sweep"])
    def test_finds_planted_blocks(self, strategy, rounding):
        h, truth = planted(blocks=4, per_block=30, edges_per_block=60, seed=1)
        part = hc.hyperclus_g(h, 4, strategy=strategy, rounding=rounding)
        assert same_partition(part.labels, truth)
        assert part.lower_bound <= part.ncut <= 4

    def test_sweep_is_never_worse_than_sign(self):
        for seed in range(20):
            h, _ = planted(2, 12, 6, seed, strays=3)
            swept = hc.hyperclus_g(h, rounding="sweep")
            assert swept.ncut <= hc.hyperclus_g(h).ncut + 1e-12

    def test_reweigh_receives_each_cluster_and_its_vertices(self):
        h, _ = planted(3, 20, 40, seed=2)
        seen = []

        def reweigh(sub, vertices):
            seen.append(vertices)
            np.testing.assert_array_equal(sub.vertex_ids, h.vertex_ids[vertices])
            return hc.unit_weights(sub)

        part = hc.hyperclus_g(h, 3, reweigh=reweigh)
        assert len(seen) == 2
        assert sorted(np.concatenate(seen).tolist()) == list(range(h.n_vertices))
        assert len(part.sizes) == 3

    def test_reweigh_may_refuse_to_split(self):
        h, _ = planted(3, 20, 40, seed=2)
        with pytest.raises(hc.InputError, match="use at most k=2"):
            hc.hyperclus_g(h, 3, reweigh=lambda sub, vertices: None)

    def test_reweigh_must_keep_the_vertices(self):
        h, _ = planted(3, 20, 40, seed=2)
        with pytest.raises(hc.InputError, match=r"for a cluster of .*; keep all"):
            hc.hyperclus_g(h, 3, reweigh=lambda sub, vertices: sub.restrict(np.arange(5)))

    def test_every_vertex_its_own_cluster(self):
        h = hc.Hypergraph.from_edges([["a", "b", "c"], ["b", "c", "d"]])
        part = hc.cluster(h, 4)
        assert sorted(part.labels.tolist()) == [0, 1, 2, 3]
        assert part.ncut == pytest.approx(part.lower_bound)  # the only partition into four


class TestPartition:
    def test_labels_are_numbered_by_size(self):
        h, _ = planted(3, 20, 40, seed=5)
        part = hc.cluster(h, 3)
        assert (np.diff(part.sizes) <= 0).all()

    def test_frame_members_and_report(self):
        h = hc.Hypergraph.from_edges({"x": ["a", "b"], "y": ["b", "a"], "z": ["c", "d"], "w": ["b", "c"]})
        part = hc.cluster(h)
        frame = part.to_frame()
        assert list(frame.columns)[:3] == ["vertex", "cluster", "confidence"]
        assert frame.vertex.tolist() == ["a", "b", "c", "d"]
        assert frame.cluster.tolist() == part.labels.tolist()
        assert sorted([*part.members(0), *part.members(1)]) == ["a", "b", "c", "d"]
        assert f"NCut         {part.ncut:.6g}" in repr(part)
        assert set(part.timings) == {"stationary distribution", "eigenvectors", "search", "scoring", "chance"}
        assert part.settings["k"] == 2
        assert part.settings["effort"] == "default"
        assert hc.hyperclus_g(h).settings["rounding"] == "sign"

    def test_frame_of_the_hyperedges(self):
        h = hc.Hypergraph.from_edges({
            "left": ["a", "b", "c"], "left again": ["a", "b"], "both": ["a", "b", "c", "d", "e", "f"],
            "bridge": {"c": 3.0, "d": 1.0}, "right": ["d", "e", "f"], "right again": ["e", "f"],
        })  # fmt: skip
        part = hc.cluster(h)
        frame = part.edges_frame().set_index("edge")
        assert frame.cluster["left"] == part.labels[0] != frame.cluster["right"] == part.labels[5]
        assert frame.share["left"] == pytest.approx(1.0)
        assert frame.information.sum() == pytest.approx(1.0)
        assert frame.information["both"] < 0.02 < frame.information["left"]
        assert frame.flow.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(frame[["share_0", "share_1"]].sum(axis=1), 1.0)
        assert hc.cluster(h, 1).edges_frame().information.tolist() == [0.0] * 6

    def test_edges_without_members_are_left_out_of_the_frame(self):
        matrix = np.array([[1, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 1.0]])
        h = hc.Hypergraph.from_incidence(matrix, isolated="keep", empty_edges="keep")
        frame = hc.cluster(h).edges_frame()
        assert frame.edge.tolist() == [0, 2]
        assert frame.notna().all(axis=None)

    def test_same_seed_same_result_and_any_seed_about_the_same_ncut(self):
        h, _ = planted(2, 200, 400, seed=3)
        first, again, other = hc.cluster(h, seed=1), hc.cluster(h, seed=1), hc.cluster(h, seed=2)
        np.testing.assert_array_equal(first.labels, again.labels)
        np.testing.assert_array_equal(first.eigenpairs.vectors, again.eigenpairs.vectors)
        assert other.ncut == pytest.approx(first.ncut, abs=1e-6)

    def test_evaluate_scores_labels_from_elsewhere(self):
        h, truth = planted(3, 30, 60, seed=4)
        found = hc.cluster(h, 3)
        scored = hc.evaluate(h, [f"block {t}" for t in found.labels])
        assert scored.ncut == pytest.approx(found.ncut, rel=1e-12)
        assert scored.gap == pytest.approx(found.gap, rel=1e-6)
        rng = np.random.default_rng(0)
        assert hc.evaluate(h, rng.permutation(truth)).ncut > found.ncut
        assert hc.evaluate(h, np.zeros(h.n_vertices, dtype=int)).ncut == 0

    def test_evaluate_matches_labels_by_vertex_id(self):
        h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]])
        by_id = {"d": 1, "a": 0, "c": 1, "b": 0}
        expected = hc.evaluate(h, [0, 0, 1, 1]).ncut
        assert hc.evaluate(h, by_id).ncut == hc.evaluate(h, pd.Series(by_id)).ncut == expected

    def test_an_index_of_other_vertices_is_rejected(self):
        h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]])
        with pytest.raises(hc.InputError, match="does not hold the vertex ids, which begin with"):
            hc.evaluate(h, pd.Series([0, 0, 1, 1], index=list("abcx")))
        expected = hc.evaluate(h, [0, 0, 1, 1]).ncut
        assert hc.evaluate(h, pd.Series([0, 0, 1, 1])).ncut == expected
        assert hc.evaluate(h, pd.Series([1, 0, 0, 1, 9], index=list("cabdx"))).ncut == expected

    def test_rows_of_a_shuffled_frame_keep_their_names(self):
        frame = pd.DataFrame({"x": list("aabbcc"), "y": list("ppqqqq"), "class": [0, 0, 1, 1, 1, 1]})
        frame = frame.sample(frac=1, random_state=0)
        h = hc.Hypergraph.from_table(frame[["x", "y"]])
        assert h.vertex_ids.tolist() == frame.index.tolist()
        by_name = hc.evaluate(h, frame["class"].sort_index())
        assert by_name.ncut == hc.evaluate(h, frame["class"].to_numpy()).ncut

    def test_a_partition_can_serve_as_labels(self):
        h, _ = planted(3, 20, 40, seed=5)
        part = hc.cluster(h, 3)
        assert hc.evaluate(h, part).ncut == hc.refine(h, part).ncut == part.ncut

    def test_the_tight_bound_searches_thoroughly(self):
        h = hc.Hypergraph.from_edges([["a", "b", "c"], ["b", "c"], ["c", "d"], ["d", "e"], ["d", "e", "f"]])
        part = hc.cluster(h, bound="tight")
        assert part.settings["effort"] == "thorough"
        assert part.gap < 1e-3
        assert hc.cluster(h, bound="tight", effort="fast").settings["effort"] == "fast"

    def test_a_bound_that_the_partition_refutes_is_withdrawn(self, caplog):
        h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]])
        run = Run(h, alpha=0.0, tolerance=1e-8, seed=0)
        walk = run.walk(h, 2)
        wrong = dataclasses.replace(run.eigenpairs(walk, 2), lower=np.array([0.0, 5.0]))
        part = run.partition(walk, wrong, np.array([0, 0, 1, 1]), 2, {})
        assert part.ncut == pytest.approx(1 / 3)
        assert part.lower_bound == 0
        assert "a small eigenvalue was missed" in caplog.text
        assert "a small eigenvalue was missed" in part.settings["fallbacks"][0]

    def test_the_bound_holds_with_weights_over_120_decades(self):
        rng = np.random.default_rng(0)
        matrix = (rng.random((300, 100)) < 0.1) * 10.0 ** rng.uniform(-60, 60, (300, 100))
        matrix[np.arange(300), np.arange(300) % 100] += 1
        part = hc.cluster(hc.Hypergraph.from_incidence(matrix), 5, alpha=0.5)
        assert part.lower_bound <= part.ncut

    def test_labels_cannot_be_changed_and_clusters_must_exist(self):
        part = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
        with pytest.raises(ValueError, match="read-only"):
            part.labels[0] = 9
        for cluster in (2, -2, "0", 0.5, True):
            with pytest.raises(hc.InputError, match="clusters are numbered 0 to 1"):
                part.members(cluster)

    def test_a_false_bound_would_show(self):
        """The bound is computed from the eigenvalues alone; it is not limited to the NCut."""
        part = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
        lower = np.array([0.0, 5.0])
        wrong = dataclasses.replace(part, eigenpairs=dataclasses.replace(part.eigenpairs, lower=lower))
        assert wrong.lower_bound > wrong.ncut
        assert part.lower_bound <= part.ncut

    def test_errors_and_results_can_be_pickled(self):
        error = pickle.loads(pickle.dumps(hc.ConvergenceError("stalled", 0.5)))
        assert (str(error), error.residual) == ("stalled", 0.5)
        part = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
        assert pickle.loads(pickle.dumps(part)).labels.tolist() == part.labels.tolist()

    def test_evaluate_needs_a_label_for_each_vertex(self):
        h = hc.Hypergraph.from_edges([["a", "b"]])
        with pytest.raises(hc.InputError, match="2 vertices need a label each, 1 were given"):
            hc.evaluate(h, [1])


class TestFallbacks:
    """Fallbacks are part of the settings of the result, and of its text."""

    H = hc.Hypergraph.from_edges([["a", "b", "c"], ["b", "c"], ["c", "d"], ["d", "e"], ["d", "e", "f"]])

    def test_no_fallback_is_not_mentioned(self):
        assert "fallbacks" not in hc.hyperclus_g(self.H).settings

    def test_rounding(self, monkeypatch):
        solve = Run.eigenpairs

        def without_signs(run, *args):
            pairs = solve(run, *args)
            return dataclasses.replace(pairs, vectors=np.abs(pairs.vectors))

        monkeypatch.setattr(Run, "eigenpairs", without_signs)
        part = hc.hyperclus_g(self.H)
        (fallback,) = part.settings["fallbacks"]
        assert fallback.startswith("sweep instead of sign for a cluster of 6")
        assert fallback in repr(part)
        assert "fallbacks" not in hc.hyperclus_g(self.H, rounding="sweep").settings

    def test_precision(self, monkeypatch):
        monkeypatch.setattr(cuda, "DEVICE", stand_in_device.StandIn)
        monkeypatch.setattr(cuda, "missing", lambda: None)
        monkeypatch.setattr(cuda, "fits", lambda *_: True)
        solve = _run.smallest_eigenpairs

        def only_double(operator, *args, **options):
            if operator.walk.stationary.dtype == np.float32:
                raise hc.ConvergenceError("the eigenvectors stalled at residual 1.0e-03", 1e-3)
            return solve(operator, *args, **options)

        monkeypatch.setattr(_run, "smallest_eigenpairs", only_double)
        part = hc.cluster(self.H, engine="cuda", precision="float32")
        (fallback,) = part.settings["fallbacks"]
        assert fallback.startswith("eigenvectors in float64, because in float32 the eigenvectors stalled")
        assert fallback in repr(part)

    def test_masses_that_may_be_off(self):
        run = Run(self.H, alpha=0.0, tolerance=1e-8, seed=0)
        walk = run.walk(self.H, 2)
        doubtful = dataclasses.replace(walk.distribution, masses_corrected=False)
        walk = hc.RandomWalk.with_distribution(walk.factors, doubtful)
        part = run.partition(walk, run.eigenpairs(walk, 2), np.array([0, 0, 0, 1, 1, 1]), 2, {})
        (fallback,) = part.settings["fallbacks"]
        assert "may be off" in fallback


class TestArguments:
    @pytest.mark.parametrize("value", [None, 5, "papers.csv"])
    def test_only_what_can_be_a_hypergraph(self, value):
        star, clique = hc.research.baselines.star, hc.research.baselines.clique
        for call in (hc.cluster, hc.hyperclus_g, hc.RandomWalk, hc.unit_weights, star, clique):
            with pytest.raises(hc.InputError, match="a Hypergraph is needed, not"):
                call(value)
        with pytest.raises(hc.InputError, match="a Hypergraph is needed, not"):
            hc.evaluate(value, [0, 1])

    @pytest.mark.parametrize("seed", [-1, "a", 1.5, True])
    def test_seed(self, seed):
        with pytest.raises(hc.InputError, match="seed must be"):
            hc.cluster(hc.Hypergraph.from_edges([["a", "b"]]), seed=seed)

    def test_reweigh_must_return_a_hypergraph(self):
        h, _ = planted(3, 20, 40, seed=2)
        with pytest.raises(hc.InputError, match="a Hypergraph is needed, not a int"):
            hc.hyperclus_g(h, 3, reweigh=lambda sub, vertices: 5)

    def test_vectors_have_an_entry_per_vertex(self):
        walk = hc.RandomWalk(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
        assert hc.cut(walk, [0, 0, 1], 2).ncut > 0
        for call in (hc.sweep, hc.spectral.rayleigh_quotient):
            with pytest.raises(hc.InputError, match="3 vertices need a value each"):
                call(walk, [0.0, 1.0])

    @pytest.mark.parametrize("k", [0, -1, 2.5, "2", True, None])
    def test_k(self, k):
        with pytest.raises(hc.InputError, match="whole number"):
            hc.cluster(hc.Hypergraph.from_edges([["a", "b"]]), k)

    @pytest.mark.parametrize("setting", ["effort", "bound"])
    def test_choices(self, setting):
        with pytest.raises(hc.InputError, match=f"{setting} must be"):
            hc.cluster(hc.Hypergraph.from_edges([["a", "b"]]), **{setting: "other"})

    @pytest.mark.parametrize("setting", ["bound", "rounding", "strategy"])
    def test_choices_of_the_algorithm_of_the_paper(self, setting):
        with pytest.raises(hc.InputError, match=f"{setting} must be"):
            hc.hyperclus_g(hc.Hypergraph.from_edges([["a", "b"]]), **{setting: "other"})

    @pytest.mark.parametrize("share", [-0.1, 0.6, float("nan"), "a", True])
    def test_min_share(self, share):
        h = hc.Hypergraph.from_edges([["a", "b"]])
        with pytest.raises(hc.InputError, match=r"min_share must be between 0 and 1/k = 0\.5"):
            hc.cluster(h, min_share=share)

    def test_too_many_clusters(self):
        with pytest.raises(hc.InputError, match="4 clusters need at least 4 vertices"):
            hc.cluster(hc.Hypergraph.from_edges([["a", "b", "c"]]), 4)

    @pytest.mark.parametrize("tolerance", [0, -1.0, float("nan"), "a"])
    def test_tolerance(self, tolerance):
        with pytest.raises(hc.InputError, match="tolerance"):
            hc.cluster(hc.Hypergraph.from_edges([["a", "b"]]), tolerance=tolerance)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000))
def test_relabelling_only_relabels(seed):
    h, _ = planted(2, 10, 8, seed)
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(h.n_vertices)
    other = h.restrict(shuffled)
    first, second = (
        hc.hyperclus_g(h, rounding="sweep"),
        hc.hyperclus_g(other, rounding="sweep"),
    )
    assert second.ncut == pytest.approx(first.ncut, rel=1e-9, abs=1e-12)
    assert second.eigenvalues[1] == pytest.approx(first.eigenvalues[1], abs=1e-10)


@pytest.mark.parametrize("call", [hc.evaluate, hc.refine, hc.hyperclus_g])
@pytest.mark.parametrize("name", ["effrot", "timings", "fallbacks"])
def test_unknown_settings_are_named(call, name):
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    given = 2 if call is hc.hyperclus_g else [0, 0, 1]
    with pytest.raises(TypeError, match=rf"{call.__name__}\(\) got an unexpected keyword argument '{name}'"):
        call(h, given, **{name: []})


def test_the_name_of_a_file_is_not_a_hypergraph():
    with pytest.raises(hc.InputError, match=r"not the name of a file; hc\.read reads a file"):
        hc.cluster("data.csv", 2)


@pytest.mark.parametrize("function", [hc.cluster, hc.hyperclus_g])
def test_a_time_for_the_tight_bound_is_not_ignored(function):
    h = hc.Hypergraph.from_edges([[0, 1, 2], [2, 3], [3, 4, 5]])
    with pytest.raises(hc.InputError, match="bound_seconds needs bound='tight'; leave it out"):
        function(h, 2, bound_seconds=5.0)
    assert function(h, 2, bound="tight", bound_seconds=5.0).tight is not None


def test_the_tight_bound_is_refused_before_the_search():
    h = hc.Hypergraph.from_edges([[vertex, vertex + 1] for vertex in range(0, 200_002, 2)])
    stages = []
    with pytest.raises(hc.InputError, match="at most 200000"), hc.watching(lambda step: stages.append(step)):
        hc.cluster(h, 2, bound="tight")
    assert stages == []


def test_an_effort_without_starts_is_refused():
    with pytest.raises(hc.InputError, match="finalists"):
        dataclasses.replace(EFFORTS["fast"], finalists=0)


@pytest.mark.parametrize("cluster", [1.0, True, 2, "1"])
def test_members_of_what_is_no_cluster(cluster):
    part = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]), 2)
    with pytest.raises(hc.InputError, match="there is no cluster"):
        part.members(cluster)


def test_one_cluster_of_a_walk_whose_first_eigenvalue_is_not_exactly_0():
    edges = [{0: 1e4, 1: 1e5, 2: 0.03162277660168379}, {0: 0.00031622776601683794, 2: 1e5}]
    h = hc.Hypergraph.from_edges(edges, edge_weights=[3162.2776601683795] * 2)
    assert hc.cluster(h, 1, alpha=2.0).ncut == 0


def test_moves_that_gain_by_rounding_only_end():
    first = {0: 316.22776601683796, 1: 3.1622776601683795e-05, 2: 316.22776601683796, 3: 0.01, 4: 1e6}
    edges = [first, {1: 0.03162277660168379, 2: 1e-05, 3: 0.0031622776601683794}]
    h = hc.Hypergraph.from_edges(edges, edge_weights=[0.31622776601683794, 0.01])
    with limited():
        part = hc.cluster(h, 4, alpha=2.0, bound="tight", min_share=0)
    assert part.lower_bound <= part.ncut < 2.09092


@pytest.mark.parametrize("edges", [[], [[], []], [{"a": 0}]])
@pytest.mark.parametrize(
    "call",
    [
        hc.cluster,
        hc.hyperclus_g,
        hc.suggest_k,
        hc.pagerank,
        hc.RandomWalk,
        lambda h: hc.local_cluster(h, ["a"]),
        lambda h: hc.evaluate(h, ["x"] * h.n_vertices),
        lambda h: hc.refine(h, ["x"] * h.n_vertices),
        hc.research.baselines.diffeq,
        hc.research.baselines.hyperedge2vec,
    ],
)
def test_a_hypergraph_without_incidences_is_refused(call, edges):
    refused(
        lambda: call(hc.Hypergraph.from_edges(edges)), "the hypergraph has no incidences", "put at least one"
    )


class TestNames:
    H = hc.Hypergraph.from_edges({"left": ["a", "b", "c"], "mid": ["c", "d"], "right": ["d", "e"]})
    LABELS = ("small", "small", "big", "big", "big")

    def test_text_labels_stay_as_the_names_of_the_clusters(self):
        part = hc.evaluate(self.H, self.LABELS)
        assert part.names == ("big", "small")
        assert part.members("small").tolist() == part.members(1).tolist() == ["a", "b"]
        assert part.to_frame()["cluster"].tolist() == list(self.LABELS)
        assert list(part.edges_frame().columns[-2:]) == ["share_big", "share_small"]
        assert part.edges_frame()["cluster"].tolist() == [-1, "big", "big"]
        assert part.agreement(self.LABELS).clusters.tolist() == ["small", "big"]
        assert pickle.loads(pickle.dumps(part)).names == part.names
        refused(lambda: part.members("none"), "numbered 0 to 1 and named 'big', 'small'", "'none'")

    def test_integers_are_numbers_not_names(self):
        part = hc.evaluate(self.H, [7, 7, 5, 5, 5])
        assert part.names is None
        assert part.members(0).tolist() == ["c", "d", "e"]
        refused(lambda: part.members("5"), "clusters are numbered 0 to 1; there is no cluster '5'")

    def test_refine_and_partitions_keep_the_names(self):
        part = hc.refine(self.H, self.LABELS)
        assert sorted(part.names) == ["big", "small"]
        assert hc.evaluate(self.H, part).names == part.names
        assert hc.evaluate(self.H, hc.cluster(self.H)).names is None

    def test_names_given_afterwards(self):
        part = hc.cluster(self.H)
        assert part.with_names(["x", "y"]).cluster_names == ["x", "y"]
        assert part.with_names({1: "y"}).cluster_names == ["0", "y"]
        for wrong in (["x"], {2: "z"}, ["x", ""], ["x", "y", "z"]):
            refused(lambda wrong=wrong: part.with_names(wrong), "names")
        refused(lambda: part.with_names(["x", "x"]), "clusters 0 and 1 are both 'x'")

    def test_a_mapping_leaves_the_other_names(self):
        part = hc.cluster(self.H).with_names(["x", "y"])
        assert part.with_names({0: "z"}).names == ("z", "y")
        refused(lambda: part.with_names({0: "y"}), "clusters 0 and 1 are both 'y'")

    def test_isolated_vertices_have_no_name(self):
        h = hc.Hypergraph.from_edges([["a", "b", "c"], ["c", "d"], ["d", "e"]], vertex_ids=list("abcdef"))
        part = hc.evaluate(h, [*self.LABELS, "alone"])
        assert part.names == ("big", "small")
        assert part.named_labels == [*self.LABELS, -1]

    def test_the_nouns_of_a_long_table(self):
        table = {"customer": list("aabbccd"), "item": list("xyxyyzz")}
        h = hc.Hypergraph.from_long(table, vertex="customer", edge="item")
        part = hc.cluster(h)
        assert part.to_frame().columns.tolist()[:2] == ["customer", "cluster"]
        assert part.edges_frame().columns[0] == "item"
        assert repr(part).startswith("Partition of 4 customers into 2 clusters")
        assert repr(hc.cluster(h.with_nouns(vertex="buyer"))).startswith("Partition of 4 buyers")
        odd = hc.Hypergraph.from_long({0: list("ab"), "cluster": list("xx")}, vertex=0, edge="cluster")
        assert repr(odd) == "Hypergraph(2 vertices, 1 cluster, 2 incidences)"
        assert hc.evaluate(odd, [0, 0]).edges_frame().columns[0] == "edge"
