"""Long tables in files: round trips, invalid files, and bounded memory."""

import gzip
import os
import subprocess
import sys
import warnings
from contextlib import closing
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus import Hypergraph
from hyperclus.errors import InputError, LossWarning
from hyperclus.hypergraph.incidence import Policies
from hyperclus.io.tables import csv, open_table
from hyperclus.io.tables.encode import Runs
from hyperclus.io.tables.long import LongColumns, read_incidences, read_long
from hyperclus.io.tables.long_writer import write_long
from hyperclus.io.tables.parquet import ParquetTable
from hyperclus.io.tables.problems import UsedColumns, find_problems
from hyperclus.io.tables.table import Tuning
from support.contracts import refused

examples = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TEXT_NAMES = ["h.csv", "h.tsv", "h.csv.gz", "h.tsv.gz"]
NAMES = [*TEXT_NAMES, "h.parquet"]
ODD = [
    "",
    " ",
    "a",
    "007",
    "1",
    "-1",
    "1.0",
    "NA",
    "null",
    "None",
    "x,y",
    "x\ty",
    'say "x"',
    '"',
    "\n",
    "\r",
    "a\r\nb",
]
odd_text = st.sampled_from([*ODD, "😀", "\ufeff", "\x00", " a ", "#", "vertex", "é\u2028", "9" * 30])
texts = st.one_of(odd_text, st.text(st.characters(codec="utf-8"), max_size=6))
integers = st.integers(-(2**63), 2**63 - 1)
weights = st.floats(min_value=5e-324, max_value=1.7976931348623157e308, allow_nan=False)


def exact(h):
    """All there is in a hypergraph, to compare to the last bit."""
    ids = [h.vertex_ids.tolist(), h.edge_ids.tolist()]
    kinds = [list(map(type, some)) for some in ids]
    parts = [h.gamma.data, h.gamma.indices, h.gamma.indptr, h.edge_weights]
    return ids, kinds, [part.tolist() for part in parts], h.gamma.indices.dtype, h.vertex_ids.dtype


def read_with(tuning, path, vertex_ids=None, edge_ids=None, **policies):
    """`read_long` with other sizes of batches and tables."""
    source = open_table(path, tuning=tuning)
    columns = LongColumns.of(source, "vertex", "edge", None, None)
    return read_incidences(source, columns, Policies(**policies), True, vertex_ids, edge_ids)


def members(vertices, edges):
    inside = st.dictionaries(vertices, weights, min_size=1, max_size=4)
    return st.dictionaries(edges, inside, min_size=1, max_size=5)


any_members = st.one_of(*[members(v, e) for v in (integers, texts) for e in (integers, texts)])


def looks_whole(ids):
    def whole(text):
        return (
            text.isascii()
            and text.lstrip("-").isdigit()
            and str(int(text)) == text
            and abs(int(text)) < 2**63
        )

    return all(isinstance(value, str) and whole(value) for value in ids)


# ---- round trips --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@given(edges=any_members, data=st.data())
@examples
def test_round_trip(tmp_path, name, edges, data):
    omega = data.draw(st.one_of(st.none(), st.fixed_dictionaries(dict.fromkeys(edges, weights))))
    h = Hypergraph.from_edges(edges, edge_weights=omega)
    path = tmp_path / name
    path.unlink(missing_ok=True)
    if name in TEXT_NAMES and (looks_whole(h.vertex_ids.tolist()) or looks_whole(h.edge_ids.tolist())):
        refused(lambda: write_long(h, path), str(path), "would be read as integers")
        assert not list(tmp_path.iterdir())
        return
    write_long(h, path)
    back = read_long(path)
    assert exact(back) == exact(h)
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_lost_is_named_and_can_be_restored(tmp_path):
    edges = {"e": {"b": 2.0, "c": 1.0}, "f": {}, "g": {"a": 3.0}}
    h = Hypergraph.from_edges(
        edges, vertex_ids=["d", "a", "b", "c"], isolated="keep", empty_edges="keep", edge_weights=[2, 1, 3]
    )
    for name in NAMES:
        with pytest.warns(LossWarning, match="vertex 'd'.*hyperedge 'f'.*order of the vertices"):
            write_long(h, tmp_path / name)
        assert read_long(tmp_path / name).vertex_ids.tolist() == ["b", "c", "a"]
        ids = {"vertex_ids": h.vertex_ids, "edge_ids": h.edge_ids}
        back = read_long(tmp_path / name, **ids, isolated="keep", empty_edges="keep")
        assert exact(back) == exact(h)
        refused(
            lambda name=name, ids=ids: read_long(tmp_path / name, **ids, empty_edges="error"),
            name,
            "no member is in hyperedge 'f'",
        )
        refused(
            lambda name=name: read_long(tmp_path / name, vertex_ids=["a", "b"]),
            name,
            "vertex 'c' is not among",
        )


