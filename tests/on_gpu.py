"""The CUDA engine on a GPU: `python tests/on_gpu.py`. Needs NumPy, SciPy and CuPy, and nothing else.

`python tests/on_gpu.py tight_bounds` runs one of the checks.
The compiled library of the CPU engine must be there: `python hatch_build.py`. Where threadpoolctl is missing,
the threads of BLAS are not limited.
"""

import importlib.util
import sys
import tempfile
import time
import types
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from unittest.mock import MagicMock

sys.path[:0] = [str(Path(__file__).parents[1] / "src"), str(Path(__file__).parent)]
if importlib.util.find_spec("threadpoolctl") is None:
    limit = types.SimpleNamespace(restore_original_limits=lambda: None)
    controller = types.SimpleNamespace(select=lambda **_: types.SimpleNamespace(limit=lambda **_: limit))
    sys.modules["threadpoolctl"] = types.SimpleNamespace(ThreadpoolController=lambda: controller)  # type: ignore
for name in ("msgspec", "narwhals"):  # for reading files, which nothing here does
    if importlib.util.find_spec(name) is None:
        sys.modules[name] = MagicMock()

import numpy as np  # noqa: E402

import hyperclus as hc  # noqa: E402
from hyperclus.clustering.objectives import OBJECTIVES  # noqa: E402
from hyperclus.clustering.search_problem import EFFORTS  # noqa: E402
from hyperclus.engines import cuda, cuda_flows  # noqa: E402
from hyperclus.engines.cuda_device import Device, Layout  # noqa: E402
from hyperclus.engines.cuda_sources import CudaSourceProducts  # noqa: E402
from support.engine_contracts import (  # noqa: E402
    ALPHAS,
    check_answer,
    check_backend,
    check_distribution,
    check_factors,
    check_products,
    check_tight_bound,
    check_violated_triangles,
    one_memory,
    planted,
    with_neighborhoods,
)
from support.proofs import proven_value  # noqa: E402


def products():
    """Small matrices in one block, in several, and with long rows in pieces."""
    usual = cuda.DEVICE
    for width, long, piece, table in ((10**9, 512, 4096, 10**9), (7, 4, 3, 200), (50, 20, 6, 10**4)):
        cuda.DEVICE = cache(partial(Device, Layout(width, long=long, piece=piece, table=table)))
        for alpha in ALPHAS:
            for n, n_edges, blocks, big in ((60, 40, 2, 0), (30, 90, 3, 2), (25, 3, 1, 3), (3000, 40, 2, 4)):
                h = planted(n, n_edges, blocks, big=big)
                check_products(one_memory(cuda.CudaProducts.of), h, alpha)
                check_factors(cuda.CudaProducts.of, h, alpha)
    cuda.DEVICE = usual


def backend():
    """Connected and in two components."""
    for noise in (0.2, 0.0):
        check_backend(one_memory(cuda.CudaProducts.of), planted(80, 120, 2, noise=noise))


def single_precision():
    """gamma is rounded and no more is lost where the vectors are double."""
    h = planted(400, 300, 2)
    rounded = h.with_gamma(h.gamma.data.astype(np.float32).astype(np.float64))
    check_products(one_memory(lambda _, alpha: cuda.CudaProducts.of(h, alpha, "float32")), rounded, 0.0)


