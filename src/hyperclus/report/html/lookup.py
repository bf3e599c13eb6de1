"""What the page needs to answer "why is this vertex here?" and to write files: compact and compressed.

The page holds some vertices and hyperedges, all of them if the data are small. Of these vertices it has the
hyperedges with the most influence, of these hyperedges the share and the number of members of each cluster of
the finest level (coarser levels are sums of these) and the members with the largest weights.
"""

import base64
import json
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.clustering.incidence_blocks import lists_of, sources_of
from hyperclus.clustering.membership import REASONS, Confidence
from hyperclus.clustering.profile import PROFILE_COLUMNS
from hyperclus.hypergraph.messages import caption
from hyperclus.report.format import short_id
from hyperclus.report.html.levels import Level, Levels
from hyperclus.typing import Floats, Integers

SCALE = 10_000  # of shares and confidences as integers
MEMBERS = 5  # of a hyperedge that the page has at least, those with the largest weights
FULL_LENGTH = 2000  # characters of an id in files; longer ones are shortened


@dataclass(frozen=True, slots=True)
class LookupLimits:
    """Upper limits of what the page holds."""

    edges: int = 20_000
    incidences: int = 150_000
    cells: int = 200_000  # pairs of a hyperedge and a cluster of the finest level
    members: int = 60_000  # of all hyperedges together, at least MEMBERS of each
    certainties: int = 300_000  # vertices times levels
    labels_bytes: int = 1_500_000  # compressed labels of all vertices
    profile_rows: int = 20_000


