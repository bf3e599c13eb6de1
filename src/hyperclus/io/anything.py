"""A hypergraph from whatever holds one, where that can mean one thing only."""

import os
from collections.abc import Iterable, Mapping
from itertools import islice, pairwise
from typing import Any, Unpack, cast

import numpy as np
import scipy.sparse as sp

from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.incidence import PolicyOptions
from hyperclus.hypergraph.messages import shown
from hyperclus.hypergraph.tables import columns_of, is_frame, pick_numbers

LIBRARIES = {  # functions of `io.convert`, by first module and class
    ("xgi", "Hypergraph"): "from_xgi",
    ("hypernetx", "Hypergraph"): "from_hypernetx",
    ("hypergraphx", "Hypergraph"): "from_hypergraphx",
    ("networkx", "Graph"): "from_networkx",
    ("sknetwork", "Dataset"): "from_sknetwork",
}
SAMPLE = 1000  # hyperedges that are looked at to tell lists of members from the rows of a matrix


def as_hypergraph(data: Any, **policies: Unpack[PolicyOptions]) -> Hypergraph:
    """Convert anything that holds a hypergraph; all functions that need one accept what this accepts.

    Parameters
    ----------
    data
        - A `Hypergraph`, returned as it is, or a `HIF` document.
        - A hypergraph of XGI, HyperNetX or Hypergraphx, a graph of NetworkX, or a dataset of scikit-network.
        - A SciPy matrix, a NumPy array, or a data frame of numbers: an incidence matrix with a row per vertex
          and a column per hyperedge, as in `Hypergraph.from_incidence`.
        - A table with the columns vertex and edge: a row per incidence, as in `Hypergraph.from_long`.
        - A data frame without numbers: a row per vertex, as in `Hypergraph.from_table`.
        - A mapping or a sequence of hyperedges, as in `Hypergraph.from_edges`.
    **policies
        `duplicates`, `isolated` and `empty_edges` as in `Hypergraph.from_incidence`.

    Raises
    ------
    InputError
        Naming the functions to choose from, if the data may mean several things: a symmetric matrix, a matrix
        or a frame without zeros, a frame with numbers and text or with two columns of text, lists that look
        like the rows of a matrix.

    Examples
    --------
    >>> as_hypergraph([["a", "b"], ["b", "c"]])
    Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
    >>> as_hypergraph({"vertex": ["a", "b", "b"], "edge": [1, 1, 2]})
    Hypergraph(2 vertices, 2 hyperedges, 3 incidences)
    """
    if isinstance(data, Hypergraph):
        return data
    try:
        return _converted(data, policies)
    except InputError as error:
        if policies or Argument("duplicates", "sum") not in error.args:
            raise
        raise InputError(*error.args, ", in hc.as_hypergraph(data, ...)") from None


def _converted(data: Any, policies: PolicyOptions) -> Hypergraph:
    for kind in type(data).__mro__:
        name = kind.__module__.partition(".")[0], kind.__name__
        if name == ("hyperclus", "HIF"):
            return cast(Hypergraph, data.hypergraph(**policies))
        if name in LIBRARIES:
            from hyperclus.io import convert

            return cast(Hypergraph, getattr(convert, LIBRARIES[name])(data, **policies))
    if isinstance(data, str | bytes | os.PathLike):
        raise InputError(
            "a Hypergraph is needed, not the name of a file; hc.read reads a file, and hc.cluster_files "
            "clusters Parquet files"
        )
    if isinstance(data, np.ndarray) or sp.issparse(data):
        return _from_matrix(data, policies)
    if is_frame(data):
        return _from_frame(data, policies)
    if isinstance(data, Mapping):
        is_long = {"vertex", "edge"} <= data.keys()
        return (
            _from_long(data, columns_of(data), policies)
            if is_long
            else Hypergraph.from_edges(data, **policies)
        )
    if isinstance(data, Iterable):
        edges = list(data)
        _check_members(edges)
        return Hypergraph.from_edges(edges, **policies)
    ways = "Hypergraph.from_incidence, from_edges, from_long or from_table"
    raise InputError(f"a Hypergraph is needed, not {shown(data)}; build one with {ways}")


