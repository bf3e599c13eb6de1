"""What makes a cluster what it is, compared with definitions written with loops."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.clustering.cut import edge_shares
from hyperclus.clustering.edge_flows import (
    ALPHA,
    MAX_EXCESS,
    MIN_EXCESS,
    edge_flows,
    is_clear,
    permuted_deviation,
)
from hyperclus.hypergraph.binning import Bins, memberships
from hyperclus.report.views import Limits, Views
from support.strategies import alphas, disconnected, hypergraphs, random_hypergraph, with_partition

labelled = with_partition(hypergraphs()) | with_partition(disconnected())


def loops(part):
    """For each hyperedge and cluster: share, lift, coverage, coverage of all, and score."""
    h, phi, labels = part.walk.hypergraph, part.walk.stationary, part.labels[part.labels >= 0]
    gamma, source = (
        h.gamma.toarray(),
        np.where(h.gamma.toarray() > 0, h.gamma.toarray() ** part.walk.alpha, 0),
    )
    degrees = (source * h.edge_weights[:, None]).sum(axis=0)
    found = {}
    for e in range(h.n_edges):
        inside = [v for v in range(h.n_vertices) if gamma[e, v] > 0]
        arriving = {v: phi[v] * h.edge_weights[e] * source[e, v] / degrees[v] for v in inside}
        psi, delta = sum(arriving.values()), sum(gamma[e, v] for v in inside)
        weights = {v: 0.5 * (arriving[v] / psi + gamma[e, v] / delta) for v in inside}
        for c in range(part.k):
            volume = sum(phi[v] for v in range(len(phi)) if labels[v] == c)
            share = sum(weights[v] for v in inside if labels[v] == c)
            coverage = sum(1 for v in inside if labels[v] == c) / np.count_nonzero(labels == c)
            score = psi * share * np.log(share / volume) if share > 0 else 0.0
            found[e, c] = share, share / volume, coverage, len(inside) / len(labels), psi, score
    return found


def test_the_definition_with_loops():
    @settings(max_examples=60)
    @given(labelled, alphas)
    def check(pair, alpha):
        part = hc.evaluate(*pair, alpha=alpha)
        expected = loops(part)
        for cluster, top in enumerate(part.describe(3).edges):
            positive = sorted((row[5] for (_, c), row in expected.items() if c == cluster), reverse=True)
            best = [score for score in positive[:3] if score > 1e-13]
            assert len(top) >= len(best)
            np.testing.assert_allclose(top.score[: len(best)], best, rtol=1e-6, atol=1e-13)
            for i, edge in enumerate(top.positions.tolist()):
                row = [top.share, top.lift, top.coverage, top.coverage_all, top.flow, top.score]
                np.testing.assert_allclose(
                    [each[i] for each in row], expected[edge, cluster], rtol=1e-6, atol=1e-13
                )
            assert top.ids.tolist() == part.walk.hypergraph.edge_ids[top.positions].tolist()

    check()


@settings(max_examples=60)
@given(labelled)
def test_coverage_of_all_is_the_mean_of_the_coverages(pair):
    part = hc.evaluate(*pair)
    frame = part.describe(100).to_frame()
    gamma, labels = part.walk.hypergraph.gamma.toarray() > 0, part.labels
    for row in frame.itertuples():
        inside = gamma[list(part.walk.hypergraph.edge_ids).index(row.edge)]
        by_cluster = [inside[labels == c].mean() for c in range(part.k)]
        assert row.coverage == pytest.approx(by_cluster[row.cluster])
        assert row.coverage_all == pytest.approx(np.average(by_cluster, weights=part.sizes))
        assert row.lift > 1


def test_python_and_the_page_agree():
    part = hc.cluster(random_hypergraph(60, 80, 5, seed=1), k=4, chance=False)
    views, described = Views(part, Limits(top=6)), part.describe(6)
    for cluster in range(4):
        assert views.top_hyperedges[cluster].ids.tolist() == part.top_edges(cluster, 6).ids.tolist()
        assert views.top_vertices[cluster].ids.tolist() == part.top_vertices(cluster, 6).ids.tolist()
        assert described.edges[cluster].positions.tolist() == part.top_edges(cluster, 6).positions.tolist()
        assert part.vertex_ids[described.vertices[cluster].positions].tolist() == [
            *described.vertices[cluster].ids
        ]


@settings(max_examples=60)
@given(labelled, st.integers(0, 3))
def test_the_cluster_of_a_hyperedge_by_its_definition(pair, alpha):
    part = hc.evaluate(*pair, alpha=alpha / 2)
    walk, n, k = part.walk, len(part.labels), part.k
    flows = edge_flows(walk, part.labels, part.cut.volumes, 1)
    rows = loops(part)
    h = walk.hypergraph
    gamma, source = h.gamma.toarray(), np.where(h.gamma.toarray() > 0, h.gamma.toarray() ** walk.alpha, 0)
    degrees = (source * h.edge_weights[:, None]).sum(axis=0)
    for e in range(h.n_edges):
        arriving = walk.stationary * h.edge_weights[e] * source[e] / degrees
        weights = 0.5 * (arriving / arriving.sum() + gamma[e] / gamma[e].sum())
        spread = np.sqrt(((weights - walk.stationary) ** 2).sum())
        nearest = flows.nearest[e]
        assert rows[e, nearest][5] == pytest.approx(max(rows[e, c][5] for c in range(k)), abs=1e-12)
        assert flows.shares[e] == pytest.approx(rows[e, nearest][0])
        volume, size = part.cut.volumes[[nearest]], part.sizes[[nearest]]
        margin = 1e-6 * np.array([-1, 1])
        strict, lenient = (
            bool(is_clear(flows.shares[[e]] - m, np.array([spread]), volume, size, n, h.n_edges * k)[0])
            for m in (margin[1], margin[0])
        )
        assert strict <= flows.clear[e] <= lenient


@settings(max_examples=20)
@given(hypergraphs(min_n=3, max_n=6), st.data())
def test_the_standard_deviation_is_that_of_permuted_labels(h, data):
    walk, n = hc.RandomWalk(h), h.n_vertices
    size = data.draw(st.integers(1, n - 1))
    masks = [np.isin(range(n), chosen).astype(int) for chosen in combinations(range(n), size)]
    deviations = np.array([edge_shares(walk, mask, 2)[:, 1] - walk.stationary @ mask for mask in masks])
    np.testing.assert_allclose(deviations.mean(axis=0), 0.0, atol=1e-12)
    weights = np.array([edge_shares(walk, np.arange(n), n)[e] for e in range(h.n_edges)])
    spread = np.sqrt(((weights - walk.stationary) ** 2).sum(axis=1))
    expected = permuted_deviation(spread, np.array([size] * h.n_edges), n)
    np.testing.assert_allclose(deviations.std(axis=0), expected, atol=1e-9)


def test_the_rule_needs_more_of_small_hyperedges():
    volumes, sizes = np.full(5, 0.25), np.full(5, 250)
    members = np.array([2, 10, 100, 400, 1e9])
    spread = np.sqrt(np.maximum(1 / members - 1 / 1000, 0.0))

    def needed(i):
        shares = np.linspace(0, 1, 10_001)
        one = np.ones(len(shares))
        clear = is_clear(shares, spread[i] * one, volumes[i] * one, (sizes[i] * one).astype(int), 1000, 200)
        return (shares[clear.argmax()] - 0.25) / 0.75

    found = [needed(i) for i in range(5)]
    assert found[0] == found[1] == pytest.approx(MAX_EXCESS, abs=1e-3)
    assert found[1] > found[2] > found[3] > found[4] == pytest.approx(MIN_EXCESS, abs=1e-3)
    assert 0 < ALPHA < 0.01


def planted_table(n, k, strength, seed, n_signal=6, n_noise=7):
    """A table of signal columns, whose value is mostly the group, and noise columns; and the groups."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(k, n, p=np.arange(k, 0, -1) / (k * (k + 1) / 2))
    columns = {}
    for i in range(n_signal):
        columns[f"signal {i}"] = np.where(rng.random(n) < strength, groups, rng.integers(0, k, n))
    for i in range(n_noise):
        columns[f"noise {i}"] = rng.choice(4, n, p=rng.dirichlet(np.full(4, 5.0)))
    return {name: [f"v{value}" for value in values] for name, values in columns.items()}, groups


