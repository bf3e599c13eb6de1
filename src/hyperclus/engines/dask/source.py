"""Parquet files on a shared disk or in an object store: listing, footers, and reading rows in pieces.

A piece is a range of rows of one file, small enough for any worker. The client sees names, sizes and footers,
never a row.
"""

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.optional import arrow
from hyperclus._runtime.source import reading
from hyperclus.errors import InputError, prefixed
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.long import LongColumns
from hyperclus.io.tables.parquet import (
    folder_files,
    in_subfolder,
    is_data,
    is_small,
    next_batch,
    open_parquet,
    parquet_errors,
)
from hyperclus.io.tables.table import DEFAULT_TUNING, Header, NumberFormat
from hyperclus.typing import DuplicatePolicy

Source: TypeAlias = StrPath | Sequence[StrPath]


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Which columns to use, and what to do with repeated incidences; see `hyperclus.read`."""

    vertex: str = "vertex"
    edge: str = "edge"
    weight: str | Literal[False] | None = None
    edge_weight: str | Literal[False] | None = None
    duplicates: DuplicatePolicy = "error"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """An input file: name for messages, absolute path or URI, bytes, and modification time in ns."""

    name: str
    path: str
    size: int
    modified: int

    text, numbers = False, NumberFormat()  # how `io.tables` reads weights

    def fault(self, message: str | InputError, row: int | None = None) -> InputError:
        """Create an error that names the file and, if known, the row (from 0)."""
        return fault(self.name, message if row is None else prefixed(f"row {row}, ", message))


class Footer(NamedTuple):
    """Metadata of one Parquet file; the last three are tuples for vertices and hyperedges, or row groups."""

    columns: LongColumns
    types: tuple[Any, ...]  # Arrow types of the ids
    rows: tuple[int, ...]
    sizes: tuple[int, ...]  # uncompressed bytes


class Piece(NamedTuple):
    """Some rows of a file."""

    file: SourceFile
    first: int
    n_rows: int


def column_names(columns: LongColumns) -> list[str]:
    """Return the names of all columns that are read, each once."""
    return list(dict.fromkeys(name for name in astuple(columns) if name is not None))


def describe(source: Source) -> str:
    paths = _paths(source)
    return os.fspath(paths[0]) + (", ..." if len(paths) > 1 else "")


def _paths(source: Source) -> Sequence[StrPath]:
    return [source] if isinstance(source, str | os.PathLike) else source


def list_files(source: Source) -> list[SourceFile]:
    """List the input files, sorted by name within each folder or pattern."""
    paths = _paths(source)
    if not (
        isinstance(paths, Sequence)
        and paths
        and all(isinstance(p, str | os.PathLike) and os.fspath(p) for p in paths)
    ):
        raise InputError(
            f"source must be the name of a Parquet file, or a list of names; got {shown(source)}"
        )
    files = [file for path in paths for file in _list(os.fspath(path))]
    repeated = [path for path, times in Counter(file.path for file in files).items() if times > 1]
    if repeated:
        raise fault(repeated[0], "the file is listed more than once; list it once")
    return files


def check_unchanged(before: list[SourceFile], after: list[SourceFile]) -> None:
    """Raise an `InputError` if files were added, removed or changed."""
    old, new = ({file.path: file for file in files} for files in (before, after))
    for file in [*after, *before]:
        if old.get(file.path) != new.get(file.path):
            what = "added" if file.path not in old else "removed" if file.path not in new else "changed"
            raise file.fault(f"the file was {what} while the data were prepared; run the same command again")


def read_footers(files: list[SourceFile], options: TableOptions) -> list[Footer]:
    return [_footer(file, options) for file in files]


def check_footers(files: list[SourceFile], footers: list[Footer], source: Source) -> LongColumns:
    """Check that all files have the same columns and that there are rows; return the columns."""
    first = footers[0].columns
    for file, footer in zip(files, footers, strict=True):
        for name in ("weight", "edge_weight"):
            here, there = getattr(footer.columns, name), getattr(first, name)
            if here != there:
                column = shown(here or there)
                raise file.fault(f"some files have a column {column} and others do not; make them alike")
    if not any(sum(footer.rows) for footer in footers):
        raise fault(
            describe(source), "the table has no rows; a hypergraph needs at least one vertex in one hyperedge"
        )
    return first


def split(file: SourceFile, footer: Footer, max_rows: int, max_bytes: int) -> Iterator[Piece]:
    """Split a file into pieces with limited rows and uncompressed bytes: row groups, or parts of one."""
    first = rows = size = 0
    for n_rows, n_bytes in zip(footer.rows, footer.sizes, strict=True):
        if rows and (rows + n_rows > max_rows or size + n_bytes > max_bytes):
            yield Piece(file, first, rows)
            first, rows, size = first + rows, 0, 0
        rows, size = rows + n_rows, size + n_bytes
        limit = max(min(max_rows, n_rows * max_bytes // max(n_bytes, 1)), 1)
        while rows > limit:
            yield Piece(file, first, limit)
            first, rows, size = first + limit, rows - limit, size * (rows - limit) // rows
    if rows:
        yield Piece(file, first, rows)


def read_batches(piece: Piece, columns: LongColumns) -> Iterator[tuple[int, Any]]:
    """Yield the record batches of a piece, each with the number of its first row in the file."""
    file, row, end, names = piece.file, piece.first, piece.first + piece.n_rows, column_names(columns)
    with open_file(file) as handle:
        parquet = open_parquet(file.name, handle)
        numeric = all(is_small(parquet.schema_arrow.field(name).type) for name in names)
        size = min(DEFAULT_TUNING.rows, piece.n_rows) if numeric else piece.n_rows  # small ones save memory
        meta = parquet.metadata
        ends = np.cumsum([0] + [meta.row_group(number).num_rows for number in range(meta.num_row_groups)])
        start, stop = np.searchsorted(ends, row, "right") - 1, np.searchsorted(ends, end)
        groups = range(int(start), min(int(stop), meta.num_row_groups))
        batches = parquet.iter_batches(size, row_groups=groups, columns=names, use_threads=False)
        skip = row - int(ends[start])
        while row < end and (batch := next_batch(file.name, batches)) is not None:
            wanted = batch.slice(min(skip, len(batch)), end - row)
            skip -= min(skip, len(batch))
            if len(wanted):
                yield row, wanted
            row += len(wanted)
            del batch, wanted
    if row != end:
        raise file.fault("the file changed while it was read; read it again")


@contextmanager
def open_file(file: SourceFile) -> Iterator[Any]:
    if not is_uri(file.path):
        with reading(file.path) as handle:
            yield handle
        return
    with parquet_errors(file.name):
        system, path = arrow("pyarrow.fs").FileSystem.from_uri(file.path)
        handle = system.open_input_file(path)
    with handle:
        yield handle


def is_uri(path: str) -> bool:
    """Whether a name has a scheme, such as s3://."""
    return "://" in path


