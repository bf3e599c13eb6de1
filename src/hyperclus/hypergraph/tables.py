"""Columns of any table: a mapping, a 2-d array, or a pandas, polars or PyArrow table.

A column stays what it is (an array, a list or a narwhals Series) until it is picked, so that unused columns
cost nothing.
"""

import sys
from collections.abc import Container, Iterable, Mapping, Set
from contextlib import suppress
from decimal import Decimal
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hyperclus.errors import InputError
from hyperclus.hypergraph.ids import (
    as_integers_or_list,
    as_list,
    drop_codes,
    encode,
    id_array,
    is_default_index,
    object_array,
    refuse_missing,
)
from hyperclus.hypergraph.messages import no_column, row_of, shown
from hyperclus.typing import Codes, Floats, Ids, Integers


def columns_of(table: Any) -> dict[Any, Any]:
    """Return the columns by name, all of the same length."""
    if isinstance(table, Mapping):
        columns = {name: _column(values, name) for name, values in table.items()}
    elif isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise InputError(f"a table has two dimensions, this array has shape {table.shape}")
        columns = dict(enumerate(np.asarray(table).T if isinstance(table, np.matrix) else table.T))
    else:
        frame = _frame(table)
        if frame is None:
            kinds = "a mapping of columns, a 2-d array, or a pandas, polars or PyArrow table in memory"
            raise InputError(f"a table must be {kinds}, not {type(table).__name__}")
        columns = {name: frame.get_column(name) for name in frame.columns}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the columns have different lengths, {shown(lengths)}; make them equal")
    return columns


def row_names(table: Any) -> Any:
    """Return the index of a pandas data frame; None if it is the default index or there is none."""
    index = None if isinstance(table, Mapping | np.ndarray) else getattr(table, "index", None)
    if index is None or not hasattr(index, "to_list") or is_default_index(index):
        return None
    return index.to_list()


def pick(columns: Mapping[Any, Any], name: Any) -> NDArray[Any] | list[Any]:
    """Return the values of one column."""
    column = find_column(columns, name)
    if isinstance(column, np.ndarray | list):
        return column
    import narwhals as nw

    # Integers with missing values must not become floats; NumPy has no 128-bit integers.
    exact = column.dtype in (nw.Float32, nw.Float64) or not (column.null_count() or _wide(column))
    values: NDArray[Any] | list[Any]
    values = column.to_numpy() if exact and column.dtype.is_numeric() else column.to_list()
    return values


def pick_numbers(columns: Mapping[Any, Any], name: Any) -> Floats | None:
    """Return one column as float64, NaN for missing values; None unless all values are numbers.

    Text, categories, booleans and dates are not numbers. What is too large for float64 is infinite.
    """
    column = find_column(columns, name)
    if not isinstance(column, np.ndarray | list):
        numbers = _native_numbers(column)
    elif isinstance(column, np.ndarray) and column.dtype != object:
        with np.errstate(over="ignore"):  # too large for float64: infinite
            numbers = np.ma.filled(column.astype(np.float64), np.nan) if column.dtype.kind in "iuf" else None
    else:
        numbers = _listed_numbers(list(column))
    return numbers


def pick_codes(columns: Mapping[Any, Any], name: Any) -> tuple[Codes, Ids]:
    """Return one column as codes in order of first appearance, -1 for missing values, and its values."""
    column = find_column(columns, name)
    native = None if isinstance(column, np.ndarray | list) else _native_codes(column)
    return native or encode(as_integers_or_list(pick(columns, name), f"column {shown(name)}"), row_of(name))


def column_codes(columns: Mapping[Any, Any], name: Any) -> tuple[Codes, Ids]:
    """Return the codes and values of one column; a missing value is an `InputError`."""
    codes, ids = pick_codes(columns, name)
    refuse_missing(codes, row_of(name))
    return codes, ids


