"""The warning for what a file format or another library cannot hold."""

import warnings
from collections.abc import Iterable

from hyperclus.errors import LossWarning


def warn_losses(holder: str, losses: Iterable[str], remedy: str = "left out", *, stacklevel: int = 3) -> None:
    """Issue one `LossWarning` that names everything `holder` cannot hold; none if nothing is lost.

    `losses` are words, of which empty ones are ignored. By default the warning points to the caller of the
    function that calls this one.

    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     warn_losses("a.hgr: an hMETIS file", ["the vertex ids", "", "the hyperedge ids"])
    >>> print(caught[0].message)
    a.hgr: an hMETIS file cannot hold the vertex ids, the hyperedge ids; left out
    """
    if lost := ", ".join(filter(None, losses)):
        warnings.warn(f"{holder} cannot hold {lost}; {remedy}", LossWarning, stacklevel=stacklevel)
