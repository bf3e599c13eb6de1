"""hyperedge2vec against its definition with loops; extreme input; published NCuts."""

import sys
import tracemalloc
from dataclasses import asdict
from math import exp, sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from threadpoolctl import threadpool_info

import hyperclus as hc
from hyperclus.research.baselines import scoring
from hyperclus.research.baselines.hyperedge2vec import (
    Adam,
    AutoEncoderOptions,
    Layers,
    differentiate,
    encode,
    hyperedge2vec,
    hyperedge2vec_vectors,
    train,
)
from support import oracles
from support.paper_data import paper_hypergraph
from support.strategies import hypergraphs, random_hypergraph

examples = settings(deadline=None, max_examples=50)
WEIGHT = 30.0


def random_rows(n_edges, n, seed=0, dtype=np.float64):
    """0/1 rows, some of them without members."""
    return sp.csr_array((np.random.default_rng(seed).random((n_edges, n)) < 0.4).astype(dtype))


def random_layers(n, dimension, scale=1.0, seed=1, dtype=np.float64):
    parameters = Layers(n, dimension, dtype)
    parameters.flat[:] = scale * np.random.default_rng(seed).standard_normal(len(parameters.flat))
    return parameters


def gradient_of(parameters, rows, **options):
    found = Layers(*parameters.encoder.shape, parameters.flat.dtype)
    found.flat[:] = np.nan  # whatever was there before is overwritten
    differentiate(parameters, rows, sp.csr_array(rows.T), WEIGHT, found, **options)
    return found.flat


def sigmoid(z):
    return 1 / (1 + exp(-z))


def code(parameters, row):
    """sigmoid(x W + b), one number after the other."""
    n, dimension = parameters.encoder.shape
    return [
        sigmoid(sum(row[v] * parameters.encoder[v, i] for v in range(n)) + parameters.encoder_bias[i])
        for i in range(dimension)
    ]


def loss(parameters, rows):
    """The loss of a batch with loops."""
    n, dimension = parameters.encoder.shape
    total = sum(p**2 for p in parameters.flat) / 2
    for row in rows.toarray():
        inside = code(parameters, row)
        for v in range(n):
            z = sum(inside[i] * parameters.decoder[v, i] for i in range(dimension))
            guess = sigmoid(z + parameters.decoder_bias[v])
            total += ((row[v] - guess) * (1 + 29 * row[v])) ** 2
    return total


class LoopAdam:
    """Adam as published, for one parameter at a time."""

    def __init__(self, parameters):
        self.parameters, self.t = parameters, 0
        self.m, self.v = [0.0] * len(parameters), [0.0] * len(parameters)

    def step(self, gradient):
        self.t += 1
        for i, g in enumerate(gradient):
            self.m[i] = 0.9 * self.m[i] + 0.1 * g
            self.v[i] = 0.999 * self.v[i] + 0.001 * g**2
            mean, square = self.m[i] / (1 - 0.9**self.t), self.v[i] / (1 - 0.999**self.t)
            self.parameters[i] -= 0.01 * mean / (sqrt(square) + 1e-8)


