"""`Partition.chance`: noise is chance, planted clusters are more, and what cannot be compared says so."""

import dataclasses
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import hyperclus as hc
from hyperclus.clustering import shuffles
from hyperclus.clustering.chance import LITTLE, MORE, NO_MORE, Chance, certainty, student_below, verdict_of
from hyperclus.clustering.shuffles import sampled
from support.contracts import refused
from support.strategies import random_hypergraph

OBJECTIVES = ["ncut", "information"]


def random_table(seed, rows=120):
    return hc.Hypergraph.from_table(np.random.default_rng(seed).integers(0, 4, (rows, 8)))


def segments(seed, rows=120):
    """A table of three segments, each of which prefers one of four values in each of eight columns."""
    rng = np.random.default_rng(seed)
    favourites, group = rng.integers(0, 4, (3, 8)), np.arange(rows) % 3
    values = np.where(rng.random((rows, 8)) < 0.6, favourites[group], rng.integers(0, 4, (rows, 8)))
    return hc.Hypergraph.from_table(values)


def blocks(seed, n=150, n_edges=200):
    """Hyperedges of up to six members of one of three blocks; one in five members is from any block."""
    rng = np.random.default_rng(seed)
    anywhere, size = rng.random((n_edges, 6)) < 0.2, (n_edges, 6)
    homes = np.where(anywhere, rng.integers(0, 3, size), np.arange(n_edges)[:, None] % 3)
    members = 3 * rng.integers(0, n // 3, size) + homes
    return hc.Hypergraph.from_edges([list(set(row)) for row in members.tolist()])


def verdicts(make, objective, count=6):
    return [hc.cluster(make(seed), 3, objective=objective, seed=seed).chance.verdict for seed in range(count)]


class TestVerdict:
    @pytest.mark.parametrize("objective", OBJECTIVES)
    @pytest.mark.parametrize("make", [random_table, lambda seed: random_hypergraph(100, 120, 6, seed)])
    def test_noise_is_no_more_than_chance(self, make, objective):
        assert MORE not in verdicts(make, objective)

    @pytest.mark.parametrize("objective", OBJECTIVES)
    @pytest.mark.parametrize("make", [segments, blocks])
    def test_planted_clusters_are_more_than_chance(self, make, objective):
        assert set(verdicts(make, objective)) == {MORE}

    def test_given_labels_that_ignore_the_structure_are_no_more_than_chance(self):
        h = segments(0)
        assert hc.evaluate(h, np.arange(120) % 3).chance.verdict == MORE
        assert hc.evaluate(h, np.arange(120) // 40).chance.verdict == NO_MORE

    def test_labels_of_a_long_search_in_noise_are_no_more_than_chance(self):
        h = random_table(1, rows=60)
        found = hc.cluster(h, 3, effort="thorough", chance=False)
        assert hc.evaluate(h, found).chance.verdict != MORE

    def test_certainty_is_that_of_students_distribution(self):
        stats = pytest.importorskip("scipy.stats")
        costs = np.random.default_rng(0).normal(1.0, 0.1, 8)
        t = (costs.mean() - 0.9) / costs.std(ddof=1) / np.sqrt(1 + 1 / 8)
        assert certainty(costs, 0.9) == pytest.approx(stats.t.cdf(t, 7))
        values = np.concatenate([np.linspace(-40, 40, 81), [-np.inf, 1e200, np.inf]])
        for freedom in range(1, 30):
            found = [student_below(float(value), freedom) for value in values]
            assert found == pytest.approx(stats.t.cdf(values, freedom), abs=1e-14)

    @pytest.mark.parametrize(
        ("cost", "wanted"), [(0.5, MORE), (0.87, LITTLE), (0.97, NO_MORE), (1.0, NO_MORE), (3.0, NO_MORE)]
    )
    @pytest.mark.parametrize("offset", [0.0, -3.0])
    def test_more_must_be_certain(self, cost, wanted, offset):
        assert verdict_of(np.array([1.0, 1.05, 1.02, 0.95]) + offset, cost + offset) == wanted

    def test_a_small_difference_is_little_more_than_chance(self):
        assert verdict_of(np.array([1.0, 1.0001, 0.9999, 1.0]), 0.995) == LITTLE

    @pytest.mark.parametrize("costs", [np.zeros(4), np.full(4, 0.3), np.full(4, 0.3) + 1e-14])
    def test_equal_figures_are_no_more_than_chance(self, costs):
        assert verdict_of(costs, round(costs[0], 6)) == NO_MORE


class TestWhatCannotBeCompared:
    @pytest.mark.parametrize(
        ("edges", "k", "reason"),
        [
            ([["a", "b", "c"], ["c", "d"]], 2, "fewer than 10 vertices"),
            ([range(20), range(10)], 1, "one cluster"),
            ([range(20), range(20), [3]], 2, "one vertex or all"),
            ([range(10), range(10, 30)], 2, "one hyperedge only"),
        ],
    )
    def test_it_says_why(self, edges, k, reason):
        chance = hc.cluster(hc.Hypergraph.from_edges(list(map(list, edges))), k).chance
        assert chance.verdict is None
        assert reason in chance.reason
        assert str(chance) == f"not compared: {chance.reason}"

    def test_it_can_be_switched_off(self):
        h = segments(0)
        part, other = hc.cluster(h, 3, chance=False), hc.cluster(h, 3)
        assert part.chance is None
        assert "chance" not in part.timings
        assert other.timings["chance"] > 0
        assert "chance" not in repr(part)
        np.testing.assert_array_equal(part.labels, other.labels)

    @pytest.mark.parametrize("chance", [None, 3, "yes"])
    def test_wrong_types(self, chance):
        refused(lambda: hc.cluster(segments(0), 3, chance=chance), "chance must be True or False")


class TestSample:
    def test_of_a_large_table_a_sample_is_compared(self):
        part = hc.cluster(segments(0, rows=20_000), 3)
        assert part.chance.verdict == MORE
        assert 5_000 < part.chance.n_sampled < 8_000
        assert f"in a sample of {part.chance.n_sampled:,} vertices" in repr(part)

    def test_noise_stays_noise(self):
        assert hc.cluster(random_table(0, rows=20_000), 3).chance.verdict != MORE

    def test_hyperedges_with_one_member_are_left_out(self):
        h = random_hypergraph(4_000, 3_000, 60, seed=0)
        part, vertices = sampled(h, 3, np.random.default_rng(0))
        assert part.n_vertices == len(vertices) < h.n_vertices
        assert part.edge_sizes.min() >= 2
        assert (part.vertex_ids == h.vertex_ids[vertices]).all()

    def test_small_hyperedges_are_not_sampled(self):
        h = random_hypergraph(30_000, 30_000, 2, seed=0)
        assert sampled(h, 3, np.random.default_rng(0))[0] is h


def small_hyperedges(seed, noise, n=9_000):
    """2,000 hyperedges of 60 to 90 members, of one of three blocks or, with this probability, of any."""
    rng = np.random.default_rng(seed)
    edge = np.repeat(np.arange(2_000), rng.integers(60, 91, 2_000))
    home = np.where(rng.random(len(edge)) < noise, rng.integers(0, 3, len(edge)), edge % 3)
    keys = np.unique(edge * n + 3 * rng.integers(0, n // 3, len(edge)) + home)
    places = keys % n, keys // n
    return hc.Hypergraph.from_incidence(sp.csr_array((np.ones(len(keys)), places), shape=(n, 2_000)))


class TestTwoSamples:
    """A small sample is tried first, and decides only where clusters are clear."""

    @pytest.fixture
    def in_the_larger_sample(self, monkeypatch):
        def chance(part):
            with monkeypatch.context() as patched:
                patched.setattr(shuffles, "WORTHWHILE", 0.0)
                return hc.evaluate(part.walk.hypergraph, part).chance

        return chance

    @pytest.fixture(autouse=True)
    def of_any_size(self, monkeypatch):
        monkeypatch.setattr(shuffles, "SAMPLE", 5_000)
        monkeypatch.setattr(shuffles, "QUICK_FROM", 0)

    @pytest.mark.parametrize("seed", range(3))
    def test_clear_clusters_are_seen_in_few_vertices(self, in_the_larger_sample, seed):
        part = hc.cluster(small_hyperedges(seed, 0.3), 3, effort="fast", seed=seed)
        larger = in_the_larger_sample(part)
        assert part.chance.verdict == larger.verdict == MORE
        assert part.chance.n_sampled < 0.6 * larger.n_sampled

    @pytest.mark.parametrize("noise", [0.95, 1.0])
    def test_otherwise_the_answer_is_that_of_the_larger_one(self, in_the_larger_sample, noise):
        h = small_hyperedges(0, noise)
        part = hc.evaluate(h, np.arange(h.n_vertices) % 3)
        assert part.chance == in_the_larger_sample(part)

    def test_a_hypergraph_of_which_no_larger_sample_is_compared(self, monkeypatch, in_the_larger_sample):
        monkeypatch.setattr(shuffles, "MAX_INCIDENCES", 40_000)
        clear, noise = (hc.cluster(small_hyperedges(0, p), 3, effort="fast") for p in (0.3, 1.0))
        monkeypatch.setattr(shuffles, "THOROUGH", shuffles.THOROUGH._replace(neighbors=3_000))
        assert hc.evaluate(clear.walk.hypergraph, clear).chance.verdict == MORE
        assert in_the_larger_sample(clear).reason.startswith("many small hyperedges")
        assert hc.evaluate(noise.walk.hypergraph, noise).chance.verdict is None

    @pytest.mark.parametrize(
        ("cost", "large", "decided"),
        [(1.9, True, False), (1.9, False, True), (1.7, True, True), (2.1, True, True)],
    )
    def test_few_costs_that_are_alike_decide_only_about_large_differences(self, cost, large, decided):
        costs = shuffles._Costs(cost, False, np.array([2.0, 2.0001, 1.9999]), None, large)
        assert costs.decided == decided


class TestOwnFigure:
    """The clusters' own figure counts if it is worse than that of the quick search."""

    def test_of_labels_from_elsewhere_and_the_sentence_says_so(self):
        chance = hc.evaluate(segments(0), np.arange(120) // 40).chance
        assert chance.of_clusters
        assert f"chance: the clusters have NCut {chance.value:.4g}, and a quick search" in str(chance)

    def test_noise_in_a_sample_is_like_its_shuffles(self, monkeypatch):
        """Labels fitted to all vertices would look worse there than those fitted to the sample."""
        monkeypatch.setattr(shuffles, "SAMPLE", 5_000)
        rng, values = np.random.default_rng(0), []
        for seed in range(4):
            vertices, edges = rng.integers(0, 6_000, 40_000), rng.integers(0, 400, 40_000)
            h = hc.Hypergraph.from_incidence(sp.csr_array((np.ones(40_000), (vertices, edges))))
            chance = hc.cluster(h, 6, seed=seed).chance
            assert chance.n_sampled < 0.5 * h.n_vertices
            assert not chance.of_clusters
            values.append(chance.value / np.mean(chance.shuffled))
            bound = hc.cluster(h, 6, seed=seed, constraints={"must_link": [h.vertex_ids[:2].tolist()]}).chance
            assert (
                bound.of_clusters
            )  # constraints keep clusters from the best, which the quick search looks for
            given = hc.evaluate(h, hc.cluster(h, 6, objective="ncut", seed=seed, chance=False)).chance
            assert given.of_clusters
            assert given.value > np.mean(given.shuffled)
        assert np.mean(values) == pytest.approx(1, abs=0.05)


class TestValue:
    def test_same_seed_same_value(self):
        h = random_table(0)
        first = hc.cluster(h, 3, seed=5).chance
        assert first == hc.cluster(h, 3, seed=5).chance
        assert first.shuffled != hc.cluster(h, 3, seed=6).chance.shuffled
        rng = [hc.cluster(h, 3, seed=np.random.default_rng(5)).chance for _ in range(2)]
        assert rng[0] == rng[1]

    def test_frozen_and_pickled(self):
        chance = hc.cluster(segments(0), 3).chance
        assert pickle.loads(pickle.dumps(chance)) == chance
        with pytest.raises(dataclasses.FrozenInstanceError):
            chance.verdict = None

    def test_text(self):
        chance = Chance(MORE, "NCut", 0.4031, (0.81, 1.162, 0.95))
        assert str(chance) == (
            "more than chance: a quick search finds NCut 0.4031, and 0.81 to 1.162 in 3 shuffled hypergraphs"
        )
        part = hc.cluster(segments(0), 3)
        assert f"\n  chance       {part.chance}\n" in repr(part)
        assert str(part.chance) in part._repr_html_()
