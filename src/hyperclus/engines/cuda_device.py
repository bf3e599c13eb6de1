"""A GPU, by CuPy: its memory and the kernels. Nothing else calls CUDA."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hyperclus._runtime.optional import library
from hyperclus.engines.cuda_copies import Copies
from hyperclus.errors import Argument

THREADS = 256
GROUP = 128  # threads that sum a piece of a long row together; the same as in kernels.cu
COLUMNS = 128  # of a table, at most, that one launch gathers; four for each of 32 threads
BY_CLUSTER = ("cluster_sums", "cluster_pieces", "gather", "gather_pieces")


def cupy() -> Any:
    """CuPy."""
    return library("cupy", "CuPy", Argument("engine", "cuda"), "cuda")


@dataclass(frozen=True, slots=True)
class Layout:
    """Measured sizes that decide how a matrix lies on the device; results differ by rounding only."""

    width: int = 1_250_000  # columns of a block: 20 MB of pairs fit the cache of a large GPU
    segment: float = 1.5  # least mean number of entries of a row in a block; with fewer, pointers cost more
    long: int = 512  # entries from which a row is long
    piece: int = 4096  # entries of a long row that one group sums
    table: int = 1 << 28  # bytes of the sums of some hyperedges by cluster that are computed together


class Device(Copies):
    """The kernels on a GPU. Tests replace it by NumPy."""

    def __init__(self, layout: Layout = Layout()) -> None:  # noqa: B008  frozen
        self.xp, self.layout = cupy(), layout

    def bytes_free(self) -> int:
        """Free memory of the GPU, including what CuPy holds and does not use."""
        free = self.xp.cuda.runtime.memGetInfo()[0] + self.xp.get_default_memory_pool().free_bytes()
        return int(free)

    def free(self) -> None:
        """Release unused memory, for arrays of other sizes."""
        self.xp.get_default_memory_pool().free_all_blocks()

    @cache  # noqa: B019  the one device lives as long as the process
    def _kernels(self, *types: str) -> Any:
        """Kernels for vectors and weights of some types, compiled when they are first needed."""
        names = ["expand_rows", "count_blocks"] if not types else []
        if len(types) == 1:
            names += [f"fill_blocks<{types[0]}>", f"join_pieces<{types[0]}>"]
        if len(types) == 3:
            names += [f"{name}<{', '.join(types)}, {power}>" for name in BY_CLUSTER for power in (0, 1, 2)]
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

    def expanded(self, ptr: Any, size: int) -> Any:
        """The row of each entry."""
        row_of = self.xp.empty(size, dtype=np.int32)
        self._launch(self._kernel("expand_rows"), len(ptr) - 1, ptr, row_of)
        return row_of

    def block_pointers(self, ptr: Any, idx: Any, width: int, count: int) -> tuple[Any, list[int]]:
        """Where each short row begins in each block, and where the blocks begin."""
        xp, rows = self.xp, len(ptr) - 1
        counts = xp.empty((count, rows), dtype=np.int32)
        sizes = (np.int64(self.layout.long), np.int32(width), np.int32(count))
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
        sizes = (np.int64(self.layout.long), np.int32(width))
        self._launch(kernel, len(csr[0]) - 1, *csr, *sizes, pointers, begins, *to)

    def sums(
        self, block: tuple[Any, ...], width: int, power: int, alpha: float, x: Any, out: Any, first: bool
    ) -> None:
        """Add the sums of one block (ptr, idx, weights), or pairs of sums, to those of the blocks before."""
        flags = f"{power}, {str(first).lower()}"
        kernel = self._kernel("pairs" if width == 2 else "sums", _kind(x), _kind(block[2]), flags=flags)
        self._launch(kernel, len(block[0]) - 1, *block, x.dtype.type(alpha), x, out)

    def pieces(self, rows: Any, width: int, power: int, alpha: float, x: Any, parts: Any) -> None:
        """The sums of the pieces of long rows."""
        flags = f"{power}, {str(width == 2).lower()}"
        kernel = self._kernel("pieces", _kind(x), _kind(rows.weights), flags=flags)
        arguments = (rows.bounds, rows.idx, rows.weights, x.dtype.type(alpha), x, parts)
        kernel((len(rows.bounds) - 1,), (GROUP,), arguments)

    def join_pieces(self, rows: Any, width: int, parts: Any, out: Any) -> None:
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

    def cluster_sums(self, block: tuple[Any, ...], weigh: Any, to: Any) -> None:
        """Add the sums of one block (ptr, idx, weights) by the cluster of the column to those before."""
        kernel = self._cluster_kernel("cluster_sums", weigh, block[2], to.tables)
        self._launch(kernel, len(block[0]) - 1, *block, *weigh.arguments, *to.arguments, to.scale)

    def cluster_pieces(self, rows: Any, weigh: Any, to: Any) -> None:
        """The sums of the pieces of long rows by the cluster of the column."""
        kernel = self._cluster_kernel("cluster_pieces", weigh, rows.weights, to.tables)
        grid = len(rows.bounds) - 1, -(-to.columns // GROUP)
        kernel(grid, (GROUP,), (rows.bounds, rows.idx, rows.weights, *weigh.arguments, *to.arguments))

    def gather(self, matrix: Any, rows: slice, weigh: Any, table: Any, columns: slice, out: Any) -> None:
        """For some rows the weighted sums of rows of a table, some columns of it; long rows get 0."""
        width, count = columns.stop - columns.start, rows.stop - rows.start
        lanes = 1 << (-(-width // 4) - 1).bit_length()  # each has up to four columns; more lanes are slower
        kernel = self._cluster_kernel("gather", weigh, matrix.weights, [table])
        begins = self.xp.asarray(matrix.starts[:-1])
        given = np.int32(len(matrix.blocks)), matrix.pointers[:, rows.start :], begins, matrix.idx
        sizes = np.int32(table.shape[1]), np.int32(columns.start), np.int32(width), np.int32(lanes)
        stride = np.int64(matrix.pointers.shape[1])
        arguments = *given, matrix.weights, stride, weigh.alpha, table, *sizes, out
        kernel((-(-count * lanes // THREADS),), (THREADS,), (np.int64(count), *arguments))

    def gather_pieces(self, rows: Any, weigh: Any, table: Any, columns: slice, parts: Any) -> None:
        """The same for the pieces of long rows."""
        kernel = self._cluster_kernel("gather_pieces", weigh, rows.weights, [table])
        sizes = np.int32(table.shape[1]), np.int32(columns.start), np.int32(columns.stop - columns.start)
        arguments = rows.bounds, rows.idx, rows.weights, weigh.alpha, table, *sizes, parts
        kernel((len(rows.bounds) - 1,), (GROUP,), arguments)

    def _cluster_kernel(self, name: str, weigh: Any, weights: Any, tables: Any) -> Any:
        table = next(one for one in tables if one is not None)
        types = {"f4": "float", "f8": "double"}[np.dtype(weigh.dtype).str[1:]], _kind(weights), _kind(table)
        return self._kernel(name, *types, flags=str(weigh.power))

    def _launch(self, kernel: Any, rows: int, *arguments: Any) -> None:
        """Run a kernel with a thread for each row."""
        kernel((-(-rows // THREADS),), (THREADS,), (np.int64(rows), *arguments))


def _kind(array: Any) -> str:
    return {"f4": "float", "f8": "double"}[array.dtype.str[1:]]
