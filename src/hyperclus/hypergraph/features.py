"""Hyperedges from the features of a table: one per (feature, value) or (feature, bin)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, get_args

import numpy as np

from hyperclus._runtime.arrays import index_type
from hyperclus.errors import Argument, InputError, check_choice, prefixed
from hyperclus.hypergraph.binning import (
    DEFAULT_BINS,
    FEW,
    Binning,
    BinRules,
    BinsByColumn,
    Memberships,
    as_bins,
    memberships,
    order_memberships,
)
from hyperclus.hypergraph.ids import as_list, is_missing, object_array, refuse_missing
from hyperclus.hypergraph.messages import row_of, shown
from hyperclus.hypergraph.tables import find_column, is_number_type, pick, pick_codes, pick_numbers
from hyperclus.typing import AbsencePolicy, Codes, Floats, Ids, MissingPolicy

Columns: TypeAlias = Mapping[Any, Binning | None]  # those that have hyperedges, and their bins
Feature: TypeAlias = tuple[list[Memberships], list[Any], Binning | None]


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


def check_order(order: Any) -> None:
    """Raise an `InputError` unless this is the order of the values of some columns, or None."""
    if order is not None and not isinstance(order, Mapping):
        wanted = ' must have the values of columns in their order, as in {"size": ["S", "M"]}'
        raise InputError(Argument("order"), f"{wanted}; got {shown(order)}")
    for name, levels in (order or {}).items():
        known = as_list(levels, f"the order of column {shown(name)}")
        try:
            n_distinct = len(set(known))
        except TypeError:
            problem = f"the order of column {shown(name)} has values that are lists or the like"
            raise InputError(f"{problem}; use text or numbers") from None
        if n_distinct < len(known):
            raise InputError(f"the order of column {shown(name)} names a value twice: {shown(known)}")


def feature_edges(
    columns: Mapping[Any, Any],
    features: Sequence[Any],
    missing: MissingPolicy,
    constant: AbsencePolicy,
    bins: BinsByColumn = DEFAULT_BINS,
    order: Mapping[Any, Sequence[Any]] | None = None,
) -> tuple[Codes, Codes, Floats, Ids, Columns]:
    """Return the edge, the row and the gamma of each incidence, the edge ids, and the bins of the columns."""
    check_choice("missing", missing, get_args(MissingPolicy))
    check_choice("constant", constant, get_args(AbsencePolicy))
    n_rows = max((len(find_column(columns, name)) for name in features), default=0)
    if not n_rows:
        raise InputError("the table is empty; it needs at least one feature and one row")
    if len(set(features)) < len(features):
        raise InputError(f"features names a column twice: {shown(features)}; name each once")
    check_order(order)
    rules = as_bins(bins)
    _check_named(features, bins=rules.named, order=order or {})
    kind = index_type(2 * n_rows * len(features))
    blocks: list[Memberships] = []
    edges: list[tuple[Any, Any]] = []
    used: dict[Any, Binning | None] = {}
    for name in features:
        levels = None if order is None else order.get(name)
        found = _levels(columns, name, levels, rules) if levels is not None else _binned(columns, name, rules)
        parts, values = _with_missing(name, *found[:2], missing)
        if _is_constant(parts, values, name, constant):
            continue
        used[name] = found[2]
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
    return of_edge[present], rows[present], weights[present], object_array(edges), used


def _check_named(features: Sequence[Any], **arguments: Mapping[Any, Any]) -> None:
    """Raise an `InputError` if an argument names a column that is not used."""
    for argument, named in arguments.items():
        for name in named:
            if name not in features:
                problem = f"{argument} names {shown(name)}, which is not among the features; leave it out"
                raise InputError(problem)


def _is_constant(parts: list[Memberships], values: list[Any], name: Any, constant: AbsencePolicy) -> bool:
    """Whether a feature is left out because all rows have the same value."""
    if constant == "keep" or len(values) != 1 or parts[0][0].min() < 0:
        return False
    if constant == "error":
        drop, keep = Argument("constant", "drop"), Argument("constant", "keep")
        problem = f"column {shown(name)} has the single value {shown(values[0])}; leave it out, or use "
        raise InputError(problem, drop, " or ", keep)
    return True


def _binned(columns: Mapping[Any, Any], name: Any, rules: BinRules) -> Feature:
    """Return in which values or bins of one feature each row is, and these."""
    numbers = None
    if rules.others is not None or rules.named.get(name) is not None:
        numbers = pick_numbers(columns, name)
    if numbers is None:
        if rules.named.get(name) is not None:
            raise _not_numbers(columns, name)
        rule = None
    else:
        rule = rules.rule(name, _count_distinct(numbers))
    if rule is None or numbers is None:
        codes, ids = pick_codes(columns, name)
        return [(codes, None)], ids.tolist(), None
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        problem = "the number is infinite or too large for bins; correct it or leave the row out"
        raise InputError(f"{row_of(name)(row)}: {problem}")
    try:
        parts, binning = memberships(numbers, rule)
        return parts, list(binning.names), binning
    except InputError as error:
        raise prefixed(f"column {shown(name)}: ", error) from None


def _count_distinct(numbers: Floats) -> int:
    """Count different numbers, but only whether there are more than FEW."""
    some = np.unique(numbers[:1000])
    some = some if len(some) > FEW + 1 else np.unique(numbers)
    return int(np.count_nonzero(~np.isnan(some)))


def _levels(columns: Mapping[Any, Any], name: Any, levels: Sequence[Any], rules: BinRules) -> Feature:
    """Return in which ordered values of one feature, or bins of neighbours, each row is, and these."""
    known = as_list(levels, f"the order of column {shown(name)}")
    places = {level: place for place, level in enumerate(known)}
    codes, values = pick_codes(columns, name)
    listed = values.tolist()
    for value in listed:
        if value not in places:
            row = int(np.argmax(codes == listed.index(value)))
            problem = f"{row_of(name)(row)}: {shown(value)} is not in the order {shown(known)}"
            raise InputError(f"{problem}; add it, or correct the value")
    positions = np.append([places[value] for value in listed], -1).astype(np.intp)[codes]
    if (rule := rules.named.get(name)) is not None:
        try:
            parts, binning = order_memberships(positions, known, rule)
            return parts, list(binning.names), binning
        except InputError as error:
            raise prefixed(f"column {shown(name)}: ", error) from None
    used = np.unique(positions[positions >= 0])
    rank = np.full(len(known) + 1, -1, dtype=np.intp)
    rank[used] = np.arange(len(used))
    return [(rank[positions], None)], [known[place] for place in used.tolist()], None


def _with_missing(
    name: Any, parts: list[Memberships], values: list[Any], missing: MissingPolicy
) -> tuple[list[Memberships], list[Any]]:
    """Apply the policy for missing values."""
    absent = np.logical_and.reduce([codes < 0 for codes, _ in parts])
    if missing == "error":
        category, drop = Argument("missing", "category"), Argument("missing", "drop")
        remedy = InputError("fill it, or use ", category, " or ", drop)
        refuse_missing(-absent.view(np.int8), row_of(name), remedy)
    if missing == "category" and absent.any():
        codes, gamma = parts[0]
        parts = [(np.where(absent, len(values), codes), gamma), *parts[1:]]
        values = [*values, None]
    return parts, values


def _not_numbers(columns: Mapping[Any, Any], name: Any) -> InputError:
    why = "it holds categories"
    for row, value in enumerate(as_list(pick(columns, name), f"column {shown(name)}")):
        if not (is_missing(value) or is_number_type(type(value))):
            why = f"row {row} has {shown(value)}"
            break
    problem = f"column {shown(name)} cannot have bins, which are for numbers, because {why}"
    return InputError(f"{problem}; leave it out of bins, or convert it")


def row_edges(
    table: Mapping[Any, Any], columns: Columns, edges: Ids
) -> tuple[Codes, Codes, Floats, list[tuple[Any, Any]], Codes]:
    """Return the hyperedges of the rows of another table with the columns of an earlier one.

    These are the edge, the row and the gamma of each incidence; the pairs (column, value) that are in no
    known hyperedge; and the row of each value that is one of these. A missing value is in the hyperedge
    (column, None) if there is one, otherwise in none.
    """
    known: dict[Any, dict[Any, int]] = {}
    for position, (name, value) in enumerate(edges.tolist()):
        known.setdefault(name, {})[value] = position
    found: list[tuple[Codes, Codes, Floats]] = []
    unknown: list[tuple[Any, Any]] = []
    strange: list[Codes] = []
    for name, binning in columns.items():
        codes, values, parts = _value_edges(table, name, binning, known.get(name, {}))
        missing = known.get(name, {}).get(None, -1)
        for number, (positions, gamma) in enumerate(parts):
            of_edge = np.append(positions, missing if number == 0 else -1)[codes]
            rows = np.flatnonzero(of_edge >= 0)
            found.append((of_edge[rows], rows, np.append(gamma, 1.0)[codes[rows]]))
        absent = np.logical_and.reduce([positions < 0 for positions, _ in parts])
        strange.append(np.flatnonzero(np.append(absent, False)[codes]))
        used = values[np.unique(codes[strange[-1]])].tolist()
        unknown += [(name, value) for value in dict.fromkeys(used)]
    of_edge, rows, weights = (np.concatenate(some) for some in zip(*found, strict=True))
    return of_edge, rows, weights, unknown, np.concatenate(strange)


def _value_edges(
    table: Mapping[Any, Any], name: Any, binning: Binning | None, known: Mapping[Any, int]
) -> tuple[Codes, Ids, list[tuple[Codes, Floats]]]:
    """Return the codes and values of a column, -1 if missing, and the hyperedges and gammas of each value."""
    numbers = None if binning is None or binning.kind == "levels" else pick_numbers(table, name)
    if numbers is not None:  # each row has a value of its own
        codes, values = np.where(np.isnan(numbers), -1, np.arange(len(numbers))), numbers
    else:
        codes, values = pick_codes(table, name)
    ones = np.ones(len(values))
    if binning is None or binning.kind == "levels":
        levels = None if binning is None else binning.levels()
        names = values.tolist() if levels is None else [levels.get(value) for value in values.tolist()]
        return codes, values, [(np.array([known.get(one, -1) for one in names], dtype=np.intp), ones)]
    if numbers is None:  # some values are not numbers
        numbers = np.array([float(one) if is_number_type(type(one)) else np.nan for one in values.tolist()])
    positions = np.array([*(known.get(one, -1) for one in binning.names), -1], dtype=np.intp)
    parts = binning.memberships(numbers)
    return codes, values, [(positions[bins], ones if gamma is None else gamma) for bins, gamma in parts]
