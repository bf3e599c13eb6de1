"""hMETIS, Matrix Market and NumPy files: round trips, and errors that name the line or the array."""

import contextlib
import gzip
import io
import json
import tempfile
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hyperclus import Hypergraph
from hyperclus._runtime.files import writing
from hyperclus._runtime.source import reading
from hyperclus.errors import InputError, LossWarning
from hyperclus.io import npz
from hyperclus.io.npz import read_npz, write_npz
from hyperclus.io.numeric_text import (
    number_lines,
    read_hmetis,
    read_matrix_market,
    write_edge_lines,
    write_hmetis,
    write_matrix_market,
)
from support.contracts import refused
from support.strategies import connected_members, hypergraphs, random_hypergraph

examples = settings(deadline=None, max_examples=60)
KEEP = {"isolated": "keep", "empty_edges": "keep"}
READERS = {".hgr": read_hmetis, ".mtx": read_matrix_market, ".npz": read_npz}
WRITERS = {".hgr": write_hmetis, ".mtx": write_matrix_market, ".npz": write_npz}
MTX = "%%MatrixMarket matrix coordinate real general\n"
DENSE = "%%MatrixMarket matrix array real general\n"
positive = st.floats(min_value=5e-324, allow_infinity=False, allow_nan=False)


@contextlib.contextmanager
def place(suffix):
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder, f"file{suffix}")


def same_bits(h, g):
    for mine, yours in ((h.gamma.data, g.gamma.data), (h.edge_weights, g.edge_weights)):
        assert mine.tobytes() == yours.tobytes()
    for mine, yours in ((h.gamma.indices, g.gamma.indices), (h.gamma.indptr, g.gamma.indptr)):
        np.testing.assert_array_equal(mine, yours)
        assert mine.dtype == yours.dtype
    for mine, yours in ((h.vertex_ids, g.vertex_ids), (h.edge_ids, g.edge_ids)):
        assert mine.dtype == yours.dtype
        assert mine.tolist() == yours.tolist()
        assert repr(mine.tolist()) == repr(yours.tolist())  # 1, 1.0 and True are equal but not the same


def round_trip(h, suffix, loss=None, **policies):
    """Write and read a hypergraph; `loss` is part of the expected warning, None if there must be none."""
    with place(suffix) as path:
        write = WRITERS["." + suffix.split(".")[1]]
        if loss is None:
            write(h, path)
        else:
            with pytest.warns(LossWarning, match=loss):
                write(h, path)
        return READERS["." + suffix.split(".")[1]](path, **policies)


def text_refused(text, suffix, *words, **policies):
    with place(suffix) as path:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        refused(lambda: READERS[suffix](path, **policies), path.name, *words)


def read_text(text, suffix, **policies):
    with place(suffix) as path:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return READERS[suffix](path, **policies)


# ---- round trips ------------------------------------------------------------------------------


@given(connected_members(), st.data(), st.sampled_from([".hgr", ".hgr.gz"]))
@examples
def test_hmetis_keeps_members_and_omega(members, data, suffix):
    edges = {e: [v + 1 for v in inside] for e, inside in enumerate(members, 1)}
    edges[len(edges) + 1] = data.draw(st.sampled_from([[], [1]]))
    omega = data.draw(st.one_of(st.none(), st.lists(positive, min_size=len(edges), max_size=len(edges))))
    n = max(map(max, map(list, edges.values() if edges[len(edges)] else list(edges.values())[:-1])))
    h = Hypergraph.from_edges(edges, edge_weights=omega, vertex_ids=range(1, n + 2), **KEEP)
    same_bits(round_trip(h, suffix, **KEEP), h)


@given(hypergraphs())
@examples
def test_hmetis_warns_about_losses(h):
    g = h.with_gamma(np.ones(h.n_incidences))
    lost = "the weights of the members, the vertex ids, the hyperedge ids; left out"
    again = round_trip(h, ".hgr", loss=lost if (h.gamma.data != 1).any() else "hold the vertex ids, the")
    assert again.vertex_ids.tolist() == (g.vertex_ids + 1).tolist()
    np.testing.assert_array_equal(again.gamma.toarray(), g.gamma.toarray())
    assert again.edge_weights.tolist() == g.edge_weights.tolist()


