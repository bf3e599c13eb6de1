"""Vertex weights gamma for the members of a hypergraph."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hyperclus._runtime.arrays import take
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import vertex_codes


def ones(hypergraph: Hypergraph) -> Hypergraph:
    """Set gamma_e(v) = 1: edge-independent vertex weights (EIVW), the classical hypergraph."""
    check_hypergraph(hypergraph)
    return hypergraph.with_gamma(np.ones(hypergraph.n_incidences))


def class_counts(hypergraph: Hypergraph, classes: Mapping[Any, Any] | Iterable[Any]) -> Hypergraph:
    """Set gamma_e(v) = number of members of e in the class of v: the EDVW of the paper.

    The classes become part of the input, so agreement between clusters and classes says nothing
    about unseen data. Use this to reproduce the paper, not to analyse labelled data. The classes are in the
    order of the vertices, or in a mapping (or pandas Series) from vertex id.

    >>> h = Hypergraph.from_edges([["a", "b", "c"]])
    >>> class_counts(h, ["x", "x", "y"]).gamma.data.tolist()
    [2.0, 2.0, 1.0]
    """
    check_hypergraph(hypergraph)
    codes, names = vertex_codes(classes, hypergraph.vertex_ids, "class")
    first_cells = np.arange(hypergraph.n_edges) * len(names)  # one cell per hyperedge and class
    cells = np.repeat(first_cells, hypergraph.edge_sizes)
    cells += take(codes, hypergraph.gamma.indices)
    if hypergraph.n_edges * len(names) <= 4 * len(cells) + 1000:
        return hypergraph.with_gamma(np.bincount(cells)[cells])
    _, inverse, counts = np.unique(cells, return_inverse=True, return_counts=True)
    return hypergraph.with_gamma(counts[inverse])
