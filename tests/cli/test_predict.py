"""The command predict, and models that the command cluster writes."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

import hyperclus as hc
from support.command_line import assert_refused, inside

ROWS = "name,colour,age,code\n" + "".join(
    f"v{i},{'red' if i < 8 else 'blue'},{i if i < 8 else 50 + i},{7 if i < 8 else 9}\n" for i in range(16)
)
NEW = "code,name,age,colour\n7,x,2.5,red\n9,y,65,green\n8,z,999,pink\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "old.csv").write_text(ROWS)
    (tmp_path / "new.csv").write_text(NEW)
    done = inside("cluster", tmp_path / "old.csv", "-k", 2, "--id", "name", "--model", tmp_path / "m.hcm")
    assert done.returncode == 0, done.stderr
    assert f"written to {tmp_path / 'm.hcm'}" in done.stderr
    return tmp_path


def test_rows_of_a_table_are_labelled_as_in_python(folder):
    done = inside(
        "predict", folder / "m.hcm", folder / "new.csv", "--id", "name", "--out", folder / "out.csv"
    )
    assert done.returncode == 0, done.stderr
    assert "Labels of 3 vertices" in done.stdout
    assert "1 vertex in no known hyperedge: label -1" in done.stdout
    assert "4 hyperedges unknown to the model and left out: 'colour = green', 'colour = pink'" in done.stderr
    with (folder / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = hc.load(folder / "m.hcm").predict(pd.read_csv(folder / "new.csv"), vertex="name")
    assert [row["vertex"] for row in rows] == ["x", "y", "z"]
    assert [int(row["cluster"]) for row in rows] == found.labels.tolist()
    assert [float(row["confidence"]) for row in rows] == found.confidence.tolist()
    assert [int(row["unknown"]) for row in rows] == found.unknown.tolist() == [0, 1, 3]
    part = hc.cluster(hc.io.read_rows(folder / "old.csv", vertex="name"), 2)
    assert found.labels.tolist() == [part.labels[0], part.labels[-1], -1]


def test_old_rows_keep_their_labels(folder):
    labels = inside("cluster", folder / "old.csv", "-k", 2, "--id", "name", "--csv").stdout.splitlines()
    found = inside("predict", folder / "m.hcm", folder / "old.csv", "--id", "name", "--csv")
    assert found.stderr == ""
    old = [line.split(",")[:2] for line in labels]
    assert [line.split(",")[:2] for line in found.stdout.splitlines()] == old


def test_types_of_text_are_those_of_the_model(folder):
    """The column of numbers has a word in the new file, so that it is text there."""
    (folder / "new.csv").write_text("code,age,colour\n7,2.5,red\nnone,old,blue\n")
    record = json.loads(inside("predict", folder / "m.hcm", folder / "new.csv", "--json", "-q").stdout)
    assert record["unknown_hyperedges"] == ["age = old", "code = none"]
    assert [row["unknown"] for row in record["labels"]] == [0, 2]
    assert record["without_known_hyperedges"] == 0
    assert sum(one["size"] for one in record["clusters"]) == 2


def test_long_tables(tmp_path):
    old = "".join(f"c{i},{item}\n" for i in range(6) for item in ((1, 2, 3) if i < 3 else (4, 5)))
    (tmp_path / "old.csv").write_text("customer,item\n" + old)
    (tmp_path / "new.csv").write_text("customer,item\na,1\na,x\nb,5\nc,x\n")
    names = ("--vertex", "customer", "--edge", "item")
    assert (
        inside("cluster", tmp_path / "old.csv", "-k", 2, *names, "--model", tmp_path / "m.hcm").returncode
        == 0
    )
    done = inside("predict", tmp_path / "m.hcm", tmp_path / "new.csv", *names)
    assert "Labels of 3 customers" in done.stdout
    assert "1 item unknown to the model and left out: 'x'" in done.stderr
    record = json.loads(inside("predict", tmp_path / "m.hcm", tmp_path / "new.csv", *names, "--json").stdout)
    labels = hc.load(tmp_path / "m.hcm").predict([[1], [5], ["x"]]).labels
    assert [row["cluster"] for row in record["labels"]] == labels.tolist()
    assert np.unique(labels).tolist() == [-1, 0, 1]
    wide = inside("predict", tmp_path / "m.hcm", tmp_path / "new.csv", "--id", "customer")
    assert_refused(wide, "the model was made of other data; for a row per incidence use --vertex and --edge")


def test_documents(tmp_path):
    pytest.importorskip("sklearn")
    lines = [
        "apple pear plum",
        "pear plum cherry",
        "apple cherry plum",
        "bolt nut screw",
        "nut screw nail",
        "bolt nail nut",
    ]
    (tmp_path / "old.csv").write_text("text\n" + "".join(f"{line}\n" for line in lines * 2))
    (tmp_path / "new.csv").write_text("text\nripe plum\nrusty nail\n")
    done = inside("cluster", tmp_path / "old.csv", "-k", 2, "--text", "text", "--model", tmp_path / "m.hcm")
    assert done.returncode == 0, done.stderr
    found = inside("predict", tmp_path / "m.hcm", tmp_path / "new.csv", "--text", "text", "--json")
    record = json.loads(found.stdout)
    assert record["unknown_hyperedges"] == ["ripe", "rusty"]
    assert sorted(row["cluster"] for row in record["labels"]) == [0, 1]


def test_what_is_refused(folder):
    model, new = folder / "m.hcm", folder / "new.csv"
    assert_refused(inside("predict", new, new), "new.csv: this is not a saved model, or it is damaged")
    assert_refused(inside("predict", folder / "none.hcm", new), "none.hcm")
    assert_refused(inside("predict", model, new, "--bins", "4"), "--bins is not for predict")
    assert_refused(inside("predict", model, new, "--out", new), "this is the file to read")
    assert_refused(inside("predict", model, new, "--out", folder / "a.xls"), "the name must end with")
    (folder / "less.csv").write_text("code,colour\n7,red\n")
    assert_refused(inside("predict", model, folder / "less.csv"), "less.csv", "'age'")
    old = ("cluster", folder / "old.csv", "-k", 2, "--id", "name")
    assert_refused(inside(*old, "--model", folder / "m.pickle"), "the name must end with .hcm or .npz")
