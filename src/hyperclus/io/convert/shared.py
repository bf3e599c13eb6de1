"""Helpers of the converters."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import named
from hyperclus.typing import Ids


def hyperedges(h: Hypergraph) -> Iterator[tuple[Any, float, dict[Any, float]]]:
    """Iterate over (id, omega, {vertex id: gamma}) of each hyperedge, as Python objects.

    >>> list(hyperedges(Hypergraph.from_edges({"e": {"a": 2, "b": 1}})))
    [('e', 1.0, {'a': 2.0, 'b': 1.0})]
    """
    ids, starts = h.vertex_ids.tolist(), h.gamma.indptr.tolist()
    for row, (edge, omega) in enumerate(zip(h.edge_ids.tolist(), h.edge_weights.tolist(), strict=True)):
        inside = slice(starts[row], starts[row + 1])
        members = (ids[column] for column in h.gamma.indices[inside].tolist())
        yield edge, omega, dict(zip(members, h.gamma.data[inside].tolist(), strict=True))


def check_kind(other: Any, kinds: type, name: str, but: tuple[type, ...] = ()) -> None:
    """Raise an `InputError` unless `other` is an undirected hypergraph of a library."""
    if not isinstance(other, kinds) or isinstance(other, but):
        raise InputError(
            f"expected an undirected {name}, not a {type(other).__name__}; create one from its members first"
        )


def attributes(kind: str, records: Iterable[Any], known: Collection[str] = ()) -> str:
    """Name the attributes that are not converted, in words; "" if there are none.

    >>> attributes("node", [{"colour": "red", "weight": 2}, {}], ["weight"])
    "the node attributes 'colour'"
    """
    keys = (key for record in records if isinstance(record, Mapping) for key in record)
    names: Ids = object_array(list(dict.fromkeys(key for key in keys if key not in known)))
    return f"the {kind} attributes {named(names, np.ones(len(names), dtype=bool))}" if len(names) else ""


def without_parallel(h: Hypergraph) -> tuple[Hypergraph, str]:
    """Merge hyperedges that have the same members, and name those that were merged into others, in words.

    omega is added, and gamma(v) is in proportion to sum_e omega(e) gamma_e(v) / delta(e), so that the walk
    with alpha = 0 does not change. Other hyperedges keep their weights bit by bit.

    >>> h = Hypergraph.from_edges({"e": ["a", "b"], "f": ["a", "b"], "g": ["b", "c"]})
    >>> one, words = without_parallel(h)
    >>> one.edge_ids.tolist(), one.edge_weights.tolist(), words
    (['e', 'g'], [2.0, 1.0], "hyperedges with the members of another ('f', merged into it)")
    """
    starts, sizes = h.gamma.indptr, h.edge_sizes
    known: dict[Any, int] = {}
    codes = np.empty(h.n_edges, dtype=np.int64)
    for edge in range(h.n_edges):  # empty hyperedges are not merged
        members = h.gamma.indices[starts[edge] : starts[edge + 1]].tobytes() or edge
        codes[edge] = known.setdefault(members, len(known))
    if len(known) == h.n_edges:
        return h, ""
    rows = np.repeat(np.arange(h.n_edges), sizes)
    largest = np.zeros(len(known))
    np.maximum.at(largest, codes, h.edge_weights)
    share = h.gamma.data / h.gamma.max(axis=1).toarray()[rows]  # the largest is 1: no sum overflows
    share *= (h.edge_weights / largest[codes] / np.bincount(rows, share, h.n_edges).clip(1))[rows]
    joins = (np.bincount(codes) > 1)[codes[rows]]
    data = np.where(joins, np.maximum(share, np.nextafter(0, 1)), h.gamma.data)  # a member stays a member
    scaled = sp.csr_array((data, h.gamma.indices, starts), h.gamma.shape)
    joined = sp.csr_array((np.ones(h.n_edges), (codes, np.arange(h.n_edges))), (len(known), h.n_edges))
    first = np.zeros(h.n_edges, dtype=bool)
    first[np.unique(codes, return_index=True)[1]] = True
    one = Hypergraph.from_incidence(
        (joined @ scaled).T,
        edge_weights=np.bincount(codes, h.edge_weights),
        vertex_ids=h.vertex_ids,
        edge_ids=h.edge_ids[first],
        isolated="keep",
        empty_edges="keep",
    )
    return one, f"hyperedges with the members of another ({named(h.edge_ids, ~first)}, merged into it)"
