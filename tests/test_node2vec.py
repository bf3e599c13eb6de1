"""node2vec: the thresholded walk and the walkers against their definitions, and the paper's figures."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
import oracles
from hyperclus.baselines import node2vec, node2vec_vectors, walk_graph
from hyperclus.baselines.walk_graph import Walkers, likely_steps
from hyperclus.factors import Factors
from paper_data import paper_hypergraph
from strategies import hypergraphs

examples = settings(deadline=None, max_examples=100)


class TestLikelySteps:
    @examples
    @given(h=hypergraphs(), threshold=st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.9]), entries=st.integers(1, 60))
    def test_are_the_large_entries_of_p(self, h, threshold, entries):
        """Whatever the number of rows at a time."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(walk_graph, "ENTRIES", entries)
            found = likely_steps(Factors(h), threshold).toarray()
        for v, row in enumerate(oracles.transition(h)):
            kept = found[v] > 0
            np.testing.assert_allclose(found[v, kept], row[kept], rtol=1e-12)
            assert kept[row > threshold + 1e-12].all()
            small = np.flatnonzero(kept & (row < threshold - 1e-12))
            others = np.delete(row, v)
            assert len(small) <= 1
            if others.max(initial=0) > 0:
                assert np.delete(found[v], v).max() == pytest.approx(others.max(), rel=1e-12)
                assert v not in small

    def test_a_flat_walk_keeps_one_step_per_vertex(self):
        """All of P is 1/n: nothing is above 2/n, and n^2 equal entries must not all be kept."""
        steps = likely_steps(Factors(hc.Hypergraph.from_edges([list(range(500))])), 2 / 500)
        assert steps.nnz == 500
        assert steps.diagonal().sum() == 0

    def test_p_is_never_whole_in_memory(self):
        """3,000 vertices in 20 hyperedges of 600: P has 9 million entries, 108 MB."""
        rng = np.random.default_rng(0)
        h = hc.Hypergraph.from_edges(
            [rng.choice(3000, 600, replace=False).tolist() for _ in range(20)] + [list(range(3000))]
        )
        factors = Factors(h)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(walk_graph, "ENTRIES", 100_000)
            tracemalloc.start()
            steps = likely_steps(factors, 20 / 3000)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert steps.nnz < 100_000
        assert peak < 15e6


def transitions(path, n):
    """How often each step was taken, as shares of the steps from a vertex."""
    counts = np.zeros((n, n))
    np.add.at(counts, (path[:, :-1].ravel(), path[:, 1:].ravel()), 1)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


class TestWalkers:
    def test_every_vertex_starts(self):
        h = hc.Hypergraph.from_edges([[0, 1, 2], [2, 3], [3, 4, 5], [6]])
        blocks = list(Walkers(likely_steps(Factors(h), 0.1)).walks(3, 5, np.random.default_rng(0)))
        starts = np.concatenate([block[:, 0] for block in blocks])
        assert np.bincount(starts).tolist() == [3] * 7
        assert {block.shape for block in blocks} == {(7, 5)}

    @examples
    @given(h=hypergraphs(), seed=st.integers(0, 100))
    def test_only_known_steps_are_taken(self, h, seed):
        steps = likely_steps(Factors(h), 0.3)
        allowed = steps.toarray() > 0
        for path in Walkers(steps, p=0.5, q=2.0).walks(2, 6, np.random.default_rng(seed)):
            assert allowed[path[:, :-1], path[:, 1:]].all()

    def test_steps_are_drawn_by_weight(self):
        h = hc.Hypergraph.from_edges([{0: 1, 1: 5, 2: 1}, {2: 3, 3: 1}, {3: 1, 0: 2, 4: 1}])
        steps = likely_steps(Factors(h), 0.0)
        (path,) = Walkers(steps).walks(1, 40_000, np.random.default_rng(1))
        wanted = steps.toarray() / steps.sum(axis=1)[:, None]
        np.testing.assert_allclose(transitions(path, 5), wanted, atol=0.015)

    def test_p_and_q_bias_the_second_step(self):
        """The definition with loops, over all triples."""
        h = hc.Hypergraph.from_edges([{0: 1, 1: 2, 2: 1}, {2: 3, 3: 1}, {3: 1, 4: 2}, {4: 1, 0: 1}])
        steps, p, q = likely_steps(Factors(h), 0.0), 0.25, 4.0
        weights = steps.toarray()
        (path,) = Walkers(steps, p, q).walks(1, 100_000, np.random.default_rng(1))
        counts = np.zeros((5, 5, 5))
        np.add.at(counts, tuple(path[:, i : path.shape[1] - 2 + i].ravel() for i in range(3)), 1)
        for t in range(5):
            for v in range(5):
                if counts[t, v].sum() < 5000:
                    continue
                biased = [
                    weights[v, u] * (1 / p if u == t else 1 if weights[u, t] > 0 else 1 / q) for u in range(5)
                ]
                expected = np.array(biased) / sum(biased)
                np.testing.assert_allclose(counts[t, v] / counts[t, v].sum(), expected, atol=0.03)


