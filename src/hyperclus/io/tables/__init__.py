"""Tables in files: one row per incidence (`long`) or one row per vertex (`wide`)."""

import os
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from hyperclus._runtime.files import StrPath, fault, reading
from hyperclus.errors import Argument, InputError, check_choice
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables import parquet
from hyperclus.io.tables.csv import CsvTable
from hyperclus.io.tables.table import DEFAULT_TUNING, DecimalSign, Table, Tuning

TableFormat: TypeAlias = Literal["csv", "tsv", "parquet"]

SNIFFED_BYTES = 4096  # used to detect the format


def open_table(
    path: StrPath,
    format: TableFormat | None = None,  # noqa: A002
    delimiter: str | None = None,
    decimal: DecimalSign = ".",
    tuning: Tuning = DEFAULT_TUNING,
) -> Table:
    """Open a table and read its header; the format is given, or follows from the name."""
    if delimiter is not None and not (
        isinstance(delimiter, str)
        and len(delimiter) == 1
        and delimiter.isascii()
        and delimiter not in '"\r\n\0'
    ):
        raise InputError(
            Argument("delimiter"),
            f" must be one ASCII character, no quote or line end; got {shown(delimiter)}",
        )
    kind = format_of(path, format)
    if kind == "parquet":
        return parquet.ParquetTable(path, tuning)
    if kind is None and delimiter is None:
        raise unknown_format(path)
    return CsvTable(path, delimiter or ("\t" if kind == "tsv" else None), decimal, tuning)


def sniff_table(
    path: StrPath,
    format: TableFormat | None = None,  # noqa: A002
    delimiter: str | None = None,
) -> Table:
    """Open a table; if the ending of its name is unknown, detect the format from the content."""
    kind = format_of(path, format)
    if kind is None:
        with reading(path) as content:
            start = content.read(SNIFFED_BYTES)
        kind = "tsv" if b"\t" in start.split(b"\n")[0] else "csv"
        kind = "parquet" if start.startswith(b"PAR1") else kind
    return open_table(path, kind, delimiter)


def format_of(path: StrPath, format: TableFormat | None = None) -> TableFormat | None:  # noqa: A002
    """Return the given format, or the one that follows from the name; None if the ending is unknown."""
    if format is not None:
        check_choice("format", format, get_args(TableFormat))
        return format
    name = Path(path).name.lower().removesuffix(".gz")
    if name.endswith(parquet.SUFFIXES) or os.path.isdir(path):
        return "parquet"
    return "csv" if name.endswith(".csv") else "tsv" if name.endswith(".tsv") else None


def unknown_format(path: StrPath) -> InputError:
    """Create the error for a name with an unknown ending."""
    endings = "the name must end with .csv, .tsv, .csv.gz, .tsv.gz or .parquet; or use "
    return fault(path, InputError(endings, Argument("format")))
