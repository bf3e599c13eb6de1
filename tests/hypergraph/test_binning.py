"""Bins: every rule equals its definition written with loops, for all kinds of columns and tables."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus import Hypergraph
from hyperclus.datasets import tables as paper_rules
from hyperclus.hypergraph.binning import Bins, as_bins, memberships, paper_bins
from support import paper_data
from support.contracts import refused

examples = settings(deadline=None, max_examples=100)
floats = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(
    st.integers(-9, 9).map(float), st.integers(-30, 30).map(lambda i: i / 10), floats, st.floats(-1, 1)
)
columns = st.lists(numbers, min_size=1, max_size=30)
with_gaps = st.lists(st.one_of(st.none(), numbers), min_size=1, max_size=30)
counts = st.integers(2, 12)
HARD = ("width", "quantile", "paper")


def table_of(values, bins, **options):
    """The incidence matrix with a row per bin, and the names of the bins."""
    bins = bins if isinstance(bins, dict) else {"f": bins}
    h = Hypergraph.from_table({"f": values}, bins=bins, constant="keep", **options)
    return h.gamma.toarray(), [name for _, name in h.edge_ids.tolist()]


def ends(name):
    """The numbers in '1 to 2.5' and '7'."""
    numbers = [float(part.replace(",", "")) for part in name.split(" to ")]
    return numbers[0], numbers[-1]


def in_range(values, rule):
    """Whether the rule can do it: the paper's needs a positive maximum that is not too small."""
    return rule != "paper" or len(set(values)) == 1 or (max(values) > 0 and min(values) / max(values) > -1e9)


@given(columns, st.sampled_from(HARD), counts)
@examples
def test_every_value_is_in_exactly_one_bin_and_bins_are_in_order(values, rule, count):
    assume(in_range(values, rule))
    matrix, names = table_of(values, Bins(rule, count))
    assert ((matrix == 0) | (matrix == 1)).all()
    assert (matrix.sum(axis=0) == 1).all()
    assert (matrix.sum(axis=1) > 0).all()
    by_value = [b for _, b in sorted(zip(values, matrix.argmax(axis=0).tolist(), strict=True))]
    assert by_value == sorted(by_value)
    assert len(names) == len(set(names)) == len(set(map(str, names)))
    in_bin = dict(zip(values, matrix.argmax(axis=0), strict=True))
    assert all(in_bin[value] == b for value, b in zip(values, matrix.argmax(axis=0), strict=True))


@given(columns, st.sampled_from(["width", "quantile"]), counts)
@examples
def test_a_bin_holds_what_its_name_says(values, rule, count):
    matrix, names = table_of(values, Bins(rule, count))
    rounded = 0.006 * (max(values) - min(values))  # a hundredth of a bin is the unit
    assume(rounded < math.inf)
    before = -math.inf
    for row, name in zip(matrix, names, strict=True):
        low, high = ends(name)
        inside = [value for value, gamma in zip(values, row, strict=True) if gamma]
        assert low - rounded <= min(inside)
        assert max(inside) <= high + rounded
        assert before <= low <= high
        before = high


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=30), counts)
@examples
def test_bins_of_integers_are_named_by_what_they_hold(values, count):
    matrix, names = table_of(values, Bins("width", count))
    for row, name in zip(matrix, names, strict=True):
        low, high = ends(name)
        assert [low <= value <= high for value in values] == (row > 0).tolist()


def test_names_of_bins_are_for_people():
    income = [5066.48, 20_000, 62_980.45, 100_000, 294_636.33]
    assert table_of(income, Bins("width", 5))[1] == [
        "5,100 to 63,000",
        "63,000 to 120,900",
        "236,700 to 294,600",
    ]
    assert table_of([1998, 2001, 2007], 2)[1] == ["1998 to 2002", "2003 to 2007"]
    assert table_of([18, 40, 80], {"f": 5})[1] == ["18 to 30", "31 to 42", "68 to 80"]
    assert table_of([0.12, 0.5, 0.98], 2)[1] == ["0.12 to 0.55", "0.55 to 0.98"]
    assert table_of([-0.5, 0, 40_000], {"f": Bins("soft", 3)})[1] == ["near 0", "near 20,000", "near 40,000"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), counts)
