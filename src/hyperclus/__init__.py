"""Clusters in hypergraphs whose vertices matter more to one hyperedge than to another.

>>> import hyperclus as hc
>>> h = hc.Hypergraph.from_edges([["a", "b", "c"], ["b", "c"], ["c", "d"], ["d", "e"], ["d", "e", "f"]])
>>> part = hc.cluster(h, k=2)
>>> round(part.ncut, 4), round(part.lower_bound, 4)
(0.1667, 0.1323)
"""

from hyperclus import io
from hyperclus._runtime.checkpoint import checkpoints
from hyperclus._runtime.progress import Step, watching
from hyperclus.clustering.cluster import cluster, evaluate, refine
from hyperclus.clustering.cluster_files import prepare
from hyperclus.clustering.cut import Cut, Sweep, cut, sweep
from hyperclus.clustering.local import LocalCluster, local_cluster, pagerank, quick_walk
from hyperclus.clustering.metrics import Agreement, agreement
from hyperclus.clustering.n_clusters import Candidate, Suggestion, suggest_k
from hyperclus.clustering.partition import Partition
from hyperclus.clustering.stored import StoredPartition
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.errors import (
    ClusterError,
    ConvergenceError,
    DownloadError,
    HyperclusError,
    InputError,
    LossWarning,
    MissingLibraryError,
)
from hyperclus.hypergraph.binning import Bins
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.summary import Summary, summary
from hyperclus.hypergraph.weighting import class_counts, ones
from hyperclus.io.formats import read, write
from hyperclus.research import baselines, datasets
from hyperclus.spectral.bounds import cheeger_interval, ncut_lower_bound
from hyperclus.spectral.eigen import Eigenpairs, smallest_eigenpairs
from hyperclus.spectral.laplacian import Laplacian, NormalizedLaplacian, rayleigh_quotient
from hyperclus.spectral.sdp_bound import TightBound, tight_bound
from hyperclus.spectral.stationary import StationaryDistribution
from hyperclus.spectral.walk import RandomWalk

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
    "StationaryDistribution",
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
