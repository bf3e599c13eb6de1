"""The CUDA engine at its limits: `python benchmarks/gpu.py 5e8`; needs an NVIDIA GPU, NumPy, SciPy and CuPy.

A random hypergraph (n = |E| = m / 25, each member drawn from all vertices, lognormal gamma, omega in
[0.5, 2]) is drawn on the device and copied to the host. Then it is treated like any hypergraph: it is copied
to the device in chunks, and its stationary distribution and second eigenvector are computed. The table has
the time of each kernel, the bytes that it must move, and its bandwidth relative to that of a copy on the
device. `--cluster K` plants K blocks and runs `cluster` instead.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "src"), str(Path(__file__).parents[1] / "tests")]
import cupy as cp  # noqa: E402
import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

import hyperclus as hc  # noqa: E402
import on_gpu  # noqa: E402, F401  replaces libraries that a bare machine does not have
from hyperclus.engines import cuda  # noqa: E402
from hyperclus.spectral.factors import TransitionFactors  # noqa: E402
from hyperclus.spectral.laplacian import NormalizedLaplacian  # noqa: E402
from hyperclus.spectral.stationary import stationary_distribution  # noqa: E402
from hyperclus.spectral.walk import RandomWalk  # noqa: E402

MEMBERS = 25
PIECE = 100_000_000  # incidences to draw at once
NOISE = 0.2
STAGES = ("copy", "stationary distribution", "eigenvectors", "search", "scoring", "chance")
TARGETS = {(500_000_000, 2): 3.0, (500_000_000, 10): 5.0, (1_000_000_000, 100): 60.0}  # seconds


def draw(m: int, blocks: int = 1) -> hc.Hypergraph:
    """Draw hyperedges of MEMBERS members in ascending order; some members are repeated."""
    rng, n = cp.random.default_rng(0), m // MEMBERS
    idx, gamma = np.empty(m, dtype=np.int32), np.empty(m)
    for start in range(0, m, PIECE):
        size = min(PIECE, m - start)
        members = rng.integers(0, n, size, dtype=cp.int32).reshape(-1, MEMBERS)
        if blocks > 1:
            home = (cp.arange(len(members), dtype=cp.int32) + start // MEMBERS) % blocks
            members = cp.where(
                rng.random(members.shape, dtype=cp.float32) < NOISE,
                members,
                members // blocks * blocks + home[:, None],
            )
            members = cp.minimum(members, n - 1)
        idx[start : start + size] = cp.sort(members, axis=1).ravel().get()
        gamma[start : start + size] = cp.exp(rng.standard_normal(size, dtype=cp.float32)).get()
        del members
    cp.get_default_memory_pool().free_all_blocks()
    ptr = np.arange(0, m + 1, MEMBERS, dtype=np.int32 if m < 2**31 else np.int64)
    matrix = sp.csr_array((n, n))
    matrix.data, matrix.indices, matrix.indptr = gamma, idx, ptr
    omega = np.random.default_rng(0).uniform(0.5, 2.0, n)
    ids = np.arange(n)
    return hc.Hypergraph.from_checked_parts(matrix, omega, ids, ids)


def seconds(task: Callable[[], object]) -> tuple[float, object]:
    """Return the wall time until the device has finished, and the result."""
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    result = task()
    cp.cuda.Device().synchronize()
    return time.perf_counter() - start, result


def milliseconds(task: Callable[[], object], repeats: int = 5) -> float:
    """Return the mean time by the clock of the device, after a warm-up run."""
    task()
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for _ in range(repeats):
        task()
    end.record()
    end.synchronize()
    return cp.cuda.get_elapsed_time(start, end) / repeats


def copy_rate() -> float:
    """Return the bytes read and written per nanosecond by a copy on the device."""
    source, target = cp.empty(1 << 28, dtype=cp.float32), cp.empty(1 << 28, dtype=cp.float32)
    return 8 * len(source) / milliseconds(lambda: cp.copyto(target, source)) / 1e6


def kernels(products: cuda.CudaProducts, n: int, m: int, dtype: type, copied: float) -> None:
    """Print the time and the bandwidth of each kernel."""
    vector, distribution = cp.ones(n, dtype=dtype), cp.full(n, 1 / n, dtype=dtype)
    weight, value = products.by_edge.blocks[0][2].itemsize, vector.itemsize
    blocks = len(products.by_edge.blocks)
    rows = n * (4 * blocks + value * (2 * blocks - 1))
    kinds = {
        "sums by hyperedge, gamma": (
            lambda: products.to_edges(vector, "gamma"),
            m * (4 + weight) + rows + n * value,
        ),
        "sums by hyperedge, ones": (
            lambda: products.to_edges(vector, "source_weights"),
            m * 4 + rows + n * value,
        ),
        "sums by vertex, gamma": (
            lambda: products.to_vertices(vector, "gamma"),
            m * (4 + weight) + rows + n * value,
        ),
        "pairs by hyperedge": (
            lambda: products.edge_pairs(vector, distribution),
            m * (4 + weight) + 2 * rows - 4 * n * blocks + 6 * n * value,
        ),
        "both ways (L_sym)": (
            lambda: products.symmetrized(vector, distribution, distribution, distribution),
            2 * (m * (4 + weight) + 2 * rows - 4 * n * blocks) + 20 * n * value,
        ),
    }
    print(f"\n| kernel, {dtype.__name__} vectors | ms | GB | of a copy |\n| --- | ---: | ---: | ---: |")
    for name, (task, moved) in kinds.items():
        took = milliseconds(task)
        print(f"| {name} | {took:.2f} | {moved / 1e9:.1f} | {moved / took / 1e6 / copied:.0%} |", flush=True)


def solve(m: int, precision: str, copied: float) -> None:
    """Copy, solve the distribution to 1e-6 and the second eigenvector to a relative residual of 1e-4."""
    from hyperclus.spectral import eigen

    h = draw(m)
    copying, products = seconds(lambda: cuda.CudaProducts.of(h, 0.0, precision))
    held = cp.get_default_memory_pool().used_bytes() / 1e9
    factors = TransitionFactors(h, products=products)
    stationary_distribution(factors, 0.1)
    solving, distribution = seconds(lambda: stationary_distribution(factors, 1e-6))
    walk = RandomWalk.with_distribution(factors, distribution)
    kind = np.dtype(precision).type
    there = on_precision(walk, kind)
    eigen.smallest_eigenpairs(NormalizedLaplacian(there), 2, tolerance=0.3)
    value = 0.6  # of the second eigenvalue, about: the tolerance is relative to it
    vector_time, pairs = seconds(
        lambda: eigen.smallest_eigenpairs(NormalizedLaplacian(there), 2, tolerance=1e-4 * value)
    )
    print(
        f"\n{precision}, m = {m:,}: copied and sorted in {copying:.2f} s, {held:.1f} GB; "
        f"stationary distribution in {solving:.3f} s ({distribution.steps} products, "
        f"residual {distribution.residual:.0e}); "
        f"second eigenvector in {vector_time:.3f} s ({pairs.steps} products, "
        f"lambda {pairs.values[1]:.4f}, relative residual {pairs.residuals[1] / pairs.values[1]:.0e}); "
        f"together **{solving + vector_time:.3f} s**; "
        f"peak {cp.get_default_memory_pool().total_bytes() / 1e9:.1f} GB",
        flush=True,
    )
    kernels(products, h.n_vertices, m, kind, copied)


def on_precision(walk: RandomWalk, kind: type) -> RandomWalk:
    """The walk with vectors of this precision."""
    from dataclasses import replace

    distribution = replace(
        walk.distribution,
        vertices=walk.distribution.vertices.astype(kind),
        edges=walk.distribution.edges.astype(kind),
    )
    return RandomWalk.with_distribution(walk.factors.astype(kind), distribution)


def whole(m: int, k: int, precision: str) -> None:
    """`cluster` from a hypergraph on the host to the answer, by stages."""
    warm_up(precision, k)
    h = draw(m, k)
    took, part = seconds(lambda: hc.cluster(h, k, engine="cuda", precision=precision))
    pure = np.mean(
        [np.bincount(part.labels[b::k], minlength=k).max() / len(part.labels[b::k]) for b in range(k)]
    )
    pool = cp.get_default_memory_pool()
    figures = [part.timings.get(name, 0.0) for name in STAGES]
    row = [f"{m:.0e}", str(k), precision, *(f"{figure:.2f}" for figure in (*figures, took - sum(figures)))]
    target = TARGETS.get((m, k))
    row += [f"**{took:.2f}**", "" if target is None else f"{target:g}", f"{pool.total_bytes() / 1e9:.0f}"]
    print(f"| {' | '.join(row)} | {part.eigenpairs.steps} | {part.ncut:.4f} | {pure:.4f} |", flush=True)
    print(f"chance: {part.chance}", file=sys.stderr, flush=True)


def warm_up(precision: str, k: int) -> None:
    """Compile the kernels, which CuPy keeps on disk, in a small run that uses all of them."""
    hc.cluster(draw(MEMBERS * 200_000, k), k, engine="cuda", precision=precision, chance=False)
    cp.get_default_memory_pool().free_all_blocks()


def compare(m: int, k: int) -> None:
    """Print the differences between `cluster` on the CPU and on the GPU."""
    h = draw(m, k)
    host_time, here = seconds(lambda: hc.cluster(h, k, engine="cpu"))
    took, there = seconds(lambda: hc.cluster(h, k, engine="cuda"))
    again, _ = seconds(lambda: hc.cluster(h, k, engine="cuda"))
    differing = int((here.labels != there.labels).sum())
    apart = np.abs(here.eigenvalues - there.eigenvalues).max()
    print(
        f"\nm = {m:,}, k = {k}: {differing} of {h.n_vertices:,} labels differ, NCut by "
        f"{abs(here.ncut - there.ncut):.0e}, eigenvalues by {apart:.0e}; CPU {host_time:.1f} s, "
        f"GPU {took:.2f} s, again {again:.2f} s",
        flush=True,
    )


def main() -> None:
    """Print the name of the device and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="+", help="numbers of incidences, such as 5e8")
    parser.add_argument("--precision", default="float64,float32")
    parser.add_argument("--compare", type=int, metavar="K", help="cluster K planted blocks on CPU and GPU")
    parser.add_argument("--cluster", type=int, metavar="K", help="run cluster on K planted blocks instead")
    chosen = parser.parse_args()
    name, copied = cp.cuda.runtime.getDeviceProperties(0)["name"].decode(), copy_rate()
    print(f"{name}, CuPy {cp.__version__}; a copy moves {copied:,.0f} GB/s (read and written)")
    if chosen.cluster:
        others = "the rest | all | target | peak GB | products | NCut | a block in one cluster"
        print(f"| m | k | precision | {' | '.join(STAGES)} | {others} |", flush=True)
        print("| ---: | ---: | --- |" + " ---: |" * (len(STAGES) + 7), flush=True)
    for size in chosen.sizes if chosen.compare else ():
        compare(int(float(size)) // MEMBERS * MEMBERS, chosen.compare)
    for size in () if chosen.compare else chosen.sizes:
        for precision in chosen.precision.split(","):
            cp.get_default_memory_pool().free_all_blocks()
            m = int(float(size)) // MEMBERS * MEMBERS
            whole(m, chosen.cluster, precision) if chosen.cluster else solve(m, precision, copied)


if __name__ == "__main__":
    main()