@given(hypergraphs(), st.data(), st.sampled_from([".mtx", ".mtx.gz"]))
@examples
def test_matrix_market_keeps_gamma(h, data, suffix):
    h = h.with_edge_weights(np.ones(h.n_edges))
    same_bits(
        round_trip(h.with_gamma(np.ones(h.n_incidences)), suffix), h.with_gamma(np.ones(h.n_incidences))
    )
    values = data.draw(st.lists(positive, min_size=h.n_incidences, max_size=h.n_incidences))
    same_bits(round_trip(h.with_gamma(values), suffix), h.with_gamma(values))


def test_matrix_market_warns_about_losses():
    h = Hypergraph.from_edges([["a", "b"], ["b", "c"]], edge_weights=[1, 2])
    again = round_trip(h, ".mtx", loss="the hyperedge weights, the vertex ids; left out")
    assert again.vertex_ids.tolist() == [0, 1, 2]
    assert again.edge_weights.tolist() == [1, 1]
    h = Hypergraph.from_edges({"e": [0, 1]})
    assert round_trip(h, ".mtx", loss="cannot hold the hyperedge ids; left out").n_edges == 1


atoms = st.one_of(st.text(), st.integers(), st.booleans(), st.floats(allow_nan=False))
parts = st.recursive(st.one_of(atoms, st.none()), lambda inner: st.lists(inner, max_size=3).map(tuple))
identities = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, min_size=1),
    st.lists(st.text(), unique=True, min_size=1),
    st.lists(st.one_of(atoms, st.lists(parts, max_size=3).map(tuple)), unique=True, min_size=1),
)


@given(identities, identities, st.booleans(), st.data())
@example([1, "1", ("a", 1), True + 1.5, ("a", (None, True))], ["\ud800\udc00", "\ud800", "\x00"], True, None)
@examples
def test_npz_keeps_everything(vertices, edges, compressed, data):
    members = st.lists(
        st.dictionaries(st.sampled_from(vertices), positive), min_size=len(edges), max_size=len(edges)
    )
    inside = [{vertices[0]: 0.1}] * len(edges) if data is None else data.draw(members)
    inside[-1] = inside[-1] or {vertices[-1]: 5e-324}
    omega = np.linspace(0.1, 3, len(edges))
    h = Hypergraph.from_edges(
        dict(zip(edges, inside, strict=True)), edge_weights=omega, vertex_ids=vertices, **KEEP
    )
    with place(".npz") as path:
        write_npz(h, path, compressed=compressed)
        same_bits(read_npz(path), h)
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_npz_keeps_ids_from_tables():
    table = {"colour": ["red", None, "blue"], "legs": [4, 2, 2], "tall": [True, False, True]}
    h = Hypergraph.from_table(table, missing="category")
    assert ("colour", None) in h.edge_ids.tolist()
    same_bits(round_trip(h, ".npz"), h)
    h = Hypergraph.from_edges({(np.int64(3), np.str_("x")): [1, 2]})
    assert round_trip(h, ".npz").edge_ids.tolist() == [(3, "x")]


def deep(levels):
    value = ()
    for _ in range(levels):
        value = (value,)
    return value


def test_npz_refuses_ids_that_it_cannot_hold(tmp_path):
    for bad in (b"bytes", frozenset({1}), 1j, ("a", b"b"), 10**5000, deep(30), deep(3000)):
        h = Hypergraph.from_edges([["a", bad]])
        refused(lambda h=h: write_npz(h, tmp_path / "x.npz"), "vertex id", "use")
    assert not list(tmp_path.iterdir())


def test_arguments_of_the_writers(tmp_path):
    h = Hypergraph.from_edges({1: [1, 2]})
    plain = Hypergraph.from_incidence([[1], [2]])
    for suffix, write in WRITERS.items():
        refused(
            lambda write=write, suffix=suffix: write([[1]], tmp_path / f"x{suffix}"), "a Hypergraph is needed"
        )
        good = h if suffix == ".hgr" else plain
        refused(
            lambda write=write, good=good: write(good, tmp_path / "none" / "x"), "the folder does not exist"
        )
        refused(lambda write=write, good=good: write(good, tmp_path), "this is a folder")
    refused(lambda: write_npz(h, tmp_path / "x.npz.gz"), "leave out .gz")
    with warnings.catch_warnings(action="error"), pytest.raises(LossWarning):
        write_hmetis(plain, tmp_path / "x.hgr")
    assert not list(tmp_path.iterdir())


# ---- hMETIS -----------------------------------------------------------------------------------