@pytest.mark.parametrize("objective", ["ncut", "information"])
@pytest.mark.parametrize(("n", "strength", "seed"), [(1500, 0.7, 0), (3000, 0.5, 1), (600, 0.8, 2)])
def test_noise_columns_have_no_cluster_and_signal_columns_the_right_one(n, strength, seed, objective):
    table, groups = planted_table(n, 4, strength, seed)
    part = hc.cluster(hc.Hypergraph.from_table(table), 4, objective=objective, chance=False)
    main = [np.bincount(groups[part.labels == c], minlength=4).argmax() for c in range(4)]
    for edge, cluster in part.edges_frame()[["edge", "cluster"]].itertuples(index=False):
        if edge[0].startswith("noise"):
            assert cluster == -1
        else:
            assert f"v{main[cluster]}" == edge[1]
            assert cluster >= 0
    for found in part.describe(5).edges:
        assert all(edge[0].startswith("signal") for edge in found.ids)
    profile = part.profile()
    noise = [each for each in profile.columns if each.column.startswith("noise")]
    assert sum(each.importance for each in noise) < 0.02
    assert [each.column[:6] for each in profile.columns] == ["signal"] * 6 + ["noise "] * 7


def test_hyperedges_inside_one_cluster_have_it_however_small():
    h = hc.Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    part = hc.evaluate(h, [0, 0, 0, 1, 1, 1])
    assert part.edges_frame()["cluster"].tolist() == [0, 0, -1, 1, 1]
    assert hc.evaluate(h, [0] * 6).edges_frame()["cluster"].tolist() == [-1] * 5


