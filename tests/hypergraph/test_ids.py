"""Ids: which values are ids, and the order of their codes."""

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperclus.hypergraph.ids import as_integers_or_list, encode, factorize, id_array, is_missing, positions
from support.contracts import refused

examples = settings(deadline=None, max_examples=150)
texts = st.text(max_size=3)
MISSING = [None, math.nan, pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT"), complex("nan")]
mixed = st.one_of(
    st.integers(-3, 3),
    texts,
    st.booleans(),
    st.floats(-2, 2, width=16),
    st.tuples(st.integers(0, 1), texts),
    st.integers(-3, 3).map(np.int64),
    texts.filter(lambda text: not text.endswith("\0")).map(np.str_),  # NumPy drops the last NUL
    st.sampled_from(MISSING),
)


def encoded_by_a_loop(values):
    known, codes = [], []
    for value in values:
        if is_missing(value):
            codes.append(-1)
            continue
        value = value.item() if isinstance(value, np.generic) else value
        if value not in known:
            known.append(value)
        codes.append(known.index(value))
    return codes, known


@given(st.lists(mixed, max_size=12))
@examples
def test_encode_equals_a_loop(values):
    codes, ids = encode(as_integers_or_list(values, "values"), str)
    expected, known = encoded_by_a_loop(values)
    assert codes.tolist() == expected
    assert ids.tolist() == known
    assert not any(isinstance(value, np.generic) for value in ids.tolist())


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("block", [2, 1 << 20])
@given(data=st.data())
@examples
def test_integers_of_every_width(dtype, block, data):
    info = np.iinfo(dtype)
    near, far = st.integers(max(info.min, -3), 3), st.integers(info.min, info.max)
    values = data.draw(st.lists(st.one_of(near, far), max_size=8))
    codes, ids = encode(as_integers_or_list(np.array(values, dtype=dtype), "v"), str, block)
    expected, known = encoded_by_a_loop(values)
    assert codes.tolist() == expected
    assert ids.tolist() == known
    assert codes.dtype == np.int32
    assert ids.dtype == (object if max(values, default=0) > np.iinfo(np.int64).max else np.int64)


@pytest.mark.parametrize("low", [0, -(10**12), 10**12])
def test_dense_integers_far_from_zero(low):
    values = low + np.random.default_rng(0).integers(0, 50, 200)
    codes, ids = factorize(values, "v")
    np.testing.assert_array_equal(ids[codes], values)
    assert ids.tolist() == list(dict.fromkeys(values.tolist()))


def test_integers_are_int64_and_the_rest_objects():
    assert id_array([3, 1], "vertex").dtype == np.int64
    assert id_array([np.int8(3), np.uint16(1)], "vertex").dtype == np.int64
    assert id_array(range(3), "vertex").tolist() == [0, 1, 2]
    for values in ([True, False], [1.5, 2.0], [1, "1"], [2**63, 1], ["a", ("a", 1)], [b"a", "a"]):
        ids = id_array(values, "vertex")
        assert ids.dtype == object
        assert ids.tolist() == values
        assert list(map(type, ids.tolist())) == list(map(type, values))


def test_one_and_the_text_one_differ_but_equal_numbers_do_not():
    assert id_array([1, "1", ("1",)], "vertex").tolist() == [1, "1", ("1",)]
    refused(lambda: id_array([1, 1.0], "vertex"), "vertex id 1 appears more than once")


@pytest.mark.parametrize(
    "values",
    [
        np.array(["a", "b"]),
        np.array(["a", "b"], dtype=object),
        np.array(["a", "b"], dtype=np.dtypes.StringDType()),
        [np.str_("a"), "b"],
        ("a", "b"),
        (letter for letter in "ab"),
        {"a": 1, "b": 2}.keys(),
        pd.Series(["a", "b"]),
        pd.Series(["a", "b"], dtype=object),
        pd.Series(["a", "b"], dtype="category"),
        pd.Index(["a", "b"]),
        pl.Series(["a", "b"]),
        pa.array(["a", "b"]),
        pa.chunked_array([["a"], ["b"]]),
    ],
    ids=lambda values: type(values).__name__,
)
def test_ids_from_any_sequence(values):
    ids = id_array(values, "vertex")
    assert ids.tolist() == ["a", "b"]
    assert all(type(value) is str for value in ids.tolist())


def test_ids_are_a_read_only_copy():
    given_ids = np.array([3, 1, 2])
    ids = id_array(given_ids, "vertex")
    given_ids[0] = 9
    assert ids.tolist() == [3, 1, 2]
    assert not ids.flags.writeable
    assert given_ids.flags.writeable


def test_times_stay_times():
    day = datetime.datetime(2020, 1, 2, 3)
    for unit in ("h", "s", "us", "ns"):
        assert id_array(np.array([day], dtype=f"M8[{unit}]"), "vertex").tolist() == [day]
    assert id_array([np.datetime64(day, "ns")], "vertex").tolist() == [day]
    assert id_array(np.array(["2020-01-02"], dtype="M8[D]"), "vertex").tolist() == [day.date()]
    span = np.array([1_000_000], dtype="m8[ns]")
    assert id_array(span, "vertex").tolist() == [datetime.timedelta(milliseconds=1)]
    fine = np.array([1, 2], dtype="M8[ns]")  # no datetime holds a nanosecond
    assert id_array(fine, "vertex").tolist() == list(fine)
    refused(lambda: id_array(np.array(["NaT"], dtype="M8[ns]"), "vertex"), "position 0 is missing")


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_missing_ids_are_refused(value):
    assert is_missing(value)
    refused(lambda: id_array(["a", value], "vertex"), "vertex id at position 1 is missing")
    refused(lambda: factorize(["a", "b", value], "name"), "row 2, column 'name'", "missing")


def test_masked_values_are_missing():
    masked = np.ma.array([1, 2], mask=[False, True])
    refused(lambda: id_array(masked, "vertex"), "position 1 is missing")


def test_invalid_ids():
    refused(lambda: id_array(["a", "b", "a"], "edge"), "edge id 'a' appears more than once")
    refused(lambda: id_array(np.array([5, 4, 5]), "edge"), "edge id 5 appears more than once")
    refused(lambda: id_array(["a", ["b"]], "edge"), "position 1", "['b'] cannot be an id")
    refused(lambda: id_array([("a", [1])], "edge"), "('a', [1]) cannot be an id")
    refused(lambda: id_array("abc", "edge"), "edge ids must be a list or an array, not 'abc'")
    refused(lambda: id_array({"a", "b"}, "edge"), "must be a list or an array")
    refused(lambda: id_array({"a": 1}, "edge"), "must be a list or an array")
    refused(lambda: id_array(7, "edge"), "must be a list or an array, not 7")
    refused(lambda: id_array(np.int64(7), "edge"), "one-dimensional")
    refused(lambda: id_array(np.ones((2, 2), dtype=int), "edge"), "one-dimensional", "(2, 2)")
    assert id_array([], "edge").tolist() == []


@given(st.lists(st.one_of(st.integers(-5, 5), texts), unique=True, max_size=8), st.data())
@examples
def test_positions_equal_a_loop(ids, data):
    wanted = data.draw(st.lists(st.sampled_from(ids), max_size=8)) if ids else []
    found = positions(wanted, id_array(ids, "vertex"), "vertex")
    assert found.tolist() == [ids.index(value) for value in wanted]


def test_positions_of_unknown_ids():
    known = id_array([5, 6], "vertex")
    assert positions(np.array([6, 5], dtype=np.int32), known, "vertex").tolist() == [1, 0]
    assert positions([6.0], known, "vertex").tolist() == [1]
    refused(lambda: positions([5, 7], known, "vertex"), "vertex 7 is not among the 2 known vertex ids")
    refused(lambda: positions(np.array([7]), known, "vertex"), "vertex 7 ")
    refused(lambda: positions(["5"], known, "vertex"), "vertex '5' ")
    refused(lambda: positions([None], known, "vertex"), "vertex None ")
    refused(lambda: positions([[5]], known, "vertex"), "position 0", "[5] cannot be an id")
