"""Plan the measurements that tables need, and run them."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial

from hyperclus.clustering.cluster import cluster
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.research import baselines
from hyperclus.research.datasets import Dataset
from hyperclus.research.paper.methods import METHODS
from hyperclus.research.paper.records import Record, Store, Unit, measure
from hyperclus.research.paper.tables import DATASETS, TABLES

RING = 200  # vertices: enough for the search to compile its kernels


@dataclass(frozen=True, slots=True)
class Plan:
    """The tables to fill and the measurements that they need."""

    tables: tuple[str, ...]
    units: tuple[Unit, ...]


def plan(
    tables: Iterable[str] = (),
    datasets: Collection[str] = (),
    methods: Collection[str] = (),
    *,
    slow: bool = True,
) -> Plan:
    """Plan the measurements that tables need; empty arguments mean all.

    Without `slow`, further seeds and slow methods are left out unless the method is named.

    >>> plan(["eigenvalue"], ["car"], ["HyperClus-G"]).units
    (Unit(dataset='car', method='HyperClus-G', weights='edvw', seed=0),)
    """
    wanted = _known(tables, TABLES, "table") or tuple(TABLES)
    datasets, methods = _known(datasets, DATASETS, "data set"), _known(methods, METHODS, "method")
    units = dict.fromkeys(
        unit
        for dataset in DATASETS
        if not datasets or dataset in datasets
        for table in wanted
        for unit in TABLES[table].units(dataset)
        if (not methods or unit.method in methods)
        and (slow or unit.method in methods or not (METHODS[unit.method].slow or unit.seed))
    )
    return Plan(wanted, tuple(sorted(units, key=lambda unit: METHODS[unit.method].slow)))


def _known(names: Iterable[str], known: Iterable[str], what: str) -> tuple[str, ...]:
    """The names in their usual spelling; the case does not matter."""
    spelt = {name.lower(): name for name in known}
    for name in names:
        if name.lower() not in spelt:
            raise InputError(f"there is no {what} {name!r}; choose from {', '.join(spelt.values())}")
    return tuple(spelt[name.lower()] for name in names)


def run(
    the_plan: Plan,
    store: Store,
    load: Callable[[str], Dataset],
    begin: Callable[[Unit], object] = lambda unit: None,
) -> Iterator[tuple[Unit, Record, bool]]:
    """Yield each unit, its record, and whether the record existed before; new records are saved at once.

    `begin` is called with each unit before it is measured. A missing library, or a folder that cannot be
    written to, is an error before the first measurement.
    """
    data: Dataset | None = None
    store.check()
    for method in dict.fromkeys(unit.method for unit in the_plan.units if store.read(unit) is None):
        _load_libraries(method)
    for unit in the_plan.units:
        record = store.read(unit)
        known = record is not None
        if record is None:
            begin(unit)
            if data is None or data.name != unit.dataset:
                data = load(unit.dataset)
            record = measure(data, unit)
            store.write(unit, record)
        yield unit, record, known


@cache
def _load_libraries(method: str) -> None:
    """Make a small run, so that imports and compilation are not timed."""
    ring = Hypergraph.from_edges([{v: 1, (v + 1) % RING: 2, (v + 2) % RING: 1} for v in range(RING)])
    run: Callable[[Hypergraph], object] = _SMALL.get(method) or cluster
    run(ring)


_SMALL: dict[str, Callable[[Hypergraph], object]] = {
    "CLIQUE++": baselines.clique,
    "DiffEq": partial(baselines.diffeq, ties="sequential"),
    "node2vec": partial(baselines.node2vec, walk_length=5),
    "hyperedge2vec": partial(baselines.hyperedge2vec, epochs=5),
}