class TestValues:
    H = hc.Hypergraph.from_table(
        {"id": list("abcdefg"), "legs": [4, 4, 4, 2, 2, 2, 2], "hair": list("yyynnny")}, vertex="id"
    )
    PART = hc.evaluate(H, ["four"] * 3 + ["two"] * 4)

    def test_clusters_by_number_or_name(self):
        assert self.PART.top_edges("four").ids.tolist() == self.PART.top_edges(1).ids.tolist()
        first = self.PART.top_edges("four", 1).to_frame().iloc[0]
        assert first["edge"] == ("legs", 4)
        assert first[["share", "lift", "coverage", "coverage_all"]].tolist() == pytest.approx(
            [1, 7 / 3, 1, 3 / 7]
        )
        assert self.PART.top_vertices(np.int64(1)).ids.tolist() == ["a", "b", "c"]
        for call in (self.PART.top_edges, self.PART.top_vertices):
            for wrong in ("six", 2, -1, 0.0, None, True):
                with pytest.raises(hc.InputError, match="numbered 0 to 1 and named 'two', 'four'"):
                    call(wrong)
            for wrong in (0, -1, 2.0, None, "3", True):
                with pytest.raises(hc.InputError, match="n must be a whole number from 1"):
                    call(0, wrong)

    def test_text(self):
        assert str(self.PART.describe(2)) == (
            "Description of 7 vertices in 2 clusters\n"
            "  cluster two: 4 vertices, 57 % of all\n"
            "    hyperedge  of it  of all  share  lift\n"
            "    legs = 2   100 %    57 %  100 %  1.75\n"
            "    hair = n    75 %    43 %  100 %  1.75\n"
            "    top vertices: d, e\n"
            "  cluster four: 3 vertices, 43 % of all\n"
            "    hyperedge  of it  of all  share  lift\n"
            "    legs = 4   100 %    43 %  100 %  2.33\n"
            "    hair = y   100 %    57 %   75 %  1.75\n"
            "    top vertices: a, b"
        )
        alone = hc.evaluate(self.H, [0] * 7)
        assert "no hyperedge is distinctive for it" in str(alone.describe())
        assert len(alone.describe().to_frame()) == 0
        assert "phi / mean" in str(self.PART.top_vertices("two"))
        many = hc.evaluate(random_hypergraph(60, 40, 4, seed=0), np.arange(60))
        assert str(many.describe(1)).endswith("... and 20 more clusters")

    def test_names_are_escaped_in_notebooks(self):
        h = hc.Hypergraph.from_table({"<b>": ["<i>", "<i>", "x"], "y": [1, 1, 2]})
        part = hc.evaluate(h, ["<u>", "<u>", "v"])
        for value in (part.describe(), part.top_edges(0), part.top_vertices(0), part.profile()):
            page = value._repr_html_()
            assert page.count("<div>") == page.count("</div>") > 0
            assert "<b>" not in page
            assert "<i>" not in page
            assert "<u>" not in page
        assert "&lt;b&gt; = &lt;i&gt;" in part.describe()._repr_html_()

    def test_values_are_frozen(self):
        found = pickle.loads(pickle.dumps(self.PART.describe(2)))
        assert found.edges[0].ids.tolist() == [("legs", 2), ("hair", "n")]
        assert found.shares.tolist() == [4 / 7, 3 / 7]
        top = self.PART.top_edges(0)
        for array in (top.share, top.ids, self.PART.describe().sizes, self.PART.profile()["legs"].coverage):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[0]

    def test_nouns_and_frames(self):
        table = {"customer": list("aabbccdd"), "coverage": list("xyxyzwzw")}
        part = hc.evaluate(hc.Hypergraph.from_long(table, vertex="customer", edge="coverage"), list("ppqq"))
        assert part.describe().to_frame().columns[:2].tolist() == ["cluster", "edge"]
        assert part.top_vertices(0).to_frame().columns.tolist() == ["customer", "phi", "stay"]
        assert set(part.describe().to_frame()["cluster"]) == {"p", "q"}

    def test_odd_ids(self):
        h = hc.Hypergraph.from_edges({"\ud800": ["a\ud800", "b"], "y\n": ["b", "c"], "z": ["c", "d"]})
        part = hc.evaluate(h, [0, 0, 0, 1])
        assert "\ud800" in part.describe().to_frame()["edge"].tolist()
        assert "\ud800" in part.edges_frame()["edge"].tolist()
        assert "a\ud800" in part.top_vertices(0).to_frame()["vertex"].tolist()
        assert "\ud800" not in str(part.describe()) + part.describe()._repr_html_()
        assert "y\ufffd" in str(part.describe())

    def test_isolated_vertices_do_not_count(self):
        h = hc.Hypergraph.from_edges({"x": ["a", "b"], "y": ["c", "d"]}, vertex_ids=list("zabcd"))
        part = hc.evaluate(h, [0, 0, 0, 1, 1])
        assert part.describe().sizes.tolist() == [2, 2]
        assert part.top_edges(0).coverage_all.tolist() == [0.5]
        assert part.top_vertices(0).positions.tolist() == [1, 2]


