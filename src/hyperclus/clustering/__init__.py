"""From eigenpairs to a partition: initial partitions, searches, cuts, number of clusters, local clusters."""

from typing import TYPE_CHECKING

from hyperclus._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from hyperclus.clustering.chance import Chance as Chance
    from hyperclus.clustering.cut import Cut as Cut
    from hyperclus.clustering.cut import Sweep as Sweep
    from hyperclus.clustering.local import quick_walk as quick_walk
    from hyperclus.clustering.metrics import Agreement as Agreement
    from hyperclus.clustering.n_clusters import Candidate as Candidate
    from hyperclus.clustering.n_clusters import Suggestion as Suggestion
    from hyperclus.clustering.search_problem import Effort as Effort
    from hyperclus.clustering.tree import Tree as Tree

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "chance": ("Chance",),
        "cut": ("Cut", "Sweep"),
        "local": ("quick_walk",),
        "metrics": ("Agreement",),
        "n_clusters": ("Candidate", "Suggestion"),
        "search_problem": ("Effort",),
        "tree": ("Tree",),
    },
)
