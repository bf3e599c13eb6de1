"""Clusters in hypergraphs whose vertices matter more to one hyperedge than to another.

>>> import hyperclus as hc
>>> h = hc.Hypergraph.from_edges([["a", "b", "c"], ["b", "c"], ["c", "d"], ["d", "e"], ["d", "e", "f"]])
>>> part = hc.cluster(h, k=2)
>>> round(part.ncut, 4), round(part.lower_bound, 4)
(0.1667, 0.1323)
"""

from hyperclus import baselines, datasets, io
from hyperclus.binning import Bins
from hyperclus.certificate import cheeger_interval, ncut_lower_bound
from hyperclus.checkpoint import checkpoints
from hyperclus.cluster import cluster, evaluate, refine
from hyperclus.cut import Cut, Sweep, cut, sweep
from hyperclus.eigen import Eigenpairs, smallest_eigenpairs
from hyperclus.engines.scattered.prepared import Prepared
from hyperclus.errors import (
    ClusterError,
    ConvergenceError,
    DownloadError,
    HyperclusError,
    InputError,
    LossWarning,
    MissingLibraryError,
)
from hyperclus.far import prepare
from hyperclus.hypergraph import Hypergraph
from hyperclus.io.formats import read, write
from hyperclus.laplacian import Laplacian, NormalizedLaplacian, rayleigh_quotient
from hyperclus.local import LocalCluster, local_cluster, pagerank, quick_walk
from hyperclus.metrics import Agreement, agreement
from hyperclus.partition import Partition
from hyperclus.progress import Step, watching
from hyperclus.stationary import StationaryLaw
from hyperclus.stored import StoredPartition
from hyperclus.suggest import Candidate, Suggestion, suggest_k
from hyperclus.summary import Summary, summary
from hyperclus.tight_bound import TightBound, tight_bound
from hyperclus.walk import RandomWalk
from hyperclus.weighting import class_counts, ones

__version__ = "0.1.0"

__all__ = [
    "Agreement",
    "Bins",
    "Candidate",
    "ClusterError",
    "ConvergenceError",
    "Cut",
    "DownloadError",
    "Eigenpairs",
    "HyperclusError",
    "Hypergraph",
    "InputError",
    "Laplacian",
    "LocalCluster",
    "LossWarning",
    "MissingLibraryError",
    "NormalizedLaplacian",
    "Partition",
    "Prepared",
    "RandomWalk",
    "StationaryLaw",
    "Step",
    "StoredPartition",
    "Suggestion",
    "Summary",
    "Sweep",
    "TightBound",
    "agreement",
    "baselines",
    "checkpoints",
    "cheeger_interval",
    "class_counts",
    "cluster",
    "cut",
    "datasets",
    "evaluate",
    "io",
    "local_cluster",
    "ncut_lower_bound",
    "ones",
    "pagerank",
    "prepare",
    "quick_walk",
    "rayleigh_quotient",
    "read",
    "refine",
    "smallest_eigenpairs",
    "suggest_k",
    "summary",
    "sweep",
    "tight_bound",
    "watching",
    "write",
]
