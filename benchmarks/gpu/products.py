"""What the walk costs on a GPU: the stationary law and the second eigenvector, by blocked and fused products.

`python benchmarks/gpu/products.py 5e8` needs an NVIDIA GPU with CuPy, and nothing of hyperclus. The
hypergraph is random (n = |E| = m / 25, each member drawn from all vertices, lognormal gamma, omega in
[0.5, 2]) and made on the device. What was learned is in benchmarks/RESULTS.md, section "On a GPU".
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import cupy as cp
import numpy as np

MEMBERS = 25
THREADS = 256
PIECE = 100_000_000  # incidences drawn at a time

names = ["count_blocks", "fill_blocks<float>", "fill_blocks<double>"]
for value in ("float", "double"):
    flags = ("true", "false")
    names += [f"sums<{value}, {value}, {w}, {first}>" for w in flags for first in flags]
    names += [f"pairs<{value}, {value}, {a}, {b}, {first}>" for a in flags for b in flags for first in flags]
code = (Path(__file__).parent / "kernels.cu").read_text()
kernels = cp.RawModule(code=code, options=("-std=c++17",), name_expressions=names)


def launch(name: str, rows: int, *arguments: object) -> None:
    """Run a kernel with a thread for each row."""
    kernels.get_function(name)((-(-rows // THREADS),), (THREADS,), (np.int64(rows), *arguments))


def kind(array: cp.ndarray) -> str:
    """The type of an array in CUDA."""
    return {"f4": "float", "f8": "double"}[array.dtype.str[1:]]


@dataclass
class Matrix:
    """Rows of a sparse matrix in blocks of columns: (ptr, idx, weights) of each block."""

    rows: int
    pieces: list[tuple[cp.ndarray, cp.ndarray, cp.ndarray]]

    @classmethod
    def of(cls, ptr: cp.ndarray, idx: cp.ndarray, weights: cp.ndarray, columns: int, blocks: int) -> "Matrix":
        """From a CSR with ascending indices."""
        rows, width = len(ptr) - 1, np.int32(-(-columns // blocks))
        counts = cp.empty((blocks, rows), dtype=cp.int32)
        launch("count_blocks", rows, ptr, idx, width, np.int32(blocks), counts)
        pointers = cp.zeros((blocks, rows + 1), dtype=cp.int32)
        for block in range(blocks):
            cp.cumsum(counts[block], out=pointers[block, 1:])
        starts = np.concatenate([[0], np.cumsum(pointers[:, -1].get().astype(np.int64))])
        to_idx, to_weights = cp.empty_like(idx), cp.empty_like(weights)
        fill = f"fill_blocks<{kind(weights)}>"
        launch(fill, rows, ptr, idx, weights, width, pointers, cp.asarray(starts[:-1]), to_idx, to_weights)
        cuts = [slice(a, b) for a, b in pairwise(starts)]
        return cls(rows, [(pointers[b], to_idx[cut], to_weights[cut]) for b, cut in enumerate(cuts)])

    def run(self, name: str, x: cp.ndarray, out: cp.ndarray, *flags: bool) -> cp.ndarray:
        """One pass over all entries."""
        said = [str(flag).lower() for flag in flags]
        for number, (ptr, idx, weights) in enumerate(self.pieces):
            types = [kind(x), kind(weights), *said, str(number == 0).lower()]
            launch(f"{name}<{', '.join(types)}>", self.rows, ptr, idx, weights, x, out)
        return out


def drawn(m: int, dtype: type) -> tuple[cp.ndarray, cp.ndarray, cp.ndarray]:
    """The members of the hyperedges, MEMBERS each, ascending; gamma; omega."""
    rng, n = cp.random.default_rng(0), m // MEMBERS
    idx, gamma = cp.empty(m, dtype=cp.int32), cp.empty(m, dtype=dtype)
    for start in range(0, m, PIECE):
        some = slice(start, min(start + PIECE, m))
        size = some.stop - some.start
        members = rng.integers(0, n, size, dtype=cp.int32).reshape(-1, MEMBERS)
        idx[some] = cp.sort(members, axis=1).ravel()
        gamma[some] = cp.exp(rng.standard_normal(size, dtype=cp.float32))
    return idx, gamma, rng.random(n, dtype=dtype) * 1.5 + 0.5


class Walk:
    """The walk on the device: P^T p in two passes, L_sym x in two passes of pairs."""

    def __init__(self, m: int, dtype: type, blocks: int) -> None:
        self.n, self.dtype = m // MEMBERS, dtype
        idx, gamma, self.omega = drawn(m, dtype)
        ptr = cp.arange(0, m + 1, MEMBERS, dtype=cp.int64)
        self.by_edge = Matrix.of(ptr, idx, gamma, self.n, blocks)
        order = cp.argsort(idx)
        counts = cp.bincount(idx, minlength=self.n)
        vertex_ptr = cp.zeros(self.n + 1, dtype=cp.int64)
        cp.cumsum(counts, out=vertex_ptr[1:])
        del idx
        gamma, edges = gamma[order], cp.empty(m, dtype=cp.int32)
        for start in range(0, m, PIECE):
            edges[start : start + PIECE] = order[start : start + PIECE] // MEMBERS
        del order
        self.by_vertex = Matrix.of(vertex_ptr, edges, gamma, self.n, blocks)
        del edges, gamma
        cp.get_default_memory_pool().free_all_blocks()
        ones = cp.ones(self.n, dtype=dtype)
        delta = self.by_edge.run("sums", ones, cp.empty_like(ones), True)
        self.degrees = cp.maximum(self.by_vertex.run("sums", self.omega, cp.empty_like(ones), False), 1e-12)
        self.share, self.middle = self.omega / delta, cp.empty_like(ones)
        strength = self.by_vertex.run("sums", ones, cp.empty_like(ones), True)
        start = cp.maximum(self.degrees * strength / cp.maximum(counts, 1).astype(dtype), 1e-12)
        self.phi = start / start.sum()
        self.pairs = [cp.empty((self.n, 2), dtype=dtype) for _ in range(3)]

    def step(self, law: cp.ndarray) -> cp.ndarray:
        """P^T p."""
        picked = self.by_edge.run("sums", law / self.degrees, self.middle, False)
        return self.by_vertex.run("sums", picked * self.share, cp.empty_like(law), True)

    def solve_law(self, tolerance: float) -> tuple[cp.ndarray, int, float]:
        """Steps until ||phi P - phi||_1 is small: on a random hypergraph they converge at once."""
        phi = self.phi
        steps, residual = 0, np.inf
        while residual > tolerance and steps < 200:
            after = self.step(phi)
            after /= after.sum()
            residual = float(cp.abs(after - phi).sum(dtype=cp.float64))
            phi, steps = after, steps + 1
        return phi, steps, residual

    def settle(self, phi: cp.ndarray) -> None:
        """Take this law."""
        self.phi, root = phi, cp.sqrt(cp.maximum(phi, 1e-30))
        self.root, self.arrive, self.leave = root, root / self.degrees, 1 / root

    def apply(self, x: cp.ndarray) -> cp.ndarray:
        """L_sym x."""
        inside, between, outside = self.pairs
        cp.multiply(x, self.leave, out=inside[:, 0])
        cp.multiply(x, self.arrive, out=inside[:, 1])
        self.by_edge.run("pairs", inside, between, True, False)
        between *= self.share[:, None]
        self.by_vertex.run("pairs", between, outside, False, True)
        return x - 0.5 * (outside[:, 0] * self.arrive + outside[:, 1] * self.leave)


def second_eigenvector(walk: Walk, tolerance: float, most: int = 64) -> tuple[float, float, int]:
    """Lanczos with full orthogonalisation: the eigenvalue, the relative residual, the products."""
    known = walk.root / cp.linalg.norm(walk.root)
    basis, projected = cp.empty((most + 1, walk.n), dtype=walk.dtype), np.zeros((most, most))
    start = cp.random.default_rng(1).standard_normal(walk.n, dtype=walk.dtype)
    start -= known * (known @ start)
    basis[0] = start / cp.linalg.norm(start)
    for column in range(most):
        image = walk.apply(basis[column])
        overlaps = np.zeros(column + 1)
        for _ in range(2):  # once loses the known vector, which then comes back
            image -= known * (known @ image)
            inside = basis[: column + 1] @ image
            image -= inside @ basis[: column + 1]
            overlaps += inside.get()
        projected[: column + 1, column] = projected[column, : column + 1] = overlaps
        length = float(cp.linalg.norm(image))
        basis[column + 1] = image / length
        if column % 4 == 3:
            values, vectors = np.linalg.eigh(projected[: column + 1, : column + 1])
            if length * abs(vectors[-1, 0]) <= tolerance * values[0]:
                break
    vector = cp.asarray(vectors[:, 0].astype(walk.dtype)) @ basis[: column + 1]
    vector /= cp.linalg.norm(vector)
    image = walk.apply(vector)
    value = float(vector @ image)
    return value, float(cp.linalg.norm(image - value * vector)) / value, column + 2


def milliseconds(task: Callable[[], object], repeats: int = 5) -> float:
    """By the clock of the device."""
    task()
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for _ in range(repeats):
        task()
    end.record()
    end.synchronize()
    return cp.cuda.get_elapsed_time(start, end) / repeats


def seconds(task: Callable[[], tuple]) -> tuple:
    """Wall time, and the result."""
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    result = task()
    cp.cuda.Device().synchronize()
    return time.perf_counter() - start, *result


def copy_rate(m: int) -> float:
    """Bytes read and written per nanosecond by a copy on the device."""
    source, target = cp.empty(m, dtype=cp.float32), cp.empty(m, dtype=cp.float32)
    return 8 * m / milliseconds(lambda: cp.copyto(target, source)) / 1e6


def row(m: int, precision: str, blocks: int, copied: float) -> dict[str, str]:
    """The figures for one precision and number of blocks."""
    cp.get_default_memory_pool().free_all_blocks()
    walk = Walk(m, {"float": cp.float32, "double": cp.float64}[precision], blocks)
    used = cp.get_default_memory_pool().used_bytes() / 1e9
    walk.solve_law(0.1)
    law_time, phi, steps, residual = seconds(lambda: walk.solve_law(1e-6))
    walk.settle(phi)
    x = cp.random.default_rng(2).standard_normal(walk.n, dtype=walk.dtype)
    inside, between, outside = walk.pairs
    edge = milliseconds(lambda: walk.by_edge.run("pairs", inside, between, True, False))
    vertex = milliseconds(lambda: walk.by_vertex.run("pairs", between, outside, False, True))
    product = milliseconds(lambda: walk.apply(x))
    moved = m * (4 + x.itemsize) + walk.n * (2 * x.itemsize * (1 + 2 * blocks) + 4 * blocks)
    second_eigenvector(walk, 0.3)
    vector_time, _, left, products = seconds(lambda: second_eigenvector(walk, 1e-4))
    return {
        "precision": precision,
        "blocks": f"{blocks}",
        "GB": f"{used:.1f}",
        "edge pass (ms)": f"{edge:.2f}",
        "vertex pass (ms)": f"{vertex:.2f}",
        "edge pass, of a copy": f"{moved / edge / 1e6 / copied:.0%}",
        "product (ms)": f"{product:.2f}",
        "law (s)": f"{law_time:.3f}",
        "steps": f"{steps}",
        "residual": f"{residual:.0e}",
        "eigenvector (s)": f"{vector_time:.3f}",
        "products": f"{products}",
        "relative residual": f"{left:.0e}",
        "together (s)": f"{law_time + vector_time:.3f}",
    }


def main(m: int, precisions: list[str], counts: list[int]) -> None:
    """A table with a row for each precision and number of blocks."""
    name, copied = cp.cuda.runtime.getDeviceProperties(0)["name"].decode(), copy_rate(m)
    print(f"{name}, m = {m:,}, n = |E| = {m // MEMBERS:,}; a copy moves {copied:,.0f} GB/s\n")
    for number, (precision, blocks) in enumerate((p, b) for p in precisions for b in counts):
        figures = row(m, precision, blocks, copied)
        if number == 0:
            print(f"| {' | '.join(figures)} |\n| --- |" + " ---: |" * (len(figures) - 1))
        print(f"| {' | '.join(figures.values())} |", flush=True)


if __name__ == "__main__":
    _, size, *more = sys.argv
    main(
        int(float(size)),
        more[0].split(",") if more else ["float", "double"],
        [int(count) for count in more[1].split(",")] if len(more) > 1 else [1, 8, 16],
    )
