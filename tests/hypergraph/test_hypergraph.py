"""The hypergraph: its constructors agree, policies are followed, and nothing changes it afterwards."""

import copy
import dataclasses
import pickle
import tracemalloc
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperclus import Hypergraph, InputError
from support.contracts import refused

examples = settings(deadline=None, max_examples=80)
MATRIX = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.5]])  # two vertices, three hyperedges
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
NAN, INF = float("nan"), float("inf")


def as_map(h):
    """{edge id: (omega, {vertex id: gamma})}, read entry by entry; the order of the ids is in it."""
    dense = h.gamma.toarray()
    return {
        edge: (omega, {v: x for v, x in zip(h.vertex_ids.tolist(), row, strict=True) if x})
        for edge, omega, row in zip(h.edge_ids.tolist(), h.edge_weights.tolist(), dense.tolist(), strict=True)
    }


def same(first, second):
    assert first.vertex_ids.tolist() == second.vertex_ids.tolist()
    assert first.edge_ids.tolist() == second.edge_ids.tolist()
    assert as_map(first) == as_map(second)


def arrays_of(h):
    return h.gamma.data, h.gamma.indices, h.gamma.indptr, h.edge_weights, h.vertex_ids, h.edge_ids


# ---- the four constructors agree --------------------------------------------------------------

vertices = st.sampled_from([0, 1, "1", "a", ("a", 1), "😀\n"])
gammas = st.floats(0.01, 100.0)
members = st.dictionaries(vertices, gammas, min_size=1)
hyperedges = st.dictionaries(st.sampled_from(["e", "f", 7, ("g", 2)]), members, min_size=1)


@given(hyperedges, st.data())
@examples
def test_constructors_agree(edges, data):
    omega = {edge: data.draw(gammas) for edge in edges}
    order = list(dict.fromkeys(v for inside in edges.values() for v in inside))
    h = Hypergraph.from_edges(edges, edge_weights=omega)
    assert h.vertex_ids.tolist() == order
    assert h.edge_ids.tolist() == list(edges)
    assert as_map(h) == {edge: (omega[edge], inside) for edge, inside in edges.items()}

    rows = [(v, e, x) for e, inside in edges.items() for v, x in inside.items()]
    v, e, x = map(list, zip(*rows, strict=True))
    same(Hypergraph.from_long({"vertex": v, "edge": e, "weight": x}, edge_weights=omega), h)
    shuffled = data.draw(st.permutations(rows))
    v, e, x = map(list, zip(*shuffled, strict=True))
    table = {"who": v, "where": e, "how much": x}
    names = {
        "vertex": "who",
        "edge": "where",
        "weight": "how much",
        "vertex_ids": order,
        "edge_ids": list(edges),
    }
    same(Hypergraph.from_long(table, edge_weights=omega, **names), h)

    dense = np.array([[inside.get(v, 0.0) for inside in edges.values()] for v in order])
    ids = {"vertex_ids": order, "edge_ids": list(edges), "edge_weights": list(omega.values())}
    same(Hypergraph.from_incidence(dense, **ids), h)
    for name in FORMATS:
        same(Hypergraph.from_incidence(sp.coo_array(dense).asformat(name), **ids), h)
    same(Hypergraph.from_incidence(sp.csr_matrix(dense), **ids), h)

    equal = h.with_gamma(np.ones(h.n_incidences))
    same(
        Hypergraph.from_edges({edge: list(inside) for edge, inside in edges.items()}, edge_weights=omega),
        equal,
    )


tables = st.integers(2, 6).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from("abc"), min_size=n, max_size=n), min_size=1, max_size=4)
)


@given(tables)
@examples
def test_a_table_is_the_long_table_of_its_cells(columns):
    table = dict(enumerate(columns))
    cells = [(row, (name, value)) for name, values in table.items() for row, value in enumerate(values)]
    long = {"vertex": [row for row, _ in cells], "edge": [edge for _, edge in cells]}
    same(Hypergraph.from_table(table, constant="keep"), Hypergraph.from_long(long))


# ---- matrices ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "i1", "u1", "i8", "u8", "f4", "f8", "g"])
@pytest.mark.parametrize("name", ["dense", *FORMATS])
def test_matrices_of_every_type(dtype, name):
    numbers = np.ceil(MATRIX).astype(dtype)
    matrix = numbers if name == "dense" else sp.coo_array(numbers).asformat(name)
    h = Hypergraph.from_incidence(matrix)
    np.testing.assert_array_equal(h.gamma.toarray(), numbers.astype(float).T)
    assert h.gamma.dtype == np.float64
    assert isinstance(h.gamma, sp.csr_array)


def test_dense_matrices_of_every_kind():
    expected = Hypergraph.from_incidence(MATRIX)
    with warnings.catch_warnings(action="ignore"):
        as_matrix = np.asmatrix(MATRIX)
    fractions = [[Fraction(2), 0, True], [0, 3.0, Fraction(1, 2)]]
    for matrix in (MATRIX.tolist(), MATRIX.astype(object), as_matrix, np.asfortranarray(MATRIX), fractions):
        same(Hypergraph.from_incidence(matrix), expected)
    same(Hypergraph.from_incidence(np.ma.array(MATRIX)), expected)


