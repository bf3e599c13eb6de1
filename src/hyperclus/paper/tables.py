"""The paper's tables, each cell with the published figure, ours, and a verdict."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from hyperclus.paper.methods import METHODS
from hyperclus.paper.reasons import reason
from hyperclus.paper.records import Record, Unit, Weights

TWO_WAY = ("mushroom", "rice", "car", "digit-24", "covertype")
DATASETS = (*TWO_WAY, "zoo", "wine-567", "letter", "digit")
COMPETITORS = ("STAR++", "CLIQUE++", "DiffEq", "node2vec", "hyperedge2vec")
NOT_HERE = "no implementation of this method here yet"

Records = Mapping[Unit, Record]
Sizes = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure (or pair of figures) of a table.

    Attributes
    ----------
    published, ours : tuples of float
        Empty where there is none.
    verdict : str
        "equal", "better", "worse", "not reproducible", "measured" (nothing to compare with) or
        "not run".
    reason : str
        Why a figure cannot be reproduced.
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


@dataclass(frozen=True, slots=True)
class Table:
    """A filled table: rows by label, columns by data set."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, Cell]]
    digits: int


@dataclass(frozen=True, slots=True)
class Layout:
    """What a table shows and which measurements it needs."""

    title: str
    needs: tuple[tuple[str, Weights], ...]
    fill: Callable[[Records, Sizes], dict[str, dict[str, Cell]]]
    two_way_only: bool = False
    digits: int = 4


def build(name: str, records: Records, sizes: Sizes) -> Table:
    """Fill one table from what was measured; `sizes` has the data sets' own figures."""
    layout = TABLES[name]
    columns = TWO_WAY if layout.two_way_only else DATASETS
    rows = layout.fill(records, sizes)
    return Table(name, layout.title, columns, rows, layout.digits)


@cache
def published() -> dict[str, Any]:
    """Every figure of the paper's tables."""
    text = files("hyperclus.paper").joinpath("published.json").read_text()
    return dict(json.loads(text))


def compare(
    where: tuple[str, str, str], theirs: Any, ours: tuple[float, ...] | None, tolerance: float, lower: bool
) -> Cell:
    """The verdict on one cell; `lower` says that smaller is better."""
    figures = () if theirs is None else tuple(theirs) if isinstance(theirs, list) else (theirs,)
    if ours is None:
        return Cell(figures, (), "not run", "" if where[1] in METHODS else NOT_HERE)
    if not figures:
        return Cell(figures, ours, "measured")
    differences = [mine - other for mine, other in zip(ours, figures, strict=True)]
    if all(abs(difference) <= tolerance for difference in differences):
        return Cell(figures, ours, "equal")
    why = reason(where)
    if why:
        return Cell(figures, ours, "not reproducible", why)
    better = sum(differences) < 0 if lower else sum(differences) > 0
    return Cell(figures, ours, "better" if better else "worse")


def _rows(
    key: str,
    weights: Weights,
    methods: tuple[str, ...],
    columns: tuple[str, ...],
    figure: Callable[[str, Record], tuple[float, ...]],
    tolerance: float,
    lower: bool = True,
) -> Callable[[Records, Sizes], dict[str, dict[str, Cell]]]:
    def fill(records: Records, sizes: Sizes) -> dict[str, dict[str, Cell]]:
        rows: dict[str, dict[str, Cell]] = {}
        for method in methods:
            rows[method] = {}
            for dataset in columns:
                record = records.get(Unit(dataset, method, weights))
                ours = None if record is None else figure(dataset, record)
                theirs = published()[key].get(method, {}).get(dataset)
                rows[method][dataset] = compare((key, method, dataset), theirs, ours, tolerance, lower)
        return rows

    return fill


def _f1(dataset: str, record: Record) -> tuple[float, ...]:
    return tuple(record.f1) if dataset in TWO_WAY else (record.weighted_f1,)


