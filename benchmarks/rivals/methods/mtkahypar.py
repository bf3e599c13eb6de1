"""Mt-KaHyPar: a multilevel partitioner."""

import os

import mtkahypar
import numpy as np
from problem import Problem

PARTITIONER = mtkahypar.initialize(os.cpu_count() or 1)


def labels(problem: Problem) -> np.ndarray:
    """Two blocks of equal size within three per cent; weights must be integers."""
    mtkahypar.set_seed(0)
    context = PARTITIONER.context_from_preset(mtkahypar.PresetType.DEFAULT)
    context.set_partitioning_parameters(2, 0.03, mtkahypar.Objective.KM1)
    context.logging = False
    h = PARTITIONER.create_hypergraph(
        context,
        problem.n_vertices,
        problem.n_edges,
        problem.members(),
        [1] * problem.n_vertices,
        np.rint(1000 * problem.omega).astype(int).tolist(),
    )
    return np.array(h.partition(context).get_partition())