@pytest.mark.parametrize("name", FORMATS)
def test_stored_zeros_are_not_members(name):
    stored = sp.coo_array(([2.0, 0.0, 1.0, 0.0, 3.0], ([0, 0, 1, 1, 1], [0, 1, 1, 1, 0])), shape=(2, 2))
    if name not in ("lil", "dok", "dia"):  # these three store no zeros, or not one cell twice
        assert stored.asformat(name).nnz >= 4
    h = Hypergraph.from_incidence(stored.asformat(name))
    assert h.gamma.toarray().tolist() == [[2, 3], [0, 1]]
    assert h.n_incidences == 3
    long = Hypergraph.from_long(
        {"vertex": ["a", "b", "a"], "edge": [1, 1, 2], "weight": [1, 2, 0]}, empty_edges="drop"
    )
    assert as_map(long) == {1: (1, {"a": 1, "b": 2})}
    assert as_map(Hypergraph.from_edges([{"a": 1, "b": 0}])) == {0: (1, {"a": 1})}


def test_unsorted_indices_are_sorted():
    parts = (np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 3]))
    for kind in (sp.csr_array, sp.csc_array):
        shape = (2, 3) if kind is sp.csr_array else (3, 2)
        matrix = kind(parts, shape=shape)
        h = Hypergraph.from_incidence(matrix)
        np.testing.assert_array_equal(h.gamma.toarray(), matrix.toarray().T)
        assert h.gamma.has_sorted_indices
        assert matrix.indices.tolist() == [2, 0, 1]


def test_names_of_data_frames_become_ids():
    frame = pd.DataFrame(MATRIX, index=["u", "v"], columns=["e", "f", "g"])
    h = Hypergraph.from_incidence(frame)
    assert h.vertex_ids.tolist() == ["u", "v"]
    assert h.edge_ids.tolist() == ["e", "f", "g"]
    np.testing.assert_array_equal(h.gamma.toarray(), MATRIX.T)
    sparse = frame.astype(pd.SparseDtype(float, 0.0))
    same(Hypergraph.from_incidence(sparse), h)
    for other in (
        pl.DataFrame(MATRIX, schema=["e", "f", "g"]),
        pa.table(dict(zip("efg", MATRIX.T, strict=True))),
    ):
        same(Hypergraph.from_incidence(other, vertex_ids=["u", "v"]), h)
        assert Hypergraph.from_incidence(other).vertex_ids.tolist() == [0, 1]
    renamed = Hypergraph.from_incidence(frame, vertex_ids=[5, 6], edge_ids=[7, 8, 9])
    assert (renamed.vertex_ids.tolist(), renamed.edge_ids.tolist()) == ([5, 6], [7, 8, 9])
    mixed = pd.DataFrame({"e": [True, False], "f": pd.array([1, 2], dtype="Int64"), "g": [0.5, 0.0]})
    assert Hypergraph.from_incidence(mixed).gamma.toarray().tolist() == [[1, 0], [1, 2], [0.5, 0]]
    by_pair = frame.set_axis(pd.MultiIndex.from_tuples([("u", 1), ("v", 2)]))
    assert Hypergraph.from_incidence(by_pair).vertex_ids.tolist() == [("u", 1), ("v", 2)]

    refused(
        lambda: Hypergraph.from_incidence(frame.set_axis(["u", "u"])), "vertex id 'u' appears more than once"
    )
    refused(lambda: Hypergraph.from_incidence(frame.set_axis(["u", None])), "position 1 is missing")
    refused(
        lambda: Hypergraph.from_incidence(frame.set_axis([1, 1, 2], axis=1)), "column names must be unique"
    )
    refused(lambda: Hypergraph.from_incidence(frame.astype(pd.SparseDtype(float, 2.0))), "fill_value 0")
    refused(
        lambda: Hypergraph.from_incidence(pd.DataFrame({"e": [1, 2], "f": [1, "x"]})),
        "row 1, column 'f'",
        "'x'",
    )
    gap = pd.DataFrame({"e": pd.array([1, None], dtype="Int64")}, index=["u", "v"])
    refused(lambda: Hypergraph.from_incidence(gap), "vertex 'v' in hyperedge 'e' has weight nan")
    for empty in (pd.DataFrame(), pd.DataFrame({"e": []}), pl.DataFrame(), pa.table({})):
        assert Hypergraph.from_incidence(empty).n_incidences == 0


@pytest.mark.parametrize(
    ("matrix", "part"),
    [
        (np.ones((2, 2, 2)), "(2, 2, 2)"),
        (np.ones(3), "(3,)"),
        (3.0, "()"),
        (None, "()"),
        ("text", "()"),
        ([], "(0,)"),
        (sp.coo_array(np.ones(3)), "(3,)"),
        ([[1, 2], [1]], "rows of equal length"),
        (MATRIX * 1j, "complex128"),
        (sp.csr_array(MATRIX * 1j), "complex128"),
        ([["1", "2"]], "<U1"),
        (np.array([[1, "2"]], dtype=object), "row 0, column 1: weight '2'"),
        (np.array([[1, 2j]], dtype=object), "row 0, column 1: weight 2j"),
        (np.array([[1, [2]]], dtype=object), "row 0, column 1: weight [2]"),
        (np.array([[1, 10**400]], dtype=object), "is not a finite number"),
        (np.array([["2020"]], dtype="M8[ns]"), "datetime64"),
        (np.ma.array(MATRIX, mask=MATRIX > 2), "vertex 1 in hyperedge 1 has weight nan"),
        (np.array([[np.longdouble("1e4000")]]), "has weight inf"),
    ],
)
def test_invalid_incidence_matrices(matrix, part):
    refused(lambda: Hypergraph.from_incidence(matrix), part)


