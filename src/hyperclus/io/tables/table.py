"""What all table files have in common: named columns, read in batches."""

import os
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.optional import arrow
from hyperclus._runtime.progress import report_progress
from hyperclus.errors import Argument, InputError, check_choice, prefixed
from hyperclus.hypergraph.messages import no_column, shown
from hyperclus.typing import Codes, Floats

DecimalSign: TypeAlias = Literal[".", ","]
IdConversion: TypeAlias = Literal["guess", "text"]
IncidenceBlock: TypeAlias = tuple[Codes, Codes, list[Floats]]  # to write: vertices, hyperedges, weights

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?")  # in a column of numbers
PLAIN_RATIO = 20  # good weights for each one with a comma, from which the comma is a mistake
ROW = "(row number)"  # the column that a table with lists gets; messages do not list it
TITLE_HINT = "if there are lines above the column names, such as a title, delete them"
RELEASE_AFTER = 1 << 20  # rows of small batches between two releases of PyArrow's unused memory


@dataclass(frozen=True, slots=True)
class Tuning:
    """Sizes that trade memory for speed; results do not depend on them."""

    text_block: int = 1 << 24  # bytes of text per batch; a row must fit
    waiting: int = 1 << 25  # bytes of ids that wait to be hashed together
    rows: int = 1 << 16  # least number of rows per batch of Parquet
    batches: int = 32  # about the number of batches of a large Parquet file
    span: int = 1 << 22  # range of integer ids up to which a lookup table replaces hashing


