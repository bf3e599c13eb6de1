"""Columns out of any table: a mapping, a 2-d array, or a pandas, polars or PyArrow table."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperclus.errors import InputError
from hyperclus.ids import object_array


def columns_of(table: Any) -> dict[Any, NDArray[Any]]:
    """The columns by name, each a 1-d array; all of one length."""
    if isinstance(table, Mapping):
        columns = {name: _column(values) for name, values in table.items()}
    elif isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise InputError(f"a table has two dimensions, this array has shape {table.shape}")
        columns = {position: table[:, position] for position in range(table.shape[1])}
    else:
        columns = _frame_columns(table)
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the columns have different lengths: {lengths}; make them equal")
    return columns


def pick(columns: Mapping[Any, NDArray[Any]], name: Any) -> NDArray[Any]:
    """One column; an unknown name is an `InputError` that lists the known ones."""
    if name not in columns:
        known = ", ".join(repr(known) for known in list(columns)[:10])
        raise InputError(f"the table has no column {name!r}; its columns are {known}")
    return columns[name]


def _frame_columns(table: Any) -> dict[Any, NDArray[Any]]:
    import narwhals as nw

    try:
        frame = nw.from_native(table, eager_only=True)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"a table must be a mapping of columns, a 2-d array, or a pandas, polars or PyArrow table, "
            f"not {type(table).__name__} ({error})"
        ) from None
    return {name: _series(frame[name]) for name in frame.columns}


def _series(series: Any) -> NDArray[Any]:
    if series.null_count():  # NumPy would turn integers with gaps into floats
        return object_array(series.to_list())
    return _column(series.to_numpy())


def _column(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InputError(f"a column must be one-dimensional, got shape {values.shape}")
        return values
    if isinstance(values, str):
        raise InputError(f"a column must be a sequence of values, not the text {values!r}")
    listed = list(values)
    if all(type(value) in (int, float) for value in listed):
        return np.asarray(listed)
    return object_array(listed)
