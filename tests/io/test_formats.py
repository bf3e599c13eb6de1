"""`read` and `write`: detection of formats, and round trips through every format."""

import gzip
import warnings
import zipfile
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.errors import LossWarning
from hyperclus.io.formats import FORMATS, guess, known_options
from support.command_line import assert_refused, inside
from support.strategies import hypergraphs

examples = settings(deadline=None, max_examples=40)
LOSSLESS = ("h.csv", "h.tsv.gz", "h.parquet", "h.json", "h.hif.json.gz", "h.npz")


def equal(first, second):
    """Assert that two hypergraphs are equal bit by bit."""
    return (
        first.vertex_ids.tolist() == second.vertex_ids.tolist()
        and first.edge_ids.tolist() == second.edge_ids.tolist()
        and np.array_equal(first.edge_weights, second.edge_weights)
        and np.array_equal(first.gamma.indptr, second.gamma.indptr)
        and np.array_equal(first.gamma.indices, second.gamma.indices)
        and np.array_equal(first.gamma.data, second.gamma.data)
    )


def by_appearance(h):
    """Vertices in the order in which long tables meet them."""
    return h.restrict(np.array(list(dict.fromkeys(h.gamma.indices.tolist()))))


@pytest.mark.parametrize("name", LOSSLESS)
@examples
@given(h=hypergraphs(), text=st.booleans())
def test_round_trips(tmp_path_factory, name, h, text):
    if text:
        h = hc.Hypergraph.from_edges(
            {f"e {e}": {f"v,{v}": g for v, g in members.items()} for e, members in enumerate(members_of(h))},
            edge_weights=h.edge_weights,
        )
    h = by_appearance(h)
    path = tmp_path_factory.mktemp("files") / name
    hc.write(h, path)
    assert equal(hc.read(path), h)
    assert [file.name for file in path.parent.iterdir()] == [name]


def members_of(h):
    rows = (slice(*h.gamma.indptr[e : e + 2]) for e in range(h.n_edges))
    return [dict(zip(h.gamma.indices[r].tolist(), h.gamma.data[r].tolist(), strict=True)) for r in rows]


@pytest.mark.parametrize("name", ["h.hgr", "h.mtx", "h.mtx.gz"])
def test_warnings_name_the_losses(tmp_path, name):
    h = hc.Hypergraph.from_edges({"e": {"a": 2, "b": 1}, "f": {"b": 1, "c": 3}}, edge_weights=[1, 2])
    with pytest.warns(LossWarning, match="ids"):
        hc.write(h, tmp_path / name)
    read = hc.read(tmp_path / name)
    assert (read.n_vertices, read.n_edges, read.n_incidences) == (3, 2, 4)


class TestGuess:
    CONTENTS: ClassVar = {
        "csv": b"vertex,edge\na,e\n",
        "tsv": b"vertex\tedge\na\te\n",
        "hif": b'\xef\xbb\xbf {"incidences": []}',
        "mtx": b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n",
        "parquet": b"PAR1",
        "npz": b"PK\x03\x04",
    }

    @pytest.mark.parametrize("name", CONTENTS)
    def test_by_content(self, tmp_path, name):
        path = tmp_path / "data.unknown"
        path.write_bytes(self.CONTENTS[name])
        assert guess(path).name == name
        path.write_bytes(gzip.compress(self.CONTENTS[name]))
        assert name == "npz" or guess(path).name == name

    def test_by_name_first(self, tmp_path):
        for one in FORMATS.values():
            for suffix in {*one.suffixes} - {".json"}:  # whose content decides
                assert guess(tmp_path / f"DATA{suffix.upper()}").name == one.name

    def test_an_explicit_format_has_priority(self, tmp_path):
        path = tmp_path / "data.txt"
        path.write_text("vertex\tedge\na\te\nb\te\n")
        assert hc.read(path, format="tsv").n_vertices == 2
        hc.write(hc.read(path), tmp_path / "other.dat", format="csv")
        assert hc.read(tmp_path / "other.dat", format="csv").n_vertices == 2

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda path: hc.read(path / "no.csv"), "no.csv: there is no such file"),
            (lambda path: hc.read(path), "there are no Parquet files"),
            (lambda path: hc.read(path / "words"), "neither the name nor the content determines the format"),
            (lambda path: hc.read(path / "words"), "; use format='lines' if each line is a hyperedge, or"),
            (lambda path: hc.read(path / "words", format="csv"), ", or use format='lines' if each line is a"),
            (lambda path: hc.read(path / "words", format="xml"), "there is no format 'xml'; choose from csv"),
            (lambda path: hc.read(path / "h.npz", vertex="a"), "the format npz has no option 'vertex'"),
            (
                lambda path: hc.write(hc.Hypergraph.from_edges([["a"]]), path / "h"),
                "does not determine a format",
            ),
            (
                lambda path: hc.write(hc.Hypergraph.from_edges([["a"]]), path / "no" / "h.npz"),
                "create it first",
            ),
            (lambda path: hc.write("h", path / "h.npz"), "Hypergraph"),
        ],
    )
    def test_errors(self, tmp_path, call, message):
        (tmp_path / "words").write_text("just some words")
        with pytest.raises(hc.InputError, match=message):
            call(tmp_path)
        assert {file.name for file in tmp_path.iterdir()} == {"words"}


