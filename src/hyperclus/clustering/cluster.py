"""Clusters of low NCut: HyperClus-G as in the paper, and the search that goes below it."""

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, cast, overload

import numpy as np

from hyperclus._runtime.files import StrPath
from hyperclus._runtime.progress import topic
from hyperclus.clustering import batch_search
from hyperclus.clustering.bisection import Strategy, bisect
from hyperclus.clustering.cut import sweep
from hyperclus.clustering.finding import by_batches, by_moves, usual_share
from hyperclus.clustering.partition import Partition
from hyperclus.clustering.run import Bound, Run
from hyperclus.clustering.stored import StoredPartition
from hyperclus.clustering.vertex_search import EFFORTS
from hyperclus.engines import Engine, InMemory, Precision, check_engine
from hyperclus.engines.base import on_host
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.errors import InputError, check_choice, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import vertex_codes
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Integers, Seed

Rounding = Literal["sign", "sweep"]
Reweigh = Callable[[Hypergraph, Integers], Hypergraph | None]

_log = logging.getLogger(__name__)


@overload
def cluster(
    hypergraph: Hypergraph,
    k: int = 2,
    *,
    method: Literal["auto", "hyperclus-g"] = "auto",
    effort: Literal["fast", "default", "thorough"] | None = None,
    min_share: float | None = None,
    alpha: float = 0.0,
    bound: Bound = "eigenvalues",
    rounding: Rounding | None = None,
    strategy: Strategy | None = None,
    reweigh: Reweigh | None = None,
    tolerance: float = 1e-8,
    seed: Seed = 0,
    engine: InMemory = "auto",
    precision: Precision = "float64",
) -> Partition: ...
@overload
def cluster(
    hypergraph: StrPath | Sequence[StrPath] | Prepared,
    k: int = 2,
    *,
    effort: Literal["fast", "default", "thorough"] | None = None,
    min_share: float | None = None,
    alpha: float = 0.0,
    tolerance: float = 1e-8,
    seed: Seed = 0,
    engine: Literal["dask"],
) -> StoredPartition: ...


def cluster(
    hypergraph: Hypergraph | StrPath | Sequence[StrPath] | Prepared,
    k: int = 2,
    *,
    method: Literal["auto", "hyperclus-g"] = "auto",
    effort: Literal["fast", "default", "thorough"] | None = None,
    min_share: float | None = None,
    alpha: float = 0.0,
    bound: Bound = "eigenvalues",
    rounding: Rounding | None = None,
    strategy: Strategy | None = None,
    reweigh: Reweigh | None = None,
    tolerance: float = 1e-8,
    seed: Seed = 0,
    engine: Engine = "auto",
    precision: Precision = "float64",
) -> Partition | StoredPartition:
    """Split the vertices into k clusters of low NCut.

    Parameters
    ----------
    hypergraph : Hypergraph
        For the engine "dask": Parquet files (a name, a folder, a pattern, an address such as
        "s3://bucket/part-*.parquet", or a list), or what `prepare` has made of them.
    k : int
        The number of clusters; `suggest_k` helps to choose it.
    method : {"auto", "hyperclus-g"}
        "auto" groups the rows of the k - 1 eigenvectors, then lowers the NCut itself by moves of
        vertices and hyperedges. "hyperclus-g" is the paper: the second eigenvector of L_sym cut
        by sign; for more clusters, the same again on the sub-hypergraph of a cluster.
    effort : {"fast", "default", "thorough"}, optional
        How far "auto" searches: in all about 2 to 4, 3 to 5 and 100 times the cost of the eigenvectors.
        Without it, "default", and "thorough" for the tight bound. The work is counted and not timed,
        so the same seed gives the same labels on a slow machine.
    min_share : float, optional
        The share of the volume (of a walker's time) that each cluster of "auto" should hold at least.
        The lowest NCut may belong to a few vertices that hang together; ask for more and they do
        not count. Without it, 0.01 for two clusters of a connected hypergraph, else 0.
    alpha : float
        How much gamma counts when a vertex picks a hyperedge: 0 is the paper's walk, 1 lets it count
        both ways, for gamma that is a strength of membership.
    bound : {"eigenvalues", "tight"}
        How the lower bound is proven. "tight" comes much closer, in seconds to minutes, for up to 400
        vertices.
    rounding : {"sign", "sweep"}, optional
        Only for "hyperclus-g": cut an eigenvector by the sign of its entries (the default), or
        at the place along z / sqrt(phi) where the NCut is smallest.
    strategy : {"best", "largest"}, optional
        Only for "hyperclus-g": split next the cluster whose split leaves the smallest NCut of the whole (the
        default), or the one with most vertices. The paper's appendix has both.
    reweigh : callable, optional
        Only for "hyperclus-g": `reweigh(sub, vertices)` gets the sub-hypergraph of a cluster
        (restricted, gamma as it was) and the positions of its vertices, and returns the hypergraph to
        split in its place, on the same vertices, or None if the cluster is not to be split.
    tolerance : float
        Largest residual of an eigenvector.
    seed : int, Generator or None
        Of all that is drawn at random.
    engine : {"auto", "cpu", "cuda", "dask"}
        Where to compute: on the CPU, or on an NVIDIA GPU with CuPy. "auto" takes the GPU if there is one and
        the hypergraph is large enough to gain by it. "dask": on the workers of the current client of Dask, or
        on new ones here, none of which has to hold all data. The answer is the same up to rounding.
    precision : {"float64", "float32"}
        Of gamma and of the eigenvectors on a GPU. Single precision takes less memory and time; the
        eigenvectors have residuals of about 1e-5, and all figures are those of the gamma so rounded.

    Returns
    -------
    Partition
        For the engine "dask" a `StoredPartition`, whose labels are in files.

    Raises
    ------
    InputError, ConvergenceError, ClusterError

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> part = cluster(h, k=2)
    >>> sorted(part.members(part.labels[0]).tolist())
    ['a', 'b', 'c']
    """
    check_integer("k", k)
    check_choice("method", method, ("auto", "hyperclus-g"))
    if effort is not None:
        check_choice("effort", effort, tuple(EFFORTS))
    if engine == "dask":
        unused = {
            "rounding": rounding,
            "strategy": strategy,
            "reweigh": reweigh,
            "method": method,
            "bound": bound,
        }
        return _on_dask(hypergraph, int(k), effort, min_share, alpha, tolerance, seed, precision, unused)
    if isinstance(hypergraph, str | os.PathLike | Prepared):
        raise InputError(
            "a Hypergraph is needed here: hc.read makes one of a file, or add engine='dask' for Parquet files"
            " that this machine need not hold"
        )
    check_hypergraph(hypergraph)
    run = Run(cast(Hypergraph, hypergraph), alpha, bound, tolerance, seed, engine, precision)
    run.check_enough_vertices(k)
    if method == "hyperclus-g":
        for name, value in (("min_share", min_share), ("effort", effort)):
            if value is not None:
                raise InputError(f"{name} is a setting of method='auto'; leave it out with 'hyperclus-g'")
        return _hyperclus_g(run, int(k), rounding or "sign", strategy or "best", reweigh)
    for name, given in (("rounding", rounding), ("strategy", strategy), ("reweigh", reweigh)):
        if given is not None:
            raise InputError(f"{name} is a setting of the paper's method; add method='hyperclus-g'")
    _check_share(min_share, k)
    return _search(run, int(k), effort or ("thorough" if bound == "tight" else "default"), min_share)


