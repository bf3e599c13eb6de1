"""Weights that single precision holds exactly are read in it, to the same bits."""

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.engines import cpu
from support.engine_contracts import planted


def weighted(weights):
    """A planted hypergraph with weights drawn from these."""
    gamma = planted(300, 200, 3).gamma.copy()
    gamma.data = np.random.default_rng(0).choice(weights, gamma.nnz)
    return hc.Hypergraph.from_incidence(gamma.T)


def results(products, h):
    """All products, of vectors and of blocks."""
    rng = np.random.default_rng(1)
    for width in ((), (3,)):
        x, y = rng.normal(size=(h.n_vertices, *width)), rng.normal(size=(h.n_edges, *width))
        for weights in ("gamma", "source_weights"):
            yield products.to_edges(x, weights)
            yield products.to_vertices(y, weights)
        yield products.symmetrized(x, *rng.random((2, h.n_vertices)), rng.random(h.n_edges))


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
@pytest.mark.parametrize(
    ("weights", "exact"),
    [([1.0, 2.0, 7.0], True), ([0.5, 3.25], True), ([1.0, 0.1], False), ([1.0, 1e40], False)],
)
def test_the_same_bits(monkeypatch, alpha, weights, exact):
    h = weighted(weights)
    wide = cpu.SparseProducts(cpu.Lists(h.gamma, alpha))
    assert wide._short is None
    monkeypatch.setattr(cpu, "SHORT_FROM", 0)
    short = cpu.SparseProducts(cpu.Lists(h.gamma, alpha))
    assert (short._short is not None) == (exact and alpha in (0, 1))
    for one, other in zip(results(wide, h), results(short, h), strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_weight_beyond_the_sample_decides(monkeypatch):
    monkeypatch.setattr(cpu, "SHORT_FROM", 0)
    h = weighted([1.0, 2.0])
    gamma = h.gamma.copy()
    gamma.data = gamma.data.copy()
    gamma.data[-1] = 0.1
    assert gamma.nnz > cpu.SAMPLE
    assert cpu.SparseProducts(cpu.Lists(gamma, 0))._short is None
