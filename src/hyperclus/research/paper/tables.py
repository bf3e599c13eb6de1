"""The paper's tables: their rows and the measurements that they need."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from hyperclus.research.paper.methods import METHODS, OURS, THOROUGH
from hyperclus.research.paper.records import Record, Unit, Weights
from hyperclus.research.paper.verdicts import Cell, compare, compare_with_all
from hyperclus.spectral.bounds import relative_gap

TWO_WAY = ("mushroom", "rice", "car", "digit-24", "covertype")
DATASETS = (*TWO_WAY, "zoo", "wine-567", "letter", "digit")
COMPETITORS = ("STAR++", "CLIQUE++", "DiffEq", "node2vec", "hyperedge2vec")
DRAWING = (*(name for name, method in METHODS.items() if method.random), OURS)
OWN = (OURS, THOROUGH)
SEEDS = 10  # of the standard deviations in the paper

Records = Mapping[Unit, Record]
Sizes = Mapping[str, Mapping[str, int]]
Rows = dict[str, dict[str, Cell]]  # by label and data set
Figures = dict[str, float | None]

FIGURES: dict[str, Callable[[str, Record], tuple[float, ...]]] = {
    "ncut": lambda _, record: (record.ncut,),
    "f1": lambda name, record: tuple(record.f1) if name in TWO_WAY else (record.weighted_f1,),
    "second_eigenvalue": lambda _, record: (record.second_eigenvalue,),
    "relative_error_percent": lambda _, record: (
        100 * (record.ncut - record.second_eigenvalue) / record.ncut,
    ),
    "seconds": lambda _, record: (record.seconds,),
}


@dataclass(frozen=True, slots=True)
class Table:
    """A filled table: rows by label, columns by data set, and a note on how to read it."""

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, Cell]]
    digits: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: one figure of one method, and where it is published."""

    label: str
    method: str
    figure: str
    key: str
    entry: str
    tolerance: float | None = None  # without one, measured and published figures are not compared


@dataclass(frozen=True, slots=True)
class Layout:
    """Content of a table; the measurements that it needs follow from its rows."""

    title: str
    rows: tuple[Row, ...] = ()
    weights: Weights = "edvw"
    columns: tuple[str, ...] = DATASETS
    lower: bool = True  # is better
    combine: Callable[..., Any] = np.mean  # the figures of several seeds
    derive: Callable[[Rows, Records, Weights, str], Figures] = lambda *_: {}  # further rows
    digits: int = 4
    note: str = ""
    every_seed: bool = False

    def seeds(self, method: str) -> int:
        """The number of seeds with which a method is measured."""
        return SEEDS if self.every_seed or METHODS[method].random else 1

    def units(self, dataset: str) -> list[Unit]:
        """The measurements on a data set."""
        methods = dict.fromkeys(row.method for row in self.rows) if dataset in self.columns else ()
        return [
            Unit(dataset, method, self.weights, seed)
            for method in methods
            for seed in range(self.seeds(method))
        ]

    def fill(self, records: Records) -> Rows:
        """Compare the measured figures with the published ones."""
        filled: Rows = {}
        for row in self.rows:
            filled[row.label] = {name: self._cell(row, name, records, filled) for name in self.columns}
        for name in self.columns:
            for label, figure in self.derive(filled, records, self.weights, name).items():
                cell = compare((), None, None if figure is None else (figure,))
                filled.setdefault(label, {})[name] = cell
        return filled

    def _cell(self, row: Row, name: str, records: Records, filled: Rows) -> Cell:
        unit, seeds = Unit(name, row.method, self.weights), range(self.seeds(row.method))
        found = [records.get(replace(unit, seed=seed)) for seed in seeds]
        runs = [FIGURES[row.figure](name, record) for record in found if record is not None]
        complete = len(runs) == len(seeds)
        ours = tuple(self.combine(runs, axis=0).tolist()) if complete else None
        theirs = published()[row.key].get(row.entry, {}).get(name)
        if row.tolerance is None:
            return compare((), theirs, ours)
        if row.method in OWN:
            rivals = [one for one in self.rows if one.figure == row.figure and one.method not in OWN]
            others = {rival.method: filled[rival.label][name] for rival in rivals}
            return compare_with_all(ours, others, self.lower)
        slack = np.asarray(row.tolerance)
        if METHODS[row.method].random and complete:  # two standard errors of the difference of two means
            deviation = published()[f"{row.figure}_std"][row.method][name]
            slack = slack + 2 * np.sqrt((np.var(runs, axis=0, ddof=1) + np.square(deviation)) / SEEDS)
        return compare((row.key, row.label, name), theirs, ours, slack, self.lower)


def build(name: str, records: Records, sizes: Sizes) -> Table:
    """Fill one table from the records; `sizes` has the numbers of vertices etc. of the data sets."""
    layout = TABLES[name]
    rows = layout.fill(records) if layout.rows else _datasets(sizes)
    return Table(name, layout.title, layout.note, layout.columns, rows, layout.digits)