def little_memory():
    """Tables in single precision, then in parts, where memory is short; a sentence where it is not enough."""
    h = planted(3000, 5000, 5, seed=1)
    labels = np.random.default_rng(0).integers(0, 40, h.n_vertices)
    walk = hc.RandomWalk(h, products=cuda.CudaProducts.of(h, 0.0))
    xp, cuda_flows.ROWS = cuda.DEVICE().xp, 1000
    free = cuda.DEVICE().bytes_free
    expected = None
    for bytes_free in (10**10, 5 * 10**6, 4 * 10**6):
        cuda.DEVICE().bytes_free = lambda: bytes_free  # noqa: B023
        linked = walk.factors.products.linked(xp.asarray(labels), 40, walk.flow_factors, "both")
        plan = linked._plan()
        found = [
            xp.vstack(parts).get() for parts in zip(*(blocks for _, blocks in linked.blocks()), strict=True)
        ]
        expected = expected or found
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6 * one.max(), err_msg=str(plan))
        print("   ", bytes_free, plan)
    cuda.DEVICE().bytes_free, cuda_flows.ROWS = free, 1 << 20
    pool = xp.get_default_memory_pool()
    before = pool.get_limit()
    del walk, linked
    pool.free_all_blocks()
    pool.set_limit(pool.used_bytes() + 3 * 10**6)
    said = ""
    try:
        hc.cluster(h, 5, engine="cuda")
    except hc.errors.InputError as error:
        said = str(error)
    pool.set_limit(before)
    assert "memory" in said, said


def mixtures():
    """Hypergraphs with neighbourhoods: products, walks, and clusters of vertices with attributes."""
    for beta in (0.1, 0.4, 0.9):
        for alpha in ALPHAS:
            h = with_neighborhoods(planted(300, 200, 2), beta)
            check_products(one_memory(CudaSourceProducts.of), h, alpha)
            check_distribution(CudaSourceProducts.of, h, alpha)
    rng = np.random.default_rng(0)
    for k in (2, 5):
        h = planted(600, 900, k, noise=0.1, seed=k)
        home = h.vertex_ids % k
        attributes = 2 * rng.standard_normal((k, 8))[home] + rng.standard_normal((h.n_vertices, 8))
        for objective in OBJECTIVES:
            there, here = (
                hc.cluster(h, k, attributes=attributes, objective=objective, engine=engine)
                for engine in ("cuda", "cpu")
            )
            assert there.walk.hypergraph.mixture == here.walk.hypergraph.mixture
            assert abs(there.ncut - here.ncut) <= 5e-3 * here.ncut
            assert hc.agreement(here.labels, there.labels).nmi > 0.9


def distributions():
    """The stationary distribution, by hyperedges and by vertices."""
    for alpha in ALPHAS:
        check_distribution(cuda.CudaProducts.of, planted(600, 800, 2), alpha)
        check_distribution(cuda.CudaProducts.of, planted(900, 20, 2, big=3), alpha)


def answers():
    """Small hypergraphs: the same labels as on the CPU."""
    for k in (2, 3, 5):
        h = planted(300, 450, k, noise=0.1, seed=k)
        for objective in OBJECTIVES:
            check_answer(h, k, objective=objective)
            check_answer(h, k, alpha=1.0, objective=objective)
        check_answer(h, k, call=hc.hyperclus_g)
    check_answer(planted(80, 120, 2, noise=0.0), 2)


def many_eigenvectors():
    """Blocks of products."""
    h = planted(4000, 6000, 20, noise=0.1)
    for alpha in (0.0, 1.0):
        labels = np.arange(h.n_vertices) % 20
        here, there = (hc.evaluate(h, labels, alpha=alpha, engine=engine) for engine in ("cpu", "cuda"))
        assert np.abs(here.eigenvalues - there.eigenvalues).max() < 1e-9
        assert there.eigenpairs.residuals.max() <= 1e-8
        assert abs(here.ncut - there.ncut) < 1e-9


def batches_of_moves():
    """The search for large hypergraphs, on small ones and on one of its own size."""
    fast, default = (replace(EFFORTS[name], batched_from=(0, 0)) for name in ("fast", "default"))
    for k in (2, 3, 5):
        h = planted(3000, 5000, k, seed=k)
        for objective in OBJECTIVES:
            check_answer(h, k, exact=False, effort=default, objective=objective)
            check_answer(h, k, exact=False, alpha=0.7, effort=fast, objective=objective)
            single = {"precision": "float32", "tolerance": 1e-4}
            check_answer(h, k, exact=False, effort=default, objective=objective, **single)
    labels = np.random.default_rng(0).integers(0, 5, h.n_vertices)
    here, there = (
        hc.refine(h, labels, engine=engine, effort=fast, objective="ncut") for engine in ("cpu", "cuda")
    )
    assert abs(here.ncut - there.ncut) < 1e-6, (here.ncut, there.ncut)