class TestAutoEncoder:
    @pytest.mark.parametrize("scale", [0.1, 1.0])
    def test_gradient_is_the_slope_of_the_loss(self, scale):
        rows = random_rows(4, 6)
        parameters = random_layers(6, 3, scale)
        found = gradient_of(parameters, rows)
        step = 1e-5
        for i, p in enumerate(parameters.flat.copy()):
            parameters.flat[i] = p + step
            above = loss(parameters, rows)
            parameters.flat[i] = p - step
            below = loss(parameters, rows)
            parameters.flat[i] = p
            assert found[i] == pytest.approx((above - below) / (2 * step), rel=1e-6, abs=1e-5)

    @pytest.mark.parametrize("n", [2, 3, 6, 7, 8, 40])
    def test_blocks_change_nothing(self, n):
        rows, parameters = random_rows(9, n), random_layers(n, 5)
        np.testing.assert_allclose(
            gradient_of(parameters, rows, block=3), gradient_of(parameters, rows), rtol=1e-11, atol=1e-11
        )

    def test_single_precision_is_enough(self):
        rows, parameters = random_rows(60, 700), random_layers(700, 64)
        single = Layers(700, 64)
        single.flat[:] = parameters.flat
        exact = gradient_of(parameters, rows)
        found = gradient_of(single, rows.astype(np.float32))
        np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-4 * np.abs(exact).max())

    def test_adam_is_the_published_one(self):
        rng = np.random.default_rng(2)
        parameters = rng.standard_normal(11)
        oracle, adam = LoopAdam(parameters.tolist()), Adam(parameters, 0.01, chunk=3)
        for step in range(200):  # flushes on the way
            gradient = rng.standard_normal(11) * 10.0 ** (step % 7 - 3)
            gradient[4] = 0.0
            gradient[5] *= 1e-9  # where 1e-8 is not small
            oracle.step(gradient.tolist())
            adam.step(gradient)
            np.testing.assert_allclose(parameters, oracle.parameters, rtol=1e-10, atol=1e-13)

    def test_training_is_gradient_and_adam(self):
        """In one batch of all hyperedges: nothing is drawn but the first weights."""
        rows = random_rows(5, 6, dtype=np.float32)
        found = train(rows, AutoEncoderOptions(dimension=3, epochs=20), np.random.default_rng(7))
        rng = np.random.default_rng(7)
        parameters = Layers(6, 3, np.float64)
        parameters.encoder[:] = rng.standard_normal((6, 3), dtype=np.float32)
        parameters.decoder[:] = rng.standard_normal((6, 3), dtype=np.float32)
        oracle = LoopAdam(parameters.flat)
        for _ in range(20):
            oracle.step(gradient_of(parameters, rows.astype(np.float64)).tolist())
        np.testing.assert_allclose(found.flat, parameters.flat, atol=2e-4)

    def test_batches(self, monkeypatch):
        """Each epoch has floor(11/4) draws of 4 different hyperedges, each as likely as any other."""
        drawn = []
        monkeypatch.setattr(
            sys.modules[train.__module__], "differentiate", lambda p, rows, m, w, out: drawn.append(rows)
        )
        rows = sp.csr_array(np.eye(11, dtype=np.float32))
        train(rows, AutoEncoderOptions(dimension=2, epochs=500, batch=4), np.random.default_rng(0))
        assert len(drawn) == 1000
        assert all(batch.shape == (4, 11) and len(set(batch.indices)) == 4 for batch in drawn)
        counts = np.bincount(np.concatenate([batch.indices for batch in drawn]))
        np.testing.assert_allclose(counts, 4000 / 11, rtol=0.15)

    def test_loss_falls(self):
        rows = random_rows(12, 10, dtype=np.float32)
        losses = [
            loss(train(rows, AutoEncoderOptions(dimension=4, epochs=epochs), np.random.default_rng(0)), rows)
            for epochs in (1, 30, 100, 300)
        ]
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] < losses[0] / 3

    def test_nothing_becomes_denormal(self):
        """A vertex that is never drawn has its weights shrink to nothing, not to denormal numbers."""
        parameters = np.linspace(-1, 1, 101, dtype=np.float32)
        adam = Adam(parameters, 0.01)
        smallest = np.finfo(np.float32).smallest_normal
        for step in range(5000):
            adam.step(parameters.copy() if step % 2000 < 1999 else np.ones_like(parameters))
            for numbers in (parameters, adam.means, adam.squares):
                assert not ((numbers != 0) & (np.abs(numbers) < smallest)).any()
        assert np.abs(parameters).max() < 0.1
        adam.squares[:] = 2e-37
        for _ in range(3000):
            adam.step(np.zeros_like(parameters))
        assert adam.squares.min() > smallest