def test_damaged_sparse_matrices():
    for name in ("csr", "csc"):
        outside = sp.coo_array(np.eye(3)).asformat(name)
        outside.indices[1] = 7
        refused(lambda matrix=outside: Hypergraph.from_incidence(matrix), "damaged", "indices")
        crooked = sp.coo_array(np.eye(3)).asformat(name)
        crooked.indptr[1] = 3
        refused(lambda matrix=crooked: Hypergraph.from_incidence(matrix), "damaged", "indptr")
    outside = sp.coo_array(np.eye(3))
    outside.row[1] = 7
    refused(lambda: Hypergraph.from_incidence(outside), "damaged", "7")


# ---- gamma, omega, duplicates, absent members ---------------------------------------------------


@pytest.mark.parametrize("bad", [-1.0, NAN, INF, -INF])
def test_bad_gamma_names_vertex_and_edge(bad):
    dense = MATRIX.copy()
    dense[1, 2] = bad
    ids = {"vertex_ids": ["u", "v"], "edge_ids": ["e", "f", "g"]}
    parts = "vertex 'v' in hyperedge 'g'", f"weight {bad}"
    for name in ("csr", "csc", "coo"):
        refused(lambda n=name: Hypergraph.from_incidence(sp.coo_array(dense).asformat(n), **ids), *parts)
    refused(lambda: Hypergraph.from_incidence(dense, **ids), *parts)
    refused(lambda: Hypergraph.from_edges({"e": ["u"], "g": {"u": 1, "v": bad}}), *parts)
    table = {"vertex": ["u", "v"], "edge": ["e", "g"], "weight": [1, bad]}
    refused(lambda: Hypergraph.from_long(table), *parts)
    h = Hypergraph.from_incidence(MATRIX, **ids)
    refused(lambda: h.with_gamma([1, 1, 1, bad]), *parts)
    refused(lambda: Hypergraph(sp.csr_array(dense.T), [1, 1, 1], ["u", "v"], ["e", "f", "g"]), *parts)


@pytest.mark.parametrize("bad", ["2", b"2", 1j, [1], np.datetime64(1, "ns"), 10**400, np.complex64(1)])
def test_weights_that_are_not_numbers_are_refused(bad):
    refused(
        lambda: Hypergraph.from_edges({"e": ["u"], "g": {"u": 1, "v": bad}}),
        "hyperedge 'g', member 1: weight",
    )
    table = {"vertex": ["u", "v"], "edge": ["e", "g"], "weight": [1, bad]}
    refused(lambda: Hypergraph.from_long(table), "row 1, column 'weight': weight", "not a finite number")
    refused(lambda: Hypergraph.from_incidence(MATRIX, edge_weights=[1, bad, 1]), "edge_weights, position 1")
    refused(lambda: Hypergraph.from_incidence([[1, 1]]).with_gamma([1, bad]), "incidence 1: weight")


def test_missing_weights_are_nan():
    masked = np.ma.array([1, 2], mask=[False, True])
    for weights in ([1, None], [1, pd.NA], [1.0, NAN], masked):
        table = {"vertex": ["u", "v"], "edge": ["e", "e"], "weight": weights}
        refused(lambda table=table: Hypergraph.from_long(table), "vertex 'v' in hyperedge 'e' has weight nan")
    frame = pl.DataFrame({"vertex": ["u", "v"], "edge": ["e", "e"], "weight": [1, None]})
    for table in (frame, frame.to_arrow(), frame.to_pandas()):
        refused(lambda table=table: Hypergraph.from_long(table), "vertex 'v' in hyperedge 'e' has weight nan")


ERROR = {"isolated": "error", "empty_edges": "error"}


def sizes(h):
    return h.n_vertices, h.n_edges, h.n_incidences


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0), (2, 2)])
def test_matrices_without_incidences(make, shape):
    zero = make(np.zeros(shape))
    assert sizes(Hypergraph.from_incidence(zero)) == (*shape, 0)
    assert sizes(Hypergraph.from_incidence(zero, isolated="drop", empty_edges="drop")) == (0, 0, 0)
    if any(shape):
        refused(lambda: Hypergraph.from_incidence(zero, **ERROR), "use", "to keep them")


def test_no_incidences():
    for nothing in ({}, [], (), iter([]), np.empty((0, 3))):
        assert sizes(Hypergraph.from_edges(nothing)) == (0, 0, 0)
    assert sizes(Hypergraph.from_edges([[], []])) == (0, 2, 0)
    assert sizes(Hypergraph.from_edges({"e": []}, vertex_ids=["a"])) == (1, 1, 0)
    assert sizes(Hypergraph.from_long({"vertex": [], "edge": []})) == (0, 0, 0)
    assert sizes(Hypergraph.from_long({"vertex": ["a"], "edge": ["e"], "weight": [0]})) == (1, 1, 0)
    refused(lambda: Hypergraph.from_edges({"e": []}, **ERROR), "no member is in hyperedge 'e'")


@pytest.mark.parametrize("edges", [{}, {"e": []}, {"e": {"a": 0}}, {"e": {"a": 0}, "f": []}])
def test_an_empty_hypergraph_is_a_value(edges):
    h = Hypergraph.from_edges(edges)
    same(pickle.loads(pickle.dumps(h)), h)
    same(h.with_gamma([]).with_edge_weights(np.ones(h.n_edges)), h)
    assert not h.covered.any()
    assert sizes(h.restrict(h.covered)) == (0, 0, 0)
    assert h.drop_edges(np.ones(h.n_edges, dtype=bool)).n_edges == 0
    assert f"{h.n_edges} hyperedge" in h._repr_html_()


