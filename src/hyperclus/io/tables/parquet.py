"""Tables in one or several Parquet files."""

import glob
import io
import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.optional import arrow
from hyperclus._runtime.source import is_shortage, reading, refuse_bomb
from hyperclus._runtime.threads import ahead
from hyperclus.errors import InputError, prefixed
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.table import DEFAULT_TUNING, IncidenceBlock, Table, Tuning, is_numeric
from hyperclus.typing import Ids

SUFFIXES = (".parquet", ".pq", ".parq")
DICTIONARY = 1 << 20  # bytes of a dictionary beyond which most writers store each text
OPTIONAL_COLUMNS = ("weight", "edge_weight")  # used if present, so all files must agree


class ParquetTable(Table):
    """A Parquet file, or several that make up one table: a folder or a pattern, in the order of names."""

    text, unit = False, "rows"

    def __init__(self, path: StrPath, tuning: Tuning = DEFAULT_TUNING) -> None:
        files: list[StrPath] = [path]
        if os.path.isdir(path):
            files = [*folder_files(path)]
        elif not os.path.exists(path) and glob.has_magic(os.fspath(path)):
            files = [*sorted(glob.glob(os.fspath(path)))]
        if not files:
            raise fault(path, "there are no Parquet files; check the name")
        self._first_rows = [0]
        names = []
        for file in files:
            with reading(file) as handle:
                opened = open_parquet(file, handle)
            found = list(opened.schema_arrow.names)
            names.append(found)
            self._first_rows.append(self._first_rows[-1] + opened.metadata.num_rows)
            for name in OPTIONAL_COLUMNS:
                if (name in found) != (name in names[0]):
                    problem = f"some files have a column {shown(name)} and others not"
                    raise fault(file, f"{problem}; make them alike")
        super().__init__(path, files, names[0], self._first_rows[-1], tuning)
        self._schema = opened.schema_arrow

    def list_columns(self) -> list[str]:
        """Return the columns that hold lists."""
        types = arrow().types
        return [
            field.name
            for field in self._schema
            if types.is_list(field.type) or types.is_large_list(field.type)
        ]

    def batches(self, columns: list[str]) -> Generator[list[Any], None, None]:
        """Yield columns with the types they have in the files."""
        self.position, self.large_batches = 0, False
        for file in self.files:
            with reading(file) as handle:
                opened = open_parquet(file, handle)
                missing = [name for name in columns if opened.schema_arrow.names.count(name) != 1]
                if missing:
                    raise fault(file, f"the table needs one column {shown(missing[0])}, as other files have")
                yield from self._batches_of(file, opened, columns)

    def _batches_of(self, file: StrPath, opened: Any, columns: list[str]) -> Generator[list[Any], None, None]:
        """Yield small batches until `large_batches` is set."""
        large = max(self.tuning.rows, self.size // self.tuning.batches)
        batches = opened.iter_batches(
            self.tuning.rows, columns=list(dict.fromkeys(columns)), use_threads=False
        )
        held: list[Any] = []
        for batch in ahead(partial(next_batch, file, batches)):
            self.position += batch.num_rows
            held.append(batch)
            if not self.large_batches or sum(map(len, held)) >= large:
                joined, held = _joined(held, columns), []
                yield joined
        if held:
            yield _joined(held, columns)

    def fault(self, message: str | InputError, row: int | None = None) -> InputError:
        """Create an error that names the file of a row, and the row within that file, from 0."""
        if row is None:
            return fault(self.path, message)
        number = int(np.searchsorted(self._first_rows, row, side="right")) - 1
        number = min(number, len(self.files) - 1)
        return fault(self.files[number], prefixed(f"row {row - self._first_rows[number]}, ", message))


def folder_files(folder: StrPath) -> list[Path]:
    """List the Parquet files of a folder by name; one that would be left out is an `InputError`.

    Names that begin with a dot or an underscore are not data, as everywhere; nor is the default work folder.
    """
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_", "hyperclus-work")))
        for file in (Path(place, name) for name in sorted(files)):
            outside = file.parent != Path(folder)
            if is_data(file.name) and outside:
                raise fault(file, in_subfolder(folder))
            if is_data(file.name):
                found.append(file)
            elif not outside and not file.name.startswith((".", "_")) and _is_parquet(file):
                raise fault(file, "this is a Parquet file; rename it to end with .parquet, or move it")
    return found


def is_data(name: str) -> bool:
    """Whether a file in a folder is part of the table, by its name."""
    return name.lower().endswith(SUFFIXES) and not name.startswith((".", "_"))


def in_subfolder(folder: StrPath) -> str:
    """Say what to do about a Parquet file in a subfolder."""
    pattern = os.path.join(folder, "*", "*.parquet")
    return f"files in subfolders are not read; move them into one folder, or use the pattern {shown(pattern)}"


def _is_parquet(file: Path) -> bool:
    with suppress(OSError), file.open("rb") as content:
        return content.read(4) == b"PAR1"
    return False


def open_parquet(file: StrPath, handle: BinaryIO) -> Any:
    """Open a file so that repeated text is held once; implausible sizes are an `InputError`."""
    parquet = arrow("pyarrow.parquet")
    if not handle.seekable():
        raise fault(file, "Parquet cannot be read from within bzip2, xz or zstd; unpack the file first")
    with parquet_errors(file):
        settings = {"pre_buffer": False, "buffer_size": 1 << 16, "page_checksum_verification": True}
        plain = parquet.ParquetFile(handle, **settings)
        text = [field.name for field in plain.schema_arrow if arrow().types.is_string(field.type)]
        repeated = [name for name in text if name in _repeated(plain.metadata)]
        opened = parquet.ParquetFile(handle, read_dictionary=repeated, **settings)
    meta = opened.metadata
    sizes = [meta.row_group(number).total_byte_size for number in range(meta.num_row_groups)]
    refuse_bomb(file, handle.seek(0, io.SEEK_END), max(12 * meta.num_rows, sum(sizes)))
    return opened


def _repeated(meta: Any) -> set[str]:
    """Columns whose texts are stored once: a row takes less than the four bytes of the length of a text."""
    sizes, rows = dict[str, int](), 0
    for number in range(meta.num_row_groups):
        group = meta.row_group(number)
        rows += group.num_rows
        for place in range(group.num_columns):
            column = group.column(place)
            sizes[column.path_in_schema] = (
                sizes.get(column.path_in_schema, 0) + column.total_uncompressed_size
            )
    return {name for name, size in sizes.items() if size < 4 * rows + meta.num_row_groups * DICTIONARY}


def next_batch(file: StrPath, batches: Iterator[Any]) -> Any:
    """Return the next record batch, after a check of its content; None at the end."""
    with parquet_errors(file):
        batch = next(batches, None)
        if batch is not None:
            batch.validate(full=True)
        return batch


def is_small(kind: Any) -> bool:
    """Whether values of an Arrow type have a small fixed size: numbers and booleans."""
    return is_numeric(kind) or bool(arrow().types.is_boolean(kind))


@contextmanager
def parquet_errors(file: StrPath) -> Iterator[None]:
    """Turn PyArrow's errors about a damaged file into an `InputError` that names it."""
    pa = arrow()
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        if is_shortage(error):
            raise
        why = shown(" ".join(str(error).split()))
        raise fault(file, f"the Parquet data are damaged ({why}); recreate the file") from None


def write_parquet(
    handle: BinaryIO, names: list[str], ids: tuple[Ids, Ids], rows: Iterable[IncidenceBlock]
) -> None:
    """Write a long table, given the ids of vertices and hyperedges and blocks of its rows."""
    pa, pq = arrow(), arrow("pyarrow.parquet")
    kinds = [pa.large_string() if some.dtype == object else pa.int64() for some in ids]
    vertices, edges = map(pa.array, ids, kinds)
    schema = pa.schema(list(zip(names, [*kinds, pa.float64(), pa.float64()], strict=False)))
    with pq.ParquetWriter(handle, schema, write_page_checksum=True) as writer:
        for inside, around, weights in rows:
            columns = [vertices.take(pa.array(inside)), edges.take(pa.array(around)), *map(pa.array, weights)]
            writer.write_table(pa.table(columns, schema=schema))


def _joined(batches: list[Any], columns: list[str]) -> list[Any]:
    """Concatenate the columns of successive batches."""
    if len(batches) == 1:
        return [batches[0].column(name) for name in columns]
    return [arrow().concat_arrays([batch.column(name) for batch in batches]) for name in columns]
