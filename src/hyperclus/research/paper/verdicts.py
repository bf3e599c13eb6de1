"""One cell of a table: the published figure, the measured one, and a verdict."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np

from hyperclus.research.paper.reasons import reason, unprinted
from hyperclus.typing import Floats

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure (or pair of figures) of a table.

    Attributes
    ----------
    published, ours : tuples of float
        Empty where there is none.
    verdict : str
        Against the published figure: "equal", "better", "worse" or "not reproducible". For a method
        that the paper does not have, against its column: "best of all" or "not the best". Else
        "measured" or "not run".
    reason : str
        Why a figure differs or cannot be reproduced, or which one is better.
    """

    published: tuple[float, ...]
    ours: tuple[float, ...]
    verdict: str
    reason: str = ""

    @property
    def difference(self) -> float | None:
        """The largest difference, ours less published."""
        pairs = list(zip(self.ours, self.published, strict=False))
        return max((ours - published for ours, published in pairs), key=abs) if pairs else None


def compare(
    where: tuple[str, str, str],
    theirs: Any,
    ours: tuple[float, ...] | None,
    tolerance: float | Floats,
    lower: bool,
) -> Cell:
    """The verdict on one cell; `lower` says that smaller is better. The tolerance may be one per figure."""
    figures = () if theirs is None else tuple(theirs) if isinstance(theirs, list) else (theirs,)
    if ours is None:
        return Cell(figures, (), "not run")
    if not figures:
        return Cell(figures, ours, "measured")
    differences = [mine - other for mine, other in zip(ours, figures, strict=True)]
    if (np.abs(differences) <= tolerance).all():
        return Cell(figures, ours, "equal")
    why = reason(where)
    if why:
        return Cell(figures, ours, "not reproducible", why)
    better = sum(differences) < 0 if lower else sum(differences) > 0
    return Cell(figures, ours, "better" if better else "worse", unprinted(where[1]))


def compare_with_all(ours: tuple[float, ...] | None, others: Mapping[str, Cell], lower: bool) -> Cell:
    """The verdict on a figure that the paper does not have, against all others, published and measured.

    Of two figures the mean counts.
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


def uncompared(theirs: tuple[float, ...], ours: tuple[float, ...]) -> Cell:
    """A cell whose two sides are not to be compared."""
    return Cell(theirs, ours, "measured" if ours else "not run")