class TestNode2vec:
    def test_planted_blocks_and_isolated_vertices(self):
        rng = np.random.default_rng(0)
        edges = [(rng.choice(30, 6, replace=False) + 30 * (i % 3)).tolist() for i in range(240)]
        edges += [rng.choice(90, 4, replace=False).tolist() for _ in range(20)]
        h = hc.Hypergraph.from_edges(edges, vertex_ids=range(92), isolated="keep")
        part = node2vec(h, 3, epochs=2)
        vectors = node2vec_vectors(h, dimension=16)
        assert vectors.shape == (92, 16)
        assert np.isnan(vectors).any(axis=1).tolist() == [False] * 90 + [True] * 2
        assert hc.agreement(np.arange(90) // 30, part.labels[:90]).nmi > 0.9
        assert part.labels[90:].tolist() == [-1, -1]
        assert part.settings["method"] == "node2vec"
        assert part.ncut == pytest.approx(hc.evaluate(h, part.labels).ncut)

    def test_a_seed_fixes_the_answer(self):
        h, _, _ = paper_hypergraph("car")
        first, again, other = (node2vec(h, threshold=0.0, seed=seed) for seed in (1, 1, 2))
        assert first.labels.tolist() == again.labels.tolist()
        assert first.labels.tolist() != other.labels.tolist()

    def test_one_vertex_and_twins(self):
        assert node2vec(hc.Hypergraph.from_edges([["a"]]), 1).labels.tolist() == [0]
        assert node2vec(hc.Hypergraph.from_edges([["a"], ["b"]]), 2).ncut == 0

    @pytest.mark.parametrize(
        ("setting", "message"),
        [
            ({"threshold": 1.5}, "threshold must be a probability"),
            ({"threshold": "a"}, "threshold must be a probability"),
            ({"p": 0}, "p must be a number above 0; got 0"),
            ({"q": float("nan")}, "q must be a number above 0"),
            ({"n_walks": 0}, "n_walks must be a whole number from 1; got 0"),
            ({"window": 2.5}, "window must be a whole number"),
            ({"k": 9}, "9 clusters need at least 9 vertices"),
        ],
    )
    def test_bad_arguments(self, setting, message):
        with pytest.raises(hc.InputError, match=message):
            node2vec(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]), **setting)

    def test_digit_24(self):
        """SPEC 4.4: tau = 2/n gives the paper's .6417; ten seeds are in the slow test."""
        h, _, classes = paper_hypergraph("digit-24")
        part = node2vec(h, seed=0)
        assert part.ncut == pytest.approx(0.6417, abs=0.002)
        assert hc.agreement(classes, part.labels).f1.min() > 0.99

    @pytest.mark.slow
    def test_digit_24_ten_seeds(self):
        h, _, classes = paper_hypergraph("digit-24")
        parts = [node2vec(h, seed=seed) for seed in range(10)]
        assert np.mean([part.ncut for part in parts]) == pytest.approx(0.6417, abs=0.001)
        assert np.mean([hc.agreement(classes, part.labels).f1 for part in parts], axis=0).min() > 0.99


@pytest.mark.parametrize(
    ("method", "missing", "name"),
    [
        ("node2vec", "gensim", "gensim"),
        ("node2vec", "sklearn", "scikit-learn"),
        ("hyperedge2vec", "sklearn", "scikit-learn"),
    ],
)
def test_without_the_extra_one_sentence_says_so(method, missing, name):
    code = f"""
import sys
sys.modules["{missing}"] = None
import hyperclus as hc
try:
    hc.baselines.{method}(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
except hc.MissingLibraryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{method} needs {name}: pip install 'hyperclus[embeddings]'\n"
