"""One BLAS thread where BLAS works on tall, thin blocks.

Such products are bound by memory, gain nothing from more threads, and lose much to threads that
spin when the machine is busy (measured: five times slower beside one other process). The second
core is used by the sparse products instead.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


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
