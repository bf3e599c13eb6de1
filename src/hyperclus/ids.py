"""Ids of vertices and hyperedges: any hashable values, numbered by first appearance."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperclus.errors import InputError
from hyperclus.types import Ids, Integers


def id_array(values: Iterable[Any], what: str) -> Ids:
    """The values as a read-only 1-d array: integers as int64, everything else as objects.

    Raises
    ------
    InputError
        When an id is missing (None or NaN), cannot be hashed, or appears twice.
    """
    ids = _frozen(_plain(values).copy())
    if ids.dtype != object:
        ordered = ids if (ids[1:] > ids[:-1]).all() else np.sort(ids)
        repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
        if repeated.size:
            raise InputError(_not_unique(ordered[repeated[0]].item(), what))
        return ids
    seen = set()
    for position, value in enumerate(ids):
        _refuse_missing(value, f"the {what} id at position {position}")
        if value in seen:
            raise InputError(_not_unique(value, what))
        seen.add(value)
    return ids


def factorize(values: Iterable[Any], column: str) -> tuple[Integers, Ids]:
    """Codes 0, 1, ... in order of first appearance, and the distinct values.

    >>> codes, ids = factorize(["b", "a", "b"], "vertex")
    >>> codes.tolist(), ids.tolist()
    ([0, 1, 0], ['b', 'a'])
    """
    array = _plain(values)
    if array.dtype != object:
        return _factorize_integers(array)
    index: dict[Any, int] = {}
    codes = np.empty(len(array), dtype=np.int64)
    try:
        for position, value in enumerate(array.tolist()):
            codes[position] = index.setdefault(value, len(index))
    except TypeError:
        raise InputError(
            f"row {position}: the value {value!r} of column {column!r} cannot be an id; "
            "use text, numbers or tuples"
        ) from None
    ids = object_array(list(index))
    for code, value in enumerate(ids):
        if is_missing(value):
            row = int(np.argmax(codes == code))
            raise InputError(f"row {row}: column {column!r} is missing; fill it or leave the row out")
    return codes, _frozen(ids)


def positions(wanted: Iterable[Any], ids: Ids, what: str) -> Integers:
    """Where each wanted id stands in `ids`; an unknown id is an `InputError`."""
    index = {value: position for position, value in enumerate(ids.tolist())}
    found = np.array([index.get(value, -1) for value in wanted], dtype=np.int64)
    if found.size and found.min() < 0:
        unknown = list(wanted)[int(np.argmin(found))]
        raise InputError(f"{what} {unknown!r} is not among the {len(ids)} known {what} ids")
    return found


def named(ids: Ids, chosen: NDArray[Any], limit: int = 3) -> str:
    """The first few chosen ids, for a message: "'a', 'b', 'c' and 4 more"."""
    picked = ids[chosen]
    text = ", ".join(repr(value) for value in picked[:limit].tolist())
    return text + (f" and {len(picked) - limit} more" if len(picked) > limit else "")


def _plain(values: Iterable[Any]) -> NDArray[Any]:
    """1-d int64 where all values are integers (not booleans), otherwise 1-d objects."""
    if not isinstance(values, np.ndarray):
        listed = values if isinstance(values, Sequence | range) else list(values)
        if not all(type(value) is int for value in listed):
            return object_array(listed)
        values = np.array(listed, dtype=object if not listed else None)
    if values.ndim != 1:
        raise InputError(f"ids must be one-dimensional, got shape {values.shape}")
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        return values.astype(np.int64, copy=False)
    return object_array(values.tolist())


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """A 1-d array of Python objects; tuples and lists stay whole, NumPy scalars are unpacked."""
    array = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):  # one by one: a slice would unpack tuples
        array[position] = value.item() if isinstance(value, np.generic) else value
    return array


def _factorize_integers(values: Integers) -> tuple[Integers, Ids]:
    if not len(values):
        return values, _frozen(values)
    low, high = int(values.min()), int(values.max())
    if high - low > 4 * len(values) + 1000:
        distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        by_appearance = np.argsort(first)
        rank = np.empty_like(by_appearance)
        rank[by_appearance] = np.arange(len(rank))
        return rank[inverse], _frozen(distinct[by_appearance])
    first = np.full(high - low + 1, -1, dtype=np.int64)
    first[values[::-1] - low] = np.arange(len(values) - 1, -1, -1)  # the last write is the first row
    present = np.flatnonzero(first >= 0)
    by_appearance = present[np.argsort(first[present])]
    first[by_appearance] = np.arange(len(by_appearance))
    return first[values - low], _frozen(by_appearance + low)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def is_missing(value: Any) -> bool:
    """None, NaN, or the NA and NaT of a table library."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _refuse_missing(value: Any, place: str) -> None:
    if is_missing(value):
        raise InputError(f"{place} is missing; give every one an id")
    try:
        hash(value)
    except TypeError:
        raise InputError(f"{place}, {value!r}, cannot be an id; use text, numbers or tuples") from None


def _not_unique(value: Any, what: str) -> str:
    return f"{what} id {value!r} appears more than once; ids must be unique"
