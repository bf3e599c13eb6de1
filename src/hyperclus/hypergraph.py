"""The hypergraph with edge-dependent vertex weights (EDVW): an immutable, valid value."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hyperclus.errors import InputError
from hyperclus.ids import factorize, id_array, listed, positions, read_only, refuse_missing, row_of, shown
from hyperclus.incidence import (
    as_edge_weights,
    as_matrix,
    as_numbers,
    check_gamma,
    from_coordinates,
    from_matrix,
    sealed,
    without_absent,
)
from hyperclus.tables import columns_of, feature_edges, pick, pick_codes, unframed
from hyperclus.types import AbsencePolicy, Codes, DuplicatePolicy, Floats, Ids, Incidence, Integers, MissingPolicy


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hypergraph:
    """H = (V, E, omega, gamma): hyperedge weights omega(e) > 0, vertex weights gamma_e(v) > 0.

    Definition 4 of the paper. Build one with `from_incidence`, `from_edges`, `from_long` or
    `from_table`; those check the data and explain what is wrong with it. Nothing changes a
    hypergraph afterwards: its arrays are read-only.

    Attributes
    ----------
    gamma : csr_array of shape (n_edges, n_vertices)
        R of the paper: gamma_e(v) where v is a member of e, nothing elsewhere.
    edge_weights : array of shape (n_edges,)
        omega(e).
    vertex_ids, edge_ids : arrays
        The names of rows and columns, unique.

    Examples
    --------
    >>> h = Hypergraph.from_edges({"paper1": {"ann": 2, "bob": 1}, "paper2": ["bob", "eve"]})
    >>> h
    Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
    >>> h.vertex_ids.tolist()
    ['ann', 'bob', 'eve']
    """

    gamma: Incidence
    edge_weights: Floats
    vertex_ids: Ids
    edge_ids: Ids

    def __post_init__(self) -> None:
        """Check everything; share arrays that are read-only, as a hypergraph's own are, copy others."""
        if not (isinstance(self.gamma, sp.csr_array) and self.gamma.ndim == 2 and self.gamma.dtype == np.float64):
            raise InputError("gamma must be a float64 csr_array; use Hypergraph.from_incidence")
        gamma = sp.csr_array(self.gamma, copy=self.gamma.data.flags.writeable)
        if not gamma.has_canonical_format:
            raise InputError("gamma must be canonical float64 CSR array; use Hypergraph.from_incidence")
    # ---- constructors -------------------------------------------------------------------------

    @classmethod
    def from_incidence(
        cls,
        matrix: Any,
        *,
        edge_weights: Mapping[Any, float] | ArrayLike | None = None,
        vertex_ids: Iterable[Any] | None = None,
        edge_ids: Iterable[Any] | None = None,
        duplicates: DuplicatePolicy = "error",
        isolated: AbsencePolicy = "error",
        empty_edges: AbsencePolicy = "error",
    ) -> "Hypergraph":
        """From a weighted incidence matrix with one row per vertex and one column per hyperedge.

        Parameters
        ----------
        matrix : sparse or dense, shape (n_vertices, n_edges)
            Entry (v, e) is gamma_e(v); zero, stored or not, means that v is not in e. The output
            of scikit-learn's vectorizers and encoders has this form. A data frame passes on its
            index and columns as ids. The matrix is copied.
        edge_weights : mapping from edge id, or sequence of length n_edges, optional
            omega(e) > 0; 1 by default.
        vertex_ids, edge_ids : optional
            Unique, hashable; 0, 1, ... by default.
        duplicates : {"error", "sum", "max"}
            What to do with an incidence stored more than once.
        isolated, empty_edges : {"error", "drop", "keep"}
            What to do with vertices in no hyperedge (kept ones get label -1 from `cluster`) and
            with hyperedges without members (kept ones play no part in the walk).

        Raises
        ------
        InputError
            Naming the vertex, the hyperedge, and the remedy.

        Examples
        --------
        >>> Hypergraph.from_incidence([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
        Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
        """
        if hasattr(matrix, "columns") and hasattr(matrix, "index"):
            vertex_ids = list(matrix.index) if vertex_ids is None else vertex_ids
            edge_ids = list(matrix.columns) if edge_ids is None else edge_ids
        if not sp.issparse(matrix):
            matrix = np.asarray(matrix)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise InputError(
                f"an incidence matrix has vertices as rows and hyperedges as columns; this one has shape {matrix.shape}"
            )
        if matrix.dtype.kind not in "biuf" and not (matrix.dtype == object and not sp.issparse(matrix)):
            raise InputError(f"an incidence matrix holds real numbers, this one has dtype {matrix.dtype}")
        vertices = _given_ids(vertex_ids, matrix.shape[0], "vertex")
        edges = _given_ids(edge_ids, matrix.shape[1], "edge")
        gamma = from_matrix(matrix, edges, vertices, duplicates)
        return cls._finish(gamma, edges, vertices, edge_weights, isolated, empty_edges)

    @classmethod
    def from_edges(
        cls,
        edges: Mapping[Any, Iterable[Any]] | Iterable[Iterable[Any]],
        *,
        edge_weights: Mapping[Any, float] | ArrayLike | None = None,
        vertex_ids: Iterable[Any] | None = None,
        duplicates: DuplicatePolicy = "error",
        isolated: AbsencePolicy = "error",
        empty_edges: AbsencePolicy = "error",
    ) -> "Hypergraph":
        """From the members of each hyperedge.

        Parameters
        ----------
        edges : mapping from edge id to members, or sequence of members
            Members are an iterable of vertex ids (gamma = 1) or a mapping from vertex id to gamma.
        vertex_ids : optional
            Fixes the vertices and their order; by default they come in order of first appearance.
        edge_weights, duplicates, isolated, empty_edges
            As in `from_incidence`.

        Examples
        --------
        >>> Hypergraph.from_edges([["a", "b"], {"b": 0.5, "c": 2}])
        Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
        """
        pairs = list(edges.items()) if isinstance(edges, Mapping) else list(enumerate(edges))
        members: list[Any] = []
        weights: list[Any] = []
        sizes = []
        for edge, inside in pairs:
            if isinstance(inside, str | bytes) or not hasattr(inside, "__iter__"):
                raise InputError(
                    f"hyperedge {edge!r}: its members are {inside!r}; give a list or a mapping of vertices"
                )
            listed = list(inside)
            members += listed
            weights += inside.values() if isinstance(inside, Mapping) else [1.0] * len(listed)
            sizes.append(len(listed))
        edge_codes = np.repeat(np.arange(len(pairs)), sizes)
        return cls._from_codes(
            edge_codes,
            id_array([edge for edge, _ in pairs], "edge"),
            members,
            weights,
            ("vertex", vertex_ids, duplicates),
            (edge_weights, isolated, empty_edges),
        )

    @classmethod
    def from_long(
        cls,
        table: Any,
        *,
        vertex: Any = "vertex",
        edge: Any = "edge",
        weight: Any = None,
        edge_weights: Mapping[Any, float] | ArrayLike | None = None,
        vertex_ids: Iterable[Any] | None = None,
        edge_ids: Iterable[Any] | None = None,
        duplicates: DuplicatePolicy = "error",
        isolated: AbsencePolicy = "error",
        empty_edges: AbsencePolicy = "error",
    ) -> "Hypergraph":
        """From a long table with one row per incidence.

        Parameters
        ----------
        table : mapping of columns, or pandas, polars or PyArrow table
        vertex, edge : column names
        weight : column name, optional
            The column of gamma; by default "weight" where there is one, otherwise gamma = 1.
        vertex_ids, edge_ids : optional
            Fix the vertices or hyperedges and their order; by default first appearance.
        edge_weights, duplicates, isolated, empty_edges
            As in `from_incidence`.

        Examples
        --------
        >>> Hypergraph.from_long({"vertex": ["a", "b", "b"], "edge": [1, 1, 2], "weight": [1, 2, 1]})
        Hypergraph(2 vertices, 2 hyperedges, 3 incidences)
        """
        columns = columns_of(table)
        if weight is None and "weight" in columns:
            weight = "weight"
        edge_codes, edges = _codes(pick(columns, edge), edge, edge_ids, "edge")
        members = pick(columns, vertex)
        weights = np.ones(len(members)) if weight is None else pick(columns, weight)
        return cls._from_codes(
            edge_codes,
            edges,
            members,
            weights,
            (vertex, vertex_ids, duplicates),
            (edge_weights, isolated, empty_edges),
        )

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        features: Sequence[Any] | None = None,
        vertex: Any = None,
        missing: MissingPolicy = "error",
        constant: AbsencePolicy = "drop",
        isolated: AbsencePolicy = "error",
    ) -> "Hypergraph":
        """From a table of features: a vertex per row, a hyperedge per (feature, value), gamma = 1.

        Parameters
        ----------
        table : mapping of columns, 2-d array, or pandas, polars or PyArrow table
        features : column names, optional
            The columns to use; by default all but `vertex`.
        vertex : column name, optional
            The column of vertex ids; by default rows are numbered 0, 1, ...
        missing : {"error", "category", "drop"}
            A missing value (None, NaN, null) is refused, makes a hyperedge (feature, None) of its
            own, or puts the row into no hyperedge of that feature.
        constant : {"drop", "keep", "error"}
            What to do with a feature that has a single value: it holds every vertex and tells
            none apart. The paper drops it, and so does this by default.
        isolated
            As in `from_incidence`; rows can only be isolated with `missing="drop"`.

        Every distinct value makes a hyperedge, so bin real-valued columns first.

        Examples
        --------
        >>> h = Hypergraph.from_table({"colour": ["red", "red", "blue"], "legs": [4, 2, 2]})
        >>> h.edge_ids.tolist()
        [('colour', 'red'), ('colour', 'blue'), ('legs', 4), ('legs', 2)]
        """
        if missing not in ("error", "category", "drop"):
            raise InputError(f"missing must be 'error', 'category' or 'drop', not {missing!r}")
        columns = columns_of(table)
        names = [name for name in columns if name != vertex] if features is None else list(features)
        if not names or not len(pick(columns, names[0])):
            raise InputError("the table is empty; it needs at least one feature and one row")
        n_rows = len(columns[names[0]])
        blocks: list[Integers] = []
        sizes: list[Integers] = []
        edges: list[tuple[Any, Any]] = []
        for name in names:
            codes, values = _categories(pick(columns, name), name, missing)
            if len(values) == 1 and constant != "keep":
                if constant == "error":
                    raise InputError(f"column {name!r} has the single value {values[0]!r}; leave it out")
                continue
            order = np.argsort(codes, kind="stable")
            present = order[np.count_nonzero(codes < 0) :]
            blocks.append(present)
            sizes.append(np.bincount(codes[present], minlength=len(values)))
            edges += [(name, value) for value in values.tolist()]
        if not edges:
            raise InputError(
                "every feature has a single value, so no row differs from another; add a feature"
            )
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
        indices = np.concatenate(blocks)
        gamma = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(edges), n_rows))
        vertices = _given_ids(None if vertex is None else pick(columns, vertex), n_rows, "vertex")
        return cls._finish(cast("Incidence", gamma), object_array(edges), vertices, None, isolated, "error")

    # ---- sizes --------------------------------------------------------------------------------

    @property
    def n_vertices(self) -> int:
        """|V|."""
        return len(self.vertex_ids)

    @property
    def n_edges(self) -> int:
        """|E|."""
        return len(self.edge_ids)

    @property
    def n_incidences(self) -> int:
        """m, the sum of the hyperedge sizes."""
        return int(self.gamma.nnz)

    @property
    def edge_sizes(self) -> Integers:
        """|e| for each hyperedge."""
        return np.diff(self.gamma.indptr).astype(np.int64)

    def __repr__(self) -> str:
        return f"Hypergraph({self.n_vertices:,} vertices, {self.n_edges:,} hyperedges, {self.n_incidences:,} incidences)"

    # ---- new hypergraphs from this one --------------------------------------------------------

    def with_gamma(self, values: ArrayLike) -> "Hypergraph":
        """The same members with other weights, one per stored incidence, in the order of `gamma.data`."""
        data = np.array(values, dtype=np.float64)
        if data.shape != (self.n_incidences,):
            raise InputError(
                f"one weight per incidence: {self.n_incidences} are needed, got shape {data.shape}"
            )
        gamma = sp.csr_array((data, self.gamma.indices, self.gamma.indptr), shape=self.gamma.shape)
        return Hypergraph(cast("Incidence", gamma), self.edge_weights, self.vertex_ids, self.edge_ids)

    def restrict(self, vertices: NDArray[Any]) -> "Hypergraph":
        """The sub-hypergraph on some vertices, given by position or mask.

        Hyperedges keep their weight and their remaining members with the same gamma; those that
        lose every member go.
        """
        gamma = sp.csr_array(self.gamma[:, vertices])
        gamma.sort_indices()
        kept = np.diff(gamma.indptr) > 0
        return Hypergraph(
            cast("Incidence", sp.csr_array(gamma[kept])),
            self.edge_weights[kept],
            self.vertex_ids[vertices],
            self.edge_ids[kept],
        )

    def drop_edges(self, edges: NDArray[np.bool_]) -> "Hypergraph":
        """Without the hyperedges marked in the mask; all vertices stay."""
        kept = ~edges
        gamma = sp.csr_array(self.gamma[kept])
        return Hypergraph(
            cast("Incidence", gamma), self.edge_weights[kept], self.vertex_ids, self.edge_ids[kept]
        )

    # ---- shared by the constructors -----------------------------------------------------------

    @classmethod
    def _from_codes(
        cls,
        edge_codes: Integers,
        edges: Ids,
        members: Any,
        weights: Any,
        vertex_rules: tuple[Any, Iterable[Any] | None, DuplicatePolicy],
        rules: tuple[Any, AbsencePolicy, AbsencePolicy],
    ) -> "Hypergraph":
        column, vertex_ids, duplicates = vertex_rules
        vertex_codes, vertices = _codes(members, column, vertex_ids, "vertex")
        if not len(vertices) or not len(edges):
            raise InputError("the input is empty; a hypergraph needs at least one vertex in one hyperedge")
        gamma = from_coordinates(edge_codes, vertex_codes, as_gamma(weights), edges, vertices, duplicates)
        return cls._finish(gamma, edges, vertices, *rules)

    @classmethod
    def _finish(
        cls,
        gamma: Incidence,
        edges: Ids,
        vertices: Ids,
        edge_weights: Any,
        isolated: AbsencePolicy,
        empty_edges: AbsencePolicy,
    ) -> "Hypergraph":
        omega = _edge_weights(edge_weights, edges)
        gamma, kept_edges, kept_vertices = without_absent(gamma, edges, vertices, empty_edges, isolated)
        return cls(gamma, omega[kept_edges], vertices[kept_vertices], edges[kept_edges])