def labels_to_act_on():
    """What follows from labels is the same for those of the GPU and for the same labels on the CPU."""
    for objective in OBJECTIVES:
        h = planted(3000, 5000, 5, seed=7)
        found = hc.cluster(h, 5, engine="cuda", seed=0, objective=objective)
        same = replace(hc.evaluate(h, found.labels), settings=found.settings)
        assert (same.labels == found.labels).all()
        np.testing.assert_allclose(found.membership().toarray(), same.membership().toarray(), atol=1e-6)
        there, here = found.confidence(), same.confidence()
        np.testing.assert_allclose(there.values, here.values, atol=1e-5)
        np.testing.assert_allclose(there.margins, here.margins, atol=1e-7)
        assert found.describe(3).edges[0].ids.tolist() == same.describe(3).edges[0].ids.tolist()
        np.testing.assert_allclose(found.tree().heights, same.tree().heights, atol=1e-7)
        new = {"old": h.vertex_ids[:5].tolist()} | {
            edge: ["new"] for edge in h.edge_ids[h.gamma[:, [0]].tocsc().indices].tolist()
        }
        predicted = [part.predict(hc.Hypergraph.from_edges(new)).labels.tolist() for part in (found, same)]
        assert predicted[0] == predicted[1]
        known = hc.Constraints(fixed=dict(zip(h.vertex_ids[:6].tolist(), [0, 1, 2, 3, 4, 0], strict=True)))
        for engine in ("cpu", "cuda"):
            kept = hc.cluster(h, 5, engine=engine, seed=0, objective=objective, constraints=known)
            assert kept.labels[0] == kept.labels[5]
            assert len(set(kept.labels[:5].tolist())) == 5
        assert hc.compare(found, same).unchanged == 1.0
        assert hc.consensus(h, [found, same]).k == 5


def tight_bounds():
    """The search for multipliers, and the bound of `cluster`, which holds whenever it ends."""
    check_violated_triangles(cuda.CudaBackend(cuda.DEVICE()))
    check_tight_bound(cuda.CudaProducts.of)
    h = planted(450, 900, 3, seed=1)
    found = hc.cluster(h, 3, engine="cuda", bound="tight", seed=0, bound_seconds=5, chance=False)
    print("   ", found.tight)
    here = hc.cluster(h, 3, engine="cpu", objective="ncut", seed=0, chance=False)
    assert here.lower_bound - 1e-12 <= found.lower_bound <= min(found.ncut, here.ncut)
    if found.tight.proof is not None:
        proven = proven_value(found.tight.proof, here.walk)
        assert found.lower_bound <= proven + 1e-12 <= found.lower_bound + 1e-5
    if importlib.util.find_spec("flint") is not None:
        with tempfile.TemporaryDirectory() as folder:
            found.certificate(Path(folder, "one.cert"))
            assert hc.verify(Path(folder, "one.cert"), h).verified


def main() -> None:
    """All checks, one after the other."""
    why = cuda.missing()
    if why is not None:
        sys.exit(f"no GPU: {why}")
    checks = (
        products,
        backend,
        single_precision,
        little_memory,
        mixtures,
        distributions,
        answers,
        many_eigenvectors,
        batches_of_moves,
        labels_to_act_on,
        tight_bounds,
    )
    chosen = sys.argv[1:] or [check.__name__ for check in checks]
    for check in checks:
        if check.__name__ not in chosen:
            continue
        start = time.perf_counter()
        check()
        print(f"{check.__name__}: passed in {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
