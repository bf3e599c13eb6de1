"""Hypergraphx holds everything but hyperedges with the same members."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperclus import Hypergraph, RandomWalk
from hyperclus.errors import LossWarning
from hyperclus.io.convert import from_hypergraphx, to_hypergraphx
from support.contracts import refused
from support.round_trips import any_ids, hypergraphs, integers, rounds, run_examples, same, texts
from support.strategies import hypergraphs as walkable

hypergraphx = pytest.importorskip(
    "hypergraphx", reason="Hypergraphx is not installed; see docs/how_to/other_libraries.md"
)


def empty_last(h):
    order = np.argsort(h.edge_sizes == 0, kind="stable")
    return Hypergraph(h.gamma[order], h.edge_weights[order], h.vertex_ids, h.edge_ids[order])


@given(st.one_of(hypergraphs(v, any_ids, parallel=False) for v in (integers, texts)))
@rounds
def test_round_trip(h):
    same(from_hypergraphx(to_hypergraphx(h)), empty_last(h))


@given(walkable(max_n=4))
@rounds
def test_merging_parallel_hyperedges_keeps_the_walk(h):
    rows = [tuple(h.gamma[[e]].indices.tolist()) for e in range(h.n_edges)]
    if len(set(rows)) == len(rows):
        same(from_hypergraphx(to_hypergraphx(h)), h)
        return
    second = next(e for e, row in enumerate(rows) if row in rows[:e])
    with pytest.warns(LossWarning, match=rf"Hypergraphx cannot hold .* \({second}\b"):
        one = from_hypergraphx(to_hypergraphx(h))
    assert one.edge_ids.tolist() == [e for e, row in enumerate(rows) if row not in rows[:e]]
    np.testing.assert_allclose(RandomWalk(one).dense(), RandomWalk(h).dense(), rtol=1e-12)
    np.testing.assert_allclose(one.edge_weights.sum(), h.edge_weights.sum(), rtol=1e-14)
    alone = [e for e, row in enumerate(rows) if rows.count(row) == 1]
    kept = np.isin(one.edge_ids, alone)
    np.testing.assert_array_equal(one.gamma.toarray()[kept], h.gamma.toarray()[alone])


def test_hypergraphs_of_hypergraphx():
    other = hypergraphx.Hypergraph([("a", "b"), ("b", "c")], weights=[2.0, 3.0])
    other.add_edge((), 5.0)
    other.add_empty_edge("nothing", None)
    refused(lambda: from_hypergraphx(other, empty_edges="error"), "no member is in hyperedge 2, 'nothing'")
    h = from_hypergraphx(other)
    assert h.edge_ids.tolist() == [0, 1, 2, "nothing"]
    assert h.edge_weights.tolist() == [2, 3, 5, 1]
    assert h.gamma.toarray()[:2].tolist() == [[1, 1, 0], [0, 1, 1]]


def test_hypergraphx_uses_the_weights():
    h = Hypergraph.from_edges({"e": {"b": 2, "a": 1}, "f": ["b"]}, edge_weights=[3, 4])
    other = to_hypergraphx(h)
    assert other.get_weight(("a", "b")) == 3
    assert other.get_incidence_metadata(("a", "b"), "b") == {"weight": 2.0}
    other.validate_invariants()


def test_other_metadata_are_named():
    other = hypergraphx.Hypergraph([("a", "b")], node_metadata={"a": {"age": 7}}, edge_metadata=[{"year": 1}])
    other.set_incidence_metadata(("a", "b"), "a", {"role": 1})
    words = "node attributes 'age', the edge attributes 'year', the incidence attributes 'role'"
    with pytest.warns(LossWarning, match=words):
        from_hypergraphx(other)


def test_ids_of_only_some_hyperedges_are_lost():
    other = hypergraphx.Hypergraph([("a", "b"), ("b", "c")], edge_metadata=[{"edge": "e"}, {}])
    with pytest.warns(LossWarning, match=re.escape("the edge attributes 'edge'")):
        assert from_hypergraphx(other).edge_ids.tolist() == [0, 1]


def test_refusals():
    for kind in ("DirectedHypergraph", "TemporalHypergraph", "MultiplexHypergraph"):
        refused(lambda k=kind: from_hypergraphx(getattr(hypergraphx, k)()), "undirected", f"not a {kind}")
    mixed = Hypergraph.from_edges({"e": [1, "a"]})
    refused(lambda: to_hypergraphx(mixed), "those of hyperedge 'e' cannot be sorted")
    bad = hypergraphx.Hypergraph([("a", "b")], weights=[-1.0])
    refused(lambda: from_hypergraphx(bad), "hyperedge 0 has weight -1")
    alone = hypergraphx.Hypergraph([("a", "b")])
    alone.add_node("c")
    assert from_hypergraphx(alone).vertex_ids.tolist() == ["a", "b", "c"]
    refused(lambda: from_hypergraphx(alone, isolated="error"), "no hyperedge holds vertex 'c'")


def test_examples():
    run_examples("hypergraphx")
