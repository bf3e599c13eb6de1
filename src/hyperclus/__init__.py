"""Cluster hypergraphs with edge-dependent vertex weights.

>>> import hyperclus as hc
>>> h = hc.Hypergraph.from_edges([["a", "b", "c"], ["b", "c"], ["c", "d"], ["d", "e"], ["d", "e", "f"]])
>>> part = hc.cluster(h, k=2)
>>> round(part.ncut, 4), round(part.lower_bound, 4)
(0.1667, 0.1323)

Names are imported on first use, so `import hyperclus` is fast and loads no engine that is not used.
"""

from typing import TYPE_CHECKING

from hyperclus._runtime.lazy import lazy_names

if TYPE_CHECKING:
    # isort: off
    from hyperclus import clustering as clustering, datasets as datasets, io as io
    from hyperclus import research as research, spectral as spectral
    from hyperclus._runtime.checkpoint import checkpoints as checkpoints
    from hyperclus._runtime.progress import Step as Step, watching as watching
    from hyperclus.clustering.cluster import cluster as cluster, evaluate as evaluate, refine as refine
    from hyperclus.clustering.cluster_files import cluster_files as cluster_files, prepare as prepare
    from hyperclus.clustering.comparison import compare as compare
    from hyperclus.clustering.consensus import consensus as consensus
    from hyperclus.clustering.constraints import Constraints as Constraints
    from hyperclus.clustering.cut import cut as cut, sweep as sweep
    from hyperclus.clustering.hyperclus_g import hyperclus_g as hyperclus_g
    from hyperclus.clustering.local import local_cluster as local_cluster, pagerank as pagerank
    from hyperclus.clustering.local_result import LocalCluster as LocalCluster
    from hyperclus.clustering.metrics import agreement as agreement
    from hyperclus.clustering.model import load as load
    from hyperclus.clustering.n_clusters import suggest_k as suggest_k
    from hyperclus.clustering.partition import Partition as Partition, StoredPartition as StoredPartition
    from hyperclus.clustering.stability import stability as stability
    from hyperclus.clustering.tree import tree as tree
    from hyperclus.errors import ClusterError as ClusterError, ConvergenceError as ConvergenceError
    from hyperclus.errors import HyperclusError as HyperclusError
    from hyperclus.errors import InputError as InputError, LossWarning as LossWarning
    from hyperclus.errors import MissingLibraryError as MissingLibraryError
    from hyperclus.hypergraph.binning import Bins as Bins
    from hyperclus.hypergraph.hypergraph import Hypergraph as Hypergraph
    from hyperclus.hypergraph.summary import summary as summary
    from hyperclus.hypergraph.weighting import class_counts as class_counts, unit_weights as unit_weights
    from hyperclus.io.anything import as_hypergraph as as_hypergraph
    from hyperclus.io.formats import read as read, write as write
    from hyperclus.spectral.eigen import Eigenpairs as Eigenpairs, smallest_eigenpairs as smallest_eigenpairs
    from hyperclus.spectral.laplacian import NormalizedLaplacian as NormalizedLaplacian
    from hyperclus.spectral.walk import RandomWalk as RandomWalk
    from hyperclus.verification.verify import verify as verify

__version__ = "1.0.0rc1"

_ERRORS = ("ClusterError", "ConvergenceError", "HyperclusError", "InputError")
__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_runtime.checkpoint": ("checkpoints",),
        "_runtime.progress": ("Step", "watching"),
        "clustering.cluster": ("cluster", "evaluate", "refine"),
        "clustering.cluster_files": ("cluster_files", "prepare"),
        "clustering.comparison": ("compare",),
        "clustering.consensus": ("consensus",),
        "clustering.constraints": ("Constraints",),
        "clustering.cut": ("cut", "sweep"),
        "clustering.hyperclus_g": ("hyperclus_g",),
        "clustering.local": ("local_cluster", "pagerank"),
        "clustering.local_result": ("LocalCluster",),
        "clustering.metrics": ("agreement",),
        "clustering.model": ("load",),
        "clustering.n_clusters": ("suggest_k",),
        "clustering.partition": ("Partition", "StoredPartition"),
        "clustering.stability": ("stability",),
        "clustering.tree": ("tree",),
        "errors": (*_ERRORS, "LossWarning", "MissingLibraryError"),
        "hypergraph.binning": ("Bins",),
        "hypergraph.hypergraph": ("Hypergraph",),
        "hypergraph.summary": ("summary",),
        "hypergraph.weighting": ("class_counts", "unit_weights"),
        "io.anything": ("as_hypergraph",),
        "io.formats": ("read", "write"),
        "spectral.eigen": ("Eigenpairs", "smallest_eigenpairs"),
        "spectral.laplacian": ("NormalizedLaplacian",),
        "spectral.walk": ("RandomWalk",),
        "verification.verify": ("verify",),
    },
    submodules=("clustering", "datasets", "io", "research", "spectral"),
)
