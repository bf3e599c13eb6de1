"""Arrays that lie in the memory of the host, or on a device whose arrays follow NumPy's protocols.

NumPy's functions work on both; only what makes new arrays, and what goes from one to the other, is here.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray


def namespace(array: Any) -> Any:
    """The module that an array's type comes from: NumPy, or the one of the device."""
    return np if isinstance(array, np.ndarray) else sys.modules[type(array).__module__.partition(".")[0]]


def on_host(array: Any) -> NDArray[Any]:
    """The array in the memory of the host."""
    return array if isinstance(array, np.ndarray) else array.get()


def like(array: Any, other: Any) -> Any:
    """An array of the host where the other one lies, in its type of number."""
    return namespace(other).asarray(array, dtype=other.dtype)


def empty_columns(column: Any, count: int) -> Any:
    """Room for so many columns like this one, each of them contiguous."""
    return namespace(column).empty((len(column), count), dtype=column.dtype, order="F")
