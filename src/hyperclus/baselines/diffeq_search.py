"""The search of DiffEq: columns of starts and alphas, diffused in blocks, swept one by one."""

import logging
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from hyperclus.baselines import diffusion
from hyperclus.baselines.diffusion import COLUMNS, Network
from hyperclus.compiled import kernels
from hyperclus.factors import Factors
from hyperclus.hypergraph import Hypergraph
from hyperclus.ids import read_only
from hyperclus.threads import in_parallel
from hyperclus.types import Floats, Integers
from hyperclus.weighting import ones

STEPS = 30  # of length 1
LEAST = 1e-5  # smaller entries become 0 after each step
RATIO = 1.9  # of one alpha to the one before
PASSES = 3  # of a step over the incidences
THREADS = 2
SLACK = 1 + 1e-12  # what rounding may add to a volume
NEWS = 100  # blocks from one log message to the next

Ties = Literal["all", "sequential"]

_log = logging.getLogger(__name__)


class Found(NamedTuple):
    """A prefix of the sweep of one column; they compare by conductance, then column."""

    conductance: float
    column: int
    order: Integers


def search(
    network: Network, starts: Sequence[Integers], alphas: Floats, max_volume: float, ties: Ties
) -> Found | None:
    """The best prefix over all starts and alphas, of equal ones the first; None if all are too large.

    A column for each start and alpha, in blocks that two threads take in turns.
    """
    n, n_columns = len(network.degrees), len(starts) * len(alphas)
    n_blocks = -(-n_columns // COLUMNS)
    total = float(network.degrees.sum())
    most = max_volume * total * SLACK
    longest = 1 + int(np.searchsorted(np.cumsum(np.sort(network.degrees)), most, side="right"))
    loops = kernels(diffusion, n_blocks * _work(network, STEPS))

    def best_of(blocks: Iterable[int]) -> Found | None:
        best: Found | None = None
        for block in blocks:
            columns = range(block * COLUMNS, min((block + 1) * COLUMNS, n_columns))
            source = np.zeros((n, len(columns)))
            for place, column in enumerate(columns):
                start = starts[column // len(alphas)]
                source[start, place] = 1.0 / len(start)
            block_alphas = alphas[np.arange(columns.start, columns.stop) % len(alphas)]
            scores = diffused(network, source, block_alphas, ties, loops=loops).T / network.degrees
            for column, row in zip(columns, scores, strict=True):
                order = highest(row, longest)
                conductance, length = loops.sweep(network, order, most, total)
                key = round(conductance, 12)
                if length and (best is None or key < best.conductance):
                    best = Found(key, column, order[:length].copy())
            if block % NEWS == NEWS - 1:
                _log.info("block %d of %d: conductance %s", block + 1, n_blocks, best and best.conductance)
        return best

    n_threads = min(THREADS, n_blocks)
    results = in_parallel([partial(best_of, range(first, n_blocks, n_threads)) for first in range(n_threads)])
    return min((found for found in results if found), key=lambda found: found[:2], default=None)


def diffused(
    network: Network,
    source: Floats,
    alphas: Floats,
    ties: Ties,
    *,
    steps: int = STEPS,
    least: float = LEAST,
    loops: Any = None,
) -> Floats:
    """The state after some steps from each column of `source`; COLUMNS at most, each with its alpha."""
    loops = loops or kernels(diffusion, _work(network, steps))
    n, used = source.shape
    restart = np.zeros(COLUMNS)
    restart[:used] = alphas
    if used < COLUMNS:
        source = np.hstack([source, np.zeros((n, COLUMNS - used))])
    block = source.copy()
    diffuse = loops.diffuse_all if ties == "all" else loops.diffuse_sequential
    diffuse(network, source, restart, steps, least, block)
    return block[:, :used]


def highest(scores: Floats, count: int) -> Integers:
    """The positions of the highest scores, descending, ties by position: `count`, and ties with the last."""
    near = np.arange(len(scores))
    if count < len(scores):
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        near = np.flatnonzero(scores >= least)
    return near[np.argsort(-scores[near], kind="stable")]


def measured(network: Network, inside: Integers) -> tuple[float, float]:
    """Conductance and share of the volume of a set of vertices, counted anew."""
    counts = np.zeros(len(network.weights), dtype=np.int64)
    for vertex in inside:
        counts[network.edges[network.indptr[vertex] : network.indptr[vertex + 1]]] += 1
    cut = network.weights[(counts > 0) & (counts < np.diff(network.edge_indptr))].sum()
    volume, total = network.degrees[inside].sum(), network.degrees.sum()
    return float(cut / min(volume, total - volume)), float(volume / total)


def restarts(n_vertices: int, n_edges: int) -> Floats:
    """alpha_i = 1.9^i / (n |E|) for i = 0, 1, ... as long as it is not above 1.

    >>> restarts(2, 3).round(4).tolist()
    [0.1667, 0.3167, 0.6017]
    """
    product = n_vertices * n_edges
    powers = RATIO ** np.arange(int(np.log(product) / np.log(RATIO)) + 1)
    return np.asarray(powers / product)


def network_of(hypergraph: Hypergraph, active: Integers) -> Network:
    """The part of the hypergraph that has incidences, as the kernels read it."""
    empty = hypergraph.edge_sizes == 0
    linked = hypergraph.drop_edges(empty) if empty.any() else hypergraph
    if len(active) < linked.n_vertices:
        linked = linked.restrict(active)
    factors = Factors(ones(linked))
    by_edge, by_vertex = linked.gamma, factors.gamma_by_vertex
    arrays = (
        by_edge.indptr,
        by_edge.indices,
        by_vertex.indptr,
        by_vertex.indices,
        linked.edge_weights,
        factors.degrees,
    )
    return Network(*(read_only(np.asarray(array)) for array in arrays))


def _work(network: Network, steps: int) -> int:
    return len(network.edges) * COLUMNS * PASSES * steps
