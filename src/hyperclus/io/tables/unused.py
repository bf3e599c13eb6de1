"""Columns of numbers that a long table has and nothing uses, although they may be weights."""

import logging
from collections.abc import Mapping
from contextlib import closing, suppress
from itertools import islice
from typing import Any

import numpy as np

from hyperclus._runtime.files import printable
from hyperclus._runtime.optional import arrow
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.messages import first_few, shown
from hyperclus.hypergraph.tables import pick_codes, pick_numbers
from hyperclus.io.tables.table import ROW, Table, is_numeric, missing_words
from hyperclus.typing import Codes, Floats

SAMPLE = 100_000  # rows that are looked at
MANY = 20  # columns that are looked at

_log = logging.getLogger(__name__)


def tell_unused(table: Table, vertex: str, edge: str, used: tuple[str | None, ...] = ()) -> None:
    """Log which columns of a file may be weights that are not used."""
    known = (vertex, edge, ROW, *used)
    names = [name for name in table.names if name not in known and len(table.places[name]) == 1][:MANY]
    found: list[str] = []
    with suppress(InputError), closing(table.batches([vertex, edge, *names])) as batches:
        for batch in islice(batches, 1):
            some = [values.slice(0, SAMPLE) for values in batch]
            codes = _codes(some[0]), _codes(some[1])
            for name, values in zip(names, some[2:], strict=True):
                if (numbers := _numbers(table, values)) is not None and may_be_weights(*codes, numbers):
                    found.append(name)
    if found:
        _log.warning("%s: %s", printable(table.path), _remark(found))


def tell_unused_in_memory(columns: Mapping[Any, Any], vertex: Any, edge: Any) -> None:
    """Log which columns of a table in memory may be weights that are not used."""
    others = [name for name in columns if name not in (vertex, edge, "edge_weight")][:MANY]
    some = {name: columns[name][:SAMPLE] for name in (vertex, edge, *others)}
    codes = pick_codes(some, vertex)[0], pick_codes(some, edge)[0]
    found = [
        name
        for name in others
        if (numbers := pick_numbers(some, name)) is not None and may_be_weights(*codes, numbers)
    ]
    if found:
        _log.warning("%s in Hypergraph.from_long", _remark(found))


def may_be_weights(vertices: Codes, edges: Codes, numbers: Floats) -> bool:
    """Whether numbers are from 0 and depend on both the vertex and the hyperedge of a row.

    An attribute of vertices, such as an age, does not, nor does one of hyperedges, such as a year. Row
    numbers are no weights either.

    >>> vertices, edges = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    >>> may_be_weights(vertices, edges, np.array([3.0, 1.0, 2.0, 5.0]))
    True
    >>> may_be_weights(vertices, edges, np.array([3.0, 1.0, 3.0, 1.0]))
    False
    """
    if (numbers < 0).any() or np.isinf(numbers).any() or (np.diff(numbers) == 1).all():
        return False
    once = len(np.unique(vertices)) == len(vertices)
    return _varies(edges, numbers) and (once or _varies(vertices, numbers))


def _varies(codes: Codes, numbers: Floats) -> bool:
    """Whether rows with the same code have different numbers; missing ones are ignored."""
    order = np.argsort(codes, kind="stable")
    same, steps = np.diff(codes[order]) == 0, np.diff(numbers[order])
    return bool((same & (np.abs(steps) > 0)).any())


def _codes(values: Any) -> Codes:
    encoded = values if arrow().types.is_dictionary(values.type) else values.dictionary_encode()
    return np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _numbers(table: Table, values: Any) -> Floats | None:
    """Return numbers, NaN for missing ones; None for a column of something else."""
    pa = arrow()
    if not (table.text or is_numeric(values.type)):
        return None
    plain = table.numbers.plain(missing_words(values)) if table.text else values
    try:
        return np.asarray(plain.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return None


def _remark(names: list[Any]) -> InputError:
    """Say that columns are not used, and how to use one."""
    way = Argument("weight", names[0])
    if len(names) == 1:
        return InputError(f"column {shown(names[0])} is not used; ", way, " uses it")
    return InputError(f"columns {first_few(names)} are not used; ", way, " uses the first as weights")
