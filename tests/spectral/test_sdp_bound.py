"""The tight bound against every partition of small hypergraphs, and on the paper's two smallest data sets."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus import Hypergraph, InputError, NormalizedLaplacian, RandomWalk
from hyperclus.spectral.bounds import relative_gap
from hyperclus.spectral.relaxation import (
    VIOLATION,
    Multipliers,
    Relaxation,
    triangle_rows,
    violated_triangles,
)
from hyperclus.spectral.sdp_bound import TightBound, tight_bound
from support import oracles
from support.paper_data import paper_hypergraph
from support.strategies import disconnected, graphs, hypergraphs, random_hypergraph

examples = settings(deadline=None, max_examples=60)
few = settings(deadline=None, max_examples=30)
small = st.one_of(hypergraphs(min_n=3, max_n=8), graphs().filter(lambda h: 3 <= h.n_vertices <= 8))
counts = st.sampled_from([2, 3])


def eigenvalue_bound(walk, k):
    return hc.spectral.ncut_lower_bound(hc.smallest_eigenpairs(NormalizedLaplacian(walk), k), k)


def all_labels(n, k):
    for parts in oracles.set_partitions(n, k):
        labels = np.zeros(n, dtype=np.int64)
        for cluster, part in enumerate(parts):
            labels[list(part)] = cluster
        yield labels


def optimum(walk, k):
    """The smallest NCut of all partitions, all with the walk's stationary distribution."""
    return oracles.min_ncut(walk.dense(), walk.stationary, k)


def projector(walk, labels):
    """Z = Pi^1/2 X (X' Pi X)^-1 X' Pi^1/2."""
    z = np.zeros((len(labels), len(labels)))
    for u, cluster in enumerate(labels):
        for v in np.flatnonzero(labels == cluster):
            volume = walk.stationary[labels == cluster].sum()
            z[u, v] = np.sqrt(walk.stationary[u] * walk.stationary[v]) / volume
    return z


