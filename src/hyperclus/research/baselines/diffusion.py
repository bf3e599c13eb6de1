"""Kernels of DiffEq: steps of the diffusion for a block of columns, and the sweep of one column.

The loops are in `_native/diffusion.h`, with what they compute.
"""

from dataclasses import dataclass
from typing import ClassVar

from hyperclus._runtime.native import Kernel, Kind, Record
from hyperclus.typing import Codes, Floats

COLUMNS = 32  # of a block, also in diffusion.h: with more y does not fit the cache


@dataclass(frozen=True, eq=False)
class Network(Record):
    """The hypergraph by hyperedge and by vertex; weights are omega, degrees d.

    Every vertex is in a hyperedge and every hyperedge has a member.
    """

    KINDS: ClassVar[tuple[Kind, ...]] = (
        *("indices", "indices", "indices", "indices", "floats", "floats", "int", "int"),
    )

    edge_indptr: Codes
    members: Codes
    indptr: Codes
    edges: Codes
    weights: Floats
    degrees: Floats
    n_vertices: int
    n_edges: int


diffuse = Kernel(
    "diffuse", "record", "floats", "floats", "int", "float", "bool", "floats", "floats", "floats"
)
best_prefix = Kernel("best_prefix", "record", "integers", "int", "float", "float", "floats", returns="int")
