"""Engines: the CUDA engine on a stand-in for the device, and on a GPU where there is one."""

import copy
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import hyperclus as hc
from hyperclus import engines
from hyperclus.clustering.search_problem import EFFORTS
from hyperclus.engines import cuda, cuda_device, cuda_flows
from hyperclus.spectral.eigen.null_space import zero_vectors
from support import stand_in_device
from support.contracts import refused
from support.engine_contracts import (
    ALPHAS,
    check_answer,
    check_distribution,
    check_factors,
    check_products,
    one_memory,
    planted,
)
from support.paper_data import paper_hypergraph
from support.strategies import copies_around_a_hub, random_hypergraph

lanczos = sys.modules["hyperclus.spectral.eigen.lanczos"]
IN_PIECES = cuda_device.Layout(width=7, long=4, piece=3, table=100)
NINE = ("mushroom", "rice", "car", "digit-24", "covertype", "zoo", "wine-567", "letter", "digit")


@pytest.fixture(params=[stand_in_device.WHOLE, IN_PIECES], ids=["whole", "in pieces"])
def device(request, monkeypatch):
    """A stand-in for a GPU; with blocks and pieces so small that there are several of each."""
    on_standin(monkeypatch, request.param)


def on_standin(monkeypatch, layout=stand_in_device.WHOLE, free=10**12):
    monkeypatch.setattr(cuda, "DEVICE", partial(stand_in_device.StandIn, layout, free))
    monkeypatch.setattr(cuda, "missing", lambda: None)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("shape", [(60, 40, 2, 0), (30, 90, 3, 2), (25, 3, 1, 3)])
@pytest.mark.usefixtures("device")
def test_products_are_those_of_the_definition(alpha, shape):
    n, n_edges, blocks, big = shape
    h = planted(n, n_edges, blocks, big=big)
    check_products(one_memory(cuda.CudaProducts.of), h, alpha)
    check_factors(cuda.CudaProducts.of, h, alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.usefixtures("device")
def test_the_distribution_is_that_of_the_cpu(alpha):
    check_distribution(cuda.CudaProducts.of, planted(60, 80, 2), alpha)
    check_distribution(cuda.CudaProducts.of, planted(90, 20, 2, big=3), alpha)


@pytest.mark.usefixtures("device")
def test_single_precision_rounds_gamma_and_no_more():
    h = planted(40, 30, 2)
    rounded = h.with_gamma(h.gamma.data.astype(np.float32).astype(np.float64))
    check_products(one_memory(lambda _, alpha: cuda.CudaProducts.of(h, alpha, "float32")), rounded, 0.0)


@pytest.mark.parametrize("objective", ["ncut", "information"])
@pytest.mark.parametrize("name", NINE)
def test_the_nine_data_sets_give_the_same_results(monkeypatch, name, objective):
    on_standin(monkeypatch)
    h, _, classes = paper_hypergraph(name)
    check_answer(h, len(set(classes)), objective=objective)


@pytest.mark.parametrize("objective", ["ncut", "information"])
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_batch_search_gives_the_same_results(monkeypatch, k, alpha, objective):
    on_standin(monkeypatch, cuda_device.Layout(width=100, long=12, piece=5, table=1000))
    h = planted(300, 500, k, noise=0.1, seed=k)
    for effort in ("fast", "default"):
        in_batches = replace(EFFORTS[effort], batched_from=(0, 0))
        check_answer(h, k, alpha=alpha, exact=False, effort=in_batches, objective=objective)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_many_eigenvectors_are_computed_in_blocks(monkeypatch, alpha):
    on_standin(monkeypatch, cuda_device.Layout(width=100, long=12, piece=5, table=1000))
    h = planted(400, 600, 20)
    here, there = (
        hc.evaluate(h, np.arange(h.n_vertices) % 20, engine=engine, alpha=alpha, chance=False)
        for engine in ("cpu", "cuda")
    )
    np.testing.assert_allclose(there.eigenvalues, here.eigenvalues, atol=1e-9)
    assert there.eigenpairs.residuals.max() <= 1e-8
    assert there.ncut == pytest.approx(here.ncut, rel=1e-12)


@pytest.mark.parametrize("free", [10**12, 3 * 10**5, 1])
@pytest.mark.parametrize("directions", ["out", "both", "sum"])
def test_flows_where_memory_is_short(monkeypatch, free, directions):
    """The tables are in single precision, or have few columns at a time."""
    monkeypatch.setattr(cuda_flows, "ROWS", 7)
    h = planted(60, 40, 2, big=1)
    device = stand_in_device.StandIn(IN_PIECES, free)
    products = cuda.CudaProducts.on(device, h.gamma, 0.0, "float64")
    walk, labels = hc.RandomWalk(h, products=products), np.arange(h.n_vertices) % 11
    found = products.linked(labels, 11, walk.flow_factors, directions).blocks()
    there = [
        np.vstack([block.get() for block in parts]) for parts in zip(*(b for _, b in found), strict=True)
    ]
    here = hc.RandomWalk(h)
    (_, expected), *_ = here.factors.products.linked(labels, 11, here.flow_factors, directions).blocks()
    for one, other in zip(there, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7 * other.max() if free < 10**12 else 1e-15)


def test_too_little_memory_on_the_device_is_a_sentence(monkeypatch):
    """CuPy's errors, wherever they are raised."""
    on_standin(monkeypatch)
    monkeypatch.setitem(sys.modules, "cupy", object())
    for name, words in (
        ("OutOfMemoryError", "Out of memory allocating 9 bytes"),
        ("CUBLASError", "ALLOC_FAILED"),
    ):
        kind = type(name, (Exception,), {"__module__": "cupy.cuda.memory"})
        monkeypatch.setattr(cuda.CudaProducts, "to_vertices", raising(kind(words)))
        refused(lambda: hc.cluster(planted(40, 60, 2), engine="cuda"), "memory", "engine='cpu'", "float32")
    monkeypatch.setattr(cuda.CudaProducts, "to_vertices", raising(ZeroDivisionError("cupy")))
    with pytest.raises(ZeroDivisionError):
        hc.cluster(planted(40, 60, 2), engine="cuda")


def raising(error):
    def fail(*_):
        raise error

    return fail


def test_isolated_vertices_are_found_on_the_device(monkeypatch):
    on_standin(monkeypatch)
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["d", "e"], ["e", "c"]], vertex_ids=list("xabcdey"))
    here, there = (hc.cluster(h, engine=engine) for engine in ("cpu", "cuda"))
    assert there.labels.tolist() == here.labels.tolist()
    assert there.labels[0] == there.labels[-1] == -1


