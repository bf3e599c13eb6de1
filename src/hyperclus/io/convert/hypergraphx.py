"""Hypergraphx: omega is the weight of a hyperedge, gamma its incidence metadata "weight"."""

from typing import Any

from hyperclus._runtime.optional import library
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.messages import shown
from hyperclus.io.convert.shared import attributes, check_kind, hyperedges, without_parallel
from hyperclus.io.losses import warn_losses
from hyperclus.typing import AbsencePolicy


def to_hypergraphx(h: Hypergraph) -> Any:
    """Convert to a weighted `hypergraphx.Hypergraph`; hyperedges with the same members are merged.

    Hypergraphx identifies a hyperedge by the sorted tuple of its members. Its id becomes the edge metadata
    "edge", gamma the incidence metadata "weight". Hyperedges without members become named empty edges, with
    omega as "weight". Merging keeps the first id, and the walk with alpha = 0 does not change.

    Raises
    ------
    InputError
        If the members of a hyperedge cannot be sorted, such as 1 and "a".

    Examples
    --------
    >>> h = Hypergraph.from_edges({"e": {"a": 2, "b": 1}}, edge_weights=[3])
    >>> to_hypergraphx(h).get_weights(asdict=True)  # doctest: +SKIP
    {('a', 'b'): 3.0}
    """
    check_hypergraph(h)
    other = library("hypergraphx", "Hypergraphx", "to_hypergraphx", "peers").Hypergraph(weighted=True)
    h, lost = without_parallel(h)
    other.add_nodes(h.vertex_ids.tolist())
    for edge, omega, gamma in hyperedges(h):
        if not gamma:
            other.add_empty_edge(edge, {"weight": omega})
            continue
        try:
            members = tuple(sorted(gamma))
        except TypeError:
            raise InputError(
                f"Hypergraphx sorts members, and those of hyperedge {shown(edge)} cannot be sorted; rename "
                "the vertices so that all are text or all are numbers"
            ) from None
        other.add_edge(members, omega, {"edge": edge})
        for vertex, weight in gamma.items():
            other.set_incidence_metadata(members, vertex, {"weight": weight})
    warn_losses("Hypergraphx", [lost])
    return other


def from_hypergraphx(
    other: Any, *, isolated: AbsencePolicy = "error", empty_edges: AbsencePolicy = "error"
) -> Hypergraph:
    """Convert from a `hypergraphx.Hypergraph`: omega is the weight, gamma the incidence metadata "weight".

    gamma is 1 by default. Edge ids are the metadata "edge" if all hyperedges have it, otherwise 0, 1, ...;
    named empty edges are last, in the order in which they were added.

    Parameters
    ----------
    other : hypergraphx.Hypergraph
    isolated, empty_edges
        As in `Hypergraph.from_incidence`.

    Raises
    ------
    InputError
        For a directed, temporal or multiplex hypergraph, and invalid weights.

    Examples
    --------
    >>> import hypergraphx  # doctest: +SKIP
    >>> from_hypergraphx(hypergraphx.Hypergraph([(1, 2), (2, 3, 4)]))  # doctest: +SKIP
    Hypergraph(4 vertices, 2 hyperedges, 5 incidences)
    """
    hypergraphx = library("hypergraphx", "Hypergraphx", "from_hypergraphx", "peers")
    check_kind(other, hypergraphx.Hypergraph, "hypergraphx.Hypergraph")
    edges = other.get_edges(metadata=True)
    cells = other.get_all_incidences_metadata()
    empty = other.expose_data_structures().get("empty_edges", {})
    has_ids = all("edge" in record for record in edges.values())
    ids = [record["edge"] for record in edges.values()] if has_ids else list(range(len(edges)))
    table: dict[str, list[Any]] = {"vertex": [], "edge": [], "weight": []}
    for edge, members in zip(ids, edges, strict=True):
        for vertex in members:
            table["vertex"].append(vertex)
            table["edge"].append(edge)
            table["weight"].append(cells.get((members, vertex), {}).get("weight", 1.0))
    h = Hypergraph.from_long(
        table,
        edge_weights=[
            *other.get_weights(),
            *((record or {}).get("weight", 1.0) for record in empty.values()),
        ],
        vertex_ids=other.get_nodes(),
        edge_ids=[*ids, *empty],
        isolated=isolated,
        empty_edges=empty_edges,
    )
    lost = (
        attributes("node", other.get_all_nodes_metadata().values()),
        attributes("edge", edges.values(), ("edge",) if has_ids else ()),
        attributes("incidence", cells.values(), ("weight", "edge", "node")),
    )
    warn_losses("a Hypergraph", lost)
    return h
