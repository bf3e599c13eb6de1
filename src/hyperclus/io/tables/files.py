"""Tables in files, batch by batch: text with delimiters, and Parquet.

See `hyperclus.io.tables.encode.Source` for what they share.
"""

import codecs
import csv
import glob
import io
import os
import re
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from secrets import token_hex
from threading import Event
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np

from hyperclus._runtime.files import StrPath, fault, reading, refuse_bomb, refuse_excel
from hyperclus.errors import Argument, InputError, prefixed
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import named, shown
from hyperclus.io.tables.encode import arrow

Decimal: TypeAlias = Literal[".", ","]

BLOCK = 1 << 24  # bytes of text read at once, or more; a row must fit
ROWS = 1 << 16  # of Parquet, read at once, or more
BATCHES = 32  # about as many in a large file, as each costs some work for every id known before
PARQUET = (".parquet", ".pq")
PATIENCE = 0.5  # seconds for a thread that reads ahead to end
RECORDS = 20  # of text, by which it is told what parts the columns
DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?\s*")
OPTIONAL = ("weight", "edge_weight")  # columns that are used where they are there

WHICH_COLUMNS = (
    "name the columns with ",
    Argument("vertex"),
    ", ",
    Argument("edge"),
    " and ",
    Argument("weight"),
)


def other_delimiter(sign: str) -> InputError:
    """What to do if this character separates the columns."""
    return InputError(f"if {shown(sign)} separates the columns, use ", Argument("delimiter", sign))


class _Table:
    """What the two kinds share: named columns, and a stamp by which a change is noticed."""

    text: bool
    unit: str
    place = 0
    decimal: str = "."
    large = False

    def __init__(self, path: StrPath, files: list[StrPath], names: list[str], size: int) -> None:
        self.path, self.files, self.names, self._stamp = path, files, names, _stamp(files)
        self.size = size

    def check_unchanged(self) -> None:
        """Refuse a file that is no longer the one whose header was read."""
        if self._stamp != _stamp(self.files):
            raise fault(self.path, "the file changed while it was read; read it again")

    def column(self, name: Any) -> str:
        """The name, which exactly one column must have."""
        if self.names.count(name) != 1:
            known = named(object_array(self.names), np.ones(len(self.names), dtype=bool), limit=10) or "none"
            count = "more than one column" if name in self.names else "no column"
            raise fault(
                self.path,
                prefixed(
                    f"the table has {count} {shown(name)}; its columns are {known}; ", self._remedy(name)
                ),
            )
        return str(name)

    def near(self, name: Any) -> str:
        """What may be meant by a name that no column has; empty where none is like it."""
        if name in self.names:
            return ""
        parts = str(name).split(",")
        if len(parts) > 1 and set(parts) <= set(self.names):
            return "these are several columns; name each one separately"
        close = {one.lower(): one for one in self.names}
        found = get_close_matches(str(name).lower(), close, 1)
        return f"did you mean {shown(close[found[0]])}?" if found else ""

    def _remedy(self, name: Any) -> str | InputError:
        """What to do about a column that is not there, or more than once."""
        if name in self.names:
            return "rename one of them"
        sign = self.unparted
        if sign is not None:
            return other_delimiter(sign)
        return self.near(name) or InputError(*WHICH_COLUMNS)

    @property
    def unparted(self) -> str | None:
        """What may part the columns of a table that seems to have one; else None."""
        return next((sign for sign in ";|\t," if len(self.names) == 1 and sign in self.names[0]), None)

    def optional_column(self, name: Any, default: str, taken: tuple[Any, ...]) -> str | None:
        """The column that is meant: None is the default where it is there and not taken, False is none."""
        if name is None and default in self.names and default not in taken:
            name = default
        return None if name is None or name is False else self.column(name)


