"""Signs in numbers in text that may separate thousands or decimals."""

from dataclasses import dataclass
from typing import Any

from hyperclus._runtime.optional import arrow
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.messages import shown
from hyperclus.io.tables.table import DecimalSign, Table

GROUPED_POINT = r"\A[+-]?[1-9][0-9]{0,2}\.[0-9]{3}\z"  # 1.234, but not 0.125
WHOLE = r"\A[+-]?[0-9]+\z"
NAMES = {",": "comma", ".": "point"}


@dataclass(slots=True)
class Points:
    """The points in a column of numbers, seen batch by batch.

    They may separate thousands if every number with a point is like 1.234 and others have none. If all
    have one, these may be three decimals, and reading thousands as decimals changes the unit only.
    """

    strict: bool = False  # whether a column in which all numbers have a point counts too
    first: tuple[int, str] | None = None  # the row and the text of the first number like 1.234
    whole: bool = False  # whether a number has no point
    decimal: bool = False  # whether a point can only be a decimal sign

    def add(self, values: Any, row: int = 0) -> None:
        """Look at a batch of texts, of which the first is in this row."""
        pc = arrow("pyarrow.compute")
        if self.decimal:
            return
        self.whole = self.whole or bool(pc.any(pc.match_substring_regex(values, WHOLE)).as_py())
        points = values.filter(pc.match_substring(values, ".")).unique()
        if not len(points):
            return
        good = pc.match_substring_regex(points, GROUPED_POINT)
        self.decimal = good.false_count > 0
        if self.first is None and not self.decimal:
            self.first = row + pc.index(values, points[0]).as_py(), points[0].as_py()

    @property
    def ambiguous(self) -> bool:
        """Whether the points may separate thousands."""
        return self.first is not None and not self.decimal and (self.whole or self.strict)


def refuse_ambiguous(source: Table, columns: dict[str, Points]) -> None:
    """Raise an `InputError` for the first column with ambiguous points, unless another one has decimals."""
    if any(points.decimal for points in columns.values()):
        return
    for name, points in columns.items():
        if points.ambiguous and points.first is not None:
            raise ambiguous_sign(source, name, *points.first, ".")


def ambiguous_sign(source: Table, name: str, row: int, text: str, sign: DecimalSign) -> InputError:
    """Create an error for a number whose comma or point may separate thousands or decimals."""
    problem = f"column {shown(name)}: the {NAMES[sign]} of {text} may separate thousands or decimals; use "
    thousands = Argument("thousands", sign), " if it separates thousands, or "
    decimal = Argument("decimal", sign), " if it is the decimal sign"
    return source.fault(InputError(problem, *thousands, *decimal), row)
