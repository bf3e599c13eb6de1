"""XGI: omega is the edge attribute "weight", gamma the edge attribute "gamma", a dict by node."""

from collections.abc import Mapping
from typing import Any

from hyperclus._runtime.optional import library
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.messages import shown
from hyperclus.io.convert.shared import attributes, check_kind, hyperedges
from hyperclus.io.losses import warn_losses
from hyperclus.typing import AbsencePolicy


def to_xgi(h: Hypergraph) -> Any:
    """Convert to an `xgi.Hypergraph` without loss.

    XGI has no incidence weights, so each hyperedge e has an attribute "gamma", {vertex id: gamma_e(v)}.

    Raises
    ------
    InputError
        If XGI refuses an edge id: it accepts text, numbers and tuples.

    Examples
    --------
    >>> h = Hypergraph.from_edges({"e": {"a": 2, "b": 1}}, edge_weights=[3])
    >>> to_xgi(h).edges["e"]  # doctest: +SKIP
    {'weight': 3.0, 'gamma': {'a': 2.0, 'b': 1.0}}
    """
    check_hypergraph(h)
    other = library("xgi", "XGI", "to_xgi", "peers").Hypergraph()
    other.add_nodes_from(h.vertex_ids.tolist())
    for edge, omega, gamma in hyperedges(h):
        try:
            other.add_edge(gamma, edge, weight=omega, gamma=gamma)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"XGI does not accept the edge id {shown(edge)}; rename it to text, a number or a tuple"
            ) from None
    return other


def from_xgi(
    other: Any, *, isolated: AbsencePolicy = "error", empty_edges: AbsencePolicy = "error"
) -> Hypergraph:
    """Convert from an `xgi.Hypergraph` with the edge attributes "weight" (omega) and "gamma", 1 by default.

    Parameters
    ----------
    other : xgi.Hypergraph
        The attribute "gamma" of a hyperedge maps each member to its weight.
    isolated, empty_edges
        As in `Hypergraph.from_incidence`.

    Raises
    ------
    InputError
        For a directed hypergraph, a simplicial complex, and invalid weights.

    Examples
    --------
    >>> import xgi  # doctest: +SKIP
    >>> from_xgi(xgi.Hypergraph([[1, 2], [2, 3, 4]]))  # doctest: +SKIP
    Hypergraph(4 vertices, 2 hyperedges, 5 incidences)
    """
    xgi = library("xgi", "XGI", "from_xgi", "peers")
    check_kind(other, xgi.Hypergraph, "xgi.Hypergraph", but=(xgi.SimplicialComplex,))
    nodes, edges = other.nodes.attrs.asdict(), other.edges.attrs.asdict()
    members = other.edges.members(dtype=dict)
    h = Hypergraph.from_edges(
        {edge: _weighted(edge, inside, edges[edge].get("gamma")) for edge, inside in members.items()},
        edge_weights=[edges[edge].get("weight", 1.0) for edge in members],
        vertex_ids=list(other.nodes),
        isolated=isolated,
        empty_edges=empty_edges,
    )
    lost = (attributes("node", nodes.values()), attributes("edge", edges.values(), ("weight", "gamma")))
    warn_losses("a Hypergraph", lost)
    return h


def _weighted(edge: Any, members: set[Any], gamma: Any) -> Any:
    if gamma is None:
        return members
    if not isinstance(gamma, Mapping) or set(gamma) != members:
        raise InputError(
            f"the attribute gamma of hyperedge {shown(edge)} must map exactly its members to weights"
        )
    return gamma
