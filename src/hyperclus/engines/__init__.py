"""The choice of an engine: where the incidences and vectors of a walk live.

"cpu" is host memory, "cuda" an NVIDIA GPU, "dask" the workers of a cluster. Everything else, from the
stationary distribution to the search for clusters, is the same code on other arrays.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, TypeAlias

from hyperclus.errors import Argument, InputError, check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph

if TYPE_CHECKING:
    from hyperclus.engines.cuda import CudaProducts
    from hyperclus.engines.cuda_sources import CudaSourceProducts

InMemory: TypeAlias = Literal["auto", "cpu", "cuda"]
Engine: TypeAlias = InMemory | Literal["dask"]
Precision: TypeAlias = Literal["float64", "float32"]

GPU_FROM = 3_000_000  # incidences from which "auto" takes a GPU, which needs time to start


def check_engine(engine: str, precision: str) -> None:
    """Reject an unknown engine, and a precision that the engine does not have."""
    if engine == "dask":
        raise InputError("there is no engine 'dask' here; hc.cluster_files clusters Parquet files with Dask")
    check_choice("engine", engine, ("auto", "cpu", "cuda"))
    check_choice("precision", precision, ("float64", "float32"))
    if precision == "float32" and engine != "cuda":
        precise, gpu = Argument("precision", "float32"), Argument("engine", "cuda")
        raise InputError(precise, " needs ", gpu, "; leave it out, or add the engine")


def choose_engine(engine: str, hypergraph: Hypergraph, k: int) -> str:
    """Resolve "auto": a GPU if there is one, with enough memory, and enough to do for it."""
    if engine != "auto":
        return engine
    if hypergraph.n_incidences < GPU_FROM or find_spec("cupy") is None:
        return "cpu"
    from hyperclus.engines import cuda

    return "cuda" if cuda.missing() is None and cuda.fits(hypergraph, "float64", k) else "cpu"


def cuda_products(
    hypergraph: Hypergraph, alpha: float, precision: str, k: int
) -> "CudaProducts | CudaSourceProducts":
    """Copy a hypergraph to the GPU."""
    from hyperclus.engines import cuda

    if hypergraph.mixture is not None:
        cuda.check_present()
        from hyperclus.engines.cuda_sources import CudaSourceProducts

        return CudaSourceProducts.of(hypergraph, alpha, precision, k)
    return cuda.CudaProducts.of(hypergraph, alpha, precision, k)


def room_for_vectors(engine: str, hypergraph: Hypergraph, precision: str, k: int) -> bool:
    """Whether a GPU that has a hypergraph has room for vectors for k clusters; "auto" can do without."""
    from hyperclus.engines import cuda

    needed = cuda.bytes_of_vectors(hypergraph, k)
    if engine == "auto" and needed > cuda.bytes_free():
        return False
    cuda.check_room(needed, precision)
    return True


@contextmanager
def explained(precision: str) -> Iterator[None]:
    """Turn the errors of a GPU whose memory was not enough into an `InputError` that says what to do."""
    try:
        yield
    except Exception as error:
        if "cupy" not in sys.modules:
            raise
        from hyperclus.engines import cuda

        found = cuda.out_of_memory(error, precision)
        if found is None:
            raise
        raise found from None
