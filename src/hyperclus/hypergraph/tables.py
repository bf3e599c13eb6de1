"""Columns out of any table: a mapping, a 2-d array, or a pandas, polars or PyArrow table.

A column is kept as it came (an array, a list or a narwhals Series) until it is picked, so that
columns nobody asks for cost nothing.
"""

import logging
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hyperclus._runtime.arrays import index_type
from hyperclus.errors import Argument, InputError, check_choice, prefixed
from hyperclus.hypergraph.binning import Bins, BinsByColumn, Part, as_bins, memberships
from hyperclus.hypergraph.ids import (
    encode,
    is_missing,
    listed,
    numbers_only,
    object_array,
    plain,
    refuse_missing,
    without,
)
from hyperclus.hypergraph.messages import no_column, row_of, shown
from hyperclus.typing import AbsencePolicy, Codes, Floats, Ids, MissingPolicy

MANY = 100  # distinct numbers, most of them in one row only: a column that should have bins

_log = logging.getLogger(__name__)


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
    column = find_column(columns, name)
    if isinstance(column, np.ndarray | list):
        return column
    import narwhals as nw

    # An integer column with gaps must not pass through floats; NumPy has no integers of 128 bits.
    exact = column.dtype in (nw.Float32, nw.Float64) or not (column.null_count() or _wide(column))
    values: NDArray[Any] | list[Any]
    values = column.to_numpy() if exact and column.dtype.is_numeric() else column.to_list()
    return values


def pick_numbers(columns: Mapping[Any, Any], name: Any) -> Floats | None:
    """One column as float64, NaN where it is missing; None unless it holds numbers and nothing else.

    Text, categories, truth values and dates are no numbers. An infinite number is an `InputError`.
    """
    column = find_column(columns, name)
    if not isinstance(column, np.ndarray | list):
        numbers = _native_numbers(column)
    elif isinstance(column, np.ndarray) and column.dtype != object:
        with np.errstate(over="ignore"):  # too large for float64: infinite
            numbers = np.ma.filled(column.astype(np.float64), np.nan) if column.dtype.kind in "iuf" else None
    else:
        numbers = _listed_numbers(list(column), name)
    if numbers is not None and np.isinf(numbers).any():
        raise _infinite(int(np.argmax(np.isinf(numbers))), name)
    return numbers


def pick_codes(columns: Mapping[Any, Any], name: Any) -> tuple[Codes, Ids]:
    """One column as codes in order of first appearance, -1 where it is missing, and its values."""
    column = find_column(columns, name)
    if not isinstance(column, np.ndarray | list):
        native = _native_codes(column)
        if native is not None:
            return native
    return encode(plain(pick(columns, name), f"column {shown(name)}"), row_of(name))


def default_column(name: Any, default: str, names: Container[Any], used: tuple[Any, ...]) -> Any:
    """The column of weights to use: None means `default` if it exists and has no other use, False none."""
    if name is None and default in names and default not in used:
        return default
    return None if name is False else name


def feature_names(
    names: Iterable[Any],
    features: Sequence[Any] | None,
    exclude: Sequence[Any],
    vertex: Any,
    check: Callable[[Any], Any],
) -> list[Any]:
    """The columns to use: those in `features`, by default all but the vertex ids and the excluded.

    `check` raises an `InputError` for a name that the table does not have.
    """
    left_out = listed(exclude, "exclude")
    for name in left_out:
        check(name)
    if features is None:
        return [name for name in names if (vertex is None or name != vertex) and name not in left_out]
    if left_out:
        raise InputError("pass features or exclude, not both; features alone says which columns to use")
    return listed(features, "features")


def feature_edges(
    columns: Mapping[Any, Any],
    features: Sequence[Any],
    missing: MissingPolicy,
    constant: AbsencePolicy,
    bins: BinsByColumn | None = None,
) -> tuple[Codes, Codes, Floats, Ids]:
    """One hyperedge per (feature, value) or (feature, bin).

    Returns the edge, the row and the gamma of each incidence, and the edge ids.
    """
    check_choice("missing", missing, get_args(MissingPolicy))
    check_choice("constant", constant, get_args(AbsencePolicy))
    n_rows = max((len(find_column(columns, name)) for name in features), default=0)
    if not n_rows:
        raise InputError("the table is empty; it needs at least one feature and one row")
    if len(set(features)) < len(features):
        raise InputError(f"features names a column twice: {shown(features)}; name each once")
    rules = as_bins(bins)
    for name in rules if isinstance(rules, dict) else ():
        if name not in features:
            raise InputError(f"bins names {shown(name)}, which is not among the features; leave it out")
    kind = index_type(2 * n_rows * len(features))
    blocks: list[Part] = []
    edges: list[tuple[Any, Any]] = []
    for name in features:
        parts, values = _values(columns, name, rules, missing)
        if _left_out(parts, values, name, constant):
            continue
        first = np.asarray(len(edges), dtype=kind)
        blocks += [(np.where(codes < 0, -1, codes + first), gamma) for codes, gamma in parts]
        edges += [(name, value) for value in values]
    if not edges:
        raise InputError(
            "no feature has two different values, so no row differs from another; add a feature, or use ",
            Argument("constant", "keep"),
        )
    return *_joined(blocks, n_rows, kind), object_array(edges)


def _left_out(parts: list[Part], values: list[Any], name: Any, constant: AbsencePolicy) -> bool:
    """Whether a feature goes because all rows have one value."""
    if constant == "keep" or len(values) != 1 or parts[0][0].min() < 0:
        return False
    if constant == "error":
        raise InputError(
            f"column {shown(name)} has the single value {shown(values[0])}; leave it out, or use ",
            Argument("constant", "drop"),
            " or ",
            Argument("constant", "keep"),
        )
    return True


