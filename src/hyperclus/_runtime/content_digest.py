"""Hash values by their content, for the names of checkpoints."""

from hashlib import blake2b
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

_content_keys: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()


def content_digest(value: Any) -> bytes:
    """Hash a value by its type and content, never by its `repr`, which may contain an address.

    Values may be None, numbers, text, bytes, arrays, random generators, tuples, lists and dicts of these, and
    objects with a `content_key()`. Anything else raises a TypeError.

    >>> content_digest([np.int64(1)]) == content_digest([1]), content_digest("1") == content_digest(1)
    (True, False)
    """
    if isinstance(value, np.generic):
        value = value.item()
    digest = blake2b(type(value).__name__.encode())
    if hasattr(value, "content_key"):
        digest.update(_content_key(value))
    elif isinstance(value, np.random.Generator):
        digest.update(content_digest(value.bit_generator.state))
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        rows = value.T if is_column_major(value) else value
        digest.update(content_digest((value.dtype.str, value.shape, rows is value)))
        digest.update(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data)
    elif isinstance(value, tuple | list | dict):
        for item in value.items() if isinstance(value, dict) else value:
            digest.update(content_digest(item))
    elif isinstance(value, float):
        digest.update(value.hex().encode())
    elif isinstance(value, bytes):
        digest.update(value)
    elif value is None or isinstance(value, bool | int | str):
        digest.update(str(value).encode())
    else:
        raise TypeError(f"the key of a checkpoint cannot contain a {type(value).__name__}")
    return digest.digest()


def is_column_major(array: NDArray[Any]) -> bool:
    """Whether columns are contiguous in memory; the order of additions, so the last bit, depends on it."""
    return array.ndim == 2 and min(array.shape) > 1 and array.strides[0] < array.strides[1]


def _content_key(value: Any) -> bytes:
    """`content_key()` of a value; computed once for hashable values, which do not change."""
    try:
        if value not in _content_keys:
            _content_keys[value] = value.content_key()
        return _content_keys[value]
    except TypeError:
        return cast(bytes, value.content_key())
