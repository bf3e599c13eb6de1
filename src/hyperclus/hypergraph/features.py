"""Hyperedges from the features of a table: one per (feature, value) or (feature, bin)."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, get_args

import numpy as np

from hyperclus._runtime.arrays import index_type
from hyperclus.errors import Argument, InputError, check_choice, prefixed
from hyperclus.hypergraph.binning import Bins, BinsByColumn, Memberships, as_bins, memberships
from hyperclus.hypergraph.ids import as_list, is_missing, object_array, refuse_missing
from hyperclus.hypergraph.messages import row_of, shown
from hyperclus.hypergraph.tables import find_column, is_number_type, pick, pick_codes, pick_numbers
from hyperclus.typing import AbsencePolicy, Codes, Floats, Ids, MissingPolicy

MANY = 100  # distinct numbers from which a column may need bins

_log = logging.getLogger(__name__)


def feature_names(
    names: Iterable[Any],
    features: Sequence[Any] | None,
    exclude: Sequence[Any],
    vertex: Any,
    check: Callable[[Any], Any],
) -> list[Any]:
    """Return the columns to use: `features`, or all but the vertex ids and the excluded.

    `check` raises an `InputError` for a name that the table does not have.
    """
    excluded = as_list(exclude, "exclude")
    for name in excluded:
        check(name)
    if features is None:
        return [name for name in names if (vertex is None or name != vertex) and name not in excluded]
    if excluded:
        raise InputError("pass features or exclude, not both; features alone says which columns to use")
    return as_list(features, "features")


def feature_edges(
    columns: Mapping[Any, Any],
    features: Sequence[Any],
    missing: MissingPolicy,
    constant: AbsencePolicy,
    bins: BinsByColumn | None = None,
) -> tuple[Codes, Codes, Floats, Ids]:
    """Return the edge, the row and the gamma of each incidence, and the edge ids."""
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
    blocks: list[Memberships] = []
    edges: list[tuple[Any, Any]] = []
    for name in features:
        parts, values = _values(columns, name, rules, missing)
        if _is_constant(parts, values, name, constant):
            continue
        first = np.asarray(len(edges), dtype=kind)
        blocks += [(np.where(codes < 0, -1, codes + first), gamma) for codes, gamma in parts]
        edges += [(name, value) for value in values]
    if not edges:
        problem = "no feature has two different values, so no row differs from another"
        raise InputError(f"{problem}; add a feature, or use ", Argument("constant", "keep"))
    of_edge = np.concatenate([codes.astype(kind, copy=False) for codes, _ in blocks])
    rows, weights = np.tile(np.arange(n_rows, dtype=kind), len(blocks)), np.ones(len(of_edge))
    for number, (_, gamma) in enumerate(blocks):
        if gamma is not None:
            weights[number * n_rows : (number + 1) * n_rows] = gamma
    present = slice(None) if of_edge.min() >= 0 else of_edge >= 0
    return of_edge[present], rows[present], weights[present], object_array(edges)


def _is_constant(parts: list[Memberships], values: list[Any], name: Any, constant: AbsencePolicy) -> bool:
    """Whether a feature is left out because all rows have the same value."""
    if constant == "keep" or len(values) != 1 or parts[0][0].min() < 0:
        return False
    if constant == "error":
        drop, keep = Argument("constant", "drop"), Argument("constant", "keep")
        problem = f"column {shown(name)} has the single value {shown(values[0])}; leave it out, or use "
        raise InputError(problem, drop, " or ", keep)
    return True


def _values(
    columns: Mapping[Any, Any], name: Any, rules: Bins | dict[Any, Bins] | None, missing: MissingPolicy
) -> tuple[list[Memberships], list[Any]]:
    """Return the values or bins of one feature, and in which of them each row is."""
    rule = rules.get(name) if isinstance(rules, dict) else rules
    numbers = None if rule is None else pick_numbers(columns, name)
    if rule is None or numbers is None:
        if rule and isinstance(rules, dict):
            raise _not_numbers(columns, name)
        codes, ids = pick_codes(columns, name)
        parts: list[Memberships] = [(codes, None)]
        values = ids.tolist()
        if rules is None and len(values) > MANY and type(values[0]) is float:
            single = np.count_nonzero(np.bincount(codes[codes >= 0]) == 1)
            if 2 * single > len(values):
                found = f"{len(values):,} different numbers, {single:,} of them in one row only"
                advice = "pass bins=5, or bins={} if that is intended"
                _log.warning("column %s has %s, and each is a hyperedge; %s", shown(name), found, advice)
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


def _not_numbers(columns: Mapping[Any, Any], name: Any) -> InputError:
    why = "it holds categories"
    for row, value in enumerate(as_list(pick(columns, name), f"column {shown(name)}")):
        if not (is_missing(value) or is_number_type(type(value))):
            why = f"row {row} has {shown(value)}"
            break
    problem = f"column {shown(name)} cannot have bins, which are for numbers, because {why}"
    return InputError(f"{problem}; leave it out of bins, or convert it")