def _joined(blocks: list[Part], n_rows: int, kind: Any) -> tuple[Codes, Codes, Floats]:
    """The edge, the row and the gamma of each incidence."""
    edges = np.concatenate([codes.astype(kind, copy=False) for codes, _ in blocks])
    rows = np.tile(np.arange(n_rows, dtype=kind), len(blocks))
    weights = np.ones(len(edges))
    for number, (_, gamma) in enumerate(blocks):
        if gamma is not None:
            weights[number * n_rows : (number + 1) * n_rows] = gamma
    present = edges >= 0
    return (edges, rows, weights) if present.all() else (edges[present], rows[present], weights[present])


def _values(
    columns: Mapping[Any, Any], name: Any, rules: Bins | dict[Any, Bins] | None, missing: MissingPolicy
) -> tuple[list[Part], list[Any]]:
    """Where the rows are among the values or bins of one feature, code -1 where in none; and these."""
    rule = rules.get(name) if isinstance(rules, dict) else rules
    numbers = None if rule is None else pick_numbers(columns, name)
    if rule is None or numbers is None:
        if rule and isinstance(rules, dict):
            raise _not_numbers(columns, name)
        codes, ids = pick_codes(columns, name)
        parts: list[Part] = [(codes, None)]
        values = ids.tolist()
        if rules is None:
            _look_for_numbers(codes, values, name)
    else:
        try:
            parts, values = memberships(numbers, rule)
        except InputError as error:
            raise prefixed(f"column {shown(name)}: ", error) from None
    absent = np.logical_and.reduce([codes < 0 for codes, _ in parts])
    if missing == "error":
        category, drop = Argument("missing", "category"), Argument("missing", "drop")
        remedy = InputError("fill it, or use ", category, " or ", drop)
        refuse_missing(-absent.view(np.int8), row_of(name), remedy)
    if missing == "category" and absent.any():
        codes, gamma = parts[0]
        parts = [(np.where(absent, len(values), codes), gamma), *parts[1:]]
        values.append(None)
    return parts, values


def _look_for_numbers(codes: Codes, values: list[Any], name: Any) -> None:
    """Warn of a column of real numbers that makes a hyperedge for almost every row."""
    if len(values) > MANY and type(values[0]) is float:
        alone = np.count_nonzero(np.bincount(codes[codes >= 0]) == 1)
        if 2 * alone > len(values):
            _log.warning(
                "column %s has %s different numbers, %s of them in one row only, and each is a hyperedge; "
                "pass bins=5, or bins={} if that is meant",
                shown(name),
                f"{len(values):,}",
                f"{alone:,}",
            )


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


def find_column(columns: Mapping[Any, Any], name: Any) -> Any:
    """The column with this name; an `InputError` lists the names that there are."""
    try:
        return columns[name]
    except (KeyError, TypeError):
        raise InputError(no_column(name, columns)) from None


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


def _native_numbers(series: Any) -> Floats | None:
    """The numbers of a narwhals Series by its own library; None where it holds something else."""
    import narwhals as nw

    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    if series.dtype in (nw.Object, nw.Unknown):
        return _listed_numbers(series.to_list(), series.name)
    if not series.dtype.is_numeric():
        return None
    if not series.dtype.is_integer() or _wide(series):
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    # Arrow casts no integers from 2^53 on.
    if not series.null_count():
        return np.asarray(series.to_numpy()).astype(np.float64)
    numbers = np.asarray(series.fill_null(0).to_numpy()).astype(np.float64)
    numbers[np.asarray(series.is_null().to_numpy(), dtype=bool)] = np.nan
    return numbers


def _listed_numbers(values: list[Any], name: Any) -> Floats | None:
    kinds = set(map(type, values))
    gaps = {kind for kind in kinds if kind.__name__ in ("NoneType", "NAType", "NaTType", "MaskedConstant")}
    if not all(map(_numeric, kinds - gaps)):
        return None
    if gaps:
        values = [np.nan if type(value) in gaps else value for value in values]
    try:
        return np.array(values, dtype=np.float64)
    except (OverflowError, ValueError):  # an integer beyond the floats, a signalling NaN
        raise _infinite(next(row for row, value in enumerate(values) if not _fits(value)), name) from None


def _numeric(kind: type) -> bool:
    return issubclass(kind, Real | Decimal) and not issubclass(kind, bool)


def _fits(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except (OverflowError, ValueError):
        return False


def _wide(series: Any) -> bool:
    return str(series.dtype) in ("Int128", "UInt128")


def _infinite(row: int, name: Any) -> InputError:
    return InputError(
        f"{row_of(name)(row)}: the number is infinite or too large for bins; correct it or leave the row out"
    )


def _not_numbers(columns: Mapping[Any, Any], name: Any) -> InputError:
    values = enumerate(listed(pick(columns, name), f"column {shown(name)}"))
    others = (f"row {row} has {shown(v)}" for row, v in values if not (is_missing(v) or _numeric(type(v))))
    return InputError(
        f"column {shown(name)} cannot have bins, which are for numbers, because "
        f"{next(others, 'it holds categories')}; leave it out of bins, or convert it"
    )


def _column(values: Any, name: Any) -> Any:
    what = f"column {shown(name)}"
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InputError(f"{what} must be one-dimensional, not of shape {values.shape}")
        return values
    if isinstance(values, list | tuple | str):
        return listed(values, what)
    import narwhals as nw

    if type(values).__module__ == "pyarrow.lib" and hasattr(values, "dictionary_encode"):
        values = sys.modules["pyarrow"].chunked_array(getattr(values, "chunks", [values]), values.type)
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