def test_edge_weights():
    for given_weights in (
        [2, 3, 4],
        (2.0, 3, 4),
        np.array([2, 3, 4], dtype="i1"),
        {2: 4, 0: 2, 1: 3},
        pl.Series([2, 3, 4]),
    ):
        h = Hypergraph.from_incidence(MATRIX, edge_weights=given_weights)
        assert h.edge_weights.tolist() == [2, 3, 4]
        assert h.edge_weights.dtype == np.float64
    named = {"edge_ids": ["e", "f", "g"]}
    series = pd.Series([4.0, 2.0, 3.0], index=["g", "e", "f"])
    assert Hypergraph.from_incidence(MATRIX, edge_weights=series, **named).edge_weights.tolist() == [2, 3, 4]
    dropped = Hypergraph.from_incidence([[1, 0, 1]], edge_weights=[2, 3, 4], empty_edges="drop")
    assert dropped.edge_weights.tolist() == [2, 4]

    def build(weights):
        return lambda: Hypergraph.from_incidence(MATRIX, edge_weights=weights, **named)

    for bad in (0, -1, NAN, INF, None):
        refused(build([1, bad, 1]), "hyperedge 'f' has weight", "positive and finite")
        refused(build({"e": 1, "f": bad, "g": 1}), "hyperedge 'f' has weight")
    for wrong in ([1, 2], [1, 2, 3, 4], [[1, 2, 3]], 2.0, np.ones((3, 1)), []):
        refused(build(wrong), "3 edge_weights are needed", "shape")
    refused(build({"e": 1, "f": 1}), "hyperedge 'g' has no weight")
    refused(build({"e": 1, "f": 1, "g": 1, "h": 1}), "hyperedge 'h' is unknown")
    refused(build(pd.Series([1.0, 1.0, 1.0])), "hyperedge 0 is unknown")
    refused(build(pd.Series([1.0, 1.0, 1.0], index=["e", "e", "f"])), "names a hyperedge twice")
    for thing in ("abc", {1, 2, 3}, iter([1, 2, 3]), [[1], [1, 2], [3]]):
        refused(build(thing), "edge_weights, position 0")


def twice(name):
    """Vertex 'b' is in hyperedge 'f' twice, with weights 2 and 3."""
    v, e, x = [0, 1, 1, 1], [0, 1, 0, 1], [1.0, 2.0, 4.0, 3.0]
    if name == "long":
        table = {"vertex": [*"abbb"], "edge": ["e", "f", "e", "f"], "weight": x}
        return lambda **options: Hypergraph.from_long(table, **options)
    if name == "edges":
        return lambda **options: Hypergraph.from_edges({"e": ["a", "b"], "f": ["b", "b"]}, **options)
    coo = sp.coo_array((x, (v, e)), shape=(2, 2))
    coo.has_canonical_format = True  # keeps the duplicates in the other formats
    matrix = coo.asformat(name)
    assert matrix.nnz == 4
    return lambda **options: Hypergraph.from_incidence(
        matrix, vertex_ids=["a", "b"], edge_ids=["e", "f"], **options
    )


@pytest.mark.parametrize("name", ["csr", "csc", "coo", "long", "edges"])
def test_duplicate_incidences(name):
    build = twice(name)
    refused(build, "vertex 'b' in hyperedge 'f' appears more than once (1 duplicate", "duplicates='sum'")
    first, second = (1, 1) if name == "edges" else (2, 3)
    four = 1 if name == "edges" else 4
    assert as_map(build(duplicates="sum")) == {"e": (1, {"a": 1, "b": four}), "f": (1, {"b": first + second})}
    assert as_map(build(duplicates="max")) == {
        "e": (1, {"a": 1, "b": four}),
        "f": (1, {"b": max(first, second)}),
    }
    refused(lambda: build(duplicates="mean"), "duplicates must be 'error', 'sum' or 'max', not 'mean'")
    refused(lambda: build(duplicates=None), "duplicates must be")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=30))
@examples
def test_merging_duplicates_equals_a_loop(rows):
    v, e, x = map(list, zip(*rows, strict=True))
    coo = sp.coo_array((np.array(x, dtype="i1"), (v, e)), shape=(4, 3))
    coo.has_canonical_format = True
    options = {"isolated": "keep", "empty_edges": "keep"}
    weights = {}
    for vertex, edge, weight in rows:
        if weight:
            weights.setdefault((edge, vertex), []).append(weight)
    for policy, merge in (("sum", sum), ("max", max)):
        expected = np.zeros((3, 4))
        for cell, several in weights.items():
            expected[cell] = merge(several)
        if not weights:
            continue
        for name in ("coo", "csr", "csc"):
            h = Hypergraph.from_incidence(coo.asformat(name), duplicates=policy, **options)
            np.testing.assert_array_equal(h.gamma.toarray(), expected)
            assert h.gamma.has_canonical_format
            assert h.gamma.indptr.dtype == np.int32
    if any(len(several) > 1 for several in weights.values()):
        refused(lambda: Hypergraph.from_incidence(coo, **options), "appears more than once")


def test_a_sum_of_duplicates_can_overflow():
    table = {"vertex": ["a", "a"], "edge": ["e", "e"], "weight": [1e308, 1e308]}
    refused(
        lambda: Hypergraph.from_long(table, duplicates="sum"), "vertex 'a' in hyperedge 'e' has weight inf"
    )


