"""New vertices, given by their weights in known hyperedges, from whatever holds them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from hyperclus.errors import InputError
from hyperclus.hypergraph import incidence, tables
from hyperclus.hypergraph.features import Columns, row_edges
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import (
    as_integers_or_list,
    as_list,
    factorize,
    ids_or_range,
    known_positions,
    object_array,
)
from hyperclus.hypergraph.messages import count, shown
from hyperclus.io.anything import as_hypergraph
from hyperclus.typing import Booleans, DuplicatePolicy, Ids, Incidence, Integers


class Known(Protocol):
    """What is known of the hyperedges: their ids, which of them have members, and the columns of a table."""

    @property
    def edge_ids(self) -> Ids:
        """Their ids."""

    @property
    def filled(self) -> Booleans:
        """A mask of those that have members."""

    @property
    def columns(self) -> Columns | None:
        """The columns of a table with a row per vertex, and their bins."""


@dataclass(frozen=True, slots=True, eq=False)
class NewVertices:
    """Vertices and their weights in the known hyperedges."""

    vertex_ids: Ids
    weights: Incidence  # a row per vertex and a column per known hyperedge
    unknown: Integers  # per vertex, how many of its hyperedges are unknown
    unknown_edges: Ids  # the different ones


def new_vertices(
    known: Known, more: Any, *, vertex: Any = None, duplicates: DuplicatePolicy = "error"
) -> NewVertices:
    """Find the weights of new vertices in the known hyperedges.

    `more` is one of what `Model.predict` takes.
    """
    frame = not isinstance(more, Hypergraph) and not sp.issparse(more) and tables.is_frame(more)
    if _is_table(known, more, frame):
        return _from_rows(known, more, vertex)
    if vertex is not None:
        raise InputError("vertex names the column of ids of table rows, and these are no rows; leave it out")
    if (matrix := _checked_matrix(known, more)) is not None:
        names = ids_or_range(None, matrix.shape[0], "vertex")
        return NewVertices(names, matrix, np.zeros(len(names), dtype=np.int64), object_array([]))
    return _from_hypergraph(known, _hypergraph(known, more, frame, duplicates))


def _checked_matrix(known: Known, more: Any) -> "Incidence | None":
    """A sparse matrix that is valid as it is, so that nothing needs to be built; None for anything else."""
    if getattr(more, "format", None) != "csr" or more.shape[1:] != known.edge_ids.shape:
        return None
    matrix = sp.csr_array(incidence.as_matrix(more), dtype=np.float64)
    usual = matrix.has_canonical_format and bool(known.filled.all())
    return matrix if usual and (matrix.data > 0).all() and np.isfinite(matrix.data).all() else None


def _is_table(known: Known, more: Any, frame: bool) -> bool:
    """Whether these are rows of a table like the one that the hyperedges were made of."""
    if known.columns is None or isinstance(more, Hypergraph):
        return False
    if isinstance(more, np.ndarray):
        return more.ndim == 2 and set(known.columns) <= set(range(more.shape[1]))
    if isinstance(more, Mapping):
        return set(known.columns) <= set(more)
    return frame and not {"vertex", "edge"} <= set(tables.columns_of(more))


def _hypergraph(known: Known, more: Any, frame: bool, duplicates: DuplicatePolicy) -> Hypergraph:
    """A hypergraph of the new vertices; its hyperedges have the ids of the known ones, or others."""
    if isinstance(more, Hypergraph):
        return more
    if frame or (isinstance(more, Mapping) and {"vertex", "edge"} <= set(more)):
        if {"vertex", "edge"} <= set(tables.columns_of(more)):
            return Hypergraph.from_long(more, duplicates=duplicates)
        return Hypergraph.from_incidence(more, duplicates=duplicates)
    if sp.issparse(more) or (isinstance(more, np.ndarray) and more.dtype != object):
        ids = _column_ids(known, more)
        return Hypergraph.from_incidence(more, edge_ids=ids, duplicates=duplicates)
    listed = isinstance(more, list | tuple) or (isinstance(more, np.ndarray) and more.ndim == 1)
    if isinstance(more, Mapping) or listed:
        return _from_lists(more, duplicates)
    return as_hypergraph(more)


def _column_ids(known: Known, matrix: Any) -> Ids | None:
    """The hyperedges of the columns of a matrix: all of them in their order, or those with these numbers."""
    columns = matrix.shape[1] if matrix.ndim == 2 else -1
    if columns == len(known.edge_ids):
        return known.edge_ids
    if known.edge_ids.dtype != object and columns > known.edge_ids.max(initial=-1) and columns >= 0:
        return None  # numbered
    raise InputError(
        f"a matrix needs a column for each of the {count(len(known.edge_ids), 'hyperedge')} of the model, in "
        f"their order; this one has shape {matrix.shape}. Use a data frame whose columns are named by them"
    )


def _from_lists(more: Mapping[Any, Iterable[Any]] | Iterable[Any], duplicates: DuplicatePolicy) -> Hypergraph:
    """Vertices with a list of hyperedges each, or a mapping from these to weights."""
    given = more if isinstance(more, Mapping) else dict(enumerate(as_list(more, "the new vertices")))
    vertices, sizes, members, weights = tables.edge_members(given, "vertex", "the hyperedges of vertex")
    of_vertex = np.repeat(np.arange(len(vertices)), sizes)

    def locate(position: int) -> str:
        owner = int(of_vertex[position])
        return f"vertex {shown(vertices[owner])}, hyperedge {position - int(sizes[:owner].sum())}"

    codes, edges = factorize(members, "edge", locate)
    numbers = incidence.as_numbers(weights, locate)
    gamma = incidence.from_coordinates(codes, of_vertex, numbers, edges, vertices, duplicates)
    return Hypergraph.from_checked_parts(gamma, np.ones(len(edges)), vertices, edges)


def _from_hypergraph(known: Known, more: Hypergraph) -> NewVertices:
    """Match hyperedges by their ids; omega is that of the model."""
    places = known_positions(as_integers_or_list(more.edge_ids, "edge ids"), known.edge_ids, "edge")
    places = np.where(known.filled[places] & (places >= 0), places, -1)
    by_vertex = sp.csr_array(more.gamma.T)
    unknown = np.zeros(more.n_vertices, dtype=np.int64)
    absent: Any = object_array([])
    if len(places) != len(known.edge_ids) or not np.array_equal(places, np.arange(len(places))):
        strange = places < 0
        if strange.any():
            unknown = np.asarray(more.gamma[strange].astype(bool).sum(axis=0, dtype=np.int64))
            absent = more.edge_ids[strange & (more.edge_sizes > 0)]
            by_vertex = sp.csr_array(by_vertex[:, ~strange])
        columns = places[~strange][by_vertex.indices]
        shape = (more.n_vertices, len(known.edge_ids))
        by_vertex = sp.csr_array((by_vertex.data, columns, by_vertex.indptr), shape=shape)
    return NewVertices(more.vertex_ids, by_vertex, unknown, absent)


def _from_rows(known: Known, table: Any, vertex: Any) -> NewVertices:
    """Find the values of each row among the hyperedges (column, value), or its bins."""
    columns = tables.columns_of(table)
    of_edge, rows, weights, absent, strange = row_edges(columns, known.columns or {}, known.edge_ids)
    n_rows = len(next(iter(columns.values())))
    ids = tables.row_names(table) if vertex is None else tables.pick(columns, vertex)
    coordinates = sp.coo_array((weights, (rows, of_edge)), shape=(n_rows, len(known.edge_ids)))
    unknown = np.bincount(strange, minlength=n_rows)
    names = ids_or_range(ids, n_rows, "vertex")
    return NewVertices(names, sp.csr_array(coordinates), unknown, object_array(absent))
