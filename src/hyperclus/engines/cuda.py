"""The CUDA engine, by CuPy: incidences and vectors in the memory of a GPU."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint
from hyperclus._runtime.optional import library
from hyperclus.engines.arrays import NumpyBackend
from hyperclus.engines.base import ArrayBackend, LocalProducts, Weights
from hyperclus.engines.cpu import check_powers
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Floats

THREADS = 256
GROUP = 128  # threads that sum a piece of a long row together; the same as in kernels.cu
LONG = 512  # entries from which a row is long
PIECE = 4096  # entries of a long row that one group sums
WIDTH = 1_250_000  # columns of a block: 20 MB of pairs fit the cache of a large GPU
SEGMENT = 1.5  # least mean number of entries of a row in a block; with fewer, reading pointers costs more
CHUNK = 1 << 24  # entries copied to the device at a time


def cupy() -> Any:
    """CuPy."""
    return library("cupy", "CuPy", Argument("engine", "cuda"), "cuda")


def missing() -> str | None:
    """Why there is no GPU to run on, in a few words; None if there is one."""
    xp = cupy()
    try:
        return None if xp.cuda.runtime.getDeviceCount() else "the driver reports no device"
    except xp.cuda.runtime.CUDARuntimeError as error:
        return str(error).partition(":")[0] or "the driver does not answer"


def bytes_needed(h: Hypergraph, precision: str, k: int) -> float:
    """Upper bound on the memory for incidences, vectors for k clusters, and sorting."""
    weight = 4 if precision == "float32" else 8
    kept = 2 * h.n_incidences * (4 + weight) + 64 * (h.n_vertices + h.n_edges)
    return kept + max(32.0 * h.n_incidences, 8.0 * (40 + 6 * k) * h.n_vertices)


def bytes_free() -> int:
    """Free memory of the GPU, including what CuPy holds and does not use."""
    xp = cupy()
    return int(xp.cuda.runtime.memGetInfo()[0] + xp.get_default_memory_pool().free_bytes())


def fits(h: Hypergraph, precision: str, k: int) -> bool:
    """Whether the GPU has enough memory for a hypergraph and k clusters."""
    return bytes_needed(h, precision, k) <= bytes_free()


@dataclass(frozen=True, eq=False)
class CudaProducts(LocalProducts):
    """Products over incidences in the memory of a GPU, in the precision of the vectors.

    gamma may be stored in another precision.
    """

    alpha: float
    by_edge: "Matrix"
    by_vertex: "Matrix"

    @classmethod
    def of(cls, h: Hypergraph, alpha: float, precision: str = "float64", k: int = 2) -> "CudaProducts":
        """Copy a hypergraph to the GPU, in chunks, and sort it there by vertex."""
        why = missing()
        if why is not None:
            cpu, gpu = Argument("engine", "cpu"), Argument("engine", "cuda")
            raise InputError(gpu, f" needs an NVIDIA GPU ({why}); use ", cpu)
        _check_range(h.gamma.data, alpha, precision)
        if not fits(h, precision, k):
            needed, free = bytes_needed(h, precision, k) / 1e9, bytes_free() / 1e9
            smaller = (", or ", Argument("precision", "float32")) if precision == "float64" else ()
            raise InputError(
                f"this hypergraph needs about {needed:.1f} GB and the GPU has {free:.1f} GB free; use ",
                Argument("engine", "cpu"),
                *smaller,
            )
        return cls.on(DEVICE(), h.gamma, alpha, precision)

    @classmethod
    def on(cls, device: Any, gamma: Any, alpha: float, precision: str) -> "CudaProducts":
        """Copy it to a given device, which may be a stand-in."""
        idx = device.copied(gamma.indices, np.int32)
        weights = device.copied(gamma.data, np.dtype(precision))
        ptr = device.copied(gamma.indptr, np.int64)
        by_edge = Matrix.of(device, ptr, idx, weights, gamma.shape[1])
        row_of = device.expanded(ptr, len(idx))
        order = device.xp.argsort(idx)
        counts = device.xp.bincount(idx, minlength=gamma.shape[1])
        ptr = device.xp.zeros(gamma.shape[1] + 1, dtype=np.int64)
        device.xp.cumsum(counts, out=ptr[1:])
        del idx
        weights, row_of = weights[order], row_of[order]
        del order
        by_vertex = Matrix.of(device, ptr, row_of, weights, gamma.shape[0])
        device.free()
        return cls(alpha, by_edge, by_vertex)

    def to_edges(self, values: Floats, weights: Weights) -> Floats:
        return self.by_edge.sums(values, *self._power(weights))

    def to_vertices(self, values: Floats, weights: Weights) -> Floats:
        return self.by_vertex.sums(values, *self._power(weights))

    def edge_pairs(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        return self.by_edge.pairs(first, second, *self._power("source_weights"))

    def symmetrized(self, vector: Floats, left: Floats, right: Floats, middle: Floats) -> Floats:
        """Two passes of pairs."""
        means, picked = self.edge_pairs(vector * left, vector * right)
        coming, going = self.by_vertex.pairs(picked * middle, means * middle, *self._power("source_weights"))
        return going * right + coming * left

    def vertex_squares(self, values: Floats) -> Floats:
        return self.by_vertex.sums(values, 2 if self.alpha else 1, 1.0 + self.alpha)

    def least_share(self, out_edge: Floats, out_vertex: Floats, in_edge: Floats, in_vertex: Floats) -> float:
        return self.by_edge.least_share(
            out_edge, out_vertex, in_edge, in_vertex, *self._power("source_weights")
        )

    def constants(self) -> Floats | None:
        """Each incidence writes to its vertex; then all are compared."""
        return self.by_edge.constants()

    @cached_property
    def backend(self) -> ArrayBackend:
        return CudaBackend(self.by_edge.device.xp)

    def _power(self, weights: Weights) -> tuple[int, float]:
        """The kind of weights for the kernels, and alpha."""
        if weights == "gamma" or self.alpha == 1:
            return 1, 1.0
        return (0 if self.alpha == 0 else 2), self.alpha


class CudaBackend(NumpyBackend):
    """Vectors as CuPy arrays; nothing is copied to the host unless it is fetched."""

    name = "cuda"
    on_host = False
    rows_at_a_time = 1 << 21  # limits the temporary arrays of a Lanczos restart

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def put(self, values: Any, dtype: Any = None) -> Any:
        """A copy on the device, or the array itself if it is there."""
        return self.xp.asarray(values, dtype=dtype)

    def fetch(self, *values: Any) -> list[Any]:
        return [value.get() if hasattr(value, "get") else value for value in values]

    def normal(self, size: int, rng: np.random.Generator) -> Floats:
        """Drawn on the device, with a seed from the generator."""
        return self.xp.random.default_rng(int(rng.integers(1 << 63))).standard_normal(size)

    def open_checkpoint(self, stage: str, *inputs: Any, rng: np.random.Generator | None = None) -> Checkpoint:
        """None: a stage on a GPU is short."""
        return NO_CHECKPOINT


@dataclass(frozen=True, eq=False)
class Matrix:
    """A sparse matrix on a device: short rows in blocks of columns, long rows in pieces."""

    device: Any
    shape: tuple[int, int]
    blocks: list[tuple[Any, Any, Any]]  # pointers, indices and weights of each block
    long: "LongRows | None"

    @classmethod
    def of(cls, device: Any, ptr: Any, idx: Any, weights: Any, columns: int) -> "Matrix":
        """From a CSR with ascending indices."""
        xp, rows = device.xp, len(ptr) - 1
        sizes = ptr[1:] - ptr[:-1]
        lengthy = sizes > LONG
        short = max(int(len(idx) - sizes[lengthy].sum()), 1)
        count = int(min(-(-columns // WIDTH), max(short / rows / SEGMENT, 1)))
        count = max(count, -(-len(idx) // 2**30))  # positions in a block have 32 bits
        width = -(-columns // count)
        pointers, starts = device.block_pointers(ptr, idx, width, count)
        to_idx, to_weights = xp.empty(starts[-1], dtype=np.int32), xp.empty(starts[-1], dtype=weights.dtype)
        device.fill_blocks((ptr, idx, weights), width, pointers, starts, (to_idx, to_weights))
        blocks = [
            (pointers[number], to_idx[first:last], to_weights[first:last])
            for number, (first, last) in enumerate(pairwise(starts))
        ]
        long = LongRows.of(device, ptr, idx, weights, lengthy) if bool(lengthy.any()) else None
        return cls(device, (rows, columns), blocks, long)

    def sums(self, values: Floats, power: int, alpha: float) -> Floats:
        """The weighted sum of each row, for a vector or the columns of a block."""
        if len(values) != self.shape[1]:
            raise InputError(f"{self.shape[1]} values are needed here; these have shape {values.shape}")
        if values.ndim == 2:
            block = self.device.xp.empty((self.shape[0], values.shape[1]), dtype=values.dtype)
            for column in range(values.shape[1]):
                block[:, column] = self.sums(values[:, column], power, alpha)
            return block
        return self._run(self.device.xp.ascontiguousarray(values), 1, power, alpha)

    def pairs(self, first: Floats, second: Floats, power: int, alpha: float) -> tuple[Floats, Floats]:
        """For each row the sum of one vector with the weights, and of another with their powers."""
        paired = self.device.xp.empty((len(first), 2), dtype=first.dtype)
        paired[:, 0], paired[:, 1] = first, second
        out = self._run(paired.ravel(), 2, power, alpha).reshape(-1, 2)
        return out[:, 0], out[:, 1]

    def least_share(
        self, out_row: Floats, out_column: Floats, in_row: Floats, in_column: Floats, power: int, alpha: float
    ) -> float:
        """The least over all entries of max(out weight^alpha, in weight)."""
        given = out_row, out_column, in_row, in_column
        least = self.device.xp.full(self.shape[0], np.inf)
        for block in self.blocks:
            self.device.least_share(block, power, alpha, given, least)
        found = float(least.min())
        return found if self.long is None else min(found, self.long.least_share(given, power, alpha))

    def constants(self) -> Floats | None:
        """The weight of each column where it is the same in all rows; None if it is not."""
        xp = self.device.xp
        found = xp.zeros(self.shape[1])
        entries = [(idx, weights) for _, idx, weights in self.blocks]
        entries += [] if self.long is None else [(self.long.idx, self.long.weights)]
        for some in (slice(0, 1), slice(None)):  # the first block decides it most of the time
            for idx, weights in entries[some]:
                found[idx] = weights
            if not all(bool((found[idx] == weights).all()) for idx, weights in entries[some]):
                return None
        return found

    def _run(self, values: Any, width: int, power: int, alpha: float) -> Any:
        out = self.device.xp.empty(self.shape[0] * width, dtype=values.dtype)
        for number, block in enumerate(self.blocks):
            self.device.sums(block, width, power, alpha, values, out, number == 0)
        if self.long is not None:
            self.long.add(values, out, width, power, alpha)
        return out


@dataclass(frozen=True, eq=False)
class LongRows:
    """Rows of many entries, each cut into pieces."""

    device: Any
    rows: Any  # their numbers
    row_of: Any  # of each entry
    idx: Any
    weights: Any
    bounds: Any  # of the pieces among the entries
    first_piece: Any  # of each row, and the total number

    @classmethod
    def of(cls, device: Any, ptr: Any, idx: Any, weights: Any, lengthy: Any) -> "LongRows":
        """The marked rows of a CSR."""
        xp = device.xp
        rows, row_of = xp.flatnonzero(lengthy), device.expanded(ptr, len(idx))
        kept = lengthy[row_of]
        taken = np.concatenate([[0], np.cumsum((ptr[rows + 1] - ptr[rows]).get())])
        counts = -(-np.diff(taken) // PIECE)
        first_piece = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(first_piece[-1]) - np.repeat(first_piece[:-1], counts)
        bounds = np.append(np.repeat(taken[:-1], counts) + PIECE * within, taken[-1])
        entries = (row_of[kept], idx[kept], weights[kept])
        return cls(device, rows, *entries, xp.asarray(bounds), xp.asarray(first_piece))

    def add(self, values: Any, out: Any, width: int, power: int, alpha: float) -> None:
        """Write the sums of these rows, which are 0 so far."""
        parts = self.device.xp.empty((len(self.bounds) - 1) * width, dtype=values.dtype)
        self.device.pieces(self, width, power, alpha, values, parts)
        self.device.join_pieces(self, width, parts, out)

    def least_share(self, given: tuple[Any, ...], power: int, alpha: float) -> float:
        out_row, out_column, in_row, in_column = given
        weights = self.weights.astype(np.float64)
        going = out_row[self.row_of] * out_column[self.idx] * (weights**alpha if power else 1.0)
        coming = in_row[self.row_of] * in_column[self.idx] * weights
        return float(np.maximum(going, coming).min())


class Device:
    """The kernels on a GPU. Nothing else calls CUDA; tests replace it by NumPy."""

    def __init__(self) -> None:
        self.xp = cupy()

    @cache  # noqa: B019  the one device lives as long as the process
    def _kernels(self, *types: str) -> Any:
        """Kernels for vectors and weights of some types, compiled when they are first needed."""
        names = ["expand_rows", "count_blocks"] if not types else []
        if len(types) == 1:
            names += [f"fill_blocks<{types[0]}>", f"join_pieces<{types[0]}>"]
        if len(types) == 2:
            for power in (0, 1, 2):
                kind = f"{types[0]}, {types[1]}, {power}"
                names += [f"least_share<{kind}>"]
                for name in ("sums", "pairs", "pieces"):
                    names += [f"{name}<{kind}, true>", f"{name}<{kind}, false>"]
        code = Path(__file__).with_name("kernels.cu").read_text()
        return self.xp.RawModule(code=code, options=("-std=c++17",), name_expressions=names)

    def _kernel(self, name: str, *types: str, flags: str = "") -> Any:
        """One kernel, by its name, types and further template arguments."""
        arguments = ", ".join([*types, *filter(None, [flags])])
        return self._kernels(*types).get_function(f"{name}<{arguments}>" if arguments else name)

    def copied(self, array: Any, dtype: Any) -> Any:
        """Copy a host array to the device in chunks, so that a change of dtype takes little memory."""
        there = self.xp.empty(len(array), dtype=dtype)
        for first in range(0, len(array), CHUNK):
            some = slice(first, first + CHUNK)
            there[some].set(np.ascontiguousarray(array[some], dtype=dtype))
        return there

    def free(self) -> None:
        """Release unused memory, for arrays of other sizes."""
        self.xp.get_default_memory_pool().free_all_blocks()

    def expanded(self, ptr: Any, size: int) -> Any:
        """The row of each entry."""
        row_of = self.xp.empty(size, dtype=np.int32)
        self._launch(self._kernel("expand_rows"), len(ptr) - 1, ptr, row_of)
        return row_of

    def block_pointers(self, ptr: Any, idx: Any, width: int, count: int) -> tuple[Any, list[int]]:
        """Where each short row begins in each block, and where the blocks begin."""
        xp, rows = self.xp, len(ptr) - 1
        counts = xp.empty((count, rows), dtype=np.int32)
        sizes = (np.int64(LONG), np.int32(width), np.int32(count))
        self._launch(self._kernel("count_blocks"), rows, ptr, idx, *sizes, counts)
        pointers = xp.zeros((count, rows + 1), dtype=np.int32)
        for block in range(count):
            xp.cumsum(counts[block], out=pointers[block, 1:])
        return pointers, np.concatenate([[0], np.cumsum(pointers[:, -1].get().astype(np.int64))]).tolist()

    def fill_blocks(
        self, csr: tuple[Any, ...], width: int, pointers: Any, starts: list[int], to: Any
    ) -> None:
        """Copy the entries of the short rows of (ptr, idx, weights) to their blocks, (idx, weights)."""
        kernel, begins = self._kernel("fill_blocks", _kind(csr[2])), self.xp.asarray(starts[:-1])
        sizes = (np.int64(LONG), np.int32(width))
        self._launch(kernel, len(csr[0]) - 1, *csr, *sizes, pointers, begins, *to)

    def sums(
        self, block: tuple[Any, ...], width: int, power: int, alpha: float, x: Any, out: Any, first: bool
    ) -> None:
        """Add the sums of one block (ptr, idx, weights), or pairs of sums, to those of the blocks before."""
        flags = f"{power}, {str(first).lower()}"
        kernel = self._kernel("pairs" if width == 2 else "sums", _kind(x), _kind(block[2]), flags=flags)
        self._launch(kernel, len(block[0]) - 1, *block, x.dtype.type(alpha), x, out)

    def pieces(self, rows: "LongRows", width: int, power: int, alpha: float, x: Any, parts: Any) -> None:
        """The sums of the pieces of long rows."""
        flags = f"{power}, {str(width == 2).lower()}"
        kernel = self._kernel("pieces", _kind(x), _kind(rows.weights), flags=flags)
        arguments = (rows.bounds, rows.idx, rows.weights, x.dtype.type(alpha), x, parts)
        kernel((len(rows.bounds) - 1,), (GROUP,), arguments)

    def join_pieces(self, rows: "LongRows", width: int, parts: Any, out: Any) -> None:
        """Add the pieces of each long row."""
        count = len(rows.rows)
        arguments = (np.int64(count), rows.rows, rows.first_piece, np.int32(width), parts, out)
        self._kernel("join_pieces", _kind(out))((-(-count * width // THREADS),), (THREADS,), arguments)

    def least_share(
        self, block: tuple[Any, ...], power: int, alpha: float, given: tuple[Any, ...], least: Any
    ) -> None:
        """Lower `least` of each row to the least of its entries in one block."""
        kernel = self._kernel("least_share", "double", _kind(block[2]), flags=str(power))
        self._launch(kernel, len(block[0]) - 1, *block, np.float64(alpha), *given, least)

    def _launch(self, kernel: Any, rows: int, *arguments: Any) -> None:
        """Run a kernel with a thread for each row."""
        kernel((-(-rows // THREADS),), (THREADS,), (np.int64(rows), *arguments))


DEVICE: Callable[[], Device] = cache(Device)


def _check_range(gamma: Floats, alpha: float, precision: str) -> None:
    """Reject weights, or powers of weights, that the precision cannot represent."""
    check_powers(gamma, alpha)
    limits = np.finfo(precision)
    if not (gamma.min() >= limits.tiny and gamma.max() <= limits.max):
        raise InputError(
            f"some gamma leaves the range of {precision}; use ", Argument("precision", "float64")
        )


def _kind(array: Any) -> str:
    return {"f4": "float", "f8": "double"}[array.dtype.str[1:]]
