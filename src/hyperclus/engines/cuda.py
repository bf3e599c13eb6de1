"""The CUDA engine, by CuPy: incidences and vectors in the memory of a GPU."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from hyperclus._runtime.checkpoint import NO_CHECKPOINT, Checkpoint
from hyperclus.engines.arrays import NumpyBackend
from hyperclus.engines.base import (
    ArrayBackend,
    ClusterFlows,
    Directions,
    FlowFactors,
    LocalProducts,
    Weights,
)
from hyperclus.engines.cpu import check_powers
from hyperclus.engines.cuda_device import Device, cupy
from hyperclus.engines.cuda_flows import CudaClusterFlows
from hyperclus.engines.cuda_matrix import Matrix
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Booleans, Floats, Integers

BLOCK = 4  # columns of a product: 32 bytes of each row, as memory comes
BLOCKS_FROM = 16  # eigenvectors from which blocks save time, although they take a few products more
LARGE = 1 << 27  # entries of a large block
FIRST_ROWS = 1 << 20  # rows fetched at a time to find the first of each label
OUT_OF_MEMORY = ("outofmemory", "out of memory", "alloc_failed", "memoryallocation")  # in errors of CuPy


def missing() -> str | None:
    """Why there is no GPU to run on, in a few words; None if there is one."""
    xp = cupy()
    try:
        return None if xp.cuda.runtime.getDeviceCount() else "the driver reports no device"
    except xp.cuda.runtime.CUDARuntimeError as error:
        return str(error).partition(":")[0] or "the driver does not answer"


def check_present() -> None:
    """Raise an `InputError` if there is no GPU."""
    why = missing()
    if why is not None:
        cpu, gpu = Argument("engine", "cpu"), Argument("engine", "cuda")
        raise InputError(gpu, f" needs an NVIDIA GPU ({why}); use ", cpu)


def bytes_needed(h: Hypergraph, precision: str, k: int) -> float:
    """About the memory for incidences, vectors for k clusters, and sorting."""
    weight = 4 if precision == "float32" else 8
    kept = 2 * h.n_incidences * (4 + weight) + 64 * (h.n_vertices + h.n_edges)
    return kept + max(32.0 * h.n_incidences, bytes_of_vectors(h, k))


def bytes_of_vectors(h: Hypergraph, k: int) -> float:
    """About the memory for vectors for k clusters: eigenvectors twice, the basis of their space, and more."""
    return 8.0 * (50 + 2.5 * k) * h.n_vertices


def bytes_free() -> int:
    """Free memory of the GPU, including what CuPy holds and does not use."""
    return DEVICE().bytes_free()


def fits(h: Hypergraph, precision: str, k: int) -> bool:
    """Whether the GPU has enough memory for a hypergraph and k clusters."""
    return bytes_needed(h, precision, k) <= bytes_free()


def check_room(needed: float, precision: str) -> None:
    """Raise an `InputError` unless this many bytes are free."""
    free = bytes_free()
    if needed > free:
        sizes = f"about {needed / 1e9:.1f} GB and the GPU has {free / 1e9:.1f} GB free"
        raise InputError(f"this hypergraph needs {sizes}; use ", *_instead(precision))


def out_of_memory(error: BaseException, precision: str) -> InputError | None:
    """What to say if an error means that the memory of the GPU was not enough; None if it does not."""
    words = f"{type(error).__module__} {type(error).__name__} {error}"
    if not ("cupy" in words and any(sign in words.lower() for sign in OUT_OF_MEMORY)):
        return None
    return InputError(
        "the GPU has too little free memory for this; use ", *_instead(precision), " or fewer clusters"
    )


def _instead(precision: str) -> tuple[Any, ...]:
    smaller = (", or ", Argument("precision", "float32")) if precision == "float64" else ()
    return Argument("engine", "cpu"), *smaller


@dataclass(frozen=True, eq=False)
class CudaProducts(LocalProducts):
    """Products over incidences in the memory of a GPU, in the precision of the vectors.

    gamma may be stored in another precision.
    """

    takes_blocks: ClassVar[bool] = True

    alpha: float
    by_edge: Matrix
    by_vertex: Matrix
    members: Any  # mask of the vertices that are in some hyperedge

    @classmethod
    def of(cls, h: Hypergraph, alpha: float, precision: str = "float64", k: int = 2) -> "CudaProducts":
        """Copy a hypergraph to the GPU, in chunks, and sort it there by vertex."""
        check_present()
        check_room(bytes_needed(h, precision, k), precision)
        return cls.on(DEVICE(), h.gamma, alpha, precision)

    @classmethod
    def on(cls, device: Any, gamma: Any, alpha: float, precision: str) -> "CudaProducts":
        """Copy it to a given device, which may be a stand-in; gamma is copied while members are sorted."""
        xp = device.xp
        idx, ptr = device.copied(gamma.indices, np.int32), device.copied(gamma.indptr, np.int64)
        weights, wait = device.copying(gamma.data, np.dtype(precision))
        order = xp.argsort(idx)
        counts = xp.bincount(idx, minlength=gamma.shape[1])
        wait()
        ends = np.array([float(weights.min()), float(weights.max())]) if len(idx) else np.ones(2)
        _check_range(ends, alpha, precision)
        row_of = device.expanded(ptr, len(idx))[order]
        by_edge = Matrix.of(device, ptr, idx, weights, gamma.shape[1])
        del idx
        weights = weights[order]
        del order
        ptr = xp.zeros(gamma.shape[1] + 1, dtype=np.int64)
        xp.cumsum(counts, out=ptr[1:])
        by_vertex = Matrix.of(device, ptr, row_of, weights, gamma.shape[0])
        device.free()
        return cls(alpha, by_edge, by_vertex, counts > 0)

    def covered(self) -> Booleans | None:
        """Mask of the vertices that are in some hyperedge, on the host; None if all of them are."""
        return None if bool(self.members.all()) else np.asarray(self.members.get())

    def to_edges(self, values: Floats, weights: Weights) -> Floats:
        return self.by_edge.sums(values, *self._power(weights))

    def to_vertices(self, values: Floats, weights: Weights) -> Floats:
        return self.by_vertex.sums(values, *self._power(weights))

    def edge_pairs(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        return self.by_edge.pairs(first, second, *self._power("source_weights"))

    def symmetrized(self, vector: Floats, left: Floats, right: Floats, middle: Floats) -> Floats:
        """Two passes of pairs; four for all columns of a block."""
        if vector.ndim == 2:
            means = self.to_edges(vector * left[:, None], "gamma") * middle[:, None]
            going = self.to_vertices(means, "source_weights") * right[:, None]
            picked = self.to_edges(vector * right[:, None], "source_weights") * middle[:, None]
            going += self.to_vertices(picked, "gamma") * left[:, None]
            return going
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

    def between(self, labels: Integers, count: int, given: FlowFactors) -> list[Any]:
        """In one pass."""
        return self.linked(labels, count, given, "out").between()

    def linked(
        self, labels: Integers, count: int, given: FlowFactors, directions: Directions
    ) -> ClusterFlows:
        """All clusters in one pass."""
        power, labels = self._power("source_weights"), self.backend.put(labels)
        return CudaClusterFlows(self.by_edge, self.by_vertex, power, labels, count, given, directions)

    def flows(
        self,
        labels: Integers,
        count: int,
        phi: Floats,
        degrees: Floats,
        shares: Floats,
        once: bool = False,
    ) -> tuple[Floats, Floats]:
        """From the flows between all clusters."""
        labels = self.backend.put(labels)
        flows = self.backend.fetch(
            *self.between(labels, count, FlowFactors(self.backend, phi, degrees, shares))
        )
        volumes = self.backend.fetch(*((phi * (labels == cluster)).sum() for cluster in range(count)))
        between = np.array(flows, dtype=np.float64).T
        np.fill_diagonal(between, 0.0)
        return np.array(volumes, dtype=np.float64), between.sum(axis=1)

    @cached_property
    def backend(self) -> ArrayBackend:
        return CudaBackend(self.by_edge.device)

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
    dense_up_to = 4_000
    points_at_a_time = 1 << 20

    def __init__(self, device: Any) -> None:
        self.device, self.xp = device, device.xp

    def put(self, values: Any, dtype: Any = None) -> Any:
        """A copy on the device, or the array itself if it is there."""
        return self.xp.asarray(values, dtype=dtype)

    def fetch(self, *values: Any) -> list[Any]:
        return [self.device.fetched(value) if hasattr(value, "get") else value for value in values]

    def empty_columns(self, like: Any, count: int) -> Any:
        """Before a large block is allocated, memory that CuPy holds in parts of other sizes is released."""
        if len(like) * count >= LARGE:
            self.device.free()
        return super().empty_columns(like, count)

    def first_rows(self, labels: Any, count: int) -> Any:
        """Rows are searched from the first one on until all labels are found."""
        first, step = np.full(count, len(labels)), FIRST_ROWS
        for start in range(0, len(labels), step):
            (some,) = self.fetch(labels[start : start + step])
            found, at = np.unique(some, return_index=True)
            first[found] = np.minimum(first[found], start + at)
            if first.max() < len(labels):
                break
        return first

    def column_batches(self, count: int) -> Iterable[range]:
        """As many columns as a product takes at once."""
        return (range(first, min(first + BLOCK, count)) for first in range(0, count, BLOCK))

    def block_width(self, wanted: int, n_incidences: int) -> int | None:
        """Blocks for many vectors: a product reads the incidences once for all columns."""
        return BLOCK if wanted >= BLOCKS_FROM else None

    def normal(self, size: int, rng: np.random.Generator) -> Floats:
        """Drawn on the device, with a seed from the generator."""
        return self.xp.random.default_rng(int(rng.integers(1 << 63))).standard_normal(size)

    def open_checkpoint(self, stage: str, *inputs: Any, rng: np.random.Generator | None = None) -> Checkpoint:
        """None: a stage on a GPU is short."""
        return NO_CHECKPOINT


DEVICE: Callable[[], Device] = cache(Device)


def _check_range(ends: Floats, alpha: float, precision: str) -> None:
    """Reject weights, or powers of weights, that the precision cannot represent, given least and largest."""
    check_powers(ends, alpha)
    limits = np.finfo(precision)
    if not (ends[0] >= limits.tiny and ends[1] <= limits.max):
        raise InputError(
            f"some gamma leaves the range of {precision}; use ", Argument("precision", "float64")
        )
