"""Where threads pay: in the sparse products, and not in BLAS on tall, thin blocks.

SciPy's sparse products release the interpreter lock. BLAS products of a tall, thin block are bound by
memory, gain nothing from more threads, and lose much to threads that spin when the machine is busy
(measured: five times slower beside one other process).
"""

from collections.abc import Callable, Sequence
from functools import cache, wraps
from threading import Thread
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def in_parallel(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """The results of all tasks, in order, each from a thread of its own; a task's error is raised here."""
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


def single_blas_thread(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Run the function with BLAS limited to one thread; the limit is lifted afterwards."""

    @wraps(function)
    def limited(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with _blas().limit(limits=1):
            return function(*args, **kwargs)

    return limited


@cache
def _blas() -> Any:
    import scipy.linalg  # noqa: F401  SciPy brings a BLAS of its own, which must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
