"""Threads for tasks that release the interpreter lock, and one thread for BLAS.

Sparse products and compiled kernels gain from threads. BLAS products of a tall, thin block are bound by
memory bandwidth: more threads gain nothing, and spinning threads lose much on a busy machine (measured: five
times slower beside one other process).
"""

from collections.abc import Callable, Sequence
from functools import cache, wraps
from threading import Lock, Thread
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def in_parallel(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run each task in its own thread and return the results in order, or raise the first error."""
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


def single_blas_thread(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Limit BLAS to one thread while the function runs."""

    @wraps(function)
    def limited(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with _one_thread:
            return function(*args, **kwargs)

    return limited


class _OneThread:
    """The limit, which is global: set by the first thread that needs it and lifted by the last."""

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limit = _blas().limit(limits=1)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


_one_thread = _OneThread()


@cache
def _blas() -> Any:
    import scipy.linalg  # noqa: F401  SciPy has its own BLAS, which must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
