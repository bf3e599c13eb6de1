"""Ids of vertices and hyperedges: any hashable values, encoded in order of first appearance.

Ids are equal if Python says so: 1 and 1.0 are, 1 and "1" are not. NumPy scalars become Python objects.
None, NaN, and the NA and NaT of table libraries are missing values, not ids. In all functions, `locate`
returns the name of a position for messages.
"""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperclus._runtime.arrays import BLOCK, blocks, index_type, python_scalar, python_values, read_only, take
from hyperclus.errors import InputError, prefixed
from hyperclus.hypergraph.messages import named, row_of, shown
from hyperclus.typing import Booleans, Codes, Ids

NEVER_MISSING = frozenset({bool, bytes, int, str, tuple})
SHORT = 100  # integers, up to which a dictionary is faster than calls of NumPy


def id_array(values: Iterable[Any], what: str) -> Ids:
    """Return the values as a read-only 1-d array: integers as int64, everything else as objects.

    An id that is missing, cannot be hashed, or appears more than once is an `InputError`.
    """
    given = as_integers_or_list(values, f"{what} ids")
    codes, ids = encode(given, lambda position: f"{what} id at position {position}")
    if codes.size and codes.min() < 0:
        raise InputError(f"{what} id at position {np.argmin(codes)} is missing; give every {what} an id")
    if len(ids) < len(codes):
        counts = np.bincount(codes)
        raise InputError(f"{what} id {named(ids, counts > 1)} appears more than once; make the ids unique")
    return ids


def ids_or_range(ids: Iterable[Any] | None, count: int, what: str) -> Ids:
    """Return the given ids, of which there must be `count`, or 0, 1, ..."""
    if ids is None:
        return read_only(np.arange(count))
    array = id_array(ids, what)
    if len(array) != count:
        raise InputError(f"{count} {what} ids are needed, {len(array)} were given; make them equal")
    return array


def recode(codes: Codes, found: Ids, ids: Iterable[Any] | None, what: str) -> tuple[Codes, Ids]:
    """Return codes that refer to the given ids, and these; without ids, the codes and ids found."""
    if ids is not None:
        known = id_array(ids, what)
        codes, found = positions(found, known, what)[codes], known
    return codes, found


def factorize(
    values: Iterable[Any], column: Any, locate: Callable[[int], str] | None = None
) -> tuple[Codes, Ids]:
    """Return codes 0, 1, ... and the distinct values; a missing value is an `InputError`.

    By default a position is a row of `column`.
    """
    locate = locate or row_of(column)
    codes, ids = encode(as_integers_or_list(values, f"column {shown(column)}"), locate)
    refuse_missing(codes, locate)
    return codes, ids


def vertex_codes(values: Any, vertex_ids: Ids, what: str) -> tuple[Codes, Ids]:
    """Return codes and distinct values of something that every vertex has, such as a class or a label.

    The values are in the order of the vertices, or in a mapping from vertex id, or in a pandas Series with
    the vertex ids as index. A Series with the default index is treated as a list.
    """
    if isinstance(values, Mapping):
        values = _by_id(values, vertex_ids, what)
    elif hasattr(values, "index") and hasattr(values, "to_list"):
        keys = list(values.index)
        if set(vertex_ids.tolist()) <= set(keys) and len(set(keys)) == len(keys):
            values = _by_id(dict(zip(keys, values.to_list(), strict=True)), vertex_ids, what)
        elif not is_default_index(values.index):
            problem = f"the index of the {what} values does not hold the vertex ids, which begin with"
            remedy = "pass an array for values in the order of the vertices"
            raise InputError(f"{problem} {shown(vertex_ids.tolist()[:3])}; {remedy}")
    locate = f"the {what} at position {{}}".format
    codes, distinct = encode(as_integers_or_list(values, f"{what} values"), locate)
    if len(codes) != len(vertex_ids):
        raise InputError(f"{len(vertex_ids)} vertices need a {what} each, {len(codes)} were given")
    refuse_missing(codes, locate)
    return codes, distinct


def is_default_index(index: Any) -> bool:
    """Whether a pandas index is 0, 1, 2, ..., so that it names nothing."""
    kind = getattr(index, "dtype", None)
    return getattr(kind, "kind", "O") in "iu" and np.array_equal(index, np.arange(len(index)))


def _by_id(known: Mapping[Any, Any], vertex_ids: Ids, what: str) -> list[Any]:
    for vertex in vertex_ids.tolist():
        if vertex not in known:
            raise InputError(f"vertex {shown(vertex)} has no {what}; give one for each vertex id")
    return [known[vertex] for vertex in vertex_ids.tolist()]


def encode(
    values: NDArray[Any] | list[Any], locate: Callable[[int], str], block: int = BLOCK
) -> tuple[Codes, Ids]:
    """Encode what `as_integers_or_list` returns: codes, -1 for missing values, and the distinct values."""
    if isinstance(values, np.ndarray):
        return _encode_integers(values, block)
    codes, distinct = _codes_by_hash(values, locate)
    if any(issubclass(kind, np.generic) for kind in set(map(type, distinct))):
        codes, distinct = _codes_by_hash([python_scalar(value) for value in values], locate)
    if not set(map(type, distinct)) <= NEVER_MISSING:
        absent = np.fromiter(map(is_missing, distinct), bool, len(distinct))
        codes = drop_codes(codes, absent)
        distinct = [value for value in distinct if not is_missing(value)]
    ids = _integers(distinct)
    return codes, read_only(object_array(distinct) if ids is None else ids)


