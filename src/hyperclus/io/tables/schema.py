"""Columns of table files in memory, and what kind of values they hold."""

from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.optional import arrow
from hyperclus.errors import Argument, InputError, prefixed
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.csv import CsvTable
from hyperclus.io.tables.encode import INTEGER
from hyperclus.io.tables.points import GROUPED_POINT, Points, ambiguous_sign, refuse_ambiguous
from hyperclus.io.tables.table import MISSING, DecimalSign, NumberFormat, Table, grouped, is_numeric

READING_SHARE = 0.9  # share of the time that reading takes
NUMBER = r"\A[+-]?(([1-9][0-9]*|0)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\z"  # 007 is text
FEW_ROWS = 1000  # up to which all columns are looked at together, which saves calls of PyArrow
EXACT_BELOW = 2.0**53  # from here on, different integers may be the same float
_SIGNS = Argument("thousands"), " and ", Argument("decimal"), " to say what the signs mean"


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


def read_columns(
    source: Table,
    names: Sequence[str],
    decimal: DecimalSign | None = None,
    thousands: DecimalSign | None = None,
    few_rows: int = FEW_ROWS,
) -> list[Column]:
    """Read columns into memory; text becomes numbers if all values of a column are numbers.

    By default the decimal sign is a point; or a comma, if all values of a column are numbers then and the
    delimiter is not a comma. Numbers that may have either are an `InputError` then.
    """
    signs: tuple[NumberFormat, ...] = ()
    if isinstance(source, CsvTable) or decimal is not None or thousands is not None:
        signs = (NumberFormat.of(decimal, thousands),)
    batches = source.numbered_batches(list(names), (0.0, READING_SHARE))
    chunks = zip(*(batch for _, batch in batches), strict=True)
    columns = [arrow().chunked_array(list(some)) for some in chunks]
    if not (columns and len(columns[0])):
        raise source.fault("the table has no rows under its header; it needs one for each vertex")
    if not isinstance(source, CsvTable) or decimal is not None or thousands is not None:
        return [_column(name, values, signs) for name, values in zip(names, columns, strict=True)]
    signs += () if source.delimiter == "," else (NumberFormat(","),)
    plain = _plain_columns(names, columns, source.delimiter) if len(columns[0]) <= few_rows else {}
    found = []
    for name, values in zip(names, columns, strict=True):
        if name not in plain:
            _refuse_ambiguous_commas(source, name, values)
        found.append(plain.get(name) or _column(name, values, signs))
    if (comma := next((column for column in found if column.decimal_comma), None)) is not None:
        for column, values in zip(found, columns, strict=True):
            point = arrow("pyarrow.compute").index(_contains(values, "."), True).as_py()
            if column.numbers and not column.decimal_comma and point >= 0:
                what = (
                    f"column {shown(column.name)}: {shown(values[point].as_py())} has a point, but numbers of"
                )
                problem = f"{what} column {shown(comma.name)} have a decimal comma; use "
                raise source.fault(InputError(problem, *_SIGNS), point)
    elif source.delimiter != ",":
        _refuse_ambiguous_points(source, found, columns, plain)
    return found


def _refuse_ambiguous_points(
    source: CsvTable, found: list[Column], columns: list[Any], plain: Container[str]
) -> None:
    """Raise an `InputError` for a column of numbers whose points all may separate thousands.

    Plain columns have no such points, but may have decimals, which tell what points mean in this file.
    """
    strict = source.delimiter == ";"  # which spreadsheets write where the decimal sign is a comma
    points = {column.name: Points(strict) for column in found if column.numbers}
    for sure in (False, True):
        for column, values in zip(found, columns, strict=True):
            if column.numbers and (column.name in plain) == sure:
                points[column.name].add(values)
        if not any(seen.ambiguous for seen in points.values()):
            return
    refuse_ambiguous(source, points)


