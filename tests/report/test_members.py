"""Who is in a group and why: the descriptions of groups, and the data to look up vertices and hyperedges."""

import base64
import json
import zlib

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.clustering.membership import REASONS
from hyperclus.report.html.about import About
from hyperclus.report.html.contents import Contents
from hyperclus.report.html.levels import levels_of
from hyperclus.report.html.lookup import SCALE, Lookup, LookupLimits, full_name, packed
from hyperclus.report.html.members import (
    CERTAIN,
    DESCRIBED,
    Descriptions,
    plain_reason,
    reasons,
    sureness,
)
from hyperclus.report.views import Limits, Views
from support.report_pages import HOSTILE, hostile_partition
from support.strategies import random_hypergraph


@pytest.fixture(scope="module")
def levels(planted):
    return levels_of(planted[0], 6)


@pytest.fixture(scope="module")
def descriptions(levels):
    return Descriptions(levels)


def members_by_loop(part, edge):
    gamma = part.walk.hypergraph.gamma
    return set(gamma.indices[gamma.indptr[edge] : gamma.indptr[edge + 1]].tolist())


def test_coverages_are_shares_of_members(levels, descriptions):
    for level in levels.levels:
        labels = level.part.walk_labels
        for group in level.groups:
            inside = {v for v in range(len(labels)) if labels[v] == group.label}
            for each in descriptions.get(group).edges:
                members = members_by_loop(level.part, each.position)
                assert each.edge == level.part.walk.hypergraph.edge_ids[each.position]
                assert each.coverage == pytest.approx(len(members & inside) / len(inside))
                rest = len(members - inside) / (len(labels) - len(inside))
                assert each.coverage_rest == pytest.approx(rest)


def test_the_least_certain_members_have_the_lowest_confidence(levels, descriptions):
    main = levels.levels[levels.main]
    sure = main.part.confidence()
    for group in main.groups:
        found = descriptions.get(group)
        members = np.flatnonzero(main.part.labels == group.label)
        expected = np.sort(sure.values[members])
        assert found.least == pytest.approx(expected[0])
        assert [each.confidence for each in found.uncertain] == pytest.approx(
            [value for value in expected[:6] if value < CERTAIN]
        )
        for each in found.uncertain:
            assert each.position in members
            assert each.vertex == main.part.vertex_ids[each.position]
            assert each.next.label == sure.next_clusters[each.position]


