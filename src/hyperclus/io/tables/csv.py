"""Text tables: CSV, TSV and other delimiters, gzipped or not."""

import codecs
import csv
import os
import re
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice, repeat
from secrets import token_hex
from typing import Any, BinaryIO

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.optional import arrow
from hyperclus._runtime.source import not_utf8, reading
from hyperclus.errors import Argument, InputError, prefixed
from hyperclus.hypergraph.ids import object_array
from hyperclus.io.tables.table import (
    DEFAULT_TUNING,
    PLAIN_NUMBERS,
    IncidenceBlock,
    NumberFormat,
    Table,
    Tuning,
)
from hyperclus.typing import Ids

SNIFFED_RECORDS = 20  # used to detect the delimiter
DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9.]*,[0-9]+([eE][+-]?[0-9]+)?\s*")
LINE = re.compile(r"[^\r\n]*(?:\r\n|[\r\n])|[^\r\n]+\Z")
NEEDS_NO_QUOTES = re.compile(r"[\w.:/@+-]+")


class CsvTable(Table):
    """A text table. PyArrow reads it fast; after an error, Python's csv module finds the line.

    By default the delimiter is detected, see `detect_delimiter`.
    """

    text, unit = True, "bytes"
    _checked = False  # whether a pass over the file has found its quotes in order

    def __init__(
        self,
        path: StrPath,
        delimiter: str | None = None,
        numbers: NumberFormat = PLAIN_NUMBERS,
        tuning: Tuning = DEFAULT_TUNING,
    ) -> None:
        self.names: list[str] = []
        self.path, self.delimiter, self.numbers, self.tuning = path, delimiter or ",", numbers, tuning
        with reading(path) as handle:
            first_bytes = handle.read(tuning.text_block)
        try:
            start = codecs.getincrementaldecoder("utf-8-sig")().decode(first_bytes)
            self.delimiter = delimiter or detect_delimiter(start)
            names = next(_records(start, self.delimiter, strict=True), [])
        except (UnicodeDecodeError, csv.Error) as error:
            raise self._explained(error, None) from None
        super().__init__(path, [path], names, os.stat(path).st_size, tuning)

    def batches(self, columns: list[str]) -> Generator[list[Any], None, None]:
        """Yield columns as text.

        PyArrow parses blocks of complete rows from memory, so that none of its threads calls Python.
        """
        block, more, n_header = self.tuning.text_block, True, 1
        self.position = 0
        with reading(self.path) as handle, ThreadPoolExecutor(1) as pool:
            text = handle.read(3).removeprefix(codecs.BOM_UTF8)
            ahead = pool.submit(handle.read, block)
            while more:
                more = bool(new := ahead.result())
                text = text + new if n_header == 0 else (text + new).lstrip(b"\r\n")
                self.position = handle.tell()
                ahead = pool.submit(handle.read, block)
                cut = self._cut(text) if more else len(text.rstrip(b"\r\n"))
                try:
                    try:
                        rows = self._parsed(memoryview(text)[:cut], columns)
                    except arrow().ArrowInvalid:
                        if not more:
                            raise
                        cut = self._cut(self._without_quoted(text))
                        rows = self._parsed(memoryview(text)[:cut], columns)
                    if len(text) - cut > block:
                        raise arrow().ArrowInvalid("a row is too long")
                    self._check_quotes(text, cut)
                except arrow().ArrowInvalid as error:
                    raise self._explained(error, len(self.names)) from None
                text = text[cut:]
                if rows.num_rows > n_header:
                    yield [column.chunk(0)[n_header:] for column in rows.columns]
                n_header -= min(n_header, rows.num_rows)
        self._checked = True

    def _parsed(self, text: memoryview, columns: list[str]) -> Any:
        """Parse complete rows; text that ends within quotes is an `ArrowInvalid`."""
        pa, pc = arrow(), arrow("pyarrow.csv")
        numbers = list(map(str, range(len(self.names))))  # names may repeat, numbers do not
        wanted = [str(self.places[name][0]) for name in columns]
        single = len(numbers) == 1  # then a blank line is a row, with a missing value
        # PyArrow accepts text that ends within quotes. If it does, this last row is not found.
        end = token_hex(8)
        last_row = self.delimiter.join(map(dict.fromkeys(wanted, end).get, numbers, repeat("")))
        # A line end comes first, because PyArrow drops a byte order mark at the start.
        first = b"" if single and (not len(text) or text[0] in b"\r\n") else b"\n"
        parts = (first, text, f"\n{last_row}\n".encode())
        buffer = pa.allocate_buffer(sum(map(len, parts)))  # no thread has to release memory of Python
        view, start = memoryview(buffer).cast("B"), 0
        for part in parts:
            view[start : start + len(part)] = part
            start += len(part)
        rows = pc.open_csv(  # `read_csv` sets a signal handler of its own, which sometimes loses a Ctrl-C
            pa.BufferReader(buffer),
            pc.ReadOptions(column_names=numbers, block_size=buffer.size, use_threads=False),
            pc.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, ignore_empty_lines=not single),
            pc.ConvertOptions(
                include_columns=list(dict.fromkeys(wanted)),
                column_types=dict.fromkeys(wanted, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        ).read_all()
        if rows.column(0)[-1].as_py() != end:
            raise pa.ArrowInvalid("it ends within quotes")
        return rows.slice(int(single), rows.num_rows - 1 - int(single)).select(wanted)

    def _check_quotes(self, text: bytes, end: int) -> None:
        """Raise an `ArrowInvalid` if text follows a closing quote, which PyArrow would join."""
        if not self._checked and b'"' in text:
            around = rb"[\r\n" + re.escape(self.delimiter).encode() + b"]"
            quoted = rb'(?:\A|(?<=%b))"[^"]*+(?:""[^"]*+)*+"(?=%b|\Z)' % (around, around)
            good = re.compile(rb'(?:[^"]++|%b|(?<!%b)(?!\A)")*+' % (quoted, around)).match(text, 0, end)
            if good is None or good.end() < end:
                raise arrow().ArrowInvalid("text follows a closing quote")

    def _cut(self, text: bytes) -> int:
        """Where the last complete row ends; in a single column before its line end and blank lines."""
        cut = 1 + max(text.rfind(b"\n"), text.rfind(b"\r"))
        return cut if len(self.names) > 1 else len(text[:cut].rstrip(b"\r\n"))

    def _without_quoted(self, text: bytes) -> bytes:
        """Replace quoted values, which may contain line ends, by blanks."""
        before = re.escape(self.delimiter).encode()
        quoted = rb"(?:\A|(?<=[\r\n]|" + before + rb'))"(?:[^"]|"")*+"?'
        return re.sub(quoted, lambda found: b" " * len(found[0]), text)

    def fault(self, message: str | InputError, row: int | None = None) -> InputError:
        """Create an error that names the file and the line where the row begins."""
        line = None
        if row is not None:
            with reading(self.path) as handle:
                try:
                    line = next(islice(self._numbered_records(handle, False), row + 1, None), (None,))[0]
                except InputError:  # what PyArrow reads and Python's csv does not, such as a field of 1 MB
                    message = prefixed(f"row {row}, ", message)
        return fault(self.path, message, line)

    def _numbered_records(self, handle: BinaryIO, strict: bool) -> Iterator[tuple[int, list[str]]]:
        """Yield all rows, with the header, and the line where each begins."""
        reader = csv.reader(self._lines(handle), delimiter=self.delimiter, strict=strict)
        line, blank_counts = 1, False  # in a single column, a blank line is a row
        try:
            for record in reader:
                if record or blank_counts:
                    yield line, record
                    blank_counts = len(self.names) == 1
                line = reader.line_num + 1
        except csv.Error as error:
            raise fault(self.path, f"{error}; look for a quote that is not closed", line) from None

    def _lines(self, handle: BinaryIO) -> Iterator[str]:
        number, longest = 0, self.tuning.text_block
        for raw in iter(lambda: handle.readline(longest), b""):
            if len(raw) == longest and not raw.endswith(b"\n"):
                raise fault(self.path, f"the line is longer than {longest >> 20} MB; split it", number + 1)
            try:
                lines = re.split(r"(?<=\n)(?=.)|(?<=\r)(?=[^\n])", raw.decode())
            except UnicodeDecodeError as error:
                message = not_utf8(f"byte {error.start} of the line")
                raise fault(self.path, message, number + 1) from None
            yield from lines
            number += len(lines)

    def _explained(self, error: Exception, width: int | None) -> InputError:
        """Find the line that caused an error, by reading the file again."""
        with reading(self.path) as handle:
            try:
                for line, record in self._numbered_records(handle, strict=True):
                    if width is not None and len(record) != width:
                        message = f"{len(record)} fields, but the header has {width}; make them equal"
                        lines: tuple[Any, ...] = (
                            ", or use ",
                            Argument("format", "lines"),
                            " if each line is a hyperedge",
                        )
                        lines += (f"; {hint}",) if (hint := self.title_hint()) else ()
                        return fault(self.path, InputError(message, *lines), line)
            except InputError as found:
                return found
        why = " ".join(str(error).split())[:200]
        return fault(self.path, f"this is not a text table ({why}); save it again")


def detect_delimiter(text: str) -> str:
    """Detect the delimiter from the first records of a text table.

    It is the character that gives all records the same number of fields, and the most fields; in case of a
    tie a comma. A character is preferred if it leaves commas within decimal numbers only. If no character
    gives equal numbers, the header decides: a comma unless another character separates more columns.
    """
    records: dict[str, list[list[str]]] = {sign: [] for sign in ",;|\t"}
    for sign, found in records.items():
        with suppress(csv.Error):  # the table will explain it
            found.extend(islice(_records(text, sign), SNIFFED_RECORDS))
    counts = {sign: len(found[0]) if found else 0 for sign, found in records.items()}
    even = [sign for sign in counts if counts[sign] > 1 and len(set(map(len, records[sign]))) == 1]
    fields = {sign: [field for record in records[sign][1:] for field in record] for sign in even}
    commas = {sign: [field for field in found if "," in field] for sign, found in fields.items()}
    decimal = [sign for sign in even if commas[sign] and all(map(DECIMAL_COMMA.fullmatch, commas[sign]))]
    if even:
        return max(decimal or even, key=lambda sign: counts[sign])
    return "," if counts[","] > 1 else max(counts, key=lambda sign: counts[sign])


def write_csv(
    handle: BinaryIO, names: list[str], ids: tuple[Ids, Ids], rows: Iterable[IncidenceBlock], delimiter: str
) -> None:
    """Write a long table, given the ids of vertices and hyperedges and blocks of its rows."""
    vertices, edges = (object_array([_quoted(value) for value in some.tolist()]) for some in ids)
    handle.write((delimiter.join(map(_quoted, names)) + "\n").encode())
    for inside, around, weights in rows:
        columns = [vertices[inside], edges[around], *(map(repr, some.tolist()) for some in weights)]
        lines = map(delimiter.join, zip(*columns, strict=True))
        handle.write(("\n".join(lines) + "\n").encode())


def _quoted(value: str | int) -> str:
    text = str(value)
    return text if NEEDS_NO_QUOTES.fullmatch(text) else '"' + text.replace('"', '""') + '"'


def _records(text: str, delimiter: str, strict: bool = False) -> Iterator[list[str]]:
    lines = (found[0] for found in LINE.finditer(text))  # one by one: few are read of a long text
    return filter(None, csv.reader(lines, delimiter=delimiter, strict=strict))
