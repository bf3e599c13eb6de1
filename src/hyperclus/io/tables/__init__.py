"""Tables in files: one row per incidence (`long`) or one row per vertex (`wide`)."""

import os
import re
from typing import Literal, TypeAlias, get_args

from hyperclus._runtime.files import StrPath, fault, plain_name
from hyperclus._runtime.source import is_excel, reading
from hyperclus.errors import Argument, InputError, check_choice
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables import excel, parquet, records
from hyperclus.io.tables.csv import CsvTable
from hyperclus.io.tables.table import DEFAULT_TUNING, PLAIN_NUMBERS, NumberFormat, Table, Tuning

TableFormat: TypeAlias = Literal["csv", "tsv", "parquet", "records", "excel"]

SNIFFED_BYTES = 4096  # used to detect the format
TITLES = {"parquet": "Parquet", "records": "JSON", "excel": "Excel"}  # of formats that have types


def open_table(
    path: StrPath,
    format: TableFormat | None = None,  # noqa: A002
    delimiter: str | None = None,
    numbers: NumberFormat = PLAIN_NUMBERS,
    tuning: Tuning = DEFAULT_TUNING,
    sheet: str | None = None,
) -> Table:
    """Open a table and read its header; the format is given, or follows from the name or the content."""
    allowed = r'[^"\r\n\0\x80-\U0010ffff]'
    if delimiter is not None and not (isinstance(delimiter, str) and re.fullmatch(allowed, delimiter)):
        message = f" must be one ASCII character, no quote or line end; got {shown(delimiter)}"
        raise InputError(Argument("delimiter"), message)
    kind = format_of(path, format) or _by_content(path)
    if kind in TITLES and (delimiter is not None or numbers != PLAIN_NUMBERS):
        name = "thousands" if numbers.thousands else "delimiter" if delimiter is not None else "decimal"
        wrong = f" is for text, and this is {TITLES[kind]}; leave it out"
        raise fault(path, InputError(Argument(name), wrong))
    if sheet is not None and kind != "excel":
        raise fault(path, InputError(Argument("sheet"), f" is for Excel, and this is {kind}; leave it out"))
    if kind == "parquet":
        return parquet.ParquetTable(path, tuning)
    if kind == "records":
        return records.RecordsTable(path)
    if kind == "excel":
        return excel.ExcelTable(path, sheet)
    return CsvTable(path, delimiter or ("\t" if kind == "tsv" else None), numbers, tuning)


def format_of(path: StrPath, format: TableFormat | None = None) -> TableFormat | None:  # noqa: A002
    """Return the given format, or the one that follows from the name; None if the ending is unknown."""
    if format is not None:
        check_choice("format", format, get_args(TableFormat))
        return format
    name = plain_name(path)
    if name.endswith(parquet.SUFFIXES) or os.path.isdir(path):
        return "parquet"
    if name.endswith(excel.SUFFIXES):
        return "excel"
    if name.endswith((*records.SUFFIXES, ".json")):
        return "records"
    return "csv" if name.endswith(".csv") else "tsv" if name.endswith(".tsv") else None


def _by_content(path: StrPath) -> TableFormat:
    if is_excel(path):
        return "excel"
    with reading(path) as content:
        start = content.read(SNIFFED_BYTES)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.lstrip()[:1] in (b"[", b"{"):
        return "records"
    return "tsv" if b"\t" in start.split(b"\n")[0] else "csv"
