"""Real data with known groups that come with the package, and load without a network.

The tables of the paper, from the UCI Machine Learning Repository, and five hypergraphs. Every file is checked
by its sha256. docs/reference/datasets.md describes them; `Dataset.source` has licence, citation and address
of each.

>>> import hyperclus as hc
>>> data = hc.datasets.load("southern-women")
>>> data
Dataset('southern-women', k=2, Hypergraph(18 guests, 14 events, 89 incidences))
>>> hc.agreement(data.classes, hc.cluster(data.hypergraph, data.k).labels).ari
1.0
"""

from hyperclus.datasets.dataset import Dataset, fetch, files, folder, load, names, source, verify
from hyperclus.datasets.registry import Source

__all__ = ["Dataset", "Source", "fetch", "files", "folder", "load", "names", "source", "verify"]
