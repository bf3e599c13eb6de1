"""Type aliases for signatures: arrays, hypergraphs, seeds and policies."""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.integer[Any]]  # int32 if that is sufficient
Booleans: TypeAlias = NDArray[np.bool_]
Ids: TypeAlias = NDArray[Any]
Incidence: TypeAlias = "sp.csr_array[np.float64, tuple[int, int]]"
HypergraphLike: TypeAlias = Any  # whatever `hyperclus.as_hypergraph` accepts
Seed: TypeAlias = int | np.random.Generator | None

DuplicatePolicy: TypeAlias = Literal["error", "sum", "max"]
AbsencePolicy: TypeAlias = Literal["error", "drop", "keep"]
MissingPolicy: TypeAlias = Literal["error", "category", "drop"]


class PageNotes(TypedDict, total=False):
    """What a report says of its origin; see `Partition.to_html`."""

    command: str | None
    remarks: Iterable[str] | None
