"""The Dask engine without a cluster: vectors, rounds, products and solvers are those of one machine."""

import json
import logging
import operator
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus._runtime.checkpoint import Pace, checkpoint_pace
from hyperclus.clustering._run import default_min_share, search_in_batches
from hyperclus.clustering.cut import cut
from hyperclus.clustering.objectives import INFORMATION, NCUT
from hyperclus.clustering.search_problem import EFFORTS, SearchProblem
from hyperclus.engines import cpu_blocks
from hyperclus.engines.cpu import Lists, SparseProducts, Tuning
from hyperclus.engines.cpu_blocks import BlockProducts
from hyperclus.engines.dask import backend, schedule
from hyperclus.engines.dask.backend import ZOOMS, mass_levels
from hyperclus.engines.dask.blocks import MappedProducts
from hyperclus.engines.dask.chunk_kernels import BINS
from hyperclus.engines.dask.schedule import Plan, edge_block
from hyperclus.engines.dask.store import VECTORS, RunFiles, read_run_files
from hyperclus.engines.dask.vectors import Vector, fetch, persist
from hyperclus.errors import ClusterError
from hyperclus.spectral import stationary
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.spectral.laplacian import NormalizedLaplacian
from support.engine_contracts import planted
from support.in_process_workers import Alone, StopError, damage, scattered
from support.strategies import build, disconnected, hypergraphs, random_edges, random_hypergraph

lanczos = sys.modules["hyperclus.spectral.eigen.lanczos"]
some = settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])

LAYOUTS = {
    "one of each": {"chunks": 1, "blocks": 1, "partitions": 1},
    "some": {"chunks": 3, "blocks": 2, "partitions": 5},
    "empty blocks": {"chunks": 2, "blocks": 7, "partitions": 3},
    "a chunk for each vertex": {"chunks": 1000, "blocks": 3, "partitions": 4},
    "no memory": {"chunks": 2, "blocks": 2, "partitions": 2, "memory": 200.0},
}
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
any_layout = st.sampled_from(list(LAYOUTS.values()))


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Compute chunks in several steps, and draw random numbers from several generators."""
    monkeypatch.setattr(schedule, "ROWS", 7)
    monkeypatch.setattr(backend, "NORMALS_EACH", 8)


def numbers(n, seed=0):
    """Vectors to compute with: any, positive ones, codes, masks."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    return {"x": x, "y": y, "codes": rng.integers(0, 4, n), "mask": x > 0, "other": y > 1}


def expressions(x, y, codes, mask, other):
    """Expressions of vectors that solvers use."""
    return {
        "arithmetic": (x + y) * 2.0 - x / y + 3.0 - (1.0 - x) + 2.0 * y / 3.0,
        "whole numbers": codes * 3 + codes % 2,
        "powers": y**0.5 + y**2,
        "of one": np.sqrt(y) + np.abs(x) - np.square(x) + (-x),
        "of two": np.maximum(x, y) - np.minimum(x, 0.0),
        "masks": (mask & ~other) | (codes == 2),
        "compared": (x > y) ^ (x <= 0) ^ np.isfinite(x / y),
        "chosen": np.where(mask, x, -np.inf),
        "chosen of two": np.where(other, x, np.where(mask, 1.0, y)),
        "chosen codes": np.where(mask, codes, 1),
        "clipped": np.clip(x, -0.5, 0.5),
        "mask times": mask * x,
        "infinite": y - np.inf,
        "zeros": np.zeros_like(codes) + np.ones_like(x, dtype=np.int64) + np.full_like(x, 3),
        "filled": np.full_like(x, -np.inf),
        "type": mask.astype(np.float64) + x[:],
        "to whole": (x * 10).astype(np.int64),
    }


def reductions(x, y, codes, mask):
    """Reductions that solvers use."""
    return {
        "sum": x.sum(),
        "largest": x.max(),
        "smallest": y.min(),
        "inner": x @ y,
        "norm": np.linalg.norm(x),
        "count": np.count_nonzero(mask),
        "all": (y > 0).all(),
        "not all": mask.all(),
        "any": (y > 1e9).any(),
        "bins": np.bincount(codes, minlength=6),
        "weighted": np.bincount(codes, weights=x, minlength=4),
        "sum of codes": codes.sum(),
    }


@layouts
def test_vectors_are_those_of_numpy(layout):
    here = numbers(60)
    with scattered(random_hypergraph(60, 40, 5, 1), **layout) as there:
        far = {name: there.put(values) for name, values in here.items()}
        found, expected = expressions(**far), expressions(**here)
        looked_up = there.products.backend.take(np.array([1.5, -2.0, 0.0, 7.0]), far["codes"])
        before = there.session.spent.rounds
        there.session.ensure_stored(*found.values(), looked_up)
        assert there.session.spent.rounds == before + 1
        for name, values in expected.items():
            assert found[name].dtype == values.dtype, name
            if (
                name == "powers"
            ):  # NumPy 2.0 rounds some in another way where a chunk begins elsewhere in memory
                np.testing.assert_array_max_ulp(there.get(found[name]), values)
            else:
                np.testing.assert_array_equal(there.get(found[name]), values, err_msg=name)
            assert there.get(found[name]).dtype == values.dtype, name
        np.testing.assert_array_equal(there.get(looked_up), np.array([1.5, -2.0, 0.0, 7.0])[here["codes"]])
        for name, values in far.items():  # nothing has changed them
            np.testing.assert_array_equal(there.get(values), here[name])


