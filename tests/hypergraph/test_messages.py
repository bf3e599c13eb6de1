"""Values and ids in messages are short and on one line."""

import pickle

import numpy as np

import hyperclus as hc
from hyperclus.hypergraph.ids import id_array
from hyperclus.hypergraph.messages import USUAL, Nouns, named, no_column, shown
from support.contracts import refused


def test_shown():
    assert shown("a\nb😀") == "'a\\nb😀'"
    assert shown(np.int64(3)) == "3"
    assert shown(np.float64(0.5)) == "0.5"
    assert shown(np.str_("a")) == "'a'"
    assert shown("a  b") == "'a  b'"
    for value in ("x" * 10_000, ("x" * 10_000,) * 50, 10**400, np.ones((50, 50)), object()):
        assert len(shown(value)) <= 120
        assert "\n" not in shown(value)


def test_named():
    ids = id_array(list("abcde"), "vertex")
    assert named(ids, np.array([True, False, True, False, False])) == "'a', 'c'"
    assert named(ids, np.ones(5, dtype=bool)) == "'a', 'b', 'c' and 2 more"
    assert named(np.arange(5000), np.ones(5000, dtype=bool)) == "0, 1, 2 and 4,997 more"


def test_no_column():
    assert no_column("x", ["a", "b"]) == "the table has no column 'x'; its columns are 'a', 'b'"
    assert no_column("x", range(12)).endswith("its columns are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more")
    assert no_column("x", []).endswith("its columns are none")


def test_nouns():
    nouns = Nouns("customer_id", "baskets")
    assert [nouns.a_vertex, nouns.vertices, nouns.a_hyperedge, nouns.hyperedges] == [
        "customer",
        "customers",
        "basket",
        "baskets",
    ]
    assert (USUAL.count_vertices(1), USUAL.count_hyperedges(2)) == ("1 vertex", "2 hyperedges")
    assert Nouns.of_columns(0, "(row number)") == USUAL
    for wrong in ("", "  ", 3, None):
        refused(lambda wrong=wrong: Nouns(wrong), "the noun for a vertex must be text")


def test_nouns_follow_the_hypergraph(tmp_path):
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]).with_nouns(vertex="author", edge="paper")
    others = [h.restrict([0, 1]), h.with_gamma([1, 2, 3, 4]), h.with_edge_weights([1, 2]), hc.unit_weights(h)]
    others += [h.drop_edges(np.array([True, False])), pickle.loads(pickle.dumps(h))]
    hc.write(h, tmp_path / "h.npz")
    others.append(hc.read(tmp_path / "h.npz"))
    assert {other.nouns for other in others} == {Nouns("author", "paper")}
    assert h.with_nouns(edge="book").nouns == Nouns("author", "book")
    refused(lambda: hc.Hypergraph(h.gamma, [1, 1], "abc", [0, 1], "author"), "nouns must be Nouns")


def test_messages_use_the_nouns():
    table = {"customer": ["ann", "ann", "bob"], "item": ["tea", "tea", "tea"]}
    columns = {"vertex": "customer", "edge": "item"}
    refused(
        lambda: hc.Hypergraph.from_long(table, **columns), "customer 'ann' in item 'tea' appears more than"
    )
    refused(
        lambda: hc.Hypergraph.from_long({**table, "weight": [-1, 1, 1]}, **columns),
        "customer 'ann' in item 'tea' has weight -1",
    )
    options = {"duplicates": "sum", "vertex_ids": ["ann", "bob", "cy"], "isolated": "error"}
    refused(lambda: hc.Hypergraph.from_long(table, **columns, **options), "no item holds customer 'cy'")
