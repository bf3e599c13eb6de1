"""HIF files: agreement with the schema, round trips, and error messages that name the entry."""

import gzip
import json
import pickle
import re
import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hyperclus import Hypergraph
from hyperclus.errors import InputError, LossWarning
from hyperclus.io.hif import HIF, read_hif, read_hif_document, write_hif, write_hif_document
from support.contracts import refused

examples = settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

ID = {"type": ["string", "integer"]}
WEIGHT, ATTRS = {"type": ["number"]}, {"type": ["object"]}


def entries(required, **more):
    properties = {**dict.fromkeys(required, ID), "weight": WEIGHT, "attrs": ATTRS, **more}
    return {"type": ["array"], "items": {"type": ["object"], "required": required, "properties": properties}}


SCHEMA = {
    "type": ["object"],
    "required": ["incidences"],
    "properties": {
        "network-type": {"enum": ["undirected", "directed", "asc"]},
        "metadata": {"type": ["object"]},
        "incidences": entries(["edge", "node"], direction={"enum": ["head", "tail"]}),
        "nodes": entries(["node"]),
        "edges": entries(["edge"]),
    },
}

TYPES = {
    "string": lambda x: isinstance(x, str),
    "integer": lambda x: (
        not isinstance(x, bool) and (isinstance(x, int) or (isinstance(x, float) and x % 1 == 0))
    ),
    "number": lambda x: not isinstance(x, bool) and isinstance(x, int | float),
    "object": lambda x: isinstance(x, dict),
    "array": lambda x: isinstance(x, list),
}


def valid(value, schema=SCHEMA):
    """Validate by the part of JSON Schema draft 7 that this schema uses, without unknown keys."""
    if "enum" in schema and not any(type(value) is type(x) and value == x for x in schema["enum"]):
        return False
    if "type" in schema and not any(TYPES[name](value) for name in schema["type"]):
        return False
    if "items" in schema and not all(valid(item, schema["items"]) for item in value):
        return False
    if "properties" in schema:
        known = schema["properties"]
        return all(key in value for key in schema["required"]) and all(
            key in known and valid(inside, known[key]) for key, inside in value.items()
        )
    return True


def unique(data):
    """Whether no node or edge is listed twice."""
    lists = [[x[key] for x in data.get(key + "s", [])] for key in ("node", "edge")]
    return all(len(set(ids)) == len(ids) for ids in lists)


# ---- documents ------------------------------------------------------------------------------------