def test_the_four_weight_formats_of_hmetis():
    bare = read_text("2 3\n1 2\n2 3\n", ".hgr")
    assert bare.gamma.toarray().tolist() == [[1, 1, 0], [0, 1, 1]]
    same_bits(read_text("% c\n2  3 0\r\n\r\n 1\t2 \r\n%\n  % 7\n2 3", ".hgr"), bare)
    same_bits(read_text(b"\xef\xbb\xbf2 3\n1 2\n2 3\n", ".hgr"), bare)
    assert read_text("2 3 1\n0.5 1 2\n2e1 2 3\n", ".hgr").edge_weights.tolist() == [0.5, 20]
    same_bits(read_text("2 3 10\n1 2\n2 3\n1\n1\n1\n", ".hgr"), bare)
    with pytest.warns(LossWarning, match="the vertex weights"):
        same_bits(read_text("2 3 10\n1 2\n2 3\n1\n2.5\n1\n", ".hgr"), bare)
    with pytest.warns(LossWarning, match="the vertex weights"):
        both = read_text("2 3 11\n7 1 2\n8 2 3\n1\n2\n0\n", ".hgr")
    assert both.edge_weights.tolist() == [7, 8]
    twice = read_text("1 2\n1 2 2\n", ".hgr", duplicates="sum")
    assert twice.gamma.toarray().tolist() == [[1, 2]]
    assert read_text("2 9 1\n3\n4 5 6\n", ".hgr", isolated="drop", empty_edges="drop").edge_ids.tolist() == [
        2
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x 3\n1 2\n", ["line 1", "'x' is not a number"]),
        ("% only\n\n", ["first line", "is missing"]),
        ("2\n", ["line 1", "the first line must have"]),
        ("% c\n1 2 3\n1 2\n", ["line 2", "the first line must have"]),
        ("1 2 1 1\n1 2\n", ["line 1", "the first line must have"]),
        ("-1 2\n", ["line 1", "the first line must have"]),
        ("1.5 2\n1 2\n", ["line 1", "the first line must have"]),
        ("1e400 2\n1 2\n", ["line 1", "the first line must have"]),
        ("2 3\n1 2\n\n2 4\n", ["line 4", "member 4 is not one of the vertices 1 to 3"]),
        ("1 2\n0 1\n", ["line 2", "member 0"]),
        ("1 2\n-1 1\n", ["line 2", "member -1"]),
        ("1 2\n1 1.5\n", ["line 2", "member 1.5"]),
        ("2 3\n1 2\n\n", ["1 of 2 lines of hyperedges", "blank lines do not count"]),
        ("1 2 10\n1 2\n1\n", ["1 of 1 lines of hyperedges and 1 of 2 of vertices"]),
        ("1 2\n1 2\n2 1\n", ["line 3", "should have ended before"]),
        ("1 2 10\n1 2\n1\n1\n1\n", ["line 5", "should have ended before"]),
        ("1 2 10\n1 2\n1\n1 1\n", ["line 4", "the weight of a vertex"]),
        ("1 2 10\n1 2\n1\n-1\n", ["line 4", "the weight of a vertex"]),
        ("1 2\n1 2 rubbish\n", ["line 2", "'rubbish' is not a number"]),
        ("1 2\n1 2 % c\n", ["line 2", "'%' is not a number"]),
        ("1 2\n1 2\x0c\n", ["line 2", "not a number"]),
        ("1 2\n1-2\n", ["line 2", "'1-2' is not a number"]),
        ("1 2 1\nnan 1 2\n", ["line 2", "'nan' is not a number"]),
        ("1 2 1\n1e400 1 2\n", ["line 2", "hyperedge weight inf must be positive and finite"]),
        ("1 2 1\n0 1 2\n", ["line 2", "weight 0"]),
        ("1 2 1\n-3 1 2\n", ["line 2", "weight -3"]),
        (
            "% c\n2 3\n1 2\n2 3 3\n",
            ["line 4", "vertex 3 in hyperedge 2 appears more than once", "duplicates='sum'"],
        ),
        ("1 2\n1 2\n".encode("utf-16-le"), ["this may be UTF-16"]),
        ("1 2\n1 \xe9\n".encode("latin-1"), ["line 2", "is not a number"]),
        ("1 2\n1 " + "7" * 10_000 + "\n", ["line 2", "member inf"]),
    ],
)
def test_hmetis_errors_name_the_line(text, words):
    text_refused(text, ".hgr", *words)


# ---- Matrix Market ----------------------------------------------------------------------------