def _given_ids(ids: Iterable[Any] | None, count: int, what: str) -> Ids:
    if ids is None:
        return id_array(np.arange(count), what)
    array = id_array(ids, what)
    if len(array) != count:
        raise InputError(f"{count} {what} ids are needed, {len(array)} were given")
    return array


def _codes(values: Any, column: Any, ids: Iterable[Any] | None, what: str) -> tuple[Integers, Ids]:
    codes, found = factorize(values, str(column))
    if ids is None:
        return codes, found
    known = id_array(ids, what)
    return positions(found.tolist(), known, what)[codes], known


def _categories(values: NDArray[Any], name: Any, missing: MissingPolicy) -> tuple[Integers, Ids]:
    """Codes and values of one feature; code -1 where the row is in no hyperedge of it."""
    if values.dtype.kind in "iu":
        return factorize(values, str(name))
    listed = values.tolist()
    absent = np.fromiter((is_missing(value) for value in listed), dtype=bool, count=len(listed))
    if not absent.any():
        return factorize(object_array(listed), str(name))
    if missing == "error":
        raise InputError(
            f"row {int(np.argmax(absent))}: column {name!r} is missing; fill it, or pass "
            "missing='category' or missing='drop'"
        )
    codes = np.full(len(listed), -1, dtype=np.int64)
    present = np.flatnonzero(~absent)
    codes[present], ids = factorize(object_array([listed[i] for i in present]), str(name))
    if missing == "category":
        codes[absent] = len(ids)
        ids = object_array([*ids.tolist(), None])
    return codes, ids


def _edge_weights(values: Any, edge_ids: Ids) -> Floats:
    if values is None:
        return np.ones(len(edge_ids))
    if isinstance(values, Mapping):
        known = set(edge_ids.tolist())
        unknown = [edge for edge in values if edge not in known]
        absent = [edge for edge in edge_ids.tolist() if edge not in values]
        for edge, fault in ((unknown, "is not in the hypergraph"), (absent, "has no weight")):
            if edge:
                raise InputError(
                    f"edge_weights: hyperedge {edge[0]!r} {fault}; give one weight per hyperedge"
                )
        values = [values[edge] for edge in edge_ids.tolist()]
    omega = np.array(as_gamma(values))
    if omega.shape != (len(edge_ids),):
        raise InputError(f"edge_weights: {len(edge_ids)} are needed, got shape {omega.shape}")
    bad = ~(np.isfinite(omega) & (omega > 0))
    if bad.any():
        raise InputError(
            f"hyperedge {named(edge_ids, bad)} has weight {omega[bad][0]}; hyperedge weights must be "
            "positive and finite, leave the hyperedge out instead"
        )
    return omega
