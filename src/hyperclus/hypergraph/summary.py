"""What a hypergraph looks like before it is clustered, and what in it looks odd."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.incidence import connected_components
from hyperclus.hypergraph.messages import caption, shown
from hyperclus.typing import Floats, Ids, Integers

WIDE = 1e6  # largest weight over smallest from which the scale is pointed out
FEW = 3  # ids that a remark names
LONGEST = 60  # characters of a caption in a remark
MOST = 0.5  # share of the vertices from which a hyperedge is pointed out

Five = tuple[float, float, float, float, float]


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """Sizes, distributions and remarks; `print` it.

    Attributes
    ----------
    n_vertices, n_edges, n_incidences, n_components : int
        Components count vertices in hyperedges only.
    isolated, empty_edges : int
        Vertices in no hyperedge, hyperedges without members.
    largest_component : int
        Its vertices.
    edge_sizes, degrees : minimum, quartiles and maximum
        Members of a hyperedge; hyperedges of a vertex.
    gamma, omega : minimum, quartiles and maximum
    remarks : tuple of str
        What looks odd, one sentence each; most telling first.
    """

    n_vertices: int
    n_edges: int
    n_incidences: int
    n_components: int
    isolated: int
    empty_edges: int
    largest_component: int
    edge_sizes: Five
    degrees: Five
    gamma: Five
    omega: Five
    remarks: tuple[str, ...]

    def __repr__(self) -> str:
        rows = [
            ("members of a hyperedge", self.edge_sizes),
            ("hyperedges of a vertex", self.degrees),
            ("weight of a member (gamma)", self.gamma),
            ("weight of a hyperedge (omega)", self.omega),
        ]
        lines = [
            f"{self.n_vertices:,} vertices, {self.n_edges:,} hyperedges, {self.n_incidences:,} incidences",
            f"{self.n_components:,} connected component{'s' * (self.n_components != 1)}, the largest of "
            f"{self.largest_component:,} vertices",
            f"  {'':<30} {'least':>10} {'quarter':>10} {'median':>10} {'3 quart.':>10} {'most':>10}",
            *(f"  {name:<30} " + " ".join(f"{value:>10.6g}" for value in five) for name, five in rows),
            *(f"- {remark}" for remark in self.remarks),
        ]
        return "\n".join(lines)


def summary(hypergraph: Hypergraph) -> Summary:
    """Sizes, distributions of sizes, degrees and weights, components, and what looks odd; O(m log m).

    Examples
    --------
    >>> summary(Hypergraph.from_edges([["a", "b", "c"], ["c", "d"], ["x", "y"]]))
    6 vertices, 3 hyperedges, 7 incidences
    2 connected components, the largest of 4 vertices
                                          least    quarter     median   3 quart.       most
      members of a hyperedge                  2          2          2        2.5          3
      hyperedges of a vertex                  1          1          1          1          2
      weight of a member (gamma)              1          1          1          1          1
      weight of a hyperedge (omega)           1          1          1          1          1
    - 2 connected components: two clusters of NCut 0 are there without any search
    - gamma is the same for all members of every hyperedge, so the weights of members change nothing
    - most vertices are in one hyperedge at most, so the clusters will be unions of hyperedges
    """
    check_hypergraph(hypergraph)
    covered = hypergraph.covered
    _, of_vertex, _ = connected_components(hypergraph.gamma)
    component_sizes = np.bincount(of_vertex[covered])
    n_components = int(np.count_nonzero(component_sizes))
    degrees = np.bincount(hypergraph.gamma.indices, minlength=hypergraph.n_vertices)
    return Summary(
        hypergraph.n_vertices,
        hypergraph.n_edges,
        hypergraph.n_incidences,
        n_components,
        int(np.count_nonzero(~covered)),
        int(np.count_nonzero(hypergraph.edge_sizes == 0)),
        int(component_sizes.max()),
        _five(hypergraph.edge_sizes),
        _five(degrees),
        _five(hypergraph.gamma.data),
        _five(hypergraph.edge_weights),
        tuple(_remarks(hypergraph, degrees, n_components)),
    )


def _five(values: Integers | Floats) -> Five:
    least, quarter, median, three, most = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return least, quarter, median, three, most


def _remarks(hypergraph: Hypergraph, degrees: Integers, n_components: int) -> Iterator[str]:
    if n_components > 1:
        yield f"{n_components:,} connected components: two clusters of NCut 0 are there without any search"
    yield from _on_sizes(hypergraph, degrees)
    yield from _on_weights(hypergraph)
    for what, ids in (("vertex", hypergraph.vertex_ids), ("hyperedge", hypergraph.edge_ids)):
        near = _nearly_equal(ids)
        if near is not None:
            first, second = near
            yield f"the {what} ids {first} and {second} differ in case, spaces or type only; are they one?"
    if np.median(degrees) <= 1:
        yield "most vertices are in one hyperedge at most, so the clusters will be unions of hyperedges"


def _on_sizes(hypergraph: Hypergraph, degrees: Integers) -> Iterator[str]:
    sizes, n = hypergraph.edge_sizes, hypergraph.n_vertices
    everywhere = n > 1 and (sizes[sizes > 0] == n).all()
    if everywhere:
        yield "every vertex is in every hyperedge, so members tell nothing apart; cluster with alpha=1"
    wide = (sizes > MOST * n) & (n > 4) & (not everywhere)
    for odd, ids, one, many, so in (
        (degrees == 0, hypergraph.vertex_ids, "vertex is", "vertices are", "in no hyperedge, for label -1"),
        (
            sizes == 0,
            hypergraph.edge_ids,
            "hyperedge has",
            "hyperedges have",
            "no members and no part in the walk",
        ),
        (wide, hypergraph.edge_ids, "hyperedge holds", "hyperedges hold", "over half of the vertices"),
        (
            sizes == 1,
            hypergraph.edge_ids,
            "hyperedge has",
            "hyperedges have",
            "a single member, joining nothing",
        ),
    ):
        count = int(np.count_nonzero(odd))
        if count:
            yield f"{count:,} {one if count == 1 else many} {so}: {_few(ids[odd])}"
    same = _repeated(hypergraph)
    if same is not None:
        count, pair = same
        verb = "hyperedge repeats" if count == 1 else "hyperedges repeat"
        yield f"{count:,} {verb} members and weights of another: {pair[1]} those of {pair[0]}"


def _on_weights(hypergraph: Hypergraph) -> Iterator[str]:
    gamma, sizes = hypergraph.gamma, hypergraph.edge_sizes
    starts = gamma.indptr[:-1][sizes > 0]
    low, high = np.minimum.reduceat(gamma.data, starts), np.maximum.reduceat(gamma.data, starts)
    if (low == high).all():
        yield "gamma is the same for all members of every hyperedge, so the weights of members change nothing"
    elif (low < high / WIDE).any():
        worst = int(np.flatnonzero(sizes > 0)[np.argmax(np.log(high) - np.log(low))])
        name = _said(hypergraph.edge_ids[worst])
        yield f"in hyperedge {name} a member weighs over {WIDE:,.0f} times as much as another; one unit?"
    omega = hypergraph.edge_weights
    if omega.min() < omega.max() / WIDE:
        heavy, light = (_said(hypergraph.edge_ids[int(pick(omega))]) for pick in (np.argmax, np.argmin))
        yield f"hyperedge {heavy} weighs over {WIDE:,.0f} times as much as {light}; one unit?"


def _repeated(hypergraph: Hypergraph) -> tuple[int, tuple[str, str]] | None:
    """How many hyperedges equal an earlier one in members and gamma, and the first such pair.

    By random sums of 64 bits: different hyperedges have the same one with probability 2^-64.
    """
    gamma = hypergraph.gamma
    kept = np.flatnonzero(hypergraph.edge_sizes)
    keys = np.random.default_rng(0).integers(0, 1 << 64, hypergraph.n_vertices, dtype=np.uint64)
    drawn = keys[gamma.indices]
    bits = drawn * gamma.data.view(np.uint64) + (drawn >> np.uint64(7))
    sums = np.add.reduceat(bits, gamma.indptr[kept])
    _, first, group = np.unique(sums, return_index=True, return_inverse=True)
    later = np.flatnonzero(first[group] != np.arange(len(kept)))
    if not len(later):
        return None
    pair = (kept[first[group[later[0]]]], kept[later[0]])
    return len(later), (_said(hypergraph.edge_ids[pair[0]]), _said(hypergraph.edge_ids[pair[1]]))


def _few(ids: Ids) -> str:
    """The first three ids and how many more."""
    text = ", ".join(map(_said, ids[:FEW].tolist()))
    return text + (f" and {len(ids) - FEW:,} more" if len(ids) > FEW else "")


def _said(value: Any) -> str:
    """An id in a remark: a hyperedge of a table as "odor = n", any other as in messages."""
    if not isinstance(value, tuple):
        return shown(value)
    try:
        text = caption(value)
    except ValueError:  # an integer of thousands of digits, somewhere in it
        return shown(value)
    return text if text.isprintable() and len(text) <= LONGEST else shown(value)


def _nearly_equal(ids: Ids) -> tuple[str, str] | None:
    """Two ids that are the same to a hasty reader: "a" and "A ", 1 and "1"."""
    if ids.dtype != object:
        return None
    seen: dict[str, object] = {}
    for name in ids.tolist():
        if isinstance(name, str | int):
            plain = " ".join(str(name).split()).casefold()
            other = seen.setdefault(plain, name)
            if other is not name and (type(other), other) != (type(name), name):
                return shown(other), shown(name)
    return None