@given(st.permutations(range(6)), st.data())
@examples
def test_lost_order_is_warned_of_exactly_if_it_is_lost(tmp_path, order, data):
    edges = data.draw(st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=4))
    h = Hypergraph.from_edges([sorted(edge) for edge in edges], vertex_ids=order, isolated="keep")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        write_long(h, tmp_path / "h.csv")
    kept = h.vertex_ids[h.covered].tolist()
    said = any("order of the vertices" in str(one.message) for one in caught)
    assert said == (read_long(tmp_path / "h.csv").vertex_ids.tolist() != kept)


def test_ids_that_cannot_be_written(tmp_path):
    for vertex, part in ((1, "use HIF"), (("a", 1), "rename it"), (1.5, "rename it"), (True, "rename it")):
        h = Hypergraph.from_edges([["1", vertex, "x"]])
        for name in NAMES:
            refused(
                lambda h=h, name=name: write_long(h, tmp_path / name), name, f"vertex id {vertex!r}", part
            )
    lone = Hypergraph.from_edges({"\ud800": ["a"]})
    refused(lambda: write_long(lone, tmp_path / "h.parquet"), "half of a surrogate pair")
    huge = Hypergraph.from_edges([[2**64, 1]])
    refused(lambda: write_long(huge, tmp_path / "h.csv"), "vertex id 18446744073709551616")
    h = Hypergraph.from_edges([["a", "b"]])
    refused(lambda: write_long(h, tmp_path / "h.xlsx"), "h.xlsx", ".parquet")
    refused(lambda: write_long(h, tmp_path / "h.csv", vertex="edge"), "must be different")
    refused(lambda: write_long([[1]], tmp_path / "h.csv"), "ypergraph")
    refused(lambda: write_long(h, tmp_path / "no" / "h.csv"), "folder does not exist")
    assert not list(tmp_path.iterdir())


# ---- the same as from_long ----------------------------------------------------------------------

rows = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0, 3.0])),
    min_size=1,
    max_size=12,
)


def outcome(make):
    try:
        return exact(make())
    except InputError as error:
        return str(error)


@given(
    rows, st.sampled_from(["error", "sum", "max"]), st.sampled_from(["error", "drop", "keep"]), st.booleans()
)
@examples
def test_agrees_with_from_long(tmp_path, triples, duplicates, absent, text):
    name = "a{}".format if text else int
    table = {"who": [name(v) for v, _, _ in triples], "at": [name(e) for _, e, _ in triples]}
    table["w"] = [w for _, _, w in triples]
    options = {"vertex": "who", "edge": "at", "weight": "w", "duplicates": duplicates}
    options |= {"isolated": absent, "empty_edges": absent}
    expected = outcome(lambda: Hypergraph.from_long(table, **options))
    lines = ["ignored;w;at;who", *(f"x;{w!r};{name(e)};{name(v)}" for v, e, w in triples)]
    for end in ("\n", "\r\n", "\r"):
        (tmp_path / "t.csv").write_bytes(("\ufeff" + end.join(lines)).encode())
        found = outcome(lambda: read_long(tmp_path / "t.csv", delimiter=";", **options))
        assert found == (f"{tmp_path / 't.csv'}: {expected}" if isinstance(expected, str) else expected)
    arrow = pa.table(table)
    for kind in ("plain", "categories", "small", "several"):
        folder = tmp_path / kind
        folder.mkdir(exist_ok=True)
        for file in folder.iterdir():
            file.unlink()
        part = arrow
        if kind == "categories":
            part = part.set_column(0, "who", part["who"].dictionary_encode())
        if kind == "small" and not text:
            part = part.set_column(1, "at", part["at"].cast(pa.uint8()))
        pieces = [part] if kind != "several" else [part.slice(i, 3) for i in range(0, len(part), 3)]
        for number, piece in enumerate(pieces):
            pq.write_table(piece, folder / f"{number:03}.parquet", row_group_size=2)
        paths = [folder, folder / "*.parquet"] + [folder / "000.parquet"] * (kind != "several")
        for path in paths:
            found = outcome(lambda path=path: read_long(path, **options))
            assert found == (f"{path}: {expected}" if isinstance(expected, str) else expected)


def test_default_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("weight,edge,vertex,edge_weight\n2,1,a,4\n3,1,b,4\n5,2,b,6\n")
    h = read_long(path)
    assert (h.gamma.data.tolist(), h.edge_weights.tolist()) == ([2, 3, 5], [4, 6])
    h = read_long(path, weight=False, edge_weight=False)
    assert (h.gamma.data.tolist(), h.edge_weights.tolist()) == ([1, 1, 1], [1, 1])
    h = read_long(path, weight="edge_weight")
    assert (h.gamma.data.tolist(), h.edge_weights.tolist()) == ([4, 4, 6], [1, 1])
    assert read_long(path, vertex="weight").vertex_ids.tolist() == [2, 3, 5]
    assert read_long(path, ids="text").edge_ids.tolist() == ["1", "2"]
    (tmp_path / "t.txt").write_text(path.read_text())
    assert exact(read_long(tmp_path / "t.txt", format="csv")) == exact(read_long(path))
    assert exact(read_long(tmp_path / "t.txt")) == exact(read_long(path))


