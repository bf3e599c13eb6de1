"""The paper: its data sets, its competitors, and its tables."""

from typing import TYPE_CHECKING

from hyperclus._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from hyperclus.research import baselines as baselines
    from hyperclus.research import datasets as datasets
    from hyperclus.research import paper as paper

__all__, __getattr__, __dir__ = lazy_names(__name__, {}, submodules=("baselines", "datasets", "paper"))