@layouts
def test_small_results_are_those_of_numpy_and_take_one_round(layout):
    here = numbers(60)
    del here["other"]
    with scattered(random_hypergraph(60, 40, 5, 1), **layout) as there:
        far = reductions(**{name: there.put(values) for name, values in here.items()})
        before = there.session.spent.rounds
        found = fetch([*far.values(), 5.0])
        assert there.session.spent.rounds == before + 1
        assert found.pop() == 5.0
        for (name, values), value in zip(reductions(**here).items(), found, strict=True):
            np.testing.assert_allclose(value, values, rtol=1e-13, err_msg=name)
        sign_of = there.products.backend.sign_of_largest
        x, sign = there.put(here["x"]), np.sign(here["x"][np.argmax(np.abs(here["x"]))])
        assert fetch([sign_of(x), sign_of(-x)]) == [sign, -sign]
        total = here["x"].sum()
        assert float(x.sum()) == pytest.approx(total)
        assert float(2.0 / x.sum() * 3 + x.sum() / 2.0) == pytest.approx(6.0 / total + total / 2)
        assert bool(x.sum() > total - 1) and not bool(x.sum() < total - 1)  # noqa: PT018
        np.testing.assert_allclose(there.get(x / x.sum()), here["x"] / total)


@layouts
def test_blocks_are_those_of_numpy(layout):
    rng = np.random.default_rng(2)
    x, y, v = rng.normal(size=(60, 3)), rng.normal(size=(60, 2)), rng.uniform(1, 2, 60)
    small, row = rng.normal(size=(3, 2)), rng.normal(size=3)

    def blocks(x, y, v):
        return {
            "times small": x @ small,
            "times row": x @ row,
            "row times": row @ x.T,
            "scaled": x / v[:, None] * row,
            "beside": np.hstack([y, x])[:, 1:4],
            "columns": np.column_stack([v, y[:, 0], v * 2]),
            "chosen": x[:, [2, 0]],
            "one": x[:, 1],
            "clipped": np.clip(x / v[:, None], -0.3, 0.3),
            "less": x[:, :2] - y,
            "by rows": (small.T @ x.T).T if isinstance(x, np.ndarray) else x @ small,
        }

    def cpu(x, y, v):
        return [x.T @ y, x.T @ v, x.T @ x, x[:, :1].T @ x, x[:, :0].T @ y, y.T @ x[:, :0]]

    with scattered(random_hypergraph(60, 40, 5, 1), **layout) as there:
        far = there.put(x), there.put(y), there.put(v)
        for (name, values), found in zip(blocks(x, y, v).items(), blocks(*far).values(), strict=True):
            assert (found.shape, found.ndim, len(found)) == (values.shape, values.ndim, len(values)), name
            np.testing.assert_allclose(there.get(found), values, atol=1e-13, err_msg=name)
        before = there.session.spent.rounds
        for found, values in zip(fetch(cpu(*far)), cpu(x, y, v), strict=True):
            assert found.shape == values.shape
            np.testing.assert_allclose(found, values, atol=1e-12)
        assert there.session.spent.rounds == before + 1
        room = there.products.backend.empty_columns(far[2], 3)
        room[:, 0] = far[2] * 2
        room[:, 1:3] = far[1]
        room[:, 0] = room[:, 0] + 1
        np.testing.assert_allclose(there.get(room), np.column_stack([v * 2 + 1, y]))


@pytest.mark.parametrize("change", [operator.iadd, operator.isub, operator.imul, operator.itruediv])
def test_an_in_place_operation_changes_no_other_name(change):
    with scattered(random_hypergraph(20, 15, 4, 1)) as there:
        stored, values = there.put(np.arange(20.0)), np.arange(20.0)
        for x in (stored, stored + 1, persist(stored + 1)):
            same, before = x, there.get(x)
            x = change(x, 3.0)
            np.testing.assert_array_equal(there.get(same), before)
            np.testing.assert_array_equal(there.get(x), change(before.copy(), 3.0))
        np.testing.assert_array_equal(there.get(stored), values)


