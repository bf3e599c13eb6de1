import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.clustering.overlaps import PRIOR, overlap
from support.strategies import hypergraphs, with_relabelling


def by_definition(h, most):
    """The formula of `overlap`, with loops."""
    n = h.n_vertices
    edges = [set(h.gamma[[e]].indices.tolist()) for e in range(h.n_edges)]
    listed = []
    for v in range(n):
        own = [e for e in range(h.n_edges) if v in edges[e]]
        listed.append(sorted(own, key=lambda e: (len(edges[e]), e))[:most])
    lists = [{v for v in range(n) if e in listed[v]} for e in range(h.n_edges)]
    means = np.zeros(n)
    for v, own in enumerate(listed):
        lifts = []
        for e in own:
            for f in own:
                if e != f:
                    expected = (len(lists[e]) - 1) * (len(lists[f]) - 1) / n
                    lifts.append(np.log((len(lists[e] & lists[f]) - 1 + PRIOR) / (expected + PRIOR)))
        means[v] = np.mean(lifts) if lifts else 0.0
    counts = np.array([len(own) if len(own) > 1 else 0 for own in listed])
    usual = (counts * means).sum() / max(counts.sum(), 1)
    return counts * (means - usual / 2)


@given(hypergraphs(min_n=2), st.integers(2, 5), st.integers(1, 5))
def test_equals_its_definition(h, most, parts):
    assert overlap(h, most, parts) == pytest.approx(by_definition(h, most), abs=1e-9)


@given(with_relabelling(hypergraphs(min_n=4)))
def test_does_not_depend_on_the_order_of_the_input(given_orders):
    h, other, order = given_orders
    most = h.n_edges + 1  # ties in size do not matter then
    assert overlap(other, most) == pytest.approx(overlap(h, most)[order], abs=1e-9)


def test_is_low_where_hyperedges_share_nobody_else():
    cliques = [[f"{c}{i}" for i in range(4)] for c in "abc" for _ in range(2)]
    h = hc.Hypergraph.from_edges([[*cliques[0], "x"], *cliques[1:5], [*cliques[5], "x"]])
    found = dict(zip(h.vertex_ids.tolist(), overlap(h).tolist(), strict=True))
    assert found.pop("x") < 0 < min(found.values())


def test_one_hyperedge_says_nothing():
    assert overlap(hc.Hypergraph.from_edges([["a", "b"], ["c", "d", "e"]])).tolist() == [0.0] * 5