def test_single_precision_stays_single(monkeypatch):
    """A number of NumPy in double precision would make every vector double, slowly."""
    on_standin(monkeypatch)
    h = planted(60, 80, 2)
    walk = hc.RandomWalk(h, products=cuda.CudaProducts.of(h, 0.0, "float32"))
    distribution = replace(walk.distribution, vertices=walk.distribution.vertices.astype(np.float32))
    operator = hc.NormalizedLaplacian(
        hc.RandomWalk.with_distribution(walk.factors.astype(np.float32), distribution)
    )
    known = zero_vectors(operator.backend, distribution.vertices, distribution.components, 1)
    vector = operator.normal(np.random.default_rng(0))
    nothing = operator.backend.empty_columns(vector, 1)[:, :0]
    space = lanczos._Space(operator, np.random.default_rng(0), lanczos.Lanczos(), known, 1)
    found, _, _ = space._next(operator.apply(vector), nothing, 0, h.n_vertices - 1)
    for array in (known, vector, operator.apply(vector), found, operator.walk.factors.shares):
        assert array.dtype == np.float32


def test_single_precision_where_the_space_is_used_up(monkeypatch):
    """A star has three different eigenvalues, so that Lanczos has to restart again and again."""
    on_standin(monkeypatch)
    star = hc.Hypergraph.from_edges([["hub", leaf] for leaf in range(20)])
    labels = [leaf % 5 for leaf in range(21)]
    here, there = (
        hc.evaluate(star, labels, **how) for how in ({}, {"engine": "cuda", "precision": "float32"})
    )
    np.testing.assert_allclose(there.eigenvalues, here.eigenvalues, atol=1e-4)
    assert hc.cluster(star, 21, engine="cuda", precision="float32").k == 21


def test_a_walk_on_a_device_is_pickled_as_host_arrays(monkeypatch):
    on_standin(monkeypatch)
    h = planted(40, 60, 2)
    walk = hc.RandomWalk(h, products=cuda.CudaProducts.of(h, 0.0))
    other = copy.deepcopy(walk)
    np.testing.assert_allclose(other.forward(np.ones(h.n_vertices)), 1.0)
    refused(lambda: walk.forward(cuda.DEVICE().xp.asarray(np.ones(7))), "values are needed")


def test_batches_in_single_precision(monkeypatch):
    on_standin(monkeypatch)
    effort = replace(EFFORTS["default"], batched_from=(0, 0))
    h = planted(300, 500, 3)
    there, _ = check_answer(h, 3, precision="float32", tolerance=3e-5, exact=False, effort=effort)
    assert there.settings["precision"] == "float32"
    assert there.eigenpairs.residuals.max() < 5e-5
    assert there.lower_bound <= there.ncut


