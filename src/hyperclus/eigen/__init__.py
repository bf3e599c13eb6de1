"""The smallest eigenpairs of L_sym: one method per file, and the choice between them."""

from hyperclus.eigen.pairs import Eigenpairs
from hyperclus.eigen.solve import smallest_eigenpairs

__all__ = ["Eigenpairs", "smallest_eigenpairs"]
