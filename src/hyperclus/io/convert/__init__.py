"""Conversion between `Hypergraph` and other libraries; docs/other_libraries.md says what each can hold.

All functions raise a `MissingLibraryError` if the library is not installed, and issue a `LossWarning` that
names what they leave out.
"""

from hyperclus.io.convert.hypergraphx import from_hypergraphx, to_hypergraphx
from hyperclus.io.convert.hypernetx import from_hypernetx, to_hypernetx
from hyperclus.io.convert.networkx import from_networkx, to_networkx
from hyperclus.io.convert.sknetwork import from_sknetwork, to_sknetwork
from hyperclus.io.convert.xgi import from_xgi, to_xgi

__all__ = [
    "from_hypergraphx",
    "from_hypernetx",
    "from_networkx",
    "from_sknetwork",
    "from_xgi",
    "to_hypergraphx",
    "to_hypernetx",
    "to_networkx",
    "to_sknetwork",
    "to_xgi",
]
