"""The command local."""

import csv
import json

import pytest

import hyperclus as hc
from support.command_line import assert_refused, inside

BLOCKS = "vertex,edge,kind\n" + "".join(
    f"{kind}{(i + step) % 9},{kind}-{i},{kind}\n" for kind in "xy" for i in range(9) for step in range(4)
)
BLOCKS += "x0,bridge,x\ny0,bridge,y\n"


@pytest.fixture
def blocks(tmp_path):
    path = tmp_path / "blocks.csv"
    path.write_text(BLOCKS)
    return path


def test_the_block_of_the_seeds_is_found(blocks):
    done = inside("local", blocks, "--around", "x3", "--around", "x5", "--label", "kind")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "Cluster of 9 vertices out of 18" in done.stdout
    assert "x3, x5" in done.stdout
    assert "9 of x\n" in done.stdout


def test_the_same_as_in_python(blocks):
    found = hc.local_cluster(hc.read(blocks), ["y4"], max_size=5, restart=0.1)
    options = ("--seed", "y4", "--max-size", 5, "--restart", 0.1)
    record = json.loads(inside("local", blocks, *options, "--json").stdout)
    assert [one["vertex"] for one in record["members"]] == found.members.tolist()
    assert record["conductance"] == found.conductance
    assert record["touched"] == found.touched
    rows = list(csv.DictReader(inside("local", blocks, *options, "--csv").stdout.splitlines()))
    assert [row["vertex"] for row in rows] == found.members.tolist()
    assert [float(row["score"]) for row in rows] == found.scores.tolist()


def test_what_holds_it_together_and_doubt(blocks):
    done = inside("local", blocks, "--around", "x3")
    assert "in doubt" not in done.stdout
    assert "held together by" in done.stdout
    assert "\n  x-" in done.stdout
    limited = inside("local", blocks, "--around", "x3", "--max-size", 4)
    assert "  in doubt: it is as large as the limit on its size allows" in limited.stdout
    record = json.loads(inside("local", blocks, "--around", "x3", "--json").stdout)
    assert record["doubt"] == ""
    assert {"size", "conductance", "volume", "ncut"} == set(record["dips"][0])
    assert record["edges"][0]["share"] == 1.0
    assert 0 < record["members"][0]["staying"] <= 1


def test_seeds_in_a_file(blocks, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("\ufeffx3\r\n\n x5 \n", encoding="utf-8")
    done = inside("local", blocks, "--seeds", names, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seeds"] == ["x3", "x5"]
    both = inside("local", blocks, "--seeds", names, "--around", "x4", "--json")
    assert json.loads(both.stdout)["seeds"] == ["x3", "x4", "x5"]
    assert_refused(inside("local", blocks, "--around", "x4", "--out", names, "--seeds", names), "names.txt")
    names.write_text("\n")
    assert_refused(inside("local", blocks, "--seeds", names), "names.txt: this file names no vertex")
    assert_refused(inside("local", blocks, "--seeds", tmp_path / "none.txt"), "none.txt")
    assert_refused(inside("local", blocks), "--around VERTEX or --seeds FILE")


def test_the_proposed_name_differs_in_case_rather_than_in_letters(tmp_path):
    path = tmp_path / "papers.csv"
    path.write_text("vertex,edge\nJana Baum,1\nAna Baum,1\nAna Baum,2\nBo,2\n")
    assert_refused(inside("local", path, "--seed", "ana baum"), "did you mean 'Ana Baum'?")


def test_members_are_written_to_a_file(blocks, tmp_path):
    done = inside("local", blocks, "--seed", "x1", "--out", tmp_path / "members.csv", "--quick")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "members.csv").read_text().splitlines()))
    assert {row["vertex"] for row in rows} == {f"x{i}" for i in range(9)}


