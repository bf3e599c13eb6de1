"""Tables: every kind of table gives the same hypergraph, and policies are followed."""

import datetime
import warnings
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperclus import Hypergraph, InputError
from hyperclus.hypergraph.tables import columns_of, pick, pick_codes
from support.contracts import refused

examples = settings(deadline=None, max_examples=60)
LETTERS = ["b", "a", None, "b", "c", "a"]
NUMBERS = [2, 2, 1, 7, 1, 2]


def arrow_dictionary(values):
    """Two chunks with dictionaries of their own, one of which holds a value that is not used."""
    first = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), ["a", "b"])
    second = pa.DictionaryArray.from_arrays(pa.array([2, 1, 3]), ["unused", "c", "b", "a"])
    assert first.to_pylist() + second.to_pylist() == values
    return pa.chunked_array([first, second])


def masked(values):
    return np.ma.array(["" if v is None else v for v in values], mask=[v is None for v in values])


TABLES = {
    "lists": lambda x, y: {"x": x, "y": y},
    "tuples": lambda x, y: {"x": tuple(x), "y": tuple(y)},
    "generators": lambda x, y: {"x": iter(x), "y": iter(y)},
    "arrays": lambda x, y: {"x": np.array(x, dtype=object), "y": np.array(y)},
    "strided arrays": lambda x, y: {"x": np.array(x[::-1], dtype=object)[::-1], "y": np.repeat(y, 2)[::2]},
    "masked arrays": lambda x, y: {"x": masked(x), "y": np.array(y, dtype="u1")},
    "pandas series": lambda x, y: {"x": pd.Series(x, index=range(9, 3, -1)), "y": pd.Series(y)},
    "polars series": lambda x, y: {"x": pl.Series(x), "y": pl.Series(y)},
    "arrow arrays": lambda x, y: {"x": pa.array(x), "y": pa.chunked_array([y[:2], y[2:]])},
    "arrow dictionary arrays": lambda x, y: {"x": pa.array(x).dictionary_encode(), "y": pa.array(y)},
    "pandas": lambda x, y: pd.DataFrame({"x": x, "y": y}),
    "pandas object": lambda x, y: pd.DataFrame({"x": x, "y": y}, dtype=object),
    "pandas category": lambda x, y: pd.DataFrame({"x": x, "y": y}, dtype="category"),
    "pandas nullable": lambda x, y: pd.DataFrame({"x": x, "y": y}).convert_dtypes(),
    "pandas arrow": lambda x, y: pd.DataFrame({"x": x, "y": y}).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda x, y: pl.DataFrame({"x": x, "y": y}),
    "polars categorical": lambda x, y: pl.DataFrame({"x": pl.Series(x, dtype=pl.Categorical), "y": y}),
    "polars enum": lambda x, y: pl.DataFrame({"x": pl.Series(x, dtype=pl.Enum(list("azcb"))), "y": y}),
    "arrow": lambda x, y: pa.table({"x": x, "y": y}),
    "arrow dictionary": lambda x, y: pa.table({"x": arrow_dictionary(x), "y": y}),
}


def same(first, second):
    assert first.vertex_ids.tolist() == second.vertex_ids.tolist()
    assert first.edge_ids.tolist() == second.edge_ids.tolist()
    np.testing.assert_array_equal(first.edge_weights, second.edge_weights)
    np.testing.assert_array_equal(first.gamma.toarray(), second.gamma.toarray())


def from_table_by_a_loop(columns, missing, constant):
    """Edges as maps from (feature, value) to members; None where an error is due."""
    edges = {}
    for name, values in columns.items():
        if missing == "error" and None in values:
            return None
        kept = [value for value in dict.fromkeys(values) if value is not None]
        kept += [None] if missing == "category" and None in values else []
        members = {(name, v): [row for row, value in enumerate(values) if value == v] for v in kept}
        if len(kept) == 1 and len(members[name, kept[0]]) == len(values):
            if constant == "error":
                return None
            if constant == "drop":
                continue
        edges |= members
    return edges or None


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("missing", ["category", "drop"])
def test_every_kind_of_table_gives_the_same_hypergraph(kind, missing):
    h = Hypergraph.from_table(TABLES[kind](LETTERS, NUMBERS), missing=missing)
    members = from_table_by_a_loop({"x": LETTERS, "y": NUMBERS}, missing, "drop")
    same(h, Hypergraph.from_edges(members, vertex_ids=range(6)))
    types = {type(value) for _, value in h.edge_ids.tolist()}
    assert types == {int, str, type(None)} - ({type(None)} if missing == "drop" else set())