def _from_matrix(matrix: Any, policies: PolicyOptions) -> Hypergraph:
    """An incidence matrix, unless it may be the adjacency matrix of a graph or a table of features."""
    if not sp.issparse(matrix) and (matrix.ndim != 2 or matrix.dtype.kind not in "biuf"):
        raise InputError(
            f"an array of shape {matrix.shape} and type {matrix.dtype} may mean several things; use "
            "Hypergraph.from_incidence for a matrix of weights, from_edges for hyperedges, or from_table for "
            "a row per vertex"
        )
    rows, columns = matrix.shape
    if not sp.issparse(matrix):
        _check_zeros(list(range(columns)), matrix.T, rows)
    if rows == columns > 1 and _is_symmetric(matrix):
        raise InputError(
            "a symmetric matrix may hold incidences or the edges of a graph; use "
            "Hypergraph.from_incidence(X), or hc.io.from_networkx(networkx.from_scipy_sparse_array(X))"
        )
    return Hypergraph.from_incidence(matrix, **policies)


def _is_symmetric(matrix: Any) -> bool:
    if getattr(matrix, "format", None) in ("csr", "csc"):  # mostly, the numbers of entries decide it
        across = np.bincount(matrix.indices, minlength=len(matrix.indptr) - 1)
        if not np.array_equal(across, np.diff(matrix.indptr)):
            return False
    different: Any = matrix != matrix.T
    return not (different.nnz if sp.issparse(matrix) else different.any())


def _from_frame(frame: Any, policies: PolicyOptions) -> Hypergraph:
    """A table of incidences, an incidence matrix, or a table of features, if it is clear which."""
    columns = columns_of(frame)
    names = list(columns)
    if {"vertex", "edge"} <= set(names):
        return _from_long(frame, columns, policies)
    numeric = [pick_numbers(columns, name) is not None or _is_boolean(columns[name]) for name in names]
    if all(numeric):
        made = Hypergraph.from_incidence(frame, **policies)
        _check_zeros(
            names,
            [made.gamma.data[start:stop] for start, stop in pairwise(made.gamma.indptr)],
            made.n_vertices,
        )
        return made
    if len(names) == 2:
        raise InputError(
            f"a table of two columns may hold incidences or features; use Hypergraph.from_long(table, "
            f"vertex={names[0]!r}, edge={names[1]!r}), or Hypergraph.from_table(table)"
        )
    if any(numeric):
        raise InputError(
            f"the table has numbers (column {shown(names[numeric.index(True)])}) and text (column "
            f"{shown(names[numeric.index(False)])}); use Hypergraph.from_table(table, bins=5) for a row per "
            "vertex, or Hypergraph.from_long(table, vertex=..., edge=...) for a row per incidence"
        )
    return Hypergraph.from_table(frame)


def _from_long(table: Any, columns: Mapping[Any, Any], policies: PolicyOptions) -> Hypergraph:
    """A table of incidences; a message in the log names columns that may be weights."""
    hypergraph = Hypergraph.from_long(table, **policies)
    if "weight" not in columns:
        from hyperclus.io.tables.unused import tell_unused_in_memory

        tell_unused_in_memory(columns, "vertex", "edge")
    return hypergraph


def _is_boolean(column: Any) -> bool:
    return str(getattr(column, "dtype", "")).lower() in ("bool", "boolean")


def _check_zeros(names: list[Any], columns: Iterable[Any], size: int) -> None:
    """Refuse a column of numbers without zeros: it is a feature of all vertices, not a hyperedge."""
    pairs = zip(names, columns, strict=True)
    full = [(name, column) for name, column in pairs if np.count_nonzero(column) == size]
    constant = len(full) < len(names)  # a column of equal weights may be a hyperedge, unless all are
    odd = [name for name, column in full if not constant or np.ptp(column)]
    if odd and min(size, len(names)) > 1:
        raise InputError(
            f"column {shown(odd[0])} has no zeros, so every vertex would be in its hyperedge; use "
            "Hypergraph.from_table(X, bins=5) for a table of features, or Hypergraph.from_incidence(X), with "
            "alpha=1, for weights"
        )


def _check_members(edges: list[Any]) -> None:
    """Refuse rows of numbers of equal length in which a number is repeated, as in a matrix."""
    some = [edge for edge in islice(edges, SAMPLE) if isinstance(edge, list | tuple)]
    if len(some) < min(len(edges), SAMPLE) or len({len(edge) for edge in some}) != 1:
        return
    numbers = all(isinstance(value, int | float | np.number) for edge in some for value in edge)
    if numbers and any(len(set(edge)) < len(edge) for edge in some):
        raise InputError(
            "rows of numbers of equal length may be the rows of a matrix or the members of hyperedges; use "
            "Hypergraph.from_incidence or Hypergraph.from_edges"
        )
