"""Errors that hyperclus raises, all of them a `HyperclusError`, and checks of arguments."""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument that a message names, with its value unless that is None.

    Python users read it as Python, users of the command line as an option. `for_writing` marks an argument
    of a function that writes a file.

    >>> print(Argument("duplicates", "sum"))
    duplicates='sum'
    """

    name: str
    value: Any = None
    for_writing: bool = False

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


class HyperclusError(Exception):
    """Base class of all errors that hyperclus raises on purpose.

    Its `args` are the parts of the message: text, and an `Argument` for each argument that it names.
    """

    def __str__(self) -> str:
        return "".join(map(str, self.args))


class InputError(HyperclusError, ValueError):
    """Invalid data or an invalid argument; the message says where the problem is and what to do."""


class ConvergenceError(HyperclusError, RuntimeError):
    """An iteration did not reach its tolerance; `residual` is what it reached."""

    def __init__(self, message: str, residual: float) -> None:
        super().__init__(message)
        self.residual = residual

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.residual)


class ClusterError(HyperclusError, RuntimeError):
    """Failure of a cluster of machines, not of the data; the message says what to do."""


class DownloadError(HyperclusError):
    """A data set cannot be downloaded; the message says why and where to put its files instead."""


class MissingLibraryError(HyperclusError, ImportError):
    """A call needs an optional library; the message has the install command."""


class LossWarning(UserWarning):
    """A format or another library cannot represent all of a hypergraph; the message names what is lost."""


def prefixed(prefix: str, message: str | InputError) -> InputError:
    """Create an error with a text before its message."""
    return InputError(prefix, *(message.args if isinstance(message, InputError) else (message,)))


def is_number(value: Any) -> bool:
    """Whether a value is a real number, including NaN and infinity, but not a boolean."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_integer(argument: str, value: Any, least: int = 1) -> None:
    """Raise an `InputError` unless the value of an argument is an integer from `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(Argument(argument), f" must be a whole number from {least}; got {value!r}")


def check_number(argument: str, value: Any, above: float = -math.inf) -> None:
    """Raise an `InputError` unless the value of an argument is a number, and above a limit."""
    if not (is_number(value) and value > above):
        wanted = "a number" if above == -math.inf else f"a number above {above:g}"
        raise InputError(Argument(argument), f" must be {wanted}; got {value!r}")


def check_callable(argument: str, value: Any) -> None:
    """Raise an `InputError` unless the value of an argument can be called."""
    if not callable(value):
        raise InputError(Argument(argument), f" must be a function, not {value!r}")


def check_switch(argument: str, value: Any) -> None:
    """Raise an `InputError` unless the value of an argument is True or False."""
    if not isinstance(value, bool):
        raise InputError(Argument(argument), f" must be True or False; got {value!r}")


def check_choice(argument: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise an `InputError` unless the value of an argument is one of the choices."""
    if not (isinstance(value, str) and value in choices):
        known = ", ".join(map(repr, choices[:-1]))
        raise InputError(Argument(argument), f" must be {known} or {choices[-1]!r}, not {value!r}")
