"""How ids, values and rows are named in messages."""

import reprlib
from collections.abc import Callable, Iterable
from typing import Any

from numpy.typing import NDArray

from hyperclus._runtime.arrays import python_scalar
from hyperclus.typing import Ids

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60


def shown(value: Any) -> str:
    """A value in a message: on one line and, however long it is, short."""
    try:
        text = _short.repr(python_scalar(value))
    except ValueError:  # an integer of thousands of digits, somewhere in it
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= 120 else text[:117] + "..."


def named(ids: Ids, chosen: NDArray[Any], limit: int = 3) -> str:
    """The first few chosen ids, for a message: "'a', 'b', 'c' and 4 more"."""
    picked = ids[chosen]
    text = ", ".join(map(shown, picked[:limit].tolist()))
    return text + (f" and {len(picked) - limit} more" if len(picked) > limit else "")


def no_column(name: Any, names: Iterable[Any]) -> str:
    """Say that a table has no such column, and which it has."""
    known = list(names)
    listed = ", ".join(map(shown, known[:10])) + (f" and {len(known) - 10} more" if len(known) > 10 else "")
    return f"the table has no column {shown(name)}; its columns are {listed or 'none'}"


def row_of(column: Any) -> Callable[[int], str]:
    """Puts a row of a column into words, for messages."""
    return lambda row: f"row {row}, column {shown(column)}"


def caption(value: Any) -> str:
    """An id as people read it: text as it is, the hyperedge ("odor", "n") of a table as "odor = n".

    >>> caption(("odor", "n")), caption("ann"), caption(7)
    ('odor = n', 'ann', '7')
    """
    if isinstance(value, tuple):
        return (" = " if len(value) == 2 else ", ").join(map(caption, value))
    return str(value)