def test_the_size_of_batches_does_not_matter(tmp_path):
    rng = np.random.default_rng(5)
    pairs = rng.permutation(20_000)[:6_000]
    for name, make in (
        ("int", int),
        ("far", lambda i: 2**62 - i * i),
        ("text", "id {}".format),
        ("late", lambda i: i if i != 77 else "x"),
    ):
        table = {
            "vertex": [make(int(i)) for i in pairs % 200],
            "edge": [make(int(i)) for i in pairs // 200],
            "weight": rng.random(len(pairs)).tolist(),
        }
        plain = {key: list(map(str, values)) if name == "late" else values for key, values in table.items()}
        plain["weight"] = table["weight"]
        expected = exact(Hypergraph.from_long(plain))
        lines = [",".join(map(str, row)) for row in zip(*table.values(), strict=True)]
        (tmp_path / "t.csv").write_text("\n".join(["vertex,edge,weight", *lines]))
        pq.write_table(pa.table(plain), tmp_path / "t.parquet", row_group_size=700)
        for block, batch, span in (
            (1 << 24, 1 << 16, 1 << 22),
            (500, 1, 0),
            (4096, 1000, 50),
            (4096, 100, 150),
        ):
            tuning = Tuning(text_block=block, waiting=2 * block, rows=batch, span=span)
            assert exact(read_with(tuning, tmp_path / "t.csv")) == expected
            assert exact(read_with(tuning, tmp_path / "t.parquet")) == expected


# ---- rows in any order --------------------------------------------------------------------------


def runs_of_rows(order, n_edges=60, size=12):
    """Columns of a table whose hyperedges, of `size` members, come in this order."""
    rng = np.random.default_rng(3)
    edge = np.repeat(np.arange(n_edges), size)
    vertex = np.concatenate([rng.permutation(90)[:size] for _ in range(n_edges)])
    rows = {
        "sorted": np.arange(len(edge)),
        "backwards": np.arange(len(edge))[::-1],
        "visited twice": np.argsort(np.arange(len(edge)) % size >= size // 2, kind="stable"),
        "half sorted": np.append(np.arange(360), 360 + rng.permutation(len(edge) - 360)),
        "mostly sorted": np.append(np.arange(648), 648 + rng.permutation(len(edge) - 648)),
        "shuffled": rng.permutation(len(edge)),
    }[order]
    weight = 0.5 + rng.random(len(edge))
    table = {"vertex": vertex, "edge": 7 * edge - 100, "weight": weight, "edge_weight": 1.0 + edge % 5}
    return {name: column[rows] for name, column in table.items()}


ORDERS = ["sorted", "backwards", "visited twice", "half sorted", "mostly sorted", "shuffled"]
KINDS = {
    "near": lambda ids: pa.array(ids),
    "far": lambda ids: pa.array(ids * 2**40),
    "text": lambda ids: pa.array([f"id {i}" for i in ids]),
    "large text": lambda ids: pa.array([f"id {i}" for i in ids], pa.large_string()),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [1, 5, 64, 1000])  # 1 and 5: a hyperedge lies in several batches
def test_rows_in_any_order(tmp_path, order, kind, rows):
    tuning = Tuning(rows=rows, batches=1000, span=1000)
    table = runs_of_rows(order)
    table |= {name: KINDS[kind](table[name]) for name in ("vertex", "edge")}
    pq.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=100)
    found = read_with(tuning, tmp_path / "t.parquet")
    assert exact(found) == exact(Hypergraph.from_long(table))
    edges = found.edge_ids[::-1].tolist()
    vertices = [*found.vertex_ids[::-1].tolist(), "none of these"]
    options = {"edge_ids": edges, "vertex_ids": vertices, "isolated": "drop"}
    again = read_with(tuning, tmp_path / "t.parquet", **options)
    assert exact(again) == exact(Hypergraph.from_long(table, **options))
    refused(
        lambda: read_with(tuning, tmp_path / "t.parquet", vertex_ids=vertices, isolated="error"),
        "no hyperedge holds vertex 'none of",
    )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rows", [1, 5, 64, 1000])
def test_duplicates_and_zeros_in_any_order(tmp_path, order, rows):
    tuning = Tuning(rows=rows, batches=1000)
    path, table = tmp_path / "t.parquet", runs_of_rows(order)
    for start in (4, 5, 63, 300):  # some pairs lie across a border of batches
        table = {name: np.insert(column, start, column[start]) for name, column in table.items()}
    table["weight"][[20, 400]] = 0.0
    pq.write_table(pa.table(table), path)
    for duplicates in ("error", "sum", "max"):
        expected = outcome(lambda duplicates=duplicates: Hypergraph.from_long(table, duplicates=duplicates))
        found = outcome(lambda duplicates=duplicates: read_with(tuning, path, duplicates=duplicates))
        assert found == (f"{path}: {expected}" if isinstance(expected, str) else expected)
    table["weight"][table["vertex"] == 17] = 0.0
    pq.write_table(pa.table(table), path)
    refused(
        lambda: read_with(tuning, path, duplicates="sum", isolated="error"), "no hyperedge holds vertex 17"
    )
    assert 17 not in read_with(tuning, path, duplicates="sum", isolated="drop").vertex_ids


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rows", [1, 5, 64, 1000])
def test_different_weights_of_one_hyperedge(tmp_path, order, rows):
    tuning = Tuning(rows=rows, batches=1000)
    path, table = tmp_path / "t.parquet", runs_of_rows(order)
    edge, omega = table["edge"], table["edge_weight"]
    last = int(np.flatnonzero(edge == edge[200])[-1])
    omega[last] += 0.25
    pq.write_table(pa.table(table), path)
    known = f"is {omega[last]}, and {omega[last] - 0.25} in an earlier row"
    expected = (f"row {last}, column 'edge_weight'", f"hyperedge {edge[last]} ", known)
    refused(lambda: read_with(tuning, path), *expected)
    omega[edge == edge[200]] = 0.0
    pq.write_table(pa.table(table), path)
    first = int(np.flatnonzero(edge == edge[200])[0])
    refused(lambda: read_with(tuning, path), f"row {first}, column", f"hyperedge {edge[first]} is 0")


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 7), st.integers(1, 9))
@examples
def test_runs_hold_a_code_for_every_row(codes, length, step):
    plain = np.array(codes, dtype=np.int32)
    cuts = range(0, len(codes), length)
    runs = Runs.joined([Runs.of(plain[cut : cut + length]) for cut in cuts])
    assert runs.by_row().tolist() == codes
    assert runs.counts(6).tolist() == np.bincount(codes, minlength=6).tolist()
    free = np.cumsum(runs.counts(6)) - runs.counts(6)
    rows = np.full(len(codes), -1)
    for start in range(0, len(codes) + 1, step):  # the last one may be empty
        stop = min(start + step, len(codes))
        part = runs.between(start, stop)
        assert part.by_row().tolist() == codes[start:stop]
        rows[part.slots(free)] = np.arange(start, stop)
    assert rows.tolist() == np.argsort(plain, kind="stable").tolist()


