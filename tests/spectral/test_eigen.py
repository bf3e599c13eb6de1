"""The smallest eigenpairs of L_sym: four methods, repeated eigenvalues, honest residuals."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperclus import (
    ConvergenceError,
    Hypergraph,
    InputError,
    NormalizedLaplacian,
    RandomWalk,
    smallest_eigenpairs,
)
from hyperclus.spectral.eigen.shift_invert import is_thin
from support import oracles
from support.strategies import (
    alphas,
    build,
    copies_around_a_hub,
    disconnected,
    hypergraphs,
    random_edges,
    random_hypergraph,
    with_long_indices,
    with_relabelling,
    with_scaled_edges,
)

lanczos = sys.modules["hyperclus.spectral.eigen.lanczos"]
solve = sys.modules["hyperclus.spectral.eigen.choose"]
examples = settings(deadline=None, max_examples=60)
anything = st.one_of(hypergraphs(), disconnected())
METHODS = ("dense", "small side", "lanczos", "shift-invert")


def laplacian_of(h, alpha=0.0):
    return NormalizedLaplacian(RandomWalk(h, alpha=alpha))


def exact_values(h, alpha=0.0):
    p, phi = oracles.transition(h, alpha), oracles.stationary(h, alpha)
    return np.linalg.eigvalsh(oracles.normalized_laplacian(p, phi))


def check_pairs(laplacian, pairs, k, tolerance=1e-8):
    """Shapes, order, orthonormality, the sign rule, and residuals that are true."""
    assert pairs.values.shape == pairs.residuals.shape == (k,)
    assert pairs.vectors.shape == (laplacian.size, k)
    assert (np.diff(pairs.values) >= 0).all()
    assert (pairs.values >= 0).all()
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), rtol=0, atol=1e-9)
    largest = np.abs(pairs.vectors).argmax(axis=0)
    assert (pairs.vectors[largest, np.arange(k)] > 0).all()
    matrix = laplacian.dense()
    images = matrix @ pairs.vectors - pairs.vectors * pairs.values
    np.testing.assert_allclose(pairs.residuals, np.linalg.norm(images, axis=0), rtol=1e-2, atol=1e-14)
    assert pairs.residuals.max() <= tolerance


def check_same_spaces(first, second, gap=1e-6, tolerance=1e-6):
    """Equal values; and equal spans of each group of close values, the last aside: k may cut through it."""
    np.testing.assert_allclose(first.values, second.values, rtol=0, atol=1e-8)
    starts = [0, *(np.flatnonzero(np.diff(second.values) > gap) + 1).tolist(), len(second.values)]
    for start, stop in list(pairwise(starts))[:-1]:
        mine, theirs = first.vectors[:, start:stop], second.vectors[:, start:stop]
        np.testing.assert_allclose(mine @ (mine.T @ theirs), theirs, rtol=0, atol=tolerance)


# ---- small: against the definition ------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "dense", "lanczos", "shift-invert"])
@examples
@given(h=anything, alpha=alphas, data=st.data())
def test_values_are_those_of_the_definition(method, h, alpha, data):
    k = data.draw(st.integers(1, h.n_vertices))
    laplacian, expected = laplacian_of(h, alpha), exact_values(h, alpha)
    pairs = smallest_eigenpairs(laplacian, k, method=method)
    check_pairs(laplacian, pairs, k)
    nearest = np.abs(pairs.values[:, None] - expected).min(axis=1)
    np.testing.assert_allclose(nearest, 0.0, rtol=0, atol=1e-8)  # each is an eigenvalue,
    near = 1e-8 if method in ("auto", "dense") else 3e-8  # but perhaps one so near to a repeated one
    np.testing.assert_allclose(pairs.values, expected[:k], rtol=0, atol=near)
    assert pairs.values[0] <= 1e-14
    assert pairs.values.max() <= 2 + 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_shift_invert_reaches_the_tolerance_beside_a_very_small_eigenvalue(seed):
    members = [[0], [11], [4], [4], [4], [8, 9], [2, 4, 5], [7, 8, 10], [8], [11, 12]]
    edges = [dict.fromkeys(edge, 1.0) for edge in members]
    edges += [{0: 1.0, 1: 1.0, 3: 346.73685045253166, 6: 0.0026302679918953813}, {6: 50.11872336272722}]
    laplacian = laplacian_of(build(edges, [1.0] * 11 + [6.0], 13), 1.0)  # lambda is 1.6e-5
    check_pairs(laplacian, smallest_eigenpairs(laplacian, 6, method="shift-invert", seed=seed), 6)


@pytest.mark.parametrize("k", range(2, 12))
def test_shift_invert_finds_a_repeated_eigenvalue_beside_a_very_small_one(k):
    edges = [
        {0: 0.001, 3: 0.001, 4: 0.001, 5: 0.001, 6: 0.001, 10: 1e6},
        {2: 1.0, 4: 1e6, 9: 2.0},
        {1: 1e6, 5: 2.0, 6: 0.001, 7: 1.0, 8: 1.0, 9: 2.0},
    ]
    laplacian = laplacian_of(build(edges, [1.0] * 3, 11))  # three hyperedges: lambda = 1 is at least 5-fold
    pairs = smallest_eigenpairs(laplacian, k, method="shift-invert")
    check_pairs(laplacian, pairs, k)
    np.testing.assert_allclose(
        pairs.values, smallest_eigenpairs(laplacian, k, method="dense").values, atol=1e-8
    )


def four_ones_and_one_just_above():
    """Eleven vertices; the fifth to eighth eigenvalues are 1, and the ninth is only 2e-5 larger."""
    edges = [
        {7: 0.633, 10: 0.184, 5: 0.45, 4: 1.33, 2: 0.264},
        {4: 2.48, 6: 0.05, 10: 0.916, 3: 4.67, 1: 2.18, 8: 0.643, 7: 0.792, 0: 0.272},
        {3: 3.06, 5: 0.98, 10: 0.695},
        dict.fromkeys(range(11), 1.0),
    ]
    return build(edges, [0.809, 241.0, 7.93, 0.212], 11)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["lanczos", "shift-invert"])
@pytest.mark.parametrize("k", range(2, 12))
def test_no_copy_of_a_repeated_eigenvalue_is_missed_for_one_just_above(method, k, seed):
    h = four_ones_and_one_just_above()
    pairs = smallest_eigenpairs(laplacian_of(h), k, method=method, seed=seed)
    np.testing.assert_allclose(pairs.values, exact_values(h)[:k], rtol=0, atol=1e-8)


@examples
@given(anything, alphas)
def test_first_vector_is_the_root_of_the_distribution(h, alpha):
    """Also where zero is a repeated eigenvalue: cluster() takes column 1 to tell components apart."""
    pairs = smallest_eigenpairs(laplacian_of(h, alpha), 2)
    np.testing.assert_allclose(pairs.vectors[:, 0], np.sqrt(oracles.stationary(h, alpha)), rtol=1e-9)
    assert (pairs.vectors[:, 1] < 0).any()
    assert (pairs.vectors[:, 1] > 0).any()


@examples
@given(disconnected())
def test_one_zero_for_each_component(h):
    count = len(oracles.components(h))
    k = min(count + 1, h.n_vertices)
    pairs = smallest_eigenpairs(laplacian_of(h), k)
    assert (pairs.values[:count] <= 1e-14).all()
    assert (pairs.values[count:] > 1e-12).all()
    for part in oracles.components(h):  # their roots span the null space
        root = np.zeros(h.n_vertices)
        root[part] = np.sqrt(oracles.stationary(h)[part])
        inside = pairs.vectors[:, :count] @ (pairs.vectors[:, :count].T @ root)
        np.testing.assert_allclose(inside, root, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["dense", "lanczos", "shift-invert"])
@examples
@given(case=with_relabelling(anything))
def test_relabelling_keeps_the_eigenvalues(method, case):
    h, other, _ = case
    found, expected = (smallest_eigenpairs(laplacian_of(g), g.n_vertices, method=method) for g in (other, h))
    np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-8)


@examples
@given(with_scaled_edges(hypergraphs()))
def test_scaling_the_gammas_of_an_edge_keeps_the_eigenvalues(case):
    first, second = (smallest_eigenpairs(laplacian_of(h), h.n_vertices) for h in case)
    np.testing.assert_allclose(first.values, second.values, rtol=0, atol=1e-11)


# ---- the methods agree ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights", [{}, {"gamma": 3.0}, {"omega": 2.0}, {"omega": 4.0}, {"omega": 8.0}], ids=str
)
@pytest.mark.parametrize(("n", "n_edges", "k"), [(60, 10, 6), (150, 12, 3), (120, 30, 8)])
@pytest.mark.parametrize("alpha", [0, 0.5, 1])
def test_methods_agree(n, n_edges, k, weights, alpha):
    """n >= 2|E| + k, which the small side needs; omega over 16 orders in the last case."""
    laplacian = laplacian_of(random_hypergraph(n, n_edges, n // 5, seed=n, **weights), alpha)
    expected = smallest_eigenpairs(laplacian, k, method="dense")
    for method in METHODS:
        pairs = smallest_eigenpairs(laplacian, k, method=method)
        assert pairs.method == method
        check_pairs(laplacian, pairs, k)
        check_same_spaces(pairs, expected)


@pytest.mark.parametrize(("n", "n_edges", "k"), [(400, 500, 2), (400, 500, 7), (500, 200, 5)])
def test_lanczos_agrees_with_dense_when_it_has_to_restart(n, n_edges, k):
    laplacian = laplacian_of(random_hypergraph(n, n_edges, 6, seed=7))
    pairs = smallest_eigenpairs(laplacian, k, method="lanczos")
    assert pairs.steps > k + lanczos.EXTRA_BASIS
    check_pairs(laplacian, pairs, k)
    check_same_spaces(pairs, smallest_eigenpairs(laplacian, k, method="dense"))


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("method", METHODS)
def test_beyond_the_rank_the_eigenvalue_is_one(method, alpha):
    """Four hyperedges: M has rank at most 8, and all other eigenvalues of L_sym are 1."""
    h = random_hypergraph(40, 4, 15, seed=8)
    laplacian = laplacian_of(h, alpha)
    pairs = smallest_eigenpairs(laplacian, 20, method=method)
    check_pairs(laplacian, pairs, 20)
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(laplacian.dense())[:20], rtol=0, atol=1e-8)
    np.testing.assert_allclose(pairs.values[8:], 1.0, rtol=0, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_methods_on_several_components(method):
    rng = np.random.default_rng(9)
    edges = []
    for shift in (0, 40, 80):
        edges += [{v + shift: g for v, g in edge.items()} for edge in random_edges(rng, 40, 4, 20, 1.0)]
        edges[-1] |= dict.fromkeys(range(shift, shift + 40), 1.0)
    laplacian = laplacian_of(build(edges, rng.uniform(0.1, 10, len(edges)).tolist(), 120))
    expected = smallest_eigenpairs(laplacian, 7, method="dense")
    assert np.count_nonzero(expected.values < 1e-12) == 3
    for k in (1, 2, 3, 4, 7):
        pairs = smallest_eigenpairs(laplacian, k, method=method)
        check_pairs(laplacian, pairs, k)
        np.testing.assert_allclose(pairs.values, expected.values[:k], rtol=0, atol=1e-8)
    check_same_spaces(pairs, expected)


# ---- repeated eigenvalues ---------------------------------------------------------------------


def four_cliques():
    """Four hyperedges of 30 vertices and a hub: very few distinct eigenvalues."""
    return copies_around_a_hub(build([dict.fromkeys(range(30), 1.0)], [1.0], 30), 4, 0.5)


def four_random_blocks():
    """Four copies of a random hypergraph of 80 vertices: many distinct eigenvalues, each at least triple."""
    return copies_around_a_hub(random_hypergraph(80, 8, 25, seed=10), 4, 0.5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", [four_cliques, four_random_blocks])
def test_triple_second_eigenvalue_is_found_three_times(make, method):
    laplacian = laplacian_of(make())
    exact = np.linalg.eigvalsh(laplacian.dense())
    assert exact[3] - exact[1] < 1e-12
    assert exact[4] - exact[3] > 1e-3
    for k in (2, 3, 4, 5, 9):
        pairs = smallest_eigenpairs(laplacian, k, method=method)
        check_pairs(laplacian, pairs, k)
        np.testing.assert_allclose(pairs.values, exact[:k], rtol=0, atol=1e-8)
    check_same_spaces(pairs, smallest_eigenpairs(laplacian, 9, method="dense"))


@pytest.mark.parametrize("seed", range(5))
def test_lanczos_misses_no_copy_whatever_the_seed(seed):
    laplacian = laplacian_of(four_random_blocks())
    exact = np.linalg.eigvalsh(laplacian.dense())
    pairs = smallest_eigenpairs(laplacian, 8, method="lanczos", seed=seed)
    np.testing.assert_allclose(pairs.values, exact[:8], rtol=0, atol=1e-8)


# ---- seeds and failures -----------------------------------------------------------------------


def test_same_seed_same_result():
    laplacian = laplacian_of(random_hypergraph(400, 300, 6, seed=11))
    runs = [
        smallest_eigenpairs(laplacian, 4, method="lanczos", seed=seed)
        for seed in (3, 3, np.random.default_rng(3))
    ]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.values, runs[0].values)
        np.testing.assert_array_equal(run.vectors, runs[0].vectors)
        assert run.steps == runs[0].steps > 0
    other = smallest_eigenpairs(laplacian, 4, method="lanczos", seed=4)
    check_same_spaces(other, runs[0])


def path(n):
    """A path of n pairs of vertices: lambda_2 about 1/n^2, hard for a short Krylov space."""
    return build([{v: 1.0, v + 1: 1.0} for v in range(n)], [1.0] * n, n + 1)


def test_lanczos_that_does_not_converge_raises_with_its_residual(monkeypatch):
    laplacian = laplacian_of(path(2000))
    monkeypatch.setattr(solve, "MAX_PRODUCTS", 31)
    with pytest.raises(ConvergenceError) as caught:
        smallest_eigenpairs(laplacian, 2, method="lanczos")
    assert np.isfinite(caught.value.residual)
    assert 1e-8 < caught.value.residual < 2
    assert f"{caught.value.residual:.1e}" in str(caught.value)


@pytest.mark.parametrize("method", METHODS)
def test_a_tolerance_beyond_rounding_raises_with_the_residual(method):
    laplacian = laplacian_of(random_hypergraph(60, 10, 12, seed=12))
    with pytest.raises(ConvergenceError) as caught:
        smallest_eigenpairs(laplacian, 3, method=method, tolerance=1e-30)
    assert np.isfinite(caught.value.residual)
    assert 0 < caught.value.residual < 1e-8


@pytest.mark.parametrize(("n", "method"), [(300, "lanczos"), (300, "shift-invert"), (3000, "shift-invert")])
def test_path_has_its_known_eigenvalues(n, method):
    """Those of the lazy walk on a path with n edges are (1 - cos(pi j / n)) / 2."""
    laplacian = laplacian_of(path(n))
    pairs = smallest_eigenpairs(laplacian, 4, method=method)
    expected = [(1 - np.cos(np.pi * j / n)) / 2 for j in range(4)]
    np.testing.assert_allclose(pairs.values, expected, rtol=1e-6, atol=1e-12)
    assert pairs.residuals.max() <= 1e-8


def test_auto_changes_to_shift_invert_where_lanczos_crawls(monkeypatch):
    monkeypatch.setattr(solve, "PATIENCE", 31)
    monkeypatch.setattr(solve, "cheapest", lambda *_: "lanczos")
    pairs = smallest_eigenpairs(laplacian_of(path(300)), 2)
    assert pairs.method == "shift-invert"
    assert pairs.values[1] == pytest.approx((1 - np.cos(np.pi / 300)) / 2, rel=1e-6)


def test_small_side_with_too_few_vertices_is_right_or_refused():
    """It needs n >= 2|E| + k; with less it must not return anything wrong."""
    laplacian = laplacian_of(random_hypergraph(12, 10, 5, seed=13))
    exact = np.linalg.eigvalsh(laplacian.dense())
    for k in range(1, 13):
        try:
            pairs = smallest_eigenpairs(laplacian, k, method="small side")
        except (ConvergenceError, InputError):
            continue
        check_pairs(laplacian, pairs, k)
        np.testing.assert_allclose(pairs.values, exact[:k], rtol=0, atol=1e-8)


@pytest.mark.parametrize(("k", "method"), [(0, "auto"), (61, "auto"), (2, "arpack")])
def test_unusable_arguments_are_refused(k, method):
    laplacian = laplacian_of(random_hypergraph(60, 10, 12, seed=12))
    with pytest.raises(InputError):
        smallest_eigenpairs(laplacian, k, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_long_indices_give_the_same_eigenpairs(method):
    """SciPy indexes with 64 bits from 2^31 incidences on; this stands for such a hypergraph."""
    h = random_hypergraph(90, 12, 20, seed=14)
    long = with_long_indices(h)
    assert long.gamma.indices.dtype == long.gamma.indptr.dtype == np.int64
    found, expected = (smallest_eigenpairs(laplacian_of(g), 5, method=method) for g in (long, h))
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.vectors, expected.vectors)


def test_shift_invert_keeps_large_eigenvalues_accurate_beside_a_small_one():
    """lambda_2 is about 1e-6 here; without a refined solve the residual was 1.2e-8."""
    edges = [
        {0: 1.0, 3: 1.0, 5: 1.0, 6: 2.137962089502232},
        {0: 1.0, 1: 1.0, 4: 457.0881896148752, 6: 1.0},
        {2: 64.56542290346556, 3: 0.003019951720402016},
    ]
    laplacian = laplacian_of(build(edges, [0.125, 1.0, 1.0], 7))
    pairs = smallest_eigenpairs(laplacian, 7, method="shift-invert", seed=1, tolerance=1e-9)
    check_same_spaces(pairs, smallest_eigenpairs(laplacian, 7, method="dense"))


def test_an_eigenvector_found_after_deflation_keeps_the_tolerance():
    """What is deflated is not exact: here the missed vector used to end just above the tolerance."""
    laplacian = NormalizedLaplacian(RandomWalk(random_hypergraph(60, 40, 6, 961)))
    pairs = smallest_eigenpairs(laplacian, 6, tolerance=1e-3, method="lanczos", seed=961)
    assert pairs.residuals.max() <= 1e-3


@pytest.mark.parametrize("method", ["dense", "small side", "lanczos", "shift-invert"])
def test_spare_vectors_are_guesses_at_the_next_ones(method):
    laplacian = NormalizedLaplacian(RandomWalk(random_hypergraph(90, 20, 12, 0)))
    pairs = smallest_eigenpairs(laplacian, 3, method=method, spare=2)
    exact = smallest_eigenpairs(laplacian, 5, method="dense")
    assert pairs.vectors.shape == (90, 3)
    assert pairs.spare.shape == (90, 2)
    quotients = np.einsum("nk,nk->k", pairs.spare, laplacian.apply(pairs.spare))
    np.testing.assert_allclose(quotients, exact.values[3:], atol=0.05)
    assert smallest_eigenpairs(laplacian, 90, method="dense", spare=9).spare.shape == (90, 0)


def test_only_long_and_thin_hypergraphs_are_factorised():
    """On a random hypergraph the factors fill in; Lanczos goes on, however many products it takes."""
    band = build([{(i + j) % 3000: 1.0 for j in range(4)} for i in range(3000)], [1.0] * 3000, 3000)
    assert is_thin(NormalizedLaplacian(RandomWalk(band)))
    wide = NormalizedLaplacian(RandomWalk(random_hypergraph(8000, 8000, 10, 0)))
    assert not is_thin(wide)


@pytest.mark.parametrize(("k", "alpha"), [(2, 0.0), (12, 0.0), (12, 1.0)])
def test_a_basis_made_orthogonal_as_needed_gives_the_same_eigenpairs(k, alpha, monkeypatch):
    """Most passes over the whole basis are left out, and estimates are not below what they estimate."""
    rng = np.random.default_rng(0)
    edges = [rng.integers(0, 250, 12) + 250 * (number % 12) for number in range(3000)]
    edges += [rng.integers(0, 3000, 12) for _ in range(1500)]
    members = [dict(zip(map(int, edge), rng.random(12) + 0.1, strict=True)) for edge in edges]
    walk = RandomWalk(Hypergraph.from_edges(members), alpha=alpha)
    operator, left_out, extend = NormalizedLaplacian(walk), [], lanczos._Space._extend

    def spy(space, column):
        filled, beyond = extend(space, column)
        inner = np.abs(space.basis[:, :filled].T @ space.basis[:, filled]).max()
        estimated = np.abs(space.overlaps.now[:filled]).max()
        assert inner <= 4 * estimated + 1e-14
        left_out.append(estimated > 1e-14)
        return filled, beyond

    known = np.sqrt(walk.stationary)[:, None]
    given = operator, known, k - 1, 1e-9, np.random.default_rng(0)
    expected = lanczos.lanczos_vectors(*given, lanczos.Lanczos())
    monkeypatch.setattr(lanczos._Space, "_extend", spy)
    found = lanczos.lanczos_vectors(*given[:-1], np.random.default_rng(0), lanczos.Lanczos(lazy=True))
    assert np.mean(left_out) > 0.5
    both = found.vectors[:, : k - 1], expected.vectors[:, : k - 1]
    assert np.abs(both[0].T @ both[0] - np.eye(k - 1)).max() < 1e-13
    assert np.abs(np.abs(np.linalg.svd(both[0].T @ both[1])[1]) - 1).max() < 1e-12
    np.testing.assert_allclose(found.floor, expected.floor, rtol=1e-6)