def test_persisted_vectors_are_stored_once_and_unused_ones_are_deleted():
    with scattered(random_hypergraph(40, 30, 4, 1)) as there:
        x = there.put(np.arange(40.0))
        root = persist(np.sqrt(x + 1))
        assert len(there.stored_names()) == 1
        twice = (root * 2).sum().value(), (root - 1).sum().value()
        np.testing.assert_allclose(
            twice, (2 * np.sqrt(np.arange(41.0))[1:].sum(), (np.sqrt(np.arange(1.0, 41)) - 1).sum())
        )
        assert there.stored_names() == {x.payload, root.payload}
        name = root.payload
        there.session.pin("a checkpoint", [root.reference()])
        later = (root + 1) * 3  # still refers to it
        del root
        float(x.sum())
        assert there.stored_names() == {x.payload, name}
        assert float(later.max()) == pytest.approx(3 * (np.sqrt(40) + 1))
        del later
        float(x.sum())
        assert there.stored_names() == {x.payload, name}
        there.session.unpin("a checkpoint")
        float(x.sum())
        assert there.stored_names() == {x.payload}
        float(x.sum())
        assert {key[0] for key in VECTORS._entries} & {name} == set()


def test_the_files_of_a_run_are_described_in_json(tmp_path):
    """Workers read the description from a shared folder, where a pickle could run code."""
    files = RunFiles(tmp_path, [tmp_path / "block-0"], [3, 7], [[0, 2, 5]], 0.1, 4e9)
    files.write(tmp_path / "run.json")
    assert read_run_files(tmp_path / "run.json") == files
    assert json.loads((tmp_path / "run.json").read_text())["ends"] == [3, 7]
    with scattered(random_hypergraph(20, 15, 4, 1)) as there:
        json.loads(there.session.path.read_text())
        assert not list(there.session.path.parent.glob("*.pickle"))


def test_a_stored_vector_with_two_users_stays_until_both_are_gone():
    with scattered(random_hypergraph(20, 15, 4, 1)) as there:
        first = there.put(np.arange(20.0))
        name = first.payload
        second = there.session.stored(name)
        del first
        float(second.sum())
        assert name in there.stored_names()
        assert float(second.max()) == 19
        del second
        there.session.delete_unused()
        assert name not in there.stored_names()


def test_vectors_that_share_a_persisted_one_take_one_round():
    with scattered(random_hypergraph(40, 30, 4, 1)) as there:
        x = there.put(np.arange(40.0))
        root = persist(np.sqrt(x))
        before = there.session.spent.rounds
        fetch([root.sum(), (root + x).max(), root.min()])
        there.session.ensure_stored(root)
        assert there.session.spent.rounds == before + 1


# ---- operations that NumPy does not have ------------------------------------------------------------


@some
@given(
    st.lists(st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3)), min_size=1, max_size=30),
    st.floats(0, 1e4),
    st.sampled_from([1.0, 1e-12, 1e6]),
    any_layout,
)
def test_levels_have_their_shares_of_the_mass_below(entries, offset, scale, layout):
    values = offset + scale * np.array(entries)
    masses = np.random.default_rng(len(values)).uniform(0.1, 1.0, len(values))
    shares, total = [0.04, 0.5, 0.96], masses.sum()
    n = len(values)
    h = build([dict.fromkeys(range(n), 1.0)], [1.0], n)
    with scattered(h, **layout) as there:
        levels = mass_levels(there.put(values), there.put(masses), shares)
    near = 2 * (values.max() - values.min()) / BINS**ZOOMS + 4 * np.spacing(np.abs(values).max())
    for share, level in zip(shares, levels, strict=True):
        assert masses[values <= level].sum() >= share * total * (1 - 1e-9)
        assert masses[values < level - near].sum() <= share * total * (1 + 1e-9)


@layouts
def test_the_best_half(layout):
    rng = np.random.default_rng(3)
    gains, among = rng.normal(size=60), rng.random(60) < 0.4
    count = int(among.sum())
    with scattered(random_hypergraph(60, 40, 5, 1), **layout) as there:
        mask, best_half = there.put(among), there.products.backend.best_half
        better = there.get(best_half(mask, there.put(np.where(among, gains, -np.inf)), count, 1))
        assert not (better & ~among).any()
        assert abs(better.sum() - count / 2) <= 1
        assert gains[better].min() > gains[among & ~better].max()
        for equal in (np.full(60, 0.25), 0.25 + 1e-17 * rng.normal(size=60), 0.25 + 1e-15 * gains):
            coins = there.get(best_half(mask, there.put(equal), count, 1))
            assert not (coins & ~among).any()
            assert 0 < coins.sum() < count


@layouts
def test_samples_and_centres(layout):
    rng = np.random.default_rng(4)
    points, masses = rng.normal(size=(400, 2)), rng.uniform(0.1, 1.0, 400)
    with scattered(random_hypergraph(400, 100, 5, 1), **layout) as there:
        backend, block, far = there.products.backend, there.put(points), there.put(masses)
        drawn, weights = backend.sample_rows(block, far, 100)
        rows = [int(np.flatnonzero((points == row).all(axis=1))[0]) for row in drawn]
        assert len(set(rows)) == len(rows)
        assert 70 < len(rows) < 130
        np.testing.assert_allclose(weights, np.maximum(masses.sum() / 100, masses[rows]))
        everything, own = backend.sample_rows(block, far, 10**6)
        np.testing.assert_array_equal(everything, points)
        np.testing.assert_allclose(own, masses)
        centres = rng.normal(size=(5, 2))
        distances = np.square(points[:, None] - centres).sum(axis=2)
        np.testing.assert_array_equal(there.get(backend.nearest(block, centres)), distances.argmin(axis=1))


