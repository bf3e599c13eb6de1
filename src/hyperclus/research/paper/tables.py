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
from hyperclus.research.paper.verdicts import Cell, compare, compare_with_all, uncompared
from hyperclus.spectral.bounds import relative_gap
from hyperclus.typing import Floats

TWO_WAY = ("mushroom", "rice", "car", "digit-24", "covertype")
DATASETS = (*TWO_WAY, "zoo", "wine-567", "letter", "digit")
COMPETITORS = ("STAR++", "CLIQUE++", "DiffEq", "node2vec", "hyperedge2vec")
DRAWING = (*(name for name, method in METHODS.items() if method.random), OURS)
OWN = (OURS, THOROUGH)
SEEDS = 10  # of the standard deviations in the paper

Records = Mapping[Unit, Record]
Sizes = Mapping[str, Mapping[str, int]]
Fill = Callable[[Records, Sizes], dict[str, dict[str, Cell]]]


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
class Layout:
    """Content of a table and the measurements that it needs."""

    title: str
    needs: tuple[tuple[str, Weights], ...]
    fill: Fill
    two_way_only: bool = False
    digits: int = 4
    note: str = ""
    every_seed: bool = False

    def seeds(self, method: str) -> int:
        """The number of seeds with which a method is measured."""
        return SEEDS if self.every_seed or METHODS[method].random else 1


def build(name: str, records: Records, sizes: Sizes) -> Table:
    """Fill one table from the records; `sizes` has the numbers of vertices etc. of the data sets."""
    layout = TABLES[name]
    columns = TWO_WAY if layout.two_way_only else DATASETS
    rows = layout.fill(records, sizes)
    return Table(name, layout.title, layout.note, columns, rows, layout.digits)


@cache
def published() -> dict[str, Any]:
    """All figures of the paper's tables."""
    text = files("hyperclus.research.paper").joinpath("published.json").read_text()
    return dict(json.loads(text))


def _rows(
    key: str,
    weights: Weights,
    methods: tuple[str, ...],
    columns: tuple[str, ...],
    figure: Callable[[str, Record], tuple[float, ...]],
    tolerance: float,
    lower: bool = True,
) -> Fill:
    def fill(records: Records, sizes: Sizes) -> dict[str, dict[str, Cell]]:
        rows: dict[str, dict[str, Cell]] = {}
        for method in methods:
            rows[method] = {}
            for dataset in columns:
                runs = _runs(records, Unit(dataset, method, weights), figure, METHODS[method].random)
                ours = tuple(np.mean(runs, axis=0).tolist()) if runs else None
                if method in OWN:
                    others = {name: cells[dataset] for name, cells in rows.items() if name not in OWN}
                    rows[method][dataset] = compare_with_all(ours, others, lower)
                else:
                    theirs = published()[key].get(method, {}).get(dataset)
                    slack = tolerance + _two_errors(key, method, dataset, runs)
                    rows[method][dataset] = compare((key, method, dataset), theirs, ours, slack, lower)
        return rows

    return fill


def _runs(
    records: Records, unit: Unit, figure: Callable[[str, Record], tuple[float, ...]], every_seed: bool
) -> list[tuple[float, ...]]:
    """The figures of a method on a data set, with the first seed or every seed; none if one is missing."""
    seeds = range(SEEDS if every_seed else 1)
    found = [records.get(replace(unit, seed=seed)) for seed in seeds]
    runs = [figure(unit.dataset, record) for record in found if record is not None]
    return runs if len(runs) == len(seeds) else []


def _two_errors(key: str, method: str, dataset: str, runs: list[tuple[float, ...]]) -> Floats:
    """Two standard errors of the difference between two means over ten seeds; 0 for methods without seeds."""
    if not METHODS[method].random or not runs:
        return np.zeros(1)
    theirs = published()[f"{key.split('_')[0]}_std"][method][dataset]
    return np.asarray(2 * np.sqrt((np.var(runs, axis=0, ddof=1) + np.square(theirs)) / SEEDS))


