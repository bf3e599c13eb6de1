"""Problems of a table, counted: a look at every row that does not stop at the first bad one."""

import csv
import io
import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from hyperclus._runtime.files import StrPath
from hyperclus._runtime.source import reading
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.messages import count, shown
from hyperclus.hypergraph.summary import similar_names
from hyperclus.io.tables.csv import detect_delimiter
from hyperclus.io.tables.memory import MemoryTable
from hyperclus.io.tables.points import GROUPED_POINT, Points
from hyperclus.io.tables.table import MISSING, PLAIN_NUMBERS, PLAIN_RATIO, NumberFormat, Table, grouped

SNIFFED_CHARACTERS = 1 << 16  # used to detect the delimiter
GROUPED = re.compile(GROUPED_POINT.replace(r"\z", r"\Z"))
LONGEST = 1 << 24  # characters of a line, of which the rest counts as another one


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of problem: how often it occurs, where first, and what to do."""

    kind: str
    count: int
    line: int  # of its first occurrence: in text a line, from 1, otherwise a row, from 0
    message: InputError  # its parts, as in errors


@dataclass(frozen=True, slots=True)
class UsedColumns:
    """The columns to look at: those of a long table, or only the vertex ids of one with a row per vertex."""

    vertex: str | None = None
    edge: str | None = None
    weight: str | None = None
    combine: bool = False  # whether repeated incidences may be combined, and are not yet
    may_lack_weight: bool = False  # whether missing weights are no problem
    numbers: NumberFormat = PLAIN_NUMBERS


def find_problems(
    path: StrPath, columns: UsedColumns, delimiter: str | None = None
) -> tuple[list[str], list[Problem]]:
    r"""Read a text table and count what is wrong with its rows, instead of raising at the first one.

    Returns the names in the header, and a problem of each kind; columns that the header does not have are
    not looked at.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "sales.csv")
    >>> _ = path.write_text("who,what,n\nann,tea,1\nbob,tea,\ncy,tea,x\ncy,tea\nann,tea,1\ndee,tea,\n")
    >>> names, problems = find_problems(path, UsedColumns("who", "what", "n"))
    >>> for problem in problems:
    ...     print(problem.kind, problem.count, problem.line)
    fields 1 5
    no weight 2 3
    not a number 1 4
    copies 1 6
    """
    with reading(path) as handle:
        start = handle.read(SNIFFED_CHARACTERS).decode("utf-8-sig", "replace")
    found = _Tally()
    with reading(path) as handle:
        chosen = delimiter or detect_delimiter(start)
        records = _records(handle, chosen, found)
        _, names = next(records, (1, []))
        if chosen != "," and not columns.numbers.stated:
            records = _count_points(records, names, columns, chosen, found)
        _look(records, names, columns, found)
    return names, list(_described(found, len(names), columns))


def find_typed_problems(table: Table, columns: UsedColumns) -> list[Problem]:
    """Count what is wrong with the rows of a table with types, such as Parquet, JSON and Excel."""
    wanted = dict.fromkeys((columns.vertex, columns.edge, columns.weight))
    names = [name for name in wanted if name is not None and name in table.places]
    if not names:
        return []
    found = _Tally()
    records = (
        (row, list(map(_as_text, values)))
        for first, batch in table.numbered_batches(names)
        for row, values in enumerate(zip(*(some.to_pylist() for some in batch), strict=True), first)
    )
    _look(records, names, columns, found, whole=False)
    place = table.place if isinstance(table, MemoryTable) else "row {:,}".format
    return list(_described(found, len(table.names), columns, place))


def _as_text(value: Any) -> str:
    return "" if value is None else str(int(value) if isinstance(value, bool) else value)


@dataclass(slots=True)
class _Tally:
    """Lines with problems: how many of each kind, and the first one with an example."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, tuple[int, Any]] = field(default_factory=dict)
    n_good: int = 0  # weights
    has_points: bool = False  # whether one of these has a decimal point

    def add(self, kind: str, line: int, example: Any = None, number: int = 1) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + number
        self.first.setdefault(kind, (line, example))

    def add_weight(self, fault: str | None, line: int, text: str) -> None:
        """Count a weight, which may be good."""
        if fault is not None:
            self.add(fault, line, text)
            return
        self.n_good += 1
        self.has_points = self.has_points or ("." in text and not GROUPED.match(text))

    def judge_commas(self) -> None:
        """Count weights with a comma as mistakes if others have a point, or most have neither."""
        if "decimal" in self.counts and (
            self.has_points or self.n_good > PLAIN_RATIO * self.counts["decimal"]
        ):
            first = self.first.pop("decimal")
            self.add("not a number", *first, self.counts.pop("decimal"))
            self.first["not a number"] = min(self.first["not a number"], first)