def refine(
    hypergraph: Hypergraph,
    labels: Mapping[Any, Any] | Iterable[Any] | Partition,
    *,
    effort: Literal["fast", "default", "thorough"] = "fast",
    min_share: float | None = None,
    alpha: float = 0.0,
    bound: Bound = "eigenvalues",
    tolerance: float = 1e-8,
    seed: Seed = 0,
    engine: Engine = "auto",
    precision: Precision = "float64",
) -> Partition:
    """Lower the NCut of clusters from anywhere; it never rises, and no cluster is emptied.

    Moves single vertices until no move helps ("fast"), then tries whole hyperedges and mergers as
    `cluster` does. The other parameters are those of `cluster`, the labels those of `evaluate`. (The NCut
    may rise for a `min_share` that the labels do not have.)

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> refine(h, ["x", "x", "y", "y", "y", "y"]).members(0).tolist()
    ['a', 'b', 'c']
    """
    check_choice("effort", effort, tuple(EFFORTS))
    run = Run(hypergraph, alpha, bound, tolerance, seed, engine, precision)
    inside, k = _given(run, labels)
    _check_share(min_share, k)
    return _search(run, k, effort, min_share, inside)


def evaluate(
    hypergraph: Hypergraph,
    labels: Mapping[Any, Any] | Iterable[Any] | Partition,
    *,
    alpha: float = 0.0,
    bound: Bound = "eigenvalues",
    tolerance: float = 1e-8,
    seed: Seed = 0,
    engine: Engine = "auto",
    precision: Precision = "float64",
) -> Partition:
    """Score clusters from anywhere: their NCut, conductance, and the proven gap to the optimum.

    Parameters
    ----------
    labels : one hashable label per vertex
        In the order of the vertices, or a mapping (or pandas Series) from vertex id, or a Partition.
        Clusters are renumbered 0, 1, ... by size. Vertices in no hyperedge count in no cluster.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]])
    >>> round(evaluate(h, ["x", "x", "y", "y"]).ncut, 4)
    0.3333
    """
    run = Run(hypergraph, alpha, bound, tolerance, seed, engine, precision)
    inside, k = _given(run, labels)
    walk, pairs = run.solve(run.whole, k)
    return run.partition(walk, pairs, inside, {})