def edge_members(
    edges: Mapping[Any, Iterable[Any]] | Iterable[Iterable[Any]],
    what: str = "edge",
    inner: str = "the members of hyperedge",
) -> tuple[Ids, Integers, list[Any], list[Any]]:
    """Return the ids and sizes of hyperedges given by their members, all members, and their weights.

    In messages they can be called something else, such as vertices that are given by their hyperedges.
    """
    if isinstance(edges, Mapping) and isinstance(edges, Set):  # such as the edges of a NetworkX graph
        edges = list(edges)
    if not isinstance(edges, Mapping):  # the rows of an array are members too
        rows = isinstance(edges, np.ndarray) and edges.ndim > 1
        edges = edges if rows else as_list(edges, "edges")
        _refuse_records(edges)
        edges = dict(enumerate(edges))
    names = id_array(list(edges), what)
    members: list[Any] = []
    weights: list[Any] = []
    sizes = np.zeros(len(names), dtype=np.int64)
    for position, (edge, inside) in enumerate(edges.items()):
        is_plain = isinstance(inside, list | tuple | set | frozenset | Mapping)
        some = list(inside) if is_plain else as_list(inside, f"{inner} {shown(edge)}")
        members += some
        weights += inside.values() if isinstance(inside, Mapping) else repeat(1.0, len(some))
        sizes[position] = len(some)
    return names, sizes, members, weights


def _refuse_records(edges: Any) -> None:
    """Raise an `InputError` for rows of a table, given as one mapping each, instead of hyperedges."""
    first = edges[0] if len(edges) else None
    if not isinstance(first, Mapping):
        return
    lists = [key for key, value in first.items() if isinstance(value, list | tuple | set)]
    words = [key for key, value in first.items() if isinstance(value, str) and not _is_number_text(value)]
    alike = len(first) > 1 and all(isinstance(row, Mapping) and row.keys() == first.keys() for row in edges)
    if not (lists or (words and alike) or {"vertex", "edge"} <= first.keys()):
        return
    look = "these look like records, not hyperedges"
    if not lists:
        frame = "Hypergraph.from_long(pandas.DataFrame(rows), vertex=..., edge=...) for a row per incidence"
        raise InputError(f"{look}; use {frame}, or Hypergraph.from_table(pandas.DataFrame(rows))")
    members = f"row[{shown(lists[0])}]"
    rows = [row for row in edges if isinstance(row, Mapping)]
    key = next((key for key in words if len({str(row.get(key)) for row in rows}) == len(edges)), None)
    made = (
        f"[{members} for row in rows]" if key is None else f"{{row[{shown(key)}]: {members} for row in rows}}"
    )
    raise InputError(f"{look}; use Hypergraph.from_edges({made}), or Hypergraph.from_long")


def _is_number_text(text: str) -> bool:
    with suppress(ValueError):
        float(text)
        return True
    return False


def default_column(name: Any, default: str, names: Container[Any], used: tuple[Any, ...]) -> Any:
    """Return the column of weights: None means `default` if it exists and has no other use, False none."""
    if name is None and default in names and default not in used:
        return default
    return None if name is False else name


def unframed(matrix: Any) -> tuple[Any, Any, Any]:
    """Return a data frame as a matrix, its index if it has one, and its column names.

    Anything else is returned unchanged, with None twice.
    """
    frame = None if sp.issparse(matrix) or isinstance(matrix, np.ndarray | list | tuple) else _frame(matrix)
    if frame is None:
        return matrix, None, None
    import narwhals as nw

    index = nw.maybe_get_index(frame)
    if frame.columns and hasattr(matrix, "sparse"):  # pandas, if every column is sparse
        try:
            return matrix.sparse.to_coo(), index, frame.columns
        except ValueError:
            problem = "the sparse columns must leave out zeros, not other values"
            raise InputError(f"{problem}; convert them with fill_value 0") from None
    columns = columns_of(matrix)
    picked = (pick(columns, name) for name in columns)
    arrays = [values if isinstance(values, np.ndarray) else object_array(values) for values in picked]
    return np.stack(arrays, axis=1) if arrays else np.empty((len(frame), 0)), index, frame.columns


