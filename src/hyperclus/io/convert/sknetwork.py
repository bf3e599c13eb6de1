"""scikit-network: a biadjacency matrix with names of its rows and columns."""

from collections.abc import Mapping
from typing import Any

import scipy.sparse as sp

from hyperclus._runtime.optional import library
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.typing import AbsencePolicy, DuplicatePolicy


def to_sknetwork(h: Hypergraph) -> Any:
    """Convert to a `sknetwork.data.Dataset`, as its own loaders return them, without loss.

    `biadjacency`, a CSR matrix of shape (n_vertices, n_edges), holds gamma, `names_row` and `names_col` the
    ids. omega is added as `edge_weights`, which scikit-network itself does not use.

    Examples
    --------
    >>> h = Hypergraph.from_edges({"e": {"a": 2, "b": 1}}, edge_weights=[3])
    >>> to_sknetwork(h).biadjacency.toarray().tolist()  # doctest: +SKIP
    [[2.0], [1.0]]
    """
    check_hypergraph(h)
    data = library("sknetwork.data", "scikit-network", "to_sknetwork", "peers")
    return data.Dataset(
        biadjacency=sp.csr_matrix(h.gamma.T.tocsr()),
        names_row=h.vertex_ids.copy(),
        names_col=h.edge_ids.copy(),
        edge_weights=h.edge_weights.copy(),
    )


def from_sknetwork(
    data: Any,
    *,
    duplicates: DuplicatePolicy = "error",
    isolated: AbsencePolicy = "error",
    empty_edges: AbsencePolicy = "error",
) -> Hypergraph:
    """Convert from a bipartite graph of scikit-network: rows are vertices, columns hyperedges, entries gamma.

    Parameters
    ----------
    data : sknetwork.data.Dataset
        With `biadjacency` and, optionally, `names_row`, `names_col` and `edge_weights` (omega); others are
        ignored. For a matrix alone use `Hypergraph.from_incidence`.
    duplicates, isolated, empty_edges
        As in `Hypergraph.from_incidence`.

    Raises
    ------
    InputError
        For a data set without a biadjacency matrix, and as in `Hypergraph.from_incidence`.

    Examples
    --------
    >>> from_sknetwork({"biadjacency": [[2, 0], [1, 1]], "names_row": ["a", "b"]})
    Hypergraph(2 vertices, 2 hyperedges, 3 incidences)
    """
    if not isinstance(data, Mapping) or "biadjacency" not in data:
        raise InputError(
            "expected a scikit-network Dataset with a biadjacency matrix; for a matrix use "
            "Hypergraph.from_incidence"
        )
    return Hypergraph.from_incidence(
        data["biadjacency"],
        edge_weights=data.get("edge_weights"),
        vertex_ids=data.get("names_row"),
        edge_ids=data.get("names_col"),
        duplicates=duplicates,
        isolated=isolated,
        empty_edges=empty_edges,
    )
