"""Help texts fit 80 columns, and every example in them and in the documentation runs."""

import re
import shlex
import shutil

import pytest

import hyperclus as hc
from support import paper_data
from support.command_line import inside

COMMANDS = (
    "cluster",
    "suggest-k",
    "report",
    "verify",
    "predict",
    "compare",
    "info",
    "convert",
    "datasets",
    "demo",
    "local",
    "explore",
    "reproduce",
)


def help_text(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = inside(command, "--help")
    assert done.returncode == 0
    return done.stdout


def examples(text):
    lines = text[text.rindex("Examples") :].splitlines()[1:]
    return [line.strip() for line in lines if line.strip()]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_ends_with_examples(command, monkeypatch):
    text = help_text(command, monkeypatch)
    assert all(len(line) <= 80 for line in text.splitlines())
    found = examples(text)
    assert found
    assert all(line.startswith("hyperclus ") for line in found)


def test_all_commands_are_listed(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = inside("--help").stdout
    assert [name for name in re.findall(r"│ ([a-z-]+) ", text) if not name.startswith("-")] == [*COMMANDS]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that the examples name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYPERCLUS_DATA", str(tmp_path / "uci"))
    (tmp_path / "uci").mkdir()
    for file in ("car.data", "zoo.data"):
        (tmp_path / "uci" / file).write_bytes(paper_data.raw(file))
    monkeypatch.setenv("HYPERCLUS_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rows = "".join(f"v{i},{'xyz'[i % 3]},{i % 3},{i % 3}\n" for i in range(18))
    (tmp_path / "table.csv").write_text("name,colour,legs,class\n" + rows)
    (tmp_path / "names.txt").write_text("v1\nv4\n")
    (tmp_path / "labels.csv").write_text("vertex,cluster\n" + "".join(f"{i},{i % 3}\n" for i in range(18)))
    shutil.copy("labels.csv", "labels2.csv")
    (tmp_path / "papers.csv").write_text(
        "author,paper,share\nann,p1,3\nbob,p1,1\nbob,p2,1\ncy,p2,2\ncy,p3,1\ndee,p3,1\n"
    )
    (tmp_path / "classes.csv").write_text("vertex,class\nann,x\nbob,x\ncy,y\ndee,y\n")
    h = hc.read("papers.csv", vertex="author", edge="paper", weight="share")
    hc.write(h, "papers.hif.json")
    (tmp_path / "examples").mkdir()
    hc.write(h, "table.npz")
    (tmp_path / "circuit.hgr").write_text("2 4\n1 2\n2 3\n")
    return tmp_path


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "explore"])  # which does not end
def test_every_example_runs(command, files, monkeypatch):
    for line in examples(help_text(command, monkeypatch)):
        words, _, target = line.partition(" > ")
        _, *arguments = shlex.split(words)
        done = inside(*arguments)
        assert done.returncode == 0, (line, done.stderr)
        if target:
            (files / target).write_text(done.stdout)