def test_random_numbers_do_not_depend_on_the_chunks():
    n, masses = 300, np.random.default_rng(0).uniform(size=300)
    found = []
    for chunks in (1, 3, 7, 300):
        with scattered(random_hypergraph(n, 100, 5, 1), chunks) as there:
            normal = there.products.backend.normal(n, np.random.default_rng(5))
            rows, _ = there.products.backend.sample_rows(there.put(masses[:, None]), there.put(masses), 50, 3)
            coins = there.products.backend.best_half(there.put(masses > 0), there.put(np.ones(n)), n, 2)
            found.append((there.get(normal), rows, there.get(coins)))
    for other in found[1:]:
        for first, second in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(first, second)
    assert abs(found[0][0].mean()) < 0.2
    assert 0.85 < found[0][0].std() < 1.15


# ---- rounds --------------------------------------------------------------------------------------


def planned(reductions, vectors=()):
    return Plan(reductions, vectors, (f"name {number}" for number in range(99)))


def test_stages_of_a_round():
    with scattered(random_hypergraph(40, 30, 4, 1)) as there:
        x = there.put(np.arange(40.0))

        def sides(*reductions):
            return [stage.side[0] for stage in planned(reductions).stages]

        def product(vector):
            return there.products.to_vertices(there.products.to_edges(vector, "gamma"), "source_weights")

        assert sides(x.sum()) == ["v"]
        assert sides((x * 2).sum(), (x + 1).max()) == ["v"]
        assert sides(there.products.to_edges(x, "gamma").sum()) == ["v", "e"]
        assert sides(product(x).sum()) == ["v", "e", "v"]
        assert sides(product(product(x)).sum()) == ["v", "e", "v", "e", "v"]
        assert sides(product(x).sum(), product(x + 1).sum(), x.sum()) == ["v", "e", "v"]
        both = there.products.symmetrized(x, x, x, there.products.to_edges(x, "gamma"))
        assert sides(both.sum()) == ["v", "e", "v"]
        (first, second, _) = planned([product(x).sum(), product(x * 1).sum()]).stages
        assert len(first.sends) == len(second.sends) == 2
        same = there.products.to_edges(x, "gamma"), there.products.to_edges(x, "source_weights")
        (first, _) = planned([one.sum() for one in same]).stages
        assert len(first.sends) == 1  # it is sent to the blocks once


def test_a_persisted_vector_before_and_after_a_product_is_computed_once():
    calls = []

    def noted(values):
        calls.append(len(values))
        return values + 1.0

    with scattered(random_hypergraph(40, 30, 4, 1)) as there:
        x = there.put(np.arange(40.0))
        for keep in (True, False):
            start = Vector(there.session, "vertices", "map", noted, (x,), persisted=keep)
            image = there.products.to_vertices(
                there.products.to_edges(start, "source_weights"), "source_weights"
            )
            made = planned([(image * start).sum(), start.sum()])
            uses = [sum(payload is noted for _, payload, _ in stage.instructions) for stage in made.stages]
            assert uses == ([1, 0, 0] if keep else [1, 0, 1])
            assert [vector for vector, _ in made.stored if vector is start] == [start] * keep


@pytest.mark.parametrize("levels", range(1, 5))
def test_one_round_or_many_give_the_same(levels):
    """Expressions over several products, some persisted, with reductions at all levels."""
    h = random_hypergraph(60, 40, 5, 1)
    here = TransitionFactors(h)
    x = np.random.default_rng(0).uniform(1, 2, 60)
    for layout in LAYOUTS.values():
        with scattered(h, **layout) as there:
            far = TransitionFactors(there.stored, products=there.products)
            values, vector, asked, expected = x, there.put(x), [], []
            before = there.session.spent.rounds
            for level in range(levels):
                edges, far_edges = here.step_to_edges(values), far.step_to_edges(vector)
                values, image = (
                    here.step_to_vertices(edges) + values,
                    far.step_to_vertices(far_edges) + vector,
                )
                vector = persist(image) if level % 2 else image
                asked += [vector.sum(), far_edges.max(), np.linalg.norm(vector)]
                expected += [values.sum(), edges.max(), np.linalg.norm(values)]
            np.testing.assert_allclose(fetch(asked), expected, rtol=1e-12)
            assert there.session.spent.rounds == before + 1
            np.testing.assert_allclose(there.get(vector), values, rtol=1e-12)


# ---- products --------------------------------------------------------------------------------------


@pytest.fixture(params=["plain", "blocked", "mapped"])
def kind(request, monkeypatch):
    """How workers hold blocks of hyperedges; groups of vertices are small."""
    monkeypatch.setattr(cpu_blocks, "SPAN", 1)
    return request.param


def tuning_of(kind, threads=1):
    """Sort small blocks into groups of vertices, or none."""
    return Tuning(threads=threads) if kind == "plain" else Tuning(threads, blocked_from=1, min_vertices=1)


