"""One partition out of several."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.checkpoint import without_checkpoints
from hyperclus._runtime.progress import unwatched
from hyperclus.clustering._run import Settings, check_k
from hyperclus.clustering.cluster import cluster, evaluate
from hyperclus.clustering.comparison import Clusters
from hyperclus.clustering.partition import Partition, StoredPartition
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import as_list, positions, vertex_codes
from hyperclus.hypergraph.messages import count, shown
from hyperclus.io.anything import as_hypergraph
from hyperclus.typing import HypergraphLike, Ids, Integers


def consensus(
    hypergraph: HypergraphLike,
    partitions: Iterable[Clusters],
    k: int | None = None,
    **settings: Unpack[Settings],
) -> Partition:
    """Combine several partitions of the same vertices into one, and score it.

    Every cluster of every partition becomes a hyperedge on the vertices, and this hypergraph is clustered
    by its NCut, so that vertices that often share a cluster stay together. The clusters as hyperedges are
    those of HGPA (Strehl and Ghosh, *Journal of Machine Learning Research* 3, 2002), which cuts them by
    hMETIS.

    Parameters
    ----------
    hypergraph : Hypergraph
        Whose vertices the partitions have; the result is scored on it.
    partitions : list of Partition, or of labels as in `evaluate`
        Partitions are matched by vertex id, and may have different numbers of clusters. A vertex with the
        label -1 in a Partition is in none of its clusters.
    k : int, optional
        The number of clusters; by default that of the partitions, which must then agree on it.
    **settings
        alpha, bound, bound_seconds, tolerance, seed, engine, precision, chance: as in `evaluate`.

    Returns
    -------
    Partition
        `hc.refine(h, part)` improves its objective on the hypergraph itself.

    Raises
    ------
    InputError, ConvergenceError

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> given = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]]
    >>> consensus(h, given).members(0).tolist()
    ['a', 'b', 'c']
    """
    h = as_hypergraph(hypergraph)
    given = [_labels(one, h.vertex_ids, n) for n, one in enumerate(_as_list(partitions), 1)]
    if not given:
        raise InputError("no partitions are given; give at least one")
    inside = h.covered
    labels = np.column_stack(given)[inside]
    counts = [len(np.unique(column[column >= 0])) for column in labels.T]
    if k is None:
        if len(set(counts)) > 1:
            found = f"the partitions have {min(counts)} to {max(counts)} clusters"
            raise InputError(found, "; choose a number with ", Argument("k"))
        k = counts[0]
    check_k(k, int(np.count_nonzero(inside)))
    if (absent := (labels < 0).all(axis=1)).any():
        name = shown(h.vertex_ids[np.flatnonzero(inside)[int(absent.argmax())]])
        raise InputError(f"vertex {name} is in no cluster of any partition; leave it out of the hypergraph")
    everywhere = np.zeros(h.n_vertices, dtype=np.int64)
    everywhere[inside] = _combined(labels, k, settings.get("seed", 0))
    part = evaluate(h, everywhere, **settings)
    return replace(part, settings={**part.settings, "method": "consensus", "n_partitions": len(given)})


def _combined(labels: Integers, k: int, seed: Any) -> Integers:
    """Cluster the vertices by the clusters that they are in, given as a row of labels for each vertex.

    Vertices with equal rows are one vertex, whose gamma is their number: the walk is the same for them. The
    NCut agrees better with the given partitions than the information does (benchmarks/consensus.py).
    """
    codes = np.zeros(len(labels), dtype=np.int64)
    for column in labels.T:  # half the time of np.unique on rows
        codes = np.unique(codes * (column.max() + 2) + column + 1, return_inverse=True)[1]
    _, first, atoms, sizes = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    rows = labels[first]
    if len(rows) < k:
        groups = count(len(rows), "group")
        raise InputError(
            f"the partitions tell only {groups} of vertices apart, fewer than k = {k}; lower ", Argument("k")
        )
    if len(rows) == k:
        return np.asarray(atoms)
    widths = rows.max(axis=0) + 1
    edges = rows + np.concatenate([[0], np.cumsum(widths)[:-1]])
    members, columns = np.nonzero(rows >= 0)
    gamma = sp.csr_array((sizes[members].astype(np.float64), (members, edges[members, columns])))
    small = Hypergraph.from_incidence(gamma, empty_edges="drop")
    with unwatched(), without_checkpoints():
        found = cluster(small, k, objective="ncut", seed=seed, engine="cpu", chance=False)
    return np.asarray(found.labels[atoms])


def _as_list(partitions: Any) -> list[Any]:
    if isinstance(partitions, Partition | StoredPartition):
        raise InputError("one Partition is given; put the partitions into a list")
    return as_list(partitions, "partitions")


def _labels(given: Any, vertex_ids: Ids, number: int) -> Integers:
    """The label of each vertex of the hypergraph, from 0; -1 for those in no cluster of a Partition."""
    if isinstance(given, StoredPartition):
        raise InputError(f"partition {number} is in files; give its labels as a mapping from vertex id")
    if isinstance(given, Partition):
        if np.array_equal(given.vertex_ids, vertex_ids):
            return given.labels
        return given.labels[positions(vertex_ids, given.vertex_ids, f"partition {number}: vertex")]
    codes, _ = vertex_codes(given, vertex_ids, f"label in partition {number}")
    return codes.astype(np.int64)
