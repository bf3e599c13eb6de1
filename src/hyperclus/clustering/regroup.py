"""Split and merge the clusters of a partition; the result has its own figures and proven bound."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hyperclus.clustering._run import Run
from hyperclus.clustering.chance import Chance
from hyperclus.clustering.cluster import cluster
from hyperclus.clustering.objectives import objective_of
from hyperclus.clustering.partition import Partition
from hyperclus.clustering.vertex_search import Clusters
from hyperclus.errors import InputError, check_integer
from hyperclus.hypergraph.messages import count
from hyperclus.typing import Integers

NOT_COMPARED = Chance(None, reason="clusters that were split or merged are not; evaluate compares them")
MAX_NAMES = 3  # clusters that the name of a merger lists


def split(part: Partition, number: int, k: int) -> Partition:
    """Split one cluster into k by the objective of all clusters; the others do not change.

    The start is the best split of the sub-hypergraph of its members alone. Then its vertices move between the
    k parts as long as the objective of all clusters improves.
    """
    check_integer("k", k, 2)
    labels = part.walk_labels
    inside = labels == number
    if inside.sum() < k:
        name = part.cluster_names[number]
        found = part.nouns.count_vertices(int(inside.sum()))
        raise InputError(f"cluster {name!r} has {found}, so it cannot be split into {k}; use a smaller k")
    settings = {name: part.settings[name] for name in ("alpha", "seed") if name in part.settings}
    members = part.walk.hypergraph.restrict(inside)
    start = cluster(members, k, objective=part.objective, chance=False, **settings)
    numbers = np.concatenate([[number], part.k + np.arange(k - 1)])
    after = labels.copy()
    after[inside] = numbers[start.labels]
    clusters = Clusters.of(part.walk, after, part.k + k - 1, objective=objective_of(part.objective))
    clusters.descend_within(np.where(np.isin(np.arange(clusters.k), numbers), 0, np.arange(clusters.k) + 1))
    names = None
    if part.names is not None:
        pieces = [f"{part.names[number]} ({piece + 1})" for piece in range(k)]
        names = _distinct([*part.names[:number], pieces[0], *part.names[number + 1 :], *pieces[1:]])
    method = f"split of cluster {part.cluster_names[number]} into {k}"
    return regrouped(part, clusters.state.labels, clusters.k, names, {"method": method})


def merge(part: Partition, numbers: Sequence[int]) -> Partition:
    """Merge some clusters into one."""
    chosen = sorted(set(numbers))
    if len(chosen) < 2:
        raise InputError(f"a merger needs at least two different clusters; got {list(numbers)!r}")
    into = np.zeros(part.k, dtype=np.int64)
    rest = np.setdiff1d(np.arange(part.k), chosen)
    into[rest] = 1 + np.arange(len(rest))
    labels = into[part.walk_labels]
    names = None if part.names is None else merged_names(part, into)
    method = f"merger of clusters {', '.join(str(part.cluster_names[cluster]) for cluster in chosen)}"
    return regrouped(part, labels, len(rest) + 1, names, {"method": method})


def regrouped(
    part: Partition, labels: Integers, k: int, names: Sequence[str] | None, settings: dict[str, Any]
) -> Partition:
    """A partition with other labels 0 .. k - 1 of the vertices in hyperedges, and names in that order.

    Its bound is that of k clusters: from the eigenpairs of the partition if these are enough, else from new
    ones.
    """
    given = {name: part.settings[name] for name in ("alpha", "tolerance", "seed") if name in part.settings}
    run = Run(part.walk.hypergraph, chance=False, **given)
    run.names = names
    pairs, needed = part.eigenpairs, min(max(k, 2), len(labels))
    if len(pairs.values) >= needed:
        pairs = replace(pairs.first(needed), spare=pairs.vectors[:, needed:])
    else:
        pairs = run.eigenpairs(part.walk, k)
    kept = {name: part.settings[name] for name in ("objective",) if name in part.settings}
    found = run.partition(part.walk, pairs, labels, k, kept | settings)
    everywhere = np.full(len(part.labels), -1, dtype=np.int64)
    everywhere[part.labels >= 0] = found.labels
    chance = None if part.chance is None else NOT_COMPARED
    kept_fields: dict[str, Any] = {"vertex_ids": part.vertex_ids, "attributes": part.attributes}
    return replace(found, labels=everywhere, chance=chance, **kept_fields)


def merged_names(part: Partition, into: Integers) -> list[str]:
    """The names of mergers, given the new number of each cluster: those of their clusters, largest first."""
    joined: list[str] = []
    for number in range(int(into.max()) + 1):
        names = [str(part.cluster_names[cluster]) for cluster in np.flatnonzero(into == number)]
        more = len(names) - MAX_NAMES
        joined.append(
            " + ".join(names) if more <= 0 else f"{names[0]} + {count(more + MAX_NAMES - 1, 'other')}"
        )
    return _distinct(joined)


def _distinct(names: list[str]) -> list[str]:
    """The names, with primes where one occurs twice."""
    found: list[str] = []
    for name in names:
        while name in found:
            name += "'"
        found.append(name)
    return found
