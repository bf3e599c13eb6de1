"""Values that hold inside a context."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Value = TypeVar("Value")


@contextmanager
def using(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Set a context variable inside the context."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
