"""Vertex weights gamma for the members of a hypergraph."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hyperclus._runtime.arrays import take
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import vertex_codes


def unit_weights(hypergraph: Hypergraph) -> Hypergraph:
    """Set gamma_e(v) = 1: edge-independent vertex weights (EIVW), the classical hypergraph."""
    check_hypergraph(hypergraph)
    return hypergraph.with_gamma(np.ones(hypergraph.n_incidences))


def transform_weights(hypergraph: Hypergraph, transform: str) -> Hypergraph:
    """Transform all weights gamma, for instance counts of which few are very large.

    "log1p" is log(1 + gamma), "sqrt" the square root. "clip:100" replaces larger weights by 100, and
    "clip:99%" those above the 99th percentile by it (of all incidences, the smallest weight that at least
    99 % do not exceed).

    >>> h = Hypergraph.from_edges([{"a": 1, "b": 3, "c": 5000}])
    >>> transform_weights(h, "clip:50%").gamma.data.tolist()
    [1.0, 3.0, 3.0]
    """
    check_hypergraph(hypergraph)
    gamma = hypergraph.gamma.data
    if transform in ("log1p", "sqrt"):
        return hypergraph.with_gamma(np.log1p(gamma) if transform == "log1p" else np.sqrt(gamma))
    name, _, limit = transform.partition(":") if isinstance(transform, str) else ("", "", "")
    share = limit.endswith("%")
    try:
        number = float(limit.removesuffix("%"))
    except ValueError:
        number = 0.0
    if name != "clip" or not (0 < number <= 100 if share else 0 < number < np.inf):
        wanted = "must be log1p, sqrt, clip:99% or clip:100 (any percentage or positive number)"
        raise InputError(Argument("weight_transform"), f" {wanted}; got {transform!r}")
    if not len(gamma):
        return hypergraph
    highest = np.quantile(gamma, number / 100, method="inverted_cdf") if share else number
    return hypergraph.with_gamma(np.minimum(gamma, highest))


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
