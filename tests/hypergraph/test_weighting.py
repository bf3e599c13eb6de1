"""Vertex weights equal their definitions written with loops."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus import Hypergraph, InputError
from hyperclus.hypergraph.weighting import transform_weights

examples = settings(deadline=None, max_examples=80)


def class_counts_by_a_loop(h, classes):
    gamma = np.zeros((h.n_edges, h.n_vertices))
    for e, row in enumerate(h.gamma.toarray() > 0):
        for v in np.flatnonzero(row):
            gamma[e, v] = sum(classes[u] == classes[v] for u in np.flatnonzero(row))
    return gamma


@given(st.data())
@examples
def test_class_counts_equals_a_loop(data):
    n = data.draw(st.integers(1, 8))
    members = st.dictionaries(st.integers(0, n - 1), st.floats(0.1, 9.0), min_size=1)
    edges = data.draw(st.lists(members, min_size=1, max_size=6))
    classes = data.draw(st.lists(st.sampled_from(["x", 1, "1", ("y", 2)]), min_size=n, max_size=n))
    h = Hypergraph.from_edges(edges, vertex_ids=range(n), isolated="keep")
    counted = hc.class_counts(h, classes)
    np.testing.assert_array_equal(counted.gamma.toarray(), class_counts_by_a_loop(h, classes))
    np.testing.assert_array_equal(hc.unit_weights(h).gamma.toarray(), h.gamma.toarray() > 0)
    for other in (counted, hc.unit_weights(h)):
        assert other.vertex_ids.tolist() == h.vertex_ids.tolist()
        assert other.edge_ids.tolist() == h.edge_ids.tolist()
        np.testing.assert_array_equal(other.edge_weights, h.edge_weights)


def test_class_counts_with_many_edges_and_classes():
    """A table of hyperedges x classes would have 4,000,000 cells here."""
    n = 2000
    h = Hypergraph.from_edges([[v, (v + 1) % n] for v in range(n)])
    classes = np.arange(n) // 2
    counted = hc.class_counts(h, classes)
    np.testing.assert_array_equal(counted.gamma.data, np.repeat(np.arange(n) % 2 == 0, 2) + 1)


def test_classes_of_any_kind():
    h = Hypergraph.from_edges([["a", "b", "c"]])
    for classes in (
        ["x", "x", "y"],
        np.array(["x", "x", "y"]),
        np.array([0.5, 0.5, 1.0]),
        np.array([True, True, False]),
        (letter for letter in "xxy"),
        pd.Series(["x", "x", "y"], dtype="category"),
        pd.Series(["y", "x", "x"], index=["c", "b", "a"]),
        pl.Series([1, 1, 2]),
    ):
        assert hc.class_counts(h, classes).gamma.data.tolist() == [2, 2, 1]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["x"], "3 vertices need a class each, 1 were given"),
        ([], "3 vertices need a class each, 0 were given"),
        (["x", None, "y"], "the class at position 1: the value is missing"),
        ([1.0, 2.0, float("nan")], "the class at position 2: the value is missing"),
        ([["x"], "x", "y"], r"the class at position 0: \['x'\] cannot be an id"),
        ({"a": 1, "b": 1}, "vertex 'c' has no class; give one for each vertex id"),
        ("xxy", "class values must be a list or an array"),
        (np.ones((3, 1)), "class values must be one-dimensional"),
        (None, "class values must be a list or an array"),
    ],
)
def test_invalid_classes(classes, message):
    h = Hypergraph.from_edges([["a", "b", "c"]])
    with pytest.raises(InputError, match=message):
        hc.class_counts(h, classes)


def test_classes_by_vertex_id():
    """A mapping, or a Series whose index has the ids, goes by id; any other Series by position."""
    h = Hypergraph.from_edges([["a", "b", "c"]])
    by_id = {"c": "y", "a": "x", "b": "x"}
    for classes in (by_id, pd.Series(by_id)):
        assert hc.class_counts(h, classes).gamma.data.tolist() == [2, 2, 1]
    assert hc.class_counts(h, pd.Series(["y", "x", "x"])).gamma.data.tolist() == [1, 2, 2]


@pytest.mark.parametrize("transform", ["log1p", "sqrt", "clip:99%", "clip:5"])
def test_weights_of_no_incidence_can_be_transformed(transform):
    h = Hypergraph.from_edges([[]])
    assert transform_weights(h, transform).n_incidences == 0
