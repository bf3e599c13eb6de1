"""From a hypergraph to its random walk, its eigenpairs and what they prove about every partition."""

from typing import TYPE_CHECKING

from hyperclus._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from hyperclus.spectral.bounds import cheeger_interval as cheeger_interval
    from hyperclus.spectral.bounds import ncut_lower_bound as ncut_lower_bound
    from hyperclus.spectral.laplacian import Laplacian as Laplacian
    from hyperclus.spectral.laplacian import rayleigh_quotient as rayleigh_quotient
    from hyperclus.spectral.sdp_bound import TightBound as TightBound
    from hyperclus.spectral.sdp_bound import tight_bound as tight_bound
    from hyperclus.spectral.stationary import StationaryDistribution as StationaryDistribution

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "bounds": ("cheeger_interval", "ncut_lower_bound"),
        "laplacian": ("Laplacian", "rayleigh_quotient"),
        "sdp_bound": ("TightBound", "tight_bound"),
        "stationary": ("StationaryDistribution",),
    },
)
