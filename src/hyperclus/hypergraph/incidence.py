"""Canonical incidence matrices from matrices and coordinates, with all checks of the weights.

The canonical form is a CSR matrix of shape (n_edges, n_vertices): sorted, without duplicates, every stored
gamma positive and finite. Explicit zeros are not members.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any, TypedDict, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hyperclus._runtime.arrays import blocks, index_type, take
from hyperclus._runtime.native import Kernel
from hyperclus._runtime.threads import available_threads, in_parallel
from hyperclus.errors import Argument, InputError, check_choice
from hyperclus.hypergraph.ids import is_missing
from hyperclus.hypergraph.messages import USUAL, Nouns, named, row_of, shown
from hyperclus.typing import AbsencePolicy, Booleans, Codes, DuplicatePolicy, Floats, Ids, Incidence, Integers

_TOO_SMALL = "the weight is too small for a float; use 0 or a larger one"
THREADS_FROM = 1_000_000  # incidences that pay for threads
NOT_NUMBERS = (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64)

_sort_rows = Kernel("sort_rows", "indices", "indices", "floats", "int", "int", returns="int")
_count_indices = Kernel("count_indices", "indices", "int", "int", "integers")


class PolicyOptions(TypedDict, total=False):
    """The policies as keyword arguments."""

    duplicates: DuplicatePolicy
    isolated: AbsencePolicy
    empty_edges: AbsencePolicy


@dataclass(frozen=True, slots=True)
class Policies:
    """What to do with repeated incidences, isolated vertices and empty hyperedges."""

    duplicates: DuplicatePolicy = "error"
    isolated: AbsencePolicy = "keep"
    empty_edges: AbsencePolicy = "keep"

    def __post_init__(self) -> None:
        check_choice("duplicates", self.duplicates, get_args(DuplicatePolicy))
        check_choice("isolated", self.isolated, get_args(AbsencePolicy))
        check_choice("empty_edges", self.empty_edges, get_args(AbsencePolicy))


def from_coordinates(
    edges: Codes,
    vertices: Codes,
    gamma: Floats,
    edge_ids: Ids,
    vertex_ids: Ids,
    duplicates: DuplicatePolicy,
    nouns: Nouns = USUAL,
) -> Incidence:
    """Return the canonical matrix of one (edge, vertex, gamma) triple per incidence."""
    shape = (len(edge_ids), len(vertex_ids))
    kind = index_type(max(len(gamma), *shape))
    coordinates = (edges.astype(kind, copy=False), vertices.astype(kind, copy=False))
    triples = sp.coo_array((gamma, coordinates), shape=shape)
    triples.has_canonical_format = True  # not true, but SciPy must not sum duplicates before they are checked
    return canonical(triples.tocsr(), edge_ids, vertex_ids, duplicates, nouns)


def from_matrix(matrix: Any, edge_ids: Ids, vertex_ids: Ids, duplicates: DuplicatePolicy) -> Incidence:
    """Return the canonical matrix of a vertices x hyperedges matrix that `as_matrix` returned."""
    dense = isinstance(matrix, np.ndarray)
    if dense or matrix.format == "coo" or matrix.dtype.itemsize > 8:  # long doubles, for the message
        triples = None if dense else matrix.tocoo()
        vertices, edges = np.nonzero(matrix) if triples is None else (triples.row, triples.col)
        values = matrix[vertices, edges] if triples is None else triples.data
        gamma = as_numbers(
            values,
            lambda i: f"vertex {shown(vertex_ids[vertices[i]])} in hyperedge {shown(edge_ids[edges[i]])}",
        )
        return from_coordinates(edges, vertices, gamma, edge_ids, vertex_ids, duplicates)
    kind = index_type(max(matrix.nnz, *matrix.shape))
    indices, indptr = (part.astype(kind, copy=False) for part in (matrix.indices, matrix.indptr))
    parts = (as_numbers(matrix.data, str), indices, indptr)
    # The arrays of a CSR matrix are those of its transpose in CSC, and vice versa.
    flipped = (sp.csr_array if matrix.format == "csc" else sp.csc_array)(parts, shape=matrix.shape[::-1])
    return canonical(flipped.tocsr(copy=True), edge_ids, vertex_ids, duplicates)


def as_matrix(matrix: Any, names: Sequence[Any] | None = None) -> Any:
    """Return a matrix in CSR, CSC, COO or as a dense array, after the checks that need no ids.

    `names` are the names of its columns, for messages.
    """
    if isinstance(matrix, np.ma.MaskedArray):
        matrix = np.array(matrix.tolist(), dtype=object)  # None for masked values
    if not sp.issparse(matrix):
        try:
            matrix = np.asarray(matrix)
        except ValueError:
            raise InputError("an incidence matrix needs rows of equal length; make them equal") from None
    if matrix.ndim != 2:
        rule = "an incidence matrix has one row per vertex and one column per hyperedge"
        raise InputError(f"{rule}; this one has shape {matrix.shape}")
    if matrix.dtype == object and not sp.issparse(matrix):
        names = names or range(matrix.shape[1])
        numbers = as_numbers(matrix.ravel(), lambda i: row_of(names[i % len(names)])(i // len(names)))
        return numbers.reshape(matrix.shape)
    if matrix.dtype.kind not in "biuf":
        problem = f"this one has dtype {matrix.dtype}, convert it"
        raise InputError(f"an incidence matrix holds real numbers; {problem}")
    return matrix if isinstance(matrix, np.ndarray) else _checked_sparse(matrix)


def as_numbers(values: Any, locate: Callable[[int], str]) -> Floats:
    """Return the values as float64, missing ones as NaN; anything but numbers is an `InputError`.

    `locate` returns the name of a position for messages.
    """
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # None for masked values
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # a too large number becomes infinite, which the caller refuses
            numbers = array.astype(np.float64, copy=False)
        if array.dtype.itemsize > 8 and (lost := (numbers == 0) & (array != 0)).any():
            raise InputError(f"{locate(int(np.argmax(lost)))}: {_TOO_SMALL}")
        return numbers
    items = values if isinstance(values, list) else list(array.ravel())
    numbers = np.empty(len(items))
    for position, value in enumerate(items):
        try:
            if isinstance(value, NOT_NUMBERS):
                raise TypeError
            numbers[position] = np.nan if is_missing(value) else float(value)
            if numbers[position] == 0 and value != 0:
                raise InputError(f"{locate(position)}: {_TOO_SMALL}")
        except InputError:
            raise
        except (TypeError, ValueError, OverflowError):
            problem = f"weight {shown(value)} is not a finite number; correct it or leave it out"
            raise InputError(f"{locate(position)}: {problem}") from None
    return numbers


def as_edge_weights(values: Any, edge_ids: Ids) -> Floats:
    """Return omega, one positive number per hyperedge, from a sequence, or a mapping or Series by edge id."""
    if values is None:
        return np.ones(len(edge_ids))
    if hasattr(values, "to_dict") and hasattr(values, "index"):
        if not values.index.is_unique:
            raise InputError("edge_weights: the index of the Series names a hyperedge twice; make it unique")
        values = values.to_dict()
    if isinstance(values, Mapping):
        known = dict.fromkeys(edge_ids.tolist())
        for edge in chain(values, known):
            if edge not in known or edge not in values:
                problem = "has no weight; give it one" if edge in known else "is unknown; leave it out"
                raise InputError(f"edge_weights: hyperedge {shown(edge)} {problem}")
        values = [values[edge] for edge in known]
    omega = as_numbers(values, lambda i: f"edge_weights, position {i}")
    if omega.shape != (len(edge_ids),):
        needed = f"{len(edge_ids)} edge_weights are needed, one per hyperedge"
        raise InputError(f"{needed}; these have shape {omega.shape}")
    good = np.isfinite(omega) & (omega > 0)
    if not good.all():
        first = int(np.argmin(good))
        rule = "hyperedge weights must be positive and finite, leave the hyperedge out instead"
        raise InputError(f"hyperedge {shown(edge_ids[first])} has weight {omega[first]}; {rule}")
    return omega


def check_gamma(matrix: Incidence, edge_ids: Ids, vertex_ids: Ids, zeros: bool, nouns: Nouns = USUAL) -> None:
    """Raise an `InputError` that names the first weight that is negative, NaN, infinite or a forbidden 0."""
    gamma = matrix.data
    if not gamma.size or ((gamma.min() > 0 or (zeros and gamma.min() == 0)) and gamma.max() < np.inf):
        return
    bad = ~((gamma >= 0 if zeros else gamma > 0) & (gamma < np.inf))
    position = int(np.argmax(bad))
    rule = "finite and not negative (0 means: not a member)" if zeros else "positive and finite"
    found = f"{_incidence(matrix, position, edge_ids, vertex_ids, nouns)} has weight {gamma[position]}"
    raise InputError(f"{found}; weights must be {rule}, correct it or leave it out")


def without_absent(
    matrix: Incidence, edge_ids: Ids, vertex_ids: Ids, policies: Policies, nouns: Nouns = USUAL
) -> tuple[Incidence, Booleans, Booleans]:
    """Apply the policies for empty hyperedges and isolated vertices.

    Returns the matrix and the masks of the hyperedges and vertices that were kept.
    """
    filled = np.diff(matrix.indptr) > 0
    covered = np.zeros(matrix.shape[1], dtype=bool)
    for block in () if policies.isolated == "keep" else blocks(matrix.nnz):
        covered[matrix.indices[block]] = True
    empty, alone = f"no member is in {nouns.a_hyperedge}", f"no {nouns.a_hyperedge} holds {nouns.a_vertex}"
    kept_edges = _keep(filled, policies.empty_edges, "empty_edges", empty, edge_ids)
    kept_vertices = _keep(covered, policies.isolated, "isolated", alone, vertex_ids)
    data, indices, indptr = matrix.data, matrix.indices, matrix.indptr
    if not kept_edges.all():  # empty ones have no entries, so the data stay as they are
        indptr = indptr[np.append(True, kept_edges)]
    if not kept_vertices.all():
        indices = take(np.cumsum(kept_vertices, dtype=indices.dtype) - 1, indices)
    shape = (int(kept_edges.sum()), int(kept_vertices.sum()))
    return sp.csr_array((data, indices, indptr), shape=shape), kept_edges, kept_vertices


def connected_components(gamma: Incidence) -> tuple[int, Integers, Integers]:
    """Connected components of the bipartite graph of hyperedges and vertices, in O(m).

    Returns how many components hold a vertex, and the component of each vertex and of each hyperedge,
    -1 for hyperedges without members.
    """
    from scipy.sparse import csgraph

    n_edges, n_vertices = gamma.shape
    total = n_edges + n_vertices
    kind = np.int64 if max(total, gamma.nnz) > np.iinfo(np.int32).max else gamma.indices.dtype
    indptr = np.concatenate([gamma.indptr, np.full(n_vertices, gamma.nnz)]).astype(kind)
    indices = gamma.indices + np.asarray(n_edges, dtype=kind)
    graph = sp.csr_array((gamma.data, indices, indptr), shape=(total, total))
    _, labels = csgraph.connected_components(graph, directed=True, connection="weak")
    has_vertex = np.zeros(total, dtype=bool)
    has_vertex[labels[n_edges:]] = True
    renumbered = np.where(has_vertex, np.cumsum(has_vertex) - 1, -1)[labels]
    return int(np.count_nonzero(has_vertex)), renumbered[n_edges:], renumbered[:n_edges]


def canonical(
    matrix: Incidence, edge_ids: Ids, vertex_ids: Ids, duplicates: DuplicatePolicy, nouns: Nouns = USUAL
) -> Incidence:
    """Check and sort a matrix in place, and remove zeros and duplicates; nobody else may hold its arrays."""
    check_gamma(matrix, edge_ids, vertex_ids, True, nouns)
    if not matrix.data.all():
        matrix.eliminate_zeros()
    if not sort_rows(matrix):
        return matrix
    first = np.append(True, matrix.indices[1:] != matrix.indices[:-1])
    first[matrix.indptr[:-1][np.diff(matrix.indptr) > 0]] = True
    if duplicates == "error":
        where = _incidence(matrix, int(np.argmin(first)), edge_ids, vertex_ids, nouns)
        found = f"{np.count_nonzero(~first):,} duplicate incidences found"
        ways = (Argument("duplicates", "sum"), " or ", Argument("duplicates", "max"))
        raise InputError(f"{where} appears more than once ({found}); use ", *ways, " to merge them")
    starts = np.flatnonzero(first)
    merge = np.add if duplicates == "sum" else np.maximum
    with np.errstate(over="ignore"):
        gamma = merge.reduceat(matrix.data, starts)
    indptr = np.searchsorted(starts, matrix.indptr).astype(matrix.indptr.dtype)
    merged = sp.csr_array((gamma, matrix.indices[first], indptr), shape=matrix.shape)
    check_gamma(merged, edge_ids, vertex_ids, False, nouns)
    return merged


def sort_rows(matrix: Incidence) -> int:
    """Sort the rows of a matrix by their indices, in place on several threads; how many have one twice."""
    count = available_threads() if matrix.nnz >= THREADS_FROM else 1
    inner = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, count + 1)[1:-1]).tolist()
    lists = matrix.indptr, matrix.indices, matrix.data
    parts = pairwise([0, *inner, matrix.shape[0]])
    repeated = sum(in_parallel([partial(_sort_rows, *lists, *part) for part in parts]))
    matrix.has_sorted_indices, matrix.has_canonical_format = True, repeated == 0
    return int(repeated)


def vertex_degrees(gamma: Incidence) -> Integers:
    """Count the hyperedges of each vertex, on several threads; `np.bincount` would convert all indices."""
    count = available_threads() if gamma.nnz >= THREADS_FROM else 1

    def counted(part: tuple[int, int]) -> Integers:
        found = np.zeros(gamma.shape[1], dtype=np.int64)
        _count_indices(gamma.indices, *part, found)
        return found

    parts = pairwise(np.linspace(0, gamma.nnz, count + 1).astype(np.int64).tolist())
    first, *others = in_parallel([partial(counted, part) for part in parts])
    for found in others:
        first += found
    return first


def check_compressed(matrix: Any) -> None:
    """Raise a `ValueError` if the arrays of a CSR, CSC or BSR matrix do not describe a matrix.

    SciPy's own check skips the pointers when the last one is not positive, and then reads out of bounds.
    """
    pointers = matrix.indptr
    rising = pointers[0] == 0 and (pointers[1:] >= pointers[:-1]).all()
    if not rising or pointers[-1] > len(matrix.indices):
        raise ValueError("indptr does not rise from 0 to the number of entries")
    matrix.check_format(full_check=True)


def _checked_sparse(matrix: Any) -> Any:
    """Return a sparse matrix in CSR, CSC or COO; indices outside its shape are an `InputError`."""
    try:
        if matrix.format == "bsr":
            check_compressed(matrix)
        if matrix.format not in ("csr", "csc"):
            triples = matrix.tocoo()
            return sp.coo_array((triples.data, (triples.row, triples.col)), shape=triples.shape)
        matrix = copy.copy(matrix)  # the check may replace arrays of the matrix
        check_compressed(matrix)
    except ValueError as error:
        raise InputError(f"the sparse matrix is damaged ({error}); recreate it") from None
    return matrix


def _keep(present: Booleans, policy: AbsencePolicy, argument: str, problem: str, ids: Ids) -> Booleans:
    if policy == "error" and not present.all():
        ways = (
            Argument(argument, "drop"),
            " to remove them or ",
            Argument(argument, "keep"),
            " to keep them",
        )
        raise InputError(f"{problem} {named(ids, ~present)}; use ", *ways)
    return np.ones_like(present) if policy == "keep" else present


def _incidence(matrix: Incidence, position: int, edge_ids: Ids, vertex_ids: Ids, nouns: Nouns) -> str:
    edge = int(np.searchsorted(matrix.indptr, position, side="right")) - 1
    vertex = shown(vertex_ids[matrix.indices[position]])
    return f"{nouns.a_vertex} {vertex} in {nouns.a_hyperedge} {shown(edge_ids[edge])}"


def constant_within(omega: Floats, edges: Codes, names: Ids) -> Floats:
    """Return omega from a weight per incidence; different weights of a hyperedge are an `InputError`."""
    found = np.ones(len(names))
    found[edges] = omega
    different = np.flatnonzero(found[edges] != omega)
    if len(different):
        name = shown(names[edges[different[0]]])
        raise InputError(f"hyperedge {name} has several weights; give it the same one in all its rows")
    return found


def as_positions(vertices: NDArray[Any], count: int) -> Codes:
    """Positions of vertices, given as such or as a mask, or an `InputError`."""
    chosen = np.asarray(vertices)
    if chosen.dtype == bool and chosen.shape == (count,):
        return np.flatnonzero(chosen)
    if not chosen.size and chosen.ndim == 1:
        return np.empty(0, dtype=np.int64)
    integers = chosen.ndim == 1 and chosen.dtype.kind in "iu"
    within = integers and 0 <= chosen.min() <= chosen.max() < count
    if not within or np.bincount(chosen.astype(np.intp)).max() > 1:
        raise InputError(f"vertices must be a mask of {count} booleans, or different positions below {count}")
    return chosen