def test_empty_hyperedges_and_isolated_vertices():
    matrix = np.array([[1, 0, 2], [0, 0, 0], [3, 0, 0]])
    ids = {"vertex_ids": ["u", "v", "w"], "edge_ids": ["e", "f", "g"], "edge_weights": [5, 6, 7]}
    refused(
        lambda: Hypergraph.from_incidence(matrix, **ERROR, **ids),
        "no member is in hyperedge 'f'",
        "empty_edges='drop'",
    )
    refused(
        lambda: Hypergraph.from_incidence(matrix, isolated="error", **ids), "no hyperedge holds vertex 'v'"
    )
    refused(
        lambda: Hypergraph.from_incidence(matrix, empty_edges="error", **ids), "no member is in hyperedge 'f'"
    )
    full = {"e": (5, {"u": 1, "w": 3}), "f": (6, {}), "g": (7, {"u": 2})}
    for make in (np.asarray, sp.csr_array, sp.csc_array, sp.coo_array):
        kept = Hypergraph.from_incidence(make(matrix), **ids)
        assert as_map(kept) == full
        assert kept.vertex_ids.tolist() == ["u", "v", "w"]
        dropped = Hypergraph.from_incidence(make(matrix), isolated="drop", empty_edges="drop", **ids)
        assert as_map(dropped) == {edge: full[edge] for edge in ("e", "g")}
        assert dropped.vertex_ids.tolist() == ["u", "w"]
    assert Hypergraph.from_edges({"e": ["a"], "f": []}, empty_edges="drop").edge_ids.tolist() == ["e"]
    long = {"vertex": ["a"], "edge": ["e"]}
    fixed = Hypergraph.from_long(
        long, vertex_ids=["b", "a"], edge_ids=["f", "e"], isolated="keep", empty_edges="keep"
    )
    assert as_map(fixed) == {"f": (1, {}), "e": (1, {"a": 1})}
    for name in ("isolated", "empty_edges"):
        refused(
            lambda n=name: Hypergraph.from_incidence(MATRIX, **{n: "ignore"}),
            f"{name} must be 'error', 'drop'",
        )


# ---- ids --------------------------------------------------------------------------------------


def test_ids_of_a_matrix():
    refused(
        lambda: Hypergraph.from_incidence(MATRIX, vertex_ids=["a"]), "2 vertex ids are needed, 1 were given"
    )
    refused(
        lambda: Hypergraph.from_incidence(MATRIX, edge_ids=range(4)), "3 edge ids are needed, 4 were given"
    )
    refused(
        lambda: Hypergraph.from_incidence(MATRIX, vertex_ids=["a", "a"]), "vertex id 'a' appears more than"
    )
    refused(
        lambda: Hypergraph.from_incidence(MATRIX, edge_ids=["a", None, "b"]),
        "edge id at position 1 is missing",
    )
    refused(lambda: Hypergraph.from_incidence(MATRIX, vertex_ids=["a", {}]), "position 1: {} cannot be an id")
    refused(lambda: Hypergraph.from_incidence(MATRIX, vertex_ids="ab"), "vertex ids must be a list")
    long = Hypergraph.from_incidence([[1.0]], vertex_ids=["x" * 10_000], edge_ids=[("y" * 10_000,) * 10])
    refused(lambda: long.with_gamma([-1]), "vertex 'xxx", "...")


def test_fixed_ids_of_a_long_table():
    table = {"vertex": np.array([30, 10, 30]), "edge": ["f", "e", "e"]}
    h = Hypergraph.from_long(table, vertex_ids=[10, 30], edge_ids=["e", "f"])
    assert h.vertex_ids.tolist() == [10, 30]
    assert h.edge_ids.tolist() == ["e", "f"]
    assert h.gamma.toarray().tolist() == [[1, 1], [0, 1]]
    refused(
        lambda: Hypergraph.from_long(table, vertex_ids=[10]), "vertex 30 is not among the 1 known vertex ids"
    )
    refused(lambda: Hypergraph.from_long(table, edge_ids=["e"]), "edge 'f' is not among the 1 known edge ids")
    refused(
        lambda: Hypergraph.from_long(table, vertex_ids=[10, 30, 10]), "vertex id 10 appears more than once"
    )
    refused(lambda: Hypergraph.from_long(table, vertex_ids=[]), "vertex 30 is not among the 0")


def test_columns_of_a_long_table():
    table = {"vertex": ["a", "b"], "edge": [1, 1], "weight": [2, 3], "w": [4, 5]}
    assert Hypergraph.from_long(table).gamma.data.tolist() == [2, 3]
    assert Hypergraph.from_long(table, weight="w").gamma.data.tolist() == [4, 5]
    assert Hypergraph.from_long(
        {"v": ["a", "b"], "weight": [2, 2]}, vertex="v", edge="weight"
    ).gamma.data.tolist() == [1, 1]
    for name in ("vertex", "edge", "weight"):
        refused(lambda n=name: Hypergraph.from_long(table, **{n: "z"}), "no column 'z'", "'vertex', 'edge'")
        refused(lambda n=name: Hypergraph.from_long(table, **{n: ["w"]}), "no column ['w']")
    refused(
        lambda: Hypergraph.from_long({"vertex": ["a", None], "edge": [1, 1]}),
        "row 1, column 'vertex'",
        "missing",
    )
    refused(
        lambda: Hypergraph.from_long({"vertex": ["a", "b"], "edge": [1.0, NAN]}),
        "row 1, column 'edge'",
        "missing",
    )
    refused(
        lambda: Hypergraph.from_long({"vertex": ["a", ["b"]], "edge": [1, 1]}),
        "row 1, column 'vertex': ['b']",
    )


