"""The data sets in the package: tables, hypergraphs, classes, checksums, licences."""

import gzip
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import hyperclus as hc
from hyperclus import datasets
from hyperclus.datasets import dataset
from support import paper_data
from support.paper_data import SIZES

ROOT = Path(__file__).parents[2]
loaded = cache(datasets.load)


# ---- the tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SIZES)
def test_tables_equal_those_from_the_extracts(name):
    data = loaded(name)
    columns, classes = paper_data.table(name)
    assert list(data.table) == list(columns)
    for column, values in data.table.items():
        assert same(values, columns[column]), column
    assert same(data.classes, classes)


def same(values, text):
    """Compare values, where the extracts may have numbers as text."""
    if values.dtype == object:
        return values.tolist() == list(text)
    return np.array_equal(values, np.array(list(map(float, text))))


def test_columns_are_read_only():
    data = loaded("zoo")
    for values in [data.classes, *data.table.values()]:
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0


@pytest.mark.parametrize("name", SIZES)
def test_sources_can_be_cited(name):
    source = datasets.source(name)
    assert source.title in source.citation
    assert "https://doi.org/10.24432/" in source.citation
    assert source.licence == "CC BY 4.0"
    assert source.address == f"https://archive.ics.uci.edu/dataset/{source.number}/{source.slug}"
    assert ("Jock A. Blackard and Colorado State University" in source.notice) == (name == "covertype")


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_all_known_versions_of_rice_give_one_table(tmp_path, end, last):
    content = paper_data.raw("Rice_Cammeo_Osmancik.arff").rstrip(b"\n").replace(b"\n", end)
    (tmp_path / "Rice_Cammeo_Osmancik.arff").write_bytes(content + end * last)
    data = datasets.load("rice", folder=tmp_path)
    assert all(np.array_equal(data.table[column], values) for column, values in loaded("rice").table.items())
    assert np.array_equal(data.classes, loaded("rice").classes)


@pytest.mark.parametrize("name", SIZES)
def test_tables_have_weights_that_do_not_know_the_classes(name):
    h = loaded(name).hypergraph
    assert (h.n_vertices, h.n_edges, h.n_incidences) == SIZES[name]
    assert (h.gamma.data == 1).all()


# ---- the hypergraphs -------------------------------------------------------------------------------

# vertices, hyperedges, incidences, and the sizes of the classes
HYPERGRAPHS = {
    "southern-women": (18, 14, 89, [9, 9]),
    "house-committees": (1290, 341, 11843, [670, 620]),
    "cora": (2388, 1072, 4585, None),
    "dblp-titles": (10919, 1513, 58241, None),
    "pbmc68k": (700, 765, 174400, [240, 129, 95, 68, 54, 43, 31, 19, 13, 8]),
}


@pytest.mark.parametrize("name", HYPERGRAPHS)
def test_sizes(name):
    data = loaded(name)
    *sizes, counts = HYPERGRAPHS[name]
    h = data.hypergraph
    assert [h.n_vertices, h.n_edges, h.n_incidences] == sizes
    assert data.table is None
    assert len(data.classes) == h.n_vertices
    found = sorted((data.classes.tolist().count(one) for one in set(data.classes.tolist())), reverse=True)
    assert data.k == len(found)
    assert counts in (None, found)
    with pytest.raises(ValueError, match="read-only"):
        data.classes[0] = 0


@pytest.mark.parametrize("name", HYPERGRAPHS)
def test_archives_are_files_like_any_other(name):
    (path,) = datasets.files(name).values()
    theirs, ours = hc.read(path), loaded(name).hypergraph
    assert np.array_equal(theirs.gamma.indices, ours.gamma.indices)
    assert theirs.vertex_ids.tolist() == ours.vertex_ids.tolist()


def test_women_are_grouped_as_in_the_literature():
    data = loaded("southern-women")
    assert data.hypergraph.vertex_ids[data.classes == "first"].tolist()[::8] == [
        "Evelyn Jefferson",
        "Ruth DeSand",
    ]
    assert hc.agreement(data.classes, hc.cluster(data.hypergraph, 2).labels).ari == 1


