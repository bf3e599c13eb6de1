"""Files of a run, and the vectors stored in them: on disk for all workers, and in memory where there is room.

Nothing is only in memory: whatever a worker that died held, another one reads from the files.
"""

import json
import mmap
import zlib
from collections import OrderedDict
from dataclasses import asdict, dataclass
from errno import EIO
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hyperclus._runtime.files import atomic_path
from hyperclus.errors import ClusterError

Array = NDArray[Any]

VECTOR_SHARE = 0.2  # of a worker's memory, for stored vectors
HEADER = 128  # bytes of a NumPy file before its data, as far as it is needed here
READ_BYTES = 1 << 20  # at a time, for a checksum


class DamagedError(ClusterError):
    """A file in the work folder is not as it was written."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(f"{path}: the file is damaged or missing; prepare the data again")
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path,)


def checksum(path: Path) -> list[int]:
    """The size of a file and its CRC-32, which differs from that of a damaged file."""
    found = size = 0
    with path.open("rb") as file:
        while part := file.read(READ_BYTES):
            found, size = zlib.crc32(part, found), size + len(part)
    return [size, found]


def write_checked(path: Path, content: Any) -> None:
    """Write JSON with a digest of itself, atomically."""
    digest = blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()
    with atomic_path(path) as partial:
        partial.write_text(json.dumps({"digest": digest, "content": content}))


def read_checked(path: Path) -> Any:
    """Read what `write_checked` wrote; raises a `DamagedError` if it is something else."""
    try:
        found = json.loads(path.read_bytes())
        content = found["content"]
        if found["digest"] == blake2b(json.dumps(content).encode(), digest_size=16).hexdigest():
            return content
    except (ValueError, TypeError, KeyError, RecursionError, IsADirectoryError):
        pass
    raise DamagedError(path)


class ArrayCache:
    """Arrays of this process by name; the oldest are dropped when there are too many bytes."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Any, tuple[Any, int]] = OrderedDict()
        self._bytes, self._lock = 0, Lock()

    def get(self, name: Any) -> Any:
        with self._lock:
            if name not in self._entries:
                return None
            self._entries.move_to_end(name)
            return self._entries[name][0]

    def put(self, name: Any, value: Any, size: int, limit: float, replace: bool = True) -> bool:
        """Add an array if it fits; with `replace`, also if others have to be dropped for it."""
        with self._lock:
            if size > limit or (not replace and self._bytes + size > limit):
                return False
            if name not in self._entries:
                self._entries[name] = value, size
                self._bytes += size
            while self._bytes > limit:
                _, (_, freed) = self._entries.popitem(last=False)
                self._bytes -= freed
            return True

    def drop(self, names: set[str]) -> None:
        """Drop the arrays of vectors that are no longer needed."""
        with self._lock:
            for key in [key for key in self._entries if key[0] in names]:
                self._bytes -= self._entries.pop(key)[1]


VECTORS = ArrayCache()


@dataclass(frozen=True, slots=True)
class RunFiles:
    """Where the files of a run are, and how vertices and hyperedges are divided."""

    vectors: Path  # folder of stored vectors
    blocks: list[Path]  # folders of the blocks of hyperedges
    ends: list[int]  # chunk j holds the vertices from ends[j - 1] to ends[j]
    offsets: list[list[int]]  # for each block, where the vertices of each chunk begin among its own ones
    alpha: float
    memory: float  # bytes that a worker has

    def write(self, path: Path) -> None:
        with atomic_path(path) as partial:
            partial.write_text(json.dumps(asdict(self), default=str))

    @property
    def spans(self) -> list[tuple[int, int]]:
        """For each chunk its first vertex, and the first one after it."""
        return list(pairwise([0, *self.ends]))

    def touched(self, block: int, chunk: int) -> Array | None:
        """The rows of a chunk that a block touches; None if it touches all of them."""
        first, last = self.offsets[block][chunk : chunk + 2]
        start, end = self.spans[chunk]
        if last - first == end - start:
            return None
        key = ("rows", block, chunk, str(self.blocks[block]))
        rows = VECTORS.get(key)
        if rows is None:
            vertices = read_array(self.blocks[block] / "vertices.npy", "r")
            rows = (vertices[first:last] - start).astype(np.int32)
            VECTORS.put(key, rows, rows.nbytes, self.vector_memory)
        return rows

    def static(self, block: int, name: str) -> Array:
        """The values of a stored vector at the vertices of a block, which are kept in memory."""
        key = (name, f"static {block}")
        values: Array | None = VECTORS.get(key)
        if values is None:
            offsets = self.offsets[block]
            values = np.empty(offsets[-1])
            for chunk, (first, last) in enumerate(pairwise(offsets)):
                whole = read_array(vector_path(self.vectors, name, str(chunk)))
                rows = self.touched(block, chunk)
                values[first:last] = whole if rows is None else whole[rows]
            VECTORS.put(key, values, values.nbytes, self.vector_memory)
        return values

    @property
    def vector_memory(self) -> float:
        """Bytes for stored vectors in the memory of a worker."""
        return self.memory * VECTOR_SHARE


