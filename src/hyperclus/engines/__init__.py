"""Where a walk lives. An engine brings the incidences somewhere and gives the passes over them there.

"cpu" is the memory of the host, "cuda" that of an NVIDIA GPU, "dask" (`scattered`) that of the workers of a
cluster. Everything else, from the stationary law to the moves of vertices, is the same code on other arrays.
"""

from importlib.util import find_spec
from typing import Literal, TypeAlias

from hyperclus.engines import cuda
from hyperclus.engines.base import IncidenceProducts
from hyperclus.errors import Argument, InputError, check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph

InMemory: TypeAlias = Literal["auto", "cpu", "cuda"]
Engine: TypeAlias = InMemory | Literal["dask"]
Precision: TypeAlias = Literal["float64", "float32"]

PAYS_FROM = 3_000_000  # incidences from which "auto" takes a GPU: below, to start it takes longer


def check_engine(engine: str, precision: str) -> None:
    """Refuse an unknown engine, and a precision that the engine does not have."""
    if engine == "dask":
        raise InputError("there is no engine 'dask' here; hc.cluster_files clusters Parquet files with Dask")
    check_choice("engine", engine, ("auto", "cpu", "cuda"))
    check_choice("precision", precision, ("float64", "float32"))
    if precision == "float32" and engine != "cuda":
        precise, gpu = Argument("precision", "float32"), Argument("engine", "cuda")
        raise InputError(precise, " needs ", gpu, "; leave it out, or add the engine")


def chosen(engine: str, hypergraph: Hypergraph, k: int) -> str:
    """The engine, where it is "auto" after a look at what there is: a GPU, room on it, enough to do."""
    if engine != "auto":
        return engine
    if hypergraph.n_incidences < PAYS_FROM or find_spec("cupy") is None:
        return "cpu"
    return "cuda" if cuda.missing() is None and cuda.fits(hypergraph, "float64", k) else "cpu"


def device_products(
    engine: str, precision: str, hypergraph: Hypergraph, alpha: float, k: int
) -> IncidenceProducts:
    """The passes over a hypergraph that is brought to an engine other than the CPU."""
    assert engine == "cuda"
    return cuda.CudaProducts.of(hypergraph, alpha, precision, k)
