"""From eigenpairs to a partition: initial partitions, searches, cuts, number of clusters, local clusters."""

from typing import TYPE_CHECKING

from hyperclus._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from hyperclus.clustering.attributed import with_attributes as with_attributes
    from hyperclus.clustering.chance import Chance as Chance
    from hyperclus.clustering.comparison import Comparison as Comparison
    from hyperclus.clustering.cut import Cut as Cut
    from hyperclus.clustering.cut import Sweep as Sweep
    from hyperclus.clustering.description import Description as Description
    from hyperclus.clustering.description import TopHyperedges as TopHyperedges
    from hyperclus.clustering.description import TopVertices as TopVertices
    from hyperclus.clustering.local import quick_walk as quick_walk
    from hyperclus.clustering.membership import Confidence as Confidence
    from hyperclus.clustering.metrics import Agreement as Agreement
    from hyperclus.clustering.model import Model as Model
    from hyperclus.clustering.model import Prediction as Prediction
    from hyperclus.clustering.n_clusters import Candidate as Candidate
    from hyperclus.clustering.n_clusters import Suggestion as Suggestion
    from hyperclus.clustering.profile import ColumnProfile as ColumnProfile
    from hyperclus.clustering.profile import Profile as Profile
    from hyperclus.clustering.search_problem import Effort as Effort
    from hyperclus.clustering.stability import Stability as Stability
    from hyperclus.clustering.tree import Tree as Tree

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "attributed": ("with_attributes",),
        "chance": ("Chance",),
        "comparison": ("Comparison",),
        "cut": ("Cut", "Sweep"),
        "description": ("Description", "TopHyperedges", "TopVertices"),
        "local": ("quick_walk",),
        "membership": ("Confidence",),
        "metrics": ("Agreement",),
        "model": ("Model", "Prediction"),
        "n_clusters": ("Candidate", "Suggestion"),
        "profile": ("ColumnProfile", "Profile"),
        "search_problem": ("Effort",),
        "stability": ("Stability",),
        "tree": ("Tree",),
    },
)