def test_runs_of_more_rows_than_32_bits_count():
    half = Runs(np.array([4, 6], dtype=np.int32), np.array([0, 9], dtype=np.int32), 2**31 - 1)
    runs = Runs.joined([half, half, half])
    assert runs.counts(7).tolist() == [0, 0, 0, 0, 27, 0, 3 * (2**31 - 10)]
    start = 2 * (2**31 - 1)
    assert runs.between(start - 2, start + 11).by_row().tolist() == [6, 6, *[4] * 9, 6, 6]


def test_a_lookup_table_grows_both_ways(tmp_path):
    least, most = -(2**63), 2**63 - 1
    ids = {
        "up": np.arange(500),
        "down": -np.arange(500),
        "both": np.arange(500) * (-1) ** np.arange(500),
        "from the least": least + np.arange(500),
        "to the least": least + np.arange(500)[::-1],
        "to the most": most - np.arange(500)[::-1],
        "from the most": most - np.arange(500),
        "far at last": np.append(np.arange(499), most),
        "far and low at last": np.append(np.arange(499), least),
    }
    for name, some in ids.items():
        table = {"vertex": np.roll(some, 250), "edge": some}
        pq.write_table(pa.table(table), tmp_path / "t.parquet")
        for span in (1 << 22, 520, 300, 0):
            found = read_with(Tuning(rows=10, batches=1000, span=span), tmp_path / "t.parquet")
            assert exact(found) == exact(Hypergraph.from_long(table)), name


