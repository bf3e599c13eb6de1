"""Positive semidefiniteness on the side of the hyperedges, for many vertices and few hyperedges.

The assumptions about the machine are those of `rounded`.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperclus.typing import Floats
from hyperclus.verification.certificate import Leaf
from hyperclus.verification.items import Items, TypeTerms
from hyperclus.verification.rounded import RANGE, ROWS, UNIT, proven_positive


class LowRank(NamedTuple):
    """C = D + K J K' with a diagonal D > 0, and J = Zh Zh' - Zf Zf' up to an error of C."""

    diagonal: Floats
    columns: Any  # K, sparse
    negative: Floats  # Zf
    positive: Floats  # Zh
    sizes: Floats  # at least the norm of each column of D^-1/2 K, and of the magnitudes that it is a sum of
    error: float


def applies(leaf: Leaf) -> bool:
    """Whether all multipliers of a leaf are of low rank."""
    return not (len(leaf.pairs) or len(leaf.triples) or len(leaf.apart))


def smallest_eigenvalue(items: Items, leaf: Leaf, terms: TypeTerms) -> float:
    """A proven lower bound of the eigenvalues of G - s I + V V' on the complement of q, or -inf.

    With F = K Zf and H = K Zh, C = D + H H' - F F' is positive semidefinite if F' (D + H H')^-1 F <= I. The
    left side is the smallest, over all matrices Y, of (F - H Y)' D^-1 (F - H Y) + Y' Y. So one Y, an
    approximate minimiser, and one Cholesky factorisation in the dimension of F prove it. If only
    F' (D + H H')^-1 F <= (1 + t) I is proven, C is at least -t (D + H H'), whose norm is at most the largest
    entry of D times the largest sum of a column of |I + H' D^-1 H|.
    """
    found = low_rank(items, leaf, terms)
    if found is None:
        return -np.inf
    scaled = sp.diags_array(1 / np.sqrt(found.diagonal)) @ found.columns
    gram, terms_added = gram_in_blocks(scaled)
    across = found.negative.T @ gram @ found.positive
    inner = found.positive.T @ gram @ found.positive + np.eye(found.positive.shape[1])
    try:
        y = np.linalg.solve(inner, across.T)
    except np.linalg.LinAlgError:
        return -np.inf
    product = across @ y
    left = (
        np.eye(len(across)) - found.negative.T @ gram @ found.negative + product + product.T - y.T @ inner @ y
    )
    left = (left + left.T) / 2
    reach = np.abs(found.negative).T @ found.sizes + np.abs(y).T @ (np.abs(found.positive).T @ found.sizes)
    weight = terms_added + 4 * len(gram) + 60
    size = float(reach @ reach) + float(np.square(y).sum()) + len(across)
    error = 2 * weight * UNIT * size
    lowest = proven_positive(left) - error
    room = float(found.diagonal.max()) * float(np.abs(inner).sum(axis=0).max()) * (1 + 1e-6)
    return lowest * room - found.error if np.isfinite(lowest) else -np.inf


def gram_in_blocks(columns: Any, rows: int = ROWS) -> tuple[Floats, int]:
    """K'K as a sum over blocks of rows, and how many roundings a term of it goes through at most.

    These are as many as a block has rows, and as there are blocks; in one sum, as many as there are rows.
    """
    gram, blocks = np.zeros((columns.shape[1],) * 2), range(0, columns.shape[0], rows)
    for start in blocks:
        block = columns[start : start + rows]
        gram += (block.T @ block).toarray()
    return gram, min(rows, columns.shape[0]) + len(blocks)


