"""The choice of an engine: where the incidences and vectors of a walk live.

"cpu" is host memory, "cuda" an NVIDIA GPU, "dask" the workers of a cluster. Everything else, from the
stationary distribution to the search for clusters, is the same code on other arrays.
"""

from importlib.util import find_spec
from typing import Literal, TypeAlias

from hyperclus.engines.base import IncidenceProducts
from hyperclus.errors import Argument, InputError, check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph

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


def cuda_products(hypergraph: Hypergraph, alpha: float, precision: str, k: int) -> IncidenceProducts:
    """Copy a hypergraph to the GPU."""
    from hyperclus.engines import cuda

    return cuda.CudaProducts.of(hypergraph, alpha, precision, k)