@given(st.integers(1, 6), st.integers(1, 6), st.data())
@examples
def test_matrix_market_is_read_as_scipy_reads_it(rows, columns, data):
    kinds = {"real": float, "integer": np.int64, "pattern": float}
    field = data.draw(st.sampled_from(sorted(kinds)))
    symmetric = data.draw(st.booleans())
    columns = rows if symmetric else columns
    numbers = st.one_of(st.just(0), st.integers(0, 2**53) if field == "integer" else positive)
    cells = data.draw(st.lists(numbers, min_size=rows * columns, max_size=rows * columns))
    dense = np.array(cells, dtype=kinds[field]).reshape(rows, columns)
    dense[0, 0] = 1
    dense = np.triu(dense) + np.triu(dense, 1).T if symmetric else dense
    sparse = field == "pattern" or data.draw(st.booleans())
    target = io.BytesIO()
    symmetry = "symmetric" if symmetric else "general"
    scipy.io.mmwrite(target, sp.coo_array(dense) if sparse else dense, "note", field, symmetry=symmetry)
    text = target.getvalue()
    matrix = scipy.io.mmread(io.BytesIO(text), spmatrix=False)
    expected = matrix.toarray() if sp.issparse(matrix) else matrix
    with place(".mtx") as path:
        path.write_bytes(text.replace(b"\n", data.draw(st.sampled_from([b"\n", b"\r\n", b"\n\n"]))))
        np.testing.assert_array_equal(read_matrix_market(path, **KEEP).gamma.toarray(), expected.T)
        turned = read_matrix_market(path, transpose=True, **KEEP)
        np.testing.assert_array_equal(turned.gamma.toarray(), expected)


def test_matrix_market_variants():
    plain = read_text(MTX + "2 2 3\n1 1 2\n2 1 1\n2 2 0.5\n", ".mtx")
    assert plain.gamma.toarray().tolist() == [[2, 1], [0, 0.5]]
    same_bits(
        read_text(
            "\ufeff%%matrixmarket MATRIX Coordinate double General\n2 2 3\n1 1 2\n2 1 1\n2 2 .5", ".mtx"
        ),
        plain,
    )
    same_bits(read_text(MTX + "% a\n2 2 4\n%b\n1 1 2\n2 1 1\n1 2 0\n2 2 0.5\n", ".mtx"), plain)
    assert read_text(MTX + "1 1 2\n1 1 2\n1 1 3\n", ".mtx", duplicates="max").gamma.data.tolist() == [3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", ["line 1", "begins with %%MatrixMarket"]),
        ("%%MatrixMarket matrix coordinate real\n", ["line 1", "the first line must be"]),
        ("%%MatrixMarket vector coordinate real general\n", ["line 1", "the first line must be"]),
        ("%%MatrixMarket matrix coordinate complex general\n", ["line 1", "'complex' cannot be read"]),
        ("%%MatrixMarket matrix array pattern general\n", ["line 1", "'pattern' cannot be read"]),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n", ["line 1", "'skew-symmetric'"]),
        (MTX, ["is missing"]),
        (MTX + "2 2\n", ["line 2", "rows, columns and entries"]),
        (MTX + "0 0 -1\n", ["line 2", "rows, columns and entries"]),
        (MTX.replace("general", "symmetric") + "2 3 1\n1 1 1\n", ["line 2", "as many rows as columns"]),
        (MTX + "% c\n2 2 1\n\n3 1 1\n", ["line 5", "row 3 is not one of 1 to 2"]),
        (MTX + "2 2 1\n1 0 1\n", ["line 3", "column 0"]),
        (MTX + "2 2 1\n1 1.5 1\n", ["line 3", "column 1.5"]),
        (MTX + "2 2 1\n1 1 1.5x\n", ["line 3", "'1.5x' is not a number"]),
        (MTX + "2 2 1\n1 1 1 1\n", ["line 3", "has 4 numbers and must have 3"]),
        (MTX + "2 2 1\n1 1\n1\n", ["line 3", "has 2 numbers and must have 3"]),
        (MTX + "2 2 1\n1 1 -1\n", ["line 3", "weight -1"]),
        (MTX + "2 2 1\n1 1 NaN\n", ["line 3", "'NaN' is not a number"]),
        (MTX + "2 2 1\n1 1 1e999\n", ["line 3", "weight inf"]),
        (MTX.replace("real", "integer") + "2 2 1\n1 1 1.5\n", ["line 3", "1.5 is not an integer"]),
        (MTX + "2 2 2\n1 1 1\n", ["2 entries are declared and 1 found"]),
        (MTX + "2 2 1\n1 1 1\n2 2 1\n", ["line 4", "more than the 1 declared entries"]),
        (DENSE + "2 2\n1\n2\n3\n", ["4 entries are declared and 3 found"]),
        (DENSE + "2 1\n1\n-2\n", ["line 4", "weight -2"]),
        (DENSE + "2 1\n1 2\n", ["line 3", "has 2 numbers and must have 1"]),
        (MTX + "1 1 2\n1 1 1\n1 1 1\n", ["vertex 0 in hyperedge 0 appears more than once"]),
        ((MTX + "1 1 1\n1 1 1\n").encode("utf-16-le"), ["this may be UTF-16"]),
    ],
)
def test_matrix_market_errors_name_the_line(text, words):
    text_refused(text, ".mtx", *words)


