"""HyperNetX: gamma is the cell weight, omega the edge weight."""

from typing import Any

import numpy as np

from hyperclus._runtime.optional import library
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.messages import shown
from hyperclus.io.convert.shared import attributes, check_kind
from hyperclus.io.losses import warn_losses
from hyperclus.typing import AbsencePolicy, Ids


def to_hypernetx(h: Hypergraph) -> Any:
    """Convert to a `hypernetx.Hypergraph` without loss.

    HyperNetX does not count vertices in no hyperedge and hyperedges without members: they are only in its
    tables of node and edge properties, where `from_hypernetx` finds them. Its own random walk uses 1 + the
    standard deviation of the hyperedge's gamma instead of omega.

    Raises
    ------
    InputError
        For ids other than text and integers, with which HyperNetX fails.

    Examples
    --------
    >>> h = Hypergraph.from_edges({"e": {"a": 2, "b": 1}}, edge_weights=[3])
    >>> to_hypernetx(h).dataframe[["edges", "nodes", "weight"]]  # doctest: +SKIP
      edges nodes  weight
    0     e     a     2.0
    1     e     b     1.0
    """
    check_hypergraph(h)
    hypernetx = library("hypernetx", "HyperNetX", "to_hypernetx", "peers")
    pandas = library("pandas", "pandas", "to_hypernetx", "peers")
    _check_ids(h.vertex_ids, "vertex")
    _check_ids(h.edge_ids, "edge")
    cells = {
        "edges": np.repeat(h.edge_ids, h.edge_sizes),
        "nodes": h.vertex_ids[h.gamma.indices],
        "weight": h.gamma.data.copy(),
    }
    return hypernetx.Hypergraph(
        pandas.DataFrame(cells),
        edge_properties=pandas.DataFrame({"uid": h.edge_ids, "weight": h.edge_weights}),
        node_properties=pandas.DataFrame({"uid": h.vertex_ids}),
    )


def from_hypernetx(
    other: Any, *, isolated: AbsencePolicy = "error", empty_edges: AbsencePolicy = "error"
) -> Hypergraph:
    """Convert from a `hypernetx.Hypergraph`: gamma is the cell weight, omega the edge weight.

    Parameters
    ----------
    other : hypernetx.Hypergraph
    isolated, empty_edges
        As in `Hypergraph.from_incidence`, for what only the tables of node and edge properties name. Parts
        of a larger hypergraph may have some; "drop" removes them.

    Raises
    ------
    InputError
        For invalid weights, and for the policies above.

    Examples
    --------
    >>> import hypernetx  # doctest: +SKIP
    >>> from_hypernetx(hypernetx.Hypergraph({"e": ["a", "b"], "f": ["b", "c"]}))  # doctest: +SKIP
    Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
    """
    hypernetx = library("hypernetx", "HyperNetX", "from_hypernetx", "peers")
    check_kind(other, hypernetx.Hypergraph, "hypernetx.Hypergraph")
    cells = other.dataframe
    nodes, edges = other.nodes.property_store.properties, other.edges.property_store.properties
    mixed = (
        other.nodes.property_store is other.edges.property_store
    )  # one table for both does not say which is which
    vertex_ids, edge_ids = (
        list(dict.fromkeys([*([] if mixed else table.index.tolist()), *cells[column].tolist()]))
        for table, column in ((nodes, "nodes"), (edges, "edges"))
    )
    omega = dict(zip(edges.index.tolist(), edges["weight"].tolist(), strict=True))
    h = Hypergraph.from_long(
        {name: cells[name].tolist() for name in ("nodes", "edges", "weight")},
        vertex="nodes",
        edge="edges",
        edge_weights=[omega.get(edge, other.edges.default_weight) for edge in edge_ids],
        vertex_ids=vertex_ids,
        edge_ids=edge_ids,
        isolated=isolated,
        empty_edges=empty_edges,
    )
    weighted = not mixed and (nodes["weight"] != 1).any()
    lost = ["the node weights" if weighted else ""]
    for kind, table in {"node": nodes, "edge": edges, "cell": cells}.items():
        records = [dict.fromkeys(table.columns), *table["misc_properties"]]
        lost.append(attributes(kind, records, ("weight", "misc_properties", "edges", "nodes")))
    warn_losses("a Hypergraph", lost)
    return h


def _check_ids(ids: Ids, what: str) -> None:
    for value in () if ids.dtype.kind == "i" else ids.tolist():
        if type(value) not in (int, str):
            raise InputError(
                f"{what} id {shown(value)} is neither text nor an integer, as HyperNetX needs; rename it: "
                f"dataclasses.replace(h, {what}_ids=...)"
            )
