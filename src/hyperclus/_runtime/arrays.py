"""Helpers for NumPy arrays: read-only views, processing in blocks, index types, Python values."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 20  # elements per block


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def freeze(value: Any) -> None:
    """Make the arrays among the fields of a dataclass read-only."""
    for field in fields(value):
        if isinstance(array := getattr(value, field.name), np.ndarray):
            array.flags.writeable = False


def index_type(largest: int) -> type[np.signedinteger[Any]]:
    """Return int32 if it can represent `largest`, otherwise int64."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def blocks(length: int, block: int = BLOCK) -> Iterator[slice]:
    """Return slices that divide an array into blocks, so that temporary arrays stay small."""
    return (slice(start, min(start + block, length)) for start in range(0, length, block))


def take(table: NDArray[Any], values: NDArray[Any], low: int = 0, block: int = BLOCK) -> NDArray[Any]:
    """Return table[values - low], computed block by block."""
    taken = np.empty(len(values), dtype=table.dtype)
    for some in blocks(len(values), block):
        taken[some] = table[np.subtract(values[some], low, dtype=np.intp)]
    return taken


def along(values: NDArray[np.float64], block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values as factors of the rows of a vector or of a block of columns."""
    return values if block.ndim == 1 else values[:, None]


def python_values(array: NDArray[Any]) -> list[Any]:
    """Return `tolist()`, but never integers for times finer than a microsecond."""
    kind = array.dtype.kind
    if kind in "mM" and np.datetime_data(array.dtype)[0] in ("ns", "ps", "fs", "as"):
        coarse = array.astype(f"{kind}8[us]")
        exact = ((coarse == array) | np.isnat(array)).all()
        return list(coarse.tolist() if exact else array)
    return list(array.tolist())


def python_scalar(value: Any) -> Any:
    """Convert a NumPy scalar to a Python object; other values are returned unchanged."""
    return python_values(np.asarray([value]))[0] if isinstance(value, np.generic) else value
