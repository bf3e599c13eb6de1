"""HTML tables for notebook cells."""

import pytest

import hyperclus as hc
from support.paper_data import paper_hypergraph


def test_partitions_and_hypergraphs_are_tables():
    zoo = hc.cluster(paper_hypergraph("zoo")[0], k=3)
    shown = zoo._repr_html_()
    assert shown.count("<tr>") == 1 + zoo.k
    assert f"{zoo.ncut:.6g}" in shown
    hypergraph = paper_hypergraph("zoo")[0]._repr_html_()
    assert "hair = 1" in hypergraph
    assert "and 31 more hyperedges" in hypergraph


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"onload=', "\ud800", "\u202e", "x" * 10_000])
def test_names_are_escaped(name):
    h = hc.Hypergraph.from_edges({name: [name, "b"], (name, 1): ["b", "c"]})
    shown = h._repr_html_()
    assert "<script" not in shown
    assert len(shown) < 5000
    shown.encode()
    assert shown.count("<bdi>") == shown.count("</bdi>")
