"""The paper's nine data sets, downloaded from the UCI Machine Learning Repository on first use.

>>> from hyperclus.research import datasets
>>> datasets.names()
('mushroom', 'rice', 'car', 'digit-24', 'covertype', 'zoo', 'wine-567', 'letter', 'digit')
"""

from hyperclus.research.datasets.dataset import Dataset, fetch, folder, load, names, source, verify
from hyperclus.research.datasets.registry import Source

__all__ = ["Dataset", "Source", "fetch", "folder", "load", "names", "source", "verify"]
