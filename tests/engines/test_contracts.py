"""The contract of engines: NumPy, a stand-in for a GPU, and Dask without a cluster; on_gpu.py has CuPy."""

from contextlib import contextmanager

import pytest

from hyperclus.engines import cpu, cpu_blocks, cuda, cuda_sources
from support.engine_contracts import (
    ALPHAS,
    Engine,
    check_backend,
    check_products,
    check_tight_bound,
    check_violated_triangles,
    one_memory,
    planted,
    with_neighborhoods,
)
from support.in_process_workers import scattered
from support.stand_in_device import StandIn


def sparse(h, alpha):
    return cpu.SparseProducts(cpu.Lists(h.gamma, alpha))


def blocked(h, alpha):
    return cpu_blocks.BlockProducts.of(cpu.Lists(h.gamma, alpha))


def stand_in(h, alpha):
    return cuda.CudaProducts.on(StandIn(), h.gamma, alpha, "float64")


@contextmanager
def dask(h, alpha):
    with scattered(h, alpha=alpha) as there:
        yield Engine(there.products, there.stored, there.put, there.put_edges, there.get)


ENGINES = {
    "numpy": one_memory(sparse),
    "numpy in blocks": one_memory(blocked),
    "stand-in": one_memory(stand_in),
    "dask": dask,
}
every_engine = pytest.mark.parametrize("engine", ENGINES)
SHAPES = [(60, 40, 2, 0), (30, 90, 3, 2), (25, 3, 1, 3)]


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("shape", SHAPES)
@every_engine
def test_products(engine, shape, alpha):
    if engine == "numpy in blocks" and alpha not in (0, 1):
        pytest.skip("blocks are for alpha 0 and 1")
    n, n_edges, blocks, big = shape
    check_products(ENGINES[engine], planted(n, n_edges, blocks, big=big), alpha)


@pytest.mark.parametrize("noise", [0.2, 0.0])
@every_engine
def test_backend(engine, noise):
    """Without noise the blocks are components."""
    check_backend(ENGINES[engine], planted(80, 120, 2, noise=noise))


def test_tight_bound():
    check_violated_triangles(cuda.CudaBackend(StandIn()))
    copied = []

    def products_of(h, alpha):
        products = stand_in(h, alpha)
        backend = products.backend
        put = backend.put
        backend.put = lambda *given: copied.append(given[0]) or put(*given)
        return products

    check_tight_bound(products_of)
    assert len(copied) > 120


MIXED = {
    "numpy": one_memory(lambda h, alpha: cpu.SparseProducts(cpu.Lists.of(h, alpha))),
    "stand-in": one_memory(
        lambda h, alpha: cuda_sources.CudaSourceProducts.on(StandIn(), cpu.Lists.of(h, alpha), "float64")
    ),
}


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("engine", MIXED)
def test_products_of_mixtures(engine, alpha):
    check_products(MIXED[engine], with_neighborhoods(planted(40, 50, 2)), alpha)


@pytest.mark.parametrize("engine", MIXED)
def test_backend_with_mixtures(engine):
    check_backend(MIXED[engine], with_neighborhoods(planted(60, 80, 2)))