def _eigenvalue(records: Records, sizes: Sizes) -> dict[str, dict[str, Cell]]:
    rows: dict[str, dict[str, Cell]] = {"NCut": {}, "second eigenvalue": {}, "relative error (%)": {}}
    theirs = published()["eigenvalue"]
    for dataset in TWO_WAY:
        record = records.get(Unit(dataset, "HyperClus-G", "edvw"))
        ncut, value = (None, None) if record is None else (record.ncut, record.second_eigenvalue)
        error = None if ncut is None or value is None else 100 * (ncut - value) / ncut
        for row, key, ours, tolerance in (
            ("NCut", "ncut", ncut, 1e-4),
            ("second eigenvalue", "second_eigenvalue", value, 1e-4),
            ("relative error (%)", "relative_error_percent", error, 2e-2),
        ):
            figures = None if ours is None else (ours,)
            rows[row][dataset] = compare(
                ("eigenvalue", row, dataset), theirs[key][dataset], figures, tolerance, True
            )
    return rows


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
    """Seconds here; the paper's seconds are context from another machine, so there is no verdict."""
    rows: dict[str, dict[str, Cell]] = {}
    for method in (*COMPETITORS, "HyperClus-G", "HyperClus-G as written"):
        rows[method] = {}
        for dataset in DATASETS:
            record = records.get(Unit(dataset, method, "edvw"))
            theirs = published()["seconds"].get(method, {}).get(dataset)
            figures = () if theirs is None else (theirs,)
            ours = () if record is None else (record.seconds,)
            rows[method][dataset] = Cell(figures, ours, "measured" if ours else "not run")
    rows["as written / HyperClus-G"] = {}
    for dataset in DATASETS:
        slow = rows["HyperClus-G as written"][dataset].ours
        fast = rows["HyperClus-G"][dataset].ours
        ratio = (slow[0] / fast[0],) if slow and fast else ()
        rows["as written / HyperClus-G"][dataset] = Cell((), ratio, "measured" if ratio else "not run")
    return rows


def _std(records: Records, sizes: Sizes) -> dict[str, dict[str, Cell]]:
    rows: dict[str, dict[str, Cell]] = {}
    for key, label in (("ncut_std", "NCut"), ("f1_std", "F1")):
        for method, figures in published()[key].items():
            rows[f"{method} ({label})"] = {
                dataset: compare((key, method, dataset), figures[dataset], None, 0.0, True)
                for dataset in DATASETS
            }
    return rows


def _needs(weights: Weights, *methods: str) -> tuple[tuple[str, Weights], ...]:
    return tuple((method, weights) for method in methods)


def _ncut(dataset: str, record: Record) -> tuple[float, ...]:
    return (record.ncut,)


_ALL = (*COMPETITORS, "actual class", "HyperClus-G")
_ABLATED = ("STAR++", "CLIQUE++", "actual class", "HyperClus-G")
TABLES: dict[str, Layout] = {
    "datasets": Layout("The data sets", (), _datasets, digits=0),
    "ncut": Layout(
        "NCut with edge-dependent weights",
        _needs("edvw", *_ALL),
        _rows("ncut_edvw", "edvw", _ALL, DATASETS, _ncut, 1e-4),
    ),
    "f1": Layout(
        "F1 with edge-dependent weights",
        _needs("edvw", *COMPETITORS, "HyperClus-G"),
        _rows("f1_edvw", "edvw", (*COMPETITORS, "HyperClus-G"), DATASETS, _f1, 1e-3, lower=False),
        digits=3,
    ),
    "eigenvalue": Layout(
        "NCut and the second eigenvalue", _needs("edvw", "HyperClus-G"), _eigenvalue, two_way_only=True
    ),
    "ablation-ncut": Layout(
        "NCut with edge-independent weights",
        _needs("eivw", *_ABLATED),
        _rows("ncut_eivw", "eivw", _ABLATED, TWO_WAY, _ncut, 1e-4),
        two_way_only=True,
    ),
    "ablation-f1": Layout(
        "F1 with edge-independent weights",
        _needs("eivw", "STAR++", "CLIQUE++", "HyperClus-G"),
        _rows("f1_eivw", "eivw", ("STAR++", "CLIQUE++", "HyperClus-G"), TWO_WAY, _f1, 1e-3, lower=False),
        two_way_only=True,
        digits=3,
    ),
    "time": Layout(
        "Seconds, from the table of features to the scored clusters",
        _needs("edvw", *COMPETITORS, "HyperClus-G", "HyperClus-G as written"),
        _time,
        digits=3,
    ),
    "std": Layout(
        "Standard deviations over ten runs of the methods that draw random numbers", (), _std, digits=4
    ),
}
