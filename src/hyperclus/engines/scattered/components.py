"""Connected components on one worker, which holds a number for each vertex and goes over all bundles."""

from itertools import pairwise
from pathlib import Path
from secrets import token_hex

import numpy as np
import scipy.sparse as sp

from hyperclus.engines.scattered.bundles import members_by_hyperedge
from hyperclus.engines.scattered.stages import Site, site_at
from hyperclus.engines.scattered.store import read_array, store
from hyperclus.types import Integers


def find_components(place: Path) -> tuple[int, str]:
    """The number of components, and the name of the vector that has the one of each vertex."""
    from scipy.sparse.csgraph import connected_components

    site = site_at(place)
    labels = np.arange(site.ends[-1])
    for folder in site.bundles:
        vertices = read_array(folder / "vertices.npy")
        for edges, members in members_by_hyperedge(folder):
            own, inside = np.unique(labels[vertices[members]], return_inverse=True)
            size = (int(edges[-1]) - int(edges[0]) + 1, len(own))
            total = sum(size)
            ends = (edges - edges[0]).astype(np.int64), inside + size[0]
            graph = sp.coo_array((np.ones(len(edges), dtype=bool), ends), shape=(total, total)).tocsr()
            _, joined = connected_components(graph, directed=False)
            first = np.full(int(joined.max()) + 1, len(labels))
            np.minimum.at(first, joined[size[0] :], own)
            _relabel(labels, own, first[joined[size[0] :]])
    found, labels = np.unique(labels, return_inverse=True)
    return len(found), _stored(site, labels.astype(np.int64))


def _relabel(labels: Integers, old: Integers, new: Integers) -> None:
    """Old numbers become new ones everywhere."""
    table = np.arange(len(labels))
    table[old] = new
    labels[:] = table[labels]


def _stored(site: Site, values: Integers) -> str:
    name = token_hex(6)
    for chunk, (first, last) in enumerate(pairwise([0, *site.ends])):
        store(site.vectors, name, str(chunk), values[first:last], site.room)
    return name