def test_batches_are_joined_where_ids_are_hashed(tmp_path):
    table = pa.table({"vertex": np.arange(1000) * 2**40, "weight": np.arange(1000.0)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=150)
    source = ParquetTable(tmp_path / "t.parquet", Tuning(rows=10, batches=5))
    pieces = []
    for vertex, weight in source.batches(["vertex", "weight"]):
        pieces.append(pa.table({"vertex": vertex, "weight": weight}))
        source.large_batches = source.large_batches or len(pieces) == 3
    assert [len(piece) for piece in pieces] == [10, 10, 10, 200, 200, 200, 200, 170]
    assert pa.concat_tables(pieces).equals(table)
    with closing(source.batches(["vertex"])) as batches:
        assert len(next(batches)[0]) == 10


# ---- hostile files ------------------------------------------------------------------------------

HEAD = b"vertex,edge,weight\n"
WIDE = b",".join(b"c%d" % i for i in range(1_000_000))


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"", ["empty"]),
        (b"\n\n", ["no column 'vertex'"]),
        (b"a;b\n1;2\n", ["no column 'vertex'", "'a', 'b'"]),
        (b"vertex,edge,edge\na,b,c\n", ["more than one column 'edge'"]),
        (WIDE + b"\n", ["no column 'vertex'", "and 999,990 more"]),
        (HEAD + b"a,e,1\nb,e\n", ["line 3", "2 fields", "header has 3"]),
        (HEAD + b"a,e,1\n\n\nb,e,1,\n", ["line 5", "4 fields"]),
        (
            HEAD + b'"a\nb",e,1\nb,e,-2\n',
            ["line 4", "'weight'", "'-2' is negative, and weights"],
        ),
        (HEAD + b"a,e,1\r\nb,e,nan\r\n", ["line 3", "'nan'"]),
        (HEAD.replace(b"\n", b"\r") + b"a,e,1\rb,e,Infinity\r", ["line 3", "'Infinity'"]),
        (HEAD + b"a,e,1\nb,e,1e999\n", ["line 3", "'1e999'"]),
        (HEAD + b"a,e,1\nb,e,\n", ["line 3", "weight is missing"]),
        (HEAD + b"a,e,1\nb,e,many\n", ["line 3", "'many'"]),
        (HEAD + b"a,e,1\nb,e,1_0\n", ["line 3", "'1_0'"]),
        (HEAD + b"x" * 200_000 + b",e,1\nb,e,-2\n", ["row 1", "'weight'", "'-2'"]),
        (HEAD + b"a,e,1\n,e,1\n", ["line 3", "'vertex'", "missing"]),
        (HEAD + b"a,e,1\nb,,1\n", ["line 3", "'edge'", "missing"]),
        (HEAD + b"a,e,1\nb,e,1\na,e,2\n", ["vertex 'a' in hyperedge 'e' appears more than once"]),
        (HEAD + b'a,e,1\n"b,e,1\nc,e,1\n', ["line 3", "quote"]),
        (HEAD + b'a,e,1\nb,"e', ["line 3", "quote"]),
        (b'"vertex,edge\n', ["quote"]),
        (HEAD + b"a,e,1\nb\xe9,e,1\n", ["line 3", "byte 1 of the line is not UTF-8"]),
        (HEAD + b"a,e,1\n" * 30 + b"b,\xff,1\n", ["line 32", "UTF-8"]),
        ("vertex,edge\na,e\n".encode("utf-16-le"), ["UTF-16", "encoding='utf-16-le'"]),
        (b"vertex,edge,edge_weight\na,e,2\nb,e,3\n", ["line 3", "hyperedge 'e'", "is 3.0, and 2.0"]),
        (b"vertex,edge,edge_weight\na,e,2\nb,f,0\n", ["line 3", "hyperedge 'f'", "is 0"]),
        (b"vertex,edge,edge_weight\na,e,2\nb,f,\n", ["line 3", "'edge_weight'", "missing"]),
        (gzip.compress(HEAD + b"a,e,1\n" * 1000, mtime=0)[:60], ["damaged"]),
        (gzip.compress(HEAD + b"a,e,1\n" + b"\n" * 120_000_000, mtime=0), ["times its size"]),
    ],
)
def test_hostile_text(tmp_path, content, parts):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    refused(lambda: read_long(path), str(path), *parts)


def test_blocks_of_text_end_between_rows(tmp_path):
    """Line ends and delimiters within quotes, quotes within values, byte order marks at the start of rows."""
    quoted = ["x", "a\nb", 'c"d', '"', "e,f", "\r\n", "\n\n,", "g" * 20, "\ufeffz"]
    plain = ['5" pipe', "\ufeffy", "h"]
    vertices = [f"{value}{number}" for number in range(7) for value in (*quoted, *plain)]
    lines = ["vertex,edge"]
    for vertex in vertices:
        bare = any(vertex.startswith(value) for value in plain)
        lines.append((vertex if bare else '"' + vertex.replace('"', '""') + '"') + ",e")
    for end in ("\n", "\r\n"):
        (tmp_path / "t.csv").write_bytes((end.join(lines) + end).encode())
        for block in (64, 67, 71, 80, 101, 1 << 20):
            found = read_with(Tuning(text_block=block), tmp_path / "t.csv")
            assert found.vertex_ids.tolist() == vertices


def test_a_row_must_fit_into_a_block(tmp_path):
    tuning = Tuning(text_block=1 << 16)
    path = tmp_path / "long.csv"
    path.write_bytes(HEAD + b"a,e,1\nb," + b"x" * 200_000 + b",1\n")
    refused(lambda: read_with(tuning, path), "long.csv, line 3", "longer than")
    path.write_bytes(HEAD + b"a,e,1\n" * 50_000 + b'b,"' + b"x\n" * 200_000)
    refused(lambda: read_with(tuning, path), "long.csv")


def test_paths_that_are_not_files(tmp_path):
    refused(lambda: read_long(tmp_path / "no.csv"), "no such file")
    refused(lambda: read_long(tmp_path / "no.parquet"), "no such file")
    refused(lambda: read_long(tmp_path / "*.parquet"), "no Parquet files")
    refused(lambda: read_long(tmp_path), "no Parquet files")
    (tmp_path / "d.csv").mkdir()
    refused(lambda: read_long(tmp_path / "d.csv", format="csv"), "folder")
    for bad in ("", ";;", '"', "\n", "é", 3):
        refused(lambda bad=bad: read_long(tmp_path / "t.csv", delimiter=bad), "delimiter must be one ASCII")
    refused(lambda: read_long(tmp_path / "t.csv", duplicates="first"), "duplicates must be")
    refused(lambda: read_long(tmp_path / "t.csv", ids=int), "ids must be")


