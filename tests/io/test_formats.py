"""`read` and `write`: detection of formats, and round trips through every format."""

import gzip
import warnings
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.errors import LossWarning
from hyperclus.io.formats import FORMATS, guess, known_options
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
        assert guess(path).name == name

    def test_by_name_first(self, tmp_path):
        for one in FORMATS.values():
            for suffix in one.suffixes:
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
