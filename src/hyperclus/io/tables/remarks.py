"""What is unusual about a column of a table with one row per vertex, and what to do."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.optional import arrow
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.binning import FEW
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.schema import NUMBER, Column
from hyperclus.io.tables.table import MISSING, DecimalSign, NumberFormat

LOOKED_AT = 1000  # cells, to find out whether they are lists or texts
REPEATED = 0.8  # of the items of lists, at most this share is distinct
MANY_WORDS = 5  # per cell, from which it is a text
FORMATS = (NumberFormat("."), NumberFormat(","), NumberFormat(",", "."), NumberFormat(".", ","))


@dataclass(frozen=True, slots=True)
class Remark:
    """What is unusual: a few words, and a sentence that names the column and the remedy."""

    short: str
    sentence: InputError  # its parts, as in errors


def remark_on(column: Column, n_rows: int, vertex: str | None, stated: bool) -> Remark | None:
    """Say what is unusual about a column; `stated` is whether the user named the signs of numbers."""
    as_text = not column.numbers and column.too_large is None and not stated
    if as_text and (formats := _number_formats(column.values)):
        return _like_numbers(column, formats)
    if column.not_number is not None and column.distinct > FEW:
        what = f"holds {shown(column.not_number)} among numbers"
        each = f"so each of its {column.distinct:,} values is a hyperedge; correct it or leave the column out"
        return _remark(column, what, f"{what}, {each}")
    if n_rows > FEW and 2 * column.distinct > n_rows and not column.numbers:
        return _mostly_different(column, n_rows, vertex)
    if n_rows > FEW and column.distinct == n_rows and str(column.values.type).startswith(("int", "uint")):
        values, what = column.values.to_numpy(), "numbers the rows"
        if n_rows == int(values.max()) - int(values.min()) + 1:  # without gaps
            return _remark(column, what, f"{what}; leave it out, or use it as the vertex ids")
    return None


def _remark(column: Column, short: str, *parts: Any) -> Remark:
    return Remark(short, InputError(f"column {shown(column.name)} ", *parts))


def _like_numbers(column: Column, formats: list[NumberFormat]) -> Remark:
    """Name the arguments with which a column of text holds numbers."""
    only_grouped = all(one.thousands is not None for one in formats)
    short = f"looks like numbers{' with thousands' if only_grouped else ''}"
    parts: list[Any] = [f"{short}, but is read as {column.distinct:,} categories"]
    for one in formats:
        grouped = one.thousands is not None
        name, sign = ("thousands", one.thousands) if grouped else ("decimal", one.decimal)
        parts += ["; use " if len(parts) == 1 else " or ", Argument(name, sign)]
    return _remark(column, short, *parts)


def _number_formats(values: Any) -> list[NumberFormat]:
    """Return the formats in which all texts of a column are numbers, if their signs occur."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return []
    first = next((one for one in values[:LOOKED_AT].to_pylist() if one not in (None, *MISSING)), "")
    if not first[-1:].isdecimal():  # saves calls of PyArrow, for tables with many columns
        return []
    words = values.unique()
    words = words.filter(pc.invert(pc.is_in(words, value_set=pa.array([*MISSING, None], words.type))))
    return [
        one
        for one in FORMATS
        if _occurs(words, one.thousands or one.decimal)
        and pc.all(pc.match_substring_regex(one.plain(words), NUMBER)).as_py()
    ]


def _occurs(words: Any, sign: DecimalSign) -> bool:
    pc = arrow("pyarrow.compute")
    return bool(pc.any(pc.match_substring(words, sign)).as_py())


def _mostly_different(column: Column, n_rows: int, vertex: str | None) -> Remark:
    """Say how to use a column in which most values are different: as lists, as texts, or not at all."""
    unique = column.distinct == n_rows
    short = "every value different" if unique else "nearly every value different"
    nothing = "nothing" if unique else "almost nothing"
    what = f"has {column.distinct:,} values in {n_rows:,} rows and connects {nothing}"
    cells = [one for one in column.values[:LOOKED_AT].to_pylist() if isinstance(one, str)]
    if (sign := _list_sign(cells)) is not None:
        ids = Argument("edge", column.name) if vertex is None else Argument("vertex", vertex)
        split = Argument("split", {column.name: sign})
        lists = f"{what}; it looks like lists: use ", split, " and ", ids, " to make a hyperedge of each item"
        return _remark(column, f"{short}, looks like lists", *lists)
    if cells and np.mean([len(cell.split()) for cell in cells]) >= MANY_WORDS:
        use = Argument("text", column.name), " to make a hyperedge of each word, or leave it out"
        return _remark(column, f"{short}, looks like texts", f"{what}; it looks like texts: use ", *use)
    return _remark(column, short, f"{what}; leave it out{', or use it as the vertex ids' if unique else ''}")


def _list_sign(cells: list[str]) -> str | None:
    """Return the sign that separates items in most cells, if items are short and repeated."""
    for sign in ";|,":
        if 2 * sum(sign in cell for cell in cells) > len(cells):
            items = [item.strip() for cell in cells for item in cell.split(sign)]
            counts = Counter(items)
            several = sum(number > 1 for number in counts.values()) > 2  # one may be a common beginning
            short = np.mean([len(item.split()) for item in items]) < MANY_WORDS
            if several and short and len(counts) <= REPEATED * len(items):
                return sign
    return None
