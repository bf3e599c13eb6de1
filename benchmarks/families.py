"""Planted hypergraphs of any size: the families that the benchmarks use.

Each function returns a long table of arrays (vertex, edge, weight), the hyperedge weights, and the planted
block of each vertex. Vertices are numbered at random, so that the order of the input does not reveal the
blocks. `build` makes a `Hypergraph` of the first two.
"""

from typing import Any

import numpy as np


def sparse(
    n_incidences: int, blocks: int = 2, noise: float = 0.2, seed: int = 0
) -> tuple[dict, np.ndarray, np.ndarray]:
    """|E| = n hyperedges of 10 to 20 members, lognormal gamma, omega uniform in [0.5, 2].

    A hyperedge draws each member from its home block, or with probability `noise` from all vertices.
    """
    rng = np.random.default_rng(seed)
    n = max(n_incidences // 15, 2 * blocks)
    sizes = rng.integers(10, 21, n)
    edge = np.repeat(np.arange(n, dtype=np.int32), sizes)
    home = rng.integers(0, blocks, n)[edge].astype(np.int32)
    per_block = n // blocks
    vertex = home * np.int32(per_block) + rng.integers(0, per_block, len(edge), dtype=np.int32)
    del home
    stray = rng.random(len(edge), dtype=np.float32) < noise
    vertex[stray] = rng.integers(0, per_block * blocks, int(stray.sum()), dtype=np.int32)
    del stray
    keys = edge.astype(np.int64) * (per_block * blocks) + vertex
    del edge, vertex
    keys = _distinct_sorted(keys)
    edge = (keys // (per_block * blocks)).astype(np.int32)
    names = rng.permutation(per_block * blocks).astype(np.int32)
    vertex = names[keys % (per_block * blocks)]
    del keys
    planted = np.empty(per_block * blocks, dtype=np.int32)
    planted[names] = np.arange(per_block * blocks) // per_block
    weight = rng.lognormal(size=len(edge))
    return {"vertex": vertex, "edge": edge, "weight": weight}, rng.uniform(0.5, 2.0, n), planted


def binned(n_incidences: int, blocks: int = 2, seed: int = 0) -> tuple[dict, np.ndarray, np.ndarray]:
    """22 features in 5 bins, the paper's regime: 110 hyperedges of about n/5 vertices, lognormal gamma.

    Half of the features depend on the block: a vertex is in its block's favourite bin half of the time.
    """
    rng = np.random.default_rng(seed)
    n = n_incidences // 22
    planted = rng.integers(0, blocks, n).astype(np.int32)
    values = rng.integers(0, 5, (22, n), dtype=np.int32)
    favourite = rng.integers(0, 5, (22, blocks), dtype=np.int32)
    leaning = rng.random((22, n), dtype=np.float32) < np.where(np.arange(22) < 11, 0.5, 0.0)[:, None]
    values = np.where(leaning, favourite[:, planted], values)
    edge = (values + 5 * np.arange(22, dtype=np.int32)[:, None]).ravel()
    vertex = np.tile(np.arange(n, dtype=np.int32), 22)
    return {"vertex": vertex, "edge": edge, "weight": rng.lognormal(size=len(edge))}, np.ones(110), planted


def texts(
    n_incidences: int, blocks: int = 89, noise: float = 0.3, seed: int = 0
) -> tuple[dict, np.ndarray, np.ndarray]:
    """Short texts, such as tweets: a vertex is a text of 5 to 12 words, and each of 2 n words a hyperedge.

    Topics have very different sizes. A text draws a word from those of its topic, or with probability
    `noise` from all; low numbers are frequent, as in Zipf's law. The weight is the count of the word.
    """
    rng = np.random.default_rng(seed)
    n = n_incidences // 8
    n_words, own = 2 * n, max(2 * n // blocks, 10)
    shares = rng.lognormal(sigma=0.8, size=blocks)
    planted = rng.choice(blocks, n, p=shares / shares.sum()).astype(np.int32)
    text = np.repeat(np.arange(n), rng.integers(5, 13, n))
    rank = rng.random(len(text)) ** 2.5  # the density of a rank r falls as r ** -0.6
    stray = rng.random(len(text)) < noise
    topic_words = rng.integers(0, n_words, (blocks, own))
    word = np.where(stray, (rank * n_words).astype(int), topic_words[planted[text], (rank * own).astype(int)])
    pairs, counts = np.unique(text * n_words + word, return_counts=True)
    used, edge = np.unique(pairs % n_words, return_inverse=True)
    table = {"vertex": (pairs // n_words).astype(np.int32), "edge": edge.astype(np.int32)}
    return {**table, "weight": counts.astype(float)}, np.ones(len(used)), planted


def build(table: dict, omega: np.ndarray) -> Any:
    """Build the `Hypergraph`, without vertices in no hyperedge."""
    import hyperclus as hc  # not at the top: other libraries use the tables in environments without it

    return hc.Hypergraph.from_long(table, edge_ids=np.arange(len(omega)), edge_weights=omega, isolated="drop")


def _distinct_sorted(keys: np.ndarray) -> np.ndarray:
    keys.sort()
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