def test_the_words_of_titles_are_those_of_their_areas():
    data = loaded("dblp-titles")
    gamma, words = data.hypergraph.gamma, data.hypergraph.edge_ids.tolist()
    for word, area in [
        ("query", "databases"),
        ("video", "computer vision"),
        ("logic", "artificial intelligence"),
        ("mining", "data mining"),
    ]:
        members = gamma[[words.index(word)]].indices
        kinds = data.classes[members].tolist()
        assert max(set(kinds), key=kinds.count) == area


# ---- the package -----------------------------------------------------------------------------------


def test_names():
    assert datasets.names() == (*SIZES, *HYPERGRAPHS)
    assert f"{loaded('zoo')!r}".startswith("Dataset('zoo', k=7, Hypergraph(101 vertices")


@pytest.mark.parametrize(
    "call", [datasets.load, datasets.files, datasets.source, datasets.fetch, datasets.verify]
)
@pytest.mark.parametrize("name", ["iris", "../zoo", "", None, 3, ["zoo"]])
def test_unknown_names_are_rejected_with_the_known_ones(call, name):
    with pytest.raises(
        hc.InputError, match=r"name must be 'mushroom', .*'cora', .* or 'pbmc68k', not "
    ) as caught:
        call(name)
    assert "\n" not in str(caught.value)


def test_from_source_is_a_switch():
    with pytest.raises(hc.InputError, match="from_source must be True or False"):
        datasets.load("zoo", from_source="yes")


@pytest.mark.parametrize("name", datasets.names())
def test_a_damaged_or_missing_file_is_not_read(tmp_path, monkeypatch, name):
    paths = datasets.files(name).values()
    monkeypatch.setattr(dataset, "PACKAGE", tmp_path)
    with pytest.raises(hc.InputError, match=r"is missing; install hyperclus again"):
        datasets.load(name)
    for path in paths:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        (tmp_path / path.name).write_bytes(content)
    with pytest.raises(hc.InputError, match=r"is damaged; install hyperclus again"):
        datasets.load(name)


def test_other_content_is_damage_too(tmp_path, monkeypatch):
    (tmp_path / "zoo.data.gz").write_bytes(
        gzip.compress(paper_data.raw("zoo.data").replace(b"bear", b"lion"))
    )
    monkeypatch.setattr(dataset, "PACKAGE", tmp_path)
    with pytest.raises(hc.InputError, match="damaged"):
        datasets.load("zoo")


def test_the_folder_has_the_files_of_the_sources_and_is_small():
    listed = {path for name in datasets.names() for path in datasets.files(name).values()}
    assert listed == set(dataset.PACKAGE.iterdir())
    assert sum(path.stat().st_size for path in listed) < 1_500_000
    assert sum(path.stat().st_size for path in listed if path.suffix == ".gz") < 700_000


def test_every_licence_allows_any_use_and_is_in_the_notice():
    notice = " ".join((ROOT / "NOTICE").read_text().split())
    for name in datasets.names():
        source = datasets.source(name)
        assert source.licence in ("CC BY 4.0", "MIT", "BSD-3-Clause", "Apache-2.0")
        assert " ".join(source.citation.split()) in notice
        assert source.notice in notice
        assert source.licence in notice
        assert source.address.startswith("https://")
        assert source.description.endswith(".")


def test_loading_needs_no_network_and_no_optional_library():
    code = """
import socket, sys
for name in ("pooch", "requests", "tqdm", "pandas", "pyarrow", "sklearn"):
    sys.modules[name] = None
def refuse(*_, **__):
    raise OSError("no network")
socket.socket = refuse
import hyperclus as hc
print(sum(hc.datasets.load(name).hypergraph.n_vertices for name in hc.datasets.names()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = sum(size[0] for size in [*SIZES.values(), *HYPERGRAPHS.values()])
    assert done.stdout.strip() == str(expected)