@pytest.mark.parametrize("kind", TABLES)
def test_a_missing_value_is_found_in_every_kind_of_table(kind):
    refused(
        lambda: Hypergraph.from_table(TABLES[kind](LETTERS, NUMBERS)),
        "row 2, column 'x'",
        "missing='category'",
    )
    refused(
        lambda: Hypergraph.from_long(TABLES[kind](LETTERS, NUMBERS), vertex="x", edge="y"),
        "row 2, column 'x'",
    )


@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind != "arrow dictionary"])
def test_every_kind_of_long_table_gives_the_same_hypergraph(kind):
    h = Hypergraph.from_long(TABLES[kind](list("bacbca"), [2, 2, 1, 7, 7, 1]), vertex="x", edge="y")
    same(h, Hypergraph.from_edges({2: ["b", "a"], 1: ["c", "a"], 7: ["b", "c"]}, vertex_ids=list("bac")))
    assert h.edge_ids.dtype == np.int64


def test_an_array_is_a_table_with_numbered_columns():
    values = [["b", 2], ["a", 2], ["b", 1]]
    expected = Hypergraph.from_edges(
        {(0, "b"): [0, 2], (0, "a"): [1], (1, 2): [0, 1], (1, 1): [2]}, vertex_ids=range(3)
    )
    same(Hypergraph.from_table(np.array(values, dtype=object)), expected)
    numbers = np.array([[3, 2], [4, 2], [3, 1]])
    with warnings.catch_warnings(action="ignore"):
        matrix = np.asmatrix(numbers)
    for array in (numbers, np.asfortranarray(numbers), numbers.astype(float), matrix, numbers.astype("i1")):
        h = Hypergraph.from_table(array)
        np.testing.assert_array_equal(h.gamma.toarray(), expected.gamma.toarray())
        assert h.edge_ids.tolist() == [(0, 3), (0, 4), (1, 2), (1, 1)]
    text = Hypergraph.from_table(np.array(values))
    assert text.edge_ids.tolist() == [(0, "b"), (0, "a"), (1, "2"), (1, "1")]
    frame = pd.DataFrame(numbers)
    same(Hypergraph.from_table(frame), Hypergraph.from_table(numbers))
    same(Hypergraph.from_long(numbers, vertex=0, edge=1), Hypergraph.from_long(frame, vertex=0, edge=1))


cells = st.sampled_from(["a", "b", "c", None])
tables = st.integers(1, 5).flatmap(
    lambda n: st.dictionaries(st.sampled_from("pqrs"), st.lists(cells, min_size=n, max_size=n), min_size=1)
)


@given(tables, st.sampled_from(["error", "category", "drop"]), st.sampled_from(["error", "drop", "keep"]))
@examples
def test_from_table_equals_a_loop(columns, missing, constant):
    members = from_table_by_a_loop(columns, missing, constant)
    options = {"missing": missing, "constant": constant, "isolated": "keep"}
    schema = dict.fromkeys(columns, pl.String)
    frames = (
        columns,
        pd.DataFrame(columns, dtype=object),
        pl.DataFrame(columns, schema=schema),
        pa.table(columns),
    )
    for table in frames:
        if members is None:
            with pytest.raises(InputError):
                Hypergraph.from_table(table, **options)
            continue
        n_rows = len(next(iter(columns.values())))
        expected = Hypergraph.from_edges(members, vertex_ids=range(n_rows), isolated="keep")
        same(Hypergraph.from_table(table, **options), expected)


