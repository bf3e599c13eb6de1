"""How sure each label is: membership, confidence, margin and outliers.

All figures of a vertex v follow from its membership,

    M(v, c) = sum_e A(v, e) b_e(S_c),    b_e(S_c) = sum_{u in S_c} B(e, u),

the share of its steps into each cluster c, which is P times the indicators of the clusters. P is not formed.
Outliers show also in hyperedges that do not overlap elsewhere, see `overlaps`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from hyperclus._runtime.arrays import BLOCK, blocks, freeze
from hyperclus._runtime.jit import kernels
from hyperclus.clustering.objectives import Objective
from hyperclus.clustering.overlaps import overlap
from hyperclus.clustering.vertex_kernels import State, flow_of
from hyperclus.engines.cpu import with_data
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Floats, Ids, Integers

TINY = 0.05  # clusters with less than this share of an equal volume are mentioned to the user
RETURNS = 0.9  # share of steps back to the vertex itself from which it has few shared hyperedges
CLEAR = 2.0  # standard deviations between usual vertices and random ones from which these are outliers
UNLIKE = 3.0  # a vertex with a fit below -UNLIKE is an outlier even if usual vertices are not clear

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
    next_clusters: Integers
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
    rows = sp.vstack([picks @ edge_shares for _, picks in _picks(walk, k, block)], "csr")
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
    values, margins, fits = (np.full(len(labels), np.nan) for _ in range(3))
    following, reasons = np.full(len(labels), -1), np.full(len(labels), ISOLATED)
    homes = labels[inside]
    margins[inside], following[inside] = _margins(walk, homes, k, objective)
    overlaps = overlap(walk.hypergraph) if overlaps is None else overlaps
    values[inside], staying, noise = _confidence_and_staying(walk, homes, k, block)
    fits[inside] = fit(staying, noise, walk.stationary, overlaps)
    random, usual = np.sqrt(2.0 * np.log(k)), (walk.stationary @ staying) / noise
    several = _counts(walk)[0] > 2  # two hyperedges of two clusters are no reason to doubt both
    unlike = (usual >= random + CLEAR) | (several & (fits[inside] < -UNLIKE))
    unfit = (staying / noise < random) & unlike & ~(margins[inside] < 0)
    reasons[inside] = _reasons(walk, homes, k, unfit)
    return Confidence(values, margins, following, fits, np.array(REASONS, dtype=object)[reasons])


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
    return np.asarray(np.exp(evidence[np.arange(len(homes)), homes] - logsumexp(evidence, axis=1)))


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


def _picks(walk: RandomWalk, k: int, block: int) -> Iterator[tuple[slice, sp.csr_array]]:
    """The rows of A, some vertices at a time, so that a block with k columns stays small."""
    weights, n = walk.factors.lists.source_weights_by_vertex, walk.hypergraph.n_vertices
    omega = walk.factors.edge_weights / walk.factors.edge_weights.max()
    for rows in blocks(n, block // max(k, weights.nnz // n) + 1):
        some = weights[rows]
        picked = some.data * omega[some.indices]
        degrees = walk.factors.relative_degrees[rows]
        yield rows, with_data(some, picked / np.repeat(degrees, np.diff(some.indptr)))


def _confidence_and_staying(
    walk: RandomWalk, homes: Integers, k: int, block: int
) -> tuple[Floats, Floats, Floats]:
    """The confidence of each label; how far the share of steps that stay is above random, and its noise."""
    returns = walk.factors.return_probability
    volumes, edge_shares = _volumes(walk, homes, k), _edge_shares(walk, homes, k).toarray()
    squares = np.einsum("e,ec,ec->c", walk.edge_stationary, edge_shares, edge_shares)
    spread = np.sqrt(np.maximum(squares - volumes**2, 1e-18))  # of b_e(S_c) over random hyperedges e
    degrees, others = _counts(walk)
    values, staying, noise = np.empty(len(homes)), np.empty(len(homes)), np.empty(len(homes))
    for rows, picks in _picks(walk, k, block):
        home, own = homes[rows], returns[rows]
        shares, everyone = picks @ edge_shares, np.arange(len(home))
        shares[everyone, home] = np.maximum(shares[everyone, home] - own, 0.0)
        shares *= np.where(others[rows] > 0, 1.0 / np.maximum(1.0 - own, 1e-12), 0.0)[:, None]
        values[rows] = confidence_in(shares, home, volumes, degrees[rows], others[rows])
        staying[rows] = shares[everyone, home]
        noise[rows] = np.sqrt(np.add.reduceat(picks.data**2, picks.indptr[:-1]))
    return values, (staying - volumes[homes]) / spread[homes], noise


def _volumes(walk: RandomWalk, homes: Integers, k: int) -> Floats:
    return np.bincount(homes, weights=walk.stationary, minlength=k).astype(np.float64)


def _counts(walk: RandomWalk) -> tuple[Floats, Floats]:
    """The number of hyperedges of each vertex, and the number of other members of these."""
    gamma = walk.hypergraph.gamma
    sizes, n = np.diff(gamma.indptr), gamma.shape[1]
    others = np.bincount(gamma.indices, weights=np.repeat(sizes - 1.0, sizes), minlength=n)
    return np.bincount(gamma.indices, minlength=n).astype(np.float64), others.astype(np.float64)


def _margins(walk: RandomWalk, homes: Integers, k: int, objective: Objective) -> tuple[Floats, Integers]:
    """The margin of each label and the next best cluster, by the loops of the vertex search."""
    flow, n = flow_of(walk), len(homes)
    sums = np.zeros((walk.hypergraph.n_edges, 2, k))
    sizes = np.bincount(homes, minlength=k).astype(np.int64)
    anywhere = np.full(k, np.inf), np.zeros(n, dtype=bool)
    state = State(homes.astype(np.int64), sizes, _volumes(walk, homes, k), np.empty(0), sums, *anywhere)
    steps = len(flow.edges) * k * objective.steps
    loops = kernels(objective.kernels, steps, steps)
    loops.tally(flow, state)
    state = state._replace(flows=objective.flows(flow.scale, sums))
    gained, targets = np.empty(n), np.empty(n, dtype=np.int64)
    loops.best_moves(flow, state, gained, targets)
    stays = targets == homes
    return np.where(stays, np.nan, 0.0 - gained), np.where(stays, -1, targets)


def _reasons(walk: RandomWalk, homes: Integers, k: int, unfit: Booleans) -> Integers:
    """Why each vertex is an outlier, as a position in REASONS."""
    _, others = _counts(walk)
    reasons = np.where(unfit, UNFIT, 0)
    reasons[(_volumes(walk, homes, k) < TINY / k)[homes]] = SLIVER
    reasons[(others < 2) | (walk.factors.return_probability > RETURNS)] = FEW
    return reasons
