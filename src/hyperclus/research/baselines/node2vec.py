"""node2vec: embed vertices by skip-gram on random walks over likely steps, then k-means."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.optional import library
from hyperclus._runtime.random import random_generator
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError, MissingLibraryError, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.research.baselines.scoring import scored_vectors, sklearn_cluster
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.typing import Floats, Ids, Incidence, Integers, Seed

MAX_WALK_LENGTH = 10_000  # gensim reads no longer sentences
MAX_STEPS = 200_000_000  # entries of the graph: about 5 GB
NO_WHEEL_FROM = (3, 14)  # Python; as in pyproject.toml
EQUAL = 1e-12  # entries of P whose relative difference is smaller are equal


@dataclass(frozen=True, slots=True, kw_only=True)
class Node2VecOptions:
    """Options of `node2vec` and `node2vec_vectors`.

    Attributes
    ----------
    threshold : float or None
        Smallest entry of P that is kept; 0 keeps every step, up to n^2 of them. By default 2/n, with n the
        number of vertices in hyperedges: this gives the paper's figures on digit-24; the paper does not
        print its own threshold.
    n_walks, walk_length : int
        Number of walks from every vertex, and the number of vertices in each, at most 10,000.
    dimension, window, epochs, negatives : int
        Of the skip-gram model: length of a vector, reach along the walk, passes over the walks, negative
        samples.
    """

    threshold: float | None = None
    n_walks: int = 10
    walk_length: int = 80
    dimension: int = 128
    window: int = 10
    epochs: int = 1
    negatives: int = 5

    def __post_init__(self) -> None:
        for name in ("n_walks", "walk_length", "dimension", "window", "epochs", "negatives"):
            check_integer(name, getattr(self, name))
        if not 2 <= self.walk_length <= MAX_WALK_LENGTH:
            limits = f"from 2 to {MAX_WALK_LENGTH:,} vertices"
            raise InputError(f"walk_length must be {limits}; got {self.walk_length}")
        if self.threshold is not None and not (is_number(self.threshold) and 0 <= self.threshold <= 1):
            raise InputError(f"threshold must be a probability from 0 to 1, or None; got {self.threshold!r}")

    def resolved(self, hypergraph: Hypergraph) -> "Node2VecOptions":
        """The same options with the default threshold of a hypergraph filled in."""
        if self.threshold is not None:
            return replace(self, threshold=float(self.threshold))
        return replace(self, threshold=min(2 / int(np.count_nonzero(hypergraph.covered)), 1.0))


def node2vec(hypergraph: Hypergraph, k: int = 2, *, seed: Seed = 0, **options: Any) -> Partition:
    """node2vec (Grover and Leskovec, KDD 2016) on the EDVW walk, then k-means on the vectors.

    The graph has the entries of P from `threshold` on, and the largest entry off the diagonal of each row.
    Plain walks on it (p = q = 1 in the terms of node2vec) are the sentences, and vertices the words, of
    gensim's skip-gram model. By default gensim drops some occurrences of words more frequent than one in a
    thousand.

    Parameters
    ----------
    seed : int, Generator or None
        Seed of the walks, the vectors and k-means.
    **options
        See `Node2VecOptions`.

    Raises
    ------
    InputError
        For invalid arguments, and for a threshold that keeps too many steps.
    MissingLibraryError
        Without gensim or scikit-learn: `pip install 'hyperclus[embeddings]'`.

    Examples
    --------
    >>> h = Hypergraph.from_edges([[0, 1, 2, 3], [0, 1, 2, 3], [3, 4], [4, 5, 6, 7], [4, 5, 6, 7]])
    >>> node2vec(h, threshold=0, epochs=20).labels.tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """
    _gensim(), sklearn_cluster("node2vec")
    check_hypergraph(hypergraph)
    settings = asdict(Node2VecOptions(**options).resolved(hypergraph))
    return scored_vectors(hypergraph, k, node2vec_vectors, settings, seed)


def node2vec_vectors(hypergraph: Hypergraph, *, seed: Seed = 0, **options: Any) -> Floats:
    """The vectors that `node2vec` clusters, of shape (n_vertices, dimension), with the same arguments.

    The row of a vertex in no hyperedge is NaN.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    >>> node2vec_vectors(h, dimension=4).shape
    (3, 4)
    """
    word2vec = _gensim().Word2Vec
    check_hypergraph(hypergraph)
    chosen = Node2VecOptions(**options).resolved(hypergraph)
    assert chosen.threshold is not None
    rng, covered = random_generator(seed), hypergraph.covered
    linked = hypergraph if covered.all() else hypergraph.restrict(covered)
    n = linked.n_vertices
    steps = likely_steps(TransitionFactors(linked), chosen.threshold, rng)
    walk_seed = int(rng.integers(1 << 31))

    def walks() -> Iterator[Integers]:
        return random_walks(steps, chosen.n_walks, chosen.walk_length, np.random.default_rng(walk_seed))

    model = word2vec(
        vector_size=chosen.dimension,
        window=chosen.window,
        negative=chosen.negatives,
        sg=1,
        min_count=1,
        seed=int(rng.integers(1 << 31)),
        workers=1,  # with more threads the seed would not determine the vectors
    )
    words = np.array([str(v) for v in range(n)], dtype=object)
    counts = sum(np.bincount(block.ravel(), minlength=n) for block in walks())
    model.build_vocab_from_freq(dict(zip(words, np.asarray(counts).tolist(), strict=True)))
    model.train(_Sentences(walks, words), total_examples=n * chosen.n_walks, epochs=chosen.epochs)
    vectors = np.full((hypergraph.n_vertices, chosen.dimension), np.nan)
    vectors[covered] = model.wv[words.tolist()]
    return vectors


@dataclass(frozen=True, slots=True)
class _Sentences:
    """The walks as sentences whose words are vertex numbers; each pass draws the same walks again."""

    walks: Callable[[], Iterator[Integers]]
    words: Ids

    def __iter__(self) -> Iterator[list[str]]:
        for block in self.walks():
            yield from self.words[block].tolist()


def _gensim() -> Any:
    try:
        return library("gensim.models", "gensim", "node2vec", "embeddings")
    except MissingLibraryError:
        if sys.version_info < NO_WHEEL_FROM:
            raise
        raise MissingLibraryError(
            "node2vec needs gensim, which has no wheel for this version of Python: use an older one, or "
            "'pip install gensim' where there is a compiler"
        ) from None


def likely_steps(
    factors: TransitionFactors,
    threshold: float,
    rng: np.random.Generator,
    *,
    max_steps: int = MAX_STEPS,
    at_once: int = 4_000_000,
) -> Incidence:
    """The entries of P from a threshold on, and the largest entry off the diagonal of each row.

    P is formed and cut a few rows at a time, with about `at_once` entries. Of several largest entries one
    is drawn. A vertex that shares no hyperedge with another stays where it is.
    """
    h, source_weights = factors.hypergraph, factors.lists.source_weights_by_vertex
    into = source_weights.data * h.edge_weights[source_weights.indices]
    into /= np.repeat(factors.degrees, np.diff(source_weights.indptr))
    first = sp.csr_array((into, source_weights.indices, source_weights.indptr), shape=source_weights.shape)
    out = h.gamma.data / np.repeat(factors.edge_degrees, h.edge_sizes)
    second = sp.csr_array((out, h.gamma.indices, h.gamma.indptr), shape=h.gamma.shape)
    upper = np.minimum(np.asarray(first.astype(bool) @ h.edge_sizes, dtype=np.float64), h.n_vertices)
    bounds = np.searchsorted(np.cumsum(upper), np.arange(at_once, upper.sum(), at_once))
    blocks, total = [], 0
    for start, end in pairwise(np.unique([0, *bounds.tolist(), h.n_vertices]).tolist()):
        blocks.append(_cut(first[start:end] @ second, start, threshold, rng))
        total += blocks[-1].nnz
        if total > max_steps:
            raise InputError(
                f"after {end:,} of {h.n_vertices:,} vertices, {total:,} steps have a probability of at least "
                f"{threshold:g}, too many for memory; raise the threshold"
            )
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _cut(block: Any, first: int, threshold: float, rng: np.random.Generator) -> Incidence:
    """Some rows of P, starting with that of vertex `first`, without the small entries."""
    lengths = np.diff(block.indptr)
    rows = np.repeat(np.arange(len(lengths), dtype=block.indices.dtype), lengths)
    others = np.where(block.indices == rows + first, -1.0, block.data)
    keep = block.data >= threshold * (1 - EQUAL)
    largest = np.maximum.reduceat(others, block.indptr[:-1]) * (1 - EQUAL)
    largest[lengths == 1] = -1.0
    tied = np.flatnonzero(others >= largest[rows])
    tied = tied[np.lexsort((rng.random(len(tied)), rows[tied]))]
    keep[tied[np.unique(rows[tied], return_index=True)[1]]] = True
    return sp.csr_array((block.data[keep], (rows[keep], block.indices[keep])), shape=block.shape)


def random_walks(
    steps: Incidence, per_vertex: int, length: int, rng: np.random.Generator, at_once: int = 20_000
) -> Iterator[Integers]:
    """Walks on a weighted directed graph: from v to u with a probability proportional to the entry (v, u).

    Yields blocks of up to `at_once` walks as rows; each vertex starts `per_vertex` walks, in random order.
    """
    n, reached = steps.shape[0], np.concatenate([[0.0], np.cumsum(steps.data)])
    for _ in range(per_vertex):
        starts = rng.permutation(n)
        for first in range(0, n, at_once):
            path = np.empty((length, len(starts[first : first + at_once])), dtype=np.int64)
            path[0] = starts[first : first + at_once]
            for step in range(1, length):
                path[step] = next_vertices(steps, reached, path[step - 1], rng)
            yield path.T


def next_vertices(steps: Incidence, reached: Floats, at: Integers, rng: np.random.Generator) -> Integers:
    """Draw the next vertex of each walk, by its position in the running sum of all weights, `reached`."""
    first, end = steps.indptr[at], steps.indptr[at + 1]
    drawn = reached[first] + rng.random(len(at)) * (reached[end] - reached[first])
    order, place = np.argsort(drawn), np.empty(len(at), dtype=np.int64)
    place[order] = np.searchsorted(reached, drawn[order], side="right") - 1  # in order it is twice as fast
    place = np.clip(place, first, end - 1)
    return np.asarray(steps.indices[place], dtype=np.int64)
