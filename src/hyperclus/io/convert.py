"""Convert between `Hypergraph` and other libraries; docs/how_to/other_libraries.md says what each can hold.

All functions raise a `MissingLibraryError` if the library is not installed, and issue a `LossWarning` that
names what they leave out. `**policies` are the arguments `duplicates`, `isolated` and `empty_edges` of
`Hypergraph.from_incidence`. Without weights in the other library, gamma and omega are 1.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any, Unpack

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.optional import library
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.incidence import PolicyOptions
from hyperclus.hypergraph.messages import first_few, named, shown
from hyperclus.io.shared import lost_mixture, warn_losses

# ---- HyperNetX -------------------------------------------------------------------------------------------


def to_hypernetx(hypergraph: Hypergraph) -> Any:
    """Convert to a `hypernetx.Hypergraph` with all weights: gamma is the cell weight, omega the edge weight.

    HyperNetX does not count vertices in no hyperedge and hyperedges without members: they are only in its
    tables of node and edge properties, where `from_hypernetx` finds them. Its own random walk uses 1 + the
    standard deviation of the hyperedge's gamma instead of omega. Ids other than text and integers, with
    which HyperNetX fails, are an `InputError`.

    Examples
    --------
    >>> h = Hypergraph.from_edges({"e": {"a": 2, "b": 1}}, edge_weights=[3])
    >>> to_hypernetx(h).dataframe[["edges", "nodes", "weight"]]  # doctest: +SKIP
      edges nodes  weight
    0     e     a     2.0
    1     e     b     1.0
    """
    check_hypergraph(hypergraph)
    hypernetx = library("hypernetx", "HyperNetX", "to_hypernetx", "hypernetx")
    frame = library("pandas", "pandas", "to_hypernetx", "hypernetx").DataFrame
    for ids, what in ((hypergraph.vertex_ids, "vertex"), (hypergraph.edge_ids, "edge")):
        for value in () if ids.dtype.kind == "i" else ids.tolist():
            if type(value) not in (int, str):
                raise InputError(
                    f"{what} id {shown(value)} is neither text nor an integer, as HyperNetX needs; rename "
                    f"it: dataclasses.replace(h, {what}_ids=...)"
                )
    warn_losses("HyperNetX", [lost_mixture(hypergraph)])
    edges, nodes = (
        np.repeat(hypergraph.edge_ids, hypergraph.edge_sizes),
        hypergraph.vertex_ids[hypergraph.gamma.indices],
    )
    return hypernetx.Hypergraph(
        frame({"edges": edges, "nodes": nodes, "weight": hypergraph.gamma.data.copy()}),
        edge_properties=frame({"uid": hypergraph.edge_ids, "weight": hypergraph.edge_weights}),
        node_properties=frame({"uid": hypergraph.vertex_ids}),
    )


def from_hypernetx(other: Any, **policies: Unpack[PolicyOptions]) -> Hypergraph:
    """Convert from a `hypernetx.Hypergraph`: gamma is the cell weight, omega the edge weight.

    Vertices and hyperedges that only the tables of node and edge properties name are isolated or empty. Parts
    of a larger hypergraph may have some; "drop" removes them.
    """
    hypernetx = library("hypernetx", "HyperNetX", "from_hypernetx", "hypernetx")
    _check_kind(other, hypernetx.Hypergraph, "hypernetx.Hypergraph")
    cells = other.dataframe
    nodes, edges = other.nodes.property_store.properties, other.edges.property_store.properties
    # One table for both nodes and edges does not say which is which.
    mixed = other.nodes.property_store is other.edges.property_store
    vertex_ids, edge_ids = (
        list(dict.fromkeys([*([] if mixed else table.index.tolist()), *cells[column].tolist()]))
        for table, column in ((nodes, "nodes"), (edges, "edges"))
    )
    omega = dict(zip(edges.index.tolist(), edges["weight"].tolist(), strict=True))
    lost = ["the node weights" if not mixed and (nodes["weight"] != 1).any() else ""]
    for kind, table in {"node": nodes, "edge": edges, "cell": cells}.items():
        records = [dict.fromkeys(table.columns), *table["misc_properties"]]
        lost.append(_attributes(kind, records, ("weight", "misc_properties", "edges", "nodes")))
    return _hypergraph(
        zip(*(cells[name].tolist() for name in ("nodes", "edges", "weight")), strict=True),
        vertex_ids,
        ((edge, omega.get(edge, other.edges.default_weight)) for edge in edge_ids),
        lost,
        **policies,
    )


# ---- XGI -------------------------------------------------------------------------------------------------


def to_xgi(hypergraph: Hypergraph) -> Any:
    """Convert to an `xgi.Hypergraph` with all weights: omega is the edge attribute "weight".

    XGI has no incidence weights, so each hyperedge e has an attribute "gamma", {vertex id: gamma_e(v)}. Edge
    ids other than text, numbers and tuples are an `InputError`, because XGI refuses them.

    Examples
    --------
    >>> h = Hypergraph.from_edges({"e": {"a": 2, "b": 1}}, edge_weights=[3])
    >>> to_xgi(h).edges["e"]  # doctest: +SKIP
    {'weight': 3.0, 'gamma': {'a': 2.0, 'b': 1.0}}
    """
    check_hypergraph(hypergraph)
    other = library("xgi", "XGI", "to_xgi", "xgi").Hypergraph()
    warn_losses("XGI", [lost_mixture(hypergraph)])
    other.add_nodes_from(hypergraph.vertex_ids.tolist())
    for edge, omega, gamma in _hyperedges(hypergraph):
        try:
            other.add_edge(gamma, edge, weight=omega, gamma=gamma)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"XGI does not accept the edge id {shown(edge)}; rename it to text, a number or a tuple"
            ) from None
    return other


def from_xgi(other: Any, **policies: Unpack[PolicyOptions]) -> Hypergraph:
    """Convert from an `xgi.Hypergraph` with the edge attributes "weight" (omega) and "gamma", a dict by node.

    A directed hypergraph or a simplicial complex is an `InputError`.
    """
    xgi = library("xgi", "XGI", "from_xgi", "xgi")
    _check_kind(other, xgi.Hypergraph, "xgi.Hypergraph", but=(xgi.SimplicialComplex,))
    nodes, edges = other.nodes.attrs.asdict(), other.edges.attrs.asdict()
    gammas = {}
    for edge, members in other.edges.members(dtype=dict).items():
        gamma = gammas[edge] = edges[edge].get("gamma", dict.fromkeys(members, 1.0))
        if not isinstance(gamma, Mapping) or set(gamma) != members:
            raise InputError(
                f"the attribute gamma of hyperedge {shown(edge)} must map exactly its members to weights"
            )
    return _hypergraph(
        ((vertex, edge, weight) for edge, gamma in gammas.items() for vertex, weight in gamma.items()),
        list(other.nodes),
        ((edge, edges[edge].get("weight", 1.0)) for edge in gammas),
        (_attributes("node", nodes.values()), _attributes("edge", edges.values(), ("weight", "gamma"))),
        **policies,
    )


# ---- Hypergraphx -----------------------------------------------------------------------------------------


def to_hypergraphx(hypergraph: Hypergraph) -> Any:
    """Convert to a weighted `hypergraphx.Hypergraph`; hyperedges with the same members are merged.

    Hypergraphx identifies a hyperedge by the sorted tuple of its members. Its id becomes the edge metadata
    "edge", gamma the incidence metadata "weight". Hyperedges without members become named empty edges, with
    omega as "weight". Merging keeps the first id, and the walk with alpha = 0 does not change. Members that
    cannot be sorted, such as 1 and "a", are an `InputError`.

    Examples
    --------
    >>> h = Hypergraph.from_edges({"e": {"a": 2, "b": 1}}, edge_weights=[3])
    >>> to_hypergraphx(h).get_weights(asdict=True)  # doctest: +SKIP
    {('a', 'b'): 3.0}
    """
    check_hypergraph(hypergraph)
    other = library("hypergraphx", "Hypergraphx", "to_hypergraphx", "hypergraphx").Hypergraph(weighted=True)
    mixed = lost_mixture(hypergraph)
    hypergraph, lost = _without_parallel(hypergraph)
    other.add_nodes(hypergraph.vertex_ids.tolist())
    for edge, omega, gamma in _hyperedges(hypergraph):
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
    warn_losses("Hypergraphx", [lost, mixed])
    return other


def from_hypergraphx(other: Any, **policies: Unpack[PolicyOptions]) -> Hypergraph:
    """Convert from a `hypergraphx.Hypergraph`: omega is the weight, gamma the incidence metadata "weight".

    Edge ids are the metadata "edge" if all hyperedges have it, otherwise 0, 1, ...; named empty edges are
    last, in the order in which they were added. A directed, temporal or multiplex hypergraph is an
    `InputError`.
    """
    hypergraphx = library("hypergraphx", "Hypergraphx", "from_hypergraphx", "hypergraphx")
    _check_kind(other, hypergraphx.Hypergraph, "hypergraphx.Hypergraph")
    edges, cells = other.get_edges(metadata=True), other.get_all_incidences_metadata()
    empty = other.expose_data_structures().get("empty_edges", {})
    has_ids = all("edge" in record for record in edges.values())
    ids = [record["edge"] for record in edges.values()] if has_ids else list(range(len(edges)))
    omega = [*other.get_weights(), *((record or {}).get("weight", 1.0) for record in empty.values())]
    return _hypergraph(
        (
            (vertex, edge, cells.get((members, vertex), {}).get("weight", 1.0))
            for edge, members in zip(ids, edges, strict=True)
            for vertex in members
        ),
        other.get_nodes(),
        zip([*ids, *empty], omega, strict=True),
        (
            _attributes("node", other.get_all_nodes_metadata().values()),
            _attributes("edge", edges.values(), ("edge",) if has_ids else ()),
            _attributes("incidence", cells.values(), ("weight", "edge", "node")),
        ),
        **policies,
    )


def _without_parallel(h: Hypergraph) -> tuple[Hypergraph, str]:
    """Merge hyperedges that have the same members, and name those that were merged into others, in words.

    omega is added, and gamma(v) is in proportion to sum_e omega(e) gamma_e(v) / delta(e), so that the walk
    with alpha = 0 does not change. Other hyperedges keep their weights bit by bit.

    >>> h = Hypergraph.from_edges({"e": ["a", "b"], "f": ["a", "b"], "g": ["b", "c"]})
    >>> one, words = _without_parallel(h)
    >>> one.edge_ids.tolist(), one.edge_weights.tolist(), words
    (['e', 'g'], [2.0, 1.0], "hyperedges with the members of another ('f', merged into it)")
    """
    known: dict[Any, int] = {}
    codes = np.empty(h.n_edges, dtype=np.int64)
    for edge, (start, stop) in enumerate(zip(h.gamma.indptr, h.gamma.indptr[1:], strict=False)):
        members = h.gamma.indices[start:stop].tobytes() or edge  # empty hyperedges are not merged
        codes[edge] = known.setdefault(members, len(known))
    if len(known) == h.n_edges:
        return h, ""
    rows = np.repeat(np.arange(h.n_edges), h.edge_sizes)
    largest = np.zeros(len(known))
    np.maximum.at(largest, codes, h.edge_weights)
    share = h.gamma.data / h.gamma.max(axis=1).toarray()[rows]  # the largest is 1: no sum overflows
    share *= (h.edge_weights / largest[codes] / np.bincount(rows, share, h.n_edges).clip(1))[rows]
    joins = (np.bincount(codes) > 1)[codes[rows]]
    data = np.where(joins, np.maximum(share, np.nextafter(0, 1)), h.gamma.data)  # a member stays a member
    first = np.zeros(h.n_edges, dtype=bool)
    first[np.unique(codes, return_index=True)[1]] = True
    one = Hypergraph.from_incidence(
        sp.coo_array((data, (h.gamma.indices, codes[rows])), shape=(h.n_vertices, len(known))),
        edge_weights=np.bincount(codes, h.edge_weights),
        vertex_ids=h.vertex_ids,
        edge_ids=h.edge_ids[first],
        duplicates="sum",
        isolated="keep",
        empty_edges="keep",
    )
    return one, f"hyperedges with the members of another ({named(h.edge_ids, ~first)}, merged into it)"


# ---- NetworkX --------------------------------------------------------------------------------------------


def to_networkx(hypergraph: Hypergraph) -> Any:
    """Convert to the bipartite `networkx.Graph` of vertices and hyperedges, with all weights.

    Nodes are ("vertex", id) with bipartite=0 and ("edge", id) with bipartite=1 and weight=omega, because a
    vertex and a hyperedge may have the same id. An incidence is an edge with weight=gamma.

    Examples
    --------
    >>> h = Hypergraph.from_edges({0: {0: 2, 1: 1}})
    >>> list(to_networkx(h).edges(data="weight"))  # doctest: +SKIP
    [(('vertex', 0), ('edge', 0), 2.0), (('vertex', 1), ('edge', 0), 1.0)]
    """
    check_hypergraph(hypergraph)
    graph = library("networkx", "NetworkX", "to_networkx", "networkx").Graph()
    warn_losses("NetworkX", [lost_mixture(hypergraph)])
    graph.add_nodes_from((("vertex", vertex) for vertex in hypergraph.vertex_ids.tolist()), bipartite=0)
    for edge, omega, gamma in _hyperedges(hypergraph):
        graph.add_node(("edge", edge), bipartite=1, weight=omega)
        graph.add_weighted_edges_from((("vertex", v), ("edge", edge), weight) for v, weight in gamma.items())
    return graph


def from_networkx(other: Any, *, vertices: int = 0, **policies: Unpack[PolicyOptions]) -> Hypergraph:
    """Convert from a `networkx.Graph` or `MultiGraph`, ordinary or bipartite.

    If no node has an attribute bipartite, the edges are hyperedges of two members, numbered 0, 1, ..., and
    their attribute weight is omega. Otherwise every node must have it: the attribute weight of an edge is
    gamma, that of a hyperedge node omega. The nodes are the ids, unless all of them are named as
    `to_networkx` does. Parallel edges of a bipartite graph are duplicates. A directed graph, some nodes
    without a side, and an edge between nodes of one side are an `InputError`.

    Parameters
    ----------
    vertices : {0, 1}
        The value of bipartite for vertices: 0 in graphs from XGI and from this library, 1 from HyperNetX.
    """
    nx = library("networkx", "NetworkX", "from_networkx", "networkx")
    _check_kind(other, nx.Graph, "networkx.Graph", but=(nx.DiGraph,))
    if vertices not in (0, 1):
        raise InputError(f"vertices must be 0 or 1, the side of the vertices; got {shown(vertices)}")
    if not any("bipartite" in record for _, record in other.nodes(data=True)):
        return _from_ordinary_graph(other, policies)
    sides: dict[Any, dict[Any, Any]] = {vertices: {}, 1 - vertices: {}}
    for node, record in other.nodes(data=True):
        if record.get("bipartite") not in (0, 1):
            raise InputError(
                f"node {shown(node)} has no side; set its attribute bipartite to {vertices} for a vertex, "
                f"{1 - vertices} for a hyperedge"
            )
        sides[record["bipartite"]][node] = record
    inside, around = sides.values()
    pairs = []
    for one, two, weight in other.edges(data="weight", default=1.0):
        if (one in inside) == (two in inside):
            joined = f"the edge between {shown(one)} and {shown(two)} joins nodes of one side"
            raise InputError(f"{joined}; the graph must be bipartite")
        pairs.append((one, two, weight) if one in inside else (two, one, weight))
    tagged = all(
        isinstance(node, tuple) and len(node) == 2 and node[0] == tag
        for nodes, tag in ((inside, "vertex"), (around, "edge"))
        for node in nodes
    )
    name: Any = itemgetter(1) if tagged else (lambda node: node)
    return _hypergraph(
        ((name(vertex), name(edge), weight) for vertex, edge, weight in pairs),
        list(map(name, inside)),
        ((name(edge), record.get("weight", 1.0)) for edge, record in around.items()),
        (
            _attributes("vertex", inside.values(), ("bipartite",)),
            _attributes("hyperedge", around.values(), ("bipartite", "weight")),
            _attributes("edge", (record for _, _, record in other.edges(data=True)), ("weight",)),
        ),
        **policies,
    )


def _from_ordinary_graph(graph: Any, policies: PolicyOptions) -> Hypergraph:
    edges = list(graph.edges(data=True))
    return _hypergraph(
        ((node, number, 1.0) for number, (*ends, _) in enumerate(edges) for node in dict.fromkeys(ends)),
        list(graph.nodes),
        ((number, record.get("weight", 1.0)) for number, (_, _, record) in enumerate(edges)),
        (
            _attributes("node", (record for _, record in graph.nodes(data=True))),
            _attributes("edge", (record for _, _, record in edges), ("weight",)),
        ),
        stacklevel=5,
        **policies,
    )


# ---- scikit-network --------------------------------------------------------------------------------------


def to_sknetwork(hypergraph: Hypergraph) -> Any:
    """Convert to a `sknetwork.data.Dataset`, as its own loaders return them, with all weights.

    `biadjacency`, a CSR matrix of shape (n_vertices, n_edges), holds gamma, `names_row` and `names_col` the
    ids. omega is added as `edge_weights`, which scikit-network itself does not use.

    Examples
    --------
    >>> h = Hypergraph.from_edges({"e": {"a": 2, "b": 1}}, edge_weights=[3])
    >>> to_sknetwork(h).biadjacency.toarray().tolist()  # doctest: +SKIP
    [[2.0], [1.0]]
    """
    check_hypergraph(hypergraph)
    dataset = library("sknetwork.data", "scikit-network", "to_sknetwork", "scikit-network").Dataset
    warn_losses("scikit-network", [lost_mixture(hypergraph)])
    return dataset(
        biadjacency=sp.csr_matrix(hypergraph.gamma.T.tocsr()),
        names_row=hypergraph.vertex_ids.copy(),
        names_col=hypergraph.edge_ids.copy(),
        edge_weights=hypergraph.edge_weights.copy(),
    )


def from_sknetwork(other: Any, **policies: Unpack[PolicyOptions]) -> Hypergraph:
    """Convert from a `sknetwork.data.Dataset` with a matrix `biadjacency`: entry (v, e) is gamma_e(v).

    `names_row`, `names_col` and `edge_weights` (omega) are optional; others are ignored. For a matrix alone
    use `Hypergraph.from_incidence`.

    Examples
    --------
    >>> from_sknetwork({"biadjacency": [[2, 0], [1, 1]], "names_row": ["a", "b"]})
    Hypergraph(2 vertices, 2 hyperedges, 3 incidences)
    """
    if not isinstance(other, Mapping) or "biadjacency" not in other:
        raise InputError(
            "expected a scikit-network Dataset with a biadjacency matrix; for a matrix use "
            "Hypergraph.from_incidence"
        )
    return Hypergraph.from_incidence(
        other["biadjacency"],
        edge_weights=other.get("edge_weights"),
        vertex_ids=other.get("names_row"),
        edge_ids=other.get("names_col"),
        **policies,
    )


# ---- shared ----------------------------------------------------------------------------------------------


def _hyperedges(h: Hypergraph) -> Iterator[tuple[Any, float, dict[Any, float]]]:
    """Iterate over (id, omega, {vertex id: gamma}) of each hyperedge, as Python objects."""
    ids, starts = h.vertex_ids.tolist(), h.gamma.indptr.tolist()
    for row, (edge, omega) in enumerate(zip(h.edge_ids.tolist(), h.edge_weights.tolist(), strict=True)):
        inside = slice(starts[row], starts[row + 1])
        members = (ids[column] for column in h.gamma.indices[inside].tolist())
        yield edge, omega, dict(zip(members, h.gamma.data[inside].tolist(), strict=True))


def _hypergraph(
    incidences: Iterable[tuple[Any, Any, Any]],
    vertex_ids: Iterable[Any],
    edges: Iterable[tuple[Any, Any]],
    lost: Iterable[str],
    stacklevel: int = 4,
    **policies: Unpack[PolicyOptions],
) -> Hypergraph:
    """Build a hypergraph from (vertex, edge, gamma) and (edge, omega), and warn of what is lost."""
    rows, edges = list(incidences), list(edges)
    h = Hypergraph.from_long(
        {name: [row[number] for row in rows] for number, name in enumerate(("vertex", "edge", "weight"))},
        edge_weights=[omega for _, omega in edges],
        vertex_ids=vertex_ids,
        edge_ids=[edge for edge, _ in edges],
        **policies,
    )
    warn_losses("a Hypergraph", lost, stacklevel=stacklevel)
    return h


def _check_kind(other: Any, kind: type, name: str, but: tuple[type, ...] = ()) -> None:
    """Raise an `InputError` unless `other` is an undirected hypergraph of a library."""
    if not isinstance(other, kind) or isinstance(other, but):
        remedy = (
            "use its to_undirected()" if hasattr(other, "to_undirected") else "create one from its members"
        )
        raise InputError(f"expected an undirected {name}, not a {type(other).__name__}; {remedy} first")


def _attributes(kind: str, records: Iterable[Any], known: Collection[str] = ()) -> str:
    """Name the attributes that are not converted, in words; "" if there are none."""
    keys = dict.fromkeys(key for record in records if isinstance(record, Mapping) for key in record)
    others = [key for key in keys if key not in known]
    return f"the {kind} attributes {first_few(others)}" if others else ""
