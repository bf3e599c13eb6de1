"""Columns of table files: those that are asked for, whole, and what kind of values they hold."""

import os
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyperclus._runtime.files import StrPath, fault, reading
from hyperclus._runtime.progress import report_progress
from hyperclus.errors import InputError, prefixed
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import named, shown
from hyperclus.io.tables.encode import WHOLE, Numbering, arrow
from hyperclus.io.tables.files import PARQUET, Decimal, TableFile, TextTable
from hyperclus.io.tables.long import TableFormat, open_table
from hyperclus.typing import Codes, Ids

PASS = 0.9  # of the time that reading takes
LOOK = 4096  # bytes by which text is told from Parquet, and commas from tabs
NUMBER = r"\A[+-]?(([1-9][0-9]*|0)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\z"  # 007 is a name, not a number
COMMA = NUMBER.replace(r"\.", ",")
EXACT = 2.0**53  # from here on, different whole numbers may be one float
ABSENT = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?")  # in a column of numbers


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column, as a PyArrow array with null where a value is missing.

    Attributes
    ----------
    numbers : bool
        Whether it holds numbers and nothing else.
    distinct : int
        How many different values it has.
    odd : str or None
        A text that is no number, where most others are numbers.
    comma : bool
        Whether the numbers were written with a decimal comma.
    beyond : str or None
        A number that a float cannot hold, for which the column stays text.
    """

    name: str
    values: Any
    numbers: bool
    distinct: int
    odd: str | None = None
    comma: bool = False
    beyond: str | None = None

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return int(self.values.null_count)

    @property
    def first_other(self) -> int:
        """Of a column that is not one of numbers, the first row with a value that is no number."""
        pa, pc = arrow(), arrow("pyarrow.compute")
        if self.beyond is not None:
            return int(pc.index(self.values, self.beyond).as_py())
        others = self.values.is_valid()
        if pa.types.is_string(self.values.type):
            absent = pc.is_in(self.values, value_set=pa.array(ABSENT, self.values.type))
            known = pc.or_(absent, pc.match_substring_regex(self.values, NUMBER))
            others = pc.and_(others, pc.invert(pc.fill_null(known, True)))
        return max(int(pc.index(others, True).as_py()), 0)

    @property
    def first_missing(self) -> int | None:
        """The first row without a value."""
        if not self.values.null_count:
            return None
        return int(arrow("pyarrow.compute").index(self.values.is_null(), True).as_py())


def table_file(
    path: StrPath,
    delimiter: str | None = None,
    format: TableFormat | None = None,  # noqa: A002
) -> TableFile:
    """A table by its format, else by its name, else by how it begins: Parquet, or text."""
    ending = Path(os.fspath(path)).name.lower().removesuffix(".gz")
    if format is None and not ending.endswith((*PARQUET, ".csv", ".tsv")) and not os.path.isdir(path):
        with reading(path) as content:
            start = content.read(LOOK)
        format = "tsv" if b"\t" in start.split(b"\n")[0] else "csv"  # noqa: A001
        format = "parquet" if start.startswith(b"PAR1") else format  # noqa: A001
    return open_table(path, format, delimiter)


def known_column(source: TableFile, name: Any) -> str:
    """The name, which exactly one column must have."""
    if name not in source.names:
        known = named(object_array(source.names), np.ones(len(source.names), dtype=bool), limit=10) or "none"
        near = source.near(name)
        hint = f"; {near}" if near else ""
        raise fault(source.path, f"the table has no column {shown(name)}; its columns are {known}{hint}")
    if source.names.count(name) > 1:
        raise fault(
            source.path,
            f"the table has more than one column {shown(name)}; the first line must name the columns, "
            "each differently; add a line with names if there is none",
        )
    return str(name)


def read_columns(source: TableFile, names: Sequence[str], decimal: Decimal | None = None) -> list[Column]:
    """Some columns, whole; those of text are numbers where all they hold are numbers.

    Without a `decimal` sign, numbers have a point, or throughout a column a comma, where no comma parts the
    columns.
    """
    pa = arrow()
    signs: tuple[Decimal, ...] = (decimal,) if decimal is not None else (".", ",")
    if not isinstance(source, TextTable):
        signs = ()
    elif decimal is None and source.delimiter == ",":
        signs = (".",)
    pieces: list[list[Any]] = [[] for _ in names]
    rows = 0
    with closing(source.batches(list(names))) as batches:
        for batch in batches:
            for piece, values in zip(pieces, batch, strict=True):
                piece.append(values)
            rows += len(batch[0])
            share = PASS * min(source.place / max(source.size, 1), 1.0)
            report_progress("reading", share * source.size, source.unit, share, f"{rows:,} rows")
    if not all(pieces):
        raise source.fault("the table has no rows; it needs one for each vertex")
    return [_told(name, pa.chunked_array(p), signs) for name, p in zip(names, pieces, strict=True)]


def read_ids(source: TableFile, name: str, guess: bool) -> tuple[Codes, Ids]:
    """A column of ids: a code for each row, and the ids by code; a missing one is an `InputError`."""
    numbering = Numbering(source, name, guess and source.text)
    codes, row = [], 0
    with closing(source.batches([name])) as batches:
        for (values,) in batches:
            codes.append(numbering.codes(values, row))
            row += len(values)
    return np.concatenate(codes) if codes else np.empty(0, dtype=np.int32), numbering.ids()


def missing_value(
    source: TableFile, column: Column, what: str, remedy: str | InputError
) -> InputError | None:
    """The fault of the first row without a value, if there is one."""
    row = column.first_missing
    if row is None:
        return None
    return source.fault(prefixed(f"column {shown(column.name)}: {what}; ", remedy), row)


def _told(name: str, values: Any, signs: tuple[Decimal, ...]) -> Column:
    """A column with the type of its values; text is looked at for numbers with these decimal signs."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    odd, comma, beyond, text = None, False, None, values
    for sign in signs:
        values, other, large = _numbers(text, sign)
        beyond = beyond or large
        odd = odd or other
        if values is not text:
            odd, comma = None, sign == "," and pc.any(pc.match_substring(text, ",")).as_py()
            break
    kind = values.type
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    try:
        distinct = pc.count_distinct(values).as_py()
    except pa.ArrowNotImplementedError:  # lists and the like, which `Hypergraph.from_table` will refuse
        distinct = len(values)
    return Column(name, values, numbers, distinct, odd, comma, beyond)