@dataclass(frozen=True, eq=False)
class Lookup:
    """The vertices and hyperedges that the page can explain; `listed` are those that it must.

    `listed` are the positions of vertices in the vertex ids, and of hyperedges in the hypergraph of the walk.
    """

    levels: Levels
    listed: tuple[Integers, Integers]
    limits: LookupLimits = field(default_factory=LookupLimits)

    @property
    def main(self) -> Level:
        """The given partition."""
        return self.levels.levels[self.levels.main]

    @cached_property
    def vertices(self) -> Integers:
        """Positions of the vertices in the vertex ids, ascending."""
        found = self.main.views.lookup
        if len(found) == len(self.main.part.labels):
            return found
        inside = np.flatnonzero(self.main.part.labels >= 0)
        gamma = self.main.part.walk.hypergraph.gamma[self.listed[1]]
        rows = np.repeat(np.arange(gamma.shape[0]), np.diff(gamma.indptr))
        heaviest = gamma.indices[_rank(rows, -gamma.data) < MEMBERS]
        return np.unique(np.concatenate([found, self.listed[0], inside[heaviest]]))

    @cached_property
    def edges(self) -> Integers:
        """Positions of the hyperedges, ascending: the listed ones, and those with the most influence."""
        places = np.searchsorted(self._candidates, self._incidences["edge"])
        influence = np.bincount(places, self._incidences["influence"], minlength=len(self._candidates))
        influence[np.searchsorted(self._candidates, self.listed[1])] = np.inf
        order = np.argsort(-influence, kind="stable")[: self.limits.edges]
        cells = np.cumsum(np.diff(self._shares.indptr)[order])
        n_kept = max(int(np.searchsorted(cells, self.limits.cells, side="right")), len(self.listed[1]))
        return np.sort(self._candidates[order[:n_kept]])

    @property
    def has_all_vertices(self) -> bool:
        """Whether every vertex can be looked up."""
        return len(self.vertices) == len(self.main.part.labels)

    @property
    def has_all_edges(self) -> bool:
        """Whether every hyperedge with members can be looked up."""
        return len(self.edges) == int(np.count_nonzero(self._sizes))

    @cached_property
    def _sizes(self) -> Integers:
        return np.asarray(self.main.part.walk.hypergraph.edge_sizes)

    @cached_property
    def _walk_position(self) -> Integers:
        """The position in the walk of each vertex, -1 for one in no hyperedge."""
        inside = self.main.part.labels >= 0
        return np.where(inside, np.cumsum(inside) - 1, -1)

    @cached_property
    def _candidates(self) -> Integers:
        """Positions of the hyperedges with members that can be in the page, ascending."""
        if self.has_all_vertices:
            return np.flatnonzero(self._sizes)
        return np.union1d(self._lists.indices, self.listed[1])

    @cached_property
    def _lists(self) -> sp.csr_array:
        """Gamma by vertex, of the vertices that are in some hyperedge."""
        rows = self._walk_position[self.vertices]
        return lists_of(self.main.part.walk, rows[rows >= 0])

    @cached_property
    def _shares(self) -> sp.csr_array:
        """The share of each leaf in each candidate: sums of (phi A / psi + B) / 2, as in `edge_shares`."""
        walk, rows = self.main.part.walk, self._candidates
        gamma = walk.hypergraph.gamma[rows]
        sizes, factors = np.diff(gamma.indptr), walk.factors
        rate = (walk.stationary / factors.degrees)[gamma.indices]
        psi = walk.edge_stationary[rows]
        omega = np.repeat(walk.hypergraph.edge_weights[rows] / np.where(psi > 0, psi, 1.0), sizes)
        onward = gamma.data / np.repeat(factors.edge_degrees[rows], sizes)
        sources = sources_of(walk, gamma, rows, by_vertex=False)
        return self._by_leaf(gamma, 0.5 * (rate * sources * omega + onward))

    def _by_leaf(self, gamma: sp.csr_array, values: Any) -> sp.csr_array:
        """The sums of the values of incidences over the members in each leaf, (n_rows, n_leaves)."""
        leaves = self.levels.finest
        columns = leaves.part.walk_labels[gamma.indices].astype(gamma.indices.dtype)
        found = sp.csr_array((values, columns, gamma.indptr.copy()), shape=(gamma.shape[0], leaves.k))
        found.sum_duplicates()
        return found

    @cached_property
    def _incidences(self) -> dict[str, Any]:
        """The incidences of the vertices: position in `vertices`, hyperedge, A, share, B and influence.

        The influence is A(v, e) times the distance between the shares of the clusters in e and their volumes.
        """
        walk, shares = self.main.part.walk, self._shares
        places = self._walk_position[self.vertices]
        rows = places[places >= 0]
        own = self._lists
        lengths, edge = np.diff(own.indptr), own.indices.astype(np.int64)
        picked = sources_of(walk, own, rows, by_vertex=True) * walk.hypergraph.edge_weights[edge]
        picked = picked / np.repeat(walk.factors.degrees[rows], lengths)
        psi = walk.edge_stationary[edge]
        arriving = np.repeat(walk.stationary[rows], lengths) * picked / np.where(psi > 0, psi, 1.0)
        onward = own.data / walk.factors.edge_degrees[edge]
        weight = 0.5 * (arriving + onward)
        volumes = self.levels.finest.part.cut.volumes
        excess = np.maximum(shares.data - volumes[shares.indices], 0.0)
        distance = np.bincount(
            np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr)), excess, minlength=shares.shape[0]
        )
        return {
            "vertex": np.repeat(np.flatnonzero(places >= 0), lengths),
            "edge": edge,
            "picked": picked,
            "weight": weight,
            "onward": onward,
            "influence": picked * distance[np.searchsorted(self._candidates, edge)],
        }

    @cached_property
    def _kept(self) -> dict[str, Any]:
        """The incidences that the page has, sorted by vertex.

        They are those with the most influence on the vertex, or with the largest weights in the hyperedge.
        """
        found, n = self._incidences, len(self.vertices)
        known = np.isin(found["edge"], self.edges)
        some = {name: values[known] for name, values in found.items()}
        by_vertex = _rank(some["vertex"], -some["influence"]) < _cap(
            np.bincount(some["vertex"], minlength=n), self.limits.incidences
        )
        per_edge = max(self.limits.members // max(len(self.edges), 1), MEMBERS)
        by_edge = _rank(some["edge"], -some["onward"]) < per_edge
        kept = by_vertex | by_edge
        return {name: values[kept] for name, values in some.items()}

    def data(self) -> dict[str, Any]:
        """The vertices and hyperedges, for the script of the page."""
        return {
            "volumes": self.main.part.cut.volumes.tolist(),
            "vertices": self._vertex_data(),
            "edges": self._edge_data(),
        }

    def file_data(self) -> dict[str, Any]:
        """What only files have: the labels of all vertices, and the profile of a table; None if not."""
        return {"labels": self._labels_data(), "profile": self._profile_data()}

    def _vertex_data(self) -> dict[str, Any]:
        part, chosen = self.main.part, self.vertices
        kept = self._kept
        counts = np.bincount(kept["vertex"], minlength=len(chosen))
        degrees = np.zeros(len(chosen), dtype=np.int64)
        degrees[self._walk_position[chosen] >= 0] = np.diff(self._lists.indptr)
        numbers = np.searchsorted(self.edges, kept["edge"])
        views = self.main.views
        return {
            "positions": _differences(chosen),
            **_names(part.vertex_ids[chosen].tolist()),
            "leaf": self._leaves(chosen),
            "certainty": [self._certainty(level, chosen) for level in self.levels.levels],
            "degrees": degrees.tolist(),
            "counts": counts.tolist(),
            "edges": _differences(numbers, counts),
            "picked": _scaled(kept["picked"]),
            "weights": _scaled(kept["weight"]),
            "onward": None if np.allclose(kept["weight"], kept["onward"]) else _scaled(kept["onward"]),
            "points": _differences(np.searchsorted(chosen, views.embedding.vertices)),
        }

    def _leaves(self, chosen: Integers) -> list[int]:
        return self.levels.finest.part.labels[chosen].tolist()  # type: ignore[no-any-return]

    def _certainty(self, level: Level, chosen: Integers) -> dict[str, Any] | None:
        """Confidence, next group and reason of the outliers; None if they are too many."""
        few = len(chosen) * len(self.levels.levels) <= self.limits.certainties
        if level.confidence is None or not (few or level is self.main):
            return None
        return _certainty(level.confidence, level.ids, chosen, SCALE if level is self.main else 100)

    def _edge_data(self) -> dict[str, Any]:
        part, chosen = self.main.part, self.edges
        flows, gamma = self.main.views._flows, part.walk.hypergraph.gamma[chosen]
        shares = self._shares[np.searchsorted(self._candidates, chosen)]
        counts = self._by_leaf(gamma, np.ones(gamma.nnz, dtype=np.int64))
        lengths = np.diff(shares.indptr)
        return {
            "positions": _differences(chosen),
            **_names(part.walk.hypergraph.edge_ids[chosen].tolist()),
            "sizes": self._sizes[chosen].tolist(),
            "cells": lengths.tolist(),
            "leaf": _differences(shares.indices.astype(np.int64), lengths),
            "share": _scaled(shares.data),
            "count": counts.data.tolist(),
            "nearest": self.main.ids[flows.nearest[chosen]].tolist(),
            "clear": flows.clear[chosen].astype(int).tolist(),
            "nearestShare": [float(f"{share:.6g}") for share in flows.shares[chosen].tolist()],
        }

    def _labels_data(self) -> dict[str, Any] | None:
        """The labels of all vertices, unless `vertices` has them all or they are too large."""
        n = len(self.main.part.labels)
        if self.has_all_vertices:
            return None
        sample = self._labels_of(np.arange(0, n, max(n // 20_000, 1)))
        size = len(zlib.compress(_encoded(sample))) * n / max(len(sample["leaf"]), 1)
        return self._labels_of(np.arange(n)) if size <= self.limits.labels_bytes else None

    def _labels_of(self, chosen: Integers) -> dict[str, Any]:
        sure = self.main.confidence
        certainty = None if sure is None else _certainty(sure, self.main.ids, chosen, 1000)
        ids = [short_id(value, FULL_LENGTH) for value in self.main.part.vertex_ids[chosen].tolist()]
        return {"names": ids, "leaf": self._leaves(chosen), "certainty": certainty, "scale": 1000}

    def _profile_data(self) -> dict[str, Any] | None:
        """The rows of the profile of the given partition, with ids of groups; None if it is no table."""
        part, views = self.main.part, self.main.views
        if not views.table_columns or len(views.table_columns) * part.k > self.limits.profile_rows:
            return None
        found = part.profile()
        ids = dict(zip(found.clusters, self.main.ids.tolist(), strict=True))
        rows = []
        for column, importance, cluster, value, *figures, median in found.rows():
            shown = [
                None if np.isnan(figure) else float(f"{figure:.6g}") for figure in (importance, *figures)
            ]
            named = [None if each is None else full_name(each) for each in (value, median)]
            rows.append([full_name(column), shown[0], ids[cluster], named[0], *shown[1:], named[1]])
        return {"columns": list(PROFILE_COLUMNS), "rows": rows}


def packed(value: Any) -> str:
    """Encode a value as JSON, compress it (zlib) and encode that in base64.

    >>> zlib.decompress(base64.b64decode(packed([1, "a"])))
    b'[1,"a"]'
    """
    return base64.b64encode(zlib.compress(_encoded(value))).decode()


def full_name(value: Any) -> str:
    """An id as it is written to files."""
    try:
        text = caption(value)
    except ValueError:  # an integer of thousands of digits
        return short_id(value)
    return text if len(text) <= FULL_LENGTH else short_id(text, FULL_LENGTH)


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _names(ids: list[Any]) -> dict[str, Any]:
    """Names for the page; `full` has those that differ in files."""
    names, written = [short_id(value) for value in ids], [full_name(value) for value in ids]
    pairs = enumerate(zip(names, written, strict=True))
    return {"names": names, "full": {i: text for i, (name, text) in pairs if name != text}}


def _certainty(sure: Confidence, ids: Integers, chosen: Integers, scale: int) -> dict[str, Any]:
    """Confidence in units of 1 / scale, -1 for none; the id of the next group, -1 for none; the reason."""
    values, others = sure.values[chosen], sure.next_clusters[chosen]
    numbers = {reason: number for number, reason in enumerate(REASONS)}
    return {
        "scale": scale,
        "sure": np.where(np.isnan(values), -1, np.round(scale * np.nan_to_num(values))).astype(int).tolist(),
        "next": np.where(others >= 0, ids[others], -1).tolist(),
        "outlier": [numbers.get(reason, 0) for reason in sure.outliers[chosen].tolist()],
    }


def _scaled(values: Floats) -> list[int]:
    return np.round(SCALE * values).astype(np.int64).tolist()  # type: ignore[no-any-return]


def _differences(values: Integers, lengths: Integers | None = None) -> list[int]:
    """Differences of consecutive values, which compress better; each run begins with its own first value.

    `lengths` are the lengths of the runs; by default there is one.

    >>> _differences(np.array([3, 5, 1, 4]), np.array([2, 2]))
    [3, 2, 1, 3]
    """
    found = np.diff(values, prepend=0)
    if lengths is not None and len(values):
        starts = (np.cumsum(lengths) - lengths)[lengths > 0]
        found[starts] = values[starts]
    return found.tolist()  # type: ignore[no-any-return]


def _rank(groups: Integers, keys: Floats) -> Integers:
    """The place of each entry in its group, from 0, in the order of the keys."""
    order = np.lexsort((keys, groups))
    sorted_groups = groups[order]
    starts = (
        np.flatnonzero(np.append(True, sorted_groups[1:] != sorted_groups[:-1])) if len(groups) else groups
    )
    lengths = np.diff(np.append(starts, len(groups)))
    found = np.empty(len(groups), dtype=np.int64)
    found[order] = np.arange(len(groups)) - np.repeat(starts, lengths)
    return found


def _cap(counts: Integers, total: int) -> int:
    """The largest number c such that the sum of min(count, c) is at most `total`; at least 5.

    >>> _cap(np.array([1, 10, 100]), 31)
    20
    """
    ordered = np.sort(counts)
    sums = np.append(0, np.cumsum(ordered))
    left = len(ordered) - np.arange(len(ordered))
    fits = sums[:-1] + ordered * left <= total
    if fits.all():
        return int(ordered[-1]) if len(ordered) else 5
    first = int(np.argmin(fits))
    return max(int((total - sums[first]) // left[first]), 5)