def random_multipliers(n, seed, scale):
    """Multipliers of all pairs and of up to 40 triangles, half of them 0."""
    rng = np.random.default_rng(seed)
    triples = np.array([t for t in permutations(range(n), 3) if t[1] < t[2]], dtype=np.int64)
    triples = rng.permutation(triples)[:40]

    def draw(size):
        return scale * rng.exponential(size=size) * rng.integers(2, size=size)

    return Multipliers(draw(n * (n - 1) // 2), triples, draw(len(triples)))


# ---- the proof --------------------------------------------------------------------------------------------


@examples
@given(small, counts, st.integers(0, 9), st.sampled_from([1e-3, 0.1, 10.0]))
def test_any_multipliers_prove_a_bound(h, k, seed, scale):
    """Not only the good ones: nothing about the search has to be trusted."""
    walk = RandomWalk(h)
    proven = Relaxation.of(walk, k).bound(random_multipliers(h.n_vertices, seed, scale))
    assert proven <= optimum(walk, k)


@examples
@given(small, counts, st.integers(0, 9))
def test_the_inequalities_raise_the_ncut_of_no_partition(h, k, seed):
    """<G, Z> <= <L_sym, Z> = NCut for every partition, and < for some: a sign reversed would show."""
    walk = RandomWalk(h)
    relaxation, found = Relaxation.of(walk, k), random_multipliers(h.n_vertices, seed, 1.0)
    rows, nothing = relaxation.rows(found.triples), np.zeros_like
    by_pairs = relaxation.lagrangian(found.pairs, nothing(found.triangles), rows)
    by_triangles = relaxation.lagrangian(nothing(found.pairs), found.triangles, rows)
    lowered_by_pairs = lowered_by_triangles = 0.0
    for labels in all_labels(h.n_vertices, k):
        z = projector(walk, labels)
        ncut = np.vdot(relaxation.laplacian, z)
        assert ncut == pytest.approx(hc.cut(walk, labels, k).ncut, rel=1e-9, abs=1e-12)
        assert np.vdot(by_pairs, z) <= ncut + 1e-12
        assert np.vdot(by_triangles, z) <= ncut + 1e-12
        lowered_by_pairs = max(lowered_by_pairs, ncut - np.vdot(by_pairs, z))
        lowered_by_triangles = max(lowered_by_triangles, ncut - np.vdot(by_triangles, z))
    assert lowered_by_pairs > 0 or not found.pairs.any() or k == h.n_vertices
    assert lowered_by_triangles > 0 or not found.triangles.any()


def test_reversed_multipliers_count_as_none():
    walk = RandomWalk(random_hypergraph(8, 6, 3, seed=0))
    relaxation, found = Relaxation.of(walk, 2), random_multipliers(8, 0, 1.0)
    none = relaxation.bound(Multipliers(np.zeros(28), found.triples, np.zeros(len(found.triples))))
    assert relaxation.bound(Multipliers(-found.pairs, found.triples, -found.triangles)) == none
    assert none == pytest.approx(eigenvalue_bound(walk, 2), abs=1e-11)


@few
@given(small, counts, st.integers(0, 9), st.sampled_from([1e-3, 1.0, 1e3]))
def test_the_allowance_covers_the_rounding_errors(h, k, seed, scale):
    """The bound is below the same expression in extended precision, and not by much."""
    walk = RandomWalk(h)
    n, found = h.n_vertices, random_multipliers(h.n_vertices, seed, scale)
    exact, size = bound_in_extended_precision(walk, k, found)
    proven = Relaxation.of(walk, k).bound(found)
    assert proven <= exact
    assert exact - proven <= 1e-15 * k * (20 * (n + h.n_edges) + 40) * size


def bound_in_extended_precision(walk, k, found):
    """q' G q + the k - 1 smallest eigenvalues on the complement of q; and the size of G."""
    wide, n = np.longdouble, walk.hypergraph.n_vertices
    p = np.array([[wide(x.numerator) / wide(x.denominator) for x in row] for row in exact(walk)], dtype=wide)
    root = np.sqrt(walk.stationary.astype(wide))
    root /= np.sqrt((root * root).sum())
    scaled = root[:, None] * p / root
    g = np.eye(n, dtype=wide) - (scaled + scaled.T) / 2
    size = np.abs(g).sum() + 2 * n
    for (u, v), pair in zip(np.column_stack(np.triu_indices(n, 1)), found.pairs, strict=True):
        g[u, v] -= wide(pair) / 2
        g[v, u] -= wide(pair) / 2
        size += pair
    for (u, v, w), multiplier in zip(found.triples, found.triangles, strict=True):
        terms = {
            (u, v): root[u] * root[w],
            (u, w): root[u] * root[v],
            (u, u): -root[v] * root[w],
            (v, w): -root[u] * root[u],
        }
        for (a, b), term in terms.items():
            share = wide(multiplier) * term / max(abs(x) for x in terms.values())
            g[a, b] += share / 2
            g[b, a] += share / 2
            size += float(abs(share))
    outside = np.eye(n, dtype=wide) - np.outer(root, root)
    far = wide(10 * n) * np.abs(g).max()
    values = jacobi_eigenvalues(outside @ g @ outside + far * np.outer(root, root))
    return root @ g @ root + values[: k - 1].sum(), size


def exact(walk):
    return oracles.exact_transition(walk.hypergraph)


def jacobi_eigenvalues(matrix):
    """By plane rotations, in the precision of the matrix."""
    matrix = matrix.copy()
    n = len(matrix)
    for _ in range(30):
        for i in range(n):
            for j in range(i + 1, n):
                if matrix[i, j] != 0:
                    angle = np.arctan2(2 * matrix[i, j], matrix[j, j] - matrix[i, i]) / 2
                    c, s = np.cos(angle), np.sin(angle)
                    rotation = np.array([[c, s], [-s, c]])
                    matrix[:, [i, j]] = matrix[:, [i, j]] @ rotation
                    matrix[[i, j]] = rotation.T @ matrix[[i, j]]
    return np.sort(np.diag(matrix))


# ---- the pieces -------------------------------------------------------------------------------------------


@examples
@given(small, st.integers(0, 9))
def test_triangle_rows_are_the_definition(h, seed):
    walk = RandomWalk(h)
    root = np.sqrt(walk.stationary)
    z = np.random.default_rng(seed).normal(size=(len(root), len(root)))
    z += z.T
    w = z / np.outer(root, root)
    triples = random_multipliers(len(root), seed, 1.0).triples
    for (a, b, c), row in zip(triples, triangle_rows(triples, root).toarray(), strict=True):
        factor = np.prod(root[[a, a, b, c]]) / max(root[a] * max(root[[a, b, c]]), root[b] * root[c])
        assert np.abs(row).max() == pytest.approx(1.0)
        expected = factor * (w[a, b] + w[a, c] - w[a, a] - w[b, c])
        assert row @ z.ravel() == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n", [3, 4, 12])
def test_the_worst_triangles_of_each_vertex_are_found(n):
    rng = np.random.default_rng(n)
    root = np.sqrt(rng.dirichlet(np.ones(n)))
    z = rng.normal(size=(n, n))
    z += z.T
    found = violated_triangles(z, root)
    for u in range(n):
        triples = np.array([t for t in permutations(range(n), 3) if t[0] == u and t[1] < t[2]])
        excess = triangle_rows(triples, root) @ z.ravel()
        order = np.argsort(-excess)[:10]
        expected = {tuple(triples[i]) for i in order if excess[i] > VIOLATION}
        assert {tuple(triple) for triple in found[found[:, 0] == u]} == expected


def test_a_partition_violates_no_triangle():
    walk = RandomWalk(random_hypergraph(12, 9, 4, seed=0))
    labels = np.arange(12) % 3
    assert len(violated_triangles(projector(walk, labels), np.sqrt(walk.stationary))) == 0


def test_triangles_are_not_added_twice():
    start = Multipliers(np.zeros(6), np.array([[0, 1, 2], [3, 0, 2]]), np.array([0.5, 0.25]))
    joined = start.joined(np.array([[3, 0, 2], [1, 0, 2]]))
    assert joined.triples.tolist() == [[0, 1, 2], [3, 0, 2], [1, 0, 2]]
    assert joined.triangles.tolist() == [0.5, 0.25, 0.0]


@few
@given(small, counts, st.integers(0, 9))
def test_the_nearest_member_of_the_relaxation(h, k, seed):
    """In the set, and the partitions, which are in it too, lie beyond the supporting plane."""
    walk = RandomWalk(h)
    n, relaxation = h.n_vertices, Relaxation.of(walk, k)
    matrix = np.random.default_rng(seed).normal(size=(n, n))
    matrix += matrix.T
    z = relaxation.nearest(matrix)
    assert z @ relaxation.root == pytest.approx(relaxation.root, abs=1e-10)
    assert np.trace(z) == pytest.approx(k)
    values = np.linalg.eigvalsh(z)
    assert values.min() >= -1e-10
    assert values.max() <= 1 + 1e-10
    for labels in all_labels(n, k):
        assert np.vdot(matrix - z, projector(walk, labels) - z) <= 1e-8


# ---- the whole --------------------------------------------------------------------------------------------


@few
@given(small, counts)
def test_no_partition_beats_the_tight_bound(h, k):
    walk = RandomWalk(h)
    tight = tight_bound(walk, k)
    assert eigenvalue_bound(walk, k) <= tight.value <= optimum(walk, k) + 1e-14


@pytest.mark.parametrize("k", [2, 3])
def test_the_bound_is_the_optimum_on_most_small_hypergraphs(k):
    walks = [RandomWalk(random_hypergraph(9, 8, 3, seed)) for seed in range(8)]
    gaps = [relative_gap(optimum(walk, k), tight_bound(walk, k).value) for walk in walks]
    before = [relative_gap(optimum(walk, k), eigenvalue_bound(walk, k)) for walk in walks]
    assert np.median(gaps) < 1e-4
    assert max(gaps) < 0.03
    assert np.median(before) > 0.05


def test_car_is_solved():
    h, _, _ = paper_hypergraph("car")
    part = hc.hyperclus_g(h, k=2, rounding="sweep")
    tight = tight_bound(RandomWalk(h), 2, upper=part.ncut)
    assert tight.ended == "closed"
    assert tight.value <= part.ncut
    assert relative_gap(part.ncut, tight.value) <= 1e-4
    assert part.gap > 0.05


def test_zoo_is_solved():
    h, _, _ = paper_hypergraph("zoo")
    best = 5.0605267  # the NCut of a partition found by single-vertex moves, rounded up
    tight = tight_bound(RandomWalk(h), 7, upper=best)
    assert tight.ended == "closed"
    assert best / (1 + 1e-4) <= tight.value <= best


def test_planted_clusters_of_sixty_vertices():
    rng = np.random.default_rng(0)
    edges = [rng.choice(20, 4, replace=False) + 20 * rng.integers(3) for _ in range(90)]
    edges += [rng.choice(60, 4, replace=False) for _ in range(20)]
    walk = RandomWalk(Hypergraph.from_edges([edge.tolist() for edge in edges], vertex_ids=range(60)))
    planted = hc.cut(walk, np.arange(60) // 20, 3).ncut
    tight = tight_bound(walk, 3, upper=planted)
    assert tight.value <= planted
    assert relative_gap(planted, tight.value) < 1e-3
    assert relative_gap(planted, eigenvalue_bound(walk, 3)) > 0.05


def test_it_is_deterministic():
    walk = RandomWalk(random_hypergraph(30, 20, 4, seed=1))
    assert tight_bound(walk, 3) == tight_bound(walk, 3)


@few
@given(disconnected())
def test_a_disconnected_hypergraph_has_bound_zero(h):
    tight = tight_bound(RandomWalk(h), 2)
    assert 0 <= tight.value <= 1e-14
    assert tight.ended == "eigenvalues"


@few
@given(disconnected(max_parts=2).filter(lambda h: 4 <= h.n_vertices <= 8))
def test_more_clusters_than_components(h):
    walk = RandomWalk(h)
    assert eigenvalue_bound(walk, 3) <= tight_bound(walk, 3).value <= optimum(walk, 3) + 1e-14


@few
@given(small)
def test_one_cluster_and_a_cluster_for_each_vertex(h):
    walk, n = RandomWalk(h), h.n_vertices
    assert 0 <= tight_bound(walk, 1).value <= 1e-14
    apart = hc.cut(walk, np.arange(n), n).ncut
    assert apart - 1e-9 <= tight_bound(walk, n).value <= apart + 1e-14


def test_how_it_ends():
    walk = RandomWalk(random_hypergraph(30, 20, 4, seed=1))
    settled = tight_bound(walk, 3)
    assert settled.ended == "settled"
    assert settled.evaluations > settled.rounds > 5
    assert settled.triangles > 0
    short = tight_bound(walk, 3, max_rounds=1)
    assert (short.ended, short.rounds) == ("rounds", 1)
    assert tight_bound(walk, 3, max_rounds=0) == TightBound(eigenvalue_bound(walk, 3), "rounds")
    closed = tight_bound(walk, 3, upper=short.value)
    assert closed == TightBound(short.value, "closed", 1, short.evaluations, 0, 30)


def test_a_false_upper_bound_does_not_enter():
    walk = RandomWalk(random_hypergraph(30, 20, 4, seed=1))
    assert tight_bound(walk, 3, upper=0.0).value == eigenvalue_bound(walk, 3)
    assert tight_bound(walk, 3, upper=1e9) == tight_bound(walk, 3)


def test_a_very_rare_vertex_leaves_the_eigenvalues():
    chain = Hypergraph.from_edges([{i: 1.0, i + 1: 1e-12} for i in range(10)])
    walk = RandomWalk(chain)
    assert walk.stationary.min() < 1e-100
    assert tight_bound(walk, 2) == TightBound(eigenvalue_bound(walk, 2), "eigenvalues")


def test_what_is_too_large():
    walk = RandomWalk(Hypergraph.from_edges([[i, i + 1] for i in range(0, 200_002, 2)]))
    with pytest.raises(InputError, match=r"at most 200000 vertices, and there are 200002; use bound='eigenv"):
        tight_bound(walk, 2)


@pytest.mark.parametrize(
    ("k", "message"), [(0, "whole number from 1"), (True, "whole number from 1"), (4, "cannot make 4")]
)
def test_a_wrong_number_of_clusters(k, message):
    with pytest.raises(InputError, match=message):
        tight_bound(RandomWalk(Hypergraph.from_edges([["a", "b"], ["b", "c"]])), k)