def low_rank(items: Items, leaf: Leaf, terms: TypeTerms) -> LowRank | None:
    """G - s I + V V' + q a' + a q' as a diagonal and a product; None where that is not possible.

    With t(e) that makes the columns of out and back equally long, F0 = (t out + back / t) / 2 and
    G0 = (t out - back / t) / 2 have F0 F0' - G0 G0' = (out back' + back out') / 2 = M.
    """
    out, back = items.rounded()
    root = np.array([float(one.mid()) for one in items.root])
    diagonal = np.full(items.size, 1 - leaf.shift)
    if len(leaf.types):
        diagonal += np.array([float(one.mid()) for one in terms.diagonal])[leaf.types]
    in_range = all(part.data.min() > RANGE and part.data.max() < 1 / RANGE for part in (out, back))
    if not (in_range and diagonal.min() > 1e-6 and root.min() > RANGE):
        return None
    scale = np.sqrt(sp.linalg.norm(back, axis=0) / sp.linalg.norm(out, axis=0))
    out, back = out @ sp.diags_array(scale / 2), back @ sp.diags_array(0.5 / scale)
    together = out + back
    of_types = np.array([[float(one.mid()) for one in row] for row in terms.pairs])
    r = len(of_types)
    places = (np.arange(items.size), leaf.types)
    kinds = [sp.csr_array((root, places), shape=(items.size, r))] if r else []
    added = _added(root, diagonal, (together, out - back), leaf, kinds, of_types)
    dense = sp.csr_array(np.column_stack([leaf.vectors, root, added]))
    columns = sp.csr_array(sp.hstack([together, out - back, *kinds, dense]))
    negative, positive, left = _split(out.shape[1], of_types, leaf.vectors.shape[1])
    weights = sp.diags_array(1 / np.sqrt(diagonal))
    sizes = np.asarray(sp.linalg.norm(weights @ columns, axis=0), dtype=np.float64)
    n_edges = out.shape[1]
    sizes[n_edges : 2 * n_edges] = sizes[:n_edges]
    volumes = np.sqrt([float(one.mid()) for one in terms.volumes])
    error = float(np.linalg.norm(volumes[:, None] * left * volumes)) if r else 0.0
    error += 20 * UNIT * float(np.abs(diagonal).max())
    return LowRank(diagonal, columns, negative, positive, sizes, 2 * error)


def _added(
    root: Floats, diagonal: Floats, halves: tuple[Any, Any], leaf: Leaf, kinds: list[Any], of_types: Floats
) -> Floats:
    """The vector a = (1 + q'Cq) q / 2 - C q, in floating point; any vector would be valid."""
    image = diagonal * root - halves[0] @ (halves[0].T @ root) + halves[1] @ (halves[1].T @ root)
    image += leaf.vectors @ (leaf.vectors.T @ root)
    for kind in kinds:
        image += kind @ (of_types @ (kind.T @ root))
    return np.asarray((1 + root @ image) / 2 * root - image)


def _split(n_edges: int, of_types: Floats, width: int) -> tuple[Floats, Floats, Floats]:
    """Zf and Zh for the columns F0, G0, types, V, q and a; and what the types' part leaves, in magnitude."""
    values, vectors = np.linalg.eigh(of_types) if len(of_types) else (np.zeros(0), np.zeros((0, 0)))
    down, up = values < 0, values > 0
    falling, rising = vectors[:, down] * np.sqrt(-values[down]), vectors[:, up] * np.sqrt(values[up])
    left = np.abs(of_types - (rising @ rising.T - falling @ falling.T))
    sizes = np.abs(rising) @ np.abs(rising).T + np.abs(falling) @ np.abs(falling).T
    left = left + (len(values) + 10) * UNIT * (sizes + np.abs(of_types))
    half = np.sqrt(0.5)
    blocks = (np.eye(n_edges), np.zeros((n_edges, 0))), (np.zeros((n_edges, 0)), np.eye(n_edges))
    last = (np.array([[half], [-half]]), np.array([[half], [half]]))
    parts = (*blocks, (falling, rising), (np.zeros((width, 0)), np.eye(width)), last)
    negative, positive = (sp.block_diag([part[side] for part in parts]).toarray() for side in (0, 1))
    return negative, positive, left
