"""Tables in sheets of Excel workbooks (.xlsx)."""

import io
import zipfile
from collections.abc import Iterable
from typing import Any, BinaryIO

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.optional import library
from hyperclus._runtime.source import reading, refuse_bomb, refuse_foreign
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.messages import first_few, shown
from hyperclus.io.tables.memory import MemoryTable

SUFFIXES = (".xlsx", ".xlsm")
EMPTY = (None, "")  # cells without a value
MAX_ROWS = 1 << 20  # of a sheet of Excel
ERRORS = ("#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!")


class ExcelTable(MemoryTable):
    """A sheet whose first row with a value names the columns; formulas count with their stored results."""

    def __init__(self, path: StrPath, sheet: str | None = None) -> None:
        rows = _rows(path, sheet)
        self._first = next((number for number, row in enumerate(rows) if row), -1)
        if self._first < 0:
            raise fault(path, InputError("the sheet is empty; choose another one with ", Argument("sheet")))
        header, body = rows[self._first], rows[self._first + 1 :]
        while body and not body[-1]:
            body.pop()
        width = max(map(len, [header, *body]))
        names = ["" if one is None else str(one) for one in header[:width]]
        self._body, n_filled = body, sum(one not in EMPTY for row in body for one in row)
        super().__init__(path, names + [""] * (width - len(names)), len(body), n_filled)

    def values(self, name: str) -> list[Any]:
        """Return a column; numbers without decimals are integers, because Excel has one type of numbers."""
        place = self.places[name][0]
        cells = (row[place] if place < len(row) else None for row in self._body)
        values = [None if one == "" else one for one in cells]
        wrong = next((row for row, one in enumerate(values) if isinstance(one, str) and one in ERRORS), None)
        if wrong is not None:
            problem = f"column {shown(name)}: the cell holds the error {values[wrong]}"
            raise self.fault(f"{problem}; correct it in Excel", wrong)
        numbers = [one for one in values if isinstance(one, float)]
        if numbers and all(one.is_integer() for one in numbers):
            return [int(one) if isinstance(one, float) else one for one in values]
        return values

    def place(self, row: int) -> str:
        """Return the row as Excel numbers it."""
        return f"row {self._first + row + 2}"


def _rows(path: StrPath, sheet: str | None) -> list[tuple[Any, ...]]:
    """Read the cells of a sheet, by default the only one; rows end with their last value."""
    openpyxl = library("openpyxl", "openpyxl", "reading Excel", "excel")
    with reading(path, raw=True) as file:
        refuse_foreign(path, file.read(16))
        refuse_bomb(path, *_sizes(file))
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            names = book.sheetnames
            if sheet is None and len(names) > 1:
                which = f"the workbook has the sheets {first_few(names, 10)}; choose one with "
                raise fault(path, InputError(which, Argument("sheet")))
            if sheet is not None and sheet not in names:
                raise fault(path, f"there is no sheet {shown(sheet)}; the sheets are {first_few(names, 10)}")
            return _trimmed(book[sheet or names[0]].iter_rows(values_only=True))
        except (InputError, MemoryError):
            raise
        except Exception:  # of many types, by openpyxl and the XML parser
            raise fault(path, "this is not a sound Excel file (.xlsx); save it again") from None


def _sizes(file: BinaryIO) -> tuple[int, int]:
    """Return the packed and the unpacked size of a workbook; a file that is no archive has only one."""
    size = file.seek(0, io.SEEK_END)
    try:
        unpacked = sum(part.file_size for part in zipfile.ZipFile(file).infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError):
        unpacked = size
    file.seek(0)
    return size, unpacked


def _trimmed(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Remove empty cells at the ends of rows; more rows than a sheet can have are a `ValueError`."""
    found = []
    for row in rows:
        filled = next((place for place in range(len(row), 0, -1) if row[place - 1] not in EMPTY), 0)
        found.append(row[:filled])
        if len(found) > MAX_ROWS:
            raise ValueError
    return found
