"""Connected components on one worker, which holds a number for each vertex and goes over all bundles."""

from pathlib import Path
from typing import Any

import numpy as np

from hyperclus._runtime.jit import kernels
from hyperclus.engines.dask import union_find
from hyperclus.engines.dask.blocks import incidences_of
from hyperclus.engines.dask.stages import site_at, store_whole
from hyperclus.engines.dask.store import read_array


def find_components(place: Path) -> tuple[int, Any]:
    """The number of components, and a reference to the vector that has the one of each vertex."""
    site = site_at(place)
    parent = np.arange(site.ends[-1])
    for folder in site.bundles:
        vertices = read_array(folder / "vertices.npy")
        first = np.full(len(read_array(folder / "omega.npy", "r")), -1)
        for edges, members in incidences_of(folder):
            kernels(union_find, len(edges)).unite(edges, members, vertices, first, parent)
    kernels(union_find, len(parent)).roots(parent)
    own = parent == np.arange(len(parent))
    numbers = np.cumsum(own) - 1
    return int(own.sum()), store_whole(site, numbers[parent])