@pytest.mark.parametrize(
    ("table", "parts"),
    [
        ({"vertex": ["a", "b"], "edge": [1, 1], "weight": [1.0, -1.0]}, ["row 1", "'weight'", "-1.0"]),
        ({"vertex": ["a", "b"], "edge": [1, 1], "weight": [1.0, float("nan")]}, ["row 1", "nan"]),
        ({"vertex": ["a", "b"], "edge": [1, 1], "weight": [1.0, None]}, ["row 1", "missing"]),
        ({"vertex": ["a", None], "edge": [1, 1]}, ["row 1", "'vertex'", "missing"]),
        ({"vertex": ["a", "b"], "edge": [1.0, 1.0]}, ["row 0", "'edge'", "not 'double'"]),
        ({"vertex": ["a"], "edge": [1], "weight": ["1"]}, ["row 0", "must be numbers"]),
        ({"vertex": [{"x": 1}], "edge": [1]}, ["'vertex'", "not 'struct"]),
        ({"vertex": ["a"], "edge": pa.array([2**63], pa.uint64())}, ["'edge'", "64 bits"]),
        ({"vertex": ["a"], "hyperedge": [1]}, ["no column 'edge'", "'hyperedge'"]),
        ({"vertex": ["a"] * 20_000_000, "edge": pa.array(np.zeros(20_000_000))}, ["times its size"]),
    ],
)
def test_hostile_parquet(tmp_path, table, parts):
    path = tmp_path / "bad.parquet"
    pq.write_table(pa.table(table), path)
    refused(lambda: read_long(path), str(path), *parts)


def test_parquet_files_that_do_not_agree(tmp_path):
    pq.write_table(pa.table({"vertex": [1], "edge": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"vertex": [2, None], "edge": [1, 2]}), tmp_path / "b.parquet")
    refused(lambda: read_long(tmp_path), f"{tmp_path / 'b.parquet'}: row 1", "missing")
    pq.write_table(pa.table({"vertex": ["2"], "edge": [1]}), tmp_path / "b.parquet")
    refused(
        lambda: read_long(tmp_path), f"{tmp_path / 'b.parquet'}: row 0", "integers in some files and text"
    )
    pq.write_table(pa.table({"other": [2]}), tmp_path / "b.parquet")
    refused(lambda: read_long(tmp_path), f"{tmp_path / 'b.parquet'}: ", "as other files have")


def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("vertex,edge\na,e\nb,e\n")
    honest, calls = csv.CsvTable.batches, []

    def slow(self, columns):
        if columns == ["vertex"]:
            path.write_text(calls[-1])
        return honest(self, columns)

    monkeypatch.setattr(csv.CsvTable, "batches", slow)
    for other in ("vertex,edge\na,e\n", "vertex,edge\na,e\nb,e\nc,e\n", "vertex,edge\nx,e\ny,e\n"):
        path.write_text("vertex,edge\na,e\nb,e\n")
        os.utime(path, (1, 1))
        calls.append(other)
        refused(lambda: read_long(path), "changed while it was read")


# ---- anything at all ----------------------------------------------------------------------------