def _with_gap(fill: Fill, weights: Weights) -> Fill:
    """Add the best proven lower bound, and the gap between it and our lowest NCut."""

    def filled(records: Records, sizes: Sizes) -> dict[str, dict[str, Cell]]:
        rows = fill(records, sizes)
        bounds: dict[str, Cell] = {}
        gaps: dict[str, Cell] = {}
        for dataset in rows[OURS]:
            found = [r for u, r in records.items() if (u.dataset, u.weights) == (dataset, weights)]
            bound = max((record.lower_bound for record in found), default=None)
            ncut = min((ncut for method in OWN for ncut in rows[method][dataset].ours), default=None)
            gap = None if bound is None or ncut is None else 100 * relative_gap(ncut, bound)
            bounds[dataset], gaps[dataset] = _plain(bound), _plain(gap)
        return {**rows, "proven lower bound": bounds, "proven gap of ours (%)": gaps}

    return filled


def _plain(figure: float | None) -> Cell:
    return uncompared((), () if figure is None else (figure,))


def _f1(dataset: str, record: Record) -> tuple[float, ...]:
    return tuple(record.f1) if dataset in TWO_WAY else (record.weighted_f1,)


def _eigenvalue(records: Records, sizes: Sizes) -> dict[str, dict[str, Cell]]:
    rows: dict[str, dict[str, Cell]] = {"NCut": {}, "second eigenvalue": {}, "relative error (%)": {}}
    rows |= {f"NCut, {OURS}": {}, f"relative error (%), {OURS}": {}}
    theirs = published()["eigenvalue"]
    for dataset in TWO_WAY:
        ncut, value, error = _beside_eigenvalue(records.get(Unit(dataset, "HyperClus-G", "edvw")))
        for row, key, ours, tolerance in (
            ("NCut", "ncut", ncut, 1e-4),
            ("second eigenvalue", "second_eigenvalue", value, 1e-4),
            ("relative error (%)", "relative_error_percent", error, 2e-2),
        ):
            where = ("eigenvalue", row, dataset)
            rows[row][dataset] = compare(where, theirs[key][dataset], ours, tolerance, True)
        ncut, _, error = _beside_eigenvalue(records.get(Unit(dataset, OURS, "edvw")))
        for row, ours in (("NCut", ncut), ("relative error (%)", error)):
            others = {"HyperClus-G": rows[row][dataset]}
            rows[f"{row}, {OURS}"][dataset] = compare_with_all(ours, others, True)
    return rows


def _beside_eigenvalue(record: Record | None) -> tuple[tuple[float] | None, ...]:
    """NCut, second eigenvalue and the paper's relative error in percent."""
    if record is None:
        return None, None, None
    ncut, value = record.ncut, record.second_eigenvalue
    return (ncut,), (value,), (100 * (ncut - value) / ncut,)


def _datasets(records: Records, sizes: Sizes) -> dict[str, dict[str, Cell]]:
    rows: dict[str, dict[str, Cell]] = {}
    for row in ("vertices", "hyperedges", "incidences", "classes"):
        rows[row] = {}
        for dataset in DATASETS:
            ours = (float(sizes[dataset][row]),) if dataset in sizes else None
            theirs = published()["datasets"][dataset][row]
            rows[row][dataset] = compare(("datasets", row, dataset), theirs, ours, 0.0, True)
    return rows


def _time(records: Records, sizes: Sizes) -> dict[str, dict[str, Cell]]:
    """Seconds on this machine; the paper's are from another one, so there is no verdict."""
    rows: dict[str, dict[str, Cell]] = {}
    for method in (*COMPETITORS, "HyperClus-G", *OWN, "HyperClus-G as written"):
        rows[method] = {}
        for dataset in DATASETS:
            runs = _runs(records, Unit(dataset, method, "edvw"), _seconds, METHODS[method].random)
            theirs = published()["seconds"].get(method, {}).get(dataset)
            figures = () if theirs is None else (theirs,)
            rows[method][dataset] = uncompared(figures, min(runs, default=()))
    rows["as written / HyperClus-G"] = {}
    for dataset in DATASETS:
        slow = rows["HyperClus-G as written"][dataset].ours
        fast = rows["HyperClus-G"][dataset].ours
        ratio = (slow[0] / fast[0],) if slow and fast else ()
        rows["as written / HyperClus-G"][dataset] = uncompared((), ratio)
    return rows