@examples
def test_width_is_that_of_numpy_histogram(values, count):
    assume(max(values) - min(values) > 1e-6)
    edges = np.histogram_bin_edges(values, count)
    off = np.abs(np.subtract.outer(values, edges[1:-1])).min(axis=1) > 1e-8 * (edges[1] - edges[0])
    matrix, names = table_of(values, Bins("width", count))
    for name in names:
        assert np.abs(edges - ends(name)[0]).min() <= 1.01 * (edges[1] - edges[0])
    if off.all():
        expected = np.histogram(values, count)[0]
        assert matrix.sum(axis=1).tolist() == expected[expected > 0].tolist()


def test_a_value_on_an_edge_is_above_it_although_floats_round():
    values = [i / 10 for i in range(11)]
    matrix, names = table_of(values, 10)
    assert names[:3] == ["0 to 0.1", "0.1 to 0.2", "0.2 to 0.3"]  # np.linspace(0, 1, 11)[3] is above 0.3
    assert names[9] == "0.9 to 1"
    assert matrix.sum(axis=1).tolist() == [1] * 9 + [2]


def quantile_by_a_loop(values, count):
    """Each cut after as many values as ties allow that are nearest to j / count of them."""
    ordered = sorted(values)
    possible = [i for i in range(1, len(ordered)) if ordered[i - 1] < ordered[i]]
    wanted = [Fraction(j * len(values), count) for j in range(1, count)]
    cuts = sorted({min(possible, key=lambda i: (abs(i - ideal), i)) for ideal in wanted}) if possible else []
    return [b - a for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]


@given(columns, counts)
@examples
def test_quantiles_have_equal_counts_as_far_as_ties_allow(values, count):
    matrix, _ = table_of(values, Bins("quantile", count))
    sizes = matrix.sum(axis=1).astype(int).tolist()
    assert sizes == quantile_by_a_loop(values, count)
    assert len(sizes) >= min(2, len(set(values)))
    if len(set(values)) == len(values) >= count:
        assert len(sizes) == count
        assert max(sizes) - min(sizes) <= 1


@given(columns, counts)
@examples
def test_soft_memberships_are_triangles_that_add_up_to_one(values, count):
    matrix, names = table_of(values, Bins("soft", count))
    np.testing.assert_allclose(matrix.sum(axis=0), 1, rtol=1e-15)
    assert ((matrix > 0).sum(axis=0) <= 2).all()
    low, high = Fraction(min(values)), Fraction(max(values))
    centres = [low + (high - low) * j / (count - 1) for j in range(count)] if low < high else [low]
    gap = (high - low) / (count - 1) or Fraction(1)
    unit = max(map(abs, values), default=0.0) * 2.0**-50  # what rounding does to the centres
    if gap < 10**6 * Fraction(unit) or gap < Fraction(1e-300):
        return
    for row, name in zip(matrix, names, strict=True):
        centre = min(centres, key=lambda c: abs(c - Fraction(ends(name.removeprefix("near "))[0])))
        expected = [float(max(0, 1 - abs(Fraction(value) - centre) / gap)) for value in values]
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-5)


def test_soft_gammas_below_rounding_are_dropped():
    h = Hypergraph.from_table({"f": [0.0, 0.1 + 0.2, 0.3, 1.0]}, bins={"f": Bins("soft", 11)})
    assert h.edge_ids.tolist() == [("f", "near 0"), ("f", "near 0.3"), ("f", "near 1")]
    assert h.gamma.data.tolist() == [1, 1, 1, 1]