def test_value_types_of_data_frames():
    day, span = datetime.datetime(2020, 1, 1), datetime.timedelta(1)
    cases = [
        ([True, False, True], [True, False]),
        ([0.5, 2.0, 0.5], [0.5, 2.0]),
        ([day, day.replace(year=2021), day], [day, day.replace(year=2021)]),
        ([day.date(), datetime.date(2021, 1, 1), day.date()], [day.date(), datetime.date(2021, 1, 1)]),
        ([Decimal("1.5"), Decimal(2), Decimal("1.5")], [Decimal("1.5"), Decimal(2)]),
        ([span, 2 * span, span], [span, 2 * span]),
        ([b"x", b"y", b"x"], [b"x", b"y"]),
        (["1", "👩🏽‍🔬\n", "1"], ["1", "👩🏽‍🔬\n"]),
    ]  # fmt: skip
    for values, distinct in cases:
        for table in (
            {"f": values},
            pd.DataFrame({"f": values}),
            pl.DataFrame({"f": values}),
            pa.table({"f": values}),
        ):
            h = Hypergraph.from_table(table)
            assert h.edge_ids.tolist() == [("f", value) for value in distinct]
            assert h.gamma.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]
    with_gaps = pd.DataFrame(
        {"f": pd.array([1, None, 2], dtype="Int64"), "g": pd.array([True, None, False], dtype="boolean")}
    )
    h = Hypergraph.from_table(with_gaps, missing="category")
    assert h.edge_ids.tolist() == [("f", 1), ("f", 2), ("f", None), ("g", True), ("g", False), ("g", None)]
    zoned = pd.DataFrame({"f": pd.to_datetime(["2020-01-01", None]).tz_localize("Europe/Oslo")})
    assert Hypergraph.from_table(zoned, missing="category").edge_ids.tolist() == [
        ("f", zoned["f"][0].to_pydatetime()),
        ("f", None),
    ]
    binned = pd.DataFrame({"f": pd.cut([1, 5, 9], 2)})
    assert Hypergraph.from_table(binned).edge_sizes.tolist() == [2, 1]
    sparse = pd.DataFrame({"f": pd.arrays.SparseArray([0, 1, 0])})
    assert Hypergraph.from_table(sparse).edge_ids.tolist() == [("f", 0), ("f", 1)]


def test_missing_values_of_every_kind():
    values = ["a", None, float("nan"), pd.NA, pd.NaT, np.float32("nan"), "a", "b"]
    h = Hypergraph.from_table({"f": values}, missing="category")
    assert h.edge_ids.tolist() == [("f", "a"), ("f", "b"), ("f", None)]
    assert h.edge_sizes.tolist() == [2, 1, 5]
    floats = np.array([1.0, np.nan, 2.0, np.nan])
    for table in ({"f": floats}, floats[:, None], pd.DataFrame({"f": floats}), pl.DataFrame({"f": floats})):
        assert Hypergraph.from_table(table, missing="category").edge_sizes.tolist() == [1, 1, 2]
    dropped = Hypergraph.from_table({"f": floats, "g": [1, 1, 1, 2]}, missing="drop")
    assert dropped.edge_ids.tolist() == [("f", 1), ("f", 2), ("g", 1), ("g", 2)]
    refused(
        lambda: Hypergraph.from_table({"f": floats}, missing="drop", isolated="error"),
        "no hyperedge holds vertex 1, 3;",
    )
    assert Hypergraph.from_table({"f": floats}, missing="drop", isolated="drop").vertex_ids.tolist() == [0, 2]
    assert Hypergraph.from_table({"f": floats}, missing="drop").n_vertices == 4


def test_large_integers_next_to_missing_ones_stay_exact():
    values = [2**53, 2**53 + 1, None]  # one float
    frames = [{"f": values}, pl.DataFrame({"f": values}), pa.table({"f": values})]
    frames += [
        pd.DataFrame({"f": pd.array(values, dtype=kind)}) for kind in ("Int64", "int64[pyarrow]", object)
    ]
    for frame in frames:
        h = Hypergraph.from_table(frame, missing="category")
        assert h.edge_ids.tolist() == [("f", 2**53), ("f", 2**53 + 1), ("f", None)]


