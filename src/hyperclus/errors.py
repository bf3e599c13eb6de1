"""What hyperclus raises; catch `HyperclusError` to catch them all."""


class HyperclusError(Exception):
    """Base of every error that hyperclus raises on purpose."""


class InputError(HyperclusError, ValueError):
    """The data or an argument cannot be used; the message names the place and the remedy."""


class ConvergenceError(HyperclusError, RuntimeError):
    """An iteration ended short of its tolerance; `residual` is the figure it reached."""

    def __init__(self, message: str, residual: float) -> None:
        super().__init__(message)
        self.residual = residual


class MissingLibraryError(HyperclusError, ImportError):
    """An optional library is needed for this call; the message has the install command."""