@cache
def published() -> dict[str, Any]:
    """All figures of the paper's tables."""
    text = files("hyperclus.research.paper").joinpath("published.json").read_text()
    return dict(json.loads(text))


def _datasets(sizes: Sizes) -> Rows:
    rows: Rows = {row: {} for row in ("vertices", "hyperedges", "incidences", "classes")}
    for row, cells in rows.items():
        for name in DATASETS:
            ours = (float(sizes[name][row]),) if name in sizes else None
            cells[name] = compare(("datasets", row, name), published()["datasets"][name][row], ours, 0.0)
    return rows


def _gap(rows: Rows, records: Records, weights: Weights, dataset: str) -> Figures:
    """The best proven lower bound, and the gap between it and our lowest NCut."""
    found = [r for u, r in records.items() if (u.dataset, u.weights) == (dataset, weights)]
    bound = max((record.lower_bound for record in found), default=None)
    ncut = min((ncut for method in OWN for ncut in rows[method][dataset].ours), default=None)
    gap = None if bound is None or ncut is None else 100 * relative_gap(ncut, bound)
    return {"proven lower bound": bound, "proven gap of ours (%)": gap}


def _ratio(rows: Rows, records: Records, weights: Weights, dataset: str) -> Figures:
    slow, fast = (rows[method][dataset].ours for method in ("HyperClus-G as written", "HyperClus-G"))
    return {"as written / HyperClus-G": slow[0] / fast[0] if slow and fast else None}


def _rows(key: str, figure: str, tolerance: float | None, *methods: str) -> tuple[Row, ...]:
    return tuple(Row(method, method, figure, key, method, tolerance) for method in methods)


def _comparison(figure: str, weights: Weights, note: str, *methods: str) -> Layout:
    """A table of the NCut or F1 of some methods and ours."""
    ncut, edvw = figure == "ncut", weights == "edvw"
    return Layout(
        f"{'NCut' if ncut else 'F1'} with edge-{'dependent' if edvw else 'independent'} weights",
        _rows(f"{figure}_{weights}", figure, 1e-4 if ncut else 1e-3, *methods, *OWN),
        weights,
        DATASETS if edvw else TWO_WAY,
        lower=ncut,
        derive=_gap if ncut else lambda *_: {},
        digits=4 if ncut else 3,
        note=note,
    )


_EIGENVALUE = (
    ("NCut", "ncut", 1e-4),
    ("second eigenvalue", "second_eigenvalue", 1e-4),
    ("relative error (%)", "relative_error_percent", 2e-2),
)
_GAP = (
    "No partition into as many clusters has an NCut below the proven lower bound. The proven gap is how far "
    "our lowest NCut is above the bound, in percent: the most that any other search could gain."
)
_MEAN = "There is one figure per class, the higher first; their mean decides which method is best."
_TEN = (
    "The figures of node2vec and hyperedge2vec are means over ten seeds. They are equal if they differ from "
    "the published means by less than two standard errors of the difference."
)
TABLES: dict[str, Layout] = {
    "datasets": Layout("The data sets", digits=0),
    "ncut": _comparison("ncut", "edvw", f"{_GAP} {_TEN}", *COMPETITORS, "actual class", "HyperClus-G"),
    "f1": _comparison("f1", "edvw", f"{_MEAN} {_TEN}", *COMPETITORS, "HyperClus-G"),
    "eigenvalue": Layout(
        "NCut and the second eigenvalue",
        (
            *(Row(label, "HyperClus-G", key, "eigenvalue", key, slack) for label, key, slack in _EIGENVALUE),
            *(Row(f"{label}, {OURS}", OURS, key, "eigenvalue", "", 0) for label, key, _ in _EIGENVALUE[::2]),
        ),
        columns=TWO_WAY,
        note="Relative error as in the paper: how far the eigenvalue is below the NCut, in percent of it.",
    ),
    "ablation-ncut": _comparison("ncut", "eivw", _GAP, "STAR++", "CLIQUE++", "actual class", "HyperClus-G"),
    "ablation-f1": _comparison("f1", "eivw", _MEAN, "STAR++", "CLIQUE++", "HyperClus-G"),
    "time": Layout(
        "Seconds, from the table of features to the scored clusters",
        _rows("seconds", "seconds", None, *COMPETITORS, "HyperClus-G", *OWN, "HyperClus-G as written"),
        combine=np.min,
        derive=_ratio,
        digits=3,
        note="Includes the eigenvectors for the lower bound, for every method; the fastest of ten seeds.",
    ),
    "std": Layout(
        "Standard deviations over ten runs of the methods that draw random numbers",
        tuple(
            Row(f"{method} ({label})", method, figure, f"{figure}_std", method)
            for label, figure in (("NCut", "ncut"), ("F1", "f1"))
            for method in DRAWING
        ),
        combine=np.std,
        every_seed=True,
    ),
}
