"""node2vec: vertices as vectors that predict which others a walk meets nearby, then k-means."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus._runtime.optional import library
from hyperclus._runtime.random import random_generator
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.research.baselines.k_means import clustering_for, k_means
from hyperclus.research.baselines.scoring import scored
from hyperclus.research.baselines.walk_graph import Walkers, likely_steps
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers, Seed

LONGEST = 10_000  # words of a sentence that gensim reads


def node2vec(
    hypergraph: Hypergraph,
    k: int = 2,
    *,
    threshold: float | None = None,
    n_walks: int = 10,
    walk_length: int = 80,
    dimension: int = 128,
    window: int = 10,
    epochs: int = 1,
    negatives: int = 5,
    seed: Seed = 0,
) -> Partition:
    """node2vec (Grover and Leskovec, KDD 2016) on the EDVW walk, then k-means on the vectors.

    The graph has the entries of P from `threshold` on and of each row the largest one off the diagonal.
    Walks on it (plain ones, p = q = 1 in the terms of node2vec) are the sentences, and vertices the
    words, of gensim's skip-gram model. gensim leaves out some of the words that are more frequent than one
    in a thousand, as it does by default.

    Parameters
    ----------
    threshold : float, optional
        2/n without it, n being the number of vertices in hyperedges; that gives the paper's figures on
        digit-24, and the paper does not print its own. 0 keeps every step, up to n^2 of them.
    n_walks, walk_length : int
        Walks from every vertex, and their vertices, 10,000 at most.
    dimension, window, epochs, negatives : int
        Of the skip-gram model: length of a vector, reach along the walk, passages over the walks,
        negative samples.
    seed : int, Generator or None
        Of the walks, the vectors and k-means.

    Raises
    ------
    InputError
        For arguments that cannot be used, and for a threshold that keeps too many steps.
    MissingLibraryError
        Without gensim or scikit-learn: `pip install 'hyperclus[embeddings]'`.

    Examples
    --------
    >>> h = Hypergraph.from_edges([[0, 1, 2, 3], [0, 1, 2, 3], [3, 4], [4, 5, 6, 7], [4, 5, 6, 7]])
    >>> node2vec(h, threshold=0, epochs=20).labels.tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """
    _gensim(), clustering_for("node2vec")  # missing ones are missed before the work
    check_hypergraph(hypergraph)
    settings = _checked(hypergraph, threshold, n_walks, walk_length, dimension, window, epochs, negatives)

    def label(walk: RandomWalk, rng: np.random.Generator) -> Integers:
        return k_means(node2vec_vectors(walk.hypergraph, **settings, seed=seed), k, rng)

    return scored(hypergraph, k, label, {"method": "node2vec", **settings}, seed)


def node2vec_vectors(
    hypergraph: Hypergraph,
    *,
    threshold: float | None = None,
    n_walks: int = 10,
    walk_length: int = 80,
    dimension: int = 128,
    window: int = 10,
    epochs: int = 1,
    negatives: int = 5,
    seed: Seed = 0,
) -> Floats:
    """The vectors that `node2vec` clusters, (n_vertices, dimension); arguments as there.

    The row of a vertex in no hyperedge is NaN.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    >>> node2vec_vectors(h, dimension=4).shape
    (3, 4)
    """
    word2vec = _gensim().Word2Vec
    check_hypergraph(hypergraph)
    settings = _checked(hypergraph, threshold, n_walks, walk_length, dimension, window, epochs, negatives)
    rng, held = random_generator(seed), hypergraph.covered
    linked = hypergraph if held.all() else hypergraph.restrict(held)
    walkers = Walkers(likely_steps(TransitionFactors(linked), settings["threshold"], rng))
    walks = _Walks(walkers, n_walks, walk_length, int(rng.integers(1 << 31)))
    model = word2vec(
        vector_size=dimension,
        window=window,
        negative=negatives,
        sg=1,
        min_count=1,
        seed=int(rng.integers(1 << 31)),
        workers=1,  # so that the seed fixes the vectors
    )
    model.build_vocab_from_freq({str(v): int(count) for v, count in enumerate(walks.counts())})
    model.train(walks, total_examples=linked.n_vertices * n_walks, epochs=epochs)
    vectors = np.full((hypergraph.n_vertices, dimension), np.nan)
    vectors[held] = model.wv[[str(v) for v in range(linked.n_vertices)]]
    return vectors


@dataclass(frozen=True, slots=True)
class _Walks:
    """The walks as sentences whose words are the vertices' numbers.

    They are not kept: each passage over them draws the same ones anew.
    """

    walkers: Walkers
    n_walks: int
    length: int
    seed: int

    def blocks(self) -> Iterator[Integers]:
        return self.walkers.walks(self.n_walks, self.length, np.random.default_rng(self.seed))

    def counts(self) -> Integers:
        n = self.walkers.steps.shape[0]
        total = np.zeros(n, dtype=np.int64)
        for block in self.blocks():
            total += np.bincount(block.ravel(), minlength=n)
        return total

    def __iter__(self) -> Iterator[list[str]]:
        words = np.array([str(v) for v in range(self.walkers.steps.shape[0])], dtype=object)
        for block in self.blocks():
            yield from words[block].tolist()


def _gensim() -> Any:
    return library("gensim.models", "gensim", "node2vec", "embeddings")


def _checked(hypergraph: Hypergraph, threshold: float | None, *counts: int) -> dict[str, Any]:
    """The settings by name, each in its range."""
    names = ("n_walks", "walk_length", "dimension", "window", "epochs", "negatives")
    settings: dict[str, Any] = dict(zip(names, counts, strict=True))
    for name, count in settings.items():
        check_integer(name, count)
    if not 2 <= settings["walk_length"] <= LONGEST:
        raise InputError(f"walk_length must be from 2 to {LONGEST:,} vertices; got {settings['walk_length']}")
    if threshold is None:
        threshold = min(2 / np.count_nonzero(hypergraph.covered), 1.0)
    elif not (is_number(threshold) and 0 <= threshold <= 1):
        raise InputError(f"threshold must be a probability from 0 to 1, or None; got {threshold!r}")
    return {"threshold": float(threshold), **settings}
