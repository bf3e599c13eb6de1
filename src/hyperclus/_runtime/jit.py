"""Loops compiled by Numba once there is enough work, and the same loops interpreted until then.

Importing Numba takes half a second and the first compilation about seven (later ones come from a cache on
disk), which nobody with a hundred vertices should wait for. So a module of kernels is loaded twice:
as it is, and, when the work first pays for it, with every kernel compiled. Both give the same bits.
"""

import importlib.util
import logging
import sys
from collections.abc import Callable
from threading import Lock
from types import ModuleType
from typing import Any, TypeVar, cast

PAYS_FROM = 300_000  # inner steps of a kernel: about a quarter of a second when interpreted

Function = TypeVar("Function", bound=Callable[..., Any])

_log = logging.getLogger(__name__)
_compiled: dict[str, ModuleType] = {}
_compiling = False
_loading = Lock()


def kernel(function: Function) -> Function:
    """Mark a function as a kernel: plain loops over arrays that call nothing but inner kernels."""
    return _marked(function, "never")


def inner_kernel(function: Function) -> Function:
    """Mark a function that kernels call; it is inlined, as a call counts references to each array."""
    return _marked(function, "always")


def _marked(function: Function, inline: str) -> Function:
    if not _compiling:
        return function
    import numba

    options: Any = {"nogil": True, "inline": inline}
    try:
        return cast(Function, numba.njit(cache=True, **options)(function))
    except RuntimeError:  # no folder to keep the machine code in
        _log.warning("Numba finds no folder to cache compiled code in; set NUMBA_CACHE_DIR to save time")
        return cast(Function, numba.njit(**options)(function))


def kernels(module: ModuleType, work: float) -> Any:
    """The kernels of a module: compiled if the work pays for it or it has been done, else as they are."""
    if module.__name__ not in _compiled:
        if work < PAYS_FROM:
            return module
        with _loading:
            if module.__name__ not in _compiled:
                _compiled[module.__name__] = _load_compiled(module)
    return _compiled[module.__name__]


def _load_compiled(module: ModuleType) -> ModuleType:
    global _compiling
    spec = importlib.util.spec_from_file_location(module.__name__ + "_compiled", module.__file__)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[loaded.__name__] = loaded  # Numba's cache looks it up by name
    _compiling = True
    try:
        spec.loader.exec_module(loaded)
    finally:
        _compiling = False
    return loaded
