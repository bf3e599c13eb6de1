"""hyperclus with the least effort."""

import numpy as np
from problem import Problem

from methods import hyperclus_default


def labels(problem: Problem) -> np.ndarray:
    """Return labels of `cluster` with `effort="fast"`."""
    return hyperclus_default.labels(problem, effort="fast")
