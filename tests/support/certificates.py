"""Certificates for tests: of small hypergraphs, with random multipliers, and through files."""

from pathlib import Path

import numpy as np

import hyperclus as hc
from hyperclus.verification.certificate import Leaf, read_certificate, write_certificate

EMPTY = {"path": 3, "pairs": 2, "triples": 3, "type_triples": 3, "apart": 2}


def leaf(n, **parts):
    """A leaf without multipliers, with some parts replaced."""
    arrays = {name: np.zeros((0, width), dtype=np.int64) for name, width in EMPTY.items()}
    arrays |= {name: np.zeros(0, dtype=np.int64) for name in ("types", "groups")}
    lists = ("pair_values", "triple_values", "type_triple_values", "apart_values")
    arrays |= {name: np.zeros(0) for name in lists}
    arrays |= {"type_values": np.zeros((0, 0))}
    return Leaf(**{"shift": 0.0, "vectors": np.zeros((n, 0)), **arrays, **parts})


def random_leaf(n, rng, *, of_types=True, sparse=True):
    """Random multipliers of every family, a shift and a correction; what they prove may be nothing."""
    parts = {"shift": rng.uniform(-1, 0.5), "vectors": rng.normal(size=(n, 2)) / 4}
    if sparse and n > 2:
        pairs = np.array([(u, v) for u in range(n) for v in range(u + 1, n)])
        triples = np.array([rng.permutation(n)[:3] for _ in range(5)])
        parts |= {"pairs": pairs, "pair_values": rng.exponential(0.2, len(pairs))}
        parts |= {"triples": triples, "triple_values": rng.exponential(0.2, len(triples))}
    if of_types:
        types = np.unique(rng.integers(0, 3, n), return_inverse=True)[1].astype(np.int64)
        r = int(types.max()) + 1
        values, rows = rng.exponential(0.3, (r, r)), rng.integers(0, r, (4, 3))
        parts |= {"types": types, "type_values": values + values.T}
        parts |= {"type_triples": rows, "type_triple_values": rng.exponential(0.3, 4)}
    return leaf(n, **parts)


def certified(h, k, folder, *, bound="eigenvalues", alpha=0.0, **settings):
    """The path and the content of the certificate of the clusters that a quick search finds."""
    given = {"objective": "ncut", "effort": "fast", "min_share": 0, "chance": False, **settings}
    part = hc.cluster(h, k, alpha=alpha, bound=bound, **given)
    path = Path(folder, "some.cert")
    part.certificate(path)
    return path, read_certificate(path)


def written(certificate, folder):
    """The path of a file with a certificate."""
    path = Path(folder, "other.cert")
    write_certificate(certificate, path)
    return path
