"""Methods to compare with; each returns a `Partition` scored on the EDVW walk."""

from hyperclus.research.baselines.diffeq import DiffEqCluster, diffeq, diffeq_best, diffeq_local
from hyperclus.research.baselines.expansions import clique, star
from hyperclus.research.baselines.hyperedge2vec import (
    AutoEncoderOptions,
    hyperedge2vec,
    hyperedge2vec_vectors,
)
from hyperclus.research.baselines.node2vec import Node2VecOptions, node2vec, node2vec_vectors

__all__ = [
    "AutoEncoderOptions",
    "DiffEqCluster",
    "Node2VecOptions",
    "clique",
    "diffeq",
    "diffeq_best",
    "diffeq_local",
    "hyperedge2vec",
    "hyperedge2vec_vectors",
    "node2vec",
    "node2vec_vectors",
    "star",
]
