"""HIF: the schema and nothing else, documents and hypergraphs there and back, every fault with its place."""

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
    """JSON Schema, draft 7, as far as this schema goes; no further keys where keys are named."""
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
    """No node or edge listed twice."""
    lists = [[x[key] for x in data.get(key + "s", [])] for key in ("node", "edge")]
    return all(len(set(ids)) == len(ids) for ids in lists)


# ---- documents ------------------------------------------------------------------------------------

text = st.text(st.characters(exclude_categories=()), max_size=4)  # lone surrogates too
text = text.map(lambda s: s.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"))  # no pairs
ids = st.one_of(
    st.sampled_from(["1", 1, 1.0, 0, -0.0, "", "a", '"\\\n', "😀", 2**63, -(2**70), 1e22, "\ud800"]),
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
    """The document as `json` would give it, entry by entry."""

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
    """The data with weights as doubles."""
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
def test_documents_there_and_back(tmp_path, data, style, name):
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
    """The paths of all that the schema says something about."""
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
    with pytest.raises(InputError) as caught:
        read_hif_document(file)
    at = offset(content, str(caught.value))
    shown = json.JSONDecoder().raw_decode(content, at)[0]
    place = re.search(r"column \d+, ([^:]*):", str(caught.value))
    if place and "none of" not in str(caught.value):  # the path leads to what is at line and column
        steps = re.findall(r"[\w-]+", place[1])
        assert shown == inside(data, [int(s) if s.isdigit() else s for s in steps])


def offset(content, message):
    """Where line and column of a message are in the text."""
    line, column = map(int, re.search(r"line (\d+): column (\d+)", message).groups())
    return sum(len(x) for x in content.splitlines(keepends=True)[: line - 1]) + column - 1


ONE = '{"edge": "e", "node": "a"}'
FAULTS = [  # text, line, column, path and words
    ("{", 1, 2, "a key in double quotes is missing (the text ends here)"),
    ("[]", 1, 1, "a HIF file is a JSON object"),
    ("  \n ", 2, 2, "a HIF file is a JSON object"),
    ("{}", 1, 1, "the key 'incidences' is missing"),
    ('{"incidences": []', 1, 18, "a comma or a closing brace is missing"),
    ('{"incidences": []} x', 1, 20, "the document has ended, and there is more"),
    ('{"incidences": [],}', 1, 19, "a key in double quotes is missing"),
    ('{"incidences" []}', 1, 15, "incidences: a colon is missing"),
    ('{"incidences": {}}', 1, 16, "incidences: this must be an array"),
    ('{"incidences":\n [],\n "incidences": []}', 3, 2, "incidences: the key comes twice"),
    ('{"incidences": [], "extra": 1}', 1, 20, "HIF has no key 'extra'"),
    ('{"incidences": [],\r\n"metadata":\r\n [1]}', 3, 2, "metadata: this must be an object, not [1]"),
    ('{"network-type": "Directed", "incidences": []}', 1, 18, "network-type: this must be one of undirected"),
    (f'{{"incidences": [{ONE} {ONE}]}}', 1, 44, "incidences: a comma or a closing bracket"),
    (f'{{"incidences": [{ONE},]}}', 1, 44, "incidences[1]: this is no JSON (Expecting value)"),
    (
        f'{{"incidences": [{ONE},\n {ONE[:-3]}',
        2,
        24,
        "incidences[1]: this is no JSON (Unterminated string",
    ),
    ('{"incidences": [\n\n  1]}', 3, 3, "incidences[0]: an entry must be an object, not 1"),
    ('{"incidences": [{"edge": "e"}]}', 1, 17, "incidences[0]: the key 'node' is missing"),
    (
        '{"incidences": [\n{"edge": "e",\n "node": true}]}',
        3,
        10,
        "incidences[0].node: an id must be text or an",
    ),
    ('{"incidences": [{"edge": 1.5, "node": 1}]}', 1, 26, "incidences[0].edge: an id must be text or an"),
    ('{"incidences": [{"edge": 9007199254740993.5, "node": 1}]}', 1, 26, "incidences[0].edge: an id must be"),
    ('{"incidences": [{"edge": null, "node": 1}]}', 1, 26, "not null"),
    (
        '{"nodes": [{"node": 1, "wait": 2}]}',
        1,
        24,
        "nodes[0].wait: this key is none of attrs, node, weight",
    ),
    ('{"nodes": [{"node": 1},\n {"node": "1"},\n {"node": 1.0}]}', 3, 11, "nodes[2].node: node 1 is listed"),
    ('{"edges": [{"edge": "x"}, {"edge": "x"}]}', 1, 36, "edges[1].edge: edge 'x' is listed already"),
    (
        '{"edges": [{"edge": "x", "weight": "2"}]}',
        1,
        36,
        "edges[0].weight: a weight must be a number, not '2'",
    ),
    ('{"edges": [{"edge": "x", "weight": false}]}', 1, 36, "not false"),
    ('{"edges": [{"edge": "x", "weight": 1e400}]}', 1, 36, "edges[0].weight: the number is too large"),
    (
        '{"edges": [{"edge": "x", "weight": ' + "9" * 400 + "}]}",
        1,
        36,
        "edges[0].weight: the weight is too large",
    ),
    ('{"edges": [{"edge": -' + "9" * 5000 + "}]}", 1, 21, "edges[0].edge: the number is too large"),
    ('{"edges": [{"edge": "x", "weight": NaN}]}', 1, 36, "edges[0].weight: NaN is no JSON"),
    ('{"metadata": {"a b": [1, {}, -Infinity]}}', 1, 30, "metadata['a b'][2]: -Infinity is no JSON"),
    ('{"metadata": {"x": [[], {"y": 1, "\\u0079": 2}]}}', 1, 34, "metadata.x[1].y: the key comes twice"),
    ('{"metadata": ' + '{"key": ' * 300 + "NaN" + "}" * 301, 1, 2414, "...: NaN is no JSON"),
    ('{"metadata": {"x": 1e999}}', 1, 20, "metadata.x: the number is too large"),
    ('{"incidences": [{"edge": 1, "edge": 1, "node": 2}]}', 1, 29, "incidences[0].edge: the key comes twice"),
    ('{"edges": [{"edge": "x", "attrs": []}]}', 1, 35, "edges[0].attrs: this must be an object, not []"),
    (
        '{"incidences": [{"edge": 1, "node": 2, "direction": "in"}]}',
        1,
        53,
        "incidences[0].direction: this must",
    ),
    ('{"metadata": "tab\there"}', 1, 18, "metadata: this is no JSON (Invalid control character at)"),
    ('{"metadata": {"x": 01}}', 1, 21, "metadata: this is no JSON"),
]


@pytest.mark.parametrize(("content", "line", "column", "words"), FAULTS, ids=range(len(FAULTS)))
def test_faults_have_their_place(tmp_path, content, line, column, words):
    path = saved(tmp_path, content)
    refused(lambda: read_hif_document(path), f"{path}, line {line}: column {column}", words)
    refused(
        lambda: read_hif(saved(tmp_path, b"\xef\xbb\xbf" + content.encode())), f"line {line}: column {column}"
    )


def test_text_of_any_kind(tmp_path):
    content = '{"incidences":\n [{"edge": "é", "node": "\\ud83d\\ude00"}]}'
    for kind in (
        content.encode(),
        b"\xef\xbb\xbf" + content.encode(),
        content.replace("\n", "\r\n").encode(),
    ):
        for data in (kind, gzip.compress(kind)):
            assert read_hif_document(saved(tmp_path, data)).incidences.nodes.tolist() == ["😀"]
    for kind in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        refused(lambda k=kind: read_hif(saved(tmp_path, content.encode(k))), "save the file as UTF-8")
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

    refused(
        lambda: read_hif_document(nested(100_000)), "line 2: column 1, incidences[0]", "nested too deeply"
    )
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
def test_hypergraphs_there_and_back(tmp_path, h, metadata, name):
    path = tmp_path / name
    write_hif(h, path, metadata=metadata)
    document = read_hif_document(path)
    assert document.metadata == metadata
    assert document.beyond_hypergraph == (["metadata"] if metadata else [])
    same(document.hypergraph(), h)
    content = json.loads(gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes())
    assert valid(content)
    assert any("weight" in x for x in content["incidences"]) == bool((h.gamma.data != 1).any())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if metadata else "error")
        same(read_hif(path), h)


@given(documents)
@examples
def test_the_hypergraph_of_a_document_by_loops(tmp_path, data):
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
    for duplicates, merge in (("error", max), ("max", max), ("sum", np.sum)):
        merged = {pair: merge(inside) for pair, inside in gamma.items() if any(inside)}
        repeated = duplicates == "error" and any(np.count_nonzero(inside) > 1 for inside in gamma.values())
        impossible = min(weights, default=0) < 0 or min(omega.values(), default=1) <= 0 or not merged
        if repeated or impossible or max(merged.values()) == np.inf:
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
    refused(lambda: read_text(tmp_path, '{"incidences": []}'), "x.json", "at least one vertex")
    refused(lambda: read_text(tmp_path, '{"incidences": [], "nodes": [{"node": 1}]}'), "at least one vertex")
    refused(
        lambda: read_text(tmp_path, content.replace(": 0", ": -3")), "x.json: incidences[0].weight is -3.0"
    )
    refused(lambda: read_text(tmp_path, content.replace(": 2", ": 0")), "x.json: edges[0].weight is 0.0")
    both = '{"edge": 1, "node": 1, "direction": "head"}, {"edge": 1, "node": 1, "direction": "tail"}'
    content = f'{{"network-type": "undirected", "incidences": [{both}]}}'
    refused(lambda: read_text(tmp_path, content), "x.json", "vertex 1 in hyperedge 1 appears more than once")
    for policy, gamma in (("sum", 2.0), ("max", 1.0)):
        with pytest.warns(LossWarning, match="beside it: directions; use read_hif_document"):
            assert read_text(tmp_path, content, duplicates=policy).gamma.data.tolist() == [gamma]


def test_what_is_lost_is_named_once(tmp_path):
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
    read_text(tmp_path, '{"network-type": "undirected", ' + empty)  # nothing is lost, nothing is said


def test_ids_that_hif_cannot_hold(tmp_path):
    path = tmp_path / "h.json"
    table = Hypergraph.from_table({"colour": ["red", "red", "blue"]})
    refused(lambda: write_hif(table, path), "edge id ('colour', 'red') is neither text nor", "ids='text'")
    for wrong in (1.5, True, (1,), b"x", frozenset()):
        h = Hypergraph.from_edges([["a", wrong]])
        refused(lambda h=h: write_hif(h, path), f"vertex id {wrong!r} is neither text nor")
        write_hif(h, path, ids="text")
        assert read_hif(path).vertex_ids.tolist() == ["a", str(wrong)]
    clash = Hypergraph.from_edges([[(1,), "(1,)"]])
    refused(lambda: write_hif(clash, path, ids="text"), "two vertex ids become '(1,)'")
    pair = Hypergraph.from_edges([["\ud83d\ude00", "a"]])  # two halves, which JSON would make one character
    path.unlink()
    refused(lambda: write_hif(pair, path), "node id")
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
        refused(lambda w=wrong: write_hif(h, path, metadata=w), "metadata", "would not come back the same")
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
