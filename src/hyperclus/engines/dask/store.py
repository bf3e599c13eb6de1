"""What a worker holds: stored vectors, in files that all workers see, and in memory where there is room.

Nothing is only in memory: whatever a worker that died held, another one reads from the files.
"""

import os
from collections import OrderedDict
from dataclasses import dataclass
from errno import EIO
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hyperclus.errors import ClusterError

Array = NDArray[Any]


class Memory:
    """Arrays of this process by name, the oldest of which go when there are too many bytes."""

    def __init__(self) -> None:
        self._held: OrderedDict[Any, tuple[Any, int]] = OrderedDict()
        self._bytes, self._lock = 0, Lock()

    def get(self, name: Any) -> Any:
        """What is held under this name, or None."""
        with self._lock:
            held = self._held.get(name)
            if held is None:
                return None
            self._held.move_to_end(name)
            return held[0]

    def put(self, name: Any, value: Any, size: int, limit: float, push: bool = True) -> None:
        """Hold a value, if it fits; `push`: also where others have to go for it."""
        with self._lock:
            if size > limit or (not push and self._bytes + size > limit) or name in self._held:
                return
            self._held[name] = value, size
            self._bytes += size
            while self._bytes > limit:
                _, (_, freed) = self._held.popitem(last=False)
                self._bytes -= freed

    def drop(self, names: set[str]) -> None:
        """Let go of vectors that nobody needs."""
        with self._lock:
            for key in [key for key in self._held if key[0] in names]:
                self._bytes -= self._held.pop(key)[1]


MEMORY = Memory()
HEADER = 128  # bytes of a file of NumPy before its data, as far as it is needed here


def load_array(path: Path, mode: Literal["r"] | None = None) -> Any:
    """The array of a file; an OSError where the file cannot be read, ValueError or EOFError if damaged."""
    return np.load(path, mmap_mode=mode if path.stat().st_size > HEADER else None)


def read_array(path: Path, mode: Literal["r"] | None = None) -> Any:
    """The array of a file; an OSError where the file is missing or not whole."""
    try:
        return load_array(path, mode)
    except (ValueError, EOFError):
        raise OSError(
            EIO, "the file is damaged; delete it and give the same command again", str(path)
        ) from None


def file_fault(error: OSError) -> ClusterError:
    """What a worker that cannot read or write a file has to say."""
    what = f"{error.strerror or error}: {error.filename}" if error.filename else str(error)
    return ClusterError(
        f"a worker cannot read or write a file ({what}); see that there is room on the disk, and that "
        "all workers share the folder"
    )


def vector_path(folder: Path, name: str, part: str) -> Path:
    """The file of one part (a chunk, or a bundle) of a stored vector."""
    return folder / f"{name}.{part}.npy"


def store(folder: Path, name: str, part: str, values: Array, limit: float) -> None:
    """Keep a part of a vector: in a file, written whole or not at all, and in memory."""
    path = vector_path(folder, name, part)
    partial = path.with_name(f".{path.name}.{token_hex(4)}.part")
    with partial.open("wb") as file:
        np.save(file, values, allow_pickle=False)
    os.replace(partial, path)
    MEMORY.put((name, part), values, values.nbytes, limit)


def read_rows(folder: Path, name: str, ends: list[int], first: int, last: int) -> Array:
    """Some rows of a stored vector of vertices, of one chunk or several."""
    rows = []
    for chunk, (start, end) in enumerate(pairwise([0, *ends])):
        if start < last and first < end:
            whole = read_array(vector_path(folder, name, str(chunk)), "r")
            rows.append(np.array(whole[max(first, start) - start : min(last, end) - start]))
    return np.concatenate(rows)


@dataclass(frozen=True, slots=True)
class Stored:
    """A part of a stored vector, of which some rows can be had."""

    values: Array | None
    path: Path
    file: Any = None
    kind: Any = None
    offset: int = 0

    def close(self) -> None:
        """No more rows are needed."""
        if self.file is not None:
            self.file.close()

    def rows(self, first: int, last: int) -> Array:
        """Some of its rows."""
        if self.values is not None:
            return self.values[first:last]
        self.file.seek(self.offset + first * self.kind.itemsize)
        found = np.fromfile(self.file, self.kind, last - first)
        if len(found) != last - first:
            raise OSError(EIO, "the file ends too early", str(self.path))
        return found


def loaded(folder: Path, name: str, part: str, limit: float) -> Stored:
    """A part of a stored vector: from memory, else read into it where there is room, else row by row."""
    path = vector_path(folder, name, part)
    values = MEMORY.get((name, part))
    if values is None and path.stat().st_size <= limit:
        values = read_array(path)
        MEMORY.put((name, part), values, values.nbytes, limit, push=False)
        if MEMORY.get((name, part)) is None:
            values = None
    if values is not None:
        return Stored(values, path)
    file = path.open("rb")
    try:
        np.lib.format.read_magic(file)
        _, _, kind = np.lib.format.read_array_header_1_0(file)
    except ValueError:
        file.close()
        raise OSError(EIO, "the file is damaged", str(path)) from None
    return Stored(None, path, file, kind, file.tell())
