"""From the tables wanted to the measurements needed, and through them."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial

from hyperclus import baselines
from hyperclus.cluster import cluster
from hyperclus.datasets import Dataset
from hyperclus.errors import InputError
from hyperclus.hypergraph import Hypergraph
from hyperclus.paper.methods import METHODS
from hyperclus.paper.records import Record, Store, Unit, measure
from hyperclus.paper.tables import DATASETS, TABLES, TWO_WAY

RING = 200  # vertices: enough for the search to compile its loops

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plan:
    """The tables to fill and the units that fill them, data set by data set."""

    tables: tuple[str, ...]
    units: tuple[Unit, ...]


def plan(
    tables: Iterable[str] = (),
    datasets: Collection[str] = (),
    methods: Collection[str] = (),
    *,
    slow: bool = True,
) -> Plan:
    """Which units the wanted tables need; empty arguments mean all.

    Without `slow` no second seed and no slow method but those named.

    >>> plan(["eigenvalue"], ["car"], ["HyperClus-G"]).units
    (Unit(dataset='car', method='HyperClus-G', weights='edvw', seed=0),)
    """
    wanted = tuple(tables) or tuple(TABLES)
    for names, known, what in (
        (wanted, TABLES, "table"),
        (datasets, DATASETS, "data set"),
        (methods, METHODS, "method"),
    ):
        for name in names:
            if name not in known:
                raise InputError(f"there is no {what} {name!r}; choose from {', '.join(known)}")
    units = dict.fromkeys(
        Unit(dataset, method, weights, seed)
        for dataset in DATASETS
        for table in wanted
        for method, weights in TABLES[table].needs
        for seed in range(TABLES[table].seeds(method))
        if (not datasets or dataset in datasets)
        and (not methods or method in methods)
        and (weights == "edvw" or dataset in TWO_WAY)
        and (dataset in TWO_WAY or not TABLES[table].two_way_only)
        and (slow or method in methods or not (METHODS[method].slow or seed))
    )
    return Plan(wanted, tuple(sorted(units, key=lambda unit: METHODS[unit.method].slow)))


def run(
    the_plan: Plan,
    store: Store,
    load: Callable[[str], Dataset],
    begin: Callable[[Unit], object] = lambda unit: None,
) -> Iterator[tuple[Unit, Record, bool]]:
    """Each unit with its record, and whether it was there already; new ones are kept at once.

    `begin` is told each unit before it is measured.
    """
    data: Dataset | None = None
    for unit in the_plan.units:
        record = store.read(unit)
        known = record is not None
        if record is None:
            begin(unit)
            _load_libraries(unit.method)
            if data is None or data.name != unit.dataset:
                data = load(unit.dataset)
            record = measure(data, unit)
            try:
                store.write(unit, record)
            except OSError as error:
                _log.warning(
                    "measurements cannot be kept in %s (%s); choose another folder", store.folder, error
                )
        yield unit, record, known


@cache
def _load_libraries(method: str) -> None:
    """A small run, so that what a method imports and compiles on first use is not timed."""
    ring = Hypergraph.from_edges([{v: 1, (v + 1) % RING: 2, (v + 2) % RING: 1} for v in range(RING)])
    _SMALL.get(method, cluster)(ring)


_SMALL: dict[str, Callable[[Hypergraph], object]] = {
    "CLIQUE++": baselines.clique,
    "DiffEq": partial(baselines.diffeq, ties="sequential"),
    "node2vec": partial(baselines.node2vec, walk_length=5),
    "hyperedge2vec": partial(baselines.hyperedge2vec, epochs=5),
}
