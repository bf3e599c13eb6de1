"""The hypergraph with edge-dependent vertex weights (EDVW): an immutable, valid value."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hyperclus._runtime.arrays import blocks, read_only
from hyperclus._runtime.content_digest import content_digest
from hyperclus.errors import InputError
from hyperclus.hypergraph import incidence, tables
from hyperclus.hypergraph.binning import DEFAULT_BINS, BinsByColumn
from hyperclus.hypergraph.features import Columns, feature_edges, feature_names
from hyperclus.hypergraph.ids import factorize, ids_or_range, recode
from hyperclus.hypergraph.incidence import Policies, PolicyOptions
from hyperclus.hypergraph.messages import USUAL, Nouns, count, row_of, shown
from hyperclus.hypergraph.mixture import Mixture
from hyperclus.typing import (
    AbsencePolicy,
    Booleans,
    DuplicatePolicy,
    Floats,
    Ids,
    Incidence,
    Integers,
    MissingPolicy,
)

KEPT = Policies(isolated="keep", empty_edges="drop")  # by `restrict`


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class Hypergraph:
    """H = (V, E, omega, gamma): hyperedge weights omega(e) > 0, vertex weights gamma_e(v) > 0.

    Definition 4 of the paper. Build one with `from_incidence`, `from_edges`, `from_long` or `from_table`.
    These never change their input and never guess: invalid input raises an `InputError` that says where the
    problem is and what to do. A hypergraph is immutable: it owns its arrays, and they are read-only.

    Attributes
    ----------
    gamma : csr_array of shape (n_edges, n_vertices)
        R of the paper: gamma_e(v) is stored if v is a member of e. Indices are int32 unless there are more
        than 2^31 - 1 incidences, vertices or hyperedges.
    edge_weights : array of shape (n_edges,)
        omega(e).
    vertex_ids, edge_ids : arrays
        Names of the columns and rows of gamma: unique, hashable, not missing. Integers are stored as int64,
        everything else as objects; 1 and "1" are different ids.
    nouns : Nouns
        What to call a vertex and a hyperedge in tables and reports; see `with_nouns`.
    columns : mapping of column name to Binning or None; or None
        Of a table with a row per vertex, the columns that have hyperedges, and the bins of those that have
        bins, so that `Partition.predict` finds the hyperedges of new rows.
    mixture : Mixture or None
        How steps are shared between the hyperedges and the neighbourhoods of similar vertices that follow
        them; see `with_attributes`.

    Examples
    --------
    >>> Hypergraph.from_edges({"paper1": {"ann": 2, "bob": 1}, "paper2": ["bob", "eve"]})
    Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
    """

    gamma: Incidence
    edge_weights: Floats
    vertex_ids: Ids
    edge_ids: Ids
    nouns: Nouns = USUAL
    columns: Columns | None = None
    mixture: Mixture | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.nouns, Nouns):
            raise InputError(f"nouns must be Nouns, not {shown(self.nouns)}; use with_nouns")
        if not (self.columns is None or isinstance(self.columns, Mapping)):
            raise InputError(f"columns must be those of from_table, not {shown(self.columns)}; leave it out")
        if not (self.mixture is None or isinstance(self.mixture, Mixture)):
            raise InputError(f"mixture must be a Mixture, not {shown(self.mixture)}; leave it out")
        if not isinstance(self.gamma, sp.csr_array):
            raise InputError("gamma must be a csr_array; use Hypergraph.from_incidence for other matrices")
        gamma = sp.csr_array(incidence.as_matrix(self.gamma), dtype=np.float64, copy=True)
        vertex_ids = ids_or_range(self.vertex_ids, gamma.shape[1], "vertex")
        edge_ids = ids_or_range(self.edge_ids, gamma.shape[0], "edge")
        omega = incidence.as_edge_weights(self.edge_weights, edge_ids).copy()
        gamma = incidence.canonical(gamma, edge_ids, vertex_ids, "error")
        if self.mixture is not None and self.mixture.n_neighborhoods >= len(edge_ids):
            raise InputError(
                f"of {len(edge_ids)} hyperedges, {self.mixture.n_neighborhoods} cannot be neighbourhoods"
            )
        self._set(gamma, omega, vertex_ids, edge_ids, self.nouns, self.columns, self.mixture)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.gamma, self.edge_weights, self.vertex_ids, self.edge_ids)
        return Hypergraph, (*parts, self.nouns, self.columns, self.mixture)

    @classmethod
    def from_incidence(
        cls,
        matrix: Any,
        *,
        edge_weights: Mapping[Any, float] | ArrayLike | None = None,
        vertex_ids: Iterable[Any] | None = None,
        edge_ids: Iterable[Any] | None = None,
        duplicates: DuplicatePolicy = "error",
        isolated: AbsencePolicy = "keep",
        empty_edges: AbsencePolicy = "keep",
    ) -> "Hypergraph":
        """Build a hypergraph from an incidence matrix, one row per vertex and one column per hyperedge.

        Parameters
        ----------
        matrix : sparse or dense, shape (n_vertices, n_edges)
            Entry (v, e) is gamma_e(v); zero, stored or not, means that v is not in e. The output of
            scikit-learn's vectorizers and encoders has this form. The column names and the index of a data
            frame become ids. The matrix is copied.
        edge_weights : mapping from edge id, or sequence of length n_edges, optional
            omega(e) > 0; 1 by default. A mapping, or the index of a pandas Series, names every hyperedge.
        vertex_ids, edge_ids : optional
            Unique, hashable, not missing; 0, 1, ... by default.
        duplicates : {"error", "sum", "max"}
            What to do with repeated incidences: raise, add their weights, or take the largest weight.
        isolated, empty_edges : {"keep", "drop", "error"}
            What to do with vertices in no hyperedge (if kept, `cluster` labels them -1) and with hyperedges
            without members (if kept, the walk ignores them).

        Raises
        ------
        InputError
            Naming the vertex, the hyperedge, and the remedy: for weights that are negative, NaN, infinite or
            not real numbers; for the policies above; and for ids that are missing, repeated or unhashable,
            or of which there are too many or too few.

        Examples
        --------
        >>> Hypergraph.from_incidence([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
        Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
        """
        policies = Policies(duplicates, isolated, empty_edges)
        matrix, index, names = tables.unframed(matrix)
        matrix = incidence.as_matrix(matrix, names)
        vertices = ids_or_range(index if vertex_ids is None else vertex_ids, matrix.shape[0], "vertex")
        edges = ids_or_range(names if edge_ids is None else edge_ids, matrix.shape[1], "edge")
        gamma = incidence.from_matrix(matrix, edges, vertices, duplicates)
        return cls.from_canonical(gamma, edges, vertices, edge_weights, policies)

    @classmethod
    def from_edges(
        cls,
        edges: Mapping[Any, Iterable[Any]] | Iterable[Iterable[Any]],
        *,
        edge_weights: Mapping[Any, float] | ArrayLike | None = None,
        vertex_ids: Iterable[Any] | None = None,
        **policies: Unpack[PolicyOptions],
    ) -> "Hypergraph":
        """Build a hypergraph from the members of each hyperedge.

        Parameters
        ----------
        edges : mapping from edge id to members, or sequence of members
            Members are an iterable of vertex ids (gamma = 1) or a mapping from vertex id to gamma;
            gamma = 0 means: not a member.
        vertex_ids : optional
            The vertices in the order they shall have; by default the order of first appearance, which is
            arbitrary for sets of strings.
        edge_weights, **policies
            As in `from_incidence`.

        Examples
        --------
        >>> Hypergraph.from_edges([["a", "b"], {"b": 0.5, "c": 2}])
        Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
        """
        chosen = Policies(**policies)
        names, sizes, members, weights = tables.edge_members(edges)
        edge_codes = np.repeat(np.arange(len(names)), sizes)

        def locate(position: int) -> str:
            edge = int(edge_codes[position])
            return f"hyperedge {shown(names[edge])}, member {position - int(sizes[:edge].sum())}"

        vertex_codes, vertices = recode(*factorize(members, "vertex", locate), vertex_ids, "vertex")
        numbers = incidence.as_numbers(weights, locate)
        codes = (edge_codes, vertex_codes)
        gamma = incidence.from_coordinates(*codes, numbers, names, vertices, chosen.duplicates)
        return cls.from_canonical(gamma, names, vertices, edge_weights, chosen)

    @classmethod
    def from_long(
        cls,
        table: Any,
        *,
        vertex: Any = "vertex",
        edge: Any = "edge",
        weight: Any = None,
        edge_weight: Any = None,
        edge_weights: Mapping[Any, float] | ArrayLike | None = None,
        vertex_ids: Iterable[Any] | None = None,
        edge_ids: Iterable[Any] | None = None,
        **policies: Unpack[PolicyOptions],
    ) -> "Hypergraph":
        """Build a hypergraph from a long table, one row per incidence.

        Parameters
        ----------
        table : mapping of columns, 2-d array, or pandas, polars or PyArrow table
            The columns of an array are named 0, 1, ...
        vertex, edge : column names
        weight : column name, optional
            The column of gamma; by default "weight" if there is one, otherwise gamma = 1.
            False: gamma = 1 in any case. A row with gamma = 0 makes no member.
        edge_weight : column name, optional
            The column of omega, the same in all rows of a hyperedge; by default "edge_weight" if
            there is one and `edge_weights` is not given. False: no such column.
        vertex_ids, edge_ids : optional
            The vertices or hyperedges in the order they shall have; by default that of first appearance.
        edge_weights, **policies
            As in `from_incidence`.

        Examples
        --------
        >>> Hypergraph.from_long({"vertex": ["a", "b", "b"], "edge": [1, 1, 2], "weight": [1, 2, 1]})
        Hypergraph(2 vertices, 2 hyperedges, 3 incidences)
        """
        chosen = Policies(**policies)
        columns = tables.columns_of(table)
        edge_codes, edges = recode(*tables.column_codes(columns, edge), edge_ids, "edge")
        vertex_codes, vertices = recode(*tables.column_codes(columns, vertex), vertex_ids, "vertex")
        weight = tables.default_column(weight, "weight", columns, (vertex, edge))
        weights = np.ones(len(edge_codes)) if weight is None else _weights(columns, weight)
        unused = columns if edge_weights is None else ()
        edge_weight = tables.default_column(edge_weight, "edge_weight", unused, (vertex, edge, weight))
        if edge_weight is not None:
            if edge_weights is not None:
                raise InputError("omega is given twice, as a column and as edge_weights; leave one out")
            edge_weights = incidence.constant_within(_weights(columns, edge_weight), edge_codes, edges)
        codes = (edge_codes, vertex_codes)
        nouns = Nouns.of_columns(vertex, edge)
        gamma = incidence.from_coordinates(*codes, weights, edges, vertices, chosen.duplicates, nouns)
        del codes, edge_codes, vertex_codes, weights
        return cls.from_canonical(gamma, edges, vertices, edge_weights, chosen, nouns)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        features: Sequence[Any] | None = None,
        exclude: Sequence[Any] = (),
        vertex: Any = None,
        bins: BinsByColumn = DEFAULT_BINS,
        order: Mapping[Any, Sequence[Any]] | None = None,
        missing: MissingPolicy = "error",
        constant: AbsencePolicy = "drop",
        isolated: AbsencePolicy = "keep",
    ) -> "Hypergraph":
        """Build a hypergraph from features: vertices are rows, hyperedges are (feature, value), gamma = 1.

        Every distinct value is a hyperedge; close numbers share one, see `bins`.

        Parameters
        ----------
        table
            As in `from_long`.
        features, exclude : column names, optional
            The columns to use (by default all but `vertex`), or those to leave out, such as known classes.
        vertex : column name, optional
            The column of vertex ids; by default the index of a pandas data frame, or 0, 1, ...
        bins : int, rule, Bins, mapping of column name to these, or None
            How columns with more than 10 different numbers become hyperedges (feature, bin), see `Bins`: 5
            (the default) means five intervals of equal width, "quantile" five with equally many rows. Text,
            categories, booleans and dates have no bins. A mapping is for the columns it names, however few
            numbers they have; None there means that each number is a hyperedge, as for codes. The other
            columns have the default. None: each number is a hyperedge in all columns.
        order : mapping of column name to values, optional
            The values of a column in their order, such as answers from "disagree" to "agree". Their
            hyperedges are in this order, and `bins` for the column puts neighbours into one.
        missing : {"error", "category", "drop"}
            A missing value (None, NaN, null) raises, is a hyperedge (feature, None) of its own, or puts the
            row into no hyperedge of that feature.
        constant : {"drop", "keep", "error"}
            What to do with a feature that has the same value in all rows; the paper drops it.
        isolated
            As in `from_incidence`; rows can only be isolated with `missing="drop"`.

        Raises
        ------
        InputError
            Naming the row and the column: for the policies above, for infinite numbers in a column with
            bins, and for a column named in `bins` that holds other values than numbers.

        Examples
        --------
        >>> table = {"colour": ["red", "red", "blue"], "size": [0.5, 9.1, 10.5]}
        >>> Hypergraph.from_table(table, bins={"size": 2}).edge_ids.tolist()
        [('colour', 'red'), ('colour', 'blue'), ('size', '0.5 to 5.5'), ('size', '5.5 to 10.5')]
        """
        columns = tables.columns_of(table)
        names = feature_names(columns, features, exclude, vertex, partial(tables.find_column, columns))
        edge_codes, rows, weights, edges, used = feature_edges(columns, names, missing, constant, bins, order)
        ids = tables.row_names(table) if vertex is None else tables.pick(columns, vertex)
        vertices = ids_or_range(ids, len(columns[names[0]]), "vertex")
        gamma = incidence.from_coordinates(edge_codes, rows, weights, edges, vertices, "error")
        return cls.from_canonical(gamma, edges, vertices, None, Policies(isolated=isolated), USUAL, used)

    @property
    def n_vertices(self) -> int:
        """Number of vertices, |V|."""
        return len(self.vertex_ids)

    @property
    def n_edges(self) -> int:
        """Number of hyperedges, |E|."""
        return len(self.edge_ids)

    @property
    def n_incidences(self) -> int:
        """Number of incidences m, the sum of the hyperedge sizes."""
        return int(self.gamma.nnz)

    @property
    def edge_sizes(self) -> Integers:
        """Size |e| of each hyperedge."""
        return np.diff(self.gamma.indptr).astype(np.int64)

    @property
    def covered(self) -> Booleans:
        """Mask of the vertices that are in some hyperedge."""
        mask = np.zeros(self.n_vertices, dtype=bool)
        for block in blocks(self.n_incidences):
            mask[self.gamma.indices[block]] = True
            if mask.all():
                break
        return mask

    def content_key(self) -> bytes:
        """Return a hash of everything that results depend on, which the ids are not.

        It is the same in every process and on every machine of the same byte order. Each call takes O(m).
        """
        gamma, mixed = self.gamma, self.mixture
        parts = gamma.shape, gamma.data, gamma.indices, gamma.indptr, self.edge_weights
        return content_digest(parts if mixed is None else (*parts, mixed.n_neighborhoods, mixed.beta))

    def __repr__(self) -> str:
        sizes = self.nouns.count_vertices(self.n_vertices), self.nouns.count_hyperedges(self.n_edges)
        return f"Hypergraph({', '.join(sizes)}, {count(self.n_incidences, 'incidence')})"

    def _repr_html_(self) -> str:
        """Return the sizes and the first hyperedges as HTML, for notebooks."""
        from hyperclus.report.notebook import hypergraph_table

        return hypergraph_table(self)

    def with_nouns(self, *, vertex: str | None = None, edge: str | None = None) -> "Hypergraph":
        """Return the same hypergraph with other words for a vertex and a hyperedge.

        Tables and reports use them. The names of the columns of a long table are its words.

        >>> Hypergraph.from_edges([["ann", "bob"]]).with_nouns(vertex="customer", edge="basket")
        Hypergraph(2 customers, 1 basket, 2 incidences)
        """
        old = self.nouns
        nouns = Nouns(old.vertex if vertex is None else vertex, old.edge if edge is None else edge)
        parts = (self.gamma, self.edge_weights, self.vertex_ids, self.edge_ids)
        return Hypergraph.from_checked_parts(*parts, nouns, self.columns, self.mixture)

    def with_gamma(self, values: ArrayLike) -> "Hypergraph":
        """Return the same members with other weights, one per incidence in the order of `gamma.data`.

        >>> h = Hypergraph.from_edges([["a", "b"], ["b", "c"]])
        >>> h.with_gamma([1, 2, 3, 4]).gamma.toarray().tolist()
        [[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]]
        """
        data = incidence.as_numbers(values, lambda position: f"incidence {position}").copy()
        if data.shape != (self.n_incidences,):
            needed = f"{self.n_incidences} weights are needed, one per incidence"
            raise InputError(f"{needed}; these have shape {data.shape}")
        gamma = sp.csr_array((data, self.gamma.indices, self.gamma.indptr), shape=self.gamma.shape)
        incidence.check_gamma(gamma, self.edge_ids, self.vertex_ids, False, self.nouns)
        parts = (gamma, self.edge_weights, self.vertex_ids, self.edge_ids)
        return Hypergraph.from_checked_parts(*parts, self.nouns, self.columns, self.mixture)

    def with_edge_weights(self, edge_weights: Mapping[Any, float] | ArrayLike) -> "Hypergraph":
        """Return the same members with other omegas: a mapping from edge id, or one per hyperedge."""
        omega = incidence.as_edge_weights(edge_weights, self.edge_ids).copy()
        parts = (self.gamma, omega, self.vertex_ids, self.edge_ids)
        return Hypergraph.from_checked_parts(*parts, self.nouns, self.columns, self.mixture)

    def restrict(self, vertices: NDArray[Any]) -> "Hypergraph":
        """Return the sub-hypergraph on some vertices, given by positions (in this order) or by a mask.

        Hyperedges keep their weight and the gamma of their remaining members; empty ones are dropped.

        >>> h = Hypergraph.from_edges({"e": ["a", "b"], "f": ["b", "c"]})
        >>> h.restrict([2]).edge_ids.tolist()
        ['f']
        """
        chosen = incidence.as_positions(vertices, self.n_vertices)
        gamma = self.gamma[:, chosen]
        gamma.sort_indices()
        gamma, kept, _ = incidence.without_absent(gamma, self.edge_ids, self.vertex_ids, KEPT)
        parts = (gamma, self.edge_weights[kept], self.vertex_ids[chosen], self.edge_ids[kept])
        return Hypergraph.from_checked_parts(
            *parts, self.nouns, self.columns, self._mixture_of(np.flatnonzero(kept))
        )

    def drop_edges(self, edges: Booleans) -> "Hypergraph":
        """Return the hypergraph without the hyperedges in a mask; all vertices stay, even isolated ones.

        >>> h = Hypergraph.from_edges({"e": ["a", "b"], "f": ["b", "c"]})
        >>> h.drop_edges(np.array([True, False])).edge_ids.tolist()
        ['f']
        """
        mask = np.asarray(edges)
        if mask.dtype != bool or mask.shape != (self.n_edges,):
            raise InputError(f"edges must be a mask of {self.n_edges} booleans, one per hyperedge")
        kept = np.flatnonzero(~mask)
        parts = (self.gamma[kept], self.edge_weights[kept], self.vertex_ids, self.edge_ids[kept])
        return Hypergraph.from_checked_parts(*parts, self.nouns, self.columns, self._mixture_of(kept))

    @classmethod
    def from_canonical(
        cls,
        gamma: Incidence,
        edges: Ids,
        vertices: Ids,
        edge_weights: Any,
        policies: Policies,
        nouns: Nouns = USUAL,
        columns: Columns | None = None,
    ) -> "Hypergraph":
        """Check omega and apply the policies to a matrix that `canonical` returned; for internal use."""
        omega = incidence.as_edge_weights(edge_weights, edges)
        gamma, kept_edges, kept_vertices = incidence.without_absent(gamma, edges, vertices, policies, nouns)
        parts = (gamma, omega[kept_edges], vertices[kept_vertices], edges[kept_edges])
        return cls.from_checked_parts(*parts, nouns, columns)

    @classmethod
    def from_checked_parts(
        cls,
        gamma: Incidence,
        omega: Floats,
        vertices: Ids,
        edges: Ids,
        nouns: Nouns = USUAL,
        columns: Columns | None = None,
        mixture: Mixture | None = None,
    ) -> "Hypergraph":
        """Build a hypergraph from checked parts that nobody else holds, without copies; for internal use."""
        hypergraph = object.__new__(cls)
        hypergraph._set(gamma, omega, vertices, edges, nouns, columns, mixture)
        return hypergraph

    def _mixture_of(self, kept: Integers) -> Mixture | None:
        """The mixture if only these hyperedges are kept."""
        return None if self.mixture is None else self.mixture.of_some(self.n_edges, kept)

    def _set(self, gamma: Incidence, omega: Floats, vertices: Ids, edges: Ids, *others: Any) -> None:
        for array in (gamma.data, gamma.indices, gamma.indptr):
            array.flags.writeable = False
        parts = (gamma, read_only(omega), read_only(vertices), read_only(edges), *others)
        for field, part in zip(fields(self), parts, strict=True):
            object.__setattr__(self, field.name, part)


def _weights(columns: Mapping[Any, Any], name: Any) -> Floats:
    return incidence.as_numbers(tables.pick(columns, name), row_of(name))


def check_incidences(hypergraph: Hypergraph) -> None:
    """Raise an `InputError` if no vertex is in a hyperedge, so that there is no walk."""
    if not hypergraph.n_incidences:
        raise InputError(
            "the hypergraph has no incidences, so there is nothing to walk on or to cluster; put at least "
            "one vertex into a hyperedge"
        )


def check_hypergraph(value: object) -> None:
    """Raise an `InputError` unless the value is a hypergraph."""
    if isinstance(value, Hypergraph):
        return
    library = type(value).__module__.partition(".")[0]
    name = ("" if library == "builtins" else f"{library}.") + type(value).__name__
    what = f"a {name}; hc.as_hypergraph converts what holds a hypergraph"
    if isinstance(value, str | os.PathLike):
        what = "the name of a file; hc.read reads a file, and hc.cluster_files clusters Parquet files"
    raise InputError(f"a Hypergraph is needed, not {what}")