@pytest.mark.parametrize("one", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("name", ["path", "hypergraph", "format"])
def test_unknown_options_are_refused(one, name):
    for function in filter(None, (one.read, one.write)):
        with pytest.raises(hc.InputError, match=f"the format {one.name} has no option '{name}'"):
            known_options(function, {name: "x"}, one)


def test_no_warning_without_loss(tmp_path):
    h = hc.Hypergraph.from_edges([[1, 2, 3], [3, 4]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in LOSSLESS:
            hc.write(h, tmp_path / name)
            assert equal(hc.read(tmp_path / name), h)


class TestSwitches:
    """Options that are true or false."""

    @pytest.fixture
    def matrix(self, tmp_path):
        path = tmp_path / "t.mtx"
        path.write_text("%%MatrixMarket matrix coordinate pattern general\n3 2 4\n1 1\n2 1\n2 2\n3 2\n")
        return path

    @pytest.mark.parametrize("value", ["no", "yes", 0, 1, None, np.True_])
    def test_python_takes_only_booleans(self, tmp_path, matrix, value):
        with pytest.raises(hc.InputError, match="transpose must be True or False; got"):
            hc.read(matrix, transpose=value)
        with pytest.raises(hc.InputError, match="compressed must be True or False; got"):
            hc.write(hc.read(matrix), tmp_path / "h.npz", compressed=value)
        assert not (tmp_path / "h.npz").exists()

    @pytest.mark.parametrize("value", ["yes", "no", "true", "False", "1", "0"])
    def test_words_on_the_command_line(self, tmp_path, matrix, value):
        true = value in ("yes", "true", "1")
        done = inside("info", matrix, "-o", f"transpose={value}")
        assert done.stdout.startswith("2 vertices, 3" if true else "3 vertices, 2"), done.stderr
        inside("convert", matrix, tmp_path / "h.npz", "-w", f"compressed={value}")
        with zipfile.ZipFile(tmp_path / "h.npz") as archive:
            assert (archive.infolist()[0].compress_type == zipfile.ZIP_DEFLATED) == true

    @pytest.mark.parametrize("value", ["banana", "", "ja", "2", "nope"])
    def test_other_words_are_refused(self, tmp_path, matrix, value):
        for call in (
            ("info", matrix, "-o", f"transpose={value}"),
            ("convert", matrix, tmp_path / "h.npz", "-w", f"compressed={value}"),
        ):
            assert_refused(inside(*call), "must be yes or no")

    def test_lists_are_for_python(self, matrix):
        assert_refused(inside("info", matrix, "-o", "vertex_ids=abc"), "vertex_ids takes a list")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the name of the file is empty"),
        (
            "https://example.org/t.csv",
            "t.csv: this is an address, not a file; download it first",
        ),
    ],
)
def test_names_that_are_not_files(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"vertex": [1, 2], "edge": [1, 1]}), tmp_path / "t.parquet")
    with pytest.raises(hc.InputError, match=message):
        hc.read(name)
    assert_refused(inside("info", name), message)


class TestLongTablesThatLookWide:
    """A table with a row per incidence must not be read as one with a row per vertex."""

    @pytest.mark.parametrize("header", ["Vertex,Edge,Weight", "vertex, edge, weight", "VERTEX,EDGE,W"])
    def test_default_names_with_capitals_or_spaces(self, tmp_path, header):
        path = tmp_path / "t.csv"
        path.write_text(f"{header}\na,e,1\nb,e,2\nb,f,1\nc,f,1\n")
        with pytest.raises(hc.InputError, match="must be named exactly vertex and edge; rename them, or use"):
            hc.read(path)
        assert_refused(inside("info", path), "must be named exactly vertex and edge", "--from rows")
        vertex, edge, _ = header.split(",")
        done = inside("info", path, "--vertex", vertex, "--edge", edge)
        assert done.stdout.startswith("3 vertices, 2 hyperedges, 4 incidences")
        assert inside("info", path, "--from", "rows").returncode == 0

    @pytest.mark.parametrize("text", ["a,e,1\nb,e,2\nb,f,1\n", "a,e\nb,e\nb,f\n", "5,7\n6,7\n6,8\n"])
    def test_without_a_header(self, tmp_path, text):
        path = tmp_path / "t.csv"
        path.write_text(text)
        assert_refused(inside("info", path, "-q"), "line 2: column", "holds its own name", "--from rows")
        assert inside("info", path, "--from", "rows").returncode == 0

    def test_numbered_columns_may_hold_their_numbers(self, tmp_path):
        path = tmp_path / "t.csv"
        rows = [range(12), range(12), range(12, 0, -1)]
        path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
        assert inside("info", path).returncode == 0


@pytest.mark.filterwarnings("ignore::hyperclus.errors.LossWarning")
@pytest.mark.parametrize("name", ["h.csv", "h.tsv", "h.parquet", "h.json", "h.hgr", "h.mtx", "h.npz"])
@pytest.mark.parametrize("edges", [[], [[], []], [{0: 0}], [{0: 0}, {1: 1}, []]])
def test_hypergraphs_without_incidences_are_written_and_read(tmp_path, name, edges):
    h = hc.Hypergraph.from_edges(edges)
    hc.write(h, tmp_path / name)
    found = hc.read(tmp_path / name)
    assert found.n_incidences == h.n_incidences
    if not name.endswith(("sv", "parquet")):  # which hold incidences only
        assert (found.n_vertices, found.n_edges) == (h.n_vertices, h.n_edges)
