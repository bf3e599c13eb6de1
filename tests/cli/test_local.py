"""local: from a few vertices to the cluster around them, on the command line."""

import csv
import json

import pytest

import hyperclus as hc
from support.command_line import inside, one_sentence

BLOCKS = "vertex,edge,kind\n" + "".join(
    f"{kind}{(i + step) % 9},{kind}-{i},{kind}\n" for kind in "xy" for i in range(9) for step in range(4)
)
BLOCKS += "x0,bridge,x\ny0,bridge,y\n"


@pytest.fixture
def blocks(tmp_path):
    path = tmp_path / "blocks.csv"
    path.write_text(BLOCKS)
    return path


def test_the_block_of_the_seeds_comes_out(blocks):
    done = inside("local", blocks, "--seed", "x3", "--seed", "x5", "--label", "kind")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "Cluster of 9 vertices out of 18" in done.stdout
    assert "x3, x5" in done.stdout
    assert "9 of x\n" in done.stdout


def test_the_same_as_in_python(blocks):
    found = hc.local_cluster(hc.read(blocks), ["y4"], max_size=5, restart=0.1)
    options = ("--seed", "y4", "--max-size", 5, "--restart", 0.1)
    told = json.loads(inside("local", blocks, *options, "--json").stdout)
    assert [one["vertex"] for one in told["members"]] == found.members.tolist()
    assert told["conductance"] == found.conductance
    assert told["touched"] == found.touched
    rows = list(csv.DictReader(inside("local", blocks, *options, "--csv").stdout.splitlines()))
    assert [row["vertex"] for row in rows] == found.members.tolist()
    assert [float(row["score"]) for row in rows] == found.scores.tolist()


def test_members_go_to_a_file(blocks, tmp_path):
    done = inside("local", blocks, "--seed", "x1", "--out", tmp_path / "members.csv", "--quick")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "members.csv").read_text().splitlines()))
    assert {row["vertex"] for row in rows} == {f"x{i}" for i in range(9)}


def test_numbers_are_named_as_they_are_typed(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("vertex,edge\n" + "".join(f"{v},{e}\n" for e in range(6) for v in (e, e + 1, e + 2)))
    done = inside("local", path, "--seed", "3", "--json", "--max-size", 3)
    assert done.returncode == 0, done.stderr
    assert 3 in [one["vertex"] for one in json.loads(done.stdout)["members"]]


def test_isolated_vertices_are_passed_over(tmp_path):
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
    one_sentence(
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
def test_bad_use_gets_one_sentence(blocks, options, words):
    one_sentence(inside("local", blocks, *options), *words)


def test_the_same_options_for_reading_as_elsewhere(blocks, tmp_path):
    blocks.write_text(BLOCKS.replace(",", ";"))
    wanted = inside("local", blocks, "--seed", "x3", "--csv").stdout
    assert wanted.count("\nx") == 9
    assert inside("local", blocks, "--seed", "x3", "--csv", "--delimiter", ";").stdout == wanted
    one_sentence(inside("local", blocks, "--seed", "x3", "--label", "knd"), "did you mean 'kind'?")


def test_without_a_seed_the_option_is_named(blocks):
    done = inside("local", blocks)
    assert done.returncode == 2
    assert "--seed" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_read_is_not_written_over(blocks):
    before = blocks.read_text()
    one_sentence(inside("local", blocks, "--seed", "x1", "--out", blocks), "choose another name")
    assert blocks.read_text() == before


def test_classes_are_not_written_over(blocks, tmp_path):
    classes = tmp_path / "classes.csv"
    classes.write_text("vertex,class\n" + "".join(f"{kind}{i},{kind}\n" for kind in "xy" for i in range(9)))
    before = classes.read_text()
    one_sentence(
        inside("local", blocks, "--seed", "x1", "--classes", classes, "--out", classes), "choose another name"
    )
    assert classes.read_text() == before


def test_a_name_of_two_vertices_is_refused(tmp_path):
    hc.write(hc.Hypergraph.from_edges([[7, "a"], ["7", "b"], ["a", "b"]]), tmp_path / "h.json")
    one_sentence(inside("local", tmp_path / "h.json", "--seed", "7"), "'7'", "several vertices")


def test_half_a_character_is_refused_before_the_work(tmp_path):
    hc.write(hc.Hypergraph.from_edges([["\ud800", "a"], ["a", "b"]]), tmp_path / "h.npz")
    one_sentence(inside("local", tmp_path / "h.npz", "--seed", "a", "--csv"), "half a surrogate pair", "JSON")
    assert inside("local", tmp_path / "h.npz", "--seed", "a", "--json").returncode == 0