# ---- huge, odd and damaged files --------------------------------------------------------------


@pytest.mark.parametrize("number", [10**10, 10**15, 10**18, 10**30])
def test_declared_sizes_allocate_nothing(number):
    files = [
        (f"1 {number}\n1 2\n", ".hgr"),
        (f"{number} 2\n1 2\n", ".hgr"),
        (f"1 {number} 11\n1 1 2\n1\n", ".hgr"),
        (MTX + f"{number} 1 1\n1 1 1\n", ".mtx"),
        (MTX + f"1 {number} 1\n1 1 1\n", ".mtx"),
        (MTX + f"1 1 {number}\n1 1 1\n", ".mtx"),
        (DENSE + f"{number} {number}\n1\n", ".mtx"),
        (DENSE.replace("general", "symmetric") + f"{number} {number}\n1\n", ".mtx"),
    ]
    tracemalloc.start()
    for text, suffix in files:
        text_refused(text, suffix)
        text_refused(text, suffix, **KEEP)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_huge_shapes_are_cut_down_on_request(tmp_path):
    drop = {"isolated": "drop", "empty_edges": "drop"}
    huge = 10**15
    h = read_text(f"1 {huge}\n1 {huge}\n", ".hgr", isolated="drop")
    assert h.vertex_ids.tolist() == [1, huge]
    h = read_text(MTX + f"{huge} {huge} 2\n1 1 1\n{huge} {huge} 2\n", ".mtx", **drop)
    assert h.edge_ids.tolist() == [0, huge - 1]
    sp.save_npz(tmp_path / "x.npz", sp.coo_array(([1.0], ([5], [7])), shape=(huge, huge)))
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz", "are declared", "isolated='drop'")
    assert read_npz(tmp_path / "x.npz", **drop).vertex_ids.tolist() == [5]


@pytest.mark.parametrize("suffix", READERS)
def test_missing_files_folders_and_damaged_gzip(suffix, tmp_path):
    read = READERS[suffix]
    refused(lambda: read(tmp_path / "none"), "none", "there is no such file")
    refused(lambda: read(tmp_path), "this is a folder")
    path = tmp_path / "x"
    path.write_bytes(b"")
    refused(lambda: read(path), "the file is empty")
    start = MTX.encode() if suffix == ".mtx" else b""
    packed = gzip.compress(start + b"1 2 3\n" * 1000)
    for damaged in (packed[:-5], packed[:-8] + b"xxxx" + packed[-4:]):
        path.write_bytes(damaged)
        refused(lambda: read(path), "damaged or truncated")
    path.write_bytes(gzip.compress(start + b"1" * 150_000_000))
    refused(lambda: read(path), "compressed" if suffix == ".npz" else "unpacks to more than")


@pytest.mark.parametrize("piece", [1, 2, 7, 64])
def test_pieces_of_any_size_read_the_same(piece):
    text = b"\xef\xbb\xbf2 3 1\n% comment\n\n5 1\t2 \r\n  % 7\n7.5 2 3"
    with place(".hgr") as path:
        path.write_bytes(text)
        with reading(path) as file:
            found = list(number_lines(path, file, piece))
        assert [x for lines in found for x in lines.numbers.tolist()] == [2, 3, 1, 5, 1, 2, 7.5, 2, 3]
        assert [x for lines in found for x in lines.counts.tolist()] == [3, 3, 3]
        faults = [str(lines.fault(at, "x")) for lines in found for at in range(len(lines.counts))]
        assert faults == [f"{path}, line {n}: x" for n in (1, 4, 6)]
        path.write_bytes(text + b"\n1 1 rubbish\n")
        with reading(path) as file:
            refused(lambda: list(number_lines(path, file, piece)), "line 7", "'rubbish'")


