"""What hyperclus raises; catch `HyperclusError` to catch them all."""

from numbers import Integral, Real
from typing import Any


class HyperclusError(Exception):
    """Base of every error that hyperclus raises on purpose."""


class InputError(HyperclusError, ValueError):
    """The data or an argument cannot be used; the message names the place and the remedy."""


class ConvergenceError(HyperclusError, RuntimeError):
    """An iteration ended short of its tolerance; `residual` is the figure it reached."""

    def __init__(self, message: str, residual: float) -> None:
        super().__init__(message)
        self.residual = residual

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.residual)


class ClusterError(HyperclusError, RuntimeError):
    """A cluster of machines failed, not the data; the message says what to do."""


class DownloadError(HyperclusError):
    """A data set could not be fetched; the message says why and where its files can be put by hand."""


class MissingLibraryError(HyperclusError, ImportError):
    """An optional library is needed for this call; the message has the install command."""


class LossWarning(UserWarning):
    """A format or another library cannot hold all of a hypergraph; the message names what is lost."""


def is_number(value: Any) -> bool:
    """Whether a value is a real number; True and False are none, NaN and infinity are."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_integer(argument: str, value: Any, least: int = 1) -> None:
    """Raise an `InputError` unless the value of an argument is an integer from `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{argument} must be a whole number from {least}; got {value!r}")


def check_choice(argument: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise an `InputError` unless the value of an argument is one of a few words."""
    if not (isinstance(value, str) and value in choices):
        known = ", ".join(map(repr, choices[:-1]))
        raise InputError(f"{argument} must be {known} or {choices[-1]!r}, not {value!r}")
