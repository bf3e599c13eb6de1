"""Hyperedges in JSON files."""

import json

import pytest

import hyperclus as hc
from hyperclus.io import read_json
from hyperclus.io.json_text import json_kind
from support.contracts import refused


def saved(folder, content, name="h.json"):
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    "edges",
    [
        [["a", "b"], ["b", "c"]],
        {"e": ["a", "b"], "f": ["b", "c"]},
        {"e": {"a": 2, "b": 0.5}, "f": {"b": 1, "c": 1}},
        {"e": [1, "1"], "é": [2]},
        [],
        [[], ["a"]],
    ],
)
def test_it_is_what_from_edges_makes_of_it(tmp_path, edges):
    found, expected = hc.read(saved(tmp_path, edges)), hc.Hypergraph.from_edges(edges)
    assert found.vertex_ids.tolist() == expected.vertex_ids.tolist()
    assert found.edge_ids.tolist() == expected.edge_ids.tolist()
    assert found.gamma.toarray().tolist() == expected.gamma.toarray().tolist()


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("[1, 2]", ["hyperedge 0: its members are 1", "a list of lists"]),
        ('{"e": "ab"}', ["hyperedge 'e': its members are 'ab'"]),
        ('{"e": ["a", null]}', ["hyperedge 'e': the member None"]),
        ('{"e": ["a", true]}', ["hyperedge 'e': the member True"]),
        ('{"e": {"a": "2"}}', ["hyperedge 'e': the weight of 'a' is '2', not a number"]),
        ('{"e": {"a": -2}}', ["h.json", "weight", "-2"]),
        ('{"e": ["a"], "e": ["b"]}', ["the key 'e' is repeated"]),
        ('{"e": ["a", "a"]}', ["duplicates='sum'"]),
        ('[["a", "b"],\n ["c"', ["line 2, column "]),
        ('["a", \x00]', ["this is not JSON"]),
        ("[" * 100_000, ["nested too deeply"]),
    ],
)
def test_faults(tmp_path, content, parts):
    refused(lambda: hc.read(saved(tmp_path, content)), "h.json", *parts)


def test_other_json_is_called_what_it_is(tmp_path):
    refused(lambda: read_json(saved(tmp_path, [{"a": 1}])), "a list of records; use format='records'")
    refused(lambda: read_json(saved(tmp_path, "5")), "hyperedges are a list of lists")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ('{"incidences": []}', "hif"),
        ('{"metadata": {}, "incidences": []}', "hif"),
        ('{"Incidences": []}', "hif"),
        ("{}", "hif"),
        ("null", "hif"),
        ('{"e": ["incidences"]}', "json"),
        (' [["a"]]', "json"),
        ("[]", "json"),
        (' [ {"a": 1}]', "records"),
        ('{"a": 1}\n{"a": 2}\n', "records"),
        ('{"a": 1}', "json"),
        ('{"a": ', "json"),
        ('{"incidences": [', "hif"),
    ],
)
def test_the_content_decides_what_json_is(tmp_path, content, kind):
    assert json_kind(saved(tmp_path, content)) == kind
