"""The command convert."""

import gzip
import json
import re

import pytest

import hyperclus as hc
from support.command_line import assert_refused, inside

PAPERS = "author,paper,share\nann,p1,3\nbob,p1,1\nbob,p2,1\ncy,p2,2\ncy,p3,1\ndee,p3,1\n"
COLUMNS = ("--vertex", "author", "--edge", "paper", "--weight", "share")


@pytest.fixture
def papers(tmp_path):
    (tmp_path / "papers.csv").write_text(PAPERS)
    return tmp_path / "papers.csv"


def test_convert_through_every_format(papers, tmp_path):
    source, columns = papers, COLUMNS
    for name in ("a.json", "b.npz", "c.parquet", "d.tsv.gz", "e.hif.json.gz", "f.csv"):
        done = inside("convert", source, tmp_path / name, *columns)
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
        source, columns = tmp_path / name, ()
    wanted = re.sub(r"([0-9])$", r"\1.0", PAPERS, flags=re.M).replace(
        "author,paper,share", "vertex,edge,weight"
    )
    assert (tmp_path / "f.csv").read_text() == wanted


def test_convert_names_what_is_lost(papers, tmp_path):
    done = inside("convert", papers, tmp_path / "papers.hgr", *COLUMNS)
    assert done.returncode == 0
    assert "ids" in done.stderr
    assert "Traceback" not in done.stderr


def test_hif_to_hif_keeps_everything(tmp_path):
    text = '{"network-type": "directed", "metadata": {"by": "me"}, "incidences": [{"edge": 1, "node": "a", '
    text += '"direction": "head", "attrs": {"x": [1]}}], "nodes": [{"node": "b", "weight": 2}]}'
    (tmp_path / "a.json").write_text(text)
    done = inside("convert", tmp_path / "a.json", tmp_path / "b.json.gz")
    assert done.returncode == 0, done.stderr
    assert json.loads(gzip.decompress((tmp_path / "b.json.gz").read_bytes())) == json.loads(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "author,paper,share\nann,p1,-3\n",
            r"papers.csv, line 2: .*'-3' is negative, and weights",
        ),
        ("author,paper,share\nann,p1,x\n", r"papers.csv, line 2"),
        ("author,paper\nann,p1\n", r"papers.csv.*share"),
        ("", "the file is empty"),
    ],
)
def test_bad_files_are_one_line(papers, content, message):
    papers.write_text(content)
    done = inside("convert", papers, papers.with_name("out.json"), *COLUMNS)
    assert done.returncode == 2
    assert re.search(message, done.stderr), done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not papers.with_name("out.json").exists()


def test_an_unknown_option_for_writing_is_refused(tmp_path):
    (tmp_path / "a.json").write_text('{"incidences": [{"edge": 1, "node": "a"}]}')
    done = inside("convert", tmp_path / "a.json", tmp_path / "b.json", "-w", "colour=red")
    assert done.returncode == 2
    assert "has no option 'colour'" in done.stderr


class TestConvertRows:
    @pytest.fixture
    def table(self, tmp_path):
        (tmp_path / "t.csv").write_text("name;colour;size;class\na;red;1,5;1\nb;red;2;1\nc;blue;2;2\n")
        return tmp_path / "t.csv"

    def test_rows_are_read_as_by_other_commands(self, table, tmp_path):
        options = ("--id", "name", "--label", "class")
        done = inside("convert", table, tmp_path / "t.npz", *options, "--bins", "size=2")
        assert done.returncode == 0, done.stderr
        assert "row per vertex, separated by ';' (3 rows, 2 columns, 4 hyperedges" in done.stderr
        assert "size: decimal commas" in done.stderr
        h = hc.read(tmp_path / "t.npz")
        assert h.vertex_ids.tolist() == ["a", "b", "c"]
        assert ("colour", "red") in h.edge_ids.tolist()
        done = inside("convert", tmp_path / "t.npz", tmp_path / "u.csv", "--to", "rows")
        assert "can be read, not written" in done.stderr

    @pytest.mark.parametrize("name", ["u.csv", "u.parquet", "u.json", "u.tsv.gz"])
    def test_hyperedges_become_text_with_a_warning(self, table, tmp_path, name):
        done = inside("convert", table, tmp_path / name, "--id", "name", "--exclude", "class")
        assert done.returncode == 0, done.stderr
        assert "hyperedges are written as text, such as 'colour = red'" in done.stderr
        h = hc.read(tmp_path / name)
        assert sorted(h.edge_ids.tolist()) == ["colour = blue", "colour = red", "size = 1.5", "size = 2.0"]
        assert h.n_incidences == 6

    def test_options_for_writing(self, table, tmp_path):
        done = inside("convert", table, tmp_path / "u.csv", "--id", "name", "-w", "edge=trait", "-q")
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / "u.csv").read_text().startswith('vertex,trait,weight\na,"colour = red",1.0\n')

    def test_hyperedges_with_the_same_text_are_refused(self, tmp_path):
        (tmp_path / "t.csv").write_text("a,a = b\nb = c,c\nx,d\n")
        done = inside("convert", tmp_path / "t.csv", tmp_path / "u.csv", "-q")
        assert_refused(done, "u.csv", "'a = b = c'", ".npz")
        assert not (tmp_path / "u.csv").exists()


@pytest.mark.parametrize("option", ["path=x", "format=csv", "hypergraph=x"])
def test_other_arguments_are_not_options(tmp_path, option):
    path = tmp_path / "h.csv"
    path.write_text("vertex,edge\na,1\nb,1\n")
    assert_refused(inside("info", path, "-o", option), "has no option")
    assert_refused(inside("convert", path, tmp_path / "h.json", "-w", option), "has no option")