class TextTable(_Table):
    """CSV or TSV. PyArrow reads it fast; Python's csv module looks again to find the line of a fault.

    Attributes
    ----------
    delimiter : str
    decimal : {".", ","}
        Of weights.
    """

    text, unit = True, "bytes"

    def __init__(self, path: StrPath, delimiter: str, decimal: Decimal = ".") -> None:
        self.delimiter, self.decimal, self.path = delimiter, decimal, path
        try:
            header = _start(path)
            names = next(_header(header, delimiter, strict=True), [])
        except (UnicodeDecodeError, csv.Error) as error:
            raise self._explained(error, None) from None
        super().__init__(path, [path], names, os.stat(path).st_size)

    def batches(self, columns: list[str]) -> Generator[list[Any], None, None]:
        """Columns as text; the header is a row like any other, and dropped."""
        pa, pc = arrow(), arrow("pyarrow.csv")
        wanted = [str(self.names.index(name)) for name in columns]
        # A last row of our own tells whether the file ended within quotes.
        end = token_hex(8)
        last = (end if str(place) in wanted else "" for place in range(len(self.names)))
        options = {
            "read_options": pc.ReadOptions(
                column_names=list(map(str, range(len(self.names)))), block_size=BLOCK, use_threads=False
            ),
            "parse_options": pc.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            "convert_options": pc.ConvertOptions(
                include_columns=list(dict.fromkeys(wanted)),
                column_types=dict.fromkeys(wanted, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        }
        header, ended, parsed = 1, False, 0
        self.place = 0
        with reading(self.path) as handle:
            stream = _Ended(handle, f"\n{self.delimiter.join(last)}\n".encode())
            try:
                with closing(pc.open_csv(stream, **options)) as batches:
                    for batch in batches:
                        ended = batch.num_rows > 0 and batch.column(0)[-1].as_py() == end
                        inner = batch.slice(header, max(0, batch.num_rows - header - ended))
                        header -= min(header, batch.num_rows)
                        parsed += BLOCK
                        self.place = max(self.place, stream.place(parsed))
                        yield [inner.column(name) for name in wanted]
            except (pa.ArrowException, UnicodeDecodeError) as error:
                raise self._explained(error, len(self.names)) from None
            finally:
                stream.stop()
        if not ended:
            raise self._explained(None, len(self.names))

    def fault(self, message: str | InputError, row: int | None = None) -> InputError:
        """An error that names the file and the line where the row begins."""
        line = None
        if row is not None:
            with reading(self.path) as handle:
                try:
                    line = next(islice(self._records(handle, strict=False), row + 1, None), (None,))[0]
                except InputError:  # what PyArrow reads and Python's csv does not, such as a field of 1 MB
                    message = prefixed(f"row {row}, ", message)
        return fault(self.path, message, line)

    def _records(self, handle: BinaryIO, strict: bool) -> Iterator[tuple[int, list[str]]]:
        """The rows, header and all, each with the line where it begins."""
        reader = csv.reader(self._lines(handle), delimiter=self.delimiter, strict=strict)
        line = 1
        try:
            for record in reader:
                if record:
                    yield line, record
                line = reader.line_num + 1
        except csv.Error as error:
            raise fault(self.path, f"{error}; look for a quote that is not closed", line) from None

    def _lines(self, handle: BinaryIO) -> Iterator[str]:
        number = 0
        for raw in iter(lambda: handle.readline(BLOCK), b""):
            if len(raw) == BLOCK and not raw.endswith(b"\n"):
                raise fault(self.path, f"the line is longer than {BLOCK >> 20} MB; break it up", number + 1)
            try:
                lines = re.split(r"(?<=\n)(?=.)|(?<=\r)(?=[^\n])", raw.decode())
            except UnicodeDecodeError as error:
                message = f"byte {error.start} of the line is not UTF-8 text; save the file as UTF-8"
                raise fault(self.path, message, number + 1) from None
            yield from lines
            number += len(lines)

    def _explained(self, error: Exception | None, width: int | None) -> InputError:
        """The fault behind an error, by a slow look at the file."""
        refuse_excel(self.path)
        with reading(self.path) as handle:
            try:
                for line, record in self._records(handle, strict=True):
                    if width is not None and len(record) != width:
                        message = f"{len(record)} fields, but the header has {width}; make them equal"
                        return fault(self.path, message, line)
            except InputError as found:
                return found
        why = "it ends within quotes" if error is None else " ".join(str(error).split())[:200]
        return fault(self.path, f"this is no table of text ({why}); save it anew")


def told_delimiter(path: StrPath) -> str:
    r"""What parts the columns of text, by its first records.

    The sign that gives all of them the same number of fields, and the most; a comma if in doubt, but not
    where another sign leaves commas within decimal numbers only. If no sign does, the header alone tells: a
    comma, unless it has one column with it and more without.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "wine.csv")
    >>> _ = path.write_text('"acid, fixed";"pH"\n7,4;3,51\n')
    >>> told_delimiter(path)
    ';'
    """
    try:
        text = _start(path)
    except UnicodeDecodeError:  # which the table will explain
        return ","
    records = {sign: _first_records(text, sign) for sign in ",;|\t"}
    counts = {sign: len(found[0]) if found else 0 for sign, found in records.items()}
    even = [sign for sign in counts if counts[sign] > 1 and len(set(map(len, records[sign]))) == 1]
    decimal = [sign for sign in even if _has_decimal_commas(records[sign])]
    if even:
        return max(decimal or even, key=lambda sign: counts[sign])
    return "," if counts[","] > 1 else max(counts, key=lambda sign: counts[sign])


def _first_records(text: str, delimiter: str) -> list[list[str]]:
    """The header and a few rows; fewer where one cannot be read, which the table will explain."""
    records: list[list[str]] = []
    with suppress(csv.Error):
        records.extend(islice(_header(text, delimiter), RECORDS))
    return records


def _has_decimal_commas(records: list[list[str]]) -> bool:
    """Whether there are commas within the fields below the header, and only as decimal signs."""
    fields = [field for record in records[1:] for field in record if "," in field]
    return bool(fields) and all(map(DECIMAL_COMMA.fullmatch, fields))


def _start(path: StrPath) -> str:
    with reading(path) as handle:
        start = handle.read(BLOCK)
    return codecs.getincrementaldecoder("utf-8-sig")().decode(start)


def _header(text: str, delimiter: str, strict: bool = False) -> Iterator[list[str]]:
    """The first row that is not empty, and those after it."""
    return filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict))


