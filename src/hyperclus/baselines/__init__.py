"""Other methods to compare with, each from a hypergraph to a `Partition` scored on its EDVW walk."""

from hyperclus.baselines.clique import clique
from hyperclus.baselines.diffeq import DiffEqCluster, diffeq, diffeq_best, diffeq_local
from hyperclus.baselines.hyperedge2vec import hyperedge2vec, hyperedge2vec_vectors
from hyperclus.baselines.node2vec import node2vec, node2vec_vectors
from hyperclus.baselines.star import star

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
