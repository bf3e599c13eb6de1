"""node2vec: embed vertices by skip-gram on random walks, then k-means."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hyperclus._runtime.optional import library
from hyperclus._runtime.random import random_generator
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.research.baselines.scoring import scored_vectors, sklearn_cluster
from hyperclus.research.baselines.walk_graph import Walkers, likely_steps
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.typing import Floats, Integers, Seed

MAX_WALK_LENGTH = 10_000  # gensim reads no longer sentences


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
            raise InputError(
                f"walk_length must be from 2 to {MAX_WALK_LENGTH:,} vertices; got {self.walk_length}"
            )
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
    return scored_vectors(hypergraph, k, "node2vec", node2vec_vectors, settings, seed)


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
    walkers = Walkers(likely_steps(TransitionFactors(linked), chosen.threshold, rng))
    walks = _Walks(walkers, chosen.n_walks, chosen.walk_length, int(rng.integers(1 << 31)))
    model = word2vec(
        vector_size=chosen.dimension,
        window=chosen.window,
        negative=chosen.negatives,
        sg=1,
        min_count=1,
        seed=int(rng.integers(1 << 31)),
        workers=1,  # with more threads the seed would not determine the vectors
    )
    model.build_vocab_from_freq({str(v): int(count) for v, count in enumerate(walks.counts())})
    model.train(walks, total_examples=linked.n_vertices * chosen.n_walks, epochs=chosen.epochs)
    vectors = np.full((hypergraph.n_vertices, chosen.dimension), np.nan)
    vectors[covered] = model.wv[[str(v) for v in range(linked.n_vertices)]]
    return vectors


@dataclass(frozen=True, slots=True)
class _Walks:
    """The walks as sentences whose words are vertex numbers; each pass draws the same walks again."""

    walkers: Walkers
    n_walks: int
    length: int
    seed: int

    def blocks(self) -> Iterator[Integers]:
        return self.walkers.walks(self.n_walks, self.length, np.random.default_rng(self.seed))

    def counts(self) -> Integers:
        n = self.walkers.steps.shape[0]
        return sum(
            (np.bincount(block.ravel(), minlength=n) for block in self.blocks()), np.zeros(n, np.int64)
        )

    def __iter__(self) -> Iterator[list[str]]:
        words = np.array([str(v) for v in range(self.walkers.steps.shape[0])], dtype=object)
        for block in self.blocks():
            yield from words[block].tolist()


def _gensim() -> Any:
    return library("gensim.models", "gensim", "node2vec", "embeddings")
