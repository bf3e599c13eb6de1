"""Parquet files here or in a store of objects: which there are, what their footers say, and pieces of them.

A piece is some rows of one file, few enough for any worker. The client sees names and sizes, and what
workers report of the footers.
"""

import glob
import io
import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias

from hyperclus._runtime.files import StrPath, fault, reading
from hyperclus._runtime.optional import arrow
from hyperclus.errors import InputError
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.long import LongColumns
from hyperclus.io.tables.parquet import (
    SUFFIXES,
    ParquetTable,
    is_small,
    next_batch,
    open_parquet,
    parquet_errors,
    read_footer,
)
from hyperclus.io.tables.table import DEFAULT_TUNING

Source: TypeAlias = StrPath | Sequence[StrPath]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the input.

    Attributes
    ----------
    name : str
        As messages show it.
    place : str
        Where a worker finds it: an absolute path, or a URI.
    size, changed : int
        Bytes, and when it was last changed, in nanoseconds.
    """

    name: str
    place: str
    size: int
    changed: int


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns that are used; None where there is none."""

    vertex: str
    edge: str
    weight: str | None
    edge_weight: str | None

    @property
    def wanted(self) -> list[str]:
        """The names, each once."""
        names = (self.vertex, self.edge, self.weight, self.edge_weight)
        return list(dict.fromkeys(name for name in names if name is not None))


@dataclass(frozen=True, slots=True, eq=False)
class Footer:
    """What the footer of a file says.

    Attributes
    ----------
    columns : Columns
    kinds : pair of Arrow types
        Of vertices and hyperedges.
    rows, sizes : tuples of int
        Of each row group: how many rows, and how many bytes its columns take unpacked.
    """

    columns: Columns
    kinds: tuple[Any, Any]
    rows: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one file: `n_rows` of them after the first `skipped` of some row groups.

    `first` is the row of the file that is the first of the piece.
    """

    name: str
    place: str
    groups: tuple[int, int]
    skipped: int
    n_rows: int
    first: int


class OneFile(ParquetTable):
    """A file of which the footer, or nothing yet, has been read: the columns it has, and its faults."""

    def __init__(self, name: str, names: list[str]) -> None:
        self.path, self.files, self.names = name, [name], names
        self._first_rows = [0]

    def look(self, handle: Any) -> int:
        """Read the footer: the names of the columns; returns the number of rows."""
        self.names, rows = read_footer(self.path, handle)
        return rows


def described(source: Source) -> str:
    """The input in a message."""
    places = [source] if isinstance(source, str | os.PathLike) else source
    return os.fspath(places[0]) + (", ..." if len(places) > 1 else "")


def listed(source: Source) -> list[SourceFile]:
    """The files there are now, by name in each folder or pattern."""
    places = [source] if isinstance(source, str | os.PathLike) else source
    if not (
        isinstance(places, Sequence) and places and all(isinstance(p, str | os.PathLike) for p in places)
    ):
        raise InputError(f"the names of Parquet files are needed, one or a list of them; got {shown(source)}")
    files = [file for place in places for file in _files(os.fspath(place))]
    again = [name for name, times in Counter(file.place for file in files).items() if times > 1]
    if again:
        raise fault(again[0], "the file is named more than once; name it once")
    return files


def check_unchanged(before: list[SourceFile], after: list[SourceFile]) -> None:
    """Refuse files that were added, removed or changed."""
    known, now = ({file.place: file for file in files} for files in (before, after))
    for file in [*after, *before]:
        old, new = known.get(file.place), now.get(file.place)
        if old != new:
            what = "added" if old is None else "removed" if new is None else "changed"
            raise fault(
                file.name, f"the file was {what} while the data were prepared; give the same command again"
            )


def footers(files: list[SourceFile], chosen: tuple[Any, Any, Any, Any]) -> list[Footer]:
    """The footers of some files; `chosen` are the columns asked for, as `read_long` takes them."""
    return [_footer(file, *chosen) for file in files]


def pieces_of(file: SourceFile, footer: Footer, most_rows: int, most_bytes: int) -> Iterator[Piece]:
    """A file in pieces of so many rows and unpacked bytes at most: row groups, or parts of large ones."""
    first = start = rows = size = 0
    for group, (n_rows, n_bytes) in enumerate(zip(footer.rows, footer.sizes, strict=True)):
        if rows and (rows + n_rows > most_rows or size + n_bytes > most_bytes):
            yield Piece(file.name, file.place, (start, group), 0, rows, first)
            first, start, rows, size = first + rows, group, 0, 0
        limit = max(min(most_rows, n_rows * most_bytes // max(n_bytes, 1)), 1)
        if n_rows > limit:
            for skipped in range(0, n_rows, limit):
                count = min(limit, n_rows - skipped)
                yield Piece(file.name, file.place, (group, group + 1), skipped, count, first + skipped)
            first, start = first + n_rows, group + 1
        else:
            rows, size = rows + n_rows, size + n_bytes
    if rows:
        yield Piece(file.name, file.place, (start, len(footer.rows)), 0, rows, first)


def batches_of(piece: Piece, columns: Sequence[str]) -> Generator[tuple[int, Any], None, None]:
    """Record batches of a piece, each with its first row in the file: small ones of numbers."""
    with opened(piece.name, piece.place) as handle:
        file = open_parquet(piece.name, handle)
        small = all(is_small(file.schema_arrow.field(name).type) for name in columns)
        size = min(DEFAULT_TUNING.rows, piece.n_rows) if small else piece.n_rows
        groups = range(*piece.groups)
        batches = file.iter_batches(size, row_groups=groups, columns=list(columns), use_threads=False)
        skipped, row, end = piece.skipped, piece.first, piece.first + piece.n_rows
        while row < end and (batch := next_batch(piece.name, batches)) is not None:
            inner = batch.slice(min(skipped, len(batch)), end - row)
            skipped -= min(skipped, len(batch))
            if len(inner):
                yield row, inner
            row += len(inner)
            del batch, inner


@contextmanager
def opened(name: str, place: str) -> Iterator[Any]:
    """A file to read from, by a path or a URI."""
    if not is_uri(place):
        with reading(place) as handle:
            yield handle
        return
    with parquet_errors(name):
        system, path = arrow("pyarrow.fs").FileSystem.from_uri(place)
        handle = system.open_input_file(path)
    with handle:
        yield handle


def is_uri(place: str) -> bool:
    """Whether a place has a scheme, such as s3://, and is no path."""
    return "://" in place


