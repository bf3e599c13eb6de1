"""The k smallest eigenpairs of L_sym by the method that is expected to be fastest."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from hyperclus._runtime.checkpoint import Checkpoint, check_seed
from hyperclus._runtime.progress import report_progress
from hyperclus._runtime.random import random_generator
from hyperclus._runtime.threads import scipy_linalg, single_blas_thread
from hyperclus.errors import ConvergenceError, InputError, check_integer, check_number
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.eigen.inertia import counted_bounds
from hyperclus.spectral.eigen.lanczos import MAX_PRODUCTS, Lanczos, Vectors, lanczos_vectors
from hyperclus.spectral.eigen.null_space import zero_vectors
from hyperclus.spectral.eigen.result import Eigenpairs, stored_pairs_fit, with_residuals
from hyperclus.spectral.eigen.shift_invert import FACTORISATION_UP_TO, Inverse, is_thin, polished
from hyperclus.spectral.eigen.small_side import small_side_vectors
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Seed

METHODS = ("auto", "dense", "small side", "lanczos", "shift-invert")
PATIENCE = 600  # products after which "auto" tries shift-invert if the hypergraph is thin,
PATIENCE_EACH = 20  # and this many more for each eigenvector
MIN_PROVEN = 0.9  # share of the sum of the eigenvalues that Lanczos should prove, else shift-invert is tried
FILTERED_FROM = 33  # eigenvectors from which Lanczos takes less time on a filter,
FILTERED_SHARE = 4  # if there are this many times as many vertices
BRIEFLY = 300  # solves with which shift-invert is then tried
SMALL = 100  # vertices up to which NumPy's solver, for all eigenvectors, is about as fast as SciPy's for some
TINY_MASS = 1e-60  # phi below which the small-side method would overflow
SHARPER = 64  # times lower tolerance of a second try by shift-invert
SECONDS = {  # per unit of the work that `work` counts; measured by benchmarks/eigen_cost.py
    "lanczos": (6.0e-05, 1.9e-09, 2.7e-09),
    "dense": (5.5e-04, 4.4e-09, 7.7e-11),
    "small side": (1.9e-03, 9.3e-09, 6.0e-10),
}


@single_blas_thread
def smallest_eigenpairs(
    laplacian: NormalizedLaplacian,
    k: int,
    *,
    tolerance: float = 1e-8,
    seed: Seed = 0,
    method: str = "auto",
    spare: int = 0,
) -> Eigenpairs:
    """The k smallest eigenpairs of L_sym.

    The zero eigenvalues, one per component, are known exactly and deflated.

    Parameters
    ----------
    tolerance : float
        Largest residual ||L z - lambda z|| allowed.
    seed : int, Generator or None
        Of the start vectors of "lanczos"; the same seed gives the same result.
    method : {"auto", "dense", "small side", "lanczos", "shift-invert"}
        "auto" takes the one of the first three that a measured cost model expects to be fastest,
        and shift-invert where Lanczos converges slowly. The result says which it was.
    spare : int
        Up to this many rough approximations of the next eigenvectors are returned at no cost, in `spare` of
        the result.

    Raises
    ------
    ConvergenceError
        When a residual stays above the tolerance; it carries the residual reached.
    """
    if not isinstance(laplacian, NormalizedLaplacian):
        raise InputError(f"a NormalizedLaplacian of a walk is needed, not {type(laplacian).__name__}")
    check_integer("k", k)
    if k > laplacian.size:
        raise InputError(f"k must be between 1 and the number of vertices, {laplacian.size}; got {k}")
    check_number("tolerance", tolerance, above=0)
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    if method == "small side" and not fits_small_side(laplacian, k):
        raise InputError("the small-side method needs at least 2|E| + k vertices; use 'lanczos' or 'auto'")
    check_seed(seed)
    walk, backend = laplacian.walk, laplacian.backend
    known = zero_vectors(backend, walk.stationary, walk.distribution.components, k)
    if known.shape[1] == k:
        report_progress("eigenvectors", 0, "products", 1.0, "known")
        return with_residuals(laplacian, known, Vectors(known[:, :0], 0, np.inf), 0, "known")
    spare, rng = min(spare, laplacian.size - k), random_generator(seed)
    inputs = (walk.hypergraph, walk.alpha, walk.stationary, k, tolerance, method, spare)
    checkpoint = backend.open_checkpoint("eigenvectors", *inputs, rng=rng)
    kept = checkpoint.result(partial(stored_pairs_fit, laplacian, k, spare))
    if kept is None:
        problem = _Problem(laplacian, known, k - known.shape[1], tolerance, rng, spare, checkpoint)
        pairs = problem.solve(method) if backend.on_host else problem.solve_by_products()
        kept = checkpoint.finish(**{name: getattr(pairs, name) for name in Eigenpairs.__slots__})
    pairs = Eigenpairs(**kept)
    report_progress("eigenvectors", pairs.steps, "products", 1.0, pairs.method)
    worst = float(pairs.residuals.max())
    if worst > tolerance:
        raise ConvergenceError(f"the eigenvectors reached residual {worst:.1e}, not {tolerance:.1e}", worst)
    return pairs


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """`count` eigenvectors beyond the known ones, then spare ones."""

    laplacian: NormalizedLaplacian
    known: Floats
    count: int
    tolerance: float
    rng: np.random.Generator
    spare: int
    checkpoint: Checkpoint

    @property
    def k(self) -> int:
        """The number of eigenpairs, with the known ones."""
        return int(self.known.shape[1]) + self.count

    @property
    def has_alternative(self) -> bool:
        """Whether another method is feasible if Lanczos converges slowly."""
        return self.laplacian.walk.hypergraph.n_incidences <= FACTORISATION_UP_TO

    @property
    def patience(self) -> int:
        """Products after which another method is tried, if one is feasible."""
        return PATIENCE + PATIENCE_EACH * self.count if self.has_alternative else MAX_PRODUCTS

    def solve(self, method: str) -> Eigenpairs:
        """Solve on the host."""
        chosen = cheapest(self.laplacian, self.k, self.count) if method == "auto" else method
        report_progress("eigenvectors", 0, "products", 0.0, chosen)
        if chosen == "dense":
            raised = 3.0 * (self.known @ self.known.T)  # moves the known ones above all others, in [0, 2]
            vectors = _lowest_vectors(self.laplacian.dense() + raised, self.count + self.spare)
            found = Vectors(vectors, 0, np.inf)
        elif chosen == "small side":
            room = self.laplacian.size - 2 * self.laplacian.walk.hypergraph.n_edges - self.k
            vectors = small_side_vectors(self.laplacian, self.known, self.count + min(self.spare, room))
            found = Vectors(vectors, 0, np.inf)
        elif chosen == "shift-invert":
            return self._shift_invert()
        elif method == "lanczos":
            found = self._lanczos("hasty", MAX_PRODUCTS)
        else:
            return self._lanczos_or_shift_invert()
        return self._pairs(found, chosen)

    def solve_by_products(self) -> Eigenpairs:
        """Solve by Lanczos where the vectors are; if it converges slowly, on the host after all."""
        walk, backend = self.laplacian.walk, self.laplacian.backend
        width = backend.block_width(self.count, walk.hypergraph.n_incidences)
        try:
            return self._pairs(self._lanczos("first", self.patience, width), "lanczos")
        except ConvergenceError:
            settings = (walk.alpha, self.k, self.tolerance, self.spare, self.rng)
            found = (
                backend.run_on_one(_pairs_of, walk.hypergraph, *settings) if self.has_alternative else None
            )
            if found is None:
                raise
            return Eigenpairs(**found)

    def _pairs(self, found: Vectors, method: str) -> Eigenpairs:
        return with_residuals(self.laplacian, self.known, found, self.count, method)

    def _lanczos_or_shift_invert(self) -> Eigenpairs:
        """Lanczos; if it converges slowly or proves little, and the hypergraph is thin, shift-invert."""
        pairs = self._hasty()
        if pairs is not None and pairs.lower.sum() >= MIN_PROVEN * pairs.values.sum():
            return pairs
        if self.has_alternative and is_thin(self.laplacian):
            try:
                inverse = self._shift_invert(MAX_PRODUCTS if pairs is None else BRIEFLY)
                if pairs is None or inverse.residuals.max() <= self.tolerance:
                    return inverse
            except ConvergenceError:
                if pairs is None:
                    raise
        return pairs or self._pairs(self._lanczos("patient", MAX_PRODUCTS), "lanczos")

    def _hasty(self) -> Eigenpairs | None:
        """Lanczos, on a filter if there are many eigenvectors; None if there is something else to try."""
        filtered = self.count >= FILTERED_FROM and self.laplacian.size >= FILTERED_SHARE * self.count
        try:
            pairs = self._pairs(self._lanczos("hasty", self.patience, filtered=filtered), "lanczos")
        except ConvergenceError:
            if filtered or self.has_alternative:
                return None
            raise
        return None if filtered and pairs.residuals.max() > self.tolerance else pairs

    def _lanczos(
        self, part: str, max_products: int, width: int | None = None, filtered: bool = False
    ) -> Vectors:
        options = Lanczos(max_products, self.spare, width, lazy=True, filtered=filtered)
        given = self.laplacian, self.known, self.count, self.tolerance, self.rng
        return lanczos_vectors(*given, options, self.checkpoint.part(part))

    def _shift_invert(self, max_products: int = MAX_PRODUCTS) -> Eigenpairs:
        """Shift-invert; if rounding hid a residual of L_sym, with a lower tolerance, and then polished."""
        inverse, options, steps = Inverse(self.laplacian.walk), Lanczos(max_products, self.spare), 0
        for part, tolerance in (("inverse", self.tolerance), ("again", self.tolerance / SHARPER)):
            given = inverse, self.known, self.count, tolerance / 4, self.rng
            found = lanczos_vectors(*given, options, self.checkpoint.part(part))
            steps += found.steps
            pairs = self._pairs(found, "shift-invert")
            if pairs.residuals.max() <= self.tolerance:
                break
        else:
            vectors, tolerance = found.vectors, self.tolerance / 2
            vectors = polished(self.laplacian, self.known, vectors, self.count, tolerance)
            pairs = self._pairs(found._replace(vectors=vectors), "shift-invert")
        lower = counted_bounds(self.laplacian.walk, pairs.values, pairs.residuals)
        return replace(pairs, steps=steps, lower=lower, failure=0.0)


def _lowest_vectors(matrix: Floats, count: int) -> Floats:
    """The eigenvectors of the smallest eigenvalues."""
    if len(matrix) <= SMALL:
        return np.linalg.eigh(matrix)[1][:, :count]
    return np.asarray(scipy_linalg().eigh(matrix, subset_by_index=[0, count - 1])[1])


def _pairs_of(
    hypergraph: Hypergraph, alpha: float, k: int, tolerance: float, spare: int, rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The eigenpairs of a hypergraph in host memory: facts and vertex arrays."""
    walk = RandomWalk(hypergraph, alpha=alpha)
    pairs = smallest_eigenpairs(NormalizedLaplacian(walk), k, tolerance=tolerance, seed=rng, spare=spare)
    arrays = {"vectors": pairs.vectors, "spare": pairs.spare}
    return {name: getattr(pairs, name) for name in Eigenpairs.__slots__ if name not in arrays}, arrays