def _numbers(text: Any, sign: Decimal) -> tuple[Any, str | None, str | None]:
    """Text as integers or floats where it can be; else as it is, with a text that is in the way.

    Last, where all are numbers but stay text, comes one that a float cannot hold.
    """
    pa, pc = arrow(), arrow("pyarrow.compute")
    encoded = text.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):  # an older PyArrow
        encoded = encoded.combine_chunks()
    words = encoded.dictionary
    absent = pc.is_in(words, value_set=pa.array(ABSENT, words.type))
    present = words.filter(pc.invert(absent))
    good = pc.match_substring_regex(present, NUMBER if sign == "." else COMMA)
    if not len(present) or good.false_count:
        return text, _odd(present, good), None
    kept = pc.if_else(absent, None, words if sign == "." else pc.replace_substring(words, ",", "."))
    if pc.match_substring_regex(present, WHOLE).false_count == 0:
        with suppress(pa.ArrowInvalid):  # beyond 64 bits
            return kept.cast(pa.int64()).take(encoded.indices), None, None
    floats = kept.cast(pa.float64())
    size = pc.abs(floats.filter(pc.invert(absent)))
    whole = pc.match_substring_regex(present, r"\A[+-]?[0-9]+\z")
    held = pc.less(size, pc.if_else(whole, EXACT, np.inf))
    if held.false_count:
        return text, _odd(present, held), present.filter(pc.invert(held))[0].as_py()
    return floats.take(encoded.indices), None, None


def _odd(words: Any, good: Any) -> str | None:
    """The first word that is not good, where most are."""
    others = words.filter(arrow("pyarrow.compute").invert(good))
    return others[0].as_py() if good.true_count > 2 * len(others) else None
