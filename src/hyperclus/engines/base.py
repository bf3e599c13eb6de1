"""Vectors that lie in the memory of the host, on a device, or in chunks on many workers.

NumPy's functions work on all of them; only what makes new arrays, what goes from one place to the other, and
what costs a round where vectors lie on many workers, is here.
"""

import sys
from collections.abc import Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Vector = TypeVar("Vector")


def namespace(array: Any) -> Any:
    """The module that an array's type comes from: NumPy, or the one of the device."""
    return np if isinstance(array, np.ndarray) else sys.modules[type(array).__module__]


def on_host(array: Any) -> NDArray[Any]:
    """The array in the memory of the host."""
    return array if isinstance(array, np.ndarray) else array.get()


def asarray_like(array: Any, other: Any) -> Any:
    """An array of the host where the other one lies, in its type of number; a small one for many workers."""
    return array if is_scattered(other) else namespace(other).asarray(array, dtype=other.dtype)


def empty_columns(column: Any, count: int) -> Any:
    """Room for so many columns like this one, each of them contiguous."""
    if is_scattered(column):
        return column.columns(count)
    return namespace(column).empty((len(column), count), dtype=column.dtype, order="F")


def is_scattered(array: Any) -> bool:
    """Whether a vector or a block lies in chunks on many workers, where each look at it costs a round."""
    return hasattr(array, "scattered")


def persist(vector: Vector) -> Vector:
    """The vector; on many workers it is stored once it is computed, and not computed again."""
    if is_scattered(vector):
        cast(Any, vector).keep()
    return vector


def fetch(values: Sequence[Any]) -> list[Any]:
    """Numbers and small arrays on the host; on many workers all of them from one round."""
    first = next((value for value in values if is_scattered(value)), None)
    found = values if first is None else first.with_others(values)
    return [value.get() if hasattr(value, "get") else value for value in found]


def take(table: Any, codes: Any) -> Any:
    """table[codes], for a small table."""
    return codes.looked_up_in(table) if is_scattered(codes) else table[codes]
