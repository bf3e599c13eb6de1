"""DeepHypergraph (DHG): vertices 0, 1, ..., hyperedges as sets with a weight."""

from typing import Any

import numpy as np

from hyperclus._runtime.optional import library
from hyperclus.errors import InputError, MissingLibraryError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.io.convert.shared import warn_lost, without_parallel
from hyperclus.typing import AbsencePolicy


def to_dhg(h: Hypergraph) -> Any:
    """The members and omega as a `dhg.Hypergraph`: vertex i there is `h.vertex_ids[i]`.

    Written from DHG's documentation and not tested against the library, which brings PyTorch.

    Raises
    ------
    MissingLibraryError
        When DHG is not installed.

    Warns
    -----
    LossWarning
        Naming what DHG has no place for: gamma other than 1, ids other than 0, 1, ..., hyperedges without
        members, and hyperedges with the members of another.

    Examples
    --------
    >>> to_dhg(Hypergraph.from_edges([[0, 1], [1, 2]]))  # doctest: +SKIP
    Hypergraph(num_v=3, num_e=2)
    """
    check_hypergraph(h)
    try:
        dhg = library("dhg", "DHG", "to_dhg", "peers")
    except MissingLibraryError:  # it pins old versions of PyTorch, so no extra names it
        raise MissingLibraryError("to_dhg needs DHG: pip install dhg") from None
    lost = [
        "gamma" if (h.gamma.data != 1).any() else "",
        "" if h.vertex_ids.tolist() == list(range(h.n_vertices)) else "vertex ids",
        "" if h.edge_ids.tolist() == list(range(h.n_edges)) else "edge ids",
        "" if h.edge_sizes.all() else "hyperedges without members",
    ]
    one, parallel = without_parallel(h.drop_edges(h.edge_sizes == 0))
    members = np.split(one.gamma.indices, one.gamma.indptr[1:-1])
    other = dhg.Hypergraph(one.n_vertices, [part.tolist() for part in members], one.edge_weights.tolist())
    warn_lost("DHG", [*lost, parallel])
    return other


def from_dhg(other: Any, *, isolated: AbsencePolicy = "error") -> Hypergraph:
    """From a `dhg.Hypergraph`, all its groups of hyperedges together; gamma = 1, ids 0, 1, ...

    Written from DHG's documentation and not tested against the library, which brings PyTorch.

    Parameters
    ----------
    other : dhg.Hypergraph
        Anything with its `num_v` and `e`, the pair of all members and all weights.
    isolated
        As in `Hypergraph.from_incidence`.

    Raises
    ------
    InputError
        For a graph, a directed graph or a bipartite graph of DHG, and a vertex in no hyperedge.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from_dhg(SimpleNamespace(num_v=3, e=([(0, 1), (1, 2)], [1.0, 2.0]), num_groups=1))
    Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
    """
    if not all(hasattr(other, name) for name in ("num_v", "e", "num_groups")):
        raise InputError(
            f"an undirected dhg.Hypergraph is needed, not a {type(other).__name__}; make one from its "
            "members first"
        )
    members, weights = other.e
    return Hypergraph.from_edges(
        members, edge_weights=weights, vertex_ids=range(other.num_v), isolated=isolated
    )
