"""Ways to assign gamma to the members that a hypergraph already has."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hyperclus.errors import InputError
from hyperclus.hypergraph import Hypergraph
from hyperclus.ids import factorize


def ones(hypergraph: Hypergraph) -> Hypergraph:
    """gamma_e(v) = 1: edge-independent vertex weights (EIVW), the classical hypergraph.

    >>> ones(Hypergraph.from_edges([{"a": 3, "b": 1}])).gamma.data.tolist()
    [1.0, 1.0]
    """
    return hypergraph.with_gamma(np.ones(hypergraph.n_incidences))


def class_counts(hypergraph: Hypergraph, classes: Iterable[Any]) -> Hypergraph:
    """gamma_e(v) = number of members of e that are in v's class: the paper's EDVW.

    The classes become part of the input, so agreement between clusters and classes says nothing
    about unseen data. Use this to reproduce the paper, not to analyse labelled data.

    >>> h = Hypergraph.from_edges([["a", "b", "c"]])
    >>> class_counts(h, ["x", "x", "y"]).gamma.data.tolist()
    [2.0, 2.0, 1.0]
    """
    codes, names = factorize(classes, "class")
    if len(codes) != hypergraph.n_vertices:
        raise InputError(f"{hypergraph.n_vertices} vertices need as many classes, {len(codes)} were given")
    edges = np.repeat(np.arange(hypergraph.n_edges), hypergraph.edge_sizes)
    cells = edges * len(names) + codes[hypergraph.gamma.indices]
    return hypergraph.with_gamma(np.bincount(cells)[cells])
