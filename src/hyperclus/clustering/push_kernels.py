"""Kernels of local clustering: push mass from vertex to hyperedge to vertex, sweep, move single vertices.

The loops are in `_native/push.h` and `_native/sweep.h`, with what they compute.
"""

from dataclasses import dataclass
from typing import ClassVar

from hyperclus._runtime.native import Kernel, Kind, Record
from hyperclus.typing import Booleans, Codes, Floats, Integers

REACHED, STORED, QUEUED = 0, 1, 2  # indices into Side.counts
TINY = 1e-300  # replaces a volume that rounding made 0
NOT_COPIED = -1  # in Side.start


@dataclass(frozen=True, eq=False)
class Side(Record):
    """The vertices or the hyperedges: the whole walk, and the nodes that mass has reached."""

    KINDS: ClassVar[tuple[Kind, ...]] = (
        *("indices", "indices", "floats", "floats", "floats", "floats", "indices"),
        *("integers", "floats", "floats", "floats", "integers", "integers", "integers", "booleans"),
        *("indices", "floats", "floats", "integers"),
    )

    # the whole walk: row i goes to indices[j] with weights[j] scale[i]
    indptr: Codes
    indices: Codes
    weights: Floats  # gamma^alpha for vertices, gamma for hyperedges
    scale: Floats  # 1 / d, omega / delta
    back_weights: Floats  # the weights of the other side
    whole_distribution: Floats  # phi, psi / omega
    number: Codes  # 1 + the number of a reached node, 0 for all others
    # for each reached node:
    position: Integers  # in the whole walk
    distribution: Floats
    estimate: Floats  # p for vertices, unused for hyperedges
    residual: Floats  # r for vertices, q / omega for hyperedges
    start: Integers  # where its row was copied to, or NOT_COPIED
    stop: Integers
    queue: Integers  # the nodes to push, in order
    queued: Booleans  # whether it is among them
    # for each copied entry:
    neighbor: Codes  # number of the node at the other end
    forward: Floats  # weight there
    backward: Floats  # weight back
    counts: Integers  # the numbers of nodes REACHED, entries STORED and nodes QUEUED


reach_seeds = Kernel("reach_seeds", "record", "record", "integers", "int")
push = Kernel("push", "record", "record", "float", "float", "int", returns="int")
sweep_over = Kernel("sweep_over", "record", "integers", "int", "floats", "floats", "floats", "floats")
descend_set = Kernel(
    *("descend_set", "record", "integers", "int", "booleans", "int", "int", "float", "int"),
    *("floats", "floats", "float", "float"),
    returns="int",
)
dips = Kernel("dips", "floats", "int", "float", "integers", returns="int")
