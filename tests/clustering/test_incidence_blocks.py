"""Blocks of incidences: together they are all incidences, whatever the products are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.clustering.incidence_blocks import edge_parts, lists_of, row_blocks, vertex_blocks
from hyperclus.clustering.membership import confidence
from hyperclus.clustering.objectives import INFORMATION, NCUT
from hyperclus.engines.cpu import Lists, SparseProducts, Tuning
from hyperclus.engines.cpu_blocks import BlockProducts
from support.strategies import hypergraphs, random_hypergraph, with_partition

plain_alphas = st.sampled_from([0.0, 1.0])  # of products in blocks
TUNINGS = (Tuning(blocks=1, min_vertices=1), Tuning(threads=3, incidences_each=1, blocks=4, min_vertices=1))


def walks(h, alpha):
    """The same walk with sparse products and with products in blocks."""
    yield hc.RandomWalk(h, alpha=alpha, products=SparseProducts(Lists(h.gamma, alpha)))
    for tuning in TUNINGS:
        yield hc.RandomWalk(h, alpha=alpha, products=BlockProducts.of(Lists(h.gamma, alpha), tuning))


@given(hypergraphs(min_n=2), plain_alphas, st.integers(1, 20))
def test_blocks_of_vertices_are_the_transpose(h, alpha, entries):
    for walk in walks(h, alpha):
        found = list(vertex_blocks(walk, entries))
        rows = [block.matrix(h.n_edges).toarray() for block in found]
        np.testing.assert_array_equal(np.vstack(rows), h.gamma.toarray().T)
        assert [block.rows.start for block in found[1:]] == [block.rows.stop for block in found[:-1]]
        few = list(vertex_blocks(walk, entries, most=1))
        assert sum(block.rows.stop - block.rows.start for block in few) == h.n_vertices


@given(hypergraphs(min_n=2), st.data())
def test_lists_of_few_vertices_are_rows_of_the_transpose(h, data):
    some = data.draw(st.lists(st.integers(0, h.n_vertices - 1), unique=True, max_size=h.n_vertices))
    found = lists_of(hc.RandomWalk(h), np.array(some, dtype=np.int64))
    np.testing.assert_array_equal(found.toarray(), h.gamma.toarray().T[some])
    assert found.has_sorted_indices


@given(hypergraphs(), st.integers(1, 5), st.integers(1, 10))
def test_parts_and_blocks_cover_all_hyperedges(h, parts, entries):
    found = list(edge_parts(h.gamma.indptr, parts, entries))
    rows = [rows for part in found for rows, _, _ in row_blocks(h.gamma.indptr, entries, 3, part)]
    assert [edge for some in rows for edge in range(some.start, some.stop)] == list(range(h.n_edges))


@given(with_partition(hypergraphs(min_n=3)), plain_alphas, st.sampled_from([NCUT, INFORMATION]))
def test_confidence_does_not_depend_on_the_blocks(case, alpha, objective):
    h, labels = case
    k = labels.max() + 1
    one, *others = (confidence(walk, labels, k, objective) for walk in walks(h, alpha))
    for other in others:
        for name in ("values", "margins", "fits"):
            np.testing.assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_a_large_hypergraph_has_the_flows_of_its_parts(alpha):
    """Several parts on threads give what one block gives."""
    from hyperclus.clustering.edge_flows import edge_flows

    h = random_hypergraph(60, 80, 5, seed=0)
    walk, labels = hc.RandomWalk(h, alpha=alpha), np.arange(60) % 3
    volumes = np.bincount(labels, weights=walk.stationary)
    one, other = (edge_flows(walk, labels, volumes, 4, block_entries=size) for size in (1 << 20, 7))
    for name in ("stay_probability", "nearest", "clear", "shares", "counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert all(np.array_equal(a.edges, b.edges) for a, b in zip(one.top, other.top, strict=True))
