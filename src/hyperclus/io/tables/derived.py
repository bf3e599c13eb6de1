"""Tables made from others while they are read: one row per list entry, without missing values."""

import logging
from collections.abc import Generator, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from hyperclus._runtime.files import printable
from hyperclus._runtime.optional import arrow
from hyperclus.errors import Argument, InputError, check_choice, is_number
from hyperclus.hypergraph.messages import count, shown
from hyperclus.io.tables.table import ROW, NumberFormat, Table, is_numeric, missing_words

MissingWeights: TypeAlias = Literal["error", "drop"] | float

_log = logging.getLogger(__name__)


class DerivedTable(Table):
    """A table made from another one, batch by batch; its rows come from rows of the other one."""

    def __init__(self, source: Table, names: list[str]) -> None:
        super().__init__(source.path, source.files, names, source.size, source.tuning)
        self.source, self.text, self.unit, self.numbers = source, source.text, source.unit, source.numbers
        self.delimiter = source.delimiter

    def made(self, columns: list[str]) -> Iterator[tuple[list[Any], Any]]:
        """Yield columns, batch by batch, and from which rows of the source they come."""
        raise NotImplementedError

    def batches(self, columns: list[str]) -> Generator[list[Any], None, None]:
        """Yield columns, batch by batch."""
        for batch, _ in self.made(columns):
            self.position = self.source.position
            yield batch
            self.source.large_batches = self.large_batches

    def fault(self, message: str | InputError, row: int | None = None) -> InputError:
        """Create an error that names the place of the row from which a row was made."""
        if row is not None:
            before = 0
            for _, rows in self.made([]):
                if row < before + len(rows):
                    return self.source.fault(message, int(rows[row - before]))
                before += len(rows)
        return self.source.fault(message)


class SplitTable(DerivedTable):
    """One row per entry of the lists in a column; the other columns are repeated.

    A list is a list of the file, or text that a sign separates; blanks around entries are removed. The column
    `ROW` has the number of the row, from 0.
    """

    def __init__(self, source: Table, column: str, sign: str | None, drop: bool) -> None:
        super().__init__(source, [*source.names, ROW])
        self.list_column, self._sign, self._drop = source.column(column), sign, drop
        self._told = False

    def made(self, columns: list[str]) -> Iterator[tuple[list[Any], Any]]:
        """Yield columns with a row per list entry."""
        pa, pc = arrow(), arrow("pyarrow.compute")
        others = [name for name in dict.fromkeys(columns) if name not in (self.list_column, ROW)]
        n_rows = n_empty = 0
        for first, (cells, *rest) in self.source.numbered_batches([self.list_column, *others]):
            lists = self._lists(cells, first)
            sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
            if not self._drop and len(sizes) and sizes.min() == 0:
                message = f"column {shown(self.list_column)}: the list is empty; fill it, or use "
                empty = InputError(message, Argument("missing", "drop"), " to leave such rows out")
                raise self.source.fault(empty, first + int(np.argmin(sizes)))
            n_rows, n_empty = n_rows + len(sizes), n_empty + int(np.count_nonzero(sizes == 0))
            rows = np.repeat(np.arange(len(sizes)), sizes)
            places = pa.array(rows)
            found = {name: values.take(places) for name, values in zip(others, rest, strict=True)}
            found[self.list_column], found[ROW] = pc.list_flatten(lists), pa.array(first + rows)
            yield [found[name] for name in columns], first + rows
        if n_empty and not self._told:
            self._told = True
            left = f"{n_empty:,} of {count(n_rows, 'row')} have no {shown(self.list_column)}; left out"
            _log.warning("%s: %s", printable(self.path), left)

    def _lists(self, cells: Any, first: int) -> Any:
        """Return lists without empty entries."""
        pa, pc = arrow(), arrow("pyarrow.compute")
        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        if pa.types.is_null(cells.type):
            cells = cells.cast(pa.string())
        is_list = pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type)
        if is_list and self._sign is not None:
            message = f"column {shown(self.list_column)} holds lists, which need no delimiter; leave out "
            raise self.source.fault(InputError(message, Argument("split")), first)
        if is_list:
            return cells
        if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)) or not self._sign:
            problem = f"column {shown(self.list_column)} holds {cells.type}, not lists or text to split"
            raise self.source.fault(f"{problem}; name another column", first)
        lists = pc.split_pattern(cells, self._sign)
        entries = pc.utf8_trim_whitespace(pc.list_flatten(lists))
        filled = pc.not_equal(entries, "").to_numpy(zero_copy_only=False)
        parents = np.asarray(pc.list_parent_indices(lists))[filled]
        ends = np.cumsum(np.bincount(parents, minlength=len(cells)))
        offsets = pa.array(np.append(0, ends), pa.int64())
        words = entries.filter(pa.array(filled)).cast(pa.large_string())
        return pa.LargeListArray.from_arrays(offsets, words)