def test_constant_features():
    table = {"same": [1, 1, 1], "other": ["a", "b", "b"]}
    assert Hypergraph.from_table(table).edge_ids.tolist() == [("other", "a"), ("other", "b")]
    assert Hypergraph.from_table(table, constant="keep").edge_ids.tolist()[0] == ("same", 1)
    refused(lambda: Hypergraph.from_table(table, constant="error"), "column 'same' has the single value 1")
    nothing = {"x": [1, 1], "y": ["a", "a"]}
    refused(lambda: Hypergraph.from_table(nothing), "no feature has two different values")
    assert Hypergraph.from_table(nothing, constant="keep").n_edges == 2
    refused(lambda: Hypergraph.from_table({"x": [None, None]}, missing="drop"), "no feature has two")
    refused(lambda: Hypergraph.from_table({"x": [1]}), "no feature has two")


def test_one_value_next_to_missing_ones_is_not_constant():
    h = Hypergraph.from_table({"tag": ["yes", None, "yes"], "f": [1, 1, 2]}, missing="drop")
    assert h.edge_ids.tolist() == [("tag", "yes"), ("f", 1), ("f", 2)]
    assert h.gamma.toarray()[0].tolist() == [1, 0, 1]


def test_features_and_the_vertex_column():
    table = {"id": ["u", "v", "w"], "x": [1, 2, 1], "y": [3, 3, 4], "unused": [[], [], []]}
    h = Hypergraph.from_table(table, vertex="id", features=["y", "x"])
    assert h.vertex_ids.tolist() == ["u", "v", "w"]
    assert h.edge_ids.tolist() == [("y", 3), ("y", 4), ("x", 1), ("x", 2)]
    by_tuple = Hypergraph.from_table(pl.DataFrame(table), vertex="id", features=("y", "x"))
    same(h, by_tuple)
    del table["unused"]
    assert Hypergraph.from_table(table, vertex="id").n_edges == 4
    assert Hypergraph.from_table(table).n_edges == 7
    refused(lambda: Hypergraph.from_table(table, features=["z"]), "no column 'z'", "'id', 'x', 'y'")
    refused(lambda: Hypergraph.from_table(table, vertex="z"), "no column 'z'")
    refused(lambda: Hypergraph.from_table(table, features=["x", ["y"]]), "no column ['y']")
    refused(lambda: Hypergraph.from_table(table, features="x"), "features must be a list")
    refused(lambda: Hypergraph.from_table(table, features=["x", "x"]), "names a column twice")
    refused(lambda: Hypergraph.from_table(table, features=[]), "the table is empty")
    refused(
        lambda: Hypergraph.from_table({"id": [1, 1], "x": [1, 2]}, vertex="id"), "vertex id 1 appears more"
    )
    refused(
        lambda: Hypergraph.from_table({"id": [1, None], "x": [1, 2]}, vertex="id"), "position 1 is missing"
    )
    refused(lambda: Hypergraph.from_table({"x": [[1], [2]]}), "row 0, column 'x'", "[1] cannot be an id")
    for wrong in (
        {"missing": "ignore"},
        {"constant": "ignore"},
        {"isolated": "ignore"},
        {"missing": ["drop"]},
    ):
        refused(lambda wrong=wrong: Hypergraph.from_table(table, **wrong), f"{next(iter(wrong))} must be")


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"a": []},
        np.empty((0, 2)),
        np.empty((2, 0)),
        pd.DataFrame(),
        pd.DataFrame({"a": []}),
        pl.DataFrame(),
        pl.DataFrame({"a": []}),
        pa.table({}),
        pa.table({"a": pa.array([], pa.string())}),
    ],
)
def test_empty_tables(table):
    refused(lambda: Hypergraph.from_table(table), "the table is empty")
    refused(lambda: Hypergraph.from_long(table), "no column")
    if isinstance(table, dict) and table:
        assert Hypergraph.from_long(table, vertex="a", edge="a").n_incidences == 0


