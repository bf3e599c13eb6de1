"""Attributes of vertices, from a matrix or a table: one valid value with a row of numbers per vertex."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import read_only
from hyperclus.errors import InputError, check_choice
from hyperclus.hypergraph import tables
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import as_integers_or_list, id_array, known_positions, object_array
from hyperclus.hypergraph.messages import count, shown
from hyperclus.hypergraph.neighbors import METRICS, Metric, is_sparse
from hyperclus.io.attribute_columns import Encoder, Words, encoder_of
from hyperclus.typing import Booleans, Ids, Integers

ID_COLUMNS = ("vertex", "id")
MOSTLY = 0.5  # share of zeros from which a dense matrix holds counts or flags, compared by their cosine


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attributes:
    """A row of numbers for each vertex, and how rows are compared.

    Attributes
    ----------
    values : array or csr_array of shape (n_vertices, n_attributes)
    names : array of shape (n_attributes,)
        Numbers, or column names; (column, value) for a category, (column, word) for a word of a text.
    present : array of bool, shape (n_vertices,)
        Which vertices have attributes; the rows of the others are 0.
    metric : {"cosine", "euclidean"}
    centre, scale : arrays of shape (n_attributes,), or None
        What was subtracted from a matrix, and what it was divided by.
    encoders : tuple or None
        How the columns of a table become numbers, so that new rows become the same.
    """

    values: Any
    names: Ids
    present: Booleans
    metric: Metric
    centre: Any = None
    scale: Any = None
    encoders: tuple[Encoder, ...] | None = None

    def __post_init__(self) -> None:
        for array in (self.values.data, self.values.indices) if is_sparse(self.values) else (self.values,):
            array.flags.writeable = False

    @property
    def n_vertices(self) -> int:
        """The number of rows."""
        return len(self.present)

    def __repr__(self) -> str:
        missing = self.n_vertices - int(np.count_nonzero(self.present))
        without = f", {missing} without" if missing else ""
        rows = count(self.n_vertices, "vertex", "vertices")
        return f"Attributes({rows}{without}, {count(len(self.names), 'attribute')})"

    def rows(self, order: Integers) -> "Attributes":
        """The attributes of vertices given by positions; -1 is a vertex without attributes."""
        present = self.present[order] & (order >= 0)
        values = self.values[order]
        if (order < 0).any():
            kept = sp.diags_array((order >= 0).astype(np.float64))
            values = sp.csr_array(kept @ values) if is_sparse(values) else kept @ values
        return replace(self, values=values, present=present)

    def encoded(self, more: Any) -> "Attributes":
        """New rows, as numbers that can be compared with these."""
        if self.encoders is not None:
            return replace(self, **_encoded(tables.columns_of(more), self.encoders))
        matrix, present = _checked_matrix(more)
        if matrix.shape[1] != len(self.names):
            raise InputError(
                f"{count(len(self.names), 'attribute')} are known and the new rows have {matrix.shape[1]}; "
                "give the same columns"
            )
        if self.scale is not None:
            dense = matrix.toarray() if is_sparse(matrix) else matrix
            matrix = np.where(present[:, None], (dense - self.centre) / self.scale, 0.0)
        return replace(self, values=matrix, present=present)


def as_attributes(given: Any, metric: Metric | None = None) -> tuple[Attributes, Ids | None]:
    """Attributes from a matrix, sparse or dense, or a table; and the ids of their rows, if these have any.

    Numbers in a matrix stay as they are if most of them are zero, as counts and flags are; rows are then
    compared by their cosine. Other matrices, and the numbers of a table, are standardised: mean 0 and
    standard deviation 1 in each column. Categories become a column of 0 and 1 for each value; texts become
    tf-idf weights of their words. These are compared by the Euclidean distance, texts alone by the cosine.

    The ids are the index of a data frame, or a column named "vertex" or "id". A row without any value belongs
    to a vertex without attributes.

    Raises
    ------
    InputError
        For numbers that are infinite, for rows of a matrix with some numbers missing, for what is neither
        matrix nor table, and if no column tells vertices apart.

    Examples
    --------
    >>> found, ids = as_attributes({"id": ["a", "b", "c"], "size": [1.0, 2.0, 3.0], "kind": ["x", "y", "x"]})
    >>> found.names.tolist(), ids.tolist()
    (['size', ('kind', 'x'), ('kind', 'y')], ['a', 'b', 'c'])
    """
    if metric is not None:
        check_choice("metric", metric, METRICS)
    if isinstance(given, Attributes):
        return (given if metric is None else replace(given, metric=metric)), None
    if is_sparse(given) or isinstance(given, np.ndarray | list | tuple):
        return _of_matrix(given, metric), None
    if not (isinstance(given, Mapping) or tables.is_frame(given)):
        kinds = "a matrix with a row per vertex, or a data frame"
        raise InputError(f"attributes must be {kinds}, not {type(given).__name__}")
    return _of_table(given, metric)


def aligned(hypergraph: Hypergraph | None, given: Any) -> tuple[Hypergraph | None, Attributes, Ids]:
    """The hypergraph, attributes in the order of its vertices, and the ids of the vertices.

    Rows with ids that no vertex has are vertices in no hyperedge; they are added after the others.
    """
    found, ids = as_attributes(given)
    if hypergraph is None:
        return None, found, read_only(np.arange(found.n_vertices)) if ids is None else ids
    known = hypergraph.vertex_ids
    if ids is None:
        if found.n_vertices != len(known):
            raise InputError(
                f"{count(found.n_vertices, 'row')} of attributes for "
                f"{count(len(known), 'vertex', 'vertices')}: give a row for each, or a data frame with a "
                "column named vertex"
            )
        return hypergraph, found, known
    places = known_positions(as_integers_or_list(ids, "vertex ids"), known, "vertex")
    new = np.flatnonzero(places < 0)
    if len(new) == len(ids):
        problem = f"no row of the attributes has the id of a vertex; the ids are {shown(ids.tolist()[:3])}"
        raise InputError(f"{problem} and the vertices {shown(known.tolist()[:3])}")
    order = np.full(len(known) + len(new), -1)
    order[places[places >= 0]] = np.flatnonzero(places >= 0)
    order[len(known) :] = new
    if len(new):
        hypergraph = _with_vertices(hypergraph, ids[new])
    return hypergraph, found.rows(order), hypergraph.vertex_ids


def _with_vertices(hypergraph: Hypergraph, ids: Ids) -> Hypergraph:
    """The hypergraph with more vertices, which are in no hyperedge."""
    vertices = id_array([*hypergraph.vertex_ids.tolist(), *ids.tolist()], "vertex")
    old, shape = hypergraph.gamma, (hypergraph.n_edges, len(vertices))
    gamma = sp.csr_array((old.data.copy(), old.indices.copy(), old.indptr.copy()), shape=shape)
    parts = (gamma, hypergraph.edge_weights, vertices, hypergraph.edge_ids)
    return Hypergraph.from_checked_parts(*parts, hypergraph.nouns, hypergraph.columns, hypergraph.mixture)


def _checked_matrix(given: Any) -> tuple[Any, Booleans]:
    """A float64 matrix whose numbers are finite, and which rows have attributes; the others are 0."""
    matrix: Any
    try:
        if is_sparse(given):
            matrix = sp.csr_array(given, dtype=np.float64, copy=True)
        else:
            matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("attributes in a matrix must be numbers; use a data frame for categories") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            f"attributes need a row per vertex and a column each; these have shape {matrix.shape}"
        )
    if is_sparse(matrix):
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        missing: Booleans = np.zeros(matrix.shape[0], dtype=np.bool_)
    else:
        missing = np.isnan(matrix).all(axis=1)
        matrix[missing] = 0.0
    wrong = ~np.isfinite(matrix.data if is_sparse(matrix) else matrix)
    if wrong.any():
        first = int(np.argmax(wrong))
        row = first // matrix.shape[1]
        if is_sparse(matrix):
            row = int(np.searchsorted(matrix.indptr, first, side="right")) - 1
        raise InputError(
            f"the attributes of row {row} are infinite, or missing in part; fill them, or leave the row empty"
        )
    return matrix, ~missing


def _of_matrix(given: Any, metric: Metric | None) -> Attributes:
    """Attributes in a matrix, standardised unless most are 0."""
    matrix, present = _checked_matrix(given)
    names = read_only(np.arange(matrix.shape[1]))
    counts = is_sparse(matrix) or np.count_nonzero(matrix) <= (1.0 - MOSTLY) * matrix.size
    if metric == "cosine" or (metric is None and counts):
        filled = np.diff(matrix.indptr) > 0 if is_sparse(matrix) else matrix.any(axis=1)
        return Attributes(matrix, names, present & filled, "cosine")
    dense = matrix.toarray() if is_sparse(matrix) else matrix
    centre, scale = dense[present].mean(axis=0), dense[present].std(axis=0)
    scale[scale == 0] = 1.0
    values = np.where(present[:, None], (dense - centre) / scale, 0.0)
    return Attributes(values, names, present, "euclidean", centre, scale)


def _of_table(table: Any, metric: Metric | None) -> tuple[Attributes, Ids | None]:
    """Attributes in the columns of a table, and the ids of its rows."""
    columns, names = tables.columns_of(table), tables.row_names(table)
    column = next((name for name in ID_COLUMNS if name in columns), None) if names is None else None
    if column is not None:
        names = tables.pick(columns, column)
        del columns[column]
    encoders = tuple(found for name in columns if (found := encoder_of(columns, name)) is not None)
    if not encoders:
        raise InputError("no column of the attributes tells vertices apart; give some with different values")
    texts = all(isinstance(one, Words) for one in encoders)
    captions = read_only(object_array([name for one in encoders for name in one.names]))
    parts = _encoded(columns, encoders)
    joined = Attributes(
        **parts, names=captions, metric=metric or ("cosine" if texts else "euclidean"), encoders=encoders
    )
    return joined, None if names is None else id_array(names, "vertex")


def _encoded(columns: Mapping[Any, Any], encoders: tuple[Encoder, ...]) -> dict[str, Any]:
    """The numbers of a table, and which rows have any value."""
    blocks, known = zip(*(one.encoded(columns) for one in encoders), strict=True)
    values: Any
    if any(is_sparse(block) for block in blocks):
        values = sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks]))
    else:
        values = np.hstack(blocks)
    return {"values": values, "present": np.any(known, axis=0)}