class TestVectors:
    @examples
    @given(h=hypergraphs())
    def test_vectors_are_mean_codes(self, h):
        found = hyperedge2vec_vectors(h, dimension=3, epochs=2, batch=4, seed=5)
        rows = sp.csr_array((h.gamma.toarray() > 0).astype(np.float32))
        parameters = train(rows, AutoEncoderOptions(dimension=3, epochs=2, batch=4), np.random.default_rng(5))
        codes = [code(parameters, row) for row in rows.toarray()]
        np.testing.assert_allclose(encode(parameters, rows), codes, atol=1e-6)
        edges = oracles.members(h)
        for v in range(h.n_vertices):
            of_v = [codes[e] for e, inside in enumerate(edges) if v in inside]
            np.testing.assert_allclose(found[v], np.mean(of_v, axis=0), atol=1e-6)

    def test_weights_play_no_part(self):
        h = random_hypergraph(30, 20, 5, seed=0)
        plain = hc.unit_weights(h).with_edge_weights(np.ones(20))
        np.testing.assert_array_equal(
            hyperedge2vec_vectors(h, epochs=2), hyperedge2vec_vectors(plain, epochs=2)
        )

    def test_seeds(self):
        h = random_hypergraph(60, 40, 5, seed=0)
        options = {"epochs": 3, "batch": 16}
        first = hyperedge2vec_vectors(h, **options, seed=1)
        np.testing.assert_array_equal(first, hyperedge2vec_vectors(h, **options, seed=1))
        assert np.abs(first - hyperedge2vec_vectors(h, **options, seed=2)).max() > 0.1
        labels = hyperedge2vec(h, 3, **options, seed=1).labels
        np.testing.assert_array_equal(labels, hyperedge2vec(h, 3, **options, seed=1).labels)
        np.testing.assert_array_equal(
            hyperedge2vec(h, 3, **options, seed=np.random.default_rng(1)).labels,
            hyperedge2vec(h, 3, **options, seed=np.random.default_rng(1)).labels,
        )

    def test_k_means_gets_them(self, monkeypatch):
        h = random_hypergraph(30, 20, 5, seed=0)
        given = []

        def k_means(vectors, k, rng):
            given.append(vectors)
            return np.arange(len(vectors)) % k

        monkeypatch.setattr(scoring, "k_means", k_means)
        hyperedge2vec(h, dimension=7, epochs=3, batch=8, learning_rate=0.02, positive_weight=5, seed=4)
        wanted = hyperedge2vec_vectors(
            h, dimension=7, epochs=3, batch=8, learning_rate=0.02, positive_weight=5, seed=4
        )
        np.testing.assert_array_equal(given[0], wanted)

    def test_isolated_vertices_and_empty_hyperedges(self):
        h = random_hypergraph(40, 20, 5, seed=0)
        matrix = np.zeros((43, 25))
        held, kept = np.delete(np.arange(43), [0, 17, 42]), np.delete(np.arange(25), [0, 3, 4, 9, 24])
        matrix[np.ix_(held, kept)] = h.gamma.toarray().T
        padded = hc.Hypergraph.from_incidence(matrix, isolated="keep", empty_edges="keep")
        found = hyperedge2vec_vectors(padded, epochs=3, batch=8)
        assert np.isnan(found[[0, 17, 42]]).all()
        np.testing.assert_array_equal(found[held], hyperedge2vec_vectors(h, epochs=3, batch=8))
        labels = hyperedge2vec(padded, epochs=3, batch=8).labels
        assert labels[[0, 17, 42]].tolist() == [-1] * 3
        np.testing.assert_array_equal(labels[held], hyperedge2vec(h, epochs=3, batch=8).labels)

    def test_blas_threads_come_back(self):
        def threads():
            return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

        before = threads()
        hyperedge2vec_vectors(random_hypergraph(10, 5, 3, seed=0), epochs=1)
        assert threads() == before


EXTREMES = {
    "one hyperedge": [range(5)],
    "two vertices": [[0, 1]],
    "single members": [[0], [1], [2]],
    "all and one": [range(300), [0], range(300), [299]],
    "huge": [range(100_000), range(0, 100_000, 2), range(50_000), [7]],
    "very unequal": [range(3000)] * 3 + [[v] for v in range(0, 3000, 10)],
}


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("options", [{}, {"learning_rate": 1.0, "positive_weight": 1000.0}])
def test_extremes_stay_finite(name, options):
    """Warnings are errors here."""
    h = hc.Hypergraph.from_edges(EXTREMES[name])
    vectors = hyperedge2vec_vectors(h, dimension=8, epochs=20, **options)
    assert vectors.shape == (h.n_vertices, 8)
    assert ((vectors >= 0) & (vectors <= 1)).all()