def memory_of(kind):
    """So little that all blocks are mapped, or plenty."""
    return 100.0 if kind == "mapped" else 4e9


def check_kind(there, kind, alpha, min_vertices=1):
    """The blocks are of the kind that the test is about."""
    wanted = {"plain": SparseProducts, "blocked": BlockProducts, "mapped": MappedProducts}[kind]
    for number, edges in enumerate(there.edges):
        if len(edges) and alpha in (0, 1):
            found = edge_block(there.session.files, number)
            if found.n_vertices >= 2 * min_vertices:
                assert type(found.products) is wanted


@some
@given(
    h=st.one_of(hypergraphs(), disconnected()),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    layout=any_layout,
    threads=st.integers(1, 3),
)
def test_products_are_those_of_one_machine(kind, h, alpha, layout, threads):
    layout = {**layout, "memory": memory_of(kind)}
    with scattered(h, alpha=alpha, tuning=tuning_of(kind, threads), **layout) as there:
        check_kind(there, kind, alpha)
        check_passes(there, h, alpha)


def check_passes(there, h, alpha, tolerance=1e-12):
    here, far, rng = SparseProducts(Lists(h.gamma, alpha)), there.products, np.random.default_rng(0)
    x, left, right = rng.uniform(0.1, 1.0, (3, h.n_vertices))
    y, middle = rng.uniform(0.1, 1.0, (2, h.n_edges))
    edges, vertices = there.put_edges, there.put
    same = partial(np.testing.assert_allclose, rtol=tolerance)
    for weights in ("gamma", "source_weights"):
        same(there.get(far.to_edges(vertices(x), weights)), here.to_edges(x, weights))
        same(there.get(far.to_vertices(edges(y), weights)), here.to_vertices(y, weights))
    block = np.column_stack([x, left])
    same(there.get(far.to_edges(vertices(block), "gamma")), here.to_edges(block, "gamma"))
    for found, values in zip(
        far.edge_pairs(vertices(x), vertices(left)), here.edge_pairs(x, left), strict=True
    ):
        same(there.get(found), values)
    given = vertices(x), vertices(left), vertices(right), edges(middle)
    same(there.get(far.symmetrized(*given)), here.symmetrized(x, left, right, middle))
    same(there.get(far.vertex_squares(edges(y))), here.vertex_squares(y))
    given = edges(y), vertices(x), edges(middle), vertices(left)
    same(far.least_share(*given), here.least_share(y, x, middle, left))
    check_flows(there, h, alpha, rng)
    expected, found = here.constants(), far.constants()
    assert (found is None) == (expected is None)
    if expected is not None:
        same(there.get(found), expected)


