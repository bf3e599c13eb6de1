"""Cells of the tables: published figure, measured figure and verdict."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import mean
from typing import Any

import numpy as np

from hyperclus.typing import Floats

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure (or pair of figures) of a table.

    The verdict is "equal", "better", "worse" or "not reproducible" beside a published figure; "best of all"
    or "not the best" for a method that is not in the paper, compared with its column; otherwise "measured"
    or "not run".
    """

    published: tuple[float, ...]  # empty if there is none
    ours: tuple[float, ...]
    verdict: str
    reason: str = ""  # why a figure differs or cannot be reproduced, or which one is better

    @property
    def difference(self) -> float | None:
        """The largest difference, ours minus published."""
        pairs = list(zip(self.ours, self.published, strict=False))
        return max((ours - published for ours, published in pairs), key=abs) if pairs else None


def compare(
    where: tuple[str, ...],
    theirs: Any,
    ours: tuple[float, ...] | None,
    tolerance: float | Floats | None = None,
    lower: bool = True,
) -> Cell:
    """Compare a cell with the published figure, if there is one and a tolerance; several may have their own.

    With `lower`, smaller is better. `where` is the key of the table, the row and the data set.
    """
    figures = () if theirs is None else tuple(theirs) if isinstance(theirs, list) else (theirs,)
    if ours is None:
        return Cell(figures, (), "not run")
    if not figures or tolerance is None:
        return Cell(figures, ours, "measured")
    differences = [mine - other for mine, other in zip(ours, figures, strict=True)]
    if (np.abs(differences) <= tolerance).all():
        return Cell(figures, ours, "equal")
    cells, methods = _reasons()
    if where in cells:
        return Cell(figures, ours, "not reproducible", cells[where])
    better = sum(differences) < 0 if lower else sum(differences) > 0
    return Cell(figures, ours, "better" if better else "worse", methods.get(where[1], ""))


@cache
def _reasons() -> tuple[dict[tuple[str, ...], str], dict[str, str]]:
    """Why figures differ from the published ones: by cell (table key, row, data set), and by method."""
    known = json.loads(files("hyperclus.research.paper").joinpath("reasons.json").read_text())
    by_cell = {tuple(cell): entry["reason"] for entry in known["cells"] for cell in entry["cells"]}
    return by_cell, known["methods"]


def compare_with_all(ours: tuple[float, ...] | None, others: Mapping[str, Cell], lower: bool) -> Cell:
    """Compare a figure that is not in the paper with all others, published and measured.

    Of two figures the mean is compared.
    """
    if ours is None:
        return Cell((), (), "not run")
    sign = 1 if lower else -1
    figures = []
    for name, cell in others.items():
        doubt = " (published, not reproducible)" if cell.verdict == "not reproducible" else ""
        sides = ((cell.published, name + doubt), (cell.ours, name))
        figures += [(sign * mean(side), rival) for side, rival in sides if side]
    best, rival = min(figures)
    if best < sign * mean(ours) - ROUNDING:
        return Cell((), ours, "not the best", f"the best is {rival}")
    return Cell((), ours, "best of all")