def test_unusual_members_are_the_outliers():
    edges = {
        f"e{i}": [f"v{j}" for j in range(10 * (i // 9), 10 * (i // 9) + 10) if j % 9 != i % 9]
        for i in range(18)
    }
    edges["alone"] = ["single"]
    edges["bridge"] = ["v0", "v10"]
    part = hc.cluster(hc.Hypergraph.from_edges(edges), k=2, chance=False)
    levels = levels_of(part, 2)
    sure, found = part.confidence(), Descriptions(levels)
    for group in levels.levels[levels.main].groups:
        members = part.labels == group.label
        outliers = {i for i in np.flatnonzero(members).tolist() if sure.outliers[i] is not None}
        described = found.get(group)
        assert described.n_unusual == len(outliers)
        assert {each.position for each in described.unusual} <= outliers
        for each in described.unusual:
            assert each.reason == plain_reason(sure.outliers[each.position], "hyperedges")
    assert "single" in {each.vertex for g in levels.levels[0].groups for each in found.get(g).unusual}


def test_every_reason_has_plain_words():
    words = reasons("items")
    assert words[0] == ""
    for reason, text in zip(REASONS[1:], words[1:], strict=True):
        assert text != reason
        assert text.endswith(".")
        assert "hyperedge" not in text


def test_confidence_in_words():
    assert [sureness(x) for x in (1.0, 0.95, 0.8, 0.6, 0.4, 0.0)] == [
        *("very sure", "very sure", "sure", "fairly sure", "unsure", "very unsure"),
    ]


def test_columns_of_a_table_are_compared_with_the_others():
    rng = np.random.default_rng(0)
    side = np.arange(300) < 120
    table = {
        "kind": np.where(side, "old", "new").tolist(),
        "age": np.where(side, rng.normal(70, 2, 300), rng.normal(30, 2, 300)).tolist(),
    }
    part = hc.evaluate(hc.Hypergraph.from_table(table), side, chance=False)
    levels = levels_of(part, 2)
    found = {group.size: Descriptions(levels).get(group) for group in levels.levels[levels.main].groups}
    columns = {column.name: column for column in found[120].columns}
    assert columns["age"].mean == pytest.approx(70, abs=6)
    assert columns["age"].mean_rest == pytest.approx(30, abs=6)
    assert columns["kind"].mean is None
    assert columns["kind"].values == (("old", 1.0, 0.0),)
    importances = [column.importance for column in found[120].columns]
    assert importances == sorted(importances, reverse=True)


def test_each_node_is_described_once(levels, descriptions):
    main = levels.levels[levels.main]
    here = {group.node for group in main.groups}
    elsewhere = [group.node for _, group in descriptions.elsewhere]
    assert len(set(elsewhere)) == len(elsewhere)
    assert not here & set(elsewhere)
    assert here | set(elsewhere) == {group.node for level in levels.levels for group in level.groups}
    for _, group in descriptions.elsewhere:
        assert descriptions.get(group) is descriptions.get(group)


def test_many_groups_are_not_all_described():
    part = hc.evaluate(random_hypergraph(900, 700, 5, seed=2), np.arange(900) % 150, chance=False)
    levels = levels_of(part)
    found = Descriptions(levels)
    described = {g.node for level in levels.levels for g in level.groups if found.get(g) is not None}
    assert len(described) == DESCRIBED
    assert {group.node for group in levels.levels[0].groups} <= described  # those with the fewest groups
    assert found.get(levels.finest.groups[-1]) is None


# ---- the data to look up -------------------------------------------------------------------------------


def unpacked(text):
    return json.loads(zlib.decompress(base64.b64decode(text)))


def sums(values, starts):
    """Undo the differences; each run begins with its own first value."""
    found, total = [], 0
    for i, value in enumerate(values):
        total = value if i in starts else total + value
        found.append(total)
    return found


def decoded(data):
    vertices, edges = data["vertices"], data["edges"]
    for some, lengths, key in ((vertices, "counts", "edges"), (edges, "cells", "leaf")):
        some["starts"] = [0, *np.cumsum(some[lengths]).tolist()]
        some[key] = sums(some[key], set(some["starts"]))
        some["positions"] = np.cumsum(some["positions"]).tolist()
    return data


def check_lookup(data, part, leaves):
    """Shares, counts and weights are those of the hypergraph."""
    vertices, edges, gamma = data["vertices"], data["edges"], part.walk.hypergraph.gamma
    shares, labels = leaves.edge_shares(), leaves.walk_labels
    for i, edge in enumerate(edges["positions"]):
        members = members_by_loop(part, edge)
        assert edges["sizes"][i] == len(members)
        cells = slice(edges["starts"][i], edges["starts"][i + 1])
        for leaf, share, count in zip(
            edges["leaf"][cells], edges["share"][cells], edges["count"][cells], strict=True
        ):
            assert share == pytest.approx(SCALE * shares[edge, leaf], abs=0.51)
            assert count == sum(labels[v] == leaf for v in members)
        assert sum(edges["count"][cells]) == len(members)
    inside = np.cumsum(part.labels >= 0) - 1
    for i, vertex in enumerate(vertices["positions"]):
        v = inside[vertex]
        for j in range(vertices["starts"][i], vertices["starts"][i + 1]):
            edge = edges["positions"][vertices["edges"][j]]
            assert v in members_by_loop(part, edge)
            omega, degree = part.walk.hypergraph.edge_weights[edge], part.walk.factors.degrees[v]
            picked = omega * gamma[edge, v] ** part.walk.alpha / degree
            arriving = part.walk.stationary[v] * picked / part.walk.edge_stationary[edge]
            onward = gamma[edge, v] / gamma[[edge]].sum()
            assert vertices["picked"][j] == pytest.approx(SCALE * picked, abs=0.51)
            assert vertices["weights"][j] == pytest.approx(SCALE * 0.5 * (arriving + onward), abs=0.51)
            if vertices["onward"] is not None:
                assert vertices["onward"][j] == pytest.approx(SCALE * onward, abs=0.51)


def test_the_lookup_has_the_whole_of_small_data(levels, descriptions, planted):
    part = planted[0]
    lookup = Lookup(levels, descriptions.listed)
    data = decoded(unpacked(packed(lookup.data())))
    assert lookup.has_all_vertices
    assert lookup.has_all_edges
    check_lookup(data, part, levels.finest.part)
    assert data["vertices"]["counts"] == data["vertices"]["degrees"]
    assert data["vertices"]["leaf"] == levels.finest.part.labels.tolist()
    main = data["vertices"]["certainty"][levels.main]
    assert np.allclose(np.array(main["sure"]) / SCALE, part.confidence().values, atol=1e-4)


def test_the_lookup_of_weighted_walks():
    h = random_hypergraph(40, 30, 5, seed=1)
    part = hc.cluster(h, k=3, alpha=0.5, chance=False)
    levels = levels_of(part, 4)
    lookup = Lookup(levels, Descriptions(levels).listed)
    check_lookup(decoded(lookup.data()), part, levels.finest.part)


def test_large_data_are_sampled(planted):
    """Vertices and hyperedges that are listed can always be looked up; the limits hold."""
    part = hc.cluster(random_hypergraph(400, 300, 6, seed=4), k=3, effort="fast", chance=False)
    levels = levels_of(part, 3)
    main = levels.levels[levels.main]
    main.__dict__["views"] = Views(part, Limits(embedding_vertices=50, lookup_vertices=100))
    listed = Descriptions(levels).listed
    limits = LookupLimits(edges=60, incidences=200, cells=100, members=10, labels_bytes=0)
    lookup = Lookup(levels, listed, limits)
    data = decoded(lookup.data())
    assert not lookup.has_all_vertices
    assert not lookup.has_all_edges
    assert set(listed[0].tolist()) <= set(data["vertices"]["positions"])
    assert set(listed[1].tolist()) <= set(data["edges"]["positions"])
    assert len(data["edges"]["names"]) <= max(limits.edges, len(listed[1]))
    assert lookup.file_data() == {"labels": None, "profile": None}
    check_lookup(data, part, levels.finest.part)
    for edge in listed[1].tolist():  # the members with the largest weights are known
        members = members_by_loop(part, edge)
        heaviest = max(part.walk.hypergraph.gamma[edge, v] for v in members)
        number = data["edges"]["positions"].index(edge)
        known = [
            data["vertices"]["positions"][i]
            for i in range(len(data["vertices"]["names"]))
            if number
            in data["vertices"]["edges"][data["vertices"]["starts"][i] : data["vertices"]["starts"][i + 1]]
        ]
        inside = (np.cumsum(part.labels >= 0) - 1)[known]
        assert len(known) >= min(5, len(members))
        assert heaviest in [part.walk.hypergraph.gamma[edge, v] for v in inside]


def test_labels_of_all_vertices_are_kept_if_they_are_small():
    part = hc.cluster(random_hypergraph(400, 300, 6, seed=4), k=3, effort="fast", chance=False)
    levels = levels_of(part, 3)
    levels.levels[levels.main].__dict__["views"] = Views(
        part, Limits(embedding_vertices=50, lookup_vertices=100)
    )
    data = Lookup(levels, Descriptions(levels).listed).file_data()
    assert data["labels"]["leaf"] == levels.finest.part.labels.tolist()
    assert data["labels"]["names"] == [full_name(value) for value in part.vertex_ids.tolist()]


def test_hostile_names_survive():
    part, classes = hostile_partition()
    about = About(Contents(part, classes=classes, levels=2))
    data = unpacked(about.packed)
    written = [data["vertices"]["full"].get(str(i), name) for i, name in enumerate(data["vertices"]["names"])]
    assert written == [full_name(value) for value in part.vertex_ids.tolist()]
    assert set(written) >= {name for name in HOSTILE if len(name) < 2000}
    assert max(map(len, written)) == 2000
    assert "\x00" not in "".join(data["vertices"]["names"])


def test_what_can_be_found_is_said():
    part = hc.cluster(random_hypergraph(400, 300, 6, seed=4), k=3, effort="fast", chance=False)
    contents = Contents(part, levels=3)
    n = len(part.labels)
    about = About(contents)
    assert f"of {n}" not in about.search_caption
    assert [key for key, _, _ in about.files] == ["labels", "edges"]
    contents.main.__dict__["views"] = Views(part, Limits(embedding_vertices=20, lookup_vertices=30))
    about = About(contents, LookupLimits(labels_bytes=0))
    number = len(about.lookup.vertices)
    assert f"{number} of {n} vertices" in about.search_caption
    labels = {key: text for key, _, text in about.files}["labels"]
    assert f"{number} of {n} vertices" in labels
    assert "--out" in labels


def test_rest_means_of_profiles_are_those_of_other_clusters(table):
    found = table.profile()
    for column in found.columns:
        if column.means is None:
            continue
        total = found.sizes.sum()
        for cluster, size in enumerate(found.sizes):
            rest = (column.mean_all * total - column.means[cluster] * size) / (total - size)
            assert column.means_rest[cluster] == pytest.approx(rest)


def test_top_attributes_are_those_of_the_description(tmp_path):
    rng = np.random.default_rng(4)
    classes = np.arange(60) % 3
    edges = [np.unique(c + 3 * rng.integers(0, 20, 4)).tolist() for c in np.arange(90) % 3]
    h = hc.Hypergraph.from_edges(edges, vertex_ids=range(60))
    table = {"<b>age</b>": 10.0 * classes + rng.normal(size=60), "noise": rng.normal(size=60)}
    part = hc.cluster(h, 3, attributes=table, beta=0.5, chance=False)
    levels = levels_of(part, 4)
    main, found = levels.levels[levels.main], Descriptions(levels)
    described = part.describe().attributes
    for group in main.groups:
        top = described[group.label]
        expected = zip(
            top.ids.tolist(), top.mean.tolist(), top.mean_all.tolist(), top.score.tolist(), strict=True
        )
        assert found.get(group).attributes == tuple(expected)
    part.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<h4>Its attributes</h4>") >= 3
    assert "<b>age</b>" not in page


def test_no_attributes_without_any(levels, descriptions):
    assert all(descriptions.get(group).attributes == () for level in levels.levels for group in level.groups)
