"""Neighbourhoods of similar vertices as hyperedges, found from rows of numbers."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import blocks
from hyperclus._runtime.optional import library
from hyperclus._runtime.progress import report_progress
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.mixture import Mixture
from hyperclus.typing import Booleans, Floats, Ids, Incidence, Integers

Metric: TypeAlias = Literal["cosine", "euclidean"]

METRICS: tuple[Metric, ...] = get_args(Metric)
NEIGHBORS = 20  # of each vertex; chosen on three citation networks, see docs/how_to/attributes.md
EXACT_UP_TO = 20_000  # vertices, whose neighbours are found by comparing all pairs
CELLS = 1 << 24  # of similarities at a time
DIMENSIONS = 128  # of what approximate neighbours are found in, if there are more attributes
LINKS, WIDTH_ADDING, WIDTH_SEARCHING = 16, 40, 32  # of HNSW; recall .94 in 100 dimensions
SIMILAR_TO = "similar to"


def is_sparse(values: Any) -> bool:
    """Whether this is a sparse matrix or array."""
    return bool(sp.issparse(values))


class Rows(NamedTuple):
    """Rows of numbers, which of them are known, and how they are compared."""

    values: Any  # array or csr_array
    present: Booleans
    metric: Metric

    def scaled(self) -> Any:
        """The rows that are known, of length 1 for the cosine."""
        values = self.values[np.flatnonzero(self.present)]
        if self.metric == "euclidean":
            return values
        squares = np.asarray((values * values).sum(axis=1)).ravel()
        if is_sparse(values):
            return sp.csr_array(sp.diags_array(1 / np.sqrt(squares)) @ values)
        return values / np.sqrt(squares)[:, None]


def neighborhoods(rows: Rows, vertex_ids: Ids, n_neighbors: int = NEIGHBORS) -> Hypergraph:
    """A hyperedge for each vertex, of the vertices among its nearest and of those it is among the nearest of.

    gamma is their similarity: the cosine, or exp(-d(u, v)^2 / (s(u) s(v))) for Euclidean distances, where
    s is the distance to the farthest neighbour (Zelnik-Manor and Perona, 2004). A vertex has similarity 1
    with itself. With gamma in both directions, alpha = 1, a step over these hyperedges is two steps on the
    graph of the neighbours. Vertices whose rows are not present, or similar to no other, are in none.

    >>> rows = Rows(np.array([[0.0], [0.1], [5.0], [5.1]]), np.ones(4, dtype=bool), "euclidean")
    >>> neighborhoods(rows, np.array(["a", "b", "c", "d"], dtype=object), 1)
    Hypergraph(4 vertices, 4 hyperedges, 8 incidences)
    """
    known = np.flatnonzero(rows.present)
    if len(known) < 2:
        raise InputError("attributes of two or more vertices are needed")
    count = min(n_neighbors, len(known) - 1)
    values = rows.scaled()
    near, figures = (_exact if len(known) <= EXACT_UP_TO else _approximate)(values, rows.metric, count)
    matrix = _similarities(near, figures, rows.metric)
    used = np.flatnonzero(np.diff(matrix.indptr))
    if not len(used):
        raise InputError("no two vertices have similar attributes: all cosines are 0 or less")
    matrix = sp.csr_array(matrix + sp.diags_array((np.diff(matrix.indptr) > 0) * 1.0))
    matrix.sort_indices()
    matrix = matrix[used]
    n, inside = len(rows.present), known[matrix.indices].astype(matrix.indices.dtype)
    gamma = sp.csr_array((matrix.data, inside, matrix.indptr), shape=(len(used), n))
    names = object_array([(SIMILAR_TO, vertex) for vertex in vertex_ids[known[used]].tolist()])
    return Hypergraph.from_checked_parts(gamma, np.ones(len(used)), vertex_ids, names)


def mixed(hypergraph: Hypergraph, similar: Hypergraph, beta: float) -> Hypergraph:
    """The hyperedges of both, on the same vertices, with a share beta of the steps over the second.

    At 0 and 1 it is one of the two.
    """
    if beta == 0:
        return hypergraph
    if beta == 1:
        return similar
    gamma = sp.csr_array(sp.vstack([hypergraph.gamma, similar.gamma]))
    omega = np.concatenate([hypergraph.edge_weights, similar.edge_weights])
    edges = object_array([*hypergraph.edge_ids.tolist(), *similar.edge_ids.tolist()])
    parts = (gamma, omega, hypergraph.vertex_ids, edges, hypergraph.nouns, hypergraph.columns)
    return Hypergraph.from_checked_parts(*parts, Mixture(similar.n_edges, float(beta)))


def nearest_known(new: Rows, known: Rows, n_neighbors: int = NEIGHBORS) -> Incidence:
    """Similarities of new rows to their nearest known ones, (n_new, n_known)."""
    inside, places = new.scaled(), np.flatnonzero(known.present)
    near, figures = _exact(known.scaled(), known.metric, min(n_neighbors, len(places)), inside)
    if known.metric == "euclidean":
        scale = np.maximum(figures[:, -1:], np.finfo(float).tiny)
        figures = np.exp(-np.square(figures / scale))
    ptr = np.concatenate([[0], np.cumsum(np.where(new.present, near.shape[1], 0))])
    shape = len(new.present), len(known.present)
    found = sp.csr_array((np.maximum(figures, 0.0).ravel(), places[near].ravel(), ptr), shape=shape)
    found.eliminate_zeros()
    return found


def _exact(values: Any, metric: Metric, count: int, wanted: Any = None) -> tuple[Integers, Floats]:
    """The nearest rows of each row, or of each wanted row, and their cosines or distances, best first."""
    others, own = (values, True) if wanted is None else (wanted, False)
    n, m = values.shape[0], others.shape[0]
    near, figures = np.empty((m, count), dtype=np.int64), np.empty((m, count))
    for some, scores in _scores(others, values, metric):
        if own:
            scores[np.arange(len(scores)), np.arange(some.start, some.stop)] = -np.inf
        best = (
            np.argpartition(-scores, count - 1, axis=1)[:, :count]
            if count < n
            else np.argsort(-scores)[:, :count]
        )
        best.sort(axis=1)  # ties by position
        found = np.take_along_axis(scores, best, axis=1)
        order = np.argsort(-found, axis=1, kind="stable")
        near[some] = np.take_along_axis(best, order, axis=1)
        figures[some] = np.take_along_axis(found, order, axis=1)
        report_progress("neighbours", some.stop, "vertices", some.stop / m)
    return near, figures if metric == "cosine" else np.sqrt(np.maximum(-figures, 0.0))


def _scores(wanted: Any, values: Any, metric: Metric) -> Iterator[tuple[slice, Floats]]:
    """Cosines, or squared distances times -1, of blocks of rows to all rows."""
    transposed = values.T.tocsr() if is_sparse(values) else values.T
    squares = None
    if metric == "euclidean":
        squares = np.asarray((values * values).sum(axis=1)).ravel()
    for some in blocks(wanted.shape[0], max(CELLS // values.shape[0], 1)):
        rows = wanted[some]
        product = rows @ transposed
        scores = product.toarray() if is_sparse(product) else np.asarray(product)
        if squares is not None:
            own = np.asarray((rows * rows).sum(axis=1)).ravel()
            scores = 2.0 * scores - squares - own[:, None]
        yield some, scores


def _approximate(values: Any, metric: Metric, count: int) -> tuple[Integers, Floats]:
    """As `_exact`, by a graph of FAISS that is searched greedily (HNSW; Malkov and Yashunin, 2020).

    It is built by one thread, because the order of insertion decides it.
    """
    faiss = library("faiss", "FAISS", f"attributes of more than {EXACT_UP_TO:,} vertices", "attributes")
    dense = _dense(values)
    n, width = dense.shape
    kind = faiss.METRIC_INNER_PRODUCT if metric == "cosine" else faiss.METRIC_L2
    index = faiss.IndexHNSWFlat(width, LINKS, kind)
    index.hnsw.efConstruction, index.hnsw.efSearch = WIDTH_ADDING, WIDTH_SEARCHING
    before = faiss.omp_get_max_threads()
    try:
        faiss.omp_set_num_threads(1)
        for some in blocks(n, 1 << 15):
            index.add(dense[some])
            report_progress("neighbours", some.stop, "vertices", some.stop / n / 2)
    finally:
        faiss.omp_set_num_threads(before)
    near, figures = np.empty((n, count), dtype=np.int64), np.empty((n, count))
    for some in blocks(n, 1 << 15):
        scores, found = index.search(dense[some], count + 1)
        near[some], figures[some] = _without_self(found, scores, some)
        report_progress("neighbours", some.stop, "vertices", 0.5 + some.stop / n / 2)
    return near, figures if metric == "cosine" else np.sqrt(np.maximum(figures, 0.0))


def _without_self(found: Integers, scores: Floats, some: slice) -> tuple[Integers, Floats]:
    """Leave out the row itself, or the farthest if it was not found; -1 where there are too few."""
    own = found == np.arange(some.start, some.stop)[:, None]
    own[~own.any(axis=1), -1] = True
    shape = found.shape[0], found.shape[1] - 1
    return found[~own].reshape(shape), scores[~own].reshape(shape)


def _dense(values: Any) -> Any:
    """float32 rows of few columns; more, or sparse ones, are projected to their leading singular vectors."""
    if values.shape[1] > DIMENSIONS:
        from scipy.sparse.linalg import svds

        start = np.random.default_rng(0).standard_normal(min(values.shape))
        left, sizes, _ = svds(values, k=DIMENSIONS, v0=start, solver="arpack")
        values = left * sizes
    dense = values.toarray() if is_sparse(values) else values
    return np.ascontiguousarray(dense, dtype=np.float32)


def _similarities(near: Integers, figures: Floats, metric: Metric) -> Incidence:
    """The symmetric matrix of positive similarities of neighbours."""
    n, count = near.shape
    rows, columns, flat = np.repeat(np.arange(n), count), near.ravel(), figures.ravel()
    if metric == "euclidean":
        scale = np.where(near >= 0, figures, 0.0).max(axis=1)
        product = scale[rows] * scale[columns]
        with np.errstate(divide="ignore", invalid="ignore"):
            flat = np.exp(-np.where(flat > 0, np.square(flat) / product, 0.0))
    kept = (columns >= 0) & (columns != rows) & (flat > 1e-9)
    matrix = sp.csr_array((np.minimum(flat[kept], 1.0), (rows[kept], columns[kept])), shape=(n, n))
    return sp.csr_array(matrix.maximum(matrix.T))
