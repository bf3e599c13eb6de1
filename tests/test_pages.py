"""What the README and the pages of the site show is what happens."""

import contextlib
import doctest
import importlib
import inspect
import io
import re
import shlex
import textwrap
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest

import hyperclus as hc
from support.command_line import inside

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BUILT = {"_build", "gallery", "tutorials"}  # by `make docs`
PAGES = [README, *(page for page in sorted((ROOT / "docs").rglob("*.md")) if BUILT.isdisjoint(page.parts))]
ELSEWHERE = {  # pages that have tests of their own
    "ordinary_files.md",  # tests/cli/test_ordinary_files.py makes its files
    # tests/peers has the libraries of these
    *("other_libraries.md", "graph.md", "hypernetx.md", "xgi.md", "leiden.md"),
}
DEMO = "$ hyperclus demo --files .\nhyperclus: written to animals.csv\nhyperclus: written to papers.csv\n"
RUN = [page for page in PAGES if page.name not in ELSEWHERE and "```" in page.read_text()]
MODULES = (  # whose names are public; hyperclus.typing is listed as a whole
    *("hyperclus", "hyperclus.clustering", "hyperclus.datasets", "hyperclus.errors", "hyperclus.io"),
    *("hyperclus.research.baselines", "hyperclus.research.datasets", "hyperclus.research.paper"),
    *("hyperclus.sklearn", "hyperclus.spectral"),
)
BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>.+?) -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.S | re.M
)


@dataclass(frozen=True)
class Block:
    """A block of Python or of commands, why it is not run, and the output that the page shows below it."""

    language: str
    code: str
    reason: str | None
    output: str | None


def blocks(text):
    """The blocks of a page in their order; an output follows its block without a word between them."""
    found = list(BLOCK.finditer(text))
    for block, after in zip_longest(found, found[1:]):
        shown = after and after["language"] == "text" and not text[block.end() : after.start()].strip()
        yield Block(block["language"], block["code"], block["reason"], after["code"] if shown else None)


def run(code, names):
    """Run a block, or its examples if it is a session of the interpreter, and return what it prints."""
    if code.startswith(">>>"):
        session = doctest.DocTestParser().get_doctest(code, names, "page", None, 0)
        assert doctest.DocTestRunner(verbose=False).run(session, clear_globs=False).failed == 0
        return ""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "page", "exec"), names)
    return "\n".join(line.rstrip() for line in printed.getvalue().splitlines()) + "\n"


def agrees(printed, shown):
    """Whether a page shows what is printed, or its beginning and three dots."""
    return printed == shown or (shown.endswith("\n...\n") and printed.startswith(shown[:-4]))


def run_commands(code):
    """Run the commands of a block that are of hyperclus, and compare their output if it is shown."""
    for part in re.split(r"^\$ ", code, flags=re.M):
        command, _, shown = part.partition("\n")
        if command.startswith("hyperclus ") and part != code:
            done = inside(*shlex.split(command)[1:])
            assert done.returncode == 0, done.stderr
            assert not shown or wrapped(done.stderr + done.stdout) == shown.splitlines()


def wrapped(text, width=130):
    """The lines as pages show them."""
    lines = (textwrap.wrap(line, width) if len(line) > width else [line] for line in text.splitlines())
    return [line for some in lines for line in some]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """An empty folder with the files of `hyperclus demo --files .`, which the pages use."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    run_commands(DEMO)


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page, files):
    names = {"__name__": "page"}
    for block in blocks(page.read_text()):
        if block.language == "python" and block.reason is None:
            printed = run(block.code, names)
            assert block.output is None or agrees(printed, block.output)
        elif block.language == "console" and block.reason is None and block.code != DEMO:
            run_commands(block.code)


def test_no_line_is_hidden_as_a_comment():
    """MyST leaves out lines that begin with a percent sign, as a wrapped "100 %" may."""
    for page in PAGES:
        hidden = re.findall(r"^\s*%(?! The text of this page is ).*", page.read_text(), flags=re.M)
        assert not hidden, page


def test_what_is_not_run_is_few():
    found = [block for page in PAGES for block in blocks(page.read_text())]
    assert sum(block.language == "python" for block in found) > 40
    assert sum(block.code.startswith("$ hyperclus") for block in found) > 10
    assert sum(block.reason is not None for block in found) < 8


def test_files_that_the_table_reads_come_with_the_package(files):
    tour = (ROOT / "docs" / "how_to" / "tour.md").read_text()
    calls = re.findall(r'`(hc\.read\("(?:papers|animals)\.csv".*?\))`', tour)
    assert len(calls) == 2
    for call in calls:
        assert eval(call, {"hc": hc}).n_vertices > 4


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def listed():
    """The names that the pages of the reference have an entry for."""
    for page in (ROOT / "docs" / "reference" / "api").glob("*.rst"):
        module = ""
        for line in page.read_text().splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.split()[-1]
            elif line.startswith(".. py:data:: "):
                yield line.split()[-1]
            elif module and re.fullmatch(r"   \w+", line):
                yield f"{module}.{line.strip()}"


def public_names(module):
    """The names of a module that are not modules themselves."""
    home = importlib.import_module(module)
    names = getattr(home, "__all__", None) or [
        name for name, value in vars(home).items() if isinstance(value, type) and value.__module__ == module
    ]
    return {f"{module}.{name}" for name in names if not inspect.ismodule(getattr(home, name))}


def test_every_public_name_is_in_the_reference():
    names = list(listed())
    assert len(names) == len(set(names)) > 100
    public = set().union(*map(public_names, MODULES))
    again = {f"hyperclus.{module}.{name}" for module in ("errors", "io") for name in hc.__all__}
    assert public - again == set(names)
