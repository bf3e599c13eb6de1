"""Ids as 64-bit keys, and back: integers and times as they are, text and other bytes by a hash.

A hash does not tell its id, so pairs of key and id travel along; wherever pairs meet, two ids with one key
are a `Collision`, after which another seed is tried.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.arrays import blocks, take
from hyperclus._runtime.jit import kernels
from hyperclus._runtime.optional import arrow
from hyperclus.engines.dask import id_hash
from hyperclus.engines.dask.chunk_kernels import ODD, mixed
from hyperclus.errors import HyperclusError, InputError
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.parquet import ParquetTable
from hyperclus.io.tables.table import DEFAULT_TUNING
from hyperclus.typing import Codes, Ids, Integers

WORD = 8  # bytes of a step of the hash, for the estimate of its work
MASK = (1 << 64) - 1


class Collision(HyperclusError):  # noqa: N818
    """Two ids have the same hash."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Keys and their ids.

    Attributes
    ----------
    keys : (n,) integers
    ids : (n,) large_binary array of PyArrow
    """

    keys: Integers
    ids: Any

    @classmethod
    def none(cls) -> "Pairs":
        """No pairs."""
        return cls(np.empty(0, dtype=np.int64), arrow().array([], arrow().large_binary()))

    @classmethod
    def joined(cls, several: list["Pairs"]) -> "Pairs":
        """All pairs, each once, ascending by key."""
        if not several:
            return cls.none()
        keys = np.concatenate([pairs.keys for pairs in several])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        ids = arrow().concat_arrays([pairs.ids for pairs in several]).take(arrow().array(order))
        again = np.append(False, keys[1:] == keys[:-1])
        if again.any():
            repeated = np.flatnonzero(again)
            here, before = (ids.take(arrow().array(places)) for places in (repeated, repeated - 1))
            if not here.equals(before):
                raise Collision("two ids have the same hash")
            keys, ids = keys[~again], ids.filter(arrow().array(~again))
        return cls(keys, ids)

    def ids_of(self, keys: Integers) -> Any:
        """The ids of keys that are among these, which are ascending."""
        return self.ids.take(arrow().array(np.searchsorted(self.keys, keys)))


def common_type(kinds: list[Any], table: ParquetTable, column: str) -> Any:
    """The Arrow type of the ids of a column, of which the types in some files are given."""
    types = arrow().types
    plain = list(dict.fromkeys(kind.value_type if types.is_dictionary(kind) else kind for kind in kinds))
    for kind in plain:
        if not (is_direct(kind) or _is_text(kind) or _is_bytes(kind)):
            message = f"an id must be an integer, text, a time or bytes, not {shown(str(kind))}"
            raise table.fault(f"column {shown(column)}: {message}; convert the column")
    if len(plain) == 1:
        return plain[0]
    if all(map(types.is_integer, plain)):
        return arrow().int64()
    if all(map(_is_text, plain)):
        return arrow().large_string()
    raise table.fault(
        f"column {shown(column)}: ids are {plain[0]} in some files and {plain[1]} in others; make them one"
    )


def is_direct(kind: Any) -> bool:
    """Whether an id of this type is a number of 64 bits, which is its key."""
    types = arrow().types
    checks = (types.is_integer, types.is_boolean, types.is_temporal)
    return any(check(kind) for check in checks) and not types.is_interval(kind)


def direct_keys(values: Any, kind: Any) -> Integers:
    """The keys of ids that are numbers or times; ArrowInvalid if one is beyond 64 bits."""
    pa = arrow()
    if pa.types.is_uint64(kind):
        return np.asarray(values.to_numpy()).view(np.int64)
    if pa.types.is_temporal(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    return np.asarray(values.cast(pa.int64()).to_numpy(zero_copy_only=False))


def direct_ids(keys: Integers, kind: Any) -> Any:
    """The ids of keys that `direct_keys` gave."""
    pa = arrow()
    if pa.types.is_uint64(kind):
        return pa.array(keys.view(np.uint64))
    if pa.types.is_temporal(kind):
        return pa.array(keys.astype(np.int32) if kind.bit_width == 32 else keys).view(kind)
    return pa.array(keys).cast(kind)


def hashed(values: Any, kind: Any, seed: int) -> Pairs:
    """Distinct ids with their hashes as keys."""
    ids = _as_bytes(values, kind)
    offsets, data = _buffers(ids)
    work = len(ids) * 2 + len(data) * (1 + 1 / WORD)
    with np.errstate(over="ignore"):
        return Pairs(kernels(id_hash, work).hash_bytes(offsets, data, seed), ids)


def from_bytes(ids: Any, kind: Any) -> Any:
    """Ids in their own type, of those that a `Pairs` holds."""
    pa = arrow()
    if _is_fixed(kind):
        offsets, data = _buffers(ids)
        inner = data[offsets[0] : offsets[-1]] if len(ids) else data[:0]
        return pa.Array.from_buffers(kind, len(ids), [None, pa.py_buffer(np.ascontiguousarray(inner))])
    return ids.cast(pa.large_string()).cast(kind) if _is_text(kind) else ids.cast(kind)


def as_objects(ids: Any) -> Ids:
    """Ids of an Arrow array as NumPy holds them: integers, else Python's objects."""
    pa = arrow()
    if pa.types.is_integer(ids.type) and not pa.types.is_uint64(ids.type):
        return np.asarray(ids.cast(pa.int64()).to_numpy(zero_copy_only=False))
    return object_array(ids.to_pylist())


