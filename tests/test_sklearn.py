# ruff: noqa: N803, N806 (scikit-learn writes X)
"""The estimators return the results of the functions and follow the rules of scikit-learn."""

import pickle
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import hyperclus as hc
from hyperclus.engines import cuda
from hyperclus.sklearn import HyperClusG, HypergraphClustering, HypergraphSpectralEmbedding
from support import stand_in_device
from support.contracts import refused
from support.strategies import alphas, copies_around_a_hub, disconnected, hypergraphs, random_hypergraph

examples = settings(deadline=None, max_examples=40)
MATRIX = np.array([[3, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 2], [0, 0, 1, 1]], dtype=float)
DOCS = Path(__file__).parents[1] / "docs" / "how_to" / "scikit_learn.md"
NEGATIVE = {"check_clustering": "feeds negative X in spite of the tag positive_only"}
METHODS = [(hc.cluster, HypergraphClustering), (hc.hyperclus_g, HyperClusG)]
ESTIMATORS = [
    HypergraphClustering(),
    HypergraphClustering(alpha=1, effort="fast"),
    HyperClusG(alpha=1, rounding="sweep"),
    HypergraphSpectralEmbedding(),
    HypergraphSpectralEmbedding(alpha=1),
]


def matrix_of(h):
    """The matrix X of a hypergraph, samples by features."""
    return h.gamma.T.tocsr()


def planted(k=3, n=90, m=120, seed=0):
    """Counts with k clear blocks, and the block of each sample."""
    rng = np.random.default_rng(seed)
    blocks = np.arange(n) % k
    return rng.poisson(np.where(blocks[:, None] == np.arange(m) % k, 0.5, 0.03)).astype(float), blocks


# ---- scikit-learn's own checks ----------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:. of . components are 0", "ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda e: {} if isinstance(e, HypergraphSpectralEmbedding) else NEGATIVE,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_what_check_clustering_asks_of_data_without_negatives():
    points, classes = make_blobs(50, random_state=1)
    X = KBinsDiscretizer(5, encode="onehot", strategy="uniform").fit_transform(points)
    model = HypergraphClustering(3, random_state=0)
    labels = model.fit_predict(X)
    assert adjusted_rand_score(labels, classes) > 0.4
    np.testing.assert_array_equal(labels, model.fit(X.toarray().tolist()).labels_)
    np.testing.assert_array_equal(np.unique(labels), [0, 1, 2])
    assert labels.dtype == np.int64


