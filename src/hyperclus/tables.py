"""Columns out of any table: a mapping, a 2-d array, or a pandas, polars or PyArrow table.

A column is kept as it came (an array, a list or a narwhals Series) until it is picked, so that
columns nobody asks for cost nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hyperclus.errors import InputError, check_choice
from hyperclus.ids import (
    encode,
    index_type,
    listed,
    named,
    numbers_only,
    object_array,
    plain,
    refuse_missing,
    row_of,
    shown,
    without,
)
from hyperclus.types import AbsencePolicy, Codes, Ids, MissingPolicy


def columns_of(table: Any) -> dict[Any, Any]:
    """The columns by name; all of one length."""
    if isinstance(table, Mapping):
        columns = {name: _column(values, name) for name, values in table.items()}
    elif isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise InputError(f"a table has two dimensions, this array has shape {table.shape}")
        columns = dict(enumerate(np.asarray(table).T if isinstance(table, np.matrix) else table.T))
    else:
        frame = _frame(table)
        if frame is None:
            raise InputError(
                "a table must be a mapping of columns, a 2-d array, or a pandas, polars or PyArrow table "
                f"in memory, not {type(table).__name__}"
            )
        columns = {name: frame.get_column(name) for name in frame.columns}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the columns have different lengths, {shown(lengths)}; make them equal")
    return columns


def row_names(table: Any) -> Any:
    """The index of a pandas data frame that names its rows; None where it only numbers them."""
    index = None if isinstance(table, Mapping | np.ndarray) else getattr(table, "index", None)
    if index is None or not hasattr(index, "to_list") or numbers_only(index):
        return None
    return index.to_list()


def pick(columns: Mapping[Any, Any], name: Any) -> NDArray[Any] | list[Any]:
    """The values of one column; an unknown name is an `InputError` that lists the known ones."""
    column = _known(columns, name)
    if isinstance(column, np.ndarray | list):
        return column
    import narwhals as nw

    # An integer column with gaps must not pass through floats.
    exact = column.dtype in (nw.Float32, nw.Float64) or not column.null_count()
    values: NDArray[Any] | list[Any]
    values = column.to_numpy() if exact and column.dtype.is_numeric() else column.to_list()
    return values


def pick_codes(columns: Mapping[Any, Any], name: Any) -> tuple[Codes, Ids]:
    """One column as codes in order of first appearance, -1 where it is missing, and its values."""
    column = _known(columns, name)
    if not isinstance(column, np.ndarray | list):
        native = _native_codes(column)
        if native is not None:
            return native
    return encode(plain(pick(columns, name), f"column {shown(name)}"), row_of(name))


def feature_edges(
    columns: Mapping[Any, Any], features: Sequence[Any], missing: MissingPolicy, constant: AbsencePolicy
) -> tuple[Codes, Codes, Ids]:
    """One hyperedge per (feature, value): the edge and the row of each incidence, and the edge ids."""
    check_choice("missing", missing, get_args(MissingPolicy))
    check_choice("constant", constant, get_args(AbsencePolicy))
    n_rows = max((len(_known(columns, name)) for name in features), default=0)
    if not n_rows:
        raise InputError("the table is empty; it needs at least one feature and one row")
    if len(set(features)) < len(features):
        raise InputError(f"features names a column twice: {shown(features)}; name each once")
    kind = index_type(n_rows * len(features))
    blocks: list[Codes] = []
    edges: list[tuple[Any, Any]] = []
    for name in features:
        codes, values = _categories(columns, name, missing)
        if len(values) == 1 and codes.min() == 0 and constant != "keep":
            if constant == "error":
                raise InputError(
                    f"column {shown(name)} has the single value {shown(values[0])}; leave it out, or pass "
                    "constant='drop' or constant='keep'"
                )
            continue
        blocks.append(np.where(codes < 0, -1, codes + np.asarray(len(edges), dtype=kind)))
        edges += [(name, value) for value in values]
    if not edges:
        raise InputError(
            "no feature has two different values, so no row differs from another; add a feature, or pass "
            "constant='keep'"
        )
    all_codes, rows = np.concatenate(blocks), np.tile(np.arange(n_rows, dtype=kind), len(blocks))
    present = all_codes >= 0
    if not present.all():
        all_codes, rows = all_codes[present], rows[present]
    return all_codes, rows, object_array(edges)


def _categories(columns: Mapping[Any, Any], name: Any, missing: MissingPolicy) -> tuple[Codes, list[Any]]:
    """Codes and values of one feature; code -1 where the row is in no hyperedge of it."""
    codes, ids = pick_codes(columns, name)
    values = ids.tolist()
    absent = codes < 0
    if missing == "error":
        refuse_missing(codes, row_of(name), "fill it, or pass missing='category' or missing='drop'")
    if missing == "category" and absent.any():
        codes = np.where(absent, len(values), codes)
        values.append(None)
    return codes, values


def unframed(matrix: Any) -> tuple[Any, Any, Any]:
    """A data frame as a matrix, its index (None where it has none) and its column names.

    Anything else comes back as it is, with None twice.
    """
    frame = None if sp.issparse(matrix) or isinstance(matrix, np.ndarray | list | tuple) else _frame(matrix)
    if frame is None:
        return matrix, None, None
    import narwhals as nw

    index = nw.maybe_get_index(frame)
    if frame.columns and hasattr(matrix, "sparse"):  # pandas, where every column is sparse
        try:
            return matrix.sparse.to_coo(), index, frame.columns
        except ValueError:
            raise InputError(
                "the sparse columns must leave out zeros, not other values; convert them with fill_value 0"
            ) from None
    columns = columns_of(matrix)
    picked = (pick(columns, name) for name in columns)
    arrays = [values if isinstance(values, np.ndarray) else object_array(values) for values in picked]
    return np.stack(arrays, axis=1) if arrays else np.empty((len(frame), 0)), index, frame.columns


def _known(columns: Mapping[Any, Any], name: Any) -> Any:
    try:
        return columns[name]
    except (KeyError, TypeError):
        names = object_array(list(columns))
        known = named(names, np.ones(len(names), dtype=bool), limit=10) or "none"
        raise InputError(f"the table has no column {shown(name)}; its columns are {known}") from None


def _frame(table: Any) -> Any:
    """The table as a narwhals DataFrame, None where it is something else."""
    import narwhals as nw

    try:
        frame = nw.from_native(table, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return None
        if len(set(frame.columns)) < len(frame.columns):  # older versions of narwhals let it pass
            raise ValueError(f"got {shown(frame.columns)}")
    except ValueError as error:
        raise InputError(
            f"column names must be unique ({' '.join(str(error).split())}); rename them"
        ) from None
    return frame


def _column(values: Any, name: Any) -> Any:
    what = f"column {shown(name)}"
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InputError(f"{what} must be one-dimensional, not of shape {values.shape}")
        return values
    if isinstance(values, list | tuple | str):
        return listed(values, what)
    import narwhals as nw

    series = nw.from_native(values, allow_series=True, pass_through=True)
    return series if isinstance(series, nw.Series) else listed(values, what)


def _native_codes(series: Any) -> tuple[Codes, Ids] | None:
    """Codes by the table library's own hash table, several times faster than a Python dictionary.

    None for numbers, which `encode` handles well, and where the library offers nothing.
    """
    import narwhals as nw

    if series.dtype.is_numeric():
        return None
    native = series.to_native()
    if hasattr(native, "factorize"):  # pandas
        try:
            codes, distinct = native.factorize()
        except TypeError:  # unhashable; `encode` will say where
            return None
        return _recoded(codes, distinct.tolist())
    if series.dtype not in (nw.String, nw.Categorical, nw.Enum):
        return None
    try:
        encoded = series.to_arrow().dictionary_encode()
    except ImportError:  # polars without PyArrow
        return None
    codes = encoded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    return _recoded(codes, encoded.dictionary.to_pylist())


def _recoded(codes: Codes, values: list[Any]) -> tuple[Codes, Ids]:
    """Codes into a dictionary, which may repeat, miss or not use a value, as `encode` gives them."""
    to_distinct, distinct = encode(plain(values, "values"), row_of("values"))
    order, used = encode(np.append(to_distinct, -1)[codes], row_of("values"))
    return without(order, used < 0), distinct[used[used >= 0]]