def _std(records: Records, sizes: Sizes) -> dict[str, dict[str, Cell]]:
    rows: dict[str, dict[str, Cell]] = {}
    for key, label, figure in (("ncut_std", "NCut", _ncut), ("f1_std", "F1", _f1)):
        for method in DRAWING:
            rows[f"{method} ({label})"] = {}
            for dataset in DATASETS:
                theirs = published()[key].get(method, {}).get(dataset)
                figures = () if theirs is None else tuple(np.atleast_1d(theirs).tolist())
                runs = _runs(records, Unit(dataset, method, "edvw"), figure, every_seed=True)
                ours = tuple(np.std(runs, axis=0).tolist()) if runs else ()
                rows[f"{method} ({label})"][dataset] = uncompared(figures, ours)
    return rows


def _needs(weights: Weights, *methods: str) -> tuple[tuple[str, Weights], ...]:
    return tuple((method, weights) for method in methods)


def _ncut(dataset: str, record: Record) -> tuple[float, ...]:
    return (record.ncut,)


def _seconds(dataset: str, record: Record) -> tuple[float, ...]:
    return (record.seconds,)


_ALL = (*COMPETITORS, "actual class", "HyperClus-G", *OWN)
_ALL_F1 = (*COMPETITORS, "HyperClus-G", *OWN)
_ABLATED = ("STAR++", "CLIQUE++", "actual class", "HyperClus-G", *OWN)
_ABLATED_F1 = ("STAR++", "CLIQUE++", "HyperClus-G", *OWN)
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
    "datasets": Layout("The data sets", (), _datasets, digits=0),
    "ncut": Layout(
        "NCut with edge-dependent weights",
        _needs("edvw", *_ALL),
        _with_gap(_rows("ncut_edvw", "edvw", _ALL, DATASETS, _ncut, 1e-4), "edvw"),
        note=f"{_GAP} {_TEN}",
    ),
    "f1": Layout(
        "F1 with edge-dependent weights",
        _needs("edvw", *_ALL_F1),
        _rows("f1_edvw", "edvw", _ALL_F1, DATASETS, _f1, 1e-3, lower=False),
        digits=3,
        note=f"{_MEAN} {_TEN}",
    ),
    "eigenvalue": Layout(
        "NCut and the second eigenvalue",
        _needs("edvw", "HyperClus-G", OURS),
        _eigenvalue,
        two_way_only=True,
        note="Relative error as in the paper: how far the eigenvalue is below the NCut, in percent of it.",
    ),
    "ablation-ncut": Layout(
        "NCut with edge-independent weights",
        _needs("eivw", *_ABLATED),
        _with_gap(_rows("ncut_eivw", "eivw", _ABLATED, TWO_WAY, _ncut, 1e-4), "eivw"),
        two_way_only=True,
        note=_GAP,
    ),
    "ablation-f1": Layout(
        "F1 with edge-independent weights",
        _needs("eivw", *_ABLATED_F1),
        _rows("f1_eivw", "eivw", _ABLATED_F1, TWO_WAY, _f1, 1e-3, lower=False),
        two_way_only=True,
        digits=3,
        note=_MEAN,
    ),
    "time": Layout(
        "Seconds, from the table of features to the scored clusters",
        _needs("edvw", *_ALL_F1, "HyperClus-G as written"),
        _time,
        digits=3,
        note="Includes the eigenvectors for the lower bound, for every method; the fastest of ten seeds.",
    ),
    "std": Layout(
        "Standard deviations over ten runs of the methods that draw random numbers",
        _needs("edvw", *DRAWING),
        _std,
        every_seed=True,
    ),
}
