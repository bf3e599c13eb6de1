"""Attributes of vertices from matrices and tables, good and bad."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hyperclus as hc
from hyperclus.errors import InputError
from hyperclus.io.attributes import aligned, as_attributes


@pytest.fixture
def h():
    return hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])


def test_counts_stay_as_they_are():
    dense = np.array([[1, 0, 0], [0, 2, 0], [0, 0, 0]])
    for given in (dense, sp.csr_array(dense), sp.coo_matrix(dense), dense.tolist()):
        found, ids = as_attributes(given)
        assert ids is None
        assert found.metric == "cosine"
        assert found.present.tolist() == [True, True, False]
        values = found.values.toarray() if sp.issparse(found.values) else found.values
        np.testing.assert_array_equal(values, dense)


def test_measurements_are_standardised_and_never_aliased():
    given = np.random.default_rng(0).normal(5, 3, (50, 3))
    given[4] = np.nan
    before = given.copy()
    found, _ = as_attributes(given)
    assert found.metric == "euclidean"
    known = found.values[found.present]
    np.testing.assert_allclose([known.mean(axis=0), known.std(axis=0)], [[0] * 3, [1] * 3], atol=1e-12)
    assert np.flatnonzero(~found.present).tolist() == [4]
    np.testing.assert_array_equal(given, before)
    assert not np.shares_memory(found.values, given)
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 0] = 1
    again = found.encoded(given[:3])
    np.testing.assert_allclose(again.values, found.values[:3])


@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars", "pyarrow"])
def test_tables(kind):
    columns = {"id": ["a", "b", "c", "d"], "size": [1.0, 2.0, None, 3.0], "kind": ["x", "y", "x", None]}
    if kind != "mapping":
        library = pytest.importorskip(kind)
        columns = library.table(columns) if kind == "pyarrow" else library.DataFrame(columns)
    found, ids = as_attributes(columns)
    assert ids.tolist() == ["a", "b", "c", "d"]
    assert found.names.tolist() == ["size", ("kind", "x"), ("kind", "y")]
    expected = np.array([[-1, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]) * [1.5**0.5, 1, 1]
    np.testing.assert_allclose(found.values.toarray(), expected, atol=1e-12)
    assert found.present.all()


def test_text_alone_is_compared_by_the_cosine():
    texts = [
        "red apples and pears",
        "green apples and pears",
        "blue ink and paper",
        "black ink and paper",
    ] * 3
    texts = [f"{text} number{chr(97 + i)}" for i, text in enumerate(texts)]
    found, _ = as_attributes({"note": texts})
    assert found.metric == "cosine"
    assert ("note", "apples") in found.names.tolist()
    new = found.encoded({"note": ["apples with ink", "nothing known"]})
    assert new.present.tolist() == [True, False]


def test_rows_are_aligned_by_id(h):
    frame = pd.DataFrame({"x": [3.0, 1.0, 9.0]}, index=["c", "a", "new"])
    wider, found, ids = aligned(h, frame)
    assert ids.tolist() == ["a", "b", "c", "new"]
    assert wider.covered.tolist() == [True, True, True, False]
    assert found.present.tolist() == [True, False, True, True]
    assert found.values.ravel().argsort().tolist()[-1] == 3
    assert h.n_vertices == 3


def test_nothing_else_but_ids_align(h):
    _, found, ids = aligned(h, pd.DataFrame({"x": [3.0, 1.0, 9.0]}))
    assert ids.tolist() == ["a", "b", "c"]
    assert found.values.ravel().argmax() == 2


BAD = [
    (np.ones((2, 2)), "2 rows of attributes for 3 vertices"),
    ({"vertex": [1, 2, 3], "x": [1.0, 2.0, 3.0]}, "no row of the attributes has the id of a vertex"),
    ({"vertex": ["a", "a", "b"], "x": [1.0, 2.0, 3.0]}, "appears more than once"),
    ({"x": [1.0, 1.0, 1.0]}, "tells vertices apart"),
    ({"x": [1.0, np.inf, 1.0]}, "row 1, column 'x'"),
    ({"x": ["1", "2.5", "-inf"]}, "row 2, column 'x'"),
    ({"x": [1.0, 2.0]}, "2 rows of attributes for 3 vertices"),
    ([[1.0, np.nan], [1.0, 2.0], [2.0, 1.0]], "row 0"),
    (sp.csr_array([[1.0, 0], [0, np.inf], [2.0, 1.0]]), "row 1"),
    ([["x"], ["y"], ["z"]], "must be numbers"),
    (np.ones(3), "shape"),
    (np.ones((3, 0)), "shape"),
    ("attributes.csv", "must be a matrix"),
    (7, "must be a matrix"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_bad_attributes_get_one_sentence(h, given, message):
    with pytest.raises(InputError, match=message):
        aligned(h, given)


def test_names_are_no_categories():
    with pytest.raises(InputError, match="too many for categories"):
        as_attributes({"name": [f"n{i}" for i in range(40)], "x": np.arange(40.0)})


def test_metric_can_be_given():
    values = np.random.default_rng(0).random((5, 3))
    assert as_attributes(values, "cosine")[0].metric == "cosine"
    with pytest.raises(InputError, match="metric"):
        as_attributes(values, "manhattan")


def test_new_rows_need_the_same_columns():
    found, _ = as_attributes(np.random.default_rng(0).random((5, 3)))
    with pytest.raises(InputError, match="same columns"):
        found.encoded(np.ones((2, 2)))
    table, _ = as_attributes({"x": [1.0, 2.0, 3.0], "kind": ["a", "b", "a"]})
    with pytest.raises(InputError, match="kind"):
        table.encoded({"x": [1.0]})
    with pytest.raises(InputError, match="held numbers"):
        table.encoded({"x": ["much"], "kind": ["a"]})
