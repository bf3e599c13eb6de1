"""hypergraphx: HySC, with dense matrices."""

import numpy as np
from hypergraphx import Hypergraph
from hypergraphx.communities.hy_sc.model import HySC
from problem import Problem


def labels(problem: Problem) -> np.ndarray:
    """Rows come in the order of its mapping; `weighted_L=True` would take omega, but not into the degrees."""
    h = Hypergraph([tuple(members) for members in problem.members()], weighted=False)
    found = np.empty(problem.n_vertices, dtype=np.int64)
    found[np.array(h.get_mapping().classes_)] = HySC(seed=0).fit(h, 2).argmax(axis=1)
    return found