@given(st.data(), with_gaps, st.sampled_from(["width", "quantile", "soft", "paper"]), counts)
@examples
def test_row_order_does_not_matter_and_all_libraries_agree(data, values, rule, count):
    known = [value for value in values if value is not None]
    assume(not known or in_range(known, rule))
    order = data.draw(st.permutations(range(len(values))))
    missing = data.draw(st.sampled_from(["category", "drop"]))
    if not known and missing == "drop":
        return
    bins = {"f": Bins(rule, count)}
    matrix, names = table_of(values, bins, missing=missing, isolated="keep")
    assert (None in names) == (None in values and missing == "category")
    shuffled, same_names = table_of([values[i] for i in order], bins, missing=missing, isolated="keep")
    assert names == same_names
    np.testing.assert_array_equal(shuffled, matrix[:, order])
    gaps = [value is None for value in values]
    for column in (
        np.array([math.nan if value is None else value for value in values]),
        np.ma.array([value or 0.0 for value in values], mask=gaps),
        np.array(values, dtype=object),
        pd.Series(values, dtype="float64"),
        pd.Series(values, dtype="Float64"),
        pd.Series(values, dtype="double[pyarrow]"),
        pd.Series(values, dtype=object),
        pl.Series(values, dtype=pl.Float64),
        pa.chunked_array([pa.array(values[:1], pa.float64()), pa.array(values[1:], pa.float64())]),
    ):
        again, again_names = table_of(column, bins, missing=missing, isolated="keep")
        assert names == again_names
        np.testing.assert_array_equal(again, matrix)


def test_columns_of_every_kind():
    whole = [0, 1, None, 10]
    decimals = [Decimal(0), Decimal("0.5"), None, Decimal(10)]
    kinds = [
        whole,
        decimals,
        [Fraction(0), 0.5, pd.NA, 10],
        np.array([0, 1, np.nan, 10], dtype=np.float16),
        np.array([0, 1, np.nan, 10], dtype=np.longdouble),
        pd.Series(whole, dtype="Int8"),
        pd.Series(whole, dtype="int64[pyarrow]"),
        pd.Series(whole, dtype="Float32"),
        pd.Series(decimals),
        pd.Series(decimals, dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
        pl.Series(whole, dtype=pl.UInt8),
        pl.Series(whole, dtype=pl.Int128),
        pl.Series(whole, dtype=pl.Float32),
        pl.Series(decimals),
        pl.Series([0.0, float("nan"), None, 10.0]),
        pa.array(whole, pa.float16()),
        pa.array(decimals),
        pa.array(decimals, pa.decimal256(50, 2)),
    ]
    for values in kinds:
        for bins in (2, {"f": 2}):
            matrix, names = table_of(values, bins, missing="category")
            assert names in (["0 to 4", "5 to 10", None], ["0 to 5", "5 to 10", None])
            assert matrix[1].tolist() == [0, 0, 0, 1]
    sparse = pd.Series(pd.arrays.SparseArray([0.0, 1.0, 0.0, 4.0]))
    assert table_of(sparse, 2)[1] == ["0 to 1", "2 to 4"]
    assert table_of(np.array([1, 2, 250], dtype="u1"), 2)[1] == ["1 to 125", "126 to 250"]


def test_values_that_are_not_numbers_are_kept():
    day = datetime.date(2020, 1, 1)
    kinds = [
        ["a", "b"],
        ["1", "2"],
        [True, False],
        [1, "a"],
        [1 + 2j, 2j],
        np.array([True, False]),
        np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
        pd.Series([True, False]),
        pd.Series([1, 2], dtype="category"),
        pd.Series([day, day.replace(year=2021)]),
        pd.Series([1, "a"]),
        pl.Series(["a", "b"], dtype=pl.Categorical),
        pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"])),
        pl.Series([day, day.replace(year=2021)]),
        pl.Series([datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)]),
        pl.Series([True, False]),
        pa.array([1.5, 2.5]).dictionary_encode(),
        pa.array([True, False]),
    ]
    for values in kinds:
        plain = Hypergraph.from_table({"f": values, "g": [0.0, 1.0]}, bins=None)
        binned = Hypergraph.from_table({"f": values, "g": [0.0, 1.0]}, bins={"g": 2})
        assert binned.edge_ids.tolist()[:2] == plain.edge_ids.tolist()[:2]
        assert binned.edge_ids.tolist()[2:] == [("g", "0"), ("g", "1")]
        refused(lambda values=values: table_of(values, {"f": 2}), "column 'f' cannot have bins")
    refused(lambda: table_of([None, 1.5, "a"], {"f": 2}), "row 2 has 'a'")
    refused(lambda: table_of(pd.Series([1, 2], dtype="category"), {"f": 2}), "it holds categories")