def test_invalid_tables():
    for thing in (None, "file.csv", 7, [{"a": 1}], pl.LazyFrame({"a": [1]}), pd.Series([1]), object()):
        refused(lambda thing=thing: columns_of(thing), "a table must be a mapping", type(thing).__name__)
    refused(lambda: columns_of(np.ones(3)), "two dimensions", "(3,)")
    refused(lambda: columns_of(np.ones((2, 2, 2))), "two dimensions")
    refused(lambda: columns_of({"a": [1, 2], "b": [1]}), "different lengths", "'a': 2")
    refused(lambda: columns_of({"a": "text"}), "column 'a' must be a list or an array, not 'text'")
    refused(lambda: columns_of({"a": 5}), "column 'a' must be a list or an array, not 5")
    refused(lambda: columns_of({"a": {1, 2}}), "column 'a' must be a list or an array")
    refused(lambda: columns_of({"a": {1: 2}}), "column 'a' must be a list or an array")
    refused(lambda: columns_of({"a": np.ones((2, 1))}), "column 'a' must be one-dimensional")
    refused(
        lambda: columns_of(pd.DataFrame([[1, 2]], columns=["a", "a"])), "column names must be unique", "'a'"
    )
    refused(lambda: columns_of(pa.table([[1], [2]], names=["a", "a"])), "column names must be unique", "'a'")
    refused(lambda: pick(columns_of({str(i): [1] for i in range(99)}), "z"), "no column 'z'", "and 89 more")


def test_unusual_column_names():
    columns = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
    h = Hypergraph.from_table(pd.DataFrame([[1, 2], [2, 1]], columns=columns))
    assert h.edge_ids.tolist()[0] == (("a", "x"), 1)
    assert Hypergraph.from_table({None: [1, 2], 3: [1, 2]}).edge_ids.tolist()[0] == (None, 1)


def test_text_columns_do_not_need_pyarrow(monkeypatch):
    def without_pyarrow(_):
        raise ModuleNotFoundError("pyarrow")

    expected = Hypergraph.from_table(pl.DataFrame({"x": LETTERS, "y": NUMBERS}), missing="category")
    monkeypatch.setattr(nw.Series, "to_arrow", without_pyarrow)
    same(Hypergraph.from_table(pl.DataFrame({"x": LETTERS, "y": NUMBERS}), missing="category"), expected)


def test_a_column_that_turns_from_text_to_numbers():
    """Libraries guess the type of a column of objects from its first rows."""
    values = ["a"] * 200 + [1, None, 1.5]
    h = Hypergraph.from_table(pd.DataFrame({"f": pd.Series(values, dtype=object)}), missing="category")
    assert h.edge_ids.tolist() == [("f", "a"), ("f", 1), ("f", 1.5), ("f", None)]


def test_an_arrow_dictionary_may_repeat_values_and_hold_null():
    repeated = pa.DictionaryArray.from_arrays(pa.array([3, 0, 1, 2, None]), pa.array(["a", "a", None, "b"]))
    codes, ids = pick_codes(columns_of(pa.table({"f": repeated})), "f")
    assert ids.tolist() == ["b", "a"]
    assert codes.tolist() == [0, 1, 1, -1, -1]


def test_a_weight_column_can_be_ignored():
    table = {"vertex": ["a", "b"], "edge": [1, 1], "weight": [5.0, 2.0]}
    assert Hypergraph.from_long(table).gamma.data.tolist() == [5, 2]
    assert Hypergraph.from_long(table, weight=False).gamma.data.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [{"doi": f"10.1/{i}", "title": "t", "authors": ["a", "b"], "year": 2000} for i in range(3)],
            "use Hypergraph.from_edges({row['doi']: row['authors'] for row in rows}), or Hypergraph.from_",
        ),
        (
            [{"title": "t", "authors": ["a", "b"]} for i in range(3)],
            "use Hypergraph.from_edges([row['authors'] for row in rows])",
        ),
        ([{"customer": "a", "shop": "s", "amount": 2}], "use Hypergraph.from_long(pandas.DataFrame(rows), "),
        ([{"vertex": 1, "edge": 2}, {"vertex": 2, "edge": 2}], "use Hypergraph.from_long(pandas.DataFrame("),
    ],
)
def test_records_are_not_hyperedges(rows, words):
    refused(lambda: Hypergraph.from_edges(rows), "these look like records, not hyperedges; ", words)


def test_a_weight_that_is_text_makes_no_record():
    for rows in ([{"a": "x"}], [{"a": 1, "b": "12"}], [{"a": 1, "b": "x"}, {"a": 1, "c": 2}]):
        refused(
            lambda rows=rows: Hypergraph.from_edges(rows), "hyperedge 0, member ", "is not a finite number"
        )