DEFAULT_TUNING = Tuning()


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How numbers are written in text; by default the decimal sign is a point."""

    decimal: DecimalSign = "."
    thousands: DecimalSign | None = None
    stated: bool = False  # whether the user named a sign

    @classmethod
    def of(cls, decimal: DecimalSign | None, thousands: DecimalSign | None) -> "NumberFormat":
        """Check the arguments; without `decimal` it is the sign that does not separate thousands."""
        for argument, sign in (("decimal", decimal), ("thousands", thousands)):
            if sign is not None:
                check_choice(argument, sign, get_args(DecimalSign))
        if thousands is not None and thousands == decimal:
            raise InputError(Argument("thousands"), " and ", Argument("decimal"), " must be different signs")
        default: DecimalSign = "," if thousands == "." else "."
        return cls(decimal or default, thousands, decimal is not None or thousands is not None)

    def plain(self, text: Any) -> Any:
        """Return numbers with a decimal point and without thousands; empty where the signs are misplaced."""
        pc = arrow("pyarrow.compute")
        if self.thousands is not None:
            is_grouped = pc.match_substring_regex(text, grouped(self.thousands, self.decimal))
            text = pc.if_else(is_grouped, pc.replace_substring(text, self.thousands, ""), text)
        if self.decimal == ",":
            text = pc.if_else(pc.match_substring(text, "."), "", pc.replace_substring(text, ",", "."))
        return text


PLAIN_NUMBERS = NumberFormat()


def grouped(thousands: str, decimal: str) -> str:
    """Return a pattern of numbers with thousands, such as 1,396 and 12,000.5."""
    return rf"\A[+-]?[1-9][0-9]{{0,2}}([{thousands}][0-9]{{3}})+([{decimal}][0-9]*)?([eE][+-]?[0-9]+)?\z"


class Header:
    """The name of a table, and those of its columns."""

    def __init__(self, path: StrPath, names: list[str]) -> None:
        self.path, self.names = path, names

    @cached_property
    def places(self) -> dict[Any, list[int]]:
        """Where each column name is in the header."""
        places: dict[Any, list[int]] = {}
        for place, name in enumerate(self.names):
            places.setdefault(name, []).append(place)
        return places

    def column(self, name: Any, remedy: str | InputError = "") -> str:
        """Return the name if exactly one column has it; otherwise raise an `InputError`."""
        if isinstance(name, str) and len(self.places.get(name, ())) == 1:
            return name
        if name in self.names:
            message = f"the table has more than one column {shown(name)}"
            remedy = "rename one of them; the first line must name the columns, add such a line if needed"
        else:
            message = no_column(name, [one for one in self.names if one != ROW])
            title: str | InputError = self.title_hint()
            if title and remedy:
                title = InputError(*prefixed("", remedy).args, f"; {title}")
            remedy = self.delimiter_hint() or self.similar_column(name) or title or remedy
        raise fault(self.path, prefixed(f"{message}; ", remedy) if remedy else message)

    def similar_column(self, name: Any) -> str:
        """Suggest what a name that no column has may mean; empty if there is no similar one."""
        parts = str(name).split(",")
        if len(parts) > 1 and set(parts) <= set(self.names):
            return "these are several columns; name each one separately"
        by_lower_case = {one.lower(): one for one in self.names}
        found = get_close_matches(str(name).lower(), by_lower_case, 1)
        return f"did you mean {shown(by_lower_case[found[0]])}?" if found else ""

    def title_hint(self) -> str:
        """Suggest what to do if the first line may be a title, with one value or gaps; otherwise empty."""
        return TITLE_HINT if len(self.names) == 1 or "" in self.names[1:] else ""

    def delimiter_hint(self) -> InputError | None:
        """Suggest another delimiter for a table that seems to have a single column, if it may have one."""
        for sign in ";|\t,":
            if len(self.names) == 1 and sign in self.names[0]:
                return InputError(
                    f"if {shown(sign)} separates the columns, use ", Argument("delimiter", sign)
                )
        return None


class Table(Header, ABC):
    """A table in one or more files, of which some columns at a time can be read repeatedly."""

    text: bool  # whether all values are text, so that numbers have to be inferred
    unit: str  # of `size` and `position`
    position = 0  # how far the current pass over the table has come
    numbers = PLAIN_NUMBERS  # how weights are written in text
    delimiter = ","  # of text
    large_batches = False  # set during a pass to ask for few batches: each costs time for every known id

    def __init__(
        self, path: StrPath, files: list[StrPath], names: list[str], size: int, tuning: Tuning
    ) -> None:
        super().__init__(path, names)
        self.files, self.size, self.tuning, self._stamp = files, size, tuning, _stamp(files)

    def list_columns(self) -> list[str]:
        """Return the columns that hold lists."""
        return []

    @abstractmethod
    def batches(self, columns: list[str]) -> Generator[list[Any], None, None]:
        """Yield some columns, batch by batch, as PyArrow arrays of equal length."""

    def numbered_batches(
        self, columns: list[str], progress: tuple[float, float] | None = None
    ) -> Generator[tuple[int, list[Any]], None, None]:
        """Yield batches and their first rows.

        `progress` is the share of the work done before this pass, and the share that the pass takes.
        """
        row, released, pool = 0, 0, arrow().default_memory_pool()
        with closing(self.batches(columns)) as batches:
            for batch in batches:
                yield row, batch
                row += len(batch[0])
                if progress is not None:
                    share = progress[0] + progress[1] * min(self.position / max(self.size, 1), 1.0)
                    report_progress("reading", share * self.size, self.unit, share, f"{row:,} rows")
                del batch
                if self.large_batches or row >= released + RELEASE_AFTER:
                    pool.release_unused()
                    released = row
        pool.release_unused()

    @abstractmethod
    def fault(self, message: str | InputError, row: int | None = None) -> InputError:
        """Create an error that names the file and where in it a row (from 0) is."""

    def check_unchanged(self) -> None:
        """Raise an `InputError` if a file has changed since its header was read."""
        if self._stamp != _stamp(self.files):
            raise fault(self.path, "the file changed while it was read; read it again")


def missing_words(values: Any) -> Any:
    """Return text with null where a word means a missing number; other types as they are."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return values
    missing = pc.is_in(values, value_set=pa.array(MISSING, values.type))
    if isinstance(missing, pa.ChunkedArray):
        missing = missing.combine_chunks()
    # `if_else` gives invalid text for a slice in PyArrow 17 to 21 at least.
    return pc.replace_with_mask(values, missing, pa.scalar(None, values.type))


def is_numeric(kind: Any) -> bool:
    """Whether an Arrow type holds integers, floats or decimals."""
    types = arrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _stamp(files: list[StrPath]) -> list[tuple[int, int, int]]:
    """Return what changes when a file does."""
    stats = [os.stat(file) for file in files]
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]