def test_import_without_scikit_learn_names_the_missing_library():
    code = """
import sys
sys.modules["sklearn"] = None
import hyperclus
try:
    import hyperclus.sklearn
except hyperclus.MissingLibraryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "hyperclus.sklearn needs scikit-learn: pip install 'hyperclus[sklearn]'"


# ---- the same as the functions ---------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:every sample has an entry")
@given(st.one_of(hypergraphs(min_n=4), disconnected()), alphas, st.sampled_from(METHODS))
@examples
def test_labels_and_figures_are_those_of_the_function(h, alpha, method):
    function, estimator = method
    part = function(h, 2, alpha=alpha, seed=3)
    model = estimator(2, alpha=alpha, edge_weights=h.edge_weights, random_state=3)
    X = matrix_of(h)
    for form in (X, sp.csc_matrix(X), sp.coo_array(X), X.toarray(), pd.DataFrame(X.toarray())):
        np.testing.assert_array_equal(clone(model).fit_predict(form), part.labels)
    model.fit(X)
    assert (model.ncut_, model.lower_bound_, model.gap_) == (part.ncut, part.lower_bound, part.gap)
    np.testing.assert_array_equal(model.eigenvalues_, part.eigenvalues)
    np.testing.assert_array_equal(model.stationary_, part.walk.stationary)
    assert model.n_features_in_ == h.n_edges


def test_samples_and_features_without_entries():
    gaps = np.zeros((7, 6))
    gaps[np.ix_([0, 1, 3, 5, 6], [0, 2, 3, 5])] = MATRIX
    whole = HypergraphClustering(2, random_state=0).fit(MATRIX)
    model = HypergraphClustering(2, random_state=0).fit(gaps)
    np.testing.assert_array_equal(model.labels_[[0, 1, 3, 5, 6]], whole.labels_)
    np.testing.assert_array_equal(model.labels_[[2, 4]], -1)
    np.testing.assert_array_equal(np.flatnonzero(model.stationary_ == 0), [2, 4])
    assert model.ncut_ == pytest.approx(whole.ncut_, abs=1e-14)
    assert model.partition_.walk.hypergraph.edge_ids.tolist() == [0, 2, 3, 5]
    unknown = np.eye(6)[[1, 4]]
    assert model.predict(unknown).tolist() == [-1, -1]
    embedding = HypergraphSpectralEmbedding(2).fit(gaps)
    np.testing.assert_allclose(
        np.abs(embedding.embedding_[[0, 1, 3, 5, 6]]), np.abs(embed(MATRIX)), atol=1e-9
    )
    np.testing.assert_array_equal(embedding.embedding_[[2, 4]], 0)
    np.testing.assert_array_equal(embedding.transform(unknown), 0)


def test_random_state():
    X, _ = planted()
    draws = [
        clone(HypergraphClustering(5, random_state=np.random.RandomState(1))).fit(X).labels_ for _ in range(2)
    ]
    np.testing.assert_array_equal(*draws)
    generator = HypergraphClustering(5, random_state=np.random.default_rng(7)).fit(X)
    np.testing.assert_array_equal(generator.labels_, HypergraphClustering(5, random_state=7).fit(X).labels_)
    assert HypergraphClustering(5).fit(X).partition_.settings["seed"] is None
    with pytest.raises(ValueError, match="Seed must be between"):
        HypergraphClustering(random_state=-1).fit(X)


def test_frames_name_the_features():
    names = ["red", "green", "blue", "black"]
    for frame in (pd.DataFrame(MATRIX, columns=names, index=[1, 1, 1, 2, 2]), pl.DataFrame(MATRIX, names)):
        model = HypergraphClustering(
            2, random_state=0, edge_weights=dict(zip(names, [1, 2, 3, 4], strict=True))
        ).fit(frame)
        assert model.feature_names_in_.tolist() == names
        assert model.partition_.edges_frame()["edge"].tolist() == names
        same = HypergraphClustering(2, random_state=0, edge_weights=[1, 2, 3, 4]).fit(MATRIX)
        np.testing.assert_array_equal(model.labels_, same.labels_)
        assert model.ncut_ == same.ncut_


def test_invalid_settings_and_data_are_rejected():
    refused(
        lambda: HypergraphClustering(2.5).fit(MATRIX), "n_clusters must be a whole number from 1; got 2.5"
    )
    refused(
        lambda: HypergraphSpectralEmbedding(0).fit(MATRIX),
        "n_components must be a whole number from 1; got 0",
    )
    refused(lambda: HypergraphClustering(effort="long").fit(MATRIX), "effort must be 'fast'")
    refused(lambda: HyperClusG(rounding="up").fit(MATRIX), "rounding must be 'sign' or 'sweep'")
    refused(lambda: HypergraphClustering(edge_weights=[1, 2]).fit(MATRIX), "4 edge_weights are needed")
    refused(lambda: HypergraphSpectralEmbedding(alpha=-1).fit(MATRIX), "alpha must be a number from 0")
    refused(lambda: HypergraphClustering().fit(np.zeros((3, 3))), "the hypergraph has no incidence")
    refused(
        lambda: HypergraphSpectralEmbedding(2).fit([[1, 1], [1, 0], [0, 0]]),
        "2 components need at least 3 samples with a positive entry; there are 2",
    )
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, -0.5]})
    for form in (frame, frame.astype(pd.SparseDtype(float, 0))):
        refused(
            partial(HypergraphClustering().fit, form),
            "Negative values in data passed to HypergraphClustering: sample 1 has -0.5 in feature 'b'",
        )
    with pytest.raises(ValueError, match="minimum of 3 is required by HypergraphClustering"):
        HypergraphClustering(3).fit(MATRIX[:2])
    for model in (HypergraphClustering(edge_weights=[1]), HypergraphSpectralEmbedding(edge_weights=[1])):
        use = getattr(model, "predict" if isinstance(model, HypergraphClustering) else "transform")
        with pytest.raises(NotFittedError):
            use(MATRIX)
        refused(partial(model.fit, MATRIX), "edge_weights")
        with pytest.raises(NotFittedError):
            use(MATRIX)
    refused(lambda: HypergraphClustering(1).fit(MATRIX).score(MATRIX), "one cluster has no cut to score")
    refused(
        lambda: HypergraphClustering(2, alpha=1).fit(MATRIX).predict([[1e308, 1e308, 1e308, 1e308]]),
        "the weights of a vertex exceed the range of double precision",
    )


@pytest.mark.parametrize("estimator", [HypergraphClustering, HyperClusG, HypergraphSpectralEmbedding])
def test_the_engine_is_passed_on(estimator, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(hc.MissingLibraryError, match="engine='cuda' needs CuPy"):
        estimator(engine="cuda").fit(MATRIX)
    refused(lambda: estimator(engine="gpu").fit(MATRIX), "engine must be 'auto', 'cpu' or 'cuda', not 'gpu'")
    monkeypatch.setattr(cuda, "DEVICE", stand_in_device.StandIn)
    monkeypatch.setattr(cuda, "missing", lambda: None)
    monkeypatch.setattr(cuda, "fits", lambda *_: True)
    X, _ = planted(k=2)
    here, there = (estimator(random_state=0, engine=engine).fit(X) for engine in ("cpu", "cuda"))
    kept = pickle.loads(pickle.dumps(there))
    use = "transform" if estimator is HypergraphSpectralEmbedding else "predict"
    np.testing.assert_allclose(getattr(kept, use)(X), getattr(here, use)(X), atol=1e-6)
    np.testing.assert_allclose(there.stationary_, here.stationary_, atol=1e-12)


# ---- the embedding ----------------------------------------------------------------------------


def embed(X, q=2, **settings):
    return HypergraphSpectralEmbedding(q, **settings).fit_transform(X)


def backwards_and_forwards(walk, values):
    """(P f + P* f) / 2 by the definitions, with P as an array."""
    P, phi = walk.dense(), walk.stationary
    return (P @ values + (P.T @ (phi[:, None] * values)) / phi[:, None]) / 2


@pytest.mark.filterwarnings("ignore:. of . components are 0")
@given(st.one_of(hypergraphs(min_n=4), disconnected()), alphas)
@examples
def test_embedding_is_the_scaled_eigenvectors_and_transform_agrees(h, alpha):
    assume(h.n_vertices > 3)
    X = matrix_of(h)
    model = HypergraphSpectralEmbedding(2, alpha=alpha, edge_weights=h.edge_weights, random_state=0)
    f = model.fit_transform(X)
    np.testing.assert_array_equal(f, model.transform(X))
    walk = hc.RandomWalk(h, alpha=alpha)
    pairs = hc.smallest_eigenpairs(hc.NormalizedLaplacian(walk), 3)
    known = np.abs(1 - pairs.values[1:]) > 1e-4
    expected = pairs.vectors[:, 1:] / np.sqrt(walk.stationary)[:, None] * known
    scale = 1 / np.sqrt(walk.stationary)[:, None]
    assert np.all(np.abs(f - expected) <= 1e-8 * scale)
    np.testing.assert_allclose(model.eigenvalues_, pairs.values[1:], atol=1e-9)
    step = backwards_and_forwards(walk, expected)
    assert np.all(np.abs(step - (1 - model.eigenvalues_) * expected) <= 1e-8 * scale)
    np.testing.assert_allclose(walk.stationary @ f, 0, atol=1e-7)
    np.testing.assert_allclose(walk.stationary @ f**2, known, atol=1e-7)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_transform_is_the_limit_of_adding_a_light_sample(alpha):
    h = random_hypergraph(30, 15, 6, seed=4)
    X = matrix_of(h).toarray()
    new = np.random.default_rng(0).lognormal(size=15) * (np.arange(15) % 3 == 0)
    model = HypergraphSpectralEmbedding(2, alpha=alpha, edge_weights=h.edge_weights).fit(X)
    limit = model.transform([new])[0]
    np.testing.assert_allclose(model.transform([new * 37.0])[0], limit, atol=1e-12)
    errors = []
    for light in (1e-2, 1e-4):
        added = clone(model).fit(np.vstack([X, light * new])).embedding_
        signs = np.sign((added[:-1] * model.embedding_).sum(axis=0))
        errors.append(np.abs(added[-1] * signs - limit).max())
    assert errors[1] < 1e-3
    assert errors[1] < errors[0] / 20


def test_both_terms_are_needed_if_the_walk_is_not_reversible():
    h = random_hypergraph(30, 15, 6, seed=4)
    walk = hc.RandomWalk(h)
    f = embed(matrix_of(h), edge_weights=h.edge_weights)
    values = HypergraphSpectralEmbedding(edge_weights=h.edge_weights).fit(matrix_of(h)).eigenvalues_
    assert not walk.reversible
    assert np.abs(walk.forward(f) / (1 - values) - f).max() > 0.1


def test_undetermined_components_are_zero_with_a_warning():
    dense = np.random.default_rng(0).uniform(1, 2, (10, 3))
    with pytest.warns(UserWarning, match="2 of 2 components are 0"):
        assert not embed(dense).any()
    assert np.abs(embed(dense, alpha=1)).max() > 1


def test_set_output():
    names = ["hypergraphspectralembedding0", "hypergraphspectralembedding1"]
    plain = embed(MATRIX, random_state=0)
    frame = pd.DataFrame(MATRIX, index=list("abcde"), columns=list("wxyz"))
    model = HypergraphSpectralEmbedding(random_state=0)
    assert model.fit(MATRIX).get_feature_names_out().tolist() == names
    pandas = clone(model).set_output(transform="pandas").fit_transform(frame)
    assert (pandas.columns.tolist(), pandas.index.tolist()) == (names, list("abcde"))
    polars = clone(model).set_output(transform="polars").fit_transform(pl.from_pandas(frame))
    assert polars.columns == names
    for found in (pandas, polars):
        np.testing.assert_array_equal(found.to_numpy(), plain)


# ---- predict and score ------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:every sample has an entry")
@given(hypergraphs(min_n=4), alphas, st.data())
@examples
def test_predict_is_the_cheapest_cluster_for_a_light_sample(h, alpha, data):
    X = matrix_of(h).toarray()
    settings = {"objective": "ncut", "alpha": alpha, "edge_weights": h.edge_weights, "random_state": 0}
    model = HypergraphClustering(2, **settings).fit(X)
    new = np.array(
        data.draw(st.lists(st.sampled_from([0.0, 1.0, 3.0]), min_size=h.n_edges, max_size=h.n_edges))
    )
    assume(new.any())
    light = np.vstack([X, 1e-6 * new * np.where(X > 0, X, np.inf).min()])
    hypergraph = hc.Hypergraph.from_incidence(light, edge_weights=h.edge_weights)
    walk = hc.RandomWalk(hypergraph, alpha=alpha)
    costs = [hc.cut(walk, np.append(model.labels_, c), 2).ncut for c in (0, 1)]
    weight = walk.stationary[-1]
    assume(abs(costs[0] - costs[1]) > 1e-3 * weight + 1e-13)
    assert model.predict([new])[0] == np.argmin(costs)


@given(hypergraphs(min_n=4), st.integers(2, 3))
@examples
def test_predict_returns_the_labels_of_a_two_sided_walk(h, k):
    X = matrix_of(h)
    settings = {"objective": "ncut", "edge_weights": h.edge_weights, "min_share": 0, "random_state": 0}
    model = HypergraphClustering(k, alpha=1, **settings).fit(X)
    walk = model.partition_.walk
    for v in np.flatnonzero(model.predict(X) != model.labels_):  # then another cluster must be as good
        moved = model.labels_.copy()
        moved[v] = model.predict(X)[v]
        left = set(moved.tolist())
        assert len(left) < k or hc.cut(walk, moved, k).ncut <= model.ncut_ + 1e-9


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
def test_predict_finds_the_blocks_of_new_samples(alpha):
    X, blocks = planted(seed=1)
    model = HypergraphClustering(3, alpha=alpha, random_state=0).fit(X[::2])
    np.testing.assert_array_equal(model.predict(X[::2]), model.labels_)
    assert adjusted_rand_score(model.predict(X[1::2]), blocks[1::2]) > 0.9
    assert model.score(X[::2]) == pytest.approx(-model.ncut_ / 2, abs=1e-12)


def test_an_empty_cluster_counts_as_one():
    model = HypergraphClustering(2, random_state=0).fit(MATRIX)
    assert model.score(MATRIX[model.labels_ == 0]) == -1


@pytest.mark.parametrize("m", [3, 4])
def test_the_score_is_constant_up_to_the_number_of_equal_blocks_and_drops_after(m):
    h = copies_around_a_hub(random_hypergraph(8, 12, 4, seed=2, gamma=0.2, omega=0.0), m, 0.1)
    X, omega = matrix_of(h), h.edge_weights
    scores = [
        HypergraphClustering(k, edge_weights=omega, effort="thorough", min_share=0.05, random_state=0)
        .fit(X)
        .score(X)
        for k in range(2, m + 2)
    ]
    np.testing.assert_allclose(scores[:-1], scores[0], rtol=1e-9)
    assert scores[-1] < scores[0] - 0.1


# ---- at home in scikit-learn ------------------------------------------------------------------


@pytest.mark.parametrize("vectorizer", [CountVectorizer(), TfidfVectorizer()])
def test_text(vectorizer):
    texts = [
        "red wine grape",
        "grape wine oak",
        "oak red",
        "goal match",
        "match ball goal",
        "ball league goal",
    ]
    model = make_pipeline(vectorizer, HypergraphClustering(2, random_state=0))
    labels = model.fit_predict([*texts, ""])
    assert adjusted_rand_score(labels[:6], [0, 0, 0, 1, 1, 1]) == 1
    assert labels[6] == -1
    new = model.predict(["a ball", "oak and grape", "nothing known"])
    assert new.tolist() == [labels[5], labels[0], -1]


def test_encoders_and_bins():
    X, classes = load_iris(return_X_y=True)
    bins = KBinsDiscretizer(5, encode="onehot", strategy="uniform")
    labels = make_pipeline(bins, HypergraphClustering(3, random_state=0)).fit_predict(X)
    assert adjusted_rand_score(labels, classes) > 0.5
    table = {"a": ["x", "x", "y", "y", "z"], "b": ["p", "p", "q", "q", "q"]}
    expected = hc.cluster(hc.Hypergraph.from_table(table), 2, seed=0).labels
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        for sparse in (True, False):
            encoder = make_column_transformer((OneHotEncoder(sparse_output=sparse), ["a", "b"]))
            np.testing.assert_array_equal(
                make_pipeline(encoder, HypergraphClustering(random_state=0)).fit_predict(frame), expected
            )


def test_grid_search():
    X, blocks = planted()
    grid = {"n_clusters": [2, 3, 4, 5]}
    split = ShuffleSplit(2, test_size=0.5, random_state=0)
    known = GridSearchCV(HypergraphClustering(random_state=0), grid, scoring="adjusted_rand_score", cv=split)
    assert known.fit(X, blocks).best_params_ == {"n_clusters": 3}
    scores = (
        GridSearchCV(HypergraphClustering(random_state=0), grid, cv=split)
        .fit(X)
        .cv_results_["mean_test_score"]
    )
    assert np.all((scores <= 0) & (scores >= -1))
    assert scores[1] - scores[2] > 3 * abs(scores[0] - scores[1])


@pytest.mark.parametrize(
    "model", [HypergraphClustering(3, alpha=1, random_state=0), HypergraphSpectralEmbedding(2)]
)
def test_clones_and_pickles(model):
    X, _ = planted()
    use = "predict" if isinstance(model, HypergraphClustering) else "transform"
    assert clone(model).get_params() == model.get_params()
    fitted = clone(model).fit(X[::2])
    back = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(getattr(back, use)(X), getattr(fitted, use)(X))
    assert not hasattr(clone(fitted), "n_features_in_")


def test_the_page_names_the_failing_checks():
    page = DOCS.read_text(encoding="utf-8")
    assert re.findall(r"^\| `(check_\w+)`", page, flags=re.MULTILINE) == list(NEGATIVE)


def test_the_suggested_number_of_clusters():
    rng = np.random.default_rng(0)
    members = [rng.choice(20, 5, replace=False) + 20 * (edge % 3) for edge in range(90)]
    X = hc.Hypergraph.from_edges([*members, [0, 20], [20, 40]], vertex_ids=range(60)).gamma.T.toarray()
    model = HypergraphClustering("auto", random_state=0).fit(X)
    assert model.n_clusters_ == model.partition_.k == len(np.unique(model.labels_)) == 3
    assert HyperClusG("auto").fit(X).n_clusters_ == 3
    refused(lambda: HypergraphClustering("all").fit(X), "n_clusters must be a whole number from 1; got 'all'")


def test_names_of_features_and_samples_survive():
    X = pd.DataFrame(
        {"colour": list("rrgg"), "size": list("ssll"), "taste": list("abba")}, index=list("wxyz")
    )
    encoder = OneHotEncoder()
    pipe = make_pipeline(encoder, HypergraphClustering(random_state=0)).fit(X)
    names = encoder.get_feature_names_out().tolist()
    model = pipe[-1]
    assert model.partition_.walk.hypergraph.edge_ids.tolist() == list(range(6))  # sparse: without names
    before = model.partition_
    named = model.name_features(pipe[:-1].get_feature_names_out()).partition_
    assert named.edges_frame()["edge"].tolist() == names
    assert (named.ncut, named.labels.tolist()) == (before.ncut, before.labels.tolist())
    assert pipe.predict(X).tolist() == model.labels_.tolist()
    given = HypergraphClustering(edge_names=names).fit(encoder.transform(X)).partition_
    assert given.walk.hypergraph.edge_ids.tolist() == names
    refused(lambda: model.name_features(["a"]), "6 edge ids are needed, 1 were given")
    dense = make_pipeline(
        OneHotEncoder(sparse_output=False).set_output(transform="pandas"), HypergraphClustering()
    )
    part = dense.fit(X)[-1].partition_
    assert part.walk.hypergraph.edge_ids.tolist() == names
    assert part.vertex_ids.tolist() == list("wxyz")
    repeated = pd.DataFrame(MATRIX, index=[0] * len(MATRIX))
    assert HypergraphClustering().fit(repeated).partition_.vertex_ids.tolist() == list(range(len(MATRIX)))
