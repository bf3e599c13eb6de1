"""Numbers between PyArrow and NumPy without a copy.

PyArrow's own conversions import pandas where it is installed, which takes a quarter of a second and 40 MB.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperclus._runtime.optional import arrow


def from_integers(values: NDArray[Any]) -> Any:
    """Return integers of 32 or 64 bits as a PyArrow array."""
    pa = arrow()
    kind = pa.int32() if values.dtype == np.int32 else pa.int64()
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def to_numbers(values: Any) -> NDArray[Any]:
    """Return the numbers of a PyArrow array as NumPy's; those that are missing are NaN."""
    if values.null_count or not len(values):
        return np.asarray(values.to_numpy(zero_copy_only=False))
    kind = np.dtype(values.type.to_pandas_dtype())
    _, data = values.buffers()
    return np.frombuffer(data, kind, len(values), values.offset * kind.itemsize)