def _footer(file: SourceFile, vertex: Any, edge: Any, weight: Any, edge_weight: Any) -> Footer:
    with opened(file.name, file.place) as handle:
        table = OneFile(file.name, [])
        table.look(handle)
        handle.seek(0, io.SEEK_SET)
        opening = open_parquet(file.name, handle)
    found = LongColumns.of(table, vertex, edge, weight, edge_weight)
    columns = Columns(found.vertex, found.edge, found.weight, found.edge_weight)
    schema, meta = opening.schema_arrow, opening.metadata
    groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    wanted = [
        number
        for number in range(meta.num_columns)
        if meta.schema.column(number).path.split(".")[0] in columns.wanted
    ]
    return Footer(
        columns,
        (schema.field(columns.vertex).type, schema.field(columns.edge).type),
        tuple(group.num_rows for group in groups),
        tuple(sum(group.column(number).total_uncompressed_size for number in wanted) for group in groups),
    )


def _files(place: str) -> list[SourceFile]:
    if is_uri(place):
        return _files_of_store(place)
    names: Iterable[str] = [place]
    if os.path.isdir(place):
        names = [os.fspath(file) for file in sorted(Path(place).iterdir()) if file.suffix in SUFFIXES]
    elif not os.path.exists(place) and glob.has_magic(place):
        names = sorted(glob.glob(place))
    if not names:
        raise fault(place, "there are no Parquet files; check the name")
    return [_local_file(name) for name in names]


def _local_file(name: str) -> SourceFile:
    with reading(name):
        stat = os.stat(name)
    return SourceFile(name, os.path.abspath(name), stat.st_size, stat.st_mtime_ns)


def _files_of_store(place: str) -> list[SourceFile]:
    """Of a URI: a file, a folder, or a pattern, whose stars stay within one folder."""
    fs = arrow("pyarrow.fs")
    scheme, rest = place.split("://", 1)
    parts = rest.split("/")
    fixed = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    base, pattern = f"{scheme}://{'/'.join(parts[:fixed])}", parts[fixed:]
    try:
        system, folder = fs.FileSystem.from_uri(base)
        info = system.get_file_info(folder)
        infos = [info] if info.type == fs.FileType.File and not pattern else []
        if info.type == fs.FileType.Directory:
            infos = system.get_file_info(fs.FileSelector(folder, recursive=len(pattern) > 1))
    except (arrow().ArrowException, OSError, ValueError) as error:
        raise fault(place, f"the place cannot be read: {' '.join(str(error).split())[:200]}") from None
    if info.type == fs.FileType.NotFound:
        raise fault(place, "there is no such file")
    found = []
    for info in infos:
        inside = info.path[len(folder) :].strip("/").split("/") if info.path != folder else []
        if info.type == fs.FileType.File and _matches(inside, pattern):
            name = "/".join([base.rstrip("/"), *inside])
            found.append(SourceFile(name, name, info.size, info.mtime_ns or 0))
    if not found:
        raise fault(place, "there are no Parquet files; check the name")
    return sorted(found, key=lambda file: file.name)


def _matches(inside: list[str], pattern: list[str]) -> bool:
    if not pattern:
        return not inside or inside[-1].endswith(SUFFIXES)
    return len(inside) == len(pattern) and all(map(fnmatchcase, inside, pattern))
