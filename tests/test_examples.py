"""The tutorials and the gallery run in an empty folder, and console blocks show what is printed."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from support.command_line import inside

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted([*EXAMPLES.glob("tutorials/*.py"), *EXAMPLES.glob("gallery/*.py")])
QUICK = {"cheeger", "choose_k", "contacts", "digits", "local_cluster", "southern_women", "tree"}
CONSOLE = re.compile(r"^# \.\. code-block:: console\n#\n((?:#\n|#    .*\n)+)", re.M)


def console_blocks(source):
    """The commands of a script with the output that it shows for each."""
    for block in CONSOLE.findall(source):
        text = re.sub(r"^# {0,4}", "", block, flags=re.M)
        for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command, _, shown = part.partition("\n")
            yield shlex.split(command), shown.strip("\n")


@pytest.mark.parametrize(
    "script",
    [pytest.param(one, marks=[] if one.stem in QUICK else pytest.mark.slow, id=one.stem) for one in SCRIPTS],
)
def test_an_example(script, tmp_path, monkeypatch):
    if "import networkx" in (source := script.read_text()):
        pytest.importorskip("networkx")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    shown = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pyplot, "show", lambda: shown.extend(pyplot.get_fignums()) or pyplot.close("all"))
    with pyplot.rc_context():
        runpy.run_path(str(script))
    assert shown
    for (program, *arguments), output in console_blocks(source):
        assert program == "hyperclus"
        done = inside(*arguments)
        assert done.returncode == 0, done.stderr
        assert re.sub(r" +$", "", done.stdout, flags=re.M).strip("\n") == output


def test_every_tutorial_ends_with_a_command():
    tutorials = list(EXAMPLES.glob("tutorials/*.py"))
    assert len(tutorials) == 7
    for script in tutorials:
        (command, output), *_ = console_blocks(script.read_text())
        assert command[:2] == ["hyperclus", "cluster"]
        assert output.startswith("Partition of ")