def hypergraph_or_sentence(path, **options):
    result = outcome(lambda: read_long(path, **options))
    if isinstance(result, str):
        assert str(path) in result
        assert "\n" not in result


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("valid")
    h = Hypergraph.from_edges({"e,1": {"a": 1.0, 'b"': 2.5}, "f": {"a": 1.0, "ç": 0.1}}, edge_weights=[2, 3])
    for name in NAMES:
        write_long(h, folder / name)
    return {name: (folder / name).read_bytes() for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(examples, max_examples=120)
def test_corrupted_files(tmp_path, valid, name, data):
    content = bytearray(valid[name])
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        stop = data.draw(st.integers(start, min(len(content), start + 8)))
        content[start:stop] = data.draw(
            st.one_of(st.binary(max_size=6), st.sampled_from([b'"', b"\n", b",", b"-"]))
        )
    content = content[: data.draw(st.one_of(st.none(), st.integers(0, len(content))))]
    (tmp_path / name).write_bytes(content)
    hypergraph_or_sentence(tmp_path / name)


@pytest.mark.parametrize("name", ["h.csv", "h.parquet"])
@given(
    content=st.binary(max_size=80),
    start=st.sampled_from([b"", b"vertex,edge\n", b"PAR1", b"\x1f\x8b", b"\xff\xfe"]),
)
@examples
def test_random_bytes(tmp_path, name, content, start):
    (tmp_path / name).write_bytes(start + content + (b"PAR1" if start == b"PAR1" else b""))
    hypergraph_or_sentence(tmp_path / name)


@given(table=st.lists(st.lists(st.sampled_from([*ODD, "1", "2", "0.5", "é"]), max_size=4), max_size=6))
@examples
def test_random_tables(tmp_path, table):
    lines = "\n".join(",".join(row) for row in [["vertex", "edge", "weight"], *table])
    (tmp_path / "h.csv").write_bytes(lines.encode())
    hypergraph_or_sentence(tmp_path / "h.csv")


# ---- memory -------------------------------------------------------------------------------------

# ru_maxrss would begin with the peak of the process that forked this one.
MEASURE = """
import sys
import pyarrow, pyarrow.compute, pyarrow.parquet
from hyperclus.io.tables.long import read_long
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
read_long(sys.argv[1])
before = peak()
h = read_long(sys.argv[2])
print(peak() - before, h.n_incidences)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
@pytest.mark.parametrize("kind", ["integers", "text"])
def test_memory_of_parquet(tmp_path, kind):
    """Beyond what a small file takes, at most twice the 12 bytes per incidence of the hypergraph."""
    for name, n_edges in (("small", 10_000), ("large", 200_000)):
        edge = np.repeat(np.arange(n_edges), 20)
        vertex = (np.arange(20 * n_edges) * 7919) % 20_000
        table = pa.table({"vertex": vertex, "edge": edge, "weight": 1.0 + (vertex % 7)})
        if kind == "text":
            table = table.set_column(
                0, "vertex", pa.array([f"vertex {i}" for i in range(20_000)]).take(table["vertex"])
            )
        pq.write_table(table, tmp_path / f"{name}.parquet")
    command = [sys.executable, "-c", MEASURE, *(tmp_path / f"{name}.parquet" for name in ("small", "large"))]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    extra, incidences = map(int, out.split())
    assert incidences == 4_000_000
    assert 12 * incidences < extra + 20_000_000
    assert extra < 2 * 12 * incidences


def test_parquet_is_read_without_pandas(tmp_path):
    table = pa.table({"vertex": [3, 3, 8], "edge": [1, 2, 2], "weight": [1.0, 2.0, 3.0]})
    pq.write_table(table, tmp_path / "h.parquet")
    code = "import sys, hyperclus as hc; print(hc.read(sys.argv[1]).n_incidences, 'pandas' in sys.modules)"
    command = [sys.executable, "-c", code, tmp_path / "h.parquet"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == [
        "3",
        "False",
    ]


class TestDelimiters:
    TEXT = "author;paper;share\nann;p1;3,5\nbob;p1;1\nbob;p2;0,25\n"
    NAMES: ClassVar = {"vertex": "author", "edge": "paper", "weight": "share"}

    @pytest.mark.parametrize("sign", [";", "|", "\t"])
    @pytest.mark.parametrize("name", ["t.csv", "t.txt"])
    def test_the_delimiter_is_detected(self, tmp_path, sign, name):
        path = tmp_path / name
        path.write_text(self.TEXT.replace(",", ".").replace(";", sign))
        h = hc.read(path, **self.NAMES)
        assert h.gamma.data.tolist() == [3.5, 1.0, 0.25]
        assert h.edge_ids.tolist() == ["p1", "p2"]

    def test_decimal_commas_on_request(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text(self.TEXT)
        assert hc.read(path, **self.NAMES, decimal=",").gamma.data.tolist() == [3.5, 1.0, 0.25]
        refused(lambda: hc.read(path, **self.NAMES), "line 2", "'3,5'", "decimal=','")
        refused(lambda: hc.read(path, **self.NAMES, decimal="x"), "decimal must be")
        path.write_text(self.TEXT.replace("0,25", "-0,25"))
        refused(lambda: hc.read(path, **self.NAMES, decimal=","), "line 4", "'-0,25'")


class TestQuotes:
    @pytest.mark.parametrize(
        ("row", "line"), [('a,e,"1"2', 2), ('"a"b,e,1', 2), ('a,"e" ,1', 2), ('"a\n""",e,1\nb,"f"f,1', 4)]
    )
    @pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
    def test_text_after_a_closing_quote_is_refused(self, tmp_path, row, line, delimiter):
        path = tmp_path / "t.csv"
        text = f"vertex,edge,weight\n{row}\nb,e,1\n".replace(",", delimiter)
        path.write_text(text)
        refused(lambda: hc.read(path), f"t.csv, line {line}:", "expected after '\"'")
        rows = {"format": "rows", "missing": "drop"}
        refused(lambda: hc.read(path, **rows), f"t.csv, line {line}:", "expected after '\"'")

    @pytest.mark.parametrize("block", [16, 40, 1 << 24])
    def test_other_quotes_are_read(self, tmp_path, block):
        path = tmp_path / "t.csv"
        path.write_text('vertex,edge\n"a,""b""",e\nc"d"e,"e"\n"x\n,""y",\'"\n"",e\n')
        h = read_with(Tuning(text_block=block), path)
        assert h.vertex_ids.tolist() == ['a,"b"', 'c"d"e', 'x\n,"y', ""]
        assert h.edge_ids.tolist() == ["e", "'\""]