@pytest.mark.parametrize("effort", ["fast", "thorough"])
def test_other_methods_give_the_same_results(monkeypatch, effort):
    on_standin(monkeypatch)
    h = planted(80, 120, 3)
    check_answer(h, 3, effort=effort)
    for rounding in ("sign", "sweep"):
        check_answer(h, 3, call=hc.hyperclus_g, rounding=rounding)
    labels = np.random.default_rng(0).integers(0, 3, h.n_vertices)
    for way in (hc.refine, hc.evaluate):
        here, there = (way(h, labels, engine=engine) for engine in ("cpu", "cuda"))
        assert there.ncut == pytest.approx(here.ncut, abs=1e-9)


def test_hard_cases_are_solved_on_the_host(monkeypatch):
    """Components, and blocks joined so weakly that GMRES gets their masses wrong."""
    on_standin(monkeypatch)
    two = planted(40, 60, 2, noise=0.0)
    check_answer(two, 2)
    block = random_hypergraph(12, 10, 4, seed=3, gamma=1.0)
    check_answer(copies_around_a_hub(block, 3, 1e-9), 3, tolerance=1e-9)


def test_a_long_thin_hypergraph_gets_its_eigenvectors_from_the_host(monkeypatch):
    on_standin(monkeypatch)
    monkeypatch.setattr(sys.modules["hyperclus.spectral.eigen.choose"], "PATIENCE", 20)
    path = hc.Hypergraph.from_edges([{v: 1.0 + v % 3, v + 1: 2.0} for v in range(1500)])
    there, _ = check_answer(path, 2)
    assert there.eigenpairs.method == "shift-invert"


def test_the_same_seed_gives_the_same_answer(monkeypatch):
    on_standin(monkeypatch)
    h = planted(80, 120, 2)
    first, again = (hc.cluster(h, 2, engine="cuda", seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.eigenpairs.vectors, again.eigenpairs.vectors)


class TestChoice:
    def test_auto_takes_a_gpu_that_is_there_and_pays(self, monkeypatch):
        on_standin(monkeypatch)
        h = planted(40, 60, 2)
        monkeypatch.setattr(engines, "find_spec", lambda _: object())
        assert hc.cluster(h).settings["engine"] == "cpu"
        monkeypatch.setattr(engines, "GPU_FROM", 0)
        assert hc.cluster(h).settings["engine"] == "cuda"
        monkeypatch.setattr(cuda, "fits", lambda *_: False)
        assert hc.cluster(h).settings["engine"] == "cpu"
        monkeypatch.setattr(cuda, "missing", lambda: "none")
        assert hc.cluster(h).settings["engine"] == "cpu"

    def test_what_is_not_there_is_said(self, monkeypatch):
        h = planted(20, 20, 2)
        monkeypatch.setattr(cuda, "missing", lambda: "the driver reports no device")
        refused(lambda: hc.cluster(h, engine="cuda"), "NVIDIA GPU", "no device", "engine='cpu'")
        on_standin(monkeypatch)
        tiny = h.with_gamma(h.gamma.data * 1e-45)
        refused(lambda: hc.cluster(tiny, engine="cuda", precision="float32"), "range of float32", "float64")
        refused(lambda: hc.cluster(h, engine="cuda", alpha="1"), "alpha")
        on_standin(monkeypatch, free=1000)
        refused(lambda: hc.cluster(h, engine="cuda"), "GB free", "precision='float32'")
        refused(lambda: hc.cluster(h, engine="tpu"), "engine", "'cuda'")
        refused(lambda: hc.cluster(h, precision="float32"), "engine='cuda'")
        refused(lambda: hc.cluster(h, precision="float16", engine="cuda"), "precision")

    def test_without_cupy_the_message_says_how_to_get_it(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "cupy", None)
        with pytest.raises(hc.errors.MissingLibraryError, match=r"hyperclus\[cuda\]"):
            hc.cluster(planted(20, 20, 2), engine="cuda")


def test_on_a_gpu():
    """The script that needs nothing but NumPy, SciPy and CuPy; skipped where there is no GPU."""
    pytest.importorskip("cupy", reason="needs CuPy and an NVIDIA GPU")
    if cuda.missing() is not None:
        pytest.skip(f"needs an NVIDIA GPU: {cuda.missing()}")
    script = Path(__file__).parents[1] / "on_gpu.py"
    subprocess.run([sys.executable, str(script)], check=True)
