"""Names for the array types that appear in signatures."""

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hyperclus.errors import InputError

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.integer[Any]]  # int32 where that is enough
Booleans: TypeAlias = NDArray[np.bool_]
Ids: TypeAlias = NDArray[Any]
Incidence: TypeAlias = "sp.csr_array[np.float64, tuple[int, int]]"
Seed: TypeAlias = int | np.random.Generator | None

DuplicatePolicy: TypeAlias = Literal["error", "sum", "max"]
AbsencePolicy: TypeAlias = Literal["error", "drop", "keep"]
MissingPolicy: TypeAlias = Literal["error", "category", "drop"]


def random_generator(seed: Seed) -> np.random.Generator:
    """The generator of a seed; anything but a whole number, a Generator or None is an `InputError`."""
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0
    if not (whole or seed is None or isinstance(seed, np.random.Generator)):
        raise InputError(f"seed must be a whole number from 0, a NumPy Generator or None; got {seed!r}")
    return np.random.default_rng(seed)
