"""The warning for what a file format or another library cannot hold."""

import warnings
from collections.abc import Iterable

from hyperclus.errors import LossWarning


def warn_losses(holder: str, losses: Iterable[str], remedy: str = "left out", *, stacklevel: int = 3) -> None:
    """Issue one `LossWarning` that names everything `holder` cannot hold; none if nothing is lost.

    Parameters
    ----------
    holder : str
        The format or library, after the name of the file if there is one.
    losses : iterable of str
        What is lost, in words; empty text is ignored.
    stacklevel : int
        As in `warnings.warn`; 3 is the caller of the function that calls this one.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     warn_losses("a.hgr: an hMETIS file", ["the vertex ids", "", "the hyperedge ids"])
    >>> print(caught[0].message)
    a.hgr: an hMETIS file cannot hold the vertex ids, the hyperedge ids; left out
    """
    if lost := ", ".join(filter(None, losses)):
        warnings.warn(f"{holder} cannot hold {lost}; {remedy}", LossWarning, stacklevel=stacklevel)
