"""Data frames: pandas when it is needed, and the names of columns."""

from collections.abc import Mapping
from typing import Any

from hyperclus._runtime.optional import library
from hyperclus.typing import Ids

LABEL_COLUMNS = ("vertex", "cluster", "confidence", "margin", "next_cluster", "outlier")  # of labels


def pandas_for(method: str) -> Any:
    """Import pandas, or raise an error that says which method needs it."""
    return library("pandas", "pandas", method, "pandas")


def frame_of(method: str, ids: Ids, noun: str, usual: str, columns: Mapping[str, Any]) -> Any:
    """Return a data frame of ids and other columns; `method` is named if pandas is missing.

    The column of the ids is called by their noun, or as usual if another column has that name.
    """
    pandas = pandas_for(method)
    try:
        names = pandas.Series(ids)
    except UnicodeEncodeError:  # half of a surrogate pair
        names = pandas.Series(ids, dtype=object)
    return pandas.DataFrame({usual if noun in ("cluster", *columns) else noun: names, **columns})
