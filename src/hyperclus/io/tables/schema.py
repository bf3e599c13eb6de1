"""Columns of table files in memory, and what kind of values they hold."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.optional import arrow
from hyperclus.errors import InputError, prefixed
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.csv import CsvTable
from hyperclus.io.tables.encode import INTEGER
from hyperclus.io.tables.table import DecimalSign, Table, is_numeric

READING_SHARE = 0.9  # share of the time that reading takes
NUMBER = r"\A[+-]?(([1-9][0-9]*|0)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\z"  # 007 is text
NUMBER_WITH_COMMA = NUMBER.replace(r"\.", ",")
EXACT_BELOW = 2.0**53  # from here on, different integers may be the same float
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?")  # in a column of numbers


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column, as a PyArrow array with null for missing values."""

    name: str
    values: Any
    numbers: bool  # whether all values are numbers
    distinct: int  # number of distinct values
    not_number: str | None = None  # a value that is not a number, if most others are
    decimal_comma: bool = False  # whether numbers were written with a decimal comma
    too_large: str | None = None  # a number that a float cannot represent, so that the column stays text

    @property
    def missing(self) -> int:
        """Number of missing values."""
        return int(self.values.null_count)

    def first_infinite(self) -> int:
        """Return the first row with an infinite number, -1 if there is none."""
        pa, pc = arrow(), arrow("pyarrow.compute")
        is_float = pa.types.is_floating(self.values.type)
        return int(pc.index(pc.is_inf(self.values), True).as_py()) if is_float else -1

    def first_not_number(self) -> int:
        """Return the first row whose value is not a number, of a column with such rows."""
        pa, pc = arrow(), arrow("pyarrow.compute")
        if self.too_large is not None:
            return int(pc.index(self.values, self.too_large).as_py())
        others = self.values.is_valid()
        if pa.types.is_string(self.values.type):
            missing = pc.is_in(self.values, value_set=pa.array(MISSING, self.values.type))
            known = pc.or_(missing, pc.match_substring_regex(self.values, NUMBER))
            others = pc.and_(others, pc.invert(pc.fill_null(known, True)))
        return max(int(pc.index(others, True).as_py()), 0)


def read_columns(source: Table, names: Sequence[str], decimal: DecimalSign | None = None) -> list[Column]:
    """Read columns into memory; text becomes numbers if all values of a column are numbers.

    By default the decimal sign is a point; or a comma, if all values of a column are numbers then and the
    delimiter is not a comma.
    """
    signs: tuple[DecimalSign, ...] = ()
    if isinstance(source, CsvTable):
        signs = (".",) if source.delimiter == "," else (".", ",")
        signs = signs if decimal is None else (decimal,)
    batches = source.numbered_batches(list(names), (0.0, READING_SHARE))
    chunks = zip(*(batch for _, batch in batches), strict=True)
    columns = [arrow().chunked_array(list(some)) for some in chunks]
    if not (columns and len(columns[0])):
        raise source.fault("the table has no rows under its header; it needs one for each vertex")
    return [_column(name, values, signs) for name, values in zip(names, columns, strict=True)]


def check_present(source: Table, column: Column, what: str, remedy: str | InputError) -> None:
    """Raise an `InputError` that names the first row without a value."""
    if column.missing:
        row = int(arrow("pyarrow.compute").index(column.values.is_null(), True).as_py())
        raise source.fault(prefixed(f"column {shown(column.name)}: the {what} is missing; ", remedy), row)


def _column(name: str, values: Any, signs: tuple[DecimalSign, ...]) -> Column:
    """Infer the type of a column; text may hold numbers with one of these decimal signs."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    not_number, too_large, comma, text = None, None, False, values
    for sign in signs:
        values, other, large = _as_numbers(text, sign)
        not_number, too_large = not_number or other, too_large or large
        if values is not text:
            not_number, comma = None, sign == "," and pc.any(pc.match_substring(text, ",")).as_py()
            break
    try:
        distinct = pc.count_distinct(values).as_py()
    except pa.ArrowNotImplementedError:  # lists and the like, which `Hypergraph.from_table` will refuse
        distinct = len(values)
    return Column(name, values, is_numeric(values.type), distinct, not_number, comma, too_large)


def _as_numbers(text: Any, sign: DecimalSign) -> tuple[Any, str | None, str | None]:
    """Convert text to integers or floats if all values allow it.

    Returns the values; one that is not a number, if most are; and a number that a float cannot represent.
    """
    pa, pc = arrow(), arrow("pyarrow.compute")
    encoded = text.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):  # an older PyArrow
        encoded = encoded.combine_chunks()
    words = encoded.dictionary
    missing = pc.is_in(words, value_set=pa.array(MISSING, words.type))
    present = words.filter(pc.invert(missing))
    good = pc.match_substring_regex(present, NUMBER if sign == "." else NUMBER_WITH_COMMA)
    if not len(present) or good.false_count:
        return text, _exception(present, good), None
    with_point = words if sign == "." else pc.replace_substring(words, ",", ".")
    numbers = pc.if_else(missing, None, with_point)
    if pc.match_substring_regex(present, INTEGER).false_count == 0:
        with suppress(pa.ArrowInvalid):  # beyond 64 bits
            return numbers.cast(pa.int64()).take(encoded.indices), None, None
    floats = numbers.cast(pa.float64())
    size = pc.abs(floats.filter(pc.invert(missing)))
    integer = pc.match_substring_regex(present, r"\A[+-]?[0-9]+\z")
    exact = pc.less(size, pc.if_else(integer, EXACT_BELOW, np.inf))
    if exact.false_count:
        return text, _exception(present, exact), present.filter(pc.invert(exact))[0].as_py()
    return floats.take(encoded.indices), None, None


def _exception(words: Any, good: Any) -> str | None:
    """Return the first word that is not good, if most are."""
    others = words.filter(arrow("pyarrow.compute").invert(good))
    return others[0].as_py() if good.true_count > 2 * len(others) else None
