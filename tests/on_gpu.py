"""The CUDA engine on a GPU: `python tests/on_gpu.py`. Needs NumPy, SciPy and CuPy, and nothing else.

Where Numba or threadpoolctl are missing, the CPU engine that it is compared with does without: its loops run
interpreted, its products by SciPy.
"""

import importlib.util
import math
import sys
import time
import types
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "src"), str(Path(__file__).parent)]
if importlib.util.find_spec("threadpoolctl") is None:
    controller = types.SimpleNamespace(
        select=lambda **_: types.SimpleNamespace(limit=lambda **_: nullcontext())
    )
    sys.modules["threadpoolctl"] = types.SimpleNamespace(ThreadpoolController=lambda: controller)  # type: ignore

import numpy as np  # noqa: E402

import hyperclus as hc  # noqa: E402
from hyperclus._runtime import jit  # noqa: E402
from hyperclus.clustering.objectives import OBJECTIVES  # noqa: E402
from hyperclus.clustering.search_problem import EFFORTS  # noqa: E402
from hyperclus.engines import cpu, cuda  # noqa: E402
from support.engine_contracts import (  # noqa: E402
    ALPHAS,
    check_answer,
    check_backend,
    check_distribution,
    check_factors,
    check_products,
    one_memory,
    planted,
)

if importlib.util.find_spec("numba") is None:
    jit.COMPILE_FROM = math.inf
    cpu.Tuning.uses_blocks = lambda *_: False


def products():
    """Small matrices in one block, in several, and with long rows in pieces."""
    for width, long, piece in ((10**9, 512, 4096), (7, 4, 3), (50, 20, 6)):
        cuda.WIDTH, cuda.LONG, cuda.PIECE = width, long, piece
        for alpha in ALPHAS:
            for n, n_edges, blocks, big in ((60, 40, 2, 0), (30, 90, 3, 2), (25, 3, 1, 3), (3000, 40, 2, 4)):
                h = planted(n, n_edges, blocks, big=big)
                check_products(one_memory(cuda.CudaProducts.of), h, alpha)
                check_factors(cuda.CudaProducts.of, h, alpha)
    cuda.WIDTH, cuda.LONG, cuda.PIECE = 1_250_000, 512, 4096


def backend():
    """Connected and in two components."""
    for noise in (0.2, 0.0):
        check_backend(one_memory(cuda.CudaProducts.of), planted(80, 120, 2, noise=noise))


def single_precision():
    """gamma is rounded and no more is lost where the vectors are double."""
    h = planted(400, 300, 2)
    rounded = h.with_gamma(h.gamma.data.astype(np.float32).astype(np.float64))
    check_products(one_memory(lambda _, alpha: cuda.CudaProducts.of(h, alpha, "float32")), rounded, 0.0)


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


def main() -> None:
    """All checks, one after the other."""
    why = cuda.missing()
    if why is not None:
        sys.exit(f"no GPU: {why}")
    checks = (products, backend, single_precision, distributions, answers, batches_of_moves, labels_to_act_on)
    for check in checks:
        start = time.perf_counter()
        check()
        print(f"{check.__name__}: passed in {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