class CompleteTable(DerivedTable):
    """A table without the rows in which one of some columns is missing, or with a value for missing weights.

    In a column of weights in text, the words that mean a missing number (NA, NaN, null, ...) count too.
    """

    def __init__(self, source: Table, ids: list[str], weights: list[str], missing: MissingWeights) -> None:
        super().__init__(source, source.names)
        self._ids, self._weights, self._missing, self._told = ids, weights, missing, False

    def made(self, columns: list[str]) -> Iterator[tuple[list[Any], Any]]:
        """Yield columns of the complete rows."""
        pa = arrow()
        needed = list(dict.fromkeys([*columns, *self._ids, *self._weights]))
        totals = dict.fromkeys([*self._ids, *self._weights], 0)
        n_rows = n_dropped = 0
        for first, batch in self.source.numbered_batches(needed):
            found = dict(zip(needed, batch, strict=True))
            for name in self._weights:
                found[name] = missing_words(found[name])
            absent = np.zeros(len(batch[0]), dtype=bool)
            for name in totals:
                is_null = found[name].is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
                totals[name] += int(np.count_nonzero(is_null))
                absent |= is_null if self._missing == "drop" else False
            rows = np.flatnonzero(~absent)
            n_rows, n_dropped = n_rows + len(absent), n_dropped + int(np.count_nonzero(absent))
            if self._missing != "drop":
                for name in self._weights:
                    found[name] = _filled(found[name], self._missing, self.numbers)
            if len(rows) < len(absent):
                found = {name: found[name].take(pa.array(rows)) for name in columns}
            yield [found[name] for name in columns], first + rows
        self._tell(totals, n_rows, n_dropped)

    def _tell(self, totals: Mapping[str, int], n_rows: int, n_dropped: int) -> None:
        """Log what was missing, once."""
        used = totals if self._missing == "drop" else self._weights
        lacking = [name for name in used if totals[name]]
        if self._told or not lacking:
            return
        self._told = True
        parts = [f"{totals[name]:,} of {count(n_rows, 'row')} have no {shown(name)}" for name in lacking]
        done = f"{count(n_dropped, 'row')} dropped" if self._missing == "drop" else f"{self._missing} is used"
        _log.warning("%s: %s; %s", printable(self.path), ", ".join(parts), done)


def _filled(values: Any, value: Any, numbers: NumberFormat) -> Any:
    """Replace missing weights; text gets the value as text, and types that are no weights stay."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    types, kind = pa.types, values.type
    if types.is_string(kind) or types.is_large_string(kind):
        return pc.fill_null(values, str(value).replace(".", numbers.decimal))
    if is_numeric(kind) or types.is_boolean(kind) or types.is_null(kind):
        values = values.cast(pa.float64(), safe=False)
        return pc.fill_null(pc.if_else(pc.is_nan(values), None, values), float(value))
    return values


def check_missing(missing: Any) -> None:
    """Raise an `InputError` unless this says what to do with missing values of a long table."""
    if not (is_number(missing) and 0 <= missing < float("inf")):
        if is_number(missing):
            raise InputError(Argument("missing"), f" must be a finite weight from 0; got {missing!r}")
        check_choice("missing", missing, ("error", "drop"))