def test_hmetis_is_written_in_blocks():
    """Hyperedges of all sizes, also empty ones, at the ends of blocks of any size."""
    h = random_hypergraph(20, 15, 4, seed=1)
    h = Hypergraph.from_incidence(h.gamma.T.toarray() > 0, edge_weights=np.arange(1, 16), **KEEP)
    with place(".hgr") as path:
        for block in (1, 2, 7, 64, 10**6):
            with writing(path) as file:
                write_edge_lines(file, h, weighted=True, block=block)
            lines = path.read_text().splitlines()
            members = [[int(word) - 1 for word in line.split()[1:]] for line in lines]
            assert members == [row.indices.tolist() for row in h.gamma]
            assert [line.split()[0] for line in lines] == [str(number) for number in range(1, 16)]


# ---- NumPy archives ---------------------------------------------------------------------------


def valid_arrays():
    h = Hypergraph.from_edges({"e": {1: 2.0, 2: 1.0}, "f": {2: 1.0, 3: 0.5}})
    with place(".npz") as path:
        write_npz(h, path)
        with np.load(path, allow_pickle=False) as loaded:
            return dict(loaded)


def test_the_archive_is_plain_numpy():
    arrays = valid_arrays()
    assert set(arrays) == {"hyperclus", *npz.ARRAYS}
    assert json.loads(arrays["edge_ids"].tobytes()) == ["e", "f"]
    assert arrays["vertex_ids"].tolist() == [1, 2, 3]


def nested(levels):
    return np.frombuffer(b"[" * levels + b"]" * levels, dtype=np.uint8)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hyperclus": np.array(2)}, ["the version of the format is not 1"]),
        ({"hyperclus": np.array([1])}, ["the version of the format is not 1"]),
        ({"hyperclus": np.array("1")}, ["the version of the format is not 1"]),
        ({"hyperclus": None}, ["neither write_npz nor"]),
        ({"gamma_data": None}, ["'gamma_data' is missing"]),
        ({"gamma_data": np.ones(4, dtype="f4")}, ["'gamma_data'", "<f8"]),
        ({"gamma_data": np.ones((2, 2))}, ["'gamma_data'", "one-dimensional"]),
        ({"gamma_data": np.ones(3)}, ["is damaged"]),
        ({"gamma_data": np.array([1, 1, -1.0, 1])}, ["vertex 2 in hyperedge 'f' has weight -1.0"]),
        ({"gamma_data": np.array([1, 1, np.nan, 1])}, ["vertex 2 in hyperedge 'f' has weight nan"]),
        ({"gamma_data": np.array([1, np.inf, 1, 1])}, ["vertex 2 in hyperedge 'e' has weight inf"]),
        ({"gamma_indices": np.array([0, 1, 2, 2])}, ["vertex 3 in hyperedge 'f' appears more than once"]),
        ({"gamma_indices": np.array([0, 1, 1, 3])}, ["is damaged"]),
        ({"gamma_indices": np.array([-1, 1, 1, 2])}, ["is damaged"]),
        ({"gamma_indptr": np.array([0, 5, 4])}, ["is damaged"]),
        ({"gamma_indptr": np.array([0, 2, 3])}, ["is damaged"]),
        ({"gamma_indptr": np.array([0, 4])}, ["is damaged"]),
        ({"gamma_indptr": np.array([1, 2, 4])}, ["is damaged"]),
        ({"gamma_indptr": np.array([], dtype=int)}, ["is damaged"]),
        ({"edge_weights": np.ones(3)}, ["2 edge_weights are needed"]),
        ({"edge_weights": np.array([1.0, -1.0])}, ["'f' has weight -1.0"]),
        ({"vertex_ids": np.array([1, 1, 2])}, ["vertex id 1 appears more than once"]),
        ({"vertex_ids": np.array([1, 2])}, ["is damaged"]),
        ({"edge_ids": np.frombuffer(b'["e",null]', dtype="u1")}, ["edge id at position 1 is missing"]),
        ({"edge_ids": np.frombuffer(b'["e",{}]', dtype="u1")}, ["'edge_ids' is not JSON of ids"]),
        ({"edge_ids": np.frombuffer(b'{"e":1}', dtype="u1")}, ["'edge_ids' is not JSON of ids"]),
        ({"edge_ids": np.frombuffer(b'["e","\xff"]', dtype="u1")}, ["'edge_ids' is not JSON of ids"]),
        ({"edge_ids": np.frombuffer(b"[1," + b"1" * 5000 + b"]", dtype="u1")}, ["'edge_ids' is not JSON"]),
        ({"edge_ids": nested(100)}, ["'edge_ids' is not JSON of ids"]),
        ({"edge_ids": nested(1_000_000)}, ["'edge_ids' is not JSON of ids"]),
        ({"edge_ids": np.array([object()])}, ["not a NumPy archive, or it is damaged"]),
    ],
)
def test_npz_trusts_no_array(changes, words, tmp_path):
    arrays = {name: array for name, array in (valid_arrays() | changes).items() if array is not None}
    np.savez(tmp_path / "x.npz", **arrays)
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz", *words)


