"""Ways to assign gamma to the members that a hypergraph already has."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hyperclus.errors import InputError
from hyperclus.hypergraph import Hypergraph
from hyperclus.ids import encode, plain, refuse_missing, take


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
    place = "the class at position {}".format
    codes, names = encode(plain(classes, "classes"), place)
    if len(codes) != hypergraph.n_vertices:
        raise InputError(f"{hypergraph.n_vertices} vertices need as many classes, {len(codes)} were given")
    refuse_missing(codes, place)
    first_cells = np.arange(hypergraph.n_edges) * len(names)  # one cell per hyperedge and class
    cells = np.repeat(first_cells, hypergraph.edge_sizes)
    cells += take(codes, hypergraph.gamma.indices)
    if hypergraph.n_edges * len(names) <= 4 * len(cells) + 1000:
        return hypergraph.with_gamma(np.bincount(cells)[cells])
    _, inverse, counts = np.unique(cells, return_inverse=True, return_counts=True)
    return hypergraph.with_gamma(counts[inverse])
