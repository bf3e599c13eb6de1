"""`compare`: definitions with loops, relabelling, vertices in one of the two only, and hostile input."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.clustering.metrics import best_matching
from support.contracts import refused
from support.strategies import hypergraphs, with_partition

H = hc.Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
PART = hc.cluster(H, objective="ncut")

labelings = st.dictionaries(st.integers(0, 14), st.integers(0, 3), min_size=1)
pairs = st.tuples(labelings, labelings).filter(lambda pair: pair[0].keys() & pair[1].keys())
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 5), min_size=width, max_size=width), min_size=1, max_size=4
    )
)


@settings(deadline=None)
@given(tables)
def test_the_matching_is_the_best_of_all(rows):
    counts = np.array(rows)
    matched = best_matching(counts)
    used = matched[matched >= 0]
    assert len(set(used)) == len(used)
    wide = counts if counts.shape[0] <= counts.shape[1] else counts.T
    best = max(
        sum(wide[row, column] for row, column in enumerate(columns))
        for columns in itertools.permutations(range(wide.shape[1]), wide.shape[0])
    )
    assert sum(counts[row, column] for row, column in enumerate(matched) if column >= 0) == best
    assert all(counts[row, column] > 0 for row, column in enumerate(matched) if column >= 0)


@settings(deadline=None)
@given(pairs)
def test_figures_by_their_definitions(pair):
    a, b = pair
    found = hc.compare(a, b)
    assert found.vertex_ids.tolist() == [*a, *(vertex for vertex in b if vertex not in a)]
    common = [vertex for vertex in a if vertex in b]
    for (i, one), (j, other) in itertools.product(enumerate(found.a_names), enumerate(found.b_names)):
        assert found.counts[i, j] == sum(a[vertex] == one and b[vertex] == other for vertex in common)
    match = {
        found.a_names[i]: found.b_names[j] if j >= 0 else None for i, j in enumerate(found.matches.tolist())
    }
    moved = [vertex for vertex in common if match[a[vertex]] != b[vertex]]
    assert found.moved.tolist() == moved
    assert found.unchanged == pytest.approx(1 - len(moved) / len(common))
    assert found.only_in_a.tolist() == [vertex for vertex in a if vertex not in b]
    assert found.only_in_b.tolist() == [vertex for vertex in b if vertex not in a]
    figures = hc.agreement([a[vertex] for vertex in common], [b[vertex] for vertex in common])
    assert (found.nmi, found.ari) == pytest.approx((figures.nmi, figures.ari))


@settings(deadline=None)
@given(pairs)
def test_events_by_their_definitions(pair):
    a, b = pair
    found = hc.compare(a, b)

    def home(labels, others):
        """The cluster of the others that has more than half of each cluster's vertices."""
        homes = {}
        for name in set(labels.values()):
            members = [vertex for vertex in labels if labels[vertex] == name]
            inside = [others[vertex] for vertex in members if vertex in others]
            homes[name] = next((one for one in inside if inside.count(one) > len(members) / 2), None)
        return homes

    to, origin = home(a, b), home(b, a)
    for parents, children, events in (
        (set(a.values()), origin, found.splits),
        (set(b.values()), to, found.mergers),
    ):
        expected = {one: [name for name in sorted(children) if children[name] == one] for one in parents}
        assert events == {one: names for one, names in expected.items() if len(names) > 1}
    assert set(found.disappeared) == {one for one in to if to[one] is None and one not in origin.values()}
    assert set(found.appeared) == {one for one in origin if origin[one] is None and one not in to.values()}


@settings(deadline=None)
@given(pairs)
def test_the_second_direction_mirrors_the_first(pair):
    there, back = hc.compare(*pair), hc.compare(*reversed(pair))
    assert np.array_equal(there.counts, back.counts.T)
    assert (there.unchanged, there.nmi) == pytest.approx((back.unchanged, back.nmi))
    assert (there.splits, there.mergers) == (back.mergers, back.splits)
    assert (there.disappeared, there.appeared) == (back.appeared, back.disappeared)


@settings(deadline=None)
@given(pairs, st.permutations(range(4)))
def test_other_numbers_for_the_clusters_change_nothing(pair, numbers):
    a, b = pair
    names = dict(enumerate("wxyz"))
    found, renamed = (
        hc.compare(a, b),
        hc.compare(a, {vertex: names[numbers[one]] for vertex, one in b.items()}),
    )
    assert renamed.unchanged == pytest.approx(found.unchanged)
    assert (renamed.nmi, renamed.ari) == pytest.approx((found.nmi, found.ari))
    assert hc.compare(b, {vertex: numbers[one] for vertex, one in b.items()}).unchanged == 1


