"""Random generators from seeds."""

import numpy as np

from hyperclus.errors import InputError
from hyperclus.typing import Seed


def random_generator(seed: Seed) -> np.random.Generator:
    """Return the generator of a seed; anything but an integer, a Generator or None is an `InputError`."""
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0
    if not (whole or seed is None or isinstance(seed, np.random.Generator)):
        raise InputError(f"seed must be a whole number from 0, a NumPy Generator or None; got {seed!r}")
    return np.random.default_rng(seed)
