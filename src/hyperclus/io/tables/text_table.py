"""Codes of text ids that are read in batches, by a hash table that stays from batch to batch."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperclus._runtime.arrays import blocks
from hyperclus._runtime.native import Kernel
from hyperclus._runtime.optional import arrow
from hyperclus.typing import Codes

AT_ONCE = 1 << 16  # texts, for which the table must have room whether they are new or not
ROOM = 1.5  # by which arrays grow, so that this is rare

_enter_texts = Kernel("enter_texts", "integers", "bytes", "int", "int", "integers", "int")
_text_codes = Kernel(
    *(
        "text_codes",
        "integers",
        "bytes",
        "int",
        "int",
        "integers",
        "int",
        "integers",
        "bytes",
        "int",
        "codes",
    ),
    returns="int",
)


class TextTable:
    """Distinct texts in order of first appearance.

    Hashes begin with a random number, so that no file can be made whose texts all have the same one.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._seed, self._at_once = int.from_bytes(os.urandom(7)), at_once
        self._offsets, self._text = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint8)
        self._slots, self._count = np.zeros(1, dtype=np.int64), 0

    def __len__(self) -> int:
        return self._count

    def codes(self, values: Any) -> Codes:
        """The codes of a PyArrow array of large strings without nulls; new ones are added."""
        codes, (offsets, text) = np.empty(len(values), dtype=np.int32), _buffers(values)
        for some in blocks(len(values), self._at_once):
            ends, size = offsets[some.start : some.stop + 1], some.stop - some.start
            self._make_room(size, int(ends[-1] - ends[0]))
            table = self._slots, len(self._slots) - 1, self._offsets, self._text, self._count
            self._count = _text_codes(ends, text, size, self._seed, *table, codes[some])
        return codes

    def texts(self) -> Any:
        """The distinct texts, as a PyArrow array of large strings; the table is emptied to save memory."""
        self._slots = np.zeros(1, dtype=np.int64)
        pa, end = arrow(), int(self._offsets[self._count])
        buffers = [None, *map(pa.py_buffer, (self._offsets[: self._count + 1], self._text[:end]))]
        return pa.Array.from_buffers(pa.large_string(), self._count, buffers)

    def _make_room(self, count: int, size: int) -> None:
        """Make room for new texts of a total size; the table stays at least half empty."""
        count += self._count
        self._offsets = _longer(self._offsets, count + 1, self._count + 1)
        end = int(self._offsets[self._count])
        self._text = _longer(self._text, end + size, end)
        if 2 * count > len(self._slots):
            self._slots = np.zeros(1 << (2 * count).bit_length(), dtype=np.int64)
            known = self._offsets, self._text, self._count
            _enter_texts(*known, self._seed, self._slots, len(self._slots) - 1)


def _longer(array: NDArray[Any], size: int, used: int) -> NDArray[Any]:
    """The array, or a longer one with its first entries, if it is too short."""
    if size <= len(array):
        return array
    longer = np.empty(max(size, int(ROOM * len(array))), dtype=array.dtype)
    longer[:used] = array[:used]
    return longer


def _buffers(values: Any) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The offsets and the bytes of a PyArrow array of large strings."""
    _, offsets, text = values.buffers()
    if offsets is None or not len(values):
        return np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint8)
    ends = np.frombuffer(offsets, dtype=np.int64)[values.offset : values.offset + len(values) + 1]
    return ends, np.frombuffer(b"" if text is None else text, dtype=np.uint8)
