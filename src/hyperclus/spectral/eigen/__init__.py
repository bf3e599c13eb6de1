"""The smallest eigenpairs of L_sym: one method per file, and the choice between them."""

from hyperclus.spectral.eigen.choose import smallest_eigenpairs
from hyperclus.spectral.eigen.result import Eigenpairs

__all__ = ["Eigenpairs", "smallest_eigenpairs"]