class TestSigns:
    """Decimal signs and separators of thousands."""

    @pytest.mark.parametrize(
        ("weight", "options", "found"),
        [
            ("1,396", {"thousands": ","}, 1396),
            ("1,396,000.5", {"thousands": ","}, 1396000.5),
            ("12,000e-3", {"thousands": ","}, 12),
            ("1396.25", {"thousands": ","}, 1396.25),
            ("1.500", {"thousands": "."}, 1500),
            ("1.500,25", {"thousands": ".", "decimal": ","}, 1500.25),
            ("2,5", {"thousands": "."}, 2.5),
            ("2,5", {"decimal": ","}, 2.5),
            ("1.500", {"decimal": "."}, 1.5),
            ("0.500", {}, 0.5),
            ("1.50", {}, 1.5),
        ],
    )
    def test_read(self, tmp_path, weight, options, found):
        path = tmp_path / "t.csv"
        path.write_text(f"vertex;edge;weight\na;e;{weight}\nb;e;1\n")
        assert hc.read(path, **options).gamma.data.tolist() == [found, 1]

    @pytest.mark.parametrize(
        ("weight", "options", "ways"),
        [
            ("1,396", {}, ["use thousands=',' if ',' separates thousands"]),
            ("1,39", {}, ["use decimal=','"]),
            ("1.234,56", {}, ["use thousands='.'"]),
            ("1,39", {"thousands": ","}, []),
            ("0,396", {"thousands": ","}, []),
            ("1,3960", {"thousands": ","}, []),
            ("1.500", {"decimal": ","}, ["use thousands='.' if '.' separates thousands"]),
            ("2.5", {"decimal": ","}, ["use decimal='.'"]),
            ("1.500.000", {"decimal": ","}, ["use thousands='.'"]),
            ("2.5", {"thousands": "."}, []),
        ],
    )
    def test_signs_without_a_meaning_are_refused(self, tmp_path, weight, options, ways):
        path = tmp_path / "t.csv"
        path.write_text(f'vertex,edge,weight\na,e,"{weight}"\nb,e,1\n')
        refused(lambda: hc.read(path, **options), "t.csv, line 2:", f"the weight {weight!r}", *ways)

    @pytest.mark.parametrize("others", [["3.5", "7"], ["7"] * 50])
    def test_one_comma_beside_other_numbers_is_a_mistake(self, tmp_path, others):
        path = tmp_path / "t.csv"
        rows = "".join(f"v{row};e;{weight}\n" for row, weight in enumerate([*others, "12,5"]))
        path.write_text(f"vertex;edge;weight\n{rows}")
        with pytest.raises(InputError) as found:
            hc.read(path)
        assert str(found.value).endswith("the weight '12,5' is not a number; correct it or leave the row out")
        _, (problem,) = find_problems(path, UsedColumns("vertex", "edge", "weight"))
        assert (problem.kind, problem.line) == ("not a number", len(others) + 2)

    def test_a_comma_among_commas_is_not_advised_as_decimal_sign(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text('vertex,edge,weight\na,e,"1,396"\nb,e,1\n')
        with pytest.raises(InputError) as found:
            hc.read(path)
        assert "decimal" not in str(found.value)
        path.write_text("vertex;edge;weight\na;e;1,396\nb;e;1\n")
        refused(lambda: hc.read(path), "thousands=','", "decimal=','")

    @pytest.mark.parametrize("delimiter", [";", "\t"])
    def test_points_that_may_separate_thousands_are_refused(self, tmp_path, delimiter):
        path = tmp_path / "t.csv"

        def write(*weights):
            rows = [("vertex", "edge", "weight"), *((f"v{i}", "e", w) for i, w in enumerate(weights))]
            path.write_text("".join(delimiter.join(row) + "\n" for row in rows))

        write("950", "1.234", "2.900")
        refused(lambda: hc.read(path, format="csv"), "line 3", "the point of 1.234", "decimal='.'")
        assert hc.read(path, format="csv", thousands=".").gamma.data.tolist() == [950, 1234, 2900]
        assert hc.read(path, format="csv", decimal=".").gamma.data.tolist() == [950, 1.234, 2.9]
        for weights in (["950", "1.234", "0.125"], ["1.234", "2.900"], ["1", "2"], ["950", "1.234", "1.5"]):
            write(*weights)
            assert hc.read(path, format="csv").gamma.data.tolist() == [*map(float, weights)]

    @pytest.mark.parametrize("kind", ["csv", "rows"])
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"thousands": ",", "decimal": ","}, "must be different signs"),
            ({"thousands": " "}, "thousands must be '.' or ','"),
            ({"thousands": ""}, "thousands must be '.' or ','"),
            ({"decimal": ""}, "decimal must be '.' or ','"),
        ],
    )
    def test_wrong_arguments(self, tmp_path, kind, options, message):
        path = tmp_path / "t.csv"
        path.write_text("vertex,edge,weight\na,e,1\nb,e,1\n")
        refused(lambda: hc.read(path, format=kind, **options), message)


def test_a_file_that_changes_is_called_so_before_its_content_is_judged(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("vertex,edge\na,e\nb,e\n")
    honest = csv.CsvTable.batches

    def replaced(table, columns):
        if columns == ["vertex"]:
            path.write_text("vertex,edge\na,e\na,e\n")
            os.utime(path, (1, 1))
        return honest(table, columns)

    monkeypatch.setattr(csv.CsvTable, "batches", replaced)
    refused(lambda: hc.read(path), "t.csv: the file changed while it was read")
