"""Data frames: pandas when it is needed, and the names of columns."""

from collections.abc import Mapping
from typing import Any

from hyperclus._runtime.optional import library
from hyperclus.typing import Ids

LABEL_COLUMNS = ("vertex", "cluster", "confidence", "margin", "next_cluster", "outlier")  # of labels
_TAKEN = (
    *LABEL_COLUMNS[1:],
    "share",
    "lift",
    "coverage",
    "coverage_all",
    "flow",
    "information",
    "score",
    "phi",
    "stay",
    "unknown",
)


def pandas_for(method: str) -> Any:
    """Import pandas, or raise an error that says which method needs it."""
    return library("pandas", "pandas", method, "pandas")


def frame_of(method: str, ids: Ids, id_column: str, columns: Mapping[str, Any]) -> Any:
    """Return a data frame of ids and other columns; `method` is named if pandas is missing."""
    pandas = pandas_for(method)
    try:
        names = pandas.Series(ids)
    except UnicodeEncodeError:  # half of a surrogate pair
        names = pandas.Series(ids, dtype=object)
    return pandas.DataFrame({id_column: names, **columns})


def column_name(noun: str, usual: str) -> str:
    """Return a noun as the name of a column, unless another column of the table has that name."""
    return usual if noun in _TAKEN or noun.startswith("share_") else noun
