"""A digest of a hypergraph that does not depend on the order of its vertices and hyperedges."""

from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Ids, Integers


def data_digest(hypergraph: Hypergraph) -> str:
    """The BLAKE2b digest (256 bits) of all incidences with gamma and omega, as hexadecimal text.

    Vertices and hyperedges are sorted by the text of their ids. Vertices in no hyperedge and hyperedges
    without members are left out, because the walk does not know them.

    >>> first = Hypergraph.from_edges({"e": ["a", "b"], "f": {"b": 2, "c": 1}})
    >>> second = Hypergraph.from_edges({"f": {"c": 1, "b": 2}, "e": ["b", "a"]})
    >>> data_digest(first) == data_digest(second), data_digest(first)[:8]
    (True, 'c7190224')
    """
    gamma = hypergraph.gamma
    filled, covered = np.diff(gamma.indptr) > 0, np.bincount(gamma.indices, minlength=gamma.shape[1]) > 0
    edges, edge_texts = _sorted(hypergraph.edge_ids, filled)
    vertices, vertex_texts = _sorted(hypergraph.vertex_ids, covered)
    matrix = sp.csr_array(gamma[edges][:, vertices])
    matrix.sort_indices()
    digest = blake2b(b"hyperclus data 1", digest_size=32)
    for texts in (edge_texts, vertex_texts):
        for text in (str(len(texts)), *texts):
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "little") + encoded)
    numbers = (hypergraph.edge_weights[edges], matrix.data)
    for array in (*(one.astype("<f8") for one in numbers), matrix.indices, matrix.indptr):
        kind = "<f8" if array.dtype.kind == "f" else "<i8"
        digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
    return digest.hexdigest()


def _sorted(ids: Ids, kept: Any) -> tuple[Integers, list[str]]:
    """The positions of the kept ids in the order of their texts, and these texts."""
    texts = [_text(one) for one in ids.tolist()]
    order = sorted(np.flatnonzero(kept).tolist(), key=texts.__getitem__)
    return np.array(order, dtype=np.int64), [texts[place] for place in order]


def _text(value: Any) -> str:
    """An id as text with its type, so that 1 and "1" differ."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple):
        parts = [_text(one) for one in value]
        return f"tuple:{len(parts)}:" + "".join(f"{len(part)}:{part}" for part in parts)
    return f"{type(value).__name__}:{value.hex() if isinstance(value, float) else value}"
