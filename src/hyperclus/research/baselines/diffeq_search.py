"""The search of DiffEq: one column per start and alpha, diffused in blocks and swept one by one."""

import logging
from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter
from threading import Event
from typing import Literal, NamedTuple

import numpy as np

from hyperclus._runtime.threads import in_parallel
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.weighting import unit_weights
from hyperclus.research.baselines.diffusion import COLUMNS, Network, best_prefix, diffuse
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.typing import Floats, Integers

STEPS = 30  # of length 1
LEAST = 1e-5  # smaller entries become 0 after each step
RATIO = 1.9  # of consecutive alphas
THREADS = 2
SLACK = 1 + 1e-12  # tolerance for rounding errors of a volume
LOG_EVERY = 100  # blocks

Ties = Literal["all", "sequential"]

_log = logging.getLogger(__name__)


class Found(NamedTuple):
    """A prefix of the sweep of one column; `key` is its rounded conductance."""

    key: float
    column: int
    order: Integers


def search(
    network: Network, starts: Sequence[Integers], alphas: Floats, max_volume: float, ties: Ties
) -> Found:
    """The best prefix over all starts and alphas, the first of equal ones; empty if all are too large.

    Column i has start i // len(alphas) and alpha i % len(alphas). Two threads process blocks of columns in
    turn.
    """
    n_columns, total = len(starts) * len(alphas), float(network.degrees.sum())
    blocks = [range(first, min(first + COLUMNS, n_columns)) for first in range(0, n_columns, COLUMNS)]
    largest = max_volume * total * SLACK
    longest = 1 + int(np.searchsorted(np.cumsum(np.sort(network.degrees)), largest, side="right"))
    stopped = Event()

    def prefixes(columns: range) -> Iterator[Found]:
        source = np.zeros((len(network.degrees), len(columns)))
        for place, column in enumerate(columns):
            start = starts[column // len(alphas)]
            source[start, place] = 1.0 / len(start)
        restart = alphas[np.array(columns) % len(alphas)]
        scores = diffused(network, source, restart, ties)
        scores /= network.degrees[:, None]
        for place, column in enumerate(columns):
            order = highest(scores[:, place].copy(), longest)
            if ties == "all":
                order = order[scores[order, place] > 0]
            lowest = np.empty(1)
            length = best_prefix(network, order, len(order), largest, total, lowest)
            yield Found(round(float(lowest[0]), 12), column, order[:length].copy())

    def best_of(share: Sequence[range]) -> Found:
        best = Found(np.inf, n_columns, np.empty(0, dtype=np.int64))
        try:
            for number, columns in enumerate(share, 1):
                if stopped.is_set():
                    break
                best = min(best, *prefixes(columns), key=itemgetter(0, 1))
                if number % LOG_EVERY == 0:
                    _log.info("%d of %d blocks: conductance %s", number, len(share), best.key)
        except BaseException:  # also an interrupt, which must not wait for the other thread
            stopped.set()
            raise
        return best

    threads = min(THREADS, len(blocks))
    found = in_parallel([partial(best_of, blocks[first::threads]) for first in range(threads)])
    return min(found, key=itemgetter(0, 1))


def diffused(
    network: Network,
    source: Floats,
    alphas: Floats,
    ties: Ties,
    *,
    steps: int = STEPS,
    least: float = LEAST,
) -> Floats:
    """The state after some steps from each column of `source`, at most COLUMNS, each with its own alpha."""
    n, used = source.shape
    restart = np.zeros(COLUMNS)
    restart[:used] = alphas
    if used < COLUMNS:
        source = np.hstack([source, np.zeros((n, COLUMNS - used))])
    source = np.ascontiguousarray(source)
    block, scratch = source.copy(), np.empty((2, n, COLUMNS))
    diffuse(network, source, restart, steps, least, ties == "sequential", *scratch, block)
    return block[:, :used]


def highest(scores: Floats, count: int) -> Integers:
    """Positions of the `count` highest scores and of ties with the last, descending, ties by position."""
    near = np.arange(len(scores))
    if count < len(scores):
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        near = np.flatnonzero(scores >= least)
    return near[np.argsort(-scores[near], kind="stable")]


def measured(network: Network, inside: Integers) -> tuple[float, float]:
    """Conductance and share of the volume of a set of vertices."""
    counts = np.add.reduceat(np.isin(network.members, inside).astype(np.int64), network.edge_indptr[:-1])
    cut = network.weights[(counts > 0) & (counts < np.diff(network.edge_indptr))].sum()
    volume, total = network.degrees[inside].sum(), network.degrees.sum()
    return float(cut / min(volume, total - volume)), float(volume / total)


def restarts(n_vertices: int, n_edges: int) -> Floats:
    """All alpha_i = 1.9^i / (n |E|), i = 0, 1, ..., that are at most 1.

    >>> restarts(2, 3).round(4).tolist()
    [0.1667, 0.3167, 0.6017]
    """
    product = n_vertices * n_edges
    powers = RATIO ** np.arange(int(np.log(product) / np.log(RATIO)) + 1)
    return np.asarray(powers / product)


def network_of(hypergraph: Hypergraph, active: Integers) -> Network:
    """The hypergraph without isolated vertices and empty hyperedges, in the form that the kernels read."""
    empty = hypergraph.edge_sizes == 0
    linked = hypergraph.drop_edges(empty) if empty.any() else hypergraph
    if len(active) < linked.n_vertices:
        linked = linked.restrict(active)
    factors = TransitionFactors(unit_weights(linked))
    by_edge, by_vertex = linked.gamma, factors.lists.gamma_by_vertex
    structure = (by_edge.indptr, by_edge.indices, by_vertex.indptr, by_vertex.indices)
    return Network(*structure, linked.edge_weights, factors.degrees, linked.n_vertices, linked.n_edges)