def _records(handle: BinaryIO, delimiter: str, found: _Tally) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and all rows with as many fields, each with the line where it begins."""
    reader = csv.reader(_lines(handle, found), delimiter=delimiter, strict=True)
    width = None
    while True:
        line = reader.line_num + 1
        try:
            record = next(reader, None)
        except csv.Error as error:
            found.add("quotes", line, str(error))
            continue
        if record is None:
            return
        if width is None and record:
            width = len(record)
        if len(record) == width:
            yield line, record
        elif record or width == 1:
            found.add("fields", line, len(record))


def _lines(handle: BinaryIO, found: _Tally) -> Iterator[str]:
    text = io.TextIOWrapper(handle, "utf-8-sig", "surrogateescape", newline="")
    try:
        for number, line in enumerate(iter(lambda: text.readline(LONGEST), ""), 1):
            if not line.isascii() and re.search("[\udc80-\udcff]", line):
                found.add("encoding", number)
            yield line
    finally:
        text.detach()  # otherwise it would close the file


def _look(
    records: Iterable[tuple[int, list[str]]],
    names: Sequence[str],
    columns: UsedColumns,
    found: _Tally,
    whole: bool = True,
) -> None:
    """Look at the ids and weights of all rows, and find repeated ones; copies only if records are `whole`."""
    place_of = {name: place for place, name in enumerate(names)}
    used = {"vertex": columns.vertex, "hyperedge": columns.edge}
    ids = {what: place_of[name] for what, name in used.items() if name in place_of}
    complete = all(name is None or name in place_of for name in used.values())
    weight = place_of.get(columns.weight or "")
    distinct: dict[str, dict[str, None]] = {what: {} for what in ids}
    lines, copies, keys = array("q"), array("q"), array("q")  # of rows; the last two are hashes
    for line, record in records:
        lines.append(line)
        copies.append(hash(tuple(record)) if whole else line)
        keys.append(hash(tuple(record[place] for place in ids.values())))
        for what, place in ids.items():
            if record[place]:
                distinct[what][record[place]] = None
            else:
                found.add(f"no {what}", line)
        if weight is not None:
            found.add_weight(_fault_of_weight(record[weight], columns.numbers), line, record[weight])
    found.judge_commas()
    if ids and lines and complete:
        again, repeated = (_later(np.frombuffer(hashes, np.int64)) for hashes in (copies, keys))
        for kind, rows in (("copies", again), ("repeated", repeated & ~again)):
            if rows.any():
                found.add(kind, lines[int(np.argmax(rows))], number=int(np.count_nonzero(rows)))
    for what, values in distinct.items():
        n_similar, pair = similar_names(values)
        if n_similar:
            found.add(f"similar {what}", 1, pair, n_similar)


def _count_points(
    records: Iterable[tuple[int, list[str]]],
    names: Sequence[str],
    columns: UsedColumns,
    delimiter: str,
    found: _Tally,
) -> Iterator[tuple[int, list[str]]]:
    """Yield all rows, and count the numbers whose points may separate thousands; see `Points`."""
    long = columns.edge is not None
    used = [place for place, name in enumerate(names) if (name == columns.weight if long else True)]
    seen, counts, texts = (
        {place: Points(not long and delimiter == ";") for place in used},
        dict.fromkeys(used, 0),
        set[int](),
    )
    for line, record in records:
        for place, points in seen.items():
            text = record[place]
            if GROUPED.match(text):
                counts[place] += 1
                points.first = points.first or (line, text)
            elif text.isdecimal():
                points.whole = True
            elif text not in MISSING:
                is_number = _fault_of_weight(text, columns.numbers) in (None, "negative")
                points.decimal |= is_number and "." in text
                texts.update(() if is_number or long else (place,))
        yield line, record
    if not any(points.decimal for place, points in seen.items() if place not in texts):
        for place, points in seen.items():
            if points.ambiguous and points.first is not None and place not in texts:
                found.add("points", *points.first, counts[place])


def _later(hashes: Any) -> Any:
    """Which values are equal to an earlier one."""
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    return first[group] != np.arange(len(hashes))


def _fault_of_weight(text: str, numbers: NumberFormat) -> str | None:
    """The kind of problem of a weight; None for a number from 0."""
    if numbers.thousands is not None and _is_grouped(text, numbers.thousands, numbers.decimal):
        text = text.replace(numbers.thousands, "")
    if numbers.decimal == ",":
        text = "." if "." in text else text.replace(",", ".")  # "." is not a number
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if number >= 0 and number < math.inf:
        return None
    if text in MISSING:
        return "no weight"
    if number < 0:
        return "negative"
    sign = "," if numbers.decimal == "." else "."
    if numbers.thousands is None and _is_grouped(text, sign, numbers.decimal):
        return "thousands"
    if not numbers.stated and _is_grouped(text, ".", ","):  # such as 1.234,56
        return "points as thousands"
    return "decimal" if sign == "," and re.fullmatch("[0-9]*,[0-9]+", text) else "not a number"


def _is_grouped(text: str, thousands: str, decimal: str) -> bool:
    return re.match(grouped(thousands, decimal).replace(r"\z", r"\Z"), text) is not None


def _described(
    found: _Tally, width: int, columns: UsedColumns, place: Callable[[int], str] = "line {:,}".format
) -> Iterator[Problem]:
    """Say of each kind how often it occurs, where first, and what to do; in a fixed order."""
    for kind, (one, many, *remedy) in _sentences(width, columns).items():
        if kind in found.counts and not (kind == "no weight" and columns.may_lack_weight):
            number, (line, example) = found.counts[kind], found.first[kind]
            quoted = isinstance(example, str) and not kind.startswith(("similar", "quotes"))
            example = shown(example) if quoted else example
            what = count(number, one, many).format(example)
            where = "" if kind.startswith("similar") else f", first in {place(line)}"
            yield Problem(kind, number, line, InputError(f"{what}{where}; ", *remedy))


def _sentences(width: int, columns: UsedColumns) -> dict[str, tuple[Any, ...]]:
    """Return what each kind is, of one and of many, and the parts of the remedy; {} is for the example."""
    sign = "," if columns.numbers.decimal == "." else "."
    combine = "use ", Argument("duplicates", "sum"), " or ", Argument("duplicates", "max")
    leave, spelling = "correct such weights or leave the rows out", "if they mean the same, spell them alike"
    again: tuple[Any, ...] = "the vertex and hyperedge of an earlier row", *combine
    if columns.edge is None:
        again = "the vertex id of an earlier row", "make them unique, or use ", Argument("repeated", "number")
    fill: tuple[Any, ...] = ("fill it or leave such rows out",)
    if columns.edge is not None:
        fill = "fill it, or use ", Argument("missing", "drop"), " to leave such rows out"
    separators = "weight has a separator of thousands ({})", "weights have separators of thousands ({})"
    fields = f"another number of fields ({{}}) than the header ({width})"
    return {
        "encoding": (
            *("line is not UTF-8 text", "lines are not UTF-8 text"),
            *("name the encoding of the file, such as ", Argument("encoding", "cp1252")),
        ),
        "quotes": ("quote is wrong ({})", "quotes are wrong ({})", "double a quote that is part of a value"),
        "fields": (f"line has {fields}", f"lines have {fields}", "make them equal, or quote the fields"),
        "no vertex": ("row has no vertex", "rows have no vertex", *fill),
        "no hyperedge": ("row has no hyperedge", "rows have no hyperedge", *fill),
        "no weight": (
            *("row has no weight", "rows have no weight"),
            *("fill it, or use ", Argument("missing", "drop"), " or ", Argument("missing", 1)),
        ),
        "thousands": (*separators, *("use ", Argument("thousands", sign))),
        "points as thousands": (*separators, *("use ", Argument("thousands", "."))),
        "decimal": (
            *("weight has a decimal comma ({})", "weights have a decimal comma ({})"),
            *("use ", Argument("decimal", ",")),
        ),
        "points": (
            "number has a point that may separate thousands or decimals ({})",
            "numbers have points that may separate thousands or decimals ({})",
            *("use ", Argument("thousands", "."), " or ", Argument("decimal", ".")),
        ),
        "negative": ("weight is below 0 ({})", "weights are below 0 ({})", leave),
        "not a number": ("weight is not a finite number ({})", "weights are no finite numbers ({})", leave),
        "copies": (
            *("line is an exact copy of an earlier one", "lines are exact copies of earlier ones"),
            *("remove copies that are mistakes", *((", or ", *combine) if columns.combine else ())),
        ),
        "repeated": (f"row repeats {again[0]}", f"rows repeat {again[0]}", *again[1:]),
        "similar vertex": (
            "vertex is spelled like another ({})",
            "vertices are spelled like others ({})",
            spelling,
        ),
        "similar hyperedge": (
            *("hyperedge is spelled like another ({})", "hyperedges are spelled like others ({})"),
            spelling,
        ),
    }