def test_indistinct_vectors_are_refused():
    with pytest.raises(hc.InputError, match="hyperedge2vec finds no more clusters; use at most k=1"):
        hyperedge2vec(hc.Hypergraph.from_edges([["a", "b", "c"]]), epochs=2)


@pytest.mark.parametrize("seed", [0, 1])
def test_finds_planted_blocks(seed):
    rng = np.random.default_rng(seed)
    edges = [rng.choice(25, 6, replace=False) + 25 * (i % 4) for i in range(240)]
    edges += [rng.choice(100, 4, replace=False) for _ in range(20)]
    h = hc.Hypergraph.from_edges([e.tolist() for e in edges])
    part = hyperedge2vec(h, 4, seed=seed)
    assert hc.agreement(h.vertex_ids // 25, part.labels).nmi > 0.9
    assert part.settings["method"] == "hyperedge2vec"
    assert part.ncut == pytest.approx(hc.evaluate(h, part.labels).ncut)


@pytest.mark.parametrize("function", [hyperedge2vec, hyperedge2vec_vectors])
@pytest.mark.parametrize(
    ("argument", "values", "message"),
    [
        ("dimension", [0, 2.0, True, None], "dimension must be a whole number from 1"),
        ("epochs", [-1, "3"], "epochs must be a whole number from 1"),
        ("batch", [0, 1.5], "batch must be a whole number from 1"),
        ("learning_rate", [0, -1, 1.1, np.nan, "x", True], "learning_rate must be a number above 0 and at"),
        ("positive_weight", [0.5, np.nan, np.inf, 1001, None], "positive_weight must be a number from 1 to"),
        ("seed", [-1, 1.5, "x"], "seed must be a whole number from 0"),
    ],
)
def test_arguments(function, argument, values, message):
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    for value in values:
        with pytest.raises(hc.InputError, match=message):
            function(h, **{argument: value})


def test_other_arguments():
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    with pytest.raises(hc.InputError, match="4 clusters need at least 4 vertices"):
        hyperedge2vec(h, 4)
    with pytest.raises(hc.InputError, match="k must be a whole number"):
        hyperedge2vec(h, 0)
    with pytest.raises(hc.InputError, match="a Hypergraph is needed"):
        hyperedge2vec_vectors("h")


def test_memory_stays_far_below_the_dense_matrix():
    n = 20_000
    rng = np.random.default_rng(0)
    columns = np.concatenate([rng.permutation(n) for _ in range(5)])
    rows = np.tile(np.arange(n), 5)
    matrix = sp.coo_array((np.ones(5 * n), (columns, rows)), shape=(n, n))
    h = hc.Hypergraph.from_incidence(matrix, duplicates="sum")
    tracemalloc.start()
    try:
        vectors = hyperedge2vec_vectors(h, epochs=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.isfinite(vectors).all()
    assert peak < 100e6  # four arrays of 10 MB; the dense matrix has 1,600 MB


PUBLISHED = [
    ("car", 10, 0.836, 0.02),
    ("digit-24", 3, 0.646, 0.003),
    pytest.param("digit-24", 10, 0.646, 0.003, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "n_seeds", "published", "within"), PUBLISHED)
def test_published_ncuts(name, n_seeds, published, within):
    h, _, _ = paper_hypergraph(name)
    found = np.mean([hyperedge2vec(h, seed=seed).ncut for seed in range(n_seeds)])
    assert found == pytest.approx(published, abs=within)


def test_the_defaults_are_those_of_the_public_program():
    wanted = {"dimension": 64, "epochs": 200, "batch": 128, "learning_rate": 0.01, "positive_weight": 30.0}
    assert asdict(AutoEncoderOptions()) == wanted
