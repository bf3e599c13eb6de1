"""The command compare."""

import csv
import json

import pytest

import hyperclus as hc
from support.command_line import assert_refused, inside

A = {"ann": 0, "bob": 0, "cy": 1, "dee": 1, "eve": 1, "=f": -1}
B = {"ann": 1, "bob": 1, "cy": 1, "dee": 0, "eve": 0, "gus": 2}


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "a.csv", tmp_path / "b.csv"
    for path, labels in zip(paths, (A, B), strict=True):
        path.write_text("vertex,cluster\n" + "".join(f"{name},{one}\n" for name, one in labels.items()))
    return paths


def test_the_comparison_is_printed(files):
    done = inside("compare", *files)
    assert done.returncode == 0, done.stderr
    assert "Comparison of 2 clusters (a) and 3 (b)" in done.stdout
    assert "4 of 5 vertices (80.0 %)" in done.stdout
    assert "1 vertex: cy" in done.stdout
    assert "1 vertex: gus" in done.stdout
    assert "2 of b appears" in done.stdout


def test_the_same_as_in_python(files, tmp_path):
    found, out = hc.compare(A, B), tmp_path / "moved.csv"
    record = json.loads(inside("compare", *files, "--json", "--out", out).stdout)
    assert record["ari"] == found.ari
    assert record["moved"] == found.moved.tolist()
    assert record["only_in_b"] == ["gus"]
    assert record["matches"] == [{"a": 0, "b": 1}, {"a": 1, "b": 0}]
    assert record["counts"] == found.counts.tolist()
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert rows[2] == {"vertex": "cy", "a": "1", "b": "1", "moved": "1"}
    assert rows[-1] == {"vertex": "gus", "a": "-1", "b": "2", "moved": "0"}
    assert inside("compare", *files, "--csv").stdout == out.read_text()


def test_ids_with_apostrophes_are_those_without(tmp_path):
    quoted, raw = tmp_path / "quoted.csv", tmp_path / "raw.tsv"
    quoted.write_text("vertex,cluster\n'=x,left\ny,right\n")
    raw.write_text("vertex\tcluster\n=x\tleft\ny\tright\n")
    assert "2 of 2 vertices (100.0 %)" in inside("compare", quoted, raw).stdout


def test_what_cluster_writes_is_read(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("name,colour,legs\n" + "".join(f"v{i},{'xyz'[i % 3]},{i % 3}\n" for i in range(18)))
    for k, name in ((2, "a.csv"), (3, "b.parquet")):
        assert inside("cluster", table, "--id", "name", "-k", k, "--out", tmp_path / name).returncode == 0
    done = inside("compare", tmp_path / "a.csv", tmp_path / "b.parquet")
    assert done.returncode == 0, done.stderr
    assert "of a splits into" in done.stdout


def test_bad_files_are_refused(files, tmp_path):
    other = tmp_path / "other.csv"
    assert_refused(inside("compare", files[0], other), "no such file")
    other.write_text("name,cluster\nann,1\n")
    assert_refused(inside("compare", files[0], other), "no column 'vertex'")
    other.write_text("vertex,cluster\nzoe,1\n")
    assert_refused(inside("compare", files[0], other), "a and b have no vertex in common")
    other.write_text("vertex,cluster\nann,1\nann,2\n")
    assert_refused(inside("compare", files[0], other), "vertex 'ann' has 2, but 1 in an earlier row")
    assert_refused(inside("compare", *files, "--out", files[0]), "this is the file to read")
    assert_refused(inside("compare", files[0]), "missing argument")
