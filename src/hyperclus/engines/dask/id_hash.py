"""A 64-bit hash of bytes, as a loop that Numba compiles; see `hyperclus._runtime.jit`."""

import numpy as np

from hyperclus._runtime.jit import kernel
from hyperclus.typing import Integers

ODD = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
HALF = np.uint64(32)
EIGHT = np.uint64(8)


@kernel
def hash_bytes(offsets: Integers, data: "np.ndarray[tuple[int], np.dtype[np.uint8]]", seed: int) -> Integers:
    """The hash of each value data[offsets[i]:offsets[i + 1]]; eight bytes are one step."""
    hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
    for number in range(len(offsets) - 1):
        start, stop = offsets[number], offsets[number + 1]
        state = (np.uint64(seed) + ODD) * FIRST ^ np.uint64(stop - start)
        for word in range(start, stop, 8):
            value = np.uint64(0)
            for place in range(word, min(word + 8, stop)):
                value = (value << EIGHT) | np.uint64(data[place])
            state = (state ^ value) * FIRST
            state = (state ^ (state >> HALF)) * SECOND
            state = state ^ (state >> HALF)
        state = (state ^ (state >> HALF)) * ODD
        hashes[number] = state ^ (state >> HALF)
    return hashes.view(np.int64)