def test_columns_of_one_table_may_have_different_bins():
    table = {"age": [0, 5, 10], "income": [1.0, 2.0, 9.0], "rooms": [1, 2, 2], "town": ["a", "b", "b"]}
    bins = {"age": 2, "income": Bins("quantile", 3), "rooms": "soft"}
    h = Hypergraph.from_table(pl.DataFrame(table), bins=bins)
    assert h.edge_ids.tolist() == [
        ("age", "0 to 4"), ("age", "5 to 10"),
        ("income", "1"), ("income", "2 to 8"), ("income", "9"),
        ("rooms", "near 1"), ("rooms", "near 2"),
        ("town", "a"), ("town", "b"),
    ]  # fmt: skip
    assert sorted(h.edge_ids.tolist())
    named = Hypergraph.from_table(table, bins={"age": 2})
    assert ("rooms", 2) in named.edge_ids.tolist()
    assert ("income", 9.0) in named.edge_ids.tolist()
    many = {"few": list(range(10)) * 2, "many": list(range(20)), "town": ["a", "b"] * 10}
    for bins, expected in ((2, 2), (5, 5), (None, 20), (False, 20), ({"few": 2}, 5), ({"many": None}, 20)):
        h = Hypergraph.from_table(many, bins=bins)
        assert [name for name, _ in h.edge_ids.tolist()].count("many") == expected
        few = 2 if bins == {"few": 2} else 10
        assert [name for name, _ in h.edge_ids.tolist()].count("few") == few
    assert (
        Hypergraph.from_table(many).edge_ids.tolist() == Hypergraph.from_table(many, bins=5).edge_ids.tolist()
    )
    refused(lambda: Hypergraph.from_table(table, bins={"height": 2}), "bins names 'height'")
    refused(lambda: Hypergraph.from_table(table, bins={"age": 2}, exclude=["age"]), "bins names 'age'")
    array = np.array([[0.0, 7.0], [1.0, 9.0]])
    assert Hypergraph.from_table(array, bins={1: 2}).edge_ids.tolist()[2:] == [(1, "7"), (1, "8 to 9")]


