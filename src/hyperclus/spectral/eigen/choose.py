"""Which method for which hypergraph, and the assembly of the answer."""

from typing import Any

import numpy as np

from hyperclus._runtime.checkpoint import Checkpoint, check_seed
from hyperclus._runtime.progress import report_progress
from hyperclus._runtime.random import random_generator
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.errors import Argument, ConvergenceError, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.eigen.cost import cheapest, fits_small_side
from hyperclus.spectral.eigen.dense import dense_vectors
from hyperclus.spectral.eigen.lanczos import MAX_PRODUCTS, lanczos_vectors
from hyperclus.spectral.eigen.null_space import zero_vectors
from hyperclus.spectral.eigen.result import Eigenpairs, with_residuals
from hyperclus.spectral.eigen.shift_invert import FACTORISATION_UP_TO, is_thin, shift_invert_vectors
from hyperclus.spectral.eigen.small_side import small_side_vectors
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Seed

METHODS = ("auto", "dense", "small side", "lanczos", "shift-invert")
PATIENCE = 600  # products after which "auto" takes shift-invert, where the hypergraph is thin;
MORE = 20  # so many more for each eigenvector


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
        and shift-invert where Lanczos crawls. The result says which it was.
    spare : int
        Up to so many rough guesses at the next eigenvectors, which cost nothing, in `spare` of the result.

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
    count = k - known.shape[1]
    if not count:
        report_progress("eigenvectors", 0, "products", 1.0, "known")
        return with_residuals(laplacian, known, known[:, :0], known[:, :0], 0, "known")
    spare, rng = min(spare, laplacian.size - k), random_generator(seed)
    inputs = (walk.hypergraph, walk.alpha, walk.stationary, k, tolerance, method, spare)
    checkpoint = backend.open_checkpoint("eigenvectors", *inputs, rng=rng)
    kept = checkpoint.result()
    if kept is None:
        if backend.on_host:
            vectors, steps, chosen = _vectors(
                laplacian, known, count, tolerance, rng, method, spare, checkpoint
            )
            pairs = with_residuals(laplacian, known, vectors[:, :count], vectors[:, count:], steps, chosen)
        else:
            pairs = _by_products(laplacian, known, count, tolerance, rng, spare, checkpoint)
        kept = checkpoint.finish(**{name: getattr(pairs, name) for name in Eigenpairs.__slots__})
    return _told(Eigenpairs(**kept), tolerance)


def _by_products(
    laplacian: NormalizedLaplacian,
    known: Floats,
    count: int,
    tolerance: float,
    rng: np.random.Generator,
    spare: int,
    checkpoint: Checkpoint,
) -> Eigenpairs:
    """By Lanczos where the vectors are not on the host; where it crawls, on the host after all."""
    walk, k = laplacian.walk, known.shape[1] + count
    helped = walk.hypergraph.n_incidences <= FACTORISATION_UP_TO
    limit = PATIENCE + MORE * count if helped else MAX_PRODUCTS
    width = laplacian.backend.block_width(count, walk.hypergraph.n_incidences)
    try:
        part = checkpoint.part("first")
        vectors, steps = lanczos_vectors(laplacian, known, count, tolerance, rng, limit, spare, part, width)
    except ConvergenceError:
        settings = (walk.alpha, k, tolerance, spare, rng)
        found = laplacian.backend.run_on_one(_pairs_of, walk.hypergraph, *settings) if helped else None
        if found is None:
            raise
        return Eigenpairs(**found)
    return with_residuals(laplacian, known, vectors[:, :count], vectors[:, count:], steps, "lanczos")


def _pairs_of(
    hypergraph: Hypergraph, alpha: float, k: int, tolerance: float, spare: int, rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The eigenpairs of a hypergraph in host memory: facts and vertex arrays."""
    walk = RandomWalk(hypergraph, alpha=alpha)
    pairs = smallest_eigenpairs(NormalizedLaplacian(walk), k, tolerance=tolerance, seed=rng, spare=spare)
    far = {"vectors": pairs.vectors, "spare": pairs.spare}
    return {name: getattr(pairs, name) for name in Eigenpairs.__slots__ if name not in far}, far


def _told(pairs: Eigenpairs, tolerance: float) -> Eigenpairs:
    """The pairs, if their residuals are as small as they should be."""
    report_progress("eigenvectors", pairs.steps, "products", 1.0, pairs.method)
    worst = float(pairs.residuals.max())
    if worst > tolerance:
        raise ConvergenceError(f"the eigenvectors reached residual {worst:.1e}, not {tolerance:.1e}", worst)
    return pairs


def _vectors(
    laplacian: NormalizedLaplacian,
    known: Floats,
    count: int,
    tolerance: float,
    rng: np.random.Generator,
    method: str,
    spare: int,
    checkpoint: Checkpoint,
) -> tuple[Floats, int, str]:
    """Eigenvectors beyond the known ones, then spare ones; products spent, and how they were found."""
    chosen = cheapest(laplacian, known.shape[1] + count, count) if method == "auto" else method
    report_progress("eigenvectors", 0, "products", 0.0, chosen)
    if chosen == "dense":
        return dense_vectors(laplacian, known, count + spare), 0, chosen
    if chosen == "small side":
        more = min(spare, laplacian.size - 2 * laplacian.walk.hypergraph.n_edges - count - known.shape[1])
        return small_side_vectors(laplacian, known, count + more), 0, chosen
    if chosen == "lanczos":
        hasty = method == "auto" and laplacian.walk.hypergraph.n_incidences <= FACTORISATION_UP_TO
        try:
            limit = PATIENCE + MORE * count if hasty else MAX_PRODUCTS
            part = checkpoint.part("hasty")
            return *lanczos_vectors(laplacian, known, count, tolerance, rng, limit, spare, part), chosen
        except ConvergenceError:
            if not hasty:
                raise
        if not is_thin(laplacian):
            part = checkpoint.part("patient")
            return *lanczos_vectors(
                laplacian, known, count, tolerance, rng, spare=spare, checkpoint=part
            ), chosen
    return *shift_invert_vectors(laplacian, known, count, tolerance, rng, spare, checkpoint), "shift-invert"