class _Ended:
    """A file with a few bytes more at its end.

    PyArrow reads ahead on a thread of its own. That thread must not be left calling Python when the
    process ends, which would then hang; so `stop` ends the file and waits until the thread has seen it.
    """

    closed = False

    def __init__(self, handle: BinaryIO, end: bytes) -> None:
        self._handle, self._end = handle, end
        self._stopped, self._over = False, Event()
        self._packed = getattr(handle, "fileobj", handle)  # of gzipped data, the file itself
        self._taken, self._given = 0, 0

    def read(self, size: int) -> bytes:
        """Some bytes; none at the end."""
        data = b"" if self._stopped else self._handle.read(size)
        if data:
            self._taken, self._given = self._packed.tell(), self._given + len(data)
        elif not self._stopped:
            data, self._end = self._end, b""
        if not data:
            self._over.set()
        return data

    def place(self, parsed: int) -> int:
        """About how many bytes of the file make up the first `parsed` ones given; the reader is far ahead."""
        return int(self._taken * min(parsed / max(self._given, 1), 1.0))

    def stop(self) -> None:
        """No more bytes; returns when the reader knows, or has been idle for a while."""
        self._stopped = True
        self._over.wait(PATIENCE)


class ParquetTable(_Table):
    """A Parquet file, or several that make one table."""

    text, unit = False, "rows"

    def __init__(self, path: StrPath) -> None:
        files: list[StrPath] = [path]
        if os.path.isdir(path):
            files = [file for file in sorted(Path(path).iterdir()) if file.suffix in PARQUET]
        elif not os.path.exists(path) and glob.has_magic(os.fspath(path)):
            files = [*sorted(glob.glob(os.fspath(path)))]
        if not files:
            raise fault(path, "there are no Parquet files; check the name")
        self._first_rows = [0]
        names = []
        for file in files:
            with reading(file) as handle:
                found, rows = self._look(file, handle)
            names.append(found)
            self._first_rows.append(self._first_rows[-1] + rows)
            odd = [name for name in OPTIONAL if (name in found) != (name in names[0])]
            if odd:
                raise fault(file, f"some files have a column {shown(odd[0])} and others not; make them alike")
        super().__init__(path, files, names[0], self._first_rows[-1])

    def batches(self, columns: list[str]) -> Generator[list[Any], None, None]:
        """Columns of the types they have in the files."""
        self.place, self.large = 0, False
        for file in self.files:
            with reading(file) as handle:
                opened = _opened(file, handle)
                missing = [name for name in columns if opened.schema_arrow.names.count(name) != 1]
                if missing:
                    raise fault(file, f"the table needs one column {shown(missing[0])}, as other files have")
                yield from self._batches_of(file, opened, columns)

    def _batches_of(self, file: StrPath, opened: Any, columns: list[str]) -> Generator[list[Any], None, None]:
        """Large batches of text; small ones of numbers, which are faster, joined once `large` is set."""
        large = max(ROWS, self.size // BATCHES)
        numbers = all(_is_number(opened.schema_arrow.field(name).type) for name in columns)
        wanted = list(dict.fromkeys(columns))
        batches = opened.iter_batches(ROWS if numbers else large, columns=wanted, use_threads=False)
        held: list[Any] = []
        while (batch := _next(file, batches)) is not None:
            self.place += batch.num_rows
            held.append(batch)
            del batch
            if not (numbers and self.large) or sum(map(len, held)) >= large:
                joined, held = _joined(held, columns), []
                yield joined
        if held:
            yield _joined(held, columns)

    def fault(self, message: str | InputError, row: int | None = None) -> InputError:
        """An error that names the file of a row, and the row within it, from 0."""
        if row is None:
            return fault(self.path, message)
        number = int(np.searchsorted(self._first_rows, row, side="right")) - 1
        number = min(number, len(self.files) - 1)
        return fault(self.files[number], prefixed(f"row {row - self._first_rows[number]}, ", message))

    def _look(self, file: StrPath, handle: BinaryIO) -> tuple[list[str], int]:
        """The names of the columns and the number of rows."""
        opened = _opened(file, handle)
        meta = opened.metadata
        groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
        size = max(12 * meta.num_rows, sum(group.total_byte_size for group in groups))
        refuse_bomb(file, handle.seek(0, io.SEEK_END), size)
        return list(opened.schema_arrow.names), meta.num_rows


TableFile: TypeAlias = TextTable | ParquetTable


def _opened(file: StrPath, handle: BinaryIO) -> Any:
    parquet = arrow("pyarrow.parquet")
    with _sound(file):
        settings = {"pre_buffer": False, "buffer_size": 1 << 16, "page_checksum_verification": True}
        schema = parquet.ParquetFile(handle, **settings).schema_arrow
        text = [field.name for field in schema if arrow().types.is_string(field.type)]
        return parquet.ParquetFile(handle, read_dictionary=text, **settings)  # repeated text is kept once


def _next(file: StrPath, batches: Iterator[Any]) -> Any:
    with _sound(file):
        batch = next(batches, None)
        if batch is not None:
            batch.validate(full=True)
        return batch


def _joined(batches: list[Any], columns: list[str]) -> list[Any]:
    """Columns of batches that follow one another."""
    if len(batches) == 1:
        return [batches[0].column(name) for name in columns]
    return [arrow().concat_arrays([batch.column(name) for batch in batches]) for name in columns]


def _is_number(kind: Any) -> bool:
    types = arrow().types
    checks = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(check(kind) for check in checks)


@contextmanager
def _sound(file: StrPath) -> Iterator[None]:
    """Turns what PyArrow says of a damaged file into an error that names it."""
    pa = arrow()
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        why = shown(" ".join(str(error).split()))
        raise fault(file, f"the Parquet data are damaged ({why}); make the file anew") from None


def _stamp(files: list[StrPath]) -> list[tuple[int, int, int]]:
    """Changes when a file does."""
    stats = [os.stat(file) for file in files]
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]