def _footer(file: SourceFile, options: TableOptions) -> Footer:
    with open_file(file) as handle:
        parquet = open_parquet(file.name, handle)
        meta, schema = parquet.metadata, parquet.schema_arrow
        groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    columns = LongColumns.of(Header(file.name, schema.names), *astuple(options)[:4])
    names = column_names(columns)
    leaves = [meta.schema.column(number).path for number in range(meta.num_columns)]
    wanted = [number for number, path in enumerate(leaves) if path.split(".")[0] in names]
    types = tuple(schema.field(name).type for name in (columns.vertex, columns.edge))
    sizes = (sum(group.column(number).total_uncompressed_size for number in wanted) for group in groups)
    return Footer(columns, types, tuple(group.num_rows for group in groups), tuple(sizes))


def _list(path: str) -> list[SourceFile]:
    """List the files of a path or URI: a file, a folder, or a pattern whose stars match within one folder."""
    fs, local = arrow("pyarrow.fs"), not is_uri(path)
    parts = (path.replace(os.sep, "/") if local else path).split("/")
    magic = [number for number, part in enumerate(parts) if glob.has_magic(part)]
    fixed = magic[0] if magic and not os.path.exists(path) else len(parts)
    base, pattern = "/".join(parts[:fixed]), parts[fixed:]
    try:
        system, folder = fs.FileSystem.from_uri(os.path.abspath(base) if local else base)
        info = system.get_file_info(folder)
        infos = [] if pattern else [info]
        if info.type == fs.FileType.Directory:
            deep = len(pattern) > 1 or not (pattern or local)
            infos = system.get_file_info(fs.FileSelector(folder, recursive=deep))
    except (arrow().ArrowException, OSError, ValueError) as error:
        raise fault(path, f"the location cannot be read: {' '.join(str(error).split())[:200]}") from None
    if info.type == fs.FileType.NotFound and not pattern:
        raise fault(path, "there is no such file")
    if local and not pattern and info.type == fs.FileType.Directory:
        folder_files(path)  # refuses what would be left out
    found = []
    for info in infos:
        inside = info.path[len(folder) :].strip("/").split("/") if info.path != folder else []
        matches = not any(part.startswith((".", "_")) for part in inside)
        matches &= not inside or is_data(inside[-1])
        if matches and len(inside) > 1 and not pattern:
            raise fault("/".join([base.rstrip("/"), *inside]), in_subfolder(path))
        if pattern:
            matches = len(inside) == len(pattern) and all(map(fnmatchcase, inside, pattern))
        if info.type == fs.FileType.File and matches:
            name = "/".join([base.rstrip("/"), *inside] if base else inside)
            found.append(SourceFile(name, info.path if local else name, info.size, info.mtime_ns or 0))
    if not found:
        raise fault(path, "there are no Parquet files; check the name")
    return sorted(found, key=lambda file: file.name)
