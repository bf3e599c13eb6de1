"""HTML tables for notebook cells."""

from dataclasses import replace

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.clustering.n_clusters import Candidate, Suggestion
from support.paper_data import paper_hypergraph

HOSTILE = ["<script>alert(1)</script>", '"onload=', "\ud800", "\u202e", "x" * 10_000]


def test_partitions_and_hypergraphs_are_tables():
    zoo = hc.cluster(paper_hypergraph("zoo")[0], k=3)
    shown = zoo._repr_html_()
    assert shown.count("<tr>") == 1 + zoo.k
    assert f"{zoo.ncut:.6g}" in shown
    hypergraph = paper_hypergraph("zoo")[0]._repr_html_()
    assert "hair = 1" in hypergraph
    assert "and 31 more hyperedges" in hypergraph


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_escaped(name):
    h = hc.Hypergraph.from_edges({name: [name, "b"], (name, 1): ["b", "c"]})
    shown = h._repr_html_()
    assert "<script" not in shown
    assert len(shown) < 5000
    shown.encode()
    assert shown.count("<bdi>") == shown.count("</bdi>")


def check(shown, most_rows=21):
    """Check that a table is safe and fits a cell."""
    assert "<script" not in shown
    shown.encode()
    assert shown.count("<bdi>") == shown.count("</bdi>")
    assert shown.count("<tr>") <= most_rows
    assert shown.count("<td ") <= 20 * 14
    lines = shown.replace("</bdi>", "\n").replace("<bdi>", "\n").splitlines()
    assert max(map(len, lines)) < 500
    return shown


def ring(names):
    """A hypergraph whose hyperedges are neighbours in a circle."""
    n = len(names)
    return hc.Hypergraph.from_edges({f"e{i}": [names[i], names[(i + 1) % n]] for i in range(n)})


def candidate(k):
    return Candidate(k, 1.0, 0.9, 0.1, 0.2, 1.5, 0.1, 0.5, 1.0, 0.5, False, "why <b>not</b>")


@pytest.mark.parametrize("n_candidates", [0, 1, 20, 999])
def test_suggestions(n_candidates):
    found = Suggestion(None, False, False, "Because.", tuple(map(candidate, range(2, n_candidates + 2))))
    shown = check(found._repr_html_())
    assert shown.count("<tr>") == 1 + min(n_candidates, 20)
    assert ("and 979 more" in shown) == (n_candidates == 999)
    assert "no clear structure" in shown
    assert "Because." in shown
    assert "<b>" not in shown
    assert hc.suggest_k(hc.Hypergraph.from_edges([["a", "b"]]))._repr_html_()


@pytest.mark.parametrize("name", HOSTILE)
def test_summaries(name):
    edges = {name: [name], "f": [name, "b", "c"]}
    h = hc.Hypergraph.from_edges(edges).with_nouns(vertex="<b>row</b>")
    assert "a single member" in repr(hc.summary(h))
    shown = check(hc.summary(h)._repr_html_())
    assert shown.count("<tr>") == 5
    assert "<b>" not in shown
    for cell in ("4 incidences", "median", "1 connected component"):
        assert cell in shown
        assert cell in repr(hc.summary(h))


def test_the_summary_of_nothing():
    nothing = hc.summary(hc.Hypergraph.from_edges([["a"]], vertex_ids=["a", "b"], isolated="keep"))
    assert check(nothing._repr_html_())


@pytest.mark.parametrize("k", [1, 2, 10, 11, 1000])
def test_agreements(k):
    clusters = np.arange(2 * k) % k
    classes = [HOSTILE[i] if i < len(HOSTILE) else f"class {i}" for i in clusters]
    found = hc.agreement(classes, clusters.tolist())
    shown = check(found._repr_html_())
    assert ("others" in shown) == (k > 10)
    assert ("more classes" in shown) == (k > 20)
    assert f"NMI {found.nmi:.4f}" in shown


def test_an_agreement_shows_the_counts():
    found = hc.agreement(["x"] * 30 + ["y"] * 4, [1] * 28 + [0] * 2 + [0] * 4)
    cells = found._repr_html_().replace("</bdi>", "<bdi>").split("<bdi>")[1::2]
    assert cells[1:6] == ["class", "size", "F1", "0", "1"]
    assert cells[6:16:5] == ["x", "y"]
    assert cells[9:11] == ["2", "28"]
    assert cells[14:16] == ["4", "."]


def test_other_clusters_are_counted_together():
    sizes = np.arange(12, 0, -1)
    found = hc.agreement(["x"] * sizes.sum(), np.repeat(np.arange(12), sizes).tolist())
    cells = found._repr_html_().replace("</bdi>", "<bdi>").split("<bdi>")[1::2]
    assert cells[-1] == f"{1 + 2}"
    assert cells[14] == "2 others"


def test_local_clusters():
    found = hc.local_cluster(ring([*HOSTILE, *range(60)]), [HOSTILE[0]], max_size=30)
    assert len(found) > 20
    shown = check(found._repr_html_())
    assert f"and {len(found) - 20} more members" in shown
    assert "held together by: e" in shown
    assert "in doubt" in shown
    assert "members:" in repr(found)
    assert "members:" not in shown


def test_a_local_cluster_without_members():
    found = hc.local_cluster(ring(list("abcdef")), ["a"])
    ids, none = np.array([], dtype=object), np.array([])
    empty = replace(found, members=ids, scores=none, staying=none, edge_ids=ids, edge_parts=none, dips=())
    assert "0 vertices" in check(empty._repr_html_())
    assert repr(empty)


@pytest.mark.parametrize("k", [1, 2, 10, 11, 60])
def test_trees(k):
    part = hc.evaluate(ring(list(range(2 * k))), np.arange(2 * k) // 2)
    if k == 2:
        part = part.with_names(["<script>", "x" * 10_000])
    shown = check(part.tree("ncut")._repr_html_())
    lines = shown.split("<pre")[1].split("\n")
    assert len(lines) == 2 * min(k, 10)
    assert max(map(len, lines[1:])) < 100


def test_the_last_column_of_comparisons_is_text():
    found = hc.compare({"a": 0, "b": 0, "c": 1, "d": 1}, {"a": 0, "b": 1, "c": 1, "d": 1})
    assert found._repr_html_().count('<td style="text-align: left">') == 2
