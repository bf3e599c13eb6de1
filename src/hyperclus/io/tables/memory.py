"""Tables whose cells are Python values in memory, such as those of JSON and Excel."""

from abc import abstractmethod
from collections.abc import Generator
from typing import Any

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.optional import arrow
from hyperclus.errors import InputError, prefixed
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.table import DEFAULT_TUNING, Table

SPARSE_FROM = 20_000_000  # cells from which the share of those with a value is checked
SPARSE_RATIO = 200  # cells for each one with a value


class MemoryTable(Table):
    """A table in memory; a column becomes a PyArrow array when it is first used."""

    text, unit = False, "rows"

    def __init__(self, path: StrPath, names: list[str], n_rows: int, n_filled: int) -> None:
        super().__init__(path, [path], names, n_rows, DEFAULT_TUNING)
        self._n_filled = n_filled
        self._arrays: dict[str, Any] = {}

    @abstractmethod
    def values(self, name: str) -> list[Any]:
        """Return the values of a column, None for missing ones."""

    @abstractmethod
    def place(self, row: int) -> str:
        """Say where a row (from 0) is in the file."""

    def batches(self, columns: list[str]) -> Generator[list[Any], None, None]:
        """Yield the columns in one batch; many columns that are almost empty are an `InputError`."""
        if self.size * len(columns) > max(SPARSE_FROM, SPARSE_RATIO * self._n_filled):
            sizes = f"{self.size:,} rows and {len(columns):,} columns, but only {self._n_filled:,} values"
            raise fault(
                self.path, f"the table has {sizes}; remove stray values, or write a row for each value"
            )
        self.position = self.size
        if self.size:
            yield [self._array(name) for name in columns]

    def fault(self, message: str | InputError, row: int | None = None) -> InputError:
        """Create an error that names the file and the place of a row."""
        return fault(self.path, message if row is None else prefixed(f"{self.place(row)}: ", message))

    def _array(self, name: str) -> Any:
        if name not in self._arrays:
            pa, values = arrow(), self.values(name)
            try:
                self._arrays[name] = pa.array(values)
            except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
                raise self._mixed(name, values) from None
        return self._arrays[name]

    def _mixed(self, name: str, values: list[Any]) -> InputError:
        """Name the first value of another type than the first one."""
        present = [(row, value) for row, value in enumerate(values) if value is not None]
        has_floats = any(isinstance(value, float) for _, value in present)
        limit, why = (
            (1 << 53, "beside numbers with decimals") if has_floats else ((1 << 63) - 1, "for 64 bits")
        )
        for row, value in present:
            if isinstance(value, int) and abs(value) > limit:
                problem = f"column {shown(name)}: the integer {shown(value)} is too large {why}"
                return self.fault(f"{problem}; write it as text, or with a decimal point", row)
        first = present[0][1]
        kinds = (int, float) if type(first) in (int, float) else (type(first),)
        row, value = next(((row, one) for row, one in present if type(one) not in kinds), present[0])
        problem = f"column {shown(name)}: {shown(value)} and {shown(first)} in an earlier row have different"
        if value is first:
            problem = f"column {shown(name)}: the values, such as {shown(first)}, have no common"
            return self.fault(f"{problem} type; convert them", row)
        return self.fault(f"{problem} types; use one", row)
