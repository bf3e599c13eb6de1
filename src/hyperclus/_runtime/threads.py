"""Threads for tasks that release the interpreter lock, and one thread for BLAS.

Sparse products and compiled kernels gain from threads. BLAS products of a tall, thin block are bound by
memory bandwidth: more threads gain nothing, and spinning threads lose much on a busy machine (measured: five
times slower beside one other process).
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, wraps
from threading import Lock, Thread
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

Parameters = ParamSpec("Parameters")
Item = TypeVar("Item")
Result = TypeVar("Result")


def available_threads() -> int:
    """The number of processors that this process may use, at most 8."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(8, processors or 1)


def in_parallel(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run each task in its own thread and return the results in order, or raise the first error."""
    if len(tasks) == 1:
        return [tasks[0]()]
    results: dict[int, Result] = {}
    errors: list[BaseException] = []

    def run(position: int) -> None:
        try:
            results[position] = tasks[position]()
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=run, args=(position,)) for position in range(1, len(tasks))]
    for thread in threads:
        thread.start()
    run(0)
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[position] for position in range(len(tasks))]


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None
) -> Iterator[Result]:
    """Compute the results of a function on several threads, and yield them in the order of the items.

    No more tasks than threads have begun whose results were not used, so that these take little memory.
    """
    threads = available_threads() if threads is None else threads
    if threads == 1:
        yield from map(function, items)
        return
    running: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for item in items:
            running.append(pool.submit(function, item))
            if len(running) == threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def ahead(produce: Callable[[], Result | None]) -> Iterator[Result]:
    """Yield what a function returns until that is None; it computes the next result while one is in use."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(produce)
        while (result := coming.result()) is not None:
            coming = pool.submit(produce)
            yield result
            del result


def single_blas_thread(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Limit BLAS to one thread while the function runs."""

    @wraps(function)
    def limited(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with _one_thread:
            return function(*args, **kwargs)

    return limited


def scipy_linalg() -> ModuleType:
    """scipy.linalg, whose BLAS then has the limit in force, if there is one.

    Loading it takes about as long as `cluster` on 10,000 incidences, which does without it.
    """
    import scipy.linalg

    with _one_thread.lock:
        _one_thread.limit_what_is_loaded()
    return scipy.linalg


class _OneThread:
    """The limit, which is global: set by the first thread that needs it and lifted by the last."""

    def __init__(self) -> None:
        self.lock, self._users = Lock(), 0
        self._limits: dict[bool, Any] = {}

    def __enter__(self) -> None:
        with self.lock:
            self._users += 1
            self.limit_what_is_loaded()

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self._users -= 1
            while not self._users and self._limits:
                self._limits.popitem()[1].restore_original_limits()

    def limit_what_is_loaded(self) -> None:
        """Limit the BLAS of NumPy, and that of SciPy as soon as it is there; call it with the lock."""
        with_scipy = "scipy.linalg" in sys.modules
        if self._users and with_scipy not in self._limits:
            self._limits[with_scipy] = _blas(with_scipy).limit(limits=1)


_one_thread = _OneThread()


@cache
def _blas(with_scipy: bool) -> Any:
    """The BLAS libraries that are loaded; they are looked for again when SciPy's has come."""
    return ThreadpoolController().select(user_api="blas")
