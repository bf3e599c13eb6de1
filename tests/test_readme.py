"""What the README shows is what happens."""

import re
from pathlib import Path

import pytest

import hyperclus as hc
from support.command_line import inside

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def test_three_lines(capsys):
    names = {}
    example, *variants = blocks("python")
    exec(example, names)
    assert capsys.readouterr().out == blocks("text")[0]
    assert len(variants) == 2
    for variant in variants:
        exec(variant, names)


def test_files_that_the_table_reads_come_with_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert inside("demo", "--files", ".").returncode == 0
    calls = re.findall(r'`(hc\.read\("(?:papers|animals)\.csv".*?\))`', README)
    assert len(calls) == 2
    for call in calls:
        assert eval(call, {"hc": hc}).n_vertices > 4


def test_the_page_on_text(capsys):
    page = (ROOT / "docs" / "how_to" / "text.md").read_text()
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.S):
        exec(block, names)
    said = capsys.readouterr().out
    assert all(word in said for word in ("filter signal", "distribution", "matrix"))


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")], ids=lambda page: page.name
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
