"""Checks of output files before the work starts."""

import csv
import io
import json

import pyarrow as pa
import pytest

import hyperclus as hc
from hyperclus.cli.output import Outputs, as_text, batch_as_text
from hyperclus.errors import InputError
from support.command_line import assert_refused, inside


def test_a_check_changes_no_file(tmp_path):
    old = tmp_path / "old.csv"
    old.write_text("old")
    old.chmod(0o640)
    Outputs(out=old, edges=tmp_path / "new.parquet").check()
    assert [path.name for path in tmp_path.iterdir()] == ["old.csv"]
    assert (old.read_text(), old.stat().st_mode & 0o777) == ("old", 0o640)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("folder.csv", "this is a folder; give the name of a file"),
        ("no/labels.csv", "the folder does not exist; create it first"),
        (f"{'a' * 300}.csv", "File name too long"),
        ("labels.doc", "the name must end with .csv, .tsv, .parquet or .json"),
        ("labels.parquet.gz", "leave .gz out of the name"),
    ],
)
def test_files_that_cannot_be_written(tmp_path, name, message):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=message):
        Outputs(out=tmp_path / name).check()
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


class TestIdsThatLookAlike:
    """1 and "1" are different vertices, and would have one name in a table."""

    @pytest.fixture
    def path(self, tmp_path):
        h = hc.Hypergraph.from_edges({1: [1, 2], "1": ["1", "2"], "f": [2, "1"]})
        hc.write(h, tmp_path / "h.json")
        return tmp_path / "h.json"

    @pytest.mark.parametrize("out", ["l.csv", "l.tsv.gz", "l.parquet"])
    def test_refused_in_tables(self, path, out):
        done = inside("cluster", path, "-k", 2, "--out", path.parent / out)
        assert_refused(done, "two vertices would both be written as 1", ".json")
        done = inside("cluster", path, "-k", 2, "--edges", path.parent / out)
        assert_refused(done, "two hyperedges would both be written as 1")
        assert [file.name for file in path.parent.iterdir()] == ["h.json"]

    def test_refused_on_stdout(self, path):
        assert_refused(inside("cluster", path, "-k", 2, "--csv"), "two vertices would both be written as 1")
        assert_refused(inside("local", path, "--seed", "f", "--csv"), "two vertices would both be written")

    def test_json_keeps_them_apart(self, path):
        assert inside("cluster", path, "-k", 2, "--out", path.parent / "l.json").returncode == 0
        ids = [row["vertex"] for row in json.loads((path.parent / "l.json").read_text())]
        assert ids == [1, 2, "1", "2"]


FORMULAS = ["=1+1", "=0", "+a", "-b", "@c", "\tt", "\rr", "'=1+1", "''@x", "=1+1'"]
HARMLESS = ["a", "-5", "+3.5", "-.5", "'a", "a=b", "'-5", "", 'say "x"', "a\rb"]


class TestFormulas:
    """Ids that a spreadsheet would run."""

    @pytest.fixture
    def path(self, tmp_path):
        ids = [*FORMULAS, *HARMLESS]
        edges = {f"={i}": [ids[i], ids[(i + 1) % len(ids)], ids[(i + 3) % len(ids)]] for i in range(len(ids))}
        hc.write(hc.Hypergraph.from_edges(edges), tmp_path / "h.json")
        return tmp_path / "h.json"

    def test_an_apostrophe_makes_them_harmless(self):
        text = as_text(None, [[one] for one in FORMULAS])
        rows = csv.reader(io.StringIO(text, newline=""))
        assert [row[0] for row in rows] == ["'" + one for one in FORMULAS]
        assert as_text(None, [[one] for one in HARMLESS[:7]]).split() == HARMLESS[:7]
        assert as_text(None, [[-5, -0.5]]) == "-5,-0.5\n"
        assert as_text(None, [["=1"]], raw=True) == "=1\n"

    @pytest.mark.parametrize("raw", [False, True])
    def test_stored_labels_are_written_alike(self, raw):
        for ids in (FORMULAS, HARMLESS, FORMULAS + HARMLESS):
            batch = pa.record_batch({"id": pa.array(ids), "cluster": pa.array([0] * len(ids), pa.int8())})
            wanted = as_text(None, [(one, 0) for one in ids], raw=raw)
            assert batch_as_text(batch, ",", raw).decode() == wanted

    @pytest.mark.parametrize("out", ["l.csv", "l.tsv", "l.parquet"])
    @pytest.mark.parametrize("raw", [False, True])
    def test_the_report_reads_them_back(self, path, out, raw):
        out, edges = path.parent / out, path.parent / "edges.csv"
        files = ("--out", out, "--edges", edges)
        done = inside("cluster", path, "-k", 2, *files, *["--raw"] * raw)
        assert done.returncode == 0, done.stderr
        assert ("get a ' in CSV; --raw" in done.stderr) == (not raw)
        assert edges.read_text().splitlines()[1].startswith("=" if raw else "'=")
        done = inside("report", path, out, path.parent / "r.html")
        assert done.returncode == 0, done.stderr

    def test_convert_keeps_ids(self, path):
        done = inside("convert", path, path.parent / "h.csv")
        assert done.returncode == 0, done.stderr
        assert set(hc.read(path.parent / "h.csv").vertex_ids) == {*FORMULAS, *HARMLESS}