def find_column(columns: Mapping[Any, Any], name: Any) -> Any:
    """Return the column with this name; an `InputError` lists the names that exist."""
    try:
        return columns[name]
    except (KeyError, TypeError):
        raise InputError(no_column(name, columns)) from None


def is_frame(table: Any) -> bool:
    """Whether this is a pandas, polars or PyArrow table in memory."""
    return _frame(table) is not None


def _frame(table: Any) -> Any:
    """Return the table as a narwhals DataFrame; None if it is something else."""
    import narwhals as nw

    try:
        frame = nw.from_native(table, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return None
        if len(set(frame.columns)) < len(frame.columns):  # older versions of narwhals accept it
            raise ValueError(f"got {shown(frame.columns)}")
    except ValueError as error:
        why = " ".join(str(error).split())
        raise InputError(f"column names must be unique ({why}); rename them") from None
    return frame


def _native_numbers(series: Any) -> Floats | None:
    """Convert a narwhals Series with its own library; None unless all values are numbers."""
    import narwhals as nw

    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    if series.dtype in (nw.Object, nw.Unknown):
        return _listed_numbers(series.to_list())
    if not series.dtype.is_numeric():
        return None
    if not series.dtype.is_integer() or _wide(series):
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    # Arrow refuses to cast integers from 2^53 on.
    numbers = np.asarray(series.fill_null(0).to_numpy()).astype(np.float64)
    numbers[np.asarray(series.is_null().to_numpy(), dtype=bool)] = np.nan
    return numbers


def _listed_numbers(values: list[Any]) -> Floats | None:
    kinds = set(map(type, values))
    gaps = {kind for kind in kinds if kind.__name__ in ("NoneType", "NAType", "NaTType", "MaskedConstant")}
    if not all(map(is_number_type, kinds - gaps)):
        return None
    if gaps:
        values = [np.nan if type(value) in gaps else value for value in values]
    try:
        return np.array(values, dtype=np.float64)
    except (OverflowError, ValueError):  # an integer beyond the floats, a signalling NaN
        return np.array([_float(value) for value in values])


def _float(value: Any) -> float:
    with suppress(OverflowError, ValueError):
        return float(value)
    return np.inf


def is_number_type(kind: type) -> bool:
    """Whether a type is one of real numbers, which bool is not."""
    return issubclass(kind, Real | Decimal) and not issubclass(kind, bool)


def _wide(series: Any) -> bool:
    return str(series.dtype) in ("Int128", "UInt128")


def _column(values: Any, name: Any) -> Any:
    what = f"column {shown(name)}"
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InputError(f"{what} must be one-dimensional, not of shape {values.shape}")
        return values
    if isinstance(values, list | tuple | str):
        return as_list(values, what)
    import narwhals as nw

    if type(values).__module__ == "pyarrow.lib" and hasattr(values, "dictionary_encode"):
        values = sys.modules["pyarrow"].chunked_array(getattr(values, "chunks", [values]), values.type)
    series = nw.from_native(values, allow_series=True, pass_through=True)
    return series if isinstance(series, nw.Series) else as_list(values, what)


def _native_codes(series: Any) -> tuple[Codes, Ids] | None:
    """Encode with the hash table of the table library, several times faster than a Python dictionary.

    None for numbers, which `encode` handles well, and if the library has no such function.
    """
    import narwhals as nw

    if series.dtype.is_numeric():
        return None
    native = series.to_native()
    if hasattr(native, "factorize"):  # pandas
        try:
            codes, distinct = native.factorize()
        except TypeError:  # unhashable; `encode` names the row
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
    """Convert codes into a dictionary with repeated, missing or unused values to those of `encode`."""
    to_distinct, distinct = encode(as_integers_or_list(values, "values"), row_of("values"))
    order, used = encode(np.append(to_distinct, -1)[codes], row_of("values"))
    return drop_codes(order, used < 0), distinct[used[used >= 0]]