def test_members_of_hyperedges():
    expected = Hypergraph.from_edges({"e": ["a", "b"], "f": ["b", "c"]})
    kinds = [tuple, iter, np.array, pd.Series, pd.Index, pl.Series, pa.array, dict.fromkeys]
    for kind in kinds[:-1]:
        same(Hypergraph.from_edges({"e": kind(["a", "b"]), "f": kind(["b", "c"])}), expected)
    same(Hypergraph.from_edges({"e": {"a": 1, "b": 1}, "f": {"b": True, "c": np.float32(1)}}), expected)
    sets = Hypergraph.from_edges({"e": {"a", "b"}, "f": frozenset("bc")}, vertex_ids=["a", "b", "c"])
    same(sets, expected)
    rows = Hypergraph.from_edges(np.array([[5, 6], [6, 7]]))
    assert as_map(rows) == {0: (1, {5: 1, 6: 1}), 1: (1, {6: 1, 7: 1})}
    same(rows, Hypergraph.from_edges(pair for pair in ([5, 6], (6, 7))))
    for wrong in ("abc", b"abc", 5, None, np.array(5)):
        refused(
            lambda w=wrong: Hypergraph.from_edges({"e": ["a"], "f": w}),
            "the members of hyperedge 'f' must be",
        )
    for wrong in ("abc", 5, None, {frozenset("ab")}):
        refused(lambda w=wrong: Hypergraph.from_edges(w), "edges must be a list or an array")
    refused(lambda: Hypergraph.from_edges(np.array([5, 6])), "the members of hyperedge 0 must be")
    refused(
        lambda: Hypergraph.from_edges({"e": ["a"], "f": ["b", "c", None]}),
        "hyperedge 'f', member 2",
        "missing",
    )
    refused(
        lambda: Hypergraph.from_edges({"e": ["a"], "f": ["b", ["c"]]}),
        "hyperedge 'f', member 1: ['c'] cannot",
    )
    refused(lambda: Hypergraph.from_edges({None: ["a"]}), "edge id at position 0 is missing")
    refused(lambda: Hypergraph.from_edges({"e": ["a", "z"]}, vertex_ids=["a"]), "vertex 'z' is not among")


# ---- a value that nothing changes ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["csr", "csc", "coo"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_input_is_not_changed_frozen_or_shared(name, index):
    matrix = sp.coo_array(MATRIX).asformat(name)
    parts = [matrix.data]
    if name == "coo":
        matrix.coords = tuple(part.astype(index) for part in matrix.coords)
        parts += matrix.coords
    else:
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        parts += [matrix.indices, matrix.indptr]
    omega, ids, edge_ids = (
        np.array([1.0, 2.0, 3.0]),
        np.array([7, 8]),
        np.array(["e", "f", "g"], dtype=object),
    )
    before = [part.copy() for part in parts]
    h = Hypergraph.from_incidence(matrix, edge_weights=omega, vertex_ids=ids, edge_ids=edge_ids)
    expected = as_map(h)
    for part, old in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part, old)
    for part in (*parts, omega, ids, edge_ids):
        assert part.flags.writeable
        assert not any(np.shares_memory(part, own) for own in arrays_of(h))
        part[:] = part[0]
    assert as_map(h) == expected


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
def test_a_matrix_with_spare_capacity_is_not_changed(kind):
    matrix = kind(np.eye(3))
    matrix.data, matrix.indices = np.append(matrix.data, [9.0] * 9), np.append(matrix.indices, [9] * 9)
    parts = matrix.data, matrix.indices, matrix.indptr
    assert Hypergraph.from_incidence(matrix).gamma.toarray().tolist() == np.eye(3).tolist()
    assert all(
        now is then for now, then in zip((matrix.data, matrix.indices, matrix.indptr), parts, strict=True)
    )


def test_columns_and_parts_are_not_shared():
    columns = {
        "vertex": np.array([3, 1, 2]),
        "edge": np.array([1, 1, 2]),
        "weight": np.array([1.0, 2.0, 3.0]),
    }
    h = Hypergraph.from_long(columns)
    gamma, omega, ids = sp.csr_array(MATRIX.T), np.ones(3), np.array([0, 1])
    direct = Hypergraph(gamma, omega, ids, range(3))
    given_arrays = (*columns.values(), gamma.data, gamma.indices, gamma.indptr, omega, ids)
    assert all(array.flags.writeable for array in given_arrays)
    for own in (*arrays_of(h), *arrays_of(direct)):
        assert not any(np.shares_memory(own, array) for array in given_arrays)
    weights = np.array([1.0, 2.0, 3.0])
    other = h.with_gamma(weights)
    weights[0] = 9
    assert other.gamma.data.tolist() == [1, 2, 3]
    omega = np.array([2.0, 3.0])
    heavier = h.with_edge_weights(omega)
    omega[0] = -5
    assert heavier.edge_weights.tolist() == [2, 3]


def test_everything_is_read_only():
    built = Hypergraph.from_incidence(MATRIX, vertex_ids=["u", "v"])
    made = [
        built,
        Hypergraph.from_edges([[1, 2]], edge_weights=[2.0]),
        Hypergraph.from_long({"vertex": [1, 2], "edge": [1, 1]}),
        Hypergraph.from_table({"x": [1, 2]}),
        Hypergraph.from_incidence([[1, 0], [0, 0]], isolated="drop", empty_edges="drop"),
        Hypergraph(sp.csr_array(MATRIX.T), [1, 1, 1], ["u", "v"], range(3)),
        built.restrict(np.array([1])),
        built.drop_edges(np.array([True, False, False])),
        built.with_gamma([1, 1, 1, 1]),
        pickle.loads(pickle.dumps(built)),
        copy.deepcopy(built),
        dataclasses.replace(built, edge_weights=[1, 2, 3]),
    ]
    for h in made:
        for array in arrays_of(h):
            assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            h.gamma.data[0] = 5
        with pytest.raises(dataclasses.FrozenInstanceError):
            h.gamma = None
    same(pickle.loads(pickle.dumps(built)), built)