def _on_dask(
    source: Any,
    k: int,
    effort: str | None,
    min_share: float | None,
    alpha: float,
    tolerance: float,
    seed: Seed,
    precision: str,
    unused: dict[str, Any],
) -> StoredPartition:
    """Hand files over to the engine that need not hold them."""
    from hyperclus.clustering.cluster_files import cluster_files

    check_engine("cpu", precision)
    for name, given in unused.items():
        if given not in (None, "auto", "eigenvalues"):
            raise InputError(
                f"engine='dask' has no {name}={given!r}; leave it out, or read the data and cluster them here"
            )
    if isinstance(source, Hypergraph):
        raise InputError(
            "engine='dask' reads Parquet files itself: give their names, or write the hypergraph to one first"
        )
    _check_share(min_share, k)
    return cluster_files(
        source,
        k,
        effort=effort or "default",
        min_share=min_share,
        alpha=alpha,
        tolerance=tolerance,
        seed=seed,
    )


def reweighed(sub: Hypergraph, vertices: Integers, reweigh: Reweigh | None) -> Hypergraph | None:
    """The sub-hypergraph as the caller wants it weighed; None where the cluster is not to be split."""
    if reweigh is None:
        return sub
    weighed = reweigh(sub, vertices)
    if weighed is None:
        return None
    check_hypergraph(weighed)
    if weighed.n_vertices != len(vertices):
        raise InputError(
            f"reweigh returned {weighed.n_vertices} vertices for a cluster of {len(vertices)}; keep them all"
        )
    return weighed


def _hyperclus_g(
    run: Run, k: int, rounding: Rounding, strategy: Strategy, reweigh: Reweigh | None
) -> Partition:
    """Algorithm 1 of the paper, and for k > 2 its repeated bisection."""
    check_choice("rounding", rounding, ("sign", "sweep"))
    check_choice("strategy", strategy, ("best", "largest"))
    walk, pairs = run.solve(run.whole, k)

    def halve(vertices: Integers) -> Booleans | None:
        if len(vertices) == run.whole.n_vertices:
            return _halved(run, walk, pairs, rounding)
        sub = reweighed(run.whole.restrict(vertices), vertices, reweigh)
        with topic(f"a cluster of {len(vertices):,}"):
            return None if sub is None else _halved(run, *run.solve(sub, 2), rounding)

    labels = bisect(walk, k, strategy, halve)
    settings = {"method": "hyperclus-g", "rounding": rounding, "strategy": strategy}
    return run.partition(walk, pairs, labels, settings)


def _halved(run: Run, walk: RandomWalk, pairs: Eigenpairs, rounding: Rounding) -> Booleans:
    """Step 6 of Algorithm 1: the second eigenvector cut in two; the mask of one side."""
    with run.timed("rounding"):
        second = on_host(pairs.vectors[:, 1])
        if rounding == "sign" and second.min() < 0:
            return np.asarray(second < 0)
        if rounding == "sign":
            _log.warning("the signs of the second eigenvector are lost in rounding; swept instead")
        walk = walk.on_host()
        profile = sweep(walk, second / np.sqrt(walk.stationary))
        return profile.prefix(int(np.argmin(profile.ncuts)))


def _search(
    run: Run, k: int, effort: str, min_share: float | None, start: Integers | None = None
) -> Partition:
    """The lowest NCut that a search finds, from given labels or from first guesses."""
    seed = run.rng.integers(1 << 63)  # whatever the eigen-solver draws
    walk, pairs = run.solve(run.whole, k, spare=EFFORTS[effort].extra)
    least = usual_share(walk, k, start) if min_share is None else float(min_share)
    in_batches = batch_search.pays(run.whole.n_incidences, k)
    if effort == "thorough" and walk.factors.products.host:
        in_batches = False
    with run.timed("search"):
        searched = by_batches if in_batches else by_moves
        labels = searched(walk, pairs, k, effort, least, int(seed), start)
    settings = {"method": "auto", "effort": effort, "min_share": least}
    if start is not None:
        settings["start"] = "given labels"
    return run.partition(walk, pairs, labels, settings)


def _given(run: Run, labels: Mapping[Any, Any] | Iterable[Any] | Partition) -> tuple[Integers, int]:
    """Labels 0 .. k - 1 of the vertices in hyperedges, and k."""
    if isinstance(labels, Partition):
        labels = labels.labels
    codes, _ = vertex_codes(labels, run.hypergraph.vertex_ids, "label")
    found, inside = np.unique(codes[run.active], return_inverse=True)
    return inside, len(found)


def _check_share(min_share: float | None, k: int) -> None:
    if min_share is not None and not (is_number(min_share) and 0 <= min_share <= 1 / k):
        raise InputError(f"min_share must be between 0 and 1/k = {1 / k:.4g}; got {min_share!r}")