def share_of(keys: Integers, count: int, salt: int) -> Codes:
    """A number below `count` for each key, the same for all keys that are equal and even over the others."""
    bits = mixed(keys.view(np.uint64) ^ np.uint64(salt * ODD & MASK))
    shares = (bits >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)
    return shares.astype(np.min_scalar_type(max(count - 1, 0)))


def numbered(keys: Integers) -> tuple[Integers, Codes]:
    """The distinct keys, ascending, and the place of each key among them.

    Integers close together are looked up in a table. Others are sorted, as a hash table took 100 bytes each.
    """
    if not len(keys):
        return keys, np.empty(0, dtype=np.int32)
    low, span = int(keys.min()), int(keys.max()) - int(keys.min()) + 1
    if span <= max(DEFAULT_TUNING.span, len(keys)):
        return _numbered_by_table(keys, low, span)
    order = np.argsort(keys)
    ordered = keys[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    found = ordered[new]
    del ordered
    codes = np.empty(len(keys), dtype=np.int32)
    codes[order] = np.cumsum(new, dtype=np.int32) - 1
    return found, codes


def _numbered_by_table(keys: Integers, low: int, span: int) -> tuple[Integers, Codes]:
    seen = np.zeros(span, dtype=bool)
    for block in blocks(len(keys)):
        seen[keys[block] - low] = True
    rank = np.cumsum(seen, dtype=np.int32) - 1
    return np.flatnonzero(seen) + low, take(rank, keys, low)


def _as_bytes(values: Any, kind: Any) -> Any:
    pa = arrow()
    if _is_text(kind):
        return values.cast(pa.large_string()).cast(pa.large_binary())
    if _is_fixed(kind):
        width = kind.bit_width // 8
        values = pa.Array.from_buffers(pa.binary(width), len(values), values.buffers(), offset=values.offset)
        return values.cast(pa.binary()).cast(pa.large_binary())
    return values.cast(pa.large_binary())


def _buffers(ids: Any) -> tuple[Integers, "np.ndarray[tuple[int], np.dtype[np.uint8]]"]:
    """Offsets and bytes of a large_binary array."""
    _, offsets, data = ids.buffers()
    found = np.frombuffer(offsets, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
    return found, np.frombuffer(b"" if data is None else data, dtype=np.uint8)


def _is_text(kind: Any) -> bool:
    types = arrow().types
    return any(check(kind) for check in (types.is_string, types.is_large_string, types.is_string_view))


def _is_fixed(kind: Any) -> bool:
    return bool(arrow().types.is_fixed_size_binary(kind) or arrow().types.is_decimal(kind))


def _is_bytes(kind: Any) -> bool:
    types = arrow().types
    checks = (types.is_binary, types.is_large_binary, types.is_binary_view)
    return _is_fixed(kind) or any(check(kind) for check in checks)


def checked(values: Any, table: ParquetTable, column: str, row: int) -> None:
    """Refuse missing ids."""
    if values.null_count:
        first = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        message = "the value is missing; fill it or leave the row out"
        raise table.fault(f"column {shown(column)}: {message}", row + first)


def too_large(table: ParquetTable, column: str, row: int) -> InputError:
    """What is wrong with an integer that int64 does not hold."""
    return table.fault(f"column {shown(column)}: an id from here on is too large for 64 bits; use text", row)
