"""Documents in a column."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import hyperclus as hc
from hyperclus.io import read_text
from support.contracts import refused

NOTES = ["Red apples, green apples!", "green tea 2024", "grüner Tee and red_apples", "tea"]


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("id;note\n" + "".join(f"n{row};{note}\n" for row, note in enumerate(NOTES)))
    return path


def test_weights_are_those_of_scikit_learn(notes):
    h = read_text(notes, text="note", vertex="id", min_df=1, max_df=1.0)
    assert h.edge_ids.tolist() == ["apples", "green", "grüner", "red", "tea", "tee"]
    assert h.vertex_ids.tolist() == ["n0", "n1", "n2", "n3"]
    words = TfidfVectorizer(stop_words="english", token_pattern=r"[^\W\d_]{3,}")
    np.testing.assert_array_equal(h.gamma.toarray(), words.fit_transform(NOTES).toarray().T)
    counts = hc.read(notes, format="text", text="note", min_df=1, max_df=1.0, word_weights="counts")
    assert counts.gamma.toarray()[0].tolist() == [2, 0, 1, 0]
    ones = read_text(notes, text="note", min_df=1, max_df=1.0, word_weights="ones")
    assert ones.gamma.toarray()[0].tolist() == [1, 0, 1, 0]


def test_documents_without_words(notes):
    h = read_text(notes, text="note", min_df=2, max_df=0.5, stop_words=None)
    assert h.edge_ids.tolist() == ["apples", "green", "red", "tea"]
    rare = {"text": "note", "min_df": 2, "max_df": 0.5, "stop_words": ["tea"]}
    assert read_text(notes, **rare).n_vertices == 4
    assert read_text(notes, **rare, isolated="drop").vertex_ids.tolist() == [0, 1, 2]
    refused(lambda: read_text(notes, **rare, isolated="error"), "vertex 3")


def test_what_is_refused(notes, tmp_path):
    refused(lambda: read_text(notes, text="nota"), "no column 'nota'", "did you mean 'note'?")
    refused(lambda: read_text(notes, text="note"), "no word can be used", "min_df")
    refused(lambda: read_text(notes, text="note", word_weights="bm25"), "word_weights must be")
    (tmp_path / "t.csv").write_text("id,note\n1,red tea\n2,\n3,red\n")
    refused(
        lambda: read_text(tmp_path / "t.csv", text="note"), "line 3", "the text is missing", "missing='drop'"
    )
    h = read_text(tmp_path / "t.csv", text="note", min_df=1, max_df=1.0, missing="drop")
    assert h.covered.tolist() == [True, False, True]
