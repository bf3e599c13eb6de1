"""How ids, values, rows and columns are named in messages."""

import reprlib
from collections.abc import Callable, Iterable
from typing import Any

from numpy.typing import NDArray

from hyperclus._runtime.arrays import python_scalar
from hyperclus.typing import Ids

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60


def shown(value: Any) -> str:
    """Return the repr of a value, shortened and on one line."""
    if type(value) is str and len(value) <= 60 and len(text := repr(value)) <= 60:  # as below, but faster
        return text
    try:
        text = _short.repr(python_scalar(value))
    except ValueError:  # it contains an integer of thousands of digits
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= 120 else text[:117] + "..."


def count(number: int, one: str, many: str | None = None) -> str:
    """Format a number of things.

    >>> count(1, "vertex", "vertices"), count(2000, "cluster")
    ('1 vertex', '2,000 clusters')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def first_few(values: Any, limit: int = 3, show: Callable[[Any], str] = shown) -> str:
    """List the first few values of a sequence and say how many more there are."""
    more = f" and {len(values) - limit:,} more" if len(values) > limit else ""
    return ", ".join(map(show, values[:limit])) + more


def named(ids: Ids, chosen: NDArray[Any]) -> str:
    """List the first few of the ids that a mask or positions choose."""
    return first_few(ids[chosen])


def no_column(name: Any, names: Iterable[Any]) -> str:
    """Say that a table has no such column, and which columns it has."""
    return f"the table has no column {shown(name)}; its columns are {first_few(list(names), 10) or 'none'}"


def row_of(column: Any) -> Callable[[int], str]:
    """Return a function that names a row of a column."""
    return lambda row: f"row {row}, column {shown(column)}"


def caption(value: Any) -> str:
    """Return an id as people write it: text as it is, a hyperedge of a table as "column = value".

    >>> caption(("odor", "n")), caption("ann"), caption(7)
    ('odor = n', 'ann', '7')
    """
    if isinstance(value, tuple):
        return (" = " if len(value) == 2 else ", ").join(map(caption, value))
    return str(value)