def test_npz_sorts_members_and_removes_zeros(tmp_path):
    changes = {"gamma_indices": np.array([1, 0, 1, 2]), "gamma_data": np.array([1, 2, 0.0, 1])}
    np.savez(tmp_path / "x.npz", **(valid_arrays() | changes))
    h = read_npz(tmp_path / "x.npz")
    assert h.gamma.toarray().tolist() == [[2, 1, 0], [0, 0, 1]]
    assert h.gamma.indices.tolist() == [0, 1, 2]


def empty_gamma():
    return {"gamma_data": np.ones(0), "gamma_indices": np.zeros(0, "i4"), "gamma_indptr": np.zeros(3, "i4")}


def test_npz_without_incidences(tmp_path):
    np.savez(tmp_path / "x.npz", **(valid_arrays() | empty_gamma()))
    assert read_npz(tmp_path / "x.npz").n_incidences == 0


def header(shape, kind="<f8"):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY\x09\x00",
        header((10**18,)),
        header((2**62, 2**62)),
        header((-1,)),
        header((0, 10**30)),
        header("'x'"),
        header((1,), "|O") + b"x" * 8,
        header((1,), "|V0"),
        header((3,)) + bytes(8),
        b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535,
    ],
)
def test_false_array_headers_allocate_nothing(content, tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hyperclus.npy", content)
    tracemalloc.start()
    refused(lambda: read_npz(path), "x.npz", "not a NumPy archive, or it is damaged")
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_zip_bombs_and_foreign_archives(tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", bytes(150_000_000))
    refused(lambda: read_npz(path), "unpacks to more than 200 times its size")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("data.npy", bytes(1000))
    refused(lambda: read_npz(path), "compressed in a way that NumPy does not use")
    np.savez(path, something=np.ones(3), other=np.array([object()]))
    refused(lambda: read_npz(path), "neither write_npz nor scipy.sparse.save_npz wrote this archive")
    np.save(tmp_path / "x.npy", np.ones((2, 2)))
    refused(lambda: read_npz(tmp_path / "x.npy"), "not a NumPy archive")


@given(st.integers(1, 5), st.integers(1, 5), st.sampled_from(["csr", "csc", "coo"]), st.booleans(), st.data())
@examples
def test_matrices_that_scipy_saved(rows, columns, name, as_array, data):
    kind = data.draw(st.sampled_from(["f8", "f4", "i4", "u1", "bool"]))
    cells = data.draw(st.lists(st.integers(0, 3), min_size=rows * columns, max_size=rows * columns))
    dense = np.array(cells).reshape(rows, columns).astype(kind)
    dense[0, 0] = 1
    with place(".npz") as path:
        sp.save_npz(path, (sp.coo_array if as_array else sp.coo_matrix)(dense).asformat(name))
        expected = Hypergraph.from_incidence(dense, **KEEP)
        same_bits(read_npz(path, **KEEP), expected)


def test_matrices_that_scipy_would_not_have_saved(tmp_path):
    path = tmp_path / "x.npz"
    dense = np.array([[1.0, 2], [0, 3]])
    sp.save_npz(path, sp.dia_array(dense))
    assert read_npz(path).gamma.T.toarray().tolist() == dense.tolist()
    sp.save_npz(path, sp.csr_array(dense * 1j))
    refused(lambda: read_npz(path), "real numbers; this one has dtype complex128")
    sp.save_npz(path, sp.csr_array(-dense))
    refused(lambda: read_npz(path), "x.npz: vertex 0 in hyperedge 0 has weight -1.0")
    good = {"format": b"csr", "shape": [2, 2], "data": [1.0], "indices": [0], "indptr": [0, 1, 1]}
    for changes in (
        {"indices": [2]},
        {"indices": [-1]},
        {"indices": [0.5]},
        {"indptr": [0, 1, 2]},
        {"indptr": [0, 1]},
        {"shape": [2, 2, 2]},
        {"shape": [-2, 2]},
        {"shape": 4},
        {"data": [[1.0]]},
        {"data": ["x"]},
        {"format": b"bsr"},
        {"format": [1, 2]},
        {"format": "\u20ac"},
        {"format": b"coo"},
        {"format": b"coo", "row": [5], "col": [0]},
        {"format": b"coo", "row": [-1], "col": [0]},
        {"format": b"coo", "row": [0, 1], "col": [0]},
    ):
        np.savez(path, **(good | changes))
        refused(lambda: read_npz(path, **KEEP), "x.npz: ")
    np.savez(path, **good)
    assert read_npz(path, **KEEP).n_incidences == 1


# ---- mutations --------------------------------------------------------------------------------


def seeds():
    h = random_hypergraph(6, 5, 3, seed=3)
    files = [(suffix, h) for suffix in WRITERS]
    files.append((".npz", Hypergraph.from_edges({("e", 1): ["a", 1], "f": [1, (None, "b")]})))
    for suffix, some in files:
        for compressed in (False, True):
            with place(suffix) as path, warnings.catch_warnings(action="ignore"):
                WRITERS[suffix](some, path, **({"compressed": compressed} if suffix == ".npz" else {}))
                content = path.read_bytes()
            yield suffix, gzip.compress(content) if compressed and suffix != ".npz" else content
    yield ".hgr", b"2 3 11\n5 1 2\n1.5 2 3\n1\n2\n3\n"
    yield ".mtx", DENSE.encode() + b"2 2\n1\n2\n3\n4\n"
    yield ".mtx", DENSE.replace("general", "symmetric").encode() + b"2 2\n1\n2\n3\n"
    target = io.BytesIO()
    sp.save_npz(target, sp.csc_array(h.gamma.T), compressed=False)
    yield ".npz", target.getvalue()


SEEDS = list(seeds())
GOOD = [
    b"0",
    b"9",
    b"-",
    b".",
    b"e",
    b"%",
    b"\n",
    b" ",
    b"nan",
    b"1e999",
    b"99999999999999999999",
    b"\xff",
    b"\x00",
]


@given(st.sampled_from(SEEDS), st.data())
@settings(deadline=None, max_examples=500)
def test_mutated_files_give_a_hypergraph_or_an_input_error(seed, data):
    suffix, content = seed
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        stop = data.draw(st.one_of(st.just(start), st.just(start + 1), st.integers(start, len(content))))
        new = data.draw(st.one_of(st.just(b""), st.sampled_from(GOOD), st.binary(max_size=4)))
        content = content[:start] + new + content[stop:]
    policies = data.draw(st.sampled_from([{}, KEEP, {"isolated": "drop", "duplicates": "sum"}]))
    with place(suffix) as path, warnings.catch_warnings():
        warnings.simplefilter("ignore", LossWarning)
        path.write_bytes(content)
        message = ""
        try:
            assert isinstance(READERS[suffix](path, **policies), Hypergraph)
        except InputError as error:
            message = str(error).removeprefix(str(path))
            assert message != str(error)  # noqa: PT017
        assert "\n" not in message
        assert "changed while it was read" not in message


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_npz_with_pointers_out_of_bounds_is_refused(tmp_path, kind):
    pointers = np.array([0, 10**9, -1], dtype=np.int32)
    arrays = {"shape": np.array([2, 2]), "data": np.array([2.0]), "indices": np.array([0], dtype=np.int32)}
    np.savez(tmp_path / "x.npz", format=np.array(kind), indptr=pointers, **arrays)
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz", "indptr")


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("1 9000000\n1 2\n", ".hgr"),
        (MTX + "9999000 2 2\n1 1 1\n2 2 1\n", ".mtx"),
        (MTX + "2 9999000 2\n1 1 1\n2 2 1\n", ".mtx"),
    ],
)
def test_millions_declared_in_a_few_bytes(text, suffix):
    tracemalloc.start()
    text_refused(text, suffix, "are declared")
    text_refused(text, suffix, "are declared", **KEEP)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_float16_and_two_dimensions_in_an_archive(tmp_path):
    arrays = {"format": np.array("coo"), "shape": np.array([2, 1]), "row": [0, 1], "col": [0, 0]}
    np.savez(tmp_path / "x.npz", **arrays, data=np.ones(2, dtype=np.float16))
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz: the weights are float16", "save them as float32")
    np.savez(tmp_path / "x.npz", **arrays, data=np.ones((2, 1)))
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz:", "must be 1-D")


def test_long_doubles_that_no_float_holds(tmp_path):
    tiny = np.array(["1", "1e-4000"]).astype(np.longdouble)
    if tiny[1] == 0:
        pytest.skip("long doubles are floats on this machine")
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(tiny.reshape(2, 1)))
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz: vertex 1 in hyperedge 0: the weight is too small")