def positions(wanted: Iterable[Any], ids: Ids, what: str) -> Codes:
    """Return the position of each wanted id in `ids`; an unknown id is an `InputError`."""
    wanted = as_integers_or_list(wanted, f"{what} ids")
    found = known_positions(wanted, ids, what)
    if found.size and found.min() < 0:
        name = shown(wanted[int(np.argmin(found))])
        problem = f"{what} {name} is not among the {len(ids)} known {what} ids"
        raise InputError(f"{problem}; add it or leave it out")
    return found


def known_positions(wanted: NDArray[Any] | list[Any], ids: Ids, what: str) -> Codes:
    """Return the position in `ids` of each id that `as_integers_or_list` returned, -1 for unknown ones."""
    both: NDArray[Any] | list[Any]
    if isinstance(wanted, np.ndarray) and ids.dtype != object:
        both = np.concatenate([ids, wanted.astype(np.int64, copy=False)])
    else:
        both = [*ids.tolist(), *(wanted if isinstance(wanted, list) else wanted.tolist())]
    # The known ids come first and are unique, so their codes are their positions.
    codes, _ = encode(both, lambda position: f"{what} id at position {position - len(ids)}")
    found = codes[len(ids) :]
    return np.where(found < len(ids), found, -1)


def as_integers_or_list(values: Any, what: str) -> NDArray[Any] | list[Any]:
    """Return a 1-d integer array if all values are integers (not booleans), otherwise a list."""
    if isinstance(getattr(values, "dtype", None), np.dtype):  # an array, or a pandas column around one
        values = np.asanyarray(values)
        if values.ndim == 1 and values.dtype.kind in "iu" and not isinstance(values, np.ma.MaskedArray):
            fits = values.dtype != np.uint64 or not values.size or values.max() <= np.iinfo(np.int64).max
            return values if fits else as_list(values, what)
    items = as_list(values, what)
    integers = _integers(items)
    return items if integers is None else integers


def as_list(values: Any, what: str) -> list[Any]:
    """Return a list of Python objects; text, sets and mappings are an `InputError`."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InputError(f"{what} must be one-dimensional, not of shape {values.shape}")
        return python_values(values)
    if hasattr(values, "to_pylist"):  # Arrow, which would iterate over its own scalars
        values = values.to_pylist()
    if isinstance(values, str | bytes | set | frozenset | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"{what} must be a list or an array, not {shown(values)}")
    return list(values)


def object_array(values: list[Any]) -> NDArray[Any]:
    """Return a 1-d array of Python objects, also of tuples and lists."""
    return np.fromiter(values, dtype=object, count=len(values))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or the NA or NaT of a table library."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | complex | np.inexact | np.datetime64 | np.timedelta64) and value != value


def refuse_missing(
    codes: Codes, locate: Callable[[int], str], remedy: str | InputError = "fill it or leave it out"
) -> None:
    """Raise an `InputError` that names the first position with a code below 0."""
    if codes.size and codes.min() < 0:
        raise prefixed(f"{locate(int(np.argmax(codes < 0)))}: the value is missing; ", remedy)


def drop_codes(codes: Codes, absent: Booleans) -> Codes:
    """Renumber codes without the values marked absent, whose codes become -1."""
    return np.where(absent, -1, np.cumsum(~absent) - 1).astype(codes.dtype)[codes]


def _encode_integers(values: NDArray[Any], block: int) -> tuple[Codes, Ids]:
    if not len(values):
        return np.empty(0, dtype=np.int32), read_only(np.empty(0, dtype=np.int64))
    if len(values) <= SHORT:
        codes, few = _codes_by_hash(values.tolist(), str)
        return codes, read_only(np.array(few, dtype=np.int64))
    low, high = int(values.min()), int(values.max())
    kind = index_type(len(values))
    if high - low > 4 * len(values) + 1000:
        distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        by_appearance = np.argsort(first)
        rank = np.empty(len(first), dtype=kind)
        rank[by_appearance] = np.arange(len(first))
        return rank[inverse], read_only(distinct[by_appearance].astype(np.int64))
    table = np.full(high - low + 1, -1, dtype=kind)
    for rows in reversed(list(blocks(len(values), block))):  # backwards: the first row stays
        table[np.subtract(values[rows], low, dtype=np.intp)[::-1]] = np.arange(rows.start, rows.stop)[::-1]
    present = np.flatnonzero(table >= 0)
    by_appearance = present[np.argsort(table[present])]
    table[by_appearance] = np.arange(len(by_appearance))
    return take(table, values, low, block), read_only(by_appearance + low)


def _codes_by_hash(values: list[Any], locate: Callable[[int], str]) -> tuple[Codes, list[Any]]:
    index: defaultdict[Any, int] = defaultdict()
    index.default_factory = index.__len__  # a new value gets the next code
    position = 0
    try:
        codes = np.fromiter(map(index.__getitem__, values), index_type(len(values)), len(values))
    except TypeError:
        with contextlib.suppress(TypeError):
            for position, value in enumerate(values):  # noqa: B007
                hash(value)
        problem = f"{locate(position)}: {shown(values[position])} cannot be an id"
        raise InputError(f"{problem}; use text, numbers or tuples") from None
    return codes, list(index)


def _integers(values: list[Any]) -> NDArray[np.int64] | None:
    """Return the values as int64; None unless all are integers (not booleans) that fit."""
    if values and type(values[0]) is int and set(map(type, values)) == {int}:
        with contextlib.suppress(OverflowError):
            return np.array(values, dtype=np.int64)
    return None