def test_the_constructor_checks_its_arguments():
    gamma = sp.csr_array(MATRIX.T)
    same(Hypergraph(gamma, np.ones(3), np.arange(2), np.arange(3)), Hypergraph.from_incidence(MATRIX))
    refused(lambda: Hypergraph(MATRIX.T, [1, 1, 1], [0, 1], range(3)), "gamma must be a csr_array")
    refused(
        lambda: Hypergraph(gamma, [1, 1, 1], [0, 1, 2], range(3)), "2 vertex ids are needed, 3 were given"
    )
    refused(lambda: Hypergraph(gamma, [1, 1], [0, 1], range(3)), "3 edge_weights are needed")
    refused(lambda: Hypergraph(gamma, [1, 1, 0], [0, 1], range(3)), "hyperedge 2 has weight 0.0")
    refused(lambda: Hypergraph(gamma, [1, 1, 1], [0, 0], range(3)), "vertex id 0 appears more than once")
    repeated = sp.csr_array((np.ones(2), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    refused(
        lambda: Hypergraph(repeated, [1], ["v"], ["e"]), "vertex 'v' in hyperedge 'e' appears more than once"
    )


# ---- sizes and indices --------------------------------------------------------------------------


def test_sizes_and_repr():
    h = Hypergraph.from_edges({"e": range(1200), "f": [0, 1]})
    assert (h.n_vertices, h.n_edges, h.n_incidences) == (1200, 2, 1202)
    assert h.edge_sizes.tolist() == [1200, 2]
    assert h.edge_sizes.dtype == np.int64
    assert repr(h) == "Hypergraph(1,200 vertices, 2 hyperedges, 1,202 incidences)"


def test_the_content_key_follows_the_content():
    h = Hypergraph.from_edges({"e": {"a": 1, "b": 2.5}, "f": ["b", "c"]}, edge_weights=[2, 3])
    assert h.content_key().hex().startswith("ef7296a63b442145302559617ccf81ad")  # in every process
    assert h.content_key() == pickle.loads(pickle.dumps(h)).content_key()
    renamed = Hypergraph(h.gamma, h.edge_weights, ["x", "y", "z"], [8, 9])
    assert h.content_key() == renamed.content_key()
    others = [
        h.with_edge_weights([3, 2]),
        h.with_gamma([1, 2, 1, 1]),
        h.restrict([1, 0, 2]),
        h.restrict([0, 1]),
        Hypergraph.from_edges([["a", "b"], ["b", "c"]], vertex_ids=list("abcd"), isolated="keep"),
    ]
    keys = {h.content_key(), *(other.content_key() for other in others)}
    assert len(keys) == 1 + len(others)


@pytest.mark.parametrize("name", ["csr", "csc", "coo"])
def test_indices_have_the_smallest_type(name, monkeypatch):
    matrix = sp.coo_array((np.ones(2), (np.array([0, 1]), np.array([0, 0]))), shape=(2, 1)).asformat(name)
    assert {np.dtype(np.int64)} == {
        i.dtype for i in (matrix.coords if name == "coo" else (matrix.indices, matrix.indptr))
    }
    short = Hypergraph.from_incidence(matrix)
    assert short.gamma.indices.dtype == short.gamma.indptr.dtype == np.int32
    for module in ("ids", "incidence", "features"):  # as if there were 2^31 of them
        monkeypatch.setattr(f"hyperclus.hypergraph.{module}.index_type", lambda _: np.int64)
    table = {"vertex": [0, 1, 0], "edge": ["e", "e", "f"]}
    made = [
        Hypergraph.from_incidence(matrix),
        Hypergraph.from_long(table),
        Hypergraph.from_edges({"e": [0, 1], "f": [0]}),
        Hypergraph.from_table({"x": [1, 2]}),
    ]
    for h in made:
        others = (
            h,
            h.restrict([1, 0]),
            h.drop_edges(np.zeros(h.n_edges, dtype=bool)),
            h.with_gamma(h.gamma.data),
        )
        for long in others:
            assert long.gamma.indices.dtype == long.gamma.indptr.dtype == np.int64


def test_the_constructor_keeps_long_indices():
    gamma = sp.csr_array((np.ones(2), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert Hypergraph(gamma, [1], ["a", "b"], ["e"]).gamma.indices.dtype == np.int64


@pytest.mark.parametrize("kind", ["long", "csr", "csc", "coo"])
def test_memory_per_incidence(kind):
    """At most 40 bytes per incidence beside the input, of which 12 are the result."""
    m, n = 3_000_000, 300_000
    rng = np.random.default_rng(0)
    keys = rng.permutation(m)
    v, e, x = keys % n, keys // 10, rng.random(m) + 0.1
    if kind == "long":
        table = {"vertex": v, "edge": e, "weight": x}
    else:
        table = sp.coo_array((x, (v.astype(np.int32), e.astype(np.int32))), shape=(n, m // 10)).asformat(kind)
    build = Hypergraph.from_long if kind == "long" else Hypergraph.from_incidence
    tracemalloc.start()
    try:
        h = build(table)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert h.n_incidences == m
    assert held < 16 * m
    assert peak < 40 * m


# ---- new hypergraphs from old ones --------------------------------------------------------------


@given(hyperedges, st.data())
@examples
def test_restrict_equals_a_loop(edges, data):
    h = Hypergraph.from_edges(edges)
    ids = h.vertex_ids.tolist()
    chosen = data.draw(st.lists(st.sampled_from(range(len(ids))), min_size=1, unique=True))
    left = {
        e: {v: x for v, x in inside.items() if v in [ids[i] for i in chosen]} for e, inside in edges.items()
    }
    expected = {edge: (1, inside) for edge, inside in left.items() if inside}
    by_position = h.restrict(np.array(chosen))
    assert as_map(by_position) == expected
    assert by_position.vertex_ids.tolist() == [ids[i] for i in chosen]
    assert by_position.gamma.has_canonical_format
    by_mask = h.restrict(np.isin(np.arange(len(ids)), chosen))
    assert as_map(by_mask) == expected
    assert by_mask.vertex_ids.tolist() == [ids[i] for i in sorted(chosen)]


@given(hyperedges, st.data())
@examples
def test_drop_edges_equals_a_loop(edges, data):
    h = Hypergraph.from_edges(edges, edge_weights=range(1, len(edges) + 1))
    mask = data.draw(st.lists(st.booleans(), min_size=len(edges), max_size=len(edges)))
    left = h.drop_edges(np.array(mask))
    old = as_map(h)
    assert as_map(left) == {edge: old[edge] for edge, gone in zip(edges, mask, strict=True) if not gone}
    assert left.vertex_ids.tolist() == h.vertex_ids.tolist()


@given(hyperedges, st.data())
@examples
def test_with_gamma_equals_a_loop(edges, data):
    h = Hypergraph.from_edges(edges, edge_weights=range(1, len(edges) + 1))
    values = data.draw(st.lists(gammas, min_size=h.n_incidences, max_size=h.n_incidences))
    new = h.with_gamma(values)
    position = 0
    for (edge, (omega, inside)), (other, (other_omega, before)) in zip(
        as_map(new).items(), as_map(h).items(), strict=True
    ):
        assert (edge, omega, list(inside)) == (other, other_omega, list(before))
        for weight in inside.values():
            assert weight == values[position]
            position += 1
    assert position == h.n_incidences


def test_invalid_arguments_of_restrict_drop_edges_and_with_gamma():
    h = Hypergraph.from_incidence(MATRIX, vertex_ids=["u", "v"], edge_ids=["e", "f", "g"])
    for wrong in ([2], [-1], [0, 0], [0.0], [[]], [True], [True] * 3, [[0]], "ab", 0, None):
        refused(lambda w=wrong: h.restrict(w), "a mask of 2 booleans, or different positions below 2")
    for wrong in ([0], [True], [1, 0, 0], [[True] * 3], None):
        refused(lambda w=wrong: h.drop_edges(w), "a mask of 3 booleans")
    for wrong in ([1, 1, 1], [1] * 5, [[1] * 4], 1.0):
        refused(lambda w=wrong: h.with_gamma(w), "4 weights are needed")
    refused(lambda: h.with_gamma([1, 0, 1, 1]), "vertex 'v' in hyperedge 'f' has weight 0.0", "positive")
    refused(lambda: h.with_gamma(np.zeros(4)), "vertex 'u' in hyperedge 'e' has weight 0.0")


def test_a_column_of_edge_weights():
    table = {"vertex": list("abbc"), "edge": [1, 1, 2, 2], "edge_weight": [5, 5, 1, 1]}
    assert Hypergraph.from_long(table).edge_weights.tolist() == [5, 1]
    assert Hypergraph.from_long(table, edge_weight=False).edge_weights.tolist() == [1, 1]
    assert Hypergraph.from_long(table, edge_weights=[2, 3]).edge_weights.tolist() == [2, 3]
    refused(
        lambda: Hypergraph.from_long({**table, "edge_weight": [5, 4, 1, 1]}),
        "hyperedge 1 has several weights",
    )
    refused(
        lambda: Hypergraph.from_long(table, edge_weight="edge_weight", edge_weights=[1, 1]), "given twice"
    )
    refused(lambda: Hypergraph.from_long({**table, "edge_weight": [0, 0, 1, 1]}), "1")


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.bsr_array])
def test_pointers_out_of_bounds_are_refused(kind):
    shape = (1, 1, 1) if kind is sp.bsr_array else (1,)
    matrix = kind((np.full(shape, 2.0), np.array([0]), np.array([0, 1, 1])), shape=(2, 2))
    matrix.indptr = np.array([0, 10**9, -1], dtype=np.int32)
    refused(lambda: Hypergraph.from_incidence(matrix), "damaged", "indptr does not rise from 0")


@pytest.mark.parametrize("weight", [Decimal("1e-400"), Fraction(1, 10**400), Decimal("-1e-999")])
def test_weights_that_no_float_holds(weight):
    with pytest.raises(InputError, match="hyperedge 'e', member 1: the weight is too small for a float"):
        Hypergraph.from_edges({"e": {"a": 1, "b": weight}})
    assert Hypergraph.from_edges({"e": {"a": 1, "b": weight * 0}}, isolated="drop").n_vertices == 1


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array])
def test_long_doubles_that_no_float_holds(kind):
    matrix = np.array([["1", "0"], ["1e-4000", "1"]]).astype(np.longdouble)
    if matrix[1, 0] == 0:
        pytest.skip("long doubles are floats on this machine")
    with pytest.raises(InputError, match="vertex 'y' in hyperedge 0: the weight is too small for a float"):
        Hypergraph.from_incidence(kind(matrix), vertex_ids=["x", "y"])
    assert Hypergraph.from_incidence(kind(np.abs(matrix) > 0.5) * 2.0).n_incidences == 2