text = st.text(max_size=4)
ids = st.one_of(
    st.sampled_from(["1", 1, 1.0, 0, -0.0, "", "a", '"\\\n', "😀", 2**63, -(2**70), 1e22]),
    st.integers(),
    text,
)
numbers = st.one_of(st.integers(-3, 3), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
scalars = st.one_of(st.none(), st.booleans(), numbers, text)
values = st.recursive(
    scalars, lambda x: st.lists(x, max_size=3) | st.dictionaries(text, x, max_size=3), max_leaves=5
)
objects = st.dictionaries(text, values, max_size=3)
some = {"weight": numbers, "attrs": objects}


def entry(**required):
    return st.fixed_dictionaries(required, optional=some)


documents = st.fixed_dictionaries(
    {
        "incidences": st.lists(
            st.fixed_dictionaries(
                {"edge": ids, "node": ids}, optional={**some, "direction": st.sampled_from(["head", "tail"])}
            ),
            max_size=5,
        )
    },
    optional={
        "network-type": st.sampled_from(["undirected", "directed", "asc"]),
        "metadata": objects,
        "nodes": st.lists(entry(node=ids), max_size=4, unique_by=lambda x: x["node"]),
        "edges": st.lists(entry(edge=ids), max_size=4, unique_by=lambda x: x["edge"]),
    },
)
styles = st.fixed_dictionaries({"indent": st.sampled_from([None, 0, 3, "\t"]), "sort_keys": st.booleans()})


def as_dict(document):
    """Convert a document to what `json.loads` returns."""

    def one(position, keys, columns, section):
        made = {key: column[position] for key, column in zip(keys, columns, strict=True)}
        if not np.isnan(section.weights[position]):
            made["weight"] = section.weights[position]
        if position in section.attrs:
            made["attrs"] = section.attrs[position]
        return made

    inside = document.incidences
    made = {"incidences": []}
    for position in range(len(inside.weights)):
        made["incidences"].append(one(position, ("edge", "node"), (inside.edges, inside.nodes), inside))
        if inside.directions[position]:
            made["incidences"][-1]["direction"] = inside.directions[position]
    for key, items in (("node", document.nodes), ("edge", document.edges)):
        if items is not None:
            made[key + "s"] = [one(i, (key,), (items.ids,), items) for i in range(len(items.ids))]
    head = {"network-type": document.network_type, "metadata": document.metadata}
    return made | {key: value for key, value in head.items() if value is not None}


def in_doubles(data):
    """Convert the weights to floats."""
    data = json.loads(json.dumps(data))
    for key in ("incidences", "nodes", "edges"):
        for item in data.get(key, []):
            if "weight" in item:
                item["weight"] = float(item["weight"])
    return data


def saved(tmp_path, content, name="x.json"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@given(documents, styles, st.sampled_from(["x.json", "x.json.gz"]))
@examples
def test_round_trips_of_documents(tmp_path, data, style, name):
    assert valid(data)
    document = read_hif_document(saved(tmp_path, json.dumps(data, **style)))
    assert as_dict(document) == in_doubles(data)
    copy = tmp_path / name
    write_hif_document(pickle.loads(pickle.dumps(document)), copy)
    again = read_hif_document(copy)
    assert as_dict(again) == as_dict(document)
    assert list(as_dict(again)) == list(as_dict(document))
    for key in ("incidences", "nodes", "edges"):  # attrs keep the order of their keys
        before, after = getattr(document, key), getattr(again, key)
        assert before is None or json.dumps(before.attrs) == json.dumps(after.attrs)
    packed = copy.read_bytes()
    plain = gzip.decompress(packed) if name.endswith("gz") else packed
    assert json.loads(plain) == in_doubles(data)
    entries_written = sum(len(data.get(key, [])) for key in ("incidences", "nodes", "edges"))
    assert len(re.findall(rb'^\{"', plain, re.MULTILINE)) == entries_written  # one per line
    write_hif_document(again, tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == plain


def paths_of(value, schema, path=()):
    """List the paths of all values that the schema describes."""
    found = [path]
    if "items" in schema and isinstance(value, list):
        found += [p for i, x in enumerate(value) for p in paths_of(x, schema["items"], (*path, i))]
    if "properties" in schema and isinstance(value, dict):
        for key, inside in value.items():
            found += paths_of(inside, schema["properties"][key], (*path, key))
    return found


def inside(value, path):
    for step in path:
        value = value[step]
    return value


odd = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([1.5, 1.0, "head", "asc", "x", [], {}, [1], {"node": 1}]),
    values,
)


@given(documents, st.data(), styles)
@examples
def test_exactly_what_the_schema_refuses_is_refused(tmp_path, data, draw, style):
    path = draw.draw(st.sampled_from(paths_of(data, SCHEMA)))
    target = inside(data, path)
    if path and draw.draw(st.booleans()):
        parent = inside(data, path[:-1])
        if draw.draw(st.booleans()):
            del parent[path[-1]]
        else:
            parent[path[-1]] = draw.draw(odd)
    elif isinstance(target, dict):
        target[draw.draw(st.sampled_from(["weight", "direction", "node", "attrs", "Weight", ""]))] = (
            draw.draw(odd)
        )
    elif isinstance(target, list):
        target.append(draw.draw(odd))
    content = json.dumps(data, **style)
    file = saved(tmp_path, content)
    if valid(data) and unique(data):
        assert as_dict(read_hif_document(file)) == in_doubles(data)
        return
    if valid(data):  # see `test_repeated_entries_are_merged`
        return
    with pytest.raises(InputError) as caught:
        read_hif_document(file)
    place = re.fullmatch(r".*x\.json: (?:([a-z-]+[\w.\[\]-]*): )?.*", str(caught.value))[1]
    steps = [int(step) if step.isdigit() else step for step in re.findall(r"[\w-]+", place or "")]
    wrong = inside(data, steps)  # the path leads to what is wrong
    assert not valid(wrong, schema_of(steps))


def schema_of(steps):
    schema = SCHEMA
    for step in steps:
        schema = schema["items"] if isinstance(step, int) else schema["properties"][step]
    return schema


ONE = '{"edge": "e", "node": "a"}'
NODES = '{{"incidences": [], "nodes": [{}]}}'
EDGES = '{{"incidences": [], "edges": [{}]}}'
META = '{{"incidences": [], "metadata": {}}}'
FAULTS = [  # text, part of the message
    ("{", "line 1, column 2: this is not JSON (Expecting property name enclosed in double quotes)"),
    ("[]", "expected `object`, got `array`; a HIF file is a JSON object"),
    ("  \n ", "line 2, column 2: this is not JSON"),
    ("{}", "object missing required field `incidences`; a HIF file is a JSON object"),
    ('{"incidences": []', "line 1, column 18: this is not JSON (Expecting ',' delimiter)"),
    ('{"incidences": []} x', "line 1, column 20: this is not JSON (Extra data)"),
    ('{"incidences": [],}', "line 1, column 1"),  # 18 or 19, by the version of Python
    ('{"incidences" []}', "line 1, column 15: this is not JSON (Expecting ':' delimiter)"),
    ('{"incidences": {}}', "incidences: expected an array"),
    ('{"incidences":\n [],\n "incidences": []}', "the key 'incidences' is repeated within an object"),
    ('{"incidences": [], "extra": 1}', "object contains unknown field `extra`; a HIF file is a JSON object"),
    ('{"incidences": [],\r\n"metadata":\r\n [1]}', "metadata: expected `object`, got `array`"),
    ('{"network-type": "Directed", "incidences": []}', "network-type: invalid enum value 'Directed'"),
    ('{"network-type": "Directed", "incidences": []}', "a network type is one of undirected, directed, asc"),
    (f'{{"incidences": [{ONE} {ONE}]}}', "line 1, column 44: this is not JSON (Expecting ',' delimiter)"),
    (f'{{"incidences": [{ONE},]}}', "line 1, column 4"),  # 43 or 44
    (f'{{"incidences": [{ONE},\n {ONE[:-3]}', "line 2, column 24: this is not JSON (Unterminated string"),
    ('{"incidences": [\n\n  1]}', "incidences[0]: expected `object`, got `int`; the keys are"),
    ('{"incidences": [{"edge": "e"}]}', "incidences[0]: object missing required field `node`; the keys are"),
    (
        '{"incidences": [\n{"edge": "e",\n "node": true}]}',
        "incidences[0].node: expected `int | str`, got `bool`; an id is text or an integer",
    ),
    ('{"incidences": [{"edge": 1.5, "node": 1}]}', "incidences[0].edge: expected `int | str`, got `float`"),
    ('{"incidences": [{"edge": 9007199254740993.5, "node": 1}]}', "incidences[0].edge: expected `int | str`"),
    ('{"incidences": [{"edge": null, "node": 1}]}', "got `null`; an id is text or an integer"),
    ('{"incidences": [{"edge": 1e300, "node": 1, "edge": 2}]}', "incidences[0]: the key 'edge' is repeated"),
    (NODES.format('{"node": 1, "wait": 2}'), "nodes[0]: object contains unknown field `wait`; the keys are"),
    (
        NODES.format('{"node": 1, "weight": 1},\n {"node": "1"},\n {"node": 1.0, "weight": 2}'),
        "nodes[2]: 1 is listed already, as nodes[0]",
    ),
    (
        EDGES.format('{"edge": "x", "attrs": {"y": 1}}, {"edge": "x", "attrs": {"y": [1]}}'),
        "edges[1]: 'x' is listed already, as edges[0], with another value of 'y' in attrs; keep one of them",
    ),
    (
        EDGES.format('{"edge": "x", "weight": "2"}'),
        "edges[0].weight: expected `float`, got `str`; a weight is a finite number",
    ),
    (EDGES.format('{"edge": "x", "weight": false}'), "edges[0].weight: expected `float`, got `bool`"),
    (EDGES.format('{"edge": "x", "weight": 1e400}'), "edges[0]: the number 1e400 is too large"),
    (EDGES.format('{"edge": "x", "weight": ' + "9" * 400 + "}"), "edges[0].weight: number out of range"),
    (EDGES.format('{"edge": "x", "weight": 1e-400}'), "edges[0].weight: the weight is too small"),
    (EDGES.format('{"edge": -' + "9" * 5000 + "}"), "edges[0]: an integer has too many digits; shorten it"),
    (EDGES.format('{"edge": "x", "weight": NaN}'), "NaN is not JSON; leave the value out"),
    (META.format('{"a b": [1, {}, -Infinity]}'), "-Infinity is not JSON"),
    (META.format('{"x": [[], {"y": 1, "\\u0079": 2}]}'), "the key 'y' is repeated within an object"),
    (META.format('{"x": 1e999}'), "metadata[...]: number out of range"),
    (META.format('{"x": "\\ud800"}'), "half a character"),
    ('{"incidences": [{"edge": 1, "edge": 1, "node": 2}]}', "incidences[0]: the key 'edge' is repeated"),
    (
        '{"incidences": [{"edge": 1, "node": 2, "attrs": {"a": {"b": 1, "b": 2}}}]}',
        "incidences[0]: the key 'b' is repeated within an object; keep one of them",
    ),
    (EDGES.format('{"edge": "x", "attrs": []}'), "edges[0].attrs: expected `object`, got `array`"),
    (
        '{"incidences": [{"edge": 1, "node": 2, "direction": "in"}]}',
        "incidences[0].direction: invalid enum value 'in'; a direction is 'head' or 'tail'",
    ),
    ('{"metadata": "tab\there"}', "line 1, column 18: this is not JSON (Invalid control character at)"),
    ('{"metadata": {"x": 01}}', "line 1, column 21: this is not JSON"),
]


@pytest.mark.parametrize(("content", "words"), FAULTS, ids=range(len(FAULTS)))
def test_errors_name_the_place(tmp_path, content, words):
    path = saved(tmp_path, content)
    refused(lambda: read_hif_document(path), f"{path}: ", words)
    refused(lambda: read_hif(saved(tmp_path, b"\xef\xbb\xbf" + content.encode())), words)


def test_the_entry_is_named_after_many_good_ones(tmp_path):
    """The file is parsed in chunks; positions count from its start."""
    entries = [{"edge": n, "node": "x},{:", "attrs": {"a": [{"b": ":"}, {}]}} for n in range(9_000)]
    good = [json.dumps(entry) for entry in entries]
    document = read_hif_document(saved(tmp_path, '{"incidences": [' + ",\n".join(good) + "]}"))
    assert document.incidences.edges.tolist() == list(range(9_000))
    assert document.incidences.attrs[8_999] == {"a": [{"b": ":"}, {}]}
    good[8_765] = '{"edge": 1, "node": 2, "weight": "3"}'
    path = saved(tmp_path, '{"incidences": [' + ",\n".join(good) + "]}")
    refused(lambda: read_hif_document(path), "incidences[8765].weight: expected `float`, got `str`")


def test_an_entry_longer_than_a_chunk(tmp_path):
    attrs = {"list": [{"x": number} for number in range(60_000)]}
    entries = [{"edge": 1, "node": 1}, {"edge": 1, "node": 2, "attrs": attrs}, {"edge": 1, "node": 3}]
    document = read_hif_document(saved(tmp_path, json.dumps({"incidences": entries})))
    assert document.incidences.nodes.tolist() == [1, 2, 3]
    assert document.incidences.attrs == {1: attrs}


def test_encodings(tmp_path):
    content = '{"incidences":\n [{"edge": "é", "node": "\\ud83d\\ude00"}]}'
    for kind in (
        content.encode(),
        b"\xef\xbb\xbf" + content.encode(),
        content.replace("\n", "\r\n").encode(),
    ):
        for data in (kind, gzip.compress(kind)):
            assert read_hif_document(saved(tmp_path, data)).incidences.nodes.tolist() == ["😀"]
    for kind in ("utf-16", "utf-32"):  # with a byte order mark
        assert read_hif(saved(tmp_path, content.encode(kind))).edge_ids.tolist() == ["é"]
    for kind in ("utf-16-le", "utf-16-be"):
        refused(lambda k=kind: read_hif(saved(tmp_path, content.encode(k))), f"use encoding='{kind}'")
    refused(lambda: read_hif(saved(tmp_path, content.encode("latin-1", "replace"))), "not UTF-8")
    refused(lambda: read_hif(saved(tmp_path, "")), "the file is empty")
    refused(lambda: read_hif(tmp_path), "folder")
    refused(lambda: read_hif(tmp_path / "none"), "no such file")
    refused(lambda: read_hif(saved(tmp_path, gzip.compress(content.encode())[:-9])), "damaged")


@pytest.mark.parametrize("pieces", [("[", "]"), ('{"a":', "}")])
def test_deep_nesting(tmp_path, pieces):
    def nested(depth):
        value = pieces[0] * depth + "1" + pieces[1] * depth
        start = '{"incidences": [\n{"edge": 1, "node": 1, "attrs": {"x": '
        return saved(tmp_path, start + value + "}}]}")

    refused(lambda: read_hif_document(nested(100_000)), "nested too deeply")
    document = read_hif_document(nested(300))
    write_hif_document(document, tmp_path / "y")
    assert as_dict(read_hif_document(tmp_path / "y")) == as_dict(document)
    value = 1
    for _ in range(100_000):
        value = [value]
    document.incidences.attrs[0]["x"] = value
    refused(lambda: write_hif_document(document, tmp_path / "z"), "incidences[0].attrs", "JSON")
    assert not (tmp_path / "z").exists()


def test_integers_written_as_floats_are_exact(tmp_path):
    numbers = ["1.0", "1e23", "9007199254740993.0", "-1.5e1", "-0", "1E2", "123456789012345678901234567890"]
    listed = ", ".join(f'{{"node": {number}}}' for number in numbers)
    document = read_hif_document(saved(tmp_path, f'{{"incidences": [], "nodes": [{listed}]}}'))
    expected = [1, 10**23, 2**53 + 1, -15, 0, 100, 123456789012345678901234567890]
    assert document.nodes.ids.tolist() == expected
    assert {type(x) for x in document.nodes.ids} == {int}


SEED = json.dumps(
    {
        "network-type": "directed",
        "metadata": {"name": "é😀", "list": [1, {"x": None}]},
        "incidences": [
            {"edge": "e", "node": 1, "weight": 2.5, "direction": "head", "attrs": {"k": [True, "\\"]}},
            {"edge": 7, "node": "1"},
        ],
        "nodes": [{"node": 1, "weight": -1e-3}],
        "edges": [{"edge": "e", "weight": 3}],
    },
    ensure_ascii=False,
).encode()
changes = st.lists(
    st.tuples(
        st.integers(0, len(SEED)),
        st.integers(0, 3),
        st.sampled_from(
            [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"1e999", b"NaN", b"-", b".", b"\n"]
        )
        | st.binary(max_size=2)
        | st.integers(0, len(SEED)).flatmap(lambda i: st.just(SEED[i : i + 12])),
    ),
    max_size=3,
)


@given(changes, st.booleans(), st.integers(0, 300))
@example([], False, 0)
@example([(2, 0, b"\\")], False, 0)  # a key with a line break
@example([(2, 0, b"x" * 500)], False, 0)  # a long key
@settings(examples, max_examples=300)
def test_damaged_files_are_read_or_refused(tmp_path, spots, packed, cut):
    data = SEED
    for at, length, new in spots:
        data = data[:at] + new + data[at + length :]
    if packed:
        data = gzip.compress(data)
        data = data[: cut % 20] + b"x" + data[cut % 20 + 1 :] if spots else data
    elif cut > 200:
        data = data[:cut]
    path = saved(tmp_path, data)
    try:
        document = read_hif_document(path)
    except InputError:
        refused(lambda: read_hif_document(path), str(path))
        assert data != SEED
        return
    assert isinstance(document, HIF)
    write_hif_document(document, tmp_path / "again")
    assert as_dict(read_hif_document(tmp_path / "again")) == as_dict(document)


# ---- hypergraphs --------------------------------------------------------------------------------

positive = st.one_of(
    st.sampled_from([1.0, 5e-324, 1.7976931348623157e308, 0.1]), st.floats(5e-324, 1.7e308), st.integers(1, 3)
)
hif_ids = ids.filter(lambda x: not isinstance(x, float))


@st.composite
def hypergraphs(draw):
    vertices = draw(st.lists(hif_ids, min_size=1, max_size=6, unique=True))
    edges = draw(
        st.dictionaries(hif_ids, st.dictionaries(st.sampled_from(vertices), positive), min_size=1, max_size=5)
    )
    if not any(edges.values()):
        edges[next(iter(edges))] = {vertices[-1]: 1.0}
    if draw(st.booleans()):
        edges = {edge: dict.fromkeys(members, 1) for edge, members in edges.items()}
    omega = [draw(positive) for _ in edges] if draw(st.booleans()) else None
    return Hypergraph.from_edges(
        edges, edge_weights=omega, vertex_ids=vertices, isolated="keep", empty_edges="keep"
    )


def same(first, second):
    for name in ("vertex_ids", "edge_ids", "edge_weights"):
        a, b = getattr(first, name), getattr(second, name)
        assert a.dtype == b.dtype
        assert list(map(type, a.tolist())) == list(map(type, b.tolist()))
        assert a.tolist() == b.tolist()
    for name in ("data", "indices", "indptr"):
        assert getattr(first.gamma, name).tobytes() == getattr(second.gamma, name).tobytes()
    assert first.gamma.shape == second.gamma.shape


@given(hypergraphs(), st.none() | objects, st.sampled_from(["h.json", "h.json.gz"]))
@examples
def test_round_trips_of_hypergraphs(tmp_path, h, metadata, name):
    path = tmp_path / name
    write_hif(h, path, metadata=metadata)
    document = read_hif_document(path)
    assert document.metadata == metadata
    assert document.losses == (["metadata"] if metadata else [])
    same(document.hypergraph(), h)
    content = json.loads(gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes())
    assert valid(content)
    assert any("weight" in x for x in content["incidences"]) == bool((h.gamma.data != 1).any())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if metadata else "error")
        same(read_hif(path), h)


@given(documents)
@examples
def test_hypergraph_equals_its_definition_in_loops(tmp_path, data):
    document = read_hif_document(saved(tmp_path, json.dumps(data)))
    data = in_doubles(data)
    vertices, edges = (
        list(dict.fromkeys([x[key] for x in data.get(key + "s", [])] + [x[key] for x in data["incidences"]]))
        for key in ("node", "edge")
    )
    omega = dict.fromkeys(edges, 1.0) | {x["edge"]: x.get("weight", 1.0) for x in data.get("edges", [])}
    gamma = {}
    for item in data["incidences"]:
        gamma.setdefault((item["edge"], item["node"]), []).append(item.get("weight", 1.0))
    weights = [x for inside in gamma.values() for x in inside]
    for duplicates, merge in (("error", max), ("max", max), ("sum", sum)):
        merged = {pair: merge(inside) for pair, inside in gamma.items() if any(inside)}
        repeated = duplicates == "error" and any(np.count_nonzero(inside) > 1 for inside in gamma.values())
        impossible = min(weights, default=0) < 0 or min(omega.values(), default=1) <= 0
        if repeated or impossible or max(merged.values(), default=0) == np.inf:
            refused(lambda d=duplicates: document.hypergraph(duplicates=d))
            continue
        h = document.hypergraph(duplicates=duplicates)
        assert (h.vertex_ids.tolist(), h.edge_ids.tolist()) == (vertices, edges)
        assert h.edge_weights.tolist() == list(omega.values())
        found = h.gamma.tocoo()
        triples = zip(h.edge_ids[found.row], h.vertex_ids[found.col], found.data.tolist(), strict=True)
        assert {(e, v): x for e, v, x in triples} == merged


def read_text(tmp_path, content, **policies):
    return read_hif(saved(tmp_path, content), **policies)


def test_policies_and_refusals_of_hypergraphs(tmp_path):
    content = (
        '{"incidences": [{"edge": "e", "node": "a", "weight": 0}, {"edge": "e", "node": "b"}], '
        '"nodes": [{"node": "z"}], "edges": [{"edge": "none", "weight": 2}, {"edge": "e"}]}'
    )
    h = read_text(tmp_path, content)
    assert (h.vertex_ids.tolist(), h.edge_ids.tolist()) == (["z", "a", "b"], ["none", "e"])
    assert h.n_incidences == 1
    dropped = read_text(tmp_path, content, isolated="drop", empty_edges="drop")
    assert (dropped.vertex_ids.tolist(), dropped.edge_ids.tolist()) == (["b"], ["e"])
    refused(
        lambda: read_text(tmp_path, content, isolated="error"), "x.json", "no hyperedge holds vertex 'z', 'a'"
    )
    refused(lambda: read_text(tmp_path, content, empty_edges="error"), "no member is in hyperedge 'none'")
    assert read_text(tmp_path, '{"incidences": []}').n_vertices == 0
    assert read_text(tmp_path, '{"incidences": [], "nodes": [{"node": 1}]}').vertex_ids.tolist() == [1]
    refused(
        lambda: read_text(tmp_path, content.replace(": 0", ": -3")),
        "x.json: incidences[0].weight is -3 (1 such",
    )
    refused(
        lambda: read_text(tmp_path, content.replace(": 2", ": 0")), "x.json: edges[0].weight is 0 (1 such"
    )
    both = '{"edge": 1, "node": 1, "direction": "head"}, {"edge": 1, "node": 1, "direction": "tail"}'
    content = f'{{"network-type": "undirected", "incidences": [{both}]}}'
    refused(lambda: read_text(tmp_path, content), "x.json", "vertex 1 in hyperedge 1 appears more than once")
    for policy, gamma in (("sum", 2.0), ("max", 1.0)):
        with pytest.warns(LossWarning, match="cannot hold directions; read_hif_document keeps it"):
            assert read_text(tmp_path, content, duplicates=policy).gamma.data.tolist() == [gamma]


@given(st.lists(entry(node=st.integers(0, 2)), max_size=5))
@examples
def test_repeated_entries_are_merged(tmp_path, nodes):
    known, contradiction = {}, False
    for node in nodes:
        merged = known.setdefault(node["node"], {"attrs": {}})
        weights = {x["weight"] for x in (merged, node) if "weight" in x}
        contradiction |= len(weights) > 1
        for key, value in node.get("attrs", {}).items():
            contradiction |= merged["attrs"].setdefault(key, value) != value
        merged |= {"weight": min(weights)} if weights else {}
    file = saved(tmp_path, json.dumps({"incidences": [], "nodes": nodes}))
    if contradiction:
        refused(lambda: read_hif_document(file), "is listed already, as nodes[", "keep one of them")
        return
    found = read_hif_document(file).nodes
    assert found.ids.tolist() == list(known)
    expected = [one.get("weight", np.nan) for one in known.values()]
    np.testing.assert_array_equal(found.weights, np.array(expected, dtype=float))
    given = {i: one["attrs"] for i, one in enumerate(known.values()) if one["attrs"]}
    assert {i: attrs for i, attrs in found.attrs.items() if attrs} == given


def test_one_warning_names_all_losses(tmp_path):
    content = (
        '{"network-type": "asc", "metadata": {"a": 1}, "nodes": [{"node": 1, "weight": 1}], "incidences": '
        '[{"edge": 1, "node": 1, "direction": "head", "attrs": {"a": 1}}]}'
    )
    path = saved(tmp_path, content)
    with pytest.warns(LossWarning) as caught:
        read_hif(path)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    words = (
        "node weights, attrs, metadata, directions, the network type 'asc'; read_hif_document keeps it, "
        "and so does converting HIF to HIF"
    )
    assert str(caught[0].message).endswith(words)
    assert "x.json" in str(caught[0].message)
    empty = '"metadata": {}, "nodes": [{"node": 1, "attrs": {}}], "incidences": [{"edge": 1, "node": 1}]}'
    read_text(tmp_path, '{"network-type": "undirected", ' + empty)  # nothing is lost, so there is no warning


def test_ids_that_hif_cannot_hold(tmp_path):
    path = tmp_path / "h.json"
    table = Hypergraph.from_table({"colour": ["red", "red", "blue"]})
    refused(lambda: write_hif(table, path), "edge id ('colour', 'red') is neither text nor", "ids='text'")
    for wrong in (1.5, True, (1,), b"x", frozenset()):
        h = Hypergraph.from_edges([["a", wrong]])
        refused(lambda h=h: write_hif(h, path), f"node id {wrong!r} is neither text nor")
        write_hif(h, path, ids="text")
        assert read_hif(path).vertex_ids.tolist() == ["a", str(wrong)]
    clash = Hypergraph.from_edges([[(1,), "(1,)"]])
    refused(lambda: write_hif(clash, path, ids="text"), "vertex id '(1,)' appears more than once")
    path.unlink()
    for halves in ("\ud83d\ude00", "\ud800"):  # not Unicode text
        h = Hypergraph.from_edges([[halves, "a"]])
        refused(lambda h=h: write_hif(h, path), "node id: JSON cannot hold")
    refused(lambda: write_hif(table, path, ids="some"), "ids must be 'error' or 'text'")
    assert list(tmp_path.iterdir()) == []


def test_arguments_of_the_writers(tmp_path):
    h, path = Hypergraph.from_edges([["a", "b"]]), tmp_path / "h.json"
    for wrong in (
        {1: 2},
        {"x": float("nan")},
        {"x": (1, 2)},
        {"x": {1}},
        {"x": np.int64(1)},
        {"x": 10**5000},
    ):
        refused(lambda w=wrong: write_hif(h, path, metadata=w), "metadata", "JSON cannot hold")
    refused(lambda: write_hif(h, path, metadata=[1]), "metadata must be a dict")
    refused(lambda: write_hif({"e": ["a"]}, path), "a Hypergraph is needed")
    refused(lambda: write_hif_document(h, path), "use write_hif for a Hypergraph")
    refused(lambda: write_hif(h, tmp_path), "folder")
    refused(lambda: write_hif(h, tmp_path / "no" / "h.json"), "folder does not exist")
    assert list(tmp_path.iterdir()) == []


def test_changed_documents_are_checked(tmp_path):
    document = read_hif_document(saved(tmp_path, f'{{"incidences": [{ONE}], "nodes": [{{"node": 1}}]}}'))
    changed = replace(document, network_type="asc", metadata={"a": 1})
    write_hif_document(changed, tmp_path / "y")
    assert as_dict(read_hif_document(tmp_path / "y")) == {
        **as_dict(document),
        "network-type": "asc",
        "metadata": {"a": 1},
    }
    refused(
        lambda: replace(document, network_type="graph"),
        "network_type must be 'undirected', 'directed' or 'asc'",
    )
    refused(lambda: replace(document, metadata=[]), "metadata must be a dict")
    infinite = replace(document.nodes, weights=np.array([np.inf]))
    refused(lambda: replace(document, nodes=infinite), "weights must be finite")
    sideways = replace(document.incidences, directions=np.array(["left"]))
    refused(lambda: replace(document, incidences=sideways), "directions must be")
    pairs = replace(document.nodes, ids=np.array([1.5], dtype=object))
    refused(
        lambda: write_hif_document(replace(document, nodes=pairs), tmp_path / "z"), "node id 1.5 is neither"
    )
    assert not (tmp_path / "z").exists()


def test_a_large_file_needs_little_more_memory_than_its_text(tmp_path):
    m, rng = 60_000, np.random.default_rng(0)
    keys = rng.permutation(4 * m)[:m]
    table = {
        "vertex": [f"vertex {k % 9000}" for k in keys],
        "edge": keys // 9000,
        "weight": rng.random(m) + 0.1,
    }
    h, path = Hypergraph.from_long(table), tmp_path / "big.json"
    tracemalloc.start()
    try:
        write_hif(h, path)
        size, (_, written) = path.stat().st_size, tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        document = read_hif_document(path)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    same(document.hypergraph(), h)
    assert written < 3 * size
    assert peak < 3 * size
    assert held < size
