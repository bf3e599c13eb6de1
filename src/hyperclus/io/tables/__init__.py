"""Tables in files: one row per incidence (`long`) or one row per vertex (`wide`)."""

import os
import re
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from hyperclus._runtime.files import StrPath, fault, reading
from hyperclus.errors import Argument, InputError, check_choice
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables import parquet
from hyperclus.io.tables.csv import CsvTable
from hyperclus.io.tables.table import DEFAULT_TUNING, PLAIN_NUMBERS, NumberFormat, Table, Tuning

TableFormat: TypeAlias = Literal["csv", "tsv", "parquet"]

SNIFFED_BYTES = 4096  # used to detect the format


def open_table(
    path: StrPath,
    format: TableFormat | None = None,  # noqa: A002
    delimiter: str | None = None,
    numbers: NumberFormat = PLAIN_NUMBERS,
    tuning: Tuning = DEFAULT_TUNING,
) -> Table:
    """Open a table and read its header; the format is given, or follows from the name or the content."""
    allowed = r'[^"\r\n\0\x80-\U0010ffff]'
    if delimiter is not None and not (isinstance(delimiter, str) and re.fullmatch(allowed, delimiter)):
        message = f" must be one ASCII character, no quote or line end; got {shown(delimiter)}"
        raise InputError(Argument("delimiter"), message)
    kind = format_of(path, format)
    if kind is None:
        with reading(path) as content:
            start = content.read(SNIFFED_BYTES)
        kind = "tsv" if b"\t" in start.split(b"\n")[0] else "csv"
        kind = "parquet" if start.startswith(b"PAR1") else kind
    if kind == "parquet":
        if delimiter is not None or numbers != PLAIN_NUMBERS:
            name = "thousands" if numbers.thousands else "delimiter" if delimiter is not None else "decimal"
            raise fault(path, InputError(Argument(name), " is for text, and this is Parquet; leave it out"))
        return parquet.ParquetTable(path, tuning)
    return CsvTable(path, delimiter or ("\t" if kind == "tsv" else None), numbers, tuning)


def format_of(path: StrPath, format: TableFormat | None = None) -> TableFormat | None:  # noqa: A002
    """Return the given format, or the one that follows from the name; None if the ending is unknown."""
    if format is not None:
        check_choice("format", format, get_args(TableFormat))
        return format
    name = Path(path).name.lower().removesuffix(".gz")
    if name.endswith(parquet.SUFFIXES) or os.path.isdir(path):
        return "parquet"
    return "csv" if name.endswith(".csv") else "tsv" if name.endswith(".tsv") else None
