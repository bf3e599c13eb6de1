"""Local clusters from five seeds: prints the tables of docs/how_to/local.md in Markdown.

`python benchmarks/local.py` takes several minutes. `python benchmarks/local.py planted 1e4 1e5` prints only
the first table, for these numbers of vertices; `python benchmarks/local.py diffeq zoo car` only the second,
for these data sets.
"""

import argparse
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import families
import hyperclus as hc

BLOCK = 1_000
NOISES = (0.05, 0.07, 0.09, 0.2)
QUERIES, DRAWS, SEEDS = 20, 10, 5
CAP = 0.5  # of the volume, for both methods


class Case(NamedTuple):
    """A hypergraph and the class of each vertex."""

    hypergraph: hc.Hypergraph
    classes: np.ndarray


class Query(NamedTuple):
    """Ids of seeds, and the positions of their class."""

    seeds: np.ndarray
    inside: np.ndarray


def planted(n: int, noise: float) -> Case:
    """Plant blocks of 1,000; a member of a hyperedge is from any block with probability `noise`."""
    table, omega, blocks = families.sparse(15 * n, blocks=n // BLOCK, noise=noise)
    h = families.build(table, omega)
    return Case(h, blocks[h.vertex_ids])


def table_of(name: str) -> Case:
    """Load a data set of the paper with gamma = 1, so that the hypergraph does not depend on the classes."""
    data = hc.research.datasets.load(name)
    return Case(hc.Hypergraph.from_table(data.table, bins=None), data.classes)


def queries(case: Case, count: int) -> Iterator[Query]:
    """Draw seeds from random classes."""
    rng = np.random.default_rng(0)
    names = np.unique(case.classes)
    for _ in range(count):
        inside = np.flatnonzero(case.classes == names[rng.integers(len(names))])
        seeds = rng.choice(inside, min(SEEDS, len(inside)), replace=False)
        yield Query(case.hypergraph.vertex_ids[seeds], inside)


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result and the CPU seconds of all threads."""
    started = time.process_time()
    result = action()
    return result, time.process_time() - started


def f1(found: np.ndarray, inside: np.ndarray) -> float:
    """2 |S and T| / (|S| + |T|)."""
    return 2 * len(np.intersect1d(found, inside)) / (len(found) + len(inside))


def conductance(walk: hc.RandomWalk, positions: np.ndarray) -> float:
    """Return the conductance of a set of vertices by the walk; NaN for the empty set."""
    if not len(positions):
        return np.nan
    labels = np.ones(walk.hypergraph.n_vertices, dtype=np.int64)
    labels[positions] = 0
    return float(hc.cut(walk, labels, 2).conductances[0])


def all_or_nothing(h: hc.Hypergraph, positions: np.ndarray) -> float:
    """Return the conductance by which a cut hyperedge counts in full, as in DiffEq; NaN for the empty set."""
    if not len(positions):
        return np.nan
    inside = np.zeros(h.n_vertices)
    inside[positions] = 1.0
    members = hc.unit_weights(h).gamma
    held, degrees = members @ inside, members.T @ h.edge_weights
    cut = h.edge_weights[(held > 0) & (held < h.edge_sizes)].sum()
    return float(cut / min(degrees @ inside, degrees @ (1 - inside)))


def planted_row(n: int, noise: float) -> str:
    """Return the results and the cost of twenty queries on one walk."""
    case = planted(n, noise)
    h = case.hypergraph
    walk, exact_s = timed(lambda: hc.RandomWalk(h))
    quick, quick_s = timed(lambda: hc.clustering.quick_walk(h))
    for one in (walk, quick):  # compiles the loops, and touches the memory that queries share
        hc.local_cluster(one, h.vertex_ids[:1])
    asked = list(queries(case, QUERIES))
    answers = [timed(lambda query=query: hc.local_cluster(walk, query.seeds)) for query in asked]
    rows = []
    for query, (found, seconds) in zip(asked, answers, strict=True):
        roughly = hc.local_cluster(quick, query.seeds)
        goal = conductance(walk, query.inside)
        scores = f1(found.positions, query.inside), f1(roughly.positions, query.inside)
        rows.append((*scores, goal, found.conductance, found.touched, found.visits, 1e3 * seconds))
    values = np.array(rows)
    score, rough, goal, reached, touched, visits, _ = values.mean(axis=0)
    return (
        f"| {n:,} | {noise:g} | {goal:.3f} | {reached:.3f} | {score:.3f} | {values[:, 0].min():.3f} "
        f"| {rough:.3f} | {touched:,.0f} | {100 * touched / h.n_incidences:.2g} % | {visits:,.0f} "
        f"| {np.median(values[:, -1]):.0f} | {exact_s:.2f} | {quick_s:.2f} |"
    )


def diffeq_row(name: str, case: Case) -> str:
    """Compare both methods from the same seeds by means, each with both definitions of conductance."""
    h = case.hypergraph
    walk = hc.RandomWalk(h)
    ways: dict[str, Callable[[np.ndarray], Any]] = {
        "ours": lambda seeds: hc.local_cluster(walk, seeds, max_volume=CAP),
        "diffeq": lambda seeds: hc.research.baselines.diffeq_local(h, seeds, max_volume=CAP),
    }
    asked, figures = list(queries(case, DRAWS)), {}
    for way, find in ways.items():
        find(h.vertex_ids[:1])
        answers = [timed(lambda find=find, query=query: find(query.seeds)) for query in asked]
        rows = []
        for query, (found, seconds) in zip(asked, answers, strict=True):
            both = conductance(walk, found.positions), all_or_nothing(h, found.positions)
            rows.append((*both, f1(found.positions, query.inside), len(found), 1e3 * seconds))
        figures[way] = np.nanmean(rows, axis=0)
    pairs = zip(*figures.values(), ("{:.3f}", "{:.3f}", "{:.3f}", "{:,.0f}", "{:,.1f}"), strict=True)
    cells = [" | ".join((form.format(ours), form.format(theirs))) for ours, theirs, form in pairs]
    return f"| {name} | {h.n_vertices:,} | " + " | ".join(cells) + " |"


def planted_table(sizes: list[int]) -> Iterator[str]:
    """Yield the rows of planted blocks of 1,000."""
    yield (
        "| n | noise | planted conductance | found | F1 | lowest F1 | F1, quick_walk | touched incidences "
        "| of all | visits | CPU ms per query | RandomWalk, CPU s | quick_walk, CPU s |"
    )
    yield "| ---: " * 13 + "|"
    for n in sizes:
        for noise in NOISES:
            yield planted_row(n, noise)


def diffeq_table(names: list[str]) -> Iterator[str]:
    """Yield the rows of the paper's data sets, then those of planted blocks."""
    yield (
        "| data | n | conductance, ours | DiffEq's | all or nothing, ours | DiffEq's | F1, ours | DiffEq's "
        "| size, ours | DiffEq's | CPU ms per query, ours | DiffEq's |"
    )
    yield "| --- " + "| ---: " * 11 + "|"
    for name in names or hc.research.datasets.names():
        yield diffeq_row(name, table_of(name))
    for noise in NOISES[::3]:
        yield diffeq_row(f"planted, noise {noise:g}", planted(10_000, noise))


def main() -> None:
    """Print one table or both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("which", nargs="?", choices=("planted", "diffeq"))
    parser.add_argument("arguments", nargs="*", help="numbers of vertices, or names of data sets")
    given = parser.parse_args()
    which, arguments = given.which, given.arguments
    logging.disable(logging.WARNING)
    tables = []
    if which in (None, "planted"):
        tables.append(planted_table([int(float(n)) for n in arguments] or [10_000, 100_000, 1_000_000]))
    if which in (None, "diffeq"):
        tables.append(diffeq_table(list(arguments)))
    for table in tables:
        for line in table:
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
