"""The commands on files: info and convert."""

import gzip
import json
import re

import pytest

from command_line import inside

PAPERS = "author,paper,share\nann,p1,3\nbob,p1,1\nbob,p2,1\ncy,p2,2\ncy,p3,1\ndee,p3,1\n"
COLUMNS = ("--vertex", "author", "--edge", "paper", "--weight", "share")


@pytest.fixture
def papers(tmp_path):
    (tmp_path / "papers.csv").write_text(PAPERS)
    return tmp_path / "papers.csv"


def test_info(papers):
    done = inside("info", papers, *COLUMNS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 vertices, 3 hyperedges, 6 incidences\n1 connected component,")
    found = json.loads(inside("info", papers, *COLUMNS, "--json").stdout)
    assert found["n_incidences"] == 6
    assert found["gamma"] == [1, 1, 1, 1.75, 3]


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
        ("author,paper,share\nann,p1,-3\n", r"papers.csv, line 2: .*'-3' is not a finite number from 0"),
        ("author,paper,share\nann,p1,x\n", r"papers.csv, line 2"),
        ("author,paper\nann,p1\n", r"papers.csv.*share"),
        ("", "the file is empty"),
    ],
)
def test_bad_files_get_one_sentence(papers, content, message):
    papers.write_text(content)
    for command in (("info", papers), ("convert", papers, papers.with_name("out.json"))):
        done = inside(*command, *COLUMNS)
        assert done.returncode == 2
        assert re.search(message, done.stderr), done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert not papers.with_name("out.json").exists()


def test_an_option_for_writing_is_never_passed_over(tmp_path):
    (tmp_path / "a.json").write_text('{"incidences": [{"edge": 1, "node": "a"}]}')
    done = inside("convert", tmp_path / "a.json", tmp_path / "b.json", "-w", "colour=red")
    assert done.returncode == 2
    assert "has no option 'colour'" in done.stderr


def test_info_on_a_table_with_a_row_per_vertex(tmp_path):
    (tmp_path / "t.csv").write_text("colour,class\nred,1\nred,1\nblue,2\n")
    done = inside("info", tmp_path / "t.csv", "--label", "class")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 vertices, 2 hyperedges, 3 incidences\n")
    assert "row per vertex (3 rows, 1 column, 2 hyperedges)" in done.stderr
    assert inside("info", tmp_path / "t.csv", "--label", "class", "-q").stderr == ""


def test_a_row_per_vertex_is_converted_on_request(tmp_path):
    (tmp_path / "t.csv").write_text("colour,class\nred,1\nred,1\nblue,2\n")
    assert 'format="rows"' in inside("convert", tmp_path / "t.csv", tmp_path / "t.npz").stderr
    done = inside("convert", tmp_path / "t.csv", tmp_path / "t.npz", "--from", "rows")
    assert done.returncode == 0, done.stderr
    assert inside("info", tmp_path / "t.npz").stdout.startswith("3 vertices, 4 hyperedges")
    assert (
        "can be read, not written"
        in inside("convert", tmp_path / "t.npz", tmp_path / "u.csv", "--to", "rows").stderr
    )