def work(laplacian: NormalizedLaplacian, k: int, wanted: int) -> dict[str, Floats]:
    """Counts that, weighted by `SECONDS`, give the expected time of each method that is possible.

    Of the k eigenvectors `wanted` are not known.
    """
    h, steps = laplacian.walk.hypergraph, 12 + 6 * wanted
    n, m = h.n_vertices, h.n_incidences
    vertex_pairs = float((h.edge_sizes.astype(np.float64) ** 2).sum())  # products in a dense P
    counts = {
        "lanczos": np.array([steps, steps * m, steps * n * (wanted + 15)], dtype=float),
        "dense": np.array([1.0, vertex_pairs, float(n) ** 3]),
    }
    if fits_small_side(laplacian, k):
        edge_pairs = float((np.bincount(h.gamma.indices).astype(np.float64) ** 2).sum())
        counts["small side"] = np.array([1.0, edge_pairs + m * wanted, float(2 * h.n_edges) ** 3])
    return counts


def fits_small_side(laplacian: NormalizedLaplacian, k: int) -> bool:
    """Whether n >= 2|E| + k, which the reduction needs, and squares of 1 / phi are in range."""
    walk = laplacian.walk
    return laplacian.size >= 2 * walk.hypergraph.n_edges + k and float(walk.stationary.min()) > TINY_MASS


def cheapest(laplacian: NormalizedLaplacian, k: int, wanted: int) -> str:
    """The method with the smallest expected time."""
    counts = work(laplacian, k, wanted)
    return min(counts, key=lambda method: float(counts[method] @ SECONDS[method]))
