"""node2vec: the thresholded walk and the walkers against their definitions, and the paper's figures."""

import importlib.util
import subprocess
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.research.baselines import node2vec, node2vec_vectors
from hyperclus.research.baselines.node2vec import likely_steps, next_vertices, random_walks
from hyperclus.spectral.factors import TransitionFactors
from support import oracles
from support.paper_data import paper_hypergraph
from support.strategies import hypergraphs

examples = settings(deadline=None, max_examples=100)
needs_gensim = pytest.mark.skipif(
    sys.version_info >= (3, 14) and importlib.util.find_spec("gensim") is None,
    reason="gensim has no wheel for 3.14",
)


class TestLikelySteps:
    @examples
    @given(h=hypergraphs(), threshold=st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.9]), entries=st.integers(1, 60))
    def test_are_the_large_entries_of_p(self, h, threshold, entries):
        """Whatever the number of rows at a time."""
        rng = np.random.default_rng(0)
        found = likely_steps(TransitionFactors(h), threshold, rng, at_once=entries).toarray()
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
        """All of P is 1/n: nothing is above 2/n, and n^2 equal entries must not all be kept.

        Which one is drawn: no vertex is the end of many steps.
        """
        h = hc.Hypergraph.from_edges([list(range(500))])
        steps = likely_steps(TransitionFactors(h), 2 / 500, np.random.default_rng(0))
        assert steps.nnz == 500
        assert steps.diagonal().sum() == 0
        assert np.bincount(steps.indices).max() < 10

    def test_what_equals_the_threshold_stays(self):
        """Two blocks of n/2 that are alike inside have entries of 2/n; the usual threshold keeps them."""
        h = hc.Hypergraph.from_edges([list(range(7)), list(range(7, 14))] * 3)
        steps = likely_steps(TransitionFactors(h), 2 / 14, np.random.default_rng(0))
        assert steps.nnz == 2 * 7 * 7

    def test_too_many_steps(self):
        h = hc.Hypergraph.from_edges([list(range(50))])
        message = r"2,500 steps have a probability of at least 0, .* raise the"
        with pytest.raises(hc.InputError, match=message):
            likely_steps(TransitionFactors(h), 0.0, np.random.default_rng(0), max_steps=1000)

    def test_weights_of_any_scale(self):
        h = hc.Hypergraph.from_edges([{0: 1e200, 1: 2e200}, {1: 1e200, 2: 1e200}], edge_weights=[1e-200] * 2)
        plain = hc.Hypergraph.from_edges([{0: 1, 1: 2}, {1: 1, 2: 1}])
        found, wanted = (
            likely_steps(TransitionFactors(g), 0.0, np.random.default_rng(0)).toarray() for g in (h, plain)
        )
        np.testing.assert_allclose(found, wanted, rtol=1e-12)

    def test_p_is_never_whole_in_memory(self):
        """3,000 vertices in 20 hyperedges of 600: P has 9 million entries, 108 MB."""
        rng = np.random.default_rng(0)
        h = hc.Hypergraph.from_edges(
            [rng.choice(3000, 600, replace=False).tolist() for _ in range(20)] + [list(range(3000))]
        )
        factors = TransitionFactors(h)
        tracemalloc.start()
        steps = likely_steps(factors, 20 / 3000, np.random.default_rng(0), at_once=100_000)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert steps.nnz < 100_000
        assert peak < 15e6


def transitions(path, n):
    """How often each step was taken, as shares of the steps from a vertex."""
    counts = np.zeros((n, n))
    np.add.at(counts, (path[:, :-1].ravel(), path[:, 1:].ravel()), 1)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def sums(steps):
    return np.append(0.0, np.cumsum(steps.data))


