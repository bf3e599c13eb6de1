"""Other methods to compare with, each from a hypergraph to a `Partition` scored on its EDVW walk."""

from hyperclus.research.baselines.clique import clique
from hyperclus.research.baselines.diffeq import DiffEqCluster, diffeq, diffeq_best, diffeq_local
from hyperclus.research.baselines.hyperedge2vec import hyperedge2vec, hyperedge2vec_vectors
from hyperclus.research.baselines.node2vec import node2vec, node2vec_vectors
from hyperclus.research.baselines.star import star

__all__ = [
    "DiffEqCluster",
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
