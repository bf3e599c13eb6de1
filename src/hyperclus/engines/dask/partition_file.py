"""Files of many short segments, each of which is read by itself.

First a table of where the segments begin, then the segments. Files and folders appear under their names when
they are whole.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from hyperclus._runtime.optional import arrow
from hyperclus.engines.dask.keys import Pairs
from hyperclus.errors import ClusterError
from hyperclus.typing import Integers


def write_segments(path: Path, segments: Iterable[list[Any]], count: int) -> None:
    """Write `count` segments, each of which is several buffers one after the other."""
    starts = np.empty(count + 1, dtype=np.int64)
    starts[0] = starts.nbytes
    part = temporary(path)
    with part.open("xb") as file:
        file.seek(starts.nbytes)
        for number, buffers in enumerate(segments):
            length = 0
            for buffer in buffers:
                length += memoryview(buffer).nbytes
                file.write(buffer)
            starts[number + 1] = starts[number] + length
        file.seek(0)
        file.write(starts.data)
    os.replace(part, path)


def temporary(path: Path) -> Path:
    """A name for what is not yet whole, beside the one it will have."""
    return path.with_name(f".{token_hex(8)}.part")


@contextmanager
def new_folder(beside: Path, target: Path) -> Iterator[Path]:
    """A folder that appears under its name when the body is done, unless another has come first."""
    part = temporary(beside)
    part.mkdir()
    yield part
    try:
        os.rename(part, target)
    except OSError:
        if not target.exists():
            raise
        shutil.rmtree(part, ignore_errors=True)


def segment_size(path: Path, number: int) -> int:
    """The bytes of a segment."""
    with _opened(path) as file:
        start, stop = _ends(file, number)
    return stop - start


def read_segment(path: Path, number: int) -> bytes:
    """A segment."""
    with _opened(path) as file:
        start, stop = _ends(file, number)
        file.seek(start)
        return bytes(file.read(stop - start))


def pair_segments(pairs: Pairs, shares: Any, count: int) -> Iterable[list[Any]]:
    """Segments of pairs, of which share s goes to segment s."""
    order = np.argsort(shares, kind="stable")
    ends = np.searchsorted(shares[order], np.arange(count + 1)).tolist()
    keys, ids = pairs.keys[order], pairs.ids.take(arrow().array(order))
    offsets = (
        np.frombuffer(ids.buffers()[1], dtype=np.int64)[: len(ids) + 1] if len(ids) else np.zeros(1, int)
    )
    data = memoryview(ids.buffers()[2] or b"").cast("B") if len(ids) else memoryview(b"")
    lengths = np.diff(offsets)
    for start, stop in pairwise(ends):
        inner = data[int(offsets[start]) : int(offsets[stop])]
        yield [np.array([stop - start]).data, keys[start:stop].data, lengths[start:stop].data, inner]


def read_pairs(path: Path, number: int) -> Pairs:
    """A segment of pairs."""
    content = read_segment(path, number)
    count = int(np.frombuffer(content, dtype=np.int64, count=1)[0])
    keys = np.frombuffer(content, dtype=np.int64, offset=8, count=count)
    offsets: Integers = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.frombuffer(content, dtype=np.int64, offset=8 + 8 * count, count=count), out=offsets[1:])
    data = arrow().py_buffer(content).slice(8 + 16 * count)
    buffers = [None, arrow().py_buffer(offsets), data]
    return Pairs(keys, arrow().Array.from_buffers(arrow().large_binary(), count, buffers))


def _opened(path: Path) -> Any:
    try:
        return path.open("rb", buffering=0)
    except FileNotFoundError:
        raise ClusterError(
            f"{path}: a file that another worker wrote is not there; all workers must share the folder"
        ) from None


def _ends(file: Any, number: int) -> tuple[int, int]:
    file.seek(8 * number)
    start, stop = np.frombuffer(file.read(16), dtype=np.int64).tolist()
    return start, stop