class TestRandomWalks:
    def test_every_vertex_starts(self):
        h = hc.Hypergraph.from_edges([[0, 1, 2], [2, 3], [3, 4, 5], [6]])
        steps = likely_steps(TransitionFactors(h), 0.1, np.random.default_rng(0))
        blocks = list(random_walks(steps, 3, 5, np.random.default_rng(0)))
        starts = np.concatenate([block[:, 0] for block in blocks])
        assert np.bincount(starts).tolist() == [3] * 7
        assert {block.shape for block in blocks} == {(7, 5)}

    @examples
    @given(h=hypergraphs(), seed=st.integers(0, 100))
    def test_only_known_steps_are_taken(self, h, seed):
        steps = likely_steps(TransitionFactors(h), 0.3, np.random.default_rng(0))
        allowed = steps.toarray() > 0
        for path in random_walks(steps, 2, 6, np.random.default_rng(seed)):
            assert allowed[path[:, :-1], path[:, 1:]].all()

    def test_steps_are_drawn_by_weight(self):
        h = hc.Hypergraph.from_edges([{0: 1, 1: 5, 2: 1}, {2: 3, 3: 1}, {3: 1, 0: 2, 4: 1}])
        steps = likely_steps(TransitionFactors(h), 0.0, np.random.default_rng(0))
        (path,) = random_walks(steps, 1, 40_000, np.random.default_rng(1))
        wanted = steps.toarray() / steps.sum(axis=1)[:, None]
        np.testing.assert_allclose(transitions(path, 5), wanted, atol=0.015)

    def test_a_row_of_many_unequal_steps(self):
        """800 steps of one vertex, weights over eight decades; drawn as often as they weigh."""
        rng = np.random.default_rng(0)
        weights = rng.permutation(np.logspace(-8, 0, 800))
        steps = sp.csr_array(np.vstack([weights, *np.eye(800)[1:]]))
        taken = next_vertices(steps, sums(steps), np.zeros(1_000_000, dtype=np.int64), rng)
        expected = 1_000_000 * weights / weights.sum()
        often = expected > 50
        assert often.sum() > 100
        errors = (np.bincount(taken, minlength=800) - expected)[often] / np.sqrt(expected[often])
        assert np.abs(errors).max() < 5
        assert 0.8 < np.mean(errors**2) < 1.2

    def test_the_ends_of_a_row(self):
        """Draws next to 0 and 1 stay in the row, also in the last one."""
        steps = sp.csr_array(np.tile([[0.3, 0.3, 0.4]], (3, 1)))
        for share, wanted in ((0.0, 0), (np.nextafter(1, 0), 2), (0.3 * (1 + 1e-14), 1)):
            drawing = SimpleNamespace(random=lambda count, share=share: np.full(count, share))
            assert next_vertices(steps, sums(steps), np.arange(3), drawing).tolist() == [wanted] * 3

    def test_walkers_go_in_blocks(self):
        h = hc.Hypergraph.from_edges([[0, 1, 2], [2, 3], [3, 4, 5], [6]])
        steps = likely_steps(TransitionFactors(h), 0.1, np.random.default_rng(0))
        blocks = list(random_walks(steps, 2, 4, np.random.default_rng(0), at_once=3))
        assert [len(block) for block in blocks] == [3, 3, 1, 3, 3, 1]
        assert np.bincount(np.concatenate(blocks)[:, 0]).tolist() == [2] * 7


@needs_gensim
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

    def test_gensim_is_asked_for_what_the_public_program_asks(self, monkeypatch):
        """Skip-gram, window 10, 5 negatives, 128 dimensions, 1 epoch over 10 walks of 80 from each vertex."""
        import gensim.models

        asked = {}

        class Word2Vec(gensim.models.Word2Vec):
            def __init__(self, **settings):
                asked.update(settings)
                super().__init__(**settings)

            def train(self, walks, *, total_examples, epochs):
                lengths = [len(walk) for walk in walks]
                asked.update(walks=lengths, total=total_examples, epochs=epochs)
                return super().train(walks, total_examples=total_examples, epochs=epochs)

        monkeypatch.setattr(gensim.models, "Word2Vec", Word2Vec)
        h = hc.Hypergraph.from_edges([[0, 1], [1, 2]])
        vectors = [node2vec_vectors(h, seed=seed) for seed in (0, 1)]
        wanted = {"vector_size": 128, "window": 10, "negative": 5, "sg": 1, "min_count": 1, "workers": 1}
        assert {name: asked[name] for name in wanted} == wanted
        assert asked["walks"] == [80] * 30
        assert (asked["total"], asked["epochs"]) == (30, 1)
        assert np.abs(vectors[0] - vectors[1]).max() > 1e-4

    def test_the_threshold_that_was_used_is_in_the_settings(self):
        h = hc.Hypergraph.from_edges([[0, 1, 2, 3]], vertex_ids=range(5), isolated="keep")
        assert node2vec(h, 1).settings["threshold"] == 0.5

    def test_one_vertex_and_twins(self):
        assert node2vec(hc.Hypergraph.from_edges([["a"]]), 1).labels.tolist() == [0]
        assert node2vec(hc.Hypergraph.from_edges([["a"], ["b"]]), 2).ncut == 0

    @pytest.mark.parametrize(
        ("setting", "message"),
        [
            ({"threshold": 1.5}, "threshold must be a probability"),
            ({"threshold": "a"}, "threshold must be a probability"),
            ({"threshold": True}, "threshold must be a probability"),
            ({"walk_length": 1}, "walk_length must be from 2 to 10,000"),
            ({"walk_length": 10_001}, "walk_length must be from 2 to 10,000"),
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
        assert hc.agreement(classes, part.labels).f1_by_class.min() > 0.99

    @pytest.mark.slow
    def test_digit_24_ten_seeds(self):
        h, _, classes = paper_hypergraph("digit-24")
        parts = [node2vec(h, seed=seed) for seed in range(10)]
        assert np.mean([part.ncut for part in parts]) == pytest.approx(0.6417, abs=0.001)
        assert (
            np.mean([hc.agreement(classes, part.labels).f1_by_class for part in parts], axis=0).min() > 0.99
        )


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
    hc.research.baselines.{method}(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
except hc.MissingLibraryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    if name == "gensim" and sys.version_info >= (3, 14):
        assert done.stdout.startswith(
            "node2vec needs gensim, which has no wheel for this version of Python: use"
        )
    else:
        assert done.stdout == f"{method} needs {name}: pip install 'hyperclus[embeddings]'\n"


def test_without_a_wheel_the_sentence_does_not_name_the_extra():
    code = """
import sys
sys.modules["gensim"] = None
import hyperclus as hc
from hyperclus.research.baselines.node2vec import node2vec
node2vec.__globals__["NO_WHEEL_FROM"] = (3, 11)
try:
    node2vec(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]))
except hc.MissingLibraryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("node2vec needs gensim, which has no wheel for this version of Python: use")
