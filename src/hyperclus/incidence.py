"""From matrices and coordinates to one canonical incidence matrix, with every check on gamma.

The canonical form is a CSR matrix of shape (n_edges, n_vertices): sorted, without duplicates,
every stored gamma positive and finite. Explicit zeros are not members.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hyperclus.errors import InputError
from hyperclus.ids import named
from hyperclus.types import DuplicatePolicy, Floats, Ids, Incidence


def from_coordinates(
    edges: NDArray[Any],
    vertices: NDArray[Any],
    gamma: Floats,
    edge_ids: Ids,
    vertex_ids: Ids,
    duplicates: DuplicatePolicy,
) -> Incidence:
    """Canonical incidence matrix from one (edge, vertex, gamma) triple per incidence."""
    if duplicates not in ("error", "sum", "max"):
        raise InputError(f"duplicates must be 'error', 'sum' or 'max', not {duplicates!r}")
    _check_gamma(gamma, lambda i: (edge_ids[int(edges[i])], vertex_ids[int(vertices[i])]))
    members = gamma > 0
    if not members.all():
        edges, vertices, gamma = edges[members], vertices[members], gamma[members]
    shape = (len(edge_ids), len(vertex_ids))
    matrix = sp.csr_array(sp.coo_array((gamma, (edges, vertices)), shape=shape))
    if matrix.nnz < len(gamma) and duplicates != "sum":
        keys = edges.astype(np.int64) * shape[1] + vertices
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        if duplicates == "error":
            again = order[np.setdiff1d(np.arange(len(order)), starts)[0]]
            raise InputError(
                f"vertex {vertex_ids[vertices[again]]!r} appears more than once in hyperedge "
                f"{edge_ids[edges[again]]!r} ({len(gamma) - matrix.nnz} duplicate incidences in all); "
                "pass duplicates='sum' or duplicates='max' to merge them"
            )
        matrix.data[:] = np.maximum.reduceat(gamma[order], starts)
    return cast("Incidence", matrix)


def from_matrix(matrix: Any, edge_ids: Ids, vertex_ids: Ids, duplicates: DuplicatePolicy) -> Incidence:
    """Canonical incidence matrix from a vertices x hyperedges matrix, sparse or dense."""
    if not sp.issparse(matrix) or matrix.format == "coo":
        vertices, edges, gamma = _entries(matrix)
        return from_coordinates(edges, vertices, gamma, edge_ids, vertex_ids, duplicates)
    columns = sp.csc_array(matrix, dtype=np.float64, copy=True)
    _check_gamma(
        columns.data,
        lambda i: (
            edge_ids[int(np.searchsorted(columns.indptr, i, side="right")) - 1],
            vertex_ids[int(columns.indices[i])],
        ),
    )
    columns.eliminate_zeros()
    columns.sort_indices()
    if not columns.has_canonical_format:
        return from_matrix(columns.tocoo(), edge_ids, vertex_ids, duplicates)
    return cast("Incidence", columns.T)


def as_gamma(values: ArrayLike) -> Floats:
    """The weights as float64; anything that is not a real number is an `InputError`."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        try:
            array = np.array([float(value) for value in array.tolist()])
        except (TypeError, ValueError):
            for position, value in enumerate(np.asarray(values, dtype=object).tolist()):
                try:
                    float(value)
                except (TypeError, ValueError):
                    raise InputError(
                        f"row {position}: weight {value!r} is not a number; correct it or leave the row out"
                    ) from None
    return array.astype(np.float64, copy=False)


def without_absent(
    matrix: Incidence, edge_ids: Ids, vertex_ids: Ids, empty_edges: str, isolated: str
) -> tuple[Incidence, NDArray[np.bool_], NDArray[np.bool_]]:
    """Apply the policies for empty hyperedges and for vertices in no hyperedge.

    Returns the matrix and two masks: which edges and which vertices were kept.
    """
    filled = np.diff(matrix.indptr) > 0
    covered = np.zeros(matrix.shape[1], dtype=bool)
    covered[matrix.indices] = True
    kept_edges = _apply_absence(filled, edge_ids, empty_edges, "empty_edges", "hyperedge", "has no member")
    kept_vertices = _apply_absence(covered, vertex_ids, isolated, "isolated", "vertex", "is in no hyperedge")
    if not kept_edges.all():
        matrix = cast("Incidence", matrix[kept_edges])
    if not kept_vertices.all():
        matrix = cast("Incidence", matrix[:, kept_vertices])
    return matrix, kept_edges, kept_vertices


def _apply_absence(
    present: NDArray[np.bool_], ids: Ids, policy: str, argument: str, noun: str, fault: str
) -> NDArray[np.bool_]:
    if policy not in ("error", "drop", "keep"):
        raise InputError(f"{argument} must be 'error', 'drop' or 'keep', not {policy!r}")
    if policy == "keep":
        return np.ones_like(present)
    if policy == "error" and not present.all():
        raise InputError(
            f"{noun} {named(ids, ~present)} {fault}; pass {argument}='drop' to leave such out "
            f"or {argument}='keep' to keep them unclustered"
        )
    return present


def _entries(matrix: Any) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    if sp.issparse(matrix):
        return matrix.row, matrix.col, as_gamma(matrix.data)
    dense = np.asarray(matrix)
    rows, columns = np.nonzero(dense)
    return rows, columns, as_gamma(dense[rows, columns])


def _check_gamma(gamma: Floats, place: Callable[[int], tuple[Any, Any]]) -> None:
    if not gamma.size or (gamma.min() >= 0 and np.isfinite(gamma.max())):
        return
    first = int(np.argmax(~(np.isfinite(gamma) & (gamma >= 0))))
    edge, vertex = place(first)
    raise InputError(
        f"vertex {vertex!r} in hyperedge {edge!r} has weight {gamma[first]}; "
        "weights must be finite and not negative (0 means: not a member)"
    )
