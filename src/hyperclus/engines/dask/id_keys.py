"""64-bit keys of ids.

Integers, booleans and times are their own keys. Text, bytes and decimals are hashed, so their ids are kept
along with the keys; two ids with the same key are a `Collision`, after which another seed is used.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.arrays import blocks, take
from hyperclus._runtime.optional import arrow
from hyperclus.engines.dask.chunk_kernels import mixed
from hyperclus.errors import HyperclusError, InputError
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.table import DEFAULT_TUNING
from hyperclus.typing import Codes, Ids, Integers

GOLDEN = 0x9E3779B97F4A7C15  # odd constants of SplitMix64, for mixing bits
FIRST, SECOND, HALF = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(32)


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
        keys = np.concatenate([some.keys for some in several])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        ids = arrow().concat_arrays([some.ids for some in several]).take(arrow().array(order))
        repeated = np.flatnonzero(keys[1:] == keys[:-1]) + 1
        if len(repeated):
            here, before = (ids.take(arrow().array(some)) for some in (repeated, repeated - 1))
            if not here.equals(before):
                raise Collision("two ids have the same hash")
            kept = np.delete(np.arange(len(keys)), repeated)
            keys, ids = keys[kept], ids.take(arrow().array(kept))
        return cls(keys, ids)

    def ids_of(self, keys: Integers) -> Any:
        """Look up the ids of some keys."""
        return self.ids.take(arrow().array(np.searchsorted(self.keys, keys)))


def common_type(kinds: list[Any], column: str) -> Any:
    """Return the Arrow type of the ids of a column, given its type in each file."""
    types = arrow().types
    plain = list(dict.fromkeys(kind.value_type if types.is_dictionary(kind) else kind for kind in kinds))
    for kind in plain:
        if not (is_direct(kind) or _is_text(kind) or _is_fixed(kind) or _is_bytes(kind)):
            message = f"an id must be an integer, text, a time or bytes, not {shown(str(kind))}"
            raise InputError(f"column {shown(column)}: {message}; convert the column")
    if len(plain) == 1:
        return plain[0]
    if all(map(types.is_integer, plain)):
        return arrow().int64()
    if all(map(_is_text, plain)):
        return arrow().large_string()
    raise InputError(
        f"column {shown(column)}: ids are {plain[0]} in some files and {plain[1]} in others; use one type"
    )


def is_direct(kind: Any) -> bool:
    """Whether ids of this type are numbers of at most 64 bits, which are their own keys."""
    types = arrow().types
    return bool(types.is_integer(kind) or types.is_boolean(kind) or types.is_temporal(kind)) and (
        not types.is_interval(kind)
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


def hashed_type(kind: Any) -> Any:
    """Return the type in which hashed ids are kept: with offsets of 64 bits where lengths vary."""
    if _is_text(kind):
        return arrow().large_string()
    return arrow().large_binary() if _is_bytes(kind) else kind


def hash_ids(ids: Any, kind: Any, seed: int) -> HashedIds:
    """Hash distinct ids."""
    ids = ids.cast(hashed_type(kind))
    buffers = ids.buffers()
    data = np.frombuffer(buffers[-1] or b"", dtype=np.uint8)
    if _is_fixed(kind):
        ends = (np.arange(len(ids) + 1) + ids.offset) * (kind.bit_width // 8)
    else:
        ends = np.frombuffer(buffers[1], dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
    return HashedIds(hash_bytes(ends, data, seed), ids)


def hash_bytes(ends: Integers, data: Any, seed: int) -> Integers:
    """Hash each data[ends[i]:ends[i + 1]], eight bytes at a time."""
    lengths = np.diff(ends)
    padded = np.append(data, np.zeros(8, dtype=np.uint8))
    words: Any = np.ndarray(len(padded) - 7, ">u8", padded, strides=(1,))  # at every byte, big-endian
    with np.errstate(over="ignore"):
        state = (np.uint64(seed) + np.uint64(GOLDEN)) * FIRST ^ lengths.astype(np.uint64)
        left = np.arange(len(lengths))
        for start in range(0, int(lengths.max(initial=0)), 8):
            left = left[lengths[left] > start]
            missing = np.maximum(start + 8 - lengths[left], 0).astype(np.uint64)
            word = words[ends[left] + start].astype(np.uint64) >> (missing * np.uint64(8))
            mixing = (state[left] ^ word) * FIRST
            mixing = (mixing ^ (mixing >> HALF)) * SECOND
            state[left] = mixing ^ (mixing >> HALF)
        state = (state ^ (state >> HALF)) * np.uint64(GOLDEN)
        hashes: Integers = (state ^ (state >> HALF)).view(np.int64)
    return hashes


def share_of(keys: Integers, count: int, salt: int) -> Codes:
    """Assign each key a number below `count`: equal keys the same one, and all numbers about as often."""
    shares = np.empty(len(keys), dtype=np.min_scalar_type(max(count - 1, 0)))
    for block in blocks(len(keys)):
        bits = mixed(keys[block].view(np.uint64) ^ np.uint64(salt * GOLDEN % 2**64))
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


def _is_text(kind: Any) -> bool:
    types = arrow().types
    return any(check(kind) for check in (types.is_string, types.is_large_string, types.is_string_view))


def _is_bytes(kind: Any) -> bool:
    types = arrow().types
    return any(check(kind) for check in (types.is_binary, types.is_large_binary, types.is_binary_view))


def _is_fixed(kind: Any) -> bool:
    return bool(arrow().types.is_fixed_size_binary(kind) or arrow().types.is_decimal(kind))
