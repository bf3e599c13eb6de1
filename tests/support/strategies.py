"""Hypothesis strategies for hypergraphs small enough for the oracles, and larger seeded ones."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from hyperclus import Hypergraph

omegas = st.floats(0.1, 10.0)
gammas = st.integers(-300, 300).map(lambda exponent: 10.0 ** (exponent / 100))
alphas = st.sampled_from([0.0, 0.5, 1.0, 2.0])


def build(edges: list[dict[int, float]], omega: list[float], n: int) -> Hypergraph:
    """Vertices 0 .. n-1; edges as maps from vertex to gamma."""
    return Hypergraph.from_edges(edges, edge_weights=omega, vertex_ids=range(n))


@st.composite
def connected_members(draw: st.DrawFn, min_n: int = 2, max_n: int = 12, max_edges: int = 8) -> list[set[int]]:
    """Members of a connected hypergraph on all of 0 .. n-1.

    Random sets, singletons and repetitions among them; then a hyperedge with one vertex of each
    component where there are several.
    """
    n = draw(st.integers(min_n, max_n))
    edges = draw(st.lists(st.sets(st.integers(0, n - 1), min_size=1), max_size=max_edges))
    parts: list[set[int]] = [{v} for v in range(n)]
    for edge in edges:
        touched = [part for part in parts if part & edge]
        parts = [part for part in parts if not part & edge] + [set().union(*touched)]
    if len(parts) > 1 or not edges:
        edges.append({draw(st.sampled_from(sorted(part))) for part in parts})
    return edges


def _weighted(draw: st.DrawFn, edges: list[set[int]]) -> Hypergraph:
    n = max(set().union(*edges)) + 1
    gamma = [{v: draw(gammas) for v in sorted(edge)} for edge in edges]
    return build(gamma, [draw(omegas) for _ in edges], n)


@st.composite
def hypergraphs(draw: st.DrawFn, min_n: int = 2, max_n: int = 12) -> Hypergraph:
    """Connected, with edge-dependent vertex weights over six orders of magnitude."""
    return _weighted(draw, draw(connected_members(min_n, max_n)))


@st.composite
def edge_independent(draw: st.DrawFn) -> tuple[Hypergraph, list[float]]:
    """Connected, gamma_e(v) = gamma(v); and gamma."""
    edges = draw(connected_members())
    n = max(set().union(*edges)) + 1
    gamma = [draw(gammas) for _ in range(n)]
    omega = [draw(omegas) for _ in edges]
    return build([{v: gamma[v] for v in sorted(edge)} for edge in edges], omega, n), gamma


@st.composite
def disconnected(draw: st.DrawFn, max_parts: int = 4) -> Hypergraph:
    """Two to four components of one to four vertices, their vertices in random order."""
    edges: list[set[int]] = []
    n = 0
    for _ in range(draw(st.integers(2, max_parts))):
        part = draw(connected_members(1, 4, 3))
        edges += [{v + n for v in edge} for edge in part]
        n = max(set().union(*edges)) + 1
    place = draw(st.permutations(range(n)))
    return _weighted(draw, [{place[v] for v in edge} for edge in draw(st.permutations(edges))])


@st.composite
def graphs(draw: st.DrawFn) -> Hypergraph:
    """Connected ordinary graphs without self-loops or parallel edges: pairs, gamma = 1, random omega."""
    n = draw(st.integers(2, 10))
    tree = {frozenset((v, draw(st.integers(0, v - 1)))) for v in range(1, n)}
    pairs = st.sets(st.integers(0, n - 1), min_size=2, max_size=2).map(frozenset)
    edges = sorted(sorted(edge) for edge in tree | draw(st.sets(pairs, max_size=12)))
    return build([dict.fromkeys(edge, 1.0) for edge in edges], [draw(omegas) for _ in edges], n)


@st.composite
def with_subset(draw: st.DrawFn, base: st.SearchStrategy[Hypergraph]) -> tuple[Hypergraph, set[int]]:
    """A hypergraph and a set of its vertices, neither empty nor all."""
    h = draw(base)
    return h, draw(st.sets(st.integers(0, h.n_vertices - 1), min_size=1, max_size=h.n_vertices - 1))


@st.composite
def with_partition(draw: st.DrawFn, base: st.SearchStrategy[Hypergraph]) -> tuple[Hypergraph, np.ndarray]:
    """A hypergraph and labels 0 .. k-1 of its vertices, every one of them used."""
    h = draw(base)
    raw = draw(st.lists(st.integers(0, 3), min_size=h.n_vertices, max_size=h.n_vertices))
    return h, np.unique(raw, return_inverse=True)[1]


@st.composite
def with_vector(draw: st.DrawFn, base: st.SearchStrategy[Hypergraph]) -> tuple[Hypergraph, np.ndarray]:
    """A hypergraph and a vector on its vertices, ties and zeros likely, not all zero."""
    h = draw(base)
    entries = st.one_of(st.integers(-3, 3).map(float), st.floats(-100.0, 100.0))
    values = draw(st.lists(entries, min_size=h.n_vertices, max_size=h.n_vertices))
    vector = np.where(np.abs(values) < 1e-3, 0.0, values)
    return h, vector if vector.any() else np.arange(1.0, h.n_vertices + 1)


@st.composite
def with_relabelling(
    draw: st.DrawFn, base: st.SearchStrategy[Hypergraph]
) -> tuple[Hypergraph, Hypergraph, np.ndarray]:
    """A hypergraph, the same with vertices and edges in another order, and where new vertices came from."""
    h = draw(base)
    vertices = np.array(draw(st.permutations(range(h.n_vertices))))
    edges = np.array(draw(st.permutations(range(h.n_edges))))
    return h, relabelled(h, vertices, edges), vertices


def relabelled(h: Hypergraph, vertices: np.ndarray, edges: np.ndarray) -> Hypergraph:
    """New vertex i is old vertex vertices[i], likewise for edges; ids are renewed."""
    matrix = h.gamma.toarray()[np.ix_(edges, vertices)]
    return Hypergraph.from_incidence(matrix.T, edge_weights=h.edge_weights[edges])


@st.composite
def with_scaled_edges(draw: st.DrawFn, base: st.SearchStrategy[Hypergraph]) -> tuple[Hypergraph, Hypergraph]:
    """A hypergraph, and the same with all gammas of each hyperedge multiplied by a factor of its own."""
    h = draw(base)
    return h, with_edge_scales(h, np.array([draw(gammas) for _ in range(h.n_edges)]))


def with_edge_scales(h: Hypergraph, scales: np.ndarray) -> Hypergraph:
    """All gammas of hyperedge e multiplied by scales[e]."""
    return h.with_gamma(h.gamma.data * np.repeat(scales, h.edge_sizes))


def with_long_indices(h: Hypergraph) -> Hypergraph:
    """The same with 64-bit indices, which SciPy uses from 2^31 incidences on."""
    gamma = sp.csr_array(
        (h.gamma.data, h.gamma.indices.astype(np.int64), h.gamma.indptr.astype(np.int64)), shape=h.gamma.shape
    )
    return Hypergraph(gamma, h.edge_weights, h.vertex_ids, h.edge_ids)


def random_hypergraph(
    n: int, n_edges: int, size: int, seed: int, *, gamma: float = 1.0, omega: float = 1.0
) -> Hypergraph:
    """Seeded: edges of `size` members, weights 10^uniform(-gamma, gamma) and 10^uniform(-omega, omega).

    Vertices that no edge picked join random ones.
    """
    rng = np.random.default_rng(seed)
    edges = random_edges(rng, n, n_edges, size, gamma)
    for v in sorted(set(range(n)) - set().union(*edges)):
        edges[rng.integers(n_edges)][v] = 10.0 ** rng.uniform(-gamma, gamma)
    return build(edges, (10.0 ** rng.uniform(-omega, omega, n_edges)).tolist(), n)


def random_edges(
    rng: np.random.Generator, n: int, n_edges: int, size: int, gamma: float
) -> list[dict[int, float]]:
    """Edges with `size` distinct members of 0 .. n-1 each."""
    return [
        {int(v): 10.0 ** rng.uniform(-gamma, gamma) for v in rng.choice(n, size, replace=False)}
        for _ in range(n_edges)
    ]


def copies_around_a_hub(block: Hypergraph, count: int, weight: float) -> Hypergraph:
    """`count` copies of one hypergraph and a hyperedge that holds vertex 0 of each.

    Any permutation of the copies is a symmetry, so that the second eigenvalue is at least
    (count - 1)-fold when the hub is weak.
    """
    inner = [
        dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        for row in (block.gamma[[e]] for e in range(block.n_edges))
    ]
    n = block.n_vertices
    edges = [{v + copy * n: g for v, g in edge.items()} for copy in range(count) for edge in inner]
    edges.append({copy * n: 1.0 for copy in range(count)})
    return build(edges, [*np.tile(block.edge_weights, count).tolist(), weight], count * n)
