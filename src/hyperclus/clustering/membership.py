"""How sure each label is: membership, confidence, margin and outliers.

All figures of a vertex v follow from its membership,

    M(v, c) = sum_e A(v, e) b_e(S_c),    b_e(S_c) = sum_{u in S_c} B(e, u),

the share of its steps into each cluster c, which is P times the indicators of the clusters. P is not formed.
Outliers show also in hyperedges that do not overlap elsewhere, see `overlaps`.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hyperclus._runtime.arrays import BLOCK, freeze
from hyperclus._runtime.native import Kernel
from hyperclus._runtime.threads import in_order
from hyperclus.clustering.edge_flows import cluster_sums
from hyperclus.clustering.incidence_blocks import VertexBlock, simple_sources, vertex_blocks
from hyperclus.clustering.objectives import Objective
from hyperclus.clustering.overlaps import overlap
from hyperclus.clustering.vertex_kernels import State
from hyperclus.engines.cpu import with_data
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Codes, Floats, Ids, Integers

TINY = 0.05  # clusters with less than this share of an equal volume are mentioned to the user
RETURNS = 0.9  # share of steps back to the vertex itself from which it has few shared hyperedges
CLEAR = 2.0  # standard deviations between usual vertices and random ones from which these are outliers
UNLIKE = 3.0  # a vertex with a fit below -UNLIKE is an outlier even if usual vertices are not clear

BLOCKED_CELLS = 1 << 22  # vertices times clusters in a block

_sum_vertices = Kernel(
    *("vertex_sums", "indices", "indices", "floats", "bool", "floats", "bool", "int", "int", "floats", "int"),
    "floats",
)

REASONS = (None, "in no hyperedge", "few shared hyperedges", "tiny cluster", "fits no cluster")
ISOLATED, FEW, SLIVER, UNFIT = range(1, 5)


@dataclass(frozen=True, slots=True, eq=False)
class Confidence:
    """How sure the label of each vertex is; the arrays have an entry per vertex.

    Attributes
    ----------
    values : array
        The confidence, from 0 to 1; see `confidence_in`. nan for a vertex in no hyperedge.
    margins : array
        How much worse the objective becomes if the vertex alone moves to the cluster that is the next best;
        negative if it becomes better. nan if there is no such move: the vertex is the only one of its
        cluster, or in no hyperedge, or there is one cluster.
    next_clusters : array of int
        The cluster that is the next best, -1 if there is none.
    fits : array
        Whether the hyperedges of the vertex are like those of a usual vertex (positive) or like random ones
        (negative); see `fit`. 0 for a vertex with one hyperedge, nan for a vertex in no hyperedge.
    outliers : array of str or None
        Why the vertex is an outlier; None if it is not. "in no hyperedge". "few shared hyperedges": its
        hyperedges have one other member at most in total, or 90 % of its steps lead back to itself. "tiny
        cluster": its cluster has less than 5 % of the volume that equal clusters would have. "fits no
        cluster": the share of its steps that stay in its cluster is less than sqrt(2 ln k) standard
        deviations above that of random hyperedges, as for the best of k clusters, no other cluster is better
        (the margin is not negative), and a usual vertex with as many hyperedges is at least two standard
        deviations above that, or it has at least three hyperedges and `fits` is below -3.
    """

    values: Floats
    margins: Floats
    next_clusters: Codes
    fits: Floats
    outliers: Ids

    def __post_init__(self) -> None:
        freeze(self)


def membership(walk: RandomWalk, labels: Integers, k: int, block: int = BLOCK) -> sp.csr_array:
    """M(v, c), the share of the steps of each vertex into each cluster, (n, k); rows sum to 1.

    It has entries for the clusters that a vertex reaches in one step. Labels are 0 .. k - 1, or -1 for
    vertices that are not in the walk, whose rows are empty. `block` limits the numbers in temporary arrays.

    >>> from hyperclus import Hypergraph
    >>> walk = RandomWalk(Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]]))
    >>> membership(walk, np.array([0, 0, 1, 1]), 2).toarray().tolist()
    [[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]]
    """
    inside = labels >= 0
    edge_shares = _edge_shares(walk, labels[inside], k)

    def shares(given: VertexBlock) -> sp.csr_array:
        found: sp.csr_array = _picks(walk, given) @ edge_shares
        return found

    rows = sp.vstack(list(in_order(shares, vertex_blocks(walk, block))), "csr")
    indptr = np.zeros(len(labels) + 1, dtype=rows.indptr.dtype)
    indptr[1:][inside] = np.diff(rows.indptr)
    return sp.csr_array((rows.data, rows.indices, np.cumsum(indptr)), shape=(len(labels), k))


def confidence(
    walk: RandomWalk,
    labels: Integers,
    k: int,
    objective: Objective,
    block: int = BLOCK,
    overlaps: Floats | None = None,
) -> Confidence:
    """Compute how sure each label is, in O(m k) and with memory for two numbers per hyperedge and cluster.

    Labels and `block` are as in `membership`. `overlaps` is what `overlap` returns, if it is known.
    """
    inside = labels >= 0
    homes = labels if inside.all() else labels[inside]
    overlaps = overlap(walk.hypergraph) if overlaps is None else overlaps
    found = _figures(walk, homes, k, objective, block)
    fits = fit(found.staying, found.noise, walk.stationary, overlaps)
    random, usual = np.sqrt(2.0 * np.log(k)), (walk.stationary @ found.staying) / found.noise
    # two hyperedges of two clusters are no reason to doubt both
    unlike = (usual >= random + CLEAR) | (found.several & (fits < -UNLIKE))
    unfit = (found.staying / found.noise < random) & unlike & ~(found.margins < 0)
    reasons = _everywhere(_reasons(walk, homes, k, unfit, found.few), inside, ISOLATED)
    values, margins, targets, fits = (
        _everywhere(each, inside, missing)
        for each, missing in (
            (found.values, np.nan),
            (found.margins, np.nan),
            (found.targets, -1),
            (fits, np.nan),
        )
    )
    return Confidence(values, margins, targets, fits, np.array(REASONS, dtype=object)[reasons])


def confidence_in(
    shares: Floats, homes: Integers, volumes: Floats, degrees: Floats, others: Floats
) -> Floats:
    """The confidence of labels: lift(home)^sqrt(d) over the sum of lift(c)^sqrt(d) over the clusters c.

    lift(c) = (N share(c) / vol(c) + 1) / (N + 1) compares the share of steps to other vertices that go into
    c with that of random steps, of which there is one beside N. It is 1/k if nothing is known, and about 1 if
    the steps favour one cluster clearly. The hyperedges of a vertex are not independent; the root makes d of
    them count as sqrt(d) independent ones.

    Parameters
    ----------
    shares : array of shape (n, k)
        Steps to other vertices; rows sum to 1, or to 0 if there are none.
    homes : array of shape (n,)
        The labels.
    volumes : array of shape (k,)
    degrees, others : arrays of shape (n,)
        d, the number of hyperedges, and N, the number of other members of these, counted once for each
        hyperedge.

    Examples
    --------
    >>> shares, one, ten = np.array([[0.8, 0.2]]), np.ones(1), np.full(1, 10.0)
    >>> confidence_in(shares, np.array([0]), np.array([0.5, 0.5]), one, ten).round(3).tolist()
    [0.773]
    >>> confidence_in(shares, np.array([0]), np.array([0.5, 0.5]), 9 * one, ten).round(3).tolist()
    [0.975]
    """
    lifts = np.log((others[:, None] * shares / volumes + 1.0) / (others + 1.0)[:, None])
    evidence = np.sqrt(degrees)[:, None] * lifts
    evidence = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    return np.asarray(evidence[np.arange(len(homes)), homes] / evidence.sum(axis=1))


def fit(staying: Floats, noise: Floats, stationary: Floats, overlaps: Floats) -> Floats:
    """How well vertices fit: (z - usual / 2)(1 - noise^2) + overlap, where z = staying / noise.

    z is how far the share of steps that stay is above that of random hyperedges, in standard deviations, and
    usual is that of the mean of `staying` in the walk. The hyperedges of a vertex also choose its cluster:
    with d of equal weight, noise^2 = 1/d, and the factor (d - 1)/d leaves one out. So 0 means that nothing is
    known, or halfway between usual and random.

    Parameters
    ----------
    staying, noise : arrays of shape (n,)
        In standard deviations of one random hyperedge; the standard deviation of `staying`.
    stationary : array of shape (n,)
    overlaps : array of shape (n,)
        As `overlaps.overlap` returns it.

    Examples
    --------
    >>> staying, noise = np.array([2.0, 2.0, 0.0]), np.array([1.0, 0.5, 0.5])
    >>> fit(staying, noise, np.full(3, 1 / 3), np.zeros(3)).tolist()
    [0.0, 2.0, -1.0]
    """
    return np.asarray((staying - (stationary @ staying) / 2) / noise * (1.0 - noise**2) + overlaps)


def _edge_shares(walk: RandomWalk, labels: Integers, k: int) -> sp.csr_array:
    """b_e(S_c) for the clusters that each hyperedge meets, (n_edges, k)."""
    gamma = walk.hypergraph.gamma
    columns = labels[gamma.indices].astype(gamma.indices.dtype)
    sums = sp.csr_array((gamma.data.copy(), columns, gamma.indptr.copy()), shape=(gamma.shape[0], k))
    sums.sum_duplicates()
    sums.data /= np.repeat(walk.factors.edge_degrees, np.diff(sums.indptr))
    return sums


def _picks(walk: RandomWalk, block: VertexBlock) -> sp.csr_array:
    """Rows of A."""
    some, factors = block.matrix(walk.hypergraph.n_edges), walk.factors
    omega = factors.edge_weights / factors.edge_weights.max()
    sources = simple_sources(some.data, walk.alpha) if block.sources is None else block.sources
    picked = sources * omega[some.indices]
    return with_data(some, picked / np.repeat(factors.relative_degrees[block.rows], np.diff(some.indptr)))


class _Figures(NamedTuple):
    """Figures of the vertices of a walk, an entry per vertex."""

    values: Floats  # the confidence
    margins: Floats
    targets: Codes  # of the next best move, -1 if there is none
    staying: Floats  # how far the share of steps that stay is above random,
    noise: Floats  # and the standard deviation of that
    several: Booleans  # whether there are more than two hyperedges,
    few: Booleans  # and fewer than two other members of these


def _figures(walk: RandomWalk, homes: Integers, k: int, objective: Objective, block: int) -> _Figures:
    """Compute the figures of all vertices, block by block on several threads."""
    factors, phi, volumes = walk.factors, walk.stationary, _volumes(walk, homes, k)
    of_edge = np.empty(
        (walk.hypergraph.n_edges, 2 * k + 2)
    )  # omega, size less 1, shares and flows of clusters
    np.divide(factors.edge_weights, factors.edge_weights.max(), out=of_edge[:, 0])
    np.subtract(walk.hypergraph.edge_sizes, 1.0, out=of_edge[:, 1])
    edge_shares, arriving = of_edge[:, 2 : k + 2], of_edge[:, k + 2 :]
    edge_shares[:], arriving[:] = cluster_sums(walk, homes, k)
    arriving *= factors.shares[:, None]
    state = State.without_sums(homes, volumes, objective.flows(arriving.T @ edge_shares))
    edge_shares /= factors.edge_degrees[:, None]
    squares = np.einsum("e,ec,ec->c", walk.edge_stationary, edge_shares, edge_shares)
    spread = np.sqrt(np.maximum(squares - volumes**2, 1e-18))  # of b_e(S_c) over random hyperedges e
    values, margins, staying, noise = (np.empty(len(homes)) for _ in range(4))
    several, few = np.empty(len(homes), dtype=bool), np.empty(len(homes), dtype=bool)
    found = _Figures(values, margins, np.empty(len(homes), dtype=np.int32), staying, noise, several, few)

    def compute(given: VertexBlock) -> None:
        here, own, sums = (
            given.rows,
            factors.return_probability[given.rows],
            _vertex_sums(walk, given, of_edge, k),
        )
        home, everyone, mass = homes[here], np.arange(len(sums)), phi[here]
        degrees, others, squared, shares, back = np.split(sums, [1, 2, 3, 3 + k], axis=1)
        found.several[here], found.few[here] = degrees[:, 0] > 2, others[:, 0] < 2
        found.noise[here] = np.sqrt(squared[:, 0]) / factors.relative_degrees[here]
        shares = shares / factors.relative_degrees[here, None]
        shares[everyone, home] = np.maximum(shares[everyone, home] - own, 0.0)
        out, back = mass[:, None] * shares, back.copy()
        back[everyone, home] -= mass * own
        flows = out, out if walk.reversible else back, mass * own, mass
        gained, targets = objective.kernels.row_moves(replace(state, labels=home), *flows)
        found.margins[here] = np.where(targets == home, np.nan, 0.0 - gained)
        found.targets[here] = np.where(targets == home, -1, targets)
        shares *= np.where(others > 0, 1.0 / np.maximum(1.0 - own, 1e-12)[:, None], 0.0)
        found.values[here] = confidence_in(shares, home, volumes, degrees[:, 0], others[:, 0])
        found.staying[here] = (shares[everyone, home] - volumes[home]) / spread[home]

    for _ in in_order(compute, vertex_blocks(walk, block, BLOCKED_CELLS // k + 1)):
        pass
    return found


def _vertex_sums(walk: RandomWalk, block: VertexBlock, of_edge: Floats, k: int) -> Floats:
    """The sums of `vertex_sums`, which says what they are, for a block of vertices."""
    sums = np.zeros((block.rows.stop - block.rows.start, 2 * k + 3))
    weights = block.gamma if block.sources is None else block.sources
    has_gamma = len(block.gamma) > 0
    weighted = has_gamma and (block.sources is not None or walk.alpha != 0)
    lists = block.edges, block.vertices, block.gamma, has_gamma, weights, weighted
    _sum_vertices(*lists, len(block.edges), block.rows.start, of_edge, k, sums)
    return sums


def _everywhere(values: NDArray[Any], inside: Booleans, missing: Any) -> NDArray[Any]:
    """Values of all vertices, given those of the vertices inside."""
    if inside.all():
        return values
    found = np.full(len(inside), missing, dtype=values.dtype)
    found[inside] = values
    return found


def _volumes(walk: RandomWalk, homes: Integers, k: int) -> Floats:
    return np.bincount(homes, weights=walk.stationary, minlength=k).astype(np.float64)


def _reasons(walk: RandomWalk, homes: Integers, k: int, unfit: Booleans, few: Booleans) -> Integers:
    """Why each vertex is an outlier, as a position in REASONS."""
    reasons = np.where(unfit, UNFIT, 0)
    reasons[(_volumes(walk, homes, k) < TINY / k)[homes]] = SLIVER
    reasons[few | (walk.factors.return_probability > RETURNS)] = FEW
    return reasons
