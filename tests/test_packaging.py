"""What is said about the package in several files is the same everywhere."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import hyperclus as hc
import release
from support import lowest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = {"docs", "fuzz", "test"}
RECIPE = yaml.safe_load((ROOT / "conda" / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def with_addresses(*arguments):
    """The function of hatch_build.py, which is in no package."""
    found = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.with_addresses(*arguments)


class TestReadme:
    def test_it_is_short(self):
        assert len(text_of("README.md").splitlines()) < 100

    @pytest.mark.parametrize(
        "source", ["", "https://example.org/hyperclus", "https://example.org/hyperclus/"]
    )
    def test_no_link_is_dead_elsewhere(self, source):
        shown = with_addresses(text_of("README.md"), source, "1.2.3")
        assert release.problems_of_text(f"Name: hyperclus\n\n{shown}") == []
        assert ("![" in shown) == bool(source)
        assert not source or "(https://example.org/hyperclus/blob/v1.2.3/docs/how_to/tour.md)" in shown
        assert not source or "(https://example.org/hyperclus/raw/v1.2.3/docs/images/report.png)" in shown

    def test_dead_links_are_found(self):
        assert len(release.problems_of_text(f"Name: hyperclus\n\n{text_of('README.md')}")) > 10

    def test_other_links_stay(self):
        text = "[a](https://a.example) [b](#b) ![c](https://c.example/c.png)"
        assert with_addresses(text, "", "1") == with_addresses(text, "https://s.example", "1") == text


class TestVersion:
    def test_it_is_the_same_everywhere(self):
        assert RECIPE["context"]["version"] == hc.__version__
        assert yaml.safe_load(text_of("CITATION.cff"))["version"] == hc.__version__
        assert re.search(r"^## (\S+)", text_of("CHANGELOG.md"), flags=re.M)[1] == hc.__version__

    def test_the_recipe_needs_what_the_package_needs(self):
        needed = [f"python {PROJECT['requires-python'].replace('3.11', '${{ python_min }}')}"]
        needed += [dependency.replace(">=", " >=") for dependency in PROJECT["dependencies"]]
        assert RECIPE["requirements"]["run"] == needed
        assert RECIPE["context"]["python_min"] == PROJECT["requires-python"].removeprefix(">=")
        assert RECIPE["about"]["summary"] == PROJECT["description"]

    def test_a_library_has_one_lower_bound(self):
        bounds = {(name, version) for _, name, version in lowest.requirements()}
        assert len(bounds) == len({name for name, _ in bounds})


class TestExtras:
    def test_each_is_tried_in_a_release(self):
        assert set(release.FEATURES) == set(EXTRAS) - FOR_DEVELOPERS - {"all", "cuda", "peers"}

    def test_all_has_all_but_cuda_and_the_hypergraph_libraries(self):
        members = {
            extra: set(re.findall(r"[\w-]+", EXTRAS[extra][0])) - {"hyperclus"} for extra in ("all", "peers")
        }
        parts = {"datasets", "files", "report"}  # of cli
        assert members["all"] | parts == set(release.FEATURES) - members["peers"]

    def test_each_is_documented(self):
        table = re.findall(r"^\| (`.*?) \|", text_of("docs/how_to/install.md"), flags=re.M)
        assert set(re.findall(r"`([\w-]+)`", " ".join(table))) == set(EXTRAS) - FOR_DEVELOPERS

    def test_messages_name_extras_that_exist(self):
        call = re.compile(
            r'^(?!.*>>>).*\blibrary\((?:"[^"]*"|\w+), "[^"]*", [^\n]*?, "([\w-]+)"\)', flags=re.M
        )
        calls = [extra for file in (ROOT / "src").rglob("*.py") for extra in call.findall(file.read_text())]
        assert len(calls) > 20
        assert set(calls) <= set(EXTRAS)


def test_the_public_ci_runs_what_developers_run():
    jobs = yaml.safe_load(text_of(".github/workflows/tests.yml"))["jobs"]
    commands = {step["run"] for job in jobs.values() for step in job["steps"] if "run" in step}
    targets = set(re.findall(r"^([\w-]+):", text_of("Makefile"), flags=re.M))
    for command in commands - {".ci/install-chromium"}:
        program, *words = command.split()
        assert program == "make"
        assert {word for word in words if "=" not in word} <= targets


def test_templates_of_issues_can_be_read():
    for file in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= set(form)
        assert all(part["attributes"]["label"] for part in form["body"])