@settings(deadline=None, max_examples=30)
@given(with_partition(hypergraphs()))
def test_a_partition_and_itself(case):
    h, labels = case
    part = hc.evaluate(h, labels, chance=False)
    found = hc.compare(part, part)
    assert not len(found.moved)
    assert (found.unchanged, found.ari, found.splits, found.mergers) == (1, 1, {}, {})
    assert found.counts.tolist() == np.diag(part.sizes).tolist()
    assert np.allclose(found.volumes, np.diag(part.cut.volumes))
    assert hc.compare(part, labels).unchanged == 1


def test_lists_series_and_partitions_of_the_same_vertices():
    labels = dict(zip(H.vertex_ids.tolist(), "xxyyyy", strict=True))
    given = labels, pd.Series(labels), [*labels.values()], np.array(list("xxyyyy")), hc.evaluate(H, labels)
    for one in given:
        assert hc.compare(PART, one).moved.tolist() == ["c"]
        assert hc.compare(one, PART).moved.tolist() == ["c"]
    assert hc.compare([0, 0, 1], pd.Series([1, 1, 1])).moved.tolist() == [2]


def test_vertices_without_a_cluster_are_in_one_of_the_two_only():
    h = hc.Hypergraph.from_edges([["a", "b"], ["c", "d"]], vertex_ids=list("abcde"))
    found = hc.compare(hc.cluster(h), {"a": 5, "b": 5, "c": -1, "e": 6})
    assert (found.only_in_a.tolist(), found.only_in_b.tolist()) == (["c", "d"], ["e"])
    assert found.b_names == (5, 6)
    frame = found.to_frame().set_index("vertex")
    assert frame.loc["e"].tolist() == [None, 6, False]
    assert list(hc.compare([0, 0, 1], [0, 1, 1]).to_frame().dtypes.map(lambda kind: kind.kind)) == list(
        "iiib"
    )


def test_partitions_of_different_hypergraphs_are_matched_by_id():
    later = hc.Hypergraph.from_edges([["f", "e", "d"], ["g", "e"], ["c", "b"], ["b", "h"]])
    found = hc.compare(PART, hc.cluster(later, 2, objective="ncut"))
    assert found.only_in_a.tolist() == ["a"]
    assert found.only_in_b.tolist() == ["g", "h"]
    assert not len(found.moved)
    assert found.volumes.sum() < 1


def test_tables_and_text():
    found = hc.compare(
        {"ann": "x", "bob": "x", "cy": "x", "dee": "<y>"}, {"ann": 0, "bob": 1, "cy": 1, "dee": 2}
    )
    flow = found.flow_frame().set_index(["a", "b"])
    assert flow.loc[("x", 1)].tolist()[:2] == [2, pytest.approx(2 / 3)]
    assert flow["matched"].tolist() == [False, True, True]
    assert "1 to 0" in repr(found)
    assert "x of a splits into 0 and 1 of b" in repr(found)
    assert "&lt;y&gt;" in found._repr_html_()
    many = hc.compare(range(100), [0] * 100)
    assert "... and 80 more" in repr(many)
    assert repr(hc.compare(range(100), range(100)[::-1])).count("\n") == 24


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ({"a": 1}, {"b": 1}, ["no vertex in common", "same vertices"]),
        ({1: 1}, {"1": 1}, ["no vertex in common", "text"]),
        ({}, {"a": 1}, ["a has no vertex in a cluster"]),
        ([1, 2], [-1, -1], ["b has no vertex in a cluster"]),
        ([], [], ["a has no vertex in a cluster"]),
        ([1, 2], [1, 2, 3], ["3 vertices need a label of a each", "2 were given"]),
        (PART, [1, 2], ["6 vertices need a label of b each"]),
        ([1, 2], {"a": 1}, ["labels of a are a list", "mapping"]),
        ({"a": None}, {"a": 1}, ["label of a at position 0", "missing"]),
        ({"a": [1]}, {"a": 1}, ["cannot be an id"]),
        (pd.Series([1, 2], index=["a", "a"]), {"a": 1}, ["'a' appears more than once"]),
        ("text", [1], ["labels of a must be a list"]),
        (5, [1], ["labels of a must be a list"]),
        (range(10_000), range(10_000), ["10,000 and 10,000 clusters are too many"]),
    ],
)
def test_hostile_input(a, b, words):
    refused(lambda: hc.compare(a, b), *words)
