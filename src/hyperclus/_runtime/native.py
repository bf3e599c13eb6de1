"""Kernels: loops in C++ (folder `_native`), compiled when the package is built and called through ctypes.

Why ctypes: the library does not know Python, so one file serves all its versions, a call releases the
interpreter lock, and loading takes a millisecond.
"""

import ctypes
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from hyperclus.errors import MissingLibraryError

Kind: TypeAlias = Literal[
    "indices", "floats", "singles", "integers", "codes", "booleans", "bytes", "record", "int", "float", "bool"
]

DTYPES = {
    "floats": np.dtype(np.float64),
    "singles": np.dtype(np.float32),
    "integers": np.dtype(np.int64),
    "codes": np.dtype(np.int32),
    "booleans": np.dtype(np.bool_),
    "bytes": np.dtype(np.uint8),
}
SCALARS: dict[str, Any] = {"int": ctypes.c_int64, "float": ctypes.c_double, "bool": ctypes.c_bool}
INDICES = {np.dtype(np.int32): "_i32", np.dtype(np.int64): "_i64"}
LIBRARY = "kernels.lib"


@cache
def _library() -> ctypes.CDLL:
    path = Path(__file__).parents[1] / "_native" / LIBRARY
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise _unusable(error) from error


def _unusable(error: Exception) -> MissingLibraryError:
    return MissingLibraryError(
        f"the compiled part of hyperclus cannot be loaded ({error}); install hyperclus again with 'pip "
        "install --force-reinstall --no-deps hyperclus', or in a checkout run 'python hatch_build.py'"
    )


class Record:
    """Arrays and integers that kernels read as one struct, with eight bytes for each field.

    A subclass is a frozen dataclass with the kind of each field in KINDS.
    """

    KINDS: ClassVar[tuple[Kind, ...]]

    def __post_init__(self) -> None:
        words, suffixes = list[int](), set[str]()
        for kind, field in zip(self.KINDS, fields(self), strict=True):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            words.append(int(value) if kind == "int" else address(kind, value))
            if kind == "indices":
                suffixes.add(INDICES[value.dtype])
        if len(suffixes) > 1:
            raise TypeError(f"{type(self).__name__} needs indices of one type")
        object.__setattr__(self, "native", ((ctypes.c_int64 * len(words))(*words), "".join(suffixes)))


def address(kind: Kind, array: Any) -> int:
    """Where the data of an array begin, if it is what a kernel expects of this kind."""
    expected = array.dtype in INDICES if kind == "indices" else array.dtype == DTYPES[kind]
    if not expected or not array.flags.c_contiguous:
        raise TypeError(f"a kernel needs contiguous {kind}, not {array.dtype} with strides {array.strides}")
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # read-only, or empty; asking the array takes four times as long
        return int(array.__array_interface__["data"][0])


class Kernel:
    """A function of the library, for either type of indices, given the kinds of its parameters."""

    def __init__(self, name: str, *kinds: Kind, returns: Literal["int", "float"] | None = None) -> None:
        self.name, self.kinds, self.returns = name, kinds, returns
        self._functions: dict[str, Any] = {}

    def __call__(self, *values: Any) -> Any:
        """Call it; arrays of indices must be of one type."""
        suffix, words = "", list[Any]()
        for kind, value in zip(self.kinds, values, strict=True):
            own = ""
            if kind == "record":
                word, own = value.native
            elif kind in SCALARS:
                word = value
            else:
                word = address(kind, value)
                own = INDICES[value.dtype] if kind == "indices" else ""
            if suffix and own not in ("", suffix):
                raise TypeError(f"{self.name} needs indices of one type")
            suffix = suffix or own
            words.append(word)
        function = self._functions.get(suffix) or self._load(suffix)
        return function(*words)

    def _load(self, suffix: str) -> Any:
        try:
            function = getattr(_library(), self.name + suffix)
        except AttributeError as error:  # of another version
            raise _unusable(error) from error
        function.argtypes = [SCALARS.get(kind, ctypes.c_void_p) for kind in self.kinds]
        function.restype = None if self.returns is None else SCALARS[self.returns]
        self._functions[suffix] = function
        return function
