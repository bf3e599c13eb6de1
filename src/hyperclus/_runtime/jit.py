"""Kernels that are compiled with Numba once there is enough work, and run as plain Python until then.

Importing Numba takes half a second and the first compilation about seven (later processes load the code from
a cache on disk), which is too long to wait for on small hypergraphs. Both ways give the same bits.
"""

import logging
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import cache
from inspect import getsource
from threading import Lock
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar
from zlib import crc32

from hyperclus._runtime.context import using

SUFFIX = "__suffix__"  # name, in the scope of kernels, of the end of their names in Numba's cache
COMPILE_FROM = 300_000  # inner steps of a kernel: about a quarter of a second in plain Python
COMPILE_AFTER = 5  # times as many, of many small tasks

Function = TypeVar("Function", bound=Callable[..., Any])

_log = logging.getLogger(__name__)
_kernels: dict[str, tuple[dict[str, Any], dict[Any, str]]] = {}  # by module: its names, kernels, inlining
_compiled: dict[str, Any] = {}
_steps: dict[str, float] = defaultdict(float)  # of all tasks, by module
_lock = Lock()
_threshold: ContextVar[float | None] = ContextVar("threshold", default=None)


def kernel(function: Function, inline: str = "never") -> Function:
    """Mark a function as a kernel: loops over arrays that call nothing but inner kernels of its module.

    It is registered with the constants of its module as they are now: Numba compiles constants into the code
    and caches it on disk, so a later change must not get there.
    """
    scope, inlines = _kernels.setdefault(function.__module__, ({}, {}))
    scope.update(vars(sys.modules[function.__module__]))
    inlines[function] = inline
    return function


def inner_kernel(function: Function) -> Function:
    """Mark a function that kernels call; it is inlined, because a call counts references to each array."""
    return kernel(function, "always")


@cache
def specialized(loops: ModuleType, parts: ModuleType) -> ModuleType:
    """A copy of a module of kernels that calls the kernels of another module by their names.

    So the same loops serve several modules of inner kernels. Numba's cache notices changes in the file of
    the loops only, so its file names contain a checksum of the other module.
    """
    given = {**_kernels[loops.__name__][1], **_kernels[parts.__name__][1]}
    checksum = crc32(getsource(parts).encode())
    made, inlines = ModuleType(parts.__name__), {}
    vars(made).update({**vars(loops), **vars(parts), SUFFIX: f"{checksum:08x}"})
    for function, inline in given.items():
        copy = FunctionType(function.__code__, vars(made), function.__name__, function.__defaults__)
        vars(made)[function.__name__], inlines[copy] = copy, inline
    _kernels[parts.__name__] = {**vars(made)}, inlines
    return made


def kernels(module: ModuleType, work: float, more: float = 0.0) -> Any:
    """The kernels of a module: compiled if there are enough inner steps or it was done before, else plain.

    Enough are in the current task, or, COMPILE_AFTER times as many, in all of this process; `more` is by how
    many the task has grown since it last asked.
    """
    threshold = _threshold.get()
    if threshold is None:
        threshold = 0.0 if module.__name__ in _compiled else COMPILE_FROM
    _steps[module.__name__] += more
    if work < threshold and _steps[module.__name__] < COMPILE_AFTER * threshold:
        return module
    with _lock:
        if module.__name__ not in _compiled:
            _compiled[module.__name__] = _with_compiled_kernels(module)
    return _compiled[module.__name__]


def compile_from(steps: float) -> AbstractContextManager[None]:
    """Compile from this number of inner steps on, and never below it, inside this context."""
    return using(_threshold, steps)


def _with_compiled_kernels(module: ModuleType) -> SimpleNamespace | ModuleType:
    """The names of a module, with copies of its kernels that Numba compiles when they are first called.

    The copies find each other, not the plain functions, because this namespace is their scope.
    """
    try:
        import numba
    except (ImportError, OSError, ValueError) as error:  # such as NUMBA_NUM_THREADS=0
        _log.warning("Numba cannot be loaded (%s); loops run in plain Python, which is slow", error)
        return module
    scope, inlines = _kernels[module.__name__]
    for function, inline in inlines.items():
        name = function.__name__
        options: Any = {"nogil": True, "inline": inline}
        copy = FunctionType(function.__code__, scope, name, function.__defaults__)
        copy.__qualname__ = f"{name}.{scope.get(SUFFIX, 'jit')}"  # in the names of Numba's cache files
        try:
            scope[name] = _with_safe_cache(numba.njit(cache=True, **options)(copy))
        except RuntimeError:
            _log.warning("Numba finds no folder to cache compiled code in; set NUMBA_CACHE_DIR to save time")
            scope[name] = numba.njit(**options)(copy)
    return SimpleNamespace(**scope)


def _with_safe_cache(dispatcher: Any) -> Any:
    """Compile in memory where a cache file is damaged or cannot be written, instead of failing."""
    cache = dispatcher._cache

    def safe(method: Callable[..., Any]) -> Callable[..., Any]:
        def attempt(*args: Any) -> Any:
            try:
                return method(*args)
            except Exception as error:  # whatever reading a damaged pickle raises
                _log.warning(
                    "Numba's cache in %s cannot be used (%s: %s), so code is compiled in every run; delete "
                    "the folder, or set NUMBA_CACHE_DIR to another",
                    *(cache.cache_path, type(error).__name__, error),
                )
                return None

        return attempt

    cache.load_overload, cache.save_overload = safe(cache.load_overload), safe(cache.save_overload)
    return dispatcher