class TestProfile:
    TABLE = pd.DataFrame(
        {
            "colour": ["red", "red", "blue", "blue", "blue", "red"],
            "doors": [2, 2, 4, 4, 2, 4],
            "price": [10, 11, 30, 31, 32, 50],
        }
    )
    LABELS = (0, 0, 1, 1, 1, 1)

    def part(self, **options):
        return hc.evaluate(hc.Hypergraph.from_table(self.TABLE, **options), self.LABELS)

    def test_coverages_are_shares_of_rows(self):
        profile, part = self.part().profile(), self.part()
        for each in profile.columns:
            for cluster in range(2):
                rows = self.TABLE[part.labels == cluster]
                for value, coverage in zip(each.values, each.coverage[cluster], strict=True):
                    if each.column != "price":
                        assert coverage == pytest.approx((rows[each.column] == value).mean())
            assert each.coverage.sum(axis=1) == pytest.approx(1.0)
        assert sum(each.importance for each in profile.columns) == pytest.approx(1.0)

    def test_means_and_medians(self):
        part = self.part(bins={"price": Bins("soft", 5)})
        profile = part.profile()
        assert profile["doors"].means.tolist() == pytest.approx([3.5, 2.0])
        assert profile["doors"].mean_all == pytest.approx(3.0)
        assert profile["doors"].medians == (4, 2)
        assert profile["price"].means == pytest.approx([35.75, 10.5])  # exact with soft bins
        assert profile["colour"].means is None
        binned = self.part(bins={"price": Bins("width", 4)}).profile()["price"]
        assert binned.means.tolist() == pytest.approx([34.5, 14.5], abs=5)
        assert binned.median_all in binned.values
        frame = profile.to_frame().set_index(["column", "cluster"])
        assert frame.loc[("colour", 1), "value"] == "red"
        assert frame.loc[("colour", 1), "coverage"] == 1.0
        assert frame.loc[("doors", 0), "mean"] == pytest.approx(3.5)

    def test_information_with_loops(self):
        part = self.part()
        for each in part.profile().columns:
            total = 0.0
            for cluster in range(2):
                for value in range(len(each.values)):
                    joint = each.coverage[cluster, value] * part.sizes[cluster] / 6
                    if joint > 0:
                        chance = part.sizes[cluster] / 6 * each.coverage_all[value]
                        total += joint * np.log(joint / chance)
            expected = max(total - (len(each.values) - 1) / 12, 0.0)
            assert each.information == pytest.approx(expected)

    def test_missing_values(self):
        table = self.TABLE.assign(doors=[2, 2, None, 4, 4, 4])
        for missing, n_values in (("category", 3), ("drop", 2)):
            h = hc.Hypergraph.from_table(table, missing=missing)
            found = hc.evaluate(h, self.LABELS).profile()["doors"]
            assert len(found.values) == n_values
            assert found.means.tolist() == pytest.approx([4.0, 2.0])
        assert "missing" not in str(hc.evaluate(h, self.LABELS).profile())

    def test_text_and_errors(self):
        text = str(self.part().profile())
        assert text.startswith("Profile of 6 vertices in 2 clusters, the most important column first\n")
        assert "    1        red 100 %" in text
        with pytest.raises(hc.InputError, match=r"no column 'size'; its columns are"):
            self.part().profile()["size"]
        h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
        with pytest.raises(hc.InputError, match=r"use describe\(\)"):
            hc.evaluate(h, [0, 0, 1]).profile()

    @given(
        st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=12, max_size=40, unique=True),
        st.sampled_from(["width", "quantile", "soft"]),
    )
    def test_bins_count_as_numbers_between_their_limits(self, values, rule):
        numbers = np.array(values)
        parts, binning = memberships(numbers, Bins(rule, 4))
        middles = binning.middles()
        assert (np.diff(middles) > 0).all()
        width = np.ptp(numbers)
        for codes, _ in parts:
            inside = codes >= 0
            if rule != "soft":
                assert (np.abs(middles[codes[inside]] - numbers[inside]) <= width * (0.51 + 0.01)).all()
        if rule == "soft":
            total = sum(np.where(c >= 0, middles[c], 0.0) * (1.0 if g is None else g) for c, g in parts)
            np.testing.assert_allclose(total, numbers, atol=1e-6 * width)
