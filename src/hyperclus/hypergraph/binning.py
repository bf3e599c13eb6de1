"""Bins of numbers: which bins a value belongs to, with which weight, and the names of the bins.

A rule gives the limits of the bins of a column, as a `Binning`, which then assigns values to bins: those of
the column, and those of rows that are added later.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, floor, frexp, inf, isfinite, log10
from numbers import Integral
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from hyperclus._runtime.arrays import index_type
from hyperclus.errors import InputError, check_choice, is_number
from hyperclus.hypergraph.messages import caption, shown
from hyperclus.typing import Codes, Floats

Rule: TypeAlias = Literal["width", "quantile", "soft", "paper"]
Memberships: TypeAlias = tuple[Codes, Floats | None]  # the bin of each value, -1 for none; gamma, 1 if None
Kind: TypeAlias = Literal["intervals", "centres", "paper", "levels"]
Name: TypeAlias = Callable[[Any], Any]  # names the bin with this number

FEW = 10  # a column with more different numbers has bins by default
MAX_BINS = 1_000_000  # per column
DIGITS = 9  # of interval limits, counted from the width of a bin, so that 3 * 0.1 is 0.3
MANY_DECIMALS = 400  # which change no float
MAX_DECIMALS = 15  # of numbers with separators; with more, floats of this size cannot be told apart
LARGE = 1e15  # numbers from here on are written as Python does
SEPARATE_FROM = 10_000  # the largest number of a column from which thousands are separated, so not years
NEAR, TO = "near ", " to "  # in the names of bins
ROUNDING = 1e-9  # smaller gammas are rounding errors


@dataclass(frozen=True, slots=True)
class Bins:
    """How a column of numbers becomes hyperedges, for the argument `bins` of `Hypergraph.from_table`.

    Attributes
    ----------
    rule : {"width", "quantile", "soft", "paper"}
        "width": intervals of equal width from the minimum to the maximum.
        "quantile": intervals with about equally many rows. Equal values are never separated: each limit is
        between two different values, as close as possible to the one that would make the counts equal.
        "soft": bins around equidistant centres, from the minimum to the maximum. A value between two centres
        belongs to both, with gammas 1 - distance / (distance of the centres), which sum to 1.
        "paper": trunc(x / maximum * count), as in the paper; the maximum has a bin of its own.
    count : int
        Number of bins or centres, from 2 to a million; bins without rows make no hyperedge.
    maximum : float, optional
        Only for "paper": the maximum over all rows, if the table has only some of them. By default the
        maximum of the column.

    Examples
    --------
    >>> from hyperclus import Hypergraph
    >>> table = {"age": [0, 10, 35, 100], "city": ["Oslo", "Oslo", "Rome", "Rome"]}
    >>> Hypergraph.from_table(table, bins={"age": Bins("quantile", 2)}).edge_ids.tolist()
    [('age', '0 to 34'), ('age', '35 to 100'), ('city', 'Oslo'), ('city', 'Rome')]
    >>> h = Hypergraph.from_table(table, bins={"age": Bins("soft", 3)}, features=["age"])
    >>> h.edge_ids.tolist()
    [('age', 'near 0'), ('age', 'near 50'), ('age', 'near 100')]
    >>> h.gamma.toarray().round(9).tolist()
    [[1.0, 0.8, 0.3, 0.0], [0.0, 0.2, 0.7, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """

    rule: Rule = "width"
    count: int = 5
    maximum: float | None = None

    def __post_init__(self) -> None:
        check_choice("the rule of bins", self.rule, get_args(Rule))
        whole = isinstance(self.count, Integral) and not isinstance(self.count, bool)
        if not (whole and 2 <= self.count <= MAX_BINS):
            raise InputError(f"bins must be a whole number from 2 to {MAX_BINS:,}; got {shown(self.count)}")
        object.__setattr__(self, "count", int(self.count))
        if self.maximum is not None:
            if self.rule != "paper":
                raise InputError(f"only the rule 'paper' has a maximum; leave it out for {self.rule!r}")
            if not (is_number(self.maximum) and isfinite(self.maximum) and self.maximum > 0):
                raise InputError(f"the maximum must be positive and finite; got {shown(self.maximum)}")
            object.__setattr__(self, "maximum", float(self.maximum))


BinsOrRule: TypeAlias = Bins | Rule | int
BinsByColumn: TypeAlias = BinsOrRule | Mapping[Any, BinsOrRule | None] | Literal[False] | None
DEFAULT_BINS = 5  # of equal width


@dataclass(frozen=True, slots=True)
class BinRules:
    """Which columns of numbers have bins: those in `named` (None: no bins), and others with many numbers."""

    named: Mapping[Any, Bins | None]
    others: Bins | None  # for columns with more than FEW different numbers

    def rule(self, name: Any, distinct: int) -> Bins | None:
        """Return the bins of a column with this many different numbers."""
        if name in self.named:
            return self.named[name]
        return self.others if distinct > FEW else None


def as_bins(bins: BinsByColumn) -> BinRules:
    """Convert the argument `bins`: a rule for all columns, or rules for named ones and five for others."""
    if isinstance(bins, Mapping):
        named = {name: None if value is None else _single(value) for name, value in bins.items()}
        return BinRules(named, _single(DEFAULT_BINS))
    return BinRules({}, None if bins is None or bins is False else _single(bins))


@dataclass(frozen=True, slots=True, eq=False)
class Binning:
    """The bins of one column of a table.

    Attributes
    ----------
    kind : {"intervals", "centres", "paper", "levels"}
        What the points are: the starts of the intervals and the end of the last one; centres, between which a
        value belongs to two bins; the maximum and the count of the paper's rule; or ordered values, each with
        the number of its bin.
    points : tuple of numbers, or of the ordered values
    numbers : array
        The numbers of the bins that are not empty, ascending; for "levels" the bin of each point.
    names : tuple
        The names of the bins, one for each of the different numbers.
    """

    kind: Kind
    points: tuple[Any, ...]
    numbers: Floats
    names: tuple[Any, ...]

    def __post_init__(self) -> None:
        numbers, ordered = self.numbers, self.kind == "levels"
        fits = len(numbers) == len(self.points if ordered else self.names)
        if ordered:
            fits = fits and set(numbers.tolist()) <= set(range(len(self.names)))
        else:
            fits = fits and all(map(is_number, self.points)) and bool((np.diff(numbers) > 0).all())
            fits = fits and (
                self.kind == "paper" or not numbers.size or 0 <= numbers[0] <= numbers[-1] < MAX_BINS
            )
        if not fits:
            raise InputError(
                "the bins of a column do not fit together; build them with Hypergraph.from_table"
            )

    def memberships(self, values: Floats) -> list[Memberships]:
        """Return the bins of each value as positions in `names`, -1 for values in none of them and for NaN.

        The list has two entries if a value can be in two bins, otherwise one.
        """
        assigned = _ASSIGNED[self.kind](values, np.array(self.points))
        kind = index_type(len(values))
        if self.kind == "paper":
            numbers, last = assigned[0][0], len(self.numbers) - 1
            places = np.searchsorted(self.numbers, numbers).clip(max=last)
            return [(np.where(self.numbers[places] == numbers, places, -1).astype(kind), None)]
        beyond = int(self.numbers[-1]) + 1  # an empty bin, and what number -1 refers to
        rank = np.full(beyond + 1, -1, dtype=kind)
        rank[self.numbers.astype(np.intp)] = np.arange(len(self.numbers))
        return [(rank[np.minimum(numbers, beyond)], gamma) for numbers, gamma in assigned]

    def middles(self) -> Floats | None:
        """Return the middle, centre or number of each bin, in the order of `names`; None for levels."""
        if self.kind == "levels":
            return None
        if self.kind == "paper":
            return self.numbers
        places, points = self.numbers.astype(np.intp), np.array(self.points)
        return points[places] / 2 + points[places + (self.kind == "intervals")] / 2

    def levels(self) -> dict[Any, Any]:
        """Return the name of the bin of each ordered value."""
        return {
            level: self.names[int(number)] for level, number in zip(self.points, self.numbers, strict=True)
        }


def order_memberships(codes: Codes, levels: Sequence[Any], bins: Bins) -> tuple[list[Memberships], Binning]:
    """Return the bins of ordered levels, given by their positions (-1 for none); each joins neighbours."""
    if bins.rule not in ("width", "quantile"):
        raise InputError(f"bins of ordered values must be 'width' or 'quantile', not {bins.rule!r}")
    parts, binning = memberships(np.where(codes < 0, np.nan, codes), bins)
    inside = [codes[parts[0][0] == number] for number in range(len(binning.names))]
    ends = [dict.fromkeys((int(some.min()), int(some.max()))) for some in inside]
    names = tuple(TO.join(caption(levels[end]) for end in pair) for pair in ends)
    places = binning.memberships(np.arange(len(levels), dtype=np.float64))[0][0] if names else codes[:0]
    used = np.flatnonzero(places >= 0)
    return parts, Binning(
        "levels", tuple(levels[place] for place in used.tolist()), places[used].astype(float), names
    )


def memberships(values: Floats, bins: Bins) -> tuple[list[Memberships], Binning]:
    """Return the bins of each value, and the bins that are not empty, in ascending order.

    The list has two entries if a value can be in two bins, otherwise one. NaN is in no bin; values must not
    be infinite.
    """
    present = ~np.isnan(values)
    some = values if present.all() else values[present]
    if not some.size:
        return [(np.full(len(values), -1), None)], Binning("intervals", (), np.empty(0), ())
    kind, points, name = _RULES[bins.rule](some, float(some.min()), float(some.max()), bins)
    assigned = [numbers for numbers, _ in _ASSIGNED[kind](some, np.array(points))]
    filled = assigned if kind == "paper" else [np.flatnonzero(np.bincount(one + 1)[1:]) for one in assigned]
    numbers = np.unique(np.concatenate(filled))
    binning = Binning(kind, points, numbers.astype(np.float64), tuple(map(name, numbers.tolist())))
    return binning.memberships(values), binning


def paper_bins(values: Floats, maximum: Any, count: int) -> Floats:
    """Return trunc(x / maximum * count), evaluated in exactly this order."""
    return cast(Floats, np.trunc(values / maximum * count) + 0.0)


def _width(values: Floats, low: float, high: float, bins: Bins) -> tuple[Kind, tuple[float, ...], Name]:
    edges = _evenly(low, high, bins.count + 1)
    return _intervals(values, edges[:-1] if len(edges) > 1 else edges, high)


def _quantile(values: Floats, low: float, high: float, bins: Bins) -> tuple[Kind, tuple[float, ...], Name]:
    distinct, counts = np.unique(values, return_counts=True)
    cuts = np.cumsum(counts)[:-1] * bins.count  # count times the number of values below each possible limit
    if not len(cuts):
        return _intervals(values, distinct, high)
    wanted = len(values) * np.arange(1, bins.count)
    after = np.searchsorted(cuts, wanted).clip(max=len(cuts) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(wanted - cuts[before]) <= np.abs(cuts[after] - wanted), before, after)
    return _intervals(values, distinct[np.append(0, np.unique(nearest) + 1)], high)


def _soft(values: Floats, low: float, high: float, bins: Bins) -> tuple[Kind, tuple[float, ...], Name]:
    centres = _evenly(low, high, bins.count)
    text = _rounded(centres)
    return "centres", tuple(centres.tolist()), lambda number: f"{NEAR}{text(centres[int(number)])}"


def _paper(values: Floats, low: float, high: float, bins: Bins) -> tuple[Kind, tuple[float, ...], Name]:
    maximum = high if bins.maximum is None else bins.maximum
    if high > maximum:
        raise InputError(f"{_text(high)} is above the given maximum {_text(maximum)}; correct it")
    if bins.maximum is None and low == high:  # also where the maximum is not positive
        return "intervals", (low, high), lambda _: bins.count
    if maximum <= 0:
        problem = f"the paper's bins need a positive maximum, this one is {_text(maximum)}"
        raise InputError(f"{problem}; use 'width' instead")
    with np.errstate(over="ignore"):
        if not np.isfinite(paper_bins(np.array([low]), maximum, bins.count)[0]):
            problem = f"{_text(low)} is too far below the maximum {_text(maximum)} for the paper's bins"
            raise InputError(f"{problem}; use 'quantile' instead")
    return "paper", (maximum, bins.count), int


_RULES = {"width": _width, "quantile": _quantile, "soft": _soft, "paper": _paper}


# The numbers of the bins of values, -1 for values outside of all, and gamma; the paper's may be negative.


def _in_intervals(values: Floats, points: Floats) -> list[Memberships]:
    numbers = np.searchsorted(points[1:-1], values, side="right")
    numbers[~((values >= points[0]) & (values <= points[-1]))] = -1
    return [(numbers, None)]


def _near_centres(values: Floats, centres: Floats) -> list[Memberships]:
    inside = (values >= centres[0]) & (values <= centres[-1])
    if len(centres) == 1:
        return [(inside.astype(np.intp) - 1, None)]
    values = np.where(inside, values, centres[0])
    left = (np.searchsorted(centres, values, side="right") - 1).clip(max=len(centres) - 2)
    scale = -frexp(max(-centres[0], centres[-1]))[1] - 1  # so that no difference overflows or underflows
    places = np.ldexp(centres, scale)
    to_right = (np.ldexp(values, scale) - places[left]) / np.diff(places)[left]
    to_right[to_right < ROUNDING] = 0.0
    to_right[to_right > 1 - ROUNDING] = 1.0
    first = (np.where(inside & (to_right < 1), left, -1), 1 - to_right)
    return [first, (np.where(inside & (to_right > 0), left + 1, -1), to_right)]


def _by_paper(values: Floats, points: Floats) -> list[Memberships]:
    maximum, bins = points.tolist()
    with np.errstate(over="ignore", invalid="ignore"):
        return [(paper_bins(values, maximum, int(bins)), None)]  # type: ignore[list-item]


_ASSIGNED: dict[str, Callable[[Floats, Floats], list[Memberships]]] = {
    "intervals": _in_intervals,
    "centres": _near_centres,
    "paper": _by_paper,
}


def _single(value: Any) -> Bins:
    if isinstance(value, Bins):
        return value
    if isinstance(value, str):
        return Bins(cast(Rule, value))
    if is_number(value):
        return Bins(count=value)
    known = "a number of bins, a rule such as 'quantile', a Bins, or a mapping from columns to these"
    raise InputError(f"bins must be {known}, not {shown(value)}")


def _evenly(low: float, high: float, count: int) -> Floats:
    """Return distinct equidistant numbers from low to high; the inner ones are rounded."""
    share = np.linspace(0, 1, count)[1:-1]
    inner: list[float] = (low * (1 - share) + high * share).tolist()  # a difference could overflow
    step = high / (count - 1) - low / (count - 1)
    if 0 < step < inf:
        digits = DIGITS - floor(log10(step))
        inner = [round(point, digits) for point in inner]
    return cast(Floats, np.unique(np.clip([low, *inner, high], low, high)))


def _intervals(values: Floats, starts: Floats, high: float) -> tuple[Kind, tuple[float, ...], Name]:
    """Return the intervals from each start to the next; the last one includes `high`."""
    limits = np.append(starts, high)
    text, whole = _rounded(limits), _are_whole(values, limits)

    def name(number: float) -> str:
        start, end = limits[int(number)], limits[int(number) + 1]
        if whole:
            start = ceil(start)
            end = max(start, end if number == len(starts) - 1 else ceil(end) - 1)
        first, last = text(start), text(end)
        return first if first == last else f"{first}{TO}{last}"

    return "intervals", tuple(limits.tolist()), name


def _are_whole(values: Floats, limits: Floats) -> bool:
    """Whether bins can be named by integers: all values are integers, and limits are rounded to fewer."""
    if max(-limits[0], limits[-1]) >= LARGE or _decimals(limits) < 0:
        return False
    return bool((values == np.floor(values)).all())


def _decimals(limits: Floats) -> int:
    """Number of decimals to which limits are rounded for reading: a hundredth of the narrowest bin."""
    halves = np.diff(limits / 2)  # a difference of the limits could overflow
    halves = halves[halves > 0]
    return 2 - floor(log10(halves.min()) + log10(2)) if halves.size else MANY_DECIMALS


def _rounded(limits: Floats) -> Callable[[float], str]:
    """Return a function that writes a limit for people: rounded, with separators if some are large."""
    decimals, largest = _decimals(limits), max(-limits[0], limits[-1])
    grouped = SEPARATE_FROM <= largest < LARGE and decimals <= MAX_DECIMALS

    def text(number: float) -> str:
        with suppress(OverflowError):  # rounded up beyond the floats
            number = round(float(number), decimals)
        if not grouped:
            return _text(number)
        written = f"{number + 0.0:,.{max(decimals, 0)}f}"
        return written.rstrip("0").rstrip(".") if "." in written else written

    return text


def _text(number: float) -> str:
    """Return the shortest text that is read as the same number: 2.5, 3, 1e+16."""
    return repr(float(number) + 0.0).removesuffix(".0")
