"""Sizes and distributions of a hypergraph, and what is unusual about it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hyperclus._runtime.arrays import BLOCK, blocks
from hyperclus._runtime.threads import in_order
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.incidence import connected_components, vertex_degrees
from hyperclus.hypergraph.messages import USUAL, Nouns, caption, count, first_few, shown, with_article
from hyperclus.typing import Floats, Integers

LARGE_RATIO = 1e6  # of the largest to the smallest weight, from which there is a remark
HEAVY_TAIL = 100  # ratio of the largest weight to the 95 % quantile, from which there is a remark
MANY_WEIGHTS = 20  # from which quantiles are meant
LARGE_SHARE = 0.5  # of the vertices in one hyperedge, from which there is a remark
CAPTION_LENGTH = 60  # of a hyperedge in a remark

HIGH = 0.95  # quantile that the largest weight is compared with
FIRST_BITS = 20  # of a float: the sign, the exponent and eight of the fraction
MANY = 4_000_000  # numbers from which quantiles are found without a copy

QUARTILES = ("minimum", "25 %", "median", "75 %", "maximum")
SHARES = [0.0, 0.25, 0.5, 0.75, 1.0]
Quartiles = tuple[float, float, float, float, float]


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """Sizes, distributions (minimum, quartiles and maximum) and remarks; `print` it."""

    n_vertices: int
    n_edges: int
    n_incidences: int
    n_components: int  # isolated vertices are no components
    isolated: int  # number of vertices in no hyperedge
    empty_edges: int  # number of hyperedges without members
    largest_component: int  # number of vertices in it
    edge_sizes: Quartiles  # members per hyperedge
    degrees: Quartiles  # hyperedges per vertex
    gamma: Quartiles
    omega: Quartiles
    remarks: tuple[str, ...]  # what is unusual, one sentence each, most important first
    nouns: Nouns = USUAL

    @property
    def headings(self) -> tuple[str, str]:
        """Two lines: the sizes, and the connected components."""
        nouns = self.nouns
        sizes = f"{nouns.count_vertices(self.n_vertices)}, {nouns.count_hyperedges(self.n_edges)}"
        largest = f", the largest of {nouns.count_vertices(self.largest_component)}" * (self.n_components > 0)
        components = count(self.n_components, "connected component") + largest
        return f"{sizes}, {count(self.n_incidences, 'incidence')}", components

    @property
    def rows(self) -> list[list[str]]:
        """What is described, and its `QUARTILES`."""
        one, edge = self.nouns.a_vertex, self.nouns.a_hyperedge
        described = (
            (f"members per {edge}", self.edge_sizes),
            (f"{self.nouns.hyperedges} per {one}", self.degrees),
            (f"{one} weight (gamma)", self.gamma),
            (f"{edge} weight (omega)", self.omega),
        )
        return [[name, *map(_figure, five)] for name, five in described]

    def __repr__(self) -> str:
        width = max(24, *(len(row[0]) for row in self.rows))
        lines = [
            *self.headings,
            *(
                f"  {name:<{width}} " + " ".join(f"{cell:>9}" for cell in cells)
                for name, *cells in (["", *QUARTILES], *self.rows)
            ),
            *(f"- {remark}" for remark in self.remarks),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from hyperclus.report.notebook import html_table

        sizes, components = self.headings
        return html_table(sizes, ["", *QUARTILES], self.rows, [components, *self.remarks])


def summary(hypergraph: Hypergraph, of_vertex: Integers | None = None) -> Summary:
    """Summarize sizes, degrees, weights and components, and what is unusual, in O(m).

    `of_vertex` is the connected component of each vertex, if that is known.

    Examples
    --------
    >>> summary(Hypergraph.from_edges([["a", "b", "c"], ["c", "d"], ["x", "y"]]))
    6 vertices, 3 hyperedges, 7 incidences
    2 connected components, the largest of 4 vertices
                                 minimum      25 %    median      75 %   maximum
      members per hyperedge            2         2         2       2.5         3
      hyperedges per vertex            1         1         1         1         2
      vertex weight (gamma)            1         1         1         1         1
      hyperedge weight (omega)         1         1         1         1         1
    - 2 connected components, so a partition into 2 clusters has NCut 0
    - gamma is the same for all members of every hyperedge, so vertex weights have no effect
    - most vertices are in at most one hyperedge, so clusters will be unions of hyperedges
    """
    check_hypergraph(hypergraph)
    covered = hypergraph.covered
    if of_vertex is None:
        _, of_vertex, _ = connected_components(hypergraph.gamma)
    component_sizes = np.bincount(of_vertex[covered])
    n_components = int(np.count_nonzero(component_sizes))
    degrees = vertex_degrees(hypergraph.gamma)
    of_degrees = _quartiles(degrees)
    gamma = quantiles(hypergraph.gamma.data, [*SHARES, HIGH])
    return Summary(
        hypergraph.n_vertices,
        hypergraph.n_edges,
        hypergraph.n_incidences,
        n_components,
        int(np.count_nonzero(~covered)),
        int(np.count_nonzero(hypergraph.edge_sizes == 0)),
        int(component_sizes.max(initial=0)),
        _quartiles(hypergraph.edge_sizes),
        of_degrees,
        cast(Quartiles, tuple(gamma[:5])),
        _quartiles(hypergraph.edge_weights),
        tuple(_remarks(hypergraph, degrees, of_degrees[2], n_components, gamma[-1])),
        hypergraph.nouns,
    )


def _quartiles(values: Integers | Floats) -> Quartiles:
    if not len(values):
        return cast(Quartiles, (np.nan,) * len(SHARES))
    if values.dtype.kind == "i" and values.max() < len(values):
        return cast(Quartiles, tuple(quantiles_of_counts(np.bincount(values), SHARES)))
    return cast(Quartiles, tuple(np.quantile(values, SHARES).tolist()))


def quantiles_of_counts(counts: Integers, shares: list[float]) -> list[float]:
    """The same as `np.quantile` for integers from 0, given how often each occurs; nothing is sorted.

    >>> quantiles_of_counts(np.array([0, 1, 1, 0, 1]), [0.0, 0.5, 0.75])
    [1.0, 2.0, 3.0]
    """
    ends = np.cumsum(counts)
    places = [share * float(ends[-1] - 1) for share in shares]
    pairs = (np.searchsorted(ends, [np.floor(place), np.ceil(place)], side="right") for place in places)
    return [float(np.quantile(pair, place % 1)) for pair, place in zip(pairs, places, strict=True)]


def quantiles(values: Floats, shares: list[float], many: int = MANY) -> list[float]:
    """The same as `np.quantile` for positive numbers, without a copy if there are many.

    Numbers are counted by their first bits, which sort as the numbers do, and only those that share them with
    a quantile are sorted.

    >>> quantiles(np.array([1.0, 4.0, 2.0]), [0.0, 0.5, 0.75], many=1)
    [1.0, 2.0, 3.0]
    """
    if not len(values):
        return [np.nan] * len(shares)
    places = np.asarray(shares) * (len(values) - 1)
    wanted = np.unique(np.concatenate([np.floor(places), np.ceil(places)]).astype(np.int64))

    def first_bits(some: slice) -> Integers:
        return (values[some].view(np.uint64) >> np.uint64(64 - FIRST_BITS)).astype(np.int64)

    def counted(some: slice) -> Integers:
        return np.bincount(first_bits(some), minlength=1 << FIRST_BITS)

    ends = np.cumsum(sum(in_order(counted, blocks(len(values))), start=np.zeros(1, dtype=np.int64)))
    cells = np.unique(np.searchsorted(ends, wanted, side="right"))
    starts = np.append(0, ends)[cells]
    if len(values) <= many or (ends[cells] - starts).sum() > len(values) // 4:
        return [float(found) for found in np.quantile(values, shares)]
    inside = np.zeros(1 << FIRST_BITS, dtype=bool)
    inside[cells] = True
    near = in_order(lambda some: values[some][inside[first_bits(some)]], blocks(len(values)))
    ordered = np.sort(np.concatenate(list(near)))
    offsets = starts - np.append(0, np.cumsum(ends[cells] - starts))[:-1]
    cell_of = np.searchsorted(cells, np.searchsorted(ends, wanted, side="right"))
    known = dict(zip(wanted.tolist(), ordered[wanted - offsets[cell_of]].tolist(), strict=True))
    pairs = ([known[int(np.floor(place))], known[int(np.ceil(place))]] for place in places)
    return [float(np.quantile(pair, place % 1)) for pair, place in zip(pairs, places.tolist(), strict=True)]


def _figure(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.6g}"


def _remarks(
    hypergraph: Hypergraph, degrees: Integers, median: float, n_components: int, high: float
) -> Iterator[str]:
    nouns = hypergraph.nouns
    if not hypergraph.n_incidences:
        inside = f"no {nouns.a_vertex} is in {with_article(nouns.a_hyperedge)}"
        yield f"{inside}, so there is nothing to cluster"
        return
    if n_components > 1:
        most = "2" if n_components == 2 else f"2 to {n_components:,}"
        yield f"{n_components:,} connected components, so a partition into {most} clusters has NCut 0"
    yield from _on_sizes(hypergraph, degrees)
    yield from _on_weights(hypergraph, high)
    sides = ((nouns.a_vertex, hypergraph.vertex_ids), (nouns.a_hyperedge, hypergraph.edge_ids))
    for what, ids in sides:
        n_similar, pair = (0, "") if ids.dtype != object else similar_names(ids.tolist())
        if n_similar:
            differ = count(n_similar, f"{what} id differs from another", f"{what} ids differ from others")
            yield f"{differ} only in case, spaces or type, as do {pair}; do they mean the same?"
    if median <= 1:
        most = f"most {nouns.vertices} are in at most one {nouns.a_hyperedge}"
        yield f"{most}, so clusters will be unions of {nouns.hyperedges}"


def _on_sizes(hypergraph: Hypergraph, degrees: Integers) -> Iterator[str]:
    sizes, n = hypergraph.edge_sizes, hypergraph.n_vertices
    vertices, edges = hypergraph.vertex_ids, hypergraph.edge_ids
    nouns = hypergraph.nouns
    a_vertex, all_vertices, edge, some = nouns.a_vertex, nouns.vertices, nouns.a_hyperedge, nouns.hyperedges
    everywhere = n > 1 and (sizes[sizes > 0] == n).all()
    if everywhere:
        yield f"every {a_vertex} is in every {edge}, so members distinguish nothing; cluster with alpha=1"
    large = (sizes > LARGE_SHARE * n) & (n > 4) & (not everywhere)
    single, nowhere = "a single member and connect", f"in no {edge} and will get label -1"
    for unusual, ids, one, many, what in (
        (degrees == 0, vertices, f"{a_vertex} is", f"{all_vertices} are", nowhere),
        (sizes == 0, edges, f"{edge} has", f"{some} have", "no members and no effect"),
        (large, edges, f"{edge} holds", f"{some} hold", f"over half of the {all_vertices}"),
        (sizes == 1, edges, f"{edge} has {single}s", f"{some} have {single}", "nothing"),
    ):
        if number := int(np.count_nonzero(unusual)):
            yield f"{count(number, one, many)} {what}: {first_few(ids[unusual], show=_named)}"
    repeated, first, other = _repeated_edges(hypergraph)
    if repeated:
        verb = f"{edge} repeats" if repeated == 1 else f"{some} repeat"
        pair = f"{_named(other)} those of {_named(first)}"
        yield f"{repeated:,} {verb} the members and weights of another: {pair}"


def _on_weights(hypergraph: Hypergraph, high_quantile: float) -> Iterator[str]:
    """Remarks on weights; 95 % of gamma are at most `high_quantile`."""
    gamma, sizes = hypergraph.gamma, hypergraph.edge_sizes
    starts = gamma.indptr[:-1][sizes > 0]
    low, high = np.minimum.reduceat(gamma.data, starts), np.maximum.reduceat(gamma.data, starts)
    a_vertex, edge = hypergraph.nouns.a_vertex, hypergraph.nouns.a_hyperedge
    ratio = f"over {LARGE_RATIO:,.0f} times as much"
    if (low == high).all():
        yield f"gamma is the same for all members of every {edge}, so {a_vertex} weights have no effect"
    elif (low < high / LARGE_RATIO).any():
        worst = int(np.flatnonzero(sizes > 0)[np.argmax(np.log(high) - np.log(low))])
        name = _named(hypergraph.edge_ids[worst])
        yield f"in {edge} {name} a member weighs {ratio} as another; do all weights have the same unit?"
    if len(gamma.data) >= MANY_WEIGHTS and high.max() > HEAVY_TAIL * high_quantile:
        where = _named(hypergraph.edge_ids[int(np.flatnonzero(sizes > 0)[np.argmax(high)])])
        yield (
            f"95 % of the {a_vertex} weights are at most {high_quantile:,.6g}, but the largest is "
            f"{high.max():,.6g}, in {edge} {where}; correct it if it is an error, or transform the weights "
            "(transform_weights; on the command line --weight-transform log1p)"
        )
    omega = hypergraph.edge_weights
    if omega.min() < omega.max() / LARGE_RATIO:
        heavy, light = (_named(hypergraph.edge_ids[int(pick(omega))]) for pick in (np.argmax, np.argmin))
        yield f"{edge} {heavy} weighs {ratio} as {light}; do all weights have the same unit?"


def _repeated_edges(hypergraph: Hypergraph) -> tuple[int, Any, Any]:
    """Count hyperedges that equal an earlier one in members and gamma; also return the first such pair.

    Hyperedges are compared by random 64-bit sums, which agree by chance with probability 2^-64.
    """
    gamma = hypergraph.gamma
    kept = np.flatnonzero(hypergraph.edge_sizes)
    keys = np.random.default_rng(0).integers(0, 1 << 64, hypergraph.n_vertices, dtype=np.uint64)

    def summed(rows: slice) -> NDArray[np.uint64]:
        starts = gamma.indptr[kept[rows]]
        entries = slice(starts[0], gamma.indptr[kept[rows.stop - 1] + 1])
        drawn = keys[gamma.indices[entries]]
        bits = drawn * gamma.data[entries].view(np.uint64) + (drawn >> np.uint64(7))
        return np.add.reduceat(bits, starts - starts[0])

    per_block = max(BLOCK * len(kept) // max(gamma.nnz, 1), 1)
    sums = np.concatenate([np.empty(0, dtype=np.uint64), *in_order(summed, blocks(len(kept), per_block))])
    ordered = np.sort(sums)
    if not (ordered[1:] == ordered[:-1]).any():
        return 0, None, None
    _, first, group = np.unique(sums, return_index=True, return_inverse=True)
    later = np.flatnonzero(first[group] != np.arange(len(kept)))
    ids = hypergraph.edge_ids
    return len(later), ids[kept[first[group[later[0]]]]], ids[kept[later[0]]]


def _named(value: Any) -> str:
    """Return an id for a remark: "odor = n" for a hyperedge of a table, otherwise as in messages."""
    if not isinstance(value, tuple):
        return shown(value)
    try:
        text = caption(value)
    except ValueError:  # it contains an integer of thousands of digits
        return shown(value)
    return text if text.isprintable() and len(text) <= CAPTION_LENGTH else shown(value)


def similar_names(ids: Iterable[Any]) -> tuple[int, str]:
    """Count ids that look like an earlier one, such as "a" and "A ", 1 and "1"; also return the first pair.

    >>> similar_names(["Tea", "milk", "tea ", "TEA"])
    (2, "'Tea' and 'tea '")
    """
    seen: dict[str, Any] = {}
    n_similar, pair = 0, ""
    for name in ids:
        if isinstance(name, str | int):
            plain = " ".join(str(name).split()).casefold()
            other = seen.setdefault(plain, name)
            if other is not name and (type(other), other) != (type(name), name):
                pair = pair or f"{shown(other)} and {shown(name)}"
                n_similar += 1
    return n_similar, pair
