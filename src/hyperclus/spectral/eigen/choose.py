"""The k smallest eigenpairs of L_sym by the method that is expected to be fastest."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.checkpoint import Checkpoint, check_seed
from hyperclus._runtime.progress import report_progress
from hyperclus._runtime.random import random_generator
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.errors import Argument, ConvergenceError, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.eigen.dense import dense_vectors
from hyperclus.spectral.eigen.lanczos import MAX_PRODUCTS, Lanczos, lanczos_vectors
from hyperclus.spectral.eigen.null_space import zero_vectors
from hyperclus.spectral.eigen.result import Eigenpairs, with_residuals
from hyperclus.spectral.eigen.shift_invert import FACTORISATION_UP_TO, is_thin, shift_invert_vectors
from hyperclus.spectral.eigen.small_side import small_side_vectors
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Seed

METHODS = ("auto", "dense", "small side", "lanczos", "shift-invert")
PATIENCE = 600  # products after which "auto" tries shift-invert if the hypergraph is thin,
PATIENCE_EACH = 20  # and this many more for each eigenvector
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
    if not 1 <= k <= laplacian.size:
        raise InputError(f"k must be between 1 and the number of vertices, {laplacian.size}; got {k}")
    if not (isinstance(tolerance, float | int) and tolerance > 0):
        raise InputError(
            Argument("tolerance"), f" must be a positive number, such as 1e-8; got {tolerance!r}"
        )
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    if method == "small side" and not fits_small_side(laplacian, k):
        raise InputError("the small-side method needs at least 2|E| + k vertices; use 'lanczos' or 'auto'")
    check_seed(seed)
    walk, backend = laplacian.walk, laplacian.backend
    known = zero_vectors(backend, walk.stationary, walk.distribution.components, k)
    if known.shape[1] == k:
        report_progress("eigenvectors", 0, "products", 1.0, "known")
        return with_residuals(laplacian, known, known[:, :0], known[:, :0], 0, "known")
    spare, rng = min(spare, laplacian.size - k), random_generator(seed)
    inputs = (walk.hypergraph, walk.alpha, walk.stationary, k, tolerance, method, spare)
    checkpoint = backend.open_checkpoint("eigenvectors", *inputs, rng=rng)
    kept = checkpoint.result()
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
            vectors, steps = dense_vectors(self.laplacian, self.known, self.count + self.spare), 0
        elif chosen == "small side":
            room = self.laplacian.size - 2 * self.laplacian.walk.hypergraph.n_edges - self.k
            count = self.count + min(self.spare, room)
            vectors, steps = small_side_vectors(self.laplacian, self.known, count), 0
        elif chosen == "shift-invert":
            vectors, steps = self._shift_invert()
        elif method == "lanczos":
            vectors, steps = self._lanczos("hasty", MAX_PRODUCTS)
        else:
            vectors, steps, chosen = self._lanczos_or_shift_invert()
        return self._pairs(vectors, steps, chosen)

    def solve_by_products(self) -> Eigenpairs:
        """Solve by Lanczos where the vectors are; if it converges slowly, on the host after all."""
        walk, backend = self.laplacian.walk, self.laplacian.backend
        width = backend.block_width(self.count, walk.hypergraph.n_incidences)
        try:
            return self._pairs(*self._lanczos("first", self.patience, width), "lanczos")
        except ConvergenceError:
            if not self.has_alternative:
                raise
            settings = (walk.alpha, self.k, self.tolerance, self.spare, self.rng)
            found = backend.run_on_one(_pairs_of, walk.hypergraph, *settings)
            if found is None:
                raise
            return Eigenpairs(**found)

    def _pairs(self, vectors: Floats, steps: int, method: str) -> Eigenpairs:
        others, spare = vectors[:, : self.count], vectors[:, self.count :]
        return with_residuals(self.laplacian, self.known, others, spare, steps, method)

    def _lanczos_or_shift_invert(self) -> tuple[Floats, int, str]:
        """Lanczos; if it converges slowly and the hypergraph is thin, shift-invert."""
        try:
            return *self._lanczos("hasty", self.patience), "lanczos"
        except ConvergenceError:
            if not self.has_alternative:
                raise
        if is_thin(self.laplacian):
            return *self._shift_invert(), "shift-invert"
        return *self._lanczos("patient", MAX_PRODUCTS), "lanczos"

    def _lanczos(self, part: str, max_products: int, width: int | None = None) -> tuple[Floats, int]:
        options = Lanczos(max_products, self.spare, width)
        return lanczos_vectors(
            self.laplacian,
            self.known,
            self.count,
            self.tolerance,
            self.rng,
            options,
            self.checkpoint.part(part),
        )

    def _shift_invert(self) -> tuple[Floats, int]:
        """Shift-invert; once more with a lower tolerance if rounding hid a residual of L_sym."""
        vectors, steps = self._inverse_lanczos(self.tolerance, self.checkpoint)
        if self._pairs(vectors, steps, "shift-invert").residuals.max() <= self.tolerance:
            return vectors, steps
        vectors, more = self._inverse_lanczos(self.tolerance / SHARPER, self.checkpoint.part("again"))
        return vectors, steps + more

    def _inverse_lanczos(self, tolerance: float, checkpoint: Checkpoint) -> tuple[Floats, int]:
        options = Lanczos(spare=self.spare)
        return shift_invert_vectors(
            self.laplacian, self.known, self.count, tolerance, self.rng, options, checkpoint
        )


def _pairs_of(
    hypergraph: Hypergraph, alpha: float, k: int, tolerance: float, spare: int, rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The eigenpairs of a hypergraph in host memory: facts and vertex arrays."""
    walk = RandomWalk(hypergraph, alpha=alpha)
    pairs = smallest_eigenpairs(NormalizedLaplacian(walk), k, tolerance=tolerance, seed=rng, spare=spare)
    arrays = {"vectors": pairs.vectors, "spare": pairs.spare}
    return {name: getattr(pairs, name) for name in Eigenpairs.__slots__ if name not in arrays}, arrays


