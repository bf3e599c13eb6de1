"""`summary`: figures equal their definitions; each remark is made if and only if it applies."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.hypergraph import incidence
from hyperclus.hypergraph.summary import quantiles, quantiles_of_counts, summary
from support import oracles
from support.strategies import disconnected, hypergraphs, random_hypergraph

examples = settings(deadline=None, max_examples=60)


@examples
@given(h=hypergraphs() | disconnected())
def test_figures_are_their_definitions(h):
    found, inside = summary(h), oracles.members(h)
    degrees = [sum(v in edge for edge in inside) for v in range(h.n_vertices)]
    gammas = [float(weight) for edge in inside for weight in edge.values()]
    parts = oracles.components(h)
    assert (found.n_vertices, found.n_edges, found.n_incidences) == (len(degrees), len(inside), len(gammas))
    assert found.n_components == len(parts)
    assert found.largest_component == max(map(len, parts))
    for five, values in (
        (found.edge_sizes, [len(edge) for edge in inside]),
        (found.degrees, degrees),
        (found.gamma, gammas),
        (found.omega, h.edge_weights),
    ):
        assert five == pytest.approx(np.quantile(values, [0, 0.25, 0.5, 0.75, 1]))


@examples
@given(h=hypergraphs())
def test_repeated_hyperedges_are_counted(h):
    inside = [tuple(sorted(edge.items())) for edge in oracles.members(h)]
    repeats = len(inside) - len(set(inside))
    said = [remark for remark in summary(h).remarks if "members and weights of another" in remark]
    assert len(said) == (repeats > 0)
    if repeats:
        assert said[0].startswith(f"{repeats} hyperedge")


PLAIN = [
    {"a": 1, "b": 2},
    {"b": 1, "c": 3},
    {"c": 1, "d": 2},
    {"a": 2, "f": 1, "e": 1},
    {"e": 1, "b": 2, "f": 1},
]


@pytest.mark.parametrize(
    ("edges", "options", "remark"),
    [
        ([*PLAIN, {"x": 1, "y": 2}], {}, "2 connected components, so a partition into 2 clusters has NCut 0"),
        ([*PLAIN, ["x", "y"], ["p", "q"]], {}, "3 connected components, .* 2 to 3 clusters has NCut 0"),
        (
            PLAIN,
            {"vertex_ids": list("abcdefz"), "isolated": "keep"},
            "1 vertex is in no hyperedge and will get label -1: 'z'",
        ),
        ([*PLAIN, {}], {"empty_edges": "keep"}, "1 hyperedge has no members and no effect: 5"),
        (
            [*PLAIN, dict(zip("abcdef", range(1, 7), strict=True))],
            {},
            "1 hyperedge holds over half of the vertices: 5",
        ),
        ([*PLAIN, {"a": 1}], {}, "1 hyperedge has a single member and connects nothing: 5"),
        (
            [*PLAIN, {"b": 1, "c": 3}],
            {},
            "1 hyperedge repeats the members and weights of another: 5 those of 1",
        ),
        ([list(edge) for edge in PLAIN], {}, "gamma is the same for all members"),
        ([*PLAIN, {"a": 1e-9, "c": 1}], {}, "in hyperedge 5 a member weighs over 1,000,000 times"),
        (
            PLAIN,
            {"edge_weights": [1e9, 1, 1, 1, 0.5]},
            "hyperedge 0 weighs over 1,000,000 times as much as 4",
        ),
        (
            [*PLAIN, {"A ": 1, "b": 2, "c": 1}],
            {},
            "1 vertex id differs .* as do 'a' and 'A '",
        ),
        ([*PLAIN, {1: 1, "1": 2, "a": 1}], {}, "as do 1 and '1'"),
        (
            dict(zip(["p", "q", "P", "r", "s"], PLAIN, strict=True)),
            {},
            "1 hyperedge id .* 'p' and 'P'",
        ),
        (
            {**{("p", i): edge for i, edge in enumerate(PLAIN)}, ("hair", 0): {"a": 1}},
            {},
            "1 hyperedge has a single member and connects nothing: hair = 0$",
        ),
        (
            {**{("p", i): edge for i, edge in enumerate(PLAIN)}, ("hair", "\x1b[31m"): {"a": 1}},
            {},
            r"connects nothing: \('hair', '\\x1b\[31m'\)$",
        ),
        ([{"a": 1, "b": 2, "c": 1}] * 2, {}, "every vertex is in every hyperedge"),
        ([{"a": 1, "b": 2}, {"c": 1, "d": 2, "a": 3}], {}, "most vertices are in at most one hyperedge"),
    ],
)
def test_remarks(edges, options, remark):
    h = hc.Hypergraph.from_edges(edges, **options)
    assert any(re.search(remark, said) for said in summary(h).remarks), summary(h)


def test_an_ordinary_hypergraph_has_no_remarks():
    assert summary(hc.Hypergraph.from_edges(PLAIN)).remarks == ()


def test_a_large_one():
    h = random_hypergraph(3000, 2000, 10, seed=0)
    text = repr(summary(h))
    assert "3,000 vertices, 2,000 hyperedges" in text
    assert max(map(len, text.splitlines())) < 120


def test_a_hypergraph_without_incidences():
    for edges, n_edges in (([], 0), ([[], []], 2)):
        found = summary(hc.Hypergraph.from_edges(edges))
        assert (found.n_vertices, found.n_edges, found.n_components, found.largest_component) == (
            0,
            n_edges,
            0,
            0,
        )
        assert found.remarks == ("no vertex is in a hyperedge, so there is nothing to cluster",)
        assert "nan" not in repr(found)


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=60), st.lists(st.floats(0, 1), max_size=6))
def test_quantiles_without_a_copy_are_those_of_numpy(values, shares):
    numbers = np.array(values)
    assert quantiles(numbers, shares, many=0) == np.quantile(numbers, shares).tolist()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.lists(st.floats(0, 1), max_size=6))
def test_quantiles_of_counts_are_those_of_numpy(values, shares):
    assert quantiles_of_counts(np.bincount(values), shares) == np.quantile(values, shares).tolist()


def test_degrees_are_counted_on_several_threads(monkeypatch):
    h = random_hypergraph(30, 20, 4, seed=1)
    monkeypatch.setattr(incidence, "THREADS_FROM", 1)
    monkeypatch.setattr(incidence, "available_threads", lambda: 3)
    assert incidence.vertex_degrees(h.gamma).tolist() == np.bincount(h.gamma.indices).tolist()