def test_seeds_may_be_numbers(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("vertex,edge\n" + "".join(f"{v},{e}\n" for e in range(6) for v in (e, e + 1, e + 2)))
    done = inside("local", path, "--seed", "3", "--json", "--max-size", 3)
    assert done.returncode == 0, done.stderr
    assert 3 in [one["vertex"] for one in json.loads(done.stdout)["members"]]


def test_isolated_vertices_are_ignored(tmp_path):
    h = hc.Hypergraph.from_edges(
        [["a", "b"], ["b", "c"], ["x", "y"], ["c", "x"]], vertex_ids=list("_abcxy"), isolated="keep"
    )
    hc.write(h, tmp_path / "h.hif.json")
    classes = tmp_path / "classes.csv"
    classes.write_text("vertex,class\n" + "".join(f"{v},{v.upper()}\n" for v in "_abcxy"))
    options = ("-o", "isolated=keep", "--classes", classes)
    done = inside("local", tmp_path / "h.hif.json", "--seed", "y", "--max-size", 2, *options)
    assert done.returncode == 0, done.stderr
    assert "classes      1 of X, 1 of Y" in done.stdout
    assert_refused(
        inside("local", tmp_path / "h.hif.json", "--seed", "_", "-o", "isolated=keep"), "'_'", "no hyperedge"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--seed", "x33"), ("'x33'", "18 vertices", "did you mean 'x3'?")),
        (("--seed", "x1", "--max-volume", "2"), ("--max-volume must be",)),
        (("--seed", "x1", "--restart", "1"), ("--restart must be",)),
        (("--seed", "x1", "--restart", "1e-9"), ("--restart must be", "from 0.0001")),
        (("--seed", "x1", "--seed", "x2", "--max-size", "1"), ("2 seeds", "--max-size 1")),
        (("--seed", "x1", "--json", "--csv"), ("choose",)),
        (("--seed", "x1", "--out", "members.doc"), ("members.doc", "must end with")),
        (tuple(word for v in range(9) for kind in "xy" for word in ("--seed", f"{kind}{v}")), ("all",)),
    ],
)
def test_bad_usage_is_one_line(blocks, options, words):
    assert_refused(inside("local", blocks, *options), *words)


def test_options_for_reading(blocks, tmp_path):
    blocks.write_text(BLOCKS.replace(",", ";"))
    wanted = inside("local", blocks, "--seed", "x3", "--csv").stdout
    assert wanted.count("\nx") == 9
    assert inside("local", blocks, "--seed", "x3", "--csv", "--delimiter", ";").stdout == wanted
    assert_refused(inside("local", blocks, "--seed", "x3", "--label", "knd"), "did you mean 'kind'?")


def test_a_missing_seed_names_the_option(blocks):
    done = inside("local", blocks)
    assert done.returncode == 2
    assert "--seed" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_input_is_not_overwritten(blocks):
    before = blocks.read_text()
    assert_refused(inside("local", blocks, "--seed", "x1", "--out", blocks), "choose another name")
    assert blocks.read_text() == before


def test_the_classes_are_not_overwritten(blocks, tmp_path):
    classes = tmp_path / "classes.csv"
    classes.write_text("vertex,class\n" + "".join(f"{kind}{i},{kind}\n" for kind in "xy" for i in range(9)))
    before = classes.read_text()
    assert_refused(
        inside("local", blocks, "--seed", "x1", "--classes", classes, "--out", classes), "choose another name"
    )
    assert classes.read_text() == before


def test_an_ambiguous_seed_is_refused(tmp_path):
    hc.write(hc.Hypergraph.from_edges([[7, "a"], ["7", "b"], ["a", "b"]]), tmp_path / "h.json")
    assert_refused(inside("local", tmp_path / "h.json", "--seed", "7"), "'7'", "several vertices")


def test_half_a_surrogate_pair_is_refused_before_clustering(tmp_path):
    hc.write(hc.Hypergraph.from_edges([["\ud800", "a"], ["a", "b"]]), tmp_path / "h.npz")
    assert_refused(
        inside("local", tmp_path / "h.npz", "--seed", "a", "--csv"), "half a surrogate pair", "JSON"
    )
    assert inside("local", tmp_path / "h.npz", "--seed", "a", "--json").returncode == 0