def _plain_columns(names: Sequence[str], columns: list[Any], delimiter: str) -> dict[str, Column]:
    """Infer the types of many short columns at once, except those that `_column` must look at.

    A column is plain if it has no missing value and no comma, and all its values are numbers, or none is.
    Unless the delimiter is a comma, it has no number like 1.234 either, whose point may separate thousands.
    """
    pa, pc = arrow(), arrow("pyarrow.compute")
    cells = pa.chunked_array([chunk for values in columns for chunk in values.chunks]).combine_chunks()
    encoded = cells.dictionary_encode()
    words = encoded.dictionary
    missing = pc.is_in(words, value_set=pa.array(MISSING, words.type))
    number = pc.match_substring_regex(words, NUMBER)
    floats = np.array(pc.if_else(number, words, "0").cast(pa.float64()))
    is_number, is_integer, is_odd = (
        some.to_numpy(zero_copy_only=False)
        for some in (
            number,
            pc.match_substring_regex(words, INTEGER),
            pc.or_(missing, _contains(words, ",")),
        )
    )
    kind = is_number.astype(np.int8) + is_integer  # 0 text, 1 float, 2 integer, 3 neither
    if delimiter != ",":
        is_odd |= pc.match_substring_regex(words, GROUPED_POINT).to_numpy(zero_copy_only=False)
    kind[is_odd | (np.abs(floats) >= EXACT_BELOW) | ((floats == 0) & np.signbit(floats))] = 3
    floats[kind == 3] = 0.0
    codes = encoded.indices.fill_null(len(kind)).to_numpy().reshape(len(names), -1)
    kinds = np.append(kind, np.int8(3))[codes]
    lowest, highest = kinds.min(axis=1), kinds.max(axis=1)
    distinct = 1 + np.count_nonzero(np.diff(np.sort(codes, axis=1)), axis=1)
    numbers = np.append(floats, 0.0)[codes]
    distinct_numbers = 1 + np.count_nonzero(np.diff(np.sort(numbers, axis=1)), axis=1)
    found: dict[str, Column] = {}
    for row, name in enumerate(names):
        if highest[row] == 0:
            found[name] = Column(name, columns[row], False, int(distinct[row]))
        elif lowest[row] >= 1 and highest[row] <= 2:
            values = numbers[row].astype(np.int64) if lowest[row] == 2 else numbers[row]
            found[name] = Column(name, pa.chunked_array([pa.array(values)]), True, int(distinct_numbers[row]))
    return found


def _contains(values: Any, sign: str) -> Any:
    return arrow("pyarrow.compute").match_substring(values, sign)


def _refuse_ambiguous_commas(source: CsvTable, name: str, values: Any) -> None:
    """Raise an `InputError` for a column of numbers whose commas all may separate thousands."""
    pc = arrow("pyarrow.compute")
    commas = values.filter(_contains(values, ",")).unique()
    if not len(commas) or pc.match_substring_regex(commas, grouped(",", ".")).false_count:
        return
    others = values.filter(pc.invert(_contains(values, ","))).unique()
    others = others.filter(pc.invert(pc.is_in(others, value_set=arrow().array(MISSING, others.type))))
    if pc.match_substring_regex(others, NUMBER).false_count == 0:
        row = pc.index(values, commas[0]).as_py()
        raise ambiguous_sign(source, name, row, commas[0].as_py(), ",")


def check_present(source: Table, column: Column, what: str, remedy: str | InputError) -> None:
    """Raise an `InputError` that names the first row without a value."""
    if column.missing:
        row = int(arrow("pyarrow.compute").index(column.values.is_null(), True).as_py())
        raise source.fault(prefixed(f"column {shown(column.name)}: the {what} is missing; ", remedy), row)


def _column(name: str, values: Any, signs: tuple[NumberFormat, ...]) -> Column:
    """Infer the type of a column; text may hold numbers in one of these formats."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    not_number, too_large, comma, text = None, None, False, values
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    for sign in signs if is_text else ():
        values, other, large = _as_numbers(text, sign)
        not_number, too_large = not_number or other, too_large or large
        if values is not text:
            not_number, comma = None, sign.decimal == "," and pc.any(_contains(text, ",")).as_py()
            break
    try:
        distinct = pc.count_distinct(values).as_py()
    except pa.ArrowNotImplementedError:  # lists and the like, which `Hypergraph.from_table` will refuse
        distinct = len(values)
    return Column(name, values, is_numeric(values.type), distinct, not_number, comma, too_large)


def _as_numbers(text: Any, sign: NumberFormat) -> tuple[Any, str | None, str | None]:
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
    plain = sign.plain(present)
    good = pc.match_substring_regex(plain, NUMBER)
    if not len(present) or good.false_count:
        return text, _exception(present, good), None
    numbers = pc.if_else(missing, None, sign.plain(words))
    if pc.match_substring_regex(plain, INTEGER).false_count == 0:
        with suppress(pa.ArrowInvalid):  # beyond 64 bits
            return numbers.cast(pa.int64()).take(encoded.indices), None, None
    floats = numbers.cast(pa.float64())
    size = pc.abs(floats.filter(pc.invert(missing)))
    integer = pc.match_substring_regex(plain, r"\A[+-]?[0-9]+\z")
    exact = pc.less(size, pc.if_else(integer, EXACT_BELOW, np.inf))
    if exact.false_count:
        return text, _exception(present, exact), present.filter(pc.invert(exact))[0].as_py()
    return floats.take(encoded.indices), None, None


def _exception(words: Any, good: Any) -> str | None:
    """Return the first word that is not good, if most are."""
    others = words.filter(arrow("pyarrow.compute").invert(good))
    return others[0].as_py() if good.true_count > 2 * len(others) else None