def check_flows(there, h, alpha, rng):
    labels = rng.integers(0, 3, h.n_vertices)
    walk = hc.RandomWalk(h, alpha=alpha)
    factors = walk.factors
    given = walk.stationary, factors.relative_degrees
    far = map(there.put, (labels, *given))
    labels_there, *masses = far
    volumes, found = there.products.backend.fetch(
        *there.products.flows(labels_there, 3, *masses, there.put_edges(factors.shares))
    )
    np.testing.assert_allclose(volumes, np.bincount(labels, walk.stationary, 3), rtol=1e-12)
    p = walk.dense() * walk.stationary[:, None]
    expected = [p[np.ix_(labels == cluster, labels != cluster)].sum() for cluster in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("kind", ["plain", "mapped"])
def test_gamma_that_differs_only_across_blocks(monkeypatch, kind):
    """The same within each block, but not in all of them."""
    monkeypatch.setattr(cpu_blocks, "SPAN", 1)
    own = np.arange(1.0, 9.0)
    edges = [dict(enumerate(own.tolist()))] * 6
    for other, constant in ((1.0, True), (2.0, False)):
        gamma = [*edges[:5], {v: g * other for v, g in edges[5].items()}]
        with scattered(
            build(gamma, [1.0] * 6, 8), blocks=6, partitions=6, memory=memory_of(kind), tuning=tuning_of(kind)
        ) as there:
            found = there.products.constants()
            assert (found is not None) == constant
            if constant:
                np.testing.assert_array_equal(there.get(found), own)


def test_larger_blocks_in_memory_and_mapped(monkeypatch):
    """Several real spans of vertices, and threads that share them."""
    monkeypatch.setattr(schedule, "ROWS", 1 << 14)
    h = planted_sparse(200_000, 2)
    for memory, alpha in ((1e5, 0.0), (1e5, 1.0), (4e9, 0.0), (4e9, 0.5)):
        with scattered(h, alpha=alpha, memory=memory, tuning=Tuning(2, blocked_from=1)) as there:
            check_kind(there, "mapped" if memory < 1e9 else "blocked", alpha, Tuning().min_vertices)
            here = SparseProducts(Lists(h.gamma, alpha))
            x, left, right = np.random.default_rng(0).uniform(0.1, 1.0, (3, h.n_vertices))
            middle = np.random.default_rng(1).uniform(0.1, 1.0, h.n_edges)
            far = there.products.symmetrized(*map(there.put, (x, left, right)), there.put_edges(middle))
            np.testing.assert_allclose(there.get(far), here.symmetrized(x, left, right, middle), rtol=1e-11)


def planted_sparse(n_incidences, count, noise=0.2, seed=0):
    """n hyperedges of 10 to 20 members, each with a home block, lognormal gamma."""
    rng = np.random.default_rng(seed)
    n = n_incidences // 15 // count * count
    edges = np.repeat(np.arange(n), rng.integers(10, 21, n))
    home = rng.integers(0, count, n)[edges]
    members = home * (n // count) + rng.integers(0, n // count, len(edges))
    stray = rng.random(len(edges)) < noise
    members[stray] = rng.integers(0, n, stray.sum())
    return of_incidences(edges, members, n, rng)


def of_incidences(edges, members, n, rng):
    keys = np.unique(edges * n + members)
    places = keys % n, keys // n
    gamma = sp.csr_array((rng.lognormal(size=len(keys)), places), shape=(n, n))
    return hc.Hypergraph.from_incidence(gamma, isolated="drop")


def ring(n, seed=0):
    """Vertices on a circle, n hyperedges of 15 members from an arc of a sixteenth: it mixes slowly."""
    rng = np.random.default_rng(seed)
    edges = np.repeat(np.arange(n), 15)
    members = (edges + rng.integers(-n // 32, n // 32, 15 * n)) % n
    return of_incidences(edges, members, n, rng)


# ---- components ----------------------------------------------------------------------------------


def path(n, closed):
    """Pairs one after the other: a long way from the first vertex to the last."""
    pairs = [{v: 1.0, (v + 1) % n: 2.0} for v in range(n if closed else n - 1)]
    return build(pairs, [1.0] * len(pairs), n)


def three_parts():
    rng = np.random.default_rng(5)
    edges = [{v + 30 * part: g for v, g in edge.items()} for part in range(3) for edge in chain_of(rng, 30)]
    order = rng.permutation(90)
    return build([{int(order[v]): g for v, g in edge.items()} for edge in edges], [1.0] * len(edges), 90)


def chain_of(rng, n):
    return [
        {v: float(rng.uniform(1, 2)) for v in range(first, first + 3)} for first in range(0, n - 2, 2)
    ] + [{n - 1: 1.0, 0: 1.0}]


PARTS = {"connected": random_hypergraph(80, 60, 5, 2), "path": path(50, False), "ring": path(50, True)}
PARTS["three parts"] = three_parts()


@pytest.mark.parametrize("name", PARTS)
def test_components_are_those_of_one_machine(kind, name):
    h = PARTS[name]
    expected = hc.RandomWalk(h).distribution.components
    for layout in list(LAYOUTS.values())[:3]:
        with scattered(h, tuning=tuning_of(kind, 2), **{**layout, "memory": memory_of(kind)}) as there:
            count, of_vertex, _ = there.products.backend.components(there.products, there.stored)
            check_same_parts(there, count, of_vertex, expected)


@some
@given(h=st.one_of(hypergraphs(), disconnected()), layout=any_layout)
def test_components_of_any_hypergraph(kind, h, layout):
    expected = hc.RandomWalk(h, alpha=1.0).distribution.components
    with scattered(h, tuning=tuning_of(kind), **{**layout, "memory": memory_of(kind)}) as there:
        count, of_vertex, _ = there.products.backend.components(there.products, there.stored)
        check_same_parts(there, count, of_vertex, expected)


def check_same_parts(there, count, of_vertex, expected):
    assert count == expected.count
    if of_vertex is not None:
        pairs = set(zip(there.get(of_vertex).tolist(), expected.of_vertex.tolist(), strict=True))
        assert len(pairs) == count
        assert {first for first, _ in pairs} == set(range(count))


# ---- solvers -------------------------------------------------------------------------------------


def dask_walk(there, alpha=0.0):
    return hc.RandomWalk(there.stored, alpha=alpha, products=there.products)


@some
@given(
    h=st.one_of(hypergraphs(), disconnected()),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    layout=any_layout,
    data=st.data(),
)
def test_any_walk_is_that_of_one_machine(h, alpha, layout, data):
    """The distribution, the eigenpairs and cuts, for any number of clusters."""
    here = hc.RandomWalk(h, alpha=alpha)
    k = data.draw(st.integers(1, min(5, h.n_vertices)))
    labels = np.arange(h.n_vertices) % k
    with scattered(h, alpha=alpha, **{**layout, "memory": 4e9}) as there:
        walk = dask_walk(there, alpha)
        assert walk.n_components == here.n_components
        check_distribution(there, walk, here)
        check_pairs(there, walk, here, k)
        found, expected = cut(walk, there.put(labels), k), cut(here, labels, k)
        np.testing.assert_allclose(found.volumes, expected.volumes, rtol=1e-8)
        np.testing.assert_allclose(found.boundaries, expected.boundaries, rtol=1e-8, atol=1e-14)


def check_distribution(there, walk, here, tolerance=1e-9):
    np.testing.assert_allclose(there.get(walk.stationary), here.stationary, rtol=tolerance)
    np.testing.assert_allclose(there.get(walk.edge_stationary), here.edge_stationary, rtol=tolerance)
    assert walk.distribution.residual < 1e-10
    assert walk.reversible == here.reversible


def check_pairs(there, walk, here, k, tolerance=1e-8):
    """Values, residuals, and the spaces of eigenvalues that stand apart."""
    pairs = hc.smallest_eigenpairs(NormalizedLaplacian(walk), k, tolerance=tolerance, spare=2)
    more = min(k + 1, here.hypergraph.n_vertices)
    expected = hc.smallest_eigenpairs(NormalizedLaplacian(here), more, tolerance=1e-10)
    np.testing.assert_allclose(pairs.values, expected.values[:k], rtol=0, atol=1e-9)
    assert pairs.residuals.max() <= tolerance
    vectors = there.get(pairs.vectors)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-8)
    images = NormalizedLaplacian(here).apply(vectors) - vectors * pairs.values
    assert np.linalg.norm(images, axis=0).max() <= 2 * tolerance
    for last in range(1, k + 1):
        gap = expected.values[last] - expected.values[last - 1] if last < more else 1.0
        if gap > 1e-3 and last > walk.n_components:
            overlaps = np.linalg.svd(expected.vectors[:, :last].T @ vectors[:, :last], compute_uv=False)
            np.testing.assert_allclose(overlaps, 1.0, atol=1e-8)
    if k > 1 and pairs.spare.shape[1]:
        spare = there.get(pairs.spare)
        np.testing.assert_allclose(spare.T @ vectors, 0.0, atol=1e-6)
    return pairs


def test_weakly_joined_parts_get_their_masses_from_one_worker():
    rng = np.random.default_rng(0)
    edges = [
        {v + shift: g for v, g in edge.items()}
        for shift in (0, 60)
        for edge in random_edges(rng, 60, 50, 12, 1.0)
    ]
    h = build([*edges, {0: 1.0, 60: 50.0}], [*[1.0] * 100, 1e-7], 120)
    here = hc.RandomWalk(h)
    with scattered(h) as there:
        check_distribution(there, dask_walk(there), here)
        parts = there.put(np.arange(120) >= 60)
        assert float(dask_walk(there).stationary @ parts) == pytest.approx(
            here.stationary[60:].sum(), rel=1e-9
        )


def test_uncorrected_masses_are_recorded_if_no_worker_has_the_memory(caplog):
    h = build([{0: 1.0, 1: 2.0}, {1: 1.0, 2: 3.0}, {2: 1.0, 3: 2.0}], [1.0, 1e-6, 1.0], 4)
    with scattered(h, memory=800.0) as there:
        walk = dask_walk(there)
        np.testing.assert_allclose(there.get(walk.stationary), hc.RandomWalk(h).stationary, rtol=1e-6)
        assert not walk.distribution.masses_corrected
    assert hc.RandomWalk(h).distribution.masses_corrected
    (message,) = [record.getMessage() for record in caplog.records]
    assert "no worker has the memory" in message


@pytest.mark.parametrize("objective", [NCUT, INFORMATION], ids=["ncut", "information"])
@pytest.mark.parametrize("effort", ["fast", "default"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_batch_search_gives_the_result_of_one_machine(monkeypatch, k, effort, objective):
    monkeypatch.setattr(schedule, "ROWS", 1 << 14)
    h = planted(300, 500, k, noise=0.1, seed=k)
    in_batches = replace(EFFORTS[effort], batched_from=(0, 0))
    here = hc.cluster(h, k, effort=in_batches, engine="cpu", objective=objective.name)
    for layout in (LAYOUTS["some"], LAYOUTS["empty blocks"]):
        with scattered(h, **layout) as there:
            walk = dask_walk(there)
            pairs = hc.smallest_eigenpairs(NormalizedLaplacian(walk), k, spare=2)
            min_volume = default_min_share(walk, k) if objective is NCUT else 0.0
            problem = SearchProblem(walk, pairs, k, min_volume, objective)
            labels = search_in_batches(problem, in_batches, 0)
            scored = cut(walk, labels, k)
            again = hc.evaluate(h, there.get(labels))
            if objective is NCUT:
                assert scored.ncut == pytest.approx(here.ncut, abs=1e-9)
            else:  # which of the moves that undo each other are made depends on the order of the vertices
                assert again.information == pytest.approx(here.information, rel=1e-3)
            assert again.ncut == pytest.approx(scored.ncut, abs=1e-9)
            assert hc.agreement(here.labels, there.get(labels)).nmi > 0.99


@pytest.mark.parametrize("k", [2, 3, 5])
def test_rounds_are_few_where_blocks_are_planted(monkeypatch, k):
    monkeypatch.setattr(schedule, "ROWS", 1 << 14)
    with scattered(planted_sparse(100_000, k), chunks=2, blocks=2, partitions=2) as there:
        walk = dask_walk(there)
        assert there.session.spent.products <= 40
        check_few_steps(there, walk, k, 25)


def test_rounds_are_few_where_the_walk_mixes_slowly(monkeypatch):
    monkeypatch.setattr(schedule, "ROWS", 1 << 14)
    with scattered(ring(8_000), chunks=2, blocks=2, partitions=2) as there:
        walk = dask_walk(there)
        assert there.session.spent.products <= 120
        for k, most in ((2, 63), (3, 59), (5, 47)):
            check_few_steps(there, walk, k, most)


def check_few_steps(there, walk, k, most):
    """A block of vectors for each step of Lanczos, a vector for each of the check, and few rounds beside."""
    before = there.session.spent.rounds
    pairs = hc.smallest_eigenpairs(NormalizedLaplacian(walk), k)
    assert pairs.method == "lanczos"
    assert pairs.steps <= most
    assert there.session.spent.rounds - before <= pairs.steps + 8


# ---- interrupted runs and damaged files ----------------------------------------


@pytest.fixture
def eager(monkeypatch):
    """Save every result, and a state at every opportunity; cycles and bases are short."""
    monkeypatch.setattr(stationary, "RESTART", 8)
    monkeypatch.setattr(lanczos, "EXTRA_BLOCKS", 4)
    monkeypatch.setattr(schedule, "ROWS", 1 << 14)
    with checkpoint_pace(Pace(0.0, 0.0, np.inf)):
        yield


def clustered(there, k=3):
    """As `cluster` does it, with checkpoints: the distribution, the eigenvalues, the NCut and the labels."""
    kept_in = there.session.files.vectors.parent / "checkpoints"
    with hc.checkpoints(kept_in, there.session):
        there.session.clean(kept_in)
        walk = dask_walk(there)
        pairs = hc.smallest_eigenpairs(NormalizedLaplacian(walk), k, spare=2, seed=np.random.default_rng(3))
        effort = replace(EFFORTS["default"], batched_from=(0, 0))
        labels = search_in_batches(SearchProblem(walk, pairs, k, 0.0), effort, 0)
        ncut = cut(walk, labels, k).ncut
        return there.get(walk.stationary), pairs.values, ncut, there.get(labels)


def same_run(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-14)


H = planted(200, 300, 3, noise=0.15, seed=1)


def test_a_run_interrupted_anywhere_resumes(eager):
    with scattered(H) as there:
        expected = clustered(there)
        rounds, cpu = there.session.pool.rounds, there.session.spent.products
    saved = []
    for stop in np.linspace(2, rounds, 5).astype(int).tolist():
        with scattered(H, pool=Alone(stop)) as there:
            with pytest.raises(StopError):
                clustered(there)
            again = there.again()
            del there
            same_run(clustered(again), expected)
            saved.append(cpu - again.session.spent.products)
            assert again.session.spent.products <= cpu
    assert saved == sorted(saved)
    assert saved[-1] > 0.8 * cpu  # the rest is the degrees and the components
    assert saved[2] > 0.25 * cpu


def test_a_finished_search_is_loaded_from_its_checkpoint(eager, caplog):
    with scattered(H) as there:
        expected = clustered(there)
        again = there.again()
        with caplog.at_level(logging.INFO, "hyperclus._runtime.checkpoint"):
            same_run(clustered(again), expected)
        assert len(list((there.session.files.vectors.parent / "checkpoints").glob("search-*"))) == 1
    loaded = [record.getMessage().partition("-")[0] for record in caplog.records]
    assert loaded == ["stationary", "eigenvectors", "search"]


def test_a_run_interrupted_repeatedly_finishes(eager):
    with scattered(H) as there:
        expected = clustered(there)
    with scattered(H, pool=Alone(25)) as there:
        for tries in range(1, 40):  # noqa: B007
            try:
                found = clustered(there)
                break
            except StopError:
                there = there.again(Alone(25))
        same_run(found, expected)
        assert tries > 3


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_checkpoint_with_damaged_vectors_is_computed_again(eager, caplog, share):
    with scattered(H) as there:
        expected = clustered(there)
        again = there.again()
        for path in again.session.files.vectors.glob("*.1.npy"):
            path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
        same_run(clustered(again), expected)
        messages = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
        assert messages
        assert all("is damaged; it is deleted and computed again" in message for message in messages)


def test_a_damaged_vector_is_an_error():
    for memory, share in ((4e9, 0.5), (300.0, 0.5), (300.0, 0.9), (4e9, 0.0), (300.0, 0.0)):
        with scattered(random_hypergraph(200, 40, 5, 1), chunks=2, memory=memory) as there:
            x = there.put(np.arange(200.0))
            assert float(x.sum()) == 19900
            damage(there, x, 1, share)
            with pytest.raises(ClusterError, match="cannot read or write a file"):
                float(x.sum())
            with pytest.raises(ClusterError, match="cannot read or write a file"):
                there.get(there.products.to_edges(x, "gamma"))
