"""NetworkX: the bipartite graph of vertices and hyperedges."""

from typing import Any

from hyperclus._runtime.optional import library
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.messages import shown
from hyperclus.io.convert.shared import attributes, check_kind, hyperedges, warn_lost
from hyperclus.typing import AbsencePolicy, DuplicatePolicy


def to_networkx(h: Hypergraph) -> Any:
    """The bipartite `networkx.Graph` of vertices and hyperedges; nothing is lost.

    Its nodes are ("vertex", id) with bipartite=0 and ("edge", id) with bipartite=1 and weight=omega; an
    incidence is an edge with weight=gamma. The words keep apart a vertex and a hyperedge of the same id.

    Raises
    ------
    MissingLibraryError
        When NetworkX is not installed.

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
    """From a bipartite `networkx.Graph` whose nodes have an attribute bipartite, 0 or 1.

    Edges have gamma and nodes of hyperedges omega as attribute weight, 1 without it. The nodes are the ids;
    of nodes named as `to_networkx` does, all ("vertex", id) or ("edge", id), it is the second part.

    Parameters
    ----------
    graph : networkx.Graph or MultiGraph
    vertices : {0, 1}
        The side of the vertices: 0 in graphs of XGI and of this library, 1 in those of HyperNetX.
    duplicates
        What to do with the parallel edges of a MultiGraph, as in `Hypergraph.from_incidence`.
    isolated, empty_edges
        As in `Hypergraph.from_incidence`.

    Raises
    ------
    InputError
        For a directed graph, a node without its side, and an edge between nodes of one side.
    MissingLibraryError
        When NetworkX is not installed.

    Warns
    -----
    LossWarning
        Naming other attributes of nodes and edges, which are left out.

    Examples
    --------
    >>> import networkx as nx  # doctest: +SKIP
    >>> from_networkx(nx.complete_bipartite_graph(3, 2))  # doctest: +SKIP
    Hypergraph(3 vertices, 2 hyperedges, 6 incidences)
    """
    nx = library("networkx", "NetworkX", "from_networkx", "peers")
    check_kind(graph, nx.Graph, "networkx.Graph", but=(nx.DiGraph,))
    if vertices not in (0, 1):
        raise InputError(f"vertices must be 0 or 1, the side that they are on; got {shown(vertices)}")
    sides: tuple[dict[Any, Any], dict[Any, Any]] = ({}, {})
    for node, record in graph.nodes(data=True):
        side = record.get("bipartite")
        if side not in (0, 1):
            raise InputError(
                f"node {shown(node)} has no side; set its attribute bipartite to {vertices} for a vertex, "
                f"{1 - vertices} for a hyperedge"
            )
        sides[side][node] = record
    first, second = sides[vertices], sides[1 - vertices]
    incidences: list[tuple[Any, Any, Any]] = []
    for one, two, weight in graph.edges(data="weight", default=1.0):
        if (one in first) == (two in first):
            raise InputError(
                f"the edge between {shown(one)} and {shown(two)} joins nodes of one side; the graph must be "
                "bipartite"
            )
        incidences.append((one, two, weight) if one in first else (two, one, weight))
    tagged = _tagged(first, "vertex") and _tagged(second, "edge")
    h = Hypergraph.from_long(
        {
            "vertex": [vertex[1] if tagged else vertex for vertex, _, _ in incidences],
            "edge": [edge[1] if tagged else edge for _, edge, _ in incidences],
            "weight": [weight for _, _, weight in incidences],
        },
        edge_weights=[record.get("weight", 1.0) for record in second.values()],
        vertex_ids=[vertex[1] if tagged else vertex for vertex in first],
        edge_ids=[edge[1] if tagged else edge for edge in second],
        duplicates=duplicates,
        isolated=isolated,
        empty_edges=empty_edges,
    )
    lost = (
        attributes("vertex", first.values(), ("bipartite",)),
        attributes("hyperedge", second.values(), ("bipartite", "weight")),
        attributes("edge", (record for _, _, record in graph.edges(data=True)), ("weight",)),
    )
    warn_lost("a Hypergraph", lost)
    return h


def _tagged(nodes: dict[Any, Any], word: str) -> bool:
    return all(isinstance(node, tuple) and len(node) == 2 and node[0] == word for node in nodes)
