"""Data frames: pandas when it is needed, and the names of columns."""

from typing import Any

from hyperclus._runtime.optional import library

_TAKEN = (
    "cluster",
    "share",
    "lift",
    "coverage",
    "coverage_all",
    "flow",
    "information",
    "score",
    "phi",
    "stay",
)


def pandas_for(method: str) -> Any:
    """Import pandas, or raise an error that says which method needs it."""
    return library("pandas", "pandas", method, "pandas")


def column_name(noun: str, usual: str) -> str:
    """Return a noun as the name of a column, unless another column of the table has that name."""
    return usual if noun in _TAKEN or noun.startswith("share_") else noun
