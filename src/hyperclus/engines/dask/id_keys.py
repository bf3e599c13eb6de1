"""64-bit keys of ids.

Integers, booleans and times are their own keys. Text, bytes and decimals are hashed, so their ids are kept
along with the keys; two ids with the same key are a `Collision`, after which another seed is used.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hyperclus._runtime.arrays import blocks, take
from hyperclus._runtime.optional import arrow
from hyperclus.engines.dask.chunk_kernels import ODD, mixed
from hyperclus.errors import HyperclusError, InputError
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.table import DEFAULT_TUNING
from hyperclus.typing import Codes, Ids, Integers

FIRST, SECOND, HALF = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(32)
FAMILIES = {
    "number": ("integer", "boolean", "date", "time", "timestamp", "duration"),
    "text": ("string", "large_string", "string_view"),
    "bytes": ("binary", "large_binary", "binary_view"),
    "fixed": ("fixed_size_binary", "decimal"),
}


class Collision(HyperclusError):  # noqa: N818
    """Two ids have the same hash."""


@dataclass(frozen=True, slots=True, eq=False)
class HashedIds:
    """Keys (int64) and the ids (a PyArrow array) that they are hashes of."""

    keys: Integers
    ids: Any

    @classmethod
    def merged(cls, several: list["HashedIds"]) -> "HashedIds":
        """Merge several, each id once, ascending by key."""
        pa, keys = arrow(), np.concatenate([some.keys for some in several])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        ids = pa.concat_arrays([some.ids for some in several]).take(pa.array(order))
        repeated = np.flatnonzero(keys[1:] == keys[:-1]) + 1
        if len(repeated):
            if not ids.take(pa.array(repeated)).equals(ids.take(pa.array(repeated - 1))):
                raise Collision("two ids have the same hash")
            kept = np.delete(np.arange(len(keys)), repeated)
            keys, ids = keys[kept], ids.take(pa.array(kept))
        return cls(keys, ids)


def family(kind: Any) -> Literal["number", "text", "bytes", "fixed"] | None:
    """What ids of an Arrow type are; numbers of at most 64 bits, with times, are their own keys."""
    found: Any = None
    for name, types in FAMILIES.items():
        if any(getattr(arrow().types, f"is_{one}")(kind) for one in types):
            found = name
    return found


def common_type(kinds: list[Any], column: str) -> Any:
    """Return the Arrow type of the ids of a column, given its type in each file."""
    types = arrow().types
    plain = list(dict.fromkeys(kind.value_type if types.is_dictionary(kind) else kind for kind in kinds))
    for kind in plain:
        if family(kind) is None:
            message = f"an id must be an integer, text, a time or bytes, not {shown(str(kind))}"
            raise InputError(f"column {shown(column)}: {message}; convert the column")
    if len(plain) == 1:
        return plain[0]
    if all(map(types.is_integer, plain)):
        return arrow().int64()
    if all(family(kind) == "text" for kind in plain):
        return arrow().large_string()
    raise InputError(
        f"column {shown(column)}: ids are {plain[0]} in some files and {plain[1]} in others; use one type"
    )


def direct_keys(ids: Any, kind: Any) -> Integers:
    """Return the keys of ids that are numbers or times; raises ArrowInvalid beyond 64 bits."""
    pa = arrow()
    if pa.types.is_uint64(kind):
        return np.asarray(ids.to_numpy()).view(np.int64)
    if pa.types.is_temporal(kind):
        ids = ids.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    return np.asarray(ids.cast(pa.int64()).to_numpy(zero_copy_only=False))


def direct_ids(keys: Integers, kind: Any) -> Any:
    """Return the ids of which `direct_keys` gave the keys."""
    pa = arrow()
    if pa.types.is_uint64(kind):
        return pa.array(keys.view(np.uint64))
    if pa.types.is_temporal(kind):
        return pa.array(keys.astype(np.int32) if kind.bit_width == 32 else keys).view(kind)
    return pa.array(keys).cast(kind)


def hash_ids(ids: Any, kind: Any, seed: int) -> HashedIds:
    """Hash distinct ids, eight bytes at a time; those of any length are kept with offsets of 64 bits."""
    wide = {"text": arrow().large_string(), "bytes": arrow().large_binary()}
    ids = ids.cast(wide.get(family(kind) or "", kind))
    buffers = ids.buffers()
    if family(kind) == "fixed":
        ends = (np.arange(len(ids) + 1) + ids.offset) * (kind.bit_width // 8)
    else:
        ends = np.frombuffer(buffers[1], dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
    lengths = np.diff(ends)
    padded = np.append(np.frombuffer(buffers[-1] or b"", dtype=np.uint8), np.zeros(8, dtype=np.uint8))
    words: Any = np.ndarray(len(padded) - 7, ">u8", padded, strides=(1,))  # at every byte, big-endian
    with np.errstate(over="ignore"):
        state = (np.uint64(seed) + np.uint64(ODD)) * FIRST ^ lengths.astype(np.uint64)
        left = np.arange(len(lengths))
        for start in range(0, int(lengths.max(initial=0)), 8):
            left = left[lengths[left] > start]
            missing = np.maximum(start + 8 - lengths[left], 0).astype(np.uint64)
            word = words[ends[left] + start].astype(np.uint64) >> (missing * np.uint64(8))
            mixing = (state[left] ^ word) * FIRST
            mixing = (mixing ^ (mixing >> HALF)) * SECOND
            state[left] = mixing ^ (mixing >> HALF)
        state = (state ^ (state >> HALF)) * np.uint64(ODD)
    return HashedIds((state ^ (state >> HALF)).view(np.int64), ids)


def share_of(keys: Integers, count: int, salt: int) -> Codes:
    """Assign each key a number below `count`: equal keys the same one, and all numbers about as often."""
    shares = np.empty(len(keys), dtype=np.min_scalar_type(max(count - 1, 0)))
    for block in blocks(len(keys)):
        bits = mixed(keys[block].view(np.uint64) ^ np.uint64(salt * ODD % 2**64))
        shares[block] = (bits >> HALF) * np.uint64(count) >> HALF
    return shares


def numbered(keys: Integers) -> tuple[Integers, Codes]:
    """Return the distinct keys, ascending, and the position of each key among them."""
    if not len(keys):
        return keys, np.empty(0, dtype=np.int32)
    low, span = int(keys.min()), int(keys.max()) - int(keys.min()) + 1
    if span > max(DEFAULT_TUNING.span, len(keys)):
        distinct, positions = np.unique(keys, return_inverse=True)
        return distinct, positions.astype(np.int32)
    seen = np.zeros(span, dtype=bool)  # a lookup table is faster than sorting
    for block in blocks(len(keys)):
        seen[keys[block] - low] = True
    rank = np.cumsum(seen, dtype=np.int32) - 1
    return np.flatnonzero(seen) + low, take(rank, keys, low)


def as_objects(ids: Any) -> Ids:
    """Convert a PyArrow array of ids to NumPy: integers as int64, others as Python objects."""
    pa = arrow()
    if pa.types.is_integer(ids.type) and not pa.types.is_uint64(ids.type):
        return np.asarray(ids.cast(pa.int64()).to_numpy(zero_copy_only=False))
    return object_array(ids.to_pylist())