@dataclass(frozen=True, slots=True)
class Sizes:
    """The figures that the cost of an eigen-solver depends on."""

    vertices: int
    edges: int
    incidences: int
    vertex_pairs: float  # sum of |e|^2, the products in a dense P
    edge_pairs: float  # sum over v of its number of hyperedges squared
    wanted: int


def sizes(laplacian: NormalizedLaplacian, wanted: int) -> Sizes:
    """The sizes of a problem with `wanted` eigenvectors beyond the known ones."""
    hypergraph = laplacian.walk.hypergraph
    edge_pairs = np.inf  # counted only where the method that they matter for is possible
    if fits_small_side(laplacian, wanted + 1):
        edge_pairs = float((np.bincount(hypergraph.gamma.indices).astype(np.float64) ** 2).sum())
    vertex_pairs = float((hypergraph.edge_sizes.astype(np.float64) ** 2).sum())
    counts = hypergraph.n_vertices, hypergraph.n_edges, hypergraph.n_incidences
    return Sizes(*counts, vertex_pairs, edge_pairs, wanted)


def work(s: Sizes) -> dict[str, Floats]:
    """Counts that, weighted by `SECONDS`, give each method's expected time."""
    steps = 12 + 6 * s.wanted
    return {
        "lanczos": np.array([steps, steps * s.incidences, steps * s.vertices * (s.wanted + 15)], dtype=float),
        "dense": np.array([1.0, s.vertex_pairs, float(s.vertices) ** 3]),
        "small side": np.array([1.0, s.edge_pairs + s.incidences * s.wanted, float(2 * s.edges) ** 3]),
    }


def fits_small_side(laplacian: NormalizedLaplacian, k: int) -> bool:
    """Whether n >= 2|E| + k, which the reduction needs."""
    return laplacian.size >= 2 * laplacian.walk.hypergraph.n_edges + k


def cheapest(laplacian: NormalizedLaplacian, k: int, wanted: int) -> str:
    """The method with the smallest expected time."""
    figures = work(sizes(laplacian, wanted))
    if not fits_small_side(laplacian, k):
        del figures["small side"]
    return min(figures, key=lambda method: float(figures[method] @ SECONDS[method]))
