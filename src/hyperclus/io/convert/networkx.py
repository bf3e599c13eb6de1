"""NetworkX: the bipartite graph of vertices and hyperedges."""

from typing import Any

from hyperclus._runtime.optional import library
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.messages import shown
from hyperclus.io.convert.shared import attributes, check_kind, hyperedges
from hyperclus.io.losses import warn_losses
from hyperclus.typing import AbsencePolicy, DuplicatePolicy


def to_networkx(h: Hypergraph) -> Any:
    """Convert to the bipartite `networkx.Graph` of vertices and hyperedges, without loss.

    Nodes are ("vertex", id) with bipartite=0 and ("edge", id) with bipartite=1 and weight=omega, because a
    vertex and a hyperedge may have the same id. An incidence is an edge with weight=gamma.

    Examples
    --------
    >>> h = Hypergraph.from_edges({0: {0: 2, 1: 1}})
    >>> list(to_networkx(h).edges(data="weight"))  # doctest: +SKIP
    [(('vertex', 0), ('edge', 0), 2.0), (('vertex', 1), ('edge', 0), 1.0)]
    """
    check_hypergraph(h)
    graph = library("networkx", "NetworkX", "to_networkx", "peers").Graph()
    graph.add_nodes_from((("vertex", vertex) for vertex in h.vertex_ids.tolist()), bipartite=0)
    for edge, omega, gamma in hyperedges(h):
        graph.add_node(("edge", edge), bipartite=1, weight=omega)
        graph.add_weighted_edges_from((("vertex", v), ("edge", edge), weight) for v, weight in gamma.items())
    return graph


def from_networkx(
    graph: Any,
    *,
    vertices: int = 0,
    duplicates: DuplicatePolicy = "error",
    isolated: AbsencePolicy = "error",
    empty_edges: AbsencePolicy = "error",
) -> Hypergraph:
    """Convert from a bipartite `networkx.Graph` whose nodes have an attribute bipartite, 0 or 1.

    The attribute weight of an edge is gamma, that of a hyperedge node omega; both are 1 by default. The nodes
    are the ids, unless all of them are named as `to_networkx` does.

    Parameters
    ----------
    graph : networkx.Graph or MultiGraph
    vertices : {0, 1}
        The side of the vertices: 0 in graphs from XGI and from this library, 1 in those from HyperNetX.
    duplicates
        What to do with the parallel edges of a MultiGraph, as in `Hypergraph.from_incidence`.
    isolated, empty_edges
        As in `Hypergraph.from_incidence`.

    Raises
    ------
    InputError
        For a directed graph, a node without a side, and an edge between nodes of one side.

    Examples
    --------
    >>> import networkx as nx  # doctest: +SKIP
    >>> from_networkx(nx.complete_bipartite_graph(3, 2))  # doctest: +SKIP
    Hypergraph(3 vertices, 2 hyperedges, 6 incidences)
    """
    nx = library("networkx", "NetworkX", "from_networkx", "peers")
    check_kind(graph, nx.Graph, "networkx.Graph", but=(nx.DiGraph,))
    if vertices not in (0, 1):
        raise InputError(f"vertices must be 0 or 1, the side of the vertices; got {shown(vertices)}")
    first, second = _sides(graph, vertices)
    incidences = _incidences(graph, first)
    if _has_tags(first, "vertex") and _has_tags(second, "edge"):
        incidences = [(vertex[1], edge[1], weight) for vertex, edge, weight in incidences]
        vertex_ids, edge_ids = [node[1] for node in first], [node[1] for node in second]
    else:
        vertex_ids, edge_ids = list(first), list(second)
    columns = ("vertex", "edge", "weight")
    h = Hypergraph.from_long(
        {name: [row[number] for row in incidences] for number, name in enumerate(columns)},
        edge_weights=[record.get("weight", 1.0) for record in second.values()],
        vertex_ids=vertex_ids,
        edge_ids=edge_ids,
        duplicates=duplicates,
        isolated=isolated,
        empty_edges=empty_edges,
    )
    lost = (
        attributes("vertex", first.values(), ("bipartite",)),
        attributes("hyperedge", second.values(), ("bipartite", "weight")),
        attributes("edge", (record for _, _, record in graph.edges(data=True)), ("weight",)),
    )
    warn_losses("a Hypergraph", lost)
    return h


def _sides(graph: Any, vertices: int) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """The attributes of the nodes that are vertices, and of those that are hyperedges."""
    sides: tuple[dict[Any, Any], dict[Any, Any]] = ({}, {})
    for node, record in graph.nodes(data=True):
        side = record.get("bipartite")
        if side not in (0, 1):
            raise InputError(
                f"node {shown(node)} has no side; set its attribute bipartite to {vertices} for a vertex, "
                f"{1 - vertices} for a hyperedge"
            )
        sides[side][node] = record
    return sides[vertices], sides[1 - vertices]


def _incidences(graph: Any, vertices: dict[Any, Any]) -> list[tuple[Any, Any, Any]]:
    """The vertex, the hyperedge and the weight of each edge."""
    found = []
    for one, two, weight in graph.edges(data="weight", default=1.0):
        if (one in vertices) == (two in vertices):
            joined = f"the edge between {shown(one)} and {shown(two)} joins nodes of one side"
            raise InputError(f"{joined}; the graph must be bipartite")
        found.append((one, two, weight) if one in vertices else (two, one, weight))
    return found


def _has_tags(nodes: dict[Any, Any], tag: str) -> bool:
    return all(isinstance(node, tuple) and len(node) == 2 and node[0] == tag for node in nodes)