@lru_cache(maxsize=8)
def read_run_files(path: Path) -> RunFiles:
    """Read what `RunFiles.write` wrote."""
    values = json.loads(path.read_text())
    return RunFiles(Path(values.pop("vectors")), list(map(Path, values.pop("blocks"))), **values)


def load_array(path: Path, mode: Literal["r"] | None = None) -> Any:
    """Load a NumPy file, mapped or as a whole; empty arrays cannot be mapped."""
    return np.load(path, mmap_mode=mode if path.stat().st_size > HEADER else None)


def read_array(path: Path, mode: Literal["r"] | None = None) -> Any:
    """`load_array` with an OSError where the file is missing or damaged."""
    try:
        return load_array(path, mode)
    except (ValueError, EOFError):
        message = "the file is damaged; delete it and give the same command again"
        raise OSError(EIO, message, str(path)) from None


def release(array: Any, first: int = 0, last: int | None = None) -> None:
    """Remove pages of a mapped file from the memory of this process; they stay in the page cache."""
    if not isinstance(array, np.memmap) or not len(array) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    mapped: Any = array._mmap  # type: ignore[attr-defined]
    begin = array.offset + first * array.itemsize - array.offset // mmap.PAGESIZE * mmap.PAGESIZE
    end = begin + ((len(array) if last is None else last) - first) * array.itemsize
    begin -= begin % mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, begin, min(end, len(mapped)) - begin)


def file_fault(error: OSError) -> ClusterError:
    """The error of a worker that cannot read or write a file."""
    what = f"{error.strerror or error}: {error.filename}" if error.filename else str(error)
    return ClusterError(
        f"a worker cannot read or write a file ({what}); check that the disk has space and that all workers "
        "share the folder"
    )


def vector_path(folder: Path, name: str, part: str) -> Path:
    """The file of one part (a chunk, or a block) of a stored vector."""
    return folder / f"{name}.{part}.npy"


def write_part(files: RunFiles, name: str, part: str, values: Array) -> None:
    """Store a part of a vector in a file, atomically, and in memory."""
    with atomic_path(vector_path(files.vectors, name, part)) as partial, partial.open("wb") as file:
        np.save(file, values, allow_pickle=False)
    VECTORS.put((name, part), values, values.nbytes, files.vector_memory)


def store_rows(files: RunFiles, values: Any) -> Any:
    """Store an array with a row for each vertex as a vector, or a block of them; return the reference."""
    if values.ndim == 2:
        return [store_rows(files, column) for column in values.T]
    name = token_hex(6)
    for chunk, (first, last) in enumerate(files.spans):
        write_part(files, name, str(chunk), np.ascontiguousarray(values[first:last]))
    return {"name": name, "side": "vertices", "dtype": values.dtype.str}


def read_rows(files: RunFiles, name: str, first: int, last: int) -> Array:
    """Read some rows of a stored vector of vertices, from one chunk or several."""
    rows = []
    for chunk, (start, end) in enumerate(files.spans):
        if start < last and first < end:
            whole = read_array(vector_path(files.vectors, name, str(chunk)), "r")
            rows.append(np.array(whole[max(first, start) - start : min(last, end) - start]))
    return np.concatenate(rows)


def read_part(files: RunFiles, name: str, part: str) -> Array:
    """A part of a stored vector: in memory if there is room, else mapped."""
    key, limit = (name, part), files.vector_memory
    values: Array | None = VECTORS.get(key)
    if values is None:
        values = read_array(vector_path(files.vectors, name, part), "r")
        if values.nbytes <= limit:
            copy = np.array(values)
            values = copy if VECTORS.put(key, copy, copy.nbytes, limit, replace=False) else values
    return values


def rows_of(values: Array, first: int, last: int) -> Array:
    """Some rows of an array; those of a mapped one are copied, and the file is released."""
    if not isinstance(values, np.memmap):
        return values[first:last]
    found = np.array(values[first:last])
    release(values, first, last)
    return found