def test_missing_and_constant_numbers_follow_the_policies():
    table = {"f": [1.0, None, 3.0], "g": [1, 1, 2]}
    refused(lambda: Hypergraph.from_table(table, bins={"f": 2}), "row 1, column 'f'", "missing='category'")
    assert Hypergraph.from_table(table, bins={"f": 2}, missing="drop").gamma.toarray()[:2].tolist() == [
        [1, 0, 0],
        [0, 0, 1],
    ]
    for rule in ("width", "quantile", "soft", "paper"):
        same = {"f": [3.0, 3.0, 3.0], "g": [1, 1, 2]}
        name = {"soft": "near 3", "paper": 5}.get(rule, "3")
        rule = {"f": rule}
        assert {f for f, _ in Hypergraph.from_table(same, bins=rule).edge_ids.tolist()} == {"g"}
        kept = Hypergraph.from_table(same, bins=rule, constant="keep")
        assert kept.edge_ids.tolist()[0] == ("f", name)
        assert kept.gamma.toarray()[0].tolist() == [1, 1, 1]
        refused(
            lambda rule=rule, same=same: Hypergraph.from_table(same, bins=rule, constant="error"),
            "column 'f' has the single value",
        )
        nothing = {"f": [None, None, None], "g": [1, 1, 2]}
        refused(lambda rule=rule, t=nothing: Hypergraph.from_table(t, bins=rule), "row 0, column 'f'")
        for missing in ("category", "drop"):
            h = Hypergraph.from_table(nothing, bins=rule, missing=missing)
            assert h.edge_ids.tolist() == [("g", 1), ("g", 2)]
        h = Hypergraph.from_table({"f": [None, 3.0, 3.0]}, bins=rule, missing="category")
        assert h.edge_ids.tolist() == [("f", name), ("f", None)]
    h = Hypergraph.from_table({"f": [0.0, 0.25, 1.0, None]}, bins={"f": Bins("soft", 2)}, missing="category")
    assert h.gamma.toarray().tolist() == [[1, 0.75, 0, 0], [0, 0.25, 1, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize("rule", ["width", "quantile", "soft", "paper"])
def test_infinite_and_too_large_numbers_are_refused(rule):
    for values in (
        [1.0, math.inf, None],
        np.array([1.0, -math.inf]),
        np.array([1.0, np.longdouble("1e4000")]),
        [1, 10**400],
        [1, Decimal("Infinity")],
        [1, Decimal("sNaN")],
        pd.Series([1.0, math.inf]),
        pl.Series([1.0, math.inf]),
        pa.array([1.0, -math.inf]),
    ):
        refused(lambda values=values: table_of(values, rule), "row 1, column 'f'", "infinite or too large")
    assert Hypergraph.from_table({"f": [1.0, math.inf]}).n_edges == 2  # without bins it is a value


def test_hostile_numbers():
    largest, smallest = np.finfo(float).max, 5e-324
    for rule in ("width", "quantile", "soft"):
        for values in (
            [-largest, 0.0, largest],
            [0.0, smallest, 1.0],
            [0.0, smallest],
            [1.0, np.nextafter(1.0, 2.0)],
            [-smallest, smallest, largest],
            [2**53, 2**53 + 2, 2**64, -(2**63)],
            [-0.0, 0.0, 1e-300],
        ):
            matrix, names = table_of(values, Bins(rule, 7))
            np.testing.assert_allclose(matrix.sum(axis=0), 1, rtol=1e-15)
            assert not any("-0," in name or "nan" in name or "inf" in name for name in names)
            assert len(names) > 1 or len(set(values)) < 2 or values[1] - values[0] < 1e-15
    assert table_of([-largest, 0.0, largest], Bins("soft", 2))[0].tolist() == [[1, 0.5, 0], [0, 0.5, 1]]
    for huge in ([2**53 + 1, None, 2**62], [1, None, 2**64 - 1]):
        for column in (huge, pl.Series(huge, dtype=pl.UInt64), pa.array(huge, pa.uint64())):
            matrix, names = table_of(column, 2, missing="category")
            assert matrix.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    wide = pl.DataFrame({"f": pl.Series([2**100, 1], dtype=pl.Int128)})
    assert Hypergraph.from_table(wide).edge_ids.tolist() == [("f", 2**100), ("f", 1)]
    many = np.arange(1000.0)
    assert Hypergraph.from_table({"f": many}, bins=1_000_000).n_edges == 1000
    assert Hypergraph.from_table({"f": many}, bins=Bins("quantile", 1_000_000)).n_edges == 1000


def test_invalid_bins():
    for count in (0, 1, -3, 2.5, True, None, 1_000_001, "5", np.float64(3)):
        refused(lambda count=count: Bins("width", count), "bins must be a whole number from 2 to 1,000,000")
    refused(lambda: Bins("depth"), "the rule of bins must be 'width', 'quantile', 'soft' or 'paper'")
    refused(lambda: Bins("width", 5, 3.0), "only the rule 'paper' has a maximum")
    for maximum in (0, -1, math.inf, math.nan, "9", True):
        refused(lambda maximum=maximum: Bins("paper", 5, maximum), "the maximum must be positive")
    for bins in ([5], object(), {"f": [5]}, True):
        refused(lambda bins=bins: table_of([1, 2], bins), "bins must be a number of bins, a rule")
    refused(lambda: table_of([1, 2], 2.5), "bins must be a whole number")
    refused(lambda: table_of([1, 2], "median"), "the rule of bins")
    assert as_bins(np.int8(7)).others == Bins(count=7)
    assert type(as_bins(np.int8(7)).others.count) is int
    assert as_bins(None).others is None
    assert hash(Bins("soft", 3)) == hash(Bins("soft", 3))
    assert memberships(np.array([]), Bins())[1].names == ()


def test_the_paper_rule_needs_a_positive_maximum():
    for values in ([-2.0, -1.0], [-1.0, 0.0]):
        refused(lambda values=values: table_of(values, "paper"), "column 'f': the paper's bins need")
    refused(lambda: table_of([-1e300, 1e-300], "paper"), "column 'f': -1e+300 is too far below")
    refused(lambda: table_of([1.0, 5.0], Bins("paper", 5, 4)), "column 'f': 5 is above the given maximum 4")
    assert table_of([-7.0, -1.0, 1.0, 9.0, 10.0], Bins("paper", 5))[1] == [-3, 0, 4, 5]
    assert table_of([0.0, 0.0], Bins("paper", 5, 4))[1] == [0]


class TestOrder:
    LEVELS = ("disagree", "neutral", "agree", "agree fully")

    def edges(self, values, **options):
        h = Hypergraph.from_table({"q": values}, order={"q": self.LEVELS}, constant="keep", **options)
        return [name for _, name in h.edge_ids.tolist()], h.gamma.toarray().tolist()

    def test_hyperedges_have_the_order(self):
        names, matrix = self.edges(["agree", "disagree", "agree"])
        assert names == ["disagree", "agree"]
        assert matrix == [[0, 1, 0], [1, 0, 1]]

    def test_bins_join_neighbours(self):
        values = [*self.LEVELS, "neutral", None]
        names, matrix = self.edges(values, bins={"q": 2}, missing="category")
        assert names == ["disagree to neutral", "agree to agree fully", None]
        assert matrix[0] == [1, 1, 0, 0, 1, 0]
        names, _ = self.edges(self.LEVELS, bins={"q": Bins("quantile", 4)})
        assert names == list(self.LEVELS)

    def test_what_is_refused(self):
        refused(lambda: self.edges(["agree", "no"]), "row 1, column 'q': 'no' is not in the order")
        refused(lambda: self.edges(["agree"], bins={"q": "soft"}), "column 'q': bins of ordered values")
        refused(lambda: Hypergraph.from_table({"q": [1]}, order={"q": [1, 1]}), "names a value twice")
        refused(lambda: Hypergraph.from_table({"q": [1]}, order={"p": [1]}), "order names 'p'")
        for levels in (None, 5, "12", {1, 2}):
            order = {"q": levels}
            refused(
                lambda o=order: Hypergraph.from_table({"q": [1]}, order=o), "the order of column 'q' must"
            )
        refused(lambda: Hypergraph.from_table({"q": [1]}, order={"q": [[1]]}), "values that are lists")
        refused(
            lambda: Hypergraph.from_table({"q": [1]}, order=["q"]), "order must have the values of columns"
        )


def members(h):
    return {edge: set(h.gamma[[e]].indices.tolist()) for e, edge in enumerate(h.edge_ids.tolist())}


@pytest.mark.parametrize(("name", "count"), [("rice", 10), ("wine-567", 20)])
def test_the_paper_rule_gives_the_hypergraph_of_the_paper(name, count):
    data = hc.datasets.load(name)
    table = pd.DataFrame(paper_data.columns_of(name))
    table = table.astype(dict.fromkeys(table.columns.drop("class"), float))
    maxima = paper_data.MAXIMA.get(name, {})
    bins = {
        column: Bins("paper", count, maxima.get(column))
        for column in table
        if column not in ("class", "Extent")
    }
    bins |= {"Extent": None} if "Extent" in table else {}
    h = Hypergraph.from_table(table, bins=bins, exclude=["class"])
    assert members(h) == members(data.hypergraph)


def test_paper_bins_are_their_definition():
    """trunc(x / max * count), in this order, the maximum of each column over the whole file."""
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(1, 2, size=(500, 3)), 1)
    expected = np.trunc(values[::2] / values.max(axis=0) * 20).astype(np.int64)
    np.testing.assert_array_equal(paper_bins(values[::2], values.max(axis=0), 20), expected)
    np.testing.assert_array_equal(paper_rules._bins(values[::2], values, 20), expected)


def test_excluded_classes_are_compared_afterwards():
    frame = pd.DataFrame({"x": [0.1, 0.2, 8.0, 9.0], "kind": list("aabb"), "note": list("pqrs")})
    h = Hypergraph.from_table(frame, exclude=["kind", "note"], bins={"x": 2})
    assert {feature for feature, _ in h.edge_ids.tolist()} == {"x"}
    assert hc.agreement(frame["kind"], hc.cluster(h, k=2).labels).ari == 1
    refused(lambda: Hypergraph.from_table(frame, exclude=["class"]), "no column 'class'")
    refused(lambda: Hypergraph.from_table(frame, exclude="kind"), "exclude must be a list")
    refused(lambda: Hypergraph.from_table(frame, exclude=["kind"], features=["x"]), "not both")
    refused(lambda: Hypergraph.from_table(frame, exclude=list(frame)), "the table is empty")
